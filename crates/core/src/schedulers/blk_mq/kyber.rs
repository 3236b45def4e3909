//! Kyber: limits for how many requests of each kind are in flight, adjusted to reach latency targets.
//!
//! # How it decides
//! A request is of one of four domains: read, write, discard, other. Each domain is served in order of arrival,
//! and may have as many requests in flight as it has tokens: at first 256, 128, 64 and 16.
//! 1. The batch continues: the next request of the same domain, as long as that has one and a token, and
//!    the batch has fewer than 16 reads, 8 writes, 1 discard or 1 other.
//! 2. Else a batch begins in the next domain, in turn, that has a request and a token.
//!
//! Latencies of reads, writes and discards are counted in quarters of the domain's target: the whole
//! latency from arrival, and the device's from dispatch. 100 ms after a completion they are looked at.
//! 1. The device is congested if in any domain one in ten of the device's latencies is beyond the target.
//! 2. A domain of which one in a hundred latencies is beyond the target gets more tokens. When the device
//!    is congested, all others get fewer. The new number is the old one times the quarter of the target
//!    that all but one in a hundred latencies keep (8 quarters at most), divided by four.
//!
//! These steps need 500 latencies, or a second since the first check. When the device is not congested, what
//! was found is remembered for the next time that it is.
//!
//! Asynchronous requests have room in three quarters of the queue.
//!
//! # Source
//! Linux 6.1 `block/kyber-iosched.c`. The second is common to both kinds of latencies of a domain, and
//! the check of the device's uses it up; so a domain with few requests has its number of tokens
//! adjusted only once it has had 500.
//!
//! # Differs from the source
//! One queue in order of arrival for each domain; Linux has one for each processor, empties them one
//! after the other, and merges only what is in the same one. A batch ends when requests wait and
//! none can be sent, whether the host asks or not; in Linux, when it asks. A domain whose tokens became fewer waits until
//! it has fewer requests in flight; Linux may give out any token that is free among those left. The
//! timer runs late but as if at its time. Requests in flight from an earlier scheduler hold tokens
//! and are not measured. A request that the device gives back is measured from its first dispatch.
//!
//! # Good for, bad for
//! Good for fast flash with deep queues of its own, where reads would wait behind writes in the device.
//! Bad for disks, as it never looks at addresses; for shares among processes, which it does not know;
//! and for devices that take only few commands, as there is nothing to limit.
//!
//! # Starvation
//! None: a domain's turn comes after at most one batch of each other. But what is in flight may keep
//! requests of its domain waiting as long as it takes.

mod feedback;

use alloc::vec::Vec;

use crate::admission::DepthLimit;
use crate::collections::{Fifo, OutOfMemory, table};
use crate::request::{Operation, Request};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::Nanoseconds;
use crate::units::{Duration, Instant, RequestId};
use feedback::{DOMAINS, Feedback};

crate::tunables! {
    /// Tunables of [`Kyber`]. Names, units and defaults are Linux's.
    pub struct Settings {
        /// The latency that reads should have.
        read_lat_nsec: Nanoseconds = 2_000_000, 0..=3_600_000_000_000;
        /// The latency that writes should have.
        write_lat_nsec: Nanoseconds = 10_000_000, 0..=3_600_000_000_000;
    }
}

/// By domain: requests in a batch.
const BATCH: [u32; DOMAINS] = [16, 8, 1, 1];

/// Linux's `KYBER_ASYNC_PERCENT`: how much of the queue asynchronous requests may have.
const ASYNC_PERCENT: usize = 75;

/// The latency that discards should have.
const DISCARD_TARGET: Duration = Duration::from_s(5);

/// The domain of a request.
#[inline]
fn domain(request: &Request) -> usize {
    match request.operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Discard => 2,
        Operation::Flush => 3,
    }
}

/// How reasons call the requests of a domain.
const WORDS: [&str; DOMAINS] = ["reads", "writes", "discards", "flushes"];

/// Tokens by kind of request.
pub struct Kyber {
    waiting: [Fifo; DOMAINS],
    in_flight: [u32; DOMAINS],
    /// By request in flight: since when. `None`: an earlier scheduler dispatched it.
    sent: Vec<Option<Instant>>,
    /// The domain of the batch.
    current: usize,
    /// Requests that the batch has sent.
    batching: u32,
    feedback: Feedback,
    tunables: Settings,
}

impl Algorithm for Kyber {
    const NAME: &'static str = "kyber";
    const SUMMARY: &'static str = "Limits reads and writes in flight so that latencies reach their targets.";
    const SOURCE: &'static str = "Linux 6.1 block/kyber-iosched.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let fifo = || Fifo::new(setup.capacity);
        Ok(Kyber {
            waiting: [fifo()?, fifo()?, fifo()?, fifo()?],
            in_flight: [0; DOMAINS],
            sent: table(setup.capacity, None)?,
            current: 0,
            batching: 0,
            feedback: Feedback::default(),
            tunables,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    /// With the k-th turn of its domain at the latest the k-th of its requests goes. Between two
    /// turns each other domain has one batch.
    fn starvation(_: &Settings) -> Starvation {
        let per_waiting = BATCH.iter().map(|size| u64::from(*size)).sum();
        Starvation::Bounded { after: Duration::ZERO, per_waiting, plus: 0 }
    }
}

impl Kyber {
    /// Whether `domain` has a request and a token.
    #[inline]
    fn ready(&self, domain: usize) -> bool {
        !self.waiting[domain].is_empty() && self.in_flight[domain] < self.feedback.tokens(domain)
    }

    /// The batch is over if requests wait and none can be sent. A batch outlasts a time when nothing waits, as
    /// the kernel does not ask then.
    #[inline]
    fn end_batch_if_stuck(&mut self) {
        let waits = self.waiting.iter().any(|waiting| !waiting.is_empty());
        if waits && (0..DOMAINS).all(|domain| !self.ready(domain)) {
            self.batching = 0;
        }
    }

    /// Looks at latencies if it is time.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if now >= self.feedback.due() {
            self.feedback.look();
            self.end_batch_if_stuck();
        }
    }

    /// The domain whose turn it is, and how many it has sent in its batch.
    #[inline]
    fn turn(&self) -> Option<(usize, u32)> {
        if self.batching < BATCH[self.current] && self.ready(self.current) {
            return Some((self.current, self.batching));
        }
        let others = (1..=DOMAINS).map(|step| (self.current + step) % DOMAINS);
        others.into_iter().find(|domain| self.ready(*domain)).map(|domain| (domain, 0))
    }

    /// Nothing can be sent. When the tokens become more, it is different.
    #[cold]
    fn hold(&self, cx: Cx<'_>) -> Decision {
        let Some(domain) = (0..DOMAINS).find(|domain| !self.waiting[*domain].is_empty()) else {
            return Decision::Idle;
        };
        cx.because("{} {} wait for one of {} tokens", || {
            let waiting = self.waiting[domain].len();
            [waiting.into(), WORDS[domain].into(), u64::from(self.feedback.tokens(domain)).into()]
        });
        match self.feedback.due() {
            Instant::MAX => Decision::Idle,
            due => Decision::WaitUntil(due),
        }
    }
}

impl Scheduler for Kyber {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        self.waiting[domain(&cx[id])].push(id);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.catch_up(cx.now);
        let Some((domain, sent)) = self.turn() else { return self.hold(cx) };
        let Some(id) = self.waiting[domain].pop() else { return Decision::Idle };
        (self.current, self.batching) = (domain, sent + 1);
        self.in_flight[domain] += 1;
        self.sent[id.index()] = Some(cx.now);
        let text = match sent {
            0 => "a batch of {} begins: request {}, with token {} of {}",
            _ => "the batch of {} goes on: request {}, with token {} of {}",
        };
        cx.because(text, || {
            let [sent, taken] = [self.batching, self.in_flight[domain]].map(|count| u64::from(count).into());
            [WORDS[domain].into(), sent, taken, u64::from(self.feedback.tokens(domain)).into()]
        });
        self.end_batch_if_stuck();
        Decision::Dispatch(id)
    }

    #[inline]
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        let domain = domain(&cx[id]);
        self.in_flight[domain] -= 1;
        let target = match domain {
            0 => self.tunables.read_lat_nsec.0,
            1 => self.tunables.write_lat_nsec.0,
            2 => DISCARD_TARGET,
            _ => return,
        };
        if let Some(sent) = self.sent[id.index()] {
            self.feedback.enter(cx.now, domain, target, cx.age(id), cx.now.since(sent));
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.catch_up(cx.now);
        self.waiting[domain(&cx[id])].remove(id);
        self.end_batch_if_stuck();
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting[domain(&cx[survivor])].absorb(survivor, other);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight[domain(&cx[id])] += 1;
        self.sent[id.index()] = None;
    }

    #[inline]
    fn depth_limit(&self, size: usize) -> DepthLimit {
        DepthLimit { asynchronous: size * ASYNC_PERCENT / 100, ..DepthLimit::NONE }
    }
}

#[cfg(test)]
mod tests;
