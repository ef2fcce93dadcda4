//! Frames that the tests write and read.
#![allow(dead_code)] // each test file uses its part

use barchan_core::frame::{Extra, Frame, WallFrame};
use barchan_core::mesh::Mesh;
use barchan_core::shapes::Shape;
use glam::{DQuat, DVec3};
use std::borrow::Cow;
use std::sync::Arc;

/// `n` grains, every third a tetrahedron of four spheres, all columns different from each other and from zero.
pub fn frame(n: usize, time: f64) -> Frame<'static> {
    let v = |i: usize, k: f64| DVec3::new((i as f64 * k).sin(), (i as f64 * k).cos(), i as f64 * k * 1e-3) + time;
    let column = |f: &dyn Fn(usize) -> f64| Cow::Owned((0..n).map(f).collect::<Vec<f64>>());
    Frame {
        time,
        step: (time * 1e6) as u64,
        position: (0..n).map(|i| v(i, 0.7)).collect(),
        velocity: (0..n).map(|i| v(i, 1.3)).collect(),
        spin: (0..n).map(|i| v(i, 2.1)).collect(),
        orientation: (0..n).map(|i| DQuat::from_rotation_x(i as f64) * DQuat::from_rotation_z(0.3)).collect(),
        radius: column(&|i| 1e-3 * (1.0 + (i as f64).sin().abs())),
        mass: column(&|i| 1e-5 * (1.0 + i as f64 / 3.0)),
        id: (0..n).map(|i| 4_000_000_000 - 2 * i as u32).collect(),
        material: (0..n).map(|i| (i % 2) as u16).collect(),
        shape: (0..n).map(|i| u16::from(i % 3 == 0)).collect(),
        extras: vec![
            Extra { name: "coordination", unit: "", values: (0..n).map(|i| (i % 7) as f32).collect() },
            Extra { name: "pressure", unit: "Pa", values: (0..n).map(|i| i as f32 * 1.5e3).collect() },
        ],
        shapes: Arc::from([Shape::sphere(), Shape::tetrahedron(1.4).unwrap()]),
        materials: Arc::from(["dry sand".to_owned(), "Körner\\n <\"&\">".to_owned()]),
        walls: vec![wall("floor", 1.0), wall("lid, \"upper\"", 2.0)],
        ground: None,
    }
}

/// The same with every fourth grain a solid: a box lined with nine spheres, or a ball with one.
pub fn with_solids(n: usize, time: f64) -> Frame<'static> {
    let mut frame = frame(n, time);
    let solid = |name: &str, mesh: &Mesh, spheres: &[(DVec3, f64)]| {
        Shape::solid(name, spheres, &mesh.mass_properties().unwrap(), mesh).unwrap().0
    };
    let signs = |k: usize| [0, 1, 2].map(|bit| if k >> bit & 1 == 1 { 0.8 } else { -0.8 });
    let corners = (0..8).map(|k| (DVec3::from_array(signs(k)), 0.2)).chain([(DVec3::ZERO, 0.9)]);
    let block = solid("block", &Mesh::box_of(DVec3::new(2.0, 2.1, 2.2)), &corners.collect::<Vec<_>>());
    let ball = solid("ball", &Mesh::sphere(1.0, 1), &[(DVec3::ZERO, 0.9)]);
    frame.shapes = frame.shapes.iter().cloned().chain([block, ball]).collect();
    for (g, shape) in frame.shape.to_mut().iter_mut().enumerate().filter(|(g, _)| g % 4 == 1) {
        *shape = if g % 8 == 1 { 2 } else { 3 };
    }
    frame
}

fn wall(name: &str, k: f64) -> WallFrame {
    WallFrame {
        name: name.to_owned(),
        position: DVec3::new(0.1, 0.2, 0.3) * k,
        rotation: DQuat::from_rotation_y(k),
        force: DVec3::new(-1.0, 2.0, -300.0) * k,
        torque: DVec3::new(5.0, 6.0, 1.0 / 3.0) * k,
    }
}
