//! Completions under way, earliest first: for models that know a completion when the command comes.

use crate::device::Completion;
use crate::error::BuildError;
use alloc::collections::BinaryHeap;
use core::cmp::Ordering;
use idlewise_core::Instant;

/// A completion under way; of two at the same time the one submitted first is first.
#[derive(Clone, Copy, Debug)]
struct Entry {
    completion: Completion,
    serial: u64,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// Reversed: the standard heap has its greatest element on top.
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.completion.at, other.serial).cmp(&(self.completion.at, self.serial))
    }
}

/// Completions under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    /// The earliest of all, so that a single command never enters the heap.
    first: Option<Entry>,
    heap: BinaryHeap<Entry>,
    serial: u64,
}

impl Completions {
    /// Admission for `depth` completions; holds no more.
    pub(crate) fn new(depth: u32) -> Result<Completions, BuildError> {
        let mut heap = BinaryHeap::new();
        heap.try_reserve_exact(depth as usize).map_err(|_| BuildError::Memory)?;
        Ok(Completions { first: None, heap, serial: 0 })
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.heap.len() + usize::from(self.first.is_some())
    }

    #[inline]
    pub(crate) fn push(&mut self, completion: Completion) {
        self.serial += 1;
        let entry = Entry { completion, serial: self.serial };
        match &mut self.first {
            None => self.first = Some(entry),
            Some(first) if completion.at < first.completion.at => {
                self.heap.push(core::mem::replace(first, entry));
            }
            Some(_) => self.heap.push(entry),
        }
    }

    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        self.first.as_ref().map(|entry| entry.completion.at)
    }

    /// Takes the earliest completion if it is due by `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Completion> {
        let completion = self.first.as_ref().filter(|entry| entry.completion.at <= now)?.completion;
        self.first = if self.heap.is_empty() { None } else { self.pop_more() };
        Some(completion)
    }

    /// Apart, so that a device with one command at a time pays little.
    #[inline(never)]
    fn pop_more(&mut self) -> Option<Entry> {
        self.heap.pop()
    }
}
