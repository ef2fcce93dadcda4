//! What readers see of the continuum.

use crate::flow::Flow;
use crate::passes::Precision;
use crate::state::deviatoric;
use barchan_core::frame::{Extra, Population};
use barchan_core::solver::{Energies, Gauge, Totals};
use glam::{DVec3, Vec3};

/// Name of the solver, and of the population of its particles.
pub const SPH: &str = "sph";

/// How a particle bears load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Without pressure: it flies.
    Free = 0,
    /// Below the yield bound.
    Rigid = 1,
    /// At the yield bound.
    Yielding = 2,
}

/// Share of the yield bound from which on matter yields.
const AT_YIELD: f64 = 1.0 - 1e-4;

impl State {
    fn of(pressure: f64, share: f64) -> State {
        match (pressure != 0.0, share >= AT_YIELD) {
            (false, _) => State::Free,
            (true, false) => State::Rigid,
            (true, true) => State::Yielding,
        }
    }
}

impl<R: Precision> Flow<R> {
    pub fn population(&self) -> Population {
        let p = &self.particles;
        let n = p.len();
        let real = |x: R| Into::<f64>::into(x) as f32;
        let per_stress = |of: &dyn Fn(usize) -> f32| (0..n).map(of).collect::<Vec<f32>>();
        let size = |i: usize| crate::rheology::norm(&deviatoric(&p.stress[i])) as f32;
        // Matter may part freely: only what is too dense is an error.
        let rest = self.settings.bulk_density;
        let excess = |i: usize| (Into::<f64>::into(p.local[i].density) / rest - 1.0).max(0.0) as f32;
        // σ = p I + s, positive in compression: xx, yy, zz, and xy, xz, yz.
        let stress = |i: usize| -> [f64; 7] { std::array::from_fn(|k| p.stress[i][k].into()) };
        let normal = |i: usize| {
            let [p, xx, yy, zz, ..] = stress(i);
            DVec3::new(p + xx, p + yy, p + zz).as_vec3()
        };
        let shear = |i: usize| DVec3::from_slice(&stress(i)[4..]).as_vec3();
        let state = |i: usize| State::of(p.stress[i][0].into(), p.stress[i][7].into()) as u32;
        Population {
            name: SPH.into(),
            position: (0..n).map(|i| p.position(i)).collect(),
            velocity: p.velocity[..].into(),
            radius: vec![0.5 * self.settings.spacing; n].into(),
            mass: vec![self.mass; n].into(),
            id: p.id[..].into(),
            material: p.kind.iter().map(|k| self.settings.kinds[*k as usize].material).collect(),
            extras: vec![
                Extra::real("density", "kg/m³", per_stress(&|i| real(p.local[i].density))),
                Extra::real("density error", "", per_stress(&excess)),
                Extra::real("pressure", "Pa", per_stress(&|i| real(p.stress[i][0]))),
                Extra::real("shear stress", "Pa", per_stress(&size)),
                Extra::vector("normal stress", "Pa", (0..n).map(normal).collect::<Vec<Vec3>>()),
                Extra::vector("shear components", "Pa", (0..n).map(shear).collect::<Vec<Vec3>>()),
                Extra::real("friction used", "", per_stress(&|i| real(p.stress[i][7]))),
                Extra::whole("state", (0..n).map(state).collect::<Vec<u32>>()),
            ],
            ..Population::default()
        }
    }

    pub fn totals(&self) -> Totals {
        let p = &self.particles;
        let (mut momentum, mut square, mut height) = (DVec3::ZERO, 0.0, 0.0);
        for i in 0..p.len() {
            momentum += p.velocity[i];
            square += p.velocity[i].length_squared();
            height -= (p.position(i) - self.settings.domain.min).dot(self.settings.gravity);
        }
        let n = p.len() as f64;
        let energies =
            Energies { translation: 0.5 * self.mass * square, gravity: self.mass * height, ..Energies::default() };
        let gauge = |name, unit, value| Gauge { name, unit, value };
        let r = &self.report;
        let gauges = vec![
            gauge("density error", "", r.density_error),
            gauge("strain error", "", r.strain_error),
            gauge("compression", "", r.compression),
            gauge("largest compression", "", r.largest_compression),
            gauge("iterations", "", f64::from(r.iterations)),
            gauge("largest speed", "m/s", r.fastest),
            gauge("rms speed", "m/s", if n > 0.0 { (square / n).sqrt() } else { 0.0 }),
            gauge("step", "s", r.dt),
            gauge("held off walls", "", self.guarded as f64),
            gauge("steps not converged", "", self.unconverged as f64),
        ];
        Totals { mass: self.mass * n, momentum: self.mass * momentum, energies, gauges }
    }

    pub fn each_in(&self, centre: DVec3, radius: f64, visit: &mut dyn FnMut(DVec3, f64)) {
        let places = (0..self.particles.len()).map(|i| self.particles.position(i));
        places.filter(|x| x.distance(centre) <= radius).for_each(|x| visit(x, self.mass));
    }

    pub fn kick_in(&mut self, centre: DVec3, radius: f64, change: &dyn Fn(DVec3) -> DVec3) -> DVec3 {
        let mut given = DVec3::ZERO;
        for i in 0..self.particles.len() {
            let x = self.particles.position(i);
            if x.distance(centre) <= radius {
                let by = change(x);
                self.particles.velocity[i] += by;
                self.report.fastest = self.report.fastest.max(self.particles.velocity[i].length());
                given += self.mass * by;
            }
        }
        given
    }
}
