//! The pieces of one step of an array's command: what is asked of which member. Pieces that follow one another on a member
//! are one.

use crate::error::{BuildError, filled, reserve};
use alloc::vec::Vec;
use idlewise_core::Operation;

/// What is asked of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) member: u32,
    pub(super) operation: Operation,
    pub(super) start: u64,
    pub(super) length: u32,
}

/// Pieces in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    list: Vec<Piece>,
    /// By member: the place of its last piece in the list, plus 1; 0 without one.
    last: Vec<u32>,
    most: usize,
}

impl Pieces {
    /// Room for `most` pieces.
    pub(super) fn new(members: usize, most: usize) -> Result<Pieces, BuildError> {
        let mut list = Vec::new();
        reserve(&mut list, most)?;
        Ok(Pieces { list, last: filled(members, 0)?, most })
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.last.fill(0);
    }

    pub(super) fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Whether there is room for `more` pieces.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.list.len() + more <= self.most
    }

    /// Adds a piece, of which there must be room.
    pub(super) fn add(&mut self, piece: Piece) {
        let last = &mut self.last[piece.member as usize];
        if *last > 0 {
            let before = &mut self.list[*last as usize - 1];
            let follows = before.start + u64::from(before.length) == piece.start;
            if follows && before.operation == piece.operation && piece.operation != Operation::Flush {
                before.length += piece.length;
                return;
            }
        }
        self.list.push(piece);
        *last = self.list.len() as u32;
    }
}
