//! Where a hanging slab of bonded snow breaks, and at which length.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_dem::{Broken, Dem};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;
use std::f64::consts::PI;

/// Bulk strength in tension [Pa], bulk density [kg/m³], slope [°], friction on the ground.
const STRENGTH: f64 = 5000.0;
const DENSITY: f64 = 250.0;
const SLOPE: f64 = 40.0;
const FRICTION: f64 = 0.3;
const GRAVITY: f64 = 9.81;
/// Radius of the grains [m], and how many lie along, across and over each other.
const RADIUS: f64 = 0.1;
const SIZE: [usize; 3] = [24, 3, 2];
/// Time in which it settles under what presses it onto the ground [s], and in which what pulls it down grows to twice its own: a hundred times that in
/// which a wave runs along the slab.
const SETTLE: f64 = 0.5;
const TIME: f64 = 6.0;

pub const CASE: Case = Case {
    name: "slab-crown",
    title: "Crown fracture of a slab of bonded snow",
    group: Group::Verification,
    about: "A slab of bonded grains on a cubic lattice, 5 kPa strong, 250 kg/m³, lies on a slope of 40° with friction 0.3 and is held at its \
            crown. What pulls it down is let grow slowly until it breaks. The same balance says at which length it breaks under its own weight: \
            σ/(ρ g (sin θ − μ cos θ)).",
    source: "Balance of forces, closed form",
    criteria: &[
        Criterion {
            key: "length",
            what: "length at which it breaks under its own weight",
            unit: "m",
            accept: Accept::Near(4.94, 0.1),
            reference: "4.94",
        },
        Criterion {
            key: "place",
            what: "distance of the first fracture from the crown over the length",
            unit: "",
            accept: Accept::Below(0.1),
            reference: "at the crown",
        },
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    // Grains on a cubic lattice fill π/6 of the space, and bonds as wide as grains π/4 of a section.
    let (solid, bond) = (DENSITY * 6.0 / PI, STRENGTH * 4.0 / PI);
    let (sin, cos) = SLOPE.to_radians().sin_cos();
    let [nx, ny, nz] = SIZE;
    let mut at = Vec::new();
    for (i, j, k) in (0..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k)))) {
        let of = |n: usize| (2 * n + 1) as f64 * RADIUS;
        at.push(format!("[{}, {}, {}]", of(i), of(j), of(k)));
    }
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = {}
            gravity = [{}, 0, {}]
            [domain]
            min = [-1, -1, -0.5]
            max = [20, 2, 4]
            outside = "remove"
            [integrator]
            precision = "double"
            [materials.snow]
            density = {solid}
            young = "5 MPa"
            poisson = 0.3
            restitution = 0.3
            friction = {FRICTION}
            [materials.crown]
            density = {solid}
            young = "5 MPa"
            poisson = 0.3
            restitution = 0.3
            friction = 0
            [[walls]]
            name = "ground"
            material = "snow"
            plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
            [[grains]]
            material = "snow"
            radius = {RADIUS}
            at = [{}]
            bonds = {{ young = "5 MPa", tensile = {bond}, shear = "1 MPa", damping = 0.3, gap = 0.05 }}
            [[walls]]
            name = "crown"
            material = "crown"
            plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}
            "#,
            SETTLE + TIME,
            0.0,
            -GRAVITY * cos,
            at.join(", ")
        ),
        bench,
    )?;
    // Bonded to the crown before it has sunk into the ground, it would be bent there.
    rig.run_to(SETTLE)?;
    // The grains at the crown hang on the wall there.
    let law = barchan_core::contact::bond::BondLaw {
        young: 5e6,
        ratio: 2.5,
        radius: 1.0,
        tensile: bond,
        shear: 1e6,
        friction: 0.0,
        damping: 0.3,
    };
    let held: Vec<(u32, DVec3)> = {
        let frame = rig.world.frame();
        let grains = frame.grains();
        (0..grains.len())
            .filter(|k| grains.position[*k].x < 1.5 * RADIUS)
            .map(|k| (grains.id[k], grains.position[k]))
            .collect()
    };
    let crown = rig.world.boundary().walls().iter().position(|w| w.name == "crown").unwrap_or_default() as u16;
    let none = || CaseError::Unmeasured("there are no grains".into());
    let dem = rig.world.solver_mut::<Dem>().ok_or_else(none)?;
    let new: Vec<barchan_dem::NewBond> = held
        .iter()
        .map(|(grain, x)| barchan_dem::NewBond {
            grain: *grain,
            to: barchan_dem::To::Wall(crown, x.with_x(0.0)),
            strength: 1.0,
        })
        .collect();
    dem.bond(law, &new);
    let whole = dem.bond_pairs();
    let length = 2.0 * RADIUS * nx as f64;
    let (mut factor, mut place) = (0.0, f64::NAN);
    let mut curve = Vec::new();
    while rig.world.time() < SETTLE + TIME {
        factor = 2.0 * (rig.world.time() - SETTLE) / TIME;
        rig.world.set_gravity(DVec3::new(GRAVITY * sin * factor, 0.0, -GRAVITY * cos));
        rig.step()?;
        if rig.world.steps() % 500 == 0 {
            let x = rig.world.frame().grains().position.iter().map(|x| x.x).fold(0.0, f64::max);
            curve.push([factor, 1e3 * (x - length + RADIUS)]);
        }
        let dem = rig.world.solver::<Dem>().ok_or_else(none)?;
        if dem.broken() != Broken::default() {
            // The bonds that are there no more.
            let left: std::collections::HashSet<[u32; 2]> = dem.bond_pairs().id.iter().copied().collect();
            let gone = whole.id.iter().zip(whole.ends.iter()).filter(|(id, _)| !left.contains(*id));
            place = gone.map(|(_, [a, b])| 0.5 * (a.x + b.x)).fold(f64::INFINITY, f64::min);
            break;
        }
    }
    let mut found = Findings::default();
    found.set_up("grains", (nx * ny * nz).to_string());
    found.set_up("length of the slab", format!("{length} m"));
    found.set_up("breaks at", format!("{factor:.3} of its own pull"));
    // The pull at its crown, ρ L (f g sin θ − μ g cos θ), is that of a longer slab under its own weight.
    let own = (factor * sin - FRICTION * cos) / (sin - FRICTION * cos);
    found.found("length", length * own);
    found.found("place", place / length);
    found.plots.push(Plot {
        title: "A slab that hangs on its crown".into(),
        x: Axis::linear("pull over its own"),
        y: Axis::linear("stretch [mm]"),
        series: vec![Series::line("barchan", curve)],
    });
    Ok(found)
}
