//! The state as columns, and back.
//!
//! Lists are not saved: they are built again from the places they were built from, in the same order of slots, so that sums are the same bit for bit.

use crate::SphError;
use crate::flow::{Flow, Report, blocks_of};
use crate::passes::Precision;
use crate::state::{BLOCK, Local, Particles};
use crate::walls::Contact;
use barchan_core::boundary::Boundary;
use barchan_core::columns::{Column, Columns, Saved, Unfit, mix, of_length};
use glam::DVec3;

fn flat(v: &[DVec3]) -> Column {
    Column::F64(v.iter().flat_map(|x| x.to_array()).collect())
}

fn points(v: &[f64]) -> Vec<DVec3> {
    v.chunks_exact(3).map(DVec3::from_slice).collect()
}

impl<R: Precision> Flow<R> {
    fn contacts_of(&self, i: usize) -> &[Contact] {
        self.contacts.get(i / BLOCK).map_or(&[], |b| b.of(i % BLOCK))
    }

    pub fn save(&self) -> Columns {
        let p = &self.particles;
        let n = p.len();
        let numbers = |x: &[R]| x.iter().map(|x| Into::<f64>::into(*x)).collect::<Vec<f64>>();
        let sliding: Vec<(u32, &Contact)> =
            (0..n).flat_map(|i| self.contacts_of(i).iter().map(move |c| (i as u32, c))).collect();
        let r = &self.report;
        let built = if self.stale { &[] } else { &self.lists.built[..] };
        let mut columns = vec![
            ("position".into(), Column::F64(p.place.iter().flat_map(|x| x[..3].to_vec()).collect())),
            ("velocity".into(), flat(&p.velocity)),
            ("stress".into(), Column::F64(p.stress.iter().flat_map(|s| numbers(s)).collect())),
            ("density".into(), Column::F64(p.local.iter().map(|l| l.density.into()).collect())),
            ("kind".into(), Column::U32(p.kind.iter().map(|k| u32::from(*k)).collect())),
            ("id".into(), Column::U32(p.id.clone())),
            ("built".into(), flat(built)),
            ("contact_of".into(), Column::U32(sliding.iter().map(|s| s.0).collect())),
            ("contact_wall".into(), Column::U32(sliding.iter().map(|s| u32::from(s.1.wall)).collect())),
            (
                "contact".into(),
                Column::F64(
                    sliding.iter().flat_map(|s| [s.1.normal.to_array(), s.1.slide.to_array()].concat()).collect(),
                ),
            ),
            (
                "step".into(),
                Column::F64(vec![self.time, r.dt, r.fastest, self.lists.skin, self.moved, self.walls_moved]),
            ),
            (
                "counts".into(),
                Column::U64(vec![
                    self.steps,
                    u64::from(self.born),
                    u64::from(self.builds_since_sort),
                    u64::from(self.stale),
                    self.guarded,
                    self.unconverged,
                ]),
            ),
        ];
        columns.extend(self.grains.iter().flat_map(|g| g.save()));
        columns
    }

    pub fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SphError> {
        let id = saved.u32s("id")?;
        let n = id.len();
        let kind = saved.u32s("kind")?;
        of_length("kind", kind.len(), n)?;
        if kind.iter().any(|k| *k as usize >= self.laws.len()) {
            return Err(Unfit::new("a particle is of a kind that is not there").into());
        }
        let position = saved.f64s_of("position", 3 * n)?;
        let stress = saved.f64s_of("stress", 8 * n)?;
        let density = saved.f64s_of("density", n)?;
        let velocity = points(&saved.f64s_of("velocity", 3 * n)?);
        let real = |x: &f64| R::of(*x);
        let mut particles = Particles {
            place: position.chunks_exact(3).map(|x| [x[0], x[1], x[2], 0.0]).collect(),
            velocity,
            stress: stress.chunks_exact(8).map(|s| std::array::from_fn(|k| real(&s[k]))).collect(),
            kind: kind.into_iter().map(|k| k as u16).collect(),
            id,
            local: density.iter().map(|d| Local::new(*d, d * d)).collect(),
            ..Particles::default()
        };
        particles.fit();
        let counts = saved.u64s_of("counts", 6)?;
        let step = saved.f64s_of("step", 6)?;
        let built = points(&saved.f64s("built")?);
        self.particles = particles;
        if let Some(grains) = &mut self.grains {
            grains.load(saved)?;
        }
        self.contacts = self.saved_contacts(saved, n, boundary)?;
        (self.steps, self.born, self.builds_since_sort) = (counts[0], counts[1] as u32, counts[2] as u32);
        (self.guarded, self.unconverged) = (counts[4], counts[5]);
        self.stale = counts[3] != 0;
        self.time = step[0];
        self.report = Report { dt: step[1], fastest: step[2], ..Report::default() };
        if !self.stale {
            of_length("built", built.len(), n)?;
            self.states = boundary.states().to_vec();
            let now =
                std::mem::replace(&mut self.particles.place, built.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect());
            let done = self.build_lists(boundary, step[3]);
            self.particles.place = now;
            done?;
        }
        (self.moved, self.walls_moved) = (step[4], step[5]);
        Ok(())
    }

    fn saved_contacts(
        &self,
        saved: Saved<'_>,
        n: usize,
        boundary: &Boundary,
    ) -> Result<Vec<crate::walls::BlockContacts>, SphError> {
        let (of, wall) = (saved.u32s("contact_of")?, saved.u32s("contact_wall")?);
        of_length("contact_wall", wall.len(), of.len())?;
        let vectors = points(&saved.f64s_of("contact", 6 * of.len())?);
        let mut by_particle = vec![Vec::new(); n];
        for (k, (&i, &w)) in of.iter().zip(&wall).enumerate() {
            if i as usize >= n || w as usize >= boundary.walls().len() {
                return Err(Unfit::new("a contact names a particle or a wall that is not there").into());
            }
            by_particle[i as usize].push(Contact {
                wall: w as u16,
                rough: false,
                distance: 0.0,
                normal: vectors[2 * k],
                point: DVec3::ZERO,
                density: 0.0,
                gradient: DVec3::ZERO,
                friction: 0.0,
                slide: vectors[2 * k + 1],
                answer: 1.0,
            });
        }
        Ok(blocks_of(by_particle))
    }

    pub fn hash(&self, start: u64) -> u64 {
        let p = &self.particles;
        let mut hash = start;
        for i in 0..p.len() {
            hash = mix(hash, u64::from(p.id[i]) << 16 | u64::from(p.kind[i]));
            for x in p.place[i][..3].iter().chain(&p.velocity[i].to_array()) {
                hash = mix(hash, x.to_bits());
            }
            for x in p.stress[i] {
                hash = mix(hash, Into::<f64>::into(x).to_bits());
            }
            for contact in self.contacts_of(i) {
                hash = contact.slide.to_array().iter().fold(hash, |h, x| mix(h, x.to_bits()));
            }
        }
        self.grains.iter().fold(hash, |h, g| g.hash(h))
    }
}
