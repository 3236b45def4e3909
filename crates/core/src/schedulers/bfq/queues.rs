//! The queues: what is known of each, what each has to do, and what its requests cost.

use alloc::vec::Vec;

use super::budget::{self, Budgets, Served};
use super::habits::Habits;
use super::inject::Injection;
use super::positions::Positions;
use super::processes::{ASYNC_QUEUES, Processes};
use super::raise::Raise;
use super::raising::Raising;
use super::rate::Tagging;
use super::requests::Requests;
use super::settings::Settings;
use super::wakers::Wakers;
use super::wf2q::Wf2q;
use crate::collections::{OutOfMemory, Place, table};
use crate::request::Class;
use crate::scheduler::{Cx, Setup};
use crate::units::{Instant, RequestId, Sector};

/// Places for processes besides two for each request: some are hosts, or wait though they have none.
const ABSENT_PLACES: usize = 128;

/// All queues, by index.
pub(super) struct Queues {
    pub(super) settings: Settings,
    pub(super) processes: Processes,
    pub(super) requests: Requests,
    pub(super) wf2q: Wf2q,
    pub(super) budgets: Budgets,
    pub(super) habits: Vec<Habits>,
    pub(super) raising: Raising,
    pub(super) injection: Injection,
    pub(super) wakers: Wakers,
    pub(super) tagging: Tagging,
    positions: Positions,
}

impl Queues {
    pub(super) fn new(setup: Setup<'_>, settings: Settings) -> Result<Queues, OutOfMemory> {
        let places = setup.capacity.saturating_mul(2).saturating_add(ABSENT_PLACES);
        let queues = places + ASYNC_QUEUES;
        Ok(Queues {
            settings,
            processes: Processes::new(places)?,
            requests: Requests::new(setup.capacity, queues)?,
            wf2q: Wf2q::new(queues)?,
            budgets: Budgets::new(settings.max_budget.0, setup.device.rotational, queues)?,
            habits: table(queues, Habits::new(Instant::ZERO, false, Class::BestEffort))?,
            raising: Raising::new(queues)?,
            injection: Injection::new(queues)?,
            wakers: Wakers::new(queues)?,
            tagging: Tagging::default(),
            positions: Positions::new(queues)?,
        })
    }

    /// `queue` is of a process, or a priority, that is new.
    pub(super) fn begin(&mut self, now: Instant, queue: usize, class: Class, weight: u64) {
        self.budgets.replace(queue);
        self.habits[queue] = Habits::new(now, self.processes.is_sync(queue), class);
        self.raising.replace(now, queue);
        self.injection.replace(queue);
        self.wakers.replace(queue);
        self.wf2q.replace(queue, class, weight);
    }

    /// What was at `place` is somebody else's, or nobody's.
    pub(super) fn clear(&mut self, cx: Cx<'_>, place: Place) {
        let host = self.processes.queue(place);
        self.raising.exited(place.index());
        self.wf2q.replace(place.index(), Class::BestEffort, 1);
        self.processes.clear(place.index());
        self.list(cx, host);
    }

    /// What `id` costs `queue`.
    pub(super) fn charge(&self, cx: Cx<'_>, queue: usize, id: RequestId) -> u64 {
        let plain = self.processes.is_sync(queue) || self.raising.is_on(queue) || self.wf2q.differs(queue);
        budget::charge(cx[id].length.0, plain)
    }

    /// The next request of `queue` and what it costs, if there is one and the budget suffices.
    #[inline]
    pub(super) fn affordable(&self, cx: Cx<'_>, queue: usize) -> Option<(RequestId, u64)> {
        let id = self.requests.next(queue)?;
        let cost = self.charge(cx, queue, id);
        (cost <= self.wf2q.left(queue)).then_some((id, cost))
    }

    /// Lists where `queue` goes on, if others may share it.
    #[inline]
    pub(super) fn list(&mut self, cx: Cx<'_>, queue: usize) {
        let sharable = self.is_sharable(queue) && !self.raising.is_known(cx.now, queue);
        let next = if sharable { self.requests.next(queue) } else { None };
        self.positions.set(queue, next.map(|next| (self.wf2q.class(queue), cx[next].start)));
    }

    /// Whether `queue` is one that others may share, and whose processes may share another.
    #[inline]
    pub(super) fn is_sharable(&self, queue: usize) -> bool {
        !self.habits[queue].is_seeky()
            && self.processes.is_sync(queue)
            && self.processes.users(queue) > 0
            && self.wf2q.class(queue) != Class::Idle
    }

    /// Of the queues that others may share the one of the class of `queue` that goes on nearest to `start`, and how
    /// far that is. Neither `queue` nor the one in service is meant.
    pub(super) fn nearest(&mut self, cx: Cx<'_>, queue: usize, start: Sector) -> Option<(u64, usize)> {
        let (class, serving) = (self.wf2q.class(queue), self.wf2q.in_service());
        let left_out = |other: usize| other == queue || serving == Some(other);
        loop {
            let near = self.positions.nearest(class, start, left_out)?;
            if !self.raising.is_known(cx.now, near.1) {
                return Some(near);
            }
            self.positions.set(near.1, None);
        }
    }

    /// All who issue into `queue` issue into `host` from now on, which gets what is good about `queue`.
    pub(super) fn join(&mut self, cx: Cx<'_>, queue: usize, host: usize) {
        self.processes.move_all(queue, host);
        self.raising.pass(&mut self.wf2q, queue, host);
        self.wakers.pass(&self.processes, queue, host);
        let mut habits = self.habits[queue];
        habits.pass_to(&mut self.habits[host]);
        self.habits[queue] = habits;
        self.leave(cx, queue);
        self.list(cx, host);
    }

    /// Nobody issues into `queue` any more, or one process fewer.
    pub(super) fn leave(&mut self, cx: Cx<'_>, queue: usize) {
        let idle = self.requests.is_empty(queue) && self.wf2q.in_service() != Some(queue);
        if idle && self.wf2q.is_busy(queue) {
            self.not_busy(cx, queue, false);
        }
        self.list(cx, queue);
    }

    /// How `queue`, which is one process's, is raised: its process will want that back.
    pub(super) fn raise_to_save(&self, now: Instant, queue: usize) -> Raise {
        let mut raise = *self.raising.of(queue);
        if self.processes.is_new(queue) && !self.raising.in_burst(queue) && self.settings.low_latency {
            raise.as_interactive(self.budgets.raise_time());
            raise.restart(now);
        }
        raise
    }

    /// The process at `place` issues into its own queue again, which is raised as it was.
    pub(super) fn come_back(&mut self, cx: Cx<'_>, place: Place, saved: Option<Raise>) {
        let (host, own) = (self.processes.queue(place), place.index());
        self.processes.come_back(place);
        if let Some(saved) = saved.filter(|_| self.settings.low_latency) {
            let span = self.budgets.raise_time();
            self.raising.change(&mut self.wf2q, own, |raise, in_burst| {
                raise.resume(saved, cx.now, in_burst, span);
            });
        }
        self.list(cx, own);
        self.list(cx, host);
    }

    /// `queue` is created: it may be one of many.
    pub(super) fn note_created(&mut self, now: Instant, queue: usize) {
        self.raising.note_created(now, queue, self.wf2q.busy() > 0);
    }

    /// `queue` has something to do from now on. It `waited` if it emptied before its budget and time were over.
    pub(super) fn make_busy(&mut self, cx: Cx<'_>, queue: usize, waited: bool) {
        let counts = self.requests.in_flight_of(queue) == 0 && !self.raising.is_on(queue);
        self.wf2q.activate(cx.now, queue, waited, counts);
        self.raising.set_busy(queue, true);
        self.processes.hold(queue);
        self.wakers.note_busy(&self.processes, queue);
    }

    /// `queue` has nothing more to do.
    pub(super) fn not_busy(&mut self, cx: Cx<'_>, queue: usize, expires: bool) {
        self.raising.set_busy(queue, false);
        self.processes.release(queue);
        self.wf2q.deactivate(cx.now, queue, expires, self.requests.in_flight_of(queue) == 0);
    }

    /// Gives `queue`, which has something to do, its budget. If it emptied before the last one was used up, and
    /// its process has come back in time, it may go on with what was left: true.
    pub(super) fn begin_budget(&mut self, cx: Cx<'_>, queue: usize) -> bool {
        let (left, most) = (self.wf2q.left(queue), self.budgets.most(queue));
        let in_time = self.habits[queue].in_time(cx.now, self.settings.idle_time());
        let goes_on = self.budgets.take_waited(queue) && in_time && left > 0;
        let budget = if goes_on {
            left.min(most)
        } else {
            most.max(self.requests.next(queue).map_or(0, |next| self.charge(cx, queue, next)))
        };
        self.wf2q.begin_budget(queue, budget);
        goes_on
    }

    /// Takes `id` out of `queue`.
    pub(super) fn take_out(&mut self, cx: Cx<'_>, queue: usize, id: RequestId) {
        let leads = self.requests.take_out(cx, self.settings.back(), queue, id);
        if self.wf2q.in_service() != Some(queue) {
            if leads {
                self.renew_budget(cx, queue);
            }
            if self.requests.is_empty(queue) && self.wf2q.is_busy(queue) {
                self.not_busy(cx, queue, false);
                self.wf2q.begin_budget(queue, 0);
            }
        }
        self.list(cx, queue);
    }

    /// Another request of `queue` is next. While it waits for its turn, its budget must suffice for it.
    pub(super) fn renew_budget(&mut self, cx: Cx<'_>, queue: usize) {
        if self.wf2q.in_service() != Some(queue)
            && let Some(next) = self.requests.next(queue)
        {
            let budget = self.budgets.most(queue).max(self.charge(cx, queue, next));
            self.wf2q.renew_budget(cx.now, queue, budget);
        }
    }

    /// `queue` is served, or is charged as if.
    pub(super) fn serve(&mut self, now: Instant, queue: usize, sectors: u64) {
        self.raising.serve(now, queue, sectors);
        self.wf2q.serve(queue, sectors);
    }

    /// What the next budget and the charge of `queue` depend on.
    pub(super) fn served(&self, queue: usize) -> Served {
        Served {
            sync: self.processes.is_sync(queue),
            raised: self.raising.is_on(queue),
            seeky: self.habits[queue].is_seeky(),
            in_flight: self.requests.in_flight_of(queue) > 0,
            service: self.wf2q.service(queue),
        }
    }

    /// The device is done with `id` of `queue`: what does that tell?
    pub(super) fn note_done(&mut self, now: Instant, queue: usize, id: RequestId) {
        let Queues { requests, wf2q, habits, settings, .. } = self;
        let (in_flight, most) = (requests.in_flight(), self.tagging.most());
        self.injection.done(now, queue, id, in_flight, most);
        let serving = wf2q.in_service().filter(|serving| habits[*serving].is_short());
        let own = serving.map(|serving| requests.len_of(serving));
        self.tagging.observe(requests.waiting(), in_flight, own);
        requests.done(queue);
        habits[queue].note_done(now);
        let alone = !self.processes.is_shared(queue);
        self.wakers.note_done(alone.then(|| self.processes.reference(queue)));
        if requests.in_flight_of(queue) == 0 {
            if requests.is_empty(queue) {
                self.raising.note_done(now, queue, settings.idle_time());
            }
            if !wf2q.is_busy(queue) {
                self.budgets.note_idle(now, queue);
                wf2q.done(queue);
            }
        }
        self.budgets.completed(settings, now);
    }
}
