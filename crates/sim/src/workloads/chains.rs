//! Chains of short-lived processes that together read a tree of files, beside processes that last as
//! long as a chain does (OLS'05 §3, §5.5, §5.6).
//!
//! Each process of a chain carries the parent's number as its group, and so does the parent itself.
//! Processes beside the chains have the first numbers, the parents the next; children count on from
//! there, and no number comes twice.

mod chain;
mod tree;

pub use chain::Pace;
pub use tree::TreeSettings;

use idlewise_core::{Instant, Issuer, Request, RequestId, Sector, Weight};

use super::{Ground, Named, Process, Processes};
use crate::engine::Workload;
use crate::engine::exits::Exits;
use chain::Chain;
use tree::Tree;

/// The trees do not fit the disk: this many sectors are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge(pub u64);

/// Chains, and processes that end with them.
pub struct Chains {
    beside: Processes,
    chains: Vec<Chain>,
    /// The last number given to a process.
    numbers: u32,
    /// Who issued each outstanding request, by id.
    owners: Vec<Owner>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Beside,
    Chain(u32),
}

impl Chains {
    /// `count` chains, each with a tree of its own: the first from `start` on, each next one `gap` sectors after the
    /// one before. The processes `beside` them must be in the background.
    pub fn new(
        beside: Vec<Process>,
        count: u32,
        tree: TreeSettings,
        pace: Pace,
        (mut start, gap): (Sector, u64),
        ground: Ground,
    ) -> Result<Chains, TooLarge> {
        let first = beside.len() as u32 + 1;
        let mut numbers = first + count - 1;
        let mut chains = Vec::new();
        for index in 0..count {
            let mixed = ground.seed ^ (u64::from(index) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
            let tree = Tree::new(tree, start, mixed);
            let end = start.0 + tree.span;
            if end > ground.capacity.0 {
                return Err(TooLarge(end));
            }
            start = Sector(end + gap);
            chains.push(Chain::new(tree, pace, Issuer(first + index), &mut numbers));
        }
        Ok(Chains { beside: Processes::new(beside, ground.seed), chains, numbers, owners: Vec::new() })
    }

    /// Who issues next, and when. At one instant processes beside the chains come first.
    fn first(&mut self) -> Option<(Instant, Owner)> {
        let beside = self.beside.next().map(|at| (at, Owner::Beside));
        let chains =
            (0..).zip(&self.chains).filter_map(|(index, chain)| Some((chain.next()?, Owner::Chain(index))));
        beside.into_iter().chain(chains).min_by_key(|(at, _)| *at)
    }
}

impl Workload for Chains {
    fn next(&mut self) -> Option<Instant> {
        self.first().map(|(at, _)| at)
    }

    fn issue(&mut self, id: RequestId) -> Request {
        let Some((_, owner)) = self.first() else { unreachable!("next() announced a request") };
        if self.owners.len() <= id.index() {
            self.owners.resize(id.index() + 1, Owner::Beside);
        }
        self.owners[id.index()] = owner;
        match owner {
            Owner::Beside => self.beside.issue(id),
            Owner::Chain(index) => self.chains[index as usize].issue(),
        }
    }

    fn completed(&mut self, now: Instant, id: RequestId, exits: &mut Exits) {
        match self.owners[id.index()] {
            Owner::Beside => self.beside.completed(now, id, exits),
            Owner::Chain(index) => {
                let chain = &mut self.chains[index as usize];
                chain.completed(now, &mut self.numbers, exits);
                if chain.ended() && self.chains.iter().all(Chain::ended) {
                    self.beside.end(now, exits);
                }
            }
        }
    }

    fn share_done(&self, _: Instant) -> Option<f64> {
        self.chains.iter().map(Chain::share_done).reduce(f64::min)
    }
}

impl Named for Chains {
    fn name(&self, issuer: Issuer) -> Option<String> {
        let chain = self.chains.iter().position(|chain| chain.parent() == issuer);
        match chain {
            Some(_) if self.chains.len() == 1 => Some("chain".to_owned()),
            Some(index) => Some(format!("chain{}", index + 1)),
            None => self.beside.name(issuer),
        }
    }

    fn weights(&self) -> Vec<(Issuer, Weight)> {
        self.beside.weights()
    }
}

#[cfg(test)]
mod tests;
