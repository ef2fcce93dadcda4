//! `barchan scenes`.

use super::say::{count, say, span};
use super::{Failure, Threads};
use barchan::engine::{assemble, estimate};
use barchan::scene::gallery;

pub fn scenes(threads: Threads) -> Result<(), Failure> {
    threads.set()?;
    let rate = estimate::rate().map_err(|e| Failure::Failed(e.to_string()))?;
    let wide = gallery().iter().map(|s| s.name.len()).max().unwrap_or(4);
    say!("{:wide$}  {:>8}  {:>12}  what it shows", "name", "grains", "takes here");
    for scene in gallery() {
        let parsed = barchan::load(scene.name)?;
        let summary = assemble(&parsed)?.summary();
        let takes = span(summary.work_steps() / rate);
        say!("{:wide$}  {:>8}  {takes:>12}  {}", scene.name, count(summary.pieces_at_end()), scene.about);
    }
    say!("\nRun one with `barchan run NAME`; copy one with `barchan new FILE --from NAME`.");
    Ok(())
}
