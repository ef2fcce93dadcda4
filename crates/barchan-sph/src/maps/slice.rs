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

/// What a picture of a slice shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// V_B, from white (none) to dark (a whole ball).
    #[default]
    Volume,
    /// Φ: blue outside, orange inside, paler towards the surface; grey where the map does not reach.
    Distance,
    /// **n**, its components as red, green and blue around grey.
    Normal,
}

/// A slice as a picture: rows from above, red, green, blue and opacity of each pixel. The surface is a red line.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels across and down.
    pub size: [usize; 2],
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

impl VolumeMap {
    /// Pictures of the plane through a point [m] of the mesh's frame that is across an axis of it (0, 1, 2), with so many pixels along the longer side.
    pub fn pictures<const N: usize>(
        &self,
        axis: usize,
        through: DVec3,
        pixels: usize,
        shown: [Shown; N],
    ) -> [Picture; N] {
        let (low, high) = self.bounds();
        let normal = DVec3::AXES[axis.min(2)];
        let across = if axis == 0 { DVec3::Y } else { DVec3::X };
        let up = if axis >= 2 { DVec3::Y } else { DVec3::Z };
        let size = high - low;
        let step = size.dot(across).max(size.dot(up)) / pixels.max(1) as f64;
        let [w, h] = [size.dot(across) / step, size.dot(up) / step].map(|n| (n as usize).max(1));
        let corner = normal * through + (across + up) * (low + 0.5 * step) + up * ((h - 1) as f64 * step);
        let slice = self.slice(corner, across * step, -up * step, [w, h]);
        let (whole, far) = (ball(self.support()) as f32, 2.0 * self.support() as f32);
        let byte = |x: f32| (255.0 * x.clamp(0.0, 1.0)) as u8;
        shown.map(|shown| {
            let colour = |k: usize| {
                let (distance, n) = (slice.distance[k], slice.normal[k]);
                if distance.abs() < 1.5 * step as f32 {
                    return [200, 40, 30];
                }
                match shown {
                    Shown::Volume => {
                        let dark = 1.0 - 0.85 * slice.volume[k] / whole;
                        [byte(dark), byte(dark), byte(dark.sqrt())]
                    }
                    Shown::Distance if distance.abs() >= far => [if distance < 0.0 { 110 } else { 225 }; 3],
                    Shown::Distance => {
                        let pale = 1.0 - 0.9 * distance.abs() / far;
                        if distance < 0.0 {
                            [255, byte(0.4 + 0.6 * pale), byte(pale)]
                        } else {
                            [byte(pale), byte(0.4 + 0.6 * pale), 255]
                        }
                    }
                    Shown::Normal if n == Vec3::ZERO => [255; 3],
                    Shown::Normal => (0.5 + 0.5 * n).to_array().map(byte),
                }
            };
            let rgba = (0..w * h)
                .flat_map(|k| {
                    let [r, g, b] = colour(k);
                    [r, g, b, 255]
                })
                .collect();
            Picture { size: [w, h], rgba }
        })
    }

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
