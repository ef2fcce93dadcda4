//! The scene's words into the solver's: names become indices, choices become laws. (Regions, surfaces, shapes and sizes
//! are converted by the scene itself, `to_core`.)

use super::release::Area;
use barchan_core::contact::bridge::BridgeLaw;
use barchan_core::contact::{Cap, ContactLaw, NormalLaw, Rolling, TangentialLaw};
use barchan_core::materials::{Material, Materials, PairOverride};
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::solver::Domain;
use barchan_core::walls::{Belt, Between, Control, Drive, Keyframe, Motion, Oscillate, Rotate, Servo, Wall};
use barchan_dem::{CellLaw, Integrator, Precision, Sleep, Straining};
use barchan_scene as scene;
use barchan_scene::{Parsed, Release, Scene};
use glam::DVec3;
use std::collections::BTreeMap;

/// Index of a material by name; a checked scene names only those it has.
pub(super) fn material_index(scene: &Scene, name: &str) -> u16 {
    scene.materials.get_index_of(name).unwrap_or_default() as u16
}

pub(super) fn materials(scene: &Scene) -> Materials {
    let list = (scene.materials.iter())
        .map(|(name, m)| Material {
            name: name.clone(),
            density: m.density,
            young: m.young,
            poisson: m.poisson,
            restitution: m.restitution,
            friction: m.friction,
            rolling: m.rolling,
            twisting: m.twisting,
            cohesion: m.cohesion,
        })
        .collect();
    let overrides = (scene.pairs.iter())
        .map(|p| PairOverride {
            a: material_index(scene, &p.between[0]),
            b: material_index(scene, &p.between[1]),
            restitution: p.restitution,
            friction: p.friction,
            rolling: p.rolling,
            twisting: p.twisting,
            cohesion: p.cohesion,
        })
        .collect();
    Materials { list, overrides }
}

/// Share of the volume and contacts of a grain in Rumpf's formula for the strength of a bulk.
const BULK: f64 = Release::PACKING;
const COORDINATION: f64 = 6.0;

/// Surface energy [J/m²] of grains of a diameter [m] whose bulk has a tensile strength [Pa]: the pull-off force is π σ d²/(φ Z) [Rumpf 1970]. By
/// that a coarse bulk is as strong as a fine one [Thakur, Ooi and Ahmadian 2015].
pub(super) fn surface_energy(strength: f64, diameter: f64) -> f64 {
    // The pull-off force of two grains is 4πγR* with R* = d/4.
    strength * diameter / (BULK * COORDINATION)
}

/// Gives materials whose bulk has a strength the surface energy that their grains, as large as they are, need for it.
pub(super) fn set_strengths(parsed: &Parsed, areas: &BTreeMap<usize, Area>, materials: &mut Materials) {
    let scene = &parsed.scene;
    for (i, (name, m)) in scene.materials.iter().enumerate() {
        let Some(strength) = m.strength else { continue };
        let own = scene.grains.iter().enumerate().filter(|(_, g)| g.material == *name);
        let cube = |(k, g): (usize, &scene::Grains)| match areas.get(&k).and_then(|a| a.radius) {
            Some(radius) => Some(radius.powi(3)),
            None => g.radius.as_ref().map(|r| r.to_core().mean_cube()),
        };
        let poured = scene.emitters.iter().filter(|e| e.material == *name);
        let poured = poured.filter_map(|e| e.radius.as_ref()).map(|r| r.to_core().mean_cube());
        if let Some(cube) = own.filter_map(cube).chain(poured).reduce(f64::max) {
            let diameter = 2.0 * barchan_core::math::cbrt(cube);
            materials.list[i].cohesion = surface_energy(strength, diameter);
        }
    }
}

pub(super) fn law(contact: &scene::Contact) -> ContactLaw {
    let normal = match contact.normal {
        scene::NormalLaw::Hertz => NormalLaw::Hertz,
        scene::NormalLaw::Linear => match (contact.stiffness, contact.contact_time) {
            (Some(stiffness), _) if contact.normal_damping.is_some() => {
                NormalLaw::Dashpot { stiffness, damping: contact.normal_damping.unwrap_or_default() }
            }
            (Some(stiffness), _) => NormalLaw::Linear { stiffness },
            (None, time) => NormalLaw::LinearTime { contact_time: time.unwrap_or(f64::NAN) },
        },
        scene::NormalLaw::KuwabaraKono => {
            NormalLaw::KuwabaraKono { dissipation: contact.dissipation.unwrap_or_default() }
        }
        scene::NormalLaw::LeeHerrmann => {
            let (stiffness, damping) =
                contact.lee_herrmann.as_ref().map_or((f64::NAN, 0.0), |l| (l.stiffness, l.damping));
            NormalLaw::LeeHerrmann { stiffness, damping }
        }
    };
    let tangential = match contact.tangential {
        scene::TangentialLaw::Mindlin => TangentialLaw::Mindlin,
        scene::TangentialLaw::MindlinDisplacement => TangentialLaw::MindlinDisplacement,
        scene::TangentialLaw::CundallStrack => {
            let ratio = contact.tangential_stiffness.unwrap_or(scene::Contact::TANGENTIAL_STIFFNESS);
            // Beside a given normal dashpot stands half of it, as in LAMMPS, unless the scene gives another.
            match contact.tangential_damping.or(contact.normal_damping.map(|c| 0.5 * c)) {
                Some(damping) => TangentialLaw::Dashpot { ratio, damping },
                None => TangentialLaw::CundallStrack { ratio },
            }
        }
        scene::TangentialLaw::Viscous => {
            TangentialLaw::Viscous { damping: contact.tangential_damping.unwrap_or_default() }
        }
    };
    let cap = match contact.cap {
        scene::FrictionCap::Shared => Cap::Shared,
        scene::FrictionCap::Spring => Cap::Spring,
    };
    let rolling = match contact.rolling {
        scene::RollingLaw::Relative => Rolling::Relative,
        scene::RollingLaw::Own => Rolling::Own,
    };
    ContactLaw { normal, tangential, cap, rolling }
}

pub(super) fn domain(domain: &scene::Domain) -> Domain {
    Domain { min: domain.min, max: domain.max, periodic: domain.is_periodic() }
}

pub(super) fn integrator(integrator: &scene::Integrator) -> Integrator {
    match integrator.method {
        scene::Method::VelocityVerlet => Integrator::VelocityVerlet,
        scene::Method::SemiImplicitEuler => Integrator::SemiImplicitEuler,
        scene::Method::PositionVerlet => Integrator::PositionVerlet { dissipation: integrator.dissipation },
        scene::Method::ForwardEuler => Integrator::ForwardEuler,
    }
}

/// Diameters that a mean grain falls in the time after which grains at rest fall asleep, where none is given: 57 ms for grains of 2 mm.
const REST_FALL: f64 = 8.0;

/// When grains of these populations fall asleep, if the scene has them do so.
pub(super) fn sleep(scene: &Scene, recipes: &[&Recipe]) -> Option<Sleep> {
    let spec = scene.sleep.as_ref()?;
    let radius = recipes.iter().map(|r| math::cbrt(r.sizes.mean_cube())).fold(0.0, f64::max);
    let gravity = if scene.gravity.length() > 0.0 { scene.gravity.length() } else { scene::STANDARD_GRAVITY.length() };
    let after = spec.after.unwrap_or((2.0 * REST_FALL * 2.0 * radius / gravity).sqrt());
    Some(Sleep { after, rest: spec.rest, wake: spec.wake })
}

pub(super) fn precision(integrator: &scene::Integrator) -> Precision {
    match integrator.precision {
        scene::Precision::Mixed => Precision::Mixed,
        scene::Precision::Double => Precision::Double,
    }
}

/// Liquid between grains.
pub(super) fn bridges(scene: &Scene) -> Option<BridgeLaw> {
    let l = scene.liquid.as_ref()?;
    Some(BridgeLaw { tension: l.tension, angle: l.angle, volume: l.volume, viscosity: l.viscosity })
}

/// How a periodic cell is strained.
pub(super) fn cell(scene: &Scene) -> Option<CellLaw> {
    let cell = scene.cell.as_ref()?;
    let side = |side: &scene::CellSide| match side {
        scene::CellSide::Rate(rate) => Straining::Rate(*rate),
        scene::CellSide::Stress(stress) => Straining::Stress(*stress),
    };
    Some(CellLaw { sides: [&cell.x, &cell.y, &cell.z].map(side), shear: cell.shear, max_rate: cell.max_rate })
}

/// The walls that bound the area of a servo, where it follows them.
fn between(scene: &Scene, servo: &scene::Servo) -> Option<Between> {
    let index = |name: &String| scene.walls.iter().position(|w| w.name == *name).map(|i| i as u16);
    let mut pairs = [None; 2];
    for (pair, names) in pairs.iter_mut().zip(&servo.between) {
        *pair = Some([index(&names[0])?, index(&names[1])?]);
    }
    let period = settled_period(scene);
    (!servo.between.is_empty()).then(|| Between { pairs, width: if pairs[1].is_some() { 1.0 } else { period } })
}

/// Length of the one direction that is periodic [m].
fn settled_period(scene: &Scene) -> f64 {
    let period = domain(&scene.domain).period();
    period.to_array().into_iter().filter(|p| *p > 0.0).product()
}

/// Distance [m] of two plane walls as the scene draws them.
fn distance(scene: &Scene, pair: [u16; 2]) -> f64 {
    let plane = |w: u16| match &scene.walls[usize::from(w)].geometry {
        scene::Geometry::Plane { point, normal } => (*point, normal.normalize_or_zero()),
        _ => (DVec3::NAN, DVec3::NAN),
    };
    let ((a, normal), (b, _)) = (plane(pair[0]), plane(pair[1]));
    (b - a).dot(normal).abs()
}

pub(super) fn walls(parsed: &Parsed) -> Vec<Wall> {
    (0..parsed.scene.walls.len()).map(|i| wall(parsed, i)).collect()
}

fn wall(parsed: &Parsed, index: usize) -> Wall {
    let scene = &parsed.scene;
    let w = &scene.walls[index];
    let mut wall = parsed.assets.wall(scene, index, material_index(scene, &w.material));
    wall.motion = Motion {
        velocity: w.velocity,
        rotate: w.rotate.as_ref().map(|r| Rotate { point: r.point, axis: r.axis.normalize_or_zero(), rate: r.rate }),
        oscillate: w.oscillate.as_ref().map(|o| Oscillate {
            direction: o.direction.normalize_or_zero(),
            amplitude: o.amplitude,
            frequency: o.frequency,
            phase: o.phase,
        }),
        keyframes: w.keyframes.iter().map(|k| Keyframe { time: k.time, at: k.at, turn: k.turn }).collect(),
        from: w.from.unwrap_or(0.0),
        until: w.until.unwrap_or(f64::INFINITY),
    };
    wall.belt = w.belt.as_ref().map(|belt| match belt {
        scene::Belt::Velocity(velocity) => Belt::Along(*velocity),
        scene::Belt::Around { axis, speed } => Belt::Around { axis: axis.normalize_or_zero(), speed: *speed },
    });
    wall.control = match (&w.drive, &w.servo) {
        (Some(d), _) => Some(Control::Drive(Drive {
            axis: d.axis.normalize_or_zero(),
            mass: d.mass,
            load: d.load,
            damping: d.damping,
        })),
        (None, Some(s)) => {
            let between = between(scene, s);
            Some(Control::Servo(Servo {
                axis: s.axis.normalize_or_zero(),
                stress: s.stress,
                area: s.area.or(between.map(|b| b.area(|pair| distance(scene, pair)))).unwrap_or(f64::NAN),
                between,
                max_speed: s.max_speed,
            }))
        }
        (None, None) => None,
    };
    wall
}
