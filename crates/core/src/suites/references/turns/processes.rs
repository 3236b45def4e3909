//! Processes in the slow reference for `turns`, the chains that they form, and what is known of each.

use super::shares::Purse;
use super::*;

const MS: u64 = 1_000_000;

/// How somebody asks. Times are in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(super) struct Habit {
    /// The sector behind the last request.
    pub(super) end: Option<u64>,
    /// Goes up by 1 with each request near the one before, to 8 at most, and down by 2 with each other.
    score: u64,
    /// Mean.
    think: Option<u64>,
    /// The last time of a sector, with what was thought before, in sixteenths of a nanosecond.
    pub(super) pace: u64,
    wrote: bool,
    /// Of a short and a long wait: how many of 256 are in vain, and the mean cost of one.
    waits: [(u64, u64); 2],
}

impl Habit {
    pub(super) fn near(&self, start: u64) -> bool {
        self.end.is_some_and(|end| end.abs_diff(start) <= 4 * 1024 * 1024 / 512)
    }

    pub(super) fn note(&mut self, request: &Request, thought: Option<u64>) {
        if self.near(request.start.0) {
            self.score = 8.min(self.score + 1);
        } else if self.end.is_some() {
            self.score -= self.score.min(2);
        }
        self.end = Some(request.end().0);
        self.wrote = request.operation == Operation::Write;
        let Some(thought) = thought.map(|thought| thought.min(64 * MS)) else { return };
        for ((vain, cost), wait) in self.waits.iter_mut().zip([MS, 8 * MS]) {
            *vain = (7 * *vain + if thought > wait { 256 } else { 0 }) / 8;
            *cost = (7 * *cost + thought.min(wait)) / 8;
        }
        self.think = Some(self.think.map_or(thought, |mean| (7 * mean + thought) / 8));
    }

    /// A read of as many `sectors` is done, and took `time`, in its turn.
    pub(super) fn reads(&mut self, sectors: u64, time: u64) {
        self.pace = 16 * time / sectors.max(1);
    }

    pub(super) fn is_stream(&self) -> bool {
        self.score >= 2 && self.think.is_none_or(|mean| mean <= 8 * MS)
    }

    /// How long somebody is waited for who would lose a place.
    pub(super) fn soon(&self) -> Option<u64> {
        self.think.filter(|mean| *mean <= 3 * MS).map(|_| 8 * MS)
    }

    /// How long a wait is worth it: the one that saves most, or the short one, if it saves what it costs. Whoever wrote left it to a drive with
    /// a queue.
    pub(super) fn worth(&self, way: u64, queue: bool) -> Option<u64> {
        let way = if self.wrote && queue { way.min(MS) } else { way };
        let saves = |(vain, cost): (u64, u64)| (way * (256 - vain)) as i64 - (cost * 256) as i64;
        let both = [(saves(self.waits[1]), 8 * MS), (saves(self.waits[0]), MS)];
        let best = both.into_iter().max_by_key(|(saved, _)| *saved)?;
        (self.is_stream() && best.0 >= 0).then_some(best.1)
    }
}

pub(super) struct Process {
    /// Nobody has the number of one that has exited.
    who: Option<u32>,
    /// The first of the chain, which all are counted as.
    first: usize,
    pub(super) asks: Habit,
    pub(super) writes: Habit,
    pub(super) idle: Option<Instant>,
    /// When the first write that nobody waits for was done after the last one was issued.
    pub(super) written: Option<Instant>,
    exited: bool,
    /// The process's last turn had ended before its time, because nothing was asked.
    pub(super) left: bool,
    pub(super) purse: Purse,
}

/// All that ever asked, and the first of the chain that each group's latest newcomer belongs to.
#[derive(Default)]
pub(super) struct Processes {
    pub(super) all: Vec<Process>,
    groups: Vec<(u32, usize)>,
}

impl Processes {
    /// The one that the issuer of `request` is, or continues for. `holder`: whose turn it is.
    pub(super) fn asking(&mut self, request: &Request, holder: Option<usize>) -> usize {
        let (who, group) = (request.issuer.0, request.group.0);
        if let Some(known) = self.all.iter().find(|process| process.who == Some(who)) {
            return known.first;
        }
        let latest = self.groups.iter().find(|(held, _)| *held == group).map(|(_, first)| *first);
        let idle = |first: &usize| self.all[*first].idle.is_some();
        let left_here = |first: &usize| {
            let process = &self.all[*first];
            process.exited || process.asks.near(request.start.0)
        };
        let goes_on_for = latest.filter(idle).or(holder.filter(idle).filter(left_here));
        let first = goes_on_for.unwrap_or(self.all.len());
        let (asks, writes, idle) = (Habit::default(), Habit::default(), None);
        let (exited, left, purse) = (false, false, Purse::default());
        let written = None;
        self.all.push(Process { who: Some(who), first, asks, writes, idle, written, exited, left, purse });
        if group != 0 {
            self.groups.retain(|(held, _)| *held != group);
            self.groups.push((group, first));
        }
        first
    }

    /// `process` issues `request`, which somebody waits for.
    pub(super) fn asks(&mut self, now: Instant, process: usize, request: &Request) {
        let process = &mut self.all[process];
        let thought = process.idle.map(|since| now.0 - since.0);
        process.asks.note(request, thought);
        process.idle = None;
        process.exited = false;
    }

    /// `process` issues `request`, which nobody waits for.
    pub(super) fn writes(&mut self, process: usize, request: &Request) {
        self.all[process].writes.note(request, None);
        (self.all[process].idle, self.all[process].written) = (None, None);
    }

    /// The drive is done with `held`.
    pub(super) fn is_done(&mut self, now: Instant, held: &Held) {
        if held.kind == Kind::Write {
            self.all[held.process].written.get_or_insert(now);
        }
    }

    pub(super) fn exits(&mut self, who: u32) {
        let Some(at) = self.all.iter().position(|process| process.who == Some(who)) else { return };
        let first = self.all[at].first;
        self.all[first].exited = true;
        if first != at {
            self.all[at].who = None;
        }
    }
}
