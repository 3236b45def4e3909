//! What reading a trace found: what was kept, what was left out and why, what to be wary of.

use crate::traces::counts::{Grain, Skipped};
use serde::Serialize;

/// What reading a trace found, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The format it was read as, as `--format` names it.
    pub format: &'static str,
    /// What the format's times count.
    pub time_unit: &'static str,
    /// Rows read: lines without comments, or binary records.
    pub rows: u64,
    /// Records returned.
    pub records: u64,
    /// Rows that gave none, by reason. Reasons that did not occur are absent.
    pub skipped: Vec<Skipped>,
    /// Rows earlier than the row just before them.
    pub out_of_order_rows: u64,
    /// Rows earlier than any row before them: those that were moved forward.
    pub late_rows: u64,
    /// The most that a row was earlier than one before it.
    pub out_of_order_max_ns: u64,
    /// Rows too late to be put in order, which carry the time of the row returned before them.
    pub moved_rows: u64,
    /// Rows whose extent was not whole sectors, and was widened to whole sectors.
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
    /// Requests returned incomplete because too many younger ones were waiting behind them.
    pub crowded_out: u64,
    /// Events that the recorder says it lost.
    pub lost_events: u64,
    /// The recording was cut short (idlewise's recordings).
    pub cut: bool,
    /// Rows of devices beyond the 65 535 that are told apart.
    pub crowded_devices: u64,
    /// What to be wary of, in sentences.
    pub warnings: Vec<String>,
}

impl Findings {
    /// The sentences for `warnings`, from the counts. `events`: the format is made of events.
    pub(crate) fn warn(&mut self, events: bool, grain: Grain, devices: &[String]) {
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
        if events && self.without_completion > self.records / 100 {
            let rows = self.without_completion;
            say(format!("{rows} requests were never seen to complete"));
        }
        if self.lost_events > 0 {
            say(format!("the recorder lost {} events: record again with larger buffers", self.lost_events));
        }
        if self.cut {
            say("the recording was cut short: what was done after its last whole part is missing".into());
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
