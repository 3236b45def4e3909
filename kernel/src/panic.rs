//! A panic in the kernel: a line that says where and why, then a bug that stops the thread.

use core::fmt::{self, Write};
use core::panic::PanicInfo;

unsafe extern "C" {
    /// Prints the text and raises the bug. Does not return; declared so that it seems to, since the
    /// kernel's check of control flow does not know it as a function without return.
    fn iw_panic(text: *const u8, length: usize);
}

/// Longer messages are cut.
const LENGTH: usize = 256;

struct Line {
    text: [u8; LENGTH],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.text[self.used..];
        let length = text.len().min(room.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.used += length;
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = Line { text: [0; LENGTH], used: 0 };
    let _ = match info.location() {
        Some(at) => write!(line, "{} ({}:{})", info.message(), at.file(), at.line()),
        None => write!(line, "{}", info.message()),
    };
    // SAFETY: the text lives until the call is over.
    unsafe { iw_panic(line.text.as_ptr(), line.used) };
    loop {}
}
