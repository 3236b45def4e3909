//! What processes did before the ring of latest requests (`Recent`) forgot it.
//!
//! The ring holds the latest requests of all. Whoever is kept waiting by others soon has few among them, and those few
//! may mislead: two adjacent requests make a random reader look sequential.

use idlewise_core::selectors::Row;
use idlewise_core::{Duration, Instant};
use rustc_hash::FxHashMap;

use super::script::{ENOUGH, process};

/// The latest requests that were done of each process, as they were when they were last looked at.
#[derive(Default)]
pub struct Habits {
    latest: FxHashMap<u64, Vec<Row>>,
}

impl Habits {
    /// Takes in what the ring holds now, in order of arrival. Processes that are not in it are forgotten.
    pub fn learn<'a>(&mut self, rows: impl DoubleEndedIterator<Item = &'a Row>) {
        let mut before = std::mem::take(&mut self.latest);
        for row in rows.rev() {
            let own = self.latest.entry(process(row)).or_default();
            if row.done.is_some() && own.len() < ENOUGH {
                own.push(*row);
            }
        }
        for (who, own) in &mut self.latest {
            let oldest = own.last().map_or(Instant::MAX, |row| row.arrival);
            let known = before.remove(who).unwrap_or_default();
            let older = known.into_iter().rev().filter(|row| row.arrival < oldest);
            own.extend(older.take(ENOUGH - own.len()));
            own.reverse();
        }
    }

    /// Adds what the ring has forgotten of processes that have few rows in `rows`, as far as it is `wanted`, right
    /// before what they did since: what lies between is not known.
    pub fn complete(&self, rows: &mut Vec<Row>, wanted: impl Fn(u64, &Row) -> bool) {
        let oldest = rows.iter().find(|row| row.done.is_some()).map_or(Instant::ZERO, |row| row.arrival);
        let mut few: FxHashMap<u64, (usize, Instant)> = FxHashMap::default();
        rows.iter().for_each(|row| few.entry(process(row)).or_insert((0, row.arrival)).0 += 1);
        few.retain(|_, (count, _)| *count < ENOUGH);
        for (who, (count, next)) in few {
            let own = self.latest.get(&who).into_iter().flatten();
            let own = own.filter(|row| row.arrival < oldest && wanted(who, row)).rev();
            let own: Vec<&Row> = own.take(ENOUGH - count).collect();
            let later = gap(&own, next);
            let moved = |row: &&Row| Row {
                arrival: row.arrival + later,
                done: row.done.and_then(|done| done.checked_add(later.0)),
                ..**row
            };
            rows.extend(own.iter().map(moved));
        }
        rows.sort_by_key(|row| row.arrival);
    }
}

/// How much later these rows, the latest first, would have to be to come right before `next`, with the pause that was
/// between the latest two.
fn gap(rows: &[&Row], next: Instant) -> Duration {
    let done = |row: &Row| row.done.map_or(row.arrival, |done| Instant(done.get()));
    let Some(end) = rows.iter().map(|row| done(row)).max() else { return Duration::ZERO };
    let pause = match rows {
        [latest, before, ..] => latest.arrival.since(done(before)),
        _ => Duration::ZERO,
    };
    next.since(end + pause)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use idlewise_core::Issuer;

    use super::*;

    fn row(at: u64, issuer: u32) -> Row {
        let (arrival, done) = (Instant(at), NonZeroU64::new(at + 1));
        Row { arrival, done, issuer: Issuer(issuer), ..Row::default() }
    }

    #[test]
    fn what_the_stream_has_forgotten_is_known_until_the_process_is_gone() {
        let mut habits = Habits::default();
        let first: Vec<Row> = (1..=100).map(|n| row(n * 100, n as u32 % 2)).collect();
        habits.learn(first.iter());
        // Process 1 waits; of what it did only the last is left.
        let waits = Row { done: None, ..row(20_000, 1) };
        let then: Vec<Row> = (99..=100).chain(110..200).map(|n| row(n * 100, u32::from(n == 99))).collect();
        let all: Vec<Row> = then.into_iter().chain([waits]).collect();
        habits.learn(all.iter());
        let completed = |from: u64, wanted: u64| -> Vec<u64> {
            let mut rows: Vec<Row> = all.iter().filter(|row| row.arrival.0 >= from * 100).copied().collect();
            habits.complete(&mut rows, |_, row| row.arrival.0 >= wanted * 100);
            rows.iter().filter(|row| row.issuer == Issuer(1)).map(|row| row.arrival.0 / 100).collect()
        };
        let earlier = (20..50).map(|n| 2 * n - 1);
        assert_eq!(completed(99, 0), earlier.clone().chain([99, 200]).collect::<Vec<_>>());
        let moved = 200 - 99 - 2;
        let latest = earlier.chain([99]).map(|n| n + moved);
        assert_eq!(completed(110, 0), latest.clone().chain([200]).collect::<Vec<_>>());
        assert_eq!(completed(110, 90), latest.skip(26).chain([200]).collect::<Vec<_>>());
        habits.learn([].iter());
        let mut rows = vec![waits];
        habits.complete(&mut rows, |_, _| true);
        assert_eq!(rows, [waits], "it was gone in between");
    }
}
