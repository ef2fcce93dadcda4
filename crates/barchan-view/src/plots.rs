//! Small live plots: the last half minute of a number, and where the time of a step goes.

use crate::simulation::{Pass, Stats};
use crate::theme::{self, ACCENT, CARD, WEAK, number};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Samples kept, and the wall-clock time between two.
const SAMPLES: usize = 300;
const EVERY: Duration = Duration::from_millis(100);

/// Gauges that are plotted, where there are any; all of them are in the table of the state.
const GAUGES: [&str; 11] = [
    "coordination",
    "density error",
    "iterations",
    "largest speed",
    "solid mass",
    "liquid mass",
    "gas mass",
    "conversions",
    "largest filling",
    "pressure iterations",
    "friction iterations",
];
/// Colours of the rows in turn.
const ROWS: [Color32; 6] = [
    Color32::from_rgb(236, 150, 92),
    Color32::from_rgb(122, 168, 222),
    Color32::from_rgb(190, 140, 214),
    Color32::from_rgb(126, 192, 128),
    Color32::from_rgb(210, 206, 196),
    ACCENT,
];
/// Colours of the passes.
const PASSES: [Color32; 5] = [
    Color32::from_rgb(122, 168, 222),
    Color32::from_rgb(190, 140, 214),
    Color32::from_rgb(236, 150, 92),
    Color32::from_rgb(126, 192, 128),
    Color32::from_rgb(210, 206, 196),
];

/// A row at a time: its name, its unit and its value.
type Sample = (&'static str, &'static str, f64);

/// The last half minute.
#[derive(Default)]
pub struct Plots {
    samples: VecDeque<Vec<Sample>>,
    last: Option<Instant>,
}

impl Plots {
    /// Takes note of the numbers, now and then.
    pub fn note(&mut self, stats: &Stats) {
        if self.last.is_some_and(|l| l.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let now = sample(stats);
        // Another scene has other rows.
        if self.samples.back().is_some_and(|s| s.iter().map(|r| r.0).ne(now.iter().map(|r| r.0))) {
            self.samples.clear();
        }
        self.samples.push_back(now);
        if self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// Draws all.
    pub fn show(&self, ui: &mut Ui, stats: &Stats) {
        theme::head(ui, "Live");
        let rows = self.samples.back().map_or(&[][..], |s| &s[..]);
        for ((row, &(name, unit, now)), colour) in rows.iter().enumerate().zip(ROWS.into_iter().cycle()) {
            plot(ui, name, &gauged(now, unit), colour, self.samples.iter().map(|s| s[row].2));
        }
        theme::head(ui, "Time of a step");
        let all: f64 = stats.passes.iter().map(|p| p.ms).sum();
        if all > 0.0 {
            passes(ui, &stats.passes, all);
        } else {
            ui.label(egui::RichText::new("no step taken yet").color(WEAK));
        }
    }
}

/// What is plotted of a world. A continuum has no elastic energy and grains have no iterations: rows are those that mean something.
fn sample(stats: &Stats) -> Vec<Sample> {
    let e = &stats.energies;
    let mut rows = vec![("kinetic energy", "J", e.kinetic()), ("potential energy", "J", e.gravity)];
    let gauge = |name: &&str| stats.gauges.iter().find(|g| g.name == *name).map(|g| (g.name, g.unit, g.value));
    if gauge(&"coordination").is_some() {
        rows.push(("elastic energy", "J", e.elastic));
    }
    rows.extend(GAUGES.iter().filter_map(gauge));
    rows.extend([("pieces", "", stats.grains as f64), ("rate against real time", "×", stats.real_time)]);
    rows
}

/// A gauge's value in few characters.
pub fn gauged(value: f64, unit: &str) -> String {
    match (unit, value.fract() == 0.0 && value.abs() < 1e15) {
        ("×", _) => format!("{value:.3} ×"),
        ("", true) => grouped(value.abs() as usize).replacen("", if value < 0.0 { "−" } else { "" }, 1),
        ("", false) if value.abs() < 0.01 => format!("{value:.1e}"),
        ("", false) => format!("{value:.2}"),
        _ => number(value, unit),
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

fn passes(ui: &mut Ui, passes: &[Pass], all: f64) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 10.0), Sense::hover());
    let mut x = rect.left();
    for (pass, colour) in passes.iter().zip(PASSES.into_iter().cycle()) {
        let width = rect.width() * (pass.ms / all) as f32;
        let piece = Rect::from_min_size(pos2(x, rect.top()), vec2(width, rect.height()));
        ui.painter().rect_filled(piece, 0.0, colour);
        x += width;
    }
    let right = |ui: &mut Ui, text: String| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| ui.label(text));
    };
    egui::Grid::new("passes").num_columns(3).spacing(vec2(12.0, 3.0)).show(ui, |ui| {
        for (pass, colour) in passes.iter().zip(PASSES.into_iter().cycle()) {
            ui.horizontal(|ui| {
                let (dot, _) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
                ui.painter().circle_filled(dot.center(), 4.0, colour);
                ui.label(pass.name);
            });
            right(ui, number(1e-3 * pass.ms, "s"));
            // What runs more than once a step: how often, and what one run takes.
            let often = pass.runs > 1.01;
            right(
                ui,
                if often {
                    format!("{:.1} × {}", pass.runs, number(1e-3 * pass.ms / pass.runs, "s"))
                } else {
                    String::new()
                },
            );
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::solver::Gauge;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(16_000), "16\u{2009}000");
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }

    #[test]
    fn rows_are_those_that_the_solver_watches() {
        let names = |gauges: &[&'static str]| -> Vec<&str> {
            let gauges = gauges.iter().map(|name| Gauge { name, unit: "", value: 1.0 }).collect();
            sample(&Stats { gauges, ..Stats::default() }).iter().map(|s| s.0).collect()
        };
        let grains = names(&["coordination", "largest overlap"]);
        assert!(grains.contains(&"coordination") && grains.contains(&"elastic energy"));
        let continuum = names(&["density error", "iterations"]);
        assert!(continuum.contains(&"density error") && continuum.contains(&"iterations"));
        assert!(!continuum.contains(&"coordination") && !continuum.contains(&"elastic energy"));
    }
}
