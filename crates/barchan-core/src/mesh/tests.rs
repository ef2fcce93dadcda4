//! Meshes against closed forms, and broken ones against what was broken about them.

use super::*;
use glam::{DAffine3, DMat3, DQuat};
use std::f64::consts::PI;

mod repair;

fn relative(found: f64, exact: f64) -> f64 {
    ((found - exact) / exact).abs()
}

/// Largest difference of two tensors, over the size of the second.
fn tensor_error(found: DMat3, exact: DMat3) -> f64 {
    let largest = |m: DMat3| m.to_cols_array().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    largest(found - exact) / largest(exact)
}

/// Far from the origin, and askew.
fn placed() -> DAffine3 {
    DAffine3::from_rotation_translation(
        DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.3),
        DVec3::new(31.0, -7.0, 12.0),
    )
}

#[test]
fn every_generated_mesh_is_closed_outward_and_of_one_part() {
    let size = DVec3::new(0.2, 0.5, 0.3);
    let meshes = [
        (Mesh::box_of(size), 12),
        (Mesh::sphere(0.1, 0), 20),
        (Mesh::sphere(0.1, 3), 1280),
        (Mesh::cylinder(0.1, 0.3, 17), 68),
        (Mesh::torus(0.3, 0.1, 24, 11), 528),
        (Mesh::trefoil(0.1, 0.04, 90, 12), 2160),
        (Mesh::cylinder(0.1, 0.3, 0), 12),
        (Mesh::torus(0.3, 0.1, 0, 1), 18),
    ];
    for (mesh, triangles) in meshes {
        let health = mesh.health();
        assert!(health.is_closed() && health.volume > 0.0, "{health}");
        assert_eq!((health.triangles, health.parts, health.crossings.count), (triangles, 1, 0), "{health}");
        let (mut welded, mut oriented) = (mesh.clone(), mesh.clone());
        assert_eq!(welded.weld(0.0), Welded::default());
        assert_eq!(oriented.orient(), Oriented { parts: 1, ..Oriented::default() });
        assert_eq!((&welded, &oriented), (&mesh, &mesh));
    }
}

#[test]
fn a_thick_trefoil_cuts_through_itself_and_a_thin_one_does_not() {
    assert_eq!(Mesh::trefoil(1.0, 0.6, 240, 24).health().crossings.count, 0);
    assert!(Mesh::trefoil(1.0, 0.62, 240, 24).health().crossings.count > 0);
}

#[test]
fn a_box_has_the_mass_of_a_box_wherever_it_lies() {
    let s = DVec3::new(0.2, 0.5, 0.3);
    let place = placed();
    let mesh = Mesh::box_of(s).transformed(&place);
    let found = mesh.mass_properties().unwrap();
    let volume = s.element_product();
    let square = s * s;
    let own = volume / 12.0 * DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y);
    let exact = place.matrix3 * DMat3::from_diagonal(own) * place.matrix3.transpose();
    // Vertices at 30 m are known to 4e-15 m, a few parts in 1e14 of an edge.
    assert!(relative(found.volume, volume) < 1e-13, "{found:?}");
    assert!(found.centroid.distance(place.translation) < 1e-13, "{found:?}");
    assert!(tensor_error(found.inertia, exact) < 1e-12, "{found:?}");
    assert!(relative(mesh.area(), 2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)) < 1e-13);
}

#[test]
fn a_tetrahedron_has_tonons_mass() {
    // Tonon 2004, the worked example of section 3: vertices, volume, centre and inertia to the digits printed.
    let vertices =
        [[8.33220, -11.86875, 0.93355], [0.75523, 5.0, 16.37072], [52.61236, 5.0, -5.38580], [2.0, 5.0, 3.0]];
    let mut mesh = Mesh {
        vertices: vertices.map(DVec3::from_array).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
    };
    mesh.orient();
    let found = mesh.mass_properties().unwrap();
    assert!(found.centroid.distance(DVec3::new(15.92492, 0.78281, 3.72962)) < 5e-5, "{found:?}");
    let inertia = found.inertia;
    let printed = [(inertia.x_axis.x, 43520.33257), (inertia.y_axis.y, 194711.28938), (inertia.z_axis.z, 191168.76173)];
    for (found, printed) in printed {
        assert!(relative(found, printed) < 1e-6, "{found} {printed}");
    }
    let products = [(inertia.y_axis.z, 4417.66150), (inertia.x_axis.z, -46343.16662), (inertia.x_axis.y, 11996.20119)];
    for (found, printed) in products {
        // Products of inertia stand with the minus sign in the tensor.
        assert!(relative(f64::abs(found), f64::abs(printed)) < 1e-6, "{found} {printed}");
    }
}

#[test]
fn spheres_cylinders_and_tori_converge_on_their_closed_forms_at_second_order() {
    let (radius, height, minor) = (0.3f64, 0.5f64, 0.1f64);
    let sphere = (4.0 / 3.0 * PI * radius.powi(3), DVec3::splat(0.4 * radius * radius));
    let flat = radius * radius / 4.0 + height * height / 12.0;
    let cylinder = (PI * radius * radius * height, DVec3::new(flat, flat, radius * radius / 2.0));
    let (square, round) = (radius * radius, minor * minor);
    let across = square / 2.0 + 5.0 / 8.0 * round;
    let torus = (2.0 * PI * PI * radius * round, DVec3::new(across, across, square + 0.75 * round));
    type Family<'a> = &'a dyn Fn(u32) -> Mesh;
    let families: [(Family<'_>, (f64, DVec3)); 3] = [
        (&|k| Mesh::sphere(radius, 1 + k), sphere),
        (&|k| Mesh::cylinder(radius, height, 16 << k), cylinder),
        (&|k| Mesh::torus(radius, minor, 24 << k, 12 << k), torus),
    ];
    for (make, (volume, gyration)) in families {
        let errors: Vec<[f64; 2]> = (1..4)
            .map(|k| {
                let found = make(k).mass_properties().unwrap();
                assert!(found.centroid.length() < 1e-15);
                let exact = DMat3::from_diagonal(volume * gyration);
                [relative(found.volume, volume), tensor_error(found.inertia, exact)]
            })
            .collect();
        for pair in errors.windows(2) {
            for i in 0..2 {
                let order = (pair[0][i] / pair[1][i]).log2();
                assert!((order - 2.0).abs() < 0.06, "order {order} of {errors:?}");
            }
        }
        assert!(errors[2][0] < 0.02, "{errors:?}");
    }
}

#[test]
fn scaling_and_mirroring_keep_the_outside_outside() {
    let mesh = Mesh::trefoil(0.1, 0.04, 60, 10);
    let before = mesh.mass_properties().unwrap();
    for factor in [3.0, -3.0] {
        let after = mesh.scaled(factor).mass_properties().unwrap();
        assert!(relative(after.volume, 27.0 * before.volume) < 1e-12);
        assert!(tensor_error(after.inertia, 243.0 * before.inertia) < 1e-12);
        assert!(relative(mesh.scaled(factor).area(), 9.0 * mesh.area()) < 1e-12);
    }
    let (low, high) = mesh.bounds().unwrap();
    assert_eq!(mesh.scaled(-2.0).bounds(), Some((-2.0 * high, -2.0 * low)));
}

#[test]
fn what_is_no_solid_has_no_mass() {
    assert_eq!(Mesh::default().mass_properties(), None);
    assert_eq!(Mesh::default().bounds(), None);
    let mut sheet = Mesh::box_of(DVec3::ONE);
    sheet.triangles.truncate(2);
    assert_eq!(sheet.weld(0.0).unused, 4);
    assert_eq!(sheet.mass_properties(), None);
    let mut inside_out = Mesh::sphere(1.0, 1);
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(inside_out.mass_properties(), None);
    assert!(inside_out.volume() < 0.0);
}

#[test]
fn the_winding_number_counts_shells_and_lacks_what_a_hole_is_seen_under() {
    let mesh = Mesh::torus(0.3, 0.1, 40, 20).transformed(&placed());
    let at = |x: f64, y: f64, z: f64| mesh.winding(placed().transform_point3(DVec3::new(x, y, z)));
    assert!((at(0.3, 0.0, 0.0) - 1.0).abs() < 1e-12 && (at(0.0, -0.27, 0.05) - 1.0).abs() < 1e-12);
    assert!(at(0.0, 0.0, 0.0).abs() < 1e-12 && at(0.3, 0.0, 0.2).abs() < 1e-12);
    // From the middle of a cube each face is a sixth of the sphere, each of its two triangles a twelfth.
    let mut cube = Mesh::box_of(DVec3::ONE);
    cube.triangles.pop();
    assert!((cube.winding(DVec3::ZERO) - 11.0 / 12.0).abs() < 1e-12);
    let mut twice = Mesh::sphere(1.0, 2);
    let inner = Mesh::sphere(0.5, 2);
    twice.append(&inner);
    assert!((twice.winding(DVec3::ZERO) - 2.0).abs() < 1e-12);
}
