//! The longest wait of a run as a page of text: the request, what happened while it waited, and who was served meanwhile.

use std::fmt::Write as _;

use idlewise_core::{Duration, Instant, Issuer};
use idlewise_sim::engine::timeline::Timeline;
use idlewise_sim::metrics::{IssuerShare, Report};

use super::grid::aligned;
use super::numbers::{grouped, three};

/// Whose request took longest, and a watch for that request in a second run.
pub(crate) fn longest(report: &Report) -> Option<(&IssuerShare, Timeline)> {
    let single = report.issuers.iter().filter(|issuer| issuer.id != u32::MAX);
    let slowest =
        single.max_by_key(|issuer| issuer.latency_ns_max).filter(|issuer| issuer.latency_ns_max > 0)?;
    Some((slowest, Timeline::of(Issuer(slowest.id), Instant(slowest.longest_issued_ns))))
}

/// The page.
pub(crate) fn page(report: &Report, slowest: &IssuerShare, timeline: &Timeline) -> String {
    let (took, [queued, served]) = (timeline.took().unwrap_or_default(), timeline.before());
    let issued = Instant(slowest.longest_issued_ns);
    let who = name(report, Issuer(slowest.id));
    let mut text = format!(
        "The longest wait under {}: a request of process {who} was issued at {:.6} s and took {took}. Then {queued} other \
         requests were in the queue and {served} at the disk.\n\n{}\n",
        report.scheduler,
        issued.0 as f64 / 1e9,
        timeline.text()
    );
    let mut given: Vec<_> = timeline.given().iter().collect();
    given.sort_by_key(|(_, given)| std::cmp::Reverse(given.service));
    let heads = ["served meanwhile", "requests", "MB", "disk time", "share of the wait"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (issuer, given) in given {
        let share = given.service.0 as f64 / took.0.max(1) as f64 * 100.0;
        rows.push(vec![
            name(report, *issuer),
            grouped(given.requests as i64),
            three(given.bytes as f64 / 1e6),
            Duration(given.service.0).to_string(),
            format!("{} %", three(share)),
        ]);
    }
    let _ = if rows.len() > 1 { writeln!(text, "{}", aligned(&rows).trim_end()) } else { Ok(()) };
    text
}

/// `3 (reader)`
fn name(report: &Report, issuer: Issuer) -> String {
    let own = report.issuers.iter().find(|share| share.id == issuer.0);
    match own.and_then(|share| share.name.as_deref()).filter(|name| !name.is_empty()) {
        Some(name) => format!("{} ({name})", issuer.0),
        None => issuer.0.to_string(),
    }
}
