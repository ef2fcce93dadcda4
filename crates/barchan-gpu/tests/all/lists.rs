//! Lists of neighbours against all pairs.

use crate::open;
use barchan_core::rng::Random;
use barchan_gpu::blocks::lists::{Lists, Quanta};
use barchan_gpu::{Cap, Gpu};
use glam::DVec3;

const LARGEST: f64 = 1e-3;
const SKIN: f64 = 0.3e-3;

/// Balls of radii from a quarter of the largest to it, thrown into a cube about a point.
fn cloud(n: usize, about: DVec3) -> Vec<(DVec3, f64)> {
    let mut rng = Random::new(5, n as u64);
    // Closer than in a packing, so that lists are long.
    let side = LARGEST * 2.0 * (n as f64 / 3.0).cbrt();
    let ball = |k| {
        let at = DVec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5;
        (about + side * at, if k == 0 { LARGEST } else { LARGEST * rng.range(0.25, 1.0) })
    };
    (0..n).map(ball).collect()
}

fn listed(gpu: &Gpu, lists: &Lists, balls: &[(DVec3, f64)]) -> Vec<Vec<u32>> {
    let quanta = Quanta::for_radius(LARGEST);
    let row = |(x, r): &(DVec3, f64)| {
        let [x, y, z] = x.to_array().map(|x| quanta.place(x).0 as u64);
        let high = [x, y, z].map(|x| (x >> 32) as u32);
        [[x as u32, y as u32, z as u32, quanta.of(*r)], [high[0], high[1], high[2], 0]]
    };
    let rows: Vec<[u32; 4]> = balls.iter().flat_map(row).collect();
    let buffer = gpu.upload("balls", &rows).unwrap();
    let mut room = lists.room(gpu, balls.len(), 2, quanta.of(SKIN)).unwrap();
    lists.build(gpu, &buffer, &mut room).unwrap();
    let starts: Vec<u32> = gpu.read(&room.starts, balls.len() + 1).unwrap();
    let partners: Vec<u32> = gpu.read(&room.partners, room.len).unwrap();
    starts.windows(2).map(|w| partners[w[0] as usize..w[1] as usize].to_vec()).collect()
}

#[test]
fn lists_hold_all_that_are_near_and_nobody_twice() {
    for cap in [None, Some(Cap { binding: 1 << 20, groups: 64 })] {
        let Some(gpu) = open(cap) else { return };
        let lists = Lists::new(&gpu).unwrap();
        // About the origin coordinates change their sign; ten metres away they have high words of their own.
        for about in [DVec3::ZERO, DVec3::new(10.0, -10.0, 3.0)] {
            for n in [0, 1, 2, 63, 64, 65, 257, 3001] {
                let balls = cloud(n, about);
                let got = listed(&gpu, &lists, &balls);
                let mut near = 0;
                for (i, list) in got.iter().enumerate() {
                    let mut sorted = list.clone();
                    sorted.sort_unstable();
                    assert!(sorted.windows(2).all(|w| w[0] < w[1]), "{n}: {i} has {list:?}");
                    let (x, r) = balls[i];
                    for (j, (y, s)) in balls.iter().enumerate().filter(|(j, _)| *j != i) {
                        let gap = x.distance(*y) - r - s - SKIN;
                        let there = sorted.binary_search(&(j as u32)).is_ok();
                        // Within the millionth that the kernel adds, either is right.
                        assert!(there == (gap < 0.0) || (0.0..4e-9).contains(&gap), "{n}: {i} and {j}, gap {gap}");
                        near += usize::from(there);
                    }
                }
                assert!(n < 257 || near > 3 * n, "{near} pairs of {n}: the test is of something");
                assert_eq!(got, listed(&gpu, &lists, &balls), "twice the same");
            }
        }
    }
}
