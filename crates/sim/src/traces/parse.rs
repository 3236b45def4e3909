//! Parsing of numbers and fields, without allocation.
//!
//! Readers spend their time here, so nothing goes through `str` or `f64`: decimal fractions are
//! read as scaled integers and are exact.

use crate::traces::error::Bad;
use idlewise_core::{Sector, Sectors};

/// Addresses stop here: 2^63 bytes. What lies beyond is a wrong unit or a damaged row.
pub(crate) const MAX_SECTOR: u64 = 1 << 54;

/// The text without blanks around it, which there seldom are.
#[inline]
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    match text {
        [first, .., last] if *first > b' ' && *last > b' ' => text,
        _ => text.trim_ascii(),
    }
}

/// Eight digits at once; `None` if one is none. The first digit is in the lowest byte.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    let digits = word.wrapping_sub(0x3030_3030_3030_3030);
    // Bytes above '9' carry into their top bit when 0x76 is added; those below '0' have it already.
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Neighbours are joined: eight digits to four pairs, to two fours, to one eight.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// A whole number; `None` if it is empty, has any other character, or exceeds 64 bits.
#[inline]
pub(crate) fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    let mut rest = text;
    while let (Some((eight, more)), true) = (rest.split_first_chunk(), text.len() < 20) {
        value = value * 100_000_000 + eight_digits(*eight)?;
        rest = more;
    }
    if text.len() < 20 {
        for &byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A hexadecimal number, with or without `0x`.
#[inline]
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        value = value << 4 | u64::from(char::from(byte).to_digit(16)?);
    }
    Some(value)
}

/// A decimal fraction, times 10^`places`. Further digits are cut off.
#[inline]
pub(crate) fn decimal(text: &[u8], places: u32) -> Option<u64> {
    let Some(dot) = text.iter().position(|&b| b == b'.') else {
        return integer(text)?.checked_mul(10u64.pow(places));
    };
    let (whole, fraction) = (&text[..dot], &text[dot + 1..]);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = if whole.is_empty() { 0 } else { integer(whole)? };
    for at in 0..places as usize {
        let digit = fraction.get(at).map_or(0, |b| b.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    let rest = fraction.get(places as usize..).unwrap_or_default();
    rest.iter().all(u8::is_ascii_digit).then_some(value)
}

/// As [`integer`], with a complaint that begins "expected the …".
#[inline]
pub(crate) fn number<'a>(text: &'a [u8], what: &'static str) -> Result<u64, Bad<'a>> {
    integer(text).ok_or_else(|| Bad::row(what, text))
}

/// As [`integer`], no larger than 32 bits.
#[inline]
pub(crate) fn small<'a>(text: &'a [u8], what: &'static str) -> Result<u32, Bad<'a>> {
    integer(text).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| Bad::row(what, text))
}

/// A time in units of which `10^places` fit in what the text counts.
#[inline]
pub(crate) fn time<'a>(text: &'a [u8], places: u32, what: &'static str) -> Result<u64, Bad<'a>> {
    decimal(text, places).ok_or_else(|| Bad::row(what, text))
}

/// Multiplies a time into nanoseconds.
#[inline]
pub(crate) fn scaled(value: u64, factor: u64, text: &[u8]) -> Result<u64, Bad<'_>> {
    value.checked_mul(factor).ok_or(Bad {
        what: "expected a time within 584 years",
        text,
        cure: "check the unit of the time column, or say --format NAME",
    })
}

/// The sectors that hold `size` bytes at byte `offset`, and whether both were whole sectors.
#[inline]
pub(crate) fn bytes_extent<'a>(offset: &'a [u8], size: &'a [u8]) -> Result<(Sector, Sectors, bool), Bad<'a>> {
    let from = number(offset, "expected the offset in bytes")?;
    let count = number(size, "expected the size in bytes")?;
    extent_of(from, count).ok_or_else(|| {
        let text = if from > 1 << 63 { offset } else { size };
        Bad { what: "expected an offset below 2^63 and a size below 2 TiB", text, cure: CHECK_UNIT }
    })
}

/// As [`bytes_extent`], from numbers; `None` if out of range.
#[inline]
pub(crate) fn extent_of(from: u64, count: u64) -> Option<(Sector, Sectors, bool)> {
    let end = from.checked_add(count).filter(|&end| end <= 1 << 63)?;
    let (start, last) = (from / 512, end.div_ceil(512));
    let length = u32::try_from(last - start).ok()?;
    // An empty request stays empty wherever it starts.
    let length = if count == 0 { 0 } else { length };
    Some((Sector(start), Sectors(length), (from | count).is_multiple_of(512)))
}

const CHECK_UNIT: &str = "check the unit of the columns, or say --format NAME";

/// An extent in sectors: `start` and a length that is already in sectors.
#[inline]
pub(crate) fn sectors_extent<'a>(start: &'a [u8], length: &'a [u8]) -> Result<(Sector, Sectors), Bad<'a>> {
    let sector = number(start, "expected the first sector")?;
    let count = small(length, "expected the length in sectors")?;
    if sector > MAX_SECTOR {
        let what = "expected a sector below 2^54";
        return Err(Bad { what, text: start, cure: CHECK_UNIT });
    }
    Ok((Sector(sector), Sectors(count)))
}

/// The fields of a comma-separated line. Spaces around a field are not part of it.
pub(crate) struct Commas<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Commas<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Commas<'a> {
        Commas { rest: Some(line) }
    }

    /// The next field, or a complaint that the line ends before `what`.
    #[inline]
    pub(crate) fn need(&mut self, what: &'static str) -> Result<&'a [u8], Bad<'a>> {
        self.next().ok_or_else(|| Bad::row(what, b""))
    }

    /// Complains if a field is left.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<(), Bad<'a>> {
        match self.next() {
            Some(text) => Err(Bad::row("expected no further column", text)),
            None => Ok(()),
        }
    }
}

impl<'a> Iterator for Commas<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let field = match rest.iter().position(|&b| b == b',') {
            Some(at) => {
                self.rest = Some(&rest[at + 1..]);
                &rest[..at]
            }
            None => {
                self.rest = None;
                rest
            }
        };
        Some(trimmed(field))
    }
}

/// The fields of a line that is separated by spaces or tabs.
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Words<'a> {
        Words { rest: line }
    }

    /// The next field, or a complaint that the line ends before `what`.
    #[inline]
    pub(crate) fn need(&mut self, what: &'static str) -> Result<&'a [u8], Bad<'a>> {
        self.next().ok_or_else(|| Bad::row(what, b""))
    }

    /// Complains if a field is left.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<(), Bad<'a>> {
        match self.next() {
            Some(text) => Err(Bad::row("expected no further column", text)),
            None => Ok(()),
        }
    }

    /// What has not been taken yet, without surrounding space.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }

    /// The last field; the line then ends before it.
    pub(crate) fn next_back(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_end();
        let from = text.iter().rposition(|&b| is_space(b)).map_or(0, |at| at + 1);
        self.rest = &text[..from];
        Some(&text[from..]).filter(|word| !word.is_empty())
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let from = self.rest.iter().position(|&b| !is_space(b))?;
        let rest = &self.rest[from..];
        let to = rest.iter().position(|&b| is_space(b)).unwrap_or(rest.len());
        self.rest = &rest[to..];
        Some(&rest[..to])
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_and_bounded() {
        assert_eq!(integer(b"0"), Some(0));
        assert_eq!(integer(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer(b"00000000000000000012"), Some(12));
        for bad in [&b""[..], b"-1", b"+1", b"1 ", b"18446744073709551616", b"1e3", b"0x10", b"1.0"] {
            assert_eq!(integer(bad), None, "{bad:?}");
        }
        assert_eq!(hexadecimal(b"0x2a"), Some(42));
        assert_eq!(hexadecimal(b"2A"), Some(42));
        assert_eq!(hexadecimal(b"xyz"), None);
        assert_eq!(hexadecimal(b"11112222333344445"), None);
    }

    #[test]
    fn eight_digits_at_once_are_read_as_one_by_one() {
        assert_eq!(integer(b"1234567890123456789"), Some(1_234_567_890_123_456_789));
        assert_eq!(integer(b"00000009"), Some(9));
        // Every byte in every place: only digits pass.
        for place in 0..8 {
            for byte in 0..=255u8 {
                let mut text = *b"90817263";
                text[place] = byte;
                let want = std::str::from_utf8(&text).ok().and_then(|t| t.parse().ok());
                assert_eq!(integer(&text), want.filter(|_| byte.is_ascii_digit()), "{text:?}");
            }
        }
    }

    #[test]
    fn decimals_are_scaled_without_floats() {
        assert_eq!(decimal(b"1455591804.310701000", 9), Some(1_455_591_804_310_701_000));
        assert_eq!(decimal(b"0.551706", 9), Some(551_706_000));
        assert_eq!(decimal(b".5", 3), Some(500));
        assert_eq!(decimal(b"7.", 3), Some(7000));
        assert_eq!(decimal(b"7", 3), Some(7000));
        assert_eq!(decimal(b"1.23456789", 3), Some(1234));
        for bad in [&b"."[..], b"", b"1.2.3", b"-1.5", b"1.2e-5", b"1.234x", b"99999999999999999999.5"] {
            assert_eq!(decimal(bad, 3), None, "{bad:?}");
        }
    }

    #[test]
    fn an_extent_covers_every_byte() {
        assert_eq!(extent_of(512, 1024), Some((Sector(1), Sectors(2), true)));
        assert_eq!(extent_of(511, 2), Some((Sector(0), Sectors(2), false)));
        assert_eq!(extent_of(100, 0), Some((Sector(0), Sectors(0), false)));
        assert_eq!(extent_of(u64::MAX, 1), None);
        assert_eq!(extent_of((1 << 63) + 1, 0), None);
        assert_eq!(extent_of(0, 1 << 41), None);
    }

    #[test]
    fn fields_are_split_and_trimmed() {
        let all: Vec<&[u8]> = Commas::of(b"a, b ,,c").collect();
        assert_eq!(all, [&b"a"[..], b"b", b"", b"c"]);
        let mut words = Words::of(b"  a\tbb  c d ");
        assert_eq!(words.next_back(), Some(&b"d"[..]));
        assert_eq!(words.next(), Some(&b"a"[..]));
        assert_eq!(words.rest(), b"bb  c");
        assert_eq!(words.next_back(), Some(&b"c"[..]));
        assert_eq!(words.next(), Some(&b"bb"[..]));
        assert_eq!(words.next(), None);
        assert_eq!(words.next_back(), None);
    }
}
