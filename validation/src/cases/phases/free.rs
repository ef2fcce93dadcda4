//! Sand in phases in free flight.

use super::{G, H, THICK, flip, head, parcels, phases, rig, sand};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "phases-free",
    title: "Sand in phases falls freely, and leaves a ceiling at once",
    group: Group::Phases,
    about: "A block of 6 cells falls without touching anything, and one that hangs under a ceiling is let go. Both fall with g t; in neither is there \
            any pressure.",
    source: "closed form",
    criteria: &[
        Criterion::new("falls", "largest deviation of a speed from g t, over it", "", Below(1e-11), "0"),
        Criterion::new("leaves", "under a ceiling: the same", "", Below(1e-11), "0"),
        Criterion::new("pressure", "largest pressure, over the weight of a cell", "", Below(0.0), "0"),
    ],
    run,
};

fn fall(bench: &Bench, ceiling: bool) -> Result<[f64; 2], CaseError> {
    let top = 40.0;
    let mut text = head(0.0, [0.0, 0.0, -4.0], [16.0, 16.0, top + 4.0], "", 0.5);
    text += &sand(30.0, H, [[4.0, 4.0, top - 6.0], [4.0 + THICK, 4.0 + THICK, top]]);
    if ceiling {
        text += &format!(
            "\n[[walls]]\nname = \"ceiling\"\nmaterial = \"wall\"\nplane = {{ point = [0, 0, {}], normal = [0, 0, -1] }}\n",
            top * H
        );
    }
    let mut rig = rig(&(text + &phases(false, "")), bench)?;
    let (mut off, mut pressure) = (0f64, 0f64);
    while rig.world.time() < 0.2 {
        rig.step()?;
        let (p, speed) = (parcels(&rig), G * rig.world.time());
        off = p.velocity.iter().fold(off, |m, v| m.max((*v + glam::DVec3::Z * speed).length() / speed));
        let of = p.extra("pressure");
        let least = of.map_or(f64::NAN, |e| (0..p.len()).map(|i| e.values.number(i)).fold(0.0, f64::max));
        pressure = pressure.max(least / (flip(&rig)?.settings().bulk() * G * H));
    }
    Ok([off, pressure])
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let [free, hung] = [fall(bench, false)?, fall(bench, true)?];
    found.found("falls", free[0]);
    found.found("leaves", hung[0]);
    found.found("pressure", free[1].max(hung[1]));
    Ok(found)
}
