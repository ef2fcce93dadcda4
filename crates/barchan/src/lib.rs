//! barchan simulates granular matter: sand, soil, gravel, grain, snow, from single grains to hillsides.
//!
//! This crate is the façade: the [`prelude`] and the command `barchan`. A scene is plain data, written in TOML and checked
//! before it runs; [`assemble`](barchan_engine::assemble()) turns it into a [`World`](prelude::World) that steps, and
//! [`Run`](prelude::Run) writes frames, measurements and checkpoints into a folder.
//!
//! ```
//! use barchan::prelude::*;
//!
//! let text = r#"
//! duration = 0.1
//! [domain]
//! min = [0, 0, 0]
//! max = ["5 cm", "5 cm", "10 cm"]
//! [materials.beads]
//! preset = "glass beads"
//! [[walls]]
//! material = "beads"
//! plane = { point = [0, 0, 0], normal = [0, 0, 1] }
//! [[grains]]
//! material = "beads"
//! radius = "2 mm"
//! at = [["25 mm", "25 mm", "30 mm"]]
//! "#;
//! let scene = load_text(text, "one bead")?;
//! let mut world = assemble(&scene)?;
//! while world.time() < 0.05 {
//!     world.step()?;
//! }
//! // The bead is still in free fall: z = z₀ − g t²/2.
//! let z = world.frame().grains().position[0].z;
//! let exact = 0.03 - 0.5 * 9.81 * world.time().powi(2);
//! assert!((z - exact).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod load;

pub use barchan_core as core;
pub use barchan_dem as dem;
pub use barchan_engine as engine;
pub use barchan_io as io;
pub use barchan_render as draw;
pub use barchan_scene as scene;
pub use barchan_sph as sph;
#[cfg(feature = "window")]
pub use barchan_view as view;
pub use load::{LoadError, load, load_text};

/// What most programs need.
pub mod prelude {
    pub use crate::{load, load_text};
    pub use barchan_core::frame::Frame;
    pub use barchan_engine::{
        Progress, Run, RunError, RunOptions, RunReport, Status, Summary, World, WorldError, assemble, run,
    };
    pub use barchan_scene::{Parsed, Scene, SceneErrors};
}
