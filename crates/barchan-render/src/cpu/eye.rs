//! What the eye sees: points 1 and 6 of the look. For each sample, the nearest surface's number and depth; for a number and
//! a ray, the surface there.

use super::shapes::{Ball, Facet, Rays, meet};
use super::tiles::{Bins, CELLS, FLOOR, Grid, NOTHING, Rect, TILE, Tile};
use crate::look;
use crate::{Finish, Mesh, Picture, View};
use glam::{Mat3, Vec2, Vec3};
use rayon::prelude::*;

/// A point of a surface.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Depth [m].
    pub depth: f32,
    /// Unit normal, along the world's axes.
    pub normal: Vec3,
    /// Normal of the tangent plane: differs on triangles with smoothed normals.
    pub plane: Vec3,
    /// Reflectance.
    pub colour: Vec3,
    /// Diameter of the grains it is made of, if it is ground [m].
    pub mottled: Option<f32>,
    /// What it is fixed to [m], and how much of its bumps is seen.
    pub anchor: (Vec3, f32),
}

/// A picture before the eye. Shapes are numbered: spheres first, then solid triangles in the order of meshes.
pub struct Eye<'a> {
    /// The view, upright.
    pub view: View,
    /// Tiles of the picture.
    pub grid: Grid,
    /// Samples along a side of a pixel.
    pub side: u32,
    /// From the camera's axes (x right, y up, z depth) to the world's.
    pub axes: Mat3,
    /// Pixels to one unit of slope.
    pub focal: f32,
    /// Slope from one sample to the next.
    step: f32,
    picture: &'a Picture,
    balls: &'a [Ball],
    facets: Vec<Facet>,
    /// Mesh and number of each triangle.
    corners: Vec<(u32, u32)>,
    /// The ground's mesh, and the diameter of its grains [m].
    ground: Option<(u32, f32)>,
    near: f32,
}

impl<'a> Eye<'a> {
    /// Puts a picture before the eye; `balls` is room for its spheres.
    pub fn open(picture: &'a Picture, view: &View, side: u32, balls: &'a mut Vec<Ball>) -> Self {
        let view = look::upright(view);
        let (near, grid) = (look::near(&view), Grid::new(view.size, side));
        let back = (view.eye - view.target).normalize_or(Vec3::Z);
        let right = view.up.cross(back).normalize_or(Vec3::X);
        // x right, y up, z into the picture: a left-handed triple, so that depth counts up.
        let axes = Mat3::from_cols(right, back.cross(right), -back);
        let focal = look::focal(&view);
        let scale = focal * side as f32;
        let half = Vec2::new(grid.size[0] as f32, grid.size[1] as f32) * 0.5;
        let sample = |slope: Vec2| half + scale * Vec2::new(slope.x, -slope.y);
        let turned = axes.transpose();
        let ball = |s: &crate::Sphere| {
            let mut ball = Ball { centre: turned * (Vec3::from(s.centre) - view.eye), ..Ball::default() };
            if !look::drawable(s.centre, s.radius) || !ball.centre.is_finite() || ball.centre.z + s.radius <= near {
                return ball;
            }
            ball.radius = s.radius;
            let [x, y] = ball.slopes();
            let (low, high) = (sample(Vec2::new(x[0], y[1])), sample(Vec2::new(x[1], y[0])));
            ball.rect = Rect::around(low.to_array(), high.to_array(), grid.size);
            ball
        };
        picture.spheres.par_iter().map(ball).collect_into_vec(balls);
        let facet = |mesh: &Mesh, t: &[u32; 3]| {
            let points = super::corners(mesh, t)?.map(|p| turned * (p - view.eye));
            Some(Facet::before_eye(points, near, grid.size, |p| sample(p.truncate() / p.z)))
        };
        let solid = picture.meshes.par_iter().enumerate().filter(|(_, m)| m.finish == Finish::Solid);
        let (facets, corners) = solid
            .flat_map(|(m, mesh)| {
                let numbered = mesh.triangles.par_iter().enumerate();
                numbered.filter_map(move |(i, t)| Some((facet(mesh, t)?, (m as u32, i as u32))))
            })
            .unzip();
        let last = picture.meshes.len().wrapping_sub(1) as u32;
        let ground = picture.ground.as_ref().map(|g| (last, if g.cover.is_some() { 0.0 } else { 2.0 * g.radius }));
        Eye { view, grid, side, axes, focal, step: 1.0 / scale, picture, balls, facets, corners, ground, near }
    }

    /// Finds what each sample sees.
    pub fn see(&self, bins: &mut Bins, depth: &mut Vec<f32>, seen: &mut Vec<u32>) {
        let keys = self.balls.iter().map(|b| (b.rect, b.centre.z - b.radius));
        bins.fill(&self.grid, keys.chain(self.facets.iter().map(|f| (f.rect, f.key))));
        depth.resize(self.grid.len() * CELLS, 0.0);
        seen.resize(self.grid.len() * CELLS, 0);
        depth.par_chunks_mut(CELLS).zip(seen.par_chunks_mut(CELLS)).enumerate().for_each_init(
            Vec::new,
            |room, (t, (depth, seen))| {
                let mut tile = Tile::new(&self.grid, t, depth, seen);
                let rays = self.rays(tile.first);
                self.lay_floor(&rays, &mut tile);
                tile.draw(bins.sorted(t, room), |i, tile| match self.balls.get(i) {
                    Some(ball) => ball.draw(&rays, i as u32, tile),
                    None => {
                        self.facets[i - self.balls.len()].draw(&rays.x, &rays.y, self.near, i as u32, tile);
                    }
                });
            },
        );
    }

    /// Rays of the tile with this first sample.
    fn rays(&self, first: [u32; 2]) -> Rays {
        let x = std::array::from_fn(|i| self.slope([first[0] + i as u32, 0]).x);
        let y = std::array::from_fn(|i| self.slope([0, first[1] + i as u32]).y);
        Rays::new(x, y, self.near)
    }

    /// Slopes of the ray of a sample: [`look::ray`].
    pub fn slope(&self, sample: [u32; 2]) -> Vec2 {
        let [width, height] = self.grid.size.map(|n| 0.5 * n as f32 - 0.5);
        Vec2::new(sample[0] as f32 - width, height - sample[1] as f32) * self.step
    }

    /// Where a point along the camera's axes is in the picture [pixels].
    pub fn pixel(&self, p: Vec3) -> Vec2 {
        let half = Vec2::new(self.view.size[0] as f32, self.view.size[1] as f32) * 0.5;
        half + self.focal * Vec2::new(p.x, -p.y) / p.z
    }

    /// A point on a ray.
    pub fn point(&self, slope: Vec2, depth: f32) -> Vec3 {
        self.view.eye + self.axes * (slope.extend(1.0) * depth)
    }

    fn lay_floor(&self, rays: &Rays, tile: &mut Tile) {
        let Some(height) = self.picture.floor.map(|f| f.0 - self.view.eye.z).filter(|h| *h < 0.0) else { return };
        let down = self.axes.transpose() * Vec3::Z;
        for row in 0..TILE {
            let cells = row * TILE..(row + 1) * TILE;
            let (depth, seen) = (&mut tile.depth[cells.clone()], &mut tile.seen[cells]);
            for column in 0..TILE {
                let fall = rays.x[column] * down.x + rays.y[row] * down.y + down.z;
                let t = height / fall;
                let nearer = (fall < 0.0) & (t >= self.near) & (t < depth[column]);
                depth[column] = if nearer { t } else { depth[column] };
                seen[column] = if nearer { FLOOR } else { seen[column] };
            }
        }
    }

    /// The surface with this number along a ray that meets it.
    pub fn spot(&self, number: u32, slope: Vec2) -> Option<Spot> {
        let i = number as usize;
        if let (Some(ball), Some(sphere)) = (self.balls.get(i), self.picture.spheres.get(i)) {
            let (s, out) = meet(ball, slope);
            let normal = (self.axes * out).normalize_or(Vec3::Z);
            return Some(Spot {
                depth: ball.centre.z + s,
                normal,
                plane: normal,
                colour: sphere.colour.into(),
                mottled: None,
                anchor: (Vec3::from(sphere.centre), 0.0),
            });
        }
        match number {
            NOTHING => None,
            FLOOR => {
                let (height, colour) = self.picture.floor?;
                let depth = (height - self.view.eye.z) / (self.axes * slope.extend(1.0)).z;
                Some(Spot { depth, normal: Vec3::Z, plane: Vec3::Z, colour, mottled: None, anchor: STILL })
            }
            _ => {
                let i = i - self.balls.len();
                let (m, t) = self.corners[i];
                let mesh = &self.picture.meshes[m as usize];
                let anchor =
                    mesh.anchors.get(t as usize).map_or(STILL, |&[x, y, z, still]| (Vec3::new(x, y, z), still));
                let t = mesh.triangles[t as usize];
                let ahead = self.axes * slope.extend(1.0);
                let plane = towards_eye(facet_normal(mesh, &t), ahead);
                let shares = self.facets[i].shares(slope);
                let normal = smooth_normal(mesh, &t, shares).unwrap_or(plane);
                let normal = if normal.dot(plane) < 0.0 { -normal } else { normal };
                let mottled = self.ground.filter(|g| g.0 == m).map(|g| g.1);
                let colour = mesh.corner_colours(&t).and_then(|colours| between(colours, shares));
                let colour = colour.unwrap_or(mesh.colour);
                Some(Spot { depth: self.facets[i].plane(slope), normal, plane, colour, mottled, anchor })
            }
        }
    }

    /// Rows of grain and mesh a number stands for.
    pub fn what(&self, number: u32) -> super::Seen {
        match number {
            NOTHING => super::Seen::Nothing,
            FLOOR => super::Seen::Floor,
            n if (n as usize) < self.balls.len() => super::Seen::Grain(self.picture.spheres[n as usize].grain),
            n => match self.corners[n as usize - self.balls.len()].0 {
                m if self.ground.is_some_and(|g| g.0 == m) => super::Seen::Ground,
                m => super::Seen::Mesh(m),
            },
        }
    }
}

/// The anchor of what stands still.
const STILL: (Vec3, f32) = (Vec3::ZERO, 1.0);

/// Unit normal of a triangle's plane.
pub fn facet_normal(mesh: &Mesh, t: &[u32; 3]) -> Vec3 {
    let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
    // Scaled before the product, which would leave f32 for triangles of microns.
    let (ab, ac) = ((b - a).normalize_or_zero(), (c - a).normalize_or_zero());
    ab.cross(ac).normalize_or(Vec3::Z)
}

/// Normal between a triangle's corners, if the mesh has normals.
pub fn smooth_normal(mesh: &Mesh, t: &[u32; 3], shares: [f32; 3]) -> Option<Vec3> {
    let mut sum = Vec3::ZERO;
    for (i, share) in t.iter().zip(shares) {
        sum += *mesh.normals.get(*i as usize)? * share;
    }
    sum.try_normalize()
}

/// Colour between a triangle's corners.
fn between(colours: [Vec3; 3], shares: [f32; 3]) -> Option<Vec3> {
    let sum: f32 = shares.iter().sum();
    let mixed: Vec3 = colours.iter().zip(shares).map(|(colour, share)| *colour * share).sum();
    Some(mixed / sum).filter(|c| c.is_finite()).map(|c| c.clamp(Vec3::ZERO, Vec3::ONE))
}

fn towards_eye(n: Vec3, ahead: Vec3) -> Vec3 {
    if n.dot(ahead) > 0.0 { -n } else { n }
}
