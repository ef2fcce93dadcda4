//! A distance field, ray-cast, with spheres that hide the rays they cover [Longmore 2009, 6.4].
//!
//! A ray goes through the field in steps as long as the distance it reads [Hart 1996, "Sphere tracing"] until it is at the
//! surface, whose normal is the field's gradient. Spheres are found by [`CpuRenderer::trace`]. What lies in front hides the
//! rest; a sphere below the surface is seen through it as through murky resin, the dimmer the deeper, so that spheres that
//! line a body from inside show. Light, shade and colours are those of [`crate::look`]; openness and the sun's shadow are read
//! from the field. Every sample is for itself: the picture is the same on any number of threads.

use crate::{CpuRenderer, Image, Light, Picture, RenderError, Sphere, Stand, look};
use barchan_core::sdf::Field;
use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;

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

/// A depth of murk over the radius of spheres that shows those lining a body, and not those behind them.
pub const MURK: f64 = 0.5;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct FieldPicture<'a> {
    /// The field.
    pub field: &'a Field,
    /// Spheres (centre, radius [m]).
    pub spheres: &'a [(DVec3, f64)],
    /// Depth below the surface at which a sphere is seen at 1/e [m].
    pub murk: f64,
    /// Reflectance of the surface, linear RGB.
    pub skin: Vec3,
    /// Reflectance of the spheres, linear RGB.
    pub sphere: Vec3,
}

impl<'a> FieldPicture<'a> {
    /// A slate-blue surface with spheres of sand.
    pub fn new(field: &'a Field, spheres: &'a [(DVec3, f64)], murk: f64) -> FieldPicture<'a> {
        let (skin, sphere) = (Vec3::new(0.20, 0.31, 0.43), Vec3::new(0.78, 0.52, 0.22));
        FieldPicture { field, spheres, murk, skin, sphere }
    }

    /// Draws it with `side`² samples a pixel.
    pub fn draw(&self, stand: &Stand, light: &Light, size: [u32; 2], side: u32) -> Result<Image, RenderError> {
        let side = side.clamp(1, 4);
        let [width, height] = size;
        let too_large = RenderError::Size { width, height, limit: look::SIZE_MOST / side };
        let fine = [width, height].map(|n| n.checked_mul(side).filter(|n| *n <= look::SIZE_MOST));
        let [Some(fine_width), Some(fine_height)] = fine else { return Err(too_large) };
        let origin = stand.target;
        let ball = |(k, &(c, r)): (usize, &(DVec3, f64))| Sphere {
            centre: (c - origin).as_vec3().to_array(),
            radius: r as f32,
            colour: self.sphere.to_array(),
            grain: k as u32,
        };
        let picture =
            Picture { origin, spheres: self.spheres.iter().enumerate().map(ball).collect(), ..Picture::default() };
        let view = look::upright(&stand.view(origin, [fine_width, fine_height]));
        let traced = CpuRenderer::default().trace(&picture, &view)?;
        let up = view.up.as_dvec3();
        let axes = Stand { up, ..*stand }.axes();
        let light = Light { to_sun: light.to_sun.try_normalize().unwrap_or(Vec3::Z), ..*light };
        let mut rgba = vec![255; 4 * width as usize * height as usize];
        rgba.par_chunks_mut(4 * width as usize).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
                let mut sum = Vec3::ZERO;
                for k in 0..side * side {
                    let (i, j) = (x as u32 * side + k % side, y as u32 * side + k / side);
                    let slope = look::ray(&view, Vec2::new(i as f32 + 0.5, j as f32 + 0.5)).as_dvec2();
                    let ray = Ray { eye: stand.eye, along: axes[2] + axes[0] * slope.x + axes[1] * slope.y };
                    let at = (j * fine_width + i) as usize;
                    let sphere = match traced.seen[at] {
                        crate::cpu::Seen::Grain(k) => Some((f64::from(traced.depth[at]), self.spheres[k as usize].0)),
                        _ => None,
                    };
                    let down = (j as f32 + 0.5) / fine_height as f32;
                    sum += self.sample(&ray, sphere, &light).unwrap_or_else(|| look::background(&light, down));
                }
                pixel[..3].copy_from_slice(&look::encode(&light, sum / (side * side) as f32, x as u32, y as u32));
            }
        });
        Ok(Image { width, height, rgba })
    }

    /// Light along a ray that meets a sphere (depth [m], its centre) or none; none where it meets nothing.
    fn sample(&self, ray: &Ray, sphere: Option<(f64, DVec3)>, light: &Light) -> Option<Vec3> {
        let skin = self.meet(ray);
        let to_eye = -ray.along.normalize().as_vec3();
        let of_sphere = |(depth, centre): (f64, DVec3)| {
            let p = ray.at(depth);
            self.lit(p, (p - centre).normalize_or_zero(), to_eye, self.sphere, light)
        };
        let of_skin = |depth: f64| {
            let p = ray.at(depth);
            self.lit(p, self.normal(p), to_eye, self.skin, light)
        };
        match (skin, sphere) {
            (None, None) => None,
            (None, Some(s)) => Some(of_sphere(s)),
            (Some(depth), None) => Some(of_skin(depth)),
            (Some(depth), Some(s)) if s.0 <= depth => Some(of_sphere(s)),
            (Some(depth), Some(s)) => {
                let seen = (-(s.0 - depth) * ray.along.length() / self.murk).exp() as f32;
                // What does not make half a level of a channel is not computed.
                Some(match seen < 2e-3 {
                    true => of_skin(depth),
                    false => of_skin(depth).lerp(of_sphere(s), seen),
                })
            }
        }
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

    fn lit(&self, p: DVec3, n: DVec3, to_eye: Vec3, colour: Vec3, light: &Light) -> Vec3 {
        // What lies below the surface is lit as if it lay on it.
        let below = (-self.field.distance(p)).max(0.0);
        let open = self.open(p, n, below);
        let to_sun = light.to_sun.as_dvec3();
        let sun = if n.dot(to_sun) > 0.0 {
            self.sun(p + (below + 2.0 * self.field.cell()) * self.normal(p), to_sun)
        } else {
            0.0
        };
        look::shade(light, colour, n.as_vec3(), to_eye, sun, open)
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

    fn ball() -> Field {
        Field::build(&Mesh::sphere(1.0, 5), 0.05, 0.2).unwrap()
    }

    fn pixel(image: &Image, x: u32, y: u32) -> [u8; 3] {
        let at = 4 * (y * image.width + x) as usize;
        [image.rgba[at], image.rgba[at + 1], image.rgba[at + 2]]
    }

    #[test]
    fn rays_meet_the_surface_where_the_sphere_is() {
        let field = ball();
        let picture = FieldPicture::new(&field, &[], 0.05);
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
        let field = ball();
        let draw = |spheres: &[(DVec3, f64)]| {
            FieldPicture::new(&field, spheres, 0.05).draw(&stand(), &Light::default(), SIZE, 2)
        };
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
        let field = ball();
        let spheres = [(DVec3::new(0.5, -1.0, 0.2), 0.3)];
        let picture = FieldPicture::new(&field, &spheres, 0.05);
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| picture.draw(&stand(), &Light::default(), [96, 40], 1).unwrap())
        };
        assert_eq!(draw(1), draw(3));
        assert!(matches!(picture.draw(&stand(), &Light::default(), [5000, 40], 2), Err(RenderError::Size { .. })));
    }
}
