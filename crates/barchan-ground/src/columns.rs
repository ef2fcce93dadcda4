//! The state of the ground: heights, marks, and which parts may move.

use crate::GroundError;
use crate::erode::TileMove;
use crate::grid::{Area, Grid, HIGHEST, QUANTUM, metres};
use crate::soil::{Limits, Soil};
use glam::DVec3;

/// A column took part in sliding in the last sweep.
pub(crate) const LOOSE: u8 = 1;
/// A body has pressed the column, and nothing was laid on it or taken from it since.
pub(crate) const PRESSED: u8 = 2;
/// A body stands on the column: no sand slides to or from it.
pub(crate) const HELD: u8 = 4;
/// Something lies on the column and holds it.
pub(crate) const COVERED: u8 = 8;

/// The ground: columns of sand on a flat floor.
///
/// Sand does not leave over the edges of the grid, which act as upright smooth walls. Columns are named by their number
/// ([`Grid::column_at`]); a number beyond the grid panics, as an index does.
#[derive(Clone, Debug)]
pub struct Columns {
    pub(crate) grid: Grid,
    pub(crate) soil: Soil,
    pub(crate) limits: Limits,
    pub(crate) height: Vec<i64>,
    pub(crate) mark: Vec<u8>,
    /// Tiles in which something may move, each once.
    pub(crate) awake: Vec<u32>,
    pub(crate) is_awake: Vec<bool>,
    pub(crate) pushes: u64,
    pub(crate) moves: Vec<TileMove>,
}

/// All that changes of a ground, as plain columns of numbers for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Height of each column [quanta].
    pub height: Vec<i64>,
    /// Marks of each column: sliding, pressed, under a body, covered.
    pub mark: Vec<u8>,
    /// Tiles of columns that may move.
    pub awake: Vec<u32>,
    /// Pushes so far: they seed the roughness.
    pub pushes: u64,
}

impl Columns {
    /// A ground with these heights above its floor [m], one for each column.
    ///
    /// # Errors
    /// [`GroundError`] if grid, soil or a height cannot be.
    pub fn new(grid: Grid, soil: Soil, heights: &[f64]) -> Result<Columns, GroundError> {
        grid.check()?;
        if heights.len() != grid.len() {
            return Err(GroundError::Saved("height", heights.len(), grid.len()));
        }
        let quanta = |(column, &height): (usize, &f64)| {
            let whole = (height / QUANTUM).round();
            let fits = whole >= 0.0 && whole <= HIGHEST as f64;
            if fits { Ok(whole as i64) } else { Err(GroundError::Height { column, height }) }
        };
        let height = heights.iter().enumerate().map(quanta).collect::<Result<Vec<i64>, _>>()?;
        let tiles = TileMove::count(&grid);
        let awake = (0..tiles as u32).collect();
        Columns::load(grid, soil, Saved { mark: vec![0; height.len()], height, awake, pushes: 0 })
    }

    /// A level ground, so high above its floor [m].
    ///
    /// # Errors
    /// [`GroundError`] if grid, soil or height cannot be.
    pub fn flat(grid: Grid, soil: Soil, height: f64) -> Result<Columns, GroundError> {
        grid.check()?;
        let mut columns = Columns::new(grid, soil, &vec![height; grid.len()])?;
        columns.awake.clear();
        columns.is_awake.fill(false);
        Ok(columns)
    }

    /// Everything that changes, for a checkpoint.
    pub fn save(&self) -> Saved {
        let mut awake = self.awake.clone();
        awake.sort_unstable();
        Saved { height: self.height.clone(), mark: self.mark.clone(), awake, pushes: self.pushes }
    }

    /// A ground as it was saved: it goes on bit for bit.
    ///
    /// # Errors
    /// [`GroundError`] if grid or soil cannot be, or if what was saved does not fit them.
    pub fn load(grid: Grid, soil: Soil, saved: Saved) -> Result<Columns, GroundError> {
        grid.check()?;
        soil.check()?;
        let Saved { height, mut mark, awake, pushes } = saved;
        let tiles = TileMove::count(&grid);
        for (name, found) in [("height", height.len()), ("mark", mark.len())] {
            if found != grid.len() {
                return Err(GroundError::Saved(name, found, grid.len()));
            }
        }
        if let Some(column) = height.iter().position(|h| !(0..=HIGHEST).contains(h)) {
            return Err(GroundError::Height { column, height: metres(height[column]) });
        }
        mark.iter_mut().for_each(|m| *m &= LOOSE | PRESSED | HELD | COVERED);
        let mut is_awake = vec![false; tiles];
        for &tile in &awake {
            match is_awake.get_mut(tile as usize) {
                Some(flag) if !*flag => *flag = true,
                _ => return Err(GroundError::Saved("awake", awake.len(), tiles)),
            }
        }
        let limits = soil.limits(grid.cell);
        Ok(Columns { grid, soil, limits, height, mark, awake, is_awake, pushes, moves: Vec::new() })
    }

    /// Where the columns stand.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// What the ground is made of.
    pub fn soil(&self) -> &Soil {
        &self.soil
    }

    /// Height of each column above the floor [quanta].
    pub fn heights(&self) -> &[i64] {
        &self.height
    }

    /// Whether a body has pressed the column and nothing was laid on it or taken from it since: slopes at it hold up to
    /// `inside`.
    pub fn is_pressed(&self, column: usize) -> bool {
        self.mark[column] & PRESSED != 0
    }

    /// Says on which columns something lies that holds them, such as grains: nothing slides from there or to there. All others
    /// are free (again).
    pub fn cover(&mut self, columns: impl IntoIterator<Item = usize>) {
        let mut covered = vec![0; self.mark.len()];
        columns.into_iter().for_each(|c| covered[c] = COVERED);
        for c in 0..covered.len() {
            if self.mark[c] & COVERED != covered[c] {
                self.mark[c] ^= COVERED;
                self.wake(c);
            }
        }
    }

    /// Whether nothing can move any more.
    pub fn is_quiet(&self) -> bool {
        self.awake.is_empty()
    }

    /// All heights together [quanta]: what is conserved, exactly.
    pub fn total(&self) -> i128 {
        self.height.iter().map(|&h| i128::from(h)).sum()
    }

    /// Where the highest column of an area ends [m]: z; none is below everything.
    pub(crate) fn highest_in(&self, area: Area) -> f64 {
        let Area { low, high } = area.on(&self.grid);
        let rows = (low[1]..high[1]).map(|y| &self.height[y * self.grid.size[0]..][low[0]..high[0]]);
        let highest = rows.flatten().max();
        highest.map_or(f64::NEG_INFINITY, |&h| self.grid.origin.z + metres(h))
    }

    /// Bulk volume of the ground [m³].
    pub fn volume(&self) -> f64 {
        self.grid.volume(self.total())
    }

    /// Lays sand on a column, and gives back how much of it [quanta] was taken: all of it below [`HIGHEST`].
    ///
    /// What lies there is loose: a footprint's wall no longer holds at this column.
    pub fn raise(&mut self, column: usize, quanta: i64) -> i64 {
        let taken = quanta.clamp(0, HIGHEST - self.height[column]);
        self.change(column, taken);
        taken
    }

    /// Takes sand from a column, and gives back how much [quanta] there was to take.
    pub fn lower(&mut self, column: usize, quanta: i64) -> i64 {
        let given = quanta.clamp(0, self.height[column]);
        self.change(column, -given);
        given
    }

    fn change(&mut self, column: usize, by: i64) {
        if by != 0 {
            self.height[column] += by;
            self.mark[column] &= !PRESSED;
            self.wake(column);
        }
    }

    /// The patch of four column centres round (x, y): their heights above the first [m], the first, and the place in it.
    fn patch(&self, x: f64, y: f64) -> Option<([f64; 4], f64, f64)> {
        self.grid.column_at(x, y)?;
        let [nx, ny] = self.grid.size;
        // Half a cell at the rim has no centre beyond it: there the surface goes on level.
        let place = |at: f64, origin: f64, n: usize| {
            let at = ((at - origin) / self.grid.cell - 0.5).clamp(0.0, (n - 1) as f64);
            let low = (at as usize).min(n.saturating_sub(2));
            (low, (low + 1).min(n - 1), at - low as f64)
        };
        let (x0, x1, u) = place(x, self.grid.origin.x, nx);
        let (y0, y1, v) = place(y, self.grid.origin.y, ny);
        let at = |x: usize, y: usize| metres(self.height[x + y * nx]);
        Some(([at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1)], u, v))
    }

    /// Where the ground's surface is over (x, y) [m]: z, bilinear between the columns' centres; none beside the ground.
    pub fn height_at(&self, x: f64, y: f64) -> Option<f64> {
        let ([a, b, c, d], u, v) = self.patch(x, y)?;
        Some(self.grid.origin.z + (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v)
    }

    /// The surface's unit normal over (x, y) [m], upwards: that of the bilinear patch; none beside the ground.
    pub fn normal_at(&self, x: f64, y: f64) -> Option<DVec3> {
        let ([a, b, c, d], u, v) = self.patch(x, y)?;
        let along_x = (b - a) * (1.0 - v) + (d - c) * v;
        let along_y = (c - a) * (1.0 - u) + (d - b) * u;
        Some(DVec3::new(-along_x, -along_y, self.grid.cell).normalize())
    }
}
