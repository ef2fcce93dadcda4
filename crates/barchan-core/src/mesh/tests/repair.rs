//! Welding, orienting and finding faults.

use super::*;
use crate::rng::Random;

/// Every triangle with vertices of its own, as in STL.
fn soup(mesh: &Mesh) -> Mesh {
    let vertices: Vec<DVec3> = (0..mesh.triangles.len()).flat_map(|i| mesh.corners(i)).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Mesh { vertices, triangles }
}

fn moved(mesh: &Mesh, by: DVec3) -> Mesh {
    mesh.transformed(&DAffine3::from_translation(by))
}

fn inverted(mut mesh: Mesh) -> Mesh {
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    mesh
}

fn both(mut one: Mesh, other: &Mesh) -> Mesh {
    one.append(other);
    one
}

/// Volume after orienting, with what was found.
fn oriented_volume(mut mesh: Mesh) -> (f64, Oriented) {
    let done = mesh.orient();
    (mesh.volume(), done)
}

#[test]
fn a_soup_of_triangles_welds_to_the_closed_mesh_it_came_from() {
    let mesh = Mesh::trefoil(0.1, 0.04, 60, 10);
    let mut welded = soup(&mesh);
    assert_eq!(welded.health().parts, 1200);
    assert_eq!(welded.health().crossings.count, 0);
    let done = welded.weld(0.0);
    assert_eq!(done, Welded { merged: 3600 - 600, ..Welded::default() });
    assert_eq!(welded.vertices.len(), 600);
    assert!(welded.health().is_closed());
    assert_eq!(welded.volume(), mesh.volume());
}

#[test]
fn vertices_off_by_less_than_the_tolerance_are_welded_and_moved_by_no_more() {
    let mesh = Mesh::sphere(0.1, 3);
    let tolerance = 1e-6;
    let mut noisy = soup(&mesh);
    let mut rng = Random::new(7, 0);
    for v in &mut noisy.vertices {
        *v += 0.5 * tolerance * rng.in_ball();
    }
    let before = noisy.clone();
    let mut exact = noisy.clone();
    exact.weld(0.0);
    assert_eq!(exact.health().holes.len(), 1280);
    let done = noisy.weld(tolerance);
    assert_eq!(done.merged, 3840 - 642);
    assert!(noisy.health().is_closed(), "{}", noisy.health());
    for i in 0..before.triangles.len() {
        for (old, new) in before.corners(i).into_iter().zip(noisy.corners(i)) {
            assert!(old.distance(new) <= tolerance);
        }
    }
    assert_eq!(noisy.clone().weld(tolerance), Welded::default());
}

#[test]
fn numbers_rounded_to_f32_far_from_the_origin_weld_at_the_stated_rounding() {
    let mesh = moved(&Mesh::sphere(1.0, 2), DVec3::new(100.0, -70.0, 40.0));
    let mut rounded = soup(&mesh);
    for (i, v) in rounded.vertices.iter_mut().enumerate() {
        // Copies rounded up or down, as writers that computed them in another order would.
        let nudge = 1.0 + f64::from(f32::EPSILON) * [0.0, 0.5, -0.5][i % 3];
        *v = DVec3::from_array(v.to_array().map(|x| f64::from((x * nudge) as f32)));
    }
    rounded.weld(rounded.rounding());
    assert!(rounded.health().is_closed(), "{}", rounded.health());
    assert_eq!(rounded.vertices.len(), mesh.vertices.len());
}

#[test]
fn a_tolerance_wider_than_the_mesh_leaves_nothing_and_takes_no_longer() {
    let mut mesh = Mesh::sphere(0.1, 4);
    let done = mesh.weld(1.0);
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (0, 0));
    assert_eq!(done.degenerate, 5120);
    assert_eq!(mesh.health().to_string(), "empty");
}

#[test]
fn degenerate_duplicate_and_unused_are_removed_and_counted() {
    let mut mesh = Mesh::box_of(DVec3::ONE);
    mesh.vertices.insert(0, DVec3::splat(9.0));
    mesh.triangles.iter_mut().flatten().for_each(|v| *v += 1);
    let [a, b, c] = mesh.triangles[4];
    mesh.triangles.extend([[a, a, b], [b, c, a], [a, c, b]]);
    let done = mesh.weld(0.0);
    assert_eq!(done, Welded { merged: 0, degenerate: 1, duplicate: 2, unused: 1 });
    assert_eq!(mesh, Mesh::box_of(DVec3::ONE));
}

#[test]
fn a_triangle_without_area_on_an_edge_is_removed_without_opening_a_slit() {
    // An edge of the box has its ends on one side and two more vertices on the other, with flat triangles between.
    let mut mesh = Mesh::box_of(DVec3::ONE);
    let below = |t: &[u32; 3]| t.contains(&0) && t.contains(&1) && !t.contains(&2) && !t.contains(&3);
    let k = mesh.triangles.iter().position(below).unwrap();
    let t = mesh.triangles[k];
    let tip = t.into_iter().find(|v| *v > 1).unwrap();
    mesh.vertices.push(DVec3::new(-0.2, -0.5, -0.5));
    mesh.vertices.push(DVec3::new(0.3, -0.5, -0.5));
    let forward = (0..3).any(|i| t[i] == 0 && t[(i + 1) % 3] == 1);
    let turn = |t: [u32; 3]| if forward { t } else { [t[0], t[2], t[1]] };
    // The triangle with edge 0-1 becomes three over 0-8, 8-9, 9-1; two flat ones fill the slit to the long edge.
    mesh.triangles[k] = turn([0, 8, tip]);
    mesh.triangles.extend([turn([8, 9, tip]), turn([9, 1, tip]), turn([0, 1, 9]), turn([0, 9, 8])]);
    assert!(mesh.health().is_closed(), "{}", mesh.health());
    let done = mesh.weld(0.0);
    assert_eq!(done.degenerate, 2);
    let health = mesh.health();
    assert!(health.is_closed() && health.crossings.count == 0, "{health}");
    assert!((0..mesh.triangles.len()).all(|i| {
        let [a, b, c] = mesh.corners(i);
        (b - a).cross(c - a).length() > 0.01
    }));
    assert!(relative(mesh.volume(), 1.0) < 1e-15);
}

#[test]
fn one_flipped_triangle_is_found_and_turned_back() {
    let mesh = Mesh::sphere(0.1, 3);
    let mut broken = mesh.clone();
    broken.triangles[77].swap(0, 1);
    let health = broken.health();
    assert!(!health.is_closed());
    assert_eq!((health.disagreements.count, health.holes.len()), (3, 0));
    let middle = mesh.corners(77).into_iter().sum::<DVec3>() / 3.0;
    assert!(health.disagreements.first.iter().all(|p| p.distance(middle) < 0.02), "{health}");
    let done = broken.orient();
    assert_eq!((done.turned, done.parts), (1, 1));
    assert!(broken.health().is_closed());
    assert_eq!(broken.volume(), mesh.volume());
}

#[test]
fn senses_drawn_at_random_are_put_right_in_every_part() {
    let mesh = both(Mesh::torus(0.3, 0.1, 30, 12), &moved(&Mesh::sphere(0.1, 2), DVec3::new(1.0, 0.0, 0.0)));
    let mut broken = mesh.clone();
    let mut rng = Random::new(3, 0);
    for t in &mut broken.triangles {
        if rng.uniform() < 0.5 {
            t.swap(1, 2);
        }
    }
    let done = broken.orient();
    assert_eq!((done.parts, done.cavities, done.within, done.one_sided.count), (2, 0, 0, 0));
    assert!(broken.health().is_closed());
    assert!((broken.volume() - mesh.volume()).abs() < 1e-15);
}

#[test]
fn a_cavity_stays_a_cavity_even_in_a_file_that_is_inside_out() {
    let (ball, hole) = (Mesh::sphere(1.0, 2), Mesh::sphere(0.5, 2));
    let shell = both(ball.clone(), &inverted(hole.clone()));
    let exact = ball.volume() - hole.volume();
    for mesh in [shell.clone(), inverted(shell.clone())] {
        let (volume, done) = oriented_volume(mesh);
        assert!(relative(volume, exact) < 1e-13);
        assert_eq!((done.parts, done.cavities, done.within), (2, 1, 0));
    }
    // A stone in the hole, and beside it all another ball, all inside out.
    let stone = Mesh::sphere(0.2, 2);
    let more = both(both(shell, &stone), &moved(&ball, DVec3::new(3.0, 0.0, 0.0)));
    let (volume, done) = oriented_volume(inverted(more));
    assert!(relative(volume, exact + stone.volume() + ball.volume()) < 1e-13);
    assert_eq!((done.parts, done.cavities, done.within), (4, 1, 0));
    // Two outward balls, one in the other: kept, and said.
    let (volume, done) = oriented_volume(both(ball.clone(), &hole));
    assert!(relative(volume, ball.volume() + hole.volume()) < 1e-13);
    assert_eq!((done.cavities, done.within), (0, 1));
    // A box round the knot's bounding box holds it; the hole of a torus does not hold the ball in it.
    let (_, done) = oriented_volume(both(Mesh::torus(1.0, 0.3, 40, 20), &inverted(Mesh::sphere(0.2, 2))));
    assert_eq!((done.cavities, done.within, done.turned), (0, 0, 320));
}

#[test]
fn a_missing_triangle_is_a_hole_with_its_place() {
    let whole = Mesh::sphere(0.1, 4);
    assert_eq!(whole.health().to_string(), "closed, 5,120 triangles, 1 part");
    let mut mesh = whole.clone();
    mesh.triangles.remove(1000);
    let health = mesh.health();
    let corners = whole.corners(1000);
    assert_eq!(health.holes.len(), 1);
    let hole = health.holes[0];
    let rim = (0..3).map(|i| corners[i].distance(corners[(i + 1) % 3])).sum::<f64>();
    assert_eq!(hole.edges, 3);
    assert!(relative(hole.length, rim) < 1e-14);
    assert!(hole.at.distance(corners.into_iter().sum::<DVec3>() / 3.0) < 0.01 * rim);
    assert!(!health.is_closed());
    let text = health.to_string();
    assert!(text.starts_with("not closed, 5,119 triangles, 1 part; 1 hole: 3 edges round ("), "{text}");
    // A closed mesh without its lid: one long hole round the top.
    let mut cup = Mesh::cylinder(0.1, 0.2, 24);
    cup.triangles.retain(|t| !t.contains(&49));
    let health = cup.health();
    assert_eq!((health.holes.len(), health.holes[0].edges), (1, 24));
    assert!(health.holes[0].at.distance(DVec3::new(0.0, 0.0, 0.1)) < 1e-15);
    assert!(health.to_string().contains("1 hole: 24 edges round (0, 0, 0.1), 0.6265 m long"), "{health}");
}

#[test]
fn a_moebius_strip_has_one_side_and_one_rim() {
    let n = 40u32;
    let mut strip = Mesh::default();
    for i in 0..n {
        let angle = 2.0 * PI * f64::from(i) / f64::from(n);
        let out = DVec3::new(angle.cos(), angle.sin(), 0.0);
        let across = 0.3 * ((0.5 * angle).cos() * out + (0.5 * angle).sin() * DVec3::Z);
        strip.vertices.extend([out - across, out + across]);
        let [a, b] = [2 * i, 2 * i + 1];
        // After one round the edges have changed places.
        let [c, d] = if i + 1 == n { [1, 0] } else { [2 * i + 2, 2 * i + 3] };
        strip.triangles.extend([[a, b, d], [a, d, c]]);
    }
    let done = strip.orient();
    assert_eq!((done.parts, done.one_sided.count), (1, 1));
    let health = strip.health();
    assert_eq!((health.holes.len(), health.holes[0].edges, health.crossings.count), (1, 80, 0));
    assert_eq!(health.disagreements.count, 1);
    // A band that closes without the twist has two sides, and two rims.
    strip.triangles.truncate(78);
    strip.triangles.extend([[78, 79, 1], [78, 1, 0]]);
    assert_eq!(strip.orient().one_sided.count, 0);
    assert_eq!(strip.health().holes.len(), 2);
}

#[test]
fn an_edge_of_three_triangles_is_a_fork() {
    let mut mesh = Mesh::box_of(DVec3::ONE);
    mesh.vertices.push(DVec3::new(0.0, -2.0, -2.0));
    mesh.triangles.push([0, 1, 8]);
    let health = mesh.health();
    assert_eq!((health.forks.count, health.parts, health.is_closed()), (1, 1, false));
    assert_eq!(health.forks.first, [DVec3::new(0.0, -0.5, -0.5)]);
    assert!(health.to_string().contains("1 edge that more than two triangles share, at (0, -0.5, -0.5)"), "{health}");
}

#[test]
fn triangles_that_cut_through_each_other_are_found_where_they_do() {
    let flat = [DVec3::new(-1.0, -1.0, 0.0), DVec3::new(1.0, -1.0, 0.0), DVec3::new(0.0, 2.0, 0.0)];
    let pair = |other: [[f64; 3]; 3]| Mesh {
        vertices: flat.into_iter().chain(other.map(DVec3::from_array)).collect(),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
    };
    let through = pair([[0.1, 0.2, -1.0], [0.1, 0.2, 1.0], [5.0, 0.2, 0.0]]).health();
    assert_eq!(through.crossings.count, 1);
    // They have the segment from (0.1, 0.2, 0) to (0.6, 0.2, 0) in common.
    let at = through.crossings.first[0];
    assert!((0.1 - 1e-15..0.6 + 1e-15).contains(&at.x) && (at.y - 0.2).abs() < 1e-15 && at.z == 0.0, "{at}");
    let count = |other| pair(other).health().crossings.count;
    // Past it, touching with a vertex, touching along an edge, beside it in its plane.
    assert_eq!(count([[4.0, 0.0, -1.0], [4.0, 0.0, 1.0], [5.0, 0.0, 0.0]]), 0);
    assert_eq!(count([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]), 0);
    assert_eq!(count([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]), 0);
    assert_eq!(count([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, -2.0, 0.0]]), 0);
    // In its plane with area in common; its edge along ours.
    assert_eq!(count([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 1.0, 0.0]]), 1);
    assert_eq!(count([[-0.5, -1.0, 0.0], [0.5, -1.0, 0.0], [0.0, 1.0, 0.0]]), 1);
    // A common vertex does not hide a crossing.
    let mut fan = pair([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]);
    fan.triangles[1] = [2, 3, 4];
    assert_eq!(fan.health().crossings.count, 1);
}

#[test]
fn spheres_that_overlap_cross_along_their_common_circle_and_apart_do_not() {
    let ball = Mesh::sphere(1.0, 3);
    let twin = |x: f64| both(ball.clone(), &moved(&ball, DVec3::new(x, 0.01, 0.02))).health();
    let health = twin(1.2);
    assert!(health.is_closed() && health.crossings.count > 40, "{health}");
    for p in &health.crossings.first {
        // The circle lies half way between, at distance √(1 − 0.6²) from the axis.
        assert!((p.x - 0.6).abs() < 0.03 && (p.y.hypot(p.z) - 0.8).abs() < 0.05, "{p}");
    }
    assert_eq!(twin(2.01).crossings.count, 0);
    assert_eq!(twin(2.01).parts, 2);
    // Against every pair, one by one.
    let mesh = both(ball.clone(), &moved(&ball, DVec3::new(1.2, 0.01, 0.02)));
    let n = mesh.triangles.len();
    let brute: usize = (0..n).map(|i| (0..i).filter(|&k| mesh.crossing(i, k, mesh.rounding()).is_some()).count()).sum();
    assert_eq!(health.crossings.count, brute);
}

#[test]
fn a_flat_face_of_many_triangles_does_not_cut_through_itself_for_being_rounded() {
    // A square of 30 by 30 cells, each cut into eight triangles at a middle that lies on lines through others.
    let n = 30u32;
    let mut plate = Mesh::default();
    for y in 0..=2 * n {
        plate.vertices.extend((0..=2 * n).map(|x| DVec3::new(f64::from(x), f64::from(y), 0.0) * 0.01));
    }
    for y in 0..n {
        for x in 0..n {
            let at = |i: u32, k: u32| (2 * y + k) * (2 * n + 1) + 2 * x + i;
            let rim = [at(0, 0), at(1, 0), at(2, 0), at(2, 1), at(2, 2), at(1, 2), at(0, 2), at(0, 1)];
            plate.triangles.extend((0..8).map(|i| [at(1, 1), rim[i], rim[(i + 1) % 8]]));
        }
    }
    let doubled = plate.transformed(&placed());
    let mut single = doubled.clone();
    for v in &mut single.vertices {
        *v = DVec3::from_array(v.to_array().map(|x| f64::from(x as f32)));
    }
    let exact = |mesh: &Mesh| {
        let pairs = |i: usize| (0..i).filter(move |&k| mesh.crossing(i, k, 0.0).is_some()).count();
        (0..500).map(pairs).sum::<usize>()
    };
    // Without the allowance for rounding it does.
    assert!(exact(&doubled) + exact(&single) > 0);
    for mesh in [&doubled, &single] {
        assert_eq!(mesh.health().crossings.count, 0, "{}", mesh.health());
    }
    // Two plates, one on the other and shifted a little, lie on each other.
    let shifted = moved(&plate, DVec3::new(0.003, 0.002, 0.0));
    let health = both(plate.clone(), &shifted).health();
    assert!(health.crossings.count > 7200, "{health}");
}

#[test]
fn a_heap_of_random_triangles_is_counted_up_to_the_limit() {
    let mut rng = Random::new(1, 0);
    let mut heap = Mesh::default();
    for i in 0..4_000u32 {
        heap.vertices.extend([rng.in_ball(), rng.in_ball(), rng.in_ball()]);
        heap.triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
    }
    let health = heap.health();
    assert!(health.crossings.count >= MOST_CROSSINGS);
    assert!(health.to_string().contains("at least "), "{health}");
    assert!(health.to_string().contains("4,000 holes: 3 edges round"), "{health}");
}
