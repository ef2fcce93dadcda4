//! Walls of triangles, and the features of them that a ball can touch: faces, edges, corners.
//!
//! A contact is known by its feature ([`Feature`], [`Facets::key`]), for as long as a ball is nearest to that feature the contact is
//! with the plane, the line or the point that it lies in ([`Foot`]), and no triangle need be looked at. Which features are
//! touched, and how far a ball can go until that changes, is found in `touch.rs`.

use crate::mesh::Mesh;
use crate::mesh::near::{Surface, closest};
use glam::DVec3;
use std::collections::HashMap;

/// Key of a contact with nothing: it is infinitely far.
pub const NO_FEATURE: u32 = u32::MAX;

/// Triangles made ready to be touched.
#[derive(Clone, Debug)]
pub struct Facets {
    mesh: Mesh,
    /// None without triangles.
    surface: Option<Surface>,
    /// Edge k of triangle t is `3 t + k`, from corner k to the next; the next triangle's edge around the same two vertices, in a
    /// circle.
    next: Vec<u32>,
    /// Triangles around vertex v: `fans[starts[v]..starts[v + 1]]`, in the order of their numbers.
    starts: Vec<u32>,
    fans: Vec<u32>,
    /// Of each triangle: bit k if it is the first around its edge k, bit 3 + k if it is the first around its corner k.
    leads: Vec<u8>,
    /// Whether it closes, and so has an inside.
    solid: bool,
    /// What it is turned about [m].
    pivot: DVec3,
    /// Greatest distance of a vertex from there [m].
    extent: f64,
}

impl PartialEq for Facets {
    fn eq(&self, other: &Self) -> bool {
        self.mesh == other.mesh
    }
}

impl Default for Facets {
    fn default() -> Self {
        Facets::new(Mesh::default())
    }
}

/// What of a mesh a ball touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A triangle.
    Face(u32),
    /// Edge k of triangle t as `3 t + k`, t being the first around it.
    Edge(u32),
    /// A vertex.
    Corner(u32),
}

/// The plane, line or point in which a feature lies: where a ball stands on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// A point of it [m].
    pub point: DVec3,
    /// Unit normal of a plane, unit direction of a line; 0 for a point.
    pub along: DVec3,
    /// 0 for a plane, 1 for a line or a point.
    pub around: f64,
}

impl Foot {
    /// Farther than any ball.
    pub const NONE: Foot = Foot { point: DVec3::splat(1e30), along: DVec3::ZERO, around: 1.0 };

    /// From its nearest point to `x` [m].
    #[inline]
    pub fn offset(&self, x: DVec3) -> DVec3 {
        let from = x - self.point;
        // Along the normal of a plane; across a line.
        self.around * from + (1.0 - 2.0 * self.around) * from.dot(self.along) * self.along
    }
}

impl Facets {
    /// Makes a mesh ready, to be turned about the middle of its box; triangles without area must have been removed
    /// ([`Mesh::weld`]).
    pub fn new(mesh: Mesh) -> Facets {
        let (low, high) = mesh.bounds().unwrap_or_default();
        Facets::about(mesh, 0.5 * (low + high))
    }

    /// The same, to be turned about a point [m].
    pub fn about(mesh: Mesh, pivot: DVec3) -> Facets {
        let surface = Surface::build(&mesh).ok();
        let mut last: HashMap<[u32; 2], u32> = HashMap::new();
        let mut next: Vec<u32> = (0..3 * mesh.triangles.len() as u32).collect();
        let mut leads = vec![0; mesh.triangles.len()];
        let mut starts = vec![0; mesh.vertices.len() + 1];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let edge = (3 * t + k) as u32;
                match last.insert([a.min(b), a.max(b)], edge) {
                    // Into the circle, after the one that was last.
                    Some(other) => next.swap(edge as usize, other as usize),
                    None => leads[t] |= 1 << k,
                }
                if starts[a as usize + 1] == 0 {
                    leads[t] |= 8 << k;
                }
                starts[a as usize + 1] += 1;
            }
        }
        for v in 0..mesh.vertices.len() {
            starts[v + 1] += starts[v];
        }
        let mut at = starts.clone();
        let mut fans = vec![0; 3 * mesh.triangles.len()];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            for &v in corners {
                fans[at[v as usize] as usize] = t as u32;
                at[v as usize] += 1;
            }
        }
        let solid = surface.as_ref().is_some_and(|s| s.is_closed());
        let extent = mesh.vertices.iter().map(|v| v.distance(pivot)).fold(0.0, f64::max);
        Facets { solid, surface, next, starts, fans, leads, pivot, extent, mesh }
    }

    /// The triangles.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// What it is turned about [m].
    pub fn pivot(&self) -> DVec3 {
        self.pivot
    }

    /// Greatest distance of a vertex from the pivot [m].
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// Whether it is closed, and so has an inside.
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// Corners of the box around it [m].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.surface.as_ref().and_then(|s| s.tree().bounds()).unwrap_or_default()
    }

    fn normals(&self) -> &[DVec3] {
        self.surface.as_ref().map_or(&[], |s| s.normals())
    }

    /// Unit normal of a triangle.
    pub fn normal(&self, triangle: u32) -> DVec3 {
        self.normals()[triangle as usize]
    }

    /// Visits the triangles within `reach` [m] of a point, in the order of their numbers.
    pub fn near(&self, x: DVec3, reach: f64, visit: &mut dyn FnMut(u32)) {
        let mut found = Vec::new();
        if let Some(surface) = &self.surface {
            surface.tree().within(x, reach, |n| found.push(n.triangle));
        }
        found.sort_unstable();
        found.into_iter().for_each(visit);
    }

    /// Distance from a point [m], negative within a solid; infinite without triangles.
    pub fn distance(&self, x: DVec3) -> f64 {
        let found = self.surface.as_ref().and_then(|s| Some((s, s.tree().nearest(x, f64::INFINITY)?)));
        found.map_or(f64::INFINITY, |(s, n)| if self.solid { s.signed(x, &n) } else { n.distance })
    }

    /// Distance [m] and unit normal of the nearest point within `reach` [m], in the frame it was made in: negative and outwards
    /// within a solid; towards the point for a sheet.
    pub fn nearest(&self, x: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        let (surface, near) = self.surface.as_ref().and_then(|s| Some((s, s.tree().nearest(x, reach)?)))?;
        let distance = if self.solid { surface.signed(x, &near) } else { near.distance };
        let away = (x - near.point) * if distance < 0.0 { -1.0 } else { 1.0 };
        Some((distance, away.try_normalize().unwrap_or_else(|| self.normal(near.triangle))))
    }

    /// Number by which a contact with a feature is kept: below [`Facets::features`].
    pub fn key(&self, feature: Feature) -> u32 {
        let triangles = self.mesh.triangles.len() as u32;
        match feature {
            Feature::Face(t) => t,
            Feature::Edge(e) => triangles + e,
            Feature::Corner(v) => 4 * triangles + v,
        }
    }

    /// The feature of a key; none for [`NO_FEATURE`] and what else is no key.
    pub fn feature(&self, key: u32) -> Option<Feature> {
        let triangles = self.mesh.triangles.len() as u32;
        if key < triangles {
            Some(Feature::Face(key))
        } else if key < 4 * triangles {
            Some(Feature::Edge(key - triangles))
        } else {
            (key < self.features()).then(|| Feature::Corner(key - 4 * triangles))
        }
    }

    /// Number of keys.
    pub fn features(&self) -> u32 {
        (4 * self.mesh.triangles.len() + self.mesh.vertices.len()) as u32
    }

    /// Where a ball stands that touches the feature of a key.
    pub fn foot(&self, key: u32) -> Foot {
        match self.feature(key) {
            None => Foot::NONE,
            Some(Feature::Face(t)) => {
                Foot { point: self.mesh.corners(t as usize)[0], along: self.normal(t), around: 0.0 }
            }
            Some(Feature::Edge(e)) => {
                let [a, b] = self.ends(e);
                Foot { point: a, along: (b - a).normalize(), around: 1.0 }
            }
            Some(Feature::Corner(v)) => Foot { point: self.mesh.vertices[v as usize], along: DVec3::ZERO, around: 1.0 },
        }
    }

    /// Nearest point of a feature [m].
    pub fn closest(&self, feature: Feature, x: DVec3) -> DVec3 {
        match feature {
            Feature::Face(t) => closest(&self.mesh.corners(t as usize), x).0,
            Feature::Edge(e) => {
                let [a, b] = self.ends(e);
                a + (b - a) * ((x - a).dot(b - a) / a.distance_squared(b)).clamp(0.0, 1.0)
            }
            Feature::Corner(v) => self.mesh.vertices[v as usize],
        }
    }

    /// The two ends of an edge [m].
    pub(super) fn ends(&self, edge: u32) -> [DVec3; 2] {
        let (corners, k) = (self.mesh.corners(edge as usize / 3), edge as usize % 3);
        [corners[k], corners[(k + 1) % 3]]
    }

    /// The triangles around an edge, each with its third corner [m].
    pub(super) fn sides(&self, edge: u32) -> impl Iterator<Item = (u32, DVec3)> {
        let mut at = edge;
        std::iter::from_fn(move || {
            at = self.next[at as usize];
            Some(at)
        })
        .scan(false, move |over, at| (!std::mem::replace(over, at == edge)).then_some(at))
        .map(|at| (at / 3, self.mesh.corners(at as usize / 3)[(at as usize % 3 + 2) % 3]))
    }

    /// The triangles around a vertex.
    pub(super) fn fan(&self, vertex: u32) -> &[u32] {
        &self.fans[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// The features that are to be looked for from a triangle: its face, and the edges and corners it is the first around.
    pub(super) fn led_by(&self, triangle: u32) -> impl Iterator<Item = Feature> {
        let (corners, leads) = (self.mesh.triangles[triangle as usize], self.leads[triangle as usize]);
        let edges = (0..3).filter(move |k| leads >> k & 1 == 1).map(move |k| Feature::Edge(3 * triangle + k));
        let vertices = (0..3).filter(move |k| leads >> (3 + k) & 1 == 1);
        [Feature::Face(triangle)]
            .into_iter()
            .chain(edges)
            .chain(vertices.map(move |k| Feature::Corner(corners[k as usize])))
    }
}
