//! ADIOS 3.0.1: deadlines, and pages filled with as much as is predicted to take a given time.
//!
//! # How it decides
//! Kinds are reads, writes, discards and others. A model of each kind, learned from completions,
//! predicts how long a request takes: a base, and a slope for each KiB beyond 4 KiB.
//! 1. Urgent requests are dispatched first, in order of arrival: flushes (`compliance_flags` 2), and all that came
//!    before models of reads and of writes were known.
//! 2. Else the next request of the page that is being sent is dispatched: others, then discards, writes, reads, each
//!    in the order in which the page was filled.
//! 3. When that is empty, the other page is sent.
//!
//! Before step 2, the page that is not being sent is filled if it is empty and less than
//! `bq_refill_below_ratio` of the window is predicted to be under way: urgent, in a page or in flight.
//! Requests wait on two sides, reads and all others, by deadline in steps of 2^20 ns, in each step in
//! order of arrival. The deadline is the arrival, if somebody waits for the request; else that and
//! `lat_target_…` (and the predicted time, without `compliance_flags` 4).
//! 1. Of the first requests of both sides the read is next, unless the bias is against reads.
//! 2. If its deadline is the later one, the bias moves away from its side by the predicted time,
//!    weighted by `read_priority` for reads. If the other side is empty, it moves if it favours this one.
//! 3. The page is full when the next kind's `batch_limit_…` is reached, when all under way would be
//!    predicted to take longer than the window, or when nothing is known of the next kind. One request
//!    fits always.
//!
//! With `batch_order=elevator` a disk's page has two lists: what somebody waits for, and the rest by
//! address from its nearer end. The rest is sent first.
//!
//! # Source
//! `block/adios.c` 3.0.1 of CachyOS Linux, by Masahito Suzuki. Where its code and its comments differ
//! this follows the code:
//! - what is too little for an update of one kind's model is left in a common place, from where it
//!   enters the next kind's: reads alone teach the models of all kinds;
//! - a slope is all the time of larger requests by KiB, less one base in each update;
//! - latencies from 72 times the prediction on count as short ones again when the slowest are cut off;
//! - the rest by address goes before what somebody waits for, and is sorted if two writes are in the page.
//!
//! # Differs from the source
//! Steps of deadlines count from the first request's arrival. No request is inserted at the head or
//! marked FUA, and a flush is what is marked PREFLUSH; the block layer sends most flushes past the
//! scheduler. Distances are from where the last completed request ended; in Linux its length is 0 by
//! then. A merge that joins two waiting requests moves the survivor behind others with its deadline, as
//! any other merge does. Setting a target does not reset a model, and models cannot be loaded.
//! `async_depth` is left out. Requests in flight from an earlier scheduler
//! are not measured. The timer runs late but as if at its time.
//!
//! # Good for, bad for
//! Good for desktops on flash: reads come first while writes make big pages. Bad for disks with many
//! readers, as reads are dispatched in order of arrival; and for shares among processes, which it does not know.
//!
//! # Starvation
//! Unbounded: nothing else is dispatched while flushes come, and a write waits its two seconds while reads come.
//! After that the bias lets it go by and by; how soon depends on how long each is predicted to take.

mod model;
mod pages;
mod settings;
mod waiting;

use alloc::vec::Vec;

use crate::collections::{Links, List, OutOfMemory, table};
use crate::request::{Operation, Request};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::units::{Duration, Instant, RequestId, Sector};
use model::{KINDS, Models};
use pages::Pages;
pub use settings::{Nice, Order, Settings};
use waiting::Waiting;

/// The kinds of writes and of others.
const WRITES: usize = 1;
const OTHERS: usize = 3;

/// `compliance_flags`: flushes are urgent.
const FLUSHES_FIRST: u64 = 2;
/// `compliance_flags`: predictions do not change deadlines.
const FIXED_ORDER: u64 = 4;

/// The kind of a request.
#[inline]
fn kind_of(request: &Request) -> usize {
    match request.operation {
        Operation::Read => 0,
        Operation::Write => WRITES,
        Operation::Discard => 2,
        Operation::Flush => OTHERS,
    }
}

/// Where a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On its side, by deadline.
    Side,
    /// Among the urgent ones.
    Urgent,
    /// In this list of this page.
    Page(usize, usize),
}

/// What is known of a request.
#[derive(Clone, Copy)]
struct Known {
    place: Place,
    kind: usize,
    /// As it came, before it grew.
    bytes: u64,
    /// How long it is predicted to take, in nanoseconds.
    predicted: u64,
    /// From its arrival to its deadline.
    slack: u64,
    /// When it was dispatched, if it was here.
    sent: Option<Instant>,
}

const NOTHING: Known = Known { place: Place::Side, kind: 0, bytes: 0, predicted: 0, slack: 0, sent: None };

/// Adaptive deadlines.
pub struct Adios {
    known: Vec<Known>,
    waiting: Waiting,
    links: Links,
    urgent: List,
    pages: Pages,
    /// The predicted time of all that is urgent, in a page or in flight.
    under_way: u64,
    models: Models,
    /// Models of reads and of writes were known when a request came.
    stable: bool,
    /// Since when the device was busy with the next request, if it was.
    busy_since: Option<Instant>,
    /// Where the last completed request ended; 0 if that is not known.
    completed: u64,
    /// Where the last request sent ends.
    head: Sector,
    rotational: bool,
    tunables: Settings,
}

impl Algorithm for Adios {
    const NAME: &'static str = "adios";
    const SUMMARY: &'static str = "Sends what is predicted to take a given time, reads before writes.";
    const SOURCE: &'static str = "CachyOS Linux block/adios.c 3.0.1";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let capacity = setup.capacity;
        Ok(Adios {
            known: table(capacity, NOTHING)?,
            waiting: Waiting::new(capacity)?,
            links: Links::new(capacity)?,
            urgent: List::default(),
            pages: Pages::new(capacity)?,
            under_way: 0,
            models: Models::new()?,
            stable: false,
            busy_since: None,
            completed: 0,
            head: Sector(0),
            rotational: setup.device.rotational,
            tunables,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        if tunables.read_priority != self.tunables.read_priority {
            self.waiting.set_bias(0);
        }
        self.tunables = tunables;
    }

    /// If no latency is believed, no model is ever known and all go in order of arrival.
    fn starvation(tunables: &Settings) -> Starvation {
        match tunables.lat_model_latency_limit.0 {
            Duration::ZERO => Starvation::Bounded { after: Duration::ZERO, per_waiting: 1, plus: 0 },
            _ => Starvation::Unbounded,
        }
    }
}

impl Adios {
    /// Updates the models if it is time.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if now >= self.models.due() {
            self.models.look(self.tunables.shrinking());
        }
    }

    /// Sorts `id` in, behind all in the same step.
    fn line_up(&mut self, cx: Cx<'_>, id: RequestId) {
        let Known { kind, slack, .. } = self.known[id.index()];
        let arrival = cx[id].arrival;
        self.waiting.insert(id, kind, arrival, arrival + Duration(slack));
    }

    /// Takes `id` from where it waits.
    fn forget(&mut self, id: RequestId) {
        let Known { place, kind, predicted, .. } = self.known[id.index()];
        match place {
            Place::Side => return self.waiting.remove(id, kind),
            Place::Urgent => self.links.remove(&mut self.urgent, id),
            Place::Page(page, list) => self.pages.remove(&mut self.links, page, list, id),
        }
        self.under_way -= predicted;
    }

    /// Fills `page`, which is empty. Something waits.
    #[inline(never)]
    fn fill(&mut self, cx: Cx<'_>, page: usize, window: u64) {
        let limits = self.tunables.limits();
        let mut counts = [0; KINDS];
        let (mut added, mut count) = (0, 0u64);
        let by_address = self.rotational && self.tunables.batch_order == Order::Elevator;
        self.pages.open(page, by_address);
        while let Some((id, moves)) = self.waiting.next() {
            let Known { kind, predicted, slack, .. } = self.known[id.index()];
            let full = counts[kind] >= limits[kind] || self.under_way + added + predicted > window;
            if count > 0 && (full || !self.models.knows(kind)) {
                break;
            }
            if moves {
                self.waiting.pay(predicted, self.tunables.read_priority);
            }
            self.waiting.remove(id, kind);
            let list = self.pages.add(&mut self.links, page, id, kind, slack > 0);
            self.known[id.index()].place = Place::Page(page, list);
            counts[kind] += 1;
            added += predicted;
            count += 1;
        }
        if by_address && counts[WRITES] > 1 {
            self.pages.sort(cx, &mut self.links, page);
        }
        self.under_way += added;
        cx.rather("a page gets {} requests, predicted to take {}; reads are {} by {}", || {
            let bias = self.waiting.bias();
            let word = if bias < 0 { "behind" } else { "ahead" };
            [count.into(), Duration(added).into(), word.into(), Duration(bias.unsigned_abs()).into()]
        });
    }

    /// The next request of a page, which is filled first if need be.
    fn take_from_pages(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        let window = self.tunables.window(self.rotational);
        if !self.waiting.is_empty()
            && let Some(page) = self.pages.to_fill()
        {
            let least = window.saturating_mul(self.tunables.bq_refill_below_ratio.0) / 100;
            if self.under_way == 0 || self.under_way < least {
                self.fill(cx, page, window);
            }
        }
        let id = self.pages.pop(cx, &mut self.links, self.head)?;
        cx.because("next in the page; {} wait in pages, predicted with what is in flight to take {}", || {
            [self.pages.len().into(), Duration(self.under_way).into()]
        });
        Some(id)
    }

    /// How much a measurement weighs: on a disk the more, the farther the request was.
    fn weight_of(&mut self, request: &Request) -> u64 {
        if !self.rotational {
            return 1;
        }
        let last = core::mem::replace(&mut self.completed, request.end().0);
        match last {
            0 => 1,
            last => 65 - u64::from(request.start.distance(Sector(last)).leading_zeros()),
        }
    }
}

impl Scheduler for Adios {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        let request = &cx[id];
        let (kind, bytes) = (kind_of(request), request.length.bytes());
        let predicted = self.models.predict(kind, bytes);
        let flags = self.tunables.compliance_flags.0;
        let slack = match (request.sync, flags & FIXED_ORDER) {
            (true, _) => 0,
            (false, 0) => self.tunables.target(kind) + predicted,
            (false, _) => self.tunables.target(kind),
        };
        let urgent = !self.stable || (kind == OTHERS && flags & FLUSHES_FIRST != 0);
        let place = if urgent { Place::Urgent } else { Place::Side };
        self.known[id.index()] = Known { place, kind, bytes, predicted, slack, ..NOTHING };
        if urgent {
            self.under_way += predicted;
            self.links.push_back(&mut self.urgent, id);
            self.stable |= self.models.knows(0) && self.models.knows(WRITES);
        } else {
            self.line_up(cx, id);
        }
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx.now);
        let id = if let Some(id) = self.links.pop_front(&mut self.urgent) {
            cx.because("the first of {} urgent ones", || [(self.urgent.len() + 1).into()]);
            if self.urgent.is_empty() {
                self.pages.turn(cx, self.head);
            }
            id
        } else if let Some(id) = self.take_from_pages(cx) {
            id
        } else {
            if !self.waiting.is_empty() {
                cx.because("what is in flight is predicted to take {}", || [Duration(self.under_way).into()]);
            }
            return Decision::Idle;
        };
        self.head = cx[id].end();
        self.known[id.index()].sent = Some(cx.now);
        Decision::Dispatch(id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        let request = &cx[id];
        let Known { kind, bytes, predicted, sent, .. } = self.known[id.index()];
        let Some(sent) = sent else { return };
        self.under_way -= predicted;
        if kind == OTHERS {
            self.completed = 0;
            return;
        }
        let busy = self.under_way > 0;
        let since = core::mem::replace(&mut self.busy_since, busy.then_some(cx.now)).unwrap_or(sent);
        let latency = cx.now.since(since).0;
        if bytes == 0 || latency > self.tunables.lat_model_latency_limit.0.0 {
            return;
        }
        let weight = self.weight_of(request);
        let shrinking = self.tunables.shrinking();
        self.models.enter(cx.now, kind, (bytes, latency, predicted), weight, shrinking);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        self.forget(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.remove(id, self.known[id.index()].kind);
        self.line_up(cx, id);
    }

    fn absorbed(&mut self, _: Cx<'_>, _: RequestId, other: RequestId) {
        self.forget(other);
    }

    fn adopt(&mut self, _: Cx<'_>, id: RequestId) {
        self.known[id.index()] = NOTHING;
    }

    /// Only a request that was last touched can grow at its front.
    fn front_merges(&self) -> bool {
        false
    }

    fn may_merge(&self, _: Cx<'_>, id: RequestId, _: &Request) -> bool {
        self.known[id.index()].place == Place::Side
    }
}

#[cfg(test)]
mod tests;
