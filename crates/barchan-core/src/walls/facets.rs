//! Walls of triangles: where a ball touches them.
//!
//! A ball touches a surface where the distance from its centre has a *local minimum* over the surface. On a plane there is
//! one, however the plane is cut into triangles: a point on an edge or a corner counts only if no triangle that meets there
//! leads nearer. Over a convex edge there is one as well, so nothing is counted twice; in a concave corner there is one for
//! each side. Where two sides of a concave edge are nearly level the nearer counts alone: both would be a second contact
//! that comes and goes at full strength within a hair's breadth of the edge.
//!
//! A closed mesh is a solid, touched from outside alone: the far side of a thin blade must not reach through it. An open one
//! is a shell, touched from both sides, as all walls with a rim are.

use crate::mesh::Mesh;
use crate::mesh::near::{Feature, Surface, closest};
use glam::DVec3;
use std::collections::HashMap;

/// Cosine of the angle within which two contacts count as one. At 15° a second contact begins before its share of the overlap,
/// θ²/2 of the radius or 3 %, is reached, so that nothing jumps in either case.
const SAME_DIRECTION: f64 = 0.966;
/// Share of the product of lengths below which a direction counts as level: rounding must not lose a contact between two
/// triangles that each take it for the other's.
const LEVEL: f64 = 1e-9;
/// Most contacts of one ball with one wall.
pub const MOST_TOUCHES: usize = 4;

/// Key of a contact with no triangle: it is infinitely far.
pub const NO_TRIANGLE: u32 = u32::MAX;

/// Triangles made ready to be touched.
#[derive(Clone, Debug)]
pub struct Facets {
    mesh: Mesh,
    /// None without triangles.
    surface: Option<Surface>,
    /// Edge k of triangle t is `3 t + k`; the next triangle's edge around the same two vertices, in a circle.
    next: Vec<u32>,
    /// Vertices joined to vertex v by an edge: `joined[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    joined: Vec<u32>,
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

/// A place where a ball touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Triangle it lies on; of several the first.
    pub triangle: u32,
    /// Where [m].
    pub point: DVec3,
    /// From the centre of the ball [m].
    pub distance: f64,
    /// Unit vector from there to the centre.
    pub normal: DVec3,
}

/// The touches of one ball, nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touches {
    found: [Option<Touch>; MOST_TOUCHES],
    count: usize,
}

impl Touches {
    /// All of them, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Touch> {
        self.found[..self.count].iter().flatten()
    }

    /// Keeps the nearest of those that point the same way, and no more than [`MOST_TOUCHES`].
    fn add(&mut self, touch: Touch) {
        let before = |a: &Touch, b: &Touch| (a.distance, a.triangle) < (b.distance, b.triangle);
        let alike = |a: &Touch| a.normal.dot(touch.normal) > SAME_DIRECTION;
        if self.iter().any(|a| alike(a) && before(a, &touch)) {
            return;
        }
        let mut kept = Touches::default();
        let mut new = Some(touch);
        for &old in self.iter() {
            if let Some(touch) = new.filter(|t| before(t, &old)) {
                kept.push(touch);
                new = None;
            }
            if !alike(&old) {
                kept.push(old);
            }
        }
        if let Some(touch) = new {
            kept.push(touch);
        }
        *self = kept;
    }

    fn push(&mut self, touch: Touch) {
        if self.count < MOST_TOUCHES {
            self.found[self.count] = Some(touch);
            self.count += 1;
        }
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
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (t, corners) in mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let edge = (3 * t + k) as u32;
                match last.insert([a.min(b), a.max(b)], edge) {
                    // Into the circle, after the one that was last.
                    Some(other) => next.swap(edge as usize, other as usize),
                    None => pairs.extend([[a, b], [b, a]]),
                }
            }
        }
        pairs.sort_unstable();
        let mut starts = vec![0; mesh.vertices.len() + 1];
        pairs.iter().for_each(|p| starts[p[0] as usize + 1] += 1);
        for v in 0..mesh.vertices.len() {
            starts[v + 1] += starts[v];
        }
        let solid = surface.as_ref().is_some_and(|s| s.is_closed());
        Facets {
            solid,
            surface,
            next,
            starts,
            joined: pairs.iter().map(|p| p[1]).collect(),
            pivot,
            extent: mesh.vertices.iter().map(|v| v.distance(pivot)).fold(0.0, f64::max),
            mesh,
        }
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

    /// Nearest point of a triangle [m].
    pub fn closest(&self, triangle: u32, x: DVec3) -> DVec3 {
        closest(&self.mesh.corners(triangle as usize), x).0
    }

    /// Most touches a ball near these triangles can have: one where all face the same way.
    pub fn most_touches(&self, triangles: &[u32]) -> usize {
        let Some(&first) = triangles.first() else { return 0 };
        let level = |&t: &u32| self.normal(t).dot(self.normal(first)) > SAME_DIRECTION;
        if triangles.iter().all(level) { 1 } else { triangles.len().min(MOST_TOUCHES) }
    }

    /// Where a ball about `x` touches, among these triangles, which must be all within its radius [m].
    pub fn touches(&self, x: DVec3, radius: f64, triangles: &[u32]) -> Touches {
        let mut found = Touches::default();
        let normals = self.normals();
        for &triangle in triangles {
            let t = triangle as usize;
            let corners = self.mesh.corners(t);
            let height = (x - corners[0]).dot(normals[t]);
            if height.abs() >= radius || self.solid && height < 0.0 {
                continue;
            }
            let (point, feature) = closest(&corners, x);
            let offset = x - point;
            let leads_nearer = match feature {
                Feature::Face => {
                    let normal = if height < 0.0 { -normals[t] } else { normals[t] };
                    found.add(Touch { triangle, point, distance: height.abs(), normal });
                    continue;
                }
                Feature::Edge(k) => self.around(t, k as usize).any(|w| ahead(offset, self.mesh.vertices[w] - point)),
                Feature::Vertex(k) => {
                    let v = self.mesh.triangles[t][k as usize] as usize;
                    let joined = &self.joined[self.starts[v] as usize..self.starts[v + 1] as usize];
                    joined.iter().any(|&w| ahead(offset, self.mesh.vertices[w as usize] - point))
                }
            };
            let distance = offset.length();
            if !leads_nearer && distance < radius {
                let normal = if distance > 0.0 { offset / distance } else { normals[t] };
                found.add(Touch { triangle, point, distance, normal });
            }
        }
        found
    }

    /// The third corners of the triangles around an edge.
    fn around(&self, triangle: usize, k: usize) -> impl Iterator<Item = usize> {
        let start = 3 * triangle + k;
        let mut edge = start;
        std::iter::from_fn(move || {
            edge = self.next[edge] as usize;
            Some(edge)
        })
        .scan(false, move |over, edge| (!std::mem::replace(over, edge == start)).then_some(edge))
        .map(|edge| self.mesh.triangles[edge / 3][(edge % 3 + 2) % 3] as usize)
    }
}

/// Whether going along `way` leads nearer to what is `offset` away.
#[inline(always)]
fn ahead(offset: DVec3, way: DVec3) -> bool {
    let along = offset.dot(way);
    along > 0.0 && along * along > LEVEL * LEVEL * offset.length_squared() * way.length_squared()
}
