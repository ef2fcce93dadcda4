//! Plots as SVG: points, lines and bars over linear or logarithmic axes, with a legend; and their numbers as CSV.
//!
//! | file | role |
//! |---|---|
//! | `scale.rs` | from values to the length of an axis, and where its ticks are |
//! | `legend.rs` | where the legend hides least |
//! | `svg.rs` | the drawing |

mod legend;
mod scale;
mod svg;

use crate::csv::quoted;
use crate::decimal;
use std::fmt::Write;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Axis to the right.
    pub x: Axis,
    /// Axis upward.
    pub y: Axis,
    /// What is plotted, from the back to the front.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Quantity and unit, as in `time [s]`.
    pub label: String,
    /// Whether it is logarithmic: values of 0 and below are then left out.
    pub log: bool,
    /// Its ends; none: those of the values, with a little room.
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis over all values.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false, range: None }
    }

    /// A logarithmic axis over all values.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true, range: None }
    }
}

/// How points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// Joined by dashes.
    Dashes,
    /// A dot each.
    Dots,
    /// A hollow ring each.
    Rings,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<[f64; 2]>,
    /// Standard errors of y, as many as points; empty: none are drawn.
    pub errors: Vec<f64>,
    /// How it is drawn.
    pub mark: Mark,
}

impl Series {
    fn new(name: impl Into<String>, points: Vec<[f64; 2]>, mark: Mark) -> Series {
        Series { name: name.into(), points, errors: vec![], mark }
    }

    /// A line through points.
    pub fn line(name: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series::new(name, points, Mark::Line)
    }

    /// A dashed line through points.
    pub fn dashes(name: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series::new(name, points, Mark::Dashes)
    }

    /// Dots.
    pub fn dots(name: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series::new(name, points, Mark::Dots)
    }

    /// Hollow rings, for the data of others.
    pub fn rings(name: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series::new(name, points, Mark::Rings)
    }
}

impl Plot {
    /// The plot as a drawing of 640 × 440 pixels, taller where the legend finds no room among the data.
    ///
    /// Points that are not finite, or not positive on a logarithmic axis, are left out and interrupt a line; what lies
    /// outside a given range is clipped.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    /// All points in long form, a row each: series, x, y and, where some series has errors, its standard error.
    pub fn csv(&self) -> String {
        let errors = self.series.iter().any(|s| !s.errors.is_empty());
        let mut out = format!("series,{},{}", quoted(&self.x.label), quoted(&self.y.label));
        out.push_str(if errors { ",standard error\n" } else { "\n" });
        for series in &self.series {
            let name = quoted(&series.name);
            for (k, [x, y]) in series.points.iter().enumerate() {
                let _ = write!(out, "{name},{},{}", decimal(*x), decimal(*y));
                if errors {
                    let error = series.errors.get(k).map(|e| decimal(*e)).unwrap_or_default();
                    let _ = write!(out, ",{error}");
                }
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
