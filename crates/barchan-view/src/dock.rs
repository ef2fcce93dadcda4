//! Where the panels are: at a side, floating over the picture, or torn off into windows of their own.
//!
//! A panel's head says where it can go. One that floats is moved by its title; let go at a side of the window it docks there. Closing a window
//! of its own brings its panel back to the side that it came from.

use crate::app::App;
use crate::panel;
use crate::theme::{self, WEAK};
use egui::{
    Align, Context, Frame as Surround, Layout, Margin, Panel, RichText, ScrollArea, Ui, ViewportBuilder, ViewportId,
    vec2,
};

/// Where a panel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the left side.
    Left,
    /// At the right side.
    Right,
    /// Over the picture.
    Floating,
    /// In a window of its own.
    Window,
}

impl Place {
    /// Every place, with its name and what a button for it does.
    const ALL: [(Place, &'static str, &'static str); 4] = [
        (Place::Left, "left", "dock at the left side"),
        (Place::Right, "right", "dock at the right side"),
        (Place::Floating, "float", "float over the picture"),
        (Place::Window, "window", "tear off into a window of its own"),
    ];
}

/// A panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// What may be changed, and how it is shown.
    Values,
    /// What was picked, plots, timings.
    Numbers,
}

impl Which {
    const ALL: [Which; 2] = [Which::Values, Which::Numbers];

    fn title(self) -> &'static str {
        match self {
            Which::Values => "Values",
            Which::Numbers => "Numbers",
        }
    }

    fn width(self) -> f32 {
        match self {
            Which::Values => 262.0,
            Which::Numbers => 232.0,
        }
    }

    fn show(self, ui: &mut Ui, app: &mut App) {
        ui.push_id(self.title(), |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| match self {
                Which::Values => panel::values(ui, app),
                Which::Numbers => panel::numbers(ui, app),
            });
        });
    }
}

/// Where all panels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dock {
    places: [Place; 2],
    /// The sides that they were at last.
    sides: [Place; 2],
}

impl Default for Dock {
    fn default() -> Dock {
        let sides = [Place::Left, Place::Right];
        Dock { places: sides, sides }
    }
}

impl Dock {
    /// Where a panel is.
    pub fn place(&self, which: Which) -> Place {
        self.places[which as usize]
    }

    /// Puts a panel somewhere else.
    pub fn put(&mut self, which: Which, place: Place) {
        self.places[which as usize] = place;
        if matches!(place, Place::Left | Place::Right) {
            self.sides[which as usize] = place;
        }
    }

    /// Puts a panel back to the side that it was at last.
    pub fn put_back(&mut self, which: Which) {
        self.places[which as usize] = self.sides[which as usize];
    }

    fn at(&self, place: Place) -> Vec<Which> {
        Which::ALL.into_iter().filter(|w| self.place(*w) == place).collect()
    }
}

/// Width of the window from which on the numbers have room beside the picture.
const ROOM: f32 = 1000.0;
/// How near to a side a floating panel must be let go to dock there.
const NEAR: f32 = 24.0;

fn surround() -> Surround {
    Surround::new().fill(theme::PANEL).inner_margin(Margin::symmetric(12, 6))
}

/// The line at the top of a panel, by which it goes elsewhere.
fn head(ui: &mut Ui, app: &mut App, which: Which) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(which.title()).size(12.0).color(WEAK));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (place, name, about) in Place::ALL.into_iter().rev() {
                let chosen = app.dock.place(which) == place;
                let text = RichText::new(name).size(10.0).color(WEAK);
                if ui.selectable_label(chosen, text).on_hover_text(about).clicked() {
                    app.dock.put(which, place);
                }
            }
        });
    });
}

/// All panels: those at the sides take their room from `ui`.
pub fn show(ui: &mut Ui, app: &mut App) {
    let ctx = ui.ctx().clone();
    let width = ui.available_width();
    for side in [Place::Left, Place::Right] {
        let mut here = app.dock.at(side);
        // A narrow window keeps its picture.
        here.retain(|w| width > ROOM || *w == Which::Values);
        let Some(widest) = here.iter().map(|w| w.width()).reduce(f32::max) else { continue };
        let panel = if side == Place::Left { Panel::left("left side") } else { Panel::right("right side") };
        panel.frame(surround()).exact_size(widest).resizable(false).show(ui, |ui| {
            let share = ui.available_height() / here.len() as f32;
            for which in here {
                let size = vec2(ui.available_width(), share);
                ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
                    ui.set_max_height(share - 4.0);
                    head(ui, app, which);
                    which.show(ui, app);
                });
            }
        });
    }
    for which in app.dock.at(Place::Floating) {
        floating(&ctx, app, which);
    }
    for which in app.dock.at(Place::Window) {
        window(&ctx, app, which);
    }
}

fn floating(ctx: &Context, app: &mut App, which: Which) {
    let mut open = true;
    let window = egui::Window::new(which.title()).open(&mut open).default_size(vec2(which.width(), 420.0));
    let shown = window.show(ctx, |ui| {
        head(ui, app, which);
        which.show(ui, app);
    });
    if !open {
        app.dock.put_back(which);
    }
    // Let go at a side: it docks there.
    let Some(shown) = shown else { return };
    let whole = ctx.content_rect();
    let pointer = ctx.input(|i| i.pointer.latest_pos());
    if let (true, Some(at)) = (shown.response.drag_stopped(), pointer) {
        if at.x < whole.left() + NEAR {
            app.dock.put(which, Place::Left);
        } else if at.x > whole.right() - NEAR {
            app.dock.put(which, Place::Right);
        }
    }
}

fn window(ctx: &Context, app: &mut App, which: Which) {
    let title = format!("{} · barchan", which.title());
    let size = vec2(which.width() + 40.0, 640.0);
    let builder = ViewportBuilder::default().with_title(title).with_inner_size(size);
    ctx.show_viewport_immediate(ViewportId::from_hash_of(which.title()), builder, |ui, _| {
        egui::CentralPanel::default().frame(surround()).show(ui, |ui| {
            head(ui, app, which);
            which.show(ui, app);
        });
        if ui.ctx().input(|i| i.viewport().close_requested()) {
            app.dock.put_back(which);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_goes_back_to_the_side_that_it_was_at_last() {
        let mut dock = Dock::default();
        dock.put(Which::Values, Place::Right);
        dock.put(Which::Values, Place::Window);
        assert_eq!(dock.at(Place::Window), [Which::Values]);
        dock.put_back(Which::Values);
        assert_eq!(dock.at(Place::Right), [Which::Values, Which::Numbers]);
    }
}
