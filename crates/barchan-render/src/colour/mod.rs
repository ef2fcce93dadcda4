//! The colour of a grain: what it is made of, or a number it has.

mod maps;
pub(crate) mod materials;

pub use maps::{Map, linear};
pub(crate) use materials::vary;
pub use materials::{reflectance, reflectances};

use barchan_core::frame::Frame;
use glam::Vec3;
use std::borrow::Cow;
use thiserror::Error;

/// What the colour of a grain says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColourBy {
    /// What it is made of.
    #[default]
    Material,
    /// Its radius [m].
    Size,
    /// Its speed [m/s].
    Speed,
    /// The sum of the normal forces on it [N].
    Force,
    /// How many others it touches.
    Coordination,
    /// Which one it is.
    Id,
    /// A column of the solver by name.
    Column(String),
}

/// Column of a frame that holds the force on a grain.
const FORCE: &str = "normal_force";
const COORDINATION: &str = "coordination";

impl ColourBy {
    /// Names that are always understood.
    pub const NAMES: &'static [&'static str] = &["material", "size", "speed", "force", "coordination", "id"];

    /// By its name; one that is not of [`ColourBy::NAMES`] is taken for a column, and looked for in the frame.
    pub fn named(name: &str) -> ColourBy {
        match name {
            "material" => ColourBy::Material,
            "size" => ColourBy::Size,
            "speed" => ColourBy::Speed,
            "force" => ColourBy::Force,
            "coordination" => ColourBy::Coordination,
            "id" => ColourBy::Id,
            other => ColourBy::Column(other.into()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            ColourBy::Material => "material",
            ColourBy::Size => "size",
            ColourBy::Speed => "speed",
            ColourBy::Force => "force",
            ColourBy::Coordination => "coordination",
            ColourBy::Id => "id",
            ColourBy::Column(name) => name,
        }
    }

    /// The numbers behind the colours; none where colours are names (material, id).
    pub fn values<'f>(&self, frame: &'f Frame<'_>) -> Result<Option<Values<'f>>, ColourError> {
        let own =
            |label: &'static str, unit, values: Vec<f32>| Values { label: label.into(), unit, values: values.into() };
        Ok(Some(match self {
            ColourBy::Material | ColourBy::Id => return Ok(None),
            ColourBy::Size => own("radius", "m", frame.radius.iter().map(|r| *r as f32).collect()),
            ColourBy::Speed => own("speed", "m/s", frame.velocity.iter().map(|v| v.length() as f32).collect()),
            ColourBy::Force => Values { label: "normal force".into(), ..self.column(frame, FORCE)? },
            ColourBy::Coordination => Values { label: "contacts".into(), ..self.column(frame, COORDINATION)? },
            ColourBy::Column(name) => self.column(frame, name)?,
        }))
    }

    fn column<'f>(&self, frame: &'f Frame<'_>, name: &str) -> Result<Values<'f>, ColourError> {
        let Some(extra) = frame.extras.iter().find(|e| e.name == name) else {
            let own = ColourBy::NAMES.iter().filter(|n| match **n {
                "force" => frame.extras.iter().any(|e| e.name == FORCE),
                COORDINATION => false,
                _ => true,
            });
            let known = own.copied().chain(frame.extras.iter().map(|e| e.name)).map(str::to_owned).collect();
            return Err(ColourError::Unknown { asked: self.name().into(), known });
        };
        Ok(Values { label: name.replace('_', " ").into(), unit: extra.unit, values: Cow::Borrowed(&extra.values) })
    }
}

/// One number a grain, with its name and unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Values<'f> {
    /// Name for a legend.
    pub label: Cow<'f, str>,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
    /// One value a grain.
    pub values: Cow<'f, [f32]>,
}

/// How numbers become colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colouring {
    /// What the colour says.
    pub by: ColourBy,
    /// The map for numbers.
    pub map: Map,
    /// Numbers at the two ends of the map, in SI; left out: those of the frame at hand (see [`robust_range`]).
    pub range: Option<[f32; 2]>,
}

/// Why grains could not be coloured.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ColourError {
    /// No such column.
    #[error("the frames have no column `{asked}` to colour by; there are: {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        asked: String,
        /// What can be.
        known: Vec<String>,
    },
}

impl Colouring {
    /// Reflectances of all grains, linear RGB. `materials` are those of the scene by index; `variation` is how much grains of
    /// a material differ, 1 as sand does, 0 not at all.
    pub fn colours(&self, frame: &Frame<'_>, materials: &[Vec3], variation: f32) -> Result<Vec<Vec3>, ColourError> {
        let Some(values) = self.by.values(frame)? else {
            let ids = frame.id.iter();
            return Ok(match self.by {
                ColourBy::Id => ids.map(|id| materials::of_id(*id)).collect(),
                _ => {
                    let plain = Vec3::splat(0.5);
                    let base = |m: &u16| materials.get(usize::from(*m)).copied().unwrap_or(plain);
                    ids.zip(frame.material.iter()).map(|(id, m)| materials::vary(base(m), *id, variation)).collect()
                }
            });
        };
        let [low, high] = self.range.unwrap_or_else(|| robust_range(&mut values.values.to_vec(), &self.by));
        let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
        Ok(values.values.iter().map(|v| self.map.linear((v - low) * scale) * materials::UNDER_THE_SUN).collect())
    }
}

/// The range that shows most of the values well: from the 1st to the 98th percentile, so that one wild grain does not
/// darken all others, down to 0 where that is near; of sizes the whole range, because rare sizes matter. Values that are
/// not finite are left out; the order of `values` is changed.
pub fn robust_range(values: &mut Vec<f32>, by: &ColourBy) -> [f32; 2] {
    values.retain(|v| v.is_finite());
    if values.is_empty() {
        return [0.0, 1.0];
    }
    values.sort_unstable_by(f32::total_cmp);
    let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    if *by == ColourBy::Size {
        let (low, high) = (at(0.0), at(1.0));
        // Nearly equal grains should not span the whole map.
        let pad = (0.1 * high - (high - low)).max(0.0) / 2.0;
        return [low - pad, high + pad];
    }
    let (low, high) = (at(0.01), at(0.98));
    let low = if low >= 0.0 && low <= 0.3 * high { 0.0 } else { low };
    // Nothing moves, nothing presses: any range is right that is not empty.
    if high > low { [low, high] } else { [low, low + low.abs().max(1e-6)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::frame::Extra;
    use barchan_core::shapes::Shape;
    use glam::DVec3;

    fn frame() -> Frame<'static> {
        Frame {
            position: vec![DVec3::ZERO; 3].into(),
            velocity: vec![DVec3::ZERO, DVec3::X, DVec3::new(0.0, 3.0, 4.0)].into(),
            radius: vec![1e-3, 1e-3, 2e-3].into(),
            id: vec![0, 1, 2].into(),
            material: vec![0, 1, 9].into(),
            shape: vec![0; 3].into(),
            shapes: [Shape::sphere()].into(),
            extras: vec![Extra { name: "heat", unit: "K", values: vec![1.0, 2.0, f32::NAN].into() }],
            ..Frame::default()
        }
    }

    #[test]
    fn numbers_meet_the_ends_of_the_map() {
        let colouring = Colouring { by: ColourBy::Speed, map: Map::Viridis, range: Some([0.0, 5.0]) };
        let colours = colouring.colours(&frame(), &[], 1.0).unwrap();
        assert_eq!(colours, [0.0, 0.2, 1.0].map(|x| Map::Viridis.linear(x) * materials::UNDER_THE_SUN));
        let column = Colouring { by: ColourBy::named("heat"), range: None, ..colouring };
        let colours = column.colours(&frame(), &[], 1.0).unwrap();
        assert!(colours[0] != colours[1] && colours[2].is_finite(), "{colours:?}");
    }

    #[test]
    fn an_unknown_column_names_those_there_are() {
        let error = ColourBy::named("temperature").values(&frame()).unwrap_err().to_string();
        assert!(error.contains("`temperature`") && error.contains("speed") && error.contains("heat"), "{error}");
        let error = ColourBy::Force.values(&frame()).unwrap_err().to_string();
        assert!(
            error.contains("`force`") && !error.ends_with("force"),
            "force is not offered without its column: {error}"
        );
        for name in ColourBy::NAMES {
            assert_eq!(ColourBy::named(name).name(), *name);
        }
    }

    #[test]
    fn a_material_without_a_colour_is_grey() {
        let colouring = Colouring::default();
        let colours = colouring.colours(&frame(), &[Vec3::X, Vec3::Y], 0.0).unwrap();
        assert_eq!(colours[2], Vec3::splat(0.5));
        assert!(colours[0].x > colours[0].y && colours[1].y > colours[1].x);
    }

    #[test]
    fn one_wild_grain_does_not_set_the_range() {
        let mut speeds: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
        speeds.push(1e6);
        let [low, high] = robust_range(&mut speeds, &ColourBy::Speed);
        assert_eq!(low, 0.0);
        assert!((0.95..1.0).contains(&high), "{high}");
        assert_eq!(robust_range(&mut vec![0.0; 9], &ColourBy::Speed)[0], 0.0);
        let [low, high] = robust_range(&mut vec![0.0; 9], &ColourBy::Speed);
        assert!(high > low);
        let [low, high] = robust_range(&mut vec![2.0, 2.0, 5.0], &ColourBy::Size);
        assert_eq!([low, high], [2.0, 5.0], "rare sizes count");
    }
}
