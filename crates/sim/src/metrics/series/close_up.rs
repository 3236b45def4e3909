//! Commands in full: 320 that followed each other.
//!
//! A close-up begins anew when 1, 2, 4, 8, … seconds have passed, so that it ends in the second half of a run, where a load has
//! found its pace. What it had before stays until the new one has as many.

use idlewise_core::Instant;

use super::{Close, CloseUp, Dot};

/// Commands that a plot can show one by one on a screen.
const MOST: usize = 320;

/// The first time at which it begins anew.
const FIRST: Instant = Instant(1_000_000_000);

pub(super) struct Closer {
    now: CloseUp,
    before: CloseUp,
    next: Instant,
    waiting_since: Option<Instant>,
}

impl Default for Closer {
    fn default() -> Closer {
        Closer { now: CloseUp::default(), before: CloseUp::default(), next: FIRST, waiting_since: None }
    }
}

impl Closer {
    /// A command goes to the device.
    pub(super) fn dispatched(&mut self, dot: Dot, issued: Instant) {
        if dot.at >= self.next {
            while dot.at >= self.next {
                self.next = Instant(self.next.0 * 2);
            }
            let before = std::mem::take(&mut self.now);
            if before.commands.len() >= self.before.commands.len() {
                self.before = before;
            }
        }
        self.end_wait(dot.at);
        if self.now.commands.len() < MOST {
            self.now.commands.push(Close { dot, issued, done: Instant::ZERO });
        }
    }

    /// The device is done with the command that went to it from `start` at `since`.
    pub(super) fn served(&mut self, now: Instant, dot: &Dot) {
        for commands in [&mut self.now.commands, &mut self.before.commands] {
            let own = commands.iter_mut().rev().find(|command| command.dot == *dot);
            if let Some(own) = own.filter(|own| own.done == Instant::ZERO) {
                own.done = now;
                return;
            }
        }
    }

    /// The scheduler lets the device idle from now on.
    pub(super) fn waits(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
    }

    fn end_wait(&mut self, now: Instant) {
        let Some(since) = self.waiting_since.take() else { return };
        if self.now.commands.len() < MOST && !self.now.commands.is_empty() {
            self.now.waits.push([since, now]);
        }
    }

    /// The later one of the two, unless it has much fewer commands.
    pub(super) fn finish(self) -> CloseUp {
        let [now, before] = [self.now, self.before];
        let mut best = if now.commands.len() * 2 >= before.commands.len() { now } else { before };
        best.commands.retain(|command| command.done > Instant::ZERO);
        best
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::Sector;

    use super::*;

    /// The close-up of commands that take 1 ms each, one after the other, `count` of them.
    fn close_up(count: u64) -> CloseUp {
        let mut closer = Closer::default();
        for n in 0..count {
            let dot = Dot { at: Instant(n * 1_000_000), start: Sector(n), ..Dot::default() };
            closer.dispatched(dot, Instant::ZERO);
            closer.served(Instant(dot.at.0 + 900_000), &dot);
            closer.waits(Instant(dot.at.0 + 900_000));
        }
        closer.finish()
    }

    #[test]
    fn it_is_of_the_second_half_of_a_run() {
        for count in [5, 400, 1100, 5000, 100_000] {
            let found = close_up(count);
            let (first, last) = (found.commands[0].dot, found.commands[found.commands.len() - 1].dot);
            assert!(found.commands.len() as u64 >= (MOST as u64 / 2).min(count), "{count}");
            assert!(count < 2000 || first.at.0 * 2 >= count * 1_000_000 - 1_000_000, "{count}: {first:?}");
            assert!(last.at.0 < count * 1_000_000);
            assert!(found.commands.iter().all(|command| command.done.0 == command.dot.at.0 + 900_000));
            assert!(found.waits.iter().all(|[from, to]| to.since(*from).0 == 100_000), "{:?}", found.waits);
        }
    }
}
