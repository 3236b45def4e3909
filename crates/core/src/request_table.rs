//! The table of requests: a slab with a state for each id.

mod weights;

use core::fmt;
use core::ops::Index;

use alloc::vec::Vec;

use crate::admission::AdmissionClass;
use crate::collections::{Links, List, NIL, OutOfMemory, table};
use crate::request::Request;
use crate::units::{Issuer, RequestId, Sector, Sectors, Weight};

pub use weights::WEIGHTS_MAX;
use weights::Weights;

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The id is not in use.
    Free,
    /// The scheduler holds it.
    Waiting,
    /// The request is part of another one.
    Merged,
    /// The device has it.
    InFlight,
    /// The device gave it back, or the scheduler has no say; it goes first.
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

/// The first of those that end in a slot of the merger and of those that start there, or the next ones after a request: ids,
/// or [`NIL`].
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    pub(crate) end: u32,
    pub(crate) start: u32,
}

impl Chain {
    /// No request.
    pub(crate) const NONE: Chain = Chain { end: NIL, start: NIL };
}

/// A request and what the queue keeps of it: as much as a cache line holds.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) request: Request,
    /// Order of insertion, for those in use.
    turn: u64,
    pub(crate) chain: Chain,
    /// The next part of the request that this one is part of.
    next_part: u32,
    pub(crate) state: State,
    /// As it was inserted.
    entrant: AdmissionClass,
    /// In the list of spare ids.
    listed: bool,
    /// Others became part of it: there is a [`Whole`].
    whole: bool,
}

/// What is kept of a request that others became part of.
#[derive(Clone, Copy, Default)]
struct Whole {
    /// The request as the host inserted it.
    original: Request,
    /// The request's last part.
    last_part: u32,
    /// The request and its parts.
    parts: u32,
}

/// All requests of a queue, and the weights of those who issue them.
pub struct Table {
    rows: Vec<Row>,
    wholes: Vec<Whole>,
    turn: u64,
    /// All ids that are not in use, each once, and perhaps others: a host that chooses ids itself takes them from anywhere.
    spare: Vec<u32>,
    /// Ids that the device gave back.
    returned: List,
    links: Links,
    /// Whether `arrivals` is kept, which a host that never switches its scheduler can do without.
    ordered: bool,
    /// What waits or is in flight, parts of others apart, in order of insertion.
    arrivals: List,
    arrival_links: Links,
    /// The first of these that the scheduler has not been handed yet; [`NIL`] if it has been handed all.
    pending: u32,
    /// Room to sort ids in.
    scratch: Vec<u32>,
    /// By entrant: ids in use.
    held: [usize; 3],
    pub(crate) weights: Weights,
}

impl Table {
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let mut spare = table(capacity, 0)?;
        for (id, place) in (0..).zip(spare.iter_mut().rev()) {
            *place = id;
        }
        let mut scratch = Vec::new();
        scratch.try_reserve_exact(capacity).map_err(|_| OutOfMemory)?;
        let free = Row {
            request: Request::default(),
            turn: 0,
            chain: Chain::NONE,
            next_part: NIL,
            state: State::Free,
            entrant: AdmissionClass::Free,
            listed: true,
            whole: false,
        };
        Ok(Table {
            rows: table(capacity, free)?,
            wholes: table(capacity, Whole::default())?,
            turn: 0,
            spare,
            returned: List::default(),
            links: Links::new(capacity)?,
            ordered: false,
            arrivals: List::default(),
            arrival_links: Links::new(capacity)?,
            pending: NIL,
            scratch,
            held: [0; 3],
            weights: Weights::new()?,
        })
    }

    /// Number of ids.
    pub fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// Number of ids not in use.
    pub fn free_count(&self) -> usize {
        self.capacity() - self.held.iter().sum::<usize>()
    }

    /// Number of ids that synchronous writes have.
    #[inline]
    pub fn sync_writes(&self) -> usize {
        self.held[AdmissionClass::SyncWrite as usize]
    }

    /// Number of ids that asynchronous requests have.
    #[inline]
    pub fn asynchronous(&self) -> usize {
        self.held[AdmissionClass::Async as usize]
    }

    /// Where `id` is in its life.
    #[inline]
    pub fn state(&self, id: RequestId) -> State {
        self.rows[id.index()].state
    }

    /// The same, if there is such an id.
    #[inline]
    pub(crate) fn state_of(&self, id: RequestId) -> Option<State> {
        self.rows.get(id.index()).map(|row| row.state)
    }

    /// The request as the host inserted it, before any merge.
    pub fn original(&self, id: RequestId) -> &Request {
        let row = &self.rows[id.index()];
        if row.whole { &self.wholes[id.index()].original } else { &row.request }
    }

    /// `id` and all requests that were merged into it.
    pub fn parts(&self, id: RequestId) -> impl Iterator<Item = RequestId> + '_ {
        let mut at = id.0;
        core::iter::from_fn(move || {
            let part = at;
            if part == NIL {
                return None;
            }
            at = self.rows[part as usize].next_part;
            Some(RequestId(part))
        })
    }

    /// How many requests `id` holds, itself included.
    pub(crate) fn parts_count(&self, id: RequestId) -> u32 {
        if self.rows[id.index()].whole { self.wholes[id.index()].parts } else { 1 }
    }

    /// Where the merger continues from `id`.
    #[inline]
    pub(crate) fn chain(&self, id: RequestId) -> &Chain {
        &self.rows[id.index()].chain
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn chain_mut(&mut self, id: RequestId) -> &mut Chain {
        &mut self.rows[id.index()].chain
    }

    /// The weight of `who`.
    #[inline]
    pub fn weight(&self, who: Issuer) -> Weight {
        self.weights.get(who)
    }

    /// An id that is not in use: from now on the last of the spare ones.
    #[inline]
    pub(crate) fn any_free(&mut self) -> Option<RequestId> {
        while let Some(id) = self.spare.last() {
            let id = RequestId(*id);
            if self.state(id) == State::Free {
                return Some(id);
            }
            self.take_spare();
        }
        None
    }

    /// The last of the spare ids is none any more.
    #[inline]
    pub(crate) fn take_spare(&mut self) {
        if let Some(id) = self.spare.pop() {
            self.rows[id as usize].listed = false;
        }
    }

    /// Enters `request` under `id`, which is not in use.
    #[inline]
    pub(crate) fn insert(&mut self, id: RequestId, request: Request, chain: Chain) {
        self.turn += 1;
        let entrant = AdmissionClass::of(&request);
        self.held[entrant as usize] += 1;
        // A free id has no parts.
        let row = &mut self.rows[id.index()];
        (row.request, row.turn, row.chain) = (request, self.turn, chain);
        (row.state, row.entrant) = (State::Waiting, entrant);
    }

    /// Gives `id` another extent.
    pub(crate) fn resize(&mut self, id: RequestId, start: Sector, length: Sectors) {
        let request = &mut self.rows[id.index()].request;
        request.start = start;
        request.length = length;
    }

    /// `whole` takes in what `part`, which touches it, asks for. With the earlier arrival goes the
    /// earlier place in order of insertion.
    pub(crate) fn take_in(&mut self, whole: RequestId, part: RequestId) {
        let Row { request: joined, turn, .. } = self.rows[part.index()];
        let row = &mut self.rows[whole.index()];
        let request = &mut row.request;
        if joined.start >= request.start {
            request.more_follows = joined.more_follows;
        }
        request.start = request.start.min(joined.start);
        request.length = Sectors(request.length.0 + joined.length.0);
        request.arrival = request.arrival.min(joined.arrival);
        request.sync |= joined.sync;
        if turn < row.turn {
            row.turn = turn;
            if self.ordered {
                self.unlink(whole);
                self.arrival_links.insert_before(&mut self.arrivals, part, whole);
            }
        }
    }

    /// `id` is no longer among those that wait or are in flight.
    #[inline]
    fn unlink(&mut self, id: RequestId) {
        if self.pending == id.0 {
            self.pending = self.arrival_links.next(id).map_or(NIL, |next| next.0);
        }
        self.arrival_links.remove(&mut self.arrivals, id);
    }

    /// What is kept of `id` and its parts.
    fn whole(&self, id: RequestId) -> Whole {
        let row = &self.rows[id.index()];
        let alone = || Whole { original: row.request, last_part: id.0, parts: 1 };
        if row.whole { self.wholes[id.index()] } else { alone() }
    }

    /// Makes `part`, with its own parts, a part of `whole`, which touches it.
    pub(crate) fn join(&mut self, whole: RequestId, part: RequestId) {
        let (held, taken) = (self.whole(whole), self.whole(part));
        self.take_in(whole, part);
        self.rows[held.last_part as usize].next_part = part.0;
        self.rows[whole.index()].whole = true;
        self.rows[part.index()].state = State::Merged;
        if self.ordered {
            self.unlink(part);
        }
        self.wholes[whole.index()] =
            Whole { last_part: taken.last_part, parts: held.parts + taken.parts, ..held };
    }

    /// `id` goes to the device. Nothing if it does not wait.
    #[inline]
    pub(crate) fn dispatch(&mut self, id: RequestId) -> Option<&Row> {
        let row = &mut self.rows[id.index()];
        let waits = row.state == State::Waiting;
        if !waits {
            return None;
        }
        row.state = State::InFlight;
        Some(row)
    }

    pub(crate) fn returned(&mut self, id: RequestId) {
        self.rows[id.index()].state = State::Returned;
        self.links.push_back(&mut self.returned, id);
    }

    /// Whether the device gave any back.
    #[inline]
    pub(crate) fn any_returned(&self) -> bool {
        !self.returned.is_empty()
    }

    #[cold]
    pub(crate) fn take_returned(&mut self) -> Option<RequestId> {
        let id = self.links.pop_front(&mut self.returned)?;
        self.rows[id.index()].state = State::InFlight;
        Some(id)
    }

    /// Frees `id`, which waits, and its parts.
    pub(crate) fn withdraw(&mut self, id: RequestId) {
        if self.ordered {
            self.unlink(id);
        }
        self.free(id);
    }

    /// Whether the order of insertion is kept.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// `id`, which is about to be inserted, is the last in order of insertion.
    pub(crate) fn enter_order(&mut self, id: RequestId) {
        self.arrival_links.push_back(&mut self.arrivals, id);
    }

    /// Of those in order of insertion `id`, which is done, is none any more. Returns whether the scheduler has been
    /// handed it.
    pub(crate) fn leave_order(&mut self, id: RequestId) -> bool {
        let handed = self.handed(id);
        self.unlink(id);
        handed
    }

    /// Frees `id`, which is in no order, and its parts.
    #[inline]
    pub(crate) fn free(&mut self, id: RequestId) {
        if self.free_one(id.0) {
            self.free_parts(id);
        }
    }

    /// Frees the parts of `id`, which is free.
    #[inline(never)]
    fn free_parts(&mut self, id: RequestId) {
        let mut at = id.0;
        loop {
            let row = &mut self.rows[at as usize];
            row.whole = false;
            at = core::mem::replace(&mut row.next_part, NIL);
            if at == NIL {
                return;
            }
            self.free_one(at);
        }
    }

    /// Frees `id`. Returns whether others became part of it.
    #[inline]
    fn free_one(&mut self, id: u32) -> bool {
        let row = &mut self.rows[id as usize];
        row.state = State::Free;
        self.held[row.entrant as usize] -= 1;
        if !core::mem::replace(&mut row.listed, true) {
            // The list has room: each id is in it once.
            self.spare.push(id);
        }
        row.whole
    }

    /// From now on the order of insertion is kept.
    pub(crate) fn keep_order(&mut self) {
        if core::mem::replace(&mut self.ordered, true) {
            return;
        }
        let live = |row: &Row| !matches!(row.state, State::Free | State::Merged);
        let ids = (0..).zip(&self.rows).filter(|(_, row)| live(row)).map(|(id, _)| id);
        self.scratch.extend(ids);
        self.scratch.sort_unstable_by_key(|id| self.rows[*id as usize].turn);
        for id in self.scratch.drain(..) {
            self.arrival_links.push_back(&mut self.arrivals, RequestId(id));
        }
    }

    /// Another scheduler takes over, which has been handed nothing yet.
    pub(crate) fn hand_all_anew(&mut self) {
        self.keep_order();
        self.pending = self.arrivals.front().map_or(NIL, |first| first.0);
    }

    /// What the scheduler is handed next, in order of insertion.
    pub(crate) fn hand_next(&mut self) -> Option<RequestId> {
        let next = self.any_pending().then_some(RequestId(self.pending))?;
        self.pending = self.arrival_links.next(next).map_or(NIL, |after| after.0);
        Some(next)
    }

    /// Whether the scheduler has not been handed all yet.
    #[inline]
    pub(crate) fn any_pending(&self) -> bool {
        self.pending != NIL
    }

    /// Whether the scheduler has been handed `id`, which waits or is in flight.
    #[inline]
    pub(crate) fn handed(&self, id: RequestId) -> bool {
        // What arrives while others are pending is pending itself, so that the order of arrival is kept.
        !self.any_pending() || self.rows[id.index()].turn < self.rows[self.pending as usize].turn
    }
}

impl Index<RequestId> for Table {
    type Output = Request;
    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.rows[id.index()].request
    }
}
