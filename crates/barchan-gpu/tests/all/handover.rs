//! A run goes on on the other device; a device is lost; what steps cost.

use crate::grains::{HERTZ, R, World, crowd, glass, grain, settings};
use crate::open;
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns, Saved};
use barchan_core::frame::{Frame, Population};
use barchan_core::solver::Solver;
use barchan_core::walls::{Geometry, Roughness, Side, Wall};
use barchan_dem::{Dem, Settings};
use barchan_gpu::{Cap, Cost, Gpu, GpuDem, GpuDemError, GpuError};
use glam::DVec3;

/// A solver of either device with its boundary.
struct Any {
    solver: Box<dyn Solver>,
    boundary: Boundary,
    steps: u64,
    dt: f64,
}

impl Any {
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            let interval = Interval { step: self.steps, dt: self.dt };
            self.boundary.advance(interval.end(), interval.dt);
            self.steps += 1;
            self.solver.step(&interval, &mut self.boundary).unwrap();
            self.solver.settle(&interval, &mut self.boundary).unwrap();
        }
    }

    fn taken_up(s: &Settings, from: &Any, columns: &Columns, on_card: bool) -> Any {
        let boundary = from.boundary.clone();
        let mut solver: Box<dyn Solver> = match on_card {
            true => Box::new(GpuDem::new(open(None).unwrap(), s.clone(), &boundary).unwrap()),
            false => Box::new(Dem::new(s.clone(), &boundary)),
        };
        let find = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
        solver.load(Saved(&find), &boundary).unwrap();
        Any { solver, boundary, steps: from.steps, dt: from.dt }
    }

    fn seen(&self) -> Population {
        let mut frame = Frame::default();
        self.solver.publish(&mut frame);
        frame.populations.remove(0)
    }
}

fn apart(a: &Population, b: &Population) -> f64 {
    let place = |p: &Population, id: u32| p.position[p.id.iter().position(|i| *i == id).unwrap()];
    a.id.iter().map(|&id| place(a, id).distance(place(b, id))).fold(0.0, f64::max)
}

/// A crowd on a rough floor: what it remembers of pairs, faces and bumps goes from card to processor and back.
#[test]
fn a_run_goes_on_on_the_other_device() {
    let (s, mut walls, grains) = crowd(216);
    let sides = [s.domain.min, s.domain.max];
    let floor = Wall::new("floor", Geometry::Plane { point: DVec3::Z * -0.9 * R, normal: DVec3::Z }, 0);
    walls.push(floor.roughened(Roughness { radius: R, spacing: 2.5 * R }, sides, [false; 3]));
    let Some(World { dem, boundary, .. }) = World::new(&s, &walls, &grains) else { return };
    let dt = s.dt;
    let mut card = Any { solver: Box::new(dem), boundary, steps: 0, dt };
    card.run(400);
    let saved = card.solver.save();
    let mut cpu = Any::taken_up(&s, &card, &saved, false);
    assert!(apart(&card.seen(), &cpu.seen()) < 1e-11, "places are rounded to quanta");
    let mut again = Any::taken_up(&s, &card, &cpu.solver.save(), true);
    assert!(apart(&card.seen(), &again.seen()) < 2e-11);
    let before = [&card, &cpu, &again].map(|a| a.solver.totals().energies.elastic);
    card.run(150);
    cpu.run(150);
    again.run(150);
    let touching = card.solver.totals().gauges[0].value;
    println!(
        "{:.1e} and {:.1e} m apart, coordination {touching:.2}, {before:?}",
        apart(&card.seen(), &cpu.seen()),
        apart(&card.seen(), &again.seen())
    );
    assert!(touching > 0.25);
    // A memory that was lost would show: friction alone moves a grain by micrometres in this time.
    assert!(apart(&card.seen(), &cpu.seen()) < 1e-6 * R);
    assert!(apart(&card.seen(), &again.seen()) < 1e-6 * R);
}

#[test]
fn a_device_that_is_lost_says_so_and_its_checkpoint_goes_on_on_the_processor() {
    let (s, walls, grains) = crowd(64);
    let Some(mut world) = World::new(&s, &walls, &grains) else { return };
    world.run(20);
    let saved = world.dem.save();
    world.dem.lose_device();
    let lost = (0..3).find_map(|_| world.step().and_then(|()| world.settle()).err());
    let error = lost.expect("a device that is gone does not step");
    assert!(matches!(error.find(), Some(GpuDemError::Device(GpuError::Lost(_)))), "{error}");
    assert!(error.to_string().contains("lost"), "{error}");
    let mut cpu = Dem::new(s.clone(), &world.boundary);
    let find = |name: &str| saved.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    Solver::load(&mut cpu, Saved(&find), &world.boundary).unwrap();
    assert_eq!(cpu.counts().pieces, 64);
}

#[test]
fn a_grain_that_is_not_finite_is_named() {
    let s = settings(glass(), HERTZ);
    // So light that what pushes it apart is beyond all numbers.
    let light = |x: f64| barchan_core::solver::NewMatter { mass: Some(1e-36), ..grain(DVec3::X * x, DVec3::ZERO, R) };
    let Some(mut world) = World::new(&s, &[], &[light(0.0), light(1.9 * R)]) else { return };
    let error = (0..3).find_map(|_| world.step().and_then(|()| world.settle()).err()).unwrap();
    let found = error.find::<GpuDemError>();
    assert!(matches!(found, Some(GpuDemError::NotFinite { id: 0, .. })), "{error}");
}

#[test]
fn a_scene_too_large_names_the_buffer_and_both_sizes() {
    let Some(gpu) = open(Some(Cap { binding: 1 << 16, groups: 64 })) else { return };
    let boundary = Boundary::default();
    let mut dem = GpuDem::new(gpu, settings(glass(), HERTZ), &boundary).unwrap();
    let grains: Vec<_> = (0..5000).map(|k| grain(DVec3::X * 0.003 * f64::from(k), DVec3::ZERO, R)).collect();
    let error = dem.add(&grains, &boundary).unwrap_err().to_string();
    assert!(error.contains("needs 300000 bytes") && error.contains("65536"), "{error}");
    assert!(matches!(Gpu::numbered(99), Err(GpuError::NoAdapter(_))));
}

/// Launches and bytes by the code's own count, held against the buffers that are bound.
#[test]
fn a_step_costs_what_is_counted() {
    let mut s = settings(glass(), HERTZ);
    s.gravity = DVec3::ZERO;
    let side = 10;
    let place = |k: i32| DVec3::new(f64::from(k % side), f64::from(k / side % side), f64::from(k / side / side));
    let grains: Vec<_> = (0..side.pow(3)).map(|k| grain(place(k) * 1.9999 * R, DVec3::ZERO, R)).collect();
    let walls = vec![Wall::new("ball", Geometry::Sphere { centre: DVec3::ONE, radius: 0.1, side: Side::Outside }, 0)];
    let Some(mut world) = World::new(&s, &walls, &grains) else { return };
    world.run(2);
    let cost = world.dem.cost().unwrap();
    // Six touch in a cubic lattice, but for its faces; the next are 1.4 diameters away.
    assert!((cost.touching - 5.4).abs() < 1e-9 && (cost.near - 5.4).abs() < 1e-9, "{cost:?}");
    let counted = Cost::of(cost.near, cost.touching, 0.0, 1);
    assert!((cost.bytes_per_step - counted).abs() < 1e-9, "{cost:?} and {counted}");
    // Of a packing: 4.9 touch and 7 are near.
    let packed = Cost::of(7.0, 4.9, 0.0, 1);
    println!("{packed} bytes a grain and step, {:.0} bytes a grain; {cost:?}", cost.bytes_per_grain);
    assert!(packed <= 320.0, "{packed}");
    assert!(cost.launches_per_step <= 4.0);
    assert!(cost.bytes_per_grain < 480.0, "{cost:?}");
}
