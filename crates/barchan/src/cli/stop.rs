//! Ctrl-C: once to stop after the step under way, twice to quit at once.

use super::say;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the user asked to stop.
pub static ASKED: AtomicBool = AtomicBool::new(false);
static TIMES: AtomicUsize = AtomicUsize::new(0);

/// Listens for Ctrl-C (and for the system's request to end) from now on.
pub fn listen() {
    // Without a handler Ctrl-C still ends the run, only without a last checkpoint: no reason not to run.
    let _ = ctrlc::set_handler(|| {
        ASKED.store(true, Ordering::Relaxed);
        match TIMES.fetch_add(1, Ordering::Relaxed) {
            0 => say::aside("\nstopping: a checkpoint is being written (Ctrl-C again quits at once)"),
            _ => std::process::exit(130),
        }
    });
}
