//! What a sampling is worth, in words, and as a shape for scenes.

use crate::cli::Failure;
use crate::cli::say::many;
use crate::cli::sdf::{Subject, short};
use barchan::core::mesh::MassProperties;
use barchan::core::sampling::{Quality, Sampling, union};
use barchan::core::shapes::Shape;
use barchan::io::atomic;
use glam::DVec3;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Spheres of a clump from which on a scene takes seconds to find the moments of their union.
const MANY: usize = 400;

pub struct Report {
    name: String,
    source: String,
    density: f64,
    solid: Option<MassProperties>,
    /// Principal moments of inertia of the solid, for unit density [m⁵].
    moments: DVec3,
    /// Relative errors of the union's volume and of its worst principal moment.
    errors: Option<[f64; 2]>,
    quality: Quality,
    spheres: Vec<(DVec3, f64)>,
    filling: Vec<(DVec3, f64)>,
    radius: f64,
    /// How long it took, where nothing was drawn meanwhile.
    took: Option<Duration>,
}

/// Principal moments of inertia for unit density [m⁵], in descending order.
fn principal(spheres: &[(DVec3, f64)], body: &MassProperties, subject: &Subject) -> Option<DVec3> {
    let (shape, unit) = Shape::solid("", spheres, body, &subject.mesh).ok()?;
    let mut moments = (shape.inertia() * unit.powi(5)).to_array();
    moments.sort_by(|a, b| b.total_cmp(a));
    Some(moments.into())
}

impl Report {
    pub fn new(name: &str, subject: &Subject, sampling: &Sampling, density: f64, took: Option<Duration>) -> Report {
        let spheres = sampling.spheres().to_vec();
        let filling = sampling.filling();
        let all = [spheres.as_slice(), &filling].concat();
        let solid = subject.mesh.mass_properties().filter(|_| subject.health.is_closed());
        let moments = solid.and_then(|s| principal(&all, &s, subject));
        let errors = solid.zip(moments).zip(union(&all)).and_then(|((solid, moments), union)| {
            let off = principal(&all, &union, subject)? / moments - DVec3::ONE;
            Some([union.volume / solid.volume - 1.0, off.to_array()[off.abs().max_position()]])
        });
        Report {
            // What a bare key of TOML may hold.
            name: name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect(),
            source: subject.name.clone(),
            density,
            solid,
            moments: moments.unwrap_or_default(),
            errors,
            quality: sampling.quality(),
            radius: spheres.iter().map(|s| s.1).fold(0.0, f64::max),
            spheres,
            filling,
            took,
        }
    }

    /// A length [m], or 0 where it is what is left of one after adding and subtracting coordinates.
    fn cleared(&self, x: f64) -> f64 {
        if x.abs() < 1e-9 * self.radius { 0.0 } else { x }
    }

    /// The shape's name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn lines(&self) -> Vec<String> {
        let q = &self.quality;
        let mut lines = Vec::new();
        if let Some(solid) = &self.solid {
            let [x, y, z] = solid.centroid.to_array().map(|c| short(self.cleared(c)));
            let [a, b, c] = (self.density * self.moments).to_array().map(short);
            lines.push(format!("mass {} kg at {} kg/m³", short(self.density * solid.volume), short(self.density)));
            lines.push(format!("centre of mass ({x}, {y}, {z}) m"));
            lines.push(format!("principal moments of inertia {a}, {b}, {c} kg m²"));
        }
        let smaller = match q.smallest < 0.999 * self.radius {
            true => format!(", down to {} m where that does not fit", short(q.smallest)),
            false => String::new(),
        };
        lines.push(format!("{} of radius {} m{smaller}", many(q.count as u64, "sphere"), short(self.radius)));
        if !self.filling.is_empty() {
            lines.push(format!("{} more to fill the inside", self.filling.len()));
        }
        let unreachable = match q.unreachable > 0.0 {
            true => format!(" (no sphere can reach {:.2} %: sharp edges, thin parts)", 100.0 * q.unreachable),
            false => String::new(),
        };
        lines.push(format!("coverage {:.2} % of the surface{unreachable}", 100.0 * q.coverage));
        lines.push(format!("spacing {} m, spread {:.1} %", short(q.spacing), 100.0 * q.spread));
        lines.push(format!("surface to nearest sphere: at most {} m", short(q.gap)));
        lines.push(format!("sphere to surface: at most {} m", short(self.cleared(q.distance))));
        if let Some([volume, inertia]) = self.errors {
            lines.push(format!(
                "union of the spheres against the solid: volume {:+.2} %, moments of inertia {:+.2} %",
                100.0 * volume,
                100.0 * inertia
            ));
        }
        lines.extend(self.took.map(|t| format!("sampled in {:.2} s", t.as_secs_f64())));
        lines
    }

    /// What to do instead, where a clump is not the best form.
    pub fn remark(&self) -> Option<String> {
        let all = self.spheres.len() + self.filling.len();
        (all > MANY && self.solid.is_some()).then(|| {
            format!(
                "note: scenes take long to read a clump of {all} spheres; `mesh = {{ file = \"{}\", … }}` has the same spheres and \
                 the mass of the solid at once",
                self.source
            )
        })
    }

    /// The shape as a table of a scene.
    pub fn toml(&self) -> String {
        let mut text = format!("# {}: made by `barchan sample`.\n", one_line(&self.source));
        self.lines().iter().filter(|l| !l.starts_with("sampled")).for_each(|l| {
            let _ = writeln!(text, "# {l}");
        });
        let _ = writeln!(text, "[shapes.{}]\nspheres = [", self.name);
        for (centre, radius) in self.spheres.iter().chain(&self.filling) {
            let [x, y, z] = centre.to_array().map(number);
            let _ = writeln!(text, "  {{ at = [{x}, {y}, {z}], radius = {} }},", number(*radius));
        }
        text.push_str("]\n");
        text
    }

    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        atomic::write(path, self.toml().as_bytes()).map_err(|e| Failure::Failed(e.to_string()))
    }
}

/// A name that may hold anything, in a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Seven digits, as TOML has them.
fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.6e}").parse().unwrap_or(x);
    if rounded == 0.0 { "0".into() } else { format!("{rounded:?}") }
}
