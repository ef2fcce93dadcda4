//! Walls as a particle meets them: the mirror image behind each surface, friction along it, and what the wall feels.
//!
//! Reads the boundary; writes the contacts of one block. A contact holds for one step; its friction impulse is carried on to the contact of the
//! same particle with the same wall in the next. Several walls in a concave corner share it: their caps together are 1 − Π(1 − f), not Σ f.
//! The surfaces of a wall that has a volume map share what the map says is there.

use crate::maps::plane_volume;
use crate::mirror::{Mirror, cap};
use crate::settings::{Settings, WallFriction, WallShape};
use crate::state::nearest_image;
use barchan_core::boundary::{Body, Boundary};
use barchan_core::walls::{Geometry, Nearest, WallState};
use glam::{DMat3, DVec3};

/// Cosine of the angle within which two surfaces count as one, the nearer.
const SAME_DIRECTION: f64 = 0.9;
/// A friction impulse is carried on where the normal has turned by less than 60°.
const SAME_FACE: f64 = 0.5;
/// Least and greatest shape factor of a wall.
const SHAPES: [f64; 2] = [0.5, 2.0];

/// One wall as one particle meets it in a step.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Index of the wall.
    pub wall: u16,
    /// Whether matter sticks to it.
    pub rough: bool,
    /// Distance [m].
    pub distance: f64,
    /// Unit normal towards the particle.
    pub normal: DVec3,
    /// Nearest point of the wall [m].
    pub point: DVec3,
    /// What the wall adds to the density [kg/m³].
    pub density: f64,
    /// Gradient of that in the particle's position [kg/m⁴].
    pub gradient: DVec3,
    /// Coefficient of Coulomb friction, where the wall is not rough.
    pub friction: f64,
    /// Friction impulse on the particle [N s].
    pub slide: DVec3,
    /// Share of a particle's slip that one update may take away: less where the wall is a light body.
    pub answer: f64,
}

/// Contacts of the particles of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockContacts {
    /// Contacts of particle k are `starts[k]..starts[k + 1]`; empty where the block has none.
    starts: Vec<u32>,
    /// All of them.
    pub all: Vec<Contact>,
}

impl BlockContacts {
    /// Of as many contacts a particle, and all of them.
    pub fn new(counts: impl Iterator<Item = u32>, all: Vec<Contact>) -> BlockContacts {
        if all.is_empty() {
            return BlockContacts::default();
        }
        let mut starts = vec![0];
        let mut sum = 0;
        for n in counts {
            sum += n;
            starts.push(sum);
        }
        BlockContacts { starts, all }
    }

    /// Particles born since the contacts were found have none.
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        match self.starts.get(k..k + 2) {
            Some(&[from, to]) => from as usize..to as usize,
            _ => 0..0,
        }
    }

    /// Contacts of particle k of the block.
    pub fn of(&self, k: usize) -> &[Contact] {
        &self.all[self.range(k)]
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, k: usize) -> &mut [Contact] {
        let range = self.range(k);
        &mut self.all[range]
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        4 * self.starts.capacity() + self.all.capacity() * size_of::<Contact>()
    }
}

/// Visits the surfaces within `reach` [m] of a point: every local minimum of the distance, and the spheres of a rough wall not at all.
pub fn surfaces(
    boundary: &Boundary,
    states: &[WallState],
    x: DVec3,
    reach: f64,
    visit: &mut dyn FnMut(usize, Nearest),
) {
    for (w, (wall, state)) in boundary.walls().iter().zip(states).enumerate() {
        if wall.least_distance(state, x) > reach || !boundary.is_there(w) {
            continue;
        }
        let mut outside = false;
        wall.smooth_surfaces(state, x, reach, &mut |found| {
            outside |= found.distance > 0.0;
            visit(w, found);
        });
        if let (Geometry::Mesh(facets), true) = (&wall.geometry, outside) {
            let own = wall.to_initial(state, x);
            let mut triangles = Vec::new();
            facets.near(own, reach, &mut |t| triangles.push(t));
            // The nearest of all has been visited.
            for touch in facets.touches(own, reach, &triangles).iter().skip(1) {
                let normal = state.rotation * touch.normal;
                visit(w, Nearest { distance: touch.distance, normal, radius: 0.0 });
            }
        }
    }
}

/// The solid that a point [m] is inside of, and how deep [m]: of several the one it is deepest in.
pub fn inside(boundary: &Boundary, states: &[WallState], x: DVec3) -> Option<(usize, f64)> {
    let mut deepest: Option<(usize, f64)> = None;
    let mut visit = |w: usize, distance: f64| {
        if distance < 0.0 && deepest.is_none_or(|d| -distance > d.1) {
            deepest = Some((w, -distance));
        }
    };
    for (w, (wall, state)) in boundary.walls().iter().zip(states).enumerate() {
        if !boundary.is_there(w) || wall.least_distance(state, x) > 0.0 {
            continue;
        }
        match &wall.geometry {
            // The search for the surfaces of a mesh ends at its reach, and a solid may be deeper.
            Geometry::Mesh(facets) if facets.is_solid() => visit(w, wall.clearance(state, x)),
            _ => wall.smooth_surfaces(state, x, 0.0, &mut |near| visit(w, near.distance)),
        }
    }
    deepest
}

/// How far behind the face of a solid a particle has got through it, as a share of the spacing. What is pushed by two walls at once may be a little
/// behind one of them, and comes out again.
const THROUGH: f64 = 0.5;
/// Distance from a wall within which a way has met it, as a share of the spacing; nothing passes a rim as near as that.
const MET: f64 = 0.02;

/// What walls are to the particles of a step.
pub struct Surroundings<'a> {
    pub settings: &'a Settings,
    pub mirror: &'a Mirror,
    pub boundary: &'a Boundary,
    pub states: &'a [WallState],
}

impl Surroundings<'_> {
    /// Appends the contacts of a particle at `x` [m], which had `before` in the last step.
    pub fn meet(&self, x: DVec3, kind: u16, before: &[Contact], out: &mut Vec<Contact>) {
        let (reach, rest) = (self.settings.reach(), self.settings.bulk_density);
        let first = out.len();
        surfaces(self.boundary, self.states, x, self.mirror.reach(), &mut |w, near| {
            let same = out[first..].iter_mut().find(|c| c.normal.dot(near.normal) > SAME_DIRECTION);
            let wall = &self.boundary.walls()[w];
            let rough = self.settings.wall_friction == WallFriction::Rough || wall.rough.is_some();
            let pair = (self.settings.kinds[kind as usize].material, wall.material);
            let known = |m: u16| (m as usize) < self.settings.materials.len();
            let friction = if rough || !known(pair.0) || !known(pair.1) {
                0.0
            } else {
                self.settings.materials.pair(pair.0, pair.1).friction
            };
            let contact = Contact {
                wall: w as u16,
                rough,
                distance: near.distance,
                normal: near.normal,
                point: x - near.normal * near.distance,
                density: 0.0,
                gradient: DVec3::ZERO,
                friction,
                slide: DVec3::ZERO,
                answer: 1.0,
            };
            match same {
                Some(other) if other.distance <= near.distance => {}
                Some(other) => *other = contact,
                None => out.push(contact),
            }
        });
        let met = &mut out[first..];
        let crowd = self.crowd(met, reach);
        for k in 0..met.len() {
            let shape = self.shape(x, &met[k], met, reach);
            let contact = &mut met[k];
            let [psi, slope] = self.mirror.at(contact.distance);
            contact.density = rest * shape * crowd * psi;
            contact.gradient = contact.normal * (rest * shape * crowd * slope);
            let last = before.iter().find(|c| c.wall == contact.wall && c.normal.dot(contact.normal) > SAME_FACE);
            contact.slide = last.map_or(DVec3::ZERO, |c| c.slide - contact.normal * c.slide.dot(contact.normal));
        }
    }

    /// The wall that a particle at `x` [m] has got through and how far [m] it is behind: half a spacing inside a solid, or on the other side of a sheet
    /// than `dt` [s] ago, when its contacts were `before`.
    pub fn behind(
        &self,
        x: DVec3,
        before: &[Contact],
        met: &[Contact],
        motions: &[Motion],
        dt: f64,
    ) -> Option<(usize, f64)> {
        let d = self.settings.spacing;
        if let Some(c) = met.iter().find(|c| c.distance < -THROUGH * d) {
            return Some((c.wall as usize, -c.distance));
        }
        let turned =
            |b: &&Contact| b.distance > 0.0 && met.iter().any(|c| c.wall == b.wall && c.normal.dot(b.normal) < 0.0);
        before.iter().filter(turned).find_map(|b| {
            let (w, start) = (b.wall as usize, b.point + b.normal * b.distance);
            let drift = motions[w].at(b.point) * dt;
            let way = nearest_image(x - start, self.settings.domain.period()) - drift;
            let left = b.distance + b.normal.dot(way);
            if left >= 0.0 {
                return None;
            }
            // Where the way goes through the plane of the contact: in the wall, or beyond its rim.
            let at = start + drift + way * (b.distance / (b.distance - left));
            let mut in_wall = false;
            let (wall, state) = (&self.boundary.walls()[w], &self.states[w]);
            wall.smooth_surfaces(state, at, MET * d, &mut |_| in_wall = true);
            in_wall.then_some((w, -left))
        })
    }

    /// What the walls of a concave corner have of the place together, over the sum of what each would have alone. Surfaces of one wall that has a
    /// map count as one, the nearest: the map knows what they have together.
    fn crowd(&self, met: &[Contact], reach: f64) -> f64 {
        let counts = |k: usize| {
            let c = &met[k];
            let first = met.iter().position(|o| o.wall == c.wall) == Some(k);
            first || self.map(c.wall).is_none()
        };
        if (0..met.len()).filter(|&k| counts(k)).count() < 2 {
            return 1.0;
        }
        let caps = || (0..met.len()).filter(|&k| counts(k)).map(|k| cap(met[k].distance, reach));
        (1.0 - caps().map(|f| 1.0 - f).product::<f64>()) / caps().sum::<f64>()
    }

    fn map(&self, wall: u16) -> Option<&dyn WallShape> {
        self.settings.shapes.get(wall as usize)?.as_deref()
    }

    /// How much of a wall is there behind one of its surfaces, against a plane. Several surfaces of a wall share it by the planes that they would be.
    fn shape(&self, x: DVec3, contact: &Contact, met: &[Contact], reach: f64) -> f64 {
        let Some(map) = self.map(contact.wall) else { return 1.0 };
        let w = contact.wall as usize;
        let ratio = map.factor(self.boundary.walls()[w].to_initial(&self.states[w], x));
        let others = || met.iter().filter(|c| c.wall == contact.wall).map(|c| c.distance);
        let share = if others().count() < 2 {
            1.0
        } else {
            let planes: f64 = others().map(|d| plane_volume(d, reach)).sum();
            plane_volume(others().fold(f64::INFINITY, f64::min), reach) / planes.max(f64::MIN_POSITIVE)
        };
        (ratio * share).clamp(SHAPES[0], SHAPES[1])
    }
}

/// Force [N] and torque [N m] about its pivot on each wall.
pub type WallLoads = Vec<[DVec3; 2]>;

/// A wall's motion in an iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Motion {
    /// Velocity of the pivot [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
    /// Where the pivot is [m].
    pub pivot: DVec3,
}

impl Motion {
    /// Velocity of the wall's material at a point [m/s].
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(point - self.pivot)
    }
}

/// A body that yields within the iterations.
#[derive(Clone, Copy, Debug)]
pub struct Yielding {
    /// Its surface.
    pub wall: usize,
    /// Its id.
    pub body: usize,
    /// Velocity [m/s] and angular velocity [rad/s] at the end of the step without the continuum's push.
    alone: [DVec3; 2],
    inverse_mass: f64,
    inverse_inertia: DMat3,
}

impl Yielding {
    /// A body that has a surface, predicted over `ahead` [s] from the beginning of the world step.
    pub fn new(boundary: &Boundary, id: usize, body: &Body, ahead: f64) -> Option<Yielding> {
        let wall = body.wall.filter(|_| body.there && body.pose.inverse_mass > 0.0)? as usize;
        let (velocity, spin) = body.predicted(ahead, boundary.gravity);
        let (inverse_mass, inverse_inertia) = (body.pose.inverse_mass, body.inverse_inertia());
        Some(Yielding { wall, body: id, alone: [velocity, spin], inverse_mass, inverse_inertia })
    }

    /// How it moves at the end of a step of `dt` [s] under that force [N] and torque [N m].
    pub fn motion(&self, [force, torque]: [DVec3; 2], dt: f64, pivot: DVec3) -> Motion {
        let velocity = self.alone[0] + force * (dt * self.inverse_mass);
        let spin = self.alone[1] + self.inverse_inertia * (torque * dt);
        Motion { velocity, spin, pivot }
    }

    /// How much the surface yields to a unit impulse along `n` at a point [1/kg]: 1/M + (r×n)·I⁻¹(r×n).
    pub fn mobility(&self, point: DVec3, n: DVec3, pivot: DVec3) -> f64 {
        let arm = (point - pivot).cross(n);
        self.inverse_mass + arm.dot(self.inverse_inertia * arm)
    }
}
