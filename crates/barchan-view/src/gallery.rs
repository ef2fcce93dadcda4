//! The gallery: a card a scene, with a small picture drawn in the background and kept in the user's cache.

use crate::shown::{Choice, Shown};
use crate::simulation::Source;
use crate::theme::{ACCENT, CARD, WEAK};
use barchan_engine::{assemble, cache};
use barchan_io::atomic;
use barchan_render::{CpuRenderer, Quality, Renderer};
use barchan_scene::{GalleryScene, Scene, gallery};
use egui::{Align2, Color32, ColorImage, FontId, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, mpsc::TryRecvError};
use std::time::{Duration, Instant};

/// Pixels of a small picture.
const SIZE: [u32; 2] = [320, 200];
/// Wall-clock time a scene is run before its picture is taken: enough for it to begin to move.
const RUN: Duration = Duration::from_millis(1200);
/// Meaning of the files in the cache; raised when pictures look different.
const VERSION: u32 = 1;

type Thumbnail = (&'static str, Vec<u8>);

/// Small pictures, as they come.
pub struct Gallery {
    pictures: Vec<(&'static str, egui::TextureHandle)>,
    inbox: Option<Receiver<Thumbnail>>,
    over: Arc<AtomicBool>,
}

impl Gallery {
    /// A gallery whose pictures are loaded, or drawn, by another thread.
    pub fn new(wake: impl Fn() + Send + 'static) -> Gallery {
        let (send, inbox) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let end = over.clone();
        let work = move || draw_all(&send, &end, &wake);
        // Without the thread there are cards without pictures.
        let inbox = std::thread::Builder::new().name("gallery".into()).spawn(work).ok().map(|_| inbox);
        Gallery { pictures: Vec::new(), inbox, over }
    }

    /// The cards; gives the scene that was chosen.
    pub fn show(&mut self, ui: &mut Ui) -> Option<Source> {
        self.collect(ui.ctx());
        let mut chosen = None;
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.add_space(14.0);
            ui.horizontal(|ui| {
                ui.add_space(18.0);
                ui.vertical(|ui| {
                    ui.label(RichText::new("Gallery").size(24.0).color(Color32::WHITE));
                    ui.label(
                        RichText::new("Choose a scene, or drop a scene file or the folder of a run here.").color(WEAK),
                    );
                });
            });
            ui.add_space(10.0);
            let gap = 14.0;
            let wide = ui.available_width() - 36.0;
            let columns = ((wide + gap) / (250.0 + gap)).floor().max(1.0);
            let width = (wide - gap * (columns - 1.0)) / columns;
            for row in gallery().chunks(columns as usize) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = gap;
                    ui.add_space(18.0);
                    for scene in row {
                        if self.card(ui, scene, width) {
                            chosen = Some(Source { name: scene.name.into(), text: scene.source.into() });
                        }
                    }
                });
                ui.add_space(gap - 7.0);
            }
        });
        chosen
    }

    fn collect(&mut self, ctx: &egui::Context) {
        let Some(inbox) = &self.inbox else { return };
        loop {
            match inbox.try_recv() {
                Ok((name, rgba)) => {
                    let image = ColorImage::from_rgba_unmultiplied(SIZE.map(|n| n as usize), &rgba);
                    let texture = ctx.load_texture(name, image, egui::TextureOptions::LINEAR);
                    self.pictures.retain(|p| p.0 != name);
                    self.pictures.push((name, texture));
                }
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.inbox = None;
    }

    fn card(&self, ui: &mut Ui, scene: &GalleryScene, width: f32) -> bool {
        let height = width * SIZE[1] as f32 / SIZE[0] as f32;
        let (rect, response) = ui.allocate_exact_size(vec2(width, height + 66.0), Sense::click());
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        painter.rect_filled(rect, 7.0, CARD);
        let picture = Rect::from_min_size(rect.min, vec2(width, height));
        match self.pictures.iter().find(|p| p.0 == scene.name) {
            Some((_, texture)) => {
                let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
                painter.image(texture.id(), picture, whole, Color32::WHITE);
            }
            None => {
                let text = "drawing …";
                painter.text(picture.center(), Align2::CENTER_CENTER, text, FontId::proportional(13.0), WEAK);
            }
        }
        let corner = picture.left_bottom() + vec2(10.0, 7.0);
        painter.text(corner, Align2::LEFT_TOP, scene.name, FontId::proportional(15.0), Color32::WHITE);
        let about = painter.layout(scene.about.into(), FontId::proportional(12.0), WEAK, width - 20.0);
        painter.galley(corner + vec2(0.0, 21.0), about, WEAK);
        if response.hovered() {
            painter.rect_stroke(rect, 7.0, Stroke::new(1.5, ACCENT), StrokeKind::Inside);
        }
        response.clicked()
    }
}

impl Drop for Gallery {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn draw_all(send: &Sender<Thumbnail>, over: &AtomicBool, wake: &dyn Fn()) {
    let show = |name, rgba| {
        // A window that is gone wants no pictures.
        let _ = send.send((name, rgba));
        wake();
    };
    let (there, missing): (Vec<_>, Vec<_>) = gallery().iter().map(|s| (s, kept(s))).partition(|(_, k)| k.is_some());
    there.into_iter().for_each(|(scene, rgba)| show(scene.name, rgba.unwrap_or_default()));
    for (scene, _) in missing {
        if let Some(rgba) = draw(scene, over) {
            if let Some(path) = path(scene) {
                // A cache that cannot be written is drawn again next time.
                let _ = path.parent().map_or(Ok(()), atomic::create_folder);
                let _ = atomic::write(&path, &rgba);
            }
            show(scene.name, rgba);
        }
        if over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// The picture's file: its name changes with the scene's text.
fn path(scene: &GalleryScene) -> Option<PathBuf> {
    let hash =
        scene.source.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    Some(cache::folder()?.join("thumbnails").join(format!("{}-{VERSION}-{hash:016x}.rgba", scene.name)))
}

fn kept(scene: &GalleryScene) -> Option<Vec<u8>> {
    let rgba = std::fs::read(path(scene)?).ok()?;
    (rgba.len() == (4 * SIZE[0] * SIZE[1]) as usize).then_some(rgba)
}

fn draw(scene: &GalleryScene, over: &AtomicBool) -> Option<Vec<u8>> {
    let parsed = Scene::from_toml(scene.source, scene.name).ok()?;
    let mut world = assemble(&parsed).ok()?;
    let begun = Instant::now();
    while begun.elapsed() < RUN {
        if over.load(Ordering::Relaxed) {
            return None;
        }
        world.step().ok()?;
    }
    let frame = world.frame();
    let shown = Shown::new(Arc::new(parsed.scene.clone()), Choice::of(&parsed.scene), &frame);
    let picture = shown.dress(&frame);
    let view = shown.stand(SIZE).view(picture.origin, SIZE);
    let quality = Quality { samples: 9, ..Quality::default() };
    Some(CpuRenderer::default().draw(&picture, &view, &shown.light(), &quality).ok()?.rgba)
}
