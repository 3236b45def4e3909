//! One wait in detail: all that happened while a request waited, and who was served meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use idlewise_core::{Decision, Duration, Instant, Issuer, Request, RequestId, SECTOR_BYTES, Why};
use idlewise_disk::Completion;

use super::Observer;
use super::decision_log::{extent, told};
use crate::metrics::counted_as;

/// Events that are told at the beginning, and at the end; of those between them, only the request's own.
const TOLD: usize = 60;

/// What a process was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Requests that were done.
    pub requests: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Device time of these.
    pub service: Duration,
}

/// Watches a run for the request that a process issued at a time.
pub struct Timeline {
    issuer: Issuer,
    issued: Instant,
    /// The request, while it is known and not done.
    id: Option<RequestId>,
    done: Option<Instant>,
    /// Requests that were issued and are not done.
    queued: u32,
    /// Those of them that are at the device.
    served: u32,
    /// Requests in the queue and at the device when the request was issued.
    before: [u32; 2],
    /// The lines of the beginning, and of the request itself.
    head: Vec<String>,
    /// The lines behind these, the last ones only.
    tail: Vec<String>,
    left_out: u64,
    given: BTreeMap<Issuer, Given>,
}

impl Timeline {
    /// For the request that `issuer` issued at `issued`, the first of several.
    pub fn of(issuer: Issuer, issued: Instant) -> Timeline {
        Timeline {
            issuer,
            issued,
            id: None,
            done: None,
            queued: 0,
            served: 0,
            before: [0; 2],
            head: Vec::new(),
            tail: Vec::new(),
            left_out: 0,
            given: BTreeMap::new(),
        }
    }

    /// What each process was given while the request waited.
    pub fn given(&self) -> &BTreeMap<Issuer, Given> {
        &self.given
    }

    /// How long the request took; `None` if no such request was done.
    pub fn took(&self) -> Option<Duration> {
        self.done.map(|done| done.since(self.issued))
    }

    /// How many requests were in the queue and how many at the device when the request was issued.
    pub fn before(&self) -> [u32; 2] {
        self.before
    }

    /// What happened, a line for each event, with the time since the request was issued; `>` marks the request's own.
    pub fn text(&self) -> String {
        let mut text = self.head.concat();
        if self.left_out > 0 {
            let _ = writeln!(text, "  … {} more events; --why tells all decisions", self.left_out);
        }
        text + &self.tail.concat()
    }

    fn watches(&self) -> bool {
        self.id.is_some()
    }

    fn tell(&mut self, now: Instant, own: bool, what: &str) {
        let mark = if own { '>' } else { ' ' };
        let line = format!("{mark} {:>12.3} ms  {what}\n", now.since(self.issued).0 as f64 / 1e6);
        if self.head.len() < TOLD {
            self.head.push(line);
        } else {
            self.tail.push(line);
            if self.tail.len() > TOLD
                && let Some(first) = self.tail.iter().position(|line| !line.starts_with('>'))
            {
                self.tail.remove(first);
                self.left_out += 1;
            }
        }
    }
}

impl Observer for Timeline {
    fn arrived(&mut self, now: Instant, id: RequestId, request: &Request) {
        let is_it = self.done.is_none()
            && self.id.is_none()
            && request.arrival == self.issued
            && counted_as(request) == self.issuer;
        if is_it {
            (self.id, self.before) = (Some(id), [self.queued - self.served, self.served]);
        }
        self.queued += 1;
        if self.watches() {
            self.tell(now, is_it, &format!("arrive   {id} {}", extent(request)));
        }
    }

    fn dispatched(&mut self, _: Instant, _: RequestId) {
        self.served += 1;
    }

    fn served(&mut self, now: Instant, id: RequestId, completion: &Completion) {
        self.served -= 1;
        if self.watches() {
            let timing = &completion.timing;
            let how = if timing.cached {
                "from or into the disk's buffer".to_owned()
            } else {
                format!("seek {}, rotation {}, transfer {}", timing.seek, timing.rotation, timing.transfer)
            };
            let service = completion.at.since(completion.started);
            self.tell(now, self.id == Some(id), &format!("served   {id} in {service}: {how}"));
        }
    }

    fn completed(&mut self, now: Instant, id: RequestId, request: &Request, service_share: u64) {
        self.queued -= 1;
        if !self.watches() {
            return;
        }
        if self.id == Some(id) {
            let took = now.since(self.issued);
            self.tell(now, true, &format!("done     {id} {} after {took}", extent(request)));
            (self.id, self.done) = (None, Some(now));
            return;
        }
        let given = self.given.entry(counted_as(request)).or_default();
        given.requests += 1;
        given.bytes += u64::from(request.length.0) * SECTOR_BYTES;
        given.service.0 += service_share;
    }

    fn decided(&mut self, now: Instant, decision: Decision, request: Option<&Request>, why: Option<Why>) {
        if self.watches() && decision != Decision::Idle {
            let own = matches!(decision, Decision::Dispatch(id) if self.id == Some(id));
            self.tell(now, own, &told(now, decision, request, why));
        }
    }
}
