//! What the latest requests show of each process: its steps, and what each step waits for.
//!
//! A step is issued once its predecessor was issued and no more of the process's requests are outstanding than
//! were in reality, and some time after that: the process's own. The rule holds for processes that wait for each
//! request, for those that keep several outstanding, for bursts and for writeback alike.
//!
//! Several requests that were merged complete at one moment, and as many may follow at once. Each of
//! these is taken to have waited for one of them.

use idlewise_core::selectors::{Row, owner};
use idlewise_core::{Duration, Instant, Request, Sector, Sectors};
use rustc_hash::FxHashMap;

/// One request of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The request; its arrival is of no meaning.
    pub request: Request,
    /// The step waits until no more of its process's requests are outstanding.
    pub outstanding: u32,
    /// How long after that, and after its predecessor, it is issued.
    pub delay: Duration,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The process's number, or its group's.
    pub who: u64,
    /// When it issues its first step, counted from the beginning.
    pub start: Duration,
    /// The process's requests, in order.
    pub steps: Vec<Step>,
    /// How many steps came before the first of their completions was seen: when the script starts over, they wait as
    /// the later ones did.
    pub ramp: usize,
    /// The most requests that were outstanding when it issued another.
    pub depth: u32,
    /// The usual time from a completion to the next step.
    pub pause: Duration,
    /// How far it has come after the last step, if it reads or writes in order: it then continues from there.
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
    ramp: usize,
    end: Sector,
}

/// Who issued it: the number of the process, or of its group.
pub fn process(row: &Row) -> u64 {
    owner(row.issuer, row.group)
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
            if latest.is_none_or(|time| *done > time) {
                (latest, count) = (Some(*done), 1);
            } else if latest == Some(*done) {
                count += 1;
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
        if self.last_completion.is_none() {
            self.ramp = self.script.len() + 1;
        }
        if self.script.is_empty() {
            let waits = self.last_completion.is_some() || still > 0;
            self.start = Some(if waits { Duration::ZERO } else { now.since(beginning) });
        }
        self.end = row.start + row.length;
        self.last_arrival = Some(now);
        self.pending.push(row.done.map_or(Instant::MAX, |done| Instant(done.get())));
        self.script.push(Step { request: row.request(), outstanding, delay });
    }

    fn finish(self, who: u64, habit: &Habit) -> Option<Script> {
        let first = self.script.first()?.request.start;
        let mut pauses: Vec<Duration> = self.script[self.ramp..].iter().map(|step| step.delay).collect();
        let middle = pauses.len() / 2;
        let pause = match pauses.is_empty() {
            true => Duration::ZERO,
            false => *pauses.select_nth_unstable(middle).1,
        };
        let advance =
            habit.ordered.then(|| self.end.0.saturating_sub(first.0)).filter(|advance| *advance > 0);
        Some(Script {
            who,
            start: self.start.unwrap_or_default(),
            ramp: self.ramp,
            depth: self.script.iter().map(|step| step.outstanding).max().unwrap_or(0),
            pause,
            steps: self.script,
            advance,
            range: habit.range,
        })
    }
}

/// Where a process goes.
struct Habit {
    /// The process reads or writes in order.
    ordered: bool,
    range: (Sector, Sector),
}

impl Habit {
    /// As these requests show, which are in order of arrival. Flushes go nowhere. A single request shows no more
    /// than its size: large ones are mostly parts of files that are read in order, small ones may be anywhere
    /// in `whole`.
    fn of(rows: &[&Row], whole: (Sector, Sector)) -> Habit {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.length > Sectors(0)).collect();
        if rows.len() < 2 {
            return Habit { ordered: rows.first().is_some_and(|row| row.length >= LARGE), range: whole };
        }
        let continues =
            rows.windows(2).filter(|pair| pair[1].start == pair[0].start + pair[0].length).count();
        Habit { ordered: 2 * continues + 1 >= rows.len(), range: range(rows) }
    }
}

/// The part of the disk that these requests are in.
fn range<'a>(rows: impl IntoIterator<Item = &'a Row>) -> (Sector, Sector) {
    let ends = |row: &Row| (row.start, row.start + row.length);
    let both = |a: (Sector, Sector), b: (Sector, Sector)| (a.0.min(b.0), a.1.max(b.1));
    rows.into_iter().map(ends).reduce(both).unwrap_or_default()
}

/// A single request of this size is taken for a part of a file.
const LARGE: Sectors = Sectors(64);
/// How many requests tell where a process goes; if it has issued fewer, earlier ones count.
const TELLING: usize = 4;
/// Requests that tell what a process does: if it issued fewer in the window, as others go first, earlier ones of the
/// same load count; if it issued none because it waits all the time, also requests of another load.
pub const ENOUGH: usize = 32;

/// The processes of `rows`, which are in order of arrival, as they are since `beginning`. Earlier rows count as long as
/// they are outstanding then, and for those that have issued few since: then back to `load_begun`.
pub fn scripts(rows: &[Row], (load_begun, beginning): (Instant, Instant)) -> Vec<Script> {
    let mut order: Vec<u64> = Vec::new();
    let mut by_process: FxHashMap<u64, Vec<&Row>> = FxHashMap::default();
    for row in rows {
        by_process.entry(process(row)).or_insert_with(|| {
            order.push(process(row));
            Vec::new()
        });
        if let Some(own) = by_process.get_mut(&process(row)) {
            own.push(row);
        }
    }
    let whole = range(rows.iter().filter(|row| row.length > Sectors(0)));
    order
        .into_iter()
        .filter_map(|who| script(who, by_process.get(&who)?, (load_begun, beginning), whole))
        .collect()
}

/// What one process does, where all together use `whole`.
fn script(
    who: u64,
    rows: &[&Row],
    (load_begun, beginning): (Instant, Instant),
    whole: (Sector, Sector),
) -> Option<Script> {
    let before = |time: Instant| rows.partition_point(|row| row.arrival < time);
    let recent = before(beginning);
    let oldest = match rows.last()?.done {
        None if recent == rows.len() => 0,
        Some(_) if recent == rows.len() => return None,
        _ => before(load_begun),
    };
    let first = rows.len().saturating_sub(ENOUGH).max(oldest).min(recent);
    let beginning = if first < recent { rows[first].arrival } else { beginning };
    let mut trail = Trail::default();
    for row in rows {
        if row.arrival >= beginning {
            trail.add(row, beginning);
        } else if row.done.is_none_or(|done| done.get() > beginning.0) {
            trail.pending.push(row.done.map_or(Instant::MAX, |done| Instant(done.get())));
        }
    }
    let habit = Habit::of(&rows[rows.len() - trail.script.len().max(TELLING).min(rows.len())..], whole);
    trail.finish(who, &habit)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    fn row(arrival: u64, done: u64, start: u64) -> Row {
        let (arrival, done) = (Instant(arrival), NonZeroU64::new(done));
        Row {
            arrival,
            done,
            start: Sector(start),
            length: Sectors(8),
            issuer: idlewise_core::Issuer(1),
            ..Row::default()
        }
    }

    #[test]
    fn a_process_that_waits_for_each_request_thinks_in_between() {
        let rows = [row(100, 300, 0), row(350, 500, 8), row(560, 900, 16)];
        let script = &scripts(&rows, (Instant(50), Instant(50)))[0];
        assert_eq!((script.start, script.ramp, script.depth), (Duration(50), 1, 0));
        let delays: Vec<u64> = script.steps[1..].iter().map(|step| step.delay.0).collect();
        assert_eq!((delays, script.pause), (vec![50, 60], Duration(60)));
        assert_eq!(script.advance, Some(24), "it goes on behind what it has read");
    }

    #[test]
    fn a_process_that_keeps_four_outstanding_is_seen_to_do_so() {
        // Two are merged and done at once; two follow at once.
        let first = [row(0, 100, 0), row(0, 100, 8), row(0, 200, 800), row(0, 300, 80)];
        let then = [row(100, 400, 90), row(100, 500, 900), row(200, 0, 1)];
        let rows: Vec<Row> = first.into_iter().chain(then).collect();
        let script = &scripts(&rows, (Instant(0), Instant(0)))[0];
        let outstanding: Vec<u32> = script.steps.iter().map(|step| step.outstanding).collect();
        assert_eq!(outstanding, [0, 1, 2, 3, 3, 3, 3]);
        assert_eq!((script.ramp, script.depth), (4, 3));
    }

    #[test]
    fn where_a_process_goes_is_told_by_earlier_requests_if_there_are_few() {
        let jumps = [row(10, 20, 800), row(30, 40, 8), row(50, 60, 1600), row(1070, 0, 400)];
        let script = &scripts(&jumps, (Instant(1000), Instant(1000)))[0];
        assert_eq!((script.steps.len(), script.advance), (1, None));
        assert_eq!(script.range, (Sector(8), Sector(1608)));
        let follows = [row(10, 20, 800), row(30, 40, 808), row(50, 60, 816), row(1070, 0, 824)];
        assert_eq!(scripts(&follows, (Instant(1000), Instant(1000)))[0].advance, Some(8));
    }

    #[test]
    fn a_single_small_request_may_go_on_anywhere() {
        let other = |start, length| Row {
            issuer: idlewise_core::Issuer(2),
            length: Sectors(length),
            ..row(10, 0, start)
        };
        let of = |start, length| {
            scripts(&[row(0, 0, 100_000), other(start, length)], (Instant(0), Instant(0))).remove(1)
        };
        assert_eq!((of(8, 8).advance, of(8, 8).range), (None, (Sector(8), Sector(100_008))));
        assert_eq!(of(8, 128).advance, Some(128));
    }

    #[test]
    fn who_issues_little_is_known_by_what_it_did_since_the_load_began() {
        let rows: Vec<Row> = (1..=50).map(|n| row(n * 100, n * 100 + 50, n * 8)).collect();
        let steps = |load, begins| scripts(&rows, (Instant(load), Instant(begins)))[0].steps.len();
        assert_eq!([steps(0, 4850), steps(4000, 4850), steps(4850, 4850)], [ENOUGH, 11, 2]);
        assert_eq!(steps(0, 100), 50, "all of the window");
        assert!(scripts(&rows, (Instant(0), Instant(6000))).is_empty(), "it asks for nothing now");
    }

    #[test]
    fn who_starves_is_known_by_what_it_did_before() {
        let mut rows = vec![row(10, 20, 0), row(30, 40, 8), row(50, 0, 16)];
        rows.push(Row { issuer: idlewise_core::Issuer(2), ..row(5000, 5100, 0) });
        let scripts = scripts(&rows, (Instant(4000), Instant(4000)));
        assert_eq!(scripts.iter().map(|script| script.steps.len()).collect::<Vec<_>>(), [3, 1]);
    }
}
