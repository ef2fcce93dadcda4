//! The account of sand in phases.

use super::{H, flip, head, phases, rig, sand};
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "phases-account",
    title: "No quantum of sand in phases is lost in conversions",
    group: Group::Phases,
    about: "A bed in a closed box freezes; a block is thrown into it and another lies beside it until 30,000 conversions (10⁶ at standard size) of all four \
            kinds have been made; the box is shaken by a plate that moves through the bed. Quanta are counted all the while.",
    source: "conservation of mass",
    criteria: &[
        Criterion::new("lost", "quanta lost or gained", "", Below(0.0), "0"),
        Criterion::new("conversions", "conversions made, over those asked for", "", Accept::Above(1.0), "1"),
        Criterion::new(
            "slipped",
            "momentum that conversions of liquid and gas changed, over what they moved",
            "",
            Below(1e-12),
            "0, to rounding",
        ),
        Criterion::new("kinds", "kinds of conversion that were seen", "", Accept::Above(4.0), "4"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let asked = bench.size.pick(30_000u64, 1_000_000, 1_000_000);
    let text = head(0.0, [-2.0, -2.0, -2.0], [34.0, 18.0, 60.0], "", 0.5)
        + &format!(
            r#"
        [[walls]]
        name = "box"
        material = "wall"
        box = {{ min = [0, 0, 0], max = [{}, {}, {}] }}
        [[walls]]
        name = "plate"
        material = "wall"
        box = {{ min = [{}, {}, {}], max = [{}, {}, {}], side = "outside" }}
        oscillate = {{ direction = [0, 0, 1], amplitude = {}, frequency = 2.5 }}
        "#,
            32.0 * H,
            16.0 * H,
            58.0 * H,
            22.0 * H,
            4.0 * H,
            7.0 * H,
            28.0 * H,
            12.0 * H,
            9.0 * H,
            5.0 * H,
        );
    let bed = sand(30.0, H, [[0.0; 3], [32.0, 16.0, 10.0]]);
    let block = sand(30.0, H, [[4.0, 4.0, 20.0], [12.0, 12.0, 28.0]]).replace("\"sand\"", "\"block\"")
        + "velocity = [1, 0, -3]\n";
    let mut rig = rig(&(text + &bed + &block + &phases(true, "solid = { cover = 2 }")), bench)?;
    let quanta = |rig: &crate::Rig| -> Result<u64, CaseError> { Ok(flip(rig)?.account().quanta.iter().sum()) };
    let (before, mut lost) = (quanta(&rig)?, 0u64);
    let most = bench.size.pick(6.0, 120.0, 120.0);
    loop {
        rig.step()?;
        lost = lost.max(before.abs_diff(quanta(&rig)?));
        let a = flip(&rig)?.account();
        let made = [a.frozen, a.thawed, a.evaporated, a.condensed];
        if made.iter().sum::<u64>() >= asked && made.iter().all(|n| *n > 0) || rig.world.time() > most {
            found.found("lost", lost as f64);
            found.found("conversions", made.iter().sum::<u64>() as f64 / asked as f64);
            found.found("slipped", a.slipped);
            found.found("kinds", made.iter().filter(|n| **n > 0).count() as f64);
            found.remarks.push(format!(
                "after {:.2} s: {} froze, {} thawed, {} evaporated, {} condensed",
                rig.world.time(),
                made[0],
                made[1],
                made[2],
                made[3]
            ));
            return Ok(found);
        }
    }
}
