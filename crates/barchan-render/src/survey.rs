//! A look at a run before it is drawn: where things are, and how large the numbers are that colours stand for.

use crate::camera::framing;
use crate::colour::{ColourBy, ColourError, robust_range};
use crate::skins::reach;
use crate::walls::{Pose, Stage, pose, surfaces};
use barchan_core::frame::{Frame, GRAINS, POWDER, Population};
use barchan_core::mesh::Mesh;
use barchan_core::walls::{Geometry, Wall};
use glam::DVec3;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// Directions in which the outermost grain is kept. Between two of them the hull is short by 1 − cos of half their angle:
/// about half a per cent of its size.
const DIRECTIONS: usize = 400;
/// Values kept of one frame, for percentiles.
const SAMPLES: usize = 4096;
/// Shares of the grains' volume that may lie beyond the box that holds the bulk of them.
const TAILS: f64 = 0.01;
/// How far beyond the bulk a grain still belongs to it, in extents of the bulk. What is farther out is a stray: one
/// grain that has bounced away does not make everything else small.
const REACH: f64 = 0.3;
/// A wall that is larger than the grains' own extent by more than this does not set the frame.
const LARGEST_WALL: f64 = 4.0;

/// What has been seen of a run so far.
#[derive(Clone, Debug)]
pub struct Survey {
    walls: Vec<Wall>,
    poses: Vec<Vec<Pose>>,
    by: ColourBy,
    samples: Vec<f32>,
    legend: Option<(String, String)>,
    outermost: Vec<(DVec3, f64)>,
    followed: Option<u32>,
    track: Vec<(f64, DVec3)>,
    front: Vec<(f64, DVec3)>,
    grain: Option<f64>,
    ground: Option<[DVec3; 2]>,
    ground_size: Option<[usize; 2]>,
}

/// Evenly spread directions: a spherical Fibonacci lattice (González 2010, Math. Geosci. 42, 49).
fn direction(k: usize) -> DVec3 {
    let z = 1.0 - (2 * k + 1) as f64 / DIRECTIONS as f64;
    let (sin, cos) = (k as f64 * 2.399_963_229_728_653).sin_cos();
    let rho = (1.0 - z * z).sqrt();
    DVec3::new(rho * cos, rho * sin, z)
}

impl Survey {
    /// An empty survey. `followed` is the grain whose way is recorded; left out: the centre of mass.
    pub fn new(walls: Vec<Wall>, by: ColourBy, followed: Option<u32>) -> Survey {
        let poses = vec![Vec::new(); walls.len()];
        Survey {
            walls,
            poses,
            by,
            samples: vec![],
            legend: None,
            outermost: vec![],
            followed,
            track: vec![],
            front: vec![],
            grain: None,
            ground: None,
            ground_size: None,
        }
    }

    /// Looks at a frame; frames come in order of time.
    pub fn see(&mut self, frame: &Frame) -> Result<(), ColourError> {
        self.by.check(frame)?;
        let of_populations = frame.populations.iter().filter_map(|p| self.by.values(p));
        for values in of_populations.chain(frame.surfaces.iter().filter_map(|s| self.by.of_extras(&s.extras))) {
            let stride = (values.values.len() / SAMPLES).max(1);
            self.samples.extend(values.values.iter().step_by(stride).filter(|v| v.is_finite()));
            self.legend.get_or_insert_with(|| (values.label.into_owned(), values.unit.to_owned()));
        }
        for (w, poses) in self.poses.iter_mut().enumerate() {
            let pose = pose(frame, w);
            if poses.last() != Some(&pose) {
                poses.push(pose);
            }
        }
        let centre = match self.followed {
            Some(id) => find(frame, id),
            None => {
                let all: f64 = rows(frame).map(|(p, g)| volume(p, g)).sum();
                (all > 0.0).then(|| rows(frame).map(|(p, g)| p.position[g] * volume(p, g)).sum::<DVec3>() / all)
            }
        };
        self.track.extend(centre.filter(|c| c.is_finite()).map(|c| (frame.time, c)));
        self.front.extend(front(frame).map(|front| (frame.time, front)));
        let there = rows(frame).filter(|(p, g)| p.position[*g].is_finite());
        let (mut solids, of_spheres): (Vec<Row<'_>>, Vec<Row<'_>>) = there.partition(|(p, g)| p.skin(*g).is_some());
        let spheres = of_spheres.iter().flat_map(|(p, g)| p.spheres_of(*g)).map(|s| (s.centre, s.radius));
        let spheres: Vec<(DVec3, f64)> = spheres.filter(|s| s.0.is_finite()).collect();
        // For the bulk, a solid is the ball of its volume.
        let ball = |(p, g): &Row<'_>| (p.position[*g], (0.75 / PI * volume(p, *g)).cbrt());
        let bulk = bulk(&spheres.iter().copied().chain(solids.iter().map(ball)).collect::<Vec<_>>());
        let stays = |at: DVec3| bulk.is_none_or(|b| at.cmpge(b[0]).all() && at.cmple(b[1]).all());
        let mut kept: Vec<(DVec3, f64)> =
            spheres.iter().filter(|s| stays(s.0)).chain(&self.outermost).copied().collect();
        let vertices = frame.surfaces.iter().flat_map(|s| s.vertices.iter());
        kept.extend(vertices.filter(|v| v.is_finite()).map(|v| (*v, 0.0)));
        solids.retain(|(p, g)| stays(p.position[*g]));
        let reaches = reaches(&solids);
        let farthest = |k: usize| {
            let u = direction(k);
            let along = |s: &(DVec3, f64)| u.dot(s.0) + s.1;
            let centre = |(p, g): &Row<'_>| u.dot(p.position[*g]);
            // A body reaches at least as far as its centre of mass: those that do not reach that of another are passed over.
            let least = solids.iter().map(centre).fold(f64::NEG_INFINITY, f64::max);
            let far = solids.iter().zip(&reaches).filter(|(row, reach)| centre(row) + **reach >= least);
            let tips = far.filter_map(|((p, g), _)| tip(p, *g, u)).map(|v| (v, 0.0));
            kept.iter().copied().chain(tips).max_by(|a, b| along(a).total_cmp(&along(b)))
        };
        self.outermost = (0..DIRECTIONS).into_par_iter().filter_map(farthest).collect();
        self.outermost.sort_by(|a, b| a.0.to_array().partial_cmp(&b.0.to_array()).unwrap_or(std::cmp::Ordering::Equal));
        self.outermost.dedup();
        self.grain = self.grain.or_else(|| {
            let radii: Vec<f64> = of_spheres.iter().map(|(p, g)| p.radius[*g]).filter(|r| *r > 0.0).collect();
            (!radii.is_empty()).then(|| radii.iter().sum::<f64>() / radii.len() as f64)
        });
        if let Some(relief) = &frame.ground {
            self.ground_size = Some(relief.size);
            let heights = relief.height.iter().filter(|h| h.is_finite());
            let (low, high) = heights.fold((0.0, 0.0), |(low, high): (f64, f64), h| (low.min(*h), high.max(*h)));
            let ends = [relief.origin.truncate().extend(low), relief.end().extend(high)];
            let ends = ends.map(|p| p + DVec3::Z * relief.origin.z);
            self.ground = Some(self.ground.map_or(ends, |[a, b]| [a.min(ends[0]), b.max(ends[1])]));
        }
        Ok(())
    }

    /// Mean radius of the grains in the first frame that had any [m].
    pub fn grain(&self) -> Option<f64> {
        self.grain
    }

    /// Spheres (centre, radius [m]) that must be in the picture: the outermost grains, and walls as points. A ground is shown as far as
    /// grains are on it; whole, where there are none.
    pub fn hull(&self) -> Vec<(DVec3, f64)> {
        let mut hull = self.outermost.clone();
        if let (true, Some([low, high])) = (hull.is_empty(), self.ground) {
            let corner =
                |k: usize| DVec3::from_array(std::array::from_fn(|i| if k >> i & 1 == 1 { high[i] } else { low[i] }));
            hull.extend((0..8).map(|k| (corner(k), 0.0)));
        }
        let Some(grains) = framing::bounds(&hull) else { return hull };
        let extent = (grains[1] - grains[0]).length();
        for (wall, poses) in self.walls.iter().zip(&self.poses) {
            if matches!(wall.geometry, Geometry::Plane { .. }) {
                continue;
            }
            for pose in poses {
                let pieces = surfaces(&wall.geometry, *pose, grains);
                let points: Vec<_> = pieces.iter().flat_map(|s| &s.vertices).map(|v| (*v, 0.0)).collect();
                let size = framing::bounds(&points).map_or(0.0, |b| (b[1] - b[0]).length());
                if size <= LARGEST_WALL * extent {
                    hull.extend(points);
                }
            }
        }
        hull
    }

    /// The stage: all that is shown, and the box to which endless walls are cut, which does not leave the `domain` [m].
    pub fn stage(&self, domain: Option<[DVec3; 2]>) -> Stage {
        let bounds = framing::bounds(&self.hull()).or(domain).unwrap_or([-DVec3::ONE, DVec3::ONE]);
        let room = DVec3::splat(0.2 * (bounds[1] - bounds[0]).max_element());
        let wide = [bounds[0] - room, bounds[1] + room];
        let cut = domain.map_or(wide, |d| [wide[0].max(d[0]), wide[1].min(d[1])]);
        // A domain that has nothing to do with the grains cuts nothing.
        Stage { bounds, cut: if cut[0].cmplt(cut[1]).all() { cut } else { wide } }
    }

    /// Numbers at the ends of the colour map, the same for the whole run; see [`robust_range`].
    pub fn range(&self) -> [f32; 2] {
        robust_range(&mut self.samples.clone(), &self.by)
    }

    /// Name and unit of the numbers; none where colours are names.
    pub fn legend(&self) -> Option<(&str, &str)> {
        self.legend.as_ref().map(|(label, unit)| (label.as_str(), unit.as_str()))
    }

    /// Cells of the ground along x and y.
    pub fn ground_size(&self) -> Option<[usize; 2]> {
        self.ground_size
    }

    /// Times [s] and places [m] of the front of what flows down.
    pub fn front(&self) -> &[(f64, DVec3)] {
        &self.front
    }

    /// The way that the front takes, seen from above: a unit vector; towards −y where it takes none.
    pub fn downhill(&self) -> DVec3 {
        let way = match (self.front.first(), self.front.last()) {
            (Some(a), Some(b)) => (b.1 - a.1).with_z(0.0),
            _ => DVec3::ZERO,
        };
        way.try_normalize().unwrap_or(DVec3::NEG_Y)
    }

    /// Times [s] and places [m] of the followed grain or of the centre of mass.
    pub fn track(&self) -> &[(f64, DVec3)] {
        &self.track
    }
}

/// Speed above which a grain is part of a flow [m/s], and share of the flow that is its front.
const FLOWS: f64 = 0.5;
const FRONT: f64 = 0.03;

/// Where the front of what flows down is [m]: the mean of its lowest part; of all grains, if none moves.
fn front(frame: &Frame) -> Option<DVec3> {
    let all = || rows(frame).filter(|(p, g)| p.name == GRAINS && p.position[*g].is_finite());
    let mut places: Vec<DVec3> =
        all().filter(|(p, g)| p.velocity[*g].length() > FLOWS).map(|(p, g)| p.position[g]).collect();
    if places.len() < 10 {
        places = all().map(|(p, g)| p.position[g]).collect();
    }
    let many = ((places.len() as f64 * FRONT).ceil() as usize).max(1).min(places.len());
    places.sort_by(|a, b| a.z.total_cmp(&b.z).then(a.x.total_cmp(&b.x)).then(a.y.total_cmp(&b.y)));
    (many > 0).then(|| places[..many].iter().sum::<DVec3>() / many as f64)
}

/// A grain: its population, and its row there.
type Row<'f> = (&'f Population, usize);

/// All grains of all populations.
fn rows(frame: &Frame) -> impl Iterator<Item = Row<'_>> {
    // A cloud is thin air: it frames nothing.
    frame.populations.iter().filter(|p| p.name != POWDER).flat_map(|p| (0..p.len()).map(move |g| (p, g)))
}

/// Where the grain with this id is [m]: among the grains if it is there, else in the first population that has it.
fn find(frame: &Frame, id: u32) -> Option<DVec3> {
    let within = |p: &Population| p.id.iter().position(|i| *i == id).map(|g| p.position[g]);
    within(frame.grains()).or_else(|| frame.populations.iter().find_map(within))
}

/// Volume of a grain [m³].
fn volume(population: &Population, grain: usize) -> f64 {
    population.shape_of(grain).volume() * population.radius[grain].powi(3)
}

/// How far solids reach from their centres of mass [m]. Many grains share a mesh, which is gone through once.
fn reaches<'a>(solids: &[Row<'a>]) -> Vec<f64> {
    let mut known: Vec<(&'a Arc<Mesh>, f64)> = Vec::new();
    let of = |(p, g): &Row<'a>| {
        let Some(mesh) = p.skin(*g) else { return 0.0 };
        let found = known.iter().find(|k| Arc::ptr_eq(k.0, mesh)).map(|k| k.1);
        let reach = found.unwrap_or_else(|| reach(mesh));
        if found.is_none() {
            known.push((mesh, reach));
        }
        p.radius[*g] * reach
    };
    solids.iter().map(of).collect()
}

/// The vertex of a solid that is farthest in a direction [m].
fn tip(population: &Population, grain: usize, direction: DVec3) -> Option<DVec3> {
    let turn = population.turn(grain);
    let own = turn.inverse() * direction;
    let along = |v: &&DVec3| own.dot(**v);
    let tip = population.skin(grain)?.vertices.iter().max_by(|a, b| along(a).total_cmp(&along(b)))?;
    Some(population.position[grain] + turn * (*tip * population.radius[grain]))
}

/// The box within which grains belong together; none where all of so few grains matter.
fn bulk(spheres: &[(DVec3, f64)]) -> Option<[DVec3; 2]> {
    if spheres.len() < 50 {
        return None;
    }
    let whole: f64 = spheres.iter().map(|s| s.1.powi(3)).sum();
    let largest = spheres.iter().map(|s| s.1).fold(0.0, f64::max);
    let (mut low, mut high) = (DVec3::ZERO, DVec3::ZERO);
    for a in 0..3 {
        let mut along: Vec<(f64, f64)> = spheres.iter().map(|(c, r)| (c[a], r.powi(3))).collect();
        along.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let quantile = |mut order: Box<dyn Iterator<Item = &(f64, f64)> + '_>| {
            let mut passed = 0.0;
            let beyond = order.find(|(_, volume)| {
                passed += volume;
                passed > TAILS * whole
            });
            beyond.map_or(0.0, |b| b.0)
        };
        (low[a], high[a]) = (quantile(Box::new(along.iter())), quantile(Box::new(along.iter().rev())));
    }
    let room = (high - low) * REACH + 4.0 * largest;
    Some([low - room, high + room])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Stand, framing::Aim};
    use barchan_core::rng::Random;
    use barchan_core::shapes::Shape;
    use barchan_core::walls::Side;
    use proptest::prelude::*;

    fn grains(time: f64, grains: &[(DVec3, f64)]) -> Population {
        let n = grains.len();
        Population {
            name: barchan_core::frame::GRAINS.into(),
            position: grains.iter().map(|g| g.0).collect(),
            velocity: vec![DVec3::X * time; n].into(),
            spin: vec![DVec3::ZERO; n].into(),
            radius: grains.iter().map(|g| g.1).collect(),
            id: (0..n as u32).collect(),
            material: vec![0; n].into(),
            ..Population::default()
        }
    }

    fn frame(time: f64, grains: &[(DVec3, f64)]) -> Frame {
        Frame { time, ..Frame::of(self::grains(time, grains)) }
    }

    fn heap(seed: u64, n: usize, extent: DVec3, shift: DVec3) -> Vec<(DVec3, f64)> {
        let mut random = Random::new(seed, 0);
        let mut unit = || random.uniform();
        (0..n).map(|_| (DVec3::new(unit(), unit(), unit()) * extent + shift, 0.01 * (1.0 + unit()))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_camera_from_a_survey_shows_every_grain_of_the_run(
            seed in 0..u64::MAX, n in 1..1500usize, x in 0.05..3.0f64, y in 0.05..3.0f64, z in 0.05..3.0f64,
            far in -50.0..50.0f64, azimuth in -3.0..3.0f64, elevation in 0.0..1.0f64,
        ) {
            let first = heap(seed, n, DVec3::new(x, y, z), DVec3::splat(far));
            let second = heap(seed ^ 1, n, DVec3::new(y, x, z), DVec3::splat(far));
            let mut survey = Survey::new(vec![], ColourBy::Speed, None);
            survey.see(&frame(0.0, &first)).unwrap();
            survey.see(&frame(1.0, &second)).unwrap();
            let size = [1600, 900];
            let stand = framing::frame(&survey.hull(), Aim { azimuth, elevation }.to_eye(), DVec3::Z, Stand::FIELD, size);
            let [right, above, forward] = stand.axes();
            let tangent = (0.5 * Stand::FIELD).tan();
            let mut least = f64::INFINITY;
            for (c, r) in first.iter().chain(&second) {
                let arm = *c - stand.eye;
                for (side, tangent) in [(right, tangent * 16.0 / 9.0), (above, tangent)] {
                    // Free room beside the sphere, over its depth: inside the plane through the eye and the picture's edge.
                    let depth = arm.dot(forward);
                    let room = (depth * tangent - arm.dot(side).abs()) / tangent.hypot(1.0) - r;
                    prop_assert!(room > 0.0, "{c} is cropped");
                    least = least.min(room / (depth * tangent));
                }
            }
            prop_assert!(least < 0.09, "room to spare: {least}");
        }
    }

    #[test]
    fn the_front_is_the_lowest_part_of_what_moves() {
        let mut survey = Survey::new(vec![], ColourBy::Speed, None);
        for k in 0..5 {
            let at = f64::from(k);
            let flow =
                (0..100).map(|g| (DVec3::new(10.0 * at + 0.1 * f64::from(g), 3.0, -0.1 * f64::from(g) - at), 0.1));
            survey.see(&frame(at, &flow.collect::<Vec<_>>())).unwrap();
        }
        assert_eq!(survey.front().len(), 5);
        // Rows 97 to 99 of the last frame.
        assert!((survey.front()[4].1 - DVec3::new(49.8, 3.0, -13.8)).length() < 1e-9, "{:?}", survey.front()[4]);
        assert!((survey.downhill() - DVec3::X).length() < 1e-9);
    }

    #[test]
    fn a_stray_is_left_out_but_a_large_ball_is_not() {
        let mut grains = heap(3, 3000, DVec3::ONE, DVec3::ZERO);
        grains.push((DVec3::new(0.0, 0.0, 80.0), 0.01));
        let mut survey = Survey::new(vec![], ColourBy::Material, None);
        survey.see(&frame(0.0, &grains)).unwrap();
        assert!(framing::bounds(&survey.hull()).unwrap()[1].z < 1.1, "one small grain far away");
        grains.push((DVec3::new(0.0, 0.0, 5.0), 0.3));
        survey.see(&frame(1.0, &grains)).unwrap();
        let top = framing::bounds(&survey.hull()).unwrap()[1].z;
        assert!((5.2..6.0).contains(&top), "a ball with a share of the volume: {top}");
    }

    #[test]
    fn a_solid_is_as_large_as_its_skin() {
        let mesh = Mesh::box_of(DVec3::new(2.0, 4.0, 6.0));
        // Small spheres deep inside: what is drawn is what counts.
        let (solid, _) = Shape::solid("box", &[(DVec3::ZERO, 0.1)], &mesh.mass_properties().unwrap(), &mesh).unwrap();
        for n in [1, 60] {
            let grains: Vec<_> = (0..n).map(|i| (DVec3::X * 9.0 * f64::from(i), 0.2)).collect();
            let seen = Population {
                shapes: [solid.clone()].into(),
                orientation: vec![glam::DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2); grains.len()].into(),
                ..self::grains(0.0, &grains)
            };
            let mut survey = Survey::new(vec![], ColourBy::Material, None);
            survey.see(&Frame::of(seen)).unwrap();
            let [low, high] = framing::bounds(&survey.hull()).unwrap();
            let last = 9.0 * f64::from(n - 1);
            assert!((low - DVec3::new(-4.0, -2.0, -6.0)).length() < 1e-9, "{low}");
            assert!((high - DVec3::new(last + 4.0, 2.0, 6.0)).length() < 1e-9, "{high}");
        }
        // A share of the volume decides who belongs to the bulk, not the spheres inside.
        let mut grains = heap(3, 3000, DVec3::ONE, DVec3::ZERO);
        grains.push((DVec3::new(0.0, 0.0, 8.0), 0.01));
        let shapes = [Shape::sphere(), solid].into();
        let shape = (0..grains.len()).map(|g| u16::from(g == 3000)).collect();
        let seen = Population { shapes, shape, ..self::grains(0.0, &grains) };
        let mut survey = Survey::new(vec![], ColourBy::Material, None);
        survey.see(&Frame::of(seen)).unwrap();
        let top = framing::bounds(&survey.hull()).unwrap()[1].z;
        assert!((8.1..8.7).contains(&top), "{top}");
        assert!(survey.track()[0].1.z > 1.0, "the centre of mass is that of the volumes");
    }

    #[test]
    fn all_populations_and_surfaces_are_in_the_picture() {
        let mut seen = frame(0.0, &heap(3, 500, DVec3::ONE, DVec3::ZERO));
        let sand = Population { name: "sand".into(), ..grains(4.0, &heap(4, 500, DVec3::ONE, DVec3::X)) };
        seen.populations.insert(0, sand);
        seen.surfaces.push(barchan_core::frame::Surface {
            name: "skin".into(),
            vertices: vec![DVec3::Z * 7.0, DVec3::X, DVec3::Y].into(),
            triangles: vec![[0, 1, 2]].into(),
            material: 0,
            extras: vec![],
        });
        let mut survey = Survey::new(vec![], ColourBy::Speed, Some(2));
        survey.see(&seen).unwrap();
        let [low, high] = framing::bounds(&survey.hull()).unwrap();
        assert!(low.length() < 0.1 && (high - DVec3::new(2.0, 1.0, 7.0)).abs().max_element() < 0.05, "{low} {high}");
        assert_eq!(survey.range(), [0.0, 4.0], "of both");
        assert_eq!(survey.track()[0].1, seen.grains().position[2], "ids are those of grains where there are grains");
    }

    #[test]
    fn vessels_are_shown_whole_and_endless_walls_are_not() {
        let side = Side::Inside;
        let vessel = Geometry::Cylinder { base: -DVec3::Z, axis: DVec3::Z, radius: 1.5, height: Some(4.0), side };
        let wide = Geometry::Cylinder { base: -DVec3::Z, axis: DVec3::Z, radius: 90.0, height: Some(4.0), side };
        let sheet = Geometry::Plane { point: DVec3::Z * 9.0, normal: -DVec3::Z };
        let walls = [vessel, wide, sheet].map(|g| Wall::new("w", g, 0));
        let mut survey = Survey::new(walls.to_vec(), ColourBy::Material, None);
        survey.see(&frame(0.0, &heap(5, 500, DVec3::ONE, DVec3::ZERO))).unwrap();
        let stage = survey.stage(Some([DVec3::splat(-1.2), DVec3::splat(9.0)]));
        assert!((stage.bounds[1] - DVec3::new(1.5, 1.5, 3.0)).length() < 1e-9, "{stage:?}");
        assert!(stage.cut[0].cmpge(DVec3::splat(-1.2)).all() && stage.cut[1].z > 3.0);
    }

    #[test]
    fn the_range_is_that_of_the_whole_run() {
        let mut survey = Survey::new(vec![], ColourBy::Speed, Some(2));
        for t in 0..=10 {
            survey.see(&frame(f64::from(t), &heap(1, 100, DVec3::ONE, DVec3::ZERO))).unwrap();
        }
        assert_eq!(survey.range(), [0.0, 10.0]);
        assert_eq!(survey.legend(), Some(("speed", "m/s")));
        assert_eq!(survey.track().len(), 11);
    }
}
