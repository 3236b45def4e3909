//! `antic-aged-sptf` with all that the paper suggests for later.
//!
//! # How it decides
//! As `aged-sptf`, except that the disk may wait for the process whose request was completed last.
//! As `antic-aged-sptf`, with statistics of groups and regions, and none of processes that mislead (SOSP'01 §5.2).
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
use super::heuristics::Adaptive;
use crate::schedulers::textbook::aged_sptf::AgedSptf;

/// `antic-aged-sptf` with all that the paper suggests for later.
pub type AnticAdaptive = Anticipatory<AgedSptf, Adaptive>;
