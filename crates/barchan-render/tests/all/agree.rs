//! The two renderers draw the same picture.

use crate::common;

use barchan_core::relief::Relief;
use barchan_render::{
    CpuRenderer, Finish, Fog, Ground, Image, Light, Line, Mesh, Picture, Puff, Quality, Snow, Sphere, View,
};
use common::*;
use glam::{DVec3, Vec2, Vec3};

/// A heap of some thousand grains of many sizes on a floor, before a wall and a smooth drum, behind glass with edges.
fn heap() -> Picture {
    let mut state = 7u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let mut spheres = Vec::new();
    let pitch = 0.055;
    for (k, j, i) in (0..12).flat_map(|k| (-20..20).flat_map(move |j| (-20..20).map(move |i| (k, j, i)))) {
        let shake = Vec3::new(random(), random(), random()) - 0.5;
        let p = (Vec3::new(i as f32, j as f32, k as f32 + 0.5) + 0.4 * shake) * pitch;
        if p.z < 0.6 * (1.0 - p.truncate().length()) {
            let colour = (Vec3::new(0.55, 0.40, 0.24) * (0.7 + 0.5 * random())).to_array();
            let radius = pitch * (0.3 + 0.25 * random());
            spheres.push(Sphere { centre: p.to_array(), radius, colour, grain: spheres.len() as u32 });
        }
    }
    let quad = |at: Vec3, u: Vec3, v: Vec3, colour: Vec3, finish| Mesh {
        vertices: vec![at, at + u, at + v, at + u + v],
        normals: vec![u.cross(v).normalize(); 4],
        triangles: vec![[0, 1, 2], [1, 3, 2]],
        colour,
        finish,
        ..Mesh::default()
    };
    let wall = quad(Vec3::new(-1.2, 1.1, 0.0), Vec3::X, Vec3::Z * 0.7, Vec3::new(0.3, 0.35, 0.4), Finish::Solid);
    let corner = Vec3::new(-1.1, -1.1, 0.0);
    let pane = quad(corner, Vec3::new(1.4, 0.3, 0.0), Vec3::Z * 0.5, Vec3::new(0.85, 0.95, 1.0), Finish::Glass);
    // A drum of 24 facets with the normals of a cylinder.
    let mut drum = Mesh { colour: Vec3::new(0.5, 0.2, 0.15), ..Mesh::default() };
    for i in 0..24u32 {
        let (sin, cos) = (i as f32 * std::f32::consts::TAU / 24.0).sin_cos();
        for z in [0.0, 0.6] {
            drum.vertices.push(Vec3::new(0.9 + 0.25 * cos, 0.9 + 0.25 * sin, z));
            drum.normals.push(Vec3::new(cos, sin, 0.0));
        }
        let (a, b) = (2 * i, 2 * ((i + 1) % 24));
        drum.triangles.extend([[a, b, a + 1], [b, b + 1, a + 1]]);
    }
    let edge = |to: Vec3| Line { ends: [corner, to], colour: Vec3::splat(0.1), width: 3.0, opacity: 0.7 };
    let lines = vec![edge(corner + Vec3::Z * 0.5), edge(corner + Vec3::new(1.4, 0.3, 0.0))];
    let floor = Some((0.0, Vec3::new(0.50, 0.48, 0.45)));
    Picture { spheres, meshes: vec![wall, pane, drum], lines, floor, ..Picture::default() }
}

/// Mean and 99th percentile of the difference of two pictures' bytes, and the share that differs by more than 16.
fn differ(a: &Image, b: &Image) -> (f64, u8, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let mut off: Vec<u8> = a.rgba.iter().zip(&b.rgba).map(|(a, b)| a.abs_diff(*b)).collect();
    off.sort_unstable();
    let count = off.len() as f64;
    let mean = off.iter().map(|d| f64::from(*d)).sum::<f64>() / count;
    let far = off.iter().filter(|d| **d > 16).count() as f64 / count;
    (mean, off[off.len() * 99 / 100], far)
}

#[test]
fn gpu_and_cpu_draw_the_same_heap() {
    let Some(mut gpu) = gpu() else { return };
    let mut cpu = CpuRenderer::default();
    let picture = heap();
    assert!(picture.spheres.len() > 2000, "{} spheres", picture.spheres.len());
    let view = View {
        eye: Vec3::new(0.6, -3.2, 1.5),
        target: Vec3::new(0.0, 0.0, 0.2),
        up: Vec3::Z,
        field: 0.6,
        size: [487, 301],
    };
    let above = View { eye: Vec3::new(0.2, 0.1, 3.5), target: Vec3::ZERO, up: Vec3::Y, ..view };
    for view in [view, above] {
        for (samples, shadows, occlusion) in
            [(1, false, false), (1, true, false), (1, false, true), (1, true, true), (4, true, true), (9, true, true)]
        {
            let quality = Quality { samples, shadows, occlusion };
            let a = draw(&mut gpu, &picture, &view, &Light::default(), &quality);
            let b = draw(&mut cpu, &picture, &view, &Light::default(), &quality);
            let (mean, most, far) = differ(&a, &b);
            // Rays that graze an edge, and texels of the sun's map there, may fall on either side.
            assert!(
                mean < 0.02 && most <= 1 && far < 1e-4,
                "{quality:?}: mean {mean:.4}, 99 % within {most}, {far:.1e} far off"
            );
        }
    }
}

/// A wavy surface whose vertices have colours of their own: both renderers lay them smoothly over it.
#[test]
fn gpu_and_cpu_draw_the_same_surface_of_many_colours() {
    let n = 30;
    let at = |i: u32| Vec2::new((i % n) as f32, (i / n) as f32) / (n - 1) as f32 * 2.0 - 1.0;
    let height = |p: Vec2| 0.2 * (3.0 * p.x).sin() * (2.0 * p.y).cos();
    let slope =
        |p: Vec2| Vec2::new(0.6 * (3.0 * p.x).cos() * (2.0 * p.y).cos(), -0.4 * (3.0 * p.x).sin() * (2.0 * p.y).sin());
    let all = || (0..n * n).map(at);
    let quads = (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i));
    let surface = Mesh {
        vertices: all().map(|p| p.extend(height(p))).collect(),
        normals: all().map(|p| (-slope(p)).extend(1.0).normalize()).collect(),
        triangles: quads.flat_map(|a| [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]).collect(),
        colours: all().map(|p| Vec3::new(0.4 + 0.3 * p.x, 0.3, 0.4 - 0.35 * p.y)).collect(),
        ..Mesh::default()
    };
    let plain = Mesh { colour: Vec3::new(0.4, 0.3, 0.4), colours: vec![], ..surface.clone() };
    let view = View { eye: Vec3::new(0.6, -3.2, 2.5), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [487, 301] };
    let picture =
        |mesh: Mesh| Picture { meshes: vec![mesh], floor: Some((-0.4, Vec3::splat(0.4))), ..Picture::default() };
    let mut cpu = CpuRenderer::default();
    let quality = Quality::default();
    let b = draw(&mut cpu, &picture(surface.clone()), &view, &Light::default(), &quality);
    // Redder to the right, bluer in front.
    let pixel = |x: u32, y: u32, channel: u32| b.rgba[(4 * (y * b.width + x) + channel) as usize];
    assert!(pixel(340, 150, 0) > pixel(150, 150, 0) + 30, "{} {}", pixel(340, 150, 0), pixel(150, 150, 0));
    assert!(pixel(243, 220, 2) > pixel(243, 110, 2) + 30, "{} {}", pixel(243, 220, 2), pixel(243, 110, 2));
    let (mean, ..) = differ(&b, &draw(&mut cpu, &picture(plain), &view, &Light::default(), &quality));
    assert!(mean > 2.0, "{mean}");
    let Some(mut gpu) = gpu() else { return };
    let a = draw(&mut gpu, &picture(surface), &view, &Light::default(), &quality);
    let (mean, most, far) = differ(&a, &b);
    // Colours have eight bits a channel on their way to the adapter.
    assert!(mean < 0.3 && most <= 2 && far < 1e-4, "mean {mean:.4}, 99 % within {most}, {far:.1e} far off");
}

/// A rolling ground with a furrow, and some grains on it.
fn on_ground(radius: f32) -> Picture {
    let (side, cell) = (150, 0.04);
    let mut relief =
        Relief { origin: DVec3::new(-3.0, -3.0, -0.5), cell, size: [side; 2], height: vec![0.0; side * side] };
    for cell in 0..side * side {
        let p = relief.point(cell).truncate();
        let furrow = -0.1 * (-((p.y - 0.3 * p.x) / 0.15).powi(2)).exp();
        relief.height[cell] = 0.5 + 0.1 * (2.0 * p.x).sin() * (1.5 * p.y).cos() + furrow;
    }
    let grains = (0..300u32).map(|grain| {
        let (sin, cos) = (grain as f32 * 2.4).sin_cos();
        let at = 0.03 * (grain as f32).sqrt();
        let z = relief.over(f64::from(at * cos), f64::from(at * sin)).unwrap().z as f32;
        Sphere { centre: [at * cos, at * sin, z + 0.02], radius: 0.02, colour: [0.5, 0.4, 0.3], grain }
    });
    let spheres = grains.collect();
    let ground =
        Ground { relief: relief.into(), colour: Vec3::new(0.55, 0.40, 0.24), variation: 1.0, radius, cover: None };
    Picture { spheres, ground: Some(ground), floor: Some((-0.5, Vec3::splat(0.3))), ..Picture::default() }
}

#[test]
fn gpu_and_cpu_draw_the_same_ground() {
    let Some(mut gpu) = gpu() else { return };
    let mut cpu = CpuRenderer::default();
    let near = View {
        eye: Vec3::new(0.4, -1.6, 0.9),
        target: Vec3::new(0.0, 0.0, 0.0),
        up: Vec3::Z,
        field: 0.6,
        size: [487, 301],
    };
    let far = View { eye: Vec3::new(1.0, -8.0, 4.0), ..near };
    // Grains that are drawn, grains that only mottle, and grains too small for either.
    for (radius, view) in [(0.02, near), (0.02, far), (2e-3, near), (1e-5, far)] {
        for samples in [1, 4] {
            let (picture, quality) = (on_ground(radius), Quality { samples, ..Quality::default() });
            let a = draw(&mut gpu, &picture, &view, &Light::default(), &quality);
            let b = draw(&mut cpu, &picture, &view, &Light::default(), &quality);
            let (mean, most, off) = differ(&a, &b);
            // Where a cell of the mottling ends, rounding decides; grains that sink leave slivers.
            assert!(
                mean < 0.03 && most <= 1 && off < 5e-4,
                "radius {radius}, {samples} samples: mean {mean:.4}, 99 % within {most}, {off:.1e} far off"
            );
        }
    }
}

/// A snowy ground with a flow on it, part of which moves, spray, and fog that thins upwards.
fn avalanche() -> (Picture, Light) {
    let mut picture = on_ground(0.02);
    let white = Vec3::new(0.88, 0.89, 0.91);
    let ground = picture.ground.as_mut().unwrap();
    let cover: Vec<[f32; 3]> =
        (0..ground.relief.height.len()).map(|c| if c % 7 == 0 { [0.2; 3] } else { white.to_array() }).collect();
    ground.cover = Some(cover.into());
    picture.spheres.iter_mut().for_each(|s| s.colour = white.to_array());
    let n = 20;
    let at = |i: u32| Vec2::new((i % n) as f32, (i / n) as f32) / (n - 1) as f32 - 0.5;
    let quads = (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i));
    let triangles: Vec<[u32; 3]> = quads.flat_map(|a| [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]).collect();
    let anchor = |k: usize| if k.is_multiple_of(2) { [0.0, 0.0, 0.0, 1.0] } else { [3.7, -9.1, 0.4, 0.0] };
    let skin = Mesh {
        vertices: (0..n * n).map(|i| at(i).extend(0.35 + 0.05 * (9.0 * at(i).x).sin())).collect(),
        normals: vec![Vec3::Z; (n * n) as usize],
        anchors: (0..triangles.len()).map(anchor).collect(),
        triangles,
        colour: white,
        ..Mesh::default()
    };
    picture.meshes.push(skin);
    let puff = |k: u32| {
        let (sin, cos) = (k as f32 * 2.4).sin_cos();
        let out = 0.1 * (k as f32).sqrt();
        Puff { centre: Vec3::new(out * cos, out * sin, 0.4), radius: 0.1 + 0.01 * k as f32, depth: 0.4 }
    };
    picture.puffs = (0..30).map(puff).collect();
    let snow = Some(Snow { grain: 0.04, bump: 1.0, glitter: 0.5 });
    (picture, Light { snow, fog: Some(Fog { reach: 6.0, fall: 2.0 }), ..Light::default() })
}

#[test]
fn gpu_and_cpu_draw_the_same_avalanche() {
    let (picture, light) = avalanche();
    let mut cpu = CpuRenderer::default();
    let view = View {
        eye: Vec3::new(0.4, -2.6, 1.4),
        target: Vec3::new(0.0, 0.0, 0.2),
        up: Vec3::Z,
        field: 0.6,
        size: [487, 301],
    };
    let quality = Quality::default();
    let b = draw(&mut cpu, &picture, &view, &light, &quality);
    let (plain, ..) = differ(&b, &draw(&mut cpu, &picture, &view, &Light { snow: None, ..light }, &quality));
    let (clear, ..) = differ(&b, &draw(&mut cpu, &picture, &view, &Light { fog: None, ..light }, &quality));
    assert!(plain > 1.0 && clear > 1.0, "snow changes {plain}, fog {clear}");
    let Some(mut gpu) = gpu() else { return };
    let a = draw(&mut gpu, &picture, &view, &light, &quality);
    let (mean, most, far) = differ(&a, &b);
    // A facet at the edge of its cell may shine in one picture and not in the other; the veil has half precision.
    assert!(mean < 0.15 && most <= 2 && far < 1e-3, "mean {mean:.4}, 99 % within {most}, {far:.1e} far off");
}

/// A card in fog, before a background of one colour: what is left of its light is e^(−(ρx)²), to a level of the picture.
#[test]
fn fog_leaves_of_a_card_what_its_formula_says() {
    let mut cpu = CpuRenderer::default();
    let view = View { eye: Vec3::ZERO, target: Vec3::Y, up: Vec3::Z, field: 0.1, size: [64, 64] };
    let card = |distance: f32| {
        let corner = |x: f32, z: f32| Vec3::new(x, distance, z) * Vec3::new(distance, 1.0, distance);
        Picture {
            meshes: vec![Mesh {
                vertices: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)],
                normals: vec![Vec3::NEG_Y; 4],
                triangles: vec![[0, 1, 2], [1, 3, 2]],
                colour: Vec3::ZERO,
                ..Mesh::default()
            }],
            ..Picture::default()
        }
    };
    let quality = Quality { samples: 1, shadows: false, occlusion: false };
    for (x, left) in [(0.5, 0.7788), (1.0, 0.3679), (2.0, 0.0183)] {
        // A black card before an even grey: what is seen is the fog's own light.
        let light =
            Light { fog: Some(Fog { reach: 10.0, fall: 0.0 }), background: [Vec3::splat(0.5); 2], ..only_sun(Vec3::Z) };
        let seen = draw(&mut cpu, &card(10.0 * x), &view, &light, &quality);
        let pixel = seen.rgba[(4 * (32 * 64 + 32)) as usize];
        let expected = barchan_render::look::encode(&light, Vec3::splat(0.5 * (1.0 - left)), 0, 0)[0];
        assert!(pixel.abs_diff(expected) <= 1, "{x}: {pixel} for {expected}");
    }
}
