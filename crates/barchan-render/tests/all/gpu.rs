//! What only the renderer on the GPU has: depth in a buffer, tiles, targets of a window, a device that can be lost.

use crate::common;

use barchan_render::{CpuRenderer, Finish, GpuRenderer, Light, Mesh, Picture, Quality, RenderError, Renderer, View};
use common::*;
use glam::{DVec3, Vec2, Vec3};

/// A device as a window would have; `None` if there is no adapter at all.
fn window() -> Option<(wgpu::Device, wgpu::Queue)> {
    gpu()?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    Some(pollster::block_on(adapter.request_device(&Default::default())).expect("a device"))
}

/// A target as a window would have.
fn target(device: &wgpu::Device, size: [u32; 2], format: wgpu::TextureFormat) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Bytes of a target whose rows are a multiple of 256 bytes.
fn bytes(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Vec<u8> {
    let row = 4 * texture.width();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * texture.height()),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
    queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a mapped buffer"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("a device that works");
    buffer.get_mapped_range(..).expect("bytes").to_vec()
}

/// Depth at which a ray through a pixel meets a sphere, in f64, if it does.
fn meets(view: &View, x: u32, y: u32, centre: Vec3, radius: f64) -> Option<f64> {
    let d: DVec3 = ray(view, Vec2::new(x as f32 + 0.5, y as f32 + 0.5)).as_dvec3();
    let to = centre.as_dvec3() - view.eye.as_dvec3();
    let b = to.dot(d) / d.length_squared();
    let inside = radius * radius - (to - d * b).length_squared();
    (inside > 0.0).then(|| b - (inside / d.length_squared()).sqrt()).filter(|t| *t > 0.0)
}

#[test]
fn of_two_spheres_in_each_other_the_nearer_surface_is_seen() {
    let Some(mut gpu) = gpu() else { return };
    let view = View { eye: Vec3::new(0.0, -5.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [200, 140] };
    let views = [
        view,
        // At the edge of a wide picture, where silhouettes are long ellipses.
        View { eye: Vec3::new(0.0, -2.6, 0.0), target: Vec3::new(-2.6, 0.0, 0.2), field: 1.4, ..view },
        View { eye: Vec3::new(2.0, 2.0, 3.0), ..view },
    ];
    let centres = [Vec3::new(-0.4, 0.05, 0.0), Vec3::new(0.5, -0.1, 0.1)];
    let radii = [1.0, 0.8];
    for view in views {
        for scale in [1e-5f32, 1.0, 100.0] {
            let mut spheres: Vec<_> = (0..2).map(|i| ball(centres[i] * scale, radii[i] * scale, 0)).collect();
            spheres[1].colour = [0.05; 3];
            let picture = Picture { spheres, ..Picture::default() };
            let scaled = View { eye: view.eye * scale, target: view.target * scale, ..view };
            let image = draw(&mut gpu, &picture, &scaled, &all_around(), &bare());
            let mut seen = [0, 0];
            for (x, y) in pixels(view.size) {
                let [a, b] = [0, 1].map(|i| meets(&view, x, y, centres[i], radii[i].into()));
                let (a, b) = (a.unwrap_or(f64::INFINITY), b.unwrap_or(f64::INFINITY));
                // Depths of a buffer of 24 bits' precision are told apart if they differ by some millionths.
                if a == b || (a - b).abs() < 1e-5 {
                    continue;
                }
                let level = red(&image, x, y);
                assert_eq!(level > 150, a < b, "pixel {x}, {y} at {a} and {b}: {level}");
                seen[usize::from(a < b)] += 1;
            }
            assert!(seen[0] > 300 && seen[1] > 300, "{seen:?} pixels of each");
        }
    }
}

#[test]
fn a_plane_cuts_a_sphere_in_a_circle() {
    let Some(mut gpu) = gpu() else { return };
    let view = View { eye: Vec3::new(1.5, -5.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [200, 200] };
    // The plane y = −0.6 through the unit sphere: what of the sphere is before it is a cap of radius 0.8.
    let vertices = [(-9.0, -9.0), (9.0, -9.0), (-9.0, 9.0), (9.0, 9.0)].map(|(x, z)| Vec3::new(x, -0.6, z));
    let plane = Mesh {
        vertices: vertices.to_vec(),
        normals: vec![],
        triangles: vec![[0, 1, 2], [1, 3, 2]],
        colour: Vec3::splat(0.05),
        finish: Finish::Solid,
        ..Mesh::default()
    };
    let picture = Picture { spheres: vec![ball(Vec3::ZERO, 1.0, 0)], meshes: vec![plane], ..Picture::default() };
    let image = draw(&mut gpu, &picture, &view, &all_around(), &bare());
    let mut seen = [0, 0];
    for (x, y) in pixels(view.size) {
        let d = ray(&view, Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
        let cut = f64::from((-0.6 - view.eye.y) / d.y);
        let cap = meets(&view, x, y, Vec3::ZERO, 1.0).filter(|t| *t < cut);
        if meets(&view, x, y, Vec3::ZERO, 1.0).is_some_and(|t| (t - cut).abs() < 1e-5) {
            continue;
        }
        assert_eq!(red(&image, x, y) > 150, cap.is_some(), "pixel {x}, {y}");
        seen[usize::from(cap.is_some())] += 1;
    }
    assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
}

#[test]
fn pictures_of_other_sizes_and_numbers_follow_each_other() {
    let Some(mut gpu) = gpu() else { return };
    let mut cpu = CpuRenderer::default();
    let light = Light::default();
    // More spheres than a row of their texture holds, none, one; larger, smaller, odd sizes.
    for (count, size, samples) in
        [(5000, [200, 100], 4), (0, [64, 64], 1), (1, [301, 203], 1), (5000, [33, 17], 9), (2049, [200, 100], 4)]
    {
        let spheres = (0..count).map(|i| {
            let at = Vec3::new((i % 71) as f32, (i / 71) as f32, ((i * 37) % 11) as f32 * 0.2) * 0.03;
            ball(at - Vec3::new(1.0, 1.0, 0.0), 0.02, i)
        });
        let picture =
            Picture { spheres: spheres.collect(), floor: Some((-0.02, Vec3::splat(0.4))), ..Picture::default() };
        let view = View { eye: Vec3::new(0.3, -3.0, 2.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.7, size };
        let quality = Quality { samples, ..Quality::default() };
        let [a, b] = [&mut gpu as &mut dyn Renderer, &mut cpu].map(|r| draw(r, &picture, &view, &light, &quality));
        assert_eq!((a.width, a.height, a.rgba.len()), (size[0], size[1], (size[0] * size[1] * 4) as usize));
        let off = a.rgba.iter().zip(&b.rgba).filter(|(a, b)| a.abs_diff(**b) > 4).count();
        assert!(off * 500 <= a.rgba.len(), "{count} spheres at {size:?}: {off} bytes differ");
    }
}

#[test]
fn a_picture_in_tiles_has_no_seams() {
    let Some(mut gpu) = gpu() else { return };
    // 16 samples a pixel of this are more than one tile holds.
    let view = View { eye: Vec3::new(0.0, -3.0, 2.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.5, size: [1064, 1016] };
    let spheres = (0..900).map(|i| {
        ball(Vec3::new((i % 30) as f32 - 14.5, (i / 30) as f32 - 14.5, 0.5 + (i * 7 % 5) as f32 * 0.1) * 0.08, 0.04, i)
    });
    let floor = Some((0.0, Vec3::splat(0.4)));
    let picture = Picture { spheres: spheres.collect(), floor, ..Picture::default() };
    let quality = Quality { samples: 16, ..Quality::default() };
    let [a, b] = [&mut gpu as &mut dyn Renderer, &mut CpuRenderer::default()]
        .map(|r| draw(r, &picture, &view, &Light::default(), &quality));
    let off = a.rgba.iter().zip(&b.rgba).filter(|(a, b)| a.abs_diff(**b) > 4).count();
    assert!(off * 5000 < a.rgba.len(), "{off} of {} bytes differ", a.rgba.len());
}

#[test]
fn a_window_gets_the_same_bytes_in_any_format_and_new_shadows_with_a_new_picture() {
    let Some((device, queue)) = window() else { return };
    let mut gpu = GpuRenderer::on(device.clone(), queue.clone()).expect("a renderer");
    let view = View { eye: Vec3::new(0.0, -6.0, 4.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [128, 96] };
    let (light, quality) = (Light::default(), Quality::default());
    let picture = |x: f32| Picture {
        spheres: vec![ball(Vec3::new(x, 0.0, 0.5), 0.5, 0)],
        floor: Some((0.0, Vec3::splat(0.4))),
        ..Picture::default()
    };
    for x in [0.0, 1.0] {
        let picture = picture(x);
        let expected = draw(&mut CpuRenderer::default(), &picture, &view, &light, &quality);
        gpu.upload(&picture).expect("room on the device");
        for (format, red) in [
            (wgpu::TextureFormat::Rgba8Unorm, 0),
            (wgpu::TextureFormat::Rgba8UnormSrgb, 0),
            (wgpu::TextureFormat::Bgra8Unorm, 2),
        ] {
            let texture = target(&device, view.size, format);
            let to = texture.create_view(&Default::default());
            gpu.draw_to(&picture, &view, &light, &quality, &to, format).expect("a picture");
            let drawn = bytes(&device, &queue, &texture);
            let off = drawn.chunks(4).zip(expected.rgba.chunks(4)).filter(|(a, b)| a[red].abs_diff(b[0]) > 1).count();
            assert!(off * 500 < drawn.len() / 4, "{off} pixels differ in {format:?}");
        }
    }
}

#[test]
fn a_lost_device_is_an_error() {
    let Some((device, queue)) = window() else { return };
    let mut gpu = GpuRenderer::on(device.clone(), queue).expect("a renderer");
    let view = View { eye: Vec3::NEG_Y * 5.0, target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [64, 64] };
    let picture = Picture { spheres: vec![ball(Vec3::ZERO, 1.0, 0)], ..Picture::default() };
    draw(&mut gpu, &picture, &view, &Light::default(), &Quality::default());
    device.destroy();
    for _ in 0..2 {
        let lost = gpu.draw(&picture, &view, &Light::default(), &Quality::default());
        assert!(matches!(lost, Err(RenderError::Device { .. })), "{lost:?}");
    }
}

#[test]
fn a_picture_too_large_for_the_device_is_refused_and_software_is_named() {
    let Some(mut gpu) = gpu() else { return };
    let limit = 16_384;
    for size in [[limit + 1, 100], [100, 8], [0, 0], [u32::MAX, u32::MAX]] {
        let view = View { eye: Vec3::Y, target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size };
        let refused = gpu.draw(&Picture::default(), &view, &Light::default(), &Quality::default());
        assert!(matches!(refused, Err(RenderError::Size { .. })), "{size:?}");
    }
    assert_eq!(gpu.name().contains("software"), gpu.name().contains("llvmpipe") || gpu.name().contains("SwiftShader"));
}
