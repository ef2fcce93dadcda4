//! The reader's side of VTK XML files: the header taken apart, and the arrays that its elements point to.

use crate::frames::{Damage, damage};
use barchan_core::frame::{Extra, Values};
use flate2::bufread::ZlibDecoder;
use glam::{DQuat, DVec3, Vec3};
use roxmltree::{Document, Node};
use std::borrow::Cow;
use std::io::Read;

/// Takes a file of ours of a type apart: hands on the element of that name, and the data its arrays point into.
pub(crate) fn with_arrays<T>(
    bytes: &[u8],
    kind: &str,
    take: impl FnOnce(Node<'_, '_>, &Arrays<'_>) -> Result<T, Damage>,
) -> Result<T, Damage> {
    const TAG: &[u8] = b"<AppendedData encoding=\"raw\">";
    let Some(tag) = bytes.windows(TAG.len()).position(|w| w == TAG) else {
        return damage("header", "no raw appended data");
    };
    let tag_end = tag + TAG.len();
    let header = match std::str::from_utf8(&bytes[..tag_end]) {
        Ok(header) => format!("{header}</AppendedData></VTKFile>"),
        Err(e) => return damage(format!("byte {}", e.valid_up_to()), "the header is not text"),
    };
    if !bytes.trim_ascii_end().ends_with(b"</VTKFile>") {
        return damage(format!("byte {}", bytes.len()), "the end is missing");
    }
    let mark = bytes[tag_end..].iter().position(|b| !b.is_ascii_whitespace()).map_or(bytes.len(), |i| tag_end + i);
    if bytes.get(mark) != Some(&b'_') {
        return damage(format!("byte {mark}"), "the mark `_` before the data is missing");
    }
    let data = &bytes[mark + 1..];
    let document = Document::parse(&header).map_err(|e| ("header".to_owned(), e.to_string()))?;
    let root = document.root_element();
    let expected = [("type", kind), ("byte_order", "LittleEndian"), ("header_type", "UInt64")];
    for (key, value) in expected {
        if root.attribute(key) != Some(value) {
            return damage("VTKFile", format!("{key} should be {value}"));
        }
    }
    let zlib = match root.attribute("compressor") {
        None => false,
        Some("vtkZLibDataCompressor") => true,
        Some(other) => return damage("VTKFile", format!("unknown compressor {other}")),
    };
    take(child(root, kind)?, &Arrays { data, zlib })
}

/// The appended data that elements of the header point into.
pub(crate) struct Arrays<'b> {
    data: &'b [u8],
    zlib: bool,
}

impl<'b> Arrays<'b> {
    /// Quaternions x, y, z, w.
    pub(crate) fn rotations(&self, parent: Node<'_, '_>, name: &str, rows: usize) -> Result<Vec<DQuat>, Damage> {
        let flat = self.numbers(parent, name, "Float64", rows.saturating_mul(4), f64::from_le_bytes)?;
        Ok(flat.as_chunks::<4>().0.iter().map(|q| DQuat::from_array(*q)).collect())
    }

    /// The rows of a three-component column.
    pub(crate) fn vectors(
        &self,
        parent: Node<'_, '_>,
        name: &str,
        kind: &str,
        rows: usize,
    ) -> Result<Vec<DVec3>, Damage> {
        let count = rows.saturating_mul(3);
        let flat = if kind == "Float64" {
            self.numbers(parent, name, kind, count, f64::from_le_bytes)?
        } else {
            self.numbers(parent, name, kind, count, |b| f64::from(f32::from_le_bytes(b)))?
        };
        Ok(flat.as_chunks::<3>().0.iter().map(|v| DVec3::from_array(*v)).collect())
    }

    /// The column of an element, as wide and of the type that the element says.
    pub(crate) fn extra(&self, node: Node<'_, '_>, rows: usize) -> Result<Extra, Damage> {
        let name = node.attribute("Name").unwrap_or_default();
        let parent = node.parent().unwrap_or(node);
        let values = match (node.attribute("type"), node.attribute("NumberOfComponents").unwrap_or("1")) {
            (Some("Float32"), "1") => {
                Values::F32(self.numbers(parent, name, "Float32", rows, f32::from_le_bytes)?.into())
            }
            (Some("UInt32"), "1") => {
                Values::U32(self.numbers(parent, name, "UInt32", rows, u32::from_le_bytes)?.into())
            }
            (Some("Float32"), "3") => {
                let flat = self.numbers(parent, name, "Float32", rows.saturating_mul(3), f32::from_le_bytes)?;
                Values::Vec3(flat.as_chunks::<3>().0.iter().map(|v| Vec3::from_array(*v)).collect())
            }
            (kind, wide) => {
                let what = format!("{wide} × {} where Float32, 3 × Float32 or UInt32 should be", kind.unwrap_or("?"));
                return damage(format!("array {name}"), what);
            }
        };
        let unit = node.children().find(|c| c.attribute("name") == Some("UNITS_LABEL")).and_then(|c| c.text());
        Ok(Extra { name: name.to_owned(), unit: unit.unwrap_or_default().to_owned(), values })
    }

    /// The columns of an element but for those of the names in `known`.
    pub(crate) fn extras(&self, parent: Node<'_, '_>, known: &[&str], rows: usize) -> Result<Vec<Extra>, Damage> {
        let columns = parent.children().filter(|c| c.has_tag_name("DataArray"));
        let others = columns.filter(|c| !known.contains(&c.attribute("Name").unwrap_or_default()));
        others.map(|node| self.extra(node, rows)).collect()
    }

    /// Exactly `count` numbers of a column that must be of the type `kind`.
    pub(crate) fn numbers<T, const N: usize>(
        &self,
        parent: Node<'_, '_>,
        name: &str,
        kind: &str,
        count: usize,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Damage> {
        let node = array(parent, name)?;
        if node.attribute("type") != Some(kind) {
            return damage(format!("array {name}"), format!("should be {kind}"));
        }
        let bytes = self.bytes(node, name, Some(count.saturating_mul(N)))?;
        Ok(bytes.as_chunks::<N>().0.iter().map(|b| decode(*b)).collect())
    }

    /// Texts that each end with a zero byte; none where there is no such array.
    pub(crate) fn strings(&self, parent: Node<'_, '_>, name: &str) -> Result<Vec<String>, Damage> {
        let Ok(node) = array(parent, name) else { return Ok(Vec::new()) };
        let bytes = self.bytes(node, name, None)?;
        let Some((0, texts)) = bytes.split_last() else {
            return damage(format!("array {name}"), "the last text has no end");
        };
        Ok(texts.split(|b| *b == 0).map(|t| String::from_utf8_lossy(t).into_owned()).collect())
    }

    /// The bytes of an array; `expected` many where the caller knows.
    fn bytes(&self, node: Node<'_, '_>, name: &str, expected: Option<usize>) -> Result<Cow<'b, [u8]>, Damage> {
        let offset: usize = number(node, "offset")?;
        let short = || (format!("array {name} at byte {offset} of the data"), "the file is cut short".to_owned());
        let mut rest = self.data.get(offset..).ok_or_else(short)?;
        let mut next = || {
            let (head, tail) = rest.split_first_chunk::<8>().ok_or_else(short)?;
            rest = tail;
            usize::try_from(u64::from_le_bytes(*head)).map_err(|_| short())
        };
        let check = |found: usize| match expected {
            Some(expected) if expected != found => {
                damage(format!("array {name}"), format!("{found} bytes where {expected} should be"))
            }
            _ => Ok(()),
        };
        if !self.zlib {
            let length = next()?;
            check(length)?;
            return rest.get(..length).map(Cow::Borrowed).ok_or_else(short);
        }
        let (blocks, block, partial) = (next()?, next()?, next()?);
        let full = if partial == 0 { blocks } else { blocks.saturating_sub(1) };
        check(full.saturating_mul(block).saturating_add(partial))?;
        if blocks > self.data.len() / 8 {
            return Err(short());
        }
        let sizes = (0..blocks).map(|_| next()).collect::<Result<Vec<usize>, Damage>>()?;
        let mut out = Vec::new();
        for (i, size) in sizes.into_iter().enumerate() {
            let packed = rest.get(..size).ok_or_else(short)?;
            rest = &rest[size..];
            let length = if i < full { block } else { partial };
            let before = out.len();
            // One byte more than announced is enough to know that there are too many.
            let unpacked = ZlibDecoder::new(packed).take((length as u64).saturating_add(1)).read_to_end(&mut out);
            if unpacked.is_err() || out.len() - before != length {
                return damage(format!("array {name}, block {i}"), "does not unpack to its length");
            }
        }
        Ok(Cow::Owned(out))
    }
}

pub(crate) fn child<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Result<Node<'a, 'i>, Damage> {
    let found = node.children().find(|c| c.has_tag_name(tag));
    found.ok_or_else(|| (node.tag_name().name().to_owned(), format!("no element {tag}")))
}

pub(crate) fn array<'a, 'i>(parent: Node<'a, 'i>, name: &str) -> Result<Node<'a, 'i>, Damage> {
    let found = parent.children().find(|c| c.attribute("Name") == Some(name));
    found.ok_or_else(|| (parent.tag_name().name().to_owned(), format!("no array {name}")))
}

pub(crate) fn number<T: std::str::FromStr>(node: Node<'_, '_>, key: &str) -> Result<T, Damage> {
    let value = node.attribute(key).and_then(|v| v.parse().ok());
    value.ok_or_else(|| (node.tag_name().name().to_owned(), format!("{key} is missing or not a whole number")))
}
