//! Observers: what a run measures, one file each, one row at a time.
//!
//! An observer reads a [`View`] of the world and gives a row of numbers; it never changes the world. To add one, write
//! a file here with its keys ([`Asked`]) and its code ([`Observer`]), and one line in `KINDS`.

mod angles;
mod bodies;
mod cell;
mod cells;
mod coordination;
mod correlation;
mod count;
mod energy;
mod fields;
mod flow;
mod forces;
mod grains;
mod ground;
mod histogram;
mod images;
mod impact;
mod maps;
mod network;
mod packing;
mod phases;
mod pressure_on;
mod profile;
mod repose;
mod solids;
mod wall_forces;

pub use angles::ContactAngles;
pub use bodies::BodyPaths;
pub use cell::CellState;
pub use coordination::Coordination;
pub use correlation::ForceCorrelation;
pub use count::CountInRegion;
pub use energy::Energy;
pub use fields::{CELL_FIELDS, Fields};
pub use flow::Flow;
pub use forces::{Chosen, Force, OnSphere};
pub use grains::GrainPaths;
pub use ground::GroundAccount;
pub use histogram::ForceHistogram;
pub use impact::Impact;
pub use maps::{Maps, Thalweg};
pub use network::ForceNetwork;
pub use packing::Packing;
pub use pressure_on::PressureOn;
pub use profile::{PROFILE_FIELDS, Profile};
pub use repose::{Repose, Slope};
pub use wall_forces::WallForces;

use barchan_core::boundary::Boundary;
use barchan_core::columns::Column;
use barchan_core::frame::{Frame, Population};
use barchan_core::solver::{Contact, Coupling, Departed, Domain, Energies, Partner, Solvers};
use barchan_hybrid::ground::Ground;
use barchan_hybrid::rock::Rock;
use barchan_io::csv;
use barchan_io::raster::Raster;
use barchan_io::vti::CellGrid;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::{self, Measured, Vocabulary, What};
use barchan_scene::{Assets, Region, Scene};
use glam::DVec3;
use std::any::Any;

/// What an observer may look at.
pub struct View<'a> {
    /// What solvers have published.
    pub frame: &'a Frame,
    /// The solvers.
    pub solvers: &'a Solvers,
    /// What joins them.
    pub couplings: &'a [Box<dyn Coupling>],
    /// Walls and bodies.
    pub boundary: &'a Boundary,
    /// Where matter lives.
    pub domain: &'a Domain,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Length of the world step [s].
    pub dt: f64,
}

impl View<'_> {
    /// The grains; none where there are none.
    pub fn grains(&self) -> &Population {
        self.frame.grains()
    }

    /// Contacts of all solvers.
    pub fn contacts(&self) -> Vec<Contact> {
        self.solvers.iter().flat_map(|s| s.contacts()).collect()
    }

    /// Energies of all solvers.
    pub fn energies(&self) -> Energies {
        let mut sum = Energies::default();
        self.solvers.iter().for_each(|s| sum += s.totals().energies);
        sum
    }

    /// The ground, where there is one.
    pub fn ground(&self) -> Option<&Ground> {
        self.couplings.iter().find_map(|c| (c.as_ref() as &dyn Any).downcast_ref())
    }

    /// The rock, where there is some.
    pub fn rock(&self) -> Option<&Rock> {
        self.couplings.iter().find_map(|c| (c.as_ref() as &dyn Any).downcast_ref())
    }
}

/// A measurement that gives one row of numbers whenever it is due.
pub trait Observer: Send {
    /// Headings of the row. The time comes before them and is not listed.
    fn columns(&self) -> Vec<csv::Column>;

    /// The row at this instant, one number a heading.
    fn measure(&mut self, view: &View<'_>) -> Vec<f64>;

    /// Where its numbers lie, where they are fields on a grid: a row is then written as an image, not into a table.
    fn grid(&self) -> Option<CellGrid> {
        None
    }

    /// Takes what was read of the files that a scene names; `index` is that of the measurement.
    fn take_files(&mut self, _assets: &Assets, _index: usize) {}

    /// Fields on the grid of the ground with the names of their files, to be written wherever a run can be stopped; `run` is the name of the scene.
    fn rasters(&self, _run: &str) -> Vec<(String, Raster)> {
        Vec::new()
    }

    /// Texts with the names of their files, written with the rasters.
    fn texts(&self, _run: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Whether [`Observer::watch`] wants to be called between the rows.
    fn watches(&self) -> bool {
        false
    }

    /// Looks at the world, every few steps.
    fn watch(&mut self, _view: &View<'_>) {}

    /// What a sink or an open side took of a population, as it was when it left.
    fn departed(&mut self, _population: &str, _gone: &[Departed]) {}

    /// What must survive a checkpoint, as named columns.
    fn save(&self) -> Vec<(&'static str, Column)> {
        Vec::new()
    }

    /// Takes back what [`Observer::save`] gave; the sentence says what does not fit.
    fn load(&mut self, _columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        Ok(())
    }
}

/// Keys of a `[[measure]]`, and the observer that they ask for.
pub trait Asked: Measured {
    /// The observer.
    fn observer(&self, scene: &Scene) -> Box<dyn Observer>;
}

/// An observer that scenes can ask for.
#[derive(Clone, Copy)]
struct Kind {
    keys: measure::Kind,
    make: fn(&Scene, &What) -> Option<Box<dyn Observer>>,
}

impl Kind {
    const fn of<T: Asked>() -> Kind {
        Kind { keys: measure::Kind::of::<T>(), make: |scene, what| what.get::<T>().map(|keys| keys.observer(scene)) }
    }
}

/// All observers.
const KINDS: &[Kind] = &[
    Kind::of::<energy::EnergyKeys>(),
    Kind::of::<coordination::CoordinationKeys>(),
    Kind::of::<flow::FlowKeys>(),
    Kind::of::<count::CountKeys>(),
    Kind::of::<repose::ReposeKeys>(),
    Kind::of::<wall_forces::WallForcesKeys>(),
    Kind::of::<pressure_on::PressureOnKeys>(),
    Kind::of::<impact::ImpactKeys>(),
    Kind::of::<bodies::BodiesKeys>(),
    Kind::of::<grains::GrainsKeys>(),
    Kind::of::<cell::CellKeys>(),
    Kind::of::<ground::GroundKeys>(),
    Kind::of::<histogram::ForceHistogramKeys>(),
    Kind::of::<packing::PackingKeys>(),
    Kind::of::<profile::ProfileKeys>(),
    Kind::of::<fields::FieldsKeys>(),
    Kind::of::<network::ForceNetworkKeys>(),
    Kind::of::<correlation::ForceCorrelationKeys>(),
    Kind::of::<angles::ContactAnglesKeys>(),
    Kind::of::<maps::MapsKeys>(),
    Kind::of::<phases::PhasesKeys>(),
];

/// What scenes are read with: the keys of all observers.
pub const VOCABULARY: Vocabulary = Vocabulary { measures: &KEYS };

const KEYS: [measure::Kind; KINDS.len()] = {
    let mut keys = [KINDS[0].keys; KINDS.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = KINDS[i].keys;
        i += 1;
    }
    keys
};

/// The observer that a scene asks for; none where the scene was read without [`VOCABULARY`].
pub fn from_scene(scene: &Scene, what: &What) -> Option<Box<dyn Observer>> {
    KINDS.iter().find_map(|kind| (kind.make)(scene, what))
}

/// Checks a region that must be a box.
fn boxed(c: &mut Check, path: &str, region: &Region) {
    corners(c, path, region);
    let at = format!("{path}.{}", region.key());
    if !matches!(region, Region::Box { .. }) && c.given(&at) {
        c.error(at, "this measurement needs a box", "write `box = { min, max }`");
    }
}

/// Period of each direction [m], 0 where there is none.
fn period(scene: &Scene) -> DVec3 {
    let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
    DVec3::from_array(std::array::from_fn(|a| if periodic[a] { side[a] } else { 0.0 }))
}

/// All contacts; what touches the surface of a body touches the body.
fn contacts_of(view: &View<'_>) -> Vec<Contact> {
    let mut contacts = view.contacts();
    let carried = &view.boundary.fixtures().carried;
    if !carried.is_empty() {
        for c in &mut contacts {
            if let Partner::Wall(w) = c.partner
                && let Some(body) = carried.iter().find(|b| b.wall == w)
            {
                c.partner = Partner::Grain(body.body);
            }
        }
    }
    contacts
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::shapes::Shape;

    /// Spheres of one radius and unit mass, at rest, with ids in order.
    pub(super) fn frame(places: &[DVec3], radius: f64) -> Population {
        let n = places.len();
        Population {
            name: "grains".into(),
            position: places.to_vec().into(),
            velocity: vec![DVec3::ZERO; n].into(),
            spin: vec![DVec3::ZERO; n].into(),
            radius: vec![radius; n].into(),
            mass: vec![1.0; n].into(),
            id: (0..n as u32).collect(),
            material: vec![0; n].into(),
            shape: vec![0; n].into(),
            shapes: vec![Shape::sphere()].into(),
            ..Population::default()
        }
    }

    /// A contact without a force.
    pub(super) fn contact(grain: u32, partner: Partner) -> Contact {
        Contact {
            grain,
            partner,
            point: DVec3::ZERO,
            normal: DVec3::Z,
            overlap: 0.0,
            normal_force: 0.0,
            tangential_force: DVec3::ZERO,
            elastic_energy: 0.0,
            slide: DVec3::ZERO,
        }
    }
}
