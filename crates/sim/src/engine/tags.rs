//! The device's hardware queues: each has tags for a number of commands, and a command goes through one of the queues.
//!
//! A process runs on one processor, whose hardware queue its requests go through: here the processes are dealt out
//! to the queues in turn, by their numbers. Linux asks the scheduler, which is one for all, as long as a queue has a
//! tag. What the scheduler then gives may be for another queue, of which all tags are taken: it is held back, goes
//! before everything else of its queue, and Linux asks no further until something happens.

use std::collections::VecDeque;

use idlewise_core::{Request, RequestId};

/// The tags of all hardware queues.
#[derive(Debug)]
pub(crate) struct Tags {
    /// Tags that are free, of all queues.
    free: u32,
    /// If there is more than one queue.
    split: Option<Split>,
}

#[derive(Debug)]
struct Split {
    /// By queue.
    free: Vec<u32>,
    /// By queue: what the scheduler has dispatched and no tag was free for.
    held: Vec<VecDeque<RequestId>>,
}

impl Split {
    fn of(&self, request: &Request) -> usize {
        request.issuer.0 as usize % self.free.len()
    }
}

impl Tags {
    /// `depth` tags, dealt out to as many of `queues` as there are tags for.
    pub(crate) fn new(depth: u32, queues: u32) -> Tags {
        let queues = queues.min(depth).max(1);
        let share = |queue| depth / queues + u32::from(queue < depth % queues);
        let split = (queues > 1).then(|| Split {
            free: (0..queues).map(share).collect(),
            held: (0..queues).map(|_| VecDeque::new()).collect(),
        });
        Tags { free: depth, split }
    }

    /// Whether a queue has a tag: the scheduler may be asked.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.free > 0
    }

    /// Takes a tag for `request`, which the scheduler has dispatched as `id`. False: its queue has none, and it is
    /// held back.
    #[inline]
    pub(crate) fn take(&mut self, id: RequestId, request: &Request) -> bool {
        if let Some(split) = &mut self.split {
            let queue = split.of(request);
            if split.free[queue] == 0 {
                split.held[queue].push_back(id);
                return false;
            }
            split.free[queue] -= 1;
        }
        self.free -= 1;
        true
    }

    /// `request` is done with its tag. Somebody of its queue who was held back has it now.
    #[inline]
    pub(crate) fn give_back(&mut self, request: &Request) -> Option<RequestId> {
        if let Some(split) = &mut self.split {
            let queue = split.of(request);
            if let Some(next) = split.held[queue].pop_front() {
                return Some(next);
            }
            split.free[queue] += 1;
        }
        self.free += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Issuer, Sector, Sectors};

    use super::*;

    fn by(issuer: u32) -> Request {
        Request::read(Sector(0), Sectors(8)).by(Issuer(issuer))
    }

    #[test]
    fn one_queue_has_all_tags() {
        let mut tags = Tags::new(2, 1);
        assert!(tags.take(RequestId(0), &by(1)) && tags.take(RequestId(1), &by(1)) && !tags.any());
        assert_eq!((tags.give_back(&by(1)), tags.any()), (None, true));
    }

    #[test]
    fn what_its_queue_has_no_tag_for_is_held_back_and_goes_first() {
        // Tags 2 and 1: of processes 0, 2, … and 1, 3, ….
        let mut tags = Tags::new(3, 2);
        assert!(tags.take(RequestId(0), &by(1)));
        assert!(!tags.take(RequestId(1), &by(3)) && !tags.take(RequestId(2), &by(5)) && tags.any());
        assert!(tags.take(RequestId(3), &by(2)) && tags.take(RequestId(4), &by(4)) && !tags.any());
        assert_eq!(tags.give_back(&by(1)), Some(RequestId(1)));
        assert_eq!(tags.give_back(&by(3)), Some(RequestId(2)));
        assert!(!tags.any());
        assert_eq!((tags.give_back(&by(5)), tags.any()), (None, true));
    }

    #[test]
    fn there_are_no_queues_without_tags() {
        let mut tags = Tags::new(1, 4);
        assert!(tags.take(RequestId(0), &by(3)) && !tags.any());
        assert_eq!((tags.give_back(&by(3)), tags.any()), (None, true));
    }
}
