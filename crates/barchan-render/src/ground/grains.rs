//! The grains of a ground that are near enough to be told apart.

use super::Before;
use crate::Sphere;
use crate::colour::materials;
use crate::dress::NO_GRAIN;
use glam::{DVec2, Vec3};
use rayon::prelude::*;

/// Width of a grain from which it is drawn [pixels]: below it, a sphere is a few samples, and mottling does as well.
const LEAST: f32 = 1.5;
/// Most grains in a picture, more or less: what two cores draw in a tenth of a second.
const MOST: f32 = 250_000.0;
/// Distance of grains in a row [radii]: they cover what lies below them.
const PITCH: f64 = 1.6;
/// Grains along a side of a block, which is seen or not seen as a whole.
const BLOCK: u32 = 16;

/// Grains for an eye, and the width from which they were drawn [pixels].
pub fn scatter(before: &Before<'_>) -> (Vec<Sphere>, f32) {
    let mut least = LEAST;
    let mut blocks = blocks(before, least);
    // Fewer, if there would be too many: their number goes down at least as the area in which they are seen.
    let count = blocks.len() as f32 * (BLOCK * BLOCK) as f32;
    if count > MOST {
        least *= (count / MOST).sqrt();
        blocks.retain(|block| before.width(block.1) >= least);
    }
    (blocks.into_par_iter().flat_map_iter(|(block, _)| grains(before, block, least)).collect(), least)
}

/// Blocks with grains that are to be drawn, and the point of each that is nearest to the eye, about.
fn blocks(before: &Before<'_>, least: f32) -> Vec<([u32; 2], Vec3)> {
    let relief = &before.ground.relief;
    let pitch = PITCH * f64::from(before.ground.radius);
    let side = f64::from(BLOCK) * pitch;
    let far = f64::from(2.0 * before.ground.radius * before.focal / least);
    let size = relief.end() - relief.origin.truncate();
    let eye = (before.eye.as_dvec3() + before.origin - relief.origin).truncate();
    let range = |axis: usize| {
        let end = |at: f64| (at.clamp(0.0, size[axis]) / side) as u32;
        // A pitch so small that numbers would not hold it is that of grains nobody could see.
        if size[axis] / pitch < f64::from(u32::MAX) { end(eye[axis] - far)..end(eye[axis] + far) + 1 } else { 0..0 }
    };
    let middle = |block: [u32; 2]| {
        let at = DVec2::new(f64::from(block[0]) + 0.5, f64::from(block[1]) + 0.5) * side + relief.origin.truncate();
        let inside = at.min(relief.end()).max(relief.origin.truncate());
        relief.over(inside.x, inside.y).map(|over| (inside.extend(over.z) - before.origin).as_vec3())
    };
    // Half a block's diagonal, with room for slopes up to 60°.
    let reach = 1.5 * side as f32;
    let seen = |block: [u32; 2]| {
        let middle = middle(block)?;
        let nearest = middle + (before.eye - middle).clamp_length_max(reach);
        (!before.hides(middle, reach) && before.width(nearest) >= least).then_some((block, nearest))
    };
    let (columns, rows) = (range(0), range(1));
    rows.into_par_iter().flat_map_iter(|y| columns.clone().filter_map(move |x| seen([x, y]))).collect()
}

/// The grains of a block.
fn grains<'a>(before: &'a Before<'_>, block: [u32; 2], least: f32) -> impl Iterator<Item = Sphere> + 'a {
    let ground = before.ground;
    let pitch = PITCH * f64::from(ground.radius);
    (0..BLOCK * BLOCK).filter_map(move |k| {
        let [i, j] = [block[0] * BLOCK + k % BLOCK, block[1] * BLOCK + k / BLOCK];
        let id = j.rotate_left(16) ^ i;
        let share = |salt: u32| f64::from(materials::share(id, salt));
        // Odd rows are shifted by half, and all are shaken, or rows would be seen.
        let shift = 0.5 * f64::from(j % 2);
        let at = DVec2::new(f64::from(i) + shift + 0.8 * share(11), f64::from(j) + 0.8 * share(12)) * pitch;
        let at = at + ground.relief.origin.truncate();
        let over = ground.relief.over(at.x, at.y)?;
        let surface = (at.extend(over.z) - before.origin).as_vec3();
        let out = before.out(surface, least);
        let radius = ground.radius * (0.85 + 0.3 * share(13) as f32);
        // Heights differ as in a bed: from just below the surface to most of the upper half above it.
        let rise = ground.radius * (0.75 * share(14) as f32 - 0.95 - 1.1 * (1.0 - out));
        let centre = surface + over.normal().as_vec3() * rise;
        let colour = materials::vary(ground.colour, id, ground.variation).to_array();
        (out > 0.0).then_some(Sphere { centre: centre.to_array(), radius, colour, grain: NO_GRAIN })
    })
}
