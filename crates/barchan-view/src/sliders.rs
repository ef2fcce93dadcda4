//! The sliders over what may be changed while a scene runs.
//!
//! A slider shows a rounded number on a short scale, and the world may have any number. So a slider gets a copy, and what it
//! makes of that counts only where it differs from the number shown: a value that nobody touches stays as it is, bit for bit.

use crate::panel::row;
use crate::simulation::{Command, Values};
use crate::theme::{self, ACCENT};
use egui::emath::round_to_decimals;
use egui::{RichText, Slider, SliderClamping, Ui};
use glam::{DQuat, DVec3};
use std::time::{Duration, Instant};

/// How long the user's own numbers stand before the simulation's replace them: it may take that long to answer.
const HELD: Duration = Duration::from_millis(500);
/// Mark of what takes a reset to come into force.
const AT_RESET: &str = "*";

/// A scale: its ends where the scene's value is between them, and the decimals it shows.
struct Scale {
    ends: [f64; 2],
    decimals: usize,
    suffix: &'static str,
}

const GRAVITY: Scale = Scale { ends: [0.0, 25.0], decimals: 1, suffix: " m/s²" };
const TILT: Scale = Scale { ends: [-90.0, 90.0], decimals: 0, suffix: "°" };
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
    fn show(&self, ui: &mut Ui, name: &str, scene: f64, value: &mut f64) {
        let [low, high] = self.holding(scene, *value);
        let mut copy = *value;
        let slider = Slider::new(&mut copy, low..=high).clamping(SliderClamping::Edits);
        row(ui, name, slider.suffix(self.suffix).fixed_decimals(self.decimals));
        // A number field that is entered and left returns the digits it showed.
        if copy != *value && copy != round_to_decimals(*value, self.decimals) {
            *value = copy.clamp(low, high);
        }
    }
}

/// Values as the sliders have them.
#[derive(Clone, Debug)]
pub struct Sliders {
    values: Values,
    /// The scene's own values: its gravity is what the tilt is reckoned from.
    scene: Option<Values>,
    tilt: f64,
    /// Times the scene's grains, from the next reset on.
    pub scale: f64,
    /// Simulated seconds a second; none for as fast as it goes.
    pub speed: Option<f64>,
    touched: Option<Instant>,
}

impl Default for Sliders {
    fn default() -> Sliders {
        Sliders { values: Values::default(), scene: None, tilt: 0.0, scale: 1.0, speed: Some(1.0), touched: None }
    }
}

impl Sliders {
    /// Takes over what the simulation has, unless the user is at it.
    pub fn take(&mut self, values: &Values) {
        if self.touched.is_none_or(|t| t.elapsed() > HELD) {
            self.values.clone_from(values);
            if self.scene.is_none() && !values.materials.is_empty() {
                self.scene = Some(values.clone());
            }
            let (g, p) = (values.gravity, self.plumb());
            if g.length() > 0.0 {
                self.tilt = DVec3::Y.dot(p.cross(g)).atan2(p.dot(g)).to_degrees();
            }
        }
    }

    /// Direction of the scene's own gravity.
    fn plumb(&self) -> DVec3 {
        self.scene.as_ref().map_or(DVec3::NEG_Z, |s| s.gravity.normalize_or(DVec3::NEG_Z))
    }

    /// Shows the sliders and returns what a hand has changed.
    pub fn show(&mut self, ui: &mut Ui) -> Vec<Command> {
        let before = self.values.clone();
        let scene = self.scene.clone().unwrap_or_else(|| before.clone());
        let mut commands = Vec::new();
        theme::head(ui, "Change while it runs");
        let mut size = before.gravity.length();
        let mut tilt = self.tilt;
        GRAVITY.show(ui, "Gravity", scene.gravity.length(), &mut size);
        TILT.show(ui, "Tilt", 0.0, &mut tilt);
        if size != before.gravity.length() || tilt != self.tilt {
            self.tilt = tilt;
            self.values.gravity = DQuat::from_rotation_y(tilt.to_radians()) * self.plumb() * size;
            commands.push(Command::Gravity(self.values.gravity));
        }
        if let Some(flow) = &mut self.values.flow {
            PACE.show(ui, "Flow rate", 1.0, flow);
        }
        if let Some(pace) = &mut self.values.walls {
            PACE.show(ui, "Wall motion", 1.0, pace);
        }
        for (index, (name, friction, restitution)) in self.values.materials.iter_mut().enumerate() {
            ui.add_space(4.0);
            ui.label(RichText::new(name.as_str()).color(ACCENT));
            let was = &before.materials[index];
            let own = scene.materials.get(index).unwrap_or(was);
            FRICTION.show(ui, "Friction", own.1, friction);
            RESTITUTION.show(ui, "Restitution", own.2, restitution);
            if (*friction, *restitution) != (was.1, was.2) {
                commands.push(Command::Material { index, friction: *friction, restitution: *restitution });
            }
        }
        commands.extend(self.values.flow.filter(|f| Some(*f) != before.flow).map(Command::Flow));
        commands.extend(self.values.walls.filter(|f| Some(*f) != before.walls).map(Command::Walls));
        if !commands.is_empty() {
            self.touched = Some(Instant::now());
        }
        theme::head(ui, &format!("{AT_RESET} Change with a reset"));
        let scale = Slider::new(&mut self.scale, 0.25..=8.0).logarithmic(true).suffix(" ×").fixed_decimals(2);
        row(ui, "Grains", scale).on_hover_text("the number of grains; press Reset (R) to start with it");
        commands
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
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", published.message);
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
                sliders.take(&simulation.published().values);
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
            sliders.take(&first.values);
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
            sliders.take(&first.values);
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
        assert_eq!(GRAVITY.holding(9.80665, 9.80665), [0.0, 25.0]);
        assert_eq!(GRAVITY.holding(40.0, 40.0), [0.0, 40.0]);
        assert_eq!(GRAVITY.holding(40.0, 12.0), [0.0, 40.0]);
        assert_eq!(RESTITUTION.holding(0.02, 0.02), [0.02, 1.0]);
        assert_eq!(FRICTION.holding(2.5, 2.5), [0.0, 2.5]);
    }
}
