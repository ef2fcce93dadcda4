//! Avalanches as scenes have them: what is eroded and deposited, what sets them off, what they meet.

use crate::common;
use barchan_dem::Dem;
use barchan_engine::World;
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use common::{run, world_of as world};
use glam::DVec3;

const SNOW: &str = r#"
[materials.snow]
density = 340
young = "12 MPa"
poisson = 0.3
restitution = 0.3
friction = 0.4
rolling = 0.2
[integrator]
max_overlap = 0.4
"#;

/// A slope that runs out, with snow above it and what else there is.
fn slope(more: &str, under: &str) -> String {
    format!(
        r#"
duration = 20
seed = 2
[domain]
min = [0, 0, 0]
max = [80, 16, 60]
outside = "remove"
{SNOW}
[ground]
material = "snow"
cell = 1
rock = {{ formula = "2 + 0.012*max(0, 55 - x)^2", smooth = 2 }}
[ground.drag]
law = "voellmy"
mu = 0.25
xi = 1500
{under}
[[grains]]
material = "snow"
radius = 0.4
sheet = {{ min = [4, 5], max = [14, 11], layers = 2 }}
{more}
"#
    )
}

/// Mass of grains, of what couplings keep, and of what has left [kg].
fn mass(world: &World) -> f64 {
    let kept: f64 = world.couplings().iter().map(|c| c.mass()).sum();
    let left: f64 = world.tallies().iter().map(|t| t.1.mass).sum();
    world.totals().mass + kept + left
}

#[test]
fn mass_stays_through_erosion_deposit_cloud_forest_and_a_resume() {
    let cover = "[ground.cover]\nthickness = 0.6\nmin = [18, 0]\nmax = [80, 16]\nenergy = 200\nafter = 0.5\n\
                 [[ground.forest]]\npolygon = [[50, 0], [80, 0], [80, 16], [50, 16]]\ndetrainment = 30";
    let text = slope("[cloud]\nspeed = 4\nrate = 0.02\npoints = 1", cover);
    let parsed = barchan_engine::load(&text, "slope", std::path::Path::new(".")).unwrap();
    let mut w = barchan_engine::assemble(&parsed).unwrap();
    let before = mass(&w);
    run(&mut w, 4.0);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let saved = Checkpoint::newest(folder.path()).unwrap();
    let mut again = barchan_engine::assemble::restore(&parsed, &saved).unwrap().unwrap();
    assert_eq!(again.hash(), w.hash());
    for w in [&mut w, &mut again] {
        run(w, 5.0);
    }
    assert_eq!(again.hash(), w.hash(), "the resumed run goes on bit for bit");
    run(&mut w, 14.0);
    let gauge = |name: &str| w.totals().gauges.iter().find(|g| g.name == name).map_or(0.0, |g| g.value);
    println!("{:?}", w.totals().gauges);
    for name in ["eroded", "deposited", "settled", "left in forest"] {
        assert!(gauge(name) > 0.0, "nothing was {name}");
    }
    let after = mass(&w);
    assert!((after / before - 1.0).abs() < 1e-12, "{before} kg became {after} kg");
}

#[test]
fn a_sheet_under_given_stress_and_speed_erodes_its_rate() {
    // τ ū/e: 1000 Pa at 20 m/s, with 5000 J/kg; nothing below its strength.
    assert!((barchan_hybrid::cover::rate(1000.0, 0.0, 20.0, 5000.0) - 4.0).abs() < 1e-12);
    assert_eq!(barchan_hybrid::cover::rate(300.0, 400.0, 20.0, 5000.0), 0.0);
}

/// A sheet on a plane of 31°, bonded to itself and to the ground.
fn slab(event: &str) -> String {
    format!(
        r#"
duration = 4
seed = 2
[domain]
min = [0, 0, 0]
max = [40, 10, 40]
outside = "remove"
{SNOW}
[ground]
material = "snow"
cell = 1
rock = {{ formula = "30 - 0.6*x" }}
[[grains]]
material = "snow"
radius = 0.3
sheet = {{ min = [4, 2], max = [20, 8], layers = 2 }}
bonds = {{ young = "4 MPa", tensile = "50 kPa", gap = 0.1, base = {{ tensile = "20 kPa", shear = "20 kPa" }} }}
{event}
"#
    )
}

#[test]
fn a_cut_breaks_the_bonds_across_it_and_those_under_it() {
    let bonds = |w: &World| w.solver::<Dem>().map_or(0, |d| d.bonds());
    let mut still = world(&slab(""));
    let all = bonds(&still);
    run(&mut still, 0.3);
    assert_eq!(bonds(&still), all, "the slab holds");
    let mut w = world(&slab("[[events]]\ntime = 0.1\ncut = { from = [12, 0], to = [12, 10] }"));
    run(&mut w, 0.09);
    assert_eq!(bonds(&w), all);
    run(&mut w, 0.12);
    // Two layers of ten rows: one bond of each is cut; more if one lies diagonally.
    let cut = all - bonds(&w);
    assert!((20..=40).contains(&cut), "{cut} bonds cut");
    let mut w = world(&slab("[[events]]\ntime = 0.1\ncut = { from = [12, 0], to = [12, 10], under = 3 }"));
    run(&mut w, 0.11);
    // Of the strip, besides, the bonds of some 3 m / (0.6 m of slope) × 10 rows to the ground.
    assert!((all - bonds(&w)).abs_diff(cut + 60) <= 15, "{} bonds cut", all - bonds(&w));
}

#[test]
fn a_charge_gives_its_energy_and_a_load_its_impulse() {
    let speeds = |w: &World| w.frame().grains().velocity.to_vec();
    let mut plain = world(&slab(""));
    let mut w = world(&slab("[[events]]\ntime = 0\ncharge = { at = [10, 5, 24.5], radius = 2.5, energy = \"1 kJ\" }"));
    let dt = w.plan().dt;
    run(&mut plain, dt);
    run(&mut w, dt);
    let masses = w.frame().grains().mass.to_vec();
    let gained: f64 =
        speeds(&w).iter().zip(speeds(&plain)).zip(&masses).map(|((a, b), m)| 0.5 * m * (*a - b).length_squared()).sum();
    assert!((gained / 1000.0 - 1.0).abs() < 0.05, "{gained} J");
    let force = DVec3::new(0.0, 0.0, -800.0);
    let mut w = world(&slab(
        "[[events]]\ntime = 0\nload = { at = [10, 5, 24.5], radius = 1.5, force = [0, 0, -800], lasts = 0.01 }",
    ));
    let momentum = |w: &World| w.totals().momentum;
    let mut plain = world(&slab(""));
    run(&mut plain, dt);
    run(&mut w, dt);
    let given = momentum(&w) - momentum(&plain);
    // The ground has a step in which to answer.
    assert!((given - force * dt).length() < 1e-2 * (force * dt).length(), "{given}");
}

#[test]
fn what_a_wall_takes_is_the_momentum_that_the_flow_loses() {
    // A cloud of grains without gravity flies at a wall and comes back.
    let text = format!(
        r#"
duration = 2
gravity = [0, 0, 0]
[domain]
min = [0, 0, 0]
max = [20, 10, 10]
outside = "remove"
{SNOW}
[[grains]]
material = "snow"
radius = 0.2
fill = {{ box = {{ min = [2, 3, 3], max = [6, 7, 7] }}, method = "random", count = 300 }}
velocity = [12, 0, 0]
[[walls]]
name = "wall"
material = "snow"
box = {{ min = [9, 0, 0], max = [9.5, 10, 10], side = "outside" }}
[[measure]]
impact = {{ wall = "wall" }}
every = 0.1
"#
    );
    let mut w = world(&text);
    let before = w.totals().momentum;
    let mut impulse = 0.0_f64;
    while w.time() < 0.8 {
        w.step().unwrap();
        if let Some(row) = w.rows().first() {
            impulse = row.values[4];
        }
    }
    let lost = (before - w.totals().momentum).x;
    println!("{impulse} N s taken, {lost} N s lost");
    assert!(lost > 0.5 * before.x && (impulse / lost - 1.0).abs() < 0.01, "{impulse} N s taken, {lost} lost");
}

#[test]
fn nothing_passes_a_dam_and_trees_stand_until_they_are_struck() {
    let text = slope(
        "[materials.earth]\ndensity = 1800\nyoung = \"10 MPa\"\npoisson = 0.3\nrestitution = 0.3\nfriction = 0.6\n\
         [[walls]]\nname = \"dam\"\nmaterial = \"earth\"\n\
         standing = { shape = \"dam\", line = [[48, 0.5], [54, 15.5]], height = 6, slope = \"70 deg\" }\n\
         [[grains]]\nname = \"trees\"\nmaterial = \"earth\"\nradius = 0.25\n\
         trees = { at = [[30, 8], [64, 8]], height = 4 }\n\
         bonds = { young = \"20 MPa\", tensile = \"400 kPa\", base = { tensile = \"300 kPa\" } }",
        "",
    );
    let mut w = world(&text);
    let bonds = |w: &World| w.solver::<Dem>().map_or(0, |d| d.bonds());
    assert_eq!(bonds(&w), 16, "eight grains a tree, each bonded to the one below it, the first to the ground");
    run(&mut w, 1.0);
    assert_eq!(bonds(&w), 16, "they stand");
    run(&mut w, 9.0);
    assert!(bonds(&w) < 16, "the one before the dam is broken");
    let frame = w.frame();
    let grains = frame.grains();
    let snow = (0..grains.len()).filter(|k| grains.material[*k] == 0);
    // Behind the dam's foot, which reaches some four metres from its line.
    let behind = snow.filter(|k| grains.position[*k].x > 54.0 + 0.4 * (grains.position[*k].y - 0.5) + 5.0).count();
    assert_eq!(behind, 0, "nothing is behind the dam");
}

/// A forest took trunks for snow that lay still, and left all but their feet behind as detrained.
#[test]
fn trunks_in_a_forest_are_not_left_behind_as_snow() {
    let text = slope(
        "[materials.wood]\ndensity = 600\nyoung = \"10 MPa\"\npoisson = 0.3\nrestitution = 0.3\nfriction = 0.6\n\
         [[grains]]\nname = \"trees\"\nmaterial = \"wood\"\nradius = 0.25\n\
         trees = { at = [[60, 8], [64, 8]], height = 4 }\n\
         bonds = { young = \"20 MPa\", tensile = \"400 kPa\", base = { tensile = \"300 kPa\" } }",
        "[[ground.forest]]\npolygon = [[50, 0], [80, 0], [80, 16], [50, 16]]\ndetrainment = 300",
    );
    let mut w = world(&text);
    run(&mut w, 2.0);
    let frame = w.frame();
    let trunks = frame.grains().material.iter().filter(|m| **m == 1).count();
    assert_eq!(trunks, 16, "eight grains a tree");
}

#[test]
fn a_slab_of_232_pieces_hangs_together_and_meets_the_snow() {
    let text = slope(
        "[[slabs]]\nmaterial = \"snow\"\nmin = [20, 3]\nmax = [34, 13]\nthickness = 0.5\npieces = 60\n\
         bonds = { young = \"4 MPa\", tensile = \"40 kPa\" }",
        "",
    );
    let mut w = world(&text);
    let dem = w.solver::<Dem>().unwrap();
    let pieces = dem.population().shape.iter().filter(|s| **s != 0).count();
    assert_eq!(pieces, 60);
    assert!(dem.bonds() > 120, "{} bonds between 60 pieces", dem.bonds());
    run(&mut w, 3.0);
    assert!(w.frame().grains().position.iter().all(|x| x.is_finite()));
    let frame = w.frame();
    let grains = frame.grains();
    let fast =
        (0..grains.len()).filter(|k| grains.shape[*k] != 0).map(|k| grains.velocity[k].length()).sum::<f64>() / 60.0;
    assert!(fast > 2.0, "the plate slides: {fast} m/s");
}
