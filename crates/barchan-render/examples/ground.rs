//! Pictures of a ground with grains on it, and what they cost (best of five, in processor time where the system tells it):
//! `cargo run --release -p barchan-render --example ground -- ground.png close 1000 16000`. After the name: `close`, `mid`,
//! `far` or `top`, cells along a side, grains, then `gpu` to draw with an adapter. On the left half of the mound lie grains, two deep; on the
//! right half there is only ground: where is the seam?

use barchan_core::relief::Relief;
use barchan_render::{CpuRenderer, GpuRenderer, Ground, Light, Picture, Quality, Renderer, Sphere, View};
use glam::{DVec2, DVec3, Vec2, Vec3};
use std::f32::consts::TAU;
use std::time::Instant;

/// Numbers from 0 to 1 [xorshift*, Vigna 2016].
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u64 << 24) as f32
    }
}

const RADIUS: f32 = 2e-3;
const CELL: f64 = 0.02;
const COLOUR: Vec3 = Vec3::new(0.55, 0.40, 0.24);

/// A mound in the middle, ripples around it, a track across.
fn relief(side: usize) -> Relief {
    let half = 0.5 * side as f64 * CELL;
    let mut relief =
        Relief { origin: DVec3::new(-half, -half, -0.3), cell: CELL, size: [side; 2], height: vec![0.0; side * side] };
    for cell in 0..side * side {
        let p = relief.point(cell).truncate();
        let mound = (0.16 - 0.5 * p.length()).max(0.0);
        let ripples = 0.006 * (TAU as f64 * (p.x / 0.17 + 0.4 * (1.3 * p.y).sin())).sin() * (p.length() / 0.4).min(1.0);
        let dunes = 0.15 * ((0.6 * p.x + 0.2 * p.y).sin() * (0.45 * p.y).cos() - 0.2) * (p.length() / 4.0).min(1.0);
        let track = -0.03 * (-((p.y + 0.45 + 0.1 * (2.0 * p.x).sin()) / 0.05).powi(4)).exp();
        relief.height[cell] = 0.3 + mound + ripples + dunes + track;
    }
    relief
}

/// Grains dropped on the left half of the mound, each resting on the ground or on those before it.
fn grains(relief: &Relief, count: usize) -> Vec<Sphere> {
    let mut random = Random(0x5eed);
    let cell = 2.4 * RADIUS;
    let reach = 2.0 * (count as f32).sqrt() * RADIUS * 0.75;
    let side = 2 * (reach / cell) as i32 + 8;
    let mut columns: Vec<Vec<(Vec3, f32)>> = vec![Vec::new(); (side * side) as usize];
    let at = |p: Vec2| {
        let [i, j] = (p / cell).floor().to_array().map(|c| (c as i32 + side / 2).clamp(1, side - 2));
        (j * side + i) as usize
    };
    let mut spheres = Vec::new();
    for grain in 0..count {
        let r = RADIUS * (0.85 + 0.3 * random.next());
        let angle = 0.25 * TAU + 0.5 * TAU * random.next();
        let mut p = Vec2::from_angle(angle) * reach * random.next().sqrt();
        let rest = |p: Vec2| {
            let over = relief.over(p.x.into(), p.y.into()).map_or(0.0, |o| o.z) as f32;
            let here = at(p) as i32;
            let mut z = over - 0.2 * r;
            for c in [-side - 1, -side, -side + 1, -1, 0, 1, side - 1, side, side + 1] {
                for (q, s) in &columns[(here + c) as usize] {
                    let square = (r + s) * (r + s) - (p - q.truncate()).length_squared();
                    if square > 0.0 {
                        z = z.max(q.z + square.sqrt());
                    }
                }
            }
            (z, z - over)
        };
        let mut found = rest(p);
        for _ in 0..24 {
            let q = p + Vec2::from_angle(random.next() * TAU) * r;
            let lower = rest(q);
            if lower.1 < found.1 && q.x < 0.0 {
                (p, found) = (q, lower);
            }
        }
        columns[at(p)].push((p.extend(found.0), r));
        let shade = 1.0 + 0.08 * (2.0 * random.next() - 1.0) + if random.next() < 0.04 { -0.3 } else { 0.0 };
        let colour = (COLOUR * shade).to_array();
        spheres.push(Sphere { centre: p.extend(found.0).to_array(), radius: r, colour, grain: grain as u32 });
    }
    spheres
}

/// Processor time of this process [s]: of all its threads, so that neighbours on the machine do not count; elsewhere than on
/// Linux, wall-clock time.
fn spent(since: Instant) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let stats = tasks.filter_map(|t| std::fs::read_to_string(t.path().join("schedstat")).ok());
    let nanoseconds: u64 = stats.filter_map(|s| s.split(' ').next()?.parse::<u64>().ok()).sum();
    if nanoseconds > 0 { nanoseconds as f64 * 1e-9 } else { since.elapsed().as_secs_f64() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "ground.png".into());
    let how = words.next().unwrap_or_else(|| "mid".into());
    let side: usize = words.next().map_or(Ok(1000), |w| w.parse())?;
    let count: usize = words.next().map_or(Ok(16_000), |w| w.parse())?;
    let mut renderer: Box<dyn Renderer> = match words.next().as_deref() {
        Some("gpu") => Box::new(GpuRenderer::new()?),
        _ => Box::new(CpuRenderer::default()),
    };
    let relief = relief(side);
    let spheres = grains(&relief, count);
    let (distance, field) = match how.as_str() {
        "close" => (0.35, 0.6),
        "far" => (9.0, 0.7),
        "top" => (14.0, 0.7),
        _ => (1.6, 0.6),
    };
    let top = relief.over(0.0, 0.0).map_or(DVec2::ZERO, |o| DVec2::new(0.0, o.z));
    let target = Vec3::new(0.0, -0.05, 0.7 * top.y as f32);
    let eye = target + distance * if how == "top" { Vec3::new(0.1, -0.3, 0.95) } else { Vec3::new(0.15, -0.85, 0.5) };
    let view = View { eye, target, up: Vec3::Z, field, size: [1280, 720] };
    let ground = Ground { relief: relief.into(), colour: COLOUR, variation: 0.6, radius: RADIUS, cover: None };
    let picture =
        Picture { spheres, ground: Some(ground), floor: Some((-0.3, Vec3::splat(0.33))), ..Picture::default() };
    let (begun, mut least) = (Instant::now(), f64::INFINITY);
    for _ in 0..5 {
        let start = spent(begun);
        let image = renderer.draw(&picture, &view, &Light::default(), &Quality::default())?;
        least = least.min(spent(begun) - start);
        let file = std::io::BufWriter::new(std::fs::File::create(&path)?);
        let mut encoder = png::Encoder::new(file, image.width, image.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.write_header()?.write_image_data(&image.rgba)?;
    }
    println!("{how}: {side}² cells, {count} grains on {}: {:.0} ms", renderer.name(), 1e3 * least);
    Ok(())
}
