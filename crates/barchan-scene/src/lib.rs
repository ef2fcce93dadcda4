//! Scenes of barchan: what a run consists of, as plain data.
//!
//! A [`Scene`] is read from TOML by [`Scene::draft`] and checked, with what the files it names hold ([`Assets`]), by [`Draft::checked`], which reports
//! *every* problem at once, each with its place in the text and a remedy ([`SceneErrors`]); [`Scene::from_toml`] does both for a scene
//! without files. What comes back is [`Parsed`]: the scene in SI units, its assets, the text it came from, and
//! the place of every key, so that later stages can point at the line that caused their complaint
//! ([`Parsed::error_at`]). Nothing here knows of running a scene, and no file is read.
//!
//! ```
//! let text = r#"
//! duration = "1 s"
//! [domain]
//! min = [0, 0, 0]
//! max = ["10 cm", 0.1, 0.1]
//! [materials.sand]
//! preset = "dry sand"
//! [[grains]]
//! material = "sand"
//! radius = "2 mm"
//! fill = { box = { min = [0.01, 0.01, 0.01], max = [0.09, 0.09, 0.09] }, count = 1000 }
//! "#;
//! let parsed = barchan_scene::Scene::from_toml(text, "ten lines").unwrap();
//! assert_eq!(parsed.scene.grains[0].radius.as_ref().unwrap().largest(), 0.002);
//! ```

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod assets;
pub mod check;
mod convert;
mod formula;
mod gallery;
pub mod keys;
pub mod measure;
mod method;
mod presets;
mod problems;
pub mod read;
mod scale;
mod schema;
mod types;
pub mod units;
pub mod words;

pub use assets::{Assets, Field, Heights, Line, Packing, Snow, Solid, Surface};
pub use formula::{Formula, FormulaError};
pub use gallery::{BenchScene, GalleryScene, bench_scenes, gallery, gallery_scene};
pub use glam::DVec3;
pub use method::{Converted, MatterMethod, NoConversion, angle_of_friction, friction_of_angle, opening};
pub use presets::{Bulk, PRESETS, Preset};
pub use problems::{Draft, Parsed, Problem, SceneErrors, Severity};
pub use schema::{page, schema};
pub use types::*;
