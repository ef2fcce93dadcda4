//! Smoothing kernels, their sums over the rest lattice, and the mass of a particle that follows from them.
//!
//! With x the distance, R the support and q = x/R, all kernels have ∫W dV = 1. The sums over a simple cubic lattice of spacing d say how much a
//! lattice of particles of mass ρ₀d³ would miss the density ρ₀ by: 0.0 % for the cubic spline with R = 2d, +3.4 % for Wendland's, +23.6 %
//! for the spiky kernel. The mass is divided by that sum, so that matter filled in on a lattice neither sinks nor swells.

use std::f64::consts::PI;

/// Support of the kernel over the spacing at rest.
pub const SUPPORT: f64 = 2.0;

/// A smoothing kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// Cubic spline [Monaghan and Lattanzio 1985].
    #[default]
    Cubic,
    /// Wendland's C² function [Wendland 1995; Dehnen and Aly 2012].
    Wendland,
    /// The spiky kernel, whose slope does not vanish at the centre [Desbrun and Gascuel 1996].
    Spiky,
}

impl Kernel {
    /// W [1/m³] at a distance [m], with support `reach` [m].
    pub fn value(self, distance: f64, reach: f64) -> f64 {
        let q = distance / reach;
        if q >= 1.0 {
            return 0.0;
        }
        let rest = 1.0 - q;
        let shape = match self {
            Kernel::Cubic if q <= 0.5 => 8.0 * (6.0 * q * q * q - 6.0 * q * q + 1.0),
            Kernel::Cubic => 16.0 * rest * rest * rest,
            Kernel::Wendland => 10.5 * rest * rest * rest * rest * (4.0 * q + 1.0),
            Kernel::Spiky => 15.0 * rest * rest * rest,
        };
        shape / (PI * reach * reach * reach)
    }

    /// Slope W' [1/m⁴] at a distance [m].
    pub fn slope(self, distance: f64, reach: f64) -> f64 {
        let q = distance / reach;
        if q >= 1.0 {
            return 0.0;
        }
        let rest = 1.0 - q;
        let shape = match self {
            Kernel::Cubic if q <= 0.5 => 48.0 * q * (3.0 * q - 2.0),
            Kernel::Cubic => -48.0 * rest * rest,
            Kernel::Wendland => -210.0 * q * rest * rest * rest,
            Kernel::Spiky => -45.0 * rest * rest,
        };
        shape / (PI * reach * reach * reach * reach)
    }

    /// Sums over the simple cubic lattice of spacing `d` [m] at rest.
    pub fn lattice(self, d: f64) -> LatticeSums {
        let reach = SUPPORT * d;
        let steps = SUPPORT as i32;
        let mut sums = LatticeSums::default();
        for x in -steps..=steps {
            for y in -steps..=steps {
                for z in -steps..=steps {
                    let distance = d * f64::from(x * x + y * y + z * z).sqrt();
                    let (value, slope) = (self.value(distance, reach), self.slope(distance, reach));
                    sums.whole += value * d * d * d;
                    sums.above += if z >= 0 { value * d * d * d } else { 0.0 };
                    sums.slope -= distance * slope * d * d * d / 3.0;
                    sums.squares += slope * slope;
                }
            }
        }
        sums
    }

    /// ∫ W over a plane at height `z` [m] above the particle [1/m]: 2π ∫_z^R W t dt, by Simpson's rule.
    pub fn over_plane(self, z: f64, reach: f64) -> f64 {
        /// Intervals: the kernels are polynomials of degree 5 at most, with one seam.
        const INTERVALS: usize = 128;
        if z >= reach {
            return 0.0;
        }
        let step = (reach - z) / INTERVALS as f64;
        let sum: f64 = (0..=INTERVALS)
            .map(|k| {
                let t = z + k as f64 * step;
                let weight = if k == 0 || k == INTERVALS { 1.0 } else { [2.0, 4.0][k % 2] };
                weight * self.value(t, reach) * t
            })
            .sum();
        2.0 * PI * sum * step / 3.0
    }
}

/// What a kernel adds up to on the simple cubic lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatticeSums {
    /// d³ ΣW, the particle itself included.
    pub whole: f64,
    /// The part of it from the particle's own layer and those above.
    pub above: f64,
    /// −⅓ d³ Σ x·∇W: 1 where a linear field has its exact gradient.
    pub slope: f64,
    /// Σ|∇W|² [1/m⁸].
    pub squares: f64,
}

/// Mass [kg] of a particle of spacing `d` [m] that gives the lattice the density `rho` [kg/m³].
pub fn particle_mass(kernel: Kernel, d: f64, rho: f64) -> f64 {
    rho * d * d * d / kernel.lattice(d).whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kernel; 3] = [Kernel::Cubic, Kernel::Wendland, Kernel::Spiky];

    #[test]
    fn a_kernel_integrates_to_one_and_its_slope_is_its_derivative() {
        for kernel in ALL {
            let (n, reach) = (20_000, 1.3);
            let h = reach / f64::from(n);
            let volume: f64 =
                (0..n).map(|k| (f64::from(k) + 0.5) * h).map(|x| 4.0 * PI * x * x * h * kernel.value(x, reach)).sum();
            assert!((volume - 1.0).abs() < 1e-6, "{kernel:?}: {volume}");
            for k in 1..40 {
                let x = reach * f64::from(k) / 41.3;
                let e = 1e-6 * reach;
                let slope = (kernel.value(x + e, reach) - kernel.value(x - e, reach)) / (2.0 * e);
                assert!((slope - kernel.slope(x, reach)).abs() < 1e-6 * slope.abs() + 1e-5, "{kernel:?} at {x}");
            }
            let layer = |k: i32| 2.0 * kernel.over_plane((f64::from(k) + 0.5) * reach / 400.0, reach) * reach / 400.0;
            let plane: f64 = (0..400).map(layer).sum();
            assert!((plane - 1.0).abs() < 1e-4, "{kernel:?}: planes together hold all of it, {plane}");
        }
    }

    #[test]
    fn lattice_sums_are_those_of_the_table() {
        for (kernel, whole, slope) in
            [(Kernel::Cubic, 1.0000, 1.020), (Kernel::Wendland, 1.034, 0.982), (Kernel::Spiky, 1.236, 0.956)]
        {
            let sums = kernel.lattice(0.02);
            assert!((sums.whole - whole).abs() < 1e-3, "{kernel:?}: {}", sums.whole);
            assert!((sums.slope - slope).abs() < 1e-3, "{kernel:?}: {}", sums.slope);
        }
        let deficit = 1.0 - Kernel::Cubic.lattice(1.0).above / Kernel::Cubic.lattice(1.0).whole;
        assert!((deficit - 0.1497).abs() < 2e-4, "what a half lattice misses: {deficit}");
    }
}
