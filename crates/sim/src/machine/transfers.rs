//! Transfers: requests on their way, the pages that they move, and who waits for them.

use std::collections::VecDeque;

use idlewise_core::{Durable, Group, Instant, Issuer, Operation, Request, RequestId, Sector, Sectors};
use rustc_hash::FxHashMap;

use super::cache::PageId;
use super::parameters::PAGE_SECTORS;

/// Who issues a request.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// The process.
    pub issuer: Issuer,
    /// What it belongs to.
    pub group: Group,
}

/// Who is told when a transfer is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// A process, by number.
    Process(u32),
    /// The flusher.
    Flusher,
    /// The journal.
    Journal,
}

/// What a request is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Who issues it.
    pub who: Who,
    /// A write; otherwise a read.
    pub write: bool,
    /// Somebody waits for it.
    pub sync: bool,
    /// The blocks are of the file system itself.
    pub metadata: bool,
}

/// One request, from when a process makes it until it is done.
#[derive(Debug)]
pub struct Transfer {
    /// A write; otherwise a read.
    pub write: bool,
    /// The pages that it moves.
    pub pages: Vec<PageId>,
    /// Who is told.
    pub waiters: Vec<Waiter>,
    /// When it went to the drive, or into the queue if another one took it along.
    pub started: Instant,
    /// The pages of a piece of a file end with it, however long it is.
    pub ends: bool,
}

/// As many requests may be held back: `BLK_MAX_REQUEST_COUNT`.
const HELD_BACK: usize = 32;
/// Behind one of this size none is: `BLK_PLUG_FLUSH_SIZE`.
const LARGE: Sectors = Sectors(256);

/// All transfers.
#[derive(Debug, Default)]
pub struct Transfers {
    /// Requests that are held back, as others that follow may become part of them.
    plug: VecDeque<(Request, u32)>,
    live: FxHashMap<u32, Transfer>,
    made: u32,
    /// What is to be issued, and whether whoever issues it then asks the scheduler.
    outbox: VecDeque<(Request, u32, bool)>,
    /// By the engine's number of the request.
    issued: Vec<u32>,
}

impl Transfers {
    /// The number of the next transfer.
    pub fn next_number(&self) -> u32 {
        self.made
    }

    /// A transfer of `count` blocks begins at `now`. Returns its number.
    pub fn begin(&mut self, now: Instant, block: u32, count: u32, manner: Manner, more_follows: bool) -> u32 {
        let request = Request {
            arrival: now,
            start: Sector(u64::from(block) * PAGE_SECTORS),
            length: Sectors(count * PAGE_SECTORS as u32),
            issuer: manner.who.issuer,
            group: manner.who.group,
            operation: if manner.write { Operation::Write } else { Operation::Read },
            sync: manner.sync,
            metadata: manner.metadata,
            more_follows,
            ..Request::default()
        };
        let number = self.made;
        self.made = self.made.wrapping_add(1);
        let transfer = Transfer {
            write: manner.write,
            pages: Vec::new(),
            waiters: Vec::new(),
            started: now,
            ends: false,
        };
        self.live.insert(number, transfer);
        self.outbox.push_back((request, number, true));
        number
    }

    /// The same, but the request is held back: until [`Transfers::unplug`], or until another comes behind it and it is large or one of many.
    pub fn plug(&mut self, now: Instant, block: u32, count: u32, manner: Manner) -> u32 {
        let large = self.plug.back().is_some_and(|(last, _)| last.length >= LARGE);
        if large || self.plug.len() >= HELD_BACK {
            self.unplug(now, true);
        }
        let number = self.begin(now, block, count, manner, false);
        self.plug.extend(self.outbox.pop_back().map(|(request, number, _)| (request, number)));
        number
    }

    /// The request that was held back last, if it ends where `block` begins, and of how many blocks it is.
    pub fn plugged(&self, block: u32) -> Option<(u32, u32)> {
        let (last, number) = self.plug.back()?;
        let ends = last.end() == Sector(u64::from(block) * PAGE_SECTORS);
        ends.then_some((*number, last.length.0 / PAGE_SECTORS as u32))
    }

    /// That request grows by `count` blocks.
    pub fn lengthen(&mut self, count: u32) {
        if let Some((last, _)) = self.plug.back_mut() {
            last.length.0 += count * PAGE_SECTORS as u32;
        }
    }

    /// What was held back is issued by somebody who then `asks` the scheduler, or has that done.
    pub fn unplug(&mut self, now: Instant, asks: bool) {
        for (mut request, number) in self.plug.drain(..) {
            request.arrival = now;
            self.outbox.push_back((request, number, asks));
        }
    }

    /// The drive's write cache is flushed for `who`. Returns the transfer's number.
    pub fn flush(&mut self, now: Instant, who: Who) -> u32 {
        let manner = Manner { who, write: true, sync: true, metadata: false };
        let number = self.begin(now, 0, 0, manner, false);
        if let Some((request, ..)) = self.outbox.back_mut() {
            request.operation = Operation::Flush;
        }
        number
    }

    /// When the transfer that was begun last is done, it is on the medium, and so is all that was done before it.
    pub fn make_durable(&mut self) {
        if let Some((request, ..)) = self.outbox.back_mut() {
            request.durable = Durable { before: true, itself: true };
        }
    }

    /// `page` is moved by a transfer.
    pub fn add_page(&mut self, transfer: u32, page: PageId) {
        if let Some(own) = self.live.get_mut(&transfer) {
            own.pages.push(page);
        }
    }

    /// A piece of a file ends with the pages of `transfer`.
    pub fn ends(&mut self, transfer: u32) {
        if let Some(own) = self.live.get_mut(&transfer) {
            own.ends = true;
        }
    }

    /// `waiter` is told of a transfer's end; false if it is done already.
    pub fn wait(&mut self, transfer: u32, waiter: Waiter) -> bool {
        self.live.get_mut(&transfer).map(|own| own.waiters.push(waiter)).is_some()
    }

    /// Whether a transfer is not done yet.
    pub fn is_live(&self, transfer: u32) -> bool {
        self.live.contains_key(&transfer)
    }

    /// When the next request is issued, if one is to be.
    pub fn next(&self) -> Option<Instant> {
        self.outbox.front().map(|(request, ..)| request.arrival)
    }

    /// The next request, which will be known as `id`, and whether whoever issues it then asks the scheduler.
    pub fn issue(&mut self, id: RequestId) -> Option<(Request, bool)> {
        let (request, number, asks) = self.outbox.pop_front()?;
        if self.issued.len() <= id.index() {
            self.issued.resize(id.index() + 1, 0);
        }
        self.issued[id.index()] = number;
        Some((request, asks))
    }

    /// The request known as `id` goes to the drive at `now`. Returns its number.
    pub fn starts(&mut self, now: Instant, id: RequestId) -> Option<(u32, &Transfer)> {
        let number = *self.issued.get(id.index())?;
        let own = self.live.get_mut(&number)?;
        own.started = now;
        Some((number, own))
    }

    /// The request known as `id` is done. Returns its number.
    pub fn done(&mut self, id: RequestId) -> Option<(u32, Transfer)> {
        let number = *self.issued.get(id.index())?;
        Some((number, self.live.remove(&number)?))
    }

    /// Nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::kernel::FLUSHER;

    const NOW: Instant = Instant(1);

    /// Starts and lengths of what is issued, in blocks, after such requests were held back.
    fn issued(held: &[(u32, u32)], end: bool) -> Vec<(u64, u32)> {
        let mut own = Transfers::default();
        for (block, count) in held {
            let manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };
            match own.plugged(*block) {
                Some(_) => own.lengthen(*count),
                None => _ = own.plug(NOW, *block, *count, manner),
            }
        }
        if end {
            own.unplug(NOW, true);
        }
        let requests = std::iter::from_fn(|| own.issue(RequestId(0)));
        requests
            .map(|(request, _)| (request.start.0 / PAGE_SECTORS, request.length.0 / PAGE_SECTORS as u32))
            .collect()
    }

    #[test]
    fn what_is_held_back_grows_and_goes_when_more_than_enough_is_there() {
        assert_eq!(issued(&[(100, 2), (102, 3), (300, 1)], false), []);
        assert_eq!(issued(&[(100, 2), (102, 3), (300, 1)], true), [(100, 5), (300, 1)]);
        // 128 KiB make a request large.
        assert_eq!(issued(&[(100, 31), (300, 1)], false), []);
        assert_eq!(issued(&[(100, 32), (300, 1)], false), [(100, 32)]);
        let many: Vec<_> = (0..33).map(|index| (index * 10, 1)).collect();
        assert_eq!(issued(&many, false).len(), 32);
    }
}
