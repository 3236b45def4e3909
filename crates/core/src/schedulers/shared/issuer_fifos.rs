//! Requests lined up by issuer: what the schedulers that share the disk among issuers have in common.
//!
//! Each issuer's requests wait in order of arrival. An issuer is kept as long as it has requests waiting
//! or in flight, and some time longer: there are places for 64 more issuers than the queue has ids.

use core::ops::{Index, IndexMut};

use crate::collections::{Fifos, Issuers, Links, List, OutOfMemory, Place};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, Issuer, RequestId};

/// Places for issuers that have nothing waiting or in flight.
const ABSENT_PLACES: usize = 64;

/// What is kept of one issuer.
#[derive(Clone, Default)]
struct IssuerFifo<T> {
    waiting: List,
    in_flight: u32,
    /// Since when nothing of it waits or is in flight; `None` before its first request.
    left: Option<Instant>,
    value: T,
}

/// The requests of each issuer in order of arrival, and a `T` for each issuer.
pub(crate) struct IssuerFifos<T> {
    /// When each request came, as a count.
    turns: Fifos<u64>,
    turn: u64,
    issuers: Issuers<IssuerFifo<T>>,
}

impl<T: Clone + Default> IssuerFifos<T> {
    /// Inlined: each level would keep the value a second time on the stack, of which a kernel has little.
    #[inline(always)]
    pub(crate) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let places = capacity.saturating_add(ABSENT_PLACES);
        Ok(IssuerFifos { turns: Fifos::new(capacity)?, turn: 0, issuers: Issuers::new(places)? })
    }

    /// Where the issuer of `id`, a request that waits or is in flight here, is kept.
    fn place_of(&self, cx: Cx<'_>, id: RequestId) -> Place {
        let Some(place) = self.issuers.find(cx[id].issuer) else { panic!("the issuer of {id} is not held") };
        place
    }

    /// How long `who` has had no requests, waiting or in flight. `None`: it has some. For ever, if
    /// nothing is known of it.
    pub(crate) fn away(&self, now: Instant, who: Issuer) -> Option<Duration> {
        match self.issuers.get(who) {
            Some(line) if line.in_flight > 0 || !line.waiting.is_empty() => None,
            Some(IssuerFifo { left: Some(left), .. }) => Some(now.since(*left)),
            _ => Some(Duration::MAX),
        }
    }

    /// The first waiting request of the issuer at `place`.
    pub(crate) fn head(&self, place: Place) -> Option<RequestId> {
        self.issuers[place].waiting.front()
    }

    /// A number that is smaller for requests that came earlier.
    pub(crate) fn turn(&self, id: RequestId) -> u64 {
        self.turns.mark(id)
    }

    /// The links, for a list of requests that were taken.
    pub(crate) fn links(&mut self) -> &mut Links {
        self.turns.links()
    }

    pub(crate) fn find(&self, who: Issuer) -> Option<Place> {
        self.issuers.find(who)
    }

    /// `id` is the last in its issuer's line.
    pub(crate) fn push(&mut self, cx: Cx<'_>, id: RequestId) -> Place {
        let place = self.issuers.enter_held(cx[id].issuer);
        self.turn += 1;
        self.turns.push(&mut self.issuers[place].waiting, id, self.turn);
        place
    }

    /// `id` leaves its line for the device.
    pub(crate) fn take(&mut self, cx: Cx<'_>, id: RequestId) -> Place {
        let place = self.place_of(cx, id);
        let line = &mut self.issuers[place];
        self.turns.remove(&mut line.waiting, id);
        line.in_flight += 1;
        place
    }

    /// The device has `id` from an earlier scheduler.
    pub(crate) fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        let place = self.issuers.enter_held(cx[id].issuer);
        self.issuers[place].in_flight += 1;
    }

    /// `id`, which was taken or adopted, is done or withdrawn.
    pub(crate) fn finish(&mut self, cx: Cx<'_>, id: RequestId) -> Place {
        let place = self.place_of(cx, id);
        self.issuers[place].in_flight -= 1;
        self.end(cx.now, place);
        place
    }

    /// `id`, which waits, is withdrawn.
    pub(crate) fn remove(&mut self, cx: Cx<'_>, id: RequestId) -> Place {
        let place = self.place_of(cx, id);
        self.turns.remove(&mut self.issuers[place].waiting, id);
        self.end(cx.now, place);
        place
    }

    /// A request of the issuer at `place` is no more.
    fn end(&mut self, now: Instant, place: Place) {
        if self.issuers.release(place) {
            self.issuers[place].left = Some(now);
        }
    }

    /// `other` becomes part of `survivor`, which moves to the earlier of their places if both are of
    /// one issuer.
    pub(crate) fn absorb(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        let (place, others) = (self.place_of(cx, survivor), self.place_of(cx, other));
        if place == others {
            self.turns.inherit(&mut self.issuers[place].waiting, survivor, other);
        }
        self.remove(cx, other);
    }

    /// `who` will issue nothing more.
    pub(crate) fn forget(&mut self, who: Issuer) {
        self.issuers.forget(who);
    }
}

impl<T> Index<Place> for IssuerFifos<T> {
    type Output = T;
    fn index(&self, place: Place) -> &T {
        &self.issuers[place].value
    }
}

impl<T> IndexMut<Place> for IssuerFifos<T> {
    fn index_mut(&mut self, place: Place) -> &mut T {
        &mut self.issuers[place].value
    }
}
