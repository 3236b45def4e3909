//! How a process or a chain of processes behaves: whether it continues where it stopped, and how soon.

use crate::request::{Operation, Request};
use crate::units::{Duration, Sector, Sectors};

/// Near is within 4 MiB: what a disk reads ahead by itself, and where a file's next part or the next file of a directory lies.
const NEAR: u64 = 8192;
/// With this score a process is a stream.
const STREAM: u8 = 2;
/// The greatest score: a stream may jump to another file and is still one.
const MOST: u8 = 8;
/// Who thinks longer is not waited for, and nobody is waited for longer.
const LONGEST: Duration = Duration::from_ms(8);
/// A longer time between requests counts as this.
const ABSENT: Duration = Duration::from_ms(64);
/// Who thinks no longer must not lose its place (SOSP'01 §3.4).
const SOON: Duration = Duration::from_ms(3);
/// Who goes on at once does so within this time.
pub(super) const PROMPT: Duration = Duration::from_ms(1);
/// Certainty.
const ONE: u16 = 256;

/// What is known of a process or of a chain of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    /// Where its last request ends.
    pub(super) end: Option<Sector>,
    score: u8,
    /// The last request was a write.
    writes: bool,
    /// Mean time from a completion to the next request.
    thought: Option<Duration>,
    /// What waits for it are worth: a short one, for whoever goes on at once, and a long one.
    short: Wait,
    long: Wait,
    /// How long each sector of its last read in a turn took, thinking included, in sixteenths of a nanosecond. 0: not known.
    pace: u64,
}

/// What waits of one length have been worth.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// How often such a wait is in vain, of 256.
    vain: u16,
    /// How long it takes on average, in vain or not.
    spent: Duration,
}

impl Wait {
    /// The next request came after `thought`. A wait would have ended after `length`.
    fn learn(&mut self, thought: Duration, length: Duration) {
        let late = if thought > length { ONE } else { 0 };
        self.vain = (self.vain * 7 + late) / 8;
        self.spent = (self.spent * 7 + thought.min(length)) / 8;
    }

    /// What it saves if to leave costs `leaving`, in 256ths of a nanosecond: nothing if it is in vain.
    fn saves(&self, leaving: Duration) -> i64 {
        let (saved, spent) = (leaving * u64::from(ONE - self.vain), self.spent * u64::from(ONE));
        saved.0 as i64 - spent.0 as i64
    }
}

impl Habits {
    /// A request is issued after `thought`, if its process had nothing to wait for.
    pub(super) fn learn(&mut self, request: &Request, thought: Option<Duration>) {
        if let Some(end) = self.end {
            let near = end.distance(request.start) <= NEAR;
            self.score = if near { (self.score + 1).min(MOST) } else { self.score.saturating_sub(2) };
        }
        self.end = Some(request.end());
        self.writes = request.operation == Operation::Write;
        let Some(sample) = thought.map(|thought| thought.min(ABSENT)) else { return };
        self.short.learn(sample, PROMPT);
        self.long.learn(sample, LONGEST);
        self.thought = Some((self.thought.unwrap_or(sample) * 7 + sample) / 8);
    }

    /// A read of `length` is done, `time` after what was done in the same turn before.
    pub(super) fn reads(&mut self, length: Sectors, time: Duration) {
        self.pace = time.0.saturating_mul(16) / u64::from(length.0).max(1);
    }

    /// How long its turn takes it for `parts` sixteenths of a sector. `None`: not known.
    pub(super) fn takes(&self, parts: u64) -> Option<Duration> {
        (self.pace > 0).then(|| Duration(parts.saturating_mul(self.pace) / 256))
    }

    /// Whether it continues where it left off, and soon.
    pub(super) fn streams(&self) -> bool {
        self.score >= STREAM && self.thought.is_none_or(|mean| mean <= LONGEST)
    }

    /// How long to wait for it where it must not lose its place.
    pub(super) fn expected(&self) -> Option<Duration> {
        self.thought.filter(|mean| *mean <= SOON).map(|_| LONGEST)
    }

    /// How long to wait for it if to leave it costs `leaving`: of a short wait and a long one the one that saves more, or the short one.
    /// `None`: neither pays.
    pub(super) fn worth(&self, leaving: Duration) -> Option<Duration> {
        let (short, long) = (self.short.saves(leaving), self.long.saves(leaving));
        let wait = if short >= long { PROMPT } else { LONGEST };
        (self.streams() && short.max(long) >= 0).then_some(wait)
    }

    /// What it costs to leave it, if others cost `leaving`. A drive with a queue has what it wrote in its buffer, so
    /// that only who writes on at once is waited for.
    pub(super) fn leaving(&self, leaving: Duration, queue: bool) -> Duration {
        if self.writes && queue { leaving.min(PROMPT) } else { leaving }
    }

    /// Whether `request` begins near where it left off.
    pub(super) fn is_near(&self, request: &Request) -> bool {
        self.end.is_some_and(|end| end.distance(request.start) <= NEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(steady.worth(Duration::from_ms(4)).is_some() && steady.worth(Duration::from_ms(2)).is_none());
        // Two of three short waits take nothing, the third is in vain. A long one is in vain as often, and takes 8 ms.
        let bursts = habits(&[0, 0, 15]);
        assert!(bursts.streams() && bursts.worth(Duration::from_ms(8)) == Some(PROMPT));
        // Here a long wait is never in vain, and saves a third of coming back more.
        let slower = habits(&[0, 0, 6]);
        assert_eq!(slower.worth(Duration::from_ms(8)), Some(LONGEST));
        assert_eq!(slower.worth(Duration::from_ms(5)), Some(PROMPT));
        // Each is too long to be waited for.
        assert!(!habits(&[20]).streams());
    }
}
