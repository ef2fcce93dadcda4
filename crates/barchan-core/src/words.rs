//! Whole numbers as people read them.

/// `64,000`.
pub fn count(n: impl Into<u64>) -> String {
    let digits = n.into().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 thread`, `64,000 grains`; the plural takes an s.
pub fn many(n: impl Into<u64>, thing: &str) -> String {
    let n = n.into();
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}
