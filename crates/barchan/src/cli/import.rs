//! `barchan import`.

use super::Failure;
use super::say::{many, say};
use barchan::core::packed::Packed;
use barchan::io::packing;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct ImportArgs {
    /// The packing: CSV, PLY, VTK (.vtp), LAMMPS data (atom_style sphere) or dump
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The packing as barchan keeps it; left out: FILE with the ending .barchan
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Metres of a unit of length of the file: 0.001 for one in millimetres
    #[arg(long, value_name = "X", value_parser = super::factor, allow_hyphen_values = true)]
    unit: Option<f64>,
    /// Say nothing unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn import(args: ImportArgs) -> Result<(), Failure> {
    let failed = |e: packing::PackingError| Failure::Failed(e.to_string());
    let mut packed = packing::read(&args.file).map_err(failed)?.sorted();
    if let Some(unit) = args.unit {
        packed.position.iter_mut().for_each(|x| *x *= unit);
        packed.radius.iter_mut().for_each(|r| *r *= unit);
        packed.velocity.iter_mut().for_each(|v| *v *= unit);
    }
    let output = args.output.unwrap_or_else(|| args.file.with_extension("barchan"));
    if output == args.file {
        return Err(Failure::Usage(format!("{} would be written over: name another file with -o", output.display())));
    }
    packing::write(&output, &packed).map_err(failed)?;
    if !args.quiet {
        say!("{}", about(&packed));
        say!("{}: use it in a scene by `at = {{ file = \"…\" }}`", output.display());
    }
    Ok(())
}

/// What a packing holds, in two lines.
fn about(p: &Packed) -> String {
    let low = p.position.iter().copied().reduce(|a, b| a.min(b)).unwrap_or_default();
    let high = p.position.iter().copied().reduce(|a, b| a.max(b)).unwrap_or_default();
    let ends = |of: &[f64]| of.iter().fold([f64::INFINITY, 0.0_f64], |[a, b], x| [a.min(*x), b.max(*x)]);
    let mut has = Vec::new();
    match ends(&p.radius) {
        _ if p.radius.is_empty() => has.push("no radii: the scene gives them".to_owned()),
        [a, b] if a == b => has.push(format!("radius {a:.4e} m")),
        [a, b] => has.push(format!("radii {a:.4e} to {b:.4e} m")),
    }
    for (name, rows) in [("velocities", p.velocity.len()), ("spins", p.spin.len()), ("ids", p.id.len())] {
        if rows > 0 {
            has.push(name.to_owned());
        }
    }
    if !p.material.is_empty() {
        has.push(format!("materials {}", p.materials.join(", ")));
    }
    if !p.density.is_empty() {
        let [a, b] = ends(&p.density);
        has.push(format!("density {a} to {b} kg/m³ (the scene's material decides)"));
    }
    format!(
        "{}, from ({:.4}, {:.4}, {:.4}) to ({:.4}, {:.4}, {:.4}) m\n{}",
        many(p.len() as u64, "grain"),
        low.x,
        low.y,
        low.z,
        high.x,
        high.y,
        high.z,
        has.join(", ")
    )
}
