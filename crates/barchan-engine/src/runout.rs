//! What maps of an avalanche say of it: run-out, angles, profiles, and how two of them differ.
//!
//! Run-out is counted horizontally along a line down the path, from the top of the release to the last cell whose peak is above a threshold. α is the angle
//! between those two points. β is that of the point where the line first stays below 10°; the statistical model gives α = 1.05 β − 3130 z″ − 2.38° with the
//! second derivative z″ of a parabola through the path, with a standard deviation of 1.25° [Lied and Bakkehøi 1980, with AvaFrame's coefficients].

use crate::observers::Thalweg;
use barchan_io::raster::Raster;
use glam::DVec2;

/// Slope of the point that β is of, and the length over which the line must stay below it [m].
const BETA_SLOPE: f64 = 10.0;
const BETA_OVER: f64 = 30.0;

/// What is known of a run: rasters on one grid.
#[derive(Clone, Debug)]
pub struct Maps {
    /// Heights [m].
    pub dem: Raster,
    /// Peak speed [m/s].
    pub speed: Raster,
    /// Peak thickness [m].
    pub thickness: Raster,
    /// Peak pressure [kPa].
    pub pressure: Raster,
    /// Thickness at the start [m].
    pub release: Raster,
}

/// Values in strips across a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Middle of each strip along the line [m].
    pub s: Vec<f64>,
    /// Height of the line [m].
    pub z: Vec<f64>,
    /// Largest speed [m/s], thickness [m] and pressure [kPa] of each strip.
    pub speed: Vec<f64>,
    /// See `speed`.
    pub thickness: Vec<f64>,
    /// See `speed`.
    pub pressure: Vec<f64>,
    /// Means over the cells that were reached, in the same order.
    pub mean: [Vec<f64>; 3],
    /// Width that was reached [m].
    pub width: Vec<f64>,
}

/// How far an avalanche went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunOut {
    /// Where along the line the release begins and the run-out ends [m].
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Horizontal distance between them [m], and height [m].
    pub length: f64,
    /// See `length`.
    pub drop: f64,
    /// Angle between them [°].
    pub alpha: f64,
    /// Angle of the point where the line stays below 10° [°]; NaN where it does not.
    pub beta: f64,
    /// What the statistical model expects of α [°]; NaN without β.
    pub alpha_expected: f64,
    /// Area whose peak is above the threshold [m²].
    pub area: f64,
    /// Largest peaks: speed [m/s], thickness [m], pressure [kPa].
    pub most: [f64; 3],
}

/// How two avalanches differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Areas [m²] that both reached, that only the first did, and that only the second did.
    pub both: f64,
    /// See `both`.
    pub only_first: f64,
    /// See `both`.
    pub only_second: f64,
    /// Largest value of the first less that of the second.
    pub most: f64,
    /// Run-out of the first less that of the second [m].
    pub run_out: f64,
}

/// Why maps say nothing.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RunOutError {
    /// Rasters of two grids.
    #[error(
        "the two rasters lie on different grids: {first} and {second}; resample one, for example with `gdalwarp -tr`"
    )]
    Grids {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// A line beside the map.
    #[error(
        "the line leaves the map at ({:.1}, {:.1}): is it in the coordinates of another map? Shorten or project it", .0.x, .0.y
    )]
    OffMap(DVec2),
    /// A line that does not lead down.
    #[error("the line leads uphill: its last point is {0:.1} m above its first; turn it round")]
    Uphill(f64),
    /// Nothing has been released along the line.
    #[error("no snow lay along the line at the start")]
    NoRelease,
    /// Nothing has moved.
    #[error("no cell has a peak above {0}: nothing has moved")]
    Still(f64),
}

/// Middle of a cell in the raster's map coordinates.
fn middle(raster: &Raster, cell: usize) -> DVec2 {
    let at = DVec2::new((cell % raster.size[0]) as f64, (cell / raster.size[0]) as f64) + 0.5;
    raster.place.corner() + at * raster.place.cell
}

/// Bilinear value at a place on the map; none beside the raster.
pub fn value_at(raster: &Raster, p: DVec2) -> Option<f64> {
    let [nx, ny] = raster.size;
    let at = (p - raster.place.corner()) / raster.place.cell;
    if !(at.cmpge(DVec2::ZERO).all() && at.x <= nx as f64 && at.y <= ny as f64) {
        return None;
    }
    let at = (at - 0.5).clamp(DVec2::ZERO, DVec2::new(nx as f64 - 1.0, ny as f64 - 1.0));
    let (x, y, u) = (at.x as usize, at.y as usize, at.fract());
    let value = |x: usize, y: usize| raster.values[x.min(nx - 1) + y.min(ny - 1) * nx];
    let row = |y: usize| value(x, y) * (1.0 - u.x) + value(x + 1, y) * u.x;
    Some(row(y) * (1.0 - u.y) + row(y + 1) * u.y)
}

/// Whether two rasters lie on one grid.
pub fn same_grid(a: &Raster, b: &Raster) -> Result<(), RunOutError> {
    let off = a.place.corner().distance(b.place.corner());
    if a.size == b.size && (a.place.cell - b.place.cell).abs() <= 1e-9 * a.place.cell && off <= 1e-6 * a.place.cell {
        return Ok(());
    }
    let words = |r: &Raster| {
        let corner = r.place.corner();
        format!("{} × {} cells of {} from ({}, {})", r.size[0], r.size[1], r.place.cell, corner.x, corner.y)
    };
    Err(RunOutError::Grids { first: words(a), second: words(b) })
}

/// Heights of a line every cell; an error where it leaves the map or leads uphill.
fn heights(dem: &Raster, line: &Thalweg) -> Result<Vec<f64>, RunOutError> {
    let step = dem.place.cell;
    let n = (line.length() / step) as usize;
    let z: Vec<f64> = (0..=n)
        .map(|k| {
            let p = line.at(k as f64 * step);
            value_at(dem, p).filter(|z| z.is_finite()).ok_or(RunOutError::OffMap(p))
        })
        .collect::<Result<_, _>>()?;
    match (z.first(), z.last()) {
        (Some(a), Some(b)) if b >= a => Err(RunOutError::Uphill(b - a)),
        _ => Ok(z),
    }
}

/// Profiles along a line, in strips as wide as a cell.
pub fn profile(maps: &Maps, line: &Thalweg) -> Result<Profile, RunOutError> {
    let (step, z) = (maps.dem.place.cell, heights(&maps.dem, line)?);
    let n = z.len();
    let none = || vec![0.0; n];
    let mut p = Profile {
        s: (0..n).map(|k| k as f64 * step).collect(),
        z,
        speed: none(),
        thickness: none(),
        pressure: none(),
        mean: [none(), none(), none()],
        width: none(),
    };
    let mut cells = vec![0.0; n];
    for cell in 0..maps.speed.values.len() {
        let [v, h, q] = [&maps.speed, &maps.thickness, &maps.pressure].map(|r| r.values[cell]);
        if h.is_nan() || h <= 0.0 {
            continue;
        }
        let s = line.project(middle(&maps.speed, cell))[0];
        let k = (s / step).round();
        if !(k >= 0.0 && k < n as f64) {
            continue;
        }
        let k = k as usize;
        (p.speed[k], p.thickness[k], p.pressure[k]) = (p.speed[k].max(v), p.thickness[k].max(h), p.pressure[k].max(q));
        for (mean, value) in p.mean.iter_mut().zip([v, h, q]) {
            mean[k] += value;
        }
        cells[k] += 1.0;
    }
    for k in (0..n).filter(|k| cells[*k] > 0.0) {
        p.mean.iter_mut().for_each(|m| m[k] /= cells[k]);
        p.width[k] = cells[k] * step;
    }
    Ok(p)
}

/// Run-out of an avalanche: the last cell whose peak of `field` is above a threshold, along a line.
pub fn run_out(maps: &Maps, field: &Raster, threshold: f64, line: &Thalweg) -> Result<RunOut, RunOutError> {
    same_grid(&maps.dem, field)?;
    let z = heights(&maps.dem, line)?;
    let unit = field.place.unit;
    let distances = |raster: &Raster, above: f64| -> Vec<f64> {
        let reached = raster.values.iter().enumerate().filter(|(_, v)| **v > above);
        reached.map(|(k, _)| line.project(middle(raster, k))[0]).collect()
    };
    let from = distances(&maps.release, 0.0).into_iter().fold(f64::INFINITY, f64::min);
    if !from.is_finite() {
        return Err(RunOutError::NoRelease);
    }
    let reached = distances(field, threshold);
    let to = reached.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !to.is_finite() {
        return Err(RunOutError::Still(threshold));
    }
    let step = maps.dem.place.cell;
    let height = |s: f64| {
        let at = (s / step).clamp(0.0, z.len() as f64 - 1.0);
        let (k, share) = (at as usize, at.fract());
        z[k] + (z[(k + 1).min(z.len() - 1)] - z[k]) * share
    };
    let (length, drop) = ((to - from) * unit, height(from) - height(to));
    let beta_at = beta(&z, step, from);
    let beta = beta_at
        .map_or(f64::NAN, |s| barchan_core::math::atan2(height(from) - height(s), (s - from) * unit).to_degrees());
    let bend = second_derivative(&z, step * unit, from * unit);
    let largest = |r: &Raster| r.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    Ok(RunOut {
        from: from * unit,
        to: to * unit,
        length,
        drop,
        alpha: barchan_core::math::atan2(drop, length).to_degrees(),
        beta,
        alpha_expected: 1.05 * beta - 3130.0 * bend - 2.38,
        area: reached.len() as f64 * (step * unit).powi(2),
        most: [&maps.speed, &maps.thickness, &maps.pressure].map(largest),
    })
}

/// Where a line first stays below the slope of β.
fn beta(z: &[f64], step: f64, from: f64) -> Option<f64> {
    let over = (BETA_OVER / step).ceil().max(1.0) as usize;
    let fall = step * barchan_core::math::tan(BETA_SLOPE.to_radians());
    let begin = (from / step).max(0.0) as usize;
    // It begins where it is steep.
    let steep = (begin..z.len().saturating_sub(1)).find(|k| z[*k] - z[k + 1] > fall)?;
    (steep..z.len().saturating_sub(over))
        .find(|k| (*k..k + over).all(|j| z[j] - z[j + 1] <= fall))
        .map(|k| k as f64 * step)
}

/// Second derivative of the parabola through a profile from some distance on, by least squares [1/m].
fn second_derivative(z: &[f64], step: f64, from: f64) -> f64 {
    let begin = ((from / step).max(0.0) as usize).min(z.len() - 1);
    let points: Vec<[f64; 2]> = (begin..z.len()).map(|k| [(k - begin) as f64 * step, z[k]]).collect();
    let n = points.len() as f64;
    let mean = points.iter().map(|p| p[0]).sum::<f64>() / n;
    // With x counted from its mean and Σx³ = 0 for even spacing, the quadratic part stands alone.
    let sums = points.iter().fold([0.0; 4], |[x2, x4, y, x2y], [x, y1]| {
        let x = (x - mean) * (x - mean);
        [x2 + x, x4 + x * x, y + y1, x2y + x * y1]
    });
    let [x2, x4, y, x2y] = sums;
    let both = n * x4 - x2 * x2;
    if both > 0.0 { 2.0 * (n * x2y - x2 * y) / both } else { f64::NAN }
}

/// Compares two peak fields on one grid, by areas above a threshold and by run-out along a line.
pub fn compare(first: &Raster, second: &Raster, threshold: f64, line: &Thalweg) -> Result<Difference, RunOutError> {
    same_grid(first, second)?;
    let cell = (first.place.cell * first.place.unit).powi(2);
    let [mut both, mut only_first, mut only_second] = [0.0; 3];
    let (mut far, mut most) = ([f64::NAN; 2], [0.0_f64; 2]);
    for k in 0..first.values.len() {
        let [a, b] = [first.values[k], second.values[k]];
        (most[0], most[1]) = (most[0].max(a), most[1].max(b));
        match (a > threshold, b > threshold) {
            (true, true) => both += cell,
            (true, false) => only_first += cell,
            (false, true) => only_second += cell,
            (false, false) => continue,
        }
        let s = line.project(middle(first, k))[0] * first.place.unit;
        for (far, value) in far.iter_mut().zip([a, b]) {
            if value > threshold {
                *far = far.max(s);
            }
        }
    }
    Ok(Difference { both, only_first, only_second, most: most[0] - most[1], run_out: far[0] - far[1] })
}

/// Outlines of what is above a threshold: rings of the cells' sides, in map coordinates; outer ones to the left, holes to the right.
pub fn outlines(raster: &Raster, threshold: f64) -> Vec<Vec<DVec2>> {
    let [nx, ny] = raster.size;
    let inside = |x: i64, y: i64| {
        x >= 0 && y >= 0 && x < nx as i64 && y < ny as i64 && raster.values[x as usize + y as usize * nx] > threshold
    };
    // Sides with the inside to their left, by where they begin. At a corner where two cells meet alone two sides begin.
    let mut sides: std::collections::BTreeMap<(i64, i64), Vec<(i64, i64)>> = std::collections::BTreeMap::new();
    for y in 0..ny as i64 {
        for x in 0..nx as i64 {
            if !inside(x, y) {
                continue;
            }
            let around = [
                ((x, y - 1), (x, y), (x + 1, y)),
                ((x + 1, y), (x + 1, y), (x + 1, y + 1)),
                ((x, y + 1), (x + 1, y + 1), (x, y + 1)),
                ((x - 1, y), (x, y + 1), (x, y)),
            ];
            for ((i, j), from, to) in around {
                if !inside(i, j) {
                    sides.entry(from).or_default().push(to);
                }
            }
        }
    }
    let place = |(x, y): (i64, i64)| raster.place.corner() + DVec2::new(x as f64, y as f64) * raster.place.cell;
    let mut rings = Vec::new();
    while let Some((&start, _)) = sides.iter().next() {
        let (mut ring, mut here, mut way) = (Vec::new(), start, (0, 0));
        while let Some(next) = sides.get_mut(&here) {
            // Where two sides begin the one that turns left keeps cells apart that touch at a corner.
            let turn = |to: &(i64, i64)| way.0 * (to.1 - here.1) - way.1 * (to.0 - here.0);
            let k = (0..next.len()).max_by_key(|k| turn(&next[*k])).unwrap_or(0);
            let to = next.swap_remove(k);
            if next.is_empty() {
                sides.remove(&here);
            }
            let step = (to.0 - here.0, to.1 - here.1);
            if step != way {
                ring.push(place(here));
            }
            (here, way) = (to, step);
            if here == start {
                break;
            }
        }
        rings.push(ring);
    }
    rings
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_io::raster::local;

    fn raster(size: [usize; 2], of: impl Fn(DVec2) -> f64) -> Raster {
        let mut r = Raster { size, place: local(DVec2::new(100.0, 50.0), 5.0), values: vec![0.0; size[0] * size[1]] };
        for k in 0..r.values.len() {
            r.values[k] = of(middle(&r, k) - DVec2::new(100.0, 50.0));
        }
        r
    }

    /// 45° down to x = 300 m and level beyond; snow at x 20 to 60 m, speeds above 1 m/s up to x = 400 m.
    fn maps() -> (Maps, Thalweg) {
        let size = [100, 20];
        let of = |f: &dyn Fn(DVec2) -> f64| raster(size, f);
        let inside = |p: DVec2, low: f64, high: f64| p.x > low && p.x < high && (p.y - 50.0).abs() < 20.0;
        let maps = Maps {
            dem: of(&|p| 1000.0 + (300.0 - p.x).max(0.0)),
            speed: of(&|p| if inside(p, 20.0, 400.0) { 30.0 - 0.05 * p.x } else { 0.0 }),
            thickness: of(&|p| if inside(p, 20.0, 400.0) { 2.0 } else { 0.0 }),
            pressure: of(&|p| if inside(p, 20.0, 400.0) { 100.0 } else { 0.0 }),
            release: of(&|p| if inside(p, 20.0, 60.0) { 1.5 } else { 0.0 }),
        };
        let line = Thalweg::new([DVec2::new(110.0, 100.0), DVec2::new(590.0, 100.0)]).unwrap();
        (maps, line)
    }

    #[test]
    fn a_run_out_is_counted_from_the_release_to_the_last_cell() {
        let (maps, line) = maps();
        let r = run_out(&maps, &maps.speed, 1.0, &line).unwrap();
        // Middles of the first and the last cell: x = 22.5 and 397.5 m, the line from x = 10 m.
        assert!((r.from - 12.5).abs() < 1e-9 && (r.length - 375.0).abs() < 1e-9);
        assert!((r.drop - 277.5).abs() < 2.6 && (r.alpha - (277.5_f64 / 375.0).atan().to_degrees()).abs() < 0.3);
        // Where the slope ends is known to a cell of 5 m in 277.
        assert!((r.beta - 45.0).abs() < 0.6, "{}", r.beta);
        assert!((r.area - 76.0 * 8.0 * 25.0).abs() < 1e-9 && r.most[2] == 100.0);
        let p = profile(&maps, &line).unwrap();
        assert!((p.width[20] - 40.0).abs() < 1e-9 && p.thickness[20] == 2.0 && p.mean[0][20] > 20.0);
    }

    #[test]
    fn lines_that_lead_nowhere_are_refused() {
        let (maps, line) = maps();
        let turned = Thalweg::new([line.at(480.0), line.at(0.0)]).unwrap();
        assert!(matches!(run_out(&maps, &maps.speed, 1.0, &turned), Err(RunOutError::Uphill(z)) if z > 280.0));
        let away = Thalweg::new([DVec2::ZERO, DVec2::ONE]).unwrap();
        assert!(matches!(run_out(&maps, &maps.speed, 1.0, &away), Err(RunOutError::OffMap(_))));
        assert!(matches!(run_out(&maps, &maps.speed, 99.0, &line), Err(RunOutError::Still(_))));
        let other = raster([99, 20], |_| 0.0);
        assert!(matches!(compare(&maps.speed, &other, 1.0, &line), Err(RunOutError::Grids { .. })));
    }

    #[test]
    fn areas_that_both_one_and_the_other_reached_add_up() {
        let (maps, line) = maps();
        let mut shorter = maps.speed.clone();
        (0..shorter.values.len()).filter(|k| k % 100 >= 60).for_each(|k| shorter.values[k] = 0.0);
        let d = compare(&maps.speed, &shorter, 1.0, &line).unwrap();
        assert_eq!(d.only_second, 0.0);
        assert!((d.both + d.only_first - 76.0 * 8.0 * 25.0).abs() < 1e-9 && (d.run_out - 100.0).abs() < 1e-9);
    }

    #[test]
    fn an_outline_has_the_area_of_its_cells_and_keeps_corners_apart() {
        let shape = raster([6, 6], |p| {
            let (x, y) = ((p.x / 5.0) as usize, (p.y / 5.0) as usize);
            f64::from((x < 3 && y < 3 && !(x == 1 && y == 1)) || (x == 3 && y == 3))
        });
        let rings = outlines(&shape, 0.5);
        let area = |r: &Vec<DVec2>| (0..r.len()).map(|k| 0.5 * r[k].perp_dot(r[(k + 1) % r.len()])).sum::<f64>();
        assert_eq!(rings.len(), 3);
        assert!((rings.iter().map(area).sum::<f64>() - 9.0 * 25.0).abs() < 1e-9);
    }
}
