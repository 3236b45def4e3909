//! What `idlewise record` writes: block events and the lives of processes, binary, in order of time.
//!
//! The file is a sequence of gzip members. Decompressed it is the line `idlewise recording 1`, the head (what the
//! disks are, TOML: [`Head`]), a zero byte, and records; the last record is the tail ([`Tail`], TOML). Each member
//! holds whole records, so that a recording that was cut short can be read up to its last whole member.
//!
//! A record is a tag byte and numbers of 7 bits a byte, low bits first, the high bit set in all but a number's last
//! byte. The tag's low 4 bits are the kind; the first number is the time since the record before, in nanoseconds.
//!
//! | kind | numbers and text behind the time |
//! |---|---|
//! | 0 bio queued, 1 request issued, 2 completed, 3 requeued, 4 bio merged, 5 request merged, 6 bio split | asked (unless the tag has 16), task (unless 32), start, length (unless 64); of a split also where the second part begins |
//! | 8 task seen | task, process, parent (0: unknown), name |
//! | 9 fork | task, process, the parent's task, the parent's process |
//! | 10 exit | task, process |
//! | 11 renamed, 12 program begun | task, process, name |
//! | 13 lost | how many events |
//! | 15 end | the tail |
//!
//! Start is the distance in sectors from the start of the block event before, signed (lowest bit). What the tag
//! leaves out is as in the last event of the same kind. Asked packs, from the lowest bit: 3 bits operation (0
//! nothing, 1 read, 2 write, 3 discard, 4 flush, 5 write zeroes, 6 erase), then a bit each for synchronous, metadata,
//! forced unit access, flush before, read-ahead, then 16 bits of the kernel's I/O priority (0: none), then the device as an index
//! into the head's disks. A text is its length in bytes and its bytes.
//!
//! It lacks: nothing that Linux tells.

mod code;

mod read;

pub use crate::traces::recorded::{Counted, Counts, Disk, Head, Partition, Tail};
pub use code::{Asked, Encoder, Entry, Event, Name, What};

use crate::traces::format_info::{About, Code, Head as Beginning};

/// The first line.
pub(crate) const MAGIC: &[u8] = b"idlewise recording 1\n";

pub(crate) const ABOUT: About =
    About::events("recording", "what `idlewise record` writes, binary", "nanoseconds");

pub(crate) const CODE: Code = Code { score, open: read::open, encode: None };

fn score(head: &Beginning<'_>) -> u8 {
    if head.bytes.starts_with(MAGIC) { 100 } else { 0 }
}
