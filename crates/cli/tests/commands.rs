//! Every command does what it says.

mod common;

use std::io::Write as _;
use std::process::Stdio;

use idlewise_core::{registry, selectors};
use idlewise_disk::profile;
use idlewise_sim::traces::Format;
use idlewise_sim::workloads;
use idlewise_sim::workloads::phases::{Kind, MIXES};

use common::{DISK, LOAD, MSR, file, finish, folder, idlewise, line, program, write};

#[test]
fn help_and_version() {
    line("--help").exits(0).prints("Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted");
    for command in ["list", "run", "compare", "matrix", "ranking", "trace", "disk", "docs", "completions"] {
        idlewise([command, "--help"]).exits(0).prints(&format!("Usage: idlewise {command} "));
    }
    line("help compare").exits(0).prints("Usage: idlewise compare ");
    line("--version").exits(0).prints(env!("CARGO_PKG_VERSION"));
    idlewise([]).exits(2).says("Usage: idlewise");
}

#[test]
fn list_names_everything() {
    let lists = |what: &str, names: Vec<&str>| {
        let listed = line(&format!("list {what}")).exits(0).stdout;
        let first = |line: &'_ str| line.split(' ').next().unwrap_or_default().to_owned();
        let listed: Vec<String> = listed.lines().map(first).filter(|name| !name.is_empty()).collect();
        assert_eq!(listed, names);
    };
    lists("schedulers", registry::all().iter().map(|entry| entry.name).collect());
    lists("selectors", selectors::registry::all().iter().map(|entry| entry.name).collect());
    lists("workloads", workloads::all().iter().map(|kind| kind.name).collect());
    lists("mixes", MIXES.iter().map(|mix| mix.name).collect());
    lists("phases", Kind::ALL.iter().map(|kind| kind.name()).collect());
    lists("disks", profile::names().chain(["raid0", "raid1", "raid5", "raid6", "raid10"]).collect());
    lists("formats", Format::ALL.iter().map(|format| format.name()).collect());
    line("list").exits(0).prints("read_expire=500 ms  How long a read may wait");
    line("list mixes").exits(0).prints("seq-readers=20:random-readers=20");
    line("list phases").exits(0).prints("4 that read files of 64 MiB, each in order");
}

#[test]
fn run_reports_one_scheduler() {
    let words = ["run", "--scheduler", "noop"].into_iter().chain(DISK).chain(LOAD);
    let run = idlewise(words).exits(0).prints("under noop on barracuda").prints("200 (200 reads, 0 writes)");
    assert!(run.stderr.is_empty(), "{}", run.stderr);
}

#[test]
fn a_hardware_queue_holds_its_share_of_the_depth() {
    let load = "sync-streams:n=1,depth=8,pattern=random,requests=400";
    let elapsed = |queues: u32| {
        let words = format!("run --disk fixed:depth=8 --workload {load} --hardware-queues {queues} --json");
        let run: serde_json::Value = serde_json::from_str(&line(&words).exits(0).stdout).unwrap();
        run["result"]["elapsed_ns"].as_f64().unwrap()
    };
    let ratio = elapsed(2) / elapsed(1);
    assert!((1.9..2.1).contains(&ratio), "of two, one process has one: {ratio}");
}

/// The cells of a row of CSV, without what stands for the command: commas may be in that.
fn cells(row: &str) -> Vec<&str> {
    row.split(",\"").next().unwrap().split(',').take_while(|cell| *cell != "command").collect()
}

#[test]
fn run_tells_what_each_process_got() {
    let words = "run --scheduler deadline-2.6.11 --disk deskstar-34gxp --workload";
    let chain = format!("{words} stream-and-chain:files=40,directories=4");
    let run = line(&chain).exits(0).prints("1 stream").prints("2 chain");
    let table = run.stdout.lines().skip_while(|line| !line.starts_with("process"));
    let processes = table.take_while(|line| !line.starts_with("Rows:")).count();
    assert_eq!(processes, 3, "a line for the stream and one for all of the chain:\n{}", run.stdout);
    let csv = line(&format!("{chain} --csv-processes")).exits(0).stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(cells).collect();
    assert_eq!(rows[0][..5], ["scheduler", "id", "name", "weight", "requests"]);
    assert!(rows[0].contains(&"service_share") && rows[0].contains(&"latency_ns_p99"));
    assert!(rows.len() == 3 && rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let several = "compare --disk fixed --workload sync-streams:requests=20 --schedulers noop,c-look";
    let csv = line(&format!("{several} --runs 2 --csv-processes")).exits(0).stdout;
    assert!(csv.contains("service_share_ci95") && csv.lines().count() == 5, "{csv}");
}

#[test]
fn weights_are_set_for_workloads_and_traces() {
    let weights = |words: &str| {
        let text = line(&format!("{words} --json")).exits(0).stdout;
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let issuers = document["result"]["issuers"].as_array().unwrap().clone();
        let mut found: Vec<_> = issuers
            .iter()
            .map(|one| (one["id"].as_u64().unwrap(), one["weight"].as_u64().unwrap()))
            .collect();
        found.sort_unstable();
        (found, document)
    };
    let streams = "run --scheduler noop --disk fixed --workload sync-streams:requests=20";
    assert_eq!(weights(streams).0, [(1, 100), (2, 100)]);
    let (found, document) = weights(&format!("{streams} --set weight.2=300"));
    assert_eq!(found, [(1, 100), (2, 300)]);
    assert_eq!(document["settings"]["weight.2"], 300);
    assert!(document["result"]["fairness_jain"].as_f64().unwrap() < 0.9, "even is not fair then");
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let (found, _) =
        weights(&format!("run --scheduler noop --disk barracuda --trace {trace} --set weight.2=7"));
    assert_eq!(found, [(1, 100), (2, 7), (3, 100)]);
}

#[test]
fn a_run_says_whether_it_is_calibrated() {
    let words = "run --scheduler sptf --disk barracuda --workload random:requests=50 --json";
    let of =
        |words: &str| -> serde_json::Value { serde_json::from_str(&line(words).exits(0).stdout).unwrap() };
    let (learning, calibrated) = (of(&format!("{words} --uncalibrated")), of(words));
    assert_eq!((&learning["calibrated"], &calibrated["calibrated"]), (&false.into(), &true.into()));
    assert_ne!(learning["result"]["elapsed_ns"], calibrated["result"]["elapsed_ns"]);
}

#[test]
fn compare_tells_all_and_is_repeatable() {
    let words = || ["compare"].into_iter().chain(DISK).chain(LOAD);
    let first = idlewise(words()).exits(0).prints("The choice").stdout;
    let named = |name: &'static str| if name == "noop" { registry::NONE } else { name };
    for name in registry::all().iter().map(|entry| named(entry.name)) {
        let is_row = |line: &str| line.split(' ').next() == Some(name);
        assert!(first.lines().any(is_row), "{name} has no row in\n{first}");
    }
    assert_eq!(first, idlewise(words()).exits(0).stdout);
    let seeded = idlewise(words().chain(["--seed", "2"])).exits(0).stdout;
    assert_ne!(first, seeded);
}

#[test]
fn the_table_fits_its_terminal() {
    for (columns, most) in [("80", 80), ("60", 60), ("300", 100)] {
        let words = ["compare", "--runs", "3"].into_iter().chain(DISK).chain(LOAD);
        let output = program().args(words).env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= most, "{widest} columns of {columns}:\n{text}");
    }
}

#[test]
fn results_go_to_files() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let options = ["json", "csv", "html"].map(|kind| format!("--{kind}={}", path(kind).display()));
    let words = ["compare", "--schedulers", "noop,c-look"].into_iter().chain(DISK).chain(LOAD);
    // The table is printed too: no result went to standard output.
    idlewise(words.chain(options.iter().map(String::as_str))).exits(0).prints("c-look");
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&read("json")).is_ok());
    let csv = read("csv");
    let widths: Vec<usize> = csv.lines().map(|line| cells(line).len()).collect();
    assert_eq!(widths.len(), 3);
    assert!(widths.iter().all(|width| *width == widths[0]), "{csv}");
    assert!(csv.starts_with("scheduler,requests,bytes,elapsed_ns"));
    assert!(read("html").starts_with("<!doctype html>"));
}

#[test]
fn a_pipe_is_written_to_and_a_link_stays_a_link() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = |target: &str| {
        let option = format!("--json={}", path(target).display());
        let words = ["run", "--scheduler", "noop"].into_iter().chain(DISK).chain(LOAD);
        idlewise(words.chain([option.as_str()])).exits(0);
    };
    std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    let pipe = path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    run("pipe");
    assert!(reader.join().unwrap().contains("idlewise/run/1"));
    assert!(!path("pipe").metadata().unwrap().is_file());

    std::fs::write(path("results"), "old").unwrap();
    std::os::unix::fs::symlink(path("results"), path("link")).unwrap();
    run("link");
    assert!(path("link").symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(path("results")).unwrap().contains("idlewise/run/1"));
}

#[test]
fn a_fio_job_is_a_workload() {
    let folder = folder();
    let job = "[global]\ndirect=1\nioengine=libaio\nsize=64m\n[db]\nrw=randread\niodepth=4\nnumber_ios=50\n\
               [log]\nrw=write\nbs=64k\nnumber_ios=20\nfsync=5\nmystery=1\n";
    let job = write(&folder, "mix.fio", job);
    let run = idlewise(["run", "--scheduler", "c-look", "--fio", &job].into_iter().chain(DISK));
    run.exits(0).says("mystery (").says("mix.fio:14)").prints("1 db").prints("2 log");
    let words = ["compare", "--fio", "-"].into_iter().chain(DISK);
    let mut child = program()
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"[a]\nsize=1m\ndirect=1\n").unwrap();
    finish(child).exits(0).prints("fio job -");
}

#[test]
fn traces_are_replayed_described_and_converted() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let words = ["compare", "--trace", &trace].into_iter().chain(DISK);
    idlewise(words).exits(0).prints("none");
    idlewise(["trace", "info", &trace]).exits(0).prints("requests       3, 36 KiB, in 2.33 s");
    let target = folder.path().join("t.txt").display().to_string();
    idlewise(["trace", "convert", &trace, &target, "--to", "blkparse"]).exits(0).says("3 requests written");
    let words = ["run", "--scheduler", "noop", "--trace", &target, "--open-loop"].into_iter().chain(DISK);
    idlewise(words).exits(0).prints("3 (1 reads, 2 writes)");
    let demo = file("traces/demo.ftrace.zst");
    let words = ["run", "--scheduler", "noop", "--trace", &demo, "--max-requests", "500"];
    idlewise(words.into_iter().chain(DISK)).exits(0).prints("500 (450 reads, 48 writes, 2 flushes)");
}

#[test]
fn a_converted_trace_is_what_its_name_says_and_loses_nothing() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let place = |name: &str| folder.path().join(name).display().to_string();
    idlewise(["trace", "convert", &trace, &trace]).exits(1).says("this is the trace itself: name another");
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), MSR, "the trace is as it was");
    let packed = place("t.gz");
    idlewise(["trace", "convert", &trace, &packed]).exits(0);
    assert_eq!(std::fs::read(&packed).unwrap()[..2], [0x1f, 0x8b]);
    idlewise(["trace", "info", &packed]).exits(0).prints("requests       3,");
    idlewise(["trace", "convert", &trace, &packed, "--to", "blkparse"]).exits(1).says("--force");
    idlewise(["trace", "convert", &trace, &packed, "--to", "blkparse", "--force"]).exits(0);
}

#[test]
fn the_bounds_between_kinds_of_load_can_be_set() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let info = |set: &str| {
        let set = set.split(' ').filter(|word| !word.is_empty());
        idlewise(["trace", "info", &trace, "--period", "3s"].into_iter().chain(set))
    };
    info("").exits(0).prints("4 random writes");
    info("--set four_from=4").exits(0).prints("1 random writes");
    info("--set reads_from=33 --set judge=place").exits(0).prints("4 random reads");
    info("--set block=8").exits(0).prints("4 sequential writes");
    let known = "has no tunable 'four_form'; did you mean 'four_from'? (it has: four_from, eight_from,";
    info("--set four_form=3").exits(2).says(known);
    info("--set dwell=3s").exits(2).says("trace info has no tunable 'dwell'");
    info("--set reads_from=101").exits(2).says("choose from 0 % to 100 %");
    info("--set reads_from").exits(2).says("write TUNABLE=VALUE, such as four_from=3");
    let json = info("--json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let stretch = &json["timeline"]["stretches"][0];
    assert_eq!((&stretch["arrivals_per_s"], &stretch["mean_depth"]), (&1.into(), &0.0.into()), "{stretch}");
    assert!(stretch["local_share"].is_number() && stretch["mean_think_ns"].is_null(), "{stretch}");
}

#[test]
fn a_model_is_checked_against_a_drive() {
    let folder = folder();
    let measured: String =
        (0..50).map(|n| format!("R Miss {} 16 {} 2000\n", n * 7919 % 100_000 * 16, 9000 + n * 31)).collect();
    let trace = write(&folder, "drive.txt", measured);
    idlewise(["disk", "validate", "barracuda", &trace])
        .exits(0)
        .prints("50 measured requests")
        .prints("measured 9.759 ms, model ");
    idlewise(["disk", "show", "barracuda"]).exits(0).prints("7200 rpm (8.33 ms a revolution), 5 heads");
    // The kernel's file takes a page.
    let curve = idlewise(["disk", "show", "barracuda", "--curve"]).exits(0).prints("\n8192 ").stdout;
    assert!(curve.lines().count() <= 192 && curve.len() < 4096, "{} bytes", curve.len());
    let time = |line: &str| line.split_once(' ').unwrap().1.trim_end_matches("us").parse::<u64>().unwrap();
    assert!(time(curve.lines().last().unwrap()) > 10_000, "{curve}");
    idlewise(["disk", "show", "sata-ssd", "--curve"]).exits(1).says("nothing moves in it");
}

#[test]
fn manual_pages_are_written_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    idlewise(["manual", path]).exits(0).prints("");
    for page in ["idlewise", "idlewise-compare", "idlewise-disk-fit"] {
        let text = std::fs::read_to_string(folder.path().join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".TH") && text.contains(page), "{page} is no page of its own");
    }
    idlewise(["manual", "/no/such/folder"]).exits(1).says("cannot write manual pages into /no/such/folder");
}

#[test]
fn completions_are_scripts_of_their_shell() {
    for (shell, sign) in
        [("bash", "complete -F _idlewise"), ("zsh", "#compdef idlewise"), ("fish", "complete -c idlewise")]
    {
        let script = idlewise(["completions", shell]).exits(0).prints(sign).prints("compare").stdout;
        // The shell itself checks the script, where it is installed.
        if let Ok(mut checker) = std::process::Command::new(shell).arg("-n").stdin(Stdio::piped()).spawn() {
            checker.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
            assert!(checker.wait().unwrap().success(), "{shell} refuses its completions");
        }
    }
    line("completions tcsh").exits(2).says("possible values");
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let demo = file("traces/demo.ftrace.zst");
    let helped = [
        "",
        "list",
        "run",
        "compare",
        "matrix build",
        "ranking build",
        "trace info",
        "trace convert",
        "disk show",
        "docs",
    ];
    let helps: Vec<String> =
        helped.iter().map(|command| format!("{command} --help").trim().to_owned()).collect();
    let lists = ["schedulers", "selectors", "workloads", "mixes", "phases", "disks", "formats"];
    let lists: Vec<String> = lists.iter().map(|what| format!("list {what}")).collect();
    let infos = [format!("trace info {demo}")];
    for columns in [80usize, 60, 40] {
        for words in helps.iter().chain(&lists).chain(&infos) {
            let output =
                program().args(words.split(' ')).env("COLUMNS", columns.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            let width = widest.chars().count();
            assert!(width <= columns, "{words}: {width} of {columns}: {widest}");
        }
    }
    // What goes to another program keeps a line for each thing.
    line("list").exits(0).prints("read_expire=500 ms  How long a read may wait");
}

#[test]
fn auto_and_help_do_what_users_expect() {
    let words = ["run", "--scheduler", "auto"].into_iter().chain(DISK).chain(LOAD);
    idlewise(words).exits(0).says("auto is auto-predict").prints("under auto-predict on");
    line("help").exits(0).prints("Usage: idlewise");
    line("help compare").exits(0).prints("Usage: idlewise compare");
    line("help trace convert").exits(0).prints("Usage: idlewise trace convert");
    line("help nothing").exits(2);
}

#[test]
fn the_glossary_is_inside() {
    let text = std::fs::read_to_string(common::root().join("GLOSSARY.md")).unwrap();
    assert_eq!(line("docs glossary").exits(0).stdout, text);
    line("docs glosary").exits(2).says("did you mean 'glossary'?");
}

#[test]
fn the_citation_names_this_version() {
    let text = std::fs::read_to_string(common::root().join("CITATION.cff")).unwrap();
    assert!(text.starts_with("cff-version: 1.2.0\n"));
    let version = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version), "{text}");
    for key in ["\nmessage: ", "\ntitle: ", "\nauthors:\n", "\nlicense:"] {
        assert!(text.contains(key), "{key}");
    }
}
