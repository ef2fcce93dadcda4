//! Small live plots: the last half minute of a number, and where the time of a step goes.

use crate::simulation::Stats;
use crate::theme::{self, ACCENT, CARD, WEAK, number};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Samples kept, and the wall-clock time between two.
const SAMPLES: usize = 300;
const EVERY: Duration = Duration::from_millis(100);

/// What is plotted: its name, unit and colour.
const ROWS: [(&str, &str, Color32); 6] = [
    ("Kinetic energy", "J", Color32::from_rgb(236, 150, 92)),
    ("Potential energy", "J", Color32::from_rgb(122, 168, 222)),
    ("Elastic energy", "J", Color32::from_rgb(190, 140, 214)),
    ("Contacts a grain", "", Color32::from_rgb(126, 192, 128)),
    ("Grains", "", Color32::from_rgb(210, 206, 196)),
    ("Rate against real time", "×", ACCENT),
];
/// Colours of the passes.
const PASSES: [Color32; 5] = [
    Color32::from_rgb(122, 168, 222),
    Color32::from_rgb(190, 140, 214),
    Color32::from_rgb(236, 150, 92),
    Color32::from_rgb(126, 192, 128),
    Color32::from_rgb(210, 206, 196),
];

/// The last half minute.
#[derive(Default)]
pub struct Plots {
    samples: VecDeque<[f64; ROWS.len()]>,
    last: Option<Instant>,
}

impl Plots {
    /// Takes note of the numbers, now and then.
    pub fn note(&mut self, stats: &Stats) {
        if self.last.is_some_and(|l| l.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let e = &stats.energies;
        let kinetic = e.translation + e.rotation;
        self.samples.push_back([kinetic, e.gravity, e.elastic, stats.contacts, stats.grains as f64, stats.real_time]);
        if self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// Draws all.
    pub fn show(&self, ui: &mut Ui, stats: &Stats) {
        theme::head(ui, "Live");
        for (row, (name, unit, colour)) in ROWS.iter().enumerate() {
            let now = self.samples.back().map_or(0.0, |s| s[row]);
            let text = match *name {
                "Grains" => grouped(stats.grains),
                "Rate against real time" => format!("{now:.3} ×"),
                _ if unit.is_empty() => format!("{now:.2}"),
                _ => number(now, unit),
            };
            plot(ui, name, &text, *colour, self.samples.iter().map(|s| s[row]));
        }
        theme::head(ui, "Time of a step");
        let all: f64 = stats.passes.iter().map(|p| p.1).sum();
        if all > 0.0 {
            passes(ui, &stats.passes, all);
        } else {
            ui.label(egui::RichText::new("no step taken yet").color(WEAK));
        }
    }
}

/// A whole number with its thousands apart.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(d);
    }
    out
}

fn plot(ui: &mut Ui, name: &str, now: &str, colour: Color32, values: impl Iterator<Item = f64> + Clone) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 46.0), Sense::hover());
    let painter = ui.painter();
    painter.rect_filled(rect, 5.0, CARD);
    let inner = Rect::from_min_max(rect.min + vec2(8.0, 21.0), rect.max - vec2(8.0, 6.0));
    painter.text(rect.min + vec2(8.0, 4.0), Align2::LEFT_TOP, name, FontId::proportional(12.0), WEAK);
    let right = pos2(rect.right() - 8.0, rect.top() + 3.0);
    painter.text(right, Align2::RIGHT_TOP, now, FontId::proportional(13.0), Color32::WHITE);
    let finite = || values.clone().filter(|v| v.is_finite());
    let (low, high) = finite().fold((0.0f64, f64::MIN_POSITIVE), |(a, b), v| (a.min(v), b.max(v)));
    let last = values.clone().count().saturating_sub(1);
    let place = |(i, v): (usize, f64)| -> Pos2 {
        let x = inner.right() - inner.width() * (last - i) as f32 / (SAMPLES - 1) as f32;
        let share = ((v - low) / (high - low)) as f32;
        pos2(x, inner.bottom() - inner.height() * share)
    };
    let line: Vec<Pos2> = values.clone().enumerate().filter(|(_, v)| v.is_finite()).map(place).collect();
    painter.add(Shape::line(line, Stroke::new(1.5, colour)));
}

fn passes(ui: &mut Ui, passes: &[(&'static str, f64)], all: f64) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 10.0), Sense::hover());
    let mut x = rect.left();
    for ((_, ms), colour) in passes.iter().zip(PASSES.into_iter().cycle()) {
        let width = rect.width() * (ms / all) as f32;
        let piece = Rect::from_min_size(pos2(x, rect.top()), vec2(width, rect.height()));
        ui.painter().rect_filled(piece, 0.0, colour);
        x += width;
    }
    egui::Grid::new("passes").num_columns(2).spacing(vec2(12.0, 3.0)).show(ui, |ui| {
        for ((name, ms), colour) in passes.iter().zip(PASSES.into_iter().cycle()) {
            ui.horizontal(|ui| {
                let (dot, _) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
                ui.painter().circle_filled(dot.center(), 4.0, colour);
                ui.label(*name);
            });
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(number(1e-3 * ms, "s"));
            });
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(16_000), "16\u{2009}000");
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
