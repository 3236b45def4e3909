//! Puts the events of all processors in order of time.
//!
//! An event has its time before it has its place in a buffer, so that a buffer is almost in order, and what is older than
//! a moment ago has come. Whatever comes later all the same is moved to the time of the last event returned, and counted.

use crate::events::Timed;

/// What is held back, in nanoseconds: longer than a processor, be it a virtual one that is kept waiting, takes from
/// an event's time to its place.
pub(crate) const WINDOW: u64 = 50_000_000;

/// Events on their way into order.
#[derive(Default)]
pub(crate) struct Order {
    held: Vec<Timed>,
    /// The time of the last event returned.
    given: u64,
    /// Events that came too late.
    pub(crate) moved: u64,
}

impl Order {
    /// Takes an event in.
    pub(crate) fn push(&mut self, timed: Timed) {
        self.held.push(timed);
    }

    /// Gives out what is no later than `until`, in order.
    pub(crate) fn pop(&mut self, until: u64) -> impl Iterator<Item = Timed> {
        // Stable: of events at one time on one processor, the earlier goes first. Sorted runs make it a merge.
        self.held.sort_by_key(|timed| timed.time);
        let count = self.held.partition_point(|timed| timed.time <= until);
        let (given, moved) = (&mut self.given, &mut self.moved);
        self.held.drain(..count).map(move |mut timed| {
            *moved += u64::from(timed.time < *given);
            timed.time = timed.time.max(*given);
            *given = timed.time;
            timed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idlewise_sim::traces::recording::Entry;

    #[test]
    fn events_come_in_order_and_late_ones_are_moved() {
        let mut order = Order::default();
        let push = |order: &mut Order, time, lost| {
            order.push(Timed { time, entry: Entry::Lost(lost), name: None });
        };
        let pop = |order: &mut Order, until| -> Vec<(u64, Entry)> {
            order.pop(until).map(|timed| (timed.time, timed.entry)).collect()
        };
        for (time, lost) in [(5, 0), (9, 1), (2, 2), (5, 3), (7, 4)] {
            push(&mut order, time, lost);
        }
        let want = [(2, 2), (5, 0), (5, 3), (7, 4)].map(|(time, lost)| (time, Entry::Lost(lost)));
        assert_eq!(pop(&mut order, 8), want);
        push(&mut order, 6, 5);
        assert_eq!(pop(&mut order, u64::MAX), [(7, Entry::Lost(5)), (9, Entry::Lost(1))]);
        assert_eq!(order.moved, 1);
    }
}
