//! A surface for modelling tools: Wavefront OBJ with normals.
//!
//! Text: `v` (positions to the last bit of f64), `vn` where the surface has a column `normal`, `f`. Other columns have no place in OBJ; for
//! them use PLY or VTK. About 110 bytes a vertex and 40 a triangle.

use crate::atomic::{self, FileError};
use crate::decimal;
use barchan_core::frame::{Surface, Values};
use std::path::Path;

/// Name of the column that OBJ keeps.
const NORMAL: &str = "normal";

/// Writes a surface as `.obj`, whole or not at all.
pub fn write(path: &Path, surface: &Surface) -> Result<(), FileError> {
    let normals = surface.extras.iter().find_map(|e| match &e.values {
        Values::Vec3(v) if e.name == NORMAL && v.len() == surface.vertices.len() => Some(v),
        _ => None,
    });
    atomic::write_with(path, |out| {
        writeln!(out, "# barchan: a surface, metres")?;
        for v in surface.vertices.iter() {
            writeln!(out, "v {} {} {}", decimal(v.x), decimal(v.y), decimal(v.z))?;
        }
        for n in normals.into_iter().flat_map(|n| n.iter()) {
            writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
        }
        for t in surface.triangles.iter() {
            let [a, b, c] = t.map(|v| u64::from(v) + 1);
            match normals {
                Some(_) => writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?,
                None => writeln!(out, "f {a} {b} {c}")?,
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::frame::Extra;
    use barchan_core::mesh::Mesh;
    use glam::Vec3;

    #[test]
    fn a_surface_comes_back_to_the_last_bit() {
        let ball = Mesh::sphere(0.1, 2);
        let normals: Vec<Vec3> = ball.vertices.iter().map(|v| v.as_vec3().normalize()).collect();
        let mut surface = Surface {
            name: "skin".into(),
            vertices: ball.vertices.clone().into(),
            triangles: ball.triangles.clone().into(),
            material: 0,
            extras: vec![Extra::vector(NORMAL, "", normals)],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ball.obj");
        for _ in 0..2 {
            write(&path, &surface).unwrap();
            assert_eq!(crate::mesh::read(&path).unwrap(), ball);
            surface.extras.clear();
        }
    }
}
