//! Passes of a step on several threads, which stay awake from one to the next.
//!
//! A step hands work to the other threads a few times a millisecond. Between two passes they find nothing to do and rayon lets them sleep,
//! after some ten microseconds; to wake one takes five, on a virtual machine up to a hundred, by when the pass may be over. So whoever steps
//! asks the others to go on looking for a while ([`Watch`]), and stays awake himself at the end of a pass ([`run`]).

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// For how long a thread looks for work that does not come: longer than what is done by one thread between two passes.
const PATIENCE: Duration = Duration::from_micros(300);

/// For how long whoever waits for the last tasks of a pass stays awake. A thread that is at work on one needs less than that; one whose
/// processor was taken away needs milliseconds, and gets this thread's processor sooner if it is left idle.
const LINGER: Duration = Duration::from_micros(100);

thread_local! {
    /// Whether this thread is in a step of its own, or looks for work already.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives its thread is not asked to look for work.
struct Engaged {
    before: bool,
}

impl Engaged {
    fn new() -> Engaged {
        Engaged { before: ENGAGED.replace(true) }
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGED.set(self.before);
    }
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
        let _engaged = Engaged::new();
        self.call();
        run()
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
                if !ENGAGED.get() {
                    let _engaged = Engaged::new();
                    watch.look();
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
                thread::yield_now();
            }
        }
        self.0.looking.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stretch of tasks: its thread takes them from the front, the others, when theirs are done, from the back.
struct Stretch(AtomicU64);

impl Stretch {
    fn new(range: Range<usize>) -> Stretch {
        Stretch(AtomicU64::new((range.start as u64) << 32 | range.end as u64))
    }

    /// A task from the front or from the back.
    fn take(&self, front: bool) -> Option<usize> {
        let ends = |both: u64| (both >> 32, both & u64::from(u32::MAX));
        let left = |both: u64| {
            let (start, end) = ends(both);
            (start < end).then(|| if front { (start + 1) << 32 | end } else { start << 32 | (end - 1) })
        };
        // Which task is whose is all that is agreed on here: what they write is seen to by the locks.
        let both = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).ok()?;
        let (start, end) = ends(both);
        Some(if front { start } else { end - 1 } as usize)
    }
}

/// Tasks of a pass that are not done, and who waits for them.
struct Undone {
    tasks: AtomicUsize,
    waiter: OnceLock<Thread>,
}

impl Undone {
    /// Names this thread as the one who waits. To be called before others are given tasks.
    fn awaited_here(&self) {
        self.waiter.get_or_init(thread::current);
    }

    /// Returns when all tasks are done: soon, awake; later, woken by whoever does the last.
    fn wait(&self) {
        let start = Instant::now();
        while self.tasks.load(Ordering::Acquire) > 0 {
            if start.elapsed() < LINGER {
                thread::yield_now();
            } else {
                thread::park();
            }
        }
    }
}

/// A task under way. One that panics counts as done: nobody shall wait for it.
struct UnderWay<'a>(&'a Undone);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // Not lost on a waiter who is about to park: to be woken before makes the next `park` return at once.
        if self.0.tasks.fetch_sub(1, Ordering::Release) == 1
            && let Some(waiter) = self.0.waiter.get()
        {
            waiter.unpark();
        }
    }
}

/// Runs the tasks of one pass on the pool's threads, at least `least` for each, and gives what they return, in their order.
///
/// Each thread begins with the same stretch of tasks in every pass, whose data its cache has. Whoever is done with his own takes those of
/// others one by one; and whoever waits for the last of them does not sleep at once: on a machine that others use too, to be woken takes as
/// long as the pass.
pub fn run<T: Send, O: Send>(tasks: Vec<T>, least: usize, run: impl Fn(T) -> O + Sync) -> Vec<O> {
    let threads = rayon::current_num_threads().min(tasks.len() / least.max(1));
    if threads < 2 {
        return tasks.into_iter().map(run).collect();
    }
    let count = tasks.len();
    let stretch = |t: usize| Stretch::new(count * t / threads..count * (t + 1) / threads);
    let stretches: Vec<Stretch> = (0..threads).map(stretch).collect();
    let tasks: Vec<_> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let outs: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    let undone = Undone { tasks: AtomicUsize::new(count), waiter: OnceLock::new() };
    let work = || {
        let own = rayon::current_thread_index().unwrap_or(0) % threads;
        let others = (own + 1..own + threads).map(|t| &stretches[t % threads]);
        let next = || stretches[own].take(true).or_else(|| others.clone().find_map(|s| s.take(false)));
        while let Some(n) = next() {
            let _under_way = UnderWay(&undone);
            let task = lock(&tasks[n]).take();
            let out = task.map(&run);
            *lock(&outs[n]) = out;
        }
    };
    rayon::scope(|scope| {
        let _engaged = Engaged::new();
        // Here and not above: a thread outside the pool has one of the pool run this.
        undone.awaited_here();
        (1..threads).for_each(|_| scope.spawn(|_| work()));
        work();
        // All tasks are taken: whatever else there is to do would only hold this pass up.
        undone.wait();
    });
    outs.into_iter().filter_map(|out| out.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
                assert!(start.elapsed() < Duration::from_secs(60), "{threads} threads: they look for ever");
                thread::yield_now();
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
        assert_eq!(run((0..100).collect(), 1, |i: u64| i * i).iter().sum::<u64>(), 99 * 100 * 199 / 6);
    }

    #[test]
    fn a_pass_runs_each_task_once_and_keeps_their_order() {
        for (threads, tasks, least) in
            [(1, 7, 1), (2, 0, 1), (2, 1, 1), (2, 33, 1), (3, 100, 1), (3, 100, 40), (5, 4, 1)]
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..200 {
                let runs = AtomicUsize::new(0);
                let count = |i: usize| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    3 * i
                };
                let out = pool.install(|| run((0..tasks).collect(), least, count));
                assert!(out.iter().copied().eq((0..tasks).map(|i| 3 * i)), "{threads} threads, {tasks} tasks: {out:?}");
                assert_eq!(runs.into_inner(), tasks);
            }
        }
    }

    #[test]
    fn a_thread_that_is_held_up_leaves_the_rest_to_the_others() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let start = Instant::now();
        // One task waits until all others are done: were any bound to its thread, it would wait for ever.
        let done = AtomicUsize::new(0);
        pool.install(|| {
            run((0..64).collect(), 1, |i: usize| {
                while i == 0 && done.load(Ordering::Relaxed) < 63 {
                    assert!(start.elapsed() < Duration::from_secs(60), "{} of 63 done", done.load(Ordering::Relaxed));
                    thread::yield_now();
                }
                done.fetch_add(1, Ordering::Relaxed);
            })
        });
    }

    #[test]
    fn whoever_waits_for_long_sleeps_and_is_woken() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for _ in 0..20 {
            // The stretch of one thread is one slow task: the other waits for it, past its patience.
            let out = pool.install(|| {
                run(vec![0, 1], 1, |i: u64| {
                    thread::sleep(20 * LINGER * i as u32);
                    i
                })
            });
            assert_eq!(out, [0, 1]);
        }
        // Outside a pool another thread waits than the one that asked.
        assert_eq!(run(vec![0, 1, 2], 1, |i: u64| thread::sleep(20 * LINGER * i as u32)).len(), 3);
    }

    #[test]
    fn a_task_that_panics_is_not_waited_for() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let pass = || pool.install(|| run((0..64).collect(), 1, |i: usize| assert!(i != 63, "the last one")));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(pass)).is_err());
    }
}
