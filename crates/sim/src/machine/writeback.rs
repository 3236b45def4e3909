//! Carries out what the flusher wants: keeps its requests in the queue.

use idlewise_core::Duration;

use super::cache::DEVICE;
use super::kernel::{FLUSHER, Kernel};
use super::processors::Processors;
use super::transfers::Manner;

/// How the flusher writes: nobody waits.
const MANNER: Manner = Manner { who: FLUSHER, write: true, sync: false, metadata: false };

/// Sends what is to be written, as far as the queue has room, and as fast as the flusher can.
pub(super) fn run(kernel: &mut Kernel, processors: &mut Processors) {
    while kernel.flusher.ready <= kernel.now {
        let Some((file, page)) = kernel.flusher.next(&mut kernel.cache, kernel.now) else { return };
        if !kernel.throttle.admits(kernel.now, false) {
            return;
        }
        let manner = Manner { metadata: file == DEVICE, ..MANNER };
        let (end, _) = kernel.write(file, page, u32::MAX, manner);
        kernel.flusher.sent(file, end, end - page);
        let cost = Duration(kernel.parameters.costs.send.0 * u64::from(end - page));
        kernel.flusher.ready = processors.spend(kernel.now, cost);
    }
}
