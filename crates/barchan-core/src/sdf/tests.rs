use super::*;
use crate::mesh::Mesh;
use crate::mesh::near::test_meshes::*;
use crate::mesh::near::{Feature, Surface};
use crate::rng::Random;
use rayon::prelude::*;

/// Greatest error of distance and of gradient at random points where |exact| is less than `most`.
fn errors(field: &Field, exact: impl Fn(DVec3) -> f64, most: f64, keep: impl Fn(DVec3) -> bool) -> (f64, f64) {
    let (low, high) = field.bounds();
    let mut r = Random::new(1, 2);
    let (mut worst, mut slope, mut seen) = (0f64, 0f64, 0);
    for _ in 0..60_000 {
        let p = low + (high - low) * DVec3::new(r.uniform(), r.uniform(), r.uniform());
        let d = exact(p);
        if d.abs() > most || !keep(p) {
            continue;
        }
        seen += 1;
        let (found, gradient) = field.distance_and_gradient(p);
        assert_eq!(found, field.distance(p));
        assert_eq!(gradient, field.gradient(p));
        worst = worst.max((found - d).abs());
        let step = 1e-6;
        let along = |e: DVec3| (exact(p + step * e) - exact(p - step * e)) / (2.0 * step);
        let normal = DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z));
        slope = slope.max(gradient.distance(normal));
    }
    assert!(seen > 3000, "{seen} points");
    (worst, slope)
}

/// Orders of convergence of distance and gradient, from three cells.
fn orders(mesh: &Mesh, band: f64, cells: [f64; 3], exact: impl Fn(DVec3) -> f64) -> [(f64, f64); 2] {
    let surface = Surface::build(mesh).unwrap();
    let e = cells.map(|h| errors(&Field::of(&surface, h, band).unwrap(), &exact, 0.9 * band, |_| true));
    let order = |k: usize| {
        let halving = (cells[k] / cells[k + 1]).ln();
        ((e[k].0 / e[k + 1].0).ln() / halving, (e[k].1 / e[k + 1].1).ln() / halving)
    };
    assert!(e[2].0 < cells[2] * cells[2], "error {} with cells of {}", e[2].0, cells[2]);
    [order(0), order(1)]
}

#[test]
fn sphere_converges_with_second_order() {
    // Facets of a 7th of the finest cell are some 4e-5 off the sphere, a tenth of the finest field's error.
    for (distance, gradient) in orders(&Mesh::sphere(1.0, 6), 0.3, [0.2, 0.1, 0.05], |p| p.length() - 1.0) {
        assert!((distance - 2.0).abs() < 0.25, "order {distance}");
        assert!((gradient - 1.0).abs() < 0.35, "order of the gradient {gradient}");
    }
}

#[test]
fn torus_converges_with_second_order() {
    let exact = |p: DVec3| ((p.x.hypot(p.y) - 1.0).powi(2) + p.z * p.z).sqrt() - 0.5;
    for (distance, _) in orders(&Mesh::torus(1.0, 0.5, 400, 200), 0.2, [0.16, 0.08, 0.04], exact) {
        assert!((distance - 2.0).abs() < 0.3, "order {distance}");
    }
}

fn box_distance(half: DVec3, p: DVec3) -> f64 {
    let q = p.abs() - half;
    q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
}

#[test]
fn box_is_exact_at_faces_and_of_second_order_off_its_edges() {
    let half = DVec3::new(0.5, 0.4, 0.3);
    let exact = |p| box_distance(half, p);
    let at = |h: f64| Field::build(&cuboid(half), h, 0.15).unwrap();
    // Where one face is nearest for all corners of the cell the distance is linear, and f32 is all that is lost.
    for h in [0.04, 0.02] {
        let flat = |p: DVec3| {
            let mut q = (p.abs() - half).to_array();
            q.sort_by(f64::total_cmp);
            q[1] < -2.0 * h && q[2] - q[1] > 4.0 * h
        };
        let (worst, slope) = errors(&at(h), exact, 0.15, flat);
        assert!(worst < 2e-8 && slope < 1e-5, "{worst} {slope}");
    }
    // Off the edges, outside: curved, with a radius of at least 0.06.
    let curved = |p: DVec3| (p.abs() - half).max(DVec3::ZERO).length() > 0.06;
    let e = [0.04, 0.02, 0.01].map(|h| errors(&at(h), exact, 0.15, curved).0);
    assert!((e[1] / e[2]).log2() > 1.6 && (e[0] / e[1]).log2() > 1.4, "{e:?}");
    // At the edges themselves there is a kink, and the error is of first order.
    let (worst, _) = errors(&at(0.02), exact, 0.15, |_| true);
    assert!(worst < 0.02, "{worst}");
}

#[test]
fn nodes_are_exact_within_the_band_and_know_their_side_beyond_it() {
    let thin = cuboid(DVec3::new(0.5, 0.4, 0.004));
    let mut star = Mesh::sphere(0.4, 1);
    star.vertices.iter_mut().step_by(3).for_each(|v| *v *= 2.5);
    let mut all_inside = 0;
    for mesh in [Mesh::trefoil(0.2, 0.09, 40, 7), thin, star, spike(1.0, 0.05), Mesh::sphere(0.8, 1)] {
        let (cell, band) = (0.03, 0.1);
        let field = Field::build(&mesh, cell, band).unwrap();
        let all = field.dense().unwrap();
        let [nx, ny, nz] = all.counts;
        assert_eq!(all.values.len(), nx * ny * nz);
        let (low, high) = field.bounds();
        assert!(
            all.origin == low
                && (low + cell * DVec3::new(nx as f64, ny as f64, nz as f64) - cell - high).length() < 1e-12
        );
        let (near, inside) = (0..all.values.len())
            .into_par_iter()
            .step_by(7)
            .map(|k| {
                let p = low + cell * DVec3::new((k % nx) as f64, (k / nx % ny) as f64, (k / nx / ny) as f64);
                let (exact, found) = (brute_distance(&mesh, p), f64::from(all.values[k]));
                if exact < 1e-9 {
                    return (0, 0);
                }
                let within = mesh.winding(p) > 0.5;
                assert_eq!(found < 0.0, within, "side at {p}, {exact} m away");
                assert!((found.abs() - exact.min(band)).abs() < 1e-8, "{found} {exact}");
                (usize::from(exact < band), usize::from(within))
            })
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        assert!(near > 100, "{near}");
        all_inside += inside;
    }
    assert!(all_inside > 1000, "{all_inside}");
}

#[test]
fn sides_are_right_everywhere_between_nodes_and_far_away() {
    let mesh = Mesh::sphere(1.0, 3);
    let field = Field::build(&mesh, 0.02, 0.05).unwrap();
    let mut r = Random::new(5, 5);
    for _ in 0..20_000 {
        let p = 1.6 * r.in_ball();
        let exact = p.length() - 1.0;
        // The facets are up to 0.006 inside the sphere.
        if exact.abs() > 0.06 {
            assert_eq!((field.distance(p), field.gradient(p)), (0.05f64.copysign(exact), DVec3::ZERO), "{p}");
        } else if exact.abs() > 0.01 {
            assert_eq!(field.distance(p) < 0.0, exact < 0.0);
        }
    }
    assert_eq!(field.distance(DVec3::splat(1e9)), 0.05);
    assert_eq!(field.distance(DVec3::splat(f64::NAN)), 0.05);
    // Turned inside out, the outside is inside.
    let mut hollow = mesh;
    hollow.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let field = Field::build(&hollow, 0.02, 0.05).unwrap();
    assert_eq!((field.distance(DVec3::ZERO), field.distance(DVec3::splat(9.0))), (0.05, -0.05));
}

#[test]
fn an_open_sheet_has_two_sides() {
    let sheet = Mesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let field = Field::build(&sheet, 0.03, 0.1).unwrap();
    for z in [-0.08, -0.01, 0.02, 0.09] {
        assert!((field.distance(DVec3::new(0.4, 0.6, z)) - z).abs() < 1e-7);
    }
}

#[test]
fn memory_follows_the_surface() {
    let mesh = Mesh::sphere(1.0, 4);
    // The band is a fixed number of cells, as it is when grains touch a surface.
    let bytes = [0.04, 0.02, 0.01].map(|h| Field::build(&mesh, h, 3.0 * h).unwrap().memory_bytes() as f64);
    for k in 0..2 {
        let order = (bytes[k + 1] / bytes[k]).log2();
        assert!((1.7..2.2).contains(&order), "memory grows as cell^-{order}: {bytes:?}");
    }
    let box_of_nodes = 4.0 * (2.0f64 / 0.01).powi(3);
    assert!(bytes[2] < box_of_nodes, "{} bytes against {box_of_nodes} of the box", bytes[2]);
}

#[test]
fn same_bits_on_any_number_of_threads() {
    let mesh = Mesh::trefoil(0.2, 0.09, 60, 9);
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Field::build(&mesh, 0.02, 0.06).unwrap())
    };
    assert_eq!(build(1), build(2));
}

#[test]
fn impossible_fields_are_refused_with_a_remedy() {
    let mesh = cuboid(DVec3::ONE);
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Field::build(&mesh, cell, 0.1), Err(SdfError::Cell(_))));
        assert!(matches!(Field::build(&mesh, 0.1, cell), Err(SdfError::Band(_))));
    }
    assert_eq!(Field::build(&Mesh::default(), 0.1, 0.1).unwrap_err(), SdfError::Surface(SurfaceError::Empty));
    for (cell, band) in [(1e-9, 3e-9), (5e-4, 0.02), (1e-300, 1.0), (1e-9, 1.0)] {
        let error = Field::build(&mesh, cell, band).unwrap_err();
        let SdfError::TooMany { needed, limit, remedy, .. } = error.clone() else { panic!("{error}") };
        assert!(needed > limit as f64 && remedy > cell, "{error}");
        assert!(error.to_string().contains("use cells of"), "{error}");
    }
}

#[test]
fn pseudonormals_point_outwards_at_every_feature_of_a_spike() {
    let surface = Surface::build(&spike(1.0, 0.01)).unwrap();
    let tip = surface.tree().nearest(DVec3::new(0.35, 0.0, 1.3), 1.0).unwrap();
    assert!(matches!(tip.feature, Feature::Vertex(_)));
    assert!(surface.pseudonormal(&tip).z > 0.0);
}

/// The speed demanded: 64³ of 5,000 triangles in 0.3 s and 256³ of 100,000 in 10 s on two cores.
/// `cargo test --release -p barchan-core --lib -- --ignored --nocapture speed`
#[test]
#[ignore = "a measurement: run it in release on a quiet machine"]
fn speed_of_building() {
    for (name, mesh, counts, most) in [
        ("sphere", Mesh::sphere(1.0, 4), 64.0, 0.3),
        ("trefoil", Mesh::trefoil(1.0, 0.3, 100, 25), 64.0, 0.3),
        ("sphere", Mesh::sphere(1.0, 6), 256.0, 10.0),
        ("trefoil", Mesh::trefoil(1.0, 0.6, 1000, 50), 256.0, 10.0),
    ] {
        let started = std::time::Instant::now();
        let surface = Surface::build(&mesh).unwrap();
        let tree = started.elapsed().as_secs_f64();
        let (low, high) = surface.tree().bounds().unwrap();
        let cell = (high - low).max_element() / counts;
        let field = Field::of(&surface, cell, 3.0 * cell).unwrap();
        let whole = started.elapsed().as_secs_f64();
        let mut r = Random::new(1, 1);
        let points: Vec<DVec3> =
            (0..1_000_000).map(|_| low + (high - low) * DVec3::new(r.uniform(), r.uniform(), r.uniform())).collect();
        let started = std::time::Instant::now();
        let sum: f64 = points.iter().map(|&p| field.distance_and_gradient(p).0).sum();
        let look = started.elapsed().as_secs_f64() * 1e3;
        println!(
            "{name}: {} triangles on {counts}^3: {whole:.3} s (tree and normals {tree:.3} s), {:.1} MB; {look:.0} ns a look-up ({sum:.1e})",
            mesh.triangles.len(),
            field.memory_bytes() as f64 / 1e6,
        );
        assert!(whole < most, "{name}: {whole} s");
    }
}

#[test]
fn by_winding_number_a_closed_mesh_has_the_same_field_and_a_small_hole_no_other() {
    let mesh = Mesh::torus(1.0, 0.35, 48, 24);
    let (cell, band) = (0.06, 0.15);
    let exact = Field::build(&mesh, cell, band).unwrap();
    let mut open = mesh.clone();
    open.triangles.remove(700);
    for (other, what) in [(&mesh, "closed"), (&open, "open")] {
        let wound = Field::build_by_winding(other, cell, band).unwrap();
        let (a, b) = (exact.dense().unwrap(), wound.dense().unwrap());
        assert_eq!((a.counts, a.origin), (b.counts, b.origin));
        let hole = open.vertices[mesh.triangles[700][0] as usize];
        let node = |k: usize| {
            let at = [k % a.counts[0], k / a.counts[0] % a.counts[1], k / a.counts[0] / a.counts[1]];
            a.origin + a.cell * DVec3::from(at.map(|i| i as f64))
        };
        for k in 0..a.values.len() {
            // At the hole the nearest surface is its rim, a triangle's side away.
            let near = what == "open" && node(k).distance(hole) < 0.4;
            assert!(near || (a.values[k] - b.values[k]).abs() < 1e-6, "{what} at {}", node(k));
        }
    }
    // With pseudonormals alone what lies beyond the rim of a hole is on the side of its nearest feature; the winding number
    // of a box without its lid is ½ across the mouth, and 5/6 in the middle.
    let mut cup = Mesh::box_of(DVec3::ONE);
    cup.triangles.drain(2..4);
    let field = Field::build_by_winding(&cup, 0.05, 0.2).unwrap();
    assert!(field.distance(DVec3::ZERO) < 0.0 && field.distance(DVec3::new(0.0, 0.0, -0.45)) < 0.0);
    assert!([0.9, 0.7, -0.6].iter().all(|&z| field.distance(DVec3::new(0.1, 0.1, z)) > 0.0));
}
