//! The ground as it is laid out: no cracks, no more than the eye can tell, grains where they belong.

use super::*;
use crate::dress::NO_GRAIN;
use crate::{CpuRenderer, Light, Mesh, Quality, Renderer};
use barchan_core::relief::Relief;
use std::collections::HashMap;

fn rough(side: usize, cell: f64) -> Relief {
    let half = 0.5 * side as f64 * cell;
    let height = (0..side * side)
        .map(|i| {
            let [x, y] = [(i % side) as f64, (i / side) as f64];
            1.0 + 0.3 * (0.11 * x).sin() * (0.07 * y).cos() + 0.02 * ((x * 12.9 + y * 78.2).sin() * 437.0).fract()
        })
        .collect();
    Relief { origin: DVec3::new(-half, -half, -1.0), cell, size: [side, side], height }
}

fn picture(relief: Relief, radius: f32) -> Picture {
    let ground = Ground { relief: relief.into(), colour: Vec3::splat(0.4), variation: 1.0, radius, cover: None };
    Picture { ground: Some(ground), ..Picture::default() }
}

fn view(eye: Vec3) -> View {
    View { eye, target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [640, 360] }
}

/// Edges that do not belong to two triangles, by their places.
fn open_edges(mesh: &Mesh) -> Vec<[Vec3; 2]> {
    let key = |p: Vec3| p.to_array().map(f32::to_bits);
    let mut edges: HashMap<[[u32; 3]; 2], (u32, [Vec3; 2])> = HashMap::new();
    for t in &mesh.triangles {
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let ends = [t[i], t[j]].map(|v| mesh.vertices[v as usize]);
            let (a, b) = (key(ends[0]), key(ends[1]));
            if a != b {
                edges.entry([a.min(b), a.max(b)]).or_insert((0, ends)).0 += 1;
            }
        }
    }
    edges.into_values().filter(|(count, _)| *count != 2).map(|(_, ends)| ends).collect()
}

#[test]
fn tiles_of_all_finenesses_join_without_a_crack() {
    // Sides that are whole tiles and such that are not; near and far tiles in one picture.
    for side in [2, 33, 200, 257] {
        for eye in [Vec3::new(0.3, -1.2, 0.9), Vec3::new(4.0, -9.0, 5.0), Vec3::new(0.1, 0.2, 40.0)] {
            let picture = picture(rough(side, 0.05), 4e-3);
            let laid = lay(&picture, &view(eye));
            let mesh = laid.meshes.last().unwrap();
            assert!(mesh.normals.len() == mesh.vertices.len() && !mesh.triangles.is_empty());
            let floor = picture.ground.as_ref().unwrap().foot() as f32;
            let open = open_edges(mesh);
            assert!(open.iter().flatten().all(|p| p.z == floor), "only the foot of the sides is open, at side {side}");
            assert!(!open.is_empty());
        }
    }
}

#[test]
fn an_edge_is_as_long_as_the_eye_can_tell_and_the_surface_stays_near() {
    let relief = rough(600, 0.02);
    let picture = picture(relief.clone(), 1e-5);
    let view = view(Vec3::new(0.0, -7.0, 3.0));
    let laid = lay(&picture, &view);
    let mesh = laid.meshes.last().unwrap();
    let whole = 2 * 599 * 599;
    assert!(mesh.triangles.len() < whole / 8, "{} of {whole} triangles", mesh.triangles.len());
    assert_eq!(laid.spheres.len(), 0, "grains of a hundredth of a millimetre are not drawn");
    let focal = look::focal(&view);
    for p in mesh.vertices.iter().filter(|p| p.z > -0.5) {
        let over = relief.over(f64::from(p.x), f64::from(p.y)).unwrap();
        assert!((over.z as f32 - p.z).abs() < 1e-5, "points lie on the ground: {p}");
    }
    // In sight, near the middle of the picture.
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
        let middle = (a + b + c) / 3.0;
        if middle.length() < 0.5 {
            let long = (a - b).truncate().length().min((b - c).truncate().length());
            let pixels = long * focal / (view.eye - middle).length();
            assert!(pixels <= 8.5, "{pixels} pixels at {middle}");
        }
    }
}

#[test]
fn grains_stand_on_the_ground_where_they_can_be_told_and_are_bounded_in_number() {
    let mut relief = rough(400, 0.02);
    let half = relief.origin.truncate();
    // Smooth, so that a grain is as far above the point below it as above the surface.
    for cell in 0..relief.height.len() {
        let p = relief.point(cell).truncate() - half;
        relief.height[cell] = 1.0 + 0.05 * (1.1 * p.x).sin() * (0.7 * p.y).cos();
    }
    let radius = 3e-3;
    let picture = picture(relief.clone(), radius);
    let near = view(Vec3::new(0.0, -0.5, 0.45));
    let laid = lay(&picture, &near);
    let grains = &laid.spheres;
    assert!((10_000..300_000).contains(&grains.len()), "{}", grains.len());
    for s in grains {
        let p = Vec3::from(s.centre);
        let over = relief.over(f64::from(p.x), f64::from(p.y)).unwrap();
        let above = (p.z - over.z as f32) / radius;
        assert!((-3.5..0.3).contains(&above) && s.grain == NO_GRAIN, "{above} radii above the ground");
        assert!((0.84..1.16).contains(&(s.radius / radius)));
    }
    // The same grains from another place: they do not swim.
    let moved = lay(&picture, &view(Vec3::new(0.05, -0.5, 0.45))).into_owned();
    let places = |s: &[crate::Sphere]| -> HashMap<[u32; 3], u32> {
        s.iter().map(|s| (s.colour.map(f32::to_bits), s.radius.to_bits())).collect()
    };
    let (here, there) = (places(grains), places(&moved.spheres));
    let same = here.iter().filter(|(k, v)| there.get(*k) == Some(*v)).count();
    assert!(same * 10 > here.len() * 7, "{same} of {}", here.len());
    // From afar there would be millions.
    assert!(lay(&picture, &view(Vec3::new(0.0, -3.0, 2.0))).spheres.len() < 400_000);
}

#[test]
fn the_same_ground_is_drawn_on_any_number_of_threads() {
    let picture = picture(rough(300, 0.02), 4e-3);
    let drawn = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let view = view(Vec3::new(0.2, -1.1, 0.7));
        pool.install(|| CpuRenderer::default().draw(&picture, &view, &Light::default(), &Quality::default()).unwrap())
    };
    assert_eq!(drawn(1), drawn(3));
}

#[test]
fn near_grains_and_the_far_surface_have_the_same_mean_light() {
    // Level, so that nothing but grains makes light and dark.
    let flat = Relief { height: vec![1.0; 90_000], ..rough(300, 0.02) };
    let mean = |radius: f32| {
        let picture = picture(flat.clone(), radius);
        let view = view(Vec3::new(0.2, -0.9, 0.6));
        let image = CpuRenderer::default().draw(&picture, &view, &Light::default(), &Quality::default()).unwrap();
        let middle = (0..image.height).flat_map(|y| (0..image.width).map(move |x| (x, y)));
        let middle = middle.filter(|(x, y)| x.abs_diff(320) < 150 && y.abs_diff(180) < 80);
        let light: Vec<f64> = middle.map(|(x, y)| f64::from(image.rgba[((y * 640 + x) * 4 + 1) as usize])).collect();
        light.iter().sum::<f64>() / light.len() as f64
    };
    let surface = mean(1e-6);
    for radius in [4e-3, 2e-3, 1e-3] {
        let grains = mean(radius);
        assert!((grains / surface - 1.0).abs() < 0.06, "{grains:.1} with grains of {radius} m, {surface:.1} without");
    }
}
