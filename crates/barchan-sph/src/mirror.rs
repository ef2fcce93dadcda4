//! The wall's side of the density: a wall acts as if the bed went on behind it as its mirror image.
//!
//! A particle at distance Φ from a plane has its own image at 2Φ and further layers behind it. Smeared out over their planes these give
//!   ψ(Φ) = k d Σ_{j=0..2} A(2Φ + j d),   A(z) = ∫ W over a plane at height z,
//! as a share of the rest density. The factor k makes ψ(d/2) what a half lattice lacks, so that a bed rests half a spacing off the wall
//! (k = 0.998 for the cubic spline). ψ' (d/2) is then −0.998/d, and a wall bears the pressure of its first layer.

use crate::maps::plane_volume;
use crate::smoothing::{Kernel, SUPPORT};

/// Intervals of the table over 0 ≤ Φ ≤ d.
const INTERVALS: usize = 512;
/// Layers of the image that can be within reach.
const LAYERS: usize = 3;

/// ψ and its slope, tabulated.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Distance from which on a wall adds nothing [m].
    reach: f64,
    /// ψ and ψ' [1/m] at equal distances.
    table: Vec<[f64; 2]>,
}

impl Mirror {
    pub fn new(kernel: Kernel, spacing: f64) -> Mirror {
        let reach = SUPPORT * spacing;
        let layers = |phi: f64| (0..LAYERS).map(move |j| 2.0 * phi + j as f64 * spacing);
        // A' = −2π W z: the plane's rim leaves the ball.
        let slope = |z: f64| -std::f64::consts::TAU * z * kernel.value(z, reach);
        let psi = |phi: f64| spacing * layers(phi).map(|z| kernel.over_plane(z, reach)).sum::<f64>();
        let sums = kernel.lattice(spacing);
        let k = (1.0 - sums.above / sums.whole) / psi(0.5 * spacing);
        let entry = |i: usize| {
            let phi = spacing * i as f64 / INTERVALS as f64;
            [k * psi(phi), k * spacing * layers(phi).map(|z| 2.0 * slope(z)).sum::<f64>()]
        };
        Mirror { reach: spacing, table: (0..=INTERVALS).map(entry).collect() }
    }

    /// As volume maps were published: ψ = V_B(Φ) W(Φ), which is some thirty times as much at half a spacing, with ψ' = V_B W'.
    pub fn published(kernel: Kernel, spacing: f64) -> Mirror {
        let reach = SUPPORT * spacing;
        let entry = |i: usize| {
            let phi = reach * i as f64 / INTERVALS as f64;
            let volume = plane_volume(phi, reach);
            [volume * kernel.value(phi, reach), volume * kernel.slope(phi, reach)]
        };
        Mirror { reach, table: (0..=INTERVALS).map(entry).collect() }
    }

    /// Distance from which on a wall adds nothing [m].
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// ψ and ψ' [1/m] at a distance [m]; nothing beyond the reach, d, constant behind the wall.
    pub fn at(&self, phi: f64) -> [f64; 2] {
        let at = (phi / self.reach).max(0.0) * INTERVALS as f64;
        let i = at as usize;
        if i >= INTERVALS {
            return [0.0; 2];
        }
        let share = at - i as f64;
        let [a, b] = [self.table[i], self.table[i + 1]];
        std::array::from_fn(|k| a[k] + share * (b[k] - a[k]))
    }
}

/// Share of a ball of radius R that a plane at distance Φ from its centre cuts off: (1 − u)²(2 + u)/4, u = Φ/R.
pub fn cap(phi: f64, reach: f64) -> f64 {
    let u = (phi / reach).clamp(-1.0, 1.0);
    0.25 * (1.0 - u) * (1.0 - u) * (2.0 + u)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_fills_what_a_half_lattice_lacks_and_bears_its_pressure() {
        for kernel in [Kernel::Cubic, Kernel::Wendland, Kernel::Spiky] {
            let d = 0.03;
            let mirror = Mirror::new(kernel, d);
            let sums = kernel.lattice(d);
            let [psi, slope] = mirror.at(0.5 * d);
            assert!((psi - (1.0 - sums.above / sums.whole)).abs() < 1e-12);
            assert!(slope < 0.0 && (slope * d + 1.0).abs() < 0.3, "{kernel:?}: {}", slope * d);
            for phi in [0.11, 0.37, 0.62, 0.9] {
                let e = 0.02;
                let [a, b] = [mirror.at((phi - e) * d)[0], mirror.at((phi + e) * d)[0]];
                assert!(((b - a) / (2.0 * e * d) - mirror.at(phi * d)[1]).abs() < 0.02 / d, "{kernel:?} at {phi}");
            }
        }
        let slope = Mirror::new(Kernel::Cubic, 1.0).at(0.5)[1];
        assert!((slope + 0.998).abs() < 2e-3, "{slope}");
    }

    #[test]
    fn as_published_a_wall_is_thirty_times_too_full() {
        let [psi, _] = Mirror::published(Kernel::Cubic, 1.0).at(0.5);
        // V_B of a plane at R/4 is 2.46 R³, and W there 1.83/R³.
        assert!((psi - 4.52).abs() < 0.01, "{psi}");
    }
}
