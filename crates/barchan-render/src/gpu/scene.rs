//! A picture on the device: spheres and solid triangles in textures, panes and lines sorted for the eye.
//!
//! Textures, because a storage binding may be as small as 128 MiB (4 million spheres) where a texture holds 16 million or more, and
//! because every backend has them.

use super::frame::{TEXELS_A_ROW, axes};
use crate::{Finish, Light, Line, Mesh, Picture, RenderError, Sphere, View, look};
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Spheres and solid triangles of a picture, in rows of one texture.
pub struct Scene {
    pub spheres: u32,
    pub facets: u32,
    pub texels: wgpu::TextureView,
}

/// A texel.
type Texel = [f32; 4];

impl Scene {
    /// Puts a picture on the device.
    pub fn upload(device: &wgpu::Device, queue: &wgpu::Queue, picture: &Picture) -> Result<Self, RenderError> {
        let drawable = |s: &Sphere| look::drawable(s.centre, s.radius);
        // A sphere that cannot be drawn stays, with no radius: numbers are rows of the picture.
        let spheres = if picture.spheres.iter().all(drawable) {
            Cow::from(&picture.spheres)
        } else {
            picture.spheres.iter().map(|s| if drawable(s) { *s } else { Sphere::default() }).collect()
        };
        let last = picture.meshes.len().wrapping_sub(1);
        let grain = |m: usize| {
            let ground = picture.ground.as_ref().filter(|_| m == last);
            ground.map_or(0.0, |g| if g.cover.is_some() { -1.0 } else { 2.0 * g.radius })
        };
        let solid = picture.meshes.par_iter().enumerate().filter(|(_, m)| m.finish == Finish::Solid);
        let of = |(i, m): (usize, &'_ Mesh)| -> Vec<[Texel; 7]> {
            (0..m.triangles.len()).into_par_iter().filter_map(|t| facet(m, t, grain(i))).collect()
        };
        let facets: Vec<[Texel; 7]> = solid.map(of).collect::<Vec<_>>().concat();
        // Triangles begin in a row of their own, so that both parts are copied as they are.
        let a_row = TEXELS_A_ROW as usize;
        let (round, flat) = (2 * spheres.len(), 7 * facets.len());
        let (facet_row, most) = (round.div_ceil(a_row), device.limits().max_texture_dimension_2d);
        let rows = (facet_row + flat.div_ceil(a_row)).max(1);
        if rows > most as usize || TEXELS_A_ROW > most {
            let reason = format!(
                "{} spheres and {} triangles are more than it holds ({} spheres)",
                spheres.len(),
                facets.len(),
                most as usize * a_row / 2
            );
            return Err(RenderError::Device { reason });
        }
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("solids"),
            size: wgpu::Extent3d { width: TEXELS_A_ROW, height: rows as u32, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        write(queue, &texture, 0, bytemuck::cast_slice(&spheres));
        write(queue, &texture, facet_row, facets.as_flattened());
        Ok(Scene {
            spheres: spheres.len() as u32,
            facets: facets.len() as u32,
            texels: texture.create_view(&wgpu::TextureViewDescriptor::default()),
        })
    }

    /// Texel of the first triangle.
    pub fn facet_first(&self) -> u32 {
        (2 * self.spheres).next_multiple_of(TEXELS_A_ROW)
    }
}

/// Writes texels from the start of a row on: whole rows, some at a time so that the staging copy stays small, then the rest.
fn write(queue: &wgpu::Queue, texture: &wgpu::Texture, mut row: usize, texels: &[Texel]) {
    let a_row = TEXELS_A_ROW as usize;
    let (whole, rest) = texels.split_at(texels.len() / a_row * a_row);
    for part in whole.chunks(1024 * a_row).chain([rest].into_iter().filter(|r| !r.is_empty())) {
        let (width, height) = (part.len().min(a_row), part.len().div_ceil(a_row));
        let mut to = texture.as_image_copy();
        to.origin.y = row as u32;
        row += height;
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some((a_row * size_of::<Texel>()) as u32),
            rows_per_image: None,
        };
        let size = wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 };
        queue.write_texture(to, bytemuck::cast_slice(part), layout, size);
    }
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

/// A solid triangle as it goes to the device: corners with a channel of the colour each, normals, the first with the diameter of the
/// grains it is made of [m], 0 where it is no ground. Where the corners' colours differ, the second normal comes with a 1 and each corner
/// with its own colour. Last comes what it is fixed to.
fn facet(mesh: &Mesh, number: usize, grain: f32) -> Option<[Texel; 7]> {
    let t = &mesh.triangles[number];
    let ([a, b, c], [l, m, n]) = corners(mesh, t)?;
    let (colours, differ) = match mesh.corner_colours(t) {
        Some(colours) => (colours.map(packed), 1.0),
        None => (mesh.colour.to_array(), 0.0),
    };
    let [red, green, blue] = colours;
    let texels = [a.extend(red), b.extend(green), c.extend(blue), l.extend(grain), m.extend(differ), n.extend(0.0)];
    let [a, b, c, l, m, n] = texels.map(|t| t.to_array());
    Some([a, b, c, l, m, n, mesh.anchors.get(number).copied().unwrap_or([0.0, 0.0, 0.0, 1.0])])
}

/// A colour as one number, eight bits a channel: a whole number below 2^24, which f32 holds. Roots, for the eye tells dark tones apart
/// better than light ones.
fn packed(colour: Vec3) -> f32 {
    let [red, green, blue] =
        colour.to_array().map(|x| if x.is_finite() { (255.0 * x.clamp(0.0, 1.0).sqrt()).round() } else { 0.0 });
    (red * 256.0 + green) * 256.0 + blue
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

/// Corner of the square around a puff: where it is [pixels], the same from the middle [radii]; depth of the middle and radius [m], optical depth;
/// colour.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct PuffVertex {
    at: Vec2,
    corner: Vec2,
    ball: Vec3,
    colour: Vec3,
}

/// Squares around the puffs, farthest first.
pub fn puffs(picture: &Picture, view: &View, light: &Light) -> Vec<PuffVertex> {
    let (near, [right, up, ahead]) = (look::near(view), axes(view));
    let half = Vec2::new(view.size[0] as f32, view.size[1] as f32) * 0.5;
    let mut puffs = Vec::new();
    for puff in &picture.puffs {
        let way = puff.centre - view.eye;
        let at = Vec3::new(way.dot(right), way.dot(up), way.dot(ahead));
        if !(at.is_finite() && puff.radius > 0.0 && puff.depth > 0.0 && at.z - puff.radius > near) {
            continue;
        }
        let scale = look::focal(view) / at.z;
        let middle = half + scale * Vec2::new(at.x, -at.y);
        let colour = look::puff_light(light, way);
        let vertex = |corner: Vec2| PuffVertex {
            at: middle + corner * puff.radius * scale,
            corner,
            ball: Vec3::new(at.z, puff.radius, puff.depth),
            colour,
        };
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        puffs.push((at.z, corners.map(|(x, y)| vertex(Vec2::new(x, y)))));
    }
    puffs.sort_by(|a, b| b.0.total_cmp(&a.0));
    puffs.into_iter().flat_map(|p| p.1).collect()
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
