//! Linux 2.6.11's anticipatory scheduler, which takes each process by itself.
//!
//! # How it decides
//! Synchronous requests (reads, and writes that somebody waits for) are kept apart from the others,
//! each by address and in order of arrival.
//! 1. Batches of one side alternate while both wait. A batch of reads lasts `read_batch_expire`, counted
//!    while writes wait. A batch of writes lasts `write_batch_expire` or a number of writes, which tunes
//!    itself so that it takes that long. Between them the device is drained; a batch of writes for which
//!    requests in flight had to be drained has the time that the reads before it left, which is none.
//! 2. In a batch the best place to continue is next: the nearest ahead of where the last request ended, or
//!    behind it within 512 MiB, where the distance counts twice. A batch of reads begins with the oldest.
//! 3. Once in `read_expire` (`write_expire`) the oldest request is looked at, and is dispatched if it is overdue.
//! 4. In a batch of reads, before the next one is dispatched, the process whose read was the last is waited for, up
//!    to `antic_expire` from the completion of its request; even if only writes wait. Not if it has
//!    exited, if the next request is its own or close, if more requests of it wait, or if it is new and
//!    new processes mostly exit; nor if it thinks longer than `antic_expire` on average, or seeks further
//!    on average than the next request is away. While it is waited for, each arrival is judged by the
//!    same rules.
//! 5. Close is within 64 sectors, doubled with each millisecond of waiting after the first.
//! 6. Kept are the mean think time and seek distance of each process; for all together the means of new
//!    processes, and the probability that a new process exits without a second request.
//!
//! # Source
//! Linux 2.6.11 `drivers/block/as-iosched.c`; OLS'05 §2.2, which calls it LAS and numbers its rules. The
//! reasons that `--why` writes have these numbers.
//!
//! # Differs from the source
//! - Where no heads move nobody is waited for. Linux 2.6.11 knew of no such devices; Linux
//!   2.6.28 had this rule, but switched off until it would look at the depth of the device's queue, too.
//! - Linux counts in ticks; here times are nanoseconds, except that closeness doubles and mean think
//!   times round as with ticks of 1 ms. The rounding adds 4 ms to the first think time of a process
//!   and 2 to the second, so that who thinks for 3 ms at first is not waited for then.
//! - Linux's dispatch list is left out: a request goes to the device at once, so that no process has others on
//!   that list. Nor is the queue ever drained by force, as switching needs no draining.
//! - Whether a batch of writes was idle is noticed when it happens. Linux notices when its driver next
//!   asks; SCSI drivers ask before the device has room.
//! - The first batch of reads after construction tunes nothing, as no writes came before it. Linux takes
//!   the time since its own construction for theirs.
//! - Requests with equal addresses are dispatched in order of arrival. Synchronous and asynchronous requests do not
//!   merge with each other. Requests of one issuer's number are one process's, also requests of no issuer.
//! - An exited process is remembered while it has requests here.
//!
//! # Good for, bad for
//! Good for a disk with synchronous readers of different files: each reads on for a while. Bad for
//! databases, RAID and drives with queues of their own, which it lets idle. Bad for programs that are
//! chains of short processes, beside one that streams: the chain starves (OLS'05 §3). Also bad for writes
//! on a device that takes several commands: a batch of them may have no time.
//!
//! # Starvation
//! No number of requests bounds it: in a batch, only one overdue request is dispatched in `read_expire` or
//! `write_expire`, and as many others as the device can serve. With that a wait ends at last, but for
//! writes on a device that takes several commands, if their batches never have any time.

use super::as_family::{LinuxAnticipatory, RuleSet, Settings, Version};

/// Linux 2.6.11's anticipatory scheduler.
pub type As2611 = LinuxAnticipatory<Linux2611>;

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
    fn rules(_: &Settings) -> RuleSet {
        RuleSet::Las
    }
}
