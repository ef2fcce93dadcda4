//! glTF 2.0: `.gltf` with buffers in data URIs or files beside it, and `.glb`.
//!
//! Of the default scene (or the first; or all nodes, where there is none) every mesh is placed by its nodes' transforms.
//! Primitives are triangle lists; strips, fans, lines and points are an error that names them. Skins and morph targets
//! are not applied, materials not looked at. Accessors are read by hand, strictly: each is compared with its view, its
//! buffer and the bytes at hand before it is believed.

use super::{Builder, Fault, Format, ReadFault, Source, quoted, read_bytes};
use barchan_core::mesh::Mesh;
use glam::{DAffine3, DMat4, DQuat, DVec3};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) const FORMAT: Format = Format { name: "glTF", extensions: &["gltf", "glb"], recognises, read };

const GLB: &[u8] = b"glTF";

fn recognises(bytes: &[u8]) -> bool {
    // JSON that begins as an object; other formats' text does not.
    bytes.starts_with(GLB) || bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start().starts_with(b"{")
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    asset: Asset,
    extensions_required: Vec<String>,
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Primitives>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<View>,
    buffers: Vec<Buffer>,
}

#[derive(Deserialize, Default)]
struct Asset {
    version: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Scene {
    nodes: Vec<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Node {
    mesh: Option<usize>,
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

impl Node {
    fn transform(&self) -> DAffine3 {
        match &self.matrix {
            Some(m) => DAffine3::from_mat4(DMat4::from_cols_array(m)),
            None => DAffine3::from_scale_rotation_translation(
                self.scale.map_or(DVec3::ONE, DVec3::from_array),
                self.rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
                self.translation.map_or(DVec3::ZERO, DVec3::from_array),
            ),
        }
    }
}

#[derive(Deserialize)]
struct Primitives {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    mode: Option<u64>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u64,
    count: usize,
    #[serde(rename = "type")]
    shape: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    uri: Option<String>,
    byte_length: usize,
}

fn read(source: &Source<'_>) -> Result<Mesh, ReadFault> {
    let (json, binary) = if source.bytes.starts_with(GLB) { chunks(source.bytes)? } else { (source.bytes, None) };
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let document: Document = serde_json::from_slice(json)
        .map_err(|e| Fault::new(format!("line {}, column {}", e.line(), e.column()), e.to_string()))?;
    if !document.asset.version.starts_with("2.") {
        let what = format!("glTF of version {}, where 2 is read", quoted(&document.asset.version));
        return Err(Fault::new("`asset.version`", what).into());
    }
    // What dresses the surface may be passed over; what packs or moves it may not.
    const HARMLESS: [&str; 4] = ["KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_"];
    if let Some(name) = document.extensions_required.iter().find(|e| HARMLESS.iter().all(|h| !e.starts_with(h))) {
        let what = format!("it needs the extension {}, which is not read: export it without compression", quoted(name));
        return Err(Fault::new("`extensionsRequired`", what).into());
    }
    let mut buffers = Vec::new();
    for (i, buffer) in document.buffers.iter().enumerate() {
        buffers.push(buffer_bytes(i, buffer, binary, source)?);
    }
    let mut reader = Reader { document: &document, buffers: &buffers, builder: Builder::default() };
    reader.place_all()?;
    Ok(reader.builder.mesh)
}

/// Names of the files with buffers that a glTF needs beside it; none where the bytes are no glTF.
pub(super) fn beside(bytes: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Buffers {
        #[serde(default)]
        buffers: Vec<Buffer>,
    }
    let json = if bytes.starts_with(GLB) { chunks(bytes).map_or(&[][..], |parts| parts.0) } else { bytes };
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let Ok(document) = serde_json::from_slice::<Buffers>(json) else { return Vec::new() };
    let uris = document.buffers.into_iter().filter_map(|b| b.uri);
    let files = uris.filter(|uri| !uri.contains(':')).map(|uri| percent_decoded(&uri));
    files.filter(|name| !name.starts_with(['/', '\\'])).collect()
}

/// The text and the binary part of a `.glb`.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(|b| b.first_chunk::<4>());
        word.map(|w| u32::from_le_bytes(*w))
            .ok_or_else(|| Fault::new(format!("byte {}", bytes.len()), "the file ends here"))
    };
    if word(4)? != 2 {
        return Err(Fault::new("byte 4", format!("glb of version {}, where 2 is read", word(4)?)));
    }
    if word(8)? as usize > bytes.len() {
        let what = format!("{} bytes are promised, and there are {}: it is cut short", word(8)?, bytes.len());
        return Err(Fault::new("byte 8", what));
    }
    let chunk = |at: usize, tag: &[u8; 4]| {
        let (length, kind) = (word(at)? as usize, word(at + 4)?);
        if kind.to_le_bytes() != *tag {
            return Err(Fault::new(format!("byte {}", at + 4), "a chunk of another kind than glb begins with"));
        }
        bytes[at + 8..]
            .get(..length)
            .ok_or_else(|| Fault::new(format!("byte {at}"), "the chunk reaches beyond the file"))
    };
    let json = chunk(12, b"JSON")?;
    let next = 20 + json.len();
    let binary = if next < bytes.len() { Some(chunk(next, b"BIN\0")?) } else { None };
    Ok((json, binary))
}

fn buffer_bytes<'a>(
    i: usize,
    buffer: &Buffer,
    binary: Option<&'a [u8]>,
    source: &Source<'_>,
) -> Result<Cow<'a, [u8]>, ReadFault> {
    let fault = |what: String| Fault::new(format!("buffer {i}"), what);
    let bytes = match &buffer.uri {
        None if i == 0 => {
            Cow::Borrowed(binary.ok_or_else(|| fault("it has no URI, and the file no binary part".into()))?)
        }
        None => return Err(fault("it has no URI".into()).into()),
        Some(uri) if uri.starts_with("data:") => {
            let packed = uri.split_once(";base64,").ok_or_else(|| fault("its data URI is not base64".into()))?.1;
            Cow::Owned(base64(packed).ok_or_else(|| fault("its base64 is damaged".into()))?)
        }
        Some(uri) => {
            let name = percent_decoded(uri);
            // A mesh names files beside it; another machine's or the system's are none of its business.
            if uri.contains(':') || name.starts_with(['/', '\\']) {
                return Err(fault(format!("{} does not name a file beside it", quoted(uri))).into());
            }
            Cow::Owned(read_bytes(&source.path.with_file_name(&name)).map_err(ReadFault::Elsewhere)?)
        }
    };
    if bytes.len() < buffer.byte_length {
        let what = format!("{} bytes are promised, and there are {}: it is cut short", buffer.byte_length, bytes.len());
        return Err(fault(what).into());
    }
    Ok(bytes)
}

struct Reader<'a> {
    document: &'a Document,
    buffers: &'a [Cow<'a, [u8]>],
    builder: Builder,
}

impl<'a> Reader<'a> {
    fn place_all(&mut self) -> Result<(), Fault> {
        let document = self.document;
        if document.nodes.is_empty() {
            return (0..document.meshes.len()).try_for_each(|i| self.add_mesh(i, &DAffine3::IDENTITY));
        }
        let scene = document.scene.unwrap_or(0);
        let roots: Vec<usize> = match document.scenes.get(scene) {
            Some(scene) => scene.nodes.clone(),
            None if document.scene.is_some() => {
                return Err(Fault::new("`scene`", format!("there is no scene {scene}")));
            }
            None => {
                let mut root = vec![true; document.nodes.len()];
                for child in document.nodes.iter().flat_map(|n| &n.children) {
                    if let Some(root) = root.get_mut(*child) {
                        *root = false;
                    }
                }
                (0..root.len()).filter(|i| root[*i]).collect()
            }
        };
        // Each node once: in a tree it has one parent, and what is no tree could go on for ever.
        let mut seen = vec![false; document.nodes.len()];
        let mut stack: Vec<(usize, DAffine3)> = roots.into_iter().rev().map(|i| (i, DAffine3::IDENTITY)).collect();
        while let Some((i, outer)) = stack.pop() {
            let Some(node) = document.nodes.get(i) else {
                return Err(Fault::new(format!("node {i}"), format!("there are {}", document.nodes.len())));
            };
            if std::mem::replace(&mut seen[i], true) {
                return Err(Fault::new(format!("node {i}"), "it has two parents, or is its own"));
            }
            let transform = outer * node.transform();
            if let Some(mesh) = node.mesh {
                self.add_mesh(mesh, &transform)?;
            }
            stack.extend(node.children.iter().rev().map(|c| (*c, transform)));
        }
        Ok(())
    }

    fn add_mesh(&mut self, i: usize, transform: &DAffine3) -> Result<(), Fault> {
        let document = self.document;
        let Some(mesh) = document.meshes.get(i) else {
            return Err(Fault::new(format!("mesh {i}"), format!("there are {}", document.meshes.len())));
        };
        // Primitives of several materials often share their vertices: those are placed once.
        let mut placed = HashMap::new();
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            let place = || format!("mesh {i}, primitive {k}");
            const MODES: [&str; 7] =
                ["POINTS", "LINES", "LINE_LOOP", "LINE_STRIP", "TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN"];
            let mode = primitive.mode.unwrap_or(4);
            if mode != 4 {
                let name = usize::try_from(mode).ok().and_then(|m| MODES.get(m)).unwrap_or(&"unknown");
                let what = format!("it is of mode {mode} ({name}), and only 4 (TRIANGLES) is read");
                return Err(Fault::new(place(), what));
            }
            let position = primitive.attributes.position.ok_or_else(|| Fault::new(place(), "it has no POSITION"))?;
            let positions = self.rows(position, "VEC3", &[(5126, 12)])?;
            let first = match placed.get(&position) {
                Some(first) => *first,
                None => self.add_vertices(&positions, transform, &place)?,
            };
            placed.insert(position, first);
            let mirrored = transform.matrix3.determinant() < 0.0;
            self.add_triangles(first, positions.count, primitive.indices, mirrored, &place)?;
        }
        Ok(())
    }

    /// Adds placed vertices and tells the number of the first.
    fn add_vertices(
        &mut self,
        positions: &Rows<'_>,
        transform: &DAffine3,
        place: &dyn Fn() -> String,
    ) -> Result<usize, Fault> {
        let first = self.builder.mesh.vertices.len();
        for i in 0..positions.count {
            let (floats, _) = positions.row(i).as_chunks::<4>();
            let v = DVec3::from_array([0, 1, 2].map(|k| f64::from(f32::from_le_bytes(floats[k]))));
            self.builder.vertex(transform.transform_point3(v), || format!("{}, vertex {i}", place()))?;
        }
        Ok(first)
    }

    /// Adds triangles over the `count` vertices from `first` on; those of a mirrored mesh are turned round.
    fn add_triangles(
        &mut self,
        first: usize,
        count: usize,
        indices: Option<usize>,
        mirrored: bool,
        place: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        let indices = indices.map(|i| self.rows(i, "SCALAR", &[(5121, 1), (5123, 2), (5125, 4)])).transpose()?;
        let corners = indices.as_ref().map_or(count, |rows| rows.count);
        if !corners.is_multiple_of(3) {
            return Err(Fault::new(place(), format!("{corners} corners do not make whole triangles")));
        }
        for triangle in 0..corners / 3 {
            let place = || format!("{}, triangle {}", place(), triangle + 1);
            let mut abc = [0; 3];
            for (k, corner) in abc.iter_mut().enumerate() {
                let i = 3 * triangle + k;
                // Little-endian, of one, two or four bytes.
                let index =
                    indices.as_ref().map_or(i, |rows| rows.row(i).iter().rfold(0, |n, b| n << 8 | usize::from(*b)));
                if index >= count {
                    let what = format!("vertex {index} is named, and there are {count}, counted from 0");
                    return Err(Fault::new(place(), what));
                }
                *corner = (first + index) as u32;
            }
            if mirrored {
                abc.swap(1, 2);
            }
            self.builder.polygon(&abc, place)?;
        }
        Ok(())
    }

    /// The rows of an accessor of the given shape, whose component type is one of those given with the size of a row.
    fn rows(&self, i: usize, shape: &str, kinds: &[(u64, usize)]) -> Result<Rows<'a>, Fault> {
        let fault = |what: String| Fault::new(format!("accessor {i}"), what);
        let accessor = self.document.accessors.get(i).ok_or_else(|| fault("there is no such accessor".into()))?;
        let kind = kinds.iter().find(|k| k.0 == accessor.component_type && accessor.shape == shape);
        let Some(&(_, size)) = kind else {
            let (found, of) = (accessor.component_type, quoted(&accessor.shape));
            return Err(fault(format!("it is {of} of type {found}, where {shape} of {kinds:?} (type, bytes) is read")));
        };
        if accessor.sparse.is_some() {
            return Err(fault("it is sparse, which is not read".into()));
        }
        let view = accessor.buffer_view.ok_or_else(|| fault("it has no data".into()))?;
        let view = self.document.buffer_views.get(view).ok_or_else(|| fault(format!("there is no view {view}")))?;
        let buffer =
            self.buffers.get(view.buffer).ok_or_else(|| fault(format!("there is no buffer {}", view.buffer)))?;
        let bytes = buffer.get(view.byte_offset..).and_then(|b| b.get(..view.byte_length));
        let bytes = bytes.and_then(|b| b.get(accessor.byte_offset..));
        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            return Err(fault(format!("its rows of {size} bytes are {stride} apart")));
        }
        let needed = accessor.count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(size));
        match (bytes, needed) {
            (Some(bytes), Some(needed)) if needed <= bytes.len() => {
                Ok(Rows { bytes, stride, size, count: accessor.count })
            }
            _ => Err(fault(format!("{} rows are promised, and they reach beyond the data", accessor.count))),
        }
    }
}

/// Rows of numbers in a buffer; all are there.
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    fn row(&self, i: usize) -> &'a [u8] {
        &self.bytes[i * self.stride..][..self.size]
    }
}

/// Bytes of base64 (RFC 4648), with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for group in text.chunks(4) {
        let mut bits = 0;
        for letter in group {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        // A letter alone holds less than a byte.
        let whole = group.len().checked_sub(1).filter(|n| *n > 0)?;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..][..whole]);
    }
    Some(bytes)
}

/// A URI's `%20` and the like turned back.
fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
