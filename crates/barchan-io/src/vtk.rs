//! Frames for ParaView and VTK: one `.vtp` a frame (VTK XML PolyData, appended raw binary) and a `.pvd` that gives
//! them their times.
//!
//! A row is a sphere: a grain of several is expanded, so that a sphere glyph scaled by `radius` (or ParaView's *Point
//! Gaussian*) shows its true shape. Point data: `radius`, `velocity` (of the sphere's centre), `spin`, `mass` (the
//! grain's, shared among its spheres by volume, so that the sum over rows is the whole mass), `id` and `material` of the
//! grain, and the solver's extras. Field data: `TimeValue`, `step`, `material_names`, and `wall_*` for pose and load of
//! the walls, and `solid_*` for identity, shape, pose and radius of the grains whose shape has a surface of its own: readers
//! that have the scene's shapes draw that instead of the spheres. Positions, radii and masses are f64; other columns f32: a difference of positions must still resolve an
//! overlap, a colour need not.
//!
//! What a frame has beside grains goes to files beside theirs (see `parts`): further populations as spheres, pairs as lines with
//! cell data, surfaces as triangles with point data, grids as `.vti`. Extras are f32, three f32 or u32.
//!
//! The format is "VTK XML Formats" of the VTK user's guide. It costs 78 bytes a sphere, uncompressed.

use crate::atomic::{self, FileError};
use crate::columns::{FrameError, bytes, check, check_surface, vec3, vec3_f32};
use crate::parts::{self, Index, Kind};
use crate::xml::escaped;
use crate::{decimal, vti};
use barchan_core::frame::{Extra, Frame, Pairs, Population, SphereView, Surface, Values};
use flate2::{Compression, write::ZlibEncoder};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of a column that are compressed together; VTK's own writer takes a similar size.
const BLOCK: usize = 1 << 16;

/// Whether a file's columns are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// As they are: the fastest to write and to read.
    #[default]
    Raw,
    /// zlib at its fastest level: smaller files for several times the writing time.
    Zlib,
}

impl Packing {
    /// The attribute that tells a reader how to unpack.
    pub(crate) fn compressor(self) -> &'static str {
        match self {
            Packing::Raw => "",
            Packing::Zlib => " compressor=\"vtkZLibDataCompressor\"",
        }
    }
}

/// Writes a frame as `.vtp` with its further parts beside it, each file whole or not at all and the frame's own last.
pub fn write(path: &Path, frame: &Frame, packing: Packing) -> Result<(), FrameError> {
    check(frame)?;
    let file = |kind, name: &str| parts::path(path, kind, name, "vtp");
    for (_, name) in Index::of(frame).files().filter(|(kind, _)| *kind == Kind::Population) {
        let Some(population) = frame.population(name) else { continue };
        save(&file(Kind::Population, name), encode_population(frame, population, packing))?;
    }
    for pairs in &frame.pairs {
        save(&file(Kind::Pairs, &pairs.name), encode_pairs(frame, pairs, packing))?;
    }
    for surface in &frame.surfaces {
        save(&file(Kind::Surface, &surface.name), encode_surface(frame, surface, packing))?;
    }
    vti::write_grids(path, frame, packing)?;
    Ok(save(path, encode(frame, packing))?)
}

/// Writes a surface of a frame as a `.vtp` of its own.
pub fn write_surface(path: &Path, frame: &Frame, surface: &Surface, packing: Packing) -> Result<(), FrameError> {
    check_surface(frame.time, surface)?;
    Ok(save(path, encode_surface(frame, surface, packing))?)
}

/// The bytes that [`write()`] puts into the frame's own file.
pub fn to_bytes(frame: &Frame, packing: Packing) -> Result<Vec<u8>, FrameError> {
    check(frame)?;
    let file = encode(frame, packing);
    Ok([file.xml.as_bytes(), &file.body, FOOTER].concat())
}

/// Writes a file, whole or not at all.
pub(crate) fn save(path: &Path, file: Arrays) -> Result<(), FileError> {
    atomic::write_with(path, |out| {
        out.write_all(file.xml.as_bytes())?;
        out.write_all(&file.body)?;
        out.write_all(FOOTER)
    })
}

pub(crate) const FOOTER: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";

/// The frame's own file: grains, walls, names of materials and of parts.
fn encode(frame: &Frame, packing: Packing) -> Arrays {
    let grains = frame.grains();
    let mut file = Arrays::poly(frame.time, packing);
    file.field("UInt64", "step", "", 1, 1, frame.step.to_le_bytes().to_vec());
    file.strings("material_names", frame.materials.iter());
    file.walls(frame);
    file.solids(grains);
    let index = Index::of(frame);
    if !index.is_plain() {
        Kind::ALL.into_iter().for_each(|kind| file.strings(kind.list(), index.names(kind).iter()));
    }
    file.spheres(grains);
    file
}

fn encode_population(frame: &Frame, population: &Population, packing: Packing) -> Arrays {
    let mut file = Arrays::poly(frame.time, packing);
    file.strings(parts::NAME, [&population.name].into_iter());
    file.strings("material_names", frame.materials.iter());
    file.solids(population);
    file.spheres(population);
    file
}

/// Pairs as lines, each between two points of its own.
fn encode_pairs(frame: &Frame, pairs: &Pairs, packing: Packing) -> Arrays {
    let n = pairs.ends.len();
    let mut file = Arrays::poly(frame.time, packing);
    file.strings(parts::NAME, [&pairs.name].into_iter());
    file.piece(2 * n, 0, n, 0);
    file.array("Float64", "Points", "m", 3, bytes(pairs.ends.iter().flatten().map(|end| vec3(*end))));
    file.xml.push_str("      </Points>\n      <Lines>\n");
    file.indices("connectivity", 2 * n, 0..2 * n);
    file.indices("offsets", 2 * n, (1..n + 1).map(|i| 2 * i));
    file.xml.push_str("      </Lines>\n      <CellData>\n");
    file.array("UInt32", "id", "", 2, bytes(pairs.id.iter().flatten().map(|id| id.to_le_bytes())));
    pairs.extras.iter().for_each(|extra| file.extra(extra, 0..n));
    file.end("CellData");
    file
}

fn encode_surface(frame: &Frame, surface: &Surface, packing: Packing) -> Arrays {
    let (n, triangles) = (surface.vertices.len(), surface.triangles.len());
    let mut file = Arrays::poly(frame.time, packing);
    file.strings(parts::NAME, [&surface.name].into_iter());
    file.field("UInt16", "material", "", 1, 1, surface.material.to_le_bytes().to_vec());
    file.piece(n, 0, 0, triangles);
    file.array("Float64", "Points", "m", 3, bytes(surface.vertices.iter().map(|v| vec3(*v))));
    file.xml.push_str("      </Points>\n      <Polys>\n");
    let most = n.max(3 * triangles);
    file.indices("connectivity", most, surface.triangles.iter().flatten().map(|v| *v as usize));
    file.indices("offsets", most, (1..triangles + 1).map(|i| 3 * i));
    file.xml.push_str("      </Polys>\n      <PointData>\n");
    surface.extras.iter().for_each(|extra| file.extra(extra, 0..n));
    file.end("PointData");
    file
}

/// Each sphere's part of its grain's mass [kg], by volume.
pub(crate) fn mass_shares(grains: &Population, spheres: &[SphereView]) -> Vec<f64> {
    let mut volume = vec![0.0; grains.len()];
    spheres.iter().for_each(|s| volume[s.grain] += s.radius.powi(3));
    // A piece without extent is a single sphere.
    let share = |s: &SphereView| if volume[s.grain] > 0.0 { s.radius.powi(3) / volume[s.grain] } else { 1.0 };
    spheres.iter().map(|s| grains.mass[s.grain] * share(s)).collect()
}

/// The growing file: elements that point into the appended data, and that data.
pub(crate) struct Arrays {
    pub(crate) xml: String,
    pub(crate) body: Vec<u8>,
    pub(crate) packing: Packing,
}

impl Arrays {
    /// The start of a file of points up to its field data, of which it holds the time [s].
    fn poly(time: f64, packing: Packing) -> Arrays {
        let mut file = Arrays { xml: String::new(), body: Vec::new(), packing };
        // Writing to a string cannot fail.
        let _ = write!(
            file.xml,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\"{}>\n  <PolyData>\n    <FieldData>\n      \
             <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
            packing.compressor(),
            decimal(time)
        );
        file
    }

    /// The end of the field data, and the start of the points.
    fn piece(&mut self, points: usize, vertices: usize, lines: usize, polygons: usize) {
        let _ = write!(
            self.xml,
            "    </FieldData>\n    <Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"{vertices}\" NumberOfLines=\"{lines}\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{polygons}\">\n      <Points>\n"
        );
    }

    /// The end of the columns, up to the mark where binary data starts.
    fn end(&mut self, columns: &str) {
        let _ = write!(
            self.xml,
            "      </{columns}>\n    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n   _" // data start after `_`
        );
    }

    /// A population, sphere by sphere.
    fn spheres(&mut self, grains: &Population) {
        let spheres: Vec<SphereView> = grains.spheres().collect();
        let n = spheres.len();
        self.piece(n, n, 0, 0);
        self.array("Float64", "Points", "m", 3, bytes(spheres.iter().map(|s| vec3(s.centre))));
        self.xml.push_str("      </Points>\n      <Verts>\n");
        // A vertex cell a point: without cells ParaView draws nothing at first, and its filters select by cell.
        self.indices("connectivity", n, 0..n);
        self.indices("offsets", n, 1..n + 1);
        self.xml.push_str("      </Verts>\n      <PointData Scalars=\"radius\" Vectors=\"velocity\">\n");
        let share = mass_shares(grains, &spheres);
        self.array("Float64", "radius", "m", 1, bytes(spheres.iter().map(|s| s.radius.to_le_bytes())));
        self.array("Float32", "velocity", "m/s", 3, bytes(spheres.iter().map(|s| vec3_f32(s.velocity))));
        if n == 0 || !grains.spin.is_empty() {
            self.array("Float32", "spin", "rad/s", 3, bytes(spheres.iter().map(|s| vec3_f32(grains.spin[s.grain]))));
        }
        self.array("Float64", "mass", "kg", 1, bytes(share.iter().map(|m| m.to_le_bytes())));
        self.array("UInt32", "id", "", 1, bytes(spheres.iter().map(|s| grains.id[s.grain].to_le_bytes())));
        self.array("UInt16", "material", "", 1, bytes(spheres.iter().map(|s| grains.material[s.grain].to_le_bytes())));
        for extra in &grains.extras {
            self.extra(extra, spheres.iter().map(|s| s.grain));
        }
        self.end("PointData");
    }

    /// An extra column of these rows.
    pub(crate) fn extra(&mut self, extra: &Extra, rows: impl Iterator<Item = usize>) {
        let (name, unit) = (&extra.name, &extra.unit);
        match &extra.values {
            Values::F32(v) => self.array("Float32", name, unit, 1, bytes(rows.map(|r| v[r].to_le_bytes()))),
            Values::Vec3(v) => {
                self.array("Float32", name, unit, 3, bytes(rows.flat_map(|r| v[r].to_array()).map(f32::to_le_bytes)));
            }
            Values::U32(v) => self.array("UInt32", name, unit, 1, bytes(rows.map(|r| v[r].to_le_bytes()))),
        }
    }

    /// A column of a piece; its rows are as many as the bytes give.
    pub(crate) fn array(&mut self, kind: &str, name: &str, unit: &str, components: usize, data: Vec<u8>) {
        self.element("DataArray", kind, name, unit, &format!(" NumberOfComponents=\"{components}\""), &data);
    }

    /// A column of the field data, whose rows the format wants to be told.
    pub(crate) fn field(&mut self, kind: &str, name: &str, unit: &str, components: usize, rows: usize, data: Vec<u8>) {
        let shape = format!(" NumberOfComponents=\"{components}\" NumberOfTuples=\"{rows}\"");
        self.element("DataArray", kind, name, unit, &shape, &data);
    }

    /// Names in the field data: each ends with a zero byte.
    pub(crate) fn strings<'s>(&mut self, name: &str, values: impl Iterator<Item = &'s String>) {
        let mut data = Vec::new();
        let mut rows = 0;
        for value in values {
            data.extend(value.bytes().filter(|&b| b != 0));
            data.push(0);
            rows += 1;
        }
        if rows > 0 {
            self.element("Array", "String", name, "", &format!(" NumberOfTuples=\"{rows}\""), &data);
        }
    }

    fn walls(&mut self, frame: &Frame) {
        let (walls, n) = (&frame.walls, frame.walls.len());
        if n == 0 {
            return;
        }
        self.strings("wall_names", walls.iter().map(|w| &w.name));
        self.field("Float64", "wall_position", "m", 3, n, bytes(walls.iter().map(|w| vec3(w.position))));
        let turn = bytes(walls.iter().flat_map(|w| w.rotation.to_array()).map(f64::to_le_bytes));
        self.field("Float64", "wall_rotation", "", 4, n, turn);
        self.field("Float64", "wall_force", "N", 3, n, bytes(walls.iter().map(|w| vec3(w.force))));
        self.field("Float64", "wall_torque", "N m", 3, n, bytes(walls.iter().map(|w| vec3(w.torque))));
    }

    fn solids(&mut self, grains: &Population) {
        let rows: Vec<usize> = (0..grains.len()).filter(|g| grains.skin(*g).is_some()).collect();
        let (rows, n) = (rows.iter().copied(), rows.len());
        if n == 0 {
            return;
        }
        let shape = |g: usize| (grains.shape_index(g) as u16).to_le_bytes();
        self.field("UInt32", "solid_id", "", 1, n, bytes(rows.clone().map(|g| grains.id[g].to_le_bytes())));
        self.field("UInt16", "solid_shape", "", 1, n, bytes(rows.clone().map(shape)));
        self.field("Float64", "solid_position", "m", 3, n, bytes(rows.clone().map(|g| vec3(grains.position[g]))));
        let turn = bytes(rows.clone().flat_map(|g| grains.turn(g).to_array()).map(f64::to_le_bytes));
        self.field("Float64", "solid_orientation", "", 4, n, turn);
        self.field("Float64", "solid_radius", "m", 1, n, bytes(rows.map(|g| grains.radius[g].to_le_bytes())));
    }

    /// Whole numbers of which none is larger than `most`.
    fn indices(&mut self, name: &str, most: usize, values: impl Iterator<Item = usize>) {
        match i32::try_from(most) {
            Ok(_) => self.array("Int32", name, "", 1, bytes(values.map(|i| (i as i32).to_le_bytes()))),
            Err(_) => self.array("Int64", name, "", 1, bytes(values.map(|i| (i as i64).to_le_bytes()))),
        }
    }

    fn element(&mut self, tag: &str, kind: &str, name: &str, unit: &str, shape: &str, data: &[u8]) {
        let offset = self.body.len();
        let name = escaped(name);
        let _ = write!(
            self.xml,
            "      <{tag} type=\"{kind}\" Name=\"{name}\"{shape} format=\"appended\" offset=\"{offset}\""
        );
        if unit.is_empty() {
            self.xml.push_str("/>\n");
        } else {
            // VTK's own key for a unit: vtkDataArray::UNITS_LABEL.
            let key = "<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">";
            let _ = writeln!(self.xml, ">{key}{}</InformationKey></{tag}>", escaped(unit));
        }
        match self.packing {
            Packing::Raw => {
                self.body.extend_from_slice(&(data.len() as u64).to_le_bytes());
                self.body.extend_from_slice(data);
            }
            Packing::Zlib => append_zlib(&mut self.body, data),
        }
    }
}

/// Compressed array: number of blocks, bytes of a block, bytes of the last block where it is partial (else 0),
/// compressed bytes of each block; then the blocks.
fn append_zlib(body: &mut Vec<u8>, data: &[u8]) {
    let blocks = data.len().div_ceil(BLOCK);
    let head = [blocks as u64, BLOCK as u64, (data.len() % BLOCK) as u64];
    head.iter().for_each(|v| body.extend_from_slice(&v.to_le_bytes()));
    let sizes = body.len();
    body.resize(sizes + 8 * blocks, 0);
    for (i, block) in data.chunks(BLOCK).enumerate() {
        let start = body.len();
        // Writing to a vector cannot fail.
        let _ = zlib(block, body);
        let size = (body.len() - start) as u64;
        body[sizes + 8 * i..][..8].copy_from_slice(&size.to_le_bytes());
    }
}

fn zlib(block: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(to, Compression::fast());
    encoder.write_all(block)?;
    encoder.finish()?;
    Ok(())
}

/// The `.pvd` of a run: which file shows which time. It is rewritten whole after each frame, so that it can be opened
/// while the run goes on.
#[derive(Debug)]
pub struct TimeSeries {
    path: PathBuf,
    entries: Vec<(f64, String)>,
}

impl TimeSeries {
    /// Writes the index `path` of the files known so far: time [s] and name relative to the index.
    pub fn create(path: impl Into<PathBuf>, entries: Vec<(f64, String)>) -> Result<Self, FileError> {
        let series = TimeSeries { path: path.into(), entries };
        series.write()?;
        Ok(series)
    }

    /// Adds files: the time [s] each shows, and its name relative to the index. Those of one time are parts of one picture.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = (f64, String)>) -> Result<(), FileError> {
        self.entries.extend(entries);
        self.write()
    }

    fn write(&self) -> Result<(), FileError> {
        let mut xml = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  \
             <Collection>\n",
        );
        let (mut last, mut part) = (None, 0);
        for (time, name) in &self.entries {
            part = if last.replace(time) == Some(time) { part + 1 } else { 0 };
            let (time, name) = (decimal(*time), escaped(name));
            let _ = writeln!(xml, "    <DataSet timestep=\"{time}\" group=\"\" part=\"{part}\" file=\"{name}\"/>");
        }
        xml.push_str("  </Collection>\n</VTKFile>\n");
        atomic::write(&self.path, xml.as_bytes())
    }
}
