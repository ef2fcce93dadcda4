//! Grain shapes: a sphere, a tetrahedron of four, or any clump of spheres.
//!
//! A clump is one homogeneous body: where its spheres overlap the material counts once. Volume, centre of mass and
//! inertia of the *union* are exact sums where no spheres overlap, and otherwise integrals over horizontal slices, each
//! of which is a union of discs whose moments follow from its boundary arcs (Green's theorem). That leaves one
//! dimension to quadrature: relative errors are below 1e-6, at a few milliseconds for fifty spheres. The work grows as
//! the square of the spheres; from some hundred on slices are fewer and errors up to 1e-4, so that a clump of
//! [`MOST_IN_CLUMP`] spheres takes seconds.

use crate::math;
use crate::mesh::{MassProperties, Mesh};
use glam::{DMat3, DQuat, DVec2, DVec3};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// One sphere of a shape, in units of the shape's largest sphere radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeSphere {
    /// Centre in the body frame (origin: centre of mass; axes: principal axes).
    pub centre: DVec3,
    /// Radius.
    pub radius: f64,
}

/// A rigid grain shape, scaled so that its largest sphere has radius 1, centred on its centre of mass and turned
/// to its principal axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    name: String,
    spheres: Vec<ShapeSphere>,
    volume: f64,
    inertia: DVec3,
    to_principal: DQuat,
    bounding_radius: f64,
    skin: Option<Arc<Mesh>>,
    centre: DVec3,
}

/// A clump that is no body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// No sphere at all.
    #[error("shape \"{name}\" has no spheres: list at least one")]
    Empty {
        /// Name of the shape.
        name: String,
    },
    /// A sphere that is no sphere.
    #[error(
        "sphere {sphere} (counted from 1) of shape \"{name}\" is no sphere: give a finite centre and a positive radius"
    )]
    Sphere {
        /// Name of the shape.
        name: String,
        /// Which sphere, from 1.
        sphere: usize,
    },
    /// More spheres than the moments of a clump are found for.
    #[error(
        "shape \"{name}\" has {spheres} spheres: use at most {MOST_IN_CLUMP}, or a mesh, whose spheres are made for you"
    )]
    TooMany {
        /// Name of the shape.
        name: String,
        /// How many spheres it has.
        spheres: usize,
    },
    /// A tetrahedron without an edge.
    #[error("a tetrahedron's edge of {0} sphere radii is impossible: give a positive number (2 where spheres touch)")]
    Edge(f64),
}

/// Spheres a clump may have.
pub const MOST_IN_CLUMP: usize = 2000;

/// Volume of the unit sphere.
const UNIT_VOLUME: f64 = 4.0 / 3.0 * PI;

impl Shape {
    /// The sphere.
    pub fn sphere() -> Shape {
        Shape::ball("sphere".into())
    }

    fn ball(name: String) -> Shape {
        Shape {
            name,
            spheres: vec![ShapeSphere { centre: DVec3::ZERO, radius: 1.0 }],
            volume: UNIT_VOLUME,
            inertia: DVec3::splat(0.4 * UNIT_VOLUME),
            to_principal: DQuat::IDENTITY,
            bounding_radius: 1.0,
            skin: None,
            centre: DVec3::ZERO,
        }
    }

    /// Four equal spheres at the corners of a regular tetrahedron whose edge is that many sphere radii.
    pub fn tetrahedron(edge_over_radius: f64) -> Result<Shape, ShapeError> {
        if !(edge_over_radius.is_finite() && edge_over_radius > 0.0) {
            return Err(ShapeError::Edge(edge_over_radius));
        }
        let a = edge_over_radius / 8f64.sqrt();
        let corners = [[a, a, a], [a, -a, -a], [-a, a, -a], [-a, -a, a]].map(|c| (DVec3::from_array(c), 1.0));
        let moments = Moments::of_union(&corners);
        // By symmetry the centre of mass is the middle and the inertia isotropic: only volume and trace are measured.
        let second = moments.second;
        Ok(Shape {
            name: "tetrahedron".into(),
            spheres: corners.iter().map(|&(centre, radius)| ShapeSphere { centre, radius }).collect(),
            volume: moments.volume,
            inertia: DVec3::splat((second.x_axis.x + second.y_axis.y + second.z_axis.z) * 2.0 / 3.0),
            to_principal: DQuat::IDENTITY,
            bounding_radius: 0.0,
            skin: None,
            centre: DVec3::ZERO,
        }
        .bounded())
    }

    /// The union of any spheres, given by centre [m] and radius [m] in any frame; also returns the largest radius [m],
    /// which is the shape's unit of length. Spheres wholly inside another are left out: nothing can touch them.
    pub fn clump(name: &str, spheres: &[(DVec3, f64)]) -> Result<(Shape, f64), ShapeError> {
        if spheres.is_empty() {
            return Err(ShapeError::Empty { name: name.into() });
        }
        if let Some(bad) = spheres.iter().position(|(c, r)| !(c.is_finite() && r.is_finite() && *r > 0.0)) {
            return Err(ShapeError::Sphere { name: name.into(), sphere: bad + 1 });
        }
        if spheres.len() > MOST_IN_CLUMP {
            return Err(ShapeError::TooMany { name: name.into(), spheres: spheres.len() });
        }
        let spheres = without_hidden(spheres);
        let largest = spheres.iter().map(|s| s.1).fold(0.0, f64::max);
        if spheres.len() == 1 {
            return Ok((Shape::ball(name.into()), largest));
        }
        // Moments are taken about a point within, in units of the largest radius, so that no digits are lost to a
        // far-away frame.
        let origin = spheres.iter().map(|s| s.0).sum::<DVec3>() / spheres.len() as f64;
        let scaled: Vec<_> = spheres.iter().map(|&(c, r)| ((c - origin) / largest, r / largest)).collect();
        let moments = Moments::of_union(&scaled);
        let centre = moments.first / moments.volume;
        let (inertia, axes) = principal(moments.inertia_about(centre));
        let to_principal = DQuat::from_mat3(&axes.transpose()).normalize();
        let place = |&(c, radius): &(DVec3, f64)| ShapeSphere { centre: to_principal * (c - centre), radius };
        let spheres = scaled.iter().map(place).collect();
        let (name, volume) = (name.into(), moments.volume);
        let shape = Shape {
            name,
            spheres,
            volume,
            inertia,
            to_principal,
            bounding_radius: 0.0,
            skin: None,
            centre: DVec3::ZERO,
        };
        Ok((shape.bounded(), largest))
    }

    /// A solid with the surface `skin`, which the spheres make, such as those of a [`crate::sampling::Sampling`]: mass is
    /// that of the solid, touch that of the spheres, looks those of the skin. Also returns the largest radius [m], which is
    /// the shape's unit of length.
    pub fn solid(
        name: &str,
        spheres: &[(DVec3, f64)],
        solid: &MassProperties,
        skin: &Mesh,
    ) -> Result<(Shape, f64), ShapeError> {
        if spheres.is_empty() {
            return Err(ShapeError::Empty { name: name.into() });
        }
        if let Some(bad) = spheres.iter().position(|(c, r)| !(c.is_finite() && r.is_finite() && *r > 0.0)) {
            return Err(ShapeError::Sphere { name: name.into(), sphere: bad + 1 });
        }
        let largest = spheres.iter().map(|s| s.1).fold(0.0, f64::max);
        let (inertia, axes) = principal(solid.inertia * largest.powi(-5));
        let to_principal = DQuat::from_mat3(&axes.transpose()).normalize();
        let own = |c: DVec3| to_principal * (c - solid.centroid) / largest;
        let place = |&(c, radius): &(DVec3, f64)| ShapeSphere { centre: own(c), radius: radius / largest };
        let (spheres, volume) = (spheres.iter().map(place).collect(), solid.volume / largest.powi(3));
        let vertices = skin.vertices.iter().map(|&v| own(v)).collect();
        let centre = solid.centroid / largest;
        let skin = Some(Arc::new(Mesh { vertices, triangles: skin.triangles.clone() }));
        let shape =
            Shape { name: name.into(), spheres, volume, inertia, to_principal, bounding_radius: 0.0, skin, centre };
        Ok((shape.bounded(), largest))
    }

    /// Name from the scene.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Spheres of the shape.
    pub fn spheres(&self) -> &[ShapeSphere] {
        &self.spheres
    }

    /// Volume in units of the largest radius cubed: a grain's is this times R³.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Principal moments of inertia for unit density in units of the largest radius: a grain's are these times ρR⁵.
    pub fn inertia(&self) -> DVec3 {
        self.inertia
    }

    /// Rotation from the frame in which the clump was given to its principal axes.
    pub fn to_principal(&self) -> DQuat {
        self.to_principal
    }

    /// With its bounding radius filled in.
    fn bounded(mut self) -> Shape {
        self.bounding_radius = self.spheres.iter().map(|s| s.centre.length() + s.radius).fold(0.0, f64::max);
        self
    }

    /// Radius of the smallest ball about the centre of mass that holds the shape, in units of the largest radius.
    pub fn bounding_radius(&self) -> f64 {
        self.bounding_radius
    }

    /// Centre of mass in the frame it was given in [m], for a solid of this unit of length [m]; zero for others.
    pub fn centre(&self, unit: f64) -> DVec3 {
        self.centre * unit
    }

    /// The surface of a solid, in the frame and unit of the spheres; none for a clump, whose surface is the spheres'.
    pub fn skin(&self) -> Option<&Arc<Mesh>> {
        self.skin.as_ref()
    }

    /// Whether all three moments of inertia are equal (a sphere, a regular tetrahedron), so that the shape turns like a
    /// ball: to a part in a million, the accuracy of the moments.
    pub fn is_round_top(&self) -> bool {
        self.inertia.max_element() - self.inertia.min_element() < 1e-6 * self.inertia.max_element()
    }

    /// Whether this is a single sphere, for which orientation means nothing.
    pub fn is_sphere(&self) -> bool {
        self.spheres.len() == 1 && self.skin.is_none()
    }
}

/// The spheres without those that lie inside another (of equals, the first stays).
fn without_hidden(spheres: &[(DVec3, f64)]) -> Vec<(DVec3, f64)> {
    let hidden = |i: usize| {
        let (c, r) = spheres[i];
        spheres.iter().enumerate().any(|(j, &(d, s))| {
            let inside = c.distance(d) + r <= s;
            j != i && inside && ((c, r) != (d, s) || j < i)
        })
    };
    (0..spheres.len()).filter(|&i| !hidden(i)).map(|i| spheres[i]).collect()
}

/// Integrals of 1, x and x xᵀ over a body.
#[derive(Clone, Copy, Debug)]
struct Moments {
    volume: f64,
    first: DVec3,
    second: DMat3,
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

impl Moments {
    fn of_union(spheres: &[(DVec3, f64)]) -> Moments {
        // Touching spheres overlap by rounding; the lens of a relative overlap of 1e-9 is 1e-18 of their volume.
        let apart =
            |i: usize, j: usize| spheres[i].0.distance(spheres[j].0) >= (spheres[i].1 + spheres[j].1) * (1.0 - 1e-9);
        if (0..spheres.len()).all(|i| (0..i).all(|j| apart(i, j))) {
            let mut sum = Moments { volume: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };
            for &(c, r) in spheres {
                let volume = UNIT_VOLUME * r.powi(3);
                sum.volume += volume;
                sum.first += c * volume;
                sum.second += outer(c) * volume + DMat3::from_diagonal(DVec3::splat(volume * r * r / 5.0));
            }
            return sum;
        }
        slices(spheres)
    }

    /// Inertia tensor for unit density about a point: ∫ (|d|² − d dᵀ) with d = x − centre of mass.
    fn inertia_about(&self, centre: DVec3) -> DMat3 {
        let second = self.second - outer(centre) * self.volume;
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        DMat3::from_diagonal(DVec3::splat(trace)) - second
    }
}

/// Nodes and weights of the 8-point Gauss–Legendre rule on [−1, 1], positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

fn gauss(a: f64, b: f64, mut f: impl FnMut(f64, f64)) {
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    for (node, weight) in GAUSS {
        f(middle - half * node, half * weight);
        f(middle + half * node, half * weight);
    }
}

/// Panels over the whole height; each is one Gauss rule. Where discs begin to overlap the area goes as height^3/2, so
/// the error falls as panels^−5/2.
const PANELS: f64 = 160.0;
/// Spheres above which panels may straddle the height where a sphere begins or ends: every sphere would add two more panels.
const MANY_SPHERES: usize = 100;
/// Pairs of discs that the slices of a clump of many spheres may look at, some two seconds of work.
const MOST_PAIRS: f64 = 1e8;

/// Moments of a union of overlapping spheres, slice by slice.
fn slices(spheres: &[(DVec3, f64)]) -> Moments {
    // Slices change their form where a sphere begins or ends; panels do not straddle these heights.
    let mut cuts: Vec<f64> = spheres.iter().flat_map(|&(c, r)| [c.z - r, c.z + r]).collect();
    cuts.sort_by(f64::total_cmp);
    let (bottom, top) = (cuts[0], cuts[cuts.len() - 1]);
    let mut most = PANELS;
    if spheres.len() > MANY_SPHERES {
        // A panel is eight slices, and a slice looks at all pairs of its discs.
        most = (MOST_PAIRS / (8.0 * (spheres.len() as f64).powi(2))).clamp(3.0, PANELS);
        cuts = vec![bottom, top];
    }
    let mut sum = Moments { volume: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };
    let (mut discs, mut covered) = (Vec::new(), Vec::new());
    for pair in cuts.windows(2).filter(|w| w[1] > w[0]) {
        let panels = ((pair[1] - pair[0]) / (top - bottom) * most).ceil();
        let height = (pair[1] - pair[0]) / panels;
        for k in 0..panels as usize {
            let low = pair[0] + height * k as f64;
            gauss(low, low + height, |z, weight| {
                discs.clear();
                discs.extend(spheres.iter().filter_map(|&(c, r)| {
                    let squared = r * r - (z - c.z).powi(2);
                    (squared > 0.0).then(|| (c.truncate(), squared.sqrt()))
                }));
                // A, ∫x, ∫y, ∫x², ∫y², ∫xy of the slice.
                let m = disc_moments(&discs, &mut covered).map(|m| m * weight);
                sum.volume += m[0];
                sum.first += DVec3::new(m[1], m[2], z * m[0]);
                let (xz, yz) = (z * m[1], z * m[2]);
                sum.second += DMat3::from_cols(
                    DVec3::new(m[3], m[5], xz),
                    DVec3::new(m[5], m[4], yz),
                    DVec3::new(xz, yz, z * z * m[0]),
                );
            });
        }
    }
    sum
}

/// Moments of a union of discs by Green's theorem over the arcs of its boundary.
fn disc_moments(discs: &[(DVec2, f64)], covered: &mut Vec<(f64, f64)>) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for (i, &(centre, radius)) in discs.iter().enumerate() {
        if !covered_angles(discs, i, covered) {
            continue;
        }
        let mut from = -PI;
        for &(a, b) in covered.iter().chain([&(PI, PI)]) {
            if a > from {
                // Quarter turns keep the rule at full precision for these trigonometric polynomials.
                let parts = ((a - from) / (0.5 * PI)).ceil();
                let width = (a - from) / parts;
                for k in 0..parts as usize {
                    let start = from + width * k as f64;
                    gauss(start, start + width, |angle, weight| {
                        let (sin, cos) = math::sin_cos(angle);
                        let (x, y) = (centre.x + radius * cos, centre.y + radius * sin);
                        let (dx, dy) = (-radius * sin * weight, radius * cos * weight);
                        sum[0] += 0.5 * (x * dy - y * dx);
                        sum[1] += 0.5 * x * x * dy;
                        sum[2] -= 0.5 * y * y * dx;
                        sum[3] += x * x * x * dy / 3.0;
                        sum[4] -= y * y * y * dx / 3.0;
                        sum[5] += 0.5 * x * x * y * dy;
                    });
                }
            }
            from = from.max(b);
        }
    }
    sum
}

/// Sorted angles of disc `i`'s edge, within ±π, that lie in other discs; false where all of it does.
fn covered_angles(discs: &[(DVec2, f64)], i: usize, covered: &mut Vec<(f64, f64)>) -> bool {
    covered.clear();
    let (centre, radius) = discs[i];
    for (j, &(other, size)) in discs.iter().enumerate() {
        let offset = other - centre;
        let distance = offset.length();
        if j == i || distance >= radius + size || distance <= radius - size && (distance, size) != (0.0, radius) {
            continue;
        }
        if distance <= size - radius {
            // Of two equal discs the first keeps the edge.
            if (distance, size) == (0.0, radius) && i < j {
                continue;
            }
            return false;
        }
        let cosine = (distance * distance + radius * radius - size * size) / (2.0 * distance * radius);
        let (middle, half) = (math::atan2(offset.y, offset.x), math::acos(cosine.clamp(-1.0, 1.0)));
        let (a, b) = (middle - half, middle + half);
        if a < -PI {
            covered.extend([(a + TAU, PI), (-PI, b)]);
        } else if b > PI {
            covered.extend([(a, PI), (-PI, b - TAU)]);
        } else {
            covered.push((a, b));
        }
    }
    covered.sort_by(|p, q| p.0.total_cmp(&q.0));
    true
}

/// Off-diagonal shares of the trace below this are noise of the quadrature and turn no axes.
const NOISE: f64 = 1e-8;

/// Eigenvalues and right-handed eigenvectors (columns) of a symmetric matrix by cyclic Jacobi rotations.
fn principal(tensor: DMat3) -> (DVec3, DMat3) {
    let mut a = tensor.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    let trace = a[0][0] + a[1][1] + a[2][2];
    let largest = |a: &[[f64; 3]; 3]| a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
    if largest(&a) > NOISE * trace {
        // Convergence is quadratic: 5 sweeps reach rounding, 20 are plenty.
        for _ in 0..20 {
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + math::hypot(theta, 1.0));
                let c = 1.0 / math::hypot(t, 1.0);
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..3 {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (axes[p][k], axes[q][k]) = (c * axes[p][k] - s * axes[q][k], s * axes[p][k] + c * axes[q][k]);
                }
                (a[p][q], a[q][p]) = (0.0, 0.0);
            }
        }
    }
    // Products of rotations: right-handed as they are.
    (DVec3::new(a[0][0], a[1][1], a[2][2]), DMat3::from_cols_array_2d(&axes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;

    fn sorted(v: DVec3) -> [f64; 3] {
        let mut a = v.to_array();
        a.sort_by(f64::total_cmp);
        a
    }

    fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
        assert!((a / b - 1.0).abs() < tolerance, "{what}: {a} {b}");
    }

    #[test]
    fn a_clump_of_one_is_the_sphere_bit_for_bit() {
        let sphere = Shape::sphere();
        assert_eq!(sphere.volume(), 4.0 / 3.0 * PI);
        assert_eq!(sphere.inertia(), DVec3::splat(0.4 * sphere.volume()));
        let at = DVec3::new(3.0, 2.0, 1.0);
        for list in [vec![(at, 0.7)], vec![(at, 0.1), (at, 0.7), (at, 0.7), (at + 0.2, 0.3)]] {
            let (one, radius) = Shape::clump("sphere", &list).unwrap();
            assert_eq!((&one, radius), (&sphere, 0.7));
            assert!(one.is_sphere());
        }
    }

    /// Every sphere had panels of its own, and every slice looks at all pairs: 250 spheres took half a minute.
    #[test]
    fn a_clump_of_many_overlapping_spheres_is_a_capsule_in_bounded_time() {
        let (radius, length) = (0.5, 1.0);
        // The caps between neighbours are missing: a share of the cylinder's volume of step²/12R² is less than 2e-5 of it.
        for count in [250, MOST_IN_CLUMP] {
            let step = length / (count - 1) as f64;
            let direction = DVec3::new(0.3, -0.5, 0.8).normalize();
            let row: Vec<_> = (0..count).map(|k| (direction * step * k as f64, radius)).collect();
            let begun = std::time::Instant::now();
            let (shape, unit) = Shape::clump("capsule", &row).unwrap();
            assert!(begun.elapsed().as_secs_f64() < 60.0, "{count} spheres: {:?}", begun.elapsed());
            let (ball, barrel) = (UNIT_VOLUME * radius.powi(3), PI * radius.powi(2) * length);
            assert_close(shape.volume() * unit.powi(3), ball + barrel, 1e-4, "volume of a capsule");
            let along = 0.4 * ball * radius.powi(2) + 0.5 * barrel * radius.powi(2);
            assert_close(sorted(shape.inertia())[0] * unit.powi(5), along, 3e-4, "moment about the axis");
        }
        let row = vec![(DVec3::ZERO, 1.0); MOST_IN_CLUMP + 1];
        assert!(matches!(Shape::clump("crowd", &row), Err(ShapeError::TooMany { spheres: 2001, .. })));
    }

    #[test]
    fn two_overlapping_spheres_have_the_closed_form_moments() {
        let mut rng = Random::new(1, 0);
        for half in [0.05, 0.3, 0.5, 0.9, 0.999] {
            let (end, arm) = (rng.in_ball(), rng.direction());
            let scale = 2.5e-3;
            let list = [(end * scale, scale), ((end + arm * 2.0 * half) * scale, scale)];
            let (shape, radius) = Shape::clump("pair", &list).unwrap();
            // Slices across the axis from the far pole to the middle: polynomials of degree 4, exact by Gauss.
            let (mut volume, mut axial, mut transverse) = (0.0, 0.0, 0.0);
            gauss(-1.0, half, |z, w| {
                let s = PI * (1.0 - z * z);
                volume += 2.0 * w * s;
                axial += 2.0 * w * s * s / (2.0 * PI);
                transverse += 2.0 * w * (s * s / (4.0 * PI) + s * (z - half).powi(2));
            });
            assert_eq!(radius, scale);
            assert_close(shape.volume(), volume, 1e-6, "volume");
            let inertia = sorted(shape.inertia());
            [axial, transverse, transverse].iter().zip(inertia).for_each(|(a, b)| assert_close(b, *a, 1e-6, "inertia"));
            // Centred, and along the axis of least inertia.
            let [a, b] = shape.spheres() else { panic!("two spheres") };
            assert!((a.centre + b.centre).length() < 1e-6 && (a.centre.length() - half).abs() < 1e-6);
            let least = shape.inertia().min_position();
            assert!((a.centre[least].abs() - half).abs() < 1e-6);
        }
    }

    #[test]
    fn touching_spheres_follow_steiner() {
        let list: Vec<_> = (0..3).map(|i| (DVec3::new(0.0, 2.0 * i as f64, 5.0), 1.0)).collect();
        let (shape, _) = Shape::clump("rod", &list).unwrap();
        assert_close(shape.volume(), 3.0 * UNIT_VOLUME, 1e-15, "volume");
        let across = UNIT_VOLUME * (3.0 * 0.4 + 8.0);
        let exact = [1.2 * UNIT_VOLUME, across, across];
        exact.iter().zip(sorted(shape.inertia())).for_each(|(a, b)| assert_close(b, *a, 1e-13, "inertia"));
        assert_eq!(shape.bounding_radius(), 3.0);
        let tetrahedron = Shape::tetrahedron(2.0).unwrap();
        assert_close(tetrahedron.volume(), 4.0 * UNIT_VOLUME, 1e-15, "volume");
        // Σ (2/5 + ⟂²) with the corners √6/4 of an edge from the middle: ⟂² = 2/3 · 3/8 · edge².
        assert_close(tetrahedron.inertia().x, 4.0 * UNIT_VOLUME * (0.4 + 1.0), 1e-13, "inertia");
        let edge = tetrahedron.spheres()[0].centre.distance(tetrahedron.spheres()[3].centre);
        assert_close(edge, 2.0, 1e-15, "edge");
    }

    #[test]
    fn moments_do_not_depend_on_how_the_slices_lie() {
        // Volume and principal moments of a tangled clump, cut in twelve directions.
        let mut rng = Random::new(2, 0);
        let list: Vec<_> = (0..12).map(|_| (1.6 * rng.in_ball(), rng.range(0.5, 1.0))).collect();
        let (shape, _) = Shape::clump("tangle", &list).unwrap();
        for _ in 0..12 {
            let (turn, shift) = (rng.unit_quaternion(), 3.0 * rng.in_ball());
            let turned: Vec<_> = list.iter().map(|&(c, r)| (turn * c + shift, r)).collect();
            let (other, _) = Shape::clump("tangle", &turned).unwrap();
            assert_close(other.volume(), shape.volume(), 2e-6, "volume");
            let pairs = sorted(shape.inertia()).into_iter().zip(sorted(other.inertia()));
            pairs.for_each(|(a, b)| assert_close(a, b, 4e-6, "inertia"));
            assert!((other.bounding_radius() - shape.bounding_radius()).abs() < 1e-5);
        }
    }

    #[test]
    fn a_shape_given_in_its_own_frame_is_kept() {
        let mut rng = Random::new(3, 0);
        let list: Vec<_> = (0..6).map(|_| (rng.in_ball() * DVec3::new(2.0, 1.2, 0.7), rng.range(0.5, 1.0))).collect();
        let (shape, _) = Shape::clump("s", &list).unwrap();
        let again: Vec<_> = shape.spheres().iter().map(|s| (s.centre, s.radius)).collect();
        let (other, unit) = Shape::clump("s", &again).unwrap();
        assert_eq!(unit, 1.0);
        assert!(other.to_principal().angle_between(DQuat::IDENTITY) < 1e-4);
        shape.spheres().iter().zip(other.spheres()).for_each(|(a, b)| assert!(a.centre.distance(b.centre) < 1e-4));
        // And the turn given out is the one applied: distances between centres follow.
        let (a, b) = (&shape.spheres()[0], &shape.spheres()[1]);
        let largest = list.iter().map(|s| s.1).fold(0.0, f64::max);
        let expected = shape.to_principal() * (list[0].0 - list[1].0) / largest;
        assert!((a.centre - b.centre).distance(expected) < 1e-12);
    }

    #[test]
    fn an_overlapping_tetrahedron_is_as_round_as_its_clump() {
        let shape = Shape::tetrahedron(1.2).unwrap();
        let list: Vec<_> = shape.spheres().iter().map(|s| (s.centre, s.radius)).collect();
        let (clump, _) = Shape::clump("t", &list).unwrap();
        assert_eq!(clump.volume(), shape.volume());
        clump.inertia().to_array().iter().for_each(|i| assert_close(*i, shape.inertia().x, 2e-6, "inertia"));
        assert!(shape.volume() < 4.0 * UNIT_VOLUME && shape.volume() > UNIT_VOLUME);
    }

    #[test]
    fn impossible_shapes_are_named() {
        assert!(matches!(Shape::clump("x", &[]), Err(ShapeError::Empty { .. })));
        let bad = Shape::clump("x", &[(DVec3::ZERO, 1.0), (DVec3::ZERO, -1.0)]);
        assert!(matches!(bad, Err(ShapeError::Sphere { sphere: 2, .. })));
        assert_eq!(Shape::tetrahedron(0.0), Err(ShapeError::Edge(0.0)));
    }
}
