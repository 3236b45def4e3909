//! The cooperative anticipatory scheduler: what a process leaves off, another may continue with.
//!
//! # How it decides
//! As `as-2.6.11`, except for how a wait ends, or does not begin. The
//! process's own next request always ends it. For another's request, the steps of OLS'05 §4 in order:
//! 1. A read is overdue, or anticipation is off: the overdue one is dispatched.
//! 2. The time has elapsed: the request is dispatched.
//! 3. The request is synchronous and close: the request is dispatched, and its process is the next to be waited for. Close
//!    is within 8192 sectors, doubled with each millisecond, or nearer than the awaited process seeks on
//!    average. The cooperative exit probability rises.
//! 4. The awaited process has exited: the system's exit probability rises. The request is dispatched if that is
//!    below 50 %: an exit that is rare is not one in a chain of short processes, so nobody will follow.
//! 5. The awaited process is new, the system's exit probability is above 50 % and the cooperative exit
//!    probability below: the request is dispatched.
//! 6. The awaited process thinks longer than `antic_expire`: the request is dispatched.
//!
//! # Source
//! OLS'05 (Seelam, Romero, Teller and Buros) §4, on Linux 2.6.9. With `reading` = `linux`: what became of
//! it in Linux 2.6.18, `block/as-iosched.c`, where step 4 asks whether processes that exited had no
//! successor, in more than 50 % of the waits for one; and step 5 whether that and the exit probability
//! make more than 50 % when multiplied.
//!
//! # Differs from the source
//! - Where no heads move nobody is waited for. Linux has this rule from 2.6.28 on, but switched off until
//!   it would look at the depth of the device's queue, too.
//!
//! The paper leaves open, and here is chosen with `reading` = `paper`:
//! - How probabilities rise and fall: by an eighth, as Linux's exit probability does.
//! - The system's exit probability: as in Linux it falls when a new process issues its second request,
//!   and rises when a wait for a new one has been in vain; and in step 4 for any process.
//! - The cooperative exit probability: it rises in step 3 and falls when a wait for a process that has
//!   exited has been in vain. The probability begins at 100 %.
//! - The distance that is close, and whose seeks count: as in Linux 2.6.18.
//! - Steps 5 and 6 take the mean of new processes for one that is new, and a process of which more
//!   requests wait is not waited for, both as in Linux.
//! - What would be next goes through the same steps before a wait begins, as in Linux.
//!
//! # Good for, bad for
//! Good for what `as` is good for, and for chains of short processes: scripts, compilers, many small
//! files each read by a process of its own. Bad for what `as` is bad for.
//!
//! # Starvation
//! As `as-2.6.11`: no number of requests bounds it. Of two streams or
//! chains, one can continue for `read_expire` before the other has a turn.

use super::as_family::settings::timed_settings;
use super::as_family::{LinuxAnticipatory, RuleSet, Version};

crate::choices! {
    /// How the paper is read.
    pub enum Reading {
        /// By its words.
        Paper = "paper",
        /// As Linux took it up.
        Linux = "linux",
    }
}

timed_settings! {
    /// Tunables of [`Cas`].
    pub struct Settings {
        /// How the paper is read: by its words, or as Linux 2.6.18 took it up.
        reading: Reading = 0, 0..=1;
    }
}

/// The cooperative anticipatory scheduler.
pub type Cas = LinuxAnticipatory<Cooperative>;

/// OLS'05's extension of Linux 2.6.9, which has the same scheduler as 2.6.11.
pub struct Cooperative;

impl Version for Cooperative {
    const NAME: &'static str = "cas";
    const SUMMARY: &'static str =
        "Waits a moment for whoever goes on near the last read, and for successors of processes.";
    const SOURCE: &'static str = "OLS'05 §4; Linux 2.6.18 block/as-iosched.c";
    const WRITES_FROM_OLDEST: bool = false;
    const TIME_FROM_DRAINED: bool = false;
    type Settings = Settings;
    fn rules(settings: &Settings) -> RuleSet {
        match settings.reading {
            Reading::Paper => RuleSet::Cas,
            Reading::Linux => RuleSet::Linux2618,
        }
    }
}

#[cfg(test)]
mod tests;
