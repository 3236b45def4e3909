//! What the slow reference for `turns` keeps of a request, and of a turn; and which requests wait.

use super::*;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Stream,
    Pool,
    /// Of the pool, once its process has something left.
    Poor,
    Write,
    RealTime,
    Idle,
}

impl Kind {
    /// Whether whoever asks pays for it.
    pub(super) fn costs(self) -> bool {
        matches!(self, Kind::Stream | Kind::Pool | Kind::Poor)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) id: RequestId,
    pub(super) process: usize,
    pub(super) kind: Kind,
    pub(super) start: Sector,
    /// Breaks ties, and is the order of a stream's requests: how many had come before this one. A merge does
    /// not change it, but one that then begins elsewhere is as if it had come anew.
    pub(super) came: usize,
    /// The request waited when a batch of the pool began.
    pub(super) batch: bool,
    /// When it went to the drive; before that, when it came.
    pub(super) since: Instant,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Party {
    Stream(usize),
    Pool,
    Writes,
}

#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) party: Party,
    pub(super) length: u64,
    pub(super) until: Option<Instant>,
}

pub(super) enum Next {
    Send(RequestId),
    Begin(Party, RequestId),
    Wait(Option<Instant>),
    Round,
}

impl Reference {
    pub(super) fn any(&self, kind: Kind) -> bool {
        self.waiting.iter().any(|held| held.kind == kind)
    }

    pub(super) fn any_of(&self, process: usize, kind: Kind, place: &[Held]) -> bool {
        place.iter().any(|held| held.process == process && held.kind == kind)
    }

    pub(super) fn first_of(&self, process: usize) -> Option<RequestId> {
        let mine = |held: &&Held| held.process == process && held.kind == Kind::Stream;
        self.waiting.iter().filter(mine).min_by_key(|held| held.came).map(|held| held.id)
    }

    pub(super) fn writers(&self) -> usize {
        let writes = self.waiting.iter().filter(|held| held.kind == Kind::Write);
        let mut writers: Vec<usize> = writes.map(|held| held.process).collect();
        writers.sort_unstable();
        writers.dedup();
        writers.len()
    }
}
