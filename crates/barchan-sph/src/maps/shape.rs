//! A volume map as the solver asks for it: the shape factor of a wall.

use super::VolumeMap;
use crate::WallShape;
use glam::DVec3;

impl WallShape for VolumeMap {
    fn factor(&self, point: DVec3) -> f64 {
        self.at(point).map_or(1.0, |sample| sample.ratio)
    }

    fn map(&self) -> Option<&VolumeMap> {
        Some(self)
    }
}
