//! `barchan skin`: a closed surface over the grains of each frame of a run.

use super::render::reel::{self, Reel};
use super::say::{self, bytes, many, say};
use super::sdf::{length, short};
use super::{Failure, Threads};
use barchan::core::frame::{Extra, Frame, GRAINS, Population, Surface, Values};
use barchan::core::skin::{Cloud, Side, SkinError, SkinMesh, SkinSettings, mean_diameter, skin as skin_of};
use barchan::io::vtk::{Packing, TimeSeries};
use barchan::io::{FrameError, atomic, obj, ply, vtk};
use barchan::prelude::Scene;
use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct SkinArgs {
    /// Folder of a run
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Distance of two nodes: metres, or with a unit ("1 mm"); left out: a mean diameter. Half of one gives a finer skin
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
    voxel: Option<f64>,
    /// Radius of a grain's kernel in its diameters
    #[arg(long, value_name = "N", value_parser = number, default_value = "2", allow_hyphen_values = true)]
    smoothing: f64,
    /// Packing fraction of the bulk, by which the skin's volume is right
    #[arg(long, value_name = "SHARE", value_parser = number, default_value = "0.6", allow_hyphen_values = true)]
    packing: f64,
    /// Smooth the triangles that many times, their volume kept
    #[arg(long, value_name = "N", default_value = "0")]
    relax: u32,
    /// Population to cover; left out: the grains
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// One frame: first, last, its number, or a time ("0.4 s"); left out: all
    #[arg(long, value_name = "WHICH", value_parser = reel::which)]
    frame: Option<reel::Which>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = Format::Ply)]
    format: Format,
    /// Folder for the files; left out: FOLDER/skin
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

/// What the files are.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Positions and columns in f32, for effects tools
    Ply,
    /// Positions in f64, and skin.pvd with the times, for ParaView
    Vtk,
    /// Text with normals, without other columns
    Obj,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Ply => "ply",
            Format::Vtk => "vtp",
            Format::Obj => "obj",
        }
    }

    fn write(self, path: &Path, frame: &Frame, surface: &Surface) -> Result<(), FrameError> {
        match self {
            Format::Ply => ply::write_surface(path, frame, surface),
            Format::Vtk => vtk::write_surface(path, frame, surface, Packing::Raw),
            Format::Obj => Ok(obj::write(path, surface)?),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    let help = "give a number above 0";
    super::positive(text.trim().parse().map_err(|_| help)?, help)
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

/// The pieces of a population that have no surface of their own.
struct Bare {
    position: Vec<DVec3>,
    radius: Vec<f64>,
    volume: Vec<f64>,
    extras: Vec<Extra>,
    /// The material that most of the volume is of.
    material: u16,
}

impl Bare {
    fn new(population: &Population, frame: &Frame, scene: &Scene) -> Bare {
        let rows: Vec<usize> = (0..population.len()).filter(|row| population.skin(*row).is_none()).collect();
        let density = |material: u16| {
            let name = frame.materials.get(usize::from(material))?;
            scene.materials.get(name).map(|m| m.density)
        };
        // Spheres of a clump overlap: their shares of its mass say what volume they stand for. A `.ply` has no masses.
        let volume = |row: usize| {
            let (radius, mass) = (population.radius[row], population.mass[row]);
            let ball = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
            density(population.material[row]).map(|d| mass / d).filter(|v| *v > 0.0 && v.is_finite()).unwrap_or(ball)
        };
        let velocity: Vec<Vec3> = rows.iter().map(|r| population.velocity[*r].as_vec3()).collect();
        let speed: Vec<f32> = velocity.iter().map(|v| v.length()).collect();
        let mut extras = vec![Extra::vector("velocity", "m/s", velocity), Extra::real("speed", "m/s", speed)];
        for extra in &population.extras {
            let taken = extras.iter().any(|e| e.name == extra.name) || extra.name == "normal";
            if !taken && !matches!(extra.values, Values::U32(_)) {
                extras.push(Extra { values: extra.values.pick(&rows), ..extra.clone() });
            }
        }
        let volume: Vec<f64> = rows.iter().map(|r| volume(*r)).collect();
        let mut shares = vec![0.0; usize::from(u16::MAX) + 1];
        rows.iter().zip(&volume).for_each(|(r, v)| shares[usize::from(population.material[*r])] += v);
        let most = (0..shares.len()).rev().max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0);
        Bare {
            position: rows.iter().map(|r| population.position[*r]).collect(),
            radius: rows.iter().map(|r| population.radius[*r]).collect(),
            volume,
            extras,
            material: most as u16,
        }
    }

    fn skin(&self, settings: &SkinSettings) -> Result<SkinMesh, SkinError> {
        let cloud =
            Cloud { position: &self.position, radius: &self.radius, volume: &self.volume, extras: &self.extras };
        skin_of(&cloud, settings)
    }
}

/// The population that was asked for.
fn population<'a>(frame: &'a Frame, name: Option<&str>) -> Result<&'a Population, Failure> {
    let Some(name) = name else {
        return Ok(frame.population(GRAINS).or(frame.populations.first()).unwrap_or_else(|| frame.grains()));
    };
    frame.population(name).ok_or_else(|| {
        let names: Vec<_> = frame.populations.iter().map(|p| p.name.as_str()).collect();
        Failure::Usage(format!("there is no population `{name}` in the run; there are: {}", names.join(", ")))
    })
}

/// What is beyond the domain of a scene: the other side where it is periodic.
fn sides(scene: &Scene) -> [Side; 3] {
    let (domain, periodic) = (&scene.domain, scene.domain.is_periodic());
    [0, 1, 2].map(|k| match periodic[k] {
        true => Side::Periodic { low: domain.min[k], high: domain.max[k] },
        false => Side::Open,
    })
}

pub fn skin(args: SkinArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let reel = Reel::open(&args.folder)?;
    let parsed = super::render::scene(&args.folder)?;
    let shapes = barchan::engine::shapes(&parsed);
    let scene = parsed.scene;
    reel.damaged().iter().for_each(|e| say::aside(format_args!("warning: {e}; it is left out")));
    let frames = match args.frame {
        Some(which) => std::slice::from_ref(reel.find(which)?),
        None => reel.frames(),
    };
    let folder = args.output.clone().unwrap_or_else(|| args.folder.join("skin"));
    atomic::create_folder(&folder).map_err(failed)?;
    let mut settings = SkinSettings {
        smoothing: args.smoothing,
        packing: args.packing,
        sides: sides(&scene),
        relax: args.relax,
        ..SkinSettings::new(args.voxel.unwrap_or(0.0))
    };
    let mut series = Vec::new();
    for stored in frames {
        let frame = stored.read(&shapes).map_err(failed)?;
        let bare = Bare::new(population(&frame, args.of.as_deref())?, &frame, &scene);
        // The first frame with grains decides for all: the grid stands still.
        if settings.voxel == 0.0 {
            settings.voxel = mean_diameter(&bare.radius).unwrap_or(0.0);
        }
        let start = Instant::now();
        let mesh = match bare.position.is_empty() {
            true => SkinMesh::default(),
            false => bare.skin(&settings).map_err(|e| Failure::Usage(e.to_string()))?,
        };
        let (took, memory) = (start.elapsed().as_secs_f64(), mesh.bytes);
        let surface = mesh.into_surface("skin", bare.material);
        let name = format!("skin_{:06}.{}", stored.number, args.format.ending());
        let path = folder.join(&name);
        args.format.write(&path, &frame, &surface).map_err(failed)?;
        if !args.quiet {
            say!(
                "{}: t = {}, {}, {}, {:.0} ms, {}",
                path.display(),
                say::seconds(frame.time),
                many(bare.position.len() as u64, "piece"),
                many(surface.triangles.len() as u64, "triangle"),
                1e3 * took,
                bytes(memory as f64)
            );
        }
        series.push((frame.time, name));
    }
    if args.format == Format::Vtk && args.frame.is_none() {
        TimeSeries::create(folder.join("skin.pvd"), series).map_err(failed)?;
    }
    if !args.quiet {
        say!("{} in {}, voxels of {} m", many(frames.len() as u64, "skin"), folder.display(), short(settings.voxel));
    }
    Ok(())
}
