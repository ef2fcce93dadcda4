//! What stands on a ground: houses, masts, boulders, dams, as closed meshes that reach some way into it.

use barchan_core::math;
use barchan_core::mesh::Mesh;
use barchan_core::relief::Relief;
use barchan_scene::{Heights, Scene, Standing, StandingShape};
use glam::{DAffine3, DQuat, DVec2, DVec3};

/// How far a thing reaches below the lowest ground under it, over its height: what a flow erodes does not lay its foot bare.
const FOOT: f64 = 0.4;
/// Length of a piece of a dam, in widths of its crest, at least a cell of the ground: its foot follows the ground from piece to piece.
const PIECE: f64 = 2.0;
/// Sides of a mast.
const ROUND: u32 = 24;

/// The ground of a scene as it is when things are put on it; none where it has none, or its heights could not be read.
pub(crate) fn relief(scene: &Scene, read: Option<&Heights>) -> Option<Relief> {
    let g = scene.ground.as_ref()?;
    let rock = g.rock.as_ref();
    let cell = read.and_then(|h| h.cell).unwrap_or(g.cell);
    let size = match read.filter(|h| h.cell.is_some()) {
        Some(h) => h.size,
        None => ((g.max - g.min) / cell).round().max(DVec2::ONE).to_array().map(|n| n as usize),
    };
    // Grounds that are too large are refused elsewhere.
    if cell.is_nan() || cell <= 0.0 || size[0].saturating_mul(size[1]) > 1 << 26 {
        return None;
    }
    let formula = g.formula.as_ref().or(rock.and_then(|r| r.formula.as_ref()));
    let (image, terrain) = g.files();
    let least = read.map_or(0.0, |h| h.samples.iter().copied().fold(f64::INFINITY, f64::min));
    let level = g.height.or(rock.and_then(|r| r.height)).unwrap_or(0.0);
    let height = |k: usize| {
        let at = DVec2::new((k % size[0]) as f64 + 0.5, (k / size[0]) as f64 + 0.5);
        if let Some(formula) = formula {
            let place = (g.min + at * cell) / g.unit;
            return formula.at(place.x, place.y) * g.unit;
        }
        let Some(h) = read else { return level };
        let at = at / DVec2::new(size[0] as f64, size[1] as f64) * DVec2::new(h.size[0] as f64, h.size[1] as f64);
        let at = at.min(DVec2::new(h.size[0] as f64, h.size[1] as f64) - 1.0).max(DVec2::ZERO);
        let value = h.samples[at.x as usize + at.y as usize * h.size[0]];
        match (image, terrain) {
            (Some(i), _) => i.low + value * (i.high - i.low),
            (None, Some(t)) => t.low + t.scale * (value - least),
            (None, None) => level,
        }
    };
    let height = (0..size[0] * size[1]).map(height).collect();
    let mut relief = Relief { origin: g.min.extend(g.floor), cell, size, height };
    let smooth = rock.and_then(|r| r.smooth.or(r.terrain.as_ref().map(|_| 2.0 * cell))).unwrap_or(0.0);
    relief.smooth(smooth);
    Some(relief)
}

/// The mesh of a thing that stands on a relief; the sentence says what is in the way.
pub(crate) fn mesh(standing: &Standing, relief: &Relief) -> Result<Mesh, String> {
    match standing.shape {
        StandingShape::Dam => dam(standing, relief),
        shape => {
            let half = 0.5 * standing.size;
            let turn = DQuat::from_rotation_z(standing.turn);
            let under = |p: DVec3| {
                let at = standing.at + (turn * p).truncate();
                relief.over(at.x, at.y).map(|over| over.z).ok_or("part of it is beside the ground")
            };
            let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
            let mut low = under(DVec3::ZERO)?;
            let ground = low;
            for (x, y) in corners {
                low = low.min(under(DVec3::new(x * half.x, y * half.y, 0.0))?);
            }
            let foot = low - FOOT * standing.size.z;
            let top = ground + standing.size.z;
            let body = match shape {
                StandingShape::Mast => mast(half.x, top - foot),
                StandingShape::Rock => boulder(DVec3::new(half.x, half.y, top - foot)),
                _ => house(half, top - foot),
            };
            let place = DAffine3::from_rotation_translation(turn, standing.at.extend(foot));
            Ok(body.transformed(&place))
        }
    }
}

/// Four walls and a gabled roof over a rectangle, from z = 0 to its height; the ridge runs along x.
fn house(half: DVec3, height: f64) -> Mesh {
    let eaves = height - 0.3 * 2.0 * half.z.min(half.y);
    let corner = |x: f64, y: f64, z: f64| DVec3::new(x * half.x, y * half.y, z);
    let vertices = vec![
        corner(-1.0, -1.0, 0.0),
        corner(1.0, -1.0, 0.0),
        corner(1.0, 1.0, 0.0),
        corner(-1.0, 1.0, 0.0),
        corner(-1.0, -1.0, eaves),
        corner(1.0, -1.0, eaves),
        corner(1.0, 1.0, eaves),
        corner(-1.0, 1.0, eaves),
        corner(-1.0, 0.0, height),
        corner(1.0, 0.0, height),
    ];
    let triangles = vec![
        [0, 2, 1],
        [0, 3, 2],
        [0, 1, 5],
        [0, 5, 4],
        [2, 3, 7],
        [2, 7, 6],
        [1, 2, 6],
        [1, 6, 5],
        [5, 6, 9],
        [3, 0, 4],
        [3, 4, 7],
        [7, 4, 8],
        [4, 5, 9],
        [4, 9, 8],
        [6, 7, 8],
        [6, 8, 9],
    ];
    Mesh { vertices, triangles }
}

/// A pole from z = 0.
fn mast(radius: f64, height: f64) -> Mesh {
    Mesh::cylinder(radius, height, ROUND).transformed(&DAffine3::from_translation(DVec3::Z * (0.5 * height)))
}

/// A boulder whose lower half is in the ground, with facets like those that frost leaves.
fn boulder(size: DVec3) -> Mesh {
    let mut mesh = Mesh::sphere(1.0, 3);
    for v in &mut mesh.vertices {
        let (sin, cos) = math::sin_cos(3.0 * v.x + 5.0 * v.y);
        let bumps = 1.0 - 0.07 * (sin * sin + 0.6 * cos * math::sin(4.0 * v.z));
        *v *= bumps;
    }
    let high = mesh.vertices.iter().map(|v| v.z).fold(0.0, f64::max);
    let scale = DVec3::new(size.x, size.y, size.z / high);
    mesh.vertices.iter_mut().for_each(|v| *v *= scale);
    mesh
}

/// A dam along a line: a crest of even height above the ground under it, and two sides of a slope.
fn dam(standing: &Standing, relief: &Relief) -> Result<Mesh, String> {
    let piece = (PIECE * standing.crest).max(relief.cell);
    let mut middle: Vec<DVec2> = Vec::new();
    for w in standing.line.windows(2) {
        let many = ((w[1] - w[0]).length() / piece).ceil().max(1.0) as usize;
        middle.extend((0..many).map(|k| w[0].lerp(w[1], k as f64 / many as f64)));
    }
    middle.extend(standing.line.last());
    if middle.len() < 2 {
        return Err("a dam needs a line of two points".into());
    }
    let tangent = math::tan(standing.slope);
    let mut mesh = Mesh::default();
    for (k, p) in middle.iter().enumerate() {
        let (before, after) = (middle[k.saturating_sub(1)], middle[(k + 1).min(middle.len() - 1)]);
        let along = (after - before).normalize_or(DVec2::X);
        let side = along.perp();
        let crest = relief.over(p.x, p.y).ok_or("part of it is beside the ground")?.z + standing.height;
        let edge = 0.5 * standing.crest;
        // Each foot lies below the ground on its own side, as far out as the slope asks.
        let foot = |sign: f64| {
            let (mut out, mut low) = (edge, crest);
            for _ in 0..64 {
                let at = *p + side * (sign * out);
                low = crest - (out - edge) * tangent;
                let ground = relief.over(at.x, at.y).map_or(f64::INFINITY, |over| over.z);
                if low < ground - FOOT * standing.height {
                    break;
                }
                out += 0.25 * standing.height / tangent;
            }
            (*p + side * (sign * out)).extend(low)
        };
        let top = |sign: f64| (*p + side * (sign * edge)).extend(crest);
        mesh.vertices.extend([foot(-1.0), top(-1.0), top(1.0), foot(1.0)]);
    }
    for k in 0..middle.len() as u32 - 1 {
        for row in 0..4 {
            let [a, b] = [4 * k + row, 4 * k + (row + 1) % 4];
            mesh.triangles.extend([[a, a + 4, b], [b, a + 4, b + 4]]);
        }
    }
    let last = mesh.vertices.len() as u32 - 4;
    mesh.triangles.extend([[0, 1, 2], [0, 2, 3], [last, last + 2, last + 1], [last, last + 3, last + 2]]);
    mesh.orient();
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slope of 30° towards +x.
    fn slope() -> Relief {
        let height = (0..100 * 60).map(|k| 80.0 - 0.577 * (k % 100) as f64).collect();
        Relief { origin: DVec3::ZERO, cell: 1.0, size: [100, 60], height }
    }

    fn standing(shape: StandingShape) -> Standing {
        Standing {
            shape,
            at: DVec2::new(50.0, 30.0),
            size: DVec3::new(10.0, 8.0, 7.0),
            turn: 0.4,
            line: vec![DVec2::new(40.0, 10.0), DVec2::new(60.0, 30.0), DVec2::new(60.0, 50.0)],
            height: 5.0,
            crest: 2.0,
            slope: 1.1,
        }
    }

    #[test]
    fn what_stands_is_closed_and_has_its_foot_in_the_ground_and_its_top_above() {
        let relief = slope();
        for shape in [StandingShape::House, StandingShape::Mast, StandingShape::Rock, StandingShape::Dam] {
            let mesh = mesh(&standing(shape), &relief).unwrap();
            let health = mesh.health();
            assert!(health.is_closed(), "{shape:?}: {health}");
            assert!(mesh.mass_properties().is_some_and(|m| m.volume > 0.0), "{shape:?} faces outwards");
            let over = |v: &DVec3| v.z - relief.over(v.x, v.y).unwrap().z;
            let (low, high) =
                mesh.vertices.iter().map(over).fold((9.0, 0.0), |(a, b): (f64, f64), h| (a.min(h), b.max(h)));
            assert!(low < -1.0 && (4.5..12.0).contains(&high), "{shape:?}: {low} to {high}");
        }
    }

    #[test]
    fn a_dam_has_its_height_all_along() {
        let (relief, dam) = (slope(), standing(StandingShape::Dam));
        let mesh = mesh(&dam, &relief).unwrap();
        for row in mesh.vertices.chunks_exact(4) {
            let middle = 0.5 * (row[1] + row[2]);
            assert!((middle.z - relief.over(middle.x, middle.y).unwrap().z - 5.0).abs() < 1e-9);
            assert!((row[1] - row[2]).length() > 1.99);
        }
    }
}
