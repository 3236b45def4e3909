//! What the processes of a machine share: file system, page cache, transfers, journal, and who is to be woken.

use idlewise_core::{Group, Instant, Issuer, RequestId};

use super::cache::{Busy, Cache, DEVICE, NoRoom, PageId};
use super::flusher::Flusher;
use super::journal::Journal;
use super::layout::{FileSystem, Full};
use super::pacing::{Level, Pace, Pacing};
use super::parameters::{DirtyLimits, Parameters, Writes};
use super::program::FileId;
use super::throttle::Throttle;
use super::transfers::{Manner, Transfers, Waiter, Who};

/// The flusher as an issuer.
pub const FLUSHER: Who = Who { issuer: Issuer(1), group: Group(1) };
/// The journal as an issuer.
pub const JOURNAL: Who = Who { issuer: Issuer(2), group: Group(2) };

/// The block of the superblock.
const SUPERBLOCK: u32 = 0;

/// The shared part of a machine.
pub struct Kernel {
    /// What the machine is like.
    pub parameters: Parameters,
    /// The file system.
    pub files: FileSystem,
    /// The page cache.
    pub cache: Cache,
    /// Requests on their way.
    pub transfers: Transfers,
    /// The journal, if there is one.
    pub journal: Option<Journal>,
    /// The flusher.
    pub flusher: Flusher,
    /// The time.
    pub now: Instant,
    /// What keeps writeback from reads.
    pub throttle: Option<Throttle>,
    /// Processes that can go on.
    pub woken: Vec<u32>,
    /// Pages that were written since a piece of a file was done, and before: what the file system does for them is due with
    /// the last page of a piece.
    written: u32,
    pub(super) ended: u32,
    /// How fast processes may dirty pages.
    pub(super) pacing: Option<Pacing>,
    /// Processes that wait for fewer dirty pages.
    pub for_clean: Vec<u32>,
    /// Processes that wait for room in the cache.
    pub for_room: Vec<u32>,
}

impl Kernel {
    /// A machine that was just started, on this file system and a drive that takes `drive` commands at a time.
    pub fn new(parameters: Parameters, files: FileSystem, drive: u32) -> Kernel {
        let journal = parameters.journal.zip(files.journal());
        Kernel {
            files,
            cache: Cache::new(parameters.memory),
            transfers: Transfers::default(),
            journal: journal.map(|(settings, place)| Journal::new(settings, place)),
            flusher: Flusher::new(&parameters.dirty),
            now: Instant::ZERO,
            throttle: match parameters.writes {
                Writes::Throttled(target) => Some(Throttle::new(target, drive)),
                Writes::Fixed { .. } => None,
            },
            woken: Vec::new(),
            written: 0,
            ended: 0,
            pacing: parameters.dirty.paces.then(Pacing::default),
            for_clean: Vec::new(),
            for_room: Vec::new(),
            parameters,
        }
    }

    /// Reads pages of a file that are not in the cache and lie in a row on the disk, in pieces that the driver takes.
    /// Returns the number of pages for which there was room.
    pub fn read(&mut self, file: FileId, page: u32, (block, count): (u32, u32), who: Who) -> u32 {
        let manner = Manner { who, write: false, sync: true, metadata: file == DEVICE };
        let mut done = 0;
        while done < count {
            let piece = (count - done).min(self.parameters.request_max);
            let number = self.transfers.next_number();
            let mut pages = Vec::new();
            for index in page + done..page + done + piece {
                let Ok(id) = self.cache.insert(file, index, Busy::Reading(number)) else { break };
                pages.push(id);
            }
            let read = pages.len() as u32;
            if read == 0 {
                break;
            }
            let more = read == piece && done + piece < count;
            self.transfers.begin(self.now, block + done, read, manner, more);
            pages.into_iter().for_each(|id| self.transfers.add_page(number, id));
            done += read;
            if read < piece {
                break;
            }
        }
        done
    }

    /// Writes the dirty pages of a file that follow one another from `page`, which is dirty, on, as one request. `limit` is
    /// the page at which it ends at the latest. Returns the page behind the last one, and the transfer.
    pub fn write(&mut self, file: FileId, page: u32, limit: u32, manner: Manner) -> (u32, u32) {
        let (block, run) = self.place(file, page, limit);
        let number = self.transfers.next_number();
        let pages = self.take_dirty(file, page..page + run, number);
        let count = (pages.len() as u32).max(1);
        self.transfers.begin(self.now, block, count, manner, false);
        self.sends(number, pages);
        (page + count, number)
    }

    /// The same for the flusher of a kernel that holds requests back: the pages may become part of the request before. Returns the
    /// page behind the last one, the transfer, and whether it is a new one.
    pub fn write_plugged(&mut self, file: FileId, page: u32, limit: u32, manner: Manner) -> (u32, u32, bool) {
        let (block, run) = self.place(file, page, limit);
        let grows = self.grows(file, page, block, run);
        let number = grows.unwrap_or(self.transfers.next_number());
        let pages = self.take_dirty(file, page..page + run, number);
        let count = (pages.len() as u32).max(1);
        match grows {
            Some(_) => self.transfers.lengthen(count),
            None => _ = self.transfers.plug(self.now, block, count, manner),
        }
        self.sends(number, pages);
        (page + count, number, grows.is_none())
    }

    /// Whether a page that is to be written, with those that follow up to `limit`, becomes part of a request that is held back.
    pub fn joins_plugged(&mut self, file: FileId, page: u32, limit: u32) -> bool {
        let (block, run) = self.place(file, page, limit);
        self.grows(file, page, block, run).is_some()
    }

    /// The request held back that the dirty ones of `run` pages become part of, which lie from `block` on: if it has room for all.
    fn grows(&self, file: FileId, page: u32, block: u32, run: u32) -> Option<u32> {
        let (number, count) = self.transfers.plugged(block)?;
        let dirty = self.cache.dirty_run(file, page, run);
        (count + dirty <= self.parameters.request_max).then_some(number)
    }

    /// Where a page that is to be written lies, and how many pages from there on a request may have that ends at `limit` at the latest.
    fn place(&mut self, file: FileId, page: u32, limit: u32) -> (u32, u32) {
        let most = self.parameters.request_max.min(limit.max(page + 1) - page);
        if file == DEVICE {
            return (page, most);
        }
        let (block, run) = self.mapped(file, page);
        (block, run.min(most))
    }

    /// The first of these pages that are dirty, without a gap; they are being written by the transfer `number` from now on.
    fn take_dirty(&mut self, file: FileId, range: std::ops::Range<u32>, number: u32) -> Vec<PageId> {
        let mut pages = Vec::new();
        for index in range {
            let Some(id) = self.cache.find(file, index) else { break };
            if !self.cache.is_dirty(id) || self.cache.busy(id) != Busy::No {
                break;
            }
            self.cache.write_begins(id, number);
            pages.push(id);
        }
        pages
    }

    /// The transfer `number` writes these pages, too.
    fn sends(&mut self, number: u32, pages: Vec<PageId>) {
        if let Some(throttle) = &mut self.throttle {
            throttle.write(self.now);
        }
        pages.into_iter().for_each(|id| self.transfers.add_page(number, id));
    }

    /// Where a page that is to be written lies, and how many from there on lie in a row. If it has no block yet, it gets one
    /// with all the dirty pages that follow.
    fn mapped(&mut self, file: FileId, page: u32) -> (u32, u32) {
        if self.files.map(file, page).is_none() {
            let dirty = |index: &u32| self.cache.find(file, *index).is_some_and(|id| self.cache.is_dirty(id));
            let run = (page..).take_while(dirty).count() as u32;
            // There was room when the page was written.
            let _ = self.grow(file, page + run.max(1));
        }
        self.files.map(file, page).unwrap_or((0, 1))
    }

    /// Gives a file blocks for its first `pages` pages.
    ///
    /// # Errors
    /// [`Full`].
    pub fn grow(&mut self, file: FileId, pages: u32) -> Result<(), Full> {
        let grown = self.files.grow(file, pages)?;
        grown.bitmaps.into_iter().for_each(|bitmap| self.change_bitmap(bitmap));
        grown.pointers.into_iter().for_each(|block| self.change(block));
        self.change_file(file, true);
        if let Some(journal) = &mut self.journal {
            journal.lengthen(file);
        }
        Ok(())
    }

    /// A bitmap changes, and with it what its group's descriptor counts.
    pub fn change_bitmap(&mut self, bitmap: u32) {
        self.change(bitmap);
        if let Some(descriptor) = self.files.descriptor_of(bitmap) {
            self.change(descriptor);
        }
    }

    /// A file is to lose its blocks: a journal remembers that from the superblock on, should the machine stop meanwhile.
    pub fn change_orphans(&mut self) {
        if self.journal.is_some() {
            self.change(SUPERBLOCK);
        }
    }

    /// A file's inode changes; `data`: in something without which the file's data cannot be read.
    pub fn change_file(&mut self, file: FileId, data: bool) {
        self.change(self.files.file(file).inode);
        if let Some(journal) = &mut self.journal {
            journal.touch(file, data);
        }
    }

    /// A block of the file system changes, which is in the cache or need not be read.
    pub fn change(&mut self, block: u32) {
        let page = self.fresh(block);
        match (&mut self.journal, page) {
            (Some(journal), _) => journal.change(self.now, block),
            (None, Ok(page)) => self.cache.set_dirty(page, self.now),
            // The memory is full of dirty pages, and this one would be one more.
            (None, Err(NoRoom)) => {}
        }
    }

    /// A block of the file system that need not be read, in the cache.
    pub fn fresh(&mut self, block: u32) -> Result<PageId, NoRoom> {
        match self.cache.find(DEVICE, block) {
            Some(page) => Ok(page),
            None => self.cache.insert(DEVICE, block, Busy::No),
        }
    }

    /// The request known as `id` is done. Returns what the flusher and the journal waited for.
    pub fn done(&mut self, now: Instant, id: RequestId) -> Vec<Waiter> {
        self.now = now;
        let Some((number, transfer)) = self.transfers.done(id) else { return Vec::new() };
        if let Some(throttle) = &mut self.throttle {
            throttle.done(now, number, transfer.write, transfer.started);
        }
        if transfer.write {
            self.written += transfer.pages.len() as u32;
            if transfer.ends {
                self.ended += std::mem::take(&mut self.written);
            }
            if let Some(pacing) = &mut self.pacing {
                pacing.written(transfer.pages.len() as u32);
            }
        }
        for page in transfer.pages {
            if transfer.write {
                self.cache.write_done(page);
            } else {
                self.cache.read_done(page);
            }
        }
        let most = self.parameters.dirty.most;
        if self.cache.dirty() + self.cache.writing() <= most {
            self.woken.append(&mut self.for_clean);
        }
        self.woken.append(&mut self.for_room);
        let (processes, others): (Vec<_>, Vec<_>) =
            transfer.waiters.into_iter().partition(|waiter| matches!(waiter, Waiter::Process(_)));
        self.woken.extend(processes.into_iter().filter_map(|waiter| match waiter {
            Waiter::Process(process) => Some(process),
            Waiter::Flusher | Waiter::Journal => None,
        }));
        others
    }

    /// Requests of the flusher and the journal in the queue.
    pub fn writes_queued(&self) -> u32 {
        let commit = self.journal.as_ref().and_then(|journal| journal.committing.as_ref());
        self.flusher.outstanding + commit.map_or(0, |commit| commit.outstanding)
    }

    /// How many of these there may be; `waits`: somebody waits for more.
    pub fn most_writes(&self, waits: bool) -> u32 {
        let Writes::Fixed { most, .. } = self.parameters.writes else {
            return self.throttle.as_ref().map_or(u32::MAX, |throttle| throttle.most(self.now, waits));
        };
        most
    }

    /// So few of these are left that a flusher that waits goes on.
    pub fn writeback_goes_on(&self) -> bool {
        let Writes::Fixed { again, .. } = self.parameters.writes else {
            let queued = self.writes_queued();
            return self.throttle.as_ref().is_none_or(|throttle| throttle.goes_on(self.now, queued));
        };
        self.flusher.outstanding <= again
    }

    /// The request known as `id` goes to the drive. Returns how many pages it writes.
    pub fn dispatched(&mut self, now: Instant, id: RequestId) -> u32 {
        let Some((number, transfer)) = self.transfers.starts(now, id) else { return 0 };
        let written = if transfer.write { transfer.pages.len() as u32 } else { 0 };
        if let Some(throttle) = self.throttle.as_mut().filter(|_| !transfer.write) {
            throttle.read_starts(now, number);
        }
        written
    }

    /// Until when a process sleeps that has dirtied pages, if it does.
    pub(super) fn pace(&mut self, pace: &mut Pace) -> Option<Instant> {
        let DirtyLimits { background, most, .. } = self.parameters.dirty;
        let background = if background < most { background } else { most / 2 };
        let level = Level { dirty: self.cache.dirty() + self.cache.writing(), background, most };
        let until = self.pacing.as_mut()?.look(self.now, pace, level)?;
        if let Some(throttle) = &mut self.throttle {
            throttle.hurry(self.now);
        }
        Some(until)
    }

    /// The throttle's window ends if it is due.
    pub fn throttle(&mut self) {
        let queued = self.writes_queued();
        let Some(throttle) = &mut self.throttle else { return };
        if throttle.due().is_some_and(|due| due <= self.now) {
            throttle.judge(self.now, queued);
        }
    }

    /// A file's data is gone: its pages, and its part in the journal.
    pub fn forget(&mut self, file: FileId) {
        let pages = self.files.length(file);
        self.cache.forget(file, pages);
        if let Some(journal) = &mut self.journal {
            journal.forget(file);
        }
    }
}
