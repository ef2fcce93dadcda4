//! The hardest impacts a scene can expect: how long they last, how deep they go, and whether the law still means
//! something there.

use super::Setup;
use crate::bodies::Bodies;
use barchan_core::contact::NormalLaw;
use barchan_core::contact::restitution::Impact;
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::rng::Random;
use barchan_core::walls::{Control, Geometry, Wall, WallState};
use barchan_scene::{FillMethod, Parsed, Place, Problem};
use glam::DVec3;
use std::f64::consts::PI;

/// Share of space in a settled bed: a looser filling sinks before its upper grains come to rest.
const SETTLED: f64 = 0.6;
/// Share of space on the jittered lattice, π/√18 over the jitter's room.
const LATTICE: f64 = 0.55;
/// Places of a region from which a fall is tried.
const TRIED: u64 = 64;

/// Two materials that can meet, as grain and grain or as grain and wall, in their hardest impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// Material of a grain, by index.
    pub a: u16,
    /// Material of the other grain, or of the wall.
    pub b: u16,
    /// Whether the other is a wall.
    pub wall: bool,
    /// Speed of the impact [m/s].
    pub speed: f64,
    /// Duration of the shortest such impact, damping left out [s].
    pub duration: f64,
    /// Largest overlap over the smaller radius, damping left out.
    pub overlap: f64,
}

impl Meeting {
    /// Damping ratio β that realises a restitution under this law; none where the law has a dissipation of its own.
    pub fn damping_ratio(law: &NormalLaw, restitution: f64) -> Option<f64> {
        match law {
            NormalLaw::Hertz => Some(Impact::Hertz.damping_ratio(restitution)),
            NormalLaw::Linear { .. } | NormalLaw::LinearTime { .. } => Some(Impact::Linear.damping_ratio(restitution)),
            NormalLaw::Dashpot { .. } | NormalLaw::KuwabaraKono { .. } | NormalLaw::LeeHerrmann { .. } => None,
        }
    }
}

/// Sphere that meets another body: material, radius [m], mass of its grain [kg].
type Body = (u16, f64, f64);

/// Greatest overlap [m] and duration [s] of an undamped impact at `speed` [m/s]. A wall has no radius.
///   Hertz: ξ = (5 m* v² / 4k)^0.4, k = 4/3 E* √R*, t = 2.943 ξ/v [Johnson 1985, §11.4]
///   linear: ξ = v √(m*/k), t = π √(m*/k)
fn impact(setup: &Setup, a: Body, b: (u16, Option<(f64, f64)>), speed: f64) -> (f64, f64) {
    let (radius, mass) = match b.1 {
        Some((r, m)) => (a.1 * r / (a.1 + r), a.2 * m / (a.2 + m)),
        None => (a.1, a.2),
    };
    let hertz = |k: f64| {
        let overlap = math::powf(5.0 * mass * speed * speed / (4.0 * k), 0.4);
        (overlap, 2.943_275 * overlap / speed)
    };
    match setup.law.normal {
        NormalLaw::Linear { stiffness } | NormalLaw::Dashpot { stiffness, .. } => {
            let beat = (mass / stiffness).sqrt();
            (speed * beat, PI * beat)
        }
        NormalLaw::LinearTime { contact_time } => (speed * contact_time / PI, contact_time),
        NormalLaw::Hertz | NormalLaw::KuwabaraKono { .. } => {
            hertz(4.0 / 3.0 * setup.materials.pair(a.0, b.0).young * radius.sqrt())
        }
        NormalLaw::LeeHerrmann { stiffness, .. } => hertz(stiffness),
    }
}

/// The smallest and the largest sphere of a population's smallest and largest grain.
fn bodies(setup: &Setup, recipe: &Recipe) -> Vec<Body> {
    let spheres = setup.shapes[recipe.shape as usize].spheres();
    let least = spheres.iter().map(|s| s.radius).fold(1.0, f64::min);
    let body = |size: f64, part: f64| (recipe.material, size * part, recipe.mass(size));
    let mut all = vec![body(recipe.sizes.min(), least), body(recipe.sizes.max(), least)];
    if least < 1.0 {
        all.extend([body(recipe.sizes.min(), 1.0), body(recipe.sizes.max(), 1.0)]);
    }
    all
}

/// The bodies, and whether each has a surface over its spheres.
fn rims(setup: &Setup, solids: &Bodies) -> Vec<(Body, bool)> {
    let densities: Vec<f64> = setup.materials.list.iter().map(|m| m.density).collect();
    let covered = |id: usize| solids.carried.iter().any(|c| c.body as usize == id);
    solids.rims(&setup.shapes, &densities).into_iter().enumerate().map(|(id, b)| (b, covered(id))).collect()
}

fn wall_materials(setup: &Setup) -> Vec<u16> {
    let mut walls: Vec<u16> = setup.fixtures.walls.iter().map(|w| w.material).collect();
    walls.sort_unstable();
    walls.dedup();
    walls
}

/// All pairs of materials that can meet, grains first, at the top speed [m/s].
pub(super) fn meetings(setup: &Setup, recipes: &[&Recipe], solids: &Bodies, speed: f64) -> Vec<Meeting> {
    let speed = speed.max(1e-3); // a time step asks for no slower impact either
    let all: Vec<Body> = recipes.iter().flat_map(|r| bodies(setup, r)).collect();
    let mut found: Vec<Meeting> = Vec::new();
    let mut meet = |x: Body, (b, other): (u16, Option<(f64, f64)>)| {
        let (depth, duration) = impact(setup, x, (b, other), speed);
        let overlap = depth / other.map_or(x.1, |o| o.0.min(x.1));
        let (a, b, wall) = if other.is_some() { (x.0.min(b), x.0.max(b), false) } else { (x.0, b, true) };
        match found.iter_mut().find(|m| (m.a, m.b, m.wall) == (a, b, wall)) {
            Some(m) => (m.duration, m.overlap) = (m.duration.min(duration), m.overlap.max(overlap)),
            None => found.push(Meeting { a, b, wall, speed, duration, overlap }),
        }
    };
    for (n, &x) in all.iter().enumerate() {
        all[..=n].iter().for_each(|&(b, r, m)| meet(x, (b, Some((r, m)))));
        wall_materials(setup).into_iter().for_each(|b| meet(x, (b, None)));
    }
    for (rim, covered) in rims(setup, solids) {
        wall_materials(setup).into_iter().for_each(|b| meet(rim, (b, None)));
        // Spheres under a surface meet walls alone; grains meet the surface, which is a wall.
        let others = all.iter().filter(|_| !covered);
        others.for_each(|&(b, r, m)| meet(rim, (b, Some((r, m)))));
    }
    found.sort_by_key(|m| (m.wall, m.a, m.b));
    found
}

/// Whether the hardest expected impact goes deeper than the run tolerates.
///
/// The speed is that of a straight fall onto the first wall below, or that of a wall that comes nearer; a fall through the
/// whole domain is a bound for the time step only, and would cry wolf. Damping is left out.
pub(super) fn warnings(
    parsed: &Parsed,
    setup: &Setup,
    recipes: &[Recipe],
    poured: &[Recipe],
    solids: &Bodies,
) -> Vec<Problem> {
    let scene = &parsed.scene;
    let wall = setup.fixtures.walls.iter().map(|w| approach(w, scene.duration)).fold(0.0, f64::max);
    let names = scene.grains.iter().map(|g| &g.name).chain(scene.emitters.iter().map(|e| &e.name));
    let falls = (0..recipes.len()).map(|i| fall_of(parsed, setup, i, &recipes[i])).chain(
        scene.emitters.iter().zip(poured).map(|(e, r)| fall(setup, e.disc.centre, r.reach * r.sizes.max(), &[])),
    );
    let of_grains = recipes.iter().map(|_| true).chain(scene.emitters.iter().map(|e| e.continuum.is_none()));
    let all = recipes.iter().chain(poured).zip(falls).zip(names).zip(of_grains).filter(|(_, of_grains)| *of_grains);
    let grains = all.flat_map(|(((recipe, fall), name), _)| {
        let start = recipe.velocity.length() + 3.0 * recipe.velocity_spread;
        bodies(setup, recipe).into_iter().map(move |body| (name, body, start, fall))
    });
    let names = scene.bodies.iter().flat_map(|b| b.at.iter().map(|_| &b.name));
    let thrown = rims(setup, solids).into_iter().zip(&solids.grains).zip(names).map(|(((rim, _), g), name)| {
        let reach = setup.shapes[g.shape as usize].bounding_radius() * g.radius;
        // What is thrown or rolls along meets other bodies first, which give way.
        let start = g.velocity.dot(setup.gravity.normalize_or_zero()).max(0.0);
        (name, rim, start, fall(setup, g.position, reach, &solids.walls))
    });
    let mut worst: Option<(f64, f64, &String, u16, u16)> = None;
    for (name, body, start, fall) in grains.chain(thrown) {
        let speed = (start * start + 2.0 * fall).sqrt().max(wall);
        for b in wall_materials(setup) {
            let overlap = impact(setup, body, (b, None), speed).0 / body.1;
            if speed > 0.0 && worst.as_ref().is_none_or(|w| overlap > w.0) {
                worst = Some((overlap, speed, name, body.0, b));
            }
        }
    }
    let Some((overlap, speed, name, a, b)) = worst.filter(|w| w.0 > setup.max_overlap) else { return vec![] };
    let list = &setup.materials.list;
    let softer = if list[a as usize].young <= list[b as usize].young { a } else { b };
    let material = &list[softer as usize];
    let factor = overlap / setup.max_overlap;
    let (path, remedy) = match setup.law.normal {
        NormalLaw::Hertz | NormalLaw::KuwabaraKono { .. } => (
            format!("materials.{}.young", material.name),
            // ξ ∝ E*^(−2/5).
            format!("raise `young` of `{}` to some {:.1e} Pa", material.name, material.young * math::powf(factor, 2.5)),
        ),
        NormalLaw::Linear { stiffness } | NormalLaw::Dashpot { stiffness, .. } => {
            ("contact.stiffness".into(), format!("raise `stiffness` to some {:.1e} N/m", stiffness * factor * factor))
        }
        NormalLaw::LinearTime { contact_time } => {
            ("contact.contact_time".into(), format!("lower `contact_time` to some {:.1e} s", contact_time / factor))
        }
        NormalLaw::LeeHerrmann { stiffness, .. } => (
            "contact.lee_herrmann.stiffness".into(),
            format!("raise `stiffness` to some {:.1e} N/m^1.5", stiffness * math::powf(factor, 2.5)),
        ),
    };
    let message = format!(
        "`{name}` may meet a wall at {speed:.2} m/s and overlap it by {:.0} % of its radius; the run stops beyond {:.0} %",
        100.0 * overlap,
        100.0 * setup.max_overlap
    );
    let help = format!("{remedy}, lower the drop or the speeds, or raise integrator.max_overlap");
    vec![parsed.warning_at(&path, message, help)]
}

/// The greatest speed [m/s] with which a wall's surface comes nearer to what lies before it, in a run of that length
/// [s]. How far its edges sweep is told by its own size, where it has one.
fn approach(wall: &Wall, duration: f64) -> f64 {
    const LOOKS: u32 = 400;
    let extent = match wall.geometry {
        Geometry::Box { min, max, .. } => 0.5 * (max - min).length(),
        Geometry::Cylinder { radius, height, .. } => math::hypot(radius, height.unwrap_or(0.0)),
        Geometry::Cone { radius_base, radius_top, height, .. } => math::hypot(radius_base.max(radius_top), height),
        Geometry::Sphere { radius, .. } | Geometry::Disc { radius, .. } => radius,
        Geometry::Plane { .. } | Geometry::Relief(_) => 0.0,
        Geometry::Mesh(ref facets) => {
            let (low, high) = facets.bounds();
            0.5 * (high - low).length()
        }
        Geometry::Field(ref field) => {
            let (low, high) = field.bounds();
            0.5 * (high - low).length()
        }
    };
    let speed = |k: u32| {
        let state = wall.state_at(duration * f64::from(k) / f64::from(LOOKS));
        match wall.geometry {
            // A plate that slides along itself meets nobody.
            Geometry::Disc { normal, .. } if wall.rough.is_none() => {
                state.velocity.dot(state.rotation * normal).abs() + state.spin.length() * extent
            }
            _ => wall.sweep_speed(&state, extent),
        }
    };
    let controlled = match wall.control {
        Some(Control::Servo(s)) => s.max_speed,
        _ => 0.0,
    };
    (0..=LOOKS).map(speed).fold(0.0, f64::max) + controlled
}

/// Energy per mass [m²/s²] that the i-th population gains in falling.
fn fall_of(parsed: &Parsed, setup: &Setup, i: usize, recipe: &Recipe) -> f64 {
    let radius = recipe.reach * recipe.sizes.max();
    let most =
        |places: &mut dyn Iterator<Item = DVec3>| places.map(|x| fall(setup, x, radius, &[])).fold(0.0, f64::max);
    let fill = match &parsed.scene.grains[i].place {
        Place::At(at) => {
            let packed = parsed.assets.packings.get(&i).filter(|_| at.file().is_some());
            let places = packed.map_or_else(|| at.places(), |p| p.grains.position.clone());
            return most(&mut places.into_iter());
        }
        // It lies where it is.
        Place::Release(_) => return 0.0,
        // They stand, and lie.
        Place::Trees { .. } | Place::Sheet { .. } => return 0.0,
        Place::Fill(fill) => fill,
    };
    let region = fill.region.to_core();
    let (low, high) = region.bounds();
    let (down, g) = (setup.gravity.normalize_or_zero(), setup.gravity.length());
    let (deepest, height) = (low.dot(down).max(high.dot(down)), (high - low).dot(down.abs()));
    // Grains higher up fall onto those below: what counts is the fall from the region's lowest layer, and how much the
    // whole sinks. Rain comes down one by one.
    let sinks = match (fill.method, fill.fraction) {
        (FillMethod::Lattice, _) => 1.0 - LATTICE / SETTLED,
        (FillMethod::Random, Some(fraction)) => (1.0 - fraction / SETTLED).max(0.0),
        (FillMethod::Random, None) => 0.5,
        (FillMethod::Rain, _) => 1.0,
    };
    let axial = down.abs().max_element() > 0.999;
    let place = |n: u64| {
        let x = region.sample(radius, &mut Random::new(7, n))?;
        let lowest = if axial { down * (deepest - radius - x.dot(down)) } else { DVec3::ZERO };
        Some(x + lowest)
    };
    most(&mut (0..TRIED).filter_map(place)) + g * height * sinks
}

/// Energy per mass [m²/s²] that a ball gains in a straight fall from `x` to the first wall; 0 where there is none below.
/// The walls `but` do not count.
fn fall(setup: &Setup, x: DVec3, radius: f64, but: &[Wall]) -> f64 {
    let domain = &setup.domain;
    let (down, g) = (setup.gravity.normalize_or_zero(), setup.gravity.length());
    // A slope has no bottom along a periodic direction; friction bounds the speed there.
    let down = DVec3::from_array(std::array::from_fn(|a| if domain.periodic[a] { 0.0 } else { down[a] }));
    let walls: Vec<(&Wall, WallState)> = setup
        .fixtures
        .walls
        .iter()
        .filter(|w| but.iter().all(|b| b.name != w.name))
        .map(|w| (w, w.state_at(0.0)))
        .collect();
    let share = down.length();
    let step = down.normalize_or_zero();
    let mut gone = 0.0;
    // Clearance bounds how far one may go without meeting a wall: a few dozen strides find it.
    for _ in 0..200 {
        let at = x + step * gone;
        if step == DVec3::ZERO || at.cmplt(domain.min).any() || at.cmpgt(domain.max).any() {
            return 0.0; // it leaves without meeting anything
        }
        let room = walls.iter().map(|(w, s)| w.clearance(s, at)).fold(f64::INFINITY, f64::min);
        let free = room - radius;
        if free < 0.01 * radius {
            break;
        }
        gone += free.min((domain.max - domain.min).length());
    }
    g * share * gone
}
