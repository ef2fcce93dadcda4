//! The slope at which sand comes to rest: in every direction, everywhere, after hysteresis.

use crate::common;
use barchan_ground::{Columns, Soil};
use common::{grid, plain, rough, steepest};
use glam::DVec2;
use std::f64::consts::TAU;

/// Pours a cone of some 30 columns' radius on a bare floor at a point of the grid [cells], as a stream two columns wide.
fn cone(soil: Soil, at: DVec2, drops: usize) -> Columns {
    let size = [81, 81];
    let mut ground = Columns::flat(grid(size), soil, 0.0).unwrap();
    let cell = ground.grid().cell;
    // Bilinear: the stream's middle is where it is asked to be.
    let low = (at - 0.5).floor();
    let part = at - 0.5 - low;
    let volume = 0.6 * 30_f64.powi(3) * cell; // [m · column]: π/3 tan θ R³, for 30°
    for _ in 0..drops {
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let share = (if dx == 1 { part.x } else { 1.0 - part.x }) * if dy == 1 { part.y } else { 1.0 - part.y };
            let quanta = (volume * share / drops as f64 / barchan_ground::QUANTUM) as i64;
            ground.raise(low.x as usize + dx + (low.y as usize + dy) * size[0], quanta);
        }
        ground.erode(100);
    }
    assert!(ground.erode(20_000).settled);
    ground
}

/// Slope [degrees] of the flank towards each of 72 directions, and how far the foot is there [cells].
fn flanks(ground: &Columns, apex: DVec2) -> Vec<(f64, f64)> {
    let (cell, origin) = (ground.grid().cell, ground.grid().origin);
    let z = |r: f64, angle: f64| {
        let p = origin.truncate() + (apex + r * DVec2::from_angle(angle)) * cell;
        (ground.height_at(p.x, p.y).unwrap() - origin.z) / cell
    };
    let flank = |k: usize| {
        let angle = TAU * k as f64 / 72.0;
        let foot = (1..40).map(f64::from).find(|&r| z(r, angle) < 1.0).unwrap_or(40.0);
        let (near, far) = (0.2 * foot, 0.85 * foot);
        (((z(near, angle) - z(far, angle)) / (far - near)).atan().to_degrees(), foot)
    };
    (0..72).map(flank).collect()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
}

#[test]
fn a_poured_cone_has_the_slope_asked_for_in_every_direction() {
    for (degrees, at) in [(30.0, DVec2::splat(40.5)), (30.0, DVec2::new(40.13, 39.71)), (20.0, DVec2::new(40.8, 40.4))]
    {
        let flanks = flanks(&cone(plain(degrees), at, 40), at);
        let (low, high) = range(flanks.iter().map(|f| f.0));
        let (near, far) = range(flanks.iter().map(|f| f.1));
        assert!(low > degrees - 0.5 && high < degrees + 0.5, "{degrees}° at {at}: {low:.2}–{high:.2}°");
        assert!(far - near <= 2.0, "the foot is a circle: {near}–{far} cells");
    }
}

#[test]
fn with_hysteresis_a_cone_lies_between_the_two_slopes() {
    let soil = Soil { outside: 32_f64.to_radians(), inside: 32_f64.to_radians(), ..plain(30.0) };
    let at = DVec2::splat(40.5);
    let (low, high) = range(flanks(&cone(soil, at, 40), at).into_iter().map(|f| f.0));
    assert!(low > 29.0 && high < 32.5, "{low:.2}–{high:.2}°");
}

#[test]
fn a_slope_between_the_two_limits_rests_until_it_is_disturbed() {
    let soil = Soil { outside: 34_f64.to_radians(), inside: 34_f64.to_radians(), ..plain(30.0) };
    let size = [64, 40];
    let step = 32_f64.to_radians().tan() * grid(size).cell;
    let heights: Vec<f64> = (0..size[0] * size[1]).map(|i| step * (size[0] - i % size[0]) as f64).collect();
    let mut ground = Columns::new(grid(size), soil, &heights).unwrap();
    assert_eq!(ground.erode(10).moved, 0, "32° rest below 34°");
    // A heap of two cells' height on the slope starts an avalanche, which goes down to 30° where it passed.
    ground.raise(20 + 20 * size[0], (2.0 * step / barchan_ground::QUANTUM) as i64);
    let found = ground.erode(20_000);
    assert!(found.settled && found.moved > 0);
    let z = |x: usize| ground.heights()[x + 20 * size[0]] as f64 * barchan_ground::QUANTUM;
    let after = ((z(15) - z(25)) / (10.0 * ground.grid().cell)).atan().to_degrees();
    assert!((29.5..=30.05).contains(&after), "{after}° where it slid");
}

#[test]
fn rough_ground_comes_to_rest_with_no_slope_above_the_limit() {
    for (size, degrees) in [([50, 37], 30.0), ([33, 65], 12.0), ([1, 40], 25.0), ([17, 1], 25.0)] {
        let mut ground = rough(size, plain(degrees), 7);
        let found = ground.erode(20_000);
        assert!(found.settled, "{size:?}");
        let (pair, square) = steepest(&ground);
        let limit = degrees.to_radians() + 1e-9;
        assert!(pair <= limit && square <= limit, "{size:?}: {} {}", pair.to_degrees(), square.to_degrees());
        assert_eq!(ground.erode(100).visited, 0, "and is not looked at again");
    }
}

#[test]
fn slopes_stay_below_the_limit_with_hysteresis_too() {
    let soil = Soil { outside: 28_f64.to_radians(), inside: 28_f64.to_radians(), ..plain(25.0) };
    let mut ground = rough([40, 40], soil, 3);
    assert!(ground.erode(20_000).settled);
    let (pair, square) = steepest(&ground);
    assert!(pair.max(square).to_degrees() <= 25.0 + 1e-6, "{}", pair.max(square).to_degrees());
}

#[test]
fn heights_stay_within_the_range_they_had() {
    let mut ground = rough([48, 48], plain(5.0), 11);
    let bounds = |g: &Columns| (*g.heights().iter().min().unwrap(), *g.heights().iter().max().unwrap());
    let mut before = bounds(&ground);
    for _ in 0..200 {
        ground.erode(1);
        let now = bounds(&ground);
        assert!(now.0 >= before.0 && now.1 <= before.1);
        before = now;
    }
}

#[test]
fn a_large_quiet_ground_costs_nothing_and_a_small_heap_little() {
    let mut ground = Columns::flat(grid([1024, 1024]), plain(30.0), 0.5).unwrap();
    assert_eq!(ground.erode(1000).visited, 0);
    ground.raise(500 + 500 * 1024, 1 << 37);
    let found = ground.erode(20_000);
    assert!(found.settled);
    let share = found.visited as f64 / found.sweeps as f64 / (1024.0 * 1024.0);
    assert!(share < 0.003, "{share} of all columns a sweep");
}

/// `cargo test -p barchan-ground --test slopes -- --ignored --nocapture`
#[test]
#[ignore = "prints the slopes of docs/physics.md, and how long a heap takes to settle"]
fn slopes_over_azimuth() {
    for at in [DVec2::splat(40.5), DVec2::new(40.13, 39.71)] {
        let flanks = flanks(&cone(plain(30.0), at, 40), at);
        let row = |k: usize| format!("{:.1}°: {:.2}°", k as f64 * 5.0, flanks[k].0);
        println!("apex {at}: {}", (0..=9).map(row).collect::<Vec<_>>().join(", "));
    }
    for radius in [10, 20, 40] {
        let side = 2 * radius + 21;
        let mut ground = Columns::flat(grid([side, side]), plain(30.0), 0.0).unwrap();
        let height = 0.6 * f64::from(radius as u32).powi(3) * ground.grid().cell;
        ground.raise(side / 2 * (side + 1), (height / barchan_ground::QUANTUM) as i64);
        let found = ground.erode(1_000_000);
        println!("a heap of radius {radius} columns settles in {} sweeps", found.sweeps);
    }
}
