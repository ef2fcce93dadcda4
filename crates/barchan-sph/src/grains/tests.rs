use super::*;
use barchan_core::columns::{HASH_START, Saved};
use barchan_core::frame::UPSAMPLED;
use barchan_core::rng::Random;
use std::time::Instant;

/// Particle spacing of the tests [m].
const D: f64 = 0.02;
const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Particles on a lattice of half a spacing off the origin, moved at random by up to `jitter` spacings.
#[derive(Clone)]
struct Bed {
    id: Vec<u32>,
    position: Vec<DVec3>,
    velocity: Vec<DVec3>,
    volume: Vec<f64>,
    domain: Domain,
    /// Planes as point and normal, with velocities.
    planes: Vec<(DVec3, DVec3, DVec3)>,
}

impl Bed {
    fn new(counts: [usize; 3], jitter: f64) -> Bed {
        let mut rng = Random::new(9, 9);
        let n = counts.iter().product::<usize>();
        let at = |k: usize| {
            DVec3::new((k % counts[0]) as f64, (k / counts[0] % counts[1]) as f64, (k / counts[0] / counts[1]) as f64)
        };
        let mut shake = || jitter * DVec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        let max = D * DVec3::from(counts.map(|c| c as f64));
        Bed {
            id: (0..n as u32).collect(),
            position: (0..n).map(|k| D * (at(k) + 0.5 + shake())).collect(),
            velocity: vec![DVec3::ZERO; n],
            volume: vec![D * D * D; n],
            domain: Domain { min: DVec3::ZERO, max, periodic: [false; 3] },
            planes: Vec::new(),
        }
    }

    /// With a floor and four sides.
    fn in_a_box(mut self) -> Bed {
        let max = self.domain.max;
        for (point, normal) in [
            (DVec3::ZERO, DVec3::X),
            (DVec3::ZERO, DVec3::Y),
            (DVec3::ZERO, DVec3::Z),
            (max, DVec3::NEG_X),
            (max, DVec3::NEG_Y),
        ] {
            self.planes.push((point, normal, DVec3::ZERO));
        }
        self
    }

    fn walls(&self) -> impl Fn(DVec3, f64, &mut dyn FnMut(WallPoint)) + Sync + '_ {
        |x, reach, visit| {
            for &(point, normal, velocity) in &self.planes {
                let distance = (x - point).dot(normal);
                if distance < reach {
                    visit(WallPoint { distance, normal, velocity, friction: 0.4 });
                }
            }
        }
    }

    fn advance(&self, grains: &mut Upsampled, dt: f64) -> Moved {
        let walls = self.walls();
        let particles =
            Particles { id: &self.id, position: &self.position, velocity: &self.velocity, volume: &self.volume };
        let (spacing, domain, gravity) = (D, self.domain, G);
        grains.advance(
            dt,
            &Surroundings { particles, spacing, domain, gravity, air: None, walls: &walls, frame_share: 1.0 },
        )
    }

    fn grains(&self, per_particle: u16) -> Upsampled {
        let sizes = SizeDistribution::Uniform { min: 0.04 * D, max: 0.08 * D };
        let settings = GrainSettings { per_particle, sizes, ..GrainSettings::new(0.06 * D, 3) };
        let mut grains = Upsampled::new(settings).unwrap();
        self.advance(&mut grains, 0.0);
        grains
    }

    /// Moves the particles with their velocities.
    fn drift(&mut self, dt: f64) {
        for (x, v) in self.position.iter_mut().zip(&self.velocity) {
            *x = follow::wrap(*x + *v * dt, &self.domain);
        }
    }

    fn deepest(&self, grains: &Upsampled) -> f64 {
        let inside = |x: &DVec3, r: f32| {
            self.planes.iter().map(|p| (*x - p.0).dot(p.1) - f64::from(r)).fold(f64::INFINITY, f64::min)
        };
        grains.position.iter().zip(&grains.radius).map(|(x, &r)| inside(x, r)).fold(f64::INFINITY, f64::min)
    }
}

/// Spread of the counts in cubes of side d within `low..high` (in cubes) over their mean.
fn unevenness(grains: &Upsampled, low: [usize; 3], high: [usize; 3]) -> f64 {
    let size: [usize; 3] = std::array::from_fn(|k| high[k] - low[k]);
    let mut counts = vec![0f64; size.iter().product()];
    for x in &grains.position {
        let at = (*x / D).floor();
        let c: [f64; 3] = std::array::from_fn(|k| at[k] - low[k] as f64);
        if (0..3).all(|k| c[k] >= 0.0 && c[k] < size[k] as f64) {
            counts[(c[2] as usize * size[1] + c[1] as usize) * size[0] + c[0] as usize] += 1.0;
        }
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    (counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / counts.len() as f64).sqrt() / mean
}

#[test]
fn a_fill_has_its_number_of_grains_evenly_and_none_in_walls() {
    let bed = Bed::new([8, 8, 6], 0.05).in_a_box();
    let grains = bed.grains(64);
    assert!(bed.deepest(&grains) >= 0.0);
    // The outermost grains do not fit beside the walls, and the surface is where half of the kernel is full.
    let share = grains.len() as f64 / (8 * 8 * 6 * 64) as f64;
    assert!(share > 0.9 && share <= 1.0, "{share}");
    let spread = unevenness(&grains, [1, 1, 1], [7, 7, 5]);
    assert!(spread < 0.1, "{spread}");
}

#[test]
fn beside_walls_and_in_corners_the_place_is_as_full_as_elsewhere() {
    let bed = Bed::new([8, 8, 8], 0.1).in_a_box();
    let walls = bed.walls();
    let particles = Particles { id: &bed.id, position: &bed.position, velocity: &bed.velocity, volume: &bed.volume };
    let carrier = Carrier::new(&particles, &bed.domain, D, &walls, Some(Nodes::default()), Isa::detect());
    let mut rng = Random::new(5, 5);
    let mut least = [1f32; 4];
    for _ in 0..20_000 {
        let near = |r: f64| if r < 0.5 { 0.04 + r } else { 7.96 - (r - 0.5) };
        let depth = [near(rng.uniform()), near(rng.uniform()), rng.range(0.04, 0.5)];
        let walls = rng.index(4);
        let middle = |k: usize, on: bool| if on { depth[k] } else { 2.0 + 4.0 * depth[k] / 8.0 };
        let x = D * DVec3::new(middle(0, walls > 1), middle(1, walls > 2), middle(2, walls > 0));
        let x = if walls == 0 { x + D * 2.0 * DVec3::Z } else { x };
        least[walls] = least[walls].min(carrier.at(x).unwrap().filling);
    }
    assert!(least.iter().all(|&f| f > 0.6), "{least:?}");
}

#[test]
fn a_resting_bed_does_not_sink_and_nothing_pops() {
    let mut bed = Bed::new([6, 6, 5], 0.05).in_a_box();
    let rest = bed.position.clone();
    let mut grains = bed.grains(24);
    let start = grains.position.clone();
    let (dt, omega) = (1.0 / 60.0, 9.0);
    // Particles tremble at an rms speed of 10⁻³ √(g d), as a solver at its tolerance leaves them.
    let speed = 1e-3 * (9.81 * D).sqrt() * 2f64.sqrt();
    for frame in 0..1800 {
        let before = grains.position.clone();
        for k in 0..rest.len() {
            let direction = Random::new(1, k as u64).direction();
            let phase = omega * dt * f64::from(frame) + k as f64;
            bed.position[k] = rest[k] + direction * speed / omega * phase.sin();
            bed.velocity[k] = direction * speed * phase.cos();
        }
        bed.advance(&mut grains, dt);
        let jump = before.iter().zip(&grains.position).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(jump < 0.05 * D, "frame {frame}: {} d", jump / D);
    }
    let sunk: Vec<f64> = start.iter().zip(&grains.position).map(|(a, b)| (a.z - b.z) / D).collect();
    let mean = sunk.iter().sum::<f64>() / sunk.len() as f64;
    let most = sunk.iter().fold(0f64, |m, s| m.max(*s));
    assert!(mean.abs() < 0.01 && most < 0.25, "mean {mean} d, most {most} d");
    assert!(bed.deepest(&grains) >= -1e-12);
}

#[test]
fn grains_of_a_sheared_flow_stay_even_and_outside_walls() {
    let mut bed = Bed::new([8, 8, 8], 0.1);
    bed.domain.periodic = [true, true, false];
    let rate = 2.0;
    let top = bed.domain.max;
    bed.planes = vec![(DVec3::ZERO, DVec3::Z, DVec3::ZERO), (top, DVec3::NEG_Z, rate * top.z * DVec3::X)];
    let mut grains = bed.grains(64);
    let dt = 1.0 / 60.0;
    // A strain of 10.
    for _ in 0..300 {
        // Layers slide as a whole: what a solver does to keep the density, and no particle runs into the next of its row.
        for (v, x) in bed.velocity.iter_mut().zip(&bed.position) {
            *v = rate * D * ((x.z / D).floor() + 0.5) * DVec3::X;
        }
        bed.drift(dt);
        bed.advance(&mut grains, dt);
    }
    let spread = unevenness(&grains, [0, 0, 0], [8, 8, 8]);
    assert!(spread < 0.3, "{spread}");
    assert!(bed.deepest(&grains) >= -1e-12);
    let far = |x: &DVec3, owner: u32| {
        let mut d = *x - bed.position[owner as usize];
        for k in 0..2 {
            d[k] -= top[k] * (d[k] / top[k]).round();
        }
        d.length()
    };
    let owners = grains.owner.iter().zip(&grains.count).flat_map(|(&o, &c)| std::iter::repeat_n(o, c as usize));
    let farthest = grains.position.iter().zip(owners).map(|(x, o)| far(x, o)).fold(0.0, f64::max);
    assert!(farthest < 1.7 * D, "{} d", farthest / D);
}

#[test]
fn free_flight_is_a_parabola() {
    let mut bed = Bed::new([3, 3, 3], 0.0);
    let v0 = DVec3::new(1.0, -0.5, 2.0);
    bed.velocity.fill(v0);
    let mut grains = bed.grains(8);
    let start = grains.position.clone();
    // The particles leave; the grains go on alone.
    bed.position.iter_mut().for_each(|x| x.y += 100.0);
    let (dt, n) = (1e-3, 200);
    for _ in 0..n {
        bed.advance(&mut grains, dt);
    }
    let n = f64::from(n);
    for (x, x0) in grains.position.iter().zip(&start) {
        // Symplectic Euler: the parabola, and g dt/2 a step beside it.
        let exact = *x0 + v0 * (n * dt) + 0.5 * G * (n * dt * (n + 1.0) * dt);
        assert!(x.distance(exact) < 1e-5, "{x} {exact}");
    }
}

#[test]
fn a_free_grain_does_not_stick_to_a_side_wall() {
    let mut bed = Bed::new([3, 3, 3], 0.0).in_a_box();
    let mut grains = bed.grains(32);
    bed.planes.retain(|p| p.1 != DVec3::Z);
    bed.position.iter_mut().for_each(|x| x.y += 100.0);
    for _ in 0..100 {
        bed.advance(&mut grains, 1e-3);
    }
    assert!(grains.velocity.iter().all(|v| (v.z + 0.981).abs() < 1e-3));
}

#[test]
fn the_grid_agrees_with_the_direct_sum() {
    let mut bed = Bed::new([12, 12, 8], 0.1);
    let mut rng = Random::new(8, 1);
    for (v, x) in bed.velocity.iter_mut().zip(&bed.position) {
        let p = *x / D * 0.6;
        // A flow that changes over some five spacings, and a tenth of noise; nowhere at rest, where no error is small beside the speed.
        *v = DVec3::new(2.0 + p.y.sin(), 0.5 * (p.z + p.x).cos(), 0.8 * p.x.sin() * p.y.cos()) + 0.1 * rng.direction();
    }
    let none = |_: DVec3, _: f64, _: &mut dyn FnMut(WallPoint)| {};
    let particles = Particles { id: &bed.id, position: &bed.position, velocity: &bed.velocity, volume: &bed.volume };
    for periodic in [[false; 3], [true, true, false]] {
        let domain = Domain { periodic, ..bed.domain };
        let carrier = Carrier::new(&particles, &domain, D, &none, Some(Nodes::default()), Isa::detect());
        let (mut worst, mut filling) = (0f64, 0f64);
        for _ in 0..5_000 {
            let x = bed.domain.max * DVec3::new(rng.uniform(), rng.uniform(), rng.range(0.0, 1.05));
            let (grid, direct) = (carrier.at(x).unwrap(), carrier.direct(x, &none).unwrap());
            let found = grid.momentum / grid.weight;
            let exact = direct.momentum / direct.weight;
            // Where grains fly nobody asks.
            if direct.filling < 0.2 {
                continue;
            }
            let error = f64::from(found.distance(exact) / exact.length());
            worst = worst.max(error);
            filling = filling.max(f64::from((grid.filling - direct.filling).abs()));
        }
        assert!(worst < 0.05, "{worst}");
        // Interpolation errs by cell²/8 times the curvature of the kernel's integral, 1.04/d²: 0.033 for each of three faces.
        assert!(filling < 0.1, "{filling}");
    }
}

#[test]
fn particles_across_a_periodic_side_carry_as_those_beside() {
    // A short side: three spacings and a half, which no brick divides.
    let mut bed = Bed::new([7, 6, 6], 0.0);
    bed.position.iter_mut().for_each(|x| x.x *= 0.5);
    bed.domain.max.x = 3.5 * D;
    bed.domain.periodic = [true, false, false];
    for (v, x) in bed.velocity.iter_mut().zip(&bed.position) {
        v.y = (std::f64::consts::TAU * x.x / (3.5 * D)).cos();
    }
    let none = |_: DVec3, _: f64, _: &mut dyn FnMut(WallPoint)| {};
    let particles = Particles { id: &bed.id, position: &bed.position, velocity: &bed.velocity, volume: &bed.volume };
    let carrier = Carrier::new(&particles, &bed.domain, D, &none, Some(Nodes::default()), Isa::detect());
    for k in 0..70 {
        let at = |x: f64| carrier.at(DVec3::new(x, 3.0 * D, 3.0 * D)).unwrap();
        // Mirror images about the side, where the lattice and the field are symmetric.
        let x = 0.025 * D * f64::from(k);
        let (a, b) = (at(x), at(3.5 * D - x));
        assert!((a.momentum.y / a.weight - b.momentum.y / b.weight).abs() < 1e-4, "{k}");
        assert!((a.filling - b.filling).abs() < 1e-4, "{k}: {} {}", a.filling, b.filling);
    }
}

/// A bed that falls into a corner of its box: particles given, some of them leaving on the way.
fn fall(grains: &mut Upsampled, bed: &mut Bed, from: u32, to: u32) {
    let dt = 1.0 / 120.0;
    for frame in from..to {
        let t = f64::from(frame) * dt;
        for (v, x) in bed.velocity.iter_mut().zip(&bed.position) {
            *v = DVec3::new(-0.5, 0.3 * (t * 20.0).sin(), -1.0 + x.z);
        }
        bed.drift(dt);
        for x in &mut bed.position {
            *x = x.max(DVec3::new(0.4, 0.4, 0.4) * D);
        }
        if frame == 5 {
            bed.id.truncate(100);
            bed.position.truncate(100);
            bed.velocity.truncate(100);
            bed.volume.truncate(100);
        }
        if frame == 8 {
            bed.id.reverse();
            bed.position.reverse();
        }
        bed.advance(grains, dt);
    }
}

#[test]
fn threads_do_not_change_the_bits_and_a_resumed_run_goes_on() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut bed = Bed::new([6, 6, 5], 0.1).in_a_box();
            let mut grains = bed.grains(16);
            fall(&mut grains, &mut bed, 0, 12);
            let saved = grains.save();
            let mut resumed = Upsampled::new(grains.settings.clone()).unwrap();
            resumed.load(Saved(&|name| saved.iter().find(|c| c.0 == name).map(|c| c.1.clone()))).unwrap();
            let mut twin = bed.clone();
            fall(&mut grains, &mut bed, 12, 20);
            fall(&mut resumed, &mut twin, 12, 20);
            assert_eq!(grains.hash(HASH_START), resumed.hash(HASH_START));
            assert!(bed.deepest(&grains) >= -1e-12, "{}", bed.deepest(&grains));
            grains.hash(HASH_START)
        })
    };
    let one = run(1);
    assert!([2, 3].into_iter().all(|n| run(n) == one));
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let run = |isa: Isa| {
        let mut bed = Bed::new([6, 6, 5], 0.1).in_a_box();
        let mut grains = bed.grains(16);
        grains.isa = isa;
        fall(&mut grains, &mut bed, 0, 12);
        grains.hash(HASH_START)
    };
    let plain = run(Isa::Plain);
    assert!(Isa::available().into_iter().all(|isa| run(isa) == plain));
}

#[test]
fn grains_leave_with_their_particles_and_are_published() {
    let mut bed = Bed::new([6, 6, 5], 0.0);
    let mut grains = bed.grains(16);
    let before = grains.publish();
    bed.id.remove(7);
    bed.position.remove(7);
    bed.velocity.remove(7);
    bed.volume.remove(7);
    let moved = bed.advance(&mut grains, 0.0);
    let after = grains.publish();
    assert_eq!(after.name, UPSAMPLED);
    assert_eq!((moved.removed, moved.born), (before.len() - after.len(), 0));
    assert!(moved.removed > 8 && moved.removed <= 16);
    // Those that stay are the same grains where they were.
    for row in 0..after.len() {
        let old = before.id.iter().position(|&id| id == after.id[row]).unwrap();
        assert_eq!((before.position[old], before.radius[old]), (after.position[row], after.radius[row]));
    }
    let owner = after.extra("owner").unwrap();
    assert!((0..after.len()).all(|row| owner.values.number(row) != 7.0));
    assert!(after.radius.iter().all(|r| (0.04 * D..=0.0801 * D).contains(r)));
}

#[test]
fn ihmsen_s_rule_sinks_a_resting_bed() {
    // Why it is not the default.
    let bed = Bed::new([4, 4, 4], 0.0).in_a_box();
    let mut settings = bed.grains(1).settings;
    (settings.rule, settings.per_particle) = (Rule::Ihmsen, 16);
    let mut grains = Upsampled::new(settings).unwrap();
    bed.advance(&mut grains, 0.0);
    let start = grains.position.clone();
    for _ in 0..20 {
        bed.advance(&mut grains, 1.0 / 60.0);
    }
    let sunk = start.iter().zip(&grains.position).filter(|(a, b)| a.z - b.z > 0.1 * D).count();
    assert!(sunk > start.len() / 10, "{sunk} of {}", start.len());
}

#[test]
fn impossible_settings_are_named() {
    let settings = GrainSettings::new(0.0, 1);
    assert!(matches!(Upsampled::new(settings), Err(GrainError::Sizes(_))));
    let settings = GrainSettings { per_particle: 0, ..GrainSettings::new(1e-3, 1) };
    assert_eq!(Upsampled::new(settings).err(), Some(GrainError::Number(0)));
}

/// Not for `./test`: a figure for the documentation. Run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn grains_moved_in_a_second() {
    let mut bed = Bed::new([40, 40, 25], 0.1).in_a_box();
    let mut grains = bed.grains(64);
    for (v, x) in bed.velocity.iter_mut().zip(&bed.position) {
        *v = 0.1 * x.z * DVec3::X;
    }
    for round in 0..3 {
        let start = Instant::now();
        let moved: usize = (0..4).map(|_| bed.advance(&mut grains, 1e-3).moved).sum();
        let rate = moved as f64 / start.elapsed().as_secs_f64();
        println!("round {round}: {} grains, {:.1} M/s", grains.len(), rate / 1e6);
    }
}
