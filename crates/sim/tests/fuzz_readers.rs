//! A short fuzz of every reader, the same on every run: fixtures, mutated by a seeded generator.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(dead_code, unreachable_pub, reason = "a crate of its own for libFuzzer")]
mod fuzz;

#[path = "traces/fixtures.rs"]
#[expect(dead_code, reason = "shared with the tests of the readers")]
mod fixtures;

use idlewise_sim::traces::Format;

/// Mutants of each fixture.
const ROUNDS: u64 = 3_000;

/// SplitMix64: small, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }
}

/// Texts that readers stumble over.
const TOKENS: [&[u8]; 14] = [
    b"18446744073709551615",
    b"9223372036854775808",
    b"-1",
    b"0",
    b"4294967296",
    b"99999999999999999999.5",
    b",",
    b" ",
    b"\n",
    b"\r\n",
    b"[",
    b"]",
    b"%",
    b"\0",
];

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    match dice.below(7) {
        0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
        1 if at < bytes.len() => bytes[at] = dice.roll() as u8,
        2 => bytes.truncate(at),
        3 => {
            let token = TOKENS[dice.below(TOKENS.len())];
            let end = (at + dice.below(24)).min(bytes.len());
            bytes.splice(at..end, token.iter().copied());
        }
        4 => {
            let end = (at + dice.below(80)).min(bytes.len());
            let part = bytes[at..end].to_vec();
            let to = dice.below(bytes.len() + 1);
            bytes.splice(to..to, part);
        }
        5 => {
            let end = (at + dice.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ if at + 8 <= bytes.len() => {
            let edges = [0u64, u64::MAX, 1 << 63, 1 << 54, 1 << 32, u64::from(u32::MAX), 511];
            bytes[at..at + 8].copy_from_slice(&edges[dice.below(edges.len())].to_le_bytes());
        }
        _ => bytes.push(dice.roll() as u8),
    }
}

#[test]
fn no_mutant_of_a_fixture_breaks_a_promise() {
    let mut dice = Dice(2026);
    let fixtures = fixtures::all();
    for fixture in &fixtures {
        for round in 0..ROUNDS {
            let mut bytes = fixture.bytes.clone();
            for _ in 0..=dice.below(6) {
                mutate(&mut bytes, &mut dice);
            }
            // Mostly as itself, sometimes as recognition sees it, sometimes as something else.
            let format = match round % 8 {
                0 => None,
                1 => Some(fuzz::choose(Format::ALL, dice.roll() as u8)),
                _ => Some(fixture.format),
            };
            fuzz::read_trace(format, &bytes);
            if round % 16 == 2 {
                fuzz::convert_trace(format, &bytes);
            }
        }
    }
}

#[test]
fn noise_breaks_no_promise() {
    let mut dice = Dice(7);
    for _ in 0..ROUNDS {
        let length = dice.below(400);
        let noise: Vec<u8> = (0..length).map(|_| dice.roll() as u8).collect();
        fuzz::read_trace(None, &noise);
        fuzz::read_trace(Some(fuzz::choose(Format::ALL, dice.roll() as u8)), &noise);
    }
}
