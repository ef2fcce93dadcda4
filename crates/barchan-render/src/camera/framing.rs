//! A camera that shows everything: nothing cropped, little left empty.
//!
//! For a given direction the nearest such camera is found exactly. A sphere (centre c, radius r) is in the picture if it
//! lies inside each side plane of the pyramid of view, n·(c − eye) ≥ r with n the plane's unit normal inwards. So of all
//! spheres only the four numbers min(n·c − r) matter, and the eye follows from them: left and right give its place
//! across and a greatest place along the view, top and bottom another; the farther back of the two shows all.

use super::Stand;
use glam::DVec3;

/// Share of the picture's height and width left free around what is framed.
pub const MARGIN: f64 = 0.07;

/// From which side a scene is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Angle about z [rad]: 0 from the front (−y), positive from the right (towards +x).
    pub azimuth: f64,
    /// Angle above the horizon [rad].
    pub elevation: f64,
}

impl Aim {
    /// Unit vector from the scene towards the eye.
    pub fn to_eye(self) -> DVec3 {
        let (sin, cos) = self.azimuth.sin_cos();
        DVec3::new(sin, -cos, 0.0) * self.elevation.cos() + DVec3::Z * self.elevation.sin()
    }

    /// A three-quarter view that suits the extents [m]: from the long side, almost from the front where the scene is
    /// a thin slice; from higher up the flatter it is, so that a heap shows its plan and a tower its height.
    pub fn suiting(extent: DVec3) -> Aim {
        let (x, y) = (extent.x.max(1e-12), extent.y.max(1e-12));
        let (long, thin, front) = if x >= 0.8 * y { (x, y, 0.0) } else { (y, x, std::f64::consts::FRAC_PI_2) };
        let turn = 30f64.to_radians() * (thin / long / 0.8).clamp(0.35, 1.0);
        let tallness = extent.z / x.hypot(y);
        let elevation = (21.0 - 12.0 * (tallness / 0.9).clamp(0.0, 1.0)).to_radians();
        Aim { azimuth: if front == 0.0 { turn } else { front - turn }, elevation }
    }
}

/// Corners of the box round spheres [m]; none of nothing.
pub fn bounds(spheres: &[(DVec3, f64)]) -> Option<[DVec3; 2]> {
    let finite = spheres.iter().filter(|(c, r)| c.is_finite() && r.is_finite());
    let corners = finite.map(|(c, r)| [*c - DVec3::splat(*r), *c + DVec3::splat(*r)]);
    corners.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

/// Tangents of half the angles of view, across and up, within the margin.
fn tangents(field: f64, size: [u32; 2]) -> [f64; 2] {
    let up = (0.5 * field).tan() * (1.0 - MARGIN);
    let aspect = f64::from(size[0].max(1)) / f64::from(size[1].max(1));
    // The margin is the same number of pixels on all sides.
    let across = (0.5 * field).tan() * (aspect - MARGIN).max(0.5 * aspect);
    [across, up]
}

/// The nearest camera looking against `to_eye` that shows all spheres (centre, radius [m]) within the margin.
pub fn frame(spheres: &[(DVec3, f64)], to_eye: DVec3, up: DVec3, field: f64, size: [u32; 2]) -> Stand {
    let around = bounds(spheres).unwrap_or([-DVec3::ONE, DVec3::ONE]);
    let middle = 0.5 * (around[0] + around[1]);
    // Something seen from a point on it has no picture; a speck is given some room.
    let least = 1e-9_f64.max(1e-9 * middle.abs().max_element());
    let size_of = (around[1] - around[0]).length().max(least);
    let rough = Stand { eye: middle + to_eye.normalize_or(DVec3::Z) * size_of, target: middle, up, field };
    let axes = rough.axes();
    let [right, above, forward] = axes;
    let mut place = [0.0; 2];
    let mut along = f64::INFINITY;
    for (k, (side, tangent)) in [right, above].into_iter().zip(tangents(field, size)).enumerate() {
        let length = tangent.hypot(1.0);
        let least = |normal: DVec3| {
            let inside = |(c, r): &(DVec3, f64)| normal.dot(*c - middle) - r;
            spheres.iter().map(inside).filter(|d| d.is_finite()).fold(f64::INFINITY, f64::min).min(1e300)
        };
        let (low, high) = (least((side + forward * tangent) / length), least((forward * tangent - side) / length));
        place[k] = 0.5 * length * (low - high);
        along = along.min(0.5 * length * (low + high) / tangent);
    }
    if !along.is_finite() || along > -least {
        along = -size_of;
    }
    let eye = middle + right * place[0] + above * place[1] + forward * along;
    Stand { eye, target: eye - forward * along, up, field }
}

/// Distance from `target` [m] at which a camera looking against `to_eye` shows all spheres within the margin.
pub fn distance(spheres: &[(DVec3, f64)], target: DVec3, to_eye: DVec3, up: DVec3, field: f64, size: [u32; 2]) -> f64 {
    let [right, above, forward] = Stand { eye: target + to_eye, target, up, field }.axes();
    let mut far = 0f64;
    for (side, tangent) in [right, above].into_iter().zip(tangents(field, size)) {
        let length = tangent.hypot(1.0);
        for normal in [(forward * tangent + side) / length, (forward * tangent - side) / length] {
            // n·(c − target + forward·D) ≥ r
            let needs = |(c, r): &(DVec3, f64)| (r - normal.dot(*c - target)) / normal.dot(forward);
            far = spheres.iter().map(needs).filter(|d| d.is_finite()).fold(far, f64::max);
        }
    }
    far.max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tangents at which a sphere's silhouette ends in the picture: least and greatest, across and up.
    fn silhouette(stand: &Stand, (centre, radius): (DVec3, f64)) -> [[f64; 2]; 2] {
        let [right, above, forward] = stand.axes();
        let arm = centre - stand.eye;
        [right, above].map(|side| {
            // In the plane of `side` and `forward` the sphere is seen under ±asin(r/d) about its centre's direction, where d is
            // the centre's distance within that plane.
            let (s, f) = (arm.dot(side), arm.dot(forward));
            let (middle, half) = (s.atan2(f), (radius / s.hypot(f)).asin());
            [(middle - half).tan(), (middle + half).tan()]
        })
    }

    fn sphere() -> impl Strategy<Value = (DVec3, f64)> {
        ((-1.0..1.0f64, -0.3..0.3f64, 0.0..2.0f64), 0.001..0.1f64).prop_map(|((x, y, z), r)| (DVec3::new(x, y, z), r))
    }

    proptest! {
        #[test]
        fn all_is_in_the_picture_and_the_picture_is_filled(
            spheres in prop::collection::vec(sphere(), 1..60),
            shift in -1e3..1e3f64,
            scale in 1e-3..1e3f64,
            azimuth in -3.0..3.0f64,
            elevation in -0.3..1.2f64,
            size in (400..2000u32, 400..2000u32),
        ) {
            let spheres: Vec<_> = spheres.iter().map(|(c, r)| (*c * scale + shift, r * scale)).collect();
            let size = [size.0, size.1];
            let stand = frame(&spheres, Aim { azimuth, elevation }.to_eye(), DVec3::Z, Stand::FIELD, size);
            let half = (0.5 * Stand::FIELD).tan();
            let edge = [half * f64::from(size[0]) / f64::from(size[1]), half];
            let mut reach = [[f64::MAX, f64::MIN]; 2];
            for s in &spheres {
                prop_assert!((s.0 - stand.eye).dot(stand.axes()[2]) > 0.0, "in front");
                for (k, [low, high]) in silhouette(&stand, *s).into_iter().enumerate() {
                    reach[k] = [reach[k][0].min(low), reach[k][1].max(high)];
                }
            }
            // Margin in shares of half the height, on all four sides.
            let free: Vec<f64> = (0..2).flat_map(|k| [(reach[k][0] + edge[k]) / half, (edge[k] - reach[k][1]) / half]).collect();
            prop_assert!(free.iter().all(|f| *f > MARGIN - 1e-6), "cropped: {free:?}");
            // The tighter direction touches its margin on both sides.
            let tight = |k: usize| free[2 * k].max(free[2 * k + 1]) < MARGIN + 1e-3;
            prop_assert!(tight(0) || tight(1), "room to spare: {free:?}");
        }

        #[test]
        fn the_distance_is_just_enough(spheres in prop::collection::vec(sphere(), 1..40), azimuth in -3.0..3.0f64) {
            let (target, size) = (DVec3::new(0.0, 0.0, 1.0), [1920, 1080]);
            let to_eye = Aim { azimuth, elevation: 0.3 }.to_eye();
            let far = distance(&spheres, target, to_eye, DVec3::Z, 0.5, size);
            let shows = |d: f64| {
                let stand = Stand { eye: target + to_eye * d, target, up: DVec3::Z, field: 0.5 };
                let [across, up] = tangents(0.5, size);
                spheres.iter().all(|s| {
                    let [x, y] = silhouette(&stand, *s);
                    -across <= x[0] && x[1] <= across && -up <= y[0] && y[1] <= up
                })
            };
            prop_assert!(shows(far * 1.0001));
            // What lies well behind the target is seen from the target itself, the nearest there is.
            prop_assert!(far == 1e-9 || !shows(far * 0.999));
        }
    }

    #[test]
    fn nothing_and_a_speck_have_a_camera() {
        for spheres in [vec![], vec![(DVec3::ONE, 0.0)], vec![(DVec3::NAN, 1.0), (DVec3::X, 0.1)]] {
            let stand = frame(&spheres, DVec3::new(0.3, -1.0, 0.2), DVec3::Z, Stand::FIELD, [16, 9]);
            assert!(stand.eye.is_finite() && stand.target.is_finite(), "{stand:?}");
            assert!((stand.eye - stand.target).length() > 0.0);
        }
    }

    #[test]
    fn a_slice_is_seen_from_its_broad_side() {
        let slice = Aim::suiting(DVec3::new(0.4, 0.02, 0.15));
        assert!(slice.azimuth < 0.3, "almost from the front: {slice:?}");
        let other = Aim::suiting(DVec3::new(0.02, 0.4, 0.15)).to_eye();
        assert!(other.x > 0.8, "from +x: {other}");
        assert!(Aim::suiting(DVec3::new(0.3, 0.3, 0.05)).elevation > Aim::suiting(DVec3::new(0.1, 0.1, 0.3)).elevation);
    }
}
