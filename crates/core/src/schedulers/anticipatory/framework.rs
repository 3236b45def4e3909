//! The anticipation core: three states around an inner scheduler that, by itself, never waits (SOSP'01 §3.2).
//! In code the inner scheduler is the `policy`, a [`Policy`].
//!
//! The disk is *idle* when no request waits, *busy* when one is in service. When the disk falls idle,
//! and when a request arrives:
//! 1. The inner scheduler names a candidate.
//! 2. If the process whose request was completed last has a request waiting, the candidate is served:
//!    nothing else can come of that process.
//! 3. Else the heuristic says whether to wait for that process, and how long. If not, the candidate is
//!    served.
//! 4. Else the disk *waits*. The timeout is set once: an arrival during the wait repeats 1 to 3, and
//!    the end of the wait stays. Then the last candidate is served.
//!
//! Synchronous requests make statistics, and are waited for; after an asynchronous one there is no
//! wait. The parts of a request that a file system split and flagged count as one.

use super::heuristics::{Heuristic, NextRequest};
use super::levels::{Collecting, Keys, Level, Levels};
use super::statistics::{BUCKET, Percentile};
use crate::collections::{OutOfMemory, TryBox};
use crate::device::Device;
use crate::learned::{Learned, PositioningMeter};
use crate::request::Request;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Setup, Starvation, delegate};
use crate::tunables::{Count, Microseconds, Percent, Preset};
use crate::units::{Duration, Instant, Issuer, RequestId, Sector};

crate::choices! {
    /// Where the expected positioning time of a process comes from (SOSP'01 §3.3 names both).
    pub enum Expectation {
        /// The distance of each of its requests from its one before, on the learned curve.
        Distance = "distance",
        /// What was measured when its requests were completed.
        Measured = "measured",
    }
}

crate::tunables! {
    /// Tunables of every anticipatory scheduler.
    pub struct Settings {
        /// Requests that the device gets at once; 0: one where heads move, else as many as it takes. More let it reorder, but there is a wait only when it has none.
        in_device: Count = 0, 0..=1024;
        /// Whether a request that finds the disk idle may be made to wait too.
        idle_waits: bool = 1, 0..=1;
        /// Where the expected positioning time of a process comes from: the distances between its requests, or what was measured.
        expectation: Expectation = 0, 0..=1;
        /// Of which think times a wait covers 95 %: those below 15 ms, or all, as in the paper.
        percentile: Percentile = 0, 0..=1;
        /// What the timer counts in: a wait ends at its next multiple. 0: exactly when it is to end.
        timer: Microseconds = 0, 0..=1_000_000;
        /// Statistics are dropped when think times scatter by more than this percentage of their mean; 0: never.
        reset_spread: Percent = 0, 0..=10_000;
        /// No wait for a process if more than this percentage of its think times were longer than expected; 0: always wait.
        miss_limit: Percent = 0, 0..=100;
        /// Whether statistics are also kept of groups of processes and regions of the disk, and the most consistent ones trusted.
        levels: bool = 0, 0..=1;
    }
}

impl Settings {
    /// The most requests that `device` gets at once.
    #[inline]
    pub(crate) fn most_in(&self, device: &Device) -> u64 {
        match self.in_device.0 {
            0 if device.rotational => 1,
            0 => u64::MAX,
            most => most,
        }
    }

    fn collecting(&self) -> Collecting {
        Collecting {
            on_all_levels: self.levels,
            reset_spread: self.reset_spread.0,
            measured: self.expectation == Expectation::Measured,
            percentile: self.percentile,
        }
    }
}

crate::groups! {
    /// The tunables of an inner scheduler, of its heuristic, and of the framework.
    pub struct All[P: Algorithm + Policy, H: Heuristic<P>] [P, H] {
        /// The inner scheduler's.
        policy: P::Tunables,
        /// The heuristic's.
        heuristic: H::Tunables,
        /// The framework's.
        framework: Preset<Settings, H::Presets>,
    }
}

/// A completion that may be followed by another request of the same process.
#[derive(Clone, Copy)]
struct LastProcess {
    who: Issuer,
    keys: Keys,
    at: Instant,
    /// The rest of a larger request follows.
    in_parts: bool,
}

/// A wait under way.
#[derive(Clone, Copy)]
struct Wait {
    until: Instant,
    /// The request to serve then; `None` after an event that may have changed it.
    candidate: Option<RequestId>,
}

/// An inner scheduler that may wait, as its heuristic says.
pub struct Anticipatory<P: Algorithm + Policy, H: Heuristic<P>> {
    policy: P,
    levels: TryBox<Levels>,
    learned: TryBox<Learned>,
    meter: PositioningMeter,
    /// Where the last request dispatched ends.
    head: Sector,
    /// Requests that wait, and requests in the device.
    waiting: u32,
    in_flight: u32,
    last: Option<LastProcess>,
    wait: Option<Wait>,
    /// When the first request came; from then on the timer ticks.
    started: Option<Instant>,
    tunables: All<P, H>,
}

/// Whether a wait that saves this much positioning time may pay. Without heads that takes as much as think times are
/// known by: less is what the device happened to be busy with.
#[inline]
fn may_pay(cx: Cx<'_>, saved: impl FnOnce() -> Duration) -> bool {
    cx.device.rotational || saved() >= BUCKET
}

/// Longest name of a scheduler.
const NAME_MAX: usize = 32;

/// "antic-" and a name, at compile time.
const fn named(name: &str) -> ([u8; NAME_MAX], usize) {
    let (prefix, name) = (b"antic-", name.as_bytes());
    let mut joined = [0; NAME_MAX];
    let mut at = 0;
    while at < prefix.len() + name.len() {
        joined[at] = if at < prefix.len() { prefix[at] } else { name[at - prefix.len()] };
        at += 1;
    }
    (joined, at)
}

impl<P: Algorithm + Policy, H: Heuristic<P>> Anticipatory<P, H> {
    const NAMED: ([u8; NAME_MAX], usize) = named(if H::LABEL.is_empty() { P::NAME } else { H::LABEL });

    #[inline]
    fn settings(&self) -> &Settings {
        &self.tunables.framework
    }

    /// Something happened that may change the candidate or the wish to wait for it.
    fn disturbed(&mut self) {
        if let Some(wait) = &mut self.wait {
            wait.candidate = None;
        }
    }

    /// The synchronous request `id` is now in the queue.
    #[inline(always)]
    fn arrives(&mut self, cx: Cx<'_>, id: RequestId) {
        if may_pay(cx, || self.learned.curve.spread()) {
            let (curve, start) = (&self.learned.curve, cx[id].start);
            self.levels.arrives(cx, id, |from| curve.expected(from, start));
        }
    }

    /// Whether to wait rather than serve `candidate`, and until when.
    fn rather_waits(&self, cx: Cx<'_>, candidate: RequestId) -> Option<Instant> {
        let last = self.last.filter(|last| !last.in_parts && last.who != cx[candidate].issuer)?;
        let Some((level, statistics, expected)) = self.levels.most_consistent(last.keys) else {
            cx.rather("no wait for process {}, of which nothing is known", || [last.who.into()]);
            return None;
        };
        if self.levels.waits(last.keys, Level::Process) || self.levels.waits(last.keys, level) {
            cx.rather("process {} waits itself", || [last.who.into()]);
            return None;
        }
        let limit = self.settings().miss_limit.0;
        if limit > 0 && statistics.miss_percent() > limit {
            let facts = || [last.who.into(), statistics.miss_percent().into(), level.word().into()];
            cx.rather("no wait for process {}: {} % of the {}'s think times surprised", facts);
            return None;
        }
        let positioning = self.learned.curve.expected(self.head, cx[candidate].start);
        if !may_pay(cx, || positioning - expected.positioning) {
            let facts = || [last.who.into(), (positioning - expected.positioning).into()];
            cx.rather("no wait for process {}: no heads move, and it would save {}", facts);
            return None;
        }
        let candidate = NextRequest {
            cx,
            id: candidate,
            positioning,
            forward: cx[candidate].start >= self.head,
            last: last.who,
            elapsed: cx.now.since(last.at),
            expected,
        };
        let time = H::wait(&self.policy, &candidate, &self.tunables.heuristic)?;
        Some(self.ticks(cx.now + time)).filter(|until| *until > cx.now)
    }

    /// When the timer next goes off, at `time` or later.
    fn ticks(&self, time: Instant) -> Instant {
        match (self.settings().timer.0.0, self.started) {
            (0, _) | (_, None) => time,
            (tick, Some(started)) => started + Duration(time.since(started).0.next_multiple_of(tick)),
        }
    }

    /// The candidate goes to the device.
    fn send(&mut self, cx: Cx<'_>, id: RequestId) -> Decision {
        self.wait = None;
        self.policy.take(cx, id);
        let request = &cx[id];
        self.meter.dispatched(cx.now, request.start, request.length);
        self.head = request.end();
        (self.waiting, self.in_flight) = (self.waiting - 1, self.in_flight + 1);
        self.levels.dispatched(id);
        Decision::Dispatch(id)
    }

    /// The disk is not busy and `candidate` waits: serve it or wait.
    fn decide(&mut self, cx: Cx<'_>, candidate: RequestId) -> Decision {
        match (self.rather_waits(cx, candidate), self.wait) {
            (None, _) => self.send(cx, candidate),
            // The first timeout stands.
            (Some(_), Some(wait)) => {
                self.wait = Some(Wait { candidate: Some(candidate), ..wait });
                Decision::WaitUntil(wait.until)
            }
            (Some(until), None) => {
                self.wait = Some(Wait { until, candidate: Some(candidate) });
                Decision::WaitUntil(until)
            }
        }
    }

    /// What a wait under way comes to, if nothing happened but time.
    fn waiting(&mut self, cx: Cx<'_>) -> Option<Decision> {
        let wait = self.wait?;
        if cx.now < wait.until {
            wait.candidate?;
            cx.because("still waits, until {}", || [wait.until.into()]);
            return Some(Decision::WaitUntil(wait.until));
        }
        let candidate = wait.candidate.or_else(|| self.policy.select(cx))?;
        if let Some(last) = self.last.take().filter(|last| !self.levels.waits(last.keys, Level::Process)) {
            cx.rather("process {} has not come", || [last.who.into()]);
            self.levels.expired(last.keys);
        }
        Some(self.send(cx, candidate))
    }
}

impl<P: Algorithm + Policy + 'static, H: Heuristic<P>> Algorithm for Anticipatory<P, H> {
    const NAME: &'static str = {
        let (bytes, length): &'static ([u8; NAME_MAX], usize) = &Self::NAMED;
        match core::str::from_utf8(bytes.split_at(*length).0) {
            Ok(name) => name,
            Err(_) => panic!("a name is text"),
        }
    };
    const SUMMARY: &'static str = H::SUMMARY;
    const SOURCE: &'static str = H::SOURCE;
    type Tunables = All<P, H>;

    fn new(setup: Setup<'_>, tunables: Self::Tunables) -> Result<Self, OutOfMemory> {
        Ok(Anticipatory {
            policy: P::new(setup, tunables.policy)?,
            levels: Levels::new(setup.capacity, tunables.framework.collecting())?,
            learned: TryBox::room()?.keep(setup.device.learned.clone())?,
            meter: PositioningMeter::default(),
            head: Sector(0),
            waiting: 0,
            in_flight: 0,
            last: None,
            wait: None,
            started: None,
            tunables,
        })
    }

    fn tune(&mut self, tunables: Self::Tunables) {
        self.policy.tune(tunables.policy);
        self.levels.tune(tunables.framework.collecting());
        self.tunables = tunables;
        self.disturbed();
    }

    /// The inner scheduler's. A wait takes time, but changes nobody's place; the candidate of a wait that runs out
    /// may pass one that became due meanwhile.
    fn starvation(tunables: &Self::Tunables) -> Starvation {
        match P::starvation(&tunables.policy) {
            Starvation::Bounded { after, per_waiting, plus } => {
                Starvation::Bounded { after, per_waiting, plus: plus + 1 }
            }
            other => other,
        }
    }
}

/// Where the wrapper differs from the inner scheduler; all other calls go to the inner scheduler alone.
macro_rules! around {
    ($own:ident, insert $(, $argument:ident)*) => { $own.inserted($($argument),*) };
    ($own:ident, dispatch $(, $argument:ident)*) => { $own.next($($argument),*) };
    ($own:ident, complete $(, $argument:ident)*) => { $own.completed($($argument),*) };
    ($own:ident, remove $(, $argument:ident)*) => { $own.removed($($argument),*) };
    ($own:ident, grown $(, $argument:ident)*) => { $own.has_grown($($argument),*) };
    ($own:ident, absorbed $(, $argument:ident)*) => { $own.has_absorbed($($argument),*) };
    ($own:ident, issuer_gone $(, $argument:ident)*) => { $own.has_exited($($argument),*) };
    ($own:ident, adopt $(, $argument:ident)*) => { $own.adopted($($argument),*) };
    ($own:ident, may_merge $(, $argument:ident)*) => { $own.merges($($argument),*) };
    ($own:ident, learned) => { Some(&*$own.learned) };
    ($own:ident, inherit, $learned:ident) => { $own.is_told($learned) };
    ($own:ident, $method:ident $(, $argument:ident)*) => { $own.policy.$method($($argument),*) };
}
delegate!([P: Algorithm + Policy, H: Heuristic<P>] Anticipatory<P, H>, around);

impl<P: Algorithm + Policy, H: Heuristic<P>> Anticipatory<P, H> {
    fn inserted(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting += 1;
        self.started.get_or_insert(cx.now);
        if cx[id].sync {
            self.arrives(cx, id);
        }
        self.policy.insert(cx, id);
        self.disturbed();
    }

    fn next(&mut self, cx: Cx<'_>) -> Decision {
        if u64::from(self.in_flight) >= self.settings().most_in(cx.device) {
            return Decision::Idle;
        }
        if let Some(decision) = self.waiting(cx) {
            return decision;
        }
        match self.policy.select(cx) {
            None => {
                self.wait = None;
                Decision::Idle
            }
            Some(candidate) if self.in_flight > 0 => self.send(cx, candidate),
            Some(candidate) => self.decide(cx, candidate),
        }
    }

    fn completed(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let measured = self.meter.completed(cx.now, &mut self.learned);
        self.policy.complete(cx, id);
        self.levels.completes(cx, id, measured);
        let request = &cx[id];
        let awaited = request.sync && may_pay(cx, || self.learned.curve.spread());
        self.last = awaited.then(|| LastProcess {
            who: request.issuer,
            keys: self.levels.keys(request),
            at: cx.now,
            in_parts: request.more_follows,
        });
        if self.waiting == 0 && !self.settings().idle_waits {
            self.last = None;
        }
    }

    fn removed(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting -= 1;
        self.levels.withdrawn(id);
        self.policy.remove(cx, id);
        self.disturbed();
    }

    fn has_grown(&mut self, cx: Cx<'_>, id: RequestId) {
        if self.levels.tracks(id) {
            self.levels.extends(cx, id);
        } else if cx[id].sync {
            self.arrives(cx, id);
        }
        self.policy.grown(cx, id);
        self.disturbed();
    }

    fn has_absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.waiting -= 1;
        self.levels.absorbed(survivor, other);
        self.policy.absorbed(cx, survivor, other);
        self.disturbed();
    }

    fn has_exited(&mut self, cx: Cx<'_>, who: Issuer) {
        self.policy.issuer_gone(cx, who);
        self.levels.gone(who);
        if self.last.is_some_and(|last| last.who == who) && !self.settings().levels {
            self.last = None;
        }
        self.disturbed();
    }

    fn adopted(&mut self, cx: Cx<'_>, id: RequestId) {
        self.in_flight += 1;
        self.meter.adopted();
        self.policy.adopt(cx, id);
    }

    fn is_told(&mut self, learned: &Learned) {
        self.learned.clone_from(learned);
        self.policy.inherit(learned);
    }

    /// Only with a request of the same process: of a request that vanished into another's, the
    /// process that is waited for would be waited for in vain.
    fn merges(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        (cx[id].issuer == new.issuer || !new.sync) && self.policy.may_merge(cx, id, new)
    }
}
