//! Walls as the contact kernel sees them: features with places in whole quanta, written anew for every step.

use crate::blocks::lists::{CELL_BITS, Quanta};
use barchan_core::walls::{Geometry, Side, Wall, WallState};
use glam::{DQuat, DVec3};

/// Most features that the kernel has room for.
pub const MOST_FEATURES: usize = 32;
/// Rows of four words a feature has.
pub const ROWS: usize = 12;

const PLANE: u32 = 0;
const FACE: u32 = 1;
const BLOCK: u32 = 2;

/// A feature as rows of words, in the order of `contacts.wgsl`.
pub type Feature = [[u32; 4]; ROWS];

/// Why a wall cannot be computed on an adapter; none if it can.
pub fn refusal(wall: &Wall) -> Option<String> {
    if wall.belt.is_some() {
        return Some(format!("the surface of `{}` is a belt", wall.name));
    }
    let what = match &wall.geometry {
        _ if wall.rough.is_some() => "is rough",
        Geometry::Plane { .. } => return None,
        Geometry::Box { side: Side::Inside, open: [false, false, false, false, false, false], .. } => return None,
        Geometry::Box { .. } if never_turns(wall) => return None,
        Geometry::Box { .. } => "is a box with an open side, or a block, whose motion may turn it",
        Geometry::Cylinder { .. } => "is a cylinder",
        Geometry::Cone { .. } => "is a cone",
        Geometry::Sphere { .. } => "is a sphere",
        Geometry::Disc { .. } => "is a disc",
        Geometry::Mesh(_) => "is made of triangles",
        Geometry::Field(_) => "is the surface of a body",
        Geometry::Relief(_) => "is a ground",
    };
    Some(format!("the wall \"{}\" {what}", wall.name))
}

fn never_turns(wall: &Wall) -> bool {
    let m = &wall.motion;
    m.rotate.is_none() && m.oscillate.is_none() && m.keyframes.is_empty()
}

/// The features of all walls as they stand, in the order of the walls.
pub fn features(walls: &[Wall], states: &[WallState], quanta: Quanta) -> Vec<Feature> {
    let mut out = Vec::new();
    for (w, (wall, state)) in walls.iter().zip(states).enumerate() {
        let pivot = wall.pivot(state);
        let moves = Moves { wall: w as u32, material: wall.material, state, pivot, quanta };
        match &wall.geometry {
            Geometry::Plane { normal, .. } => out.push(moves.plane(pivot, state.rotation * *normal)),
            Geometry::Box { min, max, side, open } => {
                let half = 0.5 * (*max - *min);
                let closed = *open == [false; 6];
                match side {
                    Side::Outside => out.push(moves.faced(BLOCK, 0, half)),
                    Side::Inside => {
                        for face in (0..6usize).filter(|&f| !open[f]) {
                            if closed {
                                let sign = if face % 2 == 0 { -1.0 } else { 1.0 };
                                let mut out_of = DVec3::ZERO;
                                out_of[face / 2] = sign;
                                let turned =
                                    if state.rotation == DQuat::IDENTITY { out_of } else { state.rotation * out_of };
                                out.push(moves.plane(pivot + turned * half[face / 2], -turned));
                            } else {
                                out.push(moves.faced(FACE, face as u32, half));
                            }
                        }
                    }
                }
            }
            // Refused before.
            _ => {}
        }
    }
    out
}

/// Wall and key (as of [`Wall::nearest`]) of each feature, in the order of [`features`].
pub fn keys(walls: &[Wall]) -> Vec<(usize, u32)> {
    let of = |wall: &Wall| match &wall.geometry {
        Geometry::Box { side: Side::Inside, open, .. } => (0..6).filter(|&f| !open[f as usize]).collect(),
        _ => vec![0],
    };
    walls.iter().enumerate().flat_map(|(w, wall)| of(wall).into_iter().map(move |key| (w, key))).collect()
}

/// A wall that moves.
struct Moves<'a> {
    wall: u32,
    material: u16,
    state: &'a WallState,
    pivot: DVec3,
    quanta: Quanta,
}

/// Low and high words of three whole numbers.
fn words(x: [i64; 3]) -> [[u32; 4]; 2] {
    let [a, b, c] = x;
    [[a as u32, b as u32, c as u32, 0], [(a >> 32) as u32, (b >> 32) as u32, (c >> 32) as u32, 0]]
}

fn reals(v: DVec3, w: f64) -> [u32; 4] {
    [v.x, v.y, v.z, w].map(|x| (x as f32).to_bits())
}

impl Moves<'_> {
    fn rows(&self, kind: u32, face: u32, at: DVec3) -> Feature {
        let mut rows = [[0; 4]; ROWS];
        rows[0] = [kind, self.wall, u32::from(self.material), face];
        [rows[1], rows[2]] = words(at.to_array().map(|x| (x / self.quanta.length).round() as i64));
        rows[9] = reals(self.state.velocity, self.state.inverse_mass);
        rows[10] = reals(self.state.spin, 0.0);
        rows[11] = reals(at - self.pivot, 0.0);
        rows
    }

    /// The plane through a point with that normal towards the grains.
    fn plane(&self, point: DVec3, normal: DVec3) -> Feature {
        let mut rows = self.rows(PLANE, 0, point);
        let [x, y, z] = normal.to_array().map(|n| (n * f64::from(1u32 << 30)).round() as i32 as u32);
        rows[3] = [x, y, z, 0];
        // Quanta from cell to cell, in units of 2⁻²⁴.
        let step = f64::from(1u32 << CELL_BITS) * f64::from(1u32 << 24);
        [rows[4], rows[5]] = words(normal.to_array().map(|n| (n * step).round() as i64));
        rows[6] = reals(normal, 0.0);
        rows
    }

    /// A face of a box about the pivot, or all of it.
    fn faced(&self, kind: u32, face: u32, half: DVec3) -> Feature {
        let mut rows = self.rows(kind, face, self.pivot);
        [rows[7], rows[8]] = words(half.to_array().map(|x| (x / self.quanta.length).round() as i64));
        rows
    }
}
