//! What is left out of a picture: matter on one side of a plane, and whole phases.

use barchan_core::frame::{Population, Values};
use glam::DVec3;

/// Name of the column that says in which phase a piece is.
pub const PHASE: &str = "phase";

/// A plane that cuts a picture open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// A point of the plane [m].
    pub point: DVec3,
    /// Its normal: matter on this side is left out.
    pub normal: DVec3,
}

impl Cut {
    /// Whether a place is left out.
    pub fn hides(&self, x: DVec3) -> bool {
        (x - self.point).dot(self.normal) > 0.0
    }
}

/// What is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// Matter before a plane.
    pub cut: Option<Cut>,
    /// Phases by their numbers in the column `PHASE`: solid, liquid, gas.
    pub phases: [bool; 3],
}

impl LeftOut {
    /// Whether a piece of a population is drawn.
    pub fn keeps<'a>(&self, population: &'a Population) -> impl Fn(usize) -> bool + Sync + use<'a> {
        let LeftOut { cut, phases } = *self;
        let phase = population.extra(PHASE).and_then(|e| match &e.values {
            Values::U32(v) => Some(&v[..]),
            _ => None,
        });
        move |row| {
            let shown = phase.is_none_or(|p| !phases.get(p[row] as usize).is_some_and(|hidden| *hidden));
            shown && cut.is_none_or(|c| !c.hides(population.position[row]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::frame::Extra;

    #[test]
    fn pieces_before_the_plane_and_of_hidden_phases_are_left_out() {
        let place = |x: f64| DVec3::new(x, 0.0, 0.0);
        let sand = Population {
            position: vec![place(-1.0), place(1.0), place(-2.0)].into(),
            extras: vec![Extra::whole(PHASE, vec![1, 1, 2])],
            ..Population::default()
        };
        let all = LeftOut::default();
        let kept = |left: LeftOut| (0..3).filter(|&i| left.keeps(&sand)(i)).collect::<Vec<_>>();
        assert_eq!(kept(all), [0, 1, 2]);
        assert_eq!(kept(LeftOut { cut: Some(Cut { point: DVec3::ZERO, normal: DVec3::X }), ..all }), [0, 2]);
        assert_eq!(kept(LeftOut { phases: [false, false, true], ..all }), [0, 1]);
    }
}
