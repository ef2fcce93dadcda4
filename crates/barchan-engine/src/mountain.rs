//! Mountains that the program makes, so that scenes and tests need nobody's data.
//!
//! Heights are functions of x, counted from the western rim of the ground, and of y, counted from its middle. The hockey stick with its channel is the
//! topography of the comparison ISeeSnow, and has its formulas [Wirbel et al. 2026; AvaFrame's generator]; the rest follows closed forms
//! that are stated at each.

use barchan_core::math;
use barchan_core::rng::Random;
use barchan_scene::{ModelKind, RockModel};
use glam::DVec2;
use std::f64::consts::{FRAC_PI_2, PI};

/// Height [m] that a hockey stick or any other form has where none is given.
const STICK: f64 = 1500.0;
const DROP: f64 = 1000.0;
/// Length [m] of a parabola from its top to its foot where none is given.
const PARABOLA: f64 = 2250.0;
/// Share of the ground along which a mountain falls where no length is given.
const PATH: f64 = 0.75;

/// The heights of a model at the middles of the cells of a ground [m], x first, lowest y first, their least 0.
pub fn heights(model: &RockModel, size: [usize; 2], cell: f64) -> Vec<f64> {
    let extent = DVec2::new(size[0] as f64, size[1] as f64) * cell;
    let of: Box<dyn Fn(DVec2) -> f64> = match model.kind {
        ModelKind::Slope => {
            let fall = model.drop.map_or_else(|| math::tan(model.angle), |d| d / extent.x);
            Box::new(move |p| fall * (extent.x - p.x))
        }
        ModelKind::HockeyStick => hockey_stick(model),
        ModelKind::Parabola => parabola(model),
        // The rim of the largest circle that fits is as high as the drop.
        ModelKind::Bowl => {
            let (drop, radius) = (model.drop.unwrap_or(DROP), 0.5 * extent.min_element());
            Box::new(move |p| drop * (p - DVec2::new(0.5 * extent.x, 0.0)).length_squared() / (radius * radius))
        }
        ModelKind::Pyramid => {
            let (drop, fall) = (model.drop.unwrap_or(DROP), math::tan(model.angle));
            Box::new(move |p| {
                let away = (p - DVec2::new(0.5 * extent.x, 0.0)).abs();
                (drop - fall * away.max_element()).max(0.0)
            })
        }
        ModelKind::Mountain => mountain(model, extent),
    };
    let place =
        |k: usize| DVec2::new((k % size[0]) as f64 + 0.5, (k / size[0]) as f64 + 0.5 - 0.5 * size[1] as f64) * cell;
    (0..size[0] * size[1]).map(|k| of(place(k)).max(0.0)).collect()
}

/// Distribution function of the normal distribution.
fn normal(x: f64) -> f64 {
    0.5 * (1.0 + math::erf(x * std::f64::consts::FRAC_1_SQRT_2))
}

/// Height [m] of the sides of a channel above its bottom, a distance y [m] from its middle: `wide` [m] is half its width where `share`, how much of a
/// channel there is, is 0; it is 100 m where that is 1.
fn walls(wide: f64, share: f64, y: f64) -> f64 {
    let half = wide * (1.0 - share) + 100.0 * share;
    let across = (y / half).abs();
    if across < 1.0 { half * share * (1.0 - (1.0 - across * across).sqrt()) } else { half * share }
}

/// A plane, a circle tangent to it, and a plain; a channel that fades in and out along the plane. A cell at x has the height of its middle.
fn hockey_stick(model: &RockModel) -> Box<dyn Fn(DVec2) -> f64> {
    let (z0, r, angle, channel) = (model.drop.unwrap_or(STICK), model.radius, model.angle, model.channel);
    let foot = z0 / math::tan(angle);
    let centre = r / math::tan(FRAC_PI_2 - 0.5 * angle);
    let before = centre * math::sin_cos(angle).1;
    Box::new(move |p| {
        let x = p.x;
        let z = if x < foot - before {
            z0 - x * math::tan(angle)
        } else if x < foot + centre {
            r - (r * r - (foot + centre - x).powi(2)).max(0.0).sqrt()
        } else {
            0.0
        };
        if !channel {
            return z;
        }
        let share =
            if x < 0.53 * foot { normal((x - 0.2 * foot) / 250.0) } else { 1.0 - normal((x - 0.86 * foot) / 250.0) };
        z + walls(250.0, share, p.y)
    })
}

/// z = drop · (1 − x/length)² and a plain.
fn parabola(model: &RockModel) -> Box<dyn Fn(DVec2) -> f64> {
    let (drop, length, channel) = (model.drop.unwrap_or(DROP), model.length.unwrap_or(PARABOLA), model.channel);
    Box::new(move |p| {
        let z = drop * (1.0 - p.x / length).max(0.0).powi(2);
        // The same channel, its places as shares of the path.
        let fade = 0.1 * length;
        let share = normal((p.x - 0.2 * length) / fade) * (1.0 - normal((p.x - 0.75 * length) / fade));
        if channel { z + walls(250.0, share, p.y) } else { z }
    })
}

/// A face that is steepest below its top and ends on a plain, with a bowl above, a gully through its middle, ridges at the sides, and folds of ridged
/// noise that fade towards the path and the plain.
fn mountain(model: &RockModel, extent: DVec2) -> Box<dyn Fn(DVec2) -> f64> {
    let (drop, seed) = (model.drop.unwrap_or(DROP), model.seed);
    let length = model.length.unwrap_or(PATH * extent.x);
    let half = 0.5 * extent.y;
    // The gully winds by a tenth of the width; where, is drawn.
    let mut random = Random::new(seed, 0);
    let (phase, waves) = (2.0 * PI * random.uniform(), 1.2 + 0.6 * random.uniform());
    Box::new(move |p| {
        let along = p.x / length;
        let face = drop * math::powf((1.0 - along).max(0.0), 1.7);
        // How much of a mountain there still is: 1 on the face, 0 on the plain.
        let still = smooth(1.15 - along, 0.0, 0.6);
        let middle = 0.2 * half * math::sin_cos(phase + 2.0 * PI * waves * along.min(1.2)).0 * smooth(along, 0.1, 0.6);
        // A bowl at the top, a gully below.
        let width = half * (0.75 - 0.5 * smooth(along, 0.1, 0.5) + 0.6 * smooth(along, 0.75, 1.2));
        let across = ((p.y - middle) / width).abs();
        let sides = 0.22 * drop * still * smooth(across, 0.0, 1.6).powi(2) * 2.0;
        let rough = smooth(across, 0.15, 1.0);
        let folds = ridges(p / (0.35 * half), seed) * 0.16 * drop * still * rough;
        let fine = ridges(p / (0.06 * half), seed ^ 1) * 0.012 * drop * (0.25 + 0.75 * rough) * still;
        face + sides + folds + fine
    })
}

/// From 0 at `from` to 1 at `to`, with level ends.
fn smooth(x: f64, from: f64, to: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Ridged noise of five octaves, 0 to about 1: sharp crests, wide valleys [Musgrave 1993].
fn ridges(p: DVec2, seed: u64) -> f64 {
    let (mut sum, mut weight, mut scale, mut share) = (0.0, 1.0, 1.0, 0.5);
    for octave in 0..5 {
        let crest = 1.0 - noise(p * scale, seed.wrapping_add(octave)).abs();
        let crest = crest * crest * weight;
        sum += share * crest;
        weight = (1.6 * crest).clamp(0.0, 1.0);
        (scale, share) = (2.03 * scale, 0.5 * share);
    }
    sum
}

/// Gradient noise, −1 to 1: a gradient drawn at every corner of a unit grid, blended by fifth-order steps [Perlin 2002].
fn noise(p: DVec2, seed: u64) -> f64 {
    let low = p.floor();
    let t = p - low;
    let corner = |i: i64, j: i64| {
        let (x, y) = (low.x as i64 + i, low.y as i64 + j);
        let stream = (x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        let (sine, cosine) = math::sin_cos(2.0 * PI * Random::new(seed, stream).uniform());
        DVec2::new(cosine, sine).dot(t - DVec2::new(i as f64, j as f64))
    };
    let step = |t: f64| t * t * t * (t * (6.0 * t - 15.0) + 10.0);
    let (u, v) = (step(t.x), step(t.y));
    let row = |j: i64| corner(0, j) * (1.0 - u) + corner(1, j) * u;
    (row(0) * (1.0 - v) + row(1) * v) * std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(kind: ModelKind) -> RockModel {
        RockModel {
            kind,
            seed: 7,
            drop: None,
            angle: RockModel::ANGLE,
            length: None,
            radius: RockModel::RADIUS,
            channel: true,
        }
    }

    #[test]
    fn the_hockey_stick_has_the_heights_of_the_comparison() {
        let at = hockey_stick(&model(ModelKind::HockeyStick));
        // z₀ − x tan 34° far above the channel; 0 on the plain; the bend meets both without a kink.
        let foot = STICK / math::tan(RockModel::ANGLE);
        assert!((foot - 2223.84).abs() < 0.01);
        let plain = hockey_stick(&RockModel { channel: false, ..model(ModelKind::HockeyStick) });
        assert!((plain(DVec2::new(1000.0, 300.0)) - (1500.0 - 1000.0 * math::tan(RockModel::ANGLE))).abs() < 1e-9);
        let step = 1e-4;
        for x in (0..4000).map(f64::from) {
            let slope = |x: f64| (plain(DVec2::new(x + step, 0.0)) - plain(DVec2::new(x, 0.0))) / step;
            assert!((slope(x + 1.0) - slope(x)).abs() < 1.1 / 400.0 * 1.9, "a kink at {x}");
        }
        // In the middle of the channel there is nothing to add, outside its width all of it.
        let x = 0.53 * foot - 1.0;
        let share = normal((x - 0.2 * foot) / 250.0);
        let half = 250.0 * (1.0 - share) + 100.0 * share;
        assert!((at(DVec2::new(x, 0.0)) - plain(DVec2::new(x, 0.0))).abs() < 1e-9);
        assert!((at(DVec2::new(x, 400.0)) - plain(DVec2::new(x, 0.0)) - half * share).abs() < 1e-9);
    }

    #[test]
    fn every_form_is_a_landscape_and_a_mountain_depends_on_its_seed() {
        for kind in [
            ModelKind::Mountain,
            ModelKind::Slope,
            ModelKind::HockeyStick,
            ModelKind::Parabola,
            ModelKind::Bowl,
            ModelKind::Pyramid,
        ] {
            let made = heights(&model(kind), [64, 48], 40.0);
            assert!(made.iter().all(|h| h.is_finite() && *h >= 0.0), "{kind:?}");
            let high = made.iter().copied().fold(0.0, f64::max);
            assert!((300.0..4000.0).contains(&high), "{kind:?}: {high}");
        }
        let seeded = |seed| heights(&RockModel { seed, ..model(ModelKind::Mountain) }, [40, 40], 60.0);
        assert!(seeded(7) == seeded(7) && seeded(7) != seeded(8));
    }
}
