//! Walls as the kernels see them: smooth features with places in whole quanta, written anew for every step, and the bumps of rough walls.

use crate::blocks::lists::{CELL_BITS, Quanta};
use barchan_core::walls::{Geometry, Side, Wall, WallState};
use glam::{DMat3, DQuat, DVec2, DVec3};

/// Most walls: each has a bit in a word.
pub const MOST_WALLS: usize = 32;
/// Rows of four words a feature has.
pub const ROWS: usize = 16;
/// Largest radius of a bump over that of the largest grain: together they are less than a cell, with room for the skin.
const MOST_BUMP: f64 = 1.25;

const PLANE: u32 = 0;
const FACE: u32 = 1;
const BLOCK: u32 = 2;
const CYLINDER: u32 = 3;
const MANTLE: u32 = 4;
const SPHERE: u32 = 5;
const DISC: u32 = 6;
/// Whole numbers of directions: units of 2⁻³⁰.
const UNIT: f64 = (1u32 << 30) as f64;

/// A feature as rows of words, in the order of `walls.wgsl`.
pub type Feature = [[u32; 4]; ROWS];

/// Why a wall cannot be computed on an adapter; none if it can.
pub fn refusal(wall: &Wall) -> Option<String> {
    if wall.belt.is_some() {
        return Some(format!("the surface of `{}` is a belt", wall.name));
    }
    let what = match &wall.geometry {
        Geometry::Plane { .. }
        | Geometry::Cylinder { .. }
        | Geometry::Cone { .. }
        | Geometry::Sphere { .. }
        | Geometry::Disc { .. } => return None,
        Geometry::Box { side: Side::Inside, open: [false, false, false, false, false, false], .. } => return None,
        Geometry::Box { .. } if never_turns(wall) => return None,
        Geometry::Box { .. } => "is a box with an open side, or a block, whose motion may turn it",
        Geometry::Mesh(_) => "is made of triangles",
        Geometry::Field(_) => "is the surface of a body",
        Geometry::Relief(_) => "is a ground",
    };
    Some(format!("the wall \"{}\" {what}", wall.name))
}

/// Why its bumps cannot meet grains whose largest has this radius [m].
pub fn too_bumpy(wall: &Wall, largest: f64) -> bool {
    wall.rough.is_some_and(|r| r.radius > MOST_BUMP * largest)
}

fn never_turns(wall: &Wall) -> bool {
    let m = &wall.motion;
    m.rotate.is_none() && m.oscillate.is_none() && m.keyframes.is_empty()
}

/// The features of all walls as they stand, in the order of the walls. `skin` is how far each wall may come nearer before lists are built
/// anew [m].
pub fn features(walls: &[Wall], states: &[WallState], skin: &[f64], quanta: Quanta) -> Vec<Feature> {
    let mut out = Vec::new();
    for (w, (wall, state)) in walls.iter().zip(states).enumerate() {
        let pivot = wall.pivot(state);
        let skin = skin.get(w).copied().unwrap_or(0.0);
        let moves = Moves { wall: w as u32, material: wall.material, state, pivot, quanta, skin };
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
            Geometry::Cylinder { axis, radius, height: None, side, .. } => {
                let mut rows = moves.round(CYLINDER, *side, Some(*axis), [*radius, 0.0, 0.0]);
                [rows[7][0], rows[7][1]] = moves.support(*radius);
                out.push(rows);
            }
            Geometry::Cylinder { axis, radius, height: Some(h), .. } => {
                out.push(moves.mantle(*axis, DVec2::new(*radius, 0.0), DVec2::new(*radius, *h)))
            }
            Geometry::Cone { axis, radius_base, radius_top, height, .. } => {
                out.push(moves.mantle(*axis, DVec2::new(*radius_base, 0.0), DVec2::new(*radius_top, *height)))
            }
            Geometry::Sphere { radius, side, .. } => {
                let mut rows = moves.round(SPHERE, *side, None, [*radius, 0.0, 0.0]);
                [rows[7][0], rows[7][1]] = moves.support(*radius);
                out.push(rows);
            }
            Geometry::Disc { normal, radius, hole, .. } => {
                let mut rows = moves.round(DISC, Side::Inside, Some(*normal), [*hole, *radius, 0.0]);
                rows[13][3] = 1 << 30;
                moves.rims(&mut rows, *hole, *radius, 0.0);
                out.push(rows);
            }
            // Refused before.
            Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) => {}
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
    let backstop = |wall: &Wall| if wall.rough.is_some() { BACKSTOP } else { 0 };
    let all = walls.iter().enumerate();
    all.flat_map(|(w, wall)| of(wall).into_iter().map(move |key| (w, backstop(wall) | key))).collect()
}

/// Marks the key of the smooth surface of a rough wall, as [`Wall::features`] gives them.
pub const BACKSTOP: u32 = 1 << 31;

/// A wall that moves.
struct Moves<'a> {
    wall: u32,
    material: u16,
    state: &'a WallState,
    pivot: DVec3,
    quanta: Quanta,
    skin: f64,
}

/// Low and high words of three whole numbers.
fn words(x: [i64; 3]) -> [[u32; 4]; 2] {
    let [a, b, c] = x;
    [[a as u32, b as u32, c as u32, 0], [(a >> 32) as u32, (b >> 32) as u32, (c >> 32) as u32, 0]]
}

fn real(x: f64) -> u32 {
    (x as f32).to_bits()
}

/// Three numbers in the first words of a row.
fn put(row: &mut [u32; 4], v: DVec3) {
    for k in 0..3 {
        row[k] = real(v[k]);
    }
}

fn unit(v: DVec3) -> [u32; 3] {
    v.to_array().map(|x| (x * UNIT).round() as i32 as u32)
}

fn low_high(x: i64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

impl Moves<'_> {
    fn rows(&self, kind: u32, face: u32, at: DVec3) -> Feature {
        let mut rows = [[0; 4]; ROWS];
        rows[0] = [kind, self.wall, u32::from(self.material), face];
        [rows[1], rows[2]] = words(at.to_array().map(|x| (x / self.quanta.length).round() as i64));
        rows[5][3] = real(self.skin / self.quanta.length);
        rows[8][3] = real(self.state.inverse_mass);
        put(&mut rows[9], self.state.velocity);
        let [x, y, z] = self.state.spin.to_array().map(real);
        rows[9][3] = x;
        (rows[10][2], rows[10][3]) = (y, z);
        put(&mut rows[11], at - self.pivot);
        rows[11][3] = u32::from(self.state.velocity != DVec3::ZERO || self.state.spin != DVec3::ZERO);
        let turn = DMat3::from_quat(self.state.rotation);
        for k in 0..3 {
            rows[12 + k][..3].copy_from_slice(&unit(turn.col(k)));
        }
        rows
    }

    /// The plane through a point with that normal towards the grains.
    fn plane(&self, point: DVec3, normal: DVec3) -> Feature {
        let mut rows = self.rows(PLANE, 0, point);
        rows[3][..3].copy_from_slice(&unit(normal));
        // Quanta from cell to cell, in units of 2⁻²⁴.
        let step = f64::from(1u32 << CELL_BITS) * f64::from(1u32 << 24);
        let [low, high] = words(normal.to_array().map(|n| (n * step).round() as i64));
        rows[4] = low;
        rows[5][..3].copy_from_slice(&high[..3]);
        put(&mut rows[6], normal);
        // A bump's place is relative to the pivot, which is the plane's point.
        rows
    }

    /// A face of a box about the pivot, or all of it.
    fn faced(&self, kind: u32, face: u32, half: DVec3) -> Feature {
        let mut rows = self.rows(kind, face, self.pivot);
        let [low, high] = words(half.to_array().map(|x| (x / self.quanta.length).round() as i64));
        rows[7] = low;
        rows[8][..3].copy_from_slice(&high[..3]);
        rows
    }

    /// What is round about an axis, or a point.
    fn round(&self, kind: u32, side: Side, axis: Option<DVec3>, sizes: [f64; 3]) -> Feature {
        let mut rows = self.rows(kind, u32::from(side == Side::Outside), self.pivot);
        let axis = axis.map_or(DVec3::ZERO, |a| self.state.rotation * a);
        rows[3][..3].copy_from_slice(&unit(axis));
        put(&mut rows[6], axis);
        let most = sizes.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        rows[6][3] = real(most / self.quanta.length);
        for (k, size) in sizes.into_iter().enumerate() {
            rows[15][k] = real(size / self.quanta.length);
        }
        rows
    }

    /// A length in units of 2⁻³⁰ quanta, of which 64 bits are kept: what is computed with it is small.
    fn support(&self, length: f64) -> [u32; 2] {
        let quanta = (length / self.quanta.length).round() as i128;
        low_high((quanta << 30) as i64)
    }

    fn rims(&self, rows: &mut Feature, first: f64, second: f64, height: f64) {
        let [a, b, h] = [first, second, height].map(|x| low_high((x / self.quanta.length).round() as i64));
        (rows[8][0], rows[8][1]) = (a[0], a[1]);
        (rows[7][2], rows[7][3]) = (b[0], b[1]);
        (rows[10][0], rows[10][1]) = (h[0], h[1]);
    }

    /// The mantle that a segment of the half-plane through the axis sweeps.
    fn mantle(&self, axis: DVec3, first: DVec2, second: DVec2) -> Feature {
        let mut rows = self.round(MANTLE, Side::Inside, Some(axis), [first.x, second.x, second.y]);
        let normal = (second - first).perp().normalize();
        let [across, along] = [normal.x, normal.y].map(|n| (n * UNIT).round() as i32);
        (rows[12][3], rows[13][3]) = (across as u32, along as u32);
        let radius = (first.x / self.quanta.length).round() as i128;
        [rows[7][0], rows[7][1]] = low_high((radius * i128::from(across)) as i64);
        self.rims(&mut rows, first.x, second.x, second.y);
        rows
    }
}

/// Bumps of rough walls that some grain has come near, each with what it is known by. They are never forgotten: entries of lists name them
/// by their number.
#[derive(Clone, Debug, Default)]
pub struct Bumps {
    /// Of each: wall, key, centre in the wall's frame from its pivot [m], radius [m].
    known: Vec<(usize, u32, DVec3, f64)>,
    by_key: std::collections::HashMap<(usize, u32), Vec<u32>>,
}

impl Bumps {
    /// Wall and key of a bump.
    pub fn key(&self, bump: usize) -> (usize, u32) {
        (self.known[bump].0, self.known[bump].1)
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The number of a bump, by its wall, key and centre; a new one if it has none. On endless walls many have one key.
    pub fn number(&mut self, wall: usize, key: u32, centre: DVec3, radius: f64) -> u32 {
        let same = self.by_key.entry((wall, key)).or_default();
        let known = &self.known;
        let own = same.iter().find(|&&b| known[b as usize].2.distance(centre) < 0.1 * radius);
        own.copied().unwrap_or_else(|| {
            let number = self.known.len() as u32;
            same.push(number);
            self.known.push((wall, key, centre, radius));
            number
        })
    }

    /// All of them as words and numbers, for checkpoints.
    pub fn words(&self) -> Vec<u32> {
        self.known.iter().flat_map(|b| [b.0 as u32, b.1]).collect()
    }

    /// See [`Bumps::words`].
    pub fn numbers(&self) -> Vec<f64> {
        self.known.iter().flat_map(|b| [b.2.x, b.2.y, b.2.z, b.3]).collect()
    }

    /// What [`Bumps::words`] and [`Bumps::numbers`] gave.
    pub fn from_columns(words: &[u32], numbers: &[f64]) -> Option<Bumps> {
        let mut out = Bumps::default();
        if !words.len().is_multiple_of(2) || words.len() * 2 != numbers.len() {
            return None;
        }
        for (w, x) in words.chunks_exact(2).zip(numbers.chunks_exact(4)) {
            let number = out.known.len() as u32;
            out.by_key.entry((w[0] as usize, w[1])).or_default().push(number);
            out.known.push((w[0] as usize, w[1], DVec3::from_slice(&x[..3]), x[3]));
        }
        Some(out)
    }

    /// Three rows each: the feature that its wall has first, then centre and radius in quanta.
    pub fn rows(&self, first_of_wall: &[u32], quanta: Quanta) -> Vec<[u32; 4]> {
        let rows = |&(wall, key, centre, radius): &(usize, u32, DVec3, f64)| {
            let [x, y, z] = centre.to_array().map(|x| low_high((x / quanta.length).round() as i64));
            [[wall as u32, key, first_of_wall[wall], 0], [x[0], x[1], y[0], y[1]], [z[0], z[1], quanta.of(radius), 0]]
        };
        self.known.iter().flat_map(rows).collect()
    }

    /// Visits those within reach [m] of a point.
    pub fn near(&mut self, walls: &[Wall], states: &[WallState], x: DVec3, reach: &[f64], visit: &mut dyn FnMut(u32)) {
        for (w, (wall, state)) in walls.iter().zip(states).enumerate() {
            let Some(rough) = wall.rough else { continue };
            // Between two grains of a bed there is nothing of a wall: most end here.
            let mut keys = Vec::new();
            wall.features(state, x, reach[w], &mut |key| keys.push(key));
            for key in keys.into_iter().filter(|key| key & BACKSTOP == 0) {
                let near = wall.nearest(state, key, x);
                let centre = x - near.normal * (near.distance + near.radius);
                let own = state.rotation.inverse() * (centre - wall.pivot(state));
                visit(self.number(w, key, own, rough.radius));
            }
        }
    }
}
