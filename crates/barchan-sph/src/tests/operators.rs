//! The operators on a shaken lattice with walls: the adjoint identity, a linear field, and the spectrum that the relaxation rests on.

use crate::flow::Flow;
use crate::passes::Precision;
use crate::rheology::{Sym, deviator};
use crate::settings::Settings;
use crate::state::{BLOCK, deviatoric};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::rng::Random;
use barchan_core::solver::{Domain, NewMatter};
use barchan_core::walls::{Geometry, Wall};
use glam::{DQuat, DVec3};

const D: f64 = 0.02;

pub fn floor_and_side() -> Boundary {
    let plane = |normal| Wall::new("plane", Geometry::Plane { point: DVec3::ZERO, normal }, 0);
    let walls = vec![plane(DVec3::Z), plane(DVec3::X)];
    Boundary::new(Fixtures { walls, carried: Vec::new() }, Vec::new(), DVec3::ZERO)
}

/// A shaken lattice in the corner of two walls, periodic in y, with lists and densities made.
fn shaken<R: Precision>(jitter: f64, boundary: &Boundary) -> Flow<R> {
    let n = 8;
    let domain = Domain { min: DVec3::ZERO, max: DVec3::splat(f64::from(n) * D), periodic: [false, true, false] };
    let mut flow = Flow::new(Settings::sand(D, domain));
    let mut rng = Random::new(5, 2);
    let mut matter = Vec::new();
    for k in 0..n * n * n {
        let site = DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n)) + DVec3::splat(0.5);
        let shake = DVec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        matter.push(NewMatter {
            position: D * (site + jitter * shake),
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            radius: 0.5 * D,
            mass: None,
            material: 0,
            shape: 0,
        });
    }
    flow.add(&matter, &[], boundary).unwrap();
    flow.take_walls(boundary, 1e-3, 0.0);
    flow.neighbours(boundary).unwrap();
    flow.density(boundary).unwrap();
    flow.next.resize(flow.particles.len(), DVec3::ZERO);
    flow
}

/// tr L and dev L of the velocities in the records of speed, walls included.
fn rates<R: Precision>(flow: &Flow<R>) -> Vec<(f64, Sym)> {
    let p = &flow.particles;
    let mut all = Vec::new();
    for (b, lists) in flow.lists.blocks.iter().enumerate() {
        let count = BLOCK.min(p.len() - b * BLOCK);
        let mut sums = vec![[R::of(0.0); 8]; count];
        flow.passes.gradient(&flow.weighting, &p.offset, &p.speed, b * BLOCK, lists, &mut sums);
        for (k, sum) in sums.into_iter().enumerate() {
            let mut sum: Sym = std::array::from_fn(|c| sum[c].into());
            let v = DVec3::from_array([0, 1, 2].map(|c| p.speed[b * BLOCK + k][c].into()));
            for contact in flow.contacts[b].of(k) {
                let (x, g) = (-v, contact.gradient);
                let product = [
                    x.x * g.x,
                    x.y * g.y,
                    x.z * g.z,
                    0.5 * (x.x * g.y + x.y * g.x),
                    0.5 * (x.x * g.z + x.z * g.x),
                    0.5 * (x.y * g.z + x.z * g.y),
                ];
                (0..6).for_each(|c| sum[c] += product[c]);
            }
            all.push((sum[0] + sum[1] + sum[2], deviator(&sum)));
        }
    }
    all
}

fn double_dot(a: &Sym, b: &Sym) -> f64 {
    (0..6).map(|k| a[k] * b[k] * if k < 3 { 1.0 } else { 2.0 }).sum()
}

#[test]
fn acceleration_is_minus_the_adjoint_of_density_rate_and_strain_rate() {
    let boundary = floor_and_side();
    let mut flow = shaken::<f64>(0.2, &boundary);
    let mut rng = Random::new(9, 1);
    let n = flow.particles.len();
    for i in 0..n {
        let s = deviator(&std::array::from_fn(|_| rng.range(-1e3, 1e3)));
        flow.particles.stress[i] = [rng.range(0.0, 2e3), s[0], s[1], s[2], s[3], s[4], s[5], 0.0];
    }
    flow.laws[0].cohesion = 1e9; // Keeps the random stress within the cone.
    flow.start_iterations();
    let v: Vec<DVec3> = (0..n).map(|_| rng.in_ball()).collect();
    flow.accelerate(1.0);
    let power: f64 = (0..n).map(|i| flow.mass * v[i].dot(flow.next[i])).sum();
    for i in 0..n {
        flow.particles.speed[i] = [v[i].x, v[i].y, v[i].z, 0.0];
    }
    let rates = rates(&flow);
    let (mut expected, mut size) = (0.0, 0.0);
    for i in 0..n {
        let (stress, density) = (&flow.particles.stress[i], flow.particles.local[i].density);
        let (trace, rate) = &rates[i];
        // ρ̇ = −tr L, D = dev L/ρ.
        let of_p = flow.mass * stress[0] / (density * density) * trace;
        let of_s = flow.mass / (density * density) * double_dot(&deviatoric(stress), rate);
        expected += of_p + of_s;
        size += of_p.abs() + of_s.abs();
    }
    assert!((power - expected).abs() < 1e-12 * size, "{power} against {expected}");
}

#[test]
fn a_linear_field_has_its_gradient_to_two_per_cent_inside() {
    let boundary = floor_and_side();
    let mut flow = shaken::<f32>(0.0, &boundary);
    let n = flow.particles.len();
    for i in 0..n {
        let x = flow.particles.position(i);
        flow.particles.speed[i] = [(2.0 * x.z) as f32, 0.0, (-3.0 * x.z) as f32, 0.0];
    }
    let rates = rates(&flow);
    let mut seen = 0;
    for i in 0..n {
        let x = flow.particles.position(i);
        if x.x.min(x.z) < 3.0 * D || x.x.max(x.z) > 5.0 * D {
            continue;
        }
        let density = f64::from(flow.particles.local[i].density);
        let (trace, rate) = rates[i];
        assert!((trace / density / -3.0 - 1.0).abs() < 0.025, "divergence {}", trace / density);
        assert!((rate[4] / density - 1.0).abs() < 0.025, "shear {}", rate[4] / density);
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn the_relaxation_is_below_the_stability_limit_of_shaken_lattices() {
    // Power iteration on the scaled problem of pressure and friction in one sweep, unconstrained.
    let boundary = floor_and_side();
    for jitter in [0.0, 0.1, 0.3] {
        let mut flow = shaken::<f64>(jitter, &boundary);
        flow.laws[0].cohesion = 1e12;
        let n = flow.particles.len();
        let mut rng = Random::new(1, 1);
        for i in 0..n {
            let s = deviator(&std::array::from_fn(|_| rng.range(-1.0, 1.0)));
            flow.particles.stress[i] = [rng.range(-1.0, 1.0), s[0], s[1], s[2], s[3], s[4], s[5], 0.0];
        }
        let mut largest = 0.0;
        for _ in 0..60 {
            flow.particles.velocity.fill(DVec3::ZERO);
            for i in 0..n {
                let (stress, density) = (flow.particles.stress[i], flow.particles.local[i].density);
                let per = 1.0 / (density * density);
                for k in 0..6 {
                    flow.particles.sigma[i][k] = per * (stress[1 + k] + if k < 3 { stress[0] } else { 0.0 });
                }
            }
            flow.accelerate(1.0);
            let rates = rates(&flow);
            let (mut before, mut after) = (0.0, 0.0);
            for i in 0..n {
                let ratio = flow.particles.local[i].ratio;
                let (trace, rate) = &rates[i];
                let p = ratio * trace;
                let s: Sym = rate.map(|x| 3.0 * ratio * x);
                let old = flow.particles.stress[i];
                before += old[0] * old[0] + double_dot(&deviatoric(&old), &deviatoric(&old));
                after += p * p + double_dot(&s, &s);
                flow.particles.stress[i] = [p, s[0], s[1], s[2], s[3], s[4], s[5], 0.0];
            }
            largest = (after / before).sqrt();
            let scale = 1.0 / after.sqrt();
            flow.particles.stress.iter_mut().flatten().for_each(|x| *x *= scale);
        }
        assert!((4.0..2.0 / 0.2).contains(&largest), "jitter {jitter}: largest eigenvalue {largest}");
    }
}
