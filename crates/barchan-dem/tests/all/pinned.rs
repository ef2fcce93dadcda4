//! Grains that are held where they are, and let go again.

use crate::common;
use barchan_core::solver::NewMatter;
use barchan_core::walls::{Geometry, Side, Wall};
use barchan_dem::{Alone, Precision};
use common::*;
use glam::{DQuat, DVec3};

/// A heap of `count` grains at rest in a tray, on a slope that friction alone holds: springs are stretched everywhere.
fn heap(count: usize, shape: u16) -> (Setup, Alone) {
    let mut material = glass();
    material.rolling = 0.1;
    let mut s = settings(material, HERTZ);
    s.precision = Precision::Double;
    s.gravity = DVec3::new(9.81 * 0.3, 0.0, -9.81);
    let tray = Geometry::Box {
        min: DVec3::new(0.0, 0.0, 0.0),
        max: DVec3::new(0.03, 0.02, 0.5),
        side: Side::Inside,
        open: [false; 6],
    };
    s.walls = vec![Wall::new("tray", tray, 0)];
    s.dt = automatic_dt(&s, 1e-3, 1.0);
    let mut dem = alone(s.clone());
    let place = |k: usize| {
        let at = DVec3::new((k % 7) as f64, (k / 7 % 5) as f64, (k / 35) as f64) * 3.6e-3;
        let turn = DQuat::from_rotation_y(0.37 * k as f64);
        let position = at + DVec3::new(2.5e-3 + 3e-4 * (k % 3) as f64, 2.5e-3, 2.5e-3);
        NewMatter { shape, orientation: turn, ..grain(position, DVec3::ZERO, 1e-3) }
    };
    dem.add(&(0..count).map(place).collect::<Vec<_>>()).unwrap();
    while dem.time() < 0.5 {
        dem.step().unwrap();
    }
    (s, dem)
}

fn fastest(dem: &Alone) -> f64 {
    dem.population().velocity.iter().map(|v| v.length()).fold(0.0, f64::max)
}

fn copy(s: &Setup, dem: &Alone) -> Alone {
    let columns = dem.save();
    resumed(s.clone(), &|name| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone())).unwrap()
}

#[test]
fn a_heap_that_was_pinned_and_is_let_go_stands_as_it_stood() {
    for shape in [0, 1] {
        let (s, mut dem) = heap(300, shape);
        let (before, places) = (fastest(&dem), dem.population().position.to_vec());
        let ids = dem.population().id.to_vec();
        let all: Vec<u32> = ids.clone();
        let lower: Vec<u32> = (0..ids.len()).filter(|&i| places[i].z < 6e-3).map(|i| ids[i]).collect();
        assert!(before < 1e-3 && lower.len() > 30, "at rest: {before} m/s");
        for pinned in [all, lower] {
            let mut dem = copy(&s, &dem);
            dem.set_pinned(&pinned);
            run(&mut dem, 300);
            dem.set_pinned(&[]);
            let mut worst = 0.0_f64;
            for _ in 0..300 {
                run(&mut dem, 1);
                worst = worst.max(fastest(&dem));
            }
            // Let go a step before the forces between them are known, grains jump at 0.5 mm/s.
            assert!(worst < before.max(1e-4) * 3.0, "shape {shape}: {worst} m/s, {before} before");
        }
        run(&mut dem, 1);
    }
}

#[test]
fn with_some_pinned_and_some_let_go_again_a_run_resumes_bit_for_bit_and_threads_change_nothing() {
    let (s, mut dem) = heap(300, 1);
    let place = dem.population().position.to_vec();
    let id = dem.population().id.to_vec();
    let below = |z: f64| -> Vec<u32> { (0..id.len()).filter(|&i| place[i].z < z).map(|i| id[i]).collect() };
    dem.set_pinned(&below(8e-3));
    run(&mut dem, 150);
    let on = |mut dem: Alone| {
        run(&mut dem, 50);
        dem.set_pinned(&below(5e-3));
        run(&mut dem, 200);
        dem.set_pinned(&[]);
        run(&mut dem, 100);
        dem.hash()
    };
    let again = copy(&s, &dem);
    let two = copy(&s, &dem);
    let expected = on(dem);
    assert_eq!(on(again), expected);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| on(two)), expected);
}

#[test]
fn a_grain_of_several_spheres_weighs_again_what_it_weighed() {
    let (_, mut dem) = heap(2, 1);
    dem.set_pinned(&[0, 1]);
    run(&mut dem, 20);
    dem.set_pinned(&[]);
    run(&mut dem, 20);
    // Struck by an equal one it gives way: a grain without its mass would stand like a wall.
    let target = state(&dem, 0).0;
    let away = DVec3::new(0.0, 0.0, 4.2e-3);
    dem.add(&[NewMatter { shape: 1, velocity: DVec3::NEG_Z, ..grain(target + away, DVec3::ZERO, 1e-3) }]).unwrap();
    let before = state(&dem, 0).0;
    run(&mut dem, 400);
    assert!((state(&dem, 0).0 - before).length() > 1e-5);
}

/// Most lists are built for the free ones alone, while the pinned stay as they are: nobody may be missed, and what is pinned or let go in
/// between must be noticed.
#[test]
fn among_pinned_grains_no_contact_is_missed_and_two_that_are_pinned_never_meet() {
    for shape in [0, 1] {
        let (_, mut dem) = heap(200, shape);
        let place = dem.population().position.to_vec();
        let id = dem.population().id.to_vec();
        let below = |z: f64| -> Vec<u32> { (0..id.len()).filter(|&i| place[i].z < z).map(|i| id[i]).collect() };
        let rebuilds = |dem: &Alone| dem.timers().iter().find(|t| t.name == "rebuild").unwrap().runs;
        let rain = |n: usize| {
            let at = |k: usize| DVec3::new(4e-3 + 4.5e-3 * (k % 5) as f64, 4e-3 + 4.5e-3 * (k / 5) as f64, 0.03);
            let drop = |k: usize| NewMatter {
                shape,
                velocity: DVec3::NEG_Z * (0.5 + 0.2 * n as f64),
                ..grain(at(k), DVec3::ZERO, 1e-3)
            };
            (0..15).map(drop).collect::<Vec<_>>()
        };
        let (mut met, mut before) = (0, 0);
        for (n, z) in [8e-3, 8e-3, 5e-3, 1.0, 0.0, 6e-3].into_iter().enumerate() {
            dem.set_pinned(&below(z));
            dem.add(&rain(n)).unwrap();
            before = rebuilds(&dem);
            for _ in 0..40 {
                run(&mut dem, 25);
                let frame = dem.population();
                let spheres: Vec<_> = frame.spheres().collect();
                let held = |row: usize| dem.is_pinned(row);
                let mut expected = Vec::new();
                for (k, a) in spheres.iter().enumerate() {
                    for b in spheres[..k].iter().filter(|b| b.grain != a.grain && !(held(a.grain) && held(b.grain))) {
                        if a.centre.distance(b.centre) < (a.radius + b.radius) * (1.0 - 1e-12) {
                            expected.push([a.grain.min(b.grain), a.grain.max(b.grain)]);
                        }
                    }
                }
                let mut found: Vec<[usize; 2]> =
                    dem.pushes().iter().map(|p| [p.0[0].min(p.0[1]), p.0[0].max(p.0[1])]).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "shape {shape}, {n}");
                met += found.iter().filter(|p| held(p[0]) != held(p[1])).count();
            }
        }
        assert!(met > 1000 && rebuilds(&dem) > before + 2, "{met} meetings, {} rebuilds", rebuilds(&dem) - before);
    }
}

/// One that lay still and is struck spends its budget long before the others do: it joins the lists that there are, and a run that is resumed
/// has no cells to look for its neighbours in.
#[test]
fn those_that_are_struck_join_the_lists_and_a_resumed_run_finds_the_same_neighbours() {
    for shape in [0, 1] {
        let (s, mut dem) = heap(200, shape);
        let (place, id) = (dem.population().position.to_vec(), dem.population().id.to_vec());
        let lower: Vec<u32> = (0..id.len()).filter(|&i| place[i].z < 5e-3).map(|i| id[i]).collect();
        dem.set_pinned(&lower);
        let above = place.iter().map(|x| x.z).fold(0.0, f64::max) + 6e-3;
        let struck = DVec3::new(0.015, 0.01, above);
        dem.add(&[NewMatter { shape, velocity: 0.4 * DVec3::NEG_Z, ..grain(struck, DVec3::ZERO, 1e-3) }]).unwrap();
        let relisted = |dem: &Alone| dem.save().into_iter().find(|c| c.0 == "relisted").map(|c| format!("{:?}", c.1));
        let (mut joined, before) = (0, dem.timers().iter().find(|t| t.name == "rebuild").unwrap().runs);
        for _ in 0..60 {
            let mut again = copy(&s, &dem);
            let already = relisted(&dem);
            run(&mut dem, 25);
            run(&mut again, 25);
            assert_eq!(dem.hash(), again.hash(), "shape {shape}, {already:?} before");
            joined += usize::from(relisted(&dem).is_some_and(|now| Some(now) != already));
        }
        let built = dem.timers().iter().find(|t| t.name == "rebuild").unwrap().runs - before;
        assert!(joined >= 5, "shape {shape}: joined in {joined} of 60 pieces, lists built {built} times");
    }
}
