//! Linux's deadline scheduler: elevator sweeps in batches, reads before writes, and a time by which each
//! request is to be looked at.
//!
//! # How it decides
//! Reads and writes (whatever is no read) are kept apart, each by address and in order of arrival. A
//! request's deadline is its arrival plus `read_expire` or `write_expire`.
//! 1. A batch continues: the request that followed the last one by address when that was dispatched is
//!    next, as long as the batch has fewer than `fifo_batch`. Deadlines are not looked at.
//! 2. Else a direction is chosen: reads if there are any, unless writes wait too and reads were already
//!    preferred to them `writes_starved` times. Choosing writes sets that count to 0.
//! 3. In that direction a new batch begins with the oldest request if its deadline has passed; else
//!    with the request that followed the last one by address; else with the oldest.
//!
//! # Source
//! Linux 2.6.32 `block/deadline-iosched.c`. A request that takes in its successor gets the earlier
//! deadline and the earlier place. A front merge into the request that would continue the batch leaves that
//! request there.
//!
//! # Differs from the source
//! Requests with equal addresses are dispatched in order of arrival; Linux sends an older one to the device at
//! once. Time is in nanoseconds, not ticks. The deadline counts from the arrival, which is the moment
//! of insertion unless another scheduler held the request before.
//!
//! # Good for, bad for
//! Good for servers with many requests in the queue, databases, RAID, virtual machines: nobody waits
//! very long, and reads do not wait for writes. Bad for few synchronous readers of different files:
//! the head goes back and forth between them (deceptive idleness, SOSP'01).
//!
//! # Starvation
//! Once the deadlines of a request and of all before it have passed, each batch of its direction begins
//! with the oldest. Between two such batches there are at most `writes_starved` (or one) of the other.
//! With `writes_starved` = 0 reads starve while writes wait.

use core::marker::PhantomData;

use crate::collections::{Lanes, OutOfMemory};
use crate::request::Direction;
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::tunables::{Count, Milliseconds};
use crate::units::{Duration, RequestId, Sector};

crate::tunables! {
    /// Tunables of the deadline schedulers. Names, units and defaults are Linux's.
    pub struct Settings {
        /// How long a read may wait before it is served out of order.
        read_expire: Milliseconds = 500, 0..=3_600_000;
        /// How long a write may wait before it is served out of order.
        write_expire: Milliseconds = 5000, 0..=3_600_000;
        /// How often reads are preferred to waiting writes.
        writes_starved: Count = 2, 0..=1_000_000;
        /// Requests in a batch, during which deadlines are not looked at.
        fifo_batch: Count = 16, 0..=1_000_000;
        /// Whether requests that end where a waiting one begins are looked for.
        front_merges: bool = 1, 0..=1;
    }
}

impl Settings {
    /// How long a request of `direction` may wait.
    #[inline]
    pub(crate) fn expire(&self, direction: Direction) -> Duration {
        [self.read_expire, self.write_expire][direction.index()].0
    }
}

/// Linux 2.6.32's deadline scheduler.
pub type Deadline = Batches<Linux2632>;

/// What changed between Linux 2.6.11 and 2.6.32.
pub trait Version: 'static {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Algorithm::SOURCE`].
    const SOURCE: &'static str;
    /// The older version: seeks end a batch, and a new one begins at the lowest address.
    const OLD: bool;
}

/// Linux 2.6.32.
pub struct Linux2632;

impl Version for Linux2632 {
    const NAME: &'static str = "deadline";
    const SUMMARY: &'static str = "Sweeps in batches, reads first, with a deadline for each request.";
    const SOURCE: &'static str = "Linux 2.6.32 block/deadline-iosched.c";
    const OLD: bool = false;
}

/// Batches of one direction, in order of address, that begin with what is overdue.
pub struct Batches<V> {
    /// By direction.
    lanes: Lanes<2>,
    /// The request that continues the batch, and its direction.
    next: Option<(Direction, RequestId)>,
    /// Requests in this batch; more after a seek in 2.6.11.
    batching: u64,
    /// How often reads were preferred to waiting writes.
    starved: u64,
    /// Where the last request dispatched ends.
    head: Sector,
    tunables: Settings,
    version: PhantomData<V>,
}

impl<V: Version> Algorithm for Batches<V> {
    const NAME: &'static str = V::NAME;
    const SUMMARY: &'static str = V::SUMMARY;
    const SOURCE: &'static str = V::SOURCE;
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        Ok(Batches {
            lanes: Lanes::new(setup.capacity)?,
            next: None,
            batching: 0,
            starved: 0,
            head: Sector(0),
            tunables,
            version: PhantomData,
        })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    /// Let k requests be at or before ours in its direction; k is at most the number that wait.
    /// When their deadlines have passed, ours goes by the k-th batch of its direction. Before each
    /// there are at most `writes_starved` batches of reads (ours a write), or one batch of writes
    /// (ours a read), and before all of them the rest of the batch that is under way.
    fn starvation(tunables: &Settings) -> Starvation {
        let batch = tunables.fifo_batch.0.max(1);
        match tunables.writes_starved.0 {
            0 => Starvation::Unbounded,
            starved => Starvation::Bounded {
                after: tunables.read_expire.0.max(tunables.write_expire.0) + Duration(1),
                per_waiting: batch * (starved + 1),
                plus: batch,
            },
        }
    }
}

impl<V: Version> Batches<V> {
    /// The request that continues the batch, unless the batch is at its end.
    #[inline]
    fn continued(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        let (_, id) = self.next?;
        let size = self.tunables.fifo_batch.0;
        if V::OLD && cx[id].start != self.head {
            self.batching = self.batching.saturating_add(size);
        }
        (self.batching < size).then_some(id)
    }

    /// The first request of the next batch in a direction where some wait.
    fn begin(&mut self, cx: Cx<'_>, direction: Direction) -> Option<RequestId> {
        let lane = direction.index();
        let oldest = self.lanes.oldest(lane)?;
        let expired = cx.now > self.lanes.deadline(oldest);
        let follows = self.next.filter(|(of, _)| *of == direction && !expired);
        begins(cx, &self.lanes, (lane, direction), expired, follows.map(|_| self.batching));
        if let Some((_, id)) = follows {
            if !V::OLD {
                self.batching = 0;
            }
            return Some(id);
        }
        self.batching = 0;
        if V::OLD && !expired { self.lanes.lowest(lane) } else { Some(oldest) }
    }

    #[inline]
    fn send(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        let direction = cx[id].direction();
        self.batching = self.batching.saturating_add(1);
        self.head = cx[id].end();
        let next = self.lanes.take(direction.index(), id);
        self.next = next.map(|next| (direction, next));
        Decision::Dispatch(id)
    }

    /// If `id` would continue the batch, the one after it does.
    fn pass_over(&mut self, direction: Direction, id: RequestId) {
        if self.next == Some((direction, id)) {
            self.next = self.lanes.after(direction.index(), id).map(|next| (direction, next));
        }
    }
}

impl<V: Version> Scheduler for Batches<V> {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let direction = cx[id].direction();
        let deadline = cx[id].arrival + self.tunables.expire(direction);
        self.lanes.insert(direction.index(), id, cx[id].start, deadline);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if let Some(id) = self.continued(cx) {
            goes_on(cx, self.batching, self.tunables.fifo_batch.0);
            return self.send(cx, id);
        }
        let [reads, writes] = [0, 1].map(|lane| !self.lanes.is_empty(lane));
        let limit = self.tunables.writes_starved.0;
        let Some(direction) = choose(&mut self.starved, limit, reads, writes) else { return Decision::Idle };
        match self.begin(cx, direction) {
            Some(id) => self.send(cx, id),
            None => Decision::Idle,
        }
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        let direction = cx[id].direction();
        self.pass_over(direction, id);
        self.lanes.take(direction.index(), id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        let direction = cx[id].direction();
        if self.lanes.start(direction.index(), id) != cx[id].start {
            if V::OLD {
                self.pass_over(direction, id);
            }
            self.lanes.rekey(direction.index(), id, cx[id].start);
        }
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.lanes.inherit(cx[survivor].direction().index(), survivor, other);
        self.remove(cx, other);
        self.grown(cx, survivor);
    }

    fn front_merges(&self) -> bool {
        self.tunables.front_merges
    }
}

/// Says why a batch of `direction` begins as it does: with the oldest in its `lane` if that has `expired`; else with
/// what follows by address, if the last batch sent `follows` requests and something follows; else with the oldest.
#[inline]
pub(crate) fn begins<const N: usize>(
    cx: Cx<'_>,
    lanes: &Lanes<N>,
    (lane, direction): (usize, Direction),
    expired: bool,
    follows: Option<u64>,
) {
    let word = || if direction == Direction::Read { "reads" } else { "writes" };
    match (expired, follows) {
        (true, _) => cx.because("a batch of {} begins with the oldest, {} past its deadline", || {
            let deadline = lanes.oldest(lane).map_or(cx.now, |oldest| lanes.deadline(oldest));
            [word().into(), cx.now.since(deadline).into()]
        }),
        (_, Some(sent)) => {
            let facts = || [word().into(), sent.into()];
            cx.because("a batch of {} goes on by address after {} in it", facts);
        }
        _ => cx.because("a batch of {} begins, as nothing follows by address; {} wait", || {
            [word().into(), lanes.len(lane).into()]
        }),
    }
}

/// The direction of the next batch, if requests of these wait: reads, unless writes wait too and reads
/// were already preferred to them `limit` times. `starved` counts that; choosing writes sets it to 0.
pub(crate) fn choose(starved: &mut u64, limit: u64, reads: bool, writes: bool) -> Option<Direction> {
    if reads && writes {
        let already = *starved;
        *starved = already.saturating_add(1);
        if already < limit {
            return Some(Direction::Read);
        }
    } else if reads {
        return Some(Direction::Read);
    } else if !writes {
        return None;
    }
    *starved = 0;
    Some(Direction::Write)
}

/// Says that the batch continues after it has `sent` requests of at most `size`.
#[inline]
pub(crate) fn goes_on(cx: Cx<'_>, sent: u64, size: u64) {
    cx.because("the batch goes on: request {} of at most {}", || [(sent + 1).into(), size.into()]);
}

#[cfg(test)]
mod tests;
