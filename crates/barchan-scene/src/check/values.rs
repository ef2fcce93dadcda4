//! Numbers that are possible.

use super::{Check, show};
use crate::types::*;
use glam::DVec3;

/// Least restitution: the damping that would give 0 exactly is infinite.
pub(super) const LEAST_RESTITUTION: f64 = 0.01;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    c.positive("duration", "the duration", scene.duration, "s");
    c.corners("domain", scene.domain.min, scene.domain.max);
    for (name, m) in &scene.materials {
        let path = |key: &str| format!("materials.{name}.{key}");
        c.positive(path("density"), "a density", m.density, "kg/m3");
        c.positive(path("young"), "Young's modulus", m.young, "Pa");
        if m.poisson <= -1.0 || m.poisson >= 0.5 {
            let help = "solids have -1 < poisson < 0.5; most grains 0.2 to 0.35";
            c.error(path("poisson"), format!("a Poisson's ratio of {} is impossible", m.poisson), help);
        }
        surface(c, &path, [Some(m.restitution), Some(m.friction), Some(m.rolling), Some(m.twisting), Some(m.cohesion)]);
    }
    for (i, p) in scene.pairs.iter().enumerate() {
        surface(c, &|key| format!("pairs[{i}].{key}"), [p.restitution, p.friction, p.rolling, p.twisting, p.cohesion]);
    }
    integrator(c);
    for (name, shape) in &scene.shapes {
        match shape {
            ShapeSpec::Tetrahedron { edge } => {
                c.positive(format!("shapes.{name}.tetrahedron.edge"), "the edge of a tetrahedron", *edge, "");
            }
            ShapeSpec::Spheres(list) => {
                if list.is_empty() {
                    c.error(format!("shapes.{name}.spheres"), "a shape needs at least one sphere", "list its spheres");
                }
                for (i, s) in list.iter().enumerate() {
                    c.positive(format!("shapes.{name}.spheres[{i}].radius"), "the radius of a sphere", s.radius, "m");
                }
            }
            ShapeSpec::Mesh(mesh) => {
                c.positive(format!("shapes.{name}.mesh.scale"), "the scale", mesh.scale, "");
                c.positive(format!("shapes.{name}.mesh.radius"), "the radius of the spheres", mesh.radius, "m");
            }
        }
    }
    for (i, g) in scene.grains.iter().enumerate() {
        radius(c, &format!("grains[{i}]"), &g.shape, g.radius.as_ref());
        c.not_negative(format!("grains[{i}].velocity_spread"), "a spread of velocities", g.velocity_spread, "m/s");
    }
    for (i, e) in scene.emitters.iter().enumerate() {
        radius(c, &format!("emitters[{i}]"), &e.shape, e.radius.as_ref());
    }
    output(c);
}

/// Restitution, friction, rolling, twisting, cohesion of a material or a pair.
fn surface(c: &mut Check, path: &dyn Fn(&str) -> String, values: [Option<f64>; 5]) {
    if let Some(e) = values[0]
        && !e.is_nan()
        && !(LEAST_RESTITUTION..=1.0).contains(&e)
    {
        let help = format!("the contact law can give {LEAST_RESTITUTION} to 1; most grains have 0.3 to 0.95");
        c.error(path("restitution"), format!("a restitution of {} is impossible", show(e, "")), help);
    }
    for (key, value) in ["friction", "rolling", "twisting"].iter().zip(&values[1..4]) {
        let what = format!("the coefficient `{key}`");
        c.not_negative(path(key), &what, value.unwrap_or(0.0), "");
    }
    c.not_negative(path("cohesion"), "a surface energy", values[4].unwrap_or(0.0), "J/m2");
}

fn integrator(c: &mut Check) {
    let i = &c.scene.integrator;
    c.positive("integrator.dt", "the time step", i.dt.unwrap_or(1.0), "s");
    if i.dissipation < 0.0 || i.dissipation >= 1.0 {
        let message = format!("a dissipation of {} per step is impossible", show(i.dissipation, ""));
        c.error("integrator.dissipation", message, "give a share of at least 0 and below 1");
    }
    if i.dissipation > 0.0 && i.method != Method::PositionVerlet {
        let message = format!("`dissipation` has no meaning for the method `{}`", i.method.name());
        c.error("integrator.dissipation", message, "remove it, or use `method = \"position-verlet\"`");
    }
    if i.max_overlap <= 0.0 || i.max_overlap > 1.0 {
        let message = format!("`max_overlap` must lie above 0 and at most at 1, not at {}", show(i.max_overlap, ""));
        c.error("integrator.max_overlap", message, "give a share of the smaller radius, such as 0.1");
    }
    if i.method == Method::ForwardEuler {
        c.warn("integrator.method", "forward Euler pumps energy into every contact", "use it only for comparison");
    }
}

fn radius(c: &mut Check, path: &str, shape: &str, size: Option<&Size>) {
    let path = format!("{path}.radius");
    let Some(size) = size else {
        let listed = c.scene.shapes.get(shape).is_some_and(|s| matches!(s, ShapeSpec::Spheres(_) | ShapeSpec::Mesh(_)));
        let unknown = !listed
            && !c.scene.shapes.contains_key(shape)
            && ![ShapeSpec::SPHERE, ShapeSpec::TETRAHEDRON].contains(&shape);
        // A mistyped `radius` counts as given: it has been reported under its own name.
        if !listed && !unknown && !c.given(&path) {
            let message = format!("grains of shape `{shape}` need a `radius`");
            c.error(path, message, "add `radius`: a length, such as \"1 mm\", or a distribution");
        }
        return;
    };
    let ordered = |c: &mut Check, at: String, min: f64, max: f64| {
        if min > max {
            let message = format!("the smallest radius ({}) is above the largest ({})", show(min, "m"), show(max, "m"));
            c.error(at, message, "swap the two");
        }
    };
    match size {
        Size::Fixed(r) => c.positive(path, "a radius", *r, "m"),
        Size::Uniform([a, b]) => {
            c.positive(format!("{path}.uniform[0]"), "a radius", *a, "m");
            ordered(c, format!("{path}.uniform"), *a, *b);
        }
        Size::Normal { mean, sd, min, max } => {
            c.positive(format!("{path}.normal.mean"), "a mean radius", *mean, "m");
            c.positive(format!("{path}.normal.sd"), "a standard deviation", *sd, "m");
            c.positive(format!("{path}.normal.min"), "the smallest radius", *min, "m");
            ordered(c, format!("{path}.normal"), *min, *max);
        }
        Size::Lognormal { median, sigma, min, max } => {
            c.positive(format!("{path}.lognormal.median"), "a median radius", *median, "m");
            c.positive(format!("{path}.lognormal.sigma"), "sigma", *sigma, "");
            c.positive(format!("{path}.lognormal.min"), "the smallest radius", *min, "m");
            ordered(c, format!("{path}.lognormal"), *min, *max);
        }
        Size::Sieve(rows) => sieve(c, &format!("{path}.sieve"), rows),
    }
}

fn sieve(c: &mut Check, path: &str, rows: &[[f64; 2]]) {
    let form = "list diameters upwards, each with the share of the mass that passes it, from 0 to 1";
    if rows.len() < 2 {
        c.error(path, "a sieve curve needs at least two rows", form);
        return;
    }
    for (i, [diameter, passing]) in rows.iter().enumerate() {
        c.positive(format!("{path}[{i}][0]"), "a diameter", *diameter, "m");
        if i > 0 && *diameter <= rows[i - 1][0] {
            c.error(format!("{path}[{i}][0]"), "the diameters of a sieve curve must increase", form);
        }
        if i > 0 && *passing < rows[i - 1][1] {
            c.error(format!("{path}[{i}][1]"), "the shares of a sieve curve cannot decrease", form);
        }
    }
    let (first, last) = (rows[0][1], rows[rows.len() - 1][1]);
    if first != 0.0 && !first.is_nan() {
        let message = format!("a sieve curve starts at 0, not at {}", show(first, ""));
        c.error(format!("{path}[0][1]"), message, "begin with the diameter that nothing passes, with share 0");
    }
    if (last - 1.0).abs() > 1e-9 {
        let message = format!("a sieve curve ends at 1, not at {}", show(last, ""));
        c.error(
            format!("{path}[{}][1]", rows.len() - 1),
            message,
            "end with the diameter that everything passes, with share 1",
        );
    }
}

fn output(c: &mut Check) {
    let (duration, output) = (c.duration(), &c.scene.output);
    // A time left out follows from the duration, or from that of the frames: what is wrong there is reported there.
    if c.given("output.every") || !duration.is_nan() {
        c.positive("output.every", "the time between frames", output.every, "s");
    }
    c.positive("output.checkpoint", "the time between checkpoints", output.checkpoint.unwrap_or(1.0), "s");
    if output.every > duration {
        let message = format!(
            "the time between frames ({}) is longer than the run ({})",
            show(output.every, "s"),
            show(duration, "s")
        );
        c.warn("output.every", message, "only the first and the last frame will be written; make it shorter");
    }
    for (i, m) in c.scene.measure.iter().enumerate() {
        let path = format!("measure[{i}]");
        let given = c.given(&format!("{path}.every"));
        if given || m.every != output.every {
            c.positive(format!("{path}.every"), "the time between rows", m.every, "s");
        }
        if m.every > duration && given {
            let message = format!(
                "the time between rows ({}) is longer than the run ({})",
                show(m.every, "s"),
                show(duration, "s")
            );
            c.warn(format!("{path}.every"), message, "make it shorter");
        }
        match &m.what {
            What::Flow { normal, .. } => c.direction(format!("{path}.flow.normal"), "the normal", *normal),
            What::ForceHistogram { bins, max } => {
                number_of_bins(c, format!("{path}.force_histogram.bins"), *bins);
                c.positive(format!("{path}.force_histogram.max"), "the upper end of a histogram", *max, "");
            }
            What::Repose { along, flank, column, ceiling, .. } => {
                let path = format!("{path}.repose");
                let up = (-c.scene.gravity).normalize_or(DVec3::Z);
                if let Some(along) = along
                    && along.cross(up).length() <= 1e-9 * along.length()
                {
                    let help = "give a direction across gravity, such as [1, 0, 0]";
                    c.error(format!("{path}.along"), "the direction of a slope is not level", help);
                }
                // What is not a number has been reported when it was read, and compares as false here.
                if flank[0] < 0.0 || flank[0] >= flank[1] || flank[1] > 1.0 {
                    let message = format!("a flank from {} to {} of the height is none", flank[0], flank[1]);
                    c.error(format!("{path}.flank"), message, "give two shares from 0 to 1, the lower one first");
                }
                c.positive(format!("{path}.column"), "the side of a column", column.unwrap_or(1.0), "m");
                c.positive(format!("{path}.ceiling"), "the ceiling", ceiling.unwrap_or(1.0), "m");
            }
            What::Count(region) => super::places::region(c, &format!("{path}.count"), region),
            What::Packing { region, .. } => super::places::region(c, &format!("{path}.packing"), region),
            What::Fields { region, cells } => {
                boxed(c, &format!("{path}.fields"), region);
                if cells.contains(&0)
                    || cells.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).is_none_or(|n| n > 1 << 22)
                {
                    let [x, y, z] = cells;
                    let message = format!("a grid of {x} × {y} × {z} cells cannot be");
                    c.error(
                        format!("{path}.fields.cells"),
                        message,
                        "give three numbers from 1 on, four million cells at most",
                    );
                }
            }
            What::Profile { region, bins, .. } => {
                boxed(c, &format!("{path}.profile"), region);
                if *bins == 0 || *bins > 10_000 {
                    let at = format!("{path}.profile.bins");
                    c.error(at, format!("a profile of {bins} bins is useless"), "give a number of bins such as 20");
                }
            }
            What::ForceNetwork { within, layer } => chosen(c, &format!("{path}.force_network"), within, *layer),
            What::ForceCorrelation { bins, reach, within, layer } => {
                let path = format!("{path}.force_correlation");
                number_of_bins(c, format!("{path}.bins"), *bins);
                c.positive(format!("{path}.reach"), "the reach of a correlation", *reach, "");
                chosen(c, &path, within, *layer);
            }
            What::ContactAngles { bins, axis, within, layer } => {
                let path = format!("{path}.contact_angles");
                number_of_bins(c, format!("{path}.bins"), *bins);
                if let Some(axis) = axis {
                    c.direction(format!("{path}.axis"), "the axis", *axis);
                }
                chosen(c, &path, within, *layer);
            }
            What::Energy {} | What::Coordination {} | What::WallForces {} | What::Bodies {} => {}
            What::Ground {} => {
                if c.scene.ground.is_none() {
                    c.error(path, "there is no ground to measure", "add a `[ground]`, or leave this out");
                }
            }
        }
    }
}

fn number_of_bins(c: &mut Check, path: String, bins: u64) {
    if bins == 0 || bins > 100_000 {
        c.error(path, format!("a histogram of {bins} bins is useless"), "give a number of bins such as 60");
    }
}

/// Which contacts are looked at, and in which layers.
fn chosen(c: &mut Check, path: &str, within: &Option<Region>, layer: Option<f64>) {
    if let Some(region) = within {
        super::places::region(c, &format!("{path}.within"), region);
    }
    if let Some(layer) = layer {
        c.positive(format!("{path}.layer"), "the thickness of a layer", layer, "m");
    }
}

/// A region that must be a box.
fn boxed(c: &mut Check, path: &str, region: &Region) {
    super::places::region(c, path, region);
    let at = format!("{path}.{}", super::places::key(region));
    if !matches!(region, Region::Box { .. }) && c.given(&at) {
        c.error(at, "this measurement needs a box", "write `box = { min, max }`");
    }
}
