//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::processors::Processors;
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    let again = kernel.parameters.writes_again;
    loop {
        let (queued, is_full) = (kernel.writes_queued(), kernel.queue_is_full());
        if !kernel.flusher.may_send(kernel.now, queued, is_full, again) {
            return;
        }
        let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return };
        let manner = Manner { metadata: file == DEVICE, ..MANNER };
        let (end, transfer) = kernel.write(file, page, u32::MAX, manner);
        kernel.transfers.wait(transfer, Waiter::Flusher);
        kernel.flusher.sent(file, end, end - page);
        let cost = Duration(kernel.parameters.costs.send.0 * u64::from(end - page));
        kernel.flusher.ready = processors.spend(kernel.now, cost);
    }
}
