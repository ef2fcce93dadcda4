//! What carries the grains: velocity and filling between the particles, summed on a grid of bricks around them, or directly.
//!
//! Reads positions, velocities and volumes of the particles. At a node of the grid stand Σ w v and Σ w with w = max(0, (1 − δ²/R_h²)³),
//! R_h = 1.5 d [Ihmsen et al. 2012, "High-resolution simulation of granular material with SPH", eq. 7], the filling Σ V W, the share of the
//! kernel that walls leave open, and the distance to the nearest wall. W is w itself, normalised: a kernel of its own right [Müller et al. 2003,
//! "Particle-based fluid simulation for interactive applications"], as good for a filling as the solver's and at no further cost. Sums and
//! not their quotients are interpolated, so that at a free surface nodes without particles do not count. Nodes are d/2 apart; walls, whose
//! queries are dear, are asked for at every other node.
//!
//! Bricks have 6³ cells; each holds the nodes of its sides, so that a look-up reads one brick, and rows of eight lanes. The sums of a brick
//! are taken by one thread, particles in the order of their bins. Cost: some 70 rows a particle.
//! The loops over lanes are compiled twice, as the target has it and for AVX2 (half the time); without fused operations the bits are the same.

use super::walls::{Walls, covered};
use barchan_core::simd::Isa;
use barchan_core::solver::Domain;
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

/// Cells along the side of a brick.
const CELLS: usize = 6;
/// Nodes along the side of a brick.
const NODES: usize = CELLS + 1;
/// Numbers in a row of nodes: those of the brick and one beyond, to fill the lanes.
const LANES: usize = 8;
/// Rows of a brick.
const ROWS: usize = NODES * NODES;
/// Nodes along the side of a brick at which walls are asked for: every other one.
const COARSE: usize = CELLS / 2 + 1;
/// Range R_h of the weights, in spacings.
pub const RANGE: f64 = 1.5;
/// Integral of w over its ball, over R_h³: 64π/315.
const INTEGRAL: f32 = 0.638_277_2;
/// Farthest bin whose particles reach into a brick, in bricks; 2 only where a periodic side is short.
const FAR: i32 = 2;
/// In an empty place of the table of bricks.
const EMPTY: u64 = u64::MAX;

/// The particles, as columns.
#[derive(Clone, Copy, Debug)]
pub struct Particles<'a> {
    /// Permanent ids.
    pub id: &'a [u32],
    /// Positions [m].
    pub position: &'a [DVec3],
    /// Velocities [m/s].
    pub velocity: &'a [DVec3],
    /// Volumes m/ρ [m³].
    pub volume: &'a [f64],
}

/// What is found at a place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local {
    /// Σ w v [m/s].
    pub momentum: Vec3,
    /// Σ w.
    pub weight: f32,
    /// Greatest w; only by the direct sum.
    pub largest: f32,
    /// Share of the open place that is filled: Σ V W over the share of the kernel outside walls.
    pub filling: f32,
    /// Distance to the nearest wall [m], 1.5 d at most; on the grid up to [`Carrier::slack`] wrong.
    pub wall: f32,
}

/// Weight of a particle at the squared distance `square`, in units of R_h².
///   w = max(0, (1 − δ²/R_h²)³)
#[inline(always)]
fn weight(square: f32) -> f32 {
    let t = (1.0 - square).max(0.0);
    t * t * t
}

/// Where bricks lie.
#[derive(Clone, Copy, Debug)]
struct Layout {
    origin: DVec3,
    cell: DVec3,
    /// 1/cell [1/m].
    inverse: DVec3,
    /// Bricks along each axis.
    count: [i32; 3],
    /// Cells along each axis.
    cells: DVec3,
    period: DVec3,
    /// Bricks that a particle reaches into on each side.
    reach: [i32; 3],
}

impl Layout {
    fn new(domain: &Domain, positions: &[DVec3], spacing: f64) -> Layout {
        let side = 0.5 * spacing * CELLS as f64;
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &p in positions.iter().filter(|p| p.is_finite()) {
            (low, high) = (low.min(p), high.max(p));
        }
        let period = domain.period();
        let mut out = Layout {
            origin: domain.min,
            cell: DVec3::ZERO,
            inverse: DVec3::ZERO,
            count: [1; 3],
            cells: DVec3::ONE,
            period,
            reach: [1; 3],
        };
        for k in 0..3 {
            if period[k] > 0.0 {
                // Whole bricks, whose cells are no larger than half a spacing.
                let count = (period[k] / side).ceil().clamp(1.0, 1e6);
                out.cell[k] = period[k] / count / CELLS as f64;
                out.count[k] = count as i32;
                out.reach[k] = ((RANGE * spacing / (period[k] / count)).ceil() as i32).min(FAR);
            } else if low[k] <= high[k] {
                // Nodes stay where they are whoever moves: the origin is a whole number of bricks from that of the world.
                let (first, last) = ((low[k] / side).floor() - 2.0, (high[k] / side).floor() + 2.0);
                out.cell[k] = side / CELLS as f64;
                out.origin[k] = first * side;
                out.count[k] = (last - first + 1.0).min(1e6) as i32;
            } else {
                out.cell[k] = side / CELLS as f64;
            }
        }
        out.inverse = out.cell.recip();
        out.cells = CELLS as f64 * DVec3::from(out.count.map(f64::from));
        out
    }

    fn side(&self) -> DVec3 {
        self.cell * CELLS as f64
    }

    fn key(&self, b: [i32; 3]) -> u64 {
        (b[2] as u64 * self.count[1] as u64 + b[1] as u64) * self.count[0] as u64 + b[0] as u64
    }

    fn brick(&self, key: u64) -> [i32; 3] {
        let (nx, ny) = (self.count[0] as u64, self.count[1] as u64);
        [(key % nx) as i32, (key / nx % ny) as i32, (key / nx / ny) as i32]
    }

    /// The brick at an offset from another, and how far its image has to be moved [m]; None beyond the last.
    fn beside(&self, b: [i32; 3], offset: [i32; 3]) -> Option<([i32; 3], DVec3)> {
        let mut shift = DVec3::ZERO;
        let mut out = [0; 3];
        for k in 0..3 {
            let at = b[k] + offset[k];
            if self.period[k] > 0.0 {
                out[k] = at.rem_euclid(self.count[k]);
                shift[k] = f64::from(at.div_euclid(self.count[k])) * self.period[k];
            } else if at < 0 || at >= self.count[k] {
                return None;
            } else {
                out[k] = at;
            }
        }
        Some((out, shift))
    }

    /// The brick of a point, and where in it the point is in units of cells; None outside all bricks.
    #[inline(always)]
    fn place(&self, x: DVec3) -> Option<([i32; 3], [f32; 3])> {
        let q = (x - self.origin) * self.inverse;
        let (mut b, mut at) = ([0; 3], [0f32; 3]);
        for k in 0..3 {
            // Truncation is rounding down: what is below the first brick, or not a number, is sent away. Rounding may put a point
            // of the domain on its upper side, which is the lower side of the first brick.
            let all = self.cells[k];
            let here = if self.period[k] > 0.0 && q[k] >= all { q[k] - all } else { q[k] };
            if !(here >= 0.0 && here < all) {
                return None;
            }
            b[k] = (here * (1.0 / CELLS as f64)) as i32;
            at[k] = ((here - f64::from(b[k] * CELLS as i32)) as f32).clamp(0.0, CELLS as f32 - 1e-6);
        }
        Some((b, at))
    }

    /// Positions moved into the domain where it is periodic.
    fn wrap(&self, x: DVec3) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|k| match self.period[k] > 0.0 {
            true => x[k] - self.period[k] * ((x[k] - self.origin[k]) / self.period[k]).floor(),
            false => x[k],
        }))
    }
}

/// Numbers of bricks by key: open addressing.
#[derive(Default)]
struct Table {
    slots: Vec<(u64, u32)>,
}

impl Table {
    fn new(keys: &[u64]) -> Table {
        let mut table = Table { slots: vec![(EMPTY, 0); (2 * keys.len()).next_power_of_two().max(2)] };
        for (number, &key) in keys.iter().enumerate() {
            let mut at = table.slot(key);
            while table.slots[at].0 != EMPTY {
                at = (at + 1) & (table.slots.len() - 1);
            }
            table.slots[at] = (key, number as u32);
        }
        table
    }

    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline(always)]
    fn find(&self, key: u64) -> Option<u32> {
        let mut at = self.slot(key);
        loop {
            match self.slots[at] {
                (EMPTY, _) => return None,
                (k, number) if k == key => return Some(number),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}

/// A particle in its bin.
#[derive(Clone, Copy)]
struct Member {
    position: DVec3,
    velocity: Vec3,
    volume: f32,
}

/// Velocity and filling everywhere.
pub struct Carrier {
    layout: Layout,
    spacing: f64,
    table: Table,
    /// Particles in each brick: first and one beyond the last of `members`.
    ranges: Vec<[u32; 2]>,
    members: Vec<Member>,
    /// Which build of the loops over lanes runs.
    pub isa: Isa,
    /// Nodes, brick by brick. Empty where sums are direct.
    nodes: Vec<Node>,
}

/// The numbers of a node, in half a line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Node {
    /// Σ w v [m/s] and Σ w.
    moved: Vec4,
    /// Σ V W, the open share, the distance to the nearest wall [m], nothing.
    place: Vec4,
}

impl Node {
    /// A share `t` of the way from one node to another.
    #[inline(always)]
    fn mix(self, other: Node, t: f32) -> Node {
        Node { moved: self.moved + (other.moved - self.moved) * t, place: self.place + (other.place - self.place) * t }
    }
}

/// Memory of the nodes, kept from call to call: to ask the system for it anew takes as long as to fill it.
#[derive(Clone, Default)]
pub struct Nodes(Vec<Node>);

impl Nodes {
    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Node>()
    }
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes", self.0.len())
    }
}

/// A particle near a brick.
#[derive(Clone, Copy)]
struct Near {
    /// From the brick's lower corner [m].
    place: Vec3,
    velocity: Vec3,
    volume: f32,
}

/// Sums of one brick, as rows of lanes.
struct Sums([[[f32; LANES]; ROWS]; 5]);

impl Carrier {
    /// Sorts the particles into bins, and sums them at nodes that lie in the given memory; without it sums are direct. The processor must
    /// have the instruction set.
    pub fn new(
        particles: &Particles<'_>,
        domain: &Domain,
        spacing: f64,
        walls: &dyn Walls,
        memory: Option<Nodes>,
        isa: Isa,
    ) -> Carrier {
        let layout = Layout::new(domain, particles.position, spacing);
        let place = |row: usize| {
            let x = layout.wrap(particles.position[row]);
            layout.place(x).map(|(b, _)| (layout.key(b), row as u32))
        };
        let mut order: Vec<(u64, u32)> = (0..particles.position.len()).into_par_iter().filter_map(place).collect();
        order.par_sort_unstable();
        let members: Vec<Member> = order
            .par_iter()
            .map(|&(_, row)| Member {
                position: layout.wrap(particles.position[row as usize]),
                velocity: particles.velocity[row as usize].as_vec3(),
                volume: particles.volume[row as usize] as f32,
            })
            .collect();
        let mut bins: Vec<(u64, [u32; 2])> = Vec::new();
        for (k, &(key, _)) in order.iter().enumerate() {
            match bins.last_mut() {
                Some((last, range)) if *last == key => range[1] += 1,
                _ => bins.push((key, [k as u32, k as u32 + 1])),
            }
        }
        let mut keys: Vec<u64> =
            bins.par_iter().flat_map_iter(|&(key, range)| reached(&layout, spacing, key, &members, range)).collect();
        keys.par_sort_unstable();
        keys.dedup();
        let table = Table::new(&keys);
        let mut ranges = vec![[0; 2]; keys.len()];
        for (key, range) in bins {
            if let Some(number) = table.find(key) {
                ranges[number as usize] = range;
            }
        }
        let mut carrier = Carrier { layout, spacing, table, ranges, members, isa, nodes: Vec::new() };
        if let Some(Nodes(mut nodes)) = memory {
            nodes.resize(keys.len() * ROWS * LANES, Node::default());
            nodes
                .par_chunks_mut(ROWS * LANES)
                .zip(&keys)
                .for_each(|(out, &key)| carrier.fill(layout.brick(key), walls, out));
            carrier.nodes = nodes;
        }
        carrier
    }

    /// Gives back the memory of the nodes.
    pub fn into_memory(self) -> Nodes {
        Nodes(self.nodes)
    }

    /// Error of the interpolated distance to a wall [m]: no more than the way to the corners of a coarse cell, on average.
    pub fn slack(&self) -> f32 {
        self.layout.cell.length() as f32
    }

    /// Visits the particles near a brick, with their positions from its lower corner [m].
    fn around(&self, b: [i32; 3], mut visit: impl FnMut(Vec3, &Member)) {
        let corner = self.layout.origin + self.layout.side() * DVec3::from(b.map(f64::from));
        let [rx, ry, rz] = self.layout.reach;
        for z in -rz..=rz {
            for y in -ry..=ry {
                for x in -rx..=rx {
                    let Some((bin, shift)) = self.layout.beside(b, [x, y, z]) else { continue };
                    let Some(number) = self.table.find(self.layout.key(bin)) else { continue };
                    let [first, end] = self.ranges[number as usize];
                    for m in &self.members[first as usize..end as usize] {
                        visit((m.position + shift - corner).as_vec3(), m);
                    }
                }
            }
        }
    }

    /// Sums at the nodes of a brick.
    fn fill(&self, b: [i32; 3], walls: &dyn Walls, out: &mut [Node]) {
        let mut sums = Sums([[[0.0; LANES]; ROWS]; 5]);
        let side = self.layout.side().as_vec3();
        let range = (RANGE * self.spacing) as f32;
        let mut near = Vec::with_capacity(256);
        self.around(b, |place, member| {
            let away = (-place).max(place - side).max(Vec3::ZERO);
            if away.length_squared() < range * range {
                near.push(Near { place, velocity: member.velocity, volume: member.volume });
            }
        });
        sums.add_all(&near, self.layout.cell.as_vec3(), self.spacing as f32, self.isa);
        let corner = self.layout.origin + self.layout.side() * DVec3::from(b.map(f64::from));
        let mut coarse = [[0f32; 2]; COARSE * COARSE * COARSE];
        for (k, node) in coarse.iter_mut().enumerate() {
            let at = [k % COARSE, k / COARSE % COARSE, k / (COARSE * COARSE)];
            let place = corner + 2.0 * self.layout.cell * DVec3::from(at.map(|a| a as f64));
            *node = covered(walls, place, RANGE * self.spacing).into();
        }
        for (n, node) in out.iter_mut().enumerate() {
            let (row, x) = (n / LANES, (n % LANES).min(NODES - 1));
            let [y, z] = [row % NODES, row / NODES];
            let [open, wall] = between(&coarse, [x, y, z]);
            let [vx, vy, vz, weight, filled] = [0, 1, 2, 3, 4].map(|k| sums.0[k][row][x]);
            *node = Node { moved: Vec4::new(vx, vy, vz, weight), place: Vec4::new(filled, open, wall, 0.0) };
        }
    }

    /// What the grid says of a place [m] in the domain; None where no particle is near.
    #[inline(always)]
    pub fn at(&self, x: DVec3) -> Option<Local> {
        let (b, at) = self.layout.place(x)?;
        let number = self.table.find(self.layout.key(b))? as usize;
        // Through i32, whose conversion is one instruction.
        let cell = at.map(|a| a as i32 as usize);
        let first = number * ROWS * LANES + (cell[2] * NODES + cell[1]) * LANES + cell[0];
        let near = &self.nodes[first..first + (NODES + 1) * LANES + 2];
        let t: [f32; 3] = std::array::from_fn(|k| at[k] - cell[k] as f32);
        let row = |s: usize| near[s].mix(near[s + 1], t[0]);
        let low = row(0).mix(row(LANES), t[1]);
        let high = row(NODES * LANES).mix(row((NODES + 1) * LANES), t[1]);
        let Node { moved, place } = low.mix(high, t[2]);
        let (momentum, weight) = (moved.truncate(), moved.w);
        Some(Local { momentum, weight, largest: 0.0, filling: place.x / place.y, wall: place.z })
    }

    /// The same by direct sums over the particles.
    pub fn direct(&self, x: DVec3, walls: &dyn Walls) -> Option<Local> {
        let (b, at) = self.layout.place(x)?;
        self.table.find(self.layout.key(b))?;
        let place = Vec3::from_array(at) * self.layout.cell.as_vec3();
        let range = (RANGE * self.spacing) as f32;
        let mut out = Local::default();
        self.around(b, |p, member| {
            let square = (p - place).length_squared();
            let w = weight(square / (range * range));
            out.momentum += w * member.velocity;
            out.weight += w;
            out.largest = out.largest.max(w);
            out.filling += w * member.volume;
        });
        let (open, wall) = covered(walls, x, RANGE * self.spacing);
        out.filling /= INTEGRAL * range * range * range * open;
        out.wall = wall;
        Some(out)
    }
}

/// Adds all particles near a brick, in their order.
#[inline(always)]
fn add_each(sums: &mut Sums, near: &[Near], cell: Vec3, spacing: f32) {
    // A loop and not `for_each`, whose body would be compiled for the plain target.
    for particle in near {
        sums.add(particle, cell, RANGE as f32 * spacing);
    }
}

barchan_core::wide!(
    fn add_each_wide = add_each(sums: &mut Sums, near: &[Near], cell: Vec3, spacing: f32);
);

impl Sums {
    /// Adds all particles near the brick.
    fn add_all(&mut self, near: &[Near], cell: Vec3, spacing: f32, isa: Isa) {
        match isa {
            Isa::Plain => add_each(self, near, cell, spacing),
            Isa::Avx2 | Isa::Avx512 => add_each_wide(self, near, cell, spacing),
        }
    }

    /// Adds w v, w and V W of a particle.
    #[inline(always)]
    fn add(&mut self, particle: &Near, cell: Vec3, range: f32) {
        let p = particle.place;
        let scale = 1.0 / (range * range);
        // Rows within the range: the others would get zeros.
        let rows = |k: usize| {
            let (first, last) = ((p[k] - range) / cell[k], (p[k] + range) / cell[k]);
            (first.max(-1.0) + 1.0) as usize..((last + 1.0).max(0.0) as usize).min(NODES)
        };
        let dx: [f32; LANES] = std::array::from_fn(|l| {
            let d = l as f32 * cell.x - p.x;
            d * d * scale
        });
        let (v, share) = (particle.velocity, particle.volume / (INTEGRAL * range * range * range));
        for z in rows(2) {
            let dz = z as f32 * cell.z - p.z;
            for y in rows(1) {
                let dy = y as f32 * cell.y - p.y;
                let across = (dy * dy + dz * dz) * scale;
                if across >= 1.0 {
                    continue;
                }
                let row = z * NODES + y;
                let w: [f32; LANES] = std::array::from_fn(|l| weight(across + dx[l]));
                for (k, factor) in [v.x, v.y, v.z, 1.0, share].into_iter().enumerate() {
                    let sum = &mut self.0[k][row];
                    for l in 0..LANES {
                        sum[l] += w[l] * factor;
                    }
                }
            }
        }
    }
}

/// Numbers of a fine node between the coarse ones.
fn between(coarse: &[[f32; 2]; COARSE * COARSE * COARSE], at: [usize; 3]) -> [f32; 2] {
    let low = at.map(|a| a / 2);
    let high = at.map(|a| a.div_ceil(2));
    let mut out = [0f32; 2];
    for k in 0..8usize {
        let c: [usize; 3] = std::array::from_fn(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] });
        let node = coarse[(c[2] * COARSE + c[1]) * COARSE + c[0]];
        (0..2).for_each(|i| out[i] += 0.125 * node[i]);
    }
    out
}

/// Keys of the bricks that the particles of a bin carry grains in: those within the range of the weights.
fn reached(layout: &Layout, spacing: f64, key: u64, members: &[Member], range: [u32; 2]) -> Vec<u64> {
    let b = layout.brick(key);
    let side = layout.side();
    let corner = layout.origin + side * DVec3::from(b.map(f64::from));
    let wide = 2 * FAR + 1;
    let mut seen = 0u128;
    for m in &members[range[0] as usize..range[1] as usize] {
        let at = m.position - corner;
        let low = ((at - RANGE * spacing) / side).floor().as_ivec3().max(glam::IVec3::splat(-FAR));
        let high = ((at + RANGE * spacing) / side).floor().as_ivec3().min(glam::IVec3::splat(FAR));
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    seen |= 1 << (((z + FAR) * wide + y + FAR) * wide + x + FAR);
                }
            }
        }
    }
    let offset = |k: i32| [k % wide - FAR, k / wide % wide - FAR, k / (wide * wide) - FAR];
    let here = (0..wide.pow(3)).filter(|k| seen >> k & 1 == 1);
    here.filter_map(|k| layout.beside(b, offset(k)).map(|(brick, _)| layout.key(brick))).collect()
}
