//! How a process or a chain of processes behaves: whether it continues where it stopped, and how soon.

use crate::request::Request;
use crate::units::{Duration, Sector};

/// Near is within 4 MiB: what a disk reads ahead by itself, and where a file's next part or the next file of a directory lies.
const NEAR: u64 = 8192;
/// With this score a process is a stream.
const STREAM: u8 = 2;
/// The greatest score: a stream may jump to another file and is still one.
const MOST: u8 = 8;
/// Who thinks longer is not waited for.
const LONGEST_THOUGHT: Duration = Duration::from_ms(8);
/// A longer time between requests counts as this.
const ABSENT: Duration = Duration::from_ms(64);
/// Waits are at least this long, for a thought may vary more than what has been seen of it; and at most that.
const WAITS: (Duration, Duration) = (Duration::from_ms(3), Duration::from_ms(8));
/// Who thinks for the same time each time is late by a little at times.
const MARGIN: Duration = Duration::from_ms(1);
/// Certainty.
const ONE: u16 = 256;

/// What is known of a process or of a chain of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    /// Where its last request ends.
    pub(super) end: Option<Sector>,
    score: u8,
    /// Mean and mean deviation of the time from a completion to the next request.
    thought: Option<(Duration, Duration)>,
    /// How often a wait for it is in vain, of 256.
    vain: u16,
    /// How long a wait for it takes on average, in vain or not.
    spent: Duration,
}

impl Habits {
    /// A request is issued after `thought`, if its process had nothing to wait for.
    pub(super) fn learn(&mut self, request: &Request, thought: Option<Duration>) {
        if let Some(end) = self.end {
            let near = end.distance(request.start) <= NEAR;
            self.score = if near { (self.score + 1).min(MOST) } else { self.score.saturating_sub(2) };
        }
        self.end = Some(request.end());
        let Some(sample) = thought.map(|thought| thought.min(ABSENT)) else { return };
        let late = if sample > self.wait() { ONE } else { 0 };
        self.vain = (self.vain * 7 + late) / 8;
        self.spent = (self.spent * 7 + sample.min(self.wait())) / 8;
        let (mean, deviation) = self.thought.unwrap_or((sample, sample / 2));
        let off = (mean - sample) + (sample - mean);
        self.thought = Some(((mean * 7 + sample) / 8, (deviation * 7 + off) / 8));
    }

    /// Whether it continues where it left off, and soon.
    pub(super) fn streams(&self) -> bool {
        let thought = self.thought.map_or(Duration::ZERO, |(mean, _)| mean);
        self.score >= STREAM && thought <= LONGEST_THOUGHT
    }

    /// How long to wait for it.
    pub(super) fn wait(&self) -> Duration {
        let (mean, deviation) = self.thought.unwrap_or_default();
        (mean + deviation * 4 + MARGIN).max(WAITS.0).min(WAITS.1)
    }

    /// How long to wait for it where it must not lose its place: if it thinks for no longer than 3 ms (SOSP'01 §3.4).
    pub(super) fn expected(&self) -> Option<Duration> {
        self.thought.filter(|(mean, _)| *mean <= WAITS.0).map(|_| self.wait())
    }

    /// Whether waiting pays, if to leave costs `leaving`: what waits take against what those that are not in vain save.
    pub(super) fn pays(&self, leaving: Duration) -> bool {
        self.streams() && self.spent * u64::from(ONE) <= leaving * u64::from(ONE - self.vain)
    }

    /// Whether `request` begins near where it left off.
    pub(super) fn is_near(&self, request: &Request) -> bool {
        self.end.is_some_and(|end| end.distance(request.start) <= NEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;

    /// What is known of somebody who reads on after each of these thoughts, in ms, again and again.
    fn habits(thoughts: &[u64]) -> Habits {
        let mut habits = Habits::default();
        for (step, thought) in thoughts.iter().cycle().take(64).enumerate() {
            let request = Request::read(Sector(step as u64 * 8), Sectors(8));
            habits.learn(&request, Some(Duration::from_ms(*thought)));
        }
        habits
    }

    #[test]
    fn a_wait_pays_if_it_costs_less_than_to_come_back() {
        let steady = habits(&[3]);
        assert!(steady.pays(Duration::from_ms(4)) && !steady.pays(Duration::from_ms(2)));
        // Of three waits one is in vain and takes 8 ms: 16 ms of coming back are saved by 8 ms of waiting, but no 6 ms are.
        let adversary = habits(&[0, 0, 15]);
        assert!(adversary.streams() && adversary.pays(Duration::from_ms(8)));
        assert!(!adversary.pays(Duration::from_ms(3)));
        // Each is too long to be waited for.
        assert!(!habits(&[20]).streams());
    }
}
