//! Upward sweeps with anticipation.
//!
//! # How it decides
//! As `c-look`, except that the disk may wait for the process whose request was completed last.
//! It waits if the process is likely to go on ahead of the head and before the next request of the sweep (SOSP'01 §3.3).
//!
//! # Source
//! SOSP'01 §3.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash.
//!
//! # Starvation
//! As `c-look`. A wait lasts 15 ms at most.

use super::framework::Anticipatory;
use super::heuristics::Sweep;
use crate::schedulers::textbook::c_look::CLook;

/// Upward sweeps with anticipation.
pub type AnticCLook = Anticipatory<CLook, Sweep>;
