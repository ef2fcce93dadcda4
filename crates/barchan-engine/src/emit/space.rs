//! Which places are free of grains and walls, periodic images included.

use barchan_core::packing::SphereGrid;
use barchan_core::regions::Region;
use barchan_dem::Dem;
use glam::DVec3;

/// Balls in and near a region, and the walls.
pub(crate) struct Space<'a> {
    dem: &'a Dem,
    grid: SphereGrid,
    /// Shifts of the periodic images, the zero shift among them [m].
    images: Vec<DVec3>,
}

impl<'a> Space<'a> {
    /// All grains that a ball of radius up to `largest` [m] in the region could touch.
    pub fn around(dem: &'a Dem, region: &Region, largest: f64) -> Space<'a> {
        let frame = dem.frame();
        let reach_of: Vec<f64> = frame.shapes.iter().map(|s| s.bounding_radius()).collect();
        let images = images(dem);
        let (low, high) = region.bounds();
        let mut near = Vec::new();
        // What has a surface is among the walls.
        let bare = |id: u32| dem.settings().carried.iter().all(|c| c.grain != id);
        for i in (0..frame.len()).filter(|&i| bare(frame.id[i])) {
            let r = reach_of[frame.shape[i] as usize] * frame.radius[i];
            let there = images.iter().map(|shift| frame.position[i] + *shift);
            near.extend(there.filter(|x| (*x + r).cmpge(low).all() && (*x - r).cmple(high).all()).map(|x| (x, r)));
        }
        let mut grid = SphereGrid::new(low, high, near.iter().map(|b| b.1).chain([largest; 64]));
        near.iter().for_each(|&(x, r)| grid.insert(x, r));
        Space { dem, grid, images }
    }

    /// Puts a ball of radius `r` [m] and its images there.
    pub fn insert(&mut self, x: DVec3, r: f64) {
        self.images.iter().for_each(|shift| self.grid.insert(x + *shift, r));
    }

    /// Whether a ball of radius `r` [m] at `x` touches nothing.
    pub fn is_free(&self, x: DVec3, r: f64) -> bool {
        let (walls, states) = self.dem.walls();
        let clear = |w: usize| !self.dem.is_there(w) || walls[w].clearance(&states[w], x) >= r;
        !self.grid.overlaps(x, r) && (0..walls.len()).all(clear)
    }
}

fn images(dem: &Dem) -> Vec<DVec3> {
    let domain = &dem.settings().domain;
    let mut images = vec![DVec3::ZERO];
    for axis in (0..3).filter(|&a| domain.periodic[a]) {
        let mut shift = DVec3::ZERO;
        shift[axis] = domain.max[axis] - domain.min[axis];
        images = images.into_iter().flat_map(|i| [i, i - shift, i + shift]).collect();
    }
    images
}
