//! Shortest positioning time first, with anticipation.
//!
//! # How it decides
//! As `sptf`, except that the disk may wait for the process whose request was completed last.
//! It waits if the expected saving exceeds the expected cost (SOSP'01 §3.3).
//!
//! # Source
//! SOSP'01 §3.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash.
//!
//! # Starvation
//! As `sptf`. A wait lasts 15 ms at most.

use super::framework::Anticipatory;
use super::heuristics::CostBenefit;
use crate::schedulers::textbook::sptf::Sptf;

/// Shortest positioning time first, with anticipation.
pub type AnticSptf = Anticipatory<Sptf, CostBenefit>;
