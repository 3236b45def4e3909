//! The processes of the latest requests as a workload that repeats: when a process has come to the end of what it was seen to
//! do, it starts over. So a short record tells what the disk would do for longer.
//!
//! A process that reads or writes in order continues where it stopped. Of one that does not, the places of later rounds
//! are moved by a part of the range that it uses: the disk's buffer does not know them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Instant, Request, RequestId, Sector};

use super::script::Script;
use crate::engine::Workload;
use crate::engine::exits::Exits;

/// A process that goes round.
struct Looping {
    script: Script,
    next: usize,
    round: u64,
    outstanding: u32,
    /// The process's next step has a time already.
    timed: bool,
    /// When its last step was issued.
    issued: Instant,
}

/// The workload.
pub struct LoopingReplay {
    processes: Vec<Looping>,
    ready: BinaryHeap<Reverse<(Instant, u32)>>,
    owners: Vec<u32>,
    capacity: Sector,
}

/// 2^64 divided by the golden ratio: multiples of it spread evenly.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl LoopingReplay {
    /// Processes that loop over `scripts`, on a disk of `capacity`.
    pub fn new(scripts: &[Script], capacity: Sector) -> LoopingReplay {
        let mut ready = BinaryHeap::new();
        let mut processes = Vec::new();
        for (place, script) in scripts.iter().enumerate() {
            ready.push(Reverse((Instant::ZERO + script.start, place as u32)));
            processes.push(Looping {
                script: script.clone(),
                next: 0,
                round: 0,
                outstanding: 0,
                timed: true,
                issued: Instant::ZERO,
            });
        }
        LoopingReplay { processes, ready, owners: Vec::new(), capacity }
    }

    /// Gives the process's next step a time, if nothing holds it.
    fn schedule(&mut self, place: u32, now: Instant) {
        let process = &mut self.processes[place as usize];
        let Script { steps, ramp, depth, pause, .. } = &process.script;
        let step = &steps[process.next];
        let again = process.round > 0 && process.next < *ramp;
        let (outstanding, delay) = if again { (*depth, *pause) } else { (step.outstanding, step.delay) };
        if process.timed || process.outstanding > outstanding {
            return;
        }
        process.timed = true;
        self.ready.push(Reverse((now.max(process.issued) + delay, place)));
    }
}

impl Looping {
    /// The next request, moved to where this round takes place.
    fn request(&self, at: Instant, capacity: Sector) -> Request {
        let step = &self.script.steps[self.next];
        let request = Request { arrival: at, ..step.request };
        if self.round == 0 || request.length.0 == 0 {
            return request;
        }
        let length = u64::from(request.length.0);
        let (low, high) = (self.script.range.0.0, self.script.range.1.0);
        let start = match self.script.advance {
            Some(advance) => request.start.0.wrapping_add(advance.wrapping_mul(self.round)),
            None => {
                let places = (high - low).saturating_sub(length).max(1);
                let turn = ((u128::from(self.round.wrapping_mul(GOLDEN)) * u128::from(places)) >> 64) as u64;
                low + (request.start.0 - low + turn) % places / 8 * 8
            }
        };
        let last = capacity.0.saturating_sub(length);
        Request { start: Sector(if start > last { start % last.max(1) } else { start }), ..request }
    }
}

impl Workload for LoopingReplay {
    #[inline]
    fn next(&mut self) -> Option<Instant> {
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let Some(Reverse((at, place))) = self.ready.pop() else { unreachable!("next() announced a request") };
        if self.owners.len() <= id.index() {
            self.owners.resize(id.index() + 1, 0);
        }
        self.owners[id.index()] = place;
        let process = &mut self.processes[place as usize];
        let request = process.request(at, self.capacity);
        process.outstanding += 1;
        process.issued = at;
        process.timed = false;
        process.next += 1;
        if process.next == process.script.steps.len() {
            (process.next, process.round) = (0, process.round + 1);
        }
        self.schedule(place, at);
        request
    }

    fn completed(&mut self, now: Instant, id: RequestId, _: &mut Exits) {
        let place = self.owners[id.index()];
        self.processes[place as usize].outstanding -= 1;
        self.schedule(place, now);
    }
}
