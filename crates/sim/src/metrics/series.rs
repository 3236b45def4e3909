//! What happened when: figures of a run in bins of time, and dots of single requests, for plots.
//!
//! Memory is constant: bins get wider as a run gets longer (`bins.rs`), dots get fewer (`thinned.rs`), and a close-up has a
//! few hundred commands in full (`close_up.rs`). `collector.rs` fills all of them while the run goes on.

mod bins;
mod close_up;
mod collector;
mod thinned;

use idlewise_core::{Duration, Instant, Sector};

pub(super) use collector::Collector;

/// A run over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// How long a bin is. The first one begins at time zero.
    pub bin: Duration,
    /// The bins up to the last completion; 256 at most. The last one takes half of this to one and a half, if there
    /// are several.
    pub bins: Vec<Bin>,
    /// The last completion.
    pub end: Instant,
    /// Names of the processes of [`Bin::service_ns`], most device time first. The last one stands for all others if
    /// there were more than are told apart.
    pub processes: Vec<String>,
    /// Commands as they went to the device, every n-th of a long run, in order; 1024 at most. Of several devices, the
    /// first one's.
    pub dots: Vec<Dot>,
    /// Some hundred commands that followed each other, late in the run.
    pub close_up: CloseUp,
    /// Latencies of reads and of writes: what share of them took no longer. Empty if there were none.
    pub latencies: [Vec<Quantile>; 2],
}

impl Series {
    /// From when to when each bin is.
    pub fn spans(&self) -> impl Iterator<Item = [Instant; 2]> {
        let begin = |place: usize| Instant(place as u64 * self.bin.0);
        let last = self.bins.len().saturating_sub(1);
        (0..self.bins.len())
            .map(move |place| [begin(place), if place == last { self.end } else { begin(place + 1) }])
    }
}

/// What happened in a bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bin {
    /// Bytes of the reads and of the writes that were done.
    pub bytes: [u64; 2],
    /// 99th percentile of the latencies of reads that were done, within 3 %; 0 if there were none.
    pub read_ns_p99: u64,
    /// The same of writes.
    pub write_ns_p99: u64,
    /// Requests issued and not yet done, on average.
    pub outstanding: f64,
    /// Time in which the scheduler let the device idle although requests waited.
    pub waiting_ns: u64,
    /// Device time for each of [`Series::processes`].
    pub service_ns: Vec<u64>,
}

/// A command that went to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dot {
    /// When it went.
    pub at: Instant,
    /// Where it begins.
    pub start: Sector,
    /// The place of its process in [`Series::processes`].
    pub process: u8,
    /// A write and not a read.
    pub write: bool,
}

/// Commands in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloseUp {
    /// In the order in which they went to the device; 320 at most.
    pub commands: Vec<Close>,
    /// Intervals in which the scheduler let the device idle although requests waited.
    pub waits: Vec<[Instant; 2]>,
}

/// A command of a close-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Close {
    /// When and where it went to the device, and whose it is.
    pub dot: Dot,
    /// When its first request was issued.
    pub issued: Instant,
    /// When the device was done.
    pub done: Instant,
}

/// A point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// The share, from 0 to 1.
    pub share: f64,
    /// No more than this, for that share.
    pub ns: u64,
}
