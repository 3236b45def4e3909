//! Reading, writing in every format, reading again. The first byte chooses the first format.
#![no_main]

use idlewise_sim::traces::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let [first, rest @ ..] = data {
        idlewise_fuzz::convert_trace(Some(idlewise_fuzz::choose(Format::ALL, *first)), rest);
    }
});
