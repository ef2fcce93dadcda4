//! The macroblocks of one slice: how each is predicted, and its code (ITU-T H.264, 7.3.4 and 7.3.5).
//!
//! A choice is the least of D + λ R: D the Hadamard-transformed difference of source and prediction, R the bits of the
//! side information [Wiegand, Sullivan, Bjøntegaard & Luthra 2003].

use super::bits::{BitWriter, ue_length};
use super::cavlc::{PATTERN_INTER, PATTERN_INTRA};
use super::colour::Picture;
use super::inter::{Aim, LAMBDA_SHIFT, Reference, Vector, satd};
use super::intra::{DC_4X4, Edge, Edge4, MODES_4X4, Whole};
use super::residual::{BLOCK_ORDER, Residual};
use super::transform::{Quantiser, chroma_qp};

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
    /// Intra_4x4 modes, raster order; [`DC_4X4`] for other macroblocks.
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

/// Motion of a neighbour: not in this slice, intra-coded, or known.
type Neighbour = Option<Option<Vector>>;

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

/// A macroblock's intra prediction.
enum Intra {
    /// Intra_4x4: modes in raster order, and the levels, for each block is predicted from those before it.
    Small([u8; 16], Residual),
    /// Intra_16x16: the mode and the predicted samples.
    Whole(Whole, [u8; 256]),
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

    // ---- Inter ----

    fn predicted_macroblock(&mut self, mx: usize, my: usize, source: &Source, reference: &Reference) {
        let range = reference.range(mx, my);
        let inside = |v: &Vector| (range[0].x..=range[1].x).contains(&v.x) && (range[0].y..=range[1].y).contains(&v.y);
        let predicted = self.predict_vector(mx, my, None, &[Vector::default(); 4]);
        let still = self.skip_vector(mx, my, predicted);
        if inside(&still) && self.try_skip(mx, my, source, reference, still) {
            return;
        }

        let (x, y) = (16 * mx, 16 * (self.first + my));
        let aim = Aim { source: &source.luma, x, y, predicted, range, lambda: self.lambda };
        let before = self.job.before.get((self.first + my) * self.width + mx);
        let starts: Vec<Vector> = [predicted, still]
            .into_iter()
            .chain([(-1, 0), (0, -1), (1, -1)].into_iter().filter_map(|(dx, dy)| {
                self.neighbour(mx, my, dx, dy).filter(|mb| mb.inter).map(|mb| mb.motion[if dy < 0 { 2 } else { 1 }])
            }))
            .chain(before.filter(|mb| mb.inter).map(|mb| mb.motion[3]))
            .filter(inside)
            .collect();
        let (whole, whole_cost) = reference.search::<16>(&aim, &starts);
        let (mut motion, mut cost) = ([whole; 4], whole_cost + self.rate(1));

        // Four vectors of their own, where one leaves enough to win.
        if cost > self.rate(SPLIT_BITS) {
            let mut split = [whole; 4];
            let mut split_cost = self.rate(ue_length(3) + 4);
            for part in 0..4 {
                let (dx, dy) = (part % 2 * 8, part / 2 * 8);
                let aim = Aim {
                    source: &source.luma[dy * 16 + dx..],
                    x: x + dx,
                    y: y + dy,
                    predicted: self.predict_vector(mx, my, Some(part), &split),
                    ..aim
                };
                let mut near = vec![whole, aim.predicted];
                near.extend_from_slice(&split[..part]);
                near.extend(before.filter(|mb| mb.inter).map(|mb| mb.motion[part]));
                near.retain(inside);
                let (vector, cost) = reference.search::<8>(&aim, &near);
                split[part] = vector;
                split_cost += cost;
                if split_cost >= cost.saturating_add(whole_cost) {
                    break;
                }
            }
            if split_cost < cost {
                (motion, cost) = (split, split_cost);
            }
        }

        if cost > self.rate(INTRA_BITS) {
            if let Some(intra) = self.choose_intra(mx, my, source, cost) {
                return self.write_intra(mx, my, source, intra);
            }
        }
        self.write_inter(mx, my, source, reference, motion, still);
    }

    fn motion_of(mb: Option<&Mb>, part: usize) -> Neighbour {
        mb.map(|mb| mb.inter.then(|| mb.motion[part]))
    }

    /// The vector that the code of one is relative to (8.4.1.3), for the whole macroblock or one of its quarters;
    /// `own` holds the quarters before it.
    fn predict_vector(&self, mx: usize, my: usize, part: Option<usize>, own: &[Vector; 4]) -> Vector {
        let of = |dx, dy, part| Self::motion_of(self.neighbour(mx, my, dx, dy), part);
        let own = |part: usize| Some(Some(own[part]));
        let (a, b, c) = match part {
            None => (of(-1, 0, 1), of(0, -1, 2), of(1, -1, 2).or(of(-1, -1, 3))),
            Some(0) => (of(-1, 0, 1), of(0, -1, 2), of(0, -1, 3).or(of(-1, -1, 3))),
            Some(1) => (own(0), of(0, -1, 3), of(1, -1, 2).or(of(0, -1, 2))),
            Some(2) => (of(-1, 0, 3), own(0), own(1)),
            Some(_) => (own(2), own(1), own(0)),
        };
        if b.is_none() && c.is_none() {
            return a.flatten().unwrap_or_default();
        }
        let known = [a, b, c].map(Option::flatten);
        if let [Some(only), None, None] | [None, Some(only), None] | [None, None, Some(only)] = known {
            return only;
        }
        let [a, b, c] = known.map(Option::unwrap_or_default);
        let middle = |a: i16, b: i16, c: i16| a.max(b).min(a.min(b).max(c));
        Vector { x: middle(a.x, b.x, c.x), y: middle(a.y, b.y, c.y) }
    }

    /// The vector of a skipped macroblock (8.4.1.1).
    fn skip_vector(&self, mx: usize, my: usize, predicted: Vector) -> Vector {
        let left = Self::motion_of(self.neighbour(mx, my, -1, 0), 1);
        let above = Self::motion_of(self.neighbour(mx, my, 0, -1), 2);
        let still = Some(Some(Vector::default()));
        if left.is_none() || above.is_none() || left == still || above == still { Vector::default() } else { predicted }
    }

    /// Skips the macroblock if nothing of its residual would survive.
    fn try_skip(&mut self, mx: usize, my: usize, source: &Source, reference: &Reference, still: Vector) -> bool {
        let mut luma = [0; 256];
        reference.luma::<16>(16 * mx, 16 * (self.first + my), still, &mut luma);
        let sad: u32 = source.luma.iter().zip(&luma).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        if sad > self.rate(SKIP_BITS) {
            return false;
        }
        let mut residual = Residual::default();
        residual.inter_luma(&source.luma, &mut luma, &self.inter);
        if residual.luma_pattern() != 0 {
            return false;
        }
        let mut chroma = self.predict_chroma(mx, my, reference, &[still; 4]);
        residual.chroma(&source.chroma, &mut chroma, &self.inter_chroma);
        if residual.chroma_pattern() != 0 {
            return false;
        }
        self.skip(mx, my, &luma, &chroma, still);
        true
    }

    fn skip(&mut self, mx: usize, my: usize, luma: &[u8; 256], chroma: &[[u8; 64]; 2], still: Vector) {
        self.store_luma(mx, my, luma);
        self.store_chroma(mx, my, chroma);
        self.skipped += 1;
        self.mbs[my * self.width + mx] = Mb { inter: true, motion: [still; 4], modes: [DC_4X4; 16], ..Mb::default() };
    }

    fn predict_chroma(&self, mx: usize, my: usize, reference: &Reference, motion: &[Vector; 4]) -> [[u8; 64]; 2] {
        let (x, y) = (8 * mx, 8 * (self.first + my));
        let mut out = [[0; 64]; 2];
        for (c, out) in out.iter_mut().enumerate() {
            if motion[1..].iter().all(|v| *v == motion[0]) {
                reference.chroma::<8>(c, x, y, motion[0], out);
            } else {
                for (part, v) in motion.iter().enumerate() {
                    let (dx, dy) = (part % 2 * 4, part / 2 * 4);
                    reference.chroma::<4>(c, x + dx, y + dy, *v, &mut out[dy * 8 + dx..]);
                }
            }
        }
        out
    }

    fn write_inter(
        &mut self,
        mx: usize,
        my: usize,
        source: &Source,
        reference: &Reference,
        motion: [Vector; 4],
        still: Vector,
    ) {
        let (x, y) = (16 * mx, 16 * (self.first + my));
        let whole = motion[1..].iter().all(|v| *v == motion[0]);
        let mut luma = [0; 256];
        if whole {
            reference.luma::<16>(x, y, motion[0], &mut luma);
        } else {
            for (part, v) in motion.iter().enumerate() {
                let (dx, dy) = (part % 2 * 8, part / 2 * 8);
                reference.luma::<8>(x + dx, y + dy, *v, &mut luma[dy * 16 + dx..]);
            }
        }
        let mut residual = Residual::default();
        residual.inter_luma(&source.luma, &mut luma, &self.inter);
        let mut chroma = self.predict_chroma(mx, my, reference, &motion);
        residual.chroma(&source.chroma, &mut chroma, &self.inter_chroma);
        let pattern = residual.luma_pattern() | residual.chroma_pattern() << 4;
        if whole && motion[0] == still && pattern == 0 {
            return self.skip(mx, my, &luma, &chroma, still);
        }
        self.store_luma(mx, my, &luma);
        self.store_chroma(mx, my, &chroma);

        self.bits.ue(std::mem::take(&mut self.skipped));
        let parts: &[Option<usize>] = if whole { &[None] } else { &[Some(0), Some(1), Some(2), Some(3)] };
        // mb_type (Table 7-13): 0 is P_L0_16x16, 3 is P_8x8; then sub_mb_type 0, P_L0_8x8 (Table 7-17).
        self.bits.ue(if whole { 0 } else { 3 });
        if !whole {
            self.bits.put(4, 0b1111);
        }
        for part in parts {
            let v = motion[part.unwrap_or(0)];
            let predicted = self.predict_vector(mx, my, *part, &motion);
            self.bits.se(i32::from(v.x - predicted.x));
            self.bits.se(i32::from(v.y - predicted.y));
        }
        self.bits.ue(PATTERN_INTER[pattern as usize].into());
        if pattern != 0 {
            self.bits.se(0); // mb_qp_delta
        }
        let mb = Mb { inter: true, motion, modes: [DC_4X4; 16], ..Mb::default() };
        self.write_residual(mx, my, mb, &residual, false);
    }

    // ---- Intra ----

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
    fn choose_intra(&mut self, mx: usize, my: usize, source: &Source, limit: u32) -> Option<Intra> {
        let (mode, cost, samples) = self.best_whole(mx, my, source);
        // Blocks of 4×4 seldom do twice as well as the whole.
        if cost / 2 >= limit {
            return None;
        }
        let mut residual = Residual::default();
        if let Some(modes) = self.small_blocks(mx, my, source, cost.min(limit), &mut residual) {
            return Some(Intra::Small(modes, residual));
        }
        (cost < limit).then_some(Intra::Whole(mode, samples))
    }

    fn write_intra(&mut self, mx: usize, my: usize, source: &Source, intra: Intra) {
        let (kind, mut residual) = match intra {
            Intra::Small(modes, residual) => (Ok(modes), residual),
            Intra::Whole(mode, mut samples) => {
                let mut residual = Residual::default();
                residual.intra_luma(&source.luma, &mut samples, &self.intra);
                self.store_luma(mx, my, &samples);
                (Err(mode), residual)
            }
        };
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
        match kind {
            Ok(modes) => {
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
            Err(mode) => {
                // Table 7-11: I_16x16_<mode>_<chroma>_<luma>.
                let coded = u32::from(luma_pattern != 0);
                self.bits.ue(shift + 1 + mode.luma_number() + 4 * u32::from(chroma_pattern) + 12 * coded);
                self.bits.ue(chroma_mode.chroma_number());
                self.bits.se(0); // mb_qp_delta
            }
        }
        self.write_residual(mx, my, mb, &residual, kind.is_err());
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
        let left = if block % 4 > 0 {
            Some(own[block - 1])
        } else {
            self.neighbour(mx, my, -1, 0).map(|mb| mb.modes[block + 3])
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

    // ---- Both ----

    /// Appends the levels and remembers the macroblock.
    fn write_residual(&mut self, mx: usize, my: usize, mut mb: Mb, residual: &Residual, whole_intra: bool) {
        let mut bits = std::mem::take(&mut self.bits);
        let (left, above) = (self.neighbour(mx, my, -1, 0), self.neighbour(mx, my, 0, -1));
        // nC (9.2.1): the rounded mean of the two neighbouring blocks' counts, or the one there is.
        let mean = |a: Option<u8>, b: Option<u8>| match (a, b) {
            (Some(a), Some(b)) => (a + b + 1) / 2,
            (a, b) => a.or(b).unwrap_or(0),
        };
        let own = &residual.luma_count;
        let luma = |block: usize| {
            let a = if block % 4 > 0 { Some(own[block - 1]) } else { left.map(|mb| mb.luma_count[block + 3]) };
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
            let a = if block % 2 > 0 { Some(own[c][block - 1]) } else { left.map(|mb| mb.chroma_count[c][block + 1]) };
            let b = if block > 1 { Some(own[c][block - 2]) } else { above.map(|mb| mb.chroma_count[c][block + 2]) };
            mean(a, b)
        });
        self.bits = bits;
        mb.luma_count = residual.luma_count;
        mb.chroma_count = residual.chroma_count;
        self.mbs[my * self.width + mx] = mb;
    }
}

/// Cost above which a skip is not even tried, in bits: nothing of the residual survives far below it.
const SKIP_BITS: u32 = 400;
/// Cost above which four vectors are tried, in bits: what their side information takes at least.
const SPLIT_BITS: u32 = 60;
/// Cost above which intra prediction is tried in a P picture, in bits.
const INTRA_BITS: u32 = 100;

/// [`satd`] of one 4×4 block, four samples a row.
fn satd4(a: &[u8; 16], b: &[u8; 16]) -> u32 {
    let mut d: [i16; 16] = std::array::from_fn(|i| i16::from(a[i]) - i16::from(b[i]));
    for stride in [1, 2, 4, 8] {
        let mut out = [0; 16];
        for i in 0..16 {
            let partner = d[i ^ stride];
            out[i] = if i & stride == 0 { d[i] + partner } else { partner - d[i] };
        }
        d = out;
    }
    d.iter().map(|v| u32::from(v.unsigned_abs())).sum::<u32>() / 2
}
