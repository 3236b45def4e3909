//! A panic in the kernel: a line that says where and why, then a bug that stops the thread.

use core::ffi::c_char;
use core::panic::PanicInfo;

use crate::border::put;

unsafe extern "C" {
    /// Prints the text and raises the bug. Does not return; declared so that it seems to, since the
    /// kernel's check of control flow does not know it as a function without return.
    fn iw_panic(text: *const c_char, length: usize);
}

/// Longer messages are cut.
const LENGTH: usize = 256;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = [0; LENGTH];
    let used = match info.location() {
        Some(at) => put(&mut line, format_args!("{} ({}:{})", info.message(), at.file(), at.line())),
        None => put(&mut line, format_args!("{}", info.message())),
    };
    // SAFETY: the text lives until the call is over.
    unsafe { iw_panic(line.as_ptr().cast(), used) };
    loop {}
}
