//! The queues: what each has to do, what its requests cost, and what arrivals and completions tell of it.

use alloc::vec::Vec;

use super::budget::{self, Budget, Budgets, Served};
use super::habits::Habits;
use super::inject::{Injection, Limit, Waker};
use super::next_addresses::NextAddresses;
use super::processes::{ASYNC_QUEUES, Processes, Ref};
use super::raise::{Burst, Kind, Raise};
use super::rate::Tagging;
use super::requests::{Line, Requests};
use super::settings::Settings;
use super::wf2q::Wf2q;
use crate::collections::{OutOfMemory, Place, table};
use crate::request::Class;
use crate::scheduler::{Cx, Setup};
use crate::units::{Instant, RequestId, Sector};

/// Places for processes besides two for each request: some are hosts, or wait though they have none.
const ABSENT_PLACES: usize = 128;

/// What is known of one queue, besides its virtual times and whose it is.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub(super) line: Line,
    pub(super) budget: Budget,
    pub(super) habits: Habits,
    pub(super) raise: Raise,
    pub(super) limit: Limit,
    pub(super) waker: Waker,
}

impl Queue {
    fn new(now: Instant, line: Line, budget: Budget, habits: Habits) -> Queue {
        let (limit, waker) = (Limit::default(), Waker::default());
        Queue { line, budget, habits, raise: Raise::new(now), limit, waker }
    }
}

/// All queues.
pub(super) struct Queues {
    pub(super) settings: Settings,
    /// By index.
    pub(super) list: Vec<Queue>,
    pub(super) processes: Processes,
    pub(super) requests: Requests,
    pub(super) wf2q: Wf2q,
    pub(super) budgets: Budgets,
    /// How many busy queues are raised.
    pub(super) raised_busy: u32,
    pub(super) injection: Injection,
    pub(super) tagging: Tagging,
    /// Where the last request of the queue in service ends; 0 before there was one.
    pub(super) served_to: Sector,
    pub(super) burst: Burst<usize>,
    next_addresses: NextAddresses,
    /// Whose request was done last, if that is one process's.
    last_completed: Option<Ref>,
}

impl Queues {
    pub(super) fn new(setup: Setup<'_>, settings: Settings) -> Result<Queues, OutOfMemory> {
        let places = setup.capacity.saturating_mul(2).saturating_add(ABSENT_PLACES);
        let queues = places + ASYNC_QUEUES;
        let budgets = Budgets::new(settings.max_budget.0, setup.device.rotational);
        let habits = Habits::new(Instant::ZERO, false, Class::BestEffort);
        let unknown = Queue::new(Instant::ZERO, Line::default(), budgets.first(), habits);
        let mut list = table(queues, unknown)?;
        list.iter_mut().zip(0..).for_each(|(queue, index)| queue.line.queue = index);
        Ok(Queues {
            settings,
            list,
            processes: Processes::new(places)?,
            requests: Requests::new(setup.capacity, queues, settings.back())?,
            wf2q: Wf2q::new(queues)?,
            budgets,
            raised_busy: 0,
            injection: Injection::default(),
            tagging: Tagging::default(),
            served_to: Sector(0),
            burst: Burst::default(),
            next_addresses: NextAddresses::new(queues)?,
            last_completed: None,
        })
    }

    /// `queue` is of a process, or a priority, that is new.
    pub(super) fn begin(&mut self, now: Instant, queue: usize, class: Class, weight: u64) {
        let habits = Habits::new(now, self.processes.is_sync(queue), class);
        self.list[queue] = Queue::new(now, self.list[queue].line, self.budgets.first(), habits);
        self.wf2q.replace(queue, class, weight);
    }

    /// What was at `place` is somebody else's, or nobody's.
    pub(super) fn clear(&mut self, cx: Cx<'_>, place: Place) {
        let joined = self.processes.queue(place);
        self.burst.leave(place.index(), true);
        self.wf2q.replace(place.index(), Class::BestEffort, 1);
        self.processes.clear(place.index());
        self.note_position(cx, joined);
    }

    /// Does what may change how `queue` is raised.
    pub(super) fn change_raise<R>(&mut self, queue: usize, what: impl FnOnce(&mut Raise) -> R) -> R {
        let raise = &mut self.list[queue].raise;
        let before = raise.kind;
        let result = what(raise);
        let after = raise.kind;
        if before != after {
            let entity = &mut self.wf2q.entities[queue];
            (entity.raised, entity.changed) = (raise.factor(), true);
            if entity.busy {
                self.raised_busy += u32::from(after != Kind::Not);
                self.raised_busy -= u32::from(before != Kind::Not);
            }
        }
        result
    }

    /// What `id` costs `queue`.
    #[inline]
    pub(super) fn charge(&self, cx: Cx<'_>, queue: usize, id: RequestId) -> u64 {
        let plain =
            self.processes.is_sync(queue) || self.list[queue].raise.is_on() || self.wf2q.differs(queue);
        budget::charge(cx[id].length.0, plain)
    }

    /// Notes where `queue` continues, if others may share it.
    pub(super) fn note_position(&mut self, cx: Cx<'_>, queue: usize) {
        if self.wf2q.in_service != Some(queue)
            && (!self.list[queue].habits.is_seeky() || self.next_addresses.holds(queue))
        {
            self.renew_position(cx, queue);
        }
    }

    /// The same after an arrival, which `leads` its queue or not: what waits behind another changes nothing.
    pub(super) fn note_arrival(&mut self, cx: Cx<'_>, queue: usize, leads: bool) {
        let changes = match self.list[queue].habits.is_seeky() {
            true => self.next_addresses.holds(queue),
            false => leads || !self.next_addresses.holds(queue),
        };
        if changes && self.wf2q.in_service != Some(queue) {
            self.renew_position(cx, queue);
        }
    }

    #[inline(never)]
    fn renew_position(&mut self, cx: Cx<'_>, queue: usize) {
        let next = if self.is_sharable(cx.now, queue) { self.list[queue].line.next } else { None };
        self.next_addresses.set(queue, next.map(|next| (self.wf2q.entities[queue].class, cx[next].start)));
    }

    /// Whether `queue` is one that others may share, and whose processes may share another.
    pub(super) fn is_sharable(&self, now: Instant, queue: usize) -> bool {
        !self.list[queue].habits.is_seeky()
            && self.processes.is_sync(queue)
            && self.processes.owners[queue].users > 0
            && self.wf2q.entities[queue].class != Class::Idle
            && !self.list[queue].raise.is_known(now)
    }

    /// Of the queues that others may share the one of the class of `queue` that continues nearest to `start`, at most
    /// `within` sectors away. Neither `queue` nor the one in service is meant.
    pub(super) fn nearest(
        &mut self,
        now: Instant,
        queue: usize,
        start: Sector,
        within: u64,
    ) -> Option<usize> {
        let (class, serving) = (self.wf2q.entities[queue].class, self.wf2q.in_service);
        let left_out = |other: usize| other == queue || serving == Some(other);
        loop {
            let near = self.next_addresses.nearest(class, start, within, left_out)?;
            if !self.list[near].raise.is_known(now) {
                return Some(near);
            }
            self.next_addresses.set(near, None);
        }
    }

    /// All who issue into `queue` issue into `joined` from now on, which gets what is good about `queue`.
    pub(super) fn join(&mut self, cx: Cx<'_>, queue: usize, joined: usize) {
        self.processes.move_all(queue, joined);
        let (mut raise, mut habits) = (self.list[queue].raise, self.list[queue].habits);
        self.change_raise(joined, |joined| raise.pass_to(joined));
        self.change_raise(queue, |own| *own = raise);
        habits.pass_to(&mut self.list[joined].habits);
        self.list[queue].habits = habits;
        let known = self.list[queue].waker.known.filter(|waker| waker.queue != joined);
        if let Some(waker) = known.filter(|_| self.list[joined].waker.known.is_none())
            && self.processes.alive(known).is_some()
        {
            self.learn_waker(joined, waker);
        }
        self.leave(cx, queue);
        self.note_position(cx, joined);
    }

    /// Nobody issues into `queue` any more, or one process fewer.
    pub(super) fn leave(&mut self, cx: Cx<'_>, queue: usize) {
        let idle = self.list[queue].line.is_empty() && self.wf2q.in_service != Some(queue);
        if idle && self.wf2q.entities[queue].busy {
            self.not_busy(cx.now, queue, false);
        }
        self.note_position(cx, queue);
    }

    /// How `queue`, which is one process's, is raised: its process will want that back.
    pub(super) fn raise_to_save(&self, now: Instant, queue: usize) -> Raise {
        let mut raise = self.list[queue].raise;
        if self.processes.owners[queue].new && !raise.in_burst && self.settings.low_latency {
            raise.as_interactive(self.budgets.rate.raise_time);
            raise.since = now;
        }
        raise
    }

    /// The process at `place` issues into its own queue again, which is raised as it was.
    pub(super) fn come_back(&mut self, cx: Cx<'_>, place: Place, saved: Option<Raise>) {
        let (joined, own) = (self.processes.queue(place), place.index());
        self.processes.come_back(place);
        if let Some(saved) = saved.filter(|_| self.settings.low_latency) {
            let span = self.budgets.rate.raise_time;
            self.change_raise(own, |raise| raise.resume(saved, cx.now, span));
        }
        self.note_position(cx, own);
        self.note_position(cx, joined);
    }

    /// `queue` is created: it may be one of many.
    #[cold]
    pub(super) fn note_created(&mut self, now: Instant, queue: usize) {
        let others = self.wf2q.busy() > 0;
        if self.burst.is_empty() && others || self.list[queue].raise.in_burst {
            return;
        }
        for queue in self.burst.created(now, queue, others).into_iter().flatten() {
            self.list[queue].raise.in_burst = true;
        }
    }

    /// `queue` has something to do from now on. `waited`: it emptied before its budget and time were over.
    pub(super) fn make_busy(&mut self, now: Instant, queue: usize, waited: bool) {
        let Queue { line, raise, waker, .. } = &self.list[queue];
        let counts = line.in_flight == 0 && !raise.is_on();
        self.wf2q.activate(now, queue, waited, counts);
        self.raised_busy += u32::from(raise.is_on());
        self.processes.hold(queue);
        if let Some(waker) = self.processes.alive(waker.known) {
            self.list[waker].waker.woken = Some(self.processes.reference(queue));
        }
    }

    /// `queue` has nothing more to do.
    pub(super) fn not_busy(&mut self, now: Instant, queue: usize, expires: bool) {
        let Queue { line, raise, .. } = &self.list[queue];
        self.raised_busy -= u32::from(raise.is_on());
        self.processes.release(queue);
        self.wf2q.deactivate(now, queue, expires, line.in_flight == 0);
    }

    /// A request of a process that has no other has come to `queue`: for which queue does it wait, and what may go
    /// besides?
    pub(super) fn learn(&mut self, now: Instant, queue: usize) {
        let slice_idle = self.settings.idle_time();
        let Queue { habits, waker, limit, .. } = &mut self.list[queue];
        let (short, serving) = (habits.short, self.wf2q.in_service == Some(queue));
        self.injection.note_request(now, limit, self.requests.in_flight, serving, short);
        if let (Some(other), Some(last)) = (self.last_completed, self.budgets.rate.last_completion)
            && !short
            && other.queue != queue
            && self.processes.alive(Some(other)).is_some()
            && waker.suspect(now, other, now.since(last), slice_idle)
        {
            self.learn_waker(queue, other);
        }
    }

    /// `waker` wakes `queue`.
    fn learn_waker(&mut self, queue: usize, waker: Ref) {
        self.list[queue].waker.learn(waker);
        self.list[waker.queue].waker.woken = Some(self.processes.reference(queue));
    }

    /// The device is done with `id` of `queue`: what does that tell?
    pub(super) fn note_done(&mut self, now: Instant, queue: usize, id: RequestId) {
        let (in_flight, waiting) = (self.requests.in_flight, self.requests.waiting);
        let serving = self.wf2q.in_service.map(|serving| &self.list[serving]);
        let own = serving.filter(|serving| serving.habits.short).map(|serving| serving.line.len());
        let Queue { line, budget, habits, raise, limit, .. } = &mut self.list[queue];
        self.injection.done(now, limit, id, in_flight, self.tagging.most);
        self.tagging.observe(waiting, in_flight, own);
        self.requests.done(line);
        habits.done = now;
        let alone = !self.processes.owners[queue].shared;
        self.last_completed = alone.then(|| self.processes.reference(queue));
        if line.in_flight == 0 {
            if line.is_empty() {
                raise.note_done(now, self.settings.idle_time());
            }
            if !self.wf2q.entities[queue].busy {
                budget.timeout = Some(now);
                self.wf2q.uncount(queue);
            }
        }
        if self.budgets.rate.completed(now) {
            self.budgets.retune(&self.settings);
        }
    }

    /// Gives `queue`, which has something to do, its budget. If it emptied before the last one was used up, and
    /// its process has come back in time, it may continue with what was left: true.
    // One place gives budgets.
    #[inline(always)]
    pub(super) fn begin_budget(&mut self, cx: Cx<'_>, queue: usize) -> bool {
        let slice_idle = self.settings.idle_time();
        let Queue { line, budget, habits, .. } = &mut self.list[queue];
        let (left, most, next) = (self.wf2q.entities[queue].left(), budget.most, line.next);
        let goes_on = core::mem::take(&mut budget.waited) && habits.in_time(cx.now, slice_idle) && left > 0;
        let cost = || next.map_or(0, |next| self.charge(cx, queue, next));
        let budget = if goes_on { left.min(most) } else { most.max(cost()) };
        let entity = &mut self.wf2q.entities[queue];
        (entity.budget, entity.service) = (budget, 0);
        goes_on
    }

    /// Another request of `queue` is next. While it waits for its turn, its budget must suffice for it.
    pub(super) fn renew_budget(&mut self, cx: Cx<'_>, queue: usize) {
        if self.wf2q.in_service != Some(queue)
            && let Some(next) = self.list[queue].line.next
        {
            let budget = self.list[queue].budget.most.max(self.charge(cx, queue, next));
            self.wf2q.renew_budget(cx.now, queue, budget);
        }
    }

    /// Takes `id` out of `queue`.
    #[inline]
    pub(super) fn take_out(&mut self, cx: Cx<'_>, queue: usize, id: RequestId) {
        let line = &mut self.list[queue].line;
        let leads = self.requests.take_out(cx, line, id);
        let empty = line.is_empty();
        if self.wf2q.in_service == Some(queue) {
            return;
        }
        if leads {
            self.renew_budget(cx, queue);
        }
        if empty && self.wf2q.entities[queue].busy {
            self.not_busy(cx.now, queue, false);
            let entity = &mut self.wf2q.entities[queue];
            (entity.budget, entity.service) = (0, 0);
        }
        self.note_position(cx, queue);
    }

    /// `queue` is served, or is charged as if.
    #[inline]
    pub(super) fn serve(&mut self, now: Instant, queue: usize, sectors: u64) {
        self.list[queue].raise.serve(now, sectors);
        self.wf2q.serve(queue, sectors);
    }

    /// What the next budget and the charge of `queue` depend on.
    pub(super) fn served(&self, queue: usize) -> Served {
        let Queue { line, habits, raise, .. } = &self.list[queue];
        Served {
            sync: self.processes.is_sync(queue),
            raised: raise.is_on(),
            seeky: habits.is_seeky(),
            in_flight: line.in_flight > 0,
            service: self.wf2q.entities[queue].service,
        }
    }
}
