//! A discrete-event host for schedulers: workloads, traces, replay, metrics.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod director;
pub mod engine;
pub mod exits;
pub mod experiment;
mod line;
pub mod metrics;
pub mod replay;
pub mod selection;
mod tags;
pub mod tell;
pub mod traces;
pub mod workloads;
