//! Air: spray, terminal speed, shielding.

use crate::common::*;
use barchan_core::solver::{Domain, NewMatter, Solver};
use barchan_sph::{Air, Settings, Wind};
use glam::{DQuat, DVec3};

fn at(position: DVec3, velocity: DVec3) -> NewMatter {
    let orientation = DQuat::IDENTITY;
    NewMatter { position, velocity, spin: DVec3::ZERO, orientation, radius: 0.5 * D, mass: None, material: 0, shape: 0 }
}

fn alone(air: Option<Air>) -> Scene {
    let domain = Domain { min: DVec3::splat(-50.0), max: DVec3::splat(50.0), periodic: [false; 3] };
    let mut settings = Settings::sand(D, domain);
    settings.air = air;
    Scene::new(settings, walls(Vec::new()))
}

#[test]
fn spray_without_air_flies_on_a_parabola() {
    let mut scene = alone(None);
    let start = DVec3::new(1.0, 0.2, 2.0);
    scene.sph.add(&[at(DVec3::ZERO, start)], &scene.boundary).unwrap();
    scene.run(0.3);
    let t = scene.step as f64 * scene.dt;
    let p = scene.particles();
    assert!((p.velocity[0] - start + DVec3::Z * G * t).length() < 1e-12);
    // Symplectic Euler is behind the parabola by half a step's fall.
    let steps = scene.sph.steps() as f64;
    let exact = start * t - 0.5 * DVec3::Z * G * t * t;
    assert!((p.position[0] - exact).length() < 0.51 * G * t * t / steps + 1e-9, "{}", p.position[0] - exact);
}

#[test]
fn a_cloud_of_grains_falls_at_the_terminal_speed_of_a_grain() {
    let mut scene = alone(Some(Air::default()));
    scene.sph.add(&[at(DVec3::Z * 40.0, DVec3::ZERO)], &scene.boundary).unwrap();
    scene.run(4.0);
    let speed = -scene.particles().velocity[0].z;
    let (air, d, rho) = (Air::default(), 0.5e-3, 2650.0);
    let re = air.density * speed * d / air.viscosity;
    let drag = 24.0 / re * (1.0 + re.powf(2.0 / 3.0) / 6.0);
    let exact = (4.0 * G * d * rho / (3.0 * drag * air.density)).sqrt();
    assert!((speed / exact - 1.0).abs() < 0.01, "{speed} in place of {exact}");
    assert!((3.0..5.0).contains(&speed), "half a millimetre of sand: {speed} m/s");
}

#[test]
fn of_a_row_in_the_wind_only_the_first_is_exposed() {
    let mut scene = alone(Some(Air { wind: Wind::Constant(DVec3::X * 5.0), ..Air::default() }));
    scene.sph.set_gravity(DVec3::ZERO);
    let row: Vec<NewMatter> = (0..4).map(|k| at(DVec3::X * (f64::from(k) * D), DVec3::ZERO)).collect();
    scene.sph.add(&row, &scene.boundary).unwrap();
    scene.dt = 1e-4;
    scene.advance();
    let p = scene.particles();
    let speed = |id: u32| p.velocity[p.id.iter().position(|i| *i == id).unwrap()].x;
    assert!(speed(0) > 0.0);
    for id in 1..4 {
        assert!(speed(id) < 0.1 * speed(0), "{id}: {} against {}", speed(id), speed(0));
    }
}
