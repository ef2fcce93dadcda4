//! New pressures and stresses from the rates of strain, eight particles at a time.
//!
//! With L = Σ sym[(v_j − v_i) ⊗ m∇W], −ρ̇ = tr L and D = dev L/ρ at the stress y of the iteration,
//!   p ← max(p_least, p_y + ω (ρ + dt ρ̇ − target)/a),  a = dt² κ/ρ²
//!   s ← P[s_y − ω D/δ],  δ = dt κ/(3 ρ³)
//! Where s_y is at its bound, it goes with the bound as the pressure changes, and need not be brought there by slip: without, the friction of a sliding
//! layer lags behind a pressure that rises from step to step (test `a_layer_on_a_slope_accelerates_by_what_friction_leaves`).
//! The next y is the new stress x, moved on by its change: y = P[x + β (x − x_before)] [Nesterov 1983; O'Donoghue and Candès 2015].

use crate::rheology::Law;
use crate::settings::{Friction, Pressure};
use crate::solve::Residual;
use crate::state::{Local, Stress};
use barchan_core::simd::{Lanes, Mask, Octet, Real, Simd, WIDTH};

/// How an iteration changes the stresses.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Relaxation ω of pressure and of friction.
    pub relaxation: [f64; 2],
    /// Share β of an iteration's change by which the next one starts further on.
    pub momentum: f64,
    /// Whether this is the first iteration.
    pub first: bool,
}

/// What the update of a particle's stress depends on, but for the particle.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// By kind.
    pub laws: &'a [Law],
    /// Step [s].
    pub dt: f64,
    pub sweep: Sweep,
    pub pressure: Pressure,
    pub friction: Friction,
    /// Share of the trace that is each direction's: a third.
    pub trace: f64,
}

/// The stresses of a block in the iterations, and what they are found from.
pub struct Block<'a, R> {
    /// L as xx, yy, zz, xy, xz, yz, and what walls add to its trace alone.
    pub rates: &'a [[R; 8]],
    pub local: &'a [Local<R>],
    pub kind: &'a [u16],
    /// y, where the iteration looks.
    pub stress: &'a mut [Stress<R>],
    /// x, where the iteration before came to.
    pub before: &'a mut [Stress<R>],
    /// (p I + s)/ρ² of y.
    pub sigma: &'a mut [[R; 8]],
}

/// Share of the bound from which on a stress is at it.
const AT_BOUND: f64 = 0.999;
/// How much a stress grows with its bound in one iteration, at most: a pressure that begins at next to nothing says nothing of the direction.
const FASTEST: f64 = 2.0;

/// A symmetric tensor of eight particles.
type Sym<V> = [V; 6];

#[inline(always)]
fn norm<V: Lanes>(s: &Sym<V>) -> V {
    let shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + (shear + shear)).sqrt()
}

/// a : b.
#[inline(always)]
fn double_dot<V: Lanes>(a: &Sym<V>, b: &Sym<V>) -> V {
    let shear = a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + (shear + shear)
}

/// a + f b.
#[inline(always)]
fn plus<V: Lanes>(a: &Sym<V>, f: V, b: &Sym<V>) -> Sym<V> {
    let [p, q, r] = [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
    [p, q, r, a[3] + f * b[3], a[4] + f * b[4], a[5] + f * b[5]]
}

#[inline(always)]
fn scaled<V: Lanes>(s: &Sym<V>, f: V) -> Sym<V> {
    [s[0] * f, s[1] * f, s[2] * f, s[3] * f, s[4] * f, s[5] * f]
}

/// s pulled back to norm `bound` where it exceeds it, and its share of the bound.
#[inline(always)]
fn projected<V: Lanes>(s: &Sym<V>, bound: V) -> (Sym<V>, V) {
    let (size, one) = (norm(s), V::of(1.0));
    let scale = (bound / size).select(size.gt(bound), one);
    let share = (size / bound).min(one).keep(bound.gt(V::zero()));
    (scaled(s, scale), share)
}

fn abs<V: Lanes>(x: V) -> V {
    x.max(-x)
}

/// The laws of eight particles.
#[derive(Clone, Copy)]
struct Laws<V> {
    mu: V,
    mu_2: V,
    i_0: V,
    /// Grain diameter by the root of the grain density.
    inertia: V,
    cohesion: V,
    /// Tension that whole matter bears.
    tension: V,
    /// Density from which on matter is whole.
    whole: V,
    rest: V,
}

impl<V: Octet> Laws<V> {
    fn of(laws: &[Law], kinds: &[u16; WIDTH]) -> Laws<V> {
        // No arithmetic on lanes in closures, which do not have the instruction set of the function they are in.
        let each = |of: fn(&Law) -> f64| kinds.map(|k| V::Scalar::of(of(&laws[k as usize])));
        Laws {
            mu: V::from_array(each(|l| l.mu)),
            mu_2: V::from_array(each(|l| l.mu_i.map_or(l.mu, |m| m.mu_2))),
            i_0: V::from_array(each(|l| l.mu_i.map_or(1.0, |m| m.i_0))),
            inertia: V::from_array(each(|l| l.grain_diameter * l.grain_density.sqrt())),
            cohesion: V::from_array(each(|l| l.cohesion)),
            tension: V::from_array(each(Law::tension)),
            whole: V::from_array(each(Law::whole)),
            rest: V::from_array(each(|l| l.rest)),
        }
    }

    /// As [`Law::bound`].
    #[inline(always)]
    fn bound(&self, pressure: V, strain_rate: V, has_rates: bool) -> V {
        let root = V::of(2f64.sqrt());
        let mut mu = self.mu;
        if has_rates {
            let pressed = pressure.gt(V::zero());
            let inertial = root * strain_rate * self.inertia / pressure.sqrt();
            let at_rate = mu + (self.mu_2 - mu) * (inertial / (inertial + self.i_0));
            mu = at_rate.select(pressed, self.mu_2);
        }
        root * (mu * pressure + self.cohesion).max(V::zero())
    }
}

/// Eight records as columns; beyond the last, the last again.
#[inline(always)]
fn columns<S: Simd>(records: &[[S::Real; 8]]) -> [S::V; 8] {
    let last = records.len() - 1;
    let row = |k: usize| records[k.min(last)];
    let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
    S::transpose([
        S::V::from_array(rows[0]),
        S::V::from_array(rows[1]),
        S::V::from_array(rows[2]),
        S::V::from_array(rows[3]),
        S::V::from_array(rows[4]),
        S::V::from_array(rows[5]),
        S::V::from_array(rows[6]),
        S::V::from_array(rows[7]),
    ])
}

/// Writes columns into as many records as there are.
#[inline(always)]
fn store<S: Simd>(records: &mut [[S::Real; 8]], columns: [S::V; 8]) {
    let rows = S::transpose(columns);
    for (record, row) in records.iter_mut().zip(rows) {
        *record = row.to_array();
    }
}

/// New stresses of a block; returns how far the old ones were from their aim. Slots in it count from the block's first.
#[inline(always)]
pub fn update<S: Simd>(u: &Update<'_>, block: Block<'_, S::Real>) -> Residual {
    let Block { rates, local, kind, stress, before, sigma } = block;
    let (zero, one, dt) = (S::V::zero(), S::V::of(1.0), S::V::of(u.dt));
    let has_rates = u.laws.iter().any(|l| l.mu_i.is_some());
    let solves = u.friction == Friction::Projected || (u.friction != Friction::None && u.sweep.first);
    let [of_pressure, of_friction] = u.sweep.relaxation;
    let (of_pressure, of_friction) = (S::V::of(of_pressure / (u.dt * u.dt)), S::V::of(3.0 * of_friction / u.dt));
    let momentum = S::V::of(u.sweep.momentum);
    let (mut missed_all, mut strain_all, mut uphill_all) = (zero, zero, zero);
    let (mut worst, mut worst_of, mut active) = (-one, zero, 0);
    let mut kinds = [u16::MAX; WIDTH];
    let mut laws = Laws::of(u.laws, &[0; WIDTH]);
    for (g, start) in (0..kind.len()).step_by(WIDTH).enumerate() {
        let end = (start + WIDTH).min(kind.len());
        let there = u32::MAX >> (32 - (end - start));
        let at = |k: usize| (start + k).min(end - 1);
        let slots = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
        let these = slots.map(|k| kind[k]);
        if these != kinds {
            kinds = these;
            laws = Laws::of(u.laws, &kinds);
        }
        let density = S::V::from_array(slots.map(|k| local[k].density));
        let volume = S::V::from_array(slots.map(|k| local[k].volume));
        let ratio = S::V::from_array(slots.map(|k| local[k].ratio));
        let [xx, yy, zz, xy, xz, yz, walls, _] = columns::<S>(&rates[start..end]);
        let [p, y0, y1, y2, y3, y4, y5, mut share] = columns::<S>(&stress[start..end]);
        let [p_before, b0, b1, b2, b3, b4, b5, _] = columns::<S>(&before[start..end]);

        let trace = xx + yy + zz + walls;
        let excess = density - laws.rest;
        let target = match u.pressure {
            Pressure::Velocity => excess.min(zero),
            Pressure::Iisph => excess,
        };
        let error = target - dt * trace;
        let gain = of_pressure * ratio;
        let per_gain = one / gain;
        let least = zero.select(laws.whole.gt(density), zero - laws.tension);
        let wanted = p + gain * error;
        let new = wanted.max(least);
        let missed = abs(error).select(wanted.gt(least), abs(least - p) * per_gain) / laws.rest;
        active += ((abs(new) + abs(p)).gt(zero).bits() & there).count_ones() as usize;
        let change = new - p_before;
        let mut uphill = (p - new) * change * per_gain;
        let ahead = (new + momentum * change).max(least);

        let mut s = [y0, y1, y2, y3, y4, y5];
        let mut came_to = [b0, b1, b2, b3, b4, b5];
        let mut strain = zero;
        if solves {
            let mean = (xx + yy + zz) * S::V::of(u.trace);
            let rate = scaled(&[xx - mean, yy - mean, zz - mean, xy, xz, yz], volume);
            let gain = of_friction * density * ratio;
            let per_gain = dt / gain;
            let size = norm(&rate);
            let bound = laws.bound(new, size, has_rates);
            if u.friction == Friction::Projected {
                let was = laws.bound(p, size, has_rates);
                let follows = (bound / was).select(was.gt(zero), one).min(S::V::of(FASTEST));
                s = scaled(&s, follows.select(share.gt(S::V::of(AT_BOUND)), one));
            }
            let old = s;
            let (x, used) = projected(&plus(&s, -gain, &rate), bound);
            share = used;
            let step = plus(&x, -one, &old);
            if u.friction == Friction::Projected {
                let held = (dt * size).select(bound.gt(zero), norm(&step) * per_gain);
                strain = held.select(one.gt(used), norm(&step) * per_gain);
            }
            let change = plus(&x, -one, &came_to);
            uphill = uphill - double_dot(&step, &change) * per_gain;
            s = projected(&plus(&x, momentum, &change), laws.bound(ahead, size, has_rates)).0;
            came_to = x;
        }
        let [x0, x1, x2, x3, x4, x5] = came_to;
        store::<S>(&mut before[start..end], [new, x0, x1, x2, x3, x4, x5, share]);
        store::<S>(&mut stress[start..end], [ahead, s[0], s[1], s[2], s[3], s[4], s[5], share]);
        let [q, f] = if u.friction == Friction::None { [ahead, zero] } else { [ahead, one] };
        let s = scaled(&scaled(&s, f), volume * volume);
        let q = q * (volume * volume);
        store::<S>(&mut sigma[start..end], [q + s[0], q + s[1], q + s[2], s[3], s[4], s[5], zero, zero]);

        let is_there = S::V::from_array(LANE.map(S::Real::of));
        let is_there = S::V::of((end - start) as f64).gt(is_there);
        missed_all = missed_all + missed.keep(is_there);
        strain_all = strain_all + strain.keep(is_there);
        uphill_all = uphill_all + uphill.keep(is_there);
        let wrong = (missed + strain).keep(is_there);
        let is_worse = wrong.gt(worst);
        worst = wrong.select(is_worse, worst);
        worst_of = S::V::of(g as f64).select(is_worse, worst_of);
    }
    let (worst, worst_of) = (worst.to_array(), worst_of.to_array());
    let mut residual = Residual::new(total::<S>(missed_all), total::<S>(strain_all), active, total::<S>(uphill_all));
    for lane in 0..WIDTH {
        let slot = Into::<f64>::into(worst_of[lane]) as usize * WIDTH + lane;
        residual.note_worst(worst[lane].into(), slot.min(kind.len().max(1) - 1));
    }
    residual
}

/// The number of each lane.
const LANE: [f64; WIDTH] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// The sum over the lanes, in their order.
fn total<S: Simd>(x: S::V) -> f64 {
    x.to_array().into_iter().map(Into::<f64>::into).sum()
}
