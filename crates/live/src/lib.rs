//! Linux: which disks a name means and what they are, and a recording of what they are asked to do.
//!
//! ```text
//! names ─ disks ─ recorder ─┬─ tracefs ─ events    what the kernel's events look like
//!                           ├─ instance ─ pages    a trace buffer of our own, and what is in it
//!                           ├─ order ─ counts      in order of time; requests as the kernel counts them
//!                           └─ output              the file
//! ```
//! [`choose`] finds the disks, [`Recorder`] records them to a file that `idlewise_sim::traces` reads. The format
//! itself is there, in `formats/recording`.
//!
//! Events come through tracefs's buffer, and not through `perf_event_open`: where completions come in soft interrupts, perf lost
//! up to 3 in 10 000 of them at 70 000 requests a second and did not count them; tracefs lost none.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod counts;
mod disks;
mod error;
mod events;
mod instance;
mod order;
mod output;
mod pages;
mod recorder;
mod tracefs;

pub use disks::{Chosen, choose, look};
pub use error::RecordError;
pub use recorder::{Progress, Recorder, Summary};
