//! Flushes of the device, as Linux sends them (block/blk-flush.c): one at a time. Who wants one meanwhile waits, and the next is for
//! all of them. None begins while a write is in the device for which it was flushed, since its sharers may want another.

use std::collections::VecDeque;

use idlewise_core::{Operation, Request, RequestId};

/// Who wants the device flushed.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// Those for whom the next flush will be.
    waiting: Vec<RequestId>,
    /// Those for whom the flush in the device is; it has the first one's tag.
    running: Vec<RequestId>,
    /// Writes for which the device was flushed, in the device or about to be sent.
    writes: u32,
    /// Of these, those to be sent.
    ready: VecDeque<RequestId>,
}

impl Flushes {
    /// Whether the device is to be flushed for this request: it is a flush, or a write that comes behind one.
    #[inline]
    pub(crate) fn wanted(request: &Request) -> bool {
        request.operation == Operation::Flush || request.durable.before
    }

    /// Nothing is to be done before the scheduler is asked.
    #[inline]
    pub(crate) fn idle(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }

    /// `id` waits for the next flush.
    pub(crate) fn join(&mut self, id: RequestId) {
        self.waiting.push(id);
    }

    /// A write that may be sent now.
    pub(crate) fn ready(&mut self) -> Option<RequestId> {
        self.ready.pop_front()
    }

    /// The next flush may begin now: for whom, its first one the owner of its tag.
    pub(crate) fn begin(&mut self) -> &[RequestId] {
        if self.running.is_empty() && self.writes == 0 {
            std::mem::swap(&mut self.running, &mut self.waiting);
            return &self.running;
        }
        &[]
    }

    /// `id` owns the flush that runs.
    #[inline]
    pub(crate) fn owns(&self, id: RequestId) -> bool {
        self.running.first() == Some(&id)
    }

    /// The flush is done; for whom it was. Their writes are to be [`sent`](Flushes::send).
    pub(crate) fn end(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.running)
    }

    /// The device was flushed for the write `id`, which is sent next.
    pub(crate) fn send(&mut self, id: RequestId) {
        self.writes += 1;
        self.ready.push_back(id);
    }

    /// A write for which the device was flushed is done.
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
