//! A ground that can be: its size, its numbers, and grains that fit its columns.

use super::{Check, show};
use crate::formula::Formula;
use std::f64::consts::FRAC_PI_2;

/// Most columns: as many as the solver of the ground takes.
const MOST_COLUMNS: f64 = (1_u64 << 26) as f64;
/// Most columns of a formula that are looked at here, along each side.
const LOOKS: usize = 64;

pub(super) fn check(c: &mut Check) {
    let Some(g) = &c.scene.ground else { return };
    for (k, axis) in ["x", "y"].iter().enumerate() {
        if g.min[k] >= g.max[k] {
            let message = format!(
                "the ground is empty: its min {axis} ({} m) is not below its max {axis} ({} m)",
                g.min[k], g.max[k]
            );
            c.error(format!("ground.max[{k}]"), message, "swap or move the corners");
        }
    }
    c.positive("ground.cell", "the width of a column", g.cell, "m");
    let columns = (g.max - g.min) / g.cell;
    if g.cell > 0.0 && columns.x * columns.y > MOST_COLUMNS {
        let least = ((g.max - g.min).x * (g.max - g.min).y / MOST_COLUMNS).sqrt();
        let message = format!("{:.0} × {:.0} columns are more than a ground can have", columns.x, columns.y);
        c.error("ground.cell", message, format!("use columns of at least {}, or a smaller area", show(least, "m")));
    }
    let grains = c.scene.grains.iter().map(|g| (&g.material, &g.shape, g.radius.as_ref()));
    let poured = c.scene.emitters.iter().map(|e| (&e.material, &e.shape, e.radius.as_ref()));
    let own = grains.chain(poured).filter(|p| *p.0 == g.material);
    let largest = own.filter_map(|p| super::places::reach(c.scene, p.1, p.2)).map(|r| r.1).fold(0.0, f64::max);
    if g.cell > 0.0 && g.cell < largest && g.exchange.is_some() {
        let message = format!(
            "columns of {} are narrower than the radius of the largest grain ({})",
            show(g.cell, "m"),
            show(largest, "m")
        );
        c.warn("ground.cell", message, "use columns of about a grain's diameter");
    }
    let gravity = c.scene.gravity;
    if gravity.x != 0.0 || gravity.y != 0.0 || gravity.z > 0.0 {
        c.error("gravity", "a ground needs gravity straight down", "use [0, 0, -9.81], or leave out `[ground]`");
    }
    if c.scene.domain.is_periodic().contains(&true) {
        c.error("domain.periodic", "a ground has rims, not images", "leave out `periodic`, or `[ground]`");
    }
    c.not_negative("ground.height", "the height of the ground", g.height.unwrap_or(0.0), "m");
    c.positive("ground.unit", "the unit of the formula", g.unit, "m");
    c.not_negative("ground.friction", "the friction", g.friction.unwrap_or(0.0), "");
    c.not_negative("ground.rolling", "the rolling resistance", g.rolling.unwrap_or(0.0), "");
    if let Some(i) = &g.image {
        c.not_negative("ground.image.low", "the height of black", i.low, "m");
        c.not_negative("ground.image.high", "the height of white", i.high, "m");
    }
    if let Some(t) = &g.terrain {
        c.not_negative("ground.terrain.low", "the height of the lowest point", t.low, "m");
        c.positive("ground.terrain.scale", "the factor of heights", t.scale, "");
    }
    formula(c);
    soil(c);
    strength(c);
    exchange(c);
}

/// Values of the formula, looked at on a coarse grid; every column is when the ground is made.
fn formula(c: &mut Check) {
    let Some(g) = &c.scene.ground else { return };
    let Some(Ok(formula)) = g.formula.as_deref().map(Formula::new) else { return };
    for k in 0..LOOKS * LOOKS {
        let share = glam::DVec2::new((k % LOOKS) as f64 + 0.5, (k / LOOKS) as f64 + 0.5) / LOOKS as f64;
        let at = (g.min + share * (g.max - g.min)) / g.unit;
        let height = formula.at(at.x, at.y) * g.unit;
        if at.is_finite() && !(height >= 0.0 && height.is_finite()) {
            let message =
                format!("the formula gives {} m at x = {:.4}, y = {:.4} m", height, at.x * g.unit, at.y * g.unit);
            c.error("ground.formula", message, "heights are counted from the floor: lower `floor`, or use `max(0, …)`");
            return;
        }
    }
}

fn soil(c: &mut Check) {
    let Some(g) = &c.scene.ground else { return };
    let shares = [
        ("compression", g.soil.compression, 0.0),
        ("fraction", g.soil.fraction, 0.01),
        ("roughness", g.soil.roughness, 0.0),
    ];
    for (key, value, least) in shares {
        if value.is_some_and(|v| v < least || v > 1.0) {
            let message = format!("the soil's `{key}` cannot be {}", show(value.unwrap_or_default(), ""));
            c.error(format!("ground.soil.{key}"), message, format!("give a share from {least} to 1"));
        }
    }
    for (key, value) in [("inside", g.soil.inside), ("outside", g.soil.outside), ("stop", g.soil.stop)] {
        if value.is_some_and(|v| !(0.01..FRAC_PI_2).contains(&v)) {
            let message = format!("a slope of {} cannot be", show(value.unwrap_or_default().to_degrees(), "deg"));
            c.error(format!("ground.soil.{key}"), message, "give an angle from 0.6 deg to below 90 deg");
        }
    }
}

/// What the soil bears.
fn strength(c: &mut Check) {
    let Some(g) = &c.scene.ground else { return };
    let positive =
        [("density", g.soil.density, "kg/m3"), ("shear", g.soil.shear, "m"), ("stiffness", g.soil.stiffness, "Pa/m")];
    for (key, value, unit) in positive {
        value.iter().for_each(|&v| c.positive(format!("ground.soil.{key}"), &format!("the soil's {key}"), v, unit));
    }
    for (key, value, unit) in [("cohesion", g.soil.cohesion, "Pa"), ("grip", g.soil.grip, "")] {
        value.iter().for_each(|&v| c.not_negative(format!("ground.soil.{key}"), &format!("the soil's {key}"), v, unit));
    }
    if g.soil.friction.is_some_and(|v| !(0.0..FRAC_PI_2 * 2.0 / 3.0).contains(&v)) {
        let angle = show(g.soil.friction.unwrap_or_default().to_degrees(), "deg");
        c.error("ground.soil.friction", format!("an internal friction of {angle} cannot be"), "give 0 to below 60 deg");
    }
}

fn exchange(c: &mut Check) {
    let Some(e) = c.scene.ground.as_ref().and_then(|g| g.exchange.as_ref()) else { return };
    if e.layer < 1.0 {
        let message = format!("a layer of {} grain diameters shows the ground", show(e.layer, ""));
        c.error("ground.exchange.layer", message, "give 1 or more; 3 to 5 are usual");
    }
    c.positive("ground.exchange.rest", "the share of the radius", e.rest, "");
    c.positive("ground.exchange.thaw", "the depth of a blow", e.thaw, "");
    c.positive("ground.exchange.after", "the time of rest", e.after, "s");
    if e.packing < 0.3 || e.packing > 1.0 {
        let message = format!("grains cannot fill {} of the ground", show(e.packing, ""));
        c.error("ground.exchange.packing", message, "give a share from 0.3 to 1; spheres have 0.56 to 0.64");
    }
}
