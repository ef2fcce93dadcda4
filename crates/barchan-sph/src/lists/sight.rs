//! Lines of sight: two particles on different sides of a thin wall are no pair.
//!
//! Only pairs whose partners both have the same wall near, and see it from different directions, are looked at: on one side of a flat wall the
//! normals agree. Their line is walked along by steps of the distance to the wall ("sphere tracing"), which works for every shape that has a
//! distance.

use crate::state::nearest_image;
use barchan_core::boundary::Boundary;
use barchan_core::solver::Domain;
use barchan_core::walls::WallState;
use glam::DVec3;

/// Cosine of the angle between two normals below which a wall may lie between.
const SAME_SIDE: f64 = 0.7;
/// Distance to a wall at which a line has met it, as a share of the spacing.
const MET: f64 = 1e-3;
/// Steps along a line; it is open if it has met nothing by then, which takes a line that grazes the wall.
const MOST_STEPS: usize = 64;

/// One wall near a particle.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Index of the wall.
    pub wall: u16,
    /// Unit normal towards the particle.
    pub normal: DVec3,
}

/// What can be in the way.
pub struct Sight<'a> {
    boundary: &'a Boundary,
    states: &'a [WallState],
    domain: &'a Domain,
    spacing: f64,
    /// Walls within reach of particle i are `seen[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    seen: Vec<Seen>,
}

impl<'a> Sight<'a> {
    /// From the walls within reach of each particle, in the order of slots.
    pub fn new(
        boundary: &'a Boundary,
        states: &'a [WallState],
        domain: &'a Domain,
        spacing: f64,
        near: impl Iterator<Item = Vec<Seen>>,
    ) -> Sight<'a> {
        let (mut starts, mut seen) = (vec![0], Vec::new());
        for walls in near {
            seen.extend(walls);
            starts.push(seen.len() as u32);
        }
        Sight { boundary, states, domain, spacing, starts, seen }
    }

    fn near(&self, i: usize) -> &[Seen] {
        &self.seen[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Whether a particle has a wall near.
    pub fn may_be_blocked(&self, i: usize) -> bool {
        !self.near(i).is_empty()
    }

    /// Whether no wall lies between particles i at `x` and j at `y` [m].
    pub fn is_clear(&self, i: usize, j: usize, x: DVec3, y: DVec3) -> bool {
        let blocks = |a: &Seen| {
            self.near(j).iter().any(|b| a.wall == b.wall && a.normal.dot(b.normal) < SAME_SIDE)
                && self.crosses(a.wall as usize, x, y)
        };
        !self.near(i).iter().any(blocks)
    }

    /// Whether the line from `x` to (the nearest image of) `y` [m] meets a wall.
    fn crosses(&self, wall: usize, x: DVec3, y: DVec3) -> bool {
        let way = nearest_image(y - x, self.domain.period());
        let length = way.length();
        let (shape, state) = (&self.boundary.walls()[wall], &self.states[wall]);
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let mut distance = length - gone;
            shape.surfaces(state, x + way * (gone / length), distance, &mut |near| {
                distance = distance.min(near.distance)
            });
            if distance < MET * self.spacing {
                return gone < length * (1.0 - MET);
            }
            gone += distance;
            if gone >= length {
                return false;
            }
        }
        false
    }
}
