//! What the libraries share at their border to C: text into C's memory, and error numbers.

use core::ffi::c_int;
use core::fmt::{self, Write};

/// `EINVAL` of the kernel.
pub(crate) const INVALID: c_int = -22;
/// `ENOMEM` of the kernel.
pub(crate) const NO_MEMORY: c_int = -12;

/// Text written into memory, cut where that ends.
pub(crate) struct Out<'a> {
    room: &'a mut [u8],
    used: usize,
}

impl Write for Out<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.room[self.used..];
        let length = text.len().min(room.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.used += length;
        Ok(())
    }
}

/// Writes `text` to `room`; returns the length.
pub(crate) fn put(room: &mut [u8], text: fmt::Arguments<'_>) -> usize {
    let mut out = Out { room, used: 0 };
    let _ = out.write_fmt(text);
    out.used
}
