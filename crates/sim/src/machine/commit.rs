//! Carries out commits of the journal, step by step.

use super::journal::Stage;
use super::kernel::{JOURNAL, Kernel};
use super::transfers::{Manner, Waiter};

/// Begins a commit if one is due, and goes on with it when nothing of it is on its way.
pub(super) fn run(kernel: &mut Kernel) {
    let files = &kernel.files;
    let Some(journal) = &mut kernel.journal else { return };
    if journal.due().is_some_and(|due| due <= kernel.now) {
        journal.begin(|file| files.pages(file));
    }
    let sync = journal.settings.sync;
    let manner = Manner { who: JOURNAL, write: true, sync, metadata: false };
    let Some(commit) = &journal.committing else { return };
    if commit.stage == Stage::Data {
        write_data(kernel, manner);
    }
    while let Some(stage) = finished(kernel) {
        match stage {
            Stage::Data => write_log(kernel, manner),
            Stage::Log => write_record(kernel, manner),
            Stage::Record => finish(kernel),
        }
    }
}

/// The stage of a commit of which nothing is on its way.
fn finished(kernel: &Kernel) -> Option<Stage> {
    let commit = kernel.journal.as_ref()?.committing.as_ref()?;
    (commit.outstanding == 0).then_some(commit.stage)
}

/// One more transfer of the commit is on its way.
fn count(kernel: &mut Kernel, transfer: u32) {
    if kernel.transfers.wait(transfer, Waiter::Journal)
        && let Some(commit) = kernel.journal.as_mut().and_then(|journal| journal.committing.as_mut())
    {
        commit.outstanding += 1;
    }
}

/// Sends data of files that became longer, as far as the queue has room, and waits for what others write of them.
fn write_data(kernel: &mut Kernel, manner: Manner) {
    loop {
        if kernel.writes_queued() >= kernel.most_writes(manner.sync) {
            return;
        }
        let Some(commit) = kernel.journal.as_mut().and_then(|journal| journal.committing.as_mut()) else {
            return;
        };
        let Some((file, (from, end))) = commit.files.pop_first() else { return };
        match kernel.cache.next_dirty(file, from).filter(|page| *page < end) {
            Some(page) => {
                commit.files.insert(file, (page + 1, end));
                let (_, transfer) = kernel.write(file, page, end, manner);
                count(kernel, transfer);
            }
            None => {
                let transfers = kernel.cache.writes_of(file, end);
                transfers.into_iter().for_each(|transfer| count(kernel, transfer));
            }
        }
    }
}

/// Writes `blocks` blocks into the journal.
fn write_journal(kernel: &mut Kernel, blocks: u32, stage: Stage, manner: Manner) {
    let Some(journal) = &mut kernel.journal else { return };
    let runs = journal.place(blocks);
    if let Some(commit) = &mut journal.committing {
        commit.stage = stage;
    }
    let most = kernel.parameters.request_max;
    for (start, length) in runs {
        for first in (0..length).step_by(most as usize) {
            let piece = most.min(length - first);
            let transfer = kernel.transfers.begin(kernel.now, start + first, piece, manner, false);
            count(kernel, transfer);
        }
    }
}

fn write_log(kernel: &mut Kernel, manner: Manner) {
    let commit = kernel.journal.as_ref().and_then(|journal| journal.committing.as_ref());
    let changed = commit.map_or(0, |commit| commit.blocks.len() as u32);
    write_journal(kernel, changed + 1, Stage::Log, Manner { metadata: true, ..manner });
}

fn write_record(kernel: &mut Kernel, manner: Manner) {
    write_journal(kernel, 1, Stage::Record, Manner { metadata: true, ..manner });
    if kernel.journal.as_ref().is_some_and(|journal| journal.settings.barriers) {
        kernel.transfers.make_durable();
    }
}

/// All is in the journal: the changed blocks may go to their places, and who waited goes on.
fn finish(kernel: &mut Kernel) {
    let Some(journal) = &mut kernel.journal else { return };
    let Some(commit) = journal.committing.take() else { return };
    kernel.woken.extend(journal.finish(commit.number));
    for block in commit.blocks {
        if let Ok(page) = kernel.fresh(block) {
            kernel.cache.set_dirty(page, kernel.now);
        }
    }
    run(kernel);
}
