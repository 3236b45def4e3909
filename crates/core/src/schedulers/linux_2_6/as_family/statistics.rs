//! What is known of processes: how long they think, how far they seek, and whether they come back.
//!
//! Probabilities decay as the [means](crate::schedulers::shared::means) of times and distances do.

use crate::request::Request;
use crate::schedulers::shared::means::{HALF, Mean, ONE, decayed, ticks};
use crate::units::{Duration, Instant, Sector};

/// Linux's `MAX_THINKTIME`, 20 ms, less a tick: a longer time counts as this.
const LONGEST_THOUGHT: Duration = Duration::from_ms(19);

/// How likely something is. Each time that it happens or does not has an eighth of the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probability(u64);

impl Probability {
    /// The event has happened.
    pub(super) const fn rise(&mut self) {
        self.0 = decayed(self.0, 1);
    }

    /// The event has not happened.
    pub(super) const fn fall(&mut self) {
        self.0 = decayed(self.0, 0);
    }

    /// More than 50 %.
    pub(super) const fn is_likely(self) -> bool {
        self.0 > HALF
    }

    /// Less than 50 %.
    pub(super) const fn is_unlikely(self) -> bool {
        self.0 < HALF
    }

    /// More than 50 % that both happen.
    pub(super) const fn both_likely(self, other: Probability) -> bool {
        self.0 * other.0 > HALF * ONE
    }

    /// The probability that the event does not happen.
    pub(super) const fn not(self) -> Probability {
        Probability(ONE - self.0)
    }

    pub(super) const fn percent(self) -> u64 {
        self.0 * 100 / ONE
    }
}

/// What is known of all processes together.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    /// A new process exits without a second request: Linux's `exit_prob`.
    pub(super) exit: Probability,
    /// Nobody else continues where a process has exited: Linux's `exit_no_coop`.
    pub(super) no_successor: Probability,
    /// Somebody does: the cooperative exit probability of OLS'05.
    pub(super) cooperative_exit: Probability,
    /// The decaying totals of the first samples of each process.
    thoughts: u64,
    seeks: u64,
}

impl Default for System {
    /// Nothing has happened. Cooperation is expected until there is none.
    fn default() -> Self {
        System {
            exit: Probability(0),
            no_successor: Probability(0),
            cooperative_exit: Probability(ONE),
            thoughts: 0,
            seeks: 0,
        }
    }
}

/// What is known of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// The process has issued a synchronous request.
    issued: bool,
    exited: bool,
    /// When it began to think: when a synchronous request of it was done.
    thinks_since: Option<Instant>,
    /// Where its last synchronous request ends.
    position: Sector,
    thought: Mean,
    seek: Mean,
    /// The process's requests that wait.
    waiting: u64,
}

impl Process {
    /// A request of it is inserted. After an exit, another process has its number now. What waits stays.
    #[inline]
    pub(super) fn inserts(&mut self, system: &mut System, now: Instant, request: &Request) {
        if self.exited {
            *self = Process { waiting: self.waiting, ..Process::default() };
        }
        if request.sync {
            self.issues(system, now, request);
        }
        self.waiting += 1;
    }

    /// One of its requests waits no longer.
    pub(super) fn leaves(&mut self) {
        self.waiting -= 1;
    }

    /// The process issues `request`, which is synchronous and not yet counted as waiting. Its first one tells
    /// nothing.
    pub(super) fn issues(&mut self, system: &mut System, now: Instant, request: &Request) {
        if self.issued || self.thinks_since.is_some() {
            let thought = match self.thinks_since {
                Some(since) if self.waiting == 0 => now.since(since).min(LONGEST_THOUGHT),
                _ => Duration::ZERO,
            };
            let seek = request.start.distance(self.position);
            if self.is_new() {
                system.thoughts = decayed(system.thoughts, thought.0);
                system.seeks = decayed(system.seeks, seek);
                system.exit.fall();
            }
            self.thought.enter_thought(thought);
            self.seek.enter_seek(seek);
        }
        self.issued = true;
        self.position = request.end();
    }

    /// A synchronous request of it is done: it thinks.
    pub(super) fn thinks(&mut self, now: Instant) {
        self.thinks_since = Some(now);
    }

    /// The process thinks from now on, if it thinks.
    pub(super) fn thinks_anew(&mut self, now: Instant) {
        self.thinks_since = self.thinks_since.map(|_| now);
    }

    /// The process will issue nothing more.
    pub(super) fn exit(&mut self) {
        self.exited = true;
    }

    pub(super) const fn has_exited(&self) -> bool {
        self.exited
    }

    /// The process's requests that wait.
    pub(super) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The process has not issued a second synchronous request.
    pub(super) const fn is_new(&self) -> bool {
        self.thought.weight() == 0
    }

    /// The mean time from a completion to its next request; of a new process, the mean of new ones.
    pub(super) const fn mean_thought(&self, system: &System) -> Duration {
        if self.is_new() { ticks(system.thoughts / ONE) } else { self.thought.thought() }
    }

    /// The mean distance between its requests in sectors; of a new process, the mean of new ones.
    pub(super) const fn mean_seek(&self, system: &System) -> u64 {
        if self.is_new() { system.seeks / ONE } else { self.seek.mean() }
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
        system.exit = Probability(200);
        process.issues(&mut system, Instant(0), &read(1000));
        assert!(process.is_new());
        assert_eq!(system.exit, Probability(200));
        process.thinks(Instant(5 * MS));
        process.issues(&mut system, Instant(9 * MS), &read(2008));
        assert!(!process.is_new());
        assert_eq!(system.exit, Probability(175), "it has come back: an eighth less");
        assert_eq!(process.mean_thought(&system).as_ms(), 4 + 4, "128 ticks by the weight 32: 4 more");
        assert_eq!(process.mean_seek(&system), 1000);
        assert_eq!(Process::default().mean_thought(&system), Duration::ZERO, "an eighth of 4 ms: no tick");
        assert_eq!(Process::default().mean_seek(&system), 125);
    }

    #[test]
    fn thinking_counts_at_most_19_ms_and_not_while_requests_wait() {
        let (mut process, mut system) = (Process::default(), System::default());
        process.issues(&mut system, Instant(0), &read(0));
        process.thinks(Instant(0));
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
        assert_eq!(system.seeks / ONE, ((1 << 40) - 8) / 8, "new processes' mean takes it whole");
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
