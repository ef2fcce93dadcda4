//! The bed that the measurements of Longmore 2009, 7.2 look at: grains settled in a cylinder with a rough floor and a smooth
//! wall, at rest under their own weight, and later under a plunger. It is built once a process and kept: eight cases look at it.

use super::shelf::{Shelf, locked};
use crate::{Bench, CaseError, Findings, Rig, Size};
use barchan_core::regions::Region;
use barchan_core::shapes::Shape;
use barchan_engine::observers::Chosen;
use glam::DVec3;
use std::sync::{Arc, Mutex, PoisonError};

/// Diameter of a sphere [m]; a tetrahedral grain has four.
pub const D: f64 = 2e-3;
/// Young's modulus [Pa]: under the weight of the bed overlaps are some thousandths of the diameter.
pub const YOUNG: f64 = 1e7;
pub const DENSITY: f64 = 2500.0;
pub const GRAVITY: f64 = 9.81;
/// Friction where there is some, as in the seed.
pub const FRICTION: f64 = 0.5;
/// Kinetic energy over m g d at which the bed rests.
pub const REST: f64 = 1e-7;
/// Time between looks [s].
const LOOK: f64 = 0.05;
/// Longest time to wait for rest [s].
const PATIENCE: f64 = 0.8;
/// Speed of the plunger at pace 1 [m/s].
pub const SPEED: f64 = 0.01;
/// Bins and reach of the correlation, in diameters.
pub const CORRELATION: (usize, f64) = (50, 5.0);
/// Bins of the contact angles.
pub const ANGLES: usize = 18;

/// What the bed is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// The seed's: four spheres at the corners of a tetrahedron.
    Tetrahedron,
    /// Silbert's.
    Sphere,
}

impl Grain {
    pub const BOTH: [Grain; 2] = [Grain::Tetrahedron, Grain::Sphere];

    pub fn name(self) -> &'static str {
        match self {
            Grain::Tetrahedron => "tetrahedral grains",
            Grain::Sphere => "spheres",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Grain::Tetrahedron => "tetrahedron",
            Grain::Sphere => "sphere",
        }
    }

    /// The one of two keys of criteria that belongs to it.
    pub fn pick(self, tetrahedron: &'static str, sphere: &'static str) -> &'static str {
        match self {
            Grain::Tetrahedron => tetrahedron,
            Grain::Sphere => sphere,
        }
    }

    /// Depth of the bed at a solid fraction of 0.6, in diameters: for tetrahedral grains that of 65,536 in a radius of 50 d.
    fn depth(self) -> f64 {
        match self {
            Grain::Tetrahedron => 22.0,
            Grain::Sphere => 14.0,
        }
    }

    /// Base and height of the bulk in diameters: some two to four away from floor and surface.
    fn bulk(self) -> (f64, f64) {
        (3.0, self.depth() - 6.0)
    }

    fn shape(self) -> Shape {
        match self {
            Grain::Tetrahedron => Shape::tetrahedron(1.2).unwrap_or_else(|_| Shape::sphere()),
            Grain::Sphere => Shape::sphere(),
        }
    }
}

/// What a bed is of, with which friction.
pub fn name(grain: Grain, friction: bool) -> String {
    format!("{}, μ {}", grain.name(), if friction { FRICTION } else { 0.0 })
}

/// Radius of the cylinder in diameters.
pub fn radius(size: Size) -> f64 {
    size.pick(8.0, 16.0, 50.0)
}

/// A bed at rest, and what was measured of it.
pub struct Bed {
    /// Normal and tangential forces in the bulk over the mean of their layer, as [`forces`] gives them.
    pub forces: Vec<[f64; 2]>,
    /// The same over one mean for all, as the seed takes them.
    pub plain: Vec<[f64; 2]>,
    /// Normal forces of the contacts in the bulk over the mean of their layer.
    pub contacts: Vec<f64>,
    /// Row of `force_network` with layers, without its time; and without layers.
    pub network: [Vec<f64>; 2],
    /// Row of `force_correlation` with layers, and without.
    pub correlation: [Vec<f64>; 2],
    /// Row of `contact_angles`.
    pub angles: Vec<f64>,
    /// Height of the grains' tops above the floor's bumps [m].
    pub height: f64,
    /// Of what it is, with which friction.
    pub name: String,
    about: Vec<(&'static str, String)>,
    /// The world, until a plunger takes it over.
    rig: Mutex<Option<Rig>>,
}

/// What is away from the walls, the floor and the surface.
fn bulk(size: Size, grain: Grain, layer: bool) -> Chosen {
    let (base, height) = grain.bulk();
    let (base, radius, height) = (DVec3::Z * base * D, (radius(size) - 2.0) * D, height * D);
    let within = Region::Cylinder { base, axis: DVec3::Z, radius, height };
    Chosen { within: Some(within), layer: layer.then_some(2.0 * D) }
}

/// Normal and tangential forces in the bulk, over the mean of their layer or of all: of every contact for spheres, as Silbert
/// takes them; of every sphere that bears one (the sum over its contacts) for tetrahedral grains, as the seed does,
/// which records what each particle experiences.
pub fn forces(rig: &Rig, size: Size, grain: Grain, layer: bool) -> Vec<[f64; 2]> {
    let bulk = bulk(size, grain, layer);
    match grain {
        Grain::Tetrahedron => {
            let frame = rig.world.frame();
            bulk.spheres(&rig.world.view(&frame)).iter().map(|s| [s.normal, s.tangential]).collect()
        }
        Grain::Sphere => {
            bulk.forces(rig.world.contacts(), rig.world.gravity()).iter().map(|f| [f.normal, f.tangential]).collect()
        }
    }
}

static BEDS: Shelf<(Bench, Grain, bool), Bed> = Shelf::new();

impl Bed {
    /// The bed of these grains, with friction or without, built where it was not yet.
    pub fn get(bench: &Bench, grain: Grain, friction: bool) -> Result<Arc<Bed>, CaseError> {
        BEDS.get((*bench, grain, friction), || build(bench, grain, friction))
    }

    /// The world at rest, for one to press on; built anew where it was taken before.
    pub fn take(bench: &Bench, grain: Grain, friction: bool) -> Result<Rig, CaseError> {
        let kept = locked(&Bed::get(bench, grain, friction)?.rig).take();
        match kept {
            Some(rig) => Ok(rig),
            None => build(bench, grain, friction)?
                .rig
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)
                .ok_or_else(|| CaseError::Unmeasured("the bed has no world to press on".into())),
        }
    }

    /// Writes down what was set up.
    pub fn describe(&self, found: &mut Findings) {
        for (what, value) in &self.about {
            found.set_up(format!("{}: {what}", self.name), value.clone());
        }
    }
}

/// The scene: grains above a rough floor, a plunger that waits above them.
fn scene(size: Size, grain: Grain, friction: bool) -> (String, u64) {
    let shape = grain.shape();
    let (r, wide) = (0.5 * D, radius(size) * D);
    let volume = shape.volume() * r.powi(3);
    let floor = std::f64::consts::PI * wide * wide;
    let count = (grain.depth() * D * floor * 0.6 / volume).round();
    // Room for random insertion of the grains' hulls at a fraction of 0.3. A lattice is denser and falls less far, but grains with
    // friction that fall from one keep its directions: their contact angles have its two peaks.
    let hull = shape.bounding_radius() * r;
    let room = count * 4.0 / 3.0 * std::f64::consts::PI * hull.powi(3) / 0.3 / floor;
    let (base, mu) = (1.5 * D, if friction { FRICTION } else { 0.0 });
    let top = base + room + D;
    let text = format!(
        r#"
        duration = 100
        gravity = [0, 0, -{GRAVITY}]
        [domain]
        min = [{low}, {low}, {low}]
        max = [{high}, {high}, {sky}]
        [materials.grain]
        density = {DENSITY}
        young = {YOUNG}
        poisson = 0.25
        restitution = 0.5
        friction = {mu}
        [integrator]
        max_overlap = 0.3
        [[grains]]
        material = "grain"
        shape = "{shape}"
        radius = {r}
        fill = {{ cylinder = {{ base = [0, 0, {base}], radius = {wide}, height = {room} }}, method = "random", count = {count} }}
        [[walls]]
        name = "floor"
        material = "grain"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        rough = {{ radius = {r}, spacing = {spacing} }}
        [[walls]]
        name = "mantle"
        material = "grain"
        cylinder = {{ base = [0, 0, 0], radius = {wide}, height = {sky} }}
        [[walls]]
        name = "plunger"
        material = "grain"
        disc = {{ centre = [0, 0, {top}], normal = [0, 0, -1], radius = {plate} }}
        velocity = [0, 0, -{SPEED}]
        [[measure]]
        energy = {{}}
        every = {LOOK}
        [[measure]]
        coordination = {{}}
        every = {LOOK}
        {measures}
        "#,
        low = -1.1 * wide - D,
        high = 1.1 * wide + D,
        sky = top + D,
        shape = grain.key(),
        spacing = 1.2 * D,
        plate = wide - 0.05 * D,
        measures = measures(size, grain),
    );
    (text, count as u64)
}

/// Measurements in the region of [`bulk`], with layers and without.
fn measures(size: Size, grain: Grain) -> String {
    let (base, height) = grain.bulk();
    let (base, radius, height) = (base * D, (radius(size) - 2.0) * D, height * D);
    let layer = format!("layer = {}, ", 2.0 * D);
    let correlation = format!("bins = {}, reach = {}, ", CORRELATION.0, CORRELATION.1);
    [
        ("network", "force_network", layer.clone()),
        ("plain network", "force_network", String::new()),
        ("correlation", "force_correlation", format!("{correlation}{layer}")),
        ("plain correlation", "force_correlation", correlation),
        ("angles", "contact_angles", format!("bins = {ANGLES}, {layer}")),
    ]
    .map(|(name, what, keys)| {
        format!(
            "[[measure]]\nname = \"{name}\"\nevery = {LOOK}\n{what} = {{ {keys}within = {{ cylinder = {{ \
             base = [0, 0, {base}], radius = {radius}, height = {height} }} }} }}\n"
        )
    })
    .concat()
}

fn build(bench: &Bench, grain: Grain, friction: bool) -> Result<Bed, CaseError> {
    // All steps among rayon's threads: woken once, not in every step.
    rayon::scope(|_| settle(bench, grain, friction))
}

fn settle(bench: &Bench, grain: Grain, friction: bool) -> Result<Bed, CaseError> {
    let (text, count) = scene(bench.size, grain, friction);
    let mut rig = Rig::new(&text, bench)?;
    // The plunger waits.
    rig.world.set_wall_pace(0.0);
    let kinetic = come_to_rest(&mut rig, PATIENCE)?;
    let frame = rig.world.frame().grains().clone();
    // The mean of the highest hundredth, so that one grain on top of the others does not count.
    let mut tops: Vec<f64> = frame.spheres().map(|s| s.centre.z + s.radius).collect();
    tops.sort_by(|a, b| b.total_cmp(a));
    let few = (tops.len() / 100).max(1);
    let height = tops[..few].iter().sum::<f64>() / few as f64 - D;
    drop(frame);
    let row = |name: &str| rig.rows(name).last().map_or(vec![], |r| r[1..].to_vec());
    let coordination = row("coordination");
    let (dt, reason) = (rig.world.plan().dt, rig.world.plan().dt_reason.clone());
    let about = vec![
        ("grains", format!("{count} in a cylinder of radius {} d, {:.1} d deep", radius(bench.size), height / D)),
        ("at rest after", format!("{:.2} s, {} steps of {dt:.2e} s ({reason})", rig.world.time(), rig.world.steps())),
        ("kinetic energy of nine in ten over m g d", format!("below {kinetic:.1e}")),
        ("contacts a grain", format!("{:.2}", coordination[0])),
        ("largest overlap over the diameter", format!("{:.4}", 0.5 * coordination[1])),
    ];
    Ok(Bed {
        forces: forces(&rig, bench.size, grain, true),
        plain: forces(&rig, bench.size, grain, false),
        contacts: bulk(bench.size, grain, true)
            .forces(rig.world.contacts(), rig.world.gravity())
            .iter()
            .map(|f| f.normal)
            .collect(),
        network: [row("network"), row("plain network")],
        correlation: [row("correlation"), row("plain correlation")],
        angles: row("angles"),
        height,
        name: name(grain, friction),
        about,
        rig: Mutex::new(Some(rig)),
    })
}

/// Steps until the kinetic energy is low enough, at least one look and at most so long [s]; gives it over m g d.
pub fn come_to_rest(rig: &mut Rig, patience: f64) -> Result<f64, CaseError> {
    let until = rig.world.time() + patience;
    loop {
        let kinetic = next_look(rig)?;
        if kinetic < REST || rig.world.time() >= until {
            return Ok(kinetic);
        }
    }
}

/// Steps to the next row, and gives the kinetic energy over m g d there.
fn next_look(rig: &mut Rig) -> Result<f64, CaseError> {
    let before = rig.rows("energy").len();
    while rig.rows("energy").len() == before {
        rig.step()?;
    }
    Ok(kinetic(rig))
}

/// Kinetic energy over m g d that nine grains in ten stay below. The liveliest tenth is left out: without friction a few slide about
/// on the surface long after the bed stands still.
fn kinetic(rig: &Rig) -> f64 {
    let frame = rig.world.frame().grains().clone();
    let energy = |g: usize| {
        let shape = &frame.shapes[frame.shape[g] as usize];
        let gyration = shape.inertia().max_element() / shape.volume() * frame.radius[g].powi(2);
        0.5 * (frame.velocity[g].length_squared() + gyration * frame.spin[g].length_squared()) / (GRAVITY * D)
    };
    let mut all: Vec<f64> = (0..frame.len()).map(energy).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() * 9 / 10).copied().unwrap_or(f64::NAN)
}
