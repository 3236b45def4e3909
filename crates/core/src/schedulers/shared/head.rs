//! The disk's head as the seek-reducing schedulers see it: where it is, and its direction.

use crate::collections::{OutOfMemory, Sorted};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::tunables::Tunables;
use crate::units::{RequestId, Sector};

/// A direction on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Heading {
    /// Toward higher addresses.
    #[default]
    Up,
    /// Toward lower addresses.
    Down,
}

impl Heading {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Heading::Up => "upward",
            Heading::Down => "downward",
        }
    }

    pub(crate) fn turned(self) -> Heading {
        match self {
            Heading::Up => Heading::Down,
            Heading::Down => Heading::Up,
        }
    }
}

/// Where the head is, and its direction: at first from sector 0 upward.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Where the last request dispatched ends.
    pub(crate) position: Sector,
    /// The direction to the last request dispatched.
    pub(crate) heading: Heading,
}

impl Head {
    /// The nearest request at or above the head; the first that arrived, of several.
    #[inline]
    pub(crate) fn above(&self, waiting: &Sorted) -> Option<RequestId> {
        waiting.at_or_after(self.position.0)
    }

    /// The nearest request below the head; the first that arrived, of several.
    #[inline]
    pub(crate) fn below(&self, waiting: &Sorted) -> Option<RequestId> {
        waiting.below(self.position.0)
    }

    /// What [`below`](Head::below) and [`above`](Head::above) return.
    #[inline]
    pub(crate) fn around(&self, waiting: &Sorted) -> (Option<RequestId>, Option<RequestId>) {
        waiting.around(self.position.0)
    }

    /// The nearest request on the side that the head goes to.
    #[inline]
    pub(crate) fn ahead(&self, waiting: &Sorted) -> Option<RequestId> {
        match self.heading {
            Heading::Up => self.above(waiting),
            Heading::Down => self.below(waiting),
        }
    }

    /// The nearest request, where those against the direction count as `penalty` sectors farther.
    /// Of two that are equally near, the one in the direction.
    pub(crate) fn nearest(&self, cx: Cx<'_>, waiting: &Sorted, penalty: u64) -> Option<RequestId> {
        let (below, above) = match self.around(waiting) {
            (Some(below), Some(above)) => (below, above),
            (below, above) => return above.or(below),
        };
        let (up, down) = (cx[above].start.distance(self.position), cx[below].start.distance(self.position));
        let rises = match self.heading {
            Heading::Up => up <= down.saturating_add(penalty),
            Heading::Down => up.saturating_add(penalty) < down,
        };
        Some(if rises { above } else { below })
    }

    /// The next request upward, or the lowest.
    #[inline]
    pub(crate) fn upward(&self, waiting: &Sorted) -> Option<RequestId> {
        self.above(waiting).or_else(|| waiting.first())
    }

    /// The nearest request in the direction; if there is none, the nearest on the other side.
    #[inline]
    pub(crate) fn sweep(&self, waiting: &Sorted) -> Option<RequestId> {
        self.ahead(waiting).or_else(|| Head { heading: self.heading.turned(), ..*self }.ahead(waiting))
    }

    /// `request` is dispatched: the head goes there.
    #[inline]
    pub(crate) fn goes_to(&mut self, request: &Request) {
        self.heading = if request.start >= self.position { Heading::Up } else { Heading::Down };
        self.position = request.end();
    }
}

/// A rule that picks by address alone. [`Seek`] makes a scheduler of it.
pub trait Rule {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Algorithm::SOURCE`].
    const SOURCE: &'static str;
    /// The reason for a choice, with `{}` for the direction and `{}` for the distance in sectors.
    const REASON: &'static str;
    /// See [`Algorithm::Tunables`].
    type Tunables: Tunables;

    /// The request to serve next.
    fn pick(head: &Head, cx: Cx<'_>, waiting: &Sorted, tunables: &Self::Tunables) -> Option<RequestId>;
}

/// Serves requests by a [`Rule`] on their addresses.
pub struct Seek<R: Rule> {
    waiting: Sorted,
    head: Head,
    tunables: R::Tunables,
}

impl<R: Rule> Algorithm for Seek<R>
where
    R::Tunables: 'static,
    R: 'static,
{
    const NAME: &'static str = R::NAME;
    const SUMMARY: &'static str = R::SUMMARY;
    const SOURCE: &'static str = R::SOURCE;
    type Tunables = R::Tunables;

    fn new(setup: Setup<'_>, tunables: R::Tunables) -> Result<Self, OutOfMemory> {
        Ok(Seek { waiting: Sorted::new(setup.capacity)?, head: Head::default(), tunables })
    }

    fn tune(&mut self, tunables: R::Tunables) {
        self.tunables = tunables;
    }

    /// Unbounded for all of them: requests that keep arriving near the head, on the side that the
    /// rule prefers, keep it there.
    fn starvation(_: &R::Tunables) -> Starvation {
        Starvation::Unbounded
    }
}

impl<R: Rule> Scheduler for Seek<R> {
    #[inline]
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.insert(cx[id].start.0, id);
    }

    #[inline]
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.waiting.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.rekey(id, cx[id].start.0);
    }
}

impl<R: Rule> Policy for Seek<R> {
    #[inline]
    fn select(&self, cx: Cx<'_>) -> Option<RequestId> {
        R::pick(&self.head, cx, &self.waiting, &self.tunables)
    }

    #[inline]
    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        let from = self.head.position;
        self.waiting.remove(id);
        self.head.goes_to(&cx[id]);
        cx.because(R::REASON, || [self.head.heading.word().into(), from.distance(cx[id].start).into()]);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::device::{Device, Merging};
    use crate::queue::Queue;
    use crate::registry::AnyScheduler;
    use crate::units::{Instant, Sectors};

    /// The order in which the scheduler `name` serves reads of 8 sectors at these starts, which
    /// wait together after it has served one at `first`.
    pub(crate) fn order(name: &str, settings: &[(&str, u64)], first: u64, starts: &[u64]) -> Vec<u64> {
        let device = Device { merging: Merging::Off, capacity: Sector(10_000), ..Device::default() };
        let entry = crate::registry::find(name).unwrap();
        let mut queue = Queue::new(64, device, entry, settings).unwrap();
        serve(&mut queue, &[first]);
        serve(&mut queue, starts)
    }

    /// Inserts reads at these starts, serves them, and says in which order.
    pub(crate) fn serve(queue: &mut Queue<AnyScheduler>, starts: &[u64]) -> Vec<u64> {
        let mut now = Instant(0);
        for start in starts {
            queue.insert(now, Request::read(Sector(*start), Sectors(8))).unwrap();
        }
        let mut order = Vec::new();
        while order.len() < starts.len() {
            match queue.dispatch(now).unwrap() {
                Decision::Dispatch(id) => {
                    order.push(queue.request(id).start.0);
                    queue.complete(now, id).unwrap();
                }
                Decision::WaitUntil(until) => now = until,
                Decision::Idle => panic!("requests wait"),
            }
        }
        order
    }
}
