//! A state as named columns of numbers: what checkpoints are made of.

/// A column of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Doubles.
    F64(Vec<f64>),
    /// Singles.
    F32(Vec<f32>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
}

/// Columns by name, as they are saved.
pub type Columns = Vec<(String, Column)>;

/// Why saved columns cannot be taken up: a sentence on what is missing or damaged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the checkpoint does not fit: {0}")]
pub struct Unfit(
    /// What is missing or damaged.
    pub String,
);

impl Unfit {
    /// An error with this sentence.
    pub fn new(what: impl Into<String>) -> Unfit {
        Unfit(what.into())
    }
}

/// Saved columns, to be read by name.
#[derive(Clone, Copy)]
pub struct Saved<'a>(
    /// The column of a name.
    pub &'a dyn Fn(&str) -> Option<Column>,
);

impl Saved<'_> {
    /// A column that may be missing.
    pub fn find(&self, name: &str) -> Option<Column> {
        (self.0)(name)
    }

    /// Whether there is such a column.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// A column that must be there.
    pub fn get(&self, name: &str) -> Result<Column, Unfit> {
        self.find(name).ok_or_else(|| Unfit(format!("column {name} is missing")))
    }

    /// A column of doubles.
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>, Unfit> {
        match self.get(name)? {
            Column::F64(v) => Ok(v),
            Column::F32(_) | Column::U32(_) | Column::U64(_) => Err(wrong(name, "doubles")),
        }
    }

    /// A column of singles.
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>, Unfit> {
        match self.get(name)? {
            Column::F32(v) => Ok(v),
            Column::F64(_) | Column::U32(_) | Column::U64(_) => Err(wrong(name, "singles")),
        }
    }

    /// A column of 32-bit integers.
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>, Unfit> {
        match self.get(name)? {
            Column::U32(v) => Ok(v),
            Column::F64(_) | Column::F32(_) | Column::U64(_) => Err(wrong(name, "32-bit integers")),
        }
    }

    /// A column of 64-bit integers.
    pub fn u64s(&self, name: &str) -> Result<Vec<u64>, Unfit> {
        match self.get(name)? {
            Column::U64(v) => Ok(v),
            Column::F64(_) | Column::F32(_) | Column::U32(_) => Err(wrong(name, "64-bit integers")),
        }
    }

    /// A column of so many doubles.
    pub fn f64s_of(&self, name: &str, length: usize) -> Result<Vec<f64>, Unfit> {
        let v = self.f64s(name)?;
        of_length(name, v.len(), length)?;
        Ok(v)
    }

    /// A column of so many 64-bit integers.
    pub fn u64s_of(&self, name: &str, length: usize) -> Result<Vec<u64>, Unfit> {
        let v = self.u64s(name)?;
        of_length(name, v.len(), length)?;
        Ok(v)
    }
}

fn wrong(name: &str, what: &str) -> Unfit {
    Unfit(format!("column {name} does not hold {what}"))
}

/// An error unless a column has the expected number of values.
pub fn of_length(name: &str, found: usize, expected: usize) -> Result<(), Unfit> {
    if found == expected {
        Ok(())
    } else {
        Err(Unfit(format!("column {name} has {found} values in place of {expected}")))
    }
}

/// Start of a [`mix`]ed hash.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Takes 64 bits into a hash of a state (FNV-1a on whole words, with a rotation): equal bits, equal hash.
#[inline]
pub fn mix(hash: u64, bits: u64) -> u64 {
    (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
}
