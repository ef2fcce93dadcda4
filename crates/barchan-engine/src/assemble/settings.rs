//! The scene's words into the solver's: names become indices, choices become laws.

use barchan_core::contact::{ContactLaw, NormalLaw, TangentialLaw};
use barchan_core::materials::{Material, Materials, PairOverride};
use barchan_core::regions::Region;
use barchan_core::sizes::SizeDistribution;
use barchan_core::walls::{
    Control, Drive, Geometry, Keyframe, Motion, Oscillate, Rotate, Roughness, Servo, Side, Wall,
};
use barchan_dem::{Domain, Integrator, Precision};
use barchan_scene as scene;
use barchan_scene::Scene;
use glam::DVec3;

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

pub(super) fn law(contact: &scene::Contact) -> ContactLaw {
    let normal = match contact.normal {
        scene::NormalLaw::Hertz => NormalLaw::Hertz,
        scene::NormalLaw::Linear => match (contact.stiffness, contact.contact_time) {
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
        scene::TangentialLaw::CundallStrack => TangentialLaw::CundallStrack {
            ratio: contact.tangential_stiffness.unwrap_or(scene::Contact::TANGENTIAL_STIFFNESS),
        },
        scene::TangentialLaw::Viscous => {
            TangentialLaw::Viscous { damping: contact.tangential_damping.unwrap_or_default() }
        }
    };
    ContactLaw { normal, tangential }
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

pub(super) fn precision(integrator: &scene::Integrator) -> Precision {
    match integrator.precision {
        scene::Precision::Mixed => Precision::Mixed,
        scene::Precision::Double => Precision::Double,
    }
}

pub(super) fn region(region: &scene::Region) -> Region {
    match *region {
        scene::Region::Box { min, max } => Region::Box { min, max },
        scene::Region::Cylinder { base, axis, radius, height } => {
            Region::Cylinder { base, axis: axis.normalize_or(DVec3::Z), radius, height }
        }
        scene::Region::Sphere { centre, radius } => Region::Sphere { centre, radius },
    }
}

pub(super) fn sizes(size: &scene::Size) -> SizeDistribution {
    match size {
        &scene::Size::Fixed(radius) => SizeDistribution::Fixed(radius),
        &scene::Size::Uniform([min, max]) => SizeDistribution::Uniform { min, max },
        &scene::Size::Normal { mean, sd, min, max } => SizeDistribution::Normal { mean, sd, min, max },
        &scene::Size::Lognormal { median, sigma, min, max } => SizeDistribution::LogNormal { median, sigma, min, max },
        scene::Size::Sieve(rows) => {
            // What passes the first sieve is of its size: a class without width, as the scene's `smallest` has it.
            let first = rows.first().filter(|r| r[1] > 0.0).map(|r| (r[0], 0.0));
            SizeDistribution::Sieve(first.into_iter().chain(rows.iter().map(|r| (r[0], r[1]))).collect())
        }
    }
}

fn side(side: scene::Side) -> Side {
    match side {
        scene::Side::Inside => Side::Inside,
        scene::Side::Outside => Side::Outside,
    }
}

fn geometry(geometry: &scene::Geometry) -> Geometry {
    use scene::Geometry as S;
    match geometry.clone() {
        S::Plane { point, normal } => Geometry::Plane { point, normal },
        S::Box { min, max, side: s, open: faces } => {
            let mut open = [false; 6];
            for (axis, upper) in faces.iter().map(|f| f.axis()) {
                open[2 * axis + usize::from(upper)] = true;
            }
            Geometry::Box { min, max, side: side(s), open }
        }
        S::Cylinder { base, axis, radius, height, side: s } => {
            Geometry::Cylinder { base, axis, radius, height, side: side(s) }
        }
        S::Cone { base, axis, radius_base, radius_top, height, side: s } => {
            Geometry::Cone { base, axis, radius_base, radius_top, height, side: side(s) }
        }
        S::Sphere { centre, radius, side: s } => Geometry::Sphere { centre, radius, side: side(s) },
        S::Disc { centre, normal, radius, hole } => Geometry::Disc { centre, normal, radius, hole },
    }
}

pub(super) fn walls(scene: &Scene) -> Vec<Wall> {
    scene.walls.iter().map(|w| wall(scene, w)).collect()
}

fn wall(scene: &Scene, w: &scene::Wall) -> Wall {
    let mut wall = Wall::new(w.name.clone(), geometry(&w.geometry), material_index(scene, &w.material));
    wall.rough = w.rough.as_ref().map(|r| Roughness { radius: r.radius, spacing: r.spacing });
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
    wall.control = match (&w.drive, &w.servo) {
        (Some(d), _) => {
            let axis = d.axis.normalize_or_zero();
            // In a scene the load is all there is; the solver adds the plunger's weight, so it is taken off here.
            let load = d.load - d.mass * scene.gravity.dot(axis);
            Some(Control::Drive(Drive { axis, mass: d.mass, load, damping: d.damping }))
        }
        (None, Some(s)) => Some(Control::Servo(Servo {
            axis: s.axis.normalize_or_zero(),
            stress: s.stress,
            area: s.area,
            max_speed: s.max_speed,
        })),
        (None, None) => None,
    };
    wall
}
