//! Sweeps: the product of traces or workloads, disks, schedulers and seeds, as a dataset of Parquet files.
//!
//! ```text
//! file (what is asked for) ─ portions (each device's trace by itself) ─ plan (units) ┬ estimate
//!                                                                                    └ unit ─ columns ─ dataset
//! ```
//! A *unit* is one run: one device's trace or one workload, on one disk, under one scheduler, with one seed. Its result is
//! one file whose name is the unit's id, so that a unit that runs twice replaces its own result and no other. `local` runs
//! the units of a plan on this machine.

pub(crate) mod columns;
pub(crate) mod dataset;
pub(crate) mod estimate;
pub(crate) mod file;
pub(crate) mod local;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod portions;
pub(crate) mod splitting;
pub(crate) mod temporary;
pub(crate) mod unit;
