//! The surface against shapes whose area is known, and grains that ride on it.

use super::scene::*;
use crate::Alone;
use crate::surface::mesh::{Ground, Mesh, NONE};
use crate::{GasSettings, Settings};
use glam::DVec3;

/// A shape in a box of 32 cells, and the mesh of its surface.
fn mesh_of(inside: impl Fn(DVec3) -> bool) -> (Alone, Mesh) {
    let s = Settings { gas: Some(GasSettings::default()), ..settings([32.0; 3], [false; 3]) };
    let mut a = world(s, vec![]);
    a.fill([[0; 3], [32; 3]], inside, |_| DVec3::ZERO).unwrap();
    a.liquid.gas.push(DVec3::splat(0.5), DVec3::ZERO, 0);
    let boundary = a.boundary.clone();
    a.liquid.resort(&boundary);
    a.liquid.exchange(&boundary);
    let mesh = {
        let l = &a.liquid;
        let on = Ground { grid: &l.grid, fractions: &l.fractions, solid: &l.solid, frame: l.frame };
        Mesh::build(&l.surface.field, &on)
    };
    (a, mesh)
}

#[test]
fn the_surface_of_a_ball_is_closed_and_has_its_area() {
    let (radius, middle) = (8.0, DVec3::splat(16.0));
    let (_, mesh) = mesh_of(|x| x.distance(middle) < radius);
    for (f, face) in mesh.faces.iter().enumerate() {
        assert!(face.normal.dot((face.middle - middle).normalize()) > 0.5, "outwards");
        for edge in &face.edges {
            assert_ne!(edge.other, NONE, "closed");
            let back = &mesh.faces[edge.other as usize].edges;
            assert!(back.iter().any(|e| e.other == f as u32), "neighbours know each other");
        }
    }
    let exact = 4.0 * std::f64::consts::PI * radius * radius;
    let off = mesh.area() / exact - 1.0;
    assert!(off.abs() < 0.05, "area off by {off}");
    // Euler's number of a ball: faces less edges plus corners.
    assert_eq!(mesh.vertices.len() as i64 - mesh.faces.len() as i64, 2);
}

#[test]
fn balls_that_nearly_touch_keep_their_own_surfaces() {
    let middle = |k: f64| DVec3::new(16.0 + k, 16.0, 16.0);
    let (_, mesh) = mesh_of(|x| x.distance(middle(-6.0)) < 5.2 || x.distance(middle(6.0)) < 5.2);
    let mut reached = vec![false; mesh.faces.len()];
    let mut next = vec![0usize];
    while let Some(f) = next.pop() {
        if !std::mem::replace(&mut reached[f], true) {
            next.extend(mesh.faces[f].edges.iter().map(|e| e.other as usize));
        }
    }
    let count = reached.iter().filter(|r| **r).count();
    assert!(2 * count == mesh.faces.len(), "{count} of {} faces are joined", mesh.faces.len());
}

/// A bed of four cells with grains of gas in a clump on it.
fn clump(exact: bool, passes: u32) -> Alone {
    let mut s = Settings {
        gas: Some(GasSettings { drag: false, ..GasSettings::default() }),
        ..settings([32.0, 32.0, 16.0], [true, true, false])
    };
    (s.surface.exact, s.surface.passes) = (exact, passes);
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [32, 32, 4]], |_| true, |_| DVec3::ZERO).unwrap();
    let mut rng = barchan_core::rng::Random::new(3, 0);
    for k in 0..200 {
        let x = DVec3::new(16.0 + 0.7 * rng.normal(), 16.0 + 0.7 * rng.normal(), 4.15);
        a.liquid.gas.push(x, DVec3::ZERO, 100_000 + k);
    }
    a
}

/// Most grains of gas in a column of cells.
fn fullest(a: &Alone) -> usize {
    let mut counts = std::collections::HashMap::new();
    for x in &a.liquid.gas.position {
        *counts.entry((x.x.floor() as i32, x.y.floor() as i32)).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

#[test]
fn a_clump_on_a_bed_spreads_until_its_grains_lie_side_by_side() {
    // A face of a cell has room for 0.8/(π d²/4) = 14 grains of d = 0.26 cells.
    for exact in [false, true] {
        let mut a = clump(exact, 2);
        let start = fullest(&a);
        (0..40).for_each(|_| a.step().unwrap());
        let (now, left) = (fullest(&a), a.gas_len());
        assert!(start > 30 && now <= 22, "exact {exact}: {start} grains in a column, then {now}");
        assert!(left > 150, "exact {exact}: they stay on the surface: {left} of 200");
    }
}

#[test]
fn grains_away_from_a_clump_keep_their_bits() {
    let mut a = clump(false, 2);
    // Walls are where they are from the first step on.
    let clumped = std::mem::take(&mut a.liquid.gas);
    a.step().unwrap();
    a.liquid.gas = clumped;
    let far = DVec3::new(4.0, 4.0, 4.15);
    a.liquid.gas.push(far, DVec3::ZERO, 999_999);
    let boundary = a.boundary.clone();
    a.liquid.resort(&boundary);
    a.liquid.exchange(&boundary);
    let row = a.liquid.gas.id.iter().position(|&i| i == 999_999).unwrap();
    assert_eq!(a.liquid.gas.position[row], far);
    assert!(a.liquid.surface.psi.iter().any(|p| *p > 0.0), "the clump presses");
}

#[test]
fn what_grains_lose_to_the_sand_it_gains() {
    let mut a = clump(false, 0);
    a.liquid.gas.velocity.iter_mut().enumerate().for_each(|(k, v)| *v = DVec3::new(1.0 + 0.01 * k as f64, 0.5, -1.0));
    let total = |a: &Alone| momentum(a) + a.liquid.gas.velocity.iter().sum::<DVec3>() * a.settings().fill();
    for n in 0..10 {
        a.step().unwrap();
        let mut boundary = a.boundary.clone();
        a.liquid.resort(&boundary);
        a.liquid.exchange(&boundary);
        let (before, dt) = (total(&a), 0.05);
        a.liquid.fly(dt, dt, &mut boundary);
        let given = a.settings().gravity * (dt * a.settings().fill() * a.gas_len() as f64);
        let (off, lent) = ((total(&a) - before - given).length(), a.gas_len() as f64 * a.settings().fill());
        assert!(off < 1e-12 * 4096.0, "step {n}: {off} of {lent}");
    }
}

#[test]
fn a_grain_comes_to_rest_on_a_slope_below_the_angle_of_repose_and_glides_on_one_above() {
    // The bed is held by a rough floor under turned gravity; its own angle is 30°.
    let speed = |slope: f64, bed: f64| {
        let (sin, cos) = f64::to_radians(slope).sin_cos();
        let mut s = Settings {
            gas: Some(GasSettings { drag: false, ..GasSettings::default() }),
            ..settings([16.0, 16.0, 16.0], [true, true, false])
        };
        (s.gravity, s.friction_angle) = (DVec3::new(sin, 0.0, -cos), bed.to_radians());
        let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
        a.fill([[0, 0, 0], [16, 16, 6]], |_| true, |_| DVec3::ZERO).unwrap();
        a.liquid.gas.push(DVec3::new(8.0, 8.0, 6.2), DVec3::X * 0.5, 5000);
        (0..60).for_each(|_| a.step().unwrap());
        let grain = a.liquid.gas.velocity.first().copied();
        grain.map_or(0.0, |v| v.x) - momentum(&a).x / (16.0 * 16.0 * 6.0)
    };
    assert!(speed(15.0, 30.0).abs() < 0.05, "at rest: {}", speed(15.0, 30.0));
}
