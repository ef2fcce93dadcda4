//! Plain loops over rows of numbers, compiled for the widest vectors of the processor at hand.
//!
//! The compiler turns loops over arrays into vector instructions by itself, but only into those that every processor of the target has.
//! [`wide!`](crate::wide) has a function compiled once more for AVX2 and chooses at run time. Both multiply and add alike, without fusing, so
//! the bits are the same.

/// `wide!(fn NAME = BODY(ARGUMENT: TYPE, …) -> TYPE);` makes a function `NAME` that runs `BODY` in the widest vectors that this processor
/// has.
///
/// `BODY` must be `#[inline(always)]`, and so must what it calls in its loops: only what is inlined is compiled anew. A call costs a look at
/// a flag; make it once for a task, not for a row.
#[macro_export]
macro_rules! wide {
    ($(#[$about:meta])* $scope:vis fn $name:ident = $body:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?;) => {
        $(#[$about])*
        $scope fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                /// # Safety
                /// The processor has AVX2.
                #[target_feature(enable = "avx2")]
                unsafe fn avx2($($arg: $type),*) $(-> $out)? {
                    $body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: this processor was asked for the instructions just now.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    #[inline(always)]
    fn mixed(rows: &[[f32; 8]]) -> Vec<[f32; 8]> {
        let row = |r: &[f32; 8]| std::array::from_fn(|x| (r[x] * r[7 - x] + 0.1 * r[x] - r[(x + 3) % 8]).abs().sqrt());
        rows.iter().map(row).collect()
    }

    wide!(
        fn mixed_wide = mixed(rows: &[[f32; 8]]) -> Vec<[f32; 8]>;
    );

    #[test]
    fn wide_loops_give_the_bits_of_plain_ones() {
        let rows: Vec<[f32; 8]> =
            (0..500).map(|k| std::array::from_fn(|x| ((k * 8 + x) as f32 * 0.37).sin() * 3.0)).collect();
        let bits = |rows: Vec<[f32; 8]>| rows.into_iter().flatten().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(mixed(&rows)), bits(mixed_wide(&rows)));
    }
}
