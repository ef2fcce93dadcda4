//! More grains of the same size: `--scale`.
//!
//! The number of grains is multiplied by a factor f while the grains stay as they are. Lengths of the geometry grow by
//! L = f^(1/3); gravity stays, so times grow by √L = f^(1/6) (Froude similarity), velocities by √L, rates of grains by
//! f/√L = f^(5/6). Stresses stay: loads grow with the area, and a plunger keeps its thickness (mass ∝ L²), so that grains are
//! squeezed as in the original. What belongs to the grains (radii, shapes, roughness of walls, time step) stays. A population
//! placed by hand (`at`) is part of the geometry: it keeps its number, and its radius grows by L.

use crate::types::*;
use barchan_core::walls::Facets;
use glam::DVec3;
use std::sync::Arc;

/// The powers of the factor.
#[derive(Clone, Copy)]
struct Scale {
    number: f64,
    length: f64,
    time: f64,
}

impl Scale {
    fn lengths(self, values: &mut [&mut f64]) {
        values.iter_mut().for_each(|x| **x *= self.length);
    }

    fn places(self, values: &mut [&mut DVec3]) {
        values.iter_mut().for_each(|x| **x *= self.length);
    }

    fn times(self, values: &mut [&mut Option<f64>]) {
        values.iter_mut().filter_map(|x| x.as_mut()).for_each(|x| *x *= self.time);
    }

    fn count(self, value: &mut Option<u64>) {
        if let Some(n) = value {
            *n = ((*n as f64 * self.number).round() as u64).max(1);
        }
    }

    /// Velocities scale as times do: length / time = √length.
    fn speed(self) -> f64 {
        self.time
    }

    fn region(self, region: &mut Region) {
        match region {
            Region::Box { min, max } => self.places(&mut [min, max]),
            Region::Cylinder { base, radius, height, .. } => {
                self.places(&mut [base]);
                self.lengths(&mut [radius, height]);
            }
            Region::Sphere { centre, radius } => {
                self.places(&mut [centre]);
                self.lengths(&mut [radius]);
            }
        }
    }

    fn size(self, size: &mut Size) {
        match size {
            Size::Fixed(r) => *r *= self.length,
            Size::Uniform([a, b]) => self.lengths(&mut [a, b]),
            Size::Normal { mean, sd, min, max } => self.lengths(&mut [mean, sd, min, max]),
            Size::Lognormal { median, min, max, .. } => self.lengths(&mut [median, min, max]),
            Size::Sieve(rows) => rows.iter_mut().for_each(|r| r[0] *= self.length),
        }
    }

    fn grains(self, g: &mut Grains, listed_radius: Option<f64>) {
        g.velocity *= self.speed();
        g.velocity_spread *= self.speed();
        g.spin /= self.time;
        match &mut g.place {
            Place::Fill(fill) => {
                self.region(&mut fill.region);
                self.count(&mut fill.count);
                self.count(&mut fill.batch);
                self.times(&mut [&mut fill.every]);
            }
            Place::At(list) => {
                list.iter_mut().for_each(|x| *x *= self.length);
                let mut size = g.radius.take().or(listed_radius.map(Size::Fixed));
                if let Some(size) = &mut size {
                    self.size(size);
                }
                g.radius = size;
            }
        }
    }

    fn body(self, b: &mut Body) {
        b.at.iter_mut().for_each(|x| *x *= self.length);
        b.scale *= self.length;
        b.velocity *= self.speed();
        b.spin /= self.time;
        if let Some(centre) = &mut b.centre {
            *centre *= self.length;
        }
        if let Some(radius) = &mut b.radius {
            *radius *= self.length;
        }
        b.mass = b.mass.map(|m| m * self.length.powi(3));
        b.inertia = b.inertia.map(|i| i * self.length.powi(5));
        if let Some(d) = &mut b.drive {
            // Weight times length.
            d.torque *= self.length.powi(4);
            d.max_spin = d.max_spin.map(|w| w / self.time);
            self.times(&mut [&mut d.from, &mut d.until]);
        }
        b.solid.shape = b.solid.shape.take().map(|s| Arc::new((s.0.clone(), s.1 * self.length)));
    }

    fn emitter(self, e: &mut Emitter) {
        self.places(&mut [&mut e.disc.centre]);
        self.lengths(&mut [&mut e.disc.radius]);
        match &mut e.flow {
            EmitterFlow::Rate(rate) | EmitterFlow::MassRate(rate) => *rate *= self.number / self.time,
        }
        e.velocity *= self.speed();
        e.from *= self.time;
        self.times(&mut [&mut e.until]);
        self.count(&mut e.count);
    }

    fn geometry(self, g: &mut Geometry) {
        match g {
            Geometry::Plane { point, .. } => self.places(&mut [point]),
            Geometry::Box { min, max, .. } => self.places(&mut [min, max]),
            Geometry::Cylinder { base, radius, height, .. } => {
                self.places(&mut [base]);
                self.lengths(&mut [radius]);
                if let Some(h) = height {
                    self.lengths(&mut [h]);
                }
            }
            Geometry::Cone { base, radius_base, radius_top, height, .. } => {
                self.places(&mut [base]);
                self.lengths(&mut [radius_base, radius_top, height]);
            }
            Geometry::Sphere { centre, radius, .. } => {
                self.places(&mut [centre]);
                self.lengths(&mut [radius]);
            }
            Geometry::Disc { centre, radius, hole, .. } => {
                self.places(&mut [centre]);
                self.lengths(&mut [radius, hole]);
            }
            Geometry::Mesh(mesh) => {
                self.places(&mut [&mut mesh.at]);
                self.lengths(&mut [&mut mesh.scale]);
                let mut factor = 1.0;
                self.lengths(&mut [&mut factor]);
                mesh.surface.facets =
                    mesh.surface.facets.take().map(|s| Arc::new(Facets::new(s.mesh().scaled(factor))));
            }
        }
    }

    /// The columns keep their width: it goes with the grains.
    fn ground(self, g: &mut Ground) {
        g.min *= self.length;
        g.max *= self.length;
        self.lengths(&mut [&mut g.floor, &mut g.unit]);
        g.height.iter_mut().for_each(|h| *h *= self.length);
        g.image.iter_mut().for_each(|i| self.lengths(&mut [&mut i.low, &mut i.high]));
        g.terrain.iter_mut().for_each(|t| self.lengths(&mut [&mut t.low, &mut t.scale]));
    }

    fn camera(self, camera: &mut Camera) {
        match camera {
            Camera::Auto { .. } | Camera::Orbit { .. } => {}
            Camera::Fixed { eye, target, .. } => self.places(&mut [eye, target]),
            Camera::Fly(keys) => {
                for k in keys {
                    k.time *= self.time;
                    self.places(&mut [&mut k.eye, &mut k.target]);
                }
            }
            Camera::Follow { distance, .. } => {
                if let Some(distance) = distance {
                    self.lengths(&mut [distance]);
                }
            }
        }
    }

    fn wall(self, w: &mut Wall) {
        self.geometry(&mut w.geometry);
        w.velocity *= self.speed();
        if let Some(r) = &mut w.rotate {
            self.places(&mut [&mut r.point]);
            r.rate /= self.time;
        }
        if let Some(o) = &mut w.oscillate {
            self.lengths(&mut [&mut o.amplitude]);
            o.frequency /= self.time;
        }
        for k in &mut w.keyframes {
            k.time *= self.time;
            self.places(&mut [&mut k.at]);
        }
        let area = self.length * self.length;
        if let Some(d) = &mut w.drive {
            d.mass *= area;
            d.load *= area;
            d.damping *= area / self.speed();
        }
        if let Some(s) = &mut w.servo {
            s.area *= area;
            s.max_speed *= self.speed();
        }
        self.times(&mut [&mut w.from, &mut w.until]);
    }
}

impl Scene {
    /// The same scene with `factor` times the grains, at the same grain size, in a geometry that grows with them.
    ///
    /// | what | grows as |
    /// |---|---|
    /// | numbers of grains | f |
    /// | domain, walls, ground, regions, orifices, discs, amplitudes, positions | f^(1/3) |
    /// | radii of grains, shapes, roughness, columns' width, dt, stresses | 1 |
    /// | radius of a population placed by `at` (its number stays), bodies | f^(1/3) |
    /// | times, velocities | f^(1/6) |
    /// | frequencies, angular rates | f^(−1/6) |
    /// | rates of emitters | f^(5/6) |
    /// | loads and masses of plungers | f^(2/3) |
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scene = self.clone();
        // A factor that is no multiplier leaves the scene alone; the command line refuses it with a message.
        if !(factor.is_finite() && factor > 0.0) {
            return scene;
        }
        let s = Scale { number: factor, length: factor.cbrt(), time: factor.cbrt().sqrt() };
        scene.duration *= s.time;
        s.places(&mut [&mut scene.domain.min, &mut scene.domain.max]);
        for g in &mut scene.grains {
            let listed = self.shapes.get(&g.shape).and_then(ShapeSpec::listed_radius);
            s.grains(g, listed);
        }
        scene.bodies.iter_mut().for_each(|b| s.body(b));
        scene.emitters.iter_mut().for_each(|e| s.emitter(e));
        for sink in &mut scene.sinks {
            match &mut sink.region {
                SinkRegion::Below { point, .. } => s.places(&mut [point]),
                SinkRegion::Region(region) => s.region(region),
            }
        }
        scene.walls.iter_mut().for_each(|w| s.wall(w));
        if let Some(g) = &mut scene.ground {
            s.ground(g);
        }
        scene.output.every *= s.time;
        s.times(&mut [&mut scene.output.checkpoint]);
        s.camera(&mut scene.picture.camera);
        for m in &mut scene.measure {
            m.every *= s.time;
            match &mut m.what {
                What::Flow { point, .. } => s.places(&mut [point]),
                What::Count(region)
                | What::Packing { region, .. }
                | What::Profile { region, .. }
                | What::Fields { region, .. } => s.region(region),
                What::Repose { point, ceiling, .. } => {
                    s.places(&mut [point]);
                    ceiling.iter_mut().for_each(|c| s.lengths(&mut [c]));
                }
                What::ForceNetwork { within, .. }
                | What::ForceCorrelation { within, .. }
                | What::ContactAngles { within, .. } => within.iter_mut().for_each(|region| s.region(region)),
                What::Energy {}
                | What::Coordination {}
                | What::WallForces {}
                | What::Bodies {}
                | What::Ground {}
                | What::ForceHistogram { .. } => {}
            }
        }
        scene
    }
}
