//! What is known of processes: how long they think, how far they seek, and whether they come back.
//!
//! Probabilities decay as the [means](crate::schedulers::means) of times and distances do.

use crate::request::Request;
pub(super) use crate::schedulers::shared::means::{HALF, ONE};
use crate::schedulers::shared::means::{Mean, decayed, ticks};
use crate::units::{Duration, Instant, Sector};

/// Linux's `MAX_THINKTIME`, 20 ms, less a tick: a longer time counts as this.
const LONGEST_THOUGHT: Duration = Duration::from_ms(19);

/// A probability, after what it speaks of has happened.
pub(super) const fn risen(probability: u64) -> u64 {
    decayed(probability, 1)
}

/// A probability, after what it speaks of has not happened.
pub(super) const fn fallen(probability: u64) -> u64 {
    decayed(probability, 0)
}

/// The decaying mean of the first samples of all processes.
#[derive(Clone, Copy, Debug, Default)]
struct Firsts {
    total: u64,
}

impl Firsts {
    fn enter(&mut self, sample: u64) {
        self.total = decayed(self.total, sample);
    }

    const fn mean(self) -> u64 {
        self.total / ONE
    }
}

/// What is known of all processes together.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    /// How likely a new process exits without a second request: Linux's `exit_prob`.
    pub(super) exits: u64,
    /// How likely nobody else goes on where a process has exited: Linux's `exit_no_coop`.
    pub(super) alone: u64,
    /// How likely somebody does: the paper's cooperative exit probability.
    pub(super) helped: u64,
    thoughts: Firsts,
    seeks: Firsts,
}

impl Default for System {
    /// Nothing has happened. Help is expected until there is none.
    fn default() -> Self {
        System { exits: 0, alone: 0, helped: ONE, thoughts: Firsts::default(), seeks: Firsts::default() }
    }
}

/// What is known of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// It has issued a synchronous request.
    issued: bool,
    /// When it began to think: when a synchronous request of it was done.
    thinks_since: Option<Instant>,
    /// Where its last synchronous request ends.
    position: Sector,
    thought: Mean,
    seek: Mean,
    /// Its requests that wait.
    pub(super) waiting: u64,
    pub(super) exited: bool,
}

impl Process {
    /// It issues `request`, which is synchronous and not yet counted as waiting. Its first one tells
    /// nothing.
    pub(super) fn issues(&mut self, system: &mut System, now: Instant, request: &Request) {
        if self.issued || self.thinks_since.is_some() {
            let thought = match self.thinks_since {
                Some(since) if self.waiting == 0 => now.since(since).min(LONGEST_THOUGHT),
                _ => Duration::ZERO,
            };
            self.enter_thought(system, thought);
            self.enter_seek(system, request.start.distance(self.position));
        }
        self.issued = true;
        self.position = request.end();
    }

    fn enter_thought(&mut self, system: &mut System, Duration(thought): Duration) {
        if self.is_new() {
            system.thoughts.enter(thought);
            system.exits = fallen(system.exits);
        }
        self.thought.enter_thought(Duration(thought));
    }

    fn enter_seek(&mut self, system: &mut System, seek: u64) {
        if self.seek.weight() == 0 {
            system.seeks.enter(seek);
        }
        self.seek.enter_seek(seek);
    }

    /// A synchronous request of it is done.
    pub(super) fn done(&mut self, now: Instant) {
        self.thinks_since = Some(now);
    }

    /// It thinks from now on, if it thinks.
    pub(super) fn thinks_anew(&mut self, now: Instant) {
        if let Some(since) = &mut self.thinks_since {
            *since = now;
        }
    }

    /// It issues again after its exit: another process has its number now. What waits stays.
    pub(super) fn begins_anew(&mut self) {
        *self = Process { waiting: self.waiting, ..Process::default() };
    }

    /// It has not issued a second synchronous request.
    pub(super) const fn is_new(&self) -> bool {
        self.thought.weight() == 0
    }

    /// The mean time from a completion to its next request; while it is new, that of new processes.
    pub(super) const fn mean_thought(&self, system: &System) -> Duration {
        ticks(if self.is_new() { system.thoughts.mean() } else { self.thought.mean() })
    }

    /// The mean distance between its requests in sectors; while it is new, that of new processes.
    pub(super) const fn mean_seek(&self, system: &System) -> u64 {
        if self.seek.weight() == 0 { system.seeks.mean() } else { self.seek.mean() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Sectors;

    const MS: u64 = 1_000_000;

    fn read(start: u64) -> Request {
        Request::read(Sector(start), Sectors(8))
    }

    #[test]
    fn the_first_request_tells_nothing_and_the_second_all() {
        let (mut process, mut system) = (Process::default(), System::default());
        system.exits = 200;
        process.issues(&mut system, Instant(0), &read(1000));
        assert!(process.is_new());
        assert_eq!(system.exits, 200);
        process.done(Instant(5 * MS));
        process.issues(&mut system, Instant(9 * MS), &read(2008));
        assert!(!process.is_new());
        assert_eq!(system.exits, 175, "it has come back: an eighth less");
        assert_eq!(process.mean_thought(&system).as_ms(), 4 + 4, "128 ticks by the weight 32: 4 more");
        assert_eq!(process.mean_seek(&system), 1000);
        assert_eq!(Process::default().mean_thought(&system), Duration::ZERO, "an eighth of 4 ms: no tick");
        assert_eq!(Process::default().mean_seek(&system), 125);
    }

    #[test]
    fn thinking_counts_at_most_19_ms_and_not_while_requests_wait() {
        let (mut process, mut system) = (Process::default(), System::default());
        process.issues(&mut system, Instant(0), &read(0));
        process.done(Instant(0));
        process.issues(&mut system, Instant(500 * MS), &read(8));
        assert_eq!(process.mean_thought(&system).as_ms(), 19 + 4);
        process.waiting = 1;
        process.issues(&mut system, Instant(900 * MS), &read(16));
        assert_eq!(process.mean_thought(&system), Duration::from_ms(11), "(7/8 × 32 × 19 + 128) / 60");
        (0..60).for_each(|_| process.issues(&mut system, Instant(900 * MS), &read(16)));
        assert_eq!(process.mean_thought(&system), Duration::ZERO, "less than a tick");
    }

    #[test]
    fn a_long_seek_counts_less_once_much_is_known() {
        let (mut process, mut system) = (Process::default(), System::default());
        for start in [0, 8, 16, 24, 32] {
            process.issues(&mut system, Instant(0), &read(start));
        }
        assert_eq!(process.mean_seek(&system), 0);
        process.issues(&mut system, Instant(0), &read(1 << 40));
        assert_eq!(process.mean_seek(&system), (1 << 17) * 32 / 123, "131 072 of the 2^40 sectors");
        let (mut young, mut system) = (Process::default(), System::default());
        young.issues(&mut system, Instant(0), &read(0));
        young.issues(&mut system, Instant(0), &read(1 << 40));
        assert_eq!(young.mean_seek(&system), 1 << 21);
        assert_eq!(system.seeks.mean(), ((1 << 40) - 8) / 8, "new processes' mean takes it whole");
    }

    #[test]
    fn absurd_distances_do_not_wrap() {
        let (mut process, mut system) = (Process::default(), System::default());
        for round in 0..200 {
            process.issues(&mut system, Instant(0), &read(if round % 2 == 0 { 0 } else { u64::MAX - 8 }));
        }
        assert!(process.mean_seek(&system) > 1 << 50);
    }
}
