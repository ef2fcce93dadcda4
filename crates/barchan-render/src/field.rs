//! A distance field, ray-cast, with spheres that hide the rays they cover [Longmore 2009, 6.4].
//!
//! A ray goes through the field in steps as long as the distance it reads [Hart 1996, "Sphere tracing"] until it is at the
//! surface, whose normal is the field's gradient. Spheres are found by [`CpuRenderer::trace`]. What lies in front hides the
//! rest; a sphere below the surface is seen through it as through murky resin, the dimmer the deeper, so that spheres that
//! line a body from inside show. Light, shade and colours are those of [`crate::look`]; openness and the sun's shadow are read
//! from the field. Every sample is for itself: the picture is the same on any number of threads.

use crate::cpu::Seen;
use crate::{CpuRenderer, Image, Light, Picture, RenderError, Sphere, Stand, View, look};
use barchan_core::sdf::Field;
use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Share of the distance that is stepped: between nodes the field may be a little too large.
const CARE: f64 = 0.9;
/// The surface is reached at this share of a cell.
const REACHED: f64 = 1e-3;
/// Shortest step over a cell: a ray along a surface has to get on.
const SHORTEST: f64 = 0.03;
/// Steps of a ray at most: some times the cells along the longest box.
const STEPS: usize = 4000;
/// Points at which openness is read from the field.
const TAPS: u32 = 4;
/// Length [cells] over which normals are taken: trilinear gradients jump from cell to cell, and facets would show.
const NORMAL: f64 = 0.7;

/// Samples of a pixel no farther apart in depth than so many cells see the same part of the surface.
const SAME: f64 = 2.0;

/// A depth of murk over the radius of spheres that shows those lining a body, and not those behind them.
pub const MURK: f64 = 0.5;

/// Reflectance of the surface, slate blue, and of the spheres, sand; linear RGB.
const SKIN: Vec3 = Vec3::new(0.20, 0.31, 0.43);
const SAND: Vec3 = Vec3::new(0.78, 0.52, 0.22);

/// A field seen from one place, to draw spheres into: while only they move the field's rays are cast once.
#[derive(Clone, Debug)]
pub struct FieldPicture {
    field: Arc<Field>,
    stand: Stand,
    light: Light,
    size: [u32; 2],
    side: u32,
    /// Depth of the surface along the direction of view [m], infinite where there is none, and its light; sample by sample.
    skin: Vec<(f32, Vec3)>,
}

impl FieldPicture {
    /// Casts the rays of a picture with `side`² samples a pixel, 1 to 4.
    pub fn new(
        field: Arc<Field>,
        stand: Stand,
        light: &Light,
        size: [u32; 2],
        side: u32,
    ) -> Result<FieldPicture, RenderError> {
        let side = side.clamp(1, 4);
        let [width, height] = size;
        let fits = |n: u32| n >= look::SIZE_LEAST && n <= look::SIZE_MOST / side;
        if !(fits(width) && fits(height)) {
            return Err(RenderError::Size { width, height, limit: look::SIZE_MOST / side });
        }
        let light = Light { to_sun: light.to_sun.try_normalize().unwrap_or(Vec3::Z), ..*light };
        let up = look::upright(&stand.view(stand.target, size)).up.as_dvec3();
        let mut picture = FieldPicture { field, stand: Stand { up, ..stand }, light, size, side, skin: Vec::new() };
        let samples = (side * side) as usize;
        let mut skin = vec![(f32::INFINITY, Vec3::ZERO); samples * width as usize * height as usize];
        let rays = picture.rays();
        skin.par_chunks_mut(samples * width as usize).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(samples).enumerate() {
                // Samples share the light around them while they see the same part of the surface.
                let (mut last, mut shared) = (f64::INFINITY, None);
                for (k, sample) in pixel.iter_mut().enumerate() {
                    let ray = rays.through_sample(x as u32, y as u32, k as u32);
                    if let Some(depth) = picture.meet(&ray) {
                        if (depth - last).abs() > SAME * picture.field.cell() {
                            shared = None;
                        }
                        last = depth;
                        let p = ray.at(depth);
                        *sample = (depth as f32, picture.lit(p, picture.normal(p), &ray, SKIN, &mut shared));
                    }
                }
            }
        });
        picture.skin = skin;
        Ok(picture)
    }

    /// Draws spheres (centre, radius [m]) into it; one that lies below the surface by `murk` [m] is seen at 1/e.
    pub fn draw(&self, spheres: &[(DVec3, f64)], murk: f64) -> Result<Image, RenderError> {
        let ([width, height], side) = (self.size, self.side);
        let origin = self.stand.target;
        let ball = |(k, &(c, r)): (usize, &(DVec3, f64))| Sphere {
            centre: (c - origin).as_vec3().to_array(),
            radius: r as f32,
            colour: SAND.to_array(),
            grain: k as u32,
        };
        let picture = Picture { origin, spheres: spheres.iter().enumerate().map(ball).collect(), ..Picture::default() };
        let traced = CpuRenderer::default().trace(&picture, &self.view())?;
        let (rays, samples) = (self.rays(), (side * side) as usize);
        let mut rgba = vec![255; 4 * width as usize * height as usize];
        rgba.par_chunks_mut(4 * width as usize).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
                let (x, y) = (x as u32, y as u32);
                let skins = &self.skin[(y * width + x) as usize * samples..][..samples];
                let mut sum = Vec3::ZERO;
                // Samples share the light around them while they see the same sphere.
                let (mut last, mut shared) = (None, None);
                for (k, &(skin, light)) in skins.iter().enumerate() {
                    let [i, j] = rays.sample(x, y, k as u32);
                    let at = (j * side * width + i) as usize;
                    let ray = rays.through_sample(x, y, k as u32);
                    let behind = if skin.is_finite() {
                        light
                    } else {
                        look::background(&self.light, (j as f32 + 0.5) / (side * height) as f32)
                    };
                    let Seen::Grain(number) = traced.seen[at] else {
                        sum += behind;
                        continue;
                    };
                    let deep = (traced.depth[at] - skin).max(0.0) * ray.along.length() as f32;
                    let seen = (-deep / murk as f32).exp();
                    // What does not make half a level of a channel is not computed.
                    if seen < 2e-3 {
                        sum += behind;
                        continue;
                    }
                    if last.replace(number) != Some(number) {
                        shared = None;
                    }
                    let p = ray.at(f64::from(traced.depth[at]));
                    let n = (p - spheres[number as usize].0).normalize_or_zero();
                    sum += behind.lerp(self.lit(p, n, &ray, SAND, &mut shared), seen);
                }
                pixel[..3].copy_from_slice(&look::encode(&self.light, sum / samples as f32, x, y));
            }
        });
        Ok(Image { width, height, rgba })
    }

    /// The view with a pixel for each sample.
    fn view(&self) -> View {
        look::upright(&self.stand.view(self.stand.target, self.size.map(|n| n * self.side)))
    }

    fn rays(&self) -> Rays {
        let view = self.view();
        let middle = 0.5 * DVec2::from(view.size.map(f64::from));
        let focal = f64::from(look::focal(&view));
        Rays { eye: self.stand.eye, axes: self.stand.axes(), middle, focal, side: self.side }
    }

    /// Depth [m] at which a ray meets the surface.
    fn meet(&self, ray: &Ray) -> Option<f64> {
        let (low, high) = self.field.bounds();
        let [from, to] = ray.through(low, high)?;
        let (length, cell) = (ray.along.length(), self.field.cell());
        let (mut depth, mut before) = (from, None);
        for _ in 0..STEPS {
            let distance = self.field.distance(ray.at(depth));
            if distance < REACHED * cell {
                // Between the last point outside and this one; the field is straight enough there.
                return Some(match before {
                    Some((last, outside)) if distance < 0.0 => last + (depth - last) * (outside / (outside - distance)),
                    _ => depth,
                });
            }
            before = Some((depth, distance));
            depth += (CARE * distance).max(SHORTEST * cell) / length;
            if depth > to {
                return None;
            }
        }
        None
    }

    /// Outward unit normal of the level of the field a point lies on.
    fn normal(&self, p: DVec3) -> DVec3 {
        let h = NORMAL * self.field.cell();
        // Corners of a tetrahedron: four values give what six along the axes would.
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]].map(DVec3::from);
        corners.map(|c| c * self.field.distance(p + h * c)).into_iter().sum::<DVec3>().normalize_or_zero()
    }

    /// Light from a point with a normal towards the eye. Samples of a pixel share what is read from the field round it: share of
    /// the sun and openness.
    fn lit(&self, p: DVec3, n: DVec3, ray: &Ray, colour: Vec3, shared: &mut Option<[f32; 2]>) -> Vec3 {
        let [sun, open] = *shared.get_or_insert_with(|| self.around(p, n));
        look::shade(&self.light, colour, n.as_vec3(), -ray.along.normalize().as_vec3(), sun, open)
    }

    /// Share of the sun and openness at a point, 0 to 1.
    fn around(&self, p: DVec3, n: DVec3) -> [f32; 2] {
        // What lies below the surface is lit as if it lay on it.
        let below = (-self.field.distance(p)).max(0.0);
        let open = self.open(p, n, below);
        let to_sun = self.light.to_sun.as_dvec3();
        [self.sun(p + (below + 2.0 * self.field.cell()) * self.normal(p), to_sun), open]
    }

    /// How open the sky is over a point, 0 to 1: how much nearer the surface is than its own tangent plane would be [Evans
    /// 2006, "Fast approximations for global illumination on dynamic scenes"].
    fn open(&self, p: DVec3, n: DVec3, below: f64) -> f32 {
        let (mut closed, mut weight) = (0.0, 1.0);
        for k in 1..=TAPS {
            let h = self.field.band() * f64::from(k) / f64::from(TAPS);
            let nearer = h - (self.field.distance(p + h * n) + below).min(h);
            closed += weight * nearer / h;
            weight *= 0.6;
        }
        (1.0 - 0.8 * closed).clamp(0.15, 1.0) as f32
    }

    /// Share of the sun seen from a point: the least distance to the surface along the way over the way, as the edge of a
    /// shadow softens with its distance.
    fn sun(&self, p: DVec3, to_sun: DVec3) -> f32 {
        /// Distance over way at which the sun is free.
        const FREE: f64 = 0.06;
        let (low, high) = self.field.bounds();
        let ray = Ray { eye: p, along: to_sun };
        let Some([_, to]) = ray.through(low, high) else { return 1.0 };
        let (mut way, mut share) = (0.0, 1.0f64);
        for _ in 0..STEPS {
            let distance = self.field.distance(ray.at(way));
            if distance < REACHED * self.field.cell() {
                return 0.0;
            }
            if way > 0.0 {
                share = share.min(distance / (FREE * way));
            }
            way += (CARE * distance).max(0.5 * self.field.cell());
            if way > to {
                break;
            }
        }
        look::smoothstep(0.0, 1.0, share as f32)
    }
}

/// Rays through the samples of a picture.
struct Rays {
    eye: DVec3,
    axes: [DVec3; 3],
    /// Middle of the picture [samples], and samples to one unit of slope.
    middle: DVec2,
    focal: f64,
    side: u32,
}

impl Rays {
    /// Column and row of sample `k` of a pixel among all samples.
    fn sample(&self, x: u32, y: u32, k: u32) -> [u32; 2] {
        [x * self.side + k % self.side, y * self.side + k / self.side]
    }

    fn through_sample(&self, x: u32, y: u32, k: u32) -> Ray {
        let [i, j] = self.sample(x, y, k);
        // As `look::ray`, whose tangent is taken once.
        let pixel = DVec2::new(f64::from(i) + 0.5, f64::from(j) + 0.5) - self.middle;
        let slope = DVec2::new(pixel.x, -pixel.y) / self.focal;
        Ray { eye: self.eye, along: self.axes[2] + self.axes[0] * slope.x + self.axes[1] * slope.y }
    }
}

/// A ray; depths are along the direction of view, whose part in `along` is 1.
struct Ray {
    eye: DVec3,
    along: DVec3,
}

impl Ray {
    fn at(&self, depth: f64) -> DVec3 {
        self.eye + depth * self.along
    }

    /// Depths [m] between which a ray is in a box.
    fn through(&self, low: DVec3, high: DVec3) -> Option<[f64; 2]> {
        let (a, b) = ((low - self.eye) / self.along, (high - self.eye) / self.along);
        let (from, to) = (a.min(b).max_element().max(0.0), a.max(b).min_element());
        (from <= to).then_some([from, to])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::mesh::Mesh;

    const SIZE: [u32; 2] = [64, 64];

    fn stand() -> Stand {
        Stand { eye: DVec3::new(0.0, -6.0, 0.0), target: DVec3::ZERO, up: DVec3::Z, field: 0.49 }
    }

    fn ball(size: [u32; 2]) -> FieldPicture {
        let field = Field::build(&Mesh::sphere(1.0, 5), 0.05, 0.2).unwrap();
        FieldPicture::new(Arc::new(field), stand(), &Light::default(), size, 2).unwrap()
    }

    fn pixel(image: &Image, x: u32, y: u32) -> [u8; 3] {
        let at = 4 * (y * image.width + x) as usize;
        [image.rgba[at], image.rgba[at + 1], image.rgba[at + 2]]
    }

    #[test]
    fn rays_meet_the_surface_where_the_sphere_is() {
        let picture = ball(SIZE);
        for (x, z) in [(0.0, 0.0), (0.1, 0.05), (-0.12, 0.1), (0.02, -0.15)] {
            let ray = Ray { eye: stand().eye, along: DVec3::new(x, 1.0, z) };
            // |eye + t a| = 1.
            let (a, b) = (ray.along.length_squared(), ray.eye.dot(ray.along));
            let root = b * b - a * (ray.eye.length_squared() - 1.0);
            match picture.meet(&ray) {
                // The facets are 6e-4 within the sphere, trilinear values h²/8R without it, more at a slant.
                Some(depth) => assert!((depth - (-b - root.sqrt()) / a).abs() < 3e-3, "{depth} at {x}, {z}"),
                None => assert!(root < 1e-3, "missed at {x}, {z}"),
            }
            if root > 1e-2 {
                let p = ray.at((-b - root.sqrt()) / a);
                assert!((picture.normal(p) - p).length() < 0.02, "the normal of a sphere is radial");
            }
        }
        assert_eq!(picture.meet(&Ray { eye: stand().eye, along: DVec3::new(0.2, 1.0, 0.0) }), None);
    }

    #[test]
    fn a_sphere_in_front_hides_the_ray_and_one_deep_inside_does_not() {
        let picture = ball(SIZE);
        let draw = |spheres: &[(DVec3, f64)]| picture.draw(spheres, 0.05);
        let bare = draw(&[]).unwrap();
        let warm = |c: [u8; 3]| i32::from(c[0]) - i32::from(c[2]);
        assert!(warm(pixel(&bare, 32, 32)) < 0, "the skin is blue");
        let front = draw(&[(DVec3::new(0.0, -1.0, 0.0), 0.1)]).unwrap();
        assert!(warm(pixel(&front, 32, 32)) > 30, "the sphere is sand");
        assert_eq!(pixel(&front, 20, 20), pixel(&bare, 20, 20), "beside it nothing changes");
        let inside = draw(&[(DVec3::new(0.0, 0.0, 0.0), 0.2)]).unwrap();
        let [a, b] = [&inside, &bare].map(|i| pixel(i, 32, 32));
        assert!((0..3).all(|k| a[k].abs_diff(b[k]) <= 1), "0.8 m of murk hide it: {a:?} {b:?}");
        let below = draw(&[(DVec3::new(0.0, -0.89, 0.0), 0.1)]).unwrap();
        assert!(warm(pixel(&below, 32, 32)) > 20, "a hundredth of a metre does not");
    }

    #[test]
    fn the_picture_does_not_depend_on_threads_and_sizes_are_checked() {
        let spheres = [(DVec3::new(0.5, -1.0, 0.2), 0.3)];
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ball([96, 40]).draw(&spheres, 0.05).unwrap())
        };
        assert_eq!(draw(1), draw(3));
        let field = ball(SIZE).field;
        let wide = FieldPicture::new(field, stand(), &Light::default(), [5000, 40], 2);
        assert!(matches!(wide, Err(RenderError::Size { limit: 4096, .. })));
    }
}
