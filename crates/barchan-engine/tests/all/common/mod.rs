//! Scenes for the engine's tests.
#![allow(dead_code)] // each test file takes what it needs

use barchan_engine::{World, assemble, load};
use barchan_scene::Parsed;
use std::path::Path;

/// A box open above, with a material.
pub const BOX: &str = r#"
duration = 0.05
[domain]
min = [-0.01, -0.01, -0.01]
max = [0.05, 0.05, 0.11]
[materials.beads]
density = 2500
young = "5 MPa"
poisson = 0.3
restitution = 0.5
friction = 0.5
[[walls]]
name = "vessel"
material = "beads"
box = { min = [0, 0, 0], max = [0.04, 0.04, 0.1], open = ["top"] }
"#;

/// A single grain.
pub const ONE: &str = "[[grains]]\nmaterial = \"beads\"\nradius = 0.001\nat = [[0.02, 0.02, 0.02]]\n";

/// Everything that has a state: emitter, rain, sink, moving and driven walls, clumps, every measurement.
pub const BUSY: &str = r#"
[[walls]]
name = "plunger"
material = "beads"
disc = { centre = [0.02, 0.02, 0.06], normal = [0, 0, 1], radius = 0.01 }
drive = { axis = [0, 0, -1], mass = "20 g", load = "0.3 N" }
[[walls]]
name = "stirrer"
material = "beads"
sphere = { centre = [0.01, 0.01, 0.02], radius = "3 mm", side = "outside" }
rotate = { point = [0.02, 0.02, 0], axis = [0, 0, 1], rate = "60 rpm" }
oscillate = { direction = [0, 0, 1], amplitude = "1 mm", frequency = "20 Hz" }
[[grains]]
name = "bed"
material = "beads"
radius = { uniform = ["1 mm", "1.5 mm"] }
velocity_spread = 0.1
fill = { box = { min = [0, 0, 0], max = [0.04, 0.04, 0.016] }, count = 300 }
[[grains]]
name = "rain"
material = "beads"
radius = "1 mm"
fill = { box = { min = [0.002, 0.002, 0.07], max = [0.038, 0.038, 0.09] }, method = "rain", count = 120, every = "10 ms", batch = 30 }
[[emitters]]
name = "pour"
material = "beads"
shape = "tetrahedron"
radius = "0.8 mm"
disc = { centre = [0.02, 0.02, 0.095], normal = [0, 0, -1], radius = "10 mm" }
rate = 2000
velocity = [0, 0, -0.5]
[[sinks]]
name = "drain"
box = { min = [0.03, 0.03, 0.0], max = [0.04, 0.04, 0.004] }
[output]
every = "2 ms"
formats = ["vtk", "ply"]
checkpoint = "7 ms"
[[measure]]
energy = {}
every = "0.5 ms"
[[measure]]
coordination = {}
every = "1 ms"
[[measure]]
name = "flow"
flow = { point = [0, 0, 0.03], normal = [0, 0, -1] }
every = "1 ms"
[[measure]]
count = { box = { min = [0, 0, 0], max = [0.04, 0.04, 0.02] } }
[[measure]]
repose = { point = [0.02, 0.02, 0] }
every = "5 ms"
[[measure]]
wall_forces = {}
every = "1 ms"
[[measure]]
force_histogram = {}
every = "5 ms"
[[measure]]
packing = { cylinder = { base = [0.02, 0.02, 0.001], radius = "15 mm", height = "12 mm" } }
every = "5 ms"
[[measure]]
profile = { box = { min = [0, 0, 0], max = [0.04, 0.03, 0.03] }, bins = 6 }
every = "3 ms"
[[measure]]
name = "cells"
fields = { box = { min = [0, 0, 0], max = [0.04, 0.03, 0.03] }, cells = [4, 3, 5] }
every = "3 ms"
[[measure]]
force_network = { layer = "3 mm" }
every = "5 ms"
[[measure]]
force_correlation = { within = { box = { min = [0, 0, 0], max = [0.04, 0.04, 0.02] } } }
every = "5 ms"
[[measure]]
contact_angles = {}
every = "5 ms"
"#;

pub fn parse(parts: &[&str]) -> Parsed {
    parse_of(&parts.concat())
}

/// A scene of one piece.
pub fn parse_of(text: &str) -> Parsed {
    load(text, "test", Path::new("")).unwrap_or_else(|e| panic!("{}", e.listing()))
}

pub fn world(parts: &[&str]) -> World {
    world_of(&parts.concat())
}

pub fn world_of(text: &str) -> World {
    assemble(&parse_of(text)).unwrap_or_else(|e| panic!("{}", e.listing()))
}

/// Steps until `time` [s].
pub fn run(world: &mut World, time: f64) {
    while world.time() < time - 1e-9 {
        world.step().unwrap();
    }
}

/// Messages of the errors that assembling gives.
pub fn complaints(parts: &[&str]) -> String {
    match assemble(&parse(parts)) {
        Ok(_) => String::new(),
        Err(e) => e.listing(),
    }
}
