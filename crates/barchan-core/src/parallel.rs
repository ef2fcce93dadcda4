//! Threads that stay awake from one pass of a step to the next.
//!
//! A step hands work to the other threads a few times a millisecond. Between two passes they find nothing to do and rayon lets them sleep,
//! after some ten microseconds; to wake one takes five, on a virtual machine up to a hundred, by when the pass may be over. So whoever steps
//! asks the others to go on looking for a while.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// For how long a thread looks for work that does not come: longer than what is done by one thread between two passes.
const PATIENCE: Duration = Duration::from_micros(300);

thread_local! {
    /// Whether this thread is in a step of its own, or looks for work already.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// Those who look for work on behalf of one solver.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Threads that were asked and have not answered.
    asked: AtomicUsize,
    /// Threads that look.
    looking: AtomicUsize,
}

impl Watch {
    /// Runs something whose passes follow each other closely, with the pool's other threads awake.
    pub fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        let outer = ENGAGED.replace(true);
        self.call();
        let out = run();
        ENGAGED.set(outer);
        out
    }

    /// Asks the other threads to look for work, unless they do.
    fn call(&self) {
        let own = rayon::current_thread_index();
        let others = rayon::current_num_threads() - usize::from(own.is_some());
        let Counts { asked, looking } = &*self.0;
        // No order with other memory: at worst a thread is asked twice, or in the next step.
        if asked.load(Ordering::Relaxed) > 0 || looking.load(Ordering::Relaxed) >= others {
            return;
        }
        asked.store(others, Ordering::Relaxed);
        let watch = self.clone();
        rayon::spawn_broadcast(move |thread| {
            if Some(thread.index()) != own {
                watch.0.asked.fetch_sub(1, Ordering::Relaxed);
                // A thread that waits within its own step must not be kept from going on.
                if !ENGAGED.replace(true) {
                    watch.look();
                    ENGAGED.set(false);
                }
            }
        });
    }

    /// Does what there is to do, until there has been nothing for a while.
    fn look(&self) {
        self.0.looking.fetch_add(1, Ordering::Relaxed);
        let mut last = Instant::now();
        while last.elapsed() < PATIENCE {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                last = Instant::now();
            } else {
                // Whoever else wants the processor goes first.
                std::thread::yield_now();
            }
        }
        self.0.looking.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Passes that follow each other, some of them in pieces.
    fn passes(watch: &Watch) -> u64 {
        (0..200).map(|k| watch.during(|| (0..64u64).into_par_iter().map(|i| i * k).sum::<u64>())).sum()
    }

    const EXPECTED: u64 = 63 * 32 * 199 * 100;

    #[test]
    fn threads_that_look_do_the_work_and_then_sleep() {
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let watch = Watch::default();
            assert_eq!(pool.install(|| passes(&watch)), EXPECTED);
            let start = Instant::now();
            while watch.0.looking.load(Ordering::Relaxed) > 0 {
                assert!(start.elapsed() < Duration::from_secs(10), "{threads} threads: they look for ever");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn whoever_steps_is_not_kept_by_another_who_does() {
        // Each of both threads steps a solver of its own and asks the other to look: neither may, or both would wait.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let found = pool.install(|| rayon::join(|| passes(&Watch::default()), || passes(&Watch::default())));
        assert_eq!(found, (EXPECTED, EXPECTED));
    }

    #[test]
    fn it_works_outside_a_pool() {
        assert_eq!(passes(&Watch::default()), EXPECTED);
    }
}
