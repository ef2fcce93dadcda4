//! Newborn grains that join the lists of the others: they meet all that they meet, and nobody notices how they came in.

use crate::common;
use barchan_core::materials::Material;
use barchan_core::rng::Random;
use barchan_core::solver::{NewMatter, Partner};
use barchan_dem::Alone;
use common::*;
use glam::DVec3;
use std::collections::BTreeSet;

/// A cloud of grains that falls together, some of them held where they are.
struct Cloud {
    dem: Alone,
    random: Random,
    shape: u16,
}

const R: f64 = 1e-3;

impl Cloud {
    fn new(shape: u16, grains: usize) -> Cloud {
        let mut s = settings(Material { rolling: 0.1, ..glass() }, HERTZ);
        s.dt = 5e-6;
        let mut cloud = Cloud { dem: alone(s), random: Random::new(5, 0), shape };
        let side = (grains as f64).cbrt().ceil() as usize;
        let at = |k: usize| DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        let pitch = if shape == 0 { 2.2 * R } else { 3.6 * R };
        let new: Vec<NewMatter> = (0..grains).map(|k| cloud.grain((at(k) - 0.5 * side as f64) * pitch)).collect();
        cloud.dem.add(&new).unwrap();
        cloud.dem.set_pinned(&(0..grains as u32 / 3).collect::<Vec<_>>());
        cloud
    }

    /// One that flies towards the middle.
    fn grain(&mut self, x: DVec3) -> NewMatter {
        let v = self.random.in_ball() - 40.0 * x;
        NewMatter { shape: self.shape, orientation: self.random.unit_quaternion(), ..grain(x, v, R) }
    }

    /// Steps, with a birth at the rim of the cloud after each third.
    fn run(&mut self, steps: usize, mut after: impl FnMut(&Alone)) -> usize {
        let mut born = 0;
        for step in 0..steps {
            if step % 3 == 0 {
                let place = self.random.in_ball().normalize() * 12.0 * R;
                let new = [self.grain(place)];
                let own = if self.shape == 0 { 1.02 } else { 2.5 };
                let clear = {
                    let frame = self.dem.population();
                    frame.spheres().all(|s| s.centre.distance(place) > s.radius + own * R)
                };
                if clear {
                    self.dem.add(&new).unwrap();
                    born += 1;
                }
            }
            self.dem.step().unwrap();
            after(&self.dem);
        }
        born
    }

    fn rebuilds(&self) -> u64 {
        self.dem.timers().iter().find(|t| t.name == "rebuild").unwrap().runs
    }
}

#[test]
fn newborn_grains_miss_no_contact_and_lists_outlast_them() {
    let mut cloud = Cloud::new(0, 400);
    cloud.run(3, |_| ());
    let (before, mut met) = (cloud.rebuilds(), 0);
    let born = cloud.run(1500, |dem| {
        let frame = dem.population();
        let held = |i: usize| dem.pinned().binary_search(&frame.id[i]).is_ok();
        let mut overlapping = BTreeSet::new();
        for i in 0..frame.len() {
            for j in i + 1..frame.len() {
                let reach = frame.radius[i] + frame.radius[j] - 1e-9 * R;
                if frame.position[i].distance_squared(frame.position[j]) < reach * reach && !(held(i) && held(j)) {
                    overlapping.insert((frame.id[i].min(frame.id[j]), frame.id[i].max(frame.id[j])));
                }
            }
        }
        let listed = dem.contacts();
        let pair = |c: &barchan_core::solver::Contact| match c.partner {
            Partner::Grain(other) => (c.grain.min(other), c.grain.max(other)),
            _ => unreachable!("there are no walls"),
        };
        let listed: Vec<_> = listed.iter().map(pair).collect();
        let all: BTreeSet<_> = listed.iter().copied().collect();
        assert_eq!(all.len(), listed.len(), "a contact stands twice");
        assert!(overlapping.is_subset(&all), "{:?} not seen", overlapping.difference(&all));
        met += all.iter().filter(|p| p.1 >= 400).count();
    });
    let built = cloud.rebuilds() - before;
    assert!(born > 100 && met > 1000, "{born} born, {met} times touching");
    assert!(built < born as u64 / 2, "{built} rebuilds for {born} births");
}

#[test]
fn momentum_is_kept_through_births() {
    for shape in [0, 1] {
        let mut cloud = Cloud::new(shape, 200);
        cloud.dem.set_pinned(&[]);
        cloud.run(3, |_| ());
        let (mut expected, mut last) = (None, 0);
        cloud.run(450, |dem| {
            let frame = dem.population();
            let now: DVec3 = (0..frame.len()).map(|i| frame.mass[i] * frame.velocity[i]).sum();
            // What a step changes is what was born before it.
            let scale: f64 = (0..frame.len()).map(|i| frame.mass[i] * frame.velocity[i].length()).sum();
            if frame.len() == last {
                let before: DVec3 = expected.unwrap_or(now);
                assert!((now - before).length() < 3e-6 * scale, "{now} after {before}");
            }
            (expected, last) = (Some(now), frame.len());
        });
    }
}

#[test]
fn births_are_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for shape in [0, 1] {
        let hash = |threads: usize, saved: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut cloud = Cloud::new(shape, 900);
                cloud.run(200, |_| ());
                if saved {
                    let columns = cloud.dem.save();
                    let column = |name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
                    cloud.dem = resumed(setup_of(&cloud.dem), &column).unwrap();
                }
                cloud.run(200, |_| ());
                cloud.dem.hash()
            })
        };
        let one = hash(1, false);
        assert_eq!([one; 3], [hash(2, false), hash(3, false), hash(2, true)]);
    }
}
