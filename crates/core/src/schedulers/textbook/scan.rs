//! The elevator that moves on to the end of the disk and comes back sweeping.
//!
//! # How it decides
//! 1. Upward, take the nearest request at or above the end of the last one dispatched; downward, the
//!    nearest below it. Requests with equal addresses are dispatched in order of arrival.
//! 2. If there is none in that direction, the head moves on to the end of the disk. The travel begins when the last
//!    request in flight completes, or when a request arrives after a pause.
//! 3. A request that arrives ahead of where the last one ended, before the travel is over, still belongs
//!    to this sweep, and is dispatched at once.
//! 4. When the travel is over, the sweep in the other direction begins.
//!
//! A scheduler chooses an order; it cannot move the head to a place where nothing is to be read. `scan`
//! therefore waits as long as the detour takes: the seek to the end, plus the seek from there to the
//! request, less the seek that the disk itself will do, all by the device's curve of positioning times.
//! So the travel costs what it costs, and what arrives during the travel goes first. An observer sees no
//! other difference from `look`. A device without moving heads is not waited for.
//!
//! # Source
//! Textbooks.
//!
//! # Differs from the source
//! The head's place during the detour is not modelled. The device's curve has half a turn of the platter in each of its
//! times, and so the detour pays half a turn for each leg that it has more than the direct way.
//!
//! # Good for, bad for
//! Good for comparison: `scan` shows what `look` saves. Bad for light loads, where each sweep pays for
//! an empty end of the disk.
//!
//! # Starvation
//! Unbounded: arrivals just ahead of the head hold it in place.

use core::marker::PhantomData;

use crate::collections::{OutOfMemory, Sorted};
use crate::scheduler::{Algorithm, Cx, Decision, Scheduler, Setup, Starvation};
use crate::schedulers::shared::head::{Head, Heading};
use crate::tunables::Nothing;
use crate::units::{Duration, Instant, RequestId, Sector};

/// Sweeps from end to end of the disk, both ways.
pub type Scan = EndToEnd<BothWays>;

/// What distinguishes `scan` and `c-scan`.
pub trait Sweep: 'static {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// Whether the way back is a sweep too.
    const TURNS: bool;
}

/// The rule of [`Scan`].
pub struct BothWays;

impl Sweep for BothWays {
    const NAME: &'static str = "scan";
    const SUMMARY: &'static str = "Sweeps up and down, each time to the very end of the disk.";
    const TURNS: bool = true;
}

/// An elevator that goes to the end of the disk.
pub struct EndToEnd<S> {
    waiting: Sorted,
    head: Head,
    /// When the head last began to have nothing to do where it is.
    at_rest: Instant,
    /// Requests that the device has.
    in_flight: u32,
    sweep: PhantomData<S>,
}

impl<S: Sweep> Algorithm for EndToEnd<S> {
    const NAME: &'static str = S::NAME;
    const SUMMARY: &'static str = S::SUMMARY;
    const SOURCE: &'static str = "textbook";
    type Tunables = Nothing;

    fn new(setup: Setup<'_>, _: Nothing) -> Result<Self, OutOfMemory> {
        let (waiting, head) = (Sorted::new(setup.capacity)?, Head::default());
        Ok(EndToEnd { waiting, head, at_rest: Instant::ZERO, in_flight: 0, sweep: PhantomData })
    }

    fn tune(&mut self, _: Nothing) {}

    fn starvation(_: &Nothing) -> Starvation {
        Starvation::Unbounded
    }
}

impl<S: Sweep> EndToEnd<S> {
    fn ahead(&self) -> Option<RequestId> {
        if S::TURNS { self.head.ahead(&self.waiting) } else { self.head.above(&self.waiting) }
    }

    /// The first request of the next sweep, if something waits and nothing is ahead.
    fn after_the_end(&self) -> Option<RequestId> {
        if S::TURNS { self.head.sweep(&self.waiting) } else { self.waiting.first() }
    }

    /// What going to the end of the disk costs moving heads on the way to `target`.
    fn detour(&self, cx: Cx<'_>, target: RequestId) -> Duration {
        let seek = |from, to| cx.device.learned.curve.expected(from, to);
        let (head, last, target) = (self.head.position, cx.device.capacity, cx[target].start);
        let there = match (S::TURNS, self.head.heading) {
            (true, Heading::Up) => seek(head, last) + seek(last, target),
            (true, Heading::Down) => seek(head, Sector(0)) + seek(Sector(0), target),
            (false, _) => seek(head, last) + seek(last, Sector(0)) + seek(Sector(0), target),
        };
        there - seek(head, target)
    }

    /// What to do while the head is not yet at the end of the disk on its way to `target`.
    #[inline]
    fn travels(&self, cx: Cx<'_>, target: RequestId) -> Option<Decision> {
        if self.in_flight > 0 {
            cx.because("nothing is ahead, and the head is busy with {}", || {
                [u64::from(self.in_flight).into()]
            });
            return Some(Decision::Idle);
        }
        let there = self.at_rest + self.detour(cx, target);
        if cx.now >= there {
            return None;
        }
        cx.because("the head travels to the end of the disk, {} more", || [there.since(cx.now).into()]);
        Some(Decision::WaitUntil(there))
    }

    fn serve(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        let from = self.head.position;
        self.waiting.remove(id);
        self.head.goes_to(&cx[id]);
        let facts = || [self.head.heading.word().into(), from.distance(cx[id].start).into()];
        cx.because("next on the sweep {}, {} sectors away", facts);
        self.in_flight += 1;
        Decision::Dispatch(id)
    }
}

impl<S: Sweep> Scheduler for EndToEnd<S> {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.waiting.is_empty() {
            self.at_rest = cx.now;
        }
        self.waiting.insert(cx[id].start.0, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if let Some(id) = self.ahead() {
            return self.serve(cx, id);
        }
        let Some(target) = self.after_the_end() else { return Decision::Idle };
        if cx.device.rotational
            && let Some(decision) = self.travels(cx, target)
        {
            return decision;
        }
        self.serve(cx, target)
    }

    fn complete(&mut self, cx: Cx<'_>, _: RequestId) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.at_rest = cx.now;
    }

    fn adopt(&mut self, _: Cx<'_>, _: RequestId) {
        self.in_flight += 1;
    }

    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.waiting.remove(id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting.rekey(id, cx[id].start.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, Merging};
    use crate::queue::Queue;
    use crate::request::Request;
    use crate::schedulers::shared::head::tests::{order, serve};
    use crate::units::Sectors;

    #[test]
    fn requests_that_wait_together_go_as_under_look_and_c_look() {
        let starts = [980, 1830, 370, 1220, 140, 1240, 650, 670];
        assert_eq!(order("scan", &[], 530, &starts), order("look", &[], 530, &starts));
        assert_eq!(order("c-scan", &[], 530, &starts), order("c-look", &[], 530, &starts));
    }

    /// What `name` serves first if 100 waits behind the head and 6000 arrives ahead 1 ms later.
    fn after_late_arrival(name: &str, rotational: bool) -> u64 {
        let device =
            Device { merging: Merging::Off, capacity: Sector(10_000), rotational, ..Device::default() };
        let entry = crate::registry::find(name).unwrap();
        let mut queue = Queue::new(8, device, entry, &[]).unwrap();
        serve(&mut queue, &[5000]);
        let mut now = Instant(0);
        queue.insert(now, Request::read(Sector(100), Sectors(8))).unwrap();
        let mut decision = queue.dispatch(now).unwrap();
        now += Duration::from_ms(1);
        queue.insert(now, Request::read(Sector(6000), Sectors(8))).unwrap();
        if !matches!(decision, Decision::Dispatch(_)) {
            decision = queue.dispatch(now).unwrap();
        }
        let Decision::Dispatch(id) = decision else { panic!("a request is due: {decision:?}") };
        queue.request(id).start.0
    }

    #[test]
    fn what_arrives_during_the_travel_to_the_end_goes_first() {
        assert_eq!(after_late_arrival("look", true), 100);
        assert_eq!(after_late_arrival("c-look", true), 100);
        assert_eq!(after_late_arrival("scan", true), 6000);
        assert_eq!(after_late_arrival("c-scan", true), 6000);
    }

    #[test]
    fn without_moving_heads_no_travel_is_waited_for() {
        assert_eq!(after_late_arrival("scan", false), 100);
    }

    #[test]
    fn without_moving_heads_the_device_need_not_be_done_with_a_sweep() {
        for (name, rotational) in [("scan", false), ("c-scan", false), ("scan", true), ("c-scan", true)] {
            let device = Device { merging: Merging::Off, depth: 2, ..Device::usual(rotational) };
            let mut queue = Queue::new(8, device, crate::registry::find(name).unwrap(), &[]).unwrap();
            for start in [5000, 100] {
                queue.insert(Instant(0), Request::read(Sector(start), Sectors(8))).unwrap();
            }
            let first = queue.dispatch(Instant(0)).unwrap();
            assert!(matches!(first, Decision::Dispatch(_)), "{first:?}");
            queue.insert(Instant(0), Request::read(Sector(50), Sectors(8))).unwrap();
            let more = core::iter::from_fn(|| match queue.dispatch(Instant(0)) {
                Ok(Decision::Dispatch(id)) => Some(id),
                _ => None,
            });
            assert_eq!(more.count(), if rotational { 1 } else { 2 }, "{name}");
        }
    }
}
