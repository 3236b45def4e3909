//! What reading a trace found: what was kept, what was left out and why, what to be wary of.

use crate::traces::Format;
use serde::Serialize;

/// Why a row gave no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// It could not be understood, and `lenient` was set.
    Malformed,
    /// It belongs to a device that was not asked for.
    OtherDevice,
    /// It moves no data and is no flush.
    ZeroLength,
    /// It asks for something that no scheduler orders: a passthrough command, a zone operation.
    OtherOperation,
    /// It tells of something that is no request: a plug, a message, an opened file.
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

/// What reading a trace found, so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The format it was read as, as `--format` names it.
    pub format: &'static str,
    /// What the format's times count.
    pub time_unit: &'static str,
    /// Rows read: lines without comments, or binary records.
    pub rows: u64,
    /// Records given out.
    pub records: u64,
    /// Rows that gave none, by reason. Reasons that did not occur are absent.
    pub skipped: Vec<Skipped>,
    /// Rows earlier than the row just before them.
    pub out_of_order_rows: u64,
    /// Rows earlier than any row before them: those that were moved forward.
    pub late_rows: u64,
    /// The most that a row was earlier than one before it.
    pub out_of_order_max_ns: u64,
    /// Rows too late to be put in order. They carry the time of the row given out before them.
    pub moved_rows: u64,
    /// Rows whose extent was not whole sectors. It was widened to whole sectors.
    pub unaligned_rows: u64,
    /// Requests that joined another (event formats).
    pub merges: u64,
    /// Requests that were cut in two (event formats).
    pub splits: u64,
    /// Dispatches that were taken back (event formats).
    pub requeues: u64,
    /// Requests mapped from one device to another (event formats).
    pub remaps: u64,
    /// Requests whose arrival is their dispatch, because no queue event was seen (event formats).
    pub without_queue_event: u64,
    /// Requests that were never seen to complete (event formats).
    pub without_completion: u64,
    /// Completions of requests that were never seen to begin (event formats).
    pub stray_completions: u64,
    /// Requests given out incomplete because too many younger ones were waiting behind them.
    pub crowded_out: u64,
    /// Events that the recorder says it lost.
    pub lost_events: u64,
    /// Rows of devices beyond the 65 535 that are told apart.
    pub crowded_devices: u64,
    /// What to be wary of, in sentences.
    pub warnings: Vec<String>,
}

/// The counters that readers increase; [`Report`] is made of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) rows: u64,
    pub(crate) records: u64,
    pub(crate) skipped: [u64; Skip::ALL.len()],
    pub(crate) unaligned: u64,
    pub(crate) merges: u64,
    pub(crate) splits: u64,
    pub(crate) requeues: u64,
    pub(crate) remaps: u64,
    pub(crate) without_queue: u64,
    pub(crate) completions: u64,
    pub(crate) without_completion: u64,
    pub(crate) stray_completions: u64,
    pub(crate) lost: u64,
    pub(crate) crowded_out: u64,
}

impl Counts {
    /// Counts a row that gives no record.
    #[inline]
    pub(crate) fn skip(&mut self, reason: Skip) {
        self.skipped[reason as usize] += 1;
    }

    /// The reasons that occurred.
    pub(crate) fn skipped(&self) -> Vec<Skipped> {
        let all = Skip::ALL.iter().zip(self.skipped);
        all.filter(|(_, rows)| *rows > 0).map(|(&reason, rows)| Skipped { reason, rows }).collect()
    }

    /// The reasons that occurred, in words: `3 malformed, 2 of no length`.
    pub(crate) fn skipped_words(&self) -> String {
        let all: Vec<String> =
            self.skipped().iter().map(|s| format!("{} {}", s.rows, s.reason.words())).collect();
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

impl Report {
    /// The sentences for `warnings`, from the counts.
    pub(crate) fn warn(&mut self, format: Format, grain: Grain, devices: &[String]) {
        let mut say = |text: String| self.warnings.push(text);
        if self.records > 1 && grain == Grain::Second {
            say("arrival times are whole seconds: unfit for queueing studies, fit for mixes and sizes".into());
        } else if self.records > 1 && grain == Grain::Millisecond {
            say("arrival times are whole milliseconds: coarser than a disk's service time".into());
        }
        if self.moved_rows > 0 {
            let rows = self.moved_rows;
            say(format!("{rows} rows were too late to be put in order and were moved to a later time"));
        }
        if self.crowded_out > 0 {
            let rows = self.crowded_out;
            say(format!("{rows} requests were given out before their completion was seen"));
        }
        if self.without_queue_event > self.records / 100 {
            let rows = self.without_queue_event;
            say(format!("{rows} requests have no queue event: their dispatch counts as their arrival"));
        }
        if format.about().events && self.without_completion > self.records / 100 {
            let rows = self.without_completion;
            say(format!("{rows} requests were never seen to complete"));
        }
        if self.lost_events > 0 {
            say(format!("the recorder lost {} events: record again with larger buffers", self.lost_events));
        }
        if self.crowded_devices > 0 {
            say(format!("there are more than 65 535 devices: further ones share the last, {:?}", "(others)"));
        }
        if self.remaps > 0 && devices.len() > 1 {
            say("requests are mapped between the devices of this trace: choose one with --device, \
                 or they count twice"
                .into());
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
        let mut counts = Counts::default();
        assert_eq!(counts.skipped_words(), "none skipped");
        counts.skip(Skip::Malformed);
        counts.skip(Skip::NotARequest);
        counts.skip(Skip::NotARequest);
        assert_eq!(counts.skipped_words(), "1 malformed, 2 that are no requests");
    }
}
