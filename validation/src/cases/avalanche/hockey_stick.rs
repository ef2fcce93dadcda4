//! The comparison of avalanche programs on an idealised path.

use super::{G, snow};
use crate::{Accept::Between, Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_engine::observers::Thalweg;
use barchan_engine::runout::{self, Maps};
use barchan_io::plot::{Axis, Plot, Series};
use barchan_io::raster::Raster;
use glam::DVec2;

pub const CASE: Case = Case {
    name: "avalanche-hockey-stick",
    title: "The hockey stick of ISeeSnow",
    group: Group::Avalanche,
    about: "75,000 m³ of snow, 1.5 m thick, are let go at the top of a channelled slope of 34° that bends onto a plain, by Voellmy's law (μ 0.4, ξ 2,000 m/s²) and by \
            Coulomb's (μ 0.4). Thirteen programs have computed this. Run-out is counted from the top of the release to the last cell with a peak speed above 1 m/s.",
    source: "Wirbel et al. 2026 (ISeeSnow), 12 and 13 programs: medians, and from the tenth to the ninetieth per cent",
    criteria: &[
        Criterion::new("voellmy-runout", "Voellmy: run-out", "m", Between(2215.0, 2355.0), "2285 (2280 to 2295)"),
        Criterion::new("voellmy-alpha", "Voellmy: α", "°", Between(32.0, 33.6), "32.75"),
        Criterion::new("voellmy-most", "Voellmy: largest speed", "m/s", Between(33.0, 43.0), "37.9"),
        Criterion::new(
            "voellmy-400",
            "Voellmy: largest speed across the path at s = 400 m",
            "m/s",
            Near(26.1, 0.12),
            "26.1",
        ),
        Criterion::new("voellmy-1000", "the same at 1000 m", "m/s", Near(37.0, 0.12), "37.0"),
        Criterion::new("voellmy-1500", "the same at 1500 m", "m/s", Near(37.3, 0.12), "37.3"),
        Criterion::new("voellmy-2000", "the same at 2000 m", "m/s", Near(32.0, 0.12), "32.0"),
        Criterion::new(
            "voellmy-thick-600",
            "Voellmy: largest thickness across the path at s = 600 m",
            "m",
            Near(3.4, 0.35),
            "3.4",
        ),
        Criterion::new("voellmy-thick-1000", "the same at 1000 m", "m", Near(3.6, 0.35), "3.6"),
        Criterion::new("voellmy-thick-1500", "the same at 1500 m", "m", Near(3.0, 0.35), "3.0"),
        Criterion::new(
            "voellmy-area",
            "Voellmy: area with a peak speed above 1 m/s",
            "ha",
            Between(18.0, 30.0),
            "23 (20 to 25)",
        ),
        Criterion::new("coulomb-runout", "Coulomb: run-out", "m", Between(2950.0, 3410.0), "3195 (3010 to 3390)"),
        Criterion::new("coulomb-alpha", "Coulomb: α", "°", Between(23.3, 26.5), "24.7"),
        Criterion::new("coulomb-most", "Coulomb: largest speed", "m/s", Between(90.0, 115.0), "103"),
        Criterion::new(
            "coulomb-area",
            "Coulomb: area with a peak speed above 1 m/s",
            "ha",
            Between(36.0, 60.0),
            "46 (38 to 56)",
        ),
    ],
    run,
};

fn scene(drag: &str, grains: u64, duration: f64) -> String {
    format!(
        r#"
        duration = {duration}
        gravity = [0, 0, -{G}]
        [domain]
        min = [-2.5, -752.5, -20]
        max = [5002.5, 752.5, 2000]
        outside = "remove"
        {}
        [ground]
        cell = 5
        floor = 0
        rock = {{ model = {{ kind = "hockey-stick", channel = true }} }}
        drag = {drag}
        [[grains]]
        material = "snow"
        release = {{ polygon = [[47, -69.9], [343.5, -69.9], [343.5, 69.9], [47, 69.9]], thickness = 1.5, grains = {grains}, density = 200 }}
        [[measure]]
        every = 1
        maps = {{ points = [[20, 0], [4900, 0]] }}
        "#,
        snow(333.3, "8 MPa", 0.4, 0.1),
    )
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let (grains, laws) = bench.size.pick((26_000, 1), (50_000, 2), (100_000, 2));
    let mut found = Findings::default();
    found.set_up("grains", grains.to_string());
    let mut series = Vec::new();
    let all = [("voellmy", "{ law = \"voellmy\", mu = 0.4, xi = 2000 }", 110.0), ("coulomb", "{ mu = 0.4 }", 100.0)];
    for (name, drag, duration) in all.into_iter().take(laws) {
        let mut rig = Rig::new(&scene(drag, grains, duration), bench)?;
        rig.run_to(duration)?;
        let rasters = rig.world.measurements()[0].observer.rasters("case");
        let of = |what: &str| -> Result<Raster, CaseError> {
            let found = rasters.iter().find(|(file, _)| file.trim_end_matches(".asc").ends_with(what));
            found.map(|r| r.1.clone()).ok_or_else(|| CaseError::Unmeasured(format!("no raster {what}")))
        };
        let maps = Maps {
            dem: of("dem")?,
            speed: of("pfv")?,
            thickness: of("pft")?,
            pressure: of("ppr")?,
            release: of("release")?,
        };
        let line = Thalweg::new([DVec2::new(20.0, 0.0), DVec2::new(4900.0, 0.0)])
            .ok_or_else(|| CaseError::Unmeasured("no line".into()))?;
        let lost = |e: runout::RunOutError| CaseError::Unmeasured(e.to_string());
        let r = runout::run_out(&maps, &maps.speed, 1.0, &line).map_err(lost)?;
        let p = runout::profile(&maps, &line).map_err(lost)?;
        let at = |values: &[f64], s: f64| values[(s / 5.0) as usize];
        let area = 1e-4 * r.area;
        if name == "voellmy" {
            found.found("voellmy-runout", r.length);
            found.found("voellmy-alpha", r.alpha);
            found.found("voellmy-most", r.most[0]);
            found.found("voellmy-400", at(&p.speed, 400.0));
            found.found("voellmy-1000", at(&p.speed, 1000.0));
            found.found("voellmy-1500", at(&p.speed, 1500.0));
            found.found("voellmy-2000", at(&p.speed, 2000.0));
            found.found("voellmy-thick-600", at(&p.thickness, 600.0));
            found.found("voellmy-thick-1000", at(&p.thickness, 1000.0));
            found.found("voellmy-thick-1500", at(&p.thickness, 1500.0));
            found.found("voellmy-area", area);
        } else {
            found.found("coulomb-runout", r.length);
            found.found("coulomb-alpha", r.alpha);
            found.found("coulomb-most", r.most[0]);
            found.found("coulomb-area", area);
        }
        found.set_up(format!("steps, {name}"), rig.world.steps().to_string());
        series.push(Series::line(name, p.s.iter().zip(&p.speed).map(|(s, v)| [*s, *v]).collect()));
    }
    series.push(Series::rings(
        "median of 12 programs, Voellmy",
        vec![[400.0, 26.1], [1000.0, 37.0], [1500.0, 37.3], [2000.0, 32.0]],
    ));
    series.push(Series::rings(
        "median of 13 programs, Coulomb",
        vec![[400.0, 45.3], [1000.0, 72.8], [1500.0, 87.7], [2000.0, 100.0]],
    ));
    found.plots.push(Plot {
        title: "Largest speed across the path".into(),
        x: Axis::linear("s [m]"),
        y: Axis::linear("speed [m/s]"),
        series,
    });
    Ok(found)
}
