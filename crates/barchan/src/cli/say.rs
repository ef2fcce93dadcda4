//! Words to the user. A reader that has gone away (`barchan scenes | head -1`) is no error, and a run goes on without.

pub use barchan::scene::words::{bytes, count, many, seconds};
use barchan::scene::{Problem, SceneErrors};
use miette::{Diagnostic, GraphicalReportHandler};
use std::fmt::{Display, Write as _};
use std::io::{IsTerminal, Write as _};

/// A line on stdout.
macro_rules! say {
    ($($arg:tt)*) => { $crate::cli::say::line(format_args!($($arg)*)) };
}
pub(super) use say;

/// A line on stdout; see [`say!`].
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on stderr.
pub fn aside(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What went wrong, on stderr.
pub fn error(message: &str) {
    aside(format_args!("error: {message}"));
}

fn report(of: &dyn Diagnostic) {
    let plain = !std::io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some();
    let theme = if plain { miette::GraphicalTheme::unicode_nocolor() } else { miette::GraphicalTheme::unicode() };
    let mut text = String::new();
    if GraphicalReportHandler::new_themed(theme).with_links(false).render_report(&mut text, of).is_err() {
        let _ = write!(text, "{of}");
    }
    aside(text.trim_end());
}

/// Every problem of a scene with its lines, on stderr.
pub fn problems(problems: &SceneErrors) {
    for p in &problems.problems {
        report(p);
        aside("");
    }
    error(&problems.to_string());
}

/// Warnings of a scene that can run, on stderr: the scene's own, and those of assembling it.
pub fn warnings(own: &[Problem], of_world: &[Problem]) {
    for p in own.iter().chain(of_world) {
        report(p);
        aside("");
    }
}

/// `3 s`, `4 min 20 s`, `1 h 15 min`, `2 d 3 h`.
pub fn span(seconds: f64) -> String {
    let s = if seconds.is_finite() { seconds.max(0.0) } else { return "unknown".into() };
    let whole = |big: f64, name: &str, small: f64, sub: &str| {
        let (n, rest) = ((s / big).floor(), ((s % big) / small).floor());
        if rest > 0.0 { format!("{n} {name} {rest} {sub}") } else { format!("{n} {name}") }
    };
    match s {
        s if s < 0.95 => "less than 1 s".into(),
        s if s < 60.0 => format!("{} s", s.round()),
        s if s < 3600.0 => whole(60.0, "min", 1.0, "s"),
        s if s < 86_400.0 => whole(3600.0, "h", 60.0, "min"),
        _ => whole(86_400.0, "d", 3600.0, "h"),
    }
}

/// An estimate: `about 3 s`, `less than 1 s`.
pub fn about(seconds: f64) -> String {
    let text = span(seconds);
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("about {text}") } else { text }
}

/// `7.6 M` of a rate.
pub fn rate(n: f64) -> String {
    match n {
        n if n < 1e3 => format!("{n:.0} "),
        n if n < 1e6 => format!("{:.0} k", n / 1e3),
        n => format!("{:.1} M", n / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_well() {
        assert_eq!(
            [span(0.2), span(59.0), span(260.0), span(4500.0), span(183_600.0)],
            ["less than 1 s", "59 s", "4 min 20 s", "1 h 15 min", "2 d 3 h"]
        );
        assert_eq!([about(0.2), about(5.0), about(f64::INFINITY)], ["less than 1 s", "about 5 s", "unknown"]);
    }
}
