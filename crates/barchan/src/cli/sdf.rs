//! `barchan sdf`: the distance field of a mesh; and what `barchan sample` has in common with it.

use super::say::{self, bytes, count, say};
use super::volume::{VolumeArgs, volume};
use super::{Failure, Threads};
use barchan::core::mesh::{Health, Mesh};
use barchan::core::sdf::{Field, SdfError};
use barchan::io::vti;
use barchan::io::vtk::Packing;
use barchan::scene::units::Quantity;
use clap::Args;
use glam::DVec3;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Cells along the longest side of a mesh where no cell is given.
const CELLS: f64 = 64.0;
/// Cells in the band where none is given.
const BAND: f64 = 4.0;

/// Nodes of an image at most: 1 GiB of them.
const MOST_NODES: u64 = 1 << 28;

#[derive(Args)]
pub struct SdfArgs {
    #[command(flatten)]
    mesh: MeshArgs,
    /// Distance of two nodes: metres, or with a unit ("1 mm"); left out: a 64th of the mesh
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
    cell: Option<f64>,
    /// Distances are known up to here on both sides; left out: four cells
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
    band: Option<f64>,
    /// Inside is where the generalised winding number is above 1/2: for meshes that are nearly closed
    #[arg(long)]
    winding: bool,
    /// How a continuum of smoothed particles sees the mesh: distance, normal and the volume of wall in a particle's reach
    #[arg(long, requires = "spacing", conflicts_with_all = ["band", "winding"])]
    volume: bool,
    /// Of --volume: distance of two particles; cells are half of it unless --cell says otherwise
    #[arg(long, value_name = "LENGTH", value_parser = length, requires = "volume", allow_hyphen_values = true)]
    spacing: Option<f64>,
    /// Of --volume: picture of a slice through the middle: volume, distance and normals side by side
    #[arg(long, value_name = "FILE.png", requires = "volume")]
    slice: Option<PathBuf>,
    /// Of --slice: across which axis
    #[arg(long, value_name = "AXIS", value_parser = ["x", "y", "z"], default_value = "y")]
    axis: String,
    /// File to write, for ParaView and VTK; left out: NAME.vti
    #[arg(short, long, value_name = "FILE.vti")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Which mesh, and how large.
#[derive(Args)]
pub struct MeshArgs {
    /// File (STL, OBJ, PLY, glTF), or a built-in shape: box, sphere, cylinder, torus, trefoil
    #[arg(value_name = "MESH")]
    pub mesh: String,
    /// Multiply its coordinates, which are taken as metres: 0.001 for a mesh in millimetres
    #[arg(long, value_name = "S", value_parser = scale, allow_hyphen_values = true, default_value = "1")]
    pub scale: f64,
}

/// A mended mesh with what is to be known of it.
pub struct Subject {
    /// As the user named it.
    pub name: String,
    pub mesh: Mesh,
    pub health: Health,
    /// Extents [m].
    pub size: DVec3,
}

impl MeshArgs {
    pub fn load(&self) -> Result<Subject, Failure> {
        let (mesh, _) = barchan::engine::mended_mesh(&self.mesh, Path::new("")).map_err(|e| {
            let missing = !Path::new(&self.mesh).exists();
            let built_in = if missing { "; built in are box, sphere, cylinder, torus, trefoil" } else { "" };
            Failure::Failed(format!("{e}{built_in}"))
        })?;
        let mesh = mesh.scaled(self.scale);
        let (low, high) = mesh.bounds().unwrap_or_default();
        Ok(Subject { name: self.mesh.clone(), health: mesh.health(), size: high - low, mesh })
    }

    /// The mesh's name without folder and ending.
    pub fn stem(&self) -> String {
        super::stem(&self.mesh).to_string_lossy().into_owned()
    }
}

impl Subject {
    /// What it is, in words.
    pub fn describe(&self) -> Vec<String> {
        let [x, y, z] = self.size.to_array().map(short);
        let mut text = format!("{x} × {y} × {z} m, area {} m²", short(self.mesh.area()));
        if self.health.is_closed() {
            text += &format!(", volume {} m³", short(self.health.volume));
        }
        vec![format!("{}: {}", self.name, self.health), text]
    }
}

/// A number with four digits: `0.1235`, `1.235e-7`, `1,235,000`.
pub fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    match rounded.abs() {
        0.0 => "0".into(),
        r if (1e-4..1e6).contains(&r) => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

pub fn length(text: &str) -> Result<f64, String> {
    quantity(text, Quantity::LENGTH, "give a length above 0: metres, such as 0.001, or with a unit, such as \"1 mm\"")
}

/// A positive number in the unit of a quantity, or with a unit.
pub fn quantity(text: &str, of: Quantity, help: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok();
    let value = bare.map_or_else(|| of.parse(text), Ok);
    super::positive(value.map_err(|e| format!("{e}; {help}"))?, help)
}

fn scale(text: &str) -> Result<f64, String> {
    let help = "give a number above 0, such as 0.001 for a mesh in millimetres";
    super::positive(text.trim().parse().map_err(|_| help)?, help)
}

/// The file to write, if its ending is right and its folder is there: said before the work, not after it.
pub fn output(given: Option<&PathBuf>, default: String, ending: &str) -> Result<PathBuf, Failure> {
    let path = given.cloned().unwrap_or_else(|| default.into());
    if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case(ending)) {
        return Err(Failure::Usage(format!("{}: give a name that ends in .{ending}", path.display())));
    }
    folder_of(&path)?;
    Ok(path)
}

/// Refuses a file whose folder is not there.
pub fn folder_of(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(Failure::Failed(format!(
            "{} cannot be written: there is no folder {}; create it or choose another",
            path.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses an image that is too large, before the field is built.
fn fits(size: DVec3, cell: f64, band: f64) -> Result<(), Failure> {
    let nodes = |cell: f64, band: f64| ((size + 2.0 * band) / cell + 4.0).element_product();
    let needed = nodes(cell, band);
    if needed <= MOST_NODES as f64 {
        return Ok(());
    }
    // The number falls at least as the cube of the cell, where the band stays.
    let remedy = 1.05 * cell * (needed / MOST_NODES as f64).cbrt();
    let what = "nodes in the image";
    Err(impossible(SdfError::TooMany { cell, what, needed, limit: MOST_NODES, remedy }))
}

fn impossible(e: SdfError) -> Failure {
    match e {
        SdfError::Surface(_) => Failure::Failed(e.to_string()),
        e => Failure::Usage(e.to_string()),
    }
}

pub fn sdf(args: SdfArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let path = output(args.output.as_ref(), format!("{}.vti", args.mesh.stem()), "vti")?;
    let slice = args.slice.as_ref().map(|p| output(Some(p), String::new(), "png")).transpose()?;
    let subject = args.mesh.load()?;
    if let Some(spacing) = args.spacing {
        subject.describe().iter().for_each(say::line);
        let axis = match args.axis.as_str() {
            "x" => DVec3::X,
            "z" => DVec3::Z,
            _ => DVec3::Y,
        };
        let asked = VolumeArgs { spacing, cell: args.cell, path: &path, slice: slice.as_deref(), axis };
        return volume(&subject, &asked);
    }
    if !subject.health.is_closed() && !args.winding {
        return Err(Failure::Failed(format!(
            "{} is {}: it does not say everywhere what is inside. Close it, or, if it is nearly closed, let its generalised \
             winding number say it with --winding",
            subject.name, subject.health
        )));
    }
    subject.describe().iter().for_each(say::line);
    let cell = args.cell.unwrap_or(subject.size.max_element() / CELLS);
    let band = args.band.unwrap_or(BAND * cell);
    fits(subject.size, cell, band)?;
    let start = Instant::now();
    let build = if args.winding { Field::build_by_winding } else { Field::build };
    let field = build(&subject.mesh, cell, band).map_err(impossible)?;
    let built = start.elapsed().as_secs_f64();
    let dense = field.dense().map_err(impossible)?;
    vti::write(&path, &dense, Packing::Zlib).map_err(|e| Failure::Failed(e.to_string()))?;
    let [x, y, z] = field.node_counts();
    say!("cells of {} m, distances up to {} m on both sides", short(field.cell()), short(field.band()));
    say!(
        "{x} × {y} × {z} nodes; {} bricks of 8³ cells in the band, {}",
        count(field.brick_count() as u64),
        bytes(field.memory_bytes() as f64)
    );
    say!("{}: built in {built:.2} s, written in {:.2} s", path.display(), start.elapsed().as_secs_f64() - built);
    Ok(())
}
