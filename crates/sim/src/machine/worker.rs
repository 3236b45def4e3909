//! A worker that waits for a processor as processes do. One asks the scheduler (`kblockd` of Linux), another ends what was written.
//!
//! After a completion the first one is woken. When the worker has a processor, it asks, and sends what the scheduler gives. Sending takes more
//! of the processor's time: the driver takes the data then.

use idlewise_core::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Sleeps,
    Woken,
    Asks,
    Sends,
}

/// The worker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    state: State,
    /// What the worker needs the processor for, and when that last grew.
    debt: Duration,
    since: Instant,
}

impl Worker {
    /// Nothing is to be done.
    pub(super) fn sleeps(&self) -> bool {
        self.state == State::Sleeps && self.debt == Duration::ZERO
    }

    /// The worker waits for a processor.
    pub(super) fn woken(&mut self) {
        self.state = State::Woken;
    }

    /// The worker had the processor for what it wanted.
    pub(super) fn ran(&mut self) {
        self.state = if self.state == State::Woken { State::Asks } else { State::Sleeps };
    }

    /// The worker has the processor, and is to ask now.
    pub(super) fn is_there(&self) -> bool {
        self.state == State::Asks
    }

    /// The worker asks, if it is to.
    pub(super) fn ask(&mut self) -> bool {
        let asks = self.is_there();
        if asks {
            self.state = State::Sleeps;
        }
        asks
    }

    /// What the worker has done at `now` costs `time`.
    pub(super) fn owe(&mut self, now: Instant, time: Duration) {
        self.debt += time;
        self.since = now;
    }

    /// Since when the worker owes time, if it is free to spend some.
    pub(super) fn owes_since(&self) -> Option<Instant> {
        (self.state == State::Sleeps && self.debt > Duration::ZERO).then_some(self.since)
    }

    /// The time for which the worker is to have the processor now.
    pub(super) fn pay(&mut self) -> Option<Duration> {
        self.owes_since()?;
        self.state = State::Sends;
        Some(std::mem::take(&mut self.debt))
    }
}
