//! Outputs and measurements.

use super::{Keys, Reader, Value, grains};
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec3;

pub(super) fn output(cx: &mut Reader, value: Value, duration: f64) -> Output {
    let default = Output::for_duration(duration);
    let mut keys = value.table(cx, "write `every = \"0.02 s\"` under `[output]`");
    let output = Output {
        every: keys.quantity_or(cx, "every", Q::TIME, default.every),
        formats: keys.choices(cx, "formats", Format::NAMES).unwrap_or(default.formats),
        checkpoint: keys.quantity_opt(cx, "checkpoint", Q::TIME),
    };
    keys.finish(cx);
    output
}

pub(super) fn measure(cx: &mut Reader, value: Value, every: f64) -> Measure {
    let mut keys = value.table(cx, "write each measurement under its own `[[measure]]`");
    let help = "say what to measure: `energy = {}`, `coordination = {}`, `flow = { point, normal }`, `count = { box = … }`, \
                `repose = { point }`, `wall_forces = {}`, `bodies = {}`, `force_histogram = {}`, `force_network = {}`, \
                `force_correlation = {}`, `contact_angles = {}`, `packing = { box = … }`, `profile = { box = …, bins }` or \
                `fields = { box = …, cells }`";
    let kinds = &[
        "energy",
        "coordination",
        "flow",
        "count",
        "repose",
        "wall_forces",
        "bodies",
        "ground",
        "force_histogram",
        "packing",
        "profile",
        "fields",
        "force_network",
        "force_correlation",
        "contact_angles",
    ];
    let measure = Measure {
        name: keys.text_or(cx, "name", ""),
        what: match keys.one_of(cx, kinds, help) {
            Some((key, v)) => what(cx, key, v),
            None => What::Energy {},
        },
        every: keys.quantity_or(cx, "every", Q::TIME, every),
    };
    keys.finish(cx);
    measure
}

fn what(cx: &mut Reader, key: &str, value: Value) -> What {
    if key == "count" {
        return What::Count(grains::counted(cx, value));
    }
    let mut keys = value.table(cx, &format!("write `{key} = {{}}`"));
    let what = match key {
        "energy" => What::Energy {},
        "coordination" => What::Coordination {},
        "flow" => What::Flow {
            point: keys.vector(cx, "point", Q::LENGTH),
            normal: keys.vector_or(cx, "normal", Q::NUMBER, -DVec3::Z),
        },
        "repose" => What::Repose {
            point: keys.vector(cx, "point", Q::LENGTH),
            along: keys.get(cx, "along").map(|v| v.vector(cx, Q::NUMBER)),
            flank: keys.get(cx, "flank").map_or(What::FLANK, |v| {
                let help = "write the lower and the upper end, such as [0.2, 0.8]";
                let ends = v.list(cx, Some(2), help).unwrap_or_default();
                let ends: Vec<f64> = ends.iter().map(|v| v.quantity(cx, Q::NUMBER)).collect();
                ends.try_into().unwrap_or(What::FLANK)
            }),
            column: keys.quantity_opt(cx, "column", Q::LENGTH),
            ceiling: keys.quantity_opt(cx, "ceiling", Q::LENGTH),
        },
        "wall_forces" => What::WallForces {},
        "bodies" => What::Bodies {},
        "ground" => What::Ground {},
        "packing" => What::Packing {
            region: grains::region(cx, &mut keys, "say where to measure: a `box`, `cylinder` or `sphere`"),
            rattlers_below: keys.count_opt(cx, "rattlers_below"),
        },
        "profile" => What::Profile {
            region: grains::region(cx, &mut keys, "say where to measure: `box = { min, max }`"),
            axis: keys.choice_or(cx, "axis", Axis::NAMES, Axis::Z),
            bins: keys.count_opt(cx, "bins").unwrap_or(What::PROFILE_BINS),
        },
        "fields" => What::Fields {
            region: grains::region(cx, &mut keys, "say where to measure: `box = { min, max }`"),
            cells: {
                let help = "write how many cells the box has along x, y and z, such as [20, 1, 30]";
                let counts = keys.need(cx, "cells", help).and_then(|v| v.list(cx, Some(3), help)).unwrap_or_default();
                let counts: Vec<u64> = counts.iter().filter_map(|v| v.count(cx)).collect();
                counts.try_into().unwrap_or([1; 3])
            },
        },
        "force_network" => What::ForceNetwork { within: within(cx, &mut keys), layer: layer(cx, &mut keys) },
        "force_correlation" => What::ForceCorrelation {
            bins: keys.count_opt(cx, "bins").unwrap_or(What::CORRELATION_BINS),
            reach: keys.quantity_or(cx, "reach", Q::NUMBER, What::REACH),
            within: within(cx, &mut keys),
            layer: layer(cx, &mut keys),
        },
        "contact_angles" => What::ContactAngles {
            bins: keys.count_opt(cx, "bins").unwrap_or(What::ANGLE_BINS),
            axis: keys.get(cx, "axis").map(|v| v.vector(cx, Q::NUMBER)),
            within: within(cx, &mut keys),
            layer: layer(cx, &mut keys),
        },
        _ => What::ForceHistogram {
            bins: keys.count_opt(cx, "bins").unwrap_or(What::BINS),
            max: keys.quantity_or(cx, "max", Q::NUMBER, What::MAX),
        },
    };
    keys.finish(cx);
    what
}

fn within(cx: &mut Reader, keys: &mut Keys) -> Option<Region> {
    keys.get(cx, "within").map(|v| grains::counted(cx, v))
}

fn layer(cx: &mut Reader, keys: &mut Keys) -> Option<f64> {
    keys.quantity_opt(cx, "layer", Q::LENGTH)
}

/// Gives measurements without a name their key, numbered from the second on.
pub(super) fn name_measures(list: &mut [Measure]) {
    for i in 0..list.len() {
        if list[i].name.is_empty() {
            let key = list[i].what.key();
            let taken = |name: &str| list.iter().any(|m| m.name == name);
            let mut name = key.to_owned();
            let mut n = 2;
            while taken(&name) {
                name = format!("{key} {n}");
                n += 1;
            }
            list[i].name = name;
        }
    }
}
