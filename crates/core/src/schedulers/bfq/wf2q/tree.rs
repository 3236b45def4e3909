//! The queues of one class by virtual finish: those to be served, and those that are remembered.

use alloc::vec::Vec;

use super::entity::later;
use crate::collections::OutOfMemory;

/// A queue in a tree.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) finish: u64,
    pub(super) start: u64,
    /// How many were inserted before it, into all trees.
    pub(super) sequence: u64,
    pub(super) queue: u32,
}

/// Queues by finish; those of equal finish by sequence.
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    fn new(queues: usize) -> Result<Tree, OutOfMemory> {
        let mut nodes = Vec::new();
        nodes.try_reserve_exact(queues).map_err(|_| OutOfMemory)?;
        Ok(Tree { nodes })
    }

    /// All queues.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn insert(&mut self, node: Node) {
        let at = self.nodes.partition_point(|held| !later(held.finish, node.finish));
        self.nodes.insert(at, node);
    }

    /// Takes out `queue`, which was inserted with this finish.
    pub(super) fn remove(&mut self, queue: usize, finish: u64) {
        let from = self.nodes.partition_point(|held| later(finish, held.finish));
        if let Some(at) = self.nodes[from..].iter().position(|held| held.queue as usize == queue) {
            self.nodes.remove(from + at);
        }
    }

    /// The first queue whose start has come by `time`.
    pub(super) fn first_started(&self, time: u64) -> Option<usize> {
        self.nodes.iter().find(|node| !later(node.start, time)).map(|node| node.queue as usize)
    }

    pub(super) fn least_start(&self) -> Option<u64> {
        let starts = self.nodes.iter().map(|node| node.start);
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
