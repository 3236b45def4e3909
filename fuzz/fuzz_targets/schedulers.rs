//! Events for a scheduler, made from bytes: every request must come out once, and nothing may panic.
#![no_main]

#[path = "../src/events.rs"]
mod events;

libfuzzer_sys::fuzz_target!(|data: &[u8]| events::run_events(data));
