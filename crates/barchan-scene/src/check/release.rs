//! Releases: on rock, with one outline, a thickness and a size.

use super::{Check, show};
use crate::types::*;

pub(super) fn check(c: &mut Check, i: usize, grains: &Grains, release: &Release) {
    let path = format!("grains[{i}].release");
    if c.scene.ground.as_ref().is_none_or(|g| g.rock.is_none()) {
        c.error(&path, "a release lies on rock, and there is none", "add `[ground] rock = { terrain = \"dem.asc\" }`");
    }
    if grains.shape != ShapeSpec::SPHERE {
        c.error(format!("grains[{i}].shape"), "snow that is released is spheres", "leave out `shape`");
    }
    let ways = [!release.polygon.is_empty(), release.file.is_some(), release.raster.is_some()];
    if ways.iter().filter(|w| **w).count() != 1 {
        c.error(&path, "a release has one outline", "give one of `polygon`, `file` and `raster`");
    }
    if release.thickness.is_none() && !release.polygon.is_empty() {
        c.error(&path, "the release has no `thickness`", "add `thickness`, normal to the slope, such as \"1.5 m\"");
    }
    if release.thickness.is_some() && release.raster.is_some() {
        c.error(format!("{path}.thickness"), "the thickness is in the raster", "leave out one of the two");
    }
    match (release.grains, &grains.radius) {
        (None, None) => c.error(
            &path,
            "nothing says how large the grains are",
            "add `grains`, their number, or `radius` beside `release`",
        ),
        (Some(_), Some(_)) => c.error(
            format!("grains[{i}].radius"),
            "the size of the grains follows from their number",
            "leave out `radius`, or `grains`",
        ),
        _ => {}
    }
    if !release.polygon.is_empty() {
        outline(c, &format!("{path}.polygon"), &release.polygon);
    }
}

/// A polygon that encloses an area and does not cross itself.
fn outline(c: &mut Check, path: &str, corners: &[[f64; 2]]) {
    if corners.len() < 3 {
        return c.error(
            path,
            "an outline has three corners at least",
            "add corners, such as [[0, 0], [100, 0], [100, 50]]",
        );
    }
    if let Some([a, b]) = crossing(corners) {
        let at = |k: usize| format!("({}, {})", show(corners[k][0], "m"), show(corners[k][1], "m"));
        let message = format!("the outline crosses itself: its side from {} meets that from {}", at(a), at(b));
        c.error(path, message, "list the corners in the order in which one walks round");
    }
}

/// Two sides of a polygon that cross, by their first corners; none where none do.
pub fn crossing(corners: &[[f64; 2]]) -> Option<[usize; 2]> {
    let n = corners.len();
    // Twice the area of a triangle, positive if it turns left.
    let turn = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let side = |k: usize| (corners[k], corners[(k + 1) % n]);
    // Outlines of thousands of corners come from files, drawn by programs that check.
    if n > 2000 {
        return None;
    }
    for a in 0..n {
        for b in a + 2..n {
            if a == 0 && b == n - 1 {
                continue;
            }
            let ((p, q), (r, s)) = (side(a), side(b));
            if turn(p, q, r) * turn(p, q, s) < 0.0 && turn(r, s, p) * turn(r, s, q) < 0.0 {
                return Some([a, b]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::crossing;

    #[test]
    fn a_bow_tie_crosses_itself_and_a_hook_does_not() {
        assert_eq!(crossing(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), Some([0, 2]));
        assert_eq!(crossing(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [3.0, 4.0], [3.0, 1.0], [0.0, 1.0]]), None);
    }
}
