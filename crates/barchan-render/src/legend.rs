//! What is written on a picture: a colour bar with its numbers, the time, and how fast the film plays.
//!
//! Sizes follow the picture's height, so a legend looks the same on a thumbnail's big sister. The letters are Ubuntu Light
//! (Ubuntu Font Licence 1.0), shipped by the crate `epaint_default_fonts`.

use crate::Image;
use crate::colour::Map;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont};

/// Height of letters, as a share of the picture's height.
const LETTERS: f32 = 0.026;
/// Free space between the picture's edge and what is written, as a share of its height.
const BORDER: f32 = 0.045;

/// What is to be written on a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// What the colours say.
    pub bar: Option<Bar>,
    /// Simulated time [s].
    pub time: Option<f64>,
    /// Simulated time over the film's time.
    pub speed: Option<f64>,
}

/// A colour bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The colours.
    pub map: Map,
    /// Numbers at its ends, in `unit`.
    pub range: [f32; 2],
    /// What the numbers are.
    pub label: String,
    /// Their SI unit, empty for a pure number; it gets a prefix where that makes shorter numbers.
    pub unit: String,
}

/// Units that take a prefix.
const PREFIXED: &[&str] = &["m", "m/s", "m/s2", "N", "Pa", "J", "W", "s", "N m"];

impl Bar {
    /// The unit with a prefix that suits the range, and the factor to it.
    fn scaled(&self) -> (String, f64) {
        let largest = f64::from(self.range[0].abs().max(self.range[1].abs()));
        let prefixes = [(1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
        let suits = |size: &&(f64, &str)| largest >= 0.5 * size.0;
        match prefixes.iter().rev().find(suits) {
            Some((size, prefix)) if PREFIXED.contains(&self.unit.as_str()) => {
                (format!("{prefix}{}", self.unit), 1.0 / size)
            }
            _ => (self.unit.clone(), 1.0),
        }
    }

    fn title(&self) -> String {
        let (unit, _) = self.scaled();
        if unit.is_empty() { self.label.clone() } else { format!("{} [{unit}]", self.label) }
    }

    /// Places along the bar, from 0 to 1, and what is written there.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (_, factor) = self.scaled();
        let [low, high] = self.range.map(|r| f64::from(r) * factor);
        round_ticks(low, high).into_iter().map(|(value, text)| ((value - low) / (high - low), text)).collect()
    }
}

/// Round numbers between two others, three to seven of them where there is room: multiples of 1, 2 or 5 times a power of ten.
fn round_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![];
    }
    let power = 10f64.powf((span / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| span / s < 6.0).unwrap_or(10.0 * power);
    // A range computed in f32 ends a little beside its round number.
    let slack = 1e-5 * span;
    let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let write = |x: f64| match x.abs() {
        m if m == 0.0 || (decimals <= 4 && m < 1e5) => format!("{x:.decimals$}"),
        _ => format!("{x:.1e}"),
    };
    let count = (last - first).max(-1.0) as usize;
    (0..=count).map(|k| (first + k as f64) * step).filter(|x| *x <= high + slack).map(|x| (x, write(x + 0.0))).collect()
}

/// `real time`, `0.25 × real time`.
fn speed_words(speed: f64) -> String {
    if (speed - 1.0).abs() < 5e-3 {
        return "real time".into();
    }
    let decimals = (2.0 - speed.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    let number = format!("{speed:.decimals$}");
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number} × real time")
}

impl Legend {
    /// Writes it onto a picture.
    pub fn draw(&self, image: &mut Image) {
        let Some(mut pen) = Pen::new(image) else { return };
        let height = pen.image.height as f32;
        let (border, size) = (BORDER * height, LETTERS * height);
        let mut foot = height - border;
        if let Some(speed) = self.speed {
            pen.write(&speed_words(speed), [border, foot], 0.85 * size, Align::Left);
            foot -= 1.35 * size;
        }
        if let Some(time) = self.time {
            pen.write(&format!("t = {time:.3} s"), [border, foot], 1.15 * size, Align::Left);
        }
        if let Some(bar) = &self.bar {
            pen.bar(bar, border, size);
        }
    }
}

enum Align {
    Left,
    Right,
}

/// Puts letters and boxes onto an image.
struct Pen<'a> {
    image: &'a mut Image,
    font: FontRef<'a>,
}

impl<'a> Pen<'a> {
    /// None where the font cannot be read or the image is not whole: a picture without words is better than none.
    fn new(image: &'a mut Image) -> Option<Pen<'a>> {
        let whole = image.rgba.len() == 4 * image.width as usize * image.height as usize && !image.rgba.is_empty();
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).ok()?;
        whole.then_some(Pen { image, font })
    }

    /// Mixes a colour into a pixel by its cover from 0 to 1; nothing outside the picture.
    fn put(&mut self, x: i64, y: i64, colour: [u8; 3], cover: f32) {
        if x < 0 || y < 0 || x >= i64::from(self.image.width) || y >= i64::from(self.image.height) {
            return;
        }
        let at = 4 * (y as usize * self.image.width as usize + x as usize);
        for (old, new) in self.image.rgba[at..at + 3].iter_mut().zip(colour) {
            *old = (f32::from(*old) + (f32::from(new) - f32::from(*old)) * cover.clamp(0.0, 1.0)).round() as u8;
        }
    }

    fn width(&self, text: &str, size: f32) -> f32 {
        let font = self.font.as_scaled(PxScale::from(size));
        let ids: Vec<_> = text.chars().map(|c| font.glyph_id(c)).collect();
        let kerned: f32 = ids.windows(2).map(|w| font.kern(w[0], w[1])).sum();
        ids.iter().map(|id| font.h_advance(*id)).sum::<f32>() + kerned
    }

    /// Dark ink on a light ground, light on a dark one.
    fn ink(&self, [left, top]: [f32; 2], [right, bottom]: [f32; 2]) -> [u8; 3] {
        let within = |value: f32, limit: u32| (value.max(0.0) as u32).min(limit);
        let (rows, columns) = (
            within(top, self.image.height)..within(bottom, self.image.height),
            within(left, self.image.width)..within(right, self.image.width),
        );
        let pixels = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        let (mut sum, mut count) = (0u64, 0u64);
        for (x, y) in pixels {
            let at = 4 * (y as usize * self.image.width as usize + x as usize);
            let [r, g, b] = [0, 1, 2].map(|k| u64::from(self.image.rgba[at + k]));
            sum += (2 * r + 5 * g + b) / 8;
            count += 1;
        }
        if sum < 110 * count { [244, 246, 248] } else { [24, 28, 33] }
    }

    /// Writes a line whose foot is at `foot`, in letters of a height [pixels].
    fn write(&mut self, text: &str, [x, foot]: [f32; 2], size: f32, align: Align) {
        // Letters stand about 0.7 of the scale high; the scale is what fonts are measured in.
        let size = size / 0.7;
        let width = self.width(text, size);
        let left = match align {
            Align::Left => x,
            Align::Right => x - width,
        };
        let ink = self.ink([left, foot - size], [left + width, foot]);
        let ground = if ink[0] > 128 { [20, 23, 28] } else { [250, 250, 250] };
        let font = self.font.clone();
        let font = font.as_scaled(PxScale::from(size));
        let (mut at, mut last, mut outlines) = (left, None, Vec::new());
        for c in text.chars() {
            let id = font.glyph_id(c);
            at += last.map_or(0.0, |l| font.kern(l, id));
            let glyph = id.with_scale_and_position(PxScale::from(size), ab_glyph::point(at, foot));
            outlines.extend(font.outline_glyph(glyph));
            at += font.h_advance(id);
            last = Some(id);
        }
        // A halo of the ground's colour first, so that grains behind the letters do not break them up.
        let reach = (0.05 * size).ceil() as i64;
        let around = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y)));
        let halo = around.filter(|(x, y)| x * x + y * y <= reach * reach && (*x, *y) != (0, 0));
        let passes = halo.map(|o| (o, ground, 0.07)).chain([((0, 0), ink, 1.35)]);
        for ((dx, dy), colour, strength) in passes {
            for outline in &outlines {
                let corner = outline.px_bounds().min;
                outline.draw(|gx, gy, cover| {
                    let (x, y) = (corner.x as i64 + i64::from(gx) + dx, corner.y as i64 + i64::from(gy) + dy);
                    // A light face: a little more cover than its own keeps thin strokes legible.
                    self.put(x, y, colour, (strength * cover).min(1.0));
                });
            }
        }
    }

    /// A veil under what is written, so that grains behind it do not blur it.
    fn plate(&mut self, from: [f32; 2], to: [f32; 2]) {
        let dark = self.ink(from, to)[0] > 128;
        let veil = if dark { [28, 32, 38] } else { [246, 247, 248] };
        self.fill(from, to, |_| veil, 0.35);
    }

    /// A box with soft sides, so that it sits between pixels where it must.
    fn fill(&mut self, [left, top]: [f32; 2], [right, bottom]: [f32; 2], colour: impl Fn(f32) -> [u8; 3], cover: f32) {
        let share = |k: i64, low: f32, high: f32| ((k + 1) as f32).min(high) - (k as f32).max(low);
        for y in top.floor() as i64..bottom.ceil() as i64 {
            let down = (y as f32 + 0.5 - top) / (bottom - top);
            for x in left.floor() as i64..right.ceil() as i64 {
                let part = share(x, left, right).max(0.0) * share(y, top, bottom).max(0.0);
                self.put(x, y, colour(down), part * cover);
            }
        }
    }

    /// The colour bar, at the right edge in the lower part of the picture.
    fn bar(&mut self, bar: &Bar, border: f32, size: f32) {
        let (width, height) = (self.image.width as f32, self.image.height as f32);
        let ticks = bar.ticks();
        let widest = ticks.iter().map(|(_, text)| self.width(text, 0.9 * size / 0.7)).fold(0.0, f32::max);
        let right = width - border - widest - 0.5 * size;
        let left = right - 0.75 * size;
        let bottom = height - border;
        let top = bottom - 0.34 * height;
        let edge = 0.06 * size;
        let title = bar.title();
        let wide = (width - border - left).max(self.width(&title, 0.9 * size / 0.7)) + 0.7 * size;
        self.plate(
            [width - border + 0.7 * size - wide - 0.7 * size, top - 2.8 * size],
            [width - border + 0.7 * size, bottom + 0.8 * size],
        );
        let ink = self.ink([left - 0.5 * size, top], [left, bottom]);
        self.fill([left - edge, top - edge], [right + edge, bottom + edge], |_| ink, 0.8);
        let colour = |down: f32| (bar.map.srgb(1.0 - down) * 255.0).round().to_array().map(|c| c as u8);
        self.fill([left, top], [right, bottom], colour, 1.0);
        for (place, text) in &ticks {
            let y = bottom - (bottom - top) * *place as f32;
            self.fill([right, y - 0.5 * edge], [right + 0.25 * size, y + 0.5 * edge], |_| ink, 0.9);
            // Letters are 0.7 of their size high; the tick points at their middle.
            self.write(text, [right + 0.5 * size, y + 0.35 * 0.9 * size], 0.9 * size, Align::Left);
        }
        self.write(&title, [width - border, top - 1.2 * size], 0.9 * size, Align::Right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(low: f32, high: f32, unit: &str) -> Bar {
        Bar { map: Map::Viridis, range: [low, high], label: "speed".into(), unit: unit.into() }
    }

    fn blank(width: u32, height: u32, grey: u8) -> Image {
        let pixel = [grey, grey, grey, 255];
        Image { width, height, rgba: pixel.repeat((width * height) as usize) }
    }

    /// Columns and rows that differ from the ground.
    fn drawn(image: &Image, grey: u8) -> [[u32; 2]; 2] {
        let mut around = [[u32::MAX, 0]; 2];
        for (i, p) in image.rgba.chunks(4).enumerate() {
            if p[..3] != [grey; 3] {
                for (k, at) in [i as u32 % image.width, i as u32 / image.width].into_iter().enumerate() {
                    around[k] = [around[k][0].min(at), around[k][1].max(at)];
                }
            }
        }
        around
    }

    #[test]
    fn ticks_are_round_few_and_within() {
        for (low, high) in [(0.0, 1.0), (0.0, 0.73), (-3.0, 11.0), (1.35e-3, 1.65e-3), (0.0, 9.99e8), (2.0, 2.001)] {
            let ticks = round_ticks(low, high);
            assert!((2..=7).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            let step = ticks[1].0 - ticks[0].0;
            let lead = step / 10f64.powf(step.log10().floor() + 1e-9);
            assert!([1.0, 2.0, 5.0, 10.0].iter().any(|r| (lead / r - 1.0).abs() < 1e-6), "{step}");
            for (x, _) in &ticks {
                assert!(*x >= low - 1e-4 * (high - low) && *x <= high + 1e-4 * (high - low));
                assert!((x / step - (x / step).round()).abs() < 1e-6, "{x} is not a multiple of {step}");
            }
        }
        let words: Vec<String> = round_ticks(0.0, 1.0).into_iter().map(|t| t.1).collect();
        assert_eq!(words, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert!(round_ticks(1.0, 1.0).is_empty() && round_ticks(0.0, f64::NAN).is_empty());
    }

    #[test]
    fn units_get_prefixes_and_speeds_words() {
        assert_eq!(bar(0.0014, 0.0032, "m").title(), "speed [mm]");
        assert_eq!(bar(0.0, 2.5, "m/s").title(), "speed [m/s]");
        assert_eq!(bar(0.0, 0.6, "m/s").title(), "speed [m/s]");
        assert_eq!(bar(0.0, 8.0, "").title(), "speed");
        assert_eq!(bar(0.0, 4e4, "Pa").title(), "speed [kPa]");
        let ticks = bar(0.001, 0.003, "m").ticks();
        assert_eq!((ticks[0].1.as_str(), ticks.last().unwrap().1.as_str()), ("1.0", "3.0"));
        assert!(ticks[0].0.abs() < 1e-5 && (ticks.last().unwrap().0 - 1.0).abs() < 1e-5);
        let said = [1.0, 0.25, 0.5, 2.0833, 0.125, 10.0].map(speed_words);
        assert_eq!(
            said,
            [
                "real time",
                "0.25 × real time",
                "0.5 × real time",
                "2.08 × real time",
                "0.125 × real time",
                "10 × real time"
            ]
        );
    }

    #[test]
    fn a_legend_stays_in_the_picture_and_grows_with_it() {
        let legend = Legend { bar: Some(bar(0.0, 1.0, "m/s")), time: Some(0.42), speed: Some(0.25) };
        let mut widths = Vec::new();
        for k in [1, 2] {
            let mut image = blank(640 * k, 360 * k, 200);
            legend.draw(&mut image);
            let [x, y] = drawn(&image, 200);
            assert!(x[0] > 5 * k && x[1] < 635 * k && y[0] > 100 * k && y[1] < 355 * k, "{x:?} {y:?}");
            widths.push(f64::from(x[1] - x[0]));
            assert!(image.rgba.iter().skip(3).step_by(4).all(|a| *a == 255), "opaque");
        }
        assert!((widths[1] / widths[0] - 2.0).abs() < 0.02, "{widths:?}");
    }

    #[test]
    fn the_bar_shows_the_map_from_bottom_to_top() {
        let mut image = blank(640, 360, 200);
        Legend { bar: Some(bar(0.0, 1.0, "")), ..Legend::default() }.draw(&mut image);
        let near = |rgb: u32| {
            let [_, r, g, b] = rgb.to_be_bytes();
            let apart = |p: &[u8]| p[..3].iter().zip([r, g, b]).map(|(a, b)| a.abs_diff(b)).max().unwrap();
            let rows = image.rgba.chunks(4).enumerate().filter(|(_, p)| apart(p) < 6).map(|(i, _)| i / 640);
            rows.collect::<Vec<_>>()
        };
        let (dark, light) = (near(0x440154), near(0xfde725));
        assert!(!dark.is_empty() && !light.is_empty());
        assert!(light.iter().max() < dark.iter().min(), "high numbers on top");
    }

    #[test]
    fn ink_differs_from_the_ground() {
        for (grey, lighter) in [(10u8, true), (240, false)] {
            let mut image = blank(640, 360, grey);
            Legend { time: Some(1.0), ..Legend::default() }.draw(&mut image);
            let extreme = image.rgba.chunks(4).map(|p| p[1]);
            assert!(if lighter { extreme.max() > Some(200) } else { extreme.min() < Some(60) });
        }
    }

    #[test]
    fn an_image_too_small_or_broken_is_left_alone() {
        let legend = Legend { bar: Some(bar(0.0, 1.0, "m")), time: Some(1.0), speed: Some(1.0) };
        legend.draw(&mut blank(16, 16, 100));
        let mut broken = Image { width: 100, height: 100, rgba: vec![0; 7] };
        legend.draw(&mut broken);
        assert_eq!(broken.rgba, vec![0; 7]);
    }
}
