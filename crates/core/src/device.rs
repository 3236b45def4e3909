//! What a scheduler may know of the device below it.

use crate::learned::{Curve, Learned};
use crate::units::{Sector, Sectors};

/// Which merges a queue tries, as the `nomerges` attribute of a Linux queue has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merging {
    /// Look at all waiting requests (`nomerges` 0).
    #[default]
    All,
    /// Look only at the request that last grew or arrived (`nomerges` 1).
    LastOnly,
    /// Never merge (`nomerges` 2), or the host merges by itself.
    Off,
}

/// The device as its host describes it.
#[derive(Clone, Debug)]
pub struct Device {
    /// The device has moving heads: distance costs time.
    pub rotational: bool,
    /// Commands that it accepts at once; at least 1.
    pub depth: u32,
    /// Hardware queues; at least 1.
    pub hardware_queues: u32,
    /// Number of sectors.
    pub capacity: Sector,
    /// Which merges the queue tries.
    pub merging: Merging,
    /// The longest request that a merge may make. Linux's `max_sectors_kb` of 1280 by default.
    pub max_sectors: Sectors,
    /// The most requests that one merged request may hold. Linux's `max_segments`, 128 by default.
    pub max_parts: u32,
    /// What is known of its times; schedulers learn the rest.
    pub learned: Learned,
}

impl Default for Device {
    /// A disk of 1 TB with moving heads that takes one command at a time.
    fn default() -> Self {
        Device::usual(true)
    }
}

impl Device {
    /// A device of 1 TB that takes one command at a time, of which nothing else is known: a guess of its curve with
    /// moving heads, a level one without.
    pub fn usual(rotational: bool) -> Self {
        Device {
            rotational,
            depth: 1,
            hardware_queues: 1,
            capacity: Sector(1_953_525_168),
            merging: Merging::All,
            max_sectors: Sectors(2560),
            max_parts: 128,
            learned: if rotational { Curve::default() } else { Curve::LEVEL }.into(),
        }
    }
}
