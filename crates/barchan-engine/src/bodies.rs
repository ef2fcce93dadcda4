//! Bodies of a scene: solids from meshes, with the surfaces that grains touch.

use crate::assemble::Setup;
use crate::meshes;
use barchan_core::boundary::{Body as Rigid, Carried, Drive};
use barchan_core::mesh::Mesh;
use barchan_core::sampling::{self, Placement, Sampling, SamplingError};
use barchan_core::sdf::{Field, SdfError};
use barchan_core::shapes::{Shape, ShapeSphere};
use barchan_core::solver::NewMatter;
use barchan_core::walls::{Facets, Geometry, Keyframe, Motion, Wall};
use barchan_scene::{Body, BodyContact, BodyDrive, Parsed, Problem, Scene, Solid};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::path::Path;
use std::sync::Arc;

/// Radius of the spheres that line a body, over its longest side, where none is given.
const LINING: f64 = 1.0 / 12.0;
/// Share of the surface that spheres must reach; else they are made smaller.
const REACHED: f64 = 0.7;
/// Times they are halved.
const HALVINGS: usize = 5;
/// Gap between the spheres of a lining and the surface, over their radius. What they meet is as flat as their own surface:
/// walls, and the faces of other bodies. Spheres that grains touch lie closer.
const ROUGHNESS: f64 = 0.5;

/// The solid of a body: mass, lining and skin.
pub(crate) fn solid(body: &Body, density: f64, folder: &Path) -> Result<Solid, String> {
    let (mesh, path) = meshes::closed(&body.mesh, folder)?;
    let mesh = mesh.transformed(&DAffine3::from_scale(body.scale));
    let mut solid = mesh.mass_properties().ok_or("the mesh has no volume")?;
    if let Some(centre) = body.centre {
        solid.centroid = centre;
    }
    if let Some(moments) = body.inertia {
        let density = body.mass.map_or(body.density.unwrap_or(density), |m| m / solid.volume);
        solid.inertia = DMat3::from_diagonal(moments / density);
    }
    let spheres = lining(body, &mesh)?;
    let shape = Shape::solid(&body.name, &spheres, &solid, &mesh).map_err(|e| e.to_string())?;
    let (shape, radius) = shape;
    Ok(Solid { shape: Arc::new(shape), radius, path })
}

/// Centres and radii of the spheres that line a body [m].
fn lining(body: &Body, mesh: &Mesh) -> Result<Vec<(DVec3, f64)>, String> {
    let (low, high) = mesh.bounds().ok_or("the mesh has no vertices")?;
    let mut radius = body.radius.unwrap_or(LINING * (high - low).max_element());
    let mut rounds = if body.radius.is_some() { 0 } else { HALVINGS };
    loop {
        let mut settings = sampling::Settings::new(radius, Placement::Inside, 1);
        if body.contact != BodyContact::Spheres {
            (settings.roughness, settings.least) = (ROUGHNESS, 1.0);
        }
        settings.most = meshes::MOST_LINING;
        let mut sampling = match Sampling::new(mesh, settings) {
            Err(SamplingError::TooMany { remedy, most, .. }) if body.radius.is_none() => {
                return Err(format!(
                    "it is too thin: even {most} spheres inside it would not reach its surface; make it at least {:.1e} m thick",
                    2.0 * remedy
                ));
            }
            made => made.map_err(|e| e.to_string())?,
        };
        sampling.run();
        let reached = sampling.quality().coverage;
        if reached >= REACHED {
            return Ok(sampling.spheres().to_vec());
        }
        if rounds == 0 {
            let share = 100.0 * reached;
            return Err(format!(
                "spheres of {radius:.2e} m inside it reach {share:.0} % of its surface: use smaller ones"
            ));
        }
        rounds -= 1;
        radius *= 0.5;
    }
}

/// One body of the scene, by its name and by where the solver has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Name; numbered where several share a table.
    pub name: String,
    /// Id of its grain.
    pub grain: u32,
}

/// All bodies of a scene. They are born first, in the order of the scene, so that their ids are known.
pub fn named(scene: &Scene) -> Vec<Named> {
    let names = scene.bodies.iter().flat_map(|b| {
        let name = move |k: usize| if b.at.len() == 1 { b.name.clone() } else { format!("{} {}", b.name, k + 1) };
        (0..b.at.len()).map(name)
    });
    names.enumerate().map(|(id, name)| Named { name, grain: id as u32 }).collect()
}

/// What the bodies of a scene bring to a solver.
#[derive(Clone, Default)]
pub(crate) struct Bodies {
    /// Grains, to be born first.
    pub grains: Vec<NewMatter>,
    /// Surfaces, to stand after the walls of the scene.
    pub walls: Vec<Wall>,
    /// Which surface belongs to which grain.
    pub carried: Vec<Carried>,
}

impl Bodies {
    /// Of a scene whose bodies' shapes begin at `first_shape`, their walls at `first_wall`. `balls` are the radii of the
    /// smallest and of the largest ball that may touch a body [m].
    pub fn of(parsed: &Parsed, first_shape: usize, first_wall: usize, balls: [f64; 2]) -> Result<Bodies, Problem> {
        let scene = &parsed.scene;
        let mut all = Bodies::default();
        let names = named(scene);
        for (i, body) in scene.bodies.iter().enumerate() {
            let place = format!("bodies[{i}].mesh");
            if body.at.is_empty() {
                continue;
            }
            let unread =
                || parsed.error_at(&place, "the mesh has not been read", "read the scene by `barchan_engine::load`");
            let Solid { shape, radius: unit, .. } = parsed.assets.bodies.get(&i).ok_or_else(unread)?;
            let index = (first_shape + i) as u16;
            let material = scene.materials.get_index_of(&body.material).unwrap_or_default() as u16;
            let volume = shape.volume() * unit.powi(3);
            let mass = body.mass.or(body.density.map(|d| d * volume));
            let surface = surface(body, shape, *unit, balls)
                .map_err(|e| parsed.error_at(&format!("bodies[{i}].contact"), e.to_string(), FIELD_HELP))?;
            let file = DQuat::from_scaled_axis(body.turn);
            let orientation = file * shape.to_principal().inverse();
            for at in &body.at {
                let grain = all.grains.len();
                let position = *at + file * shape.centre(*unit);
                if let Some(geometry) = &surface {
                    let mut wall = Wall::new(names[grain].name.clone(), geometry.clone(), material);
                    let (time, turn) = (0.0, orientation.to_scaled_axis());
                    wall.motion =
                        Motion { keyframes: vec![Keyframe { time, at: position, turn }], ..Motion::default() };
                    all.carried.push(Carried { wall: (first_wall + all.walls.len()) as u16, body: grain as u32 });
                    all.walls.push(wall);
                }
                all.grains.push(NewMatter {
                    position,
                    velocity: body.velocity,
                    spin: body.spin,
                    orientation,
                    radius: *unit,
                    mass,
                    material,
                    shape: index,
                });
            }
        }
        if first_wall + all.walls.len() > usize::from(u16::MAX) {
            let help = "use fewer, or `contact = \"spheres\"`, or grains of a shape with that mesh";
            return Err(parsed.error_at("bodies", "there are more than 65,535 walls and bodies with a surface", help));
        }
        Ok(all)
    }

    /// The bodies as the boundary has them: surface, inertia, drive.
    pub fn rigid(&self, scene: &Scene, setup: &Setup) -> Vec<Rigid> {
        let tables = scene.bodies.iter().flat_map(|b| b.at.iter().map(move |_| b));
        let one = |(id, (new, table)): (usize, (&NewMatter, &Body))| {
            let shape = &setup.shapes[new.shape as usize];
            let density = setup.materials.list[new.material as usize].density;
            let mass = new.mass.unwrap_or(density * shape.volume() * new.radius.powi(3));
            let inertia = mass * new.radius.powi(2) / shape.volume() * shape.inertia();
            let wall = self.carried.iter().find(|c| c.body as usize == id).map(|c| c.wall);
            let drive = |d: &BodyDrive| Drive {
                axis: shape.to_principal() * d.axis.normalize_or_zero(),
                torque: d.torque,
                max_spin: d.max_spin,
                from: d.from,
                until: d.until,
            };
            Rigid::new(wall, inertia.recip(), table.drive.as_ref().map(drive))
        };
        self.grains.iter().zip(tables).enumerate().map(one).collect()
    }

    /// Of each body: material, radius of its smallest sphere [m], its mass as a push on its rim feels it [kg]: what is pushed off its
    /// centre yields by turning as well.
    pub fn rims(&self, shapes: &[Shape], densities: &[f64]) -> Vec<(u16, f64, f64)> {
        let one = |g: &NewMatter| {
            let shape = &shapes[g.shape as usize];
            let mass = g.mass.unwrap_or(densities[g.material as usize] * shape.volume() * g.radius.powi(3));
            let least = shape.spheres().iter().map(|s| s.radius).fold(1.0, f64::min);
            let turning = shape.volume() * shape.bounding_radius().powi(2) / shape.inertia().min_element();
            (g.material, least * g.radius, mass / (1.0 + turning))
        };
        self.grains.iter().map(one).collect()
    }

    /// The same, as if all spheres of one side bore at once, a body's side being about a sixth of it: what a time step must resolve.
    pub fn contacts(&self, shapes: &[Shape], densities: &[f64]) -> Vec<(u16, f64, f64)> {
        let together = |g: &NewMatter| (shapes[g.shape as usize].spheres().len() as f64 / 6.0).max(1.0);
        let rims = self.rims(shapes, densities).into_iter();
        rims.zip(&self.grains).map(|((material, radius, mass), g)| (material, radius, mass / together(g))).collect()
    }

    /// Bodies that begin within a wall or within another.
    pub fn overlaps(&self, parsed: &Parsed, setup: &Setup) -> Vec<Problem> {
        let slack = 1.0 - setup.max_overlap;
        let states: Vec<_> = setup.fixtures.walls.iter().map(|w| w.state_at(0.0)).collect();
        let tables = parsed.scene.bodies.iter().enumerate().flat_map(|(i, b)| (0..b.at.len()).map(move |k| (i, k)));
        let tables: Vec<(usize, usize)> = tables.collect();
        let spheres = |g: &NewMatter| -> Vec<(DVec3, f64)> {
            let place = |s: &ShapeSphere| (g.position + g.orientation * (s.centre * g.radius), s.radius * g.radius);
            setup.shapes[g.shape as usize].spheres().iter().map(place).collect()
        };
        let reach = |g: &NewMatter| setup.shapes[g.shape as usize].bounding_radius() * g.radius;
        let own = |id: usize| self.carried.iter().find(|c| c.body as usize == id).map(|c| c.wall as usize);
        let owns: Vec<Option<usize>> = (0..self.grains.len()).map(own).collect();
        let mut problems = Vec::new();
        for (id, grain) in self.grains.iter().enumerate() {
            let mut refuse = |depth: f64, what: &str| {
                if depth > 0.0 {
                    let (message, (i, k)) = (format!("this body reaches {depth:.2e} m into {what}"), tables[id]);
                    problems.push(parsed.error_at(&format!("bodies[{i}].at[{k}]"), message, "move them apart"));
                }
            };
            let lining = spheres(grain);
            for w in (0..setup.fixtures.walls.len()).filter(|&w| Some(w) != owns[id]) {
                let (wall, state) = (&setup.fixtures.walls[w], &states[w]);
                if wall.least_distance(state, grain.position) < reach(grain) {
                    let depth = |&(x, r): &(DVec3, f64)| r * slack - wall.clearance(state, x);
                    refuse(lining.iter().map(depth).fold(0.0, f64::max), &wall.name);
                }
            }
            // A body with a surface is a wall to the others; those without meet by their spheres.
            for (other, n) in self.grains[..id].iter().zip(0..).filter(|(_, n)| owns[id].or(owns[*n]).is_none()) {
                if grain.position.distance(other.position) < reach(grain) + reach(other) {
                    let theirs = spheres(other);
                    let pairs = lining.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
                    let depth = pairs.map(|(a, b)| (a.1 + b.1) * slack - a.0.distance(b.0)).fold(0.0, f64::max);
                    refuse(depth, &format!("body {}", n + 1));
                }
            }
        }
        problems
    }
}

/// What grains touch, in the body's own frame; none where they touch its spheres.
fn surface(body: &Body, shape: &Shape, unit: f64, balls: [f64; 2]) -> Result<Option<Geometry>, SdfError> {
    let Some(mesh) = shape.skin().map(|m| m.scaled(unit)) else { return Ok(None) };
    Ok(match body.contact {
        BodyContact::Spheres => None,
        BodyContact::Mesh => Some(Geometry::Mesh(Arc::new(Facets::about(mesh, DVec3::ZERO)))),
        BodyContact::Field => {
            let [least, largest] = balls;
            let (low, high) = mesh.bounds().unwrap_or_default();
            let cell = ((high - low).max_element() / CELLS).min(least);
            // Balls are looked for up to a skin of their own radius and one of the wall's beyond it.
            Some(Geometry::Field(Arc::new(Field::build(&mesh, cell, 3.0 * largest + cell)?)))
        }
    })
}

const FIELD_HELP: &str = "use `contact = \"mesh\"`, or smaller bodies and grains of more even size";
/// Cells of a body's distance field along its longest side, at least.
const CELLS: f64 = 64.0;
