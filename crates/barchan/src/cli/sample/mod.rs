//! `barchan sample`: a mesh as spheres.

mod pictures;
mod report;
#[cfg_attr(not(feature = "window"), path = "no_watch.rs")]
mod watch;

use super::sdf::{self, MeshArgs, Subject, short};
use super::{Failure, Threads, say};
use barchan::core::sampling::{self, Sampling, SamplingError, Settings};
use barchan::core::sdf::Field;
use barchan::scene::units::Quantity;
use clap::{Args, ValueEnum};
use pictures::{Pictures, Product, Sight};
use report::Report;
use std::path::PathBuf;
use std::time::Instant;

/// Longest side of a mesh over the radius of its spheres, where none is given.
const FINENESS: f64 = 20.0;

#[derive(Args)]
pub struct SampleArgs {
    #[command(flatten)]
    mesh: MeshArgs,
    /// Radius of the spheres: metres, or with a unit ("1 mm"); left out: a 20th of the mesh, or less where it is thin
    #[arg(long, value_name = "LENGTH", value_parser = sdf::length, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// Where the spheres lie
    #[arg(long, value_enum, default_value_t = Placement::Inside)]
    placement: Placement,
    /// Density of the solid: kg/m3, or with a unit
    #[arg(long, value_name = "DENSITY", value_parser = density, allow_hyphen_values = true, default_value = "2500")]
    density: f64,
    /// File to write, a shape for scenes; left out: NAME.clump.toml
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Show field and spheres in a window while they form
    #[arg(long)]
    view: bool,
    /// Draw field and spheres while they form: four stages (.png), a film (.mp4) or a folder for a sequence
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Where the spheres lie.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Placement {
    /// They line the surface from within, and more fill what is left: a body
    Inside,
    /// Their centres lie on the surface
    Surface,
}

fn density(text: &str) -> Result<f64, String> {
    let help = "give a density above 0: kg/m3, such as 2500, or with a unit, such as \"2.5 g/cm3\"";
    sdf::quantity(text, Quantity::DENSITY, help)
}

fn impossible(e: SamplingError) -> Failure {
    match e {
        SamplingError::Surface(_) | SamplingError::Open => Failure::Failed(e.to_string()),
        e => Failure::Usage(e.to_string()),
    }
}

/// A radius that suits the mesh [m]: a twentieth of it, but no more than half the radius of a rod as thin as it is, whose
/// volume over its area that is.
fn suiting(subject: &Subject) -> f64 {
    let size = subject.size.max_element() / FINENESS;
    let thin = subject.health.volume / subject.mesh.area();
    let radius = if subject.health.is_closed() && thin > 0.0 { size.min(thin) } else { size };
    // Two digits are enough for a choice.
    format!("{radius:.1e}").parse().unwrap_or(radius)
}

pub fn sample(args: SampleArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let path = sdf::output(args.output.as_ref(), format!("{}.clump.toml", args.mesh.stem()), "toml")?;
    let product = args.picture.as_deref().map(Product::of).transpose()?;
    if args.view {
        watch::possible()?;
    }
    let subject = args.mesh.load()?;
    if args.placement == Placement::Inside && !subject.health.is_closed() {
        return Err(Failure::Failed(format!(
            "a body needs a closed mesh, and {} is {}: close it, or cover its surface with --placement surface",
            subject.name, subject.health
        )));
    }
    subject.describe().iter().for_each(say::line);
    let radius = args.radius.unwrap_or_else(|| suiting(&subject));
    if args.radius.is_none() {
        say::line(format_args!("spheres of radius {} m, which suits the mesh; --radius gives another", short(radius)));
    }
    let placement = match args.placement {
        Placement::Inside => sampling::Placement::Inside,
        Placement::Surface => sampling::Placement::OnSurface,
    };
    let start = Instant::now();
    let sampling = Sampling::new(&subject.mesh, Settings::new(radius, placement, 1)).map_err(impossible)?;
    let sight =
        (args.view || product.is_some()).then(|| Sight::of(&subject, radius)).transpose().map_err(Failure::Failed)?;
    let mut pictures = match (product, &sight) {
        (Some(product), Some(sight)) => Some(Pictures::begin(product, sight, radius)?),
        _ => None,
    };
    // Called after each step, and for the last time when nothing is left to do: then it gives the words to end with.
    let mut tell = {
        let (name, timed) = (args.mesh.stem(), sight.is_none());
        move |sampling: &Sampling| -> Result<Option<Vec<String>>, Failure> {
            if !sampling.is_done() {
                if let Some(pictures) = &mut pictures {
                    pictures.see(sampling)?;
                }
                return Ok(None);
            }
            let report = Report::new(&name, &subject, sampling, args.density, timed.then(|| start.elapsed()));
            report.write(&path)?;
            let mut lines = report.lines();
            lines.extend(report.remark());
            lines.push(format!("{}: [shapes.{}]", path.display(), report.name()));
            if let Some(pictures) = pictures.take() {
                lines.push(pictures.finish(sampling)?);
            }
            Ok(Some(lines))
        }
    };
    match sight.filter(|_| args.view) {
        None => {
            let mut sampling = sampling;
            loop {
                if let Some(lines) = tell(&sampling)? {
                    lines.iter().for_each(say::line);
                    return Ok(());
                }
                sampling.step();
            }
        }
        Some(sight) => watch::watch(args.mesh.stem(), sight, sampling, tell),
    }
}

/// The field that is drawn: the sign of a mesh that is not closed is its winding number's.
fn field_of(subject: &Subject, cell: f64, band: f64) -> Result<Field, String> {
    let build = if subject.health.is_closed() { Field::build } else { Field::build_by_winding };
    build(&subject.mesh, cell, band).map_err(|e| e.to_string())
}
