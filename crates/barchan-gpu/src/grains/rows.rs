//! The state of grains on a device as the host sees it: rows of words, as they are in the buffers.

use crate::blocks::lists::Quanta;
use glam::DVec3;

/// Rows a grain has in the buffer of records (twice), of fine parts, of loads.
pub const RECORD: usize = 3;
pub const FINE: usize = 3;
pub const LOAD: usize = 3;
/// Words of the head of a list.
pub const HEAD: usize = 3;
/// In entries: the partner's slot, the image it is in, whether it is a bump of a wall, whether they touched.
pub const SLOT: u32 = (1 << 26) - 1;
pub const BUMP: u32 = 1 << 30;
pub const TOUCHED: u32 = 1 << 31;
/// Units of velocities in a quantum a step.
const UNITS: f64 = (1u32 << 22) as f64;
/// Farthest place from the origin [quanta].
pub const FARTHEST: f64 = (1u64 << 47) as f64;

/// Everything that a device holds of grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub record: Vec<[u32; 4]>,
    pub fine: Vec<[u32; 4]>,
    pub load: Vec<[f32; 4]>,
    /// Heads and entries.
    pub lists: Vec<u32>,
    /// What contacts remember.
    pub kept: Vec<[f32; 4]>,
}

/// Numbers of entries: partners above, partners below, walls.
pub fn counts(head: u32) -> [usize; 3] {
    [head & 2047, (head >> 11) & 2047, head >> 22].map(|x| x as usize)
}

/// They as a word.
pub fn counted([above, below, walls]: [usize; 3]) -> u32 {
    above as u32 | (below as u32) << 11 | (walls as u32) << 22
}

impl Rows {
    pub fn len(&self) -> usize {
        self.record.len() / RECORD
    }

    /// Where a grain is [m].
    pub fn position(&self, g: usize, quanta: Quanta) -> DVec3 {
        let (low, extension) = (self.record[RECORD * g], self.fine[FINE * g]);
        DVec3::from_array(std::array::from_fn(|k| {
            let high = i64::from(extension[k] as i32 >> 16);
            let whole = (high << 32) | i64::from(low[k]);
            (whole as f64 + f64::from(extension[k] & 0xffff) / 65536.0) * quanta.length
        }))
    }

    /// Puts a grain somewhere [m].
    pub fn set_position(&mut self, g: usize, x: DVec3, quanta: Quanta) {
        for k in 0..3 {
            let at = x[k] / quanta.length;
            let whole = at.floor();
            self.record[RECORD * g][k] = whole as i64 as u32;
            self.fine[FINE * g][k] = (((whole as i64) >> 32) as u32) << 16 | ((at - whole) * 65536.0) as u32;
        }
    }

    /// Velocity that is kept, and spin times radius [quanta a step].
    pub fn motion(&self, g: usize) -> [DVec3; 2] {
        let rows = &self.fine[FINE * g..FINE * (g + 1)];
        [(1, 16), (2, 0)].map(|(row, shift)| {
            DVec3::from_array(std::array::from_fn(|k| {
                let low = (rows[k][3] >> shift) & 0xffff;
                (f64::from(rows[row][k] as i32) * 65536.0 + f64::from(low)) / UNITS
            }))
        })
    }

    /// Sets them.
    pub fn set_motion(&mut self, g: usize, motion: [DVec3; 2]) {
        for (row, (shift, v)) in [16, 0].into_iter().zip(motion).enumerate() {
            for k in 0..3 {
                let units = (v[k] * UNITS).round() as i64;
                self.fine[FINE * g + 1 + row][k] = (units >> 16) as u32;
                let other = self.fine[FINE * g + k][3] & (0xffff << (16 - shift));
                self.fine[FINE * g + k][3] = other | ((units & 0xffff) as u32) << shift;
            }
        }
    }

    /// Three or four numbers of a record's row.
    pub fn reals(&self, g: usize, row: usize) -> [f64; 4] {
        self.record[RECORD * g + row].map(|x| f64::from(f32::from_bits(x)))
    }

    pub fn vector(&self, g: usize, row: usize) -> DVec3 {
        let [x, y, z, _] = self.reals(g, row);
        DVec3::new(x, y, z)
    }

    pub fn load(&self, g: usize, row: usize) -> [f64; 4] {
        self.load[LOAD * g + row].map(f64::from)
    }

    /// Radius in quanta.
    pub fn radius(&self, g: usize) -> u32 {
        self.record[RECORD * g][3] & ((1 << 28) - 1)
    }

    pub fn material(&self, g: usize) -> u32 {
        self.record[RECORD * g][3] >> 28
    }

    pub fn inverse_mass(&self, g: usize) -> f64 {
        self.reals(g, 1)[3]
    }

    /// Visits the pairs of a grain with partners above it: entry, and where their memory is.
    pub fn pairs(&self, g: usize) -> impl Iterator<Item = (u32, usize)> {
        let [begin, memory, head] = [0, 1, 2].map(|k| self.lists[HEAD * g + k]);
        (0..counts(head)[0]).map(move |k| (self.lists[begin as usize + k], memory as usize + k))
    }

    /// The same of its contacts with walls.
    pub fn walls(&self, g: usize) -> impl Iterator<Item = (u32, usize)> {
        let [begin, memory, head] = [0, 1, 2].map(|k| self.lists[HEAD * g + k]);
        let [above, below, walls] = counts(head);
        let from = begin as usize + above + 2 * below;
        (0..walls).map(move |k| (self.lists[from + k], memory as usize + above + k))
    }

    /// Lists of those that touch alone: what must not be forgotten. `memory` rows each.
    pub fn touching(&self, memory: usize) -> Touching {
        let mut out = Touching::default();
        let kept = |at: usize| self.kept[at * memory..(at + 1) * memory].to_vec();
        for g in 0..self.len() {
            for (entry, at) in self.pairs(g).filter(|e| e.0 & TOUCHED != 0) {
                out.pairs.push((g as u32, entry & SLOT, kept(at)));
            }
            for (entry, at) in self.walls(g).filter(|e| e.0 & TOUCHED != 0) {
                out.walls.push((g as u32, entry & !TOUCHED, kept(at)));
            }
        }
        out
    }

    /// Leaves out the grains for which `stays` is false; the others keep their order, and what they remember of each other.
    pub fn retain(&mut self, stays: &[bool], memory: usize) {
        let mut next = 0;
        let new: Vec<Option<u32>> = stays
            .iter()
            .map(|s| {
                s.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let old = self.touching(memory);
        let to = |slot: u32| new[slot as usize];
        let pairs = old.pairs.into_iter().filter_map(|(i, j, kept)| Some((to(i)?, to(j)?, kept))).collect();
        let walls = old.walls.into_iter().filter_map(|(i, entry, kept)| Some((to(i)?, entry, kept))).collect();
        pick(&mut self.record, stays, RECORD);
        pick(&mut self.fine, stays, FINE);
        pick(&mut self.load, stays, LOAD);
        self.set_touching(&Touching { pairs, walls });
    }

    /// Replaces the lists by those of these contacts; they are to be built anew before the next step.
    pub fn set_touching(&mut self, touching: &Touching) {
        let n = self.len();
        let mut above = vec![Vec::new(); n];
        let mut below = vec![Vec::new(); n];
        let mut walls = vec![Vec::new(); n];
        for (i, j, kept) in &touching.pairs {
            above[*i as usize].push((*j, kept));
            below[*j as usize].push(*i);
        }
        for (i, entry, kept) in &touching.walls {
            walls[*i as usize].push((*entry, kept));
        }
        (self.lists, self.kept) = (vec![0; HEAD * n], Vec::new());
        let mut contacts = 0;
        for g in 0..n {
            let head = [self.lists.len() as u32, contacts, counted([above[g].len(), below[g].len(), walls[g].len()])];
            self.lists[HEAD * g..HEAD * (g + 1)].copy_from_slice(&head);
            contacts += (above[g].len() + walls[g].len()) as u32;
            // The image of an entry is found when lists are built.
            self.lists.extend(above[g].iter().map(|(j, _)| j | 13 << 26 | TOUCHED));
            self.lists.extend(below[g].iter().flat_map(|j| [j | 13 << 26 | TOUCHED, 0]));
            self.lists.extend(walls[g].iter().map(|(entry, _)| entry | TOUCHED));
            for kept in above[g].iter().map(|a| a.1).chain(walls[g].iter().map(|w| w.1)) {
                self.kept.extend_from_slice(kept);
            }
        }
    }
}

/// Contacts that touch, with what they remember: pairs by their slots, the lower first, and grains with the entries of walls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touching {
    pub pairs: Vec<(u32, u32, Vec<[f32; 4]>)>,
    pub walls: Vec<(u32, u32, Vec<[f32; 4]>)>,
}

fn pick<T: Copy>(rows: &mut Vec<T>, stays: &[bool], width: usize) {
    let kept = rows.chunks_exact(width).zip(stays).filter(|(_, stays)| **stays).flat_map(|(row, _)| row.to_vec());
    *rows = kept.collect();
}
