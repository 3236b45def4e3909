//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::parameters::{Allocation, Parameters};
use super::processors::{Processors, Task};
use super::program::FileId;
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can. When the flusher stops, it holds no request back.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    while !kernel.flusher.runs {
        kernel.flusher.has_sent = kernel.parameters.asks_last && kernel.transfers.next().is_some();
        if kernel.flusher.has_sent {
            return;
        }
        if let Some(time) = kernel.flusher.pay() {
            return processors.want(kernel.now, Task::Flusher, time);
        }
        let Some(at) = next(kernel) else {
            kernel.flusher.awake = false;
            // Who stops leaves it to the worker to ask.
            return kernel.transfers.unplug(kernel.now, false);
        };
        if kernel.parameters.asks_last && !std::mem::replace(&mut kernel.flusher.awake, true) {
            kernel.flusher.runs = true;
            return processors.want(kernel.now, Task::Flusher, Duration::ZERO);
        }
        send(kernel, at);
    }
}

/// The page that the flusher goes on with, if it may: gathering does not need room in the queue, nor does what becomes part of a
/// request.
fn next(kernel: &mut Kernel) -> Option<(FileId, u32)> {
    let (queued, most, goes_on) =
        (kernel.writes_queued(), kernel.most_writes(false), kernel.writeback_goes_on());
    let may = kernel.flusher.may_send(queued, queued >= most, goes_on);
    let (file, page) = kernel.flusher.next(&mut kernel.cache, kernel.now)?;
    let (gathers, end) = match kernel.parameters.layout.allocation {
        Allocation::Delayed { .. } if file != DEVICE => {
            let end = kernel.flusher.gathered(file, page);
            (end.is_none(), end.unwrap_or(page))
        }
        Allocation::Delayed { .. } | Allocation::AtOnce { .. } => (false, u32::MAX),
    };
    let goes = may || gathers || kernel.parameters.dirty.plugs && kernel.joins_plugged(file, page, end);
    goes.then_some((file, page))
}

/// Sends the pages from this one on, or gathers some.
fn send(kernel: &mut Kernel, (file, page): (FileId, u32)) {
    let manner = Manner { metadata: file == DEVICE, ..MANNER };
    let Parameters { costs, layout, dirty, asks_last, .. } = kernel.parameters;
    // Whoever asks the scheduler pays for what is sent, if that is somebody else.
    let sends = if asks_last { Duration::ZERO } else { costs.send };
    let of = |cost: Duration, pages: u32| Duration(cost.0 * u64::from(pages));
    let (piece_end, cost) = match layout.allocation {
        Allocation::Delayed { gathers, .. } if file != DEVICE => {
            match kernel.flusher.gather(&kernel.cache, (file, page), gathers) {
                Ok(end) => (Some(end), sends),
                Err(pages) => {
                    if let Some(pacing) = &mut kernel.pacing {
                        let idle = kernel.cache.writing() == 0;
                        if idle { pacing.begin(kernel.now) } else { pacing.piece(kernel.now) }
                    }
                    return kernel.flusher.owe(of(costs.gather, pages));
                }
            }
        }
        Allocation::Delayed { .. } | Allocation::AtOnce { .. } => (None, costs.gather + sends),
    };
    let limit = piece_end.unwrap_or(u32::MAX);
    let (end, transfer, new) = if dirty.plugs {
        kernel.write_plugged(file, page, limit, manner)
    } else {
        let (end, transfer) = kernel.write(file, page, limit, manner);
        (end, transfer, true)
    };
    if new {
        kernel.transfers.wait(transfer, Waiter::Flusher);
    }
    if piece_end.is_none_or(|piece_end| end >= piece_end) {
        kernel.transfers.ends(transfer);
    }
    kernel.flusher.sent(file, end, end - page, new);
    kernel.flusher.owe(of(cost, end - page));
}
