//! One impact, watched from touch to parting: balls in empty space, or one on a rigid plane.
//!
//! The rigid plane is a wall of a modulus no solid has: 1/E* = (1 − ν²)/E + (1 − ν_w²)/E_w, and with E_w = 10³⁰ Pa the second
//! term is lost in rounding. Its coefficients are the ball's, so that their geometric means are, too.

use crate::oblique::{Meeting, Spring};
use crate::{Bench, CaseError, Rig};
use glam::DVec3;
use std::f64::consts::PI;
use std::fmt::Write;

/// Steps of an elastic impact: with them the scheme's own error is below 10⁻⁵.
const STEPS: f64 = 1000.0;
/// An impact that has not ended after so many elastic ones never will.
const PATIENCE: f64 = 50.0;
/// Gap at the start, over the smaller radius.
const GAP: f64 = 1e-6;

/// What a ball is made of.
#[derive(Clone, Copy, Debug)]
pub struct Solid {
    pub name: &'static str,
    /// Young's modulus [Pa].
    pub young: f64,
    pub poisson: f64,
    /// Density [kg/m³].
    pub density: f64,
    pub friction: f64,
    pub restitution: f64,
}

impl Solid {
    /// (1 − ν²)/E [1/Pa].
    fn compliance(&self) -> f64 {
        (1.0 - self.poisson * self.poisson) / self.young
    }

    fn mass(&self, radius: f64) -> f64 {
        4.0 / 3.0 * PI * radius.powi(3) * self.density
    }
}

/// A ball before the impact. The first ball comes from above, the second from below.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub solid: Solid,
    /// Radius [m].
    pub radius: f64,
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
}

/// Hertz's elastic impact, in closed form [Johnson 1985, §11.4].
#[derive(Clone, Copy, Debug)]
pub struct Hertz {
    /// Largest overlap [m].
    pub overlap: f64,
    /// Largest force [N].
    pub force: f64,
    /// Duration [s].
    pub duration: f64,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Impact {
    /// Largest overlap [m].
    pub overlap: f64,
    /// Largest normal force [N].
    pub force: f64,
    /// From touch to parting [s]; not a number where a damped ball was let go before it parted.
    pub duration: f64,
    /// Velocities after it [m/s], by ball.
    pub velocity: Vec<DVec3>,
    /// Angular velocities after it [rad/s], by ball.
    pub spin: Vec<DVec3>,
    /// Overlap [m] and normal force [N] at each step.
    pub path: Vec<[f64; 2]>,
}

/// The closed form for a ball on the rigid plane, or on a second one.
pub fn hertz(ball: &Ball, other: Option<&Ball>) -> Hertz {
    let inverse = |a: f64, b: Option<f64>| 1.0 / (1.0 / a + b.map_or(0.0, |b| 1.0 / b));
    let mass = inverse(ball.solid.mass(ball.radius), other.map(|o| o.solid.mass(o.radius)));
    let radius = inverse(ball.radius, other.map(|o| o.radius));
    let young = 1.0 / (ball.solid.compliance() + other.map_or(0.0, |o| o.solid.compliance()));
    let speed = closing(ball, other);
    let overlap = (15.0 * mass * speed * speed / (16.0 * radius.sqrt() * young)).powf(0.4);
    let force = 4.0 / 3.0 * young * radius.sqrt() * overlap.powf(1.5);
    Hertz { overlap, force, duration: 2.9433 * overlap / speed }
}

/// Slip of the surface after a ball's impact on the rigid plane, over its normal speed, integrated apart from the solver.
pub fn slip_after(ball: &Ball, spring: Spring) -> f64 {
    let Solid { poisson, friction, restitution, .. } = ball.solid;
    let (depth, speed) = (hertz(ball, None).overlap / ball.radius, -ball.velocity.z);
    let (velocity, spin) = (ball.velocity.x / speed, ball.radius * ball.spin.y / speed);
    Meeting { poisson, friction, restitution, depth, velocity, spin, spring }.slip_after()
}

fn closing(ball: &Ball, other: Option<&Ball>) -> f64 {
    other.map_or(0.0, |o| o.velocity.z) - ball.velocity.z
}

/// Lets a ball fall on the rigid plane, or two balls on each other along z.
pub fn strike(bench: &Bench, spring: Spring, ball: &Ball, other: Option<&Ball>) -> Result<Impact, CaseError> {
    let expected = hertz(ball, other);
    let gap = GAP * other.map_or(ball.radius, |o| o.radius.min(ball.radius));
    let mut rig = Rig::new(&scene(spring, ball, other, gap, expected.duration / STEPS), bench)?;
    let speed = closing(ball, other);
    let mut seen =
        Impact { overlap: 0.0, force: 0.0, duration: f64::NAN, velocity: vec![], spin: vec![], path: vec![] };
    loop {
        rig.step()?;
        let time = rig.world.time();
        let contact = rig.world.contacts().first().copied();
        match contact {
            Some(c) => {
                seen.overlap = seen.overlap.max(c.overlap);
                seen.force = seen.force.max(c.normal_force);
                seen.path.push([c.overlap, c.normal_force]);
            }
            None if seen.overlap > 0.0 => {
                let frame = rig.world.frame().grains().clone();
                let row = |id: u32| frame.id.iter().position(|i| *i == id).unwrap_or(0);
                let (a, b) = (row(0), row(1));
                let apart = match other {
                    Some(o) => {
                        (frame.position[a].distance(frame.position[b]) - ball.radius - o.radius)
                            / (frame.velocity[a].z - frame.velocity[b].z)
                    }
                    None => (frame.position[a].z - ball.radius) / frame.velocity[a].z,
                };
                seen.duration = time - apart - gap / speed;
                break;
            }
            None => {}
        }
        // Strong damping takes all force from a contact before the balls have parted; nothing changes from there on.
        if seen.force > 0.0 && contact.is_some_and(|c| c.normal_force <= 0.0) {
            break;
        }
        if time > PATIENCE * expected.duration {
            return Err(CaseError::Unmeasured(format!("the impact of {} did not end", ball.solid.name)));
        }
    }
    let frame = rig.world.frame().grains().clone();
    let mut order: Vec<usize> = (0..frame.id.len()).collect();
    order.sort_by_key(|k| frame.id[*k]);
    seen.velocity = order.iter().map(|k| frame.velocity[*k]).collect();
    seen.spin = order.iter().map(|k| frame.spin[*k]).collect();
    Ok(seen)
}

fn scene(spring: Spring, ball: &Ball, other: Option<&Ball>, gap: f64, dt: f64) -> String {
    let reach = 8.0 * other.map_or(ball.radius, |o| o.radius.max(ball.radius));
    let mut text = format!(
        "duration = 1\ngravity = [0, 0, 0]\n[domain]\nmin = [-{reach:e}, -{reach:e}, -{reach:e}]\n\
         max = [{reach:e}, {reach:e}, {reach:e}]\n[integrator]\ndt = {dt:e}\n\
         [contact]\ntangential = \"{}\"\n",
        spring.name()
    );
    let material = |text: &mut String, name: &str, s: &Solid, young: f64| {
        let _ = writeln!(
            text,
            "[materials.{name}]\ndensity = {:e}\nyoung = {young:e}\npoisson = {}\nrestitution = {}\nfriction = {}",
            s.density, s.poisson, s.restitution, s.friction
        );
    };
    let grain = |text: &mut String, name: &str, b: &Ball, z: f64| {
        let [v, w] = [b.velocity, b.spin];
        let _ = writeln!(
            text,
            "[[grains]]\nmaterial = \"{name}\"\nradius = {:e}\nat = [[0, 0, {z:e}]]\nvelocity = [{:e}, {:e}, {:e}]\n\
             spin = [{:e}, {:e}, {:e}]",
            b.radius, v.x, v.y, v.z, w.x, w.y, w.z
        );
    };
    material(&mut text, "ball", &ball.solid, ball.solid.young);
    match other {
        Some(o) => {
            material(&mut text, "other", &o.solid, o.solid.young);
            grain(&mut text, "ball", ball, ball.radius + 0.5 * gap);
            grain(&mut text, "other", o, -o.radius - 0.5 * gap);
        }
        None => {
            material(&mut text, "rigid", &ball.solid, 1e30);
            grain(&mut text, "ball", ball, ball.radius + gap);
            text.push_str("[[walls]]\nmaterial = \"rigid\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n");
        }
    }
    text
}
