//! The renderer for stills: paths of light, followed from the eye.
//!
//! The two renderers for films estimate shade and the light between grains from maps ([`crate::look`]); this one follows rays, so that each
//! grain shades and lights its neighbours, shadows have the softness of the sun, and a lens can be out of focus. Sun, sky, exposure and the
//! curve to the screen are those of [`crate::look`]. A picture takes seconds to minutes in place of a fraction of a second.
//!
//! For each sample of a pixel: a ray from the lens finds a surface; the sun is looked for in a direction of its disc; a ray in a direction
//! by Lambert's law finds the light from around, which is the sky, or another surface with its own sun and sky (`BOUNCES`). Samples of a pixel follow
//! the sequence R2 [Roberts 2018], shifted by the pixel's number, so that a picture is the same on any number of threads. Panes of glass are laid over
//! what is behind them, as ever; lines are not drawn.
//!
//! | file | role |
//! |---|---|
//! | `tree.rs` | which things may lie on a ray |
//! | `grains.rs` | spheres and angular grains |
//! | `surfaces.rs` | triangles |

mod grains;
mod surfaces;
mod tree;

use crate::look::{self, Extent};
use crate::{Finish, Image, Light, Picture, Quality, RenderError, Renderer, View, cpu, ground};
use glam::{Vec2, Vec3};
use grains::{Grains, Met, scramble, unit};
use rayon::prelude::*;
use std::f32::consts::TAU;
use surfaces::Surfaces;
use tree::Ray;

/// Surfaces that light comes over before it is taken from the sky as if nothing stood in the way: of sand, which reflects a half, a
/// further one would add some per cent.
const BOUNCES: u32 = 2;
/// Share of the open sky's light that is left where a path ends in a gap.
const GAP: f32 = 0.35;
/// How far rays start from the surface they leave [its distance from the eye]: rounding must not make it meet itself.
const LIFT: f32 = 2e-5;
/// Panes of glass that one ray may cross.
const PANES: usize = 16;

/// Follows rays, on threads; runs in the rayon pool it is called from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceRenderer {
    /// Whether spheres are drawn as the angular grains that sand is made of, of the same volume.
    pub angular: bool,
    /// Diameter of the lens [m]: what is nearer or farther than the view's target is out of focus; 0 shows all sharp.
    pub lens: f32,
}

impl Renderer for TraceRenderer {
    fn name(&self) -> String {
        format!("traced, {} threads", rayon::current_num_threads())
    }

    fn draw(&mut self, picture: &Picture, view: &View, light: &Light, quality: &Quality) -> Result<Image, RenderError> {
        cpu::check(view)?;
        let view = look::upright(view);
        let laid = ground::lay(picture, &view);
        // The ground's surface comes last; it stands for grains that shade each other.
        let dim = if picture.ground.as_ref().is_some_and(|g| g.cover.is_none()) { look::BED } else { 1.0 };
        let extent = Extent::of(picture, &view);
        let tracer = Tracer {
            grains: Grains::new(&laid.spheres, self.angular),
            solid: Surfaces::new(&laid.meshes, Finish::Solid, dim),
            glass: Surfaces::new(&laid.meshes, Finish::Glass, 1.0),
            floor: laid.floor,
            floor_reach: look::floor_reach(&extent, laid.floor.map_or(0.0, |f| f.0)),
            extent,
            light: Light { to_sun: light.to_sun.try_normalize().unwrap_or(Vec3::Z), ..*light },
            eye: Eye::new(&view, self.lens),
            side: quality.side(),
            shadows: quality.shadows,
        };
        let [width, height] = view.size;
        let mut rgba = vec![255; 4 * width as usize * height as usize];
        rgba.par_chunks_mut(4 * width as usize).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
                let (x, y) = (x as u32, y as u32);
                pixel[..3].copy_from_slice(&look::encode(&tracer.light, tracer.pixel(x, y), x, y));
            }
        });
        Ok(Image { width, height, rgba })
    }
}

/// The eye: a lens before a screen.
struct Eye {
    view: View,
    right: Vec3,
    up: Vec3,
    ahead: Vec3,
    /// Distance at which all is sharp [m].
    focus: f32,
    /// Radius of the lens [m].
    lens: f32,
}

impl Eye {
    fn new(view: &View, lens: f32) -> Eye {
        let to = view.target - view.eye;
        let ahead = to.normalize_or(Vec3::NEG_Z);
        let right = ahead.cross(view.up).normalize_or(Vec3::X);
        let lens = if lens.is_finite() { 0.5 * lens.max(0.0) } else { 0.0 };
        Eye { view: *view, right, up: right.cross(ahead), ahead, focus: to.length(), lens }
    }

    /// The ray through a point of the picture [pixels] from a point of the lens [radii].
    fn ray(&self, pixel: Vec2, lens: Vec2) -> Ray {
        let slope = look::ray(&self.view, pixel);
        let towards = self.ahead + slope.x * self.right + slope.y * self.up;
        let shift = self.lens * (lens.x * self.right + lens.y * self.up);
        let along = (self.focus * towards - shift).normalize_or(self.ahead);
        Ray { origin: self.view.eye + shift, along }
    }
}

/// A picture made ready.
struct Tracer {
    grains: Grains,
    solid: Surfaces,
    glass: Surfaces,
    floor: Option<(f32, Vec3)>,
    floor_reach: f32,
    extent: Extent,
    light: Light,
    eye: Eye,
    side: u32,
    shadows: bool,
}

/// The numbers of a sample: points of the unit square, as many as its path asks for.
struct Draws {
    pixel: u32,
    sample: u32,
    drawn: u32,
}

impl Draws {
    fn next(&mut self) -> Vec2 {
        let shift = |k: u32| unit(scramble(self.pixel.wrapping_add(scramble(2 * self.drawn + k))));
        let n = self.sample as f32;
        let point = Vec2::new(shift(0) + 0.754_877_7 * n, shift(1) + 0.569_840_3 * n);
        self.drawn += 1;
        point.fract()
    }
}

/// A point of the unit disc, even over its area.
fn disc(u: Vec2) -> Vec2 {
    Vec2::from_angle(TAU * u.x) * u.y.sqrt()
}

impl Tracer {
    /// Mean light of a pixel.
    fn pixel(&self, x: u32, y: u32) -> Vec3 {
        let count = self.side * self.side;
        let mut sum = Vec3::ZERO;
        for sample in 0..count {
            let mut draws = Draws { pixel: scramble(y * self.eye.view.size[0] + x), sample, drawn: 0 };
            let offset = look::sample_offset(sample % self.side, sample / self.side, self.side);
            let within = offset + (draws.next() - 0.5) / self.side as f32;
            let ray = self.eye.ray(Vec2::new(x as f32, y as f32) + within, disc(draws.next()));
            sum += self.seen(&ray, y, &mut draws);
        }
        sum / count as f32
    }

    /// Light that comes to the eye against a ray, panes included.
    fn seen(&self, ray: &Ray, y: u32, draws: &mut Draws) -> Vec3 {
        let near = look::near(&self.eye.view);
        let behind = look::background(&self.light, (y as f32 + 0.5) / self.eye.view.size[1] as f32);
        let (mut light, end) = match self.nearest(ray, near) {
            Some((met, share)) => {
                let lit = self.lit(ray, &met, BOUNCES, draws);
                (behind.lerp(lit, share), met.distance)
            }
            None => (behind, f32::INFINITY),
        };
        let mut panes = [(0.0, Vec3::ZERO); PANES];
        let (mut count, mut from) = (0, near);
        while count < PANES
            && let Some(pane) = self.glass.nearest(ray, from, end)
        {
            panes[count] = look::pane(&self.light, pane.colour, pane.normal, -ray.along);
            from = pane.distance * (1.0 + LIFT);
            count += 1;
        }
        for &(opacity, veil) in panes[..count].iter().rev() {
            light = light.lerp(veil, opacity);
        }
        light
    }

    /// The nearest surface beyond `least`, and how much of it is seen: the floor fades into the background.
    fn nearest(&self, ray: &Ray, least: f32) -> Option<(Met, f32)> {
        let mut met = self.grains.nearest(ray, least, f32::INFINITY);
        let reach = |met: &Option<Met>| met.as_ref().map_or(f32::INFINITY, |m| m.distance);
        met = self.solid.nearest(ray, least, reach(&met)).or(met);
        let mut share = 1.0;
        if let Some((height, colour)) = self.floor
            && ray.along.z < 0.0
        {
            let distance = (height - ray.origin.z) / ray.along.z;
            if distance > least && distance < reach(&met) {
                share = look::floor_share(&self.extent, self.floor_reach, ray.origin + distance * ray.along);
                met = Some(Met { distance, normal: Vec3::Z, colour });
            }
        }
        Some((met?, share))
    }

    /// Light that a surface sends back along a ray. `bounces`: surfaces that its light may still come over.
    fn lit(&self, ray: &Ray, met: &Met, bounces: u32, draws: &mut Draws) -> Vec3 {
        let n = met.normal;
        let lift = LIFT * met.distance.max(self.eye.focus);
        let origin = ray.origin + met.distance * ray.along + lift * n;
        let mut sum = Vec3::ZERO;
        let to_sun = self.in_sun(draws.next());
        let slant = n.dot(to_sun);
        if slant > 0.0 && !(self.shadows && self.hidden(&Ray { origin, along: to_sun }, lift)) {
            let h = (to_sun - ray.along).normalize_or_zero();
            let shine = self.light.gloss * n.dot(h).max(0.0).powf(self.light.shininess);
            sum += self.light.sun * (met.colour * slant + shine);
        }
        // By Lambert's law: even over a sphere that touches the surface.
        let u = draws.next();
        let (z, round) = (1.0 - 2.0 * u.x, Vec2::from_angle(TAU * u.y));
        let along =
            (n + Vec3::new(round.x, round.y, 0.0) * (1.0 - z * z).max(0.0).sqrt() + Vec3::Z * z).normalize_or(n);
        let around = Ray { origin, along };
        let from_sky = self.light.ground.lerp(self.light.sky, 0.5 + 0.5 * along.z);
        let indirect = if bounces > 1 {
            self.nearest(&around, lift).map_or(from_sky, |(next, _)| self.lit(&around, &next, bounces - 1, draws))
        } else if self.hidden(&around, lift) {
            GAP * from_sky
        } else {
            from_sky
        };
        sum + met.colour * indirect
    }

    /// Whether something stands on a ray.
    fn hidden(&self, ray: &Ray, least: f32) -> bool {
        self.grains.hides(ray, least) || self.solid.hides(ray, least)
    }

    /// A direction towards the sun's disc.
    fn in_sun(&self, u: Vec2) -> Vec3 {
        let (a, b) = self.light.to_sun.any_orthonormal_pair();
        let at = self.light.softness.clamp(0.0, 1.0) * disc(u);
        (self.light.to_sun + at.x * a + at.y * b).normalize_or(self.light.to_sun)
    }
}

#[cfg(test)]
mod tests;
