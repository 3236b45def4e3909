//! Who may switch the scheduler in the middle of a run.

use idlewise_core::host::Follower;
use idlewise_core::registry::SwitchError;
use idlewise_core::{Instant, Queue};

/// Follows a run, and has the queue to itself at times of its own.
pub trait Director<S>: Follower {
    /// When the director wants the queue next, and gets it unless the run ends before.
    fn next(&self) -> Instant {
        Instant::MAX
    }

    /// Nothing may enter the queue, and the director gets the queue after every event.
    fn holds(&self) -> bool {
        false
    }

    /// The director has the queue; true if the scheduler is another one afterwards.
    fn direct(&mut self, _now: Instant, _queue: &mut Queue<S>) -> Result<bool, SwitchError> {
        Ok(false)
    }
}

/// Nobody switches the scheduler.
impl<S> Director<S> for () {}
