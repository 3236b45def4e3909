//! From the words of a command line to a run.

pub(crate) mod args;
pub(crate) mod device;
pub(crate) mod effort;
mod fitting;
pub(crate) mod names;
pub(crate) mod presets;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod trace;
mod unused;
