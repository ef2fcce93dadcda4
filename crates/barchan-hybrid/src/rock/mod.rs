//! Rock in a world: a mountain that stays, and brakes what flows over it.
//!
//! Grains touch its surface as a wall; the friction of that contact is the dry part of every law of drag, so that it holds what presses them onto a
//! bend. The rest (`law.rs`) depends on the speed and thickness of the flow. Every few thousandths of a second they are summed over cells of the
//! rock, or of four grain diameters where those are wider, and all grains of a cell's layer are slowed: implicitly, so that no grain is turned back. Nothing is
//! remembered from one time to the next.

mod law;

pub use law::{Law, Layer};

use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns, Saved};
use barchan_core::frame::Frame;
use barchan_core::relief::Relief;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Coupling, SolverError, Solvers};
use barchan_core::stages::{StageTime, Timers};
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_dem::Dem;
use glam::{DVec2, DVec3};
use std::sync::Arc;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step on rock.
    pub enum Stage {
        /// Flows are slowed.
        Drag = "drag",
    }
}

/// Simulated time between two times that flows are slowed [s]: at 50 m/s a quarter of a metre.
const EVERY: f64 = 5e-3;
/// Width of the cells that flows are summed over, in grain diameters, at least.
const WIDE: f64 = 4.0;
/// Flows thinner than this feel nothing but friction [m].
const THIN: f64 = 0.05;

/// A drag and what it needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    /// The law.
    pub law: Law,
    /// Yield stress [Pa].
    pub yield_stress: f64,
    /// Thickness of the flow [m]; none where it is to be summed up.
    pub thickness: Option<f64>,
    /// Diameter of the grains [m].
    pub diameter: f64,
    /// Bulk density of the flow [kg/m³].
    pub density: f64,
    /// Magnitude of gravity [m/s²].
    pub gravity: f64,
}

/// Rock under grains.
pub struct Rock {
    bed: Arc<Bed>,
    drag: Option<Drag>,
    /// By cell of the rock, where they differ from place to place: friction beyond that of the contacts; ξ [m/s²].
    extra: Option<Vec<f64>>,
    xi: Option<Vec<f64>>,
    schedule: Schedule,
    /// Time between two times that flows are slowed [s].
    every: f64,
    /// Cells that flows are summed over: width [m], number along x and y, mass and momentum.
    cell: f64,
    size: [usize; 2],
    flow: Vec<(f64, DVec3)>,
    /// Cells with a flow.
    busy: Vec<usize>,
    timers: Timers<Stage>,
}

impl Rock {
    /// Rock with these heights.
    pub fn new(relief: Relief) -> Rock {
        let bed = Arc::new(Bed::rock(Arc::new(relief)));
        Rock {
            bed,
            drag: None,
            extra: None,
            xi: None,
            schedule: Schedule::every(1),
            every: EVERY,
            cell: 1.0,
            size: [0; 2],
            flow: Vec::new(),
            busy: Vec::new(),
            timers: Timers::default(),
        }
    }

    /// Lets it brake what flows over it.
    pub fn set_drag(&mut self, drag: Drag) {
        let relief = self.bed.relief();
        self.cell = relief.cell.max(WIDE * drag.diameter);
        let size = (relief.end() - relief.origin.truncate()) / self.cell;
        self.size = [size.x.ceil().max(1.0) as usize, size.y.ceil().max(1.0) as usize];
        self.flow = vec![(0.0, DVec3::ZERO); self.size[0] * self.size[1]];
        self.drag = Some(drag);
    }

    /// Lets the coefficients differ from place to place: of each cell the friction μ beyond that of the contacts, which is the least of all, and ξ
    /// [m/s²] of Voellmy's law. What is beyond acts by the weight of the flow alone: the contacts know what a bend adds to it.
    pub fn set_coefficients(&mut self, extra: Option<Vec<f64>>, xi: Option<Vec<f64>>) {
        let fits = |field: &Vec<f64>| field.len() == self.bed.relief().height.len();
        (self.extra, self.xi) = (extra.filter(fits), xi.filter(fits));
    }

    /// The cell of the rock under a place.
    fn rock_cell(&self, x: DVec3) -> Option<usize> {
        let relief = self.bed.relief();
        let at = (x.truncate() - relief.origin.truncate()) / relief.cell;
        let inside = at.cmpge(DVec2::ZERO).all() && at.x < relief.size[0] as f64 && at.y < relief.size[1] as f64;
        inside.then(|| at.x as usize + at.y as usize * relief.size[0])
    }

    /// Deceleration of a flow at a place (see [`Law::deceleration`]).
    fn deceleration(&self, drag: &Drag, layer: &Layer, x: DVec3) -> (f64, f64) {
        let cell = self.rock_cell(x);
        let of = |field: &Option<Vec<f64>>| Some(field.as_ref()?[cell?]);
        let law = match (drag.law, of(&self.xi)) {
            (Law::Voellmy(_), Some(xi)) => Law::Voellmy(xi),
            (law, _) => law,
        };
        let (dry, square) = law.deceleration(layer, drag.yield_stress);
        (dry + of(&self.extra).map_or(0.0, |extra| extra * layer.press), square)
    }

    /// Lays its rhythm onto the steps of a run [s].
    pub fn set_dt(&mut self, dt: f64) {
        self.schedule = Schedule::new(EVERY, dt);
        // The mean of the intervals: a single one is a whole number of steps, and up to half a step off. By the first one flows were slowed by up to some
        // per cent too little or too much.
        self.every = EVERY.max(dt);
    }

    /// The surface that matter touches.
    pub fn bed(&self) -> &Arc<Bed> {
        &self.bed
    }

    /// The wall that matter touches.
    pub fn wall(&self, material: u16) -> Wall {
        Wall::new("ground", Geometry::Relief(self.bed.clone()), material)
    }

    fn cell_of(&self, x: DVec3) -> Option<usize> {
        let at = (x.truncate() - self.bed.relief().origin.truncate()) / self.cell;
        let inside = at.cmpge(DVec2::ZERO).all() && at.x < self.size[0] as f64 && at.y < self.size[1] as f64;
        inside.then(|| at.x as usize + at.y as usize * self.size[0])
    }

    /// Sums mass and momentum of the grains, in the order of their rows.
    fn sum(&mut self, dem: &Dem) {
        for cell in std::mem::take(&mut self.busy) {
            self.flow[cell] = (0.0, DVec3::ZERO);
        }
        dem.each(&mut |x, v, mass| {
            if let Some(cell) = self.cell_of(x) {
                if self.flow[cell].0 == 0.0 {
                    self.busy.push(cell);
                }
                let (sum, momentum) = &mut self.flow[cell];
                (*sum, *momentum) = (*sum + mass, *momentum + v * mass);
            }
        });
    }

    /// The flow at a place: it and the height [m] above the rock up to which it reaches; none where there is none.
    fn layer(&self, drag: &Drag, x: DVec3, v: DVec3) -> Option<Layer> {
        let over = self.bed.over(x.x, x.y)?;
        let upright = over.normal().z;
        let (mass, momentum) = self.flow[self.cell_of(x)?];
        let thickness = drag.thickness.unwrap_or(mass / drag.density * upright / (self.cell * self.cell));
        let reach = (2.0 * thickness).max(thickness + 2.0 * drag.diameter).max(1.5 * drag.diameter) / upright;
        let speed = if drag.thickness.is_some() { v.length() } else { momentum.length() / mass };
        (thickness >= THIN && x.z - over.z <= reach).then_some(Layer {
            thickness,
            speed,
            density: drag.density,
            press: drag.gravity * upright,
            gravity: drag.gravity,
        })
    }
}

/// Share of its speed that a grain keeps over a time [s]: v' = (v − a·t)/(1 + b·ū·t), exact for v' = −b v² where ū = v.
fn kept(speed: f64, layer: &Layer, (dry, square): (f64, f64), time: f64) -> f64 {
    if speed > 0.0 { (1.0 - dry * time / speed).max(0.0) / (1.0 + square * layer.speed * time) } else { 1.0 }
}

impl Coupling for Rock {
    fn name(&self) -> &'static str {
        "rock"
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary, solvers: &mut Solvers) -> Result<(), SolverError> {
        boundary.gather(interval.end());
        solvers.iter_mut().for_each(|s| s.take_loads(boundary));
        let Some(drag) = self.drag.filter(|_| self.schedule.due(interval.step + 1)) else { return Ok(()) };
        if drag.law == Law::Coulomb && drag.yield_stress == 0.0 && self.extra.is_none() {
            return Ok(());
        }
        let begun = Instant::now();
        // Snow that lies on it is part of what flows go over.
        let bed = boundary.walls().iter().find_map(|w| match &w.geometry {
            Geometry::Relief(bed) => Some(bed.clone()),
            _ => None,
        });
        self.bed = bed.unwrap_or_else(|| self.bed.clone());
        if let Some(dem) = solvers.find_mut::<Dem>() {
            self.sum(dem);
            let rock = &*self;
            dem.slow(&|x, v| {
                rock.layer(&drag, x, v)
                    .map_or(1.0, |layer| kept(v.length(), &layer, rock.deceleration(&drag, &layer, x), rock.every))
            });
        }
        self.timers.ran(Stage::Drag, begun);
        Ok(())
    }

    fn publish(&self, frame: &mut Frame) {
        frame.ground = Some(self.bed.relief().clone());
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        // Heights and coefficients; mass and momentum.
        self.bed.relief().height.len() * 16 + self.flow.len() * 32
    }

    fn save(&self) -> Columns {
        Columns::default()
    }

    fn load(&mut self, _saved: Saved<'_>, _boundary: &mut Boundary) -> Result<(), SolverError> {
        Ok(())
    }

    fn hash(&self, start: u64) -> u64 {
        start
    }
}
