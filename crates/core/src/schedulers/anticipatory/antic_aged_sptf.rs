//! SPTF with ageing and anticipation: the scheduler of the paper's experiments.
//!
//! # How it decides
//! As `aged-sptf`, except that the disk may wait for the process whose request was completed last.
//! As `antic-sptf`, but the saving shrinks with the age of the request that would wait (SOSP'01 §3.3).
//!
//! # Source
//! SOSP'01 §3.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash.
//!
//! # Starvation
//! As `aged-sptf`. A wait lasts 15 ms at most.

use super::framework::Anticipatory;
use super::heuristics::Aged;
use crate::schedulers::textbook::aged_sptf::AgedSptf;

/// SPTF with ageing and anticipation: the scheduler of the paper's experiments.
pub type AnticAgedSptf = Anticipatory<AgedSptf, Aged>;
