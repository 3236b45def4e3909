//! The processes of a stream as a workload that goes round: when a process has come to the end of what it was seen to
//! do, it begins anew. So a short stream tells what the disk would do for longer.
//!
//! A process that reads or writes in order goes on where it stopped. Of one that does not, the places of later rounds
//! are moved by a part of the range that it uses: the disk's buffer does not know them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use idlewise_core::{Instant, Request, RequestId, Sector};

use super::script::Script;
use crate::engine::Workload;
use crate::engine::exits::Exits;

/// A process that goes round.
struct Dancer {
    script: Script,
    next: usize,
    round: u64,
    outstanding: u32,
    /// Its next step has a time already.
    timed: bool,
    /// When its last step was issued.
    issued: Instant,
}

/// The workload.
pub struct Echo {
    dancers: Vec<Dancer>,
    ready: BinaryHeap<Reverse<(Instant, u32)>>,
    owners: Vec<u32>,
    capacity: Sector,
}

/// 2^64 divided by the golden ratio: multiples of it spread evenly.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Echo {
    /// These processes, on a disk of `capacity`.
    pub fn new(scripts: &[Script], capacity: Sector) -> Echo {
        let mut ready = BinaryHeap::new();
        let mut dancers = Vec::new();
        for (place, script) in scripts.iter().enumerate() {
            ready.push(Reverse((Instant::ZERO + script.start, place as u32)));
            dancers.push(Dancer {
                script: script.clone(),
                next: 0,
                round: 0,
                outstanding: 0,
                timed: true,
                issued: Instant::ZERO,
            });
        }
        Echo { dancers, ready, owners: Vec::new(), capacity }
    }

    /// Gives the process's next step a time, if nothing holds it.
    fn schedule(&mut self, place: u32, now: Instant) {
        let dancer = &mut self.dancers[place as usize];
        let Script { steps, ramp, depth, pause, .. } = &dancer.script;
        let step = &steps[dancer.next];
        let again = dancer.round > 0 && dancer.next < *ramp;
        let (outstanding, delay) = if again { (*depth, *pause) } else { (step.outstanding, step.delay) };
        if dancer.timed || dancer.outstanding > outstanding {
            return;
        }
        dancer.timed = true;
        self.ready.push(Reverse((now.max(dancer.issued) + delay, place)));
    }
}

impl Dancer {
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

impl Workload for Echo {
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
        let dancer = &mut self.dancers[place as usize];
        let request = dancer.request(at, self.capacity);
        dancer.outstanding += 1;
        dancer.issued = at;
        dancer.timed = false;
        dancer.next += 1;
        if dancer.next == dancer.script.steps.len() {
            (dancer.next, dancer.round) = (0, dancer.round + 1);
        }
        self.schedule(place, at);
        request
    }

    fn completed(&mut self, now: Instant, id: RequestId, _: &mut Exits) {
        let place = self.owners[id.index()];
        self.dancers[place as usize].outstanding -= 1;
        self.schedule(place, now);
    }
}
