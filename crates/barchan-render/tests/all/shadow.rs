//! Light falls where geometry says, and is as much as the formulas say.

use crate::common;

use barchan_render::{Finish, Light, Mesh, Picture, Quality, Renderer, Sphere, View, look};
use common::*;
use glam::{Vec2, Vec3};

const SHADOWS: Quality = Quality { samples: 1, shadows: true, occlusion: false };

fn floor() -> Option<(f32, Vec3)> {
    Some((0.0, Vec3::ONE))
}

/// Whether the sun at a point is behind a sphere; and by how much the ray misses its surface [m].
fn in_shadow(p: Vec3, to_sun: Vec3, centre: Vec3, radius: f32) -> (bool, f32) {
    let to = centre - p;
    let along = to.dot(to_sun);
    let miss = (to - along * to_sun).length() - radius;
    (miss < 0.0 && along > 0.0, miss.abs())
}

#[test]
fn the_shadow_of_a_sphere_is_its_ellipse() {
    let light = only_sun(Vec3::new(-0.5, -0.3, 0.8));
    let (centre, radius) = (Vec3::new(-1.0, -0.6, 2.0), 0.5);
    let s = light.to_sun;
    let middle = centre - s * (centre.z / s.z);
    let view =
        View { eye: middle + Vec3::new(0.0, 0.0, 9.0), target: middle, up: Vec3::Y, field: 0.2, size: [240, 240] };
    let picture = Picture { spheres: vec![ball(centre, radius, 0)], floor: floor(), ..Picture::default() };
    for renderer in &mut renderers() {
        let image = draw(renderer.as_mut(), &picture, &view, &light, &SHADOWS);
        let per_metre = look::focal(&view) / 9.0;
        let (mut sum, mut square, mut count) = (Vec2::ZERO, Vec2::ZERO, 0.0);
        let long = -s.truncate().normalize();
        for (x, y) in pixels(view.size) {
            let at = Vec2::new(x as f32 + 0.5 - 120.0, 120.0 - y as f32 - 0.5) / per_metre;
            if red(&image, x, y) < 100 {
                let axes = Vec2::new(at.dot(long), at.dot(long.perp()));
                (sum, square, count) = (sum + at, square + axes * axes, count + 1.0);
            }
        }
        // Centre within a fifth of a pixel; variance along an axis of an ellipse is a quarter of its half axis squared.
        assert!((sum / count * per_metre).length() < 0.2, "centre is off by {} m", sum / count);
        let half = (square / count * 4.0).map(f32::sqrt);
        let expected = Vec2::new(radius / s.z, radius);
        assert!((half / expected - 1.0).abs().max_element() < 0.01, "half axes {half}, expected {expected}");
    }
}

#[test]
fn a_shadow_touches_a_sphere_that_rests() {
    let light = only_sun(Vec3::new(-0.7, 0.0, 0.7));
    let centre = Vec3::Z;
    // From the side and low: one sees under the sphere.
    let view = View {
        eye: Vec3::new(0.4, -6.0, 0.5),
        target: Vec3::new(0.4, 0.0, 0.1),
        up: Vec3::Z,
        field: 0.4,
        size: [900, 200],
    };
    let picture = Picture { spheres: vec![ball(centre, 1.0, 0)], floor: floor(), ..Picture::default() };
    for renderer in &mut renderers() {
        let image = draw(renderer.as_mut(), &picture, &view, &light, &SHADOWS);
        let mut counts = [0, 0];
        for i in -12..=45 {
            let p = Vec3::new(i as f32 * 0.05, 0.0, 0.0);
            let to_eye = (view.eye - p).normalize();
            let (dark, margin) = in_shadow(p, light.to_sun, centre, 1.0);
            // Hidden points, and those at the shadow's very edge, tell nothing.
            if in_shadow(p, to_eye, centre, 1.0).0 || margin < 0.01 {
                continue;
            }
            let at = pixel(&view, p);
            assert_eq!(red(&image, at.x as u32, at.y as u32) < 100, dark, "{} m from the point of contact", p.x);
            counts[usize::from(dark)] += 1;
        }
        assert!(counts[0] > 3 && counts[1] > 10, "{counts:?} points in light and shadow");
    }
}

#[test]
fn no_surface_shadows_itself() {
    let light = only_sun(Vec3::new(-0.5, -0.6, 0.5));
    let view = View { eye: Vec3::new(0.3, -4.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [301, 301] };
    let sphere = Picture { spheres: vec![ball(Vec3::ZERO, 1.0, 0)], ..Picture::default() };
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.7 * x + 0.2 * y));
    let normal = (corners[1] - corners[0]).cross(corners[3] - corners[0]).normalize();
    let slope = Mesh {
        vertices: corners.to_vec(),
        normals: vec![normal; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        colour: Vec3::ONE,
        finish: Finish::Solid,
        ..Mesh::default()
    };
    let slope = Picture { meshes: vec![slope], ..Picture::default() };
    for renderer in &mut renderers() {
        for picture in [&sphere, &slope] {
            let lit = draw(renderer.as_mut(), picture, &view, &light, &bare());
            for softness in [0.0, 0.03] {
                let light = Light { softness, ..light };
                let shadowed = draw(renderer.as_mut(), picture, &view, &light, &SHADOWS);
                // Where the sun grazes, within 6° of the terminator, a surface may lose it.
                let grazed = look::encode(&light, Vec3::splat(0.105), 0, 0)[0];
                let mut lit_pixels = 0;
                for (x, y) in pixels(view.size).filter(|(x, y)| red(&lit, *x, *y) > grazed) {
                    let (a, b) = (red(&lit, x, y), red(&shadowed, x, y));
                    assert!(a.abs_diff(b) <= 2, "pixel {x}, {y}: {b} instead of {a} with softness {softness}");
                    lit_pixels += 1;
                }
                assert!(lit_pixels > 5000, "{lit_pixels} pixels lit");
            }
        }
    }
}

#[test]
fn penumbrae_widen_with_distance() {
    let light = Light { softness: 0.05, ..only_sun(Vec3::Z) };
    let wall = |height: f32| {
        let vertices = [(-3.0, -3.0), (0.0, -3.0), (0.0, 3.0), (-3.0, 3.0)].map(|(x, y)| Vec3::new(x, y, height));
        Mesh {
            vertices: vertices.to_vec(),
            normals: vec![Vec3::Z; 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            colour: Vec3::ONE,
            finish: Finish::Solid,
            ..Mesh::default()
        }
    };
    // From the right, under the sheet.
    let view = View { eye: Vec3::new(1.5, 0.0, 1.5), target: Vec3::ZERO, up: Vec3::Z, field: 0.2, size: [64, 400] };
    for renderer in &mut renderers() {
        for height in [0.5f32, 1.0] {
            let picture = Picture { meshes: vec![wall(height)], floor: floor(), ..Picture::default() };
            let image = draw(renderer.as_mut(), &picture, &view, &light, &SHADOWS);
            let light_at = |x: f32| {
                let at = pixel(&view, Vec3::new(x, 0.0, 0.0));
                let mut sum = 0.0;
                for i in 30..34 {
                    sum += f32::from(red(&image, i, at.y as u32)) / 4.0;
                }
                sum
            };
            let radius = 0.05 * height;
            // A disc cut by a line at half its radius keeps 1/3 − √3/4π of its area on the small side.
            for (x, share) in [(-1.3, 0.0), (-0.5, 0.196), (0.0, 0.5), (0.5, 0.804), (1.3, 1.0)] {
                let expected = f32::from(look::encode(&light, Vec3::splat(share), 0, 0)[0]);
                let seen = light_at(x * radius);
                assert!(
                    (seen - expected).abs() < 20.0,
                    "{x} radii into the penumbra of {height} m: {seen}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn a_white_floor_has_the_radiance_of_the_formula() {
    let light = Light::default();
    let view = View { eye: Vec3::new(0.0, -2.0, 2.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.5, size: [65, 65] };
    let picture = Picture { floor: floor(), ..Picture::default() };
    for renderer in &mut renderers() {
        let image = draw(renderer.as_mut(), &picture, &view, &light, &Quality::default());
        for (x, y) in [(32, 32), (3, 60), (60, 10)] {
            let d = ray(&view, Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
            let h = (light.to_sun - d.normalize()).normalize();
            // White under the whole sky (not the ground) and the sun at its slant, with its highlight.
            let sum = light.sky + light.sun * (light.to_sun.z + light.gloss * h.z.powf(light.shininess));
            let expected = look::encode(&light, sum, x, y)[0];
            assert!(red(&image, x, y).abs_diff(expected) <= 1, "{} instead of {expected}", red(&image, x, y));
        }
    }
}

#[test]
fn a_gap_between_grains_is_dark_and_open_floor_is_not() {
    let view =
        View { eye: Vec3::new(0.0, -9.0, 9.0), target: Vec3::Z * 0.2, up: Vec3::Z, field: 0.5, size: [200, 150] };
    // Not white: between white grains light bounces until nothing is dark.
    let spheres = [-1.0, 1.0].map(|x| Sphere { colour: [0.3; 3], ..ball(Vec3::new(x, 0.0, 1.0), 1.0, 0) });
    let floor = Some((0.0, Vec3::splat(0.3)));
    let picture = Picture { spheres: spheres.to_vec(), floor, ..Picture::default() };
    let quality = Quality { occlusion: true, ..bare() };
    for renderer in &mut renderers() {
        let renderer: &mut dyn Renderer = renderer.as_mut();
        let open = draw(renderer, &picture, &view, &all_around(), &bare());
        let closed = draw(renderer, &picture, &view, &all_around(), &quality);
        let at = |p: Vec3| {
            let at = pixel(&view, p);
            [&open, &closed].map(|image| i32::from(red(image, at.x as u32, at.y as u32)))
        };
        // On the left grain, 25° from where it touches the right one; and where it faces the eye.
        let on_left = |out: Vec3| Vec3::new(-1.0, 0.0, 1.0) + out.normalize();
        let [before, after] = at(on_left(Vec3::new(0.9, -0.3, 0.3)));
        assert!(after * 100 < before * 88, "in the gap {after} of {before}");
        let [before, after] = at(on_left(Vec3::new(-0.2, -0.7, 0.7)));
        assert!(after * 100 > before * 96, "on the crest {after} of {before}");
        let [before, after] = at(Vec3::new(0.0, -3.0, 0.0));
        assert!((before - after).abs() <= 1, "in the open {after} of {before}");
    }
}
