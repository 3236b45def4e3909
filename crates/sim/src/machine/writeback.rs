//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::parameters::{Allocation, Parameters};
use super::processors::{Processors, Task};
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    while !kernel.flusher.runs {
        if let Some(time) = kernel.flusher.pay() {
            return processors.want(kernel.now, Task::Flusher, time);
        }
        let (queued, most, goes_on) =
            (kernel.writes_queued(), kernel.most_writes(false), kernel.writeback_goes_on());
        if !kernel.flusher.may_send(queued, queued >= most, goes_on) {
            return;
        }
        let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return };
        let manner = Manner { metadata: file == DEVICE, ..MANNER };
        let Parameters { costs, layout, request_max, .. } = kernel.parameters;
        let of = |cost: Duration, pages: u32| Duration(cost.0 * u64::from(pages));
        let (limit, cost) = match layout.allocation {
            Allocation::Delayed { gathers, .. } if file != DEVICE => {
                match kernel.flusher.gather(&kernel.cache, (file, page), (gathers, request_max)) {
                    Ok(end) => (end, costs.send),
                    Err(pages) => {
                        kernel.flusher.owe(of(costs.gather, pages));
                        continue;
                    }
                }
            }
            Allocation::Delayed { .. } | Allocation::AtOnce { .. } => (u32::MAX, costs.gather + costs.send),
        };
        let (end, transfer) = kernel.write(file, page, limit, manner);
        kernel.transfers.wait(transfer, Waiter::Flusher);
        kernel.flusher.sent(file, end, end - page);
        kernel.flusher.owe(of(cost, end - page));
    }
}
