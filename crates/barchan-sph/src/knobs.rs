//! What may be changed while the continuum moves. Spacing, densities, kernel and precision may not.

use crate::settings::{Drag, Settings, Wind};
use barchan_core::solver::Knob;

/// One of the knobs.
#[derive(Clone, Copy)]
enum Which {
    /// Of the kind of an index.
    FrictionAngle(usize),
    /// Of the kind of an index.
    Cohesion(usize),
    /// Component of a steady wind.
    Wind(usize),
    /// Factor of a wind that is given as a field.
    Gale,
    AirDensity,
    DragCoefficient,
    Tolerance,
    LargestStep,
}

/// Largest friction angle of a scale [rad]: 60°.
const STEEPEST: f64 = std::f64::consts::FRAC_PI_3;
/// Cohesion of a scale, over the weight of ten spacings of matter: enough for a castle's walls to stand.
const STICKIEST: f64 = 10.0;
/// Wind of a scale [m/s]: a gale.
const GALE: f64 = 30.0;

fn which(s: &Settings) -> Vec<Which> {
    let kinds = (0..s.kinds.len()).flat_map(|k| [Which::FrictionAngle(k), Which::Cohesion(k)]);
    let wind = match s.air.as_ref().map(|a| &a.wind) {
        Some(Wind::Field(..)) => vec![Which::Gale],
        Some(Wind::Constant(_)) | None => [0, 1, 2].map(Which::Wind).to_vec(),
    };
    let blob = s.air.as_ref().is_some_and(|a| a.drag == Drag::Blob).then_some(Which::DragCoefficient);
    let air = wind.into_iter().chain([Which::AirDensity]).chain(blob);
    kinds.chain(air).chain([Which::Tolerance, Which::LargestStep]).collect()
}

/// All of them.
pub fn all(settings: &Settings) -> Vec<Knob> {
    which(settings).into_iter().map(|w| knob(settings, w)).collect()
}

fn knob(s: &Settings, which: Which) -> Knob {
    let of = |k: usize| Some(s.kinds[k].material);
    let knob = |name, unit, about, range: [f64; 2], value| Knob { name, unit, about, material: None, range, value };
    match which {
        Which::FrictionAngle(k) => {
            let about = "the slope at which a layer just flows: the angle of repose";
            let value = s.kinds[k].friction_angle;
            Knob { material: of(k), ..knob("friction angle", "rad", about, [0.0, STEEPEST], value) }
        }
        Which::Cohesion(k) => {
            let about = "shear strength without pressure";
            let g = if s.gravity.length() > 0.0 { s.gravity.length() } else { 9.81 };
            let range = [0.0, STICKIEST * s.bulk_density * g * s.spacing];
            Knob { material: of(k), ..knob("cohesion", "Pa", about, range, s.kinds[k].cohesion) }
        }
        Which::Wind(k) => {
            let name = ["wind x", "wind y", "wind z"][k];
            let about = "velocity of the air; a wind where there was no air brings air of 20 °C";
            let value = match s.air.as_ref().map(|a| &a.wind) {
                Some(Wind::Constant(wind)) => wind[k],
                Some(Wind::Field(..)) | None => 0.0,
            };
            knob(name, "m/s", about, [-GALE, GALE], value)
        }
        Which::Gale => {
            let value = match s.air.as_ref().map(|a| &a.wind) {
                Some(Wind::Field(_, factor)) => *factor,
                Some(Wind::Constant(_)) | None => 1.0,
            };
            knob("wind", "×", "how much of the scene's wind blows", [0.0, 3.0], value)
        }
        Which::AirDensity => {
            let value = s.air.as_ref().map_or(0.0, |a| a.density);
            knob("air density", "kg/m³", "0 is a vacuum, 1.2 the air of a room", [0.0, 5.0], value)
        }
        Which::DragCoefficient => {
            let value = s.air.as_ref().map_or(0.0, |a| a.coefficient);
            knob("drag coefficient", "", "of a particle in the air; 0.47 is a sphere's", [0.0, 2.0], value)
        }
        Which::Tolerance => {
            let about = "largest compression: the mean error of density that a step may leave";
            knob("tolerance", "", about, [1e-5, 1e-1], s.tolerance)
        }
        Which::LargestStep => {
            let about = "steps are shorter where speeds or gravity ask for it";
            knob("largest step", "s", about, [1e-4, 1.0 / 60.0], s.largest_step)
        }
    }
}

/// Gives the knob of an index another value, unchecked.
pub fn set(s: &mut Settings, index: usize, value: f64) {
    let Some(which) = which(s).get(index).copied() else { return };
    // A knob that keeps its value leaves a world without air as it is.
    if knob(s, which).value == value {
        return;
    }
    match which {
        Which::FrictionAngle(k) => s.kinds[k].friction_angle = value,
        Which::Cohesion(k) => s.kinds[k].cohesion = value,
        Which::Tolerance => s.tolerance = value,
        Which::LargestStep => s.largest_step = value,
        Which::Wind(_) | Which::Gale | Which::AirDensity | Which::DragCoefficient => {
            let air = s.air.get_or_insert_default();
            match (which, &mut air.wind) {
                (Which::Wind(k), Wind::Constant(wind)) => wind[k] = value,
                (Which::Gale, Wind::Field(_, factor)) => *factor = value,
                (Which::AirDensity, _) => air.density = value,
                (Which::DragCoefficient, _) => air.coefficient = value,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Air, Sph};
    use barchan_core::solver::{Domain, Solver};
    use glam::DVec3;

    fn sand() -> Sph {
        let domain = Domain { min: DVec3::ZERO, max: DVec3::ONE, periodic: [false; 3] };
        Sph::new(Settings::sand(0.02, domain)).unwrap()
    }

    fn index(sph: &Sph, name: &str) -> usize {
        sph.knobs().iter().position(|k| k.name == name).unwrap()
    }

    #[test]
    fn every_knob_takes_its_value_to_the_bit_and_leaves_the_others() {
        let knobs = sand().knobs();
        for (i, knob) in knobs.iter().enumerate() {
            let mut sph = sand();
            let value = 0.7 * knob.range[0] + 0.3 * knob.range[1] + 1e-5;
            sph.set_knob(i, value).unwrap();
            let after = sph.knobs();
            for (k, (a, b)) in after.iter().zip(&knobs).enumerate() {
                // A wind brings air with it.
                let same = a.value == b.value || (a.name == "air density" && knob.name.starts_with("wind"));
                assert!(if k == i { a.value == value } else { same }, "{} after {}", a.name, knob.name);
            }
        }
    }

    #[test]
    fn values_that_cannot_be_are_refused() {
        let mut sph = sand();
        for (name, value) in
            [("friction angle", 1.2), ("cohesion", -1.0), ("tolerance", 0.0), ("largest step", f64::NAN)]
        {
            let i = index(&sph, name);
            assert!(sph.set_knob(i, value).is_err(), "{name} of {value}");
        }
        for (name, value) in [("air density", -1.0), ("air density", f64::NAN), ("wind y", f64::INFINITY)] {
            let i = index(&sph, name);
            assert!(sph.set_knob(i, value).is_err(), "{name} of {value}");
        }
        assert_eq!(sph.knobs(), sand().knobs());
    }

    #[test]
    fn a_wind_needs_air_and_a_vacuum_has_none() {
        let mut sph = sand();
        assert!(sph.settings().acting_air().is_none());
        sph.set_knob(index(&sph, "wind x"), 4.0).unwrap();
        assert_eq!(sph.settings().acting_air().map(|a| a.density), Some(Air::default().density));
        sph.set_knob(index(&sph, "air density"), 0.0).unwrap();
        assert!(sph.settings().acting_air().is_none());
    }
}
