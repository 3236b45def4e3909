//! Units as types: time, disk addresses, lengths and identities cannot be mixed up.
//!
//! Time is a count of nanoseconds since an origin that the host chooses. Addresses and lengths
//! are in sectors of 512 bytes, whatever the device's own block size. Arithmetic saturates: a
//! hostile trace can make a time or an address absurd, but never make it wrap or panic.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// Bytes in a sector. Linux, traces and this crate count in 512-byte sectors throughout.
pub const SECTOR_BYTES: u64 = 512;

/// A point in time: nanoseconds since the host's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// A disk address: the index of a 512-byte sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Sector(pub u64);

/// A length in 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Sectors(pub u32);

/// Names a request while it is in a queue: a small index, reused after completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// Who issued a request: a process (thread group) id, a client number, a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Issuer(pub u32);

/// What issuers have in common: the process that started them, a control group, a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Group(pub u32);

/// An issuer's share of the disk relative to others': 1 to 10 000, as Linux's `io.weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u32);

impl Instant {
    /// The host's origin of time.
    pub const ZERO: Instant = Instant(0);
    /// Later than any event.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The span from `earlier` to `self`; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// This many of a unit: `ns`, `us`, `ms` or `s`. `None` for another unit, or if it is too long.
    pub fn of(number: u64, unit: &str) -> Option<Duration> {
        let scale = match unit {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return None,
        };
        number.checked_mul(scale).map(Duration)
    }

    /// A whole number with its unit, such as `1500us`.
    pub fn parse(text: &str) -> Option<Duration> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        Duration::of(number.parse().ok()?, unit)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Duration {
        Duration(us.saturating_mul(1_000))
    }

    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds.
    pub const fn from_s(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000_000))
    }

    /// Whole microseconds, rounded down.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl Sector {
    /// Distance to `other`, in sectors, whichever is larger.
    #[inline]
    pub const fn distance(self, other: Sector) -> u64 {
        self.0.abs_diff(other.0)
    }
}

impl Sectors {
    /// The length in bytes.
    pub const fn bytes(self) -> u64 {
        self.0 as u64 * SECTOR_BYTES
    }

    /// The shortest length that holds `bytes`; `None` if it exceeds 2 TiB.
    pub const fn holding(bytes: u64) -> Option<Sectors> {
        let sectors = bytes.div_ceil(SECTOR_BYTES);
        if sectors > u32::MAX as u64 { None } else { Some(Sectors(sectors as u32)) }
    }
}

impl RequestId {
    /// The id as an index into a table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Group {
    /// No group is known.
    pub const UNKNOWN: Group = Group(0);
}

impl Weight {
    /// The least weight.
    pub const LEAST: Weight = Weight(1);
    /// The greatest weight.
    pub const GREATEST: Weight = Weight(10_000);

    /// A weight, if it is in range.
    pub const fn new(weight: u32) -> Option<Weight> {
        match weight {
            1..=10_000 => Some(Weight(weight)),
            _ => None,
        }
    }

    /// The weight as a number, never 0.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for Weight {
    /// What an issuer has whose weight was not set: 100.
    fn default() -> Self {
        Weight(100)
    }
}

impl Issuer {
    /// No process is known: kernel threads, traces without issuers.
    pub const UNKNOWN: Issuer = Issuer(0);
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, span: Duration) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}

impl Add<Sectors> for Sector {
    type Output = Sector;
    #[inline]
    fn add(self, length: Sectors) -> Sector {
        Sector(self.0.saturating_add(u64::from(length.0)))
    }
}

impl fmt::Display for Duration {
    /// Three significant digits in the unit a person would choose: `2.10 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => ("us", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        let (whole, rest) = (self.0 / scale, self.0 % scale);
        match whole {
            0..10 => write!(f, "{whole}.{:02} {unit}", rest / (scale / 100)),
            10..100 => write!(f, "{whole}.{} {unit}", rest / (scale / 10)),
            _ => write!(f, "{whole} {unit}"),
        }
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for Sector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Sectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
