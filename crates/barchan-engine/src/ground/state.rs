//! The ground into a checkpoint and back.

use super::{Ground, relief_of};
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter};
use barchan_dem::Column;
use barchan_ground::{Columns, Saved};
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
        Ok(())
    }

    /// FNV-1a over the heights: equal bits, equal hash.
    pub(crate) fn hash(&self, mut h: u64) -> u64 {
        for &height in self.columns.heights() {
            h = (h ^ height as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        h
    }
}
