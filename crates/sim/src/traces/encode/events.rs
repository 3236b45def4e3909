//! Turns records into events in order of time, for the formats that are made of events.

use crate::traces::Record;
use std::collections::BTreeMap;

/// Events that wait for their time. When there are more, the earliest is written early.
const CAPACITY: usize = 262_144;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Queue,
    Dispatch,
    Complete,
}

/// An event of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happening {
    pub(crate) time: u64,
    pub(crate) kind: Kind,
    pub(crate) record: Record,
    /// Major and minor number.
    pub(crate) device: (u32, u32),
}

/// Events on their way into order.
#[derive(Default)]
pub(crate) struct Events {
    /// By time and number.
    waiting: BTreeMap<(u64, u64), Happening>,
    count: u64,
}

impl Events {
    /// Takes a record's events in.
    pub(crate) fn push(&mut self, record: &Record, device: &str) {
        let device = numbers(device, record.device);
        let times = [
            (Kind::Queue, Some(record.arrival)),
            (Kind::Dispatch, record.dispatched),
            (Kind::Complete, record.completed),
        ];
        for (kind, time) in times {
            let Some(time) = time else { continue };
            self.count += 1;
            let (time, record) = (time.0, *record);
            self.waiting.insert((time, self.count), Happening { time, kind, record, device });
        }
    }

    /// The next event that happens no later than `until`, or that there is no more room for.
    pub(crate) fn pop(&mut self, until: u64) -> Option<Happening> {
        let crowded = self.waiting.len() > CAPACITY;
        let first = self.waiting.first_entry()?;
        if first.key().0 <= until || crowded { Some(first.remove()) } else { None }
    }
}

/// A device's numbers: `8:16` if it is called that, else the index under an experimental major.
fn numbers(name: &str, index: u32) -> (u32, u32) {
    let parts = name.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.filter(|&(major, minor)| major < 1 << 12 && minor < 1 << 20).unwrap_or((240, index))
}
