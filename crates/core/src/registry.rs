//! Finding, describing and building schedulers by name. The list itself is in `schedulers.rs`.
//!
//! From it come [`AnyScheduler`], the table of [`Entry`]s that everything
//! which enumerates schedulers reads, and the [`source`] of each, whose head is its page in the manual.

use core::fmt;
use core::ops::Deref;

use crate::collections::{OutOfMemory, TryBox};
use crate::device::Device;
use crate::queue::{HostError, Queue};
use crate::request::Priority;
use crate::request_table::Table;
#[cfg(not(test))]
use crate::scheduler::Algorithm as Registered;
use crate::scheduler::{Algorithm, Cx, Decision, PriorityEffects, Scheduler, Setup, Starvation, delegate};
use crate::schedulers::{self, registered};
#[cfg(test)]
use crate::suites::Referenced as Registered;
use crate::tunables::{Tunable, TunableError, Tunables, Unit};
use crate::units::{Instant, RequestId};
use crate::why::Notes;

/// A tunable by name, and its new value.
pub type Assignment<'a> = (&'a str, u64);

/// One scheduler of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The scheduler's name.
    pub name: &'static str,
    /// The family whose folder holds it.
    pub family: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// The scheduler's tunables.
    pub tunables: &'static [Tunable],
    pub(crate) build: fn(Setup<'_>, &[Assignment<'_>]) -> Result<AnyScheduler, BuildError>,
    pub(crate) priority_effects: fn(Priority) -> PriorityEffects,
    pub(crate) starvation: fn(&[Assignment<'_>]) -> Result<Starvation, TunableError>,
    #[cfg(test)]
    pub(crate) reference: fn(Setup<'_>, &[Assignment<'_>]) -> Reference,
}

/// The slow form of a scheduler.
#[cfg(test)]
pub(crate) type Reference = Result<alloc::boxed::Box<dyn Scheduler>, BuildError>;

/// Why a scheduler could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The scheduler's memory could not be allocated.
    OutOfMemory,
    /// A setting does not fit.
    Tunable(TunableError),
}

impl From<OutOfMemory> for BuildError {
    fn from(_: OutOfMemory) -> Self {
        BuildError::OutOfMemory
    }
}

impl From<TunableError> for BuildError {
    fn from(error: TunableError) -> Self {
        BuildError::Tunable(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::OutOfMemory => OutOfMemory.fmt(f),
            BuildError::Tunable(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {}

impl Entry {
    /// Builds the scheduler with these settings; all others are at their defaults.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    pub fn build(&self, setup: Setup<'_>, settings: &[Assignment<'_>]) -> Result<AnyScheduler, BuildError> {
        (self.build)(setup, settings)
    }

    /// What an I/O priority gives its process by default: what it is called, how much, and in which unit.
    /// Nothing if the scheduler does not look at priorities.
    pub fn priority_effects(&self, priority: Priority) -> impl Iterator<Item = (&'static str, u64, Unit)> {
        (self.priority_effects)(priority).into_iter().flatten()
    }

    /// How long a request can be passed over under these settings.
    ///
    /// # Errors
    /// [`TunableError`] if a setting does not fit.
    pub fn starvation(&self, settings: &[Assignment<'_>]) -> Result<Starvation, TunableError> {
        (self.starvation)(settings)
    }
}

/// All schedulers, in the registry's order.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// What the kernel modules put before the name of a scheduler if the kernel has one of that name.
pub const TAKEN_PREFIX: &str = "iw-";

/// What today's Linux calls `noop`.
pub const NONE: &str = "none";

/// The scheduler called `name`, in capitals or not; [`NONE`] is `noop`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let name = if name.eq_ignore_ascii_case(NONE) { "noop" } else { name };
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// The settings of `T` with these assignments.
///
/// # Errors
/// [`TunableError`] if one does not fit.
pub fn settings<T: Tunables>(from: &[Assignment<'_>]) -> Result<T, TunableError> {
    let mut settings = T::defaults();
    for (name, value) in from {
        let index = T::find(name)?;
        settings.put(index, T::TABLE[index].check(*value)?);
    }
    Ok(settings)
}

/// The calls that each request makes, as a function of each scheduler: inlined into one they would share a frame on
/// the stack, as large as the largest needs. A [`Cx`] would be handed over in memory; its parts are in registers.
mod calls {
    use super::{Cx, Decision, Device, Instant, Notes, RequestId, Scheduler, Table};

    #[inline(never)]
    pub(super) fn insert<S: Scheduler>(
        to: &mut S,
        now: Instant,
        table: &Table,
        device: &Device,
        id: RequestId,
    ) {
        to.insert(Cx::new(now, table, device, None), id);
    }

    #[inline(never)]
    pub(super) fn dispatch<S: Scheduler>(
        from: &mut S,
        now: Instant,
        table: &Table,
        device: &Device,
        notes: Option<&Notes>,
    ) -> Decision {
        from.dispatch(Cx::new(now, table, device, notes))
    }

    #[inline(never)]
    pub(super) fn complete<S: Scheduler>(
        to: &mut S,
        now: Instant,
        table: &Table,
        device: &Device,
        id: RequestId,
    ) {
        to.complete(Cx::new(now, table, device, None), id);
    }
}

/// A scheduler, and beside it the settings that it was last given.
pub struct Tuned<A: Algorithm> {
    scheduler: A,
    tunables: A::Tunables,
}

impl<A: Algorithm> Tuned<A> {
    fn new(setup: Setup<'_>, from: &[Assignment<'_>]) -> Result<TryBox<Tuned<A>>, BuildError> {
        let tunables = settings(from)?;
        let room = TryBox::room()?;
        Ok(room.keep(Tuned { scheduler: A::new(setup, tunables)?, tunables })?)
    }

    fn get(&self, name: &str) -> Result<u64, TunableError> {
        Ok(self.tunables.get(A::Tunables::find(name)?))
    }

    fn set(&mut self, name: &str, value: u64) -> Result<(), TunableError> {
        let index = A::Tunables::find(name)?;
        self.tunables.put(index, A::Tunables::TABLE[index].check(value)?);
        self.scheduler.tune(self.tunables);
        Ok(())
    }
}

impl<A: Algorithm> Deref for Tuned<A> {
    type Target = A;
    fn deref(&self) -> &A {
        &self.scheduler
    }
}

impl Entry {
    /// The entry of `A`, which `build` wraps.
    const fn of<A: Registered>(
        family: &'static str,
        build: fn(Setup<'_>, &[Assignment<'_>]) -> Result<AnyScheduler, BuildError>,
    ) -> Entry {
        Entry {
            name: A::NAME,
            family,
            summary: A::SUMMARY,
            source: A::SOURCE,
            tunables: A::Tunables::TABLE,
            build,
            priority_effects: |priority| A::priority_effects(&A::Tunables::defaults(), priority),
            starvation: |from| Ok(A::starvation(&settings(from)?)),
            #[cfg(test)]
            reference: |setup, from| Ok(A::reference(setup, settings(from)?)),
        }
    }
}

/// Makes the registry of the list.
macro_rules! register {
    ($($family:ident/$module:ident: $kind:ident;)*) => {
        /// Any scheduler of the registry.
        pub enum AnyScheduler {$(
            #[doc = concat!("[`", stringify!($kind), "`](schedulers::", stringify!($family), ")")]
            $kind(TryBox<Tuned<schedulers::$family::$module::$kind>>),
        )*}

        /// Calls `$body` with the scheduler inside and its settings.
        macro_rules! each {
            ($any:expr, $tuned:ident => $body:expr) => {
                match $any {$(AnyScheduler::$kind($tuned) => $body,)*}
            };
        }

        static ENTRIES: &[Entry] = &[$(Entry::of::<schedulers::$family::$module::$kind>(
            stringify!($family),
            |setup, from| Ok(AnyScheduler::$kind(Tuned::new(setup, from)?)),
        ),)*];

        /// The file of the scheduler `name`, whose head is its page in the manual.
        ///
        /// Inlined: a host that has no use for pages has none in its memory.
        #[inline]
        pub fn source(name: &str) -> Option<&'static str> {
            $(
                if name == <schedulers::$family::$module::$kind as Algorithm>::NAME {
                    return Some(include_str!(concat!(
                        "schedulers/", stringify!($family), "/", stringify!($module), ".rs"
                    )));
                }
            )*
            None
        }
    };
}

registered!();

impl AnyScheduler {
    /// The scheduler's name in the registry.
    pub fn name(&self) -> &'static str {
        fn name<A: Algorithm>(_: &Tuned<A>) -> &'static str {
            A::NAME
        }
        each!(self, tuned => name(tuned))
    }

    /// The scheduler's tunables.
    pub fn tunables(&self) -> &'static [Tunable] {
        fn table<A: Algorithm>(_: &Tuned<A>) -> &'static [Tunable] {
            A::Tunables::TABLE
        }
        each!(self, tuned => table(tuned))
    }

    /// The value of the tunable `name`.
    ///
    /// # Errors
    /// [`TunableError::Unknown`].
    pub fn get(&self, name: &str) -> Result<u64, TunableError> {
        each!(self, tuned => tuned.get(name))
    }

    /// Sets the tunable `name`.
    ///
    /// # Errors
    /// [`TunableError::Unknown`], [`TunableError::OutOfRange`].
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), TunableError> {
        each!(self, tuned => tuned.set(name, value))
    }
}

macro_rules! inside {
    ($any:ident, insert, $cx:ident, $id:ident) => {
        each!($any, tuned => calls::insert(&mut tuned.scheduler, $cx.now, $cx.requests, $cx.device, $id))
    };
    ($any:ident, dispatch, $cx:ident) => {
        each!($any, tuned => {
            calls::dispatch(&mut tuned.scheduler, $cx.now, $cx.requests, $cx.device, $cx.notes())
        })
    };
    ($any:ident, complete, $cx:ident, $id:ident) => {
        each!($any, tuned => calls::complete(&mut tuned.scheduler, $cx.now, $cx.requests, $cx.device, $id))
    };
    ($any:ident, $method:ident $(, $argument:ident)*) => {
        each!($any, tuned => tuned.scheduler.$method($($argument),*))
    };
}

delegate!([] AnyScheduler, inside);

impl Queue<AnyScheduler> {
    /// A queue for up to `capacity` requests, waiting or in flight, under the scheduler of `entry`
    /// with these settings.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    pub fn new(
        capacity: usize,
        device: Device,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<Self, BuildError> {
        Queue::with(capacity, device, |setup| entry.build(setup, settings))
    }

    /// Goes on with another scheduler. Waiting requests move over in order of arrival with their
    /// arrival times; requests in flight complete into it. Nothing drains, nobody blocks.
    ///
    /// # Errors
    /// [`SwitchError`]; the old scheduler then continues.
    pub fn switch_to(
        &mut self,
        now: Instant,
        entry: &Entry,
        settings: &[Assignment<'_>],
    ) -> Result<(), SwitchError> {
        let setup = Setup { capacity: self.requests().capacity(), device: self.device() };
        let successor = entry.build(setup, settings)?;
        self.replace(now, successor)?;
        Ok(())
    }

    /// Sets a tunable of the scheduler.
    ///
    /// # Errors
    /// [`TunableError::Unknown`], [`TunableError::OutOfRange`].
    pub fn set(&mut self, tunable: &str, value: u64) -> Result<(), TunableError> {
        self.scheduler_mut().set(tunable, value)
    }
}

/// Why a queue could not switch to another scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchError {
    /// The other scheduler could not be built.
    Build(BuildError),
    /// The call did not fit.
    Host(HostError),
}

impl From<BuildError> for SwitchError {
    fn from(error: BuildError) -> Self {
        SwitchError::Build(error)
    }
}

impl From<HostError> for SwitchError {
    fn from(error: HostError) -> Self {
        SwitchError::Host(error)
    }
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchError::Build(error) => error.fmt(f),
            SwitchError::Host(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SwitchError {}
