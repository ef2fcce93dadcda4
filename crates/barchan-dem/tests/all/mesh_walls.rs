//! A wall of triangles acts as the surface they tile.

use crate::common;

use barchan_core::mesh::Mesh;
use barchan_core::rng::Random;
use barchan_core::solver::{NewMatter, Partner};
use barchan_core::walls::{Facets, Geometry, Side, Wall};
use barchan_dem::Precision;
use common::*;
use glam::{DQuat, DVec3};
use std::sync::Arc;

const R: f64 = 1e-3;

fn of_triangles(mesh: Mesh) -> Wall {
    Wall::new("floor", Geometry::Mesh(Arc::new(Facets::new(mesh))), 0)
}

/// A square of 40 radii in the plane z = 0, cut at random into so many triangles, which face up and down at random.
fn cut_square(triangles: usize, rng: &mut Random) -> Mesh {
    let a = 20.0 * R;
    let mut mesh = Mesh {
        vertices: vec![DVec3::new(-a, -a, 0.0), DVec3::new(a, -a, 0.0), DVec3::new(a, a, 0.0), DVec3::new(-a, a, 0.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    while mesh.triangles.len() < triangles {
        let t = rng.index(mesh.triangles.len());
        let corners = mesh.corners(t);
        let (mut u, mut v) = (rng.uniform(), rng.uniform());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        // Not so near to an edge that nothing is left.
        let (u, v) = (0.05 + 0.85 * u, 0.05 + 0.85 * v);
        let new = mesh.vertices.len() as u32;
        mesh.vertices.push(corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0]));
        let [i, j, k] = mesh.triangles.swap_remove(t);
        mesh.triangles.extend([[i, j, new], [j, k, new], [k, i, new]]);
    }
    for t in &mut mesh.triangles {
        if rng.uniform() < 0.5 {
            t.swap(0, 1);
        }
    }
    mesh
}

/// Grains that fall straight, at a slant, spinning, and that roll, over many places.
fn all_ways(rng: &mut Random) -> Vec<NewMatter> {
    (0..60)
        .map(|k| {
            let mut at = || rng.range(-12.0 * R, 12.0 * R);
            let place = DVec3::new(at(), at(), 0.0);
            let along = DVec3::new(0.3 * rng.normal(), 0.3 * rng.normal(), 0.0);
            let (height, velocity, spin) = match k % 4 {
                0 => (1.5 * R, DVec3::NEG_Z * 0.4, DVec3::ZERO),
                1 => (1.3 * R, along - DVec3::Z * 0.2, DVec3::ZERO),
                2 => (1.4 * R, DVec3::NEG_Z * 0.3, 300.0 * rng.in_ball()),
                _ => (0.999 * R, along, DVec3::Z.cross(along) / R),
            };
            NewMatter {
                position: place + DVec3::Z * height,
                velocity,
                spin,
                orientation: DQuat::IDENTITY,
                radius: R,
                mass: None,
                material: 0,
                shape: 0,
            }
        })
        .collect()
}

fn world(wall: Wall, precision: Precision) -> Setup {
    let mut s = settings(glass(), HERTZ);
    s.gravity = DVec3::NEG_Z * 9.81;
    s.walls = vec![wall];
    s.precision = precision;
    s.dt = automatic_dt(&s, R, 0.5);
    s
}

#[test]
fn a_plane_cut_into_triangles_acts_as_the_plane() {
    for triangles in [2, 8, 5000] {
        let mut rng = Random::new(11, triangles as u64);
        let mesh = cut_square(triangles, &mut rng);
        let grains: Vec<NewMatter> = all_ways(&mut rng);
        // One grain a world: they must not meet.
        let mut worst = 0f64;
        for grain in grains.iter().take(if triangles == 8 { 60 } else { 24 }) {
            let [mut flat, mut cut] = [floor(DVec3::Z), of_triangles(mesh.clone())].map(|wall| {
                let mut dem = alone(world(wall, Precision::Double));
                dem.add(&[*grain]).unwrap();
                dem
            });
            let steps = (0.02 / flat.settings().dt) as u64;
            for _ in 0..steps / 20 {
                run(&mut flat, 20);
                run(&mut cut, 20);
                let ((x, v, w), (y, u, q)) = (state(&flat, 0), state(&cut, 0));
                worst = worst.max(x.distance(y) / R).max(v.distance(u)).max(w.distance(q) * R);
            }
        }
        assert!(worst < 1e-6, "{triangles} triangles: {worst:e}");
    }
}

#[test]
fn friction_goes_along_from_triangle_to_triangle() {
    // A grain held on an incline by static friction alone, then pushed on: a contact that forgot its spring at an edge would
    // creep. Slowly rolled over the edges of many triangles it must keep the plane's motion, in mixed precision too.
    let mut rng = Random::new(5, 0);
    let mesh = cut_square(400, &mut rng);
    let tilt = 0.3f64;
    let mut ends = Vec::new();
    for wall in [floor(DVec3::Z), of_triangles(mesh)] {
        let mut s = world(wall, Precision::Mixed);
        s.gravity = 9.81 * DVec3::new(tilt.sin(), 0.0, -tilt.cos());
        let mut dem = alone(s);
        dem.add(&[grain(DVec3::new(-10.0 * R, 0.3 * R, 0.9999 * R), DVec3::ZERO, R)]).unwrap();
        let steps = (0.1 / dem.settings().dt) as u64;
        run(&mut dem, steps);
        ends.push(state(&dem, 0));
    }
    let moved = ends[0].0.x + 10.0 * R;
    assert!(moved > 5.0 * R, "rolled by {moved}");
    assert!(ends[0].0.distance(ends[1].0) < 1e-4 * moved, "{:?} against {:?}", ends[0].0, ends[1].0);
}

fn box_mesh(half: DVec3) -> Mesh {
    let corner = |k: usize| {
        DVec3::new(
            if k & 1 == 0 { -half.x } else { half.x },
            if k & 2 == 0 { -half.y } else { half.y },
            if k & 4 == 0 { -half.z } else { half.z },
        )
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

#[test]
fn convex_edges_and_corners_count_once_and_concave_ones_by_their_sides() {
    let half = DVec3::splat(3.0 * R);
    let solid = Facets::new(box_mesh(half));
    let mut hollow = box_mesh(half);
    hollow.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let hollow = Facets::new(hollow);
    let all: Vec<u32> = (0..12).collect();
    let mut rng = Random::new(3, 1);
    for _ in 0..2000 {
        let near = |rng: &mut Random| if rng.uniform() < 0.5 { 1.0f64 } else { -1.0 };
        let sign = DVec3::new(near(&mut rng), near(&mut rng), near(&mut rng));
        // Outside an edge or a corner: exactly one touch, at the nearest point.
        let out = DVec3::new(rng.uniform(), rng.uniform(), rng.uniform()) * 0.5 * R;
        let x = sign * (half + out);
        let touches = solid.touches(x, R, &all);
        let nearest = x.clamp(-half, half);
        assert_eq!(touches.iter().count(), 1, "{x}");
        assert!(touches.iter().next().unwrap().point.distance(nearest) < 1e-12 * R);
        // Inside a corner: one touch for each of the sides within reach.
        let depth = DVec3::new(rng.range(0.5, 1.5), rng.range(0.5, 1.5), rng.range(0.5, 1.5)) * R;
        let x = sign * (half - depth);
        let sides = depth.to_array().iter().filter(|&&d| d < R).count();
        assert_eq!(hollow.touches(x, R, &all).iter().count(), sides, "{x}");
    }
}

#[test]
fn a_box_of_triangles_holds_a_bed_as_the_box_does() {
    let half = DVec3::new(6.0 * R, 6.0 * R, 12.0 * R);
    let mut inside_out = box_mesh(half);
    inside_out.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let boxed = Geometry::Box { min: -half, max: half, side: Side::Inside, open: [false; 6] };
    let mut found = Vec::new();
    for geometry in [boxed, Geometry::Mesh(Arc::new(Facets::new(inside_out)))] {
        let mut dem = alone(world(Wall::new("box", geometry, 0), Precision::Mixed));
        let mut rng = Random::new(9, 0);
        let site = |n: usize, rng: &mut Random| {
            let at = DVec3::new((n % 5) as f64 - 2.0, (n / 5 % 5) as f64 - 2.0, (n / 25) as f64 - 4.2) * 2.2 * R;
            grain(at + 0.05 * R * rng.in_ball(), DVec3::ZERO, R)
        };
        let grains: Vec<NewMatter> = (0..200).map(|n| site(n, &mut rng)).collect();
        dem.add(&grains).unwrap();
        let steps = (0.6 / dem.settings().dt) as u64;
        rayon::scope(|_| run(&mut dem, steps));
        let f = dem.population();
        let mean = f.position.iter().map(|p| p.z).sum::<f64>() / 200.0;
        let on_walls: f64 =
            dem.contacts().iter().filter(|c| matches!(c.partner, Partner::Wall(_))).map(|c| c.normal_force).sum();
        let weight = 200.0 * sphere_mass(R, 2500.0) * 9.81;
        let force = dem.boundary.states()[0].force;
        assert!(rel(-force.z, weight) < 1e-3, "{force} carries {weight}");
        found.push((mean, on_walls / weight));
    }
    let [(h, f), (g, e)] = [found[0], found[1]];
    // Two packings of the same bed: grains choose other places, the bed does not.
    assert!((h - g).abs() < 0.1 * R, "{h} {g}");
    assert!((f / e - 1.0).abs() < 0.1, "{f} {e}");
}
