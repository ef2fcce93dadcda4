use super::*;
use crate::{Accept, CaseError, Criterion, Group};
use barchan_io::plot::{Axis, Plot, Series};

const LIMIT: Criterion =
    Criterion { key: "it", what: "it & more", unit: "m", accept: Accept::Below(1.0), reference: "<1" };

const fn made(name: &'static str, run: fn(&Bench) -> Result<Findings, CaseError>) -> Case {
    let (title, about, source) = ("A <title>", "Set up \"so\".", "Somebody & others");
    Case { name, title, group: Group::Beyond, about, source, criteria: &[LIMIT], run }
}

fn with(value: f64) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    found.set_up("grains", "12 > 3");
    found.found("it", value);
    let series = vec![Series::line("ours", vec![[0.0, 0.0], [1.0, value]])];
    let title = "What, and why: a curve!".into();
    found.plots.push(Plot { title, x: Axis::linear("x"), y: Axis::linear("y"), series });
    found.remarks.push("It went <well>.".into());
    Ok(found)
}

static GOOD: Case = made("good", |_| with(0.5));
static BAD: Case = made("bad", |_| with(1.5));
static BROKEN: Case = made("broken", |_| Err(CaseError::Unmeasured("no grain was <left>".into())));

fn report() -> Report {
    let bench = Bench { size: Size::Quick, fault: None, device: Default::default() };
    Report {
        version: "1.2.3".into(),
        date: "2026-01-02".into(),
        machine: Machine { processor: "A & B".into(), threads: 2, system: "some".into() },
        size: Size::Quick,
        asked: 4,
        entries: [&GOOD, &BAD, &BROKEN].map(|c| Entry::run(c, &bench)).into(),
        kept: vec![],
    }
}

#[test]
fn a_case_that_errs_is_no_better_than_one_that_fails() {
    let outcomes: Vec<Outcome> = report().entries.iter().map(Entry::verdict).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail, Outcome::Error]);
    assert!(report().entries[2].verdicts().iter().all(|v| v.found.is_none() && !v.passed()));
}

#[test]
fn the_page_shows_every_case_with_its_numbers_and_links_its_curves() {
    let folder = tempfile::tempdir().unwrap();
    let page = write(&folder.path().join("new/report"), &report()).unwrap();
    let html = std::fs::read_to_string(&page).unwrap();
    for what in [
        "1 of 3 passed, 1 failed, 1 could not be run; stopped before 1 more",
        "1.2.3",
        "2026-01-02",
        "A &amp; B, 2 threads, some",
        "quick",
        "<a href=\"#good\">good</a>",
        "Set up &quot;so&quot;.",
        "Somebody &amp; others",
        "12 &gt; 3",
        "≤ 1 m",
        "0.5 m",
        "1.5 m",
        "It went &lt;well&gt;.",
        "no grain was &lt;left&gt;",
        "href=\"bad-1-what-and-why-a-curve.csv\"",
    ] {
        assert!(html.contains(what), "{what} in {html}");
    }
    assert!(!html.contains("<script") && !html.contains("<title>\""), "no script, no raw text");
    let opened = |tag: &str| html.matches(&format!("<{tag}")).count();
    for tag in ["section", "table", "figure>", "svg", "dl", "tbody"] {
        let closed = html.matches(&format!("</{}>", tag.trim_end_matches('>'))).count();
        assert_eq!(opened(tag), closed, "{tag}");
    }
    let curves = std::fs::read_to_string(page.with_file_name("good-1-what-and-why-a-curve.csv")).unwrap();
    assert_eq!(curves, "series,x,y\nours,0,0\nours,1,0.5\n");
    assert!(!page.with_file_name("broken-1.csv").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert!(write(&folder.path().join("file/report"), &report()).is_err());
}
