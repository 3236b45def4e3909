//! What readers count while they read: rows, what was left out and why, and how fine the times are.

use serde::Serialize;

/// Why a row gave no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// The row could not be understood, and `lenient` was set.
    Malformed,
    /// The row belongs to a device that was not asked for.
    OtherDevice,
    /// The row moves no data and is no flush.
    ZeroLength,
    /// The row asks for something that no scheduler orders: a passthrough command, a zone operation.
    OtherOperation,
    /// The row tells of something that is no request: a plug, a message, an opened file.
    NotARequest,
}

impl Skip {
    /// All reasons, in the order of their counts.
    pub const ALL: [Skip; 5] =
        [Skip::Malformed, Skip::OtherDevice, Skip::ZeroLength, Skip::OtherOperation, Skip::NotARequest];

    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Skip::Malformed => "malformed",
            Skip::OtherDevice => "of other devices",
            Skip::ZeroLength => "of no length",
            Skip::OtherOperation => "of other operations",
            Skip::NotARequest => "that are no requests",
        }
    }
}

/// Rows left out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The reason.
    pub reason: Skip,
    /// How many.
    pub rows: u64,
}

/// How many rows were left out, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skips([u64; Skip::ALL.len()]);

impl Skips {
    /// Counts a row that gives no record.
    #[inline]
    pub(crate) fn skip(&mut self, reason: Skip) {
        self.0[reason as usize] += 1;
    }

    /// The reasons that occurred.
    pub(crate) fn listed(&self) -> Vec<Skipped> {
        let all = Skip::ALL.iter().zip(self.0);
        all.filter(|(_, rows)| *rows > 0).map(|(&reason, rows)| Skipped { reason, rows }).collect()
    }

    /// The reasons that occurred, in words: `3 malformed, 2 of no length`.
    pub(crate) fn words(&self) -> String {
        let all: Vec<String> =
            self.listed().iter().map(|s| format!("{} {}", s.rows, s.reason.words())).collect();
        if all.is_empty() { "none skipped".to_owned() } else { all.join(", ") }
    }
}

/// The finest unit that all arrival times are multiples of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grain {
    #[default]
    Second,
    Millisecond,
    Finer,
}

impl Grain {
    /// The grain, given one more time.
    #[inline]
    pub(crate) fn with(self, time: u64) -> Grain {
        match self {
            Grain::Finer => Grain::Finer,
            Grain::Second if time.is_multiple_of(1_000_000_000) => Grain::Second,
            _ if time.is_multiple_of(1_000_000) => Grain::Millisecond,
            _ => Grain::Finer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_only_gets_finer() {
        let grain = Grain::default().with(3_000_000_000);
        assert_eq!(grain, Grain::Second);
        assert_eq!(grain.with(5_000_000), Grain::Millisecond);
        assert_eq!(grain.with(5_000_000).with(1_000_000_000), Grain::Millisecond);
        assert_eq!(grain.with(1), Grain::Finer);
        assert_eq!(Grain::Millisecond.with(7), Grain::Finer);
    }

    #[test]
    fn skipped_rows_are_told_in_words() {
        let mut counts = Skips::default();
        assert_eq!(counts.words(), "none skipped");
        counts.skip(Skip::Malformed);
        counts.skip(Skip::NotARequest);
        counts.skip(Skip::NotARequest);
        assert_eq!(counts.words(), "1 malformed, 2 that are no requests");
    }
}
