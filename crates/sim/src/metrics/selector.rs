//! What a report says of a selector.

use super::declare::figures;

figures! {
    /// How long a candidate of a selector was in use.
    InUse "in_use" {
        /// The candidate's place, from 1.
        id: u32, Id;
        /// The scheduler.
        scheduler: String, Text;
        /// How long the candidate was in use.
        time_ns: u64, Seconds;
    }
}

figures! {
    /// What a selector did.
    Account "selector" {
        /// How often the scheduler was switched.
        switches: u64, Count;
        /// How often predictions were asked for.
        questions: u64, Count;
        /// Switches that a prediction led to, and that lasted long enough to measure what they brought.
        promises: u64, Count;
        /// Of these, how many brought between two thirds and one and a half times the throughput that was predicted.
        promises_kept: u64, Count;
        /// Time in which nothing could enter the queue because a switch drained the queue.
        blocked_ns: u64, Seconds;
        /// How long each candidate was in use, in order of the candidates.
        in_use: Vec<InUse>, List(InUse);
    }
}
