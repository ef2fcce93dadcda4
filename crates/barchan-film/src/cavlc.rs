//! Context-adaptive variable-length coding of transform coefficients (ITU-T H.264, 9.2).

use crate::bits::BitWriter;

/// A code word: its length [bit] and its value.
type Code = (u8, u8);

/// Table 9-5 for 0 ≤ nC < 2, 2 ≤ nC < 4 and 4 ≤ nC < 8: `[total coefficients][trailing ones]`.
const COEFF_TOKEN: [[[Code; 4]; 17]; 3] = [
    [
        [(1, 1), (0, 0), (0, 0), (0, 0)],
        [(6, 5), (2, 1), (0, 0), (0, 0)],
        [(8, 7), (6, 4), (3, 1), (0, 0)],
        [(9, 7), (8, 6), (7, 5), (5, 3)],
        [(10, 7), (9, 6), (8, 5), (6, 3)],
        [(11, 7), (10, 6), (9, 5), (7, 4)],
        [(13, 15), (11, 6), (10, 5), (8, 4)],
        [(13, 11), (13, 14), (11, 5), (9, 4)],
        [(13, 8), (13, 10), (13, 13), (10, 4)],
        [(14, 15), (14, 14), (13, 9), (11, 4)],
        [(14, 11), (14, 10), (14, 13), (13, 12)],
        [(15, 15), (15, 14), (14, 9), (14, 12)],
        [(15, 11), (15, 10), (15, 13), (14, 8)],
        [(16, 15), (15, 1), (15, 9), (15, 12)],
        [(16, 11), (16, 14), (16, 13), (15, 8)],
        [(16, 7), (16, 10), (16, 9), (16, 12)],
        [(16, 4), (16, 6), (16, 5), (16, 8)],
    ],
    [
        [(2, 3), (0, 0), (0, 0), (0, 0)],
        [(6, 11), (2, 2), (0, 0), (0, 0)],
        [(6, 7), (5, 7), (3, 3), (0, 0)],
        [(7, 7), (6, 10), (6, 9), (4, 5)],
        [(8, 7), (6, 6), (6, 5), (4, 4)],
        [(8, 4), (7, 6), (7, 5), (5, 6)],
        [(9, 7), (8, 6), (8, 5), (6, 8)],
        [(11, 15), (9, 6), (9, 5), (6, 4)],
        [(11, 11), (11, 14), (11, 13), (7, 4)],
        [(12, 15), (11, 10), (11, 9), (9, 4)],
        [(12, 11), (12, 14), (12, 13), (11, 12)],
        [(12, 8), (12, 10), (12, 9), (11, 8)],
        [(13, 15), (13, 14), (13, 13), (12, 12)],
        [(13, 11), (13, 10), (13, 9), (13, 12)],
        [(13, 7), (14, 11), (13, 6), (13, 8)],
        [(14, 9), (14, 8), (14, 10), (13, 1)],
        [(14, 7), (14, 6), (14, 5), (14, 4)],
    ],
    [
        [(4, 15), (0, 0), (0, 0), (0, 0)],
        [(6, 15), (4, 14), (0, 0), (0, 0)],
        [(6, 11), (5, 15), (4, 13), (0, 0)],
        [(6, 8), (5, 12), (5, 14), (4, 12)],
        [(7, 15), (5, 10), (5, 11), (4, 11)],
        [(7, 11), (5, 8), (5, 9), (4, 10)],
        [(7, 9), (6, 14), (6, 13), (4, 9)],
        [(7, 8), (6, 10), (6, 9), (4, 8)],
        [(8, 15), (7, 14), (7, 13), (5, 13)],
        [(8, 11), (8, 14), (7, 10), (6, 12)],
        [(9, 15), (8, 10), (8, 13), (7, 12)],
        [(9, 11), (9, 14), (8, 9), (8, 12)],
        [(9, 8), (9, 10), (9, 13), (8, 8)],
        [(10, 13), (9, 7), (9, 9), (9, 12)],
        [(10, 9), (10, 12), (10, 11), (10, 10)],
        [(10, 5), (10, 8), (10, 7), (10, 6)],
        [(10, 1), (10, 4), (10, 3), (10, 2)],
    ],
];

/// Table 9-5 for nC = −1, the DC coefficients of chroma.
const COEFF_TOKEN_CHROMA_DC: [[Code; 4]; 5] = [
    [(2, 1), (0, 0), (0, 0), (0, 0)],
    [(6, 7), (1, 1), (0, 0), (0, 0)],
    [(6, 4), (6, 6), (3, 1), (0, 0)],
    [(6, 3), (7, 3), (7, 2), (6, 5)],
    [(6, 2), (8, 3), (8, 2), (7, 0)],
];

/// Tables 9-7 and 9-8: zeros before the last coefficient, `[total coefficients − 1][zeros]`.
const TOTAL_ZEROS: [&[Code]; 15] = [
    &[
        (1, 1),
        (3, 3),
        (3, 2),
        (4, 3),
        (4, 2),
        (5, 3),
        (5, 2),
        (6, 3),
        (6, 2),
        (7, 3),
        (7, 2),
        (8, 3),
        (8, 2),
        (9, 3),
        (9, 2),
        (9, 1),
    ],
    &[
        (3, 7),
        (3, 6),
        (3, 5),
        (3, 4),
        (3, 3),
        (4, 5),
        (4, 4),
        (4, 3),
        (4, 2),
        (5, 3),
        (5, 2),
        (6, 3),
        (6, 2),
        (6, 1),
        (6, 0),
    ],
    &[(4, 5), (3, 7), (3, 6), (3, 5), (4, 4), (4, 3), (3, 4), (3, 3), (4, 2), (5, 3), (5, 2), (6, 1), (5, 1), (6, 0)],
    &[(5, 3), (3, 7), (4, 5), (4, 4), (3, 6), (3, 5), (3, 4), (4, 3), (3, 3), (4, 2), (5, 2), (5, 1), (5, 0)],
    &[(4, 5), (4, 4), (4, 3), (3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (4, 2), (5, 1), (4, 1), (5, 0)],
    &[(6, 1), (5, 1), (3, 7), (3, 6), (3, 5), (3, 4), (3, 3), (3, 2), (4, 1), (3, 1), (6, 0)],
    &[(6, 1), (5, 1), (3, 5), (3, 4), (3, 3), (2, 3), (3, 2), (4, 1), (3, 1), (6, 0)],
    &[(6, 1), (4, 1), (5, 1), (3, 3), (2, 3), (2, 2), (3, 2), (3, 1), (6, 0)],
    &[(6, 1), (6, 0), (4, 1), (2, 3), (2, 2), (3, 1), (2, 1), (5, 1)],
    &[(5, 1), (5, 0), (3, 1), (2, 3), (2, 2), (2, 1), (4, 1)],
    &[(4, 0), (4, 1), (3, 1), (3, 2), (1, 1), (3, 3)],
    &[(4, 0), (4, 1), (2, 1), (1, 1), (3, 1)],
    &[(3, 0), (3, 1), (1, 1), (2, 1)],
    &[(2, 0), (2, 1), (1, 1)],
    &[(1, 0), (1, 1)],
];

/// Table 9-9 (a): the same for the DC coefficients of chroma.
const TOTAL_ZEROS_CHROMA_DC: [&[Code]; 3] =
    [&[(1, 1), (2, 1), (3, 1), (3, 0)], &[(1, 1), (2, 1), (2, 0)], &[(1, 1), (1, 0)]];

/// Table 9-10: zeros before a coefficient, `[zeros left − 1, at most 6][zeros]`.
const RUN_BEFORE: [&[Code]; 7] = [
    &[(1, 1), (1, 0)],
    &[(1, 1), (2, 1), (2, 0)],
    &[(2, 3), (2, 2), (2, 1), (2, 0)],
    &[(2, 3), (2, 2), (2, 1), (3, 1), (3, 0)],
    &[(2, 3), (2, 2), (3, 3), (3, 2), (3, 1), (3, 0)],
    &[(2, 3), (3, 0), (3, 1), (3, 3), (3, 2), (3, 5), (3, 4)],
    &[
        (3, 7),
        (3, 6),
        (3, 5),
        (3, 4),
        (3, 3),
        (3, 2),
        (3, 1),
        (4, 1),
        (5, 1),
        (6, 1),
        (7, 1),
        (8, 1),
        (9, 1),
        (10, 1),
        (11, 1),
    ],
];

/// Table 9-4: code number of coded_block_pattern, `[pattern]`, of Intra_4x4 macroblocks.
pub const PATTERN_INTRA: [u8; 48] = inverse([
    47, 31, 15, 0, 23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46, 16, 3, 5, 10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,
    2, 4, 8, 17, 18, 20, 24, 6, 9, 22, 25, 32, 33, 34, 36, 40, 38, 41,
]);

/// Table 9-4: code number of coded_block_pattern, `[pattern]`, of Inter macroblocks.
pub const PATTERN_INTER: [u8; 48] = inverse([
    0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45,
    46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
]);

const fn inverse(pattern_of: [u8; 48]) -> [u8; 48] {
    let mut code_of = [0; 48];
    let mut code = 0;
    while code < 48 {
        code_of[pattern_of[code] as usize] = code as u8;
        code += 1;
    }
    code_of
}

/// Which code of Table 9-5 a block uses.
#[derive(Clone, Copy)]
pub enum Context {
    /// Mean number of coefficients in the blocks to the left and above, nC.
    Neighbours(u8),
    /// DC coefficients of chroma, nC = −1.
    ChromaDc,
}

fn put(bits: &mut BitWriter, code: Code) {
    bits.put(u32::from(code.0), u32::from(code.1));
}

/// Appends one block of levels in scan order (9.2 read backwards); returns how many of them are not zero.
pub fn write_block(bits: &mut BitWriter, levels: &[i16], context: Context) -> u8 {
    // From the highest frequency down: the levels, and the zeros before each.
    let (mut level, mut run) = ([0i32; 16], [0usize; 16]);
    let (mut total, mut zeros) = (0, 0);
    for &value in levels.iter().rev() {
        if value != 0 {
            level[total] = i32::from(value);
            total += 1;
        } else if total > 0 {
            run[total - 1] += 1;
            zeros += 1;
        }
    }
    let ones = level[..total].iter().take(3).take_while(|l| l.abs() == 1).count();
    put(
        bits,
        match context {
            Context::ChromaDc => COEFF_TOKEN_CHROMA_DC[total][ones],
            Context::Neighbours(n @ 0..8) => COEFF_TOKEN[[0, 0, 1, 1, 2, 2, 2, 2][n as usize]][total][ones],
            Context::Neighbours(_) if total == 0 => (6, 3),
            Context::Neighbours(_) => (6, (total as u8 - 1) << 2 | ones as u8),
        },
    );
    if total == 0 {
        return 0;
    }
    for l in &level[..ones] {
        bits.flag(*l < 0);
    }
    write_levels(bits, &level[..total], ones);
    if total < levels.len() {
        put(
            bits,
            match context {
                Context::ChromaDc => TOTAL_ZEROS_CHROMA_DC[total - 1][zeros],
                Context::Neighbours(_) => TOTAL_ZEROS[total - 1][zeros],
            },
        );
    }
    for &zeros_before in &run[..total - 1] {
        if zeros == 0 {
            break;
        }
        put(bits, RUN_BEFORE[zeros.min(7) - 1][zeros_before]);
        zeros -= zeros_before;
    }
    total as u8
}

/// The levels after the trailing ones (9.2.2.1).
fn write_levels(bits: &mut BitWriter, level: &[i32], ones: usize) {
    let mut suffix_length = u32::from(level.len() > 10 && ones < 3);
    for (i, &l) in level.iter().enumerate().skip(ones) {
        let mut code = if l > 0 { 2 * l - 2 } else { -2 * l - 1 } as u32;
        if i == ones && ones < 3 {
            code -= 2; // it cannot be ±1, or it would be one of the trailing ones
        }
        if suffix_length == 0 && code < 14 {
            bits.put(code + 1, 1);
        } else if suffix_length == 0 && code < 30 {
            bits.put(15, 1);
            bits.put(4, code - 14);
        } else if suffix_length > 0 && code < 15 << suffix_length {
            bits.put((code >> suffix_length) + 1, 1);
            bits.put(suffix_length, code & ((1 << suffix_length) - 1));
        } else {
            // The longest escape of this profile; QP ≥ 12 keeps levels below it.
            bits.put(16, 1);
            bits.put(12, code - if suffix_length == 0 { 30 } else { 15 << suffix_length });
        }
        suffix_length = suffix_length.max(1);
        if l.abs() > 3 << (suffix_length - 1) && suffix_length < 6 {
            suffix_length += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kraft sum in units of 2⁻¹⁶, after checking that no word begins another.
    fn kraft(codes: &[Code]) -> u32 {
        for (i, a) in codes.iter().enumerate() {
            for b in &codes[i + 1..] {
                let (short, long) = if a.0 <= b.0 { (a, b) } else { (b, a) };
                assert_ne!(u16::from(long.1) >> (long.0 - short.0).min(15), u16::from(short.1), "{a:?} {b:?}");
            }
        }
        codes.iter().map(|c| 1 << (16 - c.0)).sum()
    }

    #[test]
    fn every_table_is_a_prefix_code_that_wastes_next_to_nothing() {
        let words = |rows: &[[Code; 4]]| rows.concat().into_iter().filter(|c| c.0 > 0).collect::<Vec<_>>();
        for table in &COEFF_TOKEN {
            let codes = words(table);
            assert_eq!(codes.len(), 62);
            assert!((65536 - 256..=65536).contains(&kraft(&codes)), "{}", kraft(&codes));
        }
        assert_eq!(words(&COEFF_TOKEN_CHROMA_DC).len(), 14);
        kraft(&words(&COEFF_TOKEN_CHROMA_DC));
        for (i, table) in TOTAL_ZEROS.iter().enumerate() {
            assert_eq!(table.len(), 16 - i);
            kraft(table);
        }
        for (i, table) in TOTAL_ZEROS_CHROMA_DC.iter().enumerate() {
            assert_eq!((table.len(), kraft(table)), (4 - i, 65536));
        }
        for (i, table) in RUN_BEFORE.iter().enumerate() {
            assert_eq!(table.len(), if i < 6 { i + 2 } else { 15 });
            kraft(table);
        }
        for pattern in [PATTERN_INTRA, PATTERN_INTER] {
            let mut codes = pattern;
            codes.sort_unstable();
            assert!(codes.iter().enumerate().all(|(i, &c)| i == c as usize));
        }
    }

    #[test]
    fn a_block_worked_by_hand() {
        // Levels 0 3 0 1 −1 −1 0 1 0 …: 5 coefficients, 3 trailing ones (+1, −1, −1 from the end), 3 zeros.
        let mut levels = [0i16; 16];
        levels[..8].copy_from_slice(&[0, 3, 0, 1, -1, -1, 0, 1]);
        let mut bits = BitWriter::default();
        assert_eq!(write_block(&mut bits, &levels, Context::Neighbours(0)), 5);
        // coeff_token 0000100, signs 0 1 1, levels +1 (code 0, prefix 1) and +3 (code 4, 001 0),
        // total_zeros 111, run_before: 1 of 3 → 10, 0 of 2 → 1, 0 of 2 → 1, 1 of 2 → 01.
        let expected = "0000100 011 1 0010 111 10 1 1 01 1".replace(' ', "");
        let text: String = bits.finish().iter().map(|b| format!("{b:08b}")).collect();
        assert!(text.starts_with(&expected), "{text}\n{expected}");
    }
}
