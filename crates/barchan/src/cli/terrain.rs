//! `barchan terrain`: a mountain of our own as an elevation model.

use super::Failure;
use super::say::say;
use super::sdf::length;
use barchan::engine::mountain;
use barchan::io::raster::{Raster, local};
use barchan::scene::{ModelKind, RockModel};
use clap::{Args, ValueEnum};
use glam::DVec2;
use std::path::PathBuf;

#[derive(Args)]
pub struct TerrainArgs {
    /// Its form
    #[arg(value_enum)]
    kind: Kind,
    /// Seed of a mountain's ridges and gullies
    #[arg(long, value_name = "N", default_value = "7")]
    seed: u64,
    /// Cells along x and y
    #[arg(long, value_name = "NX,NY", value_delimiter = ',', num_args = 1, default_value = "512,512")]
    size: Vec<usize>,
    /// Width of a cell: metres, or with a unit
    #[arg(long, value_name = "LENGTH", value_parser = length, default_value = "5")]
    cell: f64,
    /// Height of its top above its foot; left out: 1,000 m, of a hockey stick 1,500 m
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    drop: Option<f64>,
    /// Slope of its plane part [degrees]
    #[arg(long, value_name = "DEGREES", default_value = "34")]
    angle: f64,
    /// Length of the path of a parabola or a mountain, from top to foot
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    length: Option<f64>,
    /// Radius of the bend of a hockey stick
    #[arg(long, value_name = "LENGTH", value_parser = length, default_value = "400")]
    radius: f64,
    /// Lead a channel down a hockey stick or a parabola
    #[arg(long)]
    channel: bool,
    /// Map coordinates of its south-western corner
    #[arg(
        long,
        value_name = "X,Y",
        value_delimiter = ',',
        num_args = 1,
        default_value = "0,0",
        allow_hyphen_values = true
    )]
    corner: Vec<f64>,
    /// File to write: an ESRI ASCII grid (.asc) or a GeoTIFF (.tif)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The forms.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Ridges, gullies, a bowl that gathers snow, and a plain at its foot
    Mountain,
    /// An inclined plane
    Slope,
    /// An inclined plane, a bend and a plain
    HockeyStick,
    /// A parabola and a plain
    Parabola,
    /// A bowl
    Bowl,
    /// A pyramid in the middle of a plain
    Pyramid,
}

/// Most cells.
const MOST: usize = 1 << 26;

pub fn terrain(args: TerrainArgs) -> Result<(), Failure> {
    let (&[nx, ny], &[x, y]) = (&args.size[..], &args.corner[..]) else {
        return Err(Failure::Usage("--size and --corner are two numbers with a comma between them".into()));
    };
    if nx == 0 || ny == 0 || nx.saturating_mul(ny) > MOST {
        return Err(Failure::Usage(format!(
            "{nx} × {ny} cells cannot be: give two numbers from 1 on, {MOST} cells at most"
        )));
    }
    if !(args.angle > 0.5 && args.angle < 80.0) {
        return Err(Failure::Usage(format!("a slope of {}° cannot be: give 1 to 80 degrees", args.angle)));
    }
    if !(x.is_finite() && y.is_finite()) {
        return Err(Failure::Usage("a corner is two numbers".into()));
    }
    let model = RockModel {
        kind: match args.kind {
            Kind::Mountain => ModelKind::Mountain,
            Kind::Slope => ModelKind::Slope,
            Kind::HockeyStick => ModelKind::HockeyStick,
            Kind::Parabola => ModelKind::Parabola,
            Kind::Bowl => ModelKind::Bowl,
            Kind::Pyramid => ModelKind::Pyramid,
        },
        seed: args.seed,
        drop: args.drop,
        angle: args.angle.to_radians(),
        length: args.length,
        radius: args.radius,
        channel: args.channel,
    };
    let values = mountain::heights(&model, [nx, ny], args.cell);
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), z| (l.min(*z), h.max(*z)));
    let raster = Raster { size: [nx, ny], place: local(DVec2::new(x, y), args.cell), values };
    raster.write(&args.output).map_err(|e| Failure::Failed(e.to_string()))?;
    say!("{}: {nx} × {ny} cells of {} m, heights from {low:.1} to {high:.1} m", args.output.display(), args.cell);
    Ok(())
}
