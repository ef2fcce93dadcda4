//! Points by place: cells in a hash table [Teschner et al. 2003, "Optimized spatial hashing"], to which points can be added.

use glam::DVec3;

const NONE: u32 = u32::MAX;

/// Points sorted into cells; points are numbered as they come.
pub struct Buckets {
    size: f64,
    /// First of each bucket's list, the last one inserted.
    heads: Vec<u32>,
    /// The next in the list, cell and place of each point.
    items: Vec<(u32, [i64; 3], DVec3)>,
}

impl Buckets {
    /// Cells of that size [m] for about that many points.
    pub fn new(size: f64, capacity: usize) -> Buckets {
        Buckets { size, heads: vec![NONE; (2 * capacity + 1).next_power_of_two()], items: Vec::with_capacity(capacity) }
    }

    pub fn of(size: f64, points: impl ExactSizeIterator<Item = DVec3>) -> Buckets {
        let mut buckets = Buckets::new(size, points.len());
        points.for_each(|p| buckets.insert(p));
        buckets
    }

    fn cell(&self, p: DVec3) -> [i64; 3] {
        (p / self.size).floor().as_i64vec3().to_array()
    }

    fn bucket(&self, c: [i64; 3]) -> usize {
        let mix = (c[0].wrapping_mul(73_856_093)) ^ (c[1].wrapping_mul(19_349_663)) ^ (c[2].wrapping_mul(83_492_791));
        mix as usize & (self.heads.len() - 1)
    }

    pub fn insert(&mut self, p: DVec3) {
        let cell = self.cell(p);
        let bucket = self.bucket(cell);
        self.items.push((self.heads[bucket], cell, p));
        self.heads[bucket] = self.items.len() as u32 - 1;
    }

    /// Visits the points no farther than `reach` from `p`, with number and place, in an order that depends on the points
    /// and the order they came in alone.
    pub fn visit(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize, DVec3)) {
        let (low, high) = (self.cell(p - reach), self.cell(p + reach));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let mut at = self.heads[self.bucket([x, y, z])];
                    while at != NONE {
                        let (next, cell, place) = self.items[at as usize];
                        if cell == [x, y, z] && place.distance_squared(p) <= reach * reach {
                            visit(at as usize, place);
                        }
                        at = next;
                    }
                }
            }
        }
    }

    /// Whether there is a point no farther than `reach` from `p`.
    pub fn any(&self, p: DVec3, reach: f64) -> bool {
        let mut found = false;
        self.visit(p, reach, |_, _| found = true);
        found
    }
}
