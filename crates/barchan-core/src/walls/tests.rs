//! Walls against brute force, finite differences and rigid motion; rough walls against leaks.

use super::*;
use crate::rng::Random;
use glam::DVec2;
use std::f64::consts::{PI, TAU};

fn axis() -> DVec3 {
    DVec3::new(0.3, -0.5, 0.9).normalize()
}

fn geometries() -> Vec<Geometry> {
    let base = DVec3::new(0.2, -0.1, 0.4);
    let (min, max) = (DVec3::new(-0.7, -0.5, -0.3), DVec3::new(0.9, 0.6, 0.8));
    let mut all = vec![Geometry::Plane { point: base, normal: axis() }];
    for open in [[false; 6], [false, false, false, false, false, true], [true, false, false, true, false, true]] {
        all.push(Geometry::Box { min, max, side: Side::Inside, open });
    }
    all.push(Geometry::Box { min, max, side: Side::Outside, open: [false; 6] });
    all.push(Geometry::Disc { centre: base, normal: axis(), radius: 0.8, hole: 0.0 });
    all.push(Geometry::Disc { centre: base, normal: axis(), radius: 0.8, hole: 0.3 });
    for side in [Side::Inside, Side::Outside] {
        all.push(Geometry::Cylinder { base, axis: axis(), radius: 0.6, height: None, side });
        all.push(Geometry::Cylinder { base, axis: axis(), radius: 0.6, height: Some(0.9), side });
        all.push(Geometry::Cone { base, axis: axis(), radius_base: 0.2, radius_top: 0.8, height: 0.5, side });
        all.push(Geometry::Cone { base, axis: axis(), radius_base: 0.7, radius_top: 0.0, height: 0.4, side });
        all.push(Geometry::Sphere { centre: base, radius: 0.7, side });
    }
    all
}

fn moved(rng: &mut Random) -> WallState {
    WallState { position: 2.0 * rng.in_ball(), rotation: rng.unit_quaternion(), ..WallState::default() }
}

/// Points of a smooth face, on a grid of parameters so dense that neighbours are at most `GRAIN` apart.
fn surface_points(geometry: &Geometry, face: u32, near: DVec3) -> Vec<DVec3> {
    let n = 240;
    let grid = move || (0..=n).flat_map(move |i| (0..=n).map(move |j| DVec2::new(i as f64, j as f64) / n as f64));
    let revolve = |base: DVec3, axis: DVec3, f: &dyn Fn(f64) -> DVec2| {
        let (u, v) = axis.any_orthonormal_pair();
        grid()
            .map(|g| {
                let (sin, cos) = (TAU * g.x).sin_cos();
                let p = f(g.y);
                base + (u * cos + v * sin) * p.x + axis * p.y
            })
            .collect()
    };
    match *geometry {
        Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) => unreachable!("meshes have tests of their own"),
        Geometry::Plane { point, normal } => {
            let (u, v) = normal.any_orthonormal_pair();
            let middle = near - normal * (near - point).dot(normal);
            grid().map(|g| middle + u * (g.x - 0.5) + v * (g.y - 0.5)).collect()
        }
        Geometry::Box { min, max, side, .. } => {
            let faces = if side == Side::Inside { face..face + 1 } else { 0..6 };
            let size = max - min;
            faces
                .flat_map(|f| {
                    let a = f as usize / 2;
                    grid().map(move |g| {
                        let mut share = DVec3::ZERO;
                        share[a] = (f % 2) as f64;
                        share[(a + 1) % 3] = g.x;
                        share[(a + 2) % 3] = g.y;
                        min + size * share
                    })
                })
                .collect()
        }
        Geometry::Cylinder { base, axis, radius, height, .. } => {
            let z = (near - base).dot(axis);
            revolve(base, axis, &|t| DVec2::new(radius, height.map_or(z + t - 0.5, |h| h * t)))
        }
        Geometry::Cone { base, axis, radius_base, radius_top, height, .. } => {
            revolve(base, axis, &|t| DVec2::new(radius_base + (radius_top - radius_base) * t, height * t))
        }
        Geometry::Sphere { centre, radius, .. } => {
            revolve(centre, DVec3::Z, &|t| DVec2::new((PI * t).sin(), (PI * t).cos()) * radius)
        }
        Geometry::Disc { centre, normal, radius, hole } => {
            revolve(centre, normal, &|t| DVec2::new(hole + (radius - hole) * t, 0.0))
        }
    }
}

/// Greatest distance from a point of the surface to the nearest of `surface_points` [m].
const GRAIN: f64 = 0.02;

#[test]
fn distance_is_that_of_the_nearest_sampled_point() {
    let mut rng = Random::new(1, 0);
    for geometry in geometries() {
        let wall = Wall::new("w", geometry.clone(), 0);
        let state = moved(&mut rng);
        for face in geometry.faces() {
            for _ in 0..12 {
                let x0 = 1.4 * rng.in_ball();
                // A closed container's faces act as planes to those outside; only its inside is its surface's.
                if matches!(geometry, Geometry::Box { min, max, open: [false, ..], .. } if x0 != x0.clamp(min, max)) {
                    continue;
                }
                let points = surface_points(&geometry, face, x0);
                let brute = points.iter().map(|p| p.distance(x0)).fold(f64::INFINITY, f64::min);
                let exact = wall.nearest(&state, face, wall.to_world(&state, x0)).distance.abs();
                // Sampling can only miss: by at most the chord's excess √(d² + g²) − d.
                let excess = exact.hypot(GRAIN) - exact + 1e-3 * GRAIN;
                assert!(exact <= brute + 1e-12 && brute <= exact + excess, "{geometry:?} {face}: {exact} {brute}");
            }
        }
    }
}

#[test]
fn the_normal_is_the_gradient_of_the_distance() {
    let mut rng = Random::new(2, 0);
    let h = 1e-6;
    for geometry in geometries() {
        for rough in [None, Some(Roughness { radius: 0.05, spacing: 0.12 })] {
            let wall = Wall { rough, ..Wall::new("w", geometry.clone(), 0) };
            let state = moved(&mut rng);
            let (mut measured, mut kinks) = (0, 0);
            for _ in 0..200 {
                let x = wall.to_world(&state, 1.2 * rng.in_ball());
                let mut keys = Vec::new();
                wall.features(&state, x, 0.2, &mut |k| keys.push(k));
                for key in keys {
                    let here = wall.nearest(&state, key, x);
                    let at = |d: DVec3| wall.nearest(&state, key, x + d).distance;
                    let gradient = DVec3::from_array(DVec3::AXES.map(|e| (at(e * h) - at(e * -h)) / (2.0 * h)));
                    assert!((here.normal.length() - 1.0).abs() < 1e-12);
                    // Across a ridge, an axis or the surface itself differences mean nothing: few points lie there.
                    measured += 1;
                    let near_kink = (gradient.length() - 1.0).abs() > 1e-6 || here.distance.abs() < 1e-3;
                    kinks += near_kink as i32;
                    assert!(near_kink || gradient.distance(here.normal) < 1e-5, "{geometry:?} {key:x} {gradient}");
                    assert!(!near_kink || gradient.length() < 1.0 + 1e-6, "distance is 1-Lipschitz");
                }
            }
            assert!(measured > 20 && 20 * kinks < measured, "{geometry:?} {rough:?} {kinks} of {measured}");
        }
    }
}

#[test]
fn a_moved_wall_gives_the_moved_answer() {
    let mut rng = Random::new(3, 0);
    for geometry in geometries() {
        for rough in [None, Some(Roughness { radius: 0.05, spacing: 0.12 })] {
            let wall = Wall { rough, ..Wall::new("w", geometry.clone(), 0) };
            let (still, state) = (wall.state_at(0.0), moved(&mut rng));
            for _ in 0..100 {
                let x = 1.2 * rng.in_ball();
                let y = wall.to_world(&state, x);
                let (mut a, mut b) = (Vec::new(), Vec::new());
                wall.features(&still, x, 0.2, &mut |k| a.push(k));
                wall.features(&state, y, 0.2, &mut |k| b.push(k));
                assert_eq!(a, b, "{geometry:?}");
                for key in a {
                    let (p, q) = (wall.nearest(&still, key, x), wall.nearest(&state, key, y));
                    assert!((p.distance - q.distance).abs() < 1e-12);
                    assert!((state.rotation * p.normal).distance(q.normal) < 1e-10 / (p.distance.abs() + 1e-3));
                }
                assert!((wall.clearance(&still, x) - wall.clearance(&state, y)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn the_plane_of_a_feature_is_what_is_nearest() {
    let mut rng = Random::new(8, 0);
    let mut planes = 0;
    for geometry in geometries() {
        let wall = Wall::new("w", geometry, 0);
        for _ in 0..20 {
            let (state, x) = (moved(&mut rng), 3.0 * rng.in_ball());
            let Some((point, normal)) = wall.plane(&state, 0) else { continue };
            let near = wall.nearest(&state, 0, x);
            assert!((near.distance - (x - point).dot(normal)).abs() < 1e-14 && near.normal.distance(normal) < 1e-14);
            planes += 1;
        }
    }
    assert_eq!(planes, 20);
}

#[test]
fn shells_have_no_jump_anywhere() {
    // Walk round everything in small steps: the distance never changes faster than the walker.
    let mut rng = Random::new(4, 0);
    for geometry in geometries() {
        let wall = Wall::new("w", geometry.clone(), 0);
        let state = wall.state_at(0.0);
        for face in geometry.faces() {
            for _ in 0..50 {
                let (a, b) = (1.5 * rng.in_ball(), 1.5 * rng.in_ball());
                let at = |i: usize| wall.nearest(&state, face, a.lerp(b, i as f64 / 400.0)).distance;
                let step = a.distance(b) / 400.0 + 1e-12;
                assert!((0..400).all(|i| (at(i + 1) - at(i)).abs() <= step), "{geometry:?}");
            }
        }
    }
}

#[test]
fn sides_push_where_they_should() {
    let ask = |g: Geometry, face: u32, x: DVec3| {
        let wall = Wall::new("w", g, 0);
        wall.nearest(&wall.state_at(0.0), face, x)
    };
    let close = |n: Nearest, d: f64, normal: DVec3| {
        assert!((n.distance - d).abs() < 1e-12 && n.normal.distance(normal) < 1e-12, "{n:?}");
    };
    let (o, z) = (DVec3::ZERO, DVec3::Z);
    close(ask(Geometry::Plane { point: o, normal: z }, 0, -0.1 * z), -0.1, z);
    let tube = |side, height| Geometry::Cylinder { base: o, axis: z, radius: 1.0, height, side };
    close(ask(tube(Side::Inside, None), 0, DVec3::new(1.1, 0.0, 9.0)), -0.1, -DVec3::X);
    close(ask(tube(Side::Outside, None), 0, DVec3::new(1.1, 0.0, 9.0)), 0.1, DVec3::X);
    // Over the rim: the edge itself; on the surface: the grains' side.
    close(ask(tube(Side::Inside, Some(2.0)), 0, DVec3::new(1.3, 0.0, 2.4)), 0.5, DVec3::new(0.6, 0.0, 0.8));
    close(ask(tube(Side::Inside, Some(2.0)), 0, DVec3::new(1.0, 0.0, 1.0)), 0.0, -DVec3::X);
    close(ask(tube(Side::Outside, Some(2.0)), 0, DVec3::new(1.0, 0.0, 1.0)), 0.0, DVec3::X);
    let ball = |side| Geometry::Sphere { centre: o, radius: 1.0, side };
    close(ask(ball(Side::Inside), 0, 0.9 * z), 0.1, -z);
    close(ask(ball(Side::Outside), 0, 0.9 * z), -0.1, z);
    let cube = |side, open| Geometry::Box { min: -DVec3::ONE, max: DVec3::ONE, side, open };
    close(ask(cube(Side::Outside, [false; 6]), 0, DVec3::new(0.2, -0.9, 0.1)), -0.1, -DVec3::Y);
    close(ask(cube(Side::Outside, [false; 6]), 0, DVec3::new(1.3, 1.4, 0.0)), 0.5, DVec3::new(0.6, 0.8, 0.0));
    // Keys of a box are its faces in the order −x +x −y +y −z +z; a corner touches three.
    close(ask(cube(Side::Inside, [false; 6]), 1, DVec3::new(0.7, 0.0, 0.0)), 0.3, -DVec3::X);
    let mut keys = Vec::new();
    let wall = Wall::new("w", cube(Side::Inside, [false, false, false, false, false, true]), 0);
    wall.features(&wall.state_at(0.0), DVec3::splat(-0.9), 0.2, &mut |k| keys.push(k));
    assert_eq!(keys, [0, 2, 4]);
    keys.clear();
    wall.features(&wall.state_at(0.0), DVec3::splat(0.9), 0.2, &mut |k| keys.push(k));
    assert_eq!(keys, [1, 3], "the lid is open");
    let plate = Geometry::Disc { centre: o, normal: z, radius: 1.0, hole: 0.5 };
    close(ask(plate.clone(), 0, DVec3::new(0.7, 0.0, -0.2)), 0.2, -z);
    close(ask(plate, 0, DVec3::new(0.2, 0.0, 0.4)), 0.5, DVec3::new(-0.6, 0.0, 0.8));
}

#[test]
fn sliding_from_a_cylinder_into_a_cone_meets_no_step() {
    // Hopper (concave joint) and outlet (convex joint): the least distance over both walls is continuous, and a rim is
    // never nearer than the neighbouring mantle.
    let cone = |a, b| Geometry::Cone {
        base: DVec3::ZERO,
        axis: DVec3::Z,
        radius_base: a,
        radius_top: b,
        height: 0.5,
        side: Side::Inside,
    };
    for (a, b) in [(0.4, 1.0), (1.6, 1.0)] {
        let low = Wall::new("cone", cone(a, b), 0);
        let base = DVec3::new(0.0, 0.0, 0.5);
        let tube = Geometry::Cylinder { base, axis: DVec3::Z, radius: 1.0, height: Some(1.0), side: Side::Inside };
        let high = Wall::new("tube", tube, 0);
        let (s, t) = (low.state_at(0.0), high.state_at(0.0));
        let mut rng = Random::new(5, 0);
        for _ in 0..10_000 {
            let x = DVec3::new(rng.range(0.5, 0.99), 0.0, rng.range(0.3, 0.7));
            let (p, q) = (low.nearest(&s, 0, x), high.nearest(&t, 0, x));
            if x.z < 0.5 {
                assert!(q.distance >= p.distance - 1e-12, "tube's rim nearer than the cone at {x}");
            }
            let slope = DVec2::new(b - a, 0.5).normalize();
            if DVec2::new(x.x - a, x.z).dot(slope) > DVec2::new(b - a, 0.5).length() {
                assert!(p.distance >= q.distance - 1e-12, "cone's rim nearer than the tube at {x}");
            }
        }
    }
}

/// Every sphere of a lattice, found by asking all along the surface.
fn bumps(wall: &Wall, state: &WallState) -> Vec<(u32, DVec3)> {
    let rough = wall.rough.unwrap();
    let mut found = std::collections::BTreeMap::new();
    for face in 0..if matches!(wall.geometry, Geometry::Box { .. }) { 6 } else { 1 } {
        for x in surface_points(&wall.geometry, face, wall.geometry.pivot()) {
            let x = wall.to_world(state, x);
            wall.features(state, x, 0.05, &mut |key| {
                if key & BACKSTOP == 0 {
                    let n = wall.nearest(state, key, x);
                    let centre = x - n.normal * (n.distance + rough.radius);
                    let other: DVec3 = *found.entry(key).or_insert(centre);
                    assert!(other.distance(centre) < 1e-9, "one key, two spheres: {:?} {key:x}", wall.geometry);
                }
            });
        }
    }
    found.into_iter().collect()
}

#[test]
fn rough_spheres_sit_on_the_surface_one_spacing_apart_and_none_is_missed() {
    let mut rng = Random::new(6, 0);
    let rough = Roughness { radius: 0.04, spacing: 0.1 };
    for geometry in geometries() {
        let wall = Wall { rough: Some(rough), ..Wall::new("w", geometry.clone(), 0) };
        assert_eq!(wall.check(), []);
        let state = moved(&mut rng);
        let all = bumps(&wall, &state);
        assert!(all.len() > 30, "{geometry:?}: {}", all.len());
        for (key, centre) in &all {
            let face = if matches!(geometry, Geometry::Box { side: Side::Inside, .. }) { key >> 28 } else { 0 };
            assert!(wall.nearest(&state, BACKSTOP | face, *centre).distance.abs() < 1e-9, "{geometry:?}");
        }
        // A ring holds a whole number of spheres and stands off the next by a whole share of the generatrix, so
        // spacings on curved walls are rounded; rings near a pole or apex hold few.
        let nearest = |c: &DVec3, k: u32| {
            all.iter().filter(|b| b.0 != k && b.0 >> 28 == k >> 28).map(|b| b.1.distance(*c)).fold(9.0, f64::min)
        };
        let typical = {
            let mut gaps: Vec<f64> = all.iter().map(|(k, c)| nearest(c, *k)).collect();
            gaps.sort_by(f64::total_cmp);
            gaps[gaps.len() / 2]
        };
        assert!((typical / rough.spacing - 1.0).abs() < 0.12, "{geometry:?}: {typical}");
        // Whatever is within reach is visited, once, and nothing else.
        for _ in 0..300 {
            let x = wall.to_world(&state, 1.1 * rng.in_ball());
            let reach = rng.range(0.0, 0.3);
            let mut seen = Vec::new();
            wall.features(&state, x, reach, &mut |k| seen.push(k));
            seen.retain(|k| k & BACKSTOP == 0);
            seen.sort_unstable();
            let mut wanted: Vec<u32> =
                all.iter().filter(|b| b.1.distance(x) <= reach + rough.radius).map(|b| b.0).collect();
            wanted.sort_unstable();
            // Endless surfaces were sampled only near their pivot.
            match geometry {
                Geometry::Plane { .. } | Geometry::Cylinder { height: None, .. } => {
                    assert!(wanted.iter().all(|k| seen.contains(k)));
                    assert!(seen.windows(2).all(|w| w[0] != w[1]));
                }
                _ => assert_eq!(seen, wanted, "{geometry:?} {x} {reach}"),
            }
        }
    }
}

#[test]
fn endless_rough_walls_answer_alike_far_from_their_pivot() {
    let rough = Some(Roughness { radius: 1e-3, spacing: 2e-3 });
    let z = DVec3::Z;
    let plane = Wall { rough, ..Wall::new("p", Geometry::Plane { point: DVec3::ZERO, normal: z }, 0) };
    let tube = Geometry::Cylinder { base: DVec3::ZERO, axis: z, radius: 0.1, height: None, side: Side::Inside };
    let tube = Wall { rough, ..Wall::new("t", tube, 0) };
    let row = 2e-3 * 3f64.sqrt();
    let (u, v) = z.any_orthonormal_pair();
    // Whole periods of the lattice: 200 m away, far beyond what the indices in a key could count.
    for (wall, x, away) in [
        (&plane, DVec3::new(0.0003, 0.0005, 0.0015), u * 2e-3 * 1e5 - v * row * 6e4),
        (&tube, DVec3::new(0.099, 0.001, 0.0003), z * row * 6e4),
    ] {
        let state = wall.state_at(0.0);
        let ask = |x: DVec3| {
            let mut all = Vec::new();
            wall.features(&state, x, 0.003, &mut |k| all.push(wall.nearest(&state, k, x).distance));
            all
        };
        let (near, far) = (ask(x), ask(x + away));
        assert!(near.len() > 5 && near.len() == far.len());
        assert!(near.iter().zip(&far).all(|(a, b)| (a - b).abs() < 1e-10), "{near:?} {far:?}");
    }
}

/// What spheres of a rough wall are seen from a point: where their centres are from there, in order.
fn seen_from(wall: &Wall, x: DVec3) -> Vec<DVec3> {
    let state = wall.state_at(0.0);
    let mut all = Vec::new();
    wall.features(&state, x, 2e-3, &mut |key| {
        let n = wall.nearest(&state, key, x);
        if key & BACKSTOP == 0 {
            all.push(n.normal * -(n.distance + n.radius));
        }
    });
    // To a tenth of a micrometre, so that rounding does not change the order.
    all.sort_by_key(|c| c.to_array().map(|x| (1e7 * x).round() as i64));
    all
}

#[test]
fn rough_walls_look_alike_from_both_sides_of_a_periodic_domain() {
    let sides = [DVec3::new(0.0, -0.01, 0.002), DVec3::new(0.040, 0.0213, 0.0307)];
    let (rough, period) = (Roughness { radius: 1e-3, spacing: 2.3e-3 }, sides[1] - sides[0]);
    let (x, y, z) = ([true, false, false], [false, true, false], [false, false, true]);
    let plane = |normal: DVec3| Geometry::Plane { point: DVec3::new(0.013, 0.002, 0.01), normal };
    let tube = |axis: usize, height: Option<f64>| {
        let mut base = DVec3::new(0.01, 0.003, 0.02);
        base[axis] = sides[0][axis];
        Geometry::Cylinder { base, axis: DVec3::AXES[axis], radius: 0.008, height, side: Side::Inside }
    };
    let trough = Geometry::Box {
        min: sides[0],
        max: sides[1],
        side: Side::Inside,
        open: [true, true, false, false, false, true],
    };
    let cases = [
        (plane(DVec3::Z), [true, true, false]),
        (plane(-DVec3::Z), [true, true, false]),
        (plane(DVec3::X), [false, true, true]),
        (plane(-DVec3::Y), [true, false, true]),
        (plane(DVec3::new(0.0, 0.3, 1.0)), x),
        (plane(DVec3::new(0.4, 0.0, -1.0)), y),
        (plane(DVec3::new(0.4, -0.7, 0.0)), z),
        (tube(0, None), x),
        (tube(1, None), y),
        (tube(2, Some(period.z)), z),
        (trough, x),
    ];
    let mut rng = Random::new(9, 0);
    for (geometry, periodic) in cases {
        let wall = Wall::new("w", geometry.clone(), 0).roughened(rough, sides, periodic);
        assert_eq!(wall.closing.strained(&wall.geometry, &rough, sides), [], "{geometry:?}");
        let bare = Wall { rough: Some(rough), ..Wall::new("w", geometry.clone(), 0) };
        for axis in (0..3).filter(|&i| periodic[i]) {
            let (mut looks, mut seams) = (0, 0);
            for _ in 0..4000 {
                let mut at = sides[0] + period * DVec3::new(rng.uniform(), rng.uniform(), rng.uniform());
                // Near one side; its image is near the other.
                at[axis] = sides[0][axis] + rng.range(-1e-3, 1e-3);
                let image = at + DVec3::AXES[axis] * period[axis];
                let (here, there) = (seen_from(&wall, at), seen_from(&wall, image));
                looks += usize::from(!here.is_empty());
                assert_eq!(here.len(), there.len(), "{geometry:?} {at}");
                assert!(here.iter().zip(&there).all(|(a, b)| a.distance(*b) < 3e-7), "{geometry:?} {at}");
                let differ = |a: &[DVec3], b: &[DVec3]| {
                    a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.distance(*b) > 1e-5)
                };
                seams += usize::from(differ(&seen_from(&bare, at), &seen_from(&bare, image)));
            }
            assert!(looks > 100 && seams > 100, "{geometry:?}: {looks} looks, {seams} seams without closing");
        }
    }
}

#[test]
fn a_rough_lattice_that_closes_by_itself_keeps_its_bits() {
    let rough = Roughness { radius: 1.5e-3, spacing: 3.6e-3 };
    let floor = || Wall::new("w", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    let bare = Wall { rough: Some(rough), ..floor() };
    // Twenty bumps along x and twelve rows along y, the latter in five digits.
    let closes = [DVec3::ZERO, DVec3::new(0.072, 0.037412, 0.06)];
    assert_eq!(floor().roughened(rough, closes, [true, true, false]), bare);
    assert_eq!(floor().roughened(rough, [DVec3::ZERO, DVec3::new(0.05, 0.05, 0.06)], [false; 3]), bare);
    let not = [DVec3::ZERO, DVec3::new(0.072, 0.036, 0.06)];
    assert_ne!(floor().roughened(rough, not, [true, true, false]), bare);
}

#[test]
fn a_period_of_few_bumps_names_those_that_close() {
    let rough = Roughness { radius: 1e-3, spacing: 2e-3 };
    let sides = [DVec3::ZERO, DVec3::new(2.9e-3, 0.02, 0.02)];
    let wall = Wall::new("w", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    let wall = wall.roughened(rough, sides, [true, false, false]);
    let strained = wall.closing.strained(&wall.geometry, &rough, sides);
    assert_eq!(strained, [Strained { axis: 0, nearest: [2e-3, 4e-3] }]);
}

#[test]
fn no_sphere_passes_a_rough_wall_however_wide_its_lattice() {
    // Pressed on by many times its weight in the worst place, a sphere of the bumps' radius (and a small one) settles
    // with its centre in front of the surface.
    let mut rng = Random::new(7, 0);
    let spheres = [1.0, 2.0, 4.0, 8.0];
    for spacing in spheres {
        let rough = Some(Roughness { radius: 1.0, spacing });
        let wall = Wall { rough, ..Wall::new("w", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0) };
        let state = wall.state_at(0.0);
        for radius in [1.0, 0.2, 3.0] {
            for _ in 0..20 {
                let mut x = DVec3::new(rng.range(0.0, 8.0), rng.range(0.0, 8.0), 5.0 + radius);
                let mut v = DVec3::new(0.0, 0.0, -3.0);
                let (stiffness, damping, dt) = (4000.0, 10.0, 1e-3);
                let mut lowest = f64::INFINITY;
                for _ in 0..6000 {
                    let mut force = DVec3::new(0.0, 0.0, -100.0) - v * 0.2;
                    wall.features(&state, x, radius, &mut |k| {
                        let n = wall.nearest(&state, k, x);
                        let overlap = (radius - n.distance).max(0.0);
                        force += n.normal * (stiffness * overlap - damping * v.dot(n.normal)).max(0.0);
                    });
                    v += force * dt;
                    x += v * dt;
                    lowest = lowest.min(x.z);
                }
                // m v²/2 of the fall against k δ²/2 of the spring bounds the overlap.
                assert!(lowest > radius - 0.65, "spacing {spacing}, radius {radius}: {lowest}");
                if spacing <= 2.0 && radius >= 1.0 {
                    let backstop = wall.nearest(&state, BACKSTOP, x).distance;
                    assert!(backstop > radius, "touching bumps keep grains of their size off the smooth surface");
                }
            }
        }
    }
}

#[test]
fn sweep_speed_bounds_every_approach_and_ignores_sliding() {
    let mut rng = Random::new(8, 0);
    for geometry in geometries() {
        for rough in [None, Some(Roughness { radius: 0.05, spacing: 0.12 })] {
            let wall = Wall { rough, ..Wall::new("w", geometry.clone(), 0) };
            for _ in 0..40 {
                let mut state = moved(&mut rng);
                (state.velocity, state.spin) = (rng.in_ball(), 3.0 * rng.in_ball());
                let dt = 1e-6;
                let mut later = state;
                later.position += state.velocity * dt;
                later.rotation = (DQuat::from_scaled_axis(state.spin * dt) * state.rotation).normalize();
                let extent = 1.2;
                let x = wall.pivot(&state) + extent * rng.in_ball();
                wall.features(&state, x, 0.5, &mut |k| {
                    let approach = wall.nearest(&state, k, x).distance - wall.nearest(&later, k, x).distance;
                    assert!(approach / dt <= wall.sweep_speed(&state, extent) + 1e-5, "{geometry:?}");
                });
            }
        }
    }
    let drum =
        Geometry::Cylinder { base: DVec3::ZERO, axis: axis(), radius: 1.0, height: Some(1.0), side: Side::Inside };
    let mut drum = Wall::new("drum", drum, 0);
    drum.motion.rotate = Some(Rotate { point: DVec3::ZERO, axis: axis(), rate: 5.0 });
    assert!(drum.sweep_speed(&drum.state_at(3.3), 1.0) < 1e-12);
    drum.rough = Some(Roughness { radius: 0.01, spacing: 0.02 });
    assert!((drum.sweep_speed(&drum.state_at(3.3), 1.0) - 5.0).abs() < 1e-12);
}

#[test]
fn no_point_of_a_wall_lies_beyond_its_reach_about_an_axis() {
    let mut rng = Random::new(9, 0);
    for geometry in geometries() {
        let (point, about) = (rng.in_ball(), rng.unit_quaternion() * DVec3::Z);
        let endless = matches!(geometry, Geometry::Plane { .. } | Geometry::Cylinder { height: None, .. });
        let Some(reach) = geometry.reach_about(point, about) else {
            assert!(endless, "{geometry:?}");
            continue;
        };
        let mut faces = Vec::new();
        Wall::new("w", geometry.clone(), 0).features(&WallState::default(), DVec3::ZERO, 10.0, &mut |k| faces.push(k));
        let points = faces.iter().flat_map(|&face| surface_points(&geometry, face, DVec3::ZERO));
        let farthest = points.map(|x| (x - point).reject_from_normalized(about).length()).fold(0.0, f64::max);
        // A rim counts as if it lay across the axis: at most its radius too far.
        assert!(farthest <= reach + 1e-9 && reach < farthest + 0.8, "{geometry:?}: {farthest} {reach}");
    }
    // About its own axis a drum reaches its radius, however long it is.
    let base = DVec3::new(0.2, -0.1, 0.4);
    for height in [None, Some(0.9)] {
        let drum = Geometry::Cylinder { base, axis: axis(), radius: 0.6, height, side: Side::Inside };
        let reach = drum.reach_about(base + 7.0 * axis(), -2.0 * axis()).unwrap();
        assert!((reach - 0.6).abs() < 1e-12, "{reach}");
    }
}

#[test]
fn bumps_that_lie_in_each_other_by_the_hundred_are_refused() {
    let plane = Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z };
    let found = |spacing: f64| {
        let mut found = Vec::new();
        Roughness { radius: 1e-3, spacing }.check(&plane, &mut found);
        found
    };
    assert!(found(3.6e-9)[0].0.contains("so fine a wall is smooth"));
    assert!(found(1e-3 / 19.0).is_empty());
}
