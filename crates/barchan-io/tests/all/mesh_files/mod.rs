//! Small writers of mesh files: one for each format and kind that is read.
#![allow(dead_code)] // each test file uses its part

use barchan_core::mesh::Mesh;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Name, extension, writer, and whether the file shares vertices (STL does not).
pub type Writer = (&'static str, &'static str, fn(&Mesh) -> Vec<u8>, bool);

/// Every kind of file.
pub const ALL: [Writer; 11] = [
    ("binary STL", "stl", stl_binary, false),
    ("text STL", "stl", stl_text, false),
    ("OBJ", "obj", obj, true),
    ("text PLY", "ply", |m| ply(m, "ascii"), true),
    ("little-endian PLY", "ply", |m| ply(m, "binary_little_endian"), true),
    ("big-endian PLY", "ply", |m| ply(m, "binary_big_endian"), true),
    ("glTF with bytes", "gltf", |m| gltf(m, 5121), true),
    ("glTF with shorts", "gltf", |m| gltf(m, 5123), true),
    ("glTF with words", "gltf", |m| gltf(m, 5125), true),
    ("glb", "glb", |m| glb(m, 5125), true),
    ("glb with shorts", "glb", |m| glb(m, 5123), true),
];

/// Kinds of which every proper beginning is an error: their length or their end is written in them.
pub const WHOLE_OR_NOTHING: [&str; 8] = [
    "binary STL",
    "little-endian PLY",
    "big-endian PLY",
    "glTF with bytes",
    "glTF with shorts",
    "glTF with words",
    "glb",
    "glb with shorts",
];

/// Writes a file into the folder.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    // Some file systems flush a file that is cut to nothing and written anew, which takes a millisecond.
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn floats(mesh: &Mesh) -> impl Iterator<Item = f32> + '_ {
    mesh.vertices.iter().flat_map(|v| v.to_array()).map(|x| x as f32)
}

pub fn stl_binary(mesh: &Mesh) -> Vec<u8> {
    // A header that begins as text does, which some programs write.
    let mut bytes = b"solid is what this binary file begins with".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for i in 0..mesh.triangles.len() {
        bytes.extend([0; 12]);
        for x in mesh.corners(i).into_iter().flat_map(|v| v.to_array()) {
            bytes.extend((x as f32).to_le_bytes());
        }
        bytes.extend(7u16.to_le_bytes());
    }
    bytes
}

pub fn stl_text(mesh: &Mesh) -> Vec<u8> {
    let mut text = String::from("solid a box with facet in its name\n");
    for i in 0..mesh.triangles.len() {
        text.push_str("  facet normal 0 0 0\n    outer loop\n");
        for v in mesh.corners(i) {
            writeln!(text, "      vertex {:e} {} {:?}", v.x, v.y, v.z).unwrap();
        }
        text.push_str("    endloop\n  endfacet\n");
    }
    text.push_str("endsolid a box\n");
    text.into_bytes()
}

pub fn obj(mesh: &Mesh) -> Vec<u8> {
    let mut text = String::from("# a mesh\nmtllib box.mtl\no box\n");
    for v in &mesh.vertices {
        writeln!(text, "v {} {} {}", v.x, v.y, v.z).unwrap();
    }
    text.push_str("vt 0.5 0.5\nvn 0 0 1\ng side\nusemtl steel\ns off\n");
    let n = mesh.vertices.len() as i64;
    for (i, t) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = t.map(|v| i64::from(v) + 1);
        match i % 4 {
            0 => writeln!(text, "f {a} {b} {c}"),
            1 => writeln!(text, "f {a}/1 {b}/1 {c}/1 # a comment"),
            2 => writeln!(text, "f {}//1 {}//1 \\\n  {}//1", a - n - 1, b - n - 1, c - n - 1),
            _ => writeln!(text, "f {a}/1/1\t{b}/1/1  {c}/1/1"),
        }
        .unwrap();
    }
    text.into_bytes()
}

pub fn ply(mesh: &Mesh, format: &str) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat {format} 1.0\ncomment made by a test\nobj_info none\n\
         element camera 2\nproperty list uchar short ids\nproperty double zoom\n\
         element vertex {}\nproperty uchar red\nproperty float x\nproperty float y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nproperty ushort part\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )
    .into_bytes();
    let text = format == "ascii";
    let mut put = |x: f64, binary: &[u8], end: bool| {
        if text {
            bytes.extend(format!("{x}{}", if end { '\n' } else { ' ' }).bytes());
        } else if format == "binary_big_endian" {
            bytes.extend(binary.iter().rev());
        } else {
            bytes.extend(binary);
        }
    };
    for ids in [&[][..], &[5i16, -6]] {
        put(ids.len() as f64, &[ids.len() as u8], false);
        for id in ids {
            put(f64::from(*id), &id.to_le_bytes(), false);
        }
        put(0.25, &0.25f64.to_le_bytes(), true);
    }
    for v in &mesh.vertices {
        put(200.0, &[200], false);
        put(v.x, &(v.x as f32).to_le_bytes(), false);
        put(v.y, &(v.y as f32).to_le_bytes(), false);
        put(v.z, &v.z.to_le_bytes(), true);
    }
    for t in &mesh.triangles {
        put(3.0, &[3], false);
        for v in t {
            put(f64::from(*v), &(*v as i32).to_le_bytes(), false);
        }
        put(9.0, &9u16.to_le_bytes(), true);
    }
    bytes
}

/// Indices of the given type, then positions 16 bytes apart, in one buffer; and the views and accessors of both.
pub fn gltf_parts(mesh: &Mesh, index: u32) -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    for v in mesh.triangles.iter().flatten() {
        match index {
            5121 => bytes.push(*v as u8),
            5123 => bytes.extend((*v as u16).to_le_bytes()),
            _ => bytes.extend(v.to_le_bytes()),
        }
    }
    let indices = bytes.len();
    bytes.resize(indices.next_multiple_of(4), 0);
    let start = bytes.len();
    for (i, x) in floats(mesh).enumerate() {
        bytes.extend(x.to_le_bytes());
        if i % 3 == 2 {
            bytes.extend(f32::NAN.to_le_bytes()); // not ours to read
        }
    }
    let (t, v) = (3 * mesh.triangles.len(), mesh.vertices.len());
    let json = format!(
        r#""bufferViews": [
            {{"buffer": 0, "byteLength": {indices}}},
            {{"buffer": 0, "byteOffset": {start}, "byteLength": {}, "byteStride": 16}}],
        "accessors": [
            {{"bufferView": 0, "componentType": {index}, "count": {t}, "type": "SCALAR"}},
            {{"bufferView": 1, "componentType": 5126, "count": {v}, "type": "VEC3", "min": [0, 0, 0]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"NORMAL": 7, "POSITION": 1}}, "indices": 0}}]}}]"#,
        bytes.len() - start
    );
    (bytes, json)
}

pub fn gltf_with(mesh: &Mesh, index: u32, uri: Option<&str>, nodes: &str) -> (String, Vec<u8>) {
    let (bytes, parts) = gltf_parts(mesh, index);
    let uri = uri.map(|u| format!(r#""uri": "{u}", "#)).unwrap_or_default();
    let json = format!(
        r#"{{"asset": {{"version": "2.0"}}, {nodes} {parts}, "buffers": [{{{uri}"byteLength": {}}}]}}"#,
        bytes.len()
    );
    (json, bytes)
}

pub fn gltf(mesh: &Mesh, index: u32) -> Vec<u8> {
    let (bytes, _) = gltf_parts(mesh, index);
    let uri = format!("data:application/octet-stream;base64,{}", base64(&bytes));
    gltf_with(mesh, index, Some(&uri), r#""scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],"#)
        .0
        .into_bytes()
}

pub fn glb(mesh: &Mesh, index: u32) -> Vec<u8> {
    let (mut json, mut binary) = gltf_with(mesh, index, None, "");
    json.push_str(&" ".repeat(json.len().next_multiple_of(4) - json.len()));
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = 12 + 8 + json.len() + 8 + binary.len();
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((total as u32).to_le_bytes());
    for (data, tag) in [(json.as_bytes(), b"JSON"), (&binary[..], b"BIN\0")] {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(tag);
        bytes.extend(data);
    }
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(word);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize] as char;
            text.push(if k <= group.len() { letter } else { '=' });
        }
    }
    text
}
