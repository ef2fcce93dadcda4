//! Bearing: what the ground does to a body that presses it, and the body to the ground.
//!
//! Each column under the body is a small elasto-plastic stop. Its top is inside the body by an overlap δ; it pushes back with
//!   σ = k (δ + τ δ̇),   0 ≤ σ ≤ σ_y,
//! δ taken along the normal, and where k δ would pass the yield stress σ_y its top is lowered until it does not; what it held is displaced
//! ([`Columns::push`]). Below yield nothing moves: a body at rest stays. The yield stress grows with the depth d below the
//! undisturbed surface (`level.rs`) and with the speed v_n at which the surface goes into the soil,
//!   σ_y = (c N_c + K ρ g d) m + ρ v_n².
//! - K ρ g d summed over the columns is K ρ g V, the law of Archimedes for sand [Kang, Feng, Liu, Blumenfeld 2018]; it is
//!   what resistive-force theory has for a level plate that is pushed down [Li, Zhang, Goldman 2013].
//! - m = χ + (1 − χ) √(1 − s²), s the share of the friction that is mobilised, χ = 0.375: a plate that slides bears
//!   0.375 + 0.625 sin γ of what it bears going down, γ being how steeply it goes [Li et al. 2013, their general
//!   coefficients at β = 0, from memory]; likewise a footing under an inclined load. An upright face that is pushed
//!   level feels χ too (theirs: 0.37).
//! - ρ v_n² is the momentum of the sand that is set in motion [Katsuragi, Durian 2007].
//!
//! The stress acts along the normal of the body's surface, found from the undersides of neighbouring columns. At the edge of
//! the body the surface rises to the soil beside it, so that an upright face of height H feels ½ σ_y H a width: its stress
//! grows linearly from the surface down, and its drag with the square of the depth.
//! Friction is a spring of the soil's shear length, up to grip · σ; the displacement of each column is remembered
//! ([`Stand`]). Over the length of a wheel's contact that is the law of Janosi and Hanamoto 1961 with a straight rise.
//!
//! **Time.** The body is integrated by others with the force found here, at every step of theirs. The stiffness of the
//! soil is taken as it is or, where a step `dt` could not resolve it, lower: for a body of inverse mass matrix W and
//! contact directions N the largest frequency is at most ω² = k |W Σ A N N|, and ω dt is kept to 1/2. Stress is never more
//! than this spring gives, so yield, however stiff, cannot make a step unstable. The overlap at rest is then some g (2 dt)²,
//! 40 µm at a millisecond; depth is counted to the body's own underside, so it does not enter the balance.
//! Damping near critical leaves next to nothing of the elastic rebound.
//!
//! Cost: some 100 ns a column in contact, and a distance map over the patch when something yields.

use crate::columns::{Columns, HELD};
use crate::grid::{Area, QUANTUM, metres};
use crate::level::Level;
use crate::patch::Patch;
use crate::push::{Contact, Push};
use glam::{DMat3, DVec2, DVec3};

/// Square of the largest ω dt of the elastic bearing.
const RESOLVED: f64 = 0.25;
/// Damping of the elastic bearing, of critical; at ω dt = 1/2 an explicit step could take twice as much.
const DAMPING: f64 = 0.9;
/// What a plate bears that slides level, of what it bears that goes straight down.
const SLIDING: f64 = 0.375;

/// Speed [m/s] below which a body has no direction: what comes to rest quivers, and would be let down by it.
const SLOW: f64 = 0.01;
/// Gap below the body, in cells, at which it still keeps others' sand from sliding there. Without it a body that quivers by
/// a picometre lets sand in and presses it out again.
const NEAR: f64 = 1.0 / 256.0;

/// How a body moves that presses the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    /// Centre of mass [m]; of a driven body the point about which the torque is wanted.
    pub centre: DVec3,
    /// Velocity of the centre [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
    /// One over the mass [1/kg]; 0 for a body that is driven.
    pub inverse_mass: f64,
    /// Inverse of the tensor of inertia in the world's frame [1/(kg m²)]; 0 for a body that is driven.
    pub inverse_inertia: DMat3,
}

/// What is remembered of a body that stands on the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Stand {
    /// Columns it stands on, in the order of their numbers.
    pub columns: Vec<u32>,
    /// How far the body has moved against each since it came to stand on it, seen from above [m], at most the soil's shear length.
    pub slip: Vec<DVec2>,
    /// Stiffness of the bearing [Pa/m]; infinite while it stands on nothing.
    pub stiffness: f64,
}

impl Default for Stand {
    fn default() -> Stand {
        Stand { columns: Vec::new(), slip: Vec::new(), stiffness: f64::INFINITY }
    }
}

/// What the ground does to a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bearing {
    /// Force on the body [N].
    pub force: DVec3,
    /// Torque on the body about its centre [N m].
    pub torque: DVec3,
    /// What the body did to the ground.
    pub push: Push,
}

/// One column under a body.
struct Footing {
    column: usize,
    /// From the body's centre to its underside over the column [m].
    arm: DVec3,
    /// Outwards of the body, not of unit length: the slope of its underside along x and y, and −1.
    normal: DVec3,
    /// Velocity of the body there [m/s].
    velocity: DVec3,
    overlap: f64,
    /// Below the undisturbed surface [m].
    depth: f64,
    stress: f64,
    slip: DVec2,
}

impl Columns {
    /// Lets a body press the ground for a step of `dt` [s] under `gravity` [m/s²] downwards.
    pub fn bear(&mut self, patch: &Patch, body: &Mover, stand: &mut Stand, gravity: f64, dt: f64) -> Bearing {
        let mut footings = self.footings(patch, body);
        self.hand_on(&mut footings, stand);
        if footings.is_empty() {
            *stand = Stand::default();
            return Bearing::default();
        }
        let cell = self.grid.cell * self.grid.cell;
        let soil = self.soil.strength;
        let rate = cell * rate(&footings, body);
        // Once lowered it stays so while the body stands: a spring that stiffens gives more than it took.
        let resolved = if rate > 0.0 { RESOLVED / (dt * dt * rate) } else { f64::INFINITY };
        let stiffness = stand.stiffness.min(soil.stiffness).min(resolved);
        stand.stiffness = stiffness;
        let relax = 2.0 * DAMPING * if rate > 0.0 { (stiffness * rate).sqrt().recip() } else { dt / RESOLVED.sqrt() };

        let (crust, growth) = (soil.crust(), soil.buoyancy() * soil.density * gravity);
        let mut push = Push::default();
        for f in &mut footings {
            // How fast the body's surface goes into the soil, and how far it is in, along its normal.
            let steep = f.normal.length();
            let (into, stiffness) = (f.velocity.dot(f.normal), stiffness / steep);
            let mobilised = (tangent(f).length() / soil.shear).min(1.0);
            // The share of level motion in going in or out; alike ahead and behind, or a body that sinks would be drawn to
            // the side it strays to.
            let level = f.velocity.truncate().dot(f.normal.truncate()).abs();
            let level = level / (level + f.velocity.z.abs() + SLOW);
            let sliding =
                (1.0 - (1.0 - SLIDING) * level).min(SLIDING + (1.0 - SLIDING) * (1.0 - mobilised * mobilised).sqrt());
            let still = crust + growth * f.depth.max(0.0);
            let momentum = soil.density * (into.max(0.0) / steep).powi(2);
            let yielding = still * sliding + momentum;
            let lowered = ((f.overlap - yielding / stiffness).max(0.0) / QUANTUM) as i64;
            let there = self.height[f.column];
            push.contacts.push(Contact { column: f.column as u32, overlap: lowered.min(there) });
            // The floor below does not yield.
            let (left, most) = if lowered <= there {
                (f.overlap.min(yielding / stiffness), yielding)
            } else {
                (f.overlap - metres(there), f64::INFINITY)
            };
            f.stress = (stiffness * (left + relax * into)).clamp(0.0, most);
        }
        let mut bearing = self.friction(&mut footings, body, dt);
        for f in &footings {
            let force = -f.stress * cell * f.normal;
            bearing.force += force;
            bearing.torque += f.arm.cross(force);
        }
        stand.slip = footings.iter().map(|f| f.slip).collect();
        self.settle(patch.area, &mut push);
        for f in &footings {
            self.mark[f.column] |= HELD;
        }
        Bearing { push, ..bearing }
    }

    /// Columns whose tops are inside the body.
    fn footings(&self, patch: &Patch, body: &Mover) -> Vec<Footing> {
        let (nx, Area { low, high }) = (self.grid.size[0], patch.area);
        let mut found = Vec::new();
        let (mut from, mut to, mut deepest, mut highest) =
            (DVec2::INFINITY, DVec2::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY);
        let floor = self.grid.origin.z;
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                let (column, z) = (x + y * nx, patch.at(x, y));
                let top = floor + metres(self.height[column]);
                if z > top + NEAR * self.grid.cell {
                    continue;
                }
                let at = self.grid.centre(column);
                (from, to) = (from.min(at), to.max(at));
                (deepest, highest) = (deepest.min(z), highest.max(top));
                let arm = at.extend(z) - body.centre;
                let velocity = body.velocity + body.spin.cross(arm);
                let overlap = top - z;
                found.push(Footing {
                    column,
                    arm,
                    normal: DVec3::NEG_Z,
                    velocity,
                    overlap,
                    depth: 0.0,
                    stress: 0.0,
                    slip: DVec2::ZERO,
                });
            }
        }
        if !found.is_empty() {
            let half = 0.5 * self.grid.cell;
            let level = self.level_round(from - half, to + half, highest - deepest, highest);
            for f in &mut found {
                let z = f.arm.z + body.centre.z;
                f.normal = self.slope(patch, &level, f.column, z).extend(-1.0);
                f.depth = level.at(self.grid.centre(f.column)) - z;
            }
        }
        found
    }

    /// Slope of the body's surface at a column, as far as it is in the soil: beside the body it rises to the soil's surface.
    fn slope(&self, patch: &Patch, level: &Level, column: usize, z: f64) -> DVec2 {
        let [nx, ny] = self.grid.size;
        let (x, y) = (column % nx, column / nx);
        let surface = |x: usize, y: usize| {
            if x >= nx || y >= ny {
                return z;
            }
            let (there, over) = (x + y * nx, patch.at(x, y));
            let top = self.grid.origin.z + metres(self.height[there]);
            if over <= top { over } else { over.min(top.min(level.at(self.grid.centre(there))).max(z)) }
        };
        let along_x = surface(x + 1, y) - surface(x.wrapping_sub(1), y);
        let along_y = surface(x, y + 1) - surface(x, y.wrapping_sub(1));
        DVec2::new(along_x, along_y) / (2.0 * self.grid.cell)
    }

    /// Gives footings the slip that is remembered of their columns, and lets go of columns that the body has left.
    fn hand_on(&mut self, footings: &mut [Footing], stand: &mut Stand) {
        let mut at = 0;
        let mut left = Vec::new();
        for f in footings.iter_mut() {
            while at < stand.columns.len() && (stand.columns[at] as usize) < f.column {
                left.push(stand.columns[at]);
                at += 1;
            }
            if stand.columns.get(at) == Some(&(f.column as u32)) {
                f.slip = stand.slip[at];
                at += 1;
            }
        }
        left.extend_from_slice(&stand.columns[at.min(stand.columns.len())..]);
        for column in left {
            self.mark[column as usize] &= !HELD;
            self.wake(column as usize);
        }
        stand.columns = footings.iter().map(|f| f.column as u32).collect();
    }

    /// Shears the soil on, and adds up what it resists.
    fn friction(&self, footings: &mut [Footing], body: &Mover, dt: f64) -> Bearing {
        let soil = self.soil.strength;
        let cell = self.grid.cell * self.grid.cell;
        let largest = |f: &Footing| soil.grip * f.stress * cell * f.normal.length();
        let yields = |f: &Footing| {
            let arm = f.arm.length_squared();
            let turning = body.inverse_inertia;
            body.inverse_mass + arm * (turning.x_axis.x + turning.y_axis.y + turning.z_axis.z)
        };
        let sum: f64 = footings.iter().map(|f| largest(f) * yields(f)).sum();
        // As for the normal stress, softer than the soil where the step asks for it.
        let shear = soil.shear.max(sum * dt * dt / RESOLVED);
        let relax = if sum > 0.0 { 2.0 * DAMPING * (shear / sum).sqrt() } else { 0.0 };
        let mut bearing = Bearing::default();
        for f in footings {
            // Of level motion alone: what rubs along the flanks of a body that goes straight down is in the factor K.
            let level = f.velocity.with_z(0.0);
            let along = level - f.normal * (level.dot(f.normal) / f.normal.length_squared());
            f.slip += along.truncate() * dt;
            let slid = tangent(f).length();
            if slid > shear {
                f.slip *= shear / slid;
            }
            let pull = -largest(f) / shear * (tangent(f) + relax * along);
            let pull = pull.clamp_length_max(largest(f));
            bearing.force += pull;
            bearing.torque += f.arm.cross(pull);
        }
        bearing
    }
}

/// A bound of ω² for a stiffness of 1 Pa/m over columns of 1 m² [m²/kg]: the Frobenius norm of W G, where W is the inverse
/// of the mass matrix and G the sum over the contact directions.
fn rate(footings: &[Footing], body: &Mover) -> f64 {
    let mut g = [DMat3::ZERO; 3];
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for f in footings {
        let (along, turning, share) = (f.normal, f.arm.cross(f.normal), f.normal.length_recip());
        g[0] += share * outer(along, along);
        g[1] += share * outer(along, turning);
        g[2] += share * outer(turning, turning);
    }
    let trace = |m: DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let (w, j, [a, b, c]) = (body.inverse_mass, body.inverse_inertia, g);
    let squared = w * w * trace(a * a) + 2.0 * w * trace(b * j * b.transpose()) + trace(j * c * j * c);
    squared.sqrt()
}

/// The slip along the body's surface [m].
fn tangent(f: &Footing) -> DVec3 {
    f.slip.extend(f.slip.dot(f.normal.truncate()))
}
