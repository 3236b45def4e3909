//! Where results go: checked before the run, each to its own place, nothing overwritten by mistake.

mod common;

use std::process::Stdio;

use sha2::{Digest as _, Sha256};

use common::{DISK, LOAD, MSR, Run, file, finish, folder, idlewise, line, program, write};

/// A load that would run for very long.
const ENDLESS: [&str; 2] = ["--workload", "poisson:rate=50,requests=1000000000"];

/// Runs the endless load with a time limit: a check that comes too late does not hang the tests.
fn at_once(words: &[&str]) -> Run {
    in_time(words.iter().chain(&DISK).chain(&ENDLESS))
}

fn in_time<'a>(words: impl Iterator<Item = &'a &'a str>) -> Run {
    let program = env!("CARGO_BIN_EXE_idlewise");
    let mut command = std::process::Command::new("timeout");
    command.arg("20").arg(program).args(words).stdin(Stdio::null());
    finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("timeout(1) starts"))
}

#[test]
fn outputs_are_checked_before_the_run() {
    for option in ["--json", "--csv", "--csv-processes", "--html"] {
        let words = ["compare", &format!("{option}=/nonexistent/x")];
        at_once(&words).exits(1).says("/nonexistent/x: there is no folder /nonexistent: make it first");
    }
    for option in ["--json", "--csv-processes", "--why"] {
        at_once(&["run", &format!("{option}=/nonexistent/x")]).exits(1).says("there is no folder");
    }
    at_once(&["run", "--json=/proc/version"]).exits(1).says("/proc/version");
    let folder = folder();
    at_once(&["run", &format!("--json={}", folder.path().display())]).exits(1).says("this is a folder");
    in_time(["front", "--duration", "9000s", "--html=/nonexistent/x"].iter())
        .exits(1)
        .says("there is no folder");
    // There is no such disk, either.
    in_time(["advise", "/dev/none", "--json=/nonexistent/x"].iter()).exits(1).says("there is no folder");
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, 0, "the check leaves nothing behind");
}

#[test]
fn two_outputs_go_to_two_places() {
    at_once(&["compare", "--csv", "--json"]).exits(2).says("--json and --csv both go to standard output");
    at_once(&["run", "--why", "--json"]).exits(2).says("--why and --json both go to standard output");
    let folder = folder();
    let same = folder.path().join("r").display().to_string();
    let (json, csv) = (format!("--json={same}"), format!("--csv={same}"));
    at_once(&["compare", &json, &csv]).exits(2).says("--json and --csv both go to").says("name another file");
    let dotted = format!("--csv={}/./r", folder.path().display());
    at_once(&["compare", &json, &dotted]).exits(2).says("--json and --csv both go to");
    std::fs::write(&same, "old").unwrap();
    std::os::unix::fs::symlink(&same, folder.path().join("link")).unwrap();
    let link = format!("--html={}/link", folder.path().display());
    at_once(&["compare", &json, &link]).exits(2).says("--json and --html both go to");
    assert_eq!(std::fs::read_to_string(&same).unwrap(), "old");
}

#[test]
fn a_result_does_not_replace_what_it_was_made_of() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let words = ["compare", "--trace", &trace, &format!("--csv={trace}")];
    idlewise(words.into_iter().chain(DISK)).exits(2).says("--csv would replace").says("t.csv");
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), MSR);
}

#[test]
fn a_result_replaces_nothing_but_an_earlier_one() {
    let folder = folder();
    let named = |command: &str, option: &str, name: &str| {
        let path = write(&folder, name, "kept");
        let words = [command, &format!("{option}={path}")].map(str::to_owned);
        (words, path)
    };
    let refused = [
        ("compare", "--csv", "victim.rec.gz"),
        ("compare", "--html", "keep.msr"),
        ("compare", "--json", "trace.csv"),
        ("run", "--why", "victim.rec"),
        ("run", "--json", ".hidden"),
        ("advise /dev/none", "--json", "victim.gz"),
    ];
    for (command, option, name) in refused {
        let (words, path) = named(command, option, name);
        let words: Vec<&str> = words.iter().flat_map(|word| word.split(' ')).collect();
        let words: Vec<&str> = words.into_iter().chain(LOAD).collect();
        let words = if command.starts_with("advise") { &words[..3] } else { &words };
        idlewise(words.iter().copied())
            .exits(2)
            .says(&format!("{option} would replace {path}"))
            .says("name a file that ends in .");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
    for (command, option, name) in
        [("compare", "--json", "r.json"), ("compare", "--html", "r.HTM"), ("run", "--why", "why")]
    {
        let (words, path) = named(command, option, name);
        let words = || words.iter().map(String::as_str).chain(LOAD).chain(DISK);
        idlewise(words()).exits(0);
        idlewise(words()).exits(0);
        assert_ne!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
    let empty = write(&folder, "empty.rec", "");
    idlewise(["run", &format!("--json={empty}")].into_iter().chain(LOAD).chain(DISK)).exits(0);
}

#[test]
fn a_conversion_overwrites_only_by_force() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let convert = |to: &str, more: &[&str]| {
        idlewise(["trace", "convert", &trace, to].into_iter().chain(more.iter().copied()))
    };
    std::os::unix::fs::symlink(&trace, path("symbolic")).unwrap();
    std::fs::hard_link(&trace, path("hard")).unwrap();
    for own in ["t.csv", "symbolic", "hard"] {
        convert(&path(own), &[]).exits(1).says(own);
        convert(&path(own), &["--force"]).exits(1).says("this is the trace itself");
    }
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), MSR);
    let other = write(&folder, "other", "precious");
    convert(&other, &[]).exits(1).says("other: the file exists").says("--force");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "precious");
    convert(&other, &["--force"]).exits(0).says("3 requests written");
    assert_ne!(std::fs::read_to_string(&other).unwrap(), "precious");
    convert("/dev/null", &[]).exits(0);
}

#[test]
fn a_conversion_compresses_by_the_name_of_its_output() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let row = |n: u64| {
        let (at, place) = (128_166_372_003_061_629 + n * 10_000, n * 7919 % 100_000 * 4096);
        format!("{at},web,0,Read,{place},4096,{}\n", n * 31 % 997)
    };
    let long = write(&folder, "long.csv", (0..3000).map(row).collect::<String>());
    let info = |of: &str| {
        let text = idlewise(["trace", "info", of, "--json"]).exits(0).stdout;
        let mut info: serde_json::Value = serde_json::from_str(&text).unwrap();
        for own in ["name", "sha256"] {
            info.as_object_mut().unwrap().remove(own);
        }
        info
    };
    let path = |name: &str| folder.path().join(name).display().to_string();
    idlewise(["trace", "convert", &long, &path("plain")]).exits(0);
    let plain = (info(&path("plain")), std::fs::metadata(path("plain")).unwrap().len());
    for (end, magic) in
        [("gz", &b"\x1f\x8b"[..]), ("zst", b"\x28\xb5\x2f\xfd"), ("bz2", b"BZh"), ("xz", b"\xfd7zXZ\0")]
    {
        let target = path(&format!("long.{end}"));
        idlewise(["trace", "convert", &long, &target]).exits(0);
        let bytes = std::fs::read(&target).unwrap();
        assert!(bytes.starts_with(magic), "{end}");
        assert!((bytes.len() as u64) < plain.1 / 2, "{end}: {} of {} bytes", bytes.len(), plain.1);
        assert_eq!(info(&target), plain.0, "{end}");
        let tool = match end {
            "gz" => "gzip",
            "zst" => "zstd",
            "bz2" => "bzip2",
            _ => "xz",
        };
        // The usual tool reads what was written, where it is installed.
        if let Ok(status) = std::process::Command::new(tool).arg("-tq").arg(&target).status() {
            assert!(status.success(), "{tool} refuses {target}");
        }
    }
    for end in ["lz4", "Z", "7z", "zip", "br"] {
        let words = ["trace", "convert", &trace, &path(&format!("t.{end}"))];
        idlewise(words).exits(2).says(&format!("cannot compress as .{end}")).says(".gz, .bz2, .xz or .zst");
    }
}

#[test]
fn every_row_of_csv_says_what_it_comes_from() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let text = std::fs::read(&trace).unwrap();
    let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let compare = ["compare", "--trace", &trace, "--schedulers", "noop", "--csv"];
    let run = ["run", "--trace", &trace, "--scheduler", "noop", "--csv-processes"];
    for words in [compare, run] {
        let csv = idlewise(words.into_iter().chain(DISK)).exits(0).stdout;
        let (titles, rows) = csv.split_once('\n').unwrap();
        assert!(titles.ends_with(",command,trace_sha256"), "{titles}");
        let command = format!(",idlewise {} --disk barracuda", words.join(" "));
        for row in rows.lines() {
            assert!(row.contains(&command) && row.ends_with(&format!(",{hash}")), "{row}");
        }
    }
}

/// A pipe whose reader has gone.
fn closed_pipe() -> Stdio {
    let mut reader =
        std::process::Command::new("true").stdin(Stdio::piped()).spawn().expect("true(1) starts");
    let pipe = reader.stdin.take().expect("it was asked for");
    reader.wait().expect("true(1) ends");
    pipe.into()
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let demo = file("traces/demo.ftrace.zst");
    let run = ["run", "--scheduler", "noop", "--why", "--disk", "barracuda", LOAD[0], LOAD[1]];
    let commands: [&[&str]; 7] = [
        &["--help"],
        &["help", "compare"],
        &["docs", "glossary"],
        &["disk", "show", "barracuda"],
        &["trace", "info", &demo],
        &["trace", "convert", &demo, "-"],
        &run,
    ];
    for words in commands {
        let mut command = program();
        command.args(words).stdout(closed_pipe()).stderr(Stdio::piped());
        let run = finish(command.spawn().expect("the program starts")).exits(0);
        assert!(run.stderr.is_empty(), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_long_run_says_how_long_it_takes() {
    let mut child = program();
    child.args(["run", "--scheduler", "noop"]).args(DISK).args(ENDLESS);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(7000));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let run = finish(child).exits(130).says(" requests").says(" left");
    assert!(!run.stderr.contains('\u{1b}'), "a file gets no escape sequences: {}", run.stderr);
    line("run --scheduler noop --disk fixed --workload random:requests=50").exits(0);
}
