//! The kind of load over time: the category of each period, as IOAZ classifies it, equal ones in a row as one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;

use idlewise_core::selectors::activity::Activity;
use idlewise_core::selectors::{Bounds, Category, Summary};
use idlewise_core::{Duration, Instant, Operation, Request};
use serde::Serialize;

use crate::traces::Record;
use crate::traces::infer::Inference;

/// Requests outstanding that are counted.
pub(super) const MAX_DEPTH: usize = 65_536;

/// Stretches kept; later ones are counted only.
const MOST: usize = 10_000;
/// Stretches that a page for people shows.
const SHOWN: usize = 24;

/// The kind of load over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The length of a period.
    pub period_ns: u64,
    /// Periods of one category in a row, in order of time.
    pub stretches: Vec<Stretch>,
    /// Further stretches that are not listed.
    pub omitted: u64,
    /// The trace tells no issuers: the categories count streams of neighbouring requests as processes.
    pub processes_guessed: bool,
}

/// Periods in a row with the same category.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stretch {
    /// When it begins.
    pub begins_ns: u64,
    /// How many periods it has.
    pub periods: u64,
    /// The category, `flushes` if there was nothing else; absent if nothing was asked for.
    pub category: Option<String>,
    /// Requests in the stretch, of which the shares are.
    pub requests: u64,
    /// Flushes among them. They move nothing, so that the category does not go by them.
    pub flushes: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// The share of reads.
    pub read_share: f64,
    /// The share of requests that are longer than a block, which IOAZ takes for sequential.
    pub pooled_share: f64,
    /// The share of requests that begin where their issuer's last one ended.
    pub sequential_share: f64,
    /// The share of requests within 1 MiB of there.
    pub local_share: f64,
    /// The share of requests that somebody waits for.
    pub sync_share: f64,
    /// The most processes in a period.
    pub processes: u64,
    /// Requests that arrive in a second.
    pub arrivals_per_s: u64,
    /// The mean number of requests outstanding when one arrives; absent while no completion is known.
    pub mean_depth: Option<f64>,
    /// The mean time from an issuer's last completion to its next request; absent if none is known.
    pub mean_think_ns: Option<u64>,
}

/// What a period was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Nothing,
    Flushes,
    Of(Category),
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
    requests: HashMap<u64, Request>,
    /// The trace has told when a request was done.
    told: bool,
    /// The trace has told who issued a request.
    issuers_told: bool,
    /// Flushes in the period that runs.
    flushes: u64,
    /// What the last period was asked for, once there was one.
    load: Option<Load>,
    timeline: Timeline,
    sums: Summary,
}

impl Builder {
    pub(super) fn new(period: Duration, bounds: Bounds) -> Builder {
        let period = Duration(period.0.max(1));
        Builder {
            activity: Activity::new(bounds.block()).expect("there is memory for a small table"),
            inference: Inference::default(),
            bounds,
            period,
            opened: Instant::ZERO,
            row: 0,
            pending: BinaryHeap::new(),
            requests: HashMap::new(),
            told: false,
            issuers_told: false,
            flushes: 0,
            load: None,
            timeline: Timeline { period_ns: period.0, ..Timeline::default() },
            sums: Summary::default(),
        }
    }

    pub(super) fn add(&mut self, record: &Record) {
        self.issuers_told |= record.issuer.is_some();
        let issuer = self.inference.infer(record, self.row).issuer;
        self.row += 1;
        self.pass(record.arrival);
        if record.operation == Operation::Flush {
            self.flushes += 1;
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
        self.told |= record.completed.is_some();
        match record.completed.filter(|_| self.pending.len() < MAX_DEPTH) {
            Some(done) => {
                self.pending.push(Reverse((done, self.row)));
                self.requests.insert(self.row, request);
            }
            // Else it would be outstanding for good.
            None => self.activity.completed(record.arrival, &request),
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
            let flushes = std::mem::take(&mut self.flushes);
            let mut periods = 1;
            if summary.requests == 0 && flushes == 0 {
                // A long pause is one step.
                periods = now.since(self.opened).0 / self.period.0;
            }
            self.put(&summary, flushes, periods);
            self.opened += self.period * periods;
        }
    }

    fn put(&mut self, summary: &Summary, flushes: u64, periods: u64) {
        let load = match Category::of(summary, &self.bounds) {
            Some(category) => Load::Of(category),
            None if flushes > 0 => Load::Flushes,
            None => Load::Nothing,
        };
        if self.load != Some(load) {
            self.load = Some(load);
            self.begin(load);
        }
        // What belongs to a stretch that is not listed is not added to the last one that is.
        let Some(stretch) = self.timeline.stretches.last_mut().filter(|_| self.timeline.omitted == 0) else {
            return;
        };
        let sums = &mut self.sums;
        sums.length += summary.length * periods;
        sums.requests += summary.requests;
        sums.reads += summary.reads;
        sums.merged += summary.merged;
        sums.sequential += summary.sequential;
        sums.local += summary.local;
        sums.sync += summary.sync;
        sums.outstanding += summary.outstanding;
        sums.thinks += summary.thinks;
        sums.think_ns = sums.think_ns.saturating_add(summary.think_ns);
        stretch.periods += periods;
        stretch.bytes += summary.bytes;
        stretch.flushes += flushes;
        stretch.processes = stretch.processes.max(summary.processes);
        stretch.show(sums, self.told);
    }

    /// The first period of a stretch is over.
    fn begin(&mut self, load: Load) {
        if self.timeline.stretches.len() == MOST {
            self.timeline.omitted += 1;
            return;
        }
        self.sums = Summary::default();
        let category = match load {
            Load::Nothing => None,
            Load::Flushes => Some("flushes".to_owned()),
            Load::Of(category) => Some(category.to_string()),
        };
        let fresh = Stretch { begins_ns: self.opened.0, category, ..Stretch::default() };
        self.timeline.stretches.push(fresh);
    }

    pub(super) fn finish(mut self) -> Timeline {
        let end = self.opened + self.period;
        self.pass(end);
        self.timeline.processes_guessed = !self.issuers_told && self.row > 0;
        self.timeline
    }
}

impl Stretch {
    /// Takes over the sums of its periods. `told`: completions are known.
    fn show(&mut self, sums: &Summary, told: bool) {
        let all = Summary { requests: sums.requests + self.flushes, ..*sums };
        let share = |part: u64| part as f64 / all.requests.max(1) as f64;
        self.requests = all.requests;
        self.read_share = share(sums.reads);
        self.pooled_share = share(sums.merged);
        self.sequential_share = share(sums.sequential);
        self.local_share = share(sums.local);
        self.sync_share = share(sums.sync + self.flushes);
        self.arrivals_per_s = all.arrivals_per_s();
        self.mean_depth = told.then(|| sums.mean_depth_percent() as f64 / 100.0);
        self.mean_think_ns = (told && sums.thinks > 0).then(|| sums.mean_think().0);
    }

    /// The stretch's cells for people.
    fn cells(&self, period_ns: u64) -> Vec<String> {
        let begins = format!("{:.1} s", self.begins_ns as f64 / 1e9);
        let lasts = format!("{:.1} s", self.periods as f64 * period_ns as f64 / 1e9);
        let Some(category) = &self.category else { return vec![begins, lasts, "nothing".to_owned()] };
        let shares =
            [self.read_share, self.pooled_share, self.sequential_share, self.local_share, self.sync_share];
        let counts = [category.clone(), self.requests.to_string(), self.arrivals_per_s.to_string()];
        let depth = self.mean_depth.map_or("-".to_owned(), |depth| format!("{depth:.2}"));
        let think = self.mean_think_ns.map_or("-".to_owned(), |think| Duration(think).to_string());
        let shares = shares.map(|share| format!("{:.0} %", share * 100.0));
        [begins, lasts].into_iter().chain(counts).chain(shares).chain([depth, think]).collect()
    }
}

/// The columns of the table: their titles and how wide they are. The third begins at its left.
const COLUMNS: [(&str, usize); 12] = [
    ("begins", 14),
    ("lasts", 10),
    ("kind", 22),
    ("requests", 8),
    ("per s", 7),
    ("reads", 7),
    ("pooled", 7),
    ("seq.", 7),
    ("local", 7),
    ("sync", 7),
    ("depth", 7),
    ("think", 8),
];
/// The column that begins at its left.
const KIND: usize = 2;

/// The first cells of a row, as many as there is room for.
fn row<'a>(cells: impl Iterator<Item = &'a str>, room: usize) -> String {
    let mut line = String::new();
    for (index, (cell, (_, width))) in cells.zip(COLUMNS).enumerate() {
        let padded = match index {
            0 => format!("{cell:>width$}"),
            KIND => format!("  {cell:<width$}"),
            _ => format!(" {cell:>width$}"),
        };
        if line.chars().count() + padded.chars().count() > room {
            break;
        }
        line += &padded;
    }
    line.trim_end().to_owned()
}

/// A table. A width, as in `{:80}`, is the most that it takes: columns for which there is no room are left out.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stretches.is_empty() {
            return Ok(());
        }
        let room = f.width().unwrap_or(usize::MAX);
        let guessed = if self.processes_guessed { "; how many processes, is guessed" } else { "" };
        writeln!(f, "kind of load   (IOAZ §3.3, by periods of {}{guessed})", Duration(self.period_ns))?;
        writeln!(f, "{}", row(COLUMNS.iter().map(|(title, _)| *title), room))?;
        for stretch in self.stretches.iter().take(SHOWN) {
            writeln!(f, "{}", row(stretch.cells(self.period_ns).iter().map(String::as_str), room))?;
        }
        let more = self.stretches.len().saturating_sub(SHOWN) as u64 + self.omitted;
        if more > 0 { writeln!(f, "{more:>14} more; --json lists up to {MOST}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::tunables::Tunables as _;
    use idlewise_core::{Issuer, Sector, Sectors};

    use super::*;

    const SECOND: Duration = Duration(1_000_000_000);

    fn builder() -> Builder {
        Builder::new(SECOND, Bounds::defaults())
    }

    /// A block at this second.
    fn record(second: u64, operation: Operation) -> Record {
        let start = Sector(second * 99_991 % 1_000_000);
        let issuer = Some(Issuer(1));
        Record { issuer, ..Record::new(Instant::ZERO + SECOND * second, operation, start, Sectors(8)) }
    }

    /// Reads and writes by turns, for this many seconds.
    fn turns(seconds: u64) -> Builder {
        let mut builder = builder();
        let by_turns = |second| if second % 2 == 0 { Operation::Read } else { Operation::Write };
        (0..seconds).for_each(|second| builder.add(&record(second, by_turns(second))));
        builder
    }

    #[test]
    fn a_period_after_the_last_listed_stretch_is_not_added_to_it() {
        let most = MOST as u64;
        let mut builder = turns(most + 1);
        // Writes again, as in the last stretch that is listed.
        builder.add(&record(most + 1, Operation::Write));
        let timeline = builder.finish();
        let last = timeline.stretches.last().unwrap();
        assert_eq!((timeline.stretches.len(), last.periods, last.requests), (MOST, 1, 1));
        assert_eq!(last.category.as_deref(), Some("1 random writes"));
    }

    #[test]
    fn stretches_that_are_not_listed_are_counted_and_not_their_periods() {
        let most = MOST as u64;
        let mut builder = turns(most);
        (most..most + 5).for_each(|second| builder.add(&record(second, Operation::Read)));
        (most + 5..most + 9).for_each(|second| builder.add(&record(second, Operation::Write)));
        assert_eq!(builder.finish().omitted, 2);
        assert_eq!(turns(most).finish().omitted, 0);
    }

    #[test]
    fn completions_far_in_the_future_take_a_fixed_amount_of_memory() {
        let mut builder = builder();
        let late = Record { completed: Some(Instant(u64::MAX)), ..record(0, Operation::Read) };
        (0..MAX_DEPTH + 1000).for_each(|_| builder.add(&late));
        assert_eq!((builder.pending.len(), builder.requests.len()), (MAX_DEPTH, MAX_DEPTH));
        assert_eq!(builder.activity.outstanding() as usize, MAX_DEPTH);
        builder.add(&record(1, Operation::Read));
        let depth = builder.finish().stretches[0].mean_depth.unwrap();
        assert!(depth > 30_000.0 && depth < MAX_DEPTH as f64, "{depth}");
    }

    #[test]
    fn depth_think_time_locality_and_rate_of_a_stretch_are_told() {
        let mut builder = builder();
        let ms = |ms: u64| Instant(ms * 1_000_000);
        for (came, done, start) in [(0, 10, 0), (5, 20, 1000), (50, 60, 500_000), (100, 101, 500_008)] {
            let (arrival, completed) = (ms(came), Some(ms(done)));
            builder.add(&Record { arrival, completed, start: Sector(start), ..record(0, Operation::Read) });
        }
        let timeline = builder.finish();
        let [stretch] = &timeline.stretches[..] else { panic!("{timeline:?}") };
        assert_eq!(stretch.arrivals_per_s, 4);
        assert_eq!(stretch.mean_depth, Some(0.25), "none, one, none and none");
        assert_eq!(stretch.mean_think_ns, Some(35_000_000), "30 ms and 40 ms");
        assert!((stretch.local_share - 0.5).abs() < 1e-9, "the second and the fourth: {stretch:?}");
        let text = timeline.to_string();
        let line = text.lines().last().unwrap();
        assert!(line.ends_with("0.25  35.0 ms") && line.contains("50 %"), "{text}");
    }

    #[test]
    fn without_completions_depth_and_think_time_are_absent() {
        let timeline = turns(4).finish();
        assert!(timeline.stretches.iter().all(|one| one.mean_depth.is_none() && one.mean_think_ns.is_none()));
        assert!(timeline.to_string().lines().last().unwrap().ends_with("-        -"), "{timeline}");
    }
}
