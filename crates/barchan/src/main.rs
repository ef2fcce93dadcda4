//! The command `barchan`: scenes run, checked, listed, measured.
//!
//! Exit codes: 0 done; 1 a run, a file or a benchmark failed; 2 the command line is wrong; 3 the scene has errors;
//! 130 stopped by Ctrl-C, with a checkpoint to go on from.

mod cli;
mod memory;

fn main() -> std::process::ExitCode {
    memory::give_back();
    cli::main()
}
