//! The simulation's thread without a window: commands and what they do.

use barchan_engine::{Dropped, assemble, load};
use barchan_view::Source;
use barchan_view::simulation::{Answer, Command, Fresh, Published, Simulation, State};
use glam::DVec3;
use std::path::Path;
use std::time::{Duration, Instant};

const SCENE: &str = r#"
duration = 0.4
[domain]
min = [0, 0, 0]
max = ["4 cm", "4 cm", "10 cm"]
[materials.beads]
preset = "glass beads"
[[walls]]
material = "beads"
box = { min = [0, 0, 0], max = [0.04, 0.04, 0.1], open = ["top"] }
[[grains]]
material = "beads"
radius = "1.5 mm"
fill = { box = { min = [0.002, 0.002, 0.002], max = [0.038, 0.038, 0.03] }, count = 150 }
"#;

fn source(text: &str) -> Source {
    Source { name: "test".into(), text: text.into() }
}

/// Waits until something is so.
fn until(simulation: &Simulation, what: &str, is: impl Fn(&Published) -> bool) -> Published {
    let begun = Instant::now();
    loop {
        let published = simulation.published();
        if is(&published) {
            return published;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}; it is {:?}", published.state);
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn paused() -> (Simulation, Published) {
    let simulation = Simulation::start(source(SCENE), false, || ());
    let first = until(&simulation, "paused", |p| p.state == State::Paused && p.frame.is_some());
    (simulation, first)
}

/// Sends a command and waits for its answer.
fn ask(simulation: &Simulation, command: Command) -> (Answer, Published) {
    let before = simulation.published().answer.map_or(0, |a| a.0);
    simulation.send(command);
    let published = until(simulation, "answered", |p| p.answer.as_ref().is_some_and(|a| a.0 > before));
    (published.answer.clone().unwrap().1, published)
}

#[test]
fn it_begins_as_a_fresh_world_and_stands_still_until_told() {
    let (simulation, first) = paused();
    let fresh = assemble(&load(SCENE, "test", Path::new("")).unwrap()).unwrap();
    assert_eq!(first.stats.hash, Some(fresh.hash()));
    assert_eq!(first.stats.grains, 150);
    std::thread::sleep(Duration::from_millis(150));
    let later = simulation.published();
    assert_eq!((later.stats.hash, later.stats.step), (first.stats.hash, 0), "paused is paused");
}

#[test]
fn steps_are_those_of_a_run_and_a_reset_begins_anew_to_the_bit() {
    let (simulation, first) = paused();
    let mut fresh = assemble(&load(SCENE, "test", Path::new("")).unwrap()).unwrap();
    for step in 1..=5 {
        simulation.send(Command::Step);
        fresh.step().unwrap();
        let p = until(&simulation, "a step", |p| p.stats.step == step);
        assert_eq!(p.stats.hash, Some(fresh.hash()));
    }
    simulation.send(Command::Speed(None));
    simulation.send(Command::Play);
    until(&simulation, "on its way", |p| p.stats.step > 50);
    simulation.send(Command::Gravity(DVec3::X));
    simulation.send(Command::Reset { play: false, fresh: Fresh::default() });
    let again = until(&simulation, "a new beginning", |p| {
        p.epoch > first.epoch && p.state == State::Paused && p.stats.step == 0
    });
    assert_eq!(again.stats.hash, first.stats.hash);
    assert_eq!(again.values, first.values, "changed values are the scene's again");
}

#[test]
fn a_pause_holds_the_state() {
    let (simulation, _) = paused();
    simulation.send(Command::Speed(None));
    simulation.send(Command::Play);
    until(&simulation, "on its way", |p| p.stats.step > 20);
    simulation.send(Command::Pause);
    let held = until(&simulation, "paused", |p| p.state == State::Paused);
    std::thread::sleep(Duration::from_millis(120));
    let later = simulation.published();
    assert_eq!((held.stats.hash, held.stats.step), (later.stats.hash, later.stats.step));
    assert!(held.stats.hash.is_some());
}

#[test]
fn a_speed_is_kept_against_the_clock() {
    let (simulation, _) = paused();
    simulation.send(Command::Speed(Some(0.125)));
    let begun = Instant::now();
    simulation.send(Command::Play);
    std::thread::sleep(Duration::from_millis(800));
    let time = simulation.published().stats.time;
    let most = 0.125 * begun.elapsed().as_secs_f64() + 0.01;
    assert!(time <= most, "{time} s in {most} s");
    assert!(time > 0.0);
}

#[test]
fn it_ends_with_the_duration_and_may_go_on() {
    let text = SCENE.replace("duration = 0.4", "duration = 0.004");
    let simulation = Simulation::start(source(&text), true, || ());
    simulation.send(Command::Speed(None));
    let end = until(&simulation, "at its end", |p| p.state == State::Finished);
    assert!((end.stats.time - 0.004).abs() < 2.0 * end.stats.dt);
    simulation.send(Command::Play);
    until(&simulation, "beyond", |p| p.stats.time > 0.006 && p.state == State::Playing);
}

#[test]
fn a_push_changes_the_momentum_by_what_it_says() {
    let (simulation, first) = paused();
    let momentum = |p: &Published| -> DVec3 {
        let f = p.frame.as_ref().unwrap().grains();
        (0..f.len()).map(|g| f.mass[g] * f.velocity[g]).sum()
    };
    let (centre, velocity) = (DVec3::new(0.02, 0.02, 0.004), DVec3::new(0.1, 0.0, 0.4));
    let f = first.frame.as_ref().unwrap().grains();
    let mass: f64 = (0..f.len()).filter(|&g| f.position[g].distance(centre) <= 0.01).map(|g| f.mass[g]).sum();
    let (answer, after) = ask(&simulation, Command::Push { centre, radius: 0.01, velocity });
    let Answer::Pushed(given) = answer else { panic!("{answer:?}") };
    assert!(mass > 0.0 && (given - mass * velocity).length() < 1e-9 * given.length());
    assert!((momentum(&after) - momentum(&first) - given).length() < 1e-9 * given.length());
}

#[test]
fn grains_come_and_go_as_asked() {
    let (simulation, _) = paused();
    let there = DVec3::new(0.02, 0.02, 0.06);
    let (answer, after) = ask(&simulation, Command::Pour { centre: there, radius: 0.012, count: 30 });
    let Answer::Poured(came) = answer else { panic!("{answer:?}") };
    assert!(came > 5 && after.stats.grains == 150 + came);
    let f = after.frame.as_ref().unwrap().grains();
    for a in 0..f.len() {
        for b in (0..a).filter(|&b| f.id[a].max(f.id[b]) >= 150) {
            assert!(f.position[a].distance(f.position[b]) >= f.radius[a] + f.radius[b], "{a} and {b} overlap");
        }
    }
    let (answer, after) = ask(&simulation, Command::Dig { centre: there, radius: 0.02 });
    assert_eq!(answer, Answer::Dug(came));
    assert_eq!(after.stats.grains, 150);
    let (answer, after) = ask(&simulation, Command::Drop { centre: there, radius: 0.006 });
    assert_eq!((answer, after.stats.grains), (Answer::Dropped(Dropped::Grain), 151));
    let (answer, _) = ask(&simulation, Command::Drop { centre: there, radius: 0.006 });
    assert_eq!(answer, Answer::Dropped(Dropped::NoRoom), "there is one already");
}

#[test]
fn values_change_and_are_shown_and_wrong_ones_are_refused() {
    let (simulation, first) = paused();
    assert!(first.values.flow.is_none() && first.values.walls.is_none(), "no emitter and no moving wall");
    simulation.send(Command::Gravity(DVec3::new(1.0, 0.0, -3.0)));
    simulation.send(Command::Material { index: 0, friction: 0.9, restitution: 0.3 });
    let p = until(&simulation, "changed", |p| p.values.materials[0].1 == 0.9);
    assert_eq!((p.values.gravity, p.values.materials[0].2), (DVec3::new(1.0, 0.0, -3.0), 0.3));
    let (answer, p) = ask(&simulation, Command::Material { index: 0, friction: -1.0, restitution: 0.3 });
    assert!(matches!(answer, Answer::Refused(_)));
    assert_eq!(p.values.materials[0].1, 0.9);
}

#[test]
fn what_is_kept_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    let (simulation, _) = paused();
    simulation.send(Command::Gravity(DVec3::new(0.0, 0.0, -3.0)));
    simulation.send(Command::Step);
    let (answer, p) = ask(&simulation, Command::Save(out.clone()));
    assert_eq!(answer, Answer::Saved(out.clone()));
    let run = barchan_engine::Run::resume(&out, None).unwrap();
    assert_eq!(Some(run.world().hash()), p.stats.hash);
    assert_eq!(run.world().gravity().z, -3.0);
    let (answer, _) = ask(&simulation, Command::Save(out));
    assert!(matches!(answer, Answer::Refused(_)), "nothing is overwritten");
}

#[test]
fn a_scene_that_fails_says_why() {
    let bad = Simulation::start(source("duration = 1\nspeed = 3\n"), true, || ());
    let p = until(&bad, "failed", |p| p.state == State::Failed);
    assert!(p.message.unwrap().contains("speed"));

    // Two grains in the same place: the first step ends it.
    let text = SCENE.replace("radius = \"1.5 mm\"\nfill = { box = { min = [0.002, 0.002, 0.002], max = [0.038, 0.038, 0.03] }, count = 150 }",
        "radius = \"1.5 mm\"\nvelocity = [0, 0, 300]\nat = [[0.02, 0.02, 0.05]]");
    let lost = Simulation::start(source(&text), true, || ());
    lost.send(Command::Speed(None));
    let p = until(&lost, "lost", |p| p.state == State::Failed);
    assert!(p.message.unwrap().contains("left the domain"));
    lost.send(Command::Play);
    lost.send(Command::Step);
    lost.send(Command::Reset { play: false, fresh: Fresh::default() });
    let p = until(&lost, "begun anew", |p| p.state == State::Paused);
    assert!(p.message.is_none() && p.stats.step == 0);
}

#[test]
fn more_grains_come_with_a_reset() {
    let (simulation, first) = paused();
    simulation.send(Command::Reset { play: false, fresh: Fresh { scale: 2.0, ..Fresh::default() } });
    let p = until(&simulation, "larger", |p| p.epoch > first.epoch && p.state == State::Paused);
    assert!((p.stats.grains as f64 / 300.0 - 1.0).abs() < 0.1, "{}", p.stats.grains);
}

/// With pictures of 50 ms three of four frames were made for nobody: on a ground of a million columns that took half of the time.
#[test]
fn frames_that_nobody_looks_at_are_few() {
    let long = SCENE.replace("duration = 0.4", "duration = 1000");
    let simulation = Simulation::start(source(&long), true, || ());
    let begun = until(&simulation, "playing", |p| p.state == State::Playing && p.stats.step > 0);
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(600));
    let unseen = simulation.published();
    let most = 10.0 * start.elapsed().as_secs_f64() + 2.0;
    assert!(unseen.stats.step > begun.stats.step, "it goes on");
    assert!(((unseen.serial - begun.serial) as f64) < most, "{} frames", unseen.serial - begun.serial);
}

const SAND: &str = r#"
duration = 0.5
[domain]
min = [-0.5, -0.5, -0.1]
max = [0.6, 0.6, 0.5]
[materials.wood]
density = 600
young = "5 MPa"
restitution = 0.5
friction = 0.4
[[walls]]
material = "wood"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[continuum]]
name = "sand"
spacing = "2 cm"
density = 2650
packing = 0.6
friction_angle = "33 deg"
fill = { box = { min = [0, 0, 0], max = [0.12, 0.12, 0.16] } }
"#;

#[test]
fn a_continuum_has_knobs_gauges_and_passes() {
    let simulation = Simulation::start(source(SAND), false, || ());
    let first = until(&simulation, "paused", |p| p.state == State::Paused && p.frame.is_some());
    assert!(!first.values.bounces, "no grain, no restitution");
    let index = first.values.knobs.iter().position(|k| k.name == "friction angle").unwrap();
    simulation.send(Command::Knob { index, value: 0.3 });
    let p = until(&simulation, "turned", |p| p.values.knobs[index].value == 0.3);
    assert_eq!(p.values.materials[1].1, 0.3f64.tan(), "walls hold it as it holds itself");
    let (answer, p) = ask(&simulation, Command::Knob { index, value: 3.0 });
    assert!(matches!(answer, Answer::Refused(_)));
    assert_eq!(p.values.knobs[index].value, 0.3);
    (0..3).for_each(|_| simulation.send(Command::Step));
    let p = until(&simulation, "steps", |p| p.stats.step == 3);
    let gauge = |name: &str| p.stats.gauges.iter().find(|g| g.name == name).map(|g| g.value);
    assert!(gauge("iterations").is_some_and(|n| n >= 1.0) && gauge("density error").is_some());
    assert!((p.stats.mass / (0.12 * 0.12 * 0.16 * 0.6 * 2650.0) - 1.0).abs() < 0.01, "{}", p.stats.mass);
}

#[test]
fn it_stands_still_at_the_time_that_was_asked_for() {
    let simulation = Simulation::start(source(SAND), false, || ());
    let first = until(&simulation, "paused", |p| p.state == State::Paused && p.frame.is_some());
    simulation.send(Command::Speed(None));
    simulation.send(Command::PauseAt(Some(0.1)));
    simulation.send(Command::Play);
    let p = until(&simulation, "paused again", |p| p.state == State::Paused && p.stats.step > 0);
    assert!(p.stats.time >= 0.1 && p.stats.time < 0.1 + 1.01 * first.stats.dt, "{}", p.stats.time);
    simulation.send(Command::Play);
    until(&simulation, "at its end", |p| p.state == State::Finished);
}

#[test]
fn a_reset_takes_another_spacing_and_density() {
    let simulation = Simulation::start(source(SAND), false, || ());
    let first = until(&simulation, "paused", |p| p.state == State::Paused && p.frame.is_some());
    let fresh = Fresh { spacing: Some(0.04), density: Some(1000.0), ..Fresh::default() };
    simulation.send(Command::Reset { play: false, fresh });
    let p = until(&simulation, "anew", |p| p.epoch > first.epoch && p.state == State::Paused);
    assert_eq!((first.stats.grains, p.stats.grains), (6 * 6 * 8, 3 * 3 * 4));
    let density = |p: &Published| p.stats.mass / (0.12 * 0.12 * 0.16);
    assert!((density(&first) / 1590.0 - 1.0).abs() < 0.01 && (density(&p) / 600.0 - 1.0).abs() < 0.01);
    let fresh = Fresh { spacing: Some(-1.0), ..Fresh::default() };
    simulation.send(Command::Reset { play: false, fresh });
    let p = until(&simulation, "refused", |p| p.state == State::Failed);
    assert!(p.message.unwrap().contains("spacing"));
}
