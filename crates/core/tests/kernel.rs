//! Our schedulers against recordings of the real ones in Linux: what came when, and what it gave out.
//!
//! `scripts/kernel-compare/run.sh` makes the recordings, and says whether today's kernel still does so.

use std::fs;
use std::path::{Path, PathBuf};

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "ops")).collect();
    found.sort();
    found
}

/// The first difference between what was recorded and what our scheduler gives out.
fn difference(recorded: &str) -> Option<String> {
    let mut ours = String::new();
    if let Err(error) = idlewise_core::ops::run(recorded, &mut ours) {
        return Some(error.to_string());
    }
    let mut lines = recorded.lines().zip(ours.lines()).enumerate();
    let (number, (kernel, ours)) = lines.find(|(_, (kernel, ours))| kernel.trim() != ours.trim())?;
    Some(format!("line {}: the kernel has `{kernel}`, ours `{ours}`", number + 1))
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
