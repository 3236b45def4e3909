//! What a stream of requests shows of each process: its steps, and what each step waits for.
//!
//! A step is issued once its predecessor was issued and no more of the process's requests are outstanding than
//! were in reality, and some time after that: the process's own. That holds for processes that wait for each
//! request, for those that keep several outstanding, for bursts and for writeback alike.
//!
//! Several requests that were merged complete at one moment, and as many may follow at once. Each of
//! these is taken to have waited for one of them.

use idlewise_core::selectors::Row;
use idlewise_core::{Duration, Group, Instant, Request, Sector};
use rustc_hash::FxHashMap;

/// One request of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The request; its arrival is of no meaning.
    pub request: Request,
    /// It waits until no more of its process's requests are outstanding.
    pub outstanding: u32,
    /// How long after that, and after its predecessor, it is issued.
    pub delay: Duration,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its number, or its group's.
    pub who: u64,
    /// When it issues its first step, counted from the beginning.
    pub start: Duration,
    /// Its requests, in order.
    pub steps: Vec<Step>,
    /// How far it has come after the last step, if it reads or writes in order: it then goes on from there.
    pub advance: Option<u64>,
    /// The part of the disk that it was seen in.
    pub range: (Sector, Sector),
}

/// A process's requests while they are looked through.
#[derive(Default)]
struct Trail {
    script: Vec<Step>,
    start: Option<Duration>,
    /// Completions not yet passed, and those that were.
    pending: Vec<Instant>,
    last_arrival: Option<Instant>,
    last_completion: Option<Instant>,
    /// Requests that the last completions at one moment left outstanding, and how many those were.
    batch: u32,
    since_batch: u32,
    continues: usize,
    end: Sector,
    low: u64,
    high: u64,
}

fn key(row: &Row) -> u64 {
    if row.group == Group::UNKNOWN { u64::from(row.issuer.0) } else { 1 << 32 | u64::from(row.group.0) }
}

impl Trail {
    /// Counts completions up to `now` as done.
    fn pass(&mut self, now: Instant) {
        let mut latest = None;
        let mut count = 0;
        self.pending.retain(|done| {
            if *done > now {
                return true;
            }
            match latest {
                Some(time) if *done > time => (latest, count) = (Some(*done), 1),
                Some(time) if *done == time => count += 1,
                Some(_) => {}
                None => (latest, count) = (Some(*done), 1),
            }
            false
        });
        if let Some(time) = latest {
            self.last_completion = Some(time);
            (self.batch, self.since_batch) = (count, 0);
        }
    }

    fn add(&mut self, row: &Row, beginning: Instant) {
        let now = row.arrival;
        self.pass(now);
        self.since_batch += 1;
        let still = self.pending.len() as u32;
        // The j-th request after k completions at once waited for the j-th of them.
        let outstanding = still + self.batch.saturating_sub(self.since_batch);
        let from = match (self.last_arrival, self.last_completion) {
            (Some(arrival), Some(done)) => arrival.max(done),
            (Some(at), None) | (None, Some(at)) => at,
            (None, None) => beginning,
        };
        let delay = now.since(from);
        if self.script.is_empty() {
            let waits = self.last_completion.is_some() || still > 0;
            self.start = Some(if waits { Duration::ZERO } else { now.since(beginning) });
            (self.low, self.high) = (row.start.0, row.start.0 + u64::from(row.length.0));
        } else {
            self.continues += usize::from(row.start == self.end);
        }
        self.low = self.low.min(row.start.0);
        self.high = self.high.max(row.start.0 + u64::from(row.length.0));
        self.end = row.start + row.length;
        self.last_arrival = Some(now);
        self.pending.push(row.done.map_or(Instant::MAX, |done| Instant(done.get())));
        self.script.push(Step { request: row.request(), outstanding, delay });
    }

    fn finish(self, who: u64) -> Option<Script> {
        let first = self.script.first()?.request.start;
        let ordered = 2 * self.continues + 1 >= self.script.len();
        let advance = ordered.then(|| self.end.0.saturating_sub(first.0)).filter(|advance| *advance > 0);
        Some(Script {
            who,
            start: self.start.unwrap_or_default(),
            steps: self.script,
            advance,
            range: (Sector(self.low), Sector(self.high)),
        })
    }
}

/// Of a process that issued nothing in the window because it waits, so many earlier requests tell what it does.
const EARLIER: usize = 32;

/// The processes of `rows`, which are in order of arrival. Rows before `beginning` count as long as they are
/// outstanding then. A process that waits all the time is known by what it did before.
pub fn scripts(rows: &[Row], beginning: Instant) -> Vec<Script> {
    let mut order: Vec<u64> = Vec::new();
    let mut by_process: FxHashMap<u64, Vec<&Row>> = FxHashMap::default();
    for row in rows {
        by_process.entry(key(row)).or_insert_with(|| {
            order.push(key(row));
            Vec::new()
        });
        if let Some(own) = by_process.get_mut(&key(row)) {
            own.push(row);
        }
    }
    order.into_iter().filter_map(|who| script(who, by_process.get(&who)?, beginning)).collect()
}

/// What one process does.
fn script(who: u64, rows: &[&Row], beginning: Instant) -> Option<Script> {
    let last = rows.last()?;
    let starves = last.arrival < beginning && last.done.is_none();
    let first = if starves { rows.len().saturating_sub(EARLIER) } else { 0 };
    let beginning = if starves { rows[first].arrival } else { beginning };
    let mut trail = Trail::default();
    for row in rows {
        if row.arrival >= beginning {
            trail.add(row, beginning);
        } else if row.done.is_none_or(|done| done.get() > beginning.0) {
            trail.pending.push(row.done.map_or(Instant::MAX, |done| Instant(done.get())));
        }
    }
    trail.finish(who)
}
