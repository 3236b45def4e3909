//! Linux's anticipatory schedulers: after a read, wait a moment for the same process to read on.
//!
//! # How they decide
//! Synchronous requests (reads, and writes that somebody waits for) are kept apart from the others,
//! each by address and in order of arrival.
//! 1. Batches of one side alternate while both wait. A batch of reads lasts `read_batch_expire`, counted
//!    while writes wait. A batch of writes lasts `write_batch_expire` or a number of writes, which tunes
//!    itself so that it takes that long. Between them the device is drained.
//! 2. In a batch the best place to go on is next: the nearest ahead of where the last request ended, or
//!    behind it within 512 MiB, where the way counts twice.
//! 3. Once in `read_expire` (`write_expire`) the oldest request is looked at, and goes if it is overdue.
//! 4. In a batch of reads, before the next one goes, the process whose read went last is waited for, up
//!    to `antic_expire` from the completion of its request; even if only writes wait. Not if the next
//!    request is its own or close, nor if its statistics or its exit speak against it. While it is
//!    waited for, each arrival is judged by the same rules. `anticipatory_linux/rules.rs` has them.
//! 5. Of each process the mean think time and seek distance are kept; of all together those of new
//!    processes, and the probability that a new process exits without a second request.
//!
//! | | `as-2.6.11` | `as` |
//! |---|---|---|
//! | close is | 64 sectors, doubled with each millisecond of waiting after the first | 8192 sectors, doubled with each, or less than the process seeks on average |
//! | a process that has exited | is not waited for | may have a successor nearby, unless such mostly have none |
//! | a batch of writes begins with | the best place to go on | the oldest |
//! | the time of a batch of writes on a device that had to drain | ran out with the reads before it | begins when it has drained |
//!
//! # Source
//! Linux 2.6.32 `block/as-iosched.c`; Linux 2.6.11 `drivers/block/as-iosched.c`; OLS'05 §2.2, which calls
//! the older one LAS and numbers its rules. The reasons that `--why` writes have these numbers; those of
//! `as` have the numbers of CAS (OLS'05 §4), which became part of Linux.
//!
//! # Differs from the source
//! - Linux counts in ticks; here times are nanoseconds, except that closeness doubles and mean think
//!   times round as with ticks of 1 ms. That rounding adds 4 ms to the first think time of a process
//!   and 2 to the second, so that who thinks for 3 ms at first is not waited for then.
//! - There is no dispatch list: a request goes to the device at once, so that no process has others on
//!   that list. Nor is the queue ever drained by force, as switching needs no draining.
//! - Whether a batch of writes was idle is noticed when it happens. Linux notices when its driver next
//!   asks; SCSI drivers ask before the device has room.
//! - The first batch of reads after construction tunes nothing, as no writes went before it. Linux takes
//!   the time since its own construction for theirs.
//! - Requests with equal addresses go in order of arrival. Synchronous and asynchronous requests do not
//!   merge with each other. Requests of one issuer's number are one process's, also those of none.
//! - An exited process is remembered while it has requests here, or is waited for.
//!
//! # Good for, bad for
//! Good for a disk with synchronous readers of different files: each reads on for a while. Bad for
//! databases, RAID and drives with queues of their own, which it lets idle. In 2.6.11 bad for programs
//! that are chains of short processes, beside one that streams: the chain starves (OLS'05 §3). There
//! also bad for writes on a device that takes several commands: a batch of them may have no time.
//!
//! # Starvation
//! No number of requests bounds it: in a batch, only one overdue request goes in `read_expire` or
//! `write_expire`, and as many others as the device can serve. With that a wait ends at last, but for
//! writes in 2.6.11 on a device that takes several commands, if their batches never have any time.

mod batches;
mod lines;
mod reasons;
mod rules;
mod schedule;
pub(crate) mod settings;
mod statistics;
mod waiting;

#[cfg(test)]
mod chains;
#[cfg(test)]
pub(crate) mod reference;
#[cfg(test)]
pub(crate) mod tests;

use core::marker::PhantomData;

use alloc::vec::Vec;

use crate::collections::{Issuers, OutOfMemory, Place, table};
#[cfg(test)]
use crate::scheduler::Scheduler;
use crate::scheduler::{Algorithm, Setup, Starvation};
use batches::Batches;
use lines::Lines;
pub use rules::Manner;
pub use settings::{Timed, Times};
use statistics::{Process, System};
use waiting::Wait;

settings::timed_settings! {
    /// What Linux's anticipatory schedulers can be told. Names, units and defaults are Linux's.
    pub struct Settings {}
}

/// Linux 2.6.32's anticipatory scheduler.
pub type As = LinuxAnticipatory<Linux2632>;

/// Linux 2.6.11's anticipatory scheduler.
pub type As2611 = LinuxAnticipatory<Linux2611>;

/// What changed between Linux 2.6.11 and 2.6.32, and what OLS'05 changed.
pub trait Version: 'static {
    /// See [`Algorithm::NAME`].
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Algorithm::SOURCE`].
    const SOURCE: &'static str;
    /// A batch of writes begins with the oldest, not with the best place to go on.
    const WRITES_FROM_OLDEST: bool;
    /// A batch for which the device had to drain has its time from then on.
    const TIME_FROM_DRAINED: bool;
    /// Its settings.
    type Settings: Timed;
    /// Which rules end a wait.
    fn manner(settings: &Self::Settings) -> Manner;
}

/// Linux 2.6.32.
pub struct Linux2632;

impl Version for Linux2632 {
    const NAME: &'static str = "as";
    const SUMMARY: &'static str = "Waits a moment for the process that read last to read on.";
    const SOURCE: &'static str = "Linux 2.6.32 block/as-iosched.c";
    const WRITES_FROM_OLDEST: bool = true;
    const TIME_FROM_DRAINED: bool = true;
    type Settings = Settings;
    fn manner(_: &Settings) -> Manner {
        Manner::Together
    }
}

/// Linux 2.6.11.
pub struct Linux2611;

impl Version for Linux2611 {
    const NAME: &'static str = "as-2.6.11";
    const SUMMARY: &'static str =
        "The anticipatory scheduler of Linux 2.6.11, which takes each process by itself.";
    const SOURCE: &'static str = "Linux 2.6.11 drivers/block/as-iosched.c; OLS'05 §2.2";
    const WRITES_FROM_OLDEST: bool = false;
    const TIME_FROM_DRAINED: bool = false;
    type Settings = Settings;
    fn manner(_: &Settings) -> Manner {
        Manner::Alone
    }
}

/// Batches of reads and of writes, and in those of reads a wait for the process that read last.
pub struct LinuxAnticipatory<V: Version> {
    lines: Lines,
    batches: Batches,
    wait: Wait,
    processes: Issuers<Process>,
    system: System,
    /// By request: the process that issued it, which is held.
    owners: Vec<Option<Place>>,
    tunables: V::Settings,
    version: PhantomData<V>,
}

/// Processes that are remembered besides those with requests in the queue.
const REMEMBERED: usize = 64;

impl<V: Version> Algorithm for LinuxAnticipatory<V> {
    const NAME: &'static str = V::NAME;
    const SUMMARY: &'static str = V::SUMMARY;
    const SOURCE: &'static str = V::SOURCE;
    type Tunables = V::Settings;

    fn new(setup: Setup<'_>, tunables: V::Settings) -> Result<Self, OutOfMemory> {
        Ok(LinuxAnticipatory {
            lines: Lines::new(setup.capacity)?,
            batches: Batches::new(tunables.times()),
            wait: Wait::new(),
            processes: Issuers::new(setup.capacity + REMEMBERED)?,
            system: System::default(),
            owners: table(setup.capacity, None)?,
            tunables,
            version: PhantomData,
        })
    }

    fn tune(&mut self, tunables: V::Settings) {
        self.tunables = tunables;
    }

    /// Bounds are in requests. Ours is one of those that go once in `read_expire`; the others that go
    /// meanwhile are as many as the device serves in that time.
    fn starvation(_: &V::Settings) -> Starvation {
        Starvation::Unbounded
    }

    #[cfg(test)]
    fn reference(_: Setup<'_>, tunables: V::Settings) -> alloc::boxed::Box<dyn Scheduler> {
        alloc::boxed::Box::new(reference::Reference::new::<V>(&tunables))
    }
}
