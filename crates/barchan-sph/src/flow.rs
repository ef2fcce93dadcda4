//! The continuum in one precision: its columns, and what births, deaths and sorting do to them.

use crate::SphError;
use crate::grains::Upsampled;
use crate::lists::Lists;
use crate::mirror::Mirror;
use crate::passes::{Passes, Precision, Searcher, Weighting};
use crate::rheology::Law;
use crate::settings::Settings;
use crate::state::{BLOCK, Particles, Stress};
use crate::step::Stage;
use crate::walls::{BlockContacts, Contact, Motion, Yielding, inside};
use barchan_core::boundary::Boundary;
use barchan_core::curve;
use barchan_core::parallel::Watch;
use barchan_core::simd::Isa;
use barchan_core::solver::{Departed, NewMatter};
use barchan_core::stages::Timers;
use barchan_core::walls::WallState;
use glam::DVec3;
use rayon::prelude::*;

/// What the last step was like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Length of the step [s].
    pub dt: f64,
    /// Iterations.
    pub iterations: u32,
    /// Mean density error that the iterations left, of particles under pressure.
    pub density_error: f64,
    /// Mean strain that friction should have held.
    pub strain_error: f64,
    /// Mean of (ρ − ρ₀)/ρ₀ where it is above 0, over all particles.
    pub compression: f64,
    /// Largest such.
    pub largest_compression: f64,
    /// Largest speed [m/s].
    pub fastest: f64,
}

/// The continuum in one precision.
pub struct Flow<R> {
    pub settings: Settings,
    /// By kind.
    pub laws: Vec<Law>,
    pub mass: f64,
    pub mirror: Mirror,
    pub weighting: Weighting,
    /// Least κ [kg²/m⁸]: that of a particle with few neighbours, which bear nothing.
    pub least_kappa: f64,
    pub passes: Passes<R>,
    pub searcher: Searcher,
    pub particles: Particles<R>,
    /// Stresses of the iteration before, without momentum.
    pub before: Vec<Stress<R>>,
    /// Velocity at the end of the step under way [m/s].
    pub next: Vec<DVec3>,
    pub lists: Lists<R>,
    /// Whether a wall is within the lists' reach.
    pub near: Vec<bool>,
    /// By block.
    pub contacts: Vec<BlockContacts>,
    /// How walls stand in the step under way, how they move in its iteration, and which of them yield.
    pub states: Vec<WallState>,
    pub motions: Vec<Motion>,
    pub yielding: Vec<Yielding>,
    /// The grains that are shown.
    pub grains: Option<Upsampled>,
    pub born: u32,
    /// Steps of its own that the solver has taken.
    pub steps: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Lists do not fit the particles.
    pub stale: bool,
    pub builds_since_sort: u32,
    /// How far a particle has moved at most since the lists were built [m].
    pub moved: f64,
    /// How far walls have moved since the lists were built [m].
    pub walls_moved: f64,
    /// Particles that had to be held off a wall, since the start.
    pub guarded: u64,
    /// Steps that ended before they had converged, since the start.
    pub unconverged: u64,
    /// Steps in succession that were far from converging.
    pub astray: u32,
    pub report: Report,
    pub watch: Watch,
    pub timers: Timers<Stage>,
}

/// Share of the lattice's κ that is the least.
const LEAST_KAPPA: f64 = 0.05;

impl<R: Precision> Flow<R> {
    pub fn new(settings: Settings) -> Flow<R> {
        let (kernel, d) = (settings.kernel, settings.spacing);
        let mass = settings.particle_mass();
        let mirror = if settings.published.walls { Mirror::published(kernel, d) } else { Mirror::new(kernel, d) };
        Flow {
            laws: Law::all(&settings),
            mirror,
            weighting: Weighting { kernel, reach: settings.reach(), mass, period: settings.domain.period() },
            least_kappa: LEAST_KAPPA * mass * mass * kernel.lattice(d).squares,
            passes: R::select(Isa::detect()),
            searcher: Searcher::select(Isa::detect()),
            mass,
            particles: Particles::default(),
            before: Vec::new(),
            next: Vec::new(),
            lists: Lists::default(),
            near: Vec::new(),
            contacts: Vec::new(),
            states: Vec::new(),
            motions: Vec::new(),
            yielding: Vec::new(),
            // Settings have been checked.
            grains: settings.grains.clone().and_then(|g| Upsampled::new(g).ok()),
            born: 0,
            steps: 0,
            time: 0.0,
            stale: true,
            builds_since_sort: u32::MAX,
            moved: 0.0,
            walls_moved: 0.0,
            guarded: 0,
            unconverged: 0,
            astray: 0,
            report: Report::default(),
            watch: Watch::default(),
            timers: Timers::default(),
            settings,
        }
    }

    /// Pressure [Pa] with which a particle begins below so much matter [m].
    pub fn add(&mut self, matter: &[NewMatter], pressure: &[f64], boundary: &Boundary) -> Result<u32, SphError> {
        let first = self.born;
        self.born.checked_add(matter.len() as u32).filter(|&b| b < u32::MAX).ok_or(SphError::OutOfIds)?;
        self.check_outside_walls(matter, boundary)?;
        for (k, m) in matter.iter().enumerate() {
            let p = pressure.get(k).copied().unwrap_or(0.0);
            self.particles.push(m.position, m.velocity, p, self.settings.bulk_density, self.kind_of(m), self.born);
            self.born += 1;
            self.report.fastest = self.report.fastest.max(m.velocity.length());
        }
        self.stale |= !matter.is_empty();
        if self.steps == 0 {
            // The first frame shows them.
            self.follow(boundary, 0.0)?;
        }
        Ok(first)
    }

    /// The kind of newborn matter; one that nobody knows is the last.
    fn kind_of(&self, m: &NewMatter) -> u16 {
        m.shape.min(self.laws.len() as u16 - 1)
    }

    fn check_outside_walls(&self, matter: &[NewMatter], boundary: &Boundary) -> Result<(), SphError> {
        let states = boundary.states();
        let depth_of = |m: &NewMatter| inside(boundary, states, m.position).map(|(w, depth)| (m.position, w, depth));
        let inside: Vec<_> = matter.par_iter().filter_map(depth_of).collect();
        match inside.first() {
            None => Ok(()),
            Some(&(place, w, depth)) => {
                let wall = boundary.walls()[w].name.clone();
                Err(SphError::InsideWall { count: inside.len(), place, depth, wall })
            }
        }
    }

    pub fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let all = 0..self.particles.len() as u32;
        let goes = |i: &u32| leaves(self.particles.id[*i as usize], self.particles.position(*i as usize));
        let (gone, stay): (Vec<u32>, Vec<u32>) = all.partition(goes);
        if gone.is_empty() {
            return Vec::new();
        }
        let departed = |&i: &u32| Departed {
            id: self.particles.id[i as usize],
            mass: self.mass,
            position: self.particles.position(i as usize),
            velocity: self.particles.velocity[i as usize],
        };
        let departed = gone.iter().map(departed).collect();
        self.reorder(&stay);
        departed
    }

    /// Puts into slot k what was in slot `from[k]`; slots not named are gone.
    pub fn reorder(&mut self, from: &[u32]) {
        let of = |i: u32| self.contacts.get(i as usize / BLOCK).map_or(&[][..], |b| b.of(i as usize % BLOCK));
        let by_particle: Vec<Vec<Contact>> = from.iter().map(|&f| of(f).to_vec()).collect();
        self.contacts = blocks_of(by_particle);
        self.particles.reorder(from);
        self.stale = true;
    }

    /// Sorts memory along the curve.
    pub fn sort(&mut self) {
        let domain = &self.settings.domain;
        let size = (domain.max - domain.min).max_element().max(f64::MIN_POSITIVE);
        let most = f64::from((1u32 << curve::BITS) - 1);
        let key = |i: usize| {
            let x = (self.particles.position(i) - domain.min) * (most / size);
            let cell = [0, 1, 2].map(|k| x[k].clamp(0.0, most) as u32);
            (curve::hilbert(cell), self.particles.id[i], i as u32)
        };
        let mut keys: Vec<(u64, u32, u32)> = (0..self.particles.len()).into_par_iter().map(key).collect();
        keys.par_sort_unstable();
        let from: Vec<u32> = keys.into_iter().map(|k| k.2).collect();
        self.reorder(&from);
        self.builds_since_sort = 0;
    }

    /// Pieces outside the domain's sides that are not periodic.
    pub fn outside(&self) -> Vec<(u32, DVec3)> {
        let domain = &self.settings.domain;
        let is_out =
            |x: &DVec3| (0..3).any(|k| !domain.periodic[k] && !(domain.min[k]..=domain.max[k]).contains(&x[k]));
        let all = 0..self.particles.len();
        all.map(|i| (self.particles.id[i], self.particles.position(i))).filter(|(_, x)| is_out(x)).collect()
    }

    /// Takes up changed settings.
    pub fn take_settings(&mut self) {
        self.laws = Law::all(&self.settings);
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let contacts: usize = self.contacts.iter().map(BlockContacts::memory).sum();
        let grains = self.grains.as_ref().map_or(0, Upsampled::memory_bytes);
        grains
            + self.particles.memory()
            + self.lists.memory()
            + contacts
            + self.near.capacity()
            + self.before.capacity() * size_of::<Stress<R>>()
            + self.next.capacity() * size_of::<DVec3>()
    }
}

/// The contacts of all particles, block by block.
pub fn blocks_of(by_particle: Vec<Vec<Contact>>) -> Vec<BlockContacts> {
    let block = |b: &[Vec<Contact>]| BlockContacts::new(b.iter().map(|c| c.len() as u32), b.concat());
    by_particle.chunks(BLOCK).map(block).collect()
}
