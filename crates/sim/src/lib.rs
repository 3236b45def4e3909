//! A discrete-event host for schedulers: workloads, traces, replay, metrics.

#![forbid(unsafe_code)]

pub mod traces;
