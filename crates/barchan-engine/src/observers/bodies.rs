//! Where bodies are, how they move, and what is done to them.

use super::{Asked, Observer, View};
use crate::bodies::Named;
use barchan_io::csv::Column;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};
use glam::DVec3;

keys! {
    /// Place, orientation, velocity, spin, force and torque of every body.
    pub struct BodiesKeys = "write `bodies = {}`" {
    }
}

impl Measured for BodiesKeys {
    const KEY: &'static str = "bodies";
    const ABOUT: &'static str = "Place, orientation, velocity, spin, force and torque of every body.";
}

impl Asked for BodiesKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        Box::new(BodyPaths::new(crate::bodies::named(scene)))
    }
}

/// Place [m], orientation, velocity [m/s], spin [rad/s], and the force [N] and torque about the centre of mass [N m] of all
/// contacts, those with a continuum among them, of each body. One that has left has NaN.
pub struct BodyPaths {
    bodies: Vec<Named>,
}

impl BodyPaths {
    /// Of these bodies, whose names head the columns.
    pub fn new(bodies: Vec<Named>) -> BodyPaths {
        BodyPaths { bodies }
    }
}

impl Observer for BodyPaths {
    fn columns(&self) -> Vec<Column> {
        let of = |b: &Named| {
            let three = |what: &str, unit: &str| {
                ["x", "y", "z"].map(|a| Column::new(format!("{} {what} {a}", b.name), unit)).to_vec()
            };
            let turn = ["x", "y", "z", "w"].map(|a| Column::new(format!("{} orientation {a}", b.name), "")).to_vec();
            let motion =
                [three("velocity", "m/s"), three("spin", "rad/s"), three("force", "N"), three("torque", "N m")];
            [vec![three("position", "m"), turn], motion.to_vec()].concat().concat()
        };
        self.bodies.iter().flat_map(of).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let f = view.grains();
        let of = |b: &Named| {
            let Some(g) = f.id.iter().position(|id| *id == b.grain) else { return vec![f64::NAN; 19] };
            // What grains and other bodies do to it, and what a continuum has given it in the last step.
            let all = view.boundary.bodies.get(b.grain as usize).map(|b| (b.net, b.pushed()));
            let (force, torque) = all.map_or((DVec3::NAN, DVec3::NAN), |(net, pushed)| {
                (net.force + pushed.force / view.dt, net.torque + pushed.torque / view.dt)
            });
            let turn = f.orientation.get(g).copied().unwrap_or_default();
            let three = [f.velocity[g], f.spin[g], force, torque].map(|v| v.to_array()).concat();
            [&f.position[g].to_array()[..], &turn.to_array(), &three].concat()
        };
        self.bodies.iter().flat_map(of).collect()
    }
}
