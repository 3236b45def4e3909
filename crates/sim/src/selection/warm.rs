//! The model of the disk, as the latest requests have left it.
//!
//! What is in the disk's buffer decides for seconds what a scheduler can do: data that is not written yet takes the arm
//! from readers. So the model is given what the disk was given, at the times at which the disk got it.

use std::num::NonZeroU64;

use idlewise_core::selectors::Row;
use idlewise_core::{Instant, Request};
use idlewise_disk::{AnyDevice, Command, Device};

/// The model after it has served what was done of `rows`, and when it is idle.
pub(super) fn warmed(model: &AnyDevice, rows: &[Row]) -> (AnyDevice, Instant) {
    let (mut device, mut now, mut outstanding) = (model.clone(), Instant::ZERO, 0);
    let commands = commands(rows);
    let Some((first, _)) = commands.first().copied() else { return (device, now) };
    let pass = |device: &mut AnyDevice, now: &mut Instant, outstanding: &mut u32, most: u32| {
        loop {
            while device.advance(*now).is_some() {
                *outstanding -= 1;
            }
            match device.next_event() {
                Some(event) if *outstanding > most => *now = event.max(*now),
                _ => return,
            }
        }
    };
    for (tag, (at, command)) in commands.iter().enumerate() {
        now = now.max(Instant(at - first));
        let room = device.depth() - 1;
        pass(&mut device, &mut now, &mut outstanding, room);
        outstanding += u32::from(device.submit(now, Command { tag: tag as u32, ..*command }).is_ok());
    }
    pass(&mut device, &mut now, &mut outstanding, 0);
    (device, now)
}

/// What the disk was asked for, and when, as far as it is done. Rows that lie in order and were done at once were one
/// command. Of which it is not known when the disk got it, it counts when it was done.
fn commands(rows: &[Row]) -> Vec<(u64, Command)> {
    let mut done: Vec<(u64, &Row)> = rows.iter().filter_map(|row| Some((row.done?.get(), row))).collect();
    done.sort_by_key(|(done, row)| (*done, row.start));
    let mut all: Vec<(u64, Command)> = Vec::with_capacity(done.len());
    let mut before = 0;
    for (done, row) in done {
        let at = row.dispatched.map_or(done, NonZeroU64::get);
        let Request { operation, start, length, .. } = row.request();
        match all.last_mut() {
            Some((began, last))
                if before == done && last.operation == operation && last.start + last.length == start =>
            {
                *began = at.min(*began);
                last.length.0 += length.0;
            }
            _ => all.push((at, Command { tag: 0, operation, start, length, fua: false })),
        }
        before = done;
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Operation, Sector, Sectors};
    use idlewise_disk::Profile;

    use super::*;

    fn disk() -> AnyDevice {
        Profile::named("hdd-18tb-7200").unwrap().build().unwrap()
    }

    fn row(dispatched: u64, done: u64, start: u64, operation: Operation) -> Row {
        let [dispatched, done] = [dispatched, done].map(NonZeroU64::new);
        Row { dispatched, done, start: Sector(start), length: Sectors(256), operation, ..Row::default() }
    }

    /// How long the disk takes to write out all that it has in its buffer.
    fn to_flush(mut device: AnyDevice, now: Instant) -> u64 {
        let (start, length, operation) = (Sector(0), Sectors(0), Operation::Flush);
        device.submit(now, Command { tag: 0, operation, start, length, fua: false }).unwrap();
        device.next_event().unwrap().since(now).0
    }

    /// What becomes of a disk that writes anywhere and reads in order beside that, and its rows.
    fn busy() -> (AnyDevice, Instant, Vec<Row>) {
        let (mut device, mut now, mut rows) = (disk(), Instant(1000), Vec::new());
        for n in 0..600u64 {
            let (start, operation) = match n % 3 {
                0 => ((1 << 30) + n * 256, Operation::Read),
                _ => (n * 99_991 * 256 % (1 << 34), Operation::Write),
            };
            let command =
                Command { tag: 0, operation, start: Sector(start), length: Sectors(256), fua: false };
            device.submit(now, command).unwrap();
            let begun = now;
            while device.advance(now).is_none() {
                now = device.next_event().unwrap();
            }
            rows.push(row(begun.0, now.0, start, operation));
            now = Instant(now.0 + n % 7 * 1_000_000);
        }
        (device, now, rows)
    }

    #[test]
    fn given_what_the_disk_was_given_the_model_has_the_same_in_its_buffer() {
        let (device, now, rows) = busy();
        let wanted = to_flush(device, now);
        // The model begins with the first request, at zero, and ends with the last.
        let later = now.since(Instant(rows[599].done.unwrap().get()));
        let flushed = |rows: &[Row]| {
            let (model, end) = warmed(&disk(), rows);
            to_flush(model, end + later)
        };
        let got = flushed(&rows);
        assert!(got.abs_diff(wanted) < wanted / 100, "{got} and {wanted} ns");
        let untold = flushed(&rows.iter().map(|row| Row { dispatched: None, ..*row }).collect::<Vec<_>>());
        assert!(untold.abs_diff(wanted) > wanted / 20, "{untold} and {wanted} ns");
    }

    #[test]
    fn what_was_done_at_once_goes_through_the_model_in_order() {
        // 50 MB are written in order, and each two requests are merged into one command. Beside it somebody reads.
        let at = |n: u64| n / 2 * 1_000_000 + 1_000_000;
        let write = |n: u64, apart: u64| row(0, at(n) + n * apart, n * 256, Operation::Write);
        let read = |n: u64| row(0, at(n + 40), (1 << 30) + n * 99_991, Operation::Read);
        let flushed = |apart: u64| {
            let each = |n: u64| [Some(write(n, apart)), n.is_multiple_of(16).then(|| read(n))];
            let (model, now) = warmed(&disk(), &(0..400).flat_map(each).flatten().collect::<Vec<_>>());
            to_flush(model, now)
        };
        let (at_once, one_by_one) = (flushed(0), flushed(1));
        assert!(at_once < one_by_one * 11 / 10, "{at_once} and {one_by_one} ns");
    }

    #[test]
    fn a_command_is_what_was_merged_into_it() {
        let w = |dispatched, done, start| row(dispatched, done, start, Operation::Write);
        let rows = [w(0, 90, 256), w(50, 90, 0), w(0, 90, 1024), w(40, 95, 1280), w(60, 0, 0)];
        let all: Vec<_> = commands(&rows).iter().map(|(at, c)| (*at, c.start.0, c.length.0)).collect();
        assert_eq!(all, [(40, 1280, 256), (50, 0, 512), (90, 1024, 256)]);
    }
}
