//! A map as bytes, so that it is made once for a mesh: little-endian numbers behind a magic word and a version, a checksum at the end.

use super::{BRICK, INSIDE, MapError, MapSettings, NUMBERS, SIDE, Sides, VolumeMap};
use barchan_core::columns::{HASH_START, mix};
use barchan_core::mesh::Mesh;
use glam::DVec3;
use std::fmt;

/// First bytes of a stored map.
const MAGIC: [u8; 8] = *b"barchanV";
/// Changes whenever the numbers would mean something else.
const VERSION: u32 = 1;

/// What a map depends on: the content of the mesh in its own frame, spacing, cell and support of the kernel. Pose and scale of a wall that
/// moves are no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapKey {
    /// Hash of vertices and triangles.
    pub mesh: u64,
    /// Bits of spacing, cell and support [m].
    pub lengths: [u64; 3],
}

impl MapKey {
    /// The key of the map of a mesh.
    pub fn of(mesh: &Mesh, settings: &MapSettings) -> MapKey {
        let mut hash = mix(mix(HASH_START, mesh.vertices.len() as u64), mesh.triangles.len() as u64);
        for v in &mesh.vertices {
            // Adding 0 turns −0 into 0.
            hash = v.to_array().into_iter().fold(hash, |h, x| mix(h, (x + 0.0).to_bits()));
        }
        for t in &mesh.triangles {
            hash = mix(mix(hash, u64::from(t[0]) << 32 | u64::from(t[1])), u64::from(t[2]));
        }
        MapKey { mesh: hash, lengths: [settings.spacing, settings.cell, settings.support].map(f64::to_bits) }
    }
}

/// As a file would be called: 32 hexadecimal digits.
impl fmt::Display for MapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths = self.lengths.into_iter().fold(mix(HASH_START, u64::from(VERSION)), mix);
        write!(f, "{:016x}{lengths:016x}", self.mesh)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|c| {
        let mut word = [0; 8];
        word[..c.len()].copy_from_slice(c);
        u64::from_le_bytes(word)
    });
    words.fold(mix(HASH_START, bytes.len() as u64), mix)
}

/// Bytes that are read from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], MapError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(MapError::Stored("it ends too early"))?;
        self.0 = rest;
        Ok(*first)
    }
    fn u32(&mut self) -> Result<u32, MapError> {
        Ok(u32::from_le_bytes(self.take()?))
    }
    fn u64(&mut self) -> Result<u64, MapError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
    fn f64(&mut self) -> Result<f64, MapError> {
        Ok(f64::from_bits(self.u64()?))
    }
}

impl VolumeMap {
    /// The map as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160 + 4 * self.index.len() + 4 * NUMBERS * self.values.len());
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(u32::from(self.sides == Sides::Sheet).to_le_bytes());
        out.extend(self.key.mesh.to_le_bytes());
        self.key.lengths.iter().for_each(|x| out.extend(x.to_le_bytes()));
        let lengths = [self.origin.x, self.origin.y, self.origin.z, self.cell, self.support];
        lengths.iter().for_each(|x| out.extend(x.to_bits().to_le_bytes()));
        self.bricks.iter().for_each(|x| out.extend(x.to_le_bytes()));
        out.extend((self.brick_count() as u32).to_le_bytes());
        self.index.iter().for_each(|x| out.extend(x.to_le_bytes()));
        self.values.iter().flatten().for_each(|x| out.extend(x.to_bits().to_le_bytes()));
        out.extend(checksum(&out).to_le_bytes());
        out
    }

    /// The map that [`VolumeMap::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<VolumeMap, MapError> {
        let wrong = |what| Err(MapError::Stored(what));
        let Some((body, sum)) = bytes.split_last_chunk::<8>() else { return wrong("it is too short") };
        let mut r = Reader(body);
        if r.take::<8>()? != MAGIC {
            return wrong("it is no volume map");
        }
        if r.u32()? != VERSION {
            return wrong("it is of another version");
        }
        if checksum(body) != u64::from_le_bytes(*sum) {
            return wrong("its checksum is wrong");
        }
        let sides = if r.u32()? == 0 { Sides::Solid } else { Sides::Sheet };
        let key = MapKey { mesh: r.u64()?, lengths: [r.u64()?, r.u64()?, r.u64()?] };
        let origin = DVec3::new(r.f64()?, r.f64()?, r.f64()?);
        let (cell, support) = (r.f64()?, r.f64()?);
        let bricks = [r.u32()?, r.u32()?, r.u32()?];
        let count = r.u32()? as usize;
        let places = bricks.iter().try_fold(1usize, |n, &b| n.checked_mul(b as usize));
        let fits = |places: usize| {
            let nodes = count.checked_mul(BRICK)?.checked_mul(NUMBERS)?;
            nodes.checked_add(places)?.checked_mul(4).filter(|&all| all == r.0.len())
        };
        // Cells are counted in u32.
        let small = bricks.iter().all(|&b| b > 0 && b < u32::MAX / SIDE as u32);
        let Some(places) = places.filter(|&p| small && fits(p).is_some()) else { return wrong("its size is wrong") };
        let index: Vec<u32> = (0..places).map(|_| r.u32()).collect::<Result<_, _>>()?;
        if index.iter().any(|&i| i < INSIDE && i as usize >= count) {
            return wrong("it names bricks that are not there");
        }
        let number = |r: &mut Reader<'_>| r.u32().map(f32::from_bits);
        let mut values = Vec::with_capacity(count * BRICK);
        for _ in 0..count * BRICK {
            let mut node = [0f32; NUMBERS];
            for x in &mut node {
                *x = number(&mut r)?;
            }
            values.push(node);
        }
        Ok(VolumeMap { key, sides, origin, cell, support, bricks, index, values })
    }
}
