//! The ground as columns of sand [Sumner, O'Brien, Hodgins 1999; Papadimitriou 2012, ch. 4].
//!
//! [`Columns`] is a grid of heights. Bodies push it ([`Columns::push`]): columns inside a body are lowered to its
//! underside, and what they held is compressed or goes to the nearest columns beside the body. Bodies with a mass are
//! carried by it ([`Columns::bear`]). What has become too steep
//! slides ([`Columns::erode`]), or is given up as a whole where someone else lets it fall ([`Columns::banks`]). Grains that come to rest are laid down ([`Columns::raise`]) and taken up again
//! ([`Columns::lower`]).
//!
//! **Heights are whole numbers** of a [`QUANTUM`] (2⁻⁴⁰ m, about a picometre). So every transfer is exact, volume is
//! conserved to the last bit, and no result depends on the order of a sum or on the number of threads.
//!
//! ```
//! use barchan_ground::{Columns, Grid, Soil, sphere};
//! use glam::{DVec2, DVec3};
//!
//! let grid = Grid { origin: DVec3::ZERO, cell: 0.01, size: [64, 64] };
//! let mut ground = Columns::flat(grid, Soil::SAND, 0.1)?;
//! let before = ground.total();
//! let ball = sphere(DVec3::new(0.32, 0.32, 0.13), 0.05);
//! let area = ground.grid().area(DVec2::splat(0.27), DVec2::splat(0.37));
//! let push = ground.push(area, &ball);
//! ground.erode(1000);
//! assert_eq!(ground.total(), before - push.compressed);
//! # Ok::<(), barchan_ground::GroundError>(())
//! ```

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod banks;
mod bearing;
mod columns;
mod distance;
mod erode;
mod grid;
mod level;
mod patch;
mod push;
mod soil;
mod strength;
mod underside;

pub use banks::Cut;
pub use bearing::{Bearing, Mover, Stand};
pub use columns::{Columns, Saved};
pub use erode::Erosion;
pub use grid::{Area, Grid, HIGHEST, QUANTUM, metres};
pub use patch::Patch;
pub use push::{Contact, Push};
pub use soil::Soil;
pub use strength::Strength;
pub use underside::{sphere, traced};

/// Why a ground cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GroundError {
    /// No columns, or more than an index can hold.
    #[error(
        "a ground of {0} × {1} columns cannot be: use at least 1 × 1 and at most 2²⁶ in all, by a smaller area or a larger cell"
    )]
    Size(usize, usize),
    /// The columns' width is no length, or beyond what the quantum suits.
    #[error("a cell of {0} m cannot be: use a width from 0.1 mm to 1 km")]
    Cell(f64),
    /// The corner is nowhere.
    #[error("the ground's origin is not finite: give three finite coordinates")]
    Origin,
    /// A column is too high, below the floor, or not a number.
    #[error(
        "column {column} is {height} m high: heights are counted from the ground's floor, from 0 to 2048 m; move the floor or mend the data"
    )]
    Height {
        /// Which column.
        column: usize,
        /// Its height [m].
        height: f64,
    },
    /// A number of the soil is out of its range.
    #[error("the soil's {name} is {value}: {remedy}")]
    Soil {
        /// The number's name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        remedy: &'static str,
    },
    /// Columns of numbers that do not belong together.
    #[error(
        "the saved ground does not fit: {0} has {1} values in place of {2}; it belongs to another grid or is damaged"
    )]
    Saved(&'static str, usize, usize),
}
