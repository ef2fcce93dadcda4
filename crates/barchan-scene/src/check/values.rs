//! Numbers that are possible.

use super::{Check, show};
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    c.corners("domain", scene.domain.min, scene.domain.max);
    integrator(c);
    for (name, shape) in &scene.shapes {
        let path = format!("shapes.{name}.spheres");
        if matches!(shape, ShapeSpec::Spheres(list) if list.is_empty()) && c.is_own(&path) {
            c.error(path, "a shape needs at least one sphere", "list its spheres");
        }
    }
    // A packing from a file may have its sizes there, and those of a release may follow from the number of its grains.
    let without = |g: &Grains| match &g.place {
        Place::At(At::File(_)) => true,
        Place::Release(r) => r.grains.is_some(),
        _ => false,
    };
    for (i, g) in scene.grains.iter().enumerate().filter(|(_, g)| g.radius.is_some() || !without(g)) {
        radius(c, &format!("grains[{i}]"), &g.shape, g.radius.as_ref());
    }
    for (i, e) in scene.emitters.iter().enumerate().filter(|(_, e)| e.continuum.is_none()) {
        radius(c, &format!("emitters[{i}]"), &e.shape, e.radius.as_ref());
    }
    output(c);
}

fn integrator(c: &mut Check) {
    let i = &c.scene.integrator;
    if i.dissipation > 0.0 && i.method != Method::PositionVerlet {
        let message = format!("`dissipation` has no meaning for the method `{}`", i.method.name());
        c.error("integrator.dissipation", message, "remove it, or use `method = \"position-verlet\"`");
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
    sizes(c, path, size);
}

/// The numbers of a distribution of radii.
pub(super) fn sizes(c: &mut Check, path: String, size: &Size) {
    let ordered = |c: &mut Check, at: String, min: f64, max: f64| {
        if min > max {
            let message = format!("the smallest radius ({}) is above the largest ({})", show(min, "m"), show(max, "m"));
            c.error(at, message, "swap the two");
        }
    };
    match size {
        Size::Fixed(_) => {}
        Size::Uniform([a, b]) => ordered(c, format!("{path}.uniform"), *a, *b),
        Size::Normal { min, max, .. } => ordered(c, format!("{path}.normal"), *min, *max),
        Size::Lognormal { min, max, .. } => ordered(c, format!("{path}.lognormal"), *min, *max),
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
    if output.every > duration {
        let message = format!(
            "the time between frames ({}) is longer than the run ({})",
            show(output.every, "s"),
            show(duration, "s")
        );
        c.warn("output.every", message, "only the first and the last frame will be written; make it shorter");
    }
    if output.formats == [Format::Xyz] {
        let message = "frames as `xyz` alone cannot be drawn: barchan does not read them back";
        c.warn("output.formats", message, "add `\"vtk\"` or `\"ply\"` for a film, `render` and the window");
    }
    for (i, m) in c.scene.measure.iter().enumerate() {
        let path = format!("measure[{i}]");
        let given = c.given(&format!("{path}.every"));
        if m.every > duration && given {
            let message = format!(
                "the time between rows ({}) is longer than the run ({})",
                show(m.every, "s"),
                show(duration, "s")
            );
            c.warn(format!("{path}.every"), message, "make it shorter");
        }
    }
}
