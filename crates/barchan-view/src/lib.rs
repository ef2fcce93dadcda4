//! The window: a gallery to choose from, scenes that run and can be touched, finished runs played back.
//!
//! [`open`] shows it and returns when it is closed. The simulation has a thread of its own ([`simulation`]), frames of a
//! finished run are read by another ([`playback`]), films are written by a third; the window asks and looks, and waits for
//! none of them. Pictures are drawn by [`barchan_render`], on the window's device, by the code that draws off-screen.

mod app;
mod canvas;
mod dock;
mod eye;
mod gallery;
mod help;
mod keys;
mod messages;
mod panel;
pub mod playback;
mod plots;
mod record;
mod shown;
pub mod simulation;
mod slice;
mod sliders;
mod stage;
mod theme;
mod touch;
mod watch;

pub use simulation::Source;
pub use watch::{Tell, Watched, watch};

use std::path::PathBuf;
use std::sync::Arc;

/// What the window begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The gallery.
    #[default]
    Gallery,
    /// A scene, which plays at once; what is wrong with it is shown in the window.
    Scene {
        /// Name and text.
        source: Source,
        /// The file it is from, to read it anew.
        path: Option<PathBuf>,
    },
    /// The folder of a finished run.
    Run(PathBuf),
}

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No screen.
    #[error(
        "no display was found ({reason}): the window needs a desktop session; `barchan run` and `barchan render` work without one"
    )]
    NoDisplay {
        /// What is missing.
        reason: String,
    },
    /// No adapter that can draw into a window.
    #[error(
        "no graphics adapter can draw into a window ({reason}): install a Vulkan driver (Debian: mesa-vulkan-drivers); `barchan render` \
         works without one"
    )]
    NoAdapter {
        /// What the search said.
        reason: String,
    },
    /// The window could not be opened or broke.
    #[error("the window failed: {reason}; `barchan run` and `barchan render` work without it")]
    Window {
        /// What the system said.
        reason: String,
    },
}

/// Opens the window and returns when it is closed. Must be called on the main thread.
pub fn open(start: Start) -> Result<(), ViewError> {
    has_display()?;
    window("barchan", move |context| match app::App::new(context, start) {
        Ok(app) => Ok(Box::new(app)),
        Err(reason) => Err(reason.into()),
    })
}

/// Opens a window and returns when it is closed.
fn window(
    title: &str,
    create: impl FnOnce(
        &eframe::CreationContext<'_>,
    ) -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>>
    + 'static,
) -> Result<(), ViewError> {
    let viewport = egui::ViewportBuilder::default()
        .with_title(title)
        .with_app_id("barchan")
        .with_inner_size([1360.0, 820.0])
        .with_min_inner_size([640.0, 420.0])
        .with_drag_and_drop(true);
    let mut options = eframe::NativeOptions { viewport, ..eframe::NativeOptions::default() };
    let setup = &mut options.wgpu_options.wgpu_setup;
    if let egui_wgpu::WgpuSetup::CreateNew(new) = setup {
        // As off-screen: all that the adapter has, so that large scenes fit where they can.
        new.power_preference = wgpu::PowerPreference::HighPerformance;
        new.device_descriptor = Arc::new(|adapter| wgpu::DeviceDescriptor {
            label: Some("barchan"),
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        });
    }
    let create: eframe::AppCreator<'_> = Box::new(move |context| {
        // The window is there; from now on a panic is a fault of ours and is shown as such.
        drop(std::panic::take_hook());
        create(context)
    });
    quiet(|| eframe::run_native("barchan", options, create))?.map_err(|e| match e {
        eframe::Error::Wgpu(e) => ViewError::NoAdapter { reason: e.to_string() },
        eframe::Error::Winit(e) => ViewError::NoDisplay { reason: last_part(&e.to_string()) },
        eframe::Error::WinitEventLoop(e) => ViewError::NoDisplay { reason: last_part(&e.to_string()) },
        other => ViewError::Window { reason: other.to_string() },
    })
}

/// A message without the place in a library's source that it begins with.
fn last_part(message: &str) -> String {
    message.rsplit(": ").next().unwrap_or(message).to_owned()
}

/// Window libraries are found at run time, and some of them panic where one is missing: that becomes an error too.
fn quiet<T>(run: impl FnOnce() -> T) -> Result<T, ViewError> {
    std::panic::set_hook(Box::new(|_| {}));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    drop(std::panic::take_hook());
    done.map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
        ViewError::Window { reason: text.unwrap_or_else(|| "it broke off".into()) }
    })
}

/// Whether there is a screen to open a window on, as far as can be told before trying.
#[cfg(all(unix, not(target_os = "macos")))]
pub fn has_display() -> Result<(), ViewError> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    if set("DISPLAY") || set("WAYLAND_DISPLAY") || set("WAYLAND_SOCKET") {
        return Ok(());
    }
    Err(ViewError::NoDisplay { reason: "neither DISPLAY nor WAYLAND_DISPLAY is set".into() })
}

/// Whether there is a screen to open a window on: known when it is tried.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub fn has_display() -> Result<(), ViewError> {
    Ok(())
}
