//! Any bytes, with the format left to recognition.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| idlewise_fuzz::read_trace(None, data));
