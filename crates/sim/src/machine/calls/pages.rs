//! What all calls do: bring blocks and pages into the cache, and write blocks that somebody waits for.

use idlewise_core::Duration;

use crate::machine::cache::{Busy, DEVICE, PageId};
use crate::machine::kernel::Kernel;
use crate::machine::process::{On, Pending, Process, Step};
use crate::machine::transfers::Manner;

/// A process does something first and has the processor for it afterwards, for so long at most.
const AHEAD: Duration = Duration::from_us(250);

/// What a process has to wait for before it goes on with a call: a processor, after it has run for long, or the pages that
/// it has asked for.
pub(super) fn held_up(kernel: &mut Kernel, process: &mut Process) -> Option<Step> {
    if process.debt >= AHEAD { Some(Step::Spend) } else { ask_for_pages(kernel, process) }
}

/// A block of the file system, with those `around` it that are read together. `None`: it is in the cache.
pub(super) fn need_around(
    kernel: &mut Kernel,
    process: &mut Process,
    block: u32,
    around: (u32, u32),
) -> Option<Step> {
    if let Some(page) = kernel.cache.find(DEVICE, block) {
        if let Busy::Reading(transfer) = kernel.cache.busy(page) {
            return Some(process.wait(On::Transfer(transfer)));
        }
        kernel.cache.touch(page);
        return None;
    }
    if process.debt > Duration::ZERO {
        return Some(Step::Spend);
    }
    let absent = |block: &u32| kernel.cache.find(DEVICE, *block).is_none();
    let first = (around.0..block).rev().take_while(absent).last().unwrap_or(block);
    let end = (block + 1..around.0 + around.1).take_while(absent).last().map_or(block + 1, |last| last + 1);
    let transfer = kernel.transfers.next_number();
    if kernel.read(DEVICE, first, (first, end - first), process.who) == 0 {
        return Some(no_room(kernel));
    }
    Some(Step::Wait(On::Transfer(transfer)))
}

/// A block of the file system. `None`: it is in the cache.
pub(super) fn need(kernel: &mut Kernel, process: &mut Process, block: u32) -> Option<Step> {
    need_around(kernel, process, block, (block, 1))
}

/// The block of an inode.
pub(super) fn need_inode(kernel: &mut Kernel, process: &mut Process, inode: u32) -> Option<Step> {
    let around = kernel.files.inodes_around(inode);
    need_around(kernel, process, inode, around)
}

/// The cache has no room: the flusher makes some.
pub(super) fn no_room(kernel: &mut Kernel) -> Step {
    kernel.flusher.want_room();
    Step::Wait(On::Room)
}

/// Asks for the pages that a process is to read, and returns without waiting for them; unless the blocks that say where they
/// lie must be read first.
fn ask_for_pages(kernel: &mut Kernel, process: &mut Process) -> Option<Step> {
    while let Some(pending) = process.reads.front().copied() {
        let Pending { file, next, end, .. } = pending;
        let end = end.min(kernel.files.pages(file));
        let absent = |page: &u32| kernel.cache.find(file, *page).is_none();
        let Some(page) = (next..end).find(absent) else {
            process.reads.pop_front();
            continue;
        };
        if process.debt > Duration::ZERO {
            return Some(Step::Spend);
        }
        let pointer = kernel.files.pointer(file, page);
        if let Some(step) = pointer.and_then(|pointer| need(kernel, process, pointer)) {
            return Some(step);
        }
        let Some((block, run)) = kernel.files.map(file, page) else {
            process.reads.pop_front();
            continue;
        };
        let absent = |page: &u32| kernel.cache.find(file, *page).is_none();
        let known = |page: &u32| kernel.files.pointer(file, *page) == pointer;
        let count = (page..end.min(page + run)).take_while(absent).take_while(known).count() as u32;
        let read = kernel.read(file, page, (block, count), process.who);
        process.owe(Duration(kernel.parameters.costs.fetch.0 * u64::from(read)));
        for mark in pending.marks.into_iter().flatten().filter(|mark| (page..page + read).contains(mark)) {
            if let Some(id) = kernel.cache.find(file, mark) {
                kernel.cache.mark(id);
            }
        }
        if read < count {
            return Some(no_room(kernel));
        }
        if let Some(front) = process.reads.front_mut() {
            front.next = page + count;
        }
    }
    None
}

/// Writes the blocks that a process has to have written, one after the other.
pub(super) fn write_blocks(kernel: &mut Kernel, process: &mut Process) -> Step {
    while let Some(transfer) = process.transfers.pop() {
        if kernel.transfers.is_live(transfer) {
            process.transfers.push(transfer);
            return process.wait(On::Transfer(transfer));
        }
    }
    let Some(block) = process.writes.front().copied() else { return Step::Done };
    if process.debt > Duration::ZERO {
        return Step::Spend;
    }
    let Ok(page) = kernel.fresh(block) else { return no_room(kernel) };
    if let Busy::Writing(transfer) | Busy::Reading(transfer) = kernel.cache.busy(page) {
        return Step::Wait(On::Transfer(transfer));
    }
    process.writes.pop_front();
    kernel.cache.set_dirty(page, kernel.now);
    let manner = Manner { who: process.who, write: true, sync: true, metadata: true };
    let (_, transfer) = kernel.write(DEVICE, block, block + 1, manner);
    process.transfers.push(transfer);
    Step::Wait(On::Transfer(transfer))
}

/// A page that is in memory, not on its way there.
pub(super) fn ready(kernel: &Kernel, process: &Process, page: PageId) -> Result<(), Step> {
    match kernel.cache.busy(page) {
        Busy::Reading(transfer) => Err(process.wait(On::Transfer(transfer))),
        Busy::No | Busy::Writing(_) => Ok(()),
    }
}
