//! From the restitution asked for to the damping that gives it, by inversion of the impact itself.
//!
//! The textbook β = −ln e / √(ln² e + π²) holds for a contact that may pull while it ends. Ours is cut off at zero, so
//! e(β) is found by integrating one impact in dimensionless form and inverted by bisection, once per pair of materials.

/// Smallest restitution that is offered: below it the damping grows without bound.
pub const SMALLEST: f64 = 0.01;

/// Power laws of an impact ẍ = −xᵖ − b x^q ẋ, contact cut off where the force reaches zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Impact {
    /// p = 1, q = 0.
    Linear,
    /// p = 3/2, q = 1/4: restitution independent of speed.
    Hertz,
}

impl Impact {
    fn acceleration(self, x: f64, v: f64, b: f64) -> f64 {
        let x = x.max(0.0);
        match self {
            Impact::Linear => -x - b * v,
            Impact::Hertz => {
                let root = x.sqrt();
                -x * root - b * root.sqrt() * v
            }
        }
    }

    /// b for a damping ratio β: 2β (linear); √5 β (Hertz, c = 2 √(5/6) β √(S m), S = 3/2 k x^{1/2}).
    fn coefficient(self, beta: f64) -> f64 {
        match self {
            Impact::Linear => 2.0 * beta,
            Impact::Hertz => 5f64.sqrt() * beta,
        }
    }

    /// Restitution of an impact with damping ratio `beta`.
    pub fn restitution(self, beta: f64) -> f64 {
        if beta <= 0.0 {
            return 1.0;
        }
        let b = self.coefficient(beta);
        let a = |x: f64, v: f64| self.acceleration(x, v, b);
        // Fourth-order Runge–Kutta; the step also resolves the fast decay of a strongly damped impact.
        let h = 1e-3 / (1.0 + b);
        let (mut x, mut v) = (0.0, 1.0);
        loop {
            let (k1x, k1v) = (v, a(x, v));
            let (k2x, k2v) = (v + 0.5 * h * k1v, a(x + 0.5 * h * k1x, v + 0.5 * h * k1v));
            let (k3x, k3v) = (v + 0.5 * h * k2v, a(x + 0.5 * h * k2x, v + 0.5 * h * k2v));
            let (k4x, k4v) = (v + h * k3v, a(x + h * k3x, v + h * k3v));
            let nv = v + h / 6.0 * (k1v + 2.0 * (k2v + k3v) + k4v);
            x += h / 6.0 * (k1x + 2.0 * (k2x + k3x) + k4x);
            if nv < 0.0 && (x <= 0.0 || a(x, nv) >= 0.0) {
                return -nv;
            }
            v = nv;
        }
    }

    /// Damping ratio β that gives the restitution `e`, clamped to [`SMALLEST`] ≤ e ≤ 1.
    pub fn damping_ratio(self, e: f64) -> f64 {
        let e = e.clamp(SMALLEST, 1.0);
        if e == 1.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.restitution(high) > e {
            high *= 2.0;
        }
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if self.restitution(middle) > e { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form for the linear law with cut-off [Schwager and Pöschel 2007, eq. 15].
    #[test]
    fn linear_inversion_meets_the_closed_form() {
        for beta in [0.05f64, 0.2, 0.5, 0.9] {
            let root = (1.0 - beta * beta).sqrt();
            let phase = (2.0 * beta * root).atan2(2.0 * beta * beta - 1.0);
            let exact = (-beta / root * phase).exp();
            let found = Impact::Linear.restitution(beta);
            assert!((found - exact).abs() < 1e-5, "β {beta}: {found} against {exact}");
        }
    }

    #[test]
    fn inversion_returns_the_restitution_asked_for() {
        for impact in [Impact::Linear, Impact::Hertz] {
            for e in [0.01, 0.1, 0.3, 0.5, 0.9, 0.99] {
                let back = impact.restitution(impact.damping_ratio(e));
                assert!((back - e).abs() < 1e-4 * e.max(0.05), "{impact:?} {e} → {back}");
            }
            assert_eq!(impact.damping_ratio(1.0), 0.0);
        }
    }
}
