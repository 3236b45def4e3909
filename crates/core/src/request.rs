//! A request: what a process wants of the disk, and since when.

use crate::units::{Group, Instant, Issuer, Sector, Sectors};

/// What a request asks the disk to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Move data from the disk.
    #[default]
    Read,
    /// Move data to the disk.
    Write,
    /// Tell the disk that it may forget a range.
    Discard,
    /// Make buffered data durable. Has no extent.
    Flush,
}

/// The direction in which data flows. Schedulers that keep two queues keep one for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Reads.
    #[default]
    Read,
    /// Writes, and whatever else changes the disk.
    Write,
}

/// The class of an I/O priority, as `ioprio_set(2)` has them. Earlier classes come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Served before all others.
    RealTime,
    /// What a process has unless it asks for another.
    #[default]
    BestEffort,
    /// Served when nobody else wants the disk.
    Idle,
}

/// An I/O priority: a class and, within it, a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Priority {
    /// The class.
    pub class: Class,
    /// 0 (highest) to 7 (lowest).
    pub level: u8,
}

impl Default for Priority {
    /// Best effort, level 4: what Linux gives a process with nice 0.
    fn default() -> Self {
        Priority { class: Class::BestEffort, level: 4 }
    }
}

impl Operation {
    /// The direction in which data flows; a discard or a flush counts as a write.
    #[inline]
    pub const fn direction(self) -> Direction {
        match self {
            Operation::Read => Direction::Read,
            _ => Direction::Write,
        }
    }
}

impl Direction {
    /// Reads, then writes.
    pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

    /// 0 for reads, 1 for writes.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other direction.
    #[inline]
    pub const fn other(self) -> Direction {
        match self {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
        }
    }
}

/// One request. Hosts fill it in; merging may enlarge its extent while it waits.
///
/// A request lies in memory as C would lay it out, so that a host in C can fill it in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Request {
    /// When it reached the queue.
    pub arrival: Instant,
    /// First sector.
    pub start: Sector,
    /// Length; zero only for a flush.
    pub length: Sectors,
    /// Who issued it.
    pub issuer: Issuer,
    /// What its issuer belongs to.
    pub group: Group,
    /// What it asks for.
    pub operation: Operation,
    /// The request's I/O priority.
    pub priority: Priority,
    /// Somebody waits for it: every read, and writes such as `O_DIRECT`, `O_SYNC` and `fsync`.
    pub sync: bool,
    /// File-system metadata, which CFQ prefers.
    pub metadata: bool,
    /// A part of a larger request whose next part follows at once (SOSP'01 §4.2.4).
    pub more_follows: bool,
    /// The request goes to the device first, past the scheduler, and is never merged: Linux's way for flushes and for
    /// what must be on the medium.
    pub past: bool,
    /// What must be on the medium when it is done. Matters to the device only.
    pub durable: Durable,
}

/// What the disk's write cache may not hold when a request is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Durable {
    /// All that the cache holds is on the medium before the request begins (Linux: `REQ_PREFLUSH`).
    pub before: bool,
    /// The request's own data is on the medium (forced unit access, `REQ_FUA`).
    pub itself: bool,
}

impl Durable {
    /// As the flags of a request say. Only a write of data can be durable: a flush is one by itself.
    pub fn of_write(operation: Option<Operation>, before: bool, itself: bool) -> Durable {
        let write = operation == Some(Operation::Write);
        Durable { before: write && before, itself: write && itself }
    }
}

impl Request {
    /// A synchronous read.
    pub fn read(start: Sector, length: Sectors) -> Request {
        Request { start, length, sync: true, ..Request::default() }
    }

    /// An asynchronous write.
    pub fn write(start: Sector, length: Sectors) -> Request {
        Request { start, length, operation: Operation::Write, ..Request::default() }
    }

    /// The same request, issued by `issuer`.
    pub fn by(self, issuer: Issuer) -> Request {
        Request { issuer, ..self }
    }

    /// The sector after the last one.
    #[inline]
    pub fn end(&self) -> Sector {
        self.start + self.length
    }

    /// The direction in which its data flows.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.operation.direction()
    }
}
