//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::parameters::{Allocation, Parameters};
use super::processors::{Processors, Task};
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can. When it stops, nothing is held back.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    while !kernel.flusher.runs {
        if let Some(time) = kernel.flusher.pay() {
            return processors.want(kernel.now, Task::Flusher, time);
        }
        if !send(kernel) {
            return kernel.transfers.unplug(kernel.now);
        }
    }
}

/// Sends the next pages, or gathers some, for which the queue need not have room. False: nothing is to be sent now.
fn send(kernel: &mut Kernel) -> bool {
    let (queued, most, goes_on) =
        (kernel.writes_queued(), kernel.most_writes(false), kernel.writeback_goes_on());
    let may = kernel.flusher.may_send(queued, queued >= most, goes_on);
    let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return false };
    let manner = Manner { metadata: file == DEVICE, ..MANNER };
    let Parameters { costs, layout, dirty, .. } = kernel.parameters;
    let of = |cost: Duration, pages: u32| Duration(cost.0 * u64::from(pages));
    let (piece_end, cost) = match layout.allocation {
        Allocation::Delayed { gathers, .. } if file != DEVICE => {
            match kernel.flusher.gather(&kernel.cache, (file, page), gathers) {
                Ok(end) => (Some(end), costs.send),
                Err(pages) => {
                    kernel.flusher.owe(of(costs.gather, pages));
                    return true;
                }
            }
        }
        Allocation::Delayed { .. } | Allocation::AtOnce { .. } => (None, costs.gather + costs.send),
    };
    let limit = piece_end.unwrap_or(u32::MAX);
    // What becomes part of a request needs no room in the queue.
    if !(may || dirty.plugs && kernel.joins_plugged(file, page, limit)) {
        return false;
    }
    let (end, new) = if dirty.plugs {
        kernel.write_plugged(file, page, limit, manner)
    } else {
        let (end, transfer) = kernel.write(file, page, limit, manner);
        (end, Some(transfer))
    };
    if let Some(transfer) = new {
        kernel.transfers.wait(transfer, Waiter::Flusher);
    }
    kernel.flusher.sent(file, end, end - page, new.is_some());
    // The requests of a piece are one that is divided: they do not wait for each other. Their cost is the driver's, before a drive
    // that has room gets them.
    if piece_end.is_some_and(|piece_end| end < piece_end)
        && kernel.writes_queued() >= kernel.most_writes(false)
    {
        kernel.transfers.unplug(kernel.now);
    }
    kernel.flusher.owe(of(cost, end - page));
    true
}
