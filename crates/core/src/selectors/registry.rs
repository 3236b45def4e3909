//! Finding, describing and building selectors by name. The list itself is in `selectors.rs`.
//!
//! From it come [`AnySelector`], the table of [`Entry`]s that everything
//! which enumerates selectors reads, and the page of each ([`source`]).

use alloc::vec::Vec;

use super::contract::{
    Answer, Candidate, Common, Method, Prediction, Selector, Settings, Setup, Situation, Tuned,
};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::registry::{Assignment, BuildError};
use crate::tunables::{Tunable, Tunables};

type Build = fn(Setup<'_>, &[Assignment<'_>]) -> Result<(AnySelector, Common), BuildError>;

/// One selector of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The selector's name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// The selector's candidates, unless its host has others.
    pub candidates: &'static [&'static str],
    /// More candidates, with other settings.
    pub tuned: &'static [Tuned],
    /// The selector looks up a matrix, in which its candidates stand.
    pub matrix: bool,
    /// The selector asks for predictions.
    pub predicts: bool,
    /// The selector looks up a ranking that is measured beforehand.
    pub ranks: bool,
    /// The selector's tunables.
    pub tunables: &'static [Tunable],
    build: Build,
}

impl Entry {
    /// The entry of `M`, which `build` wraps.
    const fn of<M: Method>(build: Build) -> Entry {
        Entry {
            name: M::NAME,
            summary: M::SUMMARY,
            source: M::SOURCE,
            candidates: M::CANDIDATES,
            tuned: M::TUNED,
            matrix: M::MATRIX,
            predicts: M::PREDICTS,
            ranks: M::RANKS,
            tunables: Settings::<M>::TABLE,
            build,
        }
    }

    /// The selector's candidates, unless its host has others.
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

    /// Builds the selector with these settings; all others are at their defaults. Returns the common ones, too.
    ///
    /// # Errors
    /// [`BuildError`] if a setting does not fit or memory is exhausted.
    ///
    /// # Panics
    /// If there is no candidate.
    pub(super) fn build(
        &self,
        setup: Setup<'_>,
        settings: &[Assignment<'_>],
    ) -> Result<(AnySelector, Common), BuildError> {
        assert!(!setup.candidates.is_empty(), "a selector has candidates");
        (self.build)(setup, settings)
    }
}

/// All selectors, in the registry's order.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// The selector called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// Makes the registry of the list.
macro_rules! register {
    ($($module:ident: $kind:ident;)*) => {
        /// Any selector of the registry.
        #[allow(clippy::large_enum_variant, reason = "one lives in each chooser")]
        pub enum AnySelector {$(
            #[doc = concat!("[`", stringify!($kind), "`](super::", stringify!($module), ")")]
            $kind(super::$module::$kind),
        )*}

        static ENTRIES: &[Entry] = &[$(Entry::of::<super::$module::$kind>(|setup, from| {
            let settings: Settings<super::$module::$kind> = crate::registry::settings(from)?;
            Ok((AnySelector::$kind(Method::new(setup, settings)?), *settings.common))
        }),)*];

        impl Selector for AnySelector {
            fn first(&mut self, candidates: &[Candidate]) -> usize {
                match self {$(AnySelector::$kind(inner) => inner.first(candidates),)*}
            }
            fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
                match self {$(AnySelector::$kind(inner) => inner.period(at, summary),)*}
            }
            fn predicted(&mut self, at: Situation<'_>, predictions: &[Prediction]) -> Answer {
                match self {$(AnySelector::$kind(inner) => inner.predicted(at, predictions),)*}
            }
            fn memory(&self) -> usize {
                match self {$(AnySelector::$kind(inner) => inner.memory(),)*}
            }
        }

        /// The file of the selector `name`, whose head is its page in the manual.
        ///
        /// Inlined: a host that has no use for pages has none in its memory.
        #[inline]
        pub fn source(name: &str) -> Option<&'static str> {
            $(
                if name == <super::$module::$kind as Method>::NAME {
                    return Some(include_str!(concat!(stringify!($module), ".rs")));
                }
            )*
            None
        }
    };
}

registered!();
