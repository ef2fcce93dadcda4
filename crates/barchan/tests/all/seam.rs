//! The test of the solver seam: a solver of fifty lines runs, pours, drains, is measured, checkpoints, resumes, is drawn and
//! filmed. The only line elsewhere is its registration, here the [`DUST`] that the world is assembled with.

use barchan::core::boundary::Boundary;
use barchan::core::clock::{Interval, StepWish};
use barchan::core::columns::{Column, Columns, Saved, mix};
use barchan::core::frame::{Extra, Frame, Population};
use barchan::core::solver::{Counts, Departed, Energies, NewMatter, Solver, SolverError, Totals};
use barchan::engine::{Method, Run, RunOptions, World, assemble_as};
use barchan::prelude::*;
use glam::{DVec3, Vec3};
use std::process::Command;

/// Points of 1 g that fall, and stop where they meet a wall.
#[derive(Clone, Default)]
struct Dust {
    at: Vec<DVec3>,
    v: Vec<DVec3>,
    id: Vec<u32>,
    born: u32,
    gravity: DVec3,
}

impl Solver for Dust {
    fn name(&self) -> &'static str {
        "dust"
    }
    fn wish(&self) -> StepWish {
        StepWish { dt: WORLD_STEP, fixed: false, reason: "a test".into() }
    }
    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        let (steps, mut states) = (4, Vec::new());
        let dt = interval.dt / steps as f64;
        for k in 0..steps {
            boundary.states_at(interval.start() + (k + 1) as f64 * dt, &mut states);
            for (x, v) in self.at.iter_mut().zip(&mut self.v) {
                *v += self.gravity * dt;
                *x += *v * dt;
                let mut met = Vec::new();
                boundary.near(&states, *x, 0.0, &mut |near| met.push(near));
                for near in met {
                    boundary.add_load(near.wall as usize, *v * 1e-3 / interval.dt, DVec3::ZERO);
                    (*x, *v) = (*x - near.normal * near.distance, near.velocity);
                }
            }
        }
        Ok(())
    }
    fn add(&mut self, matter: &[NewMatter], _: &Boundary) -> Result<u32, SolverError> {
        let first = self.born;
        for m in matter {
            self.at.push(m.position);
            self.v.push(m.velocity);
            self.id.push(self.born);
            self.born += 1;
        }
        Ok(first)
    }
    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let (gone, stay): (Vec<usize>, Vec<usize>) = (0..self.id.len()).partition(|&i| leaves(self.id[i], self.at[i]));
        let departed = |i: usize| Departed { id: self.id[i], mass: 1e-3, position: self.at[i], velocity: self.v[i] };
        let departed = gone.into_iter().map(departed).collect();
        self.at = stay.iter().map(|&i| self.at[i]).collect();
        self.v = stay.iter().map(|&i| self.v[i]).collect();
        self.id = stay.iter().map(|&i| self.id[i]).collect();
        departed
    }
    fn publish(&self, frame: &mut Frame) {
        let n = self.at.len();
        frame.populations.push(Population {
            name: "dust".into(),
            position: self.at[..].into(),
            velocity: self.v[..].into(),
            radius: vec![2e-3; n].into(),
            mass: vec![1e-3; n].into(),
            id: self.id[..].into(),
            material: vec![0; n].into(),
            extras: vec![Extra::vector("drift", "m/s", self.v.iter().map(|v| v.as_vec3()).collect::<Vec<Vec3>>())],
            ..Population::default()
        });
    }
    fn counts(&self) -> Counts {
        Counts { name: "specks", pieces: self.at.len(), work_name: "specks", work: self.at.len() }
    }
    fn totals(&self) -> Totals {
        let translation = self.v.iter().map(|v| 0.5e-3 * v.length_squared()).sum();
        Totals { energies: Energies { translation, ..Energies::default() }, ..Totals::default() }
    }
    fn memory(&self) -> usize {
        52 * self.at.capacity()
    }
    fn set_gravity(&mut self, gravity: DVec3) {
        self.gravity = gravity;
    }
    fn save(&self) -> Columns {
        let flat = |v: &[DVec3]| Column::F64(v.iter().flat_map(|x| x.to_array()).collect());
        let ids = self.id.iter().chain([&self.born]).copied().collect();
        vec![("at".into(), flat(&self.at)), ("v".into(), flat(&self.v)), ("id".into(), Column::U32(ids))]
    }
    fn load(&mut self, saved: Saved<'_>, _: &Boundary) -> Result<(), SolverError> {
        let points = |v: Vec<f64>| v.chunks_exact(3).map(DVec3::from_slice).collect();
        (self.at, self.v) = (points(saved.f64s("at")?), points(saved.f64s("v")?));
        self.id = saved.u32s("id")?;
        self.born = self.id.pop().unwrap_or_default();
        Ok(())
    }
    fn hash(&self, start: u64) -> u64 {
        let numbers = self.at.iter().chain(&self.v).flat_map(|x| x.to_array());
        numbers.fold(start, |h, x| mix(h, x.to_bits()))
    }
}

/// Length of the world step [s].
const WORLD_STEP: f64 = 1e-3;

/// The registration.
const DUST: Method = Method {
    name: "dust",
    wanted: |_| true,
    wish: |_| Some(StepWish { dt: WORLD_STEP, fixed: false, reason: "a test".into() }),
    make: |_, settings, _| Ok(Box::new(Dust { gravity: settings.gravity, ..Dust::default() })),
};

const SCENE: &str = r#"
duration = 0.5
[domain]
min = [-0.2, -0.2, -0.2]
max = [0.2, 0.2, 0.5]
[materials.sand]
preset = "dry sand"
[[walls]]
name = "floor"
material = "sand"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
oscillate = { direction = [0, 0, 1], amplitude = "2 mm", frequency = "8 Hz" }
[[grains]]
name = "first"
material = "sand"
radius = "2 mm"
at = [[0, 0, 0.3], [0.05, 0, 0.2]]
[[emitters]]
name = "spout"
material = "sand"
radius = "2 mm"
disc = { centre = [0, 0, 0.4], normal = [0, 0, -1], radius = "20 mm" }
rate = 200
velocity = [0.6, 0, -0.5]
[[sinks]]
name = "drain"
box = { min = [0.1, -0.2, -0.1], max = [0.2, 0.2, 0.5] }
[[measure]]
name = "energy"
every = "10 ms"
energy = {}
[[measure]]
name = "walls"
every = "10 ms"
wall_forces = {}
[output]
every = "30 ms"
formats = ["vtk"]
"#;

fn dusty() -> World {
    assemble_as(&load_text(SCENE, "dust").unwrap(), &[&DUST]).unwrap_or_else(|e| panic!("{}", e.listing()))
}

#[test]
fn a_solver_of_fifty_lines_runs_pours_drains_is_measured_resumes_is_drawn_and_filmed() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let reference = Run::start(dusty(), &whole, false).unwrap().go(RunOptions::default()).unwrap();
    assert_eq!(reference.step, 500, "the world step is the solver's wish");
    assert!(reference.pieces > 20, "it pours: {}", reference.pieces);
    let drained = reference.tallies.iter().find(|t| t.0 == "drain").unwrap().1.grains;
    assert!(drained > 10 && (101..=103).contains(&(reference.pieces as u64 + drained)), "it drains: {drained}");
    let rows = std::fs::read_to_string(whole.join("energy.csv")).unwrap();
    assert_eq!(rows.lines().filter(|l| !l.starts_with('#')).count(), 52, "it is measured: {rows}");
    let last: Vec<f64> = rows.lines().last().unwrap().split(',').map(|x| x.trim().parse().unwrap()).collect();
    assert!(last[1] > 0.0, "{last:?}");

    // Stopped at a third and resumed, it goes on bit for bit.
    let mut half = dusty();
    half.set_duration(0.17);
    Run::start(half, &parts, false).unwrap().go(RunOptions::default()).unwrap();
    let resumed = Run::resume_as(&parts, Some(0.5), &[&DUST]).unwrap().go(RunOptions::default()).unwrap();
    assert_eq!((resumed.hash, resumed.step), (reference.hash, reference.step));
    assert_eq!(std::fs::read_to_string(parts.join("energy.csv")).unwrap(), rows);

    // Drawn and filmed by the command, which knows no dust.
    let film = folder.path().join("dust.mp4");
    let done = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .args([
            "render",
            whole.to_str().unwrap(),
            "--renderer",
            "cpu",
            "--size",
            "160x120",
            "-o",
            film.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::metadata(&film).unwrap().len() > 2000);
}

#[test]
fn the_last_frame_is_written_whatever_the_interval() {
    // 0.5 s are no multiple of 30 ms.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let report = Run::start(dusty(), &out, false).unwrap().go(RunOptions::default()).unwrap();
    assert_eq!(report.frames, 18, "0, 30, … 480 ms and the end");
    assert_eq!(dusty().summary().frames, 18, "as announced");
}
