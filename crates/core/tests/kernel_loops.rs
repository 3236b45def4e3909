//! Our `bfq` and `kyber` against recordings of the real ones, with processes that wait for their requests: each
//! gets the same share of the disk, the disk idles for as long, and `kyber` sets the same depths.
//!
//! `scripts/kernel-compare/run.sh` makes the recordings. `cargo test -p idlewise-core --test kernel_loops --
//! --nocapture` prints both sides; with `KERNEL_TURNS=FOLDER` it writes who was served when, in the form in
//! which the script leaves the kernel's in `target/kernel-compare/ops`.

mod loops;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use idlewise_core::units::Duration;
use loops::host::{self, Outcome};

use loops::recording::{Depth, Recording};

/// How far a share may be from the kernel's, and the time that the disk idles, in percent of the kernel's.
const SHARE_WITHIN: f64 = 5.0;
const IDLING_WITHIN: f64 = 10.0;
/// Less idling than this part of the run is none, in percent.
const NO_IDLING: f64 = 0.5;
/// How much later or earlier kyber may set a depth: it looks within 100 ms, and Linux counts that in ticks.
const LOOKS_WITHIN: Duration = Duration::from_ms(150);

fn recordings() -> Vec<(String, Recording)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel_recordings");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "loops")).collect();
    found.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, Recording::read(&fs::read_to_string(path).unwrap()))
    };
    found.iter().map(read).collect()
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

/// What differs by more than it may, each in a line.
fn differences(recording: &Recording, ours: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    assert_eq!(recording.processes.len(), ours.served.len(), "each process of the recording was played");
    let whole = |served: &mut dyn Iterator<Item = u64>| served.sum::<u64>();
    let theirs = whole(&mut recording.processes.iter().map(|process| process.served));
    let mine = whole(&mut ours.served.iter().copied());
    for (process, served) in recording.processes.iter().zip(&ours.served) {
        let (kernel, own) = (percent(process.served, theirs), percent(*served, mine));
        if (own - kernel).abs() > kernel * SHARE_WITHIN / 100.0 {
            found.push(format!("process {} gets {own:.1} %, in the kernel {kernel:.1} %", process.who));
        }
    }
    let (kernel, own) = (percent(recording.idled.0, recording.run.0), percent(ours.idled.0, recording.run.0));
    if (own - kernel).abs() > (kernel * IDLING_WITHIN / 100.0).max(NO_IDLING) {
        found.push(format!("the disk idles for {own:.1} % of the time, in the kernel {kernel:.1} %"));
    }
    found.extend(other_depths(recording, ours));
    found
}

/// Where a number of tokens is off by more than one step, which is a quarter of the number before, or comes at
/// another time.
fn other_depths(recording: &Recording, ours: &Outcome) -> Option<String> {
    let show =
        |depths: &[Depth]| depths.iter().map(|depth| depth.tokens.to_string()).collect::<Vec<_>>().join(" ");
    let step = |n: usize| {
        let earlier = recording.depths[..n].iter().rev();
        let before = earlier.into_iter().find(|depth| depth.operation == recording.depths[n].operation);
        before.map_or(32, |depth| depth.tokens.div_ceil(4))
    };
    let pairs = recording.depths.iter().zip(&ours.depths).enumerate();
    let alike = |(n, (kernel, own)): (usize, (&Depth, &Depth))| {
        let apart = kernel.since.max(own.since).0 - kernel.since.min(own.since).0;
        kernel.operation == own.operation
            && kernel.tokens.abs_diff(own.tokens) <= step(n)
            && apart <= LOOKS_WITHIN.0 * (n as u64 + 1)
    };
    let same = recording.depths.len() == ours.depths.len() && pairs.clone().all(alike);
    (!same).then(|| format!("depths {}, in the kernel {}", show(&ours.depths), show(&recording.depths)))
}

fn table(recording: &Recording, ours: &Outcome) -> String {
    let mut text = String::new();
    for (process, served) in recording.processes.iter().zip(&ours.served) {
        let who = process.who;
        writeln!(text, "  process {who:2}: {:6} requests, in the kernel {:6}", served, process.served)
            .unwrap();
    }
    let (own, kernel) = (ours.idled.0 as f64 / 1e6, recording.idled.0 as f64 / 1e6);
    for (own, kernel) in ours.depths.iter().zip(&recording.depths) {
        let times = [own, kernel].map(|depth| depth.since.as_ms());
        let (own, kernel) = (own.tokens, kernel.tokens);
        writeln!(text, "  {own} tokens at {} ms, in the kernel {kernel} at {} ms", times[0], times[1])
            .unwrap();
    }
    writeln!(text, "  idle for {own:.1} ms, in the kernel {kernel:.1} ms").unwrap();
    text
}

#[test]
fn shares_and_idling_are_the_kernels() {
    let mut failures = String::new();
    for (name, recording) in recordings() {
        let ours = host::play(&recording);
        println!("{name}\n{}", table(&recording, &ours));
        if let Some(folder) = std::env::var_os("KERNEL_TURNS") {
            fs::write(Path::new(&folder).join(format!("{name}.turns")), &ours.turns).unwrap();
        }
        let found = differences(&recording, &ours);
        match (&recording.differs, found.is_empty()) {
            (None, false) => writeln!(failures, "{name}: {}", found.join("; ")).unwrap(),
            (Some(why), true) => {
                writeln!(failures, "{name} no longer differs, though it says why: {why}").unwrap();
            }
            _ => {}
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn there_are_ten_scenarios_that_do_not_differ() {
    let all = recordings();
    let equal = |scheduler: &str| {
        let equal = |recording: &Recording| recording.differs.is_none() && recording.scheduler == scheduler;
        all.iter().filter(|(_, recording)| equal(recording)).count()
    };
    assert!(equal("bfq") >= 10 && equal("kyber") >= 3);
}

#[test]
fn another_scheduler_is_noticed() {
    let (_, recording) = recordings().into_iter().find(|(name, _)| name.contains("levels")).unwrap();
    let other = Recording { scheduler: "noop".into(), settings: Vec::new(), ..recording };
    assert!(!differences(&other, &host::play(&other)).is_empty());
}
