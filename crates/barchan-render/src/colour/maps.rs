//! Perceptual colour maps: equal steps of the number look like equal steps of the colour, also in grey and to the colour-blind.
//!
//! Each is 33 colours in sRGB, evenly spaced, joined by straight lines; that is within 6/255 (cividis; the others 2/255)
//! of the published tables of 256, which are
//! viridis and inferno by Smith and van der Walt (matplotlib, CC0), cividis by Nuñez, Anderton & Renslow 2018 (PLoS ONE
//! 13, e0199239), batlow by Crameri (Scientific colour maps 8, doi 10.5281/zenodo.1243862, MIT).

use glam::Vec3;

/// A map from 0…1 to colours, dark to light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Map {
    /// Blue, green, yellow.
    #[default]
    Viridis,
    /// Black, red, yellow: for what glows.
    Inferno,
    /// Blue, grey, yellow: the same to nearly all eyes.
    Cividis,
    /// Blue, green, ochre, rose: calm, beside sand.
    Batlow,
}

impl Map {
    /// Every map by its name in scenes and on the command line.
    pub const NAMES: &'static [(&'static str, Map)] =
        &[("viridis", Map::Viridis), ("inferno", Map::Inferno), ("cividis", Map::Cividis), ("batlow", Map::Batlow)];

    /// Colour of a share, sRGB from 0 to 1; shares outside 0…1 get the nearest end, NaN the lower one.
    pub fn srgb(self, share: f32) -> Vec3 {
        let table = match self {
            Map::Viridis => &VIRIDIS,
            Map::Inferno => &INFERNO,
            Map::Cividis => &CIVIDIS,
            Map::Batlow => &BATLOW,
        };
        // `max` first: it turns NaN into 0.
        let place = share.max(0.0).min(1.0) * (table.len() - 1) as f32;
        let below = (place as usize).min(table.len() - 2);
        unpack(table[below]).lerp(unpack(table[below + 1]), place - below as f32)
    }

    /// Colour of a share as a reflectance, linear RGB.
    pub fn linear(self, share: f32) -> Vec3 {
        linear(self.srgb(share))
    }
}

fn unpack(rgb: u32) -> Vec3 {
    let [_, r, g, b] = rgb.to_be_bytes();
    Vec3::new(r.into(), g.into(), b.into()) / 255.0
}

/// sRGB to linear light (IEC 61966-2-1), component by component.
pub fn linear(srgb: Vec3) -> Vec3 {
    let one = |c: f32| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    Vec3::from_array(srgb.to_array().map(one))
}

const VIRIDIS: [u32; 33] = [
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b, 0x375a8d, 0x33638d,
    0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b, 0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b,
    0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c, 0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725,
];
const INFERNO: [u32; 33] = [
    0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d, 0x63146e, 0x70196e,
    0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d, 0xd14644, 0xdb4f3b, 0xe35932, 0xeb6528,
    0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f, 0xfbba1f, 0xf9ca32, 0xf5d949, 0xf2e865, 0xf3f586, 0xfcffa4,
];
const CIVIDIS: [u32; 33] = [
    0x00224e, 0x00285b, 0x002e6a, 0x043371, 0x1a386f, 0x273e6e, 0x32436d, 0x3b496c, 0x434e6c, 0x4b546c, 0x52596d,
    0x5a5f6e, 0x61656f, 0x686a71, 0x6f7073, 0x757676, 0x7c7b78, 0x848179, 0x8b8778, 0x938d78, 0x9b9376, 0xa39a75,
    0xaba072, 0xb3a670, 0xbbad6c, 0xc3b469, 0xccba64, 0xd4c15f, 0xddc958, 0xe6d051, 0xefd748, 0xf8df3c, 0xfee838,
];
const BATLOW: [u32; 33] = [
    0x011959, 0x08255b, 0x0d315d, 0x0f3b5f, 0x114360, 0x134b61, 0x165262, 0x1b5962, 0x226061, 0x2a655e, 0x356a59,
    0x406f54, 0x4d734d, 0x597646, 0x667a3f, 0x737e38, 0x818232, 0x90862d, 0xa08a2b, 0xb08d2e, 0xbf9035, 0xce923f,
    0xdb954c, 0xe8985b, 0xf29d6c, 0xf8a27e, 0xfca891, 0xfdaea3, 0xfdb4b4, 0xfdbac5, 0xfcc0d6, 0xfbc6e8, 0xfaccfa,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Lightness L* of CIE 1976, from 0 to 100.
    fn lightness(colour: Vec3) -> f32 {
        let y = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
        if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    #[test]
    fn lightness_rises_all_the_way() {
        for (name, map) in Map::NAMES {
            let steps: Vec<f32> = (0..=100).map(|i| lightness(map.linear(i as f32 / 100.0))).collect();
            assert!(steps.windows(2).all(|w| w[1] > w[0]), "{name} {steps:?}");
            assert!(steps[100] - steps[0] > 50.0, "{name} spans {}", steps[100] - steps[0]);
        }
    }

    #[test]
    fn ends_and_what_is_beyond_them() {
        assert_eq!(Map::Viridis.srgb(0.0), unpack(0x440154));
        assert_eq!(Map::Viridis.srgb(7.0), unpack(0xfde725));
        assert_eq!(Map::Viridis.srgb(-7.0), Map::Viridis.srgb(f32::NAN));
        // The middle of the published table, entry 127.5.
        let middle = Map::Viridis.srgb(0.5) * 255.0;
        assert!((middle - Vec3::new(33.0, 144.5, 140.5)).abs().max_element() < 2.0, "{middle}");
    }
}
