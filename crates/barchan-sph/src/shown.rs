//! The upsampled grains of the continuum: what they are told of particles, walls and air.
//!
//! Grains follow once a world step, however many steps of its own the solver takes in it: they are for the eye.

use crate::SphError;
use crate::flow::Flow;
use crate::grains::{GrainAir, Particles, Surroundings, WallPoint};
use crate::passes::Precision;
use crate::walls::surfaces;
use barchan_core::boundary::Boundary;
use glam::DVec3;
use std::sync::Mutex;

/// Pictures a second of a film, by which grains are drawn back to their particles [1/s].
const PICTURES: f64 = 24.0;

impl<R: Precision> Flow<R> {
    /// Lets the grains follow the particles for `dt` [s]; those of new particles are born, those of particles that have left go.
    pub fn follow(&mut self, boundary: &Boundary, dt: f64) -> Result<(), SphError> {
        let Some(mut grains) = self.grains.take() else { return Ok(()) };
        let (p, settings, states) = (&self.particles, &self.settings, boundary.states());
        let position: Vec<DVec3> = (0..p.len()).map(|i| p.position(i)).collect();
        let volume: Vec<f64> = p.local.iter().map(|l| self.mass * Into::<f64>::into(l.volume)).collect();
        let material = settings.kinds[0].material;
        let walls = |x: DVec3, reach: f64, visit: &mut dyn FnMut(WallPoint)| {
            surfaces(boundary, states, x, reach, &mut |w, near| {
                let wall = &boundary.walls()[w];
                let known = |m: u16| (m as usize) < settings.materials.len();
                let friction = if known(material) && known(wall.material) {
                    settings.materials.pair(material, wall.material).friction
                } else {
                    0.0
                };
                let point = x - near.normal * near.distance;
                let velocity = wall.surface_velocity(&states[w], point);
                visit(WallPoint { distance: near.distance, normal: near.normal, velocity, friction });
            });
        };
        let time = self.time;
        // Where the wind is no number: of several places the first in the order of their coordinates, whichever thread met it.
        let bad: Mutex<Option<[f64; 3]>> = Mutex::new(None);
        let wind = |x: DVec3| {
            let wind = settings.acting_air().map_or(DVec3::ZERO, |a| a.wind.at(x, time));
            if wind.is_finite() {
                return wind;
            }
            if let Ok(mut bad) = bad.lock() {
                *bad = Some(bad.map_or(x.to_array(), |b| if b < x.to_array() { b } else { x.to_array() }));
            }
            DVec3::ZERO
        };
        let air = settings.acting_air().map(|a| GrainAir {
            wind: &wind,
            density: a.density,
            viscosity: a.viscosity,
            grain_density: settings.grain_density,
        });
        let around = Surroundings {
            particles: Particles { id: &p.id, position: &position, velocity: &p.velocity, volume: &volume },
            spacing: settings.spacing,
            domain: settings.domain,
            gravity: settings.gravity,
            air,
            walls: &walls,
            frame_share: dt * PICTURES,
        };
        grains.advance(dt, &around);
        let bad = bad.into_inner().ok().flatten();
        self.grains = Some(grains);
        bad.map_or(Ok(()), |x| Err(SphError::Wind { place: DVec3::from_array(x), time }))
    }
}
