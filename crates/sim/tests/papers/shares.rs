//! SOSP'01 §2 and §4.7: shares of the disk for synchronous processes.

use idlewise_sim::metrics::{IssuerShare, Report};

use super::{PLACEMENT, rate, reasons, set, streams};

/// Each process's share of disk time, or of requests, in order of its number.
fn shares(report: &Report, of: impl Fn(&IssuerShare) -> f64) -> Vec<f64> {
    let mut issuers: Vec<_> = report.issuers.iter().collect();
    issuers.sort_by_key(|issuer| issuer.id);
    let sum: f64 = issuers.iter().map(|issuer| of(issuer)).sum();
    issuers.iter().map(|issuer| of(issuer) / sum).collect()
}

fn of_time(scheduler: &str, more: &str) -> Vec<f64> {
    shares(&streams("sync-streams", scheduler, more), |issuer| issuer.service_share)
}

fn near(shares: &[f64], wanted: &[f64], tolerance: f64) -> bool {
    let sum: f64 = wanted.iter().sum();
    shares.iter().zip(wanted).all(|(share, wanted)| (share - wanted / sum).abs() <= tolerance)
}

/// §2: shares of 1:2 come out close to 1:1, since neither process has a request when it would be its turn.
#[test]
fn without_anticipation_weights_of_synchronous_processes_do_nothing() {
    for scheduler in ["stride", "stride-sptf", "yfq", "lottery"] {
        let shares = of_time(scheduler, ",weights=100:200");
        assert!(near(&shares, &[1.0, 1.0], 0.05), "{scheduler}: {shares:.3?}");
    }
}

/// §4.7: with it they are kept.
#[test]
fn with_anticipation_they_are_kept() {
    for scheduler in ["antic-stride", "antic-stride-sptf"] {
        let shares = of_time(scheduler, ",weights=100:200");
        assert!(near(&shares, &[1.0, 2.0], 0.03), "{scheduler}: {shares:.3?}");
    }
    let report = streams("sync-streams", "antic-yfq", ",weights=100:200");
    let bytes = shares(&report, |issuer| issuer.bytes as f64);
    assert!(near(&bytes, &[1.0, 2.0], 0.03), "antic-yfq counts bytes: {bytes:.3?}");
}

/// §3.4: a process is waited for if it thinks for less than 3 ms.
#[test]
fn shares_are_kept_for_think_times_below_3_ms() {
    let of = |think: &str| of_time("antic-stride", &format!(",weights=100:200,think={think}"));
    for think in ["2400us", "2600us", "2950us"] {
        assert!(near(&of(think), &[1.0, 2.0], 0.03), "{think}: {:.3?}", of(think));
    }
    for think in ["3ms", "3100us"] {
        assert!(near(&of(think), &[1.0, 1.0], 0.05), "{think}: {:.3?}", of(think));
    }
}

/// §3.5: the combination waits for either reason, and says for which.
#[test]
fn a_combined_decision_has_one_reason() {
    for (think, pattern, said) in [("1ms", "seq", "that saves"), ("2ms", "random", "of the least served")] {
        let workload = format!("sync-streams:{PLACEMENT},weights=100:200,think={think},pattern={pattern}");
        let reasons = reasons("antic-stride-sptf", &workload);
        let waits: Vec<&str> = reasons.lines().filter(|line| line.contains(" wait at most ")).collect();
        assert!(waits.iter().any(|line| line.contains(said)), "{think}, {pattern}");
        for line in waits {
            assert!(line.contains("waits for process") && !line.contains("no wait"), "{line}");
        }
    }
}

/// A clock that may not lag while its process thinks undoes it: 1:2 comes out near 1:1 again.
#[test]
fn a_clock_that_is_reset_at_once_loses_the_share() {
    let workload = format!("sync-streams:{PLACEMENT},weights=100:200,think=500us");
    let report = set("deskstar-34gxp", "antic-stride", &[("lag", 0)], &workload);
    let shares = shares(&report, |issuer| issuer.service_share);
    assert!(shares[1] < 0.6, "{shares:.3?}");
}

/// §4.7: the combination of both heuristics loses nothing of the throughput.
#[test]
fn shares_with_few_seeks_cost_no_throughput() {
    let free = rate(&streams("sync-streams", "antic-aged-sptf", ""));
    let shared = rate(&streams("sync-streams", "antic-stride-sptf", ",weights=100:200"));
    assert!(shared >= 0.97 * free, "{shared:.1} of {free:.1} MB/s");
}

/// §2: shares of 1:1:3 give 1:1:2 under stride, and 2:2:3 under lottery scheduling.
#[test]
fn three_processes_get_what_the_paper_says() {
    let more = ",n=3,weights=100:100:300";
    let stride = shares(&streams("sync-streams", "stride", more), |issuer| issuer.service_share);
    assert!(near(&stride, &[1.0, 1.0, 2.0], 0.02), "{stride:.3?}");
    let lottery = shares(&streams("sync-streams", "lottery", more), |issuer| issuer.requests as f64);
    assert!(near(&lottery, &[2.0, 2.0, 3.0], 0.02), "{lottery:.3?}");
    let anticipated = of_time("antic-stride", more);
    assert!(near(&anticipated, &[1.0, 1.0, 3.0], 0.03), "{anticipated:.3?}");
}
