//! The macroblocks of one slice: how each is predicted, and its code (ITU-T H.264, 7.3.4 and 7.3.5).
//!
//! A choice is the least of D + λ R: D the Hadamard-transformed difference of source and prediction, R the bits of the
//! side information [Wiegand, Sullivan, Bjøntegaard & Luthra 2003].

mod predicted;
mod within;

use crate::bits::BitWriter;
use crate::colour::Picture;
use crate::inter::{LAMBDA_SHIFT, Reference, Vector};
use crate::residual::Residual;
use crate::transform::{Quantiser, chroma_qp};

/// Rows of the decoded picture that belong to a slice.
pub struct Band<'a> {
    /// Luma samples in a row; chroma has half.
    pub stride: usize,
    /// Luma.
    pub y: &'a mut [u8],
    /// Cb and Cr.
    pub chroma: [&'a mut [u8]; 2],
}

/// How a macroblock was coded, for its neighbours, the deblocking filter and the next picture.
#[derive(Clone, Default)]
pub struct Mb {
    inter: bool,
    /// Levels in each 4×4 luma block, raster order.
    pub luma_count: [u8; 16],
    chroma_count: [[u8; 4]; 2],
    /// Intra_4x4 modes, raster order; the mean for other macroblocks.
    modes: [u8; 16],
    /// Motion of the four 8×8 blocks, if it is inter-coded.
    pub motion: [Vector; 4],
}

impl Mb {
    /// Whether it was predicted within its own picture.
    pub fn is_intra(&self) -> bool {
        !self.inter
    }
}

/// What the slices of a picture share.
pub struct Job<'a> {
    /// The picture to code.
    pub source: &'a Picture,
    /// The picture before it; none if decoding can start here.
    pub reference: Option<&'a Reference>,
    /// How the picture before was coded, where to look for motion first.
    pub before: &'a [Mb],
    /// Quantisation parameter.
    pub qp: u8,
}

/// One slice under way.
pub struct Slice<'a> {
    job: &'a Job<'a>,
    /// First row of macroblocks.
    first: usize,
    /// Macroblocks in a row.
    width: usize,
    band: Band<'a>,
    mbs: &'a mut [Mb],
    bits: BitWriter,
    skipped: u32,
    lambda: u32,
    intra: Quantiser,
    inter: Quantiser,
    intra_chroma: Quantiser,
    inter_chroma: Quantiser,
}

/// A macroblock's source samples.
struct Source {
    luma: [u8; 256],
    chroma: [[u8; 64]; 2],
}

impl<'a> Slice<'a> {
    /// Begins a slice at macroblock row `first`, after its header in `bits`.
    pub fn new(job: &'a Job<'a>, first: usize, band: Band<'a>, mbs: &'a mut [Mb], bits: BitWriter) -> Self {
        let qp = job.qp;
        // λ ≈ 2^((QP − 12) / 6), the square root of the one for squared differences, in 16ths.
        let lambda = (16.0 * (f64::from(qp) / 6.0 - 2.0).exp2()).round() as u32;
        Self {
            job,
            first,
            width: job.source.width / 16,
            band,
            mbs,
            bits,
            skipped: 0,
            lambda,
            intra: Quantiser::new(qp, true),
            inter: Quantiser::new(qp, false),
            intra_chroma: Quantiser::new(chroma_qp(qp), true),
            inter_chroma: Quantiser::new(chroma_qp(qp), false),
        }
    }

    /// Codes every macroblock; the decoded samples, not yet deblocked, are in the band.
    pub fn code(mut self) -> (Vec<u8>, Band<'a>, &'a [Mb]) {
        for my in 0..self.mbs.len() / self.width {
            for mx in 0..self.width {
                self.macroblock(mx, my);
            }
        }
        if self.skipped > 0 {
            self.bits.ue(self.skipped);
        }
        (self.bits.finish(), self.band, self.mbs)
    }

    fn rate(&self, bits: u32) -> u32 {
        (self.lambda * bits) >> LAMBDA_SHIFT
    }

    fn macroblock(&mut self, mx: usize, my: usize) {
        let source = self.load(mx, my);
        if let Some(reference) = self.job.reference {
            self.predicted_macroblock(mx, my, &source, reference);
        } else if let Some(intra) = self.choose_intra(mx, my, &source, u32::MAX) {
            self.write_intra(mx, my, &source, intra);
        }
    }

    fn load(&self, mx: usize, my: usize) -> Source {
        let picture = self.job.source;
        let mut source = Source { luma: [0; 256], chroma: [[0; 64]; 2] };
        let at = (self.first + my) * 16 * picture.width + mx * 16;
        for (row, out) in source.luma.chunks_exact_mut(16).enumerate() {
            out.copy_from_slice(&picture.y[at + row * picture.width..][..16]);
        }
        let stride = picture.width / 2;
        let at = (self.first + my) * 8 * stride + mx * 8;
        for (out, plane) in source.chroma.iter_mut().zip(&picture.chroma) {
            for (row, out) in out.chunks_exact_mut(8).enumerate() {
                out.copy_from_slice(&plane[at + row * stride..][..8]);
            }
        }
        source
    }

    fn store_luma(&mut self, mx: usize, my: usize, samples: &[u8; 256]) {
        let at = my * 16 * self.band.stride + mx * 16;
        for (row, samples) in samples.chunks_exact(16).enumerate() {
            self.band.y[at + row * self.band.stride..][..16].copy_from_slice(samples);
        }
    }

    fn store_chroma(&mut self, mx: usize, my: usize, samples: &[[u8; 64]; 2]) {
        let stride = self.band.stride / 2;
        let at = my * 8 * stride + mx * 8;
        for (plane, samples) in self.band.chroma.iter_mut().zip(samples) {
            for (row, samples) in samples.chunks_exact(8).enumerate() {
                plane[at + row * stride..][..8].copy_from_slice(samples);
            }
        }
    }

    /// The macroblock `dx`, `dy` away, if it is in this slice and coded already.
    fn neighbour(&self, mx: usize, my: usize, dx: isize, dy: isize) -> Option<&Mb> {
        let (x, y) = (mx.checked_add_signed(dx)?, my.checked_add_signed(dy)?);
        (x < self.width).then(|| &self.mbs[y * self.width + x])
    }

    /// Appends the levels and remembers the macroblock.
    fn write_residual(&mut self, mx: usize, my: usize, mut mb: Mb, residual: &Residual, whole_intra: bool) {
        let mut bits = std::mem::take(&mut self.bits);
        let (left, above) = (self.neighbour(mx, my, -1, 0), self.neighbour(mx, my, 0, -1));
        // nC (9.2.1): the rounded mean of the two neighbouring blocks' counts, or the one there is.
        let mean = |a: Option<u8>, b: Option<u8>| match (a, b) {
            (Some(a), Some(b)) => (a + b).div_ceil(2),
            (a, b) => a.or(b).unwrap_or(0),
        };
        let own = &residual.luma_count;
        let luma = |block: usize| {
            let a =
                if block.is_multiple_of(4) { left.map(|mb| mb.luma_count[block + 3]) } else { Some(own[block - 1]) };
            let b = if block > 3 { Some(own[block - 4]) } else { above.map(|mb| mb.luma_count[block + 12]) };
            mean(a, b)
        };
        if whole_intra {
            residual.write_intra_luma(&mut bits, luma);
        } else {
            residual.write_luma(&mut bits, luma);
        }
        let own = &residual.chroma_count;
        residual.write_chroma(&mut bits, |c, block| {
            let a = if block % 2 != 0 { Some(own[c][block - 1]) } else { left.map(|mb| mb.chroma_count[c][block + 1]) };
            let b = if block > 1 { Some(own[c][block - 2]) } else { above.map(|mb| mb.chroma_count[c][block + 2]) };
            mean(a, b)
        });
        self.bits = bits;
        mb.luma_count = residual.luma_count;
        mb.chroma_count = residual.chroma_count;
        self.mbs[my * self.width + mx] = mb;
    }
}
