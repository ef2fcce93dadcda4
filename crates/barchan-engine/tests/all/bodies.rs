//! Bodies among grains, walls and each other: what is conserved, what stands, what is measured.

use crate::common;
use barchan_core::frame::Population;
use barchan_engine::{World, assemble, load};
use common::{run, world_of as world};
use glam::{DQuat, DVec3};
use std::path::Path;

/// Momentum [kg m/s] and angular momentum about the origin [kg m²/s] of everything.
fn momenta(frame: &Population) -> (DVec3, DVec3) {
    (0..frame.len()).fold((DVec3::ZERO, DVec3::ZERO), |(p, l), g| {
        let shape = &frame.shapes[frame.shape[g] as usize];
        let inertia = frame.mass[g] / shape.volume() * shape.inertia() * frame.radius[g].powi(2);
        let turn = frame.orientation.get(g).copied().unwrap_or(DQuat::IDENTITY);
        let own = turn * (inertia * (turn.inverse() * frame.spin[g]));
        let push = frame.mass[g] * frame.velocity[g];
        (p + push, l + frame.position[g].cross(push) + own)
    })
}

const HEAD: &str = r#"
duration = 1.0
domain = { min = [-1, -1, -1], max = [1, 1, 1] }
[materials.stone]
density = 2500.0
young = 1e7
poisson = 0.3
restitution = 0.5
friction = 0.5
[integrator]
max_overlap = 0.3
"#;

/// A swarm of grains meets a spinning box from all sides.
fn swarm(contact: &str, precision: &str) -> String {
    format!(
        r#"gravity = [0, 0, 0]
{HEAD}
precision = "{precision}"
[[bodies]]
mesh = "box"
scale = [0.03, 0.04, 0.05]
at = [0, 0, 0]
turn = [0.3, 0.5, 0.1]
spin = [3, -8, 5]
contact = "{contact}"
[[grains]]
material = "stone"
radius = 0.004
velocity = [-0.5, 0, 0]
fill = {{ box = {{ min = [0.04, -0.03, -0.03], max = [0.09, 0.03, 0.03] }}, count = 60 }}
[[grains]]
material = "stone"
radius = 0.003
velocity = [0, 0.4, -0.1]
fill = {{ box = {{ min = [-0.03, -0.09, -0.03], max = [0.03, -0.04, 0.03] }}, count = 60 }}
"#
    )
}

#[test]
fn grains_and_bodies_keep_their_momentum_together() {
    for (contact, precision, tolerance) in
        [("mesh", "double", 1e-11), ("field", "double", 1e-11), ("spheres", "double", 1e-11), ("mesh", "mixed", 1e-5)]
    {
        let mut world = world(&swarm(contact, precision));
        let (p, l) = momenta(world.frame().grains());
        let before = world.frame().grains().spin[0];
        run(&mut world, 0.12);
        let (q, m) = momenta(world.frame().grains());
        let scale = world
            .frame()
            .grains()
            .mass
            .iter()
            .zip(world.frame().grains().velocity.iter())
            .map(|(m, v)| m * v.length())
            .sum::<f64>();
        assert!((q - p).length() < tolerance * scale, "{contact}, {precision}: {p} became {q}");
        assert!((m - l).length() < tolerance * scale * 0.1, "{contact}, {precision}: {l} became {m}");
        let body = world.frame().grains().id.iter().position(|id| *id == 0).unwrap();
        assert!(world.frame().grains().velocity[body].length() > 0.01, "the body was hit");
        assert!((world.frame().grains().spin[body] - before).length() > 0.1, "the body was turned");
    }
}

#[test]
fn a_free_box_tumbles_with_its_energy_and_momentum() {
    // Spun about its middle axis: it flips, again and again, and keeps what it has.
    let text = format!(
        "gravity = [0, 0, 0]\n{HEAD}\n[[bodies]]\nmesh = \"box\"\nscale = [0.02, 0.04, 0.06]\nat = [0, 0, 0]\nspin = [0.01, 20, 0]\n"
    );
    let mut world = world(&text);
    let (energy, (_, l)) = (world.energies().rotation, momenta(world.frame().grains()));
    let start = world.frame().grains().orientation[0];
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    while world.time() < 3.0 {
        world.step().unwrap();
        let up = (world.frame().grains().orientation[0] * (start.inverse() * DVec3::Y)).y;
        least = least.min(up);
        most = if least < -0.99 { most.max(up) } else { f64::NEG_INFINITY };
    }
    assert!(least < -0.99 && most > 0.99, "turned over ({least}) and back ({most})");
    assert!((world.energies().rotation / energy - 1.0).abs() < 1e-5);
    assert!((momenta(world.frame().grains()).1 - l).length() < 1e-10 * l.length());
}

#[test]
fn a_box_on_a_floor_rests_where_it_touches() {
    for contact in ["mesh", "field", "spheres"] {
        let text = format!(
            "{HEAD}\n[[walls]]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[bodies]]\nmesh = \"box\"\nscale = 0.1\nat = [0, 0, 0.0502]\ncontact = \"{contact}\"\n[[measure]]\nbodies = {{}}\n"
        );
        let mut world = world(&text);
        run(&mut world, 0.4);
        let frame = world.frame().grains().clone();
        assert!((frame.position[0] - DVec3::new(0.0, 0.0, 0.05)).length() < 5e-4, "{contact}: {}", frame.position[0]);
        assert!(frame.velocity[0].length() < 1e-4 && frame.spin[0].length() < 2e-3, "{contact}: still moves");
        let (force, torque) = {
            let n = world.boundary().bodies[0].net;
            (n.force, n.torque)
        };
        let weight = frame.mass[0] * 9.81;
        assert!((force.z / weight - 1.0).abs() < 0.02 && torque.length() < 0.02 * weight * 0.05, "{force} {torque}");
        assert!((frame.mass[0] - 2.5).abs() < 1e-9, "mass of the solid, not of the spheres");
    }
}

#[test]
fn mass_and_inertia_can_be_given() {
    let text = format!(
        "gravity = [0, 0, 0]\n{HEAD}\n[[bodies]]\nmesh = \"sphere\"\nscale = 0.05\nmass = 3.0\ninertia = [0.001, 0.002, 0.0025]\n\
         centre = [0, 0, -0.01]\nat = [0.1, 0, 0]\n"
    );
    let world = world(&text);
    let frame = world.frame().grains().clone();
    assert!((frame.mass[0] - 3.0).abs() < 1e-12);
    assert!((frame.position[0] - DVec3::new(0.1, 0.0, -0.01)).length() < 1e-12, "{}", frame.position[0]);
    let shape = &frame.shapes[frame.shape[0] as usize];
    let mut moments = (3.0 / shape.volume() * shape.inertia() * frame.radius[0].powi(2)).to_array();
    moments.sort_by(f64::total_cmp);
    for (is, given) in moments.iter().zip([0.001, 0.002, 0.0025]) {
        assert!((is / given - 1.0).abs() < 1e-9, "{moments:?}");
    }
}

#[test]
fn bodies_that_cannot_be_are_refused_with_their_place() {
    let refused = |body: &str| {
        let text = format!(
            "{HEAD}\n[[walls]]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[[bodies]]\n{body}\n"
        );
        match load(&text, "test", Path::new("")) {
            Err(e) => e.listing(),
            Ok(parsed) => match assemble(&parsed) {
                Err(e) => e.listing(),
                Ok(_) => panic!("accepted: {body}"),
            },
        }
    };
    for (body, words) in [
        ("mesh = \"box\"\nat = [0, 0, 0.2]", "wall 1"),
        ("mesh = \"screw\"\nscale = 0.1\nat = [0, 0, 0.5]", "closed"),
        ("mesh = \"gone.stl\"\nat = [0, 0, 0.5]", "gone.stl"),
        ("mesh = \"box\"\nscale = 0\nat = [0, 0, 0.5]", "scale"),
        ("mesh = \"box\"\nscale = 0.1\nmass = 1\ndensity = 2\nat = [0, 0, 0.5]", "density"),
        ("mesh = \"box\"\nscale = 0.1", "at"),
        ("mesh = \"box\"\nscale = [0.1, 0.1, 0.01]\nradius = 0.02\nat = [0, 0, 0.5]", "smaller"),
        ("mesh = \"box\"\nscale = 0.1\nat = [[0, 0, 0.3], [0, 0, 0.35]]", "body 1 2"),
        ("mesh = \"box\"\nscale = 0.1\nmaterial = \"wood\"\nat = [0, 0, 0.3]", "wood"),
    ] {
        let listing = refused(body);
        assert!(listing.contains(words), "{body}: {listing}");
    }
}

#[test]
fn a_stack_of_ten_boxes_stands() {
    let places: Vec<String> = (0..10).map(|k| format!("[0, 0, {}]", 0.05001 + 0.10001 * f64::from(k))).collect();
    let text = format!(
        "{}\n[[walls]]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [[bodies]]\nname = \"box\"\nmesh = \"box\"\nscale = 0.1\nat = [{}]\n",
        HEAD.replace("max = [1, 1, 1]", "max = [1, 1, 2]").replace("1e7", "1e8"),
        places.join(", ")
    );
    let mut world = world(&text);
    run(&mut world, 0.5);
    let frame = world.frame().grains().clone();
    for g in 0..frame.len() {
        let place = DVec3::new(0.0, 0.0, 0.05 + 0.1 * f64::from(frame.id[g]));
        let off = frame.position[g] - place;
        assert!(off.truncate().length() < 1e-3 && off.z.abs() < 3e-3, "box {}: {off}", frame.id[g]);
        // The load came suddenly, and the stack sways by some tenths of a millimetre for seconds.
        assert!(frame.velocity[g].length() < 5e-3, "box {} moves at {}", frame.id[g], frame.velocity[g]);
    }
}

/// A ring falls onto grains while more rain down.
fn busy() -> World {
    world(&format!(
        r#"{HEAD}
[[walls]]
material = "stone"
box = {{ min = [-0.05, -0.05, 0], max = [0.05, 0.05, 0.5], open = ["top"] }}
[[bodies]]
mesh = "torus"
scale = 0.015
at = [[0, 0, 0.1], [0.01, 0, 0.16]]
turn = [0.4, 0.2, 0]
[[bodies]]
name = "block"
mesh = "box"
scale = 0.02
at = [0.02, 0.02, 0.13]
contact = "field"
[[grains]]
material = "stone"
radius = 0.004
fill = {{ box = {{ min = [-0.05, -0.05, 0], max = [0.05, 0.05, 0.06] }}, count = 600 }}
[[emitters]]
material = "stone"
radius = 0.003
disc = {{ centre = [0, 0, 0.3], normal = [0, 0, -1], radius = 0.03 }}
rate = 1000
velocity = [0, 0, -1]
"#
    ))
}

#[test]
fn bodies_move_by_the_same_bits_on_any_number_of_threads() {
    let hash = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = busy();
            run(&mut world, 0.1);
            world.hash()
        })
    };
    let one = hash(1);
    assert_eq!([hash(2), hash(3)], [one; 2]);
}

#[test]
fn a_ring_that_fell_onto_sand_stays_there() {
    let mut world = busy();
    run(&mut world, 0.6);
    let ring = |world: &World| {
        let frame = world.frame().grains().clone();
        let g = frame.id.iter().position(|id| *id == 0).unwrap();
        (frame.position[g], frame.velocity[g].length())
    };
    let (before, _) = ring(&world);
    // What falls on it jolts it, by up to 5 cm/s for a moment: the mean tells whether it lies.
    let speeds = (1..=50).map(|k| {
        run(&mut world, 0.6 + 2e-3 * f64::from(k));
        ring(&world).1
    });
    let speed = speeds.sum::<f64>() / 50.0;
    let (after, _) = ring(&world);
    assert!(before.distance(after) < 5e-4 && speed < 0.02, "{before} to {after} at {speed} m/s");
    assert!(after.z > 0.015 * 0.35 && after.z < 0.1, "on or in the sand: {after}");
}

#[test]
fn a_body_that_would_fall_too_hard_is_warned_of_and_its_contact_is_in_the_table() {
    let scene = |young: &str| {
        format!(
            r#"
            duration = 0.1
            [domain]
            min = [-1, -1, -0.1]
            max = [1, 1, 3]
            [materials.steel]
            density = 7800
            young = "{young}"
            restitution = 0.5
            friction = 0.3
            [[walls]]
            material = "steel"
            plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
            [[bodies]]
            name = "anvil"
            mesh = "box"
            scale = 0.2
            material = "steel"
            at = [0, 0, 2]
            "#
        )
    };
    let (soft, hard) = (world(&scene("10 MPa")), world(&scene("1000 GPa")));
    assert!(
        soft.warnings().iter().any(|w| w.message.contains("`anvil` may meet a wall at 6.")),
        "{:?}",
        soft.warnings()
    );
    assert!(hard.warnings().is_empty());
    // The undamped overlap follows E^(−2/5).
    let overlap = |w: &World| w.meetings().iter().find(|m| m.wall).map(|m| m.overlap).unwrap();
    assert!((overlap(&soft) / overlap(&hard) / 1e5f64.powf(0.4) - 1.0).abs() < 1e-9);
}

#[test]
fn bodies_of_spheres_in_one_place_are_refused() {
    let scene = |apart: f64| {
        format!(
            r#"
            duration = 0.1
            [domain]
            min = [-1, -1, -1]
            max = [1, 1, 1]
            [materials.wood]
            density = 700
            young = "10 MPa"
            restitution = 0.5
            friction = 0.3
            [[bodies]]
            mesh = "box"
            scale = 0.2
            contact = "spheres"
            material = "wood"
            at = [[0, 0, 0], [{apart}, 0, 0]]
            "#
        )
    };
    let parsed = load(&scene(0.15), "boxes", Path::new("")).unwrap();
    let Err(problems) = assemble(&parsed) else { panic!("two boxes stand in one place") };
    assert!(problems.listing().contains("this body reaches"), "{}", problems.listing());
    world(&scene(0.21));
}
