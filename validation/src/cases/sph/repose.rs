//! What stays of a continuum beside a slot through which it has drained, a cone that was poured, and a box that is slowly tilted.

use super::{D, FLOOR, G, continuum, filled, flank, head, particles, rig, rms, slice, surface, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig, Size};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-repose",
    title: "Slopes of a continuum: beside a slot, of a poured cone, in a tilted box",
    group: Group::Continuum,
    about: "A bin whose floor ends in a slot drains; what stays has a flank. A cone is poured from a low height (standard size). A box of sand is tilted, by two \
            degrees a second at the quick size, until more than a layer slides. φ is 20°, 30° and 40°; the flanks are fitted over 20 to 80 % of their height.",
    source: "Coulomb friction: the slope at which a layer just flows. At rest the stress may turn, so that slopes up to asin(tan φ) can stand",
    criteria: &[
        Criterion::new("slot", "beside a slot: largest deviation of the flank from φ", "deg", Below(3.0), "0"),
        Criterion::new("cone", "poured cone, φ 30°: deviation of the mean flank from φ", "deg", Below(3.0), "0"),
        Criterion::new("round", "poured cone: largest deviation of a direction from the mean", "deg", Below(2.0), "0"),
        Criterion::new("early", "tilted box: how far below φ a layer slides, at most", "deg", Below(3.0), "0"),
        Criterion::new(
            "late",
            "tilted box: how far above asin(tan φ) it still stands, at most",
            "deg",
            Below(1.0),
            "0",
        ),
    ],
    run,
};

fn drained(bench: &Bench, angle: f64) -> Result<f64, CaseError> {
    let height = bench.size.pick(14.0, 28.0, 40.0) * D;
    let slot = 8.0 * D;
    // What stays reaches down to the floor at the slot's edge.
    let floor = 0.9 * height / angle.to_radians().tan();
    let length = floor + slot;
    let min = DVec3::new(-0.1, 0.0, -20.0 * D);
    let space = head(0.0, min, DVec3::new(length + 0.1, 4.0 * D, height + 5.0 * D), r#""y""#);
    let walls = format!(
        r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}
        [[walls]]
        name = "far"
        material = "floor"
        plane = {{ point = [{length}, 0, 0], normal = [-1, 0, 0] }}
        [[walls]]
        name = "floor"
        material = "floor"
        box = {{ min = [-0.1, -10, -0.2], max = [{floor}, 10, 0], side = "outside" }}
        rough = {{ radius = "8 mm", spacing = "20 mm" }}
        [[sinks]]
        name = "out"
        below = {{ point = [0, 0, {}], normal = [0, 0, 1] }}
        "#,
        -15.0 * D
    );
    let fill = filled([0.0; 3], [length, 4.0 * D, height]);
    let mut rig = rig(&(space + &continuum(angle, &fill) + &walls), bench)?;
    let end = 12.0 * (height / G).sqrt();
    while rig.world.time() < end {
        rig.step()?;
        if rig.world.time() > 0.5 * end && rms(&particles(&rig)) < 0.01 * unit() {
            break;
        }
    }
    let mut p = particles(&rig);
    p.position = p.position.iter().filter(|x| x.x < floor && x.z > 0.0).copied().collect();
    Ok(flank(&surface(&p, 1.5 * D), 0.2, 0.8))
}

/// Mean slope [°] of a poured cone, and the largest deviation from it over eight directions.
fn poured(bench: &Bench, angle: f64) -> Result<[f64; 2], CaseError> {
    let tan = angle.to_radians().tan();
    let height = bench.size.pick(9.0, 18.0, 25.0) * D;
    let reach = 1.4 * height / tan + 6.0 * D;
    let volume = std::f64::consts::PI / 3.0 * height.powi(3) / tan.powi(2);
    let mass = volume * super::DENSITY * super::PACKING;
    let (time, mouth, speed) = bench.size.pick((2.0, 4.0 * D, 0.6), (6.0, 5.0 * D, 1.0), (15.0, 5.0 * D, 1.0));
    let space = head(0.0, DVec3::new(-reach, -reach, -0.1), DVec3::new(reach, reach, height + 8.0 * D), "");
    let emitter = format!(
        r#"
        [[emitters]]
        name = "hopper"
        continuum = "sand"
        disc = {{ centre = [0, 0, {}], normal = [0, 0, -1], radius = {mouth} }}
        mass_rate = {}
        velocity = [0, 0, -{speed}]
        until = {time}
        "#,
        height + 4.0 * D,
        mass / time
    );
    let mut rig = rig(&(space + &continuum(angle, "") + FLOOR + &emitter), bench)?;
    rig.run_to(time + bench.size.pick(0.6, 1.5, 2.0))?;
    let p = particles(&rig);
    let turn = |x: &DVec3| ((x.y.atan2(x.x) + std::f64::consts::PI) / std::f64::consts::TAU * 8.0) as usize % 8;
    let each: Vec<f64> = (0..8)
        .map(|k| {
            let mut tops: Vec<f64> = Vec::new();
            for x in p.position.iter().filter(|x| turn(x) == k) {
                let ring = (x.x.hypot(x.y) / (1.5 * D)) as usize;
                tops.resize(tops.len().max(ring + 1), 0.0);
                tops[ring] = tops[ring].max(x.z + 0.5 * D);
            }
            let rings: Vec<[f64; 2]> = tops.iter().enumerate().map(|(n, z)| [(n as f64 + 0.5) * 1.5 * D, *z]).collect();
            flank(&rings, 0.2, 0.8)
        })
        .collect();
    let mean = each.iter().sum::<f64>() / 8.0;
    Ok([mean, each.iter().map(|a| (a - mean).abs()).fold(0.0, f64::max)])
}

/// The angle [°] at which sand in a slowly tilted box begins to slide.
fn tilted(bench: &Bench, angle: f64) -> Result<f64, CaseError> {
    // The lower end holds the sand up, the less the longer the box is.
    let (length, deep, rate) = (bench.size.pick(40.0, 120.0, 240.0) * D, 8.0 * D, bench.size.pick(2.0, 1.0, 0.5));
    let walls = format!(
        r#"
        [[walls]]
        name = "high"
        material = "floor"
        plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}
        [[walls]]
        name = "low"
        material = "floor"
        plane = {{ point = [{length}, 0, 0], normal = [-1, 0, 0] }}
        "#
    );
    let start = angle - 5.0;
    let fill = filled([0.0; 3], [length, 4.0 * D, deep]);
    let text = slice(start, length, 4.0 * deep, false) + &continuum(angle, &fill) + FLOOR + &walls;
    let mut rig = rig(&text, bench)?;
    rig.run_to(1.0)?;
    let limit = angle.to_radians().tan().min(1.0).asin().to_degrees() + 5.0;
    let mut tilt = start;
    while tilt < limit {
        tilt = start + rate * (rig.world.time() - 1.0);
        let (sin, cos) = tilt.to_radians().sin_cos();
        rig.world.set_gravity(DVec3::new(G * sin, 0.0, -G * cos));
        rig.step()?;
        if slides(&rig) {
            return Ok(tilt);
        }
    }
    Ok(limit)
}

/// Whether a tenth of the matter moves as if it had slid down by a spacing.
fn slides(rig: &Rig) -> bool {
    let p = particles(rig);
    let fast = p.velocity.iter().filter(|v| v.x > 0.2 * unit()).count();
    10 * fast > p.len()
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut off, mut early, mut late) = (0f64, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for angle in [20.0f64, 30.0, 40.0] {
        let slope = drained(bench, angle)?;
        off = off.max((slope - angle).abs());
        let start = tilted(bench, angle)?;
        early = early.max(angle - start);
        late = late.max(start - angle.to_radians().tan().asin().to_degrees());
        found
            .remarks
            .push(format!("φ {angle}°: beside the slot {slope:.1}°, the tilted box begins to slide at {start:.1}°"));
    }
    found.found("slot", off);
    found.found("early", early);
    found.found("late", late);
    // A cone of nine particles, as would be poured in seconds, is flattened by what falls on it.
    if bench.size != Size::Quick {
        let [mean, spread] = poured(bench, 30.0)?;
        found.found("cone", (mean - 30.0).abs());
        found.found("round", spread);
        found.remarks.push(format!("φ 30°: poured cone {mean:.1}°, directions within {spread:.1}°"));
    }
    Ok(found)
}
