//! The scene's bodies as the substrate's: for the checks here, and for whoever assembles a world. This is the one place
//! where regions, surfaces, shapes and sizes are converted.

use crate::types::*;
use barchan_core::regions;
use barchan_core::shapes::{Shape, ShapeError};
use barchan_core::sizes::SizeDistribution;
use barchan_core::walls;

impl Region {
    /// The region with its axis brought to unit length.
    pub fn to_core(&self) -> regions::Region {
        match *self {
            Self::Box { min, max } => regions::Region::Box { min, max },
            Self::Cylinder { base, axis, radius, height } => {
                regions::Region::Cylinder { base, axis: axis.normalize_or_zero(), radius, height }
            }
            Self::Sphere { centre, radius } => regions::Region::Sphere { centre, radius },
        }
    }
}

impl Side {
    fn to_core(self) -> walls::Side {
        match self {
            Self::Inside => walls::Side::Inside,
            Self::Outside => walls::Side::Outside,
        }
    }
}

impl Geometry {
    /// The surface; [`walls::Wall::new`] brings its axis to unit length.
    pub fn to_core(&self) -> walls::Geometry {
        match *self {
            Self::Plane { point, normal } => walls::Geometry::Plane { point, normal },
            Self::Box { min, max, side, ref open } => {
                let mut missing = [false; 6];
                for face in open {
                    let (axis, upper) = face.axis();
                    missing[2 * axis + usize::from(upper)] = true;
                }
                walls::Geometry::Box { min, max, side: side.to_core(), open: missing }
            }
            Self::Cylinder { base, axis, radius, height, side } => {
                walls::Geometry::Cylinder { base, axis, radius, height, side: side.to_core() }
            }
            Self::Cone { base, axis, radius_base, radius_top, height, side } => {
                walls::Geometry::Cone { base, axis, radius_base, radius_top, height, side: side.to_core() }
            }
            Self::Sphere { centre, radius, side } => walls::Geometry::Sphere { centre, radius, side: side.to_core() },
            Self::Disc { centre, normal, radius, hole } => walls::Geometry::Disc { centre, normal, radius, hole },
            Self::Mesh(ref mesh) => walls::Geometry::Mesh(mesh.surface.facets.clone().unwrap_or_default()),
        }
    }
}

impl ShapeSpec {
    /// The rigid shape, with the radius of its largest sphere as listed [m] (none for a tetrahedron, which has no size).
    pub fn to_core(&self, name: &str) -> Result<(Shape, Option<f64>), ShapeError> {
        match self {
            Self::Tetrahedron { edge } => Ok((Shape::tetrahedron(*edge)?, None)),
            Self::Spheres(list) => {
                let spheres: Vec<_> = list.iter().map(|s| (s.at, s.radius)).collect();
                Shape::clump(name, &spheres).map(|(shape, radius)| (shape, Some(radius)))
            }
            Self::Mesh(mesh) => match mesh.solid.shape.as_deref() {
                Some((shape, radius)) => Ok((shape.clone(), Some(*radius))),
                None => Err(ShapeError::Empty { name: name.into() }),
            },
        }
    }
}

impl Size {
    /// The distribution of radii.
    pub fn to_core(&self) -> SizeDistribution {
        match *self {
            Self::Fixed(radius) => SizeDistribution::Fixed(radius),
            Self::Uniform([min, max]) => SizeDistribution::Uniform { min, max },
            Self::Normal { mean, sd, min, max } => SizeDistribution::Normal { mean, sd, min, max },
            Self::Lognormal { median, sigma, min, max } => SizeDistribution::LogNormal { median, sigma, min, max },
            Self::Sieve(ref rows) => SizeDistribution::Sieve(rows.iter().map(|r| (r[0], r[1])).collect()),
        }
    }
}

impl Scene {
    /// A shape by its name: built in, or one of `shapes`. None for a name nobody knows or a shape that is impossible.
    pub fn shape(&self, name: &str) -> Option<(Shape, Option<f64>)> {
        match self.shapes.get(name) {
            Some(spec) => spec.to_core(name).ok(),
            None if name == ShapeSpec::SPHERE => Some((Shape::sphere(), None)),
            None if name == ShapeSpec::TETRAHEDRON => {
                Some((Shape::tetrahedron(ShapeSpec::TETRAHEDRON_EDGE).ok()?, None))
            }
            None => None,
        }
    }
}
