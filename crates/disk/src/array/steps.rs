//! Steps: what of a command goes to the members at once. Most commands are one step.
//!
//! A write into part of a row computes parity from what it has read. Until it has written, no other write may touch the
//! same columns of that row, or parity would lack one of them. The later one is blocked, as md holds a stripe.

use crate::error::{BuildError, reserve};
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Rows and columns whose parity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lock {
    /// First and last row.
    pub(super) rows: (u64, u64),
    /// First column, and the column behind the last.
    pub(super) columns: (u64, u64),
}

impl Lock {
    fn meets(&self, other: &Lock) -> bool {
        self.rows.0 <= other.rows.1
            && other.rows.0 <= self.rows.1
            && self.columns.0 < other.columns.1
            && other.columns.0 < self.columns.1
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// An earlier write is in its columns.
    Blocked,
    /// What parity is computed from is being read; then there is more to do.
    Reading,
    /// The last parts are under way.
    Last,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The command's place in the table of commands.
    pub(super) slot: u32,
    /// The sectors of the array that it is for.
    pub(super) from: u64,
    pub(super) to: u64,
    /// Parts that are not done.
    pub(super) pending: u32,
    /// Parts that it has a claim to.
    pub(super) claim: u32,
    pub(super) state: State,
    /// What it writes parity of.
    pub(super) lock: Option<Lock>,
}

/// All steps. A table that is made once.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    list: Vec<Step>,
    free: Vec<u32>,
    /// Those with a lock, in the order in which they came.
    locks: Vec<u32>,
    most: usize,
}

impl Steps {
    /// Room for `most` steps.
    pub(super) fn new(most: usize) -> Result<Steps, BuildError> {
        let (mut list, mut free, mut locks) = (Vec::new(), Vec::new(), Vec::new());
        reserve(&mut list, most)?;
        reserve(&mut free, most)?;
        reserve(&mut locks, most)?;
        Ok(Steps { list, free, locks, most })
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty() && self.list.len() == self.most
    }

    /// Adds a step, for which there must be room. One that is in the way of no earlier one may begin.
    pub(super) fn add(&mut self, step: Step) -> u32 {
        let id = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(id as usize) {
            Some(place) => *place = step,
            None => self.list.push(step),
        }
        if step.lock.is_some() {
            self.locks.push(id);
        }
        id
    }

    /// Whether the lock at `place` of the list is in the way of none before it.
    fn is_clear(&self, place: usize) -> bool {
        let lock = |id: u32| self.list[id as usize].lock;
        let Some(own) = lock(self.locks[place]) else { return true };
        !self.locks[..place].iter().any(|earlier| lock(*earlier).is_some_and(|lock| lock.meets(&own)))
    }

    /// The first that is blocked, and by nobody any more.
    pub(super) fn released(&self) -> Option<u32> {
        let blocked = |id: u32| self.list[id as usize].state == State::Blocked;
        let place = (0..self.locks.len()).find(|place| blocked(self.locks[*place]) && self.is_clear(*place));
        place.map(|place| self.locks[place])
    }

    /// Takes a step out.
    pub(super) fn remove(&mut self, id: u32) -> Step {
        let step = self.list[id as usize];
        if step.lock.is_some() {
            self.locks.retain(|other| *other != id);
        }
        self.free.push(id);
        step
    }
}

impl Index<u32> for Steps {
    type Output = Step;

    fn index(&self, id: u32) -> &Step {
        &self.list[id as usize]
    }
}

impl IndexMut<u32> for Steps {
    fn index_mut(&mut self, id: u32) -> &mut Step {
        &mut self.list[id as usize]
    }
}
