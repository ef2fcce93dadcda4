//! Small scenes that the tests share: slices that are periodic in y, four spacings thick.

use barchan_core::boundary::{Body, Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::frame::{Frame, Population, Values};
use barchan_core::solver::{Domain, Solver};
use barchan_core::walls::{Geometry, Wall};
use barchan_sph::{Filling, SPH, Settings, Sph};
use glam::DVec3;

/// Spacing of all scenes [m].
pub const D: f64 = 0.02;
/// Gravity [m/s²].
pub const G: f64 = 9.81;

/// A slice from −x to x and up to z [m], periodic in y, and in x if asked.
pub fn slice(x: f64, z: f64, periodic_x: bool) -> Domain {
    Domain { min: DVec3::new(-x, 0.0, -0.1), max: DVec3::new(x, 4.0 * D, z), periodic: [periodic_x, true, false] }
}

pub fn plane(name: &str, point: DVec3, normal: DVec3) -> Wall {
    Wall::new(name, Geometry::Plane { point, normal }, 0)
}

pub fn floor() -> Wall {
    plane("floor", DVec3::ZERO, DVec3::Z)
}

pub fn walls(walls: Vec<Wall>) -> Boundary {
    Boundary::new(Fixtures { walls, carried: Vec::new() }, Vec::<Body>::new(), DVec3::new(0.0, 0.0, -G))
}

/// A world of one continuum.
pub struct Scene {
    pub sph: Sph,
    pub boundary: Boundary,
    pub step: u64,
    pub dt: f64,
}

impl Scene {
    pub fn new(settings: Settings, boundary: Boundary) -> Scene {
        let sph = Sph::new(settings).unwrap();
        let dt = sph.wish().dt;
        Scene { sph, boundary, step: 0, dt }
    }

    /// Fills what is inside, on the lattice from a box's lower corner, with the pressure of the weight above.
    pub fn fill(&mut self, corners: [DVec3; 2], jitter: f64, is_inside: impl Fn(DVec3) -> bool) {
        let s = self.sph.settings();
        let filling = Filling { corners, spacing: s.spacing, jitter, velocity: DVec3::ZERO, kind: 0, seed: 7 };
        let filled = filling.fill(&is_inside, &self.boundary, s.gravity, s.bulk_density);
        self.sph.add_filled(&filled.matter, &filled.pressure, &self.boundary).unwrap();
    }

    /// One world step.
    pub fn advance(&mut self) {
        let interval = Interval { step: self.step, dt: self.dt };
        self.boundary.advance(interval.end(), interval.dt);
        self.sph.step(&interval, &mut self.boundary).unwrap();
        self.step += 1;
    }

    /// So many seconds [s].
    pub fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / self.dt).round() as usize {
            self.advance();
        }
    }

    pub fn particles(&self) -> Population {
        let mut frame = Frame::default();
        self.sph.publish(&mut frame);
        frame.population(SPH).unwrap().clone()
    }

    pub fn column(&self, name: &str) -> Vec<f64> {
        let p = self.particles();
        let values: &Values = &p.extra(name).unwrap().values;
        (0..values.len()).map(|k| values.number(k)).collect()
    }

    pub fn gauge(&self, name: &str) -> f64 {
        self.sph.totals().gauges.iter().find(|g| g.name == name).unwrap().value
    }

    /// Weight of all matter [N].
    pub fn weight(&self) -> f64 {
        self.sph.totals().mass * G
    }

    pub fn force_on(&self, wall: usize) -> DVec3 {
        self.boundary.states()[wall].force
    }
}
