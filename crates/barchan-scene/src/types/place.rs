//! Places of grains that are given one by one: a list, a file, or a line.

use crate::check::Check;
use crate::keys;
use crate::keys::{Key, Rows, Scale, Schema, SchemaGenerator, Stated};
use crate::read::{Reader, Value};
use glam::DVec3;

/// Places that are given one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// Positions of the centres of mass [m].
    List(Vec<DVec3>),
    /// What a file holds.
    File(PackedFile),
    /// Along a line.
    Line(Line),
}

keys! {
    /// A packing from a file: places, and what else it holds of each grain.
    pub struct PackedFile(file) = "write `at = { file = \"packing.csv\" }`" {
        /// Path of the file, from the folder of the scene: CSV, PLY, VTK (`.vtp`), LAMMPS data or dump, or a `.barchan` that `barchan import` wrote.
        file: String [; help("add `file`: the path of a CSV, PLY, VTK, LAMMPS or .barchan file")],
        /// Metres of a unit of length of the file: 0.001 for one in millimetres.
        scale: f64 [NUMBER; grows_as(0, 1, 0), positive("the scale")] = 1.0,
        /// Where the file's origin comes to stand [m].
        shift: DVec3 [LENGTH; grows] = DVec3::ZERO,
        /// Names of the scene's materials for the types 1, 2, … of the file; left out: those that the file names, or that of the population.
        materials: Vec<String> [; help("write names of materials in the order of the file's types, such as [\"glass\", \"steel\"]")] = Vec::new(),
        /// Whether grains keep the ids that they have in the file.
        ids: bool = true,
    }
}

keys! {
    /// Grains at equal distances along a line.
    pub struct Line = "write `at = { from = [0, 0, 0.1], to = [0.1, 0, 0.1], count = 20 }`" {
        /// Place of the first grain [m].
        from: DVec3 [LENGTH; grows],
        /// Place of the last grain [m].
        to: DVec3 [LENGTH; grows],
        /// How many.
        count: u64 [; within(1.0, f64::INFINITY, "a `count` of {} grains is no population", "give at least 1")],
    }
}

impl At {
    /// The places that the scene itself gives; none where a file does.
    pub fn places(&self) -> Vec<DVec3> {
        match self {
            At::List(list) => list.clone(),
            At::File(_) => Vec::new(),
            At::Line(line) => {
                let steps = line.count.saturating_sub(1).max(1) as f64;
                (0..line.count).map(|k| line.from.lerp(line.to, k as f64 / steps)).collect()
            }
        }
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&PackedFile> {
        if let At::File(file) = self { Some(file) } else { None }
    }

    /// How many grains the scene itself places.
    pub fn len(&self) -> usize {
        match self {
            At::List(list) => list.len(),
            At::File(_) => 0,
            At::Line(line) => line.count as usize,
        }
    }

    /// Whether the scene itself places none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Stated for At {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        if !value.is_table() && !value.is_text() {
            return At::List(Stated::read(cx, value, key));
        }
        // A table with a line's keys is one; any other is told what a file needs.
        let plain = value.plain();
        let of_line = |table: &toml::Table| ["from", "to", "count"].iter().any(|k| table.contains_key(*k));
        match plain.as_table().is_some_and(of_line) {
            true => At::Line(Stated::read(cx, value, key)),
            false => At::File(Stated::read(cx, value, key)),
        }
    }

    fn unknown() -> Self {
        At::List(Vec::new())
    }

    fn write(&self) -> Option<toml::Value> {
        match self {
            At::List(list) => list.write(),
            At::File(file) => file.write(),
            At::Line(line) => line.write(),
        }
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        let list = <Vec<DVec3> as Stated>::schema(generator, key);
        let inner = Key::new("", "");
        let file = keys::either(
            <PackedFile as Stated>::schema(generator, &inner),
            <Line as Stated>::schema(generator, &inner),
        );
        keys::described(keys::either(list, file), key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        match self {
            At::List(list) => list.grow(scale, key),
            At::File(file) => file.grow(scale, key),
            At::Line(line) => line.grow(scale, key),
        }
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        match self {
            At::List(list) => list.check(c, path, key),
            At::File(file) => file.check(c, path, key),
            At::Line(line) => line.check(c, path, key),
        }
    }

    fn rows(rows: &mut Rows) {
        <PackedFile as Stated>::rows(rows);
        <Line as Stated>::rows(rows);
    }

    fn kind(key: &Key) -> String {
        format!("{}, or table", <Vec<DVec3> as Stated>::kind(key))
    }
}
