//! Tables of bounded size: issuers, devices, and intervals of time that widen as time goes on.

use crate::traces::info::{Rate, Share};
use std::collections::HashMap;

/// Issuers that are told apart.
pub(super) const MAX_ISSUERS: usize = 4096;

/// Intervals of time.
const INTERVALS: usize = 40;

/// One issuer's or device's part so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// Where the last request ended, and on which device.
    pub(super) end: Option<(u32, u64)>,
}

impl Part {
    pub(super) fn add(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Issuers by number.
#[derive(Default)]
pub(super) struct IssuerTable {
    parts: HashMap<u32, Part>,
    /// Requests of issuers that found no room.
    others: u64,
    pub(super) unknown: u64,
}

impl IssuerTable {
    /// The part of `issuer`, unless the table is full of others.
    pub(super) fn part(&mut self, issuer: u32) -> Option<&mut Part> {
        if self.parts.len() >= MAX_ISSUERS && !self.parts.contains_key(&issuer) {
            self.others += 1;
            return None;
        }
        Some(self.parts.entry(issuer).or_default())
    }

    /// Requests of all issuers but those in `listed`.
    pub(super) fn others(&self, listed: &[Share]) -> u64 {
        let all = self.parts.values().map(|part| part.requests).sum::<u64>() + self.others;
        all - listed.iter().map(|share| share.requests).sum::<u64>()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The `count` with the most bytes; equals in the order of their numbers.
    pub(super) fn top(&self, count: usize, name: impl Fn(u32) -> Option<String>) -> Vec<Share> {
        largest(self.parts.iter().map(|(&id, part)| (id, *part)), count, name)
    }
}

/// The `count` parts with the most bytes; equals in the order of their numbers.
pub(super) fn largest(
    parts: impl Iterator<Item = (u32, Part)>,
    count: usize,
    name: impl Fn(u32) -> Option<String>,
) -> Vec<Share> {
    let mut all: Vec<(u32, Part)> = parts.filter(|(_, part)| part.requests > 0).collect();
    all.sort_by_key(|&(id, part)| (std::cmp::Reverse((part.bytes, part.requests)), id));
    all.truncate(count);
    let share = |(id, part): (u32, Part)| {
        let Part { requests, bytes, .. } = part;
        Share { id, name: name(id), requests, bytes }
    };
    all.into_iter().map(share).collect()
}

/// Requests over time. When time runs out of the last interval, neighbours are joined and the
/// width doubles.
pub(super) struct RateTable {
    counts: [u64; INTERVALS],
    /// The width, in nanoseconds.
    width: u64,
    last: usize,
}

impl Default for RateTable {
    fn default() -> Self {
        RateTable { counts: [0; INTERVALS], width: 1_000, last: 0 }
    }
}

impl RateTable {
    pub(super) fn add(&mut self, time: u64) {
        while time / self.width >= INTERVALS as u64 {
            for at in 0..INTERVALS {
                let two = self.counts.get(2 * at..2 * at + 2).map_or(0, |pair| pair.iter().sum());
                self.counts[at] = two;
            }
            self.width = self.width.saturating_mul(2);
        }
        let at = (time / self.width) as usize;
        self.counts[at] += 1;
        self.last = at;
    }

    pub(super) fn rate(&self) -> Rate {
        let requests = self.counts[..=self.last].to_vec();
        Rate { interval_ns: self.width, requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_widen_and_lose_nothing() {
        let mut table = RateTable::default();
        for time in (0..1_000_000_000u64).step_by(10_000) {
            table.add(time);
        }
        let rate = table.rate();
        assert_eq!(rate.requests.iter().sum::<u64>(), 100_000);
        assert!(rate.requests.len() > INTERVALS / 2 && rate.requests.len() <= INTERVALS);
        table.add(u64::MAX);
        assert_eq!(table.rate().requests.iter().sum::<u64>(), 100_001);
    }

    #[test]
    fn issuers_are_bounded() {
        let mut table = IssuerTable::default();
        for issuer in 0..5000 {
            if let Some(part) = table.part(issuer) {
                part.add(u64::from(issuer));
            }
        }
        assert_eq!((table.len(), table.others), (MAX_ISSUERS, 5000 - MAX_ISSUERS as u64));
        let top = table.top(2, |_| None);
        assert_eq!(top.iter().map(|share| share.id).collect::<Vec<_>>(), [4095, 4094]);
        assert_eq!(table.others(&top), 5000 - 2);
    }
}
