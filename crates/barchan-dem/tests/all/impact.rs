//! Central impacts: restitution, and Hertz's closed forms.

use crate::common;
use barchan_core::contact::{Cap, ContactLaw, NormalLaw, TangentialLaw};
use barchan_core::materials::Material;
use barchan_dem::Precision;
use common::*;
use glam::DVec3;

fn restitution(settings: &Setup, radius: f64, speed: f64, wall: bool) -> f64 {
    let mut s = settings.clone();
    // A position that is no multiple of anything, so that the first overlap is not special.
    let gap = 0.37 * speed * s.dt;
    if wall {
        s.walls = vec![floor(DVec3::X)];
    }
    let mut dem = alone(s);
    if wall {
        dem.add(&[grain(DVec3::X * (radius + gap), DVec3::X * -speed, radius)]).unwrap();
        through_impact(&mut dem);
        state(&dem, 0).1.x / speed
    } else {
        let x = DVec3::X * (radius + 0.5 * gap);
        dem.add(&[grain(-x, DVec3::X * (0.5 * speed), radius), grain(x, DVec3::X * (-0.5 * speed), radius)]).unwrap();
        through_impact(&mut dem);
        (state(&dem, 1).1.x - state(&dem, 0).1.x) / speed
    }
}

#[test]
fn restitution_is_what_was_asked_for() {
    let laws =
        [NormalLaw::Hertz, NormalLaw::Linear { stiffness: 2000.0 }, NormalLaw::LinearTime { contact_time: 2e-4 }];
    for normal in laws {
        let law =
            ContactLaw { normal, tangential: TangentialLaw::Mindlin, cap: Cap::Shared, ..ContactLaw::HERTZ_MINDLIN };
        for e in [0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0] {
            let mut s = settings(Material { restitution: e, ..glass() }, law);
            s.dt = automatic_dt(&s, 1e-3, 1.0);
            for speed in [1e-3, 1e-2, 1e-1, 1.0] {
                for wall in [false, true] {
                    let found = restitution(&s, 1e-3, speed, wall);
                    assert!(rel(found, e) < 5e-3, "{normal:?}, e {e}, {speed} m/s, wall {wall}: {found}");
                }
            }
        }
    }
}

#[test]
fn both_precisions_realise_it() {
    let mut s = settings(Material { restitution: 0.5, ..glass() }, HERTZ);
    s.dt = automatic_dt(&s, 1e-3, 1.0);
    let mixed = restitution(&s, 1e-3, 0.3, false);
    s.precision = Precision::Double;
    assert!(rel(mixed, restitution(&s, 1e-3, 0.3, false)) < 1e-5);
}

/// 1 − e ∝ v^{1/5} at small loss [Ramírez et al. 1999].
#[test]
fn kuwabara_kono_loses_with_the_fifth_root_of_the_speed() {
    let law = ContactLaw {
        normal: NormalLaw::KuwabaraKono { dissipation: 2e-7 },
        tangential: TangentialLaw::Mindlin,
        cap: Cap::Shared,
        ..ContactLaw::HERTZ_MINDLIN
    };
    let mut s = settings(glass(), law);
    s.dt = automatic_dt(&s, 1e-3, 1.0) / 4.0;
    let loss: Vec<f64> = [1e-3, 1e-2, 1e-1, 1.0].iter().map(|&v| 1.0 - restitution(&s, 1e-3, v, false)).collect();
    for pair in loss.windows(2) {
        let exponent = (pair[1] / pair[0]).log10();
        assert!((exponent - 0.2).abs() < 0.01, "exponent {exponent}, losses {loss:?}");
    }
}

/// Chung and Ooi 2011, test 1: glass spheres of 10 mm at ±10 m/s.
#[test]
fn hertz_impact_reaches_the_closed_form() {
    let material =
        Material { young: 4.8e10, poisson: 0.2, density: 2800.0, restitution: 1.0, friction: 0.35, ..glass() };
    for precision in [Precision::Mixed, Precision::Double] {
        let mut s = settings(material.clone(), HERTZ);
        s.precision = precision;
        s.dt = 40.34e-6 / 2000.0;
        let dt = s.dt;
        let mut dem = alone(s);
        let x = DVec3::X * 0.01;
        dem.add(&[grain(-x, DVec3::X * 10.0, 0.01), grain(x, DVec3::X * -10.0, 0.01)]).unwrap();
        let (mut overlap, mut force, mut steps) = (0f64, 0f64, 0);
        loop {
            dem.step().unwrap();
            let contacts = dem.contacts();
            if contacts.is_empty() {
                break;
            }
            steps += 1;
            overlap = overlap.max(contacts[0].overlap);
            force = force.max(contacts[0].normal_force);
        }
        assert!(rel(overlap, 274.11e-6) < 1e-3, "overlap {overlap}");
        assert!(rel(force, 10_696.9) < 1e-3, "force {force}");
        assert!(rel(steps as f64 * dt, 40.34e-6) < 2e-3, "duration {}", steps as f64 * dt);
        assert!(rel(state(&dem, 1).1.x, 10.0) < 1e-5);
    }
}

#[test]
fn lee_herrmann_is_its_formula() {
    let law = ContactLaw {
        normal: NormalLaw::LeeHerrmann { stiffness: 1e6, damping: 500.0 },
        tangential: TangentialLaw::Mindlin,
        cap: Cap::Shared,
        ..ContactLaw::HERTZ_MINDLIN
    };
    let mut s = settings(glass(), law);
    s.dt = 1e-7;
    let mut dem = alone(s);
    let x = DVec3::X * 0.99e-3;
    dem.add(&[grain(-x, DVec3::X * 0.01, 1e-3), grain(x, DVec3::X * -0.01, 1e-3)]).unwrap();
    dem.step().unwrap();
    let c = dem.contacts()[0];
    let mass = 0.5 * sphere_mass(1e-3, 2500.0);
    let exact = 1e6 * c.overlap.powf(1.5) + 500.0 * mass * 0.02;
    assert!(rel(c.normal_force, exact) < 1e-3, "{} against {exact}", c.normal_force);
}

/// DMT: the pull that just parts two spheres is 4πγR*.
#[test]
fn pull_off_force_is_exact() {
    let gamma = 0.05;
    let mut s = settings(Material { cohesion: gamma, restitution: 0.1, ..glass() }, HERTZ);
    s.dt = automatic_dt(&s, 1e-3, 0.1);
    let expected = 4.0 * std::f64::consts::PI * gamma * 0.5e-3;
    // Just apart in the limit of zero overlap: hold them there and read the force.
    let mut dem = alone(s);
    let x = DVec3::X * (1e-3 - 1e-12);
    dem.add(&[grain(-x, DVec3::ZERO, 1e-3), grain(x, DVec3::ZERO, 1e-3)]).unwrap();
    let before = dem.steps();
    dem.step().unwrap();
    assert_eq!(dem.steps(), before + 1);
    assert!(rel(-dem.contacts()[0].normal_force, expected) < 1e-3, "{:?}", dem.contacts()[0]);
}
