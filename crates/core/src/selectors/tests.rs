//! What holds for every selector, on random evidence: no flapping, a reason for each decision, the same
//! decisions from the same evidence, bounded memory.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::contract::Setup;
use super::{Action, Candidate, Chooser, Decision, Entry, Prediction, Rank, Summary, registry};
use crate::registry::Assignment;
use crate::rng::Random;
use crate::units::{Duration, Instant};
use crate::{Device, Queue};

/// What a chooser was given at one moment.
#[derive(Clone, Debug)]
enum Evidence {
    Period(Summary),
    Predicted(Vec<Prediction>),
}

fn candidates(entry: &Entry) -> Vec<Candidate> {
    let field = entry.field().expect("there is memory");
    assert_eq!(field.len(), entry.candidates.len() + entry.tuned.len(), "{}: a name is unknown", entry.name);
    field
}

fn chooser(entry: &Entry, settings: &[Assignment<'_>]) -> Chooser {
    let candidates = candidates(entry);
    let ranks = [Rank { up_to: 16_384, candidate: 1 }, Rank { up_to: 1 << 20, candidate: 2 }];
    let setup = Setup { candidates: &candidates, cells: None, ranks: &ranks };
    Chooser::new(entry, 64, setup, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// A period that shows anything.
fn summary(random: &mut Random, seed: u64, length: Duration) -> Summary {
    let mut below = |bound: u32| u64::from(random.below(seed, bound));
    let requests = [0, 3, 40, 2000][below(4) as usize];
    let part = |below: &mut dyn FnMut(u32) -> u64| below(requests as u32 + 1);
    Summary {
        length,
        busy: Duration(below(1 << 27)),
        requests,
        reads: part(&mut below),
        sync: part(&mut below),
        merged: part(&mut below),
        sequential: part(&mut below),
        local: part(&mut below),
        newcomers: if below(4) == 0 { part(&mut below) } else { 0 },
        bytes: requests * (512 << below(11)),
        processes: 1 + below(30),
        outstanding: below(100_000),
        thinks: below(1000),
        think_ns: below(1 << 30),
        done: requests,
        done_bytes: below(1 << 30),
        slowest_bytes: below(1 << 20),
        fastest_bytes: below(1 << 25),
        jain_permille: below(1001),
        sync_read_p99: Duration(below(1 << 30)),
    }
}

/// Plays `periods` of random evidence, and returns it with the decisions.
fn play(chooser: &mut Chooser, seed: u64, periods: u32) -> Vec<(Instant, Evidence, Decision)> {
    let mut random = Random::default();
    let mut played = Vec::new();
    let mut asked = false;
    let length = chooser.period();
    for period in 1..=periods {
        let now = Instant(length.0 * u64::from(period));
        if asked {
            let count = chooser.candidates().len() as u32;
            let one = |candidate: u32| Prediction {
                candidate: candidate as u8,
                throughput: u64::from(random.below(seed, 1 << 28)),
                slowest: 7,
                jain_permille: 900,
                sync_read_p99: Duration(5),
                longest: Duration::from_ms(u64::from(random.below(seed, 4000))),
                settles: Duration::from_ms(u64::from(random.below(seed, 500))),
                requests: u64::from(random.below(seed, 1000)),
            };
            let predictions: Vec<Prediction> = (0..count).map(one).collect();
            let at = now - Duration(1);
            let decision = chooser.predicted(at, &predictions);
            played.push((at, Evidence::Predicted(predictions), decision));
        }
        let summary = summary(&mut random, seed, length);
        let decision = chooser.judge(now, &summary);
        asked = matches!(decision.action, Action::Predict(_));
        played.push((now, Evidence::Period(summary), decision));
    }
    played
}

/// Switches of a selector with these settings, in a number of periods of random evidence.
fn switches(entry: &Entry, settings: &[Assignment<'_>], seed: u64, periods: u32) -> u64 {
    let mut chooser = chooser(entry, settings);
    play(&mut chooser, seed, periods);
    chooser.switches()
}

#[test]
fn switches_are_at_least_a_dwell_time_apart() {
    for entry in registry::all() {
        for seed in 1..=20 {
            for dwell_ms in [1, 1000, 2500, 7000] {
                let settings = [("dwell", dwell_ms), ("period", 250), ("agree", 1), ("idle", 0)];
                let found = switches(entry, &settings, seed, 400);
                let most = 400 * 250 / dwell_ms + 1;
                assert!(found <= most, "{}, seed {seed}, dwell {dwell_ms} ms: {found} switches", entry.name);
            }
        }
    }
}

#[test]
fn without_dwell_time_there_would_be_more_switches() {
    // Else the test above could not fail. The ranking sees sizes only, and smooths them. `auto-predict` would not believe
    // predictions that are made up.
    for entry in registry::all() {
        let believes = if entry.name == "auto-predict" { &[("rest", 0)][..] } else { &[] };
        let settings = [&[("dwell", 0), ("period", 250), ("idle", 0)], believes].concat();
        let free = switches(entry, &settings, 3, 400);
        assert!(free > 400 * 250 / 7000 + 1, "{}: {free} switches", entry.name);
    }
}

#[test]
fn agreement_and_idleness_hold_back() {
    for entry in registry::all().iter().filter(|entry| entry.name != "auto-predict") {
        let free = switches(entry, &[("dwell", 0), ("idle", 0)], 5, 400);
        let agreed = switches(entry, &[("dwell", 0), ("idle", 0), ("agree", 3)], 5, 400);
        assert!(agreed < free, "{}: {agreed} of {free}", entry.name);
        let idle = switches(entry, &[("dwell", 0), ("idle", 1_000_000)], 5, 400);
        assert_eq!(idle, 0, "{}", entry.name);
    }
}

#[test]
fn every_decision_has_a_reason() {
    for entry in registry::all() {
        for (at, _, decision) in play(&mut chooser(entry, &[]), 11, 300) {
            let why = decision.why.to_string();
            assert!(why.len() > 8 && !why.contains("{}"), "{} at {at}: '{why}'", entry.name);
        }
    }
}

#[test]
fn the_same_evidence_makes_the_same_decisions() {
    for entry in registry::all() {
        for seed in 1..=10 {
            let played = play(&mut chooser(entry, &[]), seed, 300);
            let mut again = chooser(entry, &[]);
            for (at, evidence, decision) in played {
                let now = match &evidence {
                    Evidence::Period(summary) => again.judge(at, summary),
                    Evidence::Predicted(predictions) => again.predicted(at, predictions),
                };
                assert_eq!(now, decision, "{}, seed {seed}, at {at}: {evidence:?}", entry.name);
            }
        }
    }
}

#[test]
fn a_choice_by_hand_stands() {
    for entry in registry::all() {
        let mut chooser = chooser(entry, &[("manual", 2)]);
        assert_eq!(chooser.current(), 1);
        for (_, _, decision) in play(&mut chooser, 13, 100) {
            assert!(!matches!(decision.action, Action::Switch(_)), "{}", entry.name);
        }
    }
}

#[test]
fn a_choice_by_hand_is_one_of_the_candidates() {
    for entry in registry::all() {
        let count = candidates(entry).len() as u64;
        let error = chooser_error(entry, "manual", count + 1);
        assert!(error.contains(&format!("but there are {count} candidates")), "{error}");
        assert_eq!(chooser(entry, &[("manual", count)]).current() as u64, count - 1, "{}", entry.name);
    }
}

#[test]
fn a_selector_holds_at_most_a_mebibyte() {
    for entry in registry::all() {
        let candidates = candidates(entry);
        let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
        let chooser = Chooser::new(entry, 4096, setup, &[]).unwrap();
        assert!(chooser.memory() <= 1 << 20, "{}: {} bytes", entry.name, chooser.memory());
    }
}

#[test]
fn every_selector_is_found_by_its_name_and_names_schedulers() {
    for entry in registry::all() {
        assert_eq!(registry::find(entry.name).map(|found| found.name), Some(entry.name));
        assert!(entry.name.starts_with("auto-"), "{}", entry.name);
        assert!(!candidates(entry).is_empty());
        for candidate in candidates(entry) {
            let built = Queue::new(8, Device::default(), candidate.entry, &candidate.settings);
            assert!(built.is_ok(), "{}: {} with {:?}", entry.name, candidate.entry.name, candidate.settings);
        }
        let unknown = chooser_error(entry, "no-such-tunable", 1);
        assert!(unknown.contains("no such tunable"), "{unknown}");
    }
}

#[test]
fn every_selector_has_a_page() {
    for entry in registry::all() {
        let page = registry::source(entry.name).unwrap_or_default();
        for section in ["//! # How it decides\n", "//! # Source\n", "//! # Good for, bad for\n"] {
            assert!(page.contains(section), "{}: {section}", entry.name);
        }
    }
    assert_eq!(registry::source("auto"), None);
}

fn chooser_error(entry: &Entry, tunable: &str, value: u64) -> alloc::string::String {
    let candidates = candidates(entry);
    let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
    match Chooser::new(entry, 8, setup, &[(tunable, value)]) {
        Ok(_) => format!("{} was built", entry.name),
        Err(error) => error.to_string(),
    }
}
