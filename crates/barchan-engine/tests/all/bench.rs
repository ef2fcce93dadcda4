//! The engineer's bench: states in and out, belts, servos, laws, and the end of a run.

use crate::common;

use barchan_core::contact::bridge::BridgeLaw;
use barchan_core::contact::restitution::Impact;
use barchan_dem::Dem;
use barchan_engine::{FromError, Run, RunOptions, World, assemble, begin_from, load, run, until};
use barchan_io::packing;
use common::{BOX, world};
use glam::DVec3;
use std::path::Path;

fn parsed(text: &str, folder: &Path) -> barchan_scene::Parsed {
    load(text, "bench", folder).unwrap_or_else(|e| panic!("{:?}", e.problems))
}

fn steps(world: &mut World, time: f64) {
    while world.time() < time {
        world.step().unwrap();
    }
}

/// A bed without friction in a box, whose contacts therefore remember nothing.
const BED: &str = r#"
duration = 1
[domain]
min = [-0.01, -0.01, -0.01]
max = [0.05, 0.05, 0.11]
[integrator]
precision = "double"
[materials.beads]
density = 2500
young = "5 MPa"
restitution = 0.3
friction = 0
[materials.steel]
density = 7800
young = "5 MPa"
restitution = 0.3
friction = 0
[[walls]]
name = "vessel"
material = "beads"
box = { min = [0, 0, 0], max = [0.012, 0.012, 0.1], open = ["top"] }
"#;
const FILL: &str = r#"
[[grains]]
name = "bed"
material = "beads"
radius = { uniform = ["0.9 mm", "1.1 mm"] }
fill = { box = { min = [0, 0, 0], max = [0.012, 0.012, 0.03] }, count = 120 }
"#;

/// A packed state begins without a jump: after the first step the kinetic energy is that of the state left alone, to 1e-9 of the elastic energy;
/// coordination is the same, and ids are kept.
#[test]
fn a_packing_that_was_written_begins_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut bed = world(&[BED, FILL]);
    steps(&mut bed, 1.8);
    let frame = bed.frame();
    let mut packed = packing::of_frame(&frame);
    packed.id.iter_mut().for_each(|id| *id = 3 * *id + 5);
    packing::write(&folder.path().join("bed.barchan"), &packed).unwrap();
    let text = format!("{BED}[[grains]]\nname = \"bed\"\nmaterial = \"steel\"\nat = {{ file = \"bed.barchan\" }}\n");
    let mut again = assemble(&parsed(&text, folder.path())).unwrap();
    let (then, now) = (bed.totals(), again.totals());
    assert_eq!(bed.gauge("coordination"), again.gauge("coordination"));
    assert!(again.gauge("coordination").unwrap() > 3.0, "they lie in heaps");
    assert!((now.mass / then.mass - 1.0).abs() < 1e-12, "materials are those of the file");
    let elastic = now.energies.elastic;
    assert!((elastic / then.energies.elastic - 1.0).abs() < 1e-9);
    bed.step().unwrap();
    again.step().unwrap();
    let change = (again.energies().kinetic() - bed.energies().kinetic()).abs();
    assert!(change < 1e-9 * elastic, "kinetic energy jumps by {change:e} J of {elastic:e} J");
    let ids: Vec<u32> = again.frame().grains().id.to_vec();
    assert!(ids.iter().all(|id| packed.id.contains(id)), "ids are those of the file");
}

#[test]
fn tables_and_files_of_lammps_are_read_with_all_that_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        packing::read(&path)
    };
    let csv = "# two beads\nid,x [mm],y [mm],z [mm],diameter [mm],vx,vy,vz,material\n7,1,2,3,2,0.1,0,0,glass\n4,4,5,6,3,0,0.2,0,steel\n";
    let p = file("a.csv", csv).unwrap();
    assert_eq!((p.id, p.radius), (vec![7, 4], vec![1e-3, 1.5e-3]));
    assert_eq!((p.position[1], p.velocity[0]), (DVec3::new(4e-3, 5e-3, 6e-3), DVec3::new(0.1, 0.0, 0.0)));
    assert_eq!((p.materials, p.material), (vec!["glass".to_string(), "steel".into()], vec![0, 1]));
    let data = "settled\n\n2 atoms\n1 atom types\n\n0 0.04 xlo xhi\n0 0.04 ylo yhi\n0 0.1 zlo zhi\n\nAtoms # sphere\n\n\
                1 1 0.002 2500 0.01 0.02 0.001\n2 1 0.002 2500 0.01 0.02 0.003\n\nVelocities\n\n2 0 0 0.5 1 2 3\n1 0 0 0 0 0 0\n";
    let p = file("a.data", data).unwrap();
    assert_eq!((p.id, p.radius, p.density), (vec![1, 2], vec![1e-3; 2], vec![2500.0; 2]));
    assert_eq!((p.velocity[1], p.spin[1]), (DVec3::new(0.0, 0.0, 0.5), DVec3::new(1.0, 2.0, 3.0)));
    let shot = |step: u32, z: f64| {
        format!(
            "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n\
             ITEM: ATOMS id x y z vx vy vz omegax omegay omegaz\n3 0.1 0.2 {z} 0 0 -1 0 5 0\n"
        )
    };
    let p = file("a.dump", &(shot(0, 0.5) + &shot(10, 0.25))).unwrap();
    assert_eq!((p.position[0].z, p.velocity[0].z, p.spin[0].y), (0.25, -1.0, 5.0));
    assert!(p.radius.is_empty(), "the scene gives it");
    for (name, text, part) in [
        ("b.csv", "id,x,y\n1,2,3\n", "no column `z`"),
        ("c.csv", "x,y,z,radius\n1,2,three,1\n", "line 2"),
        ("d.csv", "id,x,y,z,radius\n1,0,0,0,1\n1,1,1,1,1\n", "two rows have the id 1"),
        ("e.csv", "x,y,z,radius\n0,0,0,-1\n", "radius of -1"),
        ("b.data", "t\n\n1 atoms\n\n0 1 xlo xhi\n\nAtoms # bond\n\n1 1 1 0 0 0\n", "style `bond`"),
        ("b.dump", &shot(0, 0.5).replace("ATOMS\n1\n", "ATOMS\n2\n"), "cut short"),
    ] {
        let told = file(name, text).unwrap_err().to_string();
        assert!(told.contains(part), "{name}: {told}");
    }
}

/// `import-packed-state-refused`: overlaps up to `max_overlap` are a state.
#[test]
fn a_list_of_places_may_overlap_as_far_as_a_run_lets_it() {
    let at = |gap: f64| {
        let z = [0.011, 0.011 + gap];
        format!(
            "{BOX}[[grains]]\nmaterial = \"beads\"\nradius = 0.001\nat = [[0.02, 0.02, {}], [0.02, 0.02, {}]]\n",
            z[0], z[1]
        )
    };
    assert!(load(&at(0.00195), "a", Path::new("")).is_ok_and(|p| assemble(&p).is_ok()), "5 % of a radius");
    let told = format!("{:?}", load(&at(0.0018), "a", Path::new("")).unwrap_err().problems);
    assert!(told.contains("overlap"), "{told}");
}

/// With nothing changed a run that begins from another goes on bit for bit; with other measures too.
#[test]
fn a_run_from_a_run_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let scene = [common::BOX, common::BUSY];
    let dt = world(&scene).plan().dt;
    let mut whole = world(&scene);
    steps(&mut whole, 900.5 * dt);
    let mut first = world(&scene);
    first.set_duration(500.0 * dt);
    run(first, folder.path().join("a"), RunOptions::default()).unwrap();
    let text = [&scene.concat()[..], "[[measure]]\nname = \"more\"\nenergy = {}\n"].concat();
    let begun = begin_from(&parsed(&text, folder.path()), &folder.path().join("a")).unwrap();
    let mut world = begun.world;
    assert!(begun.notes.is_empty() && world.steps() == 500, "{:?}", begun.notes);
    steps(&mut world, 900.5 * dt);
    assert_eq!((world.hash(), world.steps()), (whole.hash(), whole.steps()));
}

/// Under another scene the state stays: walls are found by name, contacts remember, and what cannot be taken over is named.
#[test]
fn a_run_begins_from_another_under_other_parameters_and_walls() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a");
    let before = BED.replace("friction = 0", "friction = 0.5") + FILL;
    let mut bed = world(&[&before]);
    bed.set_duration(0.5);
    run(bed, &place, RunOptions::default()).unwrap();
    let then = Run::resume(&place, Some(1.0)).unwrap();
    let (coordination, elastic) = (then.world().gauge("coordination").unwrap(), then.world().energies().elastic);
    drop(then);
    // Another wall before the old one, another material before the old ones, a longer step, a ball in addition.
    let lid = "[[walls]]\nname = \"lid\"\nmaterial = \"beads\"\nplane = { point = [0, 0, 0.09], normal = [0, 0, -1] }\n[[walls]]\nname = \"vessel\"";
    let ball = "[[grains]]\nname = \"ball\"\nmaterial = \"steel\"\nradius = \"2 mm\"\nat = [[0.006, 0.006, 0.06]]\n";
    let after = before
        .replacen("[[walls]]\nname = \"vessel\"", lid, 1)
        .replacen(
            "[materials.beads]",
            "[materials.air]\ndensity = 1\nyoung = 1e6\nrestitution = 0.5\nfriction = 0\n[materials.beads]",
            1,
        )
        .replace("restitution = 0.3", "restitution = 0.5");
    let begun = begin_from(&parsed(&(after.clone() + ball), folder.path()), &place).unwrap();
    let mut world = begun.world;
    assert!(begun.notes.iter().any(|n| n.contains("`ball`")), "{:?}", begun.notes);
    assert_eq!(world.frame().grains().len(), 121);
    let kinetic = world.energies().kinetic();
    world.step().unwrap();
    assert!((world.gauge("coordination").unwrap() * 121.0 / 120.0 / coordination - 1.0).abs() < 0.02);
    let now = world.energies();
    assert!((now.elastic / elastic - 1.0).abs() < 1e-3, "springs hold what they held: {} {}", now.elastic, elastic);
    let (fall, m) = (9.81 * world.plan().dt, 7800.0 * 4.0 / 3.0 * std::f64::consts::PI * 8e-9);
    let allowed = 0.5 * m * fall * fall + 1e-6 * elastic;
    assert!((now.kinetic() - kinetic).abs() < allowed, "no jump: {:e} J", now.kinetic() - kinetic);
    // What has no place any more.
    let gone = after.replace("[materials.beads]", "[materials.sand]").replace("\"beads\"", "\"sand\"");
    let told = begin_from(&parsed(&gone, folder.path()), &place).map(|_| ()).unwrap_err();
    assert!(
        matches!(told, FromError::Lacks { .. }) && told.to_string().contains("add a `[materials.beads]`"),
        "{told}"
    );
}

/// A flat stone on a belt comes to its speed, on a plane and on a closed belt of triangles that runs round an axis.
#[test]
fn a_belt_carries_a_grain_at_its_speed() {
    for wall in [
        "plane = { point = [0, 0, 0], normal = [0, 0, 1] }\nbelt = { velocity = [\"0.2 m/s\", 0, 0] }",
        "mesh = { file = \"box\", scale = 0.2, at = [0, 0, -0.1] }\nbelt = { around = { axis = [0, 1, 0], speed = \"0.2 m/s\" } }",
    ] {
        let text = format!(
            "duration = 1\n[domain]\nmin = [-0.3, -0.3, -0.3]\nmax = [0.3, 0.3, 0.3]\n[materials.stone]\ndensity = 2500\nyoung = \"5 MPa\"\n\
             restitution = 0.3\nfriction = 0.6\n[shapes.plate]\nspheres = [{{ at = [0, 0, 0], radius = 0.001 }}, {{ at = [0.006, 0, 0], radius = 0.001 }}, \
             {{ at = [0, 0.006, 0], radius = 0.001 }}, {{ at = [0.006, 0.006, 0], radius = 0.001 }}]\n[[walls]]\nmaterial = \"stone\"\n{wall}\n[[grains]]\n\
             material = \"stone\"\nshape = \"plate\"\nturn = [0, 0, 0]\nat = [[-0.05, 0, 0.00101]]\n"
        );
        let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
        steps(&mut world, 0.35);
        let v = world.frame().grains().velocity[0];
        assert!((v - DVec3::new(0.2, 0.0, 0.0)).length() < 2e-4, "{wall}: {v}");
        assert!(world.boundary().states()[0].velocity == DVec3::ZERO, "the wall stands");
    }
}

/// The stress of a servo counts over what lies between its neighbours, wherever these have gone.
#[test]
fn a_servo_follows_the_walls_beside_it() {
    let plane = |name: &str, point: &str, normal: &str, more: &str| {
        format!(
            "[[walls]]\nname = \"{name}\"\nmaterial = \"beads\"\nplane = {{ point = {point}, normal = {normal} }}\n{more}\n"
        )
    };
    let text = format!(
        "duration = 1\n[domain]\nmin = [-0.01, -0.01, -0.01]\nmax = [0.05, 0.05, 0.05]\n[materials.beads]\ndensity = 2500\nyoung = \"5 MPa\"\n\
         restitution = 0.3\nfriction = 0.3\n{}{}{}{}{}{}[[grains]]\nmaterial = \"beads\"\nradius = \"1 mm\"\n\
         fill = {{ box = {{ min = [0.001, 0.001, 0.001], max = [0.011, 0.011, 0.02] }}, count = 100 }}\n",
        plane("left", "[0, 0, 0]", "[1, 0, 0]", ""),
        plane("right", "[0.016, 0, 0]", "[-1, 0, 0]", "velocity = [\"-3 mm/s\", 0, 0]\nuntil = \"0.3 s\""),
        plane("front", "[0, 0, 0]", "[0, 1, 0]", ""),
        plane("back", "[0, 0.012, 0]", "[0, -1, 0]", ""),
        plane("floor", "[0, 0, 0]", "[0, 0, 1]", ""),
        plane(
            "lid",
            "[0, 0, 0.024]",
            "[0, 0, -1]",
            "servo = { axis = [0, 0, -1], stress = \"200 Pa\", between = [[\"left\", \"right\"], [\"front\", \"back\"]], max_speed = \"0.1 m/s\" }"
        ),
    );
    let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
    steps(&mut world, 0.7);
    let lid = 5;
    assert!((world.boundary().servo_area(lid).unwrap() - 0.0151 * 0.012).abs() < 1e-9);
    let (mut force, mut n) = (0.0, 0.0);
    while world.time() < 0.8 {
        world.step().unwrap();
        (force, n) = (force + world.boundary().states()[lid].force.z, n + 1.0);
    }
    let stress = force / n / (0.0151 * 0.012);
    assert!((stress / 200.0 - 1.0).abs() < 0.01, "{stress} Pa");
}

/// A ball that is rolled by its own law slows by M/(7/5 m R), M = c R m g, as by the other; two that turn alike feel it only by theirs.
#[test]
fn rolling_against_its_own_spin_slows_a_ball_and_two_that_turn_alike() {
    let text = |rolling: &str, rest: &str| {
        format!(
            "duration = 1\n[domain]\nmin = [-0.3, -0.3, -0.1]\nmax = [0.3, 0.3, 0.3]\n[contact]\nrolling = \"{rolling}\"\n[materials.stone]\n\
             density = 2500\nyoung = \"5 MPa\"\nrestitution = 0.3\nfriction = 0.6\nrolling = 0.05\n{rest}"
        )
    };
    let ball = "[[walls]]\nmaterial = \"stone\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n[[grains]]\nmaterial = \"stone\"\nradius = \"2 mm\"\n\
                at = [[-0.1, 0, 0.0019995]]\nvelocity = [0.3, 0, 0]\nspin = [0, 150, 0]\n";
    let mut world = assemble(&parsed(&text("own", ball), Path::new(""))).unwrap();
    steps(&mut world, 0.1);
    let v0 = world.frame().grains().velocity[0].x;
    steps(&mut world, 0.4);
    let slowed = (v0 - world.frame().grains().velocity[0].x) / 0.3;
    let exact = 0.05 * 9.81 * 5.0 / 7.0;
    assert!((slowed / exact - 1.0).abs() < 0.01, "{slowed} m/s² against {exact}");
    let two = "gravity = [0, 0, 0]\n";
    let pair = "[[walls]]\nmaterial = \"stone\"\nplane = { point = [0, 0, -0.0019], normal = [0, 0, 1] }\n[[grains]]\nmaterial = \"stone\"\nradius = \"2 mm\"\n\
                at = [[0, 0, 0], [0, 0, 0.0039]]\nspin = [0, 0, 40]\nfixed = false\n";
    for (law, slows) in [("own", true), ("relative", false)] {
        let mut world = assemble(&parsed(
            &(two.to_owned() + &text(law, &pair.replace("point = [0, 0, -0.0019]", "point = [0, 0, -0.05]"))),
            Path::new(""),
        ))
        .unwrap();
        steps(&mut world, 2e-4);
        let spin = world.frame().grains().spin[0].z;
        assert_eq!(spin < 40.0 * (1.0 - 1e-6), slows, "{law}: {spin}");
    }
}

/// The pull of a bridge is the closed form at every gap up to the one at which it ruptures, and nothing beyond.
#[test]
fn a_liquid_bridge_pulls_by_willett_and_ruptures_where_it_should() {
    let (r, law) = (1e-3, BridgeLaw { tension: 0.072, angle: 0.3, volume: 0.02, viscosity: 0.0 });
    let text = format!(
        "duration = 1\ngravity = [0, 0, 0]\n[domain]\nmin = [-0.01, -0.01, -0.01]\nmax = [0.01, 0.01, 0.02]\n[liquid]\ntension = \"0.072 N/m\"\nangle = 0.3\n\
         volume = 0.02\n[integrator]\nprecision = \"double\"\n[materials.stone]\ndensity = 2500\nyoung = \"5 MPa\"\nrestitution = 0.9\nfriction = 0.6\n\
         [[grains]]\nname = \"a\"\nmaterial = \"stone\"\nradius = {r}\nat = [[0, 0, 0]]\nfixed = true\n\
         [[grains]]\nname = \"b\"\nmaterial = \"stone\"\nradius = {r}\nat = [[0, 0, {}]]\nvelocity = [0, 0, 0.3]\n",
        1.99 * r
    );
    let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
    let (mut seen, mut last) = (0, 0.0);
    while world.time() < 3e-3 {
        world.step().unwrap();
        let frame = world.frame();
        let g = frame.grains();
        let b = g.id.iter().position(|id| *id == 1).unwrap();
        let gap = g.position[b].z - 2.0 * r;
        let force = world.solver::<Dem>().unwrap().load_on(1).unwrap().0.z;
        if gap > 0.0 {
            let exact = if gap <= law.rupture(r) { -law.pull(gap, r) } else { 0.0 };
            assert!((force - exact).abs() < 1e-9 * law.pull(0.0, r), "gap {gap}: {force} N against {exact} N");
            seen += usize::from(exact != 0.0);
            last = gap;
        }
    }
    assert!(seen > 20 && last > 1.2 * law.rupture(r), "{seen} steps on the bridge, then gone to {last} m");
    assert_eq!(world.solver::<Dem>().unwrap().bridges(), 0);
}

/// A dashpot that is given gives the restitution of its closed form.
#[test]
fn a_given_dashpot_gives_its_own_restitution() {
    let (m, k, e) = (2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-9, 2000.0, 0.6);
    let c = 2.0 * Impact::Linear.damping_ratio(e) * f64::sqrt(k * m);
    let text = format!(
        "duration = 1\ngravity = [0, 0, 0]\n[domain]\nmin = [-0.01, -0.01, -0.01]\nmax = [0.01, 0.01, 0.02]\n[contact]\nnormal = \"linear\"\nstiffness = {k}\n\
         normal_damping = {c}\n[materials.stone]\ndensity = 2500\nfriction = 0.6\n[[walls]]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [[grains]]\nmaterial = \"stone\"\nradius = 0.001\nat = [[0, 0, 0.00101]]\nvelocity = [0, 0, -0.5]\n"
    );
    let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
    steps(&mut world, 5e-3);
    let found = world.frame().grains().velocity[0].z / 0.5;
    assert!((found - e).abs() < 0.005, "{found}");
}

/// Laws with strong dashpots of their own passed the check and blew up: the step is derived from the dashpot now.
#[test]
fn strongly_damped_kuwabara_kono_and_lee_herrmann_stay_finite() {
    for law in [
        "normal = \"kuwabara-kono\"\ndissipation = \"5 ms\"",
        "normal = \"lee-herrmann\"\nlee_herrmann = { stiffness = \"1e6 N/m^1.5\", damping = \"1e7 /s\" }",
    ] {
        let text = format!(
            "duration = 0.02\n[domain]\nmin = [-0.01, -0.01, -0.01]\nmax = [0.02, 0.02, 0.05]\n[contact]\n{law}\n[materials.stone]\ndensity = 2500\nyoung = \"5 MPa\"\n\
             friction = 0.5\n[[walls]]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[[grains]]\nmaterial = \"stone\"\n\
             radius = 0.001\nat = [[0, 0, 0.00105], [0.0001, 0, 0.0032]]\nvelocity = [0, 0, -0.5]\n"
        );
        let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
        let e = world.energies();
        let begin = e.kinetic() + e.gravity;
        for _ in 0..4000 {
            world.step().unwrap();
            let e = world.energies();
            assert!(e.kinetic() + e.gravity < begin * (1.0 + 1e-6), "{law}: energy grows at {} s", world.time());
        }
        let too_long =
            text.replace("[materials", &format!("[integrator]\ndt = {}\n[materials", 30.0 * world.plan().dt));
        let told = format!(
            "{:?}",
            load(&too_long, "a", Path::new("")).map(|p| assemble(&p).map(|_| ())).unwrap().unwrap_err().problems
        );
        assert!(told.contains("largest safe one"), "{told}");
    }
}

#[test]
fn a_run_ends_when_it_is_at_rest_or_has_what_it_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = [BED, FILL, "[stop]\nkinetic = \"1e-7 J\"\nafter = \"50 ms\"\n"].concat();
    let report =
        run(assemble(&parsed(&text, folder.path())).unwrap(), folder.path().join("a"), RunOptions::default()).unwrap();
    assert!(report.ended.as_ref().is_some_and(|why| why.contains("kinetic")) && report.time < 1.0, "{report:?}");
    let options = RunOptions { until: Some(until("grains > 100").unwrap()), ..RunOptions::default() };
    let report = run(world(&[BED, FILL]), folder.path().join("b"), options).unwrap();
    assert!(report.step <= 16 && report.ended.is_some());
}

#[test]
fn annuli_solids_and_lines_are_filled_with_whole_grains() {
    let of = |fill: &str| {
        let text = format!("{BOX}[[grains]]\nmaterial = \"beads\"\nradius = 0.0008\n{fill}\n");
        assemble(&parsed(&text, Path::new(""))).unwrap().frame().grains().position.to_vec()
    };
    let ring = of("fill = { cylinder = { base = [0.02, 0.02, 0.002], radius = 0.015, height = 0.02 }, hole = 0.008 }");
    let out = |x: &DVec3| (*x - DVec3::new(0.02, 0.02, 0.0)).truncate().length();
    assert!(ring.len() > 500 && ring.iter().all(|x| out(x) >= 0.0088 && out(x) <= 0.0142), "{}", ring.len());
    let ball = of(
        "fill = { box = { min = [0.002, 0.002, 0.002], max = [0.038, 0.038, 0.038] }, within = { file = \"sphere\", scale = 0.012, at = [0.02, 0.02, 0.02] } }",
    );
    assert!(ball.len() > 500 && ball.iter().all(|x| x.distance(DVec3::splat(0.02)) < 0.0113), "{}", ball.len());
    let line = of("at = { from = [0.01, 0.02, 0.03], to = [0.03, 0.02, 0.03], count = 6 }");
    assert_eq!((line.len(), line[5]), (6, DVec3::new(0.03, 0.02, 0.03)));
    assert!((line[1].x - 0.014).abs() < 1e-15);
}

/// Fixed grains stay; velocities follow their formulas; friction changes when it is due.
#[test]
fn grains_are_fixed_thrown_by_formulas_and_meet_values_that_change() {
    let text = format!(
        "{BOX}[[grains]]\nname = \"held\"\nmaterial = \"beads\"\nradius = 0.001\nat = [[0.02, 0.02, 0.02]]\nfixed = true\n[[grains]]\nname = \"thrown\"\n\
         material = \"beads\"\nradius = 0.001\nat = [[0.02, 0.02, 0.025], [0.03, 0.01, 0.03]]\nvelocity_field = [\"-10*(y - 0.02)\", \"10*(x - 0.02)\", \"0\"]\n\
         [[changes]]\nfriction = \"beads\"\nkeyframes = [[0, 0.2], [0.02, 0.6]]\nevery = \"1 ms\"\n[[changes]]\ngravity = [0, 0, -1]\nformula = \"9.81*(1 + t)\"\n"
    );
    let mut world = assemble(&parsed(&text, Path::new(""))).unwrap();
    let v = world.frame().grains().velocity.to_vec();
    assert!((v[2] - DVec3::new(0.1, 0.1, 0.0)).length() < 1e-12 && v[1].length() < 1e-12);
    steps(&mut world, 0.0305);
    let frame = world.frame();
    let held = frame.grains().id.iter().position(|id| *id == 0).unwrap();
    assert_eq!(frame.grains().position[held], DVec3::splat(0.02), "others have struck it");
    assert!((world.materials().list[0].friction - 0.6).abs() < 1e-12);
    assert!((world.gravity().z + 9.81 * 1.0305).abs() < 1e-3, "{}", world.gravity());
}

/// Every contact is in the frames, with forces that add up to those on the walls, and chosen grains have their rows.
#[test]
fn contacts_and_chosen_grains_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let more = "[output]\nevery = 0.3\nformats = [\"vtk\", \"csv\"]\ncontacts = true\n[[measure]]\nname = \"two\"\ngrains = { ids = [0, 7] }\nevery = 0.1\n";
    let mut bed = world(&[BED, FILL, more]);
    bed.set_duration(0.3);
    let report = run(bed, folder.path().join("a"), RunOptions::default()).unwrap();
    let frames = folder.path().join("a/frames");
    let last = report.frames - 1;
    let frame = barchan_io::frames::read_vtp(frames.join(format!("{last:06}.vtp"))).unwrap();
    let pairs = &frame.pairs[0];
    assert!(pairs.name == "contacts" && pairs.ends.len() > 150);
    let column = |name: &str| &pairs.extras.iter().find(|e| e.name == name).unwrap().values;
    let up: f64 = (0..pairs.ends.len())
        .filter(|k| pairs.id[*k][1] == barchan_core::frame::Pairs::NOBODY)
        .map(|k| {
            let barchan_core::frame::Values::Vec3(n) = column("normal") else { panic!() };
            f64::from(-n[k].z) * column("normal_force").number(k)
        })
        .sum();
    let weight = 9.81 * frame.grains().mass.iter().sum::<f64>();
    assert!((up / weight - 1.0).abs() < 0.05, "the floor bears {up} N of {weight} N");
    let table = std::fs::read_to_string(frames.join(format!("pairs.contacts_{last:06}.csv"))).unwrap();
    assert_eq!(table.lines().count(), 2 + pairs.ends.len());
    let grains = packing::read(&frames.join(format!("{last:06}.csv"))).unwrap();
    assert_eq!((grains.len(), grains.materials), (120, vec!["beads".to_string()]));
    let rows = std::fs::read_to_string(folder.path().join("a/two.csv")).unwrap();
    assert!(rows.starts_with("time [s],0 position x [m]") && rows.lines().count() == 5, "{rows}");
}
