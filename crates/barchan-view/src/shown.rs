//! How a scene is shown: colours, stage and light, found from the frames seen so far.

use barchan_core::frame::Frame;
use barchan_core::walls::{Roughness, Wall};
use barchan_render::camera::framing::{self, Aim};
use barchan_render::colour::reflectances;
use barchan_render::legend::Bar;
use barchan_render::{ColourBy, Colouring, Dresser, Light, Map, Picture, Skins, Stand, Survey};
use barchan_scene::{Background, Camera, ColourMap, Scene};
use glam::{DVec3, Vec3};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Wall-clock time between two looks at where all grains are and how large the numbers behind the colours.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looks after which a survey is begun anew, so that colours follow what the grains do now.
const LOOKS: u32 = 30;

/// What a user may choose of the looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What colours say.
    pub by: ColourBy,
    /// Colours for numbers.
    pub map: Map,
    /// Behind the grains.
    pub background: Background,
}

impl Choice {
    /// What the scene asks for.
    pub fn of(scene: &Scene) -> Choice {
        let map = match scene.picture.map {
            ColourMap::Viridis => Map::Viridis,
            ColourMap::Inferno => Map::Inferno,
            ColourMap::Cividis => Map::Cividis,
            ColourMap::Batlow => Map::Batlow,
        };
        Choice { by: ColourBy::named(&scene.picture.colour), map, background: scene.picture.background }
    }
}

/// A scene with its looks.
pub struct Shown {
    scene: Arc<Scene>,
    choice: Choice,
    survey: Survey,
    looks: u32,
    last: Instant,
    dresser: Dresser,
    light: Light,
}

impl Shown {
    /// Looks for a scene whose first frame this is.
    pub fn new(scene: Arc<Scene>, choice: Choice, frame: &Frame<'_>) -> Shown {
        let names = scene.materials.iter().map(|(name, m)| (name.as_str(), m.preset.map(|p| p.name())));
        let survey = Survey::new(walls(&scene), choice.by.clone(), None);
        let dresser = Dresser {
            colouring: Colouring { by: choice.by.clone(), map: choice.map, range: None },
            materials: reflectances(names),
            variation: 1.0,
            walls: walls(&scene),
            stage: survey.stage(Some([scene.domain.min, scene.domain.max])),
            floor: Some(Dresser::FLOOR),
            glass: Dresser::GLASS,
            skins: Skins::default(),
            ground: scene.ground_material(),
            grain: None,
        };
        let mut shown =
            Shown { scene, choice, survey, looks: 0, last: Instant::now(), dresser, light: Light::default() };
        shown.look(frame);
        let stand = shown.stand([16, 9]);
        shown.light = light(&shown.scene, shown.choice.background, &stand);
        shown
    }

    /// The user's choice.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Shows it in other looks.
    pub fn choose(&mut self, choice: Choice, frame: &Frame<'_>) {
        if choice != self.choice {
            let to_sun = self.light.to_sun;
            let light = Light { to_sun, ..light(&self.scene, choice.background, &self.stand([16, 9])) };
            *self = Shown { light, ..Shown::new(self.scene.clone(), choice, frame) };
        }
    }

    /// Takes note of a frame that is to be shown.
    pub fn see(&mut self, frame: &Frame<'_>) {
        if self.last.elapsed() >= LOOK_EVERY {
            self.look(frame);
        }
    }

    fn look(&mut self, frame: &Frame<'_>) {
        self.last = Instant::now();
        self.looks += 1;
        if self.looks > LOOKS {
            (self.looks, self.survey) = (1, Survey::new(walls(&self.scene), self.choice.by.clone(), None));
        }
        // A column that this frame lacks: shown by material.
        if self.survey.see(frame).is_err() {
            self.choice.by = ColourBy::Material;
            self.dresser.colouring.by = ColourBy::Material;
            self.survey = Survey::new(walls(&self.scene), ColourBy::Material, None);
            let _ = self.survey.see(frame);
        }
        self.dresser.stage = self.survey.stage(Some([self.scene.domain.min, self.scene.domain.max]));
        self.dresser.glass = match self.choice.background {
            Background::Day | Background::Paper => Dresser::GLASS,
            Background::Dark => Dresser::GLASS_IN_THE_DARK,
        };
        // Kept once it is known: a ground whose grains changed their places would crawl.
        self.dresser.grain = self.dresser.grain.or(self.survey.grain());
        self.dresser.colouring.range = self.survey.legend().map(|_| self.survey.range());
    }

    /// The picture of a frame.
    pub fn dress(&self, frame: &Frame<'_>) -> Picture {
        self.dresser.dress(frame).unwrap_or_default()
    }

    /// The light.
    pub fn light(&self) -> Light {
        self.light
    }

    /// What the colours stand for; none where they are names.
    pub fn bar(&self) -> Option<Bar> {
        let colouring = &self.dresser.colouring;
        self.survey.legend().zip(colouring.range).map(|((label, unit), range)| Bar {
            map: colouring.map,
            range,
            label: label.into(),
            unit: unit.into(),
        })
    }

    /// Height of the floor, or of the lowest thing seen [m].
    pub fn floor(&self) -> f64 {
        self.dresser.stage.bounds[0].z
    }

    /// A camera that shows everything: from where the scene's own camera looks, as far back as need be.
    pub fn stand(&self, size: [u32; 2]) -> Stand {
        let domain = [self.scene.domain.min, self.scene.domain.max];
        let mut hull = self.survey.hull();
        // Where grains are still to come, their way is shown too.
        for emitter in &self.scene.emitters {
            hull.push((emitter.disc.centre, emitter.disc.radius));
            let foot = emitter.disc.centre.with_z(domain[0].z);
            hull.extend([(foot, 4.0 * emitter.disc.radius)]);
        }
        if hull.is_empty() {
            hull.extend(domain.map(|corner| (corner, 0.0)));
        }
        let extent = framing::bounds(&hull).map_or(DVec3::ONE, |b| b[1] - b[0]);
        let suits = Aim::suiting(extent);
        match &self.scene.picture.camera {
            Camera::Fixed { eye, target, up, field } => {
                Stand { eye: *eye, target: *target, up: up.normalize_or(DVec3::Z), field: *field }
            }
            Camera::Auto { azimuth, elevation, up } => {
                let aim =
                    Aim { azimuth: azimuth.unwrap_or(suits.azimuth), elevation: elevation.unwrap_or(suits.elevation) };
                framing::frame(&hull, aim.to_eye(), up.normalize_or(DVec3::Z), Stand::FIELD, size)
            }
            Camera::Orbit { .. } | Camera::Fly(_) | Camera::Follow { .. } => {
                framing::frame(&hull, suits.to_eye(), DVec3::Z, Stand::FIELD, size)
            }
        }
    }
}

/// The scene's walls where they begin.
fn walls(scene: &Scene) -> Vec<Wall> {
    let index = |name: &str| scene.materials.get_index_of(name).unwrap_or_default() as u16;
    let wall = |w: &barchan_scene::Wall| {
        let mut wall = Wall::new(w.name.clone(), w.geometry.to_core(), index(&w.material));
        wall.rough = w.rough.as_ref().map(|r| Roughness { radius: r.radius, spacing: r.spacing });
        wall
    };
    scene.walls.iter().map(wall).collect()
}

/// Light of the scene. Where it does not say where the sun is, it stands to the left behind the first camera.
fn light(scene: &Scene, background: Background, stand: &Stand) -> Light {
    let mut light = Light::default();
    let arm = stand.eye - stand.target;
    let turn = arm.x.atan2(-arm.y) as f32;
    let (sin, cos) = turn.sin_cos();
    let s = light.to_sun;
    light.to_sun = match scene.picture.sun {
        Some(sun) => sun.as_vec3().normalize_or(s),
        None => Vec3::new(cos * s.x - sin * s.y, sin * s.x + cos * s.y, s.z),
    };
    light.background = match background {
        Background::Day => [Vec3::new(0.36, 0.48, 0.62), Vec3::new(0.80, 0.82, 0.82)],
        Background::Paper => [Vec3::splat(0.92), Vec3::splat(0.97)],
        Background::Dark => [Vec3::new(0.012, 0.015, 0.02), Vec3::new(0.05, 0.055, 0.065)],
    };
    light
}
