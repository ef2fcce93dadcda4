//! What things look like: reflectances by the name of the material, and the small differences between grains.

use super::maps::linear;
use glam::Vec3;

/// Words found in names of materials, and the colour (sRGB) such a thing has by daylight. The first that fits is taken, so
/// what is particular stands before what is general.
const KNOWN: &[(&str, u32)] = &[
    ("snow", 0xeef2f7),
    ("ice", 0xd5e6ee),
    ("salt", 0xefeeea),
    ("sugar", 0xf1efe8),
    ("flour", 0xf0eadd),
    ("rice", 0xe9e2cf),
    ("wheat", 0xd0aa70),
    ("barley", 0xc9a264),
    ("corn", 0xe0ab3c),
    ("maize", 0xe0ab3c),
    ("seed", 0x9c7a4a),
    ("grain", 0xd0aa70),
    ("coffee", 0x5a3a24),
    ("bean", 0x8d4f33),
    ("nut", 0xa98460),
    ("coal", 0x2f2e2e),
    ("basalt", 0x55534f),
    ("lava", 0x4a4441),
    ("granite", 0xa79c95),
    ("marble", 0xe3e0da),
    ("limestone", 0xcdc3ad),
    ("clay", 0xa9714c),
    ("soil", 0x7a5a3e),
    ("mud", 0x8a765f),
    ("earth", 0x7a5a3e),
    ("regolith", 0x8a8783),
    ("gravel", 0x99948c),
    ("stone", 0x99948c),
    ("rock", 0x99948c),
    ("ore", 0x8a5a44),
    ("quartz", 0xe4d3b4),
    ("sand", 0xdabd90),
    ("copper", 0xc7794f),
    ("brass", 0xc9a24b),
    ("gold", 0xd9ad3e),
    ("lead", 0x7c8087),
    ("steel", 0xa9adb3),
    ("iron", 0x8d8f92),
    ("alumin", 0xc2c5c9),
    ("metal", 0xa9adb3),
    ("glass", 0x9fc3c6),
    ("bead", 0x9fc3c6),
    ("plastic", 0xd8dad8),
    ("pellet", 0xd8dad8),
    ("rubber", 0x4a4a4c),
    ("boxwood", 0xdcc08a),
    ("ebony", 0x3a302a),
    ("wood", 0xb18655),
];

/// For materials nobody knows: colours of equal weight that stay apart for most eyes (Okabe & Ito 2008, muted).
const PALETTE: [u32; 7] = [0xdabd90, 0x6f9fc4, 0xc07a5a, 0x6fa98c, 0xb690b0, 0xc9b458, 0x8c8f94];

/// Reflectance over the light of the same colour on a screen: sun and sky together are brighter than a white page, and a
/// surface should come out in the colour that is meant.
pub(super) const UNDER_THE_SUN: f32 = 0.7;

fn colour(rgb: u32) -> Vec3 {
    let [_, r, g, b] = rgb.to_be_bytes();
    linear(Vec3::new(r.into(), g.into(), b.into()) / 255.0) * UNDER_THE_SUN
}

/// Reflectance (linear RGB) of things that have no colour of their own, by number.
pub(super) fn palette(number: usize) -> Vec3 {
    colour(PALETTE[number % PALETTE.len()])
}

/// Reflectance (linear RGB) of a material by a word in its name, such as `dry sand` or `steel balls`.
pub fn reflectance(name: &str) -> Option<Vec3> {
    let name = name.to_lowercase();
    KNOWN.iter().find(|(word, _)| name.contains(word)).map(|(_, rgb)| colour(*rgb))
}

/// Reflectances for a scene's materials: by name, by whatever else is known of each (say, its preset), or from a palette.
pub fn reflectances<'a>(materials: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<Vec3> {
    let one = |(i, (name, hint)): (usize, (&str, Option<&str>))| {
        reflectance(name).or_else(|| hint.and_then(reflectance)).unwrap_or_else(|| palette(i))
    };
    materials.into_iter().enumerate().map(one).collect()
}

/// A number from 0 to 1 that belongs to an id (the finaliser of MurmurHash3, which mixes all bits).
pub(crate) fn share(id: u32, salt: u32) -> f32 {
    let mut h = id.wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    (h ^ (h >> 16)) as f32 / u32::MAX as f32
}

/// The colour of one grain of a material: no two grains of sand are quite alike. Mostly lighter or darker, a little
/// warmer or cooler; a few grains are dark, as in most sands. `amount` 0 gives the material's own colour.
pub(crate) fn vary(base: Vec3, id: u32, amount: f32) -> Vec3 {
    // The sum of three even numbers is bell-shaped enough, and never far out.
    let bell = share(id, 1) + share(id, 2) + share(id, 3) - 1.5;
    let dark = if share(id, 4) < 0.03 { -0.45 } else { 0.0 };
    let light = (amount * (0.38 * bell + dark)).exp();
    let warm = amount * 0.10 * (share(id, 5) - 0.5);
    (base * light * Vec3::new(1.0 + warm, 1.0, 1.0 - 1.6 * warm)).clamp(Vec3::ZERO, Vec3::splat(0.95))
}

/// A colour of its own for an id: hues spread by the golden section in OKLCH, of equal lightness and chroma (Ottosson 2020).
pub(super) fn of_id(id: u32) -> Vec3 {
    let hue = (id as f32 * 0.618_034).fract() * std::f32::consts::TAU;
    let (lightness, chroma) = (0.68 + 0.14 * (share(id, 6) - 0.5), 0.11);
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.396_337_8 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    let rgb = Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    );
    rgb.clamp(Vec3::ZERO, Vec3::ONE) * UNDER_THE_SUN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_hints_are_understood() {
        let sand = reflectance("Dry Sand").unwrap();
        assert!(sand.x > sand.y && sand.y > sand.z, "sand is yellow: {sand}");
        assert!(reflectance("snow").unwrap().min_element() > 0.5, "snow is white");
        assert_eq!(reflectance("unobtainium"), None);
        let all = reflectances([("marbles", None), ("a", Some("glass beads")), ("b", None), ("c", None)]);
        assert_eq!(all[1], reflectance("glass").unwrap());
        assert_ne!(all[2], all[3], "strangers are told apart");
    }

    #[test]
    fn grains_differ_around_their_material() {
        let base = Vec3::new(0.6, 0.45, 0.25);
        let all: Vec<Vec3> = (0..20_000).map(|id| vary(base, id, 1.0)).collect();
        let mean = all.iter().sum::<Vec3>() / all.len() as f32;
        assert!((mean / base - 1.0).abs().max_element() < 0.04, "the heap keeps the material's colour: {mean}");
        let light: Vec<f32> = all.iter().map(|c| c.y / base.y).collect();
        let spread = (light.iter().map(|l| (l - 1.0).powi(2)).sum::<f32>() / light.len() as f32).sqrt();
        assert!((0.1..0.3).contains(&spread), "{spread}");
        let hue = |c: &Vec3| (c.x / c.z) / (base.x / base.z);
        assert!(all.iter().all(|c| (0.85..1.18).contains(&hue(c))), "hues stay near");
        assert_eq!(vary(base, 7, 1.0), all[7], "the same in every frame");
        assert_eq!(vary(base, 7, 0.0), base);
    }

    #[test]
    fn neighbouring_ids_are_told_apart() {
        for id in 0..500 {
            assert!((of_id(id) - of_id(id + 1)).abs().max_element() > 0.03, "{id}");
        }
    }
}
