//! What is wrong with a file, and where.

/// Place and reason, before the file's name is added.
#[derive(Debug)]
pub(crate) struct Fault {
    pub place: String,
    pub what: String,
}

impl Fault {
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Fault {
        Fault { place: place.into(), what: what.into() }
    }
}
