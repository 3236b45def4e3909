//! The mechanical model against real drives: the demerit figure of a replayed trace.
//!
//! The targets are what DiskSim 4.0 reaches with the same parameters.

use idlewise_disk::{Profile, validate};
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::Path;

/// Profile, trace, highest share of the measured mean.
const TARGETS: &[(&str, &str, f64)] = &[
    ("cheetah9lp", "cheetah9LP.trace", 0.025),
    ("atlas10k", "atlas10k.trace", 0.069),
    ("cheetah4lp", "cheetah4LP.trace", 0.060),
    ("hp-c3323a", "hp_c3323a.trace", 0.019),
];

#[test]
fn demerit_figures() {
    let Ok(directory) = std::env::var("IDLEWISE_TRACES") else {
        // Not through a macro: those lines are shown of tests that fail and of no other.
        let _ =
            std::io::stderr().write_all(b"\nskipped: IDLEWISE_TRACES does not say where real traces are\n");
        return;
    };
    for &(name, file, target) in TARGETS {
        let path = Path::new(&directory).join("drives").join(file);
        let reader = BufReader::new(File::open(&path).expect("the trace can be opened"));
        let trace = validate::read_trace(reader).expect("the trace can be read");
        let profile = Profile::named(name).expect("a built-in profile");
        let found = validate::validate(&profile, &trace).expect("the trace fits the drive");
        println!(
            "{name}: demerit {:.3} ms, {:.2} % of the mean {:.3} ms; model {:.3} ms; {} requests",
            found.demerit_ns as f64 / 1e6,
            found.demerit_share * 100.0,
            found.measured_mean_ns as f64 / 1e6,
            found.model_mean_ns as f64 / 1e6,
            found.requests,
        );
        let permille = (found.demerit_share * 1000.0).round() as u32;
        assert_eq!(profile.demerit_permille, Some(permille), "{name}: the profile says how good it is");
        assert!(found.demerit_share <= target, "{name}: {:.4} exceeds {target}", found.demerit_share);
    }
}

#[test]
fn demerit_of_shifted_times() {
    let mut measured = [3_000, 1_000, 2_000];
    let mut model = [2_300, 1_300, 3_300];
    let found = validate::demerit(&mut measured, &mut model);
    assert_eq!((found.demerit_ns, found.measured_mean_ns, found.model_mean_ns), (300, 2_000, 2_300));
    assert!((found.demerit_share - 0.15).abs() < 1e-9);
}

#[test]
fn bad_lines_are_named() {
    let cases = [
        ("R Hit 1 2 3.0 4.0\nX Hit 1 2 3.0 4.0\n", "line 2: direction \"X\""),
        ("R Hit 1 2 3.0\n", "line 1: 5 fields"),
        ("R Hit 1 0 3.0 4.0\n", "line 1: blocks out of range"),
        ("R Hit -1 2 3.0 4.0\n", "line 1: start \"-1\""),
        ("R Hit 1 2 nan 4.0\n", "line 1: service time NaN"),
        ("\n\n", "has no lines"),
    ];
    for (text, wanted) in cases {
        let error = validate::read_trace(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(wanted), "{text:?} gives {error:?}");
    }
    let beyond = validate::read_trace("R Hit 99999999999 2 3.0 4.0\n".as_bytes()).expect("well formed");
    let profile = Profile::named("cheetah9lp").expect("a built-in profile");
    let error = validate::validate(&profile, &beyond).expect_err("beyond the end").to_string();
    assert!(error.contains("line 1: sectors 99999999999+2 reach beyond the end"), "{error}");
}
