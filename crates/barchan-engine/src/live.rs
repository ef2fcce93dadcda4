//! A world that is touched while it runs: values that change, grains that are pushed, poured and dug out.
//!
//! The scene stays what it was; changes are kept beside it, and go into the checkpoint, so that a run that is saved goes
//! on as it was left. [`World::changed_scene`] writes them into a scene, for a new start with other values.

use crate::assemble::continuum::{self, FRICTION_ANGLE};
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter};
use crate::emit::{Space, find_room};
use crate::world::{World, WorldError};
use barchan_core::clock::Warp;
use barchan_core::columns::Column;
use barchan_core::frame::GRAINS;
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::regions::Region;
use barchan_core::solver::{Knob, NewMatter};
use barchan_scene::{EmitterFlow, Outside, Scene};
use glam::{DQuat, DVec2, DVec3, IVec3};
use std::f64::consts::PI;
use std::ops::Range;

/// Stream of random numbers for grains poured by hand: apart from all populations of scenes.
const BY_HAND: u64 = (1 << 24) - 1;

/// What has been done to a world by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Live {
    /// What pours by hand: the first population.
    pub recipe: Option<Recipe>,
    /// Index of the solver that it belongs to.
    pub solver: usize,
    /// The emitters' clock.
    pub flow: Warp,
    /// Whether anything was changed at all.
    pub touched: bool,
    /// Grains poured by hand.
    pub poured: u64,
    /// Indices of the materials of continua that name none: those have the friction that follows from the friction angle.
    pub own: Range<u16>,
}

/// What became of a ball that was to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// There was no room for it.
    NoRoom,
    /// It is a grain.
    Grain,
    /// It is made of the continuum's own matter.
    Matter {
        /// Particles that it is made of.
        pieces: usize,
    },
}

/// Sites of a cubic lattice of that spacing [m] that make up a ball [m]: those nearest to its centre, as many as have its volume, at least one.
fn ball_of_sites(centre: DVec3, radius: f64, spacing: f64) -> Vec<DVec3> {
    let volume = 4.0 / 3.0 * PI * (radius / spacing).powi(3);
    let many = (volume.round() as usize).max(1);
    let reach = (radius / spacing).ceil() as i32 + 1;
    let line = move || -reach..reach;
    let cells = line().flat_map(move |z| line().flat_map(move |y| line().map(move |x| IVec3::new(x, y, z))));
    // Twice as far, so that distances are whole numbers, alike on every machine. Of equal ones a site and its opposite come together, or the
    // ball would be lopsided.
    let mut sites: Vec<IVec3> = cells.map(|c| 2 * c + 1).collect();
    sites.sort_by_key(|s| (s.length_squared(), s.to_array().min((-*s).to_array()), s.to_array()));
    sites.truncate(many);
    sites.into_iter().map(|s| centre + 0.5 * spacing * s.as_dvec3()).collect()
}

impl World {
    /// Changes gravity [m/s²].
    pub fn set_gravity(&mut self, gravity: DVec3) {
        self.live.touched = true;
        self.rouse();
        self.gravity = gravity;
        self.boundary.gravity = gravity;
        self.solvers.iter_mut().for_each(|s| s.set_gravity(gravity));
    }

    /// Changes a material's friction and restitution.
    pub fn set_material(&mut self, index: usize, friction: f64, restitution: f64) -> Result<(), WorldError> {
        let mut materials = self.materials.clone();
        if let Some(material) = materials.list.get_mut(index) {
            (material.friction, material.restitution) = (friction, restitution);
        }
        self.solvers.iter_mut().try_for_each(|s| s.set_materials(&materials))?;
        self.materials = materials;
        self.live.touched = true;
        self.rouse();
        Ok(())
    }

    /// What may be changed of each solver while it runs.
    pub fn knobs(&self) -> Vec<Knob> {
        self.solvers.iter().flat_map(|s| s.knobs()).collect()
    }

    /// The knob of an index in [`World::knobs`] has this value from the next step on. Walls that hold a continuum with its own friction
    /// follow its friction angle.
    pub fn set_knob(&mut self, index: usize, value: f64) -> Result<(), WorldError> {
        let Some(was) = self.knobs().get(index).copied() else { return Ok(()) };
        self.turn(index, value)?;
        self.live.touched = true;
        self.rouse();
        let own = was.material.filter(|m| was.name == FRICTION_ANGLE && self.live.own.contains(m));
        if let Some(m) = own.map(usize::from)
            && self.materials.list[m].friction == math::tan(was.value)
        {
            self.set_material(m, math::tan(value), self.materials.list[m].restitution)?;
        }
        Ok(())
    }

    /// Gives a knob a value, and does nothing else.
    fn turn(&mut self, index: usize, value: f64) -> Result<(), WorldError> {
        let mut first = 0;
        for solver in self.solvers.iter_mut() {
            let many = solver.knobs().len();
            if index < first + many {
                return Ok(solver.set_knob(index - first, value)?);
            }
            first += many;
        }
        Ok(())
    }

    /// Lets emitters pour at `factor` times the scene's rate from now on; 0 stops them, and what was poured stays.
    pub fn set_flow(&mut self, factor: f64) {
        self.live.touched = true;
        let time = self.time();
        self.live.flow.set(factor.max(0.0), time);
    }

    /// Lets walls go on with their prescribed motion at `factor` times its pace; 0 holds them, −1 takes them back the
    /// way they came.
    pub fn set_wall_pace(&mut self, factor: f64) {
        self.live.touched = true;
        let time = self.time();
        self.boundary.set_pace(factor, time);
    }

    /// Factors of the emitters' rate and the walls' pace.
    pub fn paces(&self) -> [f64; 2] {
        [self.live.flow.factor(), self.boundary.clock().factor()]
    }

    /// Whether some emitter may still pour, and whether some wall has a motion of its own.
    pub fn has_paces(&self) -> [bool; 2] {
        [!self.emitters.is_empty(), self.boundary.fixtures().own_walls().iter().any(|w| !w.motion.is_still())]
    }

    /// Whether a hand has changed this world, so that it is no longer what its scene makes of itself.
    pub fn is_touched(&self) -> bool {
        self.live.touched
    }

    /// Grains moved by hand may leave the domain: they are removed and counted from now on, whatever the scene says.
    fn touch(&mut self) {
        self.live.touched = true;
        self.outside = Outside::Remove;
    }

    /// Lets go of grains that are held where they lie: the world is no longer the one they came to rest in. What still lies still is held
    /// again after a moment.
    fn rouse(&mut self) {
        self.solvers.iter_mut().for_each(|s| s.wake());
    }

    /// Adds a velocity [m/s] to the matter in a ball [m]; returns the momentum given [kg m/s].
    pub fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        self.touch();
        self.rouse();
        self.solvers.iter_mut().map(|s| s.push(centre, radius, velocity)).sum()
    }

    /// Breaks bonds by hand along a line from above [m], and those to the ground in a strip of that width along it; returns how many.
    pub fn cut(&mut self, from: DVec2, to: DVec2, under: f64) -> usize {
        self.touch();
        self.rouse();
        self.cut_bonds(from, to, under)
    }

    /// Blows the matter in a ball [m] apart with an energy [J]; returns the momentum given [kg m/s].
    pub fn charge(&mut self, centre: DVec3, radius: f64, energy: f64) -> DVec3 {
        self.touch();
        self.rouse();
        self.blow(centre, radius, energy)
    }

    /// Removes the grains whose centre is in a ball [m]; returns how many. They count as having left the domain.
    pub fn dig(&mut self, centre: DVec3, radius: f64) -> usize {
        self.touch();
        self.rouse();
        let mut dug = 0;
        for s in 0..self.solvers.len() {
            let solver = self.solvers.get_mut(s);
            let (name, gone) = (solver.name(), solver.remove_where(&|_, x| x.distance(centre) <= radius));
            self.left.add(&gone);
            self.tell(name, &gone);
            dug += gone.len();
        }
        dug
    }

    /// Radius of the grains that [`World::pour`] brings: the largest, spheres of clumps included [m].
    pub fn grain_reach(&self) -> Option<f64> {
        self.live.recipe.as_ref().map(|r| r.reach * r.sizes.max())
    }

    /// Brings up to `count` grains of the first population at rest into a ball [m], clear of walls and grains; returns
    /// how many found room.
    pub fn pour(&mut self, centre: DVec3, radius: f64, count: usize) -> Result<usize, WorldError> {
        let Some(recipe) = self.live.recipe.clone() else { return Ok(0) };
        self.touch();
        let recipe = Recipe { population: BY_HAND, ..recipe };
        let largest = recipe.reach * recipe.sizes.max();
        let region = Region::Sphere { centre, radius: radius.max(1.01 * largest) };
        let mut space = Space::around(&self.solvers, &self.boundary, &self.domain, &region, largest);
        let mut newborn = Vec::new();
        for _ in 0..count {
            let grain = recipe.grain(self.live.poured);
            let mut rng = recipe.stream(self.live.poured, 1);
            self.live.poured += 1;
            let reach = recipe.reach * grain.radius;
            if let Some(position) = find_room(&region, reach, &mut rng, &space).filter(|x| self.holds(*x, reach)) {
                space.insert(position, reach);
                newborn.push(NewMatter { position, velocity: DVec3::ZERO, spin: DVec3::ZERO, ..grain });
            }
        }
        if !newborn.is_empty() {
            self.bring(&newborn)?;
        }
        Ok(newborn.len())
    }

    /// Adds matter to the solver that the first population belongs to.
    fn bring(&mut self, newborn: &[NewMatter]) -> Result<(), WorldError> {
        self.solvers.get_mut(self.live.solver).add(newborn, &self.boundary)?;
        Ok(())
    }

    /// Drops a ball of the first population's material, where there is room for it. Among grains the ball is one large grain. A continuum meets no
    /// grains: there it is a ball of the continuum's own matter, at rest density.
    pub fn drop_ball(&mut self, centre: DVec3, radius: f64) -> Result<Dropped, WorldError> {
        let Some(recipe) = self.live.recipe.clone() else { return Ok(Dropped::NoRoom) };
        let region = Region::Sphere { centre, radius: 1.01 * radius };
        let free = Space::around(&self.solvers, &self.boundary, &self.domain, &region, radius).is_free(centre, radius);
        if !free || !self.holds(centre, radius) {
            return Ok(Dropped::NoRoom);
        }
        self.touch();
        let piece = NewMatter {
            position: centre,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            radius,
            mass: None,
            material: recipe.material,
            // Shape 0 is the sphere in every world of grains.
            shape: 0,
        };
        if self.solvers.get(self.live.solver).name() == GRAINS {
            self.bring(&[piece])?;
            return Ok(Dropped::Grain);
        }
        // What a particle stands for is a cube as wide as its spacing.
        let own = recipe.sizes.max();
        let particle = |position| NewMatter { position, radius: own, shape: recipe.shape, ..piece };
        let matter: Vec<NewMatter> = ball_of_sites(centre, radius, 2.0 * own).into_iter().map(particle).collect();
        self.rouse();
        self.bring(&matter)?;
        Ok(Dropped::Matter { pieces: matter.len() })
    }

    /// Whether a ball is inside the domain's sides that are not periodic.
    fn holds(&self, x: DVec3, r: f64) -> bool {
        let d = &self.domain;
        (0..3).all(|k| d.periodic[k] || (x[k] - r >= d.min[k] && x[k] + r <= d.max[k]))
    }

    /// The scene with the values as they are now, for a new start: gravity, materials, knobs, rates of emitters, speeds of walls.
    pub fn changed_scene(&self, scene: &Scene) -> Scene {
        let mut scene = scene.clone();
        let [flow, walls] = self.paces();
        scene.gravity = self.gravity;
        for (material, now) in scene.materials.values_mut().zip(&self.materials.list) {
            (material.friction, material.restitution) = (now.friction, now.restitution);
        }
        continuum::keep_knobs(&mut scene, &self.knobs());
        let own = &self.materials.list[self.live.own.start.into()..self.live.own.end.into()];
        continuum::keep_own(&mut scene, own);
        for emitter in &mut scene.emitters {
            match &mut emitter.flow {
                EmitterFlow::Rate(rate) | EmitterFlow::MassRate(rate) => *rate *= flow,
            }
        }
        for wall in &mut scene.walls {
            wall.velocity *= walls;
            wall.rotate.iter_mut().for_each(|r| r.rate *= walls);
            wall.oscillate.iter_mut().for_each(|o| o.frequency *= walls);
            if walls > 0.0 {
                wall.keyframes.iter_mut().for_each(|k| k.time /= walls);
            } else {
                wall.keyframes.clear();
            }
        }
        scene.domain.outside = self.outside;
        scene
    }

    /// Puts what was changed by hand into a checkpoint; nothing for a world that nobody touched.
    pub(crate) fn save_live(&self, to: &mut CheckpointWriter) {
        if !self.live.touched {
            return;
        }
        let materials = self.materials.list.iter().flat_map(|m| [m.friction, m.restitution]).collect();
        to.put("live/gravity", &Column::F64(self.gravity.to_array().to_vec()));
        to.put("live/materials", &Column::F64(materials));
        to.put("live/knobs", &Column::F64(self.knobs().iter().map(|k| k.value).collect()));
        to.put("live/flow", &self.live.flow.column());
        to.put("live/outside", &Column::U64(vec![u64::from(self.outside == Outside::Remove)]));
    }

    /// Takes back what [`World::save_live`] put there, before solvers take back their state.
    pub(crate) fn load_live(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let Some(column) = from.column("live/flow") else { return Ok(()) };
        self.live.flow = Warp::from_column(&column).ok_or_else(|| from.unfit("live/flow is not a clock"))?;
        let gravity = DVec3::from_slice(&from.f64s("live/gravity", 3)?);
        let values = from.f64s("live/materials", 2 * self.materials.len())?;
        if !gravity.is_finite() || !values.iter().all(|v| v.is_finite()) {
            return Err(from.unfit("a value changed by hand is not a number"));
        }
        for (material, v) in self.materials.list.iter_mut().zip(values.chunks_exact(2)) {
            (material.friction, material.restitution) = (v[0], v[1]);
        }
        (self.gravity, self.boundary.gravity) = (gravity, gravity);
        for solver in self.solvers.iter_mut() {
            solver.set_gravity(gravity);
            solver.set_materials(&self.materials).map_err(|e| from.unfit(e.to_string()))?;
        }
        // A file from before there were knobs has none.
        let knobs = from.column("live/knobs").map(|_| from.f64s("live/knobs", self.knobs().len())).transpose()?;
        for (index, value) in knobs.unwrap_or_default().into_iter().enumerate() {
            self.turn(index, value).map_err(|e| from.unfit(e.to_string()))?;
        }
        self.live.touched = true;
        if from.u64s("live/outside", 1)? == [1] {
            self.outside = Outside::Remove;
        }
        Ok(())
    }
}
