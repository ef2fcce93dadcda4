//! Lists are built anew on the device.

use super::error::GpuDemError;
use super::machine::{Machine, Room};
use super::near_shader;
use super::rows::{FINE, HEAD, RECORD, Rows};
use crate::blocks::lists::{Cells, CellsRoom};
use crate::blocks::scan::ScanRoom;
use crate::device::{Gpu, GpuError};
use crate::kernel::{GROUP, Kernel};
use barchan_core::walls::WallState;
use std::mem::swap;

/// How far a wall may come nearer before lists are built anew, over the largest radius: as its speed asks for.
const WALL_SKIN: [f64; 2] = [0.06, 1.0];
/// Steps that lists are meant to last, with the margin for walls that speed up.
const STEPS: f64 = 260.0;

/// The kernels of the lists.
pub struct ListKernels {
    wrap: Kernel,
    key: Kernel,
    count: Kernel,
    spread: Kernel,
    head: Kernel,
    fill: Kernel,
    link: Kernel,
    carry: Kernel,
    cells: Cells,
}

/// What a build needs besides the grains and their lists.
pub struct NearRoom {
    cells: CellsRoom,
    starts: wgpu::Buffer,
    memory_starts: wgpu::Buffer,
    scans: [ScanRoom; 2],
    /// Lists that are not in use: the next ones.
    lists: wgpu::Buffer,
    bumps: wgpu::Buffer,
}

impl ListKernels {
    pub fn new(gpu: &Gpu) -> Result<ListKernels, GpuError> {
        let source = near_shader();
        let kernel = |entry| gpu.kernel("lists of grains", &source, entry);
        Ok(ListKernels {
            wrap: kernel("wrap")?,
            key: kernel("key")?,
            count: kernel("count")?,
            spread: kernel("spread")?,
            head: kernel("head")?,
            fill: kernel("fill")?,
            link: kernel("link")?,
            carry: kernel("carry")?,
            cells: Cells::new(gpu)?,
        })
    }

    /// Room for the lists of `n` grains, of so many words.
    pub fn room(&self, gpu: &Gpu, n: usize, words: usize) -> Result<NearRoom, GpuError> {
        let scan = || self.cells.scan().room(gpu, n + 1);
        Ok(NearRoom {
            cells: self.cells.room(gpu, n)?,
            starts: gpu.buffer::<u32>("lists: starts", n + 1)?,
            memory_starts: gpu.buffer::<u32>("lists: starts of memory", n + 1)?,
            scans: [scan()?, scan()?],
            lists: gpu.buffer::<u32>("lists", words)?,
            bumps: gpu.buffer::<u32>("lists: bumps", n + 1)?,
        })
    }
}

impl NearRoom {
    /// Bits of a key.
    pub fn bits(&self) -> u32 {
        self.cells.bits
    }

    /// Bytes held on the device.
    pub fn bytes(&self) -> u64 {
        let own = [&self.starts, &self.memory_starts, &self.lists, &self.bumps];
        own.iter().map(|b| b.size()).sum::<u64>() + self.cells.bytes()
    }
}

impl Machine {
    /// Bound of the speed with which a wall comes nearer to any grain [m/s].
    pub fn sweep_speed(&self, w: usize, state: &WallState) -> f64 {
        let (wall, domain) = (&self.fixtures.walls[w], &self.settings.domain);
        let pivot = wall.pivot(state);
        let extent = (domain.max - pivot).abs().max((domain.min - pivot).abs()).length();
        wall.sweep_speed(state, extent)
    }

    /// Builds the lists anew for a step at whose end the walls stand so; what pairs remember goes along. Two numbers are read back, how long
    /// lists and memory are; where a wall is rough, all places.
    pub fn rebuild(&mut self, walls: Vec<WallState>) -> Result<(), GpuDemError> {
        for w in 0..walls.len() {
            let swept = self.sweep_speed(w, &walls[w]) * STEPS * self.settings.dt;
            self.wall_skin[w] = swept.clamp(WALL_SKIN[0] * self.largest, WALL_SKIN[1] * self.largest);
        }
        self.wall_left.clone_from(&self.wall_skin);
        let (features, board) = (self.features_at(&walls), self.clean_board());
        let n = self.ids.len();
        let groups = n.div_ceil(GROUP as usize) as u32;
        let kernels = &self.kernels.lists;
        let Some(room) = &self.room else { return Ok(()) };
        self.gpu.write(&room.walls, &features);
        self.gpu.write(&room.board, &board);
        let mut launches = self.gpu.launches();
        let grains = [(0, &room.constants), (1, &room.record), (2, &room.fine), (5, &room.board)];
        launches.run(&kernels.wrap, &grains, groups);
        launches.submit()?;
        if self.fixtures.walls.iter().any(|w| w.rough.is_some()) {
            self.find_bumps(&walls)?;
        }
        let kernels = &self.kernels.lists;
        let Some(room) = &mut self.room else { return Ok(()) };
        let near = &room.near;
        let grains = [(0, &room.constants), (1, &room.record), (2, &room.fine), (5, &room.board)];
        let mut launches = self.gpu.launches();
        let keys = [(10, &near.cells.keys), (11, &near.cells.order)];
        launches.run(&kernels.key, &[&grains[..], &keys].concat(), groups);
        kernels.cells.run(&mut launches, &near.cells);
        let visit =
            [(4, &near.lists), (6, &room.walls), (11, &near.cells.order), (12, &near.cells.ranges), (16, &near.bumps)];
        launches.run(&kernels.count, &[&grains[..], &visit].concat(), groups);
        let starts = [(14, &near.starts), (15, &near.memory_starts)];
        let lists = [(0, &room.constants), (4, &near.lists)];
        launches.run(&kernels.spread, &[&lists[..], &starts].concat(), (n + 1).div_ceil(GROUP as usize) as u32);
        kernels.cells.scan().run(&mut launches, &near.starts, &near.scans[0]);
        kernels.cells.scan().run(&mut launches, &near.memory_starts, &near.scans[1]);
        launches.submit()?;
        let entries = self.gpu.read_from::<u32>(&near.starts, n, 1)?[0] as usize;
        let contacts = self.gpu.read_from::<u32>(&near.memory_starts, n, 1)?[0] as usize;
        let board: Vec<u32> = self.gpu.read(&room.board, board.len())?;
        self.outside |= board[5] != 0;
        if board[7] != 0 {
            return Err(GpuDemError::Crowded);
        }
        let used = [HEAD * n + entries, contacts * self.memory];
        grow(&self.gpu, room, n, used)?;
        self.tell_constants();

        let kernels = &self.kernels.lists;
        let Some(room) = &mut self.room else { return Ok(()) };
        let near = &room.near;
        let grains = [(0, &room.constants), (1, &room.record), (2, &room.fine), (5, &room.board)];
        let lists = [(0, &room.constants), (4, &near.lists)];
        let visit =
            [(4, &near.lists), (6, &room.walls), (11, &near.cells.order), (12, &near.cells.ranges), (16, &near.bumps)];
        let mut launches = self.gpu.launches();
        launches.run(&kernels.head, &[&lists[..], &starts_of(near)].concat(), groups);
        launches.run(&kernels.fill, &[&grains[..], &visit].concat(), groups);
        launches.run(&kernels.link, &lists, groups);
        let old = [(3, &room.memory), (5, &room.board), (17, &room.lists)];
        launches.run(&kernels.carry, &[&lists[..], &old].concat(), groups);
        launches.submit()?;
        swap(&mut room.lists, &mut room.near.lists);
        room.halves[1] = 1 - room.halves[1];
        room.used = used;
        room.bound = None;
        (self.stale, self.fresh) = (false, true);
        Ok(())
    }

    /// Finds the bumps of rough walls near each grain, on the host, where lattices are computed in f64.
    fn find_bumps(&mut self, walls: &[WallState]) -> Result<(), GpuDemError> {
        let n = self.ids.len();
        let Some(room) = &self.room else { return Ok(()) };
        let rows = Rows {
            record: self.gpu.read_from(&room.record, room.halves[0] as usize * RECORD * n, RECORD * n)?,
            fine: self.gpu.read(&room.fine, FINE * n)?,
            ..Rows::default()
        };
        let (mut words, mut found) = (Vec::with_capacity(n + 1), Vec::new());
        let fixtures = self.fixtures.clone();
        for g in 0..n {
            words.push(found.len() as u32);
            let x = rows.position(g, self.quanta);
            let own = self.radius_of(&rows, g) + rows.reals(g, 2)[3] * self.quanta.length;
            let reach: Vec<f64> = self.wall_skin.iter().map(|s| own + s).collect();
            self.bumps.near(&fixtures.walls, walls, x, &reach, &mut |bump| found.push(bump));
        }
        words.push(found.len() as u32);
        words.extend(found);
        self.tell_bumps()?;
        let Some(room) = &mut self.room else { return Ok(()) };
        if room.near.bumps.size() < 4 * words.len() as u64 {
            room.near.bumps = self.gpu.buffer::<u32>("lists: bumps", words.len() + words.len() / 2)?;
        }
        self.gpu.write(&room.near.bumps, &words);
        Ok(())
    }
}

fn starts_of(near: &NearRoom) -> [(u32, &wgpu::Buffer); 2] {
    [(14, &near.starts), (15, &near.memory_starts)]
}

/// Gives lists and memory the room they need: an eighth more than that, as those of a flow change their length at every build.
fn grow(gpu: &Gpu, room: &mut Room, n: usize, [words, rows]: [usize; 2]) -> Result<(), GpuError> {
    let (old_words, old_rows) = ((room.near.lists.size() / 4) as usize, room.memory_room);
    let mut launches = gpu.launches();
    if words > old_words {
        let lists = gpu.buffer::<u32>("lists", words + words / 8)?;
        launches.copy((&room.near.lists, 0), (&lists, 0), (4 * HEAD * n) as u64);
        room.near.lists = lists;
    }
    if rows > old_rows {
        let wider = rows + rows / 8;
        let memory = gpu.buffer::<[f32; 4]>("memory of contacts", 2 * wider)?;
        let half = u64::from(room.halves[1]);
        let (from, to) = (16 * old_rows as u64 * half, 16 * wider as u64 * half);
        launches.copy((&room.memory, from), (&memory, to), 16 * old_rows as u64);
        (room.memory, room.memory_room) = (memory, wider);
    }
    launches.submit()
}
