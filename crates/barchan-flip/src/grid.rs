//! The grid: cubic cells in bricks of 8³, alive where matter or its halo is.
//!
//! A field is a column of rows of eight cells along x; brick `b` owns rows `64 b … 64 b + 63`, in the order z, y. A face, an edge and a
//! corner belong to the cell on whose lower side they lie. Slot 0 is *nowhere*: a brick of zeros that stands for every brick that is not
//! alive, so that no stencil needs a test. Bricks are in Morton order of their coordinates.
//!
//! In a periodic direction the period is a whole number of bricks, and coordinates wrap.

use std::collections::HashMap;

/// Cells along a side of a brick.
pub const SIDE: i32 = 8;
/// Rows of a brick.
pub const ROWS: usize = 64;
/// Eight cells along x.
pub type Row = [f64; 8];

/// Where the rows of a brick and of its neighbours lie: for y, z in −1 … 8, the row of the brick itself, of the brick below in x, and of
/// the one above in x.
#[derive(Clone, Debug)]
pub struct Around {
    /// Rows through the brick.
    pub mid: [u32; 100],
    /// Rows of the bricks at lower x.
    pub low: [u32; 100],
    /// Rows of the bricks at higher x.
    pub high: [u32; 100],
}

/// Which bricks are alive.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Coordinates of each brick, in cells / 8; the first is nowhere.
    pub bricks: Vec<[i32; 3]>,
    /// The 27 bricks about each, x fastest; 0 where there is none.
    pub beside: Vec<[u32; 27]>,
    /// Rows about each brick.
    pub around: Vec<Around>,
    slots: HashMap<[i32; 3], u32>,
    /// Bricks of a period in each direction; 0 where it is not periodic.
    pub period: [i32; 3],
}

/// Place of a row in the tables of [`Around`].
#[inline]
pub fn at(y: i32, z: i32) -> usize {
    ((z + 1) * 10 + y + 1) as usize
}

/// Morton code of a brick's coordinates.
fn morton(c: [i32; 3]) -> u64 {
    let spread = |v: i32| {
        let mut x = (v as i64 + (1 << 20)) as u64 & 0x1f_ffff;
        x = (x | x << 32) & 0x001f_0000_0000_ffff;
        x = (x | x << 16) & 0x001f_0000_ff00_00ff;
        x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
        x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
        (x | x << 2) & 0x1249_2492_4924_9249
    };
    spread(c[0]) | spread(c[1]) << 1 | spread(c[2]) << 2
}

impl Grid {
    /// A grid without bricks, periodic by so many bricks in each direction.
    pub fn new(period: [i32; 3]) -> Grid {
        let mut grid = Grid { period, ..Grid::default() };
        grid.build(Vec::new());
        grid
    }

    /// Brings a brick's coordinates into the period.
    #[inline]
    pub fn wrap(&self, mut brick: [i32; 3]) -> [i32; 3] {
        for k in 0..3 {
            if self.period[k] > 0 {
                brick[k] = brick[k].rem_euclid(self.period[k]);
            }
        }
        brick
    }

    /// The slot of a brick, 0 where it is not alive.
    pub fn slot(&self, brick: [i32; 3]) -> u32 {
        self.slots.get(&self.wrap(brick)).copied().unwrap_or(0)
    }

    /// Slots, nowhere included.
    pub fn len(&self) -> usize {
        self.bricks.len()
    }

    /// Rows of a field.
    pub fn rows(&self) -> usize {
        self.len() * ROWS
    }

    /// Makes these bricks alive (wrapped, in any order, perhaps repeated). Returns for every slot the slot it had before, 0 for a new
    /// one; or none if nothing has changed.
    pub fn set(&mut self, mut alive: Vec<[i32; 3]>) -> Option<Vec<u32>> {
        alive.sort_unstable_by_key(|&c| morton(c));
        alive.dedup();
        if alive == self.bricks[1..] {
            return None;
        }
        let before: Vec<u32> = std::iter::once(0).chain(alive.iter().map(|&c| self.slot(c))).collect();
        self.build(alive);
        Some(before)
    }

    fn build(&mut self, alive: Vec<[i32; 3]>) {
        self.bricks = std::iter::once([i32::MIN; 3]).chain(alive).collect();
        self.slots = self.bricks.iter().enumerate().skip(1).map(|(s, &c)| (c, s as u32)).collect();
        let beside = |s: usize| {
            std::array::from_fn(|k| {
                let [x, y, z] = self.bricks[s];
                let k = k as i32;
                if s == 0 { 0 } else { self.slot([x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]) }
            })
        };
        self.beside = (0..self.len()).map(beside).collect();
        let around = |beside: &[u32; 27]| {
            let table = |dx: usize| {
                std::array::from_fn(|k| {
                    let (y, z) = (k as i32 % 10 - 1, k as i32 / 10 - 1);
                    let brick = beside[dx + 3 * ((y + 8) / 8) as usize + 9 * ((z + 8) / 8) as usize];
                    brick * ROWS as u32 + ((z & 7) * 8 + (y & 7)) as u32
                })
            };
            Around { mid: table(1), low: table(0), high: table(2) }
        };
        self.around = self.beside.iter().map(around).collect();
    }
}

impl Around {
    /// The row (y, z) of a field.
    #[inline(always)]
    pub fn here<T: Copy>(&self, field: &[[T; 8]], y: i32, z: i32) -> [T; 8] {
        field[self.mid[at(y, z)] as usize]
    }

    /// The same, of the cells at x − 1.
    #[inline(always)]
    pub fn below<T: Copy>(&self, field: &[[T; 8]], y: i32, z: i32) -> [T; 8] {
        let k = at(y, z);
        let r = &field[self.mid[k] as usize];
        [field[self.low[k] as usize][7], r[0], r[1], r[2], r[3], r[4], r[5], r[6]]
    }

    /// The same, of the cells at x + 1.
    #[inline(always)]
    pub fn above<T: Copy>(&self, field: &[[T; 8]], y: i32, z: i32) -> [T; 8] {
        let k = at(y, z);
        let r = &field[self.mid[k] as usize];
        [r[1], r[2], r[3], r[4], r[5], r[6], r[7], field[self.high[k] as usize][0]]
    }

    /// The row (y, z) with the cells before and after it.
    #[inline(always)]
    pub fn padded<T: Copy>(&self, field: &[[T; 8]], y: i32, z: i32) -> [T; 10] {
        let k = at(y, z);
        let r = &field[self.mid[k] as usize];
        let (low, high) = (field[self.low[k] as usize][7], field[self.high[k] as usize][0]);
        [low, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], high]
    }

    /// The cells of row (y, z) moved by `dx` in −1 … 1.
    #[inline(always)]
    pub fn shifted<T: Copy>(&self, field: &[[T; 8]], dx: i32, y: i32, z: i32) -> [T; 8] {
        match dx {
            0 => self.here(field, y, z),
            -1 => self.below(field, y, z),
            _ => self.above(field, y, z),
        }
    }

    /// The value at a cell with x, y, z in −1 … 8.
    #[inline(always)]
    pub fn value<T: Copy>(&self, field: &[[T; 8]], x: i32, y: i32, z: i32) -> T {
        let (row, x) = self.row(x, y, z);
        field[row][x]
    }

    /// The row of such a cell and its place there.
    #[inline(always)]
    pub fn row(&self, x: i32, y: i32, z: i32) -> (usize, usize) {
        let k = at(y, z);
        let row = match x {
            0..8 => self.mid[k],
            -1 => self.low[k],
            _ => self.high[k],
        };
        (row as usize, (x & 7) as usize)
    }
}

/// Fields cut into the rows of each brick, slot by slot.
pub fn by_brick<T, const N: usize>(fields: [&mut Vec<[T; 8]>; N]) -> Vec<[&mut [[T; 8]]; N]> {
    let bricks = fields.iter().map(|f| f.len() / ROWS).min().unwrap_or(0);
    let mut parts = fields.map(|f| f.chunks_mut(ROWS));
    (0..bricks).map(|_| parts.each_mut().map(|part| part.next().unwrap_or_default())).collect()
}

/// Rows of a field taken from the slots they had before; zeros where they had none, or the field none of theirs.
pub fn carry<T: Copy + Default>(field: &mut Vec<[T; 8]>, before: &[u32]) {
    let old = std::mem::take(field);
    field.reserve_exact(before.len() * ROWS);
    for &slot in before {
        match old.get(slot as usize * ROWS..(slot as usize + 1) * ROWS).filter(|_| slot != 0) {
            Some(rows) => field.extend_from_slice(rows),
            None => field.resize(field.len() + ROWS, [T::default(); 8]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stencil_finds_the_cells_of_neighbouring_bricks() {
        let mut grid = Grid::new([0, 0, 3]);
        let block = |r: std::ops::Range<i32>| r.flat_map(|x| (-1..2).flat_map(move |y| (0..3).map(move |z| [x, y, z])));
        grid.set(block(-1..2).collect());
        let mut field = vec![[0i64; 8]; grid.rows()];
        let code = |x: i64, y: i64, z: i64| (x + 100) + 1000 * (y + 100) + 1_000_000 * z.rem_euclid(24);
        for s in 1..grid.len() {
            let c = grid.bricks[s].map(|c| 8 * c as i64);
            for r in 0..64 {
                field[s * 64 + r] =
                    std::array::from_fn(|x| code(c[0] + x as i64, c[1] + r as i64 % 8, c[2] + r as i64 / 8));
            }
        }
        let s = grid.slot([0, 0, 0]) as usize;
        for (x, y, z) in [(-1, -1, -1), (8, 8, 8), (3, -1, 4), (7, 7, 8), (0, 3, -1), (8, 0, 0)] {
            assert_eq!(grid.around[s].value(&field, x, y, z), code(x as i64, y as i64, z as i64), "{x} {y} {z}");
        }
        let row = |dx: i64| std::array::from_fn(|x| code(x as i64 + dx, 8, -1));
        assert_eq!(grid.around[s].here(&field, 8, -1), row(0));
        assert_eq!(grid.around[s].below(&field, 8, -1), row(-1));
        assert_eq!(grid.around[s].above(&field, 8, -1), row(1));
    }

    #[test]
    fn fields_follow_their_bricks_when_others_come_and_go() {
        let mut grid = Grid::new([0; 3]);
        grid.set(vec![[0, 0, 0], [5, 0, 0], [-3, 2, 1]]);
        let mut field = vec![[0u32; 8]; grid.rows()];
        for s in 1..grid.len() {
            field[s * 64] = [grid.bricks[s][0] as u32; 8];
        }
        let before = grid.set(vec![[5, 0, 0], [1, 1, 1], [-3, 2, 1]]).unwrap();
        carry(&mut field, &before);
        assert_eq!(field[grid.slot([5, 0, 0]) as usize * 64], [5; 8]);
        assert_eq!(field[grid.slot([-3, 2, 1]) as usize * 64], [-3i32 as u32; 8]);
        assert_eq!(field[grid.slot([1, 1, 1]) as usize * 64], [0; 8]);
        assert_eq!(grid.slot([0, 0, 0]), 0);
        assert!(grid.set(vec![[1, 1, 1], [5, 0, 0], [-3, 2, 1]]).is_none());
    }
}
