//! Where the sectors of an array lie on its members.
//!
//! Two layouts serve all levels. In *copies* the chunks of the array stand in a row over the members, each as many times
//! as it has copies, as md's `near` layout has it: one copy is RAID-0, two are RAID-10, and one chunk as large as a
//! member, once for each member, is RAID-1. In *parity* each row has one chunk (RAID-5) or two (RAID-6) that are computed
//! of the others; they move one member to the left from row to row, and data begins behind them (left-symmetric,
//! md's default). Source of both: md(4) and the layouts that mdadm(8) lists.

use core::fmt;
use core::ops::RangeInclusive;

/// Members that an array has at most. Linux limits RAID-5 and RAID-6 to 384; memory grows with it.
pub const MOST_MEMBERS: u32 = 64;

/// How an array keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Chunks in turn over all members.
    Raid0,
    /// The same on all members.
    Raid1,
    /// Chunks in turn, and one of parity in each row.
    Raid5,
    /// Chunks in turn, and two of parity in each row.
    Raid6,
    /// Chunks in turn, each twice.
    Raid10,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 5] = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10];

    /// Its number, as it stands behind `raid`.
    pub fn number(self) -> u32 {
        match self {
            Level::Raid0 => 0,
            Level::Raid1 => 1,
            Level::Raid5 => 5,
            Level::Raid6 => 6,
            Level::Raid10 => 10,
        }
    }

    /// How many members it may have. Fewer would be another level.
    pub fn members(self) -> RangeInclusive<u32> {
        let least = match self {
            Level::Raid0 | Level::Raid1 => 2,
            Level::Raid5 | Level::Raid10 => 3,
            Level::Raid6 => 4,
        };
        least..=MOST_MEMBERS
    }

    /// What it is, for lists.
    pub fn summary(self) -> &'static str {
        match self {
            Level::Raid0 => "chunks in turn over all disks",
            Level::Raid1 => "the same on all disks; the nearest or an idle one is read",
            Level::Raid5 => "chunks in turn, one of each row parity (left-symmetric)",
            Level::Raid6 => "chunks in turn, two of each row parity (left-symmetric)",
            Level::Raid10 => "chunks in turn, each on two disks side by side (near)",
        }
    }

    /// Whether its data is divided into chunks.
    pub fn has_chunks(self) -> bool {
        self != Level::Raid1
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RAID-{}", self.number())
    }
}

/// A sector of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The member's number, from 0.
    pub member: u32,
    /// The sector on it.
    pub sector: u64,
}

/// Where the sectors of an array lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    members: u64,
    chunk: u64,
    copies: u64,
    parities: u64,
    capacity: u64,
}

impl Layout {
    /// The layout of `members` disks of `sectors` each. Chunks have `chunk` sectors; what is left behind a member's last
    /// whole chunk is not used. Counts are as [`Level::members`] wants them, and a chunk fits on a member.
    pub fn new(level: Level, members: u32, chunk: u32, sectors: u64) -> Layout {
        let members = u64::from(members);
        let (copies, parities) = match level {
            Level::Raid0 => (1, 0),
            Level::Raid1 => (members, 0),
            Level::Raid5 => (1, 1),
            Level::Raid6 => (1, 2),
            Level::Raid10 => (2, 0),
        };
        let chunk = if level.has_chunks() { u64::from(chunk) } else { sectors };
        let rows = sectors / chunk;
        let capacity = rows * (members - parities) / copies * chunk;
        Layout { members, chunk, copies, parities, capacity }
    }

    /// Sectors of data.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Sectors in a chunk.
    pub fn chunk(&self) -> u64 {
        self.chunk
    }

    /// How often each sector of data is there.
    pub fn copies(&self) -> u64 {
        self.copies
    }

    /// Chunks of parity in a row.
    pub fn parities(&self) -> u64 {
        self.parities
    }

    /// Chunks of data in a row, without their copies: by so much are distances on the array larger than on a member.
    pub fn data_chunks(&self) -> u64 {
        (self.members - self.parities) / self.copies
    }

    /// Sectors of data in a row. Of layouts with parity, where rows matter.
    pub fn row(&self) -> u64 {
        self.data_chunks() * self.chunk
    }

    /// Sectors from `address` to the end of its chunk.
    pub fn left(&self, address: u64) -> u64 {
        self.chunk - address % self.chunk
    }

    /// Where `address` lies; `copy` counts from 0.
    pub fn place(&self, address: u64, copy: u64) -> Place {
        let (chunk, inside) = (address / self.chunk, address % self.chunk);
        if self.parities > 0 {
            let (row, index) = (chunk / self.data_chunks(), chunk % self.data_chunks());
            return Place { member: self.data(row, index), sector: row * self.chunk + inside };
        }
        let position = chunk * self.copies + copy;
        let row = position / self.members;
        Place { member: (position % self.members) as u32, sector: row * self.chunk + inside }
    }

    /// The member that has chunk `index` of the data of `row`, in a layout with parity.
    pub fn data(&self, row: u64, index: u64) -> u32 {
        ((self.first_parity(row) + self.parities + index) % self.members) as u32
    }

    /// The member that has parity `which` of `row`: 0 is P, 1 is Q.
    pub fn parity(&self, row: u64, which: u64) -> u32 {
        ((self.first_parity(row) + which) % self.members) as u32
    }

    fn first_parity(&self, row: u64) -> u64 {
        self.members - 1 - row % self.members
    }
}

/// Columns of a row in which the same chunks are written. A column is a sector's place in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// First column.
    pub from: u64,
    /// Column behind the last.
    pub to: u64,
    /// First chunk that is written, by its index among the data of the row.
    pub first: u64,
    /// Last chunk that is written.
    pub last: u64,
}

/// The strips of a write of the sectors `from..to` of a row's data. A write that spans chunks fills the first of them only
/// to its end and the last only from its beginning, so there are up to three.
pub fn strips(chunk: u64, from: u64, to: u64) -> impl Iterator<Item = Strip> {
    let (first, begin) = (from / chunk, from % chunk);
    let (last, end) = ((to - 1) / chunk, (to - 1) % chunk + 1);
    let cuts =
        if first == last { [begin, end, end, end] } else { [0, begin.min(end), begin.max(end), chunk] };
    (0..3).filter_map(move |index| {
        let (from, to) = (cuts[index], cuts[index + 1]);
        let strip =
            Strip { from, to, first: first + u64::from(from < begin), last: last - u64::from(to > end) };
        (from < to && strip.first <= strip.last).then_some(strip)
    })
}
