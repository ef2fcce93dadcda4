//! Images as heights: PNG of any depth and colour.
//!
//! A height is the stored number over the greatest one: 0 is black, 1 white, without any correction for displays, as tools
//! that paint heights mean it. Colours count by their luminance, 0.2126 R + 0.7152 G + 0.0722 B [ITU-R BT.709]. A pixel of
//! zero opacity has no data. JPEG is refused by name: its blocks would be steps in the ground.

use super::{Fault, Format, Grid, ReadFault, Spacing, checked_size, southern_first};
use png::{BitDepth, ColorType, DecodingError, Transformations};
use std::io::{Cursor, ErrorKind};
use std::path::Path;

pub(super) const FORMAT: Format = Format { extensions: &["png", "jpg", "jpeg"], recognises, read };

/// Weights of red, green and blue in ten thousandths: whole numbers, so that grey keeps its value to the bit.
const LUMINANCE: [f64; 3] = [2126.0, 7152.0, 722.0];

const JPEG: &[u8] = b"\xff\xd8\xff";

fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.starts_with(JPEG)
}

fn fault(error: DecodingError) -> Fault {
    match error {
        DecodingError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            Fault::new("the PNG's end", "the file is cut short: copy or export it again")
        }
        other => Fault::new("the PNG's content", format!("{other}: export it again")),
    }
}

fn read(bytes: &[u8], _: &Path) -> Result<Grid, ReadFault> {
    if bytes.starts_with(JPEG) {
        let what = "it is a JPEG, whose 8 × 8 blocks would be steps in the ground: save it as PNG, best with 16 bits";
        return Err(Fault::new("byte 0", what).into());
    }
    // The decoder's own allocations follow the width of a row; ours is checked below.
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(fault)?;
    let size = checked_size([reader.info().width.into(), reader.info().height.into()], "the PNG's header")?;
    let length =
        reader.output_buffer_size().ok_or_else(|| Fault::new("the PNG's header", "it is too large to be decoded"))?;
    let mut samples = vec![0; length];
    let found = reader.next_frame(&mut samples).map_err(fault)?;
    // Data to the last row can be whole and the file still be cut short, within its end; that does no harm.
    let deep = found.bit_depth == BitDepth::Sixteen;
    let (channels, alpha) = match found.color_type {
        ColorType::Grayscale => (1, false),
        ColorType::GrayscaleAlpha => (2, true),
        ColorType::Rgb => (3, false),
        ColorType::Rgba => (4, true),
        ColorType::Indexed => return Err(Fault::new("the PNG's header", "its palette was not resolved").into()),
    };
    let most = if deep { f64::from(u16::MAX) } else { f64::from(u8::MAX) };
    let height = |pixel: &[f64]| {
        let (colour, opacity) = if alpha { (&pixel[..channels - 1], pixel[channels - 1]) } else { (pixel, most) };
        match colour {
            _ if opacity == 0.0 => f64::NAN,
            [grey] => grey / most,
            _ => colour.iter().zip(LUMINANCE).map(|(c, w)| c * w).sum::<f64>() / (1e4 * most),
        }
    };
    let mut pixel = [0.0; 4];
    let heights = samples
        .chunks_exact(channels * if deep { 2 } else { 1 })
        .map(|raw| {
            for (k, value) in pixel[..channels].iter_mut().enumerate() {
                *value =
                    if deep { f64::from(u16::from_be_bytes([raw[2 * k], raw[2 * k + 1]])) } else { f64::from(raw[k]) };
            }
            height(&pixel[..channels])
        })
        .collect();
    Ok(Grid { size, spacing: Spacing::Unknown, heights: southern_first(heights, size), georeference: None })
}
