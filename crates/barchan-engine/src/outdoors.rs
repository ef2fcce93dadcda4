//! Built-in meshes of what walks, rolls and ploughs over ground, of about unit size.

use barchan_core::math;
use barchan_core::mesh::Mesh;
use glam::{DAffine3, DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// An upright solid over an outline (counter-clockwise, every point in sight of its middle), between two heights.
fn prism(outline: &[DVec2], low: f64, high: f64) -> Mesh {
    let n = outline.len() as u32;
    let middle = outline.iter().sum::<DVec2>() / f64::from(n);
    let ring = |z: f64| outline.iter().chain([&middle]).map(move |p| p.extend(z));
    let mut mesh = Mesh { vertices: ring(low).chain(ring(high)).collect(), triangles: Vec::new() };
    let top = n + 1;
    for a in 0..n {
        let b = (a + 1) % n;
        mesh.triangles.extend([[n, b, a], [top + n, top + a, top + b], [a, b, top + b], [a, top + b, top + a]]);
    }
    mesh
}

/// An outline along x from the half widths on its left and right side at each place.
fn sole(profile: &[[f64; 3]]) -> Vec<DVec2> {
    let right = profile.iter().map(|&[x, _, r]| DVec2::new(x, -r));
    let left = profile.iter().rev().map(|&[x, l, _]| DVec2::new(x, l));
    right.chain(left).collect()
}

/// A left boot, a unit long, its heel at the origin, its toe towards +x, standing at z = 0: heel, ball and a shaft.
pub(crate) fn boot() -> Mesh {
    let heel = [[0.0, 0.06, 0.06], [0.03, 0.11, 0.11], [0.14, 0.13, 0.13], [0.27, 0.12, 0.13]];
    let ball = [
        [0.4, 0.1, 0.13],
        [0.55, 0.14, 0.17],
        [0.72, 0.17, 0.19],
        [0.86, 0.15, 0.16],
        [0.95, 0.09, 0.1],
        [1.0, 0.03, 0.02],
    ];
    let whole: Vec<[f64; 3]> = heel.iter().chain(&ball).copied().collect();
    let shaft: Vec<DVec2> = (0..16).map(|k| TAU * f64::from(k) / 16.0).map(DVec2::from_angle).collect();
    let shaft: Vec<DVec2> = shaft.iter().map(|p| DVec2::new(0.2 + 0.17 * p.x, 0.13 * p.y)).collect();
    let mut mesh = prism(&sole(&heel), 0.0, 0.1);
    // Parts stand apart by a hair, so that each is a closed surface of its own.
    for (outline, low, high) in
        [(sole(&ball), 0.0, 0.1), (sole(&whole), 0.101, 0.16), (sole(&whole[..8]), 0.161, 0.3), (shaft, 0.301, 0.8)]
    {
        mesh.append(&prism(&outline, low, high));
    }
    mesh
}

/// Two tyres with lugs on one axle along y: radius 1, width 0.6, 2.6 from middle to middle.
pub(crate) fn wheels() -> Mesh {
    let mut mesh = Mesh::cylinder(0.12, 1.996, 24).transformed(&DAffine3::from_rotation_x(0.5 * PI));
    for side in [-1.3, 1.3] {
        mesh.append(&tyre(0.6).transformed(&DAffine3::from_translation(DVec3::new(0.0, side, 0.0))));
    }
    mesh
}

/// A tyre of radius 1 about the y axis, with eighteen lugs that meet in the middle like arrows.
fn tyre(width: f64) -> Mesh {
    const AROUND: u32 = 108;
    const ACROSS: u32 = 8;
    let mut mesh = Mesh::default();
    for j in 0..=ACROSS {
        let across = f64::from(j) / f64::from(ACROSS) * 2.0 - 1.0;
        for i in 0..AROUND {
            let turn = f64::from(i) / f64::from(AROUND);
            let lug = (18.0 * turn + 0.75 * across.abs()).fract() < 0.5;
            let shoulder = if across.abs() > 0.99 { 0.9 } else { 1.0 };
            let radius = shoulder * if lug { 1.0 } else { 0.93 };
            let (sin, cos) = math::sin_cos(TAU * turn);
            mesh.vertices.push(DVec3::new(radius * cos, 0.5 * width * across, radius * sin));
        }
    }
    for j in 0..ACROSS {
        for i in 0..AROUND {
            let [a, b] = [i, (i + 1) % AROUND].map(|i| j * AROUND + i);
            mesh.triangles.extend([[a, a + AROUND, b], [b, a + AROUND, b + AROUND]]);
        }
    }
    let middle = mesh.vertices.len() as u32;
    mesh.vertices.extend([-0.5, 0.5].map(|y| DVec3::new(0.0, y * width, 0.0)));
    for i in 0..AROUND {
        let next = (i + 1) % AROUND;
        let last = ACROSS * AROUND;
        mesh.triangles.extend([[middle, i, next], [middle + 1, last + next, last + i]]);
    }
    mesh
}

/// A share that parts the soil to both sides: a wedge a unit long and high, its tip towards +x, its foot at z = 0.
pub(crate) fn plough() -> Mesh {
    let outline = [[0.0, -0.4], [0.2, -0.4], [1.0, -0.02], [1.0, 0.02], [0.2, 0.4], [0.0, 0.4]];
    prism(&outline.map(|[x, y]| DVec2::new(x, y)), 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_closed_and_outward() {
        for (name, mesh, volume) in
            [("boot", boot(), 0.05..0.2), ("wheels", wheels(), 3.0..3.9), ("plough", plough(), 0.4..0.6)]
        {
            assert!(mesh.health().is_closed(), "{name}: {}", mesh.health());
            let found = mesh.mass_properties().unwrap();
            assert!(volume.contains(&found.volume), "{name}: {}", found.volume);
        }
        let centre = wheels().mass_properties().unwrap().centroid;
        assert!(centre.length() < 1e-3, "the axle is the wheels' middle: {centre}");
    }
}
