//! The gallery: a card a scene, with its small picture.

use crate::simulation::Source;
use crate::theme::{ACCENT, CARD, WEAK};
use barchan_io::png;
use barchan_scene::{GalleryScene, gallery};
use egui::{Align2, Color32, ColorImage, FontId, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

/// Height of a card's picture over its width.
const ASPECT: f32 = 9.0 / 16.0;

/// The small pictures, once they have been shown.
#[derive(Default)]
pub struct Gallery {
    pictures: Vec<(&'static str, egui::TextureHandle)>,
}

impl Gallery {
    /// The cards; gives the scene that was chosen.
    pub fn show(&mut self, ui: &mut Ui) -> Option<Source> {
        self.load(ui.ctx());
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

    fn load(&mut self, ctx: &egui::Context) {
        if !self.pictures.is_empty() {
            return;
        }
        for scene in gallery() {
            if let Some((width, height, rgba)) = png::decode(scene.card) {
                let image = ColorImage::from_rgba_unmultiplied([width as usize, height as usize], &rgba);
                let texture = ctx.load_texture(scene.name, image, egui::TextureOptions::LINEAR);
                self.pictures.push((scene.name, texture));
            }
        }
    }

    fn card(&self, ui: &mut Ui, scene: &GalleryScene, width: f32) -> bool {
        let height = width * ASPECT;
        let (rect, response) = ui.allocate_exact_size(vec2(width, height + 66.0), Sense::click());
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        painter.rect_filled(rect, 7.0, CARD);
        let picture = Rect::from_min_size(rect.min, vec2(width, height));
        if let Some((_, texture)) = self.pictures.iter().find(|p| p.0 == scene.name) {
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            painter.image(texture.id(), picture, whole, Color32::WHITE);
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
