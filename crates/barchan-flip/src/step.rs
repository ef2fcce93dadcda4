//! One step of the three-phase solver, pass by pass.
//!
//! | pass | reads | writes |
//! |---|---|---|
//! | `sort` | parcels | order of the parcels, bricks |
//! | `fractions` | walls and bodies | open shares, capacities, velocities of solids |
//! | `exchange` | filling of the grid | parcels, grains of gas |
//! | `gas` | walls | grains of gas, loads on walls |
//! | `scatter` | parcels | mass and momentum on the grid; parcels, where they are split or merged |
//! | `press` | masses, velocities, stress | pressure |
//! | `grip` | velocities, pressure | stress |
//! | `gather` | velocities on the grid | velocities of parcels, loads on walls |
//! | `move` | velocities of parcels | positions |
//! | `solid` | velocities, pressure, stress | parcels, frozen cells |
//! | `pack` | positions | positions, where too much is in a cell |
//!
//! The names are those of the timers and of the benchmark's columns.

use crate::FlipError;
use crate::exchange::Account;
use crate::extend::extend;
use crate::flow::{Flow, Vectors};
use crate::fractions::{Fractions, Frame, signed_distance};
use crate::gas::{Gas, Under};
use crate::grid::{Grid, ROWS, Row};
use crate::grip::{Grip, Gripped, Law};
use crate::loads;
use crate::pack::{Pack, Room, whereabouts};
use crate::parcels::{self, Order, Parcels, brick_of, place_of};
use crate::press::{self, Problem, flux};
use crate::rate;
use crate::rigid::{Grips, Rigids, Start};
use crate::settings::{Settings, Transfer};
use crate::solid::{self, Solid};
use crate::solve::{Limits, Outcome};
use crate::surface::Surface;
use crate::surface::mesh::Ground;
use crate::surface::ride::Riding;
use crate::transfer;
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::parallel::{self, Watch};
use barchan_core::stages::Timers;
use barchan_core::walls::{Wall, WallState};
use glam::DVec3;

barchan_core::stages! {
    /// The stages of a step.
    pub enum Stage {
        /// Parcels are put into the order of the grid.
        Sort = "sort",
        /// What walls and bodies leave open.
        Fractions = "fractions",
        /// Liquid becomes gas, and gas liquid.
        Exchange = "exchange",
        /// Gas flies.
        Gas = "gas",
        /// Mass and momentum onto the grid.
        Scatter = "scatter",
        /// Pressure.
        Press = "press",
        /// Friction.
        Grip = "grip",
        /// Velocities back to the parcels.
        Gather = "gather",
        /// Parcels move.
        Move = "move",
        /// Sand at rest freezes, and thaws.
        Solid = "solid",
        /// Excess of matter is displaced.
        Pack = "pack",
    }
}

/// Longest step in units of √(h/g): at 0.5 piles lose two degrees of slope.
const FALL: f64 = 0.2;
/// Most iterations of the pressure solver.
const ITERATIONS: usize = 200;
/// Error of the pressure that may stay, as a share of what a cell's weight makes. The residual alone says little in deep beds.
const ERROR: f64 = 0.05;
/// Steps in a row without convergence after which a run stops.
const PATIENCE: u32 = 20;
/// Residual of the pressure solver above which a step counts as not converged, in tolerances: where matter strikes, the last of the cells that
/// bear are found while it moves on.
const POOR: f64 = 2.0;
/// Most steps in a world step: with more, something moves faster than sand ever does.
pub const MOST_STEPS: f64 = 2000.0;
/// Parcels of a full cell, on the seeding lattice.
pub const PER_CELL: usize = 8;
/// Parcels that a task moves.
const CHUNK: usize = 4096;

/// Numbers of the last step, for gauges.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Last pressure solve of the step.
    pub press: Outcome,
    /// Iterations of all pressure solves of the step.
    pub press_iterations: usize,
    /// Last friction solve.
    pub grip: Gripped,
    /// Position solve.
    pub pack: Outcome,
    /// Largest filling ν of a cell.
    pub fullest: f64,
    /// Steps of the solver in the last world step.
    pub substeps: u32,
    /// Quanta a second that changed their phase in the last world step [1/s].
    pub conversions: f64,
    /// Middle of the cell with the largest residual [m], once the pressure has failed for so long that the run stops.
    pub worst: DVec3,
}

/// The liquid and its grid.
pub struct Liquid {
    pub settings: Settings,
    pub frame: Frame,
    pub parcels: Parcels,
    pub order: Order,
    pub grid: Grid,
    pub fractions: Fractions,
    pub gas: Gas,
    pub surface: Surface,
    pub solid: Solid,
    pub account: Account,
    pub flow: Flow,
    pub problem: Problem,
    pub grip: Grip,
    pub rigids: Rigids,
    pub pack: Pack,
    pub states: Vec<WallState>,
    pub flux: Vec<Row>,
    pub scratch: Vectors,
    /// Friction μ(I) of each cell, where it depends on the rate of shear.
    pub rated: Vec<Row>,
    /// Friction of the sand with each wall.
    pub wall_friction: Vec<f64>,
    /// Velocities with which parcels move in this step [m/s].
    pub moves: Vec<DVec3>,
    pub report: Report,
    pub born: u32,
    pub poor: u32,
    pub watch: Watch,
    pub timers: Timers<Stage>,
}

impl Liquid {
    pub fn new(settings: Settings) -> Liquid {
        let size = (settings.domain.max - settings.domain.min) / (8.0 * settings.cell);
        let period = std::array::from_fn(|k| if settings.domain.periodic[k] { size[k].round() as i32 } else { 0 });
        Liquid {
            frame: Frame { origin: settings.domain.min, cell: settings.cell },
            settings,
            parcels: Parcels::default(),
            order: Order::default(),
            grid: Grid::new(period),
            fractions: Fractions::default(),
            gas: Gas::default(),
            surface: Surface::default(),
            solid: Solid::default(),
            account: Account::default(),
            flow: Flow::default(),
            problem: Problem::default(),
            grip: Grip::default(),
            rigids: Rigids::default(),
            pack: Pack::default(),
            states: Vec::new(),
            flux: Vec::new(),
            scratch: Vectors::default(),
            rated: Vec::new(),
            wall_friction: Vec::new(),
            moves: Vec::new(),
            report: Report::default(),
            born: 0,
            poor: 0,
            watch: Watch::default(),
            timers: Timers::default(),
        }
    }

    /// A parcel is born; returns its id.
    pub fn give_birth(
        &mut self,
        cell: [i32; 3],
        offset: DVec3,
        velocity: DVec3,
        quanta: u32,
    ) -> Result<u32, FlipError> {
        self.check_room(1)?;
        Ok(self.bear(cell, offset, velocity, quanta))
    }

    /// A grain of gas is born.
    pub fn release(&mut self, position: DVec3, velocity: DVec3) -> Result<(), FlipError> {
        self.check_room(1)?;
        self.gas.push(position, velocity, self.born);
        self.born += 1;
        Ok(())
    }

    /// The same as [`Liquid::give_birth`], where there is room.
    pub fn bear(&mut self, cell: [i32; 3], offset: DVec3, velocity: DVec3, quanta: u32) -> u32 {
        let (row, id) = (self.parcels.len(), self.born);
        self.parcels.push(cell, offset, velocity, quanta, id);
        self.parcels.shift(row, DVec3::ZERO, &self.grid);
        self.born += 1;
        id
    }

    /// Whether there is room for so many more parcels. Frozen cells keep the room of the parcels that they thaw into.
    pub fn check_room(&self, more: usize) -> Result<(), FlipError> {
        let (parcels, capacity) = (self.parcels.len() + PER_CELL * self.solid.cells + more, self.settings.capacity);
        if parcels + self.gas.len() > capacity {
            return Err(FlipError::Full { parcels, grains: self.gas.len(), capacity });
        }
        Ok(())
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        /// Fields of rows that a brick has: flow, fractions, friction, problems.
        const FIELDS: usize = 75;
        self.parcels.memory()
            + self.solid.memory()
            + self.gas.id.capacity() * 52
            + self.grid.rows() * FIELDS * std::mem::size_of::<Row>()
    }

    /// The longest step [s] that parcels of that speed and walls of that speed [m/s] allow.
    fn longest(&self, speed: f64, walls: f64) -> f64 {
        let (h, g) = (self.settings.cell, self.settings.gravity.length());
        let fall = if g > 0.0 { FALL * (h / g).sqrt() } else { f64::INFINITY };
        (self.settings.courant * h / speed).min(fall).min(0.5 * h / walls)
    }

    /// The longest step that does not depend on what happens [s].
    pub fn wish(&self) -> f64 {
        let at_rest = self.longest(0.0, 0.0);
        if at_rest.is_finite() { at_rest } else { self.settings.cell }
    }

    /// One world step, in as many steps as it takes.
    pub fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), FlipError> {
        let watch = self.watch.clone();
        let (before, converted) = (self.energy(), self.converted());
        watch.during(|| {
            let (mut done, mut substeps) = (0.0, 0);
            while done < interval.dt * (1.0 - 1e-12) {
                let left = interval.dt - done;
                let walls = boundary
                    .states()
                    .iter()
                    .map(|s| s.velocity.length() + s.spin.length() * self.extent())
                    .fold(0.0, f64::max);
                let longest = self.longest(self.fastest(), walls);
                self.check_pace(left / longest, interval.start() + done, boundary)?;
                let dt = left / (left / longest).ceil().max(1.0);
                done = if dt >= left { interval.dt } else { done + dt };
                self.substep(interval.start() + done, done, dt, interval.dt, boundary)?;
                substeps += 1;
            }
            self.report.substeps = substeps;
            Ok::<(), FlipError>(())
        })?;
        self.report.conversions = (self.converted() - converted) as f64 / interval.dt;
        let work = |w: &WallState| -(w.force.dot(w.velocity) + w.torque.dot(w.spin)) * interval.dt;
        let given: f64 = boundary.states().iter().map(work).sum();
        // Where matter comes back at the upper end of a slope that it has left at the lower one, heights say nothing.
        let s = &self.settings;
        if (0..3).all(|k| !s.domain.periodic[k] || s.gravity[k] == 0.0) {
            self.account.dissipated += before + given - self.energy();
        }
        Ok(())
    }

    /// Quanta that have changed their phase since the start.
    fn converted(&self) -> u64 {
        self.account.evaporated + self.account.condensed + self.solid.frozen + self.solid.thawed
    }

    /// Whether a world step can be cut into so many steps.
    fn check_pace(&self, steps: f64, time: f64, boundary: &Boundary) -> Result<(), FlipError> {
        if steps <= MOST_STEPS {
            return Ok(());
        }
        if let Some(i) = self.parcels.velocity.iter().position(|v| !v.is_finite()) {
            return Err(FlipError::NotFinite { what: "parcel", id: self.parcels.id[i], time });
        }
        let speed = |s: &WallState| s.velocity.length() + s.spin.length() * self.extent();
        let walls = boundary.walls().iter().zip(boundary.states()).map(|(w, s)| (speed(s), w));
        let wall = walls.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|w| 2.0 * w.0 >= self.fastest());
        let parcel = || (0..self.parcels.len()).max_by(|&i, &j| self.pace(i).total_cmp(&self.pace(j)));
        let (what, speed) = match wall {
            Some((speed, wall)) => (format!("the wall `{}`", wall.name), speed),
            None => {
                parcel().map_or_else(Default::default, |i| (format!("parcel {}", self.parcels.id[i]), self.pace(i)))
            }
        };
        Err(FlipError::TooFast { what, speed, time, steps, most: MOST_STEPS })
    }

    /// Speed of a parcel along an axis [m/s].
    fn pace(&self, i: usize) -> f64 {
        self.parcels.velocity[i].abs().max_element()
    }

    /// Kinetic energy of all matter and its energy in the field of gravity [J].
    pub fn energy(&self) -> f64 {
        let (g, base, p) = (self.settings.gravity, self.settings.domain.min, &self.parcels);
        let of = |x: DVec3, v: DVec3| 0.5 * v.length_squared() - g.dot(x - base);
        let rows: Vec<usize> = (0..p.len().div_ceil(CHUNK)).collect();
        let liquid = parallel::run(rows, 4, |c| {
            let part = c * CHUNK..((c + 1) * CHUNK).min(p.len());
            part.map(|i| f64::from(p.quanta[i]) * of(self.frame.point(p.cell[i], p.offset[i]), p.velocity[i]))
                .sum::<f64>()
        });
        let gas: f64 = self.gas.position.iter().zip(&self.gas.velocity).map(|(x, v)| of(*x, *v)).sum();
        let solid =
            self.solid.list().map(|(c, q)| f64::from(q) * of(self.frame.point(c, DVec3::splat(0.5)), DVec3::ZERO));
        self.settings.quantum() * (liquid.into_iter().sum::<f64>() + gas + solid.sum::<f64>())
    }

    /// Half the diagonal of the domain [m], by which a turning wall may reach.
    fn extent(&self) -> f64 {
        0.5 * (self.settings.domain.max - self.settings.domain.min).length()
    }

    /// Speed of the fastest parcel along an axis [m/s].
    fn fastest(&self) -> f64 {
        let most = |part: &[DVec3]| part.iter().fold(0.0, |m: f64, v| m.max(v.abs().max_element()));
        parallel::run(self.parcels.velocity.chunks(CHUNK).collect(), 4, most).into_iter().fold(0.0, f64::max)
    }

    fn substep(
        &mut self,
        end: f64,
        elapsed: f64,
        dt: f64,
        world_dt: f64,
        boundary: &mut Boundary,
    ) -> Result<(), FlipError> {
        let mut timers = std::mem::take(&mut self.timers);
        let before = timers.time(Stage::Sort, || self.sort());
        timers.time(Stage::Fractions, || self.open(before, end, elapsed, boundary));
        if timers.time(Stage::Solid, || self.thaw_ahead(dt, boundary)) {
            timers.time(Stage::Sort, || self.resort(boundary));
        }
        if self.settings.gas.is_some() {
            timers.time(Stage::Exchange, || self.exchange(boundary));
            timers.time(Stage::Gas, || self.fly(dt, world_dt, boundary));
        }
        timers.time(Stage::Scatter, || self.scatter(dt, elapsed, boundary));
        if timers.time(Stage::Exchange, || self.resample()) {
            timers.time(Stage::Sort, || self.resort(boundary));
            timers.time(Stage::Scatter, || self.scatter(dt, elapsed, boundary));
        }
        let mut converged = self.stagger(dt, &mut timers);
        for _ in 0..solid::AGAIN {
            // Where the flow would move frozen sand it thaws, and the force goes on to what lies beneath.
            if !timers.time(Stage::Solid, || self.thaw_moved()) {
                break;
            }
            timers.time(Stage::Sort, || self.resort(boundary));
            timers.time(Stage::Scatter, || self.scatter(dt, elapsed, boundary));
            converged = self.stagger(dt, &mut timers);
        }
        timers.time(Stage::Gather, || self.gather(dt, world_dt, boundary));
        timers.time(Stage::Move, || self.advance(dt, boundary));
        if let Some(solid) = self.settings.solid
            && timers.time(Stage::Solid, || self.freeze(solid.cover, dt, world_dt, boundary))
        {
            timers.time(Stage::Sort, || self.resort(boundary));
        }
        timers.time(Stage::Pack, || self.tidy(boundary));
        self.timers = timers;
        self.poor = if converged { 0 } else { self.poor + 1 };
        let lost = |x: &[DVec3], v: &[DVec3]| x.iter().zip(v).position(|(x, v)| !(x.is_finite() && v.is_finite()));
        let (p, g) = (&self.parcels, &self.gas);
        let parcel = lost(&p.offset, &p.velocity).map(|i| ("parcel", p.id[i]));
        match parcel.or_else(|| lost(&g.position, &g.velocity).map(|i| ("grain of gas", g.id[i]))) {
            Some((what, id)) => Err(FlipError::NotFinite { what, id, time: end }),
            None if self.poor >= PATIENCE => {
                let (residual, place) = (self.report.press.residual, self.report.worst);
                Err(FlipError::NotConverged { time: end, steps: PATIENCE, residual, place })
            }
            // What evaporates needs more room than it had. The state is whole, so that it can be saved.
            None => self.check_room(0),
        }
    }

    /// Sorts the parcels and lets the grid follow them. Returns where bricks were, if they changed.
    fn sort(&mut self) -> Option<Vec<u32>> {
        let mut alive = parcels::bricks(&self.parcels, &self.grid);
        alive.extend_from_slice(self.solid.bricks());
        let before = self.grid.set(alive);
        if let Some(before) = &before {
            self.flow.follow(before);
            self.solid.follow(before);
        }
        parcels::sort(&mut self.parcels, &self.grid, &mut self.order);
        before
    }

    /// What walls and bodies leave open at a time [s], `elapsed` [s] after the beginning of the world step.
    fn open(&mut self, before: Option<Vec<u32>>, time: f64, elapsed: f64, boundary: &Boundary) {
        boundary.states_at(time, &mut self.states);
        // A body moves as its loads, gravity and the impulses of this world step so far let it.
        for carried in &boundary.fixtures().carried {
            let state = &mut self.states[carried.wall as usize];
            let body = &boundary.bodies[carried.body as usize];
            (state.velocity, state.spin) = body.predicted(elapsed, self.settings.gravity);
        }
        let s = &self.settings;
        // Grains that are fixed to a rough wall hold sand as sand holds itself.
        let friction = |w: &Wall| {
            let smooth = s.materials.pair(s.material, w.material).friction;
            if w.rough.is_some() { smooth.max(s.friction()) } else { smooth }
        };
        self.wall_friction = boundary.walls().iter().map(friction).collect();
        self.open_up(before, boundary);
    }

    /// What walls and frozen sand leave open, with the walls as they stand.
    fn open_up(&mut self, before: Option<Vec<u32>>, boundary: &Boundary) {
        let spoilt = self.solid.stale();
        self.fractions.update(&self.grid, before.as_deref(), &spoilt, self.frame, boundary, &self.states);
        self.solid.close(&self.grid, &mut self.fractions, self.settings.fill());
    }

    /// Gas flies, bounces and rides on the liquid, which takes what grains lose to it.
    pub fn fly(&mut self, dt: f64, world_dt: f64, boundary: &mut Boundary) {
        let mates: Vec<Option<usize>> = self.mates();
        let near: Vec<bool> = mates.iter().map(Option::is_some).collect();
        let Liquid { grid, fractions, solid, frame, gas, surface, settings, states, .. } = self;
        let Some(air) = &settings.gas else { return };
        let on = Ground { grid, fractions, solid, frame: *frame };
        let at = |x: DVec3| surface.at(&on, x);
        let riding = Riding::new(settings, air.restitution);
        let under = riding.map(|riding| Under { riding, at: &at, near: &near });
        let given = gas.fly(settings, air, boundary, states, under.as_ref(), dt);
        for (wall, point, impulse) in given.walls {
            loads::deliver(boundary, &self.states, wall, point, impulse, world_dt);
        }
        for (row, change) in given.sand {
            if let Some(i) = mates[row] {
                self.parcels.velocity[i] -= change / f64::from(self.parcels.quanta[i]);
            }
        }
    }

    /// Of each grain of gas, the parcel nearest to it in the cells about its own.
    fn mates(&self) -> Vec<Option<usize>> {
        /// Grains that a task looks at.
        const CHUNK: usize = 512;
        let (grid, p, order) = (&self.grid, &self.parcels, &self.order);
        let mate = |x: &DVec3| {
            let (cell, _) = self.frame.locate(*x);
            let (mut best, mut least) = (None, f64::INFINITY);
            for k in 0..27 {
                let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                let mut beside: [i32; 3] = std::array::from_fn(|a| cell[a] + step[a]);
                let plain = beside;
                parcels::settle(&mut beside, &mut DVec3::splat(0.5), grid);
                let slot = grid.slot(brick_of(beside)) as usize;
                if slot == 0 {
                    continue;
                }
                let (first, end) = (order.first[slot] as usize, order.first[slot + 1] as usize);
                let place = place_of(beside);
                let start = first + p.cell[first..end].partition_point(|c| place_of(*c) < place);
                for i in (start..end).take_while(|&i| p.cell[i] == beside) {
                    let away = self.frame.point(plain, p.offset[i]).distance_squared(*x);
                    if away < least {
                        (best, least) = (Some(i), away);
                    }
                }
            }
            best
        };
        let parts =
            parallel::run(self.gas.position.chunks(CHUNK).collect(), 2, |x| x.iter().map(mate).collect::<Vec<_>>());
        parts.concat()
    }

    /// Liquid becomes gas and gas liquid; where any does, parcels are sorted anew.
    pub fn exchange(&mut self, boundary: &Boundary) {
        transfer::mass(&self.grid, &self.parcels, &self.order, self.settings.fill(), &mut self.pack.mass);
        self.solid.add_mass(&mut self.pack.mass);
        self.find_surface();
        let Liquid { grid, fractions, solid, frame, gas, surface, settings, .. } = self;
        let on = Ground { grid, fractions, solid, frame: *frame };
        let taken = surface.spread(&on, settings, gas).taken;
        let condensed = self.condense(&taken);
        let evaporated = self.evaporate();
        if condensed || evaporated {
            self.resort(boundary);
            transfer::mass(&self.grid, &self.parcels, &self.order, self.settings.fill(), &mut self.pack.mass);
            self.solid.add_mass(&mut self.pack.mass);
            self.find_surface();
        }
    }

    /// Distance to the surface, where there is gas to meet it.
    fn find_surface(&mut self) {
        if self.gas.len() == 0 {
            return;
        }
        let deep: Vec<u8> = self.near_open().into_iter().map(|near| !near).collect();
        let Liquid { grid, parcels, order, solid, surface, .. } = self;
        surface.field.update(grid, parcels, order, solid, &deep);
    }

    /// Sorts the parcels and brings the grid's fractions along.
    pub fn resort(&mut self, boundary: &Boundary) {
        let before = self.sort();
        self.open_up(before, boundary);
    }

    pub fn scatter(&mut self, dt: f64, elapsed: f64, boundary: &Boundary) {
        let s = &self.settings;
        transfer::scatter(&self.grid, &self.parcels, &self.order, s.fill(), s.cell, &mut self.flow.carried);
        self.solid.add_to(&mut self.flow.carried);
        self.flow.fall(&self.fractions, s.gravity, dt);
        self.flow.strike(&self.grid, &self.fractions, s.gravity, s.cell, dt);
        let start = Start { boundary, gravity: s.gravity, bulk: s.bulk(), dt, elapsed };
        self.rigids.begin(&self.grid, self.frame, &mut self.fractions, &mut self.flow, &start);
    }

    /// Pressure and friction by turns. Returns whether the last pressure is good.
    fn stagger(&mut self, dt: f64, timers: &mut Timers<Stage>) -> bool {
        let h = self.settings.cell;
        let begun = std::time::Instant::now();
        let full = 1.0 - self.settings.compact;
        let slack = |c: f64, m: f64| (full * c - m).max(0.0);
        let Liquid { grid, fractions, flow, problem, rigids, .. } = self;
        let room = press::Room { fractions, open: rigids.open(fractions) };
        problem.assemble(grid, room, &flow.carried.mass, Some(&flow.mobility), dt / (h * h), slack);
        problem.couple(grid, rigids, h, dt);
        timers.spent(Stage::Press, begun);
        self.report.press_iterations = 0;
        let frictional = self.settings.friction_angle > 0.0 || self.settings.cohesion > 0.0;
        if frictional {
            let Liquid { grid, fractions, flow, rated, settings, .. } = self;
            timers.time(Stage::Grip, || rate::friction(grid, fractions, flow, settings, rated));
            timers.time(Stage::Grip, || self.prepare_grip(dt));
            for _ in 0..self.settings.sweeps {
                timers.time(Stage::Press, || self.press(dt));
                timers.time(Stage::Grip, || self.hold(dt));
            }
        }
        timers.time(Stage::Press, || self.press(dt));
        self.flow.move_by(&self.grid, h, frictional, true);
        let converged = self.report.press.residual <= POOR * self.settings.tolerance;
        if !converged && self.poor + 1 >= PATIENCE {
            self.report.worst = self.worst(dt);
        }
        converged
    }

    /// Middle of the cell in which the pressure leaves the largest residual [m].
    fn worst(&mut self, dt: f64) -> DVec3 {
        let (h, full) = (self.settings.cell, 1.0 - self.settings.compact);
        let Liquid { grid, fractions, flow, flux: out, rigids, .. } = self;
        flux(grid, flow, press::Room { fractions, open: rigids.open(fractions) }, dt, h, out);
        let mut found = ([0; 3], 0.0);
        for r in ROWS..grid.rows() {
            for x in 0..8 {
                let (mass, capacity) = (flow.carried.mass[r][x], fractions.capacity[r][x]);
                let room = (full * capacity - mass).max(0.0) + out[r][x];
                let left = if flow.pressure[r][x] > 0.0 { room.abs() } else { (-room).max(0.0) };
                if mass > 0.0 && left > found.1 {
                    let (k, first) = (r % ROWS, grid.bricks[r / ROWS].map(|b| 8 * b));
                    found = ([first[0] + x as i32, first[1] + k as i32 % 8, first[2] + k as i32 / 8], left);
                }
            }
        }
        self.frame.point(found.0, DVec3::splat(0.5))
    }

    fn press(&mut self, dt: f64) {
        let (h, s) = (self.settings.cell, &self.settings);
        let weight = s.gravity.length() * h;
        let error = if weight > 0.0 { ERROR * weight } else { f64::INFINITY };
        let limits = Limits { tolerance: s.tolerance, error, iterations: ITERATIONS };
        let Liquid { grid, fractions, flow, problem, flux: out, report, rigids, .. } = self;
        rigids.hold(grid, fractions, flow, dt * h * h);
        flow.move_by(grid, h, true, false);
        flux(grid, flow, press::Room { fractions, open: rigids.open(fractions) }, dt, h, out);
        let filling = [&flow.carried.mass[..], &fractions.capacity[..]];
        let load = press::Load { flux: out, tension: s.tension(), filling, gravity: s.gravity, cell: h };
        report.press = problem.solve(grid, limits, Some(load), &mut flow.pressure);
        report.press_iterations += report.press.iterations;
        rigids.press(grid, fractions, flow, dt * h * h);
    }

    fn prepare_grip(&mut self, dt: f64) {
        let Liquid { grid, fractions, flow, grip, settings, rated, wall_friction, rigids, .. } = self;
        let law = law(settings, rated, wall_friction);
        grip.prepare(grid, fractions, flow, &law, settings.cell, (rigids, dt * settings.cell * settings.cell));
    }

    fn hold(&mut self, dt: f64) {
        // Bodies move by the pressure and by the stress so far; the stress may be cut by what the pressure bears, which changes that again.
        let (h, area) = (self.settings.cell, dt * self.settings.cell * self.settings.cell);
        let before = self.rigids.dragged(&self.grid, &self.flow.stress, area);
        self.prepare_grip(dt);
        let Liquid { grid, flow, grip, report, settings, rigids, .. } = self;
        flow.move_by(grid, h, false, true);
        let bodies = Grips { rigids, area, before };
        report.grip = grip.solve(grid, settings.yields, h, flow, &bodies);
    }

    /// Velocities of the grid to the parcels, and what walls were given to the walls.
    fn gather(&mut self, dt: f64, world_dt: f64, boundary: &mut Boundary) {
        for (wall, velocity, spin) in self.rigids.velocities() {
            (self.states[wall].velocity, self.states[wall].spin) = (velocity, spin);
        }
        let Liquid { grid, fractions, flow, .. } = self;
        extend(grid, fractions, &flow.carried.mass, &flow.carried.face, Some(&flow.pressure), &mut flow.velocity);
        self.solid.touches = loads::on_walls(self, dt, world_dt, boundary);
        let Liquid { grid, flow, parcels, order, settings, scratch, moves, .. } = self;
        let flip = match settings.transfer {
            Transfer::Flip(share) => share,
            Transfer::Apic | Transfer::Pic => 0.0,
        };
        if flip > 0.0 {
            for a in 0..3 {
                let change = |(new, old): (&Row, &Row)| std::array::from_fn(|x| new[x] - old[x]);
                scratch[a] = flow.velocity[a].iter().zip(&flow.carried.velocity[a]).map(change).collect();
            }
        }
        let affine = settings.transfer != Transfer::Pic;
        let per_metre = 1.0 / settings.cell;
        let Parcels { cell, offset, velocity, affine: gradients, .. } = parcels;
        let (cell, offset, lengths) = (&*cell, &*offset, order.lengths());
        moves.resize(velocity.len(), DVec3::ZERO);
        let parts = parcels::split(velocity, &lengths, 1).into_iter().zip(parcels::split(gradients, &lengths, 1));
        let parts = parts.zip(parcels::split(moves, &lengths, 1)).enumerate();
        parallel::run(parts.skip(1).collect(), 2, |(s, ((velocity, gradients), moves))| {
            for (k, i) in (order.first[s] as usize..order.first[s + 1] as usize).enumerate() {
                let local = cell[i].map(|c| c & 7);
                let (v, gradient) = transfer::interpolate(grid, s, local, offset[i], &flow.velocity);
                let slope = |k: usize| (gradient[k / 3][k % 3] * per_metre) as f32;
                gradients[k] = if affine { std::array::from_fn(slope) } else { [0.0; 9] };
                moves[k] = v;
                velocity[k] = if flip > 0.0 {
                    let change = transfer::interpolate(grid, s, local, offset[i], scratch).0;
                    (velocity[k] + change) * flip + v * (1.0 - flip)
                } else {
                    v
                };
            }
        });
    }

    /// Parcels move with the velocity they found; those that came into a wall are put back to its surface.
    fn advance(&mut self, dt: f64, boundary: &Boundary) {
        let per_cell = dt / self.settings.cell;
        let Liquid { parcels, moves, grid, .. } = self;
        let parts = parcels.cell.chunks_mut(CHUNK).zip(parcels.offset.chunks_mut(CHUNK)).zip(moves.chunks(CHUNK));
        parallel::run(parts.collect(), 2, |((cell, offset), moves)| {
            for ((cell, offset), way) in cell.iter_mut().zip(offset).zip(moves) {
                *offset += *way * per_cell;
                parcels::settle(cell, offset, grid);
            }
        });
        self.keep_out(boundary);
    }

    /// Puts parcels that are inside a wall back to its surface.
    fn keep_out(&mut self, boundary: &Boundary) {
        let (h, Liquid { grid, fractions, parcels, order, frame, states, .. }) = (self.settings.cell, &*self);
        let pushed = parallel::run((1..grid.len()).collect(), 2, |s| {
            let mut out = Vec::new();
            if !grid.beside[s].iter().any(|&n| fractions.walled[n as usize]) {
                return out;
            }
            for i in order.first[s] as usize..order.first[s + 1] as usize {
                let (slot, local) = whereabouts(grid, s, parcels.cell[i]);
                if fractions.capacity[slot * ROWS + (local[2] * 8 + local[1]) as usize][local[0] as usize] >= 1.0 {
                    continue;
                }
                let x = frame.point(parcels.cell[i], parcels.offset[i]);
                let mut shift = DVec3::ZERO;
                for (w, (wall, state)) in boundary.walls().iter().zip(states).enumerate() {
                    if !boundary.is_there(w) {
                        continue;
                    }
                    let reach = 0.5 * h;
                    let at = |y: DVec3| signed_distance(wall, state, y, reach, 1.5 * h);
                    let d = at(x + shift);
                    if d < 0.0 {
                        let e = 1e-3 * h;
                        let slope = |k: usize| at(x + shift + DVec3::AXES[k] * e) - at(x + shift - DVec3::AXES[k] * e);
                        let normal = DVec3::new(slope(0), slope(1), slope(2)).normalize_or_zero();
                        shift -= normal * (d - 1e-3 * h);
                    }
                }
                if shift != DVec3::ZERO {
                    out.push((i, shift / h));
                }
            }
            out
        });
        for (i, shift) in pushed.into_iter().flatten() {
            self.parcels.shift(i, shift, &self.grid);
        }
    }

    /// Removes excess of matter by displacement.
    fn tidy(&mut self, boundary: &Boundary) {
        if !transfer::within_reach(&self.parcels, &self.order, &self.grid) {
            self.resort(boundary);
        }
        let Liquid { grid, fractions, parcels, order, flow, pack, report, settings, solid, .. } = self;
        report.pack = pack.run(Room { grid, fractions, solid }, settings.fill(), parcels, order, flow);
        let rows = pack.mass.iter().zip(&fractions.capacity);
        let fullest = |(m, c): (&Row, &Row)| (0..8).filter(|&x| c[x] > 0.5).map(|x| m[x] / c[x]).fold(0.0, f64::max);
        report.fullest = rows.map(fullest).fold(0.0, f64::max);
        self.keep_out(boundary);
    }
}

/// The friction law of these settings; `rated` has the friction of each cell where it depends on the rate of shear.
fn law<'a>(s: &Settings, rated: &'a [Row], walls: &'a [f64]) -> Law<'a> {
    Law {
        friction: s.rate.is_some().then_some(rated),
        constant: s.friction(),
        cohesion: s.cohesion / s.bulk(),
        compact: 1.0 - s.compact,
        walls,
        yields: s.yields,
    }
}
