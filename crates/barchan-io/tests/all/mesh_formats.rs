//! Meshes written and read back in every format, and the quirks of files in the wild.

use barchan_core::mesh::Mesh;
use barchan_io::mesh::{read, write_stl};
use glam::{DAffine3, DQuat, DVec3};
use mesh_files::*;
use proptest::prelude::*;

use crate::mesh_files;

/// Corner points of every triangle, which is all that STL keeps.
fn corners(mesh: &Mesh) -> Vec<[DVec3; 3]> {
    (0..mesh.triangles.len()).map(|i| mesh.corners(i)).collect()
}

fn read_text(name: &str, text: &str) -> Mesh {
    let folder = tempfile::tempdir().unwrap();
    read(put(folder.path(), name, text.as_bytes())).unwrap()
}

/// Any triangles over vertices that f32 holds; the first has an area.
fn meshes() -> impl Strategy<Value = Mesh> {
    let coordinate = prop_oneof![-1e3f32..1e3, -1e-6f32..1e-6, Just(0.0), Just(-0.0), Just(1e20)].prop_map(f64::from);
    let vertices = prop::collection::vec(prop::array::uniform3(coordinate).prop_map(DVec3::from_array), 1..60);
    (vertices, prop::collection::vec(any::<[u32; 3]>(), 0..40)).prop_map(|(mut vertices, triangles)| {
        vertices.extend([DVec3::ZERO, DVec3::X, DVec3::Y]);
        let n = vertices.len() as u32;
        let first = [n - 3, n - 2, n - 1];
        let triangles = std::iter::once(first).chain(triangles.into_iter().map(|t| t.map(|v| v % n))).collect();
        Mesh { vertices, triangles }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_in_every_format(mesh in meshes()) {
        let folder = tempfile::tempdir().unwrap();
        for (name, extension, write, shared) in ALL {
            let bytes = write(&mesh);
            // Under its name, and under a name that tells nothing.
            for file in [format!("mesh.{extension}"), "mesh".to_owned()] {
                let back = read(put(folder.path(), &file, &bytes));
                prop_assert!(back.is_ok(), "{name}: {}", back.unwrap_err());
                let back = back.unwrap();
                prop_assert_eq!(corners(&back), corners(&mesh), "{}", name);
                prop_assert!(!shared || back == mesh, "{}", name);
            }
        }
        let path = folder.path().join("ours.stl");
        write_stl(&path, &mesh).unwrap();
        prop_assert_eq!(corners(&read(&path).unwrap()), corners(&mesh));
    }
}

#[test]
fn a_body_goes_through_stl_and_comes_back_closed_with_its_mass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("knot.stl");
    let knot = Mesh::trefoil(0.01, 0.004, 120, 16);
    write_stl(&path, &knot).unwrap();
    let mut back = read(&path).unwrap();
    let welded = back.weld(back.rounding());
    assert_eq!((welded.merged, back.vertices.len()), (3 * 3840 - 1920, 1920));
    assert!(back.health().is_closed(), "{}", back.health());
    let (before, after) = (knot.mass_properties().unwrap(), back.mass_properties().unwrap());
    assert!((after.volume / before.volume - 1.0).abs() < 1e-6);
}

#[test]
fn our_stl_has_unit_normals_and_does_not_begin_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("box.stl");
    let mesh = Mesh::box_of(DVec3::new(1.0, 2.0, 3.0));
    write_stl(&path, &mesh).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 84 + 12 * 50);
    assert!(!bytes.starts_with(b"solid"));
    for (i, row) in bytes[84..].chunks(50).enumerate() {
        let normal = [0, 4, 8].map(|k| f64::from(f32::from_le_bytes(row[k..k + 4].try_into().unwrap())));
        let [a, b, c] = mesh.corners(i);
        assert_eq!(DVec3::from_array(normal), (b - a).cross(c - a).normalize());
    }
    let mut far = mesh;
    far.vertices[0].x = 1e60;
    let refused = write_stl(&path, &far).unwrap_err().to_string();
    assert!(refused.contains("box.stl") && refused.contains("1e60"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn text_stl_in_capitals_with_any_line_ends_a_mark_and_several_solids_is_read() {
    let facet =
        "FACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 0 0 0\nvertex +1. .0 -0E0\n\tVertex 0 1e0 0\nENDLOOP\nENDFACET\n";
    let text = format!("\u{feff}\n  solid\n{facet}endsolid\n\nSOLID other facet\n{facet}{facet}EndSolid other\n\n");
    for ending in ["\n", "\r\n", "\r"] {
        let mesh = read_text("caps.stl", &text.replace('\n', ending));
        assert_eq!(corners(&mesh), vec![[DVec3::ZERO, DVec3::X, DVec3::Y]; 3]);
    }
}

#[test]
fn bytes_after_a_binary_stl_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh::box_of(DVec3::ONE);
    let mut bytes = stl_binary(&mesh);
    bytes[..5].copy_from_slice(b"SolId");
    bytes[5] = 0;
    bytes.extend(b"made by somebody");
    assert_eq!(corners(&read(put(folder.path(), "a.STL", &bytes)).unwrap()), corners(&mesh));
}

#[test]
fn polygons_are_cut_into_fans() {
    let obj = "v 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nf -3 -2 -1 4 5\nv 0.5 1.5 0\nv 0 1 0\np 1\nl 1 2\n";
    let fan = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4]];
    assert_eq!(read_text("house.obj", obj).triangles, fan);
    let ply = "ply\r\nformat ascii 1.0\r\nelement vertex 5\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\n\
               element face 1\r\nproperty list uchar uint vertex_index\r\nend_header\r\n\
               0 0 0\r\n1 0 0\r\n1 1 0\r\n0.5 1.5 0\r\n0 1 0\r\n5 0 1 2 3 4\r\n";
    assert_eq!(read_text("house.ply", ply).triangles, fan);
    assert_eq!(read_text("house.ply", ply).vertices, read_text("house.obj", obj).vertices);
}

#[test]
fn comments_that_are_not_utf8_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = b"# K\xf6rner\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec();
    assert_eq!(read(put(folder.path(), "a.obj", &bytes)).unwrap().triangles, [[0, 1, 2]]);
    bytes.splice(.., b"ply\nformat ascii 1.0\ncomment K\xf6rner\nelement vertex 3\nproperty int x\nproperty int y\nproperty int z\nelement face 1\nproperty list int int vertex_index\nend_header\n0 0 0 1 0 0 0 1 0\n3 0 1 2".iter().copied());
    assert_eq!(read(put(folder.path(), "a.ply", &bytes)).unwrap().triangles, [[0, 1, 2]]);
}

#[test]
fn binary_ply_after_a_carriage_return_may_begin_with_a_line_feed() {
    let mut bytes = b"ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\rproperty uchar y\rproperty uchar z\relement face 1\rproperty list uchar uchar vertex_index\rend_header\r".to_vec();
    bytes.extend([10, 0, 0, 0, 0, 0, 0, 10, 0, 3, 0, 1, 2]);
    let folder = tempfile::tempdir().unwrap();
    let mesh = read(put(folder.path(), "a.ply", &bytes)).unwrap();
    assert_eq!(corners(&mesh), [[10.0 * DVec3::X, DVec3::ZERO, 10.0 * DVec3::Y]]);
}

#[test]
fn gltf_nodes_place_their_meshes_and_a_mirror_keeps_the_outside() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh::cylinder(0.5, 1.0, 5);
    // A turned and moved parent; a child by a mirroring matrix, another by scale; one node out of the scene.
    let nodes = r#""scene": 1, "scenes": [{"nodes": [3]}, {"nodes": [0]}], "nodes": [
        {"children": [1, 2], "translation": [1, 2, 3], "rotation": [0, 0, 0.6, 0.8]},
        {"mesh": 0, "matrix": [-2,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]},
        {"mesh": 0, "scale": [1, 2, 3]},
        {"mesh": 0}],"#;
    let (json, bytes) = gltf_with(&mesh, 5123, Some("some%20folder/buffer%201.bin"), nodes);
    std::fs::create_dir(folder.path().join("some folder")).unwrap();
    put(folder.path(), "some folder/buffer 1.bin", &bytes);
    let found = read(put(folder.path(), "scene.gltf", json.as_bytes())).unwrap();
    let single = mesh.vertices.iter().map(|v| DVec3::from_array(v.to_array().map(|x| f64::from(x as f32)))).collect();
    let mesh = Mesh { vertices: single, ..mesh };
    let outer = DAffine3::from_rotation_translation(DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8), DVec3::new(1.0, 2.0, 3.0));
    let mirror = DAffine3::from_scale_rotation_translation(DVec3::new(-2.0, 1.0, 1.0), DQuat::IDENTITY, 5.0 * DVec3::X);
    let mut exact = mesh.transformed(&(outer * mirror));
    exact.append(&mesh.transformed(&(outer * DAffine3::from_scale(DVec3::new(1.0, 2.0, 3.0)))));
    assert_eq!(found.triangles, exact.triangles);
    assert!(found.vertices.iter().zip(&exact.vertices).all(|(a, b)| a.distance(*b) < 1e-14));
    let health = found.health();
    assert!(health.is_closed() && health.parts == 2, "{health}");
    assert!((health.volume / mesh.volume() - 8.0).abs() < 1e-12);
}

#[test]
fn gltf_without_scenes_or_indices_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]] };
    for nodes in ["", r#""nodes": [{"children": [1]}, {"mesh": 0}],"#] {
        let (json, bytes) = gltf_with(&mesh, 5125, Some("b.bin"), nodes);
        put(folder.path(), "b.bin", &bytes);
        for json in [json.clone(), json.replace(r#", "indices": 0"#, r#", "mode": 4"#)] {
            assert_eq!(read(put(folder.path(), "a.gltf", json.as_bytes())).unwrap(), mesh);
        }
    }
}

#[test]
fn gltf_primitives_that_share_vertices_share_them_still() {
    let mesh = Mesh::box_of(DVec3::ONE);
    let folder = tempfile::tempdir().unwrap();
    let json = String::from_utf8(gltf(&mesh, 5123)).unwrap();
    let first = r#"{"attributes": {"NORMAL": 7, "POSITION": 1}, "indices": 0}"#;
    assert!(json.contains(first));
    // Two materials, half the triangles each.
    let halves = json
        .replace(first, r#"{"attributes": {"POSITION": 1}, "indices": 0}, {"attributes": {"POSITION": 1}, "indices": 2}"#)
        .replace(r#""count": 36"#, r#""count": 18"#)
        .replace(r#""min": [0, 0, 0]}]"#, r#""min": [0]}, {"bufferView": 0, "byteOffset": 36, "componentType": 5123, "count": 18, "type": "SCALAR"}]"#);
    assert_eq!(read(put(folder.path(), "a.gltf", halves.as_bytes())).unwrap(), mesh);
}
