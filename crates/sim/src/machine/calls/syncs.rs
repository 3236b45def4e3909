//! `fsync(2)` and `fdatasync(2)`: a file's data, and what says where the data lies, are on the disk; or a directory's names.

use idlewise_core::Duration;

use super::pages::write_blocks;
use crate::machine::kernel::Kernel;
use crate::machine::process::{On, Process, Step};
use crate::machine::program::{DirectoryId, FileId};
use crate::machine::transfers::Manner;

/// The call begins: its cost is spent before anything else.
fn enter(kernel: &Kernel, process: &mut Process) -> Option<Step> {
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call);
        process.stage = 1;
    }
    (process.debt > Duration::ZERO).then_some(Step::Spend)
}

/// Writes what is dirty of a file and waits for it; then for a commit, for the drive, or for the block of the inode. `data`:
/// changes without which the data can be read do not matter.
pub(crate) fn sync(
    kernel: &mut Kernel,
    process: &mut Process,
    number: u32,
    (file, data): (FileId, bool),
) -> Step {
    if let Some(step) = enter(kernel, process) {
        return step;
    }
    if process.stage == 1 {
        if let Some(transfer) = write_dirty(kernel, process, file) {
            return Step::Wait(On::Transfer(transfer));
        }
        process.transfers = kernel.cache.writes_of(file, kernel.files.length(file));
        process.stage = 2;
    }
    while let Some(transfer) = process.transfers.pop() {
        if kernel.transfers.is_live(transfer) {
            return Step::Wait(On::Transfer(transfer));
        }
    }
    if process.stage == 2 {
        process.stage = 3;
        let commit = kernel.journal.as_mut().map(|journal| journal.wait(number, file, data));
        if let Some(step) = committed(kernel, process, commit) {
            return step;
        }
        if commit.is_none() {
            process.writes.push_back(kernel.files.file(file).inode);
        }
    }
    write_blocks(kernel, process)
}

/// Waits until the last change of a directory is on the disk.
pub(crate) fn sync_names(
    kernel: &mut Kernel,
    process: &mut Process,
    number: u32,
    directory: DirectoryId,
) -> Step {
    if let Some(step) = enter(kernel, process) {
        return step;
    }
    if process.stage == 1 {
        process.stage = 2;
        let block = kernel.files.directory(directory).blocks.last().copied();
        let journal = kernel.journal.as_mut().zip(block);
        let commit = journal.map(|(journal, block)| journal.wait_for_block(number, block));
        if let Some(step) = committed(kernel, process, commit) {
            return step;
        }
    }
    Step::Done
}

/// What is left to wait for when the data is on its way out of the write cache: a commit, which flushes that, or the flush alone.
fn committed(kernel: &mut Kernel, process: &Process, commit: Option<bool>) -> Option<Step> {
    let barriers = kernel.journal.as_ref().is_some_and(|journal| journal.settings.barriers);
    match commit {
        Some(true) => Some(Step::Wait(On::Commit)),
        Some(false) if barriers => {
            Some(Step::Wait(On::Transfer(kernel.transfers.flush(kernel.now, process.who))))
        }
        Some(false) | None => None,
    }
}

/// Sends dirty pages as long as the queue has room: a transfer to wait for, or `None` when all are sent.
fn write_dirty(kernel: &mut Kernel, process: &mut Process, file: FileId) -> Option<u32> {
    let manner = Manner { who: process.who, write: true, sync: true, metadata: false };
    while let Some(page) = kernel.cache.next_dirty(file, process.done as u32) {
        process.transfers.retain(|transfer| kernel.transfers.is_live(*transfer));
        if process.transfers.len() as u32 >= kernel.most_writes(true) {
            return process.transfers.first().copied();
        }
        let (next, transfer) = kernel.write(file, page, u32::MAX, manner);
        process.transfers.push(transfer);
        process.done = u64::from(next);
    }
    None
}
