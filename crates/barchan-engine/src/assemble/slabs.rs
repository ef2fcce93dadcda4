//! Slabs: plates on the ground that are cut beforehand into rigid pieces, bonded over their common faces [Güçer 2010, §3.3.3, whose plate had 232].
//!
//! Pieces are the cells of Voronoi's diagram of points that a few rounds of Lloyd's method have spread evenly, each an upright prism on the
//! tangent plane under its middle. Spheres as thick as the plate line a piece along its rim and within; its mass is that of the prism.

use super::bonds;
use barchan_core::contact::TimeStep;
use barchan_core::contact::bond::Beam;
use barchan_core::mesh::Mesh;
use barchan_core::relief::Relief;
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::NewMatter;
use barchan_dem::{Dem, NewBond, To};
use barchan_scene::{Parsed, Problem, Scene, Slab};
use glam::{DMat3, DQuat, DVec2, DVec3};

/// Rounds of Lloyd's method.
const ROUNDS: usize = 4;
/// Radius of the lining over half the thickness: pieces that have sunk a little towards each other do not press.
const LINING: f64 = 0.97;
/// Purpose of the random numbers of pieces.
const PIECES: u64 = 1 << 41;

/// One piece of a slab.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Its shape, in units of the radius of its spheres.
    pub shape: Shape,
    /// Radius of its largest sphere [m].
    pub radius: f64,
    /// Its centre of mass [m].
    pub place: DVec3,
    /// From the frame of the shape to the world.
    pub turn: DQuat,
    /// Corners from above [m].
    outline: Vec<DVec2>,
}

/// The pieces of all slabs of a scene, slab by slab; where something is wrong with its ground, that has been reported.
pub(super) fn pieces(parsed: &Parsed) -> Result<Vec<Vec<Piece>>, Problem> {
    let scene = &parsed.scene;
    if scene.slabs.is_empty() {
        return Ok(Vec::new());
    }
    let Some(relief) = crate::standing::relief(scene, parsed.assets.heights.as_ref()) else {
        return Ok(vec![Vec::new(); scene.slabs.len()]);
    };
    let cut = |(k, slab): (usize, &Slab)| {
        cut(slab, scene.seed, k as u64, &relief).map_err(|what| {
            parsed.error_at(&format!("slabs[{k}]"), what, "use fewer pieces, or a thinner or a larger plate")
        })
    };
    scene.slabs.iter().enumerate().map(cut).collect()
}

/// Cuts a slab that lies on a relief.
fn cut(slab: &Slab, seed: u64, number: u64, relief: &Relief) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    for outline in voronoi(slab.min, slab.max, slab.pieces as usize, Random::new(seed, PIECES + number)) {
        let middle = outline.iter().sum::<DVec2>() / outline.len() as f64;
        let over = relief.over(middle.x, middle.y).ok_or("it reaches beyond the ground")?;
        let normal = over.normal();
        // Corners on the tangent plane, raised until none is below the ground.
        let plane = |p: &DVec2| p.extend(over.z + over.slope.dot(*p - middle));
        let deep = outline.iter().filter_map(|p| Some(relief.over(p.x, p.y)?.z - plane(p).z)).fold(0.0, f64::max);
        let base: Vec<DVec3> = outline.iter().map(|p| plane(p) + DVec3::Z * deep + normal * slab.above).collect();
        pieces.push(piece(&format!("{} {}", slab.name, pieces.len() + 1), &base, normal, slab.thickness, outline)?);
    }
    Ok(pieces)
}

/// A prism over corners in a plane.
fn piece(name: &str, base: &[DVec3], normal: DVec3, thickness: f64, outline: Vec<DVec2>) -> Result<Piece, String> {
    let n = base.len() as u32;
    let origin = base.iter().sum::<DVec3>() / f64::from(n);
    let across = (base[1] - base[0]).normalize();
    let frame = DMat3::from_cols(across, normal.cross(across), normal);
    let local: Vec<DVec2> = base.iter().map(|p| (frame.transpose() * (*p - origin)).truncate()).collect();
    let ring = |z: f64| local.iter().map(move |p| p.extend(z)).collect::<Vec<DVec3>>();
    let mut mesh = Mesh { vertices: [ring(0.0), ring(thickness)].concat(), triangles: Vec::new() };
    for k in 1..n - 1 {
        mesh.triangles.extend([[0, k + 1, k], [n, n + k, n + k + 1]]);
    }
    for a in 0..n {
        let b = (a + 1) % n;
        mesh.triangles.extend([[a, b, n + b], [a, n + b, n + a]]);
    }
    mesh.orient();
    let mass = mesh.mass_properties().ok_or("one of its pieces has no volume")?;
    let radius = 0.5 * thickness * LINING;
    let spheres: Vec<(DVec3, f64)> =
        lining(&local, 0.5 * thickness, radius).into_iter().map(|p| (p.extend(0.5 * thickness), radius)).collect();
    let (shape, unit) = Shape::solid(name, &spheres, &mass, &mesh).map_err(|e| e.to_string())?;
    let turn = (DQuat::from_mat3(&frame) * shape.to_principal().inverse()).normalize();
    Ok(Piece { radius: unit, place: origin + frame * mass.centroid, turn, outline, shape })
}

/// Centres of spheres in a convex outline (counter-clockwise), `inset` from its sides, at most their diameter apart; in the middle, if it is too narrow.
fn lining(outline: &[DVec2], inset: f64, radius: f64) -> Vec<DVec2> {
    let inner = outline.iter().enumerate().fold(outline.to_vec(), |polygon, (k, a)| {
        let b = outline[(k + 1) % outline.len()];
        let inward = (b - *a).perp().normalize_or_zero();
        clip(&polygon, *a + inward * inset, inward)
    });
    if inner.len() < 3 {
        return vec![outline.iter().sum::<DVec2>() / outline.len() as f64];
    }
    let mut all = Vec::new();
    for (k, a) in inner.iter().enumerate() {
        let b = inner[(k + 1) % inner.len()];
        let many = ((b - *a).length() / (1.8 * radius)).ceil().max(1.0);
        all.extend((0..many as usize).map(|i| a.lerp(b, i as f64 / many)));
    }
    // Inside, a grid of a diameter and a half.
    let pitch = 3.0 * radius;
    let low = inner.iter().copied().reduce(DVec2::min).unwrap_or_default();
    let high = inner.iter().copied().reduce(DVec2::max).unwrap_or_default();
    let [nx, ny] = ((high - low) / pitch).floor().to_array().map(|n| n as i64);
    for (i, j) in (1..=nx).flat_map(|i| (1..=ny).map(move |j| (i, j))) {
        let p = low + DVec2::new(i as f64, j as f64) * pitch;
        let inside = (0..inner.len()).all(|k| {
            let (a, b) = (inner[k], inner[(k + 1) % inner.len()]);
            (b - a).perp_dot(p - a) > radius * (b - a).length()
        });
        if inside {
            all.push(p);
        }
    }
    all
}

/// Part of a convex polygon on the side of a line to which a normal points.
fn clip(polygon: &[DVec2], point: DVec2, normal: DVec2) -> Vec<DVec2> {
    let mut kept = Vec::new();
    for (k, a) in polygon.iter().enumerate() {
        let b = polygon[(k + 1) % polygon.len()];
        let [u, v] = [*a, b].map(|p| normal.dot(p - point));
        if u >= 0.0 {
            kept.push(*a);
        }
        if (u >= 0.0) != (v >= 0.0) {
            kept.push(a.lerp(b, u / (u - v)));
        }
    }
    kept
}

/// Cells of points spread over a rectangle, counter-clockwise.
fn voronoi(low: DVec2, high: DVec2, count: usize, mut random: Random) -> Vec<Vec<DVec2>> {
    let mut points: Vec<DVec2> =
        (0..count).map(|_| low + DVec2::new(random.uniform(), random.uniform()) * (high - low)).collect();
    let cell = |points: &[DVec2], k: usize| {
        let whole = vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)];
        let mut order: Vec<usize> = (0..points.len()).filter(|j| *j != k).collect();
        order.sort_by(|a, b| {
            points[k].distance_squared(points[*a]).total_cmp(&points[k].distance_squared(points[*b])).then(a.cmp(b))
        });
        let mut polygon = whole;
        for j in order {
            let far = polygon.iter().map(|p| p.distance_squared(points[k])).fold(0.0, f64::max);
            if points[k].distance_squared(points[j]) > 4.0 * far {
                break;
            }
            let middle = 0.5 * (points[k] + points[j]);
            polygon = clip(&polygon, middle, (points[k] - points[j]).normalize_or_zero());
        }
        polygon
    };
    for _ in 0..ROUNDS {
        points = (0..count).map(|k| centroid(&cell(&points, k)).unwrap_or(points[k])).collect();
    }
    (0..count).map(|k| cell(&points, k)).filter(|p| p.len() >= 3 && area(p) > 0.0).map(merged).collect()
}

/// A polygon without corners that coincide.
fn merged(mut polygon: Vec<DVec2>) -> Vec<DVec2> {
    let least = 1e-6 * area(&polygon).sqrt();
    polygon.dedup_by(|a, b| a.distance(*b) < least);
    while polygon.len() > 3 && polygon[0].distance(polygon[polygon.len() - 1]) < least {
        polygon.pop();
    }
    polygon
}

fn area(polygon: &[DVec2]) -> f64 {
    0.5 * (0..polygon.len()).map(|k| polygon[k].perp_dot(polygon[(k + 1) % polygon.len()])).sum::<f64>()
}

fn centroid(polygon: &[DVec2]) -> Option<DVec2> {
    let whole = area(polygon);
    let of = |k: usize| {
        let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
        (a + b) * a.perp_dot(b)
    };
    (whole > 0.0).then(|| (0..polygon.len()).map(of).sum::<DVec2>() / (6.0 * whole))
}

/// The pieces as matter of a material, of shapes that begin at this index.
pub(super) fn matter(pieces: &[Piece], first_shape: usize, material: u16) -> Vec<NewMatter> {
    let of = |(k, piece): (usize, &Piece)| NewMatter {
        position: piece.place,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        orientation: piece.turn,
        radius: piece.radius,
        mass: None,
        material,
        shape: (first_shape + k) as u16,
    };
    pieces.iter().enumerate().map(of).collect()
}

/// Common sides of two pieces, and their length [m].
fn common(a: &Piece, b: &Piece) -> f64 {
    let sides = |p: &[DVec2]| (0..p.len()).map(|k| (p[k], p[(k + 1) % p.len()])).collect::<Vec<_>>();
    let slack = 1e-6 * area(&a.outline).sqrt();
    let mut length = 0.0;
    for (p, q) in sides(&a.outline) {
        for (r, s) in sides(&b.outline) {
            let along = (q - p).normalize_or_zero();
            let off = |x: DVec2| along.perp_dot(x - p).abs();
            if off(r) < slack && off(s) < slack {
                let [u, v] = [r, s].map(|x| along.dot(x - p).clamp(0.0, (q - p).length()));
                length += (u - v).abs();
            }
        }
    }
    length
}

/// Bonds the pieces of a slab, whose first has this id: over each common face a beam of its area.
pub(super) fn tie(slab: &Slab, pieces: &[Piece], first: u32, dem: &mut Dem) {
    let Some(spec) = &slab.bonds else { return };
    for (a, b, area) in faces(slab, pieces) {
        // A beam's radius is counted in those of the smaller of its two.
        let smaller = pieces[a].radius.min(pieces[b].radius);
        let radius = (area / std::f64::consts::PI).sqrt() / smaller;
        let law = bonds::law(&barchan_scene::Bonds { radius, ..spec.clone() }, spec.tensile, spec.shear);
        let bond = NewBond { grain: first + a as u32, to: To::Grain(first + b as u32), strength: 1.0 };
        dem.bond(law, &[bond]);
    }
}

/// The step that the bonds of slabs ask for, of a material of that density each [kg/m³]; none where there are no bonds.
pub(super) fn step(scene: &Scene, slabs: &[Vec<Piece>]) -> Option<TimeStep> {
    let of = |(slab, pieces): (&Slab, &Vec<Piece>)| {
        let spec = slab.bonds.as_ref()?;
        let density = scene.materials.get(&slab.material).map_or(f64::NAN, |m| m.density);
        let mut square = vec![0.0; pieces.len()];
        for (a, b, area) in faces(slab, pieces) {
            let (p, q) = (&pieces[a], &pieces[b]);
            let law = bonds::law(spec, spec.tensile, spec.shear);
            let beam = Beam::new(q.place - p.place, [p.turn, q.turn], (area / std::f64::consts::PI).sqrt());
            for (k, piece) in [(a, p), (b, q)] {
                let mass = density * piece.shape.volume() * piece.radius.powi(3);
                let inertia = density * piece.shape.inertia().min_element() * piece.radius.powi(5);
                square[k] += beam.frequency_squared(&law, mass, inertia);
            }
        }
        let stiffest = square.into_iter().fold(0.0, f64::max);
        let stable = 2.0 / stiffest.sqrt();
        let reason = format!("bonds of `{}`: {} times shorter than the longest stable step", slab.name, bonds::STEPS);
        let (dt, limit) = (stable / bonds::STEPS, stable / bonds::FEWEST_STEPS);
        (stiffest > 0.0).then_some(TimeStep { dt, limit, reason })
    };
    scene.slabs.iter().zip(slabs).filter_map(of).reduce(|a, b| if b.dt < a.dt { b } else { a })
}

/// Pairs of pieces with a common face, and its area [m²].
fn faces(slab: &Slab, pieces: &[Piece]) -> Vec<(usize, usize, f64)> {
    let mut all = Vec::new();
    let reach: Vec<f64> = pieces
        .iter()
        .map(|p| {
            let middle = p.place.truncate();
            p.outline.iter().map(|c| c.distance(middle)).fold(0.0, f64::max)
        })
        .collect();
    for a in 0..pieces.len() {
        for b in a + 1..pieces.len() {
            if pieces[a].place.truncate().distance(pieces[b].place.truncate()) > 1.1 * (reach[a] + reach[b]) {
                continue;
            }
            let length = common(&pieces[a], &pieces[b]);
            if length > 0.05 * slab.thickness {
                all.push((a, b, length * slab.thickness));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(pieces: u64) -> Slab {
        Slab {
            name: "slab".into(),
            material: String::new(),
            min: DVec2::new(2.0, 3.0),
            max: DVec2::new(22.0, 15.0),
            thickness: 0.5,
            pieces,
            above: 0.0,
            bonds: None,
        }
    }

    #[test]
    fn a_plate_is_cut_into_its_pieces_without_a_gap() {
        let height = (0..30 * 20).map(|k| 20.0 - 0.6 * (k % 30) as f64).collect();
        let relief = Relief { origin: DVec3::ZERO, cell: 1.0, size: [30, 20], height };
        let pieces = cut(&slab(232), 1, 0, &relief).unwrap();
        assert_eq!(pieces.len(), 232);
        let whole: f64 = pieces.iter().map(|p| area(&p.outline)).sum();
        assert!((whole / 240.0 - 1.0).abs() < 1e-9, "{whole}");
        // Volume: over the sloping area, exact for a plane.
        let volume: f64 = pieces.iter().map(|p| p.shape.volume() * p.radius.powi(3)).sum();
        assert!((volume / (240.0 * 0.5 * 0.6f64.hypot(1.0)) - 1.0).abs() < 1e-6, "{volume}");
        // Every inner side joins two pieces: the sum over faces is half the pieces' sides less the rim's.
        let sides = |p: &Piece| {
            (0..p.outline.len()).map(|k| p.outline[k].distance(p.outline[(k + 1) % p.outline.len()])).sum::<f64>()
        };
        let inner: f64 = 0.5 * (pieces.iter().map(sides).sum::<f64>() - 64.0);
        let found: f64 = faces(&slab(232), &pieces).iter().map(|f| f.2 / 0.5).sum();
        assert!((found / inner - 1.0).abs() < 0.02, "{found} of {inner} m");
        // Spheres keep within the plate.
        for p in &pieces {
            for s in p.shape.spheres() {
                let x = p.place + p.turn * (s.centre * p.radius);
                let over = relief.over(x.x, x.y).unwrap();
                let above = (x.z - over.z) * over.normal().z;
                assert!((above - 0.25).abs() < 1e-6, "{above}");
            }
        }
    }
}
