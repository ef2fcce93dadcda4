//! Cases run side by side, each on threads of its own: most worlds here are too small for two threads to be worth it.

use crate::report::Entry;
use crate::{Bench, Case};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};

/// Cases that take long at every size, longest first. They are begun first, so that none of them is left to the end alone; those that
/// only look at beds come after those that build them.
const LONG: [&str; 9] = [
    "forces-loaded",
    "forces-frictionless",
    "repose",
    "zhou",
    "chute",
    "forces",
    "collapse",
    "orifice",
    "close-packing",
];

/// Runs cases on so many threads, hands each to `ended` as it ends, and gives all in the order of `cases`. No case is begun any more
/// once `stopped` says so.
pub fn run(
    cases: &[&'static Case],
    bench: &Bench,
    threads: usize,
    stopped: &(dyn Fn() -> bool + Sync),
    ended: &mut dyn FnMut(&Entry),
) -> Vec<Entry> {
    let rank = |n: &usize| LONG.iter().position(|name| *name == cases[*n].name).unwrap_or(LONG.len());
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(rank);
    let queue = Mutex::new(VecDeque::from(order));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let workers = threads.min(cases.len()).max(1);
    let (send, receive) = mpsc::channel();
    let mut entries: Vec<(usize, Entry)> = std::thread::scope(|scope| {
        for _ in 0..workers {
            let send = send.clone();
            scope.spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.div_ceil(workers)).build();
                while let Some(n) = next().filter(|_| !stopped()) {
                    let run = || Entry::run(cases[n], bench);
                    // Without threads to be had, on this one and rayon's own.
                    let entry = pool.as_ref().map_or_else(|_| run(), |pool| pool.install(run));
                    if send.send((n, entry)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        receive.iter().inspect(|(_, entry)| ended(entry)).collect()
    });
    entries.sort_by_key(|e| e.0);
    entries.into_iter().map(|e| e.1).collect()
}
