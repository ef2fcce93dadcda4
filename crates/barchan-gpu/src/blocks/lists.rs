//! Lists of neighbours: of every ball, all others whose surfaces are within a skin of its own.
//!
//! Places are whole numbers of *quanta* in 64 bits ([`Quanta`]). A cell is 2²⁸ quanta wide, which holds the largest diameter and the skin, so
//! that differences of places in neighbouring cells are exact in the low 32 bits, in a domain of any size. Cells are reached by a key of their
//! coordinates' lowest bits, sorted; there is no grid to fill the domain with.

use super::scan::{Scan, ScanRoom};
use super::sort::{Sort, SortRoom};
use crate::device::{Gpu, GpuError};
use crate::kernel::{GROUP, Kernel, Launches};

/// The shader.
pub const SHADER: &str = include_str!("lists.wgsl");
/// Bits of a place within its cell.
pub const CELL_BITS: u32 = 28;
/// Width of a cell over the largest diameter: what is beyond 1 is room for the skin.
pub const CELL_WIDTH: f64 = 1.25;
/// Fewest and most bits of a key.
const KEY_BITS: [u32; 2] = [6, 24];

/// The unit of places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quanta {
    /// Its length [m].
    pub length: f64,
}

impl Quanta {
    /// The quantum for balls of at most this radius [m].
    pub fn for_radius(largest: f64) -> Quanta {
        Quanta { length: CELL_WIDTH * 2.0 * largest / f64::from(1u32 << CELL_BITS) }
    }

    /// A coordinate [m] as whole quanta and a fraction in units of 2⁻³².
    pub fn place(&self, x: f64) -> (i64, u32) {
        let quanta = x / self.length;
        let whole = quanta.floor();
        (whole as i64, ((quanta - whole) * 4_294_967_296.0) as u32)
    }

    /// A length [m] as the nearest number of quanta.
    pub fn of(&self, length: f64) -> u32 {
        (length / self.length).round() as u32
    }
}

/// Sorts by the cells that keys stand for, and finds where each cell's begin and end.
pub struct Cells {
    range: Kernel,
    sort: Sort,
}

/// Room for the cells of so many.
pub struct CellsRoom {
    n: usize,
    size: wgpu::Buffer,
    /// Bits of a key.
    pub bits: u32,
    /// Keys, written by the caller before [`Cells::run`].
    pub keys: wgpu::Buffer,
    /// Slots, written by the caller in any order that goes with the keys; then in the order of the keys.
    pub order: wgpu::Buffer,
    /// Of each key, where its slots begin and end.
    pub ranges: wgpu::Buffer,
    sort: SortRoom,
}

impl Cells {
    /// Compiles.
    pub fn new(gpu: &Gpu) -> Result<Cells, GpuError> {
        Ok(Cells { range: gpu.kernel("lists", SHADER, "range")?, sort: Sort::new(gpu)? })
    }

    /// The scan that the sort uses.
    pub fn scan(&self) -> &Scan {
        self.sort.scan()
    }

    /// Room for so many.
    pub fn room(&self, gpu: &Gpu, n: usize) -> Result<CellsRoom, GpuError> {
        let bits = n.max(1).ilog2().clamp(KEY_BITS[0], KEY_BITS[1]);
        Ok(CellsRoom {
            n,
            size: gpu.constants("cells: size", &[n as u32, 1, bits, 0])?,
            bits,
            keys: gpu.buffer::<u32>("cells: keys", n)?,
            order: gpu.buffer::<u32>("cells: order", n)?,
            ranges: gpu.buffer::<[u32; 2]>("cells: ranges", 1 << bits)?,
            sort: self.sort.room(gpu, n, bits)?,
        })
    }

    /// Sorts, and finds the ranges, which are cleared before.
    pub fn run(&self, launches: &mut Launches<'_>, room: &CellsRoom) {
        launches.clear(&room.ranges);
        self.sort.run(launches, &room.keys, &room.order, &room.sort);
        let groups = room.n.div_ceil(GROUP as usize) as u32;
        launches.run(&self.range, &[(0, &room.size), (2, &room.keys), (4, &room.ranges)], groups);
    }
}

impl CellsRoom {
    /// Bytes held on the device.
    pub fn bytes(&self) -> u64 {
        self.keys.size() + self.order.size() + self.ranges.size() + self.sort.bytes()
    }
}

/// The kernels, compiled.
pub struct Lists {
    key: Kernel,
    range: Kernel,
    count: Kernel,
    fill: Kernel,
    sort: Sort,
}

/// Room for the lists of so many balls, and the lists.
pub struct ListsRoom {
    n: usize,
    size: wgpu::Buffer,
    keys: wgpu::Buffer,
    order: wgpu::Buffer,
    ranges: wgpu::Buffer,
    sort: SortRoom,
    scan: ScanRoom,
    /// Where the list of each ball begins, and the end of the last.
    pub starts: wgpu::Buffer,
    /// The lists, one after the other.
    pub partners: wgpu::Buffer,
    /// Entries there is room for, and those there are.
    room: usize,
    /// Entries of all lists.
    pub len: usize,
}

impl Lists {
    /// Compiles.
    pub fn new(gpu: &Gpu) -> Result<Lists, GpuError> {
        let kernel = |entry| gpu.kernel("lists", SHADER, entry);
        Ok(Lists {
            key: kernel("key")?,
            range: kernel("range")?,
            count: kernel("count")?,
            fill: kernel("fill")?,
            sort: Sort::new(gpu)?,
        })
    }

    /// Room for lists of `n` balls, each of which has `stride` rows of four words, with a skin [quanta].
    pub fn room(&self, gpu: &Gpu, n: usize, stride: u32, skin: u32) -> Result<ListsRoom, GpuError> {
        let bits = n.max(1).ilog2().clamp(KEY_BITS[0], KEY_BITS[1]);
        Ok(ListsRoom {
            n,
            size: gpu.constants("lists: size", &[n as u32, stride, bits, skin])?,
            keys: gpu.buffer::<u32>("lists: keys", n)?,
            order: gpu.buffer::<u32>("lists: order", n)?,
            ranges: gpu.buffer::<[u32; 2]>("lists: cells", 1 << bits)?,
            sort: self.sort.room(gpu, n, bits)?,
            scan: self.sort.scan().room(gpu, n + 1)?,
            starts: gpu.buffer::<u32>("lists: starts", n + 1)?,
            partners: gpu.buffer::<u32>("lists: partners", 1)?,
            room: 1,
            len: 0,
        })
    }

    /// Builds the lists anew. Waits for the device once, to learn how long they are.
    pub fn build(&self, gpu: &Gpu, balls: &wgpu::Buffer, room: &mut ListsRoom) -> Result<(), GpuError> {
        let groups = room.n.div_ceil(GROUP as usize) as u32;
        let mut launches = gpu.launches();
        launches.clear(&room.ranges);
        let keys = [(0, &room.size), (1, balls), (2, &room.keys), (3, &room.order)];
        launches.run(&self.key, &keys, groups);
        self.sort.run(&mut launches, &room.keys, &room.order, &room.sort);
        launches.run(&self.range, &[(0, &room.size), (2, &room.keys), (4, &room.ranges)], groups);
        launches.run(&self.count, &room.visit(balls), (room.n + 1).div_ceil(GROUP as usize) as u32);
        self.sort.scan().run(&mut launches, &room.starts, &room.scan);
        launches.submit()?;
        room.len = gpu.read_from::<u32>(&room.starts, room.n, 1)?.first().map_or(0, |&len| len as usize);
        if room.len > room.room {
            // Half as much again: lists of a flow change their length at every build.
            room.room = room.len + room.len / 2;
            room.partners = gpu.buffer::<u32>("lists: partners", room.room)?;
        }
        let mut launches = gpu.launches();
        launches.run(&self.fill, &room.visit(balls), groups);
        launches.submit()
    }
}

impl ListsRoom {
    /// Says how many entries there are, of lists that were not built here but put there.
    pub fn set_len(&mut self, len: usize) {
        (self.room, self.len) = (len.max(1), len);
    }

    /// Bytes held on the device.
    pub fn bytes(&self) -> u64 {
        [&self.keys, &self.order, &self.ranges, &self.starts, &self.partners].iter().map(|b| b.size()).sum()
    }

    fn visit<'a>(&'a self, balls: &'a wgpu::Buffer) -> [(u32, &'a wgpu::Buffer); 6] {
        [(0, &self.size), (1, balls), (3, &self.order), (4, &self.ranges), (5, &self.starts), (6, &self.partners)]
    }
}
