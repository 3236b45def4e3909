//! Parts: the members' commands, under way or waiting. A table that is made once.

use super::pieces::Piece;
use crate::error::{BuildError, reserve};
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// No part.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The step that it belongs to.
    pub(super) step: u32,
    pub(super) piece: Piece,
    /// The next that waits for the same member, or the next that is free.
    pub(super) next: u32,
}

/// All parts.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    list: Vec<Part>,
    free: u32,
    /// Parts that no step has a claim to.
    unclaimed: u32,
}

impl Parts {
    /// Room for `most` parts.
    pub(super) fn new(most: u32) -> Result<Parts, BuildError> {
        let mut list = Vec::new();
        reserve(&mut list, most as usize)?;
        Ok(Parts { list, free: NONE, unclaimed: most })
    }

    /// Keeps room for `count` parts; false if there is not so much.
    pub(super) fn claim(&mut self, count: u32) -> bool {
        let fits = count <= self.unclaimed;
        self.unclaimed -= if fits { count } else { 0 };
        fits
    }

    /// Gives a claim back.
    pub(super) fn release(&mut self, count: u32) {
        self.unclaimed += count;
    }

    /// A new part, for which room was claimed.
    pub(super) fn add(&mut self, step: u32, piece: Piece) -> u32 {
        let part = Part { step, piece, next: NONE };
        if self.free == NONE {
            self.list.push(part);
            return self.list.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.list[id as usize].next;
        self.list[id as usize] = part;
        id
    }

    /// Takes a part out.
    pub(super) fn remove(&mut self, id: u32) -> Part {
        let part = self.list[id as usize];
        self.list[id as usize].next = self.free;
        self.free = id;
        part
    }
}

impl Index<u32> for Parts {
    type Output = Part;

    fn index(&self, id: u32) -> &Part {
        &self.list[id as usize]
    }
}

impl IndexMut<u32> for Parts {
    fn index_mut(&mut self, id: u32) -> &mut Part {
        &mut self.list[id as usize]
    }
}
