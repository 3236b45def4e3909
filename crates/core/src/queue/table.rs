//! The table of requests: a slab with a state for each id.

use core::fmt;
use core::ops::Index;

use alloc::vec::Vec;

use crate::collections::{Links, List, NIL, OutOfMemory, table};
use crate::request::Request;
use crate::room::Entrant;
use crate::units::{Issuer, RequestId, Sector, Sectors, Weight};

use super::weights::Weights;

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The id is not in use.
    Free,
    /// The scheduler holds it.
    Waiting,
    /// It is part of another request.
    Merged,
    /// The device has it.
    InFlight,
    /// The device gave it back; it goes first.
    Returned,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Free => "not in use",
            State::Waiting => "waiting",
            State::Merged => "part of another request",
            State::InFlight => "in flight",
            State::Returned => "given back by the device",
        })
    }
}

/// What only the queue needs to know of a request.
#[derive(Clone, Copy)]
struct Slot {
    state: State,
    /// As it was inserted.
    entrant: Entrant,
    /// In the list of spare ids.
    listed: bool,
    /// The next part of the request that this one is part of.
    next_part: u32,
    /// The last part of this request.
    last_part: u32,
    /// This request and its parts.
    parts: u32,
}

const FREE: Slot = Slot {
    state: State::Free,
    entrant: Entrant::Free,
    listed: true,
    next_part: NIL,
    last_part: NIL,
    parts: 0,
};

/// All requests of a queue, and the weights of those who issue them.
pub struct Table {
    requests: Vec<Request>,
    /// Of those that others became part of: the request as the host inserted it.
    originals: Vec<Request>,
    slots: Vec<Slot>,
    /// Order of insertion, for those in use.
    turns: Vec<u64>,
    turn: u64,
    /// All ids that are not in use, each once, and below the last some that are: a host that chooses ids
    /// itself takes them from anywhere.
    spare: Vec<u32>,
    /// Ids that the device gave back.
    returned: List,
    links: Links,
    /// By entrant: ids in use.
    held: [usize; 3],
    /// Scratch for `by_arrival`.
    order: Vec<u32>,
    pub(super) weights: Weights,
}

impl Table {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let mut spare = table(capacity, 0)?;
        for (id, place) in (0..).zip(spare.iter_mut().rev()) {
            *place = id;
        }
        let mut order = Vec::new();
        order.try_reserve_exact(capacity).map_err(|_| OutOfMemory)?;
        Ok(Table {
            requests: table(capacity, Request::default())?,
            originals: table(capacity, Request::default())?,
            slots: table(capacity, FREE)?,
            turns: table(capacity, 0)?,
            turn: 0,
            spare,
            returned: List::default(),
            links: Links::new(capacity)?,
            held: [0; 3],
            order,
            weights: Weights::new()?,
        })
    }

    /// Number of ids.
    pub fn capacity(&self) -> usize {
        self.requests.len()
    }

    /// Number of ids not in use.
    pub fn free_count(&self) -> usize {
        self.capacity() - self.held.iter().sum::<usize>()
    }

    /// Number of ids that synchronous writes have.
    #[inline]
    pub fn sync_writes(&self) -> usize {
        self.held[Entrant::SyncWrite as usize]
    }

    /// Number of ids that asynchronous requests have.
    #[inline]
    pub fn asynchronous(&self) -> usize {
        self.held[Entrant::Async as usize]
    }

    /// Where `id` is in its life.
    #[inline]
    pub fn state(&self, id: RequestId) -> State {
        self.slots[id.index()].state
    }

    /// The same, if there is such an id.
    #[inline]
    pub(super) fn state_of(&self, id: RequestId) -> Option<State> {
        self.slots.get(id.index()).map(|slot| slot.state)
    }

    /// The request as the host inserted it, before any merge.
    pub fn original(&self, id: RequestId) -> &Request {
        match self.slots[id.index()].parts {
            0..=1 => &self.requests[id.index()],
            _ => &self.originals[id.index()],
        }
    }

    /// `id` and all requests that were merged into it.
    pub fn parts(&self, id: RequestId) -> impl Iterator<Item = RequestId> + '_ {
        let mut at = id.0;
        core::iter::from_fn(move || {
            let part = at;
            if part == NIL {
                return None;
            }
            at = self.slots[part as usize].next_part;
            Some(RequestId(part))
        })
    }

    /// How many requests `id` holds, itself included.
    #[inline]
    pub(super) fn parts_count(&self, id: RequestId) -> u32 {
        self.slots[id.index()].parts
    }

    /// The weight of `who`.
    #[inline]
    pub fn weight(&self, who: Issuer) -> Weight {
        self.weights.get(who)
    }

    /// An id that is not in use.
    #[inline]
    pub fn any_free(&self) -> Option<RequestId> {
        self.spare.last().map(|id| RequestId(*id))
    }

    #[inline]
    pub(super) fn insert(&mut self, id: RequestId, request: Request) {
        let listed = self.spare.last() != Some(&id.0);
        if !listed {
            self.spare.pop();
        }
        self.requests[id.index()] = request;
        self.turn += 1;
        self.turns[id.index()] = self.turn;
        let entrant = Entrant::of(&request);
        self.held[entrant as usize] += 1;
        self.slots[id.index()] =
            Slot { state: State::Waiting, entrant, listed, next_part: NIL, last_part: id.0, parts: 1 };
        if !listed {
            self.drop_stale();
        }
    }

    /// Afterwards the last of the spare ids is not in use.
    #[inline]
    fn drop_stale(&mut self) {
        while let Some(id) = self.spare.last()
            && self.slots[*id as usize].state != State::Free
        {
            self.slots[*id as usize].listed = false;
            self.spare.pop();
        }
    }

    /// Gives `id` another extent.
    pub(super) fn resize(&mut self, id: RequestId, start: Sector, length: Sectors) {
        let request = &mut self.requests[id.index()];
        request.start = start;
        request.length = length;
    }

    /// `whole` takes in what `part`, which touches it, asks for. With the earlier arrival goes the
    /// earlier place in `by_arrival`.
    pub(super) fn take_in(&mut self, whole: RequestId, part: RequestId) {
        let joined = self.requests[part.index()];
        let request = &mut self.requests[whole.index()];
        if joined.start >= request.start {
            request.more_follows = joined.more_follows;
        }
        request.start = request.start.min(joined.start);
        request.length = Sectors(request.length.0 + joined.length.0);
        request.arrival = request.arrival.min(joined.arrival);
        request.sync |= joined.sync;
        self.turns[whole.index()] = self.turns[whole.index()].min(self.turns[part.index()]);
    }

    /// Makes `part`, with its own parts, a part of `whole`, which touches it.
    pub(super) fn join(&mut self, whole: RequestId, part: RequestId) {
        if self.slots[whole.index()].parts == 1 {
            self.originals[whole.index()] = self.requests[whole.index()];
        }
        self.take_in(whole, part);
        let taken = self.slots[part.index()];
        let last = self.slots[whole.index()].last_part;
        self.slots[last as usize].next_part = part.0;
        self.slots[whole.index()].last_part = taken.last_part;
        self.slots[whole.index()].parts += taken.parts;
        self.slots[part.index()].state = State::Merged;
    }

    #[inline]
    pub(super) fn dispatched(&mut self, id: RequestId) {
        self.slots[id.index()].state = State::InFlight;
    }

    pub(super) fn returned(&mut self, id: RequestId) {
        self.slots[id.index()].state = State::Returned;
        self.links.push_back(&mut self.returned, id);
    }

    #[inline]
    pub(super) fn take_returned(&mut self) -> Option<RequestId> {
        let id = self.links.pop_front(&mut self.returned)?;
        self.slots[id.index()].state = State::InFlight;
        Some(id)
    }

    /// Frees `id` and its parts.
    #[inline]
    pub(super) fn free(&mut self, id: RequestId) {
        let mut at = id.0;
        while at != NIL {
            let Slot { next_part: next, entrant, listed, .. } = self.slots[at as usize];
            self.held[entrant as usize] -= 1;
            self.slots[at as usize] = FREE;
            if !listed {
                // There is room: each id is in it once.
                self.spare.push(at);
            }
            at = next;
        }
    }

    /// Lists all requests that wait or are in flight by order of insertion, for `by_arrival`.
    pub(super) fn sort_by_arrival(&mut self) {
        self.order.clear();
        let live = |slot: &Slot| !matches!(slot.state, State::Free | State::Merged);
        let ids = self.slots.iter().enumerate().filter(|(_, slot)| live(slot));
        self.order.extend(ids.map(|(index, _)| index as u32));
        let turns = &self.turns;
        self.order.sort_unstable_by_key(|id| turns[*id as usize]);
    }

    pub(super) fn by_arrival(&self) -> impl Iterator<Item = RequestId> + '_ {
        self.order.iter().map(|id| RequestId(*id))
    }
}

impl Index<RequestId> for Table {
    type Output = Request;
    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.requests[id.index()]
    }
}
