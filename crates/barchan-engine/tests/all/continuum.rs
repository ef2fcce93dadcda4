//! A continuum of smoothed particles, from a scene: what cannot be computed is named before the run, or stops it with where, when and the last
//! good checkpoint.

use crate::common::{parse_of, world_of};
use barchan_core::mesh::Mesh;
use barchan_engine::{Run, RunOptions, assemble, keep, load, run};
use barchan_io::mesh::write_stl;
use glam::DVec3;
use std::path::Path;

/// A floor and a domain; what is to fall on it comes behind.
const FLOOR: &str = r#"
duration = 0.4
[domain]
min = [-0.4, -0.4, -0.1]
max = [0.4, 0.4, 0.5]
[materials.wood]
density = 600
young = "5 MPa"
restitution = 0.5
friction = 0.4
[[walls]]
name = "floor"
material = "wood"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
"#;

/// Sand in a box.
fn sand(min: [f64; 3], max: [f64; 3]) -> String {
    format!(
        r#"
[[continuum]]
name = "sand"
spacing = "2 cm"
density = 2650
packing = 0.6
friction_angle = "33 deg"
fill = {{ box = {{ min = {min:?}, max = {max:?} }} }}
"#
    )
}

fn some_sand() -> String {
    sand([0.0, 0.0, 0.0], [0.12, 0.12, 0.12])
}

/// All that is said about a scene that is refused, before a world of it is there.
fn refusal(text: &str) -> String {
    match load(text, "test", Path::new("")) {
        Err(e) => e.listing(),
        Ok(parsed) => assemble(&parsed).err().map_or_else(|| panic!("it is accepted"), |e| e.listing()),
    }
}

/// What ends a run that begins.
fn end_of(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    match run(world_of(text), folder.path().join("out"), RunOptions::default()) {
        Ok(report) => panic!("it ran to t = {}", report.time),
        Err(e) => e.to_string(),
    }
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

fn doubts(text: &str, folder: &Path) -> String {
    let parsed = load(text, "test", folder).unwrap_or_else(|e| panic!("{}", e.listing()));
    let world = assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
    let all = parsed.warnings.iter().chain(world.warnings());
    all.map(|w| format!("{}: {} ({})\n", w.path, w.message, w.help)).collect()
}

/// Sites inside a wall were left out without a word.
#[test]
fn what_a_filling_leaves_out_inside_a_wall_is_told_with_its_mass() {
    let ball = "[[walls]]\nname = \"post\"\nmaterial = \"wood\"\nsphere = { centre = [0, 0, 0.1], radius = 0.045, side = \"outside\" }\n";
    let bed = sand([-0.2, -0.2, 0.0], [0.2, 0.2, 0.2]);
    let said = doubts(&[FLOOR, ball, &bed].concat(), Path::new(""));
    // Of 4000 sites those within 0.045 m of the centre: the 56 at half-integer places with |x|² < 2.25² spacings.
    let within = |n: i32| {
        let all = (-n..n).flat_map(|x| (-n..n).flat_map(move |y| (-n..n).map(move |z| [x, y, z])));
        all.filter(|c| c.iter().map(|k| (f64::from(*k) + 0.5).powi(2)).sum::<f64>() < 2.25f64.powi(2)).count()
    };
    says(&said, &[&format!("{} of the ", within(4)), "inside `post`", "kg less", "sand", "let the region end"]);
    assert!(doubts(&[FLOOR, &bed].concat(), Path::new("")).is_empty(), "half a spacing off the floor nothing is lost");
}

/// The inside of a mesh deeper than the particles see was filled: the search for its surface had not found any.
#[test]
fn a_mesh_is_not_filled_in_its_depth() {
    let folder = tempfile::tempdir().unwrap();
    write_stl(folder.path().join("block.stl"), &Mesh::box_of(DVec3::splat(0.24))).unwrap();
    let block = "[[walls]]\nname = \"block\"\nmaterial = \"wood\"\nmesh = { file = \"block.stl\", at = [0, 0, 0.1] }\n";
    let text = [FLOOR, block, &sand([-0.2, -0.2, 0.0], [0.2, 0.2, 0.2])].concat();
    let parsed = load(&text, "test", folder.path()).unwrap_or_else(|e| panic!("{}", e.listing()));
    let world = assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
    let inside = world.frame().populations[0].position.iter().filter(|x| (x.abs().x.max(x.abs().y)) < 0.12).count();
    assert_eq!(inside, 0, "particles in the block");
    says(&doubts(&text, folder.path()), &["of the 4,000 particles", "inside `block`"]);
}

#[test]
fn a_filling_of_nothing_is_refused() {
    says(
        &refusal(&[FLOOR, &sand([0.0, 0.0, 0.0], [0.01, 0.1, 0.1])].concat()),
        &["no particle fits", "enlarge the region"],
    );
    says(
        &refusal(&[FLOOR, &sand([0.0, 0.0, -0.09], [0.1, 0.1, -0.01])].concat()),
        &["no particle of `sand` fits", "move it"],
    );
}

#[test]
fn a_friction_angle_that_no_sand_has_is_refused() {
    for angle in ["61 deg", "-1 deg"] {
        let text = [FLOOR, &some_sand().replace("33 deg", angle)].concat();
        says(&refusal(&text), &["friction angle", "60 deg"]);
    }
}

#[test]
fn a_filling_that_no_memory_holds_is_refused_before_it_is_made() {
    let text = [FLOOR, &sand([-0.4, -0.4, 0.0], [0.4, 0.4, 0.4]).replace("2 cm", "0.01 mm")].concat();
    says(&refusal(&text), &["particles", "spacing of at least"]);
}

/// A hole in a mesh turned a solid into a sheet, which sand fills from within.
#[test]
fn a_mesh_with_a_hole_is_named_with_the_place_of_the_hole() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = Mesh::box_of(DVec3::splat(0.2));
    mesh.triangles.pop();
    write_stl(folder.path().join("open.stl"), &mesh).unwrap();
    let block =
        "[[walls]]\nname = \"block\"\nmaterial = \"wood\"\nmesh = { file = \"open.stl\", at = [0.2, 0.2, 0.2] }\n";
    let said = doubts(&[FLOOR, block, &sand([-0.3, -0.3, 0.0], [0.0, 0.0, 0.1])].concat(), folder.path());
    says(&said, &["`block` has holes: 3 open edges", "sheet", "close the mesh"]);
}

/// A wind that is no number between the places at which formulas are tried had made velocities that are none, and the walls were blamed.
#[test]
fn a_wind_without_a_finite_speed_is_blamed_where_matter_meets_it() {
    let air = "[air]\nvelocity = [\"0.1/sqrt((z-0.31)*(z-0.34))\", 0, 0]\n";
    let high = sand([0.0, 0.0, 0.36], [0.1, 0.1, 0.44]);
    let message = end_of(&[FLOOR, &high, air].concat());
    says(&message, &["wind", "air.velocity", "0.33", "t = 0.", "last good checkpoint"]);
    assert!(!message.contains("wall"), "{message}");
    // A grain that is shown may meet it where no particle does.
    let shown = format!("{high}grains = {{ per_particle = 64, radius = \"1 mm\" }}\n");
    says(&end_of(&[FLOOR, &shown, air].concat()), &["wind", "air.velocity", "last good checkpoint"]);
}

/// A plate that comes down through what lies on the floor.
fn pressed(speed: f64, layers: f64) -> String {
    let plate = format!(
        "[[walls]]\nname = \"plate\"\nmaterial = \"wood\"\nplane = {{ point = [0, 0, {}], normal = [0, 0, -1] }}\nvelocity = [0, 0, -{speed}]\n",
        0.02 * layers
    );
    [FLOOR, &plate, &sand([0.0, 0.0, 0.0], [0.12, 0.12, 0.02 * layers])].concat()
}

#[test]
fn matter_that_is_crushed_stops_the_run_with_place_time_and_checkpoint() {
    // Between the sides of a vessel it cannot give way.
    let vessel = "[[walls]]\nname = \"vessel\"\nmaterial = \"wood\"\nbox = { min = [0, 0, 0], max = [0.12, 0.12, 0.45], open = [\"top\"] }\n";
    let message = end_of(&[&pressed(0.5, 4.0), vessel].concat());
    says(&message, &["does not converge at t = 0.", "particle", " at (", "last good checkpoint"]);
}

/// A particle that two walls had squeezed through one of them went on beyond it.
#[test]
fn a_particle_that_gets_through_a_wall_stops_the_run() {
    let message = end_of(&pressed(0.1, 1.0));
    says(&message, &["particle", "got through \"", "at t = 0.", " at (", "m behind it", "last good checkpoint"]);
}

#[test]
fn too_many_neighbours_are_named_with_their_place() {
    let crowd: String = (0..10).map(|i| some_sand().replace("\"sand\"", &format!("\"sand {i}\""))).collect();
    let message = end_of(&[FLOOR, &crowd].concat());
    says(&message, &["particle", " at (", "neighbours", "last good checkpoint"]);
}

/// How often a particle had to be held off a wall was known to the window alone.
#[test]
fn a_run_reports_what_was_held_off_walls() {
    let folder = tempfile::tempdir().unwrap();
    let world = world_of(&pressed(0.1, 1.0).replace("duration = 0.4", "duration = 0.25"));
    let report = run(world, folder.path().join("out"), RunOptions::default()).unwrap();
    let gauge = |name: &str| report.gauges.iter().find(|g| g.name == name).map(|g| g.value);
    assert!(gauge("held off walls").is_some_and(|n| n >= 1.0), "{:?}", report.gauges);
    assert!(gauge("steps not converged").is_some());
}

/// A vessel of sand with a slab on it, and a cube on that.
const STACK: &str = r#"
duration = 1
[domain]
min = [-0.2, -0.2, -0.05]
max = [0.2, 0.2, 0.7]
[materials.wood]
density = 900
young = "5 MPa"
restitution = 0.3
friction = 0.6
[[walls]]
name = "vessel"
material = "wood"
box = { min = [-0.15, -0.15, 0], max = [0.15, 0.15, 0.69], open = ["top"] }
[[continuum]]
name = "sand"
spacing = "2 cm"
density = 2650
packing = 0.6
friction_angle = "33 deg"
fill = { box = { min = [-0.15, -0.15, 0], max = [0.15, 0.15, 0.2] } }
[[bodies]]
name = "lower"
material = "wood"
mesh = "box"
scale = [0.2, 0.2, 0.06]
at = [0, 0, 0.24]
[[bodies]]
name = "upper"
material = "wood"
mesh = "box"
scale = 0.08
at = [0, 0, 0.312]
[[measure]]
bodies = {}
every = "10 ms"
[[measure]]
wall_forces = {}
every = "10 ms"
"#;

#[test]
fn a_body_rests_on_a_body_in_sand_and_the_forces_on_both_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let report = run(world_of(STACK), &out, RunOptions::default()).unwrap();
    assert!(report.time > 0.99);
    let table = |name: &str| {
        let text = std::fs::read_to_string(out.join(format!("{name}.csv"))).unwrap();
        let heads: Vec<String> = text
            .lines()
            .next()
            .unwrap()
            .split(',')
            .map(|h| h.split(" [").next().unwrap().trim_matches('"').to_owned())
            .collect();
        let rows: Vec<Vec<f64>> =
            text.lines().skip(1).map(|l| l.split(',').map(|n| n.parse().unwrap()).collect()).collect();
        (heads, rows)
    };
    let (heads, rows) = table("bodies");
    let column = |name: &str| heads.iter().position(|h| h == name).unwrap_or_else(|| panic!("no {name} in {heads:?}"));
    let mean = |name: &str| {
        let (k, last) = (column(name), &rows[rows.len() - 20..]);
        last.iter().map(|r| r[k]).sum::<f64>() / 20.0
    };
    let (low, high) = (mean("lower position z"), mean("upper position z"));
    assert!((high - low - 0.07).abs() < 0.005, "the upper one lies on the lower one: {low} {high}");
    assert!((0.2..0.25).contains(&low), "the lower one lies on the sand: {low}");
    let weights = [0.2 * 0.2 * 0.06, 0.08f64.powi(3)].map(|volume| 900.0 * 9.81 * volume);
    for (name, weight) in ["lower force z", "upper force z"].into_iter().zip(weights) {
        // What touches a body at rest bears it.
        assert!((mean(name) / weight - 1.0).abs() < 0.1, "{name}: {} N for {weight} N", mean(name));
    }
    let (heads, rows) = table("wall_forces");
    let k = heads.iter().position(|h| h == "vessel force z").unwrap();
    let felt = -rows[rows.len() - 20..].iter().map(|r| r[k]).sum::<f64>() / 20.0;
    let all = (2650.0 * 0.6 * 0.3 * 0.3 * 0.2) * 9.81 + weights[0] + weights[1];
    assert!((felt / all - 1.0).abs() < 0.05, "the vessel bears {felt} N of {all} N");
}

/// The relief of a ground is a floor to particles.
#[test]
fn a_continuum_comes_to_rest_on_the_relief_of_a_ground() {
    let ground = "[ground]\ncell = \"2 cm\"\nfloor = \"-8 cm\"\nformula = \"0.08 + 0.02*sin(8*x)\"\n";
    let text = [FLOOR.split("[[walls]]").next().unwrap(), ground, &sand([-0.1, -0.1, 0.04], [0.1, 0.1, 0.14])].concat();
    let text = text.replace("duration = 0.4", "duration = 0.5");
    let mut world = world_of(&text);
    while world.time() < 0.45 {
        world.step().unwrap();
    }
    let sand = world.frame().population("sph").unwrap().clone();
    assert_eq!(sand.len(), 500);
    let height = |x: DVec3| x.z - 0.02 * (8.0 * x.x).sin();
    let lowest = sand.position.iter().map(|x| height(*x)).fold(f64::INFINITY, f64::min);
    // Half a spacing off a surface whose flat cells are as wide as the spacing and half as high; in its hollows less.
    assert!((0.1 * 0.02..0.9 * 0.02).contains(&lowest), "{lowest} m over the ground");
    let middle = sand.position.iter().map(|x| height(*x)).sum::<f64>() / 500.0;
    assert!((0.01..0.06).contains(&middle), "{middle}");
}

#[test]
fn a_continuum_that_is_poured_goes_on_bit_for_bit() {
    let pour = "[[emitters]]\nname = \"tap\"\ncontinuum = \"sand\"\ndisc = { centre = [0.06, 0.06, 0.4], normal = [0, 0, -1], radius = \"5 cm\" }\nmass_rate = 4\nvelocity = [0, 0, -1]\n";
    let shown = format!("{}grains = {{ per_particle = 8, radius = \"2 mm\" }}\n", some_sand());
    let text = [FLOOR, &shown, pour].concat();
    let parsed = parse_of(&text);
    let mut world = world_of(&text);
    while world.time() < 0.2 {
        world.step().unwrap();
    }
    let poured = world.pieces();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    keep(&world, &parsed.scene, &out).unwrap();
    let report = Run::resume(&out, None).unwrap().go(RunOptions::default()).unwrap();
    while world.steps() < report.step {
        world.step().unwrap();
    }
    assert!(poured > 216 && world.pieces() > poured, "it was poured before and after: {poured} {}", world.pieces());
    assert_eq!(report.hash, world.hash());
}
