//! In place of `watch.rs` where the command is built without the window.

use super::pictures::Sight;
use crate::cli::{Failure, NO_WINDOW};
use barchan::core::sampling::Sampling;

/// Complains.
pub fn possible() -> Result<(), Failure> {
    Err(Failure::Failed(format!("{NO_WINDOW}; --picture FILE draws the same into a file")))
}

/// Complains.
pub fn watch<T>(_title: String, _sight: Sight, _sampling: Sampling, _tell: T) -> Result<(), Failure> {
    possible()
}
