//! Terrain files: what is read, and what is said of files that cannot be.

use barchan_io::terrain::{Terrain, TerrainError, read};
use proptest::prelude::*;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use tiff::encoder::{Compression, TiffEncoder, colortype, compression};
use tiff::tags::Tag;

fn put(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn parse(name: &str, content: impl AsRef<[u8]>) -> Result<Terrain, TerrainError> {
    let folder = tempfile::tempdir().unwrap();
    read(put(folder.path(), name, content))
}

/// Asserts that the file is refused with its name and these words.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, words: &[&str]) {
    let message = parse(name, content).expect_err(name).to_string();
    assert!(message.contains(name), "{message}");
    for word in words {
        assert!(message.contains(word), "{word}: {message}");
    }
}

fn png(width: u32, height: u32, colour: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}

/// A GeoTIFF as its parts: tags of doubles, keys of the directory, the mark for missing data.
fn geotiff(size: [u32; 2], heights: &[f32], tags: &[(Tag, &[f64])], keys: &[u16], nodata: Option<&str>) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let mut tiff =
        TiffEncoder::new(&mut out).unwrap().with_compression(Compression::Deflate(compression::DeflateLevel::Balanced));
    let mut image = tiff.new_image::<colortype::Gray32Float>(size[0], size[1]).unwrap();
    for (tag, values) in tags {
        image.encoder().write_tag(*tag, *values).unwrap();
    }
    if !keys.is_empty() {
        image.encoder().write_tag(Tag::GeoKeyDirectoryTag, keys).unwrap();
    }
    if let Some(mark) = nodata {
        image.encoder().write_tag(Tag::GdalNodata, mark).unwrap();
    }
    image.write_data(heights).unwrap();
    out.into_inner()
}

const METRES: &[(Tag, &[f64])] = &[(Tag::ModelPixelScaleTag, &[0.5, 0.25, 0.0])];

#[test]
fn grey_images_of_either_depth_give_0_to_1_from_the_south() {
    let bytes = png(2, 3, png::ColorType::Grayscale, png::BitDepth::Eight, &[0, 51, 102, 153, 204, 255]);
    let t = parse("a.png", bytes).unwrap();
    assert_eq!((t.size, t.cell, t.degrees), ([2, 3], None, false));
    assert_eq!(t.heights, [204.0 / 255.0, 1.0, 102.0 / 255.0, 153.0 / 255.0, 0.0, 51.0 / 255.0]);
    let deep: Vec<u8> = [1u16, 65535, 258, 0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let t = parse("a.png", png(2, 2, png::ColorType::Grayscale, png::BitDepth::Sixteen, &deep)).unwrap();
    assert_eq!(t.heights, [258.0 / 65535.0, 0.0, 1.0 / 65535.0, 1.0]);
    let bits = png(4, 1, png::ColorType::Grayscale, png::BitDepth::Two, &[0b00_01_10_11]);
    assert_eq!(parse("a.png", bits).unwrap().heights, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    assert!(t.square_cell().unwrap_err().to_string().contains("give the size of the ground in the scene"));
}

#[test]
fn colours_count_by_luminance_and_what_is_transparent_is_no_data() {
    let rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 77, 77, 77];
    let t = parse("a.png", png(4, 1, png::ColorType::Rgb, png::BitDepth::Eight, &rgb)).unwrap();
    assert_eq!(t.heights, [0.2126, 0.7152, 0.0722, 77.0 / 255.0]);
    let rgba = [9, 9, 9, 255, 200, 200, 200, 0];
    let t = parse("a.png", png(2, 1, png::ColorType::Rgba, png::BitDepth::Eight, &rgba)).unwrap();
    assert!(t.heights[0] == 9.0 / 255.0 && t.heights[1].is_nan());
    let faint = [9, 1, 200, 0];
    let t = parse("a.png", png(2, 1, png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, &faint)).unwrap();
    assert!(t.heights[0] == 9.0 / 255.0 && t.heights[1].is_nan());
}

const GRID: &str =
    "ncols 3\nnrows 2\nxllcorner 500000\nyllcorner 5.4e6\ncellsize 0.5\nNODATA_value -1\n1 2 3\n4 -1 6\n";

#[test]
fn an_ascii_grid_is_read_in_any_writing() {
    let t = parse("a.asc", GRID).unwrap();
    assert_eq!((t.size, t.cell), ([3, 2], Some([0.5, 0.5])));
    assert!(t.heights[1].is_nan());
    assert_eq!(t.clone().filled(Some(9.0)).unwrap().heights, [4.0, 9.0, 6.0, 1.0, 2.0, 3.0]);
    let other = "\u{feff}NROWS\t2\r\nNcols   3\r\nXLLCENTER 0\r\nYLLCENTER 0\r\nCELLSIZE 5e-1\r\nnodata_VALUE -1.0\r\n1\r\n2 3 4\r\n\r\n  -1.00\t6";
    let again = parse("b.txt", other).unwrap();
    assert_eq!(format!("{:?}", again.heights), format!("{:?}", t.heights));
    // Where it is not given, ArcGIS takes −9999; `nan` is none either.
    let t = parse("a.asc", "ncols 2\nnrows 1\ncellsize 1\nnan -9999").unwrap();
    assert!(t.heights.iter().all(|h| h.is_nan()));
}

#[test]
fn the_projection_beside_a_grid_says_whether_it_is_in_degrees() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "a.asc", GRID);
    for (text, degrees) in [
        ("GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\"]]", true),
        ("Projection    GEOGRAPHIC\nDatum WGS84\n", true),
        ("PROJCS[\"UTM 33\",GEOGCS[\"WGS 84\"]]", false),
        ("Projection UTM\nZone 33\n", false),
    ] {
        put(folder.path(), "a.prj", text);
        let t = read(&path).unwrap();
        assert_eq!((t.degrees, t.cell.is_none()), (degrees, degrees), "{text}");
        assert_eq!(t.square_cell().is_err_and(|e| e.to_string().contains("degrees")), degrees);
    }
}

#[test]
fn a_geotiff_gives_its_cells_in_metres_whatever_their_unit() {
    let heights = [1.0, 2.0, 3.0, 4.0, -9999.0, 6.0];
    let t = parse("a.tif", geotiff([3, 2], &heights, METRES, &[], Some("-9999"))).unwrap();
    assert_eq!((t.size, t.cell), ([3, 2], Some([0.5, 0.25])));
    assert!(t.heights[1].is_nan() && t.heights[0] == 4.0 && t.heights[3..] == [1.0, 2.0, 3.0]);
    let said = t.square_cell().unwrap_err().to_string();
    assert!(said.contains("0.5 × 0.25 m") && said.contains("square"), "{said}");

    let feet = [1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9002];
    let t = parse("a.tif", geotiff([3, 2], &heights, METRES, &feet, None)).unwrap();
    assert_eq!(t.cell, Some([0.5 * 0.3048, 0.25 * 0.3048]));
    assert_eq!(t.heights[1], -9999.0);
    let high_feet = [1, 1, 0, 1, 4099, 0, 1, 9002];
    let t = parse("a.tif", geotiff([3, 2], &heights, METRES, &high_feet, None)).unwrap();
    assert!(t.cell == Some([0.5, 0.25]) && (t.heights[0] - 4.0 * 0.3048).abs() < 1e-15);

    let degrees = [1, 1, 0, 1, 1024, 0, 1, 2];
    let t = parse("a.tif", geotiff([3, 2], &heights, METRES, &degrees, None)).unwrap();
    assert!(t.degrees && t.cell.is_none());
    let said = t.square_cell().unwrap_err().to_string();
    assert!(said.contains("degrees") && said.contains("gdalwarp") && said.contains("size of the ground"), "{said}");

    let south_up: &[f64] = &[2.0, 0.0, 0.0, 7.0, 0.0, 2.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let t = parse("a.tif", geotiff([3, 2], &heights, &[(Tag::ModelTransformationTag, south_up)], &[], None)).unwrap();
    assert!(t.square_cell().unwrap() == 2.0 && t.heights[..3] == [1.0, 2.0, 3.0]);
    let mut turned = south_up.to_vec();
    turned[1] = 0.1;
    let bytes = geotiff([3, 2], &heights, &[(Tag::ModelTransformationTag, &turned)], &[], None);
    refused("a.tif", bytes, &["ModelTransformation", "turned", "gdalwarp"]);
    let chains = [1, 1, 0, 1, 3076, 0, 1, 9097];
    refused("a.tif", geotiff([3, 2], &heights, METRES, &chains, None), &["9097", "gdalwarp"]);
    let t = parse("a.tif", geotiff([3, 2], &heights, &[], &[], None)).unwrap();
    assert!(t.cell.is_none() && !t.degrees, "a plain TIFF has heights and no cells");
}

#[test]
fn bands_of_colour_are_no_heights() {
    let mut out = Cursor::new(Vec::new());
    TiffEncoder::new(&mut out).unwrap().write_image::<colortype::RGB8>(1, 1, &[1, 2, 3]).unwrap();
    refused("a.tif", out.into_inner(), &["RGB", "one band", "gdal_translate -b 1"]);
}

#[test]
fn missing_data_is_refused_with_its_number_and_place_or_filled() {
    let t = parse("holes.asc", GRID).unwrap();
    let said = t.filled(None).unwrap_err().to_string();
    for word in ["holes.asc", "1 of its 6", "column 2", "row 1 from the south", "nodata = HEIGHT"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn ascii_grids_that_are_wrong_are_refused_with_their_line() {
    refused("a.asc", GRID.replace("4 -1 6\n", "4 -1"), &["line 8", "5 numbers", "3 × 2", "cut short"]);
    refused("a.asc", GRID.replace("4 -1 6", "4 -1 6 7"), &["line 8", "more than the 3 × 2 numbers"]);
    refused("a.asc", GRID.replace("ncols 3", "ncols 4"), &["6 numbers", "4 × 2"]);
    refused("a.asc", GRID.replace("nrows 2\n", ""), &["nrows is missing"]);
    refused("a.asc", GRID.replace("cellsize 0.5\n", ""), &["cellsize is missing"]);
    refused("a.asc", GRID.replace("cellsize 0.5", "cellsize 0"), &["cell", "positive"]);
    refused("a.asc", GRID.replace("cellsize 0.5", "cellsize nan"), &["cell", "positive"]);
    refused("a.asc", GRID.replace("cellsize 0.5", "dx 0.5\ndy 0.4"), &["line 5", "two widths", "FORCE_CELLSIZE"]);
    refused("a.asc", GRID.replace("cellsize", "cellsise"), &["line 5", "\"cellsise\"", "cellsize"]);
    refused("a.asc", GRID.replace("ncols 3", "ncols 3.5"), &["line 1", "3.5"]);
    refused("a.asc", GRID.replace("ncols 3", "ncols 0"), &["0 × 2", "one at least"]);
    refused("a.asc", GRID.replace("ncols 3", "ncols -3"), &["line 1", "-3"]);
    refused("a.asc", GRID.replace("4 -1", "4,5 -1"), &["line 8", "\"4,5\" is not a number", "point"]);
    refused("a.asc", GRID.replace("4 -1", "inf -1"), &["column 1", "row 1 from the south", "inf"]);
    refused("a.asc", GRID.replace("4 -1", "4 -3.4028235e38"), &["column 2", "row 1", "missing data", "gdal_translate"]);
    refused("a.asc", [GRID.as_bytes(), b"\xff\xfe"].concat(), &["byte", "no text"]);
    refused("a.asc", "ncols", &["line 1", "no value"]);
}

#[test]
fn what_is_too_large_is_refused_before_memory_is_taken() {
    let huge = "ncols 3000000000\nnrows 3000000000\ncellsize 1\n1";
    refused("a.asc", huge, &["3000000000 × 3000000000", "67108864", "gdal_translate -outsize"]);
    refused("a.asc", "ncols 8192\nnrows 8193\ncellsize 1\n1", &["8192 × 8193"]);
    // Fits in principle, and is not in the file.
    refused("a.asc", "ncols 8192\nnrows 8192\ncellsize 1\n1", &["1 numbers", "cut short"]);
    // A PNG's width stands at byte 16; its checksum is not what refuses it.
    let mut bytes = png(1, 1, png::ColorType::Grayscale, png::BitDepth::Eight, &[0]);
    bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let crc = crc32fast::hash(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&crc);
    refused("a.png", bytes, &["65536 × 65536"]);
    let mut wide = geotiff([3, 2], &[0.0; 6], METRES, &[], None);
    // The tag of the width (256), as the encoder writes it: type 4, one value.
    let entry = [256u16.to_le_bytes(), 4u16.to_le_bytes()].concat();
    let at = wide.windows(4).position(|w| w == entry).unwrap();
    wide[at + 8..at + 12].copy_from_slice(&100_000_000u32.to_le_bytes());
    refused("a.tif", wide, &["100000000 × 2"]);
}

#[test]
fn what_is_no_terrain_is_said() {
    for name in ["a.png", "a.asc", "a.tif", "a"] {
        refused(name, "", &["empty"]);
    }
    let letter = "Dear Sir,\n\nplease find the map attached.\n";
    refused("a.txt", letter, &["none of PNG, ESRI ASCII grid (.asc), GeoTIFF", "gdal_translate"]);
    refused("a.asc", letter, &["line 1", "\"Sir,\" is not a number"]);
    refused("a.tif", letter, &["TIFF"]);
    refused("a.png", letter, &["PNG"]);
    refused("a.png", b"\xff\xd8\xff\xe0 JFIF", &["JPEG", "save it as PNG"]);
    let missing = read("no/such/file.asc").unwrap_err().to_string();
    assert!(missing.contains("file.asc") && missing.contains("does not exist"), "{missing}");
}

/// A small good file of each kind.
fn good() -> [(&'static str, Vec<u8>); 4] {
    let deep: Vec<u8> = (0..24u16).flat_map(|v| (v * 2000).to_be_bytes()).collect();
    [
        ("png", png(6, 4, png::ColorType::Grayscale, png::BitDepth::Sixteen, &deep)),
        ("png", png(3, 2, png::ColorType::Rgba, png::BitDepth::Eight, &deep[..24])),
        ("asc", GRID.into()),
        ("tif", geotiff([4, 3], &[1.5; 12], METRES, &[1, 1, 0, 1, 1024, 0, 1, 1], Some("-9999"))),
    ]
}

#[track_caller]
fn error_or_sane(name: &str, bytes: &[u8]) -> Option<Terrain> {
    match parse(name, bytes) {
        Ok(t) => {
            assert!(t.size[0] * t.size[1] == t.heights.len() && !t.heights.is_empty());
            assert!(t.heights.iter().all(|h| h.is_nan() || h.abs() <= barchan_io::terrain::HIGHEST));
            assert!(t.cell.is_none_or(|c| c.iter().all(|w| w.is_finite() && *w > 0.0)));
            Some(t)
        }
        Err(TerrainError::File(e)) => panic!("{e}"),
        Err(e) => {
            assert!(e.to_string().contains(name), "{e}");
            None
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_an_error_or_whole() {
    for (extension, whole) in good() {
        let expected = format!("{:?}", parse("a", &whole).unwrap().heights);
        for length in 0..whole.len() {
            let Some(t) = error_or_sane(&format!("cut.{extension}"), &whole[..length]) else { continue };
            // What may be missing is what follows the heights: the end of a PNG; the last digits of a text cannot be told.
            let near_the_end = whole.len() - length <= 16;
            assert!(near_the_end || extension == "tif", "{extension} at {length} of {}", whole.len());
            if extension != "asc" {
                assert_eq!(format!("{:?}", t.heights), expected, "{extension} at {length}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_under_any_name_give_an_error_or_a_sane_terrain(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        start in prop::sample::select(vec![
            &b""[..], b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08", b"II+\0",
            b"ncols 2\nnrows 2\ncellsize 1\n", b"ncols ",
        ]),
        extension in prop::sample::select(vec!["png", "asc", "tif", "dat"]),
    ) {
        error_or_sane(&format!("any.{extension}"), &[start, &bytes].concat());
    }

    #[test]
    fn a_good_file_with_some_bytes_altered_gives_an_error_or_a_sane_terrain(
        kind in 0..4usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let (extension, mut bytes) = good()[kind].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        error_or_sane(&format!("altered.{extension}"), &bytes);
    }

    /// Bilinear resampling: a plane stays a plane between the outermost middles, nothing leaves the range of the heights,
    /// the same size changes nothing, and coarsening by a half takes the mean of four.
    #[test]
    fn resampling_keeps_planes_ranges_and_means(
        size in [1..9usize, 1..9usize],
        to in [1..30usize, 1..30usize],
        slope in [-5.0..5.0f64, -5.0..5.0f64],
        seed in any::<u64>(),
    ) {
        let terrain = |size: [usize; 2], height: &dyn Fn(f64, f64) -> f64| {
            let at = |n: usize, of: usize| (n as f64 + 0.5) / of as f64;
            let heights = (0..size[0] * size[1])
                .map(|i| height(at(i % size[0], size[0]), at(i / size[0], size[1])))
                .collect();
            Terrain { size, cell: None, heights, degrees: false, georeference: None, path: PathBuf::new() }
        };
        let plane = |x: f64, y: f64| 3.0 + slope[0] * x + slope[1] * y;
        let (from, wanted) = (terrain(size, &plane), terrain(to, &plane));
        let found = from.resampled(to);
        for (i, h) in found.iter().enumerate() {
            let inside = |n: usize, axis: usize| {
                let at = (n as f64 + 0.5) / to[axis] as f64 * size[axis] as f64;
                at >= 0.5 && at <= size[axis] as f64 - 0.5
            };
            if inside(i % to[0], 0) && inside(i / to[0], 1) {
                prop_assert!((h - wanted.heights[i]).abs() < 1e-12);
            }
        }
        let rough = terrain(size, &|x, y| ((x * 1e4 + y * 1e6 + seed as f64 * 1e-3).sin() * 1e3).fract());
        let (low, high) = rough.heights.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        prop_assert!(rough.resampled(to).iter().all(|h| *h >= low - 1e-15 && *h <= high + 1e-15));
        prop_assert_eq!(rough.resampled(size), rough.heights.clone());
        let double = terrain([2 * size[0], 2 * size[1]], &|x, y| (x * 40.0).sin() + (y * 70.0).cos());
        let half = double.resampled(size);
        for (i, h) in half.iter().enumerate() {
            let at = |dx: usize, dy: usize| double.heights[2 * (i % size[0]) + dx + (2 * (i / size[0]) + dy) * 2 * size[0]];
            prop_assert!((h - 0.25 * (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1))).abs() < 1e-14);
        }
    }
}
