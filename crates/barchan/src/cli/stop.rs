//! Ctrl-C: once to stop after the step under way, again to quit at once.

use super::say;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether the user asked to stop.
pub static ASKED: AtomicBool = AtomicBool::new(false);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// A second signal that follows the first sooner than this is the same request: `timeout` and some shells send it to
/// the program and to its group as well.
const SAME: Duration = Duration::from_secs(1);

/// Listens for Ctrl-C (and for the system's request to end) from now on; `message` says what is still done then.
pub fn listen(message: &'static str) {
    // Without a handler Ctrl-C still ends the run, only without a last checkpoint: no reason not to run.
    let _ = ctrlc::set_handler(move || {
        let again = ASKED.swap(true, Ordering::Relaxed);
        if !again {
            say::aside(format_args!("\nstopping: {message} (Ctrl-C again quits at once)"));
        }
        if FIRST.get_or_init(Instant::now).elapsed() > SAME {
            std::process::exit(130);
        }
    });
}
