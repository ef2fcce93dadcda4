//! What stops a run: matter behind a wall, iterations that lead nowhere.

use crate::SphError;
use crate::flow::Flow;
use crate::mirror::Mirror;
use crate::settings::Settings;
use crate::smoothing::Kernel;
use crate::solve::Residual;
use crate::walls::{Contact, Motion, Surroundings};
use barchan_core::boundary::{Body, Boundary, Fixtures};
use barchan_core::solver::{Domain, NewMatter};
use barchan_core::walls::{Geometry, Wall};
use glam::{DQuat, DVec3};

const D: f64 = 0.02;

fn settings() -> Settings {
    Settings::sand(D, Domain { min: DVec3::splat(-1.0), max: DVec3::splat(1.0), periodic: [false; 3] })
}

fn around(geometry: Geometry) -> Boundary {
    let walls = vec![Wall::new("wall", geometry, 0)];
    Boundary::new(Fixtures { walls, carried: Vec::new() }, Vec::<Body>::new(), DVec3::ZERO)
}

/// The wall that a particle is said to have got through on its way from one place to another.
fn passed(boundary: &Boundary, from: DVec3, to: DVec3) -> Option<(usize, f64)> {
    let (settings, mirror) = (settings(), Mirror::new(Kernel::Cubic, D));
    let around = Surroundings { settings: &settings, mirror: &mirror, boundary, states: boundary.states() };
    let (mut before, mut now): (Vec<Contact>, Vec<Contact>) = (Vec::new(), Vec::new());
    around.meet(from, 0, &[], &mut before);
    around.meet(to, 0, &before, &mut now);
    around.behind(to, &before, &now, &[Motion::default()], 1e-3)
}

#[test]
fn a_way_through_a_sheet_is_told_from_a_way_round_its_rim() {
    let disc = around(Geometry::Disc { centre: DVec3::ZERO, normal: DVec3::Z, radius: 0.1, hole: 0.0 });
    let (above, below) = (DVec3::new(0.05, 0.0, 0.2 * D), DVec3::new(0.053, 0.0, -0.15 * D));
    let (wall, depth) = passed(&disc, above, below).expect("it went through");
    assert!(wall == 0 && (depth - 0.15 * D).abs() < 1e-9, "{depth}");
    assert!(passed(&disc, above, DVec3::new(0.053, 0.0, 0.1 * D)).is_none(), "on the same side");
    let beyond = |z: f64| DVec3::new(0.1 + 0.06 * D, 0.0, z * D);
    assert!(passed(&disc, beyond(0.15), beyond(-0.15)).is_none(), "past the rim");
}

#[test]
fn half_a_spacing_behind_the_face_of_a_solid_is_through() {
    let floor = around(Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z });
    let at = |z: f64| DVec3::Z * (z * D);
    assert!(passed(&floor, at(0.1), at(-0.3)).is_none(), "it comes out again");
    assert!(passed(&floor, at(0.1), at(-0.6)).is_some_and(|(_, depth)| (depth - 0.6 * D).abs() < 1e-9));
}

/// A strain that friction should have held went unnoticed however large it was, if only the density was right.
#[test]
fn strain_that_stays_wrong_for_some_steps_is_an_error_with_a_place() {
    let mut flow: Flow<f32> = Flow::new(settings());
    let orientation = DQuat::IDENTITY;
    let (position, still) = (DVec3::new(0.1, 0.2, 0.3), DVec3::ZERO);
    let piece =
        NewMatter { position, velocity: still, spin: still, orientation, radius: D, mass: None, material: 0, shape: 0 };
    flow.add(&[piece], &[], &around(Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z })).unwrap();
    let [good, bad] = [0.01, 0.1].map(|strain| Residual::new(0.0, strain, 1, 0.0));
    for _ in 0..9 {
        flow.check_convergence(&bad, 60).unwrap();
    }
    flow.check_convergence(&good, 60).unwrap();
    let failed = (0..10).map(|_| flow.check_convergence(&bad, 60)).collect::<Vec<_>>();
    assert!(failed[..9].iter().all(Result::is_ok), "nine steps may be those of an impact");
    let error = failed[9].clone().unwrap_err();
    assert!(matches!(error, SphError::NoConvergence { strain, .. } if strain == 0.1), "{error}");
    assert!(error.to_string().contains("(0.1000, 0.2000, 0.3000) m"), "{error}");
}
