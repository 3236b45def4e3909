//! The model of the disk, as the latest requests have left it.
//!
//! What is in the disk's buffer and queue decides for seconds what a scheduler can do: data that is not written yet
//! takes the arm from readers. So the model is given what the disk was given, at the times at which the disk got it.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use idlewise_core::selectors::Row;
use idlewise_core::{Instant, Request, Sector};
use idlewise_disk::{AnyModel, Command, Completion, DiskModel, SubmitError};

/// Tags from here on belong to commands that the disk had before.
const EARLIER: u32 = 1 << 31;

/// A model, and what it still has to do.
#[derive(Clone, Debug)]
pub(super) struct Warm {
    pub(super) device: AnyModel,
    /// By its own clock.
    pub(super) now: Instant,
    /// Commands that it has.
    pub(super) outstanding: u32,
    /// Commands that it was given, as far as tags go.
    given: u32,
}

impl Warm {
    /// The model of which nothing was asked yet.
    pub(super) fn fresh(model: &AnyModel) -> Warm {
        Warm { device: model.clone(), now: Instant::ZERO, outstanding: 0, given: 0 }
    }

    /// The model at `now`, after what the disk was given of `rows` until then.
    pub(super) fn new(model: &AnyModel, rows: &[Row], now: Instant) -> Warm {
        let mut warm = Warm::fresh(model);
        let commands = commands(rows);
        let Some((first, _)) = commands.first().copied() else { return warm };
        warm.give(&commands, Instant(first));
        warm.wait(Instant(now.0.saturating_sub(first)));
        warm
    }

    /// Gives it the commands, by a clock that shows zero at `zero`.
    pub(super) fn give(&mut self, commands: &[(u64, Command)], zero: Instant) {
        for (at, command) in commands {
            self.pass(Instant(at - zero.0), self.device.depth() - 1);
            let command = Command { tag: EARLIER | self.given, ..*command };
            self.given = (self.given + 1) % EARLIER;
            self.outstanding += u32::from(self.device.submit(self.now, command).is_ok());
        }
    }

    /// Goes on until then.
    pub(super) fn wait(&mut self, until: Instant) {
        self.pass(until, self.device.depth());
    }

    /// Goes on until then, and until it has at most this many commands.
    fn pass(&mut self, until: Instant, most: u32) {
        self.now = self.now.max(until);
        loop {
            while self.device.advance(self.now).is_some() {
                self.outstanding -= 1;
            }
            match self.device.next_event() {
                Some(event) if self.outstanding > most => self.now = event.max(self.now),
                _ => return,
            }
        }
    }
}

/// What the disk was asked for, and when. Rows that lie in order and were done at once were one command, unless the
/// disk got each. Of which it is not known when the disk got it, it counts when it was done.
pub(super) fn commands(rows: &[Row]) -> Vec<(u64, Command)> {
    let had = |row: &&Row| row.done.is_some() || row.dispatched.is_some();
    let done = |row: &Row| row.done.map_or(u64::MAX, NonZeroU64::get);
    let mut known: Vec<&Row> = rows.iter().filter(had).collect();
    known.sort_by_key(|row| (done(row), row.start));
    let mut all: Vec<(u64, Command)> = Vec::with_capacity(known.len());
    let (mut before, mut told) = (0, true);
    for row in known {
        let at = row.dispatched.map_or(done(row), NonZeroU64::get);
        let Request { operation, start, length, .. } = row.request();
        let continues = |last: &Command| last.operation == operation && last.start + last.length == start;
        let apart = before != done(row) || told && row.dispatched.is_some();
        match all.last_mut() {
            Some((began, last)) if !apart && continues(last) => {
                *began = at.min(*began);
                last.length.0 += length.0;
                told |= row.dispatched.is_some();
            }
            _ => {
                all.push((at, Command { tag: 0, operation, start, length, fua: false }));
                told = row.dispatched.is_some();
            }
        }
        before = done(row);
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

/// A model that still has to do what it had before, of which its host hears nothing. What the model has no room for
/// until then waits.
pub(super) struct Occupied<'a, D> {
    device: &'a mut D,
    /// Commands that it had before.
    earlier: u32,
    /// Commands of the host that it has.
    taken: u32,
    /// Commands that wait.
    held: VecDeque<Command>,
}

impl<'a, D: DiskModel> Occupied<'a, D> {
    pub(super) fn new(device: &'a mut D, earlier: u32) -> Self {
        Occupied { device, earlier, taken: 0, held: VecDeque::new() }
    }

    /// One completion that the host waits for.
    #[inline]
    fn next(&mut self, now: Instant) -> Option<Completion> {
        loop {
            let done = self.device.advance(now)?;
            if done.tag < EARLIER {
                self.taken -= 1;
                return Some(done);
            }
            self.earlier -= 1;
        }
    }

    /// Gives the model what waits, as far as it has room.
    fn let_in(&mut self, now: Instant) -> Result<(), SubmitError> {
        while self.earlier + self.taken < self.device.depth()
            && let Some(command) = self.held.pop_front()
        {
            self.taken += 1;
            self.device.submit(now, command)?;
        }
        Ok(())
    }
}

impl<D: DiskModel> DiskModel for Occupied<'_, D> {
    fn capacity(&self) -> Sector {
        self.device.capacity()
    }

    fn depth(&self) -> u32 {
        self.device.depth()
    }

    fn rotational(&self) -> bool {
        self.device.rotational()
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        if self.earlier == 0 {
            self.taken += 1;
            return self.device.submit(now, command);
        }
        if self.taken == 0 {
            // None is the host's: this hears of the others only.
            self.next(now);
        }
        self.held.push_back(command);
        self.let_in(now)
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        if self.taken == 0 && self.held.is_empty() { None } else { self.device.next_event() }
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        let done = self.next(now);
        if !self.held.is_empty() {
            self.let_in(now).ok()?;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Operation, Sector, Sectors};
    use idlewise_disk::Profile;

    use super::*;

    fn disk() -> AnyModel {
        Profile::named("hdd-18tb-7200").unwrap().build().unwrap()
    }

    fn row(dispatched: u64, done: u64, start: u64, operation: Operation) -> Row {
        let [dispatched, done] = [dispatched, done].map(NonZeroU64::new);
        Row { dispatched, done, start: Sector(start), length: Sectors(256), operation, ..Row::default() }
    }

    /// How long the disk takes to write out all that it has in its buffer.
    fn to_flush(mut device: AnyModel, now: Instant) -> u64 {
        let (start, length, operation) = (Sector(0), Sectors(0), Operation::Flush);
        device.submit(now, Command { tag: 0, operation, start, length, fua: false }).unwrap();
        device.next_event().unwrap().since(now).0
    }

    /// What becomes of a disk that writes anywhere and reads in order beside that, and its rows.
    fn busy() -> (AnyModel, Instant, Vec<Row>) {
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
        let flushed = |rows: &[Row]| {
            let warm = Warm::new(&disk(), rows, now);
            to_flush(warm.device, warm.now)
        };
        let got = flushed(&rows);
        assert!(got.abs_diff(wanted) < wanted / 100, "{got} and {wanted} ns");
        let untold = flushed(&rows.iter().map(|row| Row { dispatched: None, ..*row }).collect::<Vec<_>>());
        assert!(untold.abs_diff(wanted) > wanted / 20, "{untold} and {wanted} ns");
    }

    #[test]
    fn what_the_disk_had_before_is_done_and_nothing_is_heard_of_it() {
        let told = |at, done, start: u64| row(at, done, start, Operation::Read);
        let far = |n: u64| n * 99_991 * 256;
        let later = (1..=32).map(|n| told(50_000_000, 0, far(n)));
        let rows: Vec<Row> = [told(1000, 40_000_000, 0)].into_iter().chain(later).collect();
        let Warm { mut device, now, outstanding, .. } = Warm::new(&disk(), &rows, Instant(50_001_000));
        assert_eq!((now, outstanding), (Instant(50_000_000), 32), "the disk has 32 commands");
        let mut disk = Occupied::new(&mut device, outstanding);
        let read = |tag: u32| Command {
            tag,
            operation: Operation::Read,
            start: Sector(far(u64::from(tag) + 100)),
            length: Sectors(256),
            fua: false,
        };
        (0..32).for_each(|tag| disk.submit(now, read(tag)).unwrap());
        let (mut done, mut clock) = (Vec::new(), now);
        while let Some(event) = disk.next_event() {
            clock = clock.max(event);
            done.extend(std::iter::from_fn(|| disk.advance(clock)).map(|completion| completion.tag));
        }
        done.sort_unstable();
        assert_eq!(done, (0..32).collect::<Vec<u32>>());
        // 64 seeks, not 32.
        let alone = {
            let (mut device, mut clock) = (super::tests::disk(), now);
            (0..32).for_each(|tag| device.submit(now, read(tag)).unwrap());
            while let Some(event) = device.next_event() {
                clock = clock.max(event);
                device.advance(clock);
            }
            clock
        };
        assert!(clock.since(now) > alone.since(now) * 3 / 2, "{clock} and {alone}");
    }

    #[test]
    fn what_was_done_at_once_goes_through_the_model_in_order() {
        // 50 MB are written in order, and each two requests are merged into one command. Beside it somebody reads.
        let at = |n: u64| n / 2 * 1_000_000 + 1_000_000;
        let write = |n: u64, apart: u64| row(0, at(n) + n * apart, n * 256, Operation::Write);
        let read = |n: u64| row(0, at(n + 40), (1 << 30) + n * 99_991, Operation::Read);
        let flushed = |apart: u64| {
            let each = |n: u64| [Some(write(n, apart)), n.is_multiple_of(16).then(|| read(n))];
            let rows: Vec<Row> = (0..400).flat_map(each).flatten().collect();
            let warm = Warm::new(&disk(), &rows, Instant(at(440)));
            to_flush(warm.device, warm.now)
        };
        let (at_once, one_by_one) = (flushed(0), flushed(1));
        assert!(at_once < one_by_one * 11 / 10, "{at_once} and {one_by_one} ns");
    }

    #[test]
    fn a_command_is_what_was_merged_into_it() {
        let w = |dispatched, done, start| row(dispatched, done, start, Operation::Write);
        let rows = [w(0, 90, 256), w(50, 90, 0), w(0, 90, 1024), w(40, 95, 1280), w(60, 0, 0), w(0, 0, 256)];
        let all: Vec<_> = commands(&rows).iter().map(|(at, c)| (*at, c.start.0, c.length.0)).collect();
        assert_eq!(all, [(40, 1280, 256), (50, 0, 512), (60, 0, 256), (90, 1024, 256)]);
    }
}
