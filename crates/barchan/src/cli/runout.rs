//! `barchan runout`: how far an avalanche went, and how that compares with another.

use super::Failure;
use super::say::say;
use barchan::engine::observers::Thalweg;
use barchan::engine::runout::{self, Maps, Profile, RunOut};
use barchan::io::plot::{Axis, Plot, Series};
use barchan::io::raster::Raster;
use barchan::io::{atomic, terrain, vector};
use clap::Args;
use glam::DVec2;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct RunoutArgs {
    /// Folder of a run with `[[measure]] maps`, or of its rasters
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Line down the path: a shapefile or a GeoJSON; left out: that of the run
    #[arg(long, value_name = "FILE")]
    line: Option<PathBuf>,
    /// Compare with the peak speeds of another run or program: a raster on the same grid
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Count what was faster than this at its peak [m/s]
    #[arg(long, value_name = "M/S", default_value = "1", value_parser = above_zero)]
    speed: f64,
    /// Count what pressed harder than this at its peak [kPa], instead of speed
    #[arg(long, value_name = "KPA", value_parser = above_zero, conflicts_with = "against")]
    pressure: Option<f64>,
    /// Print numbers as JSON
    #[arg(long)]
    json: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    let help = "give a number above 0";
    super::positive(text.trim().parse().map_err(|_| help)?, help)
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

/// The folder with the rasters of a run: itself, or one in it.
pub fn maps_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let has = |f: &Path| ["asc", "tif"].iter().any(|e| f.join(format!("dem.{e}")).is_file());
    if has(folder) {
        return Ok(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).map_err(|e| failed(format_args!("{}: {e}", folder.display())))?;
    let mut inside: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| has(p)).collect();
    inside.sort();
    inside.into_iter().next().ok_or_else(|| {
        failed(format_args!("{} has no maps: add `[[measure]] maps = {{}}` to the scene and run it", folder.display()))
    })
}

/// A raster of a file.
pub fn raster(path: &Path) -> Result<Raster, Failure> {
    let read = terrain::read(path).map_err(failed)?;
    Raster::of(read).ok_or_else(|| failed(format_args!("{} counts in degrees: project it", path.display())))
}

/// The rasters in a folder.
pub fn maps(folder: &Path) -> Result<Maps, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| failed(format_args!("{}: {e}", folder.display())))?;
    let mut names: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    names.sort();
    let of = |what: &str| {
        let endings = [format!("{what}.asc"), format!("{what}.tif")];
        let found = names
            .iter()
            .find(|p| p.file_name().is_some_and(|n| endings.iter().any(|e| n.to_string_lossy().ends_with(e))));
        raster(found.ok_or_else(|| failed(format_args!("{} has no raster {what}", folder.display())))?)
    };
    let maps = Maps {
        dem: of("dem")?,
        speed: of("_pfv")?,
        thickness: of("_pft")?,
        pressure: of("_ppr")?,
        release: of("_release")?,
    };
    for other in [&maps.speed, &maps.thickness, &maps.pressure, &maps.release] {
        runout::same_grid(&maps.dem, other).map_err(failed)?;
    }
    Ok(maps)
}

/// The line of a file, or that of a run.
pub fn line(folder: &Path, given: Option<&Path>) -> Result<Thalweg, Failure> {
    let points = match given {
        Some(path) => {
            let read = vector::read(path).map_err(failed)?;
            if read.degrees {
                return Err(failed(format_args!(
                    "{} has coordinates in degrees: project it to the map",
                    path.display()
                )));
            }
            read.line().map_err(failed)?
        }
        None => {
            let path = folder.join("thalweg.csv");
            let text = std::fs::read_to_string(&path).map_err(|_| {
                failed("the run has no line down the path: give one, `--line thalweg.shp`, or `line` in the scene's `maps`")
            })?;
            let point = |row: &str| {
                let mut numbers = row.split(',').skip(1).map_while(|w| w.trim().parse().ok());
                Some(DVec2::new(numbers.next()?, numbers.next()?))
            };
            text.lines().skip(1).filter_map(point).collect()
        }
    };
    Thalweg::new(points).ok_or_else(|| failed("the line has fewer than two points"))
}

pub fn runout(args: RunoutArgs) -> Result<(), Failure> {
    let folder = maps_folder(&args.folder)?;
    let (maps, line) = (maps(&folder)?, line(&folder, args.line.as_deref())?);
    let (field, threshold, unit) = match args.pressure {
        Some(kpa) => (&maps.pressure, kpa, "kPa"),
        None => (&maps.speed, args.speed, "m/s"),
    };
    let found = runout::run_out(&maps, field, threshold, &line).map_err(failed)?;
    let profile = runout::profile(&maps, &line).map_err(failed)?;
    let other = args.against.as_deref().map(raster).transpose()?;
    let difference = other.map(|o| runout::compare(field, &o, threshold, &line)).transpose().map_err(failed)?;
    let put = |name: &str, text: String| atomic::write(&folder.join(name), text.as_bytes()).map_err(failed);
    put("profile.csv", csv(&profile))?;
    put("profile.svg", plot(&profile, &found).svg())?;
    let rings = runout::outlines(field, threshold);
    put("outline.geojson", vector::to_geojson(&rings, &[("threshold", threshold), ("area_m2", found.area)]))?;
    if let Some(front) = front(&folder) {
        put("thalweg-time.svg", front.svg())?;
    }
    if args.json {
        let mut rows = vec![
            ("runout_m", found.length),
            ("drop_m", found.drop),
            ("alpha_deg", found.alpha),
            ("beta_deg", found.beta),
            ("alpha_expected_deg", found.alpha_expected),
            ("from_m", found.from),
            ("to_m", found.to),
            ("area_m2", found.area),
            ("largest_speed_m_s", found.most[0]),
            ("largest_thickness_m", found.most[1]),
            ("largest_pressure_kpa", found.most[2]),
        ];
        if let Some(d) = difference {
            rows.extend([
                ("both_m2", d.both),
                ("only_here_m2", d.only_first),
                ("only_there_m2", d.only_second),
                ("runout_difference_m", d.run_out),
                ("largest_difference", d.most),
            ]);
        }
        let number = |x: f64| if x.is_finite() { x.to_string() } else { "null".into() };
        let rows: Vec<String> = rows.into_iter().map(|(k, v)| format!("  \"{k}\": {}", number(v))).collect();
        say!("{{\n{}\n}}", rows.join(",\n"));
        return Ok(());
    }
    say!(
        "run-out          {:.0} m, counted horizontally along the line from s = {:.0} m to s = {:.0} m",
        found.length,
        found.from,
        found.to
    );
    say!("                 (the last cell above {threshold} {unit}); it fell {:.0} m", found.drop);
    say!("α                {:.2}°", found.alpha);
    if found.beta.is_finite() {
        say!(
            "β                {:.2}°; the statistical model expects α = {:.2}° ± 1.25°",
            found.beta,
            found.alpha_expected
        );
    }
    say!("area             {:.2} ha above {threshold} {unit}", 1e-4 * found.area);
    say!("largest          {:.1} m/s, {:.2} m, {:.1} kPa", found.most[0], found.most[1], found.most[2]);
    if let Some(d) = difference {
        let total = d.both + d.only_second;
        let share = |x: f64| if total > 0.0 { 100.0 * x / total } else { f64::NAN };
        say!("against the other");
        say!("  both           {:.2} ha ({:.0} % of the other's)", 1e-4 * d.both, share(d.both));
        say!("  only here      {:.2} ha ({:.0} %)", 1e-4 * d.only_first, share(d.only_first));
        say!("  only there     {:.2} ha ({:.0} %)", 1e-4 * d.only_second, share(d.only_second));
        say!("  run-out        {:+.0} m; largest {:+.1} {unit}", d.run_out, d.most);
    }
    say!("{}: profile.csv, profile.svg, outline.geojson", folder.display());
    Ok(())
}

fn csv(p: &Profile) -> String {
    let mut text = String::from(
        "s_m,z_m,speed_max_m_s,thickness_max_m,pressure_max_kpa,speed_mean_m_s,thickness_mean_m,pressure_mean_kpa,width_m\n",
    );
    for k in 0..p.s.len() {
        let [v, h, q] = [0, 1, 2].map(|n| p.mean[n][k]);
        let (s, z, width) = (p.s[k], p.z[k], p.width[k]);
        text += &format!("{s},{z},{},{},{},{v},{h},{q},{width}\n", p.speed[k], p.thickness[k], p.pressure[k]);
    }
    text
}

/// The line, the energy line of the largest speeds above it, and the angle α.
fn plot(p: &Profile, found: &RunOut) -> Plot {
    let ground: Vec<[f64; 2]> = p.s.iter().zip(&p.z).map(|(s, z)| [*s, *z]).collect();
    let energy =
        (0..p.s.len()).filter(|k| p.speed[*k] > 0.0).map(|k| [p.s[k], p.z[k] + p.speed[k].powi(2) / (2.0 * 9.81)]);
    let at = |s: f64| ground.iter().min_by(|a, b| (a[0] - s).abs().total_cmp(&(b[0] - s).abs())).copied();
    let alpha: Vec<[f64; 2]> = [at(found.from), at(found.to)].into_iter().flatten().collect();
    Plot {
        title: format!("Run-out {:.0} m, α {:.1}°", found.length, found.alpha),
        x: Axis::linear("distance along the line [m]"),
        y: Axis::linear("height [m]"),
        series: vec![
            Series::line("ground", ground),
            Series::line("energy of the largest speed, z + v²/2g", energy.collect()),
            Series::dashes("α", alpha),
        ],
    }
}

/// Front against time, from the table of the maps.
fn front(folder: &Path) -> Option<Plot> {
    let text = std::fs::read_to_string(folder.with_extension("csv")).ok()?;
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let head: Vec<&str> = lines.next()?.split(',').map(|w| w.trim().trim_matches('"')).collect();
    let column = |name: &str| head.iter().position(|h| h.starts_with(name));
    let (time, front, centre) = (column("time")?, column("front")?, column("centre_s")?);
    let rows: Vec<Vec<f64>> =
        lines.map(|l| l.split(',').map(|w| w.trim().parse().unwrap_or(f64::NAN)).collect()).collect();
    let of = |k: usize| {
        let points = rows.iter().filter_map(|r| Some([*r.get(time)?, *r.get(k)?]));
        points.filter(|p| p[1].is_finite()).collect()
    };
    Some(Plot {
        title: "Front and centre of mass against time".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("distance along the line [m]"),
        series: vec![Series::line("front", of(front)), Series::dashes("centre of mass", of(centre))],
    })
}
