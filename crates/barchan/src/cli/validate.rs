//! `barchan validate`.

use super::say::{say, span};
use super::{Failure, Threads};
use barchan_validation::{Bench, CASES, Case, Size, Verdict, case, judge};
use clap::Args;
use std::time::Instant;

#[derive(Args)]
pub struct ValidateArgs {
    /// Cases to run; left out: all
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// quick: minutes; standard: closer to the papers, under two hours; full: as large as theirs
    #[arg(long, value_name = "SIZE", default_value = "quick")]
    size: Size_,
    /// Show the cases and what must come out
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Size_ {
    Quick,
    Standard,
    Full,
}

pub fn validate(args: ValidateArgs) -> Result<(), Failure> {
    let mut chosen: Vec<&'static Case> = Vec::new();
    for name in &args.cases {
        let known = case(name).ok_or_else(|| Failure::Usage(format!("there is no case `{name}`; see --list")))?;
        chosen.push(known);
    }
    if chosen.is_empty() {
        chosen = CASES.iter().collect();
    }
    args.threads.set()?;
    let size = match args.size {
        Size_::Quick => Size::Quick,
        Size_::Standard => Size::Standard,
        Size_::Full => Size::Full,
    };
    let mut failed = 0;
    for case in chosen {
        say!("{}: {}", case.name, case.title);
        if args.list {
            case.criteria.iter().for_each(|c| say!("  {} {:?} ({})", c.what, c.accept, c.reference));
            continue;
        }
        let start = Instant::now();
        let findings = (case.run)(&Bench { size, fault: None }).map_err(|e| Failure::Failed(e.to_string()))?;
        let verdicts = judge(case, &findings);
        verdicts.iter().for_each(|v| {
            let verdict = if v.passed() { "pass" } else { "FAIL" };
            say!("  {verdict} {}: {:?}, asked {:?}", v.criterion.what, v.found, v.criterion.accept);
        });
        failed += usize::from(!verdicts.iter().all(Verdict::passed));
        say!("  {}", span(start.elapsed().as_secs_f64()));
    }
    if failed > 0 { Err(Failure::Failed(format!("{failed} cases failed"))) } else { Ok(()) }
}
