//! What each candidate would make of the latest requests, on a model of the disk.
//!
//! Each candidate gets the same processes ([`LoopingReplay`]) for the same simulated time. Before it comes a third as long, in
//! which the candidate learns: that is not counted. The model begins as the disk is: with what it is busy with, and what
//! the latest requests have left in its buffer.

use idlewise_core::learned::Learned;
use idlewise_core::registry::Assignment;
use idlewise_core::selectors::{Candidate, Prediction, Question, Recent, Row, observed, owner};
use idlewise_core::{
    AnyScheduler, Device as Traits, Direction, Duration, Instant, Queue, Request, RequestId, SECTOR_BYTES,
    host,
};
use idlewise_disk::{AnyModel, DiskModel, WithModel};
use rustc_hash::{FxHashMap, FxHashSet};

use super::aged::Aged;
use super::habits::Habits;
use super::looping::LoopingReplay;
use super::script::{Script, process, scripts};
use super::warm::{Occupied, Warm};
use crate::engine::{Control, Engine, Limits, Observer};

/// No candidate is simulated for more requests.
const REQUESTS_MAX: u64 = 24_000;
/// How closely it is seen when a candidate has settled.
const STEP: Duration = Duration::from_ms(250);
/// Rows from so long before the window are looked at: they may be outstanding when it begins.
const BEFORE: Duration = Duration::from_s(4);
/// A process that has nothing outstanding and was silent for longer than this, and than twice its longest
/// pause, is taken to have gone.
const SILENT: Duration = Duration::from_s(1);

/// A part of the latest requests.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Rows in order of arrival, some of them from before it begins.
    pub rows: Vec<Row>,
    /// All that is known to have been asked for: it tells what is in the disk's buffer, and what it is busy with.
    pub past: Vec<Row>,
    /// A model that has done what the disk has done. Without it, one that nothing was asked of yet does what is
    /// in `past`.
    pub aged: Option<Aged>,
    /// What is known of the disk's times, if more than at first: each candidate begins with it.
    pub learned: Option<Learned>,
    /// Since when the load is as it is. Earlier rows tell only what was outstanding then.
    pub load_begun: Instant,
    /// When it begins.
    pub begins: Instant,
    /// When it ends.
    pub ends: Instant,
    /// For so long each candidate is simulated.
    pub horizon: Duration,
}

/// Simulates candidates.
pub struct Forecaster {
    model: AnyModel,
    traits: Traits,
    candidates: Vec<Candidate>,
    queue_size: usize,
}

impl Forecaster {
    /// A forecaster for `candidates` on a model that nothing was asked of yet.
    pub fn new(model: AnyModel, traits: Traits, candidates: Vec<Candidate>, queue_size: usize) -> Forecaster {
        Forecaster { model, traits, candidates, queue_size }
    }

    /// The model, to go along with the disk, if that remembers what was ever written to it.
    pub fn aged(&self) -> Option<Aged> {
        Aged::new(&self.model)
    }

    /// The part of `recent` that `question` is about, of processes that still run. `habits` knows what else they did.
    pub fn window(&self, recent: &Recent, habits: &mut Habits, now: Instant, question: Question) -> Window {
        let Question { begun, since: begins, horizon, .. } = question;
        let past: Vec<Row> = recent.since(Instant::ZERO).copied().collect();
        habits.learn(past.iter());
        let still = |row: &&Row| !recent.has_gone(row);
        // Whoever waits since long before is kept, with what it did then.
        let old = past.iter().take_while(|row| row.arrival < begins - BEFORE);
        let starving: FxHashSet<u64> =
            old.filter(|row| row.done.is_none()).filter(still).map(process).collect();
        let wanted =
            |row: &&Row| row.arrival >= (begins - BEFORE).min(begun) || starving.contains(&process(row));
        let mut rows: Vec<Row> = past.iter().filter(wanted).filter(still).copied().collect();
        let known =
            |who: u64, row: &Row| !recent.has_gone(row) && (row.arrival >= begun || starving.contains(&who));
        habits.complete(&mut rows, known);
        Window { rows, past, aged: None, learned: None, load_begun: begun, begins, ends: now, horizon }
    }

    /// What each candidate would make of `window`; nothing if nothing is in it.
    pub fn predict(&self, window: &Window) -> Vec<Prediction> {
        let mut scripts = scripts(&window.rows, (window.load_begun, window.begins));
        // Whoever was seen to do nothing but flush would do that again and again, in no time.
        let has_data = |script: &Script| script.steps.iter().any(|step| step.request.length.0 > 0);
        let mut by_owner: FxHashMap<u64, Vec<&Row>> = FxHashMap::default();
        window.rows.iter().for_each(|row| by_owner.entry(process(row)).or_default().push(row));
        let there =
            |script: &Script| by_owner.get(&script.who).is_some_and(|rows| still_there(script, rows, window));
        scripts.retain(|script| has_data(script) && there(script));
        let Some(first) = scripts.iter().map(|script| script.start).min() else { return Vec::new() };
        // Who came late in the window is there from early on.
        let horizon = window.horizon;
        let latest = horizon / 4;
        scripts.iter_mut().for_each(|script| script.start = (script.start - first).min(latest));
        let outstanding: usize = scripts
            .iter()
            .map(|script| script.steps.iter().map(|step| step.outstanding).max().unwrap_or(0) as usize + 1)
            .sum();
        let size = outstanding.next_power_of_two().clamp(64, self.queue_size.max(64));
        let warm = match &window.aged {
            Some(aged) => aged.at(window.ends, &window.past),
            None => Warm::new(&self.model, &window.past, window.ends),
        };
        scripts.iter_mut().for_each(|script| script.start += warm.now.since(Instant::ZERO));
        let learned = window.learned.as_ref().unwrap_or(&self.traits.learned).clone();
        let traits = Traits { learned, ..self.traits.clone() };
        let one = |place| self.one(place, (&traits, &warm), &scripts, (size, horizon));
        (0..self.candidates.len()).filter_map(one).collect()
    }

    /// What one candidate would make of these processes on a disk like that; `None` if the model refuses them.
    fn one(
        &self,
        place: usize,
        (traits, warm): (&Traits, &Warm),
        scripts: &[Script],
        (size, horizon): (usize, Duration),
    ) -> Option<Prediction> {
        let candidate = &self.candidates[place];
        let settings: &[Assignment<'_>] = &candidate.settings;
        let queue = Queue::new(size, traits.clone(), candidate.entry, settings).ok()?;
        let mut host = host::Host::new(queue, ());
        let (mut device, begin) = (warm.device.clone(), warm.now);
        let until = begin + horizon + horizon / 3;
        let mut workload = LoopingReplay::new(scripts, device.capacity());
        let mut tally = Tally::new(size);
        let limits = Limits { until, requests: REQUESTS_MAX };
        let earlier = warm.outstanding;
        let (workload, host, tally) = (&mut workload, &mut host, &mut tally);
        device.with_model(Played { workload, host, tally, earlier, limits })?;
        // Cut off by the number of requests, it ends with the last of them.
        let end = if tally.issued >= REQUESTS_MAX { tally.latest } else { until };
        Some(tally.prediction(place, scripts.len(), (begin, end)))
    }
}

/// Whether a process of which `rows` were seen is expected to continue.
fn still_there(script: &Script, rows: &[&Row], window: &Window) -> bool {
    let mut last = window.begins;
    for row in rows.iter().rev() {
        let Some(done) = row.done else { return true };
        last = last.max(Instant(done.get()));
        if row.arrival < window.begins {
            break;
        }
    }
    let pause = script.steps.iter().map(|step| step.delay).max().unwrap_or_default();
    window.ends.since(last) <= SILENT.max(pause * 2)
}

/// A candidate at work on the model.
struct Played<'a> {
    workload: &'a mut LoopingReplay,
    host: &'a mut host::Host<AnyScheduler>,
    tally: &'a mut Tally,
    /// Commands that the model had before.
    earlier: u32,
    limits: Limits,
}

impl WithModel for Played<'_> {
    type Output = Option<Instant>;

    fn with_model<D: DiskModel>(self, disk: &mut D) -> Option<Instant> {
        let Played { workload, host, tally, earlier, limits } = self;
        let disk = &mut Occupied::new(disk, earlier);
        Engine::new(workload, host, disk, tally, limits).run(&Control::default()).ok()
    }
}

/// A request that was done.
struct Done {
    at: Instant,
    owner: u64,
    bytes: u64,
    latency: Duration,
    sync_read: bool,
}

/// What was done in a simulation.
struct Tally {
    arrivals: Vec<Instant>,
    owners: Vec<u64>,
    done: Vec<Done>,
    issued: u64,
    /// When the latest request was issued.
    latest: Instant,
}

impl Tally {
    fn new(size: usize) -> Tally {
        let arrivals = vec![Instant::ZERO; size];
        Tally { arrivals, owners: vec![0; size], done: Vec::new(), issued: 0, latest: Instant::ZERO }
    }

    fn prediction(&self, place: usize, processes: usize, (start, end): (Instant, Instant)) -> Prediction {
        let begin = start + end.since(start) / 4;
        let mut shares: FxHashMap<u64, u64> = FxHashMap::default();
        let mut latencies: Vec<u64> = Vec::new();
        let (mut bytes, mut longest) = (0, Duration::ZERO);
        for done in self.done.iter().filter(|done| done.at > begin) {
            // What is not done by the end has waited until then.
            let late = done.at.since(end);
            let waited = done.latency - late;
            longest = longest.max(waited);
            if done.sync_read {
                latencies.extend(observed(waited).map(|time| time.0));
            }
            if late > Duration::ZERO {
                continue;
            }
            bytes += done.bytes;
            *shares.entry(done.owner).or_default() += done.bytes;
        }
        let us = end.since(begin).as_us().max(1);
        let rate = |bytes: u64| bytes.saturating_mul(1_000_000) / us;
        // Processes that got nothing count too.
        let nothing = processes.saturating_sub(shares.len());
        let only = shares.values().copied().chain(std::iter::repeat_n(0, nothing));
        let rank = latencies.len() - latencies.len() / 100;
        let p99 = match rank.checked_sub(1) {
            Some(rank) => *latencies.select_nth_unstable(rank).1,
            None => 0,
        };
        let throughput = rate(bytes);
        Prediction {
            candidate: place as u8,
            throughput,
            settles: self.settles(throughput, (start, end)),
            slowest: rate(only.clone().min().unwrap_or(0)),
            jain_permille: idlewise_core::selectors::summary::jain_permille(only),
            sync_read_p99: Duration(p99),
            longest,
            requests: self.issued,
        }
    }

    /// From `start` on, how long it takes until half of `throughput` is reached; at most until `end`.
    fn settles(&self, throughput: u64, (start, end): (Instant, Instant)) -> Duration {
        let steps = end.since(start).0 / STEP.0;
        let mut bytes = vec![0; steps as usize];
        for done in &self.done {
            if let Some(bytes) = bytes.get_mut((done.at.since(start).0 / STEP.0) as usize) {
                *bytes += done.bytes;
            }
        }
        let enough = throughput / 2 * STEP.as_ms() / 1000;
        let first = bytes.iter().position(|bytes| *bytes >= enough);
        STEP * first.map_or(steps, |first| first as u64)
    }
}

impl Observer for Tally {
    #[inline]
    fn arrived(&mut self, _: Instant, id: RequestId, request: &Request) {
        self.arrivals[id.index()] = request.arrival;
        self.owners[id.index()] = owner(request.issuer, request.group);
        self.issued += 1;
        self.latest = self.latest.max(request.arrival);
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, _: u64) {
        self.done.push(Done {
            at: now,
            owner: self.owners[id.index()],
            bytes: u64::from(request.length.0) * SECTOR_BYTES,
            latency: now.since(self.arrivals[id.index()]),
            sync_read: request.sync && request.direction() == Direction::Read,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use idlewise_core::{Issuer, Operation, Sector, Sectors};
    use idlewise_disk::Profile;

    use super::*;

    fn row(at: u64, done: u64, start: u64, issuer: u32, operation: Operation) -> Row {
        let sync = operation == Operation::Read;
        let (arrival, done, start) = (Instant(at), NonZeroU64::new(done), Sector(start));
        Row {
            arrival,
            done,
            start,
            length: Sectors(256),
            issuer: Issuer(issuer),
            operation,
            sync,
            ..Row::default()
        }
    }

    fn disk() -> AnyModel {
        Profile::named("hdd-18tb-7200").unwrap().build().unwrap()
    }

    #[test]
    fn it_settles_when_half_of_the_throughput_is_reached() {
        // 100 000 bytes each 50 ms, but for one in five that many in the first second.
        let mut tally = Tally::new(1);
        let done = |n: u64| {
            let (at, bytes) = (Instant(n * 50_000_000), if n < 20 { 20_000 } else { 100_000 });
            Done { at, owner: 1, bytes, latency: Duration::ZERO, sync_read: false }
        };
        tally.done = (0..100).map(done).collect();
        let second = |at: u64| Instant(at * 1_000_000_000);
        let prediction = |from: u64| tally.prediction(0, 1, (second(from), second(from + 4)));
        assert_eq!(prediction(0).settles, Duration::from_s(1));
        assert_eq!(prediction(1).settles, Duration::ZERO);
    }

    #[test]
    fn who_only_flushes_does_not_keep_the_disk_from_others() {
        let second = |at: u64| Instant(at * 1_000_000_000);
        let read = |n: u64| row(n * 10_000_000, n * 10_000_000 + 9_000_000, n << 20, 1, Operation::Read);
        let reads: Vec<Row> = (0..100).map(read).collect();
        let flush = Row { length: Sectors(0), done: None, ..row(500_000_000, 1, 0, 2, Operation::Flush) };
        let both: Vec<Row> = reads.iter().take(50).chain([&flush]).chain(&reads[50..]).copied().collect();
        let candidate = Candidate::plain(idlewise_core::registry::find("noop").unwrap());
        let forecaster = Forecaster::new(disk(), Traits::default(), vec![candidate], 64);
        let throughput = |rows: &[Row]| {
            let (rows, horizon, ends) = (rows.to_vec(), Duration::from_s(4), second(1));
            let window = Window { past: rows.clone(), rows, ends, horizon, ..Window::default() };
            forecaster.predict(&window)[0].throughput
        };
        assert_eq!(throughput(&both), throughput(&reads));
        assert!(throughput(&both) > 0);
    }
}
