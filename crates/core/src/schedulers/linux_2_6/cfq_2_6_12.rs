//! Linux 2.6.12's CFQ, the second: rounds that begin with the processes that have used the disk least.
//!
//! All of the scheduler is in this file; the folder `cfq` belongs to the third CFQ, Linux 2.6.32's.
//!
//! # How it decides
//! Requests of each process wait in a queue, by address, and in order of arrival by whether they are
//! synchronous.
//! 1. If the dispatch list holds anything, its first request is dispatched.
//! 2. Else it is filled with `quantum` requests, one of a process at a time: first of those that have
//!    none in flight or on the list, then of all, round by round. In a round, who has used less service
//!    is served first; ties go to who has fewer in flight, then to who has waited longer for a turn.
//! 3. A process gives its oldest synchronous request if that is older than `fifo_expire_sync`, else its
//!    oldest asynchronous one if that is older than `fifo_expire_async`; but one such in
//!    `fifo_batch_expire`. Else it gives the nearest to where the last one taken ended: ahead, or behind
//!    within `back_seek_max`, where the distance counts `back_seek_penalty` times; or, without `find_best`, the
//!    one with the lowest address.
//! 4. The list is in elevator order from where the last dispatched request ended.
//! 5. Service is time from dispatch to completion. Once 4 requests were in flight together, that says
//!    little, and each request counts 1 ms. Service used is forgotten: when a request is done, or when
//!    the process comes back, and that was last done more than a second ago, to an eighth; to a tenth if
//!    requests count alike.
//!
//! # Source
//! Linux 2.6.12-rc2 `drivers/block/cfq-iosched.c`; IOAZ ran 2.6.11, which is taken to have had the same.
//!
//! # Differs from the source
//! - Linux counts in ticks; here times are nanoseconds. Service runs from when the device gets a request.
//! - A round ends with the quantum, so that the order by service matters among more than four processes.
//! - Where to continue is found when it is asked for, not remembered.
//! - A process is an issuer's number; Linux can also take its group or user (`key_type`). `queued` and
//!   the other rules of which process may allocate a request are the host's matter.
//! - Requests on the dispatch list do not merge, and requests of different processes do not either.
//! - Service is remembered of 64 processes besides those with requests here.
//!
//! # Good for, bad for
//! Good for sharing the disk by time among processes that keep requests waiting. Bad for synchronous
//! readers: it never waits for one, so that the head goes to and fro between them.
//!
//! # Starvation
//! No process starves. In its own queue a request is passed over until it is overdue, and then waits for
//! its turn among those that go once in `fifo_batch_expire`: no number of requests bounds that.

use alloc::vec::Vec;

use crate::collections::{Fifos, Forest, Issuers, Links, List, OutOfMemory, Place, Tree, table};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::schedulers::shared::dispatch_list::DispatchList;
use crate::schedulers::shared::nearer::{Back, better};
use crate::tunables::{Count, Kibibytes, Milliseconds};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector};

crate::tunables! {
    /// Tunables of Linux 2.6.12's CFQ. Names, units and defaults are Linux's.
    pub struct Settings {
        /// Requests that are taken from the processes' queues at once.
        quantum: Count = 4, 1..=1_000_000;
        /// How long a synchronous request may wait before it is served out of order.
        fifo_expire_sync: Milliseconds = 500, 1..=3_600_000;
        /// The same for asynchronous requests.
        fifo_expire_async: Milliseconds = 5000, 1..=3_600_000;
        /// The least time between two requests of a process that are served out of order.
        fifo_batch_expire: Milliseconds = 125, 0..=3_600_000;
        /// The nearest request goes, not the one with the lowest address.
        find_best: bool = 1, 0..=1;
        /// How far back the head may go for the next request.
        back_seek_max: Kibibytes = 16_384, 0..=4_294_967_295;
        /// How many times longer than a seek forward a seek backward counts.
        back_seek_penalty: Count = 2, 1..=1_000_000;
    }
}

/// Linux's `cfq_service`: service is forgotten once in this time.
const MEMORY: Duration = Duration::from_s(1);
/// What a request counts when requests overlap: a tick.
const ALIKE: u64 = Duration::from_ms(1).0;
/// Requests overlap if this many are in flight at once.
const DEEP: u64 = 4;
/// Processes that are remembered besides those with requests here.
const REMEMBERED: usize = 64;

/// What is kept of one process.
#[derive(Clone, Copy, Default)]
struct Lane {
    by_address: Tree,
    /// Asynchronous and synchronous requests in order of arrival.
    fifo: [List; 2],
    /// On the dispatch list, or with the device.
    in_flight: u64,
    used: Duration,
    /// When service used was last forgotten, or its first request came.
    since: Option<Instant>,
    /// When one was last served out of order.
    expired: Option<Instant>,
    /// A number that is larger for those that had their turn later.
    turn: u64,
}

/// Linux 2.6.12's CFQ: rounds in order of service used.
pub struct Cfq2612 {
    lanes: Issuers<Lane>,
    forest: Forest,
    /// Each request with its number among all that came.
    fifos: Fifos<u64>,
    /// The processes that have requests in their queues.
    busy: Vec<Place>,
    queued: usize,
    /// Counts turns, and requests that came.
    turn: u64,
    links: Links,
    dispatch: DispatchList,
    /// By request: when it went to the device, and the process, which is held.
    sent: Vec<(Instant, Option<Place>)>,
    in_flight: u64,
    overlaps: bool,
    /// Where the last request taken from a queue ends.
    head: Sector,
    settings: Settings,
}

impl Algorithm for Cfq2612 {
    const NAME: &'static str = "cfq-2.6.12";
    const SUMMARY: &'static str = "Takes requests of those processes first that have used the disk least.";
    const SOURCE: &'static str = "Linux 2.6.12 drivers/block/cfq-iosched.c";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, settings: Settings) -> Result<Self, OutOfMemory> {
        let places = setup.capacity.saturating_add(REMEMBERED);
        let mut busy = Vec::new();
        busy.try_reserve_exact(places).map_err(|_| OutOfMemory)?;
        Ok(Cfq2612 {
            lanes: Issuers::new(places)?,
            forest: Forest::new(setup.capacity)?,
            fifos: Fifos::new(setup.capacity)?,
            busy,
            queued: 0,
            turn: 0,
            links: Links::new(setup.capacity)?,
            dispatch: DispatchList::new(setup.capacity)?,
            sent: table(setup.capacity, (Instant::ZERO, None))?,
            in_flight: 0,
            overlaps: false,
            head: Sector(0),
            settings,
        })
    }

    fn tune(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// In a process's queue one overdue request goes in a time, however many others go meanwhile.
    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Lane {
    /// Forgets most of the service used, if it is time.
    fn forget(&mut self, now: Instant, divisor: u64) {
        let since = *self.since.get_or_insert(now);
        if now.since(since) > MEMORY {
            (self.used, self.since) = (self.used / divisor, Some(now));
        }
    }
}

impl Cfq2612 {
    fn place(&self, id: RequestId) -> Place {
        let Some(place) = self.sent[id.index()].1 else { panic!("{id} was not inserted") };
        place
    }

    /// The request that the process at `place` gives.
    fn choose(&mut self, cx: Cx<'_>, place: Place) -> Option<RequestId> {
        let Settings { fifo_expire_sync, fifo_expire_async, fifo_batch_expire, .. } = self.settings;
        let lane = &mut self.lanes[place];
        if lane.expired.is_none_or(|last| cx.now.since(last) >= fifo_batch_expire.0) {
            let late = |side: usize, expire: Milliseconds| {
                lane.fifo[side].front().filter(|id| cx.age(*id) > expire.0)
            };
            if let Some(id) = late(1, fifo_expire_sync).or_else(|| late(0, fifo_expire_async)) {
                lane.expired = Some(cx.now);
                return Some(id);
            }
        }
        let first = self.forest.first(&lane.by_address);
        let ahead = self.forest.at_or_after(&lane.by_address, self.head.0);
        if !self.settings.find_best || ahead == first {
            return first;
        }
        let behind = match ahead {
            Some(ahead) => self.forest.previous(ahead),
            None => self.forest.last(&lane.by_address),
        };
        let back =
            Back { furthest: self.settings.back_seek_max.0 * 2, penalty: self.settings.back_seek_penalty.0 };
        let best = [behind, first].into_iter().flatten().fold(ahead, |best, id| match best {
            Some(best) if !better(back, self.head, cx[id].start, cx[best].start) => Some(best),
            _ => Some(id),
        });
        if best != behind {
            return best;
        }
        // Of those behind at the same address, who came first.
        best.and_then(|best| self.forest.at_or_after(&lane.by_address, cx[best].start.0))
    }

    /// Takes `id`, of the process at `place`, out of its queue.
    fn take(&mut self, cx: Cx<'_>, id: RequestId, place: Place) {
        let lane = &mut self.lanes[place];
        self.forest.remove(&mut lane.by_address, id);
        self.fifos.remove(&mut lane.fifo[usize::from(cx[id].sync)], id);
        self.queued -= 1;
    }

    /// Takes requests, until there are as many as the quantum, from queues of which none is in flight,
    /// and then from all. How many.
    fn round(&mut self, cx: Cx<'_>, fresh_only: bool, most: u64) -> u64 {
        let lanes = &self.lanes;
        self.busy.sort_unstable_by_key(|place| {
            let lane = &lanes[*place];
            (lane.used, lane.in_flight, lane.turn)
        });
        let mut moved = 0;
        for at in 0..self.busy.len() {
            let place = self.busy[at];
            if moved == most || fresh_only && self.lanes[place].in_flight > 0 {
                continue;
            }
            let Some(id) = self.choose(cx, place) else { continue };
            self.take(cx, id, place);
            self.turn += 1;
            self.head = cx[id].end();
            let lane = &mut self.lanes[place];
            (lane.turn, lane.in_flight) = (self.turn, lane.in_flight + 1);
            self.dispatch.sort_in(cx, &mut self.links, id);
            moved += 1;
        }
        let lanes = &self.lanes;
        self.busy.retain(|place| !lanes[*place].by_address.is_empty());
        moved
    }

    fn fill(&mut self, cx: Cx<'_>) {
        let quantum = self.settings.quantum.0;
        let mut moved = self.round(cx, true, quantum);
        while self.queued > 0 && moved < quantum {
            moved += self.round(cx, false, quantum - moved);
        }
    }
}

impl Scheduler for Cfq2612 {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.lanes.enter_held(cx[id].issuer);
        self.sent[id.index()] = (cx.now, Some(place));
        let lane = &mut self.lanes[place];
        self.turn += 1;
        if lane.by_address.is_empty() {
            lane.forget(cx.now, 8);
            lane.turn = self.turn;
            self.busy.push(place);
        }
        self.forest.insert(&mut lane.by_address, cx[id].start.0, id);
        self.fifos.push(&mut lane.fifo[usize::from(cx[id].sync)], id, self.turn);
        self.queued += 1;
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.dispatch.is_empty() && self.queued > 0 {
            self.fill(cx);
        }
        let Some(id) = self.dispatch.pop(cx, &mut self.links) else { return Decision::Idle };
        cx.because(
            "next on the dispatch list; process {} has used {}; {} wait in the processes' queues",
            || [cx[id].issuer.into(), self.lanes[self.place(id)].used.into(), self.queued.into()],
        );
        self.sent[id.index()].0 = cx.now;
        self.in_flight += 1;
        self.overlaps |= self.in_flight >= DEEP;
        Decision::Dispatch(id)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight -= 1;
        let (sent, Some(place)) = core::mem::take(&mut self.sent[id.index()]) else { return };
        let lane = &mut self.lanes[place];
        lane.in_flight -= 1;
        lane.used += if self.overlaps { Duration(ALIKE) } else { cx.now.since(sent) };
        lane.forget(cx.now, if self.overlaps { 10 } else { 8 });
        self.lanes.release(place);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let (_, Some(place)) = core::mem::take(&mut self.sent[id.index()]) else { return };
        if self.dispatch.contains(id) {
            self.dispatch.remove(&mut self.links, id);
            self.lanes[place].in_flight -= 1;
        } else {
            self.take(cx, id, place);
            if self.lanes[place].by_address.is_empty() {
                self.busy.retain(|busy| *busy != place);
            }
        }
        self.lanes.release(place);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let (place, start) = (self.place(id), cx[id].start.0);
        if self.forest.key(id) != start {
            self.forest.remove(&mut self.lanes[place].by_address, id);
            self.forest.insert(&mut self.lanes[place].by_address, start, id);
        }
    }

    /// The survivor gets the earlier place in order of arrival.
    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let place = self.place(survivor);
        if place == self.place(other) {
            let fifo = &mut self.lanes[place].fifo[usize::from(cx[survivor].sync)];
            self.fifos.inherit(fifo, survivor, other);
        }
        self.grown(cx, survivor);
        self.remove(cx, other);
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.lanes.forget(who);
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.in_flight += 1;
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        !self.dispatch.contains(id) && cx[id].sync == new.sync && cx[id].issuer == new.issuer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;
    use crate::{Device, Queue};

    /// Requests served in 6 s of each of six processes. The first one's take 10 ms, all others' 1 ms.
    #[test]
    fn whose_requests_take_longer_gets_fewer() {
        let entry = crate::registry::find("cfq-2.6.12").unwrap();
        let mut queue = Queue::new(200, Device::default(), entry, &[]).unwrap();
        let (mut now, mut served) = (Instant(0), [0u64; 6]);
        let mut at = 0;
        let mut issue = |queue: &mut Queue<_>, now: Instant, who: u32| {
            at += 100;
            queue.insert(now, Request::read(Sector(at), Sectors(8)).by(Issuer(who))).unwrap();
        };
        for who in 0..18 {
            issue(&mut queue, now, who % 6);
        }
        while now < Instant(6_000_000_000) {
            let Ok(Decision::Dispatch(id)) = queue.dispatch(now) else { panic!("requests wait") };
            let who = queue.request(id).issuer.0;
            served[who as usize] += 1;
            now += Duration::from_ms(if who == 0 { 10 } else { 1 });
            queue.complete(now, id).unwrap();
            issue(&mut queue, now, who);
        }
        assert!(served[0] * 3 < served[1], "{served:?}");
        assert!(served[0] * 10 * 4 > 6000 / 2, "{served:?}");
    }
}
