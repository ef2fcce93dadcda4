//! What the shaders are told: constants of the [look](crate::look) once, the rest with every tile.

use crate::look::{self, Extent, SunMap};
use crate::{Light, Picture, View};
use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec2, Vec3};
use std::fmt::Write;

/// Texels in a row of the texture of spheres and triangles.
pub const TEXELS_A_ROW: u32 = 4096;

/// The constants of the look in WGSL, then what every pass knows.
pub fn prelude() -> String {
    let mut text = String::new();
    for (name, value) in [
        ("SHADOW_SEARCH", look::SHADOW_SEARCH),
        ("SHADOW_TAPS", look::SHADOW_TAPS),
        ("OPEN_TAPS", look::OPEN_TAPS),
        ("TEXELS_A_ROW", TEXELS_A_ROW),
    ] {
        let _ = writeln!(text, "const {name} = {value}u;");
    }
    for (name, value) in [
        ("SHADOW_TENT", look::SHADOW_TENT),
        ("SHADOW_REACH", look::SHADOW_REACH),
        ("SHADOW_SLOPE", look::SHADOW_SLOPE),
        ("SHADOW_BIAS", look::SHADOW_BIAS),
        ("OPEN_PIXELS_LEAST", look::OPEN_PIXELS[0]),
        ("OPEN_PIXELS_MOST", look::OPEN_PIXELS[1]),
        ("OPEN_STRENGTH", look::OPEN_STRENGTH),
        ("OPEN_BIAS", look::OPEN_BIAS),
        ("OPEN_LEAST", look::OPEN_LEAST),
        ("FLOOR_WHOLE", look::FLOOR_FADE[0]),
        ("FLOOR_GONE", look::FLOOR_FADE[1]),
        ("GROUND_LIFT", look::GROUND_LIFT),
        ("MOTTLE", look::MOTTLE),
        ("MOTTLE_FAINT", look::MOTTLE_FADE[0]),
        ("MOTTLE_WHOLE", look::MOTTLE_FADE[1]),
        ("MOTTLE_FADING", look::MOTTLE_FADE[2]),
        ("MOTTLE_GONE", look::MOTTLE_FADE[3]),
        ("MOTTLE_START", look::MOTTLE_START),
        ("GLASS_FACE", look::GLASS[0]),
        ("GLASS_EDGE", look::GLASS[1]),
        ("LINE_LIFT", look::LINE_LIFT),
        ("SNOWY_NONE", look::SNOWY[0]),
        ("SNOWY_WHOLE", look::SNOWY[1]),
        ("BUMP_COARSE", look::BUMPS[0]),
        ("BUMP_FINE", look::BUMPS[1]),
        ("BUMP", look::BUMP),
        ("BUMP_FAINT", look::BUMP_FADE[0]),
        ("BUMP_WHOLE", look::BUMP_FADE[1]),
        ("FLAT", look::FLAT),
        ("SHADE_RED", look::SHADE.x),
        ("SHADE_GREEN", look::SHADE.y),
        ("SHADE_BLUE", look::SHADE.z),
        ("SHEEN_POWER", look::SHEEN[0]),
        ("SHEEN", look::SHEEN[1]),
        ("GLINT", look::GLINT),
        ("GLINT_PIXELS", look::GLINT_PIXELS),
        ("GOLDEN_COS", look::GOLDEN.cos()),
        ("GOLDEN_SIN", look::GOLDEN.sin()),
    ] {
        let _ = writeln!(text, "const {name}: f32 = {value:?};");
    }
    text + include_str!("common.wgsl")
}

/// Uniforms of a tile, field by field those of `common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Frame {
    right: Vec3,
    near: f32,
    up: Vec3,
    focal: f32,
    ahead: Vec3,
    softness: f32,
    eye: Vec3,
    open_reach: f32,
    size: Vec2,
    origin: Vec2,
    tile: Vec2,
    floor_slope: Vec2,
    floor_colour: Vec3,
    floor_start: f32,
    middle: Vec2,
    floor_reach: f32,
    floor_height: f32,
    across: Vec3,
    texel: f32,
    along: Vec3,
    low: f32,
    to_sun: Vec3,
    high: f32,
    corner: Vec2,
    sun_top: f32,
    facet_first: u32,
    sun: Vec3,
    gloss: f32,
    sky: Vec3,
    shininess: f32,
    ground: Vec3,
    exposure: f32,
    top: Vec3,
    side: f32,
    foot: Vec3,
    spare: f32,
    snow: [f32; 4],
    fog: [f32; 4],
    footprint: [Vec2; 2],
    casters: [Vec2; 2],
    turns: [[f32; 4]; 16],
}

/// The floor, if it is seen: from above only.
pub fn floor(picture: &Picture, view: &View) -> Option<(f32, Vec3)> {
    picture.floor.filter(|f| f.0 < view.eye.z)
}

/// Heights that the sun's map holds as 0 to 1, up to the highest thing [m]. 0 stands for nothing, so the lowest thing must
/// be above it.
pub fn sun_range(map: &SunMap) -> f32 {
    1.01 * (map.high - map.low).max(map.texel)
}

/// Axes of a camera: right, up, ahead.
pub fn axes(view: &View) -> [Vec3; 3] {
    let back = (view.eye - view.target).normalize_or(Vec3::Z);
    let right = view.up.cross(back).normalize_or(Vec3::X);
    [right, back.cross(right), -back]
}

impl Frame {
    /// Uniforms of the whole picture as one tile. `view` is upright, `light.to_sun` a unit vector.
    pub fn new(picture: &Picture, view: &View, light: &Light, extent: &Extent, map: &SunMap, facet_first: u32) -> Self {
        let [right, up, ahead] = axes(view);
        let size = Vec2::new(view.size[0] as f32, view.size[1] as f32);
        let mut frame = Frame {
            right,
            near: look::near(view),
            up,
            focal: look::focal(view),
            ahead,
            softness: light.softness.max(0.0),
            eye: view.eye,
            open_reach: look::OPEN_REACH * extent.grain,
            size,
            tile: size,
            middle: extent.middle.truncate(),
            across: map.across,
            texel: map.texel,
            along: map.along,
            low: map.high - sun_range(map),
            to_sun: map.to_sun,
            high: map.high,
            corner: map.corner,
            facet_first,
            sun: light.sun,
            gloss: light.gloss,
            sky: light.sky,
            shininess: light.shininess,
            ground: light.ground,
            exposure: light.exposure,
            top: light.background[0],
            side: map.side as f32,
            footprint: extent.footprint,
            casters: [map.casters[0].max(Vec2::ZERO), map.casters[1].min(Vec2::splat(map.side as f32))],
            sun_top: map.high,
            foot: light.background[1],
            snow: light.snow.map_or([1.0, 0.0, 0.0, 0.0], |s| [s.grain, s.bump, s.glitter, 0.0]),
            fog: light.fog.map_or([1.0, 0.0, 0.0, 0.0], |f| [f.reach, f.fall, 0.0, 0.0]),
            ..Frame::zeroed()
        };
        if let Some((height, colour)) = floor(picture, view) {
            (frame.floor_height, frame.floor_colour) = (height, colour);
            frame.floor_reach = look::floor_reach(extent, height);
            // 1/depth is even over the picture on any plane: (slope, 1)·fall / height, slope from the pixel.
            let fall = DVec3::new(right.z.into(), up.z.into(), ahead.z.into()) / f64::from(height - view.eye.z);
            let focal = f64::from(frame.focal);
            let half = 0.5 * size.as_dvec2() / focal;
            frame.floor_slope = (fall.truncate() * glam::DVec2::new(1.0, -1.0) / focal).as_vec2();
            frame.floor_start = (fall.z - fall.x * half.x + fall.y * half.y) as f32;
        }
        for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
            let (sin, cos) = look::turn(x, y).sin_cos();
            let number = look::pattern(x, y);
            frame.turns[number as usize] = [cos, sin, look::open_between(number / 2), 0.0];
        }
        frame
    }

    /// The same for a part of the picture.
    pub fn on_tile(mut self, tile: &super::targets::Tile) -> Self {
        self.origin = Vec2::new(tile.first[0] as f32, tile.first[1] as f32);
        self.tile = Vec2::new(tile.size[0] as f32, tile.size[1] as f32);
        self
    }
}
