//! The text format for event sequences.
#![no_main]

#[path = "../src/events.rs"]
mod events;

libfuzzer_sys::fuzz_target!(|data: &[u8]| events::run_text(data));
