//! Terrain files of other people's writers: GDAL's and Pillow's, run by `terrain_back.py`.
//!
//! The environment variable `BARCHAN_PYTHON` names a Python that has the packages `rasterio`, `pillow` and `numpy`; the
//! script `./test` sets it.

use barchan_io::terrain::read;
use std::path::Path;
use std::process::Command;

#[test]
fn what_gdal_and_pillow_write_is_read() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: no files of GDAL and Pillow were read");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terrain_back.py");
    let run = Command::new(&python).arg(script).arg(folder.path()).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&said));

    let (mut held, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let beside = |extension: &str| std::fs::read(format!("{}.{extension}", path.display())).ok();
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(bytes) = beside("heights") {
            let terrain = read(&path).unwrap_or_else(|e| panic!("{e}"));
            let expected: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
            assert_eq!(terrain.heights.len(), expected.len(), "{name}");
            for (i, (found, expected)) in terrain.heights.iter().zip(&expected).enumerate() {
                // Text and sums of colours round; the rest is exact.
                let slack = if name.ends_with("tif") { 0.0 } else { 1e-6 };
                let same = (found - expected).abs() <= slack * expected.abs() || found.is_nan() && expected.is_nan();
                assert!(same, "{name} at {i}: {found} is not {expected}");
            }
            assert_eq!(terrain.degrees, name.starts_with("degrees"), "{name}");
            match name {
                "feet.tif" => assert!((terrain.square_cell().unwrap() - 0.5 * 1200.0 / 3937.0).abs() < 1e-12),
                _ if name.ends_with("png") || terrain.degrees => assert!(terrain.square_cell().is_err(), "{name}"),
                _ => assert_eq!(terrain.square_cell().unwrap(), 0.5, "{name}"),
            }
            held += 1;
        } else if let Some(words) = beside("refused") {
            let message = read(&path).expect_err(name).to_string();
            for word in String::from_utf8(words).unwrap().split('|') {
                assert!(message.contains(word), "{word}: {message}");
            }
            refused += 1;
        }
    }
    assert_eq!((held, refused), (63, 6));
}
