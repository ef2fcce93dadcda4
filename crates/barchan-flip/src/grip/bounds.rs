//! How much stress a place bears, and the step lengths there.

use super::{BOUND, EDGES, Grip, Law, marked};
use crate::flow::{Flow, Single};
use crate::fractions::{Fractions, NO_WALL, SOLID};
use crate::grid::{Around, Grid, ROWS, by_brick};
use crate::rigid::Rigids;
use crate::settings::Yield;
use barchan_core::parallel;

fn unit(axis: usize) -> [i32; 3] {
    std::array::from_fn(|k| i32::from(k == axis))
}

/// A field's row moved by d.
#[inline(always)]
fn row<T: Copy>(around: &Around, field: &[[T; 8]], y: i32, z: i32, d: [i32; 3]) -> [T; 8] {
    around.shifted(field, d[0], y + d[1], z + d[2])
}

fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|k| a[k] + b[k])
}

/// The faces about a place: the largest mobility, whether all that are open have mass enough to pass stress on. The edge of the matter, where
/// they have not, is free of stress; so momentum is kept.
struct Faces {
    most: [f64; 8],
    known: [bool; 8],
}

impl Faces {
    fn new() -> Faces {
        Faces { most: [0.0; 8], known: [true; 8] }
    }

    #[inline(always)]
    fn add(&mut self, mobility: [f64; 8], open: [f64; 8]) {
        for x in 0..8 {
            self.most[x] = self.most[x].max(mobility[x]);
            self.known[x] &= mobility[x] > 0.0 || open[x] == 0.0;
        }
    }

    fn bears(&self, x: usize) -> bool {
        self.known[x] && self.most[x] > 0.0
    }

    fn step(&self, x: usize, cell: f64) -> f32 {
        if self.bears(x) { (cell / (BOUND * self.most[x])) as f32 } else { 0.0 }
    }
}

impl Grip {
    /// Sets bounds and step lengths up for the flow's pressure, and brings the stress of the last solve within the bounds. With the bodies goes the
    /// area of a face times the step, dt h².
    pub fn prepare(
        &mut self,
        grid: &Grid,
        fractions: &Fractions,
        flow: &mut Flow,
        law: &Law<'_>,
        cell: f64,
        bodies: (&Rigids, f64),
    ) {
        let fields = self.bound.iter_mut().chain(&mut self.step).chain(&mut self.share);
        let fields = fields.chain(&mut self.trial).chain(&mut self.ahead);
        for f in fields.chain(&mut self.base).chain(&mut self.velocity).chain(&mut self.mobility) {
            f.resize(grid.rows(), [0.0; 8]);
        }
        self.bounds(grid, fractions, flow, law, cell);
        bodies.0.soften(grid, &self.bound, &mut self.step, bodies.1);
        self.mark(grid);
        self.clear_unbounded(&mut flow.stress);
        self.project(grid, law.yields, &mut flow.stress, 0.0);
    }

    fn bounds(&mut self, grid: &Grid, fractions: &Fractions, flow: &Flow, law: &Law<'_>, cell: f64) {
        let loaded: Vec<bool> =
            flow.pressure.chunks(ROWS).map(|rows| rows.iter().flatten().any(|p| *p > 0.0)).collect();
        let [b0, b1, b2, b3] = &mut self.bound;
        let [s0, s1, s2, s3] = &mut self.step;
        let [n1, n2, n3] = &mut self.share;
        let parts = by_brick([b0, b1, b2, b3, s0, s1, s2, s3, n1, n2, n3]);
        parallel::run(parts.into_iter().enumerate().skip(1).collect(), 2, |(s, mut parts)| {
            if !grid.beside[s].iter().any(|&n| loaded[n as usize]) {
                parts.iter_mut().for_each(|b| b.fill([0.0; 8]));
                return;
            }
            for k in 0..ROWS {
                let place = Place { around: &grid.around[s], y: k as i32 % 8, z: k as i32 / 8, cell };
                let (bound, step) = place.centre(fractions, flow, law);
                (parts[0][k], parts[4][k]) = (bound, step);
                for e in 0..3 {
                    let (bound, step, share) = place.edge(e, fractions, flow, law);
                    (parts[1 + e][k], parts[5 + e][k], parts[8 + e][k]) = (bound, step, share);
                }
            }
        });
    }

    /// Notes in which rows there is something to do.
    fn mark(&mut self, grid: &Grid) {
        let bound = &self.bound;
        let bits = |test: &dyn Fn(usize) -> bool| (0..ROWS).filter(|k| test(*k)).fold(0u64, |bits, k| bits | 1 << k);
        let any = |r: usize| bound.iter().any(|b| b[r].iter().any(|b| *b != 0.0));
        let wall = |r: usize| bound.iter().any(|b| b[r].iter().any(|b| *b < 0.0));
        self.rows = (0..grid.len()).map(|s| if s == 0 { 0 } else { bits(&|k| any(s * ROWS + k)) }).collect();
        self.walls = (0..grid.len()).map(|s| if s == 0 { 0 } else { bits(&|k| wall(s * ROWS + k)) }).collect();
        // Faces that strains of marked rows read, and that stresses there move.
        self.faces = vec![0; grid.len()];
        for s in 1..grid.len() {
            let around = &grid.around[s];
            for (_, y, z, _) in marked(self.rows[s], s) {
                for (y, z) in [(y, z), (y - 1, z), (y + 1, z), (y, z - 1), (y, z + 1)] {
                    let k = crate::grid::at(y, z);
                    for r in [around.mid[k], around.low[k], around.high[k]].map(|r| r as usize) {
                        self.faces[r / ROWS] |= 1 << (r % ROWS);
                    }
                }
            }
        }
        self.faces[0] = 0;
    }
}

/// A row of cells.
struct Place<'a> {
    around: &'a Around,
    y: i32,
    z: i32,
    cell: f64,
}

/// The factor between friction and the norm of the stress at yield.
fn factor(yields: Yield) -> f64 {
    match yields {
        Yield::Cone => std::f64::consts::SQRT_2,
        Yield::Box => 1.0,
    }
}

impl Place<'_> {
    fn at<T: Copy>(&self, field: &[[T; 8]], d: [i32; 3]) -> [T; 8] {
        row(self.around, field, self.y, self.z, d)
    }

    fn friction(&self, law: &Law<'_>, d: [i32; 3]) -> [f64; 8] {
        law.friction.map_or([law.constant; 8], |f| self.at(f, d))
    }

    /// Which cells of a row bear: those under pressure, and compact ones where sand is cohesive.
    #[inline(always)]
    fn bearing(&self, fractions: &Fractions, flow: &Flow, law: &Law<'_>, d: [i32; 3]) -> ([f64; 8], [bool; 8]) {
        let p = self.at(&flow.pressure, d);
        let mut bears = p.map(|p| p > 0.0);
        if law.cohesion > 0.0 {
            let (m, c) = (self.at(&flow.carried.mass, d), self.at(&fractions.capacity, d));
            (0..8).for_each(|x| bears[x] |= c[x] >= SOLID && m[x] >= law.compact * c[x]);
        }
        (p, bears)
    }

    /// Bounds and step lengths at the centres.
    fn centre(&self, fractions: &Fractions, flow: &Flow, law: &Law<'_>) -> (Single, Single) {
        let ((p, loaded), mu) = (self.bearing(fractions, flow, law, [0; 3]), self.friction(law, [0; 3]));
        let (mut bound, mut step) = ([0.0; 8], [0.0; 8]);
        if !loaded.contains(&true) {
            return (bound, step);
        }
        let mut faces = Faces::new();
        for a in 0..3 {
            for d in [[0; 3], unit(a)] {
                faces.add(self.at(&flow.slip[a], d), self.at(&fractions.open[a], d));
            }
        }
        for x in (0..8).filter(|&x| loaded[x] && faces.bears(x)) {
            bound[x] = (factor(law.yields) * (mu[x] * p[x] + law.cohesion).max(0.0)) as f32;
            step[x] = faces.step(x, self.cell);
        }
        (bound, step)
    }

    /// Bounds, step lengths and one over the number of bearing cells at the edges of a kind.
    fn edge(&self, e: usize, fractions: &Fractions, flow: &Flow, law: &Law<'_>) -> (Single, Single, Single) {
        let (i, j) = EDGES[e];
        let (di, dj) = (unit(i).map(|d| -d), unit(j).map(|d| -d));
        let (mut pressure, mut strength, mut count) = ([0.0; 8], [0.0; 8], [0.0; 8]);
        for d in [[0; 3], di, dj, add(di, dj)] {
            let ((p, loaded), mu) = (self.bearing(fractions, flow, law, d), self.friction(law, d));
            for x in (0..8).filter(|&x| loaded[x]) {
                pressure[x] += p[x].max(0.0);
                strength[x] += (mu[x] * p[x] + law.cohesion).max(0.0);
                count[x] += 1.0;
            }
        }
        let (mut bound, mut step, mut share) = ([0.0; 8], [0.0; 8], [0.0; 8]);
        if count.iter().all(|c| *c == 0.0) {
            return (bound, step, share);
        }
        let mut faces = Faces::new();
        let (mut wall, mut blow) = ([NO_WALL; 8], [0f64; 8]);
        for (a, d) in [(i, [0; 3]), (i, dj), (j, [0; 3]), (j, di)] {
            let open = self.at(&fractions.open[a], d);
            faces.add(self.at(&flow.slip[a], d), open);
            let (met, struck) = (self.at(&fractions.wall[a], d), self.at(&flow.impact[a], d));
            for x in (0..8).filter(|&x| open[x] == 0.0) {
                wall[x] = met[x];
                blow[x] = blow[x].max(struck[x]);
            }
        }
        for x in (0..8).filter(|&x| count[x] > 0.0 && faces.bears(x)) {
            bound[x] = match law.walls.get(wall[x] as usize) {
                // What presses on the wall: the cell's pressure and the half cell between its centre and the wall.
                Some(mu_w) => {
                    -mu_w.min(strength[x] / pressure[x].max(f64::MIN_POSITIVE)) * (pressure[x] / count[x] + blow[x])
                }
                None => factor(law.yields) * strength[x] / count[x],
            } as f32;
            step[x] = faces.step(x, self.cell);
            share[x] = 1.0 / count[x] as f32;
        }
        (bound, step, share)
    }
}
