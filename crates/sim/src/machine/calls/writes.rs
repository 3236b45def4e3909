//! Writing: `write(2)` fills pages of the cache, which the flusher writes later; who has too many of them waits.

use idlewise_core::Duration;

use super::pages::{held_up, need, no_room, ready};
use crate::machine::cache::{Busy, PageId};
use crate::machine::kernel::Kernel;
use crate::machine::layout::Full;
use crate::machine::parameters::PAGE;
use crate::machine::process::{On, Pending, Process, Step};
use crate::machine::program::Part;
use crate::machine::transfers::Manner;

/// Writes a part of a file, call by call.
///
/// # Errors
/// [`Full`].
pub(crate) fn write(kernel: &mut Kernel, process: &mut Process, part: Part) -> Result<Step, Full> {
    let end = part.from.saturating_add(part.bytes);
    let costs = kernel.parameters.costs;
    loop {
        if let Some(step) = held_up(kernel, process) {
            return Ok(step);
        }
        let at = part.from + process.done;
        if at >= end {
            return Ok(Step::Done);
        }
        if let Some(step) = too_dirty(kernel, process) {
            return Ok(step);
        }
        if process.call_end == 0 {
            process.call_end = end.min(at + u64::from(part.call.max(1)));
            process.owe(costs.call);
        }
        let step = lengthen(kernel, process, part)?;
        if let Some(step) = step {
            return Ok(step);
        }
        let page = match page_to_fill(kernel, process, part, at) {
            Ok(Some(page)) => page,
            Ok(None) => continue,
            Err(step) => return Ok(step),
        };
        kernel.cache.touch(page);
        kernel.cache.set_dirty(page, kernel.now);
        process.pace.dirtied();
        if let Some(pacing) = &mut kernel.pacing {
            pacing.dirtied();
        }
        process.owe(costs.fill);
        let next = process.call_end.min((at / PAGE + 1) * PAGE);
        process.done = next - part.from;
        if next > kernel.files.file(part.file).bytes {
            kernel.files.set_length(part.file, next);
        }
        if next >= process.call_end {
            process.call_end = 0;
            kernel.change_file(part.file, false);
        }
        write_behind(kernel, process, part, next);
    }
}

/// A process that has dirtied pages sleeps, or waits for fewer dirty ones.
fn too_dirty(kernel: &mut Kernel, process: &mut Process) -> Option<Step> {
    if kernel.pacing.is_none() {
        let dirty = kernel.cache.dirty() + kernel.cache.writing();
        return (dirty > kernel.parameters.dirty.most).then(|| process.wait(On::Clean));
    }
    if !process.pace.is_due() {
        return None;
    }
    if process.debt > Duration::ZERO {
        return Some(Step::Spend);
    }
    let until = kernel.pace(&mut process.pace)?;
    Some(Step::Wait(On::Time(until.since(kernel.now))))
}

/// Gives the file the blocks that the current call needs, or makes sure that there are as many for later.
fn lengthen(kernel: &mut Kernel, process: &mut Process, part: Part) -> Result<Option<Step>, Full> {
    let pages = process.call_end.div_ceil(PAGE) as u32;
    if kernel.files.pages(part.file) >= pages {
        return Ok(None);
    }
    if kernel.files.delays() {
        let wanted = u64::from(kernel.cache.dirty() + pages - kernel.files.pages(part.file));
        return if kernel.files.free() < wanted { Err(Full) } else { Ok(None) };
    }
    let last =
        kernel.files.pages(part.file).checked_sub(1).and_then(|page| kernel.files.map(part.file, page));
    let inode = kernel.files.file(part.file).inode;
    let bitmap =
        last.map_or(kernel.files.bitmaps_of_inode(inode)[0], |(block, _)| kernel.files.block_bitmap(block));
    if let Some(step) = need(kernel, process, bitmap) {
        return Ok(Some(step));
    }
    kernel.grow(part.file, pages)?;
    Ok(None)
}

/// The page in which `at` lies. `None`: its old data is asked for first.
fn page_to_fill(
    kernel: &mut Kernel,
    process: &mut Process,
    part: Part,
    at: u64,
) -> Result<Option<PageId>, Step> {
    let (file, page) = (part.file, (at / PAGE) as u32);
    if let Some(id) = kernel.cache.find(file, page) {
        return ready(kernel, process, id).map(|()| Some(id));
    }
    let bytes = kernel.files.file(file).bytes;
    let (start, end) = (at / PAGE * PAGE, (at / PAGE + 1) * PAGE);
    let old = start < bytes;
    if let Some(step) =
        kernel.files.pointer(file, page).filter(|_| old).and_then(|block| need(kernel, process, block))
    {
        return Err(step);
    }
    let whole = at == start && process.call_end >= end.min(bytes);
    if old && !whole {
        process.reads.push_back(Pending { file, next: page, end: page + 1, marks: [None; 2] });
        return Ok(None);
    }
    match kernel.cache.insert(file, page, Busy::No) {
        Ok(id) => Ok(Some(id)),
        Err(_) if process.debt > Duration::ZERO => Err(Step::Spend),
        Err(_) => Err(no_room(kernel)),
    }
}

/// Begins the write of a run of pages that is full, where the system does so.
fn write_behind(kernel: &mut Kernel, process: &Process, part: Part, next: u64) {
    let run = kernel.parameters.dirty.write_behind;
    let page = (next / PAGE) as u32;
    if run == 0 || !next.is_multiple_of(PAGE) || !page.is_multiple_of(run) {
        return;
    }
    let manner = Manner { who: process.who, write: true, sync: false, metadata: false };
    let mut from = page - run;
    while let Some(dirty) = kernel.cache.next_dirty(part.file, from).filter(|dirty| *dirty < page) {
        (from, _) = kernel.write(part.file, dirty, page, manner);
    }
}
