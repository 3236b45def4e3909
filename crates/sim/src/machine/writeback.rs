//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::parameters::Allocation;
use super::processors::Processors;
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    loop {
        let (queued, most, goes_on) =
            (kernel.writes_queued(), kernel.most_writes(false), kernel.writeback_goes_on());
        if !kernel.flusher.may_send(kernel.now, queued, queued >= most, goes_on) {
            return;
        }
        let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return };
        let manner = Manner { metadata: file == DEVICE, ..MANNER };
        let parameters = kernel.parameters;
        let send = |pages: u32| Duration(parameters.costs.send.0 * u64::from(pages));
        let limit = match parameters.layout.allocation {
            Allocation::Delayed { gathers, .. } if file != DEVICE => {
                let (end, first) = kernel.flusher.gather(file, page, gathers, parameters.request_max);
                let ahead = if first { kernel.cache.dirty_from(file, end, gathers) } else { 0 };
                if ahead > 0 {
                    // In traces of Linux 6.1 the last of these reach the queue when the next ones are gathered, right after the worker
                    // has asked the scheduler.
                    kernel.flusher.ready = processors.spend(kernel.now, send(ahead)) + Duration(1);
                    continue;
                }
                end
            }
            Allocation::Delayed { .. } | Allocation::AtOnce { .. } => u32::MAX,
        };
        let (end, transfer) = kernel.write(file, page, limit, manner);
        kernel.transfers.wait(transfer, Waiter::Flusher);
        kernel.flusher.sent(file, end, end - page);
        kernel.flusher.ready = processors.spend(kernel.now, send(end - page));
    }
}
