//! A funnel that empties: the set-up of the cases `orifice` and `beverloo`.

use super::bulk::{D, DENSITY, G, head, overlap, tick};
use crate::fit::{Value, block_mean};
use crate::{Bench, CaseError, Rig};
use std::f64::consts::PI;

/// A funnel of 45° under a cylinder twice as wide as the hole.
#[derive(Clone, Copy, Debug)]
pub struct Silo {
    /// Diameter of the hole over that of a sphere.
    pub hole: f64,
    /// Height to which the cylinder is filled, loosely, over the hole's diameter.
    pub depth: f64,
    /// Friction between grains.
    pub friction: f64,
    /// Friction at the walls.
    pub wall_friction: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Shape of the grains, a built-in one.
    pub shape: &'static str,
    /// How long a shutter holds the grains while they settle, in √(d/g); 0: there is none.
    pub settling: f64,
    /// Longest time of emptying that is watched, in √(d/g).
    pub ticks: f64,
}

/// What a funnel showed.
#[derive(Clone, Debug)]
pub struct Outflow {
    /// Time since the start [s] and grains still above the hole.
    pub left: Vec<[f64; 2]>,
    /// The first of those rows from which on the rate is taken.
    pub from: usize,
    /// Mass rate [kg/s].
    pub rate: Value,
    /// Rates of the window's rows [s], [kg/s].
    pub rates: Vec<[f64; 2]>,
    /// Bulk density of the flowing bed [kg/m³].
    pub bulk: f64,
    /// Grains at the start.
    pub grains: usize,
    /// Largest overlap over a sphere's diameter while the rate was taken.
    pub overlap: f64,
}

impl Silo {
    fn text(&self) -> String {
        let (r, wide) = (0.5 * self.hole * D, self.hole * D);
        // Tetrahedral grains of random orientation stand on a lattice of their bounding spheres: two and a half times looser.
        let loose = if self.shape == "sphere" { 1.0 } else { 2.5 };
        let top = self.depth * loose * self.hole * D;
        // In the cylinder's lower half, where grains come down as a plug.
        let (low, high) = (r + 1.0 * D, r + 1.0 * D + 0.35 * wide);
        // It drops at once and goes on falling, ahead of the grains.
        let shutter = format!(
            r#"
            [[walls]]
            name = "shutter"
            material = "wall"
            disc = {{ centre = [0, 0, 0], normal = [0, 0, 1], radius = {r} }}
            velocity = [0, 0, {}]
            from = {}
            until = {}
            "#,
            -5.0 * D / tick(),
            self.settling * tick(),
            (self.settling + 5.0) * tick(),
        );
        format!(
            r#"{head}
            [domain]
            min = [-{side}, -{side}, -{below}]
            max = [{side}, {side}, {ceiling}]
            [materials.wall]
            density = {DENSITY}
            young = {young}
            restitution = 0.5
            friction = {wall}
            [[pairs]]
            between = ["grain", "wall"]
            friction = {wall}
            [[grains]]
            material = "grain"
            shape = "{shape}"
            radius = {radius}
            fill = {{ cylinder = {{ base = [0, 0, {r}], axis = [0, 0, 1], radius = {clear}, height = {top} }} }}
            [[walls]]
            name = "funnel"
            material = "wall"
            cone = {{ base = [0, 0, 0], axis = [0, 0, 1], radius_base = {r}, radius_top = {wide}, height = {r} }}
            [[walls]]
            name = "mantle"
            material = "wall"
            cylinder = {{ base = [0, 0, {r}], axis = [0, 0, 1], radius = {wide}, height = {top} }}
            {shutter}
            [[sinks]]
            below = {{ point = [0, 0, {drop}], normal = [0, 0, 1] }}
            [[measure]]
            name = "flow"
            flow = {{ point = [0, 0, 0] }}
            every = {every}
            [[measure]]
            name = "bed"
            count = {{ cylinder = {{ base = [0, 0, {low}], axis = [0, 0, 1], radius = {within}, height = {slab} }} }}
            every = {every}
            "#,
            head = head(self.young, self.friction),
            shutter = if self.settling > 0.0 { &shutter } else { "" },
            side = wide + D,
            below = 30.0 * D,
            ceiling = top + r + 2.0 * D,
            young = self.young,
            wall = self.wall_friction,
            shape = self.shape,
            radius = 0.5 * D,
            clear = wide - 0.01 * D,
            drop = -3.0 * D,
            every = tick() / 2.0,
            within = wide - D,
            slab = high - low,
        )
    }

    /// Empties it until the bed is as deep as the hole is wide, or the time is over. The rate is that from the moment when
    /// a tenth of the grains has left.
    pub fn run(&self, bench: &Bench) -> Result<Outflow, CaseError> {
        let mut rig = Rig::new(&self.text(), bench)?;
        let grains = rig.world.frame().len();
        // Those in cone and cylinder up to a depth of one diameter of the hole, at a volume fraction of 0.58.
        let kept =
            0.58 * PI * (0.875 / 3.0 + 0.5) * (self.hole * D).powi(3) * DENSITY / rig.world.frame().grains().mass[0];
        let enough = grains as f64 - kept;
        let mut largest: f64 = 0.0;
        let start = 0.1 * grains as f64;
        let mut rows = 0;
        loop {
            rig.step()?;
            let now = rig.rows("flow");
            if now.len() == rows {
                continue;
            }
            rows = now.len();
            let gone = now[rows - 1][1];
            if gone >= start {
                largest = largest.max(overlap(&rig));
            }
            let opened = now.iter().find(|r| r[1] >= start).map_or(f64::INFINITY, |r| r[0]);
            if gone >= enough || rig.world.time() > opened + self.ticks * tick() {
                break;
            }
            if rig.world.time() > (self.settling + 10.0 * self.ticks) * tick() {
                return Err(CaseError::Unmeasured(format!("the hole of {} d has blocked", self.hole)));
            }
        }
        let flow = rig.rows("flow");
        let left: Vec<[f64; 2]> = flow.iter().map(|r| [r[0], grains as f64 - r[1]]).collect();
        let from = flow.iter().position(|r| r[1] >= start).unwrap_or(0) + 1;
        let rates: Vec<[f64; 2]> = flow[from..].iter().map(|r| [r[0], r[4]]).collect();
        let rate = block_mean(&rates.iter().map(|r| r[1]).collect::<Vec<_>>());
        let rate = rate.ok_or_else(|| CaseError::Unmeasured("too few grains to tell a rate".into()))?;
        let slab = 0.35 * self.hole * D * PI * (self.hole * D - D).powi(2);
        let bed = &rig.rows("bed")[from..];
        // The level has come down to the slab at the end: the first half of the window counts.
        let half = &bed[..bed.len().div_ceil(2)];
        let bulk = half.iter().map(|r| r[2] / slab).sum::<f64>() / half.len() as f64;
        Ok(Outflow { left, from, rate, rates, bulk, grains, overlap: largest })
    }

    /// Mass rate over ρ √g d^(5/2), with that bulk density [kg/m³].
    pub fn reduced(rate: f64, bulk: f64) -> f64 {
        rate / (bulk * G.sqrt() * D.powf(2.5))
    }
}
