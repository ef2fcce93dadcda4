//! Grains on rock, against closed forms.

use crate::common;
use common::{run, world_of as world};

/// One grain on rock, with what else is in the scene.
fn scene(size: [f64; 3], ground: &str, grain: &str) -> String {
    let [x, y, z] = size;
    format!(
        r#"
duration = 100.0
[domain]
min = [0, {}, 0]
max = [{x}, {}, {z}]
outside = "remove"
[integrator]
precision = "double"
[materials.snow]
density = 333
young = "80 MPa"
poisson = 0.3
restitution = 0.1
friction = 0.4
[ground]
{ground}
[[grains]]
material = "snow"
radius = 0.4
{grain}
"#,
        -y, y
    )
}

/// A grain that slides over waves without friction, started on a crest; the energy it has after ten waves over what it had. `None` if it is trapped.
fn over_waves(ground: &str) -> Option<f64> {
    let at = 250.0_f64;
    let grain = format!("at = [[{at}, 0, 110.3999]]\nvelocity = [20, 0, 0]");
    let mut w = world(&scene([5750.0, 50.0, 400.0], ground, &grain));
    let energy = |w: &barchan_engine::World| {
        let frame = w.frame();
        let grains = frame.grains();
        (grains.position[0].x, 0.5 * grains.velocity[0].length_squared() + 9.81 * (grains.position[0].z - 10.4))
    };
    let start = energy(&w).1;
    // A wave takes some 16 s.
    for _ in 0..2500 {
        let next = w.time() + 0.1;
        run(&mut w, next);
        let (x, now) = energy(&w);
        if x >= at + 5000.0 {
            return Some(now / start);
        }
    }
    None
}

#[test]
fn a_frictionless_grain_keeps_its_energy_over_ten_waves_of_rock_and_not_over_bilinear_ones() {
    let wave = "60 - 50*cos(2*pi*x/500)";
    let keys = "cell = 5\nfriction = 0\nrolling = 0\n";
    let rock = over_waves(&format!("{keys}rock = {{ formula = \"{wave}\" }}"));
    assert!(rock.is_some_and(|kept| (kept - 1.0).abs() < 0.005), "{rock:?}");
    // The same heights as columns that hold: bilinear, with kinks.
    let sand =
        over_waves(&format!("{keys}formula = \"{wave}\"\nsoil = {{ outside = \"89 deg\", inside = \"89 deg\" }}"));
    println!("rock keeps {rock:?}, bilinear {sand:?}");
    assert!(sand.is_none_or(|kept| kept < 0.98), "{sand:?}");
}

/// Speed along the slope [m/s], distance from the start [m] and turning [rad/s] of a grain on 34° after a time [s].
fn down_a_slope(drag: &str, time: f64) -> [f64; 3] {
    down_a_slope_in_steps(drag, time, "")
}

/// The same, with keys of the integrator.
fn down_a_slope_in_steps(drag: &str, time: f64, steps: &str) -> [f64; 3] {
    let steep = 34.0_f64.to_radians();
    let ground =
        format!("cell = 5\nrock = {{ formula = \"400 - x*{}\" }}\n[ground.drag]\nmu = 0.4\n{drag}", steep.tan());
    // Resting on the surface, pressed in as its weight will press it.
    let from = [50.0, 0.0, 400.0 - 50.0 * steep.tan() + 0.4 / steep.cos()];
    let grain = format!("at = [[{}, {}, {}]]", from[0], from[1], from[2]);
    let text = scene([580.0, 50.0, 420.0], &ground, &grain);
    let mut w = world(&text.replace("[integrator]", &format!("[integrator]\n{steps}")));
    let start = w.frame().grains().position[0];
    run(&mut w, time);
    let frame = w.frame();
    let grains = frame.grains();
    [grains.velocity[0].length(), grains.position[0].distance(start), grains.spin[0].length()]
}

#[test]
fn a_grain_on_coulomb_rock_slides_as_a_block_does_and_does_not_turn() {
    let [speed, distance, spin] = down_a_slope("law = \"coulomb\"", 10.0);
    println!("{speed} m/s, {distance} m, {spin} rad/s");
    assert!((speed / 22.325 - 1.0).abs() < 1e-3, "{speed}");
    assert!((distance / 111.63 - 1.0).abs() < 1e-3, "{distance}");
    assert!(spin * 0.4 < 1e-3 * speed, "{spin}");
}

#[test]
fn a_grain_on_voellmy_s_rock_nears_its_terminal_speed() {
    let [speed, distance, _] = down_a_slope("law = \"voellmy\"\nxi = 2000\nthickness = 1.5", 10.0);
    println!("{speed} m/s, {distance} m");
    assert!((speed / 18.12 - 1.0).abs() < 5e-3, "{speed}");
    assert!((distance / 100.2 - 1.0).abs() < 5e-3, "{distance}");
    let [speed, ..] = down_a_slope("law = \"voellmy\"\nxi = 2000\nthickness = 1.5", 20.0);
    let (limit, a) = (26.131_f64, 2.2325);
    assert!((speed / (limit * (a * 20.0 / limit).tanh()) - 1.0).abs() < 5e-3, "{speed}");
}

/// Each time flows are slowed by the mean interval: by the first, a whole number of steps, the drag was up to some per cent off.
#[test]
fn drag_does_not_depend_on_how_the_step_divides_its_interval() {
    let after = |dt: &str| {
        let law = "law = \"voellmy\"\nxi = 2000\nthickness = 1.5";
        down_a_slope_in_steps(law, 20.0, &format!("dt = \"{dt}\""))[0]
    };
    // 5 ms are 20 of the first, and 20.4 and 20.6 of the others.
    let whole = after("0.25 ms");
    for dt in ["0.2451 ms", "0.2427 ms"] {
        let other = after(dt);
        assert!((other / whole - 1.0).abs() < 1e-3, "{dt}: {other} m/s, {whole} m/s");
    }
}

#[test]
fn rock_that_cannot_be_is_refused_with_a_remedy() {
    let refused = |ground: &str| {
        let text = scene([580.0, 50.0, 420.0], ground, "at = [[50, 0, 400]]");
        barchan_engine::load(&text, "rock", std::path::Path::new(".")).err().map(|e| e.listing()).unwrap_or_default()
    };
    let has = |ground: &str, words: &str| {
        let found = refused(ground);
        assert!(found.contains(words), "{ground}: {found}");
    };
    has("rock = { height = 1 }", "no `cell`");
    has("cell = 5\nrock = { smooth = 5 }", "in one way");
    has("cell = 5\nrock = { height = 1, formula = \"x\" }", "in one way");
    has("cell = 5\nheight = 2\nrock = { height = 1 }", "cannot stand beside `rock`");
    has("cell = 5\nheight = 2\n[ground.drag]\nmu = 0.2", "only rock has a drag");
    has("cell = 5\nrock = { height = 1 }\n[ground.drag]\nmu = 0", "μ");
    has("cell = 5\nrock = { height = 1 }\n[ground.drag]\nlaw = \"voellmy\"\nxi = -1", "ξ");
    has("cell = 5\nrock = { formula = \"-1\" }", "gives -1 m");
    has("rock = { terrain = \"nowhere.asc\" }", "nowhere.asc");
}
