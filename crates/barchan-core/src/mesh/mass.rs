//! Size, area and mass of a mesh; meshes moved, scaled and put together.
//!
//! The solid is the sum of the tetrahedra that triangles span with one reference point, each with its sign; moments of a
//! tetrahedron are polynomials in its corners, so there is no quadrature: the closed forms of Mirtich, "Fast and
//! accurate computation of polyhedral mass properties" (1996), and Eberly, "Polyhedral mass properties (revisited)"
//! (2002), in the symmetric form of Tonon (2004). The reference point is the middle of the bounding box: far from the
//! mesh the tetrahedra would be large and cancel.

use super::Mesh;
use glam::{DAffine3, DMat3, DVec3};

/// Volume, centre and inertia of the solid within a mesh, at unit density: times the density [kg/m³] they are mass [kg],
/// centre [m] and inertia [kg m²].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume [m³].
    pub volume: f64,
    /// Centre of mass [m].
    pub centroid: DVec3,
    /// Inertia tensor about the centre of mass, for unit density [m⁵].
    pub inertia: DMat3,
}

/// A solid has more volume than this fraction of area times size; less is the rounding of a sheet's.
const SOLID: f64 = 1e-12;

impl Mesh {
    /// Lowest and highest corner of the box round the vertices [m]; `None` without vertices.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let first = *self.vertices.first()?;
        Some(self.vertices.iter().fold((first, first), |(low, high), v| (low.min(*v), high.max(*v))))
    }

    /// Area of all triangles [m²].
    pub fn area(&self) -> f64 {
        let doubled = (0..self.triangles.len()).map(|i| {
            let [a, b, c] = self.corners(i);
            (b - a).cross(c - a).length()
        });
        0.5 * doubled.sum::<f64>()
    }

    /// Volume within [m³]: negative where the mesh is inside out, without meaning where it has holes.
    pub fn volume(&self) -> f64 {
        self.moments().map_or(0.0, |m| m.volume)
    }

    /// Volume, centre and inertia of the solid within; `None` where there is no volume, or a negative one, which
    /// [`Mesh::orient`] would put right. Meant for closed meshes; of a mesh with small holes it takes them as filled
    /// by cones to the middle of the box round it.
    pub fn mass_properties(&self) -> Option<MassProperties> {
        let (low, high) = self.bounds()?;
        let moments = self.moments()?;
        // Written so that NaN gives none.
        let solid = moments.volume > SOLID * self.area() * low.distance(high);
        if !solid {
            return None;
        }
        let centre = moments.first / moments.volume;
        let second = moments.second - moments.volume * outer(centre);
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        Some(MassProperties {
            volume: moments.volume,
            centroid: moments.about + centre,
            inertia: DMat3::from_diagonal(DVec3::splat(trace)) - second,
        })
    }

    /// The mesh `factor` times as large, about the origin. A negative factor mirrors it, and it stays outward.
    pub fn scaled(&self, factor: f64) -> Mesh {
        self.transformed(&DAffine3::from_scale(DVec3::splat(factor)))
    }

    /// The mesh moved, turned, stretched; where the map mirrors, triangles are turned, so that outside stays outside.
    pub fn transformed(&self, map: &DAffine3) -> Mesh {
        let mirrored = map.matrix3.determinant() < 0.0;
        Mesh {
            vertices: self.vertices.iter().map(|v| map.transform_point3(*v)).collect(),
            triangles: self.triangles.iter().map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] }).collect(),
        }
    }

    /// Adds the vertices and triangles of another mesh; the two stay parts of their own.
    pub fn append(&mut self, other: &Mesh) {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| first + v)));
    }

    fn moments(&self) -> Option<Moments> {
        let (low, high) = self.bounds()?;
        let mut sum = Moments { about: 0.5 * (low + high), volume: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };
        for i in 0..self.triangles.len() {
            let [a, b, c] = self.corners(i).map(|v| v - sum.about);
            let volume = a.dot(b.cross(c)) / 6.0;
            let corners = a + b + c;
            sum.volume += volume;
            sum.first += volume / 4.0 * corners;
            sum.second += volume / 20.0 * (outer(a) + outer(b) + outer(c) + outer(corners));
        }
        Some(sum)
    }
}

/// Volume, ∫ r dV and ∫ r rᵀ dV, r counted from a point.
struct Moments {
    about: DVec3,
    volume: f64,
    first: DVec3,
    second: DMat3,
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}
