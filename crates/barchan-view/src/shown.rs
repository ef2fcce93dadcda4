//! How a scene is shown: colours, stage and light, found from the frames seen so far.

use barchan_core::frame::Frame;
use barchan_render::camera::framing::{self, Aim};
use barchan_render::colour::reflectances;
use barchan_render::legend::Bar;
use barchan_render::{
    ColourBy, Colouring, Cover, Cut, Dresser, Fog, LeftOut, Light, Map, Picture, Show, Skins, Snow, Stand, Survey,
};
use barchan_scene::{Background, Camera, ColourMap, Parsed, Scene};
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
    /// Whether pairs, such as contacts, are shown.
    pub pairs: bool,
    /// Whether the boxes of grids are shown.
    pub grids: bool,
    /// What is shown of a continuum.
    pub show: Show,
    /// Whether walls, bodies and surfaces are shown as edges.
    pub wires: bool,
    /// How snow looks: strength of bumps, share of glitter; none where white is only white.
    pub snow: Option<[f32; 2]>,
    /// Reach of the fog [m].
    pub fog: Option<f32>,
    /// Whether the scene's cut, or else one through the middle of the domain, is made.
    pub cut: bool,
    /// Where the cut is, from one side of the domain (0) to the other (1).
    pub cut_at: f32,
    /// Phases that are left out: solid, liquid, gas.
    pub hidden: [bool; 3],
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
        let (by, background) = (ColourBy::named(&scene.picture.colour), scene.picture.background);
        let picture = &scene.picture;
        let show = if picture.skin { Show::Skin } else { Show::Auto };
        let snow = picture.snow.as_ref().map(|s| [s.bump as f32, s.glitter as f32]);
        let fog = picture.fog.as_ref().map(|f| f.reach as f32);
        let cut = picture.cut.is_some();
        Choice {
            by,
            map,
            background,
            pairs: false,
            grids: false,
            show,
            wires: false,
            snow,
            fog,
            cut,
            cut_at: 0.5,
            hidden: [false; 3],
        }
    }
}

/// What is left out of the picture of a scene. The cut is the scene's own, moved along its normal; without one it faces the usual eye.
fn left_out(scene: &Scene, choice: &Choice) -> LeftOut {
    let (min, max) = (scene.domain.min, scene.domain.max);
    let own = scene.picture.cut.as_ref();
    let normal = own.map_or(DVec3::NEG_Y, |c| c.normal.normalize_or_zero());
    let middle = own.map_or(0.5 * (min + max), |c| c.point);
    let way = (max - min).dot(normal.abs()) * f64::from(choice.cut_at - 0.5);
    let cut = Cut { point: middle + normal * way, normal };
    LeftOut { cut: choice.cut.then_some(cut), phases: choice.hidden }
}

/// A scene with its looks.
pub struct Shown {
    scene: Arc<Parsed>,
    choice: Choice,
    survey: Survey,
    looks: u32,
    last: Instant,
    dresser: Dresser,
    light: Light,
}

impl Shown {
    /// Looks for a scene whose first frame this is.
    pub fn new(scene: Arc<Parsed>, choice: Choice, frame: &Frame) -> Shown {
        let names = scene.materials.iter().map(|(name, m)| (name.as_str(), m.preset.map(|p| p.name())));
        let survey = Survey::new(scene.walls_at_rest(), choice.by.clone(), None);
        let dresser = Dresser {
            colouring: Colouring { by: choice.by.clone(), map: choice.map, range: None },
            materials: reflectances(names),
            variation: if choice.snow.is_some() { 0.25 } else { 1.0 },
            walls: scene.walls_at_rest(),
            stage: survey.stage(Some([scene.domain.min, scene.domain.max])),
            floor: Some(Dresser::FLOOR),
            glass: Dresser::GLASS,
            skins: Skins::default(),
            ground: scene.ground_material(),
            grain: None,
            pairs: choice.pairs,
            grids: choice.grids,
            show: choice.show,
            wires: choice.wires,
            snow: choice.snow.is_some(),
            cover: (choice.snow.is_some() && scene.snow_covers_rock()).then_some(Cover::Snow),
            left_out: left_out(&scene, &choice),
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
    pub fn choose(&mut self, choice: Choice, frame: &Frame) {
        // Numbers of the light alone need no new look at the frame.
        let alike = Choice { snow: self.choice.snow, fog: self.choice.fog, ..choice.clone() };
        if alike == self.choice && choice.snow.is_some() == self.choice.snow.is_some() {
            self.choice = choice;
        } else if choice != self.choice {
            let to_sun = self.light.to_sun;
            let light = Light { to_sun, ..light(&self.scene, choice.background, &self.stand([16, 9])) };
            *self = Shown { light, ..Shown::new(self.scene.clone(), choice, frame) };
        }
    }

    /// Takes note of a frame that is to be shown.
    pub fn see(&mut self, frame: &Frame) {
        if self.last.elapsed() >= LOOK_EVERY {
            self.look(frame);
        }
    }

    fn look(&mut self, frame: &Frame) {
        self.last = Instant::now();
        self.looks += 1;
        if self.looks > LOOKS {
            (self.looks, self.survey) = (1, Survey::new(self.scene.walls_at_rest(), self.choice.by.clone(), None));
        }
        // A column that this frame lacks: shown by material.
        if self.survey.see(frame).is_err() {
            self.choice.by = ColourBy::Material;
            self.dresser.colouring.by = ColourBy::Material;
            self.survey = Survey::new(self.scene.walls_at_rest(), ColourBy::Material, None);
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
    pub fn dress(&self, frame: &Frame) -> Picture {
        self.dresser.dress(frame).unwrap_or_default()
    }

    /// The light.
    pub fn light(&self) -> Light {
        let picture = &self.scene.picture;
        let own = picture.snow.as_ref().and_then(|s| s.grain);
        let grain = own.or(self.dresser.grain.map(|r| 2.0 * r)).unwrap_or(0.1) as f32;
        let fall = picture.fog.as_ref().and_then(|f| f.fall).unwrap_or(0.0) as f32;
        Light {
            snow: self.choice.snow.map(|[bump, glitter]| Snow { grain, bump, glitter }),
            fog: self.choice.fog.map(|reach| Fog { reach, fall }),
            ..self.light
        }
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
            Camera::Valley { elevation, aside } | Camera::Front { elevation, aside, .. } => {
                let way = self.survey.downhill();
                let aim = Aim { azimuth: way.x.atan2(-way.y) + aside, elevation: *elevation };
                framing::frame(&hull, aim.to_eye(), DVec3::Z, Stand::FIELD, size)
            }
            Camera::Orbit { .. } | Camera::Fly(_) | Camera::Follow { .. } => {
                framing::frame(&hull, suits.to_eye(), DVec3::Z, Stand::FIELD, size)
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playback::Playback;
    use barchan_core::frame::{Extra, GRAINS, Grid, Pairs, Population, Surface};
    use barchan_io::vtk::Packing;
    use barchan_io::writer::{Format, FrameWriter, clear};
    use barchan_render::{CpuRenderer, Quality, Renderer};

    const SCENE: &str = r#"
duration = 2
[domain]
min = [0, 0, 0]
max = ["4 cm", "4 cm", "10 cm"]
[materials.beads]
preset = "glass beads"
[[grains]]
material = "beads"
radius = "1.5 mm"
at = [["2 cm", "2 cm", "5 cm"]]
"#;

    fn until(playback: &Playback, what: &str, is: impl Fn(&Playback) -> bool) {
        let begun = Instant::now();
        while !is(playback) {
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Grains on the left, sand on the right, a sheet above, a grid and a contact.
    fn of_many_parts(time: f64) -> Frame {
        let heap = |name: &str, x: f64, radius: f64, extras: Vec<Extra>| Population {
            name: name.into(),
            position: (0..27)
                .map(|i| {
                    DVec3::new(x, 0.01, 0.0) + 2e-3 * DVec3::new((i % 3).into(), (i / 3 % 3).into(), (i / 9).into())
                })
                .collect(),
            velocity: vec![DVec3::X * time; 27].into(),
            radius: vec![radius; 27].into(),
            mass: vec![1.0; 27].into(),
            id: (0..27).collect(),
            material: vec![0; 27].into(),
            extras,
            ..Population::default()
        };
        let flux = Extra::vector("flux", "W", (0..27).map(|i| Vec3::X * i as f32).collect::<Vec<_>>());
        let phase = Extra::whole("phase", (0..27).map(|i| i % 3).collect::<Vec<_>>());
        let corners = [[0.0, 0.0], [0.04, 0.0], [0.0, 0.04], [0.04, 0.04]].map(|[x, y]| DVec3::new(x, y, 0.02));
        Frame {
            time,
            populations: vec![heap(GRAINS, 0.002, 1e-3, vec![]), heap("sand", 0.03, 0.8e-3, vec![flux, phase])],
            pairs: vec![Pairs {
                name: "contacts".into(),
                id: vec![[0, 1]].into(),
                ends: vec![[DVec3::ZERO, DVec3::X * 2e-3]].into(),
                extras: vec![],
            }],
            grids: vec![Grid {
                name: "pressure".into(),
                origin: DVec3::ZERO,
                cell: DVec3::splat(0.01),
                size: [4, 4, 2],
                fields: vec![Extra::real("pressure", "Pa", vec![1.0; 32])],
            }],
            surfaces: vec![Surface {
                name: "sheet".into(),
                vertices: corners.into(),
                triangles: [[0, 1, 2], [1, 3, 2]].into(),
                material: 0,
                extras: vec![Extra::real("heat", "K", vec![0.0, 1.0, 2.0, 3.0])],
            }],
            ..Frame::default()
        }
    }

    #[test]
    fn populations_surfaces_pairs_and_grids_are_played_back_and_shown() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        std::fs::write(out.join("scene.toml"), SCENE).unwrap();
        for format in [Format::Vtk(Packing::Zlib), Format::Ply] {
            clear(out).unwrap();
            let mut writer = FrameWriter::new(out, &[format], None).unwrap();
            (0..3).for_each(|i| assert!(writer.write(of_many_parts(f64::from(i))).is_ok()));
            writer.finish().unwrap();
            let mut p = Playback::open(out, || ());
            until(&p, "frames", |p| p.frame().is_some());
            p.seek(1.0);
            until(&p, "the second frame", |p| p.frame().is_some_and(|f| f.time == 1.0));
            let frame = p.frame().unwrap();
            assert!(p.notes().is_empty(), "{:?}", p.notes());
            assert_eq!(frame.populations.iter().map(|p| p.len()).collect::<Vec<_>>(), [27, 27]);
            assert_eq!(frame.populations[1].extras, of_many_parts(1.0).populations[1].extras);
            assert_eq!(
                (&frame.grids, &frame.pairs[0].id),
                (&of_many_parts(1.0).grids, &of_many_parts(1.0).pairs[0].id)
            );
            let scene = p.scene().unwrap();
            let choice = Choice::of(&scene);
            let mut shown = Shown::new(scene, choice.clone(), &frame);
            let plain = shown.dress(&frame);
            assert_eq!(plain.spheres.len(), 54);
            assert!(plain.meshes.iter().any(|m| m.vertices.len() == 4 && m.triangles.len() == 2));
            shown.choose(Choice { pairs: true, grids: true, ..choice.clone() }, &frame);
            assert_eq!(shown.dress(&frame).lines.len(), plain.lines.len() + 13);
            for by in ["population", "phase", "flux", "heat", "material"] {
                shown.choose(Choice { by: ColourBy::named(by), ..choice.clone() }, &frame);
                assert_eq!(shown.choice().by.name(), by, "the frame has it");
                let picture = shown.dress(&frame);
                let view = shown.stand([160, 90]).view(picture.origin, [160, 90]);
                let drawn = CpuRenderer::default().draw(&picture, &view, &shown.light(), &Quality::default()).unwrap();
                let shades: std::collections::BTreeSet<&[u8]> = drawn.rgba.chunks_exact(4).collect();
                assert!(shades.len() > 100, "{by}: {} shades", shades.len());
            }
        }
    }
}
