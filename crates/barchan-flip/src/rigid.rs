//! Bodies within the problems of pressure and friction.
//!
//! A body answers to the sand within the step. With ñ_f = [n; r × n] of a face f of axis n at the arm r from the body's centre, a body of velocity and
//! spin V moves the solid there at ñ_f·V. Of a force of the grid on the face the sand takes its share k_f (what its mass times its mobility makes of
//! it: 1 in the open, 0 on a closed face) and the body the rest. So the divergence of cell i has Σ_f s_if (1 − k_f) ñ_f·V, the body gets
//! dt h² Σ_i p_i j_i with j_i = Σ_f s_if (1 − k_f) ñ_f, and the matrix of the pressure problem the term dt² h J M⁻¹ Jᵀ of rank 6 [after Batty,
//! Bertails & Bridson 2007]. The same shares stand on both sides: what the problem says of the body's motion is what it then gets.
//!
//! Sand that lies against the body takes its velocity: the mass on closed faces before which sand bears goes into M. Without it a body lighter than
//! that mass would shake. Loads are counted by `loads`, from what the sand's momentum really did; what is here says how the body moves
//! under them within the step.
//!
//! Reads masses, mobilities and bodies; writes velocities of solids at faces. Costs little beside the pressure: bodies have few faces.

use crate::flow::component::{XX, XY, XZ, YY, YZ, ZZ};
use crate::flow::{Flow, Single, Tensors, Vectors, divergence};
use crate::fractions::{Fractions, Frame};
use crate::grid::{Grid, ROWS, Row};
use crate::loads::share;
use barchan_core::boundary::Boundary;
use glam::DVec3;

/// Velocity and spin of a body, or momentum and angular momentum about its centre.
pub type Six = [f64; 6];
type Matrix = [Six; 6];

/// A body that answers.
#[derive(Clone, Debug)]
struct Rigid {
    wall: usize,
    /// M⁻¹, of the body and the sand that lies against it, over that of a volume of packed sand.
    inverse: Matrix,
    /// Columns L of M⁻¹ = Σ L Lᵀ.
    columns: Vec<Six>,
    /// Velocity without pressure and friction of this step.
    start: Six,
    /// The same, with friction.
    held: Six,
    /// Velocity as far as it is known.
    velocity: Six,
}

/// A face of which a body has a share.
#[derive(Clone, Debug)]
pub struct Face {
    pub axis: usize,
    pub slot: usize,
    pub row: usize,
    pub x: usize,
    /// Index of the body in the list.
    pub rigid: usize,
    /// ñ.
    pub lever: Six,
    /// The body's shares of pressure and of stress.
    pub push: f64,
    pub drag: f64,
    /// Whether the face moves with the body alone.
    pub closed: bool,
}

/// The bodies of a step and their faces.
#[derive(Clone, Debug, Default)]
pub struct Rigids {
    list: Vec<Rigid>,
    faces: Vec<Face>,
    /// The sand's shares of the faces' fluxes: open areas, but where bodies have theirs.
    open: Vectors,
}

fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(m: &Matrix, v: &Six) -> Six {
    std::array::from_fn(|i| dot(&m[i], v))
}

fn add(to: &mut Six, v: &Six, factor: f64) {
    to.iter_mut().zip(v).for_each(|(to, v)| *to += factor * v);
}

fn six(linear: DVec3, angular: DVec3) -> Six {
    let (l, a) = (linear.to_array(), angular.to_array());
    [l[0], l[1], l[2], a[0], a[1], a[2]]
}

/// (I + B C)⁻¹ B for a symmetric B, which may be singular: the inverse of B⁻¹ + C.
fn inverse_of_sum(b: &Matrix, c: &Matrix) -> Matrix {
    let mut m: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| f64::from(u8::from(i == j)) + (0..6).map(|k| b[i][k] * c[k][j]).sum::<f64>())
    });
    let mut y = *b;
    for k in 0..6 {
        let pivot = (k..6).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap_or(k);
        m.swap(k, pivot);
        y.swap(k, pivot);
        for i in (0..6).filter(|&i| i != k) {
            let r = m[i][k] / m[k][k];
            let (mk, yk) = (m[k], y[k]);
            add(&mut m[i], &mk, -r);
            add(&mut y[i], &yk, -r);
        }
    }
    let solved: Matrix = std::array::from_fn(|i| y[i].map(|v| v / m[i][i]));
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (solved[i][j] + solved[j][i])))
}

/// Columns L of a positive semidefinite matrix Σ L Lᵀ.
fn columns(m: &Matrix) -> Vec<Six> {
    let mut rest = *m;
    let mut out = Vec::new();
    for k in 0..6 {
        let pivot = rest[k][k];
        if pivot <= 1e-14 * m[k][k] || pivot <= 0.0 {
            continue;
        }
        let column: Six = std::array::from_fn(|i| rest[i][k] / pivot.sqrt());
        for i in 0..6 {
            add(&mut rest[i], &column, -column[i]);
        }
        out.push(column);
    }
    out
}

/// The bodies while friction is iterated on: how they move under a trial stress.
pub struct Grips<'a> {
    pub rigids: &'a Rigids,
    /// Area of a face times the step, dt h².
    pub area: f64,
    /// What the stress at the beginning did, which is part of the bodies' velocities.
    pub before: Vec<Six>,
}

impl Grips<'_> {
    /// Lets the closed faces go along with the bodies under a stress.
    pub fn follow(&self, grid: &Grid, stress: &Tensors, velocity: &mut [Vec<Single>; 3]) {
        if self.rigids.is_empty() {
            return;
        }
        let change = self.rigids.dragged(grid, stress, self.area);
        let velocities: Vec<Six> = { self.rigids.list.iter().zip(&change).zip(&self.before) }
            .map(|((r, now), before)| std::array::from_fn(|k| r.velocity[k] + now[k] - before[k]))
            .collect();
        for f in self.rigids.faces.iter().filter(|f| f.closed) {
            velocity[f.axis][f.row][f.x] = dot(&f.lever, &velocities[f.rigid]) as f32;
        }
    }
}

/// What a body's motion in a step begins with: the walls' and its own.
pub struct Start<'a> {
    pub boundary: &'a Boundary,
    pub gravity: DVec3,
    /// Density of packed sand [kg/m³].
    pub bulk: f64,
    /// Step, and time since the beginning of the world step [s].
    pub dt: f64,
    pub elapsed: f64,
}

impl Rigids {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The sand's shares of fluxes.
    pub fn open<'a>(&'a self, fractions: &'a Fractions) -> &'a Vectors {
        if self.is_empty() { &fractions.open } else { &self.open }
    }

    /// Finds the bodies that answer and their faces, after masses and mobilities have been set up.
    pub fn begin(&mut self, grid: &Grid, frame: Frame, fractions: &mut Fractions, flow: &mut Flow, start: &Start<'_>) {
        self.list.clear();
        self.faces.clear();
        let Start { boundary, gravity, bulk, dt, elapsed } = *start;
        let mut by_wall = vec![usize::MAX; boundary.walls().len()];
        let mut bodies = Vec::new();
        for carried in &boundary.fixtures().carried {
            let body = &boundary.bodies[carried.body as usize];
            if body.there && (body.pose.inverse_mass > 0.0 || body.inverse_inertia != DVec3::ZERO) {
                by_wall[carried.wall as usize] = bodies.len();
                bodies.push((carried.wall as usize, body));
            }
        }
        if bodies.is_empty() {
            return;
        }
        let volume = frame.cell.powi(3);
        // Of the sand against each body: its inertia, its momentum relative to the body's motion, and what weighs on the body from within it.
        let mut against: Vec<(Matrix, Six)> = vec![([[0.0; 6]; 6], [0.0; 6]); bodies.len()];
        let predicted: Vec<Six> =
            bodies.iter().map(|(_, b)| b.predicted(elapsed, gravity)).map(|(v, w)| six(v, w)).collect();
        for s in (1..grid.len()).filter(|&s| fractions.walled[s]) {
            let around = &grid.around[s];
            for k in 0..512usize {
                let (row, x, at) = (s * ROWS + k / 8, k % 8, [k as i32 & 7, k as i32 >> 3 & 7, k as i32 >> 6]);
                for axis in 0..3 {
                    let Some(&rigid) = by_wall.get(fractions.wall[axis][row][x] as usize) else { continue };
                    if rigid == usize::MAX {
                        continue;
                    }
                    let (closed, mass) = (fractions.open[axis][row][x] == 0.0, flow.carried.face[axis][row][x]);
                    if !closed && mass == 0.0 {
                        continue;
                    }
                    let cell = std::array::from_fn(|j| 8 * grid.bricks[s][j] + at[j]);
                    let middle = DVec3::from_array(std::array::from_fn(|j| if j == axis { 0.0 } else { 0.5 }));
                    let arm = frame.point(cell, middle) - bodies[rigid].1.pose.centre;
                    let n = DVec3::AXES[axis];
                    let lever = six(n, arm.cross(n));
                    let push = 1.0 - share(flow, &flow.mobility, dt, axis, row, x);
                    let drag = 1.0 - share(flow, &flow.slip, dt, axis, row, x);
                    self.faces.push(Face { axis, slot: s, row, x, rigid, lever, push, drag, closed });
                    if !closed || mass == 0.0 {
                        continue;
                    }
                    let before = flow.carried.velocity[axis][row][x] + gravity[axis] * dt;
                    let into = before - dot(&lever, &predicted[rigid]);
                    let mut behind = at;
                    behind[axis] -= 1;
                    let sand = |c: [i32; 3]| {
                        let value = |f: &[Row]| around.value(f, c[0], c[1], c[2]);
                        (value(&flow.carried.mass) > 0.0 && value(&fractions.capacity) > 0.5)
                            .then(|| value(&flow.pressure) != 0.0)
                    };
                    let front = [(at, -1.0), (behind, 1.0)].into_iter().find_map(|(c, off)| Some((sand(c)?, off)));
                    let (inertia, momentum) = &mut against[rigid];
                    match front {
                        // Sand before the face moves with it while it bears or comes in.
                        Some((bears, off)) if bears || into * off > 0.0 => {
                            for i in 0..6 {
                                add(&mut inertia[i], &lever, mass * volume * lever[i]);
                            }
                            add(momentum, &lever, mass * volume * into);
                        }
                        Some(_) => {}
                        // Within the body: what is there goes along with the sand beside it, and weighs on the body.
                        None => add(momentum, &lever, mass * volume * gravity[axis] * dt),
                    }
                }
            }
        }
        for (k, (wall, body)) in bodies.iter().enumerate() {
            let inertia = body.inverse_inertia();
            let own: Matrix = std::array::from_fn(|i| {
                std::array::from_fn(|j| match (i < 3, j < 3) {
                    (true, true) if i == j => bulk * body.pose.inverse_mass,
                    (false, false) => bulk * inertia.col(j - 3)[i - 3],
                    _ => 0.0,
                })
            });
            let inverse = inverse_of_sum(&own, &against[k].0);
            let mut start = predicted[k];
            add(&mut start, &times(&inverse, &against[k].1), 1.0);
            let columns = columns(&inverse);
            self.list.push(Rigid { wall: *wall, inverse, columns, start, held: start, velocity: start });
        }
        for a in 0..3 {
            self.open[a].clone_from(&fractions.open[a]);
        }
        for f in &self.faces {
            self.open[f.axis][f.row][f.x] = 1.0 - f.push;
        }
        self.show(fractions, flow);
    }

    /// Lets the solids at the bodies' faces move as the bodies do now.
    fn show(&self, fractions: &mut Fractions, flow: &mut Flow) {
        for f in &self.faces {
            let v = dot(&f.lever, &self.list[f.rigid].velocity);
            fractions.solid[f.axis][f.row][f.x] = v;
            if f.closed {
                flow.base[f.axis][f.row][f.x] = v;
            }
        }
    }

    /// What forces over the area of a face, given by the face, do to the bodies' velocities in a step.
    fn answers(&self, impulse: impl Fn(&Face) -> f64) -> Vec<Six> {
        let mut sums = vec![[0.0; 6]; self.list.len()];
        for f in &self.faces {
            let i = impulse(f);
            if i != 0.0 {
                add(&mut sums[f.rigid], &f.lever, i);
            }
        }
        self.list.iter().zip(&sums).map(|(r, s)| times(&r.inverse, s)).collect()
    }

    /// What the stress does to the bodies' velocities; dt h² is the area of a face over the step.
    pub fn dragged(&self, grid: &Grid, stress: &Tensors, area: f64) -> Vec<Six> {
        self.answers(|f| {
            if f.drag == 0.0 {
                return 0.0;
            }
            let k = (f.row % ROWS) as i32;
            f.drag * area * divergence(&grid.around[f.slot], stress, k % 8, k / 8)[f.axis][f.x]
        })
    }

    /// Velocities of the bodies under the stress and without pressure.
    pub fn hold(&mut self, grid: &Grid, fractions: &mut Fractions, flow: &mut Flow, area: f64) {
        let change = self.dragged(grid, &flow.stress, area);
        for (r, d) in self.list.iter_mut().zip(change) {
            r.held = r.start;
            add(&mut r.held, &d, 1.0);
            r.velocity = r.held;
        }
        self.show(fractions, flow);
    }

    /// And with the pressure.
    pub fn press(&mut self, grid: &Grid, fractions: &mut Fractions, flow: &mut Flow, area: f64) {
        let pressure = &flow.pressure;
        let change = self.answers(|f| {
            let k = (f.row % ROWS) as i32;
            let mut at = [f.x as i32, k % 8, k / 8];
            let value = |c: [i32; 3]| grid.around[f.slot].value(pressure, c[0], c[1], c[2]);
            let here = value(at);
            at[f.axis] -= 1;
            f.push * area * (value(at) - here)
        });
        for (r, d) in self.list.iter_mut().zip(change) {
            r.velocity = r.held;
            add(&mut r.velocity, &d, 1.0);
        }
        self.show(fractions, flow);
    }

    /// Places of the stress whose faces move with each body: component, row, place, and what a unit of stress there gives the body.
    fn gripped(&self, grid: &Grid) -> Vec<(usize, (usize, usize, usize), Six)> {
        /// Components of the shear between two axes.
        const SHEAR: [[usize; 3]; 3] = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]];
        let mut found: Vec<(usize, (usize, usize, usize), Six)> = Vec::new();
        for f in self.faces.iter().filter(|f| f.closed) {
            let k = (f.row % ROWS) as i32;
            let at = [f.x as i32, k % 8, k / 8];
            for (b, &component) in SHEAR[f.axis].iter().enumerate() {
                // A normal stress pushes the faces below and above its cell, a shear stress those on both sides of its edge.
                let mut other = at;
                other[b] += if b == f.axis { -1 } else { 1 };
                let sign = if b == f.axis { 1.0 } else { -1.0 };
                for (c, sign) in [(at, sign), (other, -sign)] {
                    let (row, x) = grid.around[f.slot].row(c[0], c[1], c[2]);
                    found.push((f.rigid, (component, row, x), f.lever.map(|l| sign * l)));
                }
            }
        }
        found.sort_by_key(|f| (f.0, f.1));
        found.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                add(&mut kept.2, &next.2, 1.0);
            }
            same
        });
        found
    }

    /// Shortens the steps of the friction solver where stress moves bodies: over the bound without them comes the trace of what bodies add.
    /// `bound` and `step` are those of places: centres, and edges yz, xz, xy.
    pub fn soften(&self, grid: &Grid, bound: &[Vec<Single>; 4], step: &mut [Vec<Single>; 4], area: f64) {
        if self.is_empty() {
            return;
        }
        let kind = |component: usize| if component < 3 { 0 } else { component - 2 };
        let places = self.gripped(grid);
        let bears = |(c, row, x): (usize, usize, usize)| row >= ROWS && bound[kind(c)][row][x] != 0.0;
        let mut trace = vec![0.0; self.list.len()];
        for (rigid, place, given) in places.iter().filter(|p| bears(p.1)) {
            // A shear stress stands for two components, of which the strain has half each.
            let weight = if place.0 < 3 { 1.0 } else { 0.5 };
            trace[*rigid] += weight * area * dot(given, &times(&self.list[*rigid].inverse, given));
        }
        for (rigid, place, _) in places.iter().filter(|p| bears(p.1)) {
            let step = &mut step[kind(place.0)][place.1][place.2];
            if *step > 0.0 {
                *step = (1.0 / (1.0 / f64::from(*step) + trace[*rigid])) as f32;
            }
        }
    }

    /// The terms of rank one that the bodies add to the matrix of the pressure problem, unscaled: for each, the cells' entries. `index` has the
    /// unknowns of cells.
    pub fn terms(&self, grid: &Grid, index: &[[u32; 8]], none: u32, factor: f64) -> Vec<Vec<(u32, f64)>> {
        let mut found: Vec<(usize, u32, Six)> = Vec::new();
        for f in &self.faces {
            let k = (f.row % ROWS) as i32;
            let mut at = [f.x as i32, k % 8, k / 8];
            let mut push = |c: [i32; 3], sign: f64| {
                let i = grid.around[f.slot].value(index, c[0], c[1], c[2]);
                if i != none {
                    found.push((f.rigid, i, f.lever.map(|l| sign * f.push * l)));
                }
            };
            push(at, -1.0);
            at[f.axis] -= 1;
            push(at, 1.0);
        }
        found.sort_by_key(|f| (f.0, f.1));
        let mut out = Vec::new();
        for (k, rigid) in self.list.iter().enumerate() {
            let own = found.iter().filter(|f| f.0 == k);
            let mut cells: Vec<(u32, Six)> = Vec::new();
            for (_, i, j) in own {
                match cells.last_mut().filter(|c| c.0 == *i) {
                    Some(last) => add(&mut last.1, j, 1.0),
                    None => cells.push((*i, *j)),
                }
            }
            for column in &rigid.columns {
                out.push(cells.iter().map(|(i, j)| (*i, factor * dot(j, column))).collect());
            }
        }
        out
    }

    /// Walls of the bodies and how they move.
    pub fn velocities(&self) -> impl Iterator<Item = (usize, DVec3, DVec3)> + '_ {
        self.list.iter().map(|r| {
            let [x, y, z, u, v, w] = r.velocity;
            (r.wall, DVec3::new(x, y, z), DVec3::new(u, v, w))
        })
    }
}
