//! Golden files: `golden/<scheduler>/*.ops` are event sequences with the results they must give.
//!
//! `UPDATE_GOLDEN=1 cargo test -p idlewise-core --test golden` rewrites them with what comes out.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use idlewise_core::{ops, registry};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// All golden files below `folder`, in order of name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
        } else if path.extension().is_some_and(|extension| extension == "ops") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines that differ, each with its number.
fn difference(expected: &str, found: &str) -> String {
    let mut text = String::new();
    let lines = expected.lines().count().max(found.lines().count());
    let mut pairs = expected.lines().map(Some).chain(std::iter::repeat(None));
    let mut others = found.lines().map(Some).chain(std::iter::repeat(None));
    for number in 1..=lines {
        let (before, after) = (pairs.next().flatten(), others.next().flatten());
        if before != after {
            before.into_iter().for_each(|line| writeln!(text, "{number:4} - {line}").unwrap());
            after.into_iter().for_each(|line| writeln!(text, "{number:4} + {line}").unwrap());
        }
    }
    text
}

#[test]
fn every_golden_file_gives_what_it_says() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut failures = String::new();
    let files = files(&folder());
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(folder()).unwrap().display();
        let mut found = String::new();
        if let Err(error) = ops::run(&text, &mut found) {
            writeln!(failures, "{name}: {error}").unwrap();
        } else if found != text && update {
            fs::write(path, found).unwrap();
        } else if found != text {
            writeln!(failures, "{name}:\n{}", difference(&text, &found)).unwrap();
        }
    }
    assert!(!files.is_empty(), "there are no golden files");
    assert!(
        failures.is_empty(),
        "{failures}If what comes out (+) is right: UPDATE_GOLDEN=1 cargo test -p idlewise-core --test golden"
    );
}

#[test]
fn every_scheduler_has_a_golden_file() {
    for entry in registry::all() {
        let own = folder().join(entry.name);
        let any = own.is_dir() && !files(&own).is_empty();
        assert!(any, "add golden/{}/rules.ops: a walk through the rules of its file header", entry.name);
    }
}

#[test]
fn a_difference_shows_both_lines_and_their_number() {
    assert_eq!(difference("a\nb\nc", "a\nx"), "   2 - b\n   2 + x\n   3 - c\n");
    assert_eq!(difference("a\n", "a\n"), "");
}
