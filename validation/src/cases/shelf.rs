//! What several cases look at is made once a process, and kept.

use crate::CaseError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a mutex holds, also after somebody panicked: all that is kept here is whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thing, or nothing yet; locked while it is made, so that others wait for this one alone.
type Place<V> = Arc<Mutex<Option<Arc<V>>>>;

/// Things by their keys.
pub struct Shelf<K, V>(Mutex<Vec<(K, Place<V>)>>);

impl<K: PartialEq, V> Shelf<K, V> {
    pub const fn new() -> Self {
        Shelf(Mutex::new(Vec::new()))
    }

    /// The thing of that key, made where it was not yet.
    pub fn get(&self, key: K, make: impl FnOnce() -> Result<V, CaseError>) -> Result<Arc<V>, CaseError> {
        let place = self.place(key);
        let mut kept = locked(&place);
        if let Some(thing) = &*kept {
            return Ok(thing.clone());
        }
        let thing = Arc::new(make()?);
        *kept = Some(thing.clone());
        Ok(thing)
    }

    fn place(&self, key: K) -> Place<V> {
        let mut all = locked(&self.0);
        if let Some((_, place)) = all.iter().find(|p| p.0 == key) {
            return place.clone();
        }
        let place = Place::default();
        all.push((key, place.clone()));
        place
    }
}
