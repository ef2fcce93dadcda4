//! How densely a region is packed.

use super::images::Images;
use super::solids::Solids;
use super::{Asked, Observer, View, contacts_of};
use barchan_core::frame::Population;
use barchan_core::regions;
use barchan_core::solver::{Contact, Partner};
use barchan_io::csv::Column;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};
use glam::DVec3;

keys! {
    /// Volume fraction of a region, and contacts a grain in it.
    pub struct PackingKeys = "write `packing = { box = { min, max } }`" {
        /// Where.
        @flat region: Region [; help("say where to measure: a `box`, `cylinder` or `sphere`")],
        /// A grain of fewer contacts is a rattler; left out: 4 where no grain has friction, else 2.
        rattlers_below: Option<u64>,
    }
}

impl Measured for PackingKeys {
    const KEY: &'static str = "packing";
    const ABOUT: &'static str = "Volume fraction of a region, and contacts a grain in it.";

    fn check_all(&self, c: &mut Check, path: &str) {
        corners(c, path, &self.region);
    }
}

impl Asked for PackingKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        // A grain is held by two contacts opposite each other only if they can rub.
        let rubs = scene.grains.iter().any(|g| scene.materials.get(&g.material).is_some_and(|m| m.friction > 0.0));
        let below = self.rattlers_below.unwrap_or(if rubs { 2 } else { 4 });
        Box::new(Packing::new(self.region.to_core(), super::period(scene), below as u32))
    }
}

/// Volume fraction of a region, grains at its surface counted with the part that is inside; and the mean number of contacts of
/// the grains whose centre is inside, with and without rattlers.
///
/// A rattler carries nothing: it has too few contacts, or would have without other rattlers. Contacts with walls count.
#[derive(Clone, Debug)]
pub struct Packing {
    region: regions::Region,
    images: Images,
    /// A grain with fewer contacts is a rattler.
    rattlers_below: u32,
    solids: Solids,
}

impl Packing {
    /// In a region of a domain with these periods [m], 0 where there is none. A grain of fewer than `rattlers_below` contacts is
    /// a rattler: four are needed without friction, two with.
    pub fn new(region: regions::Region, period: DVec3, rattlers_below: u32) -> Packing {
        let (min, max) = region.bounds();
        Packing { region, images: Images { min, max, period }, rattlers_below, solids: Solids::default() }
    }

    fn solid_volume(&mut self, frame: &Population) -> f64 {
        let mut sum = 0.0;
        for g in 0..frame.len() {
            let reach = frame.shape_of(g).bounding_radius() * frame.radius[g];
            let x = frame.position[g];
            self.images.each(x - reach, x + reach, |shift| {
                sum += self.solids.volume_in(frame, g, shift, &self.region);
            });
        }
        sum
    }

    /// Grains whose centre is inside, their mean number of contacts, that of those that are no rattlers, the rattlers' share.
    fn coordination(&self, frame: &Population, contacts: &[Contact]) -> [f64; 4] {
        let mut row = vec![usize::MAX; frame.id.iter().max().map_or(0, |id| *id as usize + 1)];
        frame.id.iter().enumerate().for_each(|(g, id)| row[*id as usize] = g);
        // A wall is a partner that is never a rattler.
        let mut partners: Vec<Vec<Option<usize>>> = vec![vec![]; frame.len()];
        for c in contacts {
            let i = row[c.grain as usize];
            match c.partner {
                Partner::Grain(id) => {
                    let j = row[id as usize];
                    partners[i].push(Some(j));
                    partners[j].push(Some(i));
                }
                Partner::Wall(_) => partners[i].push(None),
            }
        }
        let mut held: Vec<u32> = partners.iter().map(|p| p.len() as u32).collect();
        let mut rattles = vec![false; frame.len()];
        let mut loose: Vec<usize> = (0..frame.len()).filter(|&g| held[g] < self.rattlers_below).collect();
        loose.iter().for_each(|&g| rattles[g] = true);
        while let Some(g) = loose.pop() {
            for &p in partners[g].iter().flatten() {
                held[p] -= 1;
                if !rattles[p] && held[p] < self.rattlers_below {
                    rattles[p] = true;
                    loose.push(p);
                }
            }
        }
        let mut sums = [0.0; 4];
        for g in 0..frame.len() {
            let x = frame.position[g];
            self.images.each(x, x, |shift| {
                if self.region.contains(x + shift) {
                    sums[0] += 1.0;
                    sums[1] += partners[g].len() as f64;
                    sums[2] += if rattles[g] { 0.0 } else { f64::from(held[g]) };
                    sums[3] += f64::from(u8::from(rattles[g]));
                }
            });
        }
        let [grains, all, carrying, rattlers] = sums;
        let mean = |sum: f64, n: f64| if n > 0.0 { sum / n } else { 0.0 };
        [grains, mean(all, grains), mean(carrying, grains - rattlers), mean(rattlers, grains)]
    }
}

impl Observer for Packing {
    fn columns(&self) -> Vec<Column> {
        let names = ["volume fraction", "grains", "coordination", "coordination without rattlers", "rattlers"];
        names.map(|name| Column::new(name, "")).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let fraction = self.solid_volume(view.grains()) / self.region.volume();
        [&[fraction][..], &self.coordination(view.grains(), &contacts_of(view))].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{contact, frame};
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn a_cubic_lattice_fills_a_sixth_of_pi_wherever_the_box_cuts_it() {
        let places: Vec<DVec3> =
            (0..512).map(|n| DVec3::new((n % 8) as f64, (n / 8 % 8) as f64, (n / 64) as f64)).collect();
        let frame = frame(&places, 0.5);
        for min in [DVec3::splat(1.0), DVec3::new(1.13, 2.4, 0.77)] {
            let mut p = Packing::new(regions::Region::Box { min, max: min + 4.0 }, DVec3::ZERO, 4);
            assert!((p.solid_volume(&frame) / 64.0 - PI / 6.0).abs() < 1e-12);
        }
        // The whole periodic lattice, and a box across its boundary.
        for min in [DVec3::splat(-0.5), DVec3::splat(4.2)] {
            let mut p = Packing::new(regions::Region::Box { min, max: min + 8.0 }, DVec3::splat(8.0), 4);
            assert!((p.solid_volume(&frame) / 512.0 - PI / 6.0).abs() < 1e-12);
        }
    }

    #[test]
    fn rattlers_are_found_with_those_that_only_they_hold() {
        // Four grains that hold each other, and a tail of three hanging on the last: each of the tail is a rattler below 2.
        let frame = frame(&[DVec3::ZERO; 7], 0.5);
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6)];
        let contacts: Vec<Contact> = pairs.map(|(a, b)| contact(a, Partner::Grain(b))).to_vec();
        let region = regions::Region::Sphere { centre: DVec3::ZERO, radius: 1.0 };
        let of = |below| Packing::new(region, DVec3::ZERO, below).coordination(&frame, &contacts);
        assert_eq!(of(2), [7.0, 18.0 / 7.0, 3.0, 3.0 / 7.0]);
        assert_eq!(of(0), [7.0, 18.0 / 7.0, 18.0 / 7.0, 0.0]);
        assert_eq!(of(4)[3], 1.0, "without friction four contacts are needed");
    }

    #[test]
    fn a_wall_holds_a_grain() {
        let frame = frame(&[DVec3::ZERO; 1], 0.5);
        let p = Packing::new(regions::Region::Sphere { centre: DVec3::ZERO, radius: 1.0 }, DVec3::ZERO, 2);
        let walls = [0, 1].map(|w| contact(0, Partner::Wall(w)));
        assert_eq!(p.coordination(&frame, &walls), [1.0, 2.0, 2.0, 0.0]);
    }
}
