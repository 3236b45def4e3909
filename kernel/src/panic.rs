//! A panic in the kernel: what it says, and the way out of Rust. The state that panicked is not used again.

use core::ffi::c_char;
use core::panic::PanicInfo;

use crate::boundary::put;

unsafe extern "C" {
    /// Lets C say the text, and returns 0 to C in place of the function that C called. Declared so that it seems to
    /// return, since the kernel's check of control flow does not know it as a function without return.
    fn iw_escape(text: *const c_char, length: usize);
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
    // SAFETY: the text lives until C has said it. The frames between the guard and this one are Rust's, whose
    // destructors the program does without: what they would free is lost, and C uses nothing of it again.
    unsafe { iw_escape(line.as_ptr().cast(), used) };
    loop {}
}
