//! Releases: snow laid onto rock within an outline, up to a thickness normal to the slope.
//!
//! The volume is that of the thickness over the sloping area. N grains of diameter d fill it with a share φ if d = (6 φ V/(π N))^(1/3), and each has its
//! share of the mass ρV, so that the mass is exact. They are laid in layers along the slope, as dense as that takes, and then pushed apart where the rock
//! bends and they would overlap.

use barchan_core::recipe::Recipe;
use barchan_core::rng::Random;
use barchan_core::solver::NewMatter;
use barchan_core::walls::Bed;
use barchan_scene::words::count;
use barchan_scene::{Field, Parsed, Place, Problem, Release, Size};
use glam::{DVec2, DVec3, IVec3};
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::PI;
use std::sync::Arc;

/// Lines, and points of each, over which volumes are summed.
const LINES: usize = 1200;
/// Slope beyond which snow does not lie.
const CLIFF: f64 = 70.0 * PI / 180.0;
/// Rounds of pushing apart, and the overlap at which it ends, over the diameter.
const ROUNDS: usize = 200;
const APART: f64 = 2e-3;
/// Overlap that cannot stay, over the diameter: as much as runs tolerate by default.
const TOO_MUCH: f64 = 0.08;
/// Purpose of a release's random numbers.
const LAID: u64 = 1;

/// Snow that lies on rock.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    bed: Arc<Bed>,
    outlines: Vec<Outline>,
    /// Thicknesses cell by cell, with the world's place of their south-western corner [m] and the width of a cell [m].
    field: Option<(Field, DVec2, f64)>,
    low: DVec2,
    high: DVec2,
    /// Volume [m³].
    pub volume: f64,
    /// Sloping area [m²].
    pub surface: f64,
    /// Grains.
    pub count: u64,
    /// Radius of the grains [m], where it follows from their number.
    pub radius: Option<f64>,
    /// Bulk density [kg/m³].
    pub density: f64,
}

/// An outline in the world, and how thick the snow in it lies [m].
#[derive(Clone, Debug)]
struct Outline {
    rings: Vec<Vec<DVec2>>,
    thickness: f64,
}

impl Area {
    /// Thickness at a place [m]; 0 outside.
    fn thickness(&self, p: DVec2) -> f64 {
        if let Some((field, corner, cell)) = &self.field {
            let at = (p - *corner) / *cell;
            let inside = at.cmpge(DVec2::ZERO).all() && at.x < field.size[0] as f64 && at.y < field.size[1] as f64;
            let value = if inside { field.values[at.x as usize + at.y as usize * field.size[0]] } else { 0.0 };
            return if value > 0.0 { value } else { 0.0 };
        }
        self.outlines.iter().filter(|o| o.holds(p)).map(|o| o.thickness).fold(0.0, f64::max)
    }

    /// Total mass [kg].
    pub fn mass(&self) -> f64 {
        self.volume * self.density
    }

    /// Mean thickness [m].
    pub fn mean_thickness(&self) -> f64 {
        self.volume / self.surface
    }
}

impl Outline {
    /// Whether a place is inside, by the number of sides to its east; rings within rings are holes.
    fn holds(&self, p: DVec2) -> bool {
        let mut inside = false;
        for ring in &self.rings {
            for (k, a) in ring.iter().enumerate() {
                let b = ring[(k + 1) % ring.len()];
                if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                    inside = !inside;
                }
            }
        }
        inside
    }
}

/// The snow of all releases of a scene, by the index of their population.
pub(super) fn areas(parsed: &Parsed, bed: Option<&Arc<Bed>>, problems: &mut Vec<Problem>) -> BTreeMap<usize, Area> {
    let mut all = BTreeMap::new();
    for (i, g) in parsed.scene.grains.iter().enumerate() {
        let (Place::Release(release), Some(bed)) = (&g.place, bed) else { continue };
        let given = g.radius.as_ref();
        let material = parsed.scene.materials.get(&g.material).map_or(f64::NAN, |m| m.density);
        match area(parsed, i, release, given, material, bed) {
            Ok(area) => drop(all.insert(i, area)),
            Err((message, help)) => problems.push(parsed.error_at(&format!("grains[{i}].release"), message, help)),
        }
    }
    all
}

type Refusal = (String, &'static str);

fn area(
    parsed: &Parsed,
    i: usize,
    release: &Release,
    radius: Option<&Size>,
    material: f64,
    bed: &Arc<Bed>,
) -> Result<Area, Refusal> {
    let origin = bed.relief().origin.truncate();
    // From the map into the world; without a map its coordinates are the world's.
    let map = parsed.assets.heights.as_ref().and_then(|h| h.georeference.as_ref());
    let placed = |p: DVec2| map.map_or(p, |m| origin + m.from_map(p));
    let read = parsed.assets.releases.get(&i);
    let ring = |r: &Vec<DVec2>| r.iter().map(|p| placed(*p)).collect::<Vec<_>>();
    let mut outlines = Vec::new();
    if !release.polygon.is_empty() {
        let rings = vec![release.polygon.iter().map(|p| DVec2::from(*p)).collect()];
        outlines.push(Outline { rings, thickness: release.thickness.unwrap_or(f64::NAN) });
    }
    for (rings, thickness) in read.map_or(&[][..], |r| &r.areas) {
        let thickness = release.thickness.or(*thickness).filter(|t| *t > 0.0).ok_or((
            "the outlines do not say how thick the snow lies".to_owned(),
            "add `thickness` to the release, or a number `thickness` to the file's outlines",
        ))?;
        outlines.push(Outline { rings: rings.iter().map(ring).collect(), thickness });
    }
    let field = read.and_then(|r| r.field.clone()).map(|field| {
        let (corner, cell) = match (&field.georeference, map) {
            (Some(own), Some(m)) => (origin + m.from_map(own.corner()), own.cell * own.unit),
            (Some(own), None) => (own.corner(), own.cell * own.unit),
            // A picture without a place lies over the rock.
            (None, _) => (origin, (bed.relief().end() - origin).x / field.size[0] as f64),
        };
        (field, corner, cell)
    });
    let points = || outlines.iter().flat_map(|o| o.rings.iter().flatten().copied());
    let (mut low, mut high) = points().fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    if let Some((field, corner, cell)) = &field {
        for (k, _) in field.values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let at = *corner + DVec2::new((k % field.size[0]) as f64, (k / field.size[0]) as f64) * *cell;
            (low, high) = (low.min(at), high.max(at + *cell));
        }
    }
    let bounds = [origin, bed.relief().end()];
    let off = |p: DVec2| !(p.cmpge(bounds[0]).all() && p.cmple(bounds[1]).all());
    if !low.is_finite() || (high - low).min_element() <= 0.0 {
        return Err(("there is no snow in it".into(), "draw an outline, or give thicknesses above 0"));
    }
    if off(low) || off(high) {
        let message = format!(
            "it lies from ({:.1}, {:.1}) to ({:.1}, {:.1}) m, outside the rock, which lies from ({:.1}, {:.1}) to ({:.1}, {:.1}) m",
            low.x, low.y, high.x, high.y, bounds[0].x, bounds[0].y, bounds[1].x, bounds[1].y
        );
        let far = (low - bounds[0]).abs().max_element() > 1e5;
        let help = match (far, map.is_some()) {
            (true, _) => {
                "is it in the coordinates of another map? Project it, for example with `ogr2ogr -t_srs EPSG:32633 OUT IN`"
            }
            (false, true) => "move it, or take a larger part of the elevation model",
            (false, false) => {
                "move it; without an elevation model that lies on a map coordinates are those of the scene"
            }
        };
        return Err((message, help));
    }
    let mut area = Area {
        bed: bed.clone(),
        outlines,
        field,
        low,
        high,
        volume: 0.0,
        surface: 0.0,
        count: 0,
        radius: None,
        density: 0.0,
    };
    let steepest = area.measure();
    if area.volume <= 0.0 {
        return Err(("there is no snow in it".into(), "draw an outline of some width, or give thicknesses above 0"));
    }
    if steepest > CLIFF {
        let message = format!("it reaches over a cliff of {:.0}°, on which no snow lies", steepest.to_degrees());
        return Err((message, "leave the cliff out of the outline, or smooth the rock (`smooth`)"));
    }
    area.density = release.density.unwrap_or(material * release.packing);
    match (release.grains, radius) {
        (Some(n), _) => {
            area.count = n;
            let d = barchan_core::math::cbrt(6.0 * release.packing * area.volume / (PI * n as f64));
            area.radius = Some(0.5 * d);
        }
        (None, Some(size)) => {
            let one = 4.0 / 3.0 * PI * size.to_core().mean_cube();
            area.count = (release.packing * area.volume / one).round() as u64;
        }
        (None, None) => return Err(("nothing says how large the grains are".into(), "add `grains` or `radius`")),
    }
    if area.count == 0 {
        return Err(("it holds less than one grain".into(), "use smaller grains, or a larger outline"));
    }
    Ok(area)
}

impl Area {
    /// Sums volume and surface over lines along x; returns the steepest slope [rad].
    fn measure(&mut self) -> f64 {
        // Of a raster each cell is met as often; of outlines the lines are as narrow as a thousandth of their extent.
        let cell = self.field.as_ref().map(|(_, _, cell)| *cell);
        let fine = |axis: usize| {
            let extent = self.high[axis] - self.low[axis];
            cell.map_or(LINES, |c| 4 * (extent / c).round().max(1.0) as usize).min(16 * LINES)
        };
        let n = [fine(0), fine(1)];
        let step = (self.high - self.low) / DVec2::new(n[0] as f64, n[1] as f64);
        let (mut volume, mut surface, mut steepest) = (0.0, 0.0, 0.0_f64);
        for y in 0..n[1] {
            let (mut of_line, mut wide) = (0.0, 0.0);
            for x in 0..n[0] {
                let p = self.low + (DVec2::new(x as f64, y as f64) + 0.5) * step;
                let thickness = self.thickness(p);
                if thickness <= 0.0 {
                    continue;
                }
                if let Some(over) = self.bed.over(p.x, p.y) {
                    let stretch = (1.0 + over.slope.length_squared()).sqrt();
                    of_line += thickness * stretch;
                    wide += stretch;
                    steepest = steepest.max(barchan_core::math::acos(1.0 / stretch));
                }
            }
            volume += of_line;
            surface += wide;
        }
        let patch = step.x * step.y;
        (self.volume, self.surface) = (volume * patch, surface * patch);
        steepest
    }

    /// Lays the grains of a recipe. `blocked` says where none may be.
    pub fn lay(&self, recipe: &Recipe, blocked: &dyn Fn(DVec3, f64) -> bool) -> Result<Vec<NewMatter>, Refusal> {
        let n = self.count as usize;
        let mut grains: Vec<NewMatter> = (0..n as u64).map(|k| recipe.grain(k)).collect();
        let cubes: f64 = grains.iter().map(|g| g.radius.powi(3)).sum();
        let diameter = 2.0 * barchan_core::math::cbrt(cubes / n as f64);
        let mut random = recipe.stream(0, LAID);
        // The widest lattice that holds them up to the thickness: room beside each other is what lets them be pushed apart.
        let mut sites = Vec::new();
        for wide in (0..=25).rev().map(|k| 1.0 + 0.01 * f64::from(k)) {
            sites = self.sites(wide * diameter, diameter, &mut random.clone(), blocked);
            if sites.get(n - 1).is_some_and(|s| s.0 <= 1.0) {
                break;
            }
        }
        if sites.len() < n {
            let message = format!("only {} of {} grains fit", count(sites.len() as u64), count(n as u64));
            return Err((message, "use more and smaller grains, or move obstacles away"));
        }
        sites.truncate(n);
        // Which grain lies where is drawn: sizes and places have nothing to do with each other.
        for k in (1..n).rev() {
            sites.swap(k, random.index(k + 1));
        }
        for (grain, (_, place)) in grains.iter_mut().zip(&sites) {
            grain.position = *place;
            grain.mass = Some(self.mass() * grain.radius.powi(3) / cubes);
        }
        self.part(&mut grains, diameter)?;
        Ok(grains)
    }

    /// Places of a hexagonal lattice along the slope, with the share of the thickness up to which snow must lie for each to be taken; the lowest first. A
    /// column of h/layer sites is rounded up or down by lot, so that there is as much snow everywhere as its thickness says, where it is thinner than a grain, too.
    fn sites(
        &self,
        apart: f64,
        diameter: f64,
        random: &mut Random,
        blocked: &dyn Fn(DVec3, f64) -> bool,
    ) -> Vec<(f64, DVec3)> {
        let middle = 0.5 * (self.low + self.high);
        let slope = self.bed.over(middle.x, middle.y).map_or(DVec2::ZERO, |o| o.slope);
        let fall = slope.normalize_or(DVec2::X);
        let upright = 1.0 / (1.0 + slope.length_squared()).sqrt();
        // Rows across the slope, layers above each other in the hollows of those below.
        let (row, layer) = (apart * 0.75_f64.sqrt(), (diameter * diameter - apart * apart / 3.0).sqrt());
        let reach = 0.5 * (self.high - self.low).length() + apart;
        let (rows, columns) = ((reach / (row * upright)).ceil() as i64, (reach / apart).ceil() as i64);
        let shift = [random.uniform(), random.uniform()];
        let radius = 0.5 * diameter;
        let mut sites: Vec<(f64, DVec3)> = Vec::new();
        for parity in 0..2_i64 {
            for j in -rows..=rows {
                for i in -columns..=columns {
                    let along = (j as f64 + shift[0] + parity as f64 / 3.0 * 2.0) * row;
                    let across = (i as f64 + shift[1] + 0.5 * (j.rem_euclid(2) as f64)) * apart;
                    let p = middle + fall * along * upright + fall.perp() * across;
                    let thickness = self.thickness(p);
                    let Some(over) = (if thickness > 0.0 { self.bed.over(p.x, p.y) } else { None }) else { continue };
                    let (foot, normal, lot) = (p.extend(over.z), over.normal(), random.uniform());
                    for level in (parity..).step_by(2) {
                        let above = radius + level as f64 * layer;
                        let filled = (level as f64 + lot) * layer / thickness;
                        // Where obstacles take room others lie higher.
                        if filled > 2.0 {
                            break;
                        }
                        let place = foot + normal * above;
                        if !blocked(place, radius) {
                            sites.push((filled, place));
                        }
                    }
                }
            }
        }
        sites.sort_by(|a, b| a.0.total_cmp(&b.0));
        sites
    }

    /// Pushes grains apart that overlap, and out of the rock.
    fn part(&self, grains: &mut [NewMatter], diameter: f64) -> Result<(), Refusal> {
        let cell = 1.05 * grains.iter().map(|g| 2.0 * g.radius).fold(0.0, f64::max);
        let at = |x: DVec3| (x / cell).floor().as_ivec3();
        let mut worst = f64::INFINITY;
        for _ in 0..ROUNDS {
            let mut cells: HashMap<IVec3, Vec<u32>> = HashMap::with_capacity(grains.len());
            for (k, g) in grains.iter().enumerate() {
                cells.entry(at(g.position)).or_default().push(k as u32);
            }
            // Each is moved by half of what it lacks to every neighbour, all at once: the order is nobody's concern.
            worst = 0.0;
            let moves: Vec<DVec3> = (grains.iter().enumerate())
                .map(|(k, g)| {
                    let mut push = DVec3::ZERO;
                    let home = at(g.position);
                    for n in 0..27 {
                        let Some(list) = cells.get(&(home + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1))) else {
                            continue;
                        };
                        for other in list.iter().filter(|o| **o as usize != k).map(|o| &grains[*o as usize]) {
                            let offset = g.position - other.position;
                            let lack = g.radius + other.radius - offset.length();
                            if lack > 0.0 {
                                push += offset.normalize_or(DVec3::Z) * (0.45 * lack);
                                worst = worst.max(lack);
                            }
                        }
                    }
                    push
                })
                .collect();
            for (g, push) in grains.iter_mut().zip(moves) {
                g.position += push;
                let Some(over) = self.bed.over(g.position.x, g.position.y) else { continue };
                let normal = over.normal();
                let sunk = g.radius - (g.position.z - over.z) * normal.z;
                if sunk > 0.0 {
                    g.position += normal * sunk;
                    worst = worst.max(0.5 * sunk);
                }
            }
            if worst < APART * diameter {
                return Ok(());
            }
        }
        if worst > TOO_MUCH * diameter {
            let message = format!("its grains overlap by {:.0} % of their diameter", 100.0 * worst / diameter);
            return Err((message, "use smaller grains, or a smaller `packing`"));
        }
        Ok(())
    }
}

/// What a release came to, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Released {
    /// Name of the population.
    pub name: String,
    /// Volume [m³], sloping area [m²] and mass [kg].
    pub volume: f64,
    /// See `volume`.
    pub surface: f64,
    /// See `volume`.
    pub mass: f64,
    /// Grains, their diameter [m], and how many lie above each other.
    pub grains: u64,
    /// See `grains`.
    pub diameter: f64,
    /// See `grains`.
    pub layers: f64,
    /// Speed at which two of them overlap by a tenth of their radius [m/s]: faster blows need a higher modulus.
    pub hardest: f64,
}

/// All releases of a scene.
pub(super) fn released(parsed: &Parsed, setup: &super::Setup, recipes: &[Recipe]) -> Vec<Released> {
    let of = |(i, area): (&usize, &Area)| {
        let recipe = &recipes[*i];
        let diameter = 2.0 * barchan_core::math::cbrt(recipe.sizes.mean_cube());
        let density = recipe.mass(0.5 * diameter) / (PI / 6.0 * diameter.powi(3));
        let e = setup.materials.pair(recipe.material, recipe.material).young;
        Released {
            name: parsed.scene.grains[*i].name.clone(),
            volume: area.volume,
            surface: area.surface,
            mass: area.mass(),
            grains: area.count,
            diameter,
            layers: area.mean_thickness() / diameter,
            // ξ/R = (5πρv²/4E*)^(2/5) of two equal spheres [Johnson 1985, §11.4].
            hardest: (barchan_core::math::powf(0.1, 2.5) * 4.0 * e / (5.0 * PI * density)).sqrt(),
        }
    };
    setup.areas.iter().map(of).collect()
}

/// What the thickness over the diameter forbids (an error) or asks to mind (a warning).
pub(super) fn doubts(parsed: &Parsed, areas: &BTreeMap<usize, Area>, recipes: &[Recipe]) -> [Vec<Problem>; 2] {
    let [mut errors, mut warnings] = [Vec::new(), Vec::new()];
    for (i, area) in areas {
        let diameter = 2.0 * barchan_core::math::cbrt(recipes[*i].sizes.mean_cube());
        let layers = area.mean_thickness() / diameter;
        let path = format!("grains[{i}].release");
        let needed = |wanted: f64| count((area.count as f64 * (wanted / layers).powi(3)).ceil() as u64);
        if layers < 1.0 {
            let message =
                format!("the snow, {:.2} m, is thinner than its grains, {diameter:.2} m", area.mean_thickness());
            errors.push(parsed.error_at(&path, message, format!("use {} grains or more", needed(1.5))));
        } else if layers < 1.2 {
            let message = format!("the snow is only {layers:.1} grains thick");
            warnings.push(parsed.warning_at(&path, message, format!("with {} grains it is two", needed(2.0))));
        }
    }
    [errors, warnings]
}
