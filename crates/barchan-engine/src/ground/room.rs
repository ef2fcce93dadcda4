//! How far columns can rise under the grains that lie on them.
//!
//! All that is wanted is tried at once; where the surface would come farther into a sphere than it is, the columns round the
//! nearest point are taken back by as much as it takes, again and again. Lowering a surface brings it nearer to nothing,
//! so what is left at last, if something is, is put right by not raising the columns near that sphere at all.

use super::look::around;
use barchan_core::frame::Frame;
use barchan_core::relief::Relief;
use barchan_core::walls::{Bed, Geometry, Wall, WallState};
use barchan_ground::{Columns, Grid, QUANTUM, metres};
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// Rounds of taking back.
const ROUNDS: usize = 12;
/// By how much of its radius a sphere may be farther in than before.
const SLACK: f64 = 1e-6;

/// A sphere over the ground, and how far the surface may be inside it [m].
struct Ball {
    centre: DVec3,
    radius: f64,
    overlap: f64,
}

/// How much of what it wants [quanta] each column can rise now: those that can, in order. Grains whose row is not in `stays` are about
/// to leave.
pub(super) fn rise(
    mut rise: Vec<i64>,
    columns: &Columns,
    relief: &Relief,
    frame: &Frame<'_>,
    stays: &[bool],
) -> Vec<(usize, i64)> {
    let grid = columns.grid();
    let most = metres(rise.iter().copied().max().unwrap_or(0));
    let mut balls = balls(&rise, most, grid, relief, frame, stays);
    for _ in 0..ROUNDS {
        let raised = raised(relief, columns, &rise);
        let mut cut = vec![0_i64; rise.len()];
        // What has room now has room for good: from here on the surface only falls.
        balls.retain(|ball| {
            let near = raised.nearest(&WallState::default(), 0, ball.centre);
            let excess = ball.radius - near.distance - ball.overlap;
            let pressed = excess > SLACK * ball.radius;
            if pressed {
                let foot = ball.centre - near.normal * near.distance;
                let corners = corners(grid, foot.truncate());
                // Only what was raised can be taken back.
                let weight = |&(c, w): &(usize, f64)| if rise[c] > 0 { w * w } else { 0.0 };
                let squares: f64 = corners.iter().map(weight).sum();
                // Beyond half a way down a sphere's side the surface must go by more than it is in.
                let down = excess / near.normal.z.max(0.5) * 1.02;
                for (c, w) in corners {
                    if rise[c] > 0 {
                        let part = (down * w / squares / QUANTUM).min(9e18).ceil() as i64;
                        cut[c] = cut[c].max(part.min(rise[c]));
                    }
                }
            }
            pressed
        });
        if balls.is_empty() {
            return gather(rise);
        }
        rise.iter_mut().zip(&cut).for_each(|(r, c)| *r -= c);
    }
    let raised = raised(relief, columns, &rise);
    for ball in &balls {
        let distance = raised.nearest(&WallState::default(), 0, ball.centre).distance;
        if ball.radius - distance - ball.overlap > SLACK * ball.radius
            && let Some(c) = grid.column_at(ball.centre.x, ball.centre.y)
        {
            around(grid, c, (ball.radius / grid.cell).ceil() as usize + 1).for_each(|c| rise[c] = 0);
        }
    }
    gather(rise)
}

fn gather(rise: Vec<i64>) -> Vec<(usize, i64)> {
    rise.into_iter().enumerate().filter(|r| r.1 > 0).collect()
}

/// Spheres that stay, and that columns which rise may reach.
fn balls(rise: &[i64], most: f64, grid: &Grid, relief: &Relief, frame: &Frame<'_>, stays: &[bool]) -> Vec<Ball> {
    let now = wall(relief.clone());
    let mut balls = Vec::new();
    for s in frame.spheres().filter(|s| stays[s.grain]) {
        let Some(c) = grid.column_at(s.centre.x, s.centre.y) else { continue };
        let gap = s.centre.z - s.radius - grid.origin.z;
        let reach = (s.radius / grid.cell).ceil() as usize + 1;
        // Cheap tests first: high above all around, or nothing rises there.
        let high = around(grid, c, reach).all(|c| gap > relief.height[c] + most);
        if high || around(grid, c, reach).all(|c| rise[c] == 0) {
            continue;
        }
        let distance = now.nearest(&WallState::default(), 0, s.centre).distance;
        balls.push(Ball { centre: s.centre, radius: s.radius, overlap: (s.radius - distance).max(0.0) });
    }
    balls
}

fn wall(relief: Relief) -> Wall {
    Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(Arc::new(relief)))), 0)
}

fn raised(relief: &Relief, columns: &Columns, rise: &[i64]) -> Wall {
    let height = columns.heights().iter().zip(rise).map(|(&h, &r)| metres(h + r)).collect();
    wall(Relief { height, ..*relief })
}

/// The four columns round a point, with their weight there.
fn corners(grid: &Grid, at: DVec2) -> [(usize, f64); 4] {
    let [nx, ny] = grid.size;
    let most = DVec2::new((nx - 1) as f64, (ny - 1) as f64);
    let at = ((at - grid.origin.truncate()) / grid.cell - 0.5).clamp(DVec2::ZERO, most);
    let (x, y, u) = (at.x as usize, at.y as usize, at.fract());
    let (x1, y1) = ((x + 1).min(nx - 1), (y + 1).min(ny - 1));
    [
        (x + y * nx, (1.0 - u.x) * (1.0 - u.y)),
        (x1 + y * nx, u.x * (1.0 - u.y)),
        (x + y1 * nx, (1.0 - u.x) * u.y),
        (x1 + y1 * nx, u.x * u.y),
    ]
}
