//! Requests in order of a key, in any number of trees over one table of nodes.
//!
//! For schedulers with a queue for each process: a [`Sorted`](super::Sorted) for each would need memory for
//! all requests as often as there are processes. Equal keys keep their order of insertion.
//!
//! The trees are treaps: besides the key, each node has a random rank, and no node has a lower one than
//! its parent. The ranks keep the trees flat: a search takes O(log n) steps, whatever the keys.

use alloc::vec::Vec;

use super::{NIL, OutOfMemory, table};
use crate::units::RequestId;

#[derive(Clone, Copy)]
struct Node {
    key: u64,
    rank: u32,
    parent: u32,
    /// The subtrees before and behind it.
    children: [u32; 2],
}

const DETACHED: Node = Node { key: 0, rank: 0, parent: NIL, children: [NIL; 2] };

const BEFORE: usize = 0;
const BEHIND: usize = 1;

/// The nodes of all requests. A request is in at most one of the trees that share them.
pub struct Forest {
    nodes: Vec<Node>,
    random: u32,
}

/// One tree: where it begins, and how many requests it holds.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    root: u32,
    len: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { root: NIL, len: 0 }
    }
}

impl Tree {
    /// Number of requests in the tree.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// True if the tree holds nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[inline]
fn id(index: u32) -> Option<RequestId> {
    if index == NIL { None } else { Some(RequestId(index)) }
}

impl Forest {
    /// Nodes for request ids below `capacity`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table cannot be allocated.
    pub fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        Ok(Forest { nodes: table(capacity, DETACHED)?, random: 0x2545_F491 })
    }

    /// The key under which `request` is held.
    #[inline]
    pub fn key(&self, request: RequestId) -> u64 {
        self.nodes[request.index()].key
    }

    /// Adds `request`, which is in no tree, to `tree`, behind all whose key is at most `key`.
    pub fn insert(&mut self, tree: &mut Tree, key: u64, request: RequestId) {
        let rank = self.next_rank();
        let (mut parent, mut side, mut at) = (NIL, BEFORE, tree.root);
        while at != NIL {
            let node = &self.nodes[at as usize];
            parent = at;
            side = usize::from(key >= node.key);
            at = node.children[side];
        }
        self.nodes[request.index()] = Node { key, rank, parent, children: [NIL; 2] };
        tree.len += 1;
        if parent == NIL {
            tree.root = request.0;
            return;
        }
        self.nodes[parent as usize].children[side] = request.0;
        while let Node { parent, .. } = self.nodes[request.index()]
            && parent != NIL
            && rank < self.nodes[parent as usize].rank
        {
            self.lift(tree, request.0);
        }
    }

    /// Takes `request`, which is in `tree`, out of it.
    pub fn remove(&mut self, tree: &mut Tree, request: RequestId) {
        while let [before, behind] = self.nodes[request.index()].children
            && before != NIL
            && behind != NIL
        {
            let lower = self.nodes[before as usize].rank <= self.nodes[behind as usize].rank;
            self.lift(tree, if lower { before } else { behind });
        }
        let Node { parent, children: [before, behind], .. } = self.nodes[request.index()];
        let child = if before == NIL { behind } else { before };
        self.replace(tree, parent, request.0, child);
        tree.len -= 1;
    }

    /// The request with the smallest key in `tree`.
    #[inline]
    pub fn first(&self, tree: &Tree) -> Option<RequestId> {
        id(self.edge(tree.root, BEFORE))
    }

    /// The request with the largest key in `tree`.
    #[inline]
    pub fn last(&self, tree: &Tree) -> Option<RequestId> {
        id(self.edge(tree.root, BEHIND))
    }

    /// The first request in `tree` whose key is at least `key`.
    #[inline]
    pub fn at_or_after(&self, tree: &Tree, key: u64) -> Option<RequestId> {
        let (mut at, mut found) = (tree.root, NIL);
        while at != NIL {
            let node = &self.nodes[at as usize];
            let early = node.key < key;
            found = if early { found } else { at };
            at = node.children[usize::from(early)];
        }
        id(found)
    }

    /// The request after `request` in its tree.
    #[inline]
    pub fn next(&self, request: RequestId) -> Option<RequestId> {
        self.neighbour(request.0, BEHIND)
    }

    /// The request before `request` in its tree.
    #[inline]
    pub fn previous(&self, request: RequestId) -> Option<RequestId> {
        self.neighbour(request.0, BEFORE)
    }

    /// A xorshift generator: ranks need no more than to be unlike the keys.
    fn next_rank(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// The outermost node on this side of the subtree at `at`.
    #[inline]
    fn edge(&self, mut at: u32, side: usize) -> u32 {
        let mut edge = NIL;
        while at != NIL {
            edge = at;
            at = self.nodes[at as usize].children[side];
        }
        edge
    }

    #[inline]
    fn neighbour(&self, mut at: u32, side: usize) -> Option<RequestId> {
        let below = self.nodes[at as usize].children[side];
        if below != NIL {
            return id(self.edge(below, 1 - side));
        }
        loop {
            let parent = self.nodes[at as usize].parent;
            if parent == NIL || self.nodes[parent as usize].children[1 - side] == at {
                return id(parent);
            }
            at = parent;
        }
    }

    /// `new`, or nothing, takes the place of `old` below `parent`.
    fn replace(&mut self, tree: &mut Tree, parent: u32, old: u32, new: u32) {
        if new != NIL {
            self.nodes[new as usize].parent = parent;
        }
        if parent == NIL {
            tree.root = new;
            return;
        }
        let children = &mut self.nodes[parent as usize].children;
        children[usize::from(children[BEHIND] == old)] = new;
    }

    /// `at` and its parent change places.
    fn lift(&mut self, tree: &mut Tree, at: u32) {
        let below = self.nodes[at as usize].parent;
        let Node { parent, children, .. } = self.nodes[below as usize];
        let side = usize::from(children[BEHIND] == at);
        let moved = self.nodes[at as usize].children[1 - side];
        self.nodes[below as usize].children[side] = moved;
        if moved != NIL {
            self.nodes[moved as usize].parent = below;
        }
        self.replace(tree, parent, below, at);
        self.nodes[at as usize].children[1 - side] = below;
        self.nodes[below as usize].parent = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests of `tree` in order, and its height.
    fn listed(forest: &Forest, tree: &Tree) -> Vec<RequestId> {
        let mut at = forest.first(tree);
        let mut ids = Vec::new();
        while let Some(id) = at {
            ids.push(id);
            at = forest.next(id);
        }
        ids
    }

    fn height(forest: &Forest, at: u32) -> u32 {
        let below = |side: usize| height(forest, forest.nodes[at as usize].children[side]);
        if at == NIL { 0 } else { 1 + below(BEFORE).max(below(BEHIND)) }
    }

    #[test]
    fn trees_hold_what_sorted_lists_would_hold() {
        let mut forest = Forest::new(300).unwrap();
        let mut trees = [Tree::default(); 3];
        let mut plain: [Vec<(u64, RequestId)>; 3] = Default::default();
        let mut state = 9u32;
        for step in 0..30_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let id = RequestId((state >> 12) % 300);
            let held = plain.iter().position(|list| list.iter().any(|(_, held)| *held == id));
            if let Some(tree) = held {
                forest.remove(&mut trees[tree], id);
                plain[tree].retain(|(_, held)| *held != id);
            } else {
                let (tree, key) = ((state >> 9) as usize % 3, u64::from(state >> 24) % 40);
                forest.insert(&mut trees[tree], key, id);
                let at = plain[tree].partition_point(|(held, _)| *held <= key);
                plain[tree].insert(at, (key, id));
            }
            let which = step % 3;
            let expected: Vec<RequestId> = plain[which].iter().map(|(_, id)| *id).collect();
            assert_eq!(listed(&forest, &trees[which]), expected, "step {step}");
            assert_eq!(trees[which].len(), expected.len());
            assert_eq!(forest.last(&trees[which]), expected.last().copied());
            let key = u64::from(state >> 20) % 42;
            let after = plain[which].iter().find(|(held, _)| *held >= key).map(|(_, id)| *id);
            assert_eq!(forest.at_or_after(&trees[which], key), after);
            let backward: Vec<_> = expected.iter().map(|id| forest.previous(*id)).collect();
            let before = core::iter::once(None).chain(expected.iter().copied().map(Some));
            assert_eq!(backward, before.take(expected.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_tree_of_ascending_keys_is_flat() {
        let (mut forest, mut tree) = (Forest::new(4096).unwrap(), Tree::default());
        (0..4096).for_each(|n| forest.insert(&mut tree, u64::from(n), RequestId(n)));
        assert!(height(&forest, tree.root) < 40, "{}", height(&forest, tree.root));
    }
}
