//! The queues of one class by virtual finish: those to be served, and those that are remembered.

use alloc::vec::Vec;

use super::entity::{Entity, later};
use crate::collections::OutOfMemory;

/// Queues by finish; of equal finish, as they were inserted.
pub(super) struct Tree {
    queues: Vec<u32>,
}

impl Tree {
    fn new(queues: usize) -> Result<Tree, OutOfMemory> {
        let mut held = Vec::new();
        held.try_reserve_exact(queues).map_err(|_| OutOfMemory)?;
        Ok(Tree { queues: held })
    }

    /// All queues.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.queues.iter().map(|queue| *queue as usize)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    pub(super) fn insert(&mut self, entities: &[Entity], queue: usize) {
        let finish = entities[queue].finish;
        let at = self.queues.partition_point(|held| !later(entities[*held as usize].finish, finish));
        self.queues.insert(at, queue as u32);
    }

    /// Takes out `queue`, whose finish is what it was when it was inserted.
    pub(super) fn remove(&mut self, entities: &[Entity], queue: usize) {
        let finish = entities[queue].finish;
        let from = self.queues.partition_point(|held| later(finish, entities[*held as usize].finish));
        if let Some(at) = self.queues[from..].iter().position(|held| *held as usize == queue) {
            self.queues.remove(from + at);
        }
    }

    /// The first queue whose start has come by `time`.
    pub(super) fn first_started(&self, entities: &[Entity], time: u64) -> Option<usize> {
        self.iter().find(|queue| !later(entities[*queue].start, time))
    }

    pub(super) fn least_start(&self, entities: &[Entity]) -> Option<u64> {
        let starts = self.iter().map(|queue| entities[queue].start);
        starts.reduce(|least, start| if later(least, start) { start } else { least })
    }
}

/// A class.
pub(super) struct ServiceTree {
    pub(super) active: Tree,
    pub(super) idle: Tree,
    /// Virtual time.
    pub(super) time: u64,
    /// The sum of the weights of all that are here or in service.
    pub(super) weights: u64,
}

impl ServiceTree {
    pub(super) fn new(queues: usize) -> Result<ServiceTree, OutOfMemory> {
        Ok(ServiceTree { active: Tree::new(queues)?, idle: Tree::new(queues)?, time: 0, weights: 0 })
    }
}
