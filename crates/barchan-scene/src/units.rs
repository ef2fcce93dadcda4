//! Quantities with units: `"1.5 g/cm3"` becomes 1500 where a density is expected, and an error where it is not.
//!
//! A unit is a product of symbols, each with an SI prefix and an exponent: `N s/m`, `N/m^1.5`, `kg/(m s)`, `/s`, `%`.
//! A slash divides by everything up to the next slash. The angle is a dimension of its own, so that `12 rpm` (an angular rate)
//! and `0.2 Hz` (a frequency) cannot be taken for each other although SI calls both 1/s.

use barchan_core::math;
use std::fmt;

/// Exponents of length, mass, time and angle, in halves (so that N/m^1.5 can be written).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension([i16; 4]);

impl Dimension {
    const fn new(length: i16, mass: i16, time: i16, angle: i16) -> Self {
        Self([2 * length, 2 * mass, 2 * time, 2 * angle])
    }

    /// Whether this is a pure number.
    pub fn is_number(self) -> bool {
        self == Self::default()
    }

    /// Whole powers of length, mass and time.
    pub(crate) fn powers(self) -> [i32; 3] {
        std::array::from_fn(|i| i32::from(self.0[i] / 2))
    }

    fn add(self, other: Self, halves: i16) -> Self {
        // Saturating: absurd exponents are typing errors, they must not overflow.
        Self(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i].saturating_mul(halves) / 2)))
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(q) = Quantity::ALL.iter().find(|q| q.dimension == *self) {
            return write!(f, "{} ({})", q.name, q.unit);
        }
        let mut first = true;
        for (symbol, halves) in ["m", "kg", "s", "rad"].iter().zip(self.0) {
            if halves != 0 {
                write!(f, "{}{symbol}", if first { "" } else { " " })?;
                first = false;
                if halves != 2 {
                    write!(f, "^{}", f64::from(halves) / 2.0)?;
                }
            }
        }
        Ok(())
    }
}

/// What a key of a scene measures: its name, SI unit and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name with its article, for messages: "a length".
    pub name: &'static str,
    /// SI unit a bare number has; empty for a pure number.
    pub unit: &'static str,
    /// A string that would be accepted.
    pub example: &'static str,
    /// Dimension that is required.
    pub dimension: Dimension,
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $unit:literal, $example:literal, [$l:literal, $m:literal, $t:literal, $a:literal];)*) => {
        impl Quantity {
            $($(#[$doc])* pub const $id: Self =
                Self { name: $name, unit: $unit, example: $example, dimension: Dimension::new($l, $m, $t, $a) };)*
            /// Every quantity a scene knows.
            pub const ALL: &'static [Self] = &[$(Self::$id),*, Self::HERTZ_STIFFNESS];
        }
    };
}

quantities! {
    /// A pure number.
    NUMBER = "a pure number", "", "50 %", [0, 0, 0, 0];
    /// Length [m].
    LENGTH = "a length", "m", "2 mm", [1, 0, 0, 0];
    /// Area [m²].
    AREA = "an area", "m2", "4 cm2", [2, 0, 0, 0];
    /// Time [s].
    TIME = "a time", "s", "5 ms", [0, 0, 1, 0];
    /// Mass [kg].
    MASS = "a mass", "kg", "20 g", [0, 1, 0, 0];
    /// Moment of inertia [kg m²].
    INERTIA = "a moment of inertia", "kg m2", "2 kg cm2", [2, 1, 0, 0];
    /// Angle [rad].
    ANGLE = "an angle", "rad", "30 deg", [0, 0, 0, 1];
    /// Velocity [m/s].
    VELOCITY = "a velocity", "m/s", "10 cm/s", [1, 0, -1, 0];
    /// Acceleration [m/s²].
    ACCELERATION = "an acceleration", "m/s2", "9.81 m/s2", [1, 0, -2, 0];
    /// Angular rate [rad/s].
    ANGULAR_RATE = "an angular rate", "rad/s", "12 rpm", [0, 0, -1, 1];
    /// Frequency, or number per time [1/s].
    FREQUENCY = "a frequency", "1/s", "10 Hz", [0, 0, -1, 0];
    /// Mass per time [kg/s].
    MASS_RATE = "a mass per time", "kg/s", "0.1 kg/s", [0, 1, -1, 0];
    /// Density [kg/m³].
    DENSITY = "a density", "kg/m3", "2.5 g/cm3", [-3, 1, 0, 0];
    /// Pressure, stress or elastic modulus [Pa].
    PRESSURE = "a pressure", "Pa", "10 MPa", [-1, 1, -2, 0];
    /// Force [N].
    FORCE = "a force", "N", "5 N", [1, 1, -2, 0];
    /// Pressure per length [Pa/m].
    SUBGRADE = "a modulus of subgrade reaction", "Pa/m", "100 MPa/m", [-2, 1, -2, 0];
    /// Torque [N m].
    TORQUE = "a torque", "N m", "20 N m", [2, 1, -2, 0];
    /// Energy [J].
    ENERGY = "an energy", "J", "1 mJ", [2, 1, -2, 0];
    /// Spring stiffness [N/m].
    STIFFNESS = "a stiffness", "N/m", "100 kN/m", [0, 1, -2, 0];
    /// Energy per area [J/m²]: the dimension of a stiffness, under its own name.
    SURFACE_ENERGY = "a surface energy", "J/m2", "50 mJ/m2", [0, 1, -2, 0];
    /// Viscosity [Pa s].
    VISCOSITY = "a viscosity", "Pa s", "18 uPa s", [-1, 1, -1, 0];
    /// Force per velocity [N s/m].
    DAMPING = "a damping", "N s/m", "0.1 N s/m", [0, 1, -1, 0];
}

impl Quantity {
    /// Stiffness of a contact whose force grows as overlap^1.5 [N/m^1.5].
    pub const HERTZ_STIFFNESS: Self = Self {
        name: "a Hertzian stiffness",
        unit: "N/m^1.5",
        example: "1e8 N/m^1.5",
        dimension: Dimension([-1, 2, -4, 0]),
    };

    /// "a length (m)", for messages.
    pub fn describe(&self) -> String {
        if self.unit.is_empty() { self.name.into() } else { format!("{} ({})", self.name, self.unit) }
    }

    /// The value in SI of a text such as `2 mm`; the error is one sentence without the remedy.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let (value, dimension) = parse(text)?;
        if dimension == self.dimension {
            Ok(value)
        } else if dimension.is_number() {
            Err(format!("expected {}, found a number without a unit in quotes", self.describe()))
        } else {
            Err(format!("expected {}, found {dimension}", self.describe()))
        }
    }
}

/// Symbols with their factor to SI, their dimension, and whether they take SI prefixes.
const SYMBOLS: &[(&str, f64, Dimension, bool)] = &[
    ("m", 1.0, Dimension::new(1, 0, 0, 0), true),
    ("in", 0.0254, Dimension::new(1, 0, 0, 0), false),
    ("ft", 0.3048, Dimension::new(1, 0, 0, 0), false),
    ("l", 1e-3, Dimension::new(3, 0, 0, 0), true),
    ("L", 1e-3, Dimension::new(3, 0, 0, 0), true),
    ("g", 1e-3, Dimension::new(0, 1, 0, 0), true),
    ("t", 1e3, Dimension::new(0, 1, 0, 0), false),
    ("lb", 0.453_592_37, Dimension::new(0, 1, 0, 0), false),
    ("s", 1.0, Dimension::new(0, 0, 1, 0), true),
    ("min", 60.0, Dimension::new(0, 0, 1, 0), false),
    ("h", 3600.0, Dimension::new(0, 0, 1, 0), false),
    ("rad", 1.0, Dimension::new(0, 0, 0, 1), true),
    ("deg", std::f64::consts::PI / 180.0, Dimension::new(0, 0, 0, 1), false),
    ("°", std::f64::consts::PI / 180.0, Dimension::new(0, 0, 0, 1), false),
    ("rev", std::f64::consts::TAU, Dimension::new(0, 0, 0, 1), false),
    ("rpm", std::f64::consts::TAU / 60.0, Dimension::new(0, 0, -1, 1), false),
    ("Hz", 1.0, Dimension::new(0, 0, -1, 0), true),
    ("N", 1.0, Dimension::new(1, 1, -2, 0), true),
    ("Pa", 1.0, Dimension::new(-1, 1, -2, 0), true),
    ("bar", 1e5, Dimension::new(-1, 1, -2, 0), true),
    ("psi", 6_894.757_293_168, Dimension::new(-1, 1, -2, 0), false),
    ("J", 1.0, Dimension::new(2, 1, -2, 0), true),
    ("W", 1.0, Dimension::new(2, 1, -3, 0), true),
    ("%", 0.01, Dimension::new(0, 0, 0, 0), false),
    ("‰", 0.001, Dimension::new(0, 0, 0, 0), false),
];

/// SI prefixes and their powers of ten.
const PREFIXES: &[(&str, i32)] = &[
    ("p", -12),
    ("n", -9),
    ("µ", -6),
    ("μ", -6),
    ("u", -6),
    ("m", -3),
    ("c", -2),
    ("d", -1),
    ("k", 3),
    ("M", 6),
    ("G", 9),
];

/// Every unit symbol, for the schema's pattern: (symbols without prefix, symbols with, prefixes).
pub(crate) fn symbols() -> (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>) {
    let plain = SYMBOLS.iter().filter(|s| !s.3).map(|s| s.0).collect();
    let prefixed = SYMBOLS.iter().filter(|s| s.3).map(|s| s.0).collect();
    (plain, prefixed, PREFIXES.iter().map(|p| p.0).collect())
}

/// A factor to SI kept as mantissa and power of ten, so that `2 mm` is 0.002 to the last bit where possible.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    ten: i32,
}

/// Splits a text into value (SI) and dimension.
pub fn parse(text: &str) -> Result<(f64, Dimension), String> {
    let text = text.trim();
    let (number, unit) = split_number(text)?;
    let (scale, dimension) = unit_of(unit.trim())?;
    // A decimal shift is applied to the text of the number: "2" with 10^-3 is "2e-3", which rounds once.
    let shifted = shift(number, scale.ten).ok_or_else(|| format!("`{number}` is not a number"))?;
    let value = shifted * scale.factor;
    if value.is_finite() { Ok((value, dimension)) } else { Err(format!("`{text}` is too large")) }
}

fn shift(number: &str, ten: i32) -> Option<f64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    format!("{mantissa}e{}", exponent.saturating_add(ten)).parse().ok()
}

/// The longest start of the text that is a decimal number, and the rest.
fn split_number(text: &str) -> Result<(&str, &str), String> {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        let start = i;
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        (i, i - start)
    };
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let (after, whole) = digits(end);
    end = after;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        (end, fraction) = digits(end + 1);
    }
    if whole + fraction == 0 {
        return Err(format!("`{text}` does not start with a number"));
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let (after, n) = digits(end + 1 + sign);
        if n > 0 {
            end = after;
        }
    }
    Ok(text.split_at(end))
}

fn unit_of(unit: &str) -> Result<(Scale, Dimension), String> {
    let mut scale = Scale { factor: 1.0, ten: 0 };
    let mut dimension = Dimension::default();
    for (i, part) in unit.split('/').enumerate() {
        let part = part.trim();
        let part = if i > 0 { part.strip_prefix('(').and_then(|p| p.strip_suffix(')')).unwrap_or(part) } else { part };
        if part.is_empty() && i > 0 {
            return Err(format!("nothing follows the slash in the unit `{unit}`"));
        }
        for symbol in part.split([' ', '*', '·', '⋅']).filter(|s| !s.is_empty()) {
            if symbol == "1" {
                continue; // as in `1/s`
            }
            let (name, halves) = exponent(symbol).ok_or_else(|| format!("`{symbol}` has no readable exponent"))?;
            let (one, d) = lookup(name).ok_or_else(|| unknown(name))?;
            let halves = if i > 0 { -halves } else { halves };
            dimension = dimension.add(d, halves);
            if halves % 2 == 0 {
                scale.ten += one.ten * i32::from(halves / 2);
                scale.factor *= one.factor.powi(i32::from(halves / 2));
            } else {
                scale.factor *= math::powf(one.factor * 10f64.powi(one.ten), f64::from(halves) / 2.0);
            }
        }
    }
    Ok((scale, dimension))
}

/// `m2`, `m^2`, `m²`, `s^-1`, `m^1.5` into symbol and exponent in halves.
fn exponent(symbol: &str) -> Option<(&str, i16)> {
    if let Some(name) = symbol.strip_suffix('²') {
        return Some((name, 4));
    }
    if let Some(name) = symbol.strip_suffix('³') {
        return Some((name, 6));
    }
    let at = symbol.find(|c: char| c == '^' || c == '-' || c.is_ascii_digit()).unwrap_or(symbol.len());
    let (name, power) = symbol.split_at(at);
    if power.is_empty() {
        return Some((name, 2));
    }
    let value: f64 = power.strip_prefix('^').unwrap_or(power).parse().ok()?;
    let halves = 2.0 * value;
    (halves.fract() == 0.0 && halves.abs() <= 24.0).then_some((name, halves as i16))
}

fn lookup(name: &str) -> Option<(Scale, Dimension)> {
    if let Some(s) = SYMBOLS.iter().find(|s| s.0 == name) {
        return Some((decimal(s.1), s.2));
    }
    PREFIXES.iter().find_map(|&(prefix, ten)| {
        let rest = name.strip_prefix(prefix)?;
        let s = SYMBOLS.iter().find(|s| s.3 && s.0 == rest)?;
        let base = decimal(s.1);
        Some((Scale { factor: base.factor, ten: base.ten + ten }, s.2))
    })
}

/// Factors that are powers of ten become decimal shifts.
fn decimal(factor: f64) -> Scale {
    let ten = (math::ln(factor) / std::f64::consts::LN_10).round();
    if (factor / math::powf(10.0, ten) - 1.0).abs() < 1e-12 {
        Scale { factor: 1.0, ten: ten as i32 }
    } else {
        Scale { factor, ten: 0 }
    }
}

fn unknown(name: &str) -> String {
    let common = [
        "mm", "cm", "m", "km", "g", "kg", "ms", "s", "min", "Pa", "kPa", "MPa", "GPa", "N", "kN", "deg", "rad", "rpm",
        "Hz", "J",
    ];
    let near = common.iter().filter(|c| c.eq_ignore_ascii_case(name) || strsim::levenshtein(c, name) == 1);
    match near.min_by_key(|c| (!c.eq_ignore_ascii_case(name), c.len().abs_diff(name.len()))) {
        Some(c) if !name.is_empty() => format!("`{name}` is not a unit; did you mean `{c}`?"),
        _ => format!("`{name}` is not a unit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_of_the_reference_read_exactly() {
        for (q, text, si) in [
            (Quantity::LENGTH, "2 mm", 0.002),
            (Quantity::LENGTH, "5cm", 0.05),
            (Quantity::LENGTH, "-1.5e2 µm", -1.5e-4),
            (Quantity::LENGTH, "1 in", 0.0254),
            (Quantity::PRESSURE, "10 MPa", 1e7),
            (Quantity::PRESSURE, "1 N/mm2", 1e6),
            (Quantity::ANGLE, "180 deg", std::f64::consts::PI),
            (Quantity::ANGULAR_RATE, "60 rpm", std::f64::consts::TAU),
            (Quantity::ANGULAR_RATE, "1 rev/s", std::f64::consts::TAU),
            (Quantity::DENSITY, "1.5 g/cm3", 1500.0),
            (Quantity::DENSITY, "1.5 g/cm³", 1500.0),
            (Quantity::SURFACE_ENERGY, "0.05 J/m2", 0.05),
            (Quantity::MASS_RATE, "2 kg/s", 2.0),
            (Quantity::MASS_RATE, "36 kg/h", 0.01),
            (Quantity::FREQUENCY, "500 /s", 500.0),
            (Quantity::FREQUENCY, "500 1/s", 500.0),
            (Quantity::FREQUENCY, "500 s^-1", 500.0),
            (Quantity::NUMBER, "50 %", 0.5),
            (Quantity::NUMBER, "0.5", 0.5),
            (Quantity::DAMPING, "0.1 N s/m", 0.1),
            (Quantity::DAMPING, "0.1 N·s/m", 0.1),
            (Quantity::HERTZ_STIFFNESS, "1e8 N/m^1.5", 1e8),
            (Quantity::TIME, "1e-5 s", 1e-5),
            (Quantity::AREA, "4 cm2", 4e-4),
            (Quantity::ACCELERATION, "9.81 m/s^2", 9.81),
        ] {
            let got = q.parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!((got - si).abs() <= 1e-15 * si.abs(), "{text}: {got} against {si}");
        }
        assert_eq!(Quantity::LENGTH.parse("2 mm"), Ok(0.002), "a decimal prefix rounds once");
        assert_eq!(Quantity::LENGTH.parse("1.1 mm"), Ok(0.0011));
    }

    #[test]
    fn wrong_dimensions_and_units_are_named() {
        assert_eq!(Quantity::LENGTH.parse("10 MPa").unwrap_err(), "expected a length (m), found a pressure (Pa)");
        assert_eq!(
            Quantity::ANGULAR_RATE.parse("2 Hz").unwrap_err(),
            "expected an angular rate (rad/s), found a frequency (1/s)"
        );
        assert_eq!(Quantity::LENGTH.parse("3 mn").unwrap_err(), "`mn` is not a unit; did you mean `mm`?");
        assert_eq!(Quantity::PRESSURE.parse("3 mpa").unwrap_err(), "`mpa` is not a unit; did you mean `MPa`?");
        assert_eq!(Quantity::LENGTH.parse("two mm").unwrap_err(), "`two mm` does not start with a number");
        assert!(Quantity::LENGTH.parse("2 m/").unwrap_err().contains("nothing follows the slash"));
        assert!(Quantity::LENGTH.parse("5").unwrap_err().contains("number without a unit"));
        assert!(Quantity::NUMBER.parse("1e999").unwrap_err().contains("too large"));
        assert!(Quantity::LENGTH.parse("1 m^0.3").unwrap_err().contains("exponent"));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_finite_value_or_an_error(text in ".{0,30}") {
            if let Ok((value, _)) = parse(&text) {
                prop_assert!(value.is_finite());
            }
        }

        #[test]
        fn a_prefix_is_its_power_of_ten(value in -1e6..1e6f64, which in 0..PREFIXES.len()) {
            let (prefix, ten) = PREFIXES[which];
            let got = Quantity::PRESSURE.parse(&format!("{value:e} {prefix}Pa")).unwrap();
            let exact = value * 10f64.powi(ten);
            prop_assert!((got - exact).abs() <= 1e-15 * exact.abs() * 4.0);
        }

        #[test]
        fn multiplying_and_dividing_by_a_unit_cancel(which in 0..SYMBOLS.len(), power in 1..4) {
            let s = SYMBOLS[which].0;
            let (value, dimension) = parse(&format!("7 {s}^{power}/{s}^{power}")).unwrap();
            prop_assert!(dimension.is_number());
            prop_assert!((value - 7.0).abs() < 1e-12);
        }

        #[test]
        fn a_bare_number_survives(value in proptest::num::f64::NORMAL) {
            prop_assert_eq!(parse(&format!("{value:e}")).unwrap().0, value);
        }
    }
}
