//! Eight numbers per pair of materials: all a contact kernel needs to know of them.

use super::restitution::Impact;
use super::{ContactLaw, NormalLaw, TangentialLaw};
use crate::materials::Materials;
use crate::math;
use crate::simd::Real;
use std::f64::consts::PI;

/// Where in a [`PairRow`] each number stands.
pub mod slot {
    /// Normal stiffness: k [N/m], κ [1/s²], 4/3 E* [Pa] or k [N/m^{3/2}], as the law has it.
    pub const NORMAL: usize = 0;
    /// Normal damping: 2β, 2√(5/6) β √(2E*) [√Pa], A [s], γ [1/s] or c [N s/m].
    pub const DAMPING: usize = 1;
    /// Tangential stiffness: 8 G* [Pa], or kₜ/kₙ.
    pub const TANGENTIAL: usize = 2;
    /// Tangential damping: a damping ratio's factor (2β, 2√(5/6) β), that times √(8G*) [√Pa] for Mindlin's spring, or γ
    /// [N s/m] of the viscous law and of a given dashpot.
    pub const DAMPING_T: usize = 3;
    /// Coefficient of friction.
    pub const FRICTION: usize = 4;
    /// Coefficient of rolling resistance.
    pub const ROLLING: usize = 5;
    /// Coefficient of twisting resistance.
    pub const TWISTING: usize = 6;
    /// Pull-off force over effective radius: 4πγ [N/m].
    pub const COHESION: usize = 7;
}

/// One row of the table, aligned for a vector load.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct PairRow<R>(pub [R; 8]);

/// Rows for all pairs of materials.
#[derive(Clone, Debug)]
pub struct PairTable<R> {
    rows: Vec<PairRow<R>>,
    materials: usize,
}

impl<R: Real> PairTable<R> {
    /// Computes all rows. Inverts the restitution of each distinct pair, a few milliseconds each.
    pub fn new(law: &ContactLaw, materials: &Materials) -> PairTable<R> {
        let n = materials.len();
        let mut inverted: Vec<(f64, f64)> = Vec::new();
        let mut beta = |impact: Impact, e: f64| match inverted.iter().find(|x| x.0 == e) {
            Some(x) => x.1,
            None => {
                let found = impact.damping_ratio(e);
                inverted.push((e, found));
                found
            }
        };
        let mut rows = vec![PairRow([R::of(0.0); 8]); n * n];
        for a in 0..n {
            for b in 0..=a {
                let row = PairRow(row(law, materials, a as u16, b as u16, &mut beta).map(R::of));
                rows[a * n + b] = row;
                rows[b * n + a] = row;
            }
        }
        PairTable { rows, materials: n }
    }

    /// Row of materials `a` and `b`.
    #[inline(always)]
    pub fn row(&self, a: u32, b: u32) -> &PairRow<R> {
        &self.rows[a as usize * self.materials + b as usize]
    }

    /// All rows, `a`'s first: row of (a, b) at `a · materials + b`.
    pub fn rows(&self) -> &[PairRow<R>] {
        &self.rows
    }

    /// Number of materials.
    pub fn materials(&self) -> usize {
        self.materials
    }
}

fn row(law: &ContactLaw, materials: &Materials, a: u16, b: u16, beta: &mut impl FnMut(Impact, f64) -> f64) -> [f64; 8] {
    let pair = materials.pair(a, b);
    let mut row = [0.0; 8];
    let hertz = 4.0 / 3.0 * pair.young;
    let tsuji = 2.0 * (5.0f64 / 6.0).sqrt();
    // Where the damping is not made from a restitution, the tangential dashpot still is.
    (row[slot::NORMAL], row[slot::DAMPING], row[slot::DAMPING_T]) = match law.normal {
        NormalLaw::Linear { stiffness } => {
            let c = 2.0 * beta(Impact::Linear, pair.restitution);
            (stiffness, c, c)
        }
        NormalLaw::Dashpot { stiffness, damping } => {
            // The restitution is that of the dashpot; where the tangential one is not given it has the same damping ratio as the
            // material's restitution asks for.
            (stiffness, damping, 2.0 * beta(Impact::Linear, pair.restitution))
        }
        NormalLaw::LinearTime { contact_time } => {
            let b = beta(Impact::Linear, pair.restitution);
            (rate_for_contact_time(contact_time, b), 2.0 * b, 2.0 * b)
        }
        NormalLaw::Hertz => {
            let c = tsuji * beta(Impact::Hertz, pair.restitution);
            (hertz, c * (2.0 * pair.young).sqrt(), c)
        }
        NormalLaw::KuwabaraKono { dissipation } => (hertz, dissipation, tsuji * beta(Impact::Hertz, pair.restitution)),
        NormalLaw::LeeHerrmann { stiffness, damping } => {
            (stiffness, damping, tsuji * beta(Impact::Hertz, pair.restitution))
        }
    };
    row[slot::TANGENTIAL] = match law.tangential {
        TangentialLaw::Mindlin | TangentialLaw::MindlinDisplacement => {
            row[slot::DAMPING_T] *= (8.0 * pair.shear).sqrt();
            8.0 * pair.shear
        }
        TangentialLaw::CundallStrack { ratio } => ratio,
        TangentialLaw::Dashpot { ratio, damping } => {
            row[slot::DAMPING_T] = damping;
            ratio
        }
        TangentialLaw::Viscous { damping } => {
            row[slot::DAMPING_T] = damping;
            0.0
        }
    };
    row[slot::FRICTION] = pair.friction;
    row[slot::ROLLING] = pair.rolling;
    row[slot::TWISTING] = pair.twisting;
    row[slot::COHESION] = 4.0 * PI * pair.cohesion;
    row
}

/// κ = k/m* [1/s²] for which a damped impact, cut off where its force is gone, lasts `time` [s]: the time of the closed
/// form of Schwager and Pöschel 2007 below and above critical damping.
pub(super) fn rate_for_contact_time(time: f64, beta: f64) -> f64 {
    let swing = (1.0 - beta * beta).abs().sqrt();
    let phase = if swing < 1e-6 {
        2.0
    } else if beta < 1.0 {
        math::atan2(2.0 * beta * swing, 2.0 * beta * beta - 1.0) / swing
    } else {
        math::ln((beta + swing) / (beta - swing)) / swing
    };
    (phase / time).powi(2)
}
