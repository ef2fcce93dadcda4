//! What the exchange of grains and ground saves: a stream of grains, with the exchange and without, that falls
//!
//! - onto a heap at rest. It is set up as a cone of loose grains, a little too steep, and settles once as grains alone, and is kept; both ways begin
//!   with its grains and their contacts. After the stream has come to the foot the clock runs;
//! - or onto bare ground, until the whole heap is poured.
//!
//! What is saved depends on the stream: what flows must be computed, so the rate is part of the figure.

use super::Setup;
use super::{Built, settled};
use crate::world::{World, WorldError};
use crate::{SceneErrors, assemble};
use barchan_core::columns::Saved;
use barchan_core::math;
use barchan_core::rng::Random;
use barchan_core::solver::{NewMatter, SolverError};
use barchan_dem::{Alone, Dem, DemError};
use glam::{DQuat, DVec3};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Mean diameter of the grains, and the largest [m].
const DIAMETER: f64 = 3e-3;
const LARGEST: f64 = 3.4e-3;
/// Slope of the cone before it settles: a little above that at which these grains rest.
const SLOPE: f64 = 0.7;
/// Time for which it settles at least [s], and kinetic energy of a grain at rest [J]: that of some 1 mm/s.
const SETTLE: f64 = 1.0;
const REST: f64 = 2e-11;
/// Time in which the stream spreads and what is deep becomes ground, before the clock runs [s].
const WARM: f64 = 0.4;
/// Time measured [s].
const MEASURED: f64 = 0.6;
/// Grains a second of a thin stream, over the cube root of the heap's: the foot grows as that does.
const THIN: f64 = 20.0;
/// Visible layer [diameters].
const LAYER: f64 = 2.0;
/// Steps between two words on how far it is.
const TOLD_EVERY: usize = 200;

/// What a heap and a stream took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// Grains of the heap.
    pub grains: usize,
    /// Grains a second that fall onto it.
    pub rate: f64,
    /// Simulated time that was timed [s].
    pub simulated: f64,
    /// Wall-clock time of a simulated second, of grains alone and with the exchange [s].
    pub seconds: [f64; 2],
    /// Grains that were free to move at the end of it, likewise.
    pub free: [usize; 2],
    /// Grains that were there at the end, likewise.
    pub left: [usize; 2],
}

impl Saving {
    /// Grains a second of a stream that is equally thin at the foot of any heap [1/s].
    pub fn thin(grains: usize) -> f64 {
        THIN * math::cbrt(grains as f64)
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        let ([alone, with], [free, left]) = (self.seconds, [self.free[1], self.left[1]]);
        format!(
            "{{\"case\":\"exchange\",\"grains\":{},\"rate\":{:.1},\"simulated\":{:.3},\"seconds_alone\":{alone:.4},\
             \"seconds\":{with:.4},\"free\":{free},\"left\":{left},\"factor\":{:.3}}}",
            self.grains,
            self.rate,
            self.simulated,
            self.factor()
        )
    }

    /// How many times faster it is with the exchange.
    pub fn factor(&self) -> f64 {
        self.seconds[0] / self.seconds[1]
    }
}

/// Why a heap cannot be timed.
#[derive(Debug, thiserror::Error)]
pub enum SavingError {
    /// There is no scene of such a heap.
    #[error("{}", .0.listing())]
    Scene(SceneErrors),
    /// The solver cannot take it.
    #[error(transparent)]
    Dem(#[from] DemError),
    /// The settled state cannot be taken over.
    #[error(transparent)]
    State(#[from] SolverError),
    /// The run stopped.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Times a heap of so many grains at rest under a stream of `rate` grains a second [1/s]; `told` hears what is under way and how much of it
/// is done.
pub fn saving(grains: usize, rate: f64, told: &mut dyn FnMut(&str, f64)) -> Result<Saving, SavingError> {
    let settings = setup(&heap(grains, 1.0, 0.0..1.0, false)?);
    let settle = ((SETTLE / settings.dt) as u64).next_multiple_of(super::TOLD_EVERY);
    let built = Built { settings, grains: cone(grains), settle, rest: REST };
    let dem = settled("heap", built, &mut |step, of| told("settling the heap", step as f64 / of as f64))?;
    let (from, steps, columns) = (dem.time(), dem.steps(), dem.save());
    let column = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    let end = from + WARM + MEASURED;
    both_ways(grains, rate, WARM, told, &|exchange| {
        let mut world = heap(grains, rate, from..end, exchange)?;
        world.begin_from(Saved(&column), steps)?;
        Ok(world)
    })
}

/// Hash of a cone of so many grains, unsettled, under a stream and with the exchange, after its first steps.
pub(super) fn first_steps(grains: usize, steps: u64) -> Result<u64, SavingError> {
    let Setup { settings, fixtures } = setup(&heap(grains, 1.0, 0.0..1.0, false)?);
    let mut dem = Alone::new(settings, fixtures);
    dem.add(&cone(grains))?;
    let columns = dem.save();
    let column = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    let mut world = heap(grains, Saving::thin(grains), 0.0..1.0, true)?;
    world.begin_from(Saved(&column), 0)?;
    rayon::scope(|_| (0..steps).try_for_each(|_| world.step()))?;
    Ok(world.hash())
}

/// Times a heap of so many grains that is poured at `rate` grains a second [1/s], from the first to the last.
pub fn pouring(grains: usize, rate: f64, told: &mut dyn FnMut(&str, f64)) -> Result<Saving, SavingError> {
    both_ways(grains, rate, 0.0, told, &|exchange| heap(grains, rate, 0.0..grains as f64 / rate, exchange))
}

/// Times the worlds of grains alone and with exchange to their ends, after a time that does not count [s].
fn both_ways(
    grains: usize,
    rate: f64,
    before: f64,
    told: &mut dyn FnMut(&str, f64),
    world: &dyn Fn(bool) -> Result<World, SavingError>,
) -> Result<Saving, SavingError> {
    let mut out = Saving { grains, rate, simulated: 0.0, seconds: [0.0; 2], free: [0; 2], left: [0; 2] };
    for (k, name) in ["grains alone", "with the exchange"].into_iter().enumerate() {
        let mut world = world(k == 1)?;
        let (from, end) = (world.time(), world.plan().duration);
        let share = before / (end - from);
        run(&mut world, from + before, &mut |done| told(name, share * done))?;
        let (start, from) = (Instant::now(), world.time());
        run(&mut world, end, &mut |done| told(name, share + (1.0 - share) * done))?;
        out.simulated = world.time() - from;
        out.seconds[k] = start.elapsed().as_secs_f64() / out.simulated;
        out.left[k] = world.pieces();
        out.free[k] = out.left[k] - world.solver::<Dem>().map_or(0, |dem| dem.pinned().len());
    }
    Ok(out)
}

/// Settings and walls of the grains of a world.
fn setup(world: &World) -> Setup {
    let settings = world.solver::<Dem>().expect("a heap is of grains").settings().clone();
    Setup { settings, fixtures: world.boundary().fixtures().as_ref().clone() }
}

/// Runs to a time [s].
fn run(world: &mut World, until: f64, told: &mut dyn FnMut(f64)) -> Result<(), WorldError> {
    let (from, begun) = (world.time(), until - world.time());
    while world.time() < until {
        rayon::scope(|_| (0..TOLD_EVERY).try_for_each(|_| world.step()))?;
        told(((world.time() - from) / begun).min(1.0));
    }
    Ok(())
}

/// Radius of a cone of loose grains [m]: a close-packed lattice of the largest, √½ of their cube to each.
fn radius(grains: usize) -> f64 {
    let volume = grains as f64 * LARGEST.powi(3) * 0.5_f64.sqrt();
    math::cbrt(3.0 * volume / (std::f64::consts::PI * SLOPE))
}

/// Bare ground, and a spout above it that pours at that time [s].
fn heap(grains: usize, rate: f64, pours: Range<f64>, exchange: bool) -> Result<World, SavingError> {
    let radius = radius(grains);
    let (wide, spout) = (1.5 * radius + 0.05, SLOPE * radius + 0.01);
    let exchange = if exchange { format!(", exchange = {{ layer = {LAYER} }}") } else { String::new() };
    let text = format!(
        r#"
        duration = {}
        domain = {{ min = [-{wide}, -{wide}, -0.002], max = [{wide}, {wide}, {}], outside = "remove" }}
        integrator = {{ max_overlap = 0.4 }}
        ground = {{ cell = {DIAMETER}, floor = 0{exchange} }}
        [materials.sand]
        preset = "dry sand"
        young = "1 MPa"
        rolling = 0.2
        [[emitters]]
        material = "sand"
        radius = {{ uniform = [{}, {}] }}
        disc = {{ centre = [0, 0, {spout}], normal = [0, 0, -1], radius = {} }}
        rate = {rate}
        velocity = [0, 0, -0.4]
        from = {}
        until = {}
        "#,
        pours.end,
        spout + 0.02,
        DIAMETER - 0.5 * LARGEST,
        0.5 * LARGEST,
        DIAMETER * (rate / 60.0).sqrt().max(3.0),
        pours.start,
        pours.end,
    );
    let parsed = crate::load(&text, "heap", Path::new("")).map_err(SavingError::Scene)?;
    assemble(&parsed).map_err(SavingError::Scene)
}

/// Loose grains in a cone, from below; the lowest layers of the lattice hold as many as are wanted.
fn cone(grains: usize) -> Vec<NewMatter> {
    let step = LARGEST * DVec3::new(1.0, 0.75_f64.sqrt(), (2.0_f64 / 3.0).sqrt());
    let reach = (1.2 * radius(grains) / step.y).ceil() as i64;
    let mut sites: Vec<DVec3> = Vec::new();
    for (x, y, z) in
        (-reach..=reach).flat_map(|x| (-reach..=reach).flat_map(move |y| (0..reach).map(move |z| (x, y, z))))
    {
        // Every other row is shifted by half a site; every other layer lies in the hollows of the one below.
        let (row, odd) = (0.5 * ((y + z).rem_euclid(2)) as f64, (z % 2) as f64 / 3.0);
        sites.push(DVec3::new(x as f64 + row, y as f64 + odd, z as f64 + 0.5) * step);
    }
    // Those under the lowest cone that holds enough of them.
    let under = |x: &DVec3| x.z + SLOPE * x.truncate().length();
    sites.sort_by(|a, b| under(a).total_cmp(&under(b)));
    sites.truncate(grains);
    let mut random = Random::new(1, 0);
    let mut grain = |position: DVec3| NewMatter {
        position,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        radius: 0.5 * random.range(2.0 * DIAMETER - LARGEST, LARGEST),
        mass: None,
        material: 0,
        shape: 0,
    };
    sites.into_iter().map(&mut grain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_under_a_stream_is_timed_both_ways_and_most_of_it_sleeps() {
        let found = saving(600, 100.0, &mut |_, _| ()).unwrap();
        assert_eq!(found.free[0], found.left[0]);
        assert!(found.left[0] > 600 && found.free[1] < found.left[1] / 2, "{found:?}");
        assert!(found.seconds.iter().all(|s| *s > 0.0));
    }

    #[test]
    fn a_heap_is_poured_both_ways_to_the_last_grain() {
        let found = pouring(150, 500.0, &mut |_, _| ()).unwrap();
        assert!(found.left.iter().all(|&left| left.abs_diff(150) <= 1), "{found:?}");
        assert!((found.simulated - 0.3).abs() < 0.01, "{found:?}");
    }
}
