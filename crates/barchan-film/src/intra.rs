//! Intra prediction (ITU-T H.264, 8.3): a block guessed from the samples to its left and above it.

/// Modes of Intra_4x4 prediction by number (Table 8-2).
pub const MODES_4X4: u8 = 9;
/// Intra_4x4 mode 2, the mean; what a neighbour without a mode counts as (8.3.1.1).
pub const DC_4X4: u8 = 2;

/// What lies around a 4×4 block.
#[derive(Clone, Copy)]
pub struct Edge4 {
    /// Left column from its lowest sample up, the corner, the row above and to the right: L K J I M A … H.
    around: [u8; 13],
    left: bool,
    above: bool,
    corner: bool,
}

impl Edge4 {
    /// The samples around the block at `at` in `plane`. `above_right` is false where the four samples there are not
    /// decoded yet; the last sample above stands for them (8.3.1.2).
    pub fn read(plane: &[u8], stride: usize, at: usize, left: bool, above: bool, above_right: bool) -> Self {
        let mut around = [128; 13];
        if left {
            for y in 0..4 {
                around[3 - y] = plane[at + y * stride - 1];
            }
        }
        let corner = left && above;
        if corner {
            around[4] = plane[at - stride - 1];
        }
        if above {
            let count = if above_right { 8 } else { 4 };
            around[5..5 + count].copy_from_slice(&plane[at - stride..][..count]);
            if !above_right {
                let last = around[8];
                around[9..].fill(last);
            }
        }
        Self { around, left, above, corner }
    }

    /// Whether the samples that `mode` needs are there.
    pub fn allows(&self, mode: u8) -> bool {
        match mode {
            0 | 3 | 7 => self.above,
            1 | 8 => self.left,
            DC_4X4 => true,
            _ => self.corner,
        }
    }

    /// The predicted block, raster order (8.3.1.2.1 to 8.3.1.2.9).
    pub fn predict(&self, mode: u8) -> [u8; 16] {
        let e: [u16; 13] = self.around.map(u16::from);
        let two = |i: usize, j: usize| ((e[i] + e[j] + 1) >> 1) as u8;
        let three = |i: usize, j: usize, k: usize| ((e[i] + 2 * e[j] + e[k] + 2) >> 2) as u8;
        let mut out = [0; 16];
        let mut fill = |value: &dyn Fn(usize, usize) -> u8| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = value(i % 4, i / 4);
            }
        };
        // Indices: sample k of the row above is 5 + k, sample k of the left column 3 − k, the corner 4.
        match mode {
            0 => fill(&|x, _| self.around[5 + x]),
            1 => fill(&|_, y| self.around[3 - y]),
            DC_4X4 => {
                let (above, left) = (e[5..9].iter().sum::<u16>(), e[..4].iter().sum::<u16>());
                let mean = match (self.above, self.left) {
                    (true, true) => (above + left + 4) >> 3,
                    (true, false) => (above + 2) >> 2,
                    (false, true) => (left + 2) >> 2,
                    (false, false) => 128,
                };
                fill(&|_, _| mean as u8);
            }
            3 => fill(&|x, y| three(5 + x + y, 6 + x + y, (7 + x + y).min(12))),
            4 => fill(&|x, y| three(3 + x - y, 4 + x - y, 5 + x - y)),
            5 => fill(&|x, y| {
                let k = x.wrapping_sub(y / 2);
                match 2 * x as i32 - y as i32 {
                    z if z >= 0 && z % 2 == 0 => two(4 + k, 5 + k),
                    z if z >= 0 => three(3 + k, 4 + k, 5 + k),
                    -1 => three(3, 4, 5),
                    _ => three(4 - y, 5 - y, 6 - y),
                }
            }),
            6 => fill(&|x, y| {
                let k = y.wrapping_sub(x / 2);
                match 2 * y as i32 - x as i32 {
                    z if z >= 0 && z % 2 == 0 => two(4 - k, 3 - k),
                    z if z >= 0 => three(5 - k, 4 - k, 3 - k),
                    -1 => three(3, 4, 5),
                    _ => three(4 + x, 3 + x, 2 + x),
                }
            }),
            7 => fill(&|x, y| {
                let k = 5 + x + y / 2;
                if y % 2 == 0 { two(k, k + 1) } else { three(k, k + 1, k + 2) }
            }),
            _ => fill(&|x, y| {
                let k = y + x / 2;
                match x + 2 * y {
                    z if z > 5 => self.around[0],
                    5 => three(1, 0, 0),
                    z if z % 2 == 0 => two(3 - k, 2 - k),
                    _ => three(3 - k, 2 - k, 1 - k),
                }
            }),
        }
        out
    }
}

/// What lies around a whole macroblock in one plane: `N` is 16 for luma, 8 for chroma.
pub struct Edge<const N: usize> {
    above: Option<[u8; N]>,
    left: Option<[u8; N]>,
    corner: u8,
}

/// Ways to predict a whole macroblock. The numbers in a stream differ between luma (Table 8-4) and chroma (Table 8-5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    /// Each column repeats the sample above it.
    Vertical,
    /// Each row repeats the sample to its left.
    Horizontal,
    /// Mean of the edges.
    Mean,
    /// A plane fitted to the edges.
    Plane,
}

impl Whole {
    /// All of them, in luma's order of numbers.
    pub const ALL: [Whole; 4] = [Whole::Vertical, Whole::Horizontal, Whole::Mean, Whole::Plane];

    /// Intra16x16PredMode.
    pub fn luma_number(self) -> u32 {
        self as u32
    }

    /// intra_chroma_pred_mode.
    pub fn chroma_number(self) -> u32 {
        [2, 1, 0, 3][self as usize]
    }
}

impl<const N: usize> Edge<N> {
    /// The samples around the block at `at` in `plane`.
    pub fn read(plane: &[u8], stride: usize, at: usize, left: bool, above: bool) -> Self {
        Self {
            above: above.then(|| std::array::from_fn(|x| plane[at - stride + x])),
            left: left.then(|| std::array::from_fn(|y| plane[at + y * stride - 1])),
            corner: if left && above { plane[at - stride - 1] } else { 128 },
        }
    }

    /// The predicted block in `out`, N × N in raster order; false where the samples it needs are not there.
    pub fn predict(&self, mode: Whole, out: &mut [u8]) -> bool {
        match (mode, self.above, self.left) {
            (Whole::Vertical, Some(above), _) => out.chunks_exact_mut(N).for_each(|row| row.copy_from_slice(&above)),
            (Whole::Horizontal, _, Some(left)) => out.chunks_exact_mut(N).zip(left).for_each(|(row, v)| row.fill(v)),
            (Whole::Mean, ..) if N == 16 => out.fill(mean(self.above, self.left)),
            (Whole::Mean, ..) => self.chroma_means(out),
            (Whole::Plane, Some(above), Some(left)) => self.plane(&above, &left, out),
            _ => return false,
        }
        true
    }

    /// 8.3.4.1 to 8.3.4.3: each 4×4 block of chroma has a mean of its own, of the edges that touch its row and column.
    fn chroma_means(&self, out: &mut [u8]) {
        for block in 0..4 {
            let (x, y) = (block % 2 * 4, block / 2 * 4);
            let above = self.above.map(|e| std::array::from_fn::<u8, 4, _>(|i| e[x + i]));
            let left = self.left.map(|e| std::array::from_fn::<u8, 4, _>(|i| e[y + i]));
            let value = match block {
                1 if above.is_some() => mean(above, None),
                2 if left.is_some() => mean(None, left),
                _ => mean(above, left),
            };
            for row in 0..4 {
                out[(y + row) * N + x..][..4].fill(value);
            }
        }
    }

    /// 8.3.3.4 (luma) and 8.3.4.4 (chroma 4:2:0).
    fn plane(&self, above: &[u8; N], left: &[u8; N], out: &mut [u8]) {
        let half = N / 2;
        let slope = |edge: &[u8; N]| -> i32 {
            let at = |i: i32| if i < 0 { i32::from(self.corner) } else { i32::from(edge[i as usize]) };
            (1..=half as i32).map(|i| i * (at(half as i32 - 1 + i) - at(half as i32 - 1 - i))).sum()
        };
        let scale = |s: i32| if N == 16 { (5 * s + 32) >> 6 } else { (34 * s + 32) >> 6 };
        let (b, c) = (scale(slope(above)), scale(slope(left)));
        let a = 16 * (i32::from(above[N - 1]) + i32::from(left[N - 1]));
        for (y, row) in out.chunks_exact_mut(N).enumerate() {
            let start = a + c * (y as i32 + 1 - half as i32) + 16;
            for (x, out) in row.iter_mut().enumerate() {
                *out = ((start + b * (x as i32 + 1 - half as i32)) >> 5).clamp(0, 255) as u8;
            }
        }
    }
}

/// Mean of the edges there are, rounded; the middle of the range without any.
fn mean<const M: usize>(above: Option<[u8; M]>, left: Option<[u8; M]>) -> u8 {
    let sums = [above, left].into_iter().flatten().map(|e| e.into_iter().map(u32::from).sum::<u32>());
    let (sum, count) = sums.fold((0, 0), |(s, n), edge| (s + edge, n + M as u32));
    (sum + count / 2).checked_div(count).map_or(128, |mean| mean as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_surrounding_predicts_itself_in_every_mode() {
        let plane = [77u8; 32 * 32];
        let edge = Edge4::read(&plane, 32, 4 * 32 + 4, true, true, true);
        for mode in 0..MODES_4X4 {
            assert!(edge.allows(mode));
            assert_eq!(edge.predict(mode), [77; 16]);
        }
        let edge = Edge::<16>::read(&plane, 32, 8 * 32 + 8, true, true);
        let mut out = [0; 256];
        for mode in Whole::ALL {
            assert!(edge.predict(mode, &mut out));
            assert_eq!(out, [77; 256], "{mode:?}");
        }
    }

    #[test]
    fn a_ramp_is_continued_by_the_plane() {
        // v = 3x + 2y + 40: exact for the plane mode of both sizes.
        let value = |i: usize| (3 * (i % 32) + 2 * (i / 32) + 40) as u8;
        let plane: Vec<u8> = (0..1024).map(value).collect();
        let mut out = [0; 256];
        let at = 32 + 1;
        assert!(Edge::<16>::read(&plane, 32, at, true, true).predict(Whole::Plane, &mut out));
        assert!((0..256).all(|i| out[i] == value(at + i / 16 * 32 + i % 16)));
        assert!(Edge::<8>::read(&plane, 32, at, true, true).predict(Whole::Plane, &mut out[..64]));
        assert!((0..64).all(|i| out[i] == value(at + i / 8 * 32 + i % 8)));
    }

    #[test]
    fn diagonal_modes_follow_their_diagonals() {
        // Along each mode's direction a picture that is constant along it is predicted exactly, up to the rounding of
        // the filter on a linear ramp (none). Directions (dx, dy) of constancy per mode, Figure 8-1.
        let edge = |f: &dyn Fn(i32, i32) -> i32| {
            let plane: Vec<u8> = (0..256).map(|i| f(i % 16 - 4, i / 16 - 4) as u8).collect();
            Edge4::read(&plane, 16, 4 * 16 + 4, true, true, true)
        };
        // Ramp across the diagonal: mode 3 is constant along x + y, mode 4 along x − y, modes 5 and 7 along 2x ∓ y,
        // modes 6 and 8 along x ∓ 2y.
        type Ramp = fn(i32, i32) -> i32;
        let ramps: [(u8, Ramp); 6] = [
            (3, |x, y| 100 + 4 * (x + y)),
            (4, |x, y| 100 + 4 * (x - y)),
            (5, |x, y| 100 + 4 * (2 * x - y)),
            (6, |x, y| 100 + 4 * (x - 2 * y)),
            (7, |x, y| 100 + 4 * (2 * x + y)),
            (8, |x, y| 100 + 4 * (x + 2 * y)),
        ];
        for (mode, ramp) in ramps {
            let predicted = edge(&ramp).predict(mode);
            // Up to where the edge runs out (H is the last sample above, L the last to the left).
            let inside = |x: i32, y: i32| match mode {
                3 => x + y < 6,
                8 => x + 2 * y < 5,
                _ => true,
            };
            for i in 0..16 {
                let (x, y) = (i % 4, i / 4);
                let off = (i32::from(predicted[i as usize]) - ramp(x, y)).abs();
                // Samples left of the corner's steep rays are filtered from unequal steps.
                assert!(!inside(x, y) || off <= 2, "mode {mode} at {x}, {y}: {} {}", predicted[i as usize], ramp(x, y));
            }
        }
    }
}
