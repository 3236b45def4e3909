//! How latencies set the number of tokens.
//!
//! Nothing is entered between the time of a check and the next event, so that a check that comes late,
//! with that event, finds what it would have found in time.

use crate::units::{Duration, Instant};

pub(super) const DOMAINS: usize = 4;

/// By domain: tokens at first, and at most.
const MOST: [u32; DOMAINS] = [256, 128, 64, 16];

/// Domains whose latencies are measured: all but the others.
const MEASURED: usize = 3;

/// A bucket is a quarter of the target wide.
const QUARTERS: u64 = 4;

/// Latencies in the first four buckets are good.
const GOOD: u32 = 4;

const BUCKETS: usize = 8;

/// After a completion, latencies are looked at within this time.
const PERIOD: Duration = Duration::from_ms(100);

/// This many latencies are enough for a percentile,
const ENOUGH: u32 = 500;

/// and any number after this time.
const PATIENCE: Duration = Duration::from_s(1);

/// How many latencies are in each bucket.
type Histogram = [u32; BUCKETS];

/// What is known of a domain's latencies.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// From arrival on.
    total: Histogram,
    /// From dispatch on.
    device: Histogram,
    /// When any number of latencies is enough.
    timeout: Option<Instant>,
    /// The bucket of 99 % of `total`, as last seen without congestion.
    remembered: Option<u32>,
}

/// Latencies, and the tokens that follow from them.
pub(super) struct Feedback {
    tokens: [u32; DOMAINS],
    measured: [Measured; MEASURED],
    /// When to look next; `Instant::MAX`: not before something is entered.
    due: Instant,
}

impl Default for Feedback {
    fn default() -> Self {
        Feedback { tokens: MOST, measured: [Measured::default(); MEASURED], due: Instant::MAX }
    }
}

/// The bucket of a latency.
#[inline]
pub(super) fn bucket(latency: Duration, target: Duration) -> usize {
    let width = (target.0 / QUARTERS).max(1);
    let past = latency.0.saturating_sub(1);
    // Most are good, and comparing is faster than dividing.
    (1..BUCKETS as u64).take_while(|bucket| past >= bucket.saturating_mul(width)).count()
}

/// The bucket that holds the latency below which `percent` of all in `histogram` are, which is emptied.
/// `None` if there are too few.
fn percentile(
    histogram: &mut Histogram,
    percent: u32,
    timeout: &mut Option<Instant>,
    now: Instant,
) -> Option<u32> {
    let all: u32 = histogram.iter().sum();
    if all == 0 {
        return None;
    }
    let until = *timeout.get_or_insert(now + PATIENCE);
    if all < ENOUGH && now < until {
        return None;
    }
    *timeout = None;
    let mut left = (u64::from(all) * u64::from(percent)).div_ceil(100);
    let mut found = 0;
    for count in &histogram[..BUCKETS - 1] {
        if u64::from(*count) >= left {
            break;
        }
        left -= u64::from(*count);
        found += 1;
    }
    *histogram = Histogram::default();
    Some(found)
}

impl Feedback {
    /// How many requests of `domain` may be in flight.
    #[inline]
    pub(super) fn tokens(&self, domain: usize) -> u32 {
        self.tokens[domain]
    }

    /// When to look at the latencies.
    #[inline]
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// A request of `domain`, one that is measured, is done.
    #[inline]
    pub(super) fn enter(
        &mut self,
        now: Instant,
        domain: usize,
        target: Duration,
        total: Duration,
        device: Duration,
    ) {
        let measured = &mut self.measured[domain];
        for (histogram, latency) in [(&mut measured.total, total), (&mut measured.device, device)] {
            let count = &mut histogram[bucket(latency, target)];
            *count = count.saturating_add(1);
        }
        self.due = self.due.min(now + PERIOD);
    }

    /// What happens when it is due.
    #[inline(never)]
    pub(super) fn look(&mut self) {
        let now = core::mem::replace(&mut self.due, Instant::MAX);
        let mut congested = false;
        for domain in &mut self.measured {
            let found = percentile(&mut domain.device, 90, &mut domain.timeout, now);
            congested |= found.is_some_and(|bucket| bucket >= GOOD);
        }
        for (index, domain) in self.measured.iter_mut().enumerate() {
            let mut found = percentile(&mut domain.total, 99, &mut domain.timeout, now);
            if congested {
                // What was remembered counts once, lest old latencies take tokens again and again.
                let remembered = domain.remembered.take();
                found = found.or(remembered);
            } else if found.is_some() {
                domain.remembered = found;
            }
            if let Some(bucket) = found.filter(|bucket| congested || *bucket >= GOOD) {
                let tokens = self.tokens[index] * (bucket + 1) / QUARTERS as u32;
                self.tokens[index] = tokens.clamp(1, MOST[index]);
            }
        }
    }
}

#[cfg(test)]
impl Feedback {
    pub(super) fn with_tokens(tokens: [u32; DOMAINS]) -> Feedback {
        Feedback { tokens, ..Feedback::default() }
    }

    /// 500 latencies at this time in a bucket of each of these domains.
    pub(super) fn enter_many<const N: usize>(&mut self, us: u64, domains: [(usize, u64); N]) {
        for (domain, bucket) in domains {
            let latency = Duration(bucket * 10 + 1);
            (0..500).for_each(|_| {
                self.enter(Instant(us * 1000), domain, Duration(40), latency, latency);
            });
        }
    }
}
