//! The look: how a pixel gets its colour. Both renderers do what is written here, with the numbers and functions below.
//!
//! Light is linear RGB, in units in which a white sheet under the open sky and sun is about 1. Depth is distance from the
//! eye along the direction of view [m].
//!
//! 1. **Surface**: each sample finds the nearest opaque surface along its ray, beyond the near plane: a sphere (exact
//!    ray–sphere intersection, front side only, so depth, normal and silhouette are those of a sphere in perspective), a
//!    solid triangle (both sides; its normal is turned to the eye), or the floor (from above only). It gives position p,
//!    unit normal n, reflectance a. Samples stand on a regular grid of √`samples` × √`samples` in the pixel
//!    ([`sample_offset`]). Samples of a pixel that see the same surface may be shaded once, at their mean ray.
//! 2. **Sun**: direction s (towards it), radiance `sun`. Diffuse a·max(0, n·s) plus Blinn–Phong `gloss`·max(0, n·h)^`shininess`,
//!    h halfway between s and the eye; both times the share of sun that reaches p ([`shade`]).
//! 3. **Shadow**: map of heights towards the sun ([`SunMap`]: orthographic, fitted to the grains; spheres with their true
//!    height, solid triangles). A lookup compares a texel with the tangent plane of the receiver *at that texel's centre*
//!    ([`SunMap::gradient`]): exact on planes and on the lit side of convex bodies, so no surface shadows itself and no
//!    shadow leaves its caster. The tangent plane of a triangle is its own, not its vertices' normals'. The penumbra
//!    follows Fernando, *Percentage-closer soft shadows*, 2005: [`SHADOW_SEARCH`] taps, nearest texel, in a disc of radius
//!    [`SunMap::search`] find the mean distance of what stands before the sun; `softness` times it is the radius of the
//!    penumbra. Up to [`SHADOW_TENT`] texels it is the tent over 3×3 texels ([`tent`]), beyond it [`SHADOW_TAPS`] taps of
//!    four texels each, bilinear, in a disc of that radius. Discs are [`spiral`]s turned by [`turn`] of the pixel. Outside
//!    the map all is lit.
//! 4. **Sky and ground light**: a·mix(ground, sky, (1 + n·z)/2), times the openness, brightened in pale crevices by the
//!    light that bounces there ([`bounce`]).
//! 5. **Openness** (ambient occlusion, after McGuire et al., *The Alchemy screen-space ambient obscurance algorithm*, 2011):
//!    of every second pixel, as the black squares of a chequerboard ([`measured`]), of the surface its key sample sees
//!    ([`key_sample`]); [`OPEN_TAPS`] taps among the key samples of other pixels ([`open_tap`]) in a disc of
//!    [`open_reach`]; each tap that lies above the tangent plane closes off its share ([`closes`]), and [`openness`] is
//!    what is left. A sample takes the mean over the eight measured pixels around its own ([`open_mean`]: each number of the
//!    pattern once), weighted by likeness of depth ([`alike`]). The floor is open where [`floor_open`] says so.
//! 6. **Floor** fades into the background with distance from the grains ([`floor_share`]); background is a vertical gradient.
//! 7. **Ground** is laid out for the eye before all this: triangles no finer than it can tell, and grains where it could tell them.
//!    Its surface has the light of a bed of grains ([`BED`]), is mottled where grains are a pixel or a few wide ([`mottle`]), and looks
//!    for shadow from a little above itself ([`GROUND_LIFT`]).
//! 8. Glass panes, then lines, are laid over each sample, hidden by depth; each kind sorted by the distance of its middle
//!    from the eye, farthest first. A pane ([`pane`]) is a veil of its tint; a line ([`line_share`]) has a soft edge.
//! 9. Mean over the samples, exposure, [`filmic`] curve, [`srgb`], dither by less than half a level ([`encode`]).
//! 10. **Snow**, where the light is told of it: what is nearly white is shaded by [`shade_snow`] in place of [`shade`], as far as it is [`snowy`]; its bumps
//!     and glints stand still in the material.
//! 11. **Fog** leaves [`fog_share`] of a surface's light; the rest is what is behind it.
//! 12. **Spray** is laid over the samples after the panes and before the lines: puffs of one light ([`spray_light`]), each with the opacity [`puff_share`].

mod snow;
mod sun;

pub use snow::*;
pub use sun::*;

use crate::{Finish, Picture, View};
use glam::{Vec2, Vec3};

/// The light of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Unit vector towards the sun.
    pub to_sun: Vec3,
    /// Radiance of the sun, linear RGB.
    pub sun: Vec3,
    /// Light from straight above, linear RGB.
    pub sky: Vec3,
    /// Light from straight below, linear RGB.
    pub ground: Vec3,
    /// Background at the top of the picture and at its foot, linear RGB.
    pub background: [Vec3; 2],
    /// Strength of the highlight.
    pub gloss: f32,
    /// Exponent of the highlight.
    pub shininess: f32,
    /// Half the angle the sun is seen under [rad]: how soft shadows are.
    pub softness: f32,
    /// Multiplies the light before the filmic curve.
    pub exposure: f32,
    /// How what is white looks, if it is snow.
    pub snow: Option<Snow>,
    /// Fog, if there is some.
    pub fog: Option<Fog>,
}

impl Default for Light {
    /// A clear afternoon: warm sun from the left behind the eye, blue sky.
    fn default() -> Self {
        Light {
            to_sun: Vec3::new(-0.66, -0.26, 0.70).normalize(),
            sun: Vec3::new(1.62, 1.40, 1.08),
            sky: Vec3::new(0.30, 0.35, 0.43),
            ground: Vec3::new(0.20, 0.16, 0.12),
            background: [Vec3::new(0.34, 0.44, 0.57), Vec3::new(0.86, 0.85, 0.82)],
            gloss: 0.04,
            shininess: 16.0,
            softness: 0.02,
            exposure: 0.78,
            snow: None,
            fog: None,
        }
    }
}

/// What a picture may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Subpixel positions averaged: 1, 4, 9 or 16.
    pub samples: u32,
    /// Whether the sun casts shadows.
    pub shadows: bool,
    /// Whether gaps are dark.
    pub occlusion: bool,
}

impl Default for Quality {
    fn default() -> Self {
        Quality { samples: 4, shadows: true, occlusion: true }
    }
}

impl Quality {
    /// Samples along a side of a pixel, 1 to 4: the root of `samples`, rounded down.
    pub fn side(&self) -> u32 {
        self.samples.clamp(1, 16).isqrt()
    }
}

/// Fewest pixels a side of a picture.
pub const SIZE_LEAST: u32 = 16;
/// Most pixels a side of a picture.
pub const SIZE_MOST: u32 = 8192;

/// 4×4 ordered pattern [Bayer 1973]: `PATTERN[y % 4][x % 4]` turns the discs of a pixel and dithers it.
pub const PATTERN: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
/// Angle from one tap of a spiral to the next [rad]: the golden angle.
pub const GOLDEN: f32 = 2.399_963_2;

/// Number of the pixel in the pattern, 0 to 15.
pub fn pattern(x: u32, y: u32) -> u32 {
    PATTERN[(y % 4) as usize][(x % 4) as usize]
}

/// Angle by which the discs of a pixel are turned [rad].
pub fn turn(x: u32, y: u32) -> f32 {
    pattern(x, y) as f32 * (std::f32::consts::TAU / 16.0)
}

/// Tap `i` of `n` in the unit disc, evenly over its area [Vogel 1979].
pub fn spiral(i: u32, n: u32, turn: f32) -> Vec2 {
    let (sin, cos) = (i as f32 * GOLDEN + turn).sin_cos();
    Vec2::new(cos, sin) * ((i as f32 + 0.5) / n as f32).sqrt()
}

/// Where sample (i, j) of a `side` × `side` grid stands in its pixel, 0 to 1 from the upper left corner.
pub fn sample_offset(i: u32, j: u32, side: u32) -> Vec2 {
    Vec2::new(i as f32 + 0.5, j as f32 + 0.5) / side as f32
}

/// Column and row of the key sample, whose surface's openness is the pixel's.
pub fn key_sample(side: u32) -> u32 {
    side / 2
}

/// The view with an `up` across the direction of view, a target away from the eye and an angle of view between 0.001 and
/// 3.1 rad (else 0.7), so that it has a camera.
pub fn upright(view: &View) -> View {
    let ahead = (view.target - view.eye).try_normalize().unwrap_or(Vec3::NEG_Z);
    let mut up = view.up.try_normalize().unwrap_or(Vec3::Z);
    if up.cross(ahead).length_squared() < 1e-8 {
        up = if ahead.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
    }
    let target = if view.target == view.eye { view.eye + ahead } else { view.target };
    let field = if view.field > 1e-3 && view.field < 3.1 { view.field } else { 0.7 };
    View { up, target, field, ..*view }
}

/// Nothing nearer to the eye than this share of the distance to the target is seen.
pub const NEAR: f32 = 1e-3;

/// Depth of the near plane [m].
pub fn near(view: &View) -> f32 {
    ((view.target - view.eye).length() * NEAR).max(f32::MIN_POSITIVE)
}

/// Slopes of the ray through a point of the picture [pixels from the upper left corner]: it runs along (x, y, −1) of the
/// camera's axes.
pub fn ray(view: &View, pixel: Vec2) -> Vec2 {
    let size = Vec2::new(view.size[0] as f32, view.size[1] as f32);
    Vec2::new(pixel.x - 0.5 * size.x, 0.5 * size.y - pixel.y) / focal(view)
}

/// Pixels to one unit of slope.
pub fn focal(view: &View) -> f32 {
    0.5 * view.size[1] as f32 / (0.5 * view.field).tan()
}

/// Spheres farther than so many standard deviations from the mean do not widen the extent: a stray grain would coarsen
/// everybody's shadow. (Up to 37 spheres none can be so far.)
pub const STRAY: f32 = 6.0;

/// Where the matter of a picture is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Middle of the box around the spheres (strays apart) and the solid meshes, these no farther out than half the
    /// spheres' box on each side [m].
    pub middle: Vec3,
    /// Half its sides [m].
    pub half: Vec3,
    /// Mean radius of the spheres; without spheres, a fiftieth of the box's half diagonal [m].
    pub grain: f32,
    /// Corners of the rectangle on the ground over which all spheres and solid meshes lie, strays too [m].
    pub footprint: [Vec2; 2],
}

impl Extent {
    /// Extent of a picture; of the surroundings of the view's target if the picture is empty. Of a ground, which may be far
    /// larger than what is looked at, the part around the view's target belongs to it, as far as the eye is away from there.
    pub fn of(picture: &Picture, view: &View) -> Self {
        let (mut sum, mut square, mut radius, mut count) = (glam::DVec3::ZERO, glam::DVec3::ZERO, 0.0f64, 0.0f64);
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for s in picture.spheres.iter().chain(&picture.solids).filter(|s| drawable(s.centre, s.radius)) {
            let c = Vec3::from(s.centre);
            (low, high) = (low.min(c - s.radius), high.max(c + s.radius));
            sum += c.as_dvec3();
            square += c.as_dvec3() * c.as_dvec3();
            radius += f64::from(s.radius);
            count += 1.0;
        }
        let mut footprint = [low.truncate(), high.truncate()];
        if count > 0.0 {
            let mean = sum / count;
            let grain = (radius / count) as f32;
            let far = STRAY * (square / count - mean * mean).max(glam::DVec3::ZERO).map(f64::sqrt).as_vec3() + grain;
            (low, high) = (low.max(mean.as_vec3() - far), high.min(mean.as_vec3() + far));
        }
        let room = if count > 0.0 { 0.5 * (high - low) } else { Vec3::INFINITY };
        let (least, most) = (low - room, high + room);
        for mesh in picture.meshes.iter().filter(|m| m.finish == Finish::Solid) {
            for &p in mesh.vertices.iter().filter(|p| p.is_finite()) {
                footprint = [footprint[0].min(p.truncate()), footprint[1].max(p.truncate())];
                let p = if count > 0.0 { p.clamp(least, most) } else { p };
                (low, high) = (low.min(p), high.max(p));
            }
        }
        let mut grain = if count > 0.0 { (radius / count) as f32 } else { 0.0 };
        if let Some(ground) = &picture.ground {
            let (relief, reach) = (&ground.relief, (view.target - view.eye).length());
            let whole = [relief.origin.truncate(), relief.end()].map(|p| (p - picture.origin.truncate()).as_vec2());
            footprint = [footprint[0].min(whole[0]), footprint[1].max(whole[1])];
            let near = |by: f32| (view.target.truncate() + by).clamp(whole[0], whole[1]);
            for p in [near(-reach), near(reach)] {
                (low, high) = (low.min(p.extend(low.z)), high.max(p.extend(high.z)));
            }
            // Heights at the target will do: the map of the sun holds all that casts a shadow, however high.
            let at = (view.target.as_dvec3() + picture.origin).truncate();
            let at = at.clamp(relief.origin.truncate(), relief.end());
            let z = relief.over(at.x, at.y).map_or(view.target.z, |over| (over.z - picture.origin.z) as f32);
            (low.z, high.z) = (low.z.min(z), high.z.max(z));
            grain = if count > 0.0 { grain } else { ground.radius };
        }
        if low.x > high.x {
            let around = (view.target - view.eye).length().max(f32::MIN_POSITIVE);
            (low, high) = (view.target - 0.5 * around, view.target + 0.5 * around);
        }
        let half = 0.5 * (high - low);
        let grain = if grain > 0.0 { grain } else { 0.02 * half.length() };
        Extent { middle: 0.5 * (low + high), half, grain: grain.max(f32::MIN_POSITIVE), footprint }
    }
}

/// How far above itself the ground looks for what stands before the sun [texels of the sun's map]: furrows narrower than texels would
/// shade themselves in spots.
pub const GROUND_LIFT: f32 = 0.7;
/// Light of a bed of grains over that of a sheet of their reflectance: grains shade each other.
pub const BED: f32 = 0.66;
/// How much the light of grains that are too small to be drawn differs from one to the next.
pub const MOTTLE: f32 = 0.22;
/// Widths of a grain between which mottling fades in, for below them it is finer than the samples, and out again, for above them
/// grains are drawn [pixels].
pub const MOTTLE_FADE: [f32; 4] = [0.5, 1.2, 4.0, 8.0];
/// Where the cells of the mottling begin [cells]: an odd place, or a side of the ground could lie between two.
pub const MOTTLE_START: f32 = 0.381_966;

/// Light of the ground at p over its mean: grains of this diameter [m], `width` [pixels] there, differ. Cells as large as a grain have
/// a number each (the finaliser of MurmurHash3 mixes its bits).
pub fn mottle(p: Vec3, diameter: f32, width: f32) -> f32 {
    let [x, y, z] = (p / diameter + MOTTLE_START).floor().to_array().map(|c| c as i32 as u32);
    let mut h = x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ z.wrapping_mul(0xc2b2_ae35);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    let share = (h ^ (h >> 16)) as f32 / u32::MAX as f32;
    let [faint, whole, fading, gone] = MOTTLE_FADE;
    let seen = smoothstep(faint, whole, width) * (1.0 - smoothstep(fading, gone, width));
    1.0 + MOTTLE * seen * (2.0 * share - 1.0)
}

/// Whether a sphere can be drawn: finite, with a radius.
pub fn drawable(centre: [f32; 3], radius: f32) -> bool {
    Vec3::from(centre).is_finite() && radius.is_finite() && radius > 0.0
}

/// Distance from the middle, in half diagonals of the extent on the ground (or its height above the floor, if that is more),
/// to which the floor is whole, and at which it has faded away.
pub const FLOOR_FADE: [f32; 2] = [1.5, 7.0];

/// The unit of [`FLOOR_FADE`] for a floor at a height [m].
pub fn floor_reach(extent: &Extent, height: f32) -> f32 {
    let top = (extent.middle.z - height).abs() + extent.half.z;
    extent.half.truncate().length().max(top).max(f32::MIN_POSITIVE)
}

/// How much of the floor is seen at a point of it, the rest being background: 1 near the grains, 0 far away. `reach`: see
/// [`floor_reach`] [m].
pub fn floor_share(extent: &Extent, reach: f32, p: Vec3) -> f32 {
    let square = (p - extent.middle).truncate().length_squared();
    match FLOOR_FADE.map(|end| (end * reach) * (end * reach)) {
        [whole, _] if square <= whole => 1.0,
        [_, gone] if square >= gone => 0.0,
        _ => 1.0 - smoothstep(FLOOR_FADE[0], FLOOR_FADE[1], square.sqrt() / reach),
    }
}

/// Whether nothing closes off the floor at a point: all that could is farther away than the openness reaches [m].
pub fn floor_open(extent: &Extent, p: Vec3, reach: f32) -> bool {
    let [low, high] = extent.footprint;
    (p.truncate() + reach).cmplt(low).any() || (p.truncate() - reach).cmpgt(high).any()
}

/// 0 up to `a`, 1 from `b`, smooth between.
pub fn smoothstep(a: f32, b: f32, x: f32) -> f32 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Taps of the openness.
pub const OPEN_TAPS: u32 = 12;
/// Reach of the openness [mean grain radii].
pub const OPEN_REACH: f32 = 4.0;
/// Least and greatest reach in the picture: [pixels], [share of the rows].
pub const OPEN_PIXELS: [f32; 2] = [3.0, 0.25];
/// How strongly taps close off.
pub const OPEN_STRENGTH: f32 = 3.2;
/// Sine of the angle above the tangent plane from which a tap closes off: facets of a smooth mesh do not.
pub const OPEN_BIAS: f32 = 0.06;

/// Added to the distance of a tap [reaches]: of a tap in the pixel itself only rounding is left, which must not close it.
pub const OPEN_LEAST: f32 = 0.01;

/// Reach of the openness at a depth: [pixels] and, what that is there, [m]. `grain`: mean radius [m]; `focal`: see
/// [`focal`]; `rows`: of the picture.
pub fn open_reach(grain: f32, focal: f32, rows: u32, depth: f32) -> [f32; 2] {
    let most = (OPEN_PIXELS[1] * rows as f32).max(OPEN_PIXELS[0]);
    let pixels = (OPEN_REACH * grain * focal / depth).clamp(OPEN_PIXELS[0], most);
    [pixels, pixels * depth / focal]
}

/// The pixels whose openness is measured, in columns and rows: number (i, j) of them, half as many in a row as pixels, is
/// pixel (2i, j) in even rows, (2i + 1, j) in odd ones.
pub fn measured(i: u32, j: u32) -> [u32; 2] {
    [2 * i + j % 2, j]
}

/// First column and row, of four of two, of the measured pixels whose mean a sample of pixel (x, y) takes; beyond the edge
/// they are those of the edge again.
pub fn open_mean(x: u32, y: u32) -> [i32; 2] {
    [(x as i32 - 1).div_euclid(2), y as i32 - 1]
}

/// Tap `i` of the openness of a measured pixel (x, y), in reaches: dense in the middle; radius and angle differ over the
/// pattern, which has eight numbers there. The tap reads the pixel that holds the pixel's middle plus the tap; outside the
/// picture nothing closes off.
pub fn open_tap(i: u32, x: u32, y: u32) -> Vec2 {
    let (sin, cos) = (i as f32 * GOLDEN + 2.0 * turn(x, y)).sin_cos();
    Vec2::new(cos, sin) * ((i as f32 + open_between(pattern(x, y))) / OPEN_TAPS as f32)
}

/// Where the taps of a number of the pattern, 0 to 7, stand between the circles [distances of circles].
pub fn open_between(number: u32) -> f32 {
    ((3 * number % 8) as f32 + 0.5) / 8.0
}

/// What a tap at `to` from p [m] closes off, from 0 to 1.
pub fn closes(n: Vec3, to: Vec3, reach: f32) -> f32 {
    let square = to.length_squared();
    let above = n.dot(to) / (square.sqrt() + OPEN_LEAST * reach) - OPEN_BIAS;
    above.max(0.0) * (1.0 - square / (reach * reach)).max(0.0)
}

/// Openness from the sum over the taps: 1 in the open.
pub fn openness(closed: f32) -> f32 {
    (1.0 - OPEN_STRENGTH / OPEN_TAPS as f32 * closed).max(0.0)
}

/// Weight of a key sample at a depth in the mean taken by a sample at another [m]; never 0, so that there is a mean.
pub fn alike(depth: f32, other: f32, reach: f32) -> f32 {
    (1.0 - 2.0 * (depth - other).abs() / reach).max(1e-3)
}

/// Openness with the light that bounces between surfaces of reflectance `a` [Jimenez et al. 2016, *Practical real-time
/// strategies for accurate indirect occlusion*, eq. 10].
pub fn bounce(open: f32, a: Vec3) -> Vec3 {
    let (p, q, r) = (2.0404 * a - 0.3324, -4.7951 * a + 0.6417, 2.7552 * a + 0.6903);
    (((p * open + q) * open + r) * open).max(Vec3::splat(open))
}

/// Light from a surface to the eye. `n`: unit normal; `to_eye`: unit vector; `sun_share`, `open`: 0 to 1.
pub fn shade(light: &Light, a: Vec3, n: Vec3, to_eye: Vec3, sun_share: f32, open: f32) -> Vec3 {
    let around = light.ground.lerp(light.sky, 0.5 + 0.5 * n.z);
    let mut sum = a * around * bounce(open, a);
    let slant = n.dot(light.to_sun);
    if slant > 0.0 && sun_share > 0.0 {
        let h = (light.to_sun + to_eye).normalize_or_zero();
        sum += light.sun * sun_share * (a * slant + light.gloss * power(n.dot(h).max(0.0), light.shininess));
    }
    sum
}

/// x^n for x ≥ 0, by squaring where n is a small whole number: several times quicker than `powf`.
fn power(mut x: f32, n: f32) -> f32 {
    let mut rest = n as u32;
    if rest as f32 != n || rest > 1024 {
        return x.powf(n);
    }
    let mut product = 1.0;
    while rest > 0 {
        product *= if rest & 1 == 1 { x } else { 1.0 };
        x *= x;
        rest >>= 1;
    }
    product
}

/// Background at a height in the picture, 0 at the top, 1 at the foot.
pub fn background(light: &Light, down: f32) -> Vec3 {
    light.background[0].lerp(light.background[1], down.clamp(0.0, 1.0))
}

/// Opacity of a pane seen face on, and edge on.
pub const GLASS: [f32; 2] = [0.02, 0.35];

/// Opacity of a pane and the light of its veil. `n`: unit normal, either way; `to_eye`: unit vector.
pub fn pane(light: &Light, tint: Vec3, n: Vec3, to_eye: Vec3) -> (f32, Vec3) {
    let slant = 1.0 - n.dot(to_eye).abs().min(1.0);
    (GLASS[0] + (GLASS[1] - GLASS[0]) * slant * slant * slant, tint * (light.sky + 0.3 * light.sun))
}

/// Rows at which the width of a line is given.
pub const LINE_ROWS: f32 = 1080.0;
/// Lines are drawn this share of their depth nearer to the eye, so that edges of a surface are not lost in it.
pub const LINE_LIFT: f32 = 2e-3;

/// Width of a line in a picture of so many rows [pixels].
pub fn line_width(width: f32, rows: u32) -> f32 {
    width * rows as f32 / LINE_ROWS
}

/// How much of a line of a width is laid over a point at a distance from its middle [both pixels]: an edge one pixel wide;
/// lines thinner than a pixel are fainter instead.
pub fn line_share(width: f32, distance: f32) -> f32 {
    let drawn = width.max(1.0);
    (0.5 * drawn + 0.5 - distance).clamp(0.0, 1.0) * (width / drawn)
}

/// Filmic curve, channel by channel [Narkowicz 2015, *ACES filmic tone mapping curve*]: toe, middle, shoulder.
pub fn filmic(x: Vec3) -> Vec3 {
    let x = x.max(Vec3::ZERO);
    ((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)).clamp(Vec3::ZERO, Vec3::ONE)
}

/// Linear 0…1 to sRGB 0…1 [IEC 61966-2-1].
pub fn srgb(x: f32) -> f32 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// Bytes of pixel (x, y) from its mean light.
pub fn encode(light: &Light, mean: Vec3, x: u32, y: u32) -> [u8; 3] {
    let dither = (pattern(x, y) as f32 + 0.5) / 16.0;
    filmic(mean * light.exposure).to_array().map(|c| (255.0 * srgb(c) + dither).floor().clamp(0.0, 255.0) as u8)
}
