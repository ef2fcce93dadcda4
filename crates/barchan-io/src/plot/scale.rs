//! From values to the length of an axis, and where its ticks are.

use super::Axis;

/// An axis with its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    log: bool,
    /// Ends; logarithms where it is logarithmic.
    low: f64,
    high: f64,
}

/// A tick: where it is, and its label where it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// From 0 to 1 along the axis.
    pub at: f64,
    /// Number beside it; none for the lines between decades.
    pub label: Option<String>,
}

/// Room beyond the values at either end, over their span.
const ROOM: f64 = 0.05;
/// About as many labels as an axis takes.
const LABELS: f64 = 6.0;
/// Numbers from here on, and below the other, are written with a power of ten.
const PLAIN: [f64; 2] = [1e-3, 1e5];

impl Scale {
    /// The scale of an axis for these values.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Scale {
        let seen = |v: f64| if axis.log { if v > 0.0 { v.log10() } else { f64::NAN } } else { v };
        if let Some([a, b]) = axis.range {
            let (a, b) = (seen(a), seen(b));
            if a.is_finite() && b.is_finite() && a != b {
                return Scale { log: axis.log, low: a.min(b), high: a.max(b) };
            }
        }
        let finite = values.map(seen).filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let room = match high - low {
            span if span > 1e-12 * high.abs().max(low.abs()) => ROOM * span,
            _ if axis.log => 0.5,
            _ if low == 0.0 => 1.0,
            _ => 0.5 * low.abs(),
        };
        // An axis of nothing below 0 begins at 0, not below it, where its room would reach that far.
        let start = if !axis.log && low >= 0.0 { (low - room).max(0.0) } else { low - room };
        Scale { log: axis.log, low: start, high: high + room }
    }

    /// Where a value is, from 0 to 1 on the axis and beyond it outside; not a number where it has no place.
    pub fn place(&self, value: f64) -> f64 {
        let value = match self.log {
            true if value > 0.0 => value.log10(),
            true => f64::NAN,
            false => value,
        };
        (value - self.low) / (self.high - self.low)
    }

    /// Ticks, and the power of ten that stands at the end of the axis, by which all labels are to be multiplied.
    pub fn ticks(&self) -> (Vec<Tick>, Option<i32>) {
        if self.log { (self.decades(), None) } else { self.steps() }
    }

    fn steps(&self) -> (Vec<Tick>, Option<i32>) {
        let span = self.high - self.low;
        let rough = span / LABELS;
        let power = rough.log10().floor();
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * 10f64.powf(power)).into_iter().find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(span);
        let largest = self.low.abs().max(self.high.abs());
        let scale = (!(PLAIN[0]..PLAIN[1]).contains(&largest)).then(|| largest.log10().floor() as i32);
        let unit = 10f64.powi(scale.unwrap_or(0));
        let digits = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
        let slack = 1e-6;
        let (first, last) = ((self.low / step - slack).ceil(), (self.high / step + slack).floor());
        // A range far from 0 may be too narrow for its digits: then some ticks coincide, but there are never many.
        let count = ((last - first) as i64).clamp(-1, 20);
        let ticks = (0..=count).map(|k| (first + k as f64) * step);
        let label = |v: f64| minus(format!("{:.digits$}", v / unit + 0.0));
        (ticks.map(|v| Tick { at: self.place(v), label: Some(label(v)) }).collect(), scale)
    }

    fn decades(&self) -> Vec<Tick> {
        let span = self.high - self.low;
        // Within two decades 2 and 5 are labelled too, and all as plain numbers; beyond eight, not every power is.
        let short = span < 2.0;
        let every = (span / 8.0).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for decade in self.low.floor() as i32..=self.high.floor() as i32 {
            for part in 1..10 {
                let at = self.place(f64::from(part) * 10f64.powi(decade));
                if !(-1e-9..=1.0 + 1e-9).contains(&at) {
                    continue;
                }
                let label = match part {
                    1 if short => Some(plain(decade, 1)),
                    1 => (decade.rem_euclid(every) == 0).then(|| format!("10{}", superscript(decade))),
                    2 | 5 if short => Some(plain(decade, part)),
                    _ if every > 1 => continue,
                    _ => None,
                };
                ticks.push(Tick { at, label });
            }
        }
        ticks
    }
}

/// `0.02`, `500`, `2·10⁻⁷`.
fn plain(decade: i32, part: i32) -> String {
    match decade {
        0..5 => (part * 10i32.pow(decade as u32)).to_string(),
        -3..0 => format!("{:.*}", -decade as usize, f64::from(part) * 10f64.powi(decade)),
        _ if part == 1 => format!("10{}", superscript(decade)),
        _ => format!("{part}·10{}", superscript(decade)),
    }
}

/// A hyphen in front of a number is no minus.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

/// A whole number in superscript digits.
pub fn superscript(n: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    n.to_string().chars().map(|c| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize])).collect()
}
