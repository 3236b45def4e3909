//! Another scheduler takes over: at once, or in steps, each as short as the host likes.
//!
//! [`Queue::begin`] replaces the scheduler and hands no request over. The new scheduler gets what the old one has learned
//! of the drive ([`Learned`](crate::learned::Learned)). [`Queue::carry`] then hands it the waiting requests in order of
//! arrival, some at a time. If [`Queue::keep_order`] was called when the queue was built, the queue always knows that
//! order, and `begin` takes the same short time however many requests wait. Without that the first switch sorts them.
//! Until all requests are handed over:
//!
//! | what | becomes of it |
//! |---|---|
//! | a request that arrives | it waits behind those that are to be handed over, so that the order of arrival is kept |
//! | a dispatch | the new scheduler decides, among those that it has been handed |
//! | a completion | the new scheduler adopts the request, and is told that it is done |
//! | a cancelled request | it is never handed over |
//! | a merge | what has not been handed over takes nothing in |
//! | an exit | the scheduler learns of it after the last request has been handed over, for that may be one of the process |
//! | another switch | the handover starts over, in order of arrival |

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

    /// The order of arrival is kept from now on, so that [`Queue::begin`] takes the same short time whatever waits. Without
    /// that the first switch sorts what waits, and begins to keep it.
    pub fn keep_order(&mut self) {
        self.contents.table.keep_order();
    }

    /// The same, but requests move over only as [`Queue::carry`] is called. To be called until nothing is left.
    ///
    /// # Errors
    /// [`HostError::TimeWentBack`].
    pub fn begin(&mut self, now: Instant, successor: S) -> Result<S, HostError> {
        self.contents.advance(now)?;
        self.contents.table.hand_all_anew();
        let old = core::mem::replace(&mut self.scheduler, successor);
        if let Some(learned) = old.learned() {
            self.contents.device.learned.clone_from(learned);
        }
        self.scheduler.inherit(&self.contents.device.learned);
        Ok(old)
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

    /// Whether that can wait until all requests have been handed over. If there is no room, the exit is reported now, and a
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collections::OutOfMemory;
    use crate::device::{Device, Merging};
    use crate::request::Request;
    use crate::scheduler::{Cx, Decision};
    use crate::units::{RequestId, Sector, Sectors};
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Writes down what it is told, and gives nothing out but when it is told to.
    #[derive(Default)]
    struct Told(Vec<String>, Option<RequestId>);

    impl Scheduler for Told {
        fn insert(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.push(std::format!("insert {}", id.0));
        }
        fn dispatch(&mut self, _: Cx<'_>) -> Decision {
            self.1.take().map_or(Decision::Idle, Decision::Dispatch)
        }
        fn complete(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.push(std::format!("complete {}", id.0));
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.push(std::format!("remove {}", id.0));
        }
        fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
            self.0.push(std::format!("gone {}", who.0));
        }
        fn adopt(&mut self, _: Cx<'_>, id: RequestId) {
            self.0.push(std::format!("adopt {}", id.0));
        }
    }

    const NOW: Instant = Instant(5);

    fn queue(ids: u32) -> Queue<Told> {
        let device = Device { merging: Merging::Off, ..Device::default() };
        let mut queue = Queue::with(8, device, |_| Ok::<_, OutOfMemory>(Told::default())).unwrap();
        for id in 0..ids {
            let request = Request::read(Sector(u64::from(id) * 8), Sectors(8));
            queue.insert_as(NOW, RequestId(id), request.by(Issuer(id + 1))).unwrap();
        }
        queue
    }

    fn told(queue: &mut Queue<Told>) -> Vec<String> {
        core::mem::take(&mut queue.scheduler_mut().0)
    }

    #[test]
    fn each_step_hands_over_as_many_as_it_is_told_to() {
        let mut queue = queue(4);
        queue.scheduler_mut().1 = Some(RequestId(1));
        queue.dispatch(NOW).unwrap();
        queue.begin(NOW, Told::default()).unwrap();
        assert_eq!(told(&mut queue), [""; 0]);
        assert_eq!(queue.carry(NOW, 2), Ok(true));
        assert_eq!(told(&mut queue), ["insert 0", "adopt 1"]);
        assert_eq!(queue.carry(NOW, 2), Ok(false));
        assert_eq!(told(&mut queue), ["insert 2", "insert 3"]);
        assert!(!queue.is_carrying());
    }

    #[test]
    fn what_arrives_and_who_exits_wait_for_their_turn() {
        let mut queue = queue(2);
        queue.begin(NOW, Told::default()).unwrap();
        queue.issuer_gone(NOW, Issuer(2)).unwrap();
        queue.insert_as(NOW, RequestId(5), Request::default()).unwrap();
        assert_eq!(told(&mut queue), [""; 0]);
        assert_eq!(queue.carry(NOW, 3), Ok(true), "the exit is left");
        queue.carry(NOW, 9).unwrap();
        assert_eq!(told(&mut queue), ["insert 0", "insert 1", "insert 5", "gone 2"]);
        queue.issuer_gone(NOW, Issuer(1)).unwrap();
        assert_eq!(told(&mut queue), ["gone 1"]);
    }

    #[test]
    fn what_is_done_or_withdrawn_meanwhile_is_not_handed_over() {
        let mut queue = queue(4);
        queue.scheduler_mut().1 = Some(RequestId(0));
        queue.dispatch(NOW).unwrap();
        queue.begin(NOW, Told::default()).unwrap();
        queue.complete(NOW, RequestId(0)).unwrap();
        queue.cancel(NOW, RequestId(1)).unwrap();
        queue.carry(NOW, 9).unwrap();
        assert_eq!(told(&mut queue), ["adopt 0", "complete 0", "insert 2", "insert 3"]);
    }

    #[test]
    fn another_switch_begins_anew() {
        let mut queue = queue(3);
        queue.begin(NOW, Told::default()).unwrap();
        queue.carry(NOW, 2).unwrap();
        let old = queue.begin(NOW, Told::default()).unwrap();
        assert_eq!(old.0, ["insert 0", "insert 1"]);
        queue.carry(NOW, 9).unwrap();
        assert_eq!(told(&mut queue), ["insert 0", "insert 1", "insert 2"]);
    }

    #[test]
    fn what_has_not_been_handed_over_takes_nothing_in() {
        let (mut queue, [handed, pending]) = (queue(2), [0, 1].map(RequestId));
        queue.begin(NOW, Told::default()).unwrap();
        queue.carry(NOW, 1).unwrap();
        let new = Request::read(Sector(16), Sectors(8));
        assert!(queue.may_merge(handed, &new) && !queue.may_merge(pending, &new));
        let error = HostError::NotHandedOver(pending);
        let refused = Err(error);
        assert_eq!(queue.grown(NOW, pending, Sector(8), Sectors(16)), refused);
        assert_eq!(queue.absorbed(NOW, handed, pending), refused);
        assert_eq!(queue.absorbed(NOW, pending, handed), refused);
        assert!(error.to_string().starts_with("request #1 has not been handed"));
        queue.carry(NOW, 9).unwrap();
        assert!(queue.may_merge(pending, &new));
    }

    #[test]
    fn order_that_is_kept_from_the_beginning_is_that_which_is_sorted() {
        for kept in [false, true] {
            let mut queue = queue(0);
            if kept {
                queue.keep_order();
            }
            for id in [3, 0, 4, 1] {
                queue.insert_as(NOW, RequestId(id), Request::default()).unwrap();
            }
            queue.cancel(NOW, RequestId(0)).unwrap();
            for _ in 0..2 {
                queue.replace(NOW, Told::default()).unwrap();
                assert_eq!(told(&mut queue), ["insert 3", "insert 4", "insert 1"], "{kept}");
            }
        }
    }

    #[test]
    fn an_earlier_arrival_brings_its_place() {
        let mut queue = queue(3);
        // The last takes in the first, and goes before the second from then on.
        queue.absorbed(NOW, RequestId(2), RequestId(0)).unwrap();
        queue.replace(NOW, Told::default()).unwrap();
        assert_eq!(told(&mut queue), ["insert 2", "insert 1"]);
    }
}
