//! Runs one case and prints what it found: `cargo run --release -p barchan-validation --example case -- slip-to-roll`.

use barchan_validation::report::Entry;
use barchan_validation::{Bench, Size, case, judge};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or("name a case")?;
    let case = case(&name).ok_or("there is no such case")?;
    let size = match words.next().as_deref() {
        None | Some("quick") => Size::Quick,
        Some("standard") => Size::Standard,
        _ => Size::Full,
    };
    let findings = Entry::run(case, &Bench { size, fault: None, device: Default::default() }).outcome?;
    for v in judge(case, size, &findings) {
        println!(
            "{} {}: {:?}, asked {:?}",
            if v.passed() { "pass" } else { "FAIL" },
            v.criterion.what,
            v.found,
            v.criterion.accept
        );
    }
    findings.setup.iter().for_each(|(what, value)| println!("{what}: {value}"));
    findings.remarks.iter().for_each(|r| println!("{r}"));
    findings.plots.iter().for_each(|p| println!("{}\n{}", p.title, p.csv()));
    Ok(())
}
