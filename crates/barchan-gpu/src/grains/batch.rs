//! Steps that are queued, and submissions of many.

use super::Stage;
use super::error::GpuDemError;
use super::features::features;
use super::machine::{BoundSteps, Machine, NOBODY};
use crate::device::GpuError;
use crate::kernel::GROUP;
use barchan_core::walls::WallState;
use glam::DVec3;
use std::collections::VecDeque;
use std::time::Instant;

/// Most steps of a submission.
pub const MOST_STEPS: usize = 64;
/// Steps that boards and features have room for.
pub const RING: usize = MOST_STEPS;
/// Words of a board before the ledger; see `common.wgsl`.
const LEDGER: usize = 16;

/// Words of a board.
pub fn board_words(columns: usize, steps: usize) -> usize {
    LEDGER + 2 * columns + 4 * columns * steps
}

/// A step that is asked for.
#[derive(Clone, Debug)]
struct Asked {
    /// How walls stand at its end.
    walls: Vec<WallState>,
    /// The world step it belongs to.
    world: u64,
}

/// Steps asked for and not done, and what those done have done to walls.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    asked: VecDeque<Asked>,
    /// Of the newest world step of which something was done: loads so far, how many steps, and whether they were handed on.
    world: u64,
    loads: Vec<[DVec3; 2]>,
    done: u64,
    handed: bool,
}

impl Queue {
    pub fn push(&mut self, walls: Vec<WallState>, world: u64) {
        self.asked.push_back(Asked { walls, world });
    }

    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// A step is done, and did this to the walls.
    fn was_done(&mut self, loads: Vec<[DVec3; 2]>) -> Option<Asked> {
        let asked = self.asked.pop_front()?;
        if self.done == 0 || self.world != asked.world {
            (self.world, self.done, self.handed) = (asked.world, 0, false);
            self.loads = vec![[DVec3::ZERO; 2]; loads.len()];
        }
        for (sum, load) in self.loads.iter_mut().zip(loads) {
            sum[0] += load[0];
            sum[1] += load[1];
        }
        self.done += 1;
        Some(asked)
    }

    /// Mean loads on walls in a world step, once.
    pub fn hand_over(&mut self, world: u64) -> Vec<[DVec3; 2]> {
        if self.handed || self.done == 0 || self.world != world {
            return Vec::new();
        }
        self.handed = true;
        self.loads.iter().map(|l| l.map(|x| x / self.done as f64)).collect()
    }
}

impl Machine {
    /// Does all steps that are queued.
    pub fn flush(&mut self) -> Result<(), GpuDemError> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        let done = self.try_flush();
        if let Err(e) = &done {
            self.failed = Some(e.clone());
        }
        done
    }

    fn try_flush(&mut self) -> Result<(), GpuDemError> {
        while self.queue.len() > 0 {
            if self.ids.is_empty() {
                let asked = self.queue.was_done(vec![[DVec3::ZERO; 2]; self.walls.len()]);
                self.walls = asked.map_or_else(Vec::new, |a| a.walls);
                continue;
            }
            if self.stale {
                let begun = Instant::now();
                self.rebuild(self.next_walls())?;
                self.timers.ran(Stage::Rebuild, begun);
            }
            let begun = Instant::now();
            self.submit()?;
            self.timers.ran(Stage::Step, begun);
        }
        Ok(())
    }

    /// How the walls stand in the first step that is queued.
    fn next_walls(&self) -> Vec<WallState> {
        self.queue.asked.front().map_or_else(|| self.walls.clone(), |a| a.walls.clone())
    }

    /// Words of the features of one step.
    pub fn features_at(&self, states: &[WallState]) -> Vec<[u32; 4]> {
        features(&self.fixtures.walls, states, &self.wall_skin, self.quanta).into_iter().flatten().collect()
    }

    /// The board before a submission.
    pub fn clean_board(&self) -> Vec<u32> {
        let halves = self.room.as_ref().map_or([0, 0], |r| r.halves);
        let mut board = vec![0; LEDGER + 2 * self.columns()];
        for word in [1, 3, 4, 6] {
            board[word] = NOBODY;
        }
        board[8..10].copy_from_slice(&halves);
        board
    }

    /// How many of the queued steps may go before a wall comes nearer than lists allow; the first after these were built always may.
    fn steps_walls_allow(&mut self, most: usize) -> usize {
        for k in 0..most {
            let swept = |w: usize| self.sweep_speed(w, &self.queue.asked[k].walls[w]) * self.settings.dt;
            let left: Vec<f64> = (0..self.walls.len()).map(|w| self.wall_left[w] - swept(w)).collect();
            if left.iter().any(|&l| l < 0.0) && !self.fresh {
                return k;
            }
            (self.wall_left, self.fresh) = (left, false);
        }
        most
    }

    /// One submission: as many of the queued steps as lists allow.
    fn submit(&mut self) -> Result<(), GpuDemError> {
        let most = self.queue.len().min(self.batch);
        let many = self.steps_walls_allow(most);
        if many == 0 {
            self.stale = true;
            return Ok(());
        }
        let (n, columns) = (self.ids.len(), self.columns());
        let groups = n.div_ceil(GROUP as usize) as u32;
        let of_features = self.steps_of_features().min(many);
        let words: Vec<[u32; 4]> =
            (0..of_features).flat_map(|k| self.features_at(&self.queue.asked[k].walls)).collect();
        let board = self.clean_board();
        self.bind();
        let gpu = &self.gpu;
        let Some(room) = &mut self.room else { return Ok(()) };
        let Some(bound) = &room.bound else { return Ok(()) };
        gpu.write(&room.walls, &words);
        gpu.write(&room.board, &board);
        gpu.write(&room.launch, &gpu.spread(groups));
        let mut launches = gpu.launches();
        launches.steps(|pass| {
            pass.run(&bound.begin, groups);
            pass.run(&bound.gate, 1);
            for _ in 1..many {
                pass.run_as_said(&bound.flow, &room.launch);
                pass.run(&bound.close, columns as u32);
            }
            pass.run(&bound.rest, groups);
            pass.run(&bound.finish, columns as u32);
        });
        launches.submit()?;
        let board: Vec<u32> = gpu.read(&room.board, board_words(columns, many))?;
        let done = board[LEDGER] as usize;
        if done == 0 || done > many {
            return Err(GpuError::Lost("it did not do what was submitted".into()).into());
        }
        room.halves = room.halves.map(|h| (h + done as u32) & 1);
        let time = (self.steps - self.queue.len() as u64 + 1) as f64 + f64::from(board[6]);
        let time = time * self.settings.dt;
        let id = |slot: u32| self.ids[slot as usize % n];
        if board[1] != NOBODY {
            return Err(GpuDemError::NotFinite { id: id(board[1]), time });
        }
        if board[4] != NOBODY {
            return Err(GpuDemError::TooFast { id: id(board[4]), time });
        }
        if board[3] != NOBODY {
            let share = 100.0 * f64::from(f32::from_bits(board[2]));
            return Err(GpuDemError::Overlap { id: id(board[3]), share, time });
        }
        self.stale = board[0] != 0;
        let real = |k: usize| f64::from(f32::from_bits(board[k]));
        for k in 0..done {
            let at = |column: usize| {
                let from = LEDGER + 2 * columns + 4 * (k * columns + column);
                DVec3::new(real(from), real(from + 1), real(from + 2))
            };
            let loads = (0..self.walls.len()).map(|w| [at(2 * w), at(2 * w + 1)]).collect();
            if let Some(asked) = self.queue.was_done(loads) {
                self.walls = asked.walls;
            }
        }
        Ok(())
    }

    /// Binds the launches of a step to the buffers there are.
    fn bind(&mut self) {
        let (gpu, kernels, table) = (&self.gpu, &self.kernels, &self.table);
        let Some(room) = &mut self.room else { return };
        if room.bound.is_some() {
            return;
        }
        let all = [
            (0, &room.constants),
            (1, &room.record),
            (2, &room.fine),
            (3, &room.memory),
            (4, &room.lists),
            (5, &room.board),
            (6, &room.walls),
            (7, table),
            (8, &room.load),
            (9, &room.launch),
        ];
        let of = |kernel, which: &[u32]| {
            let chosen: Vec<_> = all.iter().filter(|b| which.contains(&b.0)).copied().collect();
            gpu.bind(kernel, &chosen)
        };
        room.bound = Some(BoundSteps {
            begin: of(&kernels.begin, &[0, 1, 2, 5, 8]),
            flow: of(&kernels.flow, &[0, 1, 2, 3, 4, 5, 6, 7]),
            rest: of(&kernels.rest, &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
            gate: of(&kernels.gate, &[0, 5, 9]),
            close: of(&kernels.close, &[0, 5, 6, 9]),
            finish: of(&kernels.finish, &[0, 5, 6, 9]),
        });
    }
}
