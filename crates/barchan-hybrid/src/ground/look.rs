//! Where the grains lie, seen from above.

use super::exchange::{Exchange, LOOKS, MOTES, Watched};
use barchan_core::frame::Population;
use barchan_core::relief::Relief;
use barchan_dem::Dem;
use barchan_ground::{Grid, metres};
use glam::{DVec2, DVec3};

/// Height without a grain, in diameters, that parts what lies on the ground from what is above it.
const GAP: f64 = 2.0;
/// How far away, in diameters, a face is that a grain may fall out of, and how much lower the surface is there: 50°, steeper than any heap.
const FACE: (usize, f64) = (2, 2.4);

/// Where the grains lie, seen from above in bins of a grain's diameter.
pub(super) struct Look {
    low: DVec2,
    pub width: f64,
    size: [usize; 2],
    /// z of the highest centre of those that lie in a bin, or else of the ground [m].
    pub top: Vec<f64>,
    /// Mean of `top` over a bin and those next to it [m].
    mean: Vec<f64>,
    /// Least `top` within the reach of a face [m].
    least: Vec<f64>,
}

impl Look {
    pub fn new(
        exchange: &Exchange,
        grid: &Grid,
        relief: &Relief,
        frame: &Population,
        seen: &[Watched],
        dem: &Dem,
    ) -> Look {
        let width = exchange.diameter;
        let (low, size) = about(frame, grid.origin.truncate(), relief.end(), width);
        let bins = size[0] * size[1];
        let mut look =
            Look { low, width, size, top: vec![f64::NEG_INFINITY; bins], mean: Vec::new(), least: Vec::new() };
        // What flies, or falls in a stream, is no surface. Faster than this a grain would leave its place by its own size.
        let fast = exchange.gravity * exchange.diameter;
        let mut resting = Vec::new();
        for i in 0..frame.len() {
            let x = frame.position[i];
            if grid.column_at(x.x, x.y).is_none() {
                continue;
            }
            let touches = || seen[i].looks >= LOOKS || dem.touches(i);
            if frame.velocity[i].length_squared() < fast && touches() {
                resting.push((look.bin(x), x.z));
            }
        }
        for bin in 0..look.top.len() {
            let at = low + (DVec2::new((bin % size[0]) as f64, (bin / size[0]) as f64) + 0.5) * width;
            let at = at.min(relief.end());
            // What has become ground and not risen yet is a void under those that lie on it: it must not part them from the ground.
            let owed = grid.column_at(at.x, at.y).map_or(0, |c| exchange.owed[c] >> MOTES);
            let over = relief.over(at.x, at.y).map_or(f64::NEG_INFINITY, |over| over.z);
            look.top[bin] = over + metres(owed.max(0));
        }
        // From below: what a gap parts from the rest lies in a vessel, or on a body. A gap in one bin alone is chance.
        resting.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        for (bin, z) in resting {
            if look.around(bin, 1).any(|near| z < look.top[near] + GAP * width) {
                look.top[bin] = look.top[bin].max(z);
            }
        }
        let mean = |bin: usize| {
            let (sum, count) = look.around(bin, 1).fold((0.0, 0.0), |(s, n), bin| (s + look.top[bin], n + 1.0));
            sum / count
        };
        let least = |bin: usize| look.around(bin, FACE.0).map(|bin| look.top[bin]).fold(f64::INFINITY, f64::min);
        let (mean, least) = ((0..bins).map(mean).collect(), (0..bins).map(least).collect());
        Look { mean, least, ..look }
    }

    pub fn bin(&self, x: DVec3) -> usize {
        let at = ((x.truncate() - self.low) / self.width).max(DVec2::ZERO);
        (at.x as usize).min(self.size[0] - 1) + (at.y as usize).min(self.size[1] - 1) * self.size[0]
    }

    /// Normal of the mean surface over a bin.
    pub fn normal(&self, bin: usize) -> DVec3 {
        let [nx, ny] = self.size;
        let (x, y) = (bin % nx, bin / nx);
        let slope = |low: usize, high: usize, bins: usize| {
            (self.mean[high] - self.mean[low]) / (bins.max(1) as f64 * self.width)
        };
        let (left, right) = (x.saturating_sub(1), (x + 1).min(nx - 1));
        let (front, back) = (y.saturating_sub(1), (y + 1).min(ny - 1));
        let along_x = slope(left + y * nx, right + y * nx, right - left);
        let along_y = slope(x + front * nx, x + back * nx, back - front);
        DVec3::new(-along_x, -along_y, 1.0).normalize()
    }

    /// Rows of the grains of each bin.
    pub fn rows(&self, frame: &Population) -> Rows {
        let mut starts = vec![0u32; self.top.len() + 1];
        let bins: Vec<u32> = frame.position.iter().map(|&x| self.bin(x) as u32).collect();
        bins.iter().for_each(|&b| starts[b as usize + 1] += 1);
        (1..starts.len()).for_each(|b| starts[b] += starts[b - 1]);
        let (mut next, mut rows) = (starts.clone(), vec![0; bins.len()]);
        for (row, &b) in bins.iter().enumerate() {
            rows[next[b as usize] as usize] = row as u32;
            next[b as usize] += 1;
        }
        Rows { starts, rows }
    }

    /// A bin and those within so many of it.
    pub fn around(&self, bin: usize, reach: usize) -> impl Iterator<Item = usize> + use<> {
        within(self.size, bin, reach)
    }

    /// Whether a centre is of what lies on the ground, not in a vessel above it.
    pub fn lies(&self, x: DVec3) -> bool {
        x.z <= self.top[self.bin(x)] + 0.5 * self.width
    }

    /// Depth of a centre below the mean surface round it [m]; none beside a face, whatever lies above: deep grains that had lost
    /// those beside them were held as a wall of five diameters.
    pub fn depth(&self, x: DVec3) -> f64 {
        let bin = self.bin(x);
        if x.z > self.least[bin] + FACE.1 * self.width { 0.0 } else { self.mean[bin] - x.z }
    }
}

/// The bins, of those that part the ground between two corners [m], in which grains are and those round them: the first's corner [m] and how many
/// along x and y. A ground may be much wider than what lies on it.
fn about(frame: &Population, low: DVec2, high: DVec2, width: f64) -> (DVec2, [usize; 2]) {
    let last = ((high - low) / width).ceil().max(DVec2::ONE) - 1.0;
    let bin = |at: DVec2| ((at - low) / width).floor().clamp(DVec2::ZERO, last);
    let none = (last, DVec2::ZERO);
    let (first, end) = frame.position.iter().fold(none, |(first, end), x| {
        let bin = bin(x.truncate());
        (first.min(bin), end.max(bin))
    });
    let beside = DVec2::splat(FACE.0 as f64);
    let (first, end) = ((first - beside).max(DVec2::ZERO), (end + beside).min(last));
    let size = (end - first + 1.0).max(DVec2::ONE);
    (low + first * width, [size.x as usize, size.y as usize])
}

/// Grains by bin.
pub(super) struct Rows {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Rows {
    pub fn of(&self, bin: usize) -> &[u32] {
        &self.rows[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

/// Columns within so many of one, itself included.
pub(super) fn around(grid: &Grid, column: usize, reach: usize) -> impl Iterator<Item = usize> + use<> {
    within(grid.size, column, reach)
}

/// Places within so many of one, itself included, on a grid of that size.
fn within([nx, ny]: [usize; 2], place: usize, reach: usize) -> impl Iterator<Item = usize> + use<> {
    let (x, y) = (place % nx, place / nx);
    let xs = x.saturating_sub(reach)..(x + reach + 1).min(nx);
    (y.saturating_sub(reach)..(y + reach + 1).min(ny)).flat_map(move |y| xs.clone().map(move |x| x + y * nx))
}
