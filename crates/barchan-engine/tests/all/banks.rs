//! Banks of ground fall as grains.

use crate::common;
use barchan_engine::Account;
use barchan_engine::World;
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use common::{parse_of as parse, run, world_of as world};
use glam::DVec3;

/// A bank twelve grains high in a trough, cut upright, and one grain far from it.
const BANK: &str = r#"
duration = 2
[domain]
min = [-0.12, -0.009, -0.01]
max = [0.12, 0.009, 0.08]
[materials.sand]
preset = "dry sand"
young = "1 MPa"
rolling = 0.2
[integrator]
max_overlap = 0.4
[[walls]]
name = "trough"
material = "sand"
box = { min = [-0.12, -0.009, -0.01], max = [0.12, 0.009, 0.08], open = ["top"] }
[ground]
cell = "3 mm"
floor = 0
formula = "0.036 * min(1, max(0, -1000 * x))"
[ground.exchange]
[[grains]]
material = "sand"
radius = { uniform = ["1.3 mm", "1.7 mm"] }
at = [[0.11, 0.0, 0.0017]]
"#;

fn account(w: &World) -> Account {
    w.ground().unwrap().account(w.frame().grains())
}

/// Centre of all mass along x and z, grains and columns [m].
fn centre(w: &World) -> DVec3 {
    let (frame, ground) = (w.frame().grains().clone(), w.ground().unwrap());
    let (grid, a) = (*ground.columns().grid(), account(w));
    let mut sum: DVec3 = frame.mass.iter().zip(frame.position.iter()).map(|(m, x)| *m * *x).sum();
    let mut mass: f64 = frame.mass.iter().sum();
    for (c, &h) in ground.columns().heights().iter().enumerate() {
        let (m, high) = (a.mass(i128::from(h) << 16), barchan_ground::metres(h));
        sum += m * grid.centre(c).extend(grid.origin.z + 0.5 * high);
        mass += m;
    }
    sum / mass
}

/// Height of the surface in bins of 6 mm along x: of the highest grain's top, or of the ground [m].
fn profile(w: &World) -> Vec<f64> {
    let (frame, relief) = (w.frame().grains().clone(), w.ground().unwrap().relief());
    let bins = 40;
    let mut top: Vec<f64> = (0..bins).map(|k| relief.over(-0.117 + 0.006 * k as f64, 0.0).unwrap().z).collect();
    for (x, r) in frame.position.iter().zip(frame.radius.iter()) {
        let bin = (((x.x + 0.12) / 0.006) as usize).min(bins - 1);
        top[bin] = top[bin].max(x.z + r);
    }
    top
}

#[test]
fn a_bank_falls_as_grains_and_comes_to_rest_as_a_slope() {
    let mut w = world(BANK);
    let (total, from) = (account(&w).total(), centre(&w));
    w.step().unwrap();
    let a = account(&w);
    assert!(a.thawed > 700, "{a:?}");
    assert_eq!(a.total(), total, "to the last mote");
    {
        let frame = w.frame().grains().clone();
        let fall = 9.81 * w.plan().dt;
        assert!(frame.velocity.iter().all(|v| v.length() < 2.0 * fall), "thawing gives no momentum");
        assert!(w.gauge("largest overlap").unwrap() < 1e-3, "nor overlap");
        let over = |x: &DVec3| if x.x < 0.003 { 0.036 } else { 0.0 };
        assert!(frame.position.iter().all(|x| x.x > 0.1 || x.z <= over(x)), "centres are where the ground was");
    }
    let at_start = centre(&w);
    // What is owed is in neither: some 2 % of all, some 35 mm before the centre.
    assert!((at_start - from).length() < 1.5e-3, "thawing leaves mass where it is: {}", at_start - from);
    for k in 1..=16 {
        run(&mut w, 0.05 * f64::from(k));
        assert_eq!(account(&w).total(), total, "to the last mote");
    }
    let fastest = w.frame().grains().velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 0.01, "it lies still: {fastest} m/s");
    let top = profile(&w);
    assert!(top.iter().all(|&z| z < 0.036 + 0.0034), "nothing is higher than a grain on the old surface: {top:?}");
    // From where it is three quarters of the bank's height to where it is a quarter.
    let falls_to = |z: f64| top.iter().position(|&t| t < z).unwrap() as f64 * 0.006;
    let slope = (0.018 / (falls_to(0.009) - falls_to(0.027))).atan().to_degrees();
    assert!((20.0..35.0).contains(&slope), "a slope as of a heap of such grains: {slope}°");
    let moved = centre(&w) - at_start;
    // Had all of the wedge gone to a slope of 25° on both sides of the edge, mass would have moved by (h/tan 25°)³/24 over the bank's
    // length times height: 0.8 mm; with what is owed paid, 1 mm more.
    assert!(moved.x > 0.2e-3 && moved.x < 2.5e-3 && moved.z < -0.5e-3, "down, and out over the toe: {moved}");
}

#[test]
fn a_falling_bank_resumes_bit_for_bit_and_is_the_same_on_any_number_of_threads() {
    let parsed = parse(BANK);
    let mut w = world(BANK);
    run(&mut w, 0.06);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    run(&mut w, 0.08);
    for n in 1..=3 {
        let (whole, half) = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(|| {
            let mut whole = world(BANK);
            run(&mut whole, 0.08);
            let mut half = barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
            run(&mut half, 0.08);
            (whole.hash(), half.hash())
        });
        assert_eq!((whole, half), (w.hash(), w.hash()), "{n} threads");
    }
}

/// A gate that is lifted, and slippery grains, so that all of them go.
const GATE: &str = r#"
[materials.slippery]
preset = "dry sand"
young = "1 MPa"
friction = 0.05
rolling = 0
[[walls]]
name = "gate"
material = "sand"
disc = { centre = [0.0115, 0, 0.03], normal = [-1, 0, 0], radius = "40 mm" }
velocity = [0, 0, 2]
from = "0.1 s"
[[grains]]
material = "slippery"
radius = "1.5 mm"
"#;

/// Places of grains that lie close, from the bank to the gate and as high as the bank.
fn beside() -> String {
    let mut at = String::new();
    for k in 0..18 {
        let odd = f64::from(k % 2);
        for j in 0..6 - k % 2 {
            for i in 0..3 - k % 2 {
                let (x, y) = (3.3 + 3.2 * f64::from(i) + 1.6 * odd, -7.5 + 3.0 * f64::from(j) + 1.5 * odd);
                at +=
                    &format!("[{:.5}, {:.5}, {:.5}], ", 1e-3 * x, 1e-3 * y, 1e-3 * (1.51 + 2.06 * 1.02 * f64::from(k)));
            }
        }
    }
    format!("at = [{at}]")
}

#[test]
fn a_bank_falls_when_the_grains_that_leaned_on_it_have_gone() {
    let mut w = world(&format!("{BANK}{GATE}{}", beside()));
    let total = account(&w).total();
    run(&mut w, 0.1);
    let before = account(&w);
    assert!(before.thawed < 40, "grains nearly as high as the bank hold it: {before:?}");
    run(&mut w, 0.5);
    let after = account(&w);
    assert!(after.thawed > before.thawed + 30, "{after:?}");
    assert_eq!(after.total(), total, "to the last mote");
    let top = profile(&w);
    assert!(top[20] < 0.031 && top[23] > 0.008, "what leaned on it has gone, and its edge after it: {top:?}");
    let columns = w.ground().unwrap().columns();
    let edge = columns.grid().column_at(-0.0015, 0.0).unwrap();
    assert!(barchan_ground::metres(columns.heights()[edge]) < 0.028, "the bank's edge is ground no more");
}

#[test]
fn a_terrain_that_is_huge_beside_its_grains_gives_a_bounded_number_of_them() {
    let cliff = BANK
        .replace("0.12, -0.009,", "2, -2,")
        .replace("0.12, 0.009,", "2, 2,")
        .replace("cell = \"3 mm\"", "cell = \"20 mm\"")
        .replace("0.036 * min", "0.8 * min")
        .replace("max = [2, 2, 0.08]", "max = [2, 2, 1]");
    let mut w = world(&cliff);
    let total = account(&w).total();
    run(&mut w, 0.006);
    let a = account(&w);
    assert!(a.thawed > 20_000 && a.thawed <= 30_001, "{a:?}");
    assert_eq!(a.total(), total, "to the last mote");
}
