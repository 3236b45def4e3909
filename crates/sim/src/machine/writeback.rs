//! Carries out what the flusher wants: keeps its requests in the queue.

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::transfers::{Manner, Waiter};

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room.
pub(super) fn run(kernel: &mut Kernel) {
    while !kernel.queue_is_full() {
        let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return };
        let manner = Manner { metadata: file == DEVICE, ..MANNER };
        let (end, transfer) = kernel.write(file, page, u32::MAX, manner);
        kernel.transfers.wait(transfer, Waiter::Flusher);
        kernel.flusher.sent(file, end, end - page);
    }
}
