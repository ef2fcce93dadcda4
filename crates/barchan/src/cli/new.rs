//! `barchan new`.

use super::Failure;
use super::say::say;
use barchan::scene::gallery_scene;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct NewArgs {
    /// File to write
    file: PathBuf,
    /// Scene of the gallery to start from
    #[arg(long, value_name = "NAME", default_value = "hourglass")]
    from: String,
}

pub fn new(args: NewArgs) -> Result<(), Failure> {
    let Ok(scene) = gallery_scene(&args.from) else {
        // Loading gives the message with the nearest names.
        return Err(match barchan::load(&args.from) {
            Err(e) => e.into(),
            Ok(_) => Failure::Usage(format!("`{}` is a file: --from takes a name of the gallery", args.from)),
        });
    };
    let shown = args.file.display();
    // `create_new` refuses in one act, so that no file is lost between a look and a write.
    let written = std::fs::File::create_new(&args.file).and_then(|mut file| file.write_all(scene.source.as_bytes()));
    written.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::Usage(format!("{shown} exists already: choose another name")),
        _ => Failure::Failed(format!("{shown} cannot be written: {e}")),
    })?;
    say!("{shown}: a copy of {}. Check it with `barchan check {shown}`, run it with `barchan run {shown}`.", args.from);
    Ok(())
}
