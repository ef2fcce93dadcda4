//! Numbers as people read them, in messages of every crate above this one.

pub use barchan_core::words::{count, many};

/// A time [s] to six digits in a unit that suits it: `2.5 s`, `0.02 s`, `15 µs`, `1 ns`.
pub fn seconds(time: f64) -> String {
    let (scaled, unit) = match time.abs() {
        t if t >= 1e-3 || t == 0.0 || !t.is_finite() => (time, "s"),
        t if t >= 1e-6 => (1e6 * time, "µs"),
        t if t >= 1e-12 => (1e9 * time, "ns"),
        _ => return format!("{time:.2e} s"),
    };
    let places = match scaled.abs() {
        s if s >= 1.0 && s.is_finite() => (5.0 - barchan_core::math::log10(s).floor()).max(0.0) as usize,
        _ => 6,
    };
    let text = format!("{scaled:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// A length [m]: `0.02 m`.
pub fn length(x: f64) -> String {
    crate::check::show(x, "m")
}

/// A share of memory: `512 kB`, `24 MB`, `1.8 GB`, `1.8 TB`, `3.1 PB`.
pub fn bytes(n: f64) -> String {
    match n {
        b if b < 1e6 => format!("{:.0} kB", (b / 1e3).max(1.0)),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b if b < 1e12 => format!("{:.1} GB", b / 1e9),
        b if b < 1e15 => format!("{:.1} TB", b / 1e12),
        b if b < 1e18 => format!("{:.1} PB", b / 1e15),
        b => format!("{:.1e} PB", b / 1e15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [count(7u64), count(1234u64), count(64_000u64), count(1_000_000u64)],
            ["7", "1,234", "64,000", "1,000,000"]
        );
        assert_eq!(
            [many(1u64, "thread"), many(2u64, "thread"), many(0u64, "grain")],
            ["1 thread", "2 threads", "0 grains"]
        );
        assert_eq!([bytes(10.0), bytes(24e6), bytes(1.8e9), bytes(3e12)], ["1 kB", "24 MB", "1.8 GB", "3.0 TB"]);
    }

    #[test]
    fn times_have_sensible_digits() {
        let said = [0.0, 1e-9, 1.5e-5, 0.02, 0.123_456_789, 12.3456789, 1234.56789, 100_000.0, 1e-15, 999.9999999];
        assert_eq!(
            said.map(seconds),
            [
                "0 s",
                "1 ns",
                "15 µs",
                "0.02 s",
                "0.123457 s",
                "12.3457 s",
                "1234.57 s",
                "100000 s",
                "1.00e-15 s",
                "1000 s"
            ]
        );
    }
}
