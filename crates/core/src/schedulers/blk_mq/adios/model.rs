//! What ADIOS has learned of the device: how long a request of a kind and size takes.
//!
//! A request of up to 4 KiB is predicted to take the kind's base, a larger one besides that the slope for each
//! KiB more. Both are means of what was measured, without the slowest hundredth.

use alloc::vec::Vec;

use crate::collections::{OutOfMemory, table};
use crate::units::{Duration, Instant};

/// Kinds of requests: reads, writes, discards, others.
pub(super) const KINDS: usize = 4;

/// Requests up to this size make the base, larger ones the slope.
const SMALL: u64 = 4096;

/// Measurements that make an update, at whatever time.
const ENOUGH: u64 = 1024;

/// After this time any number of measurements makes an update.
const PATIENCE: Duration = Duration::from_ms(1500);

/// Models are looked at so long after a completion.
const PERIOD: Duration = Duration::from_ms(100);

/// How many of a hundred measurements are believed.
const BELIEVED: u64 = 99;

const BUCKETS: usize = 64;

/// No prediction is longer, so that sums of them have room.
const LONGEST: u64 = 1 << 40;

/// Measurements: sums by weight.
#[derive(Clone, Copy, Default)]
struct Sum {
    latency: u64,
    bytes: u64,
    weight: u64,
}

/// Measurements by how they compare with what was predicted, of small requests; behind them, of large ones.
const MEASURED: usize = 2 * BUCKETS;

/// When old measurements lose weight, and how much.
#[derive(Clone, Copy)]
pub(super) struct Shrinking {
    pub(super) at_requests: u64,
    pub(super) at_bytes: u64,
    /// Old measurements lose one part in two to the power of this.
    pub(super) resist: u64,
}

/// The model of one kind.
#[derive(Clone, Copy, Default)]
struct Model {
    base: u64,
    slope: u64,
    small: Sum,
    large: Sum,
    updated: Instant,
}

/// The models of all kinds.
pub(super) struct Models {
    models: [Model; KINDS],
    /// By kind what was measured since the last look; last, what was too little for an update then.
    measured: Vec<Sum>,
    /// When to look next; `Instant::MAX`: not before something is entered.
    due: Instant,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.latency = self.latency.saturating_add(other.latency);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.weight = self.weight.saturating_add(other.weight);
    }

    /// The share of `part` in this one's weight.
    fn share(self, part: u64) -> Sum {
        let of = |whole: u64| whole.saturating_mul(part) / self.weight;
        Sum { latency: of(self.latency), bytes: of(self.bytes), weight: part }
    }

    fn shrink(&mut self, resist: u64) {
        self.latency -= self.latency >> resist;
        self.bytes -= self.bytes >> resist;
        self.weight -= self.weight >> resist;
    }
}

/// The sum of the first `percent` hundredths of `histogram`; of the bucket where they end, a share.
fn believed(histogram: &[Sum], percent: u64) -> Sum {
    let all: u64 = histogram.iter().map(|sum| sum.weight).sum();
    let enough = all * percent / 100;
    let mut sum = Sum::default();
    for bucket in histogram {
        if sum.weight + bucket.weight >= enough {
            if bucket.weight > 0 {
                sum.add(bucket.share(enough - sum.weight));
            }
            break;
        }
        sum.add(*bucket);
    }
    sum
}

/// The bucket of a latency: fine where it is near what was predicted.
fn bucket(latency: u64, predicted: u64) -> usize {
    let index = if latency < predicted * 2 {
        latency * 20 / predicted
    } else if latency < predicted * 5 {
        latency * 10 / predicted + 20
    } else {
        latency * 3 / predicted + 40
    };
    // The source keeps the index in a byte: from 72 times the prediction on it begins again.
    usize::from(index as u8).min(BUCKETS - 1)
}

impl Model {
    /// Takes in what was measured of small or `large` requests. False if that is nothing.
    fn take(&mut self, measured: &[Sum], large: bool, shrinking: Shrinking) -> bool {
        let known = if large { self.slope } else { self.base };
        let mut sum = believed(measured, if known == 0 { 100 } else { BELIEVED });
        let full = if large {
            self.large.bytes >= shrinking.at_bytes
        } else {
            self.small.weight >= shrinking.at_requests
        };
        let own = if large { &mut self.large } else { &mut self.small };
        if large && sum.weight == 0 {
            return false;
        }
        if full {
            own.shrink(shrinking.resist);
        }
        if sum.weight == 0 {
            return false;
        }
        if large && sum.latency > self.base {
            sum.latency -= self.base;
        }
        own.add(sum);
        true
    }
}

impl Models {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        let measured = table((KINDS + 1) * MEASURED, Sum::default())?;
        Ok(Models { models: [Model::default(); KINDS], measured, due: Instant::MAX })
    }

    /// Whether requests of `kind` were measured.
    pub(super) fn knows(&self, kind: usize) -> bool {
        self.models[kind].base > 0
    }

    /// How long a request is predicted to take, in nanoseconds.
    pub(super) fn predict(&self, kind: usize, bytes: u64) -> u64 {
        let more = bytes.saturating_sub(SMALL).div_ceil(1024);
        let Model { base, slope, .. } = self.models[kind];
        base.saturating_add(slope.saturating_mul(more)).min(LONGEST)
    }

    /// When to look at what was measured.
    #[inline]
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// A request of `kind` took `latency`, and was predicted to take `predicted`.
    pub(super) fn enter(
        &mut self,
        now: Instant,
        kind: usize,
        (bytes, latency, predicted): (u64, u64, u64),
        weight: u64,
        shrinking: Shrinking,
    ) {
        let base = self.models[kind].base;
        let large = bytes > SMALL;
        if !large || (base > 0 && predicted > 0) {
            let expected = if large { predicted } else { base.max(1) };
            let sum = Sum { latency: latency * weight, bytes: bytes * weight, weight };
            let place = kind * MEASURED + usize::from(large) * BUCKETS + bucket(latency, expected);
            self.measured[place].add(sum);
        }
        if !large && base == 0 {
            self.update(now, kind, shrinking);
        }
        self.due = self.due.min(now + PERIOD);
    }

    /// What happens when it is due.
    #[inline(never)]
    pub(super) fn look(&mut self, shrinking: Shrinking) {
        let now = core::mem::replace(&mut self.due, Instant::MAX);
        for kind in 0..KINDS {
            self.update(now, kind, shrinking);
        }
    }

    /// Updates the model of `kind` with what was measured of it, and with what is left of others.
    fn update(&mut self, now: Instant, kind: usize, shrinking: Shrinking) {
        let (all, left) = self.measured.split_at_mut(KINDS * MEASURED);
        let model = &mut self.models[kind];
        for (left, own) in left.iter_mut().zip(&mut all[kind * MEASURED..]) {
            left.add(core::mem::take(own));
        }
        let late = model.base == 0 || model.updated + PATIENCE <= now;
        let mut updated = [false; 2];
        for large in [false, true] {
            let histogram = &mut left[usize::from(large) * BUCKETS..][..BUCKETS];
            let weight: u64 = histogram.iter().map(|sum| sum.weight).sum();
            let unknown = if large { model.slope == 0 } else { model.base == 0 };
            if weight > 0 && (late || weight >= ENOUGH || unknown) {
                updated[usize::from(large)] = model.take(histogram, large, shrinking);
                histogram.fill(Sum::default());
            }
        }
        if updated[0] && model.small.weight > 0 {
            model.base = model.small.latency / model.small.weight;
        }
        if updated[1] && model.large.bytes > 0 {
            model.slope = model.large.latency / model.large.bytes.div_ceil(1024);
        }
        if late || updated != [false; 2] {
            model.updated = now;
        }
    }
}
