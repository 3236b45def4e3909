//! OLS'05 §5.5 and §5.6: chains of short-lived processes.

use idlewise_core::Merging;

use super::{rate, run};

/// A tree of 4000 files; the whole one, as the documentation has it, has 16 000.
const TREE: &str = "files=4000,directories=250";

/// Throughput in MB/s, and when the chain is done, in seconds.
fn measure(scheduler: &str, workload: &str) -> (f64, f64) {
    let report = run("deskstar-34gxp", scheduler, &[], &format!("{workload}:{TREE}"), Merging::All);
    (rate(&report), report.elapsed_ns as f64 / 1e9)
}

/// Experiment 2: Linux's anticipatory scheduler starves the chain, the cooperative one does not.
#[test]
fn a_chain_beside_a_stream_starves_unless_its_processes_cooperate() {
    let [deadline, linux, cooperative] =
        ["deadline-2.6.11", "as-2.6.11", "cas"].map(|scheduler| measure(scheduler, "stream-and-chain"));
    assert!(linux.1 >= 10.0 * cooperative.1, "as-2.6.11 {linux:?}, cas {cooperative:?}");
    assert!(cooperative.1 <= 0.95 * deadline.1, "cas {cooperative:?}, deadline-2.6.11 {deadline:?}");
    assert!(cooperative.0 >= 3.0 * deadline.0, "cas {cooperative:?}, deadline-2.6.11 {deadline:?}");
}

/// Experiment 3: two chains.
#[test]
fn two_chains_take_turns_under_the_cooperative_scheduler() {
    let [linux, cooperative] = ["as-2.6.11", "cas"].map(|scheduler| measure(scheduler, "two-chains"));
    assert!(linux.1 >= 2.5 * cooperative.1, "as-2.6.11 {linux:?}, cas {cooperative:?}");
}

/// What neither paper built: statistics of the group know the next child before it comes.
#[test]
fn groups_let_the_adaptive_scheduler_wait_for_the_next_process() {
    let [plain, adaptive] =
        ["deadline-2.6.11", "antic-adaptive"].map(|scheduler| measure(scheduler, "two-chains"));
    assert!(adaptive.1 * 2.5 <= plain.1, "antic-adaptive {adaptive:?}, deadline-2.6.11 {plain:?}");
}
