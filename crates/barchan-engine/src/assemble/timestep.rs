//! The time step of a scene: derived from its stiffest contact, or checked against it.

use super::Setup;
use crate::bodies::Bodies;
use barchan_core::contact::{TimeStep, time_step};
use barchan_core::recipe::Recipe;
use barchan_core::shapes::Shape;
use barchan_core::walls::{Control, Wall};
use barchan_hybrid::ground;
use barchan_scene::{CellSide, Grains, Packing, Parsed, Problem, Scene};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The largest speed [m/s] with which things can meet: the fastest start, plus free fall through the domain, against
/// the fastest wall.
pub(super) fn top_speed(parsed: &Parsed, recipes: &[&Recipe], setup: &Setup, bodies: &Bodies) -> f64 {
    let (scene, packings) = (&parsed.scene, &parsed.assets.packings);
    // Three standard deviations of each component: one grain in some hundreds is faster, and not much.
    let start = |r: &Recipe| r.velocity.length() + 3.0 * r.velocity_spread;
    let thrown = bodies.grains.iter().map(|g| {
        let reach = setup.shapes[g.shape as usize].bounding_radius() * g.radius;
        g.velocity.length() + g.spin.length() * reach
    });
    let fastest = recipes.iter().map(|r| start(r)).chain(thrown).fold(0.0, f64::max);
    let fastest = fastest + given_speed(scene, packings);
    let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
    // A slope has no bottom along a periodic direction; friction, not the domain, bounds the speed there.
    let fall = |axis: usize| if periodic[axis] { 0.0 } else { 2.0 * scene.gravity[axis].abs() * side[axis] };
    let falling: f64 = (0..3).map(fall).sum();
    let wall = setup.fixtures.walls.iter().map(|w| wall_speed(w, side.length())).fold(0.0, f64::max);
    (fastest * fastest + falling).sqrt() + wall
}

/// Looks along each side of the domain for the fastest place of a velocity field.
const LOOKS: usize = 8;

/// The largest speed [m/s] that velocity fields, packings and a strained cell give besides the populations' own.
fn given_speed(scene: &Scene, packings: &BTreeMap<usize, Packing>) -> f64 {
    let (low, side) = (scene.domain.min, scene.domain.max - scene.domain.min);
    let field = |g: &Grains| {
        let formulas = &g.velocity_field;
        let speed = |n: usize| {
            let k = [n % (LOOKS + 1), n / (LOOKS + 1) % (LOOKS + 1), n / (LOOKS + 1).pow(2)]
                .map(|k| k as f64 / LOOKS as f64);
            let v = formulas.iter().map(|f| f.at_place(low + side * DVec3::from_array(k), 0.0).powi(2)).sum::<f64>();
            v.sqrt()
        };
        if formulas.is_empty() { 0.0 } else { (0..(LOOKS + 1).pow(3)).map(speed).fold(0.0, f64::max) }
    };
    let fields = scene.grains.iter().map(field).fold(0.0, f64::max);
    let packed = packings.values().flat_map(|p| p.grains.velocity.iter()).map(|v| v.length()).fold(0.0, f64::max);
    let cell = scene.cell.as_ref().map_or(0.0, |c| {
        let rate = |s: &CellSide| if let CellSide::Rate(rate) = s { rate.abs() } else { c.max_rate };
        let strain = DVec3::new(rate(&c.x), rate(&c.y), rate(&c.z)) * side;
        strain.max_element().max(c.shear.abs() * side.z)
    });
    fields.max(packed).max(cell)
}

/// A bound of the speed [m/s] of a wall's surface in a scene of that extent [m].
fn wall_speed(wall: &Wall, extent: f64) -> f64 {
    let m = &wall.motion;
    let pivot = wall.geometry.pivot();
    let bumps = wall.rough.map_or(0.0, |r| r.radius);
    // The wall's own farthest point turns fastest; of a wall without end it is the scene's.
    let swing = m.rotate.map_or(0.0, |r| {
        let scene = extent + (pivot - r.point).reject_from(unit(r.axis)).length();
        let own = wall.geometry.reach_about(r.point, r.axis).map_or(scene, |own| own + bumps);
        // What moves the wall otherwise carries it from or to the axis.
        let still = m.velocity == DVec3::ZERO && m.keyframes.is_empty() && wall.control.is_none();
        let shaken = m.oscillate.map_or(0.0, |o| o.amplitude.abs());
        r.rate.abs() * if still { scene.min(own + shaken) } else { scene }
    });
    let shake = m.oscillate.map_or(0.0, |o| TAU * o.frequency.abs() * o.amplitude.abs());
    // A monotone cubic is at most three times as steep as its chord (Fritsch and Carlson 1980).
    let path = (m.keyframes.windows(2))
        .map(|k| 3.0 * (k[1].at.distance(k[0].at) + extent * k[1].turn.distance(k[0].turn)) / (k[1].time - k[0].time))
        .fold(0.0, f64::max);
    let control = match wall.control {
        Some(Control::Servo(s)) => s.max_speed,
        _ => 0.0,
    };
    let belt = wall.belt.map_or(0.0, |b| b.speed());
    m.velocity.length() + swing + shake + path + control + belt
}

fn unit(axis: DVec3) -> DVec3 {
    axis.normalize_or(DVec3::Z)
}

/// The step that the contacts ask for.
pub(super) fn derive(setup: &Setup, recipes: &[&Recipe], bodies: &Bodies, top_speed: f64) -> TimeStep {
    let smallest = |shape: &Shape| shape.spheres().iter().map(|s| s.radius).fold(1.0, f64::min);
    let grain = |r: &&Recipe| {
        let radius = r.sizes.min();
        (r.material, radius * smallest(&setup.shapes[r.shape as usize]), r.mass(radius))
    };
    let densities: Vec<f64> = setup.materials.list.iter().map(|m| m.density).collect();
    let grains: Vec<_> = recipes.iter().map(grain).chain(bodies.contacts(&setup.shapes, &densities)).collect();
    // Bodies do not touch the ground, nor does one alone touch its own surface.
    let (no_grains, own) = (recipes.is_empty(), bodies.carried.len());
    let others = &setup.fixtures.walls[..setup.fixtures.walls.len() - if no_grains && own == 1 { 1 } else { 0 }];
    let mut partners: Vec<u16> =
        others.iter().filter(|w| !(no_grains && w.bed().is_some())).map(|w| w.material).collect();
    if no_grains && bodies.grains.len() <= 1 && partners.is_empty() {
        return time_step(&setup.law, &setup.materials, &[], &[], top_speed);
    }
    partners.sort_unstable();
    partners.dedup();
    time_step(&setup.law, &setup.materials, &grains, &partners, top_speed)
}

/// The step to use, with its reason; or the problem with the one that the scene asks for.
pub(super) fn choose(parsed: &Parsed, derived: &TimeStep) -> Result<(f64, String), Problem> {
    let scene = &parsed.scene;
    match scene.integrator.dt {
        None if scene.ground.as_ref().is_some_and(|g| g.rock.is_none()) && derived.dt > ground::EVERY => {
            Ok((ground::EVERY, "that of the ground: contacts would allow a longer one".into()))
        }
        None if derived.dt > scene.duration && derived.dt.is_finite() => {
            Ok((scene.duration, format!("the whole duration; contacts would allow {:.3e} s", derived.dt)))
        }
        None if derived.dt.is_finite() => Ok((derived.dt, derived.reason.clone())),
        // Without contacts anything goes; a thousand steps draw a smooth path.
        None => Ok((scene.duration / 1000.0, "no contact is possible: a thousandth of the duration".into())),
        Some(dt) if dt > scene.duration => Err(parsed.error_at(
            "integrator.dt",
            format!("one time step of {dt:.3e} s is longer than the whole duration, {:.3e} s", scene.duration),
            format!("use at most {:.3e} s, or a longer duration", scene.duration.min(derived.limit)),
        )),
        Some(dt) if dt <= derived.limit => {
            Ok((dt, format!("given by the scene; {:.3e} s would be derived: {}", derived.dt, derived.reason)))
        }
        Some(dt) => Err(parsed.error_at(
            "integrator.dt",
            format!("time step {dt:.3e} s is {:.2}× the largest safe one ({})", dt / derived.limit, derived.reason),
            format!("use at most {:.3e} s, or leave dt out: {:.3e} s is then derived", derived.limit, derived.dt),
        )),
    }
}
