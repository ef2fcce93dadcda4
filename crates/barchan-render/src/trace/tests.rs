use super::*;
use crate::{CpuRenderer, Sphere};

fn ball(centre: [f32; 3], radius: f32, colour: f32) -> Sphere {
    Sphere { centre, radius, colour: [colour; 3], grain: 0 }
}

fn view() -> View {
    View { eye: Vec3::new(0.0, -6.0, 1.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.49, size: [64, 48] }
}

/// A room of even light: what is in it sends back its reflectance, wherever it is seen from.
fn even() -> Light {
    let one = Vec3::ONE;
    Light { sun: Vec3::ZERO, sky: one, ground: one, background: [one; 2], exposure: 0.2, ..Light::default() }
}

fn draw(mut renderer: impl Renderer, picture: &Picture, light: &Light, samples: u32) -> Image {
    let quality = Quality { samples, occlusion: false, ..Quality::default() };
    renderer.draw(picture, &view(), light, &quality).unwrap()
}

fn middle(image: &Image) -> u8 {
    image.rgba[4 * (image.width as usize * (image.height as usize / 2) + image.width as usize / 2)]
}

#[test]
fn in_even_light_a_ball_sends_back_its_reflectance() {
    for reflectance in [0.5, 0.9] {
        let picture = Picture { spheres: vec![ball([0.0; 3], 1.0, reflectance)], ..Picture::default() };
        let image = draw(TraceRenderer::default(), &picture, &even(), 4);
        let exact = look::encode(&even(), Vec3::splat(reflectance), 0, 0)[0];
        assert!(middle(&image).abs_diff(exact) <= 1, "{} for {exact}", middle(&image));
        // And what sends back all light cannot be told from the background.
        let white = Picture { spheres: vec![ball([0.0; 3], 1.0, 1.0)], ..Picture::default() };
        let image = draw(TraceRenderer::default(), &white, &even(), 4);
        let (low, high) = image.rgba.chunks(4).fold((255, 0), |(a, b), p| (p[0].min(a), p[0].max(b)));
        assert!(high - low <= 1, "{low} to {high}");
    }
}

#[test]
fn a_ball_alone_looks_as_it_does_in_films() {
    let picture = Picture { spheres: vec![ball([0.0; 3], 1.0, 0.4)], ..Picture::default() };
    let traced = draw(TraceRenderer::default(), &picture, &Light::default(), 16);
    let film = draw(CpuRenderer::default(), &picture, &Light::default(), 16);
    let mean = |image: &Image| {
        let sum: f64 = image.rgba.chunks(4).map(|p| f64::from(p[0]) + f64::from(p[1]) + f64::from(p[2])).sum();
        sum / (3.0 * f64::from(image.width * image.height))
    };
    assert!((mean(&traced) - mean(&film)).abs() < 1.0, "{} and {}", mean(&traced), mean(&film));
}

#[test]
fn a_ball_over_the_floor_shades_it() {
    let floor = Some((-1.0, Vec3::splat(0.5)));
    let light = Light { to_sun: Vec3::Z, ..Light::default() };
    let of = |spheres: Vec<Sphere>| {
        draw(TraceRenderer::default(), &Picture { spheres, floor, ..Picture::default() }, &light, 16)
    };
    // The floor right below the ball, seen past a ball that is small: the row below the middle.
    let (bare, shaded) = (of(vec![ball([0.0, 30.0, 0.0], 0.1, 0.5)]), of(vec![ball([0.0, 0.0, 0.2], 0.6, 0.5)]));
    let at = |image: &Image, x: usize, y: usize| image.rgba[4 * (64 * y + x)];
    let darkest = |image: &Image| (24..48).map(|y| at(image, 32, y)).min().unwrap();
    assert!(darkest(&shaded) + 20 < darkest(&bare), "{} under the ball, {} without", darkest(&shaded), darkest(&bare));
}

#[test]
fn a_picture_is_the_same_on_any_number_of_threads() {
    let spheres = (0..60).map(|i| ball([0.3 * (i % 8) as f32 - 1.0, 0.2 * (i % 5) as f32, 0.02 * i as f32], 0.2, 0.5));
    let picture = Picture { spheres: spheres.collect(), floor: Some((-0.2, Vec3::splat(0.3))), ..Picture::default() };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(TraceRenderer { angular: true, lens: 0.05 }, &picture, &Light::default(), 4))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn a_lens_blurs_what_is_out_of_focus_and_nothing_else() {
    let light = Light { background: [Vec3::ZERO; 2], ..even() };
    let blurred = |y: f32, lens: f32| {
        let picture = Picture { spheres: vec![ball([0.0, y, 0.0], 0.5, 1.0)], ..Picture::default() };
        let image = draw(TraceRenderer { angular: false, lens }, &picture, &light, 16);
        let full = image.rgba.chunks(4).map(|p| p[0]).max().unwrap();
        image.rgba.chunks(4).filter(|p| p[0] > full / 8 && p[0] < full / 8 * 7).count()
    };
    let (sharp, focused, beyond) = (blurred(0.0, 0.0), blurred(0.0, 0.4), blurred(6.0, 0.4));
    assert!(focused < 3 * sharp, "{focused} pixels between light and dark, {sharp} without a lens");
    assert!(beyond > 2 * blurred(6.0, 0.0), "{beyond} pixels between light and dark out of focus");
}
