//! What a run's report says, and how it is measured.
//!
//! `report.rs` declares every figure once: name, meaning, unit, how to get it, and whether tables show it.
//! `recorder.rs` counts what the figures are made of during a run, and `series.rs` what plots show of it over time. Times are in
//! nanoseconds and sizes in bytes; the unit ends each name. Latency counts from when a request was issued to when it was
//! done, service from when the device started on it.

mod declare;
mod issuers;
mod latencies;
mod looks;
mod phases;
mod recorder;
mod report;
pub mod selector;
pub mod series;
mod small_histogram;

pub use declare::{Better, Column, Field, FigureSet, Kind, Metric};
pub use issuers::{IssuerShare, counted_as};
pub use phases::PhaseShare;
pub use recorder::{Anticipation, Recorder};
pub use report::{DeviceUse, Latency, Part, Report};
