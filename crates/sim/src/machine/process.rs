//! A process: its program, the operation that it is at, and how far it has come with it.

use std::collections::VecDeque;

use idlewise_core::Duration;

use super::network::Connection;
use super::pacing::Pace;
use super::program::{FileId, Op, Program};
use super::readahead::State;
use super::transfers::Who;

/// What came of a try to go on with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The operation is done.
    Done,
    /// The process needs a processor for what it owes; then the operation goes on.
    Spend,
    /// The operation goes on after this.
    Wait(On),
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// The end of a transfer.
    Transfer(u32),
    /// This time.
    Time(Duration),
    /// Room in the cache.
    Room,
    /// Fewer dirty pages.
    Clean,
    /// A commit of the journal.
    Commit,
    /// The exit of all its children.
    Children,
}

/// Pages of a file that are to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The file.
    pub file: FileId,
    /// The next page.
    pub next: u32,
    /// The page behind the last one.
    pub end: u32,
    /// Pages that are marked when they are read.
    pub marks: [Option<u32>; 2],
}

/// A file that a process has open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The file.
    pub file: FileId,
    /// What read-ahead knows of it.
    pub state: State,
}

/// A process.
pub(super) struct Process {
    /// The process as an issuer.
    pub who: Who,
    /// The process's name.
    pub name: &'static str,
    /// Who started it, by number.
    pub parent: Option<u32>,
    /// Nobody waits for its end: it ends with the others.
    pub background: bool,
    /// What it does next.
    pub program: Program,
    /// What it does now.
    pub op: Option<Op>,
    /// Children that have not exited.
    pub children: u32,
    /// The process waits for them.
    pub waits_for_children: bool,
    /// Time of a processor that it has used and not yet waited for.
    pub debt: Duration,
    /// Files that it reads from.
    pub open: Vec<Open>,
    /// How far it is with the operation: bytes, or blocks.
    pub done: u64,
    /// The part of the operation that it is at.
    pub stage: u32,
    /// Where the current call ends, in bytes of the file. 0: no call has begun.
    pub call_end: u64,
    /// The unit for which read-ahead was asked already.
    pub asked: Option<u64>,
    /// What is to be read.
    pub reads: VecDeque<Pending>,
    /// Blocks that are to be written before the operation is done.
    pub writes: VecDeque<u32>,
    /// Transfers that are to be waited for.
    pub transfers: Vec<u32>,
    /// What it has sent to its client.
    pub connection: Connection,
    /// How fast it may dirty pages.
    pub pace: Pace,
    /// The process has exited.
    pub gone: bool,
}

impl Process {
    /// A process that has done nothing yet.
    pub(super) fn new(who: Who, name: &'static str, program: Program, background: bool) -> Process {
        Process {
            who,
            name,
            parent: None,
            background,
            program,
            op: None,
            children: 0,
            waits_for_children: false,
            debt: Duration::ZERO,
            open: Vec::new(),
            done: 0,
            stage: 0,
            call_end: 0,
            asked: None,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            transfers: Vec::new(),
            connection: Connection::default(),
            pace: Pace::default(),
            gone: false,
        }
    }

    /// Turns to its next operation; false if there is none.
    pub(super) fn next(&mut self) -> bool {
        self.op = self.program.next();
        (self.done, self.stage, self.call_end, self.asked) = (0, 0, 0, None);
        self.op.is_some()
    }

    /// Owes a processor more time.
    pub(super) fn owe(&mut self, time: Duration) {
        self.debt += time;
    }

    /// Before it can wait, or ask for something, it spends what it owes.
    pub(super) fn wait(&self, on: On) -> Step {
        if self.debt > Duration::ZERO { Step::Spend } else { Step::Wait(on) }
    }
}
