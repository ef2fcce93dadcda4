//! Who lies on a ray: boxes packed four by four along a space-filling curve [Kamel and Faloutsos 1993, *On packing R-trees*].
//!
//! Things are sorted along the Hilbert curve; four that follow each other make a group, four groups a node, and so on up to one. No link is
//! stored: the children of node j of a level are the nodes 4j to 4j + 3 of the level below. Building is a sort and one pass; the tree of a
//! picture is the same on any number of threads.

use barchan_core::curve::{self, hilbert};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// A ray from `origin` along the unit vector `along`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) origin: Vec3,
    pub(super) along: Vec3,
}

/// The boxes of four children, lane by lane.
#[derive(Clone, Copy)]
struct Node {
    low: [Vec4; 3],
    high: [Vec4; 3],
}

/// The tree over groups of four things.
#[derive(Default)]
pub(super) struct Tree {
    /// From the level above the groups to the root.
    levels: Vec<Vec<Node>>,
    groups: usize,
}

/// A box: lowest and highest corner.
pub(super) type Bounds = (Vec3, Vec3);

/// Nodes that can wait on a descent: three for each of sixteen levels, which are 4¹⁶ groups.
const WAITING: usize = 48;
/// Stands for a direction's component that is 0, whose inverse would be infinite.
const LEAST_SLOPE: f32 = 1e-20;

impl Tree {
    /// The order in which things of these boxes must be laid out, and the tree over groups of four of them.
    pub(super) fn build(boxes: &[Bounds]) -> (Tree, Vec<u32>) {
        let around = |a: Bounds, b: &Bounds| (a.0.min(b.0), a.1.max(b.1));
        let all = boxes.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), around);
        let scale = ((1u32 << curve::BITS) - 1) as f32 / (all.1 - all.0).max(Vec3::splat(f32::MIN_POSITIVE));
        let place = |b: &Bounds| hilbert(((0.5 * (b.0 + b.1) - all.0) * scale).to_array().map(|x| x as u32));
        let mut sorted: Vec<(u64, u32)> = boxes.par_iter().enumerate().map(|(i, b)| (place(b), i as u32)).collect();
        sorted.par_sort_unstable();
        let order: Vec<u32> = sorted.into_iter().map(|(_, i)| i).collect();
        let one = |group: &[u32]| {
            group.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |a, i| around(a, &boxes[*i as usize]))
        };
        let mut below: Vec<Bounds> = order.par_chunks(4).map(one).collect();
        let mut tree = Tree { levels: Vec::new(), groups: below.len() };
        while !below.is_empty() {
            tree.levels.push(below.par_chunks(4).map(Node::of).collect());
            if below.len() <= 4 {
                break;
            }
            let join = |four: &[Bounds]| four.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), around);
            below = below.par_chunks(4).map(join).collect();
        }
        (tree, order)
    }

    /// Calls `visit` with each group whose box the ray meets before `reach`, near ones first; what it returns is the new reach, below 0 to
    /// end the search.
    #[inline]
    pub(super) fn walk(&self, ray: &Ray, mut reach: f32, mut visit: impl FnMut(usize, f32) -> f32) {
        if self.levels.is_empty() {
            return;
        }
        let sure = |d: f32| if d.abs() < LEAST_SLOPE { LEAST_SLOPE.copysign(d) } else { d };
        let inverse = ray.along.to_array().map(|d| Vec4::splat(1.0 / sure(d)));
        let origin = ray.origin.to_array().map(Vec4::splat);
        let mut waiting = [(0u8, 0u32, 0f32); WAITING];
        waiting[0] = (self.levels.len() as u8, 0, 0.0);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (level, index, near) = waiting[count];
            if near > reach {
                continue;
            }
            if level == 0 {
                reach = visit(index as usize, reach);
                if reach < 0.0 {
                    return;
                }
                continue;
            }
            let level = level as usize - 1;
            let children = if level == 0 { self.groups } else { self.levels[level - 1].len() };
            let entry = self.levels[level][index as usize].enters(&origin, &inverse, reach).to_array();
            // Far ones first, so that near ones are taken first.
            let mut met = [(0f32, 0u32); 4];
            let mut n = 0;
            for k in 0..4 {
                let child = 4 * index + k as u32;
                if entry[k] < f32::INFINITY && (child as usize) < children {
                    let mut at = n;
                    while at > 0 && met[at - 1].0 < entry[k] {
                        met[at] = met[at - 1];
                        at -= 1;
                    }
                    met[at] = (entry[k], child);
                    n += 1;
                }
            }
            for &(near, child) in &met[..n] {
                waiting[count] = (level as u8, child, near);
                count += 1;
            }
        }
    }
}

impl Node {
    fn of(boxes: &[Bounds]) -> Node {
        let corner = |k: usize, high: bool| boxes.get(k).map_or(Vec3::ZERO, |b| if high { b.1 } else { b.0 });
        let lanes = |axis: usize, high: bool| Vec4::from(std::array::from_fn::<f32, 4, _>(|k| corner(k, high)[axis]));
        Node { low: [0, 1, 2].map(|a| lanes(a, false)), high: [0, 1, 2].map(|a| lanes(a, true)) }
    }

    /// Where a ray enters each child's box, infinite where it does not before `reach` [Kay and Kajiya 1986].
    #[inline]
    fn enters(&self, origin: &[Vec4; 3], inverse: &[Vec4; 3], reach: f32) -> Vec4 {
        let (mut near, mut far) = (Vec4::ZERO, Vec4::splat(reach));
        for a in 0..3 {
            let (x, y) = ((self.low[a] - origin[a]) * inverse[a], (self.high[a] - origin[a]) * inverse[a]);
            near = near.max(x.min(y));
            far = far.min(x.max(y));
        }
        Vec4::select(near.cmple(far), near, Vec4::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    #[test]
    fn a_ray_visits_every_group_whose_box_it_meets() {
        let mut rng = Random::new(7, 0);
        let mut point = || Vec3::new(rng.uniform() as f32, rng.uniform() as f32, rng.uniform() as f32);
        for n in [0_usize, 1, 3, 4, 5, 16, 17, 300, 4097] {
            let boxes: Vec<Bounds> = (0..n).map(|_| point()).map(|c| (c - 0.02, c + 0.02)).collect();
            let (tree, order) = Tree::build(&boxes);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
            for axis in 0..20 {
                let along = if axis < 3 { Vec3::AXES[axis] } else { (point() - 0.5).normalize() };
                let ray = Ray { origin: point() - along, along };
                let mut visited = vec![false; n.div_ceil(4)];
                tree.walk(&ray, f32::INFINITY, |group, reach| {
                    visited[group] = true;
                    reach
                });
                for (i, one) in order.iter().enumerate() {
                    let (low, high) = boxes[*one as usize];
                    let inverse = 1.0 / ray.along;
                    let (x, y) = ((low - ray.origin) * inverse, (high - ray.origin) * inverse);
                    let met = x.min(y).max_element().max(0.0) <= x.max(y).min_element();
                    assert!(!met || visited[i / 4], "{n} boxes, ray {axis}, box {one}");
                }
            }
        }
    }
}
