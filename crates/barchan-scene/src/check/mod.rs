//! Checks of a scene that has been read: does it mean something, and can it be simulated?
//!
//! The range of each key is checked by its own statement (see [`keys`](crate::keys)); here is what concerns several keys at once.
//! Each check is a function over the scene that pushes problems at paths. Numbers that could not be read are NaN and already
//! reported; every comparison is written so that NaN passes. What depends on the solver (the time step, the numbers of the
//! contact law) is checked where the world is assembled.

mod bench;
mod bodies;
mod continuum;
mod emitters;
mod ground;
mod laws;
mod names;
mod periodic;
mod phases;
mod picture;
mod places;
mod release;
mod snow;
mod values;
mod walls;

use crate::assets::Assets;
use crate::keys::{Key, Stated};
use crate::problems::{Problem, Severity, Spans};
use crate::types::{Region, Scene};
use glam::DVec3;

/// The scene under check and what was found.
pub struct Check<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// What its files hold.
    pub assets: &'a Assets,
    spans: &'a Spans,
    problems: Vec<Problem>,
}

impl Check<'_> {
    /// Adds an error at a path.
    pub fn error(&mut self, path: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(Severity::Error, path, message, help));
    }

    /// Adds a warning at a path.
    pub fn warn(&mut self, path: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(Severity::Warning, path, message, help));
    }

    /// Whether the value was written by the user.
    pub fn given(&self, path: &str) -> bool {
        self.spans.given(path)
    }

    /// Whether a value stands for itself: it was written by the user, or the whole scene was built in code.
    pub(crate) fn is_own(&self, path: &str) -> bool {
        self.spans.is_empty() || self.given(path)
    }

    /// Duration of the run [s] to compare times with; NaN, which offends nobody, where it has been reported itself.
    pub fn duration(&self) -> f64 {
        if self.scene.duration > 0.0 { self.scene.duration } else { f64::NAN }
    }

    /// Whether "outside the domain" means anything; an empty domain has been reported.
    fn has_domain(&self) -> bool {
        !self.scene.domain.min.cmpge(self.scene.domain.max).any()
    }

    /// A number must be above 0; `what` begins the message.
    pub fn positive(&mut self, path: impl Into<String>, what: &str, value: f64, unit: &str) {
        if value <= 0.0 {
            let help = format!("give a number above 0{}", in_unit(unit));
            self.error(path, format!("{what} must be positive, not {}", show(value, unit)), help);
        }
    }

    /// A number must be 0 or more.
    pub fn not_negative(&mut self, path: impl Into<String>, what: &str, value: f64, unit: &str) {
        if value < 0.0 {
            let help = format!("give 0 or more{}", in_unit(unit));
            self.error(path, format!("{what} cannot be negative, but is {}", show(value, unit)), help);
        }
    }

    /// A vector must not be zero.
    pub fn direction(&mut self, path: impl Into<String>, what: &str, value: DVec3) {
        if value == DVec3::ZERO {
            self.error(
                path,
                format!("{what} has no direction"),
                "give a vector of any length but zero, such as [0, 0, 1]",
            );
        }
    }

    /// Corners of a box in order; the message names the direction.
    pub fn corners(&mut self, path: &str, min: DVec3, max: DVec3) {
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            if min[i] >= max[i] {
                let message = format!(
                    "the box is empty: its min {axis} ({} m) is not below its max {axis} ({} m)",
                    min[i], max[i]
                );
                self.error(format!("{path}.max[{i}]"), message, "swap or move the corners");
            }
        }
    }
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" (in {unit}, if bare)") }
}

/// Checks the corners of a region that is a box; `path` is that of the table that has it.
pub fn corners(c: &mut Check, path: &str, region: &Region) {
    if let Region::Box { min, max } = region {
        c.corners(&format!("{path}.box"), *min, *max);
    }
}

/// A number with its unit, readable at any magnitude.
pub fn show(value: f64, unit: &str) -> String {
    let magnitude = value.abs();
    let number = if magnitude == 0.0 || (1e-3..1e6).contains(&magnitude) {
        format!("{}", (value * 1e6).round() / 1e6)
    } else {
        format!("{value:.3e}")
    };
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Every problem of the scene.
pub(crate) fn check(scene: &Scene, assets: &Assets, spans: &Spans) -> Vec<Problem> {
    let mut c = Check { scene, assets, spans, problems: Vec::new() };
    Stated::check(scene, &mut c, "", &Key::new("", ""));
    names::check(&mut c);
    values::check(&mut c);
    laws::check(&mut c);
    walls::check(&mut c);
    periodic::check(&mut c);
    places::check(&mut c);
    bench::check(&mut c);
    bodies::check(&mut c);
    emitters::check(&mut c);
    continuum::check(&mut c);
    phases::check(&mut c);
    ground::check(&mut c);
    picture::check(&mut c);
    snow::check(&mut c);
    c.problems
}

impl Scene {
    /// Every problem of a scene that was built in code; [`Scene::from_toml`] has done this already.
    pub fn check(&self) -> Vec<Problem> {
        check(self, &Assets::default(), &Spans::default())
    }
}

#[cfg(test)]
mod tests {
    use crate::types::Scene;

    const SCENE: &str = r#"
duration = DURATION
[domain]
min = [0, 0, 0]
max = [0.1, 0.1, 0.1]
[materials.sand]
preset = "dry sand"
[[grains]]
material = "sand"
radius = "2 mm"
at = [[0.05, 0.05, 0.05]]
[[walls]]
material = "sand"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
velocity = [0, 0, 0.1]
from = 0.5
[[measure]]
energy = {}
OUTPUT
"#;

    fn problems(duration: &str, output: &str) -> Vec<String> {
        match Scene::from_toml(&SCENE.replace("DURATION", duration).replace("OUTPUT", output), "test") {
            Ok(parsed) => parsed.warnings.iter().map(|p| p.path.clone()).collect(),
            Err(e) => e.problems.iter().map(|p| p.path.clone()).collect(),
        }
    }

    #[test]
    fn what_follows_from_another_mistake_is_not_reported() {
        assert_eq!(problems("1", ""), [""; 0]);
        for none in ["0", "-1"] {
            assert_eq!(problems(none, ""), ["duration"], "frames and rows follow from the duration {none}");
            assert_eq!(problems(none, "[output]\nevery = 0.1"), ["duration"], "nothing is longer than {none}");
            assert_eq!(problems(none, "[output]\nevery = -1"), ["duration", "output.every"], "its own mistake is told");
        }
        assert_eq!(problems("1", "[output]\nevery = 0"), ["output.every"], "rows follow from the frames");
    }
}
