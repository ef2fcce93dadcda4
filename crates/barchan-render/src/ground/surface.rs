//! The surface of a ground as triangles, no finer than an eye can tell.
//!
//! Tiles of cells are drawn with every 1st, 2nd, 4th … point, so that an edge is a few pixels long; tiles out of sight stay,
//! as coarse as can be, for their shadows. On the edge of a tile that is finer than its neighbour, points the neighbour does not have
//! are put on the one before them: triangles there become narrower or nothing, and no crack is left.

use super::Before;
use crate::look;
use crate::{Finish, Mesh};
use barchan_core::relief::Relief;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Cells along a side of a tile.
const TILE: usize = 32;
/// Length of an edge that may become two [pixels].
const EDGE: f32 = 8.0;
/// How far the surface lies below the grains that are drawn on it [mean radii].
const BELOW: f32 = 0.9;

/// The triangles for an eye; grains stand out of it from a width of `least` on [pixels].
pub fn triangles(before: &Before<'_>, least: f32) -> Mesh {
    let relief: &Relief = &before.ground.relief;
    let tiles = relief.size.map(|n| (n - 1).div_ceil(TILE).max(1));
    let steps: Vec<usize> = (0..tiles[0] * tiles[1])
        .into_par_iter()
        .map(|t| step(before, [t % tiles[0] * TILE, t / tiles[0] * TILE]))
        .collect();
    let tile = |t: usize| {
        let [x, y] = [t % tiles[0], t / tiles[0]];
        let other = |there: bool, t: usize| if there { steps[t] } else { 1 };
        let around = [
            other(x > 0, t.wrapping_sub(1)),
            other(x + 1 < tiles[0], t + 1),
            other(y > 0, t.wrapping_sub(tiles[0])),
            other(y + 1 < tiles[1], t + tiles[0]),
        ];
        tile(before, least, [x * TILE, y * TILE], steps[t], around.map(|s| s.max(steps[t])))
    };
    let parts: Vec<Mesh> = (0..steps.len()).into_par_iter().map(tile).collect();
    let dim = if before.ground.cover.is_some() { 1.0 } else { look::BED };
    let mut whole = Mesh { colour: before.ground.colour * dim, finish: Finish::Solid, ..Mesh::default() };
    for part in parts {
        let first = whole.vertices.len() as u32;
        whole.vertices.extend(part.vertices);
        whole.normals.extend(part.normals);
        whole.colours.extend(part.colours);
        whole.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    skirt(before, &mut whole);
    whole
}

/// From one point of a tile that is drawn to the next, in cells.
fn step(before: &Before<'_>, first: [usize; 2]) -> usize {
    let relief = &before.ground.relief;
    let last = [0, 1].map(|k| (first[k] + TILE).min(relief.size[k] - 1));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in (first[1]..=last[1]).map(|y| &relief.height[y * relief.size[0]..]) {
        for h in &row[first[0]..=last[0]] {
            (low, high) = (low.min(*h), high.max(*h));
        }
    }
    let corner = |at: [usize; 2], height: f64| {
        let p = relief.origin + DVec3::new(at[0] as f64 + 0.5, at[1] as f64 + 0.5, 0.0) * relief.cell;
        (p + DVec3::Z * height - before.origin).as_vec3()
    };
    let (low, high) = (corner(first, low), corner(last, high));
    if before.hides(0.5 * (low + high), 0.5 * (high - low).length()) {
        return TILE;
    }
    let distance = (before.eye - before.eye.clamp(low, high)).length();
    let cell = relief.cell as f32 * before.focal / distance.max(f32::MIN_POSITIVE);
    let most = (EDGE / cell).clamp(1.0, TILE as f32) as usize;
    1 << most.ilog2()
}

/// A tile from a first cell on, with every `step`th point; `around`: steps of the tiles in the west, east, south and north, where
/// they are larger.
fn tile(before: &Before<'_>, least: f32, first: [usize; 2], step: usize, around: [usize; 4]) -> Mesh {
    let relief: &Relief = &before.ground.relief;
    let points = |axis: usize| {
        let last = (first[axis] + TILE).min(relief.size[axis] - 1);
        let mut points: Vec<usize> = (first[axis]..last).step_by(step).collect();
        points.push(last);
        points
    };
    let (xs, ys) = (points(0), points(1));
    let mut mesh = Mesh::default();
    let ends = [xs[xs.len() - 1], ys[ys.len() - 1]];
    // The point a neighbour has for one on the common edge.
    let shared =
        |at: usize, first: usize, end: usize, step: usize| if at == end { at } else { at - (at - first) % step };
    for &y in &ys {
        for &x in &xs {
            let [west, east, south, north] = around;
            let across = if x == first[0] {
                west
            } else if x == ends[0] {
                east
            } else {
                step
            };
            let along = if y == first[1] {
                south
            } else if y == ends[1] {
                north
            } else {
                step
            };
            let at = [shared(x, first[0], ends[0], along), shared(y, first[1], ends[1], across)];
            let (p, n) = vertex(before, at, step);
            mesh.vertices.push(p - Vec3::Z * (BELOW * before.ground.radius * before.out(p, least)));
            mesh.normals.push(n);
            if let Some(cover) = &before.ground.cover {
                mesh.colours.extend(cover.get(at[0] + at[1] * relief.size[0]).map(|c| Vec3::from(*c)));
            }
        }
    }
    let wide = xs.len() as u32;
    for (j, i) in (0..ys.len() as u32 - 1).flat_map(|j| (0..wide - 1).map(move |i| (j, i))) {
        let a = i + j * wide;
        let [b, c, d] = [a + 1, a + wide, a + wide + 1];
        // Along the diagonal whose ends are nearer in height: ridges and furrows stay whole.
        let z = |v: u32| mesh.vertices[v as usize].z;
        let two =
            if (z(a) - z(d)).abs() <= (z(b) - z(c)).abs() { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] };
        let area = |t: &[u32; 3]| {
            let [p, q, r] = t.map(|v| mesh.vertices[v as usize]);
            (q - p).cross(r - p) != Vec3::ZERO
        };
        mesh.triangles.extend(two.into_iter().filter(area));
    }
    mesh
}

/// Place and normal of a point of the surface; the outermost are moved to the rim.
fn vertex(before: &Before<'_>, at: [usize; 2], step: usize) -> (Vec3, Vec3) {
    let relief: &Relief = &before.ground.relief;
    let [nx, ny] = relief.size;
    let height = |x: usize, y: usize| relief.height[x + y * nx];
    let along = |n: usize, size: usize| match n {
        0 => 0.0,
        _ if n + 1 == size => size as f64,
        _ => n as f64 + 0.5,
    };
    let p = relief.origin + DVec3::new(along(at[0], nx), along(at[1], ny), 0.0) * relief.cell;
    let p = (p + DVec3::Z * height(at[0], at[1]) - before.origin).as_vec3();
    // Slopes over as many cells as lie between points: what is finer cannot be told apart and would flicker.
    let slope = |axis: usize| {
        let (low, high) = (at[axis].saturating_sub(step), (at[axis] + step).min(relief.size[axis] - 1));
        let there = |n: usize| if axis == 0 { height(n, at[1]) } else { height(at[0], n) };
        if high > low { (there(high) - there(low)) / ((high - low) as f64 * relief.cell) } else { 0.0 }
    };
    (p, DVec3::new(-slope(0), -slope(1), 1.0).normalize().as_vec3())
}

/// The ground's sides, from the rim down to the floor of its heights.
fn skirt(before: &Before<'_>, mesh: &mut Mesh) {
    let relief: &Relief = &before.ground.relief;
    let floor = (before.ground.foot() - before.origin.z) as f32;
    let [low, high] = [relief.origin.truncate(), relief.end()].map(|p| (p - before.origin.truncate()).as_vec2());
    let surface = mesh.vertices.len() as u32;
    for (axis, rim, out) in
        [(0, low.x, Vec3::NEG_X), (0, high.x, Vec3::X), (1, low.y, Vec3::NEG_Y), (1, high.y, Vec3::Y)]
    {
        let along = |p: &Vec3| p[1 - axis];
        let mut top: Vec<Vec3> = mesh.vertices[..surface as usize].iter().filter(|p| p[axis] == rim).copied().collect();
        top.sort_by(|a, b| along(a).total_cmp(&along(b)));
        top.dedup();
        let first = mesh.vertices.len() as u32;
        for (i, p) in top.iter().enumerate() {
            mesh.vertices.extend([*p, p.with_z(floor.min(p.z))]);
            mesh.normals.extend([out; 2]);
            if before.ground.cover.is_some() {
                mesh.colours.extend([before.ground.colour; 2]);
            }
            if i > 0 {
                let a = first + 2 * (i as u32 - 1);
                mesh.triangles.extend([[a, a + 1, a + 2], [a + 1, a + 3, a + 2]]);
            }
        }
    }
}
