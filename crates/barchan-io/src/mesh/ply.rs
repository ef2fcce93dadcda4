//! PLY, as text and as binary of either byte order.
//!
//! Of the element `vertex` the properties x, y, z are taken, of whatever type; of `face` the list `vertex_indices` or
//! `vertex_index`, as polygons. All else is stepped over. Frames that barchan writes as PLY are points and hold no faces.

use super::{Builder, Fault, Format, MOST_TRIANGLES, ReadFault, Source, quoted};
use barchan_core::mesh::Mesh;
use glam::DVec3;

pub(super) const FORMAT: Format = Format { name: "PLY", extensions: &["ply"], recognises, read };

fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")
}

/// Type of a number.
#[derive(Clone, Copy)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "char" | "int8" => Kind::I8,
            "uchar" | "uint8" => Kind::U8,
            "short" | "int16" => Kind::I16,
            "ushort" | "uint16" => Kind::U16,
            "int" | "int32" => Kind::I32,
            "uint" | "uint32" => Kind::U32,
            "float" | "float32" => Kind::F32,
            "double" | "float64" => Kind::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

/// One number a row, or a list of them with its length before it.
struct Property {
    name: String,
    length: Option<Kind>,
    kind: Kind,
}

struct Element {
    name: String,
    rows: u64,
    properties: Vec<Property>,
}

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Text,
    Little,
    Big,
}

struct Header {
    encoding: Encoding,
    elements: Vec<Element>,
    /// Bytes and lines it takes.
    bytes: usize,
    lines: usize,
}

fn read_header(bytes: &[u8]) -> Result<Header, Fault> {
    let mut header = Header { encoding: Encoding::Text, elements: Vec::new(), bytes: 0, lines: 0 };
    let mut encoding = None;
    // The first line says how lines end; the data after `\r` may begin with a byte that is a `\n`.
    let first_end = bytes.iter().position(|b| *b == b'\n' || *b == b'\r');
    let ending: &[u8] = match first_end.map(|e| &bytes[e..]) {
        Some([b'\r', b'\n', ..]) => b"\r\n",
        Some([b'\r', ..]) => b"\r",
        _ => b"\n",
    };
    loop {
        let rest = &bytes[header.bytes..];
        let place = format!("line {}", header.lines + 1);
        let Some(end) = rest.windows(ending.len()).position(|w| w == ending) else {
            return Err(Fault::new(place, "the header ends before `end_header`"));
        };
        let line = String::from_utf8_lossy(&rest[..end]);
        header.bytes += end + ending.len();
        header.lines += 1;
        let fault = |what: String| Err(Fault::new(place.clone(), what));
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["ply"] if header.lines == 1 => {}
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::Little,
                    "binary_big_endian" => Encoding::Big,
                    _ => return fault(format!("unknown format {}", quoted(name))),
                });
            }
            ["element", name, rows] => match rows.parse() {
                Ok(rows) => header.elements.push(Element { name: name.into(), rows, properties: Vec::new() }),
                Err(_) => return fault(format!("{} is no number of rows", quoted(rows))),
            },
            ["property", ref kinds @ .., name] => {
                let (length, kind) = match *kinds {
                    [kind] => (None, Kind::of(kind)),
                    ["list", length, kind] => (Kind::of(length), Kind::of(kind)),
                    _ => (None, None),
                };
                let listed = kinds.first() == Some(&"list");
                let (Some(kind), true, Some(element)) = (kind, listed == length.is_some(), header.elements.last_mut())
                else {
                    return fault(format!("{} is no property", quoted(&line)));
                };
                element.properties.push(Property { name: name.into(), length, kind });
            }
            ["end_header"] => break,
            _ => return fault(format!("{} does not belong into a header", quoted(&line))),
        }
    }
    header.encoding = encoding.ok_or_else(|| Fault::new("the header", "it has no line `format`"))?;
    Ok(header)
}

/// Numbers one after another, from text or binary.
struct Numbers<'a> {
    encoding: Encoding,
    rest: &'a [u8],
    length: usize,
    line: usize,
}

impl Numbers<'_> {
    fn place(&self) -> String {
        match self.encoding {
            Encoding::Text => format!("line {}", self.line),
            _ => format!("byte {}", self.length - self.rest.len()),
        }
    }

    fn short(&self) -> Fault {
        Fault::new(self.place(), "the file ends here: it is cut short")
    }

    fn next(&mut self, kind: Kind) -> Result<f64, Fault> {
        if self.encoding == Encoding::Text {
            return self.next_in_text();
        }
        let Some((head, rest)) = self.rest.split_at_checked(kind.size()) else { return Err(self.short()) };
        let mut bytes = [0; 8];
        bytes[..head.len()].copy_from_slice(head);
        if self.encoding == Encoding::Big {
            bytes[..head.len()].reverse();
        }
        self.rest = rest;
        let [a, b, c, d, ..] = bytes;
        Ok(match kind {
            Kind::I8 => f64::from(a as i8),
            Kind::U8 => f64::from(a),
            Kind::I16 => f64::from(i16::from_le_bytes([a, b])),
            Kind::U16 => f64::from(u16::from_le_bytes([a, b])),
            Kind::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Kind::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Kind::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Kind::F64 => f64::from_le_bytes(bytes),
        })
    }

    fn next_in_text(&mut self) -> Result<f64, Fault> {
        while let [first, rest @ ..] = self.rest {
            if !first.is_ascii_whitespace() {
                break;
            }
            self.line += usize::from(*first == b'\n');
            self.rest = rest;
        }
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.short());
        }
        let word = String::from_utf8_lossy(word);
        let number =
            word.parse().map_err(|_| Fault::new(self.place(), format!("{} is not a number", quoted(&word))))?;
        self.rest = rest;
        Ok(number)
    }

    /// A length or an index.
    fn whole(&mut self, kind: Kind) -> Result<u32, Fault> {
        let number = self.next(kind)?;
        let whole = number as u32;
        if f64::from(whole) == number {
            Ok(whole)
        } else {
            Err(Fault::new(self.place(), format!("{number} where a whole number should be")))
        }
    }

    /// Steps over a property.
    fn skip(&mut self, property: &Property) -> Result<(), Fault> {
        let times = property.length.map_or(Ok(1), |length| self.whole(length))?;
        if self.encoding == Encoding::Text {
            return (0..times).try_for_each(|_| self.next_in_text().map(drop));
        }
        let bytes = (times as usize).checked_mul(property.kind.size());
        let rest = bytes.and_then(|n| self.rest.get(n..));
        self.rest = rest.ok_or_else(|| self.short())?;
        Ok(())
    }
}

fn read(source: &Source<'_>) -> Result<Mesh, ReadFault> {
    let header = read_header(source.bytes)?;
    let mut numbers = Numbers {
        encoding: header.encoding,
        rest: &source.bytes[header.bytes..],
        length: source.bytes.len(),
        line: header.lines + 1,
    };
    let mut builder = Builder::default();
    let mut found = [false; 2];
    for element in &header.elements {
        check_rows(element, &numbers)?;
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut numbers, &mut builder)?,
            "face" => read_faces(element, &mut numbers, &mut builder)?,
            // A row of nothing takes no bytes, and there may be any number of them.
            _ if element.properties.is_empty() => {}
            _ => {
                for _ in 0..element.rows {
                    element.properties.iter().try_for_each(|p| numbers.skip(p))?;
                }
            }
        }
        found[0] |= element.name == "vertex";
        found[1] |= element.name == "face";
    }
    for (found, name) in found.into_iter().zip(["vertex", "face"]) {
        if !found {
            let what = format!("there is no element `{name}`: it holds points or strips, not polygons");
            return Err(Fault::new("the header", what).into());
        }
    }
    let n = builder.mesh.vertices.len();
    if let Some(i) = builder.mesh.triangles.iter().position(|t| t.iter().any(|v| *v as usize >= n)) {
        let highest = builder.mesh.triangles[i].into_iter().max().unwrap_or(0);
        let what = format!("vertex {highest} is named, and there are {n}, counted from 0");
        return Err(Fault::new(format!("triangle {}", i + 1), what).into());
    }
    Ok(builder.mesh)
}

/// Whether the promised rows can be in the bytes that are left; memory is taken for them only then.
fn check_rows(element: &Element, numbers: &Numbers<'_>) -> Result<(), Fault> {
    let least = |p: &Property| match numbers.encoding {
        // A digit and what parts it from the next, which may lack at the very end.
        Encoding::Text => 2,
        _ => p.length.unwrap_or(p.kind).size() as u64,
    };
    let row: u64 = element.properties.iter().map(least).sum();
    let left = numbers.rest.len() as u64 + u64::from(numbers.encoding == Encoding::Text);
    if row.checked_mul(element.rows).is_none_or(|bytes| bytes > left) {
        let what =
            format!("{} rows of `{}` are promised, and the file is too short for that", element.rows, element.name);
        return Err(Fault::new(numbers.place(), what));
    }
    Ok(())
}

fn read_vertices(element: &Element, numbers: &mut Numbers<'_>, builder: &mut Builder) -> Result<(), Fault> {
    let axis = |p: &Property| ["x", "y", "z"].iter().position(|name| p.length.is_none() && p.name == *name);
    let axes: Vec<Option<usize>> = element.properties.iter().map(axis).collect();
    if let Some(missing) = (0..3).find(|k| !axes.contains(&Some(*k))) {
        let what = format!("the element `vertex` has no property {}", ["x", "y", "z"][missing]);
        return Err(Fault::new("the header", what));
    }
    builder.mesh.vertices.reserve(element.rows.min(MOST_TRIANGLES as u64) as usize);
    for _ in 0..element.rows {
        let mut v = DVec3::ZERO;
        for (property, axis) in element.properties.iter().zip(&axes) {
            match axis {
                Some(axis) => v[*axis] = numbers.next(property.kind)?,
                None => numbers.skip(property)?,
            }
        }
        builder.vertex(v, || numbers.place())?;
    }
    Ok(())
}

fn read_faces(element: &Element, numbers: &mut Numbers<'_>, builder: &mut Builder) -> Result<(), Fault> {
    let is_indices = |p: &Property| p.length.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index");
    if !element.properties.iter().any(is_indices) {
        return Err(Fault::new("the header", "the element `face` has no list `vertex_indices`"));
    }
    let mut face = Vec::new();
    for _ in 0..element.rows {
        for property in &element.properties {
            let (true, Some(length)) = (is_indices(property), property.length) else {
                numbers.skip(property)?;
                continue;
            };
            face.clear();
            let length = numbers.whole(length)?;
            for _ in 0..length {
                face.push(numbers.whole(property.kind)?);
            }
            if length < 3 {
                let what = format!("a face of {length} vertices, where 3 is the least");
                return Err(Fault::new(numbers.place(), what));
            }
            builder.polygon(&face, || numbers.place())?;
        }
    }
    Ok(())
}
