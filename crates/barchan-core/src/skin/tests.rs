use super::blocks::{Blocks, NODES, Piece};
use super::field::Field;
use super::march::March;
use super::*;
use crate::mesh::Mesh;
use crate::rng::Random;
use std::collections::HashSet;

/// Grains of diameter 1 with their centres where `within` says: a lattice of packing 0.6, turned and shaken.
fn heap(size: f64, within: impl Fn(DVec3) -> bool) -> Vec<DVec3> {
    let spacing = math::cbrt(PI / 6.0 / 0.6);
    let mut random = Random::new(1, 2);
    let turn = random.unit_quaternion();
    let n = (1.8 * size / spacing) as i32;
    let mut all = Vec::new();
    for (z, y) in (-n..=n).flat_map(|z| (-n..=n).map(move |y| (z, y))) {
        for x in -n..=n {
            let at = turn * (spacing * DVec3::new(x.into(), y.into(), z.into())) + 0.15 * random.in_ball();
            if within(at) {
                all.push(at);
            }
        }
    }
    all
}

fn cloud<'a>(position: &'a [DVec3], radius: &'a [f64]) -> Cloud<'a> {
    Cloud { position, radius, ..Cloud::default() }
}

/// Bulk volume of spheres of diameter 1 at packing 0.6.
fn bulk(grains: usize) -> f64 {
    PI / 6.0 / 0.6 * grains as f64
}

/// Every directed edge is there once, and so is its reverse: closed, oriented, two triangles an edge.
fn assert_closed(triangles: &[[u32; 3]]) {
    let mut edges = HashSet::new();
    for t in triangles {
        (0..3).for_each(|k| assert!(edges.insert((t[k], t[(k + 1) % 3])), "an edge is there twice in one direction"));
    }
    assert!(edges.iter().all(|(a, b)| edges.contains(&(*b, *a))), "an edge is open");
}

fn mesh_of(skin: &SkinMesh) -> Mesh {
    Mesh { vertices: skin.vertices.clone(), triangles: skin.triangles.clone() }
}

fn euler(skin: &SkinMesh) -> i64 {
    // Three sides a triangle, each shared by two.
    skin.vertices.len() as i64 - skin.triangles.len() as i64 / 2
}

fn ball() -> Vec<DVec3> {
    let middle = DVec3::new(0.3, -0.2, 0.1);
    heap(10.0, |p| p.distance(middle) < 10.0)
}

/// The surface of a field given at the nodes −side/2 … side/2 − 1 of all three axes, in eight blocks.
fn of_values(blocks: &Blocks, side: i64, mut value: impl FnMut() -> f32) -> SkinMesh {
    let mut field = Field { psi: vec![0.0; blocks.len() * NODES], carried: Vec::new(), lanes: 0 };
    let range = || -side / 2..side - side / 2;
    for (z, y) in range().flat_map(|z| range().map(move |y| (z, y))) {
        for x in range() {
            let block = blocks.keys.iter().position(|k| blocks.base(*k) == [x & !7, y & !7, z & !7]).unwrap();
            field.psi[block * NODES + (x & 7 | (y & 7) << 3 | (z & 7) << 6) as usize] = value();
        }
    }
    March::new(blocks, &field, 1.0, 0.5).mesh().unwrap().0
}

#[test]
fn random_fields_have_a_closed_surface_around_their_inside() {
    let eight = Blocks::new(&[Piece { reach: 7.0, ..Piece::default() }], 1.0, 1 << 20).unwrap();
    assert_eq!(eight.len(), 8);
    let mut random = Random::new(3, 4);
    for (side, times) in [(2, 100_000), (8, 1000)] {
        for _ in 0..times {
            let mut inside = 0;
            let skin = of_values(&eight, side, || {
                let value = random.uniform() as f32;
                inside += i32::from(value > 0.5);
                value
            });
            assert_closed(&skin.triangles);
            assert_eq!(inside == 0, skin.triangles.is_empty());
            assert!(skin.triangles.is_empty() || mesh_of(&skin).volume() > 0.0);
        }
    }
}

#[test]
fn every_set_of_corners_has_triangles_that_face_outwards() {
    let eight = Blocks::new(&[Piece { reach: 7.0, ..Piece::default() }], 1.0, 1 << 20).unwrap();
    for corners in 1..256 {
        let mut corner = 0;
        let skin = of_values(&eight, 2, || {
            corner += 1;
            (corners >> (corner - 1) & 1) as f32
        });
        // Each vertex is half a voxel from an inside node; its triangles turn away from those, taken together.
        let nodes: Vec<DVec3> = (0..8)
            .filter(|c| corners >> c & 1 == 1)
            .map(|c| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64) - 1.0)
            .collect();
        for t in &skin.triangles {
            let [a, b, c] = t.map(|v| skin.vertices[v as usize]);
            let away = |v: DVec3| {
                let node = nodes.iter().min_by(|m, n| m.distance(v).total_cmp(&n.distance(v))).unwrap();
                v - *node
            };
            assert!((b - a).cross(c - a).dot(away(a) + away(b) + away(c)) > 0.0, "corners {corners:08b}");
        }
    }
}

#[test]
fn a_packed_ball_has_a_skin_of_its_topology_and_volume() {
    let position = ball();
    let radius = vec![0.5; position.len()];
    for (voxel, smoothing) in [(1.0, 2.0), (1.0, 1.5), (0.5, 2.0), (0.5, 1.5)] {
        let settings = SkinSettings { smoothing, ..SkinSettings::new(voxel) };
        let skin = skin(&cloud(&position, &radius), &settings).unwrap();
        assert_closed(&skin.triangles);
        assert_eq!(euler(&skin), 2, "voxel {voxel}, smoothing {smoothing}");
        let share = mesh_of(&skin).volume() / bulk(position.len());
        assert!((share - 1.0).abs() < 0.03, "voxel {voxel}, smoothing {smoothing}: {share} of the volume");
    }
}

#[test]
fn a_ball_of_continuum_lies_as_deep_as_its_curvature_says() {
    // A volume a particle, no packing: ψ = ½ lies H²/(11 R) below the ball's surface, to the first order in H/R.
    let spacing = 0.25;
    let n = 44;
    let line = || (-n..=n).map(|k| spacing * f64::from(k));
    let all = line().flat_map(|x| line().flat_map(move |y| line().map(move |z| DVec3::new(x, y, z) + 0.01)));
    let position: Vec<_> = all.filter(|p| p.length() < 10.0).collect();
    let radius = vec![0.5; position.len()];
    let volume = vec![spacing * spacing * spacing; position.len()];
    let cloud = Cloud { volume: &volume, ..cloud(&position, &radius) };
    let skin = skin(&cloud, &SkinSettings { packing: 1.0, ..SkinSettings::new(0.25) }).unwrap();
    let mean = skin.vertices.iter().map(|v| v.length()).sum::<f64>() / skin.vertices.len() as f64;
    let expected = 10.0 - 4.0 / 110.0;
    assert!((mean - expected).abs() < 0.004, "{mean} for {expected}");
    let outwards = skin.vertices.iter().zip(&skin.normals).map(|(v, n)| v.normalize().dot(n.as_dvec3()));
    assert!(outwards.fold(1.0, f64::min) > 0.98);
}

#[test]
fn beds_heaps_and_touching_lumps_are_closed_and_keep_their_volume() {
    let heap_of = |p: DVec3| p.z > 0.0 && p.z < 15.0 - 0.6 * p.truncate().length();
    let lumps = |p: DVec3| (p.x - 6.0).hypot(p.y).hypot(p.z) < 6.0 || (p.x + 6.0).hypot(p.y).hypot(p.z) < 6.0;
    let clouds: [Vec<DVec3>; 3] =
        [heap(14.0, |p| p.abs().cmplt(DVec3::new(14.0, 14.0, 3.0)).all()), heap(25.0, heap_of), heap(14.0, lumps)];
    for position in &clouds {
        let radius = vec![0.5; position.len()];
        for voxel in [1.0, 0.5] {
            let skin = skin(&cloud(position, &radius), &SkinSettings::new(voxel)).unwrap();
            assert_closed(&skin.triangles);
            let share = mesh_of(&skin).volume() / bulk(position.len());
            assert!((share - 1.0).abs() < 0.05, "voxel {voxel}: {share} of the volume");
        }
    }
}

#[test]
fn pieces_of_any_radii_keep_their_volume() {
    let position = ball();
    let mut random = Random::new(5, 6);
    let radius: Vec<f64> = position.iter().map(|_| 0.5 * random.range(0.3, 1.3)).collect();
    let volume: f64 = radius.iter().map(|r| 4.0 / 3.0 * PI * r * r * r).sum();
    let packing = volume / bulk(position.len());
    let skin = skin(&cloud(&position, &radius), &SkinSettings { packing, ..SkinSettings::new(0.5) }).unwrap();
    assert_closed(&skin.triangles);
    let share = mesh_of(&skin).volume() / bulk(position.len());
    assert!((share - 1.0).abs() < 0.03, "{share} of the volume");
}

#[test]
fn a_bed_between_walls_fills_the_room_up_to_them() {
    let (low, high) = (DVec3::new(-9.0, -8.0, -3.0), DVec3::new(9.0, 8.0, 20.0));
    let position = heap(12.0, |p| p.cmpgt(low).all() && p.cmplt(high).all() && p.z < 3.0);
    let radius = vec![0.5; position.len()];
    let wall = |k: usize| Side::Walls { low: low[k], high: high[k] };
    for sides in [[wall(0), wall(1), wall(2)], [Side::Periodic { low: -9.0, high: 9.0 }, wall(1), wall(2)]] {
        let skin = skin(&cloud(&position, &radius), &SkinSettings { sides, ..SkinSettings::new(0.7) }).unwrap();
        assert_closed(&skin.triangles);
        let mesh = mesh_of(&skin);
        let (least, most) = mesh.bounds().unwrap();
        let slack = 0.7 / 200.0;
        assert!((least - low).abs().max_element() < slack && (most - high).truncate().abs().max_element() < slack);
        assert!((most.z - 3.0).abs() < 0.4, "the bed is {} high", most.z);
        let share = mesh.volume() / bulk(position.len());
        assert!((share - 1.0).abs() < 0.03, "{share} of the volume");
    }
}

#[test]
fn what_crosses_a_periodic_side_is_seen_on_both() {
    let period = 12.0;
    let whole: Vec<DVec3> = heap(5.0, |p| p.length() < 5.0);
    let radius = vec![0.5; whole.len()];
    let wrapped: Vec<DVec3> = whole.iter().map(|p| DVec3::new((p.x + 6.0).rem_euclid(period), p.y, p.z)).collect();
    let sides = [Side::Periodic { low: 2.0, high: 2.0 + period }, Side::Open, Side::Open];
    let moved: Vec<DVec3> = wrapped.iter().map(|p| if p.x < 2.0 { *p + period * DVec3::X } else { *p }).collect();
    let volume = |position: &[DVec3], sides| {
        // Edges at the planes are cut off by about a voxel.
        let skin = skin(&cloud(position, &radius), &SkinSettings { sides, ..SkinSettings::new(0.25) }).unwrap();
        assert_closed(&skin.triangles);
        mesh_of(&skin).volume()
    };
    let (one, both) = (volume(&whole, [Side::Open; 3]), volume(&moved, sides));
    assert!((both / one - 1.0).abs() < 5e-3, "{both} of {one} m³");
}

#[test]
fn the_bits_are_the_same_on_any_threads() {
    let position = ball();
    let mut random = Random::new(7, 8);
    let radius: Vec<f64> = position.iter().map(|_| random.range(0.2, 0.8)).collect();
    let extras = [Extra::real("heat", "K", position.iter().map(|p| p.x as f32).collect::<Vec<_>>())];
    let cloud = Cloud { extras: &extras, ..cloud(&position, &radius) };
    let settings = SkinSettings { relax: 3, ..SkinSettings::new(0.5) };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| skin(&cloud, &settings).unwrap())
    };
    let one = on(1);
    assert!(one == on(2) && one == on(7));
}

#[test]
fn a_cloud_moved_by_whole_voxels_has_the_same_skin_there() {
    let snap = |p: &DVec3| (*p * 1024.0).round() / 1024.0;
    let position: Vec<DVec3> = ball().iter().map(snap).collect();
    let by = DVec3::new(512.0, -1024.0, 3.0);
    let moved: Vec<DVec3> = position.iter().map(|p| *p + by).collect();
    let radius = vec![0.5; position.len()];
    let of = |position: &[DVec3]| skin(&cloud(position, &radius), &SkinSettings::new(1.0)).unwrap();
    let (one, other) = (of(&position), of(&moved));
    // Blocks begin elsewhere, so vertices have another order.
    let sorted = |skin: &SkinMesh, by: DVec3| {
        let mut all: Vec<[u64; 3]> =
            skin.vertices.iter().map(|v| (*v - by).to_array().map(|x| (x * 1e6).round().to_bits())).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&one, DVec3::ZERO), sorted(&other, by));
    assert_eq!(one.triangles.len(), other.triangles.len());
}

#[test]
fn columns_are_carried_to_the_vertices() {
    let position = ball();
    let radius = vec![0.5; position.len()];
    let extras = [
        Extra::real("same", "", vec![3.0; position.len()]),
        Extra::vector("place", "m", position.iter().map(|p| p.as_vec3()).collect::<Vec<_>>()),
    ];
    let skin = skin(&Cloud { extras: &extras, ..cloud(&position, &radius) }, &SkinSettings::new(0.5)).unwrap();
    let [Extra { values: Values::F32(same), .. }, Extra { values: Values::Vec3(place), .. }] = &skin.extras[..] else {
        panic!("{:?}", skin.extras);
    };
    assert!(same.iter().all(|s| (s - 3.0).abs() < 1e-5));
    // The grains seen from the surface lie within: 5/16 of the kernel's radius deep on a half-space; grains are 1 apart.
    let depth = skin.vertices.iter().zip(place.iter()).map(|(v, p)| v.distance(p.as_dvec3()));
    let (least, most) = depth.fold((f64::MAX, 0.0), |(a, b): (f64, f64), d| (a.min(d), b.max(d)));
    assert!(least > 0.2 && most < 1.1, "{least} to {most} deep");
    let surface = skin.into_surface("skin", 0);
    assert_eq!(surface.extras.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["normal", "same", "place"]);
}

#[test]
fn relaxing_makes_it_smoother_and_keeps_the_volume() {
    let position = ball();
    let radius = vec![0.5; position.len()];
    let of = |relax| {
        let settings = SkinSettings { relax, smoothing: 1.5, ..SkinSettings::new(0.5) };
        mesh_of(&skin(&cloud(&position, &radius), &settings).unwrap())
    };
    let (rough, smooth) = (of(0), of(10));
    assert!((smooth.volume() / rough.volume() - 1.0).abs() < 1e-3);
    let sphere = |m: &Mesh| m.area() / (4.0 * PI * math::powf(0.75 / PI * m.volume(), 2.0 / 3.0)) - 1.0;
    assert!(sphere(&smooth) < 0.7 * sphere(&rough), "{} and {}", sphere(&smooth), sphere(&rough));
}

#[test]
fn a_single_grain_and_no_grain_have_no_skin() {
    let one = skin(&cloud(&[DVec3::new(0.1, 0.2, 0.3)], &[0.5]), &SkinSettings::new(0.25)).unwrap();
    assert!(one.triangles.is_empty() && one.vertices.is_empty());
    let extras = [Extra::real("speed", "m/s", Vec::new())];
    let none = skin(&Cloud { extras: &extras, ..cloud(&[], &[]) }, &SkinSettings::new(0.25)).unwrap();
    assert!(none.triangles.is_empty() && none.extras.len() == 1);
}

#[test]
fn lumps_far_apart_take_no_memory_between_them() {
    let near = heap(4.0, |p| p.length() < 4.0);
    let position: Vec<DVec3> =
        near.iter().copied().chain(near.iter().map(|p| *p + DVec3::new(1e5, -2e5, 3e5))).collect();
    let radius = vec![0.5; position.len()];
    let two = skin(&cloud(&position, &radius), &SkinSettings::new(0.5)).unwrap();
    assert_closed(&two.triangles);
    assert!(two.bytes < 4 << 20, "{} bytes", two.bytes);
    assert_eq!(euler(&two), 4);
}

#[test]
fn what_cannot_be_is_said_with_a_remedy() {
    let position = ball();
    let radius = vec![0.5; position.len()];
    let cloud = cloud(&position, &radius);
    let small = SkinSettings { most_bytes: 1 << 20, ..SkinSettings::new(0.1) };
    let Err(SkinError::TooLarge { remedy, .. }) = skin(&cloud, &small) else { panic!("it fits into a mebibyte") };
    assert!(skin(&cloud, &SkinSettings { voxel: remedy, most_bytes: 8 << 20, ..small }).is_ok(), "{remedy}");
    let error = |settings: SkinSettings| skin(&cloud, &settings).unwrap_err().to_string();
    let good = SkinSettings::new(0.5);
    for voxel in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(error(SkinSettings { voxel, ..good }).contains("voxel"));
    }
    assert!(error(SkinSettings { packing: 0.0, ..good }).contains("packing"));
    assert!(error(SkinSettings { smoothing: 1e9, ..good }).contains("smoothing"));
    assert!(error(SkinSettings { iso: 1.0, ..good }).contains("iso"));
    assert!(
        error(SkinSettings { sides: [Side::Walls { low: 1.0, high: 0.0 }, Side::Open, Side::Open], ..good })
            .contains("side")
    );
    assert!(matches!(skin(&cloud, &SkinSettings { voxel: 1e-15, ..good }), Err(SkinError::TooWide { .. })));
    let short = Cloud { radius: &radius[1..], ..cloud };
    assert!(matches!(skin(&short, &good), Err(SkinError::Ragged { .. })));
    let whole = [Extra::whole("block", vec![0; position.len()])];
    assert_eq!(skin(&Cloud { extras: &whole, ..cloud }, &good), Err(SkinError::Whole("block".into())));
    let mut lost = position.clone();
    lost[7].y = f64::NAN;
    assert!(matches!(skin(&Cloud { position: &lost, ..cloud }, &good), Err(SkinError::BadPiece { row: 7, .. })));
}
