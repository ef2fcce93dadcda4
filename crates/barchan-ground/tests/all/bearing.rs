//! Bodies on the ground: what carries them, what stops them, what they leave.

#[path = "common/rigid.rs"]
mod rigid;
use barchan_core::mesh::Mesh;
use barchan_ground::{Columns, Grid, Soil, Strength, metres};
use glam::{DQuat, DVec2, DVec3};
use rigid::{G, Rigid};
use std::f64::consts::{FRAC_PI_2, PI};

const DT: f64 = 1e-3;
const SAND: Strength = Strength::SAND;

/// Level sand half a metre deep, its surface at z = 0, the origin in its middle.
fn bed(size: [usize; 2], cell: f64) -> Columns {
    let corner = -0.5 * cell * DVec2::new(size[0] as f64, size[1] as f64);
    Columns::flat(Grid { origin: corner.extend(-0.5), cell, size }, Soil::SAND, 0.5).unwrap()
}

/// Volume of the part of a ball that is so far [m] below a plane.
fn cap(radius: f64, depth: f64) -> f64 {
    PI * depth * depth * (3.0 * radius - depth) / 3.0
}

#[test]
fn a_ball_pressed_in_slowly_feels_the_weight_of_what_it_displaces_times_k() {
    let mut ground = bed([120, 120], 0.004);
    let mut ball = Rigid::ball(0.05, 1.0, DVec3::new(0.0011, 0.0007, 0.05));
    ball.velocity.z = -0.02;
    for step in 1..=2000 {
        let force = ball.press(&mut ground, false, DT).force;
        ground.erode(1);
        if step % 250 == 0 {
            let exact = SAND.buoyancy() * SAND.density * G * cap(0.05, 0.05 - ball.centre.z);
            // A column more or less at the rim.
            assert!((force.z / exact - 1.0).abs() < 2e-3, "{} N for {exact} N at {}", force.z, ball.centre.z);
            assert!(force.truncate().length() < 0.01 * force.z, "{force}");
        }
        ball.centre.z += DT * ball.velocity.z;
    }
}

#[test]
fn a_ball_laid_down_sinks_to_its_balance_and_lies_still() {
    let mut ground = bed([100, 100], 0.005);
    let before = ground.total();
    let mut gone = 0;
    let mut ball = Rigid::ball(0.05, 7800.0, DVec3::new(0.001, 0.0007, 0.05));
    for step in 0..3000 {
        // Lowered by hand: without speed there is nothing to overshoot with.
        ball.velocity *= if step < 1400 { 0.8 } else { 1.0 };
        gone += ball.step(&mut ground, DVec3::ZERO, DT).push.compressed;
        ground.erode(1);
    }
    let carried = SAND.buoyancy() * SAND.density * cap(0.05, 0.05 - ball.centre.z);
    assert!((carried / ball.mass - 1.0).abs() < 0.03, "{carried} kg carried for {} kg", ball.mass);
    let (centre, turn) = (ball.centre, ball.turn);
    for _ in 0..300 {
        let found = ball.step(&mut ground, DVec3::ZERO, DT);
        assert_eq!(found.push.displaced, 0);
    }
    assert!(ball.centre.distance(centre) < 1e-11 && (ball.turn - turn).length() < 1e-6, "{}", ball.velocity);
    assert_eq!(ground.total() + gone, before, "what is not compressed away is there");
}

/// How deep [m] a ball of the given radius [m] and density [kg/m³] goes that falls from `height` [m] above the sand.
fn depth_of_fall(radius: f64, density: f64, height: f64) -> f64 {
    let mut ground = bed([80, 80], 0.16 * radius);
    let mut ball = Rigid::ball(radius, density, DVec3::new(0.0003, 0.0002, radius));
    ball.velocity.z = -(2.0 * G * height).sqrt();
    let mut last = ball.energy();
    while ball.velocity.z < 0.0 {
        ball.step(&mut ground, DVec3::ZERO, 0.25 * DT);
        ground.erode(1);
        // In the step in which it turns round the spring of the soil may already have given some back.
        assert!(ball.velocity.z > 0.0 || ball.energy() <= last, "the sand gave {} J", ball.energy() - last);
        last = ball.energy();
    }
    radius - ball.centre.z
}

/// Slope of the line through the logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let mean = logs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let of = |f: &dyn Fn(f64, f64) -> f64| logs.iter().map(|p| f(p.0 - mean.0, p.1 - mean.1)).sum::<f64>();
    of(&|x, y| x * y) / of(&|x, _| x * x)
}

#[test]
fn a_fall_ends_at_a_depth_that_grows_as_the_cube_root_of_its_height() {
    // Uehara, Ambroso, Ojha, Durian 2003: d ~ ρ^½ D^⅔ H^⅓, H from the start to where it stops. Ours follows from
    // ∫ K ρ g V dz = m g H with V ~ D d² for d below the radius: d ~ ρ^⅓ D^⅔ H^⅓.
    let falls = [0.02, 0.05, 0.1, 0.2, 0.4, 0.8].map(|drop| {
        let depth = depth_of_fall(0.0125, 2500.0, drop);
        (drop + depth, depth)
    });
    let of_height = exponent(&falls);
    assert!((of_height - 1.0 / 3.0).abs() < 0.03, "depth grows as H^{of_height}");
    // The total height the same in units of the ball.
    let of_size = exponent(&[0.01, 0.02, 0.04].map(|r| (r, depth_of_fall(r, 2500.0, 0.2))));
    assert!((of_size - 2.0 / 3.0).abs() < 0.05, "depth grows as D^{of_size}");
    let of_density = exponent(&[1000.0, 2000.0, 4000.0].map(|d| (d, depth_of_fall(0.0125, d, 0.2))));
    assert!((0.3..0.55).contains(&of_density), "depth grows as ρ^{of_density}");
}

#[test]
fn a_block_lies_on_a_slope_that_its_grip_holds_and_slides_down_a_steeper_one() {
    let moved = |degrees: f64| {
        let angle = degrees.to_radians();
        let grid = Grid { origin: DVec3::new(-0.6, -0.3, -2.0), cell: 0.015, size: [80, 40] };
        let heights: Vec<f64> = (0..grid.len()).map(|c| 2.0 - angle.tan() * grid.centre(c).x).collect();
        let soil = Soil { strength: Strength { grip: 0.3, ..SAND }, ..Soil::SAND };
        let mut ground = Columns::new(grid, soil, &heights).unwrap();
        ground.erode(1);
        let mut block = Rigid::solid(
            Mesh::box_of(DVec3::new(0.3, 0.2, 0.1)),
            1500.0,
            DQuat::from_rotation_y(angle) * DVec3::Z * 0.05,
        );
        block.turn = DQuat::from_rotation_y(angle);
        let mut at = [0.0; 3];
        for (second, at) in at.iter_mut().enumerate() {
            for _ in 0..if second == 0 { 1000 } else { 300 } {
                block.step(&mut ground, DVec3::ZERO, DT);
                ground.erode(1);
            }
            *at = block.centre.x;
        }
        (at[0], at[2] - at[1], block.velocity.length())
    };
    // tan 16.7° = 0.3.
    let (before, after, speed) = moved(13.0);
    assert!(before < 0.03 && after.abs() < 1e-5 && speed < 1e-4, "{before} m, then {after} m, at {speed} m/s");
    let (before, after, _) = moved(21.0);
    assert!(before > 0.1 && after > 0.05, "{before} m, then {after} m");
}

#[test]
fn a_rolling_ball_slows_down_and_leaves_a_track() {
    let mut ground = bed([240, 60], 0.005);
    let total = ground.total();
    let mut gone = 0;
    let mut ball = Rigid::ball(0.05, 2500.0, DVec3::new(-0.5, 0.0, 0.04));
    (ball.velocity.x, ball.spin.y) = (1.2, 1.2 / 0.05);
    let mut energy = f64::INFINITY;
    for step in 0..1500 {
        gone += ball.step(&mut ground, DVec3::ZERO, DT).push.compressed;
        ground.erode(1);
        // Over a tenth of a second: what it rides up it comes down again.
        if step % 100 == 99 {
            assert!(ball.energy() <= energy + 1e-6, "{step}");
            energy = ball.energy();
        }
    }
    assert!(ball.velocity.length() < 1e-3 && ball.centre.y.abs() < 1e-3, "{} {}", ball.velocity, ball.centre);
    let reached = ball.centre.x;
    assert!((-0.4..0.4).contains(&reached), "it stops at {reached} m");
    let depth = |x: f64, y: f64| -metres(ground.heights()[ground.grid().column_at(x, y).unwrap()]) + 0.5;
    for x in [-0.4, 0.5 * (reached - 0.4), reached - 0.1] {
        assert!(depth(x, 0.002) > 0.005, "no track at {x} m");
        assert!(depth(x, 0.1) <= 0.0, "sand is missing beside the track at {x} m");
    }
    assert_eq!(depth(reached + 0.15, 0.002), 0.0, "a track ahead of it");
    assert_eq!(ground.total() + gone, total);
}

#[test]
fn a_wheel_that_slips_more_pulls_more() {
    // Its axle moves on evenly and is free to sink; the rim is faster by the slip.
    let pull = |slip: f64| {
        let (mut ground, speed, radius) = (bed([150, 40], 0.02), 0.6, 0.25);
        let mut wheel = Rigid::solid(Mesh::cylinder(radius, 0.2, 64), 700.0, DVec3::new(-1.2, 0.0, radius));
        wheel.turn = DQuat::from_rotation_x(FRAC_PI_2);
        let (mut sum, from, to) = (0.0, 1000, 3000);
        for step in 0..to {
            wheel.velocity = DVec3::new(speed, 0.0, wheel.velocity.z);
            wheel.spin = DVec3::Y * speed / ((1.0 - slip) * radius);
            let force = wheel.step(&mut ground, DVec3::ZERO, DT).force;
            ground.erode(1);
            sum += if step >= from { force.x } else { 0.0 };
        }
        sum / f64::from(to - from) / (wheel.mass * G)
    };
    let pulls = [0.0, 0.05, 0.15, 0.4].map(pull);
    assert!(pulls.windows(2).all(|p| p[1] > p[0]), "{pulls:?}");
    assert!(pulls[0] < 0.02, "a wheel without slip has to be pulled: {pulls:?}");
    assert!(pulls[3] > 0.15 && pulls[3] < SAND.grip, "{pulls:?}");
}

#[test]
fn the_drag_of_a_blade_grows_with_the_square_of_its_depth() {
    let drag = |depth: f64| {
        let mut ground = bed([100, 80], 0.01);
        let mut blade =
            Rigid::solid(Mesh::box_of(DVec3::new(0.02, 0.4, 0.5)), 1.0, DVec3::new(-0.3, 0.0, 0.25 - depth));
        blade.velocity.x = 0.2;
        let (mut sum, from, to) = (0.0, 500, 1000);
        for step in 0..to {
            let force = blade.press(&mut ground, false, DT).force;
            blade.centre.x += DT * blade.velocity.x;
            ground.erode(1);
            sum += if step >= from { -force.x } else { 0.0 };
        }
        sum / f64::from(to - from)
    };
    let drags = [0.03, 0.06, 0.12].map(|d| (d, drag(d)));
    let found = exponent(&drags);
    assert!((found - 2.0).abs() < 0.15, "drag grows as depth^{found}: {drags:?}");
    // Of the pressure on a level plate that is pushed down, an upright one feels 0.37 [Li, Zhang, Goldman 2013].
    let share = drags[2].1 / (0.5 * SAND.buoyancy() * SAND.density * G * 0.12 * 0.12 * 0.4);
    assert!((0.25..0.45).contains(&share), "{share}");
}

#[test]
fn a_stand_that_was_saved_goes_on_bit_for_bit() {
    let run = |ground: &mut Columns, ball: &mut Rigid, steps: usize| {
        for _ in 0..steps {
            ball.step(ground, DVec3::ZERO, DT);
            ground.erode(1);
        }
    };
    let mut ground = bed([60, 60], 0.01);
    let mut ball = Rigid::ball(0.08, 3000.0, DVec3::new(-0.1, 0.01, 0.09));
    ball.velocity.x = 0.5;
    run(&mut ground, &mut ball, 100);
    let mut again = Columns::load(*ground.grid(), *ground.soil(), ground.save()).unwrap();
    let mut other = Rigid::ball(0.08, 3000.0, ball.centre);
    (other.velocity, other.spin, other.turn, other.stand) = (ball.velocity, ball.spin, ball.turn, ball.stand.clone());
    run(&mut ground, &mut ball, 150);
    run(&mut again, &mut other, 150);
    assert_eq!((ground.save(), ball.centre, ball.spin), (again.save(), other.centre, other.spin));
}

#[test]
fn a_floor_carries_what_the_sand_does_not() {
    let grid = Grid { origin: DVec3::new(-0.5, -0.5, 0.0), cell: 0.02, size: [50, 50] };
    let mut ground = Columns::flat(grid, Soil::SAND, 0.003).unwrap();
    let mut block = Rigid::solid(Mesh::box_of(DVec3::new(0.3, 0.3, 0.3)), 20000.0, DVec3::Z * 0.16);
    for _ in 0..1000 {
        block.step(&mut ground, DVec3::ZERO, DT);
    }
    assert!((block.centre.z - 0.15).abs() < 1e-3 && block.velocity.length() < 1e-6, "{}", block.centre);
}
