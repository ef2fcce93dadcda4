//! A ground that can be: its size, its numbers, and grains that fit its columns.

use super::{Check, show};
use crate::types::sleeps_twice;

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
    let from_file = g.rock.as_ref().is_some_and(|r| r.terrain.is_some());
    if g.cell.is_nan() && !from_file {
        c.error("ground", "the ground has no `cell`", "add `cell`, the width of a column");
    }
    let columns = (g.max - g.min) / g.cell;
    if g.cell > 0.0 && columns.x * columns.y > MOST_COLUMNS {
        let least = ((g.max - g.min).x * (g.max - g.min).y / MOST_COLUMNS).sqrt();
        let message = format!("{:.0} × {:.0} columns are more than a ground can have", columns.x, columns.y);
        c.error("ground.cell", message, format!("use columns of at least {}, or a smaller area", show(least, "m")));
    }
    let grains = c.scene.grains.iter().map(|g| (&g.material, &g.shape, g.radius.as_ref()));
    let poured = c.scene.emitters.iter().map(|e| (&e.material, &e.shape, e.radius.as_ref()));
    let own = grains.chain(poured).filter(|p| *p.0 == g.material);
    let largest = own.filter_map(|p| super::places::reach(c, p.1, p.2)).map(|r| r.1).fold(0.0, f64::max);
    if g.cell > 0.0 && g.cell < largest && g.exchange.is_some() {
        let message = format!(
            "columns of {} are narrower than the radius of the largest grain ({})",
            show(g.cell, "m"),
            show(largest, "m")
        );
        c.warn("ground.cell", message, "use columns of about a grain's diameter");
    }
    if sleeps_twice(c.scene) {
        let message = "with `[ground.exchange]` grains are held by its own rules";
        c.error("sleep", message, "leave out `[sleep]`, or `[ground.exchange]`");
    }
    let gravity = c.scene.gravity;
    if gravity.x != 0.0 || gravity.y != 0.0 || gravity.z > 0.0 {
        c.error("gravity", "a ground needs gravity straight down", "use [0, 0, -9.81], or leave out `[ground]`");
    }
    if c.scene.domain.is_periodic().contains(&true) {
        c.error("domain.periodic", "a ground has rims, not images", "leave out `periodic`, or `[ground]`");
    }
    let ways = [
        ("height", g.height.is_some()),
        ("formula", g.formula.is_some()),
        ("image", g.image.is_some()),
        ("terrain", g.terrain.is_some()),
    ];
    if let Some(rock) = &g.rock {
        for (key, is_given) in ways.into_iter().chain([("exchange", g.exchange.is_some())]).filter(|w| w.1) {
            let message = format!("`{key}` cannot stand beside `rock`");
            let help = if is_given && key == "exchange" {
                "rock takes and gives no grains: leave `exchange` out"
            } else {
                "put the heights into `rock = { … }`"
            };
            c.error(format!("ground.{key}"), message, help);
        }
        let ways = [
            rock.height.is_some(),
            rock.formula.is_some(),
            rock.image.is_some(),
            rock.terrain.is_some(),
            rock.model.is_some(),
        ];
        if ways.iter().filter(|w| **w).count() != 1 {
            let message = "rock has its heights in one way";
            c.error("ground.rock", message, "give one of `height`, `formula`, `image`, `terrain` and `model`");
        }
    }
    if let Some(drag) = &g.drag {
        if g.rock.is_none() {
            c.error("ground.drag", "only rock has a drag", "give the heights as `rock = { … }`, or leave out `drag`");
        }
        if g.friction.is_some() {
            let message = "`friction` cannot stand beside `drag`, whose `mu` it is";
            c.error("ground.friction", message, "leave it out");
        }
        if drag.xi.is_some() && drag.law != crate::types::DragLaw::Voellmy {
            c.error("ground.drag.xi", "only `law = \"voellmy\"` has a ξ", "leave it out, or change the law");
        }
    }
    let given: Vec<_> = ways.iter().filter(|w| w.1).map(|w| w.0).collect();
    for key in given.iter().skip(1) {
        let message = format!("`{key}` cannot stand beside `{}`", given[0]);
        c.error(format!("ground.{key}"), message, "give the heights in one way");
    }
    formula(c);
}

/// Values of the formula, looked at on a coarse grid; every column is when the ground is made.
fn formula(c: &mut Check) {
    let Some(g) = &c.scene.ground else { return };
    // One that stands beside a height is reported for that alone.
    let rock = g.rock.as_ref().and_then(|r| r.formula.as_ref());
    let (formula, place) = match rock {
        Some(_) => (rock, "ground.rock.formula"),
        None => (g.formula.as_ref().filter(|_| g.height.is_none()), "ground.formula"),
    };
    let Some(formula) = formula.filter(|f| f.is_read()) else { return };
    for k in 0..LOOKS * LOOKS {
        let share = glam::DVec2::new((k % LOOKS) as f64 + 0.5, (k / LOOKS) as f64 + 0.5) / LOOKS as f64;
        let at = (g.min + share * (g.max - g.min)) / g.unit;
        let height = formula.at(at.x, at.y) * g.unit;
        if at.is_finite() && !(height >= 0.0 && height.is_finite()) {
            let message =
                format!("the formula gives {} m at x = {:.4}, y = {:.4} m", height, at.x * g.unit, at.y * g.unit);
            c.error(place, message, "heights are counted from the floor: lower `floor`, or use `max(0, …)`");
            return;
        }
    }
}
