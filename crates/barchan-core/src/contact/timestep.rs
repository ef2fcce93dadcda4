//! The time step a scene can take, and which contact asks for it.

use super::restitution::Impact;
use super::rows::rate_for_contact_time;
use super::{ContactLaw, NormalLaw, TangentialLaw};
use crate::materials::Materials;
use crate::math;
use std::f64::consts::PI;

/// A derived time step.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeStep {
    /// Recommended [s].
    pub dt: f64,
    /// Largest that is still safe [s].
    pub limit: f64,
    /// Which contact asks for it, in words.
    pub reason: String,
}

/// Steps in the shortest impact: realises the restitution to 0.5 % (test `restitution_is_what_was_asked_for`).
const STEPS_PER_IMPACT: f64 = 40.0;
/// Fewest steps in an impact that are let through.
const FEWEST_STEPS_PER_IMPACT: f64 = 8.0;
/// Largest step over the damping time m*/c of a linear dashpot. It acts in full from the first touch on, somewhere inside
/// a step, so the restitution is off by a share of dt c/m*; this keeps it to 0.5 % down to e = 0.1.
const DAMPING_SHARE: f64 = 0.04;
/// The same where the dashpot grows from nothing with the overlap: no error at the touch, so that stability alone counts. An explicit step is
/// stable up to dt c/m* = 1 (the velocity is extrapolated by half a step); a quarter of that is smooth.
const GROWING_DAMPING_SHARE: f64 = 0.25;
/// Share of the Rayleigh time, the time a surface wave takes round a grain; 0.1–0.3 is usual.
const RAYLEIGH_SHARE: f64 = 0.1;
/// Largest share of the Rayleigh time that is let through.
const LARGEST_RAYLEIGH_SHARE: f64 = 0.25;

/// Duration [s] of an elastic Hertz impact at speed `v` [Johnson 1985, §11.4]: 2.9433 ξ/v.
pub(crate) fn hertz_duration(k: f64, mass: f64, v: f64) -> f64 {
    let peak = math::powf(5.0 * mass * v * v / (4.0 * k), 0.4);
    2.943_275 * peak / v
}

/// Derives the step for grains given as (material, smallest radius [m], smallest mass [kg]) against each other and
/// against walls of the materials `partners`, moving no faster than `top_speed` [m/s] relative to each other.
pub fn time_step(
    law: &ContactLaw,
    materials: &Materials,
    grains: &[(u16, f64, f64)],
    partners: &[u16],
    top_speed: f64,
) -> TimeStep {
    let mut best = TimeStep { dt: f64::INFINITY, limit: f64::INFINITY, reason: "no contact is possible".into() };
    let mut ask = |dt: f64, limit: f64, reason: &dyn Fn() -> String| {
        if dt < best.dt {
            (best.dt, best.reason) = (dt, reason());
        }
        best.limit = best.limit.min(limit);
    };
    let name = |m: u16| materials.list[m as usize].name.as_str();
    let speed = top_speed.max(1e-3);
    for (n, &(a, ra, ma)) in grains.iter().enumerate() {
        let others = grains[..=n].iter().map(|&(b, rb, mb)| (b, ra * rb / (ra + rb), ma * mb / (ma + mb), "grain"));
        for (b, radius, mass, what) in others.chain(partners.iter().map(|&b| (b, ra, ma, "wall"))) {
            let hertz = 4.0 / 3.0 * materials.pair(a, b).young * radius.sqrt();
            let duration = match law.normal {
                NormalLaw::Linear { stiffness } | NormalLaw::Dashpot { stiffness, .. } => {
                    PI * (mass / stiffness).sqrt()
                }
                NormalLaw::LinearTime { contact_time } => contact_time,
                NormalLaw::Hertz | NormalLaw::KuwabaraKono { .. } => hertz_duration(hertz, mass, speed),
                NormalLaw::LeeHerrmann { stiffness, .. } => hertz_duration(stiffness, mass, speed),
            };
            let beta = || Impact::Linear.damping_ratio(materials.pair(a, b).restitution);
            // The shortest time m*/c in which a dashpot stops what moves, and the share of it that a step may be.
            let (damping_time, share) = match law.normal {
                NormalLaw::Linear { stiffness } => {
                    (0.5 / ((stiffness / mass).sqrt() * beta().max(1e-3)), DAMPING_SHARE)
                }
                NormalLaw::LinearTime { .. } => {
                    let beta = beta();
                    (0.5 / (rate_for_contact_time(duration, beta).sqrt() * beta.max(1e-3)), DAMPING_SHARE)
                }
                NormalLaw::Dashpot { damping, .. } => (mass / damping, DAMPING_SHARE),
                NormalLaw::LeeHerrmann { damping, .. } => (1.0 / damping, DAMPING_SHARE),
                // c = A S grows with the overlap; it is largest where an undamped impact would turn round.
                NormalLaw::KuwabaraKono { dissipation } => {
                    let peak = math::powf(5.0 * mass * speed * speed / (4.0 * hertz), 0.4);
                    (mass / (dissipation * 1.5 * hertz * peak.sqrt()), GROWING_DAMPING_SHARE)
                }
                NormalLaw::Hertz => (f64::INFINITY, DAMPING_SHARE),
            };
            ask(share * damping_time, damping_time, &|| {
                format!("{share} of the damping time of {} on {} ({what}), {damping_time:.2e} s", name(a), name(b))
            });
            // A tangential dashpot turns the grains as well as it moves them: of a sphere 7/2 of 1/m resists.
            if let TangentialLaw::Dashpot { damping, .. } = law.tangential {
                let time = mass / (3.5 * damping);
                ask(DAMPING_SHARE * time, time, &|| {
                    format!(
                        "{DAMPING_SHARE} of the tangential damping time of {} on {} ({what}), {time:.2e} s",
                        name(a),
                        name(b)
                    )
                });
            }
            ask(duration / STEPS_PER_IMPACT, duration / FEWEST_STEPS_PER_IMPACT, &|| {
                let (a, b) = (name(a), name(b));
                format!("1/{STEPS_PER_IMPACT} of the impact of {a} on {b} ({what}) at {speed:.3} m/s, {duration:.2e} s")
            });
        }
        let m = &materials.list[a as usize];
        if matches!(law.normal, NormalLaw::Hertz | NormalLaw::KuwabaraKono { .. }) && m.young.is_finite() {
            let shear = m.young / (2.0 * (1.0 + m.poisson));
            let rayleigh = PI * ra * (m.density / shear).sqrt() / (0.1631 * m.poisson + 0.8766);
            ask(RAYLEIGH_SHARE * rayleigh, LARGEST_RAYLEIGH_SHARE * rayleigh, &|| {
                format!("{RAYLEIGH_SHARE} of the Rayleigh time of {} at radius {ra:.3e} m, {rayleigh:.2e} s", m.name)
            });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chung and Ooi 2011, test 1: glass spheres of 10 mm at ±10 m/s touch for 40.34 µs.
    #[test]
    fn hertz_duration_meets_chung_and_ooi() {
        let (e, nu, rho, r): (f64, f64, f64, f64) = (4.8e10, 0.2, 2800.0, 0.01);
        let k = 4.0 / 3.0 * e / (2.0 * (1.0 - nu * nu)) * (r / 2.0).sqrt();
        let mass = 0.5 * rho * 4.0 / 3.0 * PI * r.powi(3);
        assert!((hertz_duration(k, mass, 20.0) / 40.34e-6 - 1.0).abs() < 1e-3);
    }
}
