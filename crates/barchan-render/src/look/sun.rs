//! The sun's map: point 3 of the look.

use super::{Extent, Light, drawable, focal, near};
use crate::{Finish, Picture, View};
use glam::{Vec2, Vec3};

/// Side of a texel of the sun's map, as it is seen in the middle of the scene [pixels], unless the map would be too large.
pub const SHADOW_PIXEL: f32 = 0.7;
/// Texels along a side of the sun's map: a multiple of the first, up to the second, or up to twice the picture's rows if
/// that is more, but never beyond the third.
pub const SHADOW_SIDES: [u32; 3] = [256, 2048, 4096];
/// Taps that look for what stands before the sun.
pub const SHADOW_SEARCH: u32 = 8;
/// Taps in a wide penumbra.
pub const SHADOW_TAPS: u32 = 16;
/// Radius of the penumbra up to which the tent is taken, and the least radius of the search [texels].
pub const SHADOW_TENT: f32 = 1.5;
/// Largest radius of search and penumbra [texels].
pub const SHADOW_REACH: f32 = 32.0;
/// Steepest tangent plane of a receiver, in height over distance across the sun's direction.
pub const SHADOW_SLOPE: f32 = 12.0;
/// How far above the tangent plane a texel must be to shade [texels]; see [`SunMap::bias`].
pub const SHADOW_BIAS: f32 = 0.1;

/// The sun's map: heights towards the sun over a square across its direction. Point p lies at column
/// (p·across − corner.x)/texel, row (p·along − corner.y)/texel, height p·to_sun; texel (0, 0) reaches from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunMap {
    /// Unit vector along a row, horizontal.
    pub across: Vec3,
    /// Unit vector along a column.
    pub along: Vec3,
    /// Unit vector towards the sun.
    pub to_sun: Vec3,
    /// Corner of texel (0, 0) [m].
    pub corner: Vec2,
    /// Texels along a side.
    pub side: u32,
    /// Side of a texel [m].
    pub texel: f32,
    /// Least height of anything that casts a shadow [m].
    pub low: f32,
    /// Greatest [m].
    pub high: f32,
    /// Corners of the rectangle in which all that casts a shadow stands [texels], also beyond the map.
    pub casters: [Vec2; 2],
}

impl SunMap {
    /// The map that fits a picture and a view of it. Its side moves in steps of a quarter octave and its corner in whole
    /// texels, so that shadows do not crawl while the extent changes a little.
    pub fn fit(picture: &Picture, extent: &Extent, light: &Light, view: &View) -> Self {
        let to_sun = light.to_sun.try_normalize().unwrap_or(Vec3::Z);
        let across = Vec3::Z.cross(to_sun).try_normalize().unwrap_or(Vec3::X);
        let along = to_sun.cross(across);
        let reach = |axis: Vec3| axis.abs().dot(extent.half);
        let wanted =
            (2.0 * reach(across).max(reach(along))).max(f32::MIN_POSITIVE) * (1.0 + 4.0 / SHADOW_SIDES[0] as f32);
        let side = ((4.0 * wanted.log2()).ceil() / 4.0).exp2();
        let pixel = (extent.middle - view.eye).length().max(near(view)) / focal(view);
        let [step, most, limit] = SHADOW_SIDES;
        let most = (2 * view.size[1]).clamp(most, limit);
        let texels = ((side / (SHADOW_PIXEL * pixel)) as u32).clamp(1, most).next_multiple_of(step).min(limit);
        let texel = side / texels as f32;
        let middle = Vec2::new(extent.middle.dot(across), extent.middle.dot(along));
        let corner = ((middle - 0.5 * side) / texel).round() * texel;
        let empty = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        let (low, high) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut map = SunMap { across, along, to_sun, corner, side: texels, texel, low, high, casters: empty };
        for s in picture.spheres.iter().filter(|s| drawable(s.centre, s.radius)) {
            map.hold(s.centre.into(), s.radius);
        }
        for mesh in picture.meshes.iter().filter(|m| m.finish == Finish::Solid) {
            mesh.vertices.iter().filter(|p| p.is_finite()).for_each(|p| map.hold(*p, 0.0));
        }
        if map.low > map.high {
            (map.low, map.high) = (0.0, 0.0);
        }
        map
    }

    /// Makes room in the bounds for a sphere that casts a shadow.
    fn hold(&mut self, centre: Vec3, radius: f32) {
        let (at, reach) = (self.place(centre), radius / self.texel);
        (self.low, self.high) = (self.low.min(at.z - radius), self.high.max(at.z + radius));
        let [low, high] = self.casters;
        self.casters = [low.min(at.truncate() - reach), high.max(at.truncate() + reach)];
    }

    /// Whether something within a radius [texels] of a place could stand before the sun.
    pub fn may_shade(&self, at: Vec2, radius: f32) -> bool {
        let [low, high] = [self.casters[0].max(Vec2::ZERO), self.casters[1].min(Vec2::splat(self.side as f32))];
        (at + radius).cmpgt(low).all() && (at - radius).cmplt(high).all()
    }

    /// Column, row [texels] and height [m] of a point.
    pub fn place(&self, p: Vec3) -> Vec3 {
        let at = (Vec2::new(p.dot(self.across), p.dot(self.along)) - self.corner) / self.texel;
        at.extend(p.dot(self.to_sun))
    }

    /// Change of height of a tangent plane with normal `n` from one texel to the next, along rows and columns [m], no
    /// steeper than [`SHADOW_SLOPE`]. A texel (i, j) of height m stands before the sun at a receiver at `at` (see
    /// [`SunMap::place`]) if m > at.z + gradient·((i + ½, j + ½) − at.xy) + [`SunMap::bias`]·texel.
    pub fn gradient(&self, n: Vec3) -> Vec2 {
        let slope = -Vec2::new(n.dot(self.across), n.dot(self.along)) / n.dot(self.to_sun).max(1e-6);
        slope.clamp_length_max(SHADOW_SLOPE) * self.texel
    }

    /// How far above the tangent plane of normal `n` a texel must be to shade [texels]. A plane steeper than
    /// [`SHADOW_SLOPE`] is forgiven what it rises within [`SHADOW_TENT`]: it gets next to no sun in any case, and would shade itself
    /// in stripes.
    pub fn bias(&self, n: Vec3) -> f32 {
        let slope = Vec2::new(n.dot(self.across), n.dot(self.along)).length() / n.dot(self.to_sun).max(1e-6);
        SHADOW_BIAS + SHADOW_TENT * (slope - SHADOW_SLOPE).max(0.0)
    }

    /// Radius of the search for what stands before the sun, at a receiver of this height [texels].
    pub fn search(&self, height: f32, softness: f32) -> f32 {
        self.penumbra(self.high - height, softness).clamp(SHADOW_TENT, SHADOW_REACH)
    }

    /// Radius of the penumbra of something at a distance [m] towards the sun [texels].
    pub fn penumbra(&self, distance: f32, softness: f32) -> f32 {
        (softness * distance / self.texel).min(SHADOW_REACH)
    }
}

/// Weights of the three texels around the one that holds `x` [texels]: the quadratic B-spline, smooth in x.
/// They sum to 1.
pub fn tent(x: f32) -> [f32; 3] {
    let f = x - x.floor();
    [0.5 * (1.0 - f) * (1.0 - f), 0.5 + f * (1.0 - f), 0.5 * f * f]
}
