//! What comes before the iterations: neighbours, density, forces.

use crate::SphError;
use crate::drag;
use crate::flow::Flow;
use crate::lists::{BlockLists, Seen, Sight};
use crate::passes::{Precision, Rub};
use crate::rheology::Law;
use crate::settings::Air;
use crate::state::{BLOCK, Local, nearest_image, vector};
use crate::walls::{BlockContacts, Motion, Surroundings, Yielding, surfaces};
use barchan_core::boundary::Boundary;
use barchan_core::parallel;
use barchan_core::walls::{Wall, WallState};
use glam::DVec3;
use rayon::prelude::*;

/// Skin of the lists where nothing moves fast, as a share of the spacing.
const SKIN: f64 = 0.15;
/// Steps that lists must be good for to be worth a skin.
const WORTH: f64 = 3.0;
/// Builds of the lists between two sorts of memory.
const BUILDS_PER_SORT: u32 = 16;
/// Share of the slip against its neighbours that rubbing takes from a particle in the longest step. A bed with jitter comes to rest in some hundred
/// steps; without, zigzag velocities of 2 % of √(g d) stay for ever. A layer on a slope feels it below 1 %.
const RUBBING: f64 = 0.03;
/// Share of a particle's surroundings that must be empty for it to be at a free surface, as |∇c| d.
const FREE: f64 = 0.3;

impl<R: Precision> Flow<R> {
    /// Largest speed of particles, walls and bodies [m/s].
    pub fn fastest(&self, boundary: &Boundary) -> f64 {
        let extent = (self.settings.domain.max - self.settings.domain.min).length();
        let walls = boundary.walls().iter().zip(boundary.states()).enumerate();
        let walls = walls.filter(|(w, _)| boundary.is_there(*w)).map(|(_, (w, s))| w.sweep_speed(s, extent));
        walls.fold(self.report.fastest, f64::max)
    }

    /// Takes the walls to where they stand at the beginning of the step of `dt` [s], as particles do; the step ends `ahead` [s] after the beginning of
    /// the world step.
    pub fn take_walls(&mut self, boundary: &Boundary, dt: f64, ahead: f64) {
        boundary.states_at(self.time - dt, &mut self.states);
        let motion = |(wall, state): (&Wall, &WallState)| Motion {
            velocity: state.velocity,
            spin: state.spin,
            pivot: wall.pivot(state),
        };
        self.motions = boundary.walls().iter().zip(&self.states).map(motion).collect();
        let bodies = boundary.bodies.iter().enumerate();
        self.yielding = bodies.filter_map(|(id, body)| Yielding::new(boundary, id, body, ahead)).collect();
        for y in &self.yielding {
            self.motions[y.wall] = y.motion([DVec3::ZERO; 2], dt, self.motions[y.wall].pivot);
        }
        let extent = (self.settings.domain.max - self.settings.domain.min).length();
        let speeds = boundary.walls().iter().zip(&self.states).map(|(w, s)| w.sweep_speed(s, extent));
        self.walls_moved += dt * speeds.fold(0.0, f64::max);
    }

    /// Lists of neighbours, built anew when somebody has moved half the skin.
    pub fn neighbours(&mut self, boundary: &Boundary) -> Result<(), SphError> {
        if !self.stale && !self.is_spent() {
            return Ok(());
        }
        if self.builds_since_sort >= BUILDS_PER_SORT {
            self.sort();
        }
        self.builds_since_sort += 1;
        (self.moved, self.walls_moved) = (0.0, 0.0);
        let (d, way) = (self.settings.spacing, self.report.fastest * self.report.dt);
        let skin = if 2.0 * WORTH * way < SKIN * d { SKIN * d } else { 0.0 };
        self.build_lists(boundary, skin)
    }

    /// Whether somebody has moved so far since the lists were built that a pair may be missing.
    fn is_spent(&self) -> bool {
        let moved = self.moved + self.walls_moved;
        moved >= 0.5 * self.lists.skin || moved.is_nan()
    }

    /// Builds all lists with that skin [m] from where particles are.
    pub fn build_lists(&mut self, boundary: &Boundary, skin: f64) -> Result<(), SphError> {
        let (settings, particles) = (&self.settings, &self.particles);
        let reach = settings.reach() + skin;
        let look = |place: &[f64; 4]| {
            let mut seen = Vec::new();
            surfaces(boundary, &self.states, DVec3::from_slice(place), reach, &mut |w, near| {
                seen.push(Seen { wall: w as u16, normal: near.normal });
            });
            seen
        };
        let seen: Vec<Vec<Seen>> = particles.place.par_iter().map(look).collect();
        self.near = seen.iter().map(|s| !s.is_empty()).collect();
        let sight = Sight::new(boundary, &self.states, &settings.domain, settings.spacing, seen.into_iter());
        let (places, ids) = (&particles.place, &particles.id);
        self.lists.build(places, ids, &settings.domain, settings.reach(), skin, &sight, self.searcher, self.time)?;
        self.contacts.resize_with(self.lists.blocks.len(), BlockContacts::default);
        self.stale = false;
        Ok(())
    }

    /// Density and κ of all particles, weights of all pairs, contacts with walls. A particle that has got through a wall since the last step is an error.
    pub fn density(&mut self, boundary: &Boundary) -> Result<(), SphError> {
        let Flow { settings, mirror, weighting, passes, particles, lists, near, contacts, states, least_kappa, .. } =
            self;
        let around = Surroundings { settings, mirror, boundary, states };
        let (motions, before) = (&self.motions, self.report.dt);
        let (rest, own) = (settings.bulk_density, weighting.mass * settings.kernel.value(0.0, weighting.reach));
        let (place, kinds) = (&particles.place, &particles.kind);
        let middle = 0.5 * (settings.domain.min + settings.domain.max);
        let offsets: Vec<_> = particles.offset.chunks_mut(BLOCK).zip(place.chunks(BLOCK)).collect();
        parallel::run(offsets, LEAST_BLOCKS, |(offset, place)| {
            for (offset, x) in offset.iter_mut().zip(place) {
                let d = DVec3::from_slice(x) - middle;
                *offset = [R::of(d.x), R::of(d.y), R::of(d.z), R::of(0.0)];
            }
        });
        type Task<'a, R> = (usize, ((&'a mut [Local<R>], &'a mut BlockLists<R>), &'a mut BlockContacts));
        let run = |(b, ((local, lists), contacts)): Task<'_, R>| {
            let (first, count) = (b * BLOCK, local.len());
            let mut filled = [[R::of(0.0); 8]; BLOCK];
            passes.density(weighting, place, first, lists, &mut filled[..count]);
            let mut met = Vec::new();
            let mut counts = [0; BLOCK];
            let (mut sum, mut largest, mut touched) = (0.0, 0f64, vec![0u32; states.len()]);
            let mut through = None;
            for k in 0..count {
                let start = met.len();
                if near[first + k] {
                    let x = DVec3::from_slice(&place[first + k]);
                    around.meet(x, kinds[first + k], contacts.of(k), &mut met);
                    let behind = || around.behind(x, contacts.of(k), &met[start..], motions, before);
                    through = through.or_else(|| behind().map(|(wall, depth)| (first + k, wall, depth)));
                }
                counts[k] = (met.len() - start) as u32;
                let [mut density, gx, gy, gz, squares, ..]: [f64; 8] = filled[k].map(Into::into);
                let mut gradient = DVec3::new(gx, gy, gz);
                density += own;
                for contact in &met[start..] {
                    density += contact.density;
                    gradient += contact.gradient;
                    touched[contact.wall as usize] += 1;
                }
                local[k] = Local::new(density, (gradient.length_squared() + squares).max(*least_kappa));
                let excess = (density / rest - 1.0).max(0.0);
                (sum, largest) = (sum + excess, largest.max(excess));
            }
            *contacts = BlockContacts::new(counts[..count].iter().copied(), met);
            (sum, largest, touched, through)
        };
        let blocks = particles.local.chunks_mut(BLOCK).zip(&mut lists.blocks).zip(contacts.iter_mut()).enumerate();
        let done = parallel::run(blocks.collect(), LEAST_BLOCKS, run);
        let sum: f64 = done.iter().map(|d| d.0).sum();
        self.report.compression = sum / self.particles.len().max(1) as f64;
        self.report.largest_compression = done.iter().map(|d| d.1).fold(0.0, f64::max);
        self.share_bodies(&done.iter().fold(vec![0; self.states.len()], |mut all, d| {
            all.iter_mut().zip(&d.2).for_each(|(a, n)| *a += n);
            all
        }));
        match done.iter().find_map(|d| d.3) {
            None => Ok(()),
            Some((i, wall, depth)) => Err(SphError::ThroughWall {
                id: self.particles.id[i],
                place: self.particles.position(i),
                depth,
                wall: boundary.walls()[wall].name.clone(),
                time: self.time,
            }),
        }
    }

    /// Adds to κ what a body yields to the push of all its contacts: were each to push as if it were alone, a light body would be thrown about
    /// (mass splitting [Tonge et al. 2012]).
    fn share_bodies(&mut self, touched: &[u32]) {
        for y in &self.yielding {
            let (n, pivot) = (f64::from(touched[y.wall]), self.motions[y.wall].pivot);
            for (b, block) in self.contacts.iter_mut().enumerate() {
                for k in 0..BLOCK.min(self.particles.local.len() - b * BLOCK) {
                    for contact in block.of_mut(k).iter_mut().filter(|c| c.wall as usize == y.wall) {
                        let share = n * self.mass * y.mobility(contact.point, contact.normal, pivot);
                        let local = &mut self.particles.local[b * BLOCK + k];
                        let (density, ratio): (f64, f64) = (local.density.into(), local.ratio.into());
                        let kappa = density * density / ratio + share * contact.gradient.length_squared();
                        *local = Local::new(density, kappa);
                        contact.answer = 1.0 / (1.0 + share);
                    }
                }
            }
        }
    }

    /// Velocities without stress: rubbing, gravity, and drag taken implicitly, so that it never overshoots.
    pub fn forces(&mut self, dt: f64) -> Result<(), SphError> {
        if self.laws.iter().any(Law::has_friction) {
            self.rub(dt);
        }
        let Some(air) = self.settings.acting_air().cloned() else {
            let kick = dt * self.settings.gravity;
            let blocks: Vec<_> = self.particles.velocity.chunks_mut(BLOCK).collect();
            parallel::run(blocks, LEAST_BLOCKS, |block| block.iter_mut().for_each(|v| *v += kick));
            return Ok(());
        };
        let new: Vec<DVec3> = (0..self.particles.len()).into_par_iter().map(|i| self.blown(&air, i, dt)).collect();
        if let Some(i) = new.iter().position(|v| !v.is_finite()) {
            let (id, place, time) = (self.particles.id[i], self.particles.position(i), self.time);
            let to_blame = !air.wind.at(place, time).is_finite();
            return Err(if to_blame {
                SphError::Wind { place, time }
            } else {
                SphError::NotFinite { id, place, time }
            });
        }
        self.particles.velocity = new;
        Ok(())
    }

    /// Neighbours under pressure rub against each other.
    ///
    /// A velocity that changes its sign from particle to particle has no gradient, so that neither pressure nor friction sees it. A pairwise
    /// viscosity does; it is bounded by the yield bound, and so far below friction that layers on a slope do not feel it.
    fn rub(&mut self, dt: f64) {
        let Flow { weighting, passes, particles, lists, laws, settings, .. } = self;
        let n = particles.len();
        let longest = settings.gravity_step().min(settings.largest_step);
        // Σ −m W'/x is about 2 ρ₀/d² at rest.
        let most = RUBBING * dt / longest * settings.spacing * settings.spacing / (2.0 * settings.bulk_density);
        let rub = Rub { most, cap: dt / 2f64.sqrt() };
        let (velocity, stress, local) = (&particles.velocity, &particles.stress, &particles.local);
        let blocks = particles.speed[..n].chunks_mut(BLOCK).enumerate();
        parallel::run(blocks.collect(), LEAST_BLOCKS, |(b, speed)| {
            for (k, speed) in speed.iter_mut().enumerate() {
                let i = b * BLOCK + k;
                let (v, volume): (DVec3, f64) = (velocity[i], local[i].volume.into());
                let bound = laws[particles.kind[i] as usize].bound(stress[i][0].into(), 0.0) * volume * volume;
                *speed = [R::of(v.x), R::of(v.y), R::of(v.z), R::of(bound)];
            }
        });
        let (offset, speed) = (&particles.offset, &particles.speed);
        let blocks = particles.velocity.chunks_mut(BLOCK).zip(&lists.blocks).enumerate();
        parallel::run(blocks.collect(), LEAST_BLOCKS, |(b, (velocity, lists))| {
            let mut change = [[R::of(0.0); 8]; BLOCK];
            passes.rub(weighting, offset, speed, rub, b * BLOCK, lists, &mut change[..velocity.len()]);
            velocity.iter_mut().zip(&change).for_each(|(v, change)| *v += vector(change));
        });
    }

    /// Velocity of a particle [m/s] after gravity and drag.
    ///   v' = (v + dt (g + k u))/(1 + k dt)
    fn blown(&self, air: &Air, i: usize, dt: f64) -> DVec3 {
        let (x, v) = (self.particles.position(i), self.particles.velocity[i]);
        let kick = v + dt * self.settings.gravity;
        let mut wind = air.wind.at(x, self.time);
        if air.along_surface {
            wind = self.along_surface(i, wind);
        }
        let relative = wind - v;
        let speed = relative.length();
        if speed == 0.0 {
            return kick;
        }
        let (exposed, neighbours) = self.exposed(i, x, relative / speed);
        let k = drag::rate(&self.settings, air, self.mass, speed, exposed, neighbours);
        (kick + wind * (k * dt)) / (1.0 + k * dt)
    }

    /// Visits the offsets x_i − x_j to the neighbours of a particle within the support, with m W'/x.
    fn neighbours_of(&self, i: usize, mut visit: impl FnMut(DVec3, f64)) {
        let lists = &self.lists.blocks[i / BLOCK];
        let (k, x, period) = (i % BLOCK, self.particles.position(i), self.weighting.period);
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            for (j, weight) in batch.j.iter().zip(batch.weight) {
                let weight: f64 = weight.into();
                if weight == 0.0 {
                    continue;
                }
                visit(nearest_image(x - self.particles.position(*j as usize), period), weight);
            }
        }
    }

    /// Share of a particle that the wind reaches, and its neighbours: those upwind of it shield it, walls among them [Gissler et al. 2017].
    fn exposed(&self, i: usize, x: DVec3, upwind: DVec3) -> (f64, usize) {
        let (mut largest, mut count) = (0f64, 0);
        self.neighbours_of(i, |offset, _| {
            largest = largest.max(upwind.dot(offset.normalize_or_zero()));
            count += 1;
        });
        for contact in self.contacts[i / BLOCK].of(i % BLOCK) {
            largest = largest.max(upwind.dot((x - contact.point).normalize_or_zero()));
        }
        ((1.0 - largest).clamp(0.0, 1.0), count)
    }

    /// The wind [m/s] without its part through a free surface, whose normal is −∇c, c = Σ (m/ρ) W [Neder 2024].
    fn along_surface(&self, i: usize, wind: DVec3) -> DVec3 {
        let mut gradient = DVec3::ZERO;
        self.neighbours_of(i, |offset, weight| gradient += offset * weight);
        let gradient = gradient / self.settings.bulk_density;
        if gradient.length() * self.settings.spacing < FREE {
            return wind;
        }
        wind.reject_from(gradient)
    }
}

/// Blocks that are worth a thread.
pub const LEAST_BLOCKS: usize = 4;
