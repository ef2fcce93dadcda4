//! The files of [`crate::ply`] read back.

use crate::frames::{Damage, damage};
use crate::parts::{Index, Kind};
use crate::ply::{EDGE, FACE, MASS, SPHERE, SPHERE_BYTES, SPIN, VERTEX, layout, unescape};
use barchan_core::frame::{Extra, Frame, GRAINS, Pairs, Population, Shared, Surface, Values};
use glam::{DVec3, Vec3};

/// Bytes of a triangle: how many corners, and these.
const FACE_BYTES: usize = 13;

/// Takes a main `.ply` apart: the frame with its grains, and its parts where it has more than those.
pub(crate) fn main(bytes: &[u8]) -> Result<(Frame, Option<Index>), Damage> {
    let file = File::parse(bytes)?;
    let [rows] = file.elements(["vertex"], [layout(&SPHERE, &[])], [SPHERE_BYTES])?;
    let mut grains = spheres(GRAINS, rows, SPHERE_BYTES);
    let count = grains.len();
    (grains.spin, grains.mass) = (vec![DVec3::NAN; count].into(), vec![f64::NAN; count].into());
    file.index.iter().try_for_each(|index| index.check(count))?;
    let (time, step, materials) = (file.time, file.step, file.materials.into());
    Ok((Frame { time, step, materials, populations: vec![grains], ..Frame::default() }, file.index))
}

/// A population from its file, with its time [s].
pub(crate) fn population(bytes: &[u8], name: &str) -> Result<(f64, Population), Damage> {
    let file = File::parse(bytes)?;
    let turns = file.elements.first().is_some_and(|e| e.properties.contains(&SPIN[0]));
    let spin = if turns { &SPIN[..] } else { &SPIN[..0] };
    let fixed = [&SPHERE[..], &[MASS], spin].concat();
    let before = SPHERE_BYTES + 4 + 4 * spin.len();
    let wide = before + width(&file.extras);
    let [rows] = file.elements(["vertex"], [layout(&fixed, &file.extras)], [wide])?;
    let mut population = spheres(name, rows, wide);
    let rows = || rows.chunks_exact(wide);
    population.mass = rows().map(|row| f64::from(f32::from_le_bytes(four(row, SPHERE_BYTES)))).collect();
    if turns {
        population.spin = rows().map(|row| vector(row, SPHERE_BYTES + 4).as_dvec3()).collect();
    }
    population.extras = extras(&file.extras, rows, before);
    Ok((file.time, population))
}

/// Pairs from their file, with their time [s].
pub(crate) fn pairs(bytes: &[u8], name: &str) -> Result<(f64, Pairs), Damage> {
    let file = File::parse(bytes)?;
    let wide = 16 + width(&file.extras);
    let layouts = [layout(&VERTEX, &[]), layout(&EDGE, &file.extras)];
    let [vertices, edges] = file.elements(["vertex", "edge"], layouts, [12, wide])?;
    let rows = || edges.chunks_exact(wide);
    if vertices.len() / 12 != 2 * rows().len() {
        return damage("element vertex", "not two for each pair");
    }
    let place = |row: &[u8], at: usize| vector(row, at).as_dvec3();
    let pairs = Pairs {
        name: name.to_owned(),
        id: rows().map(|row| [8, 12].map(|at| u32::from_le_bytes(four(row, at)))).collect(),
        ends: vertices.chunks_exact(24).map(|ends| [place(ends, 0), place(ends, 12)]).collect(),
        extras: extras(&file.extras, rows, 16),
    };
    Ok((file.time, pairs))
}

/// A surface from its file, with its time [s].
pub(crate) fn surface(bytes: &[u8], name: &str) -> Result<(f64, Surface), Damage> {
    let file = File::parse(bytes)?;
    let wide = 12 + width(&file.extras);
    let layouts = [layout(&VERTEX, &file.extras), vec![FACE.to_owned()]];
    let [vertices, faces] = file.elements(["vertex", "face"], layouts, [wide, FACE_BYTES])?;
    let Some(material) = file.surface_material else { return damage("header", "the surface has no material") };
    let rows = || vertices.chunks_exact(wide);
    let n = rows().len();
    let sound =
        |face: &[u8]| face[0] == 3 && [1, 5, 9].iter().all(|at| (u32::from_le_bytes(four(face, *at)) as usize) < n);
    if let Some(face) = faces.chunks_exact(FACE_BYTES).position(|face| !sound(face)) {
        return damage(format!("face {face}"), format!("not three corners of {n}"));
    }
    let corners = |face: &[u8]| [1, 5, 9].map(|at| u32::from_le_bytes(four(face, at)));
    let surface = Surface {
        name: name.to_owned(),
        vertices: rows().map(|row| vector(row, 0).as_dvec3()).collect(),
        triangles: faces.chunks_exact(FACE_BYTES).map(corners).collect(),
        material,
        extras: extras(&file.extras, rows, 12),
    };
    Ok((file.time, surface))
}

/// What all rows of spheres begin with.
fn spheres(name: &str, rows: &[u8], wide: usize) -> Population {
    let rows = || rows.chunks_exact(wide);
    Population {
        name: name.to_owned(),
        position: rows().map(|row| vector(row, 0).as_dvec3()).collect(),
        radius: rows().map(|row| f64::from(f32::from_le_bytes(four(row, 12)))).collect(),
        velocity: rows().map(|row| vector(row, 16).as_dvec3()).collect(),
        id: rows().map(|row| u32::from_le_bytes(four(row, 28))).collect(),
        material: rows().map(|row| u16::from_le_bytes([row[32], row[33]])).collect(),
        ..Population::default()
    }
}

/// Bytes of the extras in a row.
fn width(extras: &[Extra]) -> usize {
    extras.iter().map(|e| if matches!(e.values, Values::Vec3(_)) { 12 } else { 4 }).sum()
}

/// The extras of rows, from byte `at` of each on.
fn extras<'b, R: Iterator<Item = &'b [u8]>>(declared: &[Extra], rows: impl Fn() -> R, mut at: usize) -> Vec<Extra> {
    let column = |extra: &Extra| {
        let values = match extra.values {
            Values::F32(_) => Values::F32(rows().map(|row| f32::from_le_bytes(four(row, at))).collect()),
            Values::U32(_) => Values::U32(rows().map(|row| u32::from_le_bytes(four(row, at))).collect()),
            Values::Vec3(_) => Values::Vec3(rows().map(|row| vector(row, at)).collect()),
        };
        at += width(std::slice::from_ref(extra));
        Extra { values, ..extra.clone() }
    };
    declared.iter().map(column).collect()
}

fn four(row: &[u8], at: usize) -> [u8; 4] {
    [0, 1, 2, 3].map(|b| row[at + b])
}

fn vector(row: &[u8], at: usize) -> Vec3 {
    Vec3::from_array([0, 4, 8].map(|k| f32::from_le_bytes(four(row, at + k))))
}

/// A header taken apart, and the bytes after it.
struct File<'b> {
    time: f64,
    step: u64,
    materials: Vec<String>,
    index: Option<Index>,
    /// The extras as the comments declare them, without values.
    extras: Vec<Extra>,
    surface_material: Option<u16>,
    elements: Vec<Element<'b>>,
    body: &'b [u8],
}

struct Element<'b> {
    name: &'b str,
    count: usize,
    properties: Vec<&'b str>,
}

impl<'b> File<'b> {
    fn parse(bytes: &'b [u8]) -> Result<File<'b>, Damage> {
        const END: &[u8] = b"\nend_header\n";
        let Some(end) = bytes.windows(END.len()).position(|w| w == END) else {
            return damage("header", "`end_header` is missing");
        };
        let header = std::str::from_utf8(&bytes[..end])
            .map_err(|e| (format!("byte {}", e.valid_up_to()), "the header is not text".to_owned()))?;
        let (mut time, mut step) = (None, None);
        let mut file = File {
            time: 0.0,
            step: 0,
            materials: Vec::new(),
            index: None,
            extras: Vec::new(),
            surface_material: None,
            elements: Vec::new(),
            body: &bytes[end + END.len()..],
        };
        for (i, line) in header.lines().enumerate() {
            let known = match line.split_once(' ').unwrap_or((line, "")) {
                ("ply", "") => i == 0,
                ("format", format) => format == "binary_little_endian 1.0",
                ("comment", text) => match text.split_once(' ') {
                    Some(("time", value)) => value.parse::<f64>().map(|t| time = Some(t)).is_ok(),
                    Some(("step", value)) => value.parse::<u64>().map(|s| step = Some(s)).is_ok(),
                    Some((key, value)) => file.comment(key, value).is_some(),
                    None => true,
                },
                ("element", text) => match text.split_once(' ').map(|(name, count)| (name, count.parse())) {
                    Some((name, Ok(count))) => {
                        file.elements.push(Element { name, count, properties: Vec::new() });
                        true
                    }
                    _ => false,
                },
                ("property", text) => file.elements.last_mut().map(|e| e.properties.push(text)).is_some(),
                _ => false,
            };
            if !known {
                return damage(format!("line {}", i + 1), format!("unexpected `{line}`"));
            }
        }
        let (Some(time), Some(step)) = (time, step) else { return damage("header", "time or step is missing") };
        (file.time, file.step) = (time, step);
        Ok(file)
    }

    /// Takes note of a comment; nothing where it should say something and does not.
    fn comment(&mut self, key: &str, value: &str) -> Option<()> {
        if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.word() == key) {
            self.index.get_or_insert_default().push(kind, unescape(value)?);
            return Some(());
        }
        match key {
            "material" => self.materials.push(unescape(value)?),
            "surface_material" => self.surface_material = Some(value.parse().ok()?),
            "extra" => {
                let mut words = value.split(' ');
                let values = match words.next()? {
                    "f32" => Values::F32(Shared::from([])),
                    "vec3" => Values::Vec3(Shared::from([])),
                    "u32" => Values::U32(Shared::from([])),
                    _ => return None,
                };
                let name = unescape(words.next()?)?;
                let unit = unescape(words.next().unwrap_or_default())?;
                self.extras.push(Extra { name, unit, values });
            }
            _ => {}
        }
        Some(())
    }

    /// The rows of elements that must have these names and properties, `wide` bytes a row, and nothing after them.
    fn elements<const N: usize>(
        &self,
        names: [&str; N],
        layouts: [Vec<String>; N],
        wide: [usize; N],
    ) -> Result<[&'b [u8]; N], Damage> {
        if !self.elements.iter().map(|e| e.name).eq(names) {
            return damage("header", format!("the elements are not {}", names.join(" and ")));
        }
        let mut rest = self.body;
        let mut rows = [rest; N];
        for (i, element) in self.elements.iter().enumerate() {
            if !element.properties.iter().copied().eq(layouts[i].iter().map(String::as_str)) {
                return damage("header", "the properties are not those of a barchan frame");
            }
            let (count, left) = (element.count, rest.len());
            let size = count.checked_mul(wide[i]).filter(|size| *size <= left);
            let Some(size) = size else {
                return damage("rows", format!("{left} bytes for {count} rows of {}", wide[i]));
            };
            (rows[i], rest) = rest.split_at(size);
        }
        match rest.len() {
            0 => Ok(rows),
            more => damage("rows", format!("{more} bytes after the last")),
        }
    }
}
