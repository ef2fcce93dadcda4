//! The files of [`crate::vtk`] read back.

use crate::columns::COLUMNS;
use crate::frames::{Damage, damage};
use crate::parts::{Index, Kind};
use crate::solids::Solid;
use crate::unpack::{Arrays, array, child, number, with_arrays};
use barchan_core::frame::{Frame, GRAINS, Pairs, Population, Surface, WallFrame};
use roxmltree::Node;

/// What a main file holds.
pub(crate) struct Main {
    /// The frame with the grains of the file as its only population, all as spheres.
    pub(crate) frame: Frame,
    /// What the file says of grains that are solids.
    pub(crate) solids: Vec<Solid>,
    /// The parts of the frame; none where there are only grains.
    pub(crate) index: Option<Index>,
}

/// Takes a main `.vtp` apart.
pub(crate) fn main(bytes: &[u8]) -> Result<Main, Damage> {
    with_arrays(bytes, "PolyData", |poly, file| {
        let grains = spheres(GRAINS, poly, file)?;
        let fields = child(poly, "FieldData")?;
        let mut index = Index::default();
        for kind in Kind::ALL {
            for name in file.strings(fields, kind.list())? {
                index.push(kind, name);
            }
        }
        let index = (index != Index::default()).then_some(index);
        index.iter().try_for_each(|index| index.check(grains.len()))?;
        let frame = Frame {
            time: time(poly)?,
            step: file.numbers(fields, "step", "UInt64", 1, u64::from_le_bytes)?[0],
            populations: vec![grains],
            walls: file.walls(fields)?,
            materials: file.strings(fields, "material_names")?.into(),
            ..Frame::default()
        };
        Ok(Main { frame, solids: file.solids(fields)?, index })
    })
}

/// A population from its file, with its time [s]; all as spheres.
pub(crate) fn population(bytes: &[u8], name: &str) -> Result<(f64, Population), Damage> {
    with_arrays(bytes, "PolyData", |poly, file| Ok((time(poly)?, spheres(name, poly, file)?)))
}

/// Pairs from their file, with their time [s].
pub(crate) fn pairs(bytes: &[u8], name: &str) -> Result<(f64, Pairs), Damage> {
    with_arrays(bytes, "PolyData", |poly, file| {
        let piece = child(poly, "Piece")?;
        let n: usize = number(piece, "NumberOfLines")?;
        let ends = file.vectors(child(piece, "Points")?, "Points", "Float64", n.saturating_mul(2))?;
        let columns = child(piece, "CellData")?;
        let id = file.numbers(columns, "id", "UInt32", n.saturating_mul(2), u32::from_le_bytes)?;
        let pairs = Pairs {
            name: name.to_owned(),
            id: id.as_chunks::<2>().0.into(),
            ends: ends.as_chunks::<2>().0.into(),
            extras: file.extras(columns, &["id"], n)?,
        };
        Ok((time(poly)?, pairs))
    })
}

/// A surface from its file, with its time [s].
pub(crate) fn surface(bytes: &[u8], name: &str) -> Result<(f64, Surface), Damage> {
    with_arrays(bytes, "PolyData", |poly, file| {
        let piece = child(poly, "Piece")?;
        let (n, triangles): (usize, usize) = (number(piece, "NumberOfPoints")?, number(piece, "NumberOfPolys")?);
        let vertices = file.vectors(child(piece, "Points")?, "Points", "Float64", n)?;
        let corners = triangles.saturating_mul(3);
        let polys = child(piece, "Polys")?;
        let corner = |b: [u8; 4]| u32::from_le_bytes(b);
        let corners = match array(polys, "connectivity")?.attribute("type") {
            Some("Int64") => {
                let wide = file.numbers(polys, "connectivity", "Int64", corners, u64::from_le_bytes)?;
                wide.into_iter().map(|v| u32::try_from(v).unwrap_or(u32::MAX)).collect()
            }
            _ => file.numbers(polys, "connectivity", "Int32", corners, corner)?,
        };
        if let Some(v) = corners.iter().find(|v| **v as usize >= n) {
            return damage("array connectivity", format!("corner {v} of {n} vertices"));
        }
        let fields = child(poly, "FieldData")?;
        let surface = Surface {
            name: name.to_owned(),
            vertices: vertices.into(),
            triangles: corners.as_chunks::<3>().0.into(),
            material: file.numbers(fields, "material", "UInt16", 1, u16::from_le_bytes)?[0],
            extras: file.extras(child(piece, "PointData")?, &[], n)?,
        };
        Ok((time(poly)?, surface))
    })
}

/// Time of a file [s].
pub(crate) fn time(node: Node<'_, '_>) -> Result<f64, Damage> {
    let time = array(child(node, "FieldData")?, "TimeValue")?.text().and_then(|t| t.trim().parse().ok());
    time.ok_or_else(|| ("TimeValue".to_owned(), "not a number".to_owned()))
}

fn spheres(name: &str, poly: Node<'_, '_>, file: &Arrays<'_>) -> Result<Population, Damage> {
    let piece = child(poly, "Piece")?;
    let n: usize = number(piece, "NumberOfPoints")?;
    let points = child(piece, "Points")?;
    let columns = child(piece, "PointData")?;
    let position = file.vectors(points, "Points", "Float64", n)?.into();
    let spin = match array(columns, "spin") {
        Ok(_) => file.vectors(columns, "spin", "Float32", n)?,
        // Nothing turns in this population.
        Err(_) => Vec::new(),
    };
    Ok(Population {
        name: name.to_owned(),
        position,
        velocity: file.vectors(columns, "velocity", "Float32", n)?.into(),
        spin: spin.into(),
        radius: file.numbers(columns, "radius", "Float64", n, f64::from_le_bytes)?.into(),
        mass: file.numbers(columns, "mass", "Float64", n, f64::from_le_bytes)?.into(),
        id: file.numbers(columns, "id", "UInt32", n, u32::from_le_bytes)?.into(),
        material: file.numbers(columns, "material", "UInt16", n, u16::from_le_bytes)?.into(),
        extras: file.extras(columns, &COLUMNS, n)?,
        ..Population::default()
    })
}

impl Arrays<'_> {
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
}
