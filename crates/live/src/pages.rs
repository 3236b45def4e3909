//! Pages of the kernel's trace buffer, as `trace_pipe_raw` gives them.
//!
//! A page has a time (64 bits) and the length of its data (64 bits, of which the highest of the low 32 say that events were
//! lost before it, and that their number stands behind the data). An event begins with a word of 32 bits: 5 bits kind and 27 bits
//! nanoseconds since the event before. Kinds 1 to 28 are data of that many words; 0 is data whose length in bytes is the
//! next word, which counts itself; 29 is room to be passed over; 30 and 31 move the clock. The kernel tells the same in
//! `events/header_page` and `events/header_event`.

/// Bytes before the data of a page.
const HEADER: usize = 16;

/// Lost events before a page, and their number behind its data.
const LOST: u64 = 1 << 31;
const LOST_COUNTED: u64 = 1 << 30;

/// Gives each event of `page` to `take`, with its time; the number of events lost before.
pub(crate) fn read(page: &[u8], mut take: impl FnMut(u64, &[u8])) -> u64 {
    let (Some(mut time), Some(commit)) = (word(page, 0), word(page, 8)) else { return 0 };
    let length = (commit & (LOST_COUNTED - 1)) as usize;
    let Some(data) = page.get(HEADER..).and_then(|rest| rest.get(..length)) else { return 0 };
    let mut at = 0;
    while let Some(head) = half(data, at) {
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        at += 4;
        let next = half(data, at);
        match kind {
            29 if delta == 0 => break,
            29 => at += next.unwrap_or(0) as usize,
            30 => {
                time += delta + (u64::from(next.unwrap_or(0)) << 27);
                at += 4;
            }
            31 => {
                // An absolute time has 59 bits; the rest is as before.
                time = time & !((1 << 59) - 1) | delta | u64::from(next.unwrap_or(0)) << 27;
                at += 4;
            }
            _ => {
                time += delta;
                let length = if kind == 0 { next.unwrap_or(0) as usize } else { 4 * kind as usize };
                let from = if kind == 0 { at + 4 } else { at };
                at += length;
                let Some(event) = data.get(from..at) else { break };
                take(time, event);
            }
        }
    }
    match commit & (LOST | LOST_COUNTED) {
        0 => 0,
        // How many is not known: one at least.
        LOST => 1,
        _ => word(page, HEADER + length).unwrap_or(1).max(1),
    }
}

/// The number at `at`, if the bytes reach that far.
#[inline]
pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The same of 64 bits.
#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of these words, its time, and flags beside the length.
    fn page(time: u64, flags: u64, words: &[u32]) -> Vec<u8> {
        let mut page = time.to_ne_bytes().to_vec();
        page.extend(((4 * words.len() as u64) | flags).to_ne_bytes());
        words.iter().for_each(|word| page.extend(word.to_ne_bytes()));
        page
    }

    fn events(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, u64) {
        let mut all = Vec::new();
        let lost = read(page, |time, event| all.push((time, event.to_vec())));
        (all, lost)
    }

    #[test]
    fn events_have_times_and_data() {
        let (one, two) = (7_u32.to_ne_bytes().to_vec(), [8_u32, 9].map(u32::to_ne_bytes).concat());
        let words = [
            1 | 5 << 5,
            7, // one word, 5 ns later
            30 | 1 << 5,
            2, // the clock goes on
            10 << 5,
            12,
            8,
            9, // 8 bytes and the word that says so
            29 | 1 << 5,
            8,
            0, // 8 bytes of nothing
            31 | 3 << 5,
            1, // the clock is set
            1,
            7,
            29,
            0,
            0,
        ];
        let (second, third) = (100 + 5 + 1 + (2 << 27) + 10, 3 | 1 << 27);
        let want = vec![(105, one.clone()), (second, two), (third, one)];
        assert_eq!(events(&page(100, 0, &words)), (want, 0));
    }

    #[test]
    fn lost_events_are_told_and_cut_pages_do_no_harm() {
        let mut lossy = page(0, LOST | LOST_COUNTED, &[1, 7]);
        lossy.extend(17_u64.to_ne_bytes());
        assert_eq!(events(&lossy).1, 17);
        assert_eq!(events(&page(0, LOST, &[1, 7])).1, 1);
        for cut in 0..lossy.len() {
            events(&lossy[..cut]);
        }
        assert_eq!(events(&page(0, 0, &[28, 7])).0, []);
    }
}
