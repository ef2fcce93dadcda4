//! Macroblocks predicted within their own picture.

use super::super::bits::ue_length;
use super::super::cavlc::PATTERN_INTRA;
use super::super::inter::satd;
use super::super::intra::{DC_4X4, Edge, Edge4, MODES_4X4, Whole};
use super::super::residual::{BLOCK_ORDER, Residual};
use super::{Mb, Slice, Source};

/// A macroblock's intra prediction.
pub(super) struct Intra {
    /// Intra_4x4: modes in raster order; none if it is Intra_16x16.
    small: Option<[u8; 16]>,
    /// Levels of Intra_4x4, coded on the way, for each block is predicted from those before it.
    residual: Residual,
    /// Intra_16x16: the mode and the predicted samples.
    mode: Whole,
    samples: [u8; 256],
}

impl Slice<'_> {
    /// The best prediction of the whole macroblock's luma: mode, cost, samples.
    fn best_whole(&self, mx: usize, my: usize, source: &Source) -> (Whole, u32, [u8; 256]) {
        let at = my * 16 * self.band.stride + mx * 16;
        let edge = Edge::<16>::read(self.band.y, self.band.stride, at, mx > 0, my > 0);
        let mut best = (Whole::Mean, u32::MAX, [0; 256]);
        for mode in Whole::ALL {
            let mut samples = [0; 256];
            if edge.predict(mode, &mut samples) {
                let cost = satd::<16>(&source.luma, &samples);
                if cost < best.1 {
                    best = (mode, cost, samples);
                }
            }
        }
        best
    }

    /// The better kind of intra prediction, if it costs less than `limit`. The band's luma is then in disorder.
    pub(super) fn choose_intra(&mut self, mx: usize, my: usize, source: &Source, limit: u32) -> Option<Intra> {
        let (mode, cost, samples) = self.best_whole(mx, my, source);
        // Blocks of 4×4 seldom do twice as well as the whole.
        if cost / 2 >= limit {
            return None;
        }
        let mut residual = Residual::default();
        let small = self.small_blocks(mx, my, source, cost.min(limit), &mut residual);
        (small.is_some() || cost < limit).then_some(Intra { small, residual, mode, samples })
    }

    pub(super) fn write_intra(&mut self, mx: usize, my: usize, source: &Source, intra: Intra) {
        let Intra { small, mut residual, mode, mut samples } = intra;
        if small.is_none() {
            residual = Residual::default();
            residual.intra_luma(&source.luma, &mut samples, &self.intra);
            self.store_luma(mx, my, &samples);
        }
        let (chroma_mode, mut chroma) = self.best_chroma(mx, my, source);
        residual.chroma(&source.chroma, &mut chroma, &self.intra_chroma);
        self.store_chroma(mx, my, &chroma);

        let shift = if self.job.reference.is_some() {
            self.bits.ue(std::mem::take(&mut self.skipped));
            5 // mb_type of intra macroblocks in P slices (Table 7-13)
        } else {
            0
        };
        let (luma_pattern, chroma_pattern) = (residual.luma_pattern(), residual.chroma_pattern());
        let mut mb = Mb { modes: [DC_4X4; 16], ..Mb::default() };
        match small {
            Some(modes) => {
                self.bits.ue(shift); // I_NxN (Table 7-11)
                mb.modes = modes;
                for block in BLOCK_ORDER {
                    let predicted = self.predict_mode(mx, my, block, &modes);
                    let mode = modes[block];
                    if mode == predicted {
                        self.bits.put(1, 1);
                    } else {
                        self.bits.put(4, u32::from(mode - u8::from(mode > predicted)));
                    }
                }
                self.bits.ue(chroma_mode.chroma_number());
                let pattern = luma_pattern | chroma_pattern << 4;
                self.bits.ue(PATTERN_INTRA[pattern as usize].into());
                if pattern != 0 {
                    self.bits.se(0); // mb_qp_delta
                }
            }
            None => {
                // Table 7-11: I_16x16_<mode>_<chroma>_<luma>.
                let coded = u32::from(luma_pattern != 0);
                self.bits.ue(shift + 1 + mode.luma_number() + 4 * u32::from(chroma_pattern) + 12 * coded);
                self.bits.ue(chroma_mode.chroma_number());
                self.bits.se(0); // mb_qp_delta
            }
        }
        self.write_residual(mx, my, mb, &residual, small.is_none());
    }

    /// Predicts and codes the 4×4 blocks one after the other; gives up, with the band's samples in disorder, when the
    /// cost passes `limit`.
    fn small_blocks(
        &mut self,
        mx: usize,
        my: usize,
        source: &Source,
        limit: u32,
        residual: &mut Residual,
    ) -> Option<[u8; 16]> {
        let stride = self.band.stride;
        let mut modes = [DC_4X4; 16];
        let mut cost = 0;
        for (order, block) in BLOCK_ORDER.into_iter().enumerate() {
            let (bx, by) = (block % 4, block / 4);
            let at = (my * 16 + by * 4) * stride + mx * 16 + bx * 4;
            // Above and to the right: in the row above the macroblock, or a block coded before this one (6.4.11.4).
            let above_right = match (bx, by) {
                (3, 0) => my > 0 && mx + 1 < self.width,
                (_, 0) => my > 0,
                (3, _) => false,
                _ => BLOCK_ORDER[..order].contains(&(block - 3)),
            };
            let edge = Edge4::read(self.band.y, stride, at, mx + bx > 0, my + by > 0, above_right);
            let block_source: [u8; 16] = std::array::from_fn(|i| source.luma[(by * 4 + i / 4) * 16 + bx * 4 + i % 4]);
            let predicted = self.predict_mode(mx, my, block, &modes);
            let mut best = (DC_4X4, u32::MAX, [0; 16]);
            for mode in (0..MODES_4X4).filter(|m| edge.allows(*m)) {
                let samples = edge.predict(mode);
                let cost = satd4(&block_source, &samples) + self.rate(if mode == predicted { 1 } else { 4 });
                if cost < best.1 {
                    best = (mode, cost, samples);
                }
            }
            let (mode, least, mut samples) = best;
            cost += least;
            if cost > limit {
                return None;
            }
            modes[block] = mode;
            residual.intra_block(block, &block_source, &mut samples, &self.intra);
            for (row, samples) in samples.chunks_exact(4).enumerate() {
                self.band.y[at + row * stride..][..4].copy_from_slice(samples);
            }
        }
        Some(modes)
    }

    /// predIntra4x4PredMode (8.3.1.1).
    fn predict_mode(&self, mx: usize, my: usize, block: usize, own: &[u8; 16]) -> u8 {
        let left = if block.is_multiple_of(4) {
            self.neighbour(mx, my, -1, 0).map(|mb| mb.modes[block + 3])
        } else {
            Some(own[block - 1])
        };
        let above =
            if block > 3 { Some(own[block - 4]) } else { self.neighbour(mx, my, 0, -1).map(|mb| mb.modes[block + 12]) };
        left.zip(above).map_or(DC_4X4, |(a, b)| a.min(b))
    }

    fn best_chroma(&self, mx: usize, my: usize, source: &Source) -> (Whole, [[u8; 64]; 2]) {
        let stride = self.band.stride / 2;
        let at = my * 8 * stride + mx * 8;
        let edges = [0, 1].map(|c| Edge::<8>::read(self.band.chroma[c], stride, at, mx > 0, my > 0));
        let mut best = (Whole::Mean, u32::MAX, [[0; 64]; 2]);
        for mode in Whole::ALL {
            let mut samples = [[0; 64]; 2];
            if edges.iter().zip(&mut samples).all(|(edge, out)| edge.predict(mode, out)) {
                let pairs = samples.iter().flatten().zip(source.chroma.iter().flatten());
                let sad: u32 = pairs.map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
                let cost = sad + self.rate(ue_length(mode.chroma_number()));
                if cost < best.1 {
                    best = (mode, cost, samples);
                }
            }
        }
        (best.0, best.2)
    }
}

/// [`satd`] of one 4×4 block, four samples a row.
fn satd4(a: &[u8; 16], b: &[u8; 16]) -> u32 {
    let mut d = [0i16; 16];
    for i in 0..16 {
        d[i] = i16::from(a[i]) - i16::from(b[i]);
    }
    let mut sum = 0;
    let mut rows = [[0i16; 4]; 4];
    for i in 0..4 {
        let (s, t) = (d[i] + d[i + 4], d[i] - d[i + 4]);
        let (u, v) = (d[i + 8] + d[i + 12], d[i + 8] - d[i + 12]);
        (rows[0][i], rows[1][i], rows[2][i], rows[3][i]) = (s + u, t + v, s - u, t - v);
    }
    for [p, q, r, s] in rows {
        // The last step as in `satd`.
        sum += (p + q).unsigned_abs().max((r + s).unsigned_abs()) + (p - q).unsigned_abs().max((r - s).unsigned_abs());
    }
    sum.into()
}
