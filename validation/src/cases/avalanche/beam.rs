//! A chain of bonds as a cantilever.

use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_core::contact::ContactLaw;
use barchan_core::contact::bond::BondLaw;
use barchan_core::materials::{Material, Materials};
use barchan_core::shapes::Shape;
use barchan_core::solver::{Domain, NewMatter};
use barchan_dem::{Alone, Integrator, NewBond, Precision, Settings, To};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

pub const CASE: Case = Case {
    name: "avalanche-beam",
    title: "A beam of bonds",
    group: Group::Avalanche,
    about: "Eleven spheres of 50 mm in a row are joined by ten bonds of 10 MPa, the first sphere is held, the last is loaded: by 0.1 N across, 10 N along, \
            0.1 N m about. The chain's own closed forms are P L³/(3 E I)(1 − 1/4N²) + N P/(k_s A), N F/(k_n A) and N T/(k_s J). With strengths of 10 kPa the load is \
            raised slowly until a bond breaks.",
    source: "Potyondy and Cundall 2004, closed forms of the chain",
    criteria: &[
        Criterion::new("bending", "deflection under 0.1 N", "mm", Near(0.68055, 2e-3), "0.68055"),
        Criterion::new("tension", "stretch under 10 N", "mm", Near(0.12732, 1e-3), "0.12732"),
        Criterion::new("torsion", "twist under 0.1 N m", "mrad", Near(2.5465, 1e-3), "2.5465"),
        Criterion::new("breaks-axial", "axial load at which it breaks", "N", Near(78.54, 5e-3), "78.54"),
        Criterion::new("breaks-bending", "load across at which it breaks", "N", Near(1.0334, 1e-2), "1.0334"),
        Criterion::new("root", "place of the bond that breaks, from the root", "", Near(1.0, 1e-9), "1"),
        Criterion::new("breaks-torsion", "torque at which it breaks", "N m", Near(1.9635, 1e-2), "1.9635"),
    ],
    run,
};

const BONDS: u32 = 10;
const LENGTH: f64 = 0.1;
const RADIUS: f64 = 0.05;
const DENSITY: f64 = 400.0;
const LAW: BondLaw =
    BondLaw { young: 1e7, ratio: 2.5, radius: 1.0, tensile: 1e9, shear: 1e9, friction: 0.0, damping: 0.0 };

/// The beam, its first sphere held.
fn beam(law: BondLaw) -> Result<Alone, CaseError> {
    let material = Material {
        name: "snow".into(),
        density: DENSITY,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.5,
        friction: 0.0,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    let settings = Settings {
        gravity: DVec3::ZERO,
        domain: Domain { min: DVec3::splat(-10.0), max: DVec3::splat(10.0), periodic: [false; 3] },
        law: ContactLaw::HERTZ_MINDLIN,
        bridges: None,
        cell: None,
        materials: Materials { list: vec![material], overrides: vec![] },
        shapes: vec![Shape::sphere()].into(),
        borne: vec![],
        dt: 5e-5,
        dt_reason: String::new(),
        integrator: Integrator::PositionVerlet { dissipation: 1e-3 },
        precision: Precision::Double,
        max_overlap: 0.1,
        sleep: None,
    };
    let mut dem = Alone::new(settings, Default::default());
    let sphere = |k: u32| NewMatter {
        position: DVec3::X * (LENGTH * f64::from(k)),
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        radius: RADIUS,
        mass: None,
        material: 0,
        shape: 0,
    };
    let lost = |e: &dyn std::fmt::Display| CaseError::Unmeasured(e.to_string());
    dem.add(&(0..=BONDS).map(sphere).collect::<Vec<_>>()).map_err(|e| lost(&e))?;
    let bond = |k: u32| NewBond { grain: k, to: To::Grain(k + 1), strength: 1.0 };
    dem.bond(law, &(0..BONDS).map(bond).collect::<Vec<_>>());
    dem.set_pinned(&[0]);
    Ok(dem)
}

fn steps(dem: &mut Alone, n: u32) -> Result<(), CaseError> {
    (0..n).try_for_each(|_| dem.step().map_err(|e| CaseError::Unmeasured(e.to_string())))
}

/// Place and turn of the last sphere.
fn tip(dem: &Alone) -> (DVec3, DQuat) {
    let f = dem.population();
    let row = f.id.iter().position(|id| *id == BONDS).unwrap_or_default();
    (f.position[row], f.turn(row))
}

/// The tip at rest under a load.
fn loaded(force: DVec3, torque: DVec3) -> Result<(DVec3, DQuat), CaseError> {
    let mut dem = beam(LAW)?;
    dem.set_load(BONDS, force, torque);
    steps(&mut dem, 60_000)?;
    let (x, turn) = tip(&dem);
    Ok((x - DVec3::X * LENGTH * f64::from(BONDS), turn))
}

/// Share of a load at which the first bond breaks when it is raised slowly, and the place of that bond.
fn breaks(law: BondLaw, force: DVec3, torque: DVec3) -> Result<(f64, f64), CaseError> {
    let mut dem = beam(law)?;
    let from = 0.95;
    for k in 1..=400 {
        let share = from * f64::from(k) / 400.0;
        dem.set_load(BONDS, share * force, share * torque);
        steps(&mut dem, 150)?;
    }
    for k in 0..100_000 {
        let share = from + 1e-6 * f64::from(k);
        dem.set_load(BONDS, share * force, share * torque);
        steps(&mut dem, 1)?;
        if dem.bonds() < BONDS as usize {
            let left = dem.bond_pairs().id.to_vec();
            let gone = (0..BONDS).find(|k| !left.contains(&[*k, k + 1]));
            return Ok((share, gone.map_or(f64::NAN, |k| f64::from(k + 1))));
        }
    }
    Err(CaseError::Unmeasured("no bond broke".into()))
}

fn run(_: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    found.found("bending", -1e3 * loaded(DVec3::Z * -0.1, DVec3::ZERO)?.0.z);
    found.found("tension", 1e3 * loaded(DVec3::X * 10.0, DVec3::ZERO)?.0.x);
    found.found("torsion", 1e3 * loaded(DVec3::ZERO, DVec3::X * 0.1)?.1.to_scaled_axis().x);
    let weak = BondLaw { tensile: 1e4, shear: 1e4, ..LAW };
    found.found("breaks-axial", 78.54 * breaks(weak, DVec3::X * 78.54, DVec3::ZERO)?.0);
    let (share, place) = breaks(weak, DVec3::Z * -1.0334, DVec3::ZERO)?;
    found.found("breaks-bending", 1.0334 * share);
    found.found("root", place);
    let sheared = BondLaw { tensile: 1e9, ..weak };
    found.found("breaks-torsion", 1.9635 * breaks(sheared, DVec3::ZERO, DVec3::X * 1.9635)?.0);
    found.set_up("bonds", format!("{BONDS}, {} mm long, {:.3} mm² across", 1e3 * LENGTH, 1e6 * PI * RADIUS * RADIUS));
    Ok(found)
}
