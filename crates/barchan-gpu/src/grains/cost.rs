//! What a step of the grains costs a device, counted from its buffers.

use super::machine::Machine;
use super::rows::{FINE, HEAD, LOAD, RECORD, TOUCHED, counts};
use crate::device::GpuError;

/// Bytes and launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Bytes a grain and step that must come from memory or go there: each thing once a step, as others find what neighbours have just read.
    pub bytes_per_step: f64,
    /// Bytes a grain on the device.
    pub bytes_per_grain: f64,
    /// Launches a step.
    pub launches_per_step: f64,
    /// Partners in a grain's list, above and below it.
    pub near: f64,
    /// Partners it touches.
    pub touching: f64,
}

const WORD: usize = 4;
const ROW: usize = 16;

impl Cost {
    /// Bytes a grain and step with so many near and touching partners and contacts with walls, whose memory has so many rows.
    pub fn of(near: f64, touching: f64, walls: f64, memory: usize) -> f64 {
        // Read: records, fine parts, heads. Written: of a record what changes, fine parts.
        let grain = RECORD * ROW + (RECORD * ROW - 2 * WORD) + 2 * FINE * ROW + HEAD * WORD;
        // A pair has an entry with the one below, and two words with the one above.
        let entries = WORD as f64 * (1.5 * near + walls);
        // A pair's memory stands once, and is read and written.
        grain as f64 + entries + (2 * memory * ROW) as f64 * (0.5 * touching + walls)
    }
}

impl Machine {
    /// Bytes of the buffers that hold grains.
    pub fn bytes(&self) -> u64 {
        let Some(room) = &self.room else { return 0 };
        let own = [&room.record, &room.fine, &room.load, &room.memory, &room.lists, &room.walls];
        own.iter().map(|b| b.size()).sum::<u64>() + room.near.bytes()
    }

    /// What a step costs with the lists that there are.
    pub fn cost(&self) -> Result<Cost, GpuError> {
        let rows = self.rows()?;
        let n = rows.len().max(1) as f64;
        let (mut near, mut touching, mut walls) = (0, 0, 0);
        for g in 0..rows.len() {
            let [above, below, _] = counts(rows.lists[HEAD * g + 2]);
            near += above + below;
            touching += 2 * rows.pairs(g).filter(|e| e.0 & TOUCHED != 0).count();
            walls += rows.walls(g).filter(|e| e.0 & TOUCHED != 0).count();
        }
        let [near, touching, walls] = [near, touching, walls].map(|x| x as f64 / n);
        Ok(Cost {
            bytes_per_step: Cost::of(near, touching, walls, self.memory),
            bytes_per_grain: self.bytes() as f64 / n,
            // `flow` and `close`; of a submission's first and last step `begin`, `gate`, `rest` and `finish` too.
            launches_per_step: 2.0 + 2.0 / self.batch as f64,
            near,
            touching,
        })
    }
}

const _: () = assert!(LOAD * ROW == 48, "loads are moved once a submission, not once a step");
