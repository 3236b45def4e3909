//! Finding, describing and building selectors by name.
//!
//! `selectors!` is given the modules and the type in each. From that list come the modules,
//! [`AnySelector`] and the table of [`Entry`]s that everything which enumerates selectors reads.

use alloc::vec::Vec;

use super::ENTRIES;
use super::contract::{Candidate, Setup, Tuned};
use crate::collections::OutOfMemory;
use crate::registry::{Assignment, BuildError};
use crate::tunables::Tunable;

pub use super::AnySelector;

/// One selector of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// Whom it chooses among unless told otherwise.
    pub candidates: &'static [&'static str],
    /// And with which other settings.
    pub tuned: &'static [Tuned],
    /// It looks up a matrix, in which its candidates stand.
    pub matrix: bool,
    /// It asks for predictions.
    pub predicts: bool,
    /// It looks up a ranking that is measured beforehand.
    pub ranks: bool,
    /// Its tunables.
    pub tunables: &'static [Tunable],
    pub(super) build: fn(Setup<'_>, &[Assignment<'_>]) -> Result<AnySelector, BuildError>,
}

impl Entry {
    /// Whom it chooses among unless told otherwise.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn field(&self) -> Result<Vec<Candidate>, OutOfMemory> {
        let mut field = Vec::new();
        field.try_reserve_exact(self.candidates.len() + self.tuned.len()).map_err(|_| OutOfMemory)?;
        let plain = self.candidates.iter().map(|name| (*name, &[][..]));
        for (name, from) in plain.chain(self.tuned.iter().copied()) {
            let Some(entry) = crate::registry::find(name) else { continue };
            field.push(Candidate::with(entry, from)?);
        }
        Ok(field)
    }

    /// Builds the selector with these settings; all others are at their defaults.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    ///
    /// # Panics
    /// If there is no candidate.
    pub fn build(&self, setup: Setup<'_>, settings: &[Assignment<'_>]) -> Result<AnySelector, BuildError> {
        assert!(!setup.candidates.is_empty(), "a selector has somebody to choose");
        (self.build)(setup, settings)
    }
}

/// All selectors, in the registry's order.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// The selector called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Declares the modules of selectors, each with the type that it registers.
macro_rules! selectors {
    ($($module:ident: $kind:ident;)*) => {
        $(pub mod $module;)*

        /// Any selector of the registry.
        #[allow(clippy::large_enum_variant, reason = "one lives in each chooser")]
        pub enum AnySelector {$(
            #[doc = concat!("[`", stringify!($module), "::", stringify!($kind), "`]")]
            $kind($module::$kind),
        )*}

        static ENTRIES: &[$crate::selectors::registry::Entry] = &[$($crate::selectors::registry::Entry {
            name: <$module::$kind as Method>::NAME,
            summary: <$module::$kind as Method>::SUMMARY,
            source: <$module::$kind as Method>::SOURCE,
            candidates: <$module::$kind as Method>::CANDIDATES,
            tuned: <$module::$kind as Method>::TUNED,
            matrix: <$module::$kind as Method>::MATRIX,
            predicts: <$module::$kind as Method>::PREDICTS,
            ranks: <$module::$kind as Method>::RANKS,
            tunables: <<$module::$kind as Method>::Tunables as Tunables>::TABLE,
            build: |setup, from| {
                let tunables = $crate::registry::settings(from)?;
                Ok(AnySelector::$kind(<$module::$kind as Method>::new(setup, tunables)?))
            },
        },)*];

        /// The file of the selector `name`, whose head is its page in the manual.
        #[inline]
        pub fn source(name: &str) -> Option<&'static str> {
            $(
                if name == <$module::$kind as Method>::NAME {
                    return Some(include_str!(concat!("selectors/", stringify!($module), ".rs")));
                }
            )*
            None
        }

        impl AnySelector {
            /// How often it is asked, and what holds it back.
            pub fn pace(&self) -> Pace {
                match self {$(AnySelector::$kind(inner) => inner.pace(),)*}
            }

            /// The bounds between its categories.
            pub fn bounds(&self) -> Bounds {
                match self {$(AnySelector::$kind(inner) => inner.bounds(),)*}
            }
        }

        impl Selector for AnySelector {
            fn first(&mut self, candidates: &[Candidate]) -> usize {
                match self {$(AnySelector::$kind(inner) => inner.first(candidates),)*}
            }
            fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Verdict {
                match self {$(AnySelector::$kind(inner) => inner.period(at, summary),)*}
            }
            fn predicted(&mut self, at: Situation<'_>, predictions: &[Prediction]) -> Verdict {
                match self {$(AnySelector::$kind(inner) => inner.predicted(at, predictions),)*}
            }
            fn memory(&self) -> usize {
                match self {$(AnySelector::$kind(inner) => inner.memory(),)*}
            }
        }
    };
}

pub(super) use selectors;
