//! Where a ball touches a wall of triangles, and how far it can go until that changes.
//!
//! A ball touches a surface where the distance from its centre has a *local minimum* over the surface. On a plane there is
//! one, however the plane is cut into triangles: a point on an edge or a corner counts only if no triangle that meets there
//! leads nearer. Over a convex edge there is one as well, so nothing is counted twice; in a concave corner there is one for
//! each side. Where two sides of a concave edge are nearly level the nearer counts alone: both would be a second contact
//! that comes and goes at full strength within a hair's breadth of the edge.
//!
//! So every feature has a region of space, bounded by planes, from which it is a local minimum: over a face the prism that stands on
//! it, over an edge the wedge between its faces' prisms, over a corner the cone that is left. The signed distances to these planes say whether
//! a feature is touched, and how far away that changes: [`Touches::room`].
//!
//! A closed mesh is a solid, touched from outside alone: the far side of a thin blade must not reach through it. An open one
//! is a shell, touched from both sides, as all walls with a rim are.

use super::facets::{Facets, Feature};
use glam::DVec3;

/// Cosine of the angle within which two contacts count as one. At 15° a second contact begins before its share of the overlap,
/// θ²/2 of the radius or 3 %, is reached, so that nothing jumps in either case.
const SAME_DIRECTION: f64 = 0.966;
/// By how much, as a share of the reach, regions overlap: rounding must not lose a contact between two features that each take it
/// for the other's.
const LEVEL: f64 = 1e-9;
/// Most contacts of one ball with one wall.
pub const MOST_TOUCHES: usize = 4;
/// Most local minima that are held against each other. A spike of a hundred blades within a ball's reach has more; the ball then feels
/// the first of them.
const MOST_MINIMA: usize = 16;
/// Share of the room that is used: the rest is for rounding.
const SAFE: f64 = 0.999;

/// A place where a ball touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Key of the feature; see [`Facets::key`].
    pub key: u32,
    /// Where [m].
    pub point: DVec3,
    /// From the centre of the ball [m].
    pub distance: f64,
    /// Unit vector from there to the centre.
    pub normal: DVec3,
    /// Whether the normal turns as the ball moves, as over an edge or a corner.
    turns: bool,
}

impl Touch {
    fn before(&self, other: &Touch) -> bool {
        (self.distance, self.key) < (other.distance, other.key)
    }

    fn alike(&self, other: &Touch) -> bool {
        self.normal.dot(other.normal) > SAME_DIRECTION
    }

    /// How far a ball can go until another of the two is nearer, or they become, or cease to be, alike [m].
    fn keeps_to(&self, other: &Touch) -> f64 {
        let cosine = self.normal.dot(other.normal);
        let nearer = if cosine > SAME_DIRECTION { 0.5 * (self.distance - other.distance).abs() } else { f64::INFINITY };
        // A normal over an edge turns by the way over the distance; while the way is below half of that, by at most twice it.
        let turns = |t: &Touch| if t.turns { 1.0 / t.distance } else { 0.0 };
        let turning = turns(self) + turns(other);
        let turned =
            if turning > 0.0 { ((cosine - SAME_DIRECTION).abs() / 2.0).min(0.25) / turning } else { f64::INFINITY };
        nearer.min(turned)
    }
}

/// The touches of one ball, nearest first.
#[derive(Clone, Copy, Debug)]
pub struct Touches {
    found: [Option<Touch>; MOST_TOUCHES],
    count: usize,
    room: f64,
}

impl Touches {
    /// All of them, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Touch> {
        self.found[..self.count].iter().flatten()
    }

    /// How far the ball can go, in any direction, until it touches other features than these [m]. That a touch becomes nearer or
    /// farther does not count, as long as it stays within reach.
    pub fn room(&self) -> f64 {
        self.room
    }

    /// Keeps the nearest of those that point the same way, and no more than [`MOST_TOUCHES`].
    fn add(&mut self, touch: Touch) {
        if self.iter().any(|a| a.alike(&touch) && a.before(&touch)) {
            return;
        }
        let old = *self;
        self.count = 0;
        let mut new = Some(touch);
        for &other in old.iter() {
            if let Some(touch) = new.take_if(|t| t.before(&other)) {
                self.push(touch);
            }
            if !other.alike(&touch) {
                self.push(other);
            }
        }
        if let Some(touch) = new {
            self.push(touch);
        }
    }

    fn push(&mut self, touch: Touch) {
        if self.count < MOST_TOUCHES {
            self.found[self.count] = Some(touch);
            self.count += 1;
        } else {
            self.room = 0.0;
        }
    }
}

impl Facets {
    /// Most touches a ball near these triangles can have: one where all face the same way.
    pub fn most_touches(&self, triangles: &[u32]) -> usize {
        let Some(&first) = triangles.first() else { return 0 };
        let level = |&t: &u32| self.normal(t).dot(self.normal(first)) > SAME_DIRECTION;
        if triangles.iter().all(level) { 1 } else { triangles.len().min(MOST_TOUCHES) }
    }

    /// Where a ball about `x` touches within `reach` [m], among these triangles, which must be all that are within reach.
    pub fn touches(&self, x: DVec3, reach: f64, triangles: &[u32]) -> Touches {
        let mut found = Touches { found: [None; MOST_TOUCHES], count: 0, room: f64::INFINITY };
        let mut minima = [None; MOST_MINIMA];
        let mut count = 0;
        for feature in triangles.iter().flat_map(|&t| self.led_by(t)) {
            let (out, offset) = self.outside(feature, x, reach, found.room);
            found.room = found.room.min(out.abs());
            if out > 0.0 {
                continue;
            }
            let (key, distance) = (self.key(feature), offset.length());
            let (turns, level) = match feature {
                Feature::Face(t) => (false, self.normal(t)),
                Feature::Edge(e) => (true, self.normal(e / 3)),
                Feature::Corner(v) => (true, self.normal(self.fan(v)[0])),
            };
            let normal = if distance > 0.0 { offset / distance } else { level };
            let touch = Touch { key, point: x - offset, distance, normal, turns };
            match minima.get_mut(count) {
                Some(place) => *place = Some(touch),
                None => {
                    found.room = 0.0;
                    break;
                }
            }
            count += 1;
        }
        let minima = || minima.iter().flatten();
        for (n, touch) in minima().enumerate() {
            found.add(*touch);
            found.room = minima().take(n).map(|other| touch.keeps_to(other)).fold(found.room, f64::min);
        }
        found.room *= SAFE;
        found
    }

    /// How far `x` is from touching a feature within `reach`, at least [m], and its offset from the feature's plane, line or point
    /// [m]: how far it is out of reach, or outside the region from which the feature is a local minimum of the distance. Negative: how
    /// deep inside. It changes no faster than `x`. Beyond `enough` [m] any bound will do, and most are had cheaply.
    fn outside(&self, feature: Feature, x: DVec3, reach: f64, enough: f64) -> (f64, DVec3) {
        let mut out = f64::NEG_INFINITY;
        let mut height = f64::NEG_INFINITY;
        let offset;
        match feature {
            Feature::Face(t) => {
                let (corners, normal) = (self.mesh().corners(t as usize), self.normal(t));
                height = (x - corners[0]).dot(normal);
                offset = normal * height;
                out = out.max(height.abs() - reach);
                for k in 0..3 {
                    let (a, b) = (corners[k], corners[(k + 1) % 3]);
                    if out <= enough {
                        out = out.max((x - a).dot((b - a).cross(normal)) / a.distance(b) - LEVEL * reach);
                    }
                }
            }
            Feature::Edge(e) => {
                let [a, b] = self.ends(e);
                let (along, from) = (b - a, x - a);
                let square = along.length_squared();
                let share = from.dot(along) / square;
                offset = from - along * share;
                out = out.max(offset.length() - reach);
                if out <= enough {
                    out = out.max((-share).max(share - 1.0) * square.sqrt() - LEVEL * reach);
                }
                for (t, third) in self.sides(e) {
                    if out <= enough {
                        let way = third - a;
                        let way = way - along * (way.dot(along) / square);
                        out = out.max(offset.dot(way) / way.length() - LEVEL * reach);
                        height = height.max(offset.dot(self.normal(t)));
                    }
                }
            }
            Feature::Corner(v) => {
                let point = self.mesh().vertices[v as usize];
                offset = x - point;
                out = out.max(offset.length() - reach);
                for &t in self.fan(v) {
                    // The corner itself is no way, and leads nowhere.
                    for way in self.mesh().corners(t as usize).map(|c| c - point) {
                        if out <= enough && way != DVec3::ZERO {
                            out = out.max(offset.dot(way) / way.length() - LEVEL * reach);
                        }
                    }
                    height = height.max(offset.dot(self.normal(t)));
                }
            }
        }
        if self.is_solid() && out <= enough {
            out = out.max(-height - LEVEL * reach);
        }
        (out, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::rng::Random;

    /// Keys of what a ball touches, in order.
    fn keys(touches: &Touches) -> Vec<u32> {
        let mut keys: Vec<u32> = touches.iter().map(|t| t.key).collect();
        keys.sort_unstable();
        keys
    }

    fn solids() -> Vec<(&'static str, Mesh)> {
        let mut inward = Mesh::torus(1.0, 0.4, 24, 12);
        inward.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let mut open = Mesh::sphere(1.0, 2);
        open.triangles.truncate(open.triangles.len() / 2);
        vec![
            ("box", Mesh::box_of(DVec3::new(1.0, 0.7, 0.05))),
            ("torus", Mesh::torus(1.0, 0.4, 24, 12)),
            ("hollow torus", inward),
            ("bowl", open),
        ]
    }

    #[test]
    fn within_its_room_a_ball_touches_the_same_features() {
        let mut rng = Random::new(11, 5);
        for (name, mesh) in solids() {
            let facets = Facets::new(mesh);
            let all: Vec<u32> = (0..facets.mesh().triangles.len() as u32).collect();
            let (mut moved, mut touched) = (0, 0);
            for _ in 0..400 {
                let (reach, x) = (rng.range(0.05, 0.4), 1.5 * rng.in_ball());
                let here = facets.touches(x, reach, &all);
                if here.iter().next().is_none() || here.room() <= 0.0 {
                    continue;
                }
                touched += 1;
                for _ in 0..20 {
                    let there = x + rng.in_ball().normalize() * here.room();
                    assert_eq!(keys(&facets.touches(there, reach, &all)), keys(&here), "{name}: {x} to {there}");
                }
                moved += usize::from(here.room() > 0.01 * reach);
            }
            assert!(touched > 15 && moved > touched / 3, "{name}: room of {moved} of {touched}");
        }
    }

    #[test]
    fn the_nearest_point_is_touched_and_feet_give_its_distance() {
        let mut rng = Random::new(12, 5);
        for (name, mesh) in solids() {
            let facets = Facets::new(mesh);
            let all: Vec<u32> = (0..facets.mesh().triangles.len() as u32).collect();
            for _ in 0..1000 {
                let x = 1.5 * rng.in_ball();
                let distance = facets.distance(x);
                let touches = facets.touches(x, 0.3, &all);
                let first = touches.iter().next().filter(|_| distance >= 0.0);
                assert_eq!(first.is_some(), (0.0..0.3).contains(&distance), "{name}: {x}");
                let Some(first) = first else { continue };
                assert!((first.distance - distance).abs() < 1e-12, "{name}: {x}");
                for t in touches.iter() {
                    let offset = facets.foot(t.key).offset(x);
                    assert!(
                        (offset - t.normal * t.distance).length() < 1e-12 && (x - offset).distance(t.point) < 1e-12
                    );
                    let feature = facets.feature(t.key).unwrap();
                    assert!(facets.key(feature) == t.key && facets.closest(feature, x).distance(t.point) < 1e-9);
                }
            }
        }
    }
}
