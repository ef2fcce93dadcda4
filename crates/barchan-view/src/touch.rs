//! Tools: what the pointer does to the grains.

use crate::eye::{Eye, ground, pick};
use crate::simulation::Command;
use barchan_core::frame::Frame;
use glam::DVec3;
use std::time::{Duration, Instant};

/// Wall-clock time between two helpings of sand, or two scoops.
const AGAIN: Duration = Duration::from_millis(60);
/// Share of the pointer's velocity that grains take on from one picture to the next.
const GRIP: f64 = 0.3;
/// Radius of a dropped ball over that of a grain.
const BALL: f64 = 4.0;

/// What the left button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Orbits and picks.
    #[default]
    Look,
    /// Pushes grains along.
    Push,
    /// Pours grains.
    Pour,
    /// Drops a ball.
    Ball,
    /// Takes grains away.
    Dig,
    /// Breaks bonds along a stroke.
    Cut,
    /// Blows grains apart.
    Charge,
}

impl Tool {
    /// All of them, with names, in the order of their keys.
    pub const ALL: [(Tool, &'static str, &'static str); 7] = [
        (Tool::Look, "Look", "orbit with the mouse, click a grain to read it (1)"),
        (Tool::Push, "Push", "drag to push the sand (2)"),
        (Tool::Pour, "Pour", "pour grains where the mouse points (3)"),
        (Tool::Ball, "Ball", "click to drop a ball (4)"),
        (Tool::Dig, "Dig", "take grains away where the mouse points (5)"),
        (Tool::Cut, "Cut", "drag to break bonds along a line, down to the ground (6)"),
        (Tool::Charge, "Charge", "click to blow grains apart (7)"),
    ];
}

/// Bulk density by which charges are measured out [kg/m³].
const SNOW: f64 = 300.0;

/// A hand in the sand.
#[derive(Clone, Debug)]
pub struct Hand {
    /// What it does.
    pub tool: Tool,
    /// How far it reaches, in radii of a grain.
    pub reach: f64,
    /// Where it was [m], and how deep in the picture.
    last: Option<(DVec3, f64)>,
    acted: Instant,
}

impl Default for Hand {
    fn default() -> Hand {
        Hand { tool: Tool::Look, reach: 6.0, last: None, acted: Instant::now() }
    }
}

/// Where the pointer is and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Pointer {
    /// Direction from the eye.
    pub ray: DVec3,
    /// Whether the button went down just now.
    pub pressed: bool,
    /// Whether the button is down.
    pub down: bool,
    /// Wall-clock time since the last picture [s].
    pub seconds: f64,
}

/// The point under a ray: on a grain, on the ground, on the floor, or as far away as the target.
pub fn point(frame: &Frame, eye: &Eye, ray: DVec3, floor: f64) -> DVec3 {
    let from = eye.stand.eye;
    let grain = pick(frame, from, ray).map(|(_, point)| point);
    let met = [grain, ground(frame, from, ray)].into_iter().flatten();
    if let Some(point) = met.min_by(|a, b| a.distance(from).total_cmp(&b.distance(from))) {
        return point;
    }
    let forward = eye.stand.axes()[2];
    let middle = eye.distance() / ray.dot(forward).max(1e-3);
    let down = (floor - from.z) / ray.z;
    from + ray * if ray.z < 0.0 && down > 0.0 && down < 3.0 * middle { down } else { middle }
}

impl Hand {
    /// What the pointer asks for now. `grain` is the radius of a grain [m], `up` the direction against gravity.
    pub fn act(
        &mut self,
        frame: &Frame,
        eye: &Eye,
        pointer: Pointer,
        (floor, grain, up): (f64, f64, DVec3),
    ) -> Option<Command> {
        if !pointer.down {
            self.last = None;
            return None;
        }
        let radius = self.reach * grain;
        let again = pointer.pressed || self.acted.elapsed() >= AGAIN;
        let command = match self.tool {
            Tool::Look => None,
            Tool::Push => {
                let forward = eye.stand.axes()[2];
                // Held in a plane across the view, at the depth where it took hold.
                let held = self.last.map(|(last, depth)| {
                    (eye.stand.eye + pointer.ray * (depth / pointer.ray.dot(forward).max(1e-3)), last)
                });
                let Some((now, last)) = held else {
                    let point = point(frame, eye, pointer.ray, floor);
                    self.last = Some((point, (point - eye.stand.eye).dot(forward)));
                    return None;
                };
                self.last = self.last.map(|(_, depth)| (now, depth));
                // Nothing falls faster through the height of the picture; a quicker hand would shoot.
                let most = (9.81 * eye.distance()).sqrt();
                let velocity = ((now - last) / pointer.seconds.max(1e-3) * GRIP).clamp_length_max(most);
                (velocity != DVec3::ZERO).then_some(Command::Push { centre: last, radius, velocity })
            }
            Tool::Pour if again => {
                let centre = point(frame, eye, pointer.ray, floor) + up * (radius + 3.0 * grain);
                Some(Command::Pour { centre, radius, count: (0.15 * self.reach.powi(2)).ceil() as usize })
            }
            Tool::Ball if pointer.pressed => {
                let radius = BALL * grain;
                let centre = point(frame, eye, pointer.ray, floor) + up * (2.5 * radius);
                Some(Command::Drop { centre, radius })
            }
            Tool::Dig if again => Some(Command::Dig { centre: point(frame, eye, pointer.ray, floor), radius }),
            Tool::Cut => {
                let now = point(frame, eye, pointer.ray, floor);
                let last = self.last.map(|l| l.0);
                let far = last.is_none_or(|last| last.truncate().distance(now.truncate()) > grain);
                if far {
                    self.last = Some((now, 0.0));
                }
                let cut = |last: DVec3| Command::Cut { from: last.truncate(), to: now.truncate(), under: 2.0 * radius };
                last.filter(|_| far).map(cut)
            }
            Tool::Charge if pointer.pressed => {
                let centre = point(frame, eye, pointer.ray, floor);
                // As fast as what falls through five radii of the ball, were it full of snow.
                let mass = SNOW * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
                Some(Command::Charge { centre, radius, energy: mass * 9.81 * 5.0 * radius })
            }
            Tool::Pour | Tool::Ball | Tool::Dig | Tool::Charge => None,
        };
        if command.is_some() {
            self.acted = Instant::now();
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_render::Stand;

    fn eye() -> Eye {
        Eye::at(Stand { eye: DVec3::new(0.0, -1.0, 0.5), target: DVec3::ZERO, up: DVec3::Z, field: Stand::FIELD })
    }

    #[test]
    fn a_pointer_beside_all_grains_means_the_floor_or_the_target_s_depth() {
        let frame = Frame::default();
        let down = point(&frame, &eye(), (DVec3::ZERO - eye().stand.eye).normalize(), 0.0);
        assert!(down.length() < 1e-12);
        let level = point(&frame, &eye(), DVec3::Y, 0.0);
        assert!((level - eye().stand.eye).dot(eye().stand.axes()[2]) - eye().distance() < 1e-12);
    }

    #[test]
    fn a_push_has_the_direction_of_the_drag() {
        let (frame, eye) = (Frame::default(), eye());
        let mut hand = Hand { tool: Tool::Push, ..Hand::default() };
        let mut act = |x: f64, pressed| {
            let pointer = Pointer { ray: eye.ray([x, 0.0], 1.0), pressed, down: true, seconds: 0.1 };
            hand.act(&frame, &eye, pointer, (0.0, 1e-3, DVec3::Z))
        };
        assert_eq!(act(0.0, true), None);
        let Some(Command::Push { centre, radius, velocity }) = act(0.1, false) else { panic!("no push") };
        assert!(centre.length() < 1e-9 && (radius - 6e-3).abs() < 1e-12);
        // 0.1 of half the width at the target's distance, in 0.1 s, by the grip.
        let exact = GRIP * (0.5 * Stand::FIELD).tan() * eye.distance();
        assert!((velocity - DVec3::X * exact).length() < 1e-9 * exact, "{velocity} {exact}");
    }

    #[test]
    fn a_ball_falls_once_a_click() {
        let (frame, eye) = (Frame::default(), eye());
        let mut hand = Hand { tool: Tool::Ball, ..Hand::default() };
        let mut act = |pressed| {
            let pointer = Pointer { ray: eye.ray([0.0, 0.0], 1.0), pressed, down: true, seconds: 0.1 };
            hand.act(&frame, &eye, pointer, (0.0, 1e-3, DVec3::Z))
        };
        assert!(matches!(act(true), Some(Command::Drop { .. })));
        assert_eq!(act(false), None);
    }
}
