//! What readers see: ids that are nobody else's, and the surface with what its faces carry.

use super::scene::*;
use crate::{GAS, Settings, Shown, SolidSettings};
use barchan_core::frame::{Frame, SURFACE, UPSAMPLED, Values};
use barchan_core::solver::Solver;
use glam::DVec3;
use std::collections::BTreeSet;

/// A bed that freezes below, with a cloud of gas above it.
fn scene(shown: Shown) -> crate::Alone {
    let s = settings([16.0, 16.0, 40.0], [true, true, false]);
    let s = Settings { solid: Some(SolidSettings::default()), gas: Some(Default::default()), shown, ..s };
    let mut a = world(s, vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[0, 0, 0], [16, 16, 12]], |_| true, |_| DVec3::ZERO).unwrap();
    (0..60).for_each(|_| a.step().unwrap());
    assert!(a.solid_len() > 100);
    // A clump on four faces.
    for n in 0..400 {
        let at = |k: u32| f64::from(n * 7919 % 1000u32.pow(k) / 1000u32.pow(k - 1) % 40) / 20.0;
        a.liquid.release(DVec3::new(7.0 + at(1), 7.0 + at(2) % 2.0, 12.0), DVec3::ZERO).unwrap();
    }
    a
}

fn frame(a: &crate::Alone) -> Frame {
    let mut frame = Frame::default();
    a.publish(&mut frame);
    frame
}

#[test]
fn no_two_shown_grains_have_the_same_id() {
    let a = scene(Shown::All);
    let frame = frame(&a);
    let shown = frame.population(UPSAMPLED).unwrap();
    let ids: BTreeSet<u32> = shown.id.iter().copied().collect();
    assert_eq!(ids.len(), shown.len());
    let all = frame.populations.iter().filter(|p| p.name != UPSAMPLED);
    let ids: Vec<u32> = all.flat_map(|p| p.id.to_vec()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "parcels, frozen cells and grains of gas");
}

#[test]
fn the_surface_has_the_load_of_its_faces_and_marks_those_that_are_over_full() {
    let a = scene(Shown::Mesh);
    let frame = frame(&a);
    let surface = frame.surfaces.iter().find(|s| s.name == SURFACE).unwrap();
    assert!(surface.triangles.iter().flatten().all(|&v| (v as usize) < surface.vertices.len()));
    assert!(surface.extras.iter().all(|e| e.values.len() == surface.vertices.len()));
    // A level surface of 16 × 16 cells, less what the floor has below.
    let area = |t: &[u32; 3], up: bool| {
        let x = t.map(|v| surface.vertices[v as usize]);
        let twice = (x[1] - x[0]).cross(x[2] - x[0]);
        if (twice.z > 0.0) == up { 0.5 * twice.length() } else { 0.0 }
    };
    let above: f64 =
        surface.triangles.iter().filter(|t| surface.vertices[t[0] as usize].z > 6.0).map(|t| area(t, true)).sum();
    assert!((above / 256.0 - 1.0).abs() < 0.02, "{above}");
    let real = |name: &str| match &surface.extras.iter().find(|e| e.name == name).unwrap().values {
        Values::F32(v) => v.to_vec(),
        Values::U32(v) => v.iter().map(|v| *v as f32).collect(),
        _ => panic!("{name}"),
    };
    let (load, full, psi) = (real("load"), real("full"), real("psi"));
    assert!(load.iter().zip(&full).all(|(l, f)| (*l > 1.0) == (*f == 1.0)));
    let crowded: Vec<usize> = (0..full.len()).filter(|&v| full[v] == 1.0).collect();
    assert!(!crowded.is_empty() && crowded.iter().all(|&v| psi[v] > 0.0), "{} corners", crowded.len());
    let near = |v: &usize| (surface.vertices[*v] - DVec3::new(8.0, 8.0, 12.0)).length() < 4.0;
    assert!(crowded.iter().all(near));
    // Gas is shown beside it, and no parcel.
    assert_eq!(frame.population(UPSAMPLED).unwrap().len(), frame.population(GAS).unwrap().len());
}
