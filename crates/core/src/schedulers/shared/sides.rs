//! Requests on several sides, such as reads and writes: each side by address and in order of arrival,
//! with a deadline for each request. What all of Linux's deadline schedulers are made of.

use alloc::vec::Vec;
use core::array;

use crate::collections::{Links, List, OutOfMemory, Sorted, table};
use crate::request::Direction;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, RequestId};

/// One side.
struct Side {
    sorted: Sorted,
    fifo: List,
}

/// `N` sides. A request is on one of them.
pub(crate) struct Sides<const N: usize> {
    sides: [Side; N],
    links: Links,
    /// By request: when it is overdue.
    deadlines: Vec<Instant>,
}

impl<const N: usize> Sides<N> {
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let (links, deadlines) = (Links::new(capacity)?, table(capacity, Instant::ZERO)?);
        let sorted: [_; N] = array::from_fn(|_| Sorted::new(capacity).ok());
        if sorted.iter().any(Option::is_none) {
            return Err(OutOfMemory);
        }
        let sides = sorted.map(|sorted| match sorted {
            Some(sorted) => Side { sorted, fifo: List::default() },
            None => unreachable!("all were allocated"),
        });
        Ok(Sides { sides, links, deadlines })
    }

    /// How many are on `side`.
    #[inline]
    pub(crate) fn len(&self, side: usize) -> usize {
        self.sides[side].fifo.len()
    }

    /// Whether any are on `side`.
    #[inline]
    pub(crate) fn waits(&self, side: usize) -> bool {
        !self.sides[side].fifo.is_empty()
    }

    /// The one on `side` that came first.
    #[inline]
    pub(crate) fn oldest(&self, side: usize) -> Option<RequestId> {
        self.sides[side].fifo.front()
    }

    /// The one on `side` with the lowest address.
    pub(crate) fn lowest(&self, side: usize) -> Option<RequestId> {
        self.sides[side].sorted.first()
    }

    /// The one after `id` by address.
    pub(crate) fn after(&self, side: usize, id: RequestId) -> Option<RequestId> {
        self.sides[side].sorted.next(id)
    }

    /// When `id` is overdue.
    #[inline]
    pub(crate) fn deadline(&self, id: RequestId) -> Instant {
        self.deadlines[id.index()]
    }

    /// `id` may wait for `expire` from its arrival.
    #[inline(always)]
    pub(crate) fn insert(&mut self, cx: Cx<'_>, side: usize, id: RequestId, expire: Duration) {
        self.deadlines[id.index()] = cx[id].arrival + expire;
        let Side { sorted, fifo } = &mut self.sides[side];
        self.links.push_back(fifo, id);
        sorted.insert(cx[id].start.0, id);
    }

    /// Takes `id` out. Returns the one after it by address.
    #[inline(always)]
    pub(crate) fn take(&mut self, side: usize, id: RequestId) -> Option<RequestId> {
        let Side { sorted, fifo } = &mut self.sides[side];
        self.links.remove(fifo, id);
        sorted.remove_before_next(id)
    }

    /// Whether `id` starts elsewhere than when it was sorted in.
    pub(crate) fn has_moved(&self, cx: Cx<'_>, side: usize, id: RequestId) -> bool {
        self.sides[side].sorted.key(id) != cx[id].start.0
    }

    /// Sorts `id` in where it starts now.
    pub(crate) fn rekey(&mut self, cx: Cx<'_>, side: usize, id: RequestId) {
        self.sides[side].sorted.rekey(id, cx[id].start.0);
    }

    /// Says why a batch of `direction` begins as it does: with the oldest on `side` if that has
    /// `expired`; else with what follows by address, if the last batch sent `follows` requests and
    /// something follows; else with the oldest.
    #[inline]
    pub(crate) fn begins(
        &self,
        cx: Cx<'_>,
        direction: Direction,
        side: usize,
        expired: bool,
        follows: Option<u64>,
    ) {
        let word = || if direction == Direction::Read { "reads" } else { "writes" };
        match (expired, follows) {
            (true, _) => cx.because("a batch of {} begins with the oldest, {} past its deadline", || {
                let deadline = self.oldest(side).map_or(cx.now, |oldest| self.deadline(oldest));
                [word().into(), cx.now.since(deadline).into()]
            }),
            (_, Some(sent)) => {
                let facts = || [word().into(), sent.into()];
                cx.because("a batch of {} goes on by address after {} in it", facts);
            }
            _ => cx.because("a batch of {} begins, as nothing follows by address; {} wait", || {
                [word().into(), self.len(side).into()]
            }),
        }
    }

    /// `survivor` gets the deadline of `other` and its place in order of arrival, if that deadline is
    /// the earlier one.
    pub(crate) fn absorb(&mut self, side: usize, survivor: RequestId, other: RequestId) {
        let deadline = self.deadline(other);
        if deadline < self.deadline(survivor) {
            let fifo = &mut self.sides[side].fifo;
            self.links.remove(fifo, survivor);
            self.links.insert_before(fifo, other, survivor);
            self.deadlines[survivor.index()] = deadline;
        }
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

/// Says that the batch goes on after it has `sent` requests of at most `size`.
#[inline]
pub(crate) fn goes_on(cx: Cx<'_>, sent: u64, size: u64) {
    cx.because("the batch goes on: request {} of at most {}", || [(sent + 1).into(), size.into()]);
}
