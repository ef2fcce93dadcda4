//! The liquid: free flight, hydrostatics, slopes.

use super::scene::*;
use crate::{FlipError, Settings};
use barchan_core::walls::Wall;
use glam::DVec3;

#[test]
fn a_block_falls_freely_and_keeps_its_shape() {
    [crate::Transfer::Apic, crate::Transfer::Pic, crate::Transfer::Flip(0.95)].into_iter().for_each(falls_freely);
}

fn falls_freely(transfer: crate::Transfer) {
    let s = crate::Settings { transfer, ..settings([32.0; 3], [false; 3]) };
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[5, 6, 20], [9, 11, 25]], |_| true, |_| DVec3::ZERO).unwrap();
    let start: Vec<DVec3> = (0..a.liquid.parcels.len()).map(|i| a.position(i)).collect();
    let steps = 20;
    for _ in 0..steps {
        a.step().unwrap();
    }
    let t = f64::from(steps) * a.dt;
    // The step is semi-implicit: the drop is g dt² n (n + 1)/2.
    let drop = 0.5 * a.dt * a.dt * f64::from(steps * (steps + 1));
    for i in 0..start.len() {
        let v = a.liquid.parcels.velocity[i];
        assert!((v - DVec3::new(0.0, 0.0, -t)).length() < 1e-12, "{v}");
        let id = a.liquid.parcels.id[i] as usize;
        assert!((a.position(i) - start[id] + DVec3::Z * drop).length() < 1e-10);
    }
    assert!(a.liquid.flow.pressure.iter().flatten().all(|p| *p == 0.0));
}

#[test]
fn a_bed_at_rest_has_the_pressure_of_its_weight() {
    let mut s = settings([8.0, 8.0, 40.0], [true, true, false]);
    (s.tolerance, s.friction_angle) = (1e-11, 0.0);
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 2)]);
    a.fill([[0, 0, 0], [8, 8, 32]], |_| true, |_| DVec3::ZERO).unwrap();
    a.step().unwrap();
    let l = &a.liquid;
    let column = |z: i32| l.flow.pressure[l.grid.slot([0, 0, z / 8]) as usize * 64 + ((z % 8) * 8 + 3) as usize][3];
    for z in 0..31 {
        let exact = 32.0 - f64::from(z) - 0.5;
        assert!((column(z) - exact).abs() < 1.0, "z = {z}: {} for {exact}", column(z));
    }
    // The floor bears the weight but for what the bed gained in momentum.
    let load = a.boundary.states()[0].force.z / l.settings.bulk();
    let gained = momentum(&a).z / a.dt;
    assert!((load - gained + 64.0 * 32.0).abs() < 1e-7, "{load} {gained}");
}

#[test]
fn a_layer_on_an_incline_speeds_up_by_gravity_less_friction() {
    // Periodic along x and y; gravity is turned instead of the floor. dv/dt = g (sin α − tan θ cos α) of the column as a whole.
    for (slope, theta) in [(20f64, 30f64), (40.0, 30.0), (36.0, 22.0)] {
        let (sin, cos) = slope.to_radians().sin_cos();
        let mut s = settings([8.0, 8.0, 32.0], [true, true, false]);
        s.gravity = DVec3::new(sin, 0.0, -cos);
        s.friction_angle = theta.to_radians();
        let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
        let speed = 24f64.sqrt();
        a.fill([[0, 0, 0], [8, 8, 24]], |_| true, |x| DVec3::X * speed * x.z / 12.0).unwrap();
        let mean = |a: &crate::Alone| momentum(a).x / (64.0 * 24.0);
        for _ in 0..5 {
            a.step().unwrap();
        }
        let (start, t0) = (mean(&a), a.steps as f64 * a.dt);
        for _ in 0..10 {
            a.step().unwrap();
        }
        let found = (mean(&a) - start) / (a.steps as f64 * a.dt - t0);
        let exact = sin - theta.to_radians().tan() * cos;
        assert!((found - exact).abs() < 0.05 * exact.abs().max(0.3), "slope {slope}, θ {theta}: {found} for {exact}");
    }
}

#[test]
fn a_thin_cloud_flies_apart_without_pressure() {
    // v = H x with half of the lattice filled: every parcel flies straight, so that after 1/H the cloud is twice as wide.
    let mut s = settings([32.0; 3], [false; 3]);
    s.gravity = DVec3::ZERO;
    let mut a = world(s, vec![]);
    let (rate, middle) = (0.05, DVec3::splat(16.0));
    let half = |x: DVec3| {
        let q = (2.0 * x).floor();
        (q.x + q.y + q.z).rem_euclid(2.0) == 0.0
    };
    a.fill([[13, 13, 13], [19, 19, 19]], half, |x| (x - middle) * rate).unwrap();
    let start: Vec<DVec3> = (0..a.len()).map(|i| a.position(i)).collect();
    a.dt = 1.0;
    for _ in 0..20 {
        a.step().unwrap();
        assert!(a.liquid.flow.pressure.iter().flatten().all(|p| *p == 0.0));
    }
    let off = |i: usize| (a.position(i) - middle - 2.0 * (start[a.id(i) as usize] - middle)).length();
    let mean = (0..a.len()).map(off).sum::<f64>() / a.len() as f64;
    assert!(mean < 0.01 * 12.0, "{mean} cells off in a cloud of 12");
}

#[test]
fn sand_leaves_a_ceiling_as_if_it_were_not_there() {
    let mut a = world(settings([16.0, 16.0, 32.0], [false; 3]), vec![plane(DVec3::Z * 24.0, -DVec3::Z, 1)]);
    a.fill([[4, 4, 16], [12, 12, 24]], |_| true, |_| DVec3::ZERO).unwrap();
    let steps = 15;
    for _ in 0..steps {
        a.step().unwrap();
    }
    let t = f64::from(steps) * a.dt;
    for i in 0..a.len() {
        assert!((a.velocity(i) + DVec3::Z * t).length() < 1e-12, "{}", a.velocity(i));
        assert!(a.position(i).z < 23.0, "a parcel stays at the ceiling");
    }
}

#[test]
fn a_wall_carries_the_weight_of_what_rests_on_it() {
    let mut a = world(settings([16.0, 16.0, 16.0], [true, true, false]), vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [16, 16, 6]], |_| true, |_| DVec3::ZERO).unwrap();
    for _ in 0..60 {
        a.step().unwrap();
    }
    let load = (0..20).fold(DVec3::ZERO, |sum, _| {
        a.step().unwrap();
        sum + a.boundary.states()[0].force / 20.0
    });
    let weight = 16.0 * 16.0 * 6.0 * a.settings().bulk();
    assert!((load.z + weight).abs() < 0.01 * weight, "{} for {weight}", load.z);
    assert!(load.x.abs() + load.y.abs() < 1e-3 * weight, "{load}");
    assert!(a.report().fullest < 1.03, "{}", a.report().fullest);
}

/// A planar heap of height 8 cut at an angle [deg]; returns the mean displacement [cells] and the speed after a time.
fn heap(asked: f64, cut: f64, yields: crate::Yield, time: f64) -> (f64, f64) {
    let (height, tan) = (8.0, cut.to_radians().tan());
    let mut s = settings([64.0, 8.0, 16.0], [false, true, false]);
    (s.friction_angle, s.yields) = (asked.to_radians(), yields);
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    let inside = |x: DVec3| x.z < height - (x.x - 32.0).abs() * tan;
    a.fill([[0, 0, 0], [64, 8, 8]], inside, |_| DVec3::ZERO).unwrap();
    let start: Vec<DVec3> = (0..a.len()).map(|i| a.position(i)).collect();
    while a.steps as f64 * a.dt < time {
        a.step().unwrap();
    }
    // Parcels that were split on the way began where none was.
    let way = |i: usize| start.get(a.id(i) as usize).map(|x| a.position(i).distance(*x));
    let ways: Vec<f64> = (0..a.len()).filter_map(way).collect();
    (ways.iter().sum::<f64>() / ways.len() as f64, rms(&a))
}

#[test]
fn a_heap_below_the_angle_of_repose_stays_and_one_above_slides() {
    let (moved, speed) = heap(30.0, 25.0, crate::Yield::Cone, 20.0);
    assert!(moved < 0.3 && speed < 0.015, "25° at 30°: moved {moved}, speed {speed}");
    let (moved, _) = heap(22.0, 35.0, crate::Yield::Cone, 10.0);
    assert!(moved > 1.0, "35° at 22°: moved {moved}");
}

#[test]
fn box_yield_holds_a_slope_that_the_cone_lets_go() {
    // asin(tan 22°) = 23.8° is the steepest slope that friction of 22° can hold.
    let (boxed, _) = heap(22.0, 29.0, crate::Yield::Box, 10.0);
    let (cone, _) = heap(22.0, 29.0, crate::Yield::Cone, 10.0);
    assert!(cone > 2.0 * boxed, "moved {boxed} and {cone}");
}

#[test]
fn friction_grows_with_the_rate_of_shear_as_mu_of_i() {
    // A layer in uniform shear is slowed by the friction of its lowest cells, μ(I) at the rate there.
    let (height, gamma) = (24.0, 1.0);
    let mut s = settings([8.0, 8.0, 32.0], [true, true, false]);
    let rate = crate::Rate { i0: 0.28, mu2: 1.1 };
    (s.rate, s.grain, s.friction_angle) = (Some(rate), 0.5, 20f64.to_radians());
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [8, 8, 24]], |_| true, |x| DVec3::X * gamma * x.z).unwrap();
    let mean = |a: &crate::Alone| momentum(a).x / (64.0 * height);
    (0..2).for_each(|_| a.step().unwrap());
    let (start, t0) = (mean(&a), a.steps as f64 * a.dt);
    (0..3).for_each(|_| a.step().unwrap());
    let found = (start - mean(&a)) / (a.steps as f64 * a.dt - t0);
    let inertial = gamma * 0.5 / (0.6 * height).sqrt();
    let exact = crate::rate::mu_of_i(20f64.to_radians().tan(), rate, inertial);
    assert!((found - exact).abs() < 0.06 * exact, "{found} for {exact}");
    assert!(exact > 1.3 * 20f64.to_radians().tan(), "the rate matters: {exact}");
}

#[test]
fn cohesive_sand_stands_in_a_vertical_cut() {
    let moved = |cohesion: f64| {
        let mut s = settings([32.0, 8.0, 16.0], [false, true, false]);
        s.cohesion = cohesion * s.bulk();
        let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
        a.fill([[12, 0, 0], [20, 8, 8]], |_| true, |_| DVec3::ZERO).unwrap();
        let start: Vec<DVec3> = (0..a.len()).map(|i| a.position(i)).collect();
        (0..40).for_each(|_| a.step().unwrap());
        (0..a.len()).map(|i| a.position(i).distance(start[a.id(i) as usize])).sum::<f64>() / a.len() as f64
    };
    // A vertical cut stands up to the height 4 c/(ρg) tan(45° + θ/2) [Terzaghi 1943]; 8 cells need c = 1.15 ρgh at 30°.
    let (loose, firm) = (moved(0.0), moved(3.0));
    // Half a cell is what a heap at rest moves by while its lattice settles.
    assert!(loose > 1.0 && firm < 0.5, "moved {loose} and {firm}");
}

#[test]
fn sand_with_tension_hangs_from_a_ceiling_up_to_its_strength() {
    let drop = |tensile: f64| {
        let mut s = settings([16.0, 16.0, 16.0], [true, true, false]);
        (s.cohesion, s.tensile) = (10.0 * s.bulk(), tensile * s.bulk());
        let mut a = world(s, vec![plane(DVec3::Z * 12.0, -DVec3::Z, 1)]);
        a.fill([[0, 0, 8], [16, 16, 12]], |_| true, |_| DVec3::ZERO).unwrap();
        (0..15).for_each(|_| a.step().unwrap());
        -momentum(&a).z / (16.0 * 16.0 * 4.0)
    };
    let (hung, fell) = (drop(6.0), drop(1.0));
    assert!(hung < 0.2, "hangs: {hung}");
    assert!(fell > 1.0, "falls: {fell} after {}", 15.0 * 0.2);
}

#[test]
fn momentum_changes_by_gravity_and_by_what_walls_take() {
    // A layer with friction on a floor, in shear, between oblique smooth walls. The account is exact as long as no pressed face at the edge of
    // the matter is lighter than the floor of the face densities.
    let mut s = settings([32.0, 8.0, 24.0], [false, true, false]);
    s.gravity = DVec3::new(0.3, 0.1, -1.0);
    let side = |x: f64, n: f64| plane(DVec3::X * x, DVec3::new(n, 0.0, 0.25), 2);
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1), side(3.3, 1.0), side(28.6, -1.0)]);
    let inside = |x: DVec3| x.x - 3.3 + 0.25 * x.z > 0.1 && 28.6 - x.x + 0.25 * x.z > 0.1;
    a.fill([[0, 0, 0], [32, 8, 8]], inside, |x| DVec3::X * 0.1 * x.z).unwrap();
    let cells = a.len() as f64 / 8.0;
    for n in 0..5 {
        let before = momentum(&a);
        a.step().unwrap();
        let walls: DVec3 = a.boundary.states().iter().map(|w| w.force).sum();
        let gained = momentum(&a) - before;
        let given = (a.settings().gravity * cells - walls / a.settings().bulk()) * a.dt;
        assert!((gained - given).length() < 1e-10 * cells, "step {n}: gained {gained}, given {given}");
    }
}

#[test]
fn collapsed_heaps_stop_near_the_angle_asked_for_and_lie_still() {
    // Cut at 5° and more above asin(tan θ), the steepest slope that can be held, a heap slides and stops below θ by its inertia.
    let slopes = [(22.0f64, 29.0f64), (36.0, 54.0)].map(|(asked, cut)| {
        let (height, tan) = (12.0, cut.to_radians().tan());
        let mut s = settings([64.0, 8.0, 16.0], [false, true, false]);
        s.friction_angle = asked.to_radians();
        let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
        a.fill([[0, 0, 0], [64, 8, 12]], |x| x.z < height - (x.x - 32.0).abs() * tan, |_| DVec3::ZERO).unwrap();
        (0..150).for_each(|_| a.step().unwrap());
        assert!(rms(&a) < 0.02, "asked {asked}: it moves at {} √(gh)", rms(&a));
        assert!(a.report().fullest < 1.08, "asked {asked}: filled to {}", a.report().fullest);
        flank(&a, 32.0)
    });
    assert!((18.0..=22.0).contains(&slopes[0]), "{slopes:?}");
    assert!((32.0..=36.0).contains(&slopes[1]), "{slopes:?}");
}

#[test]
fn a_layer_at_rest_holds_below_the_angle_of_repose_and_runs_above_the_static_limit() {
    // At rest the stress may turn, and a slope is held up to asin(tan θ) = 35.3°; beyond, it runs at g (sin α − tan θ cos α) at the least.
    let speed = |slope: f64| {
        let (sin, cos) = slope.to_radians().sin_cos();
        let mut s = settings([8.0, 8.0, 32.0], [true, true, false]);
        s.gravity = DVec3::new(sin, 0.0, -cos);
        let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
        a.fill([[0, 0, 0], [8, 8, 24]], |_| true, |_| DVec3::ZERO).unwrap();
        (0..40).for_each(|_| a.step().unwrap());
        momentum(&a).x / (64.0 * 24.0)
    };
    let (held, runs) = (speed(28.0), speed(38.3));
    assert!(held.abs() < 0.05, "28°: {held}");
    let free = 8.0 * (38.3f64.to_radians().sin() - 30f64.to_radians().tan() * 38.3f64.to_radians().cos());
    assert!(runs > 0.8 * free, "38.3°: {runs} for {free}");
}

#[test]
fn a_spinning_block_keeps_its_spin_with_apic_and_loses_it_with_pic() {
    // Angular momentum of a block in free rotation, after a quarter turn: what the transfers make of it.
    let kept = |transfer: crate::Transfer| {
        let mut s = settings([32.0; 3], [false; 3]);
        (s.gravity, s.transfer, s.friction_angle) = (DVec3::ZERO, transfer, 0.0);
        let mut a = world(s, vec![]);
        let middle = DVec3::splat(16.0);
        a.fill([[12, 12, 12], [20, 20, 20]], |_| true, |x| DVec3::Z.cross(x - middle) * 0.1).unwrap();
        let spin =
            |a: &crate::Alone| -> f64 { (0..a.len()).map(|i| (a.position(i) - middle).cross(a.velocity(i)).z).sum() };
        let start = spin(&a);
        a.dt = 0.5;
        (0..20).for_each(|_| a.step().unwrap());
        spin(&a) / start
    };
    let [apic, flip, pic] = [crate::Transfer::Apic, crate::Transfer::Flip(0.95), crate::Transfer::Pic].map(kept);
    assert!(apic > 0.8 && flip > 0.8 && pic < apic, "kept: {apic}, {flip}, {pic}");
}

/// A box whose sides pass `off` cells beyond whole ones, filled to 8 cells and left alone; returns its mean height at the start and later.
fn left_alone(off: f64) -> (f64, f64) {
    let s = settings([20.0, 20.0, 24.0], [false; 3]);
    let (low, high) = (DVec3::splat(1.0 + off), DVec3::new(17.0 + off, 15.0 + off, 20.0));
    let sides = DVec3::AXES.into_iter().flat_map(|e| [(low, e), (high, -e)]);
    let mut a = world(s, sides.map(|(x, n)| plane(x, n, 1)).collect());
    let boundary = a.boundary.clone();
    let full = DVec3::new(high.x, high.y, low.z + 8.0);
    crate::Flip::fill(&mut a, [low, full], &|x| x.z < full.z - 1e-6, DVec3::ZERO, crate::Phase::Liquid, &boundary)
        .unwrap();
    let height = |a: &crate::Alone| (0..a.len()).map(|i| a.position(i).z - low.z).sum::<f64>() / a.len() as f64;
    let before = height(&a);
    (0..60).for_each(|_| a.step().unwrap());
    (before, height(&a))
}

#[test]
fn parcels_on_the_very_surface_of_a_wall_do_not_make_a_bed_grow() {
    // At 0.25 places of the seeding lattice lie on the walls themselves, to rounding; in between, distances in the corners of the box are not linear.
    for off in [0.1, 0.25, 0.4] {
        let (before, after) = left_alone(off);
        assert!((after - before).abs() < 0.002 * before, "walls at {off}: mean height {before}, then {after}");
    }
}

#[test]
fn what_is_not_finite_or_too_fast_or_not_solved_stops_a_run_by_name() {
    let bed = |s: Settings, walls: Vec<Wall>| {
        let mut a = world(s, walls);
        a.fill([[0, 0, 0], [8, 8, 24]], |_| true, |_| DVec3::ZERO).unwrap();
        a
    };
    let s = settings([8.0, 8.0, 40.0], [true, true, false]);
    let floor = || plane(DVec3::ZERO, DVec3::Z, 2);
    let mut a = bed(Settings { gas: Some(Default::default()), ..s.clone() }, vec![floor()]);
    a.step().unwrap();
    a.liquid.gas.push(DVec3::new(4.0, 4.0, 30.0), DVec3::new(f64::NAN, 0.0, 0.0), 7_000_000);
    let error = a.step().unwrap_err().to_string();
    assert!(error.contains("grain of gas 7000000 has no finite"), "{error}");
    let mut a = bed(s.clone(), vec![floor()]);
    a.liquid.parcels.velocity[3].x = f64::INFINITY;
    let error = a.step().unwrap_err().to_string();
    assert!(error.contains("parcel 3 has no finite"), "{error}");
    let mut piston = floor();
    piston.name = "piston".into();
    piston.motion.velocity = DVec3::Z * 1e6;
    let error = bed(s.clone(), vec![piston]).step().unwrap_err().to_string();
    assert!(error.contains("the wall `piston` moves at 1.000e6 m/s") && error.contains("steps"), "{error}");
    // What no solver reaches.
    let mut a = bed(Settings { tolerance: f64::MIN_POSITIVE, ..s }, vec![floor()]);
    for i in 0..a.len() {
        a.liquid.parcels.velocity[i].x = 0.3 * f64::from(i as u32 * 7919 % 101) / 101.0;
    }
    a.liquid.poor = 19;
    let failed = a.step().expect_err("a tolerance below rounding cannot be met");
    let FlipError::NotConverged { place, residual, .. } = &failed else { panic!("{failed}") };
    assert!(*residual > 0.0 && (0.0..24.5).contains(&place.z) && place.z != 0.0, "{failed}");
    assert!(failed.to_string().contains("largest near"), "{failed}");
}
