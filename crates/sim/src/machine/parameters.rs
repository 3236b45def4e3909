//! What a machine is like: memory, page cache, read-ahead, file system, processors. `presets.rs` has the table.
//!
//! Pages and blocks of the file system are 4 KiB throughout. A file system with larger blocks reads in larger units
//! and has its own arithmetic of indirect blocks; that is what matters to a disk.

use idlewise_core::{Duration, SECTOR_BYTES};

/// Bytes in a page, and in a block.
pub const PAGE: u64 = 4096;
/// Sectors in a page.
pub const PAGE_SECTORS: u64 = PAGE / SECTOR_BYTES;

/// A machine.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// The machine's name in workloads.
    pub name: &'static str,
    /// The system and the paper.
    pub about: &'static str,
    /// The memory of the page cache, in pages.
    pub memory: u32,
    /// When changed pages are written.
    pub dirty: DirtyLimits,
    /// Read-ahead of `read(2)`.
    pub readahead: Readahead,
    /// Read-ahead of a page fault.
    pub fault: Fault,
    /// The file system on the disk.
    pub layout: Layout,
    /// The journal, if the file system has one.
    pub journal: Option<JournalSettings>,
    /// Changes of names reach the disk before the call returns, as in FFS without soft updates.
    pub synchronous_names: bool,
    /// A read changes the file's inode: its time of access.
    pub access_times: bool,
    /// The longest request that the disk's driver takes, in pages.
    pub request_max: u32,
    /// How many requests writeback keeps in the queue.
    pub writes: Writes,
    /// After completions a worker asks the scheduler, which waits for a processor as others do.
    pub asks_last: bool,
    /// Bytes that `cat` and `cp` read and write at a time.
    pub buffer: u32,
    /// `cat` and `cp` say that they will read in order (`posix_fadvise`), for which the kernel doubles read-ahead.
    pub advises: bool,
    /// The network to clients.
    pub network: Network,
    /// What calls cost.
    pub costs: Costs,
}

/// When changed pages are written.
#[derive(Clone, Copy, Debug)]
pub struct DirtyLimits {
    /// With more dirty pages than this the flusher writes in the background.
    pub background: u32,
    /// Pages that the flusher writes before it asks whether more is to be written, and of one file before another file's turn.
    pub chunk: u32,
    /// Such a chunk is of one file, and before the flusher asks it goes on to the others that were dirty when it began; for so long.
    pub round: Option<Duration>,
    /// With more pages than this, dirty or being written, writers wait.
    pub most: u32,
    /// The time between two passes of the flusher.
    pub period: Duration,
    /// A pass writes what has been dirty for longer than this.
    pub age: Duration,
    /// A writer in order starts the write of each such run of pages as soon as it is full; 0: never.
    pub write_behind: u32,
    /// Writers sleep now and then, so that pages become dirty as fast as they are written, and do not wait otherwise.
    pub paces: bool,
    /// The flusher holds requests back for those that follow.
    pub plugs: bool,
    /// The flusher comes to the file system's own blocks only after all files, and not while the queue is congested.
    pub device_last: Option<Congestion>,
}

/// How many requests writeback keeps in the queue.
#[derive(Clone, Copy, Debug)]
pub enum Writes {
    /// A fixed number.
    Fixed {
        /// This number.
        most: u32,
        /// Requests left in the queue with which writeback goes on when there were as many.
        again: u32,
    },
    /// So few that a read takes at most this in the drive.
    Throttled(Duration),
}

/// When a queue is congested.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// With this number of queued writes it is.
    pub on: u32,
    /// Until there are fewer than this.
    pub off: u32,
}

/// The algorithm of read-ahead. Sizes are in units of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readahead {
    /// A current and an ahead window, which grow with each page in order to `max` pages: Linux 2.6 until 2.6.10.
    Hits {
        /// Pages in a window.
        max: u32,
    },
    /// A current and an ahead window, which double to `max` pages: Linux 2.6.11 to 2.6.22.
    Windows {
        /// Pages in a window.
        max: u32,
    },
    /// One window with a mark, grown on demand: Linux from 2.6.23 on.
    OnDemand {
        /// Pages in a window.
        max: u32,
    },
    /// Clusters of blocks of two pages: FreeBSD 4.
    Clusters {
        /// Blocks in a cluster.
        cluster: u32,
    },
}

impl Readahead {
    /// The same for a process that has said that it reads in order.
    #[must_use]
    pub fn doubled(self) -> Readahead {
        match self {
            Readahead::Hits { max } => Readahead::Hits { max: 2 * max },
            Readahead::Windows { max } => Readahead::Windows { max: 2 * max },
            Readahead::OnDemand { max } => Readahead::OnDemand { max: 2 * max },
            Readahead::Clusters { .. } => self,
        }
    }

    /// Pages in a unit.
    pub fn unit(self) -> u32 {
        match self {
            Readahead::Hits { .. } | Readahead::Windows { .. } | Readahead::OnDemand { .. } => 1,
            Readahead::Clusters { .. } => 2,
        }
    }
}

/// Pages that a page fault reads around the missing one.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Pages before it.
    pub before: u32,
    /// Pages after it.
    pub after: u32,
}

/// How directories spread over the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Those at the top spread, all others stay near their parents: ext2 and ext3 (Orlov).
    Top,
    /// Each goes to the group that has the fewest: FFS until 2001.
    Every,
}

/// How a file's pages are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// An inode has `direct` pages; each further block of pointers maps `each` pages.
    Indirect {
        /// Pages that the inode itself maps.
        direct: u32,
        /// Pages that a block of pointers maps.
        each: u32,
    },
    /// An inode has `direct` extents; of a file with more, all lie in one further block.
    Extents {
        /// Extents that the inode itself has.
        direct: u32,
    },
}

/// When a file gets its blocks, and which ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// With the write: behind the file's end, with some more that stay its own until the file is closed.
    AtOnce {
        /// Blocks taken at a time at least; 0: as many as are written.
        reserve: u32,
    },
    /// When the flusher writes the file. Small files lie one behind the other in runs of blocks, larger ones whole.
    Delayed {
        /// The blocks of the longest small file.
        small: u32,
        /// Blocks of a run.
        run: u32,
        /// Pages of a file that the flusher gathers at a time.
        gathers: u32,
    },
}

/// A file system's geometry and habits.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Blocks in a group.
    pub group: u32,
    /// Groups whose bitmaps and inode tables lie together, at the start of the first one.
    pub flex: u32,
    /// Bytes of a group's descriptor. All lie behind the superblock, in the first group; 0: there are none.
    pub descriptor: u32,
    /// Blocks of a group's inode table.
    pub inode_table: u32,
    /// Inodes in a block.
    pub inodes_per_block: u32,
    /// Names in a block of a directory.
    pub names_per_block: u32,
    /// Directories list their files in the order of a hash; otherwise as they were made.
    pub hashed: bool,
    /// Where new directories go.
    pub spread: Spread,
    /// How pages are found.
    pub mapping: Mapping,
    /// A file goes on in the next group after this number of blocks; 0: never.
    pub hop: u32,
    /// When a file gets its blocks.
    pub allocation: Allocation,
    /// The journal lies in the middle of the disk; otherwise at its start.
    pub journal_in_middle: bool,
    /// Blocks of inodes that are read together.
    pub inode_readahead: u32,
    /// Of a thousand blocks of a file, how many lie elsewhere than behind the one before.
    pub fragments: u32,
}

/// A journal.
#[derive(Clone, Copy, Debug)]
pub struct JournalSettings {
    /// Blocks of the journal's area.
    pub blocks: u32,
    /// The longest time until a change is committed.
    pub interval: Duration,
    /// The journal's writes are marked as waited for.
    pub sync: bool,
    /// A commit is on the medium before it counts, and what it speaks of before that: the drive's write cache is flushed.
    pub barriers: bool,
}

/// A network.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// Bytes of content that it carries in a second.
    pub rate: u32,
    /// Bytes in a connection's buffer for sending.
    pub buffer: u32,
}

/// What calls cost of a processor's time.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Processors.
    pub processors: u32,
    /// Entering and leaving the kernel, and what a call does besides copying.
    pub call: Duration,
    /// Copying a page that is read, and finding it.
    pub page: Duration,
    /// Filling a page that is written, with what the file system does for it.
    pub fill: Duration,
    /// What the kernel does for a page that it reads from the disk: finding memory, the request, and its end.
    pub fetch: Duration,
    /// Finding a page that is to be written, and a place for it.
    pub gather: Duration,
    /// Sending a page that is written.
    pub send: Duration,
    /// What the kernel does for a page after it is written.
    pub end: Duration,
    /// A page fault.
    pub fault: Duration,
    /// Finding a name.
    pub name: Duration,
    /// Starting a process: fork, in the parent.
    pub fork: Duration,
    /// Starting a program: exec, in the child, with the linking of its libraries, until its first own call.
    pub exec: Duration,
    /// From a process's last call to its parent's next one.
    pub exit: Duration,
}
