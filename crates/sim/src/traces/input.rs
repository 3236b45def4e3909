//! Where a trace's bytes come from: a file or a stream, decompressed, in one block buffer.
//!
//! Compression is recognised by its first bytes, never by the file's name. The buffer has a fixed
//! size; the first 64 KiB in it are what recognition looks at, so nothing needs to seek.

use crate::traces::error::{TraceError, cure_io};
use std::io::{self, BufRead, BufReader, Read};

/// Bytes in the block buffer.
const BLOCK: usize = 256 * 1024;

/// How much of the beginning recognition sees.
pub(crate) const PEEK: usize = 64 * 1024;

/// The most that decompressing may take, in KiB: twice what `xz -9` needs.
const XZ_LIMIT_KIB: u32 = 128 * 1024;

/// The largest window a zstd frame may ask for: what `zstd --ultra --long=27` uses.
const ZSTD_WINDOW: u64 = 128 << 20;

/// A stream of decompressed bytes with a look ahead.
pub(crate) struct Input {
    name: String,
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// Decompressed bytes before `buffer[from]`.
    offset: u64,
    ended: bool,
}

impl Input {
    /// Wraps `source`, decompressing it if it is compressed, and reads the first 64 KiB.
    pub(crate) fn new(source: Box<dyn Read + Send>, name: &str) -> Result<Input, TraceError> {
        Input::with_block(source, name, BLOCK)
    }

    /// As [`Input::new`], with a buffer of `block` bytes, at least 128 KiB.
    pub(crate) fn with_block(
        source: Box<dyn Read + Send>,
        name: &str,
        block: usize,
    ) -> Result<Input, TraceError> {
        let name = name.to_owned();
        let source = decompressed(source).map_err(|e| io_error(&name, e))?;
        let buffer = vec![0; block.max(2 * PEEK)];
        let mut input = Input { name, source, buffer, from: 0, to: 0, offset: 0, ended: false };
        while input.to < PEEK && input.refill()? {}
        Ok(input)
    }

    /// The trace's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is in the buffer and not yet consumed.
    #[inline]
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.from..self.to]
    }

    /// Marks `count` bytes of what is available as done with.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
        self.offset += count as u64;
    }

    /// Decompressed bytes consumed so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads more behind what is available. False once the stream has ended or the buffer is full.
    pub(crate) fn refill(&mut self) -> Result<bool, TraceError> {
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        while !self.ended && self.to < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.to += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Err(io_error(&self.name, error));
                }
            }
        }
        Ok(false)
    }

    /// At least `count` bytes, or as many as are left. `count` is at most 128 KiB.
    #[inline]
    pub(crate) fn at_least(&mut self, count: usize) -> Result<&[u8], TraceError> {
        while self.to - self.from < count && self.refill()? {}
        Ok(self.available())
    }
}

/// An error of the operating system or the decompressor, with the trace's name.
pub(crate) fn io_error(name: &str, source: io::Error) -> TraceError {
    let cure = cure_io(&source);
    TraceError::Io { name: name.to_owned(), source, cure }
}

/// `source`, through the decompressor that its first bytes ask for.
fn decompressed(mut source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    source.by_ref().take(6).read_to_end(&mut head)?;
    let whole = io::Cursor::new(head.clone()).chain(source);
    Ok(if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::read::MultiGzDecoder::new(whole))
    } else if head.starts_with(b"BZh") {
        Box::new(bzip2::read::MultiBzDecoder::new(whole))
    } else if head.starts_with(b"\xfd7zXZ\0") {
        Box::new(lzma_rust2::XzReader::new_mem_limit(whole, true, XZ_LIMIT_KIB))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(Zstd { source: BufReader::new(Box::new(whole)), frame: None })
    } else {
        Box::new(whole)
    })
}

/// All frames of a zstd file; the library's own reader stops after the first.
struct Zstd {
    source: BufReader<Box<dyn Read + Send>>,
    frame: Option<Box<ruzstd::decoding::FrameDecoder>>,
}

impl Read for Zstd {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
        loop {
            let Some(frame) = &mut self.frame else {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                let mut frame = Box::new(FrameDecoder::new());
                frame.set_max_window_size(ZSTD_WINDOW);
                frame.reset(&mut self.source).map_err(damaged)?;
                self.frame = Some(frame);
                continue;
            };
            if frame.can_collect() == 0 && !frame.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBytes(out.len().max(1));
                frame.decode_blocks(&mut self.source, strategy).map_err(damaged)?;
            }
            let count = frame.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            if frame.is_finished() {
                self.frame = None;
            }
        }
    }
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
