use super::*;
use crate::mesh::near::test_meshes::*;

const BOX: DVec3 = DVec3::new(1.0, 0.8, 0.6);

fn sampled(mesh: &Mesh, radius: f64, placement: Placement) -> Sampling {
    let mut sampling = Sampling::new(mesh, Settings::new(radius, placement, 1)).unwrap();
    sampling.run();
    sampling
}

/// Distance of a point on the surface of a box from the nearest edge.
fn from_edge(half: DVec3, p: DVec3) -> f64 {
    let mut off = (half - p.abs()).to_array();
    off.sort_by(f64::total_cmp);
    off[0].hypot(off[1])
}

/// Share of the surface of a box that is not covered although it is not at an edge.
fn share_off_edges(q: &Quality, half: DVec3, far: f64) -> f64 {
    let off = q.uncovered.iter().filter(|&&p| from_edge(half, p) > far).count();
    (1.0 - q.coverage) * off as f64 / q.uncovered.len() as f64
}

#[test]
fn spheres_on_a_surface_leave_no_hole_and_are_even() {
    for (name, mesh, radius) in [
        ("sphere", Mesh::sphere(1.0, 4), 0.1),
        ("box", cuboid(BOX), 0.1),
        ("trefoil", Mesh::trefoil(1.0, 0.5, 200, 24), 0.15),
        ("fin", cuboid(DVec3::new(1.0, 0.8, 0.02)), 0.1),
    ] {
        let sampling = sampled(&mesh, radius, Placement::OnSurface);
        let q = sampling.quality();
        assert!(q.coverage >= 0.999, "{name}: coverage {}", q.coverage);
        assert!(q.gap < 0.05 * radius, "{name}: gap {}", q.gap);
        assert!(q.spread < 0.15, "{name}: spread {}", q.spread);
        assert!(q.distance < 1e-9 * radius, "{name}: {} off the surface", q.distance);
        assert_eq!((q.count, q.smallest, q.unreachable), (sampling.spheres().len(), radius, 0.0));
        // A hexagonal sampling of that spacing has √3/2 spacing² a particle: no waste.
        let even = probes::area(&mesh) / (0.75f64.sqrt() * q.spacing * q.spacing);
        assert!((0.7..1.0).contains(&(q.count as f64 / even)), "{name}: {} spheres, {even} if even", q.count);
    }
}

#[test]
fn spheres_inside_a_round_body_have_its_surface() {
    for (name, mesh, radius) in
        [("sphere", Mesh::sphere(1.0, 4), 0.12), ("trefoil", Mesh::trefoil(1.0, 0.5, 300, 48), 0.2)]
    {
        let sampling = sampled(&mesh, radius, Placement::Inside);
        let q = sampling.quality();
        assert!(q.coverage >= 0.999 && q.unreachable == 0.0, "{name}: coverage {}", q.coverage);
        assert!(q.gap < 0.2 * radius, "{name}: gap {}", q.gap);
        assert!(q.spread < 0.15, "{name}: spread {}", q.spread);
        assert!(q.distance < 1e-9 * radius, "{name}: {} off the level", q.distance);
        assert!(q.smallest > 0.998 * radius, "{name}: smallest {}", q.smallest);
        for &(centre, r) in sampling.spheres() {
            assert!(sampling.surface().distance(centre) <= -r + 1e-12, "{name}: a sphere sticks out");
            // In a round body centres stand one radius below the surface; its facets are up to 0.0013 below the sphere.
            assert!(name != "sphere" || (centre.length() - 0.88).abs() < 0.002, "{}", centre.length());
        }
    }
}

#[test]
fn edges_of_a_box_are_as_sharp_as_the_least_sphere_allows() {
    let radius = 0.1;
    let sampling = sampled(&cuboid(BOX), radius, Placement::Inside);
    let q = sampling.quality();
    assert!(q.coverage + q.unreachable > 0.99, "{} {}", q.coverage, q.unreachable);
    assert!(q.smallest >= 0.25 * radius && q.distance < 1e-9 * radius, "{} {}", q.smallest, q.distance);
    // A sphere of a quarter radius in the edge leaves (√2 − 1)/4 of the radius there, and (√3 − 1)/4 in the corner, which
    // is more than the roughness: what is not covered lies along the edges, and nowhere else.
    assert!(q.gap < 0.25 * radius, "{}", q.gap);
    assert!(!q.uncovered.is_empty());
    assert!(share_off_edges(&q, BOX, 0.25 * radius) < 1e-3);
    for &(centre, r) in sampling.spheres() {
        let depth = (BOX - centre.abs()).min_element();
        assert!((depth - r).abs() < 1e-12, "the sphere touches the box");
        assert!(
            r > 0.998 * radius
                || (BOX - centre.abs()).to_array().iter().filter(|d| **d < r + 1e-3 * radius).count() > 1,
            "a smaller sphere is where two faces are near"
        );
    }
}

#[test]
fn a_fin_thinner_than_the_spheres_gets_smaller_ones_in_its_middle() {
    let (radius, half) = (0.1, DVec3::new(1.0, 0.8, 0.05));
    let sampling = sampled(&cuboid(half), radius, Placement::Inside);
    for &(centre, r) in sampling.spheres() {
        assert!(r <= 0.05 + 1e-12 && centre.z.abs() + r <= 0.05 + 1e-12);
    }
    let q = sampling.quality();
    assert!(q.coverage > 0.95, "{}", q.coverage);
    let off = share_off_edges(&q, half, 0.25 * radius);
    assert!(off < 2e-3, "{off} of the surface is not covered, {}", q.coverage);
}

#[test]
fn what_no_sphere_can_reach_is_named() {
    // Thinner than the least sphere: nothing fits.
    let sheet = sampled(&cuboid(DVec3::new(1.0, 0.8, 0.02)), 0.1, Placement::Inside).quality();
    assert_eq!((sheet.count, sheet.coverage, sheet.unreachable), (0, 0.0, 1.0));
    // A spike is covered up to where it is too thin: the inscribed sphere shrinks linearly towards the tip.
    let (mesh, radius) = (spike(2.0, 0.3), 0.1);
    let sampling = sampled(&mesh, radius, Placement::Inside);
    let q = sampling.quality();
    assert!((q.coverage + q.unreachable - 1.0).abs() < 0.02, "{} {}", q.coverage, q.unreachable);
    let top = sampling.points().map(|p| p.z).fold(0.0, f64::max);
    let tip = q.uncovered.iter().map(|p| p.z).fold(0.0, f64::max);
    assert!(tip > 1.9 && top < 1.7, "{tip} {top}");
    assert!(q.gap > 2.0 * radius, "the tip is far from the topmost sphere: {}", q.gap);
}

#[test]
fn a_body_smaller_than_a_sphere_gets_one_a_side_or_none() {
    let speck = cuboid(DVec3::splat(0.01));
    let on = sampled(&speck, 1.0, Placement::OnSurface).quality();
    assert!(on.count <= 2 && on.coverage == 1.0, "{} {}", on.count, on.coverage);
    assert_eq!(sampled(&speck, 1.0, Placement::Inside).quality().count, 0);
}

#[test]
fn particles_are_drawn_to_the_surface_while_they_spread() {
    let mesh = Mesh::sphere(1.0, 4);
    let mut sampling = Sampling::new(&mesh, Settings::new(0.1, Placement::OnSurface, 1)).unwrap();
    let far = |s: &Sampling| s.points().map(|p| (p.length() - 1.0).abs()).fold(0.0, f64::max);
    let first = sampling.quality();
    assert!(far(&sampling) > 0.05, "injected near, not on, the surface");
    for _ in 0..6 {
        let before = far(&sampling);
        assert!(sampling.step());
        // Half the way a step, and 0.002 of facets and of leaving the round surface along its tangent.
        assert!(far(&sampling) < 0.55 * before + 0.002, "{} {before}", far(&sampling));
    }
    sampling.run();
    assert!(sampling.is_done() && !sampling.step());
    let last = sampling.quality();
    assert!(last.spread < 0.5 * first.spread, "{} {}", last.spread, first.spread);
}

#[test]
fn same_bits_for_the_same_seed_on_any_number_of_threads() {
    let mesh = Mesh::trefoil(1.0, 0.5, 100, 24);
    for placement in [Placement::OnSurface, Placement::Inside] {
        let run = |threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut sampling = Sampling::new(&mesh, Settings::new(0.35, placement, seed)).unwrap();
                sampling.run();
                sampling.spheres().to_vec()
            })
        };
        let one = run(1, 7);
        assert_eq!(one, run(2, 7));
        assert_eq!(one, run(1, 7));
        assert_ne!(one, run(1, 8));
    }
}

#[test]
fn a_body_a_thousand_times_smaller_gets_the_same_spheres_smaller() {
    // Scaling by a power of two is exact: any length that is not relative to the radius would show.
    let small = 1.0 / 1024.0;
    let mut mesh = cuboid(BOX);
    let large = sampled(&mesh, 0.2, Placement::Inside);
    mesh.vertices.iter_mut().for_each(|v| *v *= small);
    let tiny = sampled(&mesh, 0.2 * small, Placement::Inside);
    let scaled: Vec<(DVec3, f64)> = large.spheres().iter().map(|s| (s.0 * small, s.1 * small)).collect();
    assert_eq!(tiny.spheres(), scaled);
}

#[test]
fn impossible_samplings_are_refused_with_a_remedy() {
    let mut mesh = cuboid(DVec3::ONE);
    let settings = Settings::new(0.1, Placement::Inside, 1);
    let refused = |mesh: &Mesh, settings| Sampling::new(mesh, settings).unwrap_err();
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(&mesh, Settings { radius, ..settings }), SamplingError::Radius(_)));
    }
    for share in [0.0, 1.5, f64::NAN] {
        assert!(matches!(refused(&mesh, Settings { roughness: share, ..settings }), SamplingError::Share { .. }));
        assert!(matches!(refused(&mesh, Settings { least: share, ..settings }), SamplingError::Share { .. }));
    }
    let SamplingError::TooMany { remedy, .. } = refused(&mesh, Settings { radius: 1e-6, ..settings }) else { panic!() };
    let error = refused(&mesh, Settings { radius: 0.9 * remedy, ..settings });
    assert!(error.to_string().contains("use a radius of"), "{error}");
    assert_eq!(refused(&Mesh::default(), settings), SamplingError::Surface(SurfaceError::Empty));
    mesh.triangles.pop();
    assert_eq!(refused(&mesh, settings), SamplingError::Open);
    assert!(Sampling::new(&mesh, Settings { placement: Placement::OnSurface, ..settings }).is_ok());
}

/// The speed demanded: 10,000 particles in under 10 s on two cores.
/// `cargo test --release -p barchan-core --lib -- --ignored --nocapture speed`
#[test]
#[ignore = "a measurement: run it in release on a quiet machine"]
fn speed_of_sampling() {
    for (name, mesh, radius, placement) in [
        ("trefoil", Mesh::trefoil(1.0, 0.5, 300, 48), 0.073, Placement::OnSurface),
        ("trefoil", Mesh::trefoil(1.0, 0.5, 300, 48), 0.15, Placement::Inside),
        ("box", cuboid(BOX), 0.062, Placement::Inside),
    ] {
        let started = std::time::Instant::now();
        let mut sampling = Sampling::new(&mesh, Settings::new(radius, placement, 1)).unwrap();
        let steps = 1 + std::iter::from_fn(|| sampling.step().then_some(())).count();
        let seconds = started.elapsed().as_secs_f64();
        let q = sampling.quality();
        println!(
            "{name} {placement:?}: {} spheres in {steps} steps and {seconds:.2} s; coverage {:.5} (out of reach {:.5}), gap {:.3} R, spacing {:.3} R ± {:.1} %",
            q.count,
            q.coverage,
            q.unreachable,
            q.gap / radius,
            q.spacing / radius,
            100.0 * q.spread,
        );
        assert!(seconds < 10.0, "{seconds} s");
    }
}

#[test]
fn the_union_of_spheres_has_the_closed_forms_and_those_of_the_clump() {
    let one = union(&[(DVec3::new(3.0, -1.0, 2.0), 0.5)]).unwrap();
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.125;
    assert!((one.volume / volume - 1.0).abs() < 1e-4 && one.centroid.distance(DVec3::new(3.0, -1.0, 2.0)) < 1e-9);
    for axis in 0..3 {
        assert!((one.inertia.col(axis)[axis] / (0.4 * volume * 0.25) - 1.0).abs() < 2e-4);
        assert!(one.inertia.col(axis)[(axis + 1) % 3].abs() < 1e-9);
    }
    // Two far apart, and a heap that overlaps.
    let two = union(&[(DVec3::ZERO, 1.0), (DVec3::X * 4.0, 1.0)]).unwrap();
    assert!((two.inertia.y_axis.y / two.inertia.x_axis.x - (0.4 + 4.0) / 0.4).abs() < 5e-3);
    let heap: Vec<(DVec3, f64)> = (0..12)
        .map(|k| f64::from(k) * 0.7)
        .map(|t| (DVec3::new(t.sin(), (1.3 * t).cos(), 0.3 * t), 0.5 + 0.2 * (2.0 * t).sin()))
        .collect();
    let (shape, unit) = crate::shapes::Shape::clump("heap", &heap).unwrap();
    let found = union(&heap).unwrap();
    assert!((found.volume / (shape.volume() * unit.powi(3)) - 1.0).abs() < 3e-4);
    let trace = found.inertia.x_axis.x + found.inertia.y_axis.y + found.inertia.z_axis.z;
    assert!((trace / (shape.inertia().element_sum() * unit.powi(5)) - 1.0).abs() < 3e-4);
    assert_eq!(union(&[]), None);
}

#[test]
fn lining_and_filling_have_the_mass_of_the_solid_and_nothing_sticks_out() {
    let mesh = Mesh::box_of(DVec3::new(1.0, 0.8, 0.6));
    let mut sampling = Sampling::new(&mesh, Settings::new(0.06, Placement::Inside, 1)).unwrap();
    sampling.run();
    let solid = mesh.mass_properties().unwrap();
    let lining = union(sampling.spheres()).unwrap();
    assert!(lining.volume < 0.75 * solid.volume, "the lining alone is hollow");
    let filling = sampling.filling();
    assert!(filling.len() < 400, "{} spheres fill it", filling.len());
    let slack = sampling.settings.slack();
    assert!(filling.iter().all(|&(c, r)| sampling.surface().distance(c) + r < -0.999 * slack));
    let all = union(&[sampling.spheres(), &filling].concat()).unwrap();
    // What is missing is a layer of dimples, of half the roughness at most, and pockets between large spheres.
    let missing = 1.0 - all.volume / solid.volume;
    assert!(missing > 0.0 && missing < 0.5 * slack * mesh.area() / solid.volume + 0.01, "{missing}");
    assert!(all.centroid.distance(solid.centroid) < 0.005);
    for axis in 0..3 {
        let off = all.inertia.col(axis)[axis] / solid.inertia.col(axis)[axis] - 1.0;
        assert!((-0.05..0.0).contains(&off), "{off}");
    }
    let on_surface = Sampling::new(&mesh, Settings::new(0.06, Placement::OnSurface, 1)).unwrap();
    assert!(on_surface.filling().is_empty());
}

#[test]
fn beads_stand_apart_while_they_move_and_are_the_spheres_at_the_end() {
    let mut sampling = Sampling::new(&Mesh::sphere(1.0, 3), Settings::new(0.3, Placement::OnSurface, 1)).unwrap();
    let beads = sampling.beads();
    assert!(beads.iter().zip(sampling.points()).all(|(b, p)| b.0 == p && b.1 < 0.3));
    sampling.run();
    assert_eq!(sampling.beads(), sampling.spheres());
}
