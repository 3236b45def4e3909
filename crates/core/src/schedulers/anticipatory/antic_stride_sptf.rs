//! Shares of disk time by weight and few seeks, also for synchronous processes.
//!
//! # How it decides
//! As `stride-sptf`, except that the disk may wait for the process whose request was completed last.
//! It waits for the share's sake and for the seek's sake (SOSP'01 §3.5).
//!
//! # Source
//! SOSP'01 §3.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash.
//!
//! # Starvation
//! As `stride-sptf`. A wait lasts 15 ms at most.

use super::framework::Anticipatory;
use super::shares::Combined;
use crate::schedulers::shares::stride_sptf::StrideSptf;

/// Shares of disk time by weight and few seeks, also for synchronous processes.
pub type AnticStrideSptf = Anticipatory<StrideSptf, Combined>;
