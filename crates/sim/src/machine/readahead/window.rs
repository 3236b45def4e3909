//! What an algorithm of read-ahead is told, and what it answers.

/// Whether a unit is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Neither there nor being read.
    Absent,
    /// There, or being read.
    Here,
    /// The same, and marked by an earlier window. The mark is gone now.
    Marked,
}

/// A unit that a call has come to.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The unit's place in the file.
    pub place: u64,
    /// How many units of the call are left, with this one.
    pub left: u64,
    /// Whether it is in the cache.
    pub found: Found,
    /// Units in the file.
    pub end: u64,
    /// Units that the file fills.
    pub whole: u64,
}

/// Units to read. What is beyond the file's end or in the cache is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first unit.
    pub start: u64,
    /// How many.
    pub count: u64,
    /// Units that are marked: who comes to one asks for more.
    pub marks: [Option<u64>; 2],
}

impl Window {
    /// A window without marks.
    pub fn plain(start: u64, count: u64) -> Window {
        Window { start, count, marks: [None; 2] }
    }
}
