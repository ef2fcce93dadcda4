//! What the sun sees, and how much of it a point sees: point 3 of the look.

use super::shapes::{Ball, Facet};
use super::tiles::{Bins, CELLS, Grid, Rect, TILE, Tile};
use crate::look::{self, Extent, SHADOW_BIAS, SHADOW_SEARCH, SHADOW_SIDE, SHADOW_TAPS, SHADOW_TENT, SunMap};
use crate::{Finish, Light, Picture};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// The sun's map with its depths, counted from the height of the highest thing, in texels.
pub struct Sun {
    map: SunMap,
    softness: f32,
    depth: Vec<f32>,
    balls: Vec<Ball>,
    bins: Bins,
    search: Discs<{ SHADOW_SEARCH as usize }>,
    taps: Discs<{ SHADOW_TAPS as usize }>,
}

/// The taps of a disc, for each number of the pattern.
type Discs<const N: usize> = [[Vec2; N]; 16];

/// Discs turned as the pattern says.
fn discs<const N: usize>() -> Discs<N> {
    let mut discs = [[Vec2::ZERO; N]; 16];
    for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
        for i in 0..N {
            discs[look::pattern(x, y) as usize][i] = look::spiral(i as u32, N as u32, look::turn(x, y));
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
            texel: 1.0,
            low: 0.0,
            high: 0.0,
        };
        Sun {
            map: nowhere,
            softness: 0.0,
            depth: Vec::new(),
            balls: Vec::new(),
            bins: Bins::default(),
            search: discs(),
            taps: discs(),
        }
    }

    /// Draws the map of a picture.
    pub fn see(&mut self, picture: &Picture, extent: &Extent, light: &Light) {
        let map = SunMap::fit(picture, extent, light);
        (self.map, self.softness) = (map, light.softness.max(0.0));
        let grid = Grid::new([SHADOW_SIDE; 2], 1);
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
            .iter()
            .filter(|m| m.finish == Finish::Solid)
            .flat_map(|m| m.triangles.iter().filter_map(|t| super::corners(m, t)))
            .map(|corners| Facet::before_sun(corners.map(place), grid.size))
            .collect();
        let balls = &self.balls;
        let keys = balls.iter().map(|b| (b.rect, b.centre.z - b.radius)).chain(facets.iter().map(|f| (f.rect, f.key)));
        self.bins.fill(&grid, keys);
        self.depth.resize(grid.len() * CELLS, 0.0);
        self.depth.par_chunks_mut(CELLS).enumerate().for_each_init(
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
    }

    /// Share of the sun that reaches p, on a surface whose tangent plane there has the normal n, in a pixel of this number
    /// in the pattern.
    pub fn share(&self, p: Vec3, n: Vec3, pattern: usize) -> f32 {
        let map = &self.map;
        let place = map.place(p);
        let (at, depth) = (place.truncate(), (map.high - place.z) / map.texel);
        let reach = look::SHADOW_REACH;
        let over_map = (at + reach).min_element() > 0.0 && at.max_element() < SHADOW_SIDE as f32 + reach;
        if depth <= 0.0 || !over_map {
            return 1.0;
        }
        let receiver = Receiver { at, depth: depth - SHADOW_BIAS, slope: -map.gradient(n) / map.texel };
        let radius = map.search(place.z, self.softness);
        let (mut sum, mut count) = (0.0, 0.0);
        for tap in &self.search[pattern] {
            let distance = receiver.above(at + *tap * radius, self);
            if distance > 0.0 {
                sum += distance;
                count += 1.0;
            }
        }
        let penumbra = if count > 0.0 { map.penumbra(sum / count * map.texel, self.softness) } else { 0.0 };
        let mut dark = 0.0;
        if penumbra <= SHADOW_TENT {
            let (across, down) = (look::tent(at.x), look::tent(at.y));
            for (j, row) in down.into_iter().enumerate() {
                for (i, column) in across.into_iter().enumerate() {
                    let texel = at + Vec2::new(i as f32 - 1.0, j as f32 - 1.0);
                    dark += if receiver.above(texel, self) > 0.0 { row * column } else { 0.0 };
                }
            }
        } else {
            for tap in &self.taps[pattern] {
                let corner = at + *tap * penumbra - 0.5;
                let part = corner - corner.floor();
                for (i, j, share) in [
                    (0.0, 0.0, (1.0 - part.x) * (1.0 - part.y)),
                    (1.0, 0.0, part.x * (1.0 - part.y)),
                    (0.0, 1.0, (1.0 - part.x) * part.y),
                    (1.0, 1.0, part.x * part.y),
                ] {
                    let shaded = receiver.above(corner + Vec2::new(i, j), self) > 0.0;
                    dark += if shaded { share / SHADOW_TAPS as f32 } else { 0.0 };
                }
            }
        }
        (1.0 - dark).clamp(0.0, 1.0)
    }
}

/// A point that may be in shadow, and its tangent plane [texels].
struct Receiver {
    at: Vec2,
    depth: f32,
    slope: Vec2,
}

impl Receiver {
    /// How far the map stands above the tangent plane in the texel that holds a point; not positive outside the map.
    fn above(&self, point: Vec2, sun: &Sun) -> f32 {
        // Negative numbers are cut towards 0, so they are asked for first; `floor` is a call on plain x86-64.
        let (x, y) = (point.x as usize, point.y as usize);
        if point.x < 0.0 || point.y < 0.0 || x >= SHADOW_SIDE as usize || y >= SHADOW_SIDE as usize {
            return f32::NEG_INFINITY;
        }
        let tile = y / TILE * (SHADOW_SIDE as usize / TILE) + x / TILE;
        let map = sun.depth[tile * CELLS + y % TILE * TILE + x % TILE];
        self.depth + self.slope.dot(Vec2::new(x as f32, y as f32) + 0.5 - self.at) - map
    }
}
