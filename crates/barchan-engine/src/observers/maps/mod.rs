//! Maps of a flow over rock: what avalanche people hand in.
//!
//! Grains are summed over the cells of the rock: thickness h = Σm/ρ over the cell's sloping area, speed |Σmv|/Σm, pressure ρu². Peaks of these, when snow
//! arrived, the travel angle and what lies at the end are rasters on the grid of the rock's elevation model, named as AvaFrame's AIMEC wants them.
//! The table has the front, the centre of mass and its energy line against time.

mod thalweg;

pub use thalweg::Thalweg;

use super::{Asked, Observer, View};
use barchan_core::columns::Column;
use barchan_core::georeference::Georeference;
use barchan_core::relief::Relief;
use barchan_io::csv;
use barchan_io::raster::{self, Raster};
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Assets, Place, Release, Scene, keys};
use glam::{DVec2, DVec3};
use std::sync::Arc;

keys! {
    /// Peak thickness, speed and pressure of a flow over rock, cell by cell, its front and its energy.
    pub struct MapsKeys = "write `maps = {}`, or `maps = { line = \"thalweg.shp\" }`" {
        /// Flows thinner than this are none [m].
        thickness_min: f64 [LENGTH; not_negative("the least thickness")] = 0.05,
        /// Thickness [m] from which a cell counts as the front.
        front: f64 [LENGTH; positive("the thickness of the front")] = 0.1,
        /// Bulk density of the flow [kg/m³]; left out: that of the release, or 0.6 of the first population's material.
        density: Option<f64> [DENSITY; positive("the density of the flow")],
        /// Path of a shapefile or a GeoJSON with a line down the path, from the folder of the scene.
        line: Option<String>,
        /// Points of a line down the path, x and y [m] of the scene.
        points: Vec<[f64; 2]> [LENGTH; help("write a list of points, such as [[0, 0], [1000, 0]]")] = Vec::new(),
        /// Writes GeoTIFF in place of ESRI ASCII grids.
        tif: bool = false,
    }
}

impl Measured for MapsKeys {
    const KEY: &'static str = "maps";
    const ABOUT: &'static str =
        "Peak thickness, speed and pressure of a flow over rock, cell by cell, its front and its energy.";

    fn check_all(&self, c: &mut Check, path: &str) {
        if c.scene.ground.as_ref().is_none_or(|g| g.rock.is_none()) {
            c.error(
                path,
                "maps are of a flow over rock, and there is none",
                "add `[ground] rock = { … }`, or leave this out",
            );
        }
        if self.line.is_some() && !self.points.is_empty() {
            c.error(path, "there are two lines", "give one of `line` and `points`");
        }
        if self.points.len() == 1 {
            c.error(path, "a line has two points at least", "add a point");
        }
    }

    fn file(&self) -> Option<&str> {
        self.line.as_deref()
    }
}

impl Asked for MapsKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        Box::new(Maps::new(self, scene))
    }
}

/// Longest time between two looks [s], and the share of a cell that the fastest flow may go between them.
const LONGEST: f64 = 0.1;
const SHARE: f64 = 0.5;

/// What has been of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// Peak thickness [m], speed [m/s] and travel angle [rad].
    thickness: f64,
    speed: f64,
    angle: f64,
    /// When snow arrived [s]; NaN: never.
    arrival: f64,
    /// Thickness at the start [m], and now [m].
    release: f64,
    now: f64,
}

const EMPTY: Cell = Cell { thickness: 0.0, speed: 0.0, angle: 0.0, arrival: f64::NAN, release: 0.0, now: 0.0 };

/// Columns of a checkpoint that a cell takes.
const OF_CELL: usize = 6;

/// What a look finds besides the cells.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    front: f64,
    speed: f64,
    area: f64,
    mass: f64,
    moving: f64,
    centre: DVec3,
    energy: f64,
}

/// The maps of a run.
#[derive(Clone, Debug)]
pub struct Maps {
    thickness_min: f64,
    front: f64,
    density: f64,
    tif: bool,
    points: Vec<DVec2>,
    map: Option<Georeference>,
    /// Whether the points are on the map; else they are in the world.
    on_map: bool,
    gravity: f64,
    relief: Option<Arc<Relief>>,
    line: Option<Thalweg>,
    /// Of each cell: its sloping over its level area; distance along the line [m], NaN until it is asked for.
    stretch: Vec<f64>,
    distance: Vec<f64>,
    cells: Vec<Cell>,
    sums: Vec<(f64, DVec3)>,
    busy: Vec<usize>,
    /// Where each grain was first seen, by id; NaN: not yet.
    start: Vec<DVec3>,
    /// When the next look is due [s].
    next: f64,
    /// Time and front of the row before [s], [m].
    before: [f64; 2],
    gone: f64,
}

impl Maps {
    /// Of a scene.
    pub fn new(keys: &MapsKeys, scene: &Scene) -> Maps {
        let of_material = |name: &String| scene.materials.get(name).map(|m| m.density);
        let released = scene.grains.iter().find_map(|g| match &g.place {
            Place::Release(r) => r.density.or_else(|| Some(of_material(&g.material)? * r.packing)),
            _ => None,
        });
        let any = || scene.grains.first().and_then(|g| of_material(&g.material)).map(|d| d * Release::PACKING);
        Maps {
            thickness_min: keys.thickness_min,
            front: keys.front,
            density: keys.density.or(released).or_else(any).unwrap_or(f64::NAN),
            tif: keys.tif,
            points: keys.points.iter().map(|p| DVec2::from(*p)).collect(),
            map: None,
            on_map: false,
            gravity: scene.gravity.length(),
            relief: None,
            line: None,
            stretch: Vec::new(),
            distance: Vec::new(),
            cells: Vec::new(),
            sums: Vec::new(),
            busy: Vec::new(),
            start: Vec::new(),
            next: f64::NEG_INFINITY,
            before: [f64::NAN; 2],
            gone: 0.0,
        }
    }

    /// Takes the rock at the first look.
    fn lay_out(&mut self, view: &View<'_>) -> bool {
        if self.relief.is_some() {
            return true;
        }
        let Some(relief) = view.rock().map(|rock| rock.bed().relief().clone()) else { return false };
        let n = relief.height.len();
        let [nx, ny] = relief.size;
        let stretch = |cell: usize| {
            // From middle to middle across the cell: at its own middle a bilinear surface has kinks.
            let across = |at: usize, n: usize, stride: usize| {
                let (low, high) = (usize::from(at > 0), usize::from(at + 1 < n));
                let rise = relief.height[cell + high * stride] - relief.height[cell - low * stride];
                if low + high > 0 { rise / ((low + high) as f64 * relief.cell) } else { 0.0 }
            };
            let slope = DVec2::new(across(cell % nx, nx, 1), across(cell / nx, ny, nx));
            (1.0 + slope.length_squared()).sqrt()
        };
        let stretch: Vec<f64> = (0..n).map(stretch).collect();
        let origin = relief.origin.truncate();
        let map = self.map.clone().filter(|_| self.on_map);
        self.line = Thalweg::new(self.points.iter().map(|p| map.as_ref().map_or(*p, |m| origin + m.from_map(*p))));
        self.stretch = stretch;
        self.distance = vec![f64::NAN; n];
        self.sums = vec![(0.0, DVec3::ZERO); n];
        // A resumed run has its cells already.
        self.cells.resize(n, EMPTY);
        self.relief = Some(relief);
        true
    }

    /// Looks at the grains.
    fn look(&mut self, view: &View<'_>) -> Flow {
        let mut flow = Flow::default();
        if !self.lay_out(view) {
            return flow;
        }
        let Some(relief) = self.relief.clone() else { return flow };
        let (origin, per_cell, [nx, ny]) = (relief.origin.truncate(), 1.0 / relief.cell, relief.size);
        for cell in std::mem::take(&mut self.busy) {
            self.sums[cell] = (0.0, DVec3::ZERO);
            self.cells[cell].now = 0.0;
        }
        let first = self.next == f64::NEG_INFINITY;
        let mut fastest = 0.0_f64;
        for p in view.frame.matter() {
            let columns = p.position.iter().zip(p.velocity.iter()).zip(p.mass.iter()).zip(p.id.iter());
            for (((x, v), mass), id) in columns {
                flow.mass += mass;
                flow.centre += *x * *mass;
                flow.energy += 0.5 * mass * v.length_squared();
                let at = (x.truncate() - origin) * per_cell;
                if !(at.cmpge(DVec2::ZERO).all() && at.x < nx as f64 && at.y < ny as f64) {
                    continue;
                }
                let cell = at.x as usize + at.y as usize * nx;
                if self.sums[cell].0 == 0.0 {
                    self.busy.push(cell);
                }
                let (sum, momentum) = &mut self.sums[cell];
                (*sum, *momentum) = (*sum + mass, *momentum + *v * *mass);
                let id = *id as usize;
                if self.start.len() <= id {
                    self.start.resize(id + 1, DVec3::NAN);
                }
                if self.start[id].is_nan() {
                    self.start[id] = *x;
                }
                let way = self.start[id] - *x;
                let far = way.truncate().length();
                // Within a cell of where it lay an angle says nothing.
                if far > relief.cell {
                    let angle = barchan_core::math::atan2(way.z, far);
                    let cell = &mut self.cells[cell];
                    cell.angle = cell.angle.max(angle);
                }
            }
        }
        let area = relief.cell * relief.cell;
        flow.front = f64::NEG_INFINITY;
        for k in 0..self.busy.len() {
            let cell = self.busy[k];
            let (mass, momentum) = self.sums[cell];
            let thickness = mass / (self.density * area * self.stretch[cell]);
            let speed = momentum.length() / mass;
            let of = &mut self.cells[cell];
            of.now = thickness;
            if first {
                of.release = thickness;
            }
            fastest = fastest.max(speed);
            if thickness < self.thickness_min {
                continue;
            }
            of.thickness = of.thickness.max(thickness);
            of.speed = of.speed.max(speed);
            if of.arrival.is_nan() {
                of.arrival = view.frame.time;
            }
            flow.speed = flow.speed.max(speed);
            flow.area += area;
            if speed > MOVING {
                flow.moving += mass;
            }
            if thickness >= self.front {
                flow.front = flow.front.max(self.distance_of(&relief, cell));
            }
        }
        self.next = view.frame.time + LONGEST.min(SHARE * relief.cell / fastest.max(f64::MIN_POSITIVE));
        flow.centre /= flow.mass;
        flow
    }

    /// Distance of a cell along the line; without one, from the middle of the release [m].
    fn distance_of(&mut self, relief: &Relief, cell: usize) -> f64 {
        if self.distance[cell].is_nan() {
            let p = relief.point(cell).truncate();
            self.distance[cell] = match &self.line {
                Some(line) => line.project(p)[0],
                None => p.distance(self.middle(relief)),
            };
        }
        self.distance[cell]
    }

    /// Middle of the release, by volume.
    fn middle(&self, relief: &Relief) -> DVec2 {
        let weights = self.cells.iter().enumerate().filter(|(_, c)| c.release > 0.0);
        let (sum, volume) = weights.fold((DVec2::ZERO, 0.0), |(sum, volume), (k, c)| {
            let part = c.release * self.stretch[k];
            (sum + relief.point(k).truncate() * part, volume + part)
        });
        if volume > 0.0 { sum / volume } else { relief.origin.truncate() }
    }

    /// A field of the cells as a raster on the map.
    fn raster(&self, relief: &Relief, of: impl Fn(usize) -> f64) -> Raster {
        let local = || raster::local(relief.origin.truncate(), relief.cell);
        let place = self.map.clone().unwrap_or_else(local);
        Raster { size: relief.size, place, values: (0..self.cells.len()).map(of).collect() }
    }
}

/// Speed from which a cell is moving [m/s].
const MOVING: f64 = 1.0;

impl Observer for Maps {
    fn columns(&self) -> Vec<csv::Column> {
        let of = |name: &'static str, unit: &'static str| csv::Column::new(name, unit);
        vec![
            of("front", "m"),
            of("front_speed", "m/s"),
            of("fastest", "m/s"),
            of("area", "m2"),
            of("mass", "kg"),
            of("moving", "kg"),
            of("left", "kg"),
            of("centre_x", "m"),
            of("centre_y", "m"),
            of("centre_z", "m"),
            of("centre_s", "m"),
            of("energy_height", "m"),
        ]
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        if view.frame.time >= self.next {
            self.look(view);
        }
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let flow = self.look(view);
        let front = if flow.front.is_finite() { flow.front } else { f64::NAN };
        let speed = (front - self.before[1]) / (view.frame.time - self.before[0]);
        self.before = [view.frame.time, front];
        let along = self.line.as_ref().map_or(f64::NAN, |l| l.project(flow.centre.truncate())[0]);
        let height = flow.energy / (flow.mass * self.gravity);
        let DVec3 { x, y, z } = flow.centre;
        vec![front, speed, flow.speed, flow.area, flow.mass, flow.moving, self.gone, x, y, z, along, height]
    }

    fn departed(&mut self, _population: &str, gone: &[barchan_core::solver::Departed]) {
        self.gone += gone.iter().map(|g| g.mass).sum::<f64>();
    }

    fn take_files(&mut self, assets: &Assets, index: usize) {
        self.map = assets.heights.as_ref().and_then(|h| h.georeference.clone());
        if let Some(line) = assets.lines.get(&index) {
            (self.points, self.on_map) = (line.points.clone(), true);
        }
    }

    fn rasters(&self, run: &str) -> Vec<(String, Raster)> {
        let Some(relief) = &self.relief else { return Vec::new() };
        let stem: String = run.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
        let ending = if self.tif { "tif" } else { "asc" };
        let field = |name: &str, of: &dyn Fn(&Cell) -> f64| {
            (format!("{stem}_run_null_barchan_{name}.{ending}"), self.raster(relief, |k| of(&self.cells[k])))
        };
        vec![
            field("pft", &|c| c.thickness),
            field("pfv", &|c| c.speed),
            // ρu² in kPa.
            field("ppr", &|c| 1e-3 * self.density * c.speed * c.speed),
            field("pta", &|c| c.angle.to_degrees()),
            field("arrival", &|c| c.arrival),
            field("deposit", &|c| c.now),
            field("release", &|c| c.release),
            (format!("dem.{ending}"), self.raster(relief, |k| relief.origin.z + relief.height[k])),
        ]
    }

    fn texts(&self, _run: &str) -> Vec<(String, String)> {
        let (Some(relief), Some(line)) = (&self.relief, &self.line) else { return Vec::new() };
        // The line as the maps have it: on the map where there is one.
        let origin = relief.origin.truncate();
        let step = relief.cell;
        let n = (line.length() / step).ceil().max(1.0) as usize;
        let points = (0..=n).map(|k| line.at((k as f64 * step).min(line.length())));
        let mut text = String::from("s_m,x_m,y_m,z_m\n");
        for (k, p) in points.enumerate() {
            let place = self.map.as_ref().map_or(p, |m| m.to_map(p - origin));
            let z = relief.over(p.x, p.y).map_or(f64::NAN, |o| o.z);
            text += &format!("{},{},{},{z}\n", (k as f64 * step).min(line.length()), place.x, place.y);
        }
        vec![("thalweg.csv".into(), text)]
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        let cells = self.cells.iter();
        let all = cells.flat_map(|c| [c.thickness, c.speed, c.angle, c.arrival, c.release, c.now]).collect();
        let start = self.start.iter().flat_map(|x| x.to_array()).collect();
        let scalars = vec![self.next, self.before[0], self.before[1], self.gone];
        vec![("cells", Column::F64(all)), ("start", Column::F64(start)), ("scalars", Column::F64(scalars))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        let read = |name: &str| match columns(name) {
            Some(Column::F64(values)) => Ok(values),
            _ => Err(format!("the maps' {name} are missing")),
        };
        let cells = read("cells")?;
        let of = |c: &[f64; OF_CELL]| {
            let [thickness, speed, angle, arrival, release, now] = *c;
            Cell { thickness, speed, angle, arrival, release, now }
        };
        self.cells = cells.as_chunks::<OF_CELL>().0.iter().map(of).collect();
        // What now lies in a cell is cleared by the next look, which knows it by the list of those that were busy.
        self.busy = (0..self.cells.len()).filter(|k| self.cells[*k].now > 0.0).collect();
        self.start = read("start")?.as_chunks::<3>().0.iter().map(|x| DVec3::from_array(*x)).collect();
        let &[next, time, front, gone] = &read("scalars")?[..] else {
            return Err("the maps' scalars are of another form".into());
        };
        (self.next, self.before, self.gone) = (next, [time, front], gone);
        Ok(())
    }
}
