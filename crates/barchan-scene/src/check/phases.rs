//! Matter in three phases: one sand for the whole scene, gaps that the grid sees, and air that its gas can feel.

use super::{Check, show};
use crate::method::opening;
use crate::types::*;
use barchan_core::math;

/// Cells across an opening below which no flow is found.
const LEAST_ACROSS: f64 = 4.0;
/// Cells across an opening below which its flow is slower than it should be.
const GOOD_ACROSS: f64 = 12.0;
/// Grains along a cell, at least: below that a cell is no continuum.
const GRAINS_PER_CELL: f64 = 2.0;

pub(super) fn check(c: &mut Check) {
    elsewhere(c);
    let scene = c.scene;
    let in_phases = |m: &Continuum| m.method == ContinuumMethod::Phases;
    let Some(first) = scene.continuum.iter().find(|m| in_phases(m)) else {
        if scene.phases.is_some() {
            let message = "`[phases]` says how to compute in phases, and no continuum of the scene is";
            c.error("phases", message, "write `method = \"phases\"` under `[[continuum]]`, or leave it out");
        }
        return;
    };
    for (i, m) in scene.continuum.iter().enumerate() {
        if !in_phases(m) {
            let message = format!("`{}` is computed by another method than `{}`", m.name, first.name);
            let help = "write the same `method` under every `[[continuum]]`";
            c.error(format!("continuum[{i}].method"), message, help);
            return;
        }
        population(c, &format!("continuum[{i}]"), m, first);
    }
    grid(c, first);
    keys(c);
    beginnings(c);
    air(c);
}

fn population(c: &mut Check, path: &str, m: &Continuum, first: &Continuum) {
    // Steeper than the other method takes has been reported for both.
    if (Continuum::PHASES_BELOW..=Continuum::STEEPEST).contains(&m.friction_angle) {
        let message = format!("a friction angle of {} is too steep here", show(m.friction_angle.to_degrees(), "deg"));
        let help = "in phases give an angle below 45 deg, or use `method = \"sph\"`, which takes up to 60 deg";
        c.error(format!("{path}.friction_angle"), message, help);
    }
    if m.packing < Continuum::PHASES_LOOSEST {
        let message = format!("a packing of {} is too loose here", m.packing);
        c.error(format!("{path}.packing"), message, "in phases give 0.4 to 0.74; poured sand has 0.55 to 0.65");
    }
    if m.grains.is_some() {
        let message = "matter in phases shows its parcels and no other grains";
        c.error(format!("{path}.grains"), message, "leave `grains` out, or use `method = \"sph\"`");
    }
    if m.solve != Sph::default() {
        let message = "`solve` is for `method = \"sph\"`";
        c.error(format!("{path}.solve"), message, "say how phases are computed under `[phases]`");
    }
    let sand = |m: &Continuum| (m.friction_angle, m.cohesion, m.tensile, m.material.clone(), m.rate.clone());
    if sand(m) != sand(first) && !m.friction_angle.is_nan() && !first.friction_angle.is_nan() {
        let message = format!("`{}` is another sand than `{}`", m.name, first.name);
        let help = "phases have one sand for a scene: give all populations the same material, friction angle, cohesion, \
                    tensile strength and rate";
        c.error(path, message, help);
    }
}

/// Grains, gaps and periods against the cells of the grid.
fn grid(c: &mut Check, m: &Continuum) {
    let (scene, cell) = (c.scene, Phases::SPACINGS_PER_CELL * m.spacing);
    if cell.is_nan() || cell <= 0.0 {
        return;
    }
    let at = |i: usize| format!("continuum[{i}].spacing");
    let first = scene.continuum.iter().position(|n| n.name == m.name).unwrap_or_default();
    let grain = scene.grain_in_phases();
    if cell < GRAINS_PER_CELL * grain {
        let message = format!(
            "a cell of the grid ({}, twice the spacing) is smaller than two grains of {}",
            show(cell, "m"),
            show(grain, "m")
        );
        let help = format!(
            "use a spacing of at least {}, or compute smaller grains: `grain` under `[phases]`",
            show(0.5 * GRAINS_PER_CELL * grain, "m")
        );
        c.error(at(first), message, help);
    }
    for (i, wall) in scene.walls.iter().enumerate() {
        let (gap, path) = (opening(wall), format!("walls[{i}]"));
        let across = gap / cell;
        if !(gap > 0.0 && across < GOOD_ACROSS) {
            continue;
        }
        let message = format!("the opening of `{}` is {across:.1} cells of the grid across", wall.name);
        let help = |cells: f64| format!("use a spacing of at most {}", show(0.5 * gap / cells, "m"));
        if across < LEAST_ACROSS {
            c.error(path, format!("{message}: sand does not find through"), help(LEAST_ACROSS));
        } else {
            // The flow goes as the opening less about two cells, to the power of 5/2 [Beverloo, Leniger & van de Velde 1961].
            let lost = 100.0 * (1.0 - math::powf(1.0 - 2.0 / across, 2.5));
            c.warn(path, format!("{message}: its flow is some {lost:.0} % too slow"), help(GOOD_ACROSS));
        }
    }
    let size = (scene.domain.max - scene.domain.min) / (Phases::CELLS_PER_BRICK * cell);
    for k in (0..3).filter(|&k| scene.domain.is_periodic()[k]) {
        let bricks = size[k];
        if bricks.is_finite() && bricks > 0.0 && (bricks - bricks.round()).abs() > 1e-9 * bricks {
            let message = format!(
                "the period along {} is {bricks:.3} times eight cells of the grid ({} each)",
                ["x", "y", "z"][k],
                show(cell, "m")
            );
            let fitting = m.spacing * bricks / bricks.round().max(1.0);
            let help = format!("it must be a whole number: a spacing of {} would do", show(fitting, "m"));
            c.error(at(first), message, help);
        }
    }
}

/// Keys that would have no effect.
fn keys(c: &mut Check) {
    let Some(phases) = &c.scene.phases else { return };
    if phases.transfer != TransferName::Flip && phases.flip_share != Phases::FLIP_SHARE {
        let help = "write `transfer = \"flip\"`, or leave `flip_share` out";
        c.error("phases.flip_share", "`flip_share` is for `transfer = \"flip\"`", help);
    }
    if !phases.gas && phases.restitution != Phases::RESTITUTION {
        c.error("phases.restitution", "`restitution` is that of gas, and there is none", "leave it out");
    }
    let surface = &phases.surface;
    if !phases.gas && *surface != SurfacePhase::default() {
        c.error("phases.surface", "gas rides on the surface, and there is none", "leave it out, or `gas = false`");
    } else if surface.per_face.is_some() && surface.layers != 1.0 {
        let help = "leave out `per_face` or `layers`";
        c.error("phases.surface.layers", "`per_face` says already how many grains a face carries", help);
    } else if surface.per_face.is_none() && room(surface.layers, phases.split) < 1.0 {
        let message = format!("on a face of {} layers no grain fits", surface.layers);
        c.error("phases.surface.layers", message, "give at least 0.1, or `per_face`");
    }
    if !phases.solid.enabled && phases.solid.cover != SolidPhase::COVER {
        c.error("phases.solid.cover", "`cover` is that of frozen sand, and there is none", "leave it out");
    }
}

/// Phases in which matter begins, which must be among those that are computed.
fn beginnings(c: &mut Check) {
    let scene = c.scene;
    let phases = scene.phases.clone().unwrap_or_default();
    let began = scene.continuum.iter().enumerate().map(|(i, m)| (format!("continuum[{i}].phase"), m.phase));
    let poured = scene.emitters.iter().enumerate().map(|(i, e)| (format!("emitters[{i}].phase"), e.phase));
    for (path, phase) in began.chain(poured) {
        match phase {
            PhaseName::Solid if path.starts_with("emitters") => {
                c.error(path, "what is poured is not solid", "write `phase = \"liquid\"` or `\"gas\"`");
            }
            PhaseName::Solid if !phases.solid.enabled => {
                c.error(path, "it begins solid, and no sand freezes", "leave it out, or `enabled = false`");
            }
            PhaseName::Gas if !phases.gas => {
                c.error(path, "it begins as gas, and there is none", "leave it out, or `gas = false`");
            }
            _ => {}
        }
    }
}

/// Phases and meshes of matter that is not computed in phases.
fn elsewhere(c: &mut Check) {
    let scene = c.scene;
    for (i, m) in scene.continuum.iter().enumerate().filter(|(_, m)| m.method != ContinuumMethod::Phases) {
        let help = "write `method = \"phases\"`, or leave it out";
        if m.phase != PhaseName::Liquid {
            c.error(format!("continuum[{i}].phase"), "`phase` is for `method = \"phases\"`", help);
        }
        if m.fill.as_ref().is_some_and(|f| f.within.is_some()) {
            c.error(format!("continuum[{i}].fill.within"), "`within` is for `method = \"phases\"`", help);
        }
    }
    let in_phases = scene.continuum_method() == Some(ContinuumMethod::Phases);
    for (i, e) in scene.emitters.iter().enumerate() {
        if e.phase != PhaseName::Liquid && !(in_phases && e.continuum.is_some()) {
            let help = "leave it out; or let it pour a `[[continuum]]` with `method = \"phases\"`";
            c.error(format!("emitters[{i}].phase"), "only a continuum in phases has a `phase`", help);
        }
    }
}

/// Grains that lie on a level face of a cell: 0.8 of its area is covered by their discs, of the diameter of a quantum.
fn room(layers: f64, split: u64) -> f64 {
    // With a packing of 0.6; d³ = 6 φ h³/(8 π split).
    let diameter = math::cbrt(6.0 * 0.6 / (8.0 * std::f64::consts::PI * split as f64));
    0.8 * layers / (0.25 * std::f64::consts::PI * diameter * diameter)
}

fn air(c: &mut Check) {
    let Some(air) = &c.scene.air else { return };
    if air.velocity.steady().is_none() || air.gusts.is_some() || air.along_surface {
        let message = "in phases the air has one velocity, always and everywhere";
        let help = "give three numbers, without `gusts` and `along_surface`; or use `method = \"sph\"`";
        c.error("air", message, help);
    }
    if air.drag == Drag::Blob {
        c.error("air.drag", "in phases air drags on single grains", "write `drag = \"grains\"` or `\"none\"`");
    }
    if c.scene.phases.as_ref().is_some_and(|p| !p.gas) {
        c.error("air", "air moves gas alone, and there is none", "leave `[air]` out, or `gas = false`");
    }
}
