//! Edges and the parts they hold together: what `orient` and `health` share.

use rayon::prelude::*;

/// One triangle's use of an edge. Sorted, the uses of an edge follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// The lower of the two vertices.
    pub low: u32,
    /// The higher one.
    pub high: u32,
    /// The triangle.
    pub triangle: u32,
    /// Whether the triangle goes from the lower to the higher vertex.
    pub forward: bool,
}

/// The uses of all edges, those of one edge together.
pub(super) fn uses(triangles: &[[u32; 3]]) -> Vec<Use> {
    let of = |(i, t): (usize, &[u32; 3])| {
        let t = *t;
        (0..3).map(move |k| {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            Use { low: a.min(b), high: a.max(b), triangle: i as u32, forward: a < b }
        })
    };
    let mut uses: Vec<Use> = triangles.par_iter().enumerate().flat_map_iter(of).collect();
    uses.par_sort_unstable();
    uses
}

/// Edge by edge, all its uses.
pub(super) fn by_edge(uses: &[Use]) -> impl Iterator<Item = &[Use]> {
    uses.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high))
}

/// The uses of one edge, given in either direction.
pub(super) fn of_edge(uses: &[Use], a: u32, b: u32) -> &[Use] {
    let key = (a.min(b), a.max(b));
    let start = uses.partition_point(|u| (u.low, u.high) < key);
    let length = uses[start..].iter().take_while(|u| (u.low, u.high) == key).count();
    &uses[start..start + length]
}

/// Disjoint sets of triangles that know which of them are turned against each other (union-find with parity).
pub(super) struct Parts {
    /// Next triangle towards the root, and whether the two are turned against each other.
    up: Vec<(u32, bool)>,
}

impl Parts {
    pub(super) fn new(triangles: usize) -> Parts {
        Parts { up: (0..triangles as u32).map(|i| (i, false)).collect() }
    }

    /// The set a triangle is in, by the first triangle in it, and whether it is turned against that one.
    pub(super) fn find(&mut self, triangle: u32) -> (u32, bool) {
        let (mut at, mut turned) = (triangle, false);
        while self.up[at as usize].0 != at {
            // The path is halved on the way: each passes its parent by.
            let (parent, one) = self.up[at as usize];
            let (grand, two) = self.up[parent as usize];
            self.up[at as usize] = (grand, one ^ two);
            turned ^= one ^ two;
            at = grand;
        }
        (at, turned)
    }

    /// Joins the sets of two neighbours; `against` tells whether one has to be turned to agree with the other. False
    /// where they are in one set already that says otherwise: the surface has one side only.
    pub(super) fn join(&mut self, a: u32, b: u32, against: bool) -> bool {
        let ((a, turned_a), (b, turned_b)) = (self.find(a), self.find(b));
        let against = against ^ turned_a ^ turned_b;
        if a == b {
            return !against;
        }
        // The first triangle leads, so that the sets' names do not depend on the order of joining.
        self.up[a.max(b) as usize] = (a.min(b), against);
        true
    }
}
