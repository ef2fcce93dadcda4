//! Checkpoints: one kind for both devices.
//!
//! What is saved are the columns of the processor's solver, which either device takes up, and beside them the device's own words, with which a
//! run goes on bit for bit on a device. Where those are missing the run comes from the processor: places are rounded to quanta, and
//! lists are built anew.

use super::error::GpuDemError;
use super::machine::Machine;
use super::rows::{BUMP, FINE, HEAD, LOAD, RECORD, Rows, SLOT, TOUCHED, Touching, counts};
use crate::blocks::lists::Quanta;
use barchan_core::boundary::Boundary;
use barchan_core::columns::{Column, Columns, Saved, Unfit, of_length};
use barchan_core::simd::WIDTH;
use barchan_core::solver::SolverError;
use glam::DVec3;

/// Builds after which the processor sorts its grains: at once.
const SORT_AT_ONCE: u64 = 32;

fn words(v: &[[u32; 4]]) -> Column {
    Column::U32(v.iter().flatten().copied().collect())
}

fn reals(v: &[[f32; 4]]) -> Column {
    Column::F32(v.iter().flatten().copied().collect())
}

/// A batch of eight pairs or wall contacts, as the processor has them: columns of slots, and of what is kept component by component.
struct Lanes<'a>(&'a [&'a [[f32; 4]]]);

impl Lanes<'_> {
    /// Components of row `row` of what each contact keeps.
    fn kept(&self, row: usize) -> Vec<f64> {
        let all = self.0.chunks(WIDTH);
        all.flat_map(|batch| {
            (0..4 * WIDTH).map(move |x| {
                let (c, k) = (x / WIDTH, x % WIDTH);
                batch.get(k).and_then(|kept| kept.get(row)).map_or(0.0, |r| f64::from(r[c]))
            })
        })
        .collect()
    }
}

/// Slots in batches of eight; lanes that are not used repeat the first.
fn eights(batch: &[u32]) -> [u32; WIDTH] {
    std::array::from_fn(|k| batch.get(k).copied().unwrap_or(batch[0]))
}

impl Machine {
    /// The complete state.
    pub fn to_columns(&self, rows: &Rows) -> Columns {
        let mut out = self.of_the_processor(rows);
        let own = [
            ("record", words(&rows.record)),
            ("fine", words(&rows.fine)),
            ("load", reals(&rows.load)),
            ("lists", Column::U32(rows.lists.clone())),
            ("kept", reals(&rows.kept)),
            ("largest", Column::F64(vec![self.largest])),
            ("counters", Column::U64(vec![u64::from(self.stale), u64::from(self.fresh), u64::from(self.outside)])),
            ("walls", Column::F64([&self.wall_skin[..], &self.wall_left].concat())),
            ("bumps", Column::U32(self.bumps.words())),
            ("bumps.at", Column::F64(self.bumps.numbers())),
        ];
        out.extend(own.into_iter().map(|(name, column)| (format!("gpu.{name}"), column)));
        out
    }

    /// The columns of the processor's solver, in mixed precision; its lists hold what touches, and are to be built anew.
    fn of_the_processor(&self, rows: &Rows) -> Columns {
        let n = rows.len();
        let all = || 0..n;
        let inertia = |g: usize| 0.4 * self.radius_of(rows, g).powi(2) / rows.inverse_mass(g);
        let spin = |g: usize| rows.motion(g)[1] * self.speed() / self.radius_of(rows, g);
        let counters = vec![self.steps, u64::from(self.born), n as u64, n as u64, n.max(1) as u64, 1, SORT_AT_ONCE, 1];
        let four = |f: &dyn Fn(usize) -> (DVec3, f64)| {
            let row = |g: usize| {
                let (v, w) = f(g);
                [v.x, v.y, v.z, w]
            };
            Column::F64(all().flat_map(row).collect())
        };
        let motion = |g: usize| {
            let (v, w) = (rows.vector(g, 1), rows.vector(g, 2));
            [v.x, v.y, v.z, w.x, w.y, w.z, rows.inverse_mass(g), f64::from(rows.material(g))]
        };
        let load = |g: usize| {
            let ([fx, fy, fz, contacts], [tx, ty, tz, press]) = (rows.load(g, 0), rows.load(g, 1));
            [fx, fy, fz, tx, ty, tz, contacts, press]
        };
        let named = [
            ("precision", Column::U32(vec![4])),
            ("counters", Column::U64(counters)),
            ("centre", Column::F64(vec![])),
            ("velocity", four(&|g| (rows.motion(g)[0] * self.speed(), rows.inverse_mass(g)))),
            ("momentum", four(&|g| (spin(g) * inertia(g), 1.0 / inertia(g)))),
            ("turn", Column::F64(vec![])),
            ("id", Column::U32(self.ids.clone())),
            ("material", Column::U32(all().map(|g| rows.material(g)).collect())),
            ("shape", Column::U32(vec![0; n])),
            ("budget", Column::F32(vec![0.0; n])),
            ("first", Column::U32(vec![])),
            ("record.place", four(&|g| (rows.position(g, self.quanta), self.radius_of(rows, g)))),
            ("record.motion", Column::F64(all().flat_map(motion).collect())),
            ("load", Column::F64(all().flat_map(load).collect())),
            ("listed", Column::U32((0..n as u32).collect())),
            ("sphere.grain", Column::U32(vec![])),
            ("outside", Column::U32(vec![])),
            ("wall.budget", Column::F64(vec![0.0; self.walls.len()])),
            ("block.end", Column::U32(vec![n as u32])),
        ];
        let mut out: Columns = named.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
        let touching = rows.touching(self.memory);
        let kept: Vec<&[[f32; 4]]> = touching.pairs.iter().map(|p| &p.2[..]).collect();
        let pairs = |batch: &[(u32, u32, Vec<[f32; 4]>)]| {
            let (i, j): (Vec<u32>, Vec<u32>) = batch.iter().map(|p| (p.0, p.1)).unzip();
            // A lane with twice the same slot is empty.
            let j: [u32; WIDTH] = std::array::from_fn(|k| j.get(k).copied().unwrap_or(i[0]));
            eights(&i).into_iter().chain(j).chain([(1u32 << batch.len()) - 1])
        };
        let rolls = |lanes: Lanes<'_>| if self.memory > 1 { lanes.kept(1) } else { vec![] };
        out.push(("block.0.inner".into(), Column::U32(touching.pairs.chunks(WIDTH).flat_map(pairs).collect())));
        out.push(("block.0.inner.slide".into(), Column::F64(Lanes(&kept).kept(0))));
        out.push(("block.0.inner.roll".into(), Column::F64(rolls(Lanes(&kept)))));
        out.push(("block.0.cross".into(), Column::U32(vec![])));
        out.push(("block.0.cross.slide".into(), Column::F64(vec![])));
        out.push(("block.0.cross.roll".into(), Column::F64(vec![])));
        // A batch has one wall: contacts are put in their order first.
        let mut on_walls: Vec<_> =
            touching.walls.iter().map(|(i, entry, kept)| (self.wall_and_key(*entry), *i, &kept[..])).collect();
        on_walls.sort_by_key(|c| (c.0.0, c.1, c.0.1));
        let (mut ints, mut slides, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        for of_wall in on_walls.chunk_by(|a, b| a.0.0 == b.0.0) {
            for batch in of_wall.chunks(WIDTH) {
                let lanes = |f: &dyn Fn(usize) -> u32| eights(&(0..batch.len()).map(f).collect::<Vec<_>>());
                ints.extend(lanes(&|k| batch[k].1));
                ints.extend(lanes(&|k| batch[k].0.1));
                ints.extend(lanes(&|k| batch[k].0.0 as u32));
                ints.extend([(1u32 << batch.len()) - 1, batch.len() as u32]);
                let kept: Vec<&[[f32; 4]]> = batch.iter().map(|c| c.2).collect();
                slides.extend(Lanes(&kept).kept(0));
                turns.extend(rolls(Lanes(&kept)));
            }
        }
        out.push(("block.0.walls".into(), Column::U32(ints)));
        out.push(("block.0.walls.slide".into(), Column::F64(slides)));
        out.push(("block.0.walls.roll".into(), Column::F64(turns)));
        out
    }

    /// Takes up a state that was saved on either device.
    pub fn take_columns(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError> {
        let counters = saved.u64s_of("counters", 8)?;
        let n = counters[2] as usize;
        let ids = saved.u32s("id")?;
        of_length("id", ids.len(), n)?;
        (self.steps, self.born) = (counters[0], counters[1] as u32);
        self.walls = boundary.states().to_vec();
        (self.queue, self.failed, self.room) = (Default::default(), None, None);
        if saved.has("gpu.fine") {
            let rows = self.own_rows(saved, n)?;
            self.ids = ids;
            if n > 0 {
                self.put(&rows)?;
            }
            return Ok(());
        }
        let rows = self.take_the_processors(saved, &ids)?;
        if n > 0 {
            self.put(&rows)?;
        }
        Ok(())
    }

    /// What [`Machine::to_columns`] gave of the device's own. Everything that kernels use as an index is checked.
    fn own_rows(&mut self, saved: Saved<'_>, n: usize) -> Result<Rows, Unfit> {
        let four = |name: &str, rows: usize| -> Result<Vec<[u32; 4]>, Unfit> {
            let v = saved.u32s(name)?;
            of_length(name, v.len(), 4 * rows)?;
            Ok(v.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
        };
        let real = |name: &str| -> Result<Vec<[f32; 4]>, Unfit> {
            let v = saved.f32s(name)?;
            of_length(name, v.len() % 4, 0)?;
            Ok(v.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
        };
        let rows = Rows {
            record: four("gpu.record", RECORD * n)?,
            fine: four("gpu.fine", FINE * n)?,
            load: real("gpu.load")?,
            lists: saved.u32s("gpu.lists")?,
            kept: real("gpu.kept")?,
        };
        of_length("gpu.load", rows.load.len(), LOAD * n)?;
        let largest = saved.f64s_of("gpu.largest", 1)?[0];
        let damaged = || Unfit::new("its contact lists or materials are damaged; resume from an earlier checkpoint");
        if n > 0 && !(largest > 0.0 && largest.is_finite()) {
            return Err(damaged());
        }
        if n > 0 {
            (self.largest, self.quanta) = (largest, Quanta::for_radius(largest));
        }
        let walls = saved.f64s_of("gpu.walls", 2 * self.walls.len())?;
        let (skin, left) = walls.split_at(self.walls.len());
        (self.wall_skin, self.wall_left) = (skin.to_vec(), left.to_vec());
        let flags = saved.u64s_of("gpu.counters", 3)?;
        (self.stale, self.fresh, self.outside) = (flags[0] != 0, flags[1] != 0, flags[2] != 0);
        self.bumps = super::features::Bumps::from_columns(&saved.u32s("gpu.bumps")?, &saved.f64s("gpu.bumps.at")?)
            .ok_or_else(damaged)?;
        let known = |(w, _): (usize, u32)| self.fixtures.walls.get(w).is_some_and(|w| w.rough.is_some());
        let sound = (0..self.bumps.len()).all(|b| known(self.bumps.key(b)))
            && (0..n).all(|g| (rows.material(g) as usize) < self.settings.materials.len())
            && self.fits(&rows);
        if sound { Ok(rows) } else { Err(damaged()) }
    }

    /// Whether every index of the lists is in range.
    fn fits(&self, rows: &Rows) -> bool {
        let (n, words, memory) = (rows.len(), rows.lists.len(), rows.kept.len() / self.memory);
        words >= HEAD * n
            && (0..n).all(|g| {
                let [begin, kept, head] = [0, 1, 2].map(|k| rows.lists[HEAD * g + k]);
                let [above, below, walls] = counts(head);
                let (begin, kept) = (begin as usize, kept as usize);
                let there =
                    begin >= HEAD * n && begin + above + 2 * below + walls <= words && kept + above + walls <= memory;
                let slot = |entry: u32| ((entry & SLOT) as usize) < n;
                let wall = |entry: u32| {
                    let most = if entry & BUMP != 0 { self.bumps.len() } else { self.keys.len() };
                    ((entry & SLOT) as usize) < most
                };
                let below_fits = || {
                    let from = begin + above;
                    (0..below).all(|k| {
                        slot(rows.lists[from + 2 * k]) && (rows.lists[from + 2 * k + 1] as usize) < memory.max(1)
                    })
                };
                there
                    && rows.lists[begin..begin + above].iter().all(|&e| slot(e))
                    && below_fits()
                    && rows.walls(g).all(|e| wall(e.0))
            })
    }

    /// The state of the processor's solver.
    fn take_the_processors(&mut self, saved: Saved<'_>, ids: &[u32]) -> Result<Rows, GpuDemError> {
        let unfit = |e: Unfit| GpuDemError::Checkpoint(e.to_string());
        let n = ids.len();
        if !saved.u32s("first").map_err(unfit)?.is_empty() {
            return Err(GpuDemError::NoSuch("several spheres"));
        }
        for (name, what) in [("pinned", "sleeps"), ("held.id", "is held by a load"), ("bonds", "is bonded")] {
            if saved.has(name) {
                return Err(GpuDemError::NoSuch(what));
            }
        }
        let numbers = |name: &str, width: usize| -> Result<Vec<f64>, GpuDemError> {
            saved.f64s_of(name, width * n).map_err(unfit)
        };
        let (place, velocity) = (numbers("record.place", 4)?, numbers("velocity", 4)?);
        let (momentum, load) = (numbers("momentum", 4)?, numbers("load", 8)?);
        let motion = numbers("record.motion", 8)?;
        let materials = saved.u32s("material").map_err(unfit)?;
        let known = materials.len() == n && materials.iter().all(|&m| (m as usize) < self.settings.materials.len());
        if !known || !place.iter().chain(&velocity).chain(&momentum).all(|x| x.is_finite()) {
            return Err(GpuDemError::Checkpoint("its grains are damaged; resume from an earlier checkpoint".into()));
        }
        let three = |v: &[f64], g: usize, width: usize| DVec3::from_slice(&v[width * g..]);
        // Slots in the order of ids.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&g| ids[g]);
        let mut slot = vec![0; n];
        order.iter().enumerate().for_each(|(new, &old)| slot[old] = new as u32);
        let largest = (0..n).map(|g| place[4 * g + 3]).fold(0.0, f64::max);
        let mut rows = Rows::default();
        if n > 0 {
            self.take_largest(&mut rows, largest)?;
        }
        let real = |x: f64| (x as f32).to_bits();
        for (s, &g) in order.iter().enumerate() {
            let (m, l) = (&motion[8 * g..8 * g + 8], &load[8 * g..8 * g + 8]);
            let radius = place[4 * g + 3];
            rows.record.extend([
                [0, 0, 0, self.quanta.of(radius) | materials[g] << 28],
                [real(m[0]), real(m[1]), real(m[2]), real(velocity[4 * g + 3])],
                [real(m[3]), real(m[4]), real(m[5]), 0],
            ]);
            rows.fine.extend([[0; 4]; FINE]);
            let l: [f32; 8] = std::array::from_fn(|k| l[k] as f32);
            rows.load.extend([[l[0], l[1], l[2], l[6]], [l[3], l[4], l[5], l[7]], [0.0; 4]]);
            rows.set_position(s, three(&place, g, 4), self.quanta);
            let spin = three(&momentum, g, 4) * momentum[4 * g + 3];
            rows.set_motion(s, [three(&velocity, g, 4) / self.speed(), spin * radius / self.speed()]);
        }
        self.bumps = Default::default();
        let touching = self.touching_of(saved, &slot, &rows).map_err(unfit)?;
        rows.set_touching(&touching);
        self.ids = order.iter().map(|&g| ids[g]).collect();
        (self.stale, self.fresh, self.outside) = (true, false, false);
        Ok(rows)
    }

    /// What touches in the processor's lists, by our slots.
    fn touching_of(&mut self, saved: Saved<'_>, slot: &[u32], rows: &Rows) -> Result<Touching, Unfit> {
        let damaged = || Unfit::new("its contact lists are damaged; resume from an earlier checkpoint");
        let mut out = Touching::default();
        let memory = self.memory;
        let kept = |slide: &[f64], roll: &[f64], batch: usize, k: usize| {
            let row = |v: &[f64]| -> Option<[f32; 4]> {
                let v = v.get(4 * WIDTH * batch..4 * WIDTH * (batch + 1))?;
                Some(std::array::from_fn(|c| v[c * WIDTH + k] as f32))
            };
            let mut own = vec![row(slide)?];
            if memory > 1 {
                own.push(row(roll)?);
            }
            Some(own)
        };
        let mirrored = |own: Vec<[f32; 4]>| own.into_iter().map(|[x, y, z, w]| [-x, -y, -z, w]).collect::<Vec<_>>();
        let blocks = saved.u64s_of("counters", 8)?[7] as usize;
        for b in 0..blocks {
            for (kind, both) in [("inner", true), ("cross", false)] {
                let name = format!("block.{b}.{kind}");
                let ints = saved.u32s(&name)?;
                let (slide, roll) = (saved.f64s(&format!("{name}.slide"))?, saved.f64s(&format!("{name}.roll"))?);
                for (n, batch) in ints.chunks_exact(2 * WIDTH + 1).enumerate() {
                    for k in (0..WIDTH).filter(|k| batch[2 * WIDTH] >> k & 1 == 1) {
                        let (old_i, old_j) = (batch[k], batch[WIDTH + k]);
                        // A contact across blocks stands twice.
                        if !both && old_i > old_j {
                            continue;
                        }
                        let [Some(&i), Some(&j)] = [old_i, old_j].map(|s| slot.get(s as usize)) else {
                            return Err(damaged());
                        };
                        let own = kept(&slide, &roll, n, k).ok_or_else(damaged)?;
                        out.pairs.push(if i < j { (i, j, own) } else { (j, i, mirrored(own)) });
                    }
                }
            }
            let name = format!("block.{b}.walls");
            let ints = saved.u32s(&name)?;
            let (slide, roll) = (saved.f64s(&format!("{name}.slide"))?, saved.f64s(&format!("{name}.roll"))?);
            for (n, batch) in ints.chunks_exact(3 * WIDTH + 2).enumerate() {
                for k in (0..WIDTH).filter(|k| batch[3 * WIDTH] >> k & 1 == 1) {
                    let Some(&i) = slot.get(batch[k] as usize) else { return Err(damaged()) };
                    let (key, w) = (batch[WIDTH + k], batch[2 * WIDTH + k] as usize);
                    let own = kept(&slide, &roll, n, k).ok_or_else(damaged)?;
                    let x = rows.position(i as usize, self.quanta);
                    let entry = self.entry_of(w, key, x).ok_or_else(damaged)?;
                    out.walls.push((i, entry, own));
                }
            }
        }
        Ok(out)
    }

    /// The entry of a feature of a wall near a point.
    fn entry_of(&mut self, w: usize, key: u32, x: DVec3) -> Option<u32> {
        if let Some(at) = self.keys.iter().position(|&k| k == (w, key)) {
            return Some(at as u32);
        }
        let (wall, state) = (self.fixtures.walls.get(w)?, self.walls.get(w)?);
        let rough = wall.rough?;
        let near = wall.nearest(state, key, x);
        let centre = x - near.normal * (near.distance + near.radius);
        let own = state.rotation.inverse() * (centre - wall.pivot(state));
        Some(self.bumps.number(w, key, own, rough.radius) | BUMP)
    }
}

const _: () = assert!(TOUCHED & (SLOT | BUMP) == 0);
