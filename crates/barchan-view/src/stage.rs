//! What is on show: the frame, its picture, the eye, what was picked.

use crate::canvas::{Canvas, Effects};
use crate::eye::{Eye, Who, ground, pick};
use crate::record::Shot;
use crate::shown::{Choice, Shown};
use crate::theme::{ACCENT, ALARM};
use crate::touch::{Hand, Pointer, Tool, point};
use barchan_core::frame::{Frame, Population};
use barchan_core::relief::Over;
use barchan_render::Picture;
use barchan_scene::Parsed;
use egui::{Color32, PointerButton, Rect, Response, Sense, Stroke, Ui, pos2, vec2};
use glam::{DVec2, DVec3};
use std::sync::Arc;

use crate::simulation::Command;

/// What is on show.
pub struct Stage {
    /// Its looks.
    pub shown: Shown,
    /// What there is to see.
    pub frame: Arc<Frame>,
    picture: Picture,
    serial: u64,
    /// From where it is seen; none until its place in the window is known.
    pub eye: Option<Eye>,
    /// What is read.
    pub picked: Option<Picked>,
    size: [u32; 2],
}

/// What was picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Picked {
    /// A grain.
    Grain(Who),
    /// The ground over a place [m].
    Ground(DVec2),
}

/// What the stage is told by the rest of the window.
pub struct Staging<'a> {
    /// What draws.
    pub canvas: &'a mut Canvas,
    /// What the pointer does; only looks where nothing can be touched.
    pub hand: &'a mut Hand,
    /// Shadows and gaps.
    pub effects: Effects,
    /// Radius of a grain [m], and the direction against gravity.
    pub grain: Option<(f64, DVec3)>,
}

impl Stage {
    /// A new scene on show.
    pub fn new(scene: Arc<Parsed>, frame: Arc<Frame>) -> Stage {
        let shown = Shown::new(scene.clone(), Choice::of(&scene), &frame);
        let picture = shown.dress(&frame);
        Stage { shown, frame, picture, serial: 0, eye: None, picked: None, size: [16, 16] }
    }

    /// Shows another frame.
    pub fn set_frame(&mut self, frame: Arc<Frame>) {
        if !Arc::ptr_eq(&frame, &self.frame) {
            self.frame = frame;
            self.shown.see(&self.frame);
            if let Some(eye) = &mut self.eye {
                eye.follow(&self.frame);
            }
            self.dress();
        }
    }

    /// Shows it in other looks.
    pub fn choose(&mut self, choice: Choice) {
        self.shown.choose(choice, &self.frame);
        self.dress();
    }

    fn dress(&mut self) {
        self.picture = self.shown.dress(&self.frame);
        self.serial += 1;
    }

    /// Brings everything into view.
    pub fn frame_all(&mut self) {
        self.eye = Some(Eye::at(self.shown.stand(self.size)));
    }

    /// The grain that is read: its population, and its row there.
    pub fn picked_row(&self) -> Option<(&Population, usize)> {
        let Some(Picked::Grain(who)) = self.picked else { return None };
        who.find(&self.frame)
    }

    /// The place on the ground that is read [m], and the ground there.
    pub fn picked_ground(&self) -> Option<(DVec3, Over)> {
        let Some(Picked::Ground(at)) = self.picked else { return None };
        let over = self.frame.ground.as_ref()?.over(at.x, at.y)?;
        Some((at.extend(over.z), over))
    }

    /// What a film shows now.
    pub fn shot(&self) -> Option<Shot> {
        let view = self.eye?.stand.view(self.picture.origin, self.size);
        let bar = self.shown.bar();
        Some(Shot { picture: self.picture.clone(), view, light: self.shown.light(), bar, time: self.frame.time })
    }

    /// Size of the picture [pixels].
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Fills the rest of `ui`; gives what the hand asks for, and what went wrong in drawing.
    pub fn show(&mut self, ui: &mut Ui, mut staging: Staging<'_>) -> (Vec<Command>, Option<String>) {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let pixels = ui.ctx().pixels_per_point();
        self.size = [rect.width(), rect.height()].map(|n| ((n * pixels) as u32).clamp(16, 8192));
        let stand = self.shown.stand(self.size);
        let mut eye = *self.eye.get_or_insert(Eye::at(stand));
        let commands = self.steer(ui, &response, rect, &mut eye, &mut staging);
        self.eye = Some(eye);
        let view = eye.stand.view(self.picture.origin, self.size);
        let light = self.shown.light();
        let drawn = staging.canvas.draw(ui.ctx(), (self.serial, &self.picture), view, light, staging.effects);
        let failed = match drawn {
            Ok(Some(texture)) => {
                let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
                ui.painter().image(texture, rect, whole, Color32::WHITE);
                None
            }
            Ok(None) => None,
            Err(e) => Some(e.to_string()),
        };
        self.mark(ui, rect, &eye);
        self.legend(ui, rect);
        if let (Some((grain, _)), Some(at)) = (staging.grain, response.hover_pos())
            && staging.hand.tool != Tool::Look
        {
            let ray = eye.ray(place(rect, at), f64::from(rect.aspect_ratio()));
            let there = point(&self.frame, &eye, ray, self.shown.floor());
            let radius = self.pixels(&eye, there, staging.hand.reach * grain, rect);
            ui.painter().circle_stroke(at, radius, Stroke::new(1.5, ACCENT));
        }
        (commands, failed)
    }

    /// How long a length [m] at a point is in the window.
    fn pixels(&self, eye: &Eye, at: DVec3, length: f64, rect: Rect) -> f32 {
        let depth = (at - eye.stand.eye).dot(eye.stand.axes()[2]).max(1e-9);
        (0.5 * f64::from(rect.height()) * length / (depth * (0.5 * eye.stand.field).tan())) as f32
    }

    fn steer(
        &mut self,
        ui: &Ui,
        response: &Response,
        rect: Rect,
        eye: &mut Eye,
        staging: &mut Staging<'_>,
    ) -> Vec<Command> {
        let height = f64::from(rect.height().max(1.0));
        let drag = response.drag_delta();
        let (right, down) = (f64::from(drag.x) / height, f64::from(drag.y) / height);
        let shift = ui.input(|i| i.modifiers.shift);
        let touches = staging.hand.tool != Tool::Look && staging.grain.is_some();
        let left = response.dragged_by(PointerButton::Primary);
        if response.dragged_by(PointerButton::Middle) || (left && shift) {
            eye.pan(right, down);
        } else if response.dragged_by(PointerButton::Secondary) || (left && !touches) {
            eye.orbit(right, down);
        }
        if response.hovered() {
            let wheel = ui.input(|i| i.smooth_scroll_delta().y + 120.0 * (i.zoom_delta() - 1.0));
            if wheel != 0.0 {
                eye.zoom(f64::from(-wheel * 0.004).exp());
            }
        }
        let keys = [
            (egui::Key::D, DVec3::X),
            (egui::Key::A, DVec3::NEG_X),
            (egui::Key::E, DVec3::Y),
            (egui::Key::Q, DVec3::NEG_Y),
            (egui::Key::W, DVec3::Z),
            (egui::Key::X, DVec3::NEG_Z),
        ];
        let free = ui.ctx().memory(|m| m.focused().is_none());
        let flies: DVec3 = ui.input(|i| keys.iter().filter(|k| i.key_down(k.0)).map(|k| k.1).sum());
        let seconds = f64::from(ui.input(|i| i.stable_dt)).min(0.1);
        if free && flies != DVec3::ZERO {
            eye.fly(flies, seconds);
            ui.ctx().request_repaint();
        }
        let Some(at) = response.interact_pointer_pos().or_else(|| response.hover_pos()) else { return Vec::new() };
        let ray = eye.ray(place(rect, at), f64::from(rect.aspect_ratio()));
        if !touches {
            if response.clicked() || response.double_clicked() {
                let from = eye.stand.eye;
                let ground = ground(&self.frame, from, ray);
                let hidden = |x: &DVec3| ground.is_some_and(|g| g.distance(from) < x.distance(from));
                let met = pick(&self.frame, from, ray).filter(|(_, x)| !hidden(x)).map(|(g, _)| g);
                let grain = met.map(Picked::Grain);
                self.picked = grain.or(ground.map(|g| Picked::Ground(g.truncate())));
                if let (true, Some(who)) = (response.double_clicked(), met)
                    && let Some((population, row)) = who.find(&self.frame)
                {
                    eye.follows = Some((who, population.position[row]));
                }
            }
            return Vec::new();
        }
        let Some((grain, up)) = staging.grain else { return Vec::new() };
        let down = response.is_pointer_button_down_on() && ui.input(|i| i.pointer.primary_down()) && !shift;
        let pressed = down && ui.input(|i| i.pointer.primary_pressed());
        if down {
            ui.ctx().request_repaint();
        }
        let pointer = Pointer { ray, pressed, down, seconds };
        staging.hand.act(&self.frame, eye, pointer, (self.shown.floor(), grain, up)).into_iter().collect()
    }

    /// A ring round what is read.
    fn mark(&self, ui: &Ui, rect: Rect, eye: &Eye) {
        let (at, radius) = if let Some((population, row)) = self.picked_row() {
            let shape = population.shape_of(row);
            (population.position[row], population.radius[row] * shape.bounding_radius())
        } else if let Some((at, _)) = self.picked_ground() {
            (at, 0.0)
        } else {
            return;
        };
        if let Some((p, _)) = eye.project(at, f64::from(rect.aspect_ratio())) {
            let centre = rect.center() + vec2(p[0] as f32 * 0.5 * rect.width(), -p[1] as f32 * 0.5 * rect.height());
            let ring = self.pixels(eye, at, radius, rect).max(4.0) + 3.0;
            let painter = ui.painter().with_clip_rect(rect);
            painter.circle_stroke(centre, ring, Stroke::new(3.5, Color32::from_black_alpha(120)));
            let colour = if eye.follows.is_some() { ALARM } else { ACCENT };
            painter.circle_stroke(centre, ring, Stroke::new(1.8, colour));
        }
    }

    /// What the colours stand for.
    fn legend(&self, ui: &Ui, rect: Rect) {
        let Some(bar) = self.shown.bar() else { return };
        let card = Rect::from_min_size(rect.right_bottom() - vec2(252.0, 66.0), vec2(238.0, 52.0));
        if !rect.contains_rect(card) {
            return;
        }
        let painter = ui.painter();
        painter.rect_filled(card, 6.0, Color32::from_rgba_unmultiplied(20, 21, 24, 205));
        let strip = Rect::from_min_size(card.min + vec2(12.0, 25.0), vec2(card.width() - 24.0, 8.0));
        let mut mesh = egui::Mesh::default();
        for i in 0..=48u32 {
            let share = i as f32 / 48.0;
            let c = bar.map.srgb(share) * 255.0;
            let colour = Color32::from_rgb(c.x as u8, c.y as u8, c.z as u8);
            let x = strip.left() + share * strip.width();
            mesh.colored_vertex(pos2(x, strip.top()), colour);
            mesh.colored_vertex(pos2(x, strip.bottom()), colour);
            if i > 0 {
                mesh.add_triangle(2 * i - 2, 2 * i - 1, 2 * i);
                mesh.add_triangle(2 * i - 1, 2 * i, 2 * i + 1);
            }
        }
        painter.add(egui::Shape::mesh(mesh));
        let font = egui::FontId::proportional(12.0);
        let number = |v: f32| crate::theme::number(f64::from(v), &bar.unit);
        let text = |at, align, text: String| painter.text(at, align, text, font.clone(), Color32::from_gray(225));
        text(card.min + vec2(12.0, 6.0), egui::Align2::LEFT_TOP, bar.label.clone());
        text(strip.left_bottom() + vec2(0.0, 2.0), egui::Align2::LEFT_TOP, number(bar.range[0]));
        text(strip.right_bottom() + vec2(0.0, 2.0), egui::Align2::RIGHT_TOP, number(bar.range[1]));
    }
}

/// A place in the window as the eye reckons it: −1 to 1, up is positive.
fn place(rect: Rect, at: egui::Pos2) -> [f64; 2] {
    let p = (at - rect.center()) / (0.5 * rect.size());
    [f64::from(p.x), f64::from(-p.y)]
}
