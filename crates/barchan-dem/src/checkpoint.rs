//! The whole state as named columns, and back: lists and contact memory included, so that a resumed run goes on bit for
//! bit (sums are taken in the order of the lists).

use crate::DemError;
use crate::bodies::Held;
use crate::bonds::Bonds;
use crate::bridges::Bridges;
use crate::cell::Cell;
use crate::kernel::Kernels;
use crate::lists::{Asleep, Batch, BlockLists, Facing, Kept, Pairs, Rolls, WallBatch};
use crate::settings::Settings;
use crate::state::{Load, Record};
use crate::step::Solver;
use barchan_core::boundary::Boundary;
use barchan_core::columns::{Column, Columns, Saved, of_length};
use barchan_core::simd::{Real, WIDTH};
use barchan_core::walls::NO_FEATURE;
use glam::DQuat;

/// Rows of four doubles as one column and back.
fn flat(rows: &[[f64; 4]]) -> Column {
    Column::F64(rows.iter().flatten().copied().collect())
}

/// Reals of either precision go through f64, which holds both exactly.
fn reals<R: Real>(values: impl Iterator<Item = R>) -> Column {
    Column::F64(values.map(Into::into).collect())
}

fn kept<R: Real>(read: Saved<'_>, name: &str, n: usize) -> Result<Vec<Kept<R>>, DemError> {
    let v = read.f64s_of(name, 8 * n)?;
    let four = |v: &[f64]| std::array::from_fn(|c| R::of(v[c]));
    Ok(v.chunks_exact(8).map(|v| (four(&v[..4]), four(&v[4..]))).collect())
}

fn rows(read: Saved<'_>, name: &str, n: usize) -> Result<Vec<[f64; 4]>, DemError> {
    let v = read.f64s_of(name, 4 * n)?;
    Ok(v.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
}

fn eight<T: Copy + Default>(v: &[T]) -> [T; WIDTH] {
    let mut out = [T::default(); WIDTH];
    out.copy_from_slice(v);
    out
}

fn four<R: Real>(v: &[f64]) -> [[R; WIDTH]; 4] {
    std::array::from_fn(|c| std::array::from_fn(|k| R::of(v[c * WIDTH + k])))
}

impl<R: Kernels> Solver<R> {
    pub fn save(&self) -> Columns {
        let (g, s) = (&self.grains, &self.spheres);
        let mut out = vec![
            ("precision".into(), Column::U32(vec![size_of::<R>() as u32])),
            (
                "counters".into(),
                Column::U64(vec![
                    self.steps,
                    u64::from(self.born),
                    g.len() as u64,
                    s.len() as u64,
                    self.block as u64,
                    u64::from(self.stale),
                    u64::from(self.builds_since_sort),
                    self.blocks.len() as u64,
                ]),
            ),
            ("centre".into(), flat(&g.centre)),
            ("velocity".into(), flat(&g.velocity)),
            ("momentum".into(), flat(&g.momentum)),
            ("turn".into(), Column::F64(g.turn.iter().flat_map(|q| q.to_array()).collect())),
            ("id".into(), Column::U32(g.id.clone())),
            ("material".into(), Column::U32(g.material.iter().map(|&m| u32::from(m)).collect())),
            ("shape".into(), Column::U32(g.shape.iter().map(|&m| u32::from(m)).collect())),
            ("budget".into(), Column::F32(g.budget.clone())),
            ("first".into(), Column::U32(g.first.clone())),
            ("record.place".into(), Column::F64(s.record.iter().flat_map(|r| r.place).collect())),
            ("record.motion".into(), reals(s.record.iter().flat_map(|r| r.motion))),
            ("load".into(), reals(s.load.iter().flat_map(|l| l.0))),
            ("listed".into(), Column::U32(s.listed.clone())),
            ("sphere.grain".into(), Column::U32(s.grain.clone())),
            ("outside".into(), Column::U32(self.outside.clone())),
            ("wall.budget".into(), Column::F64(self.wall_budget.clone())),
        ];
        if !self.held.is_empty() {
            let (ids, numbers) = Held::columns(&self.held);
            out.push(("held.id".into(), Column::U32(ids)));
            out.push(("held.load".into(), Column::F64(numbers)));
        }
        if !self.pinned.ids.is_empty() {
            out.push(("pinned".into(), Column::U32(self.pinned.ids.clone())));
        }
        if !self.pinned.waking.is_empty() {
            out.push(("waking".into(), Column::U32(self.pinned.waking.clone())));
        }
        if self.relisted > 0 {
            out.push(("relisted".into(), Column::U32(vec![self.relisted as u32])));
        }
        if !self.pinned.fixed.is_empty() {
            out.push(("fixed".into(), Column::U32(self.pinned.fixed.clone())));
        }
        self.bonds.save(&mut out);
        if let Some(sleeping) = &self.sleep {
            sleeping.save(&mut out);
        }
        self.bridges.save(&mut out);
        if self.settings.cell.is_some() {
            self.cell.save(self.period(), &mut out);
        }
        let Asleep { pairs, walls } = &self.asleep;
        let kept = |(slide, roll): &Kept<R>| slide.iter().chain(roll).copied().collect::<Vec<R>>();
        if !pairs.is_empty() {
            out.push(("asleep".into(), Column::U32(pairs.iter().flat_map(|p| p.0).collect())));
            out.push(("asleep.kept".into(), reals(pairs.iter().flat_map(|p| kept(&p.1)))));
        }
        if !walls.is_empty() {
            let ints = walls.iter().flat_map(|((i, wall, key), _)| [*i, u32::from(*wall), *key]);
            out.push(("asleep.walls".into(), Column::U32(ints.collect())));
            out.push(("asleep.walls.kept".into(), reals(walls.iter().flat_map(|w| kept(&w.1)))));
        }
        out.push(("block.end".into(), Column::U32(self.blocks.iter().map(|b| b.end).collect())));
        for (b, lists) in self.blocks.iter().enumerate() {
            for (kind, list) in [("inner", &lists.inner), ("cross", &lists.cross)] {
                let Pairs { batches, rolls, .. } = list;
                let ints =
                    list.with_touching().flat_map(|(x, t)| x.i.into_iter().chain(x.j).chain([t.into()])).collect();
                out.push((format!("block.{b}.{kind}"), Column::U32(ints)));
                out.push((
                    format!("block.{b}.{kind}.slide"),
                    reals(batches.iter().flat_map(|x| x.slide.into_iter().flatten())),
                ));
                out.push((
                    format!("block.{b}.{kind}.roll"),
                    reals(rolls.iter().flat_map(|x| x.0.into_iter().flatten())),
                ));
            }
            let ints = lists
                .walls
                .iter()
                .flat_map(|x| x.i.into_iter().chain(x.key).chain(x.wall.map(u32::from)).chain([x.touching, x.len]))
                .collect();
            out.push((format!("block.{b}.walls"), Column::U32(ints)));
            out.push((
                format!("block.{b}.walls.slide"),
                reals(lists.walls.iter().flat_map(|x| x.slide.into_iter().flatten())),
            ));
            out.push((
                format!("block.{b}.walls.roll"),
                reals(lists.wall_rolls.iter().flat_map(|x| x.0.into_iter().flatten())),
            ));
            if !lists.facings.is_empty() {
                let facings = lists.facings.iter().flat_map(|f| [f.i, f.wall, f.from, f.to, f.lane, f.lanes]);
                out.push((format!("block.{b}.facings"), Column::U32(facings.collect())));
                out.push((format!("block.{b}.triangles"), Column::U32(lists.triangles.clone())));
            }
        }
        out
    }

    pub fn load(settings: Settings, read: Saved<'_>, boundary: &Boundary) -> Result<Self, DemError> {
        let mut solver = Solver::<R>::new(settings, boundary);
        if read.u32s("precision")? != [size_of::<R>() as u32] {
            return Err(DemError::Checkpoint(
                "it was written in another precision; set integrator.precision to the one it had".into(),
            ));
        }
        let counters = read.u64s("counters")?;
        of_length("counters", counters.len(), 8)?;
        let (n, spheres, blocks) = (counters[2] as usize, counters[3] as usize, counters[7] as usize);
        solver.steps = counters[0];
        solver.born = counters[1] as u32;
        solver.block = (counters[4] as usize).max(1);
        solver.stale = counters[5] != 0;
        solver.builds_since_sort = counters[6] as u32;

        let g = &mut solver.grains;
        g.velocity = rows(read, "velocity", n)?;
        g.momentum = rows(read, "momentum", n)?;
        g.turn = read.f64s("turn")?.chunks_exact(4).map(|c| DQuat::from_xyzw(c[0], c[1], c[2], c[3])).collect();
        g.id = read.u32s("id")?;
        let short = |v: Vec<u32>| v.into_iter().map(|x| x as u16).collect::<Vec<u16>>();
        g.material = short(read.u32s("material")?);
        g.shape = short(read.u32s("shape")?);
        g.budget = read.f32s("budget")?;
        g.first = read.u32s("first")?;
        g.centre = rows(read, "centre", if g.first.is_empty() { 0 } else { n })?;
        of_length("id", g.id.len(), n)?;
        of_length("material", g.material.len(), n)?;
        of_length("shape", g.shape.len(), n)?;
        of_length("budget", g.budget.len(), n)?;
        let materials = solver.settings.materials.len();
        let shapes = solver.settings.shapes.len();
        if g.material.iter().any(|&m| m as usize >= materials) || g.shape.iter().any(|&s| s as usize >= shapes) {
            return Err(DemError::Checkpoint("a grain's material or shape is not in the scene".into()));
        }
        if !g.first.is_empty() {
            of_length("first", g.first.len(), n + 1)?;
            of_length("turn", g.turn.len(), n)?;
            let ascending = g.first.windows(2).all(|w| w[0] < w[1]);
            if !ascending || g.first[0] != 0 || g.first[n] as usize != spheres {
                return Err(DemError::Checkpoint("column first is not a list of spheres".into()));
            }
        } else {
            of_length("record.place", spheres, n)?;
        }

        let place = rows(read, "record.place", spheres)?;
        let motion = read.f64s("record.motion")?;
        let load = read.f64s("load")?;
        of_length("record.motion", motion.len(), 8 * spheres)?;
        of_length("load", load.len(), 8 * spheres)?;
        let reals = |v: &[f64]| std::array::from_fn(|k| R::of(v[k]));
        let s = &mut solver.spheres;
        s.record = place
            .into_iter()
            .zip(motion.chunks_exact(8))
            .map(|(place, m)| Record { place, motion: reals(m) })
            .collect();
        s.load = load.chunks_exact(8).map(|l| Load(reals(l))).collect();
        s.listed = read.u32s("listed")?;
        s.grain = read.u32s("sphere.grain")?;
        of_length("listed", s.listed.len(), spheres)?;
        if s.record.iter().any(|r| r.motion[7].tag() as usize >= materials) || s.grain.iter().any(|&g| g as usize >= n)
        {
            return Err(DemError::Checkpoint("a sphere's material or grain does not exist".into()));
        }
        solver.outside = read.u32s("outside")?;

        let budgets = read.f64s("wall.budget")?;
        of_length("wall.budget", budgets.len(), solver.walls.len())?;
        solver.wall_budget = budgets;
        if read.has("held.id") {
            let damaged = || DemError::Checkpoint("column held.load is no list of loads".into());
            solver.held = Held::from_columns(&read.u32s("held.id")?, &read.f64s("held.load")?).ok_or_else(damaged)?;
        }
        if read.has("pinned") {
            solver.pinned.ids = read.u32s("pinned")?;
        }
        if read.has("fixed") {
            solver.pinned.fixed = read.u32s("fixed")?;
        }
        solver.bridges = Bridges::load(read)?;
        if read.has("cell") && solver.settings.cell.is_some() {
            let (cell, sides) = Cell::load(read)?;
            solver.cell = cell;
            solver.settings.domain.max = solver.settings.domain.min + sides;
        }
        if read.has("waking") {
            solver.pinned.waking = read.u32s("waking")?;
        }
        if read.has("relisted") {
            let relisted = read.u32s("relisted")?;
            of_length("relisted", relisted.len(), 1)?;
            solver.relisted = relisted[0] as usize;
        }
        solver.bonds = Bonds::load(read, solver.walls.len())?;
        if let Some(sleeping) = &mut solver.sleep {
            sleeping.load(read)?;
        }
        solver.find_carriers();
        solver.carry_walls();

        if read.has("asleep") {
            let slots = read.u32s("asleep")?;
            of_length("asleep", slots.len() % 2, 0)?;
            let kept = kept(read, "asleep.kept", slots.len() / 2)?;
            solver.asleep.pairs = slots.chunks_exact(2).map(|p| [p[0], p[1]]).zip(kept).collect();
        }
        if read.has("asleep.walls") {
            let keys = read.u32s("asleep.walls")?;
            of_length("asleep.walls", keys.len() % 3, 0)?;
            let kept = kept(read, "asleep.walls.kept", keys.len() / 3)?;
            solver.asleep.walls = keys.chunks_exact(3).map(|k| (k[0], k[1] as u16, k[2])).zip(kept).collect();
        }

        let ends = read.u32s("block.end")?;
        of_length("block.end", ends.len(), blocks)?;
        for (b, &end) in ends.iter().enumerate() {
            let mut lists = BlockLists { end, ..BlockLists::default() };
            for (kind, list) in [("inner", &mut lists.inner), ("cross", &mut lists.cross)] {
                let name = format!("block.{b}.{kind}");
                let ints = read.u32s(&name)?;
                let slide = read.f64s(&format!("{name}.slide"))?;
                of_length(&name, ints.len() % 17, 0)?;
                of_length(&name, slide.len(), ints.len() / 17 * 32)?;
                list.batches = ints
                    .chunks_exact(17)
                    .zip(slide.chunks_exact(32))
                    .map(|(x, m)| Batch { i: eight(&x[..8]), j: eight(&x[8..16]), slide: four(m) })
                    .collect();
                list.touching = ints.chunks_exact(17).map(|x| x[16] as u8).collect();
                list.rolls = read.f64s(&format!("{name}.roll"))?.chunks_exact(32).map(|m| Rolls(four(m))).collect();
                of_length(&name, list.rolls.len(), if solver.rolling { list.batches.len() } else { 0 })?;
            }
            let name = format!("block.{b}.walls");
            let ints = read.u32s(&name)?;
            let slide = read.f64s(&format!("{name}.slide"))?;
            of_length(&name, ints.len() % 26, 0)?;
            of_length(&name, slide.len(), ints.len() / 26 * 32)?;
            lists.walls = ints
                .chunks_exact(26)
                .zip(slide.chunks_exact(32))
                .map(|(x, m)| WallBatch {
                    i: eight(&x[..8]),
                    key: eight(&x[8..16]),
                    wall: eight(&x[16..24]).map(|w| w as u16),
                    touching: x[24],
                    len: x[25],
                    slide: four(m),
                })
                .collect();
            lists.wall_rolls = read.f64s(&format!("{name}.roll"))?.chunks_exact(32).map(|m| Rolls(four(m))).collect();
            of_length(&name, lists.wall_rolls.len(), if solver.rolling { lists.walls.len() } else { 0 })?;
            if read.has(&format!("block.{b}.facings")) {
                let facing = |f: &[u32]| Facing { i: f[0], wall: f[1], from: f[2], to: f[3], lane: f[4], lanes: f[5] };
                let name = format!("block.{b}.facings");
                let ints = read.u32s(&name)?;
                of_length(&name, ints.len() % 6, 0)?;
                lists.facings = ints.chunks_exact(6).map(facing).collect();
                lists.triangles = read.u32s(&format!("block.{b}.triangles"))?;
                lists.without_feet();
            }
            solver.blocks.push(lists);
        }
        solver.verify_lists()?;
        Ok(solver)
    }

    /// The kernel trusts the lists; those from a file are not trusted until they pass what a build asserts.
    fn verify_lists(&self) -> Result<(), DemError> {
        let starts = std::iter::once(0).chain(self.blocks.iter().map(|b| b.end));
        let ranges: Vec<_> = starts.zip(&self.blocks).map(|(from, b)| from as usize..b.end as usize).collect();
        let old = ranges.last().map_or(0, |r| r.end);
        let triangle = |w: u32, t: u32| {
            let facets = self.fixtures.walls.get(w as usize).and_then(|w| w.facets());
            facets.is_some_and(|f| (t as usize) < f.mesh().triangles.len())
        };
        let known = |wall: u16, key: u32| {
            let wall = self.fixtures.walls.get(wall as usize);
            wall.is_some_and(|w| w.facets().is_none_or(|f| key == NO_FEATURE || key < f.features()))
        };
        let walls = |b: &BlockLists<R>| {
            b.walls.iter().all(|x| x.len <= 8 && (0..8).all(|k| known(x.wall[k], x.key[k])))
                && b.facings.iter().all(|f| {
                    b.triangles
                        .get(f.from as usize..f.to as usize)
                        .is_some_and(|t| t.iter().all(|&t| triangle(f.wall, t)))
                })
        };
        let fit = self.blocks.iter().zip(&ranges).all(|(b, r)| r.start <= r.end && walls(b) && b.fits(r.clone(), old))
            && self.asleep.fits(old)
            && self.asleep.walls.iter().all(|((_, wall, key), _)| known(*wall, *key));
        let listed = self.spheres.listed.iter().all(|&s| s == crate::state::NEWBORN || (s as usize) < old);
        if !fit || !listed {
            return Err(damaged());
        }
        // Stale lists are only read once more for their memory; others must fit the grains as they are now.
        if self.stale {
            return Ok(());
        }
        if self.blocks.len() != self.grains.len().div_ceil(self.block) {
            return Err(damaged());
        }
        let own = |b: usize| self.grains.spheres_of(b * self.block..((b + 1) * self.block).min(self.grains.len()));
        let same = ranges.iter().enumerate().all(|(b, r)| *r == own(b));
        if same { Ok(()) } else { Err(damaged()) }
    }
}

fn damaged() -> DemError {
    DemError::Checkpoint("its contact lists are damaged; resume from an earlier checkpoint".into())
}
