//! From the words of a command line to a run.
//!
//! | step | files |
//! |---|---|
//! | options that commands share | `args`, `unused` |
//! | names of schedulers and disks, and sets of them | `names`, `presets`, `settings` |
//! | a trace: opened, surveyed, and the disk that fits it | `trace`, `fitting` |
//! | a block device of this machine | `device` |
//! | all of it together: what is run, and for how long | `setup`, `effort` |

pub(crate) mod args;
pub(crate) mod device;
pub(crate) mod effort;
pub(crate) mod fitting;
pub(crate) mod names;
pub(crate) mod presets;
pub(crate) mod recorded;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod trace;
mod unused;
pub(crate) mod wrong;
