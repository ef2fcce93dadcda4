//! Time stepping: exactness in free fall, energy over an elastic impact, and what the others do wrong.

use crate::common;
use barchan_core::contact::{Cap, ContactLaw, NormalLaw, TangentialLaw};
use barchan_core::materials::Material;
use barchan_dem::Integrator;
use common::*;
use glam::DVec3;

const ALL: [Integrator; 4] = [
    Integrator::VelocityVerlet,
    Integrator::SemiImplicitEuler,
    Integrator::PositionVerlet { dissipation: 0.0 },
    Integrator::ForwardEuler,
];

#[test]
fn free_fall_is_exact_to_the_order_of_the_scheme() {
    for integrator in ALL {
        let mut s = settings(glass(), HERTZ);
        s.gravity = DVec3::Z * -9.81;
        s.integrator = integrator;
        s.dt = 1e-4;
        let mut dem = alone(s);
        dem.add(&[grain(DVec3::ZERO, DVec3::new(0.1, 0.0, 1.0), 1e-3)]).unwrap();
        run(&mut dem, 1000);
        let (x, v, _) = state(&dem, 0);
        let exact = 0.1 - 0.5 * 9.81 * 0.01;
        let lag = match integrator {
            Integrator::VelocityVerlet => 0.0,
            Integrator::ForwardEuler => 0.5 * 9.81 * 0.1 * 1e-4,
            _ => -0.5 * 9.81 * 0.1 * 1e-4,
        };
        assert!((x.z - exact - lag).abs() < 1e-12, "{integrator:?}: {} against {}", x.z, exact + lag);
        assert!((v.z - (1.0 - 0.981)).abs() < 1e-12, "{integrator:?}: {v}");
        assert!((x.x - 0.01).abs() < 1e-14);
    }
}

/// Speed after an elastic impact over the speed before, at `steps` steps an impact.
fn rebound(integrator: Integrator, steps: f64) -> f64 {
    let law = ContactLaw {
        normal: NormalLaw::LinearTime { contact_time: 1e-3 },
        tangential: TangentialLaw::Mindlin,
        cap: Cap::Shared,
        ..ContactLaw::HERTZ_MINDLIN
    };
    let mut s = settings(Material { restitution: 1.0, ..glass() }, law);
    s.walls = vec![floor(DVec3::Z)];
    s.integrator = integrator;
    s.dt = 1e-3 / steps;
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::Z * 1e-3, DVec3::Z * -0.1, 1e-3)]).unwrap();
    through_impact(&mut dem);
    state(&dem, 0).1.z / 0.1
}

#[test]
fn only_forward_euler_pumps_energy_in() {
    for integrator in ALL {
        let ratio = rebound(integrator, 100.0);
        if integrator == Integrator::ForwardEuler {
            assert!(ratio > 1.03, "{integrator:?}: {ratio}");
        } else {
            assert!((ratio - 1.0).abs() < 2e-3, "{integrator:?}: {ratio}");
        }
    }
}

#[test]
fn dissipation_of_position_verlet_takes_its_share_each_step() {
    let mut s = settings(glass(), HERTZ);
    s.integrator = Integrator::PositionVerlet { dissipation: 1e-3 };
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::ZERO, DVec3::X, 1e-3)]).unwrap();
    run(&mut dem, 500);
    assert!(rel(state(&dem, 0).1.x, 0.999f64.powi(500)) < 1e-12);
}
