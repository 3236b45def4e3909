//! Errors when building a chooser.

use core::fmt;

use crate::collections::OutOfMemory;
use crate::registry::BuildError;

/// Why a chooser could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChooserError {
    /// Memory is exhausted, or a setting does not fit.
    Build(BuildError),
    /// No candidate stands at the place chosen by hand, counted from 1.
    Manual {
        /// The setting `manual`.
        place: u64,
        /// How many candidates there are.
        candidates: usize,
    },
}

impl From<BuildError> for ChooserError {
    fn from(error: BuildError) -> Self {
        ChooserError::Build(error)
    }
}

impl From<OutOfMemory> for ChooserError {
    fn from(error: OutOfMemory) -> Self {
        ChooserError::Build(error.into())
    }
}

impl fmt::Display for ChooserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChooserError::Build(error) => error.fmt(f),
            ChooserError::Manual { place, candidates } => write!(
                f,
                "manual={place}, but there are {candidates} candidates: choose from 1 to {candidates}, or 0 to let \
                 the selector choose"
            ),
        }
    }
}

impl core::error::Error for ChooserError {}
