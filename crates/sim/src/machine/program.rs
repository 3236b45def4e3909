//! Programs: what a process does, one operation after the other.
//!
//! A program is an iterator over operations, so that it can be written down as a value: `[Open(file), ...]`, a range
//! with `map`, a tree with `flat_map`.

use idlewise_core::Duration;

/// A file of a machine, by number. Files are numbered in the order in which they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A directory of a machine, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub u32);

/// Part of a file, and how many bytes of it each call moves.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The file.
    pub file: FileId,
    /// Where it begins, in bytes.
    pub from: u64,
    /// How long it is, in bytes. A read ends at the end of the file.
    pub bytes: u64,
    /// Bytes of a call.
    pub call: u32,
}

impl Part {
    /// All of `file`, by calls of `call` bytes.
    pub fn all(file: FileId, call: u32) -> Part {
        Part { file, from: 0, bytes: u64::MAX, call }
    }
}

/// One operation of a process.
pub enum Op {
    /// The process computes.
    Compute(Duration),
    /// The process sleeps.
    Sleep(Duration),
    /// The process finds a file by its name and reads the file's inode: `open(2)`.
    Open(FileId),
    /// The same without a file to read from: `stat(2)`.
    Stat(FileId),
    /// The process says that it will read a file in order: `posix_fadvise(2)`.
    Advise(FileId),
    /// The process forgets what it knew of an open file.
    Close(FileId),
    /// The process reads a directory's names.
    List(DirectoryId),
    /// `read(2)`, as often as the part wants.
    Read(Part),
    /// The process touches each page of a mapped file.
    Touch(Part),
    /// `write(2)`, as often as the part wants. What goes beyond the end makes the file longer.
    Write(Part),
    /// `creat(2)`: an empty file in a directory. A file that is there already loses its data.
    Create(FileId, DirectoryId),
    /// `mkdir(2)`: a directory in another one.
    MakeDirectory(DirectoryId, DirectoryId),
    /// `unlink(2)`.
    Unlink(FileId),
    /// `fsync(2)`.
    Sync(FileId),
    /// `fdatasync(2)`.
    SyncData(FileId),
    /// `fsync(2)` of a directory: its names.
    SyncNames(DirectoryId),
    /// The process sends this number of bytes to its client (`writev(2)`), and waits while the buffer of its connection is full.
    Send(u32),
    /// fork and exec: a child with this name runs this program.
    Spawn(&'static str, Program),
    /// The process waits until all of its children have exited.
    Wait,
    /// A phase of this name begins. For reports; takes no time.
    Mark(&'static str),
}

/// What a process does.
pub type Program = Box<dyn Iterator<Item = Op> + Send>;

/// A program of these operations.
pub fn program(operations: impl IntoIterator<Item = Op, IntoIter: Send + 'static>) -> Program {
    Box::new(operations.into_iter())
}
