//! One chain: a parent that starts a child for each file of a tree, one after the other, as
//! `find . -type f -exec cat {} \;` does.

use idlewise_core::{Duration, Group, Instant, Issuer, Request, Sector, Sectors};

use super::tree::{File, Tree};
use crate::engine::exits::Exits;

/// How a chain's processes go about it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The largest request, in sectors.
    pub block: Sectors,
    /// From a completion to the next request, or to the exit.
    pub think: Duration,
    /// From a child's exit to the first request of the next: wait, fork, exec.
    pub exec: Duration,
}

/// What is read next, or being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The parent reads a directory.
    Directory,
    /// A child reads the block with its file's inode.
    Inode,
    /// A child reads its file; this many sectors of it are done.
    Data(u32),
}

/// A chain in progress, which has one request outstanding, or a time for the next, or has ended.
pub(super) struct Chain {
    tree: Tree,
    pace: Pace,
    parent: Issuer,
    child: Issuer,
    /// The place of the current file.
    file: usize,
    step: Step,
    /// When the next request is issued. `None`: one is outstanding, or the chain has ended.
    next: Option<Instant>,
}

impl Chain {
    /// A chain that begins at time zero. Children take their numbers from `numbers`.
    pub(super) fn new(tree: Tree, pace: Pace, parent: Issuer, numbers: &mut u32) -> Chain {
        let (child, step) = (Issuer::UNKNOWN, Step::Directory);
        let mut chain = Chain { tree, pace, parent, child, file: 0, step, next: None };
        chain.go_on(Instant::ZERO, numbers);
        chain
    }

    pub(super) fn parent(&self) -> Issuer {
        self.parent
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    pub(super) fn ended(&self) -> bool {
        self.file == self.tree.files.len()
    }

    /// The share of its files that are done.
    pub(super) fn share_done(&self) -> f64 {
        self.file as f64 / self.tree.files.len().max(1) as f64
    }

    fn current(&self) -> &File {
        &self.tree.files[self.file]
    }

    /// The parent turns to the current file.
    fn go_on(&mut self, now: Instant, numbers: &mut u32) {
        if self.current().directory.is_some() {
            (self.step, self.next) = (Step::Directory, Some(now));
        } else {
            self.start_child(now, numbers);
        }
    }

    fn start_child(&mut self, now: Instant, numbers: &mut u32) {
        *numbers += 1;
        self.child = Issuer(*numbers);
        self.step = if self.current().inode.is_some() { Step::Inode } else { Step::Data(0) };
        self.next = Some(now + self.pace.exec);
    }

    /// The request that was due.
    pub(super) fn issue(&mut self) -> Request {
        let arrival = self.next.take().unwrap_or_default();
        let file = self.current();
        let whole = (file.data.0, Sectors(0));
        let (who, (start, length)) = match self.step {
            Step::Directory => (self.parent, file.directory.unwrap_or(whole)),
            Step::Inode => (self.child, file.inode.unwrap_or(whole)),
            Step::Data(done) => {
                let rest = Sectors((file.data.1.0 - done).min(self.pace.block.0));
                (self.child, (Sector(file.data.0.0 + u64::from(done)), rest))
            }
        };
        let metadata = !matches!(self.step, Step::Data(_));
        let group = Group(self.parent.0);
        Request { arrival, group, metadata, ..Request::read(start, length).by(who) }
    }

    /// The outstanding request is done.
    pub(super) fn completed(&mut self, now: Instant, numbers: &mut u32, exits: &mut Exits) {
        let then = now + self.pace.think;
        let file = *self.current();
        match self.step {
            Step::Directory => self.start_child(now, numbers),
            Step::Inode => (self.step, self.next) = (Step::Data(0), Some(then)),
            Step::Data(done) => {
                let done = done.saturating_add(self.pace.block.0);
                if done < file.data.1.0 {
                    (self.step, self.next) = (Step::Data(done), Some(then));
                    return;
                }
                exits.announce(then, self.child);
                self.file += 1;
                if self.ended() {
                    exits.announce(then + self.pace.think, self.parent);
                } else {
                    self.go_on(then, numbers);
                }
            }
        }
    }
}
