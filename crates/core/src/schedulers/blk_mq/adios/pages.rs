//! ADIOS's two pages: one is sent to the device while the other is filled.

use super::model::KINDS;
use crate::collections::{Heap, Links, List, OutOfMemory};
use crate::scheduler::Cx;
use crate::units::{RequestId, Sector};

/// What is sent in one go.
#[derive(Clone, Copy, Default)]
struct Page {
    /// By kind; by address, what cannot and what can wait are the first two.
    lists: [List; KINDS],
    by_address: bool,
}

impl Page {
    /// The list that is sent next.
    fn next(&self) -> Option<usize> {
        (0..KINDS).rev().find(|list| !self.lists[*list].is_empty())
    }
}

/// Both pages.
pub(super) struct Pages {
    pages: [Page; 2],
    /// The one that is sent.
    front: usize,
    /// By address downward: what can wait of the page that is sent.
    downward: bool,
    sorting: Heap,
}

impl Pages {
    pub(super) fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let (pages, sorting) = (Default::default(), Heap::new(capacity)?);
        Ok(Pages { pages, front: 0, downward: false, sorting })
    }

    /// The page to be filled, if it is empty.
    #[inline]
    pub(super) fn to_fill(&self) -> Option<usize> {
        let back = 1 - self.front;
        self.pages[back].next().is_none().then_some(back)
    }

    /// From now on `page` is filled.
    pub(super) fn open(&mut self, page: usize, by_address: bool) {
        self.pages[page].by_address = by_address;
    }

    /// Adds `id`, which `may_wait` or not, to `page`. In which list it is now.
    pub(super) fn add(
        &mut self,
        links: &mut Links,
        page: usize,
        id: RequestId,
        kind: usize,
        may_wait: bool,
    ) -> usize {
        let by_address = self.pages[page].by_address && kind < KINDS - 1;
        let list = if by_address { usize::from(may_wait) } else { kind };
        links.push_back(&mut self.pages[page].lists[list], id);
        list
    }

    /// Sorts what can wait of `page`.
    pub(super) fn sort(&mut self, cx: Cx<'_>, links: &mut Links, page: usize) {
        let list = &mut self.pages[page].lists[1];
        while let Some(id) = links.pop_front(list) {
            self.sorting.insert(cx[id].start.0, id);
        }
        while let Some((_, id)) = self.sorting.pop() {
            links.push_back(list, id);
        }
    }

    /// Chooses the way through what can wait of the page that is sent: from the nearer end.
    pub(super) fn turn(&mut self, cx: Cx<'_>, head: Sector) {
        let page = &self.pages[self.front];
        let list = &page.lists[1];
        self.downward = match (list.front(), list.back()) {
            (Some(first), Some(last)) if page.by_address => {
                head.0 > cx[first].start.0.midpoint(cx[last].start.0)
            }
            _ => false,
        };
    }

    /// Takes the next request out of the page that is sent, or of the other one if that is empty.
    pub(super) fn pop(&mut self, cx: Cx<'_>, links: &mut Links, head: Sector) -> Option<RequestId> {
        if self.pages[self.front].next().is_none() && self.to_fill().is_none() {
            self.front = 1 - self.front;
            self.turn(cx, head);
        }
        let page = &mut self.pages[self.front];
        let which = page.next()?;
        let list = &mut page.lists[which];
        let id = if page.by_address && which == 1 && self.downward { list.back() } else { list.front() }?;
        links.remove(list, id);
        Some(id)
    }

    /// Takes `id` out of the list of the page where it is.
    pub(super) fn remove(&mut self, links: &mut Links, page: usize, list: usize, id: RequestId) {
        links.remove(&mut self.pages[page].lists[list], id);
    }

    /// How many requests are in both.
    pub(super) fn len(&self) -> usize {
        self.pages.iter().flat_map(|page| &page.lists).map(List::len).sum()
    }
}
