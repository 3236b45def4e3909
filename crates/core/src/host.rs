//! The host kit: a queue, a clock that never goes back, and a follower that may want another scheduler.
//!
//! A program that drives a scheduler holds a [`Host`], tells it what happened and when, and asks what to do next. The
//! kit tells the follower of everything that the queue is told. With a [`Chooser`] as the follower it also carries out
//! what the selector decides. `examples/vec_disk.rs` is a whole host in a few lines; the simulator and the Linux kernel
//! are the others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::collections::OutOfMemory;
use crate::device::Device;
use crate::queue::{HostError, Inserted, Queue};
use crate::registry::{AnyScheduler, Assignment, BuildError, SwitchError};
use crate::request::Request;
use crate::scheduler::{self, Scheduler};
use crate::selectors::{Action, Candidate, Chooser, ChooserError, Decision, Entry, Setup};
use crate::table::State;
use crate::tunables::{Tunable, TunableError};
use crate::units::{Instant, Issuer, RequestId, Sector, Sectors};

/// Sees every request of a queue.
pub trait Follower {
    /// Somebody follows. If not, a host looks nothing up to tell it.
    #[inline]
    fn follows(&self) -> bool {
        true
    }

    /// `request` reached the queue; its arrival is now.
    fn inserted(&mut self, _inserted: Inserted, _request: &Request) {}

    /// The host made `piece` a part of a waiting request, and has no id for it; its arrival is now.
    fn joined(&mut self, _piece: &Request) {}

    /// A request goes away without being done, or the host made it a part of another one.
    fn left(&mut self, _request: &Request) {}

    /// A request goes to the device, with what was merged into it.
    fn dispatched(&mut self, _now: Instant, _id: RequestId) {}

    /// A request, as it was inserted, is done.
    fn completed(&mut self, _now: Instant, _id: RequestId, _request: &Request) {}

    /// A process exited.
    fn exited(&mut self, _now: Instant, _who: Issuer) {}
}

/// Nobody follows.
impl Follower for () {
    #[inline]
    fn follows(&self) -> bool {
        false
    }
}

/// Whoever there is.
impl<F: Follower> Follower for Option<Box<F>> {
    #[inline]
    fn follows(&self) -> bool {
        self.is_some()
    }
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        self.iter_mut().for_each(|follower| follower.inserted(inserted, request));
    }
    fn joined(&mut self, piece: &Request) {
        self.iter_mut().for_each(|follower| follower.joined(piece));
    }
    fn left(&mut self, request: &Request) {
        self.iter_mut().for_each(|follower| follower.left(request));
    }
    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.iter_mut().for_each(|follower| follower.dispatched(now, id));
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.iter_mut().for_each(|follower| follower.completed(now, id, request));
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.iter_mut().for_each(|follower| follower.exited(now, who));
    }
}

impl Follower for Chooser {
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        Chooser::inserted(self, inserted.id(), request, !matches!(inserted, Inserted::Queued(_)));
    }
    #[inline]
    fn joined(&mut self, piece: &Request) {
        Chooser::joined(self, piece);
    }
    fn left(&mut self, request: &Request) {
        Chooser::left(self, request);
    }
    #[inline]
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        Chooser::dispatched(self, now, id);
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        Chooser::completed(self, now, id, request);
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.issuer_gone(now, who);
    }
}

/// A queue with its follower. A time that lies before an earlier call's counts as that of the earlier call: a host
/// may have read its clock on several processors.
pub struct Host<S, F = ()> {
    queue: Queue<S>,
    follower: F,
}

impl<S: Scheduler, F: Follower> Host<S, F> {
    /// `queue`, as `follower` sees it from now on.
    pub fn new(queue: Queue<S>, follower: F) -> Self {
        Host { queue, follower }
    }

    /// The queue.
    #[inline]
    pub fn queue(&self) -> &Queue<S> {
        &self.queue
    }

    /// The follower.
    #[inline]
    pub fn follower(&self) -> &F {
        &self.follower
    }

    /// Both, to be changed.
    #[inline]
    pub fn parts(&mut self) -> (&mut Queue<S>, &mut F) {
        (&mut self.queue, &mut self.follower)
    }

    /// Both, apart again.
    pub fn into_parts(self) -> (Queue<S>, F) {
        (self.queue, self.follower)
    }

    /// The time of a call at `now`.
    #[inline]
    pub fn at(&self, now: Instant) -> Instant {
        now.max(self.queue.now())
    }

    /// Adds `request`, which arrives now, under any free id.
    ///
    /// # Errors
    /// [`HostError::Full`].
    #[inline]
    pub fn insert(&mut self, now: Instant, request: Request) -> Result<Inserted, HostError> {
        let id = self.queue.requests().any_free().ok_or(HostError::Full)?;
        self.insert_as(now, id, request)
    }

    /// Adds `request`, which arrives now, under an id that the host chose.
    ///
    /// # Errors
    /// [`HostError::BeyondCapacity`], [`HostError::WrongState`] if the id is in use.
    #[inline]
    pub fn insert_as(
        &mut self,
        now: Instant,
        id: RequestId,
        request: Request,
    ) -> Result<Inserted, HostError> {
        let now = self.at(now);
        let inserted = self.queue.insert_as(now, id, request)?;
        if self.follower.follows() {
            self.follower.inserted(inserted, &Request { arrival: now, ..request });
        }
        Ok(inserted)
    }

    /// Asks what the device, which has room, should do next. What is given out goes to the device now.
    ///
    /// # Errors
    /// None: the time never goes back.
    #[inline]
    pub fn dispatch(&mut self, now: Instant) -> Result<scheduler::Decision, HostError> {
        let now = self.at(now);
        let decision = self.queue.dispatch(now)?;
        if let scheduler::Decision::Dispatch(id) = decision {
            self.follower.dispatched(now, id);
        }
        Ok(decision)
    }

    /// The device has finished `id` and its parts, whose ids are free again.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::BeyondCapacity`].
    #[inline]
    pub fn complete(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        let now = self.at(now);
        if self.follower.follows() {
            self.queue.expect(id, State::InFlight)?;
            let requests = self.queue.requests();
            for part in requests.parts(id) {
                self.follower.completed(now, part, requests.original(part));
            }
        }
        self.queue.complete(now, id)
    }

    /// The device could not take `id` after all. It goes first when the host next asks.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it is in flight, [`HostError::BeyondCapacity`].
    pub fn requeue(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.queue.requeue(self.at(now), id)
    }

    /// Withdraws the waiting request `id` with its parts.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::BeyondCapacity`].
    pub fn cancel(&mut self, now: Instant, id: RequestId) -> Result<(), HostError> {
        self.leaves(id)?;
        self.queue.cancel(self.at(now), id)
    }

    /// The process `who` has exited.
    ///
    /// # Errors
    /// None: the time never goes back.
    pub fn exited(&mut self, now: Instant, who: Issuer) -> Result<(), HostError> {
        let now = self.at(now);
        self.follower.exited(now, who);
        self.queue.issuer_gone(now, who)
    }

    /// The waiting request `id`, to which the host itself has added, has this extent now. Nothing happens if it had.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless it waits, [`HostError::BeyondCapacity`].
    pub fn grown(
        &mut self,
        now: Instant,
        id: RequestId,
        start: Sector,
        length: Sectors,
    ) -> Result<(), HostError> {
        self.queue.expect(id, State::Waiting)?;
        let (now, known) = (self.at(now), *self.queue.request(id));
        if known.start == start && known.length == length {
            return Ok(());
        }
        if self.follower.follows() {
            let first = if start < known.start { start } else { known.end() };
            let more = Sectors(length.0.saturating_sub(known.length.0));
            self.follower.joined(&Request { arrival: now, start: first, length: more, ..known });
        }
        self.queue.grown(now, id, start, length)
    }

    /// The host itself has made the waiting request `taken` a part of `survivor`, which waits too.
    ///
    /// # Errors
    /// [`HostError::WrongState`] unless both wait, [`HostError::BeyondCapacity`].
    pub fn absorbed(&mut self, now: Instant, survivor: RequestId, taken: RequestId) -> Result<(), HostError> {
        self.queue.expect(survivor, State::Waiting)?;
        if survivor != taken {
            self.leaves(taken)?;
        }
        self.queue.absorbed(self.at(now), survivor, taken)
    }

    /// Tells the follower that the waiting request `id` goes away with its parts.
    fn leaves(&mut self, id: RequestId) -> Result<(), HostError> {
        self.queue.expect(id, State::Waiting)?;
        if self.follower.follows() {
            let requests = self.queue.requests();
            requests.parts(id).for_each(|part| self.follower.left(requests.original(part)));
        }
        Ok(())
    }
}

impl Host<AnyScheduler, Chooser> {
    /// A queue for up to `capacity` requests, under the scheduler with which `chooser` begins.
    ///
    /// # Errors
    /// [`BuildError`] if memory is exhausted.
    pub fn choosing(capacity: usize, device: Device, chooser: Chooser) -> Result<Self, BuildError> {
        let Candidate { entry, settings } = chooser.candidate();
        Ok(Host::new(Queue::new(capacity, device, entry, settings)?, chooser))
    }

    /// Lets the selector decide if its period is over, and carries a switch out. To be called at
    /// [`Chooser::next_tick`]. A selector that asks for predictions gets none here.
    ///
    /// # Errors
    /// [`SwitchError`] if memory is exhausted; the old scheduler then goes on.
    pub fn tick(&mut self, now: Instant) -> Result<Option<Decision>, SwitchError> {
        let now = self.at(now);
        let Some((_, decision)) = self.follower.due(now) else { return Ok(None) };
        if let Action::Switch(_) = decision.action {
            self.follower.candidate().take_over(now, &mut self.queue)?;
        }
        Ok(Some(decision))
    }
}

impl Candidate {
    /// Goes on with this scheduler in `queue`.
    ///
    /// # Errors
    /// [`SwitchError`]; the old scheduler then goes on.
    pub fn take_over(&self, now: Instant, queue: &mut Queue<AnyScheduler>) -> Result<(), SwitchError> {
        queue.switch_to(now, self.entry, &self.settings)
    }
}

/// A chooser by `entry` among its usual candidates, for a queue of `capacity` request ids. Its first period begins at
/// `now`. `words` are settings of the selector, as [`settings`] reads them.
///
/// # Errors
/// [`ChooserError`] if a setting does not fit or memory is exhausted.
pub fn chooser(entry: &Entry, capacity: usize, now: Instant, words: &str) -> Result<Chooser, ChooserError> {
    let candidates = entry.field()?;
    let pairs = words.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")));
    let settings = settings(entry.tunables, pairs)?;
    let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
    let mut chooser = Chooser::new(entry, capacity, setup, &settings)?;
    chooser.begin(now);
    Ok(chooser)
}

/// The settings that pairs of a name and a value say, of a scheduler or selector with the tunables of `table`.
///
/// # Errors
/// [`BuildError`] if a setting does not fit or memory is exhausted.
pub fn settings<'a>(
    table: &'static [Tunable],
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Assignment<'static>>, BuildError> {
    let mut settings = Vec::new();
    for (name, value) in pairs {
        let tunable = table.iter().find(|tunable| tunable.name == name);
        let tunable = tunable.ok_or(TunableError::Unknown(table))?;
        settings.try_reserve(1).map_err(|_| OutOfMemory)?;
        settings.push((tunable.name, tunable.parse(value)?));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::*;
    use crate::device::Merging;
    use crate::selectors::registry::find;

    /// Writes down what it is told.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Follower for Told {
        fn inserted(&mut self, inserted: Inserted, request: &Request) {
            self.0.push(format!("{} came at {}", inserted.id(), request.arrival.0));
        }
        fn joined(&mut self, piece: &Request) {
            self.0.push(format!("{}+{} joined at {}", piece.start.0, piece.length.0, piece.arrival.0));
        }
        fn left(&mut self, request: &Request) {
            self.0.push(format!("{} left", request.start.0));
        }
        fn dispatched(&mut self, now: Instant, id: RequestId) {
            self.0.push(format!("{id} goes at {}", now.0));
        }
        fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
            self.0.push(format!("{id} of {} done at {}", request.length.0, now.0));
        }
        fn exited(&mut self, now: Instant, who: Issuer) {
            self.0.push(format!("{} exits at {}", who.0, now.0));
        }
    }

    fn host(merging: Merging) -> Host<AnyScheduler, Told> {
        let device = Device { merging, ..Device::default() };
        let noop = crate::registry::find("noop").unwrap();
        Host::new(Queue::new(4, device, noop, &[]).unwrap(), Told::default())
    }

    fn read(start: u64) -> Request {
        Request::read(Sector(start), Sectors(8))
    }

    #[test]
    fn the_follower_is_told_of_all_and_time_stands_still_rather_than_going_back() {
        let mut host = host(Merging::All);
        host.insert(Instant(5), read(0)).unwrap();
        host.insert(Instant(3), read(8)).unwrap();
        let scheduler::Decision::Dispatch(id) = host.dispatch(Instant(7)).unwrap() else {
            panic!("one waits")
        };
        host.complete(Instant(6), id).unwrap();
        host.exited(Instant(9), Issuer(3)).unwrap();
        let said =
            "#0 came at 5, #1 came at 5, #0 goes at 7, #0 of 8 done at 7, #1 of 8 done at 7, 3 exits at 9";
        assert_eq!(host.follower().0.join(", "), said);
    }

    #[test]
    fn a_host_that_merges_tells_of_pieces() {
        let mut host = host(Merging::Off);
        for (id, start) in [(0, 0), (1, 16), (2, 400)] {
            host.insert_as(Instant(1), RequestId(id), read(start)).unwrap();
        }
        host.parts().1.0.clear();
        host.grown(Instant(2), RequestId(0), Sector(0), Sectors(16)).unwrap();
        host.grown(Instant(2), RequestId(0), Sector(0), Sectors(16)).unwrap();
        host.absorbed(Instant(3), RequestId(0), RequestId(1)).unwrap();
        host.cancel(Instant(4), RequestId(2)).unwrap();
        assert_eq!(host.follower().0, ["8+8 joined at 2", "16 left", "400 left"]);
        assert_eq!(host.queue().request(RequestId(0)).length, Sectors(24));
    }

    #[test]
    fn a_mistake_of_the_host_is_an_error_and_nobody_is_told() {
        let mut host = host(Merging::Off);
        host.insert_as(Instant(1), RequestId(0), read(0)).unwrap();
        host.parts().1.0.clear();
        let (here, gone, beyond) = (RequestId(0), RequestId(1), RequestId(9));
        assert!(host.insert_as(Instant(1), here, read(0)).is_err());
        assert!(host.absorbed(Instant(1), here, here).is_err());
        for id in [gone, beyond] {
            assert!(host.cancel(Instant(1), id).is_err() && host.complete(Instant(1), id).is_err());
            assert!(host.grown(Instant(1), id, Sector(0), Sectors(16)).is_err());
            assert!(host.absorbed(Instant(1), here, id).is_err());
        }
        assert!(host.complete(Instant(1), here).is_err());
        assert!(host.follower().0.is_empty(), "{:?}", host.follower().0);
    }

    #[test]
    fn a_setting_that_does_not_fit_is_said() {
        let wrong = |words| chooser(find("auto-matrix").unwrap(), 16, Instant::ZERO, words).err().unwrap();
        assert!(wrong("gaol=mean").to_string().starts_with("no such tunable; there are period"));
        assert!(wrong("goal").to_string().contains("goal wants one of lowest"));
        assert!(wrong("manual=5").to_string().contains("there are 4 candidates"));
    }
}
