//! The ground into a checkpoint and back.

use super::exchange::{Exchange, Kept, Watched};
use super::{Ground, relief_of};
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter};
use barchan_dem::Column;
use barchan_ground::{Columns, Saved};
use glam::DVec3;
use std::sync::Arc;

impl Ground {
    /// Puts the whole state into a checkpoint.
    pub(crate) fn save(&self, to: &mut CheckpointWriter) {
        let Saved { height, mark, awake, pushes } = self.columns.save();
        // Heights are not negative.
        to.put("ground/height", &Column::U64(height.into_iter().map(|h| h as u64).collect()));
        to.put("ground/mark", &Column::U32(mark.into_iter().map(u32::from).collect()));
        to.put("ground/awake", &Column::U32(awake));
        to.put("ground/pushes", &Column::U64(vec![pushes]));
        // What grains touch until the ground's next step.
        if self.changed {
            to.put("ground/relief", &Column::F64(self.relief.height.clone()));
        }
        self.exchange.iter().for_each(|e| e.save(to));
    }

    /// Takes back what [`Ground::save`] put there.
    pub(crate) fn load(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let n = self.columns.grid().len();
        let height = from.u64s("ground/height", n)?.into_iter().map(|h| h.min(i64::MAX as u64) as i64).collect();
        let u32s = |name: &str| match from.column(name) {
            Some(Column::U32(v)) => Ok(v),
            _ => Err(from.unfit(format!("no {name}"))),
        };
        let mark = u32s("ground/mark")?.into_iter().map(|m| m as u8).collect();
        let saved = Saved { height, mark, awake: u32s("ground/awake")?, pushes: from.u64s("ground/pushes", 1)?[0] };
        self.columns =
            Columns::load(*self.columns.grid(), *self.columns.soil(), saved).map_err(|e| from.unfit(e.to_string()))?;
        let mut relief = relief_of(&self.columns);
        self.changed = from.column("ground/relief").is_some();
        if self.changed {
            relief.height = from.f64s("ground/relief", n)?;
        }
        self.relief = Arc::new(relief);
        self.exchange.as_mut().map_or(Ok(()), |e| e.load(from))
    }

    /// FNV-1a over the heights: equal bits, equal hash.
    pub(crate) fn hash(&self, mut h: u64) -> u64 {
        for &height in self.columns.heights() {
            h = (h ^ height as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        for owed in self.exchange.iter().flat_map(|e| &e.owed) {
            h = (h ^ *owed as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        h
    }
}

impl Exchange {
    fn save(&self, to: &mut CheckpointWriter) {
        to.put("ground/watched", &Column::U32(self.watched.iter().flat_map(|w| [w.id, w.looks]).collect()));
        to.put("ground/watched.place", &Column::F64(self.watched.iter().flat_map(|w| w.place.to_array()).collect()));
        to.put("ground/watched.from", &Column::F64(self.watched.iter().flat_map(|w| w.from.to_array()).collect()));
        // The bits of what may be negative.
        to.put("ground/owed", &Column::U64(self.owed.iter().map(|&o| o as u64).collect()));
        to.put("ground/pool.radius", &Column::F64(self.pool.iter().map(|k| k.radius).collect()));
        to.put("ground/pool.shape", &Column::U32(self.pool.iter().map(|k| u32::from(k.shape)).collect()));
        to.put("ground/exchanged", &Column::U64(vec![self.frozen, self.thawed]));
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let (Some(Column::U32(watched)), Some(Column::U32(shapes))) =
            (from.column("ground/watched"), from.column("ground/pool.shape"))
        else {
            return Err(from.unfit("no account of the exchange"));
        };
        let points = |name: &str| -> Result<Vec<DVec3>, CheckpointError> {
            let numbers = from.f64s(name, watched.len() / 2 * 3)?;
            Ok(numbers.chunks_exact(3).map(DVec3::from_slice).collect())
        };
        let (places, froms) = (points("ground/watched.place")?, points("ground/watched.from")?);
        let points = places.into_iter().zip(froms);
        let seen = watched.chunks_exact(2).zip(points);
        self.watched = seen.map(|(w, (place, from))| Watched { id: w[0], looks: w[1], place, from }).collect();
        self.owed = from.u64s("ground/owed", self.owed.len())?.into_iter().map(|o| o as i64).collect();
        let radii = from.f64s("ground/pool.radius", shapes.len())?;
        self.pool = radii.into_iter().zip(shapes).map(|(radius, shape)| Kept { radius, shape: shape as u16 }).collect();
        let counts = from.u64s("ground/exchanged", 2)?;
        (self.frozen, self.thawed) = (counts[0], counts[1]);
        Ok(())
    }
}
