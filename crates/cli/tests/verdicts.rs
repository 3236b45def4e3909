//! Comparisons whose answer a person can act on: who is compared, what the answer rests on, what is measured.

mod common;

use std::fmt::Write as _;

use common::{DISK, LOAD, Run, folder, idlewise, line, write};
use idlewise_core::selectors;
use serde_json::Value;

fn json(run: Run) -> Value {
    serde_json::from_str(&run.exits(0).stdout).unwrap()
}

fn names(document: &Value) -> Vec<&str> {
    let results = document["results"].as_array().unwrap();
    results.iter().map(|result| result["scheduler"].as_str().unwrap()).collect()
}

/// What a verdict recommends: every scheduler that is named as one to take, or `None` if it cannot tell.
fn good(document: &Value) -> Option<Vec<String>> {
    let claims = document["claims"].as_array().unwrap();
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let all = || names(document).into_iter().map(str::to_owned).collect::<Vec<_>>();
    claims.iter().find_map(|claim| match claim["claim"].as_str().unwrap() {
        "take" => {
            let mut taken = strings(&claim["ties"]);
            taken.push(claim["scheduler"].as_str().unwrap().to_owned());
            Some(taken)
        }
        "avoid" => {
            let but = strings(&claim["but"]);
            Some(all().into_iter().filter(|name| !but.contains(name)).collect())
        }
        "same" | "even" => Some(all()),
        _ => None,
    })
}

#[test]
fn sets_and_families_are_named_in_capitals_or_not() {
    let of = |set: &str| {
        let words = ["compare", "--json", "--schedulers", set].into_iter().chain(DISK).chain(LOAD);
        let document = json(idlewise(words));
        names(&document).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let linux = of("Linux");
    assert_eq!(linux[..2], ["none", "mq-deadline"]);
    for name in ["none", "mq-deadline", "kyber", "bfq", "bfq:low_latency=off"] {
        assert!(linux.contains(&name.to_owned()), "{name} is missing in {linux:?}");
    }
    assert!(linux.iter().any(|name| name.starts_with("mq-deadline:")), "{linux:?}");
    assert_eq!(of("NONE,noop,Noop"), ["none"]);
    assert_eq!(of("AUTO-Ranking,auto-ranking"), ["auto-ranking"]);
    let selectors: Vec<&str> = selectors::registry::all().iter().map(|entry| entry.name).collect();
    assert_eq!(of("Auto"), selectors);
    assert_eq!(of("blk-mq,MQ-Deadline"), ["mq-deadline", "kyber", "bfq", "adios"]);
    assert_eq!(of("unc"), ["aql", "rwfifo"]);
    line("compare --workload random --disk barracuda --schedulers linx")
        .exits(2)
        .says("did you mean 'linux'?");
    line("run --scheduler AUTO --workload random:requests=9 --disk fixed")
        .exits(0)
        .says("auto is auto-predict");
    line("run --scheduler NONE --workload random:requests=9 --disk fixed")
        .exits(0)
        .prints("under none on fixed");
}

#[test]
fn the_verdict_is_about_linux_and_adds_what_others_would_give() {
    // Two streams on a disk without native queueing: BFQ with its defaults raises both, and anticipation wins.
    let load = "compare --disk maxtor-40g --workload sync-streams:n=4,requests=300 --schedulers linux,anticipatory --json";
    let document = json(line(load));
    let claims = document["claims"].as_array().unwrap();
    let of = |kind: &str| claims.iter().find(|claim| claim["claim"] == kind);
    let take = of("take").unwrap_or_else(|| panic!("{claims:#?}"));
    assert!(take["scheduler"].as_str().unwrap().starts_with("bfq:low_latency=off"), "{take}");
    let others = of("others").or_else(|| of("no-others")).unwrap();
    assert_eq!(others["over"], take["scheduler"]);
    let text = document["verdict"].as_str().unwrap();
    assert!(text.contains("chedulers that Linux does not have"), "{text}");
    // Also in capitals, and also if nobody is named: the set is among those that are compared then.
    for load in [load.replace("linux,", "LINUX,"), load.replace("--schedulers linux,anticipatory ", "")] {
        let document = json(line(&load));
        assert!(
            document["verdict"].as_str().unwrap().contains("chedulers that Linux does not have"),
            "{load}"
        );
    }
    // Without the set, the verdict is about all that are named.
    let document = json(line(&load.replace("linux,anticipatory", "antic-sptf,noop")));
    assert!(!document["verdict"].as_str().unwrap().contains("Linux"), "{document}");
}

#[test]
fn disks_loads_and_goals_are_named_in_capitals_or_not() {
    let compared =
        "compare --disk Maxtor-40G --workload Random:requests=9 --goal Latency --schedulers noop,as";
    line(compared).exits(0);
    line("front --disks SD-card --loads Mail --duration 1s --schedulers noop").exits(0);
}

#[test]
fn the_verdict_goes_by_the_goal_that_is_named_and_is_balanced_if_none_is() {
    let goal = |more: &str| {
        let load =
            "compare --json --disk maxtor-40g --schedulers noop,as --workload sync-streams:n=4,requests=300";
        let document = json(line(&format!("{load}{more}")));
        let mut goals =
            document["claims"].as_array().unwrap().iter().filter_map(|claim| claim["goal"].as_str());
        goals.next().unwrap_or_else(|| panic!("{document}")).to_owned()
    };
    assert_eq!(goal(""), "balanced");
    for named in ["throughput", "latency", "balanced"] {
        assert_eq!(goal(&format!(" --goal {named}")), named);
    }
}

/// Rows of MSR's format: completions and no issuers. Two readers in lockstep, on a slow disk.
fn unsigned(requests: u64) -> String {
    let mut text = String::new();
    for n in 0..requests {
        let (stream, place) = (n % 2, n / 2);
        let offset = stream * 1_000_000_000 + place * 65_536;
        let _ = writeln!(text, "{},disk,0,Read,{offset},65536,90000", 128_166_372_003_061_629 + n * 50_000);
    }
    text
}

/// What a verdict was tried under.
fn assumptions(document: &Value) -> Vec<&str> {
    let claims = document["claims"].as_array().unwrap();
    let found: Option<Vec<&Value>> = claims.iter().find_map(|claim| match claim["claim"].as_str().unwrap() {
        "holds" => Some(claim["assumptions"].as_array()?.iter().collect()),
        "cannot-tell" => Some(claim["under"].as_array()?.iter().map(|under| &under["assumption"]).collect()),
        _ => None,
    });
    let found = found.unwrap_or_else(|| panic!("{claims:#?}"));
    found.iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn what_a_trace_does_not_tell_is_assumed_both_ways() {
    let folder = folder();
    let trace = write(&folder, "t.csv", unsigned(400));
    let document = |more: &[&str]| {
        let words = ["compare", "--json", "--schedulers", "linux", "--disk", "maxtor-40g", "--trace", &trace];
        // The model may be off by as much as the recording shows.
        json(
            idlewise(words.into_iter().chain(more.iter().copied()))
                .says("maxtor-40g is 18 % off the recorded"),
        )
    };
    let (closed, open) = (document(&[]), document(&["--open-loop"]));
    let words = ["compare", "--schedulers", "none,bfq", "--disk", "fixed", "--runs", "3", "--trace", &trace];
    idlewise(words)
        .exits(0)
        .says("a trace is the same in each of the 3 runs")
        .prints("highest throughput first");
    assert_eq!(closed["not_told"], "issuers");
    for document in [&closed, &open] {
        let kinds: Vec<_> =
            document["claims"].as_array().unwrap().iter().map(|claim| &claim["claim"]).collect();
        assert!(kinds.iter().any(|kind| *kind == "holds" || *kind == "cannot-tell"), "{kinds:?}");
        let all = ["in closed loop", "in closed loop with one process", "in open loop"].into_iter().flat_map(
            |waits| {
                ["", " on a disk 18 % slower", " on a disk 18 % faster"].map(|disk| format!("{waits}{disk}"))
            },
        );
        assert_eq!(assumptions(document), all.collect::<Vec<_>>());
    }
    assert_eq!(good(&closed), good(&open), "the verdict does not turn on the assumption");
    // The caveat stands in the table's verdict and on the page.
    let html = folder.path().join("r.html").display().to_string();
    let option = format!("--html={html}");
    let words = ["compare", "--schedulers", "linux", "--disk", "maxtor-40g", "--trace", &trace, &option];
    let text = idlewise(words).exits(0).stdout.replace('\n', " ");
    assert!(text.contains("does not tell issuers") || text.contains("lacks issuers"), "{text}");
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("does not tell issuers") || page.contains("lacks issuers"));
}

#[test]
fn a_model_errs_by_as_much_as_its_profile_says() {
    let folder = folder();
    let trace = write(&folder, "t.csv", unsigned(400));
    let slower = |permille: u32| {
        let fixed = include_str!("../../disk/profiles/fixed.toml");
        let disk = write(&folder, "own.toml", format!("demerit_permille = {permille}\n{fixed}"));
        let words = ["compare", "--json", "--schedulers", "linux", "--disk", &disk, "--trace", &trace];
        let document = json(idlewise(words));
        assumptions(&document).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(slower(230).contains(&"in open loop on a disk 23 % slower".to_owned()));
    // A difference that less turns round is chance, however good the model.
    assert!(slower(10).contains(&"in open loop on a disk 5 % slower".to_owned()));
}

#[test]
fn no_verdict_on_public_traces_turns_on_an_assumption() {
    let Some(folder) = std::env::var_os("IDLEWISE_TRACES") else {
        eprintln!("skipped: IDLEWISE_TRACES does not say where the public traces are");
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let traces = [
        "cloudPhysicsIO.vscsi",
        "cloudPhysicsIO.csv",
        "wsrch-small.trace",
        "systor17-traces-sample.csv.gz",
        "msr-cambridge1-sample.csv",
    ];
    for name in traces {
        let path = folder.join(name).display().to_string();
        // A part of each is enough to tell, and keeps the test short.
        let words = [
            "compare",
            "--json",
            "--schedulers",
            "linux",
            "--disk",
            "hdd-18tb-7200",
            "--max-requests",
            "8000",
        ];
        let words: Vec<&str> = words.into_iter().chain(["--trace", &path]).collect();
        let closed = json(idlewise(words.iter().copied()));
        let open = json(idlewise(words.iter().copied().chain(["--open-loop"])));
        assert!(closed["not_told"].is_string(), "{name}");
        assert_eq!(good(&closed).map(sorted), good(&open).map(sorted), "{name}");
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// What mkfs and a database do, as blkparse prints it: discards, writes, flushes.
fn with_discards() -> String {
    let mut text = String::new();
    let mut row = |n: u64, action: &str, ms: u64, rwbs: &str, extent: &str| {
        let _ =
            writeln!(text, "  8,16   0  {n}  0.{:09}  77  {action}  {rwbs} {extent} [mkfs]", ms * 1_000_000);
    };
    for n in 0..20u64 {
        let (start, at) = (n * 1_000_000, n * 20);
        for (place, rwbs, extent) in [
            (0, "D", format!("{start} + 900000")),
            (1, "WS", format!("{start} + 8")),
            (2, "FF", "0 + 0".to_owned()),
        ] {
            row(n * 10 + place, "Q", at + place, rwbs, &extent);
            row(n * 10 + place + 5, "C", at + place + 6, rwbs, &extent);
        }
    }
    text
}

#[test]
fn discards_and_flushes_are_apart_from_reads_and_writes() {
    let folder = folder();
    let trace = write(&folder, "mkfs.txt", with_discards());
    let words = ["run", "--scheduler", "none", "--disk", "sata-ssd", "--trace", &trace];
    let document = json(idlewise(words.into_iter().chain(["--json"])));
    let result = &document["result"];
    assert_eq!((&result["requests"], &result["flushes"]), (&60.into(), &20.into()), "{result}");
    assert_eq!((&result["discard"]["requests"], &result["write"]["requests"]), (&20.into(), &20.into()));
    assert_eq!(result["bytes"], 20 * 4096, "what is discarded is not moved");
    assert_eq!(result["issuers"][0]["bytes"], 20 * 4096);
    let rate = result["throughput_bytes_per_s"].as_f64().unwrap();
    assert!(rate < 1e6, "{rate} bytes a second");
    assert!(result["flush_latency_ns"]["p99"].as_u64().unwrap() > 0);
    idlewise(words)
        .exits(0)
        .prints("60 (0 reads, 20 writes, 20 discards, 20 flushes)")
        .prints("latency µs")
        .prints("mean µs")
        .prints(" µs, transfer ");
    let table = idlewise(["compare", "--schedulers", "none,bfq", "--disk", "sata-ssd", "--trace", &trace]);
    table.exits(0).prints("flush p99").prints("µs");
}

#[test]
fn a_device_is_chosen_by_name_and_by_number() {
    let folder = folder();
    let trace = write(&folder, "mkfs.txt", with_discards());
    for device in ["8:16", "8,16", "8388624"] {
        let words = ["run", "--scheduler", "none", "--disk", "fixed", "--trace", &trace, "--device", device];
        idlewise(words).exits(0).prints("60 (0 reads,");
    }
    let words = ["run", "--scheduler", "none", "--disk", "fixed", "--trace", &trace, "--device", "8,0"];
    idlewise(words).exits(1).says("there are 8:16");
}

#[test]
fn each_device_has_a_disk_of_its_own() {
    let folder = folder();
    // Two devices, each with reads at 10 ms, on a disk that takes 5 ms for each: alone, none waits.
    let mut text = String::new();
    for n in 0..50u64 {
        for device in ["a", "b"] {
            let _ = writeln!(
                text,
                "{},{device},0,Read,{},4096,100000",
                128_166_372_003_061_629 + n * 100_000,
                n * 4096
            );
        }
    }
    let trace = write(&folder, "two.csv", text);
    let words = ["run", "--scheduler", "noop", "--open-loop", "--json", "--disk", "fixed", "--trace", &trace];
    let apart = idlewise(words).exits(0).says("2 devices; each was replayed on a disk of its own");
    let apart = json(apart);
    let together =
        json(idlewise(words.into_iter().chain(["--one-disk"])).says("all were replayed on one disk"));
    let [apart, together] =
        [&apart, &together].map(|document| document["result"]["latency_ns"]["max"].as_f64().unwrap());
    assert!(apart < 5.1e6 && together > 9.9e6, "{apart} {together}");
}

#[test]
fn of_more_devices_than_disks_the_busiest_are_replayed() {
    let folder = folder();
    // Forty devices: each of the first ten has three reads, and each of the others one.
    let mut text = String::new();
    for device in 0..40u64 {
        for n in 0..if device < 10 { 3 } else { 1 } {
            let at = 128_166_372_003_061_629 + (device + n) * 100_000;
            let _ = writeln!(text, "{at},d{device},0,Read,{},4096,100000", n * 4096);
        }
    }
    let trace = write(&folder, "many.csv", text);
    let words = ["run", "--scheduler", "noop", "--disk", "fixed", "--trace", &trace];
    let run = idlewise(words).exits(0).prints("52 (52 reads,");
    run.says("warning: the trace has 40 devices; the 32 busiest, with 87 % of its requests")
        .says("--one-disk");
}
