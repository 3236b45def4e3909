//! Text formats that are made of events. The first byte chooses the format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let [first, rest @ ..] = data {
        idlewise_fuzz::read_trace(Some(idlewise_fuzz::choose(idlewise_fuzz::EVENTS, *first)), rest);
    }
});
