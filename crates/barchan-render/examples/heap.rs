//! Pictures of a poured heap, and what they cost (best of nine, in processor time where the system tells it):
//! `cargo run --release -p barchan-render --example heap -- heap.png 64000`. After the number of grains: how near the eye is
//! (1), then `glass` for a box around the heap, `gpu` to draw with an adapter.

use barchan_render::{
    CpuRenderer, Extent, Finish, GpuRenderer, Light, Line, Mesh, Picture, Quality, Renderer, Sphere, View,
};
use glam::{Vec2, Vec3};
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

/// Grains dropped one by one, each rolling down to where it finds no lower place within reach, if that is inside a cone of
/// repose that holds `count` of them.
fn heap(count: usize, radius: f32) -> Vec<Sphere> {
    let mut random = Random(0x5eed);
    let cell = 2.4 * radius;
    let half = 2 * (count as f32).cbrt() as i32 + 8;
    let side = (2 * half) as usize;
    let mut columns: Vec<Vec<(Vec3, f32)>> = vec![Vec::new(); side * side];
    let at = |p: Vec2| {
        let [i, j] = (p / cell).floor().to_array().map(|c| (c as i32 + half).clamp(1, 2 * half - 2) as usize);
        j * side + i
    };
    let rest = |columns: &[Vec<(Vec3, f32)>], p: Vec2, r: f32| {
        let here = at(p);
        let around = [here - side - 1, here - 1, here + side - 1];
        let near = around.iter().flat_map(|&c| &columns[c..c + 3]).flat_map(|c| c.iter().rev().take(6));
        near.fold(r, |height, (c, s)| {
            let square = (r + s) * (r + s) - (p - c.truncate()).length_squared();
            if square > 0.0 { height.max(c.z + square.sqrt()) } else { height }
        })
    };
    let slope = 0.6;
    let base = radius * (4.0 * count as f32 / (0.58 * slope)).cbrt();
    let mut room = 1.5 * radius;
    let mut spheres = Vec::with_capacity(count);
    for grain in 0..count {
        let r = radius * (0.85 + 0.3 * random.next());
        let (p, z) = loop {
            let mut p = Vec2::from_angle(random.next() * std::f32::consts::TAU) * base * random.next().sqrt();
            let mut z = rest(&columns, p, r);
            let (mut reach, mut tries) = (r, 0);
            while tries < 16 {
                let q = p + Vec2::from_angle(random.next() * std::f32::consts::TAU) * reach;
                let lower = rest(&columns, q, r);
                if lower < z {
                    (p, z, tries) = (q, lower, 0);
                } else {
                    tries += 1;
                    reach = (0.85 * reach).max(0.05 * r);
                }
            }
            // The cone grows with every grain that finds no room in it, or the last ones would take for ever.
            room += 2e-5 * radius;
            if z < slope * (base - p.length()) + room {
                room -= 2e-5 * radius;
                break (p, z);
            }
        };
        columns[at(p)].push((p.extend(z), r));
        let shade = 1.0 + 0.08 * (2.0 * random.next() - 1.0) + if random.next() < 0.04 { -0.3 } else { 0.0 };
        let colour = (Vec3::new(0.55, 0.40, 0.24) * shade).to_array();
        spheres.push(Sphere { centre: p.extend(z).to_array(), radius: r, colour, grain: grain as u32 });
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

/// A box of glass with its edges.
fn glass(low: Vec3, high: Vec3, picture: &mut Picture) {
    let corner = |i: usize| Vec3::select(glam::BVec3::new(i & 1 > 0, i & 2 > 0, i & 4 > 0), high, low);
    for [a, b, c, d] in [[0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]] {
        let vertices = [a, b, c, d].map(corner).to_vec();
        let normal = (vertices[1] - vertices[0]).cross(vertices[2] - vertices[0]).normalize();
        picture.meshes.push(Mesh {
            normals: vec![normal; 4],
            vertices,
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            colour: Vec3::new(0.85, 0.95, 1.0),
            finish: Finish::Glass,
            ..Mesh::default()
        });
    }
    for (a, b) in (0..8usize).flat_map(|i| [1, 2, 4].map(|bit| (i, i | bit))).filter(|(a, b)| a != b) {
        let ends = [corner(a), corner(b)];
        picture.lines.push(Line { ends, colour: Vec3::splat(0.15), width: 1.5, opacity: 0.6 });
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "heap.png".into());
    let count: usize = words.next().map_or(Ok(64_000), |w| w.parse())?;
    let zoom: f32 = words.next().map_or(Ok(1.0), |w| w.parse())?;
    let radius = 1e-3;
    let mut picture =
        Picture { spheres: heap(count, radius), floor: Some((0.0, Vec3::new(0.50, 0.48, 0.45))), ..Picture::default() };
    let mut view = View { eye: Vec3::NEG_Y, target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [1280, 720] };
    let extent = Extent::of(&picture, &view);
    let reach = extent.half.length();
    let wishes: Vec<String> = words.collect();
    let wished = |word: &str| wishes.iter().any(|w| w == word);
    if wished("glass") {
        let (low, high) = (extent.middle - extent.half * 1.1, extent.middle + extent.half * 1.2);
        glass(low.with_z(0.0), high, &mut picture);
    }
    let aim = Vec3::new(0.0, 0.0, (0.8 + 0.5 * (1.0 - 1.0 / zoom)) * extent.half.z);
    view.target = aim;
    view.eye = aim + Vec3::new(0.2, -2.6, 0.8) * reach / zoom;
    let mut renderer: Box<dyn Renderer> =
        if wished("gpu") { Box::new(GpuRenderer::new()?) } else { Box::new(CpuRenderer::default()) };
    let light = Light::default();
    let qualities = [
        ("plain", Quality { shadows: false, occlusion: false, ..Quality::default() }),
        ("shadows", Quality { occlusion: false, ..Quality::default() }),
        ("occlusion", Quality { shadows: false, ..Quality::default() }),
        ("one sample", Quality { samples: 1, ..Quality::default() }),
        ("all", Quality::default()),
    ];
    let mut least = [f64::INFINITY; 5];
    let begun = Instant::now();
    // In turns, so that a machine that slows down does so for all of them.
    for _ in 0..9 {
        for ((what, quality), least) in qualities.iter().zip(&mut least) {
            let start = spent(begun);
            let image = renderer.draw(&picture, &view, &light, quality)?;
            *least = least.min(spent(begun) - start);
            if *what == "all" {
                let mut encoder = png::Encoder::new(
                    std::io::BufWriter::new(std::fs::File::create(&path)?),
                    image.width,
                    image.height,
                );
                encoder.set_color(png::ColorType::Rgba);
                encoder.write_header()?.write_image_data(&image.rgba)?;
            }
        }
    }
    for ((what, _), time) in qualities.iter().zip(least) {
        let (ms, ratio) = (time * 1e3, time / least[0]);
        println!("{what:<10} {count} grains on {}: {ms:.0} ms, {ratio:.2} × plain", renderer.name());
    }
    Ok(())
}
