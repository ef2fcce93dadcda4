//! Exact distance maps in whole numbers, in linear time [Meijster, Roerdink, Hesselink 2000].

/// Squared distance [cells²] of each place of a grid (x runs first) to the nearest one that is not `inside`; `None` where
/// there is no such place.
pub(crate) fn squared(inside: &[bool], [nx, ny]: [usize; 2]) -> Vec<Option<i64>> {
    let far = (nx + ny) as i64;
    // Distance within the column of the map, or `far`, which no place of the map can be from another.
    let mut down = vec![far; nx * ny];
    for x in 0..nx {
        let mut run = far;
        for y in 0..ny {
            run = if inside[x + y * nx] { (run + 1).min(far) } else { 0 };
            down[x + y * nx] = run;
        }
        for y in (0..ny).rev() {
            run = if inside[x + y * nx] { (run + 1).min(far) } else { 0 };
            down[x + y * nx] = down[x + y * nx].min(run);
        }
    }
    let mut out = Vec::with_capacity(nx * ny);
    // The lower envelope of parabolas: who is nearest from which x on.
    let mut envelope: Vec<(i64, i64)> = Vec::new();
    for row in down.chunks_exact(nx) {
        let value = |x: i64, i: i64| (x - i).pow(2) + row[i as usize].pow(2);
        // The last x at which parabola i is not above parabola u > i.
        let meet =
            |i: i64, u: i64| (u * u - i * i + row[u as usize].pow(2) - row[i as usize].pow(2)).div_euclid(2 * (u - i));
        envelope.clear();
        for u in 0..nx as i64 {
            while envelope.last().is_some_and(|&(i, from)| value(from, i) > value(from, u)) {
                envelope.pop();
            }
            match envelope.last() {
                None => envelope.push((u, 0)),
                Some(&(i, _)) => {
                    let from = meet(i, u) + 1;
                    if from < nx as i64 {
                        envelope.push((u, from));
                    }
                }
            }
        }
        let mut at = 0;
        for x in 0..nx as i64 {
            while envelope.get(at + 1).is_some_and(|&(_, from)| from <= x) {
                at += 1;
            }
            let nearest = value(x, envelope[at].0);
            out.push((nearest < far * far).then_some(nearest));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::squared;
    use barchan_core::rng::Random;

    #[test]
    fn distances_are_those_found_by_asking_every_place() {
        let mut random = Random::new(1, 1);
        for (size, share) in [([13, 9], 0.9), ([1, 17], 0.7), ([20, 1], 0.95), ([16, 16], 0.99), ([5, 4], 1.1)] {
            let [nx, ny] = size;
            let inside: Vec<bool> = (0..nx * ny).map(|_| random.uniform() < share).collect();
            let found = squared(&inside, size);
            for here in 0..nx * ny {
                let to =
                    |there: usize| (here % nx).abs_diff(there % nx).pow(2) + (here / nx).abs_diff(there / nx).pow(2);
                let nearest = (0..nx * ny).filter(|&t| !inside[t]).map(to).min();
                assert_eq!(found[here], nearest.map(|n| n as i64), "{size:?} at {here}");
            }
        }
    }
}
