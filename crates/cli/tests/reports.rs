//! What reports say about how they came about: the command, the trace, chance, what was cut short.

mod common;

use std::fmt::Write as _;

use common::{DISK, LOAD, MSR, Run, folder, idlewise, line, program, write};
use idlewise_sim::traces::recording::{Asked, Disk, Encoder, Entry, Event, Head, What};
use serde_json::Value;

fn json(run: Run) -> Value {
    serde_json::from_str(&run.exits(0).stdout).expect("what is printed is JSON")
}

/// SHA-256 of [`MSR`], as sha256sum(1) prints it.
fn sum(path: &str) -> String {
    let output = std::process::Command::new("sha256sum").arg(path).output().expect("sha256sum(1) starts");
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

#[test]
fn every_report_names_its_command_and_its_trace() {
    let folder = folder();
    let trace = write(&folder, "t 1.csv", MSR);
    let html = folder.path().join("r.html").display().to_string();
    let option = format!("--html={html}");
    let words =
        || ["compare", "--trace", &trace, "--schedulers", "noop,c-look", &option].into_iter().chain(DISK);
    let document = json(idlewise(words().chain(["--json"])));
    let command = format!("idlewise compare --trace '{trace}' --schedulers noop,c-look --html={html}");
    assert!(document["command"].as_str().unwrap().starts_with(&command), "{}", document["command"]);
    assert_eq!(document["trace"]["sha256"], sum(&trace).as_str());
    assert_eq!((&document["trace"]["rows"], &document["trace"]["records"]), (&3.into(), &3.into()));
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains(&sum(&trace)) && page.contains("--schedulers noop,c-look"));
    idlewise(words()).exits(0).prints(&sum(&trace)).prints("--html=");
    let run = || ["run", "--trace", &trace, "--scheduler", "noop"].into_iter().chain(DISK);
    idlewise(run()).exits(0).prints(&sum(&trace)).prints("idlewise run --trace '");
    assert_eq!(json(idlewise(run().chain(["--json"])))["trace"]["sha256"], sum(&trace).as_str());
    idlewise(["trace", "info", &trace]).exits(0).prints(&format!("sha256         {}", sum(&trace)));
    assert_eq!(json(idlewise(["trace", "info", &trace, "--json"]))["sha256"], sum(&trace).as_str());
    let advise = || ["advise", &trace, "--schedulers", "noop,c-look"].into_iter().chain(DISK);
    idlewise(advise()).exits(0).prints(&sum(&trace)).prints("idlewise advise '");
    let advice = json(idlewise(advise().chain(["--json"])));
    assert!(
        advice["command"].as_str().unwrap().starts_with(&format!("idlewise advise '{trace}'")),
        "{advice}"
    );
    assert_eq!(
        (&advice["trace"]["name"], &advice["trace"]["sha256"]),
        (&(*trace).into(), &(*sum(&trace)).into())
    );
    let own = json(idlewise(["run", "--json"].into_iter().chain(DISK).chain(LOAD)));
    assert!(
        own["trace"].is_null() && own["command"].as_str().unwrap().contains("--workload random"),
        "{own}"
    );
}

#[test]
fn a_trace_in_several_files_has_one_hash() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let first = folder.path().join("d.blktrace.0").display().to_string();
    idlewise(["trace", "convert", &trace, &first, "--to", "blktrace"]).exits(0);
    let second = format!("{}1", first.trim_end_matches('0'));
    std::fs::copy(&first, &second).unwrap();
    let both = [std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap()].concat();
    let together = write(&folder, "both", both);
    let prefix = folder.path().join("d").display().to_string();
    let words = ["run", "--scheduler", "noop", "--json", "--trace", &prefix].into_iter().chain(DISK);
    assert_eq!(json(idlewise(words))["trace"]["sha256"], sum(&together).as_str());
}

#[test]
fn runs_of_a_trace_that_are_the_same_are_said_so() {
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let words = |schedulers| {
        let words = ["compare", "--runs", "3", "--schedulers", schedulers, "--trace", &trace, "--json"];
        idlewise(words.into_iter().chain(DISK))
    };
    let run = words("noop,c-look").says("the 3 runs gave the same result").says("--runs 1");
    let document = json(run);
    let result = &document["results"][0];
    assert!(result["iops_ci95"].is_null() && result["latency_ns"]["mean_ci95"].is_null(), "{result}");
    assert!(result["iops"].is_number());
    let by_chance = line(
        "compare --runs 3 --schedulers noop,c-look --disk barracuda --json --workload random:requests=50",
    );
    assert!(!by_chance.stderr.contains("same result"));
    assert!(json(by_chance)["results"][0]["iops_ci95"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_run_that_was_interrupted_gets_no_stars() {
    let mut command = program();
    let load = "poisson:rate=2000,requests=1000000000";
    command.args(["compare", "--schedulers", "noop,sptf,c-look", "--workload", load]).args(DISK);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let run = common::finish(child).exits(130).prints("cut short");
    assert!(!run.stdout.contains('*'), "{}", run.stdout);
}

#[test]
fn a_table_says_how_its_rows_are_ordered() {
    let words = ["compare", "--schedulers", "noop,sptf"].into_iter().chain(DISK).chain(LOAD);
    idlewise(words).exits(0).prints("Rows: highest throughput first").prints("* best");
    let words = ["run", "--scheduler", "noop"].into_iter().chain(DISK).chain(LOAD);
    idlewise(words).exits(0).prints("Rows: most disk time first.");
    let phases =
        "compare --schedulers noop,as --disk maxtor-40g --workload phases:mix=seq-readers=1:writers=1";
    line(phases).exits(0).prints("Rows: highest mean first.");
}

/// The rows of the table that begins with this word, without its titles, as words.
fn rows<'a>(text: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let table = text.lines().skip_while(|line| line.split(' ').next() != Some(title)).skip(1);
    let table = table.skip_while(|line| line.starts_with(' ')).take_while(|line| !line.is_empty());
    table
        .take_while(|line| !line.starts_with("Rows:"))
        .map(|line| line.split_whitespace().collect())
        .collect()
}

#[test]
fn rows_stand_in_the_order_that_is_stated() {
    let folder = folder();
    let path = folder.path().join("r.json").display().to_string();
    let option = format!("--json={path}");
    // Readers who wait for each read get more or less done; what comes by the clock differs in latency alone.
    for load in ["sync-streams:n=3,requests=200", "poisson:rate=60,requests=300"] {
        let words =
            ["compare", "--schedulers", "sptf,noop,as,c-scan", "--disk", "maxtor-40g", "--workload", load];
        let text = idlewise(words.into_iter().chain([option.as_str()])).exits(0).stdout;
        let document: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let results = document["results"].as_array().unwrap();
        let of = |name: &str| {
            let result = results.iter().find(|result| result["scheduler"] == name).unwrap();
            let rate = result["throughput_bytes_per_s"].as_f64().unwrap();
            // Equals are those within a thousandth.
            ((rate.ln() * -1000.0).round() as i64, result["latency_ns"]["mean"].as_f64().unwrap())
        };
        let order: Vec<_> = rows(&text, "scheduler").iter().map(|row| of(row[0])).collect();
        assert_eq!(order.len(), 4, "{text}");
        assert!(order.is_sorted() && order[0] != order[3], "{load}: {order:?}");
    }
    let phases =
        "compare --schedulers noop,c-scan,as --disk maxtor-40g --workload phases:mix=seq-readers=1:writers=1";
    let text = line(phases).exits(0).stdout;
    for table in text.split("By phase: ").skip(1) {
        let means: Vec<f64> = rows(table, "scheduler").iter().map(|row| row[1].parse().unwrap()).collect();
        assert!(
            means.len() == 3 && means.is_sorted_by(|a, b| a >= b) && means[0] > means[2],
            "{means:?}\n{table}"
        );
    }
}

#[test]
fn the_longest_wait_is_the_printed_longest() {
    let words = || ["--scheduler", "noop"].into_iter().chain(DISK).chain(LOAD);
    let result = &json(idlewise(["run", "--json"].into_iter().chain(words())))["result"];
    assert_eq!(result["longest_wait_ns"], result["latency_ns"]["max"]);
    assert!(result["longest_queued_ns"].as_u64().unwrap() < result["longest_wait_ns"].as_u64().unwrap());
    let milliseconds = result["longest_wait_ns"].as_f64().unwrap() / 1e6;
    let run = idlewise(["run"].into_iter().chain(words())).exits(0);
    let line = run.stdout.lines().find(|line| line.starts_with("longest wait")).unwrap();
    assert!(line.contains(&format!("{milliseconds:.0}")), "{milliseconds} in: {line}");
}

#[test]
fn reasons_are_filtered_by_process_and_time() {
    let why = |more: &str| {
        let words = format!(
            "run --scheduler antic-sptf --disk maxtor-40g --workload sync-streams:n=3,requests=200 --why {more}"
        );
        let text = line(words.trim()).exits(0).stdout;
        let at = |line: &str| line.split_once(" s ").and_then(|(time, _)| time.parse::<f64>().ok());
        let lines: Vec<String> = text.lines().filter(|line| at(line).is_some()).map(str::to_owned).collect();
        lines
    };
    let all = why("");
    let of = |process: &str| all.iter().filter(|line| line.contains(process)).cloned().collect::<Vec<_>>();
    let second = why("--why-process 2");
    assert!(!second.is_empty() && second.len() < all.len());
    assert!(second.iter().all(|line| line.contains(" dispatch ") && line.contains(" of 2")), "{second:?}");
    assert_eq!(second, of(" of 2:"));
    let middle = why("--why-from 50ms --why-to 100ms");
    let time = |line: &String| line.split_once(" s ").unwrap().0.parse::<f64>().unwrap();
    let expected: Vec<_> = all.iter().filter(|line| (0.05..=0.1).contains(&time(line))).cloned().collect();
    assert!(!middle.is_empty() && middle.len() < all.len());
    assert_eq!(middle, expected);
    assert_eq!(
        why("--why-process 2 --why-from 50ms --why-to 100ms").len(),
        expected.iter().filter(|line| line.contains(" of 2:")).count()
    );
    line("run --workload random --why-process 2").exits(2).says("--why");
    line("run --workload random --why --why-from soon").exits(2).says("--why-from soon: write a time");
    line("run --workload random --why --why-from 2s --why-to 1s").exits(2).says("--why-to");
    line("run --help").exits(0).prints("--why-process").prints("idlewise docs why");
    line("docs why").exits(0).prints("dispatch #4 R 1024+8 of 7");
}

#[test]
fn a_selectors_decisions_are_filtered_by_time_and_are_of_no_process() {
    let decided = |more: &str| -> Vec<f64> {
        let load = "phases:mix=seq-readers=2:writers=2";
        let words = format!("run --scheduler auto-ranking --disk maxtor-40g --workload {load} --why {more}");
        let text = line(words.trim()).exits(0).stdout;
        let lines = text.lines().filter(|line| line.starts_with("{\"at_ns\""));
        lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["at_ns"].as_f64().unwrap() / 1e9)
            .collect()
    };
    let all = decided("");
    assert!(all.iter().any(|at| *at < 1.5) && all.iter().any(|at| *at > 2.5), "{all:?}");
    let middle: Vec<f64> = all.iter().copied().filter(|at| (1.5..=2.5).contains(at)).collect();
    assert!(!middle.is_empty());
    assert_eq!(decided("--why-from 1.5s --why-to 2.5s"), middle);
    assert!(decided("--why-process 1").is_empty());
}

#[test]
fn trace_info_tells_what_a_recording_knows_of_its_disks() {
    let folder = folder();
    let disk = Disk {
        name: "sda".into(),
        sectors: 1 << 21,
        scheduler: "mq-deadline".into(),
        model: Some("QEMU HARDDISK".into()),
        queue: [("read_ahead_kb".to_owned(), "128".to_owned())].into(),
        tunables: [("fifo_batch".to_owned(), "16".to_owned())].into(),
        ..Disk::default()
    };
    let head = Head { kernel: "6.1.0".into(), disks: vec![disk], ..Head::default() };
    let (mut bytes, mut body) = (Vec::new(), Vec::new());
    Encoder::begin(&head, &mut bytes).unwrap();
    let mut encoder = Encoder::default();
    let asked = Asked { operation: Asked::READ, ..Asked::default() };
    for (time, what) in [(1000, What::Queue), (1100, What::Issue), (5000, What::Complete)] {
        let event = Event { what, asked, task: 7, sector: 8, length: 8 };
        encoder.write(time, &Entry::Block(event), &mut body);
    }
    encoder.write(6000, &Entry::Lost(2), &mut body);
    bytes.append(&mut body);
    let path = folder.path().join("sda.rec");
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    idlewise(["trace", "info", path])
        .exits(0)
        .prints("recorded       under Linux 6.1.0")
        .prints("2 events lost")
        .prints("disk           sda: QEMU HARDDISK, not rotating, 1.00 GiB")
        .prints("scheduler      mq-deadline with fifo_batch=16")
        .prints("queue          read-ahead 128 KiB");
    let document = json(idlewise(["trace", "info", path, "--json"]));
    let recording = &document["recording"];
    assert_eq!((&recording["kernel"], &document["report"]["lost_events"]), (&"6.1.0".into(), &2.into()));
    assert_eq!(recording["disks"][0]["tunables"]["fifo_batch"], "16");
    assert_eq!(recording["disks"][0]["queue"]["read_ahead_kb"], "128");
    let other = write(&folder, "t.csv", MSR);
    assert!(json(idlewise(["trace", "info", &other, "--json"]))["recording"].is_null());
}

/// A program that reads 30 times and writes `writes` times, all over the disk; the writes have these flags.
fn commits(writes: u64, flags: &str) -> String {
    let mut text =
        "arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags\n".to_owned();
    for n in 0..30 + writes {
        let (operation, flags) = if n < 30 { ("R", "s") } else { ("W", flags) };
        let (at, start) = (n * 20_000_000, n * 7_919_777 % 70_000_000 * 8);
        let _ = writeln!(text, "{at},{at},{},d,7,{operation},{start},8,{flags}", at + 9_000_000);
    }
    text
}

#[test]
fn who_mostly_waits_for_commits_is_judged_by_writes() {
    let folder = folder();
    for (writes, flags, told) in [(160, "s", "write"), (140, "s", "read"), (160, "", "read")] {
        let trace = write(&folder, "commits.csv", commits(writes, flags));
        let words = ["compare", "--schedulers", "none,look", "--disk", "hdd-18tb-7200", "--trace", &trace];
        let document = json(idlewise(words.into_iter().chain(["--json"])));
        let verdict = document["verdict"].as_str().unwrap();
        assert!(verdict.contains(&format!("mean {told} latency")), "{writes} {flags:?}: {verdict}");
    }
}
