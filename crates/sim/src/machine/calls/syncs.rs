//! `fsync(2)`: a file's data, and what says where the data lies, are on the disk.

use idlewise_core::Duration;

use super::pages::write_blocks;
use crate::machine::kernel::Kernel;
use crate::machine::process::{On, Process, Step};
use crate::machine::program::FileId;
use crate::machine::transfers::Manner;

/// Writes what is dirty of a file and waits for it; then for a commit, or for the block of the inode.
pub(crate) fn sync(kernel: &mut Kernel, process: &mut Process, number: u32, file: FileId) -> Step {
    if process.stage == 0 {
        process.owe(kernel.parameters.costs.call);
        process.stage = 1;
    }
    if process.debt > Duration::ZERO {
        return Step::Spend;
    }
    if process.stage == 1 {
        let manner = Manner { who: process.who, write: true, sync: true, metadata: false };
        let mut from = 0;
        while let Some(dirty) = kernel.cache.next_dirty(file, from) {
            (from, _) = kernel.write(file, dirty, u32::MAX, manner);
        }
        process.transfers = kernel.cache.writes_of(file, kernel.files.pages(file));
        process.stage = 2;
    }
    while let Some(transfer) = process.transfers.pop() {
        if kernel.transfers.is_live(transfer) {
            return Step::Wait(On::Transfer(transfer));
        }
    }
    if process.stage == 2 {
        process.stage = 3;
        match &mut kernel.journal {
            Some(journal) => {
                if journal.wait(number) {
                    return Step::Wait(On::Commit);
                }
            }
            None => process.writes.push_back(kernel.files.file(file).inode),
        }
    }
    write_blocks(kernel, process)
}
