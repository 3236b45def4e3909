//! Where a trace's bytes come from: a file or a stream, decompressed, in one block buffer.
//!
//! Compression is recognised by its first bytes, never by the file's name. The buffer has a fixed
//! size; the first 64 KiB in it are what recognition looks at, so nothing needs to seek.

use crate::traces::error::{TraceError, cure_io};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes in the block buffer.
const BLOCK: usize = 256 * 1024;

/// How much of the beginning recognition sees.
pub(crate) const PEEK: usize = 64 * 1024;

/// The most that decompressing may take, in KiB: twice what `xz -9` needs.
const XZ_LIMIT_KIB: u32 = 128 * 1024;

/// The largest window a zstd frame may ask for: what `zstd --ultra --long=27` uses.
const ZSTD_WINDOW: u64 = 128 << 20;

/// The sign of UTF-8 that some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is known of all the files of a trace while they are read.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// What ends early is taken for the end.
    pub(crate) lenient: bool,
    /// Bytes read so far, as they lie in the files.
    pub(crate) read: AtomicU64,
    /// Compressed data ended early, and was taken as it is.
    pub(crate) cut: AtomicBool,
}

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
    /// The file itself has ended.
    exhausted: Arc<AtomicBool>,
    watch: Arc<Watch>,
}

impl Input {
    /// Wraps `source`, decompressing it if it is compressed, and reads the first 64 KiB.
    pub(crate) fn new(
        source: Box<dyn Read + Send>,
        name: &str,
        watch: Arc<Watch>,
    ) -> Result<Input, TraceError> {
        Input::with_block(source, name, BLOCK, watch)
    }

    /// As [`Input::new`], with a buffer of `block` bytes, at least 128 KiB.
    pub(crate) fn with_block(
        source: Box<dyn Read + Send>,
        name: &str,
        block: usize,
        watch: Arc<Watch>,
    ) -> Result<Input, TraceError> {
        let name = name.to_owned();
        let exhausted = Arc::<AtomicBool>::default();
        let source = Source { inner: source, watch: Arc::clone(&watch), exhausted: Arc::clone(&exhausted) };
        let source = decompressed(Box::new(source)).map_err(|e| io_error(&name, e))?;
        let buffer = vec![0; block.max(2 * PEEK)];
        let mut input =
            Input { name, source, buffer, from: 0, to: 0, offset: 0, ended: false, exhausted, watch };
        while input.to < PEEK && input.refill()? {}
        if input.available().starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
        }
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

    /// Compressed data ended early: what is read last may be a part of a row.
    pub(crate) fn was_cut(&self) -> bool {
        self.watch.cut.load(Ordering::Relaxed)
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
                    if !self.exhausted.load(Ordering::Relaxed) {
                        return Err(io_error(&self.name, error));
                    }
                    if !self.watch.lenient {
                        return Err(io_error(
                            &self.name,
                            io::Error::new(io::ErrorKind::UnexpectedEof, CUT_SHORT),
                        ));
                    }
                    self.watch.cut.store(true, Ordering::Relaxed);
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

/// What is wrong with a file that was not copied or written to its end.
pub(crate) const CUT_SHORT: &str = "the compressed data ends early";

/// A file that is read, and how far.
struct Source {
    inner: Box<dyn Read + Send>,
    watch: Arc<Watch>,
    exhausted: Arc<AtomicBool>,
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.watch.read.fetch_add(count as u64, Ordering::Relaxed);
        if count == 0 && !out.is_empty() {
            self.exhausted.store(true, Ordering::Relaxed);
        }
        Ok(count)
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
        Box::new(Zstd { source: BufReader::new(Box::new(whole)), frame: None, failure: None })
    } else {
        Box::new(whole)
    })
}

/// All frames of a zstd file; the library's own reader stops after the first.
struct Zstd {
    source: BufReader<Box<dyn Read + Send>>,
    frame: Option<Box<ruzstd::decoding::FrameDecoder>>,
    /// What ended the last frame early; reported once all that was decoded is returned.
    failure: Option<io::Error>,
}

/// An empty last block of a frame, and a checksum, which the library does not look at. A frame returns its last
/// bytes only at its end; this ends one whose own end is missing.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl Read for Zstd {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
        loop {
            let Some(frame) = &mut self.frame else {
                if let Some(failure) = self.failure.take() {
                    return Err(failure);
                }
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
                if let Err(error) = frame.decode_blocks(&mut self.source, strategy) {
                    frame.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All).map_err(damaged)?;
                    self.failure = Some(damaged(error));
                }
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
