//! How many files an addition makes and edits. The worked examples are made in a copy of this workspace, which is then
//! built and used.
//!
//! `docs/examples` has them: two schedulers as files, which lack only their lines in the list, the rest as patches.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The schedulers: their names, which their files have too, and their types.
const SCHEDULERS: [(&str, &str); 2] = [("lifo", "Lifo"), ("plug", "Plug")];

/// The other additions: the patch, how many files it makes and edits, and how many lines it puts into those that it edits.
const PATCHES: [(&str, usize, usize, usize); 7] = [
    ("method", 0, 1, 8),
    ("metric", 0, 1, 3),
    ("command", 1, 1, 1),
    ("selector", 1, 1, 1),
    ("disk", 1, 1, 1),
    ("model", 2, 3, 8),
    ("format", 1, 1, 1),
];

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

/// What the program in the copy is called, so that it does not take the place of the real one.
const PROGRAM: &str = "idlewise-with-additions";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> String {
    fs::read_to_string(root().join("docs/examples").join(name)).unwrap()
}

/// Writes a file unless it says that already: what did not change is not compiled again.
fn put(path: &Path, text: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes `to` have the files below `from`, and no others.
fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        return put(to, &fs::read(from).unwrap());
    }
    // An earlier copy may have what has gone since.
    for old in fs::read_dir(to).into_iter().flatten().flatten() {
        let gone = !from.join(old.file_name()).exists();
        if gone && old.path().is_dir() {
            fs::remove_dir_all(old.path()).unwrap();
        } else if gone {
            fs::remove_file(old.path()).unwrap();
        }
    }
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "target" {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    }
}

/// Replaces `what`, which is there, in a file.
fn replace(path: &Path, what: &str, with: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(what), "{} has no `{what}`", path.display());
    fs::write(path, text.replacen(what, with, 1)).unwrap();
}

/// Makes all additions below `to`, as their authors would.
fn add(to: &Path) {
    let schedulers = to.join("crates/core/src/schedulers");
    for (name, kind) in SCHEDULERS {
        put(&schedulers.join(format!("textbook/{name}.rs")), example(&format!("{name}.rs")).as_bytes());
        let line = format!("    textbook {{\n        {name}: {kind};\n");
        replace(&schedulers.with_extension("rs"), "    textbook {\n", &line);
    }
    for (name, ..) in PATCHES {
        let patch = root().join("docs/examples").join(name).with_extension("patch");
        // The copy may lie inside a repository, which is not its own.
        let output = Command::new("git")
            .args([OsStr::new("apply"), patch.canonicalize().unwrap().as_os_str()])
            .env("GIT_CEILING_DIRECTORIES", to.parent().unwrap())
            .current_dir(to)
            .output()
            .expect("git applies the patches");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "docs/examples/{name}.patch does not apply any more: make its change by hand, and write `git diff` there\n{complaint}"
        );
    }
}

/// The workspace with all additions, in a folder of its own.
fn workspace(temporary: &Path) -> PathBuf {
    let edited = temporary.join("edited");
    let _ = fs::remove_dir_all(&edited);
    for part in ["Cargo.toml", "Cargo.lock", "GLOSSARY.md", "docs", "crates"] {
        copy(&root().join(part), &edited.join(part));
    }
    add(&edited);
    replace(
        &edited.join("crates/cli/Cargo.toml"),
        "name = \"idlewise\"\npath",
        &format!("name = \"{PROGRAM}\"\npath"),
    );
    let workspace = temporary.join("workspace");
    copy(&edited, &workspace);
    workspace
}

/// cargo in the copy, quick to build. Other people's crates are as built for the tests: the target folder is the same.
fn cargo(workspace: &Path, arguments: &str) -> Output {
    let output = Command::new(env!("CARGO"))
        .args(arguments.split_whitespace())
        .current_dir(workspace)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap())
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
        .env("IDLEWISE_ONLY", SCHEDULERS.map(|(name, _)| name).join(","))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the program with all additions prints.
fn says(program: &Path, arguments: &str) -> String {
    let output = Command::new(program).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_addition_edits_as_few_places_as_promised() {
    for (name, made, edited, lines) in PATCHES {
        let patch = example(&format!("{name}.patch"));
        let files: Vec<&str> = patch.split("diff --git ").skip(1).collect();
        let (new, old): (Vec<&str>, Vec<&str>) =
            files.into_iter().partition(|file| file.contains("\nnew file mode "));
        let inserted = old.iter().flat_map(|file| file.lines());
        let inserted = inserted.filter(|line| line.starts_with('+') && !line.starts_with("+++")).count();
        assert_eq!(
            (new.len(), old.len(), inserted),
            (made, edited, lines),
            "{name}: files made, edited; lines"
        );
    }
}

#[test]
fn each_addition_is_there_when_its_places_are_edited() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize().unwrap().join("additions");
    let workspace = workspace(&temporary);

    // With the same packages as for the tests, so that other people's crates have the same features and need not be compiled
    // again. This test needs the program, so that it is built, too; the core has nobody else's crates.
    cargo(&workspace, "test --offline --workspace --test additions --no-run");
    let suites = "suites::conformance suites::oracle suites::bounded suites::switching";
    let output = cargo(&workspace, &format!("test --offline -p idlewise-core --lib -- --nocapture {suites}"));
    let said = String::from_utf8_lossy(&output.stdout);
    for (name, _) in SCHEDULERS {
        for (suite, verdict) in SUITES {
            let line = format!("{suite}{name}{verdict}");
            assert!(said.contains(&line), "`{line}` was not said:\n{said}");
        }
    }

    let program = temporary.ancestors().nth(2).unwrap().join("debug").join(PROGRAM);
    let has = |arguments: &str, what: &str| {
        let said = says(&program, arguments);
        assert!(said.contains(what), "{arguments} does not say `{what}`:\n{said}");
    };
    let load = "--disk fixed-fast --workload random:n=4,requests=50";
    has(&format!("run --scheduler plug --why {load}"), "plugged until");
    has(&format!("compare --schedulers lifo,auto-constant {load} --json"), "\"bytes_mean\"");
    has(&format!("compare --schedulers lifo,auto-constant {load} --csv"), "bytes_mean");
    has("capacity fixed-fast", "1953525168");
    has("list selectors", "auto-constant");
    has("docs auto-constant", "It never looks at the load");
    has("list disks", "fixed-fast");

    let drum = temporary.join("drum.toml");
    let keys = "capacity_sectors = 2000000\nqueue_depth = 4\ntrack_sectors = 100\nsector_us = 50\n";
    put(&drum, format!("kind = \"drum\"\ndescription = \"a drum\"\nsource = \"none\"\n{keys}").as_bytes());
    has(&format!("disk show {}", drum.display()), "revolution");
    has(&format!("run --scheduler noop --workload random:n=4,requests=50 --disk {}", drum.display()), "noop");

    let trace = temporary.join("plain.txt");
    put(&trace, b"plain\n0 read 800 8\n5000 write 0 16\n");
    has(&format!("trace info {}", trace.display()), "(plain)");
}
