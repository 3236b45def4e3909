//! The boundary to C, the same for both libraries: text into and out of C's memory, memory for the values that C holds,
//! and error numbers.

use alloc::alloc::alloc;
use alloc::boxed::Box;
use core::alloc::Layout;
use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};
use core::slice;

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

/// The same, into `size` bytes of C's.
pub(crate) unsafe fn put_c(room: *mut c_char, size: usize, text: fmt::Arguments<'_>) -> usize {
    // SAFETY: C has that many bytes there.
    put(unsafe { slice::from_raw_parts_mut(room.cast(), size) }, text)
}

/// The text of `length` bytes that C has there; empty if the bytes are not UTF-8.
pub(crate) unsafe fn text<'a>(from: *const c_char, length: usize) -> &'a str {
    // SAFETY: C has that many bytes there.
    str::from_utf8(unsafe { slice::from_raw_parts(from.cast(), length) }).unwrap_or_default()
}

/// Moves `value` to memory of its own; `None`, which is null for C, if there is none.
pub(crate) fn keep<T>(value: T) -> Option<Box<T>> {
    // SAFETY: `T` is not of size zero; the memory is `T`'s layout from the allocator that boxes use, and written.
    unsafe {
        let memory = alloc(Layout::new::<T>()).cast::<T>();
        (!memory.is_null()).then(|| {
            memory.write(value);
            Box::from_raw(memory)
        })
    }
}
