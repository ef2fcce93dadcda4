//! Where things that can be made again are kept between runs.

use std::path::PathBuf;

/// The user's cache folder for barchan: `$XDG_CACHE_HOME/barchan`, `~/.cache/barchan`, or the system's counterpart; none
/// where there is no home.
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME")
        .filter(|p| p.is_absolute())
        .or_else(|| variable("HOME").map(|h| h.join(".cache")))
        .or_else(|| variable("LOCALAPPDATA"))?;
    Some(base.join("barchan"))
}
