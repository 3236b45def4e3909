//! Standard output that is closed or full, files that cannot be written, and Ctrl-C.

mod common;

use std::fs::OpenOptions;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{DISK, LOAD, MSR, finish, folder, idlewise, program, write};

/// A pipe whose reader has gone.
fn closed_pipe() -> Stdio {
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().expect("true(1) starts");
    let pipe = reader.stdin.take().expect("it was asked for");
    reader.wait().expect("true(1) ends");
    pipe.into()
}

#[test]
fn a_closed_pipe_is_no_error() {
    let commands: [&[&str]; 5] = [
        &["list"],
        &["list", "--json"],
        &["docs", "schedulers"],
        &["completions", "bash"],
        &["compare", "--disk", "barracuda", "--workload", "random:n=2,requests=20"],
    ];
    for words in commands {
        let child = program()
            .args(words)
            .stdout(closed_pipe())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let run = finish(child).exits(0);
        assert!(run.stderr.is_empty(), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_full_disk_is_told() {
    let commands: [&[&str]; 4] = [
        &["list"],
        &["docs", "workloads"],
        &["completions", "zsh"],
        &["compare", "--json", "--disk", "barracuda", "--workload", "random:n=2,requests=20"],
    ];
    for words in commands {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("this is Linux");
        let child =
            program().args(words).stdout(full).stderr(Stdio::piped()).spawn().expect("the program starts");
        finish(child).exits(1).says("No space left on device");
    }
}

#[test]
fn files_that_cannot_be_written() {
    for option in ["--json=/nonexistent/x", "--csv=/nonexistent/x", "--html=/nonexistent/x"] {
        let words = ["compare", option].into_iter().chain(DISK).chain(LOAD);
        idlewise(words).exits(1).says("/nonexistent/x: there is no folder /nonexistent: make it first");
    }
    let folder = folder();
    let trace = write(&folder, "t.csv", format!("{MSR}damaged\n"));
    idlewise(["trace", "convert", &trace, "/nonexistent/x"]).exits(1).says("/nonexistent/x");
    let inside = folder.path().display().to_string();
    let option = format!("--json={inside}");
    idlewise(["compare", &option].into_iter().chain(DISK).chain(LOAD)).exits(1).says(&inside);
    // What failed leaves nothing behind.
    idlewise(["trace", "convert", &trace, &format!("{inside}/x")]).exits(1).says("t.csv:4: ");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["t.csv"]);
}

#[test]
fn an_existing_file_is_replaced_only_by_a_whole_one() {
    let folder = folder();
    let target = write(&folder, "r.json", "precious");
    let option = format!("--json={target}");
    let words = ["compare", &option, "--schedulers", "noop,no-such"].into_iter().chain(DISK).chain(LOAD);
    idlewise(words).exits(2);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    idlewise(["compare", &option].into_iter().chain(DISK).chain(LOAD)).exits(0);
    assert!(std::fs::read_to_string(&target).unwrap().starts_with('{'));
}

/// Starts a run that would take very long, and interrupts it.
fn interrupted(words: &[&str]) -> common::Run {
    let load = ["--workload", "poisson:rate=50,requests=1000000000", "--max-requests", "1000000000"];
    let mut child = program();
    child.args(words).args(DISK).args(load).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("the program starts");
    std::thread::sleep(Duration::from_millis(700));
    let status =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill(1) starts");
    assert!(status.success());
    finish(child)
}

#[test]
fn ctrl_c_prints_what_is_done_so_far() {
    let run = interrupted(&["run", "--scheduler", "noop"])
        .exits(130)
        .says("interrupted: the results so far follow");
    run.prints("under noop on barracuda");
    let run = interrupted(&["compare", "--schedulers", "noop,c-look"]).exits(130);
    run.prints("No verdict: the runs were cut short");
    let run = interrupted(&["compare", "--schedulers", "noop", "--json"]).exits(130);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("what is printed is whole");
    assert_eq!(document["interrupted"], true);
}
