//! A sampling in a window while it forms.

use super::pictures::Sight;
use crate::cli::{Failure, say};
use barchan::core::sampling::Sampling;
use barchan::view::Watched;
use std::sync::{Arc, Mutex};

/// Complains where no window can be opened.
pub fn possible() -> Result<(), Failure> {
    barchan::view::has_display().map_err(|e| Failure::Failed(format!("{e}; --picture FILE draws the same into a file")))
}

/// Opens the window and returns when it is closed. `tell` is called after each step and gives the words to end with.
pub fn watch(
    title: String,
    Sight { field, stand, light }: Sight,
    sampling: Sampling,
    mut tell: impl FnMut(&Sampling) -> Result<Option<Vec<String>>, Failure> + Send + 'static,
) -> Result<(), Failure> {
    let failed = Arc::new(Mutex::new(None));
    let result = failed.clone();
    let tell = Box::new(move |sampling: &Sampling| {
        let told = tell(sampling).unwrap_or_else(|e| {
            let text = match &e {
                Failure::Failed(text) | Failure::Usage(text) => vec![text.clone()],
                Failure::Scene(_) | Failure::Stopped => Vec::new(),
            };
            if let Ok(mut failed) = result.lock() {
                *failed = Some(e);
            }
            Some(text)
        })?;
        told.iter().for_each(say::line);
        Some(told)
    });
    barchan::view::watch(Watched { title, field, stand, light, sampling, tell })
        .map_err(|e| Failure::Failed(e.to_string()))?;
    let failed = failed.lock().ok().and_then(|mut f| f.take());
    failed.map_or(Ok(()), Err)
}
