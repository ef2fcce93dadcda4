//! Reading a scene with the files that it names: meshes, found, mended and put in place; heights of the ground.

use crate::observers::VOCABULARY;
use crate::{assemble, bodies, cache, copies, kept, maps, outdoors, standing};
use barchan_core::math;
use barchan_core::mesh::Mesh;
use barchan_core::sampling::{self, Placement, Sampling};
use barchan_core::shapes::Shape;
use barchan_core::walls::Facets;
use barchan_io::terrain::{self, TerrainError};
use barchan_scene::{
    Assets, At, Draft, Fill, Geometry, Heights, MeshFile, PackedFile, Packing, Parsed, Place, Problem, Scene,
    SceneErrors, ShapeMesh, ShapeSpec, Side, Solid, Surface,
};
use glam::{DAffine3, DQuat, DVec2, DVec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where paths begin: for a file that is not found.
const HELP: &str = "paths are taken from the folder of the scene";
/// For a file, or a built-in mesh, that is found and does not serve.
const UNFIT: &str = "mend the file, or the numbers that go with it";

/// Reads a scene and the files that it names, whose paths begin in `folder`, and checks all of it. `name` is the file's name or whatever
/// the text should be called in messages.
///
/// All problems come at once: those of the text, of the files, of the scene as a whole, and, where something is wrong already, those that
/// [`assemble`](crate::assemble()) would find in what is sound.
pub fn load(text: &str, name: &str, folder: &Path) -> Result<Parsed, SceneErrors> {
    let draft = Scene::draft(text, name, &VOCABULARY);
    let mut files = Files { draft: &draft, folder, assets: Assets::default(), problems: Vec::new() };
    if !draft.is_broken() {
        files.read();
    }
    let Files { assets, problems, .. } = files;
    let (checked, doubtful) = draft.judged(assets, problems);
    checked.map_err(|errors| match doubtful {
        Some(parsed) => assemble::further(parsed, errors),
        None => errors,
    })
}

/// The files of a scene as they are read.
struct Files<'a> {
    draft: &'a Draft,
    folder: &'a Path,
    assets: Assets,
    problems: Vec<Problem>,
}

impl Files<'_> {
    fn read(&mut self) {
        let scene = &self.draft.scene;
        for (i, g) in scene.grains.iter().enumerate() {
            let Place::Release(release) = &g.place else { continue };
            let (key, file) = match (&release.file, &release.raster) {
                (Some(file), _) => ("file", file),
                (None, Some(file)) => ("raster", file),
                (None, None) => continue,
            };
            let outlines = key == "file";
            let read = |f: &Path| maps::snow(file, outlines, f);
            if let Some(snow) = self.take(format!("grains[{i}].release.{key}"), file, read) {
                self.assets.releases.insert(i, snow);
            }
        }
        for (i, m) in scene.measure.iter().enumerate() {
            if let Some(file) = m.what.file()
                && let Some(line) =
                    self.take(format!("measure[{i}].{}.line", m.what.key()), file, |f| maps::line(file, f))
            {
                self.assets.lines.insert(i, line);
            }
        }
        if let Some(drag) = scene.ground.as_ref().and_then(|g| g.drag.as_ref()) {
            for (k, (key, file)) in
                [("mu_raster", &drag.mu_raster), ("xi_raster", &drag.xi_raster)].into_iter().enumerate()
            {
                if let Some(file) = file {
                    self.assets.drag[k] = self.take(format!("ground.drag.{key}"), file, |f| maps::field(file, f));
                }
            }
        }
        for (i, wall) in scene.walls.iter().enumerate() {
            if let Geometry::Mesh(file) = &wall.geometry
                && let Some((mesh, path)) = self.take(format!("walls[{i}].mesh"), &file.file, |f| mesh(file, f))
            {
                self.problems
                    .extend(path.as_ref().and_then(|_| doubts(self.draft, &format!("walls[{i}].mesh"), &mesh)));
                self.assets.walls.insert(i, Surface { facets: Arc::new(Facets::new(mesh)), path });
            }
        }
        for (name, shape) in &scene.shapes {
            let place = format!("shapes.{name}.mesh");
            if let ShapeSpec::Mesh(file) = shape
                && let Some((solid, doubt)) = self.take(place.clone(), &file.file, |f| solid(name, file, f))
            {
                let help = "take smaller spheres, or a mesh without thin parts";
                self.problems.extend(doubt.map(|d| self.draft.warning_at(&place, d, help)));
                self.assets.shapes.insert(name.clone(), solid);
            }
        }
        for (i, body) in scene.bodies.iter().enumerate() {
            let density = scene.materials.get(&body.material).map_or(f64::NAN, |m| m.density);
            let made = |f: &Path| bodies::solid(body, density, f);
            if let Some(solid) = self.take(format!("bodies[{i}].mesh"), &body.mesh, made) {
                self.assets.bodies.insert(i, solid);
            }
        }
        for (i, g) in scene.grains.iter().enumerate() {
            match &g.place {
                Place::At(At::File(file)) => {
                    let read = |f: &Path| packing(file, f);
                    if let Some(packing) = self.take(format!("grains[{i}].at"), &file.file, read) {
                        self.assets.packings.insert(i, packing);
                    }
                }
                Place::Fill(Fill { within: Some(file), .. }) => {
                    let made = |f: &Path| within(file, f);
                    if let Some(surface) = self.take(format!("grains[{i}].fill.within"), &file.file, made) {
                        self.assets.within.insert(i, surface);
                    }
                }
                Place::At(_) | Place::Fill(_) | Place::Release(_) | Place::Trees { .. } | Place::Sheet { .. } => {}
            }
        }
        for (i, m) in scene.continuum.iter().enumerate() {
            if let Some(file) = m.fill.as_ref().and_then(|f| f.within.as_ref())
                && let Some(surface) = self.take(format!("continuum[{i}].fill.within"), &file.file, |f| within(file, f))
            {
                self.assets.filled.insert(i, surface);
            }
        }
        self.read_heights();
        self.stand();
        if let Some(cache) = cache::folder() {
            self.assets.maps = kept::read(&self.draft.scene, &self.assets, &kept::folder(cache));
        }
    }

    /// Heights of the ground.
    fn read_heights(&mut self) {
        let Some(ground) = &self.draft.scene.ground else { return };
        let of_rock = ground.rock.is_some();
        let place = |own, rocks| if of_rock { rocks } else { own };
        let (image, terrain) = ground.files();
        let image = image.map(|i| (place("ground.image", "ground.rock.image"), &i.file, None));
        let terrain = terrain.map(|t| (place("ground.terrain", "ground.rock.terrain"), &t.file, t.nodata));
        let own_cell = of_rock && ground.cell.is_nan();
        if let Some((place, file, nodata)) = image.or(terrain) {
            let read = |f: &Path| heights(file, nodata, own_cell, f).map_err(|e| e.to_string());
            self.assets.heights = self.take(place.into(), file, read);
        }
    }

    /// What stands on the ground; where there is none, or it could not be read, that has been reported.
    fn stand(&mut self) {
        let scene = &self.draft.scene;
        let any = scene.walls.iter().any(|w| matches!(w.geometry, Geometry::Standing(_)));
        let Some(relief) = any.then(|| standing::relief(scene, self.assets.heights.as_ref())).flatten() else { return };
        for (i, wall) in scene.walls.iter().enumerate() {
            let Geometry::Standing(spec) = &wall.geometry else { continue };
            match standing::mesh(spec, &relief) {
                Ok(mesh) => {
                    self.assets.walls.insert(i, Surface { facets: Arc::new(Facets::new(mesh)), path: None });
                }
                Err(what) => {
                    let place = format!("walls[{i}].standing");
                    self.problems.push(self.draft.error_at(&place, what, "move it, or enlarge the ground"));
                }
            }
        }
    }

    /// What a file gives, unless a run's copy of it was changed or it cannot be read; both are reported at a place of the scene. One
    /// without a name has been reported.
    fn take<T>(&mut self, place: String, name: &str, read: impl FnOnce(&Path) -> Result<T, String>) -> Option<T> {
        if name.is_empty() {
            return None;
        }
        if let Err(e) = copies::check(name, self.folder) {
            self.problems.push(self.draft.error_at(&place, e.to_string(), copies::REMEDY));
            return None;
        }
        match read(self.folder) {
            Ok(found) => Some(found),
            Err(e) => {
                let found = built_in(name).is_some() || copies::located(name, self.folder).exists();
                let help = if found { UNFIT } else { HELP };
                self.problems.push(self.draft.error_at(&place, e, help));
                None
            }
        }
    }
}

/// The mesh of a file, its path taken from `folder`, or a built-in one (`box`, `sphere`, `cylinder`, `torus`, `trefoil`,
/// `screw`, `mixer`, `boot`, `wheels`, `plough`, …): vertices welded, triangles turned to agree, closed parts outwards. Also returns the file, if there is one.
pub fn mended(name: &str, folder: &Path) -> Result<(Mesh, Option<PathBuf>), String> {
    let (mut mesh, path) = match built_in(name) {
        Some(mesh) => (mesh, None),
        None => {
            let path = copies::located(name, folder);
            (barchan_io::mesh::read(&path).map_err(|e| e.to_string())?, Some(path))
        }
    };
    mesh.weld(mesh.rounding());
    mesh.orient();
    Ok((mesh, path))
}

/// Heights of an image or an elevation model, with `nodata` [m] where there are none; with the width of its cells, if that is to be the ground's.
fn heights(name: &str, nodata: Option<f64>, own_cell: bool, folder: &Path) -> Result<Heights, TerrainError> {
    let path = copies::located(name, folder);
    let terrain = terrain::read(&path)?.filled(nodata)?;
    let cell = own_cell.then(|| terrain.square_cell()).transpose()?;
    // Stretched over a ground of its own size it lies on no map.
    let georeference = terrain.georeference.clone().filter(|_| own_cell);
    Ok(Heights { size: terrain.size, samples: Arc::new(terrain.heights), cell, georeference, path })
}

/// Spheres that may line a body or a shape: they are made in some seconds, and more would be touched one by one anyway.
pub(crate) const MOST_LINING: usize = 20_000;
/// Share of a body's surface that its spheres should make.
const COVERED: f64 = 0.98;

/// A mended mesh that closes, and its file, if it has one.
pub(crate) fn closed(name: &str, folder: &Path) -> Result<(Mesh, Option<PathBuf>), String> {
    let (mesh, path) = mended(name, folder)?;
    let health = mesh.health();
    if health.is_closed() {
        return Ok((mesh, path));
    }
    Err(format!("a body needs a closed mesh, and this one is {health}"))
}

/// The solid of a closed mesh, lined with spheres, and what is doubtful about it.
fn solid(name: &str, file: &ShapeMesh, folder: &Path) -> Result<(Solid, Option<String>), String> {
    let (mesh, path) = closed(&file.file, folder)?;
    let mesh = mesh.scaled(file.scale);
    let mass = mesh.mass_properties().ok_or("the mesh has no volume")?;
    let settings = sampling::Settings {
        roughness: file.roughness,
        least: file.smallest,
        most: MOST_LINING,
        ..sampling::Settings::new(file.radius, Placement::Inside, 1)
    };
    let mut sampling = Sampling::new(&mesh, settings).map_err(|e| e.to_string())?;
    sampling.run();
    let (shape, radius) = Shape::solid(name, sampling.spheres(), &mass, &mesh).map_err(|e| e.to_string())?;
    // What no whole sphere can reach is what was asked for, where edges are to be rounded off.
    let quality = sampling.quality();
    let covered = quality.coverage + if file.smallest < 1.0 { 0.0 } else { quality.unreachable };
    let doubt = format!("its {} spheres make {:.1} % of its surface", sampling.spheres().len(), 100.0 * covered);
    Ok((Solid { shape: Arc::new(shape), radius, path }, (covered < COVERED).then_some(doubt)))
}

/// The mended mesh where it stands in the scene, and its file, if it has one.
fn mesh(file: &MeshFile, folder: &Path) -> Result<(Mesh, Option<PathBuf>), String> {
    let (mut mesh, path) = mended(&file.file, folder)?;
    if file.side == Side::Inside {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    let turn = DQuat::from_scaled_axis(file.turn);
    let place = DAffine3::from_scale_rotation_translation(DVec3::splat(file.scale), turn, file.at);
    Ok((mesh.transformed(&place), path))
}

/// The packing of a file where it stands in the scene.
fn packing(file: &PackedFile, folder: &Path) -> Result<Packing, String> {
    let path = copies::located(&file.file, folder);
    let mut grains = barchan_io::packing::read(&path).map_err(|e| e.to_string())?.sorted();
    grains.position.iter_mut().for_each(|x| *x = *x * file.scale + file.shift);
    grains.radius.iter_mut().for_each(|r| *r *= file.scale);
    grains.velocity.iter_mut().for_each(|v| *v *= file.scale);
    if !file.ids {
        grains.id.clear();
    }
    Ok(Packing { grains: Arc::new(grains), path })
}

/// A closed mesh that grains or a continuum fill.
fn within(file: &MeshFile, folder: &Path) -> Result<Surface, String> {
    closed(&file.file, folder)?;
    let (mesh, path) = mesh(&MeshFile { side: Side::Outside, ..file.clone() }, folder)?;
    Ok(Surface { facets: Arc::new(Facets::new(mesh)), path })
}

/// What of a wall's mesh may not be meant.
fn doubts(draft: &Draft, place: &str, mesh: &Mesh) -> Option<Problem> {
    let health = mesh.health();
    let odd = health.forks.count > 0 || health.crossings.count > 0;
    odd.then(|| draft.warning_at(place, format!("the mesh is {health}"), "mend it if grains are to pass there"))
}

/// A shape that needs no file.
fn built_in(name: &str) -> Option<Mesh> {
    Some(match name {
        "box" => Mesh::box_of(DVec3::ONE),
        "sphere" => Mesh::sphere(1.0, 4),
        "cylinder" => Mesh::cylinder(1.0, 1.0, 64),
        "torus" => Mesh::torus(1.0, 0.35, 64, 32),
        "trefoil" => Mesh::trefoil(1.0, 0.3, 192, 24),
        "pawn" => pawn(),
        "rook" => rook(),
        "bishop" => bishop(),
        "shovel" => shovel(),
        "bucket" => bucket(),
        "pail" => pail(),
        "screw" => screw(1.0, 0.25, 4.0, 4.0),
        "mixer" => mixer(),
        "boot" => outdoors::boot(),
        "wheels" => outdoors::wheels(),
        "plough" => outdoors::plough(),
        _ => return None,
    })
}

/// A helical sheet about a shaft along z, of outer and shaft radius, length and number of turns.
fn screw(outer: f64, shaft: f64, length: f64, turns: f64) -> Mesh {
    const PER_TURN: usize = 48;
    let steps = (turns * PER_TURN as f64) as usize;
    let mut mesh = Mesh::cylinder(shaft, 1.1 * length, 32);
    let base = mesh.vertices.len() as u32;
    for k in 0..=steps {
        let part = k as f64 / steps as f64;
        let (sin, cos) = math::sin_cos(std::f64::consts::TAU * turns * part);
        let z = length * (part - 0.5);
        // The inner rim lies inside the shaft, so that nothing passes between them.
        mesh.vertices.extend([0.6 * shaft, outer].map(|r| DVec3::new(r * cos, r * sin, z)));
    }
    for k in 0..steps as u32 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| base + 2 * k + n);
        mesh.triangles.extend([[a, b, c], [b, d, c]]);
    }
    mesh
}

/// A solid turned on a lathe about z, of height 1, its foot on the ground: radii and heights from below.
fn turned(profile: &[[f64; 2]]) -> Mesh {
    Mesh::lathe(&profile.iter().map(|&[r, z]| DVec2::new(r, z)).collect::<Vec<_>>(), 32)
}

/// Part of a circle about (0, z) of that radius, between two angles from straight down.
fn arc(z: f64, radius: f64, from: f64, to: f64) -> impl Iterator<Item = [f64; 2]> {
    (0..=10).map(move |k| {
        let (sin, cos) = math::sin_cos((from + (to - from) * f64::from(k) / 10.0).to_radians());
        [radius * sin, z - radius * cos]
    })
}

/// What stands under the heads of chess pieces: a foot, and a body that narrows to the collar.
const FOOT: [[f64; 2]; 9] = [
    [0.0, 0.0],
    [0.27, 0.0],
    [0.28, 0.03],
    [0.28, 0.09],
    [0.21, 0.16],
    [0.16, 0.26],
    [0.12, 0.42],
    [0.1, 0.54],
    [0.11, 0.6],
];

fn pawn() -> Mesh {
    let collar = [[0.19, 0.63], [0.19, 0.66], [0.11, 0.7]];
    turned(&FOOT.into_iter().chain(collar).chain(arc(0.84, 0.16, 45.0, 180.0)).collect::<Vec<_>>())
}

fn rook() -> Mesh {
    let tower = [[0.2, 0.68], [0.22, 0.72], [0.22, 1.0], [0.15, 1.0], [0.15, 0.9], [0.0, 0.9]];
    turned(&FOOT.into_iter().chain(tower).collect::<Vec<_>>())
}

fn bishop() -> Mesh {
    let collar = [[0.2, 0.63], [0.2, 0.66], [0.1, 0.69]];
    let hat = [[0.15, 0.76], [0.16, 0.81], [0.14, 0.87], [0.05, 0.95], [0.05, 0.98], [0.0, 1.0]];
    turned(&FOOT.into_iter().chain(collar).chain(hat).collect::<Vec<_>>())
}

/// A scoop of unit width and length, open to +x, with its blade on the ground.
fn shovel() -> Mesh {
    let mut mesh = Mesh::default();
    let plates = [
        (DVec3::new(1.0, 1.0, 0.04), DVec3::new(0.5, 0.0, 0.02)),
        (DVec3::new(0.04, 1.0, 0.4), DVec3::new(0.02, 0.0, 0.2)),
        (DVec3::new(0.7, 0.04, 0.3), DVec3::new(0.35, 0.48, 0.15)),
        (DVec3::new(0.7, 0.04, 0.3), DVec3::new(0.35, -0.48, 0.15)),
    ];
    for (size, at) in plates {
        mesh.append(&Mesh::box_of(size).transformed(&DAffine3::from_translation(at)));
    }
    mesh
}

/// A bucket of height 1 and mouth of diameter 1, its foot on the ground.
fn bucket() -> Mesh {
    turned(&[[0.0, 0.0], [0.36, 0.0], [0.5, 1.0], [0.46, 1.0], [0.33, 0.05], [0.0, 0.05]])
}

/// A bucket with walls so thick that a grid of moderate cells sees them.
fn pail() -> Mesh {
    turned(&[[0.0, 0.0], [0.36, 0.0], [0.5, 1.0], [0.42, 1.0], [0.28, 0.09], [0.0, 0.09]])
}

/// Four blades across a shaft along z, set at 45°.
fn mixer() -> Mesh {
    let mut mesh = Mesh::cylinder(0.1, 2.0, 32);
    for k in 0..4 {
        let mut blade = Mesh::box_of(DVec3::new(0.95, 0.06, 0.4));
        let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2 * f64::from(k))
            * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let arm = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2 * f64::from(k)) * DVec3::new(0.525, 0.0, -0.7);
        blade = blade.transformed(&DAffine3::from_rotation_translation(turn, arm));
        mesh.append(&blade);
    }
    mesh
}
