//! Populations: inside the domain, clear of walls and of each other, and in regions that hold them.
//!
//! Regions and walls meet in too many ways for closed forms, so both are sampled: places where a grain of the region could sit
//! must be clear of every wall, and points of thin walls must not lie inside a region.

use super::{Check, corners, show};
use crate::types::*;
use crate::words::{count, many};
use barchan_core::math;
use barchan_core::packing::Lattice;
use barchan_core::regions::Region as Body;
use barchan_core::rng::Random;
use barchan_core::sizes::SizeDistribution;
use barchan_core::walls::Wall as Surface;
use glam::DVec3;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Lengths closer than this share of a radius count as touching.
const SLACK: f64 = 1e-6;
/// Largest number of lattice sites that is counted one by one; beyond, the volume is asked.
const COUNTED_SITES: f64 = 3e6;

/// Smallest and largest radius of the ball that holds a grain [m]; none where the size is unknown.
pub(super) fn reach(c: &Check, shape: &str, size: Option<&Size>) -> Option<(f64, f64)> {
    let (shape, listed) = c.assets.shape(c.scene, shape)?;
    let (small, large) = match size {
        Some(size) => (size.smallest(), size.largest()),
        None => (listed?, listed?),
    };
    let bound = shape.bounding_radius();
    (small > 0.0 && large >= small).then_some((small * bound, large * bound))
}

/// Radius of the ball that holds the scene's largest grain [m]; 0 without grains.
pub(super) fn largest_reach(c: &Check) -> f64 {
    let scene = c.scene;
    let grains = scene.grains.iter().map(|g| (&g.shape, g.radius.as_ref()));
    let emitters = scene.emitters.iter().map(|e| (&e.shape, e.radius.as_ref()));
    grains.chain(emitters).filter_map(|(s, r)| reach(c, s, r)).map(|r| r.1).fold(0.0, f64::max)
}

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    for (i, sink) in scene.sinks.iter().enumerate() {
        match &sink.region {
            SinkRegion::Region(r) => corners(c, &format!("sinks[{i}]"), r),
            SinkRegion::Half(_) => {}
        }
    }
    let walls = surfaces(c);
    // A fill goes round the triangles of a mesh; other walls bound it.
    let bounds: Vec<_> = walls.iter().map(|w| w.clone().filter(|w| w.facets().is_none())).collect();
    for (i, g) in scene.grains.iter().enumerate() {
        if g.bonds.is_some() {
            let rains = matches!(&g.place, Place::Fill(f) if f.method == FillMethod::Rain);
            let exchanged = scene.ground.as_ref().is_some_and(|g| g.exchange.is_some());
            if rains || exchanged {
                let (what, help) = match rains {
                    true => ("that rain in", "place them at the start, or leave out `bonds`"),
                    false => ("that become ground", "leave out `[ground.exchange]`, or `bonds`"),
                };
                c.error(format!("grains[{i}].bonds"), format!("grains {what} cannot be bonded"), help);
            }
        }
        let reach = reach(c, &g.shape, g.radius.as_ref());
        match &g.place {
            Place::Fill(fill) => {
                let path = format!("grains[{i}].fill");
                corners(c, &path, &fill.region);
                method(c, &path, fill);
                let body = fill.region.to_core();
                if let Some(reach) = reach.filter(|_| is_sound(&body)) {
                    let at = format!("{path}.{}", fill.region.key());
                    in_domain(c, &at, &g.name, &body);
                    clear_of_walls(c, &at, &g.name, &body, reach.0, &bounds);
                    holds(c, &path, fill, &body, g, reach);
                }
            }
            Place::Release(release) => super::release::check(c, i, g, release),
            Place::Trees { .. } | Place::Sheet { .. } => {}
            Place::At(at) => {
                let list = &at.places();
                if list.is_empty() && at.file().is_none() && c.given(&format!("grains[{i}].at")) {
                    c.error(
                        format!("grains[{i}].at"),
                        "the list of positions is empty",
                        "add a position, such as [0, 0, 0.1]",
                    );
                }
                // Which way a clump lies is known when it is placed; its spheres are held against the walls then.
                let one = c.assets.shape(scene, &g.shape).is_some_and(|s| s.0.spheres().len() == 1);
                let Some(large) = reach.map(|r| if one { r.1 } else { 0.0 }) else { continue };
                for (k, x) in list.iter().enumerate().filter(|(_, x)| x.is_finite()) {
                    let at = format!("grains[{i}].at[{k}]");
                    // A single grain may straddle a periodic boundary.
                    let periodic = scene.domain.is_periodic();
                    let out = (0..3).any(|d| {
                        !periodic[d] && (x[d] - large < scene.domain.min[d] || x[d] + large > scene.domain.max[d])
                    });
                    if out && c.has_domain() {
                        c.error(
                            &at,
                            format!("a grain of `{}` lies outside the domain", g.name),
                            "move it, or enlarge the domain",
                        );
                    }
                    if let Some(w) = hits(&walls, *x, large * (1.0 - scene.integrator.max_overlap)) {
                        let message = format!("a grain of `{}` cuts the wall `{}`", g.name, scene.walls[w].name);
                        c.error(&at, message, format!("move it: it needs {} of room", show(large, "m")));
                    }
                }
            }
        }
    }
    overlaps(c);
}

/// Whether the region has a size and a place, so that questions about it make sense.
fn is_sound(body: &Body) -> bool {
    let (min, max) = body.bounds();
    min.is_finite() && max.is_finite() && body.volume() > 0.0
}

fn method(c: &mut Check, path: &str, fill: &Fill) {
    let m = fill.method;
    let name = m.name();
    // (key, given, has a meaning, needed)
    let keys = [
        ("fraction", fill.fraction.is_some(), m == FillMethod::Random, false),
        ("every", fill.every.is_some(), m == FillMethod::Rain, m == FillMethod::Rain),
        ("batch", fill.batch.is_some(), m == FillMethod::Rain, m == FillMethod::Rain),
        ("count", fill.count.is_some(), true, m == FillMethod::Rain),
    ];
    for (key, given, meaning, needed) in keys {
        if given && !meaning {
            let other = if key == "fraction" { "random" } else { "rain" };
            let help = format!("remove it, or use `method = \"{other}\"`");
            c.error(format!("{path}.{key}"), format!("`{key}` has no meaning for the method `{name}`"), help);
        }
        if needed && !given {
            let help = "rain needs `count`, `batch` and `every`, such as count = 5000, batch = 500, every = \"0.05 s\"";
            c.error(path, format!("the method `{name}` lacks `{key}`"), help);
        }
    }
    if m == FillMethod::Random {
        match (fill.count, fill.fraction) {
            (None, None) => {
                c.error(path, "the method `random` needs `count` or `fraction`", "add one, such as fraction = 0.3")
            }
            (Some(_), Some(_)) => {
                c.error(format!("{path}.fraction"), "`count` and `fraction` cannot both be given", "keep one")
            }
            _ => {}
        }
    }
}

fn in_domain(c: &mut Check, path: &str, name: &str, body: &Body) {
    if !c.has_domain() {
        return;
    }
    let domain = &c.scene.domain;
    let (min, max) = body.bounds();
    let slack = SLACK * (domain.max - domain.min).max_element();
    let mut out = Vec::new();
    for (i, axis) in ["x", "y", "z"].iter().enumerate() {
        if min[i] < domain.min[i] - slack {
            out.push(format!("{axis} from {}, the domain from {}", show(min[i], "m"), show(domain.min[i], "m")));
        }
        if max[i] > domain.max[i] + slack {
            out.push(format!("{axis} up to {}, the domain up to {}", show(max[i], "m"), show(domain.max[i], "m")));
        }
    }
    if !out.is_empty() {
        let message = format!("the region of `{name}` lies outside the domain: it reaches {}", out.join("; "));
        c.error(path, message, "make the region smaller, or enlarge the domain");
    }
}

/// The walls as the solver sees them at the start; none where its numbers are unknown or impossible.
fn surfaces(c: &Check) -> Vec<Option<Surface>> {
    let surface = |i: usize| Some(c.assets.wall(c.scene, i, 0)).filter(|w| w.check().is_empty());
    (0..c.scene.walls.len()).map(surface).collect()
}

/// Index of a wall that a ball at `x` cuts.
fn hits(walls: &[Option<Surface>], x: DVec3, radius: f64) -> Option<usize> {
    let cut = |w: &Surface| w.clearance(&Default::default(), x) < radius * (1.0 - SLACK);
    walls.iter().position(|w| w.as_ref().is_some_and(cut))
}

/// A wall that a ball at `x` cuts at the start.
pub(super) fn hits_wall<'a>(c: &Check<'a>, x: DVec3, radius: f64) -> Option<&'a Wall> {
    hits(&surfaces(c), x, radius).map(|i| &c.scene.walls[i])
}

fn clear_of_walls(c: &mut Check, path: &str, name: &str, body: &Body, radius: f64, walls: &[Option<Surface>]) {
    let centres = samples(body, radius);
    for (w, wall) in walls.iter().enumerate() {
        let Some(surface) = wall else { continue };
        let cut = centres.iter().find(|x| surface.clearance(&Default::default(), **x) < radius * (1.0 - SLACK));
        let within = surface.geometry.thin_points().into_iter().find(|x| body.contains_ball(*x, 0.5 * radius));
        if let Some(x) = cut.copied().or(within) {
            let wall = &c.scene.walls[w].name;
            let message = format!(
                "the region of `{name}` cuts the wall `{wall}`, near ({}, {}, {}) m",
                show(x.x, ""),
                show(x.y, ""),
                show(x.z, "")
            );
            let rough = if surface.rough.is_some() { "; the bumps of a rough wall take room too" } else { "" };
            c.error(path, message, format!("move or shrink the region: whole grains must lie clear of walls{rough}"));
        }
    }
}

/// Places in the region where a grain of that radius could sit: its outline and some of its inside.
fn samples(body: &Body, radius: f64) -> Vec<DVec3> {
    const N: usize = 6;
    let steps = || (0..=N).map(|i| i as f64 / N as f64);
    let mut out = Vec::new();
    match *body {
        Body::Box { min, max } => {
            let (a, b) = (min + radius, max - radius);
            for x in steps() {
                for y in steps() {
                    out.extend(steps().map(|z| a + (b - a) * DVec3::new(x, y, z)));
                }
            }
        }
        Body::Cylinder { base, axis, radius: wide, height } => {
            let (u, v) = axis.any_orthonormal_pair();
            for h in steps() {
                let centre = base + axis * (radius + (height - 2.0 * radius) * h);
                for turn in 0..24 {
                    let (sin, cos) = math::sin_cos(TAU * turn as f64 / 24.0);
                    out.extend([0.0, 0.5, 1.0].map(|s| centre + (u * cos + v * sin) * (wide - radius) * s));
                }
            }
        }
        Body::Sphere { centre, radius: wide } => {
            out.push(centre);
            for k in 1..12 {
                let (ring, height) = math::sin_cos(TAU * 0.5 * k as f64 / 12.0);
                for turn in 0..24 {
                    let (sin, cos) = math::sin_cos(TAU * turn as f64 / 24.0);
                    let d = DVec3::new(ring * cos, ring * sin, height);
                    out.extend([0.5, 1.0].map(|s| centre + d * (wide - radius) * s));
                }
            }
            out.extend([DVec3::Z, -DVec3::Z].map(|d| centre + d * (wide - radius)));
        }
    }
    // A region too small for one grain is reported by `holds`.
    out.retain(|x| body.contains_ball(*x, radius * (1.0 - SLACK)));
    out
}

/// Whether the region holds what is asked for.
fn holds(c: &mut Check, path: &str, fill: &Fill, body: &Body, g: &Grains, reach: (f64, f64)) {
    let at = format!("{path}.{}", fill.region.key());
    if body.inset_volume(reach.1) <= 0.0 {
        let message = format!("the region of `{}` is too small for one grain of radius {}", g.name, show(reach.1, "m"));
        c.error(at, message, "make the region larger or the grains smaller");
        return;
    }
    let (asked, capacity) = match fill.method {
        FillMethod::Lattice => match fill.count {
            Some(n) => (n, lattice_capacity(body, reach.1, n)),
            None => return,
        },
        FillMethod::Random | FillMethod::Rain => {
            let n = if fill.method == FillMethod::Rain { fill.batch } else { fill.count };
            let bound = c.assets.shape(c.scene, &g.shape).map_or(1.0, |s| s.0.bounding_radius());
            let cube = g.radius.as_ref().map_or(reach.1.powi(3), |s| s.to_core().mean_cube() * bound.powi(3));
            let room = Fill::RANDOM_LIMIT * body.volume() / (TAU * 2.0 / 3.0 * cube);
            match n {
                Some(n) => (n, room as u64),
                None => return,
            }
        }
    };
    if asked > capacity {
        let what = if fill.method == FillMethod::Rain { "batch" } else { "count" };
        let message = format!(
            "the region of `{}` holds about {} by the method `{}`, not {}",
            g.name,
            many(capacity, "grain"),
            fill.method.name(),
            count(asked)
        );
        c.error(
            format!("{path}.{what}"),
            message,
            format!("lower `{what}` to at most {}, enlarge the region, or use smaller grains", count(capacity)),
        );
    }
}

/// Sites of the lattice in the region, as the filling will find them.
fn lattice_capacity(body: &Body, radius: f64, asked: u64) -> u64 {
    let dense = body.volume() * 2f64.sqrt() / (2.0 * radius).powi(3);
    // Far from the limit, and for huge fillings, the volume is answer enough.
    if (asked as f64) < 0.3 * dense * body.inset_volume(radius) / body.volume()
        || asked as f64 > 2.0 * dense
        || dense > COUNTED_SITES
    {
        return (dense / (1.0 + Fill::JITTER).powi(3)) as u64;
    }
    let lattice = Lattice { count: None, jitter: Fill::JITTER, spread: false };
    lattice.fill(body, &SizeDistribution::Fixed(radius), &mut Random::new(0, 0), &|_, _| false).spheres.len() as u64
}

/// Populations that are there at the start must not lie in each other.
fn overlaps(c: &mut Check) {
    let scene = c.scene;
    // (index, path, body or balls)
    let mut bodies: Vec<(usize, Body, f64)> = Vec::new();
    let mut balls: Vec<(usize, usize, DVec3, f64)> = Vec::new();
    for (i, g) in scene.grains.iter().enumerate() {
        let Some((small, large)) = reach(c, &g.shape, g.radius.as_ref()) else { continue };
        let one = c.assets.shape(scene, &g.shape).is_some_and(|s| s.0.spheres().len() == 1);
        let large = if one { large } else { 0.0 };
        match &g.place {
            Place::Fill(f) if f.method != FillMethod::Rain => {
                let body = f.region.to_core();
                if is_sound(&body) {
                    bodies.push((i, body, small));
                }
            }
            Place::Fill(_) | Place::Release(_) | Place::Trees { .. } | Place::Sheet { .. } => {}
            Place::At(at) => {
                let list = at.places();
                balls.extend(list.iter().enumerate().filter(|x| x.1.is_finite()).map(|(k, x)| (i, k, *x, large)))
            }
        }
    }
    for (n, (i, a, ra)) in bodies.iter().enumerate() {
        for (j, b, rb) in &bodies[..n] {
            if meet(a, b, ra.min(*rb)) {
                let message =
                    format!("the regions of `{}` and `{}` overlap", scene.grains[*j].name, scene.grains[*i].name);
                let help = "move them apart, or let one of them rain in (`method = \"rain\"`)";
                let Place::Fill(f) = &scene.grains[*i].place else { continue };
                c.error(format!("grains[{i}].fill.{}", f.region.key()), message, help);
            }
        }
    }
    for (i, k, x, r) in &balls {
        if let Some((j, ..)) = bodies.iter().find(|(_, b, _)| b.contains_ball(*x, -r * (1.0 - SLACK))) {
            let message =
                format!("a grain of `{}` lies in the region of `{}`", scene.grains[*i].name, scene.grains[*j].name);
            c.error(format!("grains[{i}].at[{k}]"), message, "move it out of the region");
        }
    }
    // Bounding balls of clumps may meet where the grains do not.
    let single: Vec<bool> =
        scene.grains.iter().map(|g| c.assets.shape(scene, &g.shape).is_some_and(|s| s.0.is_sphere())).collect();
    balls.retain(|b| single[b.0] && b.3 > 0.0);
    // In cells as wide as the largest ball only neighbours are compared. Each grain is told once, with the first that it lies
    // in: there are as many problems as grains at most, however many lie in one place.
    let tolerated = scene.integrator.max_overlap;
    let cell = 2.0 * balls.iter().map(|b| b.3).fold(0.0, f64::max);
    let of = |x: DVec3| (x / cell).floor().to_array().map(|i| i as i64);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for (n, a) in balls.iter().enumerate() {
        let home = of(a.2);
        let near = (0..27).map(|k| {
            let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
            // Cells may be numbered up to the largest integer: positions are not checked yet.
            std::array::from_fn::<i64, 3, _>(|axis| home[axis].wrapping_add(step[axis]))
        });
        // A packing is a state: grains may overlap as far as a run lets them.
        let lies_in = |&m: &usize| {
            let (sum, least) = (a.3 + balls[m].3, a.3.min(balls[m].3));
            a.2.distance(balls[m].2) < sum * (1.0 - SLACK) - tolerated * least
        };
        let met = near.filter_map(|k| cells.get(&k)).flatten().copied().find(lies_in);
        if let Some(b) = met.map(|m| &balls[m]) {
            let message = format!("grains of `{}` and `{}` overlap", scene.grains[b.0].name, scene.grains[a.0].name);
            c.error(format!("grains[{}].at[{}]", a.0, a.1), message, "move them apart by the sum of their radii");
        }
        cells.entry(home).or_default().push(n);
    }
}

/// Whether two regions share more than a surface.
fn meet(a: &Body, b: &Body, radius: f64) -> bool {
    let ((a0, a1), (b0, b1)) = (a.bounds(), b.bounds());
    let common = a1.min(b1) - a0.max(b0);
    if common.min_element() <= radius * SLACK {
        return false;
    }
    if let (Body::Box { .. }, Body::Box { .. }) = (a, b) {
        return true;
    }
    // A grid over what the bounds have in common, fine enough for a lens of a grain's size in regions of usual proportions.
    const N: usize = 24;
    let low = a0.max(b0);
    (0..N * N * N).any(|n| {
        let at = DVec3::new((n % N) as f64, (n / N % N) as f64, (n / N / N) as f64) + 0.5;
        let x = low + common * at / N as f64;
        a.contains_ball(x, radius * SLACK) && b.contains_ball(x, radius * SLACK)
    })
}
