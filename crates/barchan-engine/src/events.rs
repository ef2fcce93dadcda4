//! What is done to matter at given times: bonds are cut, a skier presses, a charge blows. What is due follows from the number of the step.

use crate::world::World;
use barchan_dem::Dem;
use barchan_scene::Action;
use glam::{DVec2, DVec3};

impl World {
    /// Does what is due in the step that begins now.
    pub(crate) fn act(&mut self) {
        let (step, dt) = (self.steps, self.plan.dt);
        for k in 0..self.events.len() {
            let event = self.events[k].clone();
            let begin = (event.time / dt).round() as u64;
            match event.what {
                Action::Cut { from, to, under } if step == begin => {
                    self.cut_bonds(from, to, under);
                }
                Action::Charge { at, radius, energy } if step == begin => {
                    self.blow(at, radius, energy);
                }
                Action::Load { at, force, radius, velocity, lasts } => {
                    let end = begin + ((lasts / dt).round() as u64).max(1);
                    if (begin..end).contains(&step) {
                        let at = at + velocity * ((step - begin) as f64 * dt);
                        self.press(at, radius, force * dt);
                    }
                }
                Action::Cut { .. } | Action::Charge { .. } => {}
            }
        }
    }

    /// Breaks the bonds that pass through the upright plane between two points [m], and those to walls and ground in a strip of that width along
    /// it; returns how many.
    pub(crate) fn cut_bonds(&mut self, from: DVec2, to: DVec2, under: f64) -> usize {
        let away = |x: DVec2| {
            let share =
                ((x - from).dot(to - from) / (to - from).length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            x.distance(from.lerp(to, share))
        };
        let across = |a: DVec3, b: DVec3, of_wall: bool| {
            crosses(a.truncate(), b.truncate(), from, to) || (of_wall && away(b.truncate()) < 0.5 * under)
        };
        self.solvers.find_mut::<Dem>().map_or(0, |dem| dem.cut(&across))
    }

    /// Gives the matter in a ball an impulse [N s], all the same velocity; returns what it was given.
    fn press(&mut self, at: DVec3, radius: f64, impulse: DVec3) -> DVec3 {
        let mut mass = 0.0;
        self.solvers.iter_mut().for_each(|s| s.each_in(at, radius, &mut |_, m| mass += m));
        if mass == 0.0 {
            return DVec3::ZERO;
        }
        self.solvers.iter_mut().map(|s| s.kick_in(at, radius, &|_| impulse / mass)).sum()
    }

    /// Blows the matter in a ball apart, which gives it an energy of motion [J] if it was at rest: velocities fall off evenly to its rim.
    pub(crate) fn blow(&mut self, at: DVec3, radius: f64, energy: f64) -> DVec3 {
        let share = |x: DVec3| (1.0 - x.distance(at) / radius).max(0.0);
        let mut sum = 0.0;
        self.solvers.iter_mut().for_each(|s| s.each_in(at, radius, &mut |x, m| sum += 0.5 * m * share(x) * share(x)));
        if sum == 0.0 {
            return DVec3::ZERO;
        }
        let speed = (energy / sum).sqrt();
        let by = |x: DVec3| (x - at).normalize_or(DVec3::Z) * (speed * share(x));
        self.solvers.iter_mut().map(|s| s.kick_in(at, radius, &by)).sum()
    }
}

/// Whether the way from a to b crosses that from p to q.
fn crosses(a: DVec2, b: DVec2, p: DVec2, q: DVec2) -> bool {
    let turn = |a: DVec2, b: DVec2, p: DVec2| (b - a).perp_dot(p - a);
    turn(p, q, a) * turn(p, q, b) <= 0.0 && turn(a, b, p) * turn(a, b, q) <= 0.0 && a != b
}
