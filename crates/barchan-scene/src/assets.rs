//! What the files that a scene names hold, made ready: the scene says `mesh = "hopper.stl"`, and its triangles are here.
//!
//! Files are read once, between reading a scene and checking it; whoever reads them fills this. A scene stays plain data.

use crate::keys::Scale;
use crate::types::*;
use barchan_core::georeference::Georeference;
use barchan_core::packed::Packed;
use barchan_core::shapes::{Shape, ShapeError};
use barchan_core::walls::{self, Facets};
use glam::{DVec2, DVec3};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What the files of a scene hold, by the tables that name them.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    /// Triangles of walls, by the wall's index.
    pub walls: BTreeMap<usize, Surface>,
    /// Shapes of grains, by name.
    pub shapes: BTreeMap<String, Solid>,
    /// Bodies, by index.
    pub bodies: BTreeMap<usize, Solid>,
    /// Heights of the ground.
    pub heights: Option<Heights>,
    /// Outlines and thicknesses of releases, by the population's index.
    pub releases: BTreeMap<usize, Snow>,
    /// Lines that measurements follow, by the measurement's index.
    pub lines: BTreeMap<usize, Line>,
    /// Rasters of μ and of ξ of the rock's drag.
    pub drag: [Option<Field>; 2],
    /// Packings of populations that are placed from a file, by the population's index.
    pub packings: BTreeMap<usize, Packing>,
    /// Closed meshes within which populations are filled, by the population's index.
    pub within: BTreeMap<usize, Surface>,
    /// Volume maps of meshes that an earlier run has made, as bytes by the names of their keys.
    pub maps: BTreeMap<String, Arc<[u8]>>,
    /// Closed meshes that populations of a continuum fill, by the population's index.
    pub filled: BTreeMap<usize, Surface>,
    /// Clumps that have been put together: their moments take time, and a check asks for them again and again.
    clumps: Arc<Mutex<Vec<Made>>>,
}

/// A clump by its name and its spheres as listed (centre and radius [m]), and what they make.
type Made = (String, Vec<(DVec3, f64)>, Result<(Shape, f64), ShapeError>);

/// Triangles as they stand in the scene.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The triangles.
    pub facets: Arc<Facets>,
    /// The file they came from; none for a shape that needs none.
    pub path: Option<PathBuf>,
}

/// A solid that was made from its mesh.
#[derive(Clone, Debug)]
pub struct Solid {
    /// The shape, in units of the radius of its largest sphere.
    pub shape: Arc<Shape>,
    /// Radius of its largest sphere [m].
    pub radius: f64,
    /// The file it came from; none for a shape that needs none.
    pub path: Option<PathBuf>,
}

/// A packing as it stands in the scene.
#[derive(Clone, Debug)]
pub struct Packing {
    /// Its grains.
    pub grains: Arc<Packed>,
    /// The file.
    pub path: PathBuf,
}

impl Packing {
    /// Index into the scene's materials of each grain; none where the population's holds. The error names a material that the scene does
    /// not have.
    pub fn materials(&self, scene: &Scene, file: &PackedFile) -> Result<Option<Vec<u16>>, String> {
        let packed = &self.grains;
        if packed.material.is_empty() {
            return Ok(None);
        }
        let find = |name: &str| scene.materials.get_index_of(name).map(|i| i as u16);
        // Numbers of types mean nothing to a scene that does not say what they are.
        let numbered = packed.materials.iter().all(|m| m.parse::<u32>().is_ok()) && file.materials.is_empty();
        if numbered && !packed.materials.iter().any(|m| find(m).is_some()) {
            return Ok(None);
        }
        let name_of = |m: u16| {
            let own = packed.materials[usize::from(m)].as_str();
            match own.parse::<usize>() {
                Ok(number) if !file.materials.is_empty() => {
                    file.materials.get(number.wrapping_sub(1)).map(String::as_str).ok_or_else(|| format!("type {own}"))
                }
                _ if !file.materials.is_empty() => {
                    file.materials.get(usize::from(m)).map(String::as_str).ok_or_else(|| format!("material {own}"))
                }
                _ => Ok(own),
            }
        };
        let index = |m: &u16| find(name_of(*m)?).ok_or_else(|| name_of(*m).unwrap_or_default().to_owned());
        packed.material.iter().map(index).collect::<Result<Vec<u16>, String>>().map(Some)
    }
}

/// Heights of a file as they were read.
#[derive(Clone, Debug)]
pub struct Heights {
    /// Samples along x and y.
    pub size: [usize; 2],
    /// Heights [m] (of an image: its brightness from 0 to 1), x first, lowest y first.
    pub samples: Arc<Vec<f64>>,
    /// Width of a cell [m], where it is taken from the file.
    pub cell: Option<f64>,
    /// Where it lies on the map, where the file says it and the ground has its cells.
    pub georeference: Option<Georeference>,
    /// The file.
    pub path: PathBuf,
}

/// Where snow lies at the start, as files say it.
#[derive(Clone, Debug)]
pub struct Snow {
    /// Outlines in map coordinates with their thicknesses [m], where the file has them.
    pub areas: Vec<(Vec<Vec<DVec2>>, Option<f64>)>,
    /// Thickness cell by cell [m].
    pub field: Option<Field>,
    /// The file.
    pub path: PathBuf,
}

/// A line in map coordinates.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its points.
    pub points: Vec<DVec2>,
    /// The file.
    pub path: PathBuf,
}

/// Numbers on the grid of a map.
#[derive(Clone, Debug)]
pub struct Field {
    /// Cells along x and y.
    pub size: [usize; 2],
    /// Where it lies; none where the file does not say it.
    pub georeference: Option<Georeference>,
    /// Values, x first, lowest y first; NaN where there is none.
    pub values: Arc<Vec<f64>>,
    /// The file.
    pub path: PathBuf,
}

impl Assets {
    /// A wall of the scene at rest, with its bumps as they lie in the domain, of a material by its index.
    pub fn wall(&self, scene: &Scene, index: usize, material: u16) -> walls::Wall {
        let (wall, domain) = (&scene.walls[index], &scene.domain);
        let facets = self.walls.get(&index).map(|s| s.facets.clone()).unwrap_or_default();
        let core = walls::Wall::new(wall.name.clone(), wall.geometry.to_core(facets), material);
        let Some(rough) = &wall.rough else { return core };
        let rough = walls::Roughness { radius: rough.radius, spacing: rough.spacing };
        core.roughened(rough, [domain.min, domain.max], domain.is_periodic())
    }

    /// A shape that the scene describes, with the radius of its largest sphere as listed [m] (none for a tetrahedron, which has no size).
    pub fn described(&self, name: &str, spec: &ShapeSpec) -> Result<(Shape, Option<f64>), ShapeError> {
        match spec {
            ShapeSpec::Tetrahedron { edge } => Ok((Shape::tetrahedron(*edge)?, None)),
            ShapeSpec::Spheres(list) => {
                let spheres: Vec<_> = list.iter().map(|s| (s.at, s.radius)).collect();
                let mut known = self.clumps.lock().unwrap_or_else(PoisonError::into_inner);
                let made = match known.iter().find(|(n, s, _)| n == name && *s == spheres) {
                    Some((_, _, made)) => made.clone(),
                    None => {
                        let made = Shape::clump(name, &spheres);
                        known.push((name.into(), spheres, made.clone()));
                        made
                    }
                };
                made.map(|(shape, radius)| (shape, Some(radius)))
            }
            ShapeSpec::Mesh(_) => match self.shapes.get(name) {
                Some(solid) => Ok(((*solid.shape).clone(), Some(solid.radius))),
                None => Err(ShapeError::Empty { name: name.into() }),
            },
        }
    }

    /// A shape by its name: built in, or one of the scene's. None for a name nobody knows or a shape that is impossible.
    pub fn shape(&self, scene: &Scene, name: &str) -> Option<(Shape, Option<f64>)> {
        match scene.shapes.get(name) {
            Some(spec) => self.described(name, spec).ok(),
            None if name == ShapeSpec::SPHERE => Some((Shape::sphere(), None)),
            None if name == ShapeSpec::TETRAHEDRON => {
                Some((Shape::tetrahedron(ShapeSpec::TETRAHEDRON_EDGE).ok()?, None))
            }
            None => None,
        }
    }

    /// Radius of the largest sphere of a shape as listed [m]; none for one without a size of its own.
    pub fn listed_radius(&self, scene: &Scene, name: &str) -> Option<f64> {
        match scene.shapes.get(name)? {
            ShapeSpec::Spheres(list) => list.iter().map(|s| s.radius).reduce(f64::max),
            ShapeSpec::Tetrahedron { .. } => None,
            ShapeSpec::Mesh(_) => self.shapes.get(name).map(|s| s.radius),
        }
    }

    /// The files, by the names they have in the scene.
    pub fn files(&self, scene: &Scene) -> Vec<(String, PathBuf)> {
        let walls = self.walls.iter().filter_map(|(i, surface)| {
            let Geometry::Mesh(mesh) = &scene.walls.get(*i)?.geometry else { return None };
            Some((mesh.file.clone(), surface.path.clone()?))
        });
        let shapes = scene.shapes.iter().filter_map(|(name, spec)| {
            let ShapeSpec::Mesh(mesh) = spec else { return None };
            Some((mesh.file.clone(), self.shapes.get(name)?.path.clone()?))
        });
        let bodies =
            self.bodies.iter().filter_map(|(i, s)| Some((scene.bodies.get(*i)?.mesh.clone(), s.path.clone()?)));
        let ground = scene.ground.as_ref().and_then(|g| {
            let (image, terrain) = g.files();
            let file = image.map(|i| &i.file).or(terrain.map(|t| &t.file))?;
            Some((file.clone(), self.heights.as_ref()?.path.clone()))
        });
        let releases = self.releases.iter().filter_map(|(i, snow)| {
            let Place::Release(release) = &scene.grains.get(*i)?.place else { return None };
            Some((release.file.clone().or(release.raster.clone())?, snow.path.clone()))
        });
        let drag = scene.ground.as_ref().and_then(|g| g.drag.as_ref()).into_iter().flat_map(|d| {
            let named = [&d.mu_raster, &d.xi_raster].into_iter().zip(&self.drag);
            named.filter_map(|(name, field)| Some((name.clone()?, field.as_ref()?.path.clone()))).collect::<Vec<_>>()
        });
        let lines = self.lines.iter().filter_map(|(i, line)| {
            let file = scene.measure.get(*i)?.what.file()?;
            Some((file.to_owned(), line.path.clone()))
        });
        let packings = self.packings.iter().filter_map(|(i, packing)| {
            let Place::At(At::File(file)) = &scene.grains.get(*i)?.place else { return None };
            Some((file.file.clone(), packing.path.clone()))
        });
        let within = self.within.iter().filter_map(|(i, surface)| {
            let Place::Fill(fill) = &scene.grains.get(*i)?.place else { return None };
            Some((fill.within.as_ref()?.file.clone(), surface.path.clone()?))
        });
        let filled = self.filled.iter().filter_map(|(i, surface)| {
            let fill = scene.continuum.get(*i)?.fill.as_ref()?;
            Some((fill.within.as_ref()?.file.clone(), surface.path.clone()?))
        });
        let snow = releases.chain(drag).chain(lines);
        walls
            .chain(shapes)
            .chain(bodies)
            .chain(ground)
            .chain(snow)
            .chain(packings)
            .chain(within)
            .chain(filled)
            .collect()
    }

    /// What belongs to a scene that was made larger. Shapes of grains keep their size.
    pub(crate) fn grown(&self, scale: &Scale) -> Assets {
        let mut all = self.clone();
        for surface in all.walls.values_mut() {
            surface.facets = Arc::new(Facets::new(surface.facets.mesh().scaled(scale.length)));
        }
        all.bodies.values_mut().for_each(|solid| solid.radius *= scale.length);
        for surface in all.within.values_mut().chain(all.filled.values_mut()) {
            surface.facets = Arc::new(Facets::new(surface.facets.mesh().scaled(scale.length)));
        }
        for packing in all.packings.values_mut() {
            let mut grains = (*packing.grains).clone();
            grains.position.iter_mut().for_each(|x| *x *= scale.length);
            grains.radius.iter_mut().for_each(|r| *r *= scale.length);
            grains.velocity.iter_mut().for_each(|v| *v *= scale.length / scale.time);
            grains.spin.iter_mut().for_each(|w| *w /= scale.time);
            packing.grains = Arc::new(grains);
        }
        all
    }
}
