//! Another scheduler takes over: at once, or in steps, each as short as the host likes.
//!
//! [`Queue::begin`] exchanges the schedulers and hands nothing over, which takes the same short time whatever waits. After
//! that nobody orders what waits until [`Queue::carry`] hands it to the new scheduler, in order of arrival. Meanwhile:
//!
//! | what | becomes of it |
//! |---|---|
//! | a request that arrives | it waits behind those that are to be handed over, so that the order of arrival is kept |
//! | a dispatch | the new scheduler decides, among those that it has been handed |
//! | a completion | the new scheduler adopts the request, and is told that it is done |
//! | a cancelled request | it is never handed over |
//! | a merge | what has not been handed over takes nothing in |
//! | an exit | it is told after the last request has been handed over, for that may be one of the process |
//! | another scheduler | it begins anew, in order of arrival |

use super::{HostError, Queue};
use crate::request_table::State;
use crate::scheduler::Scheduler;
use crate::units::{Instant, Issuer};

impl<S: Scheduler> Queue<S> {
    /// Puts `successor` in the scheduler's place. Waiting requests move over in order of arrival
    /// with their arrival times; requests in flight complete into the successor. Nothing drains.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn replace(&mut self, now: Instant, successor: S) -> Result<S, HostError> {
        let old = self.begin(now, successor)?;
        self.carry(now, usize::MAX)?;
        Ok(old)
    }

    /// The same, but requests move over only as [`Queue::carry`] is called. To be called until nothing is left.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn begin(&mut self, now: Instant, successor: S) -> Result<S, HostError> {
        self.contents.advance(now)?;
        self.contents.table.hand_all_anew();
        Ok(core::mem::replace(&mut self.scheduler, successor))
    }

    /// Hands at most `count` requests to the scheduler that has taken over. Returns whether more are left. An event, after
    /// which the host asks again.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn carry(&mut self, now: Instant, count: usize) -> Result<bool, HostError> {
        self.contents.advance(now)?;
        for _ in 0..count {
            if !self.carry_one() {
                return Ok(false);
            }
        }
        Ok(self.is_carrying())
    }

    /// Whether [`Queue::carry`] has something to do.
    #[inline]
    pub fn is_carrying(&self) -> bool {
        self.contents.table.any_pending() || !self.contents.exits.is_empty()
    }

    /// False if nothing is left.
    fn carry_one(&mut self) -> bool {
        let Queue { contents, scheduler } = self;
        if let Some(id) = contents.table.hand_next() {
            match contents.table.state(id) {
                _ if contents.table[id].past => {}
                State::Waiting => scheduler.insert(contents.cx(), id),
                _ => scheduler.adopt(contents.cx(), id),
            }
            return true;
        }
        let Some(who) = contents.exits.pop_front() else { return false };
        self.tell_exit(who);
        true
    }

    /// The scheduler is told that `who` has exited.
    pub(super) fn tell_exit(&mut self, who: Issuer) {
        self.scheduler.issuer_gone(self.contents.cx(), who);
        self.contents.table.weights.forget(who);
    }

    /// Whether that can wait until all requests have been handed over. If there is no room, the exit is told now, and a
    /// request of `who` that comes after it is like one of another process that got the number.
    pub(super) fn told_later(&mut self, who: Issuer) -> bool {
        let exits = &mut self.contents.exits;
        let later = self.contents.table.any_pending() && exits.len() < exits.capacity();
        if later {
            exits.push_back(who);
        }
        later
    }
}
