//! The ground before an eye: triangles as fine as the eye can tell, and grains where it could tell them.
//!
//! A ground stands for grains too many to be drawn. Near the eye they are drawn after all, as spheres like any others
//! (`grains.rs`), each at a place, of a size and a colour that follow from its number, so that nobody sees where grains end and
//! ground begins: light, shadow and gaps are the same. Farther away, where a grain is a few pixels wide, they sink into the
//! surface (`surface.rs`), which is mottled as they would be ([`crate::look::mottle`]) and, farther still, has their mean light. Both
//! renderers draw what is laid out here, so it is written once.

mod grains;
mod surface;

use crate::look;
use crate::{Ground, Picture, View};
use glam::{DVec3, Vec2, Vec3};
use std::borrow::Cow;

/// A picture with its ground laid out for an eye (upright): grains after its spheres, the surface after its meshes.
pub(crate) fn lay<'a>(picture: &'a Picture, view: &View) -> Cow<'a, Picture> {
    let Some(ground) = picture.ground.as_ref().filter(|g| !g.relief.height.is_empty()) else {
        return Cow::Borrowed(picture);
    };
    let before = Before::new(ground, picture.origin, view);
    // A cover is smooth: no grains stand out of it.
    let (grains, least) = match ground.cover {
        Some(_) => (Vec::new(), f32::MAX),
        None => grains::scatter(&before),
    };
    let surface = surface::triangles(&before, least);
    let mut laid = picture.clone();
    laid.spheres.extend(grains);
    laid.meshes.push(surface);
    Cow::Owned(laid)
}

/// A ground before an eye.
struct Before<'a> {
    ground: &'a Ground,
    origin: DVec3,
    eye: Vec3,
    /// Unit vectors right, up and ahead.
    axes: [Vec3; 3],
    /// Pixels to one unit of slope, and slopes at the picture's edges.
    focal: f32,
    edges: Vec2,
}

impl<'a> Before<'a> {
    fn new(ground: &'a Ground, origin: DVec3, view: &View) -> Self {
        let ahead = (view.target - view.eye).normalize_or(Vec3::NEG_Z);
        let right = ahead.cross(view.up).normalize_or(Vec3::X);
        let focal = look::focal(view);
        let edges = Vec2::new(view.size[0] as f32, view.size[1] as f32) / (2.0 * focal);
        Before { ground, origin, eye: view.eye, axes: [right, right.cross(ahead), ahead], focal, edges }
    }

    /// Width of a mean grain at a point [pixels].
    fn width(&self, p: Vec3) -> f32 {
        2.0 * self.ground.radius * self.focal / (p - self.eye).length().max(f32::MIN_POSITIVE)
    }

    /// How far grains at a point stand out: 0 where they are too small to be drawn, 1 where they are drawn whole. `least`: width
    /// from which they are drawn [pixels].
    fn out(&self, p: Vec3, least: f32) -> f32 {
        look::smoothstep(least, 1.6 * least, self.width(p))
    }

    /// Whether a ball is out of sight for sure.
    fn hides(&self, centre: Vec3, radius: f32) -> bool {
        let [x, y, z] = self.axes.map(|a| a.dot(centre - self.eye));
        let beside = |at: f32, edge: f32| at.abs() - edge * z > radius * (1.0 + edge * edge).sqrt();
        z < -radius || beside(x, self.edges.x) || beside(y, self.edges.y)
    }
}

#[cfg(test)]
mod tests;
