//! `run --timeline`: one wait in detail.

mod common;

use common::idlewise;

const LOAD: [&str; 5] =
    ["run", "--workload=write-and-read", "--disk=hdd-18tb-7200", "--duration=3s", "--scheduler=mq-deadline"];

#[test]
fn the_longest_wait_is_told_from_its_beginning_to_its_end() {
    let timeline = idlewise(LOAD.into_iter().chain(["--timeline"])).exits(0).stdout;
    let report = idlewise(LOAD.into_iter().chain(["--json"])).exits(0).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let longest = report["result"]["longest_wait_ns"].as_f64().unwrap() / 1e6;
    let own: Vec<&str> = timeline.lines().filter(|line| line.starts_with('>')).collect();
    let has = |line: &str, what: &str| assert!(line.contains(what), "{what} is not in {line}");
    has(own[0], " 0.000 ms  arrive");
    has(own[1], "dispatch #");
    has(own[own.len() - 2], "served   #");
    has(own[own.len() - 1], "done     #");
    let last: f64 = own[own.len() - 1].split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((last / longest - 1.0).abs() < 1e-3, "{last} ms for {longest} ms");
    assert!(timeline.contains("served meanwhile") && timeline.contains("2 (reader)"), "{timeline}");
    assert!(timeline.contains(" more events; --why tells all decisions"), "{timeline}");
    assert!(timeline.lines().count() < 150, "{} lines", timeline.lines().count());
}

#[test]
fn it_goes_to_a_file_beside_the_report() {
    let folder = common::folder();
    let path = folder.path().join("wait.txt");
    let option = format!("--timeline={}", path.display());
    idlewise(LOAD.into_iter().chain([option.as_str()])).exits(0).prints("throughput");
    assert!(std::fs::read_to_string(path).unwrap().starts_with("The longest wait under mq-deadline: "));
    idlewise(LOAD.into_iter().chain(["--timeline", "--why"])).exits(2).says("cannot be used with");
}
