//! What a standard decoder makes of our films, bit by bit. `ffmpeg` and `ffprobe` are asked where they are installed;
//! `./test` installs them.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use super::*;

/// A content: the pixel at (x, y) of frame t.
type Content = fn(width: u32, height: u32, t: u32) -> Vec<u8>;

fn image(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
    (0..width * height)
        .flat_map(|i| {
            let [r, g, b] = pixel(i % width, i / width);
            [r, g, b, 255]
        })
        .collect()
}

fn hash(seed: u32) -> u32 {
    let mut v = seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    v = (v ^ v >> 15).wrapping_mul(0x85eb_ca6b);
    v = (v ^ v >> 13).wrapping_mul(0xc2b2_ae35);
    v ^ v >> 16
}

#[cfg(not(feature = "openh264"))]
fn noise(width: u32, height: u32, t: u32) -> Vec<u8> {
    image(width, height, |x, y| {
        let [a, b, c, _] = hash(x + width * (y + height * t)).to_le_bytes();
        [a, b, c]
    })
}

fn flat(width: u32, height: u32, _: u32) -> Vec<u8> {
    image(width, height, |_, _| [201, 171, 117])
}

#[cfg(not(feature = "openh264"))]
/// Pure colours at full contrast in blocks that jump: large levels, sharp edges, every clamp.
fn extremes(width: u32, height: u32, t: u32) -> Vec<u8> {
    image(width, height, |x, y| {
        let v = hash((x / 5) * 31 + (y / 7) * 17 + t / 2 * 1009);
        [0, 1, 2].map(|c| if v >> c & 1 == 1 { 255 } else { 0 })
    })
}

/// Discs that move by fractions of a pixel over a gradient.
fn discs(width: u32, height: u32, t: u32) -> Vec<u8> {
    image(width, height, |x, y| {
        let back = [220 - (y * 90 / height) as u8, 215 - (y * 60 / height) as u8, 230];
        (0..12).fold(back, |colour, k| {
            let h = hash(k);
            let t = t as f32;
            let cx = (h % width) as f32 + t * ((h >> 8 & 15) as f32 - 7.5) * 0.37;
            let cy = (h >> 12) as f32 % height as f32 + t * ((h >> 20 & 15) as f32 - 7.5) * 0.41;
            let inside = (x as f32 - cx).hypot(y as f32 - cy) < 6.0 + (k * 3) as f32;
            if inside { h.to_be_bytes()[1..].try_into().unwrap_or(colour) } else { colour }
        })
    })
}

#[cfg(not(feature = "openh264"))]
/// A pattern that the camera passes fast: vectors reach far, and beyond the picture.
fn pan(width: u32, height: u32, t: u32) -> Vec<u8> {
    image(width, height, |x, y| {
        let (x, y) = (x + 19 * t, y + 900 - 11 * t);
        let v = hash(x / 6 * 7919 + y / 9 * 104_729);
        let ramp = (x * 3 + y) % 64;
        [0, 8, 16].map(|shift| ((v >> shift & 0x7f) + ramp) as u8)
    })
}

/// What a run looks like: shaded, anti-aliased grains of sand that slide down over those at rest, under an even sky.
fn grains(width: u32, height: u32, t: u32) -> Vec<u8> {
    let mut out = image(width, height, |_, y| [0, 1, 2].map(|c| (205 + 12 * c - y * 50 / height) as u8));
    let count = width * height / 150;
    for k in 0..count {
        let part = |n: u32| (hash(k * 8 + n) & 0xffff) as f32 / 65536.0;
        let depth = k as f32 / count as f32;
        let speed = (1.0 - depth) * (0.4 + part(0));
        let radius = 4.0 + 3.0 * part(1);
        let cx = (part(2) * width as f32 + 1.3 * speed * t as f32).rem_euclid(width as f32);
        let cy = height as f32 * (0.35 + 0.65 * depth * part(3).max(0.3)) + 0.6 * speed * t as f32;
        let tint = 0.75 + 0.25 * part(4);
        let rows = (cy - radius).max(0.0) as u32..((cy + radius + 1.0).max(0.0) as u32).min(height);
        for y in rows {
            for x in (cx - radius).max(0.0) as u32..((cx + radius + 1.0) as u32).min(width) {
                let (dx, dy) = ((x as f32 + 0.5 - cx) / radius, (y as f32 + 0.5 - cy) / radius);
                let r2 = dx * dx + dy * dy;
                let cover = ((1.0 - r2.sqrt()) * radius + 0.5).clamp(0.0, 1.0);
                let light = 0.3 + 0.7 * (0.6 * (1.0 - r2).max(0.0).sqrt() - 0.4 * dx - 0.6 * dy).clamp(0.0, 1.0);
                let pixel = &mut out[((y * width + x) * 4) as usize..][..3];
                for (value, sand) in pixel.iter_mut().zip([224.0, 190.0, 136.0]) {
                    *value = (f32::from(*value) * (1.0 - cover) + cover * sand * tint * light) as u8;
                }
            }
        }
    }
    out
}

/// The visible part of a picture as a player gives it: Y, Cb, Cr.
fn visible(picture: &Picture, width: u32, height: u32) -> Vec<u8> {
    let [w, h] = [width, height].map(|n| n.next_multiple_of(2) as usize);
    let crop = |plane: &[u8], stride: usize, w: usize, h: usize| -> Vec<u8> {
        plane.chunks_exact(stride).take(h).flat_map(|row| row[..w].to_vec()).collect()
    };
    let mut out = crop(&picture.y, picture.width, w, h);
    for plane in &picture.chroma {
        out.extend(crop(plane, picture.width / 2, w / 2, h / 2));
    }
    out
}

#[cfg(not(feature = "openh264"))]
/// Films `frames` of `content`; what went in and what should come out, frame after frame.
fn film(path: &Path, size: (u32, u32), frames: u32, quality: u8, content: Content) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (width, height) = size;
    let mut file = File::create(path).unwrap();
    let mut film = Movie::begin(&mut file, width, height, 25.0, quality).unwrap();
    let (mut given, mut expected) = (Vec::new(), Vec::new());
    for t in 0..frames {
        film.push(&mut file, &content(width, height, t)).unwrap();
        given.push(visible(&film.picture, width, height));
        expected.push(visible(film.encoder.decoded(), width, height));
    }
    film.finish(&mut file).unwrap();
    (given, expected)
}

fn installed() -> bool {
    let there = ["ffmpeg", "ffprobe"].iter().all(|tool| Command::new(tool).arg("-version").output().is_ok());
    if !there {
        eprintln!("ffmpeg is not installed: films are not checked by a second decoder");
    }
    there
}

/// All frames by ffmpeg, which must not have anything to say.
fn decode(path: &Path) -> Vec<u8> {
    let raw = path.with_extension("yuv");
    let out = Command::new("ffmpeg")
        .args(["-v", "warning", "-xerror", "-err_detect", "explode", "-y", "-i"])
        .arg(path)
        .args(["-f", "rawvideo", "-pix_fmt", "yuv420p"])
        .arg(&raw)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    assert!(out.status.success());
    fs::read(raw).unwrap()
}

fn probe(path: &Path) -> String {
    let out = Command::new("ffprobe")
        .args(["-v", "warning", "-count_frames", "-show_streams", "-show_format"])
        .arg(path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    String::from_utf8(out.stdout).unwrap()
}

/// Peak signal-to-noise ratio of luma [dB].
fn psnr(a: &[Vec<u8>], b: &[Vec<u8>]) -> f64 {
    let luma = a[0].len() * 2 / 3;
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a[..luma].iter().zip(&b[..luma]));
    let sum: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 / (sum / (luma * a.len()) as f64)).log10()
}

#[cfg(not(feature = "openh264"))]
#[test]
fn a_decoder_shows_what_the_encoder_meant_bit_by_bit() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    type Case = (&'static str, Content, (u32, u32), u32, u8);
    let cases: [Case; 17] = [
        ("flat", flat, (64, 48), 5, 22),
        ("noise", noise, (96, 80), 4, 22),
        ("noise, finest", noise, (96, 80), 3, BEST),
        ("noise, roughest", noise, (96, 80), 3, WORST),
        ("extremes, finest", extremes, (160, 112), 6, BEST),
        ("extremes", extremes, (160, 112), 6, 26),
        ("extremes, roughest", extremes, (160, 112), 6, WORST),
        ("pan", pan, (176, 144), 20, 24),
        ("pan, narrower than its steps", pan, (18, 40), 10, 20),
        ("discs", discs, (320, 240), 12, 22),
        ("discs over more than a group", discs, (64, 64), 53, 30),
        ("grains, one frame", grains, (200, 120), 1, 22),
        ("grains, odd size", grains, (333, 211), 6, 22),
        ("smallest", discs, (2, 2), 3, 22),
        ("one column of blocks", grains, (15, 301), 4, 22),
        ("720p", grains, (1280, 720), 3, 22),
        ("1080p", grains, (1920, 1080), 2, 30),
    ];
    for (name, content, size, frames, quality) in cases {
        let (_, expected) = film(&path, size, frames, quality, content);
        let decoded = decode(&path);
        assert_eq!(decoded.len(), expected.concat().len(), "{name}");
        for (t, (expected, decoded)) in expected.iter().zip(decoded.chunks_exact(expected[0].len())).enumerate() {
            let differ = expected.iter().zip(decoded).position(|(a, b)| a != b);
            assert_eq!(differ, None, "{name}: first sample that differs in frame {t}");
        }
    }
}

#[test]
fn a_player_is_told_size_rate_length_and_colours() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    for (fps, fraction, (width, height), frames) in [
        (30.0, "30/1", (322, 180), 45),
        (25.0, "25/1", (101, 55), 1),
        (29.97, "30000/1001", (64, 64), 10),
        (12.5, "25/2", (640, 360), 5),
    ] {
        let mut file = File::create(&path).unwrap();
        let mut film = Movie::begin(&mut file, width, height, fps, QUALITY).unwrap();
        for t in 0..frames {
            film.push(&mut file, &discs(width, height, t)).unwrap();
        }
        assert_eq!(film.frames(), frames as usize);
        film.finish(&mut file).unwrap();
        let said = probe(&path);
        let has = |key: &str, value: &str| {
            assert!(said.lines().any(|l| l == format!("{key}={value}")), "no {key}={value} in\n{said}");
        };
        has("codec_name", "h264");
        has("profile", "Constrained Baseline");
        has("pix_fmt", "yuv420p");
        has("width", &width.next_multiple_of(2).to_string());
        has("height", &height.next_multiple_of(2).to_string());
        has("r_frame_rate", fraction);
        has("avg_frame_rate", fraction);
        has("nb_frames", &frames.to_string());
        has("nb_read_frames", &frames.to_string());
        for key in ["color_space", "color_transfer", "color_primaries"] {
            has(key, "bt709");
        }
        has("color_range", "tv");
        has("chroma_location", "left");
        has("start_time", "0.000000");
        let seconds = said.lines().find_map(|l| l.strip_prefix("duration=")).unwrap().parse::<f64>().unwrap();
        assert!((seconds - f64::from(frames) / fps).abs() < 2e-3, "{seconds} s");
    }
}

#[cfg(not(feature = "openh264"))]
#[test]
fn sand_keeps_its_looks_in_a_sensible_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let (given, decoded) = film(&path, (640, 360), 12, QUALITY, grains);
    let (quality, size) = (psnr(&given, &decoded), fs::metadata(&path).unwrap().len());
    assert!(quality > 38.0, "{quality} dB");
    // Raw 4:2:0 is 12 bit a pixel; this content, where every second pixel moves, must stay below one.
    let bits = size as f64 * 8.0 / f64::from(640 * 360 * 12);
    assert!(bits < 1.0, "{bits} bit a pixel at {quality} dB");
    // Six more in quality: a rougher and much smaller film.
    let (given, decoded) = film(&path, (640, 360), 12, QUALITY + 6, grains);
    assert!(psnr(&given, &decoded) < quality - 3.0);
    assert!(fs::metadata(&path).unwrap().len() < size * 6 / 10);
}

#[cfg(not(feature = "openh264"))]
#[test]
fn a_still_picture_costs_next_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let size = |frames| {
        let path = folder.path().join(format!("{frames}.mp4"));
        film(&path, (320, 180), frames, QUALITY, |w, h, _| grains(w, h, 0));
        fs::metadata(&path).unwrap().len()
    };
    // The picture is refined once or twice after the first, then repeated: slices of skipped blocks, and the table.
    let (few, many) = (size(20), size(40));
    assert!(many - few < 20 * 60, "{few} {many}");
}

#[cfg(not(feature = "openh264"))]
#[test]
fn the_file_is_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let files = [1, 2, 5].map(|threads| {
        let path = folder.path().join(format!("{threads}.mp4"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| film(&path, (352, 480), 5, QUALITY, grains));
        fs::read(path).unwrap()
    });
    assert!(files[0] == files[1] && files[0] == files[2]);
}

#[cfg(feature = "openh264")]
#[test]
fn the_other_encoder_shows_sand_as_well_and_in_a_sensible_size() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    // The second is smaller than it takes.
    for (width, height) in [(640, 360), (10, 8), (333, 211)] {
        let mut file = File::create(&path).unwrap();
        let mut movie = Movie::begin(&mut file, width, height, 25.0, QUALITY).unwrap();
        let mut given = Vec::new();
        for t in 0..60 {
            movie.push(&mut file, &grains(width, height, t)).unwrap();
            given.push(visible(&movie.picture, width, height));
        }
        movie.finish(&mut file).unwrap();
        let decoded = decode(&path);
        assert_eq!(decoded.len(), given.concat().len());
        let decoded: Vec<Vec<u8>> = decoded.chunks_exact(given[0].len()).map(<[u8]>::to_vec).collect();
        let quality = psnr(&given, &decoded);
        let bits = fs::metadata(&path).unwrap().len() as f64 * 8.0 / f64::from(width * height * 60);
        assert!(quality > 36.0 && (bits < 1.0 || width == 10), "{quality} dB, {bits} bit a pixel");
    }
}
