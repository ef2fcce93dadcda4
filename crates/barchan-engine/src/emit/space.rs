//! Which places are free of matter and walls, periodic images included.

use barchan_core::boundary::Boundary;
use barchan_core::packing::SphereGrid;
use barchan_core::regions::Region;
use barchan_core::solver::{Domain, Solvers};
use glam::DVec3;

/// Balls in and near a region, and the walls.
pub(crate) struct Space<'a> {
    boundary: &'a Boundary,
    grid: SphereGrid,
    /// Shifts of the periodic images, the zero shift among them [m].
    images: Vec<DVec3>,
}

impl<'a> Space<'a> {
    /// All matter that a ball of radius up to `largest` [m] in the region could touch.
    pub fn around(
        solvers: &Solvers,
        boundary: &'a Boundary,
        domain: &Domain,
        region: &Region,
        largest: f64,
    ) -> Space<'a> {
        let images = images(domain);
        let (low, high) = region.bounds();
        let mut near = Vec::new();
        for solver in solvers.iter() {
            solver.balls(&mut |x, r| {
                let there = images.iter().map(|shift| x + *shift);
                near.extend(there.filter(|x| (*x + r).cmpge(low).all() && (*x - r).cmple(high).all()).map(|x| (x, r)));
            });
        }
        let mut grid = SphereGrid::new(low, high, near.iter().map(|b| b.1).chain([largest; 64]));
        near.iter().for_each(|&(x, r)| grid.insert(x, r));
        Space { boundary, grid, images }
    }

    /// Puts a ball of radius `r` [m] and its images there.
    pub fn insert(&mut self, x: DVec3, r: f64) {
        self.images.iter().for_each(|shift| self.grid.insert(x + *shift, r));
    }

    /// Whether a ball of radius `r` [m] at `x` touches nothing.
    pub fn is_free(&self, x: DVec3, r: f64) -> bool {
        let (walls, states) = (self.boundary.walls(), self.boundary.states());
        let clear = |w: usize| !self.boundary.is_there(w) || walls[w].clearance(&states[w], x) >= r;
        !self.grid.overlaps(x, r) && (0..walls.len()).all(clear)
    }
}

fn images(domain: &Domain) -> Vec<DVec3> {
    let mut images = vec![DVec3::ZERO];
    for axis in (0..3).filter(|&a| domain.periodic[a]) {
        let mut shift = DVec3::ZERO;
        shift[axis] = domain.max[axis] - domain.min[axis];
        images = images.into_iter().flat_map(|i| [i, i - shift, i + shift]).collect();
    }
    images
}
