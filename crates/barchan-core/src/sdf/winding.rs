//! The winding number at many points: a tree of triangles whose far branches count as one dipole each [Barill et al. 2018,
//! "Fast winding numbers for soups and clouds", first order]. Near triangles are taken one by one ([`Mesh::winding`]), so that
//! the error is a few hundredths at most, which does not matter to a threshold of ½ away from holes.

use crate::mesh::Mesh;
use glam::DVec3;
use std::f64::consts::PI;

/// Triangles of a leaf.
const LEAF: usize = 8;
/// A branch counts as one dipole from so many of its radii on: the value of the paper.
const FAR: f64 = 2.0;

struct Branch {
    /// Centre of area [m].
    centre: DVec3,
    /// Distance of its farthest vertex from there [m].
    radius: f64,
    /// Sum of its triangles' areas times their normals [m²].
    area: DVec3,
    /// Its triangles in the order of the tree.
    first: usize,
    count: usize,
    /// Its second half; the first follows it. 0 for a leaf.
    second: usize,
}

/// Winding numbers of a mesh.
pub struct Winding<'a> {
    mesh: &'a Mesh,
    order: Vec<u32>,
    branches: Vec<Branch>,
}

impl Winding<'_> {
    pub fn new(mesh: &Mesh) -> Winding<'_> {
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        let middles: Vec<DVec3> = (0..order.len()).map(|t| mesh.corners(t).into_iter().sum::<DVec3>() / 3.0).collect();
        let mut branches = Vec::with_capacity(order.len() / 2);
        grow(mesh, &middles, &mut order, 0, &mut branches);
        Winding { mesh, order, branches }
    }

    /// Positive outside and negative inside, where the winding number is above ½.
    pub fn side(&self, p: DVec3) -> f64 {
        0.5 - self.branch(0, p)
    }

    fn branch(&self, k: usize, p: DVec3) -> f64 {
        let b = &self.branches[k];
        let apart = b.centre - p;
        let distance = apart.length();
        if distance > FAR * b.radius {
            return b.area.dot(apart) / (4.0 * PI * distance.powi(3));
        }
        match b.second {
            0 => self.mesh.winding_of(self.order[b.first..b.first + b.count].iter().map(|&t| t as usize), p),
            second => self.branch(k + 1, p) + self.branch(second, p),
        }
    }
}

/// Adds the branch of the triangles in `order`, which begin at `first` in the tree, and those below it.
fn grow(mesh: &Mesh, middles: &[DVec3], order: &mut [u32], first: usize, branches: &mut Vec<Branch>) {
    let (mut area, mut whole, mut centre) = (DVec3::ZERO, 0.0, DVec3::ZERO);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &t in order.iter() {
        let ([a, b, c], middle) = (mesh.corners(t as usize), middles[t as usize]);
        let own = 0.5 * (b - a).cross(c - a);
        area += own;
        whole += own.length();
        centre += own.length() * middle;
        (low, high) = (low.min(middle), high.max(middle));
    }
    centre = if whole > 0.0 { centre / whole } else { 0.5 * (low + high) };
    let farthest = |&t: &u32| mesh.corners(t as usize).map(|v| v.distance(centre)).into_iter().fold(0.0, f64::max);
    let radius = order.iter().map(farthest).fold(0.0, f64::max);
    let number = branches.len();
    branches.push(Branch { centre, radius, area, first, count: order.len(), second: 0 });
    if order.len() <= LEAF {
        return;
    }
    let axis = (high - low).max_position();
    let half = order.len() / 2;
    order.select_nth_unstable_by(half, |&a, &b| {
        middles[a as usize][axis].total_cmp(&middles[b as usize][axis]).then(a.cmp(&b))
    });
    let (lower, upper) = order.split_at_mut(half);
    grow(mesh, middles, lower, first, branches);
    branches[number].second = branches.len();
    grow(mesh, middles, upper, first + half, branches);
}
