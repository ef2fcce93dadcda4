//! Solid: freezing, thawing, and what must not change by it.

use super::scene::*;
use crate::{Alone, FlipError, Settings, SolidSettings};
use barchan_core::columns::{Column, Saved};
use barchan_core::solver::Solver;
use glam::DVec3;

fn quanta(a: &Alone) -> u64 {
    a.liquid.parcels.quanta.iter().map(|&q| u64::from(q)).sum::<u64>() + a.liquid.solid.quanta + a.gas_len() as u64
}

/// A bed of 16 cells on a floor.
fn bed(solid: bool) -> Alone {
    let s = settings([16.0, 16.0, 40.0], [true, true, false]);
    let s = Settings { solid: solid.then(SolidSettings::default), ..s };
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [16, 16, 16]], |_| true, |_| DVec3::ZERO).unwrap();
    a
}

fn run(a: &mut Alone, steps: usize) {
    (0..steps).for_each(|_| a.step().unwrap());
}

/// Height of the mean of all matter [cells].
fn height(a: &Alone) -> f64 {
    let t = a.totals();
    t.energies.gravity / t.mass
}

#[test]
fn a_bed_at_rest_freezes_below_its_cover_and_keeps_every_quantum() {
    let (mut a, mut b) = (bed(true), bed(false));
    let before = quanta(&a);
    run(&mut a, 60);
    run(&mut b, 60);
    assert_eq!(quanta(&a), before);
    assert_eq!(a.totals().gauges[0].value, before as f64);
    let cells = 16 * 16 * 11..=16 * 16 * 12;
    assert!(cells.contains(&a.solid_len()), "{} cells are frozen", a.solid_len());
    let lowest = (0..a.len()).map(|i| a.position(i).z).fold(f64::INFINITY, f64::min);
    assert!(lowest > 10.9, "nothing but solid, which has no speed, lies below the cover: {lowest}");
    assert!(rms(&a) < 0.01, "{}", rms(&a));
    assert!((height(&a) - height(&b)).abs() < 0.02 * height(&b), "{} and {}", height(&a), height(&b));
}

#[test]
fn gravity_that_turns_and_sand_that_is_dug_away_thaw_what_is_frozen() {
    let mut a = bed(true);
    run(&mut a, 60);
    let before = quanta(&a);
    let frozen = a.solid_len();
    let gone = a.remove_where(&|_, x| x.z > 12.0);
    let gone: f64 = gone.iter().map(|g| g.mass).sum();
    let left = before - (gone / a.settings().quantum()).round() as u64;
    run(&mut a, 10);
    assert_eq!(quanta(&a), left);
    assert!(a.solid_len() + 16 * 16 * 2 < frozen, "{frozen} cells were frozen, now {}", a.solid_len());
    a.set_gravity(DVec3::new(0.1, 0.0, -1.0));
    run(&mut a, 1);
    assert_eq!((a.solid_len(), quanta(&a)), (0, left));
}

#[test]
fn a_blow_thaws_as_deep_as_it_reaches() {
    let crater = |solid: bool| {
        let mut a = bed(solid);
        run(&mut a, 60);
        let frozen = a.solid_len();
        a.fill([[5, 5, 17], [11, 11, 23]], |_| true, |_| DVec3::Z * -8.0).unwrap();
        let before = quanta(&a);
        let mut least = frozen;
        for _ in 0..40 {
            a.step().unwrap();
            least = least.min(a.solid_len());
        }
        assert_eq!(quanta(&a), before);
        assert!(!solid || least < frozen, "{frozen} cells were frozen, never fewer than {least}");
        height(&a)
    };
    let (with, without) = (crater(true), crater(false));
    assert!((with - without).abs() < 0.02 * without, "{with} and {without}");
}

#[test]
fn frozen_sand_goes_on_bit_for_bit_on_any_threads_and_after_a_stop() {
    let start = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = bed(true);
            run(&mut a, 35);
            a
        })
    };
    let (mut a, b) = (start(1), start(3));
    assert!(a.solid_len() > 0);
    assert_eq!(a.hash(), b.hash());
    let (columns, walls) = (a.save(), a.boundary.save());
    let find = |columns: &[(String, Column)], name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    let mut c = bed(true);
    c.boundary.load(Saved(&|name| find(&walls, name))).unwrap();
    let boundary = c.boundary.clone();
    c.load(Saved(&|name| find(&columns, name)), &boundary).unwrap();
    c.steps = a.steps;
    let blow = |a: &mut Alone| {
        a.fill([[5, 5, 17], [9, 9, 20]], |_| true, |_| DVec3::Z * -6.0).unwrap();
        run(a, 12);
        a.hash()
    };
    assert_eq!(blow(&mut a), blow(&mut c));
}

#[test]
fn frozen_sand_keeps_the_room_that_it_thaws_into() {
    let full = 8 * 16 * 16 * 16;
    let s = settings([16.0, 16.0, 40.0], [true, true, false]);
    let s = Settings { solid: Some(SolidSettings::default()), capacity: full, ..s };
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [16, 16, 16]], |_| true, |_| DVec3::ZERO).unwrap();
    let before = quanta(&a);
    run(&mut a, 40);
    assert!(a.len() < full / 2, "{} parcels are left", a.len());
    let more = a.fill([[5, 5, 20], [6, 6, 21]], |_| true, |_| DVec3::ZERO);
    assert!(matches!(more, Err(FlipError::Full { .. })), "{more:?}");
    assert_eq!(quanta(&a), before);
    // Places on the edge of a cell and in its middle alike, by parts and all at once.
    let given = a.push(DVec3::new(8.0, 8.0, 4.0), 2.6, DVec3::X * 1e-3).x;
    let within = 4.0 / 3.0 * std::f64::consts::PI * 2.6f64.powi(3) * a.settings().bulk() * 1e-3;
    assert!((given - within).abs() < 0.1 * within, "{given} and {within}");
    assert_eq!(quanta(&a), before);
    let gone: f64 = a.remove_where(&|_, x| x.z < 6.5).iter().map(|g| g.mass).sum();
    let gone = gone / a.settings().quantum();
    assert!((gone - 6.5 / 16.0 * before as f64).abs() < 0.02 * before as f64, "{gone} of {before}");
    assert_eq!(quanta(&a) + gone.round() as u64, before);
}

/// A box of 16 cells with rough sides, filled 14 cells high.
fn boxed(solid: bool) -> Alone {
    let s = settings([16.0, 16.0, 40.0], [false, true, false]);
    let s = Settings { solid: solid.then_some(SolidSettings { cover: 3 }), ..s };
    let walls = [(DVec3::ZERO, DVec3::Z), (DVec3::ZERO, DVec3::X), (DVec3::X * 16.0, -DVec3::X)];
    let mut a = world(s, walls.map(|(x, n)| plane(x, n, 1)).to_vec());
    a.fill([[0, 0, 0], [16, 16, 14]], |_| true, |_| DVec3::ZERO).unwrap();
    a
}

#[test]
fn walls_and_sand_keep_their_momentum_while_it_freezes_and_thaws() {
    let mut a = boxed(true);
    let cells = 16.0 * 16.0 * 14.0;
    let (mut frozen, mut thawed) = (0, 0);
    for n in 0..120 {
        let had = a.solid_len();
        if n == 80 {
            a.push(DVec3::new(8.0, 8.0, 6.0), 3.0, DVec3::new(0.3, 0.2, -0.5));
        }
        let before = momentum(&a);
        a.step().unwrap();
        let walls: DVec3 = a.boundary.states().iter().map(|w| w.force).sum();
        let gained = momentum(&a) - before;
        let given = (a.settings().gravity * cells - walls / a.settings().bulk()) * a.dt;
        assert!((gained - given).length() < 1e-10 * cells, "step {n}: gained {gained}, given {given}");
        frozen += a.solid_len().saturating_sub(had);
        thawed += had.saturating_sub(a.solid_len());
    }
    assert!(frozen > 1000 && thawed > 20, "{frozen} cells froze, {thawed} thawed");
}

#[test]
fn walls_bear_the_same_whether_sand_beside_them_is_frozen_or_not() {
    // Floor and sides: rough sides bear a part of the weight, and are pushed apart.
    let loads = |solid: bool| {
        let mut a = boxed(solid);
        run(&mut a, 100);
        assert!(!solid || a.solid_len() > 1500, "{}", a.solid_len());
        let steps = 40;
        let mut sum = [DVec3::ZERO; 3];
        for _ in 0..steps {
            a.step().unwrap();
            a.boundary.states().iter().zip(&mut sum).for_each(|(w, s)| *s += w.force / f64::from(steps));
        }
        let weight = 16.0 * 16.0 * 14.0 * a.settings().bulk();
        sum.map(|s| s / weight)
    };
    let (with, without) = (loads(true), loads(false));
    for (a, b) in with.iter().zip(&without) {
        assert!((*a - *b).length() < 0.02, "{with:?} and {without:?}");
    }
    assert!((without[1].x + without[2].x).abs() < 0.02, "{without:?}");
    assert!(with[1].x < -0.1 && with[2].x > 0.1, "{with:?}");
}

#[test]
fn a_kick_thaws_what_is_frozen_and_gives_it_what_the_same_liquid_gets() {
    let given = |solid: bool| {
        let mut a = bed(solid);
        run(&mut a, 60);
        let before = (a.totals(), a.solid_len());
        let (centre, radius) = (DVec3::new(8.0, 8.0, 5.0), 3.0);
        let mut mass = 0.0;
        a.each_in(centre, radius, &mut |_, m| mass += m);
        let kicked = a.kick_in(centre, radius, &|x| x - centre + DVec3::Z);
        assert!((a.totals().momentum - before.0.momentum - kicked).length() < 1e-9 * mass);
        assert!((a.totals().mass - before.0.mass).abs() < 1e-12 * mass);
        assert!(!solid || a.solid_len() < before.1, "nothing thawed of {} cells", before.1);
        (mass, kicked)
    };
    let ((frozen, a), (liquid, b)) = (given(true), given(false));
    assert!((frozen / liquid - 1.0).abs() < 0.02, "{frozen} and {liquid}");
    assert!((a - b).length() < 0.05 * b.length(), "{a} and {b}");
}
