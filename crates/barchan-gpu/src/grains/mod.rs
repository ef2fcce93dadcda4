//! The grain solver on a graphics adapter: spheres, between planes and boxes, by any contact law.
//!
//! State stays on the device and comes back to be published or saved. A step is two launches, `integrate` and `contacts`, and one for
//! each factor of 16,384 grains that sums the loads on walls; when a grain has spent half of what its list allows, lists are built anew before the
//! next step. One thread has a grain, its whole list and its own side of each contact, so no sum depends on who comes first.
//!
//! **Precision.** Cards have no f64. Places and velocities are fixed-point numbers of 64 bits and more: sums are exact, free flight is exact, and
//! differences of places are exact in a domain of any size. Overlaps come from squares in whole numbers. The law works in f32, as it
//! does on the processor in mixed precision.
//!
//! **Order.** Slots are in the order of ids. After each step one word of status and the loads on walls are read back.

mod contacts;
mod features;
mod rows;

pub use features::{MOST_FEATURES, refusal};

use crate::blocks::lists::{CELL_WIDTH, Lists, ListsRoom, Quanta};
use crate::blocks::reduce::{Reduce, ReduceRoom};
use crate::device::{Gpu, GpuError};
use crate::kernel::{GROUP, Kernel};
use crate::law;
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::{Interval, StepWish};
use barchan_core::columns::{Column, Columns, Saved, Unfit, mix, of_length};
use barchan_core::contact::{PairTable, Rolling};
use barchan_core::frame::{Extra, Frame, GRAINS, Population, Shared};
use barchan_core::materials::Materials;
use barchan_core::solver::{Contact, Counts, Departed, Energies, Gauge, NewMatter, Solver, SolverError, Totals};
use barchan_core::stages::{StageTime, Timers};
use barchan_core::walls::WallState;
use barchan_dem::{Integrator, Settings};
use glam::DVec3;
use rows::{FINE, LOAD, RECORD, Rows};
use std::f64::consts::PI;
use std::sync::Arc;
use std::time::Instant;

/// Rows a pair of materials has in the kernel, and most materials there is room for.
const MOST_MATERIALS: usize = 16;
/// How far grains may come nearer to each other before lists are built anew, over the largest radius: with [`CELL_WIDTH`] at most 0.5.
const SKIN: f64 = 0.3;
const _: () = assert!(SKIN <= 2.0 * (CELL_WIDTH - 1.0));
/// Nobody, in a status of slots.
const NOBODY: u32 = u32::MAX;
/// A status in which nothing has happened.
const CALM: [u32; 8] = [0, NOBODY, 0, NOBODY, NOBODY, 0, 0, 0];
/// Bytes a grain takes on the device at a coordination of a packing, lists and memory among them.
pub const BYTES_PER_GRAIN: f64 = 600.0;

const COMMON: &str = include_str!("common.wgsl");
const INTEGRATE: &str = include_str!("integrate.wgsl");
const CONTACTS: &str = include_str!("contacts.wgsl");
/// The shader that carries memory from old lists to new ones.
pub const CARRY: &str = include_str!("carry.wgsl");

/// The shader of the integration.
pub fn integrate_shader() -> String {
    [COMMON, INTEGRATE].concat()
}

/// The shader of the contacts, by a law.
pub fn contacts_shader(law: &barchan_core::contact::ContactLaw, resists: bool) -> String {
    [&law::wgsl(law, resists), COMMON, CONTACTS].concat()
}

barchan_core::stages! {
    /// The stages of a step of the grains on a device. Times are the host's: what a launch takes shows where it is waited for.
    pub enum Stage {
        /// Contact lists are built anew, when an allowance is half spent.
        Rebuild = "rebuild",
        /// Kick and drift, forces of all contacts, sums of the loads on walls.
        Step = "step",
    }
}

/// Why grains cannot be computed on a device, or could not go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuDemError {
    /// What the scene has that kernels do not know.
    #[error("grains cannot be computed on a graphics adapter: {}; run with `--device cpu`", .0.join("; "))]
    Refused(Vec<String>),
    /// The device.
    #[error(transparent)]
    Device(#[from] GpuError),
    /// A velocity is not a number.
    #[error(
        "grain {id} is not finite at t = {time:.6} s: the time step is too large or a wall moves too fast; use a smaller dt"
    )]
    NotFinite {
        /// Grain.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// A grain moved farther in one step than lists allow.
    #[error("grain {id} moved farther than lists allow in one step, at t = {time:.6} s; use a smaller dt")]
    TooFast {
        /// Grain.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// Overlap beyond the range of the law.
    #[error(
        "grain {id} and others overlap by up to {share:.1} % of the smaller radius at t = {time:.6} s, beyond what the contact law means; \
         stiffen the material, lower the speeds, or raise integrator.max_overlap"
    )]
    Overlap {
        /// The first of them.
        id: u32,
        /// Overlap in per cent of the smaller radius.
        share: f64,
        /// Time [s].
        time: f64,
    },
    /// A grain that the device cannot hold.
    #[error("a new grain has {0}; run with `--device cpu`")]
    NoSuch(&'static str),
}

impl From<GpuDemError> for SolverError {
    fn from(e: GpuDemError) -> SolverError {
        SolverError::new(e)
    }
}

impl From<GpuError> for SolverError {
    fn from(e: GpuError) -> SolverError {
        SolverError::new(e)
    }
}

struct Kernels {
    integrate: Kernel,
    contacts: Kernel,
    carry: Kernel,
    lists: Lists,
    reduce: Reduce,
}

/// What the device holds for a number of grains.
struct Room {
    constants: wgpu::Buffer,
    carry: wgpu::Buffer,
    record: wgpu::Buffer,
    fine: wgpu::Buffer,
    load: wgpu::Buffer,
    anchor: wgpu::Buffer,
    status: wgpu::Buffer,
    wall_kept: wgpu::Buffer,
    wall_loads: wgpu::Buffer,
    sums: ReduceRoom,
    /// Lists with what their pairs remember, and room for the next ones.
    lists: (ListsRoom, wgpu::Buffer),
    next: (ListsRoom, wgpu::Buffer),
}

/// The grain solver on a device.
pub struct GpuDem {
    gpu: Gpu,
    settings: Settings,
    fixtures: Arc<Fixtures>,
    kernels: Kernels,
    table: wgpu::Buffer,
    features: wgpu::Buffer,
    feature_count: usize,
    /// Rows of memory that a contact has.
    memory: usize,
    /// The unit of places; that of the largest grain so far.
    quanta: Quanta,
    largest: f64,
    room: Option<Room>,
    /// What each grain is, by slot: id, material, mass [kg].
    ids: Vec<u32>,
    born: u32,
    steps: u64,
    stale: bool,
    walls: Vec<WallState>,
    timers: Timers<Stage>,
}

/// Everything about settings and walls that kernels do not know. (Grains that are no spheres are refused when they are added.)
pub fn refusals(settings: &Settings, fixtures: &Fixtures) -> Vec<String> {
    let mut out = Vec::new();
    if settings.domain.periodic.contains(&true) {
        out.push("the domain has periodic sides".into());
    }
    match settings.integrator {
        Integrator::VelocityVerlet | Integrator::SemiImplicitEuler => {}
        Integrator::PositionVerlet { .. } => out.push("the integrator is position Verlet".into()),
        Integrator::ForwardEuler => out.push("the integrator is forward Euler".into()),
    }
    if settings.law.rolling == Rolling::Own && settings.materials.resist_rolling() {
        out.push("rolling is against the grains' own spin".into());
    }
    if settings.bridges.is_some() {
        out.push("liquid bridges hold the grains".into());
    }
    if settings.cell.is_some() {
        out.push("the periodic cell is strained".into());
    }
    if settings.precision == barchan_dem::Precision::Double {
        out.push("the precision is double".into());
    }
    if settings.materials.len() > MOST_MATERIALS {
        out.push(format!("there are more than {MOST_MATERIALS} materials"));
    }
    out.extend(fixtures.walls.iter().filter_map(refusal));
    if out.is_empty() {
        let count = features::keys(&fixtures.walls).len();
        if count > MOST_FEATURES {
            out.push(format!("walls have {count} faces, and {MOST_FEATURES} fit"));
        }
    }
    out
}

impl GpuDem {
    /// A solver without grains, between these walls.
    pub fn new(gpu: Gpu, settings: Settings, boundary: &Boundary) -> Result<GpuDem, GpuDemError> {
        let fixtures = boundary.fixtures().clone();
        let refused = refusals(&settings, &fixtures);
        if !refused.is_empty() {
            return Err(GpuDemError::Refused(refused));
        }
        let resists = settings.materials.resist_rolling();
        let kernels = Kernels {
            integrate: gpu.kernel("integrate", &integrate_shader(), "integrate")?,
            contacts: gpu.kernel("contacts", &contacts_shader(&settings.law, resists), "contacts")?,
            carry: gpu.kernel("carry", CARRY, "carry")?,
            lists: Lists::new(&gpu)?,
            reduce: Reduce::new(&gpu)?,
        };
        let walls = boundary.states().to_vec();
        let feature_count = features::keys(&fixtures.walls).len();
        Ok(GpuDem {
            table: gpu.constants("pairs of materials", &[0; 4 * 2 * MOST_MATERIALS * MOST_MATERIALS])?,
            features: gpu.constants("features of walls", &[0; 4 * features::ROWS * MOST_FEATURES])?,
            feature_count,
            memory: if resists { 2 } else { 1 },
            quanta: Quanta { length: 1.0 },
            largest: 0.0,
            room: None,
            ids: Vec::new(),
            born: 0,
            steps: 0,
            stale: true,
            timers: Timers::default(),
            gpu,
            settings,
            fixtures,
            kernels,
            walls,
        }
        .with_table())
    }

    fn with_table(self) -> GpuDem {
        let table = PairTable::<f32>::new(&self.settings.law, &self.settings.materials);
        let words: Vec<u32> = table.rows().iter().flat_map(|r| r.0.map(f32::to_bits)).collect();
        self.gpu.write(&self.table, &words);
        self
    }

    /// Simulated time [s].
    fn time(&self) -> f64 {
        self.steps as f64 * self.settings.dt
    }

    /// How far back velocities are kept [s].
    fn lag(&self) -> f64 {
        if self.settings.integrator == Integrator::VelocityVerlet { 0.5 * self.settings.dt } else { 0.0 }
    }

    /// Metres a second that are one quantum a step.
    fn speed(&self) -> f64 {
        self.quanta.length / self.settings.dt
    }

    fn constants(&self, n: usize) -> Vec<u32> {
        let s = &self.settings;
        let real = |x: f64| (x as f32).to_bits();
        let mut fall = Rows { fine: vec![[0; 4]; FINE], ..Rows::default() };
        fall.set_motion(0, 1, s.gravity * s.dt / self.speed());
        let counts = [n, self.feature_count, s.materials.len(), self.walls.len(), self.memory].map(|x| x as u32);
        let reals = [s.dt, self.quanta.length, s.max_overlap, s.dt / self.speed(), self.speed(), self.lag()].map(real);
        let allowance = real(f64::from(self.quanta.of(SKIN * self.largest)) * 0.5);
        let g = s.gravity.to_array().map(real);
        let mut out = [&counts[..], &reals, &[allowance], &g, &[0]].concat();
        out.extend(fall.fine[1].into_iter().chain(fall.fine[2]));
        out
    }

    /// Everything that the device holds.
    fn rows(&self) -> Result<Rows, GpuError> {
        let (n, gpu) = (self.ids.len(), &self.gpu);
        let Some(room) = &self.room else { return Ok(Rows { starts: vec![0], ..Rows::default() }) };
        let (lists, kept) = &room.lists;
        Ok(Rows {
            record: gpu.read(&room.record, RECORD * n)?,
            fine: gpu.read(&room.fine, FINE * n)?,
            load: gpu.read(&room.load, LOAD * n)?,
            anchor: gpu.read(&room.anchor, n)?,
            starts: gpu.read(&lists.starts, n + 1)?,
            partners: gpu.read(&lists.partners, lists.len)?,
            kept: gpu.read(kept, self.memory * lists.len)?,
            wall_kept: gpu.read(&room.wall_kept, self.memory * self.feature_count * n)?,
        })
    }

    /// Records, fine parts and loads: what readers need.
    fn seen(&self) -> Result<Rows, GpuError> {
        let (n, gpu) = (self.ids.len(), &self.gpu);
        let Some(room) = &self.room else { return Ok(Rows::default()) };
        Ok(Rows {
            record: gpu.read(&room.record, RECORD * n)?,
            fine: gpu.read(&room.fine, FINE * n)?,
            load: gpu.read(&room.load, LOAD * n)?,
            ..Rows::default()
        })
    }

    /// Puts rows on the device, with room for so many.
    fn put(&mut self, rows: &Rows) -> Result<(), GpuError> {
        let (n, gpu, memory) = (rows.len(), &self.gpu, self.memory);
        let skin = self.quanta.of(SKIN * self.largest);
        let groups = n.div_ceil(GROUP as usize);
        let lists = &self.kernels.lists;
        let mut own = lists.room(gpu, n, RECORD as u32, skin)?;
        gpu.write(&own.starts, &rows.starts);
        own.partners = gpu.upload("lists: partners", &rows.partners)?;
        own.set_len(rows.partners.len());
        self.room = Some(Room {
            constants: gpu.constants("grains", &self.constants(n))?,
            carry: gpu.constants("carry", &[n as u32, memory as u32])?,
            record: gpu.upload("records of grains", &rows.record)?,
            fine: gpu.upload("places and velocities", &rows.fine)?,
            load: gpu.upload("loads on grains", &rows.load)?,
            anchor: gpu.upload("places of lists", &rows.anchor)?,
            status: gpu.upload("status", &CALM)?,
            wall_kept: gpu.upload("memory of walls", &rows.wall_kept)?,
            wall_loads: gpu.buffer::<[f32; 4]>("loads on walls", 2 * groups * self.walls.len())?,
            sums: self.kernels.reduce.room(gpu, groups, 2 * self.walls.len())?,
            lists: (own, gpu.upload("memory of contacts", &rows.kept)?),
            next: (lists.room(gpu, n, RECORD as u32, skin)?, gpu.buffer::<[f32; 4]>("memory of contacts", 1)?),
        });
        Ok(())
    }

    /// Builds the lists anew; what pairs remember goes along.
    fn rebuild(&mut self) -> Result<(), GpuError> {
        let Some(room) = &mut self.room else { return Ok(()) };
        let gpu = &self.gpu;
        self.kernels.lists.build(gpu, &room.record, &mut room.next.0)?;
        let entries = room.next.0.len * self.memory;
        if room.next.1.size() < (entries * size_of::<[f32; 4]>()) as u64 {
            room.next.1 = gpu.buffer::<[f32; 4]>("memory of contacts", entries + entries / 2)?;
        }
        let mut launches = gpu.launches();
        let ((old, old_kept), (new, kept)) = (&room.lists, &room.next);
        let bindings = [
            (0, &room.carry),
            (1, &room.record),
            (2, &old.starts),
            (3, &old.partners),
            (4, old_kept),
            (5, &new.starts),
            (6, &new.partners),
            (7, kept),
            (8, &room.anchor),
        ];
        launches.run(&self.kernels.carry, &bindings, self.ids.len().div_ceil(GROUP as usize) as u32);
        launches.submit()?;
        std::mem::swap(&mut room.lists, &mut room.next);
        self.stale = false;
        Ok(())
    }

    /// One step; returns the mean loads on walls.
    fn advance(&mut self) -> Result<Vec<[[f32; 4]; 2]>, GpuDemError> {
        let n = self.ids.len();
        self.steps += 1;
        if n == 0 {
            return Ok(vec![[[0.0; 4]; 2]; self.walls.len()]);
        }
        let begun = Instant::now();
        if self.stale {
            self.rebuild()?;
            self.timers.ran(Stage::Rebuild, begun);
        }
        let begun = Instant::now();
        let features = features::features(&self.fixtures.walls, &self.walls, self.quanta);
        let Some(room) = &self.room else { return Ok(Vec::new()) };
        let gpu = &self.gpu;
        let words: Vec<u32> = features.iter().flatten().flatten().copied().collect();
        gpu.write(&self.features, &words);
        gpu.write(&room.status, &CALM);
        let groups = n.div_ceil(GROUP as usize) as u32;
        let mut launches = gpu.launches();
        let common = [(0, &room.constants), (1, &room.record), (2, &room.load), (3, &room.status)];
        let integrate = [&common[..], &[(4, &room.fine), (5, &room.anchor)]].concat();
        launches.run(&self.kernels.integrate, &integrate, groups);
        let (lists, kept) = &room.lists;
        let own = [
            (4, &lists.starts),
            (5, &lists.partners),
            (6, kept),
            (7, &room.wall_kept),
            (8, &room.wall_loads),
            (9, &self.table),
            (10, &self.features),
        ];
        launches.run(&self.kernels.contacts, &[&common[..], &own].concat(), groups);
        if !self.walls.is_empty() {
            self.kernels.reduce.run(&mut launches, &room.wall_loads, &room.sums);
        }
        launches.submit()?;
        let status: Vec<u32> = gpu.read(&room.status, CALM.len())?;
        let loads: Vec<[[f32; 4]; 2]> = gpu.read(room.sums.sums(), self.walls.len())?;
        self.timers.ran(Stage::Step, begun);
        let (time, id) = (self.time(), |slot: u32| self.ids[slot as usize % n]);
        if status[1] != NOBODY {
            return Err(GpuDemError::NotFinite { id: id(status[1]), time });
        }
        if status[4] != NOBODY {
            return Err(GpuDemError::TooFast { id: id(status[4]), time });
        }
        if status[3] != NOBODY {
            let share = 100.0 * f64::from(f32::from_bits(status[2]));
            return Err(GpuDemError::Overlap { id: id(status[3]), share, time });
        }
        self.stale = status[0] != 0;
        Ok(loads)
    }

    /// Velocity [m/s] and spin [rad/s] of a grain at the present time.
    fn motion_of(&self, rows: &Rows, g: usize) -> (DVec3, DVec3) {
        let [inverse_mass, radius] = [rows.reals(g, 2)[3], rows.reals(g, 3)[3]];
        let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
        let (force, torque) = (three(rows.load(g, 0)), three(rows.load(g, 1)));
        let v = rows.motion(g, 1) * self.speed() + (force * inverse_mass + self.settings.gravity) * self.lag();
        let w =
            rows.motion(g, 3) * self.speed() / radius + torque * (2.5 * inverse_mass / (radius * radius)) * self.lag();
        (v, w)
    }

    /// Other quanta, for larger grains: places and velocities stay within one of the new ones.
    fn requantise(&self, rows: &mut Rows, to: Quanta) {
        let from = self.quanta;
        for g in 0..rows.len() {
            let x = rows.position(g, from);
            set_place(rows, g, x, to);
            for row in [1, 3] {
                rows.set_motion(g, row, rows.motion(g, row) * (from.length / to.length));
            }
            rows.record[RECORD * g][3] = to.of(rows.reals(g, 3)[3]);
        }
        rows.anchor = rows.record.chunks_exact(RECORD).map(|r| r[0]).collect();
    }

    fn born(&mut self, new: &[NewMatter]) -> Result<u32, GpuDemError> {
        let first = self.born;
        let s = &self.settings;
        for m in new {
            let known = (m.material as usize) < s.materials.len() && (m.shape as usize) < s.shapes.len();
            if !known || !s.shapes[m.shape as usize].is_sphere() {
                return Err(GpuDemError::NoSuch("a material or a shape that is none, or is not a sphere"));
            }
            let sound = m.radius > 0.0 && m.radius.is_finite() && m.position.is_finite() && m.velocity.is_finite();
            if !sound || !m.spin.is_finite() || !m.mass.is_none_or(|m| m > 0.0 && m.is_finite()) {
                return Err(GpuDemError::NoSuch("a radius, mass, position or velocity that is not a finite number"));
            }
        }
        if u64::from(first) + new.len() as u64 >= u64::from(NOBODY) {
            return Err(GpuDemError::NoSuch("an id beyond 4294967294"));
        }
        if new.is_empty() {
            return Ok(first);
        }
        let mut rows = self.rows()?;
        let largest = new.iter().map(|m| m.radius).fold(self.largest, f64::max);
        if largest > self.largest {
            let quanta = Quanta::for_radius(largest);
            if !self.ids.is_empty() {
                self.requantise(&mut rows, quanta);
            }
            (self.largest, self.quanta) = (largest, quanta);
        }
        for m in new {
            let density = self.settings.materials.list[m.material as usize].density;
            let mass = m.mass.unwrap_or(4.0 / 3.0 * PI * m.radius.powi(3) * density);
            let real = |x: f64| (x as f32).to_bits();
            let g = rows.len();
            let v = m.velocity.to_array().map(real);
            let w = m.spin.to_array().map(real);
            rows.record.extend([
                [0, 0, 0, self.quanta.of(m.radius)],
                [0, 0, 0, u32::from(m.material)],
                [v[0], v[1], v[2], real(1.0 / mass)],
                [w[0], w[1], w[2], real(m.radius)],
            ]);
            rows.fine.extend([[0; 4]; FINE]);
            rows.load.extend([[0.0; 4]; LOAD]);
            set_place(&mut rows, g, m.position, self.quanta);
            // Free flight until the next step: half a step back, gravity alone acted.
            rows.set_motion(g, 1, (m.velocity - self.settings.gravity * self.lag()) / self.speed());
            rows.set_motion(g, 3, m.spin * m.radius / self.speed());
            rows.anchor.push(rows.record[RECORD * g]);
            rows.starts.push(rows.partners.len() as u32);
            rows.wall_kept.extend(std::iter::repeat_n([0.0; 4], self.memory * self.feature_count));
            self.ids.push(self.born);
            self.born += 1;
        }
        self.stale = true;
        self.put(&rows)?;
        Ok(first)
    }
}

fn set_place(rows: &mut Rows, g: usize, x: DVec3, quanta: Quanta) {
    for k in 0..3 {
        let (whole, fraction) = quanta.place(x[k]);
        rows.record[RECORD * g][k] = whole as u32;
        rows.record[RECORD * g + 1][k] = (whole >> 32) as u32;
        rows.fine[FINE * g][k] = fraction;
    }
}

impl Solver for GpuDem {
    fn name(&self) -> &'static str {
        GRAINS
    }

    fn wish(&self) -> StepWish {
        StepWish { dt: self.settings.dt, fixed: true, reason: self.settings.dt_reason.clone() }
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        let steps = (interval.dt / self.settings.dt).round().max(1.0) as u64;
        let mut sums = vec![[DVec3::ZERO; 2]; self.walls.len()];
        for k in 1..=steps {
            let time = if k == steps { interval.end() } else { interval.start() + k as f64 * self.settings.dt };
            boundary.states_at(time, &mut self.walls);
            for (sum, load) in sums.iter_mut().zip(self.advance()?) {
                for (sum, [x, y, z, _]) in sum.iter_mut().zip(load) {
                    *sum += DVec3::new(x.into(), y.into(), z.into());
                }
            }
        }
        for (w, [force, torque]) in sums.into_iter().enumerate() {
            boundary.add_load(w, force / steps as f64, torque / steps as f64);
        }
        Ok(())
    }

    fn add(&mut self, matter: &[NewMatter], _: &Boundary) -> Result<u32, SolverError> {
        Ok(self.born(matter)?)
    }

    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let Ok(seen) = self.seen() else { return Vec::new() };
        let at = |g: usize| seen.position(g, self.quanta);
        let stays: Vec<bool> = self.ids.iter().enumerate().map(|(g, &id)| !leaves(id, at(g))).collect();
        if !stays.contains(&false) {
            return Vec::new();
        }
        let Ok(mut rows) = self.rows() else { return Vec::new() };
        let departed = |g: usize| Departed {
            id: self.ids[g],
            mass: 1.0 / rows.reals(g, 2)[3],
            position: at(g),
            velocity: self.motion_of(&rows, g).0,
        };
        let gone: Vec<Departed> = (0..stays.len()).filter(|&g| !stays[g]).map(departed).collect();
        rows.retain(&stays, self.memory, self.feature_count);
        // A device that fails here fails at the next step too, which says so; until then nobody has left.
        if self.put(&rows).is_err() {
            return Vec::new();
        }
        self.ids = self.ids.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(id, _)| *id).collect();
        self.stale = true;
        gone
    }

    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        let (min, max) = (self.settings.domain.min, self.settings.domain.max);
        // Looked for when lists are due, as on the processor.
        if !self.stale {
            return Vec::new();
        }
        let Ok(rows) = self.seen() else { return Vec::new() };
        let places = (0..rows.len()).map(|g| (self.ids[g], rows.position(g, self.quanta)));
        places.filter(|(_, x)| x.cmplt(min).any() || x.cmpgt(max).any()).collect()
    }

    fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        let Ok(rows) = self.seen() else { return };
        (0..rows.len()).for_each(|g| visit(rows.position(g, self.quanta), rows.reals(g, 3)[3]));
    }

    fn publish(&self, frame: &mut Frame) {
        // A device that does not answer leaves a frame without grains; the next step returns the error.
        let Ok(rows) = self.seen() else { return };
        let n = rows.len();
        let motion: Vec<(DVec3, DVec3)> = (0..n).map(|g| self.motion_of(&rows, g)).collect();
        let column = |row, slot: usize| (0..n).map(|g| rows.load(g, row)[slot] as f32).collect::<Shared<f32>>();
        frame.populations.push(Population {
            name: GRAINS.into(),
            position: (0..n).map(|g| rows.position(g, self.quanta)).collect(),
            velocity: motion.iter().map(|m| m.0).collect(),
            spin: motion.iter().map(|m| m.1).collect(),
            orientation: Shared::default(),
            radius: (0..n).map(|g| rows.reals(g, 3)[3]).collect(),
            mass: (0..n).map(|g| 1.0 / rows.reals(g, 2)[3]).collect(),
            id: self.ids[..].into(),
            material: (0..n).map(|g| rows.record[RECORD * g + 1][3] as u16).collect(),
            shape: vec![0; n].into(),
            shapes: self.settings.shapes.clone(),
            extras: vec![Extra::real("coordination", "", column(0, 3)), Extra::real("normal_force", "N", column(1, 3))],
        });
    }

    fn counts(&self) -> Counts {
        Counts { name: "grains", pieces: self.ids.len(), work_name: "spheres", work: self.ids.len() }
    }

    fn totals(&self) -> Totals {
        let Ok(rows) = self.seen() else { return Totals::default() };
        let mut out = Totals::default();
        let (mut contacts, mut deepest) = (0.0, 0f64);
        for g in 0..rows.len() {
            let (v, w) = self.motion_of(&rows, g);
            let (mass, radius) = (1.0 / rows.reals(g, 2)[3], rows.reals(g, 3)[3]);
            out.mass += mass;
            out.momentum += mass * v;
            out.energies += Energies {
                translation: 0.5 * mass * v.length_squared(),
                rotation: 0.2 * mass * radius * radius * w.length_squared(),
                gravity: -mass * self.settings.gravity.dot(rows.position(g, self.quanta) - self.settings.domain.min),
                elastic: rows.load(g, 2)[0],
            };
            contacts += rows.load(g, 0)[3];
            deepest = deepest.max(rows.load(g, 2)[1]);
        }
        let gauge = |name, value| Gauge { name, unit: "", value };
        out.gauges =
            vec![gauge("coordination", contacts / rows.len().max(1) as f64), gauge("largest overlap", deepest)];
        out
    }

    fn contacts(&self) -> Vec<Contact> {
        self.rows().map_or_else(|_| Vec::new(), |rows| self.contacts_of(&rows))
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        let Some(room) = &self.room else { return 0 };
        let own = [&room.record, &room.fine, &room.load, &room.anchor, &room.wall_kept, &room.wall_loads];
        let lists = [&room.lists, &room.next].map(|(lists, kept)| lists.bytes() + kept.size());
        (own.iter().map(|b| b.size()).sum::<u64>() + lists.iter().sum::<u64>()) as usize
    }

    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_GRAIN
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        self.settings.gravity = gravity;
        if let Some(room) = &self.room {
            self.gpu.write(&room.constants, &self.constants(self.ids.len()));
        }
    }

    fn set_materials(&mut self, _: &Materials) -> Result<(), SolverError> {
        Err(GpuDemError::Refused(vec!["materials cannot be changed while grains move there".into()]).into())
    }

    fn save(&self) -> Columns {
        // A device that does not answer gives a checkpoint that lacks its columns, which no run will take up.
        let Ok(rows) = self.rows() else { return Columns::new() };
        let counters = vec![self.steps, u64::from(self.born), self.ids.len() as u64, u64::from(self.stale)];
        let mut out = rows.save();
        out.push(("counters".into(), Column::U64(counters)));
        out.push(("largest".into(), Column::F64(vec![self.largest])));
        out.push(("id".into(), Column::U32(self.ids.clone())));
        out
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError> {
        if !saved.has("fine") {
            return Err(Unfit::new("its grains were computed on the processor; resume with `--device cpu`").into());
        }
        let counters = saved.u64s_of("counters", 4)?;
        let n = counters[2] as usize;
        let materials = self.settings.materials.len();
        let ids = saved.u32s("id")?;
        of_length("id", ids.len(), n)?;
        let rows = Rows::load_from(saved, n, self.memory, self.feature_count, materials)?;
        let largest = saved.f64s_of("largest", 1)?[0];
        if !(largest > 0.0 && largest.is_finite()) && n > 0 {
            return Err(Unfit::new("column largest is no radius").into());
        }
        (self.steps, self.born, self.stale) = (counters[0], counters[1] as u32, counters[3] != 0);
        (self.ids, self.largest) = (ids, largest);
        self.walls = boundary.states().to_vec();
        if n > 0 {
            self.quanta = Quanta::for_radius(largest);
            self.put(&rows)?;
        }
        Ok(())
    }

    fn hash(&self, start: u64) -> u64 {
        let Ok(rows) = self.seen() else { return start };
        (0..rows.len()).fold(start, |h, g| {
            let places = rows.record[RECORD * g..RECORD * g + 2].iter().chain(&rows.fine[FINE * g..FINE * (g + 1)]);
            places.flat_map(|row| &row[..3]).fold(mix(h, self.ids[g].into()), |h, &x| mix(h, x.into()))
        })
    }
}
