//! The ground: columns of sand under the grains.

use super::{Forest, RockModel, SnowCover, names};
use crate::formula::Formula;
use crate::keys;
use crate::keys::{Interval, Stated};
use glam::DVec2;
use schemars::JsonSchema;
use serde::Serialize;
use std::f64::consts::FRAC_PI_2;

keys! {
    /// A ground: a grid of columns, seen from above along z.
    pub struct Ground = "write `cell` and perhaps `height` under `[ground]`" {
        /// Lower corner, x and y [m]; left out: the domain's.
        min: DVec2 [LENGTH; grows, help("write two lengths, x and y, such as [\"-10 m\", \"-10 m\"]")]
            => |_cx, _keys| Some(DVec2::NAN),
        /// Upper corner, x and y [m]; left out: the domain's. Rounded to whole columns.
        max: DVec2 [LENGTH; grows, help("write two lengths, x and y, such as [\"-10 m\", \"-10 m\"]")]
            => |_cx, _keys| Some(DVec2::NAN),
        /// Width of a column [m]: at least the radius of the largest grain. It goes with the grains and stays. Left out: that of the rock's
        /// terrain, which then lies with its south-western corner at `min`.
        cell: f64 [LENGTH; positive("the width of a column")] => |_cx, _keys| Some(f64::NAN),
        /// Where the columns stand, z [m]; left out: the domain's lower side.
        floor: f64 [LENGTH; grows] => |_cx, _keys| Some(f64::NAN),
        /// Name of the material that grains touch; left out: the first of the scene.
        material: String = String::new(),
        /// Coefficient of friction of grains on it; left out: the material's, 1 at least. Real ground is rough where this one is smooth.
        friction: Option<f64> [NUMBER; not_negative("the friction")],
        /// Coefficient of rolling resistance of grains on it; left out: the material's, 0.5 at least.
        rolling: Option<f64> [NUMBER; not_negative("the rolling resistance")],
        /// How it gives way and slides.
        soil: Soil = Soil::default(),
        /// Length in which the formula counts x, y and its value [m].
        unit: f64 [LENGTH; grows, positive("the unit of the formula")] = 1.0,
        /// Height above the floor [m], where the ground is level; left out with the other three: 0.
        height: Option<f64> [LENGTH; grows, not_negative("the height of the ground")],
        /// Height above the floor as a formula of x and y.
        formula: Option<Formula> [; variables(&["x", "y"]), help("a formula is of x and y in metres, such as \"0.1 + 0.02*sin(20*x)\"")],
        /// Heights from the brightness of a picture.
        image: Option<GroundImage>,
        /// Heights from an elevation model.
        terrain: Option<GroundTerrain>,
        /// Lets grains at rest become ground, and ground become grains again; left out: neither.
        exchange: Option<Exchange>,
        /// Makes it rock, which never slides and gives way to nobody, and says its heights.
        rock: Option<Rock>,
        /// How rock brakes what flows over it; left out: by the contacts' friction alone.
        drag: Option<BedDrag>,
        /// Snow on rock that flows erode and feed; left out: bare rock.
        cover: Option<SnowCover>,
        /// Forests on rock, which brake flows.
        forest: Vec<Forest> [; help("write each one under its own `[[ground.forest]]`")] = Vec::new(),
    }
}

keys! {
    /// Heights that stay as they are, under a surface without kinks.
    pub struct Rock = "write `{ terrain = \"mountain.asc\" }`, or give `model`, `image`, `formula` or `height`" {
        /// Height above the floor [m], where the rock is level.
        height: Option<f64> [LENGTH; grows, not_negative("the height of the rock")],
        /// Height above the floor as a formula of x and y.
        formula: Option<Formula> [; variables(&["x", "y"]), help("a formula is of x and y in metres, such as \"0.1 + 0.02*sin(20*x)\"")],
        /// Heights from the brightness of a picture.
        image: Option<GroundImage>,
        /// Heights from an elevation model.
        terrain: Option<GroundTerrain>,
        /// Heights that the program makes over the area of the ground.
        model: Option<RockModel>,
        /// Standard deviation [m] of the Gaussian that smooths the heights; left out: two cells for a terrain, else 0.
        smooth: Option<f64> [LENGTH; grows, not_negative("the smoothing length")],
    }
}

keys! {
    /// The law by which rock brakes a flow. Its dry part, μ times the pressure, is the friction of the contacts; grains on the rock slide and do not
    /// roll.
    pub struct BedDrag = "write `[ground.drag]` with `law` and `mu`" {
        /// The law.
        law: DragLaw = DragLaw::Coulomb,
        /// Coefficient of dry friction μ.
        mu: f64 [NUMBER; positive("the friction μ")] = BedDrag::MU,
        /// Coefficient of turbulent friction ξ [m/s²].
        xi: Option<f64> [ACCELERATION; positive("the turbulent friction ξ")],
        /// Path of a raster of μ on the grid of the rock's elevation model, where it differs from place to place; `mu` holds where the raster has no data.
        mu_raster: Option<String>,
        /// Path of a raster of ξ [m/s²]; `xi` holds where it has no data.
        xi_raster: Option<String>,
        /// Yield stress τ₀ [Pa].
        tau0: f64 [PRESSURE; not_negative("the yield stress")] = 0.0,
        /// Thickness of the flow, normal to the slope [m]; left out: that of the grains in cells of the rock, or of four diameters.
        thickness: Option<f64> [LENGTH; positive("the thickness of the flow")],
    }
}

impl BedDrag {
    /// Dry friction where none is given, as avalanche tools have it (AvaFrame).
    pub const MU: f64 = 0.155;
    /// Turbulent friction where none is given [m/s²] (AvaFrame).
    pub const XI: f64 = 4000.0;
}

/// Laws of the drag of rock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DragLaw {
    /// μσ, and τ₀ where it is given.
    #[default]
    Coulomb,
    /// μσ + ρgū²/ξ, and τ₀ where it is given.
    Voellmy,
    /// τ₀ + μσ(1 + R₀/(R₀ + R)) + ρū²/(ln(h/0.05 m)/0.43 + 4.13)², R = ρū²/σ.
    Samosat,
}
names!(DragLaw { Coulomb = "coulomb", Voellmy = "voellmy", Samosat = "samosat" });

keys! {
    /// A picture stretched over the ground: its rows run from the upper y down, as they are seen.
    pub struct GroundImage = "write `{ file = \"heights.png\", low = 0, high = \"0.1 m\" }`" {
        /// Path of an image of 8 or 16 bits, from the folder of the scene.
        file: String [; help("add `file`: the path of an image")],
        /// Height of black [m].
        low: f64 [LENGTH; grows, not_negative("the height of black")] = 0.0,
        /// Height of white [m].
        high: f64 [LENGTH; grows, not_negative("the height of white")],
    }
}

keys! {
    /// An elevation model stretched over the ground.
    pub struct GroundTerrain(file) = "write the path of an elevation model, or `{ file, low, scale, nodata }`" {
        /// Path of an ESRI ASCII grid or a GeoTIFF, from the folder of the scene.
        file: String [; help("add `file`: the path of an ESRI ASCII grid or a GeoTIFF")],
        /// Height of its lowest point above the floor [m].
        low: f64 [LENGTH; grows, not_negative("the height of the lowest point")] = 0.0,
        /// Factor of its heights.
        scale: f64 [NUMBER; grows_as(0, 1, 0), positive("the factor of heights")] = 1.0,
        /// Height in the file's own count where it has no data [m]; left out: a file that lacks data is refused.
        nodata: Option<f64> [LENGTH],
    }
}

/// Slopes that can be.
const SLOPE: Interval = Interval {
    from: 0.01,
    with_from: true,
    to: FRAC_PI_2,
    with_to: false,
    message: "a slope of {} cannot be",
    help: "give an angle from 0.6 deg to below 90 deg",
};

/// Angles of internal friction that can be.
const FRICTION: Interval = Interval {
    from: 0.0,
    with_from: true,
    to: FRAC_PI_2 * 2.0 / 3.0,
    with_to: false,
    message: "an internal friction of {} cannot be",
    help: "give 0 to below 60 deg",
};

keys! {
    /// A soil by its name, or with numbers of its own.
    pub struct Soil(preset) = "write a name, such as \"sand\", or a table of what differs from it" {
        /// What the numbers left out are those of.
        preset: SoilPreset = SoilPreset::Sand,
        /// Share of the displaced volume that is compressed away, 0 to 1.
        compression: Option<f64> [NUMBER; within(0.0, 1.0, "the soil's `compression` cannot be {}", "give a share from 0 to 1")],
        /// Slope that holds where a body has pressed.
        inside: Option<f64> [ANGLE; interval(SLOPE)],
        /// Slope above which sand at rest starts to slide.
        outside: Option<f64> [ANGLE; interval(SLOPE)],
        /// Slope at which sliding sand comes to rest.
        stop: Option<f64> [ANGLE; interval(SLOPE)],
        /// How fast it slides, as a share of the fastest stable rate, 0.01 to 1.
        fraction: Option<f64> [NUMBER; within(0.01, 1.0, "the soil's `fraction` cannot be {}", "give a share from 0.01 to 1")],
        /// How unevenly displaced sand is piled round a body, 0 to 1.
        roughness: Option<f64> [NUMBER; within(0.0, 1.0, "the soil's `roughness` cannot be {}", "give a share from 0 to 1")],
        /// Bulk density [kg/m³].
        density: Option<f64> [DENSITY; positive("the soil's density")],
        /// Angle of internal friction.
        friction: Option<f64> [ANGLE; interval(FRICTION)],
        /// Cohesion [Pa].
        cohesion: Option<f64> [PRESSURE; not_negative("the soil's cohesion")],
        /// Coefficient of friction between the soil and a body.
        grip: Option<f64> [NUMBER; not_negative("the soil's grip")],
        /// How far the soil shears before it grips in full [m].
        shear: Option<f64> [LENGTH; positive("the soil's shear")],
        /// Stress that a depth of unloading takes back [Pa/m].
        stiffness: Option<f64> [SUBGRADE; positive("the soil's stiffness")],
    }
}

impl Default for Soil {
    fn default() -> Self {
        Soil { preset: SoilPreset::Sand, ..<Soil as Stated>::unknown() }
    }
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

keys! {
    /// When grains become ground, and ground grains. Only grains of the ground's material do.
    pub struct Exchange = "write `[ground.exchange]`, which may be empty" {
        /// Thickness of the layer that stays grains, in mean grain diameters.
        layer: f64 [NUMBER; within(1.0, f64::INFINITY, "a layer of {} grain diameters shows the ground", "give 1 or more; 3 to 5 are usual")]
            = Exchange::LAYER,
        /// A grain is at rest if it has moved less than this share of its radius …
        rest: f64 [NUMBER; positive("the share of the radius")] = Exchange::REST,
        /// … for this time [s].
        after: f64 [TIME; positive("the time of rest")] = Exchange::AFTER,
        /// Share of the ground's volume that is grains.
        packing: f64 [NUMBER; within(0.3, 1.0, "grains cannot fill {} of the ground", "give a share from 0.3 to 1; spheres have 0.56 to 0.64")]
            = Exchange::PACKING,
        /// Depth, in mean grain diameters, to which a blow must go to make grains of the ground.
        thaw: f64 [NUMBER; positive("the depth of a blow")] = Exchange::THAW,
    }
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

impl Ground {
    /// The picture or the elevation model that has the heights, of sand or of rock.
    pub fn files(&self) -> (Option<&GroundImage>, Option<&GroundTerrain>) {
        let rock = self.rock.as_ref();
        let image = self.image.as_ref().or(rock.and_then(|r| r.image.as_ref()));
        (image, self.terrain.as_ref().or(rock.and_then(|r| r.terrain.as_ref())))
    }
}

impl super::Scene {
    /// Whether rock is shown with snow on it.
    pub fn snow_covers_rock(&self) -> bool {
        self.picture.snow.is_some() && self.ground.as_ref().is_some_and(|g| g.rock.is_some())
    }

    /// Index of the material that the ground is of; of the first where there is no ground.
    pub fn ground_material(&self) -> u16 {
        let of = self.ground.as_ref().and_then(|g| self.materials.get_index_of(&g.material));
        of.unwrap_or(0) as u16
    }
}
