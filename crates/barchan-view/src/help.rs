//! The help sheet.

use crate::theme::{ACCENT, WEAK};
use egui::{Align2, RichText, vec2};

/// Keys and what they do, in groups.
pub const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "Run",
        &[
            ("Space", "play, pause"),
            ("S  Right", "one step"),
            ("Left", "one frame back (playback)"),
            ("R", "reset; read a changed scene file anew"),
            ("P", "record a film, stop recording"),
            ("G", "gallery"),
        ],
    ),
    (
        "Look",
        &[
            ("Drag", "orbit (right button: with every tool)"),
            ("Shift or middle drag", "pan"),
            ("Wheel", "nearer, farther"),
            ("W X A D Q E", "fly forward, back, left, right, down, up"),
            ("F", "frame the scene"),
            ("C", "next colours"),
            ("Click", "read a grain"),
            ("Double click", "follow a grain"),
        ],
    ),
    (
        "Touch",
        &[
            ("1", "look"),
            ("2", "push the sand"),
            ("3", "pour where the mouse points"),
            ("4", "drop a ball"),
            ("5", "dig"),
            ("6", "cut"),
            ("7", "charge"),
            ("[  ]", "smaller, larger reach"),
        ],
    ),
    ("Window", &[("Ctrl Q", "quit"), ("H  ?", "this sheet"), ("Esc", "close the sheet, let go, back to the gallery")]),
];

/// Shows the sheet while `open`.
pub fn show(ctx: &egui::Context, open: &mut bool) {
    egui::Window::new("Keys and mouse")
        .open(open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .show(ctx, |ui| {
            ui.horizontal_top(|ui| {
                for (column, groups) in KEYS.chunks(2).enumerate() {
                    ui.add_space(10.0);
                    egui::Grid::new(("keys", column)).num_columns(2).spacing(vec2(18.0, 4.0)).show(ui, |ui| {
                        for (group, keys) in groups {
                            ui.label(RichText::new(group.to_uppercase()).size(11.5).color(WEAK).strong());
                            ui.end_row();
                            for (key, does) in *keys {
                                ui.label(RichText::new(*key).color(ACCENT));
                                ui.label(*does);
                                ui.end_row();
                            }
                        }
                    });
                    ui.add_space(10.0);
                }
            });
        });
}
