//! A packing as a table of comma-, semicolon- or tab-separated values under a heading.
//!
//! Headings are `id`, `x`, `y`, `z`, `radius` (`r`) or `diameter` (`d`), `vx vy vz`, `wx wy wz` (`omegax …`), `material` or `type`,
//! `density`, in any order, with or without a unit in brackets (`x [mm]`); other columns are passed over. Lines that begin with `#` are
//! comments. A table of barchan's frames is of this form.

use super::{Gathered, What, Wrong};
use barchan_core::packed::Packed;

/// What a heading means, and the factor of its unit.
fn heading(text: &str) -> Result<(What, f64), String> {
    let text = text.trim().trim_matches('"');
    let (name, unit) = match text.split_once(['[', '(']) {
        Some((name, unit)) => (name.trim(), unit.trim_end_matches([']', ')']).trim()),
        None => (text, ""),
    };
    let what = match name.to_ascii_lowercase().replace([' ', '_', '.', ':'], "").as_str() {
        "id" => What::Id,
        "x" | "positionx" | "points0" | "px" => What::Place(0),
        "y" | "positiony" | "points1" | "py" => What::Place(1),
        "z" | "positionz" | "points2" | "pz" => What::Place(2),
        "r" | "radius" => What::Radius,
        "d" | "diameter" => What::Diameter,
        "vx" | "velocityx" | "velocity0" => What::Velocity(0),
        "vy" | "velocityy" | "velocity1" => What::Velocity(1),
        "vz" | "velocityz" | "velocity2" => What::Velocity(2),
        "wx" | "omegax" | "spinx" | "spin0" => What::Spin(0),
        "wy" | "omegay" | "spiny" | "spin1" => What::Spin(1),
        "wz" | "omegaz" | "spinz" | "spin2" => What::Spin(2),
        "material" => What::Material,
        "type" => What::Type,
        "density" => What::Density,
        _ => return Ok((What::Other, 1.0)),
    };
    let factor = match unit {
        "" | "m" | "m/s" | "rad/s" | "1/s" | "kg/m3" | "kg/m³" => 1.0,
        "mm" | "mm/s" => 1e-3,
        "cm" | "cm/s" => 1e-2,
        "um" | "µm" | "μm" => 1e-6,
        "g/cm3" | "g/cm³" => 1e3,
        other => return Err(format!("the unit `{other}` of `{name}` is not known: use m, mm, cm, m/s, rad/s, kg/m3")),
    };
    Ok((what, factor))
}

/// Reads a table.
pub(super) fn table(text: &str) -> Result<Packed, Wrong> {
    let lines = text.lines().enumerate().map(|(n, l)| (n + 1, l.trim()));
    let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    let (first, head) = lines.next().ok_or((0, "the file is empty".to_owned()))?;
    let mark = [',', ';', '\t'].into_iter().find(|c| head.contains(*c));
    let words = |line: &'_ str| -> Vec<String> {
        match mark {
            Some(c) => line.split(c).map(|w| w.trim().trim_matches('"').to_owned()).collect(),
            None => line.split_whitespace().map(str::to_owned).collect(),
        }
    };
    let columns =
        words(head).iter().map(|h| heading(h)).collect::<Result<Vec<_>, _>>().map_err(|what| (first, what))?;
    for (k, name) in ["x", "y", "z"].into_iter().enumerate() {
        if !columns.iter().any(|c| c.0 == What::Place(k)) {
            let what =
                format!("no column `{name}`: the first line names the columns, such as `id,x,y,z,radius,vx,vy,vz`");
            return Err((first, what));
        }
    }
    let named = columns.iter().filter(|c| matches!(c.0, What::Material)).count();
    let mut gathered = Gathered::default();
    // Where there are names, numbers of types say nothing more.
    let columns: Vec<_> =
        columns.into_iter().map(|c| if named > 0 && c.0 == What::Type { (What::Other, 1.0) } else { c }).collect();
    for (n, line) in lines {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        gathered.row(&words, &columns).map_err(|what| (n, what))?;
    }
    Ok(gathered.finish())
}
