//! The report's page.

use super::{Entry, Outcome, Report, curves};
use crate::{CASES, Findings, number};
use barchan_io::xml::escaped;
use std::fmt::Write;

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>barchan: validation</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n",
        include_str!("style.css")
    );
    head(&mut out, report);
    // In the order of all cases, whoever brought them.
    let order = |name: &str| CASES.iter().position(|c| c.name == name);
    let mut parts: Vec<_> = report.entries.iter().map(|e| (order(e.case.name), row(e), section(e))).collect();
    parts.extend(report.kept.iter().map(|k| (order(k.name), k.row.clone(), k.section.clone())));
    parts.sort_by_key(|p| p.0);
    out.push_str(
        "<nav>\n<table>\n<thead><tr><th>case</th><th></th><th>group</th><th>verdict</th><th>time</th></tr></thead>\n<tbody>\n",
    );
    out.extend(parts.iter().map(|p| p.1.as_str()));
    out.push_str("</tbody>\n</table>\n</nav>\n");
    out.extend(parts.iter().map(|p| p.2.as_str()));
    out.push_str("</body>\n</html>\n");
    out
}

fn head(out: &mut String, report: &Report) {
    let outcomes = || report.entries.iter().map(Entry::verdict).chain(report.kept.iter().map(|k| k.outcome));
    let count = |outcome| outcomes().filter(|o| *o == outcome).count();
    let [passed, failed, broken] = [Outcome::Pass, Outcome::Fail, Outcome::Error].map(count);
    let mut sum = format!("{passed} of {} passed", passed + failed + broken);
    for (n, word) in [(failed, "failed"), (broken, "could not be run")] {
        if n > 0 {
            let _ = write!(sum, ", {n} {word}");
        }
    }
    let left = report.asked - report.entries.len().min(report.asked);
    if left > 0 {
        let _ = write!(sum, "; stopped before {left} more");
    }
    let class = if failed + broken == 0 { "pass" } else { "fail" };
    let _ = writeln!(out, "<h1>barchan: validation</h1>\n<p class=\"verdict {class}\">{sum}</p>\n<dl>");
    let m = &report.machine;
    for (what, value) in [
        ("version", report.version.clone()),
        ("date", report.date.clone()),
        ("size", report.size.name().into()),
        ("machine", format!("{}, {} threads, {}", m.processor, m.threads, m.system)),
    ] {
        pair(out, what, &value);
    }
    out.push_str(
        "</dl>\n<p class=\"soft\">Every criterion was written down before its case ran. A case that fails stays here, \
         with what was found. Figures are drawn from the files linked below them.</p>\n",
    );
}

/// How the row of a case in the index begins.
pub fn row_head(outcome: Outcome, name: &str) -> String {
    format!("<tr class=\"{}\"><td><a href=\"#{name}\">", class(outcome))
}

fn row(e: &Entry) -> String {
    let (verdict, name) = (e.verdict(), escaped(e.case.name));
    format!(
        "{}{name}</a></td><td>{}</td><td>{}</td><td class=\"verdict\">{}</td><td class=\"number\">{}</td></tr>\n",
        row_head(verdict, &name),
        escaped(e.case.title),
        e.case.group.name(),
        verdict.word(),
        span(e.seconds),
    )
}

fn section(e: &Entry) -> String {
    let verdict = e.verdict();
    let mut out = format!(
        "<section id=\"{}\">\n<h2>{} <span class=\"verdict {}\">{}</span></h2>\n<p>{}</p>\n<dl>\n",
        escaped(e.case.name),
        escaped(e.case.title),
        class(verdict),
        verdict.word(),
        escaped(e.case.about)
    );
    pair(&mut out, "source", e.case.source);
    pair(&mut out, "command", &format!("barchan validate {}", e.case.name));
    if let Ok(found) = &e.outcome {
        found.setup.iter().for_each(|(what, value)| pair(&mut out, what, value));
    }
    pair(&mut out, "time", &span(e.seconds));
    out.push_str("</dl>\n");
    criteria(&mut out, e);
    match &e.outcome {
        Ok(found) => findings(&mut out, e, found),
        Err(why) => {
            let _ = writeln!(out, "<p class=\"wrong\">It could not be run to its end: {}</p>", escaped(why));
        }
    }
    out.push_str("</section>\n");
    out
}

fn criteria(out: &mut String, e: &Entry) {
    out.push_str(
        "<table>\n<thead><tr><th>criterion</th><th>accepted</th><th>reference</th><th>found</th><th>verdict</th></tr></thead>\n\
         <tbody>\n",
    );
    for v in e.verdicts() {
        let c = v.criterion;
        let unit = |text: String| if c.unit.is_empty() { text } else { format!("{text} {}", c.unit) };
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><td>{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"verdict\">{}</td></tr>",
            if v.passed() { "pass" } else { "fail" },
            escaped(c.what),
            escaped(&unit(c.accept.to_string())),
            escaped(c.reference),
            escaped(&v.found.map_or("—".into(), |x| unit(number(x)))),
            match v.passed() {
                true if !v.judged => "judged from the standard size on",
                true => "pass",
                false if e.knows(&v) => "FAIL (known, see below)",
                false => "FAIL",
            },
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn findings(out: &mut String, e: &Entry, found: &Findings) {
    for (n, plot) in found.plots.iter().enumerate() {
        let file = escaped(&curves(e.case, n, &plot.title));
        let _ = writeln!(
            out,
            "<figure>\n{}<figcaption>{} (<a href=\"{file}\">numbers</a>)</figcaption>\n</figure>",
            plot.svg(),
            escaped(&plot.title)
        );
    }
    for remark in &found.remarks {
        let _ = writeln!(out, "<p>{}</p>", escaped(remark));
    }
}

fn pair(out: &mut String, what: &str, value: &str) {
    let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escaped(what), escaped(value));
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Error => "error",
    }
}

/// `0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 59.5 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}
