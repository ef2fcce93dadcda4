//! Walls of triangles: smooth where the mesh means a curve, with a line along its sharp edges.

use super::surface::Surface;
use crate::skins::{self, SMOOTH};
use barchan_core::walls::Facets;
use std::collections::HashMap;

/// The triangles about the pivot.
pub(super) fn surface(facets: &Facets) -> Surface {
    let (mesh, pivot) = (facets.mesh(), facets.pivot());
    let mut edges: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default().push(t as u32);
        }
    }
    let level = |a: u32, b: u32| facets.normal(a).dot(facets.normal(b)) > SMOOTH;
    let mut sharp: Vec<[u32; 2]> =
        edges.into_iter().filter(|(_, t)| t.len() != 2 || !level(t[0], t[1])).map(|(edge, _)| edge).collect();
    sharp.sort_unstable();
    let skin = skins::Skin::of(mesh);
    Surface {
        vertices: skin.vertices.iter().map(|v| *v - pivot).collect(),
        normals: skin.normals,
        triangles: skin.triangles,
        edges: sharp.iter().map(|e| e.map(|v| mesh.vertices[v as usize] - pivot)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::mesh::Mesh;
    use glam::DVec3;

    #[test]
    fn a_ball_is_smooth_and_a_box_is_not() {
        let ball = surface(&Facets::new(Mesh::sphere(2.0, 3)));
        for (v, n) in ball.vertices.iter().zip(&ball.normals) {
            assert!(v.normalize().dot(*n) > 0.9999, "{v} {n}");
        }
        assert!(ball.edges.is_empty());
        let block = surface(&Facets::new(Mesh::box_of(DVec3::ONE)));
        assert_eq!(block.edges.len(), 12, "the diagonals of the faces are no edges");
        assert!(block.normals.iter().all(|n| n.abs().max_element() > 1.0 - 1e-12));
    }
}
