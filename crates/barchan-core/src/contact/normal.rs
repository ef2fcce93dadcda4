//! The normal force of an overlapping pair.

use super::NormalLaw;
use super::rows::slot;
use crate::simd::Lanes;

/// What a normal law answers, per lane.
#[derive(Clone, Copy)]
pub struct Response<V> {
    /// Elastic repulsion [N].
    pub elastic: V,
    /// Damping coefficient [N s/m]; times the rate of approach it adds to the repulsion.
    pub damping: V,
    /// Stiffness dF/dξ of the elastic part [N/m].
    pub stiffness: V,
}

impl NormalLaw {
    /// The response at `overlap` [m], `patch` = √(R* ξ) [m], effective mass `mass` [kg].
    ///
    /// The law is the same for all lanes and all batches of a pass, so the branch is always foreseen; measured against
    /// one build of the kernel per law it costs nothing, and saves minutes of compilation.
    #[inline(always)]
    pub fn respond<V: Lanes>(&self, overlap: V, patch: V, mass: V, row: &[V; 8]) -> Response<V> {
        match self {
            NormalLaw::Hertz => hertz(overlap, patch, mass, row),
            NormalLaw::Linear { .. } => linear(overlap, row[slot::NORMAL], mass, row),
            NormalLaw::Dashpot { .. } => dashpot(overlap, row),
            NormalLaw::LinearTime { .. } => linear(overlap, row[slot::NORMAL] * mass, mass, row),
            NormalLaw::KuwabaraKono { .. } => kuwabara_kono(overlap, patch, row),
            NormalLaw::LeeHerrmann { .. } => lee_herrmann(overlap, mass, row),
        }
    }

    /// Elastic energy over (elastic force × overlap).
    pub fn energy_share(&self) -> f64 {
        match self {
            NormalLaw::Linear { .. } | NormalLaw::Dashpot { .. } | NormalLaw::LinearTime { .. } => 0.5,
            NormalLaw::Hertz | NormalLaw::KuwabaraKono { .. } | NormalLaw::LeeHerrmann { .. } => 0.4,
        }
    }
}

/// Linear spring and dashpot: F = k ξ + 2β √(k m*) ξ̇. With a contact time in place of a stiffness, k = κ m*, so that
/// every pair takes the same time.
#[inline(always)]
pub fn linear<V: Lanes>(overlap: V, k: V, mass: V, row: &[V; 8]) -> Response<V> {
    Response { elastic: k * overlap, damping: row[slot::DAMPING] * (k * mass).sqrt(), stiffness: k }
}

/// Linear spring and dashpot as they are given: F = k ξ + c ξ̇.
#[inline(always)]
pub fn dashpot<V: Lanes>(overlap: V, row: &[V; 8]) -> Response<V> {
    let k = row[slot::NORMAL];
    Response { elastic: k * overlap, damping: row[slot::DAMPING], stiffness: k }
}

/// Hertz: F = 4/3 E* √R* ξ^{3/2} [Johnson 1985, §4.2], with damping ∝ ξ^{1/4} ξ̇, the power that makes the restitution
/// independent of the speed [Tsuji 1992]: c = 2 √(5/6) β √(S m*), S = 2 E* √(R* ξ). The row holds 2 √(5/6) β √(2E*), so
/// that the root left to take is the one Mindlin's dashpot takes too.
#[inline(always)]
pub fn hertz<V: Lanes>(overlap: V, patch: V, mass: V, row: &[V; 8]) -> Response<V> {
    let k = row[slot::NORMAL] * patch;
    Response { elastic: k * overlap, damping: row[slot::DAMPING] * (patch * mass).sqrt(), stiffness: V::of(1.5) * k }
}

/// Hertz with the viscoelastic damping of Kuwabara and Kono 1987: F = k (ξ^{3/2} + 3/2 A ξ^{1/2} ξ̇), that is c = A S.
#[inline(always)]
pub fn kuwabara_kono<V: Lanes>(overlap: V, patch: V, row: &[V; 8]) -> Response<V> {
    let k = row[slot::NORMAL] * patch;
    let stiffness = V::of(1.5) * k;
    Response { elastic: k * overlap, damping: row[slot::DAMPING] * stiffness, stiffness }
}

/// Lee and Herrmann 1993: F = k ξ^{3/2} + γ m* ξ̇, k and γ given.
#[inline(always)]
pub fn lee_herrmann<V: Lanes>(overlap: V, mass: V, row: &[V; 8]) -> Response<V> {
    let k = row[slot::NORMAL] * overlap.sqrt();
    Response { elastic: k * overlap, damping: row[slot::DAMPING] * mass, stiffness: V::of(1.5) * k }
}
