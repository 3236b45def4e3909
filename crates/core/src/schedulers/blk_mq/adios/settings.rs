//! Tunables of ADIOS.

use super::model::{KINDS, Shrinking};
use crate::tunables::{Count, Nanoseconds, Percent, Setting, Unit};

crate::tunables! {
    /// Tunables of ADIOS. Names, units and defaults are as in its source.
    pub struct Settings {
        /// How much predicted time is sent to the device at a time; 0: 16 ms, or 22 ms for a disk.
        global_latency_window: Nanoseconds = 0, 0..=3_600_000_000_000;
        /// A page is filled when less than this part of the window is predicted to be under way.
        bq_refill_below_ratio: Percent = 20, 0..=100;
        /// Longer latencies are not believed.
        lat_model_latency_limit: Nanoseconds = 500_000_000, 0..=2_000_000_000;
        /// Within a page: by kind, or for disks those that may wait by address.
        batch_order: Order = 0, 0..=1;
        /// Sum of: 2, flushes go before all others; 4, predictions do not change deadlines. 1 has no effect here.
        compliance_flags: Count = 7, 0..=7;
        /// Most reads in a page.
        batch_limit_read: Count = 36, 1..=1_000_000;
        /// Most writes in a page.
        batch_limit_write: Count = 72, 1..=1_000_000;
        /// Most discards in a page.
        batch_limit_discard: Count = 1, 1..=1_000_000;
        /// How long an asynchronous read may wait.
        lat_target_read: Nanoseconds = 2_000_000, 0..=3_600_000_000_000;
        /// How long an asynchronous write may wait.
        lat_target_write: Nanoseconds = 2_000_000_000, 0..=3_600_000_000_000;
        /// How long a discard may wait.
        lat_target_discard: Nanoseconds = 8_000_000_000, 0..=3_600_000_000_000;
        /// A model of more small requests than this many thousand loses old ones.
        shrink_at_kreqs: Count = 5_000, 1..=100_000;
        /// A model of larger requests than this many GiB in all loses old ones.
        shrink_at_gbytes: Count = 50, 1..=1_000;
        /// A model that loses old ones loses one part in two to the power of this.
        shrink_resist: Count = 2, 1..=3;
        /// What a read's time counts when it goes before its turn, as a nice level; others have 0.
        read_priority: Nice = 28, 0..=39;
    }
}

crate::choices! {
    /// In which order a page is sent.
    pub enum Order {
        /// By kind: others, discards, writes, reads; each first come, first served.
        Kind = "optype",
        /// On a disk, what may wait goes by address.
        Elevator = "elevator",
    }
}

/// A nice level, -20 to 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nice(pub i8);

/// The words of all nice levels.
const LEVELS: [&str; 40] = [
    "-20", "-19", "-18", "-17", "-16", "-15", "-14", "-13", "-12", "-11", "-10", "-9", "-8", "-7", "-6",
    "-5", "-4", "-3", "-2", "-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13",
    "14", "15", "16", "17", "18", "19",
];

/// The weights of nice levels in Linux: a level more is a quarter more, and 0 is 1024.
const WEIGHTS: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];

impl Nice {
    /// The level's weight; level 0 weighs 1024.
    pub(crate) fn weight(self) -> u64 {
        WEIGHTS[self.to_raw() as usize % WEIGHTS.len()]
    }
}

impl Setting for Nice {
    const UNIT: Unit = Unit::Choice(&LEVELS);
    fn from_raw(raw: u64) -> Self {
        Nice(raw as i8 - 20)
    }
    fn to_raw(self) -> u64 {
        (self.0 + 20) as u64
    }
}

impl Settings {
    /// When models lose old measurements.
    pub(super) fn shrinking(&self) -> Shrinking {
        Shrinking {
            at_requests: self.shrink_at_kreqs.0 * 1000,
            at_bytes: self.shrink_at_gbytes.0 << 30,
            resist: self.shrink_resist.0,
        }
    }

    /// By kind: most of them in a page.
    pub(super) fn limits(&self) -> [u64; KINDS] {
        [self.batch_limit_read.0, self.batch_limit_write.0, self.batch_limit_discard.0, 1]
    }

    /// How long a request of `kind` may wait if nobody waits for it.
    pub(super) fn target(&self, kind: usize) -> u64 {
        let targets = [self.lat_target_read, self.lat_target_write, self.lat_target_discard];
        targets.get(kind).map_or(0, |target| target.0.0)
    }

    /// How much predicted time is sent at a time.
    pub(super) fn window(&self, rotational: bool) -> u64 {
        match (self.global_latency_window.0.0, rotational) {
            (0, false) => 16_000_000,
            (0, true) => 22_000_000,
            (window, _) => window,
        }
    }
}
