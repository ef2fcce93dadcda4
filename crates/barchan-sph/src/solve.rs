//! The iterations: velocities from stresses, stresses from velocities, and the repair of density.

use crate::flow::Flow;
use crate::passes::{Block, Passes, Precision, Sweep, Update};
use crate::prepare::LEAST_BLOCKS;
use crate::rheology::{Law, Sym, deviator, project};
use crate::settings::{Friction, Pressure};
use crate::state::{BLOCK, Local, Stress, deviatoric, vector};
use crate::walls::{BlockContacts, Contact, Motion, WallLoads};
use barchan_core::parallel;
use barchan_core::simd::Real;
use glam::DVec3;

/// How far an iteration was from its aim.
#[derive(Clone, Copy, Debug, Default)]
pub struct Residual {
    /// Sum of density errors, as shares of the rest density.
    density: f64,
    /// Sum of strains that friction should have held.
    strain: f64,
    /// Particles under pressure.
    active: usize,
    /// Sum of (y − x)·(x − x_before), in the problem's own norm: positive where the momentum of the iterations points away from the aim.
    pub uphill: f64,
    /// Largest density error with the strain that friction should have held, and the slot it is of.
    pub worst: (f64, usize),
}

impl Residual {
    /// From sums over some particles, of which so many are under pressure.
    pub fn new(density: f64, strain: f64, active: usize, uphill: f64) -> Residual {
        Residual { density, strain, active, uphill, worst: (0.0, 0) }
    }

    /// Takes an error for the largest if it is.
    pub fn note_worst(&mut self, error: f64, slot: usize) {
        if error > self.worst.0 {
            self.worst = (error, slot);
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.active.max(1) as f64
    }

    /// Mean density error of particles under pressure.
    pub fn density(&self) -> f64 {
        self.mean(self.density)
    }

    /// Mean strain that friction should have held.
    pub fn strain(&self) -> f64 {
        self.mean(self.strain)
    }

    /// Both together.
    pub fn total(&self) -> f64 {
        self.mean(self.density + self.strain)
    }

    /// Whether both are within a tolerance.
    pub fn is_below(&self, tolerance: f64) -> bool {
        self.density() < tolerance && self.strain() < tolerance
    }

    fn add(&mut self, other: &Residual) {
        self.density += other.density;
        self.strain += other.strain;
        self.active += other.active;
        self.uphill += other.uphill;
        self.note_worst(other.worst.0, other.worst.1);
    }
}

/// σ · n of a symmetric tensor.
fn times(s: &Sym, n: DVec3) -> DVec3 {
    DVec3::new(
        s[0] * n.x + s[3] * n.y + s[4] * n.z,
        s[3] * n.x + s[1] * n.y + s[5] * n.z,
        s[4] * n.x + s[5] * n.y + s[2] * n.z,
    )
}

/// (p I + s)/ρ² in the working precision.
fn sigma_of<R: Real>(pressure: f64, s: &Sym, volume: f64) -> [R; 8] {
    let per = volume * volume;
    let mut out = [R::of(0.0); 8];
    for k in 0..6 {
        out[k] = R::of(per * if k < 3 { pressure + s[k] } else { s[k] });
    }
    out
}

/// Coulomb friction at a wall: the impulse that takes the slip away, within the cone [N s].
///   J ← proj_{|J| ≤ μ J_n} (J − ω m v_t)
fn slide(contact: &mut Contact, slip: DVec3, q: f64, mass: f64, dt: f64, relaxation: f64) {
    let along = slip - contact.normal * slip.dot(contact.normal);
    let most = contact.friction * dt * mass * q.max(0.0) * contact.gradient.length();
    let wanted = contact.slide - along * (relaxation * contact.answer * mass);
    contact.slide = wanted.clamp_length_max(most);
}

impl<R: Precision> Flow<R> {
    /// Whether there is shear stress at all: without, the sums of an iteration are cheaper.
    fn shears(&self) -> bool {
        self.settings.friction != Friction::None && self.laws.iter().any(Law::has_friction)
    }

    /// Stresses of the last step, projected on the cone as it is now.
    pub fn start_iterations(&mut self) {
        let Flow { settings, laws, particles, .. } = self;
        let warmth = if settings.pressure == Pressure::Iisph { IISPH_START } else { 1.0 };
        let remembers = settings.friction == Friction::Projected;
        let tasks: Vec<_> = particles
            .stress
            .chunks_mut(BLOCK)
            .zip(particles.sigma.chunks_mut(BLOCK))
            .zip(particles.local.chunks(BLOCK).zip(particles.kind.chunks(BLOCK)))
            .collect();
        parallel::run(tasks, LEAST_BLOCKS, |((stress, sigma), (local, kind))| {
            for ((stress, sigma), (local, kind)) in stress.iter_mut().zip(sigma).zip(local.iter().zip(kind)) {
                let law = &laws[*kind as usize];
                let density: f64 = local.density.into();
                let p = (Into::<f64>::into(stress[0]) * warmth).max(law.least_pressure(density));
                let mut s = if remembers { deviatoric(stress) } else { [0.0; 6] };
                let bound = if law.mu_i.is_some() { f64::INFINITY } else { law.bound(p, 0.0) };
                project(&mut s, bound);
                stress[0] = R::of(p);
                (0..6).for_each(|k| stress[1 + k] = R::of(s[k]));
                *sigma = sigma_of(p, &s, local.volume.into());
            }
        });
        self.before.clone_from(&self.particles.stress);
        self.next.resize(self.particles.len(), DVec3::ZERO);
    }

    /// The stress of the last iteration, without its momentum, is what the next step starts from.
    pub fn end_iterations(&mut self) {
        std::mem::swap(&mut self.before, &mut self.particles.stress);
    }

    /// Velocities at the end of the step from the stresses of the iteration. Returns what walls feel [N], [N m].
    pub fn accelerate(&mut self, dt: f64) -> WallLoads {
        let shears = self.shears();
        let Flow { weighting, passes, particles, lists, contacts, motions, next, mass, .. } = self;
        let (offset, sigma, free) = (&particles.offset, &particles.sigma, &particles.velocity);
        let n = sigma.len();
        let blocks = particles.speed[..n].chunks_mut(BLOCK).zip(next.chunks_mut(BLOCK));
        let blocks = blocks.zip(lists.blocks.iter().zip(contacts.iter())).enumerate();
        type Task<'a, R> =
            (usize, ((&'a mut [[R; 4]], &'a mut [DVec3]), (&'a crate::lists::BlockLists<R>, &'a BlockContacts)));
        let run = |(b, ((speed, next), (lists, contacts))): Task<'_, R>| {
            let (first, count) = (b * BLOCK, next.len());
            let mut sums = [[R::of(0.0); 8]; BLOCK];
            let sum = if shears { Passes::force } else { Passes::push };
            sum(passes, weighting, offset, sigma, first, lists, &mut sums[..count]);
            let mut felt: WallLoads = Vec::new();
            for k in 0..count {
                let i = first + k;
                let mut v = free[i] - dt * vector(&sums[k]);
                for contact in contacts.of(k) {
                    let push = wall_push(contact, &sigma[i], *mass, dt);
                    v += push / *mass;
                    if felt.is_empty() {
                        felt.resize(motions.len(), [DVec3::ZERO; 2]);
                    }
                    let (force, w) = (-push / dt, contact.wall as usize);
                    felt[w][0] += force;
                    felt[w][1] += (contact.point - motions[w].pivot).cross(force);
                }
                next[k] = v;
                speed[k] = [R::of(v.x), R::of(v.y), R::of(v.z), R::of(0.0)];
            }
            felt
        };
        let done = parallel::run(blocks.collect(), LEAST_BLOCKS, run);
        let mut felt = vec![[DVec3::ZERO; 2]; motions.len()];
        for block in done {
            for (sum, part) in felt.iter_mut().zip(block) {
                sum[0] += part[0];
                sum[1] += part[1];
            }
        }
        for y in &self.yielding {
            self.motions[y.wall] = y.motion(felt[y.wall], dt, self.motions[y.wall].pivot);
        }
        felt
    }

    /// New pressures, stresses and wall friction from the velocities of the iteration.
    pub fn strain(&mut self, dt: f64, sweep: Sweep) -> Residual {
        let shears = self.shears();
        let Flow { weighting, passes, particles, before, lists, contacts, motions, settings, laws, mass, .. } = self;
        let friction = if shears { settings.friction } else { Friction::None };
        let trace = if settings.published.trace { 0.5 } else { 1.0 / 3.0 };
        let update = Update { laws, dt, sweep, pressure: settings.pressure, friction, trace };
        let (offset, speed, local, kind) = (&particles.offset, &particles.speed, &particles.local, &particles.kind);
        let blocks = particles.stress.chunks_mut(BLOCK).zip(before.chunks_mut(BLOCK));
        let blocks = blocks.zip(particles.sigma.chunks_mut(BLOCK));
        let blocks = blocks.zip(lists.blocks.iter().zip(contacts.iter_mut())).enumerate();
        type Stresses<'a, R> = (&'a mut [Stress<R>], &'a mut [Stress<R>]);
        type Task<'a, R> =
            (usize, ((Stresses<'a, R>, &'a mut [[R; 8]]), (&'a crate::lists::BlockLists<R>, &'a mut BlockContacts)));
        let run = |(b, (((stress, before), sigma), (lists, contacts))): Task<'_, R>| {
            let (first, count) = (b * BLOCK, stress.len());
            let mut sums = [[R::of(0.0); 8]; BLOCK];
            let sum = if shears { Passes::gradient } else { Passes::divergence };
            sum(passes, weighting, offset, speed, first, lists, &mut sums[..count]);
            for k in 0..count {
                for contact in contacts.of(k) {
                    let slip = wall_slip(contact, &speed[first + k], motions);
                    let added = if contact.rough { product(-slip, contact.gradient) } else { [0.0; 6] };
                    let alone = if contact.rough { 0.0 } else { -slip.dot(contact.gradient) };
                    for (sum, add) in sums[k].iter_mut().zip(added.into_iter().chain([alone])) {
                        *sum = R::of(Into::<f64>::into(*sum) + add);
                    }
                }
            }
            let range = first..first + count;
            let (local, kind) = (&local[range.clone()], &kind[range]);
            let mut residual =
                passes.update(&update, Block { rates: &sums[..count], local, kind, stress, before, sigma });
            residual.worst.1 += first;
            for k in 0..count {
                let (p, volume): (f64, f64) = (before[k][0].into(), local[k].volume.into());
                for contact in contacts.of_mut(k).iter_mut().filter(|c| !c.rough) {
                    let slip = wall_slip(contact, &speed[first + k], motions);
                    slide(contact, slip, p * volume * volume, *mass, dt, SLIDE);
                }
            }
            residual
        };
        let done = parallel::run(blocks.collect(), LEAST_BLOCKS, run);
        let mut residual = Residual::default();
        done.iter().for_each(|r| residual.add(r));
        residual
    }

    /// Displacements (in the records of speed) that take a share of the excess density away; whether there is any to speak of.
    pub fn relax(&mut self) -> bool {
        let mean = self.report.compression;
        if mean < NEGLIGIBLE {
            return false;
        }
        let Flow { particles, settings, .. } = self;
        let blocks: Vec<_> = particles.sigma.chunks_mut(BLOCK).zip(particles.local.chunks(BLOCK)).collect();
        parallel::run(blocks, LEAST_BLOCKS, |(sigma, local)| {
            for (sigma, local) in sigma.iter_mut().zip(local) {
                let (excess, gain) = to_repair(local, settings.bulk_density);
                sigma[0] = R::of(gain * excess.max(0.0));
            }
        });
        self.displace();
        for _ in 1..if mean > MUCH { MOST_SWEEPS } else { SWEEPS } {
            self.repair_more();
            self.displace();
        }
        true
    }

    /// Displacements from the pushes π/ρ² in the first number of the records of sigma.
    fn displace(&mut self) {
        let Flow { weighting, passes, particles, lists, contacts, .. } = self;
        let (offset, sigma) = (&particles.offset, &particles.sigma);
        let n = sigma.len();
        let blocks = particles.speed[..n].chunks_mut(BLOCK).zip(lists.blocks.iter().zip(contacts.iter())).enumerate();
        parallel::run(blocks.collect(), LEAST_BLOCKS, |(b, (speed, (lists, contacts)))| {
            let (first, count) = (b * BLOCK, speed.len());
            let mut sums = [[R::of(0.0); 8]; BLOCK];
            passes.push(weighting, offset, sigma, first, lists, &mut sums[..count]);
            for k in 0..count {
                let push: f64 = sigma[first + k][0].into();
                let walls: DVec3 = contacts.of(k).iter().map(|c| c.gradient * push).sum();
                let way = -vector(&sums[k]) - walls;
                speed[k] = [R::of(way.x), R::of(way.y), R::of(way.z), R::of(0.0)];
            }
        });
    }

    /// Pushes from what the displacements leave of the excess:
    ///   π/ρ² ← max(0, π/ρ² + ω (β (ρ − ρ₀) + δρ)/κ)
    fn repair_more(&mut self) {
        let Flow { weighting, passes, particles, lists, contacts, settings, .. } = self;
        let (offset, speed, local) = (&particles.offset, &particles.speed, &particles.local);
        let blocks = particles.sigma.chunks_mut(BLOCK).zip(lists.blocks.iter().zip(contacts.iter())).enumerate();
        parallel::run(blocks.collect(), LEAST_BLOCKS, |(b, (sigma, (lists, contacts)))| {
            let (first, count) = (b * BLOCK, sigma.len());
            let mut sums = [[R::of(0.0); 8]; BLOCK];
            passes.divergence(weighting, offset, speed, first, lists, &mut sums[..count]);
            for k in 0..count {
                let way = vector(&speed[first + k]);
                let walls: f64 = contacts.of(k).iter().map(|c| c.gradient.dot(way)).sum();
                let change = walls - Into::<f64>::into(sums[k][0]);
                let (excess, gain) = to_repair(&local[first + k], settings.bulk_density);
                sigma[k][0] = R::of((Into::<f64>::into(sigma[k][0]) + gain * (excess + change)).max(0.0));
            }
        });
    }
}

/// Relaxation of friction at walls.
const SLIDE: f64 = 0.2;
/// Share of the last step's pressure that IISPH starts from [Ihmsen et al. 2014].
const IISPH_START: f64 = 0.5;
/// Relaxation of the repair: pressure alone.
const PRESSURE_RELAXATION: f64 = 0.5;
/// Share of the excess density that a step takes away.
const REPAIR: f64 = 0.2;
/// Mean excess that is left alone.
const NEGLIGIBLE: f64 = 5e-4;
/// Mean excess from which on more sweeps are made: two reach two layers, a deep bed's excess takes more to get to its surface. While density is
/// repaired, layers below their friction angle creep by some 10⁻³ √(g d); with 3·10⁻³ here they did for 2.3 s, with this for 1 s.
const MUCH: f64 = 1e-3;
/// Sweeps of the repair.
const SWEEPS: u32 = 2;
/// Sweeps where there is much to repair.
const MOST_SWEEPS: u32 = 6;

/// Excess density that a step should take away [kg/m³], and what a unit of it adds to π/ρ².
fn to_repair<R: Real>(local: &Local<R>, rest: f64) -> (f64, f64) {
    let (density, volume, ratio): (f64, f64, f64) = (local.density.into(), local.volume.into(), local.ratio.into());
    (REPAIR * (density - rest), PRESSURE_RELAXATION * ratio * volume * volume)
}

/// Impulse of a wall on a particle [N s]. A wall never pulls.
fn wall_push<R: Real>(contact: &Contact, sigma: &[R; 8], mass: f64, dt: f64) -> DVec3 {
    let s: Sym = std::array::from_fn(|k| sigma[k].into());
    let q = (s[0] + s[1] + s[2]) / 3.0;
    let push = contact.gradient * (-dt * mass * q.max(0.0));
    push + if contact.rough { times(&deviator(&s), contact.gradient) * (-dt * mass) } else { contact.slide }
}

/// Velocity of a particle against a wall [m/s].
fn wall_slip<R: Real>(contact: &Contact, speed: &[R; 4], motions: &[Motion]) -> DVec3 {
    vector(speed) - motions[contact.wall as usize].at(contact.point)
}

/// sym[a ⊗ b].
fn product(a: DVec3, b: DVec3) -> Sym {
    let mixed = |p: [f64; 2], q: [f64; 2]| 0.5 * (p[0] * q[1] + p[1] * q[0]);
    [
        a.x * b.x,
        a.y * b.y,
        a.z * b.z,
        mixed([a.x, a.y], [b.x, b.y]),
        mixed([a.x, a.z], [b.x, b.z]),
        mixed([a.y, a.z], [b.y, b.z]),
    ]
}
