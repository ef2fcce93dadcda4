//! The same matter by another method: `--as grains`, `--as sph` and `--as phases`.
//!
//! Mass, density, place and velocity stay. What the other method needs and the scene does not say is derived, and what it has no words for
//! is left out; both are told.

use crate::assets::Assets;
use crate::types::*;
use crate::words::count;
use glam::DVec3;
use std::f64::consts::PI;

/// Ways to compute the matter of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatterMethod {
    /// As single grains.
    Grains,
    /// As a continuum of smoothed particles.
    Sph,
    /// As a continuum in three phases, of parcels on a grid.
    Phases,
}

impl MatterMethod {
    /// Every method, by its name on the command line.
    pub const NAMES: &'static [(&'static str, MatterMethod)] =
        &[("grains", MatterMethod::Grains), ("sph", MatterMethod::Sph), ("phases", MatterMethod::Phases)];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MatterMethod::Grains => "grains",
            MatterMethod::Sph => "sph",
            MatterMethod::Phases => "phases",
        }
    }
}

/// A scene with its matter computed otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The scene.
    pub scene: Scene,
    /// What was derived or left out, for people to read.
    pub notes: Vec<String>,
}

/// Why a scene cannot be computed by another method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoConversion {
    /// There is nothing to convert.
    #[error("the scene has no {from} to compute as {to}: leave out --as, or add some")]
    Nothing {
        /// What there would have to be.
        from: &'static str,
        /// What it should become.
        to: &'static str,
    },
    /// Grains that come and go by a rule that a continuum does not have.
    #[error("`{name}` {why}: it cannot be computed as {to}")]
    Population {
        /// Name of the population.
        name: String,
        /// What is in the way.
        why: &'static str,
        /// What it should become.
        to: &'static str,
    },
}

/// Particles across the narrowest opening: below some six the rate of a flow through it suffers.
const ACROSS: f64 = 6.0;
/// Particles at most, so that a run takes minutes.
const MOST: f64 = 60_000.0;
/// Cells of the grid of phases across the narrowest opening, so that a flow through it is about right.
const GOOD_CELLS: f64 = 12.0;
/// The same at least.
const LEAST_CELLS: f64 = 4.0;
/// Parcels at most, so that a run takes minutes.
const MOST_PARCELS: f64 = 120_000.0;
/// Grains a particle at most in pictures.
const MOST_SHOWN: f64 = 256.0;
/// Packing of grains that are put down at random or on a loose lattice and then settle.
const SETTLED: f64 = 0.6;

impl Scene {
    /// The scene with its matter computed by a method; unchanged where it is so already.
    pub fn by_method(&self, assets: &Assets, method: MatterMethod) -> Result<Converted, NoConversion> {
        match method {
            MatterMethod::Grains if self.continuum.is_empty() && !self.grains.is_empty() => Ok(unchanged(self)),
            MatterMethod::Grains => as_grains(self),
            MatterMethod::Sph => self.as_continuum(assets, ContinuumMethod::Sph),
            MatterMethod::Phases => self.as_continuum(assets, ContinuumMethod::Phases),
        }
    }

    fn as_continuum(&self, assets: &Assets, method: ContinuumMethod) -> Result<Converted, NoConversion> {
        let grains = !self.grains.is_empty() || self.continuum.is_empty();
        if !grains && self.continuum_method() == Some(method) {
            return Ok(unchanged(self));
        }
        let mut converted = if grains { from_grains(self, assets, method)? } else { unchanged(self) };
        let Converted { scene, notes } = &mut converted;
        scene.continuum.iter_mut().for_each(|m| m.method = method);
        match method {
            ContinuumMethod::Sph => {
                forget_phases(scene, notes);
                scene.phases = None;
            }
            ContinuumMethod::Phases => into_phases(self, scene, notes)?,
        }
        Ok(converted)
    }
}

/// Leaves out what only phases have words for: in which phase matter begins, and meshes that are filled.
fn forget_phases(scene: &mut Scene, notes: &mut Vec<String>) {
    for m in &mut scene.continuum {
        if std::mem::take(&mut m.phase) != PhaseName::Liquid {
            notes.push(format!("`{}`: its phase at the start is left out", m.name));
        }
        if m.fill.as_mut().is_some_and(|f| f.within.take().is_some()) {
            notes.push(format!("`{}`: the mesh that it fills is left out; its region is filled", m.name));
        }
    }
    for e in scene.emitters.iter_mut().filter(|e| e.phase != PhaseName::Liquid) {
        e.phase = PhaseName::Liquid;
        notes.push(format!("`{}`: the phase of what it pours is left out", e.name));
    }
}

/// Makes a continuum one that can be computed in phases: cells that fit periods, one sand, air that its gas can feel.
fn into_phases(from: &Scene, scene: &mut Scene, notes: &mut Vec<String>) -> Result<(), NoConversion> {
    let to = MatterMethod::Phases.name();
    let Some(first) = scene.continuum.first().cloned() else { return Ok(()) };
    let refused = |m: &Continuum, why| Err(NoConversion::Population { name: m.name.clone(), why, to });
    for m in &scene.continuum {
        if m.friction_angle >= Continuum::PHASES_BELOW {
            return refused(m, "has a friction angle of 45 deg or more");
        }
        if m.packing < Continuum::PHASES_LOOSEST {
            return refused(m, "is packed more loosely than 0.4");
        }
        if m.friction_angle != first.friction_angle || m.cohesion != first.cohesion || m.rate != first.rate {
            return refused(m, "is another sand than the first population, and phases have one for a scene");
        }
    }
    let gap = from.walls.iter().map(opening).filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    let most = gap / (Phases::SPACINGS_PER_CELL * LEAST_CELLS);
    let Some(spacing) = spacing_of_bricks(scene, first.spacing.min(most)) else {
        return refused(&first, "is in a domain whose periods have no whole number of cells in common");
    };
    if spacing != first.spacing {
        notes.push(format!("spacing {}: gaps and periods are whole numbers of cells", metres(spacing)));
    }
    // What only pictures and drag ask for; a cell is two grains wide at least.
    let shown = first.grains.as_ref().map(|g| 2.0 * barchan_core::math::cbrt(g.radius.to_core().mean_cube()));
    let grain = first.rate.as_ref().map(|r| r.grain).or(shown).unwrap_or(Phases::GRAIN).min(spacing);
    notes.push(format!("grains of {} in the air", metres(grain)));
    scene.phases = Some(Phases { grain: Some(grain), ..Phases::default() });
    for m in &mut scene.continuum {
        m.spacing = spacing;
        (m.grains, m.solve, m.tensile) = (None, Sph::default(), first.tensile);
        m.material.clone_from(&first.material);
    }
    if let Some(air) = &mut scene.air {
        if air.velocity.steady().is_none() || air.gusts.is_some() || air.along_surface {
            notes.push("gusts and formulas of the wind are left out: the air is at rest".into());
            (air.velocity, air.gusts, air.along_surface) = (Wind::CALM, None, false);
        }
        air.drag = if air.drag == Drag::None { Drag::None } else { Drag::Grains };
    }
    Ok(())
}

/// The largest spacing up to that one [m] of which periods hold a whole number of bricks; none where they have nothing in common.
fn spacing_of_bricks(scene: &Scene, most: f64) -> Option<f64> {
    /// Numbers of bricks that are tried.
    const TRIED: usize = 256;
    let size = scene.domain.max - scene.domain.min;
    let periods: Vec<f64> = (0..3).filter(|&k| scene.domain.is_periodic()[k]).map(|k| size[k]).collect();
    let Some(shortest) = periods.iter().copied().reduce(f64::min) else { return Some(most) };
    let brick = Phases::SPACINGS_PER_CELL * Phases::CELLS_PER_BRICK;
    let fewest = (shortest / (brick * most) * (1.0 - 1e-12)).ceil().max(1.0) as usize;
    let candidates = (fewest..fewest + TRIED).map(|n| shortest / (brick * n as f64));
    let whole = |bricks: f64| (bricks - bricks.round()).abs() <= 1e-10 * bricks;
    { candidates }.find(|spacing| periods.iter().all(|p| whole(p / (brick * spacing))))
}

fn unchanged(scene: &Scene) -> Converted {
    Converted { scene: scene.clone(), notes: Vec::new() }
}

/// Slope at which a layer of spheres flows [rad], by the friction between them: the fit of `barchan validate repose` for spheres,
/// 23.9° μ^0.47 + 6.1°.
pub fn angle_of_friction(friction: f64) -> f64 {
    (23.9 * barchan_core::math::powf(friction.clamp(0.0, 1.0), 0.47) + 6.1).to_radians()
}

/// The friction between spheres that gives that slope [rad]; at most 1.
pub fn friction_of_angle(angle: f64) -> f64 {
    barchan_core::math::powf(((angle.to_degrees() - 6.1) / 23.9).clamp(0.0, 1.0), 1.0 / 0.47)
}

fn from_grains(from: &Scene, assets: &Assets, method: ContinuumMethod) -> Result<Converted, NoConversion> {
    let to = method.name();
    let poured = |e: &&Emitter| e.continuum.is_none();
    if from.grains.is_empty() && !from.emitters.iter().any(|e| poured(&e)) {
        return Err(NoConversion::Nothing { from: "grains", to });
    }
    if from.ground.as_ref().is_some_and(|g| g.exchange.is_some()) {
        let name = "ground.exchange".into();
        return Err(NoConversion::Population { name, why: "turns grains into ground and back", to });
    }
    let (mut scene, mut notes) = (from.clone(), Vec::new());
    let mut materials: Vec<(String, Continuum)> = Vec::new();
    let (across, most) = match method {
        ContinuumMethod::Sph => (ACROSS, MOST),
        ContinuumMethod::Phases => (Phases::SPACINGS_PER_CELL * GOOD_CELLS, MOST_PARCELS),
    };
    let spacing = spacing(from, assets, across, most);
    notes.push(format!(
        "spacing {}: {across} particles across the narrowest opening, {} at most",
        metres(spacing),
        count(most as u64)
    ));
    for g in &from.grains {
        let mut m = bulk(from, assets, g.name.clone(), &g.material, &g.shape, g.radius.as_ref(), spacing, &mut notes);
        m.velocity = g.velocity;
        m.fill = Some(ContinuumFill {
            within: None,
            region: match &g.place {
                Place::At(_) | Place::Trees { .. } | Place::Sheet { .. } => {
                    return Err(NoConversion::Population { name: g.name.clone(), why: "is placed grain by grain", to });
                }
                Place::Fill(fill) => filled(from, assets, g, fill, &m),
                Place::Release(_) => {
                    return Err(NoConversion::Population { name: g.name.clone(), why: "lies on rock", to });
                }
            },
        });
        if g.spin != DVec3::ZERO || g.velocity_spread > 0.0 {
            notes.push(format!("`{}`: spin and spread of velocities are left out", g.name));
        }
        materials.push((g.material.clone(), m));
    }
    for e in scene.emitters.iter_mut().filter(|e| e.continuum.is_none()) {
        let known = materials.iter().find(|(material, _)| *material == e.material).map(|(_, m)| m.name.clone());
        let grain = grain_mass(from, assets, &e.material, &e.shape, e.radius.as_ref());
        let name = known.unwrap_or_else(|| {
            let name = format!("{} matter", e.name);
            let m = bulk(from, assets, name.clone(), &e.material, &e.shape, e.radius.as_ref(), spacing, &mut notes);
            materials.push((e.material.clone(), m));
            name
        });
        if let EmitterFlow::Rate(rate) = e.flow {
            e.flow = EmitterFlow::MassRate(rate * grain);
        }
        // The number of grains is the number of no particles; the time after which it is reached is kept.
        if let (Some(n), EmitterFlow::MassRate(rate)) = (e.count.take(), &e.flow) {
            let until = e.from + n as f64 * grain / rate;
            e.until = Some(e.until.map_or(until, |u| u.min(until)));
        }
        e.continuum = Some(name);
        (e.material, e.shape, e.radius) = (String::new(), ShapeSpec::SPHERE.into(), None);
    }
    scene.grains.clear();
    scene.continuum.extend(materials.into_iter().map(|(_, m)| m));
    leave_out_contacts(&mut scene, &mut notes);
    Ok(Converted { scene, notes })
}

/// What a population is in bulk.
#[allow(clippy::too_many_arguments)]
fn bulk(
    scene: &Scene,
    assets: &Assets,
    name: String,
    material: &str,
    shape: &str,
    radius: Option<&Size>,
    spacing: f64,
    notes: &mut Vec<String>,
) -> Continuum {
    let m = scene.materials.get(material);
    let preset = m.and_then(|m| m.preset).map(|p| p.bulk());
    let friction = m.map_or(0.0, |m| m.friction);
    let angle = preset.map_or_else(|| angle_of_friction(friction), |b| b.friction_angle);
    let why = if preset.is_some() { "of its preset".into() } else { format!("derived from a friction of {friction}") };
    notes.push(format!("`{name}`: friction angle {:.1} deg, {why}", angle.to_degrees()));
    if shape != ShapeSpec::SPHERE || m.is_some_and(|m| m.rolling > 0.0 && m.preset.is_none()) {
        notes.push(format!("`{name}`: shape and rolling resistance of its grains are left out"));
    }
    let packing = preset.map_or(SETTLED, |b| b.packing);
    let size = radius.cloned().or_else(|| assets.shape(scene, shape).and_then(|s| s.1).map(Size::Fixed));
    let grains = size.map(|radius| {
        let volume = 4.0 / 3.0 * PI * radius.to_core().mean_cube();
        let per_particle = (packing * spacing.powi(3) / volume).clamp(1.0, MOST_SHOWN).round() as u64;
        let largest = radius.largest();
        // Grains larger than a particle cannot be carried by it: half a spacing at most.
        let radius = if largest > 0.5 * spacing { Size::Fixed(0.45 * spacing) } else { radius };
        ShownGrains { per_particle, radius, upsampling: Upsampling::Filling }
    });
    Continuum {
        name,
        method: ContinuumMethod::Sph,
        material: Some(material.into()),
        spacing,
        density: m.map_or(f64::NAN, |m| m.density),
        packing,
        friction_angle: angle,
        cohesion: preset.map_or(0.0, |b| b.cohesion),
        tensile: 0.0,
        rate: None,
        fill: None,
        phase: PhaseName::Liquid,
        velocity: DVec3::ZERO,
        grains,
        solve: Sph::default(),
    }
}

/// Mass of a mean grain [kg].
fn grain_mass(scene: &Scene, assets: &Assets, material: &str, shape: &str, radius: Option<&Size>) -> f64 {
    let density = scene.materials.get(material).map_or(f64::NAN, |m| m.density);
    let Some((shape, listed)) = assets.shape(scene, shape) else { return f64::NAN };
    let cube = radius.map(|r| r.to_core().mean_cube()).or(listed.map(|r| r.powi(3))).unwrap_or(f64::NAN);
    density * shape.volume() * cube
}

/// The part of a filling's region that its grains take when they have settled: from the bottom up.
fn filled(scene: &Scene, assets: &Assets, g: &Grains, fill: &Fill, m: &Continuum) -> Region {
    let volume = fill.region.to_core().volume();
    let grain = grain_mass(scene, assets, &g.material, &g.shape, g.radius.as_ref()) / m.bulk_density();
    let asked = match (fill.count, fill.fraction) {
        (Some(n), _) => n as f64 * grain,
        (None, Some(fraction)) => fraction / m.packing * volume,
        (None, None) => volume,
    };
    let share = (asked / volume).clamp(0.0, 1.0);
    let up = (-scene.gravity).normalize_or(DVec3::Z);
    match fill.region.clone() {
        Region::Box { min, max } => {
            let axis = (0..3).max_by(|&a, &b| up[a].abs().total_cmp(&up[b].abs())).unwrap_or(2);
            let (mut min, mut max) = (min, max);
            let height = share * (max[axis] - min[axis]);
            if up[axis] > 0.0 {
                max[axis] = min[axis] + height
            } else {
                min[axis] = max[axis] - height
            }
            Region::Box { min, max }
        }
        Region::Cylinder { base, axis, radius, height } => {
            Region::Cylinder { base, axis, radius, height: share * height }
        }
        Region::Sphere { centre, radius } => {
            Region::Sphere { centre, radius: barchan_core::math::cbrt(share) * radius }
        }
    }
}

/// Width of the opening that a wall leaves [m]; infinite where it has none.
pub fn opening(wall: &Wall) -> f64 {
    match &wall.geometry {
        Geometry::Cone { radius_base, radius_top, .. } => 2.0 * radius_base.min(*radius_top),
        Geometry::Disc { hole, .. } if *hole > 0.0 => 2.0 * hole,
        Geometry::Cylinder { radius, side: Side::Inside, .. } => 2.0 * radius,
        Geometry::Plane { .. }
        | Geometry::Box { .. }
        | Geometry::Sphere { .. }
        | Geometry::Disc { .. }
        | Geometry::Cylinder { .. }
        | Geometry::Standing(_)
        | Geometry::Mesh(_) => f64::INFINITY,
    }
}

/// Spacing of particles [m]: some across the narrowest opening, but not more particles than a run of minutes has.
fn spacing(scene: &Scene, assets: &Assets, across: f64, most: f64) -> f64 {
    let side = scene.domain.max - scene.domain.min;
    let narrowest = scene.walls.iter().map(opening).filter(|x| *x > 0.0).fold(side.min_element(), f64::min);
    let mut volume = 0.0;
    for g in &scene.grains {
        let Place::Fill(fill) = &g.place else { continue };
        let grain = grain_mass(scene, assets, &g.material, &g.shape, g.radius.as_ref());
        let density = scene.materials.get(&g.material).map_or(f64::NAN, |m| m.density);
        let solid = fill.count.map(|n| n as f64 * grain / density);
        volume += solid.map_or_else(|| fill.region.to_core().volume(), |s| s / SETTLED);
    }
    for e in &scene.emitters {
        let density = scene.materials.get(&e.material).map_or(f64::NAN, |m| m.density);
        let grain = grain_mass(scene, assets, &e.material, &e.shape, e.radius.as_ref());
        let span = e.until.unwrap_or(scene.duration).min(scene.duration) - e.from;
        let mass = match e.flow {
            EmitterFlow::Rate(rate) => (rate * span).min(e.count.map_or(f64::INFINITY, |n| n as f64)) * grain,
            EmitterFlow::MassRate(rate) => rate * span,
        };
        volume += mass / density / SETTLED;
    }
    let least = barchan_core::math::cbrt(volume / most);
    (narrowest / across).max(if least.is_finite() { least } else { 0.0 })
}

fn as_grains(from: &Scene) -> Result<Converted, NoConversion> {
    if from.continuum.is_empty() {
        return Err(NoConversion::Nothing { from: "continuum", to: MatterMethod::Grains.name() });
    }
    let (mut scene, mut notes) = (from.clone(), Vec::new());
    forget_phases(&mut scene, &mut notes);
    for m in &from.continuum {
        // Grains as fine as those that are shown would be too many: one of them for a particle, of the same volume of solid.
        let radius = m.spacing * barchan_core::math::cbrt(m.packing * 3.0 / (4.0 * PI));
        notes.push(format!("`{}`: spheres of radius {}, one a particle", m.name, metres(radius)));
        let material = m.material.clone().unwrap_or_else(|| m.name.clone());
        if m.material.is_none() {
            let friction = friction_of_angle(m.friction_angle);
            notes.push(format!(
                "`{}`: friction {friction:.2}, derived from its friction angle; the rest as dry sand",
                m.name
            ));
            let sand = crate::presets::Preset::DrySand.material();
            scene.materials.insert(material.clone(), Material { preset: None, density: m.density, friction, ..sand });
        }
        if m.cohesion > 0.0 || m.tensile > 0.0 || m.rate.is_some() {
            notes.push(format!("`{}`: cohesion, tensile strength and rate are left out", m.name));
        }
        let size = Some(Size::Uniform([0.9 * radius, 1.1 * radius]));
        if let Some(region) = m.region() {
            let number = (region.to_core().volume() / m.spacing.powi(3)).round() as u64;
            let fill = Fill {
                within: None,
                hole: 0.0,
                region: region.clone(),
                method: FillMethod::Random,
                count: None,
                fraction: Some(RANDOM),
                every: None,
                batch: None,
            };
            notes.push(format!(
                "`{}`: {} of about {} grains stand in its region at first, and settle",
                m.name,
                count((RANDOM / m.packing * number as f64) as u64),
                count(number)
            ));
            scene.grains.push(Grains {
                velocity_field: Vec::new(),
                fixed: false,
                name: m.name.clone(),
                material: material.clone(),
                shape: ShapeSpec::SPHERE.into(),
                radius: size.clone(),
                place: Place::Fill(fill),
                turn: None,
                velocity: m.velocity,
                spin: DVec3::ZERO,
                velocity_spread: 0.0,
                bonds: None,
            });
        }
        for e in scene.emitters.iter_mut().filter(|e| e.continuum.as_ref() == Some(&m.name)) {
            (e.continuum, e.material, e.radius) = (None, material.clone(), size.clone());
        }
    }
    if scene.air.take().is_some() {
        notes.push("the air is left out: grains feel none".into());
    }
    scene.continuum.clear();
    scene.phases = None;
    Ok(Converted { scene, notes })
}

/// Share of the space that grains put down at random reach.
const RANDOM: f64 = 0.3;

/// Measurements that look at contacts of grains, by their keys.
const OF_CONTACTS: &[&str] = &[
    "coordination",
    "force_histogram",
    "force_network",
    "force_correlation",
    "contact_angles",
    "packing",
    "profile",
    "fields",
    "pressure_on",
];

/// Leaves out what only contacts of grains can tell.
fn leave_out_contacts(scene: &mut Scene, notes: &mut Vec<String>) {
    let of_contacts = |m: &Measure| OF_CONTACTS.contains(&m.what.key());
    for m in scene.measure.iter().filter(|m| of_contacts(m)) {
        notes.push(format!("the measurement `{}` is left out: it looks at grains", m.name));
    }
    scene.measure.retain(|m| !of_contacts(m));
}

fn metres(x: f64) -> String {
    crate::check::show(x, "m")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    fn scene(name: &str) -> Scene {
        let found = gallery().iter().find(|s| s.name == name).unwrap();
        Scene::from_toml(found.source, name).unwrap_or_else(|e| panic!("{}", e.listing())).scene
    }

    #[test]
    fn friction_and_angle_are_each_others_inverse() {
        for friction in [0.05, 0.3, 0.5, 0.9] {
            assert!((friction_of_angle(angle_of_friction(friction)) - friction).abs() < 1e-12);
        }
    }

    #[test]
    fn a_scene_of_grains_keeps_its_mass_as_a_continuum_and_can_run() {
        for name in ["hourglass", "column-collapse", "silo", "pile"] {
            let from = scene(name);
            let to = from.by_method(&Assets::default(), MatterMethod::Sph).unwrap();
            assert!(
                to.scene.check().iter().all(|p| p.severity != crate::Severity::Error),
                "{name}: {:?}",
                to.scene.check()
            );
            let grains: f64 = from
                .grains
                .iter()
                .filter_map(|g| match &g.place {
                    Place::Fill(fill) => Some(
                        fill.count? as f64
                            * grain_mass(&from, &Assets::default(), &g.material, &g.shape, g.radius.as_ref()),
                    ),
                    Place::At(_) | Place::Release(_) | Place::Trees { .. } | Place::Sheet { .. } => None,
                })
                .sum();
            let filled = |m: &Continuum| m.region().map(|r| m.bulk_density() * r.to_core().volume());
            let mass: f64 = to.scene.continuum.iter().filter_map(filled).sum();
            assert!((mass - grains).abs() <= 1e-9 * grains || grains == 0.0, "{name}: {mass} kg of {grains} kg");
            let text = to.scene.to_toml().unwrap();
            assert_eq!(Scene::from_toml(&text, name).unwrap().scene, to.scene, "{name} is read back as it was written");
        }
    }
}
