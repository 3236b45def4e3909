//! Flushes of the device, as Linux sends them (block/blk-flush.c): one at a time. A request that wants one meanwhile waits, and all
//! that wait share the next flush. A write that comes behind a flush also keeps the next one back until the device has done the write:
//! the requests that shared the flush may want another together.

use std::collections::VecDeque;

use idlewise_core::{Operation, Request, RequestId};

/// The requests that want the device flushed.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// These requests share the next flush.
    waiting: Vec<RequestId>,
    /// These requests share the flush that the device is doing. The first request is its owner: the flush has its tag.
    running: Vec<RequestId>,
    /// The number of writes behind a flush that are in the device or about to be sent.
    writes: u32,
    /// The writes behind a flush that are about to be sent.
    ready: VecDeque<RequestId>,
}

impl Flushes {
    /// Whether the device has to be flushed for this request: the request is a flush, or a write that comes behind one.
    #[inline]
    pub(crate) fn wanted(request: &Request) -> bool {
        request.operation == Operation::Flush || request.durable.before
    }

    /// No flush and no write behind one waits to be sent.
    #[inline]
    pub(crate) fn idle(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }

    /// `id` waits for the next flush.
    pub(crate) fn join(&mut self, id: RequestId) {
        self.waiting.push(id);
    }

    /// Takes the next write behind a flush that is about to be sent.
    pub(crate) fn ready(&mut self) -> Option<RequestId> {
        self.ready.pop_front()
    }

    /// Begins the next flush, if one may begin now. Returns the requests that share it, the owner first.
    pub(crate) fn begin(&mut self) -> &[RequestId] {
        if self.running.is_empty() && self.writes == 0 {
            std::mem::swap(&mut self.running, &mut self.waiting);
            return &self.running;
        }
        &[]
    }

    /// Whether `id` is the owner of the flush that the device is doing.
    #[inline]
    pub(crate) fn owns(&self, id: RequestId) -> bool {
        self.running.first() == Some(&id)
    }

    /// The device has done the flush. Returns the requests that shared it; the caller [sends](Flushes::send) their writes.
    pub(crate) fn end(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.running)
    }

    /// The write `id` follows the flush that the device has done.
    pub(crate) fn send(&mut self, id: RequestId) {
        self.writes += 1;
        self.ready.push_back(id);
    }

    /// The device has done a write behind a flush.
    pub(crate) fn written(&mut self) {
        self.writes -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: RequestId = RequestId(1);
    const B: RequestId = RequestId(2);
    const C: RequestId = RequestId(3);

    #[test]
    fn one_flush_at_a_time_and_the_next_for_all_who_came_meanwhile() {
        let mut flushes = Flushes::default();
        flushes.join(A);
        assert_eq!(flushes.begin(), [A]);
        flushes.join(B);
        flushes.join(C);
        assert!(flushes.begin().is_empty() && flushes.owns(A) && !flushes.owns(B));
        assert_eq!(flushes.end(), [A]);
        assert_eq!(flushes.begin(), [B, C]);
    }

    #[test]
    fn none_begins_before_the_writes_behind_the_last_one_are_done() {
        let mut flushes = Flushes::default();
        flushes.join(A);
        flushes.join(B);
        assert_eq!(flushes.begin(), [A, B]);
        for id in flushes.end() {
            flushes.send(id);
        }
        flushes.join(C);
        assert_eq!((flushes.ready(), flushes.ready(), flushes.ready()), (Some(A), Some(B), None));
        flushes.written();
        assert!(flushes.begin().is_empty());
        flushes.written();
        assert_eq!(flushes.begin(), [C]);
    }
}
