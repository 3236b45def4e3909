//! Who is in line for a turn, in the slow reference for `turns`.

use super::*;

/// A stream that is ready for a turn.
pub(super) struct Ready {
    pub(super) process: usize,
    pub(super) since: Instant,
    /// Waiting for the stream did not pay among others that think when it came.
    thinks: bool,
}

/// Streams that are ready, in order of when they came, and the time of those that think: how long it is, and when it ends.
#[derive(Default)]
pub(super) struct Line {
    pub(super) ready: Vec<Ready>,
    together: Option<(u64, Option<Instant>)>,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub(super) fn push(&mut self, process: usize, since: Instant, thinks: bool) {
        if self.ready.iter().all(|ready| ready.process != process) {
            self.ready.push(Ready { process, since, thinks });
        }
    }

    pub(super) fn leave(&mut self, process: usize) {
        self.ready.retain(|ready| ready.process != process);
    }

    pub(super) fn first(&self, thinks: bool) -> Option<&Ready> {
        self.ready.iter().find(|ready| ready.thinks == thinks)
    }

    pub(super) fn is_together(&self, now: Instant) -> bool {
        self.together.is_some_and(|(_, until)| until.is_none_or(|until| now < until))
    }

    /// A turn of `length` begins, which is of `process` if it is a stream's. Returns whether it is one more of those that think.
    pub(super) fn begins(&mut self, now: Instant, process: Option<usize>, length: u64, longest: u64) -> bool {
        let thinker = |ready: &&Ready| ready.thinks && Some(ready.process) == process;
        let thinks = self.ready.iter().find(thinker).is_some();
        let again = thinks && self.is_together(now);
        if !again {
            let all = self.ready.iter().filter(|ready| ready.thinks).count() as u64;
            self.together = thinks.then_some((longest.min(length * all), None));
        }
        if let Some(process) = process {
            self.leave(process);
        }
        again
    }

    /// The first request of a turn is done. Returns when those that think have had their time, if it is theirs.
    pub(super) fn first_is_done(&mut self, now: Instant) -> Option<Instant> {
        let (length, until) = self.together.as_mut()?;
        Some(*until.get_or_insert(now + Duration(*length)))
    }
}
