//! Steady flow down an endless rough slope.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig, fit};
use barchan_engine::observers::PROFILE_FIELDS;
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;
use std::f64::consts::PI;

/// Mean diameter [m].
const D: f64 = 3e-3;
const GRAVITY: f64 = 9.81;
/// Angles of the slope for which a steady flow is asked [degrees], one after another from the steepest; one that must stop it; one
/// that must not hold it.
const STEADY: [f64; 4] = [26.0, 24.5, 23.0, 21.5];
const STOPS: f64 = 17.0;
const RUNS_AWAY: f64 = 35.0;
/// Spheres of the base stand 1.2 d apart.
const SPACING: f64 = 1.2;
/// Jop, Forterre and Pouliquen 2006, glass beads: μs, μ2, I0.
const JOP: [f64; 3] = [0.3819, 0.6435, 0.279];

pub const CASE: Case = Case {
    name: "chute",
    title: "Flow down a rough slope",
    group: Group::Beyond,
    about: "A layer of spheres (μ 0.5, e 0.88, ± 20 % in size so that it does not order) flows down a slope covered with spheres of \
            its own size; both directions of the slope are periodic. The slope is lowered from 26° in steps, then to 17°, then raised \
            to 35°. In between flow must be steady, with Bagnold's profile u ∝ h^3/2 − (h − z)^3/2 and one inertial number over the \
            depth; below it must stop, above it must run away. Friction against inertial number follows \
            μs + (μ2 − μs)/(1 + I0/I). The constants of glass beads were measured over a base of glued beads and with other \
            grains: they are a guide, not a fit, and so are 10 %. Profiles leave out two diameters at the base and at the surface.",
    source: "Silbert et al. 2001, Phys. Rev. E 64, 051302; GDR MiDi 2004; Jop, Forterre and Pouliquen 2006, Nature 441, 727",
    criteria: &[
        Criterion {
            key: "drift",
            what: "change of speed from the first to the second half of the measurement, the largest of four angles",
            unit: "",
            accept: Accept::Below(0.08),
            reference: "steady between about 20° and 28° (Silbert)",
        },
        Criterion {
            key: "stopped",
            what: "speed over √(g d) that remains at 17°",
            unit: "",
            accept: Accept::Below(0.01),
            reference: "stops below about 20° (Silbert)",
        },
        Criterion {
            key: "runaway",
            what: "acceleration over g at 35°, when it flows",
            unit: "",
            accept: Accept::Above(0.02),
            reference: "no steady flow above about 28° (Silbert)",
        },
        Criterion {
            key: "bagnold",
            what: "exponent p of u = u_s − B (h − z)^p, mean of the angles of 24° and more",
            unit: "",
            accept: Accept::Near(1.5, 0.2),
            reference: "3/2",
        },
        Criterion {
            key: "uniform",
            what: "spread of the inertial number over the depth (standard deviation over mean), mean of the same",
            unit: "",
            accept: Accept::Below(0.15),
            reference: "0: one inertial number",
        },
        Criterion {
            key: "static",
            what: "μs of the fit",
            unit: "",
            accept: Accept::Near(JOP[0], 0.1),
            reference: "tan 20.9° = 0.382 (Jop)",
        },
        Criterion {
            key: "friction",
            what: "μ at I = 0.1",
            unit: "",
            accept: Accept::Near(0.451, 0.1),
            reference: "0.451 (Jop)",
        },
    ],
    run,
};

/// μ(I) of Jop et al. with μs, μ2, I0.
fn law(inertial: f64, [low, high, middle]: &[f64; 3]) -> f64 {
    low + (high - low) / (1.0 + middle / inertial)
}

/// The layer at one angle: bins between base and surface that count, and the speeds in time.
struct Flow {
    angle: f64,
    /// Height of the surface above the base's plane [m].
    height: f64,
    /// Height of the bin's middle [m], velocity down the slope [m/s], inertial number, friction.
    bins: Vec<[f64; 4]>,
    drift: f64,
    /// All bins: height [m] and velocity [m/s].
    velocity: Vec<[f64; 2]>,
}

/// The slope under way.
struct Chute {
    rig: Rig,
    bins: usize,
    width: f64,
    /// √(d/g) [s].
    moment: f64,
    now: f64,
}

impl Chute {
    fn new(bench: &Bench) -> Result<Chute, CaseError> {
        let (columns, rows, layers) = bench.size.pick((10.0, 8.0, 10.0), (12.0, 10.0, 18.0), (17.0, 10.0, 40.0));
        let (x, y) = (columns * SPACING * D, rows * 0.75f64.sqrt() * SPACING * D);
        let grains = (x * y * layers * D * 0.58 / (PI / 6.0 * D.powi(3))) as u64;
        let moment = (D / GRAVITY).sqrt();
        let bins = (layers * 1.4) as usize;
        let rig = Rig::new(
            &format!(
                r#"
                duration = {0}
                gravity = [{1}, 0, {2}]
                [domain]
                min = [0, 0, {3}]
                max = [{x}, {y}, {4}]
                periodic = ["x", "y"]
                [integrator]
                dt = 2e-5
                max_overlap = 0.2
                [materials.bead]
                density = 2500
                young = "10 MPa"
                restitution = 0.88
                friction = 0.5
                [[grains]]
                material = "bead"
                radius = {{ uniform = [{5}, {6}] }}
                velocity = [0.3, 0, 0]
                fill = {{ box = {{ min = [0, 0, {7}], max = [{x}, {y}, {8}] }}, count = {grains} }}
                [[walls]]
                material = "bead"
                plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
                rough = {{ radius = {9}, spacing = {10} }}
                [[measure]]
                profile = {{ box = {{ min = [0, 0, 0], max = [{x}, {y}, {11}] }}, bins = {bins} }}
                every = {12}
                "#,
                1e4 * moment,
                GRAVITY * STEADY[0].to_radians().sin(),
                -GRAVITY * STEADY[0].to_radians().cos(),
                -D,
                6.0 * layers * D,
                0.4 * D,
                0.6 * D,
                D,
                3.0 * layers * D,
                0.5 * D,
                SPACING * D,
                bins as f64 * D,
                4.0 * moment,
            ),
            bench,
        )?;
        Ok(Chute { rig, bins, width: D, moment, now: 0.0 })
    }

    /// Goes on at an angle [degrees] for a time in units of √(d/g).
    fn go(&mut self, angle: f64, time: f64) -> Result<&[Vec<f64>], CaseError> {
        let (sin, cos) = angle.to_radians().sin_cos();
        self.rig.world.set_gravity(GRAVITY * DVec3::new(sin, 0.0, -cos));
        let before = self.rig.rows("profile").len();
        self.now += time * self.moment;
        self.rig.run_to(self.now)?;
        Ok(&self.rig.rows("profile")[before..])
    }

    /// Mean velocity down the slope [m/s] of a row.
    fn speed(&self, row: &[f64]) -> f64 {
        let parts = (0..self.bins).filter(|b| row[1 + b] > 0.0).map(|b| (row[1 + b], row[1 + self.bins + b]));
        let (mass, momentum) = parts.fold((0.0, 0.0), |(m, p), (f, u)| (m + f, p + f * u));
        momentum / mass
    }

    /// Goes to a steady state at an angle and averages it.
    fn steady(&mut self, angle: f64, settle: f64, measure: f64) -> Result<Flow, CaseError> {
        self.go(angle, settle)?;
        let rows = self.go(angle, measure)?.to_vec();
        let field = |name: &str, bin: usize| {
            let k = PROFILE_FIELDS.iter().position(|f| f.0 == name).unwrap_or(0);
            rows.iter().map(|r| r[1 + k * self.bins + bin]).sum::<f64>() / rows.len() as f64
        };
        // The surface is where the layer has half the density of its middle.
        let inside = field("volume fraction", self.bins / 3);
        let top = (0..self.bins).rev().find(|&b| field("volume fraction", b) > 0.5 * inside).unwrap_or(0);
        let [f, g] = [top, (top + 1).min(self.bins - 1)].map(|b| field("volume fraction", b));
        let height = (top as f64 + 0.5 + ((f - 0.5 * inside) / (f - g)).clamp(0.0, 1.0)) * self.width;
        let at = |b: usize| (b as f64 + 0.5) * self.width;
        let counted = (0..self.bins).filter(|&b| at(b) > 2.4 * D && at(b) < height - 2.0 * D);
        let bins = counted.map(|b| [at(b), field("velocity x", b), field("inertial number", b), field("friction", b)]);
        let speeds: Vec<f64> = rows.iter().map(|r| self.speed(r)).collect();
        let mean = |s: &[f64]| s.iter().sum::<f64>() / s.len() as f64;
        let (first, second) = speeds.split_at(speeds.len() / 2);
        Ok(Flow {
            angle,
            height,
            bins: bins.collect(),
            drift: (mean(second) / mean(first) - 1.0).abs(),
            velocity: (0..=top).map(|b| [at(b), field("velocity x", b)]).collect(),
        })
    }
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut chute = Chute::new(bench)?;
    let (first, settle, measure) = bench.size.pick((70.0, 70.0, 40.0), (250.0, 150.0, 150.0), (1500.0, 800.0, 800.0));
    let mut flows = Vec::new();
    for angle in STEADY {
        let settle = if flows.is_empty() { first } else { settle };
        flows.push(chute.steady(angle, settle, measure)?);
    }
    let overlap = chute.rig.world.gauge("largest overlap").unwrap_or(0.0);
    let row = chute.go(STOPS, 0.5 * settle)?.last().cloned().unwrap_or_default();
    let unit = (GRAVITY * D).sqrt();
    let mut found = Findings::default();
    found.found("stopped", chute.speed(&row).abs() / unit);
    let rows = chute.go(RUNS_AWAY, 24.0)?.to_vec();
    let late = &rows[rows.len() / 2..];
    let away = fit::line(&late.iter().map(|r| [r[0], chute.speed(r)]).collect::<Vec<_>>());
    found.found("runaway", away.map_or(f64::NAN, |l| l.slope.value / GRAVITY));
    found.found("drift", flows.iter().map(|f| f.drift).fold(0.0, f64::max));

    let steep: Vec<&Flow> = flows.iter().filter(|f| f.angle >= 24.0).collect();
    let mean = |of: &dyn Fn(&Flow) -> f64| steep.iter().map(|f| of(f)).sum::<f64>() / steep.len() as f64;
    found.found("bagnold", mean(&exponent));
    found.found("uniform", mean(&spread));
    let average = |f: &Flow, k: usize| f.bins.iter().map(|b| b[k]).sum::<f64>() / f.bins.len() as f64;
    let points: Vec<[f64; 2]> = flows.iter().map(|f| [average(f, 2), average(f, 3)]).collect();
    let fitted = fit::curve(&points, &[], JOP, law);
    found.found("static", fitted.as_ref().map_or(f64::NAN, |c| c.values()[0]));
    found.found("friction", fitted.as_ref().map_or(f64::NAN, |c| law(0.1, &c.values())));

    found.set_up("grains", chute.rig.world.pieces().to_string());
    found.set_up("depth of the layer", format!("{:.1} d", flows[0].height / D));
    found.set_up("Young's modulus", format!("10 MPa: the largest overlap is {:.1} % of a radius", 100.0 * overlap));
    found.set_up("time at each angle", format!("{settle} √(d/g) to settle, {measure} measured"));
    found.set_up("steps", chute.rig.world.steps().to_string());
    for f in &flows {
        found.remarks.push(format!(
            "{}°: h {:.1} d, I {:.4} ± {:.0} % over the depth, τ/P {:.4}, drift {:.1} %, exponent {:.2}.",
            f.angle,
            f.height / D,
            average(f, 2),
            100.0 * spread(f),
            average(f, 3),
            100.0 * f.drift,
            exponent(f)
        ));
    }
    if let Some(c) = &fitted {
        let [low, high, middle] = c.values();
        found.remarks.push(format!(
            "Fit of four points: μs {low:.3}, μ2 {high:.3}, I0 {middle:.3}; the last two are poorly known from so short a range of I."
        ));
    }
    found.plots.push(profiles(&flows));
    found.plots.push(Plot {
        title: "Friction against the inertial number".into(),
        x: Axis::linear("inertial number I"),
        y: Axis::linear("friction τ/P"),
        series: vec![
            Series::dots("barchan", points),
            Series::dashes(
                "Jop, Forterre and Pouliquen 2006, glass",
                (1..=60).map(|k| k as f64 / 150.0).map(|i| [i, law(i, &JOP)]).collect(),
            ),
        ],
    });
    Ok(found)
}

/// p of u = u_s − B (h − z)^p.
fn exponent(f: &Flow) -> f64 {
    let points: Vec<[f64; 2]> = f.bins.iter().map(|b| [(f.height - b[0]) / D, b[1]]).collect();
    let top = points.last().map_or(0.0, |p| p[1]);
    let guess = [1.1 * top, top / (f.height / D).powf(1.5), 1.5];
    fit::curve(&points, &[], guess, |x, p| p[0] - p[1] * x.powf(p[2])).map_or(f64::NAN, |c| c.values()[2])
}

/// Standard deviation of the inertial number over the depth, over its mean.
fn spread(f: &Flow) -> f64 {
    let n = f.bins.len() as f64;
    let mean = f.bins.iter().map(|b| b[2]).sum::<f64>() / n;
    (f.bins.iter().map(|b| (b[2] - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt() / mean
}

/// Velocities over the depth, with Bagnold's profile through each: a line in h^3/2 − (h − z)^3/2.
fn profiles(flows: &[Flow]) -> Plot {
    let unit = (GRAVITY * D).sqrt();
    let mut series = Vec::new();
    for f in flows {
        let bagnold = |z: f64| f.height.powf(1.5) - (f.height - z).max(0.0).powf(1.5);
        series
            .push(Series::dots(format!("{}°", f.angle), f.velocity.iter().map(|p| [p[0] / D, p[1] / unit]).collect()));
        let points: Vec<[f64; 2]> = f.bins.iter().map(|b| [bagnold(b[0]), b[1]]).collect();
        if let Some(l) = fit::line(&points) {
            let curve = (0..=40).map(|k| f.height * k as f64 / 40.0);
            let curve = curve.map(|z| [z / D, (l.intercept.value + l.slope.value * bagnold(z)) / unit]);
            series.push(Series::dashes(format!("Bagnold, {}°", f.angle), curve.collect()));
        }
    }
    let (x, y) = (Axis::linear("height over d"), Axis::linear("velocity over √(g d)"));
    Plot { title: "Velocity over the depth".into(), x, y, series }
}
