//! Forests: areas where flows are braked by trees too fine for grains, and where slow flows leave snow behind them.
//!
//! Drag c ρ ū² a bed area [AvaFrame], as a deceleration c ū²/h of the layer, implicit as that of rock. Detrainment K/ū of mass a time and bed
//! area below a speed [Feistl et al. 2014]: what a cell owes leaves as whole grains, the slowest first, and is counted.

use crate::flow::Flow;
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Column, Columns, Saved, mix, of_length};
use barchan_core::relief::Relief;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Coupling, Gauge, SolverError, Solvers};
use barchan_core::stages::{StageTime, Timers};
use barchan_dem::Dem;
use glam::{DVec2, DVec3};
use std::collections::HashSet;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step of forests.
    pub enum Stage {
        /// Flows are slowed, and leave snow.
        Brake = "brake",
    }
}

/// Simulated time between two times that flows are slowed [s].
const EVERY: f64 = 0.01;
/// Thinner flows are no flows [m].
const THIN: f64 = 0.05;
/// Speed that K/ū is bounded by [m/s]: what stands still leaves all its snow within seconds.
const STANDS: f64 = 0.1;

/// A forest.
#[derive(Clone, Debug, PartialEq)]
pub struct Stand {
    /// Its outline [m].
    pub polygon: Vec<DVec2>,
    /// Coefficient of drag c.
    pub drag: f64,
    /// Detrainment K [Pa].
    pub detrainment: f64,
    /// Speed below which snow is left [m/s].
    pub slow: f64,
}

impl Stand {
    /// Whether a place is within the outline: a ray crosses it an odd number of times.
    pub fn holds(&self, p: DVec2) -> bool {
        let n = self.polygon.len();
        let crosses = |k: usize| {
            let (a, b) = (self.polygon[k], self.polygon[(k + 1) % n]);
            (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
        };
        (0..n).filter(|k| crosses(*k)).count() % 2 == 1
    }
}

/// Forests on rock.
pub struct Forest {
    stands: Vec<Stand>,
    /// Bulk density of the flow [kg/m³] and diameter of its grains [m].
    density: f64,
    flow: Flow,
    /// Stand and cosine of the slope of each cell; none outside.
    of: Vec<Option<(u16, f64)>>,
    owed: Vec<f64>,
    left: (u64, f64),
    first: u32,
    material: u16,
    schedule: Schedule,
    every: f64,
    timers: Timers<Stage>,
}

impl Forest {
    /// Forests on a relief, over which grains of a diameter [m] flow with a bulk density [kg/m³]. Only grains of the
    /// material are the flow: trunks stay. Ids below `first` are bodies.
    pub fn new(stands: Vec<Stand>, relief: &Relief, diameter: f64, density: f64, first: u32, material: u16) -> Forest {
        let flow = Flow::over(relief, 4.0 * diameter);
        let of = |cell: usize| {
            let at = flow.middle(cell);
            let stand = stands.iter().position(|s| s.holds(at))? as u16;
            Some((stand, relief.over(at.x, at.y).map_or(1.0, |over| over.normal().z)))
        };
        let of: Vec<_> = (0..flow.sums.len()).map(of).collect();
        let owed = vec![0.0; of.len()];
        let (schedule, every, timers) = (Schedule::every(1), EVERY, Timers::default());
        Forest { stands, density, flow, of, owed, left: (0, 0.0), first, material, schedule, every, timers }
    }

    /// Lays its rhythm onto the steps of a run [s].
    pub fn set_dt(&mut self, dt: f64) {
        self.schedule = Schedule::new(EVERY, dt);
        self.every = self.schedule.step(1).max(1) as f64 * dt;
    }

    /// The stand over a cell with a flow: it, the flow's thickness normal to the slope [m], its speed [m/s], and the area of slope [m²].
    fn over(&self, cell: usize) -> Option<(&Stand, f64, f64, f64)> {
        let (stand, upright) = self.of[cell]?;
        let sum = &self.flow.sums[cell];
        let area = self.flow.cell * self.flow.cell / upright;
        let thickness = sum.mass / (self.density * area);
        (thickness >= THIN).then(|| (&self.stands[stand as usize], thickness, sum.speed(), area))
    }

    /// Takes out what is owed.
    fn leave(&mut self, dem: &mut Dem) {
        let mut any = false;
        for k in 0..self.flow.busy.len() {
            let cell = self.flow.busy[k];
            let Some((stand, _, speed, area)) = self.over(cell) else { continue };
            if stand.detrainment > 0.0 && speed < stand.slow {
                self.owed[cell] += stand.detrainment / speed.max(STANDS) * area * self.every;
                any = true;
            }
        }
        if !any {
            return;
        }
        let population = dem.population();
        let mut slowest: Vec<(usize, f64, u32, f64)> = (0..population.len())
            .filter(|row| population.id[*row] >= self.first && population.material[*row] == self.material)
            .filter(|row| population.shape.get(*row).is_none_or(|s| *s == 0))
            .filter_map(|row| {
                let cell = self.flow.cell_of(population.position[row]).filter(|c| self.owed[*c] > 0.0)?;
                Some((cell, population.velocity[row].length(), population.id[row], population.mass[row]))
            })
            .collect();
        slowest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)));
        let mut gone = HashSet::new();
        for (cell, _, id, mass) in slowest {
            if self.owed[cell] >= mass {
                self.owed[cell] -= mass;
                self.left = (self.left.0 + 1, self.left.1 + mass);
                gone.insert(id);
            }
        }
        if !gone.is_empty() {
            dem.remove_where(&|id, _| gone.contains(&id));
        }
    }
}

impl Coupling for Forest {
    fn name(&self) -> &'static str {
        "forest"
    }

    fn step(
        &mut self,
        interval: &Interval,
        _boundary: &mut Boundary,
        solvers: &mut Solvers,
    ) -> Result<(), SolverError> {
        if !self.schedule.due(interval.step + 1) {
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(dem) = solvers.find_mut::<Dem>() {
            self.flow.sum_of(&dem.population(), self.material);
            let forest = &*self;
            dem.slow(&|x, _: DVec3| {
                let over = forest.flow.cell_of(x).and_then(|cell| forest.over(cell));
                over.map_or(1.0, |(stand, thickness, speed, _)| {
                    1.0 / (1.0 + stand.drag * speed / thickness * forest.every)
                })
            });
            self.leave(dem);
        }
        self.timers.ran(Stage::Brake, begun);
        Ok(())
    }

    fn gauges(&self, _solvers: &Solvers) -> Vec<Gauge> {
        vec![Gauge { name: "left in forest", unit: "kg", value: self.left.1 }]
    }

    fn mass(&self) -> f64 {
        self.left.1
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        self.of.len() * 80
    }

    fn save(&self) -> Columns {
        vec![
            ("owed".into(), Column::F64(self.owed.clone())),
            ("left".into(), Column::U64(vec![self.left.0])),
            ("mass".into(), Column::F64(vec![self.left.1])),
        ]
    }

    fn load(&mut self, saved: Saved<'_>, _boundary: &mut Boundary) -> Result<(), SolverError> {
        self.owed = saved.f64s_of("owed", self.of.len())?;
        let left = saved.u64s("left")?;
        of_length("left", left.len(), 1)?;
        self.left = (left[0], saved.f64s_of("mass", 1)?[0]);
        Ok(())
    }

    fn hash(&self, start: u64) -> u64 {
        self.owed.iter().fold(start, |h, x| mix(h, x.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_in_a_forest_or_not() {
        let corners = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [5.0, 2.0], [0.0, 10.0]];
        let stand = Stand { polygon: corners.map(DVec2::from).to_vec(), drag: 0.01, detrainment: 0.0, slow: 6.0 };
        assert!(stand.holds(DVec2::new(1.0, 5.0)) && stand.holds(DVec2::new(9.0, 5.0)));
        assert!(!stand.holds(DVec2::new(5.0, 5.0)) && !stand.holds(DVec2::new(-1.0, 5.0)));
    }
}
