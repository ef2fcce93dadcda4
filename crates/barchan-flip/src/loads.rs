//! What the liquid does to walls: the momentum that the step's forces leave over.
//!
//! A cell's pressure and a place's stress push the faces about them, each of which takes its share k = M dt⁻¹ · mobility (or slip): 1 in the open, less
//! beside a wall, 0 on a closed face. What a face does not take of a force on it, the wall at that face takes, at the face's middle. A closed face hands
//! over the momentum it loses when its velocity is extended. So momentum and angular momentum of liquid and walls together change by gravity
//! alone, to rounding; and a smooth upright wall, along which each cell pushes up on one face what it pushes down on the next, carries no weight.

use crate::flow::component::{XX, YY, ZZ};
use crate::flow::{Flow, Vectors};
use crate::fractions::NO_WALL;
use crate::grid::{Around, ROWS};
use crate::solid::{FROZEN, Touch};
use crate::step::Liquid;
use barchan_core::boundary::{Boundary, Load};
use barchan_core::parallel;
use barchan_core::walls::WallState;
use glam::DVec3;
use std::collections::BTreeMap;

/// Adds the forces of a step of `dt` [s] to the walls, as means over a world step of `world_dt` [s]. Velocities have been extended. Returns the
/// impulses.
pub fn on_walls(liquid: &Liquid, dt: f64, world_dt: f64, boundary: &mut Boundary) -> Vec<Touch> {
    let (grid, solid) = (&liquid.grid, &liquid.solid);
    let found = parallel::run((1..grid.len()).collect(), 2, |s| impulses(liquid, s, dt));
    let mut given: BTreeMap<u32, DVec3> = BTreeMap::new();
    let mut touches = Vec::new();
    for (s, (own, frozen)) in (1..grid.len()).zip(found) {
        touches.extend(own);
        if let Some(part) = solid.part(grid.bricks[s]) {
            *given.entry(part).or_default() += frozen;
        }
    }
    let volume = liquid.frame.cell.powi(3);
    let handed = solid.hand_on(given, liquid.settings.gravity, volume, dt, &touches);
    deliver_all(liquid, touches.iter().chain(&handed), world_dt, boundary);
    touches.extend(handed);
    touches
}

/// Gives walls the impulses of cells.
pub fn deliver_all<'a>(
    liquid: &Liquid,
    touches: impl Iterator<Item = &'a Touch>,
    world_dt: f64,
    boundary: &mut Boundary,
) {
    let bulk = liquid.settings.bulk();
    for Touch { cell, wall, impulse, couple } in touches {
        let (point, couple) = (liquid.frame.point(*cell, DVec3::splat(0.5)), *couple * bulk);
        deliver(boundary, &liquid.states, *wall, point, *impulse * bulk, world_dt);
        boundary.add_load(*wall as usize, DVec3::ZERO, couple / world_dt);
        if let Some(body) = boundary.carried(*wall as usize) {
            boundary.bodies[body].push_load(Load { force: DVec3::ZERO, torque: couple });
        }
    }
}

/// Share of a force on a face of axis `a` that moves the face.
#[inline]
pub fn share(flow: &Flow, mobility: &Vectors, dt: f64, a: usize, r: usize, x: usize) -> f64 {
    flow.carried.face[a][r][x] * mobility[a][r][x] / dt
}

/// Gives a wall an impulse [N s] at a point [m]: readers see it as a force over the world step of `world_dt` [s]; the body whose surface the
/// wall is takes it up as it is.
pub fn deliver(boundary: &mut Boundary, states: &[WallState], wall: u16, point: DVec3, impulse: DVec3, world_dt: f64) {
    let w = wall as usize;
    let force = impulse / world_dt;
    let pivot = boundary.walls()[w].pivot(&states[w]);
    boundary.add_load(w, force, (point - pivot).cross(force));
    if let Some(body) = boundary.carried(w) {
        boundary.bodies[body].push(point, impulse);
    }
}

/// The axes of the shear at the edges yz, xz, xy.
const EDGES: [(usize, usize); 3] = [(1, 2), (0, 2), (0, 1)];

/// One cell of a brick near walls.
struct Site<'a> {
    liquid: &'a Liquid,
    around: &'a Around,
    at: [i32; 3],
    dt: f64,
}

impl Site<'_> {
    /// Gives the wall at a face of axis `a`, at the cell moved by one along `axis`, up or down, what the face does not take of a force along `a`.
    fn leave(&self, mobility: &Vectors, a: usize, (axis, by): (usize, i32), force: f64, out: &mut Taken) {
        let mut c = self.at;
        c[axis] += by;
        let (r, x) = self.around.row(c[0], c[1], c[2]);
        let left = 1.0 - share(&self.liquid.flow, mobility, self.dt, a, r, x);
        // Along the face's own axis forces do not pass by the cell's middle.
        let arm = if axis == a { DVec3::ZERO } else { DVec3::AXES[axis] * f64::from(by) };
        // What mass and mobility make of a face in the open is 1 to rounding.
        if left.abs() > 1e-14 {
            out.add(left * force, a, arm, || self.liquid.fractions.wall[a][r][x]);
        }
    }

    /// The wall at a face near by: of this cell, else of its neighbours; else locked cells.
    fn near(&self) -> u16 {
        let wall = |a: usize, c: [i32; 3]| self.around.value(&self.liquid.fractions.wall[a], c[0], c[1], c[2]);
        let beside = |k: i32| [self.at[0] + k % 3 - 1, self.at[1] + k / 3 % 3 - 1, self.at[2] + k / 9 - 1];
        let all = || {
            let own = (0..3).map(|a| wall(a, self.at));
            own.chain((0..27).flat_map(|k| (0..3).map(move |a| (a, beside(k)))).map(|(a, c)| wall(a, c)))
        };
        let found = all().find(|w| *w != NO_WALL && *w != FROZEN);
        found.or_else(|| all().find(|w| *w == FROZEN)).unwrap_or(NO_WALL)
    }

    /// What pressure and stress of this cell and its edges leave over, times 1/(h² dt).
    fn left_over(&self, r: usize, x: usize, scale: f64, out: &mut Taken) {
        let flow = &self.liquid.flow;
        for (a, c) in [XX, YY, ZZ].into_iter().enumerate() {
            let (p, s) = (flow.pressure[r][x] * scale, f64::from(flow.stress[c][r][x]) * scale);
            for (by, sign) in [(0, -1.0), (1, 1.0)] {
                if p != 0.0 {
                    self.leave(&flow.mobility, a, (a, by), sign * p, out);
                }
                if s != 0.0 {
                    self.leave(&flow.slip, a, (a, by), -sign * s, out);
                }
            }
        }
        for (e, (i, j)) in EDGES.into_iter().enumerate() {
            let s = f64::from(flow.stress[3 + e][r][x]) * scale;
            if s != 0.0 {
                for (i, j) in [(i, j), (j, i)] {
                    self.leave(&flow.slip, i, (j, 0), -s, out);
                    self.leave(&flow.slip, i, (j, -1), s, out);
                }
            }
        }
    }

    /// Momentum over the volume of a cell [m/s] that the faces of the cell lose: closed ones to walls and to locked cells, and all that moves the
    /// frozen mass on them, which stays at rest.
    fn lost(&self, r: usize, x: usize, out: &mut Taken) {
        let Liquid { flow, fractions, settings, solid, .. } = self.liquid;
        for a in 0..3 {
            let v = flow.velocity[a][r][x];
            if fractions.open[a][r][x] == 0.0 {
                let before = flow.carried.velocity[a][r][x] + settings.gravity[a] * self.dt;
                out.add(flow.carried.face[a][r][x] * (before - v), a, DVec3::ZERO, || fractions.wall[a][r][x]);
            }
            out.add(solid.on_face(a, r, x) * v, a, DVec3::ZERO, || FROZEN);
        }
    }
}

/// What walls, locked cells, and whoever is near take of a cell's momentum, and of its angular momentum about the cell's middle over its side.
#[derive(Default)]
struct Taken(Vec<(u16, DVec3, DVec3)>);

impl Taken {
    /// Adds a component, at an arm in cells, to what `taker` takes.
    fn add(&mut self, value: f64, axis: usize, arm: DVec3, taker: impl Fn() -> u16) {
        if value != 0.0 {
            let (taker, impulse) = (taker(), DVec3::AXES[axis] * value);
            match self.0.iter_mut().find(|t| t.0 == taker) {
                Some(found) => (found.1, found.2) = (found.1 + impulse, found.2 + arm.cross(impulse)),
                None => self.0.push((taker, impulse, arm.cross(impulse))),
            }
        }
    }
}

/// The impulses of the cells of a brick on walls, and their sum on locked cells, in units of ρ_max [m³ m/s].
fn impulses(liquid: &Liquid, s: usize, dt: f64) -> (Vec<Touch>, DVec3) {
    let Liquid { grid, fractions, frame, solid, .. } = liquid;
    let (mut out, mut frozen) = (Vec::new(), DVec3::ZERO);
    let near_walls = grid.beside[s].iter().any(|&n| fractions.walled[n as usize]);
    if !near_walls && solid.part(grid.bricks[s]).is_none() {
        return (out, frozen);
    }
    let (h, first) = (frame.cell, grid.bricks[s].map(|b| 8 * b));
    let mut taken = Taken::default();
    for k in 0..ROWS {
        for x in 0..8 {
            let (r, at) = (s * ROWS + k, [x as i32, k as i32 % 8, k as i32 / 8]);
            let site = Site { liquid, around: &grid.around[s], at, dt };
            site.left_over(r, x, dt / h, &mut taken);
            site.lost(r, x, &mut taken);
            for (taker, momentum, turn) in taken.0.drain(..) {
                let (impulse, couple) = (momentum * (h * h * h), turn * h.powi(4));
                match if taker == NO_WALL { site.near() } else { taker } {
                    NO_WALL => {}
                    FROZEN => frozen += impulse,
                    wall => out.push(Touch { cell: std::array::from_fn(|k| first[k] + at[k]), wall, impulse, couple }),
                }
            }
        }
    }
    (out, frozen)
}
