//! RGBA pixels to the Y′CbCr planes of a film: ITU-R BT.709, 8 bit, limited range, 4:2:0.

use rayon::prelude::*;

/// Three planes of samples; chroma has half the luma's width and height. The sizes are those that are coded: multiples
/// of 16.
#[derive(Clone)]
pub struct Picture {
    /// Width of the luma plane [sample].
    pub width: usize,
    /// Height of the luma plane [sample].
    pub height: usize,
    /// Luma.
    pub y: Vec<u8>,
    /// The two chroma planes, Cb and Cr.
    pub chroma: [Vec<u8>; 2],
}

impl Picture {
    /// A black picture of at least `width` × `height`.
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width.next_multiple_of(16), height.next_multiple_of(16));
        let quarter = vec![128; width * height / 4];
        Self { width, height, y: vec![16; width * height], chroma: [quarter.clone(), quarter] }
    }

    /// Reads a `width` × `height` image of RGBA bytes, whose alpha is not used. Rows and columns beyond the image
    /// repeat its last ones.
    pub fn fill(&mut self, rgba: &[u8], width: usize, height: usize) {
        let [cb, cr] = &mut self.chroma;
        let (w, half) = (self.width, self.width / 2);
        self.y.par_chunks_mut(2 * w).zip(cb.par_chunks_mut(half).zip(cr.par_chunks_mut(half))).enumerate().for_each(
            |(pair, (luma, (cb, cr)))| {
                let row = |y: usize| &rgba[(2 * pair + y).min(height - 1) * width * 4..][..width * 4];
                for (y, out) in luma.chunks_exact_mut(w).enumerate() {
                    for (out, pixel) in out.iter_mut().zip(row(y).chunks_exact(4)) {
                        *out = luma_of(i32::from(pixel[0]), i32::from(pixel[1]), i32::from(pixel[2]));
                    }
                    let last = out[width - 1];
                    out[width..].fill(last);
                }
                // Chroma samples lie on the even columns and between the rows (H.264, Figure 6-1): weights 1 2 1
                // along the row, two rows: eight in all.
                let both: Vec<u16> = row(0).iter().zip(row(1)).map(|(a, b)| u16::from(*a) + u16::from(*b)).collect();
                let columns = both.as_chunks::<4>().0;
                let last = columns[width - 1];
                let mut before = columns[0];
                for (x, (cb, cr)) in cb.iter_mut().zip(cr).enumerate() {
                    let here = columns.get(2 * x).unwrap_or(&last);
                    let after = columns.get(2 * x + 1).unwrap_or(&last);
                    let filtered = |c: usize| i32::from(before[c] + 2 * here[c] + after[c]);
                    (*cb, *cr) = chroma_of(filtered(0), filtered(1), filtered(2));
                    before = *after;
                }
            },
        );
    }
}

/// Luma by BT.709's weights, Kr = 0.2126 and Kb = 0.0722, in 32768ths of the 219 steps of luma.
fn luma_of(r: i32, g: i32, b: i32) -> u8 {
    // round(32768 · 219/255 · K); the three sum to 28142, 32768 · 219/255, so that white is exactly 235.
    ((5983 * r + 20127 * g + 2032 * b + (16 << 15) + (1 << 14)) >> 15) as u8
}

/// Cb and Cr from eight times the colour.
fn chroma_of(r: i32, g: i32, b: i32) -> (u8, u8) {
    // round(65536 · 224/255 · (B − Y) / 1.8556) and (R − Y) / 1.5748; each row sums to zero, so that grey has none.
    let cb = -6596 * r - 22189 * g + 28785 * b;
    let cr = 28785 * r - 26145 * g - 2640 * b;
    let round = |v: i32| ((v + (128 << 19) + (1 << 18)) >> 19).clamp(0, 255) as u8;
    (round(cb), round(cr))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BT.709 in real numbers (Rec. ITU-R BT.709-6, 3.2 to 3.4).
    fn exact([r, g, b]: [u8; 3]) -> [f64; 3] {
        let [r, g, b] = [r, g, b].map(|v| f64::from(v) / 255.0);
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        [16.0 + 219.0 * y, 128.0 + 224.0 * (b - y) / 1.8556, 128.0 + 224.0 * (r - y) / 1.5748]
    }

    #[test]
    fn flat_colours_have_the_values_of_bt_709() {
        for colour in [[0, 0, 0], [255; 3], [128; 3], [255, 0, 0], [0, 255, 0], [0, 0, 255], [201, 171, 117]] {
            let rgba = [colour[0], colour[1], colour[2], 9].repeat(5 * 3);
            let mut picture = Picture::new(5, 3);
            picture.fill(&rgba, 5, 3);
            assert_eq!((picture.width, picture.height), (16, 16));
            for (plane, exact) in [&picture.y, &picture.chroma[0], &picture.chroma[1]].into_iter().zip(exact(colour)) {
                assert!(plane.iter().all(|v| (f64::from(*v) - exact).abs() < 0.51), "{colour:?}: {} {exact}", plane[0]);
            }
        }
    }

    #[test]
    fn samples_beyond_the_image_repeat_its_edge() {
        let (w, h) = (19, 5);
        let rgba: Vec<u8> = (0..w * h).flat_map(|i| [(i % w * 10) as u8, (i / w * 40) as u8, 77, 255]).collect();
        let mut picture = Picture::new(w, h);
        picture.fill(&rgba, w, h);
        for y in 0..picture.height {
            for x in 0..picture.width {
                let inside = picture.y[y.min(h - 1) * picture.width + x.min(w - 1)];
                assert_eq!(picture.y[y * picture.width + x], inside);
            }
        }
    }
}
