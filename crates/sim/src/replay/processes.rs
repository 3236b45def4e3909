//! Processes in a replay: each issues its requests in the order of the trace, and continues as soon as it has no more of
//! them under way than it had there. One that takes what it reads in order continues as soon as no earlier ones are.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use idlewise_core::{Duration, Instant, Issuer};
use rustc_hash::FxHasher;

/// Processes remembered before those that are silent are forgotten.
const REMEMBERED: usize = 1 << 14;

/// A device and a process on it.
type Key = (u32, Issuer);

/// A row that its process has not come to yet.
#[derive(Clone, Copy)]
struct Waiting {
    row: u64,
    /// Rows of the process before it.
    before: u64,
    /// Requests of the process that may be under way when it is issued.
    under_way: u32,
    /// They are the last that it issued.
    in_order: bool,
    /// How long the process then computes.
    think: Duration,
}

#[derive(Default)]
struct Process {
    /// Rows read, and of these issued.
    read: u64,
    issued: u64,
    /// The latest row read.
    row: u64,
    under_way: u32,
    /// From the first request that is under way to the last that was issued: whether it is done.
    done: VecDeque<bool>,
    /// The time of the latest issue or completion.
    latest: Instant,
    waiting: VecDeque<Waiting>,
}

impl Process {
    /// The next row, and when it is issued, if what it waits for has happened by `now`.
    fn go_on(&mut self, now: Instant) -> Option<(Instant, u64)> {
        let under_way = |next: &Waiting| if next.in_order { self.done.len() as u32 } else { self.under_way };
        let goes = |next: &Waiting| self.issued >= next.before && under_way(next) <= next.under_way;
        let next = *self.waiting.front().filter(|next| goes(next))?;
        self.waiting.pop_front();
        Some((now + next.think, next.row))
    }
}

/// All processes.
#[derive(Default)]
pub(super) struct Processes {
    places: HashMap<Key, u32, BuildHasherDefault<FxHasher>>,
    all: Vec<Process>,
    free: Vec<u32>,
}

impl Processes {
    /// The place of the process whose row `row` is read, and whether earlier rows of it are remembered. Those that have
    /// nothing to do and are silent for `silence` rows may be forgotten.
    pub(super) fn read(&mut self, key: Key, row: u64, silence: u64) -> (u32, bool) {
        if self.places.len() >= REMEMBERED && !self.places.contains_key(&key) {
            self.forget(row.saturating_sub(silence));
        }
        let (all, free) = (&mut self.all, &mut self.free);
        let place = *self.places.entry(key).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                all.push(Process::default());
                all.len() as u32 - 1
            })
        });
        let process = &mut self.all[place as usize];
        process.read += 1;
        process.row = row;
        (place, process.read > 1)
    }

    fn forget(&mut self, silent_since: u64) {
        self.places.retain(|_, place| {
            let process = &mut self.all[*place as usize];
            let busy = process.issued < process.read || process.under_way > 0;
            if busy || process.row >= silent_since {
                return true;
            }
            *process = Process::default();
            self.free.push(*place);
            false
        });
    }

    /// The process at `place` issues `row`, the latest read, once its earlier ones are issued and no more than
    /// `under_way` are under way (if `in_order`: none but the last `under_way` of them), after it has computed for `think`.
    /// If that is so already, says when.
    pub(super) fn wait(
        &mut self,
        place: u32,
        row: u64,
        (under_way, in_order): (u32, bool),
        think: Duration,
    ) -> Option<(Instant, u64)> {
        let process = &mut self.all[place as usize];
        process.waiting.push_back(Waiting { row, before: process.read - 1, under_way, in_order, think });
        let latest = process.latest;
        process.go_on(latest)
    }

    /// The process at `place` issues a request; `counts` if it is known to end. How many it has issued before, and what it does
    /// next.
    pub(super) fn issue(&mut self, place: u32, at: Instant, counts: bool) -> (u64, Option<(Instant, u64)>) {
        let process = &mut self.all[place as usize];
        let before = process.issued;
        process.issued += 1;
        process.under_way += u32::from(counts);
        if counts || !process.done.is_empty() {
            process.done.push_back(!counts);
        }
        process.latest = at;
        (before, process.go_on(at))
    }

    /// A request of the process at `place` is done that counts, before which it had issued `before`. What the process does next.
    pub(super) fn done(&mut self, place: u32, before: u64, now: Instant) -> Option<(Instant, u64)> {
        let process = &mut self.all[place as usize];
        process.under_way -= 1;
        let first = process.issued - process.done.len() as u64;
        process.done[(before - first) as usize] = true;
        while process.done.front() == Some(&true) {
            process.done.pop_front();
        }
        process.latest = now;
        process.go_on(now)
    }
}
