//! `barchan validate` as a user meets it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn barchan(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).arg("validate").args(args);
    command
}

fn ask(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = barchan(folder, args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn the_list_names_every_criterion_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = ask(folder.path(), &["--list"]);
    assert!(code == 0 && err.is_empty(), "{err}");
    for case in barchan_validation::CASES {
        assert!(out.contains(case.name) && out.contains(case.title), "{}", case.name);
        assert!(case.criteria.iter().all(|c| out.contains(c.what)), "{}", case.name);
    }
    assert!(!folder.path().join("report").exists());
}

#[test]
fn unknown_cases_bring_the_nearest_names_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = ask(folder.path(), &["slip-to-rol", "slip-to-roll", "slipp"]);
    assert!(code == 2 && out.is_empty() && err.matches("did you mean `slip-to-roll`").count() == 2, "{out}{err}");
    let (code, _, err) = ask(folder.path(), &["--size", "huge"]);
    assert!(code == 2 && err.contains("standard"), "{err}");
}

#[test]
fn a_case_leaves_its_line_and_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = ask(folder.path(), &["slip-to-roll", "-o", "new/proof", "--threads", "1"]);
    assert!(code == 0 && out.starts_with("pass   slip-to-roll") && out.contains("0 failed"), "{out}{err}");
    let page = std::fs::read_to_string(folder.path().join("new/proof/index.html")).unwrap();
    for what in ["1 of 1 passed", env!("CARGO_PKG_VERSION"), "1 threads", "<svg", "5/7 = 0.7143"] {
        assert!(page.contains(what), "{what} in {page}");
    }
    let curves = folder.path().join("new/proof/slip-to-roll-1-speed-of-a-sliding-ball.csv");
    assert!(std::fs::read_to_string(curves).unwrap().starts_with("series,time [s],speed [m/s]\nbarchan,"));
    std::fs::write(folder.path().join("file"), "").unwrap();
    let (code, _, err) = ask(folder.path(), &["slip-to-roll", "-o", "file/report"]);
    assert!(code == 1 && err.contains("file/report"), "{err}");
}

#[test]
fn a_known_failure_is_shown_and_counts_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = ask(folder.path(), &["micro-impact", "slip-to-roll"]);
    assert!(code == 1 && out.contains("FAIL   micro-impact") && err.contains("1 case failed"), "{out}{err}");
    assert!(out.contains("pass   slip-to-roll") && out.contains("(known)"), "the others still run: {out}");
    let (code, out, _) = ask(folder.path(), &["micro-impact", "--known"]);
    assert!(code == 0 && out.contains("1 failed, 1 of them as known"), "{out}");
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).unwrap();
    assert!(page.contains("FAIL (known, see below)") && page.contains("0 of 1 passed, 1 failed"), "{page}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_case_under_way_and_writes_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    // The same case many times: the first line tells that one is done, and others are left.
    let cases = ["slip-to-roll"; 500];
    let mut child = barchan(folder.path(), &cases).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("pass"));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).unwrap();
    assert!(page.contains("stopped before") && rest.last().unwrap().contains("report"), "{rest:?}");
}
