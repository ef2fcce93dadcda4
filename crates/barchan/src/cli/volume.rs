//! `barchan sdf --volume`: how a continuum of smoothed particles sees a mesh, as a grid for ParaView and as a picture of a slice.

use super::Failure;
use super::say::{bytes, count, say};
use super::sdf::{Subject, short};
use barchan::core::mesh::near::Surface;
use barchan::io::vti::{self, CellField, CellGrid};
use barchan::sph::maps::{MapError, MapKey, MapSettings, Shown, VolumeMap, narrow_places};
use glam::DVec3;
use std::path::Path;
use std::time::Instant;

/// Cells of the grid that is written, at most: 1 GiB of numbers.
const MOST_CELLS: f64 = (1u64 << 25) as f64;
/// Pixels along the longer side of a slice.
const PIXELS: usize = 1024;
/// Narrow places that are named.
const NAMED: usize = 5;

const FIELDS: &[CellField] = &[
    CellField { name: "distance", unit: "m", components: 1 },
    CellField { name: "volume", unit: "m3", components: 1 },
    CellField { name: "ratio", unit: "", components: 1 },
    CellField { name: "normal", unit: "", components: 3 },
];

/// What is asked for.
pub struct VolumeArgs<'a> {
    /// Spacing of the particles [m].
    pub spacing: f64,
    /// Distance of two nodes [m]; none: half a spacing.
    pub cell: Option<f64>,
    /// Grid to write.
    pub path: &'a Path,
    /// Picture to write.
    pub slice: Option<&'a Path>,
    /// Normal of the slice.
    pub axis: DVec3,
}

fn failed(e: MapError) -> Failure {
    match e {
        MapError::Surface(_) | MapError::Distance(_) | MapError::Stored(_) => Failure::Failed(e.to_string()),
        MapError::Length { .. } | MapError::Coarse { .. } | MapError::Memory { .. } => Failure::Usage(e.to_string()),
    }
}

/// Builds the map and writes it.
pub fn volume(subject: &Subject, args: &VolumeArgs<'_>) -> Result<(), Failure> {
    let usual = MapSettings::new(args.spacing);
    let settings = MapSettings { cell: args.cell.unwrap_or(usual.cell), ..usual };
    let start = Instant::now();
    let surface = Surface::build(&subject.mesh).map_err(|e| failed(e.into()))?;
    let narrow = narrow_places(&subject.mesh, &surface, &settings).map_err(failed)?;
    let map = VolumeMap::of(&surface, MapKey::of(&subject.mesh, &settings), &settings).map_err(failed)?;
    let built = start.elapsed().as_secs_f64();
    let grid = grid(&map)?;
    vti::write_cells(args.path, &grid, 0.0, &values(&map, &grid)).map_err(|e| Failure::Failed(e.to_string()))?;
    say!(
        "particles {} m apart, kernels reach {} m, cells of {} m; {} bricks of 8³ cells, {}",
        short(settings.spacing),
        short(settings.support),
        short(settings.cell),
        count(map.brick_count() as u64),
        bytes(map.memory_bytes() as f64)
    );
    for place in narrow.iter().take(NAMED) {
        say!("narrow: {place}");
    }
    if narrow.len() > NAMED {
        say!("narrow: {} more places", narrow.len() - NAMED);
    }
    let written = start.elapsed().as_secs_f64() - built;
    say!("{}: distance, normal, volume; built in {built:.2} s, written in {written:.2} s", args.path.display());
    if let Some(path) = args.slice {
        picture(&map, subject, args.axis, path)?;
        say!(
            "{}: slice through the middle; from the left the volume, the distance, and the direction of the nearest surface",
            path.display()
        );
    }
    Ok(())
}

/// Cells around the nodes of a map; a map whose cells are too many is shown by coarser ones.
fn grid(map: &VolumeMap) -> Result<CellGrid, Failure> {
    let (low, high) = map.bounds();
    let cells = |cell: f64| ((high - low) / cell).ceil().max(DVec3::ONE);
    let mut cell = map.cell();
    while cells(cell).element_product() > MOST_CELLS {
        cell *= 2.0;
    }
    let counts = cells(cell).to_array().map(|n| n as usize);
    Ok(CellGrid { origin: low, spacing: DVec3::splat(cell), counts, fields: FIELDS })
}

/// Fields of the cells, from the map in their middles, field by field.
fn values(map: &VolumeMap, grid: &CellGrid) -> Vec<f64> {
    let [nx, ny, nz] = grid.counts;
    let cell = grid.spacing.x;
    let first = grid.origin + 0.5 * cell;
    let layers: Vec<_> = (0..nz)
        .map(|z| map.slice(first + DVec3::Z * (cell * z as f64), DVec3::X * cell, DVec3::Y * cell, [nx, ny]))
        .collect();
    let mut out = Vec::with_capacity(6 * nx * ny * nz);
    layers.iter().for_each(|l| out.extend(l.distance.iter().map(|x| f64::from(*x))));
    layers.iter().for_each(|l| out.extend(l.volume.iter().map(|x| f64::from(*x))));
    layers.iter().for_each(|l| out.extend(l.ratio.iter().map(|x| f64::from(*x))));
    layers.iter().for_each(|l| out.extend(l.normal.iter().flat_map(|n| n.to_array().map(f64::from))));
    out
}

/// Three pictures side by side: the volume, the distance, and the normals.
fn picture(map: &VolumeMap, subject: &Subject, axis: DVec3, path: &Path) -> Result<(), Failure> {
    let (low, high) = subject.mesh.bounds().unwrap_or_default();
    let shown = [Shown::Volume, Shown::Distance, Shown::Normal];
    let pictures = map.pictures(axis.abs().max_position(), 0.5 * (low + high), PIXELS, shown);
    let [w, h] = pictures[0].size;
    let row = |y: usize| pictures.iter().flat_map(move |p| p.rgba[4 * w * y..4 * w * (y + 1)].iter().copied());
    let rgba: Vec<u8> = (0..h).flat_map(row).collect();
    barchan::io::png::write(path, 3 * w as u32, h as u32, &rgba).map_err(|e| Failure::Failed(e.to_string()))
}
