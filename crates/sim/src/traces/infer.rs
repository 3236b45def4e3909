//! What waited for what: dependencies between the rows of a trace.
//!
//! A trace shows when requests came, not why. Replaying it on another disk needs the why.
//!
//! | the trace tells | a request is taken to wait for |
//! |---|---|
//! | issuers and completions | its process's own: that the request before was issued, and no more requests were under way than when it came. The process computed since the later of the two |
//! | … of a process that reads ahead | the same with as many under way as lately, if the process then computed for as long as usual: the disk had done early what nobody waited for |
//! | … of a process that continues where it stopped | the same, and those under way are its last: it takes what it reads in order, unless it has lately gone on without waiting for an earlier request |
//! | … first request of a process | the first of these that there is, else it comes at its recorded time: |
//! | | the latest request of its group that was done at most [`HAND_OVER`] before: a parent that forks |
//! | | the latest request of the processes of its group that have exited, done at most [`SILENCE`] before: its parent waited for them |
//! | | the latest request of anybody that was done at most [`HAND_OVER`] before: a pipe. A process that is silent since goes before one that has issued more |
//! | | if the disk was idle, the latest request of anybody, done at most [`SILENCE`] before: a script continues |
//! | … first request after a pause | the latest request of a process that began in that pause and is silent: a child that its parent waited for. If it has not exited, it was done at most [`HAND_OVER`] before |
//! | … | the latest request of a partner, if it came and was done in that pause, in the last eighth of it and at most [`HAND_OVER`] before: a journal that commits for a database, and a database that continues after that. A partner is a process after whose requests pauses end far more often, or far sooner, than chance has it, counting those during which the other had paused too; it is one in both directions |
//! | … | the latest flush of another process of its group, done in the last eighth of the pause and at most [`HAND_OVER`] before: a database's backends commit for one another |
//! | … asynchronous write | its process's previous request, which it follows at the recorded distance, as a flusher's do |
//! | issuers, no completions | its process's previous request. Of the gap between the two, the shortest gap that the process has shown lately is the disk's, the rest was computing. Rows closer than [`BATCH`] were issued together |
//! | no issuers | streams stand in for processes: a row belongs to the stream that last ended within [`NEAR`] of where it starts, else it begins a new stream. Or all are one process's |
//!
//! [`HAND_OVER`], [`SILENCE`], [`BATCH`] and [`NEAR`] are choices, not measurements.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use idlewise_core::{Duration, Group, Instant, Issuer, Operation, Sector};
use rustc_hash::FxHasher;

use crate::traces::{Exit, Record};

/// A first request this soon after a completion is taken to wait for it.
pub const HAND_OVER: Duration = Duration::from_ms(2);
/// A process that is silent for longer is no longer waited for by any scheduler, nor taken for the reason of what comes.
pub const SILENCE: Duration = Duration::from_s(1);
/// Rows of one process that are closer than this were issued together.
pub const BATCH: Duration = Duration::from_us(100);
/// A row this near, in sectors, to the end of a stream continues it: 1 MiB.
pub const NEAR: u64 = 2048;

/// Streams told apart in a trace without issuers.
const STREAMS: usize = 64;
/// Processes remembered at once.
const HISTORIES: usize = 16_384;
/// Requests of one process that may be outstanding at once before the oldest is forgotten.
const OUTSTANDING: usize = 256;
/// Completions of one process remembered.
const ENDS: usize = 8;
/// Rows of a process after which it is forgiven that it did not wait for an earlier request.
const FORGIVEN: u8 = 16;
/// Completions of all processes remembered for first requests.
const RECENT: usize = 256;

/// Why a row is issued when it is. `of` is the number of an earlier row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The row's time has come.
    At(Instant),
    /// Row `of` was done, and the process computed for `think`.
    AfterCompletion {
        /// The row waited for.
        of: u64,
        /// The time computed.
        think: Duration,
    },
    /// The process had issued its request before, no more than this many of its requests were under way, and it
    /// computed for `think`.
    Own {
        /// Requests under way when it came; [`u32::MAX`] if it waited for none.
        under_way: u32,
        /// They were the last that it had issued: the process takes what it reads in order, so that it waits for all before
        /// these, whatever else is done.
        in_order: bool,
        /// The time computed.
        think: Duration,
    },
}

/// What is inferred of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The process, or the stream that stands in for it.
    pub issuer: Issuer,
    /// Why it is issued when it is.
    pub cause: Cause,
}

#[derive(Clone, Copy)]
struct Done {
    at: Instant,
    row: u64,
}

/// A device and a process on it.
type Key = (u32, Issuer);

/// A completion, whose, and when the request had come.
#[derive(Clone, Copy)]
struct Recent {
    done: Done,
    whose: Key,
    arrival: Instant,
    /// The request had all before it put on the medium.
    flush: bool,
}

/// After whose requests a process's pauses end: a vote.
#[derive(Clone, Copy, Default)]
struct Partner {
    who: Option<Key>,
    /// How much speaks for it.
    lead: u8,
}

impl Partner {
    /// A pause counts as much at most: clocks tell times no better than that.
    const MOST: u8 = 4;
    /// More than one pause can say.
    const TRUSTED: u8 = Partner::MOST + 1;

    /// A pause of `pause` has ended `gap` after a request of `who` was done. Unrelated requests fall into the last eighth
    /// of a pause once in eight times, which counts one, into the last sixteenth half as often, which counts two, and so on.
    fn vote(&mut self, who: Key, gap: Duration, pause: Duration) {
        let halvings = (pause.0 / gap.0.max(1)).max(1).ilog2();
        if self.lead == 0 || self.who == Some(who) {
            let count = (halvings.saturating_sub(2) as u8).min(Partner::MOST);
            *self = Partner { who: Some(who), lead: self.lead.saturating_add(count) };
        } else {
            self.lead = self.lead.saturating_sub(1);
        }
    }

    /// A pause has ended with nobody's request.
    fn vote_against(&mut self) {
        self.lead = self.lead.saturating_sub(1);
    }

    fn is(&self, who: Key) -> bool {
        self.who == Some(who) && self.lead >= Partner::TRUSTED
    }
}

/// What is remembered of one process.
struct History {
    group: Option<Group>,
    partner: Partner,
    began: Instant,
    /// The beginnings of its run of requests without a pause, and of the run before.
    run: Instant,
    run_before: Option<Instant>,
    last_row: u64,
    last_arrival: Instant,
    last_cause: Cause,
    /// The latest of its requests known to be done.
    done: Option<Done>,
    /// Requests not known to be done yet.
    outstanding: Vec<Done>,
    /// When its latest requests were done or will be, last issued first.
    ends: VecDeque<Instant>,
    /// How many requests the process was seen to have under way when it issued the next, if there were any, and how
    /// long it had computed.
    ahead: Option<(u32, Duration)>,
    /// The shortest gap between its requests of late.
    quickest: Duration,
    /// Where its latest request ends.
    end: Sector,
    /// Rows to come before it is taken to read in order: it has gone on without waiting for an earlier request.
    out_of_order: u8,
}

#[derive(Clone, Copy)]
struct Stream {
    end: Sector,
    issuer: Issuer,
    used: u64,
}

/// Infers causes row by row, in order of arrival.
#[derive(Default)]
pub struct Inference {
    histories: HashMap<Key, History, BuildHasherDefault<FxHasher>>,
    recent: Vec<Recent>,
    /// Of each device and group, the latest request of the processes that have exited.
    exited: HashMap<(u32, Group), Done, BuildHasherDefault<FxHasher>>,
    /// Of each device, the request that is done last of those read.
    last: Vec<Option<Done>>,
    streams: Vec<Stream>,
    streams_made: u32,
    one_process: bool,
}

impl Inference {
    /// An inference that takes the rows without issuer for those of `one_process`, or for streams.
    pub fn new(one_process: bool) -> Inference {
        Inference { one_process, ..Inference::default() }
    }

    /// Why `record`, which is row `row`, is issued.
    pub fn infer(&mut self, record: &Record, row: u64) -> Inferred {
        let issuer = match record.issuer {
            Some(issuer) => issuer,
            None if self.one_process => Issuer::default(),
            None => self.stream(record, row),
        };
        if self.histories.len() >= HISTORIES {
            self.forget(record.arrival);
        }
        let key = (record.device, issuer);
        let own = self.histories.get_mut(&key).map(|history| history.next(record));
        let pauses = matches!(own, Some(Cause::Own { under_way: 0, think, .. }) if think > BATCH);
        let cause = match own {
            None => self.first(record).unwrap_or(Cause::At(record.arrival)),
            Some(own @ Cause::Own { think, .. }) if pauses => {
                let paused = Instant(record.arrival.0 - think.0);
                let child = if think > HAND_OVER { self.child(record, paused) } else { None };
                let partner = self.partner(record, key, paused);
                child.or(partner).or_else(|| self.committer(record, key, paused)).unwrap_or(own)
            }
            Some(own) => own,
        };
        if let Some(at) = record.completed {
            self.note_last(record.device, Done { at, row });
        }
        let history = self.histories.entry(key).or_insert_with(|| History {
            group: record.group,
            partner: Partner::default(),
            began: record.arrival,
            run: record.arrival,
            run_before: None,
            last_row: row,
            last_arrival: record.arrival,
            last_cause: cause,
            done: None,
            outstanding: Vec::new(),
            ends: VecDeque::new(),
            ahead: None,
            quickest: Duration::MAX,
            end: record.start,
            out_of_order: 0,
        });
        history.end = record.start + record.length;
        if row != history.last_row && pauses {
            (history.run_before, history.run) = (Some(history.run), record.arrival);
        }
        (history.last_row, history.last_arrival, history.last_cause) = (row, record.arrival, cause);
        if let Some(at) = record.completed {
            if history.outstanding.len() == OUTSTANDING {
                history.outstanding.swap_remove(0);
            }
            history.outstanding.push(Done { at, row });
            history.ends.truncate(ENDS - 1);
            history.ends.push_front(at);
            let (place, recent) = (
                row as usize % RECENT,
                Recent {
                    done: Done { at, row },
                    whose: key,
                    arrival: record.arrival,
                    flush: flushes(record),
                },
            );
            if place < self.recent.len() {
                self.recent[place] = recent;
            } else {
                self.recent.push(recent);
            }
        }
        Inferred { issuer, cause }
    }

    /// A process has exited. To be told in order of time with the rows.
    pub fn exit(&mut self, exit: &Exit) {
        for device in 0..self.last.len() as u32 {
            let Some(history) = self.histories.get(&(device, exit.issuer)) else { continue };
            let (Some(group), Some(done)) = (history.group, history.latest()) else { continue };
            if self.exited.len() >= HISTORIES {
                self.exited.clear();
            }
            let latest = self.exited.entry((device, group)).or_insert(done);
            *latest = if latest.at > done.at { *latest } else { done };
        }
    }

    fn note_last(&mut self, device: u32, done: Done) {
        let device = device as usize;
        if self.last.len() <= device {
            self.last.resize(device + 1, None);
        }
        self.last[device] = self.last[device].filter(|last| last.at > done.at).or(Some(done));
    }

    /// The latest request of the processes of a row's group that have exited.
    fn exited(&self, record: &Record) -> Option<Done> {
        self.exited.get(&(record.device, record.group?)).copied()
    }

    /// Why a process's first request comes, unless nobody can have caused it.
    fn first(&self, record: &Record) -> Option<Cause> {
        if !is_sync(record) {
            return None;
        }
        let rank = |recent: &Recent| {
            let history = self.silent_since(recent);
            let kin = history.is_some_and(|history| record.group.is_some() && history.group == record.group);
            (kin, history.is_some(), recent.done.at)
        };
        let near =
            self.just_done(record).map(|recent| (rank(&recent), recent.done)).max_by_key(|near| near.0);
        let lately = |done: &Done| done.at <= record.arrival && record.arrival.since(done.at) <= SILENCE;
        let kin = near.filter(|((kin, ..), _)| *kin).map(|near| near.1);
        let idle = || self.last.get(record.device as usize).copied().flatten().filter(lately);
        let waited_for = kin.or_else(|| self.exited(record).filter(lately)).or(near.map(|near| near.1));
        waited_for.or_else(idle).map(|done| after(done, record))
    }

    /// The child for which a process has waited that paused until now, if there was one.
    fn child(&self, record: &Record, paused: Instant) -> Option<Cause> {
        let related =
            |other: &History| other.group.is_none() || record.group.is_none() || other.group == record.group;
        let waited_for = |recent: &Recent| {
            self.silent_since(recent).is_some_and(|history| history.began >= paused && related(history))
        };
        let children = self.just_done(record).filter(waited_for);
        let near = children.max_by_key(|recent| recent.done.at).map(|recent| recent.done);
        let exited = || self.exited(record).filter(|done| done.at >= paused && done.at <= record.arrival);
        near.or_else(exited).map(|done| after(done, record))
    }

    /// The partner whose request ended the pause of `who`, if there was one.
    fn partner(&mut self, record: &Record, who: Key, paused: Instant) -> Option<Cause> {
        let end = last_eighth(record, paused);
        let in_pause = |recent: &Recent| {
            recent.whose != who
                && recent.arrival >= paused
                && record.arrival.since(recent.done.at) <= end
                && self.silent_since(recent).is_some()
        };
        let ended: Vec<Recent> = self.just_done(record).filter(in_pause).collect();
        // Who had not paused when the pause began is busy, and would be found at the end of any pause.
        let had_paused = |recent: &&Recent| {
            self.silent_since(recent).is_some_and(|other| other.run_before.is_none_or(|at| at < paused))
        };
        let voted = ended.iter().filter(had_paused).max_by_key(|recent| recent.done.at).copied();
        let own = &mut self.histories.get_mut(&who)?.partner;
        let since = |time: Instant| record.arrival.since(time);
        match voted {
            Some(recent) => own.vote(recent.whose, since(recent.done.at), since(paused)),
            None => own.vote_against(),
        }
        let own = *own;
        let trusted = |recent: &&Recent| {
            let other = self.histories.get(&recent.whose);
            own.is(recent.whose) || other.is_some_and(|other| other.partner.is(who))
        };
        let latest = ended.iter().filter(trusted).max_by_key(|recent| recent.done.at)?;
        Some(after(latest.done, record))
    }

    /// The flush that `who` waited for: a process of the same group commits for both. No vote, as for partners: whoever
    /// commits first does it for all, so it is another one each time.
    fn committer(&self, record: &Record, who: Key, paused: Instant) -> Option<Cause> {
        let end = last_eighth(record, paused);
        let commits = |recent: &Recent| {
            let group = self.histories.get(&recent.whose).and_then(|history| history.group);
            recent.flush
                && recent.whose != who
                && record.group.is_some()
                && group == record.group
                && record.arrival.since(recent.done.at) <= end
        };
        let latest = self.just_done(record).filter(commits).max_by_key(|recent| recent.done.at)?;
        Some(after(latest.done, record))
    }

    /// Completions shortly before `record`.
    fn just_done(&self, record: &Record) -> impl Iterator<Item = Recent> {
        let now = record.arrival;
        self.recent
            .iter()
            .copied()
            .filter(move |recent| recent.done.at <= now && now.since(recent.done.at) <= HAND_OVER)
    }

    /// The process whose request was done, if it has issued nothing since.
    fn silent_since(&self, recent: &Recent) -> Option<&History> {
        self.histories.get(&recent.whose).filter(|history| history.last_row == recent.done.row)
    }

    /// The stream that a row without issuer belongs to.
    fn stream(&mut self, record: &Record, row: u64) -> Issuer {
        let near = |stream: &&mut Stream| stream.end.distance(record.start) <= NEAR;
        let end = record.start + record.length;
        let closest =
            self.streams.iter_mut().filter(near).min_by_key(|stream| stream.end.distance(record.start));
        if let Some(stream) = closest {
            (stream.end, stream.used) = (end, row);
            return stream.issuer;
        }
        self.streams_made = self.streams_made.wrapping_add(1);
        let fresh = Stream { end, issuer: Issuer(self.streams_made), used: row };
        if self.streams.len() < STREAMS {
            self.streams.push(fresh);
        } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            self.histories.remove(&(record.device, oldest.issuer));
            *oldest = fresh;
        }
        fresh.issuer
    }

    /// Forgets the processes that have been silent longest: half of all.
    fn forget(&mut self, now: Instant) {
        let mut ages: Vec<_> =
            self.histories.values().map(|history| now.since(history.last_arrival)).collect();
        let middle = ages.len() / 2;
        let (_, median, _) = ages.select_nth_unstable(middle);
        let limit = *median;
        self.histories.retain(|_, history| now.since(history.last_arrival) < limit);
    }
}

/// `record` waited for `done`, and somebody computed in between.
fn after(done: Done, record: &Record) -> Cause {
    Cause::AfterCompletion { of: done.row, think: record.arrival.since(done.at) }
}

/// Whether the request has all before it put on the medium.
fn flushes(record: &Record) -> bool {
    record.operation == Operation::Flush || record.durable.before
}

/// The last part of a pause, in which a completion may have ended it.
fn last_eighth(record: &Record, paused: Instant) -> Duration {
    Duration(record.arrival.since(paused).0 / 8)
}

/// Whether somebody waits for the request.
fn is_sync(record: &Record) -> bool {
    record.sync || record.operation == Operation::Read
}

impl History {
    /// The latest of the process's requests, under way or done.
    fn latest(&self) -> Option<Done> {
        self.outstanding.iter().chain(&self.done).max_by_key(|done| done.at).copied()
    }

    /// Why the process's next request comes.
    fn next(&mut self, record: &Record) -> Cause {
        let now = record.arrival;
        for done in &self.outstanding {
            if done.at <= now && self.done.is_none_or(|latest| latest.at <= done.at) {
                self.done = Some(*done);
            }
        }
        self.outstanding.retain(|done| done.at > now);
        let gap = now.since(self.last_arrival);
        if !is_sync(record) {
            return Cause::Own { under_way: u32::MAX, in_order: false, think: gap };
        }
        let under_way = self.outstanding.len() as u32;
        let in_order = self.in_order(record);
        match self.done {
            Some(done) => {
                let (under_way, think) = self.own(now, under_way, gap.min(now.since(done.at)));
                Cause::Own { under_way, in_order, think }
            }
            None if under_way > 0 => Cause::Own { under_way, in_order, think: gap },
            None => self.without_completions(gap),
        }
    }

    /// The process issued its request when `under_way` were, having computed for `think`. One that reads ahead does so
    /// while it computes with what came before; that the rest was done meanwhile is then the disk's doing.
    fn own(&mut self, now: Instant, under_way: u32, think: Duration) -> (u32, Duration) {
        if let Some((ahead, usual)) = self.ahead.filter(|(ahead, _)| *ahead > under_way)
            && let Some(at) = self.ends.get(ahead as usize).filter(|at| **at <= now)
        {
            let longer = now.since(*at).min(now.since(self.last_arrival));
            if longer.0.abs_diff(usual.0) <= usual.0 / 8 {
                return (ahead, longer);
            }
        }
        if under_way > 0 {
            self.ahead = Some((under_way, think));
        }
        (under_way, think)
    }

    /// Whether the process takes what it reads in order: it continues where it stopped, and has lately waited for what it
    /// issued first.
    fn in_order(&mut self, record: &Record) -> bool {
        let (now, under_way) = (record.arrival, self.outstanding.len());
        let last = self.ends.iter().take(under_way).filter(|end| **end > now).count();
        self.out_of_order = if last == under_way { self.out_of_order.saturating_sub(1) } else { FORGIVEN };
        record.operation == Operation::Read && record.start == self.end && self.out_of_order == 0
    }

    /// The same where the trace does not tell when requests were done.
    fn without_completions(&mut self, gap: Duration) -> Cause {
        if gap < BATCH {
            return match self.last_cause {
                Cause::At(time) => Cause::At(time + gap),
                Cause::AfterCompletion { of, think } => Cause::AfterCompletion { of, think: think + gap },
                Cause::Own { under_way, in_order, .. } => Cause::Own { under_way, in_order, think: gap },
            };
        }
        // The shortest gap is forgotten slowly, so that one lucky buffer hit does not rule for ever.
        let aged = self.quickest + self.quickest / 32;
        self.quickest = aged.min(gap);
        Cause::AfterCompletion { of: self.last_row, think: gap - self.quickest }
    }
}
