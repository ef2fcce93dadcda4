//! Gas: grains of one quantum each that fly freely, are slowed by air and bounce off walls.
//!
//! Reads walls; writes positions and velocities, and returns the impulses on walls. Grains do not meet each other. A flight is cut into
//! pieces no longer than a grain's radius, so that no grain passes through a wall, however thin.

use crate::settings::{GasSettings, Settings};
use crate::surface::field::Found;
use crate::surface::ride::Riding;
use barchan_core::boundary::Boundary;
use barchan_core::math;
use barchan_core::parallel;
use barchan_core::walls::WallState;
use glam::DVec3;

/// Columns of all grains of gas, in the order of their ids.
#[derive(Clone, Debug, Default)]
pub struct Gas {
    /// Position [m].
    pub position: Vec<DVec3>,
    /// Velocity [m/s].
    pub velocity: Vec<DVec3>,
    /// Permanent id.
    pub id: Vec<u32>,
}

/// The surface of the liquid under grains that fly near it.
pub struct Under<'a> {
    /// How it drags and bears them.
    pub riding: Riding,
    /// The surface at a point [m].
    pub at: &'a (dyn Fn(DVec3) -> Option<Found> + Sync),
    /// Of each grain, whether there is sand near that can take up what it loses.
    pub near: &'a [bool],
}

/// What a flight gave others.
#[derive(Default)]
pub struct Given {
    /// Impulses on walls, in the order of grains.
    pub walls: Vec<Impulse>,
    /// Changes of velocity that the sand near a grain gave it [m/s], with the grain's row.
    pub sand: Vec<(usize, DVec3)>,
}

/// An impulse on a wall: which, where [m], how much [kg m/s].
pub type Impulse = (u16, DVec3, DVec3);

/// Grains that a task lets fly.
const CHUNK: usize = 1024;
/// Most pieces of a flight: a faster grain than this many radii a step is an error of the scene, and is let through.
const PIECES: f64 = 200.0;

/// Drag coefficient of a sphere at a Reynolds number: 24/Re (1 + Re^{2/3}/6) up to 1000, then 0.424 [Putnam 1961].
pub fn drag_coefficient(reynolds: f64) -> f64 {
    if reynolds > 1000.0 {
        0.424
    } else {
        let r = reynolds.max(1e-12);
        24.0 / r * (1.0 + math::powf(r, 2.0 / 3.0) / 6.0)
    }
}

/// Rate [1/s] at which air slows a sphere of diameter d [m] and density ρ_s [kg/m³] that moves through it at a speed [m/s]:
///   ¾ C_D (ρ_a/ρ_s) |w|/d.
pub fn drag_rate(air: &GasSettings, density: f64, grain: f64, speed: f64) -> f64 {
    let reynolds = air.air_density * speed * grain / air.air_viscosity;
    0.75 * drag_coefficient(reynolds) * air.air_density / density * speed / grain
}

/// By how much air shortens a velocity of that magnitude [m/s] in `dt` [s], implicit in the speed: s (1 + rate(s) dt) = w. No step is
/// too long for it, and a falling grain comes to the speed at which drag and weight balance, whatever the step.
fn slowed(air: &GasSettings, settings: &Settings, speed: f64, dt: f64) -> f64 {
    // With the rate taken as K s this is a quadratic; K changes with the drag coefficient alone, so that few rounds settle it.
    const ROUNDS: usize = 8;
    let mut s = speed;
    for _ in 0..ROUNDS {
        if s > 0.0 {
            let k = drag_rate(air, settings.density, settings.grain, s) / s * dt;
            s = 2.0 * speed / (1.0 + (1.0 + 4.0 * k * speed).sqrt());
        }
    }
    if speed > 0.0 { s / speed } else { 1.0 }
}

impl Gas {
    /// How many.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Adds a grain.
    pub fn push(&mut self, position: DVec3, velocity: DVec3, id: u32) {
        self.position.push(position);
        self.velocity.push(velocity);
        self.id.push(id);
    }

    /// Keeps the grains for which `keep(index)` is true.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let rows: Vec<usize> = (0..self.len()).filter(|&i| keep(i)).collect();
        self.position = rows.iter().map(|&i| self.position[i]).collect();
        self.velocity = rows.iter().map(|&i| self.velocity[i]).collect();
        self.id = rows.iter().map(|&i| self.id[i]).collect();
    }

    /// Lets all grains fly for `dt` [s]; returns what they did to walls and to the sand.
    pub fn fly(
        &mut self,
        settings: &Settings,
        air: &GasSettings,
        boundary: &Boundary,
        states: &[WallState],
        under: Option<&Under<'_>>,
        dt: f64,
    ) -> Given {
        let contacts: Vec<(f64, f64)> = boundary
            .walls()
            .iter()
            .map(|w| settings.materials.pair(settings.material, w.material))
            .map(|pair| (pair.friction, air.restitution))
            .collect();
        let domain = settings.domain;
        let (period, radius) = (domain.period(), 0.5 * settings.gas_diameter());
        let tasks = self.position.chunks_mut(CHUNK).zip(self.velocity.chunks_mut(CHUNK)).collect();
        let tasks: Vec<(&mut [DVec3], &mut [DVec3])> = tasks;
        let found = parallel::run(tasks.into_iter().enumerate().collect(), 2, |(chunk, (position, velocity))| {
            let mut out = Given::default();
            for (k, (x, v)) in position.iter_mut().zip(velocity).enumerate() {
                let row = chunk * CHUNK + k;
                let under = under.filter(|u| u.near[row]);
                let mut lent = DVec3::ZERO;
                *v += settings.gravity * dt;
                if air.drag {
                    let w = *v - air.wind;
                    *v = air.wind + w * slowed(air, settings, w.length(), dt);
                }
                if let Some(under) = under
                    && let Some(found) = (under.at)(*x)
                {
                    let before = *v;
                    *v = under.riding.borrow(*v, &found, dt);
                    lent += *v - before;
                }
                let pieces = (v.length() * dt / radius).ceil().clamp(1.0, PIECES);
                for _ in 0..pieces as usize {
                    *x += *v * (dt / pieces);
                    if let Some(under) = under
                        && let Some(found) = (under.at)(*x)
                    {
                        let (after, shift) = under.riding.touch(*v, &found);
                        lent += after - *v;
                        (*v, *x) = (after, *x + shift);
                    }
                    boundary.near(states, *x, radius, &mut |near| {
                        let (friction, restitution) = contacts[near.wall as usize];
                        let before = *v;
                        *v = bounce(*v, near.velocity, near.normal, friction, restitution);
                        *x += near.normal * (radius - near.distance).max(0.0);
                        out.walls.push((near.wall, *x, before - *v));
                    });
                }
                if lent != DVec3::ZERO {
                    out.sand.push((row, lent));
                }
                for k in (0..3).filter(|&k| domain.periodic[k]) {
                    x[k] -= period[k] * ((x[k] - domain.min[k]) / period[k]).floor();
                }
            }
            out
        });
        let mass = settings.quantum();
        let mut all = Given::default();
        for given in found {
            all.walls.extend(given.walls.into_iter().map(|(w, x, impulse)| (w, x, impulse * mass)));
            all.sand.extend(given.sand);
        }
        all
    }
}

/// Velocity after an impact on a surface of that velocity and normal (towards the grain): the normal part is reversed by the restitution, the
/// tangential one loses what Coulomb friction of the impact takes, at most all.
pub fn bounce(v: DVec3, surface: DVec3, normal: DVec3, friction: f64, restitution: f64) -> DVec3 {
    let w = v - surface;
    let into = -w.dot(normal);
    if into <= 0.0 {
        return v;
    }
    let tangential = w + normal * into;
    let speed = tangential.length();
    let kept = if speed > 0.0 { (1.0 - friction * (1.0 + restitution) * into / speed).max(0.0) } else { 0.0 };
    surface + tangential * kept + normal * (restitution * into)
}
