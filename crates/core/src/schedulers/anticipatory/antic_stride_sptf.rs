//! Shares of disk time by weight and few seeks, also for synchronous processes.
//!
//! # How it decides
//! `stride-sptf` names a candidate: of all processes whose clocks are at most `tau` ahead of the
//! least clock, the request that the head reaches soonest. A clock is the disk time that a process
//! has had, divided by its weight. Before the candidate is served, the disk may wait for the
//! process whose request was completed last, for either of two reasons.
//! - For its share: its clock is less than the least clock of those with requests waiting + `tau`,
//!   and its median think time is below `think_limit`, 3 ms.
//! - To save a seek: its clock is not further ahead than `tau`, and benefit exceeds cost.
//! - benefit = the candidate's expected positioning time - the expected positioning time of the
//!   process's next request; cost = the median think time of the process - the time since its
//!   completion, at least 0.
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
//! SOSP'01 §3.2, §3.5 and §4.7.
//!
//! # Differs from the source
//! - `percentile=short`, the default, is ours: a wait covers 95 % of the think times below 15 ms.
//!   `percentile=all` is the paper's: of all think times, where longer ones count as 15 ms. Then
//!   the disk waits for 15 ms in vain for a process that mixes short and long think times. Two such
//!   processes can cost a third of the throughput (§4.2.4).
//! - `expectation=distance`, the default, is the paper's second method: the distance between a
//!   process's requests, on the curve of positioning times. `expectation=measured` is its first.
//!   `measured` needs a calibrated curve, and processes that do not start together. Else the disk
//!   alternates between their files, each measured time is a seek from the other's file, no wait
//!   seems worth it, and nothing better is ever measured.
//! - The curve is learned from completions; the paper measures it at installation, as
//!   `--calibrated` does here.
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
//! Good for shares of a disk with heads among processes that read synchronously, at hardly any cost
//! in throughput. Bad for latency: a process may wait for `tau` and more until its turn comes.
//! Useless for flash.
//!
//! # Starvation
//! As under `stride-sptf`: unbounded, since weights go up to 10 000:1 and near requests go first. A
//! wait takes 15 ms at most; with `timer`, up to a tick longer.

use super::framework::Anticipatory;
use super::shares::Combined;
use crate::schedulers::proportional_share::stride_sptf::StrideSptf;

/// Shares of disk time by weight and few seeks, also for synchronous processes.
pub type AnticStrideSptf = Anticipatory<StrideSptf, Combined>;
