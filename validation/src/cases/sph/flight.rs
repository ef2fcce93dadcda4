//! Particles of a continuum in flight.

use super::{D, DENSITY, G, continuum, cut, filled, head, particles, rig};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-flight",
    title: "A continuum in free flight, and in air",
    group: Group::Continuum,
    about: "Particles, none within reach of another, are thrown without air: every one follows its parabola. One particle falls \
            through air as a cloud of grains of 0.3 mm: it comes to the speed at which the drag of a grain is its weight.",
    source: "Ballistics; the drag of a sphere, C_D = 24/Re (1 + Re^(2/3)/6)",
    criteria: &[
        Criterion::new("parabola", "largest deviation from the parabolas, over the way", "", Below(1e-9), "0"),
        Criterion::new("terminal", "speed of fall off the terminal one, over it", "", Below(0.01), "0"),
    ],
    run,
};

const AIR: [f64; 2] = [1.204, 1.845e-5];
const GRAIN: f64 = 0.3e-3;

/// The speed at which the drag of a grain is its weight [m/s].
fn terminal() -> f64 {
    let drag = |v: f64| {
        let re = AIR[0] * v * GRAIN / AIR[1];
        let c = 24.0 / re * (1.0 + re.powf(2.0 / 3.0) / 6.0);
        0.75 * AIR[0] / DENSITY * c / GRAIN * v * v
    };
    let (mut low, mut high) = (1e-3, 100.0);
    for _ in 0..100 {
        let mid = 0.5 * (low + high);
        if drag(mid) < G { low = mid } else { high = mid }
    }
    low
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let space = head(0.0, DVec3::new(-10.0, -1.0, -30.0), DVec3::new(10.0, 1.0, 2.0), "");
    let fill = format!("velocity = [2, 0, 1]\n{}", filled([0.0, 0.0, 0.0], [7.0 * D, 7.0 * D, 7.0 * D]));
    let mut thrown = rig(&(space.clone() + &continuum(30.0, &fill)), bench)?;
    // Every third of the lattice: none is within another's support.
    cut(&mut thrown, |x| (0..3).all(|k| ((x[k] / D).floor() as i64).rem_euclid(3) == 0));
    let start = particles(&thrown);
    thrown.run_to(0.5)?;
    let (end, t) = (particles(&thrown), thrown.world.time());
    let rows: std::collections::HashMap<u32, usize> = end.id.iter().enumerate().map(|(n, id)| (*id, n)).collect();
    let path = DVec3::new(2.0, 0.0, 1.0) * t;
    let off = |(n, id): (usize, &u32)| {
        // Symplectic steps fall by ½ g t (t + dt); only the fall of all alike is taken from the first.
        let moved = end.position[rows[id]] - start.position[n];
        (moved - path) - (end.position[rows[&start.id[0]]] - start.position[0] - path)
    };
    let worst = start.id.iter().enumerate().map(off).map(|o| o.length()).fold(0.0, f64::max);
    found.found("parabola", worst / path.length());
    let air = format!("[air]\ndensity = {}\nviscosity = {}\n", AIR[0], AIR[1]);
    let fill = format!("rate = {{ mu2 = 0.9, grain = {GRAIN} }}\n{}", filled([0.0; 3], [D, D, D]));
    let mut fallen = rig(&(space + &continuum(30.0, &fill) + &air), bench)?;
    fallen.run_to(2.0)?;
    let speed = -particles(&fallen).velocity[0].z;
    found.found("terminal", (speed / terminal() - 1.0).abs());
    Ok(found)
}
