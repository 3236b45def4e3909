//! From the words of a command line to what shall be run.

pub(crate) mod args;
pub(crate) mod effort;
pub(crate) mod names;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod trace;
mod unused;
