//! A picture on the device: spheres and solid triangles in textures, panes and lines sorted for the eye.
//!
//! Textures, because a storage binding may be as small as 128 MiB (4 million spheres) where a texture holds 33 million, and
//! because every backend has them.

use super::frame::{FACETS_A_ROW, SPHERES_A_ROW, axes};
use crate::{Finish, Line, Mesh, Picture, RenderError, Sphere, View, look};
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3, Vec4};

/// Spheres and solid triangles of a picture.
pub struct Scene {
    pub spheres: u32,
    pub facets: u32,
    pub sphere_texels: wgpu::TextureView,
    pub facet_texels: wgpu::TextureView,
}

/// A solid triangle as it goes to the device: corners with a channel of the colour each, normals.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Facet {
    corners: [Vec4; 3],
    normals: [Vec4; 3],
}

impl Scene {
    /// Puts a picture on the device.
    pub fn upload(device: &wgpu::Device, queue: &wgpu::Queue, picture: &Picture) -> Result<Self, RenderError> {
        let drawable = |s: &Sphere| look::drawable(s.centre, s.radius);
        // A sphere that cannot be drawn stays, with no radius: numbers are rows of the picture.
        let spheres = if picture.spheres.iter().all(drawable) {
            std::borrow::Cow::from(&picture.spheres)
        } else {
            picture.spheres.iter().map(|s| if drawable(s) { *s } else { Sphere::default() }).collect()
        };
        let solid = picture.meshes.iter().filter(|m| m.finish == Finish::Solid);
        let facets: Vec<Facet> = solid.flat_map(|m| m.triangles.iter().filter_map(|t| facet(m, t))).collect();
        Ok(Scene {
            spheres: spheres.len() as u32,
            facets: facets.len() as u32,
            sphere_texels: texels(device, queue, "spheres", &spheres, SPHERES_A_ROW)?,
            facet_texels: texels(device, queue, "facets", &facets, FACETS_A_ROW)?,
        })
    }
}

/// Items in rows of a texture.
fn texels<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    items: &[T],
    a_row: u32,
) -> Result<wgpu::TextureView, RenderError> {
    let texels = size_of::<T>() as u32 / 16;
    let (rows, most) = (items.len().div_ceil(a_row as usize).max(1), device.limits().max_texture_dimension_2d);
    if rows > most as usize {
        let reason =
            format!("{} {label} are more than the {} it can hold", items.len(), u64::from(most) * u64::from(a_row));
        return Err(RenderError::Device { reason });
    }
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: texels * a_row, height: rows as u32, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    // Whole rows at once, some at a time so that the staging copy stays small, then the rest of the last.
    let mut row = 0;
    for chunk in items.chunks(a_row as usize * 1024) {
        for part in
            [&chunk[..chunk.len() - chunk.len() % a_row as usize], &chunk[chunk.len() - chunk.len() % a_row as usize..]]
        {
            if part.is_empty() {
                continue;
            }
            let height = (part.len() as u32).div_ceil(a_row);
            let mut to = texture.as_image_copy();
            to.origin.y = row;
            row += height;
            queue.write_texture(
                to,
                bytemuck::cast_slice(part),
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(a_row * size_of::<T>() as u32),
                    rows_per_image: None,
                },
                wgpu::Extent3d { width: texels * (part.len() as u32).min(a_row), height, depth_or_array_layers: 1 },
            );
        }
    }
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

/// Corners of a triangle, if the mesh has them, and its normals: the vertices' or, without, the plane's.
fn corners(mesh: &Mesh, t: &[u32; 3]) -> Option<([Vec3; 3], [Vec3; 3])> {
    let [a, b, c] = t.map(|i| mesh.vertices.get(i as usize).copied().filter(|p| p.is_finite()));
    let (a, b, c) = (a?, b?, c?);
    // Scaled before the product, which would leave f32 for triangles of microns.
    let plane = (b - a).normalize_or_zero().cross((c - a).normalize_or_zero()).try_normalize()?;
    let normals = t.map(|i| mesh.normals.get(i as usize).copied().filter(|n| n.is_finite()));
    let normals = match normals {
        [Some(a), Some(b), Some(c)] => [a, b, c],
        _ => [plane; 3],
    };
    Some(([a, b, c], normals))
}

fn facet(mesh: &Mesh, t: &[u32; 3]) -> Option<Facet> {
    let (corners, normals) = corners(mesh, t)?;
    let colour = mesh.colour.to_array();
    let corners = std::array::from_fn(|i| corners[i].extend(colour[i]));
    Some(Facet { corners, normals: normals.map(|n| n.extend(0.0)) })
}

/// Corner of a pane's triangle.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct PaneVertex {
    place: Vec3,
    normal: Vec3,
    tint: Vec3,
}

/// Corner of the rectangle around a line: where it is [pixels], ends [pixels], 1/depth of the ends [1/m] and width
/// [pixels], colour and opacity.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct StrokeVertex {
    at: Vec2,
    ends: [Vec2; 2],
    inverse: Vec3,
    colour: [f32; 4],
}

/// Triangles of the panes, farthest first.
pub fn panes(picture: &Picture, view: &View) -> Vec<PaneVertex> {
    let mut panes = Vec::new();
    for mesh in picture.meshes.iter().filter(|m| m.finish == Finish::Glass) {
        for (corners, normals) in mesh.triangles.iter().filter_map(|t| corners(mesh, t)) {
            let far = ((corners[0] + corners[1] + corners[2]) / 3.0 - view.eye).length();
            let vertex = |i: usize| PaneVertex { place: corners[i], normal: normals[i], tint: mesh.colour };
            panes.push((far, std::array::from_fn::<_, 3, _>(vertex)));
        }
    }
    panes.sort_by(|a, b| b.0.total_cmp(&a.0));
    panes.into_iter().flat_map(|p| p.1).collect()
}

/// Rectangles around the lines, farthest first.
pub fn strokes(picture: &Picture, view: &View) -> Vec<StrokeVertex> {
    let mut strokes: Vec<_> = picture.lines.iter().filter_map(|line| stroke(line, view)).collect();
    strokes.sort_by(|a, b| b.0.total_cmp(&a.0));
    strokes.into_iter().flat_map(|s| s.1).collect()
}

/// Distance of a line from the eye [m] and its two triangles; cut at the near plane.
fn stroke(line: &Line, view: &View) -> Option<(f32, [StrokeVertex; 6])> {
    let (near, [right, up, ahead]) = (look::near(view), axes(view));
    let mut ends = line.ends.map(|p| p - view.eye).map(|p| Vec3::new(p.dot(right), p.dot(up), p.dot(ahead)));
    let far = (0.5 * (ends[0] + ends[1])).length();
    if !far.is_finite() || (ends[0].z < near && ends[1].z < near) {
        return None;
    }
    for (i, j) in [(0, 1), (1, 0)] {
        if ends[i].z < near {
            ends[i] = ends[i].lerp(ends[j], (near - ends[i].z) / (ends[j].z - ends[i].z)).with_z(near);
        }
    }
    let width = look::line_width(line.width, view.size[1]);
    if !(width > 0.0 && line.opacity > 0.0) {
        return None;
    }
    let half = Vec2::new(view.size[0] as f32, view.size[1] as f32) * 0.5;
    let [a, b] = ends.map(|p| half + look::focal(view) * Vec2::new(p.x, -p.y) / p.z);
    let reach = (b - a).normalize_or(Vec2::X) * (0.5 * width + 1.0);
    let side = reach.perp();
    let corners = [a - reach - side, b + reach - side, a - reach + side, b + reach + side];
    let vertex = |i: usize| StrokeVertex {
        at: corners[i],
        ends: [a, b],
        inverse: Vec3::new(1.0 / ends[0].z, 1.0 / ends[1].z, width),
        colour: line.colour.extend(line.opacity.min(1.0)).to_array(),
    };
    Some((far, [0, 1, 2, 1, 3, 2].map(vertex)))
}
