//! How many grains a scene asks for, and whether this machine can hold them: told before the first is placed, since an
//! allocation that fails ends the program without a word.

use super::Setup;
use crate::emit::{Emitter, Pace};
use barchan_core::recipe::Recipe;
use barchan_dem::BYTES_PER_SPHERE;
use barchan_scene::words::bytes;
use barchan_scene::{At, Fill, FillMethod, Outside, Parsed, Place, Problem};

/// Ids are 32 bits wide, the last one is kept free.
const MOST_GRAINS: f64 = 4.29e9;
/// Memory that placing a grain takes besides its spheres [bytes]: its row, its ball, its cell, and its room in a list
/// that doubles.
const BYTES_PER_GRAIN: f64 = 400.0;

/// Grains that a filling asks for; of a lattice without a number, its sites.
fn asked(fill: &Fill, recipe: &Recipe, unit_volume: f64) -> f64 {
    let volume = fill.region.to_core().volume();
    match (fill.count, fill.method, fill.fraction) {
        (Some(n), _, _) => n as f64,
        (None, FillMethod::Random, Some(fraction)) => fraction * volume / (unit_volume * recipe.sizes.mean_cube()),
        (None, ..) => {
            // A close-packed lattice of distance s has √2/s³ sites a volume.
            let distance = 2.0 * recipe.reach * recipe.sizes.max() * (1.0 + Fill::JITTER);
            2f64.sqrt() * volume / distance.powi(3)
        }
    }
}

/// Refuses a scene that this machine cannot hold.
pub(super) fn check(
    parsed: &Parsed,
    setup: &Setup,
    recipes: &[(usize, Recipe)],
    emitters: &[Emitter],
) -> Result<(), Vec<Problem>> {
    let scene = &parsed.scene;
    // (where, grains, spheres of a grain)
    let mut each: Vec<(String, f64, usize)> = Vec::new();
    for (i, recipe) in recipes {
        let grains = match &scene.grains[*i].place {
            Place::At(At::File(_)) => parsed.assets.packings.get(i).map_or(0, |p| p.grains.len()) as f64,
            Place::At(at) => at.len() as f64,
            Place::Release(_) => setup.areas.get(i).map_or(0.0, |a| a.count as f64),
            Place::Sheet { min, max, layers } => {
                let side = 2.0 * recipe.sizes.max();
                // Up to 60° of slope.
                2.0 * (*max - *min).element_product() / (side * side) * *layers as f64
            }
            Place::Trees { at, height } => at.len() as f64 * (height / (2.0 * recipe.sizes.max())).round().max(1.0),
            Place::Fill(fill) => asked(fill, recipe, setup.shapes[recipe.shape as usize].volume()),
        };
        each.push((format!("grains[{i}].fill"), grains, recipe.spheres));
    }
    let lossy = !scene.sinks.is_empty() || scene.domain.outside == Outside::Remove;
    for e in emitters {
        let grains = match e.pace {
            _ if !lossy => e.to_come(0.0, scene.duration) as f64,
            // What comes may go again; only a batch is there at once.
            Pace::Batches { batch, .. } => batch.unwrap_or(0).min(e.limit) as f64,
            Pace::Rate(_) | Pace::MassRate(_) => 0.0,
        };
        let population = e.recipe.population as usize;
        let path = match population.checked_sub(scene.grains.len()) {
            Some(n) => format!("emitters[{n}]"),
            None => format!("grains[{population}].fill"),
        };
        each.push((path, grains, e.recipe.spheres));
    }
    let grains: f64 = each.iter().map(|e| e.1).sum();
    let needed: f64 = each.iter().map(|e| e.1 * (BYTES_PER_GRAIN + BYTES_PER_SPHERE * e.2 as f64)).sum();
    let has = machine_memory();
    let too_much = has.is_some_and(|has| needed > has);
    if !too_much && grains <= MOST_GRAINS {
        return Ok(());
    }
    let path = each.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |e| &e.0);
    let so_many = if grains < 1e6 { format!("{grains:.0}") } else { format!("{grains:.2e}") };
    let message = match has.filter(|_| too_much) {
        Some(has) => {
            format!("{so_many} grains would need about {} of memory; this machine has {}", bytes(needed), bytes(has))
        }
        None => {
            format!("{so_many} grains are more than a run can number (4.29e9), and would need about {}", bytes(needed))
        }
    };
    let share = has.map_or(1.0, |has| has / needed).min(MOST_GRAINS / grains);
    let help = format!(
        "use at most {:.1e} grains: a lower count or rate, a smaller region, larger grains or a smaller --scale",
        grains * share
    );
    Err(vec![parsed.error_at(path, message, help)])
}

/// Memory of this machine, or of the part of it that this program may use [bytes]; none where the system does not tell.
pub(super) fn machine_memory() -> Option<f64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let total = line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0;
    // In a container the limit of its group counts; "max" is no number and no limit.
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|t| t.trim().parse::<f64>().ok());
    Some(limit.map_or(total, |l| l.min(total)))
}
