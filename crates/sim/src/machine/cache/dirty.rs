//! Dirty pages by file, and files by the time since which they are dirty.

use std::collections::{BTreeMap, BTreeSet};

use idlewise_core::Instant;

use crate::machine::program::FileId;

#[derive(Debug)]
struct Pages {
    since: (Instant, u64),
    pages: BTreeSet<u32>,
}

/// What is dirty.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    files: BTreeMap<FileId, Pages>,
    by_age: BTreeMap<(Instant, u64), FileId>,
    /// Tells apart what became dirty at one instant.
    order: u64,
    count: u32,
}

impl Dirty {
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    fn place(&mut self, now: Instant) -> (Instant, u64) {
        self.order += 1;
        (now, self.order)
    }

    pub(super) fn add(&mut self, file: FileId, index: u32, now: Instant) {
        let since = self.place(now);
        let own = self.files.entry(file).or_insert_with(|| Pages { since, pages: BTreeSet::new() });
        if own.pages.is_empty() {
            self.by_age.insert(own.since, file);
        }
        self.count += u32::from(own.pages.insert(index));
    }

    pub(super) fn remove(&mut self, file: FileId, index: u32) {
        let Some(own) = self.files.get_mut(&file) else { return };
        self.count -= u32::from(own.pages.remove(&index));
        if own.pages.is_empty() {
            self.by_age.remove(&own.since);
            self.files.remove(&file);
        }
    }

    /// Files and since when they are dirty, the oldest first.
    pub(super) fn by_age(&self) -> impl Iterator<Item = (Instant, FileId)> {
        self.by_age.iter().map(|((since, _), file)| (*since, *file))
    }

    /// `file` counts as dirty since `now` only.
    pub(super) fn postpone(&mut self, file: FileId, now: Instant) {
        let since = self.place(now);
        if let Some(own) = self.files.get_mut(&file) {
            self.by_age.remove(&own.since);
            own.since = since;
            self.by_age.insert(since, file);
        }
    }

    /// The dirty pages of `file` from `index` on, in order.
    pub(super) fn from(&self, file: FileId, index: u32) -> impl Iterator<Item = u32> {
        self.files.get(&file).into_iter().flat_map(move |own| own.pages.range(index..).copied())
    }
}
