//! Flushes of the device, as Linux sends them (block/blk-flush.c): one at a time. Who wants one meanwhile waits, and the next is for
//! all of them. None begins while a write is in the device for which it was flushed, since its sharers may want another.

use std::collections::VecDeque;

use idlewise_core::{Operation, Request, RequestId, Scheduler, Sector, Sectors};
use idlewise_disk::{Command, Completion, DiskModel};

use super::director::Director;
use super::{Engine, EngineError, Observer, Workload};

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

impl<W: Workload + ?Sized, S: Scheduler, D: DiskModel, O: Observer, C: Director<S>>
    Engine<'_, W, S, D, O, C>
{
    /// Sends the flush whose tag is the one of `id`.
    #[cold]
    pub(super) fn send_flush(&mut self, id: RequestId) -> Result<(), EngineError> {
        let now = self.now;
        let (operation, start, length) = (Operation::Flush, Sector(0), Sectors(0));
        let flush = Command { tag: id.0, operation, start, length, fua: false };
        self.device.submit(now, flush).map_err(|error| EngineError::Device { now, error })
    }

    /// The device has been flushed. What was only that is done; the writes behind it are to be sent.
    #[cold]
    pub(super) fn flushed(&mut self, completion: &Completion) -> Result<(), EngineError> {
        let owner = RequestId(completion.tag);
        let held = self.tags.give_back(self.host.queue().request(owner));
        let (writes, flushes): (Vec<_>, Vec<_>) =
            self.flushes.end().into_iter().partition(|id| self.host.queue().request(*id).durable.before);
        writes.into_iter().for_each(|id| self.flushes.send(id));
        if let Some(first) = flushes.first() {
            self.observer.served(self.now, *first, completion);
        }
        let service = completion.at.since(completion.started).0;
        for id in &flushes {
            self.complete(*id, service / flushes.len() as u64)?;
        }
        held.map_or(Ok(()), |held| self.submit_held(held))
    }

    /// Sends a write for which the device was flushed, or the next flush; false if there is nothing to send now.
    #[cold]
    pub(super) fn flush(&mut self) -> Result<bool, EngineError> {
        let mut next = self.flushes.ready();
        if next.is_none() {
            let whose = self.flushes.begin().to_vec();
            let only = |id: &&RequestId| !self.host.queue().request(**id).durable.before;
            let only: Vec<RequestId> = whose.iter().filter(only).copied().collect();
            // One command, which the first of them stands for.
            if let Some(first) = only.first() {
                self.observer.dispatched(self.now, *first);
            }
            only.into_iter().for_each(|id| self.tell_sent(id));
            next = whose.first().copied();
        }
        let Some(id) = next else { return Ok(false) };
        if self.tags.take(id, self.host.queue().request(id)) {
            self.submit(id)?;
        }
        Ok(true)
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
