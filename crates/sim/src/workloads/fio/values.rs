//! fio's numbers: sizes, times, shares, and lists of them for reads and writes.
//!
//! `k` is 1024 and `kib` is 1000 unless `kb_base=1000` turns that round: fio keeps old job files working so.

use idlewise_core::{Duration, SECTOR_BYTES};

use crate::workloads::Sizes;

/// Bytes, or a share of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(u64),
}

impl Amount {
    /// The bytes, if the whole is `whole` bytes.
    pub(super) fn of(self, whole: u64) -> u64 {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::Percent(share) => (u128::from(whole) * u128::from(share) / 100) as u64,
        }
    }
}

/// A size in bytes. `kb_base` is what `k` stands for.
pub(super) fn bytes(text: &str, kb_base: u64) -> Result<u64, String> {
    let cure = || "wants a size such as 4k or 1g".to_owned();
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = lower.strip_prefix("0x").map_or((10, lower.as_str()), |rest| (16, rest));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let number = u64::from_str_radix(number, radix).map_err(|_| cure())?;
    let (unit, base) = match suffix.strip_suffix("ib") {
        Some(unit) if !unit.is_empty() => (unit, if kb_base == 1024 { 1000 } else { 1024u64 }),
        _ => (suffix.trim_end_matches(['b', 'i']), kb_base),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == unit).ok_or_else(cure)?;
    base.checked_pow(power as u32)
        .and_then(|factor| number.checked_mul(factor))
        .filter(|bytes| *bytes <= 1 << 60)
        .ok_or_else(cure)
}

/// A size, or a percentage.
pub(super) fn amount(text: &str, kb_base: u64) -> Result<Amount, String> {
    match text.strip_suffix('%') {
        Some(share) => share
            .trim()
            .parse()
            .ok()
            .filter(|share| *share <= 100)
            .map(Amount::Percent)
            .ok_or_else(|| "wants a size such as 1g, or a share of the file such as 20%".to_owned()),
        None => bytes(text, kb_base).map(Amount::Bytes),
    }
}

/// A size in whole sectors, above zero.
pub(super) fn sectors(text: &str, kb_base: u64) -> Result<u64, String> {
    let bytes = bytes(text, kb_base)?;
    if bytes == 0 || bytes % SECTOR_BYTES != 0 {
        let hint = if kb_base == 1024 { " (in fio kib is 1000 and k is 1024)" } else { "" };
        return Err(format!("is {bytes} bytes; wants a multiple of 512{hint}"));
    }
    Ok(bytes / SECTOR_BYTES)
}

/// A time. `usual` is the unit of a bare number in nanoseconds.
pub(super) fn time(text: &str, usual: u64) -> Result<Duration, String> {
    let cure = || "wants a time such as 10s or 500ms".to_owned();
    let lower = text.to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, suffix) = lower.split_at(end);
    let unit = match suffix {
        "" => usual,
        "ns" | "nsec" => 1,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(cure()),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).map(Duration).ok_or_else(cure)
}

/// A whole number in `range`.
pub(super) fn number(text: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    let fits = text.parse().ok().filter(|number| range.contains(number));
    fits.ok_or_else(|| match *range.end() {
        u64::MAX => format!("wants a whole number from {}", range.start()),
        end => format!("wants a whole number from {} to {end}", range.start()),
    })
}

/// A switch; no value means on.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err("wants 1 or 0".to_owned()),
    }
}

/// `x` for reads and writes, `x,y` for each, `x,` and `,y` for one of them. What comes third is for trims.
pub(super) fn each<T: Clone>(
    text: &str,
    into: &mut [T; 2],
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<(), String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if let [one] = parts.as_slice() {
        *into = [parse(one)?, parse(one)?];
        return Ok(());
    }
    for (part, target) in parts.iter().zip(into) {
        if !part.is_empty() {
            *target = parse(part)?;
        }
    }
    Ok(())
}

/// `4k/10:64k/90`: sizes in sectors with their shares. Sizes without a share divide what is left.
pub(super) fn split(text: &str, kb_base: u64) -> Result<Sizes, String> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share =
            if share.is_empty() { None } else { Some(number(share.trim_end_matches('%'), 0..=100)? as u32) };
        sizes.push((request(sectors(size.trim(), kb_base)?)?, share));
    }
    let given: u32 = sizes.iter().filter_map(|(_, share)| *share).sum();
    let open = sizes.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if given > 100 || (open == 0 && given != 100) {
        return Err(format!("has shares that add up to {given}; make them 100"));
    }
    // Hundredths are too coarse for "the rest, among three": so count in smaller parts.
    let parts = open.max(1);
    let fill = 100 - given;
    Ok(sizes
        .into_iter()
        .map(|(size, share)| (size, share.map_or(fill, |share| share * parts)))
        .filter(|(_, share)| *share > 0)
        .collect())
}

/// `4k-64k`: every multiple of the least size up to the greatest, equally often.
pub(super) fn range(text: &str, kb_base: u64) -> Result<Sizes, String> {
    let (low, high) = text.split_once(['-', ':']).ok_or("wants a range such as 4k-64k")?;
    let (low, high) = (sectors(low.trim(), kb_base)?, sectors(high.trim(), kb_base)?);
    if high < low || high / low > 65_536 {
        return Err("wants a range such as 4k-64k, its end at most 65536 times its start".to_owned());
    }
    (1..=high / low).map(|factor| Ok((request(low * factor)?, 1))).collect()
}

/// A request size in sectors: at most 1 GiB.
pub(super) fn request(sectors: u64) -> Result<u32, String> {
    u32::try_from(sectors)
        .ok()
        .filter(|sectors| *sectors <= 1 << 21)
        .ok_or_else(|| "wants request sizes of at most 1g".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_fios() {
        for (text, wanted) in [
            ("512", 512),
            ("4k", 4096),
            ("4KB", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("1G", 1 << 30),
            ("0x200", 512),
        ] {
            assert_eq!(bytes(text, 1024), Ok(wanted), "{text}");
        }
        assert_eq!(bytes("4k", 1000), Ok(4000));
        assert_eq!(bytes("4KiB", 1000), Ok(4096));
        for text in ["", "k", "-4k", "4x", "1.5g", "99999999999999999999", "9999999t"] {
            assert!(bytes(text, 1024).is_err(), "{text}");
        }
        assert_eq!(amount("20%", 1024).unwrap().of(1000), 200);
        assert!(sectors("4kib", 1024).unwrap_err().contains("kib is 1000"));
    }

    #[test]
    fn times_have_their_usual_unit() {
        assert_eq!(time("10", 1_000_000_000), Ok(Duration::from_s(10)));
        assert_eq!(time("500ms", 1_000_000_000), Ok(Duration::from_ms(500)));
        assert_eq!(time("2m", 1_000_000_000), Ok(Duration::from_s(120)));
        assert_eq!(time("7", 1_000), Ok(Duration::from_us(7)));
        assert!(time("soon", 1).is_err());
    }

    #[test]
    fn lists_for_reads_and_writes() {
        let read = |text: &str| {
            let mut into = [1, 1];
            each(text, &mut into, |part| number(part, 0..=99)).map(|()| into)
        };
        assert_eq!(read("5"), Ok([5, 5]));
        assert_eq!(read("5,6"), Ok([5, 6]));
        assert_eq!(read("5,"), Ok([5, 1]));
        assert_eq!(read(",6"), Ok([1, 6]));
        assert!(read("5,x").is_err());
    }

    #[test]
    fn splits_fill_up_to_a_hundred() {
        assert_eq!(split("4k/10:64k/50:32k/40", 1024), Ok(vec![(8, 10), (128, 50), (64, 40)]));
        assert_eq!(split("4k/50:64k:32k", 1024), Ok(vec![(8, 100), (128, 50), (64, 50)]));
        assert!(split("4k/50:64k/60", 1024).is_err());
        assert_eq!(range("4k-12k", 1024), Ok(vec![(8, 1), (16, 1), (24, 1)]));
    }
}
