//! The state of grains on a device as the host sees it: rows of words, as they are in the buffers.

use crate::blocks::lists::Quanta;
use barchan_core::columns::{Column, Columns, Saved, Unfit, of_length};
use glam::DVec3;

/// Rows a grain has in the buffer of records, of fine parts, of loads.
pub const RECORD: usize = 4;
pub const FINE: usize = 5;
pub const LOAD: usize = 3;

/// Everything that a device holds of grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub record: Vec<[u32; 4]>,
    pub fine: Vec<[u32; 4]>,
    pub load: Vec<[f32; 4]>,
    pub anchor: Vec<[u32; 4]>,
    /// Where lists begin, one more than there are grains; partners; what pairs remember; what grains remember of walls.
    pub starts: Vec<u32>,
    pub partners: Vec<u32>,
    pub kept: Vec<[f32; 4]>,
    pub wall_kept: Vec<[f32; 4]>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.record.len() / RECORD
    }

    /// Where a grain is [m].
    pub fn position(&self, g: usize, quanta: Quanta) -> DVec3 {
        let [low, high, fraction] = [self.record[RECORD * g], self.record[RECORD * g + 1], self.fine[FINE * g]];
        DVec3::from_array(std::array::from_fn(|k| {
            let whole = (i64::from(high[k] as i32) << 32) | i64::from(low[k]);
            (whole as f64 + f64::from(fraction[k]) / 4_294_967_296.0) * quanta.length
        }))
    }

    /// Velocity that is kept (row 1), or spin times radius (row 3) [quanta a step].
    pub fn motion(&self, g: usize, row: usize) -> DVec3 {
        let [whole, fraction] = [self.fine[FINE * g + row], self.fine[FINE * g + row + 1]];
        DVec3::from_array(std::array::from_fn(|k| {
            f64::from(whole[k] as i32) + f64::from(fraction[k]) / 4_294_967_296.0
        }))
    }

    /// Sets it.
    pub fn set_motion(&mut self, g: usize, row: usize, to: DVec3) {
        for k in 0..3 {
            let whole = to[k].floor();
            self.fine[FINE * g + row][k] = whole as i32 as u32;
            self.fine[FINE * g + row + 1][k] = ((to[k] - whole) * 4_294_967_296.0) as u32;
        }
    }

    /// Three or four numbers of a record's or a load's row.
    pub fn reals(&self, g: usize, row: usize) -> [f64; 4] {
        self.record[RECORD * g + row].map(|x| f64::from(f32::from_bits(x)))
    }

    pub fn load(&self, g: usize, row: usize) -> [f64; 4] {
        self.load[LOAD * g + row].map(f64::from)
    }

    /// Leaves out the grains for which `stays` is false; the others keep their order, and what they remember of each other.
    pub fn retain(&mut self, stays: &[bool], memory: usize, features: usize) {
        let mut next = 0;
        let new: Vec<Option<u32>> = stays
            .iter()
            .map(|stays| {
                stays.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let (mut starts, mut partners, mut kept) = (vec![0], Vec::new(), Vec::new());
        for g in (0..stays.len()).filter(|&g| stays[g]) {
            for at in self.starts[g] as usize..self.starts[g + 1] as usize {
                if let Some(j) = new[self.partners[at] as usize] {
                    partners.push(j);
                    kept.extend_from_slice(&self.kept[at * memory..(at + 1) * memory]);
                }
            }
            starts.push(partners.len() as u32);
        }
        (self.starts, self.partners, self.kept) = (starts, partners, kept);
        pick(&mut self.record, stays, RECORD);
        pick(&mut self.fine, stays, FINE);
        pick(&mut self.load, stays, LOAD);
        pick(&mut self.anchor, stays, 1);
        pick(&mut self.wall_kept, stays, memory * features);
    }

    pub fn save(&self) -> Columns {
        let words = |v: &[[u32; 4]]| Column::U32(v.iter().flatten().copied().collect());
        let reals = |v: &[[f32; 4]]| Column::F32(v.iter().flatten().copied().collect());
        let columns = [
            ("record", words(&self.record)),
            ("fine", words(&self.fine)),
            ("load", reals(&self.load)),
            ("anchor", words(&self.anchor)),
            ("starts", Column::U32(self.starts.clone())),
            ("partners", Column::U32(self.partners.clone())),
            ("kept", reals(&self.kept)),
            ("wall.kept", reals(&self.wall_kept)),
        ];
        columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect()
    }

    /// What [`Rows::save`] gave. Everything that kernels use as an index is checked.
    pub fn load_from(
        read: Saved<'_>,
        n: usize,
        memory: usize,
        features: usize,
        materials: usize,
    ) -> Result<Rows, Unfit> {
        let words = |name: &str, rows: usize| -> Result<Vec<[u32; 4]>, Unfit> {
            let v = read.u32s(name)?;
            of_length(name, v.len(), 4 * rows)?;
            Ok(v.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
        };
        let reals = |name: &str, rows: usize| -> Result<Vec<[f32; 4]>, Unfit> {
            let v = read.f32s(name)?;
            of_length(name, v.len(), 4 * rows)?;
            Ok(v.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
        };
        let (starts, partners) = (read.u32s("starts")?, read.u32s("partners")?);
        of_length("starts", starts.len(), n + 1)?;
        let sound = starts[0] == 0 && starts.is_sorted() && starts[n] as usize == partners.len();
        let record = words("record", RECORD * n)?;
        let known = (0..n).all(|g| (record[RECORD * g + 1][3] as usize) < materials);
        if !sound || !known || partners.iter().any(|&j| j as usize >= n) {
            return Err(Unfit::new("its contact lists or materials are damaged; resume from an earlier checkpoint"));
        }
        Ok(Rows {
            record,
            fine: words("fine", FINE * n)?,
            load: reals("load", LOAD * n)?,
            anchor: words("anchor", n)?,
            kept: reals("kept", memory * partners.len())?,
            wall_kept: reals("wall.kept", memory * features * n)?,
            starts,
            partners,
        })
    }
}

fn pick<T: Copy>(rows: &mut Vec<T>, stays: &[bool], width: usize) {
    if width > 0 {
        let kept = rows.chunks_exact(width).zip(stays).filter(|(_, stays)| **stays).flat_map(|(row, _)| row.to_vec());
        *rows = kept.collect();
    }
}
