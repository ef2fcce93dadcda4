//! The panels around the picture: bar, values, numbers, status.

use crate::app::{App, Content};
use crate::simulation::{Command, State};
use crate::stage::Picked;
use crate::theme::{self, ACCENT, ALARM, GOOD, WEAK, number};
use crate::touch::Tool;
use barchan_core::frame::{self, Frame};
use barchan_render::{ColourBy, Map, Show};
use barchan_scene::Background;
use egui::{Align, Button, Color32, Layout, Rect, RichText, Slider, Ui, vec2};

/// A slider behind its name.
pub fn row(ui: &mut Ui, name: &str, slider: Slider<'_>) -> egui::Response {
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = 70.0;
        label(ui, name);
        ui.add(slider)
    })
    .inner
}

/// A name of fixed width, so that what follows stands in a column.
fn label(ui: &mut Ui, name: &str) {
    ui.allocate_ui_with_layout(vec2(80.0, 24.0), Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(80.0);
        ui.label(name);
    });
}

/// The bar at the top.
pub fn bar(ui: &mut Ui, app: &mut App) {
    let ctx = ui.ctx().clone();
    ui.horizontal(|ui| {
        ui.label(RichText::new("barchan").size(18.0).color(ACCENT).strong());
        if matches!(app.content, Content::Gallery) {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| help_button(ui, app));
            return;
        }
        ui.add_space(4.0);
        if ui.button("Gallery").on_hover_text("G").clicked() {
            app.leave();
            return;
        }
        ui.separator();
        let playing = app.state() == Some(State::Playing);
        let alive = !matches!(app.state(), Some(State::Failed | State::Loading));
        let label = if playing { "Pause" } else { "Play" };
        if ui.add_enabled(alive, Button::new(label).min_size(vec2(64.0, 0.0))).on_hover_text("Space").clicked() {
            app.toggle();
        }
        if ui.add_enabled(alive, Button::new("Step")).on_hover_text("S").clicked() {
            app.step(1);
        }
        if ui.button("Reset").on_hover_text("R").clicked() {
            app.reset(&ctx);
        }
        speed(ui, app);
        if matches!(app.content, Content::Live(_)) {
            ui.separator();
            for (tool, name, about) in Tool::ALL {
                if ui.selectable_label(app.hand.tool == tool, name).on_hover_text(about).clicked() {
                    app.hand.tool = tool;
                }
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help_button(ui, app);
            if matches!(app.content, Content::Live(_))
                && ui
                    .add_enabled(alive, Button::new("Keep"))
                    .on_hover_text("keep the scene as it stands, to go on with it later")
                    .clicked()
            {
                app.save();
            }
            let (label, colour) = match &app.recording {
                Some(r) => (format!("Stop  {:.0} s", r.length().as_secs_f64()), ALARM),
                None => ("Record".to_string(), Color32::from_gray(220)),
            };
            let button = Button::new(RichText::new(label).color(colour));
            if ui.add_enabled(app.stage.is_some(), button).on_hover_text("a film of what is seen (P)").clicked() {
                app.record();
            }
        });
    });
}

fn help_button(ui: &mut Ui, app: &mut App) {
    if ui.selectable_label(app.help, "Help").on_hover_text("H").clicked() {
        app.help = !app.help;
    }
}

/// How fast it goes.
fn speed(ui: &mut Ui, app: &mut App) {
    let word = |speed: Option<f64>| match speed {
        None => "as fast as it goes".to_string(),
        Some(1.0) => "real time".to_string(),
        Some(s) if s >= 1.0 => format!("{s} ×"),
        Some(s) => format!("1/{:.0} ×", 1.0 / s),
    };
    let now = match &app.content {
        Content::Live(live) => live.sliders.speed,
        Content::Run(run) => Some(run.playback.speed),
        Content::Gallery => return,
    };
    let mut next = now;
    egui::ComboBox::from_id_salt("speed").selected_text(word(now)).width(132.0).show_ui(ui, |ui| {
        let mut choices: Vec<Option<f64>> = (-7..=2).rev().map(|p| Some(f64::from(p).exp2())).collect();
        if matches!(app.content, Content::Live(_)) {
            choices.insert(0, None);
        }
        for choice in choices {
            ui.selectable_value(&mut next, choice, word(choice));
        }
    });
    if next != now {
        match &mut app.content {
            Content::Live(live) => {
                live.sliders.speed = next;
                live.simulation.send(Command::Speed(next));
            }
            Content::Run(run) => run.playback.speed = next.unwrap_or(1.0),
            Content::Gallery => {}
        }
    }
}

/// The panel on the left: what may be changed, and how it is shown.
pub fn values(ui: &mut Ui, app: &mut App) {
    if let Content::Live(live) = &mut app.content {
        let live = &mut **live;
        let alive = !matches!(live.published.state, State::Failed | State::Loading);
        let commands = ui.add_enabled_ui(alive, |ui| live.sliders.show(ui)).inner;
        commands.into_iter().for_each(|c| live.simulation.send(c));
        if app.hand.tool != Tool::Look {
            theme::head(ui, "Touch");
            row(ui, "Reach", Slider::new(&mut app.hand.reach, 2.0..=40.0).suffix(" grains").fixed_decimals(0));
        }
    }
    theme::head(ui, "Colours");
    if let Some(stage) = &mut app.stage {
        let mut choice = stage.shown.choice().clone();
        let width = 132.0;
        choose(ui, "By", |ui| {
            egui::ComboBox::from_id_salt("by").selected_text(choice.by.name()).width(width).show_ui(ui, |ui| {
                for name in ColourBy::NAMES.iter().copied().chain(columns(&stage.frame)) {
                    ui.selectable_value(&mut choice.by, ColourBy::named(name), name);
                }
            });
        });
        // Names are for what there is: a scene of grains alone has no choice but its grains, unless they are snow.
        if choice.snow.is_some() || stage.frame.populations.iter().any(|p| p.name != frame::GRAINS) {
            choose(ui, "Matter", |ui| {
                let name = Show::NAMES.iter().find(|s| s.1 == choice.show).map_or("", |s| s.0);
                egui::ComboBox::from_id_salt("show").selected_text(name).width(width).show_ui(ui, |ui| {
                    for (name, show) in Show::NAMES {
                        ui.selectable_value(&mut choice.show, *show, *name);
                    }
                });
            });
        }
        choose(ui, "Scale", |ui| {
            let name = Map::NAMES.iter().find(|m| m.1 == choice.map).map_or("", |m| m.0);
            egui::ComboBox::from_id_salt("map").selected_text(name).width(width).show_ui(ui, |ui| {
                for (name, map) in Map::NAMES {
                    ui.selectable_value(&mut choice.map, *map, *name);
                }
            });
        });
        choose(ui, "Behind", |ui| {
            let all = [(Background::Day, "day"), (Background::Paper, "paper"), (Background::Dark, "dark")];
            let name = all.iter().find(|b| b.0 == choice.background).map_or("", |b| b.1);
            egui::ComboBox::from_id_salt("back").selected_text(name).width(width).show_ui(ui, |ui| {
                for (background, name) in all {
                    ui.selectable_value(&mut choice.background, background, name);
                }
            });
        });
        if !stage.frame.pairs.is_empty() {
            let names: Vec<&str> = stage.frame.pairs.iter().map(|p| p.name.as_str()).collect();
            ui.checkbox(&mut choice.pairs, format!("Lines: {}", names.join(", ")));
        }
        if !stage.frame.grids.is_empty() {
            let names: Vec<&str> = stage.frame.grids.iter().map(|g| g.name.as_str()).collect();
            ui.checkbox(&mut choice.grids, format!("Boxes: {}", names.join(", ")));
        }
        if stage.frame.populations.iter().any(|p| p.extra("phase").is_some()) {
            choose(ui, "Hide", |ui| {
                for (hidden, name) in choice.hidden.iter_mut().zip(["solid", "liquid", "gas"]) {
                    ui.checkbox(hidden, name);
                }
            });
        }
        ui.checkbox(&mut choice.cut, "Cut open").on_hover_text("matter before a plane is left out");
        if choice.cut {
            row(ui, "Cut at", Slider::new(&mut choice.cut_at, 0.0..=1.0).fixed_decimals(2));
        }
        ui.checkbox(&mut choice.wires, "Wireframe").on_hover_text("walls, bodies and skins as edges");
        if let Some([bump, glitter]) = &mut choice.snow {
            ui.add(egui::Slider::new(bump, 0.0..=4.0).text("bumps")).on_hover_text("of snow");
            ui.add(egui::Slider::new(glitter, 0.0..=1.0).text("glitter")).on_hover_text("of snow");
        }
        if stage.frame.ground.is_some() || choice.fog.is_some() {
            let mut foggy = choice.fog.is_some();
            if ui.checkbox(&mut foggy, "Fog").changed() {
                let extent = stage.frame.ground.as_ref().map_or(1000.0, |g| g.cell * g.size[0].max(g.size[1]) as f64);
                choice.fog = foggy.then_some(2.0 * extent as f32);
            }
            if let Some(reach) = &mut choice.fog {
                let slider = egui::Slider::new(reach, 1.0..=100_000.0).logarithmic(true).suffix(" m");
                ui.add(slider).on_hover_text("distance at which 1/e of the light is left");
            }
        }
        if choice != *stage.shown.choice() {
            stage.choose(choice);
        }
    }
    ui.checkbox(&mut app.effects.shadows, "Shadows");
    ui.checkbox(&mut app.effects.occlusion, "Dark gaps between grains");
    if let Some(stage) = &mut app.stage
        && ui.button("Frame the scene").on_hover_text("F").clicked()
    {
        stage.frame_all();
    }
}

/// Columns of a frame to colour by that have no other name.
fn columns(frame: &Frame) -> Vec<&str> {
    let of_populations = frame.populations.iter().flat_map(|p| &p.extras);
    let extras = of_populations.chain(frame.surfaces.iter().flat_map(|s| &s.extras));
    let mut names: Vec<&str> = extras.map(|e| e.name.as_str()).collect();
    names.retain(|name| !ColourBy::NAMES.contains(name) && *name != "normal_force");
    names.sort_unstable();
    names.dedup();
    names
}

fn choose(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        label(ui, name);
        add(ui);
    });
}

/// The panel on the right: what was picked, plots, timings.
pub fn numbers(ui: &mut Ui, app: &mut App) {
    grain(ui, app);
    match &app.content {
        Content::Live(live) => {
            app.plots.show(ui, &live.published.stats);
            let stats = &live.published.stats;
            theme::head(ui, "State");
            let mut rows = vec![
                ("world step", number(stats.dt, "s")),
                ("steps", crate::plots::grouped(stats.step as usize)),
                ("mass", number(1e3 * stats.mass, "g")),
                ("pictures a second", format!("{:.0}", 1.0 / app.canvas.cost().max(1e-3))),
                ("memory", number(stats.memory as f64, "B")),
                ("hash", stats.hash.map_or("when paused".into(), |h| format!("{:08x}", h >> 32))),
            ];
            rows.extend(stats.gauges.iter().map(|g| (g.name, crate::plots::gauged(g.value, g.unit))));
            pairs(ui, "state", &rows);
            app.slices.show(ui, live.published.epoch, &live.published.maps);
        }
        Content::Run(run) => {
            theme::head(ui, "Run");
            let (at, many) = run.playback.place();
            let mut rows = vec![("frame", format!("{} of {many}", at + 1))];
            let populations = app.stage.iter().flat_map(|s| &s.frame.populations);
            rows.extend(populations.map(|p| (p.name.as_str(), crate::plots::grouped(p.len()))));
            pairs(ui, "run", &rows);
            for note in run.playback.notes() {
                ui.label(RichText::new(note).size(12.0).color(ALARM));
            }
        }
        Content::Gallery => {}
    }
}

fn pairs(ui: &mut Ui, name: &str, rows: &[(&str, String)]) {
    egui::Grid::new(name).num_columns(2).spacing(vec2(10.0, 3.0)).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(*name).color(WEAK));
            ui.label(RichText::new(value).monospace().size(12.0));
            ui.end_row();
        }
    });
}

/// What is known of the grain, or of the place on the ground, that was picked.
fn grain(ui: &mut Ui, app: &mut App) {
    if let Some((x, over)) = app.stage.as_ref().and_then(|s| s.picked_ground()) {
        theme::head(ui, "Ground");
        let floor = app.stage.as_ref().and_then(|s| s.frame.ground.as_ref()).map_or(0.0, |g| g.origin.z);
        pairs(
            ui,
            "ground",
            &[
                ("height", number(x.z - floor, "m")),
                ("slope", format!("{:.1}°", over.slope.length().atan().to_degrees())),
                ("at", format!("{:.1} {:.1} {:.1} mm", 1e3 * x.x, 1e3 * x.y, 1e3 * x.z)),
            ],
        );
        return;
    }
    theme::head(ui, "Grain");
    let picked = app.stage.as_ref().and_then(|s| Some((s.picked?, s.picked_row()?, s)));
    let Some((Picked::Grain(who), (f, row), stage)) = picked else {
        ui.label(RichText::new("Click a grain, or the ground, to read it.").color(WEAK));
        return;
    };
    let x = f.position[row];
    let materials = &stage.frame.materials;
    let mut rows = vec![
        ("id", f.id[row].to_string()),
        ("material", materials.get(f.material[row] as usize).cloned().unwrap_or_default()),
        ("radius", number(f.radius[row], "m")),
        ("speed", number(f.velocity[row].length(), "m/s")),
        ("spin", number(f.spin_of(row).length(), "rad/s")),
    ];
    for extra in &f.extras {
        let value = extra.values.number(row);
        rows.push(match extra.name.as_str() {
            "normal_force" => ("force", number(value, "N")),
            "coordination" => ("contacts", format!("{value:.0}")),
            name if matches!(extra.values, frame::Values::U32(_)) => (name, format!("{value:.0}")),
            name => (name, number(value, &extra.unit)),
        });
    }
    rows.push(("at", format!("{:.1} {:.1} {:.1} mm", 1e3 * x.x, 1e3 * x.y, 1e3 * x.z)));
    if stage.frame.populations.len() > 1 {
        rows.insert(0, ("one of", f.name.clone()));
    }
    pairs(ui, "grain", &rows);
    let Some(stage) = &mut app.stage else { return };
    let mut follows = stage.eye.is_some_and(|e| e.follows.is_some());
    if ui.checkbox(&mut follows, "Follow it").changed()
        && let Some(eye) = &mut stage.eye
    {
        eye.follows = follows.then_some((who, x));
    }
}

/// The line at the foot; for a finished run, the bar to scrub along it.
pub fn status(ui: &mut Ui, app: &mut App) {
    if let Content::Run(run) = &mut app.content
        && let Some([from, to]) = run.playback.span()
    {
        let mut time = run.playback.time();
        ui.spacing_mut().slider_width = ui.available_width() - 4.0;
        let slider = Slider::new(&mut time, from..=to).show_value(false).trailing_fill(true);
        if ui.add(slider).changed() {
            run.playback.playing = false;
            run.playback.seek(time);
        }
    }
    ui.horizontal(|ui| {
        let state = app.state().unwrap_or_default();
        let colour = match state {
            State::Playing => GOOD,
            State::Failed => ALARM,
            State::Loading | State::Paused | State::Finished => WEAK,
        };
        let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), egui::Sense::hover());
        ui.painter().circle_filled(dot.center(), 4.5, colour);
        ui.label(RichText::new(app.name()).strong());
        ui.label(state.name());
        let (time, end) = match &app.content {
            Content::Live(live) => (live.published.stats.time, live.published.stats.duration),
            Content::Run(run) => (run.playback.time(), run.playback.span().map_or(0.0, |s| s[1])),
            Content::Gallery => (0.0, 0.0),
        };
        ui.label(RichText::new(format!("t = {time:.3} s of {end:.3} s")).monospace());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let text = match (&app.word, app.canvas.excuse()) {
                (Some(word), _) => RichText::new(&word.text).color(if word.bad { ALARM } else { ACCENT }),
                (None, Some(excuse)) => RichText::new(excuse).color(WEAK).size(12.0),
                (None, None) => {
                    let drawn = format!("{} · {:.0} ms a picture", app.canvas.name(), 1e3 * app.canvas.cost());
                    RichText::new(drawn).color(WEAK).size(12.0)
                }
            };
            let full = text.text().to_string();
            ui.add(egui::Label::new(text).truncate()).on_hover_text(full);
        });
    });
}

/// What failed: over the picture where there is one, else instead of it. Returns what is left for the picture.
pub fn failure(ui: &mut Ui, message: &str, picture: bool) -> Rect {
    let all = ui.available_rect_before_wrap();
    let share = if picture { 0.35 } else { 1.0 };
    let height = (all.height() * share).max(120.0).min(all.height());
    let top = Rect::from_min_size(all.min, vec2(all.width(), height));
    let mut place = ui.new_child(egui::UiBuilder::new().max_rect(top.shrink(22.0)));
    place.label(RichText::new("This did not work").size(19.0).color(ALARM));
    egui::ScrollArea::both().auto_shrink(false).show(&mut place, |ui| {
        ui.label(RichText::new(message).monospace());
    });
    Rect::from_min_max(egui::pos2(all.left(), top.bottom()), all.max)
}

/// While a scene is read.
pub fn waiting(ui: &mut Ui) {
    ui.centered_and_justified(|ui| {
        ui.label(RichText::new("grains are being placed …").size(16.0).color(WEAK));
    });
}
