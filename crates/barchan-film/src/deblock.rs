//! The deblocking filter in the prediction loop (ITU-T H.264, 8.7), over the macroblocks of one slice.
//!
//! Edges between slices are left alone (disable_deblocking_filter_idc 2), so that slices are filtered in parallel.

use crate::slice::{Band, Mb};
use crate::transform::chroma_qp;

/// Table 8-16: α′ by indexA, from 16 on; zero before.
const ALPHA: [u8; 36] = [
    4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127,
    144, 162, 182, 203, 226, 255, 255,
];

/// Table 8-16: β′ by indexB, from 16 on; zero before.
const BETA: [u8; 36] = [
    2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17,
    17, 18, 18,
];

/// Table 8-17: t′C0 by indexA, from 17 on, and bS 1 to 3; zero before.
const TC0: [[u8; 3]; 35] = [
    [0, 0, 1],
    [0, 0, 1],
    [0, 0, 1],
    [0, 0, 1],
    [0, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
    [1, 1, 1],
    [1, 1, 1],
    [1, 1, 1],
    [1, 1, 2],
    [1, 1, 2],
    [1, 1, 2],
    [1, 1, 2],
    [1, 2, 3],
    [1, 2, 3],
    [2, 2, 3],
    [2, 2, 4],
    [2, 3, 4],
    [2, 3, 4],
    [3, 3, 5],
    [3, 4, 6],
    [3, 4, 6],
    [4, 5, 7],
    [4, 5, 8],
    [4, 6, 9],
    [5, 7, 10],
    [6, 8, 11],
    [6, 8, 13],
    [7, 10, 14],
    [8, 11, 16],
    [9, 12, 18],
    [10, 13, 20],
    [11, 15, 23],
    [13, 17, 25],
];

/// Thresholds of one QP.
struct Thresholds {
    alpha: i32,
    beta: i32,
    tc0: [i32; 3],
}

impl Thresholds {
    fn new(qp: u8) -> Option<Self> {
        let at = usize::from(qp).checked_sub(16)?;
        let tc0 = at.checked_sub(1).map_or([0; 3], |at| TC0[at].map(i32::from));
        Some(Self { alpha: ALPHA[at].into(), beta: BETA[at].into(), tc0 })
    }
}

/// Filters a slice of `mbs` macroblocks, `width` in a row, all of one `qp`.
pub fn deblock(band: &mut Band, mbs: &[Mb], width: usize, qp: u8) {
    let luma = Thresholds::new(qp);
    let chroma = Thresholds::new(chroma_qp(qp));
    for (i, mb) in mbs.iter().enumerate() {
        let (mx, my) = (i % width, i / width);
        for vertical in [true, false] {
            for edge in 0..4 {
                let before = match (edge, vertical) {
                    (0, true) if mx > 0 => &mbs[i - 1],
                    (0, false) if my > 0 => &mbs[i - width],
                    (0, _) => continue,
                    _ => mb,
                };
                let strength = strengths(before, mb, edge, vertical);
                if strength == [0; 4] {
                    continue;
                }
                if let Some(t) = &luma {
                    let stride = band.stride;
                    let start = my * 16 * stride + mx * 16;
                    let (across, along) = if vertical { (1, stride) } else { (stride, 1) };
                    for k in 0..16 {
                        let at = start + 4 * edge * across + k * along;
                        filter_luma(band.y, at, across, strength[k / 4], t);
                    }
                }
                if let (Some(t), true) = (&chroma, edge % 2 == 0) {
                    let stride = band.stride / 2;
                    let start = my * 8 * stride + mx * 8;
                    let (across, along) = if vertical { (1, stride) } else { (stride, 1) };
                    for plane in &mut band.chroma {
                        for k in 0..8 {
                            let at = start + 2 * edge * across + k * along;
                            filter_chroma(plane, at, across, strength[k / 2], t);
                        }
                    }
                }
            }
        }
    }
}

/// bS of the four 4-sample pieces of an edge (8.7.2.1).
fn strengths(before: &Mb, mb: &Mb, edge: usize, vertical: bool) -> [u8; 4] {
    if mb.is_intra() || before.is_intra() {
        return [if edge == 0 { 4 } else { 3 }; 4];
    }
    std::array::from_fn(|k| {
        let here = if vertical { 4 * k + edge } else { 4 * edge + k };
        let there = match (edge, vertical) {
            (0, true) => 4 * k + 3,
            (0, false) => 12 + k,
            (_, true) => here - 1,
            (_, false) => here - 4,
        };
        if mb.luma_count[here] != 0 || before.luma_count[there] != 0 {
            return 2;
        }
        let (p, q) = (before.motion[quarter(there)], mb.motion[quarter(here)]);
        u8::from((p.x - q.x).abs() >= 4 || (p.y - q.y).abs() >= 4)
    })
}

/// The 8×8 quarter of a macroblock that holds a 4×4 block, both in raster order.
fn quarter(block: usize) -> usize {
    block / 8 * 2 + block % 4 / 2
}

/// One line across an edge of luma (8.7.2.2 to 8.7.2.4); `at` is q0.
#[inline]
fn filter_luma(plane: &mut [u8], at: usize, across: usize, strength: u8, t: &Thresholds) {
    if strength == 0 {
        return;
    }
    let window = &mut plane[at - 4 * across..][..7 * across + 1];
    let v = |i: usize| i32::from(window[i * across]);
    let (p2, p1, p0, q0, q1, q2) = (v(1), v(2), v(3), v(4), v(5), v(6));
    if (p0 - q0).abs() >= t.alpha || (p1 - p0).abs() >= t.beta || (q1 - q0).abs() >= t.beta {
        return;
    }
    let (smooth_p, smooth_q) = ((p2 - p0).abs() < t.beta, (q2 - q0).abs() < t.beta);
    if strength == 4 {
        let strong = (p0 - q0).abs() < (t.alpha >> 2) + 2;
        let (p3, q3) = (v(0), v(7));
        let mut set = |i: usize, value: i32| window[i * across] = value as u8;
        if strong && smooth_p {
            set(3, (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3);
            set(2, (p2 + p1 + p0 + q0 + 2) >> 2);
            set(1, (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3);
        } else {
            set(3, (2 * p1 + p0 + q1 + 2) >> 2);
        }
        if strong && smooth_q {
            set(4, (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3);
            set(5, (p0 + q0 + q1 + q2 + 2) >> 2);
            set(6, (2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3);
        } else {
            set(4, (2 * q1 + q0 + p1 + 2) >> 2);
        }
        return;
    }
    let tc0 = t.tc0[strength as usize - 1];
    let tc = tc0 + i32::from(smooth_p) + i32::from(smooth_q);
    let delta = ((((q0 - p0) << 2) + (p1 - q1) + 4) >> 3).clamp(-tc, tc);
    let mut set = |i: usize, value: i32| window[i * across] = value as u8;
    set(3, (p0 + delta).clamp(0, 255));
    set(4, (q0 - delta).clamp(0, 255));
    let middle = (p0 + q0 + 1) >> 1;
    if smooth_p {
        set(2, p1 + ((p2 + middle - 2 * p1) >> 1).clamp(-tc0, tc0));
    }
    if smooth_q {
        set(5, q1 + ((q2 + middle - 2 * q1) >> 1).clamp(-tc0, tc0));
    }
}

/// One line across an edge of chroma (8.7.2.3 and 8.7.2.4 with chromaStyleFilteringFlag 1); `at` is q0.
#[inline]
fn filter_chroma(plane: &mut [u8], at: usize, across: usize, strength: u8, t: &Thresholds) {
    if strength == 0 {
        return;
    }
    let window = &mut plane[at - 2 * across..][..3 * across + 1];
    let v = |i: usize| i32::from(window[i * across]);
    let (p1, p0, q0, q1) = (v(0), v(1), v(2), v(3));
    if (p0 - q0).abs() >= t.alpha || (p1 - p0).abs() >= t.beta || (q1 - q0).abs() >= t.beta {
        return;
    }
    let (p, q) = if strength == 4 {
        ((2 * p1 + p0 + q1 + 2) >> 2, (2 * q1 + q0 + p1 + 2) >> 2)
    } else {
        let tc = t.tc0[strength as usize - 1] + 1;
        let delta = ((((q0 - p0) << 2) + (p1 - q1) + 4) >> 3).clamp(-tc, tc);
        ((p0 + delta).clamp(0, 255), (q0 - delta).clamp(0, 255))
    };
    window[across] = p as u8;
    window[2 * across] = q as u8;
}
