//! What the device holds, and how it gets there and back.

use super::batch::{Queue, RING, board_words};
use super::error::GpuDemError;
use super::features::{self, Bumps, MOST_WALLS, ROWS, refusal, too_bumpy};
use super::near::{ListKernels, NearRoom};
use super::rows::{FARTHEST, FINE, HEAD, LOAD, RECORD, Rows};
use super::{Stage, close_shader, step_shader};
use crate::blocks::lists::{CELL_WIDTH, Quanta};
use crate::device::{Gpu, GpuError};
use crate::kernel::{Bound, GROUP, Kernel};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::contact::{PairTable, Rolling};
use barchan_core::solver::NewMatter;
use barchan_core::stages::Timers;
use barchan_core::walls::WallState;
use barchan_dem::{Integrator, Settings};
use glam::DVec3;
use std::f64::consts::PI;
use std::sync::Arc;

/// Most materials: each has four bits beside the radius, and a pair of them two rows in a constant buffer.
pub const MOST_MATERIALS: usize = 16;
/// Most grains: a slot has 26 bits in an entry.
const MOST_GRAINS: usize = 1 << 26;
/// Least a grain may go before lists are built anew, over the largest radius: where more near pairs cost what fewer builds save.
const SKIN_LEAST: f64 = 0.06;
/// Most, for fast ones: two of these and the largest diameter are a cell.
const SKIN_MOST: f64 = CELL_WIDTH - 1.0;
/// Nobody, in a status of slots.
pub const NOBODY: u32 = u32::MAX;

/// The kernels of a step.
pub struct Kernels {
    pub begin: Kernel,
    pub flow: Kernel,
    pub rest: Kernel,
    pub gate: Kernel,
    pub close: Kernel,
    pub finish: Kernel,
    pub lists: ListKernels,
}

/// What the device holds for a number of grains.
pub struct Room {
    pub constants: wgpu::Buffer,
    pub record: wgpu::Buffer,
    pub fine: wgpu::Buffer,
    pub load: wgpu::Buffer,
    pub memory: wgpu::Buffer,
    /// Rows of half the memory.
    pub memory_room: usize,
    pub lists: wgpu::Buffer,
    pub board: wgpu::Buffer,
    pub walls: wgpu::Buffer,
    /// Bumps that `walls` has room for.
    pub bump_room: usize,
    pub launch: wgpu::Buffer,
    pub near: NearRoom,
    /// The launches of a step, bound to these buffers; none after one of them was replaced.
    pub bound: Option<BoundSteps>,
    /// Which half of records and of memory is the present one.
    pub halves: [u32; 2],
    /// Words of the lists and rows of the memory in use.
    pub used: [usize; 2],
}

/// The launches of a step.
pub struct BoundSteps {
    pub begin: Bound,
    pub flow: Bound,
    pub rest: Bound,
    pub gate: Bound,
    pub close: Bound,
    pub finish: Bound,
}

/// The solver's state on both sides.
pub struct Machine {
    pub gpu: Gpu,
    pub settings: Settings,
    pub fixtures: Arc<Fixtures>,
    pub kernels: Kernels,
    pub table: wgpu::Buffer,
    /// Wall and key of each smooth feature; the first of each wall.
    pub keys: Vec<(usize, u32)>,
    pub first_of_wall: Vec<u32>,
    pub bumps: Bumps,
    /// Rows of memory that a contact has.
    pub memory: usize,
    /// The unit of places; that of the largest grain so far.
    pub quanta: Quanta,
    pub largest: f64,
    pub room: Option<Room>,
    pub ids: Vec<u32>,
    pub born: u32,
    /// Steps asked for, some of which may be queued.
    pub steps: u64,
    /// Lists do not fit the grains any more.
    pub stale: bool,
    /// No step was taken since lists were built.
    pub fresh: bool,
    /// Somebody has left the domain since it was last asked.
    pub outside: bool,
    /// Walls as they stood when forces were last computed, and how far each may still come nearer before lists must be rebuilt [m].
    pub walls: Vec<WallState>,
    pub wall_skin: Vec<f64>,
    pub wall_left: Vec<f64>,
    pub queue: Queue,
    /// Steps of a submission.
    pub batch: usize,
    /// Why the device cannot go on; told at the next step.
    pub failed: Option<GpuDemError>,
    pub timers: Timers<Stage>,
}

/// Everything about settings and walls that kernels do not know. (Grains that are no spheres are refused when they are added.)
pub fn refusals(settings: &Settings, fixtures: &Fixtures) -> Vec<String> {
    let mut out = Vec::new();
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
    if settings.sleep.is_some() {
        out.push("grains sleep".into());
    }
    if settings.precision == barchan_dem::Precision::Double {
        out.push("the precision is double".into());
    }
    if settings.materials.len() > MOST_MATERIALS {
        out.push(format!("there are more than {MOST_MATERIALS} materials"));
    }
    out.extend(fixtures.walls.iter().filter_map(refusal));
    if fixtures.walls.len() > MOST_WALLS {
        out.push(format!("there are {} walls, and {MOST_WALLS} fit", fixtures.walls.len()));
    }
    out
}

impl Machine {
    pub fn new(gpu: Gpu, settings: Settings, boundary: &Boundary) -> Result<Machine, GpuDemError> {
        let fixtures = boundary.fixtures().clone();
        let refused = refusals(&settings, &fixtures);
        if !refused.is_empty() {
            return Err(GpuDemError::Refused(refused));
        }
        let resists = settings.materials.resist_rolling();
        let (step, close) = (step_shader(&settings.law, resists), close_shader());
        let kernels = Kernels {
            begin: gpu.kernel("grains", &step, "begin")?,
            flow: gpu.kernel("grains", &step, "flow")?,
            rest: gpu.kernel("grains", &step, "rest")?,
            gate: gpu.kernel("end of a step", &close, "gate")?,
            close: gpu.kernel("end of a step", &close, "close")?,
            finish: gpu.kernel("end of a step", &close, "finish")?,
            lists: ListKernels::new(&gpu)?,
        };
        let table = PairTable::<f32>::new(&settings.law, &settings.materials);
        let words: Vec<u32> = table.rows().iter().flat_map(|r| r.0.map(f32::to_bits)).collect();
        let rows = gpu.constants("pairs of materials", &[0; 4 * 2 * MOST_MATERIALS * MOST_MATERIALS])?;
        gpu.write(&rows, &words);
        let keys = features::keys(&fixtures.walls);
        let first = |w| keys.iter().position(|k| k.0 == w).unwrap_or(0) as u32;
        let walls = boundary.states().to_vec();
        Ok(Machine {
            table: rows,
            first_of_wall: (0..walls.len()).map(first).collect(),
            keys,
            bumps: Bumps::default(),
            memory: if resists { 2 } else { 1 },
            quanta: Quanta { length: 1.0 },
            largest: 0.0,
            room: None,
            ids: Vec::new(),
            born: 0,
            steps: 0,
            stale: true,
            fresh: false,
            outside: false,
            wall_skin: vec![0.0; walls.len()],
            wall_left: vec![0.0; walls.len()],
            walls,
            queue: Queue::default(),
            batch: super::MOST_STEPS,
            failed: None,
            timers: Timers::default(),
            gpu,
            settings,
            fixtures,
            kernels,
        })
    }

    /// How far back velocities are kept [s].
    pub fn lag(&self) -> f64 {
        if self.settings.integrator == Integrator::VelocityVerlet { 0.5 * self.settings.dt } else { 0.0 }
    }

    /// Metres a second that are one quantum a step.
    pub fn speed(&self) -> f64 {
        self.quanta.length / self.settings.dt
    }

    /// Columns of the loads on walls; there is one workgroup at least at the end of a step.
    pub fn columns(&self) -> usize {
        (2 * self.walls.len()).max(1)
    }

    /// Whether some wall moves, so that features differ from step to step.
    pub fn walls_move(&self) -> bool {
        self.fixtures.walls.iter().any(|w| !w.motion.is_still() || w.control.is_some())
    }

    /// Steps whose features are on the device at once.
    pub fn steps_of_features(&self) -> usize {
        if self.walls_move() { RING } else { 1 }
    }

    /// Rows of `walls` where sums and bumps begin, and all of them.
    fn layout(&self, n: usize, bumps: usize) -> [usize; 3] {
        let sums = self.steps_of_features() * self.keys.len() * ROWS;
        let after = sums + 2 * self.walls.len() * n.div_ceil(GROUP as usize);
        [sums, after, after + 3 * bumps]
    }

    fn constants(&self, n: usize, bits: u32, memory_room: usize) -> Vec<u32> {
        let s = &self.settings;
        let real = |x: f64| (x as f32).to_bits();
        let [sums, bumps, _] = self.layout(n, 0);
        let stride = if self.walls_move() { self.keys.len() * ROWS } else { 0 };
        let counts = [
            n,
            self.keys.len(),
            s.materials.len(),
            self.walls.len(),
            self.memory,
            n.div_ceil(GROUP as usize),
            bumps,
            sums,
            stride,
            bits as usize,
            self.columns(),
            memory_room,
        ]
        .map(|x| x as u32);
        let skins = [SKIN_LEAST, SKIN_MOST].map(|s| s * self.largest / self.quanta.length);
        let reals = [
            s.dt,
            self.quanta.length,
            s.max_overlap,
            s.dt / self.speed(),
            self.speed(),
            self.lag(),
            skins[0],
            skins[1],
        ]
        .map(real);
        let g = s.gravity.to_array().map(real);
        let mut fall = Rows { fine: vec![[0; 4]; FINE], ..Rows::default() };
        fall.set_motion(0, [s.gravity * s.dt / self.speed(), DVec3::ZERO]);
        let low = [0, 1, 2].map(|k| fall.fine[k][3] >> 16);
        let quanta = |x: DVec3| x.to_array().map(|x| (x / self.quanta.length).round() as i64);
        let (min, period) = (quanta(s.domain.min), quanta(s.domain.period()));
        // The upper side is a whole period away, where there is one.
        let size = quanta(s.domain.max - s.domain.min);
        let max: [i64; 3] =
            std::array::from_fn(|k| min[k].saturating_add(if period[k] > 0 { period[k] } else { size[k] }));
        let mut out = [&counts[..], &reals, &g, &[0], &fall.fine[1][..3], &[0], &low, &[0]].concat();
        for x in [min, max, period] {
            out.extend(x.map(|x| x as u32).into_iter().chain([0]));
            out.extend(x.map(|x| (x >> 32) as u32).into_iter().chain([0]));
        }
        out.extend(s.domain.periodic.map(u32::from).into_iter().chain([0]));
        out
    }

    /// Writes the constants anew.
    pub fn tell_constants(&self) {
        if let Some(room) = &self.room {
            self.gpu.write(&room.constants, &self.constants(self.ids.len(), room.near.bits(), room.memory_room));
        }
    }

    /// Records, fine parts and loads: what readers need.
    pub fn seen(&self) -> Result<Rows, GpuError> {
        let (n, gpu) = (self.ids.len(), &self.gpu);
        let Some(room) = &self.room else { return Ok(Rows::default()) };
        Ok(Rows {
            record: gpu.read_from(&room.record, room.halves[0] as usize * RECORD * n, RECORD * n)?,
            fine: gpu.read(&room.fine, FINE * n)?,
            load: gpu.read(&room.load, LOAD * n)?,
            ..Rows::default()
        })
    }

    /// Everything that the device holds.
    pub fn rows(&self) -> Result<Rows, GpuError> {
        let Some(room) = &self.room else { return Ok(Rows::default()) };
        Ok(Rows {
            lists: self.gpu.read(&room.lists, room.used[0])?,
            kept: self.gpu.read_from(&room.memory, room.halves[1] as usize * room.memory_room, room.used[1])?,
            ..self.seen()?
        })
    }

    /// Puts rows on the device, with room for so many.
    pub fn put(&mut self, rows: &Rows) -> Result<(), GpuError> {
        let (n, gpu) = (rows.len(), &self.gpu);
        let memory_room = rows.kept.len().max(self.memory * 4 * n).max(1);
        let room = rows.lists.len().max(HEAD * n + 12 * n);
        let near = self.kernels.lists.room(gpu, n, room)?;
        let constants = gpu.constants("grains", &self.constants(n, near.bits(), memory_room))?;
        let bump_room = self.bumps.len().next_power_of_two().max(16);
        let record = gpu.buffer::<[u32; 4]>("records of grains", 2 * RECORD * n)?;
        gpu.write(&record, &rows.record);
        let memory = gpu.buffer::<[f32; 4]>("memory of contacts", 2 * memory_room)?;
        gpu.write(&memory, &rows.kept);
        let lists = gpu.buffer::<u32>("lists", room)?;
        gpu.write(&lists, &rows.lists);
        let groups = n.div_ceil(GROUP as usize) as u32;
        self.room = Some(Room {
            constants,
            record,
            fine: gpu.upload("places and velocities", &rows.fine)?,
            load: gpu.upload("loads on grains", &rows.load)?,
            memory,
            memory_room,
            lists,
            board: gpu.buffer::<u32>("board", board_words(self.columns(), RING))?,
            walls: gpu.buffer::<[u32; 4]>("walls", self.layout(n, bump_room)[2])?,
            bump_room,
            launch: gpu.launch_size(groups)?,
            near,
            bound: None,
            halves: [0, 0],
            used: [rows.lists.len(), rows.kept.len()],
        });
        self.tell_bumps()
    }

    /// Writes the bumps, with more room where they are too many.
    pub fn tell_bumps(&mut self) -> Result<(), GpuError> {
        let n = self.ids.len().max(self.room.as_ref().map_or(0, |r| (r.record.size() / 96) as usize));
        let needs = self.bumps.len();
        let [_, at, _] = self.layout(n, 0);
        let rows = self.bumps.rows(&self.first_of_wall, self.quanta);
        let Some(room) = &mut self.room else { return Ok(()) };
        if needs > room.bump_room {
            room.bump_room = needs.next_power_of_two();
            room.walls = self.gpu.buffer::<[u32; 4]>("walls", at + 3 * room.bump_room)?;
            room.bound = None;
        }
        self.gpu.write_at(&room.walls, at, &rows);
        Ok(())
    }

    /// Velocity [m/s] and spin [rad/s] of a grain at the present time.
    pub fn motion_of(&self, rows: &Rows, g: usize) -> (DVec3, DVec3) {
        let (inverse_mass, radius) = (rows.inverse_mass(g), self.radius_of(rows, g));
        let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
        let (force, torque) = (three(rows.load(g, 0)), three(rows.load(g, 1)));
        let [v, s] = rows.motion(g);
        let v = v * self.speed() + (force * inverse_mass + self.settings.gravity) * self.lag();
        let w = s * self.speed() / radius + torque * (2.5 * inverse_mass / (radius * radius)) * self.lag();
        (v, w)
    }

    /// Radius [m].
    pub fn radius_of(&self, rows: &Rows, g: usize) -> f64 {
        f64::from(rows.radius(g)) * self.quanta.length
    }

    /// Other quanta, for larger grains: places and velocities stay within one of the new ones.
    fn requantise(&self, rows: &mut Rows, to: Quanta) {
        let from = self.quanta;
        let longer = from.length / to.length;
        for g in 0..rows.len() {
            let (x, radius) = (rows.position(g, from), self.radius_of(rows, g));
            rows.set_position(g, x, to);
            rows.set_motion(g, rows.motion(g).map(|v| v * longer));
            rows.record[RECORD * g][3] = to.of(radius) | rows.material(g) << 28;
        }
    }

    /// The quanta for grains of at most this radius [m].
    pub fn take_largest(&mut self, rows: &mut Rows, largest: f64) -> Result<(), GpuDemError> {
        let quanta = Quanta::for_radius(largest);
        let domain = &self.settings.domain;
        let corner = domain.min.abs().max(domain.max.abs()).max_element();
        if corner / quanta.length >= FARTHEST {
            return Err(GpuDemError::NoSuch("a radius that is less than a millionth of the domain"));
        }
        let period = domain.period();
        if (0..3).any(|k| domain.periodic[k] && period[k] < 2.0 * CELL_WIDTH * 2.0 * largest) {
            return Err(GpuDemError::NoSuch("more than a fifth of the distance of periodic sides as its radius"));
        }
        if self.fixtures.walls.iter().any(|w| too_bumpy(w, largest)) {
            return Err(GpuDemError::NoSuch("less than four fifths of the radius of a rough wall's bumps"));
        }
        if rows.len() > 0 {
            self.requantise(rows, quanta);
        }
        (self.largest, self.quanta) = (largest, quanta);
        Ok(())
    }

    /// Births; returns the id of the first.
    pub fn born(&mut self, new: &[NewMatter]) -> Result<u32, GpuDemError> {
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
        if u64::from(first) + new.len() as u64 >= u64::from(NOBODY) || self.ids.len() + new.len() > MOST_GRAINS {
            return Err(GpuDemError::NoSuch("too many others: 67108864 fit"));
        }
        if new.is_empty() {
            return Ok(first);
        }
        // A step of more than a cell is beyond the range of the numbers, and of what lists allow.
        let cell = 2.0 * CELL_WIDTH * new.iter().map(|m| m.radius).fold(self.largest, f64::max);
        let fast =
            new.iter().position(|m| (m.velocity.abs() + s.gravity.abs() * s.dt).max_element() * s.dt > 0.1 * cell);
        if let Some(k) = fast {
            return Err(GpuDemError::TooFast { id: first + k as u32, time: self.steps as f64 * s.dt });
        }
        self.flush()?;
        let mut rows = self.rows()?;
        let largest = new.iter().map(|m| m.radius).fold(self.largest, f64::max);
        if largest > self.largest {
            self.take_largest(&mut rows, largest)?;
        }
        let old = rows.touching(self.memory);
        for m in new {
            let density = self.settings.materials.list[m.material as usize].density;
            let mass = m.mass.unwrap_or(4.0 / 3.0 * PI * m.radius.powi(3) * density);
            let real = |x: f64| (x as f32).to_bits();
            let g = rows.len();
            let v = m.velocity.to_array().map(real);
            let w = m.spin.to_array().map(real);
            rows.record.extend([
                [0, 0, 0, self.quanta.of(m.radius) | u32::from(m.material) << 28],
                [v[0], v[1], v[2], real(1.0 / mass)],
                [w[0], w[1], w[2], 0],
            ]);
            rows.fine.extend([[0; 4]; FINE]);
            rows.load.extend([[0.0; 4]; LOAD]);
            rows.set_position(g, m.position, self.quanta);
            // Free flight until the next step: half a step back, gravity alone acted.
            let v = (m.velocity - self.settings.gravity * self.lag()) / self.speed();
            rows.set_motion(g, [v, m.spin * m.radius / self.speed()]);
            self.ids.push(self.born);
            self.born += 1;
        }
        rows.set_touching(&old);
        self.stale = true;
        self.put(&rows)?;
        Ok(first)
    }
}
