//! Grains on a device: closed forms, conservation, and the processor's solver beside it.

use crate::open;
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns, HASH_START, Saved};
use barchan_core::contact::{ContactLaw, NormalLaw, TangentialLaw};
use barchan_core::frame::{Frame, Population};
use barchan_core::materials::{Material, Materials};
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::{Contact, Domain, NewMatter, Partner, Solver, SolverError};
use barchan_core::walls::{Geometry, Keyframe, Side, Wall};
use barchan_dem::{Alone, Integrator, Precision, Settings};
use barchan_gpu::{Cap, GpuDem, GpuDemError};
use glam::{DQuat, DVec3};

pub const HERTZ: ContactLaw = ContactLaw {
    normal: NormalLaw::Hertz,
    tangential: TangentialLaw::Mindlin,
    cap: barchan_core::contact::Cap::Shared,
    ..ContactLaw::HERTZ_MINDLIN
};
pub const R: f64 = 1e-3;
const G: f64 = 9.81;

pub fn glass() -> Material {
    Material {
        name: "glass".into(),
        density: 2500.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.6,
        friction: 0.5,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    }
}

pub fn settings(material: Material, law: ContactLaw) -> Settings {
    Settings {
        gravity: DVec3::ZERO,
        domain: Domain { min: DVec3::splat(-20.0), max: DVec3::splat(20.0), periodic: [false; 3] },
        law,
        materials: Materials { list: vec![material], overrides: vec![] },
        shapes: vec![Shape::sphere()].into(),
        borne: vec![],
        bridges: None,
        cell: None,
        dt: 2e-6,
        dt_reason: String::new(),
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        max_overlap: 0.5,
        sleep: None,
    }
}

pub fn grain(position: DVec3, velocity: DVec3, radius: f64) -> NewMatter {
    let orientation = DQuat::IDENTITY;
    NewMatter { position, velocity, spin: DVec3::ZERO, orientation, radius, mass: None, material: 0, shape: 0 }
}

/// A solver on a device, with a boundary and a clock.
pub struct World {
    pub dem: GpuDem,
    pub boundary: Boundary,
    pub steps: u64,
    dt: f64,
}

impl World {
    pub fn new(settings: &Settings, walls: &[Wall], grains: &[NewMatter]) -> Option<World> {
        World::capped(settings, walls, grains, None)
    }

    fn capped(settings: &Settings, walls: &[Wall], grains: &[NewMatter], cap: Option<Cap>) -> Option<World> {
        let boundary = Boundary::new(Fixtures { walls: walls.to_vec(), carried: vec![] }, vec![], settings.gravity);
        let mut dem = GpuDem::new(open(cap)?, settings.clone(), &boundary).unwrap();
        dem.add(grains, &boundary).unwrap();
        Some(World { dem, boundary, steps: 0, dt: settings.dt })
    }

    pub fn step(&mut self) -> Result<(), SolverError> {
        let interval = Interval { step: self.steps, dt: self.dt };
        self.boundary.advance(interval.end(), interval.dt);
        self.steps += 1;
        self.dem.step(&interval, &mut self.boundary)
    }

    /// Steps, the last of which is looked at.
    pub fn run(&mut self, steps: u64) {
        (0..steps).for_each(|_| self.step().unwrap());
        self.settle().unwrap();
    }

    pub fn settle(&mut self) -> Result<(), SolverError> {
        self.dem.settle(&Interval { step: self.steps - 1, dt: self.dt }, &mut self.boundary)
    }

    pub fn time(&self) -> f64 {
        self.steps as f64 * self.dt
    }

    pub fn seen(&self) -> Population {
        let mut frame = Frame::default();
        self.dem.publish(&mut frame);
        frame.populations.remove(0)
    }

    pub fn hash(&self) -> u64 {
        self.dem.hash(HASH_START)
    }
}

fn floor(normal: DVec3) -> Wall {
    Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal }, 0)
}

fn rel(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

/// A thousand grains of all speeds: their velocities keep every bit, and they are where v t says.
#[test]
fn free_flight_is_exact() {
    let mut rng = Random::new(1, 0);
    let grains: Vec<NewMatter> =
        (0..1000).map(|k| grain(DVec3::X * 0.01 * f64::from(k) + DVec3::Y * rng.uniform(), rng.in_ball(), R)).collect();
    let Some(mut world) = World::new(&settings(glass(), HERTZ), &[], &grains) else { return };
    let before = world.seen();
    let momentum = world.dem.totals().momentum;
    world.run(500);
    let after = world.seen();
    assert_eq!(before.velocity, after.velocity);
    assert_eq!(momentum, world.dem.totals().momentum);
    for (g, x) in grains.iter().zip(after.position.iter()) {
        let want = g.position + g.velocity * world.time();
        // The velocity is kept to 2⁻³² quanta a step, the place to one quantum of 9 pm.
        assert!(x.distance(want) < 2e-11, "{x} for {want}");
    }
}

#[test]
fn a_grain_falls_as_it_should_ten_metres_from_the_origin() {
    let s = Settings { gravity: DVec3::new(1.0, 2.0, -G), ..settings(glass(), HERTZ) };
    let start = DVec3::new(10.0, -10.0, 10.0);
    let v = DVec3::new(0.3, 0.0, 0.1);
    let Some(mut world) = World::new(&s, &[], &[grain(start, v, R)]) else { return };
    world.run(1000);
    let t = world.time();
    let (x, want) = (world.seen().position[0], start + v * t + 0.5 * s.gravity * t * t);
    assert!(x.distance(want) < 1e-11, "{x} for {want}");
    let velocity = world.seen().velocity[0];
    assert!(velocity.distance(v + s.gravity * t) < 1e-9, "{velocity}");
}

/// Restitution is what was asked for, on planes of any tilt and however far away, and the processor finds the same.
#[test]
fn one_bounce_has_its_restitution() {
    for normal in [DVec3::Z, DVec3::new(0.36, -0.48, 0.8)] {
        for off in [DVec3::ZERO, DVec3::new(3.0, 1.0, 0.0)] {
            let s = settings(Material { friction: 0.0, ..glass() }, HERTZ);
            let along = (off - normal * off.dot(normal)) + normal * (1.001 * R);
            let g = grain(along, -0.5 * normal, R);
            let walls = [floor(normal)];
            let Some(mut world) = World::new(&s, &walls, &[g]) else { return };
            let mut cpu = Alone::new(s.clone(), Fixtures { walls: walls.to_vec(), carried: vec![] });
            cpu.add(&[g]).unwrap();
            let mut peak = 0f64;
            for _ in 0..600 {
                world.step().unwrap();
                cpu.step().unwrap();
                peak = peak.max(world.dem.totals().energies.elastic);
            }
            let v = world.seen().velocity[0].dot(normal);
            assert!(rel(v, 0.5 * 0.6) < 2e-3, "{normal} at {off}: rebounds at {v}");
            assert!(rel(v, cpu.population().velocity[0].dot(normal)) < 1e-4, "{v}");
            assert!(peak > 0.0);
        }
    }
}

/// Without dissipation an impact of two grains gives back its energy, and the momentum does not change by a bit's worth.
#[test]
fn an_elastic_impact_keeps_energy_and_momentum() {
    let s = settings(Material { restitution: 1.0, friction: 0.0, ..glass() }, HERTZ);
    let grains = [
        grain(DVec3::new(5.0, 5.0, 5.0), DVec3::new(0.4, 0.1, 0.0), R),
        grain(DVec3::new(5.00205, 5.0003, 5.0), DVec3::ZERO, 0.7 * R),
    ];
    let Some(mut world) = World::new(&s, &[], &grains) else { return };
    let before = world.dem.totals();
    world.run(800);
    let after = world.dem.totals();
    assert!(world.seen().velocity[1].length() > 0.1, "they have met");
    assert_eq!(after.energies.elastic, 0.0, "and parted");
    assert!(rel(after.energies.kinetic(), before.energies.kinetic()) < 1e-4, "{after:?} from {before:?}");
    let lost = (after.momentum - before.momentum).length() / before.momentum.length();
    assert!(lost < 1e-6, "{lost}");
}

/// A ball thrown without spin slides at μ g until it rolls at 5/7 of its speed.
#[test]
fn a_sliding_ball_comes_to_roll_at_five_sevenths() {
    let s = Settings { gravity: DVec3::NEG_Z * G, dt: 5e-6, ..settings(glass(), HERTZ) };
    let mass = 4.0 / 3.0 * std::f64::consts::PI * R.powi(3) * 2500.0;
    let young = 1e7 / (2.0 * (1.0 - 0.3 * 0.3));
    let rests = (mass * G / (4.0 / 3.0 * young * R.sqrt())).powf(2.0 / 3.0);
    let Some(mut world) = World::new(&s, &[floor(DVec3::Z)], &[grain(DVec3::Z * (R - rests), DVec3::X * 0.2, R)])
    else {
        return;
    };
    world.run(1600);
    let v = world.seen().velocity[0].x;
    assert!(rel(v, 0.2 - 0.5 * G * world.time()) < 3e-3, "slides at {v}");
    world.run(3000);
    let seen = world.seen();
    assert!(rel(seen.velocity[0].x, 0.2 * 5.0 / 7.0) < 3e-3, "rolls at {}", seen.velocity[0].x);
    assert!(rel(seen.spin[0].y * R, seen.velocity[0].x) < 3e-3, "turns at {}", seen.spin[0].y);
    let weight = world.boundary.states()[0].force.z;
    assert!(rel(weight, -mass * G) < 1e-3, "the floor bears {weight} N");
}

/// Grains of several sizes thrown together in a box.
pub fn crowd(n: usize) -> (Settings, Vec<Wall>, Vec<NewMatter>) {
    let material = Material { rolling: 0.05, twisting: 0.02, ..glass() };
    let s = Settings { gravity: DVec3::NEG_Z * G, ..settings(material, HERTZ) };
    let side = (n as f64).cbrt().ceil();
    let (low, high) = (DVec3::ZERO, DVec3::splat(side * 2.02 * R));
    let open = [false, false, false, false, false, true];
    let walls = vec![Wall::new("box", Geometry::Box { min: low, max: high, side: Side::Inside, open }, 0)];
    let mut rng = Random::new(9, 0);
    let place = |k: usize| {
        let (k, side) = (k as f64, side);
        DVec3::new(k % side, (k / side).floor() % side, (k / side / side).floor())
    };
    let grains = (0..n)
        .map(|k| {
            let r = R * rng.range(0.8, 1.0);
            let mut g = grain((place(k) + 0.5) * 2.02 * R + 0.005 * R * rng.in_ball(), 0.3 * rng.in_ball(), r);
            g.spin = 100.0 * rng.in_ball();
            g
        })
        .collect();
    (s, walls, grains)
}

/// Collisions tell apart what rounding made different, so they are compared while a grain has met few others.
#[test]
fn a_crowd_is_the_processors() {
    for friction in [0.5, 0.0] {
        let (mut s, walls, grains) = crowd(343);
        s.materials.list[0].friction = friction;
        let Some(mut world) = World::new(&s, &walls, &grains) else { return };
        let mut cpu = Alone::new(s.clone(), Fixtures { walls: walls.clone(), carried: vec![] });
        cpu.add(&grains).unwrap();
        for _ in 0..700 {
            world.step().unwrap();
            cpu.step().unwrap();
        }
        let (ours, theirs) = (world.seen(), cpu.population());
        let (mut apart, mut faster) = (0f64, 0f64);
        for (g, id) in ours.id.iter().enumerate() {
            let h = theirs.id.iter().position(|i| i == id).unwrap();
            apart = apart.max(ours.position[g].distance(theirs.position[h]));
            faster = faster.max(ours.velocity[g].distance(theirs.velocity[h]));
        }
        let (a, b) = (world.dem.totals(), Solver::totals(&*cpu));
        println!("apart {apart:.1e} m, {faster:.1e} m/s; {:?} and {:?}", a.energies, b.energies);
        assert!(b.gauges[0].value > 0.25, "every fourth touches another: they have met: {:?}", b.gauges);
        assert!(apart < 1e-7 * R && faster < 1e-6, "{apart} m, {faster} m/s");
        assert!(rel(a.energies.kinetic(), b.energies.kinetic()) < 1e-6);
        assert_eq!(a.gauges[0].value, b.gauges[0].value, "coordination");

        // Contacts, as observers see them.
        let key = |c: &Contact| (c.grain, format!("{:?}", c.partner));
        let both = |c: Contact| match c.partner {
            // The one with the lower id first, as on the device.
            Partner::Grain(j) if j < c.grain => Contact {
                grain: j,
                partner: Partner::Grain(c.grain),
                normal: -c.normal,
                tangential_force: -c.tangential_force,
                ..c
            },
            _ => c,
        };
        let mut found = world.dem.contacts();
        let mut want: Vec<Contact> = cpu.contacts().into_iter().map(both).collect();
        found.sort_by_key(key);
        want.sort_by_key(key);
        assert_eq!(found.len(), want.len());
        let most = want.iter().map(|c| c.normal_force).fold(0.0, f64::max);
        for (a, b) in found.iter().zip(&want) {
            assert_eq!(key(a), key(b));
            let off = (a.normal_force - b.normal_force).abs().max(a.tangential_force.distance(b.tangential_force));
            assert!(off < 1e-4 * most && a.normal.distance(b.normal) < 1e-5, "{a:?} and {b:?}");
        }
        // Asked for again, a sliding contact gives way to its cap once more and has lost a little of its spring: like is held against like.
        let elastic: f64 = found.iter().map(|c| c.elastic_energy).sum();
        assert!(rel(elastic, b.energies.elastic) < 1e-5, "{elastic} and {:?}", b.energies);
        assert!(friction > 0.0 || rel(a.energies.elastic, b.energies.elastic) < 1e-5, "{:?}", a.energies);
    }
}

fn resumed(s: &Settings, walls: &[Wall], from: &World, columns: &Columns) -> World {
    let mut world = World::new(s, walls, &[]).unwrap();
    let find = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    (world.boundary, world.steps) = (from.boundary.clone(), from.steps);
    world.dem.load(Saved(&find), &from.boundary).unwrap();
    world
}

/// The same bits in two runs, on a device with small limits, and after a checkpoint.
#[test]
fn a_run_has_one_hash() {
    let (s, walls, grains) = crowd(500);
    let Some(mut world) = World::new(&s, &walls, &grains) else { return };
    world.run(150);
    let mut again = World::capped(&s, &walls, &grains, Some(Cap { binding: 1 << 20, groups: 3 })).unwrap();
    again.run(150);
    assert_eq!(world.hash(), again.hash());
    // Steps one by one, and looked at after each, give the same bits as many a submission.
    let mut single = World::new(&s, &walls, &grains).unwrap();
    single.dem.set_batch(1);
    single.run(150);
    assert_eq!(world.hash(), single.hash());
    let mut resumed = resumed(&s, &walls, &world, &world.dem.save());
    assert_eq!(world.hash(), resumed.hash());
    world.run(150);
    resumed.run(150);
    assert_eq!(world.hash(), resumed.hash());
}

/// Half of a crowd leaves; the others keep ids and motion, and mass is accounted for.
#[test]
fn grains_leave_and_come() {
    let (s, walls, grains) = crowd(200);
    let Some(mut world) = World::new(&s, &walls, &grains) else { return };
    world.run(100);
    let (before, mass) = (world.seen(), world.dem.totals().mass);
    let gone = world.dem.remove_where(&|id, _| id % 2 == 0);
    assert_eq!(gone.len(), 100);
    let left: f64 = gone.iter().map(|g| g.mass).sum();
    assert!(rel(world.dem.totals().mass + left, mass) < 1e-12);
    let after = world.seen();
    for (row, id) in after.id.iter().enumerate() {
        assert_eq!(id % 2, 1);
        assert_eq!(after.position[row], before.position[*id as usize]);
    }
    world.run(50);
    // One three times as large: all places are counted in other quanta from then on.
    let places = world.seen().position;
    let first = world.dem.add(&[grain(DVec3::new(0.05, 0.05, 0.05), DVec3::ZERO, 3.0 * R)], &world.boundary).unwrap();
    assert_eq!(first, 200);
    for (x, y) in places.iter().zip(world.seen().position.iter()) {
        assert!(x.distance(*y) < 1e-13, "{x} and {y}");
    }
    world.run(50);
}

/// What kernels do not know is named; what goes wrong on the way has its grain and time.
#[test]
fn refusals_and_errors_are_named() {
    let s = settings(glass(), HERTZ);
    let tilting = Geometry::Box { min: -DVec3::ONE, max: DVec3::ONE, side: Side::Outside, open: [false; 6] };
    let mut wall = Wall::new("anvil", tilting, 0);
    wall.motion.keyframes = vec![Keyframe { time: 0.0, at: DVec3::ZERO, turn: DVec3::ZERO }];
    let boundary = Boundary::new(Fixtures { walls: vec![wall], carried: vec![] }, vec![], DVec3::ZERO);
    let Some(gpu) = open(None) else { return };
    let euler = Settings { integrator: Integrator::ForwardEuler, ..s.clone() };
    let error = GpuDem::new(gpu, euler, &boundary).err().unwrap().to_string();
    assert!(error.contains("forward Euler") && error.contains("the wall \"anvil\" is a box"), "{error}");

    let deep = [grain(DVec3::ZERO, DVec3::ZERO, R), grain(DVec3::X * 0.5 * R, DVec3::ZERO, R)];
    let mut world = World::new(&s, &[], &deep).unwrap();
    world.step().unwrap();
    let error = world.settle().unwrap_err();
    assert!(matches!(error.find(), Some(GpuDemError::Overlap { id: 0, .. })), "{error}");

    let fast = [grain(DVec3::ZERO, DVec3::X * 1e3, R)];
    let boundary = Boundary::default();
    let mut dem = GpuDem::new(open(None).unwrap(), s.clone(), &boundary).unwrap();
    let error = dem.add(&fast, &boundary).unwrap_err();
    assert!(matches!(error.find(), Some(GpuDemError::TooFast { id: 0, .. })), "{error}");
    let heavy = Settings { gravity: DVec3::X * 2e7, ..s.clone() };
    let mut world = World::new(&heavy, &[], &[grain(DVec3::ZERO, DVec3::X * 60.0, R)]).unwrap();
    world.step().unwrap();
    world.step().unwrap();
    world.step().unwrap();
    let error = world.settle().unwrap_err();
    assert!(matches!(error.find(), Some(GpuDemError::TooFast { id: 0, .. })), "{error}");
}

/// Touching grains ten metres from the origin, where single precision has steps of a micrometre: forces as of overlaps in double.
#[test]
fn overlaps_far_from_the_origin_are_those_of_double_precision() {
    let s = settings(Material { restitution: 1.0, friction: 0.0, ..glass() }, HERTZ);
    let mut rng = Random::new(4, 0);
    let mut grains = Vec::new();
    for k in 0..32 {
        let at = DVec3::new(10.0 + 0.01 * f64::from(k), 10.0, 10.0);
        let gap = 2.0 * R - rng.range(1e-8, 1e-6);
        grains.extend([grain(at, DVec3::ZERO, R), grain(at + gap * rng.direction(), DVec3::ZERO, R)]);
    }
    let Some(mut world) = World::new(&s, &[], &grains) else { return };
    world.run(1);
    let force = world.seen().extras[1].clone();
    let barchan_core::frame::Values::F32(force) = force.values else { panic!("{force:?}") };
    for (k, pair) in grains.chunks(2).enumerate() {
        let overlap = 2.0 * R - pair[0].position.distance(pair[1].position);
        let young = 1e7 / (2.0 * (1.0 - 0.09));
        let found = (f64::from(force[2 * k]) / (4.0 / 3.0 * young * (R / 2.0).sqrt())).powf(2.0 / 3.0);
        // Places are rounded to quanta of 9 pm on the way in, and in f64 to 2 fm.
        assert!((found - overlap).abs() < 1e-6 * overlap + 2e-11, "{found} for {overlap}");
    }
}
