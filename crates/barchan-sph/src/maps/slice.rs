//! Values of a map on a plane: what `barchan sdf --volume` writes and the window shows.

use super::{VolumeMap, ball};
use glam::{DVec3, Vec3};

/// A map on a plane, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Points along the first and the second direction.
    pub counts: [usize; 2],
    /// Signed distances Φ [m]; beyond the map 2R with the sign of the side.
    pub distance: Vec<f32>,
    /// Unit normals; zero beyond the map.
    pub normal: Vec<Vec3>,
    /// Volumes V_B [m³]; beyond the map none, or the whole ball.
    pub volume: Vec<f32>,
    /// V_B over its value at a plane at the same distance; 1 beyond the map.
    pub ratio: Vec<f32>,
}

impl VolumeMap {
    /// Values at `counts` points from `first` [m] in steps of `across` and `along` [m], in the frame of the mesh.
    pub fn slice(&self, first: DVec3, across: DVec3, along: DVec3, counts: [usize; 2]) -> Slice {
        let total = counts[0] * counts[1];
        let mut out = Slice { counts, distance: Vec::new(), normal: Vec::new(), volume: Vec::new(), ratio: Vec::new() };
        for k in 0..total {
            let point = first + across * (k % counts[0]) as f64 + along * (k / counts[0]) as f64;
            let (distance, normal, volume, ratio) = match (self.at(point), self.is_inside(point)) {
                (Some(s), _) => (s.distance, s.normal, s.volume, s.ratio),
                (None, true) => (-2.0 * self.support(), DVec3::ZERO, ball(self.support()), 1.0),
                (None, false) => (2.0 * self.support(), DVec3::ZERO, 0.0, 1.0),
            };
            out.distance.push(distance as f32);
            out.normal.push(normal.as_vec3());
            out.volume.push(volume as f32);
            out.ratio.push(ratio as f32);
        }
        out
    }
}
