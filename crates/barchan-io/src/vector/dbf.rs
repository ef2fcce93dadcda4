//! The table beside a shapefile (`.dbf`, dBASE III): a row of numbers and words for each record.

use super::Fault;
use std::collections::BTreeMap;

/// Numbers and words of a row, by their names in lower case.
pub(super) type Row = (BTreeMap<String, f64>, BTreeMap<String, String>);

struct Field {
    name: String,
    number: bool,
    from: usize,
    length: usize,
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Row>, Fault> {
    let short = || Fault::new("the table's end", "the file is cut short: copy or export it again");
    let head: &[u8; 32] = bytes.first_chunk().ok_or_else(short)?;
    let rows = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    let (start, width) =
        (usize::from(u16::from_le_bytes([head[8], head[9]])), u16::from_le_bytes([head[10], head[11]]));
    let width = usize::from(width);
    let (mut fields, mut at, mut from) = (Vec::new(), 32, 1);
    while at < start && bytes.get(at).is_some_and(|b| *b != 0x0d) {
        let field: &[u8] = bytes.get(at..at + 32).ok_or_else(short)?;
        let name = String::from_utf8_lossy(field[..11].split(|b| *b == 0).next().unwrap_or_default());
        let length = usize::from(field[16]);
        fields.push(Field { name: name.trim().to_lowercase(), number: matches!(field[11], b'N' | b'F'), from, length });
        (at, from) = (at + 32, from + length);
    }
    let needed = rows.checked_mul(width).and_then(|n| n.checked_add(start));
    if from > width.max(1) || needed.is_none_or(|n| n > bytes.len()) {
        return Err(short());
    }
    let row = |k: usize| {
        let row = &bytes[start + k * width..][..width];
        let (mut numbers, mut words) = (BTreeMap::new(), BTreeMap::new());
        for f in &fields {
            let text = String::from_utf8_lossy(&row[f.from..f.from + f.length]).trim().to_owned();
            match text.parse::<f64>() {
                Ok(x) if f.number && x.is_finite() => drop(numbers.insert(f.name.clone(), x)),
                _ if text.is_empty() => {}
                _ => drop(words.insert(f.name.clone(), text)),
            }
        }
        (numbers, words)
    };
    Ok((0..rows).map(row).collect())
}
