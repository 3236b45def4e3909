//! Writing compressed, as the end of a file's name asks for: the counterpart of `input`.
//!
//! The compressors are Rust throughout, as the decompressors are. Memory is bounded, whatever the length.

use std::io::{self, Write};
use std::path::Path;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Effort of xz: the levels above are much slower and gain a few percent on traces.
const XZ_EFFORT: u32 = 3;

/// Bytes that one zstd frame holds: enough that a new frame's cold start costs nothing.
const FRAME: usize = 4 << 20;

/// Ends of names that promise a compression that nothing here can write.
const OTHERS: [&str; 10] = ["7z", "br", "lz", "lz4", "lzma", "lzo", "rar", "tgz", "z", "zip"];

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// What the name of a file asks for, if anything.
    ///
    /// # Errors
    /// The name promises a compression that cannot be written.
    pub fn of(path: &Path) -> Result<Option<Compression>, String> {
        let end = path.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Some(match end.to_lowercase().as_str() {
            "gz" => Compression::Gzip,
            "bz2" => Compression::Bzip2,
            "xz" => Compression::Xz,
            "zst" => Compression::Zstd,
            other if OTHERS.contains(&other) => {
                return Err(format!(
                    "cannot compress as .{end}: name the file .gz, .bz2, .xz or .zst, or leave .{end} out"
                ));
            }
            _ => return Ok(None),
        }))
    }
}

/// Compresses what is written, and hands it on to `W`.
pub struct Compressor<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(Box<lzma_rust2::XzWriter<W>>),
    Zstd { frame: Vec<u8>, out: W },
}

impl<W: Write> Compressor<W> {
    /// A compressor; one that changes nothing for `None`.
    ///
    /// # Errors
    /// `out` fails.
    pub fn new(how: Option<Compression>, out: W) -> io::Result<Compressor<W>> {
        Ok(Compressor(match how {
            None => Kind::Plain(out),
            Some(Compression::Gzip) => {
                Kind::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Bzip2) => {
                Kind::Bzip2(bzip2::write::BzEncoder::new(out, bzip2::Compression::default()))
            }
            Some(Compression::Xz) => {
                let options = lzma_rust2::XzOptions::with_preset(XZ_EFFORT);
                Kind::Xz(Box::new(lzma_rust2::XzWriter::new(out, options)?))
            }
            Some(Compression::Zstd) => Kind::Zstd { frame: Vec::new(), out },
        }))
    }

    /// Writes what is left, and the compression's own end.
    ///
    /// # Errors
    /// `out` fails.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self.0 {
            Kind::Plain(out) => out,
            Kind::Gzip(encoder) => encoder.finish()?,
            Kind::Bzip2(encoder) => encoder.finish()?,
            Kind::Xz(encoder) => encoder.finish()?,
            Kind::Zstd { frame, mut out } => {
                out.write_all(&compress_to_vec(frame.as_slice(), CompressionLevel::Fastest))?;
                out
            }
        };
        out.flush()?;
        Ok(out)
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(out) => out.write(bytes),
            Kind::Gzip(encoder) => encoder.write(bytes),
            Kind::Bzip2(encoder) => encoder.write(bytes),
            Kind::Xz(encoder) => encoder.write(bytes),
            Kind::Zstd { frame, out } => {
                let taken = bytes.len().min(FRAME - frame.len());
                frame.extend_from_slice(&bytes[..taken]);
                if frame.len() == FRAME {
                    out.write_all(&compress_to_vec(frame.as_slice(), CompressionLevel::Fastest))?;
                    frame.clear();
                }
                Ok(taken)
            }
        }
    }

    /// Does nothing but for plain output: a compressor that is flushed compresses worse. [`Compressor::finish`] does.
    fn flush(&mut self) -> io::Result<()> {
        if let Kind::Plain(out) = &mut self.0 { out.flush() } else { Ok(()) }
    }
}
