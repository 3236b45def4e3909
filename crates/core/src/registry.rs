//! Finding, describing and building schedulers by name.
//!
//! `registry!` is given the modules of `schedulers/` and the types in each. From that list come
//! the modules themselves, [`AnyScheduler`] and the table of [`Entry`]s that
//! everything which enumerates schedulers reads.

use core::fmt;

use crate::collections::OutOfMemory;
use crate::request::Priority;
use crate::scheduler::{Setup, Standing, Starvation};
use crate::schedulers::{AnyScheduler, ENTRIES};
use crate::tunables::{Tunable, TunableError, Unit};

/// A tunable by name, and the value that it shall have.
pub type Assignment<'a> = (&'a str, u64);

/// One scheduler of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// Its tunables.
    pub tunables: &'static [Tunable],
    pub(crate) build: fn(Setup<'_>, &[Assignment<'_>]) -> Result<AnyScheduler, BuildError>,
    pub(crate) standing: fn(Priority) -> Standing,
    pub(crate) starvation: fn(&[Assignment<'_>]) -> Result<Starvation, TunableError>,
    #[cfg(test)]
    pub(crate) reference: fn(Setup<'_>, &[Assignment<'_>]) -> Reference,
}

/// The slow form of a scheduler.
#[cfg(test)]
pub(crate) type Reference = Result<alloc::boxed::Box<dyn crate::scheduler::Scheduler>, BuildError>;

/// Why a scheduler could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// Its memory could not be allocated.
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
    pub fn standing(&self, priority: Priority) -> impl Iterator<Item = (&'static str, u64, Unit)> {
        (self.standing)(priority).into_iter().flatten()
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

/// The scheduler called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The settings of `T` with these assignments.
///
/// # Errors
/// [`TunableError`] if one does not fit.
pub fn settings<T: crate::tunables::Tunables>(from: &[Assignment<'_>]) -> Result<T, TunableError> {
    let mut settings = T::defaults();
    for (name, value) in from {
        let index = T::find(name)?;
        settings.put(index, T::TABLE[index].check(*value)?);
    }
    Ok(settings)
}

/// The calls that each request makes, as a function of each scheduler: inlined into one they would share a frame on
/// the stack, as large as the largest needs. A [`Cx`] would be handed over in memory; its parts are in registers.
pub(crate) mod calls {
    use crate::device::Device;
    use crate::queue::Table;
    use crate::scheduler::{Cx, Decision, Scheduler};
    use crate::units::{Instant, RequestId};
    use crate::why::Notes;

    #[inline(never)]
    pub(crate) fn insert<S: Scheduler>(
        to: &mut S,
        now: Instant,
        requests: &Table,
        device: &Device,
        id: RequestId,
    ) {
        to.insert(Cx { now, requests, device, notes: None }, id);
    }

    #[inline(never)]
    pub(crate) fn dispatch<S: Scheduler>(
        from: &mut S,
        now: Instant,
        requests: &Table,
        device: &Device,
        notes: Option<&Notes>,
    ) -> Decision {
        from.dispatch(Cx { now, requests, device, notes })
    }

    #[inline(never)]
    pub(crate) fn complete<S: Scheduler>(
        to: &mut S,
        now: Instant,
        requests: &Table,
        device: &Device,
        id: RequestId,
    ) {
        to.complete(Cx { now, requests, device, notes: None }, id);
    }
}

/// Declares the modules of `schedulers/`, each with the types that it registers.
macro_rules! registry {
    ($($module:ident: $($kind:ident),+;)*) => {
        $(pub mod $module;)*

        /// Any scheduler of the registry.
        pub enum AnyScheduler {$($(
            #[doc = concat!("[`", stringify!($module), "::", stringify!($kind), "`]")]
            $kind($crate::collections::Kept<$module::$kind>),
        )+)*}

        /// Calls `$body` with the scheduler inside.
        macro_rules! each {
            ($any:expr, $inner:ident => $body:expr) => {
                match $any {$($(AnyScheduler::$kind($inner) => $body,)+)*}
            };
        }

        pub(crate) static ENTRIES: &[$crate::registry::Entry] = &[$($($crate::registry::Entry {
            name: <$module::$kind as $crate::scheduler::Algorithm>::NAME,
            summary: <$module::$kind as $crate::scheduler::Algorithm>::SUMMARY,
            source: <$module::$kind as $crate::scheduler::Algorithm>::SOURCE,
            tunables: <<$module::$kind as $crate::scheduler::Algorithm>::Tunables as Tunables>::TABLE,
            build: |setup, from| {
                let tunables = $crate::registry::settings(from)?;
                Ok(AnyScheduler::$kind($crate::collections::Kept::new(|| {
                    <$module::$kind as Algorithm>::new(setup, tunables)
                })?))
            },
            standing: |priority| {
                type Settings = <$module::$kind as $crate::scheduler::Algorithm>::Tunables;
                <$module::$kind as Algorithm>::standing(&<Settings as Tunables>::defaults(), priority)
            },
            starvation: |from| {
                Ok(<$module::$kind as Algorithm>::starvation(&$crate::registry::settings(from)?))
            },
            #[cfg(test)]
            reference: |setup, from| {
                Ok(<$module::$kind as Algorithm>::reference(setup, $crate::registry::settings(from)?))
            },
        },)+)*];

        impl AnyScheduler {
            /// Its name in the registry.
            pub fn name(&self) -> &'static str {
                fn name<A: Algorithm>(_: &A) -> &'static str {
                    A::NAME
                }
                each!(self, inner => name(&**inner))
            }

            /// Its tunables.
            pub fn tunables(&self) -> &'static [$crate::tunables::Tunable] {
                fn table<A: Algorithm>(_: &A) -> &'static [$crate::tunables::Tunable] {
                    A::Tunables::TABLE
                }
                each!(self, inner => table(&**inner))
            }

            /// The value of the tunable `name`.
            ///
            /// # Errors
            /// [`TunableError::Unknown`].
            pub fn get(&self, name: &str) -> Result<u64, TunableError> {
                fn get<A: Algorithm>(of: &A, name: &str) -> Result<u64, TunableError> {
                    Ok(of.tunables().get(A::Tunables::find(name)?))
                }
                each!(self, inner => get(&**inner, name))
            }

            /// Sets the tunable `name`.
            ///
            /// # Errors
            /// [`TunableError::Unknown`], [`TunableError::OutOfRange`].
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), TunableError> {
                fn set<A: Algorithm>(of: &mut A, name: &str, value: u64) -> Result<(), TunableError> {
                    let index = A::Tunables::find(name)?;
                    let value = A::Tunables::TABLE[index].check(value)?;
                    let mut tunables = of.tunables();
                    tunables.put(index, value);
                    of.set_tunables(tunables);
                    Ok(())
                }
                each!(self, inner => set(&mut **inner, name, value))
            }
        }

        impl Scheduler for AnyScheduler {
            #[inline]
            fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
                each!(self, inner => calls::insert(&mut **inner, cx.now, cx.requests, cx.device, id))
            }
            #[inline]
            fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
                each!(self, inner => calls::dispatch(&mut **inner, cx.now, cx.requests, cx.device, cx.notes))
            }
            #[inline]
            fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
                each!(self, inner => calls::complete(&mut **inner, cx.now, cx.requests, cx.device, id))
            }
            fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
                each!(self, inner => inner.remove(cx, id))
            }
            fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
                each!(self, inner => inner.grown(cx, id))
            }
            fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
                each!(self, inner => inner.absorbed(cx, survivor, other))
            }
            fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
                each!(self, inner => inner.issuer_gone(cx, who))
            }
            fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
                each!(self, inner => inner.adopt(cx, id))
            }
            #[inline]
            fn front_merges(&self) -> bool {
                each!(self, inner => inner.front_merges())
            }
            #[inline]
            fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
                each!(self, inner => inner.may_merge(cx, id, new))
            }
            #[inline]
            fn quota(&self, size: usize) -> $crate::room::Quota {
                each!(self, inner => inner.quota(size))
            }
        }
    };
}

pub(crate) use registry;
