//! The schedulers that anticipate: a policy of this registry, and a heuristic that says when to wait.
//!
//! # How they decide
//! As the policy does, except that the disk may wait for the process whose request was completed last:
//! see [`anticipation`](crate::anticipation) for the states and statistics, and its heuristics for the
//! equations.
//!
//! # Source
//! SOSP'01 §3; §5.2 for `antic-adaptive`. `antic-aged-sptf` is what its experiments use unless they
//! say otherwise.
//!
//! # Differs from the source
//! - Synchronous writes make statistics and are waited for like reads; the paper speaks of reads.
//! - A request that arrives while the disk is idle, shortly after a completion, may be made to wait;
//!   the paper does not say. `idle_waits` turns that off.
//! - Of a process of which nothing is known there is no wait: the paper is silent.
//! - The expected positioning time of a process is that of its next request if nobody comes between:
//!   the paper's "alternate" method, by distance. Its first method averages what was measured. But
//!   while the disk alternates between two processes, each measured time is a seek from the other's
//!   file; waiting then seems worth nothing, is not tried, and so nothing better is ever measured.
//!   `expectation=measured` is that method.
//! - Think times of 15 ms and more count as 15 ms in the median. They do not make a wait longer: it
//!   lasts for 95 % of the shorter ones.
//! - A process's requests merge only with its own, so that it is seen when it comes.
//! - The device gets one request at a time, as the paper's disks did. `in_device` allows more.
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: several readers of different files
//! each get long runs, and the disk seeks seldom. Bad for flash, and for processes that mislead on
//! purpose; `antic-adaptive` sees through those.
//!
//! # Starvation
//! That of the policy. A wait lasts 15 ms at most.

use super::aged_sptf::AgedSptf;
use super::c_look::CLook;
use super::sptf::Sptf;
use super::stride::Stride;
use super::stride_sptf::StrideSptf;
use super::yfq::Yfq;
use crate::anticipation::{Adaptive, Aged, Anticipatory, Combined, CostBenefit, Proportional, Sweep};

/// Shortest positioning time first, with anticipation.
pub type AnticSptf = Anticipatory<Sptf, CostBenefit>;
/// SPTF with ageing and anticipation: the scheduler of the paper's experiments.
pub type AnticAgedSptf = Anticipatory<AgedSptf, Aged>;
/// Upward sweeps with anticipation.
pub type AnticCLook = Anticipatory<CLook, Sweep>;
/// Shares of disk time by weight, also for synchronous processes.
pub type AnticStride = Anticipatory<Stride, Proportional>;
/// Shares of bytes by weight, also for synchronous processes.
pub type AnticYfq = Anticipatory<Yfq, Proportional>;
/// Shares of disk time by weight and few seeks, also for synchronous processes.
pub type AnticStrideSptf = Anticipatory<StrideSptf, Combined>;
/// [`AnticAgedSptf`] with all that the paper suggests for later.
pub type AnticAdaptive = Anticipatory<AgedSptf, Adaptive>;
