//! A rigid body on the ground, integrated by semi-implicit Euler.

use barchan_core::mesh::Mesh;
use barchan_ground::{Bearing, Columns, Mover, Patch, Stand, sphere};
use glam::{DMat3, DQuat, DVec3};

pub const G: f64 = 9.81;

pub enum Form {
    Ball(f64),
    Mesh(Mesh),
}

pub struct Rigid {
    pub form: Form,
    pub mass: f64,
    /// Moments about the axes of the form [kg m²].
    pub inertia: DVec3,
    pub centre: DVec3,
    pub turn: DQuat,
    pub velocity: DVec3,
    pub spin: DVec3,
    pub stand: Stand,
    patch: Patch,
}

impl Rigid {
    pub fn ball(radius: f64, density: f64, centre: DVec3) -> Rigid {
        let mass = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * density;
        Rigid::of(Form::Ball(radius), mass, DVec3::splat(0.4 * mass * radius * radius), centre)
    }

    pub fn solid(mesh: Mesh, density: f64, centre: DVec3) -> Rigid {
        let solid = mesh.mass_properties().unwrap();
        let inertia = DVec3::new(solid.inertia.x_axis.x, solid.inertia.y_axis.y, solid.inertia.z_axis.z) * density;
        Rigid::of(Form::Mesh(mesh), solid.volume * density, inertia, centre)
    }

    fn of(form: Form, mass: f64, inertia: DVec3, centre: DVec3) -> Rigid {
        let (turn, velocity, spin) = (DQuat::IDENTITY, DVec3::ZERO, DVec3::ZERO);
        Rigid { form, mass, inertia, centre, turn, velocity, spin, stand: Stand::default(), patch: Patch::default() }
    }

    fn inertia_now(&self) -> DMat3 {
        let turn = DMat3::from_quat(self.turn);
        turn * DMat3::from_diagonal(self.inertia) * turn.transpose()
    }

    /// Lets the body press the ground where it is.
    pub fn press(&mut self, ground: &mut Columns, free: bool, dt: f64) -> Bearing {
        let grid = *ground.grid();
        match &self.form {
            Form::Ball(radius) => {
                let area = grid.area(self.centre.truncate() - *radius, self.centre.truncate() + *radius);
                self.patch.ask(&grid, area, &sphere(self.centre, *radius));
            }
            Form::Mesh(mesh) => {
                let vertices: Vec<DVec3> = mesh.vertices.iter().map(|v| self.centre + self.turn * *v).collect();
                self.patch.draw(ground, &vertices, &mesh.triangles, true);
            }
        }
        let mover = Mover {
            centre: self.centre,
            velocity: self.velocity,
            spin: self.spin,
            inverse_mass: if free { 1.0 / self.mass } else { 0.0 },
            inverse_inertia: if free { self.inertia_now().inverse() } else { DMat3::ZERO },
        };
        ground.bear(&self.patch, &mover, &mut self.stand, G, dt)
    }

    /// One step, with a torque of others [N m].
    pub fn step(&mut self, ground: &mut Columns, torque: DVec3, dt: f64) -> Bearing {
        let found = self.press(ground, true, dt);
        self.velocity += dt * (found.force / self.mass - G * DVec3::Z);
        let inertia = self.inertia_now();
        let spun = inertia * self.spin + dt * (found.torque + torque);
        self.spin = inertia.inverse() * spun;
        self.turn = (DQuat::from_scaled_axis(self.spin * dt) * self.turn).normalize();
        self.spin = self.inertia_now().inverse() * spun;
        self.centre += dt * self.velocity;
        found
    }

    /// Kinetic energy and energy of place [J].
    pub fn energy(&self) -> f64 {
        let turning = 0.5 * self.spin.dot(self.inertia_now() * self.spin);
        0.5 * self.mass * self.velocity.length_squared() + turning + self.mass * G * self.centre.z
    }
}
