//! Release areas: snow that lies on rock, and mountains that the program makes.

use super::names;
use crate::keys;
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// Grains laid onto rock within an outline, up to a thickness.
    pub struct Release = "write `{ polygon = [[x, y], …], thickness = \"1.5 m\" }`, or name a `file` or a `raster`" {
        /// Corners of the outline, x and y [m] of the scene.
        polygon: Vec<[f64; 2]> [LENGTH; help("write a list of corners, such as [[0, 0], [100, 0], [100, 50]]")] = Vec::new(),
        /// Path of a shapefile or a GeoJSON with outlines in the coordinates of the rock's elevation model, from the folder of the scene.
        file: Option<String>,
        /// Path of an ESRI ASCII grid or a GeoTIFF of thicknesses [m], on the grid of the rock's elevation model.
        raster: Option<String>,
        /// Thickness [m], normal to the slope; left out: that of the raster, or the number `thickness` of the file's outlines.
        thickness: Option<f64> [LENGTH; positive("the thickness of a release")],
        /// Number of grains, from which their size follows; left out: `radius` is given.
        grains: Option<u64> [; grows_as(1, 0, 0), within(1.0, 1e8, "a release of {} grains is none", "give at least 1, at most a hundred million")],
        /// Bulk density [kg/m³]; left out: the material's times `packing`.
        density: Option<f64> [DENSITY; positive("the density of a release")],
        /// Share of the snow's volume that is grains.
        packing: f64 [NUMBER; within(0.3, 0.7, "grains cannot fill {} of the snow", "give a share from 0.3 to 0.7; spheres have 0.56 to 0.64")] = Release::PACKING,
    }
}

impl Release {
    /// Share of the volume where none is given.
    pub const PACKING: f64 = 0.6;
}

keys! {
    /// A mountain that the program makes over the whole area of the ground.
    pub struct RockModel(kind) = "write `\"mountain\"`, or `{ kind = \"mountain\", seed = 7 }`" {
        /// Its form.
        kind: ModelKind = ModelKind::Mountain,
        /// Seed of its gullies and ridges.
        seed: u64 = 7,
        /// Height of its top above its foot [m]; left out: 1,000 m, for the hockey stick 1,500 m, for a slope what its angle gives.
        drop: Option<f64> [LENGTH; positive("the height of a mountain")],
        /// Slope of the plane part.
        angle: f64 [ANGLE; within(0.01, 1.4, "a slope of {} rad cannot be", "give 1 to 80 degrees")] = RockModel::ANGLE,
        /// Length of a parabola or a mountain's path from its top to its foot [m]; left out: 2,250 m, for a mountain three quarters of the ground.
        length: Option<f64> [LENGTH; positive("the length of a path")],
        /// Radius of the bend between slope and plain of a hockey stick [m].
        radius: f64 [LENGTH; positive("the radius of the bend")] = RockModel::RADIUS,
        /// Whether a channel leads down a hockey stick or a parabola.
        channel: bool = false,
    }
}

impl RockModel {
    /// Slope where none is given, 34°.
    pub const ANGLE: f64 = 34.0 * std::f64::consts::PI / 180.0;
    /// Radius of the bend where none is given [m].
    pub const RADIUS: f64 = 400.0;
}

/// Forms of mountains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// Ridges, gullies, a bowl that gathers snow, and a plain at its foot.
    #[default]
    Mountain,
    /// An inclined plane.
    Slope,
    /// An inclined plane, a bend and a plain.
    HockeyStick,
    /// A parabola and a plain.
    Parabola,
    /// A bowl, a parabola turned about its axis.
    Bowl,
    /// A pyramid in the middle of a plain.
    Pyramid,
}
names!(ModelKind {
    Mountain = "mountain",
    Slope = "slope",
    HockeyStick = "hockey-stick",
    Parabola = "parabola",
    Bowl = "bowl",
    Pyramid = "pyramid",
});
