//! Shares of disk time by weight, also for synchronous processes.
//!
//! # How it decides
//! `stride` names a candidate, from the process with the least clock: the disk time that it has
//! had, divided by its weight. A synchronous process has no request waiting when its own was just
//! completed, so that `stride` alone serves somebody else, whatever the weights. Here the disk may
//! wait for it.
//! - The disk waits if the process is behind its share, its clock below the least clock of those
//!   that have requests waiting, and if its median think time is below `think_limit`, 3 ms.
//! - The wait lasts until 95 % of the process's think times would be over.
//! - A process is not waited for while it has a request waiting, after its asynchronous requests,
//!   before its first think time is known, and after its exit.
//!
//! A request that arrives during a wait leads to a new candidate, which is weighed again; the end
//! of the wait stays. When the wait ends, the last candidate is served. The parts of a request that
//! a file system split and flagged count as one request.
//! Think times are counted in 30 buckets of 500 us up to 15 ms; each new one takes a tenth from all
//! buckets.
//!
//! # Source
//! SOSP'01 §3.2 and §3.4.
//!
//! # Differs from the source
//! - `percentile=short`, the default, is ours: a wait covers 95 % of the think times below 15 ms.
//!   `percentile=all` is the paper's: of all think times, where longer ones count as 15 ms. Then
//!   the disk waits for 15 ms in vain for a process that mixes short and long think times. Two such
//!   processes can cost a third of the throughput (§4.2.4).
//! - Waits end exactly when they are to end. The paper's timer ticks every 500 us: `timer=500us`.
//! - Synchronous writes count and are waited for like reads.
//! - The first request after an idle time may be made to wait too; `idle_waits=0` turns that off.
//!   The paper does not say.
//! - The device gets one request at a time, as the paper's disks did; without moving heads as many as
//!   it takes. `in_device` sets a number.
//! - Without moving heads a wait must save 500 us of positioning, as measured: think times are not
//!   known any better.
//! - A process's synchronous requests merge only with its own requests, so that the process is seen
//!   when it comes.
//! - Think times are known in steps of 500 us; a `think_limit` between two steps counts as the
//!   lower one.
//!
//! # Good for, bad for
//! Good for shares of a disk with heads among processes that read synchronously. Bad for
//! throughput: the process with the larger share is waited for even if its next request is far
//! away; `antic-stride-sptf` gets the same shares with fewer seeks.
//!
//! # Starvation
//! As under `stride`: unbounded, since weights go up to 10 000:1 and a request may take any time. A
//! wait takes 15 ms at most; with `timer`, up to a tick longer.

use super::framework::Anticipatory;
use super::shares::Proportional;
use crate::schedulers::proportional_share::stride::Stride;

/// Shares of disk time by weight, also for synchronous processes.
pub type AnticStride = Anticipatory<Stride, Proportional>;
