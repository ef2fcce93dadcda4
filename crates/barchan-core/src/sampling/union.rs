//! Volume, centre and inertia of many spheres that overlap.
//!
//! Along each of some 10⁵ lines through the spheres, those it passes leave intervals; their union is exact along the line, and
//! lines are summed by the midpoint rule, each sphere being crossed by thousands. [`crate::shapes::Shape::clump`] is more
//! accurate and takes a time that grows as the cube of the number of spheres.

use crate::mesh::MassProperties;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Lines across the union each way.
const LINES: usize = 400;

/// Volume, centre and inertia of the union of spheres (centre, radius [m]), to some parts in 10⁴; none without a sphere.
pub fn union(spheres: &[(DVec3, f64)]) -> Option<MassProperties> {
    let corners = spheres.iter().map(|&(c, r)| [c - DVec3::splat(r), c + DVec3::splat(r)]);
    let [low, high] = corners.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
    let about = 0.5 * (low + high);
    let step = (high - low) / LINES as f64;
    let layers: Vec<[f64; 10]> = (0..LINES)
        .into_par_iter()
        .map(|k| layer(spheres, about, (low.y - about.y, step.y), low.z - about.z + (k as f64 + 0.5) * step.z))
        .collect();
    // 1, x, y, z, xx, yy, zz, xy, xz, yz.
    let mut sum = [0.0; 10];
    layers.iter().for_each(|layer| (0..10).for_each(|k| sum[k] += layer[k] * step.y * step.z));
    let [volume, x, y, z, xx, yy, zz, xy, xz, yz] = sum;
    if volume.is_nan() || volume <= 0.0 {
        return None;
    }
    let c = DVec3::new(x, y, z) / volume;
    let second = DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
        - DMat3::from_cols(c * c.x, c * c.y, c * c.z) * volume;
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - second;
    Some(MassProperties { volume, centroid: about + c, inertia })
}

/// Sums over the lines along x at one height z; `rows` is where they begin in y and how far they are apart.
fn layer(spheres: &[(DVec3, f64)], about: DVec3, rows: (f64, f64), z: f64) -> [f64; 10] {
    let mut lines: Vec<Vec<[f64; 2]>> = vec![Vec::new(); LINES];
    for &(c, r) in spheres {
        let c = c - about;
        let disc = r * r - (z - c.z).powi(2);
        if disc <= 0.0 {
            continue;
        }
        let place = |y: f64| ((y - rows.0) / rows.1 - 0.5).clamp(0.0, LINES as f64);
        for k in place(c.y - disc.sqrt()).floor() as usize..=(place(c.y + disc.sqrt()) as usize).min(LINES - 1) {
            let y = rows.0 + (k as f64 + 0.5) * rows.1;
            let square = disc - (y - c.y).powi(2);
            if square > 0.0 {
                lines[k].push([c.x - square.sqrt(), c.x + square.sqrt()]);
            }
        }
    }
    let mut sum = [0.0; 10];
    for (k, line) in lines.iter_mut().enumerate() {
        let y = rows.0 + (k as f64 + 0.5) * rows.1;
        line.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut end = f64::NEG_INFINITY;
        for &[from, to] in line.iter() {
            let from = from.max(end);
            if to <= from {
                continue;
            }
            end = to;
            let (length, x, xx) = (to - from, 0.5 * (to * to - from * from), (to * to * to - from * from * from) / 3.0);
            let own =
                [length, x, y * length, z * length, xx, y * y * length, z * z * length, x * y, x * z, y * z * length];
            (0..10).for_each(|k| sum[k] += own[k]);
        }
    }
    sum
}
