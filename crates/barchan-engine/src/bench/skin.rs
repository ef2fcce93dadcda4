//! The skin of a flow, timed: `barchan bench skin`.
//!
//! The cloud is made, not run: a tongue of grains at a packing of 0.6, six deep and four times as long as wide, on a slope with waves, as
//! an avalanche lies on a mountain. Grains come in the order of their places, as a solver keeps them.

use super::resident;
use barchan_core::columns::{HASH_START, mix};
use barchan_core::math;
use barchan_core::rng::Random;
use barchan_core::skin::{Cloud, SkinError, SkinMesh, SkinSettings, skin};
use glam::DVec3;
use std::f64::consts::PI;
use std::time::Instant;

/// Grains across the depth.
const DEPTH: usize = 6;
/// Length over width of the tongue.
const SLENDER: f64 = 4.0;
/// Packing fraction.
const PACKING: f64 = 0.6;
/// Skins made before the clock starts.
const WARM: usize = 2;
/// Skins timed, at least.
const LEAST: usize = 5;
/// Wall-clock time to measure [s].
const SECONDS: f64 = 3.0;

/// What a timing found.
#[derive(Clone, Debug, PartialEq)]
pub struct Skinning {
    /// Grains.
    pub grains: usize,
    /// Worker threads.
    pub threads: usize,
    /// Voxel in diameters.
    pub voxel: f64,
    /// Skins timed.
    pub times: usize,
    /// Wall-clock time of a skin, the median [s].
    pub seconds: f64,
    /// The shortest [s]: what the machine can do where others use it too.
    pub least: f64,
    /// Triangles.
    pub triangles: usize,
    /// Volume over bulk volume of the grains.
    pub volume: f64,
    /// Bytes that the skin took.
    pub memory: usize,
    /// Resident memory of the process [bytes]; the skin's own where the system does not tell.
    pub rss: usize,
    /// Hash of the surface.
    pub hash: u64,
}

/// Grains of diameter 1 m on a waved slope.
fn tongue(grains: usize) -> Vec<DVec3> {
    let spacing = math::cbrt(PI / 6.0 / PACKING);
    let columns = grains.div_ceil(DEPTH);
    let width = ((columns as f64 / SLENDER).sqrt().ceil() as usize).max(1);
    let mut random = Random::new(1, 1);
    let place = |k: usize| {
        let (column, layer) = (k / DEPTH, k % DEPTH);
        let [x, y] = [column / width, column % width].map(|i| spacing * i as f64);
        let relief = 0.6 * x + 4.0 * math::sin(0.05 * x) * math::cos(0.04 * y);
        DVec3::new(x, y, spacing * layer as f64 - relief) + 0.15 * random.in_ball()
    };
    (0..grains).map(place).collect()
}

fn hash(mesh: &SkinMesh) -> u64 {
    let places = mesh.vertices.iter().flat_map(|v| v.to_array()).map(f64::to_bits);
    let corners = mesh.triangles.iter().flatten().map(|v| u64::from(*v));
    places.chain(corners).fold(HASH_START, mix)
}

/// Hash of the skin of a flow of that many grains with a voxel of a diameter.
pub(super) fn first(grains: usize) -> Result<u64, SkinError> {
    let (position, radius) = (tongue(grains), vec![0.5; grains]);
    let cloud = Cloud { position: &position, radius: &radius, ..Cloud::default() };
    Ok(hash(&skin(&cloud, &SkinSettings { packing: PACKING, ..SkinSettings::new(1.0) })?))
}

/// Times the skin of a flow of that many grains with a voxel of that many diameters.
pub fn skinning(grains: usize, voxel: f64) -> Result<Skinning, SkinError> {
    let position = tongue(grains);
    let radius = vec![0.5; grains];
    let cloud = Cloud { position: &position, radius: &radius, ..Cloud::default() };
    let settings = SkinSettings { packing: PACKING, ..SkinSettings::new(voxel) };
    let make = || skin(&cloud, &settings);
    (0..WARM).try_for_each(|_| make().map(drop))?;
    let mut times = Vec::new();
    let mut mesh = SkinMesh::default();
    while times.len() < LEAST || times.iter().sum::<f64>() < SECONDS {
        let start = Instant::now();
        mesh = make()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let corners = |t: &[u32; 3]| t.map(|v| mesh.vertices[v as usize]);
    let volume: f64 = mesh.triangles.iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    Ok(Skinning {
        grains,
        threads: rayon::current_num_threads(),
        voxel,
        times: times.len(),
        seconds: times[times.len() / 2],
        least: times[0],
        triangles: mesh.triangles.len(),
        volume: volume / (grains as f64 * PI / 6.0 / PACKING),
        memory: mesh.bytes,
        rss: resident().unwrap_or(mesh.bytes),
        hash: hash(&mesh),
    })
}

impl Skinning {
    /// One line of JSON.
    pub fn json(&self) -> String {
        format!(
            "{{\"case\":\"skin\",\"device\":\"cpu\",\"grains\":{},\"threads\":{},\"voxel\":{},\"times\":{},\"seconds\":{:.6},\
             \"least\":{:.6},\"triangles\":{},\"volume\":{:.5},\"memory_bytes\":{},\"rss_bytes\":{},\"state_hash\":\"{:016x}\"}}",
            self.grains,
            self.threads,
            self.voxel,
            self.times,
            self.seconds,
            self.least,
            self.triangles,
            self.volume,
            self.memory,
            self.rss,
            self.hash
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skin_of_the_tongue_has_its_volume() {
        let found = skinning(6000, 1.0).unwrap();
        assert!(found.triangles > 1000 && (found.volume - 1.0).abs() < 0.05, "{found:?}");
        assert!(!found.json().contains('\n'));
    }
}
