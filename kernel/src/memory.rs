//! The kernel's allocator as Rust's. Allocation may sleep, and never starts I/O: a queue that is being given
//! a scheduler is frozen, and memory must not wait for that queue.
//!
//! Only building a scheduler or selector allocates. A failure comes back as an error.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

unsafe extern "C" {
    fn iw_memory_get(size: usize, align: usize) -> *mut c_void;
    fn iw_memory_put(memory: *mut c_void);
}

struct Kernel;

#[global_allocator]
static KERNEL: Kernel = Kernel;

// SAFETY: the shim gives out memory of that size and alignment, or null, and takes back what it gave.
unsafe impl GlobalAlloc for Kernel {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { iw_memory_get(layout.size(), layout.align()).cast() }
    }
    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        unsafe { iw_memory_put(memory.cast()) }
    }
}
