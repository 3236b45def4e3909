//! The page cache: which pages of which files are in memory, and in what state.
//!
//! A page that comes in goes to the inactive list. When it is used a second time it moves to the active one. Room is made at
//! the inactive list's cold end, and of what is dirty, being read or being written there, the way is made free by moving
//! it to the warm end. As long as the active list is the longer one, it gives its coldest page back to the inactive
//! one.
//!
//! Source: mm/swap.c (`mark_page_accessed`) and mm/vmscan.c of Linux 2.6; both lists have equal shares in Linux from 2.6.28
//! on. FreeBSD's queues differ in detail, and are taken to be the same.

mod dirty;
mod lists;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::program::FileId;
use dirty::Dirty;
use idlewise_core::Instant;
use lists::Lists;

/// The blocks of the disk itself, as a file: inodes, names, bitmaps, pointers.
pub const DEVICE: FileId = FileId(u32::MAX);

/// A page in memory, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageId(u32);

/// What is being done with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Nothing.
    No,
    /// The page is being read by this transfer.
    Reading(u32),
    /// The page is being written by this transfer.
    Writing(u32),
}

#[derive(Clone, Copy, Debug)]
struct Page {
    file: FileId,
    index: u32,
    busy: Busy,
    dirty: bool,
    used: bool,
    active: bool,
    marked: bool,
    /// The page belongs to no file any more, and is free when it is no longer busy.
    dropped: bool,
}

/// All pages are dirty or busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// The page cache.
pub struct Cache {
    pages: Vec<Page>,
    found: FxHashMap<(u32, u32), u32>,
    free: Vec<u32>,
    size: u32,
    lists: Lists,
    dirty: Dirty,
    writing: u32,
}

impl Cache {
    /// A cache of `size` pages, with nothing in it.
    pub fn new(size: u32) -> Cache {
        Cache {
            pages: Vec::new(),
            found: FxHashMap::default(),
            free: Vec::new(),
            size,
            lists: Lists::default(),
            dirty: Dirty::default(),
            writing: 0,
        }
    }

    /// Where a page is, if it is in memory or on its way there.
    pub fn find(&self, file: FileId, index: u32) -> Option<PageId> {
        self.found.get(&(file.0, index)).map(|at| PageId(*at))
    }

    /// What is being done with a page.
    pub fn busy(&self, page: PageId) -> Busy {
        self.pages[page.0 as usize].busy
    }

    /// Pages in memory or on their way.
    pub fn len(&self) -> u32 {
        self.pages.len() as u32 - self.free.len() as u32
    }

    /// Nothing is in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pages on the active list.
    pub fn active(&self) -> u32 {
        self.lists.len(true)
    }

    /// Whether a page is on the active list.
    pub fn is_active(&self, page: PageId) -> bool {
        self.pages[page.0 as usize].active
    }

    /// Dirty pages, without those that are being written.
    pub fn dirty(&self) -> u32 {
        self.dirty.count()
    }

    /// Pages that are being written.
    pub fn writing(&self) -> u32 {
        self.writing
    }

    /// Puts a page into the cache, which is not there.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn insert(&mut self, file: FileId, index: u32, busy: Busy) -> Result<PageId, NoRoom> {
        if self.len() >= self.size {
            self.make_room()?;
        }
        let page = Page {
            file,
            index,
            busy,
            dirty: false,
            used: false,
            active: false,
            marked: false,
            dropped: false,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.pages[at as usize] = page;
                at
            }
            None => {
                self.pages.push(page);
                self.pages.len() as u32 - 1
            }
        };
        self.found.insert((file.0, index), at);
        self.lists.push(false, at);
        Ok(PageId(at))
    }

    /// A page is used: `mark_page_accessed`.
    pub fn touch(&mut self, page: PageId) {
        let own = &mut self.pages[page.0 as usize];
        if own.active || !own.used {
            own.used = true;
            return;
        }
        (own.active, own.used) = (true, false);
        self.lists.remove(false, page.0);
        self.lists.push(true, page.0);
    }

    /// Marks a page for read-ahead.
    pub fn mark(&mut self, page: PageId) {
        self.pages[page.0 as usize].marked = true;
    }

    /// Takes the mark for read-ahead from a page; false if it has none.
    pub fn take_mark(&mut self, page: PageId) -> bool {
        std::mem::take(&mut self.pages[page.0 as usize].marked)
    }

    /// The read of a page is done.
    pub fn read_done(&mut self, page: PageId) {
        self.pages[page.0 as usize].busy = Busy::No;
        self.let_go(page.0);
    }

    /// A page differs from the disk since `now`.
    pub fn set_dirty(&mut self, page: PageId, now: Instant) {
        let own = &mut self.pages[page.0 as usize];
        if !own.dirty {
            own.dirty = true;
            self.dirty.add(own.file, own.index, now);
        }
    }

    /// Whether a page differs from the disk.
    pub fn is_dirty(&self, page: PageId) -> bool {
        self.pages[page.0 as usize].dirty
    }

    /// A page is being written by `transfer`.
    pub fn write_begins(&mut self, page: PageId, transfer: u32) {
        let own = &mut self.pages[page.0 as usize];
        if std::mem::take(&mut own.dirty) {
            self.dirty.remove(own.file, own.index);
        }
        own.busy = Busy::Writing(transfer);
        self.writing += 1;
    }

    /// The write of a page is done.
    pub fn write_done(&mut self, page: PageId) {
        self.pages[page.0 as usize].busy = Busy::No;
        self.writing -= 1;
        self.let_go(page.0);
    }

    /// The file that has been dirty for longest, and since when.
    pub fn oldest_dirty(&self) -> Option<(Instant, FileId)> {
        self.dirty.by_age().next()
    }

    /// The same without [`DEVICE`].
    pub fn oldest_dirty_file(&self) -> Option<(Instant, FileId)> {
        self.dirty.by_age().find(|(_, file)| *file != DEVICE)
    }

    /// The file goes behind all others that are dirty.
    pub fn redirty(&mut self, file: FileId, now: Instant) {
        self.dirty.postpone(file, now);
    }

    /// How many pages of a file are dirty from `index` on without a gap, `most` at most.
    pub fn dirty_run(&self, file: FileId, index: u32, most: u32) -> u32 {
        (index..index.saturating_add(most))
            .zip(self.dirty.from(file, index))
            .take_while(|(page, dirty)| page == dirty)
            .count() as u32
    }

    /// The first dirty page of a file from `index` on, of those that are not being written already.
    pub fn next_dirty(&self, file: FileId, index: u32) -> Option<u32> {
        let idle = |page: &u32| self.find(file, *page).is_some_and(|page| self.busy(page) == Busy::No);
        self.dirty.from(file, index).find(idle)
    }

    /// The transfers that write pages of a file now.
    pub fn writes_of(&self, file: FileId, pages: u32) -> Vec<u32> {
        let transfers = (0..pages).filter_map(|index| match self.busy(self.find(file, index)?) {
            Busy::Writing(transfer) => Some(transfer),
            Busy::No | Busy::Reading(_) => None,
        });
        let mut transfers: Vec<u32> = transfers.collect();
        transfers.dedup();
        transfers
    }

    /// Forgets the first `pages` pages of a file, whether dirty or not.
    pub fn forget(&mut self, file: FileId, pages: u32) {
        for index in 0..pages {
            if let Some(at) = self.found.remove(&(file.0, index)) {
                let own = &mut self.pages[at as usize];
                own.dropped = true;
                if std::mem::take(&mut own.dirty) {
                    self.dirty.remove(file, index);
                }
                self.let_go(at);
            }
        }
    }

    /// Frees a page that was dropped, if nothing is done with it.
    fn let_go(&mut self, at: u32) {
        let own = self.pages[at as usize];
        if own.dropped && own.busy == Busy::No {
            self.lists.remove(own.active, at);
            self.free.push(at);
        }
    }

    /// Frees the coldest page that can be freed.
    fn make_room(&mut self) -> Result<(), NoRoom> {
        for _ in 0..2 * self.size {
            if self.lists.len(true) > self.lists.len(false)
                && let Some(cold) = self.lists.coldest(true)
            {
                (self.pages[cold as usize].active, self.pages[cold as usize].used) = (false, false);
                self.lists.remove(true, cold);
                self.lists.push(false, cold);
            }
            let Some(cold) = self.lists.coldest(false) else { return Err(NoRoom) };
            let own = self.pages[cold as usize];
            self.lists.remove(false, cold);
            if own.dirty || own.busy != Busy::No {
                self.lists.push(false, cold);
                continue;
            }
            self.found.remove(&(own.file.0, own.index));
            self.free.push(cold);
            return Ok(());
        }
        Err(NoRoom)
    }
}
