//! The look of snow, fog and spray: points 10 to 12 of the look.
//!
//! Where light is told of snow ([`Light::snow`]), whatever is nearly white ([`snowy`]) is shaded as snow: flatter than Lambert's law, for light
//! comes out of it again some way from where it went in; blue where the sun does not reach; with bumps and glints. All that varies from place to
//! place is found from the place in the frame of the material (an *anchor* is taken off it), so that it goes along with what moves.

use super::{Light, bounce, power, smoothstep};
use glam::{IVec3, Vec2, Vec3};

/// How snow looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snow {
    /// Width of what bumps are made of: a grain's diameter [m].
    pub grain: f32,
    /// Strength of the bumps: 0 none, 1 as fresh snow has.
    pub bump: f32,
    /// Share of the highlight that comes from single facets, 0 to 1.
    pub glitter: f32,
}

/// Fog between the eye and things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fog {
    /// Distance at which 1/e of a surface's light is left, along a level line of sight [m].
    pub reach: f32,
    /// Height over which it thins to 1/e, upwards from the eye [m]; 0: everywhere alike.
    pub fall: f32,
}

/// Least and largest channel of a reflectance between which it becomes snow.
pub const SNOWY: [f32; 2] = [0.55, 0.72];
/// Lengths of the two octaves of bumps [grains].
pub const BUMPS: [f32; 2] = [7.0, 1.7];
/// Slope of a bump, over the gradient of the noise.
pub const BUMP: f32 = 0.11;
/// Widths between which a bump fades in [pixels].
pub const BUMP_FADE: [f32; 2] = [2.0, 6.0];
/// How flat the diffuse light of snow is.
pub const FLAT: f32 = 0.8;
/// Light of the sky where the sun does not reach, over what it is elsewhere.
pub const SHADE: Vec3 = Vec3::new(0.80, 0.92, 1.12);
/// Exponent and strength of the highlight.
pub const SHEEN: [f32; 2] = [4.0, 0.06];
/// Share of the directions in which a facet shines: within 4.4°.
pub const GLINT: f32 = 0.003;
/// Narrowest cell with a facet [pixels]; the widest has twice that.
pub const GLINT_PIXELS: f32 = 1.0;

/// How far a reflectance is that of snow, 0 to 1.
pub fn snowy(a: Vec3) -> f32 {
    smoothstep(SNOWY[0], SNOWY[1], a.min_element())
}

/// A number from 0 to 1 of a cell and a salt (the finaliser of MurmurHash3 mixes the bits).
pub fn cell_share(cell: IVec3, salt: u32) -> f32 {
    let [x, y, z] = cell.to_array().map(|c| c as u32);
    let mut h = x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ z.wrapping_mul(0xc2b2_ae35);
    h ^= salt.wrapping_mul(0x27d4_eb2f);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    ((h ^ (h >> 16)) >> 8) as f32 / 16_777_216.0
}

/// Gradient of a smooth noise with values from −1 to 1 at whole numbers.
pub fn noise_gradient(p: Vec3, salt: u32) -> Vec3 {
    let low = p.floor();
    let (cell, f) = (low.as_ivec3(), p - low);
    let (u, rise) = (f * f * (3.0 - 2.0 * f), 6.0 * f * (1.0 - f));
    let mut sum = Vec3::ZERO;
    for k in 0..8 {
        let corner = IVec3::new(k & 1, k >> 1 & 1, k >> 2);
        let value = 2.0 * cell_share(cell + corner, salt) - 1.0;
        let far = corner.as_vec3();
        let weight = far * u + (1.0 - far) * (1.0 - u);
        let slope = (2.0 * far - 1.0) * rise;
        sum += value * slope * Vec3::new(weight.y * weight.z, weight.x * weight.z, weight.x * weight.y);
    }
    sum
}

/// What bumps add to the normal n at q, a place in the material's frame, where a pixel is `pixel` wide [m]: along the surface, of mean 0.
pub fn bump(snow: &Snow, q: Vec3, n: Vec3, pixel: f32) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for (salt, octave) in BUMPS.iter().enumerate() {
        let length = octave * snow.grain;
        let seen = smoothstep(BUMP_FADE[0], BUMP_FADE[1], length / pixel);
        if seen > 0.0 {
            sum += seen * noise_gradient(q / length, 77 + salt as u32);
        }
    }
    sum *= BUMP * snow.bump;
    sum - n * n.dot(sum)
}

/// Light of glints at q over its mean, which is 1: cells hold a facet each, and shine where it stands as the half vector h does. Cells are some
/// pixels wide, in octaves that fade into each other, so that their number does not depend on the distance.
pub fn glitter(q: Vec3, h: Vec3, pixel: f32) -> f32 {
    let level = (GLINT_PIXELS * pixel).max(1e-9).log2();
    let octave = level.floor();
    glint(q, h, octave as i32) * (1.0 - (level - octave)) + glint(q, h, octave as i32 + 1) * (level - octave)
}

fn glint(q: Vec3, h: Vec3, octave: i32) -> f32 {
    let width = f32::from_bits(((octave + 127).clamp(1, 254) as u32) << 23);
    let cell = (q / width + 0.381_966).floor().as_ivec3();
    let salt = (octave as u32).wrapping_mul(2);
    let z = 2.0 * cell_share(cell, salt.wrapping_add(1001)) - 1.0;
    let (sin, cos) = (std::f32::consts::TAU * cell_share(cell, salt.wrapping_add(1002))).sin_cos();
    let facet = Vec2::new(cos, sin) * (1.0 - z * z).max(0.0).sqrt();
    if facet.extend(z).dot(h).abs() > 1.0 - GLINT { 1.0 / GLINT } else { 0.0 }
}

/// A place on snow.
#[derive(Clone, Copy, Debug)]
pub struct SnowSpot {
    /// Place in the frame of the material [m].
    pub place: Vec3,
    /// How much of the bumps is seen, 0 to 1.
    pub still: f32,
    /// Width of a pixel there [m].
    pub pixel: f32,
}

/// Light from snow to the eye; the rest as [`super::shade`] has it.
#[allow(clippy::too_many_arguments)]
pub fn shade_snow(
    light: &Light,
    snow: &Snow,
    spot: &SnowSpot,
    a: Vec3,
    n: Vec3,
    to_eye: Vec3,
    sun_share: f32,
    open: f32,
) -> Vec3 {
    // Seen at a slant, bumps are narrower.
    let slanted = spot.pixel / n.dot(to_eye).max(0.2);
    let rough = n + bump(snow, spot.place, n, slanted) * spot.still;
    let around = light.ground.lerp(light.sky, (0.5 + 0.5 * rough.z).clamp(0.0, 1.0));
    let slant = rough.dot(light.to_sun);
    let share = if n.dot(light.to_sun) > 0.0 { sun_share } else { 0.0 };
    let mut sum = a * around * bounce(open, a) * SHADE.lerp(Vec3::ONE, share);
    if slant > 0.0 && share > 0.0 {
        let h = (light.to_sun + to_eye).normalize_or_zero();
        let glints = if snow.glitter > 0.0 { glitter(spot.place, h, spot.pixel) } else { 1.0 };
        let sheen = SHEEN[1] * power(n.dot(h).max(0.0), SHEEN[0]) * (1.0 + snow.glitter * (glints - 1.0));
        sum += light.sun * share * (a * (slant * (1.0 + FLAT) / (slant + FLAT)) + sheen);
    }
    sum
}

/// Share of a surface's light that fog leaves, f = e^(−(ρx)²), at a distance x [m] from the eye and as far above it [m].
pub fn fog_share(fog: &Fog, distance: f32, above: f32) -> f32 {
    let thin = if fog.fall > 0.0 {
        let d = (above / fog.fall).clamp(-20.0, 80.0);
        if d.abs() < 1e-3 { 1.0 - 0.5 * d } else { (1.0 - (-d).exp()) / d }
    } else {
        1.0
    };
    let depth = distance / fog.reach * thin;
    (-depth * depth).exp()
}

/// Light of spray and cloud where it is thick.
pub fn spray_light(light: &Light) -> Vec3 {
    0.82 * (0.5 * (light.sky + light.ground) + 0.42 * light.sun)
}

/// Light of a puff that is `way` from the eye [m], in the fog.
pub fn puff_light(light: &Light, way: Vec3) -> Vec3 {
    let own = spray_light(light);
    light.fog.map_or(own, |fog| light.background[1].lerp(own, fog_share(&fog, way.length(), way.z)))
}

/// Opacity of a puff of an optical depth through its middle, at `square` of its radius (squared) from the middle, with a surface `behind` it
/// [radii]. Opacities over each other give 1 − e^(−Σ depth), in any order.
pub fn puff_share(depth: f32, square: f32, behind: f32) -> f32 {
    let round = (1.0 - square).max(0.0);
    let soft = (0.5 + 0.5 * behind).clamp(0.0, 1.0);
    1.0 - (-depth * round * round * soft).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fog_leaves_what_its_formula_says() {
        let fog = Fog { reach: 100.0, fall: 0.0 };
        for (x, left) in [(50.0, 0.7788), (100.0, 0.3679), (200.0, 0.0183)] {
            assert!((fog_share(&fog, x, 0.0) - left).abs() < 5e-5, "{x}");
        }
        // Thinner above, thicker below; the mean of e^(−z/H) along the way.
        let fog = Fog { fall: 50.0, ..fog };
        let mean = (1.0 - (-2.0f32).exp()) / 2.0;
        assert!((fog_share(&fog, 100.0, 100.0) - (-mean * mean).exp()).abs() < 1e-5);
        assert!(fog_share(&fog, 100.0, -20.0) < fog_share(&fog, 100.0, 0.0));
    }

    /// Mean light of a sheet of snow seen from a distance, and how many of its pixels glint per million.
    fn sheet(snow: &Snow, pixel: f32, slope: f32) -> (f64, f64) {
        let light = Light { to_sun: Vec3::new(0.5, 0.3, 0.8).normalize(), ..Light::default() };
        let n = Vec3::new(-slope, 0.1, 1.0).normalize();
        let to_eye = Vec3::new(-0.3, -0.6, 0.7).normalize();
        let (across, along) = n.any_orthonormal_pair();
        let (mut sum, mut glints, side) = (0.0, 0.0, 700);
        let h = (light.to_sun + to_eye).normalize();
        for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
            let place = (across * i as f32 + along * j as f32) * pixel;
            let spot = SnowSpot { place, still: 1.0, pixel };
            sum += f64::from(shade_snow(&light, snow, &spot, Vec3::splat(0.9), n, to_eye, 1.0, 1.0).y);
            glints += f64::from(u8::from(glitter(place, h, pixel) > 0.25 / GLINT));
        }
        let count = f64::from(side * side);
        (sum / count, 1e6 * glints / count)
    }

    #[test]
    fn bumps_and_glints_keep_the_mean_light_of_a_sheet() {
        for slope in [0.0, 0.6] {
            let plain = sheet(&Snow { grain: 0.3, bump: 0.0, glitter: 0.0 }, 0.05, slope).0;
            for (bump, glitter) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                let (mean, _) = sheet(&Snow { grain: 0.3, bump, glitter }, 0.05, slope);
                assert!((mean / plain - 1.0).abs() < 0.02, "bump {bump}, glitter {glitter}: {mean} for {plain}");
            }
        }
    }

    #[test]
    fn glints_are_as_many_at_any_distance() {
        let snow = Snow { grain: 0.3, bump: 1.0, glitter: 1.0 };
        let near = sheet(&snow, 0.037, 0.3).1;
        assert!(near > 100.0, "{near} a megapixel");
        for further in [2.0, 4.0] {
            let many = sheet(&snow, 0.037 * further, 0.3).1;
            assert!((many / near - 1.0).abs() < 0.2, "{many} a megapixel at {further}, {near} near by");
        }
    }

    #[test]
    fn optical_depths_add_in_any_order() {
        let light = Vec3::new(0.9, 0.8, 0.7);
        let puffs = [0.3, 1.2, 0.05, 2.0].map(|depth| puff_share(depth, 0.0, 1.0));
        let over = |order: [usize; 4]| order.iter().fold(Vec3::ZERO, |under, i| under.lerp(light, puffs[*i]));
        let sum = 1.0 - (-3.55f32).exp();
        for order in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 3, 1]] {
            assert!((over(order) - light * sum).length() < 1e-6);
        }
        assert_eq!(puff_share(1.0, 1.0, 1.0), 0.0, "nothing at its rim");
        assert_eq!(puff_share(1.0, 0.0, -1.0), 0.0, "nothing behind a surface");
    }

    #[test]
    fn the_gradient_is_that_of_a_smooth_noise_of_mean_zero() {
        let (mut sum, mut square) = (Vec3::ZERO, 0.0);
        for k in 0..20_000 {
            let p = Vec3::new(k as f32 * 0.37, k as f32 * 0.11 - 900.0, k as f32 * 0.05);
            let g = noise_gradient(p, 5);
            sum += g;
            square += g.length_squared() / 3.0;
        }
        assert!(sum.length() / 20_000.0 < 0.03, "{sum}");
        let rms = (square / 20_000.0).sqrt();
        assert!((0.4..1.2).contains(&rms), "{rms}");
        // No jump between cells.
        for axis in Vec3::AXES {
            let at = Vec3::new(0.3, 0.6, 0.8) * (1.0 - axis) + 4.0 * axis;
            let step = noise_gradient(at - 1e-4 * axis, 1) - noise_gradient(at + 1e-4 * axis, 1);
            assert!(step.length() < 1e-2, "{step}");
        }
    }
}
