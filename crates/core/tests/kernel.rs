//! Our schedulers against recordings of the real ones in Linux: what came when, and what it gave out.
//!
//! `scripts/kernel-compare/run.sh` makes the recordings, and says whether today's kernel still does so. With
//! `KERNEL_RECORDINGS=FOLDER` those of another folder are taken.

use std::fs;
use std::path::{Path, PathBuf};

fn recordings() -> Vec<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel_recordings");
    let folder = std::env::var_os("KERNEL_RECORDINGS").map_or_else(own, PathBuf::from);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "ops")).collect();
    found.sort();
    found
}

/// The first difference between what was recorded and what our scheduler gives out.
fn difference(recorded: &str) -> Option<String> {
    let mut ours = String::new();
    match idlewise_core::ops::run(recorded, &mut ours) {
        Ok(()) => between(recorded, &ours),
        Err(error) => Some(error.to_string()),
    }
}

/// The first line in which two texts differ, or that one of them lacks.
fn between(recorded: &str, ours: &str) -> Option<String> {
    let line = |text: &str, number: usize| text.lines().nth(number).map(|line| line.trim().to_string());
    let longest = recorded.lines().count().max(ours.lines().count());
    let number = (0..longest).find(|number| line(recorded, *number) != line(ours, *number))?;
    let said = |text: &str| line(text, number).unwrap_or_else(|| "nothing more".into());
    Some(format!("line {}: the kernel has `{}`, ours `{}`", number + 1, said(recorded), said(ours)))
}

#[test]
fn every_recorded_order_is_ours() {
    let mut failures = Vec::new();
    for path in recordings() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if let Some(difference) = difference(&fs::read_to_string(&path).unwrap()) {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn there_are_twenty_scenarios_of_mq_deadline() {
    let names = recordings();
    let of = |scheduler: &str| {
        let starts = |path: &&PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(scheduler);
        names.iter().filter(starts).count()
    };
    assert!(of("mq-deadline-") >= 20);
}

#[test]
fn another_order_is_noticed() {
    let path = recordings().remove(0);
    let text = fs::read_to_string(path).unwrap();
    let (first, rest) = text.split_once("dispatch = 0").unwrap();
    let difference = difference(&format!("{first}dispatch = 1{rest}")).unwrap();
    assert!(difference.contains("dispatch = 1`, ours"), "{difference}");
}

#[test]
fn an_answer_that_ends_early_is_noticed() {
    let text = fs::read_to_string(recordings().remove(0)).unwrap();
    let half: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
    assert!(between(&text, &half.join("\n")).unwrap().contains("ours `nothing more`"));
}
