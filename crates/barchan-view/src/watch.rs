//! A window that shows a sampling as it forms: the distance field ray-cast, spheres hiding the rays they cover.
//!
//! A thread of its own steps the sampling and draws; the window shows the newest picture and turns the eye. Closed early, it
//! leaves the thread to finish without drawing.

use crate::eye::Eye;
use crate::{ViewError, theme, window};
use barchan_core::sampling::Sampling;
use barchan_core::sdf::Field;
use barchan_render::field::MURK;
use barchan_render::{FieldPicture, Light, Stand};
use egui::{CentralPanel, ColorImage, Context, Frame as Surround, Key, Panel, PointerButton, Sense, Ui};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pixels in a row of the largest picture that is drawn; a larger window stretches it.
const WIDEST: f32 = 1280.0;
/// Pictures are drawn at half the size with one sample a pixel while something moves, at full size with this many along its
/// side at rest.
const FINEST: u32 = 2;
/// How long a thread at rest waits before it looks again.
const REST: Duration = Duration::from_millis(200);

/// Called after each step of a sampling, from a thread of its own; gives the words to end with when nothing is left to do.
pub type Tell = Box<dyn FnMut(&Sampling) -> Option<Vec<String>> + Send>;

/// What is watched.
pub struct Watched {
    /// Name of the mesh.
    pub title: String,
    /// Its field.
    pub field: Arc<Field>,
    /// Where the eye begins.
    pub stand: Stand,
    /// The light.
    pub light: Light,
    /// The sampling at its beginning.
    pub sampling: Sampling,
    /// Who hears of it.
    pub tell: Tell,
}

/// From where a field was cast, pixels in a row and rows, samples along a pixel.
type Cast = (Stand, [u32; 2], u32);

/// What window and thread share.
#[derive(Default)]
struct Shared {
    /// What is asked for: from where, and pixels in a row and rows.
    wanted: Option<(Stand, [u32; 2])>,
    /// The newest picture that has not been shown.
    image: Option<ColorImage>,
    /// How it stands, and the words at the end.
    steps: usize,
    spheres: usize,
    words: Option<Vec<String>>,
    closed: bool,
}

struct Bench {
    shared: Mutex<Shared>,
    woken: Condvar,
}

impl Bench {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        // Nothing in here can be left half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the window and returns when it is closed and the sampling done. Must be called on the main thread.
pub fn watch(watched: Watched) -> Result<(), ViewError> {
    crate::has_display()?;
    let bench = Arc::new(Bench { shared: Mutex::default(), woken: Condvar::new() });
    let title = watched.title.clone();
    let eye = Eye::at(watched.stand);
    let (own, start) = (bench.clone(), std::sync::mpsc::channel::<Context>());
    let worker = std::thread::spawn(move || {
        // Without a window there is no context, and the thread ends with the sender.
        if let Ok(ctx) = start.1.recv() {
            work(watched, &own, &ctx);
        }
    });
    let (sender, shown) = (start.0, bench.clone());
    let opened = window(&format!("{title} · sampling · barchan"), move |context| {
        theme::apply(&context.egui_ctx);
        let _ = sender.send(context.egui_ctx.clone());
        Ok(Box::new(Watch { bench: shown, title, eye, texture: None }))
    });
    bench.lock().closed = true;
    bench.woken.notify_all();
    // A panic there has been shown as such.
    let _ = worker.join();
    opened
}

/// Steps and draws until the window is closed and nothing is left to do.
fn work(watched: Watched, bench: &Bench, ctx: &Context) {
    let Watched { field, light, mut sampling, mut tell, .. } = watched;
    let mut words = tell(&sampling);
    // What the last picture of spheres at rest was drawn for, and with how many samples along a pixel.
    let mut shown: Option<((Stand, [u32; 2]), u32)> = None;
    // The field as it was cast last: it stays while the eye does.
    let mut cast: Option<(Cast, FieldPicture)> = None;
    loop {
        let shared = bench.lock();
        let (wanted, closed) = (shared.wanted, shared.closed);
        if closed && words.is_some() {
            return;
        }
        // Quick while something moves, finer once at rest.
        let side = match (wanted, shown) {
            (Some(wanted), Some((last, side))) if wanted == last => side + 1,
            (Some(_), _) => 1,
            (None, _) => FINEST + 1,
        };
        if side > FINEST && words.is_some() {
            // What is asked for next wakes it; the time is for a wake-up that came before the wait.
            drop(bench.woken.wait_timeout(shared, REST));
            continue;
        }
        drop(shared);
        if let (Some((stand, size)), false) = (wanted, closed) {
            let pixels = if side == FINEST { size } else { size.map(|n| (n / 2).max(16)) };
            let key = (stand, pixels, side);
            if cast.as_ref().is_none_or(|c| c.0 != key) {
                cast = FieldPicture::new(field.clone(), stand, &light, pixels, side).ok().map(|picture| (key, picture));
            }
            let drawn = cast.as_ref().and_then(|c| c.1.draw(&sampling.beads(), MURK * sampling.radius()).ok());
            shown = words.is_some().then_some(((stand, size), side));
            if let Some(image) = drawn {
                let size = [image.width as usize, image.height as usize];
                bench.lock().image = Some(ColorImage::from_rgba_unmultiplied(size, &image.rgba));
            }
        }
        if words.is_none() {
            sampling.step();
            words = tell(&sampling);
            let mut shared = bench.lock();
            shared.steps += 1;
            shared.spheres = sampling.spheres().len();
            shared.words.clone_from(&words);
        }
        ctx.request_repaint();
    }
}

/// The window.
struct Watch {
    bench: Arc<Bench>,
    title: String,
    eye: Eye,
    texture: Option<egui::TextureHandle>,
}

impl Watch {
    /// The picture, and the eye turned by hand.
    fn picture(&mut self, ui: &mut Ui) {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let height = f64::from(rect.height().max(1.0));
        let drag = response.drag_delta();
        let (right, down) = (f64::from(drag.x) / height, f64::from(drag.y) / height);
        let shift = ui.input(|i| i.modifiers.shift);
        if response.dragged_by(PointerButton::Middle) || (response.dragged() && shift) {
            self.eye.pan(right, down);
        } else if response.dragged() {
            self.eye.orbit(right, down);
        }
        if response.hovered() {
            let wheel = ui.input(|i| i.smooth_scroll_delta().y + 120.0 * (i.zoom_delta() - 1.0));
            if wheel != 0.0 {
                self.eye.zoom(f64::from(-wheel * 0.004).exp());
            }
        }
        let scale = ui.ctx().pixels_per_point().min(WIDEST / rect.width().max(1.0));
        let size = [rect.width(), rect.height()].map(|n| ((n * scale) as u32).max(16));
        let wanted = Some((self.eye.stand, size));
        let mut shared = self.bench.lock();
        if shared.wanted != wanted {
            shared.wanted = wanted;
            self.bench.woken.notify_all();
        }
        if let Some(texture) = &self.texture {
            let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            ui.painter().image(texture.id(), rect, whole, egui::Color32::WHITE);
        }
    }

    /// How it stands, beside the picture.
    fn words(&self, ui: &mut Ui) {
        let shared = self.bench.lock();
        ui.heading(&self.title);
        match &shared.words {
            None => {
                ui.colored_label(theme::ACCENT, "sampling");
                let spheres = barchan_core::words::count(shared.spheres as u64);
                ui.label(format!("step {}, {spheres} spheres", shared.steps));
            }
            Some(words) => {
                ui.colored_label(theme::GOOD, "done");
                words.iter().for_each(|line| {
                    ui.label(line);
                });
            }
        }
        ui.add_space(8.0);
        ui.colored_label(theme::WEAK, "drag to turn, shift-drag to shift, wheel to zoom, Esc to close");
    }
}

impl eframe::App for Watch {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if ctx.input(|i| i.key_pressed(Key::Escape)) {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        let image = self.bench.lock().image.take();
        if let Some(image) = image {
            match &mut self.texture {
                Some(texture) => texture.set(image, egui::TextureOptions::LINEAR),
                none => *none = Some(ctx.load_texture("sampling", image, egui::TextureOptions::LINEAR)),
            }
        }
        let surround = Surround::new().fill(theme::PANEL).inner_margin(12);
        Panel::right("words").frame(surround).exact_size(310.0).resizable(false).show(ui, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.words(ui));
        });
        CentralPanel::default().frame(Surround::new().fill(theme::BACK)).show(ui, |ui| self.picture(ui));
    }
}
