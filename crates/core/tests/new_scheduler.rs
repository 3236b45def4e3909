//! A new scheduler is one file and one line: the worked examples go through all shared suites.
//!
//! The crate is copied to a place of its own, the files of `docs/examples` and their lines in the registry are added,
//! and their tests run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The worked examples: their names, which their files have too, and their types.
const EXAMPLES: [(&str, &str); 2] = [("lifo", "Lifo"), ("plug", "Plug")];

/// What the suites say, each followed by a scheduler's name and more.
const SUITES: [(&str, &str); 8] = [
    ("conformance: conservation and promise: ", " holds"),
    ("conformance: asking is free: ", " holds"),
    ("conformance: time flows: ", " holds"),
    ("conformance: deterministic: ", " holds"),
    ("conformance: misuse: ", " holds"),
    ("conformance: switch: ", " holds"),
    ("conformance: bounded waiting: ", " holds"),
    ("oracle: ", " agrees on"),
];

fn core() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Writes a file unless it says that already: what did not change is not compiled again.
fn put(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Copies the files below `from`, as `edit` changes them.
fn copy(from: &Path, to: &Path, edit: &dyn Fn(&Path, String) -> String) {
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to, edit);
        } else {
            put(&to, &edit(&from, fs::read_to_string(&from).unwrap()));
        }
    }
}

/// `text` without the tables whose header begins with one of these.
fn without(text: &str, headers: &[&str]) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            inside = headers.iter().any(|header| line.starts_with(header));
        }
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A workspace of core alone, with its library's tests but neither benches nor integration tests.
fn write_manifests(to: &Path) {
    let root = core().join("../..");
    put(&to.join("Cargo.lock"), &fs::read_to_string(root.join("Cargo.lock")).unwrap());
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let lines = manifest.lines().map(|line| match line.split(' ').next() {
        Some("members") => "members = [\"crates/core\"]",
        Some("exclude" | "default-members") => "",
        _ => line,
    });
    let manifest = lines.collect::<Vec<&str>>().join("\n");
    put(&to.join("Cargo.toml"), &without(&manifest, &["[workspace.dependencies"]));
    let own = fs::read_to_string(core().join("Cargo.toml")).unwrap();
    let own: Vec<&str> = own.lines().filter(|line| !line.starts_with("criterion")).collect();
    put(&to.join("crates/core/Cargo.toml"), &without(&own.join("\n"), &["[[bench]]"]));
}

/// Core's sources with one more file and one more line for each example.
fn write_sources_with_examples(to: &Path) {
    let list = core().join("src/schedulers.rs");
    let lines: String = EXAMPLES.iter().map(|(name, kind)| format!("        {name}: {kind};\n")).collect();
    let edit = |path: &Path, text: String| {
        if path == list {
            text.replace("    textbook {\n", &format!("    textbook {{\n{lines}"))
        } else {
            text
        }
    };
    copy(&core().join("src"), &to.join("crates/core/src"), &edit);
    for (name, _) in EXAMPLES {
        let text = fs::read_to_string(core().join(format!("../../docs/examples/{name}.rs"))).unwrap();
        put(&to.join(format!("crates/core/src/schedulers/textbook/{name}.rs")), &text);
    }
}

#[test]
fn a_new_scheduler_is_one_file_and_one_line() {
    let temporary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new-scheduler");
    let workspace = temporary.join("workspace");
    write_manifests(&workspace);
    write_sources_with_examples(&workspace);
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--lib", "-p", "idlewise-core", "--", "--nocapture"])
        .args(["suites::conformance", "suites::oracle", "suites::bounded", "suites::switching"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", temporary.join("target"))
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        .env("IDLEWISE_ONLY", EXAMPLES.map(|(name, _)| name).join(","))
        .output()
        .unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    for (name, _) in EXAMPLES {
        for (suite, verdict) in SUITES {
            let line = format!("{suite}{name}{verdict}");
            assert!(said.contains(&line), "`{line}` was not said:\n{said}");
        }
    }
}
