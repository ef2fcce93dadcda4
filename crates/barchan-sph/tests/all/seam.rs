//! What the solver says of itself and what it refuses.

use crate::common::*;
use barchan_core::solver::{NewMatter, Solver};
use barchan_sph::{Settings, SphError};
use glam::{DQuat, DVec3};

#[test]
fn matter_inside_a_wall_is_refused_with_a_remedy() {
    let mut scene = Scene::new(Settings::sand(D, slice(0.5, 0.5, false)), walls(vec![floor()]));
    let inside = NewMatter {
        position: DVec3::new(0.0, D, -0.3 * D),
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        radius: 0.5 * D,
        mass: None,
        material: 0,
        shape: 0,
    };
    let error = scene.sph.add(&[inside], &scene.boundary).unwrap_err();
    assert!(matches!(error.find::<SphError>(), Some(SphError::InsideWall { count: 1, .. })), "{error}");
    assert!(error.to_string().contains("half a spacing"), "{error}");
}

#[test]
fn settings_that_cannot_be_are_refused_all_at_once() {
    let mut settings = Settings::sand(D, slice(0.5, 0.5, false));
    settings.domain.max.y = 2.0 * D;
    settings.kinds[0].friction_angle = 2.0;
    settings.tolerance = 0.0;
    let error = barchan_sph::Sph::new(settings).err().unwrap().to_string();
    assert!(["periodic y", "friction_angle", "tolerance"].iter().all(|w| error.contains(w)), "{error}");
}

#[test]
fn a_step_is_a_tenth_of_the_fall_over_a_spacing_and_shorter_where_matter_is_fast() {
    let mut scene = Scene::new(Settings::sand(D, slice(0.5, 0.5, false)), walls(vec![floor()]));
    let wish = scene.sph.wish();
    assert!(!wish.fixed && (wish.dt - 0.1 * (D / G).sqrt()).abs() < 1e-12, "{wish:?}");
    scene.fill([DVec3::new(-4.0 * D, 0.0, 0.0), DVec3::new(4.0 * D, 4.0 * D, 4.0 * D)], 0.0, |_| true);
    scene.advance();
    assert_eq!(scene.sph.steps(), 1);
    scene.sph.push(DVec3::ZERO, 1.0, DVec3::Z * 10.0);
    scene.advance();
    assert!(scene.sph.steps() > 5, "{} steps at 10 m/s", scene.sph.steps());
}

/// Births into a block some of whose particles lie on a floor once ended the run when memory was sorted.
#[test]
fn matter_is_born_beside_matter_that_lies_on_a_floor() {
    let mut scene = Scene::new(Settings::sand(D, slice(0.5, 1.0, false)), walls(vec![floor()]));
    scene.fill([DVec3::ZERO, DVec3::new(8.0 * D, 4.0 * D, D)], 0.05, |_| true);
    for k in 0..40 {
        let low = DVec3::new(-8.0 * D, 0.0, 0.2 + 0.01 * f64::from(k));
        let before = scene.sph.len();
        scene.fill([low, low + DVec3::new(D, 4.0 * D, D)], 0.05, |_| true);
        assert_eq!(scene.sph.len(), before + 4);
        // Fast enough for new lists, and so for a sort, every few steps.
        scene.sph.push(low, 1.0, DVec3::new(0.0, 0.0, -1.0));
        scene.run(2.0 * scene.dt);
    }
    assert!(scene.particles().position.iter().all(|x| x.z > 0.0));
}

/// A velocity that is no number was reported without a place.
#[test]
fn a_velocity_that_is_no_number_names_where_it_is() {
    let mut scene = Scene::new(Settings::sand(D, slice(0.5, 1.0, false)), walls(vec![floor()]));
    scene.fill([DVec3::ZERO, DVec3::new(8.0 * D, 4.0 * D, 4.0 * D)], 0.0, |_| true);
    scene.sph.push(DVec3::new(4.5 * D, 2.5 * D, 2.5 * D), 0.1 * D, DVec3::NAN);
    let interval = barchan_core::clock::Interval { step: 0, dt: scene.dt };
    let error = scene.sph.step(&interval, &mut scene.boundary).unwrap_err().to_string();
    assert!(error.contains("particle") && error.contains("t = 0.00") && error.contains(" at (0."), "{error}");
}
