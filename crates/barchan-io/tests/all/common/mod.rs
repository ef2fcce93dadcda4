//! Frames that the tests write and read.
#![allow(dead_code)] // each test file uses its part

use barchan_core::frame::{Extra, Frame, GRAINS, Grid, Pairs, Population, Surface, WallFrame};
use barchan_core::mesh::Mesh;
use barchan_core::shapes::Shape;
use glam::{DQuat, DVec3, Vec3};
use std::sync::Arc;

/// `n` grains, every third a tetrahedron of four spheres, all columns different from each other and from zero.
pub fn frame(n: usize, time: f64) -> Frame {
    let v = |i: usize, k: f64| DVec3::new((i as f64 * k).sin(), (i as f64 * k).cos(), i as f64 * k * 1e-3) + time;
    let grains = Population {
        name: GRAINS.into(),
        position: (0..n).map(|i| v(i, 0.7)).collect(),
        velocity: (0..n).map(|i| v(i, 1.3)).collect(),
        spin: (0..n).map(|i| v(i, 2.1)).collect(),
        orientation: (0..n).map(|i| DQuat::from_rotation_x(i as f64) * DQuat::from_rotation_z(0.3)).collect(),
        radius: (0..n).map(|i| 1e-3 * (1.0 + (i as f64).sin().abs())).collect(),
        mass: (0..n).map(|i| 1e-5 * (1.0 + i as f64 / 3.0)).collect(),
        id: (0..n).map(|i| 4_000_000_000 - 2 * i as u32).collect(),
        material: (0..n).map(|i| (i % 2) as u16).collect(),
        shape: (0..n).map(|i| u16::from(i % 3 == 0)).collect(),
        shapes: Arc::from([Shape::sphere(), Shape::tetrahedron(1.4).unwrap()]),
        extras: vec![
            Extra::real("coordination", "", (0..n).map(|i| (i % 7) as f32).collect::<Vec<_>>()),
            Extra::real("pressure", "Pa", (0..n).map(|i| i as f32 * 1.5e3).collect::<Vec<_>>()),
        ],
    };
    Frame {
        time,
        step: (time * 1e6) as u64,
        materials: Arc::from(["dry sand".to_owned(), "Körner\\n <\"&\">".to_owned()]),
        walls: vec![wall("floor", 1.0), wall("lid, \"upper\"", 2.0)],
        ..Frame::of(grains)
    }
}

/// A column.
pub fn column<T>(n: usize, value: impl Fn(usize) -> T) -> Arc<[T]> {
    (0..n).map(value).collect()
}

/// A frame of two populations, pairs, a grid and a surface. Numbers are such that f32 holds them.
pub fn of_many_parts(n: usize, time: f64) -> Frame {
    let f = |i: usize, k: f64| f64::from((i as f64 * k) as f32);
    let v = |i: usize, k: f64| DVec3::new(f(i, k), -f(i, 2.0 * k), f(i + 1, 0.3 * k));
    let w = |i: usize, k: f64| v(i, k).as_vec3();
    let grains = Population {
        name: GRAINS.into(),
        position: column(n, |i| v(i, 0.7)),
        velocity: column(n, |i| v(i, 1.3)),
        spin: column(n, |i| v(i, 2.1)),
        radius: column(n, |i| f(i + 1, 1e-3)),
        mass: column(n, |i| f(i + 1, 1e-5)),
        id: column(n, |i| 7 + i as u32),
        material: column(n, |i| (i % 2) as u16),
        ..Population::default()
    };
    let m = n + 3;
    let sand = Population {
        name: "sand, \"süß\"".into(),
        position: column(m, |i| v(i, 0.2)),
        velocity: column(m, |i| v(i, 0.1)),
        radius: column(m, |i| f(i + 1, 2e-3)),
        mass: column(m, |i| f(i + 1, 3e-5)),
        id: column(m, |i| i as u32),
        material: column(m, |_| 1),
        extras: vec![
            Extra::real("pressure", "Pa", column(m, |i| i as f32 * 1.5)),
            Extra::vector("flux of heat", "W/m^2 K", column(m, |i| w(i, 0.9))),
            Extra::whole("phase", column(m, |i| u32::MAX - i as u32)),
        ],
        ..Population::default()
    };
    let mesh = Mesh::sphere(1.0, 1);
    let corners = mesh.vertices.len();
    let contacts = Pairs {
        name: "contacts".into(),
        id: column(n, |i| [i as u32, if i % 2 == 0 { Pairs::NOBODY } else { 9 }]),
        ends: column(n, |i| [v(i, 0.4), v(i, 0.5)]),
        extras: vec![
            Extra::vector("force", "N", column(n, |i| w(i, 0.8))),
            Extra::real("overlap", "m", column(n, |i| i as f32)),
        ],
    };
    let grid = Grid {
        name: "pressure".into(),
        origin: DVec3::new(0.1, -0.2, 1e3),
        cell: DVec3::new(0.01, 0.02, 1.0 / 3.0),
        size: [4, 3, 2],
        fields: vec![
            Extra::real("pressure", "Pa", column(24, |i| i as f32)),
            Extra::vector("velocity", "m/s", column(24, |i| w(i, 0.6))),
            Extra::whole("phase", column(24, |i| (i % 3) as u32)),
        ],
    };
    let skin = Surface {
        name: "skin".into(),
        vertices: mesh.vertices.iter().map(|v| v.as_vec3().as_dvec3()).collect(),
        triangles: mesh.triangles.as_slice().into(),
        material: 1,
        extras: vec![Extra::vector("velocity", "m/s", column(corners, |i| Vec3::splat(i as f32)))],
    };
    Frame {
        time,
        step: (time * 1e6) as u64,
        // The grains need not be the first.
        populations: vec![sand, grains],
        pairs: vec![contacts],
        grids: vec![grid],
        surfaces: vec![skin],
        materials: Arc::from(["dry sand".to_owned(), "wet".to_owned()]),
        walls: vec![wall("floor", 1.0)],
        ground: None,
    }
}

/// The same with every fourth grain a solid: a box lined with nine spheres, or a ball with one.
pub fn with_solids(n: usize, time: f64) -> Frame {
    let mut frame = frame(n, time);
    let solid = |name: &str, mesh: &Mesh, spheres: &[(DVec3, f64)]| {
        Shape::solid(name, spheres, &mesh.mass_properties().unwrap(), mesh).unwrap().0
    };
    let signs = |k: usize| [0, 1, 2].map(|bit| if k >> bit & 1 == 1 { 0.8 } else { -0.8 });
    let corners = (0..8).map(|k| (DVec3::from_array(signs(k)), 0.2)).chain([(DVec3::ZERO, 0.9)]);
    let block = solid("block", &Mesh::box_of(DVec3::new(2.0, 2.1, 2.2)), &corners.collect::<Vec<_>>());
    let ball = solid("ball", &Mesh::sphere(1.0, 1), &[(DVec3::ZERO, 0.9)]);
    let grains = &mut frame.populations[0];
    grains.shapes = grains.shapes.iter().cloned().chain([block, ball]).collect();
    for (g, shape) in Arc::make_mut(&mut grains.shape).iter_mut().enumerate().filter(|(g, _)| g % 4 == 1) {
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
