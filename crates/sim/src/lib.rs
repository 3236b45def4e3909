//! A discrete-event host for schedulers: workloads, traces, replay, metrics.
//!
//! | folder | what is in it | needs |
//! |---|---|---|
//! | `engine` | one run: virtual time, a queue, a disk, a workload | |
//! | `workloads` | named workloads, fio's job files, phases | engine |
//! | `machine` | programs on a machine: page cache, read-ahead, file system | engine |
//! | `traces` | reading and writing traces, what a trace holds | |
//! | `fit` | a disk model from a recording | traces |
//! | `replay` | a trace as a workload | traces, workloads |
//! | `metrics` | what a run's report says | engine |
//! | `selection` | a selector in a run: predictions, switching, the log | metrics, workloads |
//! | `experiment` | many runs, on all cores; measuring a matrix or a ranking | all of them |
//! | `papers` | what the papers claim, and whether it holds | experiment |
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod engine;
pub mod experiment;
pub mod fit;
pub mod machine;
pub mod metrics;
pub mod papers;
pub mod replay;
pub mod selection;
pub mod traces;
pub mod workloads;
