//! The same bits on any number of threads, on every instruction set, and after a resume.

use crate::fill::Filling;
use crate::flow::Flow;
use crate::passes::Precision;
use crate::settings::{Air, Settings, WallFriction};
use crate::tests::operators::floor_and_side;
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{HASH_START, Saved};
use barchan_core::materials::{Material, Materials};
use barchan_core::simd::Isa;
use barchan_core::solver::Domain;
use glam::DVec3;

const D: f64 = 0.02;

/// A column in a corner that collapses through air, with Coulomb friction at the walls.
fn column<R: Precision>() -> (Flow<R>, Boundary) {
    let domain = Domain { min: DVec3::splat(-D), max: DVec3::new(1.0, 8.0 * D, 1.0), periodic: [false, true, false] };
    let mut settings = Settings::sand(D, domain);
    let stone = Material {
        name: "stone".into(),
        density: 2600.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.5,
        friction: 0.4,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    settings.materials = Materials { list: vec![stone], overrides: Vec::new() };
    settings.wall_friction = WallFriction::Coulomb;
    settings.air = Some(Air::default());
    let boundary = floor_and_side();
    let corners = [DVec3::new(0.0, -D, 0.0), DVec3::new(12.0 * D, 7.0 * D, 24.0 * D)];
    let filling = Filling { corners, spacing: D, jitter: 0.1, velocity: DVec3::ZERO, kind: 0, seed: 3 };
    let filled = filling.fill(&|_| true, &boundary, settings.gravity, settings.bulk_density);
    let mut flow = Flow::new(settings);
    flow.add(&filled.matter, &filled.pressure, &boundary).unwrap();
    (flow, boundary)
}

fn run<R: Precision>(flow: &mut Flow<R>, boundary: &mut Boundary, steps: std::ops::Range<u64>) -> u64 {
    for step in steps {
        let interval = Interval { step, dt: 4e-3 };
        boundary.advance(interval.end(), interval.dt);
        flow.step(&interval, boundary).unwrap();
    }
    boundary.hash(flow.hash(HASH_START))
}

fn on_threads(threads: usize, isa: Isa) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (mut flow, mut boundary) = column::<f32>();
        flow.passes = f32::select(isa);
        run(&mut flow, &mut boundary, 0..25)
    })
}

#[test]
fn threads_and_instruction_sets_do_not_change_a_bit() {
    let expected = on_threads(1, Isa::Plain);
    for isa in Isa::available() {
        for threads in 1..=3 {
            assert_eq!(on_threads(threads, isa), expected, "{threads} threads, {}", isa.name());
        }
    }
}

#[test]
fn a_resumed_run_goes_on_bit_for_bit() {
    fn check<R: Precision>() {
        let (mut flow, mut boundary) = column::<R>();
        run(&mut flow, &mut boundary, 0..13);
        let (columns, walls) = (flow.save(), boundary.save());
        let expected = run(&mut flow, &mut boundary, 13..30);
        let (mut other, mut around) = column::<R>();
        let find = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
        let find_wall = |name: &str| walls.iter().find(|c| c.0 == name).map(|c| c.1.clone());
        around.load(Saved(&find_wall)).unwrap();
        other.load(Saved(&find), &around).unwrap();
        assert_eq!(run(&mut other, &mut around, 13..30), expected);
    }
    check::<f32>();
    check::<f64>();
}
