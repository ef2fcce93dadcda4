//! Emitters that can deliver what they promise.

use super::{Check, places, show};
use crate::types::*;
use std::f64::consts::PI;

/// Share of space that falling grains can take: somewhat below a random loose packing.
const DENSEST_STREAM: f64 = 0.6;

pub(super) fn check(c: &mut Check) {
    for (i, e) in c.scene.emitters.iter().enumerate() {
        let path = format!("emitters[{i}]");
        let (key, unit, rate) = match e.flow {
            EmitterFlow::Rate(rate) => ("rate", "/s", rate),
            EmitterFlow::MassRate(rate) => ("mass_rate", "kg/s", rate),
        };
        if let Some(until) = e.until
            && until <= e.from
        {
            let message = format!("the emitter ends ({}) before it starts ({})", show(until, "s"), show(e.from, "s"));
            c.error(format!("{path}.until"), message, "swap `from` and `until`");
        }
        if e.from > c.duration() {
            c.warn(format!("{path}.from"), "the emitter starts after the run has ended", "start it earlier");
        }
        mouth(c, &path, e);
        stream(c, &path, e, key, unit, rate);
    }
}

fn mouth(c: &mut Check, path: &str, e: &Emitter) {
    let Some((_, large)) = places::reach(c, &e.shape, e.radius.as_ref()) else { return };
    let disc = &e.disc;
    if disc.radius > 0.0 && disc.radius < large {
        let message =
            format!("the disc ({}) is smaller than the grains it pours ({})", show(disc.radius, "m"), show(large, "m"));
        c.error(format!("{path}.disc.radius"), message, format!("make it at least {}", show(large, "m")));
        return;
    }
    if !(disc.centre.is_finite() && disc.radius > 0.0) {
        return;
    }
    let normal = disc.normal.normalize_or_zero();
    let half = (glam::DVec3::ONE - normal * normal).max(glam::DVec3::ZERO).map(f64::sqrt) * disc.radius;
    let domain = &c.scene.domain;
    let out = (disc.centre - half).cmplt(domain.min).any() || (disc.centre + half).cmpgt(domain.max).any();
    if out && c.has_domain() {
        c.error(
            format!("{path}.disc"),
            format!("the emitter `{}` lies outside the domain", e.name),
            "move it, or enlarge the domain",
        );
    }
    if let Some(wall) = places::hits_wall(c, disc.centre, large) {
        let message = format!("grains of the emitter `{}` would appear in the wall `{}`", e.name, wall.name);
        c.error(format!("{path}.disc.centre"), message, "move the disc away from the wall");
    }
}

fn stream(c: &mut Check, path: &str, e: &Emitter, key: &str, unit: &str, rate: f64) {
    let normal = e.disc.normal.normalize_or_zero();
    let speed = e.velocity.dot(normal);
    if speed <= 0.0 && normal != glam::DVec3::ZERO {
        let message = "grains would not leave the emitter: their velocity does not point along the disc's normal";
        c.error(format!("{path}.velocity"), message, "give a velocity along the normal, or turn the normal");
        return;
    }
    let Some((shape, listed)) = c.assets.shape(c.scene, &e.shape) else { return };
    let cube = match (&e.radius, listed) {
        (Some(size), _) => size.to_core().mean_cube(),
        (None, Some(radius)) => radius.powi(3),
        (None, None) => return,
    };
    let volume = shape.volume() * cube;
    let per_volume = match e.flow {
        EmitterFlow::Rate(_) => 1.0 / volume,
        EmitterFlow::MassRate(_) => match c.scene.materials.get(&e.material) {
            Some(m) => m.density,
            None => return,
        },
    };
    let most = DENSEST_STREAM * PI * e.disc.radius.powi(2) * speed * per_volume;
    if rate > most && most > 0.0 {
        let message = format!(
            "{} do not fit through the disc at {}: the grains would lie in each other",
            show(rate, unit),
            show(speed, "m/s")
        );
        c.error(
            format!("{path}.{key}"),
            message,
            format!("use at most {}, a larger disc or a higher velocity", show(most, unit)),
        );
    }
}
