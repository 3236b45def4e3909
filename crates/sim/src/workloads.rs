//! Workloads: who asks the disk for what, and when.
//!
//! [`all`] lists the named ones. A command line names one with its options as
//! `sync-streams:n=4,bs=64k`; [`Spec`] reads that. [`fio`] reads fio's job files.

mod catalogue;
mod chains;
mod drawn;
pub mod fio;
mod ioaz;
mod makers;
pub mod phases;
mod places;
mod poisson;
mod processes;
mod regions;
mod spec;

pub use catalogue::{Kind, all, build, find};
pub use chains::{Chains, Pace, TooLarge, TreeSettings};
pub use places::Pattern;
pub use poisson::Poisson;
pub use processes::{Next, Process, Processes, Sizes, Think};
pub use spec::{Spec, SpecError, parse_duration};

use idlewise_core::{Instant, Issuer, Sector, Sectors, Weight};

pub(crate) use spec::Options;

use crate::engine::Workload;

/// A workload that can say who its issuers are.
pub trait Named: Workload + Send {
    /// The name of an issuer.
    fn name(&self, _issuer: Issuer) -> Option<String> {
        None
    }

    /// The workload's phases, if it has some: the name of each and when it begins.
    fn phases(&self) -> Vec<(String, Instant)> {
        Vec::new()
    }

    /// When programs' phases began and programs ended, as far as the run has come, in order.
    fn moments(&self) -> &[Moment] {
        &[]
    }

    /// The longest request that the workload's machine has its disk serve, if not the usual one: merging makes none longer.
    fn longest_request(&self) -> Option<Sectors> {
        None
    }

    /// The issuers whose weight is not the default.
    fn weights(&self) -> Vec<(Issuer, Weight)> {
        Vec::new()
    }
}

/// A program's phase, or its end: whose it is, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The process.
    pub issuer: Issuer,
    /// The phase that begins, or nothing where the program ends.
    pub phase: Option<&'static str>,
    /// When.
    pub at: Instant,
}

/// What a workload is built for.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// Sectors on the disk.
    pub capacity: Sector,
    /// Commands that the disk takes at a time.
    pub depth: u32,
    /// Seed of all randomness.
    pub seed: u64,
}
