//! Sand in three phases, from a scene: mass is kept, runs resume bit for bit, threads do not matter, and what cannot be computed is refused.

use crate::common::{parse_of, run, world_of};
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use barchan_engine::{assemble, load};
use std::path::Path;

/// A block falls into a bed, sand is poured beside it, and some of it leaves through a sink.
const SPLASH: &str = r#"
duration = 0.3
[domain]
min = [0, 0, -0.02]
max = [0.32, 0.16, 0.3]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0, 0, 0], max = [0.32, 0.16, 0.06] } }
[[continuum]]
name = "block"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0.04, 0.04, 0.1], max = [0.12, 0.12, 0.16] } }
velocity = [1, 0, -2]
[phases]
grain = "1 mm"
[air]
velocity = [2, 0, 0]
[[emitters]]
name = "pour"
continuum = "bed"
disc = { centre = [0.24, 0.08, 0.2], normal = [0, 0, -1], radius = "4 cm" }
mass_rate = 4
velocity = [0, 0, -1]
[[sinks]]
name = "mouth"
box = { min = [0.26, 0, -0.02], max = [0.32, 0.16, 0.05] }
[[walls]]
name = "box"
material = "sand"
box = { min = [0, 0, 0], max = [0.32, 0.16, 0.29] }
"#;

/// A deep bed that freezes, into which a heap falls, and from whose brim sand runs off.
const DEEP: &str = r#"
duration = 0.6
[domain]
min = [0, 0, -0.04]
max = [0.32, 0.16, 0.48]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0, 0, 0], max = [0.32, 0.16, 0.24] } }
[[continuum]]
name = "heap"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0.1, 0.04, 0.36], max = [0.2, 0.12, 0.44] } }
velocity = [0, 0, 1.4]
[phases.solid]
cover = 3
[[sinks]]
name = "drain"
box = { min = [0.28, 0, 0.2], max = [0.32, 0.16, 0.3] }
[[walls]]
name = "box"
material = "sand"
box = { min = [0, 0, 0], max = [0.32, 0.16, 0.47] }
"#;

/// A gauge of the sand.
fn gauge(w: &barchan_engine::World, name: &str) -> f64 {
    let gauges = w.totals().gauges;
    gauges.iter().find(|g| g.name == name).unwrap().value
}

#[test]
fn frozen_sand_keeps_its_mass_and_its_bits_when_a_run_is_resumed_on_other_threads() {
    let mut w = world_of(DEEP);
    let (start, weight) = (w.totals().mass, w.totals().mass * 9.81);
    run(&mut w, 0.39);
    assert!(gauge(&w, "solid quanta") > 0.2 * gauge(&w, "quanta"), "{} of them", gauge(&w, "solid quanta"));
    let borne = -w.boundary().states()[0].force.z;
    assert!((borne - weight).abs() < 0.3 * weight, "walls bear {borne} N of {weight} N");
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    let dug = glam::DVec3::new(0.08, 0.08, 0.1);
    w.dig(dug, 0.05);
    run(&mut w, 0.5);
    assert!(gauge(&w, "thawed quanta") > 0.0, "digging thaws it");
    let (now, gone) = (w.totals().mass, w.tallies().iter().map(|t| t.1.mass).sum::<f64>());
    assert!(gone > 0.1 && (now + gone - start).abs() < 1e-9 * start, "{start} kg, {now} kg, {gone} kg left");
    let mass: f64 = w.frame().populations.iter().flat_map(|p| p.mass.to_vec()).sum();
    assert!((mass - now).abs() < 1e-9 * now, "frames hold all of it");
    let parsed = parse_of(DEEP);
    for n in [1, 3] {
        let hash = on_threads(n, || {
            let mut again = barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
            again.dig(dug, 0.05);
            run(&mut again, 0.5);
            again.hash()
        });
        assert_eq!(hash, w.hash(), "{n} threads");
    }
}

fn on_threads<T: Send>(n: usize, task: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(task)
}

#[test]
fn sand_in_phases_keeps_its_mass_while_it_is_poured_and_drained() {
    let mut w = world_of(SPLASH);
    let start = w.totals().mass;
    run(&mut w, 0.2);
    let (born, gone) = (w.born()[0].1, w.tallies()[0].1);
    assert!(born.mass > 0.1 && gone.mass > 0.1, "{} kg came, {} kg went", born.mass, gone.mass);
    let now = w.totals().mass;
    assert!((now + gone.mass - born.mass - start).abs() < 1e-9 * start, "{start} kg, {now} kg");
    let mass: f64 = w.frame().populations.iter().flat_map(|p| p.mass.to_vec()).sum();
    assert!((mass - now).abs() < 1e-9 * now, "frames hold all of it");
}

#[test]
fn a_run_in_phases_resumes_bit_for_bit_on_any_number_of_threads() {
    let mut w = world_of(SPLASH);
    run(&mut w, 0.1);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    run(&mut w, 0.15);
    let parsed = parse_of(SPLASH);
    for n in 1..=3 {
        let hash = on_threads(n, || {
            let mut again = barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
            run(&mut again, 0.15);
            again.hash()
        });
        assert_eq!(hash, w.hash(), "{n} threads");
    }
}

/// Why a scene is refused, by its check or by the assembling.
fn refusal(text: &str) -> String {
    let parsed = match load(text, "test", Path::new("")) {
        Ok(parsed) => parsed,
        Err(e) => return e.listing(),
    };
    assemble(&parsed).err().map(|e| e.listing()).unwrap_or_default()
}

#[test]
fn what_cannot_be_computed_in_phases_is_refused_with_a_remedy() {
    for (from, to, message) in [
        ("name = \"bed\"\nmethod", "name = \"bed\"\nfriction_angle = \"50 deg\"\nmethod", "too steep"),
        ("name = \"bed\"\nmethod", "name = \"bed\"\npacking = 0.3\nmethod", "too loose"),
        ("grain = \"1 mm\"", "grain = \"3 cm\"", "smaller than two grains"),
        ("grain = \"1 mm\"", "flip_share = 0.5", "is for `transfer = \"flip\"`"),
        ("grain = \"1 mm\"", "solid = { cover = 1 }", "a cover of 1 cells"),
        ("grain = \"1 mm\"", "solid = { enabled = false, cover = 5 }", "there is none"),
        ("velocity = [2, 0, 0]", "velocity = [\"2*t\", 0, 0]", "one velocity"),
        (
            "method = \"phases\"\nmaterial = \"sand\"\nspacing = \"1 cm\"\nfill = { box = { min = [0.04",
            "material = \"sand\"\nspacing = \"1 cm\"\nfill = { box = { min = [0.04",
            "another method",
        ),
        (
            "[[sinks]]",
            "[[walls]]\nname = \"hole\"\nmaterial = \"sand\"\ndisc = { centre = [0.1, 0.08, 0.2], normal = [0, 0, 1], radius = 0.06, hole = 0.02 }\n[[sinks]]",
            "cells of the grid across",
        ),
    ] {
        assert!(SPLASH.contains(from), "{from}");
        let listing = refusal(&SPLASH.replacen(from, to, 1));
        assert!(listing.contains(message), "{message}: {listing}");
    }
}

/// A cube of matter on a lattice of 2 cm, without gravity and walls.
fn cube(matter: &str, event: &str) -> String {
    format!(
        r#"
duration = 0.1
gravity = [0, 0, 0]
[domain]
min = [0, 0, 0]
max = [0.64, 0.64, 0.64]
[materials.sand]
density = 2500
young = "5 MPa"
poisson = 0.3
restitution = 0.5
friction = 0.5
[materials.balls]
density = 2864.788975654116
young = "5 MPa"
poisson = 0.3
restitution = 0.5
friction = 0.5
{matter}
fill = {{ box = {{ min = [0.16, 0.16, 0.16], max = [0.48, 0.48, 0.48] }}{} }}
[[events]]
time = 0
{event}
"#,
        if matter.contains("grains") { ", method = \"lattice\"" } else { "" }
    )
}

#[test]
fn charges_and_loads_give_sand_in_phases_the_momentum_that_they_give_to_grains() {
    let grains = "[[grains]]\nmaterial = \"balls\"\nradius = \"1 cm\"";
    let of = |method: &str| {
        let sand = "material = \"sand\"\nspacing = \"2 cm\"\npacking = 0.6\nfriction_angle = \"32 deg\"";
        format!("[[continuum]]\n{sand}\nmethod = \"{method}\"")
    };
    let charge = "charge = { at = [0.31, 0.32, 0.47], radius = 0.12, energy = \"20 J\" }";
    let load = "load = { at = [0.2, 0.2, 0.3], radius = 0.06, force = [300, 0, -200], lasts = 1e-6 }";
    let given = |matter: &str| {
        let mut pressed = world_of(&cube(matter, load));
        let impulse = glam::DVec3::new(300.0, 0.0, -200.0) * pressed.plan().dt;
        pressed.step().unwrap();
        let off = (pressed.totals().momentum - impulse).length();
        // A step has gone by in which the matter about it answers, on faces of the grid that are thinly filled.
        assert!(off < 0.01 * impulse.length(), "{off} N s off {impulse}");
        let mut w = world_of(&cube(matter, charge));
        let (centre, radius) = (glam::DVec3::new(0.33, 0.3, 0.17), 0.1);
        let mass = w.totals().mass;
        w.step().unwrap();
        let by_events = w.totals().momentum;
        (mass, by_events, w.charge(centre, radius, 30.0), w.totals().momentum - by_events)
    };
    let (mass, events, hand, gained) = given(grains);
    assert!(events.length() > 1.0 && hand.length() > 1.0, "{events} {hand}");
    for method in ["phases", "sph"] {
        let (m, e, h, g) = given(&of(method));
        assert!((m - mass).abs() < 1e-9 * mass, "{method}: {m} kg, grains {mass} kg");
        assert!((e - events).length() < 0.01 * events.length(), "{method}: {e}, grains {events}");
        assert!((h - hand).length() < 0.01 * hand.length(), "{method}: {h}, grains {hand}");
        assert!((g - h).length() < 1e-9 * h.length() && (gained - hand).length() < 1e-9 * hand.length());
    }
}
