//! Air: spray, terminal speed, shielding.

use crate::common::*;
use barchan_core::solver::{Domain, NewMatter, Solver};
use barchan_sph::{Air, Drag, Settings, Wind};
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

/// Speed at which a single particle falls steadily through dense air.
fn steady(drag: Drag) -> f64 {
    let domain = Domain { min: DVec3::splat(-50.0), max: DVec3::splat(50.0), periodic: [false; 3] };
    let mut settings = Settings::sand(D, domain);
    settings.air = Some(Air { drag, density: THICK, ..Air::default() });
    let mut scene = Scene::new(settings, walls(Vec::new()));
    scene.sph.add(&[at(DVec3::Z * 40.0, DVec3::ZERO)], &scene.boundary).unwrap();
    scene.run(4.0);
    -scene.particles().velocity[0].z
}

/// A density of air [kg/m³] in which a particle reaches its steady speed within some metres.
const THICK: f64 = 100.0;

#[test]
fn a_blob_falls_at_the_speed_at_which_its_drag_bears_its_weight() {
    // ½ ρ_a v² C π r² = m g, with r half a spacing.
    let mass = 1550.0 * D.powi(3);
    let exact = (2.0 * mass * G / (THICK * 0.47 * std::f64::consts::PI * (0.5 * D).powi(2))).sqrt();
    let found = steady(Drag::Blob);
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} in place of {exact}");
    // Alone, the blend is a sphere of the particle's volume: L = (3/4π)^{1/3} d, C = 0.424 at Re above 1000.
    let radius = (3.0 / (4.0 * std::f64::consts::PI)).cbrt() * D;
    let exact = (2.0 * mass * G / (THICK * 0.424 * std::f64::consts::PI * radius.powi(2))).sqrt();
    let found = steady(Drag::Blend);
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} in place of {exact}");
}

#[test]
fn the_first_of_a_row_is_as_exposed_as_one_that_is_alone() {
    let first = |many: i32| {
        let mut scene = alone(Some(Air { wind: Wind::Constant(DVec3::X * 5.0), ..Air::default() }));
        scene.sph.set_gravity(DVec3::ZERO);
        let row: Vec<NewMatter> = (0..many).map(|k| at(DVec3::X * (f64::from(k) * D), DVec3::ZERO)).collect();
        scene.sph.add(&row, &scene.boundary).unwrap();
        scene.dt = 1e-4;
        scene.advance();
        let p = scene.particles();
        p.velocity[p.id.iter().position(|i| *i == 0).unwrap()].x
    };
    let exposed = first(4) / first(1);
    assert!((0.9..=1.0 + 1e-9).contains(&exposed), "w = {exposed}");
}

#[test]
fn wind_along_a_surface_does_not_blow_into_it() {
    let pushed = |along_surface: bool| {
        let wind = Wind::Constant(DVec3::new(5.0, 0.0, -5.0));
        let mut scene = alone(Some(Air { wind, along_surface, ..Air::default() }));
        scene.sph.set_gravity(DVec3::ZERO);
        // A bump in the middle of a layer: its neighbours lie alike on all sides below it.
        let site = |k: i32| DVec3::new(f64::from(k % 5 - 2), f64::from(k / 5 - 2), 0.0) * D;
        let mut matter: Vec<NewMatter> = (0..25).map(|k| at(site(k), DVec3::ZERO)).collect();
        matter.push(at(DVec3::Z * (0.8 * D), DVec3::ZERO));
        scene.sph.add(&matter, &scene.boundary).unwrap();
        scene.dt = 1e-5;
        scene.advance();
        let p = scene.particles();
        p.velocity[p.id.iter().position(|i| *i == 25).unwrap()]
    };
    let (along, into) = (pushed(true), pushed(false));
    assert!(along.x > 0.0 && along.z.abs() < 0.02 * along.x, "{along}");
    assert!(into.x > 0.0 && into.z < -0.9 * into.x, "{into}");
}
