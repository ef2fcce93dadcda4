//! The ground into a checkpoint and back.

use super::exchange::{Exchange, Kept, Watched};
use super::{Ground, relief_of};
use barchan_core::columns::{Column, Columns as Named, Saved as From, Unfit, mix};
use barchan_ground::{Columns, Saved};
use glam::DVec3;
use std::sync::Arc;

impl Ground {
    /// The complete state.
    pub(super) fn columns_to_save(&self) -> Named {
        let mut to = Named::new();
        let Saved { height, mark, awake, pushes } = self.columns.save();
        // Heights are not negative.
        to.push(("height".into(), Column::U64(height.into_iter().map(|h| h as u64).collect())));
        to.push(("mark".into(), Column::U32(mark.into_iter().map(u32::from).collect())));
        to.push(("awake".into(), Column::U32(awake)));
        to.push(("pushes".into(), Column::U64(vec![pushes])));
        // What grains touch until the ground's next step.
        if self.changed {
            to.push(("relief".into(), Column::F64(self.relief.height.clone())));
        }
        self.exchange.iter().for_each(|e| e.save(&mut to));
        self.pressers.save(&mut to);
        to.push((
            "compressed".into(),
            Column::U64(vec![self.compressed as u128 as u64, (self.compressed as u128 >> 64) as u64]),
        ));
        to
    }

    /// Takes back what was saved.
    pub(super) fn take(&mut self, from: From<'_>) -> Result<(), Unfit> {
        let n = self.columns.grid().len();
        let height = from.u64s_of("height", n)?.into_iter().map(|h| h.min(i64::MAX as u64) as i64).collect();
        let mark = from.u32s("mark")?.into_iter().map(|m| m as u8).collect();
        let saved = Saved { height, mark, awake: from.u32s("awake")?, pushes: from.u64s_of("pushes", 1)?[0] };
        self.columns =
            Columns::load(*self.columns.grid(), *self.columns.soil(), saved).map_err(|e| Unfit::new(e.to_string()))?;
        let mut relief = relief_of(&self.columns);
        self.changed = from.has("relief");
        if self.changed {
            relief.height = from.f64s_of("relief", n)?;
        }
        self.relief = Arc::new(relief);
        let halves = from.u64s_of("compressed", 2)?;
        self.compressed = (u128::from(halves[0]) | u128::from(halves[1]) << 64) as i128;
        self.pressers.load(from, n)?;
        self.exchange.as_mut().map_or(Ok(()), |e| e.load(from))
    }

    /// Mixes heights and debts into a hash.
    pub(super) fn mixed(&self, mut h: u64) -> u64 {
        for &height in self.columns.heights() {
            h = mix(h, height as u64);
        }
        for owed in self.exchange.iter().flat_map(|e| &e.owed) {
            h = mix(h, *owed as u64);
        }
        h
    }
}

impl Exchange {
    fn save(&self, to: &mut Named) {
        to.push(("watched".into(), Column::U32(self.watched.iter().flat_map(|w| [w.id, w.looks]).collect())));
        to.push(("watched.place".into(), Column::F64(self.watched.iter().flat_map(|w| w.place.to_array()).collect())));
        to.push(("watched.from".into(), Column::F64(self.watched.iter().flat_map(|w| w.from.to_array()).collect())));
        // The bits of what may be negative.
        to.push(("owed".into(), Column::U64(self.owed.iter().map(|&o| o as u64).collect())));
        to.push(("pool.radius".into(), Column::F64(self.pool.iter().map(|k| k.radius).collect())));
        to.push(("pool.shape".into(), Column::U32(self.pool.iter().map(|k| u32::from(k.shape)).collect())));
        to.push(("exchanged".into(), Column::U64(vec![self.frozen, self.thawed])));
    }

    fn load(&mut self, from: From<'_>) -> Result<(), Unfit> {
        let (watched, shapes) = (from.u32s("watched")?, from.u32s("pool.shape")?);
        let points = |name: &str| -> Result<Vec<DVec3>, Unfit> {
            let numbers = from.f64s_of(name, watched.len() / 2 * 3)?;
            Ok(numbers.chunks_exact(3).map(DVec3::from_slice).collect())
        };
        let (places, froms) = (points("watched.place")?, points("watched.from")?);
        let points = places.into_iter().zip(froms);
        let seen = watched.chunks_exact(2).zip(points);
        self.watched = seen.map(|(w, (place, from))| Watched { id: w[0], looks: w[1], place, from }).collect();
        self.owed = from.u64s_of("owed", self.owed.len())?.into_iter().map(|o| o as i64).collect();
        let radii = from.f64s_of("pool.radius", shapes.len())?;
        self.pool = radii.into_iter().zip(shapes).map(|(radius, shape)| Kept { radius, shape: shape as u16 }).collect();
        let counts = from.u64s_of("exchanged", 2)?;
        (self.frozen, self.thawed) = (counts[0], counts[1]);
        Ok(())
    }
}
