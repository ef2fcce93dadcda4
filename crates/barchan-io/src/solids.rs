//! Grains that are solids, put together again from the rows of their spheres in a frame file.

use crate::frames::{Damage, damage};
use barchan_core::frame::{Population, Shared};
use barchan_core::shapes::Shape;
use glam::{DQuat, DVec3};
use std::collections::HashMap;

/// A solid as a file has it beside the rows of its spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Solid {
    /// Permanent identity of the grain.
    pub id: u32,
    /// Index into the scene's shapes.
    pub shape: u16,
    /// Centre of mass [m].
    pub position: DVec3,
    /// Orientation.
    pub turn: DQuat,
    /// Radius of its largest sphere [m].
    pub radius: f64,
}

/// How far the square of an orientation's length may be from 1: solvers keep theirs to rounding.
const UNIT: f64 = 1e-6;

impl Solid {
    fn check(&self, shapes: &[Shape]) -> Result<(), Damage> {
        let id = self.id;
        let what = |array: &str, what: String| damage(format!("array solid_{array}, grain {id}"), what);
        if shapes.get(usize::from(self.shape)).is_none_or(|s| s.skin().is_none()) {
            return what("shape", format!("shape {} is no solid of the scene", self.shape));
        }
        if !self.position.is_finite() {
            return what("position", format!("{} is no place", self.position));
        }
        if !(1.0 - UNIT..1.0 + UNIT).contains(&self.turn.length_squared()) {
            return what("orientation", format!("{} is no rotation", self.turn));
        }
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            return what("radius", format!("{} is no radius", self.radius));
        }
        Ok(())
    }
}

/// Gives each solid one row in place of its spheres' rows: the first of these, moved to the centre of mass and
/// with the mass of all. How many rows a solid has is not compared with its shape: another version may line it with more.
pub(crate) fn gather(grains: &mut Population, solids: &[Solid], shapes: &Shared<Shape>) -> Result<(), Damage> {
    if solids.is_empty() {
        return Ok(());
    }
    let mut rows: HashMap<u32, Option<usize>> = HashMap::new();
    for solid in solids {
        solid.check(shapes)?;
        if rows.insert(solid.id, None).is_some() {
            return damage("array solid_id", format!("grain {} is there twice", solid.id));
        }
    }
    // The first row of each solid, and those of all other grains; masses of a solid gather in its first row.
    let (mut kept, mut at) = (Vec::new(), vec![0; grains.len()]);
    let mut mass = grains.mass.to_vec();
    for row in 0..grains.len() {
        match rows.get_mut(&grains.id[row]) {
            Some(Some(first)) => {
                mass[*first] += grains.mass[row];
                continue;
            }
            Some(first) => *first = Some(row),
            None => {}
        }
        at[row] = kept.len();
        kept.push(row);
    }
    let sphere = shapes.iter().position(|s| s.is_sphere() && s.skin().is_none());
    grains.shapes = match sphere {
        Some(_) => shapes.clone(),
        None => shapes.iter().cloned().chain([Shape::sphere()]).collect(),
    };
    let (mut position, mut velocity) = (take(&grains.position, &kept), take(&grains.velocity, &kept));
    let (mut radius, spin) =
        (take(&grains.radius, &kept), if grains.spin.is_empty() { Vec::new() } else { take(&grains.spin, &kept) });
    let mut shape = vec![sphere.unwrap_or(shapes.len()) as u16; kept.len()];
    let mut turns = vec![DQuat::IDENTITY; kept.len()];
    for solid in solids {
        let Some(g) = rows[&solid.id].map(|row| at[row]) else {
            return damage("array solid_id", format!("grain {} has no sphere among the points", solid.id));
        };
        let arm = position[g] - solid.position;
        velocity[g] -= spin.get(g).map_or(DVec3::ZERO, |spin| spin.cross(arm));
        (position[g], radius[g]) = (solid.position, solid.radius);
        (shape[g], turns[g]) = (solid.shape, solid.turn);
    }
    (grains.position, grains.velocity, grains.spin) = (position.into(), velocity.into(), spin.into());
    (grains.radius, grains.mass) = (radius.into(), take(&mass, &kept).into());
    (grains.id, grains.material) = (take(&grains.id, &kept).into(), take(&grains.material, &kept).into());
    grains.extras.iter_mut().for_each(|e| e.values = e.values.pick(&kept));
    (grains.shape, grains.orientation) = (shape.into(), turns.into());
    Ok(())
}

/// The rows of a column that are kept.
fn take<T: Copy>(column: &[T], kept: &[usize]) -> Vec<T> {
    kept.iter().map(|row| column[*row]).collect()
}
