//! Outlines and lines on maps: what is read, what is said of files that cannot be, and rasters that come back as they went.

use barchan_core::georeference::{Georeference, System};
use barchan_io::raster::Raster;
use barchan_io::vector::{Feature, VectorError, read, to_geojson};
use barchan_io::{terrain, vector};
use glam::DVec2;
use proptest::prelude::*;
use std::path::Path;

/// A shapefile of one shape: its code, its parts.
fn shapefile(code: i32, parts: &[Vec<[f64; 2]>]) -> Vec<u8> {
    let mut content = code.to_le_bytes().to_vec();
    content.extend([0u8; 32]);
    let points: usize = parts.iter().map(Vec::len).sum();
    content.extend((parts.len() as i32).to_le_bytes());
    content.extend((points as i32).to_le_bytes());
    let mut start = 0;
    for part in parts {
        content.extend((start as i32).to_le_bytes());
        start += part.len();
    }
    parts.iter().flatten().flatten().for_each(|x| content.extend(x.to_le_bytes()));
    let mut out = vec![0u8; 100];
    out[..4].copy_from_slice(&9994_i32.to_be_bytes());
    out[24..28].copy_from_slice(&((108 + content.len()) as i32 / 2).to_be_bytes());
    out[28..32].copy_from_slice(&1000_i32.to_le_bytes());
    out[32..36].copy_from_slice(&code.to_le_bytes());
    out.extend(1_i32.to_be_bytes());
    out.extend((content.len() as i32 / 2).to_be_bytes());
    out.extend(content);
    out
}

/// A table of one row with the number `thickness`.
fn table(value: &str) -> Vec<u8> {
    let mut out = vec![0u8; 32];
    out[0] = 3;
    out[4..8].copy_from_slice(&1_u32.to_le_bytes());
    out[8..10].copy_from_slice(&65_u16.to_le_bytes());
    out[10..12].copy_from_slice(&11_u16.to_le_bytes());
    let mut field = [0u8; 32];
    field[..9].copy_from_slice(b"THICKNESS");
    (field[11], field[16]) = (b'N', 10);
    out.extend(field);
    out.push(0x0d);
    out.push(b' ');
    out.extend(format!("{value:>10}").bytes());
    out
}

fn square() -> Vec<[f64; 2]> {
    vec![[0.0, 0.0], [0.0, 10.0], [10.0, 10.0], [10.0, 0.0], [0.0, 0.0]]
}

fn put(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<vector::Features, VectorError> {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    read(path)
}

#[test]
fn polygons_and_lines_of_shapefiles_come_with_the_numbers_of_their_table() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rel.dbf"), table("1.5")).unwrap();
    std::fs::write(folder.path().join("rel.prj"), "PROJCS[\"UTM\"]").unwrap();
    let found = put(folder.path(), "rel.shp", shapefile(5, &[square()])).unwrap();
    assert!(!found.degrees);
    let areas = found.areas().unwrap();
    assert_eq!(
        areas[0].parts,
        [vec![DVec2::ZERO, DVec2::new(0.0, 10.0), DVec2::new(10.0, 10.0), DVec2::new(10.0, 0.0)]]
    );
    assert_eq!(areas[0].numbers["thickness"], 1.5);
    let line = put(folder.path(), "line.shp", shapefile(3, &[vec![[0.0, 0.0], [5.0, 5.0]]])).unwrap();
    assert_eq!(line.line().unwrap(), [DVec2::ZERO, DVec2::splat(5.0)]);
    let message = line.areas().unwrap_err().to_string();
    assert!(message.contains("line.shp") && message.contains("no polygon"), "{message}");
    std::fs::write(folder.path().join("geo.prj"), "GEOGCS[\"WGS 84\"]").unwrap();
    assert!(put(folder.path(), "geo.shp", shapefile(5, &[square()])).unwrap().degrees);
}

#[test]
fn geojson_is_read_alone_in_features_and_in_collections_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"Thickness": 2, "name": "north"}, "geometry":
            {"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,0]], [[5,2],[6,2],[6,3],[5,2]]]}},
        {"type": "Feature", "properties": null, "geometry": {"type": "LineString", "coordinates": [[0,0,7],[1,1,7]]}},
        {"type": "Feature", "properties": {}, "geometry": null}]}"#;
    let found = put(folder.path(), "a.geojson", text).unwrap();
    let areas = found.areas().unwrap();
    assert_eq!((areas.len(), areas[0].parts.len(), areas[0].numbers["thickness"]), (1, 2, 2.0));
    assert_eq!(found.line().unwrap().len(), 2);
    let rings = areas[0].parts.clone();
    let again = put(folder.path(), "b.json", to_geojson(&rings, &[("threshold", 1.0)])).unwrap();
    assert_eq!(again.areas().unwrap().iter().flat_map(|f| f.parts.clone()).collect::<Vec<_>>(), rings);
    for (bad, word) in [
        ("{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[1,1]]]}", "fewer than three"),
        ("{\"type\": \"Polygon\", \"coordinates\": 3}", "no polygon"),
        ("{\"type\": \"Blob\"}", "no geometry"),
        ("{\"type\":", "no JSON"),
        ("hello", "neither a shapefile"),
    ] {
        let message = put(folder.path(), "c.json", bad).and_then(|f| f.areas().map(|_| ())).unwrap_err().to_string();
        assert!(message.contains(word), "{bad}: {message}");
    }
}

proptest! {
    #[test]
    fn no_change_to_a_file_of_outlines_makes_its_reader_fall_over(at in 0..400_usize, to in any::<u8>(), cut in 0..400_usize, json in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = match json {
            true => to_geojson(&[vec![DVec2::ZERO, DVec2::X, DVec2::Y]], &[("thickness", 1.0)]).into_bytes(),
            false => shapefile(5, &[square(), square()]),
        };
        let n = bytes.len();
        bytes[at % n] = to;
        bytes.truncate(n - cut % n);
        let mut rows = table("1.5");
        let k = at % rows.len();
        rows[k] = to;
        std::fs::write(folder.path().join("x.dbf"), rows).unwrap();
        if let Ok(found) = put(folder.path(), "x.shp", bytes) {
            let all = |f: &Feature| f.parts.iter().flatten().all(|p| p.is_finite());
            prop_assert!(found.all.iter().all(all));
        }
    }
}

fn raster(system: Option<System>) -> Raster {
    let place =
        Georeference { anchor: DVec2::new(612_345.5, 5_203_000.25), centred: false, cell: 5.0, unit: 1.0, system };
    let values = (0..12).map(|k| if k == 5 { f64::NAN } else { 1500.0 + 0.125 * f64::from(k) }).collect();
    Raster { size: [4, 3], place, values }
}

#[track_caller]
fn same(a: &Raster, b: &Raster) {
    assert_eq!((a.size, &a.place), (b.size, &b.place));
    let equal = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan());
    assert!(a.values.iter().zip(&b.values).all(equal), "{:?} {:?}", a.values, b.values);
}

#[test]
fn rasters_come_back_with_the_place_that_they_had() {
    let folder = tempfile::tempdir().unwrap();
    let back = |r: &Raster, name: &str| {
        let path = folder.path().join(name);
        r.write(&path).unwrap();
        Raster::of(terrain::read(&path).unwrap()).unwrap()
    };
    for centred in [false, true] {
        let mut asc = raster(Some(System::Text("PROJCS[\"UTM\"]".into())));
        asc.place.centred = centred;
        same(&asc, &back(&asc, "a.asc"));
    }
    let letters = "WGS 84 / UTM zone 33N|".into();
    // Projected, areas, a citation in the letters, EPSG 32633.
    let directory = vec![1, 1, 0, 4, 1024, 0, 1, 1, 1025, 0, 1, 1, 1026, 34737, 22, 0, 3072, 0, 1, 32633];
    let tif = raster(Some(System::Keys { directory, doubles: vec![], letters }));
    same(&tif, &back(&tif, "a.tif"));
    same(&raster(None), &back(&raster(None), "b.tif"));
}
