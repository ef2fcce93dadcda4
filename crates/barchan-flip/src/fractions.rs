//! What walls and bodies leave open of the grid: area shares of faces, capacities of cells, velocities of solids at faces.
//!
//! From signed distances at the nodes (corners of cells). A face's open share is the marching-squares area of the positive part, as in
//! Batty, Bertails & Bridson 2007. Capacity of a cell and room of a face are sums over the open points of the seeding lattice (eight a cell, at quarter
//! points) by the same trilinear weights that parcels have: a region filled on the lattice then has the density 1 up to its walls, and
//! nothing is short of parcels there.
//!
//! Costs 1331 distances for a brick near a wall; bricks away from walls cost one. Recomputed where a wall has moved or a brick is new.

use crate::grid::{Grid, ROWS, Row, carry};
use barchan_core::boundary::Boundary;
use barchan_core::parallel;
use barchan_core::walls::{Geometry, Side, Wall, WallState};
use glam::DVec3;
use std::collections::BTreeSet;

/// No wall.
pub const NO_WALL: u16 = u16::MAX;
/// Open share below which a face is closed.
pub const CLOSED: f64 = 0.01;
/// Capacity below which a cell is solid.
pub const SOLID: f64 = 0.05;
/// Distance from a wall up to which a place is on its surface [cells]: more than rounding, which would otherwise say at random whether there is room.
pub const ON_SURFACE: f64 = 1e-6;
/// Thickness of a wall that has two sides, on the side away from its matter [cells]: a cell, so that no face is left open behind it.
const SHELL: f64 = 1.5;

/// Open shares and solids on the grid.
#[derive(Clone, Debug, Default)]
pub struct Fractions {
    /// Open area share w of each face, 0 where it is closed.
    pub open: [Vec<Row>; 3],
    /// Open volume share w̃ of the cube about each face.
    pub room: [Vec<Row>; 3],
    /// Capacity c of each cell.
    pub capacity: Vec<Row>,
    /// Velocity of the solid at each face, along the face's axis [m/s].
    pub solid: [Vec<Row>; 3],
    /// The wall at each face whose area or cube is not wholly open.
    pub wall: [Vec<[u16; 8]>; 3],
    /// Whether a brick is near a wall.
    pub walled: Vec<bool>,
    /// How the walls stood when the fractions were computed, and which of them were there.
    states: Vec<WallState>,
    there: Vec<bool>,
    /// Bricks that the last update computed anew.
    pub renewed: usize,
}

/// Place and size of the grid in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Lower corner of cell 0 [m].
    pub origin: DVec3,
    /// Side of a cell [m].
    pub cell: f64,
}

impl Frame {
    /// The point of the world [m] at grid coordinates [cells].
    #[inline]
    pub fn point(&self, cell: [i32; 3], offset: DVec3) -> DVec3 {
        self.origin + (DVec3::new(f64::from(cell[0]), f64::from(cell[1]), f64::from(cell[2])) + offset) * self.cell
    }

    /// Cell and offset of a point of the world [m].
    pub fn locate(&self, x: DVec3) -> ([i32; 3], DVec3) {
        let q = (x - self.origin) / self.cell;
        let whole = q.floor();
        ([whole.x as i32, whole.y as i32, whole.z as i32], q - whole)
    }
}

/// Signed distance [m] of a point to a wall's solid, at most `reach`: negative inside. A wall with two sides (a box with an open face, a
/// cylinder with ends, a disc) is solid for `thickness` [m] on the side away from its matter.
pub fn signed_distance(wall: &Wall, state: &WallState, x: DVec3, reach: f64, thickness: f64) -> f64 {
    if wall.least_distance(state, x) > reach {
        return reach;
    }
    let mut least = reach;
    wall.surfaces(state, x, reach.max(2.0 * thickness), &mut |found| {
        let behind = is_behind(wall, state, x, found.normal);
        let d = if behind { (-found.distance).max(found.distance - thickness) } else { found.distance };
        least = least.min(d);
    });
    least
}

/// Whether a point is on the side of a two-sided wall that its matter is not on; `normal` points from the wall to the point.
fn is_behind(wall: &Wall, state: &WallState, x: DVec3, normal: DVec3) -> bool {
    let own = || wall.to_initial(state, x);
    let turned = || state.rotation.inverse() * normal;
    match wall.geometry {
        Geometry::Box { min, max, side: Side::Inside, open } if open.contains(&true) => {
            // Behind a face if beyond it, and the way from the wall is along that face's axis.
            let (q, n) = (own(), turned());
            (0..3).any(|k| n[k].abs() > 0.9 && ((q[k] > max[k] && n[k] > 0.0) || (q[k] < min[k] && n[k] < 0.0)))
        }
        Geometry::Cylinder { base, axis, radius, height: Some(_), side } => {
            let arm = own() - base;
            let rho = (arm - axis * arm.dot(axis)).length();
            turned().dot(axis).abs() < 0.9 && if side == Side::Inside { rho > radius } else { rho < radius }
        }
        Geometry::Cone { base, axis, radius_base, radius_top, height, side } => {
            let arm = own() - base;
            let z = arm.dot(axis);
            let rho = (arm - axis * z).length();
            let radius = radius_base + (radius_top - radius_base) * (z / height).clamp(0.0, 1.0);
            (0.0..=height).contains(&z) && if side == Side::Inside { rho > radius } else { rho < radius }
        }
        Geometry::Disc { centre, normal: facing, .. } => {
            (own() - centre).dot(facing) < 0.0 && turned().dot(facing) < -0.9
        }
        _ => false,
    }
}

/// Positive share of a unit square from the values at its corners, in the order (0,0), (1,0), (1,1), (0,1): the marching-squares area.
pub fn positive_area(v: [f64; 4]) -> f64 {
    // Share of the way from a to b at which the value is 0; a and b have different signs.
    let cut = |a: f64, b: f64| a / (a - b);
    let inside = v.map(|v| v > 0.0);
    let count = inside.iter().filter(|i| **i).count();
    // The triangle cut off at corner k, whose sign differs from its neighbours'.
    let corner = |k: usize| 0.5 * cut(v[k], v[(k + 1) % 4]) * cut(v[k], v[(k + 3) % 4]);
    match count {
        0 => 0.0,
        4 => 1.0,
        1 => corner((0..4).find(|&k| inside[k]).unwrap_or(0)),
        3 => 1.0 - corner((0..4).find(|&k| !inside[k]).unwrap_or(0)),
        _ => match (0..4).find(|&k| inside[k] && inside[(k + 1) % 4]) {
            // Two neighbours inside: a trapezoid between the cuts of the sides that leave them.
            Some(k) => 0.5 * (cut(v[k], v[(k + 3) % 4]) + cut(v[(k + 1) % 4], v[(k + 2) % 4])),
            // Two opposite corners: by the sign of the middle they are joined or apart.
            None => {
                let middle = v.iter().sum::<f64>() > 0.0;
                let corners = (0..4).filter(|&k| inside[k] != middle).map(corner).sum::<f64>();
                if middle { 1.0 - corners } else { corners }
            }
        },
    }
}

impl Fractions {
    /// Brings the fractions up to date. `before` says where bricks were, if they have changed; those in `spoilt` are computed anew.
    pub fn update(
        &mut self,
        grid: &Grid,
        before: Option<&[u32]>,
        spoilt: &BTreeSet<[i32; 3]>,
        frame: Frame,
        boundary: &Boundary,
        states: &[WallState],
    ) {
        // Nothing is kept of a state that was just loaded.
        let fresh = (before.is_none() && self.capacity.len() != grid.rows()).then(|| vec![0; grid.len()]);
        let before = before.or(fresh.as_deref());
        if let Some(before) = before {
            for k in 0..3 {
                carry(&mut self.open[k], before);
                carry(&mut self.room[k], before);
                carry(&mut self.solid[k], before);
                carry(&mut self.wall[k], before);
            }
            carry(&mut self.capacity, before);
            self.walled = before.iter().map(|&b| self.walled.get(b as usize).copied().unwrap_or(false)).collect();
            if let Some(nowhere) = self.walled.first_mut() {
                *nowhere = false;
            }
        }
        let same = |a: &WallState, b: &WallState| {
            (a.position, a.rotation, a.velocity, a.spin) == (b.position, b.rotation, b.velocity, b.spin)
        };
        // A wall that moved concerns the bricks that it was near or is near.
        let there: Vec<bool> = (0..states.len()).map(|w| boundary.is_there(w)).collect();
        let all = self.states.len() != states.len() || self.there.len() != states.len();
        let has_moved = |w: &usize| !same(&self.states[*w], &states[*w]) || self.there[*w] != there[*w];
        let moved: Vec<usize> = if all { Vec::new() } else { (0..states.len()).filter(has_moved).collect() };
        let is_disturbed = |s: usize| {
            let near = |w: &usize| {
                let wall = &boundary.walls()[*w];
                is_near(wall, &self.states[*w], grid.bricks[s], frame)
                    || is_near(wall, &states[*w], grid.bricks[s], frame)
            };
            all || moved.iter().any(near)
        };
        let is_stale = |s: usize| {
            before.is_some_and(|b| b[s] == 0) || spoilt.contains(&grid.bricks[s]) || (s > 0 && is_disturbed(s))
        };
        let stale = parallel::run((0..grid.len()).collect(), 64, is_stale);
        self.renewed = stale.iter().skip(1).filter(|s| **s).count();
        self.states.clear();
        self.states.extend_from_slice(states);
        self.there = there;
        let [ox, oy, oz] = &mut self.open;
        let [rx, ry, rz] = &mut self.room;
        let [sx, sy, sz] = &mut self.solid;
        let [wx, wy, wz] = &mut self.wall;
        let tasks = ox.chunks_mut(ROWS).zip(oy.chunks_mut(ROWS)).zip(oz.chunks_mut(ROWS));
        let tasks = tasks.zip(rx.chunks_mut(ROWS)).zip(ry.chunks_mut(ROWS)).zip(rz.chunks_mut(ROWS));
        let tasks = tasks.zip(sx.chunks_mut(ROWS)).zip(sy.chunks_mut(ROWS)).zip(sz.chunks_mut(ROWS));
        let tasks = tasks.zip(wx.chunks_mut(ROWS)).zip(wy.chunks_mut(ROWS)).zip(wz.chunks_mut(ROWS));
        let tasks = tasks.zip(self.capacity.chunks_mut(ROWS)).zip(&mut self.walled).enumerate();
        let tasks: Vec<_> = tasks.filter(|(s, _)| stale[*s]).collect();
        parallel::run(tasks, 1, |(s, parts)| {
            let (((((((((((((ox, oy), oz), rx), ry), rz), sx), sy), sz), wx), wy), wz), capacity), walled) = parts;
            let mut brick =
                Brick { open: [ox, oy, oz], room: [rx, ry, rz], solid: [sx, sy, sz], wall: [wx, wy, wz], capacity };
            brick.clear();
            *walled = s > 0 && brick.fill(grid.bricks[s], frame, boundary, states);
        });
    }
}

/// Whether a wall is so near to a brick that it may close something there.
fn is_near(wall: &Wall, state: &WallState, brick: [i32; 3], frame: Frame) -> bool {
    let h = frame.cell;
    // From the brick's middle to the farthest node of its halo, and then some.
    let far = 5.0 * 3f64.sqrt() * h + h;
    let middle = frame.point(brick.map(|b| 8 * b), DVec3::splat(4.0));
    signed_distance(wall, state, middle, far, SHELL * h) < far
}

/// The rows of one brick.
struct Brick<'a> {
    open: [&'a mut [Row]; 3],
    room: [&'a mut [Row]; 3],
    solid: [&'a mut [Row]; 3],
    wall: [&'a mut [[u16; 8]]; 3],
    capacity: &'a mut [Row],
}

/// Nodes along a side of a brick with a cell on each side.
const NODES: i32 = 11;

fn node(x: i32, y: i32, z: i32) -> usize {
    (((z + 1) * NODES + y + 1) * NODES + x + 1) as usize
}

impl Brick<'_> {
    /// Wholly open, with no wall near.
    fn clear(&mut self) {
        for k in 0..3 {
            self.open[k].fill([1.0; 8]);
            self.room[k].fill([1.0; 8]);
            self.solid[k].fill([0.0; 8]);
            self.wall[k].fill([NO_WALL; 8]);
        }
        self.capacity.fill([1.0; 8]);
    }

    /// Computes the fractions; returns whether a wall is near.
    fn fill(&mut self, brick: [i32; 3], frame: Frame, boundary: &Boundary, states: &[WallState]) -> bool {
        let h = frame.cell;
        let first = brick.map(|b| 8 * b);
        let near = |w: &usize| boundary.is_there(*w) && is_near(&boundary.walls()[*w], &states[*w], brick, frame);
        let walls: Vec<usize> = (0..boundary.walls().len()).filter(near).collect();
        if walls.is_empty() {
            return false;
        }
        let reach = 2.0 * h;
        let nearest = |x: DVec3| {
            let each =
                walls.iter().map(|&w| (signed_distance(&boundary.walls()[w], &states[w], x, reach, SHELL * h), w));
            each.fold((reach, usize::MAX), |a, b| if b.0 < a.0 { b } else { a })
        };
        let mut distance = vec![0.0; (NODES * NODES * NODES) as usize];
        for z in -1..10 {
            for y in -1..10 {
                for x in -1..10 {
                    let at = [first[0] + x, first[1] + y, first[2] + z];
                    distance[node(x, y, z)] = nearest(frame.point(at, DVec3::ZERO)).0;
                }
            }
        }
        if distance.iter().all(|d| *d > 0.0) {
            return false;
        }
        self.areas(&distance);
        self.volumes(&distance, h, |cell, offset| {
            nearest(frame.point(std::array::from_fn(|k| first[k] + cell[k]), offset)).0
        });
        self.solids(first, frame, boundary, states, nearest);
        true
    }

    fn areas(&mut self, d: &[f64]) {
        for r in 0..ROWS {
            let (y, z) = (r as i32 % 8, r as i32 / 8);
            for x in 0..8i32 {
                let corner = |a: i32, b: i32, c: i32| d[node(x + a, y + b, z + c)];
                let faces = [
                    [corner(0, 0, 0), corner(0, 1, 0), corner(0, 1, 1), corner(0, 0, 1)],
                    [corner(0, 0, 0), corner(1, 0, 0), corner(1, 0, 1), corner(0, 0, 1)],
                    [corner(0, 0, 0), corner(1, 0, 0), corner(1, 1, 0), corner(0, 1, 0)],
                ];
                for k in 0..3 {
                    let area = positive_area(faces[k]);
                    self.open[k][r][x as usize] = if area < CLOSED { 0.0 } else { area };
                }
            }
        }
    }

    /// Capacities and rooms by the lattice's quadrature, in cells of side `h` [m]. Near walls distances [m] are asked for at the places of the lattice
    /// themselves: between the nodes they are not linear in corners and beside curved walls, and a filling asks for them at the same places.
    fn volumes(&mut self, d: &[f64], h: f64, exact: impl Fn([i32; 3], DVec3) -> f64) {
        for k in 0..3 {
            self.room[k].fill([0.0; 8]);
        }
        self.capacity.fill([0.0; 8]);
        for z in -1..9 {
            for y in -1..9 {
                for x in -1..9 {
                    let corner: [f64; 8] = std::array::from_fn(|c| {
                        d[node(x + (c as i32 & 1), y + (c as i32 >> 1 & 1), z + (c as i32 >> 2))]
                    });
                    let is_near = corner.iter().any(|d| d.abs() < 2.0 * h) && corner.iter().any(|d| *d < h);
                    for point in 0..8usize {
                        let up = [point & 1, point >> 1 & 1, point >> 2];
                        let t = up.map(|u| if u == 1 { 0.75 } else { 0.25 });
                        let weight = |c: usize| {
                            let pick = |k: usize| if c >> k & 1 == 1 { t[k] } else { 1.0 - t[k] };
                            pick(0) * pick(1) * pick(2)
                        };
                        let value: f64 = if is_near {
                            exact([x, y, z], DVec3::from_array(t))
                        } else {
                            (0..8).map(|c| weight(c) * corner[c]).sum()
                        };
                        if value > ON_SURFACE * h {
                            self.deposit([x, y, z], up, t);
                        }
                    }
                }
            }
        }
    }

    /// Adds an eighth of a cell at a point of the lattice by a parcel's weights.
    fn deposit(&mut self, cell: [i32; 3], up: [usize; 3], t: [f64; 3]) {
        // At quarter points a centred sample has weight ¾ in the point's own cell and ¼ in the one it leans to.
        let lean = up.map(|u| if u == 1 { 1 } else { -1 });
        let mut add = |a: usize, at: [i32; 3], w: f64| {
            if at.iter().all(|c| (0..8).contains(c)) {
                let (r, x) = ((at[2] * 8 + at[1]) as usize, at[0] as usize);
                let field = if a == 3 { &mut *self.capacity } else { &mut *self.room[a] };
                field[r][x] += w / 8.0;
            }
        };
        for a in 0..4 {
            for c in 0..8usize {
                let (mut at, mut w) = (cell, 1.0);
                for k in 0..3 {
                    let other = c >> k & 1 == 1;
                    if k == a {
                        at[k] += i32::from(other);
                        w *= if other { t[k] } else { 1.0 - t[k] };
                    } else {
                        at[k] += if other { lean[k] } else { 0 };
                        w *= if other { 0.25 } else { 0.75 };
                    }
                }
                add(a, at, w);
            }
        }
    }

    /// Velocities of solids at faces whose areas or cubes are not wholly open.
    fn solids(
        &mut self,
        first: [i32; 3],
        frame: Frame,
        boundary: &Boundary,
        states: &[WallState],
        nearest: impl Fn(DVec3) -> (f64, usize),
    ) {
        for k in 0..3 {
            for r in 0..ROWS {
                for x in 0..8 {
                    if self.open[k][r][x] == 1.0 && self.room[k][r][x] == 1.0 {
                        continue;
                    }
                    let at = [first[0] + x as i32, first[1] + r as i32 % 8, first[2] + r as i32 / 8];
                    let offset = DVec3::from_array(std::array::from_fn(|j| if j == k { 0.0 } else { 0.5 }));
                    let point = frame.point(at, offset);
                    let (_, wall) = nearest(point);
                    if wall != usize::MAX {
                        self.solid[k][r][x] = boundary.walls()[wall].surface_velocity(&states[wall], point)[k];
                        self.wall[k][r][x] = wall as u16;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::boundary::Fixtures;
    use barchan_core::rng::Random;

    #[test]
    fn the_positive_area_of_a_plane_cut_is_exact() {
        let mut rng = Random::new(3, 0);
        for _ in 0..200 {
            let (a, b, c) = (rng.normal(), rng.normal(), rng.normal());
            let v = [c, c + a, c + a + b, c + b];
            let n = 400;
            let inside = (0..n * n)
                .filter(|i| {
                    let (x, y) = (((i % n) as f64 + 0.5) / n as f64, ((i / n) as f64 + 0.5) / n as f64);
                    c + a * x + b * y > 0.0
                })
                .count();
            let counted = inside as f64 / (n * n) as f64;
            assert!((positive_area(v) - counted).abs() < 6e-3, "{v:?}: {} against {counted}", positive_area(v));
        }
        let saddle = [1.0, -2.0, 1.0, -1.5];
        assert!((positive_area(saddle) + positive_area(saddle.map(|v| -v)) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_wall_that_moves_has_the_bricks_about_it_computed_anew_and_no_others() {
        let floor = Geometry::Plane { point: DVec3::new(0.0, 0.0, 0.3), normal: DVec3::Z };
        let ball = Geometry::Sphere { centre: DVec3::new(6.0, 4.0, 4.0), radius: 2.0, side: Side::Outside };
        let mut walls = vec![Wall::new("floor", floor, 0), Wall::new("ball", ball, 0)];
        walls[1].motion.velocity = DVec3::X;
        let boundary = Boundary::new(Fixtures { walls, carried: Vec::new() }, Vec::new(), DVec3::ZERO);
        let mut grid = Grid::new([0; 3]);
        let before = grid.set((0..12).map(|x| [x, 0, 0]).collect()).unwrap();
        let frame = Frame { origin: DVec3::ZERO, cell: 1.0 };
        let at = |t: f64| boundary.walls().iter().map(|w| w.state_at(t)).collect::<Vec<_>>();
        let (mut kept, mut fresh) = (Fractions::default(), Fractions::default());
        kept.update(&grid, Some(&before), &BTreeSet::new(), frame, &boundary, &at(0.0));
        assert_eq!(kept.renewed, 12);
        for t in [0.5, 9.0, 60.0] {
            kept.update(&grid, None, &BTreeSet::new(), frame, &boundary, &at(t));
            assert!((1..=6).contains(&kept.renewed), "{} bricks at {t}", kept.renewed);
            fresh = Fractions::default();
            fresh.update(&grid, Some(&before), &BTreeSet::new(), frame, &boundary, &at(t));
            assert_eq!((&kept.open, &kept.room, &kept.capacity), (&fresh.open, &fresh.room, &fresh.capacity));
            assert_eq!((&kept.solid, &kept.wall, &kept.walled), (&fresh.solid, &fresh.wall, &fresh.walled));
        }
        kept.update(&grid, None, &BTreeSet::new(), frame, &boundary, &at(60.0));
        assert_eq!(kept.renewed, 0);
        assert!(fresh.open[0].iter().flatten().any(|w| *w == 0.0));
    }

    #[test]
    fn capacities_add_up_to_the_open_volume() {
        // A floor at z = 0.25 cells above a brick's lowest side, seen on all cells about it.
        let floor = Geometry::Plane { point: DVec3::new(0.0, 0.0, 0.25), normal: DVec3::Z };
        let fixtures = Fixtures { walls: vec![Wall::new("floor", floor, 0)], carried: Vec::new() };
        let boundary = Boundary::new(fixtures, Vec::new(), DVec3::ZERO);
        let mut grid = Grid::new([1, 1, 0]);
        let before = grid.set(vec![[0, 0, 0], [0, 0, -1]]).unwrap();
        let mut f = Fractions::default();
        f.update(
            &grid,
            Some(&before),
            &BTreeSet::new(),
            Frame { origin: DVec3::ZERO, cell: 1.0 },
            &boundary,
            boundary.states(),
        );
        let column: f64 = (0..8)
            .map(|z| f.capacity[grid.around[grid.slot([0, 0, 0]) as usize].mid[crate::grid::at(3, z)] as usize][3])
            .sum();
        // Half of the lattice's points of the first cell are open, and the last cell lacks what leans to it from the next brick.
        let below = f.capacity[grid.slot([0, 0, -1]) as usize * 64 + 63][3];
        assert!((column + below - (8.0 - 0.5 - 0.0)).abs() < 0.13, "{column} {below}");
        let z_faces = &f.open[2][grid.slot([0, 0, 0]) as usize * 64][3];
        assert_eq!(*z_faces, 0.0, "the face below the floor is closed");
        let x_faces = f.open[0][grid.slot([0, 0, 0]) as usize * 64][3];
        assert!((x_faces - 0.75).abs() < 1e-12, "{x_faces}");
    }
}
