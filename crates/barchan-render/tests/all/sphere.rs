//! Spheres, triangles and lines are where geometry says, in every scale, and the same on any number of threads.

use crate::common;

use barchan_render::cpu::Seen;
use barchan_render::{CpuRenderer, Finish, Light, Line, Mesh, Picture, Quality, RenderError, View, look};
use common::*;
use glam::{DVec3, Vec2, Vec3};

fn views() -> Vec<View> {
    let view = View { eye: Vec3::new(0.0, -5.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size: [160, 90] };
    vec![
        view,
        // At the edge of a wide picture, where the silhouette is a long ellipse.
        View { eye: Vec3::new(0.0, -2.5, 0.0), target: Vec3::new(-2.4, 0.0, 0.3), field: 1.3, ..view },
        View { eye: Vec3::new(3.0, 2.0, 4.0), target: Vec3::new(0.2, 0.3, 0.0), field: 0.4, size: [101, 77], ..view },
        // Straight down, up along the direction of view.
        View { eye: Vec3::new(0.1, 0.0, 6.0), target: Vec3::new(0.1, 0.0, 0.0), size: [64, 128], ..view },
        // So near that the sphere reaches beside the eye.
        View { eye: Vec3::new(0.0, -1.02, 0.0), target: Vec3::new(0.4, 1.0, 0.0), field: 2.0, ..view },
    ]
}

/// Depth at which the ray through a pixel's middle meets the unit sphere, in f64; and how far inside its silhouette it is
/// (square of half the chord).
fn meets(view: &View, x: u32, y: u32) -> (f64, f64) {
    let d: DVec3 = ray(view, Vec2::new(x as f32 + 0.5, y as f32 + 0.5)).as_dvec3();
    let eye = view.eye.as_dvec3();
    let b = eye.dot(d) / d.length_squared();
    let inside = 1.0 - (eye - d * b).length_squared();
    (-b - (inside.max(0.0) / d.length_squared()).sqrt(), inside)
}

#[test]
fn the_silhouette_is_the_cone_of_tangents() {
    for renderer in &mut renderers() {
        for view in views().iter().map(look::upright) {
            let picture = Picture { spheres: vec![ball(Vec3::ZERO, 1.0, 0)], ..Picture::default() };
            let image = draw(renderer.as_mut(), &picture, &view, &all_around(), &bare());
            let mut counts = [0, 0];
            for (x, y) in pixels(view.size) {
                let (depth, inside) = meets(&view, x, y);
                // Rays that graze may fall on either side.
                if inside.abs() < 1e-4 {
                    continue;
                }
                let seen = inside > 0.0 && depth > 0.0;
                assert_eq!(red(&image, x, y) > 128, seen, "pixel {x}, {y} of {view:?}");
                counts[usize::from(seen)] += 1;
            }
            assert!(counts[0] > 20 && counts[1] > 20, "{counts:?} pixels beside and on the sphere");
        }
    }
}

#[test]
fn depth_is_that_of_the_sphere() {
    for view in views().iter().map(look::upright) {
        for scale in [1e-5f32, 1.0, 10.0] {
            let picture = Picture { spheres: vec![ball(Vec3::ZERO, scale, 7)], ..Picture::default() };
            let scaled = View { eye: view.eye * scale, target: view.target * scale, ..view };
            let surfaces = CpuRenderer::default().trace(&picture, &scaled).expect("surfaces");
            for (i, (x, y)) in pixels(view.size).enumerate() {
                let (depth, inside) = meets(&view, x, y);
                if inside > 1e-3 && depth > f64::from(look::near(&view)) {
                    let error = f64::from(surfaces.depth[i] / scale) - depth;
                    assert!(error.abs() < 2e-5, "pixel {x}, {y}: {error} of {depth}");
                    assert_eq!(surfaces.seen[i], Seen::Grain(7));
                }
                if inside < -1e-3 {
                    assert_eq!((surfaces.seen[i], surfaces.depth[i]), (Seen::Nothing, f32::INFINITY));
                }
            }
        }
    }
}

#[test]
fn a_far_small_grain_keeps_its_shape() {
    // 10,000 radii away: a quadratic solved at the eye would lose all digits of the radius.
    let view = View { eye: Vec3::new(0.0, -1e4, 0.0), target: Vec3::ZERO, up: Vec3::Z, field: 1.1e-3, size: [640; 2] };
    let picture = Picture { spheres: vec![ball(Vec3::ZERO, 1.0, 0)], ..Picture::default() };
    let surfaces = CpuRenderer::default().trace(&picture, &view).expect("surfaces");
    let area = surfaces.seen.iter().filter(|s| **s != Seen::Nothing).count() as f64;
    let radius = f64::from(look::focal(&view)) / 1e4;
    assert!((area / (std::f64::consts::PI * radius * radius) - 1.0).abs() < 0.01, "{area} pixels, radius {radius}");
}

#[test]
fn the_nearer_surface_is_seen_and_the_inside_of_a_sphere_is_not() {
    let view = View { eye: Vec3::new(0.0, -5.0, 0.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.5, size: [31, 31] };
    let around_eye = ball(view.eye, 1.0, 3);
    let behind = ball(Vec3::new(0.0, -9.0, 0.0), 1.0, 4);
    let spheres = vec![ball(Vec3::new(0.0, 2.0, 0.0), 1.5, 1), ball(Vec3::ZERO, 0.5, 2), around_eye, behind];
    let picture = Picture { spheres, ..Picture::default() };
    let surfaces = CpuRenderer::default().trace(&picture, &view).expect("surfaces");
    assert_eq!(surfaces.seen[15 * 31 + 15], Seen::Grain(2));
    assert!((surfaces.depth[15 * 31 + 15] - 4.5).abs() < 1e-5);
    let of = |grain| surfaces.seen.iter().filter(|s| **s == Seen::Grain(grain)).count();
    assert!(of(1) > 0 && of(3) == 0 && of(4) == 0);
}

/// A square of two triangles in the plane y = 0.
fn square(half: f32, finish: Finish) -> Mesh {
    let vertices = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| Vec3::new(x, 0.0, z) * half);
    Mesh {
        vertices: vertices.to_vec(),
        normals: vec![Vec3::NEG_Y; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        colour: Vec3::ONE,
        finish,
        ..Mesh::default()
    }
}

#[test]
fn triangles_have_no_cracks_and_reach_behind_the_eye() {
    // The square is seen at a slant and reaches behind the eye on one side.
    let view = View {
        eye: Vec3::new(0.0, -0.6, 0.0),
        target: Vec3::new(2.0, 0.0, 0.1),
        up: Vec3::Z,
        field: 1.0,
        size: [97, 61],
    };
    let picture = Picture { meshes: vec![square(4.0, Finish::Solid)], ..Picture::default() };
    let surfaces = CpuRenderer::default().trace(&picture, &view).expect("surfaces");
    for (i, (x, y)) in pixels(view.size).enumerate() {
        let d = ray(&view, Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
        let t = -view.eye.y / d.y;
        let p = view.eye + d * t;
        let edge = p.x.abs().max(p.z.abs()) - 4.0;
        if t > 0.0 && edge < -0.01 {
            assert_eq!(surfaces.seen[i], Seen::Mesh(0));
            assert!((surfaces.depth[i] / t - 1.0).abs() < 1e-4);
        } else if t <= 0.0 || edge > 0.01 {
            assert_eq!(surfaces.seen[i], Seen::Nothing);
        }
    }
}

#[test]
fn a_line_is_hidden_behind_a_sphere_and_as_wide_as_asked() {
    let view = View { eye: Vec3::new(0.0, -5.0, 0.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size: [120, 90] };
    let across = |y: f32| Line {
        ends: [Vec3::new(-9.0, y, 0.0), Vec3::new(9.0, y, 0.0)],
        colour: Vec3::ONE,
        width: 36.0,
        opacity: 1.0,
    };
    for renderer in &mut renderers() {
        let mut sphere = ball(Vec3::ZERO, 0.5, 0);
        sphere.colour = [0.0; 3];
        let mut picture = Picture { spheres: vec![sphere], lines: vec![across(1.0)], ..Picture::default() };
        let quality = Quality { samples: 4, ..bare() };
        let image = draw(renderer.as_mut(), &picture, &view, &all_around(), &quality);
        assert_eq!(red(&image, 60, 45), 0, "behind the sphere");
        let column: Vec<bool> = (0..90).map(|y| red(&image, 10, y) > 128).collect();
        // 36 pixels at 1080 rows are 3 at 90.
        assert_eq!(
            column.iter().filter(|lit| **lit).count(),
            4,
            "a line three pixels wide between two rows: {column:?}"
        );
        picture.lines = vec![across(-1.0)];
        let image = draw(renderer.as_mut(), &picture, &view, &all_around(), &quality);
        assert!(red(&image, 60, 45) > 128, "before the sphere");
    }
}

#[test]
fn glass_veils_more_at_a_slant_and_not_what_is_before_it() {
    for renderer in &mut renderers() {
        let mut veil = |eye: Vec3, behind: bool| {
            let view = View { eye, target: Vec3::ZERO, up: Vec3::Z, field: 0.2, size: [33, 33] };
            let mut sphere = ball(if behind { Vec3::Y } else { eye * 0.5 }, 0.4, 0);
            sphere.colour = [0.0; 3];
            let picture =
                Picture { spheres: vec![sphere], meshes: vec![square(3.0, Finish::Glass)], ..Picture::default() };
            red(&draw(renderer.as_mut(), &picture, &view, &all_around(), &bare()), 16, 16)
        };
        let (face, slant) = (veil(Vec3::new(0.0, -5.0, 0.0), true), veil(Vec3::new(5.0, -1.2, 0.0), true));
        assert!(slant > face && face > 0, "{slant} at a slant, {face} face on");
        assert_eq!(veil(Vec3::new(0.0, -5.0, 0.0), false), 0);
    }
}

/// A scene with something of everything.
fn everything() -> (Picture, View) {
    let mut spheres = Vec::new();
    for i in 0..400u32 {
        let turn = i as f32 * look::GOLDEN;
        let out = 0.12 * (i as f32).sqrt();
        let mut sphere = ball(Vec3::new(out * turn.cos(), out * turn.sin(), 0.1 + 0.8 * (-out).exp()), 0.1, i);
        sphere.colour = [0.6, 0.4 + 0.001 * (i % 100) as f32, 0.2];
        spheres.push(sphere);
    }
    let line = Line {
        ends: [Vec3::new(-2.0, -1.0, 0.0), Vec3::new(2.0, 1.0, 1.0)],
        colour: Vec3::X,
        width: 4.0,
        opacity: 0.7,
    };
    let picture = Picture {
        spheres,
        meshes: vec![square(0.7, Finish::Glass), square(0.5, Finish::Solid)],
        lines: vec![line],
        floor: Some((0.0, Vec3::splat(0.5))),
        ..Picture::default()
    };
    let view = View { eye: Vec3::new(2.0, -6.0, 3.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [203, 117] };
    (picture, view)
}

#[test]
fn the_picture_is_the_same_on_any_number_of_threads() {
    let (picture, view) = everything();
    let images = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| draw(&mut CpuRenderer::default(), &picture, &view, &Light::default(), &Quality::default()))
    });
    assert!(images[0] == images[1] && images[0] == images[2]);
}

#[test]
fn a_scene_of_any_size_gives_the_same_picture() {
    let (picture, view) = everything();
    for renderer in &mut renderers() {
        let one = draw(renderer.as_mut(), &picture, &view, &Light::default(), &Quality::default());
        // Powers of two scale floats exactly: grains of a micron and of a hundred metres.
        for scale in [2f32.powi(-17), 2f32.powi(10)] {
            let mut scaled = picture.clone();
            for s in &mut scaled.spheres {
                s.centre = s.centre.map(|c| c * scale);
                s.radius *= scale;
            }
            for m in &mut scaled.meshes {
                m.vertices.iter_mut().for_each(|v| *v *= scale);
            }
            for l in &mut scaled.lines {
                l.ends = l.ends.map(|e| e * scale);
            }
            let view = View { eye: view.eye * scale, target: view.target * scale, ..view };
            let image = draw(renderer.as_mut(), &scaled, &view, &Light::default(), &Quality::default());
            let off = one.rgba.iter().zip(&image.rgba).filter(|(a, b)| a.abs_diff(**b) > 2).count();
            assert!(off * 1000 < one.rgba.len(), "{off} of {} bytes differ at scale {scale}", one.rgba.len());
        }
    }
}

#[test]
fn nothing_but_background_where_there_is_nothing() {
    let light = Light::default();
    let nowhere =
        [ball(Vec3::NAN, 1.0, 0), ball(Vec3::ZERO, f32::NAN, 0), ball(Vec3::ZERO, -1.0, 0), ball(Vec3::ZERO, 0.0, 0)];
    let mut mesh = square(1.0, Finish::Solid);
    mesh.triangles = vec![[0, 1, 99]];
    let nonsense = Picture { spheres: nowhere.to_vec(), meshes: vec![mesh], ..Picture::default() };
    for renderer in &mut renderers() {
        for picture in [Picture::default(), nonsense.clone()] {
            for samples in [1, 4, 9, 16] {
                let view = View { eye: Vec3::Y, target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size: [17, 39] };
                let image =
                    draw(renderer.as_mut(), &picture, &view, &light, &Quality { samples, ..Quality::default() });
                for (x, y) in pixels(view.size) {
                    let expected = look::encode(&light, look::background(&light, (y as f32 + 0.5) / 39.0), x, y)[0];
                    assert!(red(&image, x, y).abs_diff(expected) <= 1, "pixel {x}, {y}");
                }
            }
        }
        let view = View { eye: Vec3::Y, target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size: [1, 9000] };
        let refused = renderer.draw(&Picture::default(), &view, &light, &Quality::default());
        assert!(matches!(refused, Err(RenderError::Size { .. })));
    }
}
