//! The requests of each queue: what waits, by address and in order of arrival, and how many are in flight.

use alloc::vec::Vec;

use crate::collections::{Fifos, List, NIL, OutOfMemory, Place, Sorted, table};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::schedulers::shared::nearer::{Back, better};
use crate::units::{Instant, RequestId, Sector};

/// The requests.
pub(super) struct Requests {
    /// By queue, then by address. Addresses beyond 2^(63 − bits of a queue's index) are equal.
    sorted: Sorted,
    shift: u32,
    farthest: u64,
    /// By queue in order of arrival, with when each is overdue.
    fifos: Fifos<Instant>,
    /// Cost of seeking backward, and where the device is.
    pub(super) back: Back,
    head: Sector,
    owned: Vec<Owned>,
    /// How many wait, and how many the device has from here.
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
}

/// The requests of one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    /// Which queue that is.
    pub(super) queue: u32,
    /// What waits, in order of arrival.
    fifo: List,
    /// Where to continue.
    pub(super) next: Option<RequestId>,
    /// Since it is in service, it was looked at whether its oldest request is overdue.
    pub(super) fifo_checked: bool,
    pub(super) in_flight: u32,
}

impl Line {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// How many requests wait or are in flight.
    pub(super) fn len(&self) -> u32 {
        self.in_flight + self.fifo.len() as u32
    }
}

/// What is known of a request.
#[derive(Clone, Copy)]
struct Owned {
    /// In which queue it is; [`NIL`] for one that an earlier scheduler sent.
    queue: u32,
    /// Who issued it, if it is in a queue.
    place: Place,
}

impl Owned {
    fn nobodys() -> Owned {
        Owned { queue: NIL, place: Place::default() }
    }

    #[inline]
    fn known(self) -> Option<(usize, Place)> {
        (self.queue != NIL).then_some((self.queue as usize, self.place))
    }
}

impl Requests {
    pub(super) fn new(capacity: usize, queues: usize, back: Back) -> Result<Requests, OutOfMemory> {
        let shift = (queues as u64).leading_zeros() - 1;
        Ok(Requests {
            sorted: Sorted::new(capacity)?,
            shift,
            farthest: (1 << shift) - 1,
            fifos: Fifos::new(capacity)?,
            back,
            head: Sector(0),
            owned: table(capacity, Owned::nobodys())?,
            waiting: 0,
            in_flight: 0,
        })
    }

    fn key(&self, queue: u32, Sector(start): Sector) -> u64 {
        u64::from(queue) << self.shift | start.min(self.farthest)
    }

    /// In which queue `id` waits, or from which it went to the device.
    pub(super) fn queue(&self, id: RequestId) -> Option<usize> {
        self.owned[id.index()].known().map(|(queue, _)| queue)
    }

    /// Who issued `id`.
    pub(super) fn place(&self, id: RequestId) -> Option<Place> {
        self.owned[id.index()].known().map(|(_, place)| place)
    }

    /// `id`, issued by the process at `place`, belongs to `queue`.
    pub(super) fn own(&mut self, id: RequestId, queue: usize, place: Place) {
        self.owned[id.index()] = Owned { queue: queue as u32, place };
    }

    /// `id` is nobody's any more. Returns in which queue it was, and who issued it.
    pub(super) fn disown(&mut self, id: RequestId) -> Option<(usize, Place)> {
        core::mem::replace(&mut self.owned[id.index()], Owned::nobodys()).known()
    }

    /// `id` waits from now on and is overdue from `due` on. True if the queue continues with it.
    pub(super) fn add(
        &mut self,
        cx: Cx<'_>,
        line: &mut Line,
        id: RequestId,
        request: &Request,
        due: Instant,
    ) -> bool {
        self.waiting += 1;
        self.sorted.insert(self.key(line.queue, request.start), id);
        self.fifos.push(&mut line.fifo, id, due);
        let leads = line.next.is_none_or(|next| self.wins(self.head, request, &cx[next]));
        if leads {
            line.next = Some(id);
        }
        leads
    }

    /// The extent of `id`, which waits, has changed. True if that continues with it instead of another.
    pub(super) fn grown(&mut self, cx: Cx<'_>, line: &mut Line, id: RequestId) -> bool {
        let (key, before) = (self.key(line.queue, cx[id].start), line.next);
        if self.sorted.rekey(id, key) {
            line.next = self.choose(cx, self.head, [before, Some(id)]);
        }
        line.next != before
    }

    /// `other` becomes part of `survivor`, which waits in the same queue.
    pub(super) fn absorb(&mut self, line: &mut Line, survivor: RequestId, other: RequestId) {
        self.fifos.inherit(&mut line.fifo, survivor, other);
        if line.next == Some(other) {
            line.next = Some(survivor);
        }
    }

    /// A request that ends at `end` goes to the device, and is taken out next.
    pub(super) const fn send(&mut self, line: &mut Line, end: Sector) {
        line.in_flight += 1;
        self.in_flight += 1;
        self.head = end;
    }

    /// The device is done with a request.
    pub(super) const fn done(&mut self, line: &mut Line) {
        line.in_flight -= 1;
        self.in_flight -= 1;
    }

    /// `id` waits no longer. True if that was to continue with it.
    pub(super) fn take_out(&mut self, cx: Cx<'_>, line: &mut Line, id: RequestId) -> bool {
        let leads = line.next == Some(id);
        if leads {
            line.next = self.go_on_after(cx, line, id);
        } else {
            self.sorted.remove(id);
        }
        self.fifos.remove(&mut line.fifo, id);
        self.waiting -= 1;
        leads
    }

    /// Whether `new` is better to continue with from `head` than `old`: metadata, then the nearer one.
    fn wins(&self, head: Sector, new: &Request, old: &Request) -> bool {
        let nearer = old.metadata == new.metadata && better(self.back, head, new.start, old.start);
        nearer || new.metadata && !old.metadata
    }

    /// The better of the two to continue with from `head`.
    #[inline]
    fn choose(&self, cx: Cx<'_>, head: Sector, of: [Option<RequestId>; 2]) -> Option<RequestId> {
        let [Some(first), Some(second)] = of else { return of[0].or(of[1]) };
        Some(if self.wins(head, &cx[second], &cx[first]) { second } else { first })
    }

    /// Takes `last` out of the order by address, and says where its queue continues: with its oldest
    /// request, if that is overdue and was not looked at; else at a neighbour of `last`.
    fn go_on_after(&mut self, cx: Cx<'_>, line: &mut Line, last: RequestId) -> Option<RequestId> {
        let (before, behind) = self.sorted.remove_between(last);
        if !core::mem::replace(&mut line.fifo_checked, true) {
            let oldest = line.fifo.front().filter(|oldest| *oldest != last);
            if let Some(oldest) = oldest.filter(|oldest| cx.now >= self.fifos.mark(*oldest)) {
                return Some(oldest);
            }
        }
        if line.fifo.len() == 1 {
            return None;
        }
        let own = |id: &RequestId| self.owned[id.index()].queue == line.queue;
        let first = || self.sorted.at_or_after(u64::from(line.queue) << self.shift).filter(own);
        self.choose(cx, cx[last].start, [behind.filter(own).or_else(first), before.filter(own)])
    }
}
