//! The 256 cases of marching cubes [Lorensen & Cline 1987], made from one rule for faces instead of written down.
//!
//! Corners of a cell are numbered x + 2 y + 4 z. On each face, every run of inside corners is cut off from the rest by one segment: where
//! two inside corners are opposite each other they are cut off apart. The rule asks for the face's corners alone, so that both cells of a
//! face agree: the surface is closed. Segments join to loops, which are cut into triangles without a diagonal that lies in a face of the
//! cell (the neighbour could have the same one): every edge of the surface belongs to exactly two triangles.

use std::sync::LazyLock;

/// Triangles of a cell at most.
pub(super) const MOST: usize = 5;

/// An edge of a cell: its axis, and the corner it starts from (x + 2 y + 4 z).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) axis: usize,
    pub(super) start: usize,
}

/// The triangles of one case, by the numbers of the edges their corners are on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Case {
    count: u8,
    triangles: [[u8; 3]; MOST],
}

impl Case {
    /// Counter-clockwise seen from outside.
    pub(super) fn triangles(&self) -> &[[u8; 3]] {
        &self.triangles[..usize::from(self.count)]
    }

    /// Number of triangles.
    pub(super) fn count(&self) -> u32 {
        u32::from(self.count)
    }
}

/// The case of each set of inside corners, bit k for corner k.
pub(super) static CASES: LazyLock<[Case; 256]> = LazyLock::new(|| std::array::from_fn(case));

/// The twelve edges: four along each axis.
pub(super) const EDGES: [Edge; 12] = {
    let mut edges = [Edge { axis: 0, start: 0 }; 12];
    let mut k = 0;
    while k < 12 {
        let axis = k / 4;
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        edges[k] = Edge { axis, start: ((k & 1) << u) | ((k >> 1 & 1) << v) };
        k += 1;
    }
    edges
};

/// The edge between two corners.
fn edge_of(a: usize, b: usize) -> usize {
    let start = a & b;
    let axis = (a ^ b).trailing_zeros() as usize;
    EDGES.iter().position(|e| *e == Edge { axis, start }).unwrap_or(0)
}

/// Corners of a face in a circle, counter-clockwise seen from outside the cell.
fn face(axis: usize, high: bool) -> [usize; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let circle = [0, u, u | v, v];
    if high { circle.map(|c| c | 1 << axis) } else { [circle[0], circle[3], circle[2], circle[1]] }
}

/// Whether two edges lie in one face of the cell.
fn in_one_face(a: u8, b: u8) -> bool {
    let ends = |e: u8| {
        let Edge { axis, start } = EDGES[usize::from(e)];
        [start, start | 1 << axis]
    };
    let all = [ends(a), ends(b)].concat();
    (0..3).any(|axis| all.iter().all(|c| c >> axis & 1 == all[0] >> axis & 1))
}

fn case(inside: usize) -> Case {
    let is_inside = |c: usize| inside >> c & 1 == 1;
    // The edge that follows each edge around the loop it is on. Seen from outside the cell a segment runs with the inside corners on its
    // right, from where their run begins to where it ends: the loop then is counter-clockwise seen from outside the matter.
    let mut next = [None; 12];
    for (axis, high) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
        let circle = face(axis, high);
        for k in 0..4 {
            let starts = !is_inside(circle[k]) && is_inside(circle[(k + 1) % 4]);
            if !starts {
                continue;
            }
            let length = (1..4).take_while(|j| is_inside(circle[(k + j) % 4])).count();
            let (last, after) = (circle[(k + length) % 4], circle[(k + length + 1) % 4]);
            next[edge_of(circle[k], circle[(k + 1) % 4])] = Some(edge_of(last, after));
        }
    }
    let mut case = Case::default();
    let mut done = [false; 12];
    for first in 0..12 {
        if done[first] || next[first].is_none() {
            continue;
        }
        let mut ring = Vec::new();
        let mut edge = first;
        while let (Some(after), false) = (next[edge], done[edge]) {
            done[edge] = true;
            ring.push(edge as u8);
            edge = after;
        }
        // A test sees to it that every ring can be cut.
        for triangle in cut(&ring).unwrap_or_default() {
            case.triangles[usize::from(case.count)] = triangle;
            case.count += 1;
        }
    }
    case
}

/// A ring cut into triangles, with no diagonal in a face of the cell; none where that cannot be.
fn cut(ring: &[u8]) -> Option<Vec<[u8; 3]>> {
    let n = ring.len();
    if n < 3 {
        return Some(Vec::new());
    }
    // The triangle on the ring's last side, with each possible tip; what is left on both sides of it is cut in turn.
    let (a, b) = (ring[n - 1], ring[0]);
    (1..n - 1).find_map(|tip| {
        let inner = |x: u8, y: u8, side: bool| side || !in_one_face(x, y);
        if !inner(b, ring[tip], tip == 1) || !inner(ring[tip], a, tip == n - 2) {
            return None;
        }
        let mut all = vec![[a, b, ring[tip]]];
        all.extend(cut(&ring[..=tip])?);
        all.extend(cut(&ring[tip..])?);
        Some(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_uses_the_edges_that_are_crossed_and_all_its_rings_are_cut() {
        for (inside, case) in CASES.iter().enumerate() {
            let mut crossed = [false; 12];
            for (k, e) in EDGES.iter().enumerate() {
                crossed[k] = (inside >> e.start ^ inside >> (e.start | 1 << e.axis)) & 1 == 1;
            }
            let mut used = [false; 12];
            case.triangles().iter().flatten().for_each(|e| used[usize::from(*e)] = true);
            assert_eq!(crossed, used, "case {inside:08b}");
        }
    }
}
