//! What wakes grains that lie still in the visible layer.
//!
//! A thin stream runs over nearly all of a heap's flank, and what it runs over stays where it is. So **a grain that rolls past wakes
//! nobody**; who wakes others is
//!
//! - a grain that *leaves* its place: those it touched may have leant on it;
//! - a grain that *comes to rest*: whether those it has come to lie on bear it is computed, not assumed (without that,
//!   heaps of 5,000 stood steeper by 2°: grains that are held bear whatever comes to lie on them);
//! - grains that move and together *press* on one with more than its weight or so: a flow that is several grains thick takes its bed along;
//! - a grain that *strikes*: all near the place, and deeper than the visible layer.
//!
//! Below the layer too, who is pushed harder than a bed withstands is let go: a blade that pressed grains against held ones went through
//! them.
//!
//! What is woken and does not move is held again after a while; what does move wakes the next, look by look.

use super::exchange::{AWAKE, Exchange, LOOKS, Watched};
use super::look::Look;
use barchan_core::frame::Frame;
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
/// Speed of a grain that strikes, over √(g d): it could rise by two diameters, where one that rolls does not leave the surface.
const STRIKES: f64 = 2.0;
/// How far to the sides of a strike, in diameters.
const BESIDE: usize = 1;
/// How deep under a strike, in diameters, grains are shaken: where those below the visible layer stayed held, heaps of 5,000 under a stream
/// stood higher by 4 %.
pub(super) const SHAKEN: f64 = 6.0;

impl Exchange {
    /// Down to which depth [m] each row is to be free though it lies still; none where it may be held. Those that are pushed away are
    /// noted as moving.
    pub fn awake(&self, look: &Look, frame: &Frame<'_>, seen: &mut [Watched], dem: &Dem) -> Vec<Option<f64>> {
        let struck = self.struck(look, frame, seen);
        let mut woken = vec![false; frame.len()];
        self.leant_on(look, frame, seen, &mut woken);
        let (moving, free) = self.loads(frame, seen, dem);
        let mut awake = vec![None; frame.len()];
        for i in 0..frame.len() {
            let weight = frame.mass[i] * self.gravity;
            let woken = woken[i] || moving[i].length() > PRESSED * weight;
            awake[i] = if struck[i] { Some(self.shaken) } else { woken.then_some(self.layer) };
            let above = 1.0 + (look.depth(frame.position[i]) / self.diameter).max(0.0);
            if free[i].length() > PASSIVE * above * weight {
                seen[i].looks = 0;
            }
        }
        awake
    }

    /// Rows near a grain that strikes the surface, or will soon.
    fn struck(&self, look: &Look, frame: &Frame<'_>, seen: &[Watched]) -> Vec<bool> {
        let mut bins = vec![false; look.top.len()];
        let fast = STRIKES * STRIKES * self.gravity * self.diameter;
        for i in (0..frame.len()).filter(|&i| seen[i].looks == 0) {
            let (x, square) = (frame.position[i], frame.velocity[i].length_squared());
            let (bin, soon) = (look.bin(x), 2.0 * square.sqrt() * self.look());
            if square > fast && x.z < look.top[bin] + AWAKE * self.diameter + soon + frame.radius[i] {
                look.around(bin, BESIDE).for_each(|near| bins[near] = true);
            }
        }
        frame.position.iter().map(|&x| bins[look.bin(x)]).collect()
    }

    /// Rows that lie still and touch a grain that leaves its place, or one that has come to rest.
    fn leant_on(&self, look: &Look, frame: &Frame<'_>, seen: &[Watched], awake: &mut [bool]) {
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
    fn loads(&self, frame: &Frame<'_>, seen: &[Watched], dem: &Dem) -> (Vec<DVec3>, Vec<DVec3>) {
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
