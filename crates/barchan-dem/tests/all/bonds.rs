//! Bonds against closed forms: how a beam bends, stretches, twists and breaks; what it keeps; and that nothing else matters.

use crate::common;
use barchan_core::contact::bond::BondLaw;
use barchan_core::materials::Material;
use barchan_dem::{Alone, Integrator, NewBond, Precision, To};
use common::*;
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

const SNOW: BondLaw =
    BondLaw { young: 1e7, ratio: 2.5, radius: 1.0, tensile: 1e9, shear: 1e9, friction: 0.0, damping: 0.0 };
/// Bonds of the beam, their length and radius [m].
const BONDS: u32 = 10;
const LENGTH: f64 = 0.1;
const RADIUS: f64 = 0.05;

/// Eleven spheres in a row, each bonded to the next.
fn beam(law: BondLaw, integrator: Integrator) -> Alone {
    let mut s = settings(Material { density: 400.0, young: 1e7, ..glass() }, HERTZ);
    s.domain.min = DVec3::splat(-10.0);
    s.domain.max = DVec3::splat(10.0);
    s.precision = Precision::Double;
    s.integrator = integrator;
    s.dt = 5e-5;
    let mut dem = alone(s);
    let row = |k: u32| grain(DVec3::X * (LENGTH * f64::from(k)), DVec3::ZERO, RADIUS);
    dem.add(&(0..=BONDS).map(row).collect::<Vec<_>>()).unwrap();
    let bond = |k: u32| NewBond { grain: k, to: To::Grain(k + 1), strength: 1.0 };
    dem.bond(law, &(0..BONDS).map(bond).collect::<Vec<_>>());
    dem
}

/// The same, the first held, brought to rest under a load on the last.
fn loaded(law: BondLaw, force: DVec3, torque: DVec3) -> Alone {
    let mut dem = beam(law, Integrator::PositionVerlet { dissipation: 1e-3 });
    dem.set_pinned(&[0]);
    assert!(dem.set_load(BONDS, force, torque));
    run(&mut dem, 60_000);
    dem
}

fn orientation(dem: &Alone, id: u32) -> DQuat {
    let f = dem.population();
    f.turn(f.id.iter().position(|&i| i == id).unwrap())
}

#[test]
fn a_cantilever_bends_stretches_and_twists_as_the_chain_of_its_bonds_does() {
    let n = f64::from(BONDS);
    let (area, moment) = (PI * RADIUS.powi(2), PI * RADIUS.powi(4) / 4.0);
    let (normal, shear) = (1e7 / LENGTH, 1e7 / LENGTH / 2.5);
    let length = n * LENGTH;

    let end = DVec3::X * length;
    let bent = state(&loaded(SNOW, DVec3::Z * -0.1, DVec3::ZERO), BONDS).0 - end;
    let exact = 0.1 * length.powi(3) / (3.0 * 1e7 * moment) * (1.0 - 0.25 / (n * n)) + n * 0.1 / (shear * area);
    println!("bent {:.5} mm, exact {:.5} mm", -bent.z * 1e3, exact * 1e3);
    assert!(rel(exact, 0.68055e-3) < 1e-4 && rel(-bent.z, exact) < 2e-3);

    let long = state(&loaded(SNOW, DVec3::X * 10.0, DVec3::ZERO), BONDS).0 - end;
    println!("stretched {:.5} mm", long.x * 1e3);
    assert!(rel(long.x, 0.12732e-3) < 1e-3 && rel(long.x, n * 10.0 / (normal * area)) < 1e-3);

    let turned = orientation(&loaded(SNOW, DVec3::ZERO, DVec3::X * 0.1), BONDS).to_scaled_axis();
    println!("twisted {:.5} mrad", turned.x * 1e3);
    assert!(rel(turned.x, 2.5465e-3) < 1e-3 && rel(turned.x, n * 0.1 / (shear * 2.0 * moment)) < 1e-3);
}

/// Load, as a share of `force` and `torque`, at which the first bond breaks when it is raised slowly; and the grains that were bonded by it.
fn breaks_at(law: BondLaw, force: DVec3, torque: DVec3) -> (f64, [u32; 2]) {
    let from = 0.95;
    // Laid on at once a load would swing to twice itself.
    let mut dem = beam(law, Integrator::PositionVerlet { dissipation: 1e-3 });
    dem.set_pinned(&[0]);
    for k in 1..=400 {
        let share = from * f64::from(k) / 400.0;
        dem.set_load(BONDS, share * force, share * torque);
        run(&mut dem, 150);
    }
    assert_eq!(dem.bonds(), BONDS as usize, "broken too early");
    for k in 0..100_000 {
        let share = from + 1e-6 * f64::from(k);
        dem.set_load(BONDS, share * force, share * torque);
        run(&mut dem, 1);
        if dem.bonds() < BONDS as usize {
            let left = dem.bond_pairs().id.to_vec();
            let gone = (0..BONDS).map(|k| [k, k + 1]).find(|b| !left.contains(b)).unwrap();
            return (share, gone);
        }
    }
    panic!("never broken");
}

#[test]
fn a_beam_breaks_at_the_load_and_place_of_its_strength() {
    let law = BondLaw { tensile: 1e4, shear: 1e4, ..SNOW };
    let (share, _) = breaks_at(law, DVec3::X * 78.54, DVec3::ZERO);
    println!("axial: {share}");
    assert!((share - 1.0).abs() < 5e-3);
    // σ_c I / (R̄ (L − ℓ/2)), at the root.
    let (share, at) = breaks_at(law, DVec3::Z * -1.0334, DVec3::ZERO);
    println!("bending: {share} at {at:?}");
    assert!((share - 1.0).abs() < 1e-2);
    assert_eq!(at, [0, 1]);
    let (share, _) = breaks_at(BondLaw { tensile: 1e9, ..law }, DVec3::ZERO, DVec3::X * 1.9635);
    println!("torsion: {share}");
    assert!((share - 1.0).abs() < 1e-2);
}

/// Momentum, and angular momentum about the origin.
fn momenta(dem: &Alone) -> (DVec3, DVec3) {
    let f = dem.population();
    let own = 0.4 * RADIUS * RADIUS;
    let sum = |g: &dyn Fn(usize) -> DVec3| (0..f.len()).map(|k| f.mass[k] * g(k)).sum::<DVec3>();
    (sum(&|k| f.velocity[k]), sum(&|k| f.position[k].cross(f.velocity[k]) + own * f.spin[k]))
}

#[test]
fn a_free_beam_that_swings_and_spins_keeps_energy_and_momenta() {
    let mut dem = beam(SNOW, Integrator::VelocityVerlet);
    // Plucked, twisted and sent on its way.
    dem.set_load(0, DVec3::new(0.0, 3.0, 1.0), DVec3::X * 0.2);
    dem.set_load(BONDS, DVec3::new(0.0, -2.0, 2.0), DVec3::ZERO);
    run(&mut dem, 2000);
    dem.set_load(0, DVec3::ZERO, DVec3::ZERO);
    dem.set_load(BONDS, DVec3::ZERO, DVec3::ZERO);
    run(&mut dem, 1);
    let total = |dem: &Alone| dem.energies().kinetic() + dem.energies().elastic;
    let (p, l) = momenta(&dem);
    let (energy, mut most) = (total(&dem), 0f64);
    assert!(dem.energies().elastic > 1e-3 * energy, "it hardly swings");
    for _ in 0..100 {
        run(&mut dem, 4000);
        most = most.max(rel(total(&dem), energy));
    }
    let (p1, l1) = momenta(&dem);
    println!(
        "energy within {most:.1e}, momentum {:.1e}, angular {:.1e}",
        (p1 - p).length() / p.length(),
        (l1 - l).length() / l.length()
    );
    assert!(most < 1e-4);
    assert!((p1 - p).length() < 1e-10 * p.length() && (l1 - l).length() < 1e-10 * l.length());
}

#[test]
fn a_bond_s_dashpot_takes_energy_and_no_momentum() {
    let mut dem = beam(BondLaw { damping: 0.2, ..SNOW }, Integrator::VelocityVerlet);
    dem.set_load(3, DVec3::new(1.0, 5.0, 2.0), DVec3::new(0.3, 0.1, -0.2));
    run(&mut dem, 1000);
    dem.set_load(3, DVec3::ZERO, DVec3::ZERO);
    run(&mut dem, 1);
    let total = |dem: &Alone| dem.energies().kinetic() + dem.energies().elastic;
    let ((p, l), before) = (momenta(&dem), total(&dem));
    run(&mut dem, 20_000);
    let (p1, l1) = momenta(&dem);
    assert!((p1 - p).length() < 1e-10 * p.length() && (l1 - l).length() < 1e-10 * l.length());
    assert!(total(&dem) < before);
}

#[test]
fn bonded_grains_have_no_contact_and_get_it_back_when_the_bond_goes() {
    let mut s = settings(Material { density: 400.0, ..glass() }, HERTZ);
    s.precision = Precision::Double;
    s.dt = 1e-5;
    let mut dem = alone(s);
    // Overlapping by a thousandth.
    dem.add(&[grain(DVec3::ZERO, DVec3::ZERO, RADIUS), grain(DVec3::X * 0.0999, DVec3::ZERO, RADIUS)]).unwrap();
    let law = BondLaw { shear: 1.0, ..SNOW };
    dem.bond(law, &[NewBond { grain: 0, to: To::Grain(1), strength: 1.0 }]);
    run(&mut dem, 100);
    assert!(dem.contacts().is_empty());
    assert!(state(&dem, 0).1.length() < 1e-12, "a bond is free of stress at birth");
    // A push across it breaks it.
    dem.set_load(1, DVec3::Z, DVec3::ZERO);
    while dem.bonds() > 0 && dem.time() < 1.0 {
        run(&mut dem, 1);
    }
    assert_eq!((dem.bonds(), dem.broken().shear), (0, 1));
    run(&mut dem, 1);
    assert_eq!(dem.contacts().len(), 1);
    assert!(dem.energies().elastic > 0.0);
}

#[test]
fn a_grain_bonded_to_a_wall_hangs_from_it_and_the_wall_bears_it() {
    let mut s = settings(Material { density: 400.0, ..glass() }, HERTZ);
    s.precision = Precision::Double;
    s.gravity = DVec3::Z * -9.81;
    s.walls = vec![floor(-DVec3::Z)];
    s.dt = 2e-5;
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::Z * -RADIUS, DVec3::ZERO, RADIUS)]).unwrap();
    let law = BondLaw { damping: 0.3, ..SNOW };
    dem.bond(law, &[NewBond { grain: 0, to: To::Wall(0, DVec3::ZERO), strength: 1.0 }]);
    run(&mut dem, 20_000);
    let weight = sphere_mass(RADIUS, 400.0) * 9.81;
    assert!(rel(-dem.walls()[0].force.z, weight) < 1e-6, "{}", dem.walls()[0].force);
    let stretch = -RADIUS - state(&dem, 0).0.z;
    assert!(rel(stretch, weight * RADIUS / (1e7 * PI * RADIUS * RADIUS)) < 1e-4, "{stretch}");
}

/// A block of bonded grains that falls onto a floor, breaks up and comes down in pieces.
fn block(precision: Precision) -> Alone {
    let mut s = settings(Material { density: 400.0, friction: 0.5, ..glass() }, HERTZ);
    s.precision = precision;
    s.gravity = DVec3::Z * -9.81;
    s.domain.min = DVec3::splat(-5.0);
    s.domain.max = DVec3::splat(5.0);
    s.walls = vec![floor(DVec3::new(0.2, 0.1, 1.0).normalize())];
    s.dt = 5e-5;
    let mut dem = alone(s);
    let side = 9;
    let cells = (0..side * side * side).map(|k| [k % side, k / side % side, k / side / side]);
    let place = |c: [u32; 3]| DVec3::new(c[0].into(), c[1].into(), c[2].into()) * 0.1 + DVec3::Z * 0.3;
    dem.add(&cells.clone().map(|c| grain(place(c), DVec3::Z * -3.0, RADIUS)).collect::<Vec<_>>()).unwrap();
    let law = BondLaw { young: 1e6, tensile: 3e4, shear: 3e4, friction: 0.3, damping: 0.1, ..SNOW };
    let mut bonds = Vec::new();
    for (k, c) in cells.enumerate() {
        for (axis, far) in [(0, 1), (1, side), (2, side * side)] {
            if c[axis] + 1 < side {
                bonds.push(NewBond { grain: k as u32, to: To::Grain(k as u32 + far), strength: 1.0 });
            }
        }
    }
    dem.bond(law, &bonds);
    dem
}

#[test]
fn a_block_that_breaks_has_the_same_bits_on_any_threads_and_after_a_checkpoint() {
    for precision in [Precision::Mixed, Precision::Double] {
        let go = |threads: usize, resume: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut dem = block(precision);
                run(&mut dem, 4000);
                if resume {
                    let (setup, saved) = (setup_of(&dem), dem.save());
                    let find = |name: &str| saved.iter().find(|c| c.0 == name).map(|c| c.1.clone());
                    dem = resumed(setup, &find).unwrap();
                }
                run(&mut dem, 4000);
                (dem.hash(), dem.bonds(), dem.broken())
            })
        };
        let one = go(1, false);
        let broken = one.2.tension + one.2.shear;
        println!("{broken} of {} bonds broken, {:.3} J", one.1 as u64 + broken, one.2.energy);
        assert!(broken > 100 && one.1 > 100 && one.2.energy > 0.0);
        assert_eq!(go(3, false), one);
        assert_eq!(go(2, true), one);
    }
}

#[test]
fn bonds_of_grains_that_leave_go_with_them() {
    let mut dem = beam(SNOW, Integrator::VelocityVerlet);
    dem.remove_where(&|id, _| id == 4);
    assert_eq!(dem.bonds(), BONDS as usize - 2);
    run(&mut dem, 10);
    assert_eq!(dem.broken().tension + dem.broken().shear, 0);
}
