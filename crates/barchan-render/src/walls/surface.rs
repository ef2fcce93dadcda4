//! Walls as triangles and edges. Vertices lie on the wall, normals are the surface's own.

use barchan_core::walls::{Geometry, Side};
use glam::{DQuat, DVec2, DVec3};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Parts of a full turn: a rim of 400 pixels is then within half a pixel of round.
const SIDES: usize = 96;
/// Lines along a turning mantle, by which its turning is seen.
const RIBS: usize = 8;

/// Where a wall is: it has been turned about its pivot and then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Displacement of the pivot [m].
    pub position: DVec3,
    /// Turn about the pivot.
    pub rotation: DQuat,
}

impl Pose {
    /// Where the wall began.
    pub const START: Pose = Pose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };
}

/// A piece of wall in the world [m].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners [m].
    pub vertices: Vec<DVec3>,
    /// Unit normals, one a vertex.
    pub normals: Vec<DVec3>,
    /// Three indices a triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Lines along rims and edges: both ends [m].
    pub edges: Vec<[DVec3; 2]>,
}

/// Vertices, normals and a profile of a surface of revolution: distance from the axis and height, with the normal there.
type Profile = Vec<(DVec2, DVec2)>;

/// The surfaces of a wall: six or fewer of a box, one of everything else, none of what lies outside `cut`, the box [m]
/// to which endless walls are cut.
pub fn surfaces(geometry: &Geometry, pose: Pose, cut: [DVec3; 2]) -> Vec<Surface> {
    let pivot = geometry.pivot() + pose.position;
    let turns = pose.rotation != DQuat::IDENTITY;
    let round = |axis: DVec3, profile: Profile, ribs: bool| {
        let mut surface = revolve(axis, &profile, ribs && turns);
        surface.place(pivot, pose.rotation);
        vec![surface]
    };
    match *geometry {
        Geometry::Mesh(ref facets) => {
            let mut surface = super::facets::surface(facets);
            surface.place(pivot, pose.rotation);
            vec![surface]
        }
        // The surface of a body is drawn by its skin, a ground's from the frame.
        Geometry::Field(_) | Geometry::Relief(_) => Vec::new(),
        Geometry::Plane { normal, .. } => {
            plane(pivot, pose.rotation * normal.normalize_or(DVec3::Z), cut).into_iter().collect()
        }
        Geometry::Box { min, max, side, open } => {
            let faces = (0..6).filter(|f| side == Side::Outside || !open[*f]);
            let mut faces: Vec<Surface> = faces.map(|f| face(0.5 * (max - min), f, side)).collect();
            faces.iter_mut().for_each(|s| s.place(pivot, pose.rotation));
            faces
        }
        Geometry::Cylinder { axis, radius, height, side, .. } => {
            let [low, high] = match height {
                Some(height) => [0.0, height],
                None => along(pose.rotation * axis.normalize_or(DVec3::Z), pivot, cut),
            };
            let out = DVec2::new(facing(side), 0.0);
            round(axis, vec![(DVec2::new(radius, low), out), (DVec2::new(radius, high), out)], true)
        }
        Geometry::Cone { axis, radius_base, radius_top, height, side, .. } => {
            let out = DVec2::new(height, radius_base - radius_top).normalize_or(DVec2::X) * facing(side);
            round(axis, vec![(DVec2::new(radius_base, 0.0), out), (DVec2::new(radius_top, height), out)], true)
        }
        Geometry::Sphere { radius, side, .. } => {
            let at = |k: usize| DVec2::from_angle(-FRAC_PI_2 + 2.0 * FRAC_PI_2 * k as f64 / (SIDES / 2) as f64);
            round(DVec3::Z, (0..=SIDES / 2).map(|k| (at(k) * radius, at(k) * facing(side))).collect(), false)
        }
        Geometry::Disc { normal, radius, hole, .. } => {
            let up = DVec2::new(0.0, 1.0);
            round(normal, vec![(DVec2::new(hole, 0.0), up), (DVec2::new(radius, 0.0), up)], false)
        }
    }
}

/// A round plate that closes a vessel at `centre` [m].
pub fn cap(centre: DVec3, normal: DVec3, radius: f64) -> Surface {
    let up = DVec2::new(0.0, 1.0);
    let mut surface = revolve(normal, &vec![(DVec2::ZERO, up), (DVec2::new(radius, 0.0), up)], false);
    surface.place(centre, DQuat::IDENTITY);
    surface
}

fn facing(side: Side) -> f64 {
    match side {
        Side::Inside => -1.0,
        Side::Outside => 1.0,
    }
}

/// How far a box reaches along an axis from a point [m].
fn along(axis: DVec3, from: DVec3, cut: [DVec3; 2]) -> [f64; 2] {
    let reach = corners(cut).map(|c| (c - from).dot(axis));
    [reach.iter().copied().fold(f64::INFINITY, f64::min), reach.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

fn corners(b: [DVec3; 2]) -> [DVec3; 8] {
    std::array::from_fn(|k| DVec3::new(b[k & 1].x, b[k >> 1 & 1].y, b[k >> 2].z))
}

impl Surface {
    /// Turns about the origin, then moves.
    fn place(&mut self, by: DVec3, turn: DQuat) {
        self.vertices.iter_mut().for_each(|v| *v = turn * *v + by);
        self.normals.iter_mut().for_each(|n| *n = turn * *n);
        self.edges.iter_mut().flatten().for_each(|e| *e = turn * *e + by);
    }

    /// A flat piece with its outline.
    fn polygon(outline: Vec<DVec3>, normal: DVec3) -> Surface {
        let n = outline.len();
        Surface {
            normals: vec![normal; n],
            triangles: (1..n.saturating_sub(1)).map(|k| [0, k as u32, k as u32 + 1]).collect(),
            edges: (0..n).map(|k| [outline[k], outline[(k + 1) % n]]).collect(),
            vertices: outline,
        }
    }
}

/// A surface of revolution about an axis through the origin; edges are the rims at both ends of the profile.
fn revolve(axis: DVec3, profile: &Profile, ribs: bool) -> Surface {
    let axis = axis.normalize_or(DVec3::Z);
    let (u, v) = axis.any_orthonormal_pair();
    // Quarter turns are exact, so that a rim touches the box round it.
    let outward: Vec<DVec3> =
        (0..SIDES).map(|k| DVec2::from_angle(TAU * k as f64 / SIDES as f64)).map(|c| u * c.x + v * c.y).collect();
    let tip = 1e-9 * profile.iter().map(|(p, _)| p.length()).fold(0.0, f64::max);
    let mut surface = Surface::default();
    let at = |p: DVec2, k: usize| outward[k % SIDES] * p.x + axis * p.y;
    for (row, (p, n)) in profile.iter().enumerate() {
        for k in 0..SIDES {
            surface.vertices.push(at(*p, k));
            surface.normals.push(at(*n, k));
            if row > 0 {
                let index = |row: usize, k: usize| (row * SIDES + k % SIDES) as u32;
                let quad = [index(row - 1, k), index(row - 1, k + 1), index(row, k), index(row, k + 1)];
                // At a tip one of the two has no area.
                if profile[row - 1].0.x > tip {
                    surface.triangles.push([quad[0], quad[1], quad[3]]);
                }
                if p.x > tip {
                    surface.triangles.push([quad[0], quad[3], quad[2]]);
                }
            }
        }
    }
    let (Some((first, _)), Some((last, _))) = (profile.first(), profile.last()) else { return surface };
    for rim in [first, last].into_iter().filter(|p| p.x > tip) {
        surface.edges.extend((0..SIDES).map(|k| [at(*rim, k), at(*rim, k + 1)]));
    }
    if ribs {
        surface.edges.extend((0..RIBS).map(|k| k * SIDES / RIBS).map(|k| [at(*first, k), at(*last, k)]));
    }
    surface
}

/// A face of a box about the origin, in the order −x +x −y +y −z +z.
fn face(half: DVec3, face: usize, side: Side) -> Surface {
    let (a, sign) = (face / 2, if face.is_multiple_of(2) { -1.0 } else { 1.0 });
    let corner = |b: f64, c: f64| {
        let mut x = DVec3::ZERO;
        (x[a], x[(a + 1) % 3], x[(a + 2) % 3]) = (sign * half[a], b * half[(a + 1) % 3], c * half[(a + 2) % 3]);
        x
    };
    let mut normal = DVec3::ZERO;
    normal[a] = sign * facing(side);
    Surface::polygon(vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], normal)
}

/// The part of a plane inside a box; none where it misses it.
fn plane(point: DVec3, normal: DVec3, cut: [DVec3; 2]) -> Option<Surface> {
    let (u, v) = normal.any_orthonormal_pair();
    let corner = corners(cut);
    let height = corner.map(|c| (c - point).dot(normal));
    // A plane along a face of the box counts as inside.
    let slack = 1e-9 * (cut[1] - cut[0]).length();
    let mut outline = Vec::new();
    for a in 0..8 {
        for b in [1, 2, 4].map(|bit| a | bit).into_iter().filter(|b| *b != a) {
            let (p, q) = (height[a], height[b]);
            if p.abs() <= slack && q.abs() <= slack {
                outline.extend([corner[a], corner[b]]);
            } else if p.min(q) <= slack && p.max(q) >= -slack {
                outline.push(corner[a].lerp(corner[b], (p / (p - q)).clamp(0.0, 1.0)));
            }
        }
    }
    let middle = outline.iter().sum::<DVec3>() / outline.len().max(1) as f64;
    let angle = |x: &DVec3| (*x - middle).dot(v).atan2((*x - middle).dot(u));
    outline.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    outline.dedup_by(|a, b| a.distance(*b) <= 10.0 * slack);
    if outline.len() > 1 && outline[0].distance(outline[outline.len() - 1]) <= 10.0 * slack {
        outline.pop();
    }
    (outline.len() >= 3).then(|| Surface::polygon(outline, normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::walls::{Motion, Rotate, Wall};

    const CUT: [DVec3; 2] = [DVec3::new(-2.0, -1.5, -1.0), DVec3::new(2.0, 1.5, 3.0)];

    fn walls() -> Vec<Geometry> {
        let at = DVec3::new(0.1, 0.2, 0.3);
        let axis = DVec3::new(0.2, -0.5, 0.8).normalize();
        let mut all =
            vec![Geometry::Plane { point: at, normal: axis }, Geometry::Plane { point: CUT[0], normal: DVec3::X }];
        for side in [Side::Inside, Side::Outside] {
            all.extend([
                Geometry::Box { min: -DVec3::ONE, max: at + 1.0, side, open: [false; 6] },
                Geometry::Cylinder { base: at, axis, radius: 0.7, height: Some(1.1), side },
                Geometry::Cylinder { base: at, axis: DVec3::Y, radius: 0.7, height: None, side },
                Geometry::Cone { base: at, axis, radius_base: 0.2, radius_top: 0.7, height: 0.9, side },
                Geometry::Cone { base: at, axis, radius_base: 0.4, radius_top: 0.0, height: 0.9, side },
                Geometry::Sphere { centre: at, radius: 0.8, side },
            ]);
        }
        all.extend([
            Geometry::Box {
                min: -DVec3::ONE,
                max: at + 1.0,
                side: Side::Inside,
                open: [false, true, false, false, false, true],
            },
            Geometry::Disc { centre: at, normal: axis, radius: 1.0, hole: 0.0 },
            Geometry::Disc { centre: at, normal: axis, radius: 1.0, hole: 0.4 },
        ]);
        all
    }

    #[test]
    fn vertices_lie_on_the_wall_wherever_it_has_gone() {
        for geometry in walls() {
            let mut wall = Wall::new("w", geometry.clone(), 0);
            let axis = DVec3::new(0.3, 0.4, 0.5).normalize();
            wall.motion = Motion {
                velocity: DVec3::new(0.1, 0.0, 0.2),
                rotate: Some(Rotate { point: DVec3::X, axis, rate: 0.7 }),
                ..Motion::default()
            };
            for time in [0.0, 0.9] {
                let state = wall.state_at(time);
                let pose = Pose { position: state.position, rotation: state.rotation };
                let found = surfaces(&wall.geometry, pose, CUT);
                assert!(!found.is_empty(), "{geometry:?}");
                for s in &found {
                    assert_eq!(s.vertices.len(), s.normals.len());
                    for x in s.vertices.iter().chain(s.edges.iter().flatten()) {
                        let distance = wall.clearance(&state, *x);
                        assert!(distance.abs() < 1e-9, "{geometry:?}: {x} is {distance} m off");
                    }
                    assert!(s.triangles.iter().flatten().all(|i| (*i as usize) < s.vertices.len()));
                }
            }
        }
    }

    #[test]
    fn normals_are_the_walls() {
        for geometry in walls() {
            let wall = Wall::new("w", geometry.clone(), 0);
            let state = wall.state_at(0.0);
            for s in surfaces(&wall.geometry, Pose::START, CUT) {
                for t in &s.triangles {
                    let [a, b, c] = t.map(|i| s.vertices[i as usize]);
                    let flat = (b - a).cross(c - a).normalize();
                    for i in t {
                        let n = s.normals[*i as usize];
                        assert!(n.is_normalized() && flat.dot(n).abs() > 0.99, "{geometry:?}: {n} on {flat}");
                    }
                    // A step along the normal leaves the wall by that much.
                    let step = 0.02;
                    let from = (a + b + c) / 3.0;
                    let n = s.normals[t[0] as usize];
                    let gained = wall.clearance(&state, from + n * step).abs() - wall.clearance(&state, from).abs();
                    assert!(gained.abs() > 0.5 * step, "{geometry:?}");
                }
            }
        }
    }

    #[test]
    fn areas_are_those_of_the_shapes() {
        let area = |g: &Geometry| -> f64 {
            let of = |s: &Surface, t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| s.vertices[i as usize]);
                0.5 * (b - a).cross(c - a).length()
            };
            surfaces(g, Pose::START, CUT).iter().map(|s| s.triangles.iter().map(|t| of(s, t)).sum::<f64>()).sum()
        };
        let side = Side::Inside;
        let pi = std::f64::consts::PI;
        let cases = [
            (Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 4.0 * 3.0),
            (
                Geometry::Plane { point: DVec3::ZERO, normal: DVec3::new(1.0, 0.0, 1.0).normalize() },
                3.0 * 3.0 * 2f64.sqrt(),
            ),
            (
                Geometry::Box {
                    min: DVec3::ZERO,
                    max: DVec3::new(1.0, 2.0, 3.0),
                    side,
                    open: [false, false, false, false, false, true],
                },
                20.0,
            ),
            (Geometry::Cylinder { base: DVec3::ZERO, axis: DVec3::Y, radius: 1.0, height: None, side }, 2.0 * pi * 3.0),
            (
                Geometry::Cone {
                    base: DVec3::ZERO,
                    axis: DVec3::Z,
                    radius_base: 3.0,
                    radius_top: 0.0,
                    height: 4.0,
                    side,
                },
                pi * 3.0 * 5.0,
            ),
            (Geometry::Sphere { centre: DVec3::ZERO, radius: 1.0, side }, 4.0 * pi),
            (Geometry::Disc { centre: DVec3::ZERO, normal: DVec3::X, radius: 1.0, hole: 0.5 }, pi * 0.75),
        ];
        for (geometry, exact) in cases {
            let found = area(&geometry);
            assert!((found / exact - 1.0).abs() < 2e-3, "{geometry:?}: {found} instead of {exact}");
        }
    }
}
