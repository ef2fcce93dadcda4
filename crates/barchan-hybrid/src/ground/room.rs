//! How far columns can rise under the grains that lie on them.
//!
//! No column rises past the underside of a sphere over its middle ([`over`]). What is wanted within that is tried at once; where the
//! surface would come farther into a sphere than it is, the columns round the
//! nearest point are taken back by as much as it takes, again and again. Lowering a surface brings it nearer to nothing,
//! so what is left at last, if something is, is put right by not raising the columns near that sphere at all, and what would stand
//! out as a needle in a gap between spheres is cut.

use super::look::around;
use barchan_core::frame::Population;
use barchan_core::relief::Relief;
use barchan_core::walls::{Bed, Geometry, Wall, WallState};
use barchan_ground::{Columns, Grid, QUANTUM, metres};
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// Rounds of taking back.
const ROUNDS: usize = 12;
/// By how much of its radius a sphere may be farther in than before.
const SLACK: f64 = 1e-6;

/// How often columns are held against those round them at most: each time a hollow of any width is filled by [`NEEDLE`].
const FILLINGS: usize = 200;
/// How far a column may rise above the mean of those round it, over their width.
const NEEDLE: f64 = 0.5;

/// How far each column may rise at most [quanta]: to the underside of the lowest sphere that stays over its middle; where there is none,
/// as far as any beside it. None where there is no sphere at all.
pub(super) fn over(columns: &Columns, frame: &Population, stays: &[bool]) -> Vec<Option<i64>> {
    let grid = columns.grid();
    let mut room: Vec<Option<i64>> = vec![None; grid.len()];
    for s in frame.spheres().filter(|s| stays[s.grain]) {
        let Some(at) = grid.column_at(s.centre.x, s.centre.y) else { continue };
        for c in around(grid, at, (s.radius / grid.cell).ceil() as usize) {
            let aside = (grid.centre(c) - s.centre.truncate()).length_squared();
            let inside = s.radius * s.radius - aside;
            if inside > 0.0 {
                let under = s.centre.z - grid.origin.z - inside.sqrt();
                let up = ((under / QUANTUM) as i64).saturating_sub(columns.heights()[c]).max(0);
                room[c] = Some(room[c].map_or(up, |known| known.min(up)));
            }
        }
    }
    let beside = |c: usize| around(grid, c, 1).filter_map(|n| room[n]).max();
    (0..grid.len()).map(|c| room[c].or_else(|| beside(c))).collect()
}

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
    frame: &Population,
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
            let near = raised.nearest_to_ball(&WallState::default(), 0, ball.centre, ball.radius);
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
            break;
        }
        rise.iter_mut().zip(&cut).for_each(|(r, c)| *r -= c);
    }
    let raised = raised(relief, columns, &rise);
    for ball in &balls {
        let distance = raised.nearest_to_ball(&WallState::default(), 0, ball.centre, ball.radius).distance;
        if ball.radius - distance - ball.overlap > SLACK * ball.radius
            && let Some(c) = grid.column_at(ball.centre.x, ball.centre.y)
        {
            around(grid, c, (ball.radius / grid.cell).ceil() as usize + 1).for_each(|c| rise[c] = 0);
        }
    }
    without_needles(columns, &rise)
}

/// Of what columns would rise [quanta], what does not stand out above those round it: those that rise and how much, in order. From below, so that
/// several that are owed much beside each other do not bear each other up, as a tower, while a hollow is filled to its rim.
fn without_needles(columns: &Columns, rise: &[i64]) -> Vec<(usize, i64)> {
    let (grid, heights) = (columns.grid(), columns.heights());
    let needle = (NEEDLE * grid.cell / QUANTUM) as i64;
    let rising: Vec<usize> = (0..rise.len()).filter(|&c| rise[c] > 0).collect();
    let mut risen = heights.to_vec();
    for _ in 0..FILLINGS {
        let before = risen.clone();
        for &c in &rising {
            let (sum, count) = around(grid, c, 1).filter(|&n| n != c).fold((0, 0), |(s, k), n| (s + before[n], k + 1));
            risen[c] = (sum / count.max(1) + needle).clamp(heights[c], heights[c] + rise[c]);
        }
        if risen == before {
            break;
        }
    }
    rising.into_iter().map(|c| (c, risen[c] - heights[c])).filter(|r| r.1 > 0).collect()
}

/// Spheres that stay, and that columns which rise may reach.
fn balls(rise: &[i64], most: f64, grid: &Grid, relief: &Relief, frame: &Population, stays: &[bool]) -> Vec<Ball> {
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
        let distance = now.nearest_to_ball(&WallState::default(), 0, s.centre, s.radius).distance;
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

#[cfg(test)]
mod tests {
    use super::super::relief_of;
    use super::*;
    use barchan_core::rng::Random;
    use barchan_core::shapes::Shape;
    use barchan_ground::Soil;

    /// Spheres at rest.
    fn frame(balls: &[(DVec3, f64)]) -> Population {
        let n = balls.len();
        Population {
            position: balls.iter().map(|b| b.0).collect(),
            velocity: vec![DVec3::ZERO; n].into(),
            spin: vec![DVec3::ZERO; n].into(),
            radius: balls.iter().map(|b| b.1).collect(),
            id: (0..n as u32).collect(),
            shape: vec![0; n].into(),
            shapes: vec![Shape::sphere()].into(),
            ..Population::default()
        }
    }

    /// A column that was owed twelve diameters hindered all round it, as if they had risen as high, and grew as a needle into the first gap. A grain that
    /// came between two such needles was pressed into one by 40 % of its radius.
    #[test]
    fn a_column_that_is_owed_much_hinders_nobody_and_is_no_needle() {
        let (cell, n) = (3e-3, 12);
        let grid = Grid { origin: DVec3::ZERO, cell, size: [n, n] };
        let columns = Columns::flat(grid, Soil::SAND, 0.0).unwrap();
        let relief = relief_of(&columns);
        let mut random = Random::new(3, 0);
        for _ in 0..20 {
            // Spheres of a diameter's width, side by side, a diameter above the ground and more.
            let mut ball = |k: usize| {
                let at = DVec3::new((k % n) as f64 + 0.5, (k / n) as f64 + 0.5, 2.0 + 0.5 * random.uniform());
                ((at + 0.2 * random.in_ball()) * cell, 0.5 * cell)
            };
            let balls: Vec<(DVec3, f64)> = (0..n * n).map(&mut ball).collect();
            let (frame, stays) = (frame(&balls), vec![true; n * n]);
            let room = over(&columns, &frame, &stays);
            let few = (0.5 * cell / QUANTUM) as i64;
            let much = n * n / 2 + n / 2;
            let owed = |c: usize| if c == much { 24 * few } else { few };
            let wanted = (0..n * n).map(|c| owed(c).min(room[c].unwrap_or(i64::MAX))).collect();
            let paid = rise(wanted, &columns, &relief, &frame, &stays);
            let mut heights = vec![0; n * n];
            paid.iter().for_each(|&(c, quanta)| heights[c] = quanta);
            assert!((0..n * n).all(|c| c == much || heights[c] == few), "all others have what they are owed");
            let needle = metres(heights[much] - few) / cell;
            assert!((0.0..=NEEDLE + 1e-9).contains(&needle), "{needle}");
            let surface = raised(&relief, &columns, &heights);
            for (centre, radius) in &balls {
                let distance = surface.nearest(&WallState::default(), 0, *centre).distance;
                assert!(distance > (1.0 - SLACK) * radius, "in a sphere by {}", radius - distance);
            }
        }
    }

    #[test]
    fn columns_that_are_owed_much_beside_each_other_grow_no_tower_and_a_hollow_is_filled_to_its_rim() {
        let (cell, n) = (3e-3, 24);
        let grid = Grid { origin: DVec3::ZERO, cell, size: [n, n] };
        let deep = (10.0 * cell / QUANTUM) as i64;
        let within = |c: usize, half: usize| (c % n).abs_diff(n / 2) < half && (c / n).abs_diff(n / 2) < half;
        let mut heights = vec![10.0 * cell; n * n];
        let mut columns = Columns::new(grid, Soil::SAND, &heights).unwrap();
        let tower: Vec<i64> = (0..n * n).map(|c| if within(c, 2) { deep } else { 0 }).collect();
        let most = without_needles(&columns, &tower).iter().map(|r| metres(r.1)).fold(0.0, f64::max);
        assert!(most > 0.0 && most < 5.0 * NEEDLE * cell, "{most}");
        (0..n * n).filter(|&c| within(c, 6)).for_each(|c| heights[c] = 0.0);
        columns = Columns::new(grid, Soil::SAND, &heights).unwrap();
        let hollow: Vec<i64> = (0..n * n).map(|c| if within(c, 6) { deep } else { 0 }).collect();
        let filled = without_needles(&columns, &hollow);
        assert!(filled.len() == 11 * 11 && filled.iter().all(|r| r.1 == deep));
    }
}
