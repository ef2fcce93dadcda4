//! The sliders over what may be changed while a scene runs.
//!
//! A slider shows a rounded number on a short scale, and the world may have any number. So a slider gets a copy, and what it
//! makes of that counts only where it differs from the number shown: a value that nobody touches stays as it is, bit for bit.

use crate::panel::row;
use crate::simulation::{Command, Fresh, Values};
use crate::theme::{self, ACCENT};
use barchan_core::solver::Knob;
use barchan_scene::Parsed;
use egui::emath::round_to_decimals;
use egui::{DragValue, RichText, Slider, SliderClamping, Ui};
use std::time::{Duration, Instant};

/// How long the user's own numbers stand before the simulation's replace them: it may take that long to answer.
const HELD: Duration = Duration::from_millis(500);
/// Mark of what takes a reset to come into force.
const AT_RESET: &str = "*";

/// Largest ratio of the ends of a scale that is divided evenly; beyond it powers of ten are.
const EVEN: f64 = 100.0;

/// A scale: its ends where the scene's value is between them, and the decimals it shows.
struct Scale {
    ends: [f64; 2],
    decimals: usize,
    suffix: &'static str,
}

const GRAVITY: Scale = Scale { ends: [-25.0, 25.0], decimals: 1, suffix: " m/s²" };
const PACE: Scale = Scale { ends: [0.0, 3.0], decimals: 2, suffix: " ×" };
const FRICTION: Scale = Scale { ends: [0.0, 1.5], decimals: 2, suffix: "" };
const RESTITUTION: Scale = Scale { ends: [0.05, 1.0], decimals: 2, suffix: "" };

impl Scale {
    /// The ends, farther apart where that takes to hold the scene's value and the one at present. The scene's belongs to it,
    /// or the scale would shrink under the hand that pulls back from its end.
    fn holding(&self, scene: f64, now: f64) -> [f64; 2] {
        [self.ends[0].min(scene).min(now), self.ends[1].max(scene).max(now)]
    }

    /// Shows the slider of a value; the value changes only if a hand gave it another one than was shown.
    fn show(&self, ui: &mut Ui, name: &str, about: &str, scene: f64, value: &mut f64) {
        let [low, high] = self.holding(scene, *value);
        let mut copy = *value;
        let slider = Slider::new(&mut copy, low..=high).clamping(SliderClamping::Edits);
        let slider = slider.suffix(self.suffix).fixed_decimals(self.decimals);
        let shown = row(ui, name, slider.logarithmic(low > 0.0 && high > EVEN * low));
        if !about.is_empty() {
            shown.on_hover_text(about);
        }
        // A number field that is entered and left returns the digits it showed.
        if copy != *value && copy != round_to_decimals(*value, self.decimals) {
            *value = copy.clamp(low, high);
        }
    }

    /// The scale of a knob, and what its value is multiplied by to be shown: degrees for radians, milliseconds for seconds.
    fn of(knob: &Knob) -> (Scale, f64) {
        let (suffix, times, decimals) = match knob.unit {
            "rad" => ("°", 1f64.to_degrees(), 1),
            "s" => (" ms", 1e3, 2),
            "Pa" => (" Pa", 1.0, 0),
            "m/s" => (" m/s", 1.0, 1),
            "kg/m³" => (" kg/m³", 1.0, 2),
            "×" => (" ×", 1.0, 2),
            _ => ("", 1.0, 2),
        };
        // A number far below one needs digits of its own.
        let small = if knob.range[0] > 0.0 { (-knob.range[0].log10()).ceil().max(0.0) as usize } else { 0 };
        let decimals = if times == 1.0 { decimals.max(small) } else { decimals };
        (Scale { ends: knob.range.map(|end| end * times), decimals, suffix }, times)
    }
}

/// Values as the sliders have them.
#[derive(Clone, Debug)]
pub struct Sliders {
    values: Values,
    /// The scene's own values: its gravity is what the tilt is reckoned from.
    scene: Option<Values>,
    /// With what the next reset begins.
    pub fresh: Fresh,
    /// Spacing [m] and density of grains [kg/m³] of the scene's continuum.
    matter: Option<[f64; 2]>,
    /// Simulated seconds a second; none for as fast as it goes.
    pub speed: Option<f64>,
    touched: Option<Instant>,
}

impl Default for Sliders {
    fn default() -> Sliders {
        let (values, fresh) = (Values::default(), Fresh::default());
        Sliders { values, scene: None, fresh, matter: None, speed: Some(1.0), touched: None }
    }
}

impl Sliders {
    /// Takes over what the simulation has, unless the user is at it.
    pub fn take(&mut self, values: &Values, scene: Option<&Parsed>) {
        let matter = scene.and_then(|s| s.continuum.first()).map(|m| [m.spacing, m.density]);
        self.matter = self.matter.or(matter);
        if self.touched.is_none_or(|t| t.elapsed() > HELD) {
            self.values.clone_from(values);
            if self.scene.is_none() && !values.materials.is_empty() {
                self.scene = Some(values.clone());
            }
        }
    }

    /// Shows the sliders and returns what a hand has changed.
    pub fn show(&mut self, ui: &mut Ui) -> Vec<Command> {
        let before = self.values.clone();
        let scene = self.scene.clone().unwrap_or_else(|| before.clone());
        let mut commands = Vec::new();
        theme::head(ui, "Change while it runs");
        for (k, name) in ["Gravity x", "Gravity y", "Gravity z"].into_iter().enumerate() {
            GRAVITY.show(ui, name, "", scene.gravity[k], &mut self.values.gravity[k]);
        }
        if self.values.gravity != before.gravity {
            commands.push(Command::Gravity(self.values.gravity));
        }
        if let Some(flow) = &mut self.values.flow {
            PACE.show(ui, "Flow rate", "", 1.0, flow);
        }
        if let Some(pace) = &mut self.values.walls {
            PACE.show(ui, "Wall motion", "", 1.0, pace);
        }
        for (index, (name, friction, restitution)) in self.values.materials.iter_mut().enumerate() {
            ui.add_space(4.0);
            ui.label(RichText::new(name.as_str()).color(ACCENT));
            let was = &before.materials[index];
            let own = scene.materials.get(index).unwrap_or(was);
            for (i, knob) in self.values.knobs.iter_mut().enumerate().filter(|(_, k)| k.material == Some(index as u16))
            {
                turn(ui, scene.knobs.get(i), knob);
            }
            // What a continuum is within itself its knobs say.
            let bulk = before.knobs.iter().any(|k| k.material == Some(index as u16));
            let (label, about) =
                if bulk { ("On walls", "coefficient of friction with walls") } else { ("Friction", "") };
            FRICTION.show(ui, label, about, own.1, friction);
            if before.bounces {
                RESTITUTION.show(ui, "Restitution", "", own.2, restitution);
            }
            if (*friction, *restitution) != (was.1, was.2) {
                commands.push(Command::Material { index, friction: *friction, restitution: *restitution });
            }
        }
        if self.values.knobs.iter().any(|k| k.material.is_none()) {
            ui.add_space(4.0);
            ui.label(RichText::new("air and method").color(ACCENT));
        }
        for (i, knob) in self.values.knobs.iter_mut().enumerate().filter(|(_, k)| k.material.is_none()) {
            turn(ui, scene.knobs.get(i), knob);
        }
        for (index, (now, was)) in self.values.knobs.iter().zip(&before.knobs).enumerate() {
            if now.value != was.value {
                commands.push(Command::Knob { index, value: now.value });
            }
        }
        commands.extend(self.values.flow.filter(|f| Some(*f) != before.flow).map(Command::Flow));
        commands.extend(self.values.walls.filter(|f| Some(*f) != before.walls).map(Command::Walls));
        theme::head(ui, "Pause at a time");
        ui.horizontal(|ui| {
            let at = &mut self.values.pause_at;
            let mut on = at.is_some();
            ui.checkbox(&mut on, "pause at");
            let mut time = at.unwrap_or(1.0);
            let number = DragValue::new(&mut time).suffix(" s").speed(0.05).range(0.0..=f64::MAX).max_decimals(3);
            ui.add_enabled(on, number);
            *at = on.then_some(time);
        });
        if self.values.pause_at != before.pause_at {
            commands.push(Command::PauseAt(self.values.pause_at));
        }
        if !commands.is_empty() {
            self.touched = Some(Instant::now());
        }
        self.afresh(ui);
        commands
    }

    /// What takes a reset.
    fn afresh(&mut self, ui: &mut Ui) {
        theme::head(ui, &format!("{AT_RESET} Change with a reset"));
        let scale = Slider::new(&mut self.fresh.scale, 0.25..=8.0).logarithmic(true).suffix(" ×").fixed_decimals(2);
        row(ui, "Matter", scale).on_hover_text("the number of grains or particles; press Reset (R) to start with it");
        let Some([spacing, density]) = self.matter else { return };
        let mut mm = 1e3 * self.fresh.spacing.unwrap_or(spacing);
        let (was, scale) = (mm, Slider::new(&mut mm, 400.0 * spacing..=2500.0 * spacing));
        row(ui, "Spacing", scale.logarithmic(true).suffix(" mm").fixed_decimals(1))
            .on_hover_text("distance of particles at rest; press Reset (R) to start with it");
        if mm != was {
            self.fresh.spacing = Some(1e-3 * mm);
        }
        let mut now = self.fresh.density.unwrap_or(density);
        let (was, scale) = (now, Slider::new(&mut now, 200.0f64.min(density)..=8000f64.max(density)));
        row(ui, "Density", scale.suffix(" kg/m³").fixed_decimals(0))
            .on_hover_text("density of a grain; the mass of a particle follows. Press Reset (R) to start with it");
        if now != was {
            self.fresh.density = Some(now);
        }
    }
}

/// Shows the slider of a knob; its value changes only if a hand gave it another.
fn turn(ui: &mut Ui, scene: Option<&Knob>, knob: &mut Knob) {
    let (scale, times) = Scale::of(knob);
    let shown = times * knob.value;
    let mut value = shown;
    let mut name = knob.name.to_string();
    name[..1].make_ascii_uppercase();
    scale.show(ui, &name, knob.about, times * scene.map_or(knob.value, |k| k.value), &mut value);
    if value != shown {
        knob.value = value / times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Published, Simulation, Source, State};
    use egui::{Context, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, vec2};

    /// Numbers that no slider's steps hit, and, in `%`, some that are beyond its ends.
    const SCENE: &str = r#"
duration = "1 s"
gravity = %
[domain]
min = [0, 0, 0]
max = ["40 mm", "40 mm", "120 mm"]
[materials.beads]
preset = "glass beads"
young = "50 MPa"
friction = %
restitution = %
[[walls]]
material = "beads"
box = { min = [0, 0, 0], max = ["40 mm", "40 mm", "120 mm"], open = ["top"] }
oscillate = { direction = [0, 0, 1], amplitude = "1 mm", frequency = 13.37 }
[[grains]]
material = "beads"
radius = "2 mm"
fill = { box = { min = [0, 0, 0], max = ["40 mm", "40 mm", "60 mm"] }, count = 50 }
[[emitters]]
material = "beads"
radius = "2 mm"
disc = { centre = [0.02, 0.02, 0.1], normal = [0, 0, -1], radius = "15 mm" }
rate = 123.456
velocity = [0, 0, -1]
"#;

    fn paused(numbers: [&str; 3]) -> (Simulation, Published) {
        let text = numbers.iter().fold(SCENE.to_string(), |text, number| text.replacen('%', number, 1));
        let simulation = Simulation::start(Source { name: "test".into(), text }, false, || ());
        let begun = Instant::now();
        loop {
            let published = simulation.published();
            if published.state == State::Paused && published.frame.is_some() {
                return (simulation, published);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", published.message);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// One look of the window at its sliders, without a screen.
    fn look(context: &Context, sliders: &mut Sliders, events: Vec<Event>) -> Vec<Command> {
        let screen = Some(Rect::from_min_size(Pos2::ZERO, vec2(400.0, 800.0)));
        let mut commands = Vec::new();
        let input = RawInput { screen_rect: screen, events, ..RawInput::default() };
        let mut output = context.run_ui(input, |ui| commands.extend(sliders.show(ui)));
        // Nobody draws: egui wants to be told that its textures are dropped on purpose.
        output.textures_delta.clear();
        commands
    }

    fn press(at: Pos2, pressed: bool) -> Event {
        Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE }
    }

    #[test]
    fn a_window_that_is_opened_changes_nothing() {
        for numbers in [["[0.123, 0, -9.80665]", "0.3456", "0.6543"], ["[0, 0, -40]", "2.5", "0.02"]] {
            let (simulation, first) = paused(numbers);
            let (context, mut sliders) = (Context::default(), Sliders::default());
            for _ in 0..5 {
                sliders.take(&simulation.published().values, None);
                assert_eq!(look(&context, &mut sliders, vec![]), vec![], "{numbers:?}");
            }
            assert_eq!(sliders.values, first.values, "{numbers:?}");
        }
    }

    /// Clicks go down the panel, so that every slider's rail or number is hit: what was not hit keeps its bits.
    #[test]
    fn a_slider_that_is_touched_leaves_the_others_alone() {
        let (_simulation, first) = paused(["[0.123, 0, -9.80665]", "0.3456", "0.6543"]);
        let was = &first.values.materials[0];
        let (mut frictions, mut restitutions) = (0, 0);
        for y in (0..400).step_by(3) {
            let (context, mut sliders) = (Context::default(), Sliders::default());
            sliders.take(&first.values, None);
            // The first look lays the sliders out, so that the next one knows what is under the pointer.
            look(&context, &mut sliders, vec![]);
            let at = Pos2::new(115.0, y as f32);
            let mut commands = look(&context, &mut sliders, vec![Event::PointerMoved(at), press(at, true)]);
            commands.extend(look(&context, &mut sliders, vec![press(at, false)]));
            for command in commands {
                match command {
                    Command::Material { friction, restitution, .. } if friction != was.1 => {
                        assert_eq!(restitution, was.2);
                        frictions += 1;
                    }
                    Command::Material { friction, .. } => {
                        assert_eq!(friction, was.1);
                        restitutions += 1;
                    }
                    _ => {}
                }
            }
        }
        assert!(frictions > 0 && restitutions > 0, "the clicks hit {frictions} and {restitutions} times");
    }

    #[test]
    fn a_number_that_is_entered_and_left_stays() {
        let (_simulation, first) = paused(["[0.123, 0, -9.80665]", "0.3456", "0.6543"]);
        let after = |y: f32, typed: Option<&str>| {
            let (context, mut sliders) = (Context::default(), Sliders::default());
            sliders.take(&first.values, None);
            look(&context, &mut sliders, vec![]);
            let (at, away) = (Pos2::new(185.0, y), Pos2::new(390.0, 790.0));
            look(&context, &mut sliders, vec![Event::PointerMoved(at), press(at, true)]);
            look(&context, &mut sliders, vec![press(at, false)]);
            look(&context, &mut sliders, typed.map(|t| Event::Text(t.into())).into_iter().collect());
            look(&context, &mut sliders, vec![Event::PointerMoved(away), press(away, true)]);
            look(&context, &mut sliders, vec![press(away, false)]);
            look(&context, &mut sliders, vec![]);
            sliders.values
        };
        let mut typed = 0;
        for y in (0..400).step_by(5).map(|y| y as f32) {
            assert_eq!(after(y, None), first.values, "entered at {y}");
            typed += usize::from(after(y, Some("0.5")) != first.values);
        }
        assert!(typed > 5, "a number was typed {typed} times");
    }

    #[test]
    fn a_scale_holds_the_scene_s_value_also_while_it_is_pulled_back() {
        assert_eq!(GRAVITY.holding(9.80665, 9.80665), [-25.0, 25.0]);
        assert_eq!(GRAVITY.holding(40.0, 40.0), [-25.0, 40.0]);
        assert_eq!(GRAVITY.holding(40.0, 12.0), [-25.0, 40.0]);
        assert_eq!(RESTITUTION.holding(0.02, 0.02), [0.02, 1.0]);
        assert_eq!(FRICTION.holding(2.5, 2.5), [0.0, 2.5]);
    }
}
