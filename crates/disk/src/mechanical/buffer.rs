//! The drive's buffer: segments, each holding one run of addresses, replaced least recently used first.
//!
//! A segment is empty (`start == end`) or holds `start..end`. What was written may serve reads too.
//! One segment can be set apart for writes.

use super::spec::BufferSpec;
use crate::error::{BuildError, filled};
use alloc::vec::Vec;

/// One run of addresses in the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    /// First address held.
    pub(super) start: u64,
    /// Address after the last one held.
    pub(super) end: u64,
    /// Where the present stream of reads began.
    pub(super) origin: u64,
    /// How far reading on may go; never shrinks while the segment serves one stream.
    pub(super) read_limit: u64,
    /// Larger is more recent.
    pub(super) used: u64,
    /// The segment holds what a write brought.
    pub(super) written: bool,
}

/// The segments.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) segments: Vec<Segment>,
    /// First segment that reads may use.
    first_read: usize,
    size: u64,
    clock: u64,
    hits: bool,
    hits_on_writes: bool,
    gives_up: bool,
}

impl Buffer {
    pub(super) fn new(spec: &BufferSpec) -> Result<Buffer, BuildError> {
        let separate = spec.separate_write_segment && spec.segments > 1;
        if spec.segments == 0 || spec.segment_sectors == 0 {
            return Err(BuildError::Zero { what: "the number or size of buffer segments" });
        }
        if spec.segments > 255 {
            return Err(BuildError::TooMany { what: "buffer segments", limit: 255 });
        }
        Ok(Buffer {
            segments: filled(spec.segments as usize, Segment::default())?,
            first_read: usize::from(separate),
            size: u64::from(spec.segment_sectors),
            clock: 0,
            hits: spec.read_cache,
            hits_on_writes: spec.hits_on_writes,
            gives_up: spec.gives_up_requested(),
        })
    }

    /// Sectors in a segment.
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The segment that holds `address` and most of what follows it.
    #[inline]
    pub(super) fn find(&self, address: u64, end: u64) -> Option<usize> {
        if !self.hits {
            return None;
        }
        let mut best: Option<usize> = None;
        for (index, segment) in self.segments.iter().enumerate() {
            let holds = segment.start <= address && address < segment.end;
            if !holds || (segment.written && !self.hits_on_writes) {
                continue;
            }
            let better = best.is_none_or(|b| self.segments[b].end < end.min(segment.end));
            if better {
                best = Some(index);
            }
        }
        best
    }

    /// Marks a segment as just used.
    #[inline]
    pub(super) fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.segments[index].used = self.clock;
    }

    /// Takes a segment for a read: an empty one, else the least recently used, and `busy` last of all.
    #[inline]
    pub(super) fn take_for_read(&mut self, busy: Option<u8>) -> usize {
        let index = self.oldest(self.first_read, self.segments.len(), busy, None);
        self.touch(index);
        index
    }

    /// Takes a segment for a write of `start..end`: one that overlaps it before all others.
    #[inline]
    pub(super) fn take_for_write(&mut self, start: u64, end: u64, busy: Option<u8>) -> usize {
        let last = if self.first_read == 1 { 1 } else { self.segments.len() };
        let index = self.oldest(0, last, busy, Some((start, end)));
        for (other, segment) in self.segments.iter_mut().enumerate() {
            if other != index && segment.start < end && start < segment.end {
                segment.end = segment.start;
            }
        }
        self.touch(index);
        index
    }

    fn oldest(&self, first: usize, last: usize, busy: Option<u8>, extent: Option<(u64, u64)>) -> usize {
        let mut best = first;
        let mut best_rank = u64::MAX;
        for (index, segment) in self.segments[first..last].iter().enumerate() {
            let index = index + first;
            // Ranks: overlapping, empty, by age, the one being read into.
            let overlaps = extent.is_some_and(|(start, end)| segment.start < end && start < segment.end);
            let rank = if busy == Some(index as u8) {
                u64::MAX - 1
            } else if overlaps {
                0
            } else if segment.start == segment.end {
                1
            } else {
                segment.used + 2
            };
            if rank < best_rank {
                best = index;
                best_rank = rank;
            }
        }
        best
    }

    /// Sets the end of a segment; what no longer fits is lost at its start.
    #[inline]
    pub(super) fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.segments[index];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.size));
    }

    /// Makes a segment hold `start..end` and nothing else.
    #[inline]
    pub(super) fn hold(&mut self, index: usize, start: u64, end: u64, written: bool) {
        let segment = &mut self.segments[index];
        segment.start = start.max(end.saturating_sub(self.size));
        segment.origin = segment.start;
        segment.end = end;
        segment.read_limit = end;
        segment.written = written;
    }

    /// The host has what lies before `end`; the drive may need the room.
    #[inline]
    pub(super) fn sent(&mut self, index: usize, end: u64) {
        if self.gives_up {
            let segment = &mut self.segments[index];
            segment.start = segment.start.max(end).min(segment.end);
        }
    }

    /// Forgets everything in `start..end`.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start < end && start < segment.end {
                segment.end = segment.start;
            }
        }
    }
}
