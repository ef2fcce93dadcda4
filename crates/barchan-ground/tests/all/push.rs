//! Bodies in the ground: how much they displace, where it goes, what stays of it.

use crate::common;
use barchan_core::rng::Random;
use barchan_core::walls::{Geometry, Side, Wall};
use barchan_ground::{Columns, Grid, GroundError, QUANTUM, Soil, metres, sphere, traced};
use common::{grid, plain, rough};
use glam::{DVec2, DVec3};
use std::f64::consts::PI;

#[test]
fn volume_is_exact_over_random_pushes_heaps_holes_and_erosion() {
    for compression in [0.0, 0.3, 0.7, 1.0] {
        let soil = Soil { compression, ..Soil::SAND };
        let mut ground = rough([90, 70], soil, 2);
        let mut random = Random::new(4, 2);
        let mut expected = ground.total();
        for _ in 0..150 {
            let centre = DVec3::new(random.range(-0.6, 1.0), random.range(0.1, 1.5), random.range(-0.9, -0.6));
            let radius = random.range(0.02, 0.25);
            let area = ground.grid().area(centre.truncate() - radius, centre.truncate() + radius);
            let push = ground.push(area, &sphere(centre, radius));
            assert!(push.compressed >= 0 && push.compressed <= push.displaced);
            assert!(compression > 0.0 || push.compressed == 0);
            expected -= push.compressed;
            let (heap, hole) = (random.index(90 * 70), random.index(90 * 70));
            expected += i128::from(ground.raise(heap, (random.uniform() * 1e11) as i64));
            expected -= i128::from(ground.lower(hole, (random.uniform() * 1e12) as i64));
            ground.erode(random.index(20));
            assert_eq!(ground.total(), expected);
        }
        assert!(ground.heights().iter().all(|&h| h >= 0));
    }
}

/// A ball pressed into level ground, so deep [m].
fn pressed(soil: Soil, radius: f64, depth: f64) -> (Columns, barchan_ground::Push, DVec2) {
    let mut ground = Columns::flat(grid([128, 128]), soil, 0.75).unwrap();
    let middle = ground.grid().origin.truncate() + 1.0;
    let area = ground.grid().area(middle - radius, middle + radius);
    let push = ground.push(area, &sphere(middle.extend(-0.25 + radius - depth), radius));
    (ground, push, middle)
}

#[test]
fn a_ball_displaces_the_spherical_cap_and_raises_a_ring() {
    let (radius, depth) = (0.5, 0.2);
    let (ground, push, middle) = pressed(plain(30.0), radius, depth);
    let cap = PI * depth * depth * (3.0 * radius - depth) / 3.0;
    let found = ground.grid().volume(push.displaced);
    // Column sums of a smooth function that ends at zero: a relative error of order (cell / radius)².
    assert!((found / cap - 1.0).abs() < 2e-3, "{found} m³ for {cap} m³");
    assert_eq!(ground.total(), 128 * 128 * ((0.75 / QUANTUM) as i128));
    let rim = (radius * radius - (radius - depth).powi(2)).sqrt();
    let cell = ground.grid().cell;
    let level = 0.75;
    for column in 0..ground.grid().len() {
        let r = ground.grid().centre(column).distance(middle);
        let height = metres(ground.heights()[column]);
        match r {
            r if r > rim + 1.5 * cell => assert_eq!(height, level, "nothing beyond the ring"),
            r if r < rim - cell => {
                let underside = 0.75 + radius - depth - (radius * radius - r * r).sqrt();
                assert!((height - underside).abs() < 1e-10 && ground.is_pressed(column));
            }
            _ => {}
        }
    }
    // All of it lies in the ring, spread evenly over the directions: in sixteen sectors, to the columns one more or less has.
    let mut sectors = [0.0; 16];
    for column in 0..ground.grid().len() {
        let offset = ground.grid().centre(column) - middle;
        let sector = ((offset.y.atan2(offset.x) / PI + 1.0) * 8.0).min(15.0) as usize;
        sectors[sector] += (metres(ground.heights()[column]) - level).max(0.0) * cell * cell;
    }
    let sum: f64 = sectors.iter().sum();
    assert!((sum / found - 1.0).abs() < 1e-9);
    assert!(sectors.iter().all(|s| (s * 16.0 / sum - 1.0).abs() < 0.15), "{sectors:?}");
}

#[test]
fn compression_takes_its_share_exactly() {
    let (ground, push, _) = pressed(Soil { compression: 0.25, ..plain(30.0) }, 0.3, 0.1);
    let before = 128 * 128 * (0.75 / QUANTUM) as i128;
    assert_eq!(ground.total(), before - push.compressed);
    let share = push.compressed as f64 / push.displaced as f64;
    assert!((share - 0.25).abs() < 1e-9, "{share}");
}

#[test]
fn presets_print_as_their_names_say() {
    let rim = |name: &str| {
        let soil = Soil::preset(name).unwrap();
        let (mut ground, push, _) = pressed(soil, 0.3, 0.15);
        // Some R² sweeps for a print of R = 16 columns: its wall drives nothing along the rim.
        assert!(ground.erode(1000).settled, "{name}");
        let above = ground.heights().iter().map(|&h| (metres(h) - 0.75).max(0.0)).sum::<f64>();
        let deepest = 0.75 - metres(*ground.heights().iter().min().unwrap());
        (above / metres(push.displaced as i64), deepest)
    };
    let [sand, mud, snow] = ["sand", "mud", "snow"].map(rim);
    assert_eq!(snow.0, 0.0, "snow has no rim");
    assert!(mud.0 > 0.3 && mud.0 <= 0.41 + 1e-9, "mud keeps its rim: {}", mud.0);
    assert!(sand.0 > 0.0 && sand.0 < 0.3, "some sand slides back: {}", sand.0);
    assert!((snow.1 - 0.15).abs() < 1e-3 && (mud.1 - 0.15).abs() < 1e-3, "both keep the print's depth");
    assert_eq!(Soil::preset("porridge"), None);
}

#[test]
fn a_body_that_lies_still_disturbs_nothing() {
    let soil = plain(30.0);
    let (mut ground, first, middle) = pressed(Soil { inside: 1.5, ..soil }, 0.15, 0.05);
    assert!(ground.erode(100_000).settled);
    let ball = sphere(middle.extend(-0.25 + 0.1), 0.15);
    let area = ground.grid().area(middle - 0.15, middle + 0.15);
    while ground.push(area, &ball).displaced > 0 {
        ground.erode(100_000);
    }
    let again = ground.push(area, &ball);
    assert_eq!((again.displaced, ground.is_quiet()), (0, true));
    assert!(again.contacts.len() >= first.contacts.len() * 9 / 10, "it still touches");
}

#[test]
fn a_pressed_wall_holds_at_the_inner_slope_and_falls_at_the_outer() {
    // A post with an upright side, pressed in by 0.2 m and lifted out again.
    let hole = |inside: f64| {
        let soil = Soil { compression: 1.0, inside, ..plain(30.0) };
        let mut ground = Columns::flat(grid([96, 96]), soil, 0.5).unwrap();
        let middle = ground.grid().origin.truncate() + 0.75;
        let area = ground.grid().area(middle - 0.25, middle + 0.25);
        ground.push(area, &|x, y| (DVec2::new(x, y).distance(middle) < 0.2).then_some(-1.0 + 0.3));
        assert!(ground.erode(20_000).settled);
        metres(ground.heights()[ground.grid().column_at(middle.x + 0.19, middle.y).unwrap()])
    };
    let (firm, loose) = (hole(1.57), hole(30_f64.to_radians()));
    assert!((firm - 0.3).abs() < 1e-9, "the foot of the wall is clean: {firm}");
    assert!(loose > 0.35, "sand has slid to the foot: {loose}");
}

#[test]
fn loose_sand_on_a_footprint_is_loose() {
    let (mut ground, push, _) = pressed(plain(30.0), 0.3, 0.1);
    let column = push.contacts[push.contacts.len() / 2].column as usize;
    assert!(ground.is_pressed(column));
    assert_eq!(ground.raise(column, 1000), 1000);
    assert!(!ground.is_pressed(column));
}

#[test]
fn a_traced_wall_has_the_underside_of_the_body() {
    let (centre, radius) = (DVec3::new(0.1, -0.2, 1.0), 0.4);
    let wall = Wall::new("ball", Geometry::Sphere { centre, radius, side: Side::Outside }, 0);
    let state = wall.state_at(0.0);
    let found = traced(|p| wall.clearance(&state, p), [0.0, 2.0], 1e-7);
    let exact = sphere(centre, radius);
    let mut random = Random::new(3, 1);
    for _ in 0..500 {
        let (x, y) = (random.range(-0.4, 0.6), random.range(-0.7, 0.3));
        match (found(x, y), exact(x, y)) {
            (Some(a), Some(b)) => assert!((a - b).abs() < 1e-3, "{a} {b} at {x}, {y}"),
            (None, None) => {}
            (a, b) => panic!("{a:?} {b:?} at {x}, {y}"),
        }
    }
}

#[test]
fn without_a_column_beside_the_body_sand_stays() {
    let mut ground = Columns::flat(grid([8, 8]), plain(30.0), 0.5).unwrap();
    let before = ground.save().height;
    let area = ground.grid().area(DVec2::splat(-9.0), DVec2::splat(9.0));
    let push = ground.push(area, &|_, _| Some(-0.75));
    assert_eq!((push.contacts.len(), push.compressed, ground.save().height), (64, 0, before));
}

#[test]
fn the_surface_of_an_inclined_ground_is_its_plane() {
    let size = [20, 30];
    let place = grid(size);
    let plane = |p: DVec2| 0.5 + 0.25 * p.x - 0.125 * p.y;
    let heights: Vec<f64> = (0..place.len()).map(|i| plane(place.centre(i))).collect();
    let ground = Columns::new(place, plain(45.0), &heights).unwrap();
    for p in [DVec2::new(-0.4, 0.3), DVec2::new(-0.31, 0.55), DVec2::new(-0.2, 0.7)] {
        assert!((ground.height_at(p.x, p.y).unwrap() - (plane(p) - 1.0)).abs() < 1e-11);
        let normal = DVec3::new(-0.25, 0.125, 1.0).normalize();
        assert!(ground.normal_at(p.x, p.y).unwrap().distance(normal) < 1e-9);
    }
    assert_eq!(ground.height_at(-0.51, 0.3), None);
}

#[test]
fn grains_go_in_and_come_out_with_nothing_lost() {
    let mut ground = Columns::flat(grid([8, 8]), plain(30.0), 0.0).unwrap();
    let volume = 4.2e-9 / 0.6;
    let (quanta, left) = ground.grid().quanta(volume);
    assert!(left >= 0.0 && left <= ground.grid().volume(1) && ground.raise(9, quanta) == quanta);
    assert!((ground.volume() + left - volume).abs() < 1e-22);
    assert_eq!(ground.lower(9, quanta + 5), quanta, "there is no more than that");
    assert_eq!(ground.total(), 0);
}

#[test]
fn grounds_that_cannot_be_are_refused() {
    let make = |change: &dyn Fn(&mut Grid, &mut Soil, &mut f64)| {
        let (mut place, mut soil, mut height) = (grid([4, 4]), Soil::SAND, 0.1);
        change(&mut place, &mut soil, &mut height);
        Columns::flat(place, soil, height).map(|_| ())
    };
    assert_eq!(make(&|_, _, _| {}), Ok(()));
    assert_eq!(make(&|g, _, _| g.size = [0, 4]), Err(GroundError::Size(0, 4)));
    assert!(matches!(make(&|g, _, _| g.size = [1 << 20, 1 << 20]), Err(GroundError::Size(..))));
    assert!(matches!(make(&|g, _, _| g.cell = 0.0), Err(GroundError::Cell(_))));
    assert!(matches!(make(&|g, _, _| g.cell = f64::NAN), Err(GroundError::Cell(_))));
    assert_eq!(make(&|g, _, _| g.origin.x = f64::INFINITY), Err(GroundError::Origin));
    assert!(matches!(make(&|_, _, h| *h = -0.1), Err(GroundError::Height { .. })));
    assert!(matches!(make(&|_, _, h| *h = f64::NAN), Err(GroundError::Height { .. })));
    assert!(matches!(make(&|_, _, h| *h = 9000.0), Err(GroundError::Height { .. })));
    assert!(matches!(make(&|_, s, _| s.stop = 0.6), Err(GroundError::Soil { name: "outside", .. })));
    assert!(matches!(make(&|_, s, _| s.compression = 1.1), Err(GroundError::Soil { name: "compression", .. })));
    let mut saved = Columns::flat(grid([4, 4]), Soil::SAND, 0.1).unwrap().save();
    saved.awake = vec![0, 0];
    assert!(matches!(Columns::load(grid([4, 4]), Soil::SAND, saved), Err(GroundError::Saved("awake", ..))));
}
