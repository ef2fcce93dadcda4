//! A periodic cell that is strained: energy, stress, and steady shear.

use barchan_dem::Dem;
use barchan_engine::{World, assemble, load};
use std::path::Path;

fn text(count: u32, side: f64, materials: &str, rest: &str) -> String {
    format!(
        "duration = 10\ngravity = [0, 0, 0]\n[domain]\nmin = [0, 0, 0]\nmax = [{side}, {side}, {side}]\nperiodic = [\"x\", \"y\", \"z\"]\n\
         [materials.bead]\ndensity = 2500\n{materials}\n[[grains]]\nmaterial = \"bead\"\nradius = {{ uniform = [\"0.8 mm\", \"1.2 mm\"] }}\n\
         fill = {{ box = {{ min = [0, 0, 0], max = [{side}, {side}, {side}] }}, count = {count} }}\n{rest}\n[[measure]]\ncell = {{}}\nevery = \"1 ms\"\n"
    )
}

fn cell(count: u32, side: f64, materials: &str, rest: &str) -> World {
    let text = text(count, side, materials, rest);
    assemble(&load(&text, "cell", Path::new("")).unwrap_or_else(|e| panic!("{:?}", e.problems)))
        .unwrap_or_else(|e| panic!("{:?}", e.problems))
}

fn energy(world: &World) -> f64 {
    let e = world.energies();
    e.kinetic() + e.elastic
}

/// Without friction and damping all work of the moving sides becomes energy of the grains.
#[test]
fn simple_shear_keeps_the_balance_of_energy() {
    let hard = "young = \"10 MPa\"\nrestitution = 1\nfriction = 0";
    let rest = "velocity_field = [\"100*(z - 0.006)\", \"0\", \"0\"]\nvelocity_spread = 0.05\n[integrator]\nprecision = \"double\"\ndt = 5e-7\n[cell]\nshear = \"100 /s\"";
    let mut world = cell(80, 0.012, hard, rest);
    for _ in 0..2000 {
        world.step().unwrap();
    }
    let (begin, work) = (energy(&world), world.solver::<Dem>().unwrap().cell().unwrap().work);
    let mut worst = 0.0_f64;
    for _ in 0..30_000 {
        world.step().unwrap();
        if world.steps().is_multiple_of(100) {
            let done = world.solver::<Dem>().unwrap().cell().unwrap().work - work;
            worst = worst.max((energy(&world) - begin - done).abs());
        }
    }
    let done = world.solver::<Dem>().unwrap().cell().unwrap().work - work;
    println!(
        "energy {begin:e} J, work {done:e} J, worst gap {worst:e} J, contacts {}",
        world.gauge("coordination").unwrap()
    );
    assert!(done > 0.05 * begin, "the sides work: {done:e} J of {begin:e} J");
    assert!(worst < 1e-6 * energy(&world), "{worst:e} J of {:e} J", energy(&world));
}

/// A cell at rest that is not strained is any periodic domain: the same bits with rates of zero.
#[test]
fn a_cell_that_is_not_strained_is_a_periodic_domain() {
    let soft = "young = \"1 MPa\"\nrestitution = 0.7\nfriction = 0.4";
    let rest = "velocity_spread = 0.05\n[integrator]\nmax_overlap = 0.3\nprecision = \"double\"\ndt = 1e-5\n";
    let [mut a, mut b] = ["[cell]\n", ""].map(|c| {
        let text = rest.to_owned() + c;
        if c.is_empty() {
            let text = format!(
                "duration = 10\ngravity = [0, 0, 0]\n[domain]\nmin = [0, 0, 0]\nmax = [0.012, 0.012, 0.012]\nperiodic = [\"x\", \"y\", \"z\"]\n[materials.bead]\n\
                 density = 2500\n{soft}\n[[grains]]\nmaterial = \"bead\"\nradius = {{ uniform = [\"0.8 mm\", \"1.2 mm\"] }}\n\
                 fill = {{ box = {{ min = [0, 0, 0], max = [0.012, 0.012, 0.012] }}, count = 80 }}\n{text}"
            );
            assemble(&load(&text, "free", Path::new("")).unwrap()).unwrap()
        } else {
            cell(80, 0.012, soft, &text)
        }
    });
    for _ in 0..1500 {
        a.step().unwrap();
        b.step().unwrap();
    }
    // Lists hold other pairs besides those that touch, so sums may be in another order.
    let (x, y) = (a.frame(), b.frame());
    let of = |f: &barchan_core::frame::Frame, id: u32| {
        let g = f.grains();
        g.position[g.id.iter().position(|i| *i == id).unwrap()]
    };
    let worst = (0..80).map(|id| (of(&x, id) - of(&y, id)).length()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst} m apart after {} steps", a.steps());
}

/// Compressed by all its sides to a stress and left alone: the stress asked for is there within 1 %, in every step.
#[test]
fn isotropic_compression_holds_the_stress_asked_for() {
    let bead = "young = \"5 MPa\"\nrestitution = 0.3\nfriction = 0.3";
    let held =
        "[cell]\nx = { stress = \"5 kPa\" }\ny = { stress = \"5 kPa\" }\nz = { stress = \"5 kPa\" }\nmax_rate = 8";
    let mut world = cell(200, 0.0155, bead, held);
    let mut worst = 0.0_f64;
    while world.time() < 0.3 {
        world.step().unwrap();
        if world.time() > 0.25 {
            let s = world.solver::<Dem>().unwrap().cell().unwrap().stress;
            let diagonal = glam::DVec3::new(s.col(0).x, s.col(1).y, s.col(2).z);
            worst = worst.max((diagonal / 5000.0 - 1.0).abs().max_element());
        }
    }
    assert!(worst < 0.01, "{worst}");
    assert!(world.gauge("coordination").unwrap() > 4.0);
}

/// Steady simple shear under a constant normal stress has the friction that the flow down a slope has at the same inertial number: points of
/// `barchan validate chute` (docs/validation, friction against the inertial number), of the same grains.
#[test]
fn steady_shear_has_the_friction_of_the_flow_down_a_slope() {
    let (d, pressure) = (3e-3_f64, 700.0_f64);
    for (inertial, friction) in [(0.136_85, 0.449_17), (0.275_13, 0.504_09)] {
        let rate = inertial / (d * (2500.0 / pressure).sqrt());
        let (side, high) = (9.0 * d, 10.0 * d);
        let text = format!(
            "duration = 10\ngravity = [0, 0, 0]\n[domain]\nmin = [0, 0, 0]\nmax = [{side}, {side}, {high}]\nperiodic = [\"x\", \"y\", \"z\"]\n[integrator]\ndt = 2e-5\n\
             max_overlap = 0.2\n[materials.bead]\ndensity = 2500\nyoung = \"10 MPa\"\nrestitution = 0.88\nfriction = 0.5\n[[grains]]\nmaterial = \"bead\"\n\
             radius = {{ uniform = [{}, {}] }}\nvelocity_field = [\"{rate}*(z - {})\", \"0\", \"0\"]\nvelocity_spread = 0.05\n\
             fill = {{ box = {{ min = [0, 0, 0], max = [{side}, {side}, {high}] }}, count = 370 }}\n[cell]\nshear = {rate}\nz = {{ stress = {pressure} }}\nmax_rate = \"2 /s\"\n",
            0.4 * d,
            0.6 * d,
            0.5 * high,
        );
        let mut world = assemble(&load(&text, "shear", Path::new("")).unwrap_or_else(|e| panic!("{:?}", e.problems)))
            .unwrap_or_else(|e| panic!("{:?}", e.problems));
        let (mut shear, mut normal) = (0.0, 0.0);
        // It is compressed to the stress at 2 /s first; a faster servo would shake it.
        let (settled, end) = (0.7_f64.max(16.0 / rate), 0.7_f64.max(16.0 / rate) + 12.0 / rate);
        let mut n = 0.0;
        while world.time() < end {
            world.step().unwrap();
            if world.time() > settled {
                let s = world.solver::<Dem>().unwrap().cell().unwrap().stress;
                n += 1.0;
                (shear, normal) = (shear - 0.5 * (s.col(0).z + s.col(2).x), normal + s.col(2).z);
            }
        }
        let found = shear / normal;
        println!(
            "I {inertial}: friction {found:.4}, slope {friction:.4}, mean normal stress over the one asked for: {}",
            normal / n / pressure
        );
        // The error of a stress that fluctuates is cut off at 1 below and above, so that its mean lies a little higher.
        assert!((normal / n / pressure - 1.0).abs() < 0.03, "{} Pa", normal / n);
        assert!((found / friction - 1.0).abs() < 0.05, "I = {inertial}: {found} against {friction}");
    }
}
