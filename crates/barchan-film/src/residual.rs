//! What prediction leaves of a macroblock: transformed, quantised and put back (ITU-T H.264, 8.5), and its place in
//! the stream (7.3.5.3).

use crate::bits::BitWriter;
use crate::cavlc::{Context, write_block};
use crate::transform::{Block, Quantiser, forward, inverse};

/// Raster place of the 4×4 luma blocks in coding order (Figure 6-10).
pub const BLOCK_ORDER: [usize; 16] = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];

/// Levels of one macroblock, blocks in raster order, levels in scan order.
#[derive(Default)]
pub struct Residual {
    luma: [Block; 16],
    /// Levels that are not zero in each luma block, without the DC of Intra_16x16.
    pub luma_count: [u8; 16],
    luma_dc: Block,
    chroma: [[Block; 4]; 2],
    /// The same for chroma, without its DC.
    pub chroma_count: [[u8; 4]; 2],
    chroma_dc: [[i16; 4]; 2],
}

/// Differences of the 4×4 block at (`x`, `y`) of two arrays with `stride` samples a row.
#[inline]
fn difference(source: &[u8], predicted: &[u8], stride: usize, x: usize, y: usize) -> Block {
    let mut out = [0; 16];
    for row in 0..4 {
        let at = (y + row) * stride + x;
        let (s, p) = (&source[at..at + 4], &predicted[at..at + 4]);
        for i in 0..4 {
            out[row * 4 + i] = i16::from(s[i]) - i16::from(p[i]);
        }
    }
    out
}

/// Adds scaled coefficients, transformed back, to a prediction (8.5.14).
#[inline]
fn restore(samples: &mut [u8], stride: usize, x: usize, y: usize, scaled: &Block) {
    let d = inverse(scaled);
    for row in 0..4 {
        let out = &mut samples[(y + row) * stride + x..][..4];
        for i in 0..4 {
            out[i] = (i16::from(out[i]) + d[row * 4 + i]).clamp(0, 255) as u8;
        }
    }
}

impl Residual {
    /// Luma of an inter macroblock; `samples` holds the prediction and then what a decoder will have.
    pub fn inter_luma(&mut self, source: &[u8; 256], samples: &mut [u8; 256], quantiser: &Quantiser) {
        for eighth in 0..4 {
            let blocks = &BLOCK_ORDER[4 * eighth..4 * eighth + 4];
            let mut worth = 0;
            for &block in blocks {
                let d = difference(source, samples, 16, block % 4 * 4, block / 4 * 4);
                self.luma_count[block] = quantiser.quantise(&forward(&d), &mut self.luma[block]);
                worth += if self.luma_count[block] == 0 { 0 } else { self.worth(block) };
            }
            for &block in blocks {
                if worth < LEAST_WORTH {
                    self.luma_count[block] = 0;
                    self.luma[block] = [0; 16];
                } else if self.luma_count[block] > 0 {
                    restore(samples, 16, block % 4 * 4, block / 4 * 4, &quantiser.scale(&self.luma[block]));
                }
            }
        }
    }

    /// What a block's levels are worth sending: a lone ±1 far up the scan is little but noise, yet costs a token for
    /// its whole 8×8 block. Anything above ±1 is always worth it.
    fn worth(&self, block: usize) -> u32 {
        let mut worth = 0;
        for (place, level) in self.luma[block].iter().enumerate() {
            worth += match level.abs() {
                0 => 0,
                1 => [3, 2, 2, 1, 1, 1].get(place).copied().unwrap_or(0),
                _ => LEAST_WORTH,
            };
        }
        worth
    }

    /// One 4×4 block of Intra_4x4; `samples`, 4 a row, holds the prediction and then the decoded block.
    pub fn intra_block(&mut self, block: usize, source: &[u8; 16], samples: &mut [u8; 16], quantiser: &Quantiser) {
        let d = difference(source, samples, 4, 0, 0);
        self.luma_count[block] = quantiser.quantise(&forward(&d), &mut self.luma[block]);
        if self.luma_count[block] > 0 {
            restore(samples, 4, 0, 0, &quantiser.scale(&self.luma[block]));
        }
    }

    /// Luma of an Intra_16x16 macroblock, whose DC coefficients are transformed once more (8.5.2).
    pub fn intra_luma(&mut self, source: &[u8; 256], samples: &mut [u8; 256], quantiser: &Quantiser) {
        let mut dc = [0; 16];
        for block in 0..16 {
            let mut f = forward(&difference(source, samples, 16, block % 4 * 4, block / 4 * 4));
            dc[block] = i32::from(std::mem::take(&mut f[0]));
            self.luma_count[block] = quantiser.quantise(&f, &mut self.luma[block]);
        }
        let (levels, scaled_dc) = quantiser.luma_dc(&dc);
        self.luma_dc = levels;
        for block in 0..16 {
            let mut scaled = quantiser.scale(&self.luma[block]);
            scaled[0] = scaled_dc[block];
            if scaled != [0; 16] {
                restore(samples, 16, block % 4 * 4, block / 4 * 4, &scaled);
            }
        }
    }

    /// Both chroma planes (8.5.4).
    pub fn chroma(&mut self, source: &[[u8; 64]; 2], samples: &mut [[u8; 64]; 2], quantiser: &Quantiser) {
        for plane in 0..2 {
            let mut dc = [0; 4];
            for block in 0..4 {
                let (x, y) = (block % 2 * 4, block / 2 * 4);
                let mut f = forward(&difference(&source[plane], &samples[plane], 8, x, y));
                dc[block] = i32::from(std::mem::take(&mut f[0]));
                self.chroma_count[plane][block] = quantiser.quantise(&f, &mut self.chroma[plane][block]);
            }
            let (levels, scaled_dc) = quantiser.chroma_dc(dc);
            self.chroma_dc[plane] = levels;
            for block in 0..4 {
                let mut scaled = quantiser.scale(&self.chroma[plane][block]);
                scaled[0] = scaled_dc[block];
                if scaled != [0; 16] {
                    restore(&mut samples[plane], 8, block % 2 * 4, block / 2 * 4, &scaled);
                }
            }
        }
    }

    /// CodedBlockPatternLuma: a bit for each 8×8 block that has levels.
    pub fn luma_pattern(&self) -> u8 {
        let coded = |eighth: usize| BLOCK_ORDER[4 * eighth..][..4].iter().any(|&b| self.luma_count[b] > 0);
        (0..4).map(|eighth| u8::from(coded(eighth)) << eighth).sum()
    }

    /// CodedBlockPatternChroma: 0 nothing, 1 DC, 2 DC and the rest.
    pub fn chroma_pattern(&self) -> u8 {
        if self.chroma_count != [[0; 4]; 2] { 2 } else { u8::from(self.chroma_dc != [[0; 4]; 2]) }
    }

    /// Luma blocks of an inter or Intra_4x4 macroblock; `context` gives nC of a block.
    pub fn write_luma(&self, bits: &mut BitWriter, context: impl Fn(usize) -> u8) {
        let pattern = self.luma_pattern();
        for (i, &block) in BLOCK_ORDER.iter().enumerate() {
            if pattern >> (i / 4) & 1 == 1 {
                write_block(bits, &self.luma[block], Context::Neighbours(context(block)));
            }
        }
    }

    /// Luma blocks of an Intra_16x16 macroblock.
    pub fn write_intra_luma(&self, bits: &mut BitWriter, context: impl Fn(usize) -> u8) {
        write_block(bits, &self.luma_dc, Context::Neighbours(context(0)));
        if self.luma_pattern() != 0 {
            for block in BLOCK_ORDER {
                write_block(bits, &self.luma[block][1..], Context::Neighbours(context(block)));
            }
        }
    }

    /// Chroma blocks; `context` gives nC of a plane's block.
    pub fn write_chroma(&self, bits: &mut BitWriter, context: impl Fn(usize, usize) -> u8) {
        let pattern = self.chroma_pattern();
        if pattern > 0 {
            for dc in &self.chroma_dc {
                write_block(bits, dc, Context::ChromaDc);
            }
        }
        if pattern > 1 {
            for plane in 0..2 {
                for block in 0..4 {
                    let levels = &self.chroma[plane][block][1..];
                    write_block(bits, levels, Context::Neighbours(context(plane, block)));
                }
            }
        }
    }
}

/// Below this, an 8×8 block of inter prediction is sent without levels.
const LEAST_WORTH: u32 = 4;
