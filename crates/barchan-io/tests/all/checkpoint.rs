//! The container: everything comes back to the last bit, and no altered file is taken for a good one.

use barchan_io::container::{Container, ContainerError, ContainerWriter};
use glam::DVec3;
use proptest::prelude::*;

fn sample() -> ContainerWriter {
    let mut writer = ContainerWriter::new(7);
    writer
        .put_f64s("position", &[1.0 / 3.0, -0.0, f64::NAN, f64::INFINITY, 5e-324])
        .put_f32s("force", &[0.1, f32::MIN_POSITIVE])
        .put_u8s("flags", &[0, 255])
        .put_u16s("material", &[0, 65_535])
        .put_u32s("id", &[u32::MAX])
        .put_u64s("random", &[u64::MAX, 1])
        .put_strings("names", &["sand", "", "Körner\n"])
        .put_vec3s("velocity", &[DVec3::X, DVec3::new(0.1, 0.2, 0.3)])
        .put_f64s("empty", &[]);
    writer
}

#[test]
fn every_type_comes_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    sample().write(&path).unwrap();
    let read = Container::read(&path).unwrap();
    assert_eq!(read.version(), 7);
    let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let position = vec![1.0 / 3.0, -0.0, f64::NAN, f64::INFINITY, 5e-324];
    assert_eq!(bits(read.f64s("position").unwrap()), bits(position));
    assert_eq!(read.f32s("force").unwrap(), [0.1, f32::MIN_POSITIVE]);
    assert_eq!(read.u8s("flags").unwrap(), [0, 255]);
    assert_eq!(read.u16s("material").unwrap(), [0, 65_535]);
    assert_eq!(read.u32s("id").unwrap(), [u32::MAX]);
    assert_eq!(read.u64s("random").unwrap(), [u64::MAX, 1]);
    assert_eq!(read.strings("names").unwrap(), ["sand", "", "Körner\n"]);
    assert_eq!(read.vec3s("velocity").unwrap(), [DVec3::X, DVec3::new(0.1, 0.2, 0.3)]);
    assert_eq!(read.f64s("empty").unwrap(), [0.0; 0]);
    assert_eq!(read.names().count(), 9);
    assert!(read.has("id") && !read.has("spin"));
    assert_eq!(sample().to_bytes().unwrap(), std::fs::read(&path).unwrap());
}

#[test]
fn what_is_not_there_or_of_another_type_is_named() {
    let read = Container::from_bytes(sample().to_bytes().unwrap()).unwrap();
    assert!(matches!(read.f64s("spin"), Err(ContainerError::Absent { name, .. }) if name == "spin"));
    let told = read.f32s("position").unwrap_err().to_string();
    assert!(told.contains("position") && told.contains("f64") && told.contains("f32"), "{told}");
    assert!(matches!(read.vec3s("position"), Err(ContainerError::Unlike { .. })), "five numbers are no vectors");
}

#[test]
fn two_sections_of_one_name_and_overlong_names_are_refused() {
    let twice = ContainerWriter::new(1).put_u8s("a", &[1]).put_f64s("a", &[2.0]).to_bytes();
    assert!(matches!(twice, Err(ContainerError::Name { name }) if name == "a"));
    assert!(ContainerWriter::new(1).put_u8s(&"n".repeat(256), &[]).to_bytes().is_err());
    assert!(ContainerWriter::new(1).put_u8s(&"n".repeat(255), &[]).to_bytes().is_ok());
}

#[test]
fn a_foreign_a_missing_and_a_newer_file_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    assert!(matches!(Container::read(&path), Err(ContainerError::File(_))));
    for foreign in [&b""[..], b"bar", b"PK\x03\x04 and so on"] {
        std::fs::write(&path, foreign).unwrap();
        assert!(matches!(Container::read(&path), Err(ContainerError::Foreign { .. })));
    }
    let mut newer = sample().to_bytes().unwrap();
    newer[8] = 2;
    let sum = crc32fast::hash(&newer[..20]);
    newer[20..24].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&path, newer).unwrap();
    assert!(matches!(Container::read(&path), Err(ContainerError::Newer { found: 2, .. })));
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let good = sample().to_bytes().unwrap();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            assert!(Container::from_bytes(bad).is_err(), "bit {bit} of byte {at}");
        }
        assert!(Container::from_bytes(good[..at].to_vec()).is_err(), "cut to {at}");
    }
    assert!(Container::from_bytes([&good[..], b"x"].concat()).is_err(), "one byte more");
}

/// A hostile file has right checksums: lengths and types must be checked as well.
fn hostile(count: u32, sections: &[(u8, &[u8], u64, &[u8])]) -> Vec<u8> {
    let mut bytes = b"barchan\x1a".to_vec();
    [1, 0, count].iter().for_each(|v: &u32| bytes.extend_from_slice(&v.to_le_bytes()));
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    for (kind, name, length, data) in sections {
        let rest = [&[*kind, name.len() as u8][..], name, &length.to_le_bytes(), data].concat();
        bytes.extend_from_slice(&crc32fast::hash(&rest).to_le_bytes());
        bytes.extend_from_slice(&rest);
    }
    bytes
}

#[test]
fn a_hostile_file_costs_an_error_and_no_memory() {
    let fine = (1, &b"a"[..], 1, &b"x"[..]);
    assert!(Container::from_bytes(hostile(1, &[fine])).is_ok());
    for bad in [
        hostile(u32::MAX, &[fine]),
        hostile(1, &[(6, b"a", u64::MAX, b"x")]),
        hostile(1, &[(6, b"a", 1 << 60, b"x")]),
        hostile(1, &[(6, b"a", 7, b"sevenby")]),
        hostile(1, &[(0, b"a", 0, b"")]),
        hostile(1, &[(99, b"a", 0, b"")]),
        hostile(1, &[(1, b"\xff", 0, b"")]),
        hostile(2, &[fine, fine]),
    ] {
        let told = Container::from_bytes(bad);
        assert!(matches!(told, Err(ContainerError::Damaged { .. })), "{told:?}");
    }
    for texts in [&[0xff; 8][..], &[1, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0, 0xff], &[2, 0, 0, 0, 0, 0, 0, 0, b'a']] {
        let read = Container::from_bytes(hostile(1, &[(7, b"t", texts.len() as u64, texts)])).unwrap();
        assert!(matches!(read.strings("t"), Err(ContainerError::Damaged { .. })), "{texts:?}");
    }
}

/// Reads all sections by all types; must return.
fn exhaust(bytes: Vec<u8>) {
    if let Ok(read) = Container::from_bytes(bytes) {
        for name in read.names() {
            let _ = (read.f64s(name), read.f32s(name), read.u8s(name), read.u16s(name));
            let _ = (read.u32s(name), read.u64s(name), read.strings(name), read.vec3s(name));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..300)) {
        exhaust(tail.clone());
        exhaust([b"barchan\x1a", &tail[..]].concat());
        exhaust([&hostile(3, &[])[..], &tail].concat());
    }

    #[test]
    fn well_summed_random_sections_never_panic(
        count in 0..4_u32,
        sections in prop::collection::vec(
            (0..9_u8, prop::collection::vec(any::<u8>(), 0..5), prop::option::of(any::<u64>()),
             prop::collection::vec(any::<u8>(), 0..40)), 0..4),
    ) {
        let sections: Vec<_> =
            sections.iter().map(|(k, n, l, d)| (*k, &n[..], l.unwrap_or(d.len() as u64), &d[..])).collect();
        exhaust(hostile(count, &sections));
    }

    #[test]
    fn altered_containers_are_refused(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..5),
    ) {
        let good = sample().to_bytes().unwrap();
        let mut bad = good.clone();
        for (at, change) in edits {
            bad[at.index(good.len())] ^= change;
        }
        prop_assume!(bad != good);
        prop_assert!(Container::from_bytes(bad).is_err());
    }

    #[test]
    fn any_numbers_come_back(values in prop::collection::vec(any::<u64>(), 0..50), texts in prop::collection::vec(any::<String>(), 0..9)) {
        let floats: Vec<f64> = values.iter().map(|v| f64::from_bits(*v)).collect();
        let bytes = ContainerWriter::new(1).put_f64s("f", &floats).put_strings("t", &texts).to_bytes().unwrap();
        let read = Container::from_bytes(bytes).unwrap();
        prop_assert_eq!(read.f64s("f").unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>(), values);
        prop_assert_eq!(read.strings("t").unwrap(), texts);
    }
}
