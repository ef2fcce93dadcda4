//! The command line: what can be asked, and who answers.

mod bench;
mod check;
mod compare;
mod devices;
mod gallery;
mod import;
mod new;
mod render;
mod run;
mod runout;
mod sample;
mod say;
mod scenes;
mod sdf;
mod skin;
mod stop;
mod terrain;
mod validate;
mod vary;
mod view;
mod volume;

use clap::{Args, Parser, Subcommand};
use say::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// What commands say that need the window, where it was left out.
#[cfg(not(feature = "window"))]
const NO_WINDOW: &str = "this build of barchan has no window, as it was made without the feature `window`; a plain `cargo build \
     --release` makes one with it, and `barchan run` and `barchan render` work without";

/// Why a command ends without having done its work.
pub enum Failure {
    /// A run, a file or a benchmark failed: exit code 1.
    Failed(String),
    /// What was asked for cannot be: exit code 2.
    Usage(String),
    /// The scene has errors: exit code 3.
    Scene(barchan::scene::SceneErrors),
    /// Stopped by Ctrl-C: exit code 130; what is to be said has been said.
    Stopped,
}

impl From<barchan::LoadError> for Failure {
    fn from(e: barchan::LoadError) -> Failure {
        match e {
            barchan::LoadError::Scene(problems) => Failure::Scene(problems),
            barchan::LoadError::File { .. } => Failure::Failed(e.to_string()),
            e => Failure::Usage(e.to_string()),
        }
    }
}

impl From<barchan::scene::SceneErrors> for Failure {
    fn from(problems: barchan::scene::SceneErrors) -> Failure {
        Failure::Scene(problems)
    }
}

/// Granular matter, from single grains to hillsides.
#[derive(Parser)]
#[command(name = "barchan", version, arg_required_else_help = true, max_term_width = 110)]
#[command(after_help = "\
First steps:
  barchan scenes                              the gallery
  barchan run hourglass                       run one of it; files go to out/hourglass/
  barchan new my-scene.toml --from hourglass  a commented scene to start from
  barchan check my-scene.toml                 every problem at once, and what a run would take
  barchan run my-scene.toml -o out/x          run it
  barchan run --resume out/x                  go on after a stop
  barchan render out/x                        a film of it; --frame last for a still
  barchan view hourglass                      the same in a window, to touch; without a name: the gallery

Exit codes:
  0 done   1 a run, file or benchmark failed   2 wrong command line   3 the scene has errors
  130 stopped by Ctrl-C, with a checkpoint to go on from")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene: a name of the gallery or a file
    Run(run::RunArgs),
    /// Open the window: gallery, a scene that can be touched, or a run played back
    View(view::ViewArgs),
    /// Run a scene by several methods, as grains and as a continuum: one film, one table
    Compare(compare::CompareArgs),
    /// Draw a run: a film, a still or a sequence of pictures
    Render(render::RenderArgs),
    /// Run scenes of the gallery up to their picture, and draw it
    Gallery(gallery::GalleryArgs),
    /// List the gallery: what each scene shows, its grains, how long it takes here
    Scenes(Threads),
    /// Write a commented scene to start from
    New(new::NewArgs),
    /// Show every problem of a scene, and the numbers a run would use
    Check(check::CheckArgs),
    /// Turn a mesh into spheres: a body's lining, with mass, inertia and quality
    Sample(sample::SampleArgs),
    /// Read a packing of others (CSV, PLY, VTK, LAMMPS) into a file that scenes begin from
    Import(import::ImportArgs),
    /// Write the signed distance field of a mesh, for ParaView
    Sdf(sdf::SdfArgs),
    /// Cover the grains of a run's frames with a closed surface: PLY, VTK or OBJ
    Skin(skin::SkinArgs),
    /// Write an elevation model of our own: a mountain, a slope, a hockey stick
    Terrain(terrain::TerrainArgs),
    /// How far an avalanche went, from the maps of its run: run-out, angles, profiles
    Runout(runout::RunoutArgs),
    /// Run an avalanche with several coefficients: a map of how often a place is reached
    Vary(vary::VaryArgs),
    /// Print the JSON schema of scenes, for editors
    Schema {
        /// Print the documentation's page of keys instead.
        #[arg(long)]
        page: bool,
    },
    /// List what this machine can compute on: the processor and the graphics adapters, with their limits
    Devices(devices::DevicesArgs),
    /// Measure the speed of this machine on a named case
    Bench(bench::BenchArgs),
    /// Run the proof: closed forms, experiments, other people's simulations
    Validate(validate::ValidateArgs),
}

/// How many threads work.
#[derive(Args, Clone, Copy)]
struct Threads {
    /// Worker threads; left out: one a core. The result is the same bit for bit
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    threads: Option<u16>,
}

impl Threads {
    fn set(self) -> Result<(), Failure> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.threads.map_or(0, usize::from));
        threads.build_global().map_err(|e| Failure::Failed(format!("the worker threads could not be started: {e}")))
    }
}

/// Which scene, and how much of it.
#[derive(Args)]
struct SceneArgs {
    /// Name of the gallery, or a scene file
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = factor, allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Compute its matter otherwise: grains; sph, a continuum of smoothed particles; phases, one of parcels on a grid
    #[arg(long = "as", value_name = "METHOD", value_parser = compare::method)]
    method: Option<barchan::scene::MatterMethod>,
}

impl SceneArgs {
    fn load(&self) -> Result<barchan::scene::Parsed, Failure> {
        let parsed = load(&self.scene, self.scale)?;
        self.method.map_or(Ok(parsed.clone()), |method| compare::converted(&parsed, method, false))
    }
}

fn load(scene: &str, scale: Option<f64>) -> Result<barchan::scene::Parsed, Failure> {
    let parsed = barchan::load(scene)?;
    Ok(match scale {
        Some(factor) => parsed.scaled(factor)?,
        None => parsed,
    })
}

fn positive(value: f64, help: &str) -> Result<f64, String> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(help.into()) }
}

fn duration(text: &str) -> Result<f64, String> {
    let help = "give a time above 0: seconds, such as 0.5, or with a unit, such as \"20 ms\"";
    let bare = text.trim().parse::<f64>().ok();
    let value = bare.map_or_else(|| barchan::scene::units::Quantity::TIME.parse(text), Ok);
    positive(value.map_err(|e| format!("{e}; {help}"))?, help)
}

fn factor(text: &str) -> Result<f64, String> {
    let help = "give a number above 0, such as 4 for four times the grains";
    positive(text.trim().parse().map_err(|_| help)?, help)
}

fn threads(text: &str) -> Result<u16, String> {
    let n = text.trim().parse().ok().filter(|n| (1..=1024).contains(n));
    n.ok_or_else(|| "give a whole number from 1 to 1024".into())
}

/// A whole number of things to count, from 1.
fn whole(text: &str) -> Result<u32, String> {
    let n = text.trim().replace(['_', ','], "").parse().ok().filter(|n| *n >= 1);
    n.ok_or_else(|| "give a whole number from 1, such as 64000".into())
}

/// What is wrong with a value on the command line, in our words; none where clap's own say it well.
fn wrong_value(e: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind| match e.get(kind) {
        Some(ContextValue::String(s)) => Some(s.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?.split(' ').next()?;
    match e.kind() {
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(e)?.to_string();
            Some(format!("{flag} {}: {why}", text(ContextKind::InvalidValue)?))
        }
        _ => None,
    }
}

/// Name of a scene's folder: that of its file without its ending.
fn stem(scene: &str) -> PathBuf {
    std::path::Path::new(scene).file_stem().map_or_else(|| "scene".into(), PathBuf::from)
}

pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            if let Some(message) = wrong_value(&e) {
                say::error(&message);
                return ExitCode::from(2);
            }
            // `print` writes help to stdout and errors to stderr; a closed pipe is no reason to complain.
            let _ = e.print();
            return ExitCode::from(e.exit_code() as u8);
        }
    };
    let done = match cli.command {
        Command::Run(args) => run::run(args),
        Command::View(args) => view::view(args),
        Command::Compare(args) => compare::compare(args),
        Command::Render(args) => render::render(args),
        Command::Gallery(args) => gallery::gallery(args),
        Command::Scenes(threads) => scenes::scenes(threads),
        Command::New(args) => new::new(args),
        Command::Check(args) => check::check(args),
        Command::Sample(args) => sample::sample(args),
        Command::Import(args) => import::import(args),
        Command::Sdf(args) => sdf::sdf(args),
        Command::Skin(args) => skin::skin(args),
        Command::Terrain(args) => terrain::terrain(args),
        Command::Runout(args) => runout::runout(args),
        Command::Vary(args) => vary::vary(args),
        Command::Schema { page } => {
            let words = &barchan::engine::VOCABULARY;
            let text = if page { barchan::scene::page(words) } else { barchan::scene::schema(words) };
            say!("{}", text.trim_end());
            Ok(())
        }
        Command::Devices(args) => devices::devices(args),
        Command::Bench(args) => bench::bench(args),
        Command::Validate(args) => validate::validate(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(message)) => {
            say::error(&message);
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            say::error(&message);
            ExitCode::from(2)
        }
        Err(Failure::Scene(problems)) => {
            say::problems(&problems);
            ExitCode::from(3)
        }
        Err(Failure::Stopped) => ExitCode::from(130),
    }
}
