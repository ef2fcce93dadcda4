//! Triangles turned to agree with their neighbours, and closed parts turned outwards.
//!
//! Reads and writes the mesh's triangles. Agreement spreads over edges that exactly two triangles share; in each part
//! the majority keeps its sense. Then closed parts are sorted by which lies in which (winding number of one about a vertex
//! of the other): an outermost one is turned outwards; one within another keeps its sense *relative to that*, so a
//! cavity, drawn inward in an outward shell, stays a cavity, also in a file that was inside out as a whole.

use super::Mesh;
use super::edges::{Parts, by_edge, uses};
use super::health::Places;
use glam::DVec3;
use rayon::prelude::*;

/// What [`Mesh::orient`] found and did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Oriented {
    /// Triangles that were turned round.
    pub turned: usize,
    /// Parts, held together by edges that two triangles share.
    pub parts: usize,
    /// Closed parts that bound a cavity: inward, within another part.
    pub cavities: usize,
    /// Closed parts that lie as solids within the solid of another: their material counts twice.
    pub within: usize,
    /// Edges where a part meets itself turned over: it has one side only, as a Möbius strip, and no orientation.
    pub one_sided: Places,
}

/// A closed part.
struct Shell {
    triangles: Vec<usize>,
    low: DVec3,
    high: DVec3,
    volume: f64,
}

impl Mesh {
    /// Turns triangles so that neighbours agree, and closed parts so that outside is outside. Weld first.
    pub fn orient(&mut self) -> Oriented {
        let n = self.triangles.len();
        let uses = uses(&self.triangles);
        let mut parts = Parts::new(n);
        let mut done = Oriented::default();
        let mut open = Vec::new();
        for edge in by_edge(&uses) {
            let agreed = match edge {
                [a, b] => parts.join(a.triangle, b.triangle, a.forward == b.forward),
                _ => false,
            };
            if !agreed {
                open.extend(edge.iter().map(|u| u.triangle));
                if edge.len() == 2 {
                    done.one_sided.add(self.middle(edge[0].low, edge[0].high));
                }
            }
        }
        // For each part, named by its first triangle: how many there are for and against that one's sense, and whether
        // it is closed.
        let member: Vec<(u32, bool)> = (0..n as u32).map(|i| parts.find(i)).collect();
        let mut votes = vec![[0usize; 2]; n];
        let mut closed = vec![true; n];
        for &(part, against) in &member {
            votes[part as usize][usize::from(against)] += 1;
        }
        for i in open {
            closed[member[i as usize].0 as usize] = false;
        }
        let mut turn: Vec<bool> = member
            .iter()
            .map(|&(part, against)| against != (votes[part as usize][1] > votes[part as usize][0]))
            .collect();
        done.parts = votes.iter().filter(|v| v[0] > 0).count();
        self.turn(&turn);
        let shells = self.shells(&member, &closed);
        for (shell, sense) in shells.iter().zip(self.senses(&shells, &mut done)) {
            if (shell.volume < 0.0) != (sense < 0) {
                for &i in &shell.triangles {
                    turn[i] = !turn[i];
                    self.triangles[i].swap(1, 2);
                }
            }
        }
        done.turned = turn.iter().filter(|t| **t).count();
        done
    }

    fn turn(&mut self, turn: &[bool]) {
        for (triangle, _) in self.triangles.iter_mut().zip(turn).filter(|(_, turn)| **turn) {
            triangle.swap(1, 2);
        }
    }

    /// Middle of an edge [m].
    pub(super) fn middle(&self, a: u32, b: u32) -> DVec3 {
        0.5 * (self.vertices[a as usize] + self.vertices[b as usize])
    }

    /// Closed parts, the largest volume first.
    fn shells(&self, member: &[(u32, bool)], closed: &[bool]) -> Vec<Shell> {
        let mut order: Vec<(u32, usize)> =
            member.iter().enumerate().filter(|(_, m)| closed[m.0 as usize]).map(|(i, m)| (m.0, i)).collect();
        order.sort_unstable();
        let mut shells: Vec<Shell> = order
            .chunk_by(|a, b| a.0 == b.0)
            .map(|part| {
                let triangles: Vec<usize> = part.iter().map(|p| p.1).collect();
                let about = self.corners(triangles[0])[0];
                let mut shell = Shell { triangles, low: about, high: about, volume: 0.0 };
                for &i in &shell.triangles {
                    let corners = self.corners(i);
                    let [a, b, c] = corners.map(|v| v - about);
                    shell.volume += a.dot(b.cross(c)) / 6.0;
                    shell.low = corners.into_iter().fold(shell.low, DVec3::min);
                    shell.high = corners.into_iter().fold(shell.high, DVec3::max);
                }
                shell
            })
            .collect();
        shells.sort_by(|a, b| b.volume.abs().total_cmp(&a.volume.abs()));
        shells
    }

    /// Sense each shell should have: 1 outward, -1 inward.
    fn senses(&self, shells: &[Shell], done: &mut Oriented) -> Vec<i32> {
        // The shell right outside one is the smallest that holds it; a holder comes earlier in the list.
        let holder: Vec<Option<usize>> = (0..shells.len())
            .into_par_iter()
            .map(|i| (0..i).rev().find(|&k| self.holds(&shells[k], &shells[i])))
            .collect();
        let mut senses: Vec<i32> = Vec::with_capacity(shells.len());
        // How often material covers the space just inside each.
        let mut covered: Vec<i32> = Vec::with_capacity(shells.len());
        for (i, holder) in holder.into_iter().enumerate() {
            let (outer, cover) = holder.map_or((1, 0), |k| {
                let alike = (shells[i].volume < 0.0) == (shells[k].volume < 0.0);
                (if alike { senses[k] } else { -senses[k] }, covered[k])
            });
            let sense = if cover + outer < 0 { 1 } else { outer };
            senses.push(sense);
            covered.push(cover + sense);
            done.cavities += usize::from(sense < 0);
            done.within += usize::from(sense > 0 && cover > 0);
        }
        senses
    }

    /// Whether the inner shell lies within the outer one.
    fn holds(&self, outer: &Shell, inner: &Shell) -> bool {
        // A vertex right on the outer surface sees half of it or so and tells nothing; a few others are asked.
        const DOUBT: std::ops::Range<f64> = 0.25..0.75;
        const ASKED: usize = 8;
        if !(inner.low.cmpge(outer.low).all() && inner.high.cmple(outer.high).all()) {
            return false;
        }
        let mut turns = 0.0;
        for &i in inner.triangles.iter().take(ASKED) {
            turns = self.winding_of(outer.triangles.iter().copied(), self.corners(i)[0]).abs();
            if !DOUBT.contains(&turns) {
                break;
            }
        }
        turns > 0.5
    }
}
