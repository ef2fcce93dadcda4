//! The grains in the window: a texture that the renderer draws into and egui shows.
//!
//! Drawing is asked for only when something has changed and the last picture is done, so that a slow driver makes
//! pictures rarer and never holds the window. While things move the quality follows from what pictures cost; when all
//! stands still one good picture is drawn and kept.

use barchan_render::{GpuRenderer, Light, Picture, Quality, RenderError, Renderer, View};
use egui_wgpu::RenderState;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wall-clock time of a picture that still gives thirty a second, with a third left for the rest of the window.
const TOO_SLOW: f64 = 0.022;
/// Wall-clock time of a picture below which the next better level is tried: a level costs up to three times the one
/// below it.
const QUICK: f64 = 0.006;
/// How long nothing must change before a good picture is drawn.
const STILL_AFTER: Duration = Duration::from_millis(250);

/// How pictures are drawn while things move.
struct Level {
    /// Pixels of the picture over those of the window, along a side.
    scale: f32,
    quality: Quality,
}

/// From the best to the quickest.
const LEVELS: [Level; 6] = [
    Level { scale: 1.0, quality: Quality { samples: 4, shadows: true, occlusion: true } },
    Level { scale: 1.0, quality: Quality { samples: 1, shadows: true, occlusion: true } },
    Level { scale: 0.7, quality: Quality { samples: 1, shadows: true, occlusion: true } },
    Level { scale: 0.5, quality: Quality { samples: 1, shadows: true, occlusion: true } },
    Level { scale: 0.5, quality: Quality { samples: 1, shadows: true, occlusion: false } },
    Level { scale: 0.4, quality: Quality { samples: 1, shadows: false, occlusion: false } },
];
/// Where it begins, not knowing the driver.
const FIRST_LEVEL: usize = 1;

/// What may be left out of pictures by choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Shadows of the sun.
    pub shadows: bool,
    /// Dark gaps.
    pub occlusion: bool,
}

struct Target {
    view: wgpu::TextureView,
    id: egui::TextureId,
    size: [u32; 2],
}

/// The picture in the window.
pub struct Canvas {
    state: RenderState,
    gpu: GpuRenderer,
    software: bool,
    target: Option<Target>,
    /// Whether a picture is being drawn.
    busy: Arc<AtomicBool>,
    /// Wall-clock time the last picture took [s].
    took: Arc<Mutex<Option<f64>>>,
    /// Pictures under way, for the thread that waits for them.
    waiter: Sender<Underway>,
    level: usize,
    /// Wall-clock time of pictures at this level, smoothed [s].
    cost: f64,
    uploaded: Option<u64>,
    drawn: Option<Drawn>,
    changed: Instant,
}

/// A picture that is being drawn.
struct Underway {
    index: wgpu::SubmissionIndex,
    begun: Instant,
    fine: bool,
}

/// What the texture shows.
#[derive(Clone, Copy, PartialEq)]
struct Drawn {
    picture: u64,
    view: View,
    light: Light,
    effects: Effects,
    fine: bool,
}

impl Canvas {
    /// A canvas on the window's device.
    pub fn new(state: &RenderState, ctx: &egui::Context) -> Result<Canvas, RenderError> {
        let gpu = GpuRenderer::on(state.device.clone(), state.queue.clone())?;
        let (busy, took) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Option<f64>>>::default());
        let (waiter, inbox) = channel::<Underway>();
        let (device, ctx, free, time) = (state.device.clone(), ctx.clone(), busy.clone(), took.clone());
        // Waits for pictures, so that the window need not, and knows what they cost.
        let wait = move || {
            while let Ok(Underway { index, begun, fine }) = inbox.recv() {
                let _ = device.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None });
                if !fine {
                    *time.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun.elapsed().as_secs_f64());
                }
                free.store(false, Ordering::Release);
                ctx.request_repaint();
            }
        };
        let started = std::thread::Builder::new().name("canvas".into()).spawn(wait);
        started.map_err(|e| RenderError::Device { reason: format!("a thread could not be started: {e}") })?;
        Ok(Canvas {
            software: state.adapter.get_info().device_type == wgpu::DeviceType::Cpu,
            state: state.clone(),
            gpu,
            target: None,
            busy,
            took,
            waiter,
            level: FIRST_LEVEL,
            cost: 0.0,
            uploaded: None,
            drawn: None,
            changed: Instant::now(),
        })
    }

    /// What draws.
    pub fn name(&self) -> String {
        self.gpu.name()
    }

    /// Wall-clock time of a picture while things move [s].
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Why pictures are not what they could be, if they are not.
    pub fn excuse(&self) -> Option<String> {
        let level = &LEVELS[self.level];
        if self.level <= FIRST_LEVEL && self.cost < 1.0 / 30.0 {
            return None;
        }
        let why = if self.software { "no graphics card was found, a processor draws" } else { "the driver is slow" };
        let less = match (level.scale < 1.0, level.quality.occlusion) {
            (true, true) => "coarser pictures while things move",
            (true, false) => "coarse, plain pictures while things move",
            (false, _) => "fewer than 30 pictures a second",
        };
        // Nothing is known of a level that has just been chosen.
        let each = if self.cost > 0.0 { format!(" ({:.0} ms each)", 1e3 * self.cost) } else { String::new() };
        Some(format!("{less}{each}: {why} ({})", self.gpu.name()))
    }

    /// Draws if need be, and gives the texture to show. `serial` tells one picture from another; `size` is that of the
    /// place in the window in physical pixels.
    pub fn draw(
        &mut self,
        ctx: &egui::Context,
        (serial, picture): (u64, &Picture),
        view: View,
        light: Light,
        effects: Effects,
    ) -> Result<Option<egui::TextureId>, RenderError> {
        let took = self.took.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(seconds) = took {
            self.learn(seconds);
        }
        let wanted = Drawn { picture: serial, view, light, effects, fine: true };
        let same = |d: Drawn| Drawn { fine: true, ..d } == wanted;
        let shown = |d: Drawn| Drawn { view: View { size: view.size, ..d.view }, fine: true, ..d } == wanted;
        let current = self.drawn.is_some_and(|d| if d.fine { same(d) } else { shown(d) });
        if !current {
            self.changed = Instant::now();
        }
        let still = self.changed.elapsed() >= STILL_AFTER;
        let fine = current && still;
        let needed = !current || (fine && self.drawn.is_some_and(|d| !d.fine));
        if needed && !self.busy.load(Ordering::Acquire) {
            self.start((serial, picture), wanted, fine)?;
        }
        if !self.busy.load(Ordering::Acquire) && self.drawn.is_some_and(|d| !d.fine) {
            ctx.request_repaint_after(STILL_AFTER);
        }
        Ok(self.target.as_ref().map(|t| t.id))
    }

    fn start(&mut self, (serial, picture): (u64, &Picture), wanted: Drawn, fine: bool) -> Result<(), RenderError> {
        let level = if fine { &LEVELS[0] } else { &LEVELS[self.level] };
        let size = wanted.view.size.map(|n| ((n as f32 * level.scale) as u32).max(barchan_render::look::SIZE_LEAST));
        let quality = Quality {
            shadows: level.quality.shadows && wanted.effects.shadows,
            occlusion: level.quality.occlusion && wanted.effects.occlusion,
            ..level.quality
        };
        if self.uploaded != Some(serial) {
            self.gpu.upload(picture)?;
            self.uploaded = Some(serial);
        }
        let view = View { size, ..wanted.view };
        self.fit(size);
        let Some(target) = &self.target else { return Ok(()) };
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let begun = Instant::now();
        self.gpu.draw_to(picture, &view, &wanted.light, &quality, &target.view, format)?;
        self.busy.store(true, Ordering::Release);
        let index = self.state.queue.submit([]);
        if self.waiter.send(Underway { index, begun, fine }).is_err() {
            self.busy.store(false, Ordering::Release);
        }
        self.drawn = Some(Drawn { fine, view: if fine { wanted.view } else { view }, ..wanted });
        Ok(())
    }

    /// Takes note of what a picture cost, and changes the level if that is called for.
    fn learn(&mut self, seconds: f64) {
        self.cost = if self.cost == 0.0 { seconds } else { 0.7 * self.cost + 0.3 * seconds };
        let to = match self.cost {
            c if c > TOO_SLOW => (self.level + 1).min(LEVELS.len() - 1),
            c if c < QUICK => self.level.saturating_sub(1),
            _ => self.level,
        };
        if to != self.level {
            (self.level, self.cost) = (to, 0.0);
        }
    }

    /// A texture of that size, under the same name for egui.
    fn fit(&mut self, size: [u32; 2]) {
        if self.target.as_ref().is_some_and(|t| t.size == size) {
            return;
        }
        let device = &self.state.device;
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("canvas"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut renderer = self.state.renderer.write();
        let filter = wgpu::FilterMode::Linear;
        let id = match &self.target {
            Some(target) => {
                renderer.update_egui_texture_from_wgpu_texture(device, &view, filter, target.id);
                target.id
            }
            None => renderer.register_native_texture(device, &view, filter),
        };
        self.target = Some(Target { view, id, size });
    }
}
