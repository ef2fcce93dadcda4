//! Upsampled grains: what is drawn of a continuum, many to a particle; they follow it and never act on it.
//!
//! | file | role |
//! |---|---|
//! | `carrier` | velocity and filling between the particles |
//! | `flight` | carried or free; drag |
//! | `walls` | walls as grains meet them |
//! | `birth` | where a particle's grains begin |
//! | `follow` | one move of the grains of a particle |
//! | `columns` | published, saved, loaded, hashed |
//!
//! [`Upsampled::advance`] is all that a solver calls, once a step or once a frame. It reads the particles and the walls, removes the grains
//! of particles that have left, lets grains of new particles be born, and moves all others:
//!   v* = Σ w v_j / Σ w,  v ← (1 − η) v* + η (v + dt (g + drag)),  x ← x + dt v
//! [Ihmsen et al. 2012, "High-resolution simulation of granular material with SPH"], with η by how full the place is. (Ihmsen's own rule
//! is at hand as [`Rule::Ihmsen`]; with it grains of a resting bed sink into the voids between particles and clump there.)
//! Grains stand together by their particle, and particles' groups in the order of the solver's slots, so that neighbours in memory are
//! neighbours in space. A group is moved by one thread and reads nothing of other groups: threads do not change the bits.

mod birth;
mod carrier;
mod columns;
mod flight;
mod follow;
#[cfg(test)]
mod tests;
mod walls;

pub use carrier::Particles;
pub use flight::GrainAir;
pub use walls::{WallPoint, Walls};

use barchan_core::simd::Isa;
use barchan_core::sizes::{SizeDistribution, SizeError};
use barchan_core::solver::Domain;
use carrier::{Carrier, Nodes};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Filling of a place above which grains are born there.
const BORN_ABOVE: f32 = 0.5;
/// Groups one task moves.
const GROUPS: usize = 16;
/// Slots apart from which on two groups that follow each other are out of order.
const APART: u32 = 256;
/// In the column `place`: the grain is being drawn back to its particle.
const DRAWN: u16 = 1 << 15;
/// Grains of a particle there may be at most.
const MOST: u16 = DRAWN - 1;

/// When a grain flies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Where the place is less than half full.
    #[default]
    Filling,
    /// By the weights of the nearest particles, as published; sums are direct then.
    Ihmsen,
}

/// How v* is summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summation {
    /// At the nodes of a grid of half a spacing, interpolated.
    #[default]
    Grid,
    /// Over the particles, for every grain.
    Direct,
}

/// What upsampled grains are like.
#[derive(Clone, Debug, PartialEq)]
pub struct GrainSettings {
    /// Grains of a particle.
    pub per_particle: u16,
    /// Radii [m].
    pub sizes: SizeDistribution,
    /// Seed of the scene.
    pub seed: u64,
    /// Index of the material they are published with.
    pub material: u16,
    /// When a grain flies.
    pub rule: Rule,
    /// How v* is summed.
    pub summation: Summation,
}

impl GrainSettings {
    /// 64 grains of one radius [m] a particle.
    pub fn new(radius: f64, seed: u64) -> GrainSettings {
        let (rule, summation) = (Rule::Filling, Summation::Grid);
        GrainSettings { per_particle: 64, sizes: SizeDistribution::Fixed(radius), seed, material: 0, rule, summation }
    }
}

/// Why there are no grains.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrainError {
    /// Sizes that cannot be drawn.
    #[error(transparent)]
    Sizes(#[from] SizeError),
    /// A number of grains a particle that is none, or too many.
    #[error("{0} grains a particle are impossible: give a number from 1 to 32767")]
    Number(u16),
}

/// One call's circumstances.
pub struct Surroundings<'a> {
    /// The particles as they are at the end of the step.
    pub particles: Particles<'a>,
    /// Particle spacing d at rest [m].
    pub spacing: f64,
    /// The box matter lives in.
    pub domain: Domain,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// The air, if it drags.
    pub air: Option<GrainAir<'a>>,
    /// The walls as they stand at the end of the step.
    pub walls: &'a dyn Walls,
    /// Share of a frame that the call covers: a grain is drawn back by no more than 0.05 d a frame.
    pub frame_share: f64,
}

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Grains born.
    pub born: usize,
    /// Grains removed with their particles.
    pub removed: usize,
    /// Grains moved.
    pub moved: usize,
}

/// All upsampled grains.
#[derive(Clone, Debug)]
pub struct Upsampled {
    settings: GrainSettings,
    /// Positions [m].
    position: Vec<DVec3>,
    /// Velocities [m/s].
    velocity: Vec<Vec3>,
    /// Radii [m].
    radius: Vec<f32>,
    /// Tints, from 0 to 1.
    tint: Vec<f32>,
    /// Permanent identity.
    id: Vec<u32>,
    /// Number of the grain in its particle's sequence of birth places; with [`DRAWN`].
    place: Vec<u16>,
    /// The particle of each group.
    owner: Vec<u32>,
    /// Grains of each group.
    count: Vec<u32>,
    /// Where the mean of a group's grains was born, from the particle [m]: beside a wall or a surface their places are not all of the cube.
    centre: Vec<Vec3>,
    /// The id of the next grain.
    next: u32,
    /// Memory of the grid, kept from call to call.
    nodes: Nodes,
    /// Which build of the loops over lanes runs: one that the processor has.
    isa: Isa,
}

/// A grain about to be.
struct Newborn {
    position: DVec3,
    /// From the particle [m].
    offset: Vec3,
    velocity: Vec3,
    radius: f32,
    tint: f32,
    place: u16,
}

impl Upsampled {
    /// No grains yet.
    pub fn new(settings: GrainSettings) -> Result<Upsampled, GrainError> {
        settings.sizes.check()?;
        if settings.per_particle == 0 || settings.per_particle > MOST {
            return Err(GrainError::Number(settings.per_particle));
        }
        Ok(Upsampled {
            settings,
            position: Vec::new(),
            velocity: Vec::new(),
            radius: Vec::new(),
            tint: Vec::new(),
            id: Vec::new(),
            place: Vec::new(),
            owner: Vec::new(),
            count: Vec::new(),
            centre: Vec::new(),
            next: 0,
            nodes: Nodes::default(),
            isa: Isa::detect(),
        })
    }

    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let grain = size_of::<DVec3>() + size_of::<Vec3>() + 3 * size_of::<u32>() + size_of::<u16>();
        self.position.capacity() * grain + self.owner.capacity() * 5 * size_of::<u32>() + self.nodes.memory_bytes()
    }

    /// Follows the particles for `dt` [s], of which they have come to where they are now.
    pub fn advance(&mut self, dt: f64, around: &Surroundings<'_>) -> Moved {
        let rows = Rows::new(around.particles.id);
        let mut row: Vec<u32> = self.owner.par_iter().map(|&o| rows.find(o)).collect();
        let removed = self.remove_missing(&mut row);
        self.put_in_order(&mut row);
        let grid = self.settings.summation == Summation::Grid && self.settings.rule == Rule::Filling;
        let memory = grid.then(|| std::mem::take(&mut self.nodes));
        let carrier = Carrier::new(&around.particles, &around.domain, around.spacing, around.walls, memory, self.isa);
        let moved = self.len();
        self.follow(dt, around, &carrier, &row);
        let born = self.give_birth(around, &carrier, &row);
        self.nodes = carrier.into_memory();
        Moved { born, removed, moved }
    }

    /// Removes the groups whose particle has no row.
    fn remove_missing(&mut self, row: &mut Vec<u32>) -> usize {
        if row.iter().all(|&r| r != NO_ROW) {
            return 0;
        }
        let before = self.len();
        let keep: Vec<bool> =
            row.iter().zip(&self.count).flat_map(|(&r, &c)| std::iter::repeat_n(r != NO_ROW, c as usize)).collect();
        fn sift<T>(column: &mut Vec<T>, keep: &[bool]) {
            let mut kept = keep.iter();
            column.retain(|_| kept.next().copied().unwrap_or(false));
        }
        sift(&mut self.position, &keep);
        sift(&mut self.velocity, &keep);
        sift(&mut self.radius, &keep);
        sift(&mut self.tint, &keep);
        sift(&mut self.id, &keep);
        sift(&mut self.place, &keep);
        let keep: Vec<bool> = row.iter().map(|&r| r != NO_ROW).collect();
        sift(&mut self.owner, &keep);
        sift(&mut self.count, &keep);
        sift(&mut self.centre, &keep);
        sift(row, &keep);
        before - self.len()
    }

    /// Puts the groups into the order of the particles' rows, if most are far from it.
    fn put_in_order(&mut self, row: &mut Vec<u32>) {
        let astray = row.windows(2).filter(|w| w[0].abs_diff(w[1]) > APART).count();
        if 2 * astray <= row.len() {
            return;
        }
        let mut order: Vec<u32> = (0..row.len() as u32).collect();
        order.par_sort_unstable_by_key(|&g| row[g as usize]);
        let mut start = vec![0usize; row.len()];
        for g in 1..row.len() {
            start[g] = start[g - 1] + self.count[g - 1] as usize;
        }
        let count = &self.count;
        let slots: Vec<usize> =
            order.iter().flat_map(|&g| start[g as usize]..start[g as usize] + count[g as usize] as usize).collect();
        fn pick<T: Copy + Send + Sync>(column: &mut Vec<T>, from: &[usize]) {
            *column = from.par_iter().map(|&f| column[f]).collect();
        }
        pick(&mut self.position, &slots);
        pick(&mut self.velocity, &slots);
        pick(&mut self.radius, &slots);
        pick(&mut self.tint, &slots);
        pick(&mut self.id, &slots);
        pick(&mut self.place, &slots);
        let groups: Vec<usize> = order.iter().map(|&g| g as usize).collect();
        pick(&mut self.owner, &groups);
        pick(&mut self.count, &groups);
        pick(&mut self.centre, &groups);
        pick(row, &groups);
    }

    /// Lets the grains of particles that have none be born, in the order of their rows. A particle whose cube has no place for a grain has
    /// an empty group from then on.
    fn give_birth(&mut self, around: &Surroundings<'_>, carrier: &Carrier, row: &[u32]) -> usize {
        let particles = &around.particles;
        let mut known = vec![false; particles.id.len()];
        row.iter().for_each(|&r| known[r as usize] = true);
        let new: Vec<usize> = (0..known.len()).filter(|&r| !known[r]).collect();
        if new.is_empty() {
            return 0;
        }
        let settings = &self.settings;
        let groups: Vec<Vec<Newborn>> = new.par_iter().map(|&r| newborn(settings, around, carrier, r)).collect();
        let before = self.len();
        for (r, group) in new.into_iter().zip(groups) {
            self.owner.push(particles.id[r]);
            self.count.push(group.len() as u32);
            let sum: Vec3 = group.iter().map(|g| g.offset).sum();
            self.centre.push(sum / group.len().max(1) as f32);
            for grain in group {
                self.position.push(grain.position);
                self.velocity.push(grain.velocity);
                self.radius.push(grain.radius);
                self.tint.push(grain.tint);
                self.place.push(grain.place);
                self.id.push(self.next);
                self.next = self.next.wrapping_add(1);
            }
        }
        self.len() - before
    }
}

/// The grains of the particle in row `row`: the points of its cube that are more than half full and outside walls.
fn newborn(settings: &GrainSettings, around: &Surroundings<'_>, carrier: &Carrier, row: usize) -> Vec<Newborn> {
    let particles = &around.particles;
    let mut rng = birth::stream(settings.seed, particles.id[row]);
    let start = birth::start(&mut rng);
    let mut out = Vec::new();
    for place in 0..settings.per_particle {
        let (radius, tint) = birth::draw(&mut rng, &settings.sizes);
        let offset = around.spacing as f32 * birth::point(start, place);
        let position = follow::wrap(particles.position[row] + offset.as_dvec3(), &around.domain);
        let found = match settings.summation {
            Summation::Grid if settings.rule == Rule::Filling => carrier.at(position),
            _ => carrier.direct(position, around.walls),
        };
        if found.is_none_or(|f| f.filling <= BORN_ABOVE) {
            continue;
        }
        let mut free = true;
        around.walls.near(position, f64::from(radius), &mut |wall| free &= wall.distance >= f64::from(radius));
        if free {
            out.push(Newborn { position, offset, velocity: particles.velocity[row].as_vec3(), radius, tint, place });
        }
    }
    out
}

/// In place of a row: the particle has left.
const NO_ROW: u32 = u32::MAX;

/// Rows of the particles by id.
struct Rows(Vec<(u32, u32)>);

impl Rows {
    fn new(ids: &[u32]) -> Rows {
        let mut pairs: Vec<(u32, u32)> = ids.iter().enumerate().map(|(row, &id)| (id, row as u32)).collect();
        pairs.par_sort_unstable();
        Rows(pairs)
    }

    fn find(&self, id: u32) -> u32 {
        self.0.binary_search_by_key(&id, |p| p.0).map_or(NO_ROW, |k| self.0[k].1)
    }
}
