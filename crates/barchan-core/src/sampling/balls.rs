//! Spheres inside a body that touch its surface from there.
//!
//! The sphere of a point of the surface touches it there and is as large as asked for or, where that would stick out
//! elsewhere, shrinks until it fits: the shrinking ball of medial-axis methods [Ma, Bae and Choi 2012, "3D medial axis
//! point approximation using nearest neighbors and the normal field"]. In a thin fin it ends up in the middle.

use super::Settings;
use super::buckets::Buckets;
use super::probes::Probes;
use super::spread::Particle;
use crate::mesh::near::Surface;
use glam::DVec3;
use rayon::prelude::*;

/// A sphere that sticks out is moved inwards by up to this share of the roughness before it shrinks. Beside the blunt edges
/// between the facets of a round body the sphere that touches is arbitrarily small: moved by 4 % of the radius, with a
/// roughness of a tenth, the whole one fits at edges of up to 32°.
const FORGIVEN: f64 = 0.4;
/// A sphere fits if it sticks out by no more than this share of its radius; then it is made as much smaller.
const FITS: f64 = 1e-3;
/// Gaps are filled to this share of the roughness, so that what lies between two probes is covered as well.
const FILLED: f64 = 0.8;
/// Points a gap is measured at where no sphere is near.
const FAR_POINTS: usize = 1000;
/// Rounds of shrinking; each lands on a point that is nearer, and a handful does.
const SHRINK: usize = 30;
/// Rounds of moving inwards.
const SINK: usize = 8;
/// Spheres closer than this share of the spacing are too many, if all they cover is covered by others.
const TOO_CLOSE: f64 = 0.5;

/// Whole spheres that edges have pushed together closer than this share of the spacing are one too many.
const CROWDED: f64 = 0.7;

/// The spheres without those whose centre is within `distance` [m] of one before.
fn apart(spheres: Vec<(DVec3, f64)>, distance: f64) -> Vec<(DVec3, f64)> {
    let mut kept = Buckets::of(distance, std::iter::empty());
    let mut free = |centre: DVec3| {
        let free = !kept.any(centre, distance);
        if free {
            kept.insert(centre);
        }
        free
    };
    spheres.into_iter().filter(|s| free(s.0)).collect()
}

/// Distance of each point from the nearest sphere [m], negative within one; infinite if that is more than a radius away.
pub fn gaps(points: &[DVec3], spheres: &[(DVec3, f64)], radius: f64) -> Vec<f64> {
    let centres = Buckets::of(radius, spheres.iter().map(|s| s.0));
    let gap = |p: &DVec3| {
        let mut least = f64::INFINITY;
        centres.visit(*p, 2.0 * radius, |k, c| least = least.min(c.distance(*p) - spheres[k].1));
        if least <= radius { least } else { f64::INFINITY }
    };
    points.par_iter().map(gap).collect()
}

/// Greatest of the gaps [m], 0 if there is none; where no sphere is near, the greatest at some thousand points.
pub fn greatest_gap(gaps: &[f64], points: &[DVec3], spheres: &[(DVec3, f64)]) -> f64 {
    let far: Vec<DVec3> = gaps.iter().zip(points).filter(|(g, _)| g.is_infinite()).map(|(_, p)| *p).collect();
    let apart = |p: &DVec3| spheres.iter().map(|s| s.0.distance(*p) - s.1).fold(f64::INFINITY, f64::min);
    let near = gaps.iter().copied().filter(|g| g.is_finite()).fold(0.0, f64::max);
    let some = far.par_iter().step_by(far.len() / FAR_POINTS + 1).map(apart);
    near.max(some.reduce(|| 0.0, f64::max))
}

/// What is needed to place spheres.
pub struct Balls<'a> {
    pub surface: &'a Surface,
    pub settings: &'a Settings,
    pub probes: &'a Probes,
}

impl Balls<'_> {
    /// Whether spheres may not shrink.
    fn whole(&self) -> bool {
        self.settings.least >= 1.0
    }

    /// The sphere that touches the surface at `foot` from inside, or almost; None if it would be smaller than the least.
    fn touching(&self, foot: DVec3, normal: DVec3) -> Option<(DVec3, f64)> {
        let least = self.settings.least.min(1.0 - FITS) * self.settings.radius;
        // Where spheres may not shrink they are moved, into corners of up to three right angles (√3 radii from the tip).
        let forgiven = if self.whole() { 0.75 * self.settings.radius } else { FORGIVEN * self.settings.slack() };
        let mut guess = None;
        let mut r = self.settings.radius;
        for _ in 0..SHRINK {
            let mut centre = foot - r * normal;
            let mut touched = None;
            for _ in 0..SINK {
                let near = self.surface.tree().nearest_from(centre, f64::INFINITY, &mut guess)?;
                let depth = -self.surface.signed(centre, &near);
                if depth >= (1.0 - FITS) * r {
                    return (depth >= least).then_some((centre, depth.min(r)));
                }
                touched.get_or_insert(near.point);
                centre += (r - depth) * (centre - near.point).normalize_or_zero() * depth.signum();
                if centre.distance(foot) > r + forgiven {
                    break;
                }
            }
            let along = foot - touched?;
            let fits = along.length_squared() / (2.0 * normal.dot(along));
            // Where the centre is outside, as in a body thinner than r, the point touched may lie anywhere.
            r = if fits.is_finite() && fits > 0.0 { fits.min(0.99 * r) } else { 0.5 * r };
            if r < least {
                break;
            }
        }
        None
    }

    /// Spheres for evenly spread particles, gaps filled and excess removed; and the share of the surface out of reach.
    pub fn place(&self, particles: &[Particle]) -> (Vec<(DVec3, f64)>, f64) {
        let mut spheres: Vec<(DVec3, f64)> =
            particles.par_iter().filter_map(|p| self.touching(p.position, p.normal)).collect();
        if self.whole() {
            // Evenly spread particles leave no gap but along edges, where no sphere would help.
            let spheres = apart(spheres, CROWDED * self.settings.spacing());
            let gaps = gaps(&self.probes.points, &spheres, self.settings.radius);
            let out = gaps.iter().filter(|gap| **gap > self.settings.slack()).count();
            return (spheres, out as f64 / gaps.len().max(1) as f64);
        }
        let unreachable = self.fill(&mut spheres);
        let spheres = self.thin(spheres);
        (spheres, unreachable as f64 / self.probes.points.len() as f64)
    }

    /// Adds spheres until every probe is covered that one can cover; returns the number of those that none can.
    fn fill(&self, spheres: &mut Vec<(DVec3, f64)>) -> usize {
        let Settings { radius, .. } = *self.settings;
        let slack = self.settings.slack();
        let points = &self.probes.points;
        let mut covered: Vec<bool> =
            gaps(points, spheres, radius).into_iter().map(|gap| gap <= FILLED * slack).collect();
        // A sphere that covers a probe of a flat surface touches it no farther than √((R + slack)² − R²) from there; spheres
        // are made for probes that may be asked for.
        let reach = 1.2 * (2.0 * slack * radius + slack * slack).sqrt();
        let grid = Buckets::of(0.5 * radius, points.iter().copied());
        let near: Vec<bool> = points
            .par_iter()
            .map(|&p| {
                let mut any = false;
                grid.visit(p, reach, |k, _| any |= !covered[k]);
                any
            })
            .collect();
        let balls: Vec<Option<(DVec3, f64)>> = (0..points.len())
            .into_par_iter()
            .map(|k| if near[k] { self.touching(points[k], self.probes.normals[k]) } else { None })
            .collect();
        let mut unreachable = 0;
        for k in 0..points.len() {
            if covered[k] {
                continue;
            }
            // The largest of those that cover it well covers most beside it; if there is none, the one that does best.
            let mut best = (f64::INFINITY, 0.0, DVec3::ZERO);
            grid.visit(points[k], reach, |j, _| {
                let Some((centre, r)) = balls[j] else { return };
                let gap = (centre.distance(points[k]) - r).max(FILLED * slack);
                if (gap, -r) < (best.0, -best.1) {
                    best = (gap, r, centre);
                }
            });
            let (gap, r, centre) = best;
            if gap > slack {
                unreachable += 1;
                continue;
            }
            spheres.push((centre, r));
            grid.visit(centre, r + gap, |j, _| covered[j] = true);
        }
        unreachable
    }

    /// Removes spheres that are too close to another and cover nothing that others do not cover well; small ones first.
    fn thin(&self, spheres: Vec<(DVec3, f64)>) -> Vec<(DVec3, f64)> {
        let slack = self.settings.slack();
        let too_close = TOO_CLOSE * self.settings.spacing();
        let probes = Buckets::of(0.5 * self.settings.radius, self.probes.points.iter().copied());
        let centres = Buckets::of(too_close, spheres.iter().map(|s| s.0));
        // Probes a sphere covers, and whether it covers them well.
        let covers: Vec<Vec<(u32, bool)>> = spheres
            .par_iter()
            .map(|&(c, r)| {
                let mut list = Vec::new();
                probes.visit(c, r + slack, |k, p| list.push((k as u32, p.distance(c) <= r + FILLED * slack)));
                list
            })
            .collect();
        let mut times = vec![0u32; self.probes.points.len()];
        covers.iter().flatten().for_each(|&(k, well)| times[k as usize] += u32::from(well));
        let mut order: Vec<usize> = (0..spheres.len()).collect();
        order.sort_by(|&a, &b| spheres[a].1.total_cmp(&spheres[b].1).then(a.cmp(&b)));
        let mut kept = vec![true; spheres.len()];
        for k in order {
            let mut crowded = false;
            centres.visit(spheres[k].0, too_close, |j, _| crowded |= j != k && kept[j]);
            if crowded && covers[k].iter().all(|&(p, well)| times[p as usize] > u32::from(well)) {
                kept[k] = false;
                covers[k].iter().for_each(|&(p, well)| times[p as usize] -= u32::from(well));
            }
        }
        spheres.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(s, _)| s).collect()
    }
}
