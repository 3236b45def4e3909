//! What stands before and after the events of a recording: what the disks are, and what was counted.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a recording says before its first event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// The version of idlewise that recorded.
    pub idlewise: String,
    /// The release of the kernel.
    pub kernel: String,
    /// The clock of the events' times.
    pub clock: String,
    /// When the recording began, by that clock.
    pub began_ns: u64,
    /// The same in nanoseconds since 1970.
    pub began_unix_ns: u64,
    /// The tracepoints that were recorded.
    pub events: Vec<String>,
    /// The disks. Events name them by their place here.
    pub disks: Vec<Disk>,
}

/// What a disk is, as `/sys/block` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// The kernel's name, such as `sda`.
    pub name: String,
    /// Major and minor number, such as `8:0`.
    pub number: String,
    /// Capacity in sectors of 512 bytes.
    pub sectors: u64,
    /// It has platters, or says so.
    pub rotational: bool,
    /// The scheduler in use.
    pub scheduler: String,
    /// Ways into the device.
    pub hardware_queues: u32,
    /// Model, as the device tells.
    pub model: Option<String>,
    /// Vendor, as the device tells.
    pub vendor: Option<String>,
    /// Commands that the device takes at once, if its driver tells.
    pub queue_depth: Option<u32>,
    /// `/sys/block/DISK/stat` when the recording began.
    pub stat: Vec<u64>,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// The files of `/sys/block/DISK/queue`, by name.
    pub queue: BTreeMap<String, String>,
    /// The scheduler's tunables, by name.
    pub tunables: BTreeMap<String, String>,
}

/// A part of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// The kernel's name, such as `sda1`.
    pub name: String,
    /// Major and minor number, such as `8:1`.
    pub number: String,
    /// Its first sector.
    pub start: u64,
    /// Its length in sectors.
    pub sectors: u64,
}

/// What a recording says behind its last event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tail {
    /// When the recording ended, by the head's clock.
    pub ended_ns: u64,
    /// Why it ended.
    pub why: String,
    /// Events recorded.
    pub events: u64,
    /// Events that the kernel had no room for.
    pub lost: u64,
    /// Events that came too late to be put in order, and were moved to a later time.
    pub moved: u64,
    /// What each disk did.
    pub disks: Vec<Counted>,
}

/// What a disk did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// The kernel's name.
    pub name: String,
    /// `/sys/block/DISK/stat` when the recording ended. Empty if the disk was gone.
    pub stat: Vec<u64>,
    /// What the events say.
    pub counts: Counts,
}

/// Requests as the kernel's `stat` counts them, from the events alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Counts {
    pub reads: u64,
    pub reads_merged: u64,
    pub read_sectors: u64,
    pub writes: u64,
    pub writes_merged: u64,
    pub write_sectors: u64,
    pub discards: u64,
    pub discards_merged: u64,
    pub discard_sectors: u64,
    pub flushes: u64,
    /// Requests given to the driver, again or not.
    pub issues: u64,
    /// Requests that the driver gave back.
    pub requeues: u64,
}

impl Counts {
    /// Names and values of what `stat` has too, in `stat`'s order.
    pub fn rows(&self) -> [(&'static str, u64); 10] {
        [
            ("reads", self.reads),
            ("reads merged", self.reads_merged),
            ("read sectors", self.read_sectors),
            ("writes", self.writes),
            ("writes merged", self.writes_merged),
            ("write sectors", self.write_sectors),
            ("discards", self.discards),
            ("discards merged", self.discards_merged),
            ("discard sectors", self.discard_sectors),
            ("flushes", self.flushes),
        ]
    }

    /// Where `stat` has what [`Counts::rows`] has.
    const COLUMNS: [usize; 10] = [0, 1, 2, 4, 5, 6, 11, 12, 13, 15];

    /// What `stat` says was done between two checks, in the order of [`Counts::rows`]. `None` for a column that the
    /// kernel does not have.
    pub fn differences(before: &[u64], after: &[u64]) -> [Option<u64>; 10] {
        Counts::COLUMNS.map(|at| Some(after.get(at)?.wrapping_sub(*before.get(at)?)))
    }
}
