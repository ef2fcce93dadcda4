//! The upper bulb of an hourglass of a continuum that runs empty through its neck.

use super::{D, G, continuum, rig};
use crate::fit::line;
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;
use std::f64::consts::PI;

pub const CASE: Case = Case {
    name: "sph-hourglass",
    title: "An hourglass of a continuum runs at a constant rate",
    group: Group::Continuum,
    about: "A round bulb whose floor is a cone of 45° runs empty through a neck of 10 particles, and one of 16. The rate stays the same while the level falls \
            from six openings, or what there is, to one and a half, and grows with the opening as D^(5/2).",
    source: "Beverloo, Leniger & van de Velde 1961, Chem. Eng. Sci. 15, 260 (no offset by a grain: a continuum has none)",
    criteria: &[
        Criterion::new("steady", "change of the rate over the time followed, of its mean", "", Below(0.1), "0"),
        Criterion::new(
            "width",
            "exponent of the rate with the opening, 10 and 16 particles",
            "",
            Accept::Between(2.35, 2.65),
            "5/2",
        ),
    ],
    run,
};

/// Openings that are compared, in particles.
const OPENINGS: [f64; 2] = [10.0, 16.0];
/// Friction angle of the sand [°].
const ANGLE: f64 = 30.0;

/// A bulb: radius of its neck and of its cylinder [m].
#[derive(Clone, Copy)]
struct Bulb {
    neck: f64,
    wide: f64,
}

impl Bulb {
    /// Height [m] at which the cone ends.
    fn shoulder(self) -> f64 {
        self.wide - self.neck
    }

    /// Volume [m³] up to a level over the neck [m].
    fn volume(self, level: f64) -> f64 {
        let in_cone = level.min(self.shoulder());
        let top = self.neck + in_cone;
        let cone = PI / 3.0 * in_cone * (self.neck * self.neck + self.neck * top + top * top);
        cone + PI * self.wide * self.wide * (level - in_cone).max(0.0)
    }

    /// Level [m] of a volume [m³].
    fn level(self, volume: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1e3);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if self.volume(middle) < volume { &mut low } else { &mut high }) = middle;
        }
        low
    }
}

/// Time [s], level over the neck [m] and rate [kg/s] while a bulb empties.
fn empty(bench: &Bench, opening: f64) -> Result<Vec<[f64; 3]>, CaseError> {
    let bulb = Bulb { neck: 0.5 * opening, wide: bench.size.pick(12.0, 20.0, 26.0) * D };
    let height = bulb.shoulder() + bench.size.pick(40.0, 50.0, 70.0) * D;
    let (wide, shoulder) = (bulb.wide, bulb.shoulder());
    let side = wide + 2.0 * D;
    let head = super::head(0.0, DVec3::new(-side, -side, -16.0 * D), DVec3::new(side, side, height + 5.0 * D), "");
    let walls = format!(
        r#"
        [[walls]]
        name = "cone"
        material = "floor"
        cone = {{ base = [0, 0, 0], axis = [0, 0, 1], radius_base = {}, radius_top = {wide}, height = {shoulder} }}
        [[walls]]
        name = "bulb"
        material = "floor"
        cylinder = {{ base = [0, 0, {shoulder}], axis = [0, 0, 1], radius = {wide}, height = {} }}
        [[sinks]]
        name = "out"
        below = {{ point = [0, 0, {}], normal = [0, 0, 1] }}
        [[measure]]
        name = "flow"
        flow = {{ point = [0, 0, {}], normal = [0, 0, -1] }}
        every = "50 ms"
        [[measure]]
        name = "bed"
        count = {{ box = {{ min = [{}, {}, 0], max = [{side}, {side}, 10] }} }}
        every = "50 ms"
        "#,
        bulb.neck,
        height - shoulder + 4.0 * D,
        -12.0 * D,
        -2.0 * D,
        -side,
        -side,
    );
    // Between the neck's height and the shoulder the cone cuts the filling.
    let fill =
        format!("fill = {{ cylinder = {{ base = [0, 0, 0], axis = [0, 0, 1], radius = {wide}, height = {height} }} }}");
    let mut rig = rig(&(head + &continuum(ANGLE, &fill) + &walls), bench)?;
    let bulk = super::DENSITY * super::PACKING;
    loop {
        rig.step()?;
        let bed = rig.rows("bed");
        if bed.last().is_some_and(|r| bulb.level(r[2] / bulk) < 1.5 * opening) || rig.world.time() > 60.0 {
            break;
        }
    }
    let rows = rig.rows("flow").iter().zip(rig.rows("bed"));
    Ok(rows.map(|(f, b)| [f[0], bulb.level(b[2] / bulk), f[4]]).collect())
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut series, mut means, mut change) = (Vec::new(), Vec::new(), 0.0f64);
    for particles in OPENINGS {
        let opening = particles * D;
        let seen = empty(bench, opening)?;
        let highest = seen.first().map_or(f64::NAN, |s| s[1]);
        // The first tenth goes by until the flow has formed.
        let top = (0.9 * highest).min(6.0 * opening);
        let window: Vec<[f64; 3]> = seen.iter().filter(|s| s[1] < top && s[1] > 1.5 * opening).copied().collect();
        let rates: Vec<[f64; 2]> = window.iter().map(|s| [s[0], s[2]]).collect();
        let Some(fit) = line(&rates).filter(|_| rates.len() > 4) else {
            return Err(CaseError::Unmeasured("the hourglass did not run".into()));
        };
        let mean = rates.iter().map(|r| r[1]).sum::<f64>() / rates.len() as f64;
        let span = rates[rates.len() - 1][0] - rates[0][0];
        let here = (fit.slope.value * span / mean).abs();
        change = change.max(here);
        let unit = super::DENSITY * super::PACKING * G.sqrt() * opening.powf(2.5);
        found.remarks.push(format!(
            "opening of {particles} particles: mean rate {:.3} ρ √g D^(5/2), change {here:.3}, levels from {:.1} openings",
            mean / unit,
            top / opening
        ));
        series.push(Series::line(
            format!("{particles} d"),
            window.iter().map(|s| [s[1] / opening, s[2] / unit]).collect(),
        ));
        means.push(mean);
    }
    found.found("steady", change);
    found.found("width", (means[1] / means[0]).ln() / (OPENINGS[1] / OPENINGS[0]).ln());
    found.plots.push(Plot {
        title: "Rate of an hourglass against its level".into(),
        x: Axis::linear("level over the opening"),
        y: Axis::linear("rate over ρ √g D^(5/2)"),
        series,
    });
    Ok(found)
}
