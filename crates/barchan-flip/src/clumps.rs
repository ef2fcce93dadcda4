//! Density correction on a surface: grains that ride on it are spread until no face holds more than its limit.
//!
//! Munns 2015 limits the number of riding grains a face by a quadratic programme in place of collisions. Here with the two-point-flux Laplacian
//! of the faces, w_ij = edge length over the way between the faces' middles,
//!
//!   0 ≤ Ψ_i ⊥ room_i − grains_i + Σ_j w_ij (Ψ_i − Ψ_j) ≥ 0,
//!
//! which has a solution on a closed patch if and only if its grains are no more than its room. What is too much for a patch is taken off
//! first; then the solution's flows are carried out in whole grains, from the highest Ψ down. Only faces within reach of an over-full one take
//! part, so that the cost follows the clumps and not the surface.

use crate::solve::{Limits, Scaled, Workspace, solve};
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

/// A surface as faces and the edges between them.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// Of each face, its neighbours across edges that are not open, with w_ij.
    pub beside: Vec<Vec<(u32, f64)>>,
    /// Of each face, the sum of ℓ/d over its open edges, over which grains may leave the surface.
    pub open: Vec<f64>,
    /// Most grains of each face.
    pub room: Vec<u32>,
}

/// What became of the grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Grains taken off, because their patch was over-full.
    pub taken: Vec<u32>,
    /// Grains that left over open edges.
    pub left: Vec<u32>,
    /// Grains that changed their faces, from which to which, in the order in which they did.
    pub moves: Vec<(u32, u32, u32)>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Faces that took part.
    pub active: usize,
}

/// A grain without a face.
pub const OFF: u32 = u32::MAX;

/// Violation at which the solver stops, as a share of a grain: flows are rounded to whole grains anyway.
const LIMITS: Limits = Limits { tolerance: 1e-2, error: f64::INFINITY, iterations: 2000 };
/// Faces beyond the least that could hold a clump's grains, in layers: as many as the solution needs to fade out.
const LAYERS: usize = 4;

/// Spreads grains over the faces of a surface; `face` has the face of each grain ([`OFF`] for none) and is brought up to date. Where a face gives
/// grains away, those with the lowest `depth` stay on the surface and those with the highest are taken off first; ties go by number.
pub fn spread(faces: &Faces, face: &mut [u32], depth: &[f64]) -> Spread {
    let found = pressures(faces, face, depth);
    carry_out(faces, face, &found)
}

/// The solution before anything has moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pressures {
    /// Ψ of the faces that took part, in grains; empty where no face is over its limit.
    pub psi: BTreeMap<u32, f64>,
    /// What was taken off, and the work.
    pub spread: Spread,
}

/// Takes off what patches cannot hold, and solves for Ψ: w_ij (Ψ_i − Ψ_j) is how many grains cross an edge.
pub fn pressures(faces: &Faces, face: &mut [u32], depth: &[f64]) -> Pressures {
    let mut state = State::new(faces, face);
    let mut out = Spread::default();
    if !state.crowded() {
        return Pressures::default();
    }
    state.take_excess(face, depth, &mut out);
    let mut layers = LAYERS;
    loop {
        let region = state.region(layers);
        let psi = state.solve(&region, &mut out);
        // The solution must have faded out before the rim of the region, else more faces take part.
        let rim = |i: &usize| faces.beside[region[*i] as usize].iter().any(|(j, _)| !psi.contains_key(j));
        if (0..region.len()).any(|i| rim(&i) && psi[&region[i]] > 0.0) {
            layers *= 2;
            continue;
        }
        out.active = region.len();
        return Pressures { psi, spread: out };
    }
}

/// Carries the flows of a solution out in whole grains.
pub fn carry_out(faces: &Faces, face: &mut [u32], found: &Pressures) -> Spread {
    let mut out = found.spread.clone();
    if !found.psi.is_empty() {
        let region: Vec<u32> = found.psi.keys().copied().collect();
        State::new(faces, face).transport(&region, &found.psi, face, &mut out);
    }
    out
}

struct State<'a> {
    faces: &'a Faces,
    /// Grains on each face that holds any, in the order of their numbers.
    on: HashMap<u32, Vec<u32>>,
    over: Vec<u32>,
}

impl State<'_> {
    fn new<'a>(faces: &'a Faces, face: &[u32]) -> State<'a> {
        let mut on: HashMap<u32, Vec<u32>> = HashMap::new();
        for (grain, &f) in face.iter().enumerate().filter(|(_, f)| **f != OFF) {
            on.entry(f).or_default().push(grain as u32);
        }
        let mut state = State { faces, on, over: Vec::new() };
        state.over = state.over_full();
        state
    }

    fn count(&self, f: u32) -> u32 {
        self.on.get(&f).map_or(0, |g| g.len() as u32)
    }

    fn surplus(&self, f: u32) -> u32 {
        self.count(f).saturating_sub(self.faces.room[f as usize])
    }

    fn over_full(&self) -> Vec<u32> {
        let mut over: Vec<u32> = self.on.keys().copied().filter(|&f| self.surplus(f) > 0).collect();
        over.sort_unstable();
        over
    }

    fn crowded(&self) -> bool {
        !self.over.is_empty()
    }

    /// Takes off what closed patches with over-full faces cannot hold: from the fullest faces, the deepest grains first.
    fn take_excess(&mut self, face: &mut [u32], depth: &[f64], out: &mut Spread) {
        let all: u64 = self.on.values().map(|g| g.len() as u64).sum();
        // Of each face that was visited, the over-full face from which it was.
        let mut seen: HashMap<u32, u32> = HashMap::new();
        for start in self.over.clone() {
            if seen.contains_key(&start) {
                continue;
            }
            seen.insert(start, start);
            let (mut patch, mut held, mut room, mut next) = (vec![start], 0u64, 0u64, 0);
            // A patch has room as soon as there is room for all grains, over an open edge, or where it meets one that has.
            let mut roomy = false;
            while next < patch.len() && !roomy {
                let f = patch[next];
                next += 1;
                held += u64::from(self.count(f));
                room += u64::from(self.faces.room[f as usize]);
                roomy |= room >= all || self.faces.open[f as usize] > 0.0;
                for &(j, _) in &self.faces.beside[f as usize] {
                    match seen.get(&j) {
                        None => {
                            seen.insert(j, start);
                            patch.push(j);
                        }
                        Some(&from) => roomy |= from != start,
                    }
                }
            }
            if !roomy && held > room {
                self.take(&patch, held - room, face, depth, out);
            }
        }
        self.over = self.over_full();
    }

    fn take(&mut self, patch: &[u32], excess: u64, face: &mut [u32], depth: &[f64], out: &mut Spread) {
        let mut fullest: BinaryHeap<(u32, std::cmp::Reverse<u32>)> =
            patch.iter().map(|&f| (self.count(f), std::cmp::Reverse(f))).collect();
        for _ in 0..excess {
            let Some((count, std::cmp::Reverse(f))) = fullest.pop() else { return };
            let Some(grains) = self.on.get_mut(&f) else { return };
            let deepest = (0..grains.len()).max_by(|&i, &j| {
                let key = |k: usize| depth[grains[k] as usize];
                key(i).total_cmp(&key(j)).then(grains[i].cmp(&grains[j]))
            });
            let Some(grain) = deepest.map(|k| grains.remove(k)) else { return };
            face[grain as usize] = OFF;
            out.taken.push(grain);
            fullest.push((count - 1, std::cmp::Reverse(f)));
        }
    }

    /// Faces about the over-full ones, layer by layer: until they have room for the grains on them, and so many layers more.
    fn region(&self, layers: usize) -> Vec<u32> {
        let mut region = self.over.clone();
        let mut inside: HashMap<u32, ()> = region.iter().map(|&f| (f, ())).collect();
        let (mut from, mut more) = (0, layers);
        loop {
            let held: u64 = region.iter().map(|&f| u64::from(self.count(f))).sum();
            let room: u64 = region.iter().map(|&f| u64::from(self.faces.room[f as usize])).sum();
            if room >= held {
                if more == 0 {
                    break;
                }
                more -= 1;
            }
            let end = region.len();
            for k in from..end {
                for &(j, _) in &self.faces.beside[region[k] as usize] {
                    if inside.insert(j, ()).is_none() {
                        region.push(j);
                    }
                }
            }
            if region.len() == end {
                break;
            }
            from = end;
        }
        region.sort_unstable();
        region
    }

    /// Ψ of every face of a region, with Ψ = 0 about it.
    fn solve(&self, region: &[u32], out: &mut Spread) -> BTreeMap<u32, f64> {
        let index: HashMap<u32, u32> = region.iter().enumerate().map(|(k, &f)| (f, k as u32)).collect();
        let beside = |f: u32| &self.faces.beside[f as usize];
        let diagonal: Vec<f64> = region
            .iter()
            .map(|&f| beside(f).iter().map(|(_, w)| w).sum::<f64>() + self.faces.open[f as usize])
            // A face without neighbours keeps what it has.
            .map(|d| if d > 0.0 { d } else { 1.0 })
            .collect();
        let width = region.iter().map(|&f| beside(f).len()).max().unwrap_or(0);
        let matrix = Scaled::new(&diagonal, width, |k, push| {
            for (j, w) in beside(region[k]) {
                if let Some(&j) = index.get(j) {
                    push(j, -w);
                }
            }
        });
        let room = |f: u32| f64::from(self.faces.room[f as usize]) - f64::from(self.count(f));
        let b: Vec<f64> = region.iter().zip(&matrix.root).map(|(&f, r)| room(f) / r).collect();
        let mut x = vec![0.0; region.len()];
        let outcome = solve(&matrix, &b, &matrix.root, LIMITS, &mut x, &mut Workspace::default());
        out.iterations += outcome.iterations;
        region.iter().zip(x.iter().zip(&matrix.root)).map(|(&f, (x, r))| (f, x / r)).collect()
    }

    /// Carries the flows out, from the highest Ψ down.
    fn transport(&mut self, region: &[u32], psi: &BTreeMap<u32, f64>, face: &mut [u32], out: &mut Spread) {
        let mut order = region.to_vec();
        order.sort_by(|a, b| psi[b].total_cmp(&psi[a]).then(a.cmp(b)));
        for &f in &order {
            let surplus = self.surplus(f);
            if surplus == 0 || psi[&f] <= 0.0 {
                continue;
            }
            let lower = self.faces.beside[f as usize].iter().filter_map(|&(j, w)| {
                let flow = w * (psi[&f] - psi.get(&j).copied().unwrap_or(0.0));
                (flow > 0.0).then_some((j, flow))
            });
            let outflow = self.faces.open[f as usize] * psi[&f];
            let flows: Vec<(u32, f64)> = lower.chain((outflow > 0.0).then_some((OFF, outflow))).collect();
            for (to, count) in whole_shares(surplus, &flows) {
                for _ in 0..count {
                    self.step(f, to, face, out);
                }
            }
        }
        // What rounding left over goes to the nearest face with room.
        for f in self.over_full() {
            while self.surplus(f) > 0 {
                let Some(to) = self.nearest_room(f) else { break };
                self.step(f, to, face, out);
            }
        }
    }

    /// The last grain of a face goes to another face, or off.
    fn step(&mut self, from: u32, to: u32, face: &mut [u32], out: &mut Spread) {
        let Some(grain) = self.on.get_mut(&from).and_then(Vec::pop) else { return };
        face[grain as usize] = to;
        if to == OFF {
            out.left.push(grain);
        } else {
            self.on.entry(to).or_default().push(grain);
            out.moves.push((grain, from, to));
        }
    }

    fn nearest_room(&self, from: u32) -> Option<u32> {
        let mut seen: HashMap<u32, ()> = [(from, ())].into();
        let mut queue = VecDeque::from([from]);
        while let Some(f) = queue.pop_front() {
            if self.count(f) < self.faces.room[f as usize] {
                return Some(f);
            }
            for &(j, _) in &self.faces.beside[f as usize] {
                if seen.insert(j, ()).is_none() {
                    queue.push_back(j);
                }
            }
        }
        None
    }
}

/// Shares out a number in proportion to weights, in whole numbers: the largest remainders are rounded up, ties go by order.
fn whole_shares(number: u32, weights: &[(u32, f64)]) -> Vec<(u32, u32)> {
    let sum: f64 = weights.iter().map(|w| w.1).sum();
    let exact: Vec<f64> = weights.iter().map(|w| f64::from(number) * w.1 / sum).collect();
    let mut out: Vec<(u32, u32)> = weights.iter().zip(&exact).map(|(w, e)| (w.0, *e as u32)).collect();
    let given: u32 = out.iter().map(|o| o.1).sum();
    let mut order: Vec<usize> = (0..out.len()).collect();
    order.sort_by(|&i, &j| exact[j].fract().total_cmp(&exact[i].fract()).then(i.cmp(&j)));
    order.into_iter().take((number - given.min(number)) as usize).for_each(|i| out[i].1 += 1);
    out
}

impl Faces {
    /// A level surface of n × n equal square faces, closed at its sides, for so many grains a face: the test of Munns 2015.
    pub fn squares(n: u32, room: u32) -> Faces {
        let beside = |f: u32| {
            let (x, y) = (f % n, f / n);
            let sides =
                [(x > 0, f.wrapping_sub(1)), (x + 1 < n, f + 1), (y > 0, f.wrapping_sub(n)), (y + 1 < n, f + n)];
            sides.into_iter().filter(|s| s.0).map(|s| (s.1, 1.0)).collect()
        };
        let count = n * n;
        Faces {
            beside: (0..count).map(beside).collect(),
            open: vec![0.0; count as usize],
            room: vec![room; count as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    /// Faces of so many grains in nine Gaussian clumps on n × n faces.
    fn clumps(n: u32, grains: u32) -> Vec<u32> {
        let mut rng = Random::new(5, 0);
        let side = f64::from(n);
        (0..grains)
            .map(|g| {
                let centre = |k: u32| (f64::from(k) + 0.5) / 3.0 * side;
                let mut along =
                    |k: u32| (centre(k) + rng.normal() * side.min(32.0) / 16.0).clamp(0.0, side - 1e-9) as u32;
                let (x, y) = (along(g % 9 % 3), along(g % 9 / 3));
                y * n + x
            })
            .collect()
    }

    fn counts(n: u32, face: &[u32]) -> Vec<u32> {
        let mut out = vec![0; (n * n) as usize];
        face.iter().filter(|f| **f != OFF).for_each(|&f| out[f as usize] += 1);
        out
    }

    #[test]
    fn clumps_dissolve_until_no_face_is_over_its_limit() {
        for (n, grains) in [(10, 1000), (32, 10_000), (64, 10_000)] {
            let faces = Faces::squares(n, 20);
            let start = clumps(n, grains);
            let mut face = start.clone();
            let out = spread(&faces, &mut face, &vec![0.0; start.len()]);
            let most = counts(n, &start).into_iter().max().unwrap();
            assert!(most > 20, "there is something to do: {most}");
            assert!(counts(n, &face).iter().all(|&c| c <= 20), "n = {n}");
            assert!(out.taken.is_empty() && out.left.is_empty(), "nothing is taken off");
            assert!(out.iterations <= 60, "n = {n}: {} iterations", out.iterations);
            // Who is not in the list of moves keeps its face.
            let mut told = start.clone();
            for &(grain, from, to) in &out.moves {
                assert_eq!(told[grain as usize], from);
                told[grain as usize] = to;
            }
            assert_eq!(told, face);
        }
    }

    #[test]
    fn what_a_closed_surface_cannot_hold_is_taken_off_exactly() {
        let faces = Faces::squares(10, 20);
        let mut face = clumps(10, 10_000);
        let depth: Vec<f64> = (0..10_000).map(|g| f64::from(g % 7)).collect();
        let out = spread(&faces, &mut face, &depth);
        assert_eq!(out.taken.len(), 8000);
        assert!(counts(10, &face).iter().all(|&c| c == 20));
        assert_eq!(face.iter().filter(|f| **f == OFF).count(), 8000);
    }

    #[test]
    fn the_work_follows_the_clumps_and_not_the_surface() {
        let active = [64, 512].map(|n| {
            let mut face = clumps(n, 10_000);
            let grains = face.len();
            let out = spread(&Faces::squares(n, 20), &mut face, &vec![0.0; grains]);
            assert!(counts(n, &face).iter().all(|&c| c <= 20));
            assert!(out.iterations <= 60, "{}", out.iterations);
            out.active
        });
        assert!(active[1] <= 2 * active[0], "{active:?}");
    }

    #[test]
    fn grains_leave_over_open_edges() {
        // A strip of faces, open at its end.
        let mut faces = Faces::squares(4, 5);
        faces.open = (0..16).map(|f| if f % 4 == 3 { 1.0 } else { 0.0 }).collect();
        let mut face = vec![2u32; 200];
        let out = spread(&faces, &mut face, &[0.0; 200]);
        assert!(out.taken.is_empty());
        assert!(counts(4, &face).iter().all(|&c| c <= 5));
        assert_eq!(out.left.len(), face.iter().filter(|f| **f == OFF).count());
        assert!(out.left.len() >= 200 - 16 * 5);
    }
}
