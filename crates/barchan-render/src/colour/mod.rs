//! The colour of a grain: what it is made of, what it belongs to, or a number it has. Surfaces and pairs are coloured alike.

mod maps;
pub(crate) mod materials;

pub use maps::{Map, linear};
pub(crate) use materials::vary;
pub use materials::{reflectance, reflectances};

use barchan_core::frame::{self, Extra, Frame, Pairs, Population, Surface};
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
    /// Which population it belongs to.
    Population,
    /// A column of the solver by name; of vectors, their length.
    Column(String),
}

/// Column of a frame that holds the force on a grain.
const FORCE: &str = "normal_force";
const COORDINATION: &str = "coordination";
/// Column of a surface that holds the velocities of its vertices.
const VELOCITY: &str = "velocity";

impl ColourBy {
    /// Names that are always understood.
    pub const NAMES: &'static [&'static str] =
        &["material", "size", "speed", "force", "coordination", "id", "population"];

    /// By its name; one that is not of [`ColourBy::NAMES`] is taken for a column, and looked for in the frame.
    pub fn named(name: &str) -> ColourBy {
        match name {
            "material" => ColourBy::Material,
            "size" => ColourBy::Size,
            "speed" => ColourBy::Speed,
            "force" => ColourBy::Force,
            "coordination" => ColourBy::Coordination,
            "id" => ColourBy::Id,
            "population" => ColourBy::Population,
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
            ColourBy::Population => "population",
            ColourBy::Column(name) => name,
        }
    }

    /// The numbers behind the colours of a population; none where colours are names (material, id, population), or where it has no
    /// such column.
    pub fn values<'f>(&self, of: &'f Population) -> Option<Values<'f>> {
        let own =
            |label: &'static str, unit, values: Vec<f32>| Values { label: label.into(), unit, values: values.into() };
        match self {
            ColourBy::Size => Some(own("radius", "m", of.radius.iter().map(|r| *r as f32).collect())),
            ColourBy::Speed => Some(own("speed", "m/s", of.velocity.iter().map(|v| v.length() as f32).collect())),
            _ => self.of_extras(&of.extras),
        }
    }

    /// The numbers behind the colours of what has only extras, such as a surface.
    pub fn of_extras<'f>(&self, extras: &'f [Extra]) -> Option<Values<'f>> {
        let (column, label) = match self {
            ColourBy::Speed => (VELOCITY, "speed"),
            ColourBy::Force => (FORCE, "normal force"),
            ColourBy::Coordination => (COORDINATION, "contacts"),
            ColourBy::Column(name) => (name.as_str(), ""),
            ColourBy::Material | ColourBy::Size | ColourBy::Id | ColourBy::Population => return None,
        };
        let extra = extras.iter().find(|e| e.name == column)?;
        let label = if label.is_empty() { column.replace('_', " ").into() } else { label.into() };
        let values = match &extra.values {
            frame::Values::F32(values) => Cow::Borrowed(&values[..]),
            values => (0..values.len()).map(|row| values.number(row) as f32).collect(),
        };
        Some(Values { label, unit: &extra.unit, values })
    }

    /// Refuses a column that nothing in the frame has.
    pub fn check(&self, frame: &Frame) -> Result<(), ColourError> {
        let column = match self {
            ColourBy::Force => FORCE,
            ColourBy::Coordination => COORDINATION,
            ColourBy::Column(name) => name,
            _ => return Ok(()),
        };
        let mut there: Vec<&str> = Vec::new();
        let of_populations = frame.populations.iter().flat_map(|p| &p.extras);
        let of_surfaces = frame.surfaces.iter().flat_map(|s| &s.extras);
        for extra in of_populations.chain(of_surfaces).chain(frame.pairs.iter().flat_map(|p| &p.extras)) {
            if !there.contains(&extra.name.as_str()) {
                there.push(&extra.name);
            }
        }
        if there.contains(&column) {
            return Ok(());
        }
        let own = ColourBy::NAMES.iter().filter(|n| match **n {
            "force" => there.contains(&FORCE),
            COORDINATION => false,
            _ => true,
        });
        let known = own.copied().chain(there.iter().copied()).map(str::to_owned).collect();
        Err(ColourError::Unknown { asked: self.name().into(), known })
    }
}

/// One number a row, with its name and unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Values<'f> {
    /// Name for a legend.
    pub label: Cow<'f, str>,
    /// Unit, empty for a pure number.
    pub unit: &'f str,
    /// One value a row.
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
    /// Makes ready to colour the parts of a frame. `materials` are reflectances of those of the scene by index; `variation` is how much
    /// grains of a material differ, 1 as sand does, 0 not at all.
    pub fn painter<'a>(
        &'a self,
        frame: &'a Frame,
        materials: &'a [Vec3],
        variation: f32,
    ) -> Result<Painter<'a>, ColourError> {
        self.by.check(frame)?;
        let range = self.range.unwrap_or_else(|| {
            let of_populations = frame.populations.iter().filter_map(|p| self.by.values(p));
            let of_surfaces = frame.surfaces.iter().filter_map(|s| self.by.of_extras(&s.extras));
            let mut all: Vec<f32> = of_populations.chain(of_surfaces).flat_map(|v| v.values.into_owned()).collect();
            robust_range(&mut all, &self.by)
        });
        Ok(Painter { colouring: self, frame, materials, variation, range })
    }
}

/// Colours the parts of a frame, all by the same range. What has no number of the kind that is asked for has the colour of its material.
#[derive(Clone, Copy, Debug)]
pub struct Painter<'a> {
    colouring: &'a Colouring,
    frame: &'a Frame,
    materials: &'a [Vec3],
    variation: f32,
    range: [f32; 2],
}

impl Painter<'_> {
    /// Reflectances of all grains of a population, linear RGB.
    pub fn population(&self, population: &Population) -> Vec<Vec3> {
        let by = &self.colouring.by;
        if let Some(values) = by.values(population) {
            return self.mapped(&values);
        }
        let ids = population.id.iter();
        match by {
            ColourBy::Id => ids.map(|id| materials::of_id(*id)).collect(),
            ColourBy::Population => {
                let base = self.named(&population.name, 0);
                ids.map(|id| materials::vary(base, *id, self.variation)).collect()
            }
            _ => {
                let rows = ids.zip(population.material.iter());
                rows.map(|(id, m)| materials::vary(self.material(*m), *id, self.variation)).collect()
            }
        }
    }

    /// Reflectance of a surface, linear RGB, and those of its vertices where they differ.
    pub fn surface(&self, surface: &Surface) -> (Vec3, Vec<Vec3>) {
        let by = &self.colouring.by;
        let vertices = by.of_extras(&surface.extras).map(|values| self.mapped(&values)).unwrap_or_default();
        let row = self.frame.surfaces.iter().position(|s| s.name == surface.name).unwrap_or(0);
        let whole = match by {
            ColourBy::Population => self.named(&surface.name, self.frame.populations.len() + row),
            _ => self.material(surface.material),
        };
        (whole, vertices)
    }

    /// Colours of pairs, linear RGB; none where they have no number of the kind that is asked for.
    pub fn pairs(&self, pairs: &Pairs) -> Option<Vec<Vec3>> {
        self.colouring.by.of_extras(&pairs.extras).map(|values| self.mapped(&values))
    }

    fn mapped(&self, values: &Values<'_>) -> Vec<Vec3> {
        let [low, high] = self.range;
        let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
        let colour = |v: &f32| self.colouring.map.linear((v - low) * scale) * materials::UNDER_THE_SUN;
        values.values.iter().map(colour).collect()
    }

    fn material(&self, index: u16) -> Vec3 {
        self.materials.get(usize::from(index)).copied().unwrap_or(Vec3::splat(0.5))
    }

    /// The colour of the population of that name; that of another row of the palette where there is none.
    fn named(&self, name: &str, otherwise: usize) -> Vec3 {
        materials::palette(self.frame.populations.iter().position(|p| p.name == name).unwrap_or(otherwise))
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
    use glam::DVec3;

    fn frame() -> Frame {
        Frame::of(Population {
            name: "grains".into(),
            position: vec![DVec3::ZERO; 3].into(),
            velocity: vec![DVec3::ZERO, DVec3::X, DVec3::new(0.0, 3.0, 4.0)].into(),
            radius: vec![1e-3, 1e-3, 2e-3].into(),
            id: vec![0, 1, 2].into(),
            material: vec![0, 1, 9].into(),
            extras: vec![
                Extra::real("heat", "K", vec![1.0, 2.0, f32::NAN]),
                Extra::vector("flux", "W", vec![Vec3::ZERO, Vec3::X, Vec3::new(0.0, 3.0, 4.0)]),
                Extra::whole("phase", vec![0, 1, 5]),
            ],
            ..Population::default()
        })
    }

    fn colours(colouring: &Colouring, materials: &[Vec3], variation: f32) -> Vec<Vec3> {
        let frame = frame();
        colouring.painter(&frame, materials, variation).unwrap().population(frame.grains())
    }

    #[test]
    fn numbers_meet_the_ends_of_the_map() {
        let colouring = Colouring { by: ColourBy::Speed, map: Map::Viridis, range: Some([0.0, 5.0]) };
        let expected = [0.0, 0.2, 1.0].map(|x| Map::Viridis.linear(x) * materials::UNDER_THE_SUN);
        assert_eq!(self::colours(&colouring, &[], 1.0), expected);
        // Vectors by their length, whole numbers as they are.
        for name in ["flux", "phase"] {
            let column = Colouring { by: ColourBy::named(name), ..colouring.clone() };
            assert_eq!(self::colours(&column, &[], 1.0), expected, "{name}");
        }
        let column = Colouring { by: ColourBy::named("heat"), range: None, ..colouring };
        let colours = colours(&column, &[], 1.0);
        assert!(colours[0] != colours[1] && colours[2].is_finite(), "{colours:?}");
    }

    #[test]
    fn an_unknown_column_names_those_there_are() {
        let error = ColourBy::named("temperature").check(&frame()).unwrap_err().to_string();
        assert!(error.contains("`temperature`") && error.contains("speed") && error.contains("heat"), "{error}");
        let error = ColourBy::Force.check(&frame()).unwrap_err().to_string();
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
        let colours = colours(&colouring, &[Vec3::X, Vec3::Y], 0.0);
        assert_eq!(colours[2], Vec3::splat(0.5));
        assert!(colours[0].x > colours[0].y && colours[1].y > colours[1].x);
    }

    #[test]
    fn a_population_without_the_column_has_its_materials_and_all_share_one_range() {
        let mut frame = frame();
        let other = Population { name: "sand".into(), extras: vec![], ..frame.grains().clone() };
        let corners = Extra::real("heat", "K", vec![1.0, 2.0, 9.0]);
        let skin = Surface {
            name: "sand".into(),
            vertices: vec![DVec3::ZERO; 3].into(),
            triangles: vec![[0, 1, 2]].into(),
            material: 1,
            extras: vec![corners],
        };
        (frame.populations, frame.surfaces) = (vec![frame.grains().clone(), other], vec![skin]);
        let materials = [Vec3::X, Vec3::Y];
        let by = |name: &str| Colouring { by: ColourBy::named(name), ..Colouring::default() };
        let (heat, material, whose) = (by("heat"), by("material"), by("population"));
        let painter = heat.painter(&frame, &materials, 0.0).unwrap();
        let plain = material.painter(&frame, &materials, 0.0).unwrap();
        assert_eq!(painter.population(&frame.populations[1]), plain.population(&frame.populations[1]));
        let (whole, vertices) = painter.surface(&frame.surfaces[0]);
        assert_eq!(whole, Vec3::Y);
        assert_eq!(vertices[..2], painter.population(frame.grains())[..2], "equal numbers, equal colours");
        let painter = whose.painter(&frame, &materials, 0.0).unwrap();
        let colours = frame.populations.iter().map(|p| painter.population(p)[0]).collect::<Vec<_>>();
        assert_ne!(colours[0], colours[1]);
        assert_eq!(painter.surface(&frame.surfaces[0]).0, colours[1], "the skin of the sand is coloured as the sand");
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
