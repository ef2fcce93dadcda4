//! What the look promises of its own numbers.

use crate::common;

use barchan_render::{Extent, Light, Picture, View, look};
use common::ball;
use glam::{Vec2, Vec3};

fn view(distance: f32, size: [u32; 2]) -> View {
    let eye = Vec3::new(0.0, -distance, 0.5 * distance);
    View { eye, target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size }
}

/// Grains over a square of 2 m.
fn layer() -> Picture {
    let places = (0..400).map(|i| Vec3::new((i % 20) as f32 - 9.5, (i / 20) as f32 - 9.5, 0.5) * 0.1);
    Picture { spheres: places.enumerate().map(|(i, p)| ball(p, 0.05, i as u32)).collect(), ..Picture::default() }
}

#[test]
fn a_mean_of_the_openness_has_every_turn_once_and_surrounds_its_pixel() {
    for (x, y) in common::pixels([12, 12]).filter(|(x, y)| *x > 2 && *y > 2) {
        let [column, row] = look::open_mean(x, y).map(|n| n as u32);
        let eight: Vec<_> = (0..8).map(|k| look::measured(column + k % 2, row + k / 2)).collect();
        let mut numbers: Vec<u32> = eight.iter().map(|[x, y]| look::pattern(*x, *y)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..8).collect::<Vec<_>>(), "around ({x}, {y})");
        let middle = eight.iter().map(|[x, y]| Vec2::new(*x as f32, *y as f32)).sum::<Vec2>() / 8.0;
        let off = middle - Vec2::new(x as f32, y as f32);
        assert!(off.abs().max_element() <= 0.5, "the mean of ({x}, {y}) stands {off} beside it");
        assert!(eight.iter().all(|[a, b]| a.abs_diff(x) <= 2 && b.abs_diff(y) <= 2));
    }
}

#[test]
fn the_floor_is_open_beyond_the_reach_of_all_matter_and_strays_count() {
    let mut picture = layer();
    let view = view(5.0, [640, 360]);
    let beside = |x: f32| Vec3::new(x, 0.0, 0.0);
    let extent = Extent::of(&picture, &view);
    // The outermost grains end at 1 m.
    assert!(look::floor_open(&extent, beside(1.31), 0.3) && !look::floor_open(&extent, beside(1.29), 0.3));
    assert!(look::floor_open(&extent, beside(-1.31), 0.3) && !look::floor_open(&extent, beside(-1.29), 0.3));
    picture.spheres.push(ball(Vec3::new(60.0, 0.0, 0.05), 0.05, 400));
    let extent = Extent::of(&picture, &view);
    assert!(extent.half.x < 30.0, "a stray does not widen the box");
    assert!(!look::floor_open(&extent, beside(59.8), 0.3) && look::floor_open(&extent, beside(60.4), 0.3));
    assert!(look::floor_open(&Extent::of(&Picture::default(), &view), Vec3::ZERO, 0.3), "nothing closes nothing off");
}

#[test]
fn texels_of_the_suns_map_are_smaller_than_pixels_until_the_map_is_full() {
    let picture = layer();
    for (distance, size) in
        [(3.0, [320, 180]), (5.0, [1280, 720]), (5.0, [3840, 2160]), (20.0, [1280, 720]), (0.5, [1280, 720])]
    {
        let view = view(distance, size);
        let map = look::SunMap::fit(&picture, &Extent::of(&picture, &view), &Light::default(), &view);
        let pixel = (view.eye - Extent::of(&picture, &view).middle).length() / look::focal(&view);
        let [step, _, most] = look::SHADOW_SIDES;
        assert!(map.side.is_multiple_of(step) && map.side <= most, "{} texels", map.side);
        let full = map.side >= (2 * size[1]).clamp(look::SHADOW_SIDES[1], most);
        assert!(map.texel <= look::SHADOW_PIXEL * pixel || full, "{} of a pixel", map.texel / pixel);
        // No more than the step costs beyond what is needed.
        assert!((map.side - step) as f32 * look::SHADOW_PIXEL * pixel <= map.side as f32 * map.texel, "{}", map.side);
        for s in &picture.spheres {
            let at = map.place(s.centre.into());
            let (low, high) = (at.truncate() - s.radius / map.texel, at.truncate() + s.radius / map.texel);
            assert!(low.min_element() >= 0.0 && high.max_element() <= map.side as f32, "{at} is not on the map");
        }
    }
}
