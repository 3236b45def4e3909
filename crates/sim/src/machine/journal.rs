//! The journal's state: the transaction that gathers changes, and the one that is being committed.
//!
//! A commit has three steps (ext3's `ordered` mode): the data of files that became longer is written in its place;
//! then the changed blocks, behind one that lists them, into the journal; then one block that says that all is there.
//! Only then may the changed blocks be written in their own places. `commit.rs` has the steps.
//!
//! Source: fs/jbd/commit.c of Linux 2.6.9, and Documentation/filesystems/ext3.txt.

use std::collections::{BTreeMap, BTreeSet};

use idlewise_core::{Duration, Instant};
use rustc_hash::FxHashMap;

use super::parameters::JournalSettings;
use super::program::FileId;

/// Where a commit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Data is written.
    Data,
    /// Changed blocks are written into the journal.
    Log,
    /// The block that ends the transaction is written.
    Record,
}

/// A transaction that is being committed.
#[derive(Debug)]
pub struct Committing {
    /// Where it stands.
    pub stage: Stage,
    /// The transaction's number.
    pub number: u64,
    /// Changed blocks.
    pub blocks: BTreeSet<u32>,
    /// Files with data to write: the page from which on, and how many pages count.
    pub files: BTreeMap<FileId, (u32, u32)>,
    /// Transfers that are not done.
    pub outstanding: u32,
}

/// A journal.
#[derive(Debug)]
pub struct Journal {
    /// How it is set.
    pub settings: JournalSettings,
    start: u32,
    blocks: u32,
    head: u32,
    /// Changed blocks of the running transaction.
    changed: BTreeSet<u32>,
    /// Files that became longer in it.
    longer: BTreeSet<FileId>,
    since: Option<Instant>,
    number: u64,
    wanted: bool,
    /// The commit in progress.
    pub committing: Option<Committing>,
    /// Processes that wait for a transaction.
    waiting: Vec<(u64, u32)>,
    /// The last transactions in which files changed: in anything, and in what their data needs.
    last: FxHashMap<FileId, [u64; 2]>,
}

impl Journal {
    /// A journal of `blocks` blocks from `start` on.
    pub fn new(settings: JournalSettings, (start, blocks): (u32, u32)) -> Journal {
        Journal {
            settings,
            start,
            blocks,
            head: 0,
            changed: BTreeSet::new(),
            longer: BTreeSet::new(),
            since: None,
            number: 0,
            wanted: false,
            committing: None,
            waiting: Vec::new(),
            last: FxHashMap::default(),
        }
    }

    /// A block changes at `now`.
    pub fn change(&mut self, now: Instant, block: u32) {
        self.changed.insert(block);
        self.since.get_or_insert(now);
    }

    /// A file gets new blocks: its data goes to the disk before the commit.
    pub fn lengthen(&mut self, file: FileId) {
        self.longer.insert(file);
    }

    /// A file changes in the running transaction; `data`: in something without which its data cannot be read.
    pub fn touch(&mut self, file: FileId, data: bool) {
        let last = self.last.entry(file).or_default();
        // Transactions count from 1 here: 0 is none.
        last[0] = self.number + 1;
        if data {
            last[1] = self.number + 1;
        }
    }

    /// A file is gone, and its data with it.
    pub fn forget(&mut self, file: FileId) {
        self.longer.remove(&file);
        if let Some(commit) = &mut self.committing {
            commit.files.remove(&file);
        }
    }

    /// When the running transaction is to be committed.
    pub fn due(&self) -> Option<Instant> {
        let interval = if self.wanted { Duration::ZERO } else { self.settings.interval };
        self.since.filter(|_| self.committing.is_none()).map(|since| since + interval)
    }

    /// `process` waits until the last transaction in which `file` changed is committed, `data` as in
    /// [`touch`](Journal::touch); false if that is so already.
    pub fn wait(&mut self, process: u32, file: FileId, data: bool) -> bool {
        let Some(number) = self.last.get(&file).and_then(|last| last[usize::from(data)].checked_sub(1))
        else {
            return false;
        };
        let running = number == self.number && self.since.is_some();
        let committing = self.committing.as_ref().is_some_and(|commit| commit.number == number);
        self.wait_for((running || committing).then_some(number), process)
    }

    /// `process` waits until a change of `block` is committed; false if that is so already.
    pub fn wait_for_block(&mut self, process: u32, block: u32) -> bool {
        let committing = self.committing.as_ref().filter(|commit| commit.blocks.contains(&block));
        let running = self.changed.contains(&block).then_some(self.number);
        self.wait_for(running.or(committing.map(|commit| commit.number)), process)
    }

    fn wait_for(&mut self, transaction: Option<u64>, process: u32) -> bool {
        self.wanted |= transaction == Some(self.number);
        self.waiting.extend(transaction.map(|number| (number, process)));
        transaction.is_some()
    }

    /// The running transaction becomes the one that is committed; a new one begins. `pages` says how long a file is.
    pub fn begin(&mut self, pages: impl Fn(FileId) -> u32) {
        let files = std::mem::take(&mut self.longer).into_iter().map(|file| (file, (0, pages(file))));
        self.committing = Some(Committing {
            stage: Stage::Data,
            number: self.number,
            blocks: std::mem::take(&mut self.changed),
            files: files.collect(),
            outstanding: 0,
        });
        (self.since, self.wanted) = (None, false);
        self.number += 1;
    }

    /// Sets aside the next `count` blocks of the journal, which is a ring: up to two runs of blocks.
    pub fn place(&mut self, count: u32) -> Vec<(u32, u32)> {
        let count = count.min(self.blocks);
        let first = count.min(self.blocks - self.head);
        let runs = [(self.start + self.head, first), (self.start, count - first)];
        self.head = (self.head + count) % self.blocks;
        runs.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// The processes that waited for what is committed now.
    pub fn finish(&mut self, number: u64) -> Vec<u32> {
        self.committing = None;
        let (done, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(own, _)| *own <= number);
        self.waiting = rest;
        done.into_iter().map(|(_, process)| process).collect()
    }
}
