//! Beds on walls: where they rest, what the wall bears, and the pressure within.

use crate::common::*;
use barchan_core::mesh::Mesh;
use barchan_core::walls::{Facets, Geometry, Wall};
use barchan_sph::maps::{MapSettings, VolumeMap};
use barchan_sph::{Pressure, Settings};
use glam::DVec3;
use std::sync::Arc;

/// A flat bed of so many layers between periodic sides.
fn bed(layers: usize, angle: f64, jitter: f64) -> Scene {
    let domain = slice(4.0 * D, (layers + 8) as f64 * D, true);
    let mut settings = Settings::sand(D, domain);
    settings.kinds[0].friction_angle = angle.to_radians();
    let mut scene = Scene::new(settings, walls(vec![floor()]));
    let top = DVec3::new(domain.max.x, domain.max.y, layers as f64 * D);
    scene.fill([DVec3::new(domain.min.x, 0.0, 0.0), top], jitter, |_| true);
    scene
}

#[test]
fn a_bed_rests_half_a_spacing_off_the_floor_which_bears_its_weight() {
    let mut scene = bed(12, 30.0, 0.05);
    scene.run(3.0);
    let lowest: Vec<f64> = scene.particles().position.iter().map(|x| x.z).filter(|z| *z < D).collect();
    let mean = lowest.iter().sum::<f64>() / lowest.len() as f64;
    assert!((mean / D - 0.5).abs() < 0.02, "first layer at {} d", mean / D);
    let share = -scene.force_on(0).z / scene.weight();
    assert!((share - 1.0).abs() < 1e-3, "floor bears {share} of the weight");
    assert!(scene.gauge("compression") < 3e-3, "{}", scene.gauge("compression"));
    assert!(scene.gauge("largest compression") < 0.02, "{}", scene.gauge("largest compression"));
    assert!(scene.gauge("rms speed") < 1e-3 * (G * D).sqrt(), "{}", scene.gauge("rms speed"));
}

#[test]
fn pressure_is_hydrostatic_in_the_mean_without_friction() {
    // A frictionless lattice melts and sloshes; its pressure is hydrostatic in the mean over time.
    let mut scene = bed(20, 0.0, 0.0);
    scene.run(0.3);
    let mut mean = [(0.0, 0); 20];
    for _ in 0..200 {
        scene.advance();
        for (x, p) in scene.particles().position.iter().zip(scene.column("pressure")) {
            let layer = &mut mean[((x.z / D) as usize).min(19)];
            *layer = (layer.0 + p, layer.1 + 1);
        }
    }
    let error = |layer: usize| {
        let found = mean[layer].0 / f64::from(mean[layer].1);
        (found / (1550.0 * G * (19.5 - layer as f64) * D) - 1.0).abs()
    };
    let error = (1..18).map(error).sum::<f64>() / 17.0;
    assert!(error < 0.03, "mean error of pressure {error}");
}

/// A floor of triangles with its volume map: the same bed as on a plane.
#[test]
fn a_bed_rests_on_a_mesh_with_a_volume_map_as_on_a_plane() {
    let mut mesh = Mesh::box_of(DVec3::new(1.0, 1.0, 0.3));
    mesh.vertices.iter_mut().for_each(|v| v.z -= 0.15);
    let map = VolumeMap::build(&mesh, &MapSettings::new(D)).unwrap();
    let slab = Wall::new("slab", Geometry::Mesh(Arc::new(Facets::new(mesh))), 0);
    let mut settings = Settings::sand(D, slice(4.0 * D, 0.5, true));
    settings.shapes = vec![Some(Arc::new(map))];
    let mut scene = Scene::new(settings, walls(vec![slab]));
    scene.fill([DVec3::new(-4.0 * D, 0.0, 0.0), DVec3::new(4.0 * D, 4.0 * D, 8.0 * D)], 0.0, |_| true);
    scene.run(1.0);
    let (mut force, steps) = (0.0, 50);
    for _ in 0..steps {
        scene.advance();
        force -= scene.force_on(0).z / f64::from(steps);
    }
    assert!((force / scene.weight() - 1.0).abs() < 1e-3, "{force} N of {} N", scene.weight());
    let lowest: Vec<f64> = scene.particles().position.iter().map(|x| x.z).filter(|z| *z < D).collect();
    let layer = lowest.iter().sum::<f64>() / lowest.len() as f64 / D;
    assert!((layer - 0.5).abs() < 0.02, "{layer} d");
}

/// The seed's pressure turns the error of density into speed: its bed pulses, but the floor bears the weight in the mean, and it neither sinks nor
/// swells.
#[test]
fn a_bed_by_iisph_is_held_though_it_pulses() {
    let domain = slice(4.0 * D, 20.0 * D, true);
    let mut settings = Settings::sand(D, domain);
    settings.pressure = Pressure::Iisph;
    let mut scene = Scene::new(settings, walls(vec![floor()]));
    scene.fill([DVec3::new(domain.min.x, 0.0, 0.0), DVec3::new(domain.max.x, domain.max.y, 12.0 * D)], 0.05, |_| true);
    scene.run(1.0);
    let (mut sum, mut range, steps) = (0.0, [f64::INFINITY, 0.0f64], 300);
    for _ in 0..steps {
        scene.advance();
        let share = -scene.force_on(0).z / scene.weight();
        (sum, range) = (sum + share / f64::from(steps), [range[0].min(share), range[1].max(share)]);
    }
    assert!((sum - 1.0).abs() < 0.05, "the floor bears {sum} of the weight in the mean, from {range:?}");
    assert!(range[0] > 0.0 && range[1] < 3.5, "{range:?}");
    let p = scene.particles();
    let middle = p.position.iter().map(|x| x.z).sum::<f64>() / p.len() as f64;
    assert!((middle / (6.0 * D) - 1.0).abs() < 0.02, "its middle is at {} layers", middle / D);
}
