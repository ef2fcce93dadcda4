//! Glass panes, spray and lines, laid over what is seen: points 8 and 12 of the look.

use super::eye::{Eye, facet_normal, smooth_normal};
use super::shapes::{Facet, Line};
use super::tiles::{Bins, Rect, TILE};
use crate::look::{self, LINE_LIFT};
use crate::{Finish, Light, Picture};
use glam::{Vec2, Vec3};

/// Panes and lines before the eye, sorted into tiles.
pub struct Overlay<'a> {
    picture: &'a Picture,
    panes: Vec<Facet>,
    corners: Vec<(u32, [u32; 3])>,
    pane_bins: Bins,
    puffs: Vec<Puff>,
    puff_bins: Bins,
    strokes: Vec<Stroke>,
    stroke_bins: Bins,
}

/// A puff of spray before the eye.
struct Puff {
    /// Middle [pixels], and radius there [pixels].
    middle: Vec2,
    wide: f32,
    /// Depth of its middle [m], and radius [m].
    at: f32,
    radius: f32,
    /// Optical depth.
    depth: f32,
    colour: Vec3,
    rect: Rect,
}

/// A line in the picture.
struct Stroke {
    /// Ends [pixels].
    ends: [Vec2; 2],
    /// One over the depth of each [1/m].
    inverse: [f32; 2],
    /// [pixels]
    width: f32,
    colour: Vec3,
    opacity: f32,
    /// Distance of its middle from the eye [m].
    key: f32,
    rect: Rect,
}

/// The samples of a tile that are laid over.
pub struct Under<'a> {
    /// Number of the tile.
    pub tile: usize,
    /// Depth of each sample [m].
    pub depth: &'a [f32],
    /// Light of each sample.
    pub light: &'a mut [Vec3],
}

impl<'a> Overlay<'a> {
    /// Puts panes, puffs and lines before the eye.
    pub fn new(picture: &'a Picture, eye: &Eye, light: &Light) -> Self {
        let near = look::near(&eye.view);
        let side = eye.side as f32;
        let (mut panes, mut corners) = (Vec::new(), Vec::new());
        for (m, mesh) in picture.meshes.iter().enumerate().filter(|(_, m)| m.finish == Finish::Glass) {
            for t in &mesh.triangles {
                let Some(points) = super::corners(mesh, t) else { continue };
                let points = points.map(|p| eye.axes.transpose() * (p - eye.view.eye));
                let mut pane = Facet::before_eye(points, near, eye.grid.size, |p| eye.pixel(p) * side);
                pane.key = ((points[0] + points[1] + points[2]) / 3.0).length();
                panes.push(pane);
                corners.push((m as u32, *t));
            }
        }
        let strokes: Vec<Stroke> = picture.lines.iter().filter_map(|line| stroke(line, eye, near)).collect();
        let puffs: Vec<Puff> = picture.puffs.iter().filter_map(|p| puff(p, eye, near, light)).collect();
        let (mut pane_bins, mut puff_bins, mut stroke_bins) = (Bins::default(), Bins::default(), Bins::default());
        puff_bins.fill(&eye.grid, puffs.iter().map(|p| (p.rect, p.at)));
        pane_bins.fill(&eye.grid, panes.iter().map(|p| (p.rect, p.key)));
        stroke_bins.fill(&eye.grid, strokes.iter().map(|s| (s.rect, s.key)));
        Overlay { picture, panes, corners, pane_bins, puffs, puff_bins, strokes, stroke_bins }
    }

    /// Whether there is nothing to lay over a tile.
    pub fn is_bare(&self, tile: usize) -> bool {
        self.pane_bins.is_empty(tile) && self.puff_bins.is_empty(tile) && self.stroke_bins.is_empty(tile)
    }

    /// Lays panes, then puffs, then lines over a tile, farthest first.
    pub fn lay(&self, eye: &Eye, light: &Light, room: &mut Vec<u64>, under: &mut Under) {
        for (_, i) in self.pane_bins.sorted(under.tile, room).rev() {
            self.lay_pane(i, eye, light, under);
        }
        for (_, i) in self.puff_bins.sorted(under.tile, room).rev() {
            self.puffs[i].lay(eye, under);
        }
        for (_, i) in self.stroke_bins.sorted(under.tile, room).rev() {
            self.strokes[i].lay(eye, under);
        }
    }

    /// One pane: its veil is found once a pixel, whether it is hidden once a sample.
    fn lay_pane(&self, i: usize, eye: &Eye, light: &Light, under: &mut Under) {
        let (m, t) = self.corners[i];
        let mesh = &self.picture.meshes[m as usize];
        let pane = &self.panes[i];
        let first = eye.grid.first(under.tile);
        let (side, near) = (eye.side as usize, look::near(&eye.view));
        let [x0, y0, x1, y1] = pane.rect.within(first[0], first[1], eye.grid.span);
        let corner = eye.slope(first);
        let step = eye.slope([first[0] + 1, first[1] + 1]) - corner;
        if pane.misses(corner, corner + step * eye.grid.span as f32) {
            return;
        }
        let flat = facet_normal(mesh, &t);
        for y in y0 / side..y1.div_ceil(side) {
            let (mut from, mut to) = (x1, x0);
            let mut lines = [Line::default(); 4];
            for row in 0..side {
                let ray = Vec2::new(corner.x, corner.y + step.y * (y * side + row) as f32);
                let columns = pane.columns(ray, step.x, x0..x1);
                if !columns.is_empty() {
                    (from, to) = (from.min(columns.start), to.max(columns.end));
                }
                lines[row] = pane.line(ray, step.x);
            }
            for x in from / side..to.div_ceil(side) {
                let mut veil = None;
                for (column, row) in (0..side * side).map(|k| (x * side + k % side, k / side)) {
                    let cell = (y * side + row) * TILE + column;
                    let Some(depth) = lines[row].meets(column as f32) else { continue };
                    if depth < near || depth >= under.depth[cell] {
                        continue;
                    }
                    let (opacity, colour) = *veil.get_or_insert_with(|| {
                        let slope = corner + step * Vec2::new(column as f32, (y * side + row) as f32);
                        let normal = smooth_normal(mesh, &t, pane.shares(slope)).unwrap_or(flat);
                        let to_eye = -(eye.axes * slope.extend(1.0)).normalize();
                        look::pane(light, mesh.colour, normal, to_eye)
                    });
                    under.light[cell] = under.light[cell].lerp(colour, opacity);
                }
            }
        }
    }
}

/// A puff before the eye; none where it cannot be seen. What reaches beside the eye is left out: it would be a veil over all.
fn puff(puff: &crate::Puff, eye: &Eye, near: f32, light: &Light) -> Option<Puff> {
    let centre = eye.axes.transpose() * (puff.centre - eye.view.eye);
    if !(centre.is_finite() && puff.radius > 0.0 && puff.depth > 0.0 && centre.z - puff.radius > near) {
        return None;
    }
    let middle = eye.pixel(centre);
    let wide = puff.radius * eye.focal / centre.z;
    let side = eye.side as f32;
    let (low, high) = ((middle - wide) * side, (middle + wide) * side);
    let rect = Rect::around(low.to_array(), high.to_array(), eye.grid.size);
    let colour = look::puff_light(light, puff.centre - eye.view.eye);
    Some(Puff { middle, wide, at: centre.z, radius: puff.radius, depth: puff.depth, colour, rect })
}

impl Puff {
    fn lay(&self, eye: &Eye, under: &mut Under) {
        let first = eye.grid.first(under.tile);
        let side = eye.side as f32;
        let [x0, y0, x1, y1] = self.rect.within(first[0], first[1], eye.grid.span);
        for row in y0..y1 {
            for column in x0..x1 {
                let p = Vec2::new((first[0] as usize + column) as f32, (first[1] as usize + row) as f32);
                let square = (((p + 0.5) / side - self.middle) / self.wide).length_squared();
                let cell = row * TILE + column;
                if square < 1.0 {
                    let behind = (under.depth[cell] - self.at) / self.radius;
                    let share = look::puff_share(self.depth, square, behind);
                    under.light[cell] = under.light[cell].lerp(self.colour, share);
                }
            }
        }
    }
}

/// A line before the eye, cut at the near plane.
fn stroke(line: &crate::Line, eye: &Eye, near: f32) -> Option<Stroke> {
    let mut ends = line.ends.map(|p| eye.axes.transpose() * (p - eye.view.eye));
    let key = (0.5 * (ends[0] + ends[1])).length();
    if !key.is_finite() || (ends[0].z < near && ends[1].z < near) {
        return None;
    }
    for (i, j) in [(0, 1), (1, 0)] {
        if ends[i].z < near {
            ends[i] = ends[i].lerp(ends[j], (near - ends[i].z) / (ends[j].z - ends[i].z)).with_z(near);
        }
    }
    let width = look::line_width(line.width, eye.view.size[1]);
    if !(width > 0.0 && line.opacity > 0.0) {
        return None;
    }
    let pixels = ends.map(|p| eye.pixel(p));
    let (margin, side) = (0.5 * width + 1.0, eye.side as f32);
    let (low, high) = (pixels[0].min(pixels[1]) - margin, pixels[0].max(pixels[1]) + margin);
    Some(Stroke {
        ends: pixels,
        inverse: ends.map(|p| 1.0 / p.z),
        width,
        colour: line.colour,
        opacity: line.opacity.min(1.0),
        key,
        rect: Rect::around((low * side).to_array(), (high * side).to_array(), eye.grid.size),
    })
}

impl Stroke {
    fn lay(&self, eye: &Eye, under: &mut Under) {
        let first = eye.grid.first(under.tile);
        let side = eye.side as f32;
        let [a, b] = self.ends;
        let along = b - a;
        let square = along.length_squared().max(f32::MIN_POSITIVE);
        let part = |p: Vec2| ((p - a).dot(along) / square).clamp(0.0, 1.0);
        // A long slanted line has a large rectangle; most tiles of it are far from the line.
        let half = 0.5 * eye.grid.span as f32 / side;
        let middle = Vec2::new(first[0] as f32, first[1] as f32) / side + half;
        if (middle - (a + along * part(middle))).length() > 1.5 * half + 0.5 * self.width + 1.0 {
            return;
        }
        let [x0, y0, x1, y1] = self.rect.within(first[0], first[1], eye.grid.span);
        for row in y0..y1 {
            for column in x0..x1 {
                let p = Vec2::new((first[0] as usize + column) as f32, (first[1] as usize + row) as f32);
                let p = (p + 0.5) / side;
                let part = part(p);
                let share = look::line_share(self.width, (p - (a + along * part)).length()) * self.opacity;
                let cell = row * TILE + column;
                let inverse = self.inverse[0] + (self.inverse[1] - self.inverse[0]) * part;
                if share > 0.0 && 1.0 - LINE_LIFT <= under.depth[cell] * inverse {
                    under.light[cell] = under.light[cell].lerp(self.colour, share);
                }
            }
        }
    }
}
