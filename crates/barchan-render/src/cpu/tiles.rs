//! Tiles: squares of samples that fit the first-level cache, each with a list of what touches it, nearest first.
//!
//! A thread draws a whole tile, so the picture is the same on any number of threads. Things are drawn front to back, and
//! a tile is done as soon as the next thing begins behind everything drawn: what lies deep inside a heap costs nothing.

/// Samples along a side of a tile's storage.
pub const TILE: usize = 32;
/// Samples of a tile's storage.
pub const CELLS: usize = TILE * TILE;
/// Nothing is seen.
pub const NOTHING: u32 = u32::MAX;
/// The floor is seen.
pub const FLOOR: u32 = u32::MAX - 1;
/// After so many shapes the farthest depth of a tile is measured again.
const MEASURE: usize = 4;

/// Samples of a picture that a shape may touch: columns x0 to x1, rows y0 to y1, ends excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x0: u16,
    /// First row.
    pub y0: u16,
    /// After the last column.
    pub x1: u16,
    /// After the last row.
    pub y1: u16,
}

impl Rect {
    /// The samples between two corners [samples], one to spare on each side, inside a picture of `size` samples.
    pub fn around(low: [f32; 2], high: [f32; 2], size: [u32; 2]) -> Self {
        let least = |x: f32, most: u32| (x - 1.0).clamp(0.0, most as f32) as u16;
        let end = |x: f32, most: u32| (x + 2.0).clamp(0.0, most as f32) as u16;
        Rect {
            x0: least(low[0], size[0]),
            y0: least(low[1], size[1]),
            x1: end(high[0], size[0]),
            y1: end(high[1], size[1]),
        }
    }

    /// Whether it holds no sample.
    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// Its part in the tile whose first sample is (x, y) and which has `span` samples a side, counted from there.
    pub fn within(&self, x: u32, y: u32, span: u32) -> [usize; 4] {
        let cut = |v: u16, from: u32| u32::from(v).saturating_sub(from).min(span) as usize;
        [cut(self.x0, x), cut(self.y0, y), cut(self.x1, x), cut(self.y1, y)]
    }
}

/// How a picture is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Samples of the picture.
    pub size: [u32; 2],
    /// Samples along a side of a tile, at most [`TILE`].
    pub span: u32,
    /// Tiles in a row.
    pub columns: u32,
    /// Rows of tiles.
    pub rows: u32,
}

impl Grid {
    /// Tiles over a picture of `size` pixels with `side` × `side` samples each; no pixel is cut.
    pub fn new(size: [u32; 2], side: u32) -> Self {
        let span = TILE as u32 / side * side;
        let size = size.map(|n| n * side);
        Grid { size, span, columns: size[0].div_ceil(span), rows: size[1].div_ceil(span) }
    }

    /// Number of tiles.
    pub fn len(&self) -> usize {
        (self.columns * self.rows) as usize
    }

    /// First sample of a tile.
    pub fn first(&self, tile: usize) -> [u32; 2] {
        [tile as u32 % self.columns * self.span, tile as u32 / self.columns * self.span]
    }

    /// Where a sample is stored.
    pub fn cell(&self, x: u32, y: u32) -> usize {
        let tile = (y / self.span * self.columns + x / self.span) as usize;
        tile * CELLS + (y % self.span) as usize * TILE + (x % self.span) as usize
    }
}

/// For each tile, what touches it: key (depth at which it begins) and number, packed so that integers sort by both.
#[derive(Debug, Default)]
pub struct Bins {
    starts: Vec<u32>,
    entries: Vec<u64>,
}

impl Bins {
    /// Sorts shapes, given by rectangle and key (not negative), into tiles.
    pub fn fill(&mut self, grid: &Grid, shapes: impl Iterator<Item = (Rect, f32)> + Clone) {
        let tiles = |r: Rect| {
            let [x0, y0, x1, y1] = [r.x0, r.y0, r.x1 - 1, r.y1 - 1].map(|v| u32::from(v) / grid.span);
            (y0..=y1).flat_map(move |y| (x0..=x1).map(move |x| (y * grid.columns + x) as usize))
        };
        self.starts.clear();
        self.starts.resize(grid.len() + 1, 0);
        for (rect, _) in shapes.clone().filter(|(r, _)| !r.is_empty()) {
            tiles(rect).for_each(|t| self.starts[t + 1] += 1);
        }
        for t in 0..grid.len() {
            self.starts[t + 1] += self.starts[t];
        }
        self.entries.clear();
        self.entries.resize(self.starts[grid.len()] as usize, 0);
        let mut next = self.starts.clone();
        for (i, (rect, key)) in shapes.enumerate().filter(|(_, (r, _))| !r.is_empty()) {
            for t in tiles(rect) {
                self.entries[next[t] as usize] = u64::from(key.max(0.0).to_bits()) << 32 | i as u64;
                next[t] += 1;
            }
        }
    }

    /// Whether nothing touches a tile.
    pub fn is_empty(&self, tile: usize) -> bool {
        self.starts[tile] == self.starts[tile + 1]
    }

    /// What touches a tile, in order of key and number, as (key, number).
    pub fn sorted<'a>(
        &self,
        tile: usize,
        room: &'a mut Vec<u64>,
    ) -> impl DoubleEndedIterator<Item = (f32, usize)> + 'a {
        room.clear();
        room.extend_from_slice(&self.entries[self.starts[tile] as usize..self.starts[tile + 1] as usize]);
        room.sort_unstable();
        room.iter().map(|&e| (f32::from_bits((e >> 32) as u32), e as u32 as usize))
    }
}

/// One tile while it is drawn.
pub struct Tile<'a> {
    /// First sample.
    pub first: [u32; 2],
    /// Samples along a side.
    pub span: u32,
    /// Depth of each sample; −∞ where there is no picture.
    pub depth: &'a mut [f32],
    /// Number of the shape seen by each sample.
    pub seen: &'a mut [u32],
}

impl<'a> Tile<'a> {
    /// Tile number `t`, empty.
    pub fn new(grid: &Grid, t: usize, depth: &'a mut [f32], seen: &'a mut [u32]) -> Self {
        let first = grid.first(t);
        let [columns, rows] = [0, 1].map(|k| (grid.size[k] - first[k]).min(grid.span) as usize);
        depth.fill(f32::NEG_INFINITY);
        seen.fill(NOTHING);
        for row in depth.chunks_exact_mut(TILE).take(rows) {
            row[..columns].fill(f32::INFINITY);
        }
        Tile { first, span: grid.span, depth, seen }
    }

    /// Draws what touches the tile, nearest first, until nothing can be seen any more.
    pub fn draw(&mut self, nearest_first: impl Iterator<Item = (f32, usize)>, shape: impl Fn(usize, &mut Self)) {
        let mut farthest = f32::INFINITY;
        for (drawn, (key, i)) in nearest_first.enumerate() {
            if drawn % MEASURE == 0 {
                farthest = self.farthest();
            }
            if key > farthest {
                break;
            }
            shape(i, self);
        }
    }

    /// Farthest depth of the tile's samples.
    fn farthest(&self) -> f32 {
        let mut most = [f32::NEG_INFINITY; 8];
        for eight in self.depth.chunks_exact(8) {
            for k in 0..8 {
                most[k] = if eight[k] > most[k] { eight[k] } else { most[k] };
            }
        }
        most.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}
