//! A discrete-event host for schedulers: workloads, traces, replay, metrics.

pub mod traces;
