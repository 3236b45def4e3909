//! Where WebAssembly meets JavaScript: text and bytes pass through linear memory.
//!
//! JavaScript asks for a buffer with `allocate`, fills it and hands it to `run`, which takes it over. What the module has to
//! say goes through `tell`, which JavaScript lends: the bytes are valid during that call only.
#![allow(unsafe_code, reason = "pointers are how the two sides share memory")]

use crate::{Part, catalogue, play};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes `length` bytes at `start`, which are of this kind.
    fn tell(kind: u32, start: *const u8, length: usize);
}

fn told(part: Part, bytes: &[u8]) {
    // SAFETY: the slice lives until `tell` returns, and JavaScript copies what it wants to keep.
    unsafe { tell(part as u32, bytes.as_ptr(), bytes.len()) };
}

/// A buffer of `length` bytes, for the next call of `run`.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// What `allocate` gave for `length`.
///
/// # Safety
/// `start` and `length` are those of one `allocate`, and nobody has taken the buffer yet.
unsafe fn taken(start: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: as the caller promises, this is the boxed slice that `allocate` gave away.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) }.into_vec()
}

/// Tells what there is to choose from.
#[unsafe(no_mangle)]
extern "C" fn list() {
    told(Part::Catalogue, catalogue().as_bytes());
}

/// Runs what the first buffer wants, as JSON; the second has the trace, if the load is one. Takes both buffers.
///
/// # Safety
/// Both come from `allocate`, with their lengths.
#[unsafe(no_mangle)]
unsafe extern "C" fn run(wanted: *mut u8, wanted_length: usize, trace: *mut u8, trace_length: usize) {
    // SAFETY: as the caller promises.
    let (wanted, trace) = unsafe { (taken(wanted, wanted_length), taken(trace, trace_length)) };
    std::panic::set_hook(Box::new(|panic| told(Part::Failure, panic.to_string().as_bytes())));
    if let Err(message) = play(&wanted, trace, told) {
        told(Part::Failure, message.as_bytes());
    }
}
