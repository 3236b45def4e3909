//! The file of a recording: a sequence of gzip members that can be read after each of them.
//!
//! What is recorded is gathered, packed into a member and written in one call, at least once a second. When a member
//! does not fit, what was written of it is taken back.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::RecordError;

/// Bytes that make a member: enough to pack well, and little to lose.
const MEMBER: usize = 256 * 1024;

/// A file that is being recorded to.
pub(crate) struct Output {
    file: File,
    path: PathBuf,
    /// What is not yet written.
    pub(crate) pending: Vec<u8>,
    /// Bytes of whole members in the file, and events in them.
    written: u64,
    events: u64,
}

impl Output {
    /// Makes the file at `path`, which must not be there unless `replace` is said.
    pub(crate) fn create(path: &Path, replace: bool) -> Result<Output, RecordError> {
        let special = std::fs::metadata(path).is_ok_and(|data| {
            let kind = data.file_type();
            kind.is_char_device() || kind.is_fifo()
        });
        let mut options = OpenOptions::new();
        options.write(true);
        if replace && !special {
            options.create(true).truncate(true);
        } else if !special {
            options.create_new(true);
        }
        match options.open(path) {
            Ok(file) => {
                Ok(Output { file, path: path.to_owned(), pending: Vec::new(), written: 0, events: 0 })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RecordError::Exists(path.to_owned()))
            }
            Err(error) => Err(RecordError::Output { path: path.to_owned(), error, kept: 0 }),
        }
    }

    /// Enough is pending for a member.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= MEMBER
    }

    /// Bytes in the file.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Writes what is pending. `events`: how many the file holds by then.
    pub(crate) fn flush(&mut self, events: u64) -> Result<(), RecordError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let outcome = pack(&self.pending).and_then(|member| {
            self.file.write_all(&member)?;
            Ok(member.len() as u64)
        });
        match outcome {
            Ok(length) => {
                self.written += length;
                self.events = events;
                self.pending.clear();
                Ok(())
            }
            Err(error) => {
                // A pipe cannot be cut, and its reader has had it anyway.
                let _ = self.file.set_len(self.written);
                Err(RecordError::Output { path: self.path.clone(), error, kept: self.events })
            }
        }
    }
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut member = GzEncoder::new(Vec::with_capacity(bytes.len()), Compression::fast());
    member.write_all(bytes)?;
    member.finish()
}
