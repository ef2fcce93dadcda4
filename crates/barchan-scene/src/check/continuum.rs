//! Matter as a continuum: values that are possible, gaps that are wide enough, and a wind that blows.

use super::{Check, show};
use crate::method::opening;
use crate::types::*;
use barchan_core::math;
use glam::DVec3;

/// Particles across a gap below which a flow is no longer that of a continuum.
const LEAST_ACROSS: f64 = 3.0;
/// Particles across an opening through which a flow has its rate.
const GOOD_ACROSS: f64 = 6.0;
/// Places and times at which a wind is tried.
const TRIES: usize = 5;

pub(super) fn check(c: &mut Check) {
    for (i, m) in c.scene.continuum.iter().enumerate() {
        population(c, &format!("continuum[{i}]"), m);
    }
    same_spacing(c);
    gaps(c);
    if let Some(air) = &c.scene.air {
        wind(c, air);
    }
}

fn population(c: &mut Check, path: &str, m: &Continuum) {
    // What its material would have given is unknown where nobody knows the material; that is reported there.
    let unknown = m.material.as_ref().is_some_and(|name| !c.scene.materials.contains_key(name));
    for (key, value, help) in [
        ("density", m.density, "add `density`: that of a grain, such as \"2650 kg/m3\"; or `material`"),
        (
            "friction_angle",
            m.friction_angle,
            "add `friction_angle`: the slope at which a layer just flows, such as \"33 deg\"; or a `material` with a `preset`",
        ),
    ] {
        if value.is_nan() && !unknown && !c.given(&format!("{path}.{key}")) {
            c.error(path, format!("`{path}` lacks `{key}`"), help);
        }
    }
    let degrees = m.friction_angle.to_degrees();
    if c.given(&format!("{path}.friction_angle")) && m.friction_angle > 0.0 && m.friction_angle < 0.02 {
        let message = format!("the friction angle is {} only", show(degrees, "deg"));
        c.warn(format!("{path}.friction_angle"), message, "a bare number is in radians: write \"33 deg\"");
    }
    if let Some(rate) = &m.rate
        && rate.mu2 < math::tan(m.friction_angle)
    {
        let message = format!(
            "friction would fall with the rate of shear: mu2 ({}) is below tan(friction_angle) ({})",
            show(rate.mu2, ""),
            show(math::tan(m.friction_angle), "")
        );
        c.error(format!("{path}.rate.mu2"), message, "give a mu2 above the tangent of `friction_angle`");
    }
    if let Some(region) = m.region() {
        filled(c, path, m, region);
    }
    if let Some(shown) = &m.grains
        && shown.radius.largest() > 0.5 * m.spacing
    {
        let message = format!(
            "the grains that are shown (radius up to {}) are larger than the particles that carry them (spacing {})",
            show(shown.radius.largest(), "m"),
            show(m.spacing, "m")
        );
        c.error(format!("{path}.grains.radius"), message, "show smaller grains, or compute with fewer particles");
    }
    if m.fill.is_none() && !c.scene.emitters.iter().any(|e| e.continuum.as_ref() == Some(&m.name)) {
        let message = format!("there is nothing of `{}`: it has no `fill`, and no emitter pours it", m.name);
        let help =
            format!("add `fill = {{ box = {{ min, max }} }}`, or an `[[emitters]]` with `continuum = \"{}\"`", m.name);
        c.error(path, message, help);
    }
}

/// A region that can hold particles: inside the domain, and some particles across.
fn filled(c: &mut Check, path: &str, m: &Continuum, region: &Region) {
    let (low, high) = region.to_core().bounds();
    if !(low.is_finite() && high.is_finite() && m.spacing > 0.0) {
        return;
    }
    let domain = &c.scene.domain;
    let slack = DVec3::splat(1e-9 * m.spacing);
    if c.has_domain() && ((low + slack).cmplt(domain.min).any() || (high - slack).cmpgt(domain.max).any()) {
        let message = format!("`{}` would be filled outside the domain", m.name);
        c.error(format!("{path}.fill"), message, "move the region, or enlarge the domain");
    }
    let narrow = (high - low).min_element();
    if narrow < m.spacing {
        let message = format!(
            "no particle fits: the region is {} across, the spacing is {}",
            show(narrow, "m"),
            show(m.spacing, "m")
        );
        c.error(format!("{path}.fill"), message, "enlarge the region, or use a smaller spacing");
    } else if narrow < LEAST_ACROSS * m.spacing {
        let message = format!("only {:.0} particles lie across the region", (narrow / m.spacing).floor());
        let help = format!(
            "a continuum needs {LEAST_ACROSS} and more: use a spacing below {}",
            show(narrow / LEAST_ACROSS, "m")
        );
        c.warn(format!("{path}.fill"), message, help);
    }
}

/// Openings against the spacing of smoothed particles.
fn gaps(c: &mut Check) {
    let Some(first) = c.scene.continuum.first().filter(|m| m.method == ContinuumMethod::Sph) else { return };
    for (i, wall) in c.scene.walls.iter().enumerate() {
        let across = opening(wall) / first.spacing;
        if !(across > 0.0 && across < GOOD_ACROSS) {
            continue;
        }
        let message = format!("the opening of `{}` is {across:.1} particles across", wall.name);
        let help = |least: f64| format!("use a spacing of at most {}", show(opening(wall) / least, "m"));
        if across < LEAST_ACROSS {
            c.error(format!("walls[{i}]"), format!("{message}: sand does not find through"), help(LEAST_ACROSS));
        } else {
            c.warn(
                format!("walls[{i}]"),
                format!("{message}: the rate of a flow through it suffers"),
                help(GOOD_ACROSS),
            );
        }
    }
}

/// Populations of one solver share their particles' size and how they are solved.
fn same_spacing(c: &mut Check) {
    let Some(first) = c.scene.continuum.first() else { return };
    for (i, m) in c.scene.continuum.iter().enumerate().skip(1) {
        if m.spacing != first.spacing && !m.spacing.is_nan() && !first.spacing.is_nan() {
            let message = format!(
                "`{}` has another spacing ({}) than `{}` ({})",
                m.name,
                show(m.spacing, "m"),
                first.name,
                show(first.spacing, "m")
            );
            c.error(format!("continuum[{i}].spacing"), message, "give all populations of a scene the same spacing");
        }
        let bulk = |m: &Continuum| (m.density, m.packing);
        if bulk(m) != bulk(first) && !m.density.is_nan() && !first.density.is_nan() {
            let message = format!("`{}` has another bulk density than `{}`", m.name, first.name);
            let help = "give all populations of a scene the same density and packing";
            c.error(format!("continuum[{i}].density"), message, help);
        }
        if m.grains != first.grains {
            let message = format!("`{}` shows other grains than `{}`", m.name, first.name);
            c.error(format!("continuum[{i}].grains"), message, "write `grains` alike for all populations of a scene");
        }
        if m.solve != first.solve {
            let message = format!("`{}` is to be solved otherwise than `{}`", m.name, first.name);
            c.error(
                format!("continuum[{i}].solve"),
                message,
                "write `solve` alike, or under the first population alone",
            );
        }
    }
}

fn wind(c: &mut Check, air: &Air) {
    let (low, high, duration) = (c.scene.domain.min, c.scene.domain.max, c.duration());
    if !(low.is_finite() && high.is_finite() && duration.is_finite()) {
        return;
    }
    for (k, component) in air.velocity.0.iter().enumerate() {
        let Component::Formula(formula) = component else { continue };
        if !formula.is_read() {
            continue;
        }
        let share = |n: usize| n as f64 / (TRIES - 1) as f64;
        let places =
            (0..TRIES.pow(4)).map(|n| [n % TRIES, n / TRIES % TRIES, n / TRIES.pow(2) % TRIES, n / TRIES.pow(3)]);
        let bad = places
            .map(|n| (low + (high - low) * DVec3::new(share(n[0]), share(n[1]), share(n[2])), duration * share(n[3])));
        let bad = { bad }.find(|(x, t)| !formula.at_place(*x, *t).is_finite());
        if let Some((x, t)) = bad {
            let message = format!("this wind has no finite speed at [{}, {}, {}] m, t = {} s", x.x, x.y, x.z, t);
            c.error(
                format!("air.velocity[{k}]"),
                message,
                "change the formula so that it divides by nothing that can be 0",
            );
        }
    }
}
