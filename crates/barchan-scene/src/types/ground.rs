//! The ground: columns of sand under the grains.

use super::names;
use crate::schema as q;
use glam::DVec2;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A ground: a grid of columns, seen from above along z.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ground {
    /// Lower corner, x and y [m]; left out: the domain's.
    #[schemars(default, schema_with = "q::length2")]
    pub min: DVec2,
    /// Upper corner, x and y [m]; left out: the domain's. Rounded to whole columns.
    #[schemars(default, schema_with = "q::length2")]
    pub max: DVec2,
    /// Width of a column [m]: at least the radius of the largest grain.
    #[schemars(schema_with = "q::length")]
    pub cell: f64,
    /// Where the columns stand, z [m]; left out: the domain's lower side.
    #[schemars(default, schema_with = "q::length")]
    pub floor: f64,
    /// Name of the material that grains touch; left out: the first of the scene.
    #[schemars(default)]
    pub material: String,
    /// Coefficient of friction of grains on it; left out: the material's, 1 at least. Real ground is rough where this one is smooth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub friction: Option<f64>,
    /// Coefficient of rolling resistance of grains on it; left out: the material's, 0.5 at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub rolling: Option<f64>,
    /// How it gives way and slides.
    #[serde(default)]
    pub soil: Soil,
    /// Height above the floor [m], where the ground is level; left out with the other three: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::length")]
    pub height: Option<f64>,
    /// Height above the floor as a formula of x and y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Length in which the formula counts x, y and its value [m].
    #[serde(default = "metre", skip_serializing_if = "is_metre")]
    #[schemars(schema_with = "q::length")]
    pub unit: f64,
    /// Heights from the brightness of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<GroundImage>,
    /// Heights from an elevation model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terrain: Option<GroundTerrain>,
    /// Lets grains at rest become ground, and ground become grains again; left out: neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// Heights from a file, once they have been fetched.
    #[serde(skip)]
    #[schemars(skip)]
    pub fetched: FetchedHeights,
}

fn metre() -> f64 {
    1.0
}

fn is_metre(unit: &f64) -> bool {
    *unit == 1.0
}

/// Heights of a file as they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchedHeights {
    /// Samples along x and y, and their heights [m] (of an image: its brightness from 0 to 1), x first, lowest y first.
    pub samples: Option<Arc<([usize; 2], Vec<f64>)>>,
    /// The file.
    pub path: Option<PathBuf>,
}

/// A picture stretched over the ground: its rows run from the upper y down, as they are seen.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundImage {
    /// Path of an image of 8 or 16 bits, from the folder of the scene.
    pub file: String,
    /// Height of black [m].
    #[serde(default)]
    #[schemars(schema_with = "q::length")]
    pub low: f64,
    /// Height of white [m].
    #[schemars(schema_with = "q::length")]
    pub high: f64,
}

/// An elevation model stretched over the ground.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = q::or_text)]
pub struct GroundTerrain {
    /// Path of an ESRI ASCII grid or a GeoTIFF, from the folder of the scene.
    pub file: String,
    /// Height of its lowest point above the floor [m].
    #[serde(default)]
    #[schemars(schema_with = "q::length")]
    pub low: f64,
    /// Factor of its heights.
    #[serde(default = "metre", skip_serializing_if = "is_metre")]
    #[schemars(schema_with = "q::number")]
    pub scale: f64,
    /// Height in the file's own count where it has no data [m]; left out: a file that lacks data is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::length")]
    pub nodata: Option<f64>,
}

/// A soil by its name, or with numbers of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = q::or_text)]
pub struct Soil {
    /// What the numbers left out are those of.
    #[serde(default)]
    pub preset: SoilPreset,
    /// Share of the displaced volume that is compressed away, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub compression: Option<f64>,
    /// Slope that holds where a body has pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angle")]
    pub inside: Option<f64>,
    /// Slope above which sand at rest starts to slide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angle")]
    pub outside: Option<f64>,
    /// Slope at which sliding sand comes to rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angle")]
    pub stop: Option<f64>,
    /// How fast it slides, as a share of the fastest stable rate, 0.01 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub fraction: Option<f64>,
    /// How unevenly displaced sand is piled round a body, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub roughness: Option<f64>,
    /// Bulk density [kg/m³].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::density")]
    pub density: Option<f64>,
    /// Angle of internal friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angle")]
    pub friction: Option<f64>,
    /// Cohesion [Pa].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::pressure")]
    pub cohesion: Option<f64>,
    /// Coefficient of friction between the soil and a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub grip: Option<f64>,
    /// How far the soil shears before it grips in full [m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::length")]
    pub shear: Option<f64>,
    /// Stress that a depth of unloading takes back [Pa/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::subgrade")]
    pub stiffness: Option<f64>,
}

/// Soils to start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SoilPreset {
    /// Loose sand.
    #[default]
    Sand,
    /// Mud.
    Mud,
    /// Fresh snow.
    Snow,
}
names!(SoilPreset { Sand = "sand", Mud = "mud", Snow = "snow" });

/// When grains become ground, and ground grains. Only grains of the ground's material do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Thickness of the layer that stays grains, in mean grain diameters.
    #[serde(default = "layer")]
    #[schemars(schema_with = "q::number")]
    pub layer: f64,
    /// A grain is at rest if it has moved less than this share of its radius …
    #[serde(default = "rest")]
    #[schemars(schema_with = "q::number")]
    pub rest: f64,
    /// … for this time [s].
    #[serde(default = "after")]
    #[schemars(schema_with = "q::time")]
    pub after: f64,
    /// Share of the ground's volume that is grains.
    #[serde(default = "packing")]
    #[schemars(schema_with = "q::number")]
    pub packing: f64,
    /// Depth, in mean grain diameters, to which a blow must go to make grains of the ground.
    #[serde(default = "thaw")]
    #[schemars(schema_with = "q::number")]
    pub thaw: f64,
}

impl Exchange {
    /// Layer where none is given.
    pub const LAYER: f64 = 4.0;
    /// Share of the radius where none is given.
    pub const REST: f64 = 0.05;
    /// Time where none is given [s].
    pub const AFTER: f64 = 0.06;
    /// Share of the volume where none is given: between loose (0.56) and dense (0.64) random packings of spheres.
    pub const PACKING: f64 = 0.6;
    /// Depth of a blow where none is given.
    pub const THAW: f64 = 1.0;
}

impl Default for Exchange {
    fn default() -> Self {
        Exchange { layer: layer(), rest: rest(), after: after(), packing: packing(), thaw: thaw() }
    }
}

fn layer() -> f64 {
    Exchange::LAYER
}

fn rest() -> f64 {
    Exchange::REST
}

fn after() -> f64 {
    Exchange::AFTER
}

fn packing() -> f64 {
    Exchange::PACKING
}

fn thaw() -> f64 {
    Exchange::THAW
}

impl super::Scene {
    /// Index of the material that the ground is of; of the first where there is no ground.
    pub fn ground_material(&self) -> u16 {
        let of = self.ground.as_ref().and_then(|g| self.materials.get_index_of(&g.material));
        of.unwrap_or(0) as u16
    }
}
