//! A host that plays a scene on a queue, keeps its own record of each request, and checks what it is told.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::log::Log;
use super::scene::{Place, Scene, Spec, Step};
use super::subject::{Make, Random, Subject, TestQueue, as_text};
use crate::ops::{Event, Outcome};
use crate::request::{Durable, Request};
use crate::scheduler::Setup;
use crate::units::{Duration, Group, Instant, Issuer, RequestId, Sector, Sectors, Weight};

/// A scheduler that waits this often in a row, without any event, makes no progress.
const WAITS_MAX: usize = 1000;

/// Where a request is, by the host's own record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Free,
    Waiting,
    InFlight,
}

/// What the host was told when it last asked, while nothing has happened since.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    Nothing,
    Idle,
    Until(Instant),
}

/// Calls that must change nothing, made here and there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExtraCalls {
    None,
    /// Ask where the answer must be the same or nothing.
    Asks,
    /// Make calls that the queue must refuse.
    Misuse,
}

/// Chooses a successor for a switch by number and settings.
pub(super) type Successors<'a> = &'a dyn Fn(u8, u64, Setup<'_>) -> (String, Box<dyn Subject>);

/// The host.
pub(super) struct Driver<'a> {
    pub(super) queue: TestQueue,
    pub(super) now: Instant,
    /// The time of the last line of the log.
    pub(super) logged: Instant,
    log: &'a mut Log,
    pub(super) fates: Vec<Fate>,
    originals: Vec<Request>,
    /// In order of dispatch; returned ones are not among them.
    in_flight: Vec<RequestId>,
    pub(super) returned: usize,
    pub(super) promise: Promise,
    pub(super) last: Request,
    /// All that the queue answered, in order.
    pub(super) outcomes: Vec<Outcome>,
    pub(super) extra_calls: ExtraCalls,
    pub(super) random: Random,
    successors: Option<Successors<'a>>,
}

impl<'a> Driver<'a> {
    /// A host at time `now` that will play `scene` on what `make` builds.
    pub(super) fn new(make: &dyn Make, scene: &Scene, now: Instant, log: &'a mut Log) -> Driver<'a> {
        log.header(&scene.device, scene.size, scene.seed, make);
        Driver {
            queue: make.queue(scene.size, &scene.device, scene.seed),
            now,
            logged: now,
            log,
            fates: vec![Fate::Free; scene.size],
            originals: vec![Request::default(); scene.size],
            in_flight: Vec::new(),
            returned: 0,
            promise: Promise::Nothing,
            last: Request::default(),
            outcomes: Vec::new(),
            extra_calls: ExtraCalls::None,
            random: Random(7),
            successors: None,
        }
    }

    pub(super) fn with_extra_calls(self, extra_calls: ExtraCalls) -> Driver<'a> {
        Driver { extra_calls, ..self }
    }

    pub(super) fn switching(self, successors: Successors<'a>) -> Driver<'a> {
        Driver { successors: Some(successors), ..self }
    }

    /// Plays all steps, then drains the queue.
    pub(super) fn play(&mut self, scene: &Scene) -> Result<(), String> {
        for step in &scene.steps {
            self.make_extra_calls()?;
            self.step(step)?;
        }
        self.drain()
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
        if self.queue.is_carrying() {
            let count = self.random.below(3) as u32;
            self.event(Event::Carry(count))?;
        }
        match *step {
            Step::Insert(spec) => self.insert(spec),
            Step::Dispatch => self.dispatch(),
            Step::Complete(which) => match self.chosen_in_flight(which) {
                Some(id) => self.complete(id),
                None => Ok(()),
            },
            Step::Cancel(which) => match self.chosen_waiting(which) {
                Some(id) => self.cancel(id),
                None => Ok(()),
            },
            Step::Requeue(which) => match self.chosen_in_flight(which) {
                Some(id) => {
                    self.in_flight.retain(|held| *held != id);
                    self.returned += 1;
                    self.event(Event::Requeue(id)).map(drop)
                }
                None => Ok(()),
            },
            Step::Gone(who) => self.event(Event::Gone(Issuer(u32::from(who)))).map(drop),
            Step::Weigh(who, weight) => {
                let weight = Weight::new(weight).unwrap_or_default();
                self.event(Event::Weigh(Issuer(u32::from(who)), weight)).map(drop)
            }
            Step::Pass(time) => self.pass(time),
            Step::KeepPromise => match self.promise {
                Promise::Until(time) if self.has_room() => {
                    self.now = time;
                    self.dispatch()
                }
                _ => Ok(()),
            },
            Step::Set(which, value) => {
                self.set(which, value);
                Ok(())
            }
            Step::Switch(which, seed) => self.switch(which, seed, true),
            Step::Begin(which, seed) => self.switch(which, seed, false),
        }
    }

    fn insert(&mut self, spec: Spec) -> Result<(), String> {
        let Some(free) = self.fates.iter().position(|fate| *fate == Fate::Free) else { return Ok(()) };
        let id = RequestId(free as u32);
        let before = |start: Sector| Sector(start.0.saturating_sub(u64::from(spec.length)));
        let waiting = |which: u8| self.chosen_waiting(which).map(|id| *self.queue.request(id));
        let start = match spec.place {
            Place::At(sector) => Sector(sector),
            Place::After => self.last.end(),
            Place::Before => before(self.last.start),
            Place::Same => self.last.start,
            Place::AfterWaiting(which) => waiting(which).unwrap_or(self.last).end(),
            Place::BeforeWaiting(which) => before(waiting(which).unwrap_or(self.last).start),
        };
        let request = Request {
            arrival: Instant::ZERO,
            start,
            length: Sectors(spec.length),
            issuer: Issuer(spec.issuer),
            group: Group(spec.group),
            operation: spec.operation,
            priority: spec.priority,
            sync: spec.sync,
            metadata: spec.metadata,
            more_follows: spec.more,
            past: spec.past,
            durable: Durable::default(),
        };
        self.last = request;
        self.event(Event::Insert { id, request })?;
        // What goes past the scheduler waits where those wait that the device gave back.
        self.returned += usize::from(spec.past);
        self.fates[free] = if spec.past { Fate::InFlight } else { Fate::Waiting };
        self.originals[free] = request;
        Ok(())
    }

    /// Asks, if the device has room, and checks the answer against the last one and the record.
    pub(super) fn dispatch(&mut self) -> Result<(), String> {
        if !self.has_room() {
            return Ok(());
        }
        let promise = self.promise;
        let outcome = self.event(Event::Dispatch)?;
        match outcome {
            Outcome::Dispatch(id) => {
                match promise {
                    Promise::Idle => return Err(format!("{id} comes after `idle` though nothing happened")),
                    Promise::Until(time) if self.now < time => {
                        return Err(format!(
                            "{id} comes before the time that was named, though nothing happened"
                        ));
                    }
                    _ => {}
                }
                self.take(id)
            }
            Outcome::Wait(time) => {
                self.promise = Promise::Until(self.now + time);
                if time == Duration::ZERO { Err("waits until now".into()) } else { Ok(()) }
            }
            _ => {
                self.promise = Promise::Idle;
                let stuck = self.waiting() > 0 && self.in_flight.is_empty() && !self.queue.is_carrying();
                if stuck { Err("idle with requests waiting and none in flight".into()) } else { Ok(()) }
            }
        }
    }

    /// Enters a dispatched request and its parts in the record.
    fn take(&mut self, id: RequestId) -> Result<(), String> {
        let parts: Vec<RequestId> = self.queue.requests().parts(id).collect();
        if self.fates[id.index()] == Fate::InFlight {
            if self.returned == 0 || self.in_flight.contains(&id) {
                return Err(format!("{id} was dispatched twice"));
            }
            self.returned -= 1;
        } else {
            for part in &parts {
                if self.fates[part.index()] != Fate::Waiting {
                    return Err(format!("{part}, a part of {id}, did not wait"));
                }
                self.fates[part.index()] = Fate::InFlight;
            }
        }
        self.in_flight.push(id);
        self.check_extent(id, &parts)
    }

    /// A merged request covers its parts, end to end, and they are of one kind and within limits.
    fn check_extent(&self, id: RequestId, parts: &[RequestId]) -> Result<(), String> {
        let mut originals: Vec<&Request> = parts.iter().map(|part| &self.originals[part.index()]).collect();
        originals.sort_by_key(|part| (part.start, part.end()));
        let whole = self.queue.request(id);
        let joined = originals.windows(2).all(|pair| pair[0].end() == pair[1].start);
        let first = originals.first().is_some_and(|part| part.start == whole.start);
        let last = originals.last().is_some_and(|part| part.end() == whole.end());
        if !joined || !first || !last {
            return Err(format!("{id} is not what its parts {parts:?} make"));
        }
        let alike = |part: &&Request| part.operation == whole.operation && part.priority == whole.priority;
        let device = self.queue.device();
        let fits = parts.len() <= device.max_parts as usize && whole.length <= device.max_sectors;
        if parts.len() > 1 && !(fits && originals.iter().all(alike)) {
            return Err(format!("{id} should not have merged"));
        }
        Ok(())
    }

    fn complete(&mut self, id: RequestId) -> Result<(), String> {
        self.in_flight.retain(|held| *held != id);
        self.release(id, Fate::InFlight)?;
        self.event(Event::Complete(id)).map(drop)
    }

    fn cancel(&mut self, id: RequestId) -> Result<(), String> {
        self.release(id, Fate::Waiting)?;
        self.event(Event::Cancel(id)).map(drop)
    }

    /// Strikes `id` and its parts, which have this fate, from the record.
    fn release(&mut self, id: RequestId, fate: Fate) -> Result<(), String> {
        for part in self.queue.requests().parts(id) {
            if self.fates[part.index()] != fate {
                return Err(format!("{part}, a part of {id}, is not {fate:?}"));
            }
            self.fates[part.index()] = Fate::Free;
        }
        Ok(())
    }

    /// Lets time pass; asks at each time that the scheduler named on the way.
    fn pass(&mut self, time: Duration) -> Result<(), String> {
        let until = self.now + time;
        for _ in 0..WAITS_MAX {
            match self.promise {
                Promise::Until(named) if named <= until && self.has_room() => {
                    self.now = named;
                    self.dispatch()?;
                }
                _ => {
                    self.now = until;
                    return Ok(());
                }
            }
        }
        Err("waits again and again though nothing happens".into())
    }

    /// Serves everything: asks, keeps promises, and completes when there is nothing else to do.
    pub(super) fn drain(&mut self) -> Result<(), String> {
        let mut waits = 0;
        while self.queue.is_carrying() {
            self.event(Event::Carry(1))?;
        }
        while self.waiting() > 0 || self.returned > 0 || !self.in_flight.is_empty() {
            let asked = self.has_room();
            let before = self.in_flight.len();
            self.make_extra_calls()?;
            self.dispatch()?;
            if self.in_flight.len() > before {
                waits = 0;
                continue;
            }
            match (self.promise, self.in_flight.first().copied()) {
                (Promise::Until(time), _) if asked && waits < WAITS_MAX => {
                    waits += 1;
                    self.now = time;
                }
                (_, Some(first)) => {
                    self.now += Duration::from_us(200);
                    waits = 0;
                    self.complete(first)?;
                }
                _ => return Err("waits again and again though nothing happens".into()),
            }
        }
        match self.fates.iter().position(|fate| *fate != Fate::Free) {
            Some(lost) => Err(format!("#{lost} was never dispatched and completed")),
            None => Ok(()),
        }
    }

    fn set(&mut self, which: u8, value: u64) {
        let known = self.queue.scheduler().tunables();
        let Some(tunable) = known.get(usize::from(which) % known.len().max(1)) else { return };
        let value = Random(value).value_of(tunable).unwrap_or(tunable.default);
        self.queue.scheduler_mut().set(tunable.name, value);
        // The queue learns no time from this, so the log does not either.
        self.log.line(Duration::ZERO, &format!("set {} {}", tunable.name, as_text(tunable, value)));
        self.promise = Promise::Nothing;
    }

    fn switch(&mut self, which: u8, seed: u64, at_once: bool) -> Result<(), String> {
        let Some(successors) = self.successors else { return Ok(()) };
        let setup = Setup { capacity: self.fates.len(), device: self.queue.device() };
        let (text, successor) = successors(which, seed, setup);
        let verb = if at_once { "switch" } else { "begin" };
        self.log.line(self.now.since(self.logged), &format!("{verb} {text}"));
        self.logged = self.now;
        self.promise = Promise::Nothing;
        let replaced = match at_once {
            true => self.queue.replace(self.now, successor),
            false => self.queue.begin(self.now, successor),
        };
        replaced.map(drop).map_err(|error| format!("{error}"))
    }

    /// Does what the host may, logs it, and expects that the queue does not refuse.
    fn event(&mut self, event: Event<'_>) -> Result<Outcome, String> {
        self.log.event(self.now.since(self.logged), event);
        self.logged = self.now;
        self.promise = Promise::Nothing;
        let outcome = event.apply(&mut self.queue, self.now).unwrap_or(Outcome::Done);
        self.log.outcome(outcome);
        self.outcomes.push(outcome);
        match outcome {
            Outcome::Refused(error) => Err(format!("refused: {error}")),
            outcome => Ok(outcome),
        }
    }

    /// In order of dispatch.
    pub(super) fn in_flight(&self) -> &[RequestId] {
        &self.in_flight
    }

    pub(super) fn has_room(&self) -> bool {
        self.in_flight.len() < self.queue.device().depth as usize
    }

    pub(super) fn waiting(&self) -> usize {
        self.fates.iter().filter(|fate| **fate == Fate::Waiting).count()
    }

    fn chosen_in_flight(&self, which: u8) -> Option<RequestId> {
        let count = self.in_flight.len();
        (count > 0).then(|| self.in_flight[usize::from(which) % count])
    }

    /// A waiting request that is not part of another.
    fn chosen_waiting(&self, which: u8) -> Option<RequestId> {
        let table = self.queue.requests();
        let wholes = || {
            let ids = (0..self.fates.len() as u32).map(RequestId);
            ids.filter(|id| table.state(*id) == crate::request_table::State::Waiting)
        };
        let count = wholes().count();
        wholes().nth(usize::from(which).checked_rem(count)?)
    }
}
