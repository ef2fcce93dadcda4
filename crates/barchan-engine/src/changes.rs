//! Values of the scene that change in time: gravity, friction, restitution, the pace of walls and emitters.
//!
//! What a value is follows from the time at which it is due. Values in force go into checkpoints as those that are changed by hand do
//! (`live.rs`), so a resumed run goes on with the same bits.

use crate::world::{World, WorldError};
use barchan_core::schedule::Schedule;
use barchan_scene::{Change, Changed, Formula, Scene};
use glam::DVec3;

/// Changes in a duration, where the scene does not say how often: a thousand steps draw a smooth path.
const OFTEN: f64 = 1000.0;

/// A value over time.
#[derive(Clone, Debug)]
enum Course {
    /// Straight lines through times [s] and values.
    Keyframes(Vec<[f64; 2]>),
    Formula(Formula),
}

impl Course {
    fn at(&self, time: f64) -> f64 {
        let rows = match self {
            Course::Formula(formula) => return formula.at_time(time),
            Course::Keyframes(rows) => rows,
        };
        let next = rows.partition_point(|r| r[0] <= time);
        match (next.checked_sub(1).map(|k| rows[k]), rows.get(next)) {
            (Some([t, v]), Some([t1, v1])) => v + (v1 - v) * (time - t) / (t1 - t),
            (Some([_, v]), None) => v,
            (None, Some([_, v])) => *v,
            (None, None) => f64::NAN,
        }
    }
}

/// What changes in a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes(Vec<(Changed, Course, f64)>);

impl Changes {
    /// Those of a scene.
    pub fn of(scene: &Scene) -> Changes {
        let one = |c: &Change| {
            let course = match &c.formula {
                Some(formula) => Course::Formula(formula.clone()),
                None => Course::Keyframes(c.keyframes.clone()),
            };
            (c.what.clone(), course, c.every.unwrap_or(scene.duration / OFTEN))
        };
        Changes(scene.changes.iter().map(one).collect())
    }
}

impl World {
    /// Gives the values that are due at this step.
    pub(crate) fn change(&mut self) -> Result<(), WorldError> {
        if self.changes.0.is_empty() {
            return Ok(());
        }
        let changes = self.changes.clone();
        for (what, course, every) in &changes.0 {
            if Schedule::new(*every, self.plan.dt).due(self.steps) {
                self.set_changed(what, course.at(self.time()))?;
            }
        }
        Ok(())
    }

    fn set_changed(&mut self, what: &Changed, value: f64) -> Result<(), WorldError> {
        let index = |name: &str| self.materials.list.iter().position(|m| m.name == name);
        match what {
            Changed::Gravity(direction) => {
                let gravity: DVec3 = direction.normalize_or_zero() * value;
                if gravity != self.gravity {
                    self.set_gravity(gravity);
                }
            }
            Changed::Friction(name) => {
                if let Some(m) = index(name)
                    && self.materials.list[m].friction != value
                {
                    self.set_material(m, value, self.materials.list[m].restitution)?;
                }
            }
            Changed::Restitution(name) => {
                if let Some(m) = index(name)
                    && self.materials.list[m].restitution != value
                {
                    self.set_material(m, self.materials.list[m].friction, value)?;
                }
            }
            Changed::Walls { .. } => {
                if self.paces()[1] != value {
                    self.set_wall_pace(value);
                }
            }
            Changed::Emitters { .. } => {
                if self.paces()[0] != value {
                    self.set_flow(value);
                }
            }
        }
        Ok(())
    }
}
