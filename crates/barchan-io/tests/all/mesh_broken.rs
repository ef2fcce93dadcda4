//! Broken mesh files of every kind end in an error that names file and place: no panic, no mesh with holes in its indices,
//! no memory for what is only promised.

use barchan_core::mesh::Mesh;
use barchan_io::mesh::{MeshError, read};
use glam::DVec3;
use mesh_files::*;
use proptest::prelude::*;
use std::path::Path;

use crate::mesh_files;

/// The message for a file of this content.
fn refused(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let error = read(put(folder.path(), name, bytes)).expect_err(name);
    assert!(error.to_string().contains(name), "{error}");
    error.to_string()
}

/// Asserts that the message names the place, and what is wrong there.
#[track_caller]
fn expect(name: &str, content: impl AsRef<[u8]>, place: &str, what: &str) {
    let message = refused(name, content.as_ref());
    assert!(message.contains(place) && message.contains(what), "{message}");
}

/// What may be said of any mesh that was read.
fn is_sane(mesh: &Mesh) -> bool {
    let n = mesh.vertices.len();
    mesh.vertices.iter().all(|v| v.is_finite()) && mesh.triangles.iter().flatten().all(|v| (*v as usize) < n)
}

#[track_caller]
fn error_or_sane(path: &Path) -> Option<Mesh> {
    match read(path) {
        Ok(mesh) => {
            assert!(is_sane(&mesh) && !mesh.triangles.is_empty(), "{}", path.display());
            Some(mesh)
        }
        Err(MeshError::File(e)) => panic!("{e}"),
        Err(e) => {
            assert!(e.to_string().contains(path.file_name().unwrap().to_str().unwrap()), "{e}");
            None
        }
    }
}

#[test]
fn what_is_not_there_or_no_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read(folder.path().join("none.stl")).unwrap_err().to_string();
    assert!(missing.contains("none.stl") && missing.contains("does not exist"), "{missing}");
    let is_folder = read(folder.path()).unwrap_err().to_string();
    assert!(is_folder.contains("folder") && is_folder.contains(folder.path().to_str().unwrap()), "{is_folder}");
    #[cfg(unix)]
    {
        let endless = read("/dev/zero").unwrap_err().to_string();
        assert!(endless.contains("/dev/zero") && endless.contains("not an ordinary file"), "{endless}");
    }
}

#[test]
fn empty_files_and_other_texts_are_refused() {
    for name in ["a.stl", "a.obj", "a.ply", "a.gltf", "a.glb", "a"] {
        expect(name, "", "byte 0", "empty");
    }
    let letter =
        "Dear Sir,\n\nplease find the mesh attached, it is the one with the handle. I look forward to the print.\n";
    expect("a.stl", letter, "byte 0", "neither text");
    expect("a.obj", letter, "line 1", "\"Dear\"");
    expect("a.ply", letter, "line 1", "does not belong");
    expect("a.gltf", letter, "line 1, column 1", "");
    expect("a.glb", letter, "line 1", "");
    expect("a.txt", letter, "a.txt", "none of STL, OBJ, PLY, glTF");
    expect("a.obj", "# nothing\n", "whole OBJ file", "no triangles");
    expect("a.stl", "solid\nendsolid\n", "whole STL file", "no triangles");
}

#[test]
fn vertices_that_are_not_finite_or_absurdly_far_are_refused_with_their_place() {
    for bad in [f64::NAN, f64::INFINITY, -1e31] {
        let mut mesh = Mesh::box_of(DVec3::ONE);
        mesh.vertices[6].y = bad;
        for (name, extension, write, _) in ALL {
            let file = format!("bad.{extension}");
            let message = refused(&file, &write(&mesh));
            assert!(message.contains("vertex (") && message.contains("is not finite") != (bad == -1e31), "{message}");
            let placed = ["line ", "byte ", "triangle ", "vertex 6"].iter().any(|p| message.contains(p));
            assert!(placed, "{name}: {message}");
        }
    }
    expect("a.obj", "v 0 0 0\nv nan 0 0\n", "line 2", "(NaN, 0, 0) is not finite");
    expect(
        "a.stl",
        stl_text(&Mesh { vertices: vec![DVec3::X * f64::NAN; 3], triangles: vec![[0, 1, 2]] }),
        "line 4",
        "not finite",
    );
}

#[test]
fn vertices_that_are_not_there_are_refused() {
    let mut mesh = Mesh::box_of(DVec3::ONE);
    mesh.triangles[5][1] = 8;
    for (name, extension, write, shared) in ALL {
        if shared {
            let message = refused(&format!("bad.{extension}"), &write(&mesh));
            let placed = message.contains("triangle 6") || message.contains("line ");
            assert!(placed && (message.contains("vertex 8") || message.contains("vertex 9")), "{name}: {message}");
        }
    }
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for (face, what) in [
        ("f 1 2 4", "vertex 4 is named, and there are 3"),
        ("f 0 1 2", "counted from 1"),
        ("f 1 2 -4", "vertex -4 counts back"),
        ("f 1 2", "a face of 2"),
        ("f 1 2 x", "\"x\" is no vertex number"),
        ("f 1 2 99999999999", "vertex 99999999999"),
        ("f 1 2 99999999999999999999999", "is no vertex number"),
        ("f 1 2 4294967295", "vertex 4294967295"),
        ("curv 0 1 1 2", "\"curv\""),
        ("v 1 2", "a number is missing"),
        ("v 1 2 3,5", "\"3,5\" is not a number"),
    ] {
        expect("a.obj", format!("{vertices}{face}\n"), "line 4", what);
    }
}

#[test]
fn triangles_without_area_alone_are_no_mesh() {
    let flat = Mesh { vertices: vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X], triangles: vec![[0, 1, 2], [0, 0, 1]] };
    for (_, extension, write, _) in ALL {
        expect(&format!("flat.{extension}"), write(&flat), "the whole", "none of its 2 triangles has an area");
    }
}

#[test]
fn promises_beyond_the_file_cost_nothing() {
    for n in [1_000_000u32, u32::MAX] {
        let mut stl = vec![1; 100];
        stl[80..84].copy_from_slice(&n.to_le_bytes());
        expect("bomb.stl", stl, "byte 100", &format!("{n} triangles are promised"));
    }
    let vertex = "property float x\nproperty float y\nproperty float z\n";
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        for n in ["4000000000", "18446744073709551615"] {
            let head = format!("ply\nformat {format} 1.0\n");
            let bomb = format!("{head}element vertex {n}\n{vertex}end_header\n0 0 0\n");
            expect("bomb.ply", bomb, "", &format!("{n} rows of `vertex` are promised"));
            // Rows of nothing, as many as one likes, take no time.
            let empty = format!("{head}element nothing {n}\nelement vertex 0\n{vertex}end_header\n");
            expect("bomb.ply", empty, "the header", "no element `face`");
        }
        let long = format!(
            "ply\nformat {format} 1.0\nelement vertex 0\n{vertex}element face 1\nproperty list uint uint vertex_index\nend_header\n"
        );
        expect("bomb.ply", [long.as_bytes(), b"\xfe\xff\xff\xfe"].concat(), "", "");
        expect("bomb.ply", long + "4000000000 1 2 3", "", "");
    }
    let mesh = Mesh::box_of(DVec3::ONE);
    let json = String::from_utf8(gltf(&mesh, 5123)).unwrap();
    expect(
        "bomb.gltf",
        json.replace("\"count\": 8", "\"count\": 4000000000"),
        "accessor 1",
        "4000000000 rows are promised",
    );
    expect(
        "bomb.gltf",
        json.replace("\"count\": 8", "\"count\": 18446744073709551615"),
        "accessor 1",
        "rows are promised",
    );
    expect("bomb.gltf", json.replace("\"bufferView\": 1, ", ""), "accessor 1", "no data");
    expect("bomb.gltf", json.replace("\"byteLength\": 200}]", "\"byteLength\": 4000000000}]"), "buffer 0", "cut short");
    let deep = format!("{{\"asset\": {}", "[".repeat(1_000_000));
    expect("deep.gltf", deep, "line 1", "");
}

#[test]
fn gltf_says_what_it_cannot_use() {
    let mesh = Mesh::box_of(DVec3::ONE);
    let json = String::from_utf8(gltf(&mesh, 5123)).unwrap();
    let with = |from: &str, to: &str| {
        assert!(json.contains(from), "{from}");
        json.replacen(from, to, 1)
    };
    for (mode, name) in [(0, "POINTS"), (5, "TRIANGLE_STRIP"), (9, "unknown")] {
        let strip = with("\"indices\": 0", &format!("\"indices\": 0, \"mode\": {mode}"));
        expect("a.gltf", strip, "mesh 0, primitive 0", &format!("mode {mode} ({name})"));
    }
    let draco = with("\"scene\": 0", "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"], \"scene\": 0");
    expect("a.gltf", draco, "extensionsRequired", "KHR_draco_mesh_compression");
    expect("a.gltf", with("\"2.0\"", "\"1.0\""), "asset.version", "\"1.0\"");
    expect(
        "a.gltf",
        with("\"nodes\": [{\"mesh\": 0}]", "\"nodes\": [{\"children\": [1]}, {\"children\": [0]}]"),
        "node 0",
        "two parents",
    );
    expect("a.gltf", with("\"nodes\": [0]", "\"nodes\": [3]"), "node 3", "there are 1");
    expect("a.gltf", with("\"scene\": 0", "\"scene\": 2"), "`scene`", "no scene 2");
    expect("a.gltf", with("{\"mesh\": 0}", "{\"mesh\": 4}"), "mesh 4", "there are 1");
    expect("a.gltf", with("\"count\": 36", "\"count\": 35"), "mesh 0, primitive 0", "35 corners");
    expect("a.gltf", with("\"byteStride\": 16", "\"byteStride\": 8"), "accessor 1", "8 apart");
    expect("a.gltf", with("\"type\": \"VEC3\"", "\"type\": \"VEC2\""), "accessor 1", "\"VEC2\"");
    expect("a.gltf", with("\"type\": \"VEC3\"", "\"sparse\": {}, \"type\": \"VEC3\""), "accessor 1", "sparse");
    expect("a.gltf", with(";base64,", ";base64,*"), "buffer 0", "base64");
    expect("a.gltf", with("\"POSITION\"", "\"COLOR\""), "mesh 0, primitive 0", "no POSITION");
    for (uri, what) in
        [("https://example.org/b.bin", "beside it"), ("/b.bin", "beside it"), ("file:b.bin", "beside it")]
    {
        expect("a.gltf", gltf_with(&mesh, 5123, Some(uri), "").0, "buffer 0", what);
    }
    // A buffer that is missing is named itself.
    let folder = tempfile::tempdir().unwrap();
    let (json, bytes) = gltf_with(&mesh, 5123, Some("b.bin"), "");
    let path = put(folder.path(), "a.gltf", json.as_bytes());
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("b.bin") && message.contains("does not exist"), "{message}");
    put(folder.path(), "b.bin", &bytes[..50]);
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("a.gltf") && message.contains("there are 50"), "{message}");
}

#[test]
fn text_stl_out_of_order_is_refused_with_its_line() {
    let good = String::from_utf8(stl_text(&Mesh::box_of(DVec3::ONE))).unwrap();
    expect("a.stl", good.replacen("endloop", "vertex 0 0 0\nendloop", 1), "line 8", "a facet of 4 vertices");
    expect("a.stl", good.replacen("    outer loop\n", "", 1), "line 3", "\"vertex\" where `outer loop`");
    expect("a.stl", good.replacen("vertex", "vertex x", 1), "line 4", "\"x\" is not a number");
    expect("a.stl", good.replacen("endsolid", "solid", 1), "line 86", "\"solid\" where");
    expect("a.stl", good.replacen("endsolid a box\n", "", 1), "line 85", "cut short");
}

#[test]
fn a_file_cut_at_any_byte_is_an_error_or_a_smaller_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh::box_of(DVec3::new(1.0, 0.5, 0.25));
    for (name, extension, write, _) in ALL {
        let whole = write(&mesh);
        for length in 0..whole.len() {
            let path = put(folder.path(), &format!("cut.{extension}"), &whole[..length]);
            if let Some(found) = error_or_sane(&path) {
                assert!(found.triangles.len() <= 12, "{name} at {length}");
                assert!(!WHOLE_OR_NOTHING.contains(&name), "{name} at {length} of {}", whole.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_under_any_name_give_an_error_or_a_sane_mesh(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        start in prop::sample::select(vec![
            "", "solid\nfacet", "ply\n", "ply\nformat ascii 1.0\nelement vertex 1\n", "glTF\u{2}\0\0\0", "{", "v 0 0 0\nf ",
            "ply\nformat binary_big_endian 1.0\nelement face 9\nproperty list uchar char vertex_index\nend_header\n",
        ]),
        extension in prop::sample::select(vec!["stl", "obj", "ply", "gltf", "glb", "dat"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let bytes = [start.as_bytes(), &bytes].concat();
        error_or_sane(&put(folder.path(), &format!("any.{extension}"), &bytes));
    }

    #[test]
    fn a_good_file_with_some_bytes_altered_gives_an_error_or_a_sane_mesh(
        kind in 0..ALL.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        digits in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (_, extension, write, _) = ALL[kind];
        let mut bytes = write(&Mesh::box_of(DVec3::ONE));
        for (at, value) in changes {
            let at = at.index(bytes.len());
            // In text a digit is more likely to be understood, and misunderstood.
            bytes[at] = if digits { b'0' + value % 10 } else { value };
        }
        // An altered URI may name a file that is not there.
        match read(put(folder.path(), &format!("altered.{extension}"), &bytes)) {
            Ok(mesh) => prop_assert!(is_sane(&mesh)),
            Err(e) => prop_assert!(matches!(e, MeshError::File(_)) || e.to_string().contains("altered")),
        }
    }
}

/// Opening a pipe waits for somebody who writes into it: it is refused before it is opened.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_mesh_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo.stl");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success(), "mkfifo is there");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(read(path).map_err(|e| e.to_string())));
    let answer = told.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits for a writer");
    assert!(answer.unwrap_err().contains("not an ordinary file"));
}
