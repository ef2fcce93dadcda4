//! The skin of a cloud: a closed surface over grains or particles of any radii.
//!
//! | file | role |
//! |---|---|
//! | `ghosts` | copies beyond walls and periodic sides, and the planes that end the skin there |
//! | `blocks` | sparse blocks of 8³ nodes, and which pieces reach each |
//! | `field` | the smoothed volume fraction on the nodes |
//! | `table` | the cases of marching cubes, closed and manifold for any field |
//! | `march` | the surface of the field |
//! | `relax` | a smoother surface of the same volume |
//!
//! The field is ψ(x) = Σ V_j W(x − x_j; H_j) / φ with the volume V_j of each piece, a compact kernel W of integral 1 and the packing
//! fraction φ of the bulk: it is 1 within and 0 outside, and its integral is the bulk volume ΣV_j/φ. The surface ψ = ½ of a layer
//! therefore lies where the volume is right, whatever H is; of a ball of radius R it lies H²/(11 R) too deep. A single grain has ψ < ½ and
//! no skin: it is drawn as a grain.
//!
//! The surface is closed, oriented and a manifold: every edge has two triangles. The grid's nodes lie at whole multiples of the voxel, so
//! that the grid stands still from frame to frame. Bits are the same on any number of threads. Memory is 16 bytes for each pair of a piece
//! and a block it reaches (about three a piece where the voxel is a diameter, seven where it is half of one), 2 KiB a block, and the
//! surface's own; [`SkinMesh::bytes`] says how much it was, and [`SkinSettings::most_bytes`] how much it may be.
//!
//! ```
//! # use barchan_core::skin::{Cloud, SkinSettings, skin};
//! # use glam::DVec3;
//! let position: Vec<_> = (0..1000).map(|k| DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100))).collect();
//! let radius = vec![0.5; position.len()];
//! let cloud = Cloud { position: &position, radius: &radius, ..Cloud::default() };
//! // Spheres on a cubic lattice: φ = π/6.
//! let settings = SkinSettings { packing: std::f64::consts::PI / 6.0, ..SkinSettings::new(1.0) };
//! let mesh = skin(&cloud, &settings)?;
//! # assert!(mesh.triangles.len() > 500);
//! # Ok::<(), barchan_core::skin::SkinError>(())
//! ```

mod blocks;
mod field;
mod ghosts;
mod march;
mod relax;
mod table;
#[cfg(test)]
mod tests;

use crate::frame::{Extra, Surface, Values};
use crate::math;
use blocks::{Blocks, NODES, Piece};
use field::{Field, POLY6};
use ghosts::{Planes, ghosts};
use glam::{DVec3, Vec3};
use march::March;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Kernels reach that many voxels at least: narrower ones would be seen or missed depending on where they are among the nodes.
const LEAST_REACH: f64 = 1.5;
/// Nodes from the origin at most: their numbers stay exact.
const FARTHEST: f64 = (1_u64 << 40) as f64;

/// What the skin is drawn over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloud<'a> {
    /// Centres [m].
    pub position: &'a [DVec3],
    /// Radii [m]: kernels are as wide as some diameters.
    pub radius: &'a [f64],
    /// Volumes [m³]; empty: those of spheres. To be given where spheres overlap in a grain, or stand for a share of a continuum.
    pub volume: &'a [f64],
    /// Columns to be had at the skin's vertices: real numbers or vectors.
    pub extras: &'a [Extra],
}

/// What is beyond the domain along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Side {
    /// Nothing: the skin closes around the pieces.
    #[default]
    Open,
    /// Walls at two planes: the skin fills the room up to them and ends in them.
    Walls {
        /// Lower plane [m].
        low: f64,
        /// Upper plane [m].
        high: f64,
    },
    /// The other side: the field goes on there, the skin is closed by the planes.
    Periodic {
        /// Lower plane [m].
        low: f64,
        /// Upper plane [m].
        high: f64,
    },
}

impl Side {
    fn planes(self) -> Option<[f64; 2]> {
        match self {
            Side::Open => None,
            Side::Walls { low, high } | Side::Periodic { low, high } => Some([low, high]),
        }
    }
}

/// How the skin is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinSettings {
    /// Distance of two nodes [m].
    pub voxel: f64,
    /// Radius of a kernel in diameters of its piece. From 1.5, where a single grain has no skin, to 2, where a loose packing has no holes.
    pub smoothing: f64,
    /// Packing fraction φ of the bulk: 1 where volumes are shares of a continuum.
    pub packing: f64,
    /// The surface is where ψ is this: at ½ the volume is right.
    pub iso: f64,
    /// What is beyond the domain along x, y, z.
    pub sides: [Side; 3],
    /// Times the surface is smoothed, its volume kept.
    pub relax: u32,
    /// Memory at most [bytes].
    pub most_bytes: usize,
}

impl SkinSettings {
    /// Kernels of two diameters, a packing of 0.6, nothing beyond the domain, 4 GiB at most.
    pub fn new(voxel: f64) -> SkinSettings {
        SkinSettings {
            voxel,
            smoothing: 2.0,
            packing: 0.6,
            iso: 0.5,
            sides: [Side::Open; 3],
            relax: 0,
            most_bytes: 4 << 30,
        }
    }
}

/// The diameter of the sphere of mean volume [m]: a voxel that suits pieces of these radii. None where there are none.
pub fn mean_diameter(radius: &[f64]) -> Option<f64> {
    let cubes: f64 = radius.iter().map(|r| r * r * r).sum();
    (cubes > 0.0 && cubes.is_finite()).then(|| 2.0 * math::cbrt(cubes / radius.len() as f64))
}

/// Why there is no skin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SkinError {
    /// A setting is out of its range.
    #[error("the skin's {what} is {value}: give {range}")]
    Setting {
        /// Which.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A column has another length than the positions.
    #[error("the skin's column `{column}` has {len} rows, but there are {rows} positions")]
    Ragged {
        /// Name of the column.
        column: String,
        /// Its rows.
        len: usize,
        /// Rows that it should have.
        rows: usize,
    },
    /// A column of whole numbers, between which there is nothing.
    #[error("the column `{0}` holds whole numbers, which a skin cannot carry: leave it out")]
    Whole(String),
    /// A piece is nowhere, or has no size.
    #[error("row {row} has no place or no size: position {position}, radius {radius} m, volume {volume} m³")]
    BadPiece {
        /// Its row.
        row: usize,
        /// Centre [m].
        position: DVec3,
        /// Radius [m].
        radius: f64,
        /// Volume [m³].
        volume: f64,
    },
    /// The pieces are too far apart for the voxel.
    #[error(
        "the pieces are too many voxels of {voxel} m apart, or away from the origin: give a larger voxel, or leave out those far away"
    )]
    TooWide {
        /// The voxel [m].
        voxel: f64,
    },
    /// More memory than allowed.
    #[error(
        "a skin with voxels of {voxel} m takes {needed} bytes, of {limit} allowed: give a voxel of {remedy:.3e} m or larger"
    )]
    TooLarge {
        /// The voxel [m].
        voxel: f64,
        /// Memory that it would take [bytes].
        needed: usize,
        /// Memory allowed [bytes].
        limit: usize,
        /// A voxel that fits [m].
        remedy: f64,
    },
    /// More vertices than a triangle can name.
    #[error("a skin with voxels of {voxel} m has {vertices} vertices, more than 2³²: give a larger voxel")]
    TooManyVertices {
        /// The voxel [m].
        voxel: f64,
        /// Vertices.
        vertices: usize,
    },
}

/// A closed surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinMesh {
    /// Corners [m].
    pub vertices: Vec<DVec3>,
    /// Unit vectors outwards, −∇ψ/|∇ψ|.
    pub normals: Vec<Vec3>,
    /// Three corners each, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The cloud's columns at the vertices.
    pub extras: Vec<Extra>,
    /// Memory that was needed, the surface among it [bytes].
    pub bytes: usize,
}

impl SkinMesh {
    /// The surface as a part of a frame, with the normals as a column `normal`.
    pub fn into_surface(self, name: &str, material: u16) -> Surface {
        let mut extras = vec![Extra::vector("normal", "", self.normals)];
        extras.extend(self.extras);
        Surface {
            name: name.into(),
            vertices: self.vertices.into(),
            triangles: self.triangles.into(),
            material,
            extras,
        }
    }
}

/// Refuses what takes too much memory. It grows at most as voxel⁻³.
fn limit(voxel: f64, needed: usize, limit: usize) -> Result<(), SkinError> {
    if needed <= limit {
        return Ok(());
    }
    let remedy = 1.05 * voxel * math::cbrt(needed as f64 / limit as f64);
    Err(SkinError::TooLarge { voxel, needed, limit, remedy })
}

/// The skin of a cloud. One without pieces, or with too few to be a bulk, has no triangles.
pub fn skin(cloud: &Cloud<'_>, settings: &SkinSettings) -> Result<SkinMesh, SkinError> {
    check(cloud, settings)?;
    let columns = columns(cloud);
    let pieces = pieces(cloud, settings)?;
    if pieces.is_empty() {
        return Ok(surface(SkinMesh::default(), cloud, &[]));
    }
    let (voxel, most) = (settings.voxel, settings.most_bytes);
    let blocks = Blocks::new(&pieces, voxel, most)?;
    let lanes = if columns.is_empty() { 1 } else { columns.len() + 2 };
    let lists = pieces.len() * size_of::<Piece>() + blocks.bytes();
    let nodes = blocks.len() * NODES * lanes * size_of::<f32>();
    limit(voxel, lists + nodes, most)?;
    let slices: Vec<&[f32]> = columns.iter().map(Vec::as_slice).collect();
    let field = Field::new(&blocks, &pieces, &slices, &Planes::new(settings), settings.iso);
    let march = March::new(&blocks, &field, voxel, settings.iso as f32);
    let (_, _, own) = march.size();
    limit(voxel, lists + nodes + own, most)?;
    let (mesh, carried) = march.mesh()?;
    let mut mesh = surface(mesh, cloud, &carried);
    mesh.bytes = lists + nodes + own;
    mesh.relax(settings.relax);
    Ok(mesh)
}

fn check(cloud: &Cloud<'_>, settings: &SkinSettings) -> Result<(), SkinError> {
    let bad = |what, value, range| Err(SkinError::Setting { what, value, range });
    let SkinSettings { voxel, smoothing, packing, iso, sides, .. } = *settings;
    if !(voxel.is_finite() && voxel > 0.0) {
        return bad("voxel", voxel, "a length above 0 m");
    }
    if !(0.5..=100.0).contains(&smoothing) {
        return bad("smoothing", smoothing, "a number of diameters from 0.5 to 100, usually 1.5 to 2");
    }
    if !(packing > 0.0 && packing <= 1.0) {
        return bad("packing", packing, "a fraction above 0 and up to 1");
    }
    if !(iso > 0.0 && iso < 1.0) {
        return bad("iso", iso, "a number between 0 and 1, usually 0.5");
    }
    for [low, high] in sides.into_iter().filter_map(Side::planes) {
        if !(low.is_finite() && high.is_finite() && high > low) {
            return bad("upper side", high, "a plane above the lower side");
        }
    }
    let rows = cloud.position.len();
    let ragged = |column: &str, len: usize| match len == rows {
        true => Ok(()),
        false => Err(SkinError::Ragged { column: column.into(), len, rows }),
    };
    ragged("radius", cloud.radius.len())?;
    if !cloud.volume.is_empty() {
        ragged("volume", cloud.volume.len())?;
    }
    for extra in cloud.extras {
        ragged(&extra.name, extra.values.len())?;
        if matches!(extra.values, Values::U32(_)) {
            return Err(SkinError::Whole(extra.name.clone()));
        }
    }
    Ok(())
}

/// The carried columns as real numbers, three for a vector.
fn columns(cloud: &Cloud<'_>) -> Vec<Vec<f32>> {
    let columns = cloud.extras.iter().flat_map(|extra| match &extra.values {
        Values::F32(v) => vec![v.to_vec()],
        Values::Vec3(v) => (0..3).map(|k| v.iter().map(|v| v[k]).collect()).collect(),
        Values::U32(_) => Vec::new(),
    });
    columns.collect()
}

/// The carried columns put together again.
fn surface(mut mesh: SkinMesh, cloud: &Cloud<'_>, carried: &[f32]) -> SkinMesh {
    let lanes = carried.len() / mesh.vertices.len().max(1);
    let mut lane = 0;
    for extra in cloud.extras {
        let column = |lane: usize| carried.iter().skip(lane).step_by(lanes.max(1)).copied();
        mesh.extras.push(if matches!(extra.values, Values::Vec3(_)) {
            let rows = column(lane).zip(column(lane + 1)).zip(column(lane + 2));
            lane += 3;
            Extra::vector(&extra.name, &extra.unit, rows.map(|((x, y), z)| Vec3::new(x, y, z)).collect::<Vec<_>>())
        } else {
            lane += 1;
            Extra::real(&extra.name, &extra.unit, column(lane - 1).collect::<Vec<_>>())
        });
    }
    mesh
}

/// Centres, reaches and weights in voxels, the copies beyond sides after the others.
fn pieces(cloud: &Cloud<'_>, settings: &SkinSettings) -> Result<Vec<Piece>, SkinError> {
    let voxel = settings.voxel;
    let reach = |row: usize| (2.0 * settings.smoothing * cloud.radius[row] / voxel).max(LEAST_REACH);
    let volume = |row: usize| match cloud.volume.get(row) {
        Some(&volume) => volume,
        None => 4.0 / 3.0 * PI * cloud.radius[row] * cloud.radius[row] * cloud.radius[row],
    };
    let good = |row: usize| {
        let sizes = [cloud.radius[row], volume(row)];
        cloud.position[row].is_finite() && sizes.iter().all(|s| s.is_finite() && *s > 0.0)
    };
    let rows = cloud.position.len();
    if let Some(row) = (0..rows).into_par_iter().find_first(|row| !good(*row)) {
        let (position, radius) = (cloud.position[row], cloud.radius[row]);
        return Err(SkinError::BadPiece { row, position, radius, volume: volume(row) });
    }
    let piece = |centre: DVec3, row: usize| {
        let reach = reach(row);
        let unit = volume(row) / (voxel * voxel * voxel) / settings.packing;
        let weight = POLY6 * unit / (reach * reach * reach);
        Piece { centre: (centre / voxel).to_array(), reach: reach as f32, weight: weight as f32, row: row as u32 }
    };
    let mut pieces: Vec<Piece> = (0..rows).into_par_iter().map(|row| piece(cloud.position[row], row)).collect();
    let copies = ghosts(cloud, settings, |row| reach(row) * voxel);
    pieces.extend(copies.iter().map(|g| piece(g.centre, g.row as usize)));
    let far = |p: &Piece| p.centre.iter().any(|c| c.abs() + f64::from(p.reach) > FARTHEST);
    match pieces.par_iter().any(far) {
        true => Err(SkinError::TooWide { voxel }),
        false => Ok(pieces),
    }
}
