//! Friction that depends on the rate of shear.
//!
//!   μ(I) = μ + (μ₂ − μ)/(1 + I₀/I),  I = γ̇ d/√(p/ρ_s),  γ̇ = √2 ‖dev sym ∇u‖_F
//!
//! [Jop, Forterre & Pouliquen 2006, "A constitutive law for dense granular flows"]. The rate is that of the velocities brought by the
//! parcels, the pressure that of the last step.

use crate::flow::Flow;
use crate::fractions::Fractions;
use crate::grid::{Grid, ROWS, Row};
use crate::settings::{Rate, Settings};
use barchan_core::parallel;

/// Friction μ(I) at an inertial number.
pub fn mu_of_i(mu: f64, rate: Rate, inertial: f64) -> f64 {
    if inertial > 0.0 { mu + (rate.mu2 - mu) / (1.0 + rate.i0 / inertial) } else { mu }
}

/// Fills in the friction of each cell, where the settings let it depend on the rate.
pub fn friction(grid: &Grid, fractions: &Fractions, flow: &Flow, settings: &Settings, out: &mut Vec<Row>) {
    let Some(rate) = settings.rate else { return };
    out.resize(grid.rows(), [0.0; 8]);
    let (mu, h) = (settings.friction(), settings.cell);
    let [u, v, w] = &flow.carried.velocity;
    parallel::run(out.chunks_mut(ROWS).enumerate().skip(1).collect(), 2, |(s, rows)| {
        let around = &grid.around[s];
        for (k, row) in rows.iter_mut().enumerate() {
            *row = [mu; 8];
            let r = s * ROWS + k;
            if flow.pressure[r].iter().all(|p| *p == 0.0) {
                continue;
            }
            let (y, z) = (k as i32 % 8, k as i32 / 8);
            for x in (0..8i32).filter(|&x| flow.pressure[r][x as usize] > 0.0) {
                let at = |f: &[Row], d: [i32; 3]| around.value(f, x + d[0], y + d[1], z + d[2]);
                // Of component `a` of the velocity, its change along `b` over a cell, in the middle of the cell. Differences end at faces that are
                // closed (behind a wall velocities are extended and know no shear) and at the reach of the tables.
                let across = |f: &[Row], a: usize, b: usize| {
                    let mut sum = 0.0;
                    for up in [0, 1] {
                        let mut d = [0; 3];
                        d[a] = up;
                        let (mut low, mut high) = (d, d);
                        (low[b], high[b]) = (low[b] - 1, high[b] + 1);
                        let reach = |d: [i32; 3]| (0..3).all(|k| (-1..=8).contains(&([x, y, z][k] + d[k])));
                        let free = |d: [i32; 3]| reach(d) && at(&fractions.open[a], d) > 0.0;
                        sum += match (free(low), free(high)) {
                            (true, true) => 0.5 * (at(f, high) - at(f, low)),
                            (true, false) => at(f, d) - at(f, low),
                            (false, true) => at(f, high) - at(f, d),
                            (false, false) => 0.0,
                        };
                    }
                    0.5 * sum
                };
                let along = |f: &[Row], a: usize| {
                    let mut d = [0; 3];
                    d[a] = 1;
                    at(f, d) - at(f, [0; 3])
                };
                let e = [along(u, 0), along(v, 1), along(w, 2)];
                let mean = (e[0] + e[1] + e[2]) / 3.0;
                let shear = [
                    across(u, 0, 1) + across(v, 1, 0),
                    across(u, 0, 2) + across(w, 2, 0),
                    across(v, 1, 2) + across(w, 2, 1),
                ];
                let normal: f64 = e.iter().map(|e| (e - mean) * (e - mean)).sum();
                let squares = normal + 0.5 * shear.iter().map(|s| s * s).sum::<f64>();
                let gamma = (2.0 * squares).sqrt() / h;
                let grain_pressure = flow.pressure[r][x as usize] * settings.packing;
                row[x as usize] = mu_of_i(mu, rate, gamma * settings.grain / grain_pressure.sqrt());
            }
        }
    });
}
