//! Particles move; none gets into a wall.

use crate::SphError;
use crate::flow::Flow;
use crate::passes::Precision;
use crate::prepare::LEAST_BLOCKS;
use crate::state::{BLOCK, nearest_image, vector};
use crate::walls::{BlockContacts, Motion};
use barchan_core::parallel;
use glam::DVec3;

/// Distance from a wall that no step may take a particle below, as a share of the spacing.
const GUARD: f64 = 0.05;

/// Keeps a particle off the walls it has met: shortens its way [m] and takes away the velocity [m/s] into them. Whether it had to.
fn hold_off(
    contacts: &BlockContacts,
    k: usize,
    motions: &[Motion],
    least: f64,
    dt: f64,
    way: &mut DVec3,
    v: &mut DVec3,
) -> bool {
    let mut held = false;
    // Surfaces of bodies come after the walls. What is squeezed between both is held off the walls last: a body lets it out again, and behind the floor
    // of a box that is open above it would be lost.
    for contact in contacts.of(k).iter().rev() {
        let wall = motions[contact.wall as usize].at(contact.point);
        let left = contact.distance + contact.normal.dot(*way - wall * dt);
        if left < least {
            *way += contact.normal * (least - left);
            *v -= contact.normal * (*v - wall).dot(contact.normal).min(0.0);
            held = true;
        }
    }
    held
}

impl<R: Precision> Flow<R> {
    /// x += dt v + δx, with the displacements in the records of speed where density was repaired.
    pub fn integrate(&mut self, dt: f64, relaxed: bool) -> Result<(), SphError> {
        let Flow { particles, next, contacts, motions, settings, lists, .. } = self;
        let (domain, period, least) = (settings.domain, settings.domain.period(), GUARD * settings.spacing);
        let speed = &particles.speed;
        let blocks = particles.place.chunks_mut(BLOCK).zip(particles.velocity.chunks_mut(BLOCK));
        let blocks = blocks.zip(next.chunks(BLOCK).zip(contacts.iter()).zip(lists.built.chunks(BLOCK))).enumerate();
        type Task<'a> =
            (usize, ((&'a mut [[f64; 4]], &'a mut [DVec3]), ((&'a [DVec3], &'a BlockContacts), &'a [DVec3])));
        let run = |(b, ((place, velocity), ((next, contacts), built))): Task<'_>| {
            let (mut fastest, mut farthest, mut guarded, mut lost) = (0f64, 0f64, 0, None::<(usize, DVec3)>);
            for k in 0..next.len() {
                let mut v = next[k];
                let mut way = v * dt;
                if relaxed {
                    way += vector(&speed[b * BLOCK + k]);
                }
                guarded += u64::from(hold_off(contacts, k, motions, least, dt, &mut way, &mut v));
                let mut x = DVec3::from_slice(&place[k]) + way;
                farthest = farthest.max(nearest_image(x - built[k], period).length_squared());
                for c in 0..3 {
                    if period[c] > 0.0 && !(domain.min[c]..domain.max[c]).contains(&x[c]) {
                        x[c] -= period[c] * ((x[c] - domain.min[c]) / period[c]).floor();
                        // A hair below the lower side rounds to the upper one.
                        x[c] = if x[c] < domain.max[c] { x[c] } else { domain.min[c] };
                    }
                }
                if !(x.is_finite() && v.is_finite()) {
                    lost = lost.or(Some((b * BLOCK + k, DVec3::from_slice(&place[k]))));
                }
                place[k][..3].copy_from_slice(&x.to_array());
                velocity[k] = v;
                fastest = fastest.max(v.length_squared());
            }
            (fastest, farthest, guarded, lost)
        };
        let done = parallel::run(blocks.collect(), LEAST_BLOCKS, run);
        self.report.fastest = done.iter().map(|d| d.0).fold(0.0, f64::max).sqrt();
        self.moved = done.iter().map(|d| d.1).fold(0.0, f64::max).sqrt();
        self.guarded += done.iter().map(|d| d.2).sum::<u64>();
        match done.iter().find_map(|d| d.3) {
            Some((i, place)) => Err(SphError::NotFinite { id: self.particles.id[i], place, time: self.time }),
            None => Ok(()),
        }
    }
}
