//! Spheres and triangles as a tile draws them: from the eye (perspective) and from the sun (orthographic).
//!
//! Points are given along the camera's axes: x right, y up, z the depth. A ray is (x, y, 1)·depth.

use super::tiles::{Rect, TILE, Tile};
use glam::{DVec3, Vec2, Vec3};

/// Lanes of a row drawn at once: rows of a tile are cut at whole multiples, so that the loop has no odd end.
const LANES: usize = 8;

/// A sphere before the eye or the sun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ball {
    /// Centre.
    pub centre: Vec3,
    /// Radius.
    pub radius: f32,
    /// Samples it may touch.
    pub rect: Rect,
}

/// The rays of a tile from the eye.
pub struct Rays {
    /// Slope of each column.
    pub x: [f32; TILE],
    /// Slope of each row.
    pub y: [f32; TILE],
    /// 1/(1 + x² + y²) of each sample.
    inverse: [[f32; TILE]; TILE],
    /// Depth from which on surfaces are seen.
    near: f32,
}

impl Rays {
    /// Rays of the samples whose slopes are given by column and row.
    pub fn new(x: [f32; TILE], y: [f32; TILE], near: f32) -> Self {
        Rays { x, y, inverse: y.map(|y| x.map(|x| 1.0 / (1.0 + x * x + y * y))), near }
    }
}

/// Depth minus that of the sphere's centre, and where it is from the centre, along a ray of these slopes.
///
/// The ray passes the plane of the centre's depth at e from the centre; e is as small as the sphere, so nothing cancels
/// however far away the sphere is [cf. Haines et al. 2019, *Precision improvements for ray/sphere intersection*].
pub fn meet(ball: &Ball, slope: Vec2) -> (f32, Vec3) {
    let e = slope * ball.centre.z - ball.centre.truncate();
    let a = 1.0 + slope.length_squared();
    let b = slope.dot(e);
    let root = (b * b - a * (e.length_squared() - ball.radius * ball.radius)).max(0.0).sqrt();
    let s = -(b + root) / a;
    (s, slope.extend(1.0) * s + e.extend(0.0))
}

impl Ball {
    /// Slopes between which the sphere is seen, in x and y: the tangents from the eye in either plane [Mara & McGuire 2013,
    /// *2D polyhedral bounds of a clipped, perspective-projected 3D sphere*]; infinite where it reaches beside the eye.
    pub fn slopes(&self) -> [[f32; 2]; 2] {
        [self.centre.x, self.centre.y].map(|c| {
            let (z, r) = (self.centre.z, self.radius);
            let length = (c * c + (z - r) * (z + r)).max(0.0).sqrt();
            if length == 0.0 {
                return [f32::NEG_INFINITY, f32::INFINITY];
            }
            let (left, right) = (z * length + r * c, z * length - r * c);
            [
                if left > 0.0 { (c * length - r * z) / left } else { f32::NEG_INFINITY },
                if right > 0.0 { (c * length + r * z) / right } else { f32::INFINITY },
            ]
        })
    }

    /// Draws it as the eye sees it.
    pub fn draw(&self, rays: &Rays, number: u32, tile: &mut Tile) {
        let [x0, y0, x1, y1] = self.rect.within(tile.first[0], tile.first[1], tile.span);
        let (first, last) = (x0 / LANES, x1.div_ceil(LANES));
        let (cx, cy, cz) = (self.centre.x, self.centre.y, self.centre.z);
        for row in y0..y1 {
            let y = rays.y[row];
            let ey = y * cz - cy;
            let (square, along, rest) = (1.0 + y * y, y * ey, ey * ey - self.radius * self.radius);
            for at in first..last {
                let x: &[f32; LANES] = lanes(&rays.x, at);
                let inverse: &[f32; LANES] = lanes(&rays.inverse[row], at);
                let depth: &mut [f32; LANES] = lanes_mut(tile.depth, row * TILE / LANES + at);
                let seen: &mut [u32; LANES] = lanes_mut(tile.seen, row * TILE / LANES + at);
                for k in 0..LANES {
                    let ex = x[k] * cz - cx;
                    let b = x[k] * ex + along;
                    let inside = b * b - (square + x[k] * x[k]) * (ex * ex + rest);
                    let t = cz - (b + inside.max(0.0).sqrt()) * inverse[k];
                    let nearer = (inside >= 0.0) & (t >= rays.near) & (t < depth[k]);
                    depth[k] = if nearer { t } else { depth[k] };
                    seen[k] = if nearer { number } else { seen[k] };
                }
            }
        }
    }

    /// Draws its depth as the sun sees it; all lengths are texels.
    pub fn draw_flat(&self, tile: &mut Tile) {
        let [x0, y0, x1, y1] = self.rect.within(tile.first[0], tile.first[1], tile.span);
        let (first, last) = (x0 / LANES, x1.div_ceil(LANES));
        for row in y0..y1 {
            let ey = (tile.first[1] as usize + row) as f32 + 0.5 - self.centre.y;
            let rest = self.radius * self.radius - ey * ey;
            for at in first..last {
                let left = (tile.first[0] as usize + at * LANES) as f32 + 0.5 - self.centre.x;
                let depth: &mut [f32; LANES] = lanes_mut(tile.depth, row * TILE / LANES + at);
                for k in 0..LANES {
                    let ex = left + k as f32;
                    let inside = rest - ex * ex;
                    let t = self.centre.z - inside.max(0.0).sqrt();
                    depth[k] = if (inside >= 0.0) & (t < depth[k]) { t } else { depth[k] };
                }
            }
        }
    }
}

fn lanes<T>(all: &[T], at: usize) -> &[T; LANES] {
    all[at * LANES..(at + 1) * LANES].try_into().expect("a slice of LANES")
}

fn lanes_mut<T>(all: &mut [T], at: usize) -> &mut [T; LANES] {
    (&mut all[at * LANES..(at + 1) * LANES]).try_into().expect("a slice of LANES")
}

/// A triangle before the eye or the sun, as linear functions of a ray (x, y, 1) [Olano & Greer 1997, *Triangle scan
/// conversion using 2D homogeneous coordinates*]: nothing has to be clipped, and neighbours share their edge exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facet {
    /// Share of each corner, times `over`: all of one sign inside.
    pub edges: [Vec3; 3],
    /// Depth times `over`.
    depth: Vec3,
    /// Sum of the edges.
    over: Vec3,
    /// Depth at which it begins.
    pub key: f32,
    /// Samples it may touch.
    pub rect: Rect,
}

impl Facet {
    /// A triangle as the eye sees it. `sample` gives the place of a point before the near plane [samples].
    pub fn before_eye(corners: [Vec3; 3], near: f32, size: [u32; 2], sample: impl Fn(Vec3) -> Vec2) -> Self {
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            if a.z >= near {
                (low, high) = (low.min(sample(a)), high.max(sample(a)));
            }
            if (a.z >= near) != (b.z >= near) {
                let p = a.lerp(b, (near - a.z) / (b.z - a.z)).with_z(near);
                (low, high) = (low.min(sample(p)), high.max(sample(p)));
            }
        }
        if !(low.is_finite() && high.is_finite()) {
            return Facet::default();
        }
        let [a, b, c] = corners.map(Vec3::as_dvec3);
        let edges = [b.cross(c), c.cross(a), a.cross(b)];
        // Scaled to the longest, so that tiny scenes stay within f32.
        let scale = edges.iter().map(|e| e.length()).fold(0.0, f64::max);
        if scale == 0.0 {
            return Facet::default();
        }
        let scaled = edges.map(|e| e / scale);
        Facet {
            edges: scaled.map(DVec3::as_vec3),
            depth: Vec3::new(0.0, 0.0, (a.dot(edges[0]) / scale) as f32),
            over: (scaled[0] + scaled[1] + scaled[2]).as_vec3(),
            key: corners[0].z.min(corners[1].z).min(corners[2].z).max(near),
            rect: Rect::around(low.to_array(), high.to_array(), size),
        }
    }

    /// A triangle as the sun sees it; corners are column, row, depth, all in texels.
    pub fn before_sun(corners: [Vec3; 3], size: [u32; 2]) -> Self {
        let low = corners[0].min(corners[1]).min(corners[2]);
        let high = corners[0].max(corners[1]).max(corners[2]);
        let [a, b, c] = corners.map(|p| p.with_z(1.0).as_dvec3());
        let edges = [b.cross(c), c.cross(a), a.cross(b)];
        let depth = (0..3).map(|i| edges[i] * f64::from(corners[i].z)).sum::<DVec3>();
        Facet {
            edges: edges.map(DVec3::as_vec3),
            depth: depth.as_vec3(),
            over: (edges[0] + edges[1] + edges[2]).as_vec3(),
            key: low.z,
            rect: Rect::around([low.x, low.y], [high.x, high.y], size),
        }
    }

    /// Its functions along a row: `ray` is that of the row's first column, `step` from one column to the next.
    pub fn line(&self, ray: Vec2, step: f32) -> Line {
        let ray = ray.extend(1.0);
        let along = |f: Vec3| [f.dot(ray), f.x * step];
        Line { edges: self.edges.map(along), depth: along(self.depth), over: along(self.over) }
    }

    /// Whether no ray between two corners of a rectangle meets it: all lie beyond one of its edges. It may say no of some
    /// that are not met either.
    pub fn misses(&self, a: Vec2, b: Vec2) -> bool {
        let corners = [a, Vec2::new(b.x, a.y), Vec2::new(a.x, b.y), b].map(|c| c.extend(1.0));
        let beyond = |sign: f32| self.edges.iter().any(|e| corners.iter().all(|c| sign * e.dot(*c) < 0.0));
        beyond(1.0) && beyond(-1.0)
    }

    /// The columns of a row whose rays may meet it, with some to spare; `ray` is that of the row's first column, `step` from
    /// one column to the next. A slender triangle has a large rectangle and few of its samples.
    pub fn columns(&self, ray: Vec2, step: f32, columns: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let ray = ray.extend(1.0);
        let (mut low, mut high) = (columns.start as f32, columns.end as f32);
        let over = self.over.dot(ray);
        let (at_low, at_high) = (over + self.over.x * step * low, over + self.over.x * step * high);
        // Which way round it is seen; a triangle on edge is tried everywhere.
        let facing = match (at_low > 0.0, at_high > 0.0) {
            (true, true) => 1.0,
            (false, false) if at_low < 0.0 && at_high < 0.0 => -1.0,
            _ => return columns,
        };
        for edge in self.edges {
            let (rise, at) = (facing * edge.x * step, facing * edge.dot(ray));
            let crossing = -at / rise;
            let spare = 1.0 + 1e-6 * (edge * ray).abs().element_sum() / rise.abs();
            if rise > 0.0 {
                low = low.max(crossing - spare);
            } else if rise < 0.0 {
                high = high.min(crossing + spare);
            }
        }
        if low < high { low as usize..(high.ceil() as usize).min(columns.end) } else { 0..0 }
    }

    /// Share of each corner at a ray, summing to 1 also a little beside the triangle.
    pub fn shares(&self, slope: Vec2) -> [f32; 3] {
        let shares = self.edges.map(|e| e.dot(slope.extend(1.0)));
        let sum = shares[0] + shares[1] + shares[2];
        if sum == 0.0 { [1.0 / 3.0; 3] } else { shares.map(|s| s / sum) }
    }

    /// Depth of its plane along a ray.
    pub fn plane(&self, slope: Vec2) -> f32 {
        self.depth.dot(slope.extend(1.0)) / self.over.dot(slope.extend(1.0))
    }

    /// Draws it: `x` and `y` are the rays' slopes (or texels' middles) by column and row, `near` the least depth seen.
    pub fn draw(&self, x: &[f32; TILE], y: &[f32; TILE], near: f32, number: u32, tile: &mut Tile) {
        let [x0, y0, x1, y1] = self.rect.within(tile.first[0], tile.first[1], tile.span);
        let step = x[1] - x[0];
        for row in y0..y1 {
            let ray = Vec2::new(x[0], y[row]);
            let line = self.line(ray, step);
            for column in self.columns(ray, step, x0..x1) {
                let cell = row * TILE + column;
                if let Some(t) = line.meets(column as f32)
                    && t >= near
                    && t < tile.depth[cell]
                {
                    tile.depth[cell] = t;
                    tile.seen[cell] = number;
                }
            }
        }
    }
}

/// The functions of a [`Facet`] along a row: what they are in its first column, and how they grow from one to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    edges: [[f32; 2]; 3],
    depth: [f32; 2],
    over: [f32; 2],
}

impl Line {
    /// Depth where the ray of a column meets the triangle, if it does.
    pub fn meets(&self, column: f32) -> Option<f32> {
        let at = |[start, rise]: [f32; 2]| start + rise * column;
        let [u, v, w] = self.edges.map(at);
        let inside = (u >= 0.0) & (v >= 0.0) & (w >= 0.0) | (u <= 0.0) & (v <= 0.0) & (w <= 0.0);
        let over = at(self.over);
        (inside && over != 0.0).then(|| at(self.depth) / over)
    }
}
