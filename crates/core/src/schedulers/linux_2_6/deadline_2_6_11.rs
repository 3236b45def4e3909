//! The deadline scheduler of Linux 2.6.11: as `deadline`, but a seek ends a batch.
//!
//! # How it decides
//! Reads and writes (whatever is no read) are kept apart, each by address and in order of arrival. A
//! request's deadline is its arrival plus `read_expire` or `write_expire`.
//! 1. A batch continues: the request that followed the last one by address when that was dispatched is
//!    next, as long as the batch's count is below `fifo_batch`. Each request adds one to the count. A
//!    request that does not begin where the last one ended adds `fifo_batch` before it is looked at,
//!    which ends the batch: only sequential requests make long ones. Deadlines are not looked at.
//! 2. Else a direction is chosen: reads if there are any, unless writes wait too and reads were already
//!    preferred to them `writes_starved` times. Choosing writes sets that count to 0.
//! 3. In that direction a new batch begins with the oldest request if its deadline has passed. Else the
//!    request that followed the last one by address is next; the batch's count stays, so that each
//!    further request chooses a direction anew. Else a new batch begins with the lowest address.
//!
//! # Source
//! Linux 2.6.11 `drivers/block/deadline-iosched.c`. A request that takes in its successor gets the
//! earlier deadline and the earlier place. After a front merge into the request that would go on the
//! batch, the one after it is next.
//!
//! # Differs from the source
//! Requests with equal addresses are dispatched in order of arrival; Linux sends an older one to the device at
//! once. Time is in nanoseconds, not ticks. The deadline counts from the arrival, which is the moment
//! of insertion unless another scheduler held the request before.
//!
//! # Good for, bad for
//! Good for servers with many requests in the queue, as `deadline` is, and for two sequential streams of
//! one direction. Bad for few synchronous readers of different files: the head goes back and forth
//! between them (deceptive idleness, SOSP'01).
//!
//! # Starvation
//! Once the deadlines of a request and of all before it have passed, each batch of its direction begins
//! with the oldest. Between two such batches there are at most `writes_starved` (or one) of the other.
//! With `writes_starved` = 0 reads starve while writes wait.

use super::deadline::{Batches, Version};

/// Linux 2.6.11's deadline scheduler.
pub type Deadline2611 = Batches<Linux2611>;

/// Linux 2.6.11.
pub struct Linux2611;

impl Version for Linux2611 {
    const NAME: &'static str = "deadline-2.6.11";
    const SUMMARY: &'static str = "The deadline scheduler of Linux 2.6.11, where a seek ends a batch.";
    const SOURCE: &'static str = "Linux 2.6.11 drivers/block/deadline-iosched.c";
    const OLD: bool = true;
}
