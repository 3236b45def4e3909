//! Anticipation that trusts only consistent statistics: `antic-aged-sptf` with what the paper
//! suggests for later.
//!
//! # How it decides
//! As `antic-aged-sptf`: a candidate is served, unless the disk had better wait for the process
//! whose request was completed last. A candidate that goes first for its age is served at once.
//! - benefit = the candidate's expected positioning time - the expected positioning time of the
//!   process's next request.
//! - cost = the median think time of the process - the time since its completion, at least 0.
//! - If the benefit exceeds the cost, the disk waits: until 95 % of the process's think times would
//!   be over. Else the candidate is served.
//! - Statistics are kept at three levels: of processes, of groups of processes (such as the
//!   children of one parent), and of regions of the disk of 128 MiB. Expected times come from the
//!   most consistent level: where think times scatter least, in relation to their mean, of those
//!   with four think times or more.
//! - Statistics are dropped when think times scatter by more than `reset_spread`, 90 % of their
//!   mean.
//! - If more than `miss_limit`, 15 %, of the recent think times were longer than expected, there is
//!   no wait.
//! - A process is not waited for while it has a request waiting, after its asynchronous requests
//!   and before a think time of it, its group or its region is known. After its exit the group may
//!   be waited for.
//!
//! A request that arrives during a wait leads to a new candidate, which is weighed again; the end
//! of the wait stays. When the wait ends, the last candidate is served. The parts of a request that
//! a file system split and flagged count as one request.
//! Think times are counted in 30 buckets of 500 us up to 15 ms; each new one takes a tenth from all
//! buckets. Positioning times are a mean that forgets 95 % in ten requests.
//!
//! # Source
//! SOSP'01 §5.2, which only suggests it. The sizes of regions and all limits are ours; §5.2.1 (3)
//! and (4), the estimator's error and asynchronous requests that turn out to be synchronous, are
//! not followed.
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
//! Good for loads that `antic-aged-sptf` is misled by: processes that pause just longer than the
//! disk waits, and chains of short-lived processes, which are known by their group. Useless for
//! flash; bad for think times that vary much, where `antic-aged-sptf` gains more.
//!
//! # Starvation
//! As under `aged-sptf`: who has waited for `bound` is overtaken only by those that came before. A
//! wait takes 15 ms at most; with `timer`, up to a tick longer.

use super::framework::Anticipatory;
use super::heuristics::Adaptive;
use crate::schedulers::textbook::aged_sptf::AgedSptf;

/// `antic-aged-sptf` with all that the paper suggests for later.
pub type AnticAdaptive = Anticipatory<AgedSptf, Adaptive>;
