//! Packings of LAMMPS: data files of `atom_style sphere` (section Atoms: id, type, diameter, density, x, y, z; section Velocities: id, velocity,
//! angular velocity), and text dumps whose columns are named (`ITEM: ATOMS id type x y z radius vx …`), of which the last snapshot is read.
//! Cells that are tilted, and other styles of atoms, are refused. [LAMMPS documentation: read_data, dump custom]

use super::{Gathered, What, Wrong};
use barchan_core::packed::Packed;
use glam::DVec3;
use std::collections::HashMap;

/// Sections of a data file that end another one.
const SECTIONS: [&str; 12] = [
    "Atoms",
    "Velocities",
    "Masses",
    "Bonds",
    "Angles",
    "Dihedrals",
    "Impropers",
    "Ellipsoids",
    "Lines",
    "Triangles",
    "Bodies",
    "PairIJ",
];

/// Reads a data file.
pub(super) fn data(text: &str) -> Result<Packed, Wrong> {
    let mut section = String::new();
    let mut gathered = Gathered::default();
    let mut moving: HashMap<u32, [DVec3; 2]> = HashMap::new();
    let columns = [
        (What::Id, 1.0),
        (What::Type, 1.0),
        (What::Diameter, 1.0),
        (What::Density, 1.0),
        (What::Place(0), 1.0),
        (What::Place(1), 1.0),
        (What::Place(2), 1.0),
    ];
    // The first line is a title, whatever it says.
    for (n, line) in text.lines().enumerate().map(|(n, l)| (n + 1, l)).skip(1) {
        let (line, comment) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if let Some(name) = SECTIONS.iter().find(|s| words[0] == **s) {
            let style = comment.trim();
            if *name == "Atoms" && !style.is_empty() && style != "sphere" {
                return Err((n, format!("atoms are of the style `{style}`: write them with `atom_style sphere`")));
            }
            section = (*name).to_owned();
            continue;
        }
        match section.as_str() {
            "" if words.contains(&"xy") => {
                let tilts = words.iter().take(3).filter_map(|w| w.parse::<f64>().ok());
                if tilts.into_iter().any(|t| t != 0.0) {
                    return Err((n, "the cell is tilted: barchan's domains are boxes".into()));
                }
            }
            "Atoms" if words.len() == 7 || words.len() == 10 => {
                gathered.row(&words, &columns).map_err(|what| (n, what))?;
            }
            "Atoms" => {
                let what = format!(
                    "{} columns, and atoms of the style sphere have 7 (id, type, diameter, density, x, y, z), or 10 with images",
                    words.len()
                );
                return Err((n, what));
            }
            "Velocities" => {
                let numbers: Vec<f64> = words[1..].iter().filter_map(|w| w.parse().ok()).collect();
                let (Ok(id), &[vx, vy, vz, wx, wy, wz]) = (words[0].parse(), &numbers[..]) else {
                    return Err((
                        n,
                        "velocities of the style sphere have 7 columns: id, velocity, angular velocity".into(),
                    ));
                };
                moving.insert(id, [DVec3::new(vx, vy, vz), DVec3::new(wx, wy, wz)]);
            }
            _ => {}
        }
    }
    let mut packed = gathered.finish();
    if packed.is_empty() {
        return Err((0, "there is no section Atoms with grains in it".into()));
    }
    if !moving.is_empty() {
        let of = |id: &u32| moving.get(id).copied().unwrap_or_default();
        packed.velocity = packed.id.iter().map(|id| of(id)[0]).collect();
        packed.spin = packed.id.iter().map(|id| of(id)[1]).collect();
    }
    Ok(packed)
}

fn meaning(name: &str) -> What {
    match name {
        "id" => What::Id,
        "type" => What::Type,
        "x" | "xu" => What::Place(0),
        "y" | "yu" => What::Place(1),
        "z" | "zu" => What::Place(2),
        "radius" => What::Radius,
        "diameter" => What::Diameter,
        "density" => What::Density,
        "vx" => What::Velocity(0),
        "vy" => What::Velocity(1),
        "vz" => What::Velocity(2),
        "omegax" => What::Spin(0),
        "omegay" => What::Spin(1),
        "omegaz" => What::Spin(2),
        _ => What::Other,
    }
}

/// Reads the last snapshot of a dump.
pub(super) fn dump(text: &str) -> Result<Packed, Wrong> {
    let mut last: Option<Gathered> = None;
    let mut columns: Vec<(What, f64)> = Vec::new();
    let (mut inside, mut left) = (false, 0_usize);
    let mut counts = false;
    for (n, line) in text.lines().enumerate().map(|(n, l)| (n + 1, l.trim())) {
        if let Some(item) = line.strip_prefix("ITEM:").map(str::trim) {
            (inside, counts) = (false, item == "NUMBER OF ATOMS");
            if item.starts_with("BOX BOUNDS") && item.contains("xy") {
                return Err((n, "the cell is tilted: barchan's domains are boxes".into()));
            }
            if let Some(names) = item.strip_prefix("ATOMS") {
                columns = names.split_whitespace().map(|name| (meaning(name), 1.0)).collect();
                for (k, name) in ["x", "y", "z"].into_iter().enumerate() {
                    if !columns.iter().any(|c| c.0 == What::Place(k)) {
                        return Err((
                            n,
                            format!(
                                "no column `{name}` (scaled coordinates are not read): dump `id type x y z radius vx vy vz …`"
                            ),
                        ));
                    }
                }
                last = Some(Gathered::default());
                inside = true;
            }
        } else if counts {
            left = line.parse().map_err(|_| (n, "this is no number of atoms".to_owned()))?;
        } else if inside && !line.is_empty() {
            let Some(gathered) = &mut last else { continue };
            let words: Vec<&str> = line.split_whitespace().collect();
            gathered.row(&words, &columns).map_err(|what| (n, what))?;
        }
    }
    let packed = last.ok_or((0, "there is no snapshot with `ITEM: ATOMS` in it".to_owned()))?.finish();
    match packed.len() == left {
        true => Ok(packed),
        false => Err((0, format!("the last snapshot has {} of {left} atoms: the file is cut short", packed.len()))),
    }
}
