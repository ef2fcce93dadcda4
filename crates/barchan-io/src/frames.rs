//! Our own frame files read back, for rendering and tests: every sphere comes back as a grain of one sphere. With the
//! scene's shapes at hand, solids of a `.vtp` come back as the grains they were.
//!
//! Reading is strict: a file that is cut short, altered or of another layout gives an error that names file and place,
//! never a frame with holes. Lengths are compared with the bytes at hand before memory is taken.

use crate::atomic::FileError;
use crate::columns::COLUMNS;
use crate::solids::{self, Solid};
use crate::vts;
use crate::writer::{self, Found, GROUND, ground_of};
use barchan_core::frame::{Extra, Frame, WallFrame};
use barchan_core::shapes::Shape;
use flate2::bufread::ZlibDecoder;
use glam::{DQuat, DVec3};
use roxmltree::{Document, Node};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a frame as barchan writes it, or no longer.
    #[error("{}: {place}: {what}; the file is damaged or not written by barchan", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: String,
        /// What was found.
        what: String,
    },
}

/// Place and reason, before the file's name is added.
pub(crate) type Damage = (String, String);

pub(crate) fn damage<T>(place: impl Into<String>, what: impl Into<String>) -> Result<T, Damage> {
    Err((place.into(), what.into()))
}

/// Reads a `.vtp` written by [`crate::vtk`], all as spheres.
pub fn read_vtp(path: impl AsRef<Path>) -> Result<Frame<'static>, ReadError> {
    read_with(path.as_ref(), |bytes| Ok(vtp_from_bytes(bytes)?.0))
}

/// Reads a `.vtp` of a run whose scene has these shapes: a grain that is a solid comes back as one row, with its shape and
/// orientation, as it was written but for the rounding of its velocity; other grains as spheres.
pub fn read_vtp_with(path: impl AsRef<Path>, shapes: &Arc<[Shape]>) -> Result<Frame<'static>, ReadError> {
    read_with(path.as_ref(), |bytes| {
        let (frame, solids) = vtp_from_bytes(bytes)?;
        solids::gather(frame, &solids, shapes)
    })
}

/// Reads a `.ply` written by [`crate::ply`]. It holds neither masses nor spins: those columns come back as NaN.
pub fn read_ply(path: impl AsRef<Path>) -> Result<Frame<'static>, ReadError> {
    read_with(path.as_ref(), ply_from_bytes)
}

/// Time [s] of a `.vtp` or `.ply` written by barchan, from the first bytes of the file.
pub fn read_time(path: impl AsRef<Path>) -> Result<f64, ReadError> {
    let path = path.as_ref();
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.map_err(|e| FileError::new("read", path, e))?;
    let head = String::from_utf8_lossy(&head);
    let after = |mark: &str, start: char, end: char| {
        let rest = &head[head.find(mark)? + mark.len()..];
        let (_, rest) = rest.split_once(start)?;
        rest.split_once(end)?.0.trim().parse().ok()
    };
    let time =
        if head.starts_with("ply\n") { after("\ncomment time", ' ', '\n') } else { after("\"TimeValue\"", '>', '<') };
    time.ok_or_else(|| ReadError::Damaged {
        path: path.to_owned(),
        place: "first 4096 bytes".to_owned(),
        what: "no time of a barchan frame".to_owned(),
    })
}

/// A frame of a run, on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number.
    pub number: u64,
    /// Simulated time [s].
    pub time: f64,
    /// The file.
    pub path: PathBuf,
    /// The file of its ground, if it has one: that of the frame in which the ground last changed.
    pub ground: Option<PathBuf>,
}

impl Stored {
    /// Reads the frame of a run whose scene has these shapes: see [`read_vtp_with`]. A `.ply` gives spheres.
    pub fn read(&self, shapes: &Arc<[Shape]>) -> Result<Frame<'static>, ReadError> {
        let is_ply = self.path.extension().is_some_and(|e| e == "ply");
        let mut frame = if is_ply { read_ply(&self.path)? } else { read_vtp_with(&self.path, shapes)? };
        frame.ground = self.ground.as_ref().map(vts::read).transpose()?.map(Arc::new);
        Ok(frame)
    }
}

/// The frames in a run's folder in order of time, and those whose first bytes are damaged. A frame that was written in two
/// formats is listed once, as `.vtp`, which holds more.
pub fn stored(folder: impl AsRef<Path>) -> Result<(Vec<Stored>, Vec<ReadError>), ReadError> {
    let mut files = writer::list(&folder.as_ref().join(writer::FRAMES))?;
    let grounds: Vec<Found> = files.extract_if(.., |f| f.extension == GROUND).collect();
    files.sort_by_key(|f| (f.number, f.extension != "vtp"));
    files.dedup_by_key(|f| f.number);
    let (mut frames, mut damaged) = (Vec::new(), Vec::new());
    for file in files {
        let ground = ground_of(&grounds, file.number).map(|g| g.path.clone());
        match read_time(&file.path) {
            Ok(time) => frames.push(Stored { number: file.number, time, path: file.path, ground }),
            Err(e) => damaged.push(e),
        }
    }
    frames.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok((frames, damaged))
}

fn read_with(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<Frame<'static>, Damage>,
) -> Result<Frame<'static>, ReadError> {
    let bytes = fs::read(path).map_err(|e| FileError::new("read", path, e))?;
    parse(&bytes).map_err(|(place, what)| ReadError::Damaged { path: path.to_owned(), place, what })
}

/// A frame of single spheres; what only some files hold is filled in by the caller.
fn frame_of_spheres(position: Vec<DVec3>, velocity: Vec<DVec3>, radius: Vec<f64>) -> Frame<'static> {
    Frame {
        shape: Cow::Owned(vec![0; position.len()]),
        shapes: Arc::from([Shape::sphere()]),
        position: Cow::Owned(position),
        velocity: Cow::Owned(velocity),
        radius: Cow::Owned(radius),
        ..Frame::default()
    }
}

/// All spheres, and what the file says of grains that are solids.
fn vtp_from_bytes(bytes: &[u8]) -> Result<(Frame<'static>, Vec<Solid>), Damage> {
    with_arrays(bytes, "PolyData", spheres)
}

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

fn spheres(poly: Node<'_, '_>, file: &Arrays<'_>) -> Result<(Frame<'static>, Vec<Solid>), Damage> {
    let piece = child(poly, "Piece")?;
    let n: usize = number(piece, "NumberOfPoints")?;
    let points = child(piece, "Points")?;
    let columns = child(piece, "PointData")?;
    let mut frame = frame_of_spheres(
        file.vectors(points, "Points", "Float64", n)?,
        file.vectors(columns, "velocity", "Float32", n)?,
        file.numbers(columns, "radius", "Float64", n, f64::from_le_bytes)?,
    );
    frame.spin = Cow::Owned(file.vectors(columns, "spin", "Float32", n)?);
    frame.mass = Cow::Owned(file.numbers(columns, "mass", "Float64", n, f64::from_le_bytes)?);
    frame.id = Cow::Owned(file.numbers(columns, "id", "UInt32", n, u32::from_le_bytes)?);
    frame.material = Cow::Owned(file.numbers(columns, "material", "UInt16", n, u16::from_le_bytes)?);
    for node in columns.children().filter(|c| c.has_tag_name("DataArray")) {
        let name = node.attribute("Name").unwrap_or_default();
        if COLUMNS.contains(&name) {
            continue;
        }
        let values = file.numbers(columns, name, "Float32", n, f32::from_le_bytes)?;
        let unit = node.children().find(|c| c.attribute("name") == Some("UNITS_LABEL")).and_then(|c| c.text());
        let (name, unit) = (intern(name), intern(unit.unwrap_or_default()));
        frame.extras.push(Extra { name, unit, values: Cow::Owned(values) });
    }
    let fields = child(poly, "FieldData")?;
    let time = array(fields, "TimeValue")?.text().and_then(|t| t.trim().parse().ok());
    frame.time = time.ok_or_else(|| ("TimeValue".to_owned(), "not a number".to_owned()))?;
    frame.step = file.numbers(fields, "step", "UInt64", 1, u64::from_le_bytes)?[0];
    frame.materials = Arc::from(file.strings(fields, "material_names")?);
    frame.walls = file.walls(fields)?;
    Ok((frame, file.solids(fields)?))
}

/// The appended data that elements of the header point into.
pub(crate) struct Arrays<'b> {
    data: &'b [u8],
    zlib: bool,
}

impl<'b> Arrays<'b> {
    fn walls(&self, fields: Node<'_, '_>) -> Result<Vec<WallFrame>, Damage> {
        let names = self.strings(fields, "wall_names")?;
        let n = names.len();
        if n == 0 {
            return Ok(Vec::new());
        }
        let position = self.vectors(fields, "wall_position", "Float64", n)?;
        let force = self.vectors(fields, "wall_force", "Float64", n)?;
        let torque = self.vectors(fields, "wall_torque", "Float64", n)?;
        let turn = self.rotations(fields, "wall_rotation", n)?;
        let walls = names.into_iter().zip(position).zip(turn).zip(force).zip(torque);
        Ok(walls
            .map(|((((name, position), rotation), force), torque)| WallFrame {
                name,
                position,
                rotation,
                force,
                torque,
            })
            .collect())
    }

    fn solids(&self, fields: Node<'_, '_>) -> Result<Vec<Solid>, Damage> {
        let is_of_solids = |c: Node<'_, '_>| c.attribute("Name").is_some_and(|n| n.starts_with("solid_"));
        if !fields.children().any(is_of_solids) {
            return Ok(Vec::new());
        }
        let n = number(array(fields, "solid_id")?, "NumberOfTuples")?;
        let id = self.numbers(fields, "solid_id", "UInt32", n, u32::from_le_bytes)?;
        let shape = self.numbers(fields, "solid_shape", "UInt16", n, u16::from_le_bytes)?;
        let position = self.vectors(fields, "solid_position", "Float64", n)?;
        let turn = self.rotations(fields, "solid_orientation", n)?;
        let radius = self.numbers(fields, "solid_radius", "Float64", n, f64::from_le_bytes)?;
        let solids = id.into_iter().zip(shape).zip(position).zip(turn).zip(radius);
        Ok(solids
            .map(|((((id, shape), position), turn), radius)| Solid { id, shape, position, turn, radius })
            .collect())
    }

    /// Quaternions x, y, z, w.
    fn rotations(&self, parent: Node<'_, '_>, name: &str, rows: usize) -> Result<Vec<DQuat>, Damage> {
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
    fn strings(&self, parent: Node<'_, '_>, name: &str) -> Result<Vec<String>, Damage> {
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

fn array<'a, 'i>(parent: Node<'a, 'i>, name: &str) -> Result<Node<'a, 'i>, Damage> {
    let found = parent.children().find(|c| c.attribute("Name") == Some(name));
    found.ok_or_else(|| (parent.tag_name().name().to_owned(), format!("no array {name}")))
}

fn number<T: std::str::FromStr>(node: Node<'_, '_>, key: &str) -> Result<T, Damage> {
    let value = node.attribute(key).and_then(|v| v.parse().ok());
    value.ok_or_else(|| (node.tag_name().name().to_owned(), format!("{key} is missing or not a whole number")))
}

/// A name that lives as long as the program, as a frame's extras want it. Each is kept once, so reading a long run
/// again and again takes no more memory than reading one frame.
fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

fn ply_from_bytes(bytes: &[u8]) -> Result<Frame<'static>, Damage> {
    const END: &[u8] = b"\nend_header\n";
    const FLOATS: [&str; 7] = ["x", "y", "z", "radius", "vx", "vy", "vz"];
    const ROW: usize = 34;
    let Some(end) = bytes.windows(END.len()).position(|w| w == END) else {
        return damage("header", "`end_header` is missing");
    };
    let header = std::str::from_utf8(&bytes[..end])
        .map_err(|e| (format!("byte {}", e.valid_up_to()), "the header is not text".to_owned()))?;
    let rows = &bytes[end + END.len()..];
    let mut layout = Vec::new();
    let (mut time, mut step, mut count, mut materials) = (None, None, None, Vec::new());
    for (i, line) in header.lines().enumerate() {
        let known = match line.split_once(' ').unwrap_or((line, "")) {
            ("ply", "") => i == 0,
            ("format", format) => format == "binary_little_endian 1.0",
            ("comment", text) => {
                let read = match text.split_once(' ') {
                    Some(("time", value)) => value.parse::<f64>().ok().map(|t| time = Some(t)),
                    Some(("step", value)) => value.parse::<u64>().ok().map(|s| step = Some(s)),
                    Some(("material", name)) => crate::ply::unescape(name).map(|n| materials.push(n)),
                    _ => Some(()),
                };
                read.is_some()
            }
            ("element", text) => {
                let first = count.is_none();
                count = text.strip_prefix("vertex ").and_then(|n| n.parse::<usize>().ok());
                first && count.is_some()
            }
            ("property", text) => {
                layout.push(text);
                true
            }
            _ => false,
        };
        if !known {
            return damage(format!("line {}", i + 1), format!("unexpected `{line}`"));
        }
    }
    let (Some(time), Some(step), Some(count)) = (time, step, count) else {
        return damage("header", "time, step or number of vertices is missing");
    };
    let expected = FLOATS.map(|name| format!("float {name}"));
    if !layout.iter().copied().eq(expected.iter().map(String::as_str).chain(["uint id", "ushort material"])) {
        return damage("header", "the properties are not those of a barchan frame");
    }
    if Some(rows.len()) != count.checked_mul(ROW) {
        return damage("rows", format!("{} bytes for {count} rows of {ROW}", rows.len()));
    }
    let rows = rows.as_chunks::<ROW>().0;
    let float = |row: &[u8; ROW], i: usize| f64::from(f32::from_le_bytes([0, 1, 2, 3].map(|b| row[4 * i + b])));
    let vector = |row: &[u8; ROW], i: usize| DVec3::new(float(row, i), float(row, i + 1), float(row, i + 2));
    let mut frame = frame_of_spheres(
        rows.iter().map(|r| vector(r, 0)).collect(),
        rows.iter().map(|r| vector(r, 4)).collect(),
        rows.iter().map(|r| float(r, 3)).collect(),
    );
    frame.spin = Cow::Owned(vec![DVec3::NAN; count]);
    frame.mass = Cow::Owned(vec![f64::NAN; count]);
    frame.id = rows.iter().map(|r| u32::from_le_bytes([28, 29, 30, 31].map(|b| r[b]))).collect();
    frame.material = rows.iter().map(|r| u16::from_le_bytes([r[32], r[33]])).collect();
    (frame.time, frame.step, frame.materials) = (time, step, Arc::from(materials));
    Ok(frame)
}
