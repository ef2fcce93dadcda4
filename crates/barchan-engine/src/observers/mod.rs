//! Observers: what a run measures, one file each, one row at a time.
//!
//! An observer reads the solver and a [`Frame`] and gives a row of numbers; it never changes the world. To add one, write
//! a file here that implements [`Observer`] and one line in [`from_scene`].

mod angles;
mod bodies;
mod cells;
mod coordination;
mod correlation;
mod count;
mod energy;
mod fields;
mod flow;
mod forces;
mod ground;
mod histogram;
mod images;
mod network;
mod packing;
mod profile;
mod repose;
mod solids;
mod wall_forces;

pub use angles::ContactAngles;
pub use bodies::BodyPaths;
pub use coordination::Coordination;
pub use correlation::ForceCorrelation;
pub use count::CountInRegion;
pub use energy::Energy;
pub use fields::{CELL_FIELDS, Fields};
pub use flow::Flow;
pub use forces::{Chosen, Force, OnSphere};
pub use ground::GroundAccount;
pub use histogram::ForceHistogram;
pub use network::ForceNetwork;
pub use packing::Packing;
pub use profile::{PROFILE_FIELDS, Profile};
pub use repose::{Repose, Slope};
pub use wall_forces::WallForces;

use crate::ground::Ground;
use barchan_core::frame::Frame;
use barchan_dem::{Column, Contact, Dem, Departed, Partner};
use barchan_io::csv;
use barchan_io::vti::CellGrid;
use barchan_scene::{Region, Scene, What};
use glam::DVec3;

/// What an observer may look at.
pub struct View<'a> {
    /// The solver.
    pub dem: &'a Dem,
    /// Its state, as readers see it, without the surface of the ground.
    pub frame: &'a Frame<'a>,
    /// The ground, where there is one.
    pub ground: Option<&'a Ground>,
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

    /// Whether [`Observer::watch`] wants to be called between the rows.
    fn watches(&self) -> bool {
        false
    }

    /// Looks at the world, every few steps.
    fn watch(&mut self, _view: &View<'_>) {}

    /// Grains that a sink or an open side took, as they were when they left.
    fn departed(&mut self, _gone: &[Departed]) {}

    /// What must survive a checkpoint, as named columns.
    fn save(&self) -> Vec<(&'static str, Column)> {
        Vec::new()
    }

    /// Takes back what [`Observer::save`] gave; the sentence says what does not fit.
    fn load(&mut self, _columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        Ok(())
    }
}

/// The observer that a scene asks for.
pub fn from_scene(scene: &Scene, what: &What) -> Box<dyn Observer> {
    let chosen = |within: &Option<Region>, layer: &Option<f64>| Chosen {
        within: within.as_ref().map(|r| r.to_core()),
        layer: *layer,
    };
    match what {
        What::Energy {} => Box::new(Energy),
        What::Coordination {} => Box::new(Coordination),
        What::Flow { point, normal } => {
            let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
            let shortest = (0..3).filter(|&a| periodic[a]).map(|a| side[a]).fold(f64::INFINITY, f64::min);
            Box::new(Flow::new(*point, *normal, 0.5 * shortest))
        }
        What::Count(region) => Box::new(CountInRegion::new(region.to_core())),
        What::Repose { point, along, flank, column, ceiling } => Box::new(Repose {
            point: *point,
            up: (-scene.gravity).normalize_or(DVec3::Z),
            along: *along,
            flank: *flank,
            column: *column,
            ceiling: ceiling.unwrap_or(f64::INFINITY),
        }),
        What::WallForces {} => {
            let walls = scene.walls.iter().map(|w| w.name.clone());
            Box::new(WallForces::new(walls.chain(scene.ground.iter().map(|_| "ground".into())).collect()))
        }
        What::Ground {} => Box::new(GroundAccount),
        What::Bodies {} => Box::new(BodyPaths::new(crate::bodies::named(scene))),
        What::ForceHistogram { bins, max } => Box::new(ForceHistogram::new(*bins as usize, *max)),
        What::ForceNetwork { within, layer } => Box::new(ForceNetwork::new(chosen(within, layer))),
        What::ForceCorrelation { bins, reach, within, layer } => {
            Box::new(ForceCorrelation::new(*bins as usize, *reach, chosen(within, layer)))
        }
        What::ContactAngles { bins, axis, within, layer } => {
            Box::new(ContactAngles::new(*bins as usize, *axis, chosen(within, layer)))
        }
        What::Packing { region, rattlers_below } => {
            // A grain is held by two contacts opposite each other only if they can rub.
            let rubs = scene.grains.iter().any(|g| scene.materials.get(&g.material).is_some_and(|m| m.friction > 0.0));
            let below = rattlers_below.unwrap_or(if rubs { 2 } else { 4 });
            Box::new(Packing::new(region.to_core(), period(scene), below as u32))
        }
        What::Fields { region, cells } => {
            let (min, max) = corners(region);
            Box::new(Fields::new(min, max, cells.map(|n| n as usize), period(scene)))
        }
        What::Profile { region, axis, bins } => {
            let (min, max) = corners(region);
            Box::new(Profile::new(min, max, *axis as usize, *bins as usize, period(scene)))
        }
    }
}

/// Corners of a box [m]; of any other region, which the scene's check refuses where a box is asked for, those of its bounds.
fn corners(region: &Region) -> (DVec3, DVec3) {
    match *region {
        Region::Box { min, max } => (min, max),
        _ => region.to_core().bounds(),
    }
}

/// Period of each direction [m], 0 where there is none.
fn period(scene: &Scene) -> DVec3 {
    let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
    DVec3::from_array(std::array::from_fn(|a| if periodic[a] { side[a] } else { 0.0 }))
}

/// All contacts; what touches the surface of a body touches the body.
fn contacts_of(view: &View<'_>) -> Vec<Contact> {
    let mut contacts = view.dem.contacts();
    let carried = &view.dem.settings().carried;
    if !carried.is_empty() {
        for c in &mut contacts {
            if let Partner::Wall(w) = c.partner
                && let Some(body) = carried.iter().find(|b| b.wall == w)
            {
                c.partner = Partner::Grain(body.grain);
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
    pub(super) fn frame(places: &[DVec3], radius: f64) -> Frame<'static> {
        let n = places.len();
        Frame {
            position: places.to_vec().into(),
            velocity: vec![DVec3::ZERO; n].into(),
            spin: vec![DVec3::ZERO; n].into(),
            radius: vec![radius; n].into(),
            mass: vec![1.0; n].into(),
            id: (0..n as u32).collect(),
            material: vec![0; n].into(),
            shape: vec![0; n].into(),
            shapes: vec![Shape::sphere()].into(),
            ..Frame::default()
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
        }
    }
}
