//! Puts rows in order of time within a bounded window.
//!
//! Rows in order go through a queue and cost a push and a pop. Late rows go through a heap. The
//! window is how many rows are held: a row may be that many places late. One that is later than
//! that is moved to the time of the last row returned, and counted.

use std::collections::{BTreeMap, VecDeque};

/// Something with a time that can be moved.
pub(crate) trait Timed {
    /// The time that decides the order, in nanoseconds.
    fn time(&self) -> u64;
    /// Moves it to a later time.
    fn set_time(&mut self, time: u64);
}

/// What was found out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disorder {
    /// Rows earlier than the row just before them.
    pub(crate) rows: u64,
    /// Rows earlier than any row before them.
    pub(crate) late: u64,
    /// The most that one was earlier, in nanoseconds.
    pub(crate) furthest: u64,
    /// Rows too late for the window.
    pub(crate) clamped: u64,
}

/// Rows on their way into order.
pub(crate) struct Reorder<T> {
    /// Rows that were not late: sorted by construction.
    run: VecDeque<T>,
    /// Rows that were, by time and number.
    late: BTreeMap<(u64, u64), T>,
    window: usize,
    /// The latest time seen.
    newest: u64,
    /// The time of the last row seen.
    before: u64,
    /// The time of the last row returned.
    given: u64,
    disorder: Disorder,
}

impl<T: Timed> Reorder<T> {
    /// Holds `window` rows.
    pub(crate) fn new(window: usize) -> Reorder<T> {
        let (run, late) = (VecDeque::new(), BTreeMap::new());
        Reorder { run, late, window, newest: 0, before: 0, given: 0, disorder: Disorder::default() }
    }

    /// Takes a row in.
    #[inline]
    pub(crate) fn push(&mut self, row: T) {
        let time = row.time();
        if time >= self.newest {
            self.newest = time;
            self.run.push_back(row);
        } else {
            self.push_late(row, time);
        }
        self.before = time;
    }

    #[cold]
    fn push_late(&mut self, mut row: T, mut time: u64) {
        self.disorder.rows += u64::from(time < self.before);
        self.disorder.late += 1;
        self.disorder.furthest = self.disorder.furthest.max(self.newest - time);
        if time < self.given {
            self.disorder.clamped += 1;
            time = self.given;
            row.set_time(time);
        }
        self.late.insert((time, self.disorder.late), row);
    }

    /// More rows are held than the window needs.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.run.len() + self.late.len() > self.window
    }

    /// No rows are held.
    pub(crate) fn is_empty(&self) -> bool {
        self.run.is_empty() && self.late.is_empty()
    }

    /// Gives the earliest row out, once the window is full or if there are no more to come.
    #[inline]
    pub(crate) fn pop(&mut self, last: bool) -> Option<T> {
        if !last && !self.is_full() {
            return None;
        }
        let row = match self.late.first_key_value() {
            None => self.run.pop_front()?,
            Some(((late, _), _)) => match self.run.front() {
                Some(front) if front.time() <= *late => self.run.pop_front()?,
                _ => self.late.pop_first()?.1,
            },
        };
        self.given = row.time();
        Some(row)
    }

    /// What was found out of order so far.
    pub(crate) fn disorder(&self) -> Disorder {
        self.disorder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Timed for u64 {
        fn time(&self) -> u64 {
            *self
        }
        fn set_time(&mut self, time: u64) {
            *self = time;
        }
    }

    fn through(window: usize, rows: &[u64]) -> (Vec<u64>, Disorder) {
        let mut order = Reorder::new(window);
        let mut out = Vec::new();
        for &row in rows {
            order.push(row);
            out.extend(std::iter::from_fn(|| order.pop(false)));
        }
        out.extend(std::iter::from_fn(|| order.pop(true)));
        (out, order.disorder())
    }

    #[test]
    fn rows_within_the_window_are_sorted() {
        let (out, disorder) = through(3, &[5, 1, 9, 7, 8, 10]);
        assert_eq!(out, [1, 5, 7, 8, 9, 10]);
        assert_eq!(disorder, Disorder { rows: 2, late: 3, furthest: 4, clamped: 0 });
    }

    #[test]
    fn rows_beyond_the_window_are_moved_and_counted() {
        let (out, disorder) = through(1, &[5, 6, 7, 1, 8]);
        assert_eq!(out, [5, 6, 6, 7, 8]);
        assert_eq!(disorder, Disorder { rows: 1, late: 1, furthest: 6, clamped: 1 });
    }

    #[test]
    fn rows_in_order_pass_untouched() {
        let rows: Vec<u64> = (0..100).collect();
        let (out, disorder) = through(10, &rows);
        assert_eq!(out, rows);
        assert_eq!(disorder, Disorder::default());
    }
}
