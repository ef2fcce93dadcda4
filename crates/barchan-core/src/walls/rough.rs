//! Rough surfaces: spheres centred on the surface, on a lattice that is computed from its indices and never stored.
//!
//! Flat faces carry a triangular lattice about the face's middle. Surfaces of revolution carry rings along the
//! generatrix, every other one turned by half a spacing, each with a whole number of spheres so that it closes.
//! A key holds the indices: `face(3) row(14) column(14)` on flat faces, `ring(13) place(18)` on rings. On endless
//! surfaces indices are kept modulo 2¹⁴ (2¹³), and the one meant is the one near the point that asks. Across periodic sides the
//! lattice is stretched to close ([`Closing`]).

use super::closing::Closing;
use super::geometry::meridian;
use super::{Geometry, Nearest, Side};
use crate::math;
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// Spheres that cover a rough wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roughness {
    /// Radius of the spheres [m], which is how far they stand proud of the smooth surface.
    pub radius: f64,
    /// Distance between neighbouring spheres' centres [m].
    pub spacing: f64,
}

/// Bumps a radius may hold: what is looked for near a ball grows as the square of it, and finer bumps make a smooth wall.
const MOST_ACROSS: f64 = 20.0;
const FLAT_BITS: u32 = 14;
const PLACE_BITS: u32 = 18;
const RING_BITS: u32 = 13;
/// Height of a row of the triangular lattice over its spacing, √3/2.
pub(super) const ROW: f64 = 0.866_025_403_784_438_6;

/// The integer nearest to `near` whose lowest `bits` bits are those of `key`.
fn unwrap(key: u32, bits: u32, near: i64) -> i64 {
    let shift = 64 - bits;
    near + (((key as i64 - near) << shift) >> shift)
}

fn low_bits(index: i64, bits: u32) -> u32 {
    (index & ((1 << bits) - 1)) as u32
}

/// Integers in [a, b], none where either is not a number.
fn integers(a: f64, b: f64) -> std::ops::RangeInclusive<i64> {
    (a.ceil() as i64)..=(b.floor() as i64)
}

/// A flat face of a wall: an origin relative to the pivot and two unit directions.
struct Flat {
    origin: DVec3,
    u: DVec3,
    v: DVec3,
}

/// A ring of spheres: place in the half-plane (distance from the axis, height) and how many.
struct Ring {
    at: DVec2,
    count: i64,
}

impl Roughness {
    pub(super) fn check(&self, geometry: &Geometry, found: &mut Vec<(String, &'static str)>) {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(positive(self.radius) && positive(self.spacing)) {
            found.push(("its roughness has no size".into(), "give a positive radius and spacing"));
            return;
        }
        if matches!(geometry, Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_)) {
            found.push((
                "its triangles or heights cannot be rough".into(),
                "leave `rough` out, or give the mesh itself the bumps",
            ));
            return;
        }
        if self.spacing < self.radius / MOST_ACROSS {
            found.push((
                format!(
                    "bumps of radius {} m every {} m lie in each other: so fine a wall is smooth",
                    self.radius, self.spacing
                ),
                "leave `rough` out, or space the bumps by a twentieth of their radius or more",
            ));
            return;
        }
        let widest = match *geometry {
            Geometry::Cylinder { radius, .. } | Geometry::Sphere { radius, .. } => radius,
            Geometry::Cone { radius_base, radius_top, .. } => radius_base.max(radius_top),
            _ => 0.0,
        };
        let too_many = TAU * widest / self.spacing >= (1u32 << PLACE_BITS) as f64
            || self.last_ring(geometry, &Closing::default()).is_some_and(|last| last >= 1 << RING_BITS);
        if too_many {
            found.push((format!("a roughness of {} m is too fine for it", self.spacing), "use a wider spacing"));
        }
    }

    /// Visits every sphere whose surface is within `reach` of `q`.
    pub(super) fn features(
        &self,
        geometry: &Geometry,
        closing: &Closing,
        q: DVec3,
        reach: f64,
        visit: &mut dyn FnMut(u32),
    ) {
        let reach = reach + self.radius;
        if reach < 0.0 {
            return;
        }
        match axis_of(geometry) {
            Some(axis) => self.ring_features(geometry, closing, axis, q, reach, visit),
            None => {
                let faces = match *geometry {
                    Geometry::Box { side: Side::Inside, open, .. } => open.map(|o| !o),
                    Geometry::Box { side: Side::Outside, .. } => [true; 6],
                    _ => [true, false, false, false, false, false],
                };
                for face in (0..6).filter(|&f| faces[f as usize]) {
                    self.flat_features(geometry, closing, face, q, reach, visit);
                }
            }
        }
    }

    /// Distance and normal of one sphere.
    pub(super) fn nearest(&self, geometry: &Geometry, closing: &Closing, key: u32, q: DVec3) -> Nearest {
        let centre = match axis_of(geometry) {
            Some(axis) => {
                let near = match geometry {
                    Geometry::Cylinder { height, .. } if height.is_none() || closing.is_any() => {
                        (q.dot(axis) / (ROW * closing.rows(self.spacing, axis))).round() as i64
                    }
                    // Rings of bounded surfaces are counted from 0 and fit the key: no other can be meant.
                    _ => 1 << (RING_BITS - 1),
                };
                let index = unwrap(key >> PLACE_BITS, RING_BITS, near);
                let ring = self.ring(geometry, closing, index);
                let angle = place_angle(&ring, index, low_bits(key as i64, PLACE_BITS) as i64);
                let (u, v) = axis.any_orthonormal_pair();
                let (sin, cos) = math::sin_cos(angle);
                (u * cos + v * sin) * ring.at.x + axis * ring.at.y
            }
            None => {
                let flat = flat(geometry, closing, key >> (2 * FLAT_BITS));
                let p = q - flat.origin;
                let pitch = self.pitch(closing, &flat);
                let row_near = (p.dot(flat.v) / (ROW * pitch.y)).round() as i64;
                let row = unwrap(key >> FLAT_BITS, FLAT_BITS, row_near);
                let column_near = (p.dot(flat.u) / pitch.x).round() as i64;
                let at = lattice_point(pitch, row, unwrap(key, FLAT_BITS, column_near));
                flat.origin + flat.u * at.x + flat.v * at.y
            }
        };
        let offset = q - centre;
        let length = offset.length();
        // At the very centre of a bump no direction is better: leave by the smooth surface's own.
        let normal =
            if length > 0.0 { offset / length } else { geometry.nearest(key >> (2 * FLAT_BITS) & 7, q).normal };
        Nearest { distance: length - self.radius, normal, radius: self.radius }
    }

    /// The spacing along the rows of a face and from row to row, the latter over [`ROW`] [m].
    fn pitch(&self, closing: &Closing, flat: &Flat) -> DVec2 {
        DVec2::new(closing.columns(self.spacing, flat.u), closing.rows(self.spacing, flat.v))
    }

    fn flat_features(
        &self,
        geometry: &Geometry,
        closing: &Closing,
        face: u32,
        q: DVec3,
        reach: f64,
        visit: &mut dyn FnMut(u32),
    ) {
        let flat = flat(geometry, closing, face);
        let p = q - flat.origin;
        let (x, y) = (p.dot(flat.u), p.dot(flat.v));
        let in_plane = reach * reach - (p.length_squared() - x * x - y * y).max(0.0);
        if in_plane < 0.0 {
            return;
        }
        let pitch = self.pitch(closing, &flat);
        let height = ROW * pitch.y;
        let half_height = in_plane.sqrt();
        for row in integers((y - half_height) / height, (y + half_height) / height) {
            let half_width = (in_plane - (row as f64 * height - y).powi(2)).max(0.0).sqrt();
            let shift = 0.5 * (row & 1) as f64;
            for column in integers((x - half_width) / pitch.x - shift, (x + half_width) / pitch.x - shift) {
                if on_face(geometry, closing, &flat, lattice_point(pitch, row, column)) {
                    let indices = low_bits(row, FLAT_BITS) << FLAT_BITS | low_bits(column, FLAT_BITS);
                    visit(face << (2 * FLAT_BITS) | indices);
                }
            }
        }
    }

    /// Index of the last ring of a bounded surface of revolution; the first is 0.
    fn last_ring(&self, geometry: &Geometry, closing: &Closing) -> Option<i64> {
        let generatrix = match *geometry {
            Geometry::Cylinder { height: Some(h), .. } if !closing.is_any() => h,
            Geometry::Cone { radius_base, radius_top, height, .. } => math::hypot(radius_top - radius_base, height),
            Geometry::Sphere { radius, .. } => PI * radius,
            _ => return None,
        };
        Some(((generatrix / (ROW * self.spacing)).round() as i64).max(1))
    }

    fn ring(&self, geometry: &Geometry, closing: &Closing, index: i64) -> Ring {
        let share = || index as f64 / self.last_ring(geometry, closing).unwrap_or(1) as f64;
        let at = match *geometry {
            Geometry::Cylinder { radius, height: Some(h), .. } if !closing.is_any() => DVec2::new(radius, h * share()),
            Geometry::Cylinder { radius, axis, .. } => {
                DVec2::new(radius, ROW * closing.rows(self.spacing, axis) * index as f64)
            }
            Geometry::Cone { radius_base, radius_top, height, .. } => {
                let t = share();
                DVec2::new(radius_base + (radius_top - radius_base) * t, height * t)
            }
            Geometry::Sphere { radius, .. } => {
                let (sin, cos) = math::sin_cos(PI * share());
                DVec2::new(radius * sin, -radius * cos)
            }
            _ => DVec2::ZERO,
        };
        Ring { at, count: ((TAU * at.x / self.spacing).round() as i64).max(1) }
    }

    fn ring_features(
        &self,
        geometry: &Geometry,
        closing: &Closing,
        axis: DVec3,
        q: DVec3,
        reach: f64,
        visit: &mut dyn FnMut(u32),
    ) {
        let (p, outward) = meridian(q, axis);
        let (u, v) = axis.any_orthonormal_pair();
        let azimuth = math::atan2(outward.dot(v), outward.dot(u));
        // Rings whose place in the point's own half-plane may be within reach, by their share of the generatrix.
        let last = self.last_ring(geometry, closing);
        let rings = match *geometry {
            Geometry::Sphere { radius, .. } => {
                let polar = math::atan2(p.x, -p.y);
                let width = half_angle(p.length(), radius, reach, 0.0);
                let step = PI / last.unwrap_or(1) as f64;
                integers((polar - width) / step, (polar + width) / step)
            }
            Geometry::Cone { radius_base, radius_top, height, .. } => {
                let along = DVec2::new(radius_top - radius_base, height);
                let t = (p - DVec2::new(radius_base, 0.0)).dot(along.normalize());
                let step = along.length() / last.unwrap_or(1) as f64;
                integers((t - reach) / step, (t + reach) / step)
            }
            _ => {
                let step = match *geometry {
                    Geometry::Cylinder { height: Some(h), .. } if !closing.is_any() => h / last.unwrap_or(1) as f64,
                    _ => ROW * closing.rows(self.spacing, axis),
                };
                integers((p.y - reach) / step, (p.y + reach) / step)
            }
        };
        let (first, end) = match last {
            Some(last) => ((*rings.start()).max(0), (*rings.end()).min(last)),
            None => rings.into_inner(),
        };
        for index in first..=end {
            let ring = self.ring(geometry, closing, index);
            let dz = ring.at.y - p.y;
            if dz.abs() > reach || (ring.at.x - p.x).abs() > reach {
                continue;
            }
            let width = half_angle(p.x, ring.at.x, reach, dz);
            let step = TAU / ring.count as f64;
            let shift = 0.5 * (index & 1) as f64;
            let high = low_bits(index, RING_BITS) << PLACE_BITS;
            let places = integers((azimuth - width) / step - shift, (azimuth + width) / step - shift);
            let all = width >= PI || places.end() - places.start() >= ring.count;
            for place in if all { 0..=ring.count - 1 } else { places } {
                // Where the angles admit a whole ring, its far side is still to be ruled out.
                let apart = ring_distance_squared(p.x, ring.at.x, place_angle(&ring, index, place) - azimuth, dz);
                if apart <= reach * reach {
                    visit(high | low_bits(place.rem_euclid(ring.count), PLACE_BITS));
                }
            }
        }
    }
}

/// A point of the triangular lattice of that spacing along its rows and, over [`ROW`], from row to row.
fn lattice_point(pitch: DVec2, row: i64, column: i64) -> DVec2 {
    DVec2::new((column as f64 + 0.5 * (row & 1) as f64) * pitch.x, row as f64 * ROW * pitch.y)
}

fn place_angle(ring: &Ring, index: i64, place: i64) -> f64 {
    TAU * (place as f64 + 0.5 * (index & 1) as f64) / ring.count as f64
}

/// |x − c|² for a point at radius `a` and one on a ring of radius `b`, an angle and a height apart.
fn ring_distance_squared(a: f64, b: f64, angle: f64, dz: f64) -> f64 {
    // (a − b)² + 4ab sin²(θ/2): the cosine rule without its cancellation.
    let half = math::sin(0.5 * angle);
    (a - b) * (a - b) + 4.0 * a * b * half * half + dz * dz
}

/// Greatest angle between a point at radius `a` and one at radius `b` that are within `reach`; π where all are.
fn half_angle(a: f64, b: f64, reach: f64, dz: f64) -> f64 {
    let room = reach * reach - dz * dz - (a - b) * (a - b);
    if room < 0.0 {
        return -1.0;
    }
    let sin_squared = room / (4.0 * a * b);
    if sin_squared < 1.0 { 2.0 * math::asin(sin_squared.sqrt()) } else { PI }
}

fn axis_of(geometry: &Geometry) -> Option<DVec3> {
    match *geometry {
        Geometry::Cylinder { axis, .. } | Geometry::Cone { axis, .. } => Some(axis),
        Geometry::Sphere { .. } => Some(DVec3::Z),
        Geometry::Plane { .. }
        | Geometry::Box { .. }
        | Geometry::Disc { .. }
        | Geometry::Mesh(_)
        | Geometry::Field(_)
        | Geometry::Relief(_) => None,
    }
}

fn flat(geometry: &Geometry, closing: &Closing, face: u32) -> Flat {
    match *geometry {
        Geometry::Box { min, max, .. } => {
            let axis = face as usize / 2 % 3;
            let mut origin = DVec3::ZERO;
            origin[axis] = 0.5 * (max - min)[axis] * if face.is_multiple_of(2) { -1.0 } else { 1.0 };
            Flat { origin, u: DVec3::AXES[(axis + 1) % 3], v: DVec3::AXES[(axis + 2) % 3] }
        }
        Geometry::Plane { normal, .. } | Geometry::Disc { normal, .. } => {
            let (u, v) = closing.frame().unwrap_or_else(|| normal.any_orthonormal_pair());
            Flat { origin: DVec3::ZERO, u, v }
        }
        _ => Flat { origin: DVec3::ZERO, u: DVec3::X, v: DVec3::Y },
    }
}

fn on_face(geometry: &Geometry, closing: &Closing, flat: &Flat, at: DVec2) -> bool {
    match *geometry {
        Geometry::Box { min, max, .. } => {
            let half = 0.5 * (max - min);
            (closing.goes_on(flat.u) || at.x.abs() <= half.dot(flat.u))
                && (closing.goes_on(flat.v) || at.y.abs() <= half.dot(flat.v))
        }
        Geometry::Disc { radius, hole, .. } => (hole..=radius).contains(&at.length()),
        _ => true,
    }
}
