//! Bodies that have a size, a mass and a place.

use super::Check;
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    let periodic = c.scene.domain.is_periodic().contains(&true);
    for (i, b) in c.scene.bodies.iter().enumerate() {
        let path = format!("bodies[{i}]");
        if b.density.is_some() && b.mass.is_some() {
            c.error(format!("{path}.mass"), "`mass` cannot stand beside `density`", "keep one of the two");
        }
        if periodic && b.contact != BodyContact::Spheres {
            let message = "the surface of a body has no images across periodic sides";
            c.error(&path, message, "use `contact = \"spheres\"`, or make the domain not periodic");
        }
        if let Some(d) = &b.drive
            && let (Some(from), Some(until)) = (d.from, d.until)
            && from >= until
        {
            let message = format!("the drive ends ({until} s) before it begins ({from} s)");
            c.error(format!("{path}.drive.until"), message, "swap or move the times");
        }
        let (min, max) = (c.scene.domain.min, c.scene.domain.max);
        for (k, x) in b.at.iter().enumerate() {
            if c.has_domain() && !(x.cmpge(min).all() && x.cmple(max).all()) && x.is_finite() {
                c.warn(format!("{path}.at[{k}]"), "this place is outside the domain", "move it, or enlarge the domain");
            }
        }
    }
}
