//! What wakes grains that lie still in the visible layer.
//!
//! A thin stream runs over nearly all of a heap's flank, and what it runs over mostly stays where it is. So **a grain that rolls past wakes
//! only those right under it**, while it is there; who wakes others is
//!
//! - a grain that *leaves* its place: those it touched may have leant on it;
//! - a grain that *comes to rest*: whether those it has come to lie on bear it is computed, not assumed (without that,
//!   heaps of 5,000 stood steeper by 2°: grains that are held bear whatever comes to lie on them);
//! - grains that move and together *press* on one with more than its weight or so: a flow that is several grains thick takes its bed along;
//! - a grain that *strikes*, by its velocity into the surface: all near the place, and deeper than the visible layer. One that rolls down a
//!   flank is as fast and shakes little.
//!
//! Below the layer too, who is pushed harder than a bed withstands is let go: a blade that pressed grains against held ones went through
//! them.
//!
//! What is woken and does not move is held again after a while; what does move wakes the next, look by look.

use super::exchange::{AWAKE, Exchange, HELD, LOOKS, Watched};
use super::look::Look;
use barchan_core::frame::Population;
use barchan_dem::Dem;
use glam::DVec3;

/// How far from where it last lay, in diameters, a grain has left its place.
const LEFT: f64 = 1.0;
/// Distance within which two spheres count as touching, over the sum of their radii.
const TOUCHING: f64 = 1.05;
/// What grains that move may press on one that lies still, over its weight. One that rolls over it presses with its own.
const PRESSED: f64 = 1.5;
/// What free grains may push one that is held, over what lies on it: the passive pressure of sand at an internal friction of 45°
/// [Rankine 1857] is 5.8 times that.
const PASSIVE: f64 = 6.0;
/// Speed into the surface of a grain that strikes, over √(g d): it could rise by two diameters.
const STRIKES: f64 = 2.0;
/// How far to the sides of a strike, in diameters.
const BESIDE: usize = 1;
/// How deep under a strike, in diameters, grains are shaken: where those below the visible layer stayed held, heaps of 5,000 under a stream
/// stood higher by 4 %.
pub(super) const SHAKEN: f64 = 6.0;
/// Speed of a grain that rolls, over √(g d).
const ROLLS: f64 = 0.5;
/// How deep under a grain that rolls, in diameters, others are free to give way: on a bed that is held heaps stand steeper.
const UNDER: f64 = 1.0;
/// How high over the surface, in diameters, a grain still rolls on it.
const OVER: f64 = 1.5;

impl Exchange {
    /// Down to which depth [m] each row is to be free though it lies still; infinitely high where it may be held. Those that are pushed away
    /// are noted as moving.
    pub fn awake(&self, look: &Look, frame: &Population, seen: &mut [Watched], dem: &Dem) -> Vec<f64> {
        let shaken = self.shaken_bins(look, frame, seen);
        let mut woken = vec![false; frame.len()];
        self.leant_on(look, frame, seen, &mut woken);
        let (moving, free) = self.loads(frame, seen, dem);
        let mut awake = Vec::with_capacity(frame.len());
        for i in 0..frame.len() {
            let weight = frame.mass[i] * self.gravity;
            let woken = woken[i] || moving[i].length() > PRESSED * weight;
            let down = shaken[look.bin(frame.position[i])];
            awake.push(if woken { down.max(self.layer + HELD * self.diameter) } else { down });
            let above = 1.0 + (look.depth(frame.position[i]) / self.diameter).max(0.0);
            if free[i].length() > PASSIVE * above * weight {
                seen[i].looks = 0;
            }
        }
        awake
    }

    /// Down to which depth [m] grains of each bin are shaken, by those that strike the surface or will soon, and by those that roll over it.
    fn shaken_bins(&self, look: &Look, frame: &Population, seen: &[Watched]) -> Vec<f64> {
        let mut bins = vec![f64::NEG_INFINITY; look.top.len()];
        let unit = (self.gravity * self.diameter).sqrt();
        for i in (0..frame.len()).filter(|&i| seen[i].looks == 0) {
            let (x, v) = (frame.position[i], frame.velocity[i]);
            let speed = v.length();
            if speed < ROLLS * unit {
                continue;
            }
            let bin = look.bin(x);
            let above = x.z - look.top[bin];
            let soon = AWAKE * self.diameter + 2.0 * speed * self.look() + frame.radius[i];
            if -v.dot(look.normal(bin)) > STRIKES * unit && above < soon {
                look.around(bin, BESIDE).for_each(|near| bins[near] = self.shaken);
            } else if above < OVER * self.diameter {
                // Where it is until the next look.
                for share in [0.0, 0.5, 1.0] {
                    let under = &mut bins[look.bin(x + share * self.look() * v)];
                    *under = under.max(UNDER * self.diameter);
                }
            }
        }
        bins
    }

    /// Rows that lie still and touch a grain that leaves its place, or one that has come to rest.
    fn leant_on(&self, look: &Look, frame: &Population, seen: &[Watched], awake: &mut [bool]) {
        let rows = look.rows(frame);
        for (i, w) in seen.iter().enumerate() {
            let gone = w.from.distance(w.place);
            let beyond = match (w.looks, gone < LEFT * self.diameter) {
                (0, true) => gone,
                (1..LOOKS, false) => 0.0,
                _ => continue,
            };
            for &j in look.around(look.bin(w.place), 1).flat_map(|bin| rows.of(bin)) {
                let j = j as usize;
                let reach = TOUCHING * (frame.radius[i] + frame.radius[j]) + beyond;
                awake[j] |= seen[j].looks >= LOOKS && frame.position[j].distance_squared(w.place) < reach * reach;
            }
        }
    }

    /// What grains that move do to each row that lies still, and what free grains do to each that is held [N].
    fn loads(&self, frame: &Population, seen: &[Watched], dem: &Dem) -> (Vec<DVec3>, Vec<DVec3>) {
        let (mut moving, mut free) = (vec![DVec3::ZERO; frame.len()], vec![DVec3::ZERO; frame.len()]);
        for ([a, b], on_a) in dem.pushes() {
            for (own, other, force) in [(a, b, on_a), (b, a, -on_a)] {
                if seen[own].looks >= LOOKS && seen[other].looks == 0 {
                    moving[own] += force;
                }
                if dem.is_pinned(own) && !dem.is_pinned(other) {
                    free[own] += force;
                }
            }
        }
        (moving, free)
    }
}
