//! Filling a region with spheres that touch neither each other, nor walls, nor what is there already.
//!
//! [`Lattice`] sets grains on close-packed layers, from below, shaken by a jitter that cannot make them overlap;
//! [`random_insertion`] throws them in one by one where there is room, largest first. Both run on one thread in a fixed
//! order, so a seed gives one packing. Both may place fewer than asked: compare [`Fill::asked`].

use crate::math;
use crate::regions::Region;
use crate::rng::Random;
use crate::sizes::SizeDistribution;
use glam::{DVec3, IVec3};

/// What a filling achieved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fill {
    /// Centres [m] and bounding radii [m] of the grains placed.
    pub spheres: Vec<(DVec3, f64)>,
    /// Number of grains that were wanted; of a lattice without a count, the number placed.
    pub asked: usize,
}

impl Fill {
    /// Whether some grains found no room.
    pub fn is_short(&self) -> bool {
        self.spheres.len() < self.asked
    }
}

/// How many grains to place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// That number.
    Count(usize),
    /// So many that their spheres fill this share of the region's volume.
    Fraction(f64),
}

/// Layers of spheres on a close-packed lattice (hexagonal layers along z, every other one in the hollows).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// How many grains; without a number, as many as there are sites.
    pub count: Option<usize>,
    /// Greatest displacement from a site, in units of the largest radius present.
    pub jitter: f64,
    /// Spread the grains over the whole region rather than fill it from below.
    pub spread: bool,
}

/// Sites are set this share further apart than contact, so that rounding never makes neighbours touch.
const MARGIN: f64 = 1e-9;

impl Lattice {
    /// Fills the region. `blocked(x, r)` tells whether a ball there would cut a wall or a grain.
    ///
    /// The sites' distance is twice the largest radius present plus room for the jitter; each grain stays within its
    /// half of the distance, so no jitter can bring two together. A site whose shaken place is outside or blocked is
    /// tried unshaken, then left empty.
    pub fn fill(
        &self,
        region: &Region,
        sizes: &SizeDistribution,
        rng: &mut Random,
        blocked: &dyn Fn(DVec3, f64) -> bool,
    ) -> Fill {
        let jitter = self.jitter.max(0.0);
        let radii: Option<Vec<f64>> = self.count.map(|n| (0..n).map(|_| sizes.sample(rng)).collect());
        let largest = match &radii {
            Some(radii) => radii.iter().copied().fold(0.0, f64::max),
            None => sizes.max(),
        };
        let tight = 2.0 * largest * (1.0 + jitter) * (1.0 + MARGIN);
        if !(tight.is_finite() && tight > 0.0) {
            return Fill { spheres: Vec::new(), asked: self.count.unwrap_or(0) };
        }
        let start = rng.clone();
        let mut place = |spacing: f64| {
            // Each trial spacing replays the same numbers: the outcome does not depend on the number of trials.
            *rng = start.clone();
            let shake = jitter * largest;
            self.place(region, spacing, shake, radii.as_deref(), sizes, rng, blocked)
        };
        let Some(count) = self.count else {
            let spheres = place(tight);
            return Fill { asked: spheres.len(), spheres };
        };
        let mut spacing = tight;
        if self.spread && count > 0 {
            // A close-packed lattice of distance s has √2/s³ sites a volume.
            spacing = math::cbrt(2f64.sqrt() * region.volume() / count as f64).max(tight);
        }
        loop {
            let spheres = place(spacing);
            if spheres.len() >= count || spacing <= tight {
                return Fill { spheres, asked: count };
            }
            let shrink = math::cbrt(spheres.len() as f64 / count as f64).clamp(0.5, 0.995);
            spacing = (spacing * shrink).max(tight);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one trial of `fill`, told apart only to be repeated")]
    fn place(
        &self,
        region: &Region,
        spacing: f64,
        shake: f64,
        radii: Option<&[f64]>,
        sizes: &SizeDistribution,
        rng: &mut Random,
        blocked: &dyn Fn(DVec3, f64) -> bool,
    ) -> Vec<(DVec3, f64)> {
        let wanted = radii.map_or(usize::MAX, <[f64]>::len);
        let mut spheres = Vec::with_capacity(radii.map_or(0, <[f64]>::len));
        let fresh = |rng: &mut Random, placed: usize| match radii {
            Some(radii) => radii.get(placed).copied(),
            None => Some(sizes.sample(rng)),
        };
        let Some(mut radius) = fresh(rng, 0) else { return spheres };
        let row = spacing * 0.75f64.sqrt();
        let layer = spacing * (2.0 / 3.0f64).sqrt();
        let least = radii.map_or(sizes.min(), |r| r.iter().copied().fold(f64::INFINITY, f64::min));
        // The largest grain fits the lowest site; above and aside, sites are tried while the smallest would.
        let first = radii.map_or(sizes.max(), |r| r.iter().copied().fold(0.0, f64::max)) * (1.0 + MARGIN);
        let (low, high) = region.bounds();
        let (origin, end) = (low + first, high - least);
        let steps = |room: f64, step: f64| if room >= 0.0 { (room / step) as i64 } else { -1 };
        'sites: for k in 0..=steps(end.z - origin.z, layer) {
            let odd = (k % 2) as f64;
            for j in 0..=steps(end.y - origin.y - odd * row / 3.0, row) {
                let y = origin.y + row * (j as f64 + odd / 3.0);
                let shift = 0.5 * spacing * ((j + k) % 2) as f64;
                for i in 0..=steps(end.x - origin.x - shift, spacing) {
                    if spheres.len() >= wanted {
                        break 'sites;
                    }
                    let site = DVec3::new(origin.x + shift + spacing * i as f64, y, origin.z + layer * k as f64);
                    let free = |x: DVec3| region.contains_ball(x, radius) && !blocked(x, radius);
                    let room = shake.min(0.5 * spacing * (1.0 - 0.5 * MARGIN) - radius).max(0.0);
                    let shaken = if room > 0.0 { site + rng.in_ball() * room } else { site };
                    let found = [shaken, site].into_iter().find(|&x| free(x));
                    if let Some(x) = found {
                        spheres.push((x, radius));
                        match fresh(rng, spheres.len()) {
                            Some(next) => radius = next,
                            None => break 'sites,
                        }
                    }
                }
            }
        }
        spheres
    }
}

/// Attempts granted per grain on average, and to each one at most: near the densest random insertion (some 38 % for
/// equal spheres) thousands of attempts fail for one that succeeds.
const ATTEMPTS_MEAN: usize = 150;
const ATTEMPTS_EACH: usize = 20_000;

/// Throws grains at random into the free space of a region, the largest first.
///
/// `already` are the spheres in place, `blocked(x, r)` tells whether a ball there would cut a wall. The numbers come
/// from stream 0 of the seed (sizes) and stream 1 (places). Grains are returned in the order in which their sizes were
/// drawn, so that sizes are mixed along the list.
pub fn random_insertion(
    region: &Region,
    sizes: &SizeDistribution,
    amount: Amount,
    seed: u64,
    already: &[(DVec3, f64)],
    blocked: &dyn Fn(DVec3, f64) -> bool,
) -> Fill {
    let radii = radii_for(region, sizes, amount, &mut Random::new(seed, 0));
    let mut order: Vec<u32> = (0..radii.len() as u32).collect();
    order.sort_by(|&a, &b| radii[b as usize].total_cmp(&radii[a as usize]));
    let all = already.iter().map(|s| s.1).chain(radii.iter().copied());
    let (low, high) = region.bounds();
    let mut grid = SphereGrid::new(low, high, all);
    already.iter().for_each(|&(x, r)| grid.insert(x, r));

    let mut rng = Random::new(seed, 1);
    let mut budget = ATTEMPTS_MEAN * radii.len() + 10 * ATTEMPTS_EACH;
    let mut places: Vec<Option<DVec3>> = vec![None; radii.len()];
    for &i in &order {
        let radius = radii[i as usize];
        for _ in 0..ATTEMPTS_EACH.min(budget) {
            budget -= 1;
            let Some(x) = region.sample(radius, &mut rng) else { break };
            // Drawing at the very surface may round outwards.
            if region.contains_ball(x, radius) && !grid.overlaps(x, radius) && !blocked(x, radius) {
                grid.insert(x, radius);
                places[i as usize] = Some(x);
                break;
            }
        }
    }
    let spheres = places.into_iter().zip(&radii).filter_map(|(x, &r)| x.map(|x| (x, r))).collect();
    Fill { spheres, asked: radii.len() }
}

fn radii_for(region: &Region, sizes: &SizeDistribution, amount: Amount, rng: &mut Random) -> Vec<f64> {
    match amount {
        Amount::Count(n) => (0..n).map(|_| sizes.sample(rng)).collect(),
        Amount::Fraction(fraction) => {
            // In units of 4π/3: the last grain is taken if more than half of it is wanted.
            let wanted = fraction.clamp(0.0, 1.0) * region.volume() * 0.75 / std::f64::consts::PI;
            let (mut radii, mut sum) = (Vec::new(), 0.0);
            loop {
                let r = sizes.sample(rng);
                let cube = r.powi(3);
                // Written so that a size that is no number ends the loop too.
                if !(cube > 0.0 && sum + 0.5 * cube <= wanted) {
                    return radii;
                }
                sum += cube;
                radii.push(r);
            }
        }
    }
}

/// Spheres sorted into cells, one grid per octave of radius, to ask quickly whether a ball has room.
pub struct SphereGrid {
    low: DVec3,
    levels: Vec<Level>,
    largest: f64,
    spheres: Vec<(DVec3, f64)>,
    next: Vec<u32>,
}

struct Level {
    cell: f64,
    size: IVec3,
    head: Vec<u32>,
    largest: f64,
}

const NONE: u32 = u32::MAX;
/// Cells of one level at most: 16 MB, and at ten million grains still under three to a cell.
const MOST_CELLS: f64 = 4e6;

impl SphereGrid {
    /// An empty grid for spheres of these radii [m], fastest between the two corners [m].
    pub fn new(low: DVec3, high: DVec3, radii: impl Iterator<Item = f64> + Clone) -> SphereGrid {
        let largest = radii.clone().fold(0.0, f64::max);
        let mut counts = Vec::new();
        for r in radii {
            let level = octave(largest, r);
            counts.resize(counts.len().max(level + 1), 0usize);
            counts[level] += 1;
        }
        let extent = (high - low).max(DVec3::splat(1e-300));
        let level = |(i, &count): (usize, &usize)| {
            let reach = largest * 0.5f64.powi(i as i32);
            // No finer than the spheres, nor than the cells are worth.
            let most = (4.0 * count as f64).clamp(1.0, MOST_CELLS);
            let mut cell = (2.0 * reach).max(1e-300);
            let cells = |cell: f64| (extent / cell).floor() + 1.0;
            while cells(cell).element_product() > most {
                cell *= 1.26;
            }
            let size = cells(cell).as_ivec3();
            Level { cell, size, head: vec![NONE; size.as_usizevec3().element_product()], largest: 0.0 }
        };
        let levels = counts.iter().enumerate().map(level).collect();
        SphereGrid { low, levels, largest, spheres: Vec::new(), next: Vec::new() }
    }

    /// Adds a sphere; one larger than announced is kept with the largest.
    pub fn insert(&mut self, x: DVec3, r: f64) {
        let Some(last) = self.levels.len().checked_sub(1) else {
            *self = SphereGrid::new(x, x, std::iter::once(r));
            return self.insert(x, r);
        };
        let level = &mut self.levels[octave(self.largest, r).min(last)];
        level.largest = level.largest.max(r);
        let cell = level.index(level.cell_of(x - self.low));
        self.next.push(level.head[cell]);
        level.head[cell] = self.spheres.len() as u32;
        self.spheres.push((x, r));
    }

    /// Whether a ball of radius `r` [m] at `x` would overlap a sphere.
    pub fn overlaps(&self, x: DVec3, r: f64) -> bool {
        let at = x - self.low;
        let present = || self.levels.iter().filter(|l| l.largest > 0.0);
        // What is hit is mostly in the point's own cell: ask there first, on every level.
        present().any(|level| self.hits(level.head[level.index(level.cell_of(at))], x, r))
            || present().any(|level| {
                // Outer cells hold what lies beyond the corners: clamping keeps the order, so none is missed.
                let reach = r + level.largest;
                let (a, b) = (level.cell_of(at - reach), level.cell_of(at + reach));
                let row = |j: i32, k: i32| {
                    let first = level.index(IVec3::new(a.x, j, k));
                    &level.head[first..=first + (b.x - a.x) as usize]
                };
                (a.z..=b.z).any(|k| (a.y..=b.y).any(|j| row(j, k).iter().any(|&head| self.hits(head, x, r))))
            })
    }

    /// Whether any sphere of a cell's list is hit.
    fn hits(&self, head: u32, x: DVec3, r: f64) -> bool {
        let mut s = head;
        while s != NONE {
            let (y, q) = self.spheres[s as usize];
            if x.distance_squared(y) < (r + q) * (r + q) {
                return true;
            }
            s = self.next[s as usize];
        }
        false
    }
}

fn octave(largest: f64, r: f64) -> usize {
    // 2⁻³⁰ of the largest and less share a level.
    if r >= largest { 0 } else { math::log2(largest / r).min(30.0) as usize }
}

impl Level {
    fn cell_of(&self, at: DVec3) -> IVec3 {
        (at / self.cell).floor().clamp(DVec3::ZERO, (self.size - 1).as_dvec3()).as_ivec3()
    }

    fn index(&self, c: IVec3) -> usize {
        ((c.z as usize * self.size.y as usize) + c.y as usize) * self.size.x as usize + c.x as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(_: DVec3, _: f64) -> bool {
        false
    }

    fn cube(side: f64) -> Region {
        Region::Box { min: DVec3::new(-1.0, 2.0, 0.5), max: DVec3::new(-1.0, 2.0, 0.5) + side }
    }

    /// Every pair compared, sorted along x to be quick.
    fn assert_apart(spheres: &[(DVec3, f64)]) {
        let mut all = spheres.to_vec();
        all.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
        let largest = all.iter().map(|s| s.1).fold(0.0, f64::max);
        for (i, (x, r)) in all.iter().enumerate() {
            for (y, q) in all[i + 1..].iter().take_while(|s| s.0.x - x.x < r + largest) {
                assert!(x.distance(*y) >= r + q, "{x} {r} and {y} {q}");
            }
        }
    }

    #[test]
    fn a_lattice_never_overlaps_whatever_the_jitter_and_sizes() {
        let regions = [
            cube(2.0),
            Region::Cylinder {
                base: DVec3::ONE,
                axis: DVec3::new(1.0, 1.0, 0.3).normalize(),
                radius: 1.0,
                height: 1.7,
            },
            Region::Sphere { centre: DVec3::ONE, radius: 1.2 },
        ];
        for region in regions {
            for jitter in [0.0, 0.1, 0.7] {
                for sizes in [SizeDistribution::Fixed(0.08), SizeDistribution::Uniform { min: 0.03, max: 0.1 }] {
                    for (count, spread) in [(None, false), (Some(60), false), (Some(60), true)] {
                        let lattice = Lattice { count, jitter, spread };
                        let hole = |x: DVec3, r: f64| x.distance(DVec3::ONE) < 0.3 + r;
                        let fill = lattice.fill(&region, &sizes, &mut Random::new(1, 0), &hole);
                        assert!(!fill.is_short() && fill.spheres.len() >= 20, "{region:?} {lattice:?}");
                        assert!(count.is_none_or(|n| n == fill.spheres.len()));
                        assert!(fill.spheres.iter().all(|&(x, r)| region.contains_ball(x, r) && !hole(x, r)));
                        assert_apart(&fill.spheres);
                        let again = lattice.fill(&region, &sizes, &mut Random::new(1, 0), &hole);
                        assert_eq!(fill, again);
                    }
                }
            }
        }
    }

    #[test]
    fn an_unshaken_lattice_is_close_packed_and_fills_from_below() {
        let lattice = Lattice { count: None, jitter: 0.0, spread: false };
        let r = 0.02;
        let sizes = SizeDistribution::Fixed(r);
        let all = lattice.fill(&cube(2.0), &sizes, &mut Random::new(1, 0), &free);
        // π/√18 = 0.7405 in the bulk, less a loose layer at each face.
        let density = all.spheres.len() as f64 * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) / 8.0;
        assert!((0.70..0.7405).contains(&density), "{density}");
        assert_apart(&all.spheres);
        let some = Lattice { count: Some(500), ..lattice };
        let low = some.fill(&cube(2.0), &sizes, &mut Random::new(1, 0), &free);
        assert_eq!(low.spheres[..], all.spheres[..500]);
        let spread = Lattice { spread: true, ..some }.fill(&cube(2.0), &sizes, &mut Random::new(1, 0), &free);
        let top = |f: &Fill| f.spheres.iter().map(|s| s.0.z).fold(0.0, f64::max);
        assert!(top(&low) < 0.6 && top(&spread) > 2.0, "{} {}", top(&low), top(&spread));
        // More than fit: as many as do, and it says so.
        let much = Lattice { count: Some(1_000_000), ..lattice };
        let short = much.fill(&cube(1.0), &sizes, &mut Random::new(1, 0), &free);
        assert!(short.is_short() && short.spheres.len() > 10_000);
    }

    #[test]
    fn random_insertion_reaches_its_fraction_and_avoids_everything() {
        let region = cube(1.0);
        for (sizes, fraction) in [
            (SizeDistribution::Fixed(0.025), 0.3),
            (SizeDistribution::Uniform { min: 0.01, max: 0.1 }, 0.35),
            (SizeDistribution::LogNormal { median: 0.02, sigma: 0.4, min: 0.008, max: 0.08 }, 0.3),
        ] {
            let already = [(DVec3::new(-0.5, 2.5, 1.0), 0.2), (DVec3::new(-1.1, 2.0, 0.4), 0.3)];
            let wall = |x: DVec3, r: f64| x.z - 0.6 < r;
            let amount = Amount::Fraction(fraction * 0.8);
            let fill = random_insertion(&region, &sizes, amount, 5, &already, &wall);
            assert!(!fill.is_short(), "{} of {}", fill.spheres.len(), fill.asked);
            let volume: f64 = fill.spheres.iter().map(|s| 4.0 / 3.0 * std::f64::consts::PI * s.1.powi(3)).sum();
            assert!((volume - 0.8 * fraction).abs() < 0.004);
            assert!(fill.spheres.iter().all(|&(x, r)| region.contains_ball(x, r) && !wall(x, r)));
            let all: Vec<_> = fill.spheres.iter().copied().chain(already).collect();
            let others = &all[..all.len() - 2];
            assert_apart(others);
            assert!(already.iter().all(|a| others.iter().all(|s| s.0.distance(a.0) >= s.1 + a.1)));
            assert_eq!(fill, random_insertion(&region, &sizes, amount, 5, &already, &wall));
        }
    }

    #[test]
    fn a_full_region_ends_short_and_soon() {
        let sizes = SizeDistribution::Fixed(0.05);
        let fill = random_insertion(&cube(1.0), &sizes, Amount::Fraction(0.6), 1, &[], &free);
        assert!(fill.is_short());
        let fraction = fill.spheres.len() as f64 / fill.asked as f64 * 0.6;
        assert!((0.30..0.39).contains(&fraction), "random insertion jams at 0.38 in the bulk: {fraction}");
        let none = random_insertion(&cube(0.05), &sizes, Amount::Count(3), 1, &[], &free);
        assert_eq!((none.spheres.len(), none.asked), (0, 3));
        assert!(
            random_insertion(&cube(1.0), &SizeDistribution::Fixed(f64::NAN), Amount::Fraction(0.5), 1, &[], &free)
                .spheres
                .is_empty()
        );
    }

    #[test]
    fn the_grid_agrees_with_comparing_all() {
        let mut rng = Random::new(9, 0);
        let spheres: Vec<(DVec3, f64)> =
            (0..800).map(|_| (1.5 * rng.in_ball(), 0.1 * 0.02f64.powf(rng.uniform()))).collect();
        let mut grid = SphereGrid::new(-DVec3::ONE, DVec3::ONE, spheres.iter().map(|s| s.1));
        spheres.iter().for_each(|&(x, r)| grid.insert(x, r));
        let mut hits = 0;
        for _ in 0..3000 {
            let (x, r) = (1.7 * rng.in_ball(), 0.2 * 0.01f64.powf(rng.uniform()));
            let brute = spheres.iter().any(|&(y, q)| x.distance(y) < r + q);
            assert_eq!(grid.overlaps(x, r), brute);
            hits += brute as i32;
        }
        assert!((300..2500).contains(&hits), "{hits}");
    }
}
