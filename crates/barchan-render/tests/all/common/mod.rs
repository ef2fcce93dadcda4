//! What the tests of pictures share.
#![allow(dead_code, reason = "each test file uses its part")]

use barchan_render::{
    CpuRenderer, GpuRenderer, Image, Light, Picture, Quality, RenderError, Renderer, Sphere, View, look,
};
use glam::{Vec2, Vec3};

/// Every renderer that must pass.
pub fn renderers() -> Vec<Box<dyn Renderer>> {
    let mut renderers: Vec<Box<dyn Renderer>> = vec![Box::new(CpuRenderer::default())];
    if let Some(gpu) = gpu() {
        renderers.push(Box::new(gpu));
    }
    renderers
}

/// The renderer on the GPU, unless there is no adapter at all.
pub fn gpu() -> Option<GpuRenderer> {
    match GpuRenderer::new() {
        Ok(gpu) => Some(gpu),
        Err(RenderError::NoAdapter { reason }) => {
            eprintln!("SKIPPED on the GPU: no adapter ({reason})");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// One white sphere.
pub fn ball(centre: Vec3, radius: f32, grain: u32) -> Sphere {
    Sphere { centre: centre.to_array(), radius, colour: [1.0; 3], grain }
}

/// Light from all around, none from the sun, before black: surfaces are white, their silhouettes sharp.
pub fn all_around() -> Light {
    let white = Vec3::ONE;
    Light { sun: Vec3::ZERO, sky: white, ground: white, background: [Vec3::ZERO; 2], gloss: 0.0, ..Light::default() }
}

/// Only the sun, from a direction, as a point.
pub fn only_sun(to_sun: Vec3) -> Light {
    let none = Vec3::ZERO;
    let to_sun = to_sun.normalize();
    Light { to_sun, sun: Vec3::ONE, sky: none, ground: none, gloss: 0.0, softness: 0.0, ..all_around() }
}

/// One sample a pixel, nothing but light on surfaces.
pub fn bare() -> Quality {
    Quality { samples: 1, shadows: false, occlusion: false }
}

/// Red of a pixel.
pub fn red(image: &Image, x: u32, y: u32) -> u8 {
    image.rgba[((y * image.width + x) * 4) as usize]
}

/// Every pixel's column and row.
pub fn pixels(size: [u32; 2]) -> impl Iterator<Item = (u32, u32)> {
    (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| (x, y)))
}

/// Direction, not normalised, of the ray through a point of the picture [pixels]; one unit along the direction of view.
pub fn ray(view: &View, at: Vec2) -> Vec3 {
    let slope = look::ray(view, at);
    view.camera().inverse().transform_vector3(Vec3::new(slope.x, slope.y, -1.0))
}

/// Where a point is seen [pixels].
pub fn pixel(view: &View, p: Vec3) -> Vec2 {
    let c = view.camera().transform_point3(p);
    let half = Vec2::new(view.size[0] as f32, view.size[1] as f32) / 2.0;
    half + look::focal(view) * Vec2::new(c.x, -c.y) / -c.z
}

/// Draws, failing the test on an error.
pub fn draw(renderer: &mut dyn Renderer, picture: &Picture, view: &View, light: &Light, quality: &Quality) -> Image {
    renderer.draw(picture, view, light, quality).expect("a picture")
}
