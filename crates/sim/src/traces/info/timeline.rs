//! The kind of load over time: the category of each period, as IOAZ classifies it, equal ones in a row as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use idlewise_core::selectors::activity::Activity;
use idlewise_core::selectors::{Bounds, Category, Summary};
use idlewise_core::tunables::Tunables as _;
use idlewise_core::{Duration, Instant, Operation, Request, Sectors};
use serde::Serialize;

use crate::replay::infer::Inference;
use crate::traces::Record;

/// Stretches kept; later ones are counted only.
const MOST: usize = 10_000;
/// Stretches that a page for people shows.
const SHOWN: usize = 24;
/// A longer request was made of several blocks.
const BLOCK: Sectors = Sectors(8);

/// The kind of load over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The length of a period.
    pub period_ns: u64,
    /// Periods of one category in a row, in order of time.
    pub stretches: Vec<Stretch>,
    /// Further stretches that are not listed.
    pub omitted: u64,
}

/// Periods in a row with the same category.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stretch {
    /// When it begins.
    pub begins_ns: u64,
    /// How many periods it has.
    pub periods: u64,
    /// The category; absent if nothing was asked for.
    pub category: Option<String>,
    /// Its requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The share of reads.
    pub read_share: f64,
    /// The share of requests that are longer than a block, which IOAZ takes for sequential.
    pub pooled_share: f64,
    /// The share of requests that begin where their issuer's last one ended.
    pub sequential_share: f64,
    /// The share of requests that somebody waits for.
    pub sync_share: f64,
    /// The most processes in a period.
    pub processes: u64,
}

/// Builds a timeline from records in order of arrival.
pub(super) struct Builder {
    activity: Activity,
    inference: Inference,
    bounds: Bounds,
    period: Duration,
    opened: Instant,
    row: u64,
    /// Completions to come: their time, and the request.
    pending: BinaryHeap<Reverse<(Instant, u64)>>,
    requests: std::collections::HashMap<u64, Request>,
    timeline: Timeline,
    sums: Summary,
}

impl Builder {
    pub(super) fn new(period: Duration) -> Builder {
        let period = Duration(period.0.max(1));
        Builder {
            activity: Activity::new(BLOCK).expect("there is memory for a small table"),
            inference: Inference::default(),
            bounds: Bounds::defaults(),
            period,
            opened: Instant::ZERO,
            row: 0,
            pending: BinaryHeap::new(),
            requests: std::collections::HashMap::new(),
            timeline: Timeline { period_ns: period.0, ..Timeline::default() },
            sums: Summary::default(),
        }
    }

    pub(super) fn add(&mut self, record: &Record) {
        let issuer = self.inference.infer(record, self.row).issuer;
        self.row += 1;
        self.pass(record.arrival);
        if record.operation == Operation::Flush {
            return;
        }
        let request = Request {
            arrival: record.arrival,
            start: record.start,
            length: record.length,
            issuer,
            operation: record.operation,
            sync: record.sync,
            ..Request::default()
        };
        self.activity.inserted(record.arrival, &request, false);
        if let Some(done) = record.completed {
            self.pending.push(Reverse((done, self.row)));
            self.requests.insert(self.row, request);
        }
    }

    /// Counts completions, and closes periods, up to `now`.
    fn pass(&mut self, now: Instant) {
        while let Some(&Reverse((done, row))) = self.pending.peek()
            && done <= now
        {
            self.close_until(done);
            self.pending.pop();
            if let Some(request) = self.requests.remove(&row) {
                self.activity.completed(done, &request);
            }
        }
        self.close_until(now);
    }

    fn close_until(&mut self, now: Instant) {
        while now.since(self.opened) >= self.period {
            let summary = self.activity.close(self.opened + self.period, self.period);
            let mut periods = 1;
            if summary.requests == 0 {
                // A long pause is one step.
                periods = now.since(self.opened).0 / self.period.0;
            }
            self.put(&summary, periods);
            self.opened += self.period * periods;
        }
    }

    fn put(&mut self, summary: &Summary, periods: u64) {
        let category = Category::of(summary, &self.bounds).map(|category| category.to_string());
        let goes_on = self.timeline.stretches.last().is_some_and(|last| last.category == category);
        if !goes_on {
            if self.timeline.stretches.len() == MOST {
                self.timeline.omitted += 1;
                return;
            }
            self.sums = Summary::default();
            let fresh = Stretch { begins_ns: self.opened.0, category, ..Stretch::default() };
            self.timeline.stretches.push(fresh);
        }
        let sums = &mut self.sums;
        sums.requests += summary.requests;
        sums.reads += summary.reads;
        sums.merged += summary.merged;
        sums.sequential += summary.sequential;
        sums.sync += summary.sync;
        let share = |part: u64| part as f64 / sums.requests.max(1) as f64;
        if let Some(stretch) = self.timeline.stretches.last_mut() {
            stretch.periods += periods;
            stretch.requests = sums.requests;
            stretch.bytes += summary.bytes;
            stretch.read_share = share(sums.reads);
            stretch.pooled_share = share(sums.merged);
            stretch.sequential_share = share(sums.sequential);
            stretch.sync_share = share(sums.sync);
            stretch.processes = stretch.processes.max(summary.processes);
        }
    }

    pub(super) fn finish(mut self) -> Timeline {
        let end = self.opened + self.period;
        self.pass(end);
        self.timeline
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stretches.is_empty() {
            return Ok(());
        }
        let period = Duration(self.period_ns);
        writeln!(f, "kind of load   (IOAZ §3.3, by periods of {period})")?;
        for stretch in self.stretches.iter().take(SHOWN) {
            let begins = format!("{:.1} s", stretch.begins_ns as f64 / 1e9);
            let lasts = format!("{:.1} s", (stretch.periods * self.period_ns) as f64 / 1e9);
            write!(f, "{begins:>14} {lasts:>10}  ")?;
            let Some(category) = &stretch.category else {
                writeln!(f, "nothing")?;
                continue;
            };
            let percent = |share: f64| share * 100.0;
            writeln!(
                f,
                "{category:<22} {:>8} requests, {:.0} % reads, {:.0} % pooled, {:.0} % sequential, {:.0} % sync",
                stretch.requests,
                percent(stretch.read_share),
                percent(stretch.pooled_share),
                percent(stretch.sequential_share),
                percent(stretch.sync_share),
            )?;
        }
        let more = self.stretches.len().saturating_sub(SHOWN) as u64 + self.omitted;
        if more > 0 { writeln!(f, "{more:>14} more; --json lists up to {MOST}") } else { Ok(()) }
    }
}
