//! Upward sweeps with anticipation.
//!
//! # How it decides
//! `c-look` names a candidate: the next waiting request at or above the head or, if there is none,
//! the lowest. Before it is served, the process whose request was completed last is looked at: the
//! disk may wait for its next request.
//! - If the candidate lies ahead and more than `backward_limit`, 80 %, of the process's recent
//!   requests lay behind its request before, the candidate is served at once: the awaited request
//!   would come behind the sweep.
//! - benefit = the candidate's expected positioning time - the expected positioning time of the
//!   process's next request.
//! - cost = the median think time of the process - the time since its completion, at least 0.
//! - If the benefit exceeds the cost, the disk waits: until 95 % of the process's think times would
//!   be over. Else the candidate is served.
//! - A process is not waited for while it has a request waiting, after its asynchronous requests,
//!   before its first think time is known, and after its exit.
//!
//! A request that arrives during a wait leads to a new candidate, which is weighed again; the end
//! of the wait stays. When the wait ends, the last candidate is served. The parts of a request that
//! a file system split and flagged count as one request.
//! Think times are counted in 30 buckets of 500 us up to 15 ms; each new one takes a tenth from all
//! buckets. Positioning times are a mean that forgets 95 % in ten requests.
//!
//! # Source
//! SOSP'01 §3.2 and §3.3 (variant CSCAN).
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
//!
//! # Good for, bad for
//! Good for disks with heads and processes that read synchronously: readers of different files each
//! get long runs while the sweep continues. Bad for processes that read at random in their files;
//! useless for flash.
//!
//! # Starvation
//! As under `c-look`: unbounded, as requests may keep coming just ahead of the head. A wait takes
//! 15 ms at most; with `timer`, up to a tick longer.

use super::framework::Anticipatory;
use super::heuristics::Sweep;
use crate::schedulers::textbook::c_look::CLook;

/// Upward sweeps with anticipation.
pub type AnticCLook = Anticipatory<CLook, Sweep>;
