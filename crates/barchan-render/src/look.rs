//! The look: how a pixel gets its colour. Both renderers do what is written here.
//!
//! Light is linear RGB, in units in which a white sheet under the open sky and sun is about 1.
//!
//! 1. **Surface**: each pixel finds the nearest opaque surface along its ray: a sphere (exact ray–sphere intersection, so
//!    depth, normal and silhouette are those of a sphere in perspective), a solid triangle, or the floor. It gives position
//!    p, unit normal n, reflectance a.
//! 2. **Sun**: direction s (towards it), radiance `sun`. Diffuse a·max(0, n·s) plus Blinn–Phong `gloss`·max(0, n·h)^`shininess`,
//!    h halfway between s and the eye; both times the share of sun that reaches p.
//! 3. **Shadow**: depth map from the sun (orthographic, fitted to the grains; spheres with their true depth), looked up with a
//!    disc of taps whose radius is the sun's penumbra at that pixel; the receiver is shifted along its normal by a texel's
//!    size so that no surface shadows itself, and no shadow leaves its caster.
//! 4. **Sky and ground light**: a·mix(ground, sky, (1 + n·z)/2), times the openness.
//! 5. **Openness** (ambient occlusion): from the depth and normals of the picture, a fixed number of taps in a disc around
//!    the pixel of `reach` grain radii; each tap that lies above the tangent plane closes off its share, fading with
//!    distance. Pattern fixed per pixel (no frame-to-frame noise), blurred over the pattern's 4×4 pixels at equal depth.
//! 6. **Floor** fades into the background with distance from the grains; background is a vertical gradient.
//! 7. Glass panes and lines are laid over, farthest first, hidden by depth.
//! 8. Exposure, a filmic curve, sRGB. Averaged over `samples` subpixel positions (before the curve) for smooth edges.

use glam::Vec3;

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
}

impl Default for Light {
    /// A clear afternoon: warm sun from the left behind the eye, blue sky.
    fn default() -> Self {
        Light {
            to_sun: Vec3::new(-0.45, -0.35, 0.82).normalize(),
            sun: Vec3::new(1.55, 1.42, 1.22),
            sky: Vec3::new(0.50, 0.58, 0.70),
            ground: Vec3::new(0.24, 0.21, 0.18),
            background: [Vec3::new(0.62, 0.70, 0.80), Vec3::new(0.90, 0.90, 0.88)],
            gloss: 0.10,
            shininess: 24.0,
            softness: 0.02,
            exposure: 1.0,
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
