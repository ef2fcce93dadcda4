//! A skin over matter, as it is drawn: which pieces it covers, which are drawn beside or on it, and what its triangles are fixed to.

use barchan_core::frame::{Extra, GRAINS, POWDER, Population, Surface, UPSAMPLED, Values};
use barchan_core::skin::{self, Cloud, SkinSettings, mean_diameter};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Name of a column that the skin gets from the velocities.
const SPEED: &str = "speed";
/// Share of its volume that a packing of grains takes, for the skin over them.
const GRAIN_PACKING: f64 = 0.6;
/// Times that the skin is smoothed.
const RELAX: u32 = 2;
/// Pieces in a cube of six diameters (216 where it is full, a hundred at a flat surface) below which they are drawn apart from the skin, which
/// has no bump over a handful.
const FEW: u32 = 12;
/// How far grains on a skin are lifted out of it [radii].
const LIFT: f64 = 0.25;
/// Speed below which snow counts as lying still, so that its bumps are seen [m/s].
const STILL: f64 = 0.3;
/// Width of the space that frames of moving grains are strewn over, so that no two have the same glints [diameters].
const STREWN: f64 = 512.0;

/// A skin and what is drawn with it.
pub(crate) struct Covering {
    /// The skin.
    pub surface: Surface,
    /// Pieces that fly apart from it, or are no part of it.
    pub apart: Vec<bool>,
    /// Pieces on the surface, and how far they are lifted [m].
    pub on: Vec<(usize, DVec3)>,
    /// What each triangle moves with: a place in its frame is the place less this [m]; and how still it lies, 0 to 1.
    pub anchors: Vec<(DVec3, f64)>,
}

/// Whether a population is to have a skin: a continuum, or grains where there is nothing else.
pub(crate) fn is_covered<'a>(population: &Population, mut all: impl Iterator<Item = &'a Population>) -> bool {
    let mut alone = || all.all(|p| p.name == GRAINS || p.name == POWDER);
    let matter = population.name != UPSAMPLED && population.name != POWDER;
    matter && !population.is_empty() && (population.name != GRAINS || alone())
}

/// The skin over a population. Pieces of a continuum stand for the cube of their diameter; of grains, those of the material that most are of are
/// covered. `on`: whether pieces on the surface are drawn too. None where there is no skin: then the pieces are drawn.
pub(crate) fn covering(population: &Population, on: bool) -> Option<Covering> {
    let grains = population.name == GRAINS;
    let covered = covered(population, grains);
    let position: Vec<DVec3> = covered.iter().map(|&row| population.position[row]).collect();
    let radius: Vec<f64> = covered.iter().map(|&row| population.radius[row]).collect();
    let mut extras: Vec<Extra> = if covered.len() == population.len() {
        let real = |e: &&Extra| !matches!(e.values, Values::U32(_)) && e.name != SPEED;
        population.extras.iter().filter(real).cloned().collect()
    } else {
        Vec::new()
    };
    let velocity: Vec<Vec3> = covered.iter().map(|&row| population.velocity[row].as_vec3()).collect();
    extras.push(Extra::vector("velocity", "m/s", velocity));
    let volume: Vec<f64> = if grains { Vec::new() } else { radius.iter().map(|r| 8.0 * r * r * r).collect() };
    let voxel = mean_diameter(&radius)?;
    let packing = if grains { GRAIN_PACKING } else { 1.0 };
    let settings = SkinSettings { packing, relax: RELAX, ..SkinSettings::new(voxel) };
    let cloud = Cloud { position: &position, radius: &radius, volume: &volume, extras: &extras };
    let mesh = skin::skin(&cloud, &settings).ok()?;
    let material = covered.first().map_or(0, |&row| population.material[row]);
    let surface = mesh.into_surface("skin", material);
    // A piece under the skin is near one of its vertices or deep below it; one that flies has fewer neighbours than a surface gives.
    let cells = Cells::new(2.0 * voxel, &position);
    let mut apart = vec![true; population.len()];
    let few: Vec<bool> =
        position.par_iter().map(|x| x.is_finite() && cells.around(*x).count() < FEW as usize).collect();
    covered.iter().zip(&few).for_each(|(&row, &few)| apart[row] = few);
    let nearest = |at: DVec3| {
        let near = cells.around(at).map(|k| (k, position[k].distance_squared(at)));
        near.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|(k, _)| covered[k])
    };
    let anchor = |t: &[u32; 3]| {
        let middle = t.map(|v| surface.vertices[v as usize]).iter().sum::<DVec3>() / 3.0;
        let Some(row) = nearest(middle) else { return (DVec3::ZERO, 1.0) };
        let still = (1.0 - population.velocity[row].length() / STILL).max(0.0);
        // What lies still shares one frame, so that nothing ends at its edges; what moves has the frame of its nearest grain.
        if still > 0.0 {
            (DVec3::ZERO, still)
        } else {
            (population.position[row] - strewn(population.id[row]) * voxel, 0.0)
        }
    };
    let anchors = surface.triangles.par_iter().map(anchor).collect();
    let on = if on { on_surface(population, &covered, &few, &surface, voxel) } else { Vec::new() };
    Some(Covering { surface, apart, on, anchors })
}

/// Rows that the skin covers: of grains, spheres of the material that most are of.
fn covered(population: &Population, grains: bool) -> Vec<usize> {
    if !grains {
        return (0..population.len()).collect();
    }
    let mut many: HashMap<u16, usize> = HashMap::new();
    let round: Vec<usize> = (0..population.len()).filter(|&row| population.skin(row).is_none()).collect();
    round.iter().for_each(|&row| *many.entry(population.material[row]).or_default() += 1);
    let most = many.iter().max_by_key(|(material, count)| (**count, u16::MAX - **material)).map(|(m, _)| *m);
    round.into_iter().filter(|&row| Some(population.material[row]) == most).collect()
}

/// A place that belongs to an id [diameters].
fn strewn(id: u32) -> DVec3 {
    let share = |salt: u32| f64::from(crate::colour::materials::share(id, salt));
    DVec3::new(share(31), share(32), share(33)) * STREWN
}

/// Pieces whose centres are within a radius of the skin, each lifted along its normal.
fn on_surface(
    population: &Population,
    covered: &[usize],
    few: &[bool],
    surface: &Surface,
    voxel: f64,
) -> Vec<(usize, DVec3)> {
    let vertices = Cells::new(voxel, &surface.vertices);
    let normals = crate::skins::vertex_normals(&surface.vertices, &surface.triangles);
    let lifted = |(&row, &few): (&usize, &bool)| {
        let (x, r) = (population.position[row], population.radius[row]);
        if few || !x.is_finite() {
            return None;
        }
        let near = vertices.around(x).map(|v| (v, surface.vertices[v].distance_squared(x)));
        let (v, square) = near.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))?;
        let deep = (surface.vertices[v] - x).dot(normals[v]);
        (deep.abs() <= r && square < 4.0 * r * r).then(|| (row, normals[v] * (LIFT * r)))
    };
    covered.par_iter().zip(few).filter_map(lifted).collect()
}

/// Points by cell.
struct Cells {
    width: f64,
    rows: HashMap<[i64; 3], Vec<u32>>,
}

impl Cells {
    fn new(width: f64, points: &[DVec3]) -> Cells {
        let mut cells = Cells { width, rows: HashMap::new() };
        for (k, x) in points.iter().enumerate().filter(|(_, x)| x.is_finite()) {
            let cell = cells.cell(*x);
            cells.rows.entry(cell).or_default().push(k as u32);
        }
        cells
    }

    fn cell(&self, x: DVec3) -> [i64; 3] {
        (x / self.width).floor().to_array().map(|c| c as i64)
    }

    /// Points in the cell of a place and those next to it, in a fixed order.
    fn around(&self, x: DVec3) -> impl Iterator<Item = usize> + '_ {
        let [a, b, c] = self.cell(x);
        let near = (0..27).map(move |k| [a + k % 3 - 1, b + k / 3 % 3 - 1, c + k / 9 - 1]);
        near.filter_map(|k| self.rows.get(&k)).flatten().map(|k| *k as usize)
    }
}
