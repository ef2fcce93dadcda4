//! A world as it stands, kept as a run that can go on.

use super::{Folder, OutputError, RunError, Status};
use crate::checkpoint::CheckpointWriter;
use crate::copies;
use crate::world::World;
use barchan_io::atomic;
use barchan_scene::Scene;
use std::path::{Path, PathBuf};

/// The scene with values changed by hand, in the folder of a world that was kept.
pub const CHANGED: &str = "scene-changed.toml";

/// Writes a world as it stands into a folder that holds no run yet: scene, its files and a checkpoint, from which
/// [`Run::resume`](super::Run::resume) goes on bit for bit, and, where a hand has changed something, the scene with the
/// changed values, for a new start. Returns the checkpoint.
pub fn keep(world: &World, scene: &Scene, folder: &Path) -> Result<PathBuf, RunError> {
    let folder = Folder::create(folder, false, world)?;
    let write = || -> Result<PathBuf, OutputError> {
        folder.write_scene(&world.plan().scene)?;
        copies::keep(&world.plan().meshes, folder.path())?;
        if let (true, Ok(text)) = (world.is_touched(), world.changed_scene(scene).to_toml()) {
            atomic::write(&folder.path().join(CHANGED), text.as_bytes())?;
        }
        let mut checkpoint = CheckpointWriter::default();
        world.save(&mut checkpoint);
        let path = checkpoint.write(folder.path())?;
        folder.write_note(world, Status::Stopped)?;
        Ok(path)
    };
    write().map_err(|e| RunError::Output { source: Box::new(e), checkpoint: None })
}
