//! Where the rows of a measurement go: into a table, or, where they are fields on a grid, each into an image of its own.
//!
//! The n-th image of a measurement is `NAME/000012.vti`, and `NAME.pvd` gives ParaView their times. Which there are by a step follows
//! from the measurement's rhythm; so a run that is resumed writes those after its checkpoint again, with the same bits.

use super::{OutputError, columns};
use crate::world::{Measurement, World};
use barchan_io::atomic::{self, FileError};
use barchan_io::csv::Table;
use barchan_io::vti::{self, CellGrid};
use barchan_io::vtk::TimeSeries;
use std::path::{Path, PathBuf};

/// The rows of a measurement on the disk.
pub(super) enum Rows {
    Table(Table),
    Images(Images),
}

/// Images of fields on a grid.
pub(super) struct Images {
    grid: CellGrid,
    /// Path of the table that is not there, without its extension: the folder.
    stem: PathBuf,
    series: TimeSeries,
    written: u64,
}

impl Rows {
    /// For a measurement whose table is or would be `table`, of a world at its start or, `resumed`, on its way.
    pub fn new(m: &Measurement, table: &Path, world: &World, resumed: bool) -> Result<Rows, OutputError> {
        let Some(grid) = m.observer.grid() else {
            let columns = columns(m);
            return Ok(Rows::Table(match resumed {
                false => Table::create(table, &columns)?,
                true => Table::resume(table, &columns, world.time())?,
            }));
        };
        let stem = table.with_extension("");
        atomic::create_folder(&stem)?;
        let written = if resumed { m.schedule.count(world.steps()) } else { 0 };
        let time = |n| m.schedule.step(n) as f64 * world.plan().dt;
        let entries = (0..written).map(|n| (time(n), name(&stem, n))).collect();
        let series = TimeSeries::create(table.with_extension("pvd"), entries)?;
        Ok(Rows::Images(Images { grid, stem, series, written }))
    }

    /// Whether rows that the measurement must have by now are not on the disk: someone has removed its file since the run stopped.
    pub fn lost(&self, m: &Measurement, world: &World) -> bool {
        let due = m.schedule.count(world.steps());
        match self {
            Rows::Table(table) => due > 0 && table.last_time().is_none(),
            Rows::Images(images) => (0..due).any(|n| !images.stem.with_file_name(name(&images.stem, n)).exists()),
        }
    }

    /// Adds a row: its time [s] first.
    pub fn append(&mut self, values: &[f64]) -> Result<(), OutputError> {
        match self {
            Rows::Table(table) => Ok(table.append(values)?),
            Rows::Images(images) => {
                let (time, n) = (values[0], images.written);
                let name = name(&images.stem, n);
                vti::write_cells(&images.stem.with_file_name(&name), &images.grid, time, &values[1..])?;
                images.written += 1;
                Ok(images.series.extend([(time, name)])?)
            }
        }
    }

    /// Brings all to the disk.
    pub fn sync(&mut self) -> Result<(), OutputError> {
        match self {
            Rows::Table(table) => Ok(table.sync()?),
            // An image is on the disk when it has its name.
            Rows::Images(_) => Ok(()),
        }
    }
}

/// Name of the n-th image, from the folder of the run.
fn name(stem: &Path, n: u64) -> String {
    format!("{}/{n:06}.vti", stem.file_name().unwrap_or_default().to_string_lossy())
}

/// The images and their time series that lie where a table would be.
pub(super) fn images(table: &Path) -> Vec<PathBuf> {
    let (stem, series) = (table.with_extension(""), table.with_extension("pvd"));
    let files = std::fs::read_dir(stem).into_iter().flatten().flatten().map(|f| f.path());
    let images = files.filter(|p| p.extension().is_some_and(|e| e == "vti"));
    images.chain(series.exists().then_some(series)).collect()
}

/// Removes the images of an earlier run in place of a table; other files stay.
pub(super) fn clear(table: &Path) -> Result<(), FileError> {
    let stem = table.with_extension("");
    if !stem.is_dir() {
        return Ok(());
    }
    for path in images(table) {
        std::fs::remove_file(&path).map_err(|e| FileError::new("remove", &path, e))?;
    }
    // With other files in it the folder stays.
    let _ = std::fs::remove_dir(stem);
    Ok(())
}
