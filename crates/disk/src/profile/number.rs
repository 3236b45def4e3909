//! Numbers in profiles: from fractions with a unit to checked integers.

use super::error::Fault;
use std::format;

/// Two seconds: no part of a disk takes longer.
const LONGEST_NS: f64 = 2e9;

/// A time of `value` units of `unit_ns` nanoseconds.
pub(super) fn ns(key: &str, value: f64, unit_ns: f64) -> Result<u32, Fault> {
    let time = value * unit_ns;
    if !(0.0..=LONGEST_NS).contains(&time) {
        let longest = LONGEST_NS / unit_ns;
        return Err(Fault::new(key, format!("{value} is out of range; give 0 to {longest}")));
    }
    Ok(time.round() as u32)
}

/// A pair of times in milliseconds.
pub(super) fn ns_pair(key: &str, [after_read, after_write]: [f64; 2]) -> Result<[u32; 2], Fault> {
    Ok([ns(key, after_read, 1e6)?, ns(key, after_write, 1e6)?])
}

/// A time in milliseconds that may be negative.
pub(super) fn signed_ns(key: &str, ms: f64) -> Result<i32, Fault> {
    let time = ms * 1e6;
    if !(-LONGEST_NS..=LONGEST_NS).contains(&time) {
        return Err(Fault::new(key, format!("{ms} is out of range; give -2000 to 2000")));
    }
    Ok(time.round() as i32)
}

/// A count that must be at least one.
pub(super) fn count(key: &str, value: u32) -> Result<u32, Fault> {
    if value == 0 {
        return Err(Fault::new(key, "is zero; give at least 1"));
    }
    Ok(value)
}

/// A share of one, in 1/1024.
pub(super) fn share(key: &str, value: f64) -> Result<u32, Fault> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Fault::new(key, format!("{value} is no share; give 0 to 1")));
    }
    Ok((value * 1024.0).round() as u32)
}

/// A rate in 10^6 bytes a second, as the time of a sector of 512 bytes.
pub(super) fn rate(key: &str, mb_per_s: f64) -> Result<u64, Fault> {
    if !(0.001..=1e6).contains(&mb_per_s) {
        return Err(Fault::new(key, format!("{mb_per_s} is out of range; give 0.001 to 1000000 MB/s")));
    }
    Ok((512e3 / mb_per_s).round().max(1.0) as u64)
}
