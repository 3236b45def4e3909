//! Linux: which disks a name means and what they are, and a recording of what they are asked to do.
//!
//! ```text
//! names ─ disks ─ recorder ─┬─ tracefs ─ events   what the kernel's events look like
//!                           ├─ perf ─ order       the events of all processors, in order of time
//!                           ├─ counts             requests as the kernel counts them
//!                           └─ output             the file
//! ```
//! [`choose`] finds the disks, [`Recorder`] records them to a file that `idlewise_sim::traces` reads. The format
//! itself is there, in `formats/recording`. `unsafe` is allowed in `perf.rs` alone.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod counts;
mod disks;
mod error;
mod events;
mod order;
mod output;
mod perf;
mod recorder;
mod tracefs;

pub use disks::{Chosen, choose, look};
pub use error::RecordError;
pub use recorder::{Progress, Recorder, Summary};
