//! Sand in three phases behind the solver seam.

use crate::FlipError;
use crate::checkpoint;
use crate::fractions::{Frame as Place, ON_SURFACE, signed_distance};
use crate::grid::Row;
use crate::parcels::{brick_of, place_of};
use crate::settings::{Limit, Settings, Shown, SolidSettings};
use crate::shown::OF_SOLID;
use crate::step::{Liquid, Report};
use barchan_core::boundary::Boundary;
use barchan_core::clock::{Interval, StepWish};
use barchan_core::columns::{Columns, Saved, mix};
use barchan_core::frame::{Extra, Frame, Population};
use barchan_core::materials::Materials;
use barchan_core::solver::{Counts, Departed, Energies, Gauge, Knob, NewMatter, Solver, SolverError, Totals};
use barchan_core::stages::StageTime;
use glam::DVec3;

/// Memory of a parcel with its share of the grid [bytes].
pub const BYTES_PER_PARCEL: f64 = 260.0;
/// Name of the population of liquid parcels.
pub const LIQUID: &str = "liquid";
/// Name of the population of grains of gas.
pub const GAS: &str = "gas";
/// Name of the population of frozen cells.
pub const SOLID: &str = "solid";
/// The numbers of the phases in published columns.
pub(crate) const PHASE_SOLID: u32 = 0;
pub(crate) const PHASE_LIQUID: u32 = 1;
pub(crate) const PHASE_GAS: u32 = 2;

/// Largest friction angle of a scale [rad]: 44°.
const STEEPEST: f64 = 44.0 * std::f64::consts::PI / 180.0;
/// Name of the knob for the cover over frozen sand.
pub const COVER: &str = "cover";
/// Name of the knob for the restitution of gas.
pub const BOUNCE: &str = "restitution of gas";
/// Name of the knob for layers of grains on a face.
pub const LAYERS: &str = "layers";
/// Name of the knob for grains on a face.
pub const PER_FACE: &str = "grains a face";
/// Name of the knob for passes over riding grains.
pub const PASSES: &str = "passes";
/// Wind of a scale [m/s]: a gale.
const GALE: f64 = 30.0;

/// A state of sand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Frozen cells.
    Solid,
    /// Parcels.
    Liquid,
    /// Single grains.
    Gas,
}

/// What became of a filling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Parcels that it brought.
    pub parcels: usize,
    /// Places that were left out because they lie in a wall.
    pub walled: usize,
}

/// What there is of each phase, and what has passed between them since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseAccount {
    /// Quanta of solid, liquid and gas.
    pub quanta: [u64; 3],
    /// Quanta that froze.
    pub frozen: u64,
    /// Quanta that thawed.
    pub thawed: u64,
    /// Quanta that became gas.
    pub evaporated: u64,
    /// Quanta of gas that became liquid.
    pub condensed: u64,
    /// Energy dissipated by friction, impacts and merging [J].
    pub dissipated: f64,
    /// What rounding changed in the momenta that conversions between liquid and gas moved, over these momenta.
    pub slipped: f64,
}

/// Sand in three phases.
pub struct Flip {
    pub(crate) liquid: Liquid,
}

impl Flip {
    /// Without matter yet.
    pub fn new(settings: Settings) -> Result<Flip, FlipError> {
        settings.check()?;
        Ok(Flip { liquid: Liquid::new(settings) })
    }

    /// What it was given.
    pub fn settings(&self) -> &Settings {
        &self.liquid.settings
    }

    /// Parcels of liquid.
    pub fn len(&self) -> usize {
        self.liquid.parcels.len()
    }

    /// Whether there is no matter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Grains of gas.
    pub fn gas_len(&self) -> usize {
        self.liquid.gas.len()
    }

    /// Frozen cells.
    pub fn solid_len(&self) -> usize {
        self.liquid.solid.cells
    }

    /// What there is of each phase, and what has been converted.
    pub fn account(&self) -> PhaseAccount {
        let l = &self.liquid;
        PhaseAccount {
            quanta: [l.solid.quanta, l.parcels.quanta.iter().map(|&q| u64::from(q)).sum(), l.gas.len() as u64],
            frozen: l.solid.frozen,
            thawed: l.solid.thawed,
            evaporated: l.account.evaporated,
            condensed: l.account.condensed,
            dissipated: l.account.dissipated,
            slipped: if l.account.moved > 0.0 { l.account.slipped / l.account.moved } else { 0.0 },
        }
    }

    /// Numbers of the last step.
    pub fn report(&self) -> &Report {
        &self.liquid.report
    }

    /// Place of the parcel in a row [m].
    pub fn position(&self, row: usize) -> DVec3 {
        self.liquid.frame.point(self.liquid.parcels.cell[row], self.liquid.parcels.offset[row])
    }

    /// Velocity of the parcel in a row [m/s].
    pub fn velocity(&self, row: usize) -> DVec3 {
        self.liquid.parcels.velocity[row]
    }

    /// Permanent id of the parcel in a row.
    pub fn id(&self, row: usize) -> u32 {
        self.liquid.parcels.id[row]
    }

    /// The shape of matter that is a single grain of gas, of one quantum. Matter of any other shape is a parcel.
    pub const SINGLE: u16 = u16::MAX;

    /// Fills a region within a box [m] with eight parcels a cell, at the places from which walls' capacities are counted, where no wall is.
    /// Solid freezes as soon as it lies still and bears its load, without the wait; of gas each parcel's quanta fly singly.
    pub fn fill(
        &mut self,
        corners: [DVec3; 2],
        is_inside: &dyn Fn(DVec3) -> bool,
        velocity: DVec3,
        phase: Phase,
        boundary: &Boundary,
    ) -> Result<Filled, FlipError> {
        let (place, h, split) = (self.place(), self.liquid.settings.cell, self.liquid.settings.split);
        let (low, high) = (place.locate(corners[0]).0, place.locate(corners[1]).0);
        let clear = |x: DVec3| {
            let walls = boundary.walls().iter().zip(boundary.states()).enumerate();
            { walls }.all(|(w, (wall, state))| {
                !boundary.is_there(w) || signed_distance(wall, state, x, 0.5 * h, 1.5 * h) > ON_SURFACE * h
            })
        };
        let before = self.len();
        let (mut claimed, mut walled) = (Vec::new(), 0);
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    for k in 0..8 {
                        let at = |bit: u32| if k >> bit & 1 == 1 { 0.75 } else { 0.25 };
                        let offset = DVec3::new(at(0), at(1), at(2));
                        let point = place.point([x, y, z], offset);
                        if !is_inside(point) {
                            continue;
                        }
                        if !clear(point) {
                            walled += 1;
                        } else {
                            self.liquid.give_birth([x, y, z], offset, velocity, split)?;
                            claimed.push([x, y, z]);
                        }
                    }
                }
            }
        }
        let parcels = self.len() - before;
        match phase {
            Phase::Liquid => {}
            Phase::Solid => self.liquid.solid.claim(claimed),
            Phase::Gas => self.liquid.scatter_from(before)?,
        }
        Ok(Filled { parcels, walled })
    }

    /// Frozen cells as balls of their bulk volume; `ball` is the cube of a ball's radius over its mass [m³/kg].
    fn frozen(&self, ball: f64) -> Population {
        let (l, n, place) = (&self.liquid, self.solid_len(), self.place());
        let mass: Vec<f64> = l.solid.list().map(|c| f64::from(c.1) * l.settings.quantum()).collect();
        let radius: Vec<f64> = mass.iter().map(|m| barchan_core::math::cbrt(m * ball)).collect();
        // A frozen cell is known by its place, above the ids of all parcels and grains.
        let id = |c: [i32; 3]| OF_SOLID | l.number(c) & (OF_SOLID - 1);
        Population {
            name: SOLID.into(),
            position: l.solid.list().map(|c| place.point(c.0, DVec3::splat(0.5))).collect(),
            velocity: vec![DVec3::ZERO; n].into(),
            radius: radius.into(),
            mass: mass.into(),
            id: l.solid.list().map(|c| id(c.0)).collect(),
            material: vec![l.settings.material; n].into(),
            extras: vec![Extra::whole("phase", vec![PHASE_SOLID; n])],
            ..Population::default()
        }
    }

    fn place(&self) -> Place {
        self.liquid.frame
    }

    /// A field of the grid at the cells of the parcels, for those that are on the grid.
    fn at_parcels(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f32> {
        let l = &self.liquid;
        let at = |cell: &[i32; 3]| {
            let (slot, k) = (l.grid.slot(brick_of(*cell)) as usize, place_of(*cell) as usize);
            if slot == 0 { 0.0 } else { value(slot * 64 + k / 8, k % 8) as f32 }
        };
        l.parcels.cell.iter().map(at).collect()
    }

    fn fill_at(&self, r: usize, x: usize) -> f64 {
        let l = &self.liquid;
        let value = |f: &[Row]| f.get(r).map_or(0.0, |row| row[x]);
        let capacity = value(&l.fractions.capacity);
        if capacity > 0.0 { value(&l.pack.mass) / capacity } else { 0.0 }
    }
}

impl From<FlipError> for SolverError {
    fn from(e: FlipError) -> SolverError {
        SolverError::new(e)
    }
}

impl Solver for Flip {
    fn name(&self) -> &'static str {
        "phases"
    }

    fn wish(&self) -> StepWish {
        let reason = "a fifth of the time in which sand falls through a cell, 0.2 √(h/g)".into();
        StepWish { dt: self.liquid.wish(), fixed: false, reason }
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        Ok(self.liquid.step(interval, boundary)?)
    }

    /// A piece of shape [`Flip::SINGLE`] becomes a grain of gas; another one becomes a parcel of as many whole quanta as are nearest to its mass, at least one; without a mass, of nominal size.
    fn add(&mut self, matter: &[NewMatter], _boundary: &Boundary) -> Result<u32, SolverError> {
        let first = self.liquid.born;
        let quantum = self.liquid.settings.quantum();
        for m in matter {
            let whole = |mass: f64| (mass / quantum).round().clamp(1.0, f64::from(u32::MAX)) as u32;
            let quanta = m.mass.map_or(self.liquid.settings.split, whole);
            if m.shape == Flip::SINGLE && self.liquid.settings.gas.is_some() {
                self.liquid.release(m.position, m.velocity)?;
                continue;
            }
            let (cell, offset) = self.place().locate(m.position);
            self.liquid.give_birth(cell, offset, m.velocity, quanta)?;
        }
        Ok(first)
    }

    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let (place, quantum) = (self.place(), self.liquid.settings.quantum());
        // Frozen sand has no ids. It thaws where matter leaves, and leaves as parcels.
        self.liquid.thaw_where(|x| leaves(u32::MAX, x));
        let p = &mut self.liquid.parcels;
        let point = |i: usize| place.point(p.cell[i], p.offset[i]);
        let gone: Vec<bool> = (0..p.len()).map(|i| leaves(p.id[i], point(i))).collect();
        let departed = |i: usize| Departed {
            id: p.id[i],
            mass: f64::from(p.quanta[i]) * quantum,
            position: point(i),
            velocity: p.velocity[i],
        };
        let mut out: Vec<Departed> = (0..p.len()).filter(|&i| gone[i]).map(departed).collect();
        if !out.is_empty() {
            p.retain(|i| !gone[i]);
        }
        let g = &mut self.liquid.gas;
        let gone: Vec<bool> = (0..g.len()).map(|i| leaves(g.id[i], g.position[i])).collect();
        let departed =
            |i: usize| Departed { id: g.id[i], mass: quantum, position: g.position[i], velocity: g.velocity[i] };
        out.extend((0..g.len()).filter(|&i| gone[i]).map(departed));
        if gone.contains(&true) {
            g.retain(|i| !gone[i]);
        }
        out
    }

    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        let domain = self.liquid.settings.domain;
        let out = |x: DVec3| (0..3).any(|k| !domain.periodic[k] && !(domain.min[k]..=domain.max[k]).contains(&x[k]));
        let g = &self.liquid.gas;
        let liquid = (0..self.len()).map(|i| (self.id(i), self.position(i)));
        liquid.chain((0..g.len()).map(|i| (g.id[i], g.position[i]))).filter(|(_, x)| out(*x)).collect()
    }

    fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        let radius = 0.25 * self.liquid.settings.cell;
        (0..self.len()).for_each(|i| visit(self.position(i), radius));
        let place = self.place();
        self.liquid.solid.list().for_each(|(c, _)| visit(place.point(c, DVec3::splat(0.5)), 2.0 * radius));
    }

    fn publish(&self, frame: &mut Frame) {
        let (l, n) = (&self.liquid, self.len());
        let settings = &l.settings;
        let quantum = settings.quantum();
        let mass: Vec<f64> = l.parcels.quanta.iter().map(|&q| f64::from(q) * quantum).collect();
        // A parcel is drawn as the ball of the bulk volume it stands for.
        let ball = 3.0 / (4.0 * std::f64::consts::PI * settings.bulk());
        let radius: Vec<f64> = mass.iter().map(|m| barchan_core::math::cbrt(m * ball)).collect();
        let pressure = self.at_parcels(|r, x| l.flow.pressure.get(r).map_or(0.0, |p| p[x] * settings.bulk()));
        frame.populations.push(Population {
            name: LIQUID.into(),
            position: (0..n).map(|i| self.position(i)).collect(),
            velocity: l.parcels.velocity[..].into(),
            radius: radius.into(),
            mass: mass.into(),
            id: l.parcels.id[..].into(),
            material: vec![settings.material; n].into(),
            extras: vec![
                Extra::whole("phase", vec![PHASE_LIQUID; n]),
                Extra::real("filling", "", self.at_parcels(|r, x| self.fill_at(r, x))),
                Extra::real("pressure", "Pa", pressure),
            ],
            ..Population::default()
        });
        if settings.solid.is_some() {
            frame.populations.push(self.frozen(ball));
        }
        let (g, n) = (&l.gas, l.gas.len());
        if settings.shown != Shown::Parcels {
            frame.populations.push(l.shown(settings.shown));
        }
        if settings.shown == Shown::Mesh {
            frame.surfaces.push(l.skin());
        }
        if settings.gas.is_none() {
            return;
        }
        frame.populations.push(Population {
            name: GAS.into(),
            position: g.position[..].into(),
            velocity: g.velocity[..].into(),
            radius: vec![0.5 * settings.gas_diameter(); n].into(),
            mass: vec![quantum; n].into(),
            id: g.id[..].into(),
            material: vec![settings.material; n].into(),
            extras: vec![Extra::whole("phase", vec![PHASE_GAS; n])],
            ..Population::default()
        });
    }

    fn counts(&self) -> Counts {
        Counts {
            name: "parcels",
            pieces: self.len() + self.gas_len() + self.solid_len(),
            work_name: "parcels",
            work: self.len(),
        }
    }

    fn totals(&self) -> Totals {
        let (l, quantum) = (&self.liquid, self.liquid.settings.quantum());
        let p = &l.parcels;
        let base = l.settings.domain.min;
        let (mut quanta, mut momentum, mut energies) = (0u64, DVec3::ZERO, Energies::default());
        for i in 0..p.len() {
            let (q, v) = (f64::from(p.quanta[i]), p.velocity[i]);
            quanta += u64::from(p.quanta[i]);
            momentum += v * q;
            energies.translation += 0.5 * q * v.length_squared();
            energies.gravity -= q * l.settings.gravity.dot(self.position(i) - base);
        }
        let liquid = quanta;
        for (cell, n) in l.solid.list() {
            quanta += u64::from(n);
            let x = l.frame.point(cell, DVec3::splat(0.5));
            energies.gravity -= f64::from(n) * l.settings.gravity.dot(x - base);
        }
        for (x, v) in l.gas.position.iter().zip(&l.gas.velocity) {
            quanta += 1;
            momentum += *v;
            energies.translation += 0.5 * v.length_squared();
            energies.gravity -= l.settings.gravity.dot(*x - base);
        }
        energies.translation *= quantum;
        energies.gravity *= quantum;
        let gauge = |name, value: f64| Gauge { name, unit: "", value };
        let gauges = vec![
            gauge("quanta", quanta as f64),
            gauge("liquid quanta", liquid as f64),
            gauge("gas quanta", l.gas.len() as f64),
            gauge("solid quanta", l.solid.quanta as f64),
            gauge("frozen quanta", l.solid.frozen as f64),
            gauge("thawed quanta", l.solid.thawed as f64),
            gauge("evaporated quanta", l.account.evaporated as f64),
            gauge("condensed quanta", l.account.condensed as f64),
            Gauge { name: "liquid mass", unit: "kg", value: liquid as f64 * quantum },
            Gauge { name: "gas mass", unit: "kg", value: l.gas.len() as f64 * quantum },
            Gauge { name: "solid mass", unit: "kg", value: l.solid.quanta as f64 * quantum },
            Gauge { name: "conversions", unit: "1/s", value: l.report.conversions },
            Gauge { name: "dissipated", unit: "J", value: l.account.dissipated },
            gauge("largest filling", l.report.fullest),
            gauge("pressure iterations", l.report.press_iterations as f64),
            gauge("pressure residual", l.report.press.residual),
            gauge("friction iterations", l.report.grip.iterations as f64),
            gauge("steps a world step", f64::from(l.report.substeps)),
        ];
        Totals { mass: quanta as f64 * quantum, momentum: momentum * quantum, energies, gauges }
    }

    fn stages(&self) -> Vec<StageTime> {
        self.liquid.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        self.liquid.memory()
    }

    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_PARCEL
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        self.liquid.settings.gravity = gravity;
    }

    fn set_materials(&mut self, materials: &Materials) -> Result<(), SolverError> {
        self.liquid.settings.materials = materials.clone();
        Ok(())
    }

    fn knobs(&self) -> Vec<Knob> {
        let s = &self.liquid.settings;
        let knob = |name, unit, about, range: [f64; 2], value| Knob { name, unit, about, material: None, range, value };
        let of = |knob: Knob| Knob { material: Some(s.material), ..knob };
        let angle = "the slope at which a layer just flows: the angle of repose, below 45°";
        // Enough for ten cells of sand to stand upright.
        let stickiest = 10.0 * s.bulk() * 9.81 * s.cell;
        let mut knobs = vec![
            of(knob("friction angle", "rad", angle, [0.0, STEEPEST], s.friction_angle)),
            of(knob("cohesion", "Pa", "shear strength without pressure", [0.0, stickiest], s.cohesion)),
            knob("tolerance", "", "error of the volume of a cell that a step may leave", [1e-5, 1e-1], s.tolerance),
        ];
        let about = "full cells of liquid over what freezes; below 2 nothing does";
        knobs.push(knob(COVER, "", about, [0.0, 12.0], s.solid.map_or(0.0, |solid| f64::from(solid.cover))));
        if let Some(gas) = &s.gas {
            let about = "of impacts of single grains on walls and on sand";
            knobs.push(knob(BOUNCE, "", about, [0.0, 1.0], gas.restitution));
            knobs.push(match s.surface.limit {
                Limit::Packing => {
                    knob(LAYERS, "", "grains that lie upon each other on the surface", [0.1, 5.0], s.surface.layers)
                }
                Limit::PerFace(n) => {
                    knob(PER_FACE, "", "most grains on a face of the surface", [1.0, 100.0], f64::from(n))
                }
            });
            let about = "how often riding grains are displaced in a step; 0 lets them clump";
            knobs.push(knob(PASSES, "", about, [0.0, 10.0], f64::from(s.surface.passes)));
        }
        if let Some(gas) = s.gas.as_ref().filter(|g| g.drag) {
            for (name, value) in ["wind x", "wind y", "wind z"].into_iter().zip(gas.wind.to_array()) {
                knobs.push(knob(name, "m/s", "velocity of the air", [-GALE, GALE], value));
            }
            let about = "0 is a vacuum, 1.2 the air of a room";
            knobs.push(knob("air density", "kg/m³", about, [0.0, 5.0], gas.air_density));
        }
        knobs
    }

    fn set_knob(&mut self, index: usize, value: f64) -> Result<(), SolverError> {
        let mut settings = self.liquid.settings.clone();
        let Some(name) = self.knobs().get(index).map(|k| k.name) else { return Ok(()) };
        let whole = value.round().clamp(0.0, f64::from(u32::MAX)) as u32;
        match name {
            "friction angle" => settings.friction_angle = value,
            "cohesion" => settings.cohesion = value,
            "tolerance" => settings.tolerance = value,
            COVER => settings.solid = (whole >= 2).then_some(SolidSettings { cover: whole }),
            LAYERS => settings.surface.layers = value,
            PER_FACE => settings.surface.limit = Limit::PerFace(whole),
            PASSES => settings.surface.passes = whole,
            _ => {}
        }
        if let Some(gas) = &mut settings.gas {
            match name {
                BOUNCE => gas.restitution = value,
                "wind x" => gas.wind.x = value,
                "wind y" => gas.wind.y = value,
                "wind z" => gas.wind.z = value,
                "air density" => gas.air_density = value,
                _ => {}
            }
        }
        settings.check().map_err(FlipError::from)?;
        self.liquid.settings = settings;
        self.wake();
        Ok(())
    }

    /// Frozen sand thaws; what still lies still freezes again after a moment.
    fn wake(&mut self) {
        self.liquid.thaw_where(|_| true);
    }

    fn each_in(&mut self, centre: DVec3, radius: f64, visit: &mut dyn FnMut(DVec3, f64)) {
        let quantum = self.liquid.settings.quantum();
        self.liquid.thaw_where(|x| x.distance(centre) <= radius);
        let liquid = (0..self.len()).map(|i| (self.position(i), f64::from(self.liquid.parcels.quanta[i]) * quantum));
        let gas = self.liquid.gas.position.iter().map(|x| (*x, quantum));
        { liquid }.chain(gas).filter(|(x, _)| x.distance(centre) <= radius).for_each(|(x, mass)| visit(x, mass));
    }

    fn kick_in(&mut self, centre: DVec3, radius: f64, change: &dyn Fn(DVec3) -> DVec3) -> DVec3 {
        let quantum = self.liquid.settings.quantum();
        let mut given = DVec3::ZERO;
        self.liquid.thaw_where(|x| x.distance(centre) <= radius);
        let by = |x: DVec3| if x.distance(centre) <= radius { change(x) } else { DVec3::ZERO };
        for i in 0..self.len() {
            let by = by(self.position(i));
            self.liquid.parcels.velocity[i] += by;
            given += by * (f64::from(self.liquid.parcels.quanta[i]) * quantum);
        }
        let g = &mut self.liquid.gas;
        for (x, v) in g.position.iter().zip(&mut g.velocity) {
            let by = by(*x);
            *v += by;
            given += by * quantum;
        }
        given
    }

    fn save(&self) -> Columns {
        checkpoint::save(&self.liquid)
    }

    fn load(&mut self, saved: Saved<'_>, _boundary: &Boundary) -> Result<(), SolverError> {
        Ok(checkpoint::load(&mut self.liquid, saved)?)
    }

    fn hash(&self, start: u64) -> u64 {
        let p = &self.liquid.parcels;
        let mut hash = start;
        for i in 0..p.len() {
            let [x, y, z] = p.cell[i].map(|c| c as u32 as u64);
            let words = [x << 42 ^ y << 21 ^ z, u64::from(p.quanta[i]) << 32 | u64::from(p.id[i])];
            let numbers = p.offset[i].to_array().into_iter().chain(p.velocity[i].to_array());
            let numbers = numbers.map(f64::to_bits).chain(p.affine[i].map(|c| u64::from(c.to_bits())));
            hash = words.into_iter().chain(numbers).fold(hash, mix);
        }
        let solid = self.liquid.solid.list().flat_map(|(c, q)| c.map(|c| c as u32).into_iter().chain([q]));
        hash = solid.map(u64::from).fold(hash, mix);
        let g = &self.liquid.gas;
        let numbers = g.position.iter().chain(&g.velocity).flat_map(|v| v.to_array());
        numbers.map(f64::to_bits).chain(g.id.iter().map(|&i| u64::from(i))).fold(hash, mix)
    }
}
