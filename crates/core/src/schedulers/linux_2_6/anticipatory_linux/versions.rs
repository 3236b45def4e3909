//! The versions of Linux's anticipatory scheduler: what changed between 2.6.11 and 2.6.32.

use super::rules::RuleSet;
use super::settings::{Settings, Timed};

/// What changed between Linux 2.6.11 and 2.6.32, and what OLS'05 changed.
pub trait Version: 'static {
    /// See [`Algorithm::NAME`](crate::Algorithm::NAME).
    const NAME: &'static str;
    /// See [`Algorithm::SUMMARY`](crate::Algorithm::SUMMARY).
    const SUMMARY: &'static str;
    /// See [`Algorithm::SOURCE`](crate::Algorithm::SOURCE).
    const SOURCE: &'static str;
    /// A batch of writes begins with the oldest, not with the best place to go on.
    const WRITES_FROM_OLDEST: bool;
    /// A batch for which the device had to drain has its time from then on.
    const TIME_FROM_DRAINED: bool;
    /// Its settings.
    type Settings: Timed;
    /// Which rules end a wait.
    fn rules(settings: &Self::Settings) -> RuleSet;
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
    fn rules(_: &Settings) -> RuleSet {
        RuleSet::Linux2618
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
    fn rules(_: &Settings) -> RuleSet {
        RuleSet::Las
    }
}
