//! The columns of the grain solver.
//!
//! Two populations of rows: **grains** (what is integrated, in f64) and **spheres** (what touches). A grain's spheres
//! stand together in the sphere columns, in the order of the grains. A [`Record`] holds all that the contact pass reads
//! of a sphere in one cache line; the grain columns are read by the integrator only.

use barchan_core::shapes::Shape;
use barchan_core::simd::Real;
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use std::f64::consts::PI;

/// What a contact needs to know of a sphere: 64 bytes in mixed precision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Record<R> {
    /// x, y, z, radius [m].
    pub place: [f64; 4],
    /// Velocity of the centre [m/s], angular velocity [rad/s], inverse mass of the grain [1/kg], material.
    pub motion: [R; 8],
}

/// What contacts do to a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Load<R>(
    /// Force [N], torque about the sphere's centre [N m], number of contacts, sum of normal forces [N].
    pub [R; 8],
);

impl<R: Real> Default for Load<R> {
    fn default() -> Self {
        Load([R::of(0.0); 8])
    }
}

/// Slot of a sphere that was in no list yet.
pub const NEWBORN: u32 = u32::MAX;

/// The grains' columns; all of one length.
#[derive(Clone, Debug, Default)]
pub struct Grains {
    /// Centre of mass, radius of the largest sphere [m]; empty while every grain is a sphere: its record has them.
    pub centre: Vec<[f64; 4]>,
    /// Velocity [m/s] (half a step back under Verlet), inverse mass [1/kg].
    pub velocity: Vec<[f64; 4]>,
    /// Angular momentum about the centre of mass [kg m²/s], inverse moment of inertia of a sphere [1/(kg m²)].
    ///
    /// Momentum, not spin: it is what torque changes, so the gyroscopic term needs no formula of its own.
    pub momentum: Vec<[f64; 4]>,
    /// Orientation; empty while every grain is a sphere.
    pub turn: Vec<DQuat>,
    /// Permanent identity.
    pub id: Vec<u32>,
    /// Material.
    pub material: Vec<u16>,
    /// Shape.
    pub shape: Vec<u16>,
    /// How far the grain may still move before lists must be rebuilt [m].
    pub budget: Vec<f32>,
    /// First sphere of each grain, and the number of spheres at the end; empty while every grain is a sphere.
    pub first: Vec<u32>,
}

/// The spheres' columns; all of one length.
#[derive(Clone, Debug)]
pub struct Spheres<R> {
    /// What contacts read.
    pub record: Vec<Record<R>>,
    /// What contacts write.
    pub load: Vec<Load<R>>,
    /// Slot this sphere had when the lists were last built, [`NEWBORN`] if none.
    pub listed: Vec<u32>,
    /// Grain of each sphere; empty while every grain is a sphere.
    pub grain: Vec<u32>,
}

impl<R> Default for Spheres<R> {
    fn default() -> Self {
        Spheres { record: Vec::new(), load: Vec::new(), listed: Vec::new(), grain: Vec::new() }
    }
}

pub(crate) fn vec3(a: &[f64; 4]) -> DVec3 {
    DVec3::new(a[0], a[1], a[2])
}

pub(crate) fn with(v: DVec3, w: f64) -> [f64; 4] {
    [v.x, v.y, v.z, w]
}

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether every grain is a single sphere, so that grain and sphere columns run in step.
    pub fn all_spheres(&self) -> bool {
        self.first.is_empty()
    }

    /// Slots of the spheres of the grains in `grains`.
    #[inline]
    pub fn spheres_of(&self, grains: std::ops::Range<usize>) -> std::ops::Range<usize> {
        if self.all_spheres() { grains } else { self.first[grains.start] as usize..self.first[grains.end] as usize }
    }

    /// Centre of mass and radius of the largest sphere of grain `g` [m].
    #[inline]
    pub fn place<'a, R>(&'a self, g: usize, records: &'a [Record<R>]) -> &'a [f64; 4] {
        if self.all_spheres() { &records[g].place } else { &self.centre[g] }
    }

    /// Principal inverse moments of inertia of grain `g`, of radius `r` [m], [1/(kg m²)].
    #[inline]
    pub fn inverse_inertia(&self, g: usize, r: f64, shapes: &[Shape]) -> DVec3 {
        let shape = &shapes[self.shape[g] as usize];
        // mass · r² · (unit inertia / unit volume)
        self.velocity[g][3] * shape.volume() / (r * r) / shape.inertia()
    }

    /// Angular velocity that goes with angular momentum `l` at orientation `turn` [rad/s].
    #[inline]
    pub fn spin(&self, g: usize, l: DVec3, turn: DQuat, shapes: &[Shape]) -> DVec3 {
        if shapes[self.shape[g] as usize].is_sphere() {
            l * self.momentum[g][3]
        } else {
            turn * (self.inverse_inertia(g, self.centre[g][3], shapes) * (turn.inverse() * l))
        }
    }

    /// Orientation of grain `g`.
    #[inline]
    pub fn turn(&self, g: usize) -> DQuat {
        if self.turn.is_empty() { DQuat::IDENTITY } else { self.turn[g] }
    }

    /// Mass of a grain of this shape [kg].
    pub fn mass(shape: &Shape, radius: f64, density: f64) -> f64 {
        if shape.is_sphere() {
            4.0 / 3.0 * PI * radius.powi(3) * density
        } else {
            shape.volume() * radius.powi(3) * density
        }
    }

    /// Brings every column into the order `order` (new slot → old slot), which may leave rows out.
    pub fn arrange(&mut self, order: &[u32]) {
        fn pick<T: Copy + Send + Sync>(column: &mut Vec<T>, order: &[u32]) {
            if !column.is_empty() {
                *column = order.par_iter().map(|&o| column[o as usize]).collect();
            }
        }
        pick(&mut self.centre, order);
        pick(&mut self.velocity, order);
        pick(&mut self.momentum, order);
        pick(&mut self.turn, order);
        pick(&mut self.id, order);
        pick(&mut self.material, order);
        pick(&mut self.shape, order);
        pick(&mut self.budget, order);
        if !self.first.is_empty() {
            let mut first = Vec::with_capacity(order.len() + 1);
            let mut next = 0;
            for &o in order {
                first.push(next);
                next += self.first[o as usize + 1] - self.first[o as usize];
            }
            first.push(next);
            self.first = first;
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        32 * (self.centre.capacity() + self.velocity.capacity() + self.momentum.capacity() + self.turn.capacity())
            + 4 * (self.id.capacity() + self.budget.capacity() + self.first.capacity())
            + 2 * (self.material.capacity() + self.shape.capacity())
    }
}

impl<R: Real> Spheres<R> {
    /// Number of spheres.
    pub fn len(&self) -> usize {
        self.record.len()
    }

    /// Brings the spheres along when grains are about to be arranged by `order`; call before [`Grains::arrange`].
    pub fn arrange(&mut self, order: &[u32], grains: &Grains) {
        let slots: Vec<u32> = if grains.all_spheres() {
            order.to_vec()
        } else {
            order.iter().flat_map(|&g| grains.first[g as usize]..grains.first[g as usize + 1]).collect()
        };
        self.record = slots.par_iter().map(|&o| self.record[o as usize]).collect();
        self.load = slots.par_iter().map(|&o| self.load[o as usize]).collect();
        self.listed = slots.par_iter().map(|&o| self.listed[o as usize]).collect();
        if !grains.all_spheres() {
            self.grain.clear();
            for (new, &old) in order.iter().enumerate() {
                let count = grains.first[old as usize + 1] - grains.first[old as usize];
                self.grain.extend(std::iter::repeat_n(new as u32, count as usize));
            }
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.record.capacity() * size_of::<Record<R>>()
            + self.load.capacity() * size_of::<Load<R>>()
            + 4 * (self.listed.capacity() + self.grain.capacity())
    }
}
