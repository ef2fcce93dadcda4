//! What the sun sees, and how much of it a point sees: point 3 of the look.

use super::shapes::{Ball, Facet};
use super::tiles::{Bins, CELLS, Grid, Rect, TILE, Tile};
use crate::look::{self, SHADOW_SEARCH, SHADOW_TAPS, SHADOW_TENT, SunMap};
use crate::{Finish, Picture};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// The sun's map with its depths, counted from the height of the highest thing, in texels.
pub struct Sun {
    map: SunMap,
    softness: f32,
    /// Tile by tile; then one texel more, empty, for all that lies outside.
    depth: Vec<f32>,
    /// Least and greatest depth in each tile and the eight around it.
    bounds: Vec<[f32; 2]>,
    balls: Vec<Ball>,
    bins: Bins,
    search: Discs<{ SHADOW_SEARCH as usize }>,
    taps: Discs<{ SHADOW_TAPS as usize }>,
}

/// Columns and rows of the taps of a disc, for each number of the pattern.
type Discs<const N: usize> = [[[f32; N]; 2]; 16];

/// Discs turned as the pattern says.
fn discs<const N: usize>() -> Discs<N> {
    let mut discs = [[[0.0; N]; 2]; 16];
    for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
        let disc = &mut discs[look::pattern(x, y) as usize];
        for i in 0..N {
            let tap = look::spiral(i as u32, N as u32, look::turn(x, y));
            (disc[0][i], disc[1][i]) = (tap.x, tap.y);
        }
    }
    discs
}

impl Sun {
    /// A sun that has seen nothing.
    pub fn new() -> Self {
        let nowhere = SunMap {
            across: Vec3::X,
            along: Vec3::Y,
            to_sun: Vec3::Z,
            corner: Vec2::ZERO,
            side: TILE as u32,
            texel: 1.0,
            low: 0.0,
            high: 0.0,
            casters: [Vec2::ZERO; 2],
        };
        Sun {
            map: nowhere,
            softness: 0.0,
            depth: Vec::new(),
            bounds: Vec::new(),
            balls: Vec::new(),
            bins: Bins::default(),
            search: discs(),
            taps: discs(),
        }
    }

    /// Draws the map of a picture, for a sun of this softness.
    pub fn see(&mut self, picture: &Picture, map: &SunMap, softness: f32) {
        (self.map, self.softness) = (*map, softness.max(0.0));
        let grid = Grid::new([map.side; 2], 1);
        let place = |p: Vec3| {
            let at = map.place(p);
            at.with_z((map.high - at.z) / map.texel)
        };
        let ball = |s: &crate::Sphere| {
            let (centre, radius) = (place(s.centre.into()), s.radius / map.texel);
            if !look::drawable(s.centre, s.radius) || !centre.is_finite() {
                return Ball::default();
            }
            let middle = centre.truncate();
            let rect = Rect::around((middle - radius).to_array(), (middle + radius).to_array(), grid.size);
            Ball { centre, radius, rect }
        };
        picture.spheres.par_iter().map(ball).collect_into_vec(&mut self.balls);
        let facets: Vec<Facet> = picture
            .meshes
            .par_iter()
            .filter(|m| m.finish == Finish::Solid)
            .flat_map(|m| m.triangles.par_iter().filter_map(|t| super::corners(m, t)))
            .map(|corners| Facet::before_sun(corners.map(place), grid.size))
            .collect();
        let balls = &self.balls;
        let keys = balls.iter().map(|b| (b.rect, b.centre.z - b.radius)).chain(facets.iter().map(|f| (f.rect, f.key)));
        self.bins.fill(&grid, keys);
        self.depth.resize(grid.len() * CELLS + 1, 0.0);
        let (depth, outside) = self.depth.split_at_mut(grid.len() * CELLS);
        outside.fill(f32::INFINITY);
        depth.par_chunks_mut(CELLS).enumerate().for_each_init(
            || (Vec::new(), vec![0; CELLS]),
            |(room, seen), (t, depth)| {
                let mut tile = Tile::new(&grid, t, depth, seen);
                let [x, y] = tile.first.map(|first| std::array::from_fn(|i| first as f32 + i as f32 + 0.5));
                tile.draw(self.bins.sorted(t, room), |i, tile| match balls.get(i) {
                    Some(ball) => ball.draw_flat(tile),
                    None => facets[i - balls.len()].draw(&x, &y, f32::NEG_INFINITY, 0, tile),
                });
            },
        );
        self.bound(grid.columns as usize);
    }

    /// Side of a texel of its map [m].
    pub fn texel(&self) -> f32 {
        self.map.texel
    }

    /// The map row by row: 1 for the highest thing, less by 1 for each `range` [m] below it; 0 where there is nothing.
    #[cfg(feature = "gpu")]
    pub fn heights(&self, range: f32) -> Vec<f32> {
        let (side, scale) = (self.map.side as usize, self.map.texel / range);
        let mut heights = vec![0.0; side * side];
        heights.par_chunks_mut(side).enumerate().for_each(|(y, row)| {
            for (column, part) in row.chunks_exact_mut(TILE).enumerate() {
                let first = (y / TILE * (side / TILE) + column) * CELLS + y % TILE * TILE;
                for (height, depth) in part.iter_mut().zip(&self.depth[first..first + TILE]) {
                    *height = (1.0 - depth * scale).max(0.0);
                }
            }
        });
        heights
    }

    /// Finds the bounds of tiles that stand in so many columns.
    fn bound(&mut self, columns: usize) {
        let own = |tile: &[f32]| {
            let (mut least, mut most) = ([f32::INFINITY; 8], [f32::NEG_INFINITY; 8]);
            for eight in tile.as_chunks::<8>().0 {
                for k in 0..8 {
                    least[k] = if eight[k] < least[k] { eight[k] } else { least[k] };
                    most[k] = if eight[k] > most[k] { eight[k] } else { most[k] };
                }
            }
            let least = least.into_iter().fold(f32::INFINITY, f32::min);
            [least, most.into_iter().fold(f32::NEG_INFINITY, f32::max)]
        };
        let tiles: Vec<[f32; 2]> = self.depth.par_chunks_exact(CELLS).map(own).collect();
        let near = |n: usize| n.saturating_sub(1)..(n + 2).min(columns);
        let around = |t: usize| {
            let (column, row) = (t % columns, t / columns);
            // Beyond the edge there is nothing, which shades nothing.
            let edge = column == 0 || row == 0 || column + 1 == columns || row + 1 == columns;
            let start = [f32::INFINITY, if edge { f32::INFINITY } else { f32::NEG_INFINITY }];
            near(row)
                .flat_map(|j| near(column).map(move |i| j * columns + i))
                .fold(start, |[least, most], t| [least.min(tiles[t][0]), most.max(tiles[t][1])])
        };
        self.bounds.clear();
        self.bounds.extend((0..tiles.len()).map(around));
    }

    /// Share of the sun that reaches p, on a surface whose tangent plane there has the normal n, in a pixel of this number
    /// in the pattern.
    pub fn share(&self, p: Vec3, n: Vec3, pattern: usize) -> f32 {
        let map = &self.map;
        let place = map.place(p);
        let (at, depth) = (place.truncate(), (map.high - place.z) / map.texel);
        let radius = map.search(place.z, self.softness);
        // Taps read texels that begin up to two beyond the disc.
        if depth <= 0.0 || !map.may_shade(at, radius + 2.0) {
            return 1.0;
        }
        let receiver = Receiver { at, depth: depth - map.bias(n), slope: -map.gradient(n) / map.texel };
        if let Some(share) = self.at_once(&receiver, radius) {
            return share;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for distance in receiver.above(&shifted(at, &self.search[pattern], radius), self) {
            sum += distance.max(0.0);
            count += if distance > 0.0 { 1.0 } else { 0.0 };
        }
        let penumbra = if count > 0.0 { map.penumbra(sum / count * map.texel, self.softness) } else { 0.0 };
        let mut dark = 0.0;
        if penumbra <= SHADOW_TENT {
            let (across, down) = (look::tent(at.x), look::tent(at.y));
            let nine = [std::array::from_fn(|k| at.x + NINE[0][k]), std::array::from_fn(|k| at.y + NINE[1][k])];
            for (k, distance) in receiver.above::<9>(&nine, self).into_iter().enumerate() {
                dark += if distance > 0.0 { across[k % 3] * down[k / 3] } else { 0.0 };
            }
        } else {
            let corners = shifted(at - 0.5, &self.taps[pattern], penumbra);
            let parts = corners.map(|axis| axis.map(|x| x - (floor(x) as f32)));
            for (i, j) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                let [x, y] = corners;
                let distances = receiver.above(&[x.map(|x| x + i), y.map(|y| y + j)], self);
                for k in 0..SHADOW_TAPS as usize {
                    let share = (1.0 - (parts[0][k] - i).abs()) * (1.0 - (parts[1][k] - j).abs());
                    dark += if distances[k] > 0.0 { share / SHADOW_TAPS as f32 } else { 0.0 };
                }
            }
        }
        (1.0 - dark).clamp(0.0, 1.0)
    }

    /// The share where no texel, or every one, that could be looked at within a radius stands before the sun.
    fn at_once(&self, receiver: &Receiver, radius: f32) -> Option<f32> {
        // Taps read texels whose middles are up to 1½ farther away.
        let radius = radius + 2.0;
        let tile = receiver.at / TILE as f32;
        let columns = self.map.side as usize / TILE;
        if radius > TILE as f32 || tile.min_element() < 0.0 || tile.max_element() >= columns as f32 {
            return None;
        }
        let [least, most] = self.bounds[tile.y as usize * columns + tile.x as usize];
        let lean = receiver.slope.abs().element_sum() * radius;
        match receiver.depth {
            d if d + lean <= least => Some(1.0),
            d if d - lean > most => Some(0.0),
            _ => None,
        }
    }
}

/// A texel and its eight neighbours, from the middle one.
const NINE: [[f32; 9]; 2] =
    [[-1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0], [-1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]];

/// The taps of a disc of a radius around a point.
fn shifted<const N: usize>(at: Vec2, [x, y]: &[[f32; N]; 2], radius: f32) -> [[f32; N]; 2] {
    [x.map(|x| at.x + x * radius), y.map(|y| at.y + y * radius)]
}

/// Greatest whole number not above x, which is no lower than −64: `f32::floor` is a call on plain x86-64.
fn floor(x: f32) -> i32 {
    (x + 64.0) as i32 - 64
}

/// A point that may be in shadow, and its tangent plane [texels].
struct Receiver {
    at: Vec2,
    depth: f32,
    slope: Vec2,
}

impl Receiver {
    /// How far the map stands above the tangent plane in the texels that hold some points; not positive outside the map.
    #[inline]
    fn above<const N: usize>(&self, [x, y]: &[[f32; N]; 2], sun: &Sun) -> [f32; N] {
        let side = sun.map.side as i32;
        let (tile, columns, outside) = (TILE.ilog2(), side / TILE as i32, sun.depth.len() as i32 - 1);
        // All taps at once, in lanes: only the map is read one by one.
        let (mut cell, mut plane) = ([0; N], [0.0; N]);
        for k in 0..N {
            let (i, j) = (floor(x[k]), floor(y[k]));
            let inside = (i >= 0) & (j >= 0) & (i < side) & (j < side);
            let within = ((j & (TILE as i32 - 1)) << tile) + (i & (TILE as i32 - 1));
            cell[k] = if inside { ((j >> tile) * columns + (i >> tile)) * CELLS as i32 + within } else { outside };
            let to = (i as f32 + 0.5 - self.at.x, j as f32 + 0.5 - self.at.y);
            plane[k] = self.depth + self.slope.x * to.0 + self.slope.y * to.1;
        }
        std::array::from_fn(|k| plane[k] - sun.depth[cell[k] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::{Extent, SHADOW_REACH};
    use crate::{Light, Sphere, View};

    #[test]
    fn what_a_tile_knows_at_once_is_what_all_taps_find() {
        let mut state = 5u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0
        };
        let spheres = (0..4000).map(|grain| {
            let centre = [random(), random(), 0.4 * random() * random()];
            Sphere { centre, radius: 0.01 + 0.01 * random(), colour: [1.0; 3], grain }
        });
        let picture = Picture { spheres: spheres.collect(), ..Picture::default() };
        let view =
            View { eye: Vec3::new(0.0, -2.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size: [640, 360] };
        let light = Light::default();
        let map = SunMap::fit(&picture, &Extent::of(&picture, &view), &light, &view);
        let [mut quick, mut slow] = [Sun::new(), Sun::new()];
        quick.see(&picture, &map, light.softness);
        slow.see(&picture, &map, light.softness);
        slow.bounds.fill([f32::NEG_INFINITY, f32::INFINITY]);
        let mut known = 0;
        for i in 0..20_000 {
            // On the floor, in and beside the shadow, and on grains' upper sides.
            let p =
                Vec3::new(2.0 * random() - 0.5, 2.0 * random() - 0.5, if i % 2 == 0 { 0.0 } else { 0.5 * random() });
            let n = (Vec3::new(random() - 0.5, random() - 0.5, 1.0)).normalize();
            assert_eq!(quick.share(p, n, i % 16), slow.share(p, n, i % 16), "at {p}");
            let place = map.place(p);
            let receiver =
                Receiver { at: place.truncate(), depth: (map.high - place.z) / map.texel, slope: Vec2::ZERO };
            known += u32::from(quick.at_once(&receiver, 0.5 * SHADOW_REACH).is_some());
        }
        assert!(known > 4000, "only {known} of 20,000 are known at once");
    }
}
