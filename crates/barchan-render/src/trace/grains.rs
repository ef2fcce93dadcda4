//! Grains before a ray: spheres, or the angular bodies that sand is made of.

use super::tree::{Bounds, Ray, Tree};
use crate::{Sphere, look};
use glam::{Mat3, Quat, Vec3, Vec4};
use std::f32::consts::TAU;

/// Four spheres, lane by lane; lanes past the last have a radius of 0.
struct Four {
    centre: [Vec4; 3],
    radius: Vec4,
}

/// The grains of a picture.
pub(super) struct Grains {
    tree: Tree,
    fours: Vec<Four>,
    /// Reflectances, in the order of the lanes.
    colours: Vec<Vec3>,
    /// Number of the grain each sphere belongs to: what an angular grain looks like follows from it.
    owners: Vec<u32>,
    /// The kinds of angular grain, where grains are angular.
    looks: Option<Vec<Look>>,
}

/// Directions of the facets of an angular grain: those of the faces of a dodecahedron, [0, ±1, ±φ] in turn, of unit length.
const FACETS: [Vec3; 12] = {
    const A: f32 = 0.525_731_1;
    const B: f32 = 0.850_650_8;
    [
        Vec3::new(0.0, A, B),
        Vec3::new(0.0, -A, B),
        Vec3::new(0.0, A, -B),
        Vec3::new(0.0, -A, -B),
        Vec3::new(A, B, 0.0),
        Vec3::new(-A, B, 0.0),
        Vec3::new(A, -B, 0.0),
        Vec3::new(-A, -B, 0.0),
        Vec3::new(B, 0.0, A),
        Vec3::new(B, 0.0, -A),
        Vec3::new(-B, 0.0, A),
        Vec3::new(-B, 0.0, -A),
    ]
};
/// Distances of facets from the middle, in radii: from one that cuts off a quarter of the sphere's thickness to one that just takes off
/// the tip.
const CUT: [f32; 2] = [0.5, 0.95];
/// By how much an angular grain is larger than the sphere it stands for: with the cuts above its volume is the same (mean over grains 1.00,
/// test `angular_grains_have_the_volume_of_their_spheres`).
const SWELL: f32 = 1.29;
/// Share of a facet's normal that is taken from the sphere: worn edges are round.
const WORN: f32 = 0.15;

/// By how much minerals of sand differ in lightness; in warmth by four tenths of it.
const TINT: f32 = 0.35;
/// Share of dark minerals, and their reflectance over that of the others.
const DARK: [f32; 2] = [0.04, 0.3];

/// What a ray meets.
pub(super) struct Met {
    pub(super) distance: f32,
    pub(super) normal: Vec3,
    pub(super) colour: Vec3,
}

impl Grains {
    pub(super) fn new(spheres: &[Sphere], angular: bool) -> Grains {
        let drawn: Vec<&Sphere> = spheres.iter().filter(|s| look::drawable(s.centre, s.radius)).collect();
        let swell = if angular { SWELL } else { 1.0 };
        let bounds = |s: &&Sphere| -> Bounds {
            let c = Vec3::from(s.centre);
            (c - swell * s.radius, c + swell * s.radius)
        };
        let boxes: Vec<Bounds> = drawn.iter().map(bounds).collect();
        let (tree, order) = Tree::build(&boxes);
        let four = |group: &[u32]| {
            let lane = |k: usize| group.get(k).map(|i| drawn[*i as usize]);
            let axis =
                |a: usize| Vec4::from(std::array::from_fn::<f32, 4, _>(|k| lane(k).map_or(0.0, |s| s.centre[a])));
            let radius = std::array::from_fn::<f32, 4, _>(|k| lane(k).map_or(0.0, |s| swell * s.radius));
            Four { centre: [0, 1, 2].map(axis), radius: radius.into() }
        };
        Grains {
            tree,
            fours: order.chunks(4).map(four).collect(),
            colours: order.iter().map(|i| Vec3::from(drawn[*i as usize].colour)).collect(),
            owners: order.iter().map(|i| drawn[*i as usize].grain).collect(),
            looks: angular.then(Look::all),
        }
    }

    /// The nearest grain between `least` and `reach` along a ray.
    pub(super) fn nearest(&self, ray: &Ray, least: f32, reach: f32) -> Option<Met> {
        let mut found = None;
        self.tree.walk(ray, reach, |group, mut reach| {
            self.touch(group, ray, least, reach, |lane, t, normal| {
                reach = t;
                found = Some((group, lane, t, normal));
                t
            });
            reach
        });
        found.map(|(group, lane, distance, normal)| {
            let row = 4 * group + lane;
            let normal = normal.unwrap_or_else(|| {
                let four = &self.fours[group];
                let centre = Vec3::new(four.centre[0][lane], four.centre[1][lane], four.centre[2][lane]);
                (ray.origin - centre + distance * ray.along).normalize_or(-ray.along)
            });
            let tint = self.looks.as_ref().map_or(Vec3::ONE, |looks| Look::from(looks, self.owners[row]).tint);
            Met { distance, normal, colour: (tint * self.colours[row]).min(Vec3::ONE) }
        })
    }

    /// Whether a grain stands between `least` and infinity on a ray.
    pub(super) fn hides(&self, ray: &Ray, least: f32) -> bool {
        let mut hidden = false;
        self.tree.walk(ray, f32::INFINITY, |group, reach| {
            self.touch(group, ray, least, reach, |_, _, _| {
                hidden = true;
                -1.0
            });
            if hidden { -1.0 } else { reach }
        });
        hidden
    }

    /// Calls `meet` with lane, distance and, where it is not the sphere's, normal of each grain of a group that is nearer than `reach`.
    #[inline]
    fn touch(
        &self,
        group: usize,
        ray: &Ray,
        least: f32,
        mut reach: f32,
        mut meet: impl FnMut(usize, f32, Option<Vec3>) -> f32,
    ) {
        let four = &self.fours[group];
        // From the foot of the centre on the ray: squares of distances from the eye would drown a small sphere in their rounding.
        let to = std::array::from_fn::<Vec4, 3, _>(|a| four.centre[a] - Vec4::splat(ray.origin[a]));
        let foot = to[0] * ray.along.x + to[1] * ray.along.y + to[2] * ray.along.z;
        let off = std::array::from_fn::<Vec4, 3, _>(|a| to[a] - foot * ray.along[a]);
        let inside = four.radius * four.radius - (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
        let mut met = inside.cmpgt(Vec4::ZERO).bitmask();
        while met != 0 {
            let lane = met.trailing_zeros() as usize;
            met &= met - 1;
            let (middle, half) = (foot[lane], inside[lane].sqrt());
            let found = if let Some(looks) = &self.looks {
                let centre = Vec3::new(four.centre[0][lane], four.centre[1][lane], four.centre[2][lane]);
                angular(
                    Look::from(looks, self.owners[4 * group + lane]),
                    ray,
                    centre,
                    four.radius[lane],
                    [middle - half, middle + half],
                )
            } else {
                Some((middle - half, None))
            };
            if let Some((t, normal)) = found
                && t > least
                && t < reach
            {
                reach = meet(lane, t, normal);
            }
        }
    }
}

/// Where a ray enters an angular grain, a sphere with facets cut off, and the facet's normal: none where it enters through what is left of
/// the sphere. `span`: where it is inside the sphere.
fn angular(look: &Look, ray: &Ray, centre: Vec3, radius: f32, span: [f32; 2]) -> Option<(f32, Option<Vec3>)> {
    let back = look.turn.transpose();
    let (from, along) = (back * ((ray.origin - centre) / radius), back * ray.along);
    let [mut enters, mut leaves] = span.map(|t| t / radius);
    let mut facet = None;
    for (k, f) in FACETS.iter().enumerate() {
        let (rate, room) = (f.dot(along), look.cuts[k] - f.dot(from));
        if rate.abs() < 1e-9 {
            if room < 0.0 {
                return None;
            }
        } else if rate < 0.0 {
            if room / rate > enters {
                (enters, facet) = (room / rate, Some(*f));
            }
        } else {
            leaves = leaves.min(room / rate);
        }
    }
    if enters > leaves {
        return None;
    }
    let normal = facet.map(|f| {
        let sphere = (from + enters * along).normalize_or(f);
        look.turn * f.lerp(sphere, WORN).normalize_or(f)
    });
    Some((enters * radius, normal))
}

/// Kinds of angular grain: enough that no two alike are seen side by side.
const KINDS: u32 = 512;

/// What an angular grain looks like.
struct Look {
    turn: Mat3,
    /// Distances of the facets from the middle [radii].
    cuts: [f32; 12],
    /// What the reflectance is multiplied by: sand is made of pale, warm and dark minerals.
    tint: Vec3,
}

impl Look {
    /// All kinds.
    fn all() -> Vec<Look> {
        (0..KINDS).map(Look::of).collect()
    }

    /// That of a grain.
    fn from(kinds: &[Look], owner: u32) -> &Look {
        &kinds[(scramble(owner) % KINDS) as usize]
    }

    fn of(kind: u32) -> Look {
        let draw = |k: u32| unit(scramble(kind.wrapping_mul(0x9e37_79b9).wrapping_add(k)));
        // A turn that is even over all turns [Shoemake 1992].
        let (u, v, w) = (draw(0), draw(1), draw(2));
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        let ((s, c), (p, q)) = ((TAU * v).sin_cos(), (TAU * w).sin_cos());
        let cuts = std::array::from_fn(|k| CUT[0] + (CUT[1] - CUT[0]) * draw(3 + k as u32));
        let shade = 1.0 + TINT * (2.0 * draw(15) - 1.0);
        let warm = 0.4 * TINT * (2.0 * draw(16) - 1.0);
        let dark = if draw(17) < DARK[0] { DARK[1] } else { 1.0 };
        let tint = dark * shade * Vec3::new(1.0 + warm, 1.0, 1.0 - warm);
        Look { turn: Mat3::from_quat(Quat::from_xyzw(a * s, a * c, b * p, b * q)), cuts, tint }
    }
}

/// A number whose bits depend on all bits of another [Wellons 2018, *Prospecting for hash functions*].
pub(super) fn scramble(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// From 0 to below 1.
pub(super) fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 / (1u32 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    #[test]
    fn angular_grains_have_the_volume_of_their_spheres() {
        let mut rng = Random::new(3, 1);
        let (mut inside, tries, grains) = (0, 1_000, KINDS);
        for look in Look::all() {
            for _ in 0..tries {
                let x = rng.in_ball().as_vec3();
                inside += u32::from(FACETS.iter().enumerate().all(|(k, f)| f.dot(x) < look.cuts[k]));
            }
        }
        let volume = f64::from(inside) / f64::from(grains * tries) * f64::from(SWELL).powi(3);
        assert!((volume - 1.0).abs() < 0.03, "{volume} of the sphere's");
    }

    #[test]
    fn the_nearest_grain_is_found_as_by_trying_all() {
        let mut rng = Random::new(5, 2);
        let mut number = || rng.uniform() as f32;
        let sphere = |number: &mut dyn FnMut() -> f32, grain| Sphere {
            centre: [number(), number(), number()],
            radius: 0.002 + 0.02 * number(),
            colour: [number(); 3],
            grain,
        };
        let spheres: Vec<Sphere> = (0..500).map(|i| sphere(&mut number, i)).collect();
        let grains = Grains::new(&spheres, false);
        let mut hits = 0;
        for _ in 0..500 {
            let origin = Vec3::new(number(), number(), -1.0);
            let along = (Vec3::new(number(), number(), 1.0) - origin).normalize();
            let ray = Ray { origin, along };
            let touch = |s: &Sphere| {
                let to = Vec3::from(s.centre) - origin;
                let foot = to.dot(along);
                let inside = s.radius * s.radius - (to - foot * along).length_squared();
                (inside > 0.0).then(|| foot - inside.sqrt())
            };
            let exact = spheres.iter().filter_map(touch).min_by(f32::total_cmp);
            let found = grains.nearest(&ray, 0.0, f32::INFINITY).map(|m| m.distance);
            assert_eq!(found.is_some(), exact.is_some());
            assert_eq!(grains.hides(&ray, 0.0), exact.is_some());
            if let (Some(a), Some(b)) = (found, exact) {
                assert!((a - b).abs() < 1e-5, "{a} for {b}");
                hits += 1;
            }
        }
        assert!(hits > 100);
    }
}
