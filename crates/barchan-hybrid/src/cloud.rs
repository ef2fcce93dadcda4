//! A powder cloud over fast flows: light points that the wind carries. It is for the eye, goes one way, and claims no pressure.
//!
//! **Suspension.** A flow of mean speed ū raises c ρ (ū − u_c)₊ of mass a time and area [clouds form above some 10 m/s: Hopfinger 1983]. What a
//! cell owes leaves as whole grains, the topmost first, each of which becomes points that share its mass.
//!
//! **Wind.** Over a flow the air goes along with it, less and less upwards and where nothing flows any more; added is a noise whose curl it is, so that it
//! has no sources, with eddies that grow with height. Points are drawn along by the drag of Schiller and Naumann (1935), so they settle; each keeps
//! its share of the height by which a cloud grows, a tenth of its way. What comes to the ground has settled, and is counted.

use crate::flow::Flow;
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Column, Columns, Saved, mix, of_length};
use barchan_core::frame::{Extra, Frame, POWDER, Population};
use barchan_core::math;
use barchan_core::relief::Relief;
use barchan_core::rng::Random;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Coupling, Gauge, SolverError, Solvers};
use barchan_core::stages::{StageTime, Timers};
use barchan_dem::Dem;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::collections::HashSet;
use std::f64::consts::PI;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step of the cloud.
    pub enum Stage {
        /// Flows raise points.
        Suspend = "suspend",
        /// The wind carries them.
        Carry = "carry",
    }
}

/// Simulated time between two steps of the cloud [s].
const EVERY: f64 = 0.02;
/// Density [kg/m³] and viscosity [Pa s] of air at 0 °C, density of ice [kg/m³].
const AIR: f64 = 1.29;
const VISCOSITY: f64 = 1.72e-5;
const ICE: f64 = 917.0;
/// Speed of the air over a flow, over the flow's; height over which it falls to 1/e [m].
const DRAWN: f64 = 0.8;
const HEIGHT: f64 = 15.0;
/// Speed of the eddies over the wind's, and their width over their height above the ground; at least [m].
const EDDIES: f64 = 0.35;
const WIDTH: f64 = 0.6;
const LEAST: f64 = 2.0;
/// Time in which the air over what has passed comes to rest [s].
const CALM: f64 = 4.0;

/// What a cloud is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Most points.
    pub most: usize,
    /// Coefficient of suspension.
    pub rate: f64,
    /// Speed from which flows raise points [m/s].
    pub speed: f64,
    /// Diameter of the ice of a point [m].
    pub diameter: f64,
    /// Growth of the height a length of way.
    pub growth: f64,
    /// Points of a kilogram.
    pub points: f64,
    /// Bulk density of the flow [kg/m³].
    pub density: f64,
    /// Magnitude of gravity [m/s²].
    pub gravity: f64,
    /// Ids below are bodies.
    pub first: u32,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// A light point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    id: u32,
    place: DVec3,
    velocity: DVec3,
    /// Of the air about it [m/s].
    wind: DVec3,
    mass: f64,
    /// Radius at which it is drawn [m].
    radius: f64,
    /// Share of the cloud's growth in height that it goes along with.
    share: f64,
}

/// A cloud.
pub struct Cloud {
    terms: Terms,
    wall: usize,
    flow: Flow,
    owed: Vec<f64>,
    points: Vec<Point>,
    born: u64,
    raised: f64,
    settled: f64,
    /// Radius of a new point [m].
    width: f64,
    schedule: Schedule,
    every: f64,
    timers: Timers<Stage>,
}

/// Rate at which the air brings a sphere to its own speed [1/s], by the drag of Schiller and Naumann (1935), for Re up to 800:
///   18 μ/(ρ d²)·(1 + 0.15 Re^0.687)
pub fn drag_rate(diameter: f64, slip: f64) -> f64 {
    let reynolds = AIR * slip * diameter / VISCOSITY;
    18.0 * VISCOSITY / (ICE * diameter * diameter) * (1.0 + 0.15 * math::powf(reynolds, 0.687))
}

/// Air of zero divergence with eddies of a width [m], of about unit speed: the curl of a smooth noise.
fn eddies(x: DVec3, width: f64) -> DVec3 {
    let p = x / width;
    let low = p.floor();
    let (cell, f) = (low.as_ivec3(), p - low);
    let (u, rise) = (f * f * (3.0 - 2.0 * f), 6.0 * f * (1.0 - f));
    // Gradients of the three components of the potential.
    let mut gradient = [DVec3::ZERO; 3];
    for k in 0..8 {
        let corner = IVec3::new(k & 1, k >> 1 & 1, k >> 2);
        let far = corner.as_dvec3();
        let weight = far * u + (1.0 - far) * (1.0 - u);
        let slope =
            (2.0 * far - 1.0) * rise * DVec3::new(weight.y * weight.z, weight.x * weight.z, weight.x * weight.y);
        for (salt, gradient) in gradient.iter_mut().enumerate() {
            *gradient += (2.0 * share(cell + corner, salt as u32) - 1.0) * slope;
        }
    }
    let [a, b, c] = gradient;
    DVec3::new(c.y - b.z, a.z - c.x, b.x - a.y)
}

/// A number from 0 to 1 of a cell and a salt (the finaliser of MurmurHash3 mixes the bits).
fn share(cell: IVec3, salt: u32) -> f64 {
    let [x, y, z] = cell.to_array().map(|c| c as u32);
    let mut h = x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ z.wrapping_mul(0xc2b2_ae35);
    h ^= salt.wrapping_mul(0x27d4_eb2f);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from(h ^ (h >> 16)) / f64::from(u32::MAX)
}

impl Point {
    /// Goes on by a time [s] in a wind [m/s].
    fn go(&mut self, wind: DVec3, time: f64, terms: &Terms) {
        self.wind = wind;
        let rate = drag_rate(terms.diameter, (wind - self.velocity).length());
        // Implicit: a point that the air holds fast is much quicker than a step.
        let pull = DVec3::NEG_Z * (terms.gravity * (1.0 - AIR / ICE));
        self.velocity = (self.velocity + (wind * rate + pull) * time) / (1.0 + rate * time);
        let way = self.velocity * time;
        self.place += way;
        let grown = terms.growth * way.truncate().length();
        self.place.z += grown * self.share;
        self.radius += 0.5 * grown;
    }
}

impl Cloud {
    /// A cloud over rock that is the wall of that index, over which grains of a diameter [m] flow.
    pub fn new(terms: Terms, relief: &Relief, wall: usize, diameter: f64) -> Cloud {
        let flow = Flow::over(relief, 4.0 * diameter);
        let owed = vec![0.0; flow.sums.len()];
        let (schedule, timers) = (Schedule::every(1), Timers::default());
        let points = Vec::new();
        let width = 1.5 * diameter;
        Cloud {
            terms,
            wall,
            flow,
            owed,
            points,
            born: 0,
            raised: 0.0,
            settled: 0.0,
            width,
            schedule,
            every: EVERY,
            timers,
        }
    }

    /// Lays its rhythm onto the steps of a run [s].
    pub fn set_dt(&mut self, dt: f64) {
        self.schedule = Schedule::new(EVERY, dt);
        self.every = self.schedule.step(1).max(1) as f64 * dt;
    }

    fn suspend(&mut self, dem: &mut Dem) {
        let Terms { rate, speed, density, .. } = self.terms;
        let area = self.flow.cell * self.flow.cell;
        let mut any = false;
        for &cell in &self.flow.busy {
            let excess = (self.flow.sums[cell].speed() - speed).max(0.0);
            if excess > 0.0 {
                self.owed[cell] += rate * density * excess * area * self.every;
                any = true;
            }
        }
        if !any {
            return;
        }
        let population = dem.population();
        let mut top: Vec<(usize, usize)> = (0..population.len())
            .filter(|row| population.id[*row] >= self.terms.first && population.shape.get(*row).is_none_or(|s| *s == 0))
            .filter_map(|row| Some((row, self.flow.cell_of(population.position[row])?)))
            .filter(|(row, cell)| self.owed[*cell] >= population.mass[*row])
            .collect();
        let height = |row: usize| population.position[row].z;
        top.sort_by(|a, b| height(b.0).total_cmp(&height(a.0)).then(population.id[a.0].cmp(&population.id[b.0])));
        let mut gone = HashSet::new();
        for (row, cell) in top {
            let mass = population.mass[row];
            let many = ((mass * self.terms.points).round() as usize).max(1);
            if self.owed[cell] < mass || self.points.len() + many > self.terms.most {
                continue;
            }
            self.owed[cell] -= mass;
            self.raised += mass;
            gone.insert(population.id[row]);
            for _ in 0..many {
                let mut random = Random::new(self.terms.seed, (1 << 40) + self.born);
                let place = population.position[row] + random.in_ball() * self.flow.cell * 0.5;
                let velocity = population.velocity[row];
                let (mass, share) = (mass / many as f64, random.uniform());
                let id = self.born as u32;
                self.points.push(Point { id, place, velocity, wind: velocity, mass, radius: self.width, share });
                self.born += 1;
            }
        }
        if !gone.is_empty() {
            dem.remove_where(&|id, _| gone.contains(&id));
        }
    }

    fn carry(&mut self, boundary: &Boundary, time: f64) {
        let Some(bed) = boundary.walls()[self.wall].bed() else { return };
        let (flow, terms, every) = (&self.flow, &self.terms, self.every);
        let go = |p: &mut Point| {
            let over = bed.over(p.place.x, p.place.y);
            let above = over.as_ref().map_or(HEIGHT, |over| (p.place.z - over.z).max(0.0));
            let wind = match flow.wind(p.place) {
                Some((speed, top)) => DRAWN * math::exp(-(p.place.z - top).max(0.0) / HEIGHT) * speed,
                None => p.wind * math::exp(-every / CALM),
            };
            // The noise drifts with time, so that eddies do not stand over the mountain.
            let width = (WIDTH * above).max(LEAST);
            let at = p.place - DVec3::new(0.0, 0.0, 1.0) * (0.5 * time);
            let strength = EDDIES * wind.length();
            let eddy = eddies(at, width) * strength;
            p.go(wind + eddy, every, terms);
            // The mean wind alone is remembered.
            p.wind = wind;
            // It has come to the ground, or left the mountain.
            bed.over(p.place.x, p.place.y).is_none_or(|over| p.place.z < over.z)
        };
        let down: Vec<bool> = self.points.par_iter_mut().map(go).collect();
        let mut stays = down.iter().map(|down| !down);
        for (p, _) in self.points.iter().zip(&down).filter(|(_, down)| **down) {
            self.settled += p.mass;
        }
        self.points.retain(|_| stays.next().unwrap_or(true));
    }

    /// Masses [kg]: in the air, raised and settled so far.
    pub fn books(&self) -> [f64; 3] {
        // A sum of nothing is −0.
        [self.points.iter().map(|p| p.mass).sum::<f64>() + 0.0, self.raised, self.settled]
    }
}

impl Coupling for Cloud {
    fn name(&self) -> &'static str {
        "cloud"
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary, solvers: &mut Solvers) -> Result<(), SolverError> {
        if !self.schedule.due(interval.step + 1) {
            return Ok(());
        }
        if let Some(dem) = solvers.find_mut::<Dem>() {
            let begun = Instant::now();
            self.flow.sum(dem);
            self.suspend(dem);
            self.timers.ran(Stage::Suspend, begun);
            let begun = Instant::now();
            self.carry(boundary, interval.end());
            self.timers.ran(Stage::Carry, begun);
        }
        Ok(())
    }

    fn publish(&self, frame: &mut Frame) {
        let p = &self.points;
        // Light is cut off by ice of that diameter: 1.5·2/(ρ d) of area a mass (van de Hulst 1957, §8.2: an efficiency of 2), over the disc.
        let area = 3.0 / (ICE * self.terms.diameter);
        let depth = |p: &Point| (p.mass * area / (PI * p.radius * p.radius)) as f32;
        frame.populations.push(Population {
            name: POWDER.into(),
            position: p.iter().map(|p| p.place).collect(),
            velocity: p.iter().map(|p| p.velocity).collect(),
            spin: vec![DVec3::ZERO; p.len()].into(),
            radius: p.iter().map(|p| p.radius).collect(),
            mass: p.iter().map(|p| p.mass).collect(),
            id: p.iter().map(|p| p.id).collect(),
            material: vec![0; p.len()].into(),
            extras: vec![Extra::real("depth", "", p.iter().map(depth).collect::<Vec<f32>>())],
            ..Population::default()
        });
    }

    fn gauges(&self, _solvers: &Solvers) -> Vec<Gauge> {
        let [air, _, settled] = self.books();
        let gauge = |name, value| Gauge { name, unit: "kg", value };
        vec![gauge("cloud", air), gauge("settled", settled)]
    }

    fn mass(&self) -> f64 {
        let [air, _, settled] = self.books();
        air + settled
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        self.points.capacity() * size_of::<Point>() + self.owed.len() * 72
    }

    fn save(&self) -> Columns {
        let row = |p: &Point| {
            let vectors = [p.place, p.velocity, p.wind].into_iter().flat_map(|v| v.to_array());
            vectors.chain([p.mass, p.radius, p.share]).collect::<Vec<f64>>()
        };
        vec![
            ("points".into(), Column::F64(self.points.iter().flat_map(row).collect())),
            ("ids".into(), Column::U32(self.points.iter().map(|p| p.id).collect())),
            ("owed".into(), Column::F64(self.owed.clone())),
            ("born".into(), Column::U64(vec![self.born])),
            ("books".into(), Column::F64(vec![self.raised, self.settled])),
        ]
    }

    fn load(&mut self, saved: Saved<'_>, _boundary: &mut Boundary) -> Result<(), SolverError> {
        let ids = saved.u32s("ids")?;
        let rows = saved.f64s_of("points", 12 * ids.len())?;
        let row = |(id, r): (&u32, &[f64])| Point {
            id: *id,
            place: DVec3::from_slice(&r[0..3]),
            velocity: DVec3::from_slice(&r[3..6]),
            wind: DVec3::from_slice(&r[6..9]),
            mass: r[9],
            radius: r[10],
            share: r[11],
        };
        self.points = ids.iter().zip(rows.chunks_exact(12)).map(row).collect();
        self.owed = saved.f64s_of("owed", self.owed.len())?;
        let born = saved.u64s("born")?;
        of_length("born", born.len(), 1)?;
        let books = saved.f64s_of("books", 2)?;
        (self.born, self.raised, self.settled) = (born[0], books[0], books[1]);
        Ok(())
    }

    fn hash(&self, start: u64) -> u64 {
        let coordinates = self.points.iter().flat_map(|p| p.place.to_array());
        coordinates.fold(start, |h, x| mix(h, x.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        most: 1000,
        rate: 1e-3,
        speed: 10.0,
        diameter: 2e-4,
        growth: 0.0,
        points: 1.0,
        density: 300.0,
        gravity: 9.81,
        first: 0,
        seed: 1,
    };

    fn point() -> Point {
        let zero = DVec3::ZERO;
        Point { id: 0, place: zero, velocity: zero, wind: zero, mass: 1.0, radius: 1.0, share: 0.5 }
    }

    #[test]
    fn a_point_settles_at_the_speed_of_schiller_and_naumann() {
        let mut p = point();
        (0..2000).for_each(|_| p.go(DVec3::ZERO, EVERY, &TERMS));
        // The balance of weight and drag, by bisection.
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..60 {
            let v = 0.5 * (low + high);
            let falls = 9.81 * (1.0 - AIR / ICE) > v * drag_rate(2e-4, v);
            (low, high) = if falls { (v, high) } else { (low, v) };
        }
        assert!((-p.velocity.z / low - 1.0).abs() < 0.02, "{} for {low}", p.velocity.z);
        assert!((0.5..1.2).contains(&low), "{low}");
    }

    #[test]
    fn a_point_goes_with_an_even_wind() {
        let mut p = point();
        (0..1000).for_each(|_| p.go(DVec3::X * 20.0, EVERY, &TERMS));
        let before = p.place.x;
        (0..500).for_each(|_| p.go(DVec3::X * 20.0, EVERY, &TERMS));
        assert!(((p.place.x - before) / 200.0 - 1.0).abs() < 1e-3);
        assert!((p.velocity.x / 20.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn eddies_have_no_sources() {
        let h = 1e-4;
        for k in 0..200 {
            let x = DVec3::new(0.37 * f64::from(k), -0.21 * f64::from(k), 0.11 * f64::from(k)) + 0.05;
            let spread: f64 = DVec3::AXES
                .into_iter()
                .map(|a| (eddies(x + a * h, 3.0) - eddies(x - a * h, 3.0)).dot(a) / (2.0 * h))
                .sum();
            assert!(spread.abs() < 1e-5, "{spread} at {x}");
        }
    }

    #[test]
    fn a_cloud_grows_by_a_tenth_of_its_way() {
        let terms = Terms { growth: 0.1, gravity: 0.0, ..TERMS };
        let mut p = Point { share: 1.0, velocity: DVec3::X * 20.0, ..point() };
        (0..1000).for_each(|_| p.go(DVec3::X * 20.0, EVERY, &terms));
        assert!((p.place.z / p.place.x - 0.1).abs() < 1e-9, "{}", p.place);
    }
}
