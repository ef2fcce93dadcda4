//! Particle sampling: a surface covered evenly with spheres [Longmore 2009, chapter 6].
//!
//! Particles are injected near the surface, drawn to it by v = −s d (6.1), s the signed distance and d its gradient, and
//! spread over it by a Gaussian repulsion (6.2) until they are even. Distances come from the mesh itself, not from a grid, so
//! that edges stay sharp and no cell size is to be chosen. What the thesis leaves open is done here: the number of
//! particles follows from the radius, gaps are looked for (with probes all over the surface) and filled, and excess is
//! removed. For a body the spheres lie inside and touch the surface from there: see [`Placement::Inside`].
//!
//! A step costs some 2 µs a particle. Nothing depends on threads; random numbers follow from the seed.

mod balls;
mod buckets;
mod filling;
mod probes;
mod spread;
#[cfg(test)]
mod tests;
mod union;

use crate::mesh::Mesh;
use crate::mesh::near::{Surface, SurfaceError};
use balls::Balls;
use buckets::Buckets;
use glam::DVec3;
use probes::Probes;
use spread::Particle;
pub use union::union;

/// Spheres a sampling may have.
pub const MOST_SPHERES: usize = 2_000_000;
/// Distance of neighbours on the surface over the radius, if spheres are centred on it. In an even (hexagonal) sampling
/// no point would be farther than 1/√3 of that from a centre; a quarter of the radius is left for unevenness.
const SPACING_ON_SURFACE: f64 = 1.3;
/// Distance of neighbours over that at which dimples are as deep as allowed, for the same reason.
const SPACING_INSIDE: f64 = 0.8;
/// Radius over spacing of spheres that are looked at while they move.
const BEAD: f64 = 0.4;
/// Rounds of filling gaps and spreading again.
const ROUNDS: usize = 4;

/// Where the spheres are to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Centres on the surface, and every point of it within a sphere.
    OnSurface,
    /// Centres one radius inside, so that the surface of the spheres is that of the mesh. Where the body is too thin or
    /// too sharply edged for a whole sphere it gets the largest that fits, down to [`Settings::least`].
    Inside,
}

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Radius of the spheres [m].
    pub radius: f64,
    /// Where they lie.
    pub placement: Placement,
    /// Inside only: how far the surface may be from the nearest sphere, over the radius; it sets how dense they are.
    pub roughness: f64,
    /// Inside only: the smallest sphere used where the whole one does not fit, over the radius.
    pub least: f64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Spheres it may have, at most [`MOST_SPHERES`]; a sampling that would need more is refused before any work is done.
    pub most: usize,
}

impl Settings {
    /// Spheres of that radius [m], with a roughness of a tenth and spheres no smaller than a quarter.
    pub fn new(radius: f64, placement: Placement, seed: u64) -> Settings {
        Settings { radius, placement, roughness: 0.1, least: 0.25, seed, most: MOST_SPHERES }
    }

    /// Distance of neighbours on the surface [m]. Between three spheres of radius R at mutual distance a there is a dimple of
    /// depth a²/(6R), to first order.
    fn spacing(&self) -> f64 {
        match self.placement {
            Placement::OnSurface => SPACING_ON_SURFACE * self.radius,
            Placement::Inside => SPACING_INSIDE * (6.0 * self.roughness).sqrt() * self.radius,
        }
    }

    /// How far a point of the surface may be outside the nearest sphere and still count as covered [m].
    fn slack(&self) -> f64 {
        match self.placement {
            Placement::OnSurface => 0.0,
            Placement::Inside => self.roughness * self.radius,
        }
    }

    fn check(&self) -> Result<(), SamplingError> {
        if !(self.radius.is_finite() && self.radius > 0.0) {
            return Err(SamplingError::Radius(self.radius));
        }
        for (name, share, most) in [("roughness", self.roughness, 0.5), ("least radius", self.least, 1.0)] {
            if !(share >= 0.01 && share <= most) {
                return Err(SamplingError::Share { name, share, most });
            }
        }
        Ok(())
    }
}

/// A sampling that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SamplingError {
    /// The mesh has no surface.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// A radius that is no length.
    #[error("a sphere of radius {0} m is impossible: give a positive, finite length")]
    Radius(f64),
    /// A share of the radius out of range.
    #[error("a {name} of {share} radii is impossible: give one from 0.01 to {most}")]
    Share {
        /// Which share.
        name: &'static str,
        /// What was given.
        share: f64,
        /// The most that is possible.
        most: f64,
    },
    /// A mesh without an inside.
    #[error("the mesh is not closed, and spheres cannot lie inside it: close it, or place them on the surface")]
    Open,
    /// More spheres than allowed.
    #[error(
        "spheres of radius {radius:.3e} m: {needed:.1e} of them would be needed, and at most {most} are allowed: use a radius of {remedy:.3e} m or more"
    )]
    TooMany {
        /// The radius asked for [m].
        radius: f64,
        /// How many spheres it would take.
        needed: f64,
        /// How many are allowed.
        most: usize,
        /// A radius that would do [m].
        remedy: f64,
    },
}

/// How good a sampling is, measured with probes that had no part in making it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of spheres.
    pub count: usize,
    /// Share of the surface that is within a sphere or, if they lie inside, within the roughness of one.
    pub coverage: f64,
    /// Share of the surface that no sphere of the least radius inside can come so close to: sharp edges, thin fins.
    pub unreachable: f64,
    /// Points of the surface that are not covered [m]: each stands for an equal share of it.
    pub uncovered: Vec<DVec3>,
    /// Greatest distance of a point of the surface from the nearest sphere [m]; 0 if all are within one.
    pub gap: f64,
    /// Mean distance of the points of the surface next to the spheres' centres, each from its nearest neighbour on the
    /// same side [m].
    pub spacing: f64,
    /// Standard deviation of that distance over its mean.
    pub spread: f64,
    /// Greatest distance of a centre from the surface or, if they lie inside, of a sphere's nearest point from it [m].
    pub distance: f64,
    /// Radius of the smallest sphere [m].
    pub smallest: f64,
}

/// A sampling in the making.
#[derive(Clone, Debug)]
pub struct Sampling {
    surface: Surface,
    mesh: Mesh,
    settings: Settings,
    probes: Probes,
    particles: Vec<Particle>,
    spheres: Vec<(DVec3, f64)>,
    even: spread::Evenness,
    rounds: usize,
    done: bool,
    unreachable: f64,
}

impl Sampling {
    /// Injects particles near the surface: as many as it takes.
    pub fn new(mesh: &Mesh, settings: Settings) -> Result<Sampling, SamplingError> {
        settings.check()?;
        let surface = Surface::build(mesh)?;
        if settings.placement == Placement::Inside && !surface.is_closed() {
            return Err(SamplingError::Open);
        }
        let needed = probes::area(mesh) / (0.75f64.sqrt() * settings.spacing().powi(2));
        let most = settings.most.min(MOST_SPHERES);
        if needed.is_nan() || needed > most as f64 {
            let remedy = 1.01 * settings.radius * (needed / most as f64).sqrt();
            return Err(SamplingError::TooMany { radius: settings.radius, needed, most, remedy });
        }
        let probes = Probes::scatter(mesh, probes::count(needed), settings.seed, probes::MAKING);
        let particles = spread::inject(&probes, &settings);
        let mut sampling = Sampling {
            surface,
            mesh: mesh.clone(),
            settings,
            probes,
            particles,
            spheres: Vec::new(),
            even: spread::Evenness::default(),
            rounds: 0,
            done: false,
            unreachable: 0.0,
        };
        sampling.show();
        Ok(sampling)
    }

    /// One step of all particles, and, when they are even, filling gaps. False when there is nothing left to do.
    pub fn step(&mut self) -> bool {
        if self.done {
            return false;
        }
        let spacing = self.settings.spacing();
        spread::step(&self.surface, &mut self.particles, spacing);
        if self.even.reached(&self.particles, spacing) {
            self.settle();
        } else {
            self.show();
        }
        !self.done
    }

    /// Steps until there is nothing left to do.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// Whether there is nothing left to do.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Centres of the spheres as they are now [m].
    pub fn points(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.spheres.iter().map(|s| s.0)
    }

    /// Centres and radii of the spheres as they are now [m].
    pub fn spheres(&self) -> &[(DVec3, f64)] {
        &self.spheres
    }

    /// The spheres to look at while they form: as long as they move, in their places and so small that they will stand apart
    /// once they are even; then as they are.
    pub fn beads(&self) -> Vec<(DVec3, f64)> {
        let radius = |r: f64| if self.done { r } else { r.min(BEAD * self.settings.spacing()) };
        self.spheres.iter().map(|&(c, r)| (c, radius(r))).collect()
    }

    /// Radius that was asked for [m].
    pub fn radius(&self) -> f64 {
        self.settings.radius
    }

    /// The surface that is sampled.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    fn show(&mut self) {
        let radius = self.settings.radius;
        self.spheres = self.particles.iter().map(|p| (p.position, radius)).collect();
    }

    /// Particles are even: put them where they belong and fill the gaps.
    fn settle(&mut self) {
        spread::land(&self.surface, &mut self.particles);
        if self.settings.placement == Placement::Inside {
            let balls = Balls { surface: &self.surface, settings: &self.settings, probes: &self.probes };
            (self.spheres, self.unreachable) = balls.place(&self.particles);
            self.done = true;
            return;
        }
        let radius = self.settings.radius;
        let mut centres = Buckets::of(radius, self.particles.iter().map(|p| p.position));
        let before = self.particles.len();
        for k in 0..self.probes.points.len() {
            let (place, normal) = (self.probes.points[k], self.probes.normals[k]);
            if !centres.any(place, radius) {
                centres.insert(place);
                self.particles.push(Particle::new(place, normal));
            }
        }
        self.show();
        self.rounds += 1;
        self.done = self.particles.len() == before || self.rounds > ROUNDS;
        self.even = spread::Evenness::default();
    }

    /// Measures what is there now.
    pub fn quality(&self) -> Quality {
        let Settings { radius, seed, placement, .. } = self.settings;
        let probes = Probes::scatter(&self.mesh, self.probes.points.len(), seed, probes::MEASURING);
        let gaps = balls::gaps(&probes.points, &self.spheres, radius);
        let slack = self.settings.slack() + 1e-9 * radius;
        let uncovered: Vec<DVec3> =
            gaps.iter().zip(&probes.points).filter(|(g, _)| **g > slack).map(|(_, p)| *p).collect();
        let off = |&(centre, r): &(DVec3, f64)| {
            let distance = self.surface.distance(centre);
            if placement == Placement::Inside { (distance + r).abs() } else { distance.abs() }
        };
        let touching = self.spheres.iter().filter_map(|s| {
            let near = self.surface.tree().nearest(s.0, f64::INFINITY)?;
            Some((near.point, self.surface.pseudonormal(&near).normalize_or_zero()))
        });
        let (spacing, spread) = spread::spacing(&touching.collect::<Vec<_>>(), self.settings.spacing());
        Quality {
            count: self.spheres.len(),
            coverage: 1.0 - uncovered.len() as f64 / probes.points.len().max(1) as f64,
            unreachable: self.unreachable,
            uncovered,
            gap: balls::greatest_gap(&gaps, &probes.points, &self.spheres),
            spacing,
            spread,
            distance: self.spheres.iter().map(off).fold(0.0, f64::max),
            smallest: self.spheres.iter().map(|s| s.1).fold(radius, f64::min),
        }
    }
}
