//! What a report says of a selector.

use serde::Serialize;

/// What a selector did in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Account {
    /// How often the scheduler was exchanged.
    pub switches: u64,
    /// How often predictions were asked for.
    pub questions: u64,
    /// Time in which nothing could enter the queue because a switch drained it.
    pub blocked_ns: u64,
    /// How long each candidate was in use, in order of the candidates.
    pub in_use: Vec<InUse>,
}

/// How long a candidate was in use.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InUse {
    /// Its place among the candidates, from 1.
    pub id: u32,
    /// The scheduler.
    pub scheduler: String,
    /// How long.
    pub time_ns: u64,
}
