//! `barchan view`.

use super::{Failure, Threads};
use clap::Args;

#[derive(Args)]
pub struct ViewArgs {
    /// Name of the gallery, a scene file, or the folder of a run; left out: the gallery
    #[arg(value_name = "SCENE|FOLDER")]
    what: Option<String>,
    #[command(flatten)]
    threads: Threads,
}

pub fn view(args: ViewArgs) -> Result<(), Failure> {
    args.threads.set()?;
    window::open(args.what.as_deref())
}

#[cfg(not(feature = "window"))]
mod window {
    use crate::cli::{Failure, NO_WINDOW};

    pub fn open(_what: Option<&str>) -> Result<(), Failure> {
        Err(Failure::Failed(NO_WINDOW.into()))
    }
}

#[cfg(feature = "window")]
mod window {
    use crate::cli::Failure;
    use barchan::LoadError;
    use barchan::view::{self, Source, Start, ViewError, playback::is_run};
    use std::path::Path;

    pub fn open(what: Option<&str>) -> Result<(), Failure> {
        let start = what.map_or(Ok(Start::Gallery), start)?;
        view::open(start).map_err(|e| match e {
            ViewError::NoDisplay { .. } | ViewError::NoAdapter { .. } | ViewError::Window { .. } => {
                Failure::Failed(e.to_string())
            }
        })
    }

    fn start(what: &str) -> Result<Start, Failure> {
        let path = Path::new(what);
        if is_run(path) {
            return Ok(Start::Run(path.into()));
        }
        let file = path.is_file().then(|| path.to_owned());
        let text = match (barchan::load(what), &file) {
            (Ok(parsed), _) => parsed.text().to_owned(),
            // The window shows what is wrong, and reads the file anew when asked to.
            (Err(LoadError::Scene(_)), Some(file)) => {
                std::fs::read_to_string(file).map_err(|e| Failure::Failed(format!("{what} cannot be read: {e}")))?
            }
            (Err(e), _) => return Err(e.into()),
        };
        Ok(Start::Scene { source: Source { name: what.into(), text }, path: file })
    }
}
