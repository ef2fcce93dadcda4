//! Things that must not matter: threads, instruction set, where the origin is, how a sphere is written, a checkpoint.

use crate::common;
use barchan_core::materials::Material;
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::simd::Isa;
use barchan_core::solver::Domain;
use barchan_core::walls::{Geometry, Roughness, Side, Wall};
use barchan_dem::{Alone, Precision};
use common::*;
use glam::DVec3;

/// A few thousand grains of two sizes and three materials falling into a box with a rough floor; rolling resistance on.
fn pit(precision: Precision, shape: u16, n: usize) -> Alone {
    let mut s = settings(Material { rolling: 0.05, ..glass() }, HERTZ);
    s.materials.list.push(Material { name: "steel".into(), density: 7800.0, friction: 0.2, ..glass() });
    s.materials.list.push(Material { name: "snow".into(), density: 300.0, cohesion: 0.01, ..glass() });
    s.precision = precision;
    s.gravity = DVec3::Z * -9.81;
    s.domain =
        Domain { min: DVec3::new(0.0, 0.0, -0.01), max: DVec3::new(0.03, 0.03, 0.5), periodic: [true, false, false] };
    let sides = Geometry::Box {
        min: DVec3::new(-1.0, 0.0, 0.0),
        max: DVec3::new(1.0, 0.03, 0.5),
        side: Side::Inside,
        open: [true, true, false, false, false, true],
    };
    let mut walls = Wall::new("pit", sides, 1);
    walls.rough = None;
    let mut stage = Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    stage.rough = Some(Roughness { radius: 0.5e-3, spacing: 1.2e-3 });
    s.walls = vec![walls, stage];
    s.dt = 8e-6;
    let mut dem = alone(s);
    let mut rng = Random::new(11, 0);
    let mut grains = Vec::new();
    let pitch = if shape == 0 { 2.05e-3 } else { 3.6e-3 };
    let side = (0.028 / pitch) as usize;
    for k in 0..n {
        let cell = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        let mut g = grain(
            (cell + 0.5) * pitch + DVec3::new(1e-3, 1e-3, 2e-3),
            rng.in_ball() * 0.8 - DVec3::Z * 0.4,
            if k % 3 == 0 { 0.6e-3 } else { 1e-3 },
        );
        g.material = (k % 3) as u16;
        g.shape = shape;
        g.orientation = rng.unit_quaternion();
        grains.push(g);
    }
    dem.add(&grains).unwrap();
    dem
}

fn in_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (precision, shape, n) in
        [(Precision::Mixed, 0, 3000), (Precision::Double, 0, 3000), (Precision::Mixed, 1, 1200)]
    {
        let hash = |threads| {
            in_pool(threads, || {
                let mut dem = pit(precision, shape, n);
                run(&mut dem, 1500);
                assert!(dem.contacts().len() > 50, "little touches: {}", dem.coordination());
                (dem.hash(), dem.energies().elastic.to_bits(), dem.contacts().len())
            })
        };
        let one = hash(1);
        assert_eq!(one, hash(2));
        assert_eq!(one, hash(3));
    }
}

#[test]
fn any_instruction_set_gives_the_same_bits() {
    for (precision, shape, n) in [(Precision::Mixed, 0, 1500), (Precision::Double, 0, 1500), (Precision::Mixed, 1, 500)]
    {
        let hashes: Vec<u64> = Isa::available()
            .into_iter()
            .map(|isa| {
                let mut dem = pit(precision, shape, n);
                assert!(dem.use_isa(isa));
                run(&mut dem, 1500);
                dem.hash()
            })
            .collect();
        assert!(hashes.windows(2).all(|h| h[0] == h[1]), "{hashes:x?}");
    }
}

#[test]
fn a_checkpoint_goes_on_bit_for_bit() {
    for (precision, shape, n) in [(Precision::Mixed, 0, 1500), (Precision::Double, 1, 500)] {
        let mut whole = pit(precision, shape, n);
        run(&mut whole, 1234);
        let saved = whole.save();
        let mut resumed =
            resumed(setup_of(&whole), &|name| saved.iter().find(|c| c.0 == name).map(|c| c.1.clone())).unwrap();
        assert_eq!(resumed.hash(), whole.hash());
        for dem in [&mut whole, &mut resumed] {
            // Births and deaths right after the checkpoint, while lists are old.
            dem.remove_where(&|id, _| id % 50 == 7);
            dem.add(&[grain(DVec3::new(0.015, 0.015, 0.4), DVec3::ZERO, 1e-3)]).unwrap();
            run(dem, 777);
        }
        assert_eq!(resumed.hash(), whole.hash());
    }
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut dem = pit(Precision::Mixed, 0, 300);
    run(&mut dem, 1500);
    let saved = dem.save();
    let load = |edit: &dyn Fn(&str, barchan_core::columns::Column) -> Option<barchan_core::columns::Column>| {
        resumed(setup_of(&dem), &|name| saved.iter().find(|c| c.0 == name).and_then(|c| edit(name, c.1.clone())))
    };
    assert!(load(&|_, c| Some(c)).is_ok());
    for victim in saved.iter().map(|c| c.0.as_str()).filter(|n| !n.ends_with("roll")) {
        assert!(load(&|name, c| if name == victim { None } else { Some(c) }).is_err(), "{victim} missing");
    }
    let wild = |name: &str, c: barchan_core::columns::Column| match c {
        barchan_core::columns::Column::U32(v) if name.starts_with("block") => {
            Some(barchan_core::columns::Column::U32(v.into_iter().map(|x| x.wrapping_add(1_000_000)).collect()))
        }
        c => Some(c),
    };
    assert!(load(&wild).is_err());
}

#[test]
fn a_clump_of_one_is_a_sphere() {
    let (one, radius) = Shape::clump("one", &[(DVec3::new(1.0, 2.0, 3.0), 1e-3)]).unwrap();
    assert_eq!(radius, 1e-3);
    let outcome = |shape: Shape| {
        let mut s = settings(glass(), HERTZ);
        s.shapes = vec![shape].into();
        s.gravity = DVec3::Z * -9.81;
        s.walls = vec![floor(DVec3::Z)];
        s.dt = 8e-6;
        let mut dem = alone(s);
        let mut rng = Random::new(5, 0);
        let grains: Vec<_> = (0..60)
            .map(|k| {
                let mut g = grain(
                    DVec3::new((k % 4) as f64 * 2e-3, (k / 4 % 4) as f64 * 2e-3, 2e-3 + (k / 16) as f64 * 2.2e-3),
                    rng.in_ball() * 0.1,
                    1e-3,
                );
                g.spin = rng.in_ball() * 50.0;
                g
            })
            .collect();
        dem.add(&grains).unwrap();
        run(&mut dem, 3000);
        dem.hash()
    };
    assert_eq!(outcome(one), outcome(Shape::sphere()));
}

/// The same scene cut elsewhere by the periodic sides moves alike.
#[test]
fn periodic_is_shifted() {
    let outcome = |shift: f64| {
        let mut s: Setup = settings(glass(), HERTZ);
        s.precision = Precision::Double;
        s.domain = Domain { min: DVec3::ZERO, max: DVec3::new(0.016, 0.016, 0.1), periodic: [true, true, false] };
        s.gravity = DVec3::new(3.0, 0.0, -9.0);
        s.walls = vec![floor(DVec3::Z)];
        s.dt = 8e-6;
        let mut dem = alone(s);
        let mut rng = Random::new(9, 0);
        let grains: Vec<_> = (0..250)
            .map(|k| {
                let cell = DVec3::new((k % 7) as f64, (k / 7 % 7) as f64, (k / 49) as f64);
                let x = (cell + 0.5) * 2.28e-3;
                let moved = DVec3::new((x.x + shift).rem_euclid(0.016), (x.y + 2.0 * shift).rem_euclid(0.016), x.z);
                grain(moved, rng.in_ball() * 0.1, 1e-3)
            })
            .collect();
        dem.add(&grains).unwrap();
        run(&mut dem, 4000);
        let f = dem.population();
        let mut rows: Vec<_> = (0..f.len()).map(|k| (f.id[k], f.position[k], f.velocity[k])).collect();
        rows.sort_by_key(|r| r.0);
        assert!(dem.contacts().len() > 50);
        rows
    };
    let (a, b) = (outcome(0.0), outcome(0.0053));
    for (p, q) in a.iter().zip(&b) {
        let d = q.1 - p.1 - DVec3::new(0.0053, 0.0106, 0.0);
        let apart = DVec3::new(d.x - 0.016 * (d.x / 0.016).round(), d.y - 0.016 * (d.y / 0.016).round(), d.z);
        // Rounding of the positions, grown by collisions.
        assert!(apart.length() < 1e-9, "grain {} is {:?} off", p.0, apart);
        assert!((q.2 - p.2).length() < 1e-5);
    }
}

#[test]
fn grains_that_leave_or_break_are_named() {
    let mut s = settings(glass(), HERTZ);
    s.domain = Domain { min: DVec3::ZERO, max: DVec3::ONE, periodic: [false; 3] };
    s.dt = 1e-5;
    let mut dem = alone(s.clone());
    dem.add(&[grain(DVec3::splat(0.5), DVec3::X * 100.0, 1e-3), grain(DVec3::splat(0.2), DVec3::ZERO, 1e-3)]).unwrap();
    run(&mut dem, 600);
    assert!(dem.take_outside().contains(&0));
    let gone = dem.remove_where(&|id, _| id == 0);
    assert_eq!((gone.len(), gone[0].id, dem.len()), (1, 0, 1));

    let mut dem = alone(s);
    dem.add(&[
        grain(DVec3::splat(0.5), DVec3::ZERO, 1e-3),
        grain(DVec3::splat(0.5) + DVec3::X * 0.4e-3, DVec3::ZERO, 1e-3),
    ])
    .unwrap();
    let message = dem.step().unwrap_err().to_string();
    assert!(message.contains("grain 0") && message.contains("grain 1") && message.contains("max_overlap"), "{message}");
}
