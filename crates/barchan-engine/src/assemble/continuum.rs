//! Matter as a continuum: from the scene's words to the solver's.

use super::{Method, maps, memory, settings};
use barchan_core::boundary::Boundary;
use barchan_core::materials::Material;
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::rng::Random;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::Knob;
use barchan_scene as scene;
use barchan_scene::words::{bytes, count};
use barchan_scene::{Component, Continuum, ContinuumMethod, Formula, Parsed, Phases, Problem, Scene};
use barchan_sph::{
    Air, BYTES_PER_PARTICLE, Cone, Drag, Filled, Filling, Friction, GrainSettings, Kernel, Kind, MuI, Pressure,
    Published, Rule, Settings, Sph, WallFriction, Wind,
};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;
use std::ops::Range;
use std::sync::Arc;

/// The continuum as smoothed particles.
pub(super) const SPH: Method = Method {
    name: "sph",
    wanted: |s| s.continuum_method() == Some(ContinuumMethod::Sph),
    wish: |s| settings_of(s).map(|settings| settings.wish()),
    make: |parsed, start, boundary| {
        let settings = settings_of(&parsed.scene).unwrap_or_else(|| Settings::sand(f64::NAN, start.domain));
        let shapes = maps::shapes(&parsed.scene, &parsed.assets, &settings, boundary)?;
        Ok(Box::new(Sph::new(Settings { materials: start.materials.clone(), shapes, ..settings })?))
    },
};

/// What the solver is told, without the materials of the world; none for a scene without a continuum of smoothed particles.
fn settings_of(scene: &Scene) -> Option<Settings> {
    let first = scene.continuum.first().filter(|m| m.method == ContinuumMethod::Sph)?;
    let grain = first.rate.as_ref().map(|r| r.grain);
    let grain =
        grain.or(first.grains.as_ref().map(|g| 2.0 * math::cbrt(g.radius.to_core().mean_cube()))).unwrap_or(GRAIN);
    let usual = Settings::sand(first.spacing, settings::domain(&scene.domain));
    Some(Settings {
        bulk_density: first.bulk_density(),
        grain_density: first.density,
        grain_diameter: grain,
        kinds: scene.continuum.iter().enumerate().map(|(i, m)| kind(scene, i, m)).collect(),
        kernel: match first.solve.kernel {
            scene::KernelName::Cubic => Kernel::Cubic,
            scene::KernelName::Wendland => Kernel::Wendland,
            scene::KernelName::Spiky => Kernel::Spiky,
        },
        pressure: match first.solve.pressure {
            scene::PressureSolve::Velocity => Pressure::Velocity,
            scene::PressureSolve::Iisph => Pressure::Iisph,
        },
        friction: match first.solve.friction {
            scene::FrictionSolve::Projected => Friction::Projected,
            scene::FrictionSolve::OneShot => Friction::OneShot,
            scene::FrictionSolve::None => Friction::None,
        },
        cone: match first.solve.cone {
            scene::ConeName::SimpleShear => Cone::SimpleShear,
            scene::ConeName::PlaneStrain => Cone::PlaneStrain,
            scene::ConeName::TriaxialCompression => Cone::TriaxialCompression,
            scene::ConeName::TriaxialExtension => Cone::TriaxialExtension,
            scene::ConeName::ZhuBridson => Cone::ZhuBridson,
        },
        published: published(&first.solve.published),
        tolerance: first.solve.tolerance,
        largest_step: first.solve.largest_step.unwrap_or(usual.largest_step),
        gravity: scene.gravity,
        air: scene.air.as_ref().filter(|a| a.drag != scene::Drag::None).map(|a| air(scene, a)),
        wall_friction: WallFriction::Coulomb,
        grains: first.grains.as_ref().map(|g| GrainSettings {
            per_particle: g.per_particle.min(u64::from(u16::MAX)) as u16,
            sizes: g.radius.to_core(),
            material: material(scene, 0),
            rule: match g.upsampling {
                scene::Upsampling::Filling => Rule::Filling,
                scene::Upsampling::Ihmsen => Rule::Ihmsen,
            },
            ..GrainSettings::new(g.radius.largest(), scene.seed)
        }),
        seed: scene.seed,
        ..usual
    })
}

/// Diameter of a grain where nobody says [m]: medium sand.
const GRAIN: f64 = 0.5e-3;

fn published(choices: &[scene::PublishedChoice]) -> Published {
    let has = |choice| choices.contains(&choice);
    Published {
        mass: has(scene::PublishedChoice::Mass),
        walls: has(scene::PublishedChoice::Walls),
        trace: has(scene::PublishedChoice::Trace),
    }
}

fn kind(scene: &Scene, i: usize, m: &Continuum) -> Kind {
    Kind {
        friction_angle: m.friction_angle,
        cohesion: m.cohesion,
        tensile: m.tensile,
        mu_i: m.rate.as_ref().map(|r| MuI { mu_2: r.mu2, i_0: r.i0 }),
        material: material(scene, i),
    }
}

/// Index of the material of the i-th population: the one it names, or its own behind those of the scene.
pub(super) fn material(scene: &Scene, i: usize) -> u16 {
    let own = |m: &&Continuum| m.material.is_none();
    match &scene.continuum[i].material {
        Some(name) => settings::material_index(scene, name),
        None => (scene.materials.len() + scene.continuum[..i].iter().filter(own).count()) as u16,
    }
}

/// Materials of the populations that name none: walls hold them with the friction they have themselves.
pub(super) fn materials(scene: &Scene) -> impl Iterator<Item = Material> {
    scene.continuum.iter().filter(|m| m.material.is_none()).map(|m| Material {
        name: m.name.clone(),
        density: m.density,
        friction: math::tan(m.friction_angle),
        // Of no consequence: matter as a continuum has no contacts of its own.
        young: 1e7,
        poisson: 0.3,
        restitution: 0.5,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    })
}

/// Indices of those materials.
pub(super) fn own(scene: &Scene) -> Range<u16> {
    let first = scene.materials.len() as u16;
    first..first + materials(scene).count() as u16
}

/// The knob that the friction of a continuum's own material follows.
pub(crate) const FRICTION_ANGLE: &str = "friction angle";

/// Writes the values of knobs into a scene.
pub(crate) fn keep_knobs(scene: &mut Scene, knobs: &[Knob]) {
    let of = |name: &str| knobs.iter().filter(|k| k.name == name).map(|k| k.value).collect::<Vec<f64>>();
    let in_phases = scene.continuum_method() == Some(ContinuumMethod::Phases);
    let (angles, cohesions) = (of(FRICTION_ANGLE), of("cohesion"));
    for (i, m) in scene.continuum.iter_mut().enumerate() {
        // In phases all populations are of one kind.
        let i = if in_phases { 0 } else { i };
        m.friction_angle = angles.get(i).copied().unwrap_or(m.friction_angle);
        m.cohesion = cohesions.get(i).copied().unwrap_or(m.cohesion);
    }
    let tolerance = of("tolerance").first().copied();
    if in_phases {
        let was = scene.phases.clone().unwrap_or_default();
        if let Some(tolerance) = tolerance.filter(|t| *t != was.tolerance) {
            scene.phases = Some(Phases { tolerance, ..was });
        }
        super::phases::keep_knobs(scene, knobs);
    }
    let usual = settings_of(scene).map(|s| s.largest_step);
    let largest = of("largest step").first().copied().filter(|step| Some(*step) != usual);
    for m in scene.continuum.iter_mut().filter(|_| !in_phases) {
        m.solve.tolerance = tolerance.unwrap_or(m.solve.tolerance);
        m.solve.largest_step = largest.or(m.solve.largest_step);
    }
    let density = of("air density").first().copied().unwrap_or_default();
    if scene.air.is_none() && density == 0.0 {
        return;
    }
    let air = scene.air.get_or_insert_default();
    // A scene whose air drags on nothing has no knob for it until a wind blows.
    if density > 0.0 && air.drag == scene::Drag::None {
        air.drag = scene::Drag::Grains;
    }
    if air.drag != scene::Drag::None {
        air.density = density;
    }
    air.coefficient = of("drag coefficient").first().copied().unwrap_or(air.coefficient);
    for (k, name) in ["wind x", "wind y", "wind z"].into_iter().enumerate() {
        air.velocity.0[k] = of(name).first().map_or(air.velocity.0[k].clone(), |v| Component::Number(*v));
    }
    if let Some(factor) = of("wind").first().filter(|f| **f != 1.0) {
        for component in &mut air.velocity.0 {
            match component {
                Component::Number(speed) => *speed *= factor,
                Component::Formula(formula) => *formula = formula.times(*factor),
            }
        }
    }
}

/// Writes the friction that walls have with continua which name no material, where it no longer follows from the friction angle.
pub(crate) fn keep_own(scene: &mut Scene, own: &[Material]) {
    let unnamed = scene.continuum.iter_mut().filter(|m| m.material.is_none());
    for (m, now) in unnamed.zip(own).filter(|(m, now)| now.friction != math::tan(m.friction_angle)) {
        let mut name = m.name.clone();
        while scene.materials.contains_key(&name) {
            name.push('\'');
        }
        let material = scene::Material {
            preset: None,
            density: now.density,
            young: now.young,
            poisson: now.poisson,
            restitution: now.restitution,
            friction: now.friction,
            rolling: now.rolling,
            twisting: now.twisting,
            cohesion: now.cohesion,
            strength: None,
        };
        scene.materials.insert(name.clone(), material);
        m.material = Some(name);
    }
}

fn air(scene: &Scene, a: &scene::Air) -> Air {
    Air {
        wind: wind(scene, a),
        density: a.density,
        viscosity: a.viscosity,
        drag: match a.drag {
            scene::Drag::Grains | scene::Drag::None => Drag::Grains,
            scene::Drag::Blob => Drag::Blob,
            scene::Drag::Blend => Drag::Blend,
        },
        coefficient: a.coefficient,
        along_surface: a.along_surface,
    }
}

/// Waves that gusts are made of: enough that they do not repeat within a minute.
const WAVES: usize = 5;

fn wind(scene: &Scene, air: &scene::Air) -> Wind {
    let formula = |c: &Component| match c {
        Component::Number(speed) => (*speed, None),
        Component::Formula(formula) => (0.0, Some(formula.clone())),
    };
    let parts = air.velocity.0.each_ref().map(formula);
    let steady = DVec3::from_array(parts.each_ref().map(|p| p.0));
    if air.gusts.is_none() && parts.iter().all(|p| p.1.is_none()) {
        return Wind::Constant(steady);
    }
    // Rates round the one asked for, with phases by the seed: their mean swells and fades without a period.
    let mut rng = Random::new(scene.seed, GUSTS);
    let waves: Vec<[f64; 2]> = (0..WAVES).map(|_| [0.5 + rng.uniform(), TAU * rng.uniform()]).collect();
    let gusts = air.gusts.as_ref().map(|g| (g.share, TAU / g.period));
    let field = move |x, t| {
        let at = |p: &(f64, Option<Formula>)| p.1.as_ref().map_or(p.0, |f| f.at_place(x, t));
        let blown = DVec3::from_array(parts.each_ref().map(at));
        let swell = gusts.map_or(1.0, |(share, rate)| {
            let sum: f64 = waves.iter().map(|[pace, phase]| math::sin(pace * rate * t + phase)).sum();
            1.0 + share * sum / (WAVES as f64).sqrt()
        });
        blown * swell
    };
    Wind::Field(Arc::new(field), 1.0)
}

/// Stream of random numbers for gusts: apart from all populations.
const GUSTS: u64 = (1 << 24) - 2;

/// What the particles of the i-th population have in common.
pub(super) fn recipe(scene: &Scene, i: usize) -> Recipe {
    let m = &scene.continuum[i];
    let radius = 0.5 * m.spacing;
    let mass = settings_of(scene).map_or_else(|| m.bulk_density() * m.spacing.powi(3), |s| s.particle_mass());
    Recipe {
        seed: scene.seed,
        population: (scene.grains.len() + scene.emitters.len() + i) as u64,
        material: material(scene, i),
        shape: i as u16,
        sizes: SizeDistribution::Fixed(radius),
        reach: 1.0,
        spheres: 1,
        unit_mass: mass / radius.powi(3),
        velocity: m.velocity,
        velocity_spread: 0.0,
        spin: DVec3::ZERO,
        turn: Some(DQuat::IDENTITY),
    }
}

/// What is wrong with the continuum of a scene, as its solver sees it.
pub(super) fn problems(parsed: &Parsed) -> Vec<Problem> {
    let Some(settings) = settings_of(&parsed.scene) else { return Vec::new() };
    let found = settings.check().into_iter().map(|e| parsed.error_at("continuum[0]", e, ""));
    found.chain(too_many(parsed, settings.spacing)).collect()
}

/// Fillings that this machine cannot hold, or that cannot be numbered.
fn too_many(parsed: &Parsed, spacing: f64) -> Option<Problem> {
    let volumes = parsed.scene.continuum.iter().filter_map(|m| m.region().map(|r| r.to_core().volume()));
    let particles = volumes.sum::<f64>() / spacing.powi(3);
    let shown = parsed.scene.continuum[0].grains.as_ref().map_or(0.0, |g| g.per_particle as f64 * BYTES_PER_SHOWN);
    let needed = particles * (BYTES_PER_PARTICLE + shown);
    let has = memory::machine_memory().filter(|has| needed > *has);
    let message = if let Some(has) = has {
        let (many, needed, has) = (count(particles as u64), bytes(needed), bytes(has));
        format!("{many} particles would need about {needed} of memory; this machine has {has}")
    } else if particles >= f64::from(u32::MAX) {
        format!("{particles:.2e} particles are more than a run can number (4.29e9)")
    } else {
        return None;
    };
    // A particle's share of space goes with the cube of the spacing.
    let over = has.map_or(1.0, |has| needed / has).max(particles / f64::from(u32::MAX));
    let help = format!("use a spacing of at least {:.2e} m, or smaller regions", spacing * math::cbrt(over));
    Some(parsed.error_at("continuum[0].spacing", message, help))
}

/// Memory of a grain that is shown [bytes]: its columns, and those of the frame that it is in.
const BYTES_PER_SHOWN: f64 = 150.0;

/// Fills the regions of all populations, on a lattice half a spacing off walls. Returns what is doubtful about that.
pub(super) fn fill(parsed: &Parsed, boundary: &Boundary, sph: &mut Sph) -> Result<Vec<Problem>, Vec<Problem>> {
    let (scene, mut problems, mut warnings) = (&parsed.scene, Vec::new(), Vec::new());
    for (i, m) in scene.continuum.iter().enumerate() {
        let Some(region) = m.region().map(|r| r.to_core()) else { continue };
        let (low, high) = region.bounds();
        let filling = Filling {
            corners: [low, high],
            spacing: m.spacing,
            jitter: JITTER,
            velocity: m.velocity,
            kind: i as u16,
            seed: scene.seed.wrapping_add(i as u64),
        };
        let filled = filling.fill(&|x| region.contains(x), boundary, scene.gravity, m.bulk_density());
        let path = format!("continuum[{i}].fill");
        warnings.extend(left_out(parsed, &path, m, boundary, &filled));
        if filled.matter.is_empty() {
            let message = format!("no particle of `{}` fits into its region", m.name);
            let help = "enlarge it, use a smaller spacing, or move it away from walls";
            problems.push(parsed.error_at(&path, message, help));
        } else if let Err(e) = sph.add_filled(&filled.matter, &filled.pressure, boundary) {
            problems.push(parsed.error_at(&path, e.to_string(), "use a larger spacing, or move the region"));
        }
    }
    if problems.is_empty() { Ok(warnings) } else { Err(problems) }
}

/// What a filling leaves out because a wall or a body is there.
fn left_out(parsed: &Parsed, path: &str, m: &Continuum, boundary: &Boundary, filled: &Filled) -> Option<Problem> {
    let inside: usize = filled.inside.values().sum();
    let (wall, _) = filled.inside.iter().max_by_key(|(_, n)| **n)?;
    let message = format!(
        "{} of the {} particles of `{}` would lie inside `{}`{} and are left out: {:.3} kg less",
        count(inside as u64),
        count((inside + filled.matter.len()) as u64),
        m.name,
        boundary.walls()[*wall].name,
        if filled.inside.len() > 1 { " and other walls" } else { "" },
        inside as f64 * m.bulk_density() * m.spacing.powi(3)
    );
    Some(parsed.warning_at(
        path,
        message,
        "let the region end at the wall, or leave it so if the matter is to lie round it",
    ))
}

/// Jitter of the particles of a filling, as a share of the spacing: a lattice without any has planes along which it slides.
const JITTER: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Gusts swell and fade about the wind of the scene by the share that was asked for.
    #[test]
    fn gusts_have_their_share_and_keep_the_mean() {
        let text = r#"
            duration = 1
            seed = 3
            [domain]
            min = [0, 0, 0]
            max = [1, 1, 1]
            [[continuum]]
            name = "sand"
            spacing = "5 cm"
            density = 2650
            friction_angle = "33 deg"
            fill = { box = { min = [0, 0, 0], max = [1, 1, 0.5] } }
            [air]
            velocity = [8, 0, "2*z"]
            gusts = { share = 0.3, period = "2 s" }
        "#;
        let parsed = crate::load(text, "gusts", Path::new("")).unwrap_or_else(|e| panic!("{}", e.listing()));
        let scene = &parsed.scene;
        let blows = wind(scene, scene.air.as_ref().unwrap());
        let place = DVec3::new(0.2, 0.3, 0.5);
        let samples: Vec<DVec3> = (0..40_000).map(|k| blows.at(place, 0.05 * f64::from(k))).collect();
        let mean = samples.iter().sum::<DVec3>() / samples.len() as f64;
        assert!((mean - DVec3::new(8.0, 0.0, 1.0)).length() < 0.05, "{mean}");
        // Five waves, each with the mean square ½/5.
        let spread = samples.iter().map(|u| (u.x / 8.0 - 1.0).powi(2)).sum::<f64>() / samples.len() as f64;
        assert!((spread.sqrt() / (0.3 * 0.5f64.sqrt()) - 1.0).abs() < 0.05, "{}", spread.sqrt());
        assert!(samples.iter().all(|u| (u.z * 8.0 - u.x).abs() < 1e-12), "all components swell alike");
        assert!(blows.at(place, 0.7) != blows.at(place, 1.1));
    }
}
