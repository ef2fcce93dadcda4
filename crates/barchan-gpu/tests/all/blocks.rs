//! Scan, sort and sums against the processor, at sizes about those of workgroups, and with the limits of small devices.

use crate::open;
use barchan_core::rng::Random;
use barchan_gpu::blocks::{reduce::Reduce, scan::Scan, sort::Sort};
use barchan_gpu::{Cap, Gpu};

/// Nothing, one, about a workgroup and its chunk, and more than one level of sums.
const SIZES: [usize; 10] = [0, 1, 2, 255, 256, 257, 1023, 1024, 1025, 100_003];
const SMALL: Cap = Cap { binding: 1 << 20, groups: 64 };

fn numbers(n: usize, seed: u64, most: u64) -> Vec<u32> {
    let mut rng = Random::new(seed, 0);
    (0..n).map(|_| (rng.bits() % most) as u32).collect()
}

#[test]
fn a_scan_is_the_sums_of_all_before() {
    for cap in [None, Some(SMALL)] {
        let Some(gpu) = open(cap) else { return };
        let scan = Scan::new(&gpu).unwrap();
        for n in SIZES {
            let data = numbers(n, 1, 1000);
            let buffer = gpu.upload("data", &data).unwrap();
            let mut launches = gpu.launches();
            scan.run(&mut launches, &buffer, &scan.room(&gpu, n).unwrap());
            launches.submit().unwrap();
            let before = |sum: &mut u32, x: &u32| {
                *sum += x;
                Some(*sum - x)
            };
            let want: Vec<u32> = data.iter().scan(0, before).collect();
            assert!(gpu.read::<u32>(&buffer, n).unwrap() == want, "of {n}");
        }
    }
}

fn sorted(gpu: &Gpu, sort: &Sort, keys: &[u32], bits: u32) -> Vec<(u32, u32)> {
    let n = keys.len();
    let values: Vec<u32> = (0..n as u32).collect();
    let (k, v) = (gpu.upload("keys", keys).unwrap(), gpu.upload("values", &values).unwrap());
    let mut launches = gpu.launches();
    sort.run(&mut launches, &k, &v, &sort.room(gpu, n, bits).unwrap());
    launches.submit().unwrap();
    gpu.read::<u32>(&k, n).unwrap().into_iter().zip(gpu.read::<u32>(&v, n).unwrap()).collect()
}

#[test]
fn a_sort_is_the_processors_stable_one() {
    for cap in [None, Some(SMALL)] {
        let Some(gpu) = open(cap) else { return };
        let sort = Sort::new(&gpu).unwrap();
        for n in SIZES {
            // Many equal keys, all bits, and all keys alike, where a digit fills its workgroup.
            for (bits, most) in [(6, 50), (32, 1 << 32), (8, 1)] {
                let keys = numbers(n, 2, most);
                let mut want: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
                want.sort_by_key(|x| x.0);
                let got = sorted(&gpu, &sort, &keys, bits);
                assert!(got == want, "{n} keys below {most}");
            }
        }
    }
}

#[test]
fn sums_are_right_and_have_one_order() {
    let Some(gpu) = open(None) else { return };
    let reduce = Reduce::new(&gpu).unwrap();
    for n in SIZES {
        for columns in [1, 3] {
            let mut rng = Random::new(3, n as u64);
            let rows: Vec<[f32; 4]> =
                (0..n * columns).map(|_| std::array::from_fn(|_| rng.range(-1.0, 1.0) as f32)).collect();
            let buffer = gpu.upload("rows", &rows).unwrap();
            let room = reduce.room(&gpu, n, columns).unwrap();
            let sum = || {
                let mut launches = gpu.launches();
                reduce.run(&mut launches, &buffer, &room);
                launches.submit().unwrap();
                gpu.read::<[f32; 4]>(room.sums(), columns).unwrap()
            };
            let got = sum();
            assert_eq!(got, sum(), "twice the same");
            for c in 0..columns {
                for k in 0..4 {
                    let want: f64 = rows.iter().skip(c).step_by(columns).map(|r| f64::from(r[k])).sum();
                    // A tree of 17 levels over numbers below 1: each level rounds by half a unit of the last place of sums of some √n.
                    let allowed = 17.0 * 0.5 * f64::from(f32::EPSILON) * (n as f64).sqrt().max(1.0) * 3.0;
                    assert!((f64::from(got[c][k]) - want).abs() <= allowed, "{n}: {} for {want}", got[c][k]);
                }
            }
        }
    }
}
