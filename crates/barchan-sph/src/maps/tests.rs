use super::*;
use barchan_core::mesh::Mesh;
use barchan_core::mesh::near::Surface;
use barchan_core::rng::Random;
use std::time::Instant;

/// Particle spacing of the tests [m].
const D: f64 = 0.02;

fn map(mesh: &Mesh) -> VolumeMap {
    VolumeMap::build(mesh, &MapSettings::new(D)).unwrap()
}

/// A slab of that thickness whose upper face, at z = 0, is cut into 2n² triangles.
fn slab(side: f64, thick: f64, n: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for z in [0.0, -thick] {
        for j in 0..=n {
            for i in 0..=n {
                let at = |k: u32| side * (f64::from(k) / f64::from(n) - 0.5);
                mesh.vertices.push(DVec3::new(at(i), at(j), z));
            }
        }
    }
    let (row, lower) = (n + 1, (n + 1) * (n + 1));
    let v = |i: u32, j: u32| j * row + i;
    for j in 0..n {
        for i in 0..n {
            let [a, b, c, d] = [v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
            let [a, b, c, d] = [a, b, c, d].map(|x| x + lower);
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    for k in 0..n {
        for (a, b) in [(v(k, 0), v(k + 1, 0)), (v(k + 1, n), v(k, n)), (v(0, k + 1), v(0, k)), (v(n, k), v(n, k + 1))] {
            mesh.triangles.extend([[a, a + lower, b + lower], [a, b + lower, b]]);
        }
    }
    mesh
}

/// A block with a groove of a right angle along y, its bottom at the origin: a prism of the profile (x, z), counter-clockwise.
fn groove() -> Mesh {
    let (h, w) = (10.0 * D, 10.0 * D);
    prism(
        &[(0.0, 0.0), (-w, w), (-2.0 * w, w), (-2.0 * w, -h), (2.0 * w, -h), (2.0 * w, w), (w, w)],
        20.0 * D,
        (0.0, -0.5 * h),
    )
}

/// A prism along y over a profile that can be seen whole from `inner`.
fn prism(profile: &[(f64, f64)], length: f64, inner: (f64, f64)) -> Mesh {
    let n = profile.len() as u32;
    let mut mesh = Mesh::default();
    for y in [-0.5 * length, 0.5 * length] {
        mesh.vertices.extend(profile.iter().map(|&(x, z)| DVec3::new(x, y, z)));
    }
    mesh.vertices.extend([-0.5, 0.5].map(|s| DVec3::new(inner.0, s * length, inner.1)));
    for k in 0..n {
        let j = (k + 1) % n;
        mesh.triangles.extend([[k, j, n + j], [k, n + j, n + k], [2 * n, j, k], [2 * n + 1, n + k, n + j]]);
    }
    let volume = mesh.volume();
    if volume < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    mesh
}

#[test]
fn a_plane_of_many_triangles_has_c_1_and_exact_distances() {
    let map = map(&slab(40.0 * D, 12.0 * D, 50));
    let mut rng = Random::new(1, 0);
    for _ in 0..20_000 {
        let p = D * DVec3::new(rng.range(-12.0, 12.0), rng.range(-12.0, 12.0), rng.range(-1.9, 1.9));
        let s = map.at(p).unwrap();
        assert!((s.distance - p.z).abs() < 1e-6 * D, "{p}: {}", s.distance);
        assert!(s.normal.distance(DVec3::Z) < 1e-5, "{p}: {}", s.normal);
        assert!((s.c - 1.0).abs() < 0.01, "{p}: c = {}", s.c);
        let exact = plane_volume(p.z, 2.0 * D);
        assert!((s.volume / exact - 1.0).abs() < 0.01, "{p}: {} {exact}", s.volume);
    }
}

#[test]
fn a_turned_plane_has_c_1_too() {
    let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 0.7, 0.2);
    let mut mesh = slab(40.0 * D, 12.0 * D, 10);
    mesh.vertices.iter_mut().for_each(|v| *v = turn * *v);
    let map = map(&mesh);
    let mut rng = Random::new(1, 0);
    for _ in 0..5_000 {
        let p = D * DVec3::new(rng.range(-10.0, 10.0), rng.range(-10.0, 10.0), rng.range(-1.5, 1.9));
        let s = map.at(turn * p).unwrap();
        assert!((s.distance - p.z).abs() < 1e-6 * D && s.normal.distance(turn * DVec3::Z) < 1e-5);
        assert!((s.c - 1.0).abs() < 0.01, "{p}: c = {}", s.c);
    }
}

#[test]
fn a_sphere_of_five_spacings_has_distances_to_a_hundredth() {
    let radius = 5.0 * D;
    let map = map(&Mesh::sphere(radius, 6));
    let mut rng = Random::new(2, 0);
    let mut worst = 0f64;
    for _ in 0..20_000 {
        let r = radius + D * rng.range(-1.0, 1.9);
        let n = rng.direction();
        let s = map.at(r * n).unwrap();
        worst = worst.max((s.distance - (r - radius)).abs());
        assert!(s.normal.distance(n) < 0.01, "{}", s.normal.distance(n));
        // A ball bends away from the wall: there is less of it than of a plane.
        assert!(r < radius || s.c < 1.0 && s.c > 0.7, "{}", s.c);
    }
    // Interpolation errs by cell²/8 times the curvatures: 0.0063 d for each of the two, at the radius of the nearest nodes.
    assert!(worst < 0.016 * D, "{} d", worst / D);
    assert!(map.is_inside(DVec3::ZERO) && !map.is_inside(radius * DVec3::ONE));
}

#[test]
fn edges_and_corners_have_less_wall_and_grooves_more() {
    let half = 8.0 * D;
    let cube = map(&Mesh::box_of(DVec3::splat(2.0 * half)));
    let face = cube.at(DVec3::new(half + 0.5 * D, 0.0, 0.0)).unwrap();
    let edge = cube.at(DVec3::new(half + 0.5 * D, half, 0.0)).unwrap();
    let corner = cube.at(DVec3::new(half + 0.5 * D, half, half)).unwrap();
    assert!((face.c - 1.0).abs() < 0.01, "{}", face.c);
    assert!(edge.c < 0.8 && corner.c < edge.c, "{} {}", edge.c, corner.c);
    let deep = cube.at(DVec3::new(half - 0.5 * D, 0.0, 0.0)).unwrap();
    assert!(deep.distance < 0.0 && deep.normal.distance(DVec3::X) < 1e-5, "{deep:?}");

    let groove = map(&groove());
    // On the bisector of a right angle, at Φ = d/2 from both sides; and on one flank far from the other.
    let inside = groove.at(DVec3::new(0.0, 0.0, 0.5 * D * 2f64.sqrt())).unwrap();
    let flank = groove.at(D * (DVec3::new(7.0, 0.0, 7.0) + 0.5 * DVec3::new(-1.0, 0.0, 1.0).normalize())).unwrap();
    assert!((flank.c - 1.0).abs() < 0.01, "{}", flank.c);
    assert!(inside.c > 1.15, "{}", inside.c);
    assert!(inside.normal.distance(DVec3::Z) < 0.05, "{}", inside.normal);
}

#[test]
fn the_volume_of_a_groove_is_that_of_a_fine_sum() {
    let (mesh, r) = (groove(), 2.0 * D);
    let (map, surface) = (map(&mesh), Surface::build(&mesh).unwrap());
    for point in [DVec3::new(0.0, 0.0, 0.8 * D), DVec3::new(0.3 * D, 0.0, 1.1 * D), DVec3::new(D, 0.0, 2.0 * D)] {
        let n = 40;
        let mut exact = 0.0;
        for k in 0..n * n * n {
            let at = |i: i32| (2.0 * (f64::from(i) + 0.5) / f64::from(n) - 1.0) * r;
            let xi = DVec3::new(at(k % n), at(k / n % n), at(k / n / n));
            if xi.length() < r {
                exact += extension(surface.distance(point + xi) / r) * (2.0 * r / f64::from(n)).powi(3);
            }
        }
        let found = map.at(point).unwrap().volume;
        // Cells of half a spacing round the bottom of the groove off.
        assert!((found / exact - 1.0).abs() < 0.03, "{point}: {found} {exact}");
    }
}

#[test]
fn a_sheet_pushes_to_both_sides_and_has_little_volume() {
    let mut sheet = slab(20.0 * D, D, 4);
    let upper = sheet.vertices.len() as u32 / 2;
    sheet.triangles.retain(|t| t.iter().all(|&v| v < upper));
    let map = map(&sheet);
    assert_eq!(map.sides(), Sides::Sheet);
    for side in [1.0, -1.0] {
        for height in [0.02, 0.3, 0.5, 1.0] {
            let s = map.at(D * DVec3::new(1.3, -2.1, side * height)).unwrap();
            assert!((s.distance - height * D).abs() < 1e-6 * D, "{s:?}");
            assert!(s.normal.distance(side * DVec3::Z) < 1e-5, "{s:?}");
            assert!(s.c < 0.95, "{s:?}");
        }
    }
    // Beside the rim distances are those to the rim, on both sides of the sheet's plane.
    let s = map.at(D * DVec3::new(11.5, 0.0, 0.1)).unwrap();
    assert!((s.distance - 1.5 * D).abs() < 0.1 * D && s.normal.distance(DVec3::X) < 0.2, "{s:?}");
    assert!(!map.is_inside(DVec3::new(0.0, 0.0, -0.1 * D)));
}

#[test]
fn a_stored_map_is_the_same_and_damage_is_noticed() {
    let mesh = Mesh::sphere(3.0 * D, 3);
    let (map, settings) = (map(&mesh), MapSettings::new(D));
    let bytes = map.to_bytes();
    assert_eq!(VolumeMap::from_bytes(&bytes).unwrap(), map);
    assert_eq!(map.key(), MapKey::of(&mesh, &settings));
    for at in [0, 9, 60, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(matches!(VolumeMap::from_bytes(&damaged), Err(MapError::Stored(_))), "byte {at}");
    }
    for length in [0, 7, 40, bytes.len() - 1] {
        assert!(VolumeMap::from_bytes(&bytes[..length]).is_err());
    }
    let mut moved = mesh.clone();
    moved.vertices[5].x += 1e-9;
    assert_ne!(MapKey::of(&moved, &settings).to_string(), map.key().to_string());
    assert_ne!(MapKey::of(&mesh, &MapSettings { cell: 0.4 * D, ..settings }).to_string(), map.key().to_string());
}

#[test]
fn threads_do_not_change_the_map() {
    let mesh = Mesh::torus(6.0 * D, 2.0 * D, 40, 20);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| map(&mesh).to_bytes())
    };
    let one = with(1);
    assert!([2, 3].into_iter().all(|n| with(n) == one));
}

#[test]
fn memory_is_announced_and_kept() {
    let surface = Surface::build(&Mesh::sphere(10.0 * D, 4)).unwrap();
    let settings = MapSettings::new(D);
    let told = estimate(&surface, &settings).unwrap();
    let found = map(&Mesh::sphere(10.0 * D, 4)).memory_bytes() as f64;
    assert!(found <= 1.1 * told.bytes as f64 && found > 0.5 * told.bytes as f64, "{found} {told:?}");
    let tight = MapSettings { memory_limit: told.building / 4, ..settings };
    let Err(MapError::Memory { remedy, .. }) = estimate(&surface, &tight) else { panic!("it does not fit") };
    let coarser = MapSettings { cell: remedy, spacing: 10.0 * D, ..tight };
    assert!(estimate(&surface, &coarser).is_ok(), "{remedy}");
    for cell in [0.0, -1.0, f64::NAN, 1.01 * D] {
        assert!(MapSettings { cell, ..settings }.check().is_err());
    }
}

#[test]
fn narrow_places_are_named() {
    let find = |mesh: &Mesh| narrow_places(mesh, &Surface::build(mesh).unwrap(), &MapSettings::new(D)).unwrap();
    // Two blocks 1.2 spacings apart; each is thick.
    let mut two = Mesh::box_of(DVec3::splat(6.0 * D));
    let mut other = two.clone();
    other.vertices.iter_mut().for_each(|v| v.x += 7.2 * D);
    two.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + 8)));
    two.vertices.extend(other.vertices);
    let found = find(&two);
    assert!(!found.is_empty() && found.iter().all(|f| f.kind == NarrowKind::Gap), "{found:?}");
    assert!(
        found.iter().all(|f| (f.width - 1.2 * D).abs() < 1e-9 && (f.place.x - 3.6 * D).abs() < 0.7 * D),
        "{found:?}"
    );
    // A slab of half a spacing, and a wide one.
    let thin = find(&slab(10.0 * D, 0.5 * D, 3));
    assert!(!thin.is_empty() && thin.iter().all(|f| f.kind == NarrowKind::Sheet));
    assert!((thin[0].width - 0.5 * D).abs() < 1e-9 && thin[0].to_string().contains("sheet"), "{}", thin[0]);
    assert_eq!(find(&slab(10.0 * D, 5.0 * D, 3)), []);
    // Right angles, from within and without, are no gaps.
    assert_eq!(find(&groove()), []);
}

#[test]
fn a_slice_shows_both_sides() {
    let map = map(&Mesh::box_of(DVec3::splat(20.0 * D)));
    let slice = map.slice(DVec3::new(-11.0 * D, 0.0, 0.0), 0.5 * D * DVec3::X, DVec3::Y, [45, 2]);
    assert_eq!((slice.distance.len(), slice.normal.len(), slice.volume.len()), (90, 90, 90));
    assert!(slice.distance[0] > 0.0 && slice.distance[22] < 0.0 && slice.normal[0].x < -0.99);
    assert!((f64::from(slice.volume[22]) / ball(2.0 * D) - 1.0).abs() < 1e-5);
    assert_eq!(slice.normal[22], Vec3::ZERO);
}

/// Not for `./test`: a figure for the documentation. Run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn the_map_of_a_hundred_thousand_triangles() {
    let mesh = Mesh::torus(35.0 * D, 12.0 * D, 400, 125);
    let start = Instant::now();
    let map = map(&mesh);
    println!(
        "{} triangles, {} bricks, {:.1} MB: {:.2} s",
        mesh.triangles.len(),
        map.brick_count(),
        map.memory_bytes() as f64 / 1e6,
        start.elapsed().as_secs_f64()
    );
    let mut rng = Random::new(1, 1);
    let vertices = &mesh.vertices;
    let points: Vec<DVec3> = (0..1_000_000).map(|_| vertices[rng.index(vertices.len())] + D * rng.in_ball()).collect();
    let start = Instant::now();
    let sum: f64 = points.iter().filter_map(|&p| map.at(p)).map(|s| s.c).sum();
    println!("{:.0} ns a look-up ({sum})", start.elapsed().as_secs_f64() * 1e3);
}

#[test]
fn a_picture_of_a_slice_shows_wall_surface_and_normals_where_they_are() {
    use super::{Picture, Shown};
    // A ball of radius 1 about the origin, seen on the plane y = 0.
    let map = VolumeMap::build(&Mesh::sphere(1.0, 4), &MapSettings::new(0.1)).unwrap();
    let [volume, distance, normal] = map.pictures(1, DVec3::ZERO, 200, [Shown::Volume, Shown::Distance, Shown::Normal]);
    let (low, high) = map.bounds();
    assert_eq!(volume.size[0].max(volume.size[1]), 200);
    let at = |p: &Picture, x: f64, z: f64| {
        let [w, h] = p.size;
        let column = ((x - low.x) / (high.x - low.x) * w as f64) as usize;
        let row = ((high.z - z) / (high.z - low.z) * h as f64) as usize;
        let k = 4 * (row.min(h - 1) * w + column.min(w - 1));
        [p.rgba[k], p.rgba[k + 1], p.rgba[k + 2]]
    };
    assert!(at(&volume, 0.0, 0.0)[0] < 60, "all is wall in the middle");
    assert!(at(&volume, 1.1, 1.1)[0] > 240, "none is far outside");
    assert_eq!(at(&volume, 0.0, 1.0), [200, 40, 30], "the surface is a red line");
    let (inside, outside) = (at(&distance, 0.0, 0.8), at(&distance, 0.0, 1.15));
    assert!(inside[0] > inside[2] && outside[2] > outside[0], "orange inside, blue outside: {inside:?} {outside:?}");
    // Up is up: the normal above the ball points along +z, which is blue.
    let (above, below) = (at(&normal, 0.0, 1.1), at(&normal, 0.0, -1.1));
    assert!(above[2] > 240 && below[2] < 15, "{above:?} {below:?}");
    assert!(normal.rgba.chunks_exact(4).all(|p| p[3] == 255));
}
