//! Shares of disk time by weight, also for synchronous processes.
//!
//! # How it decides
//! As `stride`, except that the disk may wait for the process whose request was completed last.
//! It waits as long as the process is not ahead of its share (SOSP'01 §3.4).
//!
//! # Source
//! SOSP'01 §3.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash.
//!
//! # Starvation
//! As `stride`. A wait lasts 15 ms at most.

use super::framework::Anticipatory;
use super::shares::Proportional;
use crate::schedulers::shares::stride::Stride;

/// Shares of disk time by weight, also for synchronous processes.
pub type AnticStride = Anticipatory<Stride, Proportional>;
