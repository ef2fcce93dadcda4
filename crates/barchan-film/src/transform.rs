//! The 4×4 integer transform, its quantisation and their inverses (ITU-T H.264, 8.5), on a block in raster order.
//!
//! The forward direction is not the standard's business; it is the transpose of the inverse, with the scaling folded
//! into the quantiser [Malvar, Hallapuro, Karczewicz & Kerofsky 2003, IEEE Trans. Circuits Syst. Video Technol. 13].

/// A block of samples' differences or coefficients, raster order.
pub type Block = [i16; 16];

/// Figure 6-12 (a): raster position of each place of the zig-zag scan (Table 8-13).
pub const ZIGZAG: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// Equation 8-315: factors v of LevelScale for positions (even, even), (odd, odd) and the rest, by QP mod 6.
const SCALE: [[i32; 3]; 6] = [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

/// Table 8-15: QP of chroma by that of luma, offset 0.
pub fn chroma_qp(qp: u8) -> u8 {
    const ABOVE_29: [u8; 22] = [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];
    if qp < 30 { qp } else { ABOVE_29[qp as usize - 30] }
}

/// Transform of differences.
#[inline]
pub fn forward(d: &Block) -> Block {
    let mut t = [0i16; 16];
    for i in 0..4 {
        let r = i * 4;
        let (a, b) = (d[r] + d[r + 3], d[r + 1] + d[r + 2]);
        let (c, e) = (d[r + 1] - d[r + 2], d[r] - d[r + 3]);
        (t[r], t[r + 1], t[r + 2], t[r + 3]) = (a + b, 2 * e + c, a - b, e - 2 * c);
    }
    let mut f = [0i16; 16];
    for i in 0..4 {
        let (a, b) = (t[i] + t[i + 12], t[i + 4] + t[i + 8]);
        let (c, e) = (t[i + 4] - t[i + 8], t[i] - t[i + 12]);
        (f[i], f[i + 4], f[i + 8], f[i + 12]) = (a + b, 2 * e + c, a - b, e - 2 * c);
    }
    f
}

/// Differences from scaled coefficients (8.5.12.2), rounded.
#[inline]
pub fn inverse(scaled: &Block) -> Block {
    let mut d = [0i32; 16];
    for i in 0..16 {
        d[i] = scaled[i].into();
    }
    let mut t = [0; 16];
    for i in 0..4 {
        let r = i * 4;
        let (a, b) = (d[r] + d[r + 2], d[r] - d[r + 2]);
        let (c, e) = ((d[r + 1] >> 1) - d[r + 3], d[r + 1] + (d[r + 3] >> 1));
        (t[r], t[r + 1], t[r + 2], t[r + 3]) = (a + e, b + c, b - c, a - e);
    }
    let mut f = [0i16; 16];
    for i in 0..4 {
        let (a, b) = (t[i] + t[i + 8], t[i] - t[i + 8]);
        let (c, e) = ((t[i + 4] >> 1) - t[i + 12], t[i + 4] + (t[i + 12] >> 1));
        for (row, value) in [a + e, b + c, b - c, a - e].into_iter().enumerate() {
            f[i + 4 * row] = ((value + 32) >> 6) as i16;
        }
    }
    f
}

/// The 4×4 Hadamard transform of the DC coefficients of an Intra_16x16 macroblock (8.5.10), without scaling.
fn hadamard4(d: &[i32; 16]) -> [i32; 16] {
    let (mut t, mut f) = ([0; 16], [0; 16]);
    let mix = |[p, q, r, s]: [i32; 4]| [p + q + r + s, p + q - r - s, p - q - r + s, p - q + r - s];
    for i in 0..4 {
        let r = mix([d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]]);
        t[4 * i..4 * i + 4].copy_from_slice(&r);
    }
    for i in 0..4 {
        let c = mix([t[i], t[i + 4], t[i + 8], t[i + 12]]);
        (f[i], f[i + 4], f[i + 8], f[i + 12]) = (c[0], c[1], c[2], c[3]);
    }
    f
}

/// The 2×2 transform of the DC coefficients of chroma (8.5.11.1); its own inverse but for the scale.
fn hadamard2([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

/// Quantiser and its inverse for one QP and one kind of prediction.
pub struct Quantiser {
    /// 2^(15 + QP/6) / (step × norm) of each position.
    factor: [i16; 16],
    /// Rounding offset: a third of a step for intra, a sixth for inter prediction, where small levels cost more bits
    /// than they are worth.
    offset: i32,
    shift: u32,
    scale: [i16; 16],
    qp: u8,
}

impl Quantiser {
    /// For `qp` ≥ 12; below, a level could outgrow the longest code of [`crate::cavlc`].
    pub fn new(qp: u8, intra: bool) -> Self {
        let shift = 15 + u32::from(qp / 6);
        let (mut factor, mut scale) = ([0; 16], [0; 16]);
        for i in 0..16 {
            let kind = [[0, 2], [2, 1]][i / 4 % 2][i % 2];
            let v = SCALE[qp as usize % 6][kind];
            // factor · v = 2^21 / (n · n′): n² = 16, 100, 40 are the squared norms of the forward transform's basis,
            // n′² = 16, 6.25, 10 of the inverse's.
            let product = [131_072.0, 83_886.08, 104_857.6][kind];
            factor[i] = (product / f64::from(v)).round() as i16;
            scale[i] = (v << (qp / 6)) as i16;
        }
        Self { factor, offset: (1 << shift) / if intra { 3 } else { 6 }, shift, scale, qp }
    }

    /// Coefficients to levels, in scan order; how many are not zero.
    #[inline]
    pub fn quantise(&self, coefficients: &Block, levels: &mut Block) -> u8 {
        let mut raster = [0i16; 16];
        let mut any = 0;
        for i in 0..16 {
            let c = coefficients[i];
            let l = ((i32::from(c.abs()) * i32::from(self.factor[i]) + self.offset) >> self.shift) as i16;
            raster[i] = if c < 0 { -l } else { l };
            any |= l;
        }
        *levels = [0; 16];
        if any == 0 {
            return 0;
        }
        let mut count = 0;
        for (level, &at) in levels.iter_mut().zip(&ZIGZAG) {
            *level = raster[at];
            count += u8::from(*level != 0);
        }
        count
    }

    /// Levels in scan order to scaled coefficients (8.5.12.1).
    #[inline]
    pub fn scale(&self, levels: &Block) -> Block {
        let mut out = [0; 16];
        for (&level, &at) in levels.iter().zip(&ZIGZAG) {
            out[at] = level * self.scale[at];
        }
        out
    }

    fn quantise_dc(&self, value: i32) -> i16 {
        let l = ((value.abs() * i32::from(self.factor[0]) + 2 * self.offset) >> (self.shift + 1)) as i16;
        if value < 0 { -l } else { l }
    }

    /// DC coefficients of the 16 blocks of an Intra_16x16 macroblock, raster order, to levels in scan order and back
    /// to scaled DC coefficients (8.5.10).
    pub fn luma_dc(&self, dc: &[i32; 16]) -> (Block, [i16; 16]) {
        let f = hadamard4(dc);
        let mut levels = [0; 16];
        let mut raster = [0; 16];
        for (level, &at) in levels.iter_mut().zip(&ZIGZAG) {
            // The forward Hadamard transform's gain is 16; half of it is taken here.
            *level = self.quantise_dc((f[at] + i32::from(f[at] > 0)) >> 1);
            raster[at] = i32::from(*level);
        }
        let back = hadamard4(&raster);
        let step = 16 * SCALE[self.qp as usize % 6][0];
        let k = self.qp / 6;
        let scaled =
            back.map(|f| if k >= 6 { (f * step) << (k - 6) } else { (f * step + (1 << (5 - k))) >> (6 - k) } as i16);
        (levels, scaled)
    }

    /// DC coefficients of the four blocks of a chroma component to levels and back (8.5.11).
    pub fn chroma_dc(&self, dc: [i32; 4]) -> ([i16; 4], [i16; 4]) {
        let levels = hadamard2(dc).map(|f| self.quantise_dc(f));
        let step = 16 * SCALE[self.qp as usize % 6][0];
        let scaled = hadamard2(levels.map(i32::from)).map(|f| (((f * step) << (self.qp / 6)) >> 5) as i16);
        (levels, scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantisation_errs_by_no_more_than_its_step() {
        // Step of QP: 0.625 · 2^(QP/6) at QP 0 (8.5.8); an orthonormal coefficient errs by at most a step, so that the
        // mean squared error of a block stays below step² and for intra rounding near step²/9 … step²/4.
        let mut state = 1u32;
        for qp in [12, 20, 23, 30, 37, 44, 51] {
            let step = 0.625 * (f64::from(qp) / 6.0).exp2();
            for intra in [true, false] {
                let quantiser = Quantiser::new(qp, intra);
                for amplitude in [3, 40, 255] {
                    let block: Block = std::array::from_fn(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        ((state >> 16) as i32 % (2 * amplitude + 1) - amplitude) as i16
                    });
                    let mut levels = [0; 16];
                    quantiser.quantise(&forward(&block), &mut levels);
                    let back = inverse(&quantiser.scale(&levels));
                    let square = |(a, b): (&i16, &i16)| f64::from(a - b).powi(2);
                    let error = block.iter().zip(&back).map(square).sum::<f64>() / 16.0;
                    assert!(error.sqrt() < step + 0.6, "QP {qp}: error {}, step {step}", error.sqrt());
                }
            }
        }
    }

    #[test]
    fn dc_of_a_flat_difference_comes_back() {
        for qp in [12, 20, 23, 40] {
            let quantiser = Quantiser::new(qp, true);
            let step = 0.625 * (f64::from(qp) / 6.0).exp2();
            for flat in [-200, -7, 0, 3, 90, 255] {
                let dc = i32::from(forward(&[flat; 16])[0]);
                let (_, luma) = quantiser.luma_dc(&[dc; 16]);
                let (_, chroma) = quantiser.chroma_dc([dc; 4]);
                for scaled in [luma[5], chroma[3]] {
                    let mut block = [0; 16];
                    block[0] = scaled;
                    let error = f64::from(inverse(&block)[7] - flat).abs();
                    assert!(error <= 0.5 * step + 0.5, "QP {qp}, {flat}: error {error}");
                }
            }
        }
    }

    #[test]
    fn factors_are_the_published_ones() {
        // Malvar et al. 2003, table of quantisation factors for QP mod 6 = 0 and 5.
        let (zero, five) = (Quantiser::new(12, true), Quantiser::new(17, true));
        assert_eq!([zero.factor[0], zero.factor[5], zero.factor[1]], [13107, 5243, 8066]);
        assert_eq!([five.factor[0], five.factor[5], five.factor[1]], [7282, 2893, 4559]);
        assert_eq!((chroma_qp(29), chroma_qp(30), chroma_qp(51)), (29, 29, 39));
    }
}
