//! A plunger presses the bed, holds a load, and lets go [Longmore 2009, 7.2.1; Coetzee & Els 2009].

use super::bed::{Bed, D, Grain, SPEED, YOUNG, come_to_rest, forces as bed_forces, name, radius};
use super::shelf::Shelf;
use crate::{Bench, CaseError, Findings, Rig};
use std::f64::consts::PI;
use std::sync::Arc;

/// Stress that is reached and held [Pa]: a thousandth of Young's modulus, as corn bears in the experiment (some 100 kPa on
/// contacts of about 450 kN/m and 8 mm).
pub const STRESS: f64 = 1e-3 * YOUNG;
/// Stress that flattens the top first [Pa].
const FLATTEN: f64 = 0.05 * STRESS;
/// Below this stress nothing presses [Pa].
const NOTHING: f64 = 1e-3 * STRESS;
/// Paces of the plunger on its way through the air, to the first touch, and while it flattens; the experiment itself has pace 1.
const PACES: [f64; 3] = [100.0, 10.0, 4.0];
/// Longest time for any one stage [s].
const PATIENCE: f64 = 2.0;
/// Time between points of the curve [s].
const POINT: f64 = 5e-4;

/// What the plunger met.
pub struct Pressed {
    /// Strain and stress [Pa] on the way down, from the height at which nothing pressed.
    pub loading: Vec<[f64; 2]>,
    /// The same on the way up.
    pub unloading: Vec<[f64; 2]>,
    /// Normal and tangential forces in the bulk under the load, as those of the bed.
    pub forces: Vec<[f64; 2]>,
    name: String,
    about: Vec<(&'static str, String)>,
}

static PRESSED: Shelf<(Bench, Grain, bool), Pressed> = Shelf::new();

impl Pressed {
    /// The pressed bed of these grains, with friction or without, pressed where it was not yet.
    pub fn get(bench: &Bench, grain: Grain, friction: bool) -> Result<Arc<Pressed>, CaseError> {
        PRESSED.get((*bench, grain, friction), || rayon::scope(|_| press(bench, grain, friction)))
    }

    /// Writes down what was set up.
    pub fn describe(&self, found: &mut Findings) {
        for (what, value) in &self.about {
            found.set_up(format!("{}: {what}", self.name), value.clone());
        }
    }
}

/// A plunger over a bed.
struct Plunger {
    rig: Rig,
    wall: usize,
    area: f64,
}

impl Plunger {
    fn over(rig: Rig, bench: &Bench) -> Result<Plunger, CaseError> {
        let wall = rig.world.boundary().walls().iter().position(|w| w.name == "plunger");
        let wall = wall.ok_or_else(|| CaseError::Unmeasured("the bed has no plunger".into()))?;
        Ok(Plunger { rig, wall, area: PI * (radius(bench.size) * D).powi(2) })
    }

    /// Height above the tops of the floor's bumps [m].
    fn height(&self) -> f64 {
        let (walls, states) = (self.rig.world.boundary().walls(), self.rig.world.boundary().states());
        walls[self.wall].geometry.pivot().z + states[self.wall].position.z - D
    }

    /// What the grains press back with [Pa].
    fn stress(&self) -> f64 {
        self.rig.world.boundary().states()[self.wall].force.z / self.area
    }

    /// Moves at a pace (negative: upwards) until something holds, and notes height and stress on the way.
    fn go(&mut self, pace: f64, done: impl Fn(&Plunger) -> bool) -> Result<Vec<[f64; 2]>, CaseError> {
        self.rig.world.set_wall_pace(pace);
        let start = self.rig.world.time();
        let mut path = vec![];
        while !done(self) {
            self.rig.step()?;
            let time = self.rig.world.time() - start;
            if time > PATIENCE {
                return Err(CaseError::Unmeasured(format!("the plunger did not get there within {PATIENCE} s")));
            }
            if time >= POINT * path.len() as f64 {
                path.push([self.height(), self.stress()]);
            }
        }
        Ok(path)
    }

    /// Holds a stress [Pa] as a servo does, by the relative error, for a time [s].
    fn hold(&mut self, stress: f64, time: f64) -> Result<(), CaseError> {
        let until = self.rig.world.time() + time;
        while self.rig.world.time() < until {
            let pace = (1.0 - self.stress() / stress).clamp(-1.0, 1.0);
            self.rig.world.set_wall_pace(pace);
            self.rig.step()?;
        }
        Ok(())
    }
}

fn press(bench: &Bench, grain: Grain, friction: bool) -> Result<Pressed, CaseError> {
    let bed = Bed::get(bench, grain, friction)?.height;
    let mut plunger = Plunger::over(Bed::take(bench, grain, friction)?, bench)?;
    plunger.go(PACES[0], |p| p.height() < bed + 1.5 * D)?;
    plunger.go(PACES[1], |p| p.stress() > NOTHING)?;
    plunger.go(PACES[2], |p| p.stress() > FLATTEN)?;
    plunger.go(-1.0, |p| p.stress() < NOTHING)?;
    let first = plunger.height();
    let loading = plunger.go(1.0, |p| p.stress() >= STRESS)?;
    plunger.hold(STRESS, 0.05)?;
    // What still moves comes to rest under the plunger where it stands.
    plunger.rig.world.set_wall_pace(0.0);
    let kinetic = come_to_rest(&mut plunger.rig, 0.1)?;
    let (held, stress) = (plunger.height(), plunger.stress());
    let forces = bed_forces(&plunger.rig, bench.size, grain, true);
    let overlap = plunger.rig.world.gauge("largest overlap").unwrap_or(0.0);
    let unloading = plunger.go(-1.0, |p| p.stress() < NOTHING)?;
    let strain = |path: &[[f64; 2]]| path.iter().map(|[h, s]| [1.0 - h / first, *s]).collect::<Vec<_>>();
    let rate = SPEED / first;
    let inertial = rate * D * (super::bed::DENSITY / STRESS).sqrt();
    Ok(Pressed {
        loading: [strain(&loading), vec![[1.0 - held / first, stress]]].concat(),
        unloading: [vec![[1.0 - held / first, stress]], strain(&unloading)].concat(),
        forces,
        name: name(grain, friction),
        about: vec![
            ("height under the plunger", format!("{:.2} d", first / D)),
            ("stress held", format!("{:.2} kPa, flattened by {:.2} kPa", 1e-3 * stress, 1e-3 * FLATTEN)),
            ("rate of strain", format!("{rate:.2} /s, inertial number {inertial:.1e} under the load")),
            ("kinetic energy of nine in ten over m g d under the load", format!("below {kinetic:.1e}")),
            ("largest overlap over the diameter under the load", format!("{:.3}", 0.5 * overlap)),
        ],
    })
}
