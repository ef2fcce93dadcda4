//! The command line: what can be asked, and who answers.

mod bench;
mod check;
mod new;
mod run;
mod say;
mod scenes;
mod stop;

use clap::{Args, Parser, Subcommand};
use say::say;
use std::path::PathBuf;
use std::process::ExitCode;

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
            barchan::LoadError::Unknown { .. } => Failure::Usage(e.to_string()),
            barchan::LoadError::File { .. } => Failure::Failed(e.to_string()),
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
    /// List the gallery: what each scene shows, its grains, how long it takes here
    Scenes(Threads),
    /// Write a commented scene to start from
    New(new::NewArgs),
    /// Show every problem of a scene, and the numbers a run would use
    Check(check::CheckArgs),
    /// Print the JSON schema of scenes, for editors
    Schema,
    /// Measure the speed of this machine on a named case
    Bench(bench::BenchArgs),
}

/// How many threads work.
#[derive(Args, Clone, Copy)]
struct Threads {
    /// Worker threads; left out: one a core. The result is the same bit for bit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
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
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = factor)]
    scale: Option<f64>,
}

impl SceneArgs {
    fn load(&self) -> Result<barchan::scene::Parsed, Failure> {
        load(&self.scene, self.scale)
    }
}

fn load(scene: &str, scale: Option<f64>) -> Result<barchan::scene::Parsed, Failure> {
    let parsed = barchan::load(scene)?;
    Ok(match scale {
        Some(factor) => parsed.scaled(factor)?,
        None => parsed,
    })
}

fn positive(value: f64) -> Result<f64, String> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("give a positive number".into()) }
}

fn duration(text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok();
    positive(bare.map_or_else(|| barchan::scene::units::Quantity::TIME.parse(text), Ok)?)
}

fn factor(text: &str) -> Result<f64, String> {
    positive(text.parse::<f64>().map_err(|e| e.to_string())?)
}

/// Name of a scene's folder: that of its file without its ending.
fn stem(scene: &str) -> PathBuf {
    std::path::Path::new(scene).file_stem().map_or_else(|| "scene".into(), PathBuf::from)
}

pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // `print` writes help to stdout and errors to stderr; a closed pipe is no reason to complain.
            let _ = e.print();
            return ExitCode::from(e.exit_code() as u8);
        }
    };
    let done = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Scenes(threads) => scenes::scenes(threads),
        Command::New(args) => new::new(args),
        Command::Check(args) => check::check(args),
        Command::Schema => {
            say!("{}", barchan::scene::schema());
            Ok(())
        }
        Command::Bench(args) => bench::bench(args),
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
