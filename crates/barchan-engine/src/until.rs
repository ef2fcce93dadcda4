//! When a run ends before its duration: the scene's `[stop]`, and `--until` of the command.

use crate::world::World;
use barchan_scene::units::Quantity;
use barchan_scene::words::seconds;
use barchan_scene::{Stop, StopStress};

/// Reads what `--until` asks for: `kinetic < 1e-6 J`, `grains < 100`, `grains > 5000`, `unborn > 1 s`, `stress lid 4 cm2 > 10 kPa`.
pub fn until(text: &str) -> Result<Stop, String> {
    let form =
        "write such as \"kinetic < 1e-6 J\", \"grains > 5000\", \"unborn > 1 s\" or \"stress lid 4 cm2 > 10 kPa\"";
    let wrong = |what: String| format!("{what}; {form}");
    let (left, sign, right) = match (text.split_once('<'), text.split_once('>')) {
        (Some((l, r)), None) => (l.trim(), '<', r.trim()),
        (None, Some((l, r))) => (l.trim(), '>', r.trim()),
        _ => return Err(wrong("one `<` or `>` is needed".into())),
    };
    let quantity = |text: &str, q: Quantity| {
        let bare = text.parse::<f64>().ok();
        let value = bare.map_or_else(|| q.parse(text), Ok).map_err(|e| wrong(e.to_string()))?;
        if value.is_finite() && value > 0.0 { Ok(value) } else { Err(wrong(format!("{text} is not above 0"))) }
    };
    let number = || right.parse::<u64>().map_err(|_| wrong(format!("`{right}` is no number of grains")));
    let none = Stop { kinetic: None, fewer: None, more: None, unborn: None, stress: None, after: 0.0 };
    let words: Vec<&str> = left.split_whitespace().collect();
    match (&words[..], sign) {
        (["kinetic"], '<') => Ok(Stop { kinetic: Some(quantity(right, Quantity::ENERGY)?), ..none }),
        (["grains" | "particles"], '<') => Ok(Stop { fewer: Some(number()?), ..none }),
        (["grains" | "particles"], '>') => Ok(Stop { more: Some(number()?), ..none }),
        (["unborn"], '>') => Ok(Stop { unborn: Some(quantity(right, Quantity::TIME)?), ..none }),
        (["stress", wall, area @ ..], _) if !area.is_empty() => {
            let limit = Some(quantity(right, Quantity::PRESSURE)?);
            let (above, below) = if sign == '>' { (limit, None) } else { (None, limit) };
            let area = quantity(&area.join(" "), Quantity::AREA)?;
            Ok(Stop { stress: Some(StopStress { wall: (*wall).into(), area, above, below }), ..none })
        }
        _ => Err(wrong(format!("`{left} {sign}` is nothing that a run can wait for"))),
    }
}

impl World {
    /// What ends the run now, in words; none where nothing does.
    pub(crate) fn meets(&self, stop: &Stop) -> Option<String> {
        if self.time() < stop.after {
            return None;
        }
        if let Some(least) = stop.kinetic {
            let kinetic = self.energies().kinetic();
            if kinetic < least {
                return Some(format!("the kinetic energy, {kinetic:.3e} J, is below {least:.3e} J"));
            }
        }
        let pieces = self.pieces() as u64;
        if let Some(n) = stop.fewer.filter(|n| pieces < *n) {
            return Some(format!("{pieces} grains are left, fewer than {n}"));
        }
        if let Some(n) = stop.more.filter(|n| pieces > *n) {
            return Some(format!("there are {pieces} grains, more than {n}"));
        }
        let quiet = (self.steps() - self.last_birth) as f64 * self.plan().dt;
        if let Some(time) = stop.unborn.filter(|t| quiet >= *t) {
            return Some(format!("nothing was born for {}", seconds(time)));
        }
        let stress = stop.stress.as_ref()?;
        let w = self.boundary().walls().iter().position(|w| w.name == stress.wall)?;
        let now = self.boundary().states()[w].force.length() / stress.area;
        let passed = stress.above.is_some_and(|s| now > s) || stress.below.is_some_and(|s| now < s);
        passed.then(|| format!("the stress on {} is {now:.4e} Pa", stress.wall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_read_with_its_unit_and_nonsense_is_told() {
        assert_eq!(until("kinetic < 1e-6 J").unwrap().kinetic, Some(1e-6));
        assert_eq!(until("kinetic<2 mJ").unwrap().kinetic, Some(2e-3));
        assert_eq!((until("grains < 5").unwrap().fewer, until("grains > 7").unwrap().more), (Some(5), Some(7)));
        assert_eq!(until("unborn > 20 ms").unwrap().unborn, Some(0.02));
        let stress = until("stress lid 4 cm2 > 10 kPa").unwrap().stress.unwrap();
        assert_eq!((stress.wall.as_str(), stress.above, stress.below), ("lid", Some(1e4), None));
        assert!((stress.area - 4e-4).abs() < 1e-18);
        for wrong in [
            "",
            "kinetic",
            "kinetic > 1",
            "kinetic < -1 J",
            "kinetic < 1 m",
            "grains < x",
            "stress lid > 3 Pa",
            "heat < 3",
        ] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}
