//! One move of the grains of a particle.
//!
//! First all grains of the group are carried or fly; then those that have lost touch with their particle are drawn back; last, those near a
//! wall are kept out of it. Reads the carrier, writes the group's positions, velocities and marks.

use super::carrier::Carrier;
use super::flight::{by_filling, by_weights, fly};
use super::walls::keep_out;
use super::{DRAWN, GROUPS, Rule, Summation, Surroundings, Upsampled, birth};
use barchan_core::parallel;
#[cfg(target_arch = "x86_64")]
use barchan_core::simd::Isa;
use barchan_core::solver::Domain;
use glam::{DVec3, Vec3};

/// Way a grain may be drawn back in a frame, in spacings.
const DRAW: f64 = 0.05;
/// Distance of the grains' mean from its place at birth from which on all are drawn back, in spacings.
const OFF_CENTRE: f32 = 0.3;
/// Distance of a grain from its particle from which on it is drawn back, in spacings.
const ASTRAY: f32 = 1.5;
/// Distance from its particle at which a grain is back, in spacings: the ball of the particle's volume.
const BACK: f32 = 0.62;
/// Distance from its birth place at which a grain is back as well, in spacings: in the corners of the cube.
const HOME: f32 = 0.1;
/// Sum of weights below which there is nobody to follow.
const NOBODY: f32 = 1e-6;

/// A position moved into the domain where it is periodic.
#[inline(always)]
pub fn wrap(x: DVec3, domain: &Domain) -> DVec3 {
    let mut x = x;
    for k in 0..3 {
        if domain.periodic[k] {
            let size = domain.max[k] - domain.min[k];
            if x[k] < domain.min[k] || x[k] >= domain.max[k] {
                x[k] -= size * ((x[k] - domain.min[k]) / size).floor();
            }
        }
    }
    x
}

/// The nearest image of a difference.
#[inline(always)]
fn nearest_image(mut d: DVec3, period: DVec3) -> Vec3 {
    for k in 0..3 {
        if period[k] > 0.0 && d[k].abs() > 0.5 * period[k] {
            d[k] -= period[k] * (d[k] / period[k]).round();
        }
    }
    d.as_vec3()
}

/// Columns of some groups.
struct Task<'a> {
    owner: &'a [u32],
    count: &'a [u32],
    row: &'a [u32],
    centre: &'a [Vec3],
    position: &'a mut [DVec3],
    velocity: &'a mut [Vec3],
    radius: &'a [f32],
    place: &'a mut [u16],
}

/// What all groups have in common.
struct Pass<'a> {
    dt: f64,
    around: &'a Surroundings<'a>,
    carrier: &'a Carrier,
    rule: Rule,
    direct: bool,
    seed: u64,
    period: DVec3,
}

/// What a group remembers between the parts of a move.
#[derive(Default)]
struct Scratch {
    /// From the particle to each grain [m]; and how free it is.
    offset: Vec<(Vec3, f32)>,
    /// Grains that a wall may be near to.
    near: Vec<u32>,
}

impl Upsampled {
    /// Moves all grains for `dt` [s]; `row` is that of each group's particle.
    pub(super) fn follow(&mut self, dt: f64, around: &Surroundings<'_>, carrier: &Carrier, row: &[u32]) {
        let rule = self.settings.rule;
        let direct = rule == Rule::Ihmsen || self.settings.summation == Summation::Direct;
        let (seed, period) = (self.settings.seed, around.domain.period());
        let pass = Pass { dt, around, carrier, rule, direct, seed, period };
        let mut tasks = Vec::with_capacity(self.owner.len() / GROUPS + 1);
        let (mut position, mut velocity) = (&mut self.position[..], &mut self.velocity[..]);
        let (mut radius, mut place) = (&self.radius[..], &mut self.place[..]);
        for first in (0..self.owner.len()).step_by(GROUPS) {
            let groups = first..(first + GROUPS).min(self.owner.len());
            let (owner, count) = (&self.owner[groups.clone()], &self.count[groups.clone()]);
            let (centre, row) = (&self.centre[groups.clone()], &row[groups]);
            let n = count.iter().map(|&c| c as usize).sum();
            let (p, v, m);
            (p, position) = position.split_at_mut(n);
            (v, velocity) = velocity.split_at_mut(n);
            (m, place) = place.split_at_mut(n);
            let (r, rest) = radius.split_at(n);
            radius = rest;
            tasks.push(Task { owner, count, row, centre, position: p, velocity: v, radius: r, place: m });
        }
        parallel::run(tasks, 1, |task| pass.run(task));
    }
}

#[inline(always)]
fn carry_each(p: &Pass<'_>, x: &mut [DVec3], v: &mut [Vec3], radius: &[f32], centre: DVec3, scratch: &mut Scratch) {
    p.carry_each(x, v, radius, centre, scratch);
}

barchan_core::wide!(
    fn carry_each_wide = carry_each(
        pass: &Pass<'_>,
        x: &mut [DVec3],
        v: &mut [Vec3],
        radius: &[f32],
        centre: DVec3,
        scratch: &mut Scratch,
    );
);

impl Pass<'_> {
    fn run(&self, task: Task<'_>) {
        let mut scratch = Scratch::default();
        let mut first = 0;
        for g in 0..task.owner.len() {
            let range = first..first + task.count[g] as usize;
            first = range.end;
            let (x, v) = (&mut task.position[range.clone()], &mut task.velocity[range.clone()]);
            let (radius, place) = (&task.radius[range.clone()], &mut task.place[range]);
            let centre = self.around.particles.position[task.row[g] as usize];
            self.carry(x, v, radius, centre, &mut scratch);
            self.draw_back(x, place, task.owner[g], task.centre[g], &scratch.offset);
            for &k in &scratch.near {
                let k = k as usize;
                keep_out(self.around.walls, &mut x[k], &mut v[k], f64::from(radius[k]));
            }
            x.iter_mut().for_each(|x| *x = wrap(*x, &self.around.domain));
        }
    }

    /// Velocities and positions of a group.
    fn carry(&self, x: &mut [DVec3], v: &mut [Vec3], radius: &[f32], centre: DVec3, scratch: &mut Scratch) {
        match self.carrier.isa {
            Isa::Plain => self.carry_each(x, v, radius, centre, scratch),
            Isa::Avx2 | Isa::Avx512 => carry_each_wide(self, x, v, radius, centre, scratch),
        }
    }

    #[inline(always)]
    fn carry_each(&self, x: &mut [DVec3], v: &mut [Vec3], radius: &[f32], centre: DVec3, scratch: &mut Scratch) {
        scratch.offset.clear();
        scratch.near.clear();
        let around = self.around;
        let dt = self.dt as f32;
        // The distance to the wall is that of the place before the move, and not exact; drawing back comes on top.
        let margin = self.carrier.slack() + (DRAW * around.spacing) as f32;
        for k in 0..x.len() {
            let found = match self.direct {
                true => self.carrier.direct(x[k], around.walls),
                false => self.carrier.at(x[k]),
            };
            let (mut free, mut carried, mut wall) = (1.0, Vec3::ZERO, 0.0);
            if let Some(local) = found.filter(|l| l.weight > NOBODY) {
                free = match self.rule {
                    Rule::Filling => by_filling(local.filling),
                    Rule::Ihmsen => by_weights(local.largest, local.weight),
                };
                carried = local.momentum * (1.0 / local.weight);
                wall = local.wall;
            }
            let velocity = match free > 0.0 {
                true => {
                    let flown = fly(v[k], x[k], radius[k], self.dt, around.gravity, around.air.as_ref());
                    (1.0 - free) * carried + free * flown
                }
                false => carried,
            };
            v[k] = velocity;
            let way = velocity * dt;
            x[k] += way.as_dvec3();
            scratch.offset.push((nearest_image(x[k] - centre, self.period), free));
            let reach = radius[k] + margin;
            if wall < reach || (wall - reach) * (wall - reach) < way.length_squared() {
                scratch.near.push(k as u32);
            }
        }
    }

    /// Draws grains back to their particle, if their mean is off the place of its birth or they have gone astray; free grains are left
    /// alone.
    ///
    /// The mean is moved as a whole. A grain astray goes towards the place in the particle's cube where it was born, and not towards its
    /// centre: so those that come back fill the cube evenly.
    fn draw_back(&self, x: &mut [DVec3], place: &mut [u16], owner: u32, centre: Vec3, offset: &[(Vec3, f32)]) {
        let spacing = self.around.spacing as f32;
        let (mut sum, mut bound, mut astray) = (Vec3::ZERO, 0f32, false);
        for (&(offset, free), &place) in offset.iter().zip(&*place) {
            if free < 1.0 {
                sum += offset;
                bound += 1.0;
                astray |= place & DRAWN != 0 || offset.length_squared() > (ASTRAY * spacing).powi(2);
            }
        }
        let mean = if bound > 0.0 { sum / bound - centre } else { Vec3::ZERO };
        let off = mean.length_squared() > (OFF_CENTRE * spacing).powi(2);
        if !(off || astray) {
            return;
        }
        let most = (DRAW * self.around.spacing * self.around.frame_share) as f32;
        let shift = if off { -mean } else { Vec3::ZERO };
        let start = birth::start(&mut birth::stream(self.seed, owner));
        for k in 0..x.len() {
            let (offset, free) = offset[k];
            if free >= 1.0 {
                continue;
            }
            let mut way = shift;
            let distance = offset.length();
            if distance > ASTRAY * spacing {
                place[k] |= DRAWN;
            }
            if place[k] & DRAWN != 0 {
                let home = spacing * birth::point(start, place[k] & !DRAWN) - offset;
                if distance <= BACK * spacing || home.length() <= HOME * spacing {
                    place[k] &= !DRAWN;
                } else {
                    way = home;
                }
            }
            x[k] += ((1.0 - free) * way.clamp_length_max(most)).as_dvec3();
        }
    }
}
