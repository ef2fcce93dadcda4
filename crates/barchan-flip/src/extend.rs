//! Velocities on closed faces, as parcels beside them see them.
//!
//! A closed face in front of a cell carries the solid's velocity while the cell bears or its matter comes in; else that of the cell's
//! other side, so that sand leaves a ceiling or a wall that is withdrawn at once. A face inside a solid takes the mean of the faces
//! beside it, in two layers: friction with walls is in the stress, not in the interpolation.

use crate::flow::Vectors;
use crate::fractions::Fractions;
use crate::grid::{Grid, ROWS, Row};
use barchan_core::parallel;

/// Whether a face's velocity is known: by the flow, or extended.
type Known = [Vec<[bool; 8]>; 3];

/// Extends a velocity field in place. `mass` are the masses of cells, `face` those of faces; where `bearing` (pressures) is given, matter may
/// leave walls that it does not press on.
pub fn extend(
    grid: &Grid,
    fractions: &Fractions,
    mass: &[Row],
    face: &Vectors,
    bearing: Option<&[Row]>,
    velocity: &mut Vectors,
) {
    let near: Vec<usize> =
        (1..grid.len()).filter(|&s| grid.beside[s].iter().any(|&n| fractions.walled[n as usize])).collect();
    let mut known: Known = std::array::from_fn(|a| {
        let open = |(w, m): (&Row, &Row)| std::array::from_fn(|x| w[x] > 0.0 && m[x] > 0.0);
        fractions.open[a].iter().zip(&face[a]).map(open).collect()
    });
    let fronts = parallel::run(near.clone(), 1, |s| fronts(grid, fractions, mass, bearing, &known, velocity, s));
    apply(fronts, &mut known, velocity);
    for _ in 0..2 {
        let layer = parallel::run(near.clone(), 1, |s| layer(grid, fractions, &known, velocity, s));
        apply(layer, &mut known, velocity);
    }
}

/// A value for the face of an axis, row and place.
type Found = (u8, u32, u8, f64);

fn apply(found: Vec<Vec<Found>>, known: &mut Known, velocity: &mut Vectors) {
    for (a, r, x, v) in found.into_iter().flatten() {
        velocity[a as usize][r as usize][x as usize] = v;
        known[a as usize][r as usize][x as usize] = true;
    }
}

/// Closed faces in front of cells with matter.
fn fronts(
    grid: &Grid,
    fractions: &Fractions,
    mass: &[Row],
    bearing: Option<&[Row]>,
    known: &Known,
    velocity: &Vectors,
    s: usize,
) -> Vec<Found> {
    let around = &grid.around[s];
    let mut out = Vec::new();
    for k in 0..ROWS {
        let (y, z, r) = (k as i32 % 8, k as i32 / 8, s * ROWS + k);
        for a in 0..3 {
            for x in (0..8).filter(|&x| fractions.open[a][r][x] == 0.0) {
                let d: [i32; 3] = std::array::from_fn(|j| i32::from(j == a));
                let at = |n: i32| [x as i32 + n * d[0], y + n * d[1], z + n * d[2]];
                let value = |f: &[Row], c: [i32; 3]| around.value(f, c[0], c[1], c[2]);
                let solid = fractions.solid[a][r][x];
                // The cell above the face and the cell below it, each with its far side and the way off the wall.
                let sides = [(at(0), at(1), 1.0), (at(-1), at(-1), -1.0)];
                let matter = |c: [i32; 3]| value(mass, c) > 0.0 && value(&fractions.capacity, c) > 0.5;
                let Some((cell, far, off)) = sides.into_iter().find(|side| matter(side.0)) else { continue };
                let bears = bearing.is_none_or(|p| value(p, cell) != 0.0);
                let beyond = around.value(&velocity[a], far[0], far[1], far[2]);
                let free = around.value(&known[a], far[0], far[1], far[2]);
                let leaves = !bears && free && (beyond - solid) * off > 0.0;
                out.push((a as u8, r as u32, x as u8, if leaves { beyond } else { solid }));
            }
        }
    }
    out
}

/// Faces beside known ones.
fn layer(grid: &Grid, fractions: &Fractions, known: &Known, velocity: &Vectors, s: usize) -> Vec<Found> {
    let around = &grid.around[s];
    let mut out = Vec::new();
    for k in 0..ROWS {
        let (y, z, r) = (k as i32 % 8, k as i32 / 8, s * ROWS + k);
        for a in 0..3 {
            for x in (0..8).filter(|&x| fractions.open[a][r][x] == 0.0 && !known[a][r][x]) {
                let (mut sum, mut count) = (0.0, 0.0);
                for (dx, dy, dz) in [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)] {
                    let (i, j, l) = (x as i32 + dx, y + dy, z + dz);
                    if around.value(&known[a], i, j, l) {
                        sum += around.value(&velocity[a], i, j, l);
                        count += 1.0;
                    }
                }
                if count > 0.0 {
                    out.push((a as u8, r as u32, x as u8, sum / count));
                }
            }
        }
    }
    out
}
