//! The disk of a trace: the model that stands for it, or the one that is named.

mod common;

use std::fmt::Write as _;

use common::{Run, folder, idlewise, write};
use serde_json::Value;

fn json(run: Run) -> Value {
    serde_json::from_str(&run.exits(0).stdout).unwrap()
}

/// As many reads of this size, each of which takes the disk this long, a millisecond apart, all over the addresses up to `end`.
fn reads(count: u64, bytes: u64, took_us: u64, end: u64) -> String {
    let row = |n: u64| {
        let at = 128_166_372_003_061_629 + n * 10_000;
        let offset = if n == 0 { end - bytes } else { n * 7_919_003 % (end / 4096) / 2 * 4096 };
        format!("{at},disk,0,Read,{offset},{bytes},{}\n", took_us * 10)
    };
    (0..count).map(row).collect()
}

/// Too few rows for a fit.
const FEW: u64 = 150;

#[test]
fn the_disk_is_told_by_rate_latency_and_size() {
    let folder = folder();
    let trillion = 1_000_000_000_000;
    for (rows, disk, why) in [
        // What takes as long as seeks do, and yet comes at a gigabyte in a second, waits in a queue.
        (
            reads(1000, 1 << 20, 20_000, trillion),
            "nvme-ssd",
            "MB moved in one second, more than SATA can; addresses up to 1000.0 GB",
        ),
        (
            reads(FEW, 4096, 400, trillion / 2),
            "sata-ssd",
            "most reads take more than 0.26 ms, and 0 % as long as seeks do",
        ),
        (reads(FEW, 4096, 20_000, 2 * trillion), "hdd-4tb-7200", "100 % of reads take as long as seeks do"),
        (
            reads(FEW, 4096, 20_000, 9 * trillion),
            "hdd-18tb-7200",
            "as long as seeks do; addresses up to 9000.0 GB",
        ),
    ] {
        let trace = write(&folder, &format!("{disk}.csv"), rows);
        let run =
            idlewise(["run", "--scheduler", "none", "--json", "--max-requests", "50", "--trace", &trace]);
        let run = run.says(&format!("note: the disk is taken for {disk}, as "));
        let document = json(run);
        assert!(
            document["disk_reason"].as_str().unwrap().contains(why),
            "{disk}: {}",
            document["disk_reason"]
        );
    }
}

#[test]
fn the_disk_fits_the_trace_or_is_asked_for() {
    let folder = folder();
    // Reads of 80 µs at addresses up to 1.5 TB: no disk with platters, and larger than the profile.
    let mut text = String::new();
    for n in 0..FEW {
        let offset = n * 7_919_000_000 % 1_500_000_000_000 / 4096 * 4096;
        let _ = writeln!(text, "{},disk,0,Read,{offset},4096,800", 128_166_372_003_061_629 + n * 10_000);
    }
    let trace = write(&folder, "fast.csv", &text);
    let words = ["run", "--scheduler", "none", "--trace", &trace];
    let run = idlewise(words.into_iter().chain(["--json"])).exits(0);
    let run = run.says("note: the disk is taken for nvme-ssd, as most reads take less than 0.26 ms");
    assert!(!run.stderr.contains("folded"), "{}", run.stderr);
    let document = json(run);
    assert_eq!(document["disk"], "nvme-ssd");
    assert!(
        document["disk_reason"].as_str().unwrap().contains("made larger for addresses up to 1"),
        "{document}"
    );
    // The same reads, but as slow as seeks.
    let trace = write(&folder, "slow.csv", text.replace(",800\n", ",90000\n"));
    let slow = idlewise(["run", "--scheduler", "none", "--trace", &trace]).exits(0);
    slow.says("note: the disk is taken for hdd-4tb-7200").says("as long as seeks do");
    // A trace without latencies does not show its disk.
    let arrivals = write(&folder, "t.spc", "0,100,4096,R,0.1\n0,2000,4096,R,0.2\n0,300000,4096,W,0.3\n");
    let words = ["run", "--scheduler", "none", "--trace", &arrivals];
    idlewise(words).exits(2).says("which disk is this trace of?").says("--disk");
    idlewise(words.into_iter().chain(["--disk", "fixed"])).exits(0);
}

#[test]
fn the_disk_of_a_recording_is_modelled_and_what_is_far_from_it_decides_nothing() {
    let folder = folder();
    let compare = |trace: &str, more: &[&str]| {
        let all = ["compare", "--json", "--schedulers", "linux", "--trace", trace];
        idlewise(all.into_iter().chain(more.iter().copied()))
    };
    let claims = |document: &Value| -> Vec<String> {
        let claims = document["claims"].as_array().unwrap();
        claims.iter().map(|claim| claim["claim"].as_str().unwrap().to_owned()).collect()
    };
    let near = write(&folder, "near.csv", reads(1000, 4096, 400, 1 << 38));
    let told = json(compare(&near, &[]).says("note: the disk is a flash disk, modelled from what it did"));
    assert!(!claims(&told).contains(&"far".to_owned()), "{told}");
    // What moves a gigabyte in a second and takes 20 ms for each read is no disk that is known.
    let far = write(&folder, "far.csv", reads(1000, 1 << 20, 20_000, 1 << 38));
    let told = json(compare(&far, &[]).says("taken for nvme-ssd").says("85 % of their mean"));
    assert_eq!(claims(&told).last().unwrap(), "far", "{told}");
    // Whoever names a disk asks what that one would do.
    let named =
        json(compare(&far, &["--disk", "sata-ssd"]).says("what follows is what such a disk would do"));
    assert!(!claims(&named).contains(&"far".to_owned()), "{named}");
}

#[test]
fn folded_addresses_are_a_warning_with_a_cure() {
    let folder = folder();
    let trace = write(&folder, "far.csv", "128166372003061629,web,0,Read,9014609920,4096,41286\n");
    let words = |disk| ["run", "--scheduler", "none", "--trace", &trace, "--disk", disk];
    let run = idlewise(words("barracuda"))
        .exits(0)
        .says("warning: 1 of 1 requests lie beyond the end of barracuda");
    run.says("make it larger with --disk barracuda:capacity=10g");
    let cured = idlewise(words("barracuda:capacity=10g")).exits(0);
    assert!(!cured.stderr.contains("folded"), "{}", cured.stderr);
    idlewise(words("barracuda:capacity=10x")).exits(2).says("capacity takes a size such as 500g");
}

#[test]
fn a_trace_that_no_disk_can_have_served_is_warned_of() {
    let folder = folder();
    // Address and size have changed places.
    let row = |n: u64| {
        format!("{},d,0,Read,4096,{},60000\n", 128_166_372_000_000_000 + n * 100_000, n * 7919 * 8192)
    };
    let trace = write(&folder, "t.csv", (1..200).map(row).collect::<String>());
    let words = ["run", "--scheduler", "noop", "--disk", "fixed", "--max-requests", "10", "--trace", &trace];
    idlewise(words).says("GB in a second, and no disk does: are its columns and units as --format has them?");
}
