//! Motions against their own derivative, controls against closed forms, and what is refused.

use super::*;

fn full_motion() -> Motion {
    let key = |time, at: [f64; 3], turn: [f64; 3]| Keyframe { time, at: at.into(), turn: turn.into() };
    Motion {
        velocity: DVec3::new(0.1, 0.2, -0.3),
        rotate: Some(Rotate {
            point: DVec3::new(1.0, 0.0, 0.5),
            axis: DVec3::new(0.3, -0.5, 0.9).normalize(),
            rate: 7.0,
        }),
        oscillate: Some(Oscillate { direction: DVec3::X, amplitude: 0.05, frequency: 4.0, phase: 0.6 }),
        keyframes: vec![
            key(0.2, [0.0; 3], [0.0; 3]),
            key(0.5, [0.1, 0.0, 0.3], [0.5, 0.0, 1.0]),
            key(0.6, [0.1, 0.2, 0.5], [0.5, 0.8, 1.5]),
            key(1.1, [0.1, 0.2, 0.5], [0.5, 0.8, 1.5]),
            key(1.4, [0.0, 0.1, 0.6], [0.0, 0.2, 3.0]),
        ],
        from: 0.1,
        until: 1.3,
    }
}

#[test]
fn velocities_are_the_rates_of_the_pose() {
    let geometry = Geometry::Sphere { centre: DVec3::new(0.2, 0.3, -0.1), radius: 1.0, side: Side::Outside };
    let wall = Wall { motion: full_motion(), ..Wall::new("w", geometry, 0) };
    assert_eq!(wall.check(), []);
    let h = 1e-5;
    let x0 = DVec3::new(0.5, -0.7, 1.1);
    for i in 0..150 {
        let t = 0.0051 + 0.01 * i as f64;
        let state = wall.state_at(t);
        let at = |t: f64| wall.to_world(&wall.state_at(t), x0);
        let rate = (at(t + h) - at(t - h)) / (2.0 * h);
        let told = wall.surface_velocity(&state, at(t));
        assert!(rate.distance(told) < 2e-5 * (1.0 + told.length()), "t = {t}: {rate} {told}");
        let spin =
            (wall.state_at(t + h).rotation * wall.state_at(t - h).rotation.inverse()).to_scaled_axis() / (2.0 * h);
        assert!(spin.distance(state.spin) < 1e-4, "t = {t}: {spin} {}", state.spin);
    }
    // Before and after it stands still, and begins from where it was drawn.
    assert_eq!(wall.state_at(0.0), WallState { rotation: wall.state_at(0.0).rotation, ..WallState::default() });
    assert!(wall.state_at(0.0).rotation.is_near_identity());
    assert_eq!(wall.state_at(1.3), wall.state_at(5.0));
}

#[test]
fn keyframes_are_reached_without_overshoot() {
    let motion = Motion { keyframes: full_motion().keyframes, ..Motion::default() };
    for k in &motion.keyframes {
        let pose = motion.pose(DVec3::ZERO, k.time);
        assert!(pose.position.distance(k.at) < 1e-15);
    }
    for pair in motion.keyframes.windows(2) {
        for i in 0..=100 {
            let x = motion.pose(DVec3::ZERO, pair[0].time + (pair[1].time - pair[0].time) * i as f64 / 100.0).position;
            let (low, high) = (pair[0].at.min(pair[1].at), pair[0].at.max(pair[1].at));
            assert!(x.cmpge(low - 1e-12).all() && x.cmple(high + 1e-12).all());
        }
    }
    assert_eq!(motion.pose(DVec3::ZERO, 0.9).velocity, DVec3::ZERO, "rests between equal poses");
}

fn plate(control: Control) -> Wall {
    let geometry = Geometry::Disc { centre: DVec3::ZERO, normal: DVec3::Z, radius: 1.0, hole: 0.0 };
    Wall { control: Some(control), ..Wall::new("plate", geometry, 0) }
}

#[test]
fn a_plunger_falls_freely_and_rests_where_a_spring_carries_its_load() {
    let g = DVec3::new(0.0, 0.0, -10.0);
    let drive = |damping| plate(Control::Drive(Drive { axis: -DVec3::Z, mass: 2.0, load: 30.0, damping }));
    let (wall, dt) = (drive(0.0), 1e-4);
    let mut state = wall.state_at(0.0);
    (1..=1000).for_each(|i| wall.advance(&mut state, i as f64 * dt, dt, g));
    let fall = 0.5 * 25.0 * 0.1f64.powi(2);
    assert!((state.position.z + fall).abs() < 0.5 * 25.0 * 0.1 * dt * 1.01, "first order in dt: {}", state.position.z);
    assert!((state.velocity.z + 2.5).abs() < 1e-12);

    let wall = drive(40.0);
    let mut state = wall.state_at(0.0);
    for i in 1..=100_000 {
        state.force = -5000.0 * state.position;
        wall.advance(&mut state, i as f64 * dt, dt, g);
    }
    assert!((state.position.z + 50.0 / 5000.0).abs() < 1e-9, "{}", state.position.z);
    let mut copy = wall.state_at(0.0);
    copy.set_drive(state.drive());
    assert_eq!(copy.drive(), state.drive());
    // A guide as stiff as tar stops it at once and does not blow up.
    let wall = drive(1e9);
    let mut state = wall.state_at(0.0);
    (1..=100).for_each(|i| wall.advance(&mut state, i as f64 * dt, dt, g));
    assert!(state.velocity.z.abs() < 1e-6);
}

#[test]
fn a_servo_reaches_and_holds_its_stress() {
    // A bed of a given stiffness below a gap. Moved in steps of v·dt against its overlap at the target, from gentle to
    // twenty times too fast for a fixed gain.
    for haste in [0.01, 0.3, 1.9, 5.0, 20.0] {
        let (stress, area, stiffness, dt) = (1e4, 0.5, 1e7, 1e-5);
        let overlap = stress * area / stiffness;
        let max_speed = haste * overlap / dt;
        let servo = Servo { axis: -DVec3::Z, stress, area, between: None, max_speed };
        let wall = plate(Control::Servo(servo));
        let mut state = wall.state_at(0.0);
        let mut worst: f64 = 0.0;
        let steps = 20_000;
        for i in 1..=steps {
            let depth = (-state.position.z - 3.0 * overlap).max(0.0);
            state.force = DVec3::new(0.0, 0.0, stiffness * depth);
            if i > steps / 2 {
                worst = worst.max((state.force.z / (stress * area) - 1.0).abs());
            }
            wall.advance(&mut state, i as f64 * dt, dt, DVec3::ZERO);
            assert!(state.velocity.length() <= max_speed * (1.0 + 1e-12));
        }
        assert!(worst < 1e-3, "haste {haste}: {worst}");
    }
}

#[test]
fn impossible_walls_are_named_with_a_remedy() {
    let mut wall = Wall::new("lid", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::ZERO }, 0);
    wall.rough = Some(Roughness { radius: 0.0, spacing: 1.0 });
    wall.motion = Motion { from: 2.0, until: 1.0, ..full_motion() };
    wall.motion.keyframes.swap(0, 1);
    wall.control =
        Some(Control::Servo(Servo { axis: DVec3::Z, stress: 0.0, area: 1.0, between: None, max_speed: 1.0 }));
    let found = wall.check();
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|e| e.to_string().starts_with("wall \"lid\": ") && !e.remedy.is_empty()));
    let hollow = Geometry::Disc { centre: DVec3::ZERO, normal: DVec3::Z, radius: 1.0, hole: 1.5 };
    assert_eq!(Wall::new("d", hollow, 0).check().len(), 1);
}

#[test]
fn a_controlled_wall_holds_still_before_and_after_its_times() {
    let g = DVec3::new(0.0, 0.0, -10.0);
    let mut wall = plate(Control::Drive(Drive { axis: -DVec3::Z, mass: 1.0, load: 0.0, damping: 0.0 }));
    (wall.motion.from, wall.motion.until) = (0.1, 0.2);
    let (mut state, dt) = (wall.state_at(0.0), 1e-4);
    let mut advance = |to: u32, from: u32| {
        (from + 1..=to).for_each(|i| wall.advance(&mut state, f64::from(i) * dt, dt, g));
        (state.position.z, state.velocity.z)
    };
    assert_eq!(advance(900, 0), (0.0, 0.0));
    let (fallen, speed) = advance(1500, 900);
    assert!((fallen + 0.0125).abs() < 1e-4 && (speed + 0.5).abs() < 2e-3, "{fallen} {speed}");
    let (stopped, _) = advance(2100, 1500);
    assert!((stopped + 0.05).abs() < 2e-4);
    assert_eq!(advance(3000, 2100), (stopped, 0.0));
}
