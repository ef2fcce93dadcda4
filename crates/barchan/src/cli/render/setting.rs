//! What all pictures of a run have in common: colours, stage, camera, light.

use super::{Failure, Legend, RenderArgs};
use barchan::core::shapes::Shape;
use barchan::core::walls::Wall;
use barchan::draw::camera::framing::{self, Aim};
use barchan::draw::camera::{Key, PathError};
use barchan::draw::colour::reflectances;
use barchan::draw::legend::Bar;
use barchan::draw::{
    CameraPath, ColourBy, ColourError, Colouring, Cover, Dresser, Fog, Image, Light, Map, Quality, Renderer, Show,
    Skins, Snow, Stand, Survey,
};
use barchan::io::terrain::Terrain;
use barchan::prelude::{Frame, Parsed, Scene};
use barchan::scene::{Background, Camera, ColourMap};
use glam::{DVec3, Vec3};
use std::path::Path;
use std::sync::Arc;

/// A camera of the command line.
#[derive(Clone, Debug)]
pub enum CameraArg {
    /// In full.
    Given(Camera),
    /// As the scene describes it: `fly` or `fixed`.
    OfScene(&'static str),
}

pub fn camera(text: &str) -> Result<CameraArg, String> {
    let (kind, rest) = text.split_once(':').map_or((text, None), |(k, r)| (k, Some(r)));
    let numbers = |rest: Option<&str>| -> Option<Vec<f64>> {
        rest.map_or(Some(vec![]), |r| {
            r.split([',', ':']).map(|n| n.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect()
        })
    };
    let given = numbers(rest);
    let camera = match (kind, given.as_deref()) {
        ("auto", Some([])) => Camera::default(),
        ("auto", Some([azimuth, elevation])) => Camera::Auto {
            azimuth: Some(azimuth.to_radians()),
            elevation: Some(elevation.clamp(-90.0, 90.0).to_radians()),
            up: DVec3::Z,
        },
        ("orbit", Some([])) => Camera::Orbit { turns: 1.0, elevation: None },
        ("orbit", Some([turns])) => Camera::Orbit { turns: *turns, elevation: None },
        ("follow", Some([])) => Camera::Follow { grain: None, distance: None },
        ("follow", Some([id])) if *id >= 0.0 && id.fract() == 0.0 => {
            Camera::Follow { grain: Some(*id as u64), distance: None }
        }
        ("fixed", Some([a, b, c, d, e, f])) if [a, b, c] != [d, e, f] => Camera::Fixed {
            eye: DVec3::new(*a, *b, *c),
            target: DVec3::new(*d, *e, *f),
            up: DVec3::Z,
            field: Camera::FIELD,
        },
        ("fixed", Some([])) => return Ok(CameraArg::OfScene("fixed")),
        ("fly", Some([])) => return Ok(CameraArg::OfScene("fly")),
        ("front", Some([])) => Camera::Front { distance: None, elevation: Camera::FRONT, aside: Camera::ASIDE },
        ("front", Some([distance])) if *distance > 0.0 => {
            Camera::Front { distance: Some(*distance), elevation: Camera::FRONT, aside: Camera::ASIDE }
        }
        ("valley", Some([])) => Camera::Valley { elevation: Camera::VALLEY, aside: Camera::ASIDE },
        ("auto" | "orbit" | "follow" | "fixed" | "fly" | "front" | "valley", _) => {
            return Err(
                "give auto, auto:AZIMUTH,ELEVATION in degrees, orbit, orbit:TURNS, follow, follow:ID, front, front:DISTANCE \
                 in metres, valley, fixed:EYE,TARGET (six numbers in metres, such as fixed:0,-1,0.5,0,0,0), fixed or fly"
                    .into(),
            );
        }
        _ => return Err("there is no such camera; there are: auto, orbit, follow, front, valley, fixed, fly".into()),
    };
    Ok(CameraArg::Given(camera))
}

/// How a run is shown.
pub struct Setting {
    scene: Parsed,
    shapes: Arc<[Shape]>,
    camera: Camera,
    colouring: Colouring,
    range_given: bool,
    size: [u32; 2],
    plain: bool,
    pairs: bool,
    grids: bool,
    show: Show,
    wires: bool,
    fog: Option<Fog>,
    drape: Option<Drape>,
    shown: Option<Shown>,
}

/// A raster that is laid over the ground.
struct Drape {
    terrain: Terrain,
    /// Name of the file, without its ending.
    name: String,
    map: Map,
    range: [f32; 2],
}

impl Drape {
    fn read(path: &Path, map: Map, range: Option<[f32; 2]>) -> Result<Drape, Failure> {
        let unusable = |e: barchan::io::terrain::TerrainError| Failure::Usage(e.to_string());
        let terrain = barchan::io::terrain::read(path).and_then(|t| t.filled(Some(0.0))).map_err(unusable)?;
        let most = terrain.heights.iter().copied().fold(0.0, f64::max) as f32;
        let range = range.unwrap_or([0.0, if most > 0.0 { most } else { 1.0 }]);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Drape { terrain, name, map, range })
    }

    fn cover(&self, size: [usize; 2]) -> Cover {
        let values = self.terrain.clone().resampled(size).iter().map(|v| *v as f32).collect::<Vec<f32>>();
        Cover::Map { values: values.into(), map: self.map, range: self.range, least: LEAST * self.range[1].abs() }
    }

    /// What the numbers are, by the endings that names of maps have.
    fn bar(&self) -> Bar {
        const KNOWN: [(&str, &str, &str); 5] = [
            ("pfv", "peak speed", "m/s"),
            ("pft", "peak thickness", "m"),
            ("ppr", "peak pressure", "kPa"),
            ("pta", "travel angle", "deg"),
            ("arrival", "time of arrival", "s"),
        ];
        let known = KNOWN.iter().find(|k| self.name.ends_with(k.0));
        let (label, unit) = known.map_or((self.name.as_str(), ""), |k| (k.1, k.2));
        Bar { map: self.map, range: self.range, label: label.into(), unit: unit.into() }
    }
}

/// Share of the largest number of a draped map below which there is nothing.
const LEAST: f32 = 1e-3;

/// What follows from a look at the frames.
struct Shown {
    dresser: Dresser,
    path: CameraPath,
    light: Light,
    bar: Option<Bar>,
}

/// The scene of a run, with its meshes.
pub fn scene(folder: &Path) -> Result<Parsed, Failure> {
    Ok(barchan::load(&folder.join("scene.toml").to_string_lossy())?)
}

impl Setting {
    /// How the run of a scene is shown.
    pub fn new(args: &RenderArgs, parsed: Parsed) -> Result<Setting, Failure> {
        let (shapes, scene) = (barchan::engine::shapes(&parsed), parsed);
        let picture = &scene.picture;
        let camera = match &args.camera {
            None => picture.camera.clone(),
            Some(CameraArg::Given(camera)) => camera.clone(),
            Some(CameraArg::OfScene(kind)) if picture.camera.key() == *kind => picture.camera.clone(),
            Some(CameraArg::OfScene("fly")) => return Err(Failure::Usage(PathError::NoKeys.to_string())),
            Some(CameraArg::OfScene(_)) => {
                let text = "the scene has no fixed camera: say where it is, such as --camera fixed:0,-1,0.5,0,0,0 (eye and target in \
                            metres), or give one under `picture.camera` in the scene";
                return Err(Failure::Usage(text.into()));
            }
        };
        let map = match picture.map {
            ColourMap::Viridis => Map::Viridis,
            ColourMap::Inferno => Map::Inferno,
            ColourMap::Cividis => Map::Cividis,
            ColourMap::Batlow => Map::Batlow,
        };
        let by = ColourBy::named(args.colour.as_deref().unwrap_or(&picture.colour));
        // The scene's range is that of its own colours.
        let own = by.name() == picture.colour;
        let range = args.range.or(picture.range.filter(|_| own).map(|r| r.map(|x| x as f32)));
        let colouring = Colouring { by, map: args.map.unwrap_or(map), range };
        // The scene's sizes have been checked to be some thousand pixels.
        let size = args.size.unwrap_or(picture.size.map(|n| n as u32));
        let range_given = range.is_some();
        let (plain, pairs, grids) = (args.plain, args.pairs, args.grids);
        let skin = args.skin || (picture.skin && args.show == Show::Auto);
        let (show, wires) = (if skin { Show::Skin } else { args.show }, args.wireframe);
        let fog = match args.fog {
            Some(reach) => Some(Fog { reach: reach as f32, fall: 0.0 }),
            None => picture.fog.as_ref().map(|f| Fog { reach: f.reach as f32, fall: f.fall.unwrap_or(0.0) as f32 }),
        };
        let drape = args.drape.as_deref().map(|path| Drape::read(path, args.map.unwrap_or(map), args.range));
        let drape = drape.transpose()?;
        Ok(Setting {
            camera,
            colouring,
            range_given,
            size,
            plain,
            pairs,
            grids,
            show,
            wires,
            fog,
            drape,
            shown: None,
            scene,
            shapes,
        })
    }

    /// The same in one of so many equal parts of the width; films need an even number of pixels.
    pub fn narrowed(mut self, parts: u32) -> Setting {
        if parts > 1 {
            self.size[0] = (self.size[0] / parts / 2 * 2).max(16);
        }
        self
    }

    /// Shapes of the grains by index.
    pub fn shapes(&self) -> Arc<[Shape]> {
        self.shapes.clone()
    }

    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Pictures a second of a film [1/s].
    pub fn rate(&self) -> f64 {
        self.scene.picture.rate
    }

    /// Simulated time over the film's, where the scene gives it.
    pub fn speed(&self) -> Option<f64> {
        self.scene.picture.speed
    }

    fn walls(&self) -> Vec<Wall> {
        self.scene.walls_at_rest()
    }

    /// Looks at frames of those that will be drawn, in order of time, and settles what all have in common.
    pub fn survey(&mut self, frames: impl Iterator<Item = Result<Frame, Failure>>) -> Result<(), Failure> {
        let mut survey = self.begin();
        let mut span = None;
        for frame in frames {
            let frame = frame?;
            survey.see(&frame).map_err(unknown)?;
            span = Some([span.map_or(frame.time, |s: [f64; 2]| s[0]), frame.time]);
        }
        self.settle(&survey, span.unwrap_or([0.0, 0.0]))
    }

    fn begin(&self) -> Survey {
        let followed = match self.camera {
            Camera::Follow { grain, .. } => grain.map(|id| id as u32),
            _ => None,
        };
        Survey::new(self.walls(), self.colouring.by.clone(), followed)
    }

    fn settle(&mut self, survey: &Survey, span: [f64; 2]) -> Result<(), Failure> {
        let domain = [self.scene.domain.min, self.scene.domain.max];
        let hull = survey.hull();
        if !self.range_given {
            self.colouring.range = survey.legend().map(|_| survey.range());
        }
        let names = self.scene.materials.iter().map(|(name, m)| (name.as_str(), m.preset.map(|p| p.name())));
        let dresser = Dresser {
            colouring: self.colouring.clone(),
            materials: reflectances(names),
            // Grains of snow are alike.
            variation: if self.scene.picture.snow.is_some() { 0.25 } else { 1.0 },
            walls: self.walls(),
            stage: survey.stage(Some(domain)),
            floor: Some(Dresser::FLOOR),
            glass: match self.scene.picture.background {
                Background::Day | Background::Paper => Dresser::GLASS,
                Background::Dark => Dresser::GLASS_IN_THE_DARK,
            },
            skins: Skins::default(),
            ground: self.scene.ground_material(),
            grain: survey.grain(),
            pairs: self.pairs,
            grids: self.grids,
            show: self.show,
            wires: self.wires,
            snow: self.scene.picture.snow.is_some(),
            cover: match (&self.drape, survey.ground_size()) {
                (Some(drape), Some(size)) => Some(drape.cover(size)),
                (Some(_), None) => {
                    return Err(Failure::Usage("--drape lays a map over a ground, and this run has none".into()));
                }
                (None, _) => self.scene.snow_covers_rock().then_some(Cover::Snow),
            },
        };
        let path = path(&self.camera, survey, &hull, span, self.size).map_err(|e| Failure::Usage(e.to_string()))?;
        let snow = self.scene.picture.snow.as_ref().map(|snow| Snow {
            grain: snow.grain.unwrap_or(2.0 * survey.grain().unwrap_or(0.1)) as f32,
            bump: snow.bump as f32,
            glitter: snow.glitter as f32,
        });
        let light = Light { snow, fog: self.fog, ..light(&self.scene, &path.at(span[0])) };
        let bar = self.drape.as_ref().map(Drape::bar);
        let bar = bar.or_else(|| {
            survey.legend().zip(self.colouring.range).map(|((label, unit), range)| Bar {
                map: self.colouring.map,
                range,
                label: label.into(),
                unit: unit.into(),
            })
        });
        self.shown = Some(Shown { dresser, path, light, bar });
        Ok(())
    }

    /// Whether the camera is in the same place at two times [s].
    pub fn is_still(&self, a: f64, b: f64) -> bool {
        self.shown.as_ref().is_some_and(|s| s.path.at(a) == s.path.at(b))
    }

    /// The picture of a frame from where the camera is at its time.
    pub fn draw(
        &self,
        renderer: &mut dyn Renderer,
        quality: &Quality,
        frame: &Frame,
        speed: Option<f64>,
    ) -> Result<Image, Failure> {
        self.draw_at(renderer, quality, frame, frame.time, speed)
    }

    /// The picture of a frame from where the camera is at a time [s].
    pub fn draw_at(
        &self,
        renderer: &mut dyn Renderer,
        quality: &Quality,
        frame: &Frame,
        time: f64,
        speed: Option<f64>,
    ) -> Result<Image, Failure> {
        let Some(shown) = &self.shown else { return Err(Failure::Failed("no frame has been looked at yet".into())) };
        let picture = shown.dresser.dress(frame).map_err(unknown)?;
        let view = shown.path.at(time).view(picture.origin, self.size);
        let drawn = renderer.draw(&picture, &view, &shown.light, quality);
        let mut image = drawn.map_err(|e| Failure::Failed(e.to_string()))?;
        if !self.plain {
            Legend { bar: shown.bar.clone(), time: Some(frame.time), speed }.draw(&mut image);
        }
        Ok(image)
    }
}

fn unknown(e: ColourError) -> Failure {
    Failure::Usage(e.to_string())
}

fn path(
    camera: &Camera,
    survey: &Survey,
    hull: &[(DVec3, f64)],
    span: [f64; 2],
    size: [u32; 2],
) -> Result<CameraPath, PathError> {
    let extent = framing::bounds(hull).map_or(DVec3::ONE, |b| b[1] - b[0]);
    let suits = Aim::suiting(extent);
    Ok(match camera {
        Camera::Auto { azimuth, elevation, up } => {
            let aim =
                Aim { azimuth: azimuth.unwrap_or(suits.azimuth), elevation: elevation.unwrap_or(suits.elevation) };
            CameraPath::framed(hull, aim, up.normalize_or(DVec3::Z), size)
        }
        Camera::Orbit { turns, elevation } => {
            let aim = Aim { elevation: elevation.unwrap_or(suits.elevation), ..suits };
            CameraPath::orbit(hull, aim, *turns, span, size)
        }
        Camera::Fixed { eye, target, up, field } => {
            CameraPath::Fixed(Stand { eye: *eye, target: *target, up: up.normalize_or(DVec3::Z), field: *field })
        }
        Camera::Fly(keys) => {
            let stand = |eye, target, field| Stand { eye, target, up: DVec3::Z, field };
            CameraPath::fly(
                keys.iter().map(|k| Key { time: k.time, stand: stand(k.eye, k.target, k.field) }).collect(),
            )?
        }
        Camera::Follow { grain, distance } => {
            let track = survey.track().to_vec();
            let Some((_, target)) = track.first().copied() else {
                return Err(PathError::NoGrain { id: grain.unwrap_or_default() as u32 });
            };
            let to_eye = suits.to_eye();
            let whole = framing::distance(hull, target, to_eye, DVec3::Z, Stand::FIELD, size);
            // Near enough to see the one grain among its neighbours.
            let near = if grain.is_some() { 0.3 * whole } else { whole };
            let eye = target + to_eye * distance.unwrap_or(near);
            let stand = Stand { eye, target, up: DVec3::Z, field: Stand::FIELD };
            CameraPath::Follow { stand, track, smooth: 0.03 * (span[1] - span[0]) }
        }
        Camera::Front { distance, elevation, aside } => {
            let track = survey.front().to_vec();
            let Some((_, target)) = track.first().copied() else { return Err(PathError::NoGrain { id: 0 }) };
            let distance = distance.unwrap_or(extent.length() / 3.0);
            let eye = target + below(survey, *elevation, *aside).to_eye() * distance;
            let stand = Stand { eye, target, up: DVec3::Z, field: Stand::FIELD };
            CameraPath::Follow { stand, track, smooth: 0.05 * (span[1] - span[0]) }
        }
        Camera::Valley { elevation, aside } => {
            CameraPath::framed(hull, below(survey, *elevation, *aside), DVec3::Z, size)
        }
    })
}

/// From below, beside the way that the front takes.
fn below(survey: &Survey, elevation: f64, aside: f64) -> Aim {
    let way = survey.downhill();
    Aim { azimuth: way.x.atan2(-way.y) + aside, elevation }
}

/// Light of the scene. Where it does not say where the sun is, it stands to the left behind the first camera.
fn light(scene: &Scene, stand: &Stand) -> Light {
    let mut light = Light::default();
    let arm = stand.eye - stand.target;
    let turn = arm.x.atan2(-arm.y) as f32;
    let (sin, cos) = turn.sin_cos();
    let s = light.to_sun;
    light.to_sun = match scene.picture.sun {
        Some(sun) => sun.as_vec3().normalize_or(s),
        None => Vec3::new(cos * s.x - sin * s.y, sin * s.x + cos * s.y, s.z),
    };
    match scene.picture.background {
        Background::Day => light.background = [Vec3::new(0.36, 0.48, 0.62), Vec3::new(0.80, 0.82, 0.82)],
        Background::Paper => light.background = [Vec3::splat(0.92), Vec3::splat(0.97)],
        Background::Dark => light.background = [Vec3::new(0.012, 0.015, 0.02), Vec3::new(0.05, 0.055, 0.065)],
    }
    light
}
