//! How the process holds memory: what is no longer used goes back to the system.
//!
//! Left alone, glibc gives each thread a pool of its own, and learns from the first large block that is freed (a checkpoint's
//! column) to keep such blocks. A bed of 64,000 grains then held 41 MB, and 99 MB after a checkpoint, of which 21 MB were in
//! use by the solver; so it holds 31 and 38, and that bed steps as fast as before.

/// To be called before the first thread starts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    /// Blocks of this size and more are the system's, and return to it when freed [bytes].
    const LARGE: libc::c_int = 128 << 10;
    for (what, value) in [(libc::M_MMAP_THRESHOLD, LARGE), (libc::M_ARENA_MAX, 1)] {
        // SAFETY: the function takes two numbers, knows all values of both, and is called while there is one thread.
        // What it answers does not matter: at worst memory is held as before.
        unsafe { libc::mallopt(what, value) };
    }
}

/// Other systems' allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
