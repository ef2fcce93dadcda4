//! Sides of the domain: copies of the pieces near them, so that the field goes on beyond, and planes that end it there.

use super::{Cloud, Side, SkinSettings};
use glam::DVec3;

/// A piece as the field sees it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Centre [m].
    pub(super) centre: DVec3,
    /// Its row in the cloud.
    pub(super) row: u32,
}

/// Copies of the pieces whose kernels cross a side: mirrored at walls, moved by the period at periodic sides. One axis after the other, so
/// that edges and corners of the domain have theirs.
pub(super) fn ghosts(cloud: &Cloud<'_>, settings: &SkinSettings, reach: impl Fn(usize) -> f64) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::new();
    for axis in 0..3 {
        let Some([low, high]) = settings.sides[axis].planes() else { continue };
        let periodic = matches!(settings.sides[axis], Side::Periodic { .. });
        let own = cloud.position.iter().enumerate().map(|(row, &centre)| Place { centre, row: row as u32 });
        let copies: Vec<Place> = own
            .chain(all.iter().copied())
            .flat_map(|place| {
                let (x, h) = (place.centre[axis], reach(place.row as usize));
                let [below, above] =
                    if periodic { [x - (high - low), x + (high - low)] } else { [2.0 * low - x, 2.0 * high - x] };
                let near = |copy: f64, cross: bool| {
                    let mut centre = place.centre;
                    centre[axis] = copy;
                    cross.then_some(Place { centre, row: place.row })
                };
                // A copy counts where its kernel reaches into the domain; what lies beyond a wall has none.
                let within = (low..=high).contains(&x);
                [
                    near(below, within && below < low && below + h > low),
                    near(above, within && above > high && above - h < high),
                ]
            })
            .flatten()
            .collect();
        all.extend(copies);
    }
    all
}

/// The planes that end the field, in voxels: axis, low, high.
pub(super) struct Planes(Vec<(usize, f64, f64)>);

impl Planes {
    pub(super) fn new(settings: &SkinSettings) -> Planes {
        let planes = (0..3).filter_map(|axis| {
            let [low, high] = settings.sides[axis].planes()?;
            Some((axis, low / settings.voxel, high / settings.voxel))
        });
        Planes(planes.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the field may be at most at a node, so that the surface ends in the planes: it is `iso` there and changes by as much within a
    /// voxel, where a full field still is larger. A linear function is interpolated without error: the surface lies in the plane.
    pub(super) fn cap(&self, node: [f64; 3], iso: f64) -> f64 {
        let depth = self.0.iter().map(|&(axis, low, high)| (node[axis] - low).min(high - node[axis]));
        depth.fold(f64::INFINITY, |least, depth| least.min(iso * (1.0 + depth)))
    }
}
