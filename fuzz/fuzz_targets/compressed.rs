//! Compressed files: the first byte chooses the magic that is put in front.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let magics: [&[u8]; 5] = [&[0x1f, 0x8b, 8], b"BZh9", b"\xfd7zXZ\0", &[0x28, 0xb5, 0x2f, 0xfd], b""];
    if let [first, rest @ ..] = data {
        let magic = magics[usize::from(*first) % magics.len()];
        idlewise_fuzz::read_trace(None, &[magic, rest].concat());
    }
});
