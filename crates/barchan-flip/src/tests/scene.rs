//! Scenes for tests, in units of a cell: h = 1 m, g = 1 m/s².

use crate::{Alone, Settings};
use barchan_core::boundary::Fixtures;
use barchan_core::materials::{Material, Materials};
use barchan_core::solver::Domain;
use barchan_core::walls::{Geometry, Wall};
use glam::DVec3;

/// Sand (0), rough wall (1), smooth wall (2).
pub fn materials() -> Materials {
    let material = |name: &str, friction: f64| Material {
        name: name.into(),
        density: 2650.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.2,
        friction,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    Materials { list: vec![material("sand", 1.0), material("rough", 1.0), material("smooth", 0.0)], overrides: vec![] }
}

/// A domain of so many cells with unit cells and gravity; all sand is liquid.
pub fn settings(size: [f64; 3], periodic: [bool; 3]) -> Settings {
    let domain = Domain { min: DVec3::ZERO, max: DVec3::from_array(size), periodic };
    Settings {
        gravity: DVec3::new(0.0, 0.0, -1.0),
        friction_angle: 30f64.to_radians(),
        gas: None,
        ..Settings::sand(domain, 1.0, materials())
    }
}

/// A plane wall.
pub fn plane(point: DVec3, normal: DVec3, material: u16) -> Wall {
    Wall::new("plane", Geometry::Plane { point, normal }, material)
}

/// Sand in a world of these walls.
pub fn world(settings: Settings, walls: Vec<Wall>) -> Alone {
    Alone::new(settings, Fixtures { walls, carried: Vec::new() }).unwrap()
}

/// Mean speed [m/s] as a root of the mean square.
pub fn rms(a: &Alone) -> f64 {
    let v = &a.liquid.parcels.velocity;
    (v.iter().map(|v| v.length_squared()).sum::<f64>() / v.len() as f64).sqrt()
}

/// Momentum over the mass of a full cell [m/s].
pub fn momentum(a: &Alone) -> DVec3 {
    let p = &a.liquid.parcels;
    let fill = a.liquid.settings.fill();
    p.velocity.iter().zip(&p.quanta).map(|(v, q)| *v * f64::from(*q) * fill).sum()
}

/// Slope [deg] of the flanks of a planar heap about x = `middle` in a slab 8 cells deep: least squares over the middle of its height.
pub fn flank(a: &Alone, middle: f64) -> f64 {
    let mut height = vec![0.0; 2 * middle as usize];
    for i in 0..a.len() {
        let x = (a.position(i).x as usize).min(height.len() - 1);
        height[x] += 1.0 / 64.0;
    }
    let top = height.iter().fold(0.0, |m: f64, h| m.max(*h));
    let columns = height.iter().enumerate().map(|(k, h)| ((k as f64 + 0.5 - middle).abs(), *h));
    let points: Vec<(f64, f64)> = columns.filter(|p| (0.2 * top..0.8 * top).contains(&p.1)).collect();
    let n = points.len() as f64;
    let (mx, mh) = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (a, b) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + (p.0 - mx) * (p.1 - mh), s.1 + (p.0 - mx) * (p.0 - mx)));
    (-a / b).atan().to_degrees()
}
