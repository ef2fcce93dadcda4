//! Draws a heap of grains on a floor behind a pane, and says what each part of it costs.
//! `cargo run --release -p barchan-render --example heap -- 64000 1280x720 4 heap.ppm`

use barchan_render::{Finish, GpuRenderer, Light, Line, Mesh, Picture, Quality, Renderer, Sphere, View};
use glam::Vec3;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let grains: usize = arguments.next().unwrap_or("64000".into()).parse()?;
    let size = arguments.next().unwrap_or("1280x720".into());
    let (width, height) = size.split_once('x').ok_or("the size is written 1280x720")?;
    let samples: u32 = arguments.next().unwrap_or("4".into()).parse()?;
    let picture = heap(grains);
    let size = [width.parse()?, height.parse()?];
    let view =
        View { eye: Vec3::new(0.5, -3.1, 1.5), target: Vec3::new(0.0, 0.0, 0.42), up: Vec3::Z, field: 0.6, size };
    let light = Light::default();
    let mut gpu = GpuRenderer::new()?;
    println!("{}", gpu.name());
    let mut image = None;
    for (shadows, occlusion) in [(true, true), (false, false)] {
        let quality = Quality { samples, shadows, occlusion };
        for _ in 0..4 {
            let start = Instant::now();
            let drawn = gpu.draw(&picture, &view, &light, &quality)?;
            println!("shadows {shadows}, occlusion {occlusion}: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
            image.get_or_insert(drawn);
        }
    }
    if let (Some(path), Some(image)) = (arguments.next(), image) {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        write!(file, "P6 {} {} 255\n", image.width, image.height)?;
        for pixel in image.rgba.chunks(4) {
            file.write_all(&pixel[..3])?;
        }
    }
    Ok(())
}

/// Grains on a shaken lattice under a cone, a solid block, a pane and its edges.
fn heap(grains: usize) -> Picture {
    // A cone of slope 0.6 and unit radius holds π/3·0.6 of volume, of which the grains fill some 0.6.
    let radius = (std::f32::consts::PI / 3.0 * 0.6 * 0.6 / (grains as f32 * 4.189)).cbrt();
    let mut state = 1u32;
    let mut random = move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / 16777216.0
    };
    let pitch = 1.92 * radius;
    let n = (1.1 / pitch) as i32;
    let mut spheres = Vec::new();
    for k in 0..n {
        for j in -n..n {
            for i in -n..n {
                let shake = Vec3::new(random(), random(), random()) * 0.4 - 0.2;
                let p = (Vec3::new(i as f32, j as f32, k as f32) + shake) * pitch + Vec3::Z * radius;
                if p.z - radius < 0.6 * (1.0 - p.truncate().length()) && spheres.len() < 2 * grains {
                    let tone = 0.8 + 0.4 * random();
                    let colour = (Vec3::new(0.62, 0.45, 0.26) * tone).to_array();
                    let r = radius * (0.85 + 0.2 * random());
                    spheres.push(Sphere { centre: p.to_array(), radius: r, colour, grain: spheres.len() as u32 });
                }
            }
        }
    }
    let quad = |at: Vec3, u: Vec3, v: Vec3, colour, finish| Mesh {
        vertices: vec![at, at + u, at + v, at + u + v],
        normals: vec![u.cross(v).normalize(); 4],
        triangles: vec![[0, 1, 2], [1, 3, 2]],
        colour,
        finish,
    };
    let corner = Vec3::new(-1.0, -1.05, 0.0);
    let wall = quad(Vec3::new(-1.0, 1.0, 0.0), Vec3::X * 2.0, Vec3::Z * 0.5, Vec3::new(0.3, 0.35, 0.4), Finish::Solid);
    let pane = quad(corner, Vec3::X * 2.0, Vec3::Z * 0.5, Vec3::ONE, Finish::Glass);
    let top = Line {
        ends: [corner + Vec3::Z * 0.5, corner + Vec3::new(2.0, 0.0, 0.5)],
        colour: Vec3::splat(0.05),
        width: 2.0,
        opacity: 0.8,
    };
    Picture {
        spheres,
        meshes: vec![wall, pane],
        lines: vec![top],
        floor: Some((0.0, Vec3::splat(0.55))),
        ..Default::default()
    }
}
