//! Slow reference for `kyber`, for the oracle suite: all latencies in lists.

use super::*;
use crate::request::Operation;
use crate::schedulers::blk_mq::kyber::{Kyber, Settings};

impl Referenced for Kyber {
    fn reference(_: Setup<'_>, settings: Settings) -> Box<dyn Scheduler> {
        Box::new(Reference {
            settings,
            queues: Default::default(),
            in_flight: Vec::new(),
            domain: 0,
            batching: 0,
            depths: DEPTHS,
            samples: Default::default(),
            timeouts: [None; 3],
            p99: [None; 3],
            timer: None,
        })
    }
}

const SIZES: [u64; 4] = [16, 8, 1, 1];
const DEPTHS: [u64; 4] = [256, 128, 64, 16];

struct Reference {
    settings: Settings,
    /// By domain, in order of arrival.
    queues: [Vec<RequestId>; 4],
    in_flight: Vec<(RequestId, usize, Option<u64>)>,
    domain: usize,
    batching: u64,
    depths: [u64; 4],
    /// Buckets of latencies: the device's, then whole ones; by domain.
    samples: [[Vec<u64>; 3]; 2],
    timeouts: [Option<u64>; 3],
    p99: [Option<u64>; 3],
    timer: Option<u64>,
}

fn domain_of(operation: Operation) -> usize {
    [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush]
        .iter()
        .position(|known| *known == operation)
        .unwrap()
}

impl Reference {
    fn may_go(&self, domain: usize) -> bool {
        let busy = self.in_flight.iter().filter(|(_, held, _)| *held == domain).count() as u64;
        !self.queues[domain].is_empty() && busy < self.depths[domain]
    }

    fn rank(&mut self, kind: usize, domain: usize, percent: u64, now: u64) -> Option<u64> {
        let count = self.samples[kind][domain].len() as u64;
        if count == 0 {
            return None;
        }
        let timeout = self.timeouts[domain].unwrap_or(now + 1_000_000_000);
        self.timeouts[domain] = Some(timeout);
        if count < 500 && now < timeout {
            return None;
        }
        self.timeouts[domain] = None;
        let mut sorted = core::mem::take(&mut self.samples[kind][domain]);
        sorted.sort_unstable();
        Some(sorted[((count * percent).div_ceil(100) - 1) as usize])
    }

    fn timer(&mut self, now: u64) {
        let Some(at) = self.timer.filter(|at| *at <= now) else { return };
        self.timer = None;
        let mut bad = false;
        for domain in 0..3 {
            if self.rank(0, domain, 90, at).is_some_and(|bucket| bucket >= 4) {
                bad = true;
            }
        }
        for (domain, most) in DEPTHS.into_iter().enumerate().take(3) {
            let seen = self.rank(1, domain, 99, at);
            let p99 = if bad { seen.or(self.p99[domain]) } else { seen };
            if bad {
                self.p99[domain] = None;
            } else if seen.is_some() {
                self.p99[domain] = seen;
            }
            if let Some(p99) = p99
                && (bad || p99 >= 4)
            {
                self.depths[domain] = (self.depths[domain] * (p99 + 1) / 4).clamp(1, most);
            }
        }
        self.settle();
    }

    fn settle(&mut self) {
        let waits = self.queues.iter().any(|queue| !queue.is_empty());
        if waits && !(0..4).any(|domain| self.may_go(domain)) {
            self.batching = 0;
        }
    }
}

impl Scheduler for Reference {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.timer(cx.now.0);
        self.queues[domain_of(cx[id].operation)].push(id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.timer(cx.now.0);
        if self.batching >= SIZES[self.domain] || !self.may_go(self.domain) {
            let Some(step) = (1..=4).find(|step| self.may_go((self.domain + step) % 4)) else {
                return match self.timer {
                    Some(at) if self.queues.iter().any(|queue| !queue.is_empty()) => {
                        Decision::WaitUntil(Instant(at))
                    }
                    _ => Decision::Idle,
                };
            };
            self.domain = (self.domain + step) % 4;
            self.batching = 0;
        }
        self.batching += 1;
        let id = self.queues[self.domain].remove(0);
        self.in_flight.push((id, self.domain, Some(cx.now.0)));
        self.settle();
        Decision::Dispatch(id)
    }
    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.timer(cx.now.0);
        let place = self.in_flight.iter().position(|(held, _, _)| *held == id).unwrap();
        let (_, domain, sent) = self.in_flight.remove(place);
        let (Some(sent), true) = (sent, domain < 3) else { return };
        let targets = [self.settings.read_lat_nsec.0.0, self.settings.write_lat_nsec.0.0, 5_000_000_000];
        let width = (targets[domain] / 4).max(1);
        for (kind, since) in [(0, sent), (1, cx[id].arrival.0)] {
            let latency = cx.now.0 - since;
            self.samples[kind][domain].push((latency.saturating_sub(1) / width).min(7));
        }
        self.timer = Some(self.timer.unwrap_or(cx.now.0 + 100_000_000));
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.timer(cx.now.0);
        self.queues.iter_mut().for_each(|queue| queue.retain(|held| *held != id));
        self.settle();
    }
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        // The earlier of the two places is the survivor's.
        let queue = &mut self.queues[domain_of(cx[survivor].operation)];
        let earlier = queue.iter().position(|held| [survivor, other].contains(held)).unwrap();
        queue[earlier] = survivor;
        let mut seen = false;
        queue.retain(|held| *held != other && (*held != survivor || !core::mem::replace(&mut seen, true)));
    }
    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight.push((id, domain_of(cx[id].operation), None));
    }
}
