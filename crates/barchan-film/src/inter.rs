//! Inter prediction: the last picture with its samples in between (ITU-T H.264, 8.4.2.2), and the search for motion.
//!
//! The standard's half samples are computed once a picture for every place; a quarter sample is then a mean of two.
//! Memory: four luma planes a reference picture.

use rayon::prelude::*;

use crate::bits::se_length;
use crate::colour::Picture;

/// Motion of a block [quarter of a luma sample].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Vector {
    /// To the right.
    pub x: i16,
    /// Down.
    pub y: i16,
}

impl Vector {
    /// Component by component.
    pub fn offset(self, x: i16, y: i16) -> Self {
        Self { x: self.x + x, y: self.y + y }
    }

    /// Length of the code of `self` − `predicted` [bit].
    pub fn bits(self, predicted: Vector) -> u32 {
        se_length(i32::from(self.x - predicted.x)) + se_length(i32::from(self.y - predicted.y))
    }
}

/// Samples kept around a reference picture on every side; they repeat its edge (8.4.2.2.1).
const MARGIN: usize = 32;
/// How far a macroblock may reach beyond the picture [sample]: what the margin holds less the neighbours of its samples.
const BEYOND: i16 = MARGIN as i16 - 4;
/// Longest motion [sample]; every level from 3 on allows it (Table A-1, MaxVmvR).
const LONGEST: i16 = 128;

/// The picture that others are predicted from.
pub struct Reference {
    stride: usize,
    /// Whole samples G, and half a sample right (b), down (h) and both (j), named as in Figure 8-4.
    luma: [Vec<u8>; 4],
    chroma: [Vec<u8>; 2],
    width: usize,
    height: usize,
}

/// Two samples whose mean is the sample at a fractional place (xFrac, yFrac): planes and offsets to the right and down
/// (Table 8-12; Figure 8-4).
const PAIRS: [[(usize, usize, usize); 2]; 16] = {
    const G: usize = 0;
    const B: usize = 1;
    const H: usize = 2;
    const J: usize = 3;
    [
        [(G, 0, 0), (G, 0, 0)],
        [(G, 0, 0), (B, 0, 0)],
        [(B, 0, 0), (B, 0, 0)],
        [(B, 0, 0), (G, 1, 0)],
        [(G, 0, 0), (H, 0, 0)],
        [(B, 0, 0), (H, 0, 0)],
        [(B, 0, 0), (J, 0, 0)],
        [(B, 0, 0), (H, 1, 0)],
        [(H, 0, 0), (H, 0, 0)],
        [(H, 0, 0), (J, 0, 0)],
        [(J, 0, 0), (J, 0, 0)],
        [(J, 0, 0), (H, 1, 0)],
        [(H, 0, 0), (G, 0, 1)],
        [(H, 0, 0), (B, 0, 1)],
        [(J, 0, 0), (B, 0, 1)],
        [(H, 1, 0), (B, 0, 1)],
    ]
};

impl Reference {
    /// Takes over a decoded picture.
    pub fn new(picture: &Picture) -> Self {
        let (width, height) = (picture.width, picture.height);
        let luma = padded(&picture.y, width, height, MARGIN);
        let stride = width + 2 * MARGIN;
        let [mut b, mut h, mut j] = std::array::from_fn(|_| vec![0; luma.len()]);
        let rows = b.par_chunks_mut(stride).zip(h.par_chunks_mut(stride).zip(j.par_chunks_mut(stride)));
        rows.enumerate().for_each_init(
            || vec![0i16; stride],
            |sums, (y, (b, (h, j)))| {
                // Rows beyond the margin equal its last one.
                let last = luma.len() / stride - 1;
                let row: [&[u8]; 6] =
                    std::array::from_fn(|k| &luma[(y + k).saturating_sub(2).min(last) * stride..][..stride]);
                half_samples(row, sums, b, h, j);
            },
        );
        let chroma = [0, 1].map(|c| padded(&picture.chroma[c], width / 2, height / 2, MARGIN / 2));
        Self { stride, luma: [luma, b, h, j], chroma, width, height }
    }

    /// The vectors that keep the macroblock at (`mx`, `my`) near enough to the picture, as `[least, greatest]`.
    pub fn range(&self, mx: usize, my: usize) -> [Vector; 2] {
        let axis = |at: usize, size: usize| {
            let (at, size) = (16 * at as i32, size as i32);
            let least = (-i32::from(BEYOND) - at).max(-i32::from(LONGEST));
            let greatest = (size + i32::from(BEYOND) - 16 - at).min(i32::from(LONGEST) - 1);
            [4 * least as i16, 4 * greatest as i16]
        };
        let ([x0, x1], [y0, y1]) = (axis(mx, self.width), axis(my, self.height));
        [Vector { x: x0, y: y0 }, Vector { x: x1, y: y1 }]
    }

    /// Index of whole sample (`x`, `y`) moved by `v`, in the luma planes.
    #[inline]
    fn index(&self, x: usize, y: usize, v: Vector) -> usize {
        let (x, y) = (x as isize + isize::from(v.x >> 2), y as isize + isize::from(v.y >> 2));
        (y + MARGIN as isize) as usize * self.stride + (x + MARGIN as isize) as usize
    }

    /// The N × N block of luma at (`x`, `y`) moved by `v`, into `out` with 16 samples a row.
    #[inline]
    pub fn luma<const N: usize>(&self, x: usize, y: usize, v: Vector, out: &mut [u8]) {
        let at = self.index(x, y, v);
        let [first, second] = PAIRS[(v.y & 3) as usize * 4 + (v.x & 3) as usize]
            .map(|(plane, right, down)| (&self.luma[plane], at + right + down * self.stride));
        let same = v.x & 1 == 0 && v.y & 1 == 0;
        for row in 0..N {
            let a = &first.0[first.1 + row * self.stride..][..N];
            let out = &mut out[row * 16..][..N];
            if same {
                out.copy_from_slice(a);
            } else {
                let b = &second.0[second.1 + row * self.stride..][..N];
                for i in 0..N {
                    out[i] = ((u16::from(a[i]) + u16::from(b[i]) + 1) >> 1) as u8;
                }
            }
        }
    }

    /// The N × N block of chroma plane `c` at (`x`, `y`) [chroma sample] moved by `v`, into `out` with 8 samples a row
    /// (8.4.2.2.2).
    #[inline]
    pub fn chroma<const N: usize>(&self, c: usize, x: usize, y: usize, v: Vector, out: &mut [u8]) {
        let stride = self.stride / 2;
        let (ix, iy) = (x as isize + isize::from(v.x >> 3), y as isize + isize::from(v.y >> 3));
        let at = (iy + MARGIN as isize / 2) as usize * stride + (ix + MARGIN as isize / 2) as usize;
        let (dx, dy) = ((v.x & 7) as u16, (v.y & 7) as u16);
        let weights = [(8 - dx) * (8 - dy), dx * (8 - dy), (8 - dx) * dy, dx * dy];
        for row in 0..N {
            let above = &self.chroma[c][at + row * stride..][..N + 1];
            let below = &self.chroma[c][at + (row + 1) * stride..][..N + 1];
            let out = &mut out[row * 8..][..N];
            for i in 0..N {
                let upper = weights[0] * u16::from(above[i]) + weights[1] * u16::from(above[i + 1]);
                let lower = weights[2] * u16::from(below[i]) + weights[3] * u16::from(below[i + 1]);
                out[i] = ((upper + lower + 32) >> 6) as u8;
            }
        }
    }

    /// Sum of absolute differences between `source` (16 samples a row) and the block moved by a whole-sample `v`.
    #[inline]
    fn sad<const N: usize>(&self, source: &[u8], x: usize, y: usize, v: Vector) -> u32 {
        let at = self.index(x, y, v);
        let mut sum = 0;
        for row in 0..N {
            let a = &source[row * 16..][..N];
            let b = &self.luma[0][at + row * self.stride..][..N];
            sum += a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
        }
        sum
    }

    /// Searches for the motion of the N × N block of `aim`, from the best of `starts`. Returns it and its cost:
    /// transformed differences and λ times the bits of the vector.
    pub fn search<const N: usize>(&self, aim: &Aim, starts: &[Vector]) -> (Vector, u32) {
        let Aim { source, x, y, predicted, range, lambda } = *aim;
        let inside = |v: Vector| (range[0].x..=range[1].x).contains(&v.x) && (range[0].y..=range[1].y).contains(&v.y);
        let rate = |v: Vector| (lambda * v.bits(predicted)) >> LAMBDA_SHIFT;
        // Whole samples: the best start, then a hexagon [Zhu, Lin & Chau 2002] walks downhill, then its inside.
        let whole = |v: Vector| self.sad::<N>(source, x, y, v) + rate(v);
        let mut best = (Vector::default(), whole(Vector::default()));
        let consider = |v: Vector, best: &mut (Vector, u32)| {
            if !inside(v) || v == best.0 {
                return false;
            }
            let cost = whole(v);
            let better = cost < best.1;
            if better {
                *best = (v, cost);
            }
            better
        };
        for v in starts {
            consider(Vector { x: (v.x + 2) & !3, y: (v.y + 2) & !3 }, &mut best);
        }
        for _ in 0..STEPS {
            let centre = best.0;
            let mut moved = false;
            for (dx, dy) in [(-8, 0), (-4, -8), (4, -8), (8, 0), (4, 8), (-4, 8)] {
                moved |= consider(centre.offset(dx, dy), &mut best);
            }
            if !moved {
                break;
            }
        }
        let centre = best.0;
        for (dx, dy) in SQUARE {
            consider(centre.offset(4 * dx, 4 * dy), &mut best);
        }
        // Half and quarter samples, by the transformed difference, which is nearer to what will be coded: the four
        // nearest, then the diagonal between the better two.
        let mut block = [0; 256];
        let mut fine = |v: Vector| {
            self.luma::<N>(x, y, v, &mut block);
            satd::<N>(source, &block) + rate(v)
        };
        best.1 = fine(best.0);
        // The first starts are the cheapest to code, wherever between the samples they lie.
        for (i, v) in starts.iter().enumerate().take(FINE_STARTS) {
            if *v != best.0 && inside(*v) && !starts[..i].contains(v) {
                let cost = fine(*v);
                if cost < best.1 {
                    best = (*v, cost);
                }
            }
        }
        for step in [2, 1] {
            let (centre, at_centre) = best;
            let mut cost = |dx: i16, dy: i16| {
                let v = centre.offset(dx, dy);
                if !inside(v) {
                    return at_centre;
                }
                let cost = fine(v);
                if cost < best.1 {
                    best = (v, cost);
                }
                cost
            };
            let dx = if cost(-step, 0) < cost(step, 0) { -step } else { step };
            let dy = if cost(0, -step) < cost(0, step) { -step } else { step };
            cost(dx, dy);
        }
        best
    }
}

/// What a search for motion is after.
pub struct Aim<'a> {
    /// The block, 16 samples a row.
    pub source: &'a [u8],
    /// Its place in the picture [sample].
    pub x: usize,
    /// Its place in the picture [sample].
    pub y: usize,
    /// The vector that the stream's code is relative to.
    pub predicted: Vector,
    /// Least and greatest components.
    pub range: [Vector; 2],
    /// Cost of a bit, in 16ths of a sample's difference.
    pub lambda: u32,
}

/// The eight neighbours, the four nearest first.
const SQUARE: [(i16, i16); 8] = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];
/// Most steps of the hexagon: 2 samples each.
const STEPS: usize = 12;
/// Starts that are also tried where they lie between the samples.
const FINE_STARTS: usize = 2;
/// λ is given in 16ths.
pub const LAMBDA_SHIFT: u32 = 4;

/// Rows b, h and j for the row `row[2]`, from it and its neighbours (8.4.2.2.1); `sums` is room for a row.
fn half_samples(row: [&[u8]; 6], sums: &mut [i16], b: &mut [u8], h: &mut [u8], j: &mut [u8]) {
    let n = sums.len();
    let [p, q, r, s, t, u] = row.map(|row| &row[..n]);
    let (b, h, j) = (&mut b[..n], &mut h[..n], &mut j[..n]);
    let wide = i16::from;
    for x in 0..n {
        sums[x] = wide(p[x]) + wide(u[x]) - 5 * (wide(q[x]) + wide(t[x])) + 20 * (wide(r[x]) + wide(s[x]));
        h[x] = ((sums[x] + 16) >> 5).clamp(0, 255) as u8;
    }
    // Nothing changes along a row in the outer margin, so that b equals G and j equals h there.
    b.copy_from_slice(r);
    j.copy_from_slice(h);
    let count = n - 5;
    let (b, j) = (&mut b[2..2 + count], &mut j[2..2 + count]);
    let [p, q, r, s, t, u]: [&[u8]; 6] = std::array::from_fn(|k| &r[k..k + count]);
    for x in 0..count {
        let sum = wide(p[x]) + wide(u[x]) - 5 * (wide(q[x]) + wide(t[x])) + 20 * (wide(r[x]) + wide(s[x]));
        b[x] = ((sum + 16) >> 5).clamp(0, 255) as u8;
    }
    let [p, q, r, s, t, u]: [&[i16]; 6] = std::array::from_fn(|k| &sums[k..k + count]);
    let wide = i32::from;
    for x in 0..count {
        let sum = wide(p[x]) + wide(u[x]) - 5 * (wide(q[x]) + wide(t[x])) + 20 * (wide(r[x]) + wide(s[x]));
        j[x] = ((sum + 512) >> 10).clamp(0, 255) as u8;
    }
}

/// A plane with `margin` samples around it that repeat its edge.
fn padded(plane: &[u8], width: usize, height: usize, margin: usize) -> Vec<u8> {
    let stride = width + 2 * margin;
    let mut out = vec![0; stride * (height + 2 * margin)];
    for (y, out) in out.chunks_exact_mut(stride).enumerate() {
        let row = &plane[y.saturating_sub(margin).min(height - 1) * width..][..width];
        out[..margin].fill(row[0]);
        out[margin..margin + width].copy_from_slice(row);
        out[margin + width..].fill(row[width - 1]);
    }
    out
}

/// Sum of absolute Hadamard-transformed differences of N × N samples, 4×4 at a time, halved: near to the sum of
/// absolute differences for noise, and to what the coefficients cost. Both have 16 samples a row.
#[inline]
pub fn satd<const N: usize>(a: &[u8], b: &[u8]) -> u32 {
    let mut sum = 0;
    for strip in 0..N / 4 {
        // Lanes are pairs of columns: their sums and differences, then down the four rows. The last step, between
        // neighbouring pairs, and the absolute values are one: |s + t| + |s − t| = 2 max(|s|, |t|).
        let (mut sums, mut differences) = ([[0i16; 8]; 4], [[0i16; 8]; 4]);
        for row in 0..4 {
            let at = (strip * 4 + row) * 16;
            let (a, b) = (&a[at..at + N], &b[at..at + N]);
            for i in 0..N / 2 {
                let even = i16::from(a[2 * i]) - i16::from(b[2 * i]);
                let odd = i16::from(a[2 * i + 1]) - i16::from(b[2 * i + 1]);
                sums[row][i] = even + odd;
                differences[row][i] = even - odd;
            }
        }
        for rows in [sums, differences] {
            let mut most = [0u16; 4];
            for row in butterflies(&rows) {
                for i in 0..N / 4 {
                    most[i] += row[2 * i].unsigned_abs().max(row[2 * i + 1].unsigned_abs());
                }
            }
            sum += most.iter().map(|m| u32::from(*m)).sum::<u32>();
        }
    }
    sum
}

/// The Hadamard transform down the four rows, lane by lane.
#[inline]
fn butterflies(d: &[[i16; 8]; 4]) -> [[i16; 8]; 4] {
    let mut out = [[0; 8]; 4];
    for i in 0..8 {
        let (s, t) = (d[0][i] + d[1][i], d[0][i] - d[1][i]);
        let (u, v) = (d[2][i] + d[3][i], d[2][i] - d[3][i]);
        out[0][i] = s + u;
        out[1][i] = t + v;
        out[2][i] = s - u;
        out[3][i] = t - v;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wavy(width: usize, height: usize, shift: (f64, f64)) -> Picture {
        let mut picture = Picture::new(width, height);
        for i in 0..picture.y.len() {
            let (x, y) = ((i % picture.width) as f64 + shift.0, (i / picture.width) as f64 + shift.1);
            picture.y[i] = (128.0 + 60.0 * (0.31 * x + 0.07 * y).sin() + 50.0 * (0.23 * y - 0.05 * x).cos()) as u8;
        }
        picture
    }

    #[test]
    fn a_moved_wave_is_found_where_it_went() {
        // Content at (x, y) was at (x + dx, y + dy): that is the vector, in quarters.
        for (dx, dy) in [(0.0, 0.0), (3.0, -2.0), (1.25, 0.5), (-2.75, 4.5), (7.5, -6.25)] {
            let reference = Reference::new(&wavy(96, 96, (0.0, 0.0)));
            let now = wavy(96, 96, (dx, dy));
            let source: Vec<u8> = (0..256).map(|i| now.y[(32 + i / 16) * 96 + 48 + i % 16]).collect();
            let (range, predicted) = (reference.range(3, 2), Vector::default());
            let aim = Aim { source: &source, x: 48, y: 32, predicted, range, lambda: 0 };
            let (found, cost) = reference.search::<16>(&aim, &[predicted]);
            assert_eq!((f64::from(found.x) / 4.0, f64::from(found.y) / 4.0), (dx, dy), "cost {cost}");
        }
    }

    #[test]
    fn a_linear_ramp_is_interpolated_to_a_quarter() {
        let mut picture = Picture::new(64, 64);
        for i in 0..picture.y.len() {
            picture.y[i] = (2 * (i % 64) + (i / 64)) as u8;
        }
        let reference = Reference::new(&picture);
        let mut out = [0; 256];
        for y in -9..9 {
            for x in -9..9 {
                let v = Vector { x, y };
                reference.luma::<16>(16, 16, v, &mut out);
                let exact = 2.0 * (16.0 + f64::from(x) / 4.0) + 16.0 + f64::from(y) / 4.0;
                // Two roundings up of at most half each.
                assert!((f64::from(out[0]) - exact - 0.25).abs() <= 0.76, "{v:?}: {} {exact}", out[0]);
            }
        }
    }

    #[test]
    fn no_allowed_vector_leaves_the_margin() {
        let reference = Reference::new(&wavy(48, 32, (0.0, 0.0)));
        let mut out = [0; 256];
        for my in 0..2 {
            for mx in 0..3 {
                for x in reference.range(mx, my).map(|v| v.x) {
                    for y in reference.range(mx, my).map(|v| v.y) {
                        for v in [Vector { x, y }, Vector { x: x.max(3) - 3, y: y.max(3) - 3 }] {
                            reference.luma::<16>(16 * mx, 16 * my, v, &mut out);
                            reference.chroma::<8>(0, 8 * mx, 8 * my, v, &mut out);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn transformed_difference_of_a_flat_step_is_its_dc() {
        // A difference d everywhere: one coefficient 16 d a block of 16, halved; 16 blocks.
        assert_eq!(satd::<16>(&[90; 256], &[83; 256]), 16 * 16 * 7 / 2);
        assert_eq!(satd::<8>(&[90; 256], &[83; 256]), 4 * 16 * 7 / 2);
    }
}
