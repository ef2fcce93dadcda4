//! Functions that enter the state of a run: sine, power, logarithm, cube root and the like, from the `libm` crate.
//!
//! Those of the standard library are the platform's own and differ in the last bit from one to the next, so that a scene would
//! start from other bits elsewhere. (Square roots and roundings are exact by IEEE 754 and may come from anywhere.) glam takes its
//! functions from the same crate, by its feature `libm`. clippy refuses the platform's where it matters (`clippy.toml`).

pub use libm::{
    acos, asin, atan, atan2, cbrt, cos, cosh, erf, exp, hypot, log as ln, log2, log10, pow as powf, sin, sinh, tan,
    tanh,
};

/// Sine and cosine of an angle [rad].
pub fn sin_cos(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}
