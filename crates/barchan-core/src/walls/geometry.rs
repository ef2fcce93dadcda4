//! The smooth surfaces: exact distance and normal from a point, in the wall's own frame relative to its pivot.

use super::{Bed, Facets, Nearest};
use crate::sdf::Field;
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// On which side of a surface the grains live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In the hollow: a container, a drum, a funnel.
    Inside,
    /// Around it: a block, a pole, a ball.
    Outside,
}

/// Shape of a wall and where it stands before any motion. Lengths in metres; axes and normals of unit length.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// The half-space behind a plane is solid.
    Plane {
        /// A point of the plane [m].
        point: DVec3,
        /// Unit normal towards the grains.
        normal: DVec3,
    },
    /// A container (inside) or a solid block (outside) with faces along the axes.
    Box {
        /// Lowest corner [m].
        min: DVec3,
        /// Highest corner [m].
        max: DVec3,
        /// Container or block.
        side: Side,
        /// Faces a container does not have, in the order −x +x −y +y −z +z; a block has all.
        open: [bool; 6],
    },
    /// The mantle of a cylinder; ends are open (close them with discs).
    Cylinder {
        /// Centre of the base [m].
        base: DVec3,
        /// Unit axis, from the base upwards.
        axis: DVec3,
        /// Radius [m].
        radius: f64,
        /// Height [m]; without one the cylinder has no ends.
        height: Option<f64>,
        /// Drum or pole.
        side: Side,
    },
    /// The mantle of a truncated cone; ends are open.
    Cone {
        /// Centre of the base [m].
        base: DVec3,
        /// Unit axis, from the base upwards.
        axis: DVec3,
        /// Radius at the base [m].
        radius_base: f64,
        /// Radius at the top [m].
        radius_top: f64,
        /// Height [m].
        height: f64,
        /// Funnel or heap.
        side: Side,
    },
    /// A hollow or solid sphere.
    Sphere {
        /// Centre [m].
        centre: DVec3,
        /// Radius [m].
        radius: f64,
        /// Hollow or solid.
        side: Side,
    },
    /// A thin round plate, touched from both sides, perhaps with a round hole.
    Disc {
        /// Centre [m].
        centre: DVec3,
        /// Unit normal.
        normal: DVec3,
        /// Radius [m].
        radius: f64,
        /// Radius of the hole [m], 0 for none.
        hole: f64,
    },
    /// Triangles: a solid where they close, a shell where they do not.
    Mesh(Arc<Facets>),
    /// A solid about the origin by its distance field: one smooth feature, however fine the mesh it was made from. The
    /// band must be wider than the reach of any ball.
    Field(Arc<Field>),
    /// The surface of a ground, solid below. It stands upright and does not move; its heights may change.
    Relief(Arc<Bed>),
}

/// A point in the half-plane through the axis: distance from the axis, height along it, and the outward direction.
pub(super) fn meridian(q: DVec3, axis: DVec3) -> (DVec2, DVec3) {
    let z = q.dot(axis);
    let radial = q - axis * z;
    let rho = radial.length();
    // On the axis every direction is as near as any other: take a fixed one.
    let outward = if rho > 0.0 { radial / rho } else { axis.any_orthonormal_vector() };
    (DVec2::new(rho, z), outward)
}

/// The nearest point is `offset` behind us; `facing` decides where the point lies on the surface itself.
fn shell(offset: DVec3, facing: DVec3) -> Nearest {
    let distance = offset.length();
    let normal = if distance > 0.0 { offset / distance } else { facing };
    Nearest { distance, normal, radius: 0.0 }
}

fn unit(component: usize, value: f64) -> DVec3 {
    let mut v = DVec3::ZERO;
    v[component] = value;
    v
}

impl Geometry {
    /// The point that the pose turns and carries [m]: see [`super::WallState`].
    #[inline]
    pub fn pivot(&self) -> DVec3 {
        match *self {
            Geometry::Mesh(ref facets) => facets.pivot(),
            Geometry::Field(_) => DVec3::ZERO,
            Geometry::Relief(ref bed) => bed.relief().origin,
            Geometry::Plane { point, .. } => point,
            Geometry::Box { min, max, .. } => 0.5 * (min + max),
            Geometry::Cylinder { base, .. } | Geometry::Cone { base, .. } => base,
            Geometry::Sphere { centre, .. } | Geometry::Disc { centre, .. } => centre,
        }
    }

    pub(super) fn normalised(mut self) -> Geometry {
        match &mut self {
            Geometry::Plane { normal: a, .. }
            | Geometry::Disc { normal: a, .. }
            | Geometry::Cylinder { axis: a, .. }
            | Geometry::Cone { axis: a, .. } => *a = a.normalize_or_zero(),
            Geometry::Box { .. }
            | Geometry::Sphere { .. }
            | Geometry::Mesh(_)
            | Geometry::Field(_)
            | Geometry::Relief(_) => {}
        }
        self
    }

    /// Keys of the smooth features: the faces a container has, otherwise one.
    pub(super) fn faces(&self) -> impl Iterator<Item = u32> + use<> {
        let present = match *self {
            Geometry::Box { side: Side::Inside, open, .. } => open.map(|o| !o),
            // Triangles are found by their tree.
            Geometry::Mesh(_) => [false; 6],
            _ => [true, false, false, false, false, false],
        };
        (0..6).filter(move |&f| present[f as usize])
    }

    /// Distance and normal of one smooth face from `q`, a point relative to the pivot in the wall's own frame.
    #[inline]
    pub(super) fn nearest(&self, face: u32, q: DVec3) -> Nearest {
        let one_sided = |distance, normal| Nearest { distance, normal, radius: 0.0 };
        match *self {
            Geometry::Plane { normal, .. } => one_sided(q.dot(normal), normal),
            Geometry::Mesh(ref facets) => {
                let offset = facets.foot(face).offset(q + facets.pivot());
                let distance = offset.length();
                one_sided(distance, if distance > 0.0 { offset / distance } else { DVec3::Z })
            }
            Geometry::Field(ref field) => {
                let (distance, slope) = field.distance_and_gradient(q);
                // Beyond the band only the side is known.
                one_sided(if distance >= field.band() { f64::INFINITY } else { distance }, slope.normalize_or(DVec3::Z))
            }
            Geometry::Relief(ref bed) => bed.nearest(q, f64::INFINITY),
            Geometry::Box { min, max, side: Side::Inside, open } => {
                let half = 0.5 * (max - min);
                let (a, sign) = (face as usize / 2 % 3, if face.is_multiple_of(2) { -1.0 } else { 1.0 });
                let inward = unit(a, -sign);
                if open.contains(&true) {
                    let mut touch = q.clamp(-half, half);
                    touch[a] = sign * half[a];
                    shell(q - touch, inward)
                } else {
                    // Nobody can be outside a closed box by right: each face acts as its whole plane, so that
                    // a centre pressed through a corner is still pushed back by all faces it has passed.
                    one_sided(half[a] - sign * q[a], inward)
                }
            }
            Geometry::Box { min, max, side: Side::Outside, .. } => {
                let half = 0.5 * (max - min);
                let depth = half - q.abs();
                if depth.min_element() < 0.0 {
                    shell(q - q.clamp(-half, half), DVec3::Z)
                } else {
                    let a = depth.min_position();
                    one_sided(-depth[a], unit(a, 1f64.copysign(q[a])))
                }
            }
            Geometry::Cylinder { axis, radius, height: None, side, .. } => {
                let (p, outward) = meridian(q, axis);
                match side {
                    Side::Inside => one_sided(radius - p.x, -outward),
                    Side::Outside => one_sided(p.x - radius, outward),
                }
            }
            Geometry::Cylinder { axis, radius, height: Some(h), side, .. } => {
                mantle(q, axis, DVec2::new(radius, 0.0), DVec2::new(radius, h), side)
            }
            Geometry::Cone { axis, radius_base, radius_top, height, side, .. } => {
                mantle(q, axis, DVec2::new(radius_base, 0.0), DVec2::new(radius_top, height), side)
            }
            Geometry::Sphere { radius, side, .. } => {
                let rho = q.length();
                let outward = if rho > 0.0 { q / rho } else { DVec3::Z };
                match side {
                    Side::Inside => one_sided(radius - rho, -outward),
                    Side::Outside => one_sided(rho - radius, outward),
                }
            }
            Geometry::Disc { normal, radius, hole, .. } => {
                let (p, outward) = meridian(q, normal);
                shell(outward * (p.x - p.x.max(hole).min(radius)) + normal * p.y, normal)
            }
        }
    }

    pub(super) fn check(&self, found: &mut Vec<(String, &'static str)>) {
        let mut length = |name: &str, value: f64, may_vanish: bool| {
            if !(value.is_finite() && (value > 0.0 || may_vanish && value == 0.0)) {
                found.push((format!("{name} is {value} m"), "give it a positive length"));
            }
        };
        let mut direction = None;
        match *self {
            Geometry::Plane { normal, .. } => direction = Some(normal),
            Geometry::Box { min, max, .. } => {
                for (name, size) in ["size along x", "size along y", "size along z"].iter().zip((max - min).to_array())
                {
                    length(name, size, false);
                }
            }
            Geometry::Cylinder { axis, radius, height, .. } => {
                length("radius", radius, false);
                length("height", height.unwrap_or(1.0), false);
                direction = Some(axis);
            }
            Geometry::Cone { axis, radius_base, radius_top, height, .. } => {
                length("base radius", radius_base, true);
                length("top radius", radius_top, true);
                length("larger radius", radius_base.max(radius_top), false);
                length("height", height, false);
                direction = Some(axis);
            }
            Geometry::Sphere { radius, .. } => length("radius", radius, false),
            Geometry::Mesh(ref facets) => {
                if facets.mesh().triangles.is_empty() {
                    found.push(("its mesh has no triangles".into(), "give a mesh with a surface"));
                }
                return;
            }
            Geometry::Field(_) => return,
            Geometry::Relief(ref bed) => bed.check(found),
            Geometry::Disc { normal, radius, hole, .. } => {
                length("radius", radius, false);
                length("hole's radius", hole, true);
                length("plate between hole and edge", radius - hole, false);
                direction = Some(normal);
            }
        }
        if direction.is_some_and(|d| !d.is_normalized()) {
            found.push(("its axis or normal is not a direction".into(), "give a vector of non-zero length"));
        }
        if !self.pivot().is_finite() {
            found.push(("its place is not a finite point".into(), "give finite coordinates"));
        }
    }
}

/// Mantle swept by the segment a–b of the half-plane (distance from the axis, height) about the axis.
///
/// The nearest point of a surface of revolution lies in the point's own half-plane, so this is the distance to a
/// segment. Past an end the nearest point is the rim: never nearer than a neighbouring mantle that continues there,
/// so a grain sliding from a cylinder into a cone meets no step.
fn mantle(q: DVec3, axis: DVec3, a: DVec2, b: DVec2, side: Side) -> Nearest {
    let (p, outward) = meridian(q, axis);
    let along = b - a;
    let t = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    let offset = p - (a + along * t);
    let facing = match side {
        Side::Inside => along.perp().normalize(),
        Side::Outside => -along.perp().normalize(),
    };
    shell(outward * offset.x + axis * offset.y, outward * facing.x + axis * facing.y)
}
