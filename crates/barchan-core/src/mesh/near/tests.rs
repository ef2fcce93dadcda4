use super::test_meshes::*;
use super::*;
use crate::rng::Random;

/// A heap of unrelated triangles.
fn soup(n: usize) -> Mesh {
    let mut r = Random::new(4, n as u64);
    let mut mesh = Mesh::default();
    for t in 0..n as u32 {
        let middle = r.in_ball();
        (0..3).for_each(|_| mesh.vertices.push(middle + 0.2 * r.in_ball()));
        mesh.triangles.push([3 * t, 3 * t + 1, 3 * t + 2]);
    }
    mesh
}

#[test]
fn the_nearest_point_is_that_of_a_search_through_all() {
    let mut r = Random::new(1, 1);
    for mesh in [soup(1), soup(7), soup(500), Mesh::trefoil(0.3, 0.1, 60, 8), spike(1.0, 0.01)] {
        let tree = Tree::build(&mesh);
        let mut guess = None;
        for _ in 0..500 {
            let p = 1.5 * r.in_ball();
            let exact = brute_distance(&mesh, p);
            let found = tree.nearest(p, f64::INFINITY).unwrap();
            assert!((found.distance - exact).abs() < 1e-12, "{} {exact}", found.distance);
            assert!((found.point.distance(p) - exact).abs() < 1e-12);
            assert!(closest(&mesh.corners(found.triangle as usize), p).0.distance(found.point) < 1e-12);
            assert_eq!(tree.nearest_from(p, f64::INFINITY, &mut guess), Some(found), "a guess changes nothing");
            assert_eq!(tree.nearest(p, 1.001 * exact), Some(found));
            assert_eq!(tree.nearest(p, 0.999 * exact), None);
        }
    }
}

#[test]
fn within_visits_each_triangle_in_reach_once() {
    let mesh = soup(300);
    let tree = Tree::build(&mesh);
    let mut r = Random::new(2, 1);
    for _ in 0..100 {
        let (p, radius) = (r.in_ball(), r.range(0.0, 0.5));
        let mut found = Vec::new();
        tree.within(p, radius, |n| found.push(n.triangle));
        found.sort();
        let near = |t: &u32| closest(&mesh.corners(*t as usize), p).0.distance(p) <= radius;
        assert_eq!(found, (0..300).filter(near).collect::<Vec<_>>());
    }
}

#[test]
fn features_are_where_the_nearest_point_lies() {
    let tree = Tree::build(&cuboid(DVec3::ONE));
    let feature = |p: [f64; 3]| tree.nearest(DVec3::from(p), 10.0).unwrap().feature;
    assert_eq!(feature([2.0, 0.3, 0.1]), Feature::Face);
    assert!(matches!(feature([2.0, 2.0, 0.1]), Feature::Edge(_)));
    assert!(matches!(feature([2.0, 2.0, 2.0]), Feature::Vertex(_)));
}

#[test]
fn triangles_in_one_place_or_without_area_end_the_build() {
    let mut mesh = Mesh { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]; 1000] };
    mesh.triangles.push([0, 0, 1]);
    let tree = Tree::build(&mesh);
    let found = tree.nearest(DVec3::new(0.2, 0.2, 1.0), 2.0).unwrap();
    assert_eq!((found.triangle, found.distance), (0, 1.0));
    // Each triangle is a hundredth of the one before: cuts by area alone would make the tree as deep as they are many.
    let mut shrinking = Mesh::default();
    for t in 0..140 {
        let size = 100f64.powi(-t);
        let first = shrinking.vertices.len() as u32;
        shrinking.vertices.extend([DVec3::X * size, DVec3::X * 0.5 * size, DVec3::new(size, size, 0.0)]);
        shrinking.triangles.push([first, first + 1, first + 2]);
    }
    let far = Tree::build(&shrinking).nearest(DVec3::new(-1.0, 0.0, 0.0), 2.0).unwrap();
    assert!((far.distance - 1.0).abs() < 1e-12);
    assert!(Tree::build(&Mesh::default()).nearest(DVec3::ZERO, 1.0).is_none());
}

/// Sides against the winding number, for points all over and for points close to vertices and edges.
fn check_sides(mesh: &Mesh, size: DVec3) {
    let surface = Surface::build(mesh).unwrap();
    assert!(surface.is_closed());
    let mut r = Random::new(3, mesh.triangles.len() as u64);
    let (mut inside, mut vertices) = (0, 0);
    for k in 0..3000 {
        let spread = |r: &mut Random| DVec3::new(r.range(-1.2, 1.2), r.range(-1.2, 1.2), r.range(-1.2, 1.2));
        let p = match k % 3 {
            0 => size * spread(&mut r),
            1 => mesh.vertices[r.index(mesh.vertices.len())] + 0.05 * size * spread(&mut r),
            _ => {
                let [a, b, _] = mesh.corners(r.index(mesh.triangles.len()));
                a.lerp(b, r.uniform()) + 0.01 * size.min_element() * r.in_ball()
            }
        };
        let nearest = surface.tree().nearest(p, f64::INFINITY).unwrap();
        // On the surface itself the side is a matter of rounding.
        if nearest.distance < 1e-9 * size.max_element() {
            continue;
        }
        let within = mesh.winding(p) > 0.5;
        assert_eq!(surface.distance(p) < 0.0, within, "{p} {nearest:?}");
        inside += usize::from(within);
        vertices += usize::from(matches!(nearest.feature, Feature::Vertex(_)));
    }
    assert!(inside > 50 && vertices > 50, "{inside} inside, {vertices} nearest to a vertex");
}

#[test]
fn sides_are_right_at_fins_spikes_and_vertices() {
    check_sides(&cuboid(DVec3::new(1.0, 0.7, 0.001)), DVec3::new(1.0, 0.7, 0.001));
    check_sides(&cuboid(DVec3::ONE), DVec3::ONE);
    for width in [0.3, 0.01] {
        check_sides(&spike(1.0, width), DVec3::new(0.3, width, 1.0));
    }
    // A star of spikes: every third vertex of a sphere pulled far out, so that vertices are sharp, blunt and saddles.
    let mut star = Mesh::sphere(0.4, 2);
    star.vertices.iter_mut().step_by(3).for_each(|v| *v *= 2.5);
    check_sides(&star, DVec3::ONE);
    check_sides(&Mesh::torus(0.7, 0.25, 24, 12), DVec3::new(1.0, 1.0, 0.25));
}

#[test]
fn vertices_in_one_place_count_as_one() {
    let whole = spike(1.0, 0.05);
    let apart = Mesh {
        vertices: (0..4).flat_map(|t| whole.corners(t)).collect(),
        triangles: (0..4).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    };
    let (a, b) = (Surface::build(&whole).unwrap(), Surface::build(&apart).unwrap());
    assert!(b.is_closed());
    let mut r = Random::new(8, 8);
    for _ in 0..1000 {
        let p = 1.2 * r.in_ball();
        assert_eq!(a.distance(p), b.distance(p));
    }
}

#[test]
fn an_open_mesh_has_the_side_of_its_nearest_feature() {
    let mesh = Mesh { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]] };
    let surface = Surface::build(&mesh).unwrap();
    assert!(!surface.is_closed());
    assert_eq!(surface.distance(DVec3::new(0.2, 0.2, 0.5)), 0.5);
    assert_eq!(surface.distance(DVec3::new(0.2, 0.2, -0.5)), -0.5);
    assert!(surface.distance(DVec3::new(3.0, 0.2, -0.5)) < 0.0);
}

#[test]
fn meshes_that_are_no_surface_are_refused_with_the_place() {
    assert_eq!(Surface::build(&Mesh::default()).unwrap_err(), SurfaceError::Empty);
    let mut mesh = cuboid(DVec3::ONE);
    mesh.vertices[5].y = f64::NAN;
    assert_eq!(Surface::build(&mesh).unwrap_err(), SurfaceError::NotFinite { vertex: 5 });
    let mut mesh = cuboid(DVec3::ONE);
    mesh.triangles[3][1] = 8;
    assert_eq!(Surface::build(&mesh).unwrap_err(), SurfaceError::Index { triangle: 3, vertex: 8, vertices: 8 });
    assert_eq!(Surface::build(&Mesh::box_of(DVec3::ZERO)).unwrap_err(), SurfaceError::Empty);
}
