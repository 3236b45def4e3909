//! Counts requests as Linux's `/sys/block/DISK/stat` does, from events.
//!
//! | event | counts |
//! |---|---|
//! | completion of some sectors | these sectors; and a request, if all that was issued is done |
//! | completion of a flush command | a flush |
//! | completion of an empty write | a write, as often as an empty one was queued: the flush that a program asked for. What is beyond that is the second end of a write that was flushed before or after |
//! | completion of what is empty and has no letter | a write, as often as one was queued: a zone that was reset |
//! | a bio or a request merged | a merge |
//!
//! A request that the driver gave back is issued again and completes once. Zeroes and erasures count as writes.
//! Commands that pass through have no sectors when they are issued, and count as nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use idlewise_sim::traces::recording::{Asked, Counts, Event, What};
use rustc_hash::FxBuildHasher;

/// Requests that are remembered in flight. There are more only if their completions were lost.
const CAPACITY: usize = 65_536;

/// A piece in flight: its disk, operation, first sector and length.
type Piece = (u8, u8, u64, u32);

/// Counts what disks do.
pub(crate) struct Counter {
    disks: Vec<Counts>,
    /// Of each disk the empty writes that were queued and not completed, and the same of what has no letter.
    empty: Vec<[u64; 2]>,
    /// What was issued and not completed, and how many times.
    flying: HashMap<Piece, u32, FxBuildHasher>,
}

impl Counter {
    /// A counter of this number of disks.
    pub(crate) fn new(disks: usize) -> Counter {
        Counter {
            disks: vec![Counts::default(); disks],
            empty: vec![[0; 2]; disks],
            flying: HashMap::default(),
        }
    }

    /// What each disk did so far.
    pub(crate) fn disks(&self) -> &[Counts] {
        &self.disks
    }

    /// Counts an event. False if it tells nothing of a request and need not be kept.
    #[inline]
    pub(crate) fn see(&mut self, event: &Event) -> bool {
        let Asked { operation, disk, .. } = event.asked;
        let Some(counts) = self.disks.get_mut(usize::from(disk)) else { return false };
        // A command that passes through, or one for a zone.
        let moves_nothing = operation == Asked::ZEROES && event.length == 0;
        match event.what {
            What::Queue => {
                if let Some(empty) = self.empty(event) {
                    *empty += 1;
                }
                !moves_nothing
            }
            What::Split(_) => true,
            What::MergeBio | What::MergeRequest => {
                *group(counts, operation).1 += 1;
                true
            }
            What::Issue => {
                counts.issues += u64::from(!moves_nothing);
                if event.length > 0 {
                    self.fly((disk, operation, event.sector, event.length));
                }
                !moves_nothing
            }
            What::Requeue => {
                counts.requeues += 1;
                self.land((disk, operation, event.sector, event.length));
                !moves_nothing
            }
            What::Complete => self.complete(event),
        }
    }

    fn complete(&mut self, event: &Event) -> bool {
        let Asked { operation, disk, .. } = event.asked;
        let counts = &mut self.disks[usize::from(disk)];
        if operation == Asked::FLUSH {
            counts.flushes += 1;
            return true;
        }
        if event.length == 0 {
            if let Some(empty) = self.empty(event).filter(|empty| **empty > 0) {
                *empty -= 1;
                self.disks[usize::from(disk)].writes += 1;
            }
            return false;
        }
        let whole = (disk, operation, event.sector, event.length);
        let found = if self.land(whole) { Some(whole) } else { self.land_begun(whole) };
        if found.is_none() && operation == Asked::ZEROES {
            return false;
        }
        let (requests, _, sectors) = group(&mut self.disks[usize::from(disk)], operation);
        *sectors += u64::from(event.length);
        let left = found.map_or(0, |piece| piece.3 - event.length);
        // What was issued before the recording began is taken to be whole.
        *requests += u64::from(left == 0);
        if left > 0 {
            self.fly((disk, operation, event.sector + u64::from(event.length), left));
        }
        true
    }

    /// Takes out, and gives, what was issued of which `done` is the beginning.
    fn land_begun(&mut self, done: Piece) -> Option<Piece> {
        let begins =
            |piece: &&Piece| (piece.0, piece.1, piece.2) == (done.0, done.1, done.2) && piece.3 > done.3;
        let piece = self.flying.keys().filter(begins).min().copied()?;
        self.land(piece);
        Some(piece)
    }

    /// How many empty ones of this event's kind are under way.
    fn empty(&mut self, event: &Event) -> Option<&mut u64> {
        let empty = &mut self.empty[usize::from(event.asked.disk)];
        match event.asked.operation {
            Asked::WRITE if event.length == 0 => Some(&mut empty[0]),
            Asked::ZEROES if event.length == 0 => Some(&mut empty[1]),
            _ => None,
        }
    }

    fn fly(&mut self, piece: Piece) {
        if self.flying.len() >= CAPACITY {
            self.flying.clear();
        }
        *self.flying.entry(piece).or_default() += 1;
    }

    /// Takes out what was issued. False if nothing like it was.
    fn land(&mut self, piece: Piece) -> bool {
        let Entry::Occupied(mut found) = self.flying.entry(piece) else { return false };
        *found.get_mut() -= 1;
        if *found.get() == 0 {
            found.remove();
        }
        true
    }
}

/// Requests, merges and sectors of what the kernel counts with `operation`.
fn group(counts: &mut Counts, operation: u8) -> (&mut u64, &mut u64, &mut u64) {
    match operation {
        Asked::READ => (&mut counts.reads, &mut counts.reads_merged, &mut counts.read_sectors),
        Asked::DISCARD => (&mut counts.discards, &mut counts.discards_merged, &mut counts.discard_sectors),
        _ => (&mut counts.writes, &mut counts.writes_merged, &mut counts.write_sectors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts events of one disk: what, operation, first sector, length. Tells which are to be kept.
    fn count(events: &[(What, u8, u64, u32)]) -> (Counts, Vec<bool>) {
        let mut counter = Counter::new(1);
        let keep = events.iter().map(|&(what, operation, sector, length)| {
            let asked = Asked { operation, ..Asked::default() };
            counter.see(&Event { what, asked, task: 1, sector, length })
        });
        let keep = keep.collect();
        (counter.disks()[0], keep)
    }

    #[test]
    fn a_request_that_is_given_back_counts_once() {
        let (counts, _) = count(&[
            (What::Queue, Asked::READ, 8, 8),
            (What::Issue, Asked::READ, 8, 8),
            (What::Requeue, Asked::READ, 8, 8),
            (What::Issue, Asked::READ, 8, 8),
            (What::Complete, Asked::READ, 8, 8),
        ]);
        let want = Counts { reads: 1, read_sectors: 8, issues: 2, requeues: 1, ..Counts::default() };
        assert_eq!(counts, want);
    }

    #[test]
    fn a_request_that_is_done_in_parts_counts_once() {
        let (counts, _) = count(&[
            (What::Issue, Asked::WRITE, 0, 24),
            (What::Issue, Asked::WRITE, 0, 8),
            (What::Complete, Asked::WRITE, 0, 8),
            (What::Complete, Asked::WRITE, 0, 16),
            (What::Requeue, Asked::WRITE, 16, 8),
            (What::Issue, Asked::WRITE, 16, 8),
            (What::Complete, Asked::WRITE, 16, 8),
        ]);
        assert_eq!((counts.writes, counts.write_sectors), (2, 32));
    }

    #[test]
    fn a_flush_that_is_asked_for_is_a_write_and_its_command_a_flush() {
        let (counts, keep) = count(&[
            (What::Queue, Asked::WRITE, 0, 0),
            (What::Issue, Asked::FLUSH, 0, 0),
            (What::Complete, Asked::FLUSH, 0, 0),
            (What::Complete, Asked::WRITE, 0, 0),
        ]);
        assert_eq!((counts.writes, counts.flushes, counts.write_sectors), (1, 1, 0));
        assert_eq!(keep, [true, true, true, false]);
    }

    #[test]
    fn a_write_that_is_flushed_behind_ends_twice_and_counts_once() {
        let (counts, _) = count(&[
            (What::Queue, Asked::WRITE, 0, 8),
            (What::Issue, Asked::WRITE, 0, 8),
            (What::Complete, Asked::WRITE, 0, 8),
            (What::Issue, Asked::FLUSH, 0, 0),
            (What::Complete, Asked::FLUSH, 0, 0),
            (What::Complete, Asked::WRITE, 0, 0),
        ]);
        assert_eq!((counts.writes, counts.flushes, counts.write_sectors), (1, 1, 8));
    }

    #[test]
    fn zeroes_are_writes_and_what_passes_through_is_nothing() {
        let (counts, keep) = count(&[
            (What::Issue, Asked::ZEROES, 0, 2048),
            (What::Complete, Asked::ZEROES, 0, 2048),
            (What::Issue, Asked::ZEROES, 0, 0),
            (What::Complete, Asked::ZEROES, 0, 8),
        ]);
        assert_eq!(counts, Counts { writes: 1, write_sectors: 2048, issues: 1, ..Counts::default() });
        assert_eq!(keep, [true, true, false, false]);
    }

    #[test]
    fn a_zone_that_is_reset_is_a_write() {
        let (counts, keep) = count(&[
            (What::Queue, Asked::ZEROES, 64, 0),
            (What::Issue, Asked::ZEROES, 64, 0),
            (What::Complete, Asked::ZEROES, 64, 0),
            (What::Complete, Asked::ZEROES, 64, 0),
        ]);
        assert_eq!(counts, Counts { writes: 1, ..Counts::default() });
        assert_eq!(keep, [false; 4]);
    }

    #[test]
    fn merges_discards_and_what_began_before_count() {
        let (counts, _) = count(&[
            (What::Complete, Asked::DISCARD, 8, 64),
            (What::MergeBio, Asked::READ, 8, 8),
            (What::MergeRequest, Asked::ERASE, 8, 8),
            (What::MergeRequest, Asked::DISCARD, 8, 8),
        ]);
        assert_eq!((counts.discards, counts.discard_sectors, counts.discards_merged), (1, 64, 1));
        assert_eq!((counts.reads_merged, counts.writes_merged), (1, 1));
    }
}
