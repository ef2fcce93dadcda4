//! Walls as they are drawn: vessels of faint glass with their rims as lines, bodies and what lies under the grains solid.

mod facets;
mod surface;

pub use surface::{Pose, Surface, surfaces};

use crate::colour::vary;
use crate::picture::{Finish, Line, Mesh, Picture, Sphere};
use barchan_core::frame::{Frame, WallFrame};
use barchan_core::walls::{Geometry, Side, Wall};
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// Spheres of rough walls that are drawn at most; a wall that has more is drawn by its surface alone.
const MOST_BUMPS: f64 = 40_000.0;
/// Colour of rims over the tint of their glass.
const RIM: f32 = 0.4;
/// Bumps of a wall over its own colour: so that they are not taken for grains.
const BUMP: f32 = 0.5;
/// Below this share of the way from level to steep (the normal's z) a plane is something to stand on.
const SLOPE: f64 = 0.2;
/// A plane is level if its normal's z is at least this: half a degree.
const LEVEL: f64 = 0.99996;

/// Where the play takes place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// The box [m] that holds all that is shown; its middle is the origin of pictures.
    pub bounds: [DVec3; 2],
    /// The box [m] to which endless walls and their roughness are cut.
    pub cut: [DVec3; 2],
}

/// The pose of a wall in a frame: by its place in the list, as solvers write it; at its start where the frame has no walls.
pub fn pose(frame: &Frame, wall: usize) -> Pose {
    let posed = |w: &WallFrame| Pose { position: w.position, rotation: w.rotation };
    frame.walls.get(wall).map_or(Pose::START, posed)
}

/// Point and normal of a plane where it is now.
fn plane(wall: &Wall, pose: Pose) -> Option<(DVec3, DVec3)> {
    match wall.geometry {
        Geometry::Plane { point, normal } => {
            Some((point + pose.position, pose.rotation * normal.normalize_or(DVec3::Z)))
        }
        _ => None,
    }
}

/// Height of the floor [m]: the highest level plane under the middle of the stage, or else the foot of the stage.
pub(crate) fn floor(walls: &[Wall], poses: &[Pose], stage: &Stage) -> f64 {
    let middle = 0.5 * (stage.bounds[0].z + stage.bounds[1].z);
    let level = walls.iter().zip(poses).filter_map(|(w, p)| plane(w, *p)).filter(|(_, n)| n.z >= LEVEL);
    let under = level.map(|(x, _)| x.z).filter(|z| *z <= middle);
    under.reduce(f64::max).unwrap_or(stage.bounds[0].z)
}

/// Height at which the floor is drawn [m]: over [`floor`] where touching bumps stand on it. What lies deeper between them
/// is not seen from a picture's distance but as a pattern of dots that is not there; grains lie higher.
pub(crate) fn filled_floor(walls: &[Wall], poses: &[Pose], stage: &Stage) -> f64 {
    let floor = floor(walls, poses, stage);
    let lies = |(w, p): &(&Wall, &Pose)| plane(w, **p).is_some_and(|(x, n)| n.z >= LEVEL && x.z == floor);
    let rough = walls.iter().zip(poses).find(lies).and_then(|(w, _)| w.rough);
    floor + rough.filter(|r| r.spacing < 2.2 * r.radius).map_or(0.0, |r| 0.5 * r.radius)
}

/// Colours of walls, linear RGB.
pub(crate) struct Paint<'a> {
    /// Reflectances of the materials by index.
    pub materials: &'a [Vec3],
    /// Tint of glass.
    pub glass: Vec3,
}

/// Adds the walls to a picture, whose origin and floor are set.
pub(crate) fn hang(walls: &[Wall], poses: &[Pose], paint: &Paint<'_>, stage: &Stage, picture: &mut Picture) {
    let floor = floor(walls, poses, stage);
    let scale = (stage.bounds[1] - stage.bounds[0]).length();
    for (wall, pose) in walls.iter().zip(poses) {
        let colour = paint.materials.get(usize::from(wall.material)).copied().unwrap_or(Vec3::splat(0.5));
        let is_floor = |s: &Surface| {
            s.normals[0].z.abs() >= LEVEL && s.vertices.iter().all(|v| (v.z - floor).abs() < 1e-4 * scale)
        };
        for piece in pieces(wall, *pose, walls, poses, stage) {
            if !is_floor(&piece) {
                let finish = finish(wall, &piece, stage);
                let colour = if finish == Finish::Glass { paint.glass } else { colour };
                draw(&piece, colour, finish, picture);
            }
        }
        // The bumps of the floor are floor.
        let on_floor = plane(wall, *pose).is_some_and(|(x, n)| n.z >= LEVEL && x.z == floor);
        let bump = if on_floor { picture.floor.map_or(colour * BUMP, |f| f.1) } else { colour * BUMP };
        bumps(wall, *pose, bump, stage, picture);
    }
}

/// The surfaces of a wall; a plane that closes a vessel is its lid, not a sheet through the scene.
fn pieces(wall: &Wall, pose: Pose, walls: &[Wall], poses: &[Pose], stage: &Stage) -> Vec<Surface> {
    let Some((point, normal)) = plane(wall, pose) else { return surfaces(&wall.geometry, pose, stage.cut) };
    let ends = walls.iter().zip(poses).flat_map(|(w, p)| {
        let (axis, height, radii) = match w.geometry {
            Geometry::Cylinder { axis, radius, height: Some(height), .. } => (axis, height, [radius; 2]),
            Geometry::Cone { axis, radius_base, radius_top, height, .. } => (axis, height, [radius_base, radius_top]),
            _ => return vec![],
        };
        let (base, axis) = (w.geometry.pivot() + p.position, p.rotation * axis.normalize_or(DVec3::Z));
        vec![(base, axis, radii[0]), (base + axis * height, axis, radii[1])]
    });
    let mut caps = ends.filter(|(centre, axis, radius)| {
        axis.dot(normal).abs() >= LEVEL && (*centre - point).dot(normal).abs() < 0.02 * radius
    });
    match caps.next() {
        Some((centre, _, radius)) => vec![surface::cap(centre, normal, radius)],
        None => surfaces(&wall.geometry, pose, stage.cut),
    }
}

/// Glass, unless the grains are around it or on top of it.
fn finish(wall: &Wall, piece: &Surface, stage: &Stage) -> Finish {
    let below = |z: f64| z < 0.5 * (stage.bounds[0].z + stage.bounds[1].z);
    let solid = match wall.geometry {
        Geometry::Box { side: Side::Outside, .. }
        | Geometry::Cylinder { side: Side::Outside, .. }
        | Geometry::Cone { side: Side::Outside, .. }
        | Geometry::Sphere { side: Side::Outside, .. } => true,
        Geometry::Plane { .. } | Geometry::Box { .. } => piece.normals[0].z > SLOPE,
        Geometry::Disc { .. } => piece.normals[0].z.abs() > SLOPE && below(piece.vertices[0].z),
        Geometry::Cylinder { .. } | Geometry::Cone { .. } | Geometry::Sphere { .. } => false,
        Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) => !is_vessel(piece, stage),
    };
    if solid { Finish::Solid } else { Finish::Glass }
}

/// Whether a piece is as wide as all the grains are, and around the middle of them.
fn is_vessel(piece: &Surface, stage: &Stage) -> bool {
    let [low, high] = stage.bounds;
    let (least, most) = piece
        .vertices
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(least, most), v| (least.min(*v), most.max(*v)));
    let middle = 0.5 * (low + high);
    let wide = |k: usize| most[k] - least[k] > 0.9 * (high[k] - low[k]);
    wide(0) && wide(1) && middle.cmpge(least).all() && middle.cmple(most).all()
}

fn draw(piece: &Surface, colour: Vec3, finish: Finish, picture: &mut Picture) {
    let near = |x: &DVec3| (*x - picture.origin).as_vec3();
    let solid = finish == Finish::Solid;
    let line = |ends: &[DVec3; 2]| Line {
        ends: [near(&ends[0]), near(&ends[1])],
        colour: colour * RIM,
        width: 1.8,
        opacity: if solid { 0.35 } else { 0.75 },
    };
    let lines: Vec<Line> = piece.edges.iter().map(line).collect();
    let mesh = Mesh {
        vertices: piece.vertices.iter().map(near).collect(),
        normals: piece.normals.iter().map(|n| n.as_vec3()).collect(),
        triangles: piece.triangles.clone(),
        colour,
        colours: Vec::new(),
        finish,
        anchors: Vec::new(),
    };
    picture.lines.extend(lines);
    picture.meshes.push(mesh);
}

/// The spheres of a rough wall within the stage, where they are few enough to draw.
fn bumps(wall: &Wall, pose: Pose, colour: Vec3, stage: &Stage, picture: &mut Picture) {
    let Some(rough) = wall.rough else { return };
    let middle = 0.5 * (stage.cut[0] + stage.cut[1]);
    let reach = 0.5 * (stage.cut[1] - stage.cut[0]).length() + rough.radius;
    // A ball cuts at most its own surface's area out of a wall that is not folded.
    let at_most = 4.0 * PI * reach * reach / (0.866 * rough.spacing * rough.spacing);
    if at_most > 4.0 * MOST_BUMPS {
        return;
    }
    let mut state = wall.state_at(0.0);
    (state.position, state.rotation) = (pose.position, pose.rotation);
    let slack = DVec3::splat(1e-6 * reach);
    let (low, high) = (stage.cut[0] - slack, stage.cut[1] + slack);
    let mut found = Vec::new();
    wall.features(&state, middle, reach, &mut |key| {
        let seen = wall.nearest(&state, key, middle);
        if seen.radius > 0.0 {
            let centre = middle - seen.normal * (seen.distance + seen.radius);
            // Walls along the edge of the stage have their spheres on it.
            if centre.cmpge(low - seen.radius).all() && centre.cmple(high + seen.radius).all() {
                found.push((key, centre, seen.radius));
            }
        }
    });
    if found.len() as f64 <= MOST_BUMPS {
        picture.spheres.extend(found.into_iter().map(|(key, centre, radius)| Sphere {
            centre: (centre - picture.origin).as_vec3().to_array(),
            radius: radius as f32,
            colour: vary(colour, key, 0.3).to_array(),
            grain: crate::dress::NO_GRAIN,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::walls::Roughness;

    const STAGE: Stage = Stage {
        bounds: [DVec3::new(-1.0, -1.0, 0.0), DVec3::new(1.0, 1.0, 2.0)],
        cut: [DVec3::new(-1.1, -1.1, -0.1), DVec3::new(1.1, 1.1, 2.1)],
    };

    fn hung(walls: &[Wall]) -> Picture {
        let poses = vec![Pose::START; walls.len()];
        let mut picture = Picture { origin: DVec3::Z, ..Picture::default() };
        let paint = Paint { materials: &[Vec3::splat(0.3)], glass: Vec3::splat(0.4) };
        hang(walls, &poses, &paint, &STAGE, &mut picture);
        picture
    }

    fn level(z: f64, normal: f64) -> Wall {
        Wall::new("level", Geometry::Plane { point: DVec3::Z * z, normal: DVec3::Z * normal }, 0)
    }

    #[test]
    fn a_level_plane_under_the_grains_is_the_floor_and_nothing_else() {
        let walls = [level(0.0, 1.0), level(-0.5, 1.0), level(2.0, -1.0)];
        let poses = [Pose::START; 3];
        assert_eq!(floor(&walls, &poses, &STAGE), 0.0);
        assert_eq!(floor(&walls[2..], &poses[2..], &STAGE), 0.0, "the foot of the stage");
        assert!(hung(&walls[..1]).meshes.is_empty());
        let above = hung(&walls[2..]);
        assert_eq!(above.meshes.len(), 1);
        assert_eq!(above.meshes[0].finish, Finish::Glass, "a lid must not hide what is under it");
    }

    #[test]
    fn a_plane_that_closes_a_vessel_is_round() {
        let side = Side::Inside;
        let mantle = Geometry::Cylinder { base: DVec3::ZERO, axis: DVec3::Z, radius: 0.5, height: Some(2.0), side };
        let picture = hung(&[Wall::new("mantle", mantle, 0), level(2.0, -1.0)]);
        let lid = &picture.meshes[1];
        assert!(lid.vertices.iter().all(|v| v.truncate().length() < 0.5001), "no sheet beyond the mantle");
        assert!(picture.meshes.iter().all(|m| m.finish == Finish::Glass));
    }

    #[test]
    fn bodies_and_slopes_are_solid_and_sides_are_glass() {
        let ball = Geometry::Sphere { centre: DVec3::Z, radius: 0.3, side: Side::Outside };
        let ramp = Geometry::Plane { point: DVec3::Z, normal: DVec3::new(0.5, 0.0, 1.0) };
        let pane = Geometry::Plane { point: DVec3::X, normal: -DVec3::X };
        for (geometry, finish) in [(ball, Finish::Solid), (ramp, Finish::Solid), (pane, Finish::Glass)] {
            assert_eq!(hung(&[Wall::new("w", geometry, 0)]).meshes[0].finish, finish);
        }
    }

    #[test]
    fn the_floor_is_filled_between_bumps_that_touch() {
        let mut wall = level(0.0, 1.0);
        for (spacing, height) in [(0.1, 0.025), (0.12, 0.0)] {
            wall.rough = Some(Roughness { radius: 0.05, spacing });
            assert_eq!(filled_floor(&[wall.clone()], &[Pose::START], &STAGE), height);
        }
    }

    #[test]
    fn roughness_stands_on_the_wall_and_on_the_stage() {
        let mut wall = level(0.0, 1.0);
        wall.rough = Some(Roughness { radius: 0.05, spacing: 0.1 });
        let picture = hung(&[wall.clone()]);
        assert!(picture.spheres.len() > 300, "{}", picture.spheres.len());
        for s in &picture.spheres {
            assert!((s.centre[2] + 1.0).abs() < 1e-5, "on the plane, seen from an origin 1 m above it");
            assert!(s.centre[0].abs() < 1.2 && s.centre[1].abs() < 1.2);
        }
        wall.rough = Some(Roughness { radius: 5e-4, spacing: 1e-3 });
        assert!(hung(&[wall]).spheres.is_empty(), "too many to draw");
    }
}
