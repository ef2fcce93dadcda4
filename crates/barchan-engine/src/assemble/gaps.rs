//! What the grid of phases cannot see of a scene's walls: sheets without an inside, plates thinner than its cells, necks that are a few cells
//! wide; and walls that are too fast for its steps.
//!
//! Necks are found on samples of the distance d to the walls, half a cell apart: where d is taken from its largest values down, places join to
//! chambers, and chambers to each other. Two that join at d are connected by a neck 2 d wide. So a slot, a hole and the mouth of a funnel are
//! found alike, and a ball on a floor or a corner are not taken for one. What moves is looked at as it stands at the start.

use super::Setup;
use barchan_core::math;
use barchan_core::parallel;
use barchan_core::regions::Region;
use barchan_core::solver::Domain;
use barchan_core::walls::{Facets, Geometry, Side, Wall, WallState};
use barchan_flip::signed_distance;
use barchan_scene::words;
use barchan_scene::{ContinuumMethod, Parsed, Phases, Problem, opening};
use glam::DVec3;
use std::collections::BTreeSet;

/// Cells across a neck below which nothing flows.
const LEAST_ACROSS: f64 = 4.0;
/// Cells across a neck below which its flow is slower than it should be.
const GOOD_ACROSS: f64 = 12.0;
/// Cells that a plate must be thick to keep what is on its sides apart: a parcel is seen by the faces of cells on both of its sides.
const THICK: f64 = 2.0;
/// Distance from walls beyond which places are alike [cells].
const FAR: f64 = 9.0;
/// Share by which a width that was sampled may differ from one that is known.
const ALIKE: f64 = 0.25;
/// How much wider than its neck a chamber is, at least.
const WIDER: f64 = 1.35;
/// Samples at most.
const MOST_SAMPLES: f64 = 6e5;
/// Steps into which a world step may be cut for a wall's sake.
const MOST_CUTS: f64 = 100.0;

/// Errors and warnings.
pub(super) fn check(parsed: &Parsed, setup: &Setup, dt: f64) -> [Vec<Problem>; 2] {
    let scene = &parsed.scene;
    let mut found = [Vec::new(), Vec::new()];
    let Some(first) = scene.continuum.first().filter(|m| m.method == ContinuumMethod::Phases) else { return found };
    let cell = Phases::SPACINGS_PER_CELL * first.spacing;
    let walls = &setup.fixtures.walls[..scene.walls.len()];
    for (i, wall) in walls.iter().enumerate() {
        let path = format!("walls[{i}]");
        if wall.facets().is_some_and(|f| !f.is_solid()) {
            let message = format!("the mesh of `{}` is open: in phases liquid has no side of it to be on", wall.name);
            let help = format!("give it a thickness of two cells ({})", show(THICK * cell));
            found[0].push(parsed.error_at(&path, message, help));
            continue;
        }
        if let Some(thickness) = thickness(wall, cell).filter(|t| *t < THICK * cell) {
            let message = format!(
                "`{}` is {:.1} cells of the grid thick where it is thin ({}): sand leaks through less than two",
                wall.name,
                thickness / cell,
                show(thickness)
            );
            let help = format!("make it thicker, or use a spacing of at most {}", show(thickness / (2.0 * THICK)));
            found[1].push(parsed.warning_at(&path, message, help));
        }
        if let Some(problem) = pace(parsed, setup, i, cell, dt) {
            found[0].push(problem);
        }
    }
    let Some(space) = Space::of(walls, &setup.domain, cell) else { return found };
    let regions: Vec<Option<Region>> = scene.continuum.iter().map(|m| m.region().map(|r| r.to_core())).collect();
    let poured: Vec<DVec3> = scene.emitters.iter().map(|e| e.disc.centre).collect();
    let (necks, widths) = space.necks(cell, &regions, &poured);
    let too_narrow = LEAST_ACROSS * cell - 0.5 * space.step.max_element();
    for (i, width) in widths.into_iter().enumerate().filter(|(_, width)| *width > 0.0 && *width < too_narrow) {
        let message = format!(
            "the space in which `{}` lies is {:.1} cells of the grid wide: it does not flow there",
            scene.continuum[i].name,
            width / cell
        );
        let help = format!("use a spacing of at most {}", show(0.5 * width / LEAST_ACROSS));
        found[0].push(parsed.error_at(&format!("continuum[{i}].fill"), message, help));
    }
    for neck in necks {
        let across = neck.width / cell;
        let mut near: Vec<(f64, usize)> = space.walls_near(walls, neck.at, 0.5 * neck.width + space.step.max_element());
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Round openings are known by their radii, and have been looked at.
        let known = |i: usize| (opening(&scene.walls[i]) - neck.width).abs() < ALIKE * neck.width;
        let Some(&(_, i)) = near.first().filter(|_| !near.iter().any(|n| known(n.1))) else { continue };
        let names: Vec<String> = near.iter().map(|n| format!("`{}`", walls[n.1].name)).collect();
        let message = format!(
            "the gap between {} near ({}, {}, {}) is about {across:.1} cells of the grid wide",
            if names.len() > 1 { names.join(" and ") } else { format!("parts of {}", names[0]) },
            show(neck.at.x),
            show(neck.at.y),
            show(neck.at.z)
        );
        let help = |cells: f64| format!("use a spacing of at most {}, or widen it", show(0.5 * neck.width / cells));
        if neck.width < too_narrow {
            let message = format!("{message}: sand does not find through");
            found[0].push(parsed.error_at(&format!("walls[{i}]"), message, help(LEAST_ACROSS)));
        } else {
            // The flow through a slot goes as its width less some four cells, to the power of 3/2.
            let lost = 100.0 * (1.0 - math::powf((1.0 - LEAST_ACROSS / across).max(0.0), 1.5));
            let message = format!("{message}: its flow is some {lost:.0} % too slow");
            found[1].push(parsed.warning_at(&format!("walls[{i}]"), message, help(GOOD_ACROSS)));
        }
    }
    found
}

fn show(x: f64) -> String {
    words::length(x)
}

/// A wall whose own motion asks for too many steps.
fn pace(parsed: &Parsed, setup: &Setup, i: usize, cell: f64, dt: f64) -> Option<Problem> {
    /// Times that are looked at.
    const TIMES: u32 = 400;
    let (wall, duration) = (&setup.fixtures.walls[i], parsed.scene.duration);
    let extent = 0.5 * (setup.domain.max - setup.domain.min).length();
    let speed = |k: u32| wall.sweep_speed(&wall.state_at(duration * f64::from(k) / f64::from(TIMES)), extent);
    let fastest = (0..=TIMES).map(speed).fold(0.0, f64::max);
    let cuts = fastest * dt / (0.5 * cell);
    (cuts > MOST_CUTS).then(|| {
        let message = format!(
            "`{}` moves at up to {fastest:.3e} m/s: each step ({dt:.1e} s) would have to be cut into {cuts:.0}",
            wall.name
        );
        let help = format!("let it move at {:.3e} m/s at most, or use a larger spacing", MOST_CUTS * 0.5 * cell / dt);
        parsed.error_at(&format!("walls[{i}]"), message, help)
    })
}

/// How thick a wall is where it is thin [m], if it can be told: a tenth of its surface at least.
fn thickness(wall: &Wall, cell: f64) -> Option<f64> {
    match &wall.geometry {
        Geometry::Box { min, max, side: Side::Outside, .. } => Some((*max - *min).min_element()),
        Geometry::Mesh(facets) => thin_parts(facets, cell),
        _ => None,
    }
}

/// From triangles inwards along their normals: mean of the ways that end in the open within two cells.
fn thin_parts(facets: &Facets, cell: f64) -> Option<f64> {
    /// Triangles that are looked at.
    const LOOKED_AT: usize = 3000;
    /// Places along a way, a quarter of a cell apart.
    const PLACES: u32 = 8;
    /// Share of the surface that makes a plate: sharp edges are thin too.
    const SHARE: f64 = 0.1;
    let mesh = facets.mesh();
    let stride = mesh.triangles.len().div_ceil(LOOKED_AT).max(1);
    let (mut all, mut thin, mut sum) = (0.0, 0.0, 0.0);
    for t in (0..mesh.triangles.len()).step_by(stride) {
        let [a, b, c] = mesh.corners(t);
        let (area, middle) = (0.5 * (b - a).cross(c - a).length(), (a + b + c) / 3.0);
        let normal = facets.normal(t as u32);
        all += area;
        let way = (1..=PLACES).map(|k| 0.25 * cell * f64::from(k));
        if let Some(way) = { way }.find(|way| facets.distance(middle - normal * *way) > 0.0) {
            thin += area;
            sum += area * way;
        }
    }
    (thin > SHARE * all).then(|| sum / thin)
}

/// Distance to a wall without its bumps [m], at most `far`: negative inside.
fn distance(wall: &Wall, state: &WallState, x: DVec3, far: f64, cell: f64) -> f64 {
    match wall.facets() {
        Some(facets) if wall.least_distance(state, x) < far => facets.distance(wall.to_initial(state, x)).min(far),
        Some(_) => far,
        None => signed_distance(wall, state, x, far, 1.5 * cell),
    }
}

/// A neck between two chambers.
struct Neck {
    width: f64,
    at: DVec3,
}

/// Distances to walls on samples of the domain.
struct Space {
    origin: DVec3,
    /// From sample to sample [m].
    step: DVec3,
    size: [usize; 3],
    periodic: [bool; 3],
    distance: Vec<f32>,
}

impl Space {
    /// None without walls, or where the domain has too many cells for samples that see a neck.
    fn of(walls: &[Wall], domain: &Domain, cell: f64) -> Option<Space> {
        let extent = domain.max - domain.min;
        let step = (0.5 * cell).max(math::cbrt(extent.x * extent.y * extent.z / MOST_SAMPLES));
        let solid: Vec<(Wall, WallState)> = walls
            .iter()
            .filter(|w| w.facets().is_none_or(Facets::is_solid))
            .map(|w| (Wall { rough: None, ..w.clone() }, w.state_at(0.0)))
            .collect();
        if solid.is_empty() || !extent.is_finite() || step > 1.5 * cell {
            return None;
        }
        // Samples lie in the middle of their boxes.
        let size: [usize; 3] = std::array::from_fn(|k| (extent[k] / step).round().max(1.0) as usize);
        let step = extent / DVec3::new(size[0] as f64, size[1] as f64, size[2] as f64);
        let origin = domain.min + 0.5 * step;
        let far = FAR * cell;
        let layers = parallel::run((0..size[2]).collect(), 1, |z| {
            let mut out = Vec::with_capacity(size[0] * size[1]);
            for y in 0..size[1] {
                for x in 0..size[0] {
                    let at = origin + step * DVec3::new(x as f64, y as f64, z as f64);
                    let of = |(w, s): &(Wall, WallState)| distance(w, s, at, far, cell);
                    out.push(solid.iter().map(of).fold(far, f64::min) as f32);
                }
            }
            out
        });
        Some(Space { origin, step, size, periodic: domain.periodic, distance: layers.concat() })
    }

    fn at(&self, i: usize) -> [usize; 3] {
        [i % self.size[0], i / self.size[0] % self.size[1], i / (self.size[0] * self.size[1])]
    }

    fn point(&self, i: usize) -> DVec3 {
        let [x, y, z] = self.at(i).map(|c| c as f64);
        self.origin + self.step * DVec3::new(x, y, z)
    }

    /// The sample beside one, if there is one.
    fn beside(&self, at: [usize; 3], by: [isize; 3]) -> Option<usize> {
        let mut to = [0; 3];
        for k in 0..3 {
            let (n, c) = (self.size[k] as isize, at[k] as isize + by[k]);
            to[k] = match (0..n).contains(&c) {
                true => c,
                false if self.periodic[k] => c.rem_euclid(n),
                false => return None,
            } as usize;
        }
        Some((to[2] * self.size[1] + to[1]) * self.size[0] + to[0])
    }

    /// The sample nearest to a place, if it lies in the domain.
    fn nearest(&self, x: DVec3) -> Option<usize> {
        let at = ((x - self.origin) / self.step).round();
        let inside = (0..3).all(|k| (0.0..self.size[k] as f64).contains(&at[k]));
        let [x, y, z] = at.to_array().map(|c| c as usize);
        inside.then(|| (z * self.size[1] + y) * self.size[0] + x)
    }

    /// Necks narrower than is good in spaces that sand comes to, and how wide the space is in which each region lies, 0 where that is not known.
    fn necks(&self, cell: f64, regions: &[Option<Region>], poured: &[DVec3]) -> (Vec<Neck>, Vec<f64>) {
        const NOBODY: u32 = u32::MAX;
        let d = &self.distance;
        let mut order: Vec<u32> = (0..d.len() as u32).filter(|&i| d[i as usize] > 0.0).collect();
        order.sort_unstable_by(|&i, &j| d[j as usize].total_cmp(&d[i as usize]).then(i.cmp(&j)));
        let mut parent = vec![NOBODY; d.len()];
        let mut peak = vec![0f32; d.len()];
        let root = |parent: &mut Vec<u32>, mut i: u32| {
            while parent[i as usize] != i {
                parent[i as usize] = parent[parent[i as usize] as usize];
                i = parent[i as usize];
            }
            i
        };
        let step = self.step.max_element();
        let mut out = Vec::new();
        for &i in &order {
            let (here, at) = (d[i as usize], self.at(i as usize));
            (parent[i as usize], peak[i as usize]) = (i, here);
            for n in (0..27isize).filter(|n| *n != 13) {
                let Some(j) = self.beside(at, [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1]) else { continue };
                if parent[j] == NOBODY {
                    continue;
                }
                let (a, b) = (root(&mut parent, i), root(&mut parent, j as u32));
                if a == b {
                    continue;
                }
                let (lower, upper) = if peak[a as usize] < peak[b as usize] { (a, b) } else { (b, a) };
                // A pocket in which nothing flows is no chamber, such as what is left of the domain behind a wall.
                let chamber = f64::from(peak[lower as usize]);
                let wider = chamber > WIDER * f64::from(here) + 0.5 * step && chamber > 0.5 * LEAST_ACROSS * cell;
                // Samples miss the middle of a neck by a quarter of their distance on the mean.
                let width = 2.0 * f64::from(here) + 0.5 * step;
                // What is narrower than about a cell is closed to the grid: seams between walls, and the corners of a rim.
                let open = f64::from(here) > step;
                if wider && open && width < GOOD_ACROSS * cell {
                    out.push((i, Neck { width, at: self.point(i as usize) }));
                }
                parent[lower as usize] = upper;
            }
        }
        let mut homes: BTreeSet<u32> = poured
            .iter()
            .filter_map(|x| self.nearest(*x))
            .filter(|&i| d[i] > 0.0)
            .map(|i| root(&mut parent, i as u32))
            .collect();
        let mut widths = Vec::new();
        for region in regions {
            let Some(region) = region else {
                widths.push(0.0);
                continue;
            };
            let inside = |i: &u32| d[*i as usize] > 0.0 && region.contains(self.point(*i as usize));
            let roots: BTreeSet<u32> = (0..d.len() as u32).filter(inside).map(|i| root(&mut parent, i)).collect();
            let widest = roots.iter().map(|r| peak[*r as usize]).fold(0.0, f32::max);
            widths.push(if widest > 0.0 { 2.0 * f64::from(widest) + 0.5 * step } else { 0.0 });
            homes.extend(roots);
        }
        let out = out.into_iter().filter(|(i, _)| homes.contains(&root(&mut parent, *i))).map(|n| n.1).collect();
        (out, widths)
    }

    /// Walls within a distance of a place, with how far they are.
    fn walls_near(&self, walls: &[Wall], x: DVec3, reach: f64) -> Vec<(f64, usize)> {
        let distance = |w: &Wall| distance(&Wall { rough: None, ..w.clone() }, &w.state_at(0.0), x, 2.0 * reach, reach);
        let each = walls.iter().enumerate().filter(|(_, w)| w.facets().is_none_or(Facets::is_solid));
        each.map(|(i, w)| (distance(w), i)).filter(|(d, _)| *d <= reach).collect()
    }
}
