//! How a [`Sorted`] keeps its list of blocks: full ones split, short ones join a neighbour.

use super::block::{BLOCK, Entry, FEW, NEVER};
use super::{LOST, NIL, Sorted};
use crate::units::RequestId;

impl Sorted {
    /// Nothing was held. At most one block is in use, and it stays the only one.
    #[inline]
    pub(super) fn insert_only(&mut self, entry: Entry) {
        let block = match self.directory.first() {
            Some(block) => *block as usize,
            None => self.take_block(0),
        };
        self.blocks[block].only(entry);
        self.home[entry.id as usize] = block as u32;
    }

    /// Nothing but `request` is held.
    #[inline]
    pub(super) fn remove_only(&mut self, request: RequestId) {
        let block = core::mem::replace(&mut self.home[request.index()], NIL);
        assert!(block != NIL, "{request} is not sorted in");
        self.blocks[block as usize].remove(0);
        self.len = 0;
        self.finger = LOST;
    }

    /// Puts a spare block, which is empty, into the directory at `place`.
    fn take_block(&mut self, place: usize) -> usize {
        let Some(block) = self.spare.pop() else { unreachable!("blocks are bounded by joining") };
        self.directory.insert(place, block);
        self.renumber(place);
        block as usize
    }

    /// Takes the empty block at `place`, which is not the only one, out of the directory.
    fn release(&mut self, place: usize) {
        let (cut, cuts) = (place.saturating_sub(1), self.directory.len() - 1);
        self.cuts.copy_within(cut + 1..cuts, cut);
        self.cuts[cuts - 1] = NEVER;
        self.spare.push(self.directory.remove(place));
        self.renumber(place);
    }

    fn renumber(&mut self, from: usize) {
        for (place, block) in self.directory.iter().enumerate().skip(from) {
            self.blocks[*block as usize].place = place as u32;
        }
    }

    /// Moves the greater half of the full block at `place` to a new block behind it. Returns where it begins.
    #[inline(never)]
    pub(super) fn split(&mut self, place: usize) -> u64 {
        let full = self.directory[place] as usize;
        let cut = self.blocks[full].get(BLOCK / 2).map_or(0, |entry| entry.key);
        self.cuts.copy_within(place..self.directory.len() - 1, place + 1);
        self.cuts[place] = cut;
        let fresh = self.take_block(place + 1);
        if let Ok([full, fresh]) = self.blocks.get_disjoint_mut([full, fresh]) {
            full.split(fresh);
        }
        self.settle(fresh);
        cut
    }

    /// Notes that what is in `block` is there.
    fn settle(&mut self, block: usize) {
        for id in self.blocks[block].ids() {
            self.home[*id as usize] = block as u32;
        }
    }

    /// The block at `place` has become empty, or short.
    #[inline(never)]
    pub(super) fn shrunk(&mut self, place: usize, left: usize) {
        if left > 0 {
            self.join_around(place);
        } else if self.directory.len() > 1 {
            // The last block stays: a queue that is often empty would take and release it all the time.
            self.release(place);
        }
    }

    /// Joins the block at `place`, which holds few, with a neighbour that does so too.
    fn join_around(&mut self, place: usize) {
        let few = |place: usize| {
            let listed = self.directory.get(place);
            listed.is_some_and(|block| self.blocks[*block as usize].len as usize <= FEW)
        };
        if few(place + 1) {
            self.join(place);
        } else if place > 0 && few(place - 1) {
            self.join(place - 1);
        }
    }

    /// Moves what is in the block behind `place` to the block at `place`.
    fn join(&mut self, place: usize) {
        let left = self.directory[place] as usize;
        let right = self.directory[place + 1] as usize;
        if let Ok([left, right]) = self.blocks.get_disjoint_mut([left, right]) {
            left.join(right);
        }
        self.settle(left);
        self.release(place + 1);
    }
}
