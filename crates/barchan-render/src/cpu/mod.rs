//! The renderer without a GPU: the look of [`crate::look`] on threads.
//!
//! [`CpuRenderer::draw`] shows the passes: `see` finds the nearest surface of every sample, tile by tile, front to back;
//! `sun` does the same from the sun; `open` measures openness of every second pixel; `shade` gives each pixel its colour. Each pass
//! gives tiles or rows to threads, none reads what another tile writes in the same pass, so the picture is the same on any
//! number of threads. Spheres and triangles are drawn into tiles of 32×32 samples; deep inside a heap nothing is drawn
//! twice. Samples of a pixel that see the same surface are shaded once, at their mean ray.

mod eye;
mod open;
mod overlay;
mod shapes;
mod sun;
mod tiles;

use crate::ground;
use crate::look::{self, Extent, SunMap};
use crate::{Image, Light, Mesh, Picture, Quality, RenderError, Renderer, View};
use eye::Eye;
use glam::{Vec2, Vec3};
use open::Openness;
use overlay::{Overlay, Under};
use rayon::prelude::*;
use tiles::{CELLS, FLOOR, TILE};

pub(crate) use sun::Sun;

/// Draws on threads; runs in the rayon pool it is called from. Keeps its buffers from picture to picture.
pub struct CpuRenderer {
    balls: Vec<shapes::Ball>,
    bins: tiles::Bins,
    depth: Vec<f32>,
    seen: Vec<u32>,
    sun: Sun,
    open: Openness,
    pixels: Vec<[u8; 4]>,
}

/// What a pixel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Background.
    Nothing,
    /// The grain of this row ([`crate::Sphere::grain`]).
    Grain(u32),
    /// The solid mesh of this number.
    Mesh(u32),
    /// The ground.
    Ground,
    /// The floor.
    Floor,
}

/// What every pixel's middle shows, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Surfaces {
    /// Pixels in a row, rows.
    pub size: [u32; 2],
    /// Depth along the direction of view [m]; infinite where there is nothing.
    pub depth: Vec<f32>,
    /// What is there.
    pub seen: Vec<Seen>,
}

impl Default for CpuRenderer {
    fn default() -> Self {
        CpuRenderer {
            balls: Vec::new(),
            bins: tiles::Bins::default(),
            depth: Vec::new(),
            seen: Vec::new(),
            sun: Sun::new(),
            open: Openness::default(),
            pixels: Vec::new(),
        }
    }
}

impl Renderer for CpuRenderer {
    fn name(&self) -> String {
        match rayon::current_num_threads() {
            1 => "cpu, 1 thread".into(),
            n => format!("cpu, {n} threads"),
        }
    }

    fn draw(&mut self, picture: &Picture, view: &View, light: &Light, quality: &Quality) -> Result<Image, RenderError> {
        check(view)?;
        let light = Light { to_sun: light.to_sun.try_normalize().unwrap_or(Vec3::Z), ..*light };
        let extent = Extent::of(picture, view);
        let laid = ground::lay(picture, &look::upright(view));
        let picture = &*laid;
        let eye = Eye::open(picture, view, quality.side(), &mut self.balls);
        eye.see(&mut self.bins, &mut self.depth, &mut self.seen);
        if quality.shadows {
            self.sun.see(picture, &SunMap::fit(picture, &extent, &light, &eye.view), light.softness);
        }
        if quality.occlusion {
            self.open.measure(&eye, &extent, &self.depth, &self.seen);
        }
        let side = eye.side as usize;
        let shading = Shading {
            eye: &eye,
            light: &light,
            extent: &extent,
            floor_reach: look::floor_reach(&extent, picture.floor.map_or(0.0, |f| f.0)),
            sun: quality.shadows.then_some(&self.sun),
            open: quality.occlusion.then_some(&self.open),
            overlay: Overlay::new(picture, &eye, &light),
            curve: Curve::new(&light),
            cells: std::array::from_fn(|k| k % side + k / side * TILE),
            slopes: std::array::from_fn(|k| eye.slope([(k % side) as u32, (k / side) as u32]) - eye.slope([0, 0])),
        };
        Ok(shading.shade(&self.depth, &self.seen, &mut self.pixels))
    }
}

impl CpuRenderer {
    /// What every pixel's middle shows: for picking and measuring.
    pub fn trace(&mut self, picture: &Picture, view: &View) -> Result<Surfaces, RenderError> {
        check(view)?;
        let laid = ground::lay(picture, &look::upright(view));
        let eye = Eye::open(&laid, view, 1, &mut self.balls);
        eye.see(&mut self.bins, &mut self.depth, &mut self.seen);
        let [width, height] = view.size;
        let cells: Vec<usize> =
            (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| eye.grid.cell(x, y)).collect();
        Ok(Surfaces {
            size: view.size,
            depth: cells.iter().map(|&c| self.depth[c]).collect(),
            seen: cells.iter().map(|&c| eye.what(self.seen[c])).collect(),
        })
    }
}

pub(crate) fn check(view: &View) -> Result<(), RenderError> {
    let [width, height] = view.size;
    let fits = |n: u32| (look::SIZE_LEAST..=look::SIZE_MOST).contains(&n);
    if fits(width) && fits(height) { Ok(()) } else { Err(RenderError::Size { width, height, limit: look::SIZE_MOST }) }
}

/// Corners of a triangle, if the mesh has them.
fn corners(mesh: &Mesh, t: &[u32; 3]) -> Option<[Vec3; 3]> {
    let [a, b, c] = t.map(|i| mesh.vertices.get(i as usize).copied().filter(|p| p.is_finite()));
    Some([a?, b?, c?])
}

/// What the last pass reads.
struct Shading<'a> {
    eye: &'a Eye<'a>,
    light: &'a Light,
    extent: &'a Extent,
    /// Unit of the floor's fading [m].
    floor_reach: f32,
    sun: Option<&'a Sun>,
    open: Option<&'a Openness>,
    overlay: Overlay<'a>,
    curve: Curve,
    /// Cell of each sample of a pixel, counted from its first.
    cells: [usize; 16],
    /// Slopes of each sample of a pixel, counted from its first.
    slopes: [Vec2; 16],
}

/// [`look::encode`] from a table over the light's exponent and the first bits of its fraction, straight in between: within a
/// hundredth of a level.
struct Curve {
    exposure: f32,
    levels: Vec<f32>,
}

impl Curve {
    /// Light between which levels differ.
    const ENDS: [f32; 2] = [3.8e-6, 8.0];
    /// Bits of the fraction that do not choose the entry.
    const REST: u32 = 16;

    fn new(light: &Light) -> Self {
        let [least, most] = Self::ENDS.map(|end| end.to_bits() >> Self::REST);
        let level = |i: u32| 255.0 * look::srgb(look::filmic(Vec3::splat(f32::from_bits(i << Self::REST))).x);
        Curve { exposure: light.exposure, levels: (least..=most + 1).map(level).collect() }
    }

    /// Bytes of pixel (x, y).
    fn encode(&self, mean: Vec3, x: u32, y: u32) -> [u8; 4] {
        let dither = (look::pattern(x, y) as f32 + 0.5) / 16.0;
        let first = Self::ENDS[0].to_bits() >> Self::REST;
        let [r, g, b] = (mean * self.exposure).to_array().map(|c| {
            // What is no number is black.
            let bits = (if c > Self::ENDS[0] { c.min(Self::ENDS[1]) } else { Self::ENDS[0] }).to_bits();
            let i = ((bits >> Self::REST) - first) as usize;
            let part = (bits & ((1 << Self::REST) - 1)) as i32 as f32 / (1 << Self::REST) as f32;
            let [low, high] = [self.levels[i], self.levels[i + 1]];
            (low + (high - low) * part + dither) as i32 as u8
        });
        [r, g, b, 255]
    }
}

impl Shading<'_> {
    /// Colours every pixel: tile by tile, then in rows.
    fn shade(&self, depth: &[f32], seen: &[u32], pixels: &mut Vec<[u8; 4]>) -> Image {
        let (grid, side) = (&self.eye.grid, self.eye.side);
        let [width, height] = self.eye.view.size;
        let span = (grid.span / side) as usize;
        pixels.resize(grid.len() * span * span, [0; 4]);
        let tiles = pixels.par_chunks_mut(span * span).zip(depth.par_chunks(CELLS)).zip(seen.par_chunks(CELLS));
        tiles.enumerate().for_each_init(
            || (Vec::new(), vec![Vec3::ZERO; CELLS]),
            |(room, light), (t, ((pixels, depth), seen))| {
                let first = grid.first(t).map(|n| n / side);
                let cell = |n: usize| (n % span + n / span * TILE) * side as usize;
                let inside = |n: usize| (first[0] + (n % span) as u32, first[1] + (n / span) as u32);
                let bare = self.overlay.is_bare(t);
                for (n, pixel) in pixels.iter_mut().enumerate() {
                    let (x, y) = inside(n);
                    if x < width && y < height {
                        let mean = self.pixel(x, y, cell(n), seen, light);
                        if bare {
                            *pixel = self.curve.encode(mean, x, y);
                        }
                    }
                }
                if bare {
                    return;
                }
                self.overlay.lay(self.eye, self.light, room, &mut Under { tile: t, depth, light });
                for (n, pixel) in pixels.iter_mut().enumerate() {
                    let (x, y) = inside(n);
                    let mut sum = Vec3::ZERO;
                    for k in 0..(side * side) as usize {
                        sum += light[cell(n) + self.cells[k]];
                    }
                    *pixel = self.curve.encode(sum / (side * side) as f32, x, y);
                }
            },
        );
        let mut rgba = vec![0; (width * height * 4) as usize];
        rgba.par_chunks_mut(width as usize * 4).enumerate().for_each(|(y, row)| {
            let band = y / span * grid.columns as usize;
            for (tile, part) in row.chunks_mut(span * 4).enumerate() {
                let start = (band + tile) * span * span + y % span * span;
                part.copy_from_slice(&pixels[start..start + part.len() / 4].as_flattened()[..part.len()]);
            }
        });
        Image { width, height, rgba }
    }

    /// Light of the samples of a pixel, those of one surface at once, and its mean. `first`: cell of its first sample.
    fn pixel(&self, x: u32, y: u32, first: usize, seen: &[u32], light: &mut [Vec3]) -> Vec3 {
        let side = self.eye.side as usize;
        let mut left = (1u32 << (side * side)) - 1;
        let corner = self.eye.slope([x * side as u32, y * side as u32]);
        let mut sum = Vec3::ZERO;
        while left != 0 {
            let number = seen[first + self.cells[left.trailing_zeros() as usize]];
            let (mut same, mut mean) = (0u32, Vec2::ZERO);
            for k in 0..side * side {
                if left >> k & 1 == 1 && seen[first + self.cells[k]] == number {
                    same |= 1 << k;
                    mean += self.slopes[k];
                }
            }
            let count = same.count_ones() as f32;
            let colour = self.surface(number, corner + mean / count, x, y);
            for k in (0..side * side).filter(|k| same >> k & 1 == 1) {
                light[first + self.cells[k]] = colour;
            }
            sum += colour * count;
            left &= !same;
        }
        sum / (side * side) as f32
    }

    /// Light of a surface along a ray of pixel (x, y).
    fn surface(&self, number: u32, slope: Vec2, x: u32, y: u32) -> Vec3 {
        let light = self.light;
        let down = 0.5 - slope.y * self.eye.focal / self.eye.view.size[1] as f32;
        let Some(spot) = self.eye.spot(number, slope) else { return look::background(light, down) };
        let p = self.eye.point(slope, spot.depth);
        let seen = if number == FLOOR { look::floor_share(self.extent, self.floor_reach, p) } else { 1.0 };
        if seen == 0.0 {
            return look::background(light, down);
        }
        let lit = spot.normal.dot(light.to_sun) > 0.0 && spot.plane.dot(light.to_sun) > 0.0;
        let share = match self.sun {
            Some(sun) if lit => {
                let lift = if spot.mottled.is_some() { look::GROUND_LIFT * sun.texel() } else { 0.0 };
                sun.share(p + light.to_sun * lift, spot.plane, look::pattern(x, y) as usize)
            }
            Some(_) => 0.0,
            None => 1.0,
        };
        let [_, reach] = look::open_reach(self.extent.grain, self.eye.focal, self.eye.view.size[1], spot.depth);
        let open = match self.open {
            Some(open) if number != FLOOR || !look::floor_open(self.extent, p, reach) => {
                open.at(spot.depth, reach, x, y)
            }
            _ => 1.0,
        };
        let to_eye = (self.eye.view.eye - p).normalize_or(Vec3::Z);
        let colour = match spot.mottled {
            Some(diameter) if diameter > 0.0 => {
                spot.colour * look::mottle(p, diameter, diameter * self.eye.focal / spot.depth)
            }
            _ => spot.colour,
        };
        let snow = light.snow.as_ref().map(|snow| (snow, look::snowy(colour))).filter(|(_, part)| *part > 0.0);
        let mut shaded = match snow {
            Some((_, part)) if part >= 1.0 => Vec3::ZERO,
            _ => look::shade(light, colour, spot.normal, to_eye, share, open),
        };
        if let Some((snow, part)) = snow {
            let (anchor, still) = spot.anchor;
            let at = look::SnowSpot { place: p - anchor, still, pixel: spot.depth / self.eye.focal };
            let white = look::shade_snow(light, snow, &at, colour, spot.normal, to_eye, share, open);
            shaded = shaded.lerp(white, part);
        }
        if let Some(fog) = &light.fog {
            let way = p - self.eye.view.eye;
            shaded = look::background(light, down).lerp(shaded, look::fog_share(fog, way.length(), way.z));
        }
        if seen < 1.0 { look::background(light, down).lerp(shaded, seen) } else { shaded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_the_bytes_of_the_look() {
        let light = Light::default();
        let curve = Curve::new(&light);
        let (mut other, mut count) = (0, 0);
        for i in 0..40_000u32 {
            // Evenly over the exponents, down to nothing and up beyond white.
            let x = 2f32.powf(-24.0 + 30.0 * i as f32 / 40_000.0);
            let mean = Vec3::new(x, 0.5 * x, 0.1 * x);
            let (here, exact) = (curve.encode(mean, i, i / 4), look::encode(&light, mean, i, i / 4));
            for (a, b) in here.into_iter().zip(exact) {
                assert!(a.abs_diff(b) <= 1, "{a} for {b} at {mean}");
                other += i32::from(a != b);
                count += 1;
            }
        }
        // A byte differs where dither leaves less than the table's error: a hundredth of them.
        assert!(other * 100 < count, "{other} of {count} bytes differ");
        assert_eq!(curve.encode(Vec3::ZERO, 3, 0), [0, 0, 0, 255]);
        assert_eq!(curve.encode(Vec3::NAN, 0, 0), [0, 0, 0, 255]);
        assert_eq!(curve.encode(Vec3::splat(1e9), 0, 0), [255; 4]);
    }
}
