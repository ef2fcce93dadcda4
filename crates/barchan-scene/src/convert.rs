//! The scene's bodies as the substrate's: for the checks here, and for whoever assembles a world. This is the one place
//! where regions, surfaces and sizes are converted; shapes and walls, which may come from files, are in `assets`.

use crate::types::*;
use barchan_core::regions;
use barchan_core::sizes::SizeDistribution;
use barchan_core::walls::{self, Facets};
use std::sync::Arc;

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
    /// The surface, of these triangles where it is a mesh; [`walls::Wall::new`] brings its axis to unit length.
    pub fn to_core(&self, facets: Arc<Facets>) -> walls::Geometry {
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
            Self::Mesh(_) | Self::Standing(_) => walls::Geometry::Mesh(facets),
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
