//! Bits in, bytes out: fixed-length and exponential-Golomb codes, and the wrapping of a payload into a NAL unit.

/// A growing string of bits, most significant first (ITU-T H.264, 7.2).
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// The last `pending` bits, right-aligned; fewer than 32 between calls.
    tail: u64,
    pending: u32,
}

impl BitWriter {
    /// Appends the low `length` bits of `value`, `length` ≤ 32: descriptor u(n).
    #[inline]
    pub fn put(&mut self, length: u32, value: u32) {
        debug_assert!(length <= 32 && (length == 32 || value >> length == 0));
        self.tail = self.tail << length | u64::from(value);
        self.pending += length;
        if self.pending >= 32 {
            self.pending -= 32;
            self.bytes.extend_from_slice(&((self.tail >> self.pending) as u32).to_be_bytes());
        }
    }

    /// Appends one bit: descriptor u(1).
    pub fn flag(&mut self, value: bool) {
        self.put(1, u32::from(value));
    }

    /// Appends an unsigned exponential-Golomb code: descriptor ue(v), 9.1.
    pub fn ue(&mut self, value: u32) {
        let length = ue_length(value);
        let zeros = length / 2;
        self.put(zeros, 0);
        self.put(zeros + 1, value + 1);
    }

    /// Appends a signed exponential-Golomb code: descriptor se(v), 9.1.1.
    pub fn se(&mut self, value: i32) {
        self.ue(signed_to_code(value));
    }

    /// The bytes with the stop bit and the zeros that fill the last byte: rbsp_trailing_bits, 7.3.2.11.
    pub fn finish(mut self) -> Vec<u8> {
        self.put(1, 1);
        self.put((8 - self.pending % 8) % 8, 0);
        while self.pending > 0 {
            self.pending -= 8;
            self.bytes.push((self.tail >> self.pending) as u8);
        }
        self.bytes
    }
}

/// Length of the code of [`BitWriter::ue`] [bit].
pub fn ue_length(value: u32) -> u32 {
    2 * (value + 1).ilog2() + 1
}

/// Length of the code of [`BitWriter::se`] [bit].
#[inline]
pub fn se_length(value: i32) -> u32 {
    ue_length(signed_to_code(value))
}

/// Table 9-3: 0, 1, −1, 2, −2 … become 0, 1, 2, 3, 4 …
#[inline]
fn signed_to_code(value: i32) -> u32 {
    if value > 0 { 2 * value as u32 - 1 } else { 2 * value.unsigned_abs() }
}

/// Kinds of NAL units used here (Table 7-1), with nal_ref_idc 3: every picture is referred to.
#[derive(Clone, Copy)]
pub enum Nal {
    /// Slice of a P picture.
    Slice = 0x61,
    /// Slice of a picture where decoding can start.
    Idr = 0x65,
    /// Sequence parameter set.
    Sequence = 0x67,
    /// Picture parameter set.
    Picture = 0x68,
}

/// A NAL unit of `payload`, with a byte 3 put where it would hold a start code (7.3.1, 7.4.1).
pub fn nal_unit(kind: Nal, payload: &[u8]) -> Vec<u8> {
    let mut unit = Vec::with_capacity(payload.len() + payload.len() / 64 + 4);
    unit.push(kind as u8);
    let mut zeros = 0;
    for &byte in payload {
        if zeros == 2 && byte <= 3 {
            unit.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        unit.push(byte);
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:08b}")).collect()
    }

    #[test]
    fn golomb_codes_are_those_of_the_standards_table() {
        // Table 9-1 and 9-3: code numbers 0…8 and their signed meaning.
        let mut bits = BitWriter::default();
        for value in [0, 1, -1, 2, -2, 3, -3, 4, -4] {
            bits.se(value);
        }
        let codes = ["1", "010", "011", "00100", "00101", "00110", "00111", "0001000", "0001001", "1"];
        assert!(text(&bits.finish()).starts_with(&codes.concat()));
        assert_eq!((0..9).map(ue_length).collect::<Vec<_>>(), [1, 3, 3, 5, 5, 5, 5, 7, 7]);
        assert_eq!(se_length(-4), 7);
    }

    #[test]
    fn long_values_cross_words_and_the_end_is_padded() {
        let mut bits = BitWriter::default();
        bits.put(5, 0b10101);
        bits.put(32, 0xdead_beef);
        bits.put(30, 0x2aaa_aaaa);
        let expected = format!("10101{:032b}{:030b}1", 0xdead_beef_u32, 0x2aaa_aaaa_u32);
        let bytes = bits.finish();
        assert_eq!(bytes.len(), expected.len().div_ceil(8));
        assert_eq!(text(&bytes), format!("{expected:0<width$}", width = bytes.len() * 8));
    }

    #[test]
    fn no_start_code_survives_in_a_unit() {
        let payload = [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 1];
        let unit = nal_unit(Nal::Idr, &payload);
        assert_eq!(unit, [0x65, 0, 0, 3, 0, 0, 3, 0, 1, 0, 0, 3, 2, 0, 0, 3, 3, 0, 0, 4, 1]);
    }
}
