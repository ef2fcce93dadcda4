//! A curve that fills space: who are neighbours along it are neighbours in space, so that memory sorted along it is read in the order it is needed.

/// Bits per axis of the curve.
pub const BITS: u32 = 16;

/// Position along the Hilbert curve of a point with [`BITS`] bits per axis [Skilling 2004].
pub fn hilbert(mut x: [u32; 3]) -> u64 {
    let top = 1 << (BITS - 1);
    let mut q = top;
    while q > 1 {
        let p = q - 1;
        for k in 0..3 {
            if x[k] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[k]) & p;
                x[0] ^= t;
                x[k] ^= t;
            }
        }
        q >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut t = 0;
    let mut q = top;
    while q > 1 {
        if x[2] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    x = x.map(|c| c ^ t);
    (0..BITS).rev().fold(0, |h, b| {
        h << 3 | u64::from(x[0] >> b & 1) << 2 | u64::from(x[1] >> b & 1) << 1 | u64::from(x[2] >> b & 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_each_cell_once_and_steps_to_a_neighbour() {
        let n = 8u32;
        let shift = BITS - 3;
        let mut cells: Vec<(u64, [u32; 3])> = Vec::new();
        for x in 0..n {
            for y in 0..n {
                for z in 0..n {
                    cells.push((hilbert([x << shift, y << shift, z << shift]), [x, y, z]));
                }
            }
        }
        cells.sort_unstable();
        for pair in cells.windows(2) {
            assert_ne!(pair[0].0, pair[1].0);
            let step: u32 = (0..3).map(|k| pair[0].1[k].abs_diff(pair[1].1[k])).sum();
            assert_eq!(step, 1, "{:?} to {:?}", pair[0].1, pair[1].1);
        }
    }
}
