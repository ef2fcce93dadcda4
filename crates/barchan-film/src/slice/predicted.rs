//! Macroblocks predicted from the picture before.

use super::super::bits::ue_length;
use super::super::cavlc::PATTERN_INTER;
use super::super::inter::{Aim, Reference, Vector};
use super::super::intra::DC_4X4;
use super::super::residual::Residual;
use super::{Mb, Slice, Source};

/// Cost above which a skip is not even tried, in bits: nothing of the residual survives far below it.
const SKIP_BITS: u32 = 400;
/// Cost above which four vectors are tried, in bits: what their side information takes at least.
const SPLIT_BITS: u32 = 60;
/// Cost above which intra prediction is tried in a P picture, in bits.
const INTRA_BITS: u32 = 100;

/// Motion of a neighbour: not in this slice, intra-coded, or known.
type Neighbour = Option<Option<Vector>>;

impl Slice<'_> {
    pub(super) fn predicted_macroblock(&mut self, mx: usize, my: usize, source: &Source, reference: &Reference) {
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
                let (vector, part_cost) = reference.search::<8>(&aim, &near);
                split[part] = vector;
                split_cost += part_cost;
                if split_cost >= cost {
                    break;
                }
            }
            if split_cost < cost {
                (motion, cost) = (split, split_cost);
            }
        }

        if cost > self.rate(INTRA_BITS)
            && let Some(intra) = self.choose_intra(mx, my, source, cost)
        {
            return self.write_intra(mx, my, source, intra);
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
}
