//! Walls of triangles: smooth where the mesh means a curve, with a line along its sharp edges.

use super::surface::Surface;
use barchan_core::walls::Facets;
use glam::DVec3;
use std::collections::HashMap;

/// Cosine of the angle between neighbours up to which they are parts of one curve: 35°.
const SMOOTH: f64 = 0.82;

/// The triangles about the pivot.
pub(super) fn surface(facets: &Facets) -> Surface {
    let (mesh, pivot) = (facets.mesh(), facets.pivot());
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
    let mut edges: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            around[a as usize].push(t as u32);
            edges.entry([a.min(b), a.max(b)]).or_default().push(t as u32);
        }
    }
    let level = |a: u32, b: u32| facets.normal(a).dot(facets.normal(b)) > SMOOTH;
    // The mean of the neighbours at a corner that go on smoothly, each by its angle there.
    let normal = |t: usize, v: u32| {
        let smooth = around[v as usize].iter().filter(|&&n| level(t as u32, n));
        let sum: DVec3 = smooth.map(|&n| facets.normal(n) * angle(mesh.triangles[n as usize], mesh, v)).sum();
        sum.try_normalize().unwrap_or(facets.normal(t as u32))
    };
    let corners = || mesh.triangles.iter().enumerate().flat_map(|(t, c)| c.map(|v| (t, v)));
    let at = |v: u32| mesh.vertices[v as usize] - pivot;
    let mut sharp: Vec<[u32; 2]> =
        edges.into_iter().filter(|(_, t)| t.len() != 2 || !level(t[0], t[1])).map(|(edge, _)| edge).collect();
    sharp.sort_unstable();
    Surface {
        vertices: corners().map(|(_, v)| at(v)).collect(),
        normals: corners().map(|(t, v)| normal(t, v)).collect(),
        triangles: (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        edges: sharp.iter().map(|e| e.map(at)).collect(),
    }
}

/// Angle of a triangle at one of its vertices [rad].
fn angle(corners: [u32; 3], mesh: &barchan_core::mesh::Mesh, v: u32) -> f64 {
    let k = corners.iter().position(|&c| c == v).unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|i| mesh.vertices[corners[(k + i) % 3] as usize]);
    (b - a).angle_between(c - a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::mesh::Mesh;

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
