//! Which blocks of 8³ nodes the kernels reach, and the pieces that reach each block.
//!
//! Reads centres and reaches in voxels, writes one sorted list of (block, piece) and its division by blocks. Only blocks that something
//! reaches exist. The order within a block is that of the pieces, whatever the threads: sums over a block have one order. Two passes over
//! the pairs: into buckets of neighbouring blocks, then within each bucket.

use super::SkinError;
use rayon::prelude::*;
use std::ops::Range;

/// Nodes along a side of a block, as a power of 2.
pub(super) const SHIFT: u32 = 3;
/// Nodes along a side of a block.
pub(super) const SIDE: usize = 1 << SHIFT;
/// Nodes of a block.
pub(super) const NODES: usize = SIDE * SIDE * SIDE;

/// A piece in the grid: centre and reach in voxels.
#[derive(Clone, Copy, Default)]
pub(super) struct Piece {
    pub(super) centre: [f64; 3],
    pub(super) reach: f32,
    /// Factor of the kernel.
    pub(super) weight: f32,
    /// Its row in the cloud.
    pub(super) row: u32,
}

impl Piece {
    /// First and last block it reaches along each axis.
    #[inline]
    fn blocks(&self) -> [[i64; 2]; 3] {
        let h = f64::from(self.reach);
        let along = |c: f64| [-floor(h - c) >> SHIFT, floor(c + h) >> SHIFT];
        let [x, y, z] = self.centre;
        [along(x), along(y), along(z)]
    }

    /// Number of blocks it reaches.
    fn block_count(&self) -> usize {
        self.blocks().iter().map(|b| (b[1] - b[0] + 1) as usize).fold(1, usize::saturating_mul)
    }
}

/// The largest whole number up to x, which is far from the ends of i64. (`f64::floor` is a call where the processor is not known to round.)
#[inline]
fn floor(x: f64) -> i64 {
    let towards_zero = x as i64;
    towards_zero - i64::from(towards_zero as f64 > x)
}

/// The blocks that exist, sorted by their keys.
pub(super) struct Blocks {
    /// Block coordinates of key 0.
    first: [i64; 3],
    /// Blocks along each axis, with one to spare at each end: neighbours are a fixed difference of keys away.
    size: [u64; 3],
    /// Keys in order.
    pub(super) keys: Vec<u64>,
    /// Where each block's pairs begin, and the end of the last.
    starts: Vec<usize>,
    /// Block above, piece below `bits`; in order.
    pairs: Vec<u64>,
    bits: u32,
}

/// Bytes that a pair needs while pairs are sorted.
const PAIR: usize = 2 * size_of::<u64>();
/// Pieces that count and list their pairs together.
const CHUNK: usize = 4096;
/// Buckets of neighbouring blocks, as a power of 2.
const BUCKETS: u32 = 9;
/// Keys of a bucket up to which its pairs are counted into place.
const COUNTED: u64 = 1 << 14;

impl Blocks {
    /// The blocks that the pieces reach; refused where pairs take more than `limit` bytes.
    pub(super) fn new(pieces: &[Piece], voxel: f64, limit: usize) -> Result<Blocks, SkinError> {
        let least = || ([i64::MAX; 3], [i64::MIN; 3]);
        let join = |(low, high): ([i64; 3], [i64; 3]), (a, b): ([i64; 3], [i64; 3])| {
            ([0, 1, 2].map(|k| low[k].min(a[k])), [0, 1, 2].map(|k| high[k].max(b[k])))
        };
        let of = |p: &Piece| {
            let blocks = p.blocks();
            (blocks.map(|b| b[0]), blocks.map(|b| b[1]))
        };
        let (low, high) = pieces.par_iter().map(of).reduce(least, join);
        let first = low.map(|l| l - 1);
        let size = [0, 1, 2].map(|k| (high[k] - low[k] + 3) as u64);
        let bits = usize::BITS - (pieces.len() - 1).leading_zeros();
        let all = size.iter().try_fold(1_u64, |n, s| n.checked_mul(*s)).filter(|n| n.leading_zeros() >= bits);
        let Some(all) = all else { return Err(SkinError::TooWide { voxel }) };
        let mut blocks = Blocks { first, size, keys: Vec::new(), starts: Vec::new(), pairs: Vec::new(), bits };

        let counts: Vec<usize> = pieces
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().map(Piece::block_count).fold(0, usize::saturating_add))
            .collect();
        let count = counts.iter().copied().fold(0, usize::saturating_add);
        super::limit(voxel, PAIR.saturating_mul(count), limit)?;
        blocks.sort(pieces, all, count, &counts);
        blocks.divide();
        Ok(blocks)
    }

    /// Lists the pairs of each chunk by buckets, then puts the parts of each bucket together and sorts it.
    fn sort(&mut self, pieces: &[Piece], all: u64, count: usize, counts: &[usize]) {
        let shift = (u64::BITS - all.leading_zeros()).saturating_sub(BUCKETS);
        let bucket = |pair: u64| (pair >> self.bits >> shift) as usize;
        let mut listed = vec![0_u64; count];
        let parts: Vec<Vec<u32>> = split(&mut listed, counts.iter().copied())
            .into_par_iter()
            .zip(pieces.par_chunks(CHUNK))
            .enumerate()
            .map_init(Vec::new, |pairs, (chunk, (out, pieces))| {
                pairs.clear();
                for (k, piece) in pieces.iter().enumerate() {
                    let [x, y, z] = piece.blocks();
                    for (z, y) in (z[0]..=z[1]).flat_map(|z| (y[0]..=y[1]).map(move |y| (z, y))) {
                        let row = self.key([x[0], y, z]);
                        let piece = (chunk * CHUNK + k) as u64;
                        pairs.extend((0..=(x[1] - x[0]) as u64).map(|x| (row + x) << self.bits | piece));
                    }
                }
                let mut ends = vec![0_u32; (1 << BUCKETS) + 1];
                pairs.iter().for_each(|&p| ends[bucket(p) + 1] += 1);
                (1..ends.len()).for_each(|b| ends[b] += ends[b - 1]);
                let mut at = ends.clone();
                for &p in pairs.iter() {
                    let place = &mut at[bucket(p)];
                    out[*place as usize] = p;
                    *place += 1;
                }
                ends
            })
            .collect();
        let begins: Vec<usize> = counts
            .iter()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum - n)
            })
            .collect();
        let part = |chunk: usize, bucket: usize| {
            let ends = &parts[chunk];
            &listed[begins[chunk] + ends[bucket] as usize..begins[chunk] + ends[bucket + 1] as usize]
        };
        let sizes = (0..1 << BUCKETS).map(|b| parts.iter().map(|ends| (ends[b + 1] - ends[b]) as usize).sum());
        let mut pairs = vec![0_u64; count];
        split(&mut pairs, sizes).into_par_iter().enumerate().for_each(|(b, out)| {
            let own = || (0..parts.len()).flat_map(|chunk| part(chunk, b)).copied();
            let keys = 1_u64 << shift;
            if keys > COUNTED {
                out.iter_mut().zip(own()).for_each(|(to, pair)| *to = pair);
                out.sort_unstable();
                return;
            }
            let local = |pair: u64| (pair >> self.bits & (keys - 1)) as usize;
            let mut at = vec![0_u32; keys as usize + 1];
            own().for_each(|p| at[local(p) + 1] += 1);
            (1..at.len()).for_each(|k| at[k] += at[k - 1]);
            for p in own() {
                let place = &mut at[local(p)];
                out[*place as usize] = p;
                *place += 1;
            }
        });
        self.pairs = pairs;
    }

    /// Finds where blocks begin.
    fn divide(&mut self) {
        let mut last = None;
        for (k, pair) in self.pairs.iter().enumerate() {
            let key = pair >> self.bits;
            if last.replace(key) != Some(key) {
                self.keys.push(key);
                self.starts.push(k);
            }
        }
        self.starts.push(self.pairs.len());
    }

    /// Key of the block at these block coordinates.
    fn key(&self, block: [i64; 3]) -> u64 {
        let [x, y, z] = [0, 1, 2].map(|k| (block[k] - self.first[k]) as u64);
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// First node of the block of a key.
    pub(super) fn base(&self, key: u64) -> [i64; 3] {
        let at = [key % self.size[0], key / self.size[0] % self.size[1], key / self.size[0] / self.size[1]];
        [0, 1, 2].map(|k| (at[k] as i64 + self.first[k]) << SHIFT)
    }

    /// Key of the block that many blocks away along each axis. Blocks that exist have all their neighbours' keys.
    pub(super) fn beside(&self, key: u64, by: [i64; 3]) -> u64 {
        let stride = [1, self.size[0] as i64, (self.size[0] * self.size[1]) as i64];
        key.wrapping_add_signed((0..3).map(|k| by[k] * stride[k]).sum())
    }

    /// Number of the block of a key, if it exists.
    pub(super) fn find(&self, key: u64) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    /// The pieces that reach a block, in their order.
    pub(super) fn pieces(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        let mask = (1_u64 << self.bits) - 1;
        self.pairs[self.starts[block]..self.starts[block + 1]].iter().map(move |p| (p & mask) as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Bytes that were needed to make the lists.
    pub(super) fn bytes(&self) -> usize {
        PAIR * self.pairs.len() + 16 * self.keys.len()
    }
}

/// A slice in parts of the given lengths, which make up the whole.
pub(super) fn split<T>(mut slice: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for length in lengths {
        let (part, rest) = slice.split_at_mut(length);
        parts.push(part);
        slice = rest;
    }
    parts
}

/// The stretches of the given lengths, one after the other.
pub(super) fn stretches(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = Range<usize>> {
    lengths.scan(0, |end, n| {
        *end += n;
        Some(*end - n..*end)
    })
}
