//! Pictures as PNG (`.png`).

use crate::atomic::{self, FileError};
use std::io::{self, Cursor};
use std::path::Path;

/// Writes a picture, whole or not at all: rows from the top, four bytes a pixel (sRGB red, green, blue, and alpha, which is
/// left out: pictures are opaque).
pub fn write(path: &Path, width: u32, height: u32, rgba: &[u8]) -> Result<(), FileError> {
    let rgb: Vec<u8> = rgba.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
    atomic::write_with(path, |out| {
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer.write_image_data(&rgb).map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    })
}

/// Width, height and pixels (four bytes each, rows from the top) of a picture in memory; none where it is no PNG of eight bits
/// a channel.
pub fn decode(bytes: &[u8]) -> Option<(u32, u32, Vec<u8>)> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut rgba).ok()?;
    let whole = info.color_type == png::ColorType::Rgba && info.bit_depth == png::BitDepth::Eight;
    whole.then_some((info.width, info.height, rgba))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back_pixel_by_pixel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.png");
        let rgba: Vec<u8> = (0..7 * 5 * 4).map(|i| (i * 13 % 251) as u8).collect();
        write(&path, 7, 5, &rgba).unwrap();
        let (width, height, read) = decode(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((width, height), (7, 5));
        let expected: Vec<u8> = rgba.chunks(4).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
        assert_eq!(read, expected);
        assert_eq!(decode(b"no picture"), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
    }

    #[test]
    fn a_picture_of_the_wrong_size_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.png");
        assert!(write(&path, 7, 5, &[0; 12]).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
