//! `barchan gallery`: the pictures of the gallery.

use super::{Failure, Threads, render, stop};
use barchan::io::atomic;
use barchan::prelude::*;
use barchan::scene::{GalleryScene, gallery as scenes, gallery_scene};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct GalleryArgs {
    /// Which scenes; left out: all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Folder for the pictures; those of the window's cards go to `small` in it
    #[arg(short, long, value_name = "DIR", default_value = "docs/gallery")]
    output: PathBuf,
    /// Folder for the runs
    #[arg(long, value_name = "DIR", default_value = "out/gallery")]
    runs: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

pub fn gallery(args: GalleryArgs) -> Result<(), Failure> {
    let known = |name: &String| {
        gallery_scene(name).map_err(|near| {
            let hint = near.map_or("`barchan scenes` lists them".into(), |n| format!("did you mean `{n}`?"));
            Failure::Usage(format!("the gallery has no scene `{name}`; {hint}"))
        })
    };
    let chosen: Vec<&GalleryScene> = match args.names.len() {
        0 => scenes().iter().collect(),
        _ => args.names.iter().map(known).collect::<Result<_, _>>()?,
    };
    args.threads.set()?;
    stop::listen("a checkpoint is being written");
    let small = args.output.join("small");
    atomic::create_folder(&small).map_err(|e| Failure::Failed(e.to_string()))?;
    for scene in chosen {
        let mut world = assemble(&barchan::load(scene.name)?)?;
        if let Some(time) = scene.picture {
            world.set_duration(time);
        }
        let folder = args.runs.join(scene.name);
        let failed = |e: RunError| Failure::Failed(e.to_string());
        let run = Run::start(world, &folder, true).map_err(failed)?;
        let report = run.go(RunOptions { on_progress: None, stop: Some(&stop::ASKED), until: None }).map_err(failed)?;
        if report.status == Status::Stopped {
            return Err(Failure::Stopped);
        }
        let file = format!("{}.png", scene.name);
        render::portrait(&folder, &args.output.join(&file), [960, 540])?;
        render::portrait(&folder, &small.join(&file), [320, 180])?;
    }
    Ok(())
}
