//! Where the columns stand, and the unit of their heights.

use crate::GroundError;
use glam::{DVec2, DVec3};

/// The unit of heights [m]: 2⁻⁴⁰ m = 0.91 pm, far below what anything resolves.
pub const QUANTUM: f64 = 1.0 / (1_u64 << 40) as f64;

/// The highest column [quanta], 2048 m: as an f64 every height is exact, and so is a sum of four.
pub const HIGHEST: i64 = 1 << 51;

/// Most columns, 8192 × 8192: half a gigabyte of heights.
const MOST: usize = 1 << 26;

/// A height of so many quanta [m].
pub fn metres(quanta: i64) -> f64 {
    quanta as f64 * QUANTUM
}

/// A rectangle of square columns. Columns are numbered along x first: column = x + y · size\[0\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Lower corner of the first column [m]; z is the floor that heights are counted from, and nothing goes below it.
    pub origin: DVec3,
    /// Width of a column [m].
    pub cell: f64,
    /// Columns along x and y.
    pub size: [usize; 2],
}

/// A rectangle of columns, from `low` up to and without `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// First column along x and y.
    pub low: [usize; 2],
    /// One past the last column along x and y.
    pub high: [usize; 2],
}

impl Grid {
    /// Number of columns.
    pub fn len(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// Whether there are no columns at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a column's middle stands, seen from above [m].
    pub fn centre(&self, column: usize) -> DVec2 {
        let at = DVec2::new((column % self.size[0]) as f64, (column / self.size[0]) as f64);
        self.origin.truncate() + (at + 0.5) * self.cell
    }

    /// The column over which (x, y) [m] lies, if any.
    pub fn column_at(&self, x: f64, y: f64) -> Option<usize> {
        let at = ((DVec2::new(x, y) - self.origin.truncate()) / self.cell).floor();
        let inside = at.x >= 0.0 && at.y >= 0.0 && at.x < self.size[0] as f64 && at.y < self.size[1] as f64;
        inside.then(|| at.x as usize + at.y as usize * self.size[0])
    }

    /// All columns that a rectangle [m] reaches into.
    pub fn area(&self, low: DVec2, high: DVec2) -> Area {
        let place = |p: DVec2| (p - self.origin.truncate()) / self.cell;
        let (low, high) = (place(low).floor(), place(high).ceil());
        // `as` saturates, and makes 0 of what is not a number.
        let [nx, ny] = self.size;
        Area {
            low: [(low.x as usize).min(nx), (low.y as usize).min(ny)],
            high: [(high.x as usize).min(nx), (high.y as usize).min(ny)],
        }
    }

    /// A finite volume [m³] as whole quanta of one column's height, rounded down, and the volume [m³] that is left over.
    pub fn quanta(&self, volume: f64) -> (i64, f64) {
        let unit = self.cell * self.cell * QUANTUM;
        let whole = (volume / unit).floor();
        (whole as i64, volume - whole * unit)
    }

    /// The volume [m³] of so many quanta of columns' height.
    pub fn volume(&self, quanta: i128) -> f64 {
        quanta as f64 * (self.cell * self.cell * QUANTUM)
    }

    pub(crate) fn check(&self) -> Result<(), GroundError> {
        let [nx, ny] = self.size;
        if nx == 0 || ny == 0 || nx.checked_mul(ny).is_none_or(|n| n > MOST) {
            return Err(GroundError::Size(nx, ny));
        }
        if !(1e-4..=1e3).contains(&self.cell) {
            return Err(GroundError::Cell(self.cell));
        }
        if self.origin.is_finite() { Ok(()) } else { Err(GroundError::Origin) }
    }
}

impl Area {
    /// The part of it that is on a grid.
    pub(crate) fn on(&self, grid: &Grid) -> Area {
        let high = [0, 1].map(|k| self.high[k].min(grid.size[k]));
        Area { low: [0, 1].map(|k| self.low[k].min(high[k])), high }
    }

    pub(crate) fn size(&self) -> [usize; 2] {
        [0, 1].map(|k| self.high[k].saturating_sub(self.low[k]))
    }
}
