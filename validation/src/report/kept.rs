//! Cases of an earlier report, kept in a new one as they stand: a case can be run again without the hours of the others.

use super::Outcome;
use crate::{CASES, Size};
use std::path::Path;

/// A case of an earlier report: our own page, cut where we know how it was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Name of the case.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// Its row of the index, and its section, as HTML.
    pub(super) row: String,
    pub(super) section: String,
}

/// The cases that a folder's report has; none where there is no report, or one of another size.
pub fn read(folder: &Path, size: Size) -> Vec<Kept> {
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap_or_default();
    if !page.contains(&format!("<dt>size</dt><dd>{}</dd>", size.name())) {
        return vec![];
    }
    let cut = |from: &str, to: &str| -> Option<String> {
        let start = page.find(from)?;
        let end = start + page[start..].find(to)? + to.len();
        Some(page[start..end].to_owned())
    };
    let of = |name: &'static str| {
        let section = cut(&format!("<section id=\"{name}\">"), "</section>\n")?;
        let outcomes = [Outcome::Pass, Outcome::Fail, Outcome::Error];
        let rows = outcomes.map(|o| cut(&super::page::row_head(o, name), "</tr>\n").map(|row| (o, row)));
        let (outcome, row) = rows.into_iter().flatten().next()?;
        Some(Kept { name, outcome, row, section })
    };
    CASES.iter().filter_map(|c| of(c.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Entry, Machine, Report, write};
    use crate::{Accept, Findings, judge};

    fn report(size: Size, cases: &[usize], kept: Vec<Kept>) -> Report {
        let entry = |&n: &usize| {
            // Every other one passes: each number is where it is accepted.
            let mut found = Findings::default();
            for c in CASES[n].criteria.iter().filter(|_| n % 2 == 0) {
                let (Accept::Near(x, _) | Accept::Between(x, _) | Accept::Below(x) | Accept::Above(x)) = c.accept;
                found.found(c.key, x);
            }
            Entry { case: &CASES[n], size: Size::Quick, seconds: 1.0, outcome: Ok(found) }
        };
        let entries = cases.iter().map(entry).collect();
        Report { version: "1".into(), date: "today".into(), machine: Machine::this(), size, asked: 9, entries, kept }
    }

    #[test]
    fn cases_that_are_not_run_again_stay_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let first = report(Size::Quick, &[0, 1, 2], vec![]);
        assert!(
            judge(first.entries[0].case, Size::Quick, first.entries[0].outcome.as_ref().unwrap())
                .iter()
                .all(|v| v.passed())
        );
        let page = write(folder.path(), &first).unwrap();
        let before = std::fs::read_to_string(&page).unwrap();
        let kept = read(folder.path(), Size::Quick);
        let found: Vec<_> = kept.iter().map(|k| (k.name, k.outcome)).collect();
        let of = |n: usize| (CASES[n].name, first.entries[n].verdict());
        assert_eq!(found, [of(0), of(1), of(2)]);
        assert_eq!(found[1].1, Outcome::Fail);

        // The one in the middle anew: the page is the same again.
        let kept: Vec<Kept> = kept.into_iter().filter(|k| k.name != CASES[1].name).collect();
        write(folder.path(), &report(Size::Quick, &[1], kept)).unwrap();
        let after = std::fs::read_to_string(&page).unwrap();
        let body = |page: &str| page[page.find("<nav>").unwrap()..].to_owned();
        assert_eq!(body(&after), body(&before));
        assert!(read(folder.path(), Size::Standard).is_empty(), "of another size");
        assert!(read(&folder.path().join("nowhere"), Size::Quick).is_empty());
    }
}
