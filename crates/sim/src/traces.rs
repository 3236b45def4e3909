//! Traces: what a disk was asked to do, in the formats that people have.
//!
//! ```text
//! path ─ open ─ input (decompress, buffer) ─ recognise ─ formats/* ─┬───────── sink (check, order) ─ trace ─ replay
//!                                                                   └ pairing ─┘
//! ```
//! A format is one file in `formats/` and its line in the list there. [`TraceInfo`] sums a trace
//! up; [`Writer`] writes one in another format.

mod compress;
mod counts;
mod encode;
mod error;
mod event;
mod format_info;
mod formats;
pub mod infer;
pub mod info;
mod input;
mod names;
mod open;
mod order;
mod pairing;
mod parse;
mod reader;
mod recognise;
pub mod record;
pub(crate) mod recorded;
pub mod recording {
    //! The format of `idlewise record`: what it holds, and how it is written.

    pub use super::formats::recording::*;
}
mod findings;
mod rwbs;
mod sink;
mod survey;
mod trace;
mod waiting;
mod write;

pub use compress::{Compression, Compressor};
pub use counts::{Skip, Skipped};
pub use error::{Location, RowError, TraceError};
pub use findings::Findings;
pub use format_info::About;
pub use formats::Format;
pub use info::TraceInfo;
pub use record::{Exit, Record};
pub use survey::{Shown, Survey};
pub use trace::{Options, Trace};
pub use write::{Loss, WriteError, Writer, Written};
